"""Words of programming English: synonyms, inflection and stems, in small tables made by hand."""

from __future__ import annotations

import re

_VERBS = """
return: give back, answer with | get: obtain, fetch, look up | set: assign, define
create: make, build, produce | build: assemble, put together, construct | make: create, produce
remove: drop, take out, get rid of, strip | delete: remove, erase, wipe
add: put in, append, include, attach | append: add, attach | insert: put in, add
check: verify, make sure, examine | validate: check, verify, vet | verify: check, confirm
ensure: make sure | convert: turn, transform, translate | transform: convert, turn
parse: read, interpret, take apart | read: load, take in | load: read, bring in
write: save, output, put out | save: store, keep, persist | store: keep, save, remember
open: access, start | close: shut, end, finish with | start: begin, launch, kick off
stop: halt, end, quit | begin: start | end: finish, stop | run: execute, carry out, invoke
execute: run, carry out | call: invoke, run | invoke: call, trigger | send: transmit, pass on, deliver
receive: get, accept, take in | find: locate, discover, look for | search: look, hunt | locate: find
lookup: find | generate: produce, make, create | compute: calculate, work out, figure out
calculate: compute, work out | determine: decide, find out, work out
update: refresh, bring up to date, change | modify: change, alter | change: alter, modify
replace: substitute, swap out | copy: duplicate, clone | move: shift, relocate
rename: give another name to | merge: combine, join, unite | combine: merge, join, bring together
join: combine, concatenate, glue together | split: divide, break up, cut up
filter: sift, leave out, narrow down | sort: order, arrange | compare: match up, hold against each other
handle: deal with, take care of, process | process: handle, work through, deal with
manage: handle, look after | raise: throw, fail with | catch: trap, intercept
ignore: skip, disregard, pass over | skip: leave out, pass over, ignore | print: show, display, output
display: show, print | show: display, present | render: draw, display, turn into output
format: lay out, write out | log: record, report | report: tell, announce | warn: alert, caution
initialize: set up, prepare | initialise: set up, prepare | setup: prepare | configure: set up, adjust
prepare: get ready, set up | register: record, enrol, sign up | unregister: sign off, remove
resolve: work out, settle | expand: unfold, widen, spell out | extract: pull out, take out, draw
collect: gather, accumulate | gather: collect | wrap: enclose, envelop | unwrap: unpack, open up
encode: serialise, turn into bytes | decode: turn into text, unpack | serialize: dump, write out, marshal
deserialize: load, restore, unmarshal | apply: use, put into effect | use: employ, rely on, make use of
allow: permit, let, enable | allows: permits, lets | enable: switch on, turn on, activate
disable: switch off, turn off, deactivate | prevent: stop, avoid, rule out | avoid: prevent, keep clear of
wait: stay | clear: empty, reset, wipe | clean: tidy, purge | reset: restore, clear
flush: empty, push out | restore: bring back, recover | retrieve: fetch, get, obtain
fetch: get, retrieve, load | provide: supply, offer, give | support: cope with, handle
require: need, demand | expect: want, await | define: declare, specify | specify: state, name
represent: stand for, describe | describe: explain | contain: hold, include | include: contain, take in
match: fit, correspond to, agree with | detect: notice, recognise, spot | recognize: identify, spot
identify: recognise, tell | iterate: loop, go, walk | traverse: walk through, visit
walk: go through, traverse | yield: produce, give out | assign: give, set | map: translate, associate
bind: tie, attach | attach: connect, hook up | connect: link, hook up | disconnect: cut off, detach
install: put in place, set up | download: fetch, pull | upload: send up, push
cache: remember, keep for later, memoise | evaluate: work out, compute | estimate: guess, approximate
draw: paint, plot | limit: cap, restrict, bound | restrict: limit, confine | reduce: shrink, lower, cut
increase: raise, grow, enlarge | truncate: cut off, shorten | escape: quote, make safe
normalize: bring into standard form, canonicalise | sanitize: clean up, make safe
strip: remove, trim, cut away | trim: cut, shorten | dispatch: route, hand on, forward
forward: pass on, relay | redirect: send elsewhere, divert | lock: hold exclusively, guard
release: free, let go of | acquire: obtain, take hold of | fail: go wrong, break
abort: give up, break off, cancel | cancel: call off, abort | retry: try again, repeat
repeat: do again, redo | emit: send out, issue, put out | listen: wait for calls | trigger: set off, cause
schedule: plan, arrange for | terminate: end, finish, kill | kill: end, terminate | exit: leave, quit
restart: start again, bring up again | fix: repair, correct, cure | correct: fix, put right
improve: better, make nicer | refactor: restructure, rework | simplify: make simpler, streamline
implement: realise, carry out | pass: hand over, give | accept: take, allow, tolerate
reject: refuse, turn down | deny: refuse, forbid | override: replace, take precedence over
inherit: take over, derive | keep: retain, preserve, hold on to | preserve: keep, retain
discard: throw away, drop | drop: discard, leave out | count: tally, number | guess: infer, estimate
infer: deduce, guess | choose: pick, select | select: choose, pick | pick: choose, select | try: attempt
attempt: try
""".replace("\n", "|")

_NOUNS = """
error: failure, problem, fault | exception: error, failure | message: text, notice | file: document
files: documents | directory: folder | directories: folders | folder: directory
path: location, file name | filename: name of the file | list: sequence, series
dictionary: mapping, table | dict: mapping, dictionary | mapping: dictionary, table | string: text
strings: texts | str: text | bytes: raw data, octets | byte: octet | number: count | integer: whole number
int: whole number | float: real number | boolean: flag, truth value | key: name, identifier | keys: names
argument: parameter, input | arguments: parameters, inputs | parameter: argument, setting
parameters: arguments, settings | option: setting, choice, switch | options: settings, choices
setting: option, preference | settings: options, preferences | configuration: settings, setup
config: settings, configuration | function: routine, callable | functions: routines
method: routine, operation | methods: operations | class: type | object: thing, instance
objects: things, instances | instance: object | module: source file, package member
package: distribution, bundle | user: person, account | request: call, inquiry | requests: calls
response: answer, reply | responses: answers, replies | connection: link, session | connections: links
server: host, service | client: caller | host: machine, server | address: location | port: socket number
url: address, link | uri: address, identifier | header: heading, metadata field | headers: metadata fields
body: payload, content | content: contents, substance | data: information | result: outcome, answer
results: outcomes, answers | output: printed result, what comes out | input: what goes in, given data
line: row | lines: rows | row: record, line | column: field, vertical position | character: letter, sign
characters: letters, signs | token: symbol, lexical unit | tokens: symbols | node: vertex, element
nodes: vertices, elements | edge: link, arc | edges: links, arcs | graph: network | tree: hierarchy
element: item, member | elements: items, members | item: element, entry | items: elements, entries
entry: item, record | entries: items, records | attribute: property, field
attributes: properties, fields | property: attribute, trait | field: attribute, member
fields: attributes, members | type: kind, sort | types: kinds | default: standard, fallback
time: moment, clock value | timeout: time limit, deadline | date: day | thread: worker | threads: workers
process: program | task: job, piece of work | tasks: jobs | job: task | queue: waiting line, backlog
event: occurrence, signal | events: occurrences, signals | signal: notification, event
callback: hook, handler | handler: callback, responder | handlers: callbacks
hook: callback, extension point | plugin: extension, add-on | plugins: extensions, add-ons
test: trial, check | tests: checks | warning: caution, alert | version: release, edition
state: condition, status | status: state, condition | size: extent, dimension | length: extent, size
width: breadth | buffer: holding area, store | stream: flow, channel | socket: endpoint
password: secret, passphrase | database: data store | table: relation | query: question, lookup
transaction: unit of work | cursor: pointer, position | index: position, subscript
pattern: expression, template | template: pattern, layout | comment: remark, annotation
comments: remarks | variable: name, binding | variables: names, bindings
environment: surroundings, process settings | current: present, active | previous: former, preceding
next: following, subsequent | first: initial, leading | last: final, closing
empty: blank, void, without content | invalid: malformed, bad, illegal | valid: legal, proper, well-formed
missing: absent, lacking | unknown: unrecognised, unfamiliar | existing: present, already there
new: fresh | old: former, outdated | same: identical, equal | different: other, distinct
multiple: several, more than one | single: one, lone | additional: extra, further
specified: given, named | given: supplied | specific: particular | certain: particular
required: needed, mandatory | necessary: needed | optional: not mandatory, voluntary
available: at hand, present | possible: feasible | supported: catered for, allowed
unsupported: not catered for, not handled | deprecated: obsolete, outdated | internal: private, inner
external: outside, foreign | local: on this machine, nearby | remote: distant, on the other side
temporary: short-lived, scratch | unique: distinct, one of a kind | random: arbitrary
maximum: upper limit, largest | minimum: lower limit, smallest | initial: starting, first
final: last, closing | associated: linked, connected | corresponding: matching, related
appropriate: suitable, fitting, right | nested: inner, embedded | absolute: full
underlying: inner, wrapped | original: initial, unchanged | automatically: by itself | otherwise: else
only: solely, just | already: by now | explicitly: expressly | directly: straight | correctly: properly
within: inside | contains: holds | whether: if | via: through, by way of
""".replace("\n", "|")


def _words(text: str) -> list[str]:
    return text.split()


def _table(text: str) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for entry in text.split("|"):
        word, _, others = entry.partition(":")
        if others:
            table[word.strip()] = [other.strip() for other in others.split(",")]
    return table


VERBS = _table(_VERBS)
NOUNS = _table(_NOUNS)
_MORE_VERBS = set(
    _words(
        """
ask assert await become block break bump bring broadcast capture cast change clip close collapse commit
compile compress construct consume continue cut deal decide decompress decorate decrease defer dump
duplicate echo eliminate embed encrypt decrypt enforce enter escape exclude export extend feed fill
finalize finish flatten fold force forget free give go group grow guard halt help hide highlight hold
import increment decrement indent inform inject inspect instantiate intercept interpret introduce invert
invalidate issue iterate join keep launch leave let lift list look lower mark mask maintain measure mock
monitor mutate mute negotiate notify obtain omit order overwrite pack pad patch pause perform place plot
poll pop populate post print produce prompt propagate prune publish pull push put query quit quote raise
rank rebuild record recover redraw refresh refuse reload remember reopen reorder replay request rescale
reserve resize respond resume reuse reverse revert rewrite roll rotate round route sample save scale scan
seek sanitize separate serve shift shut shrink shuffle shutdown sign simulate skip sleep solve spawn
squash stack stringify submit subscribe substitute subtract suppress swap switch synchronize sync tag take
tell throw toggle tokenize track translate treat turn undo unify unlock unpack unset unescape unquote
untrack upgrade visit warn watch work yield zip
"""
    )
)
BASE_VERBS = set(VERBS) | _MORE_VERBS

STOPWORDS = set(
    _words(
        """
a an the this that these those it its is are was were be been being am do does did doing have has had
having of in on at by for with from to into onto as than then so and or nor but not no if else when while
where which what who whom whose why how there here all any each every some such own same other another
more most can could may might must shall should will would just only also very too we you they he she i
our your their us them me my up out off over under again once about against between through during before
after above below both few because until whether use used using via per etc eg ie one
"""
    )
)

# Past participles that no rule gives.
_IRREGULAR = dict(
    pair.split(":")
    for pair in _words(
        """
give:given take:taken make:made put:put get:got find:found hold:held write:written read:read send:sent
keep:kept tell:told cut:cut set:set let:let leave:left bring:brought build:built run:run break:broken
begin:begun throw:thrown draw:drawn choose:chosen deal:dealt look:looked go:gone shut:shut split:split
do:done hand:handed come:come say:said show:shown spell:spelled stand:stood mean:meant catch:caught
pull:pulled work:worked grow:grown shrink:shrunk forbid:forbidden hide:hidden quit:quit pay:paid
fit:fitted wipe:wiped switch:switched feed:fed
"""
    )
)
_DOUBLING = set(
    _words(
        """
get set put run stop drop strip trim cut split skip map log plan begin let quit wrap bar cap plot stem fit
submit commit omit emit permit shut swap ship pop pad tag zip step
"""
    )
)


def third_person(phrase: str) -> str:
    """`take out` -> `takes out`."""
    verb, _, rest = phrase.partition(" ")
    if verb in ("be", "have"):
        form = {"be": "is", "have": "has"}[verb]
    elif verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        form = verb + "es"
    elif verb.endswith("y") and verb[-2:-1] not in "aeiou":
        form = verb[:-1] + "ies"
    else:
        form = verb + "s"
    return f"{form} {rest}".strip()


def participle(phrase: str) -> str:
    """`take out` -> `taken out`; regular verbs by rule."""
    verb, _, rest = phrase.partition(" ")
    if verb in _IRREGULAR:
        form = _IRREGULAR[verb]
    elif verb.endswith("e"):
        form = verb + "d"
    elif verb.endswith("y") and verb[-2:-1] not in "aeiou":
        form = verb[:-1] + "ied"
    elif verb in _DOUBLING:
        form = verb + verb[-1] + "ed"
    else:
        form = verb + "ed"
    return f"{form} {rest}".strip()


def gerund(phrase: str) -> str:
    """`take out` -> `taking out`."""
    verb, _, rest = phrase.partition(" ")
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        form = verb[:-1] + "ing"
    elif verb in _DOUBLING:
        form = verb + verb[-1] + "ing"
    else:
        form = verb + "ing"
    return f"{form} {rest}".strip()


# Simple pasts that differ from the participle.
_PASTS = dict(
    pair.split(":")
    for pair in _words(
        """
given:gave taken:took written:wrote broken:broke begun:began thrown:threw drawn:drew chosen:chose
gone:went done:did come:came shown:showed grown:grew shrunk:shrank forbidden:forbade hidden:hid
run:ran
"""
    )
)


def past(phrase: str) -> str:
    """`take out` -> `took out`."""
    verb, _, rest = participle(phrase).partition(" ")
    return f"{_PASTS.get(verb, verb)} {rest}".strip()


def _forms() -> dict[str, tuple[str, str]]:
    forms: dict[str, tuple[str, str]] = {}
    for base in sorted(BASE_VERBS):
        for name, make in (("s", third_person), ("ing", gerund), ("ed", participle)):
            forms.setdefault(make(base), (base, name))
    for base in BASE_VERBS:
        forms[base] = (base, "")
    return forms


FORMS = _forms()
MAKE = {"s": third_person, "ing": gerund, "ed": participle, "": lambda phrase: phrase}

WORD = re.compile(r"[A-Za-z]+")
CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def stem(word: str) -> str:
    """A crude stem, good enough to see that two words are kin."""
    word = word.lower()
    for suffix in (
        "ations",
        "ation",
        "ising",
        "izing",
        "ings",
        "ing",
        "ies",
        "ied",
        "ers",
        "ed",
        "er",
        "es",
        "s",
        "e",
        "y",
    ):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def stems(text: str) -> set[str]:
    """Stems of the content words of a text, identifiers taken apart."""
    found = set()
    for word in WORD.findall(text):
        for part in CAMEL.findall(word):
            if len(part) > 2 and part.lower() not in STOPWORDS:
                found.add(stem(part))
    return found


def words_of(identifier: str) -> str:
    """`maxRedirectCount` -> `max redirect count`."""
    parts = CAMEL.findall(identifier.rpartition(".")[2].replace("_", " "))
    return " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts)
