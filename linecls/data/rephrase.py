"""Turning a handle (docstring, comment, error message, help text, commit subject) into a query.

A handle is what an author wrote about a piece of code. A query asks for that piece: with another wording
(question, situation, command, goal, keywords), with synonyms, and without identifiers, so that the words
alone do not lead to the lines.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

_VERBS = """
return: give back, answer with | get: obtain, fetch, look up | set: assign, define | create: make, build, produce
build: assemble, put together, construct | make: create, produce | remove: drop, take out, get rid of, strip
delete: remove, erase, wipe | add: put in, append, include, attach | append: add, attach | insert: put in, add
check: verify, make sure, examine | validate: check, verify, vet | verify: check, confirm | ensure: make sure
convert: turn, transform, translate | transform: convert, turn | parse: read, interpret, take apart
read: load, take in | load: read, bring in | write: save, output, put out | save: store, keep, persist
store: keep, save, remember | open: access, start | close: shut, end, finish with | start: begin, launch, kick off
stop: halt, end, quit | begin: start | end: finish, stop | run: execute, carry out, invoke | execute: run, carry out
call: invoke, run | invoke: call, trigger | send: transmit, pass on, deliver | receive: get, accept, take in
find: locate, discover, look for | search: look, hunt | locate: find | lookup: find | generate: produce, make, create
compute: calculate, work out, figure out | calculate: compute, work out | determine: decide, find out, work out
update: refresh, bring up to date, change | modify: change, alter | change: alter, modify | replace: substitute, swap out
copy: duplicate, clone | move: shift, relocate | rename: give another name to | merge: combine, join, unite
combine: merge, join, bring together | join: combine, concatenate, glue together | split: divide, break up, cut up
filter: sift, leave out, narrow down | sort: order, arrange | compare: match up, hold against each other
handle: deal with, take care of, process | process: handle, work through, deal with | manage: handle, look after
raise: throw, fail with | catch: trap, intercept | ignore: skip, disregard, pass over | skip: leave out, pass over, ignore
print: show, display, output | display: show, print | show: display, present | render: draw, display, turn into output
format: lay out, write out | log: record, report | report: tell, announce | warn: alert, caution
initialize: set up, prepare | initialise: set up, prepare | setup: prepare | configure: set up, adjust
prepare: get ready, set up | register: record, enrol, sign up | unregister: sign off, remove | resolve: work out, settle
expand: unfold, widen, spell out | extract: pull out, take out, draw | collect: gather, accumulate | gather: collect
wrap: enclose, envelop | unwrap: unpack, open up | encode: serialise, turn into bytes | decode: turn into text, unpack
serialize: dump, write out, marshal | deserialize: load, restore, unmarshal | apply: use, put into effect
use: employ, rely on, make use of | allow: permit, let, enable | allows: permits, lets | enable: switch on, turn on, activate
disable: switch off, turn off, deactivate | prevent: stop, avoid, rule out | avoid: prevent, keep clear of
wait: stay | clear: empty, reset, wipe | clean: tidy, purge | reset: restore, clear | flush: empty, push out
restore: bring back, recover | retrieve: fetch, get, obtain | fetch: get, retrieve, load | provide: supply, offer, give
support: cope with, handle | require: need, demand | expect: want, await | define: declare, specify | specify: state, name
represent: stand for, describe | describe: explain | contain: hold, include | include: contain, take in
match: fit, correspond to, agree with | detect: notice, recognise, spot | recognize: identify, spot | identify: recognise, tell
iterate: loop, go, walk | traverse: walk through, visit | walk: go through, traverse | yield: produce, give out
assign: give, set | map: translate, associate | bind: tie, attach | attach: connect, hook up | connect: link, hook up
disconnect: cut off, detach | install: put in place, set up | download: fetch, pull | upload: send up, push
cache: remember, keep for later, memoise | evaluate: work out, compute | estimate: guess, approximate
draw: paint, plot | limit: cap, restrict, bound | restrict: limit, confine | reduce: shrink, lower, cut
increase: raise, grow, enlarge | truncate: cut off, shorten | escape: quote, make safe | normalize: bring into standard form, canonicalise
sanitize: clean up, make safe | strip: remove, trim, cut away | trim: cut, shorten | dispatch: route, hand on, forward
forward: pass on, relay | redirect: send elsewhere, divert | lock: hold exclusively, guard | release: free, let go of
acquire: obtain, take hold of | fail: go wrong, break | abort: give up, break off, cancel | cancel: call off, abort
retry: try again, repeat | repeat: do again, redo | emit: send out, issue, put out | listen: wait for calls
trigger: set off, cause | schedule: plan, arrange for | terminate: end, finish, kill | kill: end, terminate
exit: leave, quit | restart: start again, bring up again | fix: repair, correct, cure | correct: fix, put right
improve: better, make nicer | refactor: restructure, rework | simplify: make simpler, streamline | implement: realise, carry out
pass: hand over, give | accept: take, allow, tolerate | reject: refuse, turn down | deny: refuse, forbid
override: replace, take precedence over | inherit: take over, derive | contain: hold | keep: retain, preserve, hold on to
preserve: keep, retain | discard: throw away, drop | drop: discard, leave out | count: tally, number | guess: infer, estimate
infer: deduce, guess | choose: pick, select | select: choose, pick | pick: choose, select | try: attempt | attempt: try
""".replace("\n", "|")

_NOUNS = """
error: failure, problem, fault | exception: error, failure | message: text, notice | file: document | files: documents
directory: folder | directories: folders | folder: directory | path: location, file name | filename: name of the file
list: sequence, series | dictionary: mapping, table | dict: mapping, dictionary | mapping: dictionary, table
string: text | strings: texts | str: text | bytes: raw data, octets | byte: octet | number: count
integer: whole number | int: whole number | float: real number | boolean: flag, truth value | key: name, identifier | keys: names | argument: parameter, input | arguments: parameters, inputs
parameter: argument, setting | parameters: arguments, settings | option: setting, choice, switch | options: settings, choices
setting: option, preference | settings: options, preferences | configuration: settings, setup | config: settings, configuration
function: routine, callable | functions: routines | method: routine, operation | methods: operations | class: type
object: thing, instance | objects: things, instances | instance: object | module: source file, package member
package: distribution, bundle | user: person, account | request: call, inquiry | requests: calls | response: answer, reply
responses: answers, replies | connection: link, session | connections: links | server: host, service | client: caller
host: machine, server | address: location | port: socket number | url: address, link | uri: address, identifier
header: heading, metadata field | headers: metadata fields | body: payload, content | content: contents, substance
data: information | result: outcome, answer | results: outcomes, answers | output: printed result, what comes out
input: what goes in, given data | line: row | lines: rows | row: record, line | column: field, vertical position
character: letter, sign | characters: letters, signs | token: symbol, lexical unit | tokens: symbols | node: vertex, element
nodes: vertices, elements | edge: link, arc | edges: links, arcs | graph: network | tree: hierarchy | element: item, member
elements: items, members | item: element, entry | items: elements, entries | entry: item, record | entries: items, records
attribute: property, field | attributes: properties, fields | property: attribute, trait | field: attribute, member
fields: attributes, members | type: kind, sort | types: kinds | default: standard, fallback
time: moment, clock value | timeout: time limit, deadline | date: day | thread: worker | threads: workers | process: program
task: job, piece of work | tasks: jobs | job: task | queue: waiting line, backlog | event: occurrence, signal
events: occurrences, signals | signal: notification, event | callback: hook, handler | handler: callback, responder
handlers: callbacks | hook: callback, extension point | plugin: extension, add-on | plugins: extensions, add-ons
test: trial, check | tests: checks | warning: caution, alert | version: release, edition | state: condition, status
status: state, condition | size: extent, dimension | length: extent, size | width: breadth | buffer: holding area, store
stream: flow, channel | socket: endpoint | password: secret, passphrase | database: data store | table: relation
query: question, lookup | transaction: unit of work | cursor: pointer, position | index: position, subscript
pattern: expression, template | template: pattern, layout | comment: remark, annotation | comments: remarks
variable: name, binding | variables: names, bindings | environment: surroundings, process settings
current: present, active | previous: former, preceding | next: following, subsequent | first: initial, leading
last: final, closing | empty: blank, void, without content | invalid: malformed, bad, illegal | valid: legal, proper, well-formed
missing: absent, lacking | unknown: unrecognised, unfamiliar | existing: present, already there | new: fresh
old: former, outdated | same: identical, equal | different: other, distinct | multiple: several, more than one
single: one, lone | additional: extra, further | specified: given, named | given: supplied | specific: particular
certain: particular | required: needed, mandatory | necessary: needed | optional: not mandatory, voluntary
available: at hand, present | possible: feasible | supported: catered for, allowed | unsupported: not catered for, not handled
deprecated: obsolete, outdated | internal: private, inner | external: outside, foreign | local: on this machine, nearby
remote: distant, on the other side | temporary: short-lived, scratch | unique: distinct, one of a kind | random: arbitrary
maximum: upper limit, largest | minimum: lower limit, smallest | initial: starting, first | final: last, closing
associated: linked, connected | corresponding: matching, related | appropriate: suitable, fitting, right
nested: inner, embedded | absolute: full | underlying: inner, wrapped | original: initial, unchanged
automatically: by itself | otherwise: else | only: solely, just | already: by now | explicitly: expressly
directly: straight | correctly: properly | within: inside | contains: holds | whether: if | via: through, by way of
""".replace("\n", "|")


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
    "ask assert await become block break bump bring broadcast capture cast change clip close collapse commit "
    "compile compress construct consume continue cut deal decide decompress decorate decrease defer dump "
    "duplicate echo eliminate embed encrypt decrypt enforce enter escape exclude export extend feed fill finalize "
    "finish flatten fold force forget free give go group grow guard halt help hide highlight hold import "
    "increment decrement indent inform inject inspect instantiate intercept interpret introduce invert invalidate "
    "issue iterate join keep launch leave let lift list look lower mark mask maintain measure mock monitor mutate "
    "mute negotiate notify obtain omit order overwrite pack pad patch pause perform place plot poll pop populate "
    "post print produce prompt propagate prune publish pull push put query quit quote raise rank rebuild record "
    "recover redraw refresh refuse reload remember reopen reorder replay request rescale reserve resize respond "
    "resume reuse reverse revert rewrite roll rotate round route sample save scale scan seek sanitize separate "
    "serve shift shut shrink shuffle shutdown sign simulate skip sleep solve spawn squash stack stringify submit "
    "subscribe substitute subtract suppress swap switch synchronize sync tag take tell throw toggle tokenize track "
    "translate treat turn undo unify unlock unpack unset unescape unquote untrack upgrade visit warn watch work "
    "yield zip".split()
)
BASE_VERBS = set(VERBS) | _MORE_VERBS

STOPWORDS = set(
    "a an the this that these those it its is are was were be been being am do does did doing have has had having "
    "of in on at by for with from to into onto as than then so and or nor but not no if else when while where which "
    "what who whom whose why how there here all any each every some such own same other another more most can could "
    "may might must shall should will would just only also very too we you they he she i our your their us them me "
    "my up out off over under again once about against between through during before after above below both few "
    "because until whether us use used using via per etc eg ie one".split()
)

_IRREGULAR = {  # base: (past participle, third person or None)
    "give": "given", "take": "taken", "make": "made", "put": "put", "get": "got", "find": "found", "hold": "held",
    "write": "written", "read": "read", "send": "sent", "keep": "kept", "tell": "told", "cut": "cut", "set": "set",
    "let": "let", "leave": "left", "bring": "brought", "build": "built", "run": "run", "break": "broken",
    "begin": "begun", "throw": "thrown", "draw": "drawn", "choose": "chosen", "deal": "dealt", "look": "looked",
    "go": "gone", "shut": "shut", "split": "split", "do": "done", "hand": "handed", "come": "come", "say": "said",
    "show": "shown", "spell": "spelled", "stand": "stood", "mean": "meant", "catch": "caught", "pull": "pulled",
    "work": "worked", "grow": "grown", "shrink": "shrunk", "forbid": "forbidden", "hide": "hidden", "quit": "quit",
    "pay": "paid", "fit": "fitted", "wipe": "wiped", "switch": "switched", "feed": "fed",
}  # fmt: skip
_DOUBLING = set("get set put run stop drop strip trim cut split skip map log plan begin let quit wrap bar cap plot "
                "stem fit submit commit omit emit permit shut swap ship pop pad tag zip step".split())  # fmt: skip


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


def _forms() -> dict[str, tuple[str, str]]:
    forms: dict[str, tuple[str, str]] = {}
    for base in sorted(BASE_VERBS):
        for name, make in (("s", third_person), ("ing", gerund), ("ed", participle)):
            forms.setdefault(make(base), (base, name))
    for base in BASE_VERBS:
        forms[base] = (base, "")
    return forms


_FORMS = _forms()
_MAKE = {"s": third_person, "ing": gerund, "ed": participle, "": lambda phrase: phrase}

_WORD = re.compile(r"[A-Za-z]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


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
    for word in _WORD.findall(text):
        for part in _CAMEL.findall(word):
            if len(part) > 2 and part.lower() not in STOPWORDS:
                found.add(stem(part))
    return found


_MARKUP = [
    (re.compile(r":[a-z:+-]+:`~?!?([^`<]*?)(?:\s*<[^`]*>)?`"), r"`\1`"),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"``([^`]*)``"), r"`\1`"),
    (re.compile(r"`([^`<]+) <[^`]*>`_+"), r"\1"),
    (re.compile(r"\[[A-Za-z0-9_, -]*\]_?"), ""),
    (re.compile(r"\((?:[^()]|\([^()]*\))*\)"), ""),
    (re.compile(r"\*\*?([A-Za-z_][\w ]*)\*?\*?"), r"\1"),
    (re.compile(r"[CAL]\{([^}]*)\}"), r"`\1`"),
    (re.compile(r"\s+"), " "),
]
_IDENTIFIER = re.compile(r"^[A-Za-z_][\w.]*$")


def words_of(identifier: str) -> str:
    """`maxRedirectCount` -> `max redirect count`."""
    parts = _CAMEL.findall(identifier.split(".")[-1].replace("_", " "))
    return " ".join(part if part.isupper() and len(part) > 1 else part.lower() for part in parts)


def clean(text: str, rng: random.Random) -> str | None:
    """The first sentence of a handle without markup; None when it cannot become a query."""
    if re.search(r"https?://|>>>|\.\. |::|@\w+", text):
        return None
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    text = re.split(r"(?<=[a-z0-9`'\")])[.!?](?:\s|$)", text.strip())[0].strip(" .:;,-")
    if "`" in text:
        text = re.sub(r"`([^`]*)`", lambda m: _spell(m.group(1)), text)
    words = []
    for word in text.split():
        core = word.strip("\"'.,;:!?")
        if re.search(r"[_]|[a-z][A-Z]|^\w+\.\w+", core) and core.lower() not in ("e.g", "i.e"):
            word = word.replace(core, _spell(core))
        words.append(word)
    text = re.sub(r"(?<![\w.])\.(?=[A-Za-z])", "", " ".join(words)).replace("``", "").replace('"', "").strip()
    if (
        text.count("(") != text.count(")")
        or not text
        or re.search(r"[<>={}\\|*#`\[\]~^$%@+]", text)
        or not text.isascii()
    ):
        return None
    if "," in text and len(text.split()) > 14 and rng.random() < 0.7:
        text = text.split(",")[0] if len(text.split(",")[0].split()) >= 6 else text
    return text


def _spell(code: str) -> str:
    code = code.strip().strip("~!").removesuffix("()")
    if _IDENTIFIER.match(code):
        return words_of(code) or code
    return code


_GENERIC = re.compile(
    r"^(see |todo|fixme|xxx|hack|note|nb|noqa|type:|pragma|pylint|mypy|same as|alias|like |deprecated|override|overridden|"
    r"internal|helper|private|public|initiali[sz]e (self|the (object|instance|class))|constructor|init\b|test|"
    r"this (is|function|method|class|module|property|one)|the following|base class|abstract|subclass|implement|wrapper|"
    r"for (backward|compat|internal|more|example|testing)|backward|copyright|licen[sc]e|python \d|example|default implementation|"
    r"convenience|shortcut|shorthand|synonym|equivalent|must be|should be|default|not implemented|magic|usage|args|return self|"
    r"do nothing|does nothing|no-?op|dummy|this$|args|sentinel|ensure that this|defined|used (by|in|to|for)|called)",
    re.IGNORECASE,
)


def is_telling(text: str) -> bool:
    """Whether a cleaned handle says enough to find code by: enough content words, not a stock phrase."""
    if _GENERIC.match(text) or not 4 <= len(text.split()) <= 24:
        return False
    content = [w for w in _WORD.findall(text) if len(w) > 2 and w.lower() not in STOPWORDS]
    return len({w.lower() for w in content}) >= 3


def synonyms(text: str, rng: random.Random, taboo: Iterable[str] = (), rate: float = 0.45) -> str:
    """Replace words by synonyms: those whose stem is in `taboo` nearly always, others at `rate`."""
    forbidden = set(taboo)
    out = []
    tokens = re.split(r"([A-Za-z]+)", text)
    for i, token in enumerate(tokens):
        if i % 2 == 0 or token.isupper() or len(token) < 3:
            out.append(token)
            continue
        lower = token.lower()
        options: list[str] = []
        if lower in NOUNS:
            options = NOUNS[lower]
        elif lower in _FORMS:
            base, form = _FORMS[lower]
            if form != "s" or not (
                i > 1 and re.search(r"\b(the|of|a|all|any|these|those)$", "".join(tokens[:i]).rstrip(), re.I)
            ):
                options = [_MAKE[form](other) for other in VERBS.get(base, [])]
        fresh = [o for o in options if not stems(o) & forbidden] or options
        if (
            fresh
            and not _is_noun_here(tokens[:i], lower)
            and rng.random() < (0.9 if stem(lower) in forbidden else rate)
        ):
            choice = rng.choice(fresh)
            out.append(choice[0].upper() + choice[1:] if token[0].isupper() else choice)
        else:
            out.append(token)
    return re.sub(
        r"\b([Aa]) (?=[aeio])", r"\1n ", re.sub(r"\b([Aa])n (?=[bcdfgjklmnpqrstvwyz])", r"\1 ", "".join(out))
    )


def _is_noun_here(before: list[str], word: str) -> bool:
    """Whether a word that looks like a verb's base form cannot be one, by the word in front of it."""
    if word in NOUNS or word not in BASE_VERBS:
        return False
    previous = re.findall(r"[A-Za-z']+", "".join(before))
    allowed = (
        "to",
        "we",
        "you",
        "it",
        "they",
        "not",
        "and",
        "or",
        "can",
        "will",
        "must",
        "should",
        "may",
        "could",
        "would",
        "don't",
        "let's",
        "also",
    )
    return bool(previous) and previous[-1].lower() not in allowed


def _lower_first(text: str) -> str:
    head = text.split(" ", 1)[0]
    return text if (len(head) > 1 and not head[1:].islower()) or head == "I" else text[:1].lower() + text[1:]


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _imperative(text: str) -> tuple[str, str] | None:
    """Base verb and the rest when a handle starts with a verb (`Returns the x` or `Return the x`)."""
    head, _, rest = text.partition(" ")
    adverb = ""
    if head.lower().endswith("ly") and rest:
        adverb = head.lower() + " "
        head, _, rest = rest.partition(" ")
    base, form = _FORMS.get(head.lower(), ("", ""))
    if (
        not base
        or form not in ("", "s")
        or not rest
        or re.match(r"(is|are|was|has|have|must|should|of|can|will|for)\b", rest)
    ):
        return None
    if adverb:
        rest = rest + " " + adverb.strip()
    return base, rest


_WHETHER = re.compile(
    r"^(?:(?:returns?|checks?|determines?|tests?|tells?|decides?|sees?|verif(?:y|ies)|indicates?)\s+)?(?:(?:true|a bool\w*|a flag|bool)\s+)?"
    r"(?:(?:if and only if|iff|if|whether or not|whether|when)\s+)(.*)$",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r",? (?:and )?(?:or )?(?:false|none|true|not)(?: otherwise| if not)?$|,? otherwise .*$|,? else .*$", re.I
)


def _whether(clause: str, rng: random.Random) -> str:
    return rng.choice([
        "How is it decided whether {}?", "Which check tells whether {}?", "What determines if {}?",
        "Where is it tested whether {}?", "How do we know if {}?", "Which lines find out whether {}?",
        "Find the check for whether {}.", "How does the code tell that {}?",
    ]).format(clause)  # fmt: skip


def _action(verb: str, rest: str, rng: random.Random) -> str:
    s, ing, ed = third_person(verb), gerund(verb), participle(verb)
    forms = [
        f"What {s} {rest}?", f"Which lines {verb} {rest}?", f"Where does it {verb} {rest}?",
        f"Which part {s} {rest}?", f"Find the code that {s} {rest}.", f"How does it {verb} {rest}?",
        f"I need to {verb} {rest}; what does that already?", f"Show me what {s} {rest}.",
        f"Which code is responsible for {ing} {rest}?", f"{_upper_first(ing)} {rest}: where is that done?",
        f"I want to change how we {verb} {rest}. Which lines?",
        f"Locate the logic for {ing} {rest}", f"{verb} {rest}",
    ]  # fmt: skip
    short = re.match(
        r"^((?:the|a|an|all|any|each|every|this|that)\s[\w' -]{3,40}?)(?=\s(?:to|from|in|into|for|with|by|if|when|as|on|using)\b|$)(.*)$",
        rest,
    )
    if short and " that " not in short.group(1) and " and " not in short.group(1):
        head = re.split(r" (?:of|we|they|that|added|given)\b", short.group(1))[0]
        plural = re.match(r"(all|these|those)\b", head) or re.search(r"[a-z]{3}s$", head) is not None
        be = "are" if plural and not short.group(1).endswith("ss") else "is"
        forms += [
            f"Where {be} {short.group(1)} {ed}{short.group(2)}?",
            f"How {be} {short.group(1)} {ed}{short.group(2)}?",
        ] * 4
    giving = verb in (
        "return",
        "give back",
        "answer with",
        "get",
        "retrieve",
        "fetch",
        "compute",
        "calculate",
        "obtain",
        "yield",
    )
    if giving and re.match(r"(the|a|an|all)\b", rest):
        core = rest
        forms = [] if verb in ("return", "give back", "answer with") else forms
        forms += [
            f"Where does {core} come from?", f"How is {core} worked out?", f"Which function hands out {core}?",
            f"What gives me {core}?", f"Where do callers get {core}?", f"What returns {core}?",
            f"I need {core}; is there a function?", f"How do I get {core}?",
        ] * 2  # fmt: skip
    return rng.choice(forms)


def _statement(text: str, rng: random.Random) -> str:
    condition = re.match(r"^(if|when|in case|unless)\s+([^,]{12,}),\s*(?:then )?(.+)$", text, re.IGNORECASE)
    if condition:
        word, clause, then = condition.groups()
        return rng.choice([
            f"What happens {word.lower()} {clause}?", f"What is done {word.lower()} {clause}?",
            f"{_upper_first(word.lower())} {clause}, which lines deal with it?",
            f"{_upper_first(clause)}: where is this case handled?" if word.lower() in ("if", "when") else f"What is done {word.lower()} {clause}?",
            f"Where do we {then}?" if (p := _imperative(then)) and p[0] == then.split(" ")[0].lower() else f"What happens {word.lower()} {clause}?",
        ])  # fmt: skip
    if bare := re.match(r"^(if|when|in case|unless) ([^,]+)$", text, re.IGNORECASE):
        word, clause = bare.group(1).lower(), bare.group(2)
        return rng.choice(
            [
                f"What happens {word} {clause}?",
                f"What is done {word} {clause}?",
                f"Which lines are for the case that {clause}?",
            ]
        )
    lower = _lower_first(text)
    return rng.choice([
        f"{_upper_first(text)}; which lines take care of that?", f"{_upper_first(text)}: where is that handled?",
        f"Where is it taken into account that {lower}?", f"Which code copes with this: {lower}?",
        f"Which lines are there because {lower}?", f"{_upper_first(text)}. Where do we see to it?",
        f"{_upper_first(text)}; what does the code do about it?",
    ])  # fmt: skip


def _noun(text: str, kind: str, rng: random.Random) -> str:
    lower = _lower_first(text)
    if kind == "function":
        return rng.choice([
            f"Where does {lower} come from?", f"How do I get {lower}?", f"What gives me {lower}?", f"Find {lower}.",
            f"Which function is about {lower}?", f"Where is {lower} worked out?", f"How is {lower} obtained?",
        ])  # fmt: skip
    return rng.choice([
        f"Where is {lower} defined?", f"Find {lower}.", f"Which definition is {lower}?", f"Is there {lower}?",
        f"Where do I find {lower}?", f"Which lines make up {lower}?", f"Show me {lower}.",
    ])  # fmt: skip


def keywords(text: str, rng: random.Random) -> str:
    """A terse query: three to six content words in their order."""
    content = [w for w in re.findall(r"[A-Za-z0-9]+", text) if w.lower() not in STOPWORDS and len(w) > 2]
    while len(content) > 6:
        content.pop(rng.randrange(len(content)))
    return " ".join(w if w.isupper() else w.lower() for w in content)


def _error(text: str, rng: random.Random) -> str:
    lower = _lower_first(text)
    if m := re.match(
        r"(?:can ?not|can't|could not|couldn't|unable to|failed to|refus\w+ to)\s+(.+)", text, re.I
    ):
        rest = m.group(1)
        return rng.choice([
            f"When is it impossible to {rest}?", f"Where does it refuse to {rest}?", f"What makes it give up trying to {rest}?",
            f"In which case can't we {rest}?", f"It does not manage to {rest}; where is that reported?",
        ])  # fmt: skip
    if m := re.match(
        r"(?:an? )?(invalid|illegal|bad|malformed|unknown|unexpected|unrecognized|unsupported|duplicate|incorrect|missing|no such|empty) (.+)",
        text,
        re.I,
    ):
        kind, rest = m.group(1).lower(), re.sub(r"^(the|an?) ", "", m.group(2))
        article = "an" if kind[0] in "aeiou" else "a"
        if kind in ("missing", "no such"):
            return rng.choice(
                [
                    f"What happens if there is no {rest}?",
                    f"Where is a lacking {rest} reported?",
                    f"The {rest} is absent; what then?",
                ]
            )
        return rng.choice([
            f"Where is {article} {kind} {rest} turned down?", f"What happens if {article} {kind} {rest} is given?",
            f"Which check refuses {article} {kind} {rest}?", f"What is done about {article} {kind} {rest}?",
        ])  # fmt: skip
    if m := re.match(r"expect(?:ed|ing|s)? (.+?)(?:,? (?:but )?(?:got|found|received|not).*)?$", text, re.I):
        return rng.choice([
            f"Where is anything other than {m.group(1)} refused?", f"What happens when something else than {m.group(1)} comes?",
            f"Which lines insist on {m.group(1)}?",
        ])  # fmt: skip
    if m := re.match(r"(.+?) (must|should|has to|have to|needs? to) (not )?be (.+)$", text):
        subject, modal, negation, rest = _lower_first(m.group(1)), m.group(2), m.group(3) or "", m.group(4)
        return rng.choice([
            f"Where is it enforced that {subject} {modal} {negation}be {rest}?", f"Which check insists that {subject} {modal} {negation}be {rest}?",
            f"What if {subject} is {'' if negation else 'not '}{rest}?", f"What happens when {subject} is {'' if negation else 'not '}{rest}?",
        ])  # fmt: skip
    return rng.choice([
        f"Where is it complained that {lower}?", f"Which lines object that {lower}?", f"Users are told: {lower}. From where?",
        f"Which check fails with the complaint that {lower}?", f"{_upper_first(lower)}: which condition leads to that error?",
        f"When does it stop because {lower}?", f"Where do we bail out because {lower}?",
    ])  # fmt: skip


def _option(text: str, rng: random.Random) -> str:
    if parts := _imperative(text):
        verb, rest = parts
        s = third_person(verb)
        return rng.choice([
            f"Which option {s} {rest}?", f"How do I tell it to {verb} {rest}?", f"Is there a flag to {verb} {rest}?",
            f"Find the switch that {s} {rest}.", f"I want it to {verb} {rest}; which argument?",
        ])  # fmt: skip
    lower = _lower_first(text)
    return rng.choice([
        f"Which option is for {lower}?", f"Where is this setting declared: {lower}?", f"Which argument takes {lower}?",
        f"How do I give {lower} on the command line?", f"Find the option about {lower}.",
    ])  # fmt: skip


def _commit(text: str, rng: random.Random) -> str:
    parts = _imperative(text)
    if parts and parts[0] in ("fix", "correct", "repair", "resolve"):
        rest = re.sub(
            r"^(an? |the )?(bug|issue|problem|regression|error|crash)s? (where|when|with|in|that)\s+",
            "",
            parts[1],
        )
        return rng.choice([
            f"Which lines have to change to fix {rest}?" if rest == parts[1] else f"{_upper_first(rest)}: which code is at fault?",
            f"Where is the cause of this: {rest}?", f"I want to fix {rest}; where do I start?" if rest == parts[1] else f"Which lines are to blame when {rest}?",
            f"Goal: {_lower_first(text)}.", f"{_upper_first(rest)}; find the responsible lines.",
        ])  # fmt: skip
    if parts:
        verb, rest = parts
        return rng.choice([
            f"We want to {verb} {rest}. Which lines must change?", f"Where would I {verb} {rest}?", f"Goal: {verb} {rest}.",
            f"Task: {verb} {rest}. Show the code that this touches.", f"To {verb} {rest}, which lines are affected?",
            f"Which part has to be edited to {verb} {rest}?",
        ])  # fmt: skip
    lower = _lower_first(text)
    return rng.choice(
        [
            f"Which lines are concerned: {lower}?",
            f"Goal: {lower}.",
            f"Where must this change be made: {lower}?",
        ]
    )


_FINITE = re.compile(
    r"\b(is|are|was|were|will|can|cannot|may|must|should|do|does|don't|doesn't|have|has|need|needs|want|would|won't|isn't|aren't|can't|could|might|we|it)\b",
    re.IGNORECASE,
)
_TEMPLATE_WORDS = (
    "lines code find show locate part place function check logic responsible define definition handle case option switch "
    "argument flag setting goal task hunk change commit want need take care deal cope account decide determine tell whether "
    "come obtain work happen done enforce insist refuse turn report complain object"
)


def _commit_verb(text: str) -> str:
    """A subject with its first verb in the base form: `Fixed the`, `Fixes the` and `Fixing the` become `Fix the`."""
    head, _, rest = text.partition(" ")
    base, form = _FORMS.get(head.lower(), ("", ""))
    return f"{base[0].upper()}{base[1:]} {rest}" if base and form in ("ed", "ing", "s") else text


def _diff(text: str, rng: random.Random) -> str:
    parts = _imperative(text)
    if not parts:
        lower = _lower_first(text)
        return rng.choice(
            [
                f"Which hunk is about this: {lower}?",
                f"Which change belongs to: {lower}?",
                f"Find the hunk for {lower}.",
            ]
        )
    verb, rest = parts
    s = third_person(verb)
    return rng.choice([
        f"Which hunk {s} {rest}?", f"Which change {s} {rest}?", f"Find the change that {s} {rest}.", f"What {s} {rest} now?",
        f"Where does this start to {verb} {rest}?", f"Where was the code changed to {verb} {rest}?",
        f"Show the edit meant to {verb} {rest}.", f"Which lines of the diff {verb} {rest}?",
    ])  # fmt: skip


def _log(text: str, rng: random.Random) -> str:
    parts = _imperative(text)
    if not parts:
        lower = _lower_first(text)
        return rng.choice(
            [f"Which commit is about {lower}?", f"Find the commit: {lower}.", f"When was this done: {lower}?"]
        )
    verb, rest = parts
    ed, s = _past(verb), third_person(verb)
    return rng.choice([
        f"Which commit {ed} {rest}?", f"Find the commit that {ed} {rest}.", f"When did they {verb} {rest}?",
        f"Which entry says that it {s} {rest}?", f"In which commit did somebody {verb} {rest}?",
        f"Since which commit do we {verb} {rest}?" if verb not in ("fix", "remove", "add", "correct", "make") else f"Who {ed} {rest}?",
    ])  # fmt: skip


_PASTS = {"given": "gave", "taken": "took", "written": "wrote", "broken": "broke", "begun": "began", "thrown": "threw", "drawn": "drew",
          "chosen": "chose", "gone": "went", "done": "did", "come": "came", "shown": "showed", "grown": "grew", "shrunk": "shrank",
          "forbidden": "forbade", "hidden": "hid", "run": "ran"}  # fmt: skip


def _past(phrase: str) -> str:
    verb, _, rest = participle(phrase).partition(" ")
    return f"{_PASTS.get(verb, verb)} {rest}".strip()


def _log_body(text: str, rng: random.Random) -> str:
    text = re.sub(r"^(this|the) (commit|change|patch|pr) ", "", text, flags=re.I)
    parts = _imperative(text)
    if parts:
        return _log(text, rng)
    lower = _lower_first(text)
    return rng.choice([
        f"{_upper_first(text)}: which commit is about that?", f"Which commit has to do with this: {lower}?",
        f"{_upper_first(text)}; which change was that?", f"Find the commit whose background is that {lower}.",
    ])  # fmt: skip


def rephrase(handle: str, kind: str, rng: random.Random, taboo: Iterable[str] = ()) -> str | None:
    """A query for the code that `handle` describes, or None when no good one comes of it.

    kind: the sort of handle: `function`, `class`, `comment`, `error`, `option`, a commit's subject asked of a file
        (`commit`), of a diff (`diff`) or of a log (`log`), or a sentence of its body (`log_body`).
    taboo: stems of the words in the answer; they are replaced where the table knows another word.
    """
    text = clean(handle, rng)
    if text is None or not is_telling(text):
        return None
    forbidden = set(taboo)
    text = re.sub(r"\b(the|this|a) (given|specified|provided) ", r"\1 ", text)
    text = _TAIL.sub("", text) if kind == "function" else text
    if kind == "comment" and (
        opened := re.match(
            r"^((?:if|when) [^,]{15,}?) (?:we|then|it|just|this|don't|do not|use|return|raise|skip)\b",
            text,
            re.I,
        )
    ):
        text = opened.group(1)
    if rng.random() < 0.08:
        query = keywords(synonyms(text, rng, forbidden, 0.2), rng)
        return query if len(query.split()) >= 4 else None
    match = _WHETHER.match(text) if kind in ("function", "comment") else None
    if (
        match
        and kind == "comment"
        and ("," in text or not re.match(r"(check|determine|test|see|verify)", text, re.I))
    ):
        match = None
    if match:
        query = _whether(synonyms(match.group(1), rng, forbidden), rng)
    elif kind == "error":
        query = _error(synonyms(text, rng, forbidden), rng)
    elif kind == "option":
        query = _option(_with_synonyms(text, rng, forbidden), rng)
    elif kind in ("commit", "diff", "log"):
        make = {"commit": _commit, "diff": _diff, "log": _log}[kind]
        query = make(_with_synonyms(_commit_verb(text), rng, forbidden, 0.35), rng)
    elif kind == "log_body":
        query = _log_body(_with_synonyms(text, rng, forbidden, 0.3), rng)
    elif parts := _imperative(text):
        query = _action(_other_verb(parts[0], rng, forbidden), synonyms(parts[1], rng, forbidden), rng)
    elif kind in ("function", "class") and re.match(
        r"(an?|the|all|every|list|set|number|name|path)\b", text, re.I
    ):
        if not re.search(r"\b(that|which|whose)\b", text) and _FINITE.search(text):
            return None
        query = _noun(synonyms(text, rng, forbidden), kind, rng)
    elif kind == "comment" and _FINITE.search(text):
        query = _statement(synonyms(text, rng, forbidden, 0.35), rng)
    else:
        return None
    query = re.sub(r"\s+", " ", query).strip()
    return _upper_first(query) if rng.random() < 0.9 else query


def _other_verb(verb: str, rng: random.Random, forbidden: set[str]) -> str:
    others = [v for v in VERBS.get(verb, []) if not stems(v) & forbidden]
    return rng.choice(others) if others and (stem(verb) in forbidden or rng.random() < 0.45) else verb


def _with_synonyms(text: str, rng: random.Random, forbidden: set[str], rate: float = 0.45) -> str:
    parts = _imperative(text)
    if not parts:
        return synonyms(text, rng, forbidden, rate)
    keep = parts[0] in ("fix",) or rng.random() < 0.5
    return f"{parts[0] if keep else _other_verb(parts[0], rng, forbidden)} {synonyms(parts[1], rng, forbidden, rate)}"


_TEMPLATE_STEMS = stems(_TEMPLATE_WORDS)


def content_stems(query: str) -> set[str]:
    """Stems of a query's content words without those that the wording adds."""
    return stems(query) - _TEMPLATE_STEMS


def overlap(query: str, answer: str) -> float:
    """Share of the query's content stems that stand in the answer."""
    asked = content_stems(query)
    return len(asked & stems(answer)) / len(asked) if asked else 1.0
