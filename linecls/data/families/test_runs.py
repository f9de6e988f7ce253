"""Runs of small test suites and scripts with planted faults: pytest, unittest, coverage, tracebacks.

Every project is written from fragments: a function with a good and a bad form (`<<good||bad>>`), a test of
it, and queries that describe what goes wrong when the bad form stands. The tools are really run.
"""

# ruff: noqa: E501
from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Label, Page
from linecls.records import Record

NAME = "test_runs"

NOUNS = kit.parse_vocabulary("""
invoice = bill; request for payment
parcel = package to be delivered; box under way
ticket = admission; support request
recipe = cooking instruction; dish
voucher = gift code; coupon
lesson = class; teaching hour
tenant = renter; party renting
sensor = measuring device; probe
shelf = storage place; rack
vessel = ship; boat
patient = person under treatment; sick person
track = song; piece of music
meter = consumption counter; gauge
route = way to travel; itinerary
seat = place to sit; chair
loan = borrowed item; lending
species = kind of animal; taxon
galaxy = star system; island of stars
wallet = purse; money container
palette = set of colours; colour scheme
referee = umpire; match official
orchard = fruit plantation; fruit garden
beacon = signal sender; light signal
garment = piece of clothing; item to wear
podcast = audio show; spoken programme
turbine = generator; rotor machine
bakery = bread shop; place that sells buns
molecule = chemical compound; chemical
harvest = crop yield; gathered crop
quiz = set of questions; knowledge game
bridge = crossing; span over water
kettle = water boiler; pot
comet = tailed sky object; icy wanderer
ledger = account book; book of entries
canvas = drawing surface; painting ground
magnet = attracting iron; field source
glacier = ice stream; river of ice
lantern = portable lamp; hand light
convoy = group of vehicles; column of trucks
dialect = regional speech; local way of speaking
festival = celebration; series of concerts
pipette = laboratory dropper; liquid doser
saddle = rider's seat; seat on a horse
warrant = legal order; authorisation paper
aquarium = fish tank; glass water tank
shuttle = pendulum bus; back-and-forth vehicle
mosaic = picture of tiles; tiled artwork
anthem = national hymn; festive song
cistern = rainwater store; water reservoir
""")


@dataclass
class Fragment:
    """A function with a planted fault, its test and the queries about the failure."""

    name: str
    code: str = ""
    test: str = ""
    queries: list[str] = field(default_factory=list)
    filled: bool = False


def _fragments(text: str) -> list[Fragment]:
    found: list[Fragment] = []
    section = ""
    for line in text.splitlines():
        if line.startswith("= "):
            found.append(Fragment(line[2:].strip()))
            section = ""
        elif line in ("@code", "@test"):
            section = line[1:]
        elif line.startswith("? "):
            found[-1].queries.append(line[2:])
        elif section == "code":
            found[-1].code += line + "\n"
        elif section == "test":
            found[-1].test += line + "\n"
    return found


FRAGMENTS = _fragments("""
= off_by_one
@code
def last_{t}s(items, count):
    return items[len(items) - count<<||+1>>:]
@test
def test_recent_{t}_window():
    assert last_{t}s([3, 5, 8, 13], 2) == [8, 13]
? Which failure returns one element too few when the newest entries are asked for?
? The list of the latest {t_p} entries comes out short by one. Show the failure.
? boundary slip when cutting the tail of a list
? Something is lost at the edge of a slice; which check noticed?
= sort_order
@code
def rank_{t}s(items):
    return sorted(items, key=lambda pair: <<-pair[1]||pair[1]>>)
@test
def test_{t}_ranking():
    assert rank_{t}s([("a", 1), ("b", 9), ("c", 4)]) == [("b", 9), ("c", 4), ("a", 1)]
? Where does the best come last instead of first?
? ordering is upside down; which check shows it?
? the league table of {t_p} entries runs the wrong way round
? Show the failure about ascending instead of descending.
= rounding
@code
def split_{t}_cost(total, people):
    share = <<round(total / people, 2)||int(total / people)>>
    return [share] * people
@test
def test_cost_of_{t}_is_shared():
    assert split_{t}_cost(10, 4) == [2.5, 2.5, 2.5, 2.5]
? Where are the cents lost?
? fractions are cut off when money is divided; which test failed?
? Sharing the expense of a {t_p} does not add up. Details?
? truncation to whole numbers
= mutable_default
@code
def add_{t}_tag(tag, tags=<<None||[]>>):
    tags = <<[] if tags is None else tags||tags>>
    tags.append(tag)
    return tags
@test
def test_{t}_tags_are_independent():
    add_{t}_tag("old")
    assert add_{t}_tag("new") == ["new"]
? Which failure comes from state that survives between two calls?
? A second call still knows about the first; show that.
? leftovers from an earlier invocation leak into the next result
? labels of one {t_p} show up on another
= none_return
@code
def find_{t}(items, key):
    for item in items:
        if item["id"] == key:
            <<return item||item>>
@test
def test_lookup_of_{t}():
    hit = find_{t}([{"id": 4, "label": "x"}], 4)
    assert hit["label"] == "x"
? A search forgets to hand back what it found. Which failure?
? Where did a test index into nothing because the function gave no result?
? lookup of a {t_p} by its number yields nothing
? result of a function is empty although the thing exists
= key_error
@code
def {t}_label(row):
    return row[<<"title"||"titel">>].upper()
@test
def test_{t}_label_is_upper():
    assert {t}_label({"title": "Ode"}) == "ODE"
? Which failure is due to a misspelt field name?
? a dictionary was asked for an entry it never had; where?
? The heading of a {t_p} cannot be made; show why.
= wrong_exception
@code
def parse_{t}_size(text):
    if not text.isdigit():
        raise <<ValueError||TypeError>>(f"bad size {text!r}")
    return int(text)
@test
def test_{t}_size_rejects_words():
    with pytest.raises(ValueError):
        parse_{t}_size("huge")
? Where is an error raised, but of another class than callers expect?
? Garbage is refused in the wrong way; which test says so?
? unsuitable exception type for a non-numeric amount of a {t_p}
= no_exception
@code
def check_{t}_age(years):
    if years <<< 0||< -100>>:
        raise ValueError("age below zero")
    return years
@test
def test_negative_{t}_age_is_refused():
    with pytest.raises(ValueError):
        check_{t}_age(-3)
? Which invalid input slips through without complaint?
? An impossible value was accepted; show the check that caught that.
? missing guard: nothing was thrown
? A {t_p} may have an age under nought, it seems. Evidence?
= inclusive
@code
def {t}_is_open(hour):
    return 8 <= hour <<<=||<>> 18
@test
def test_{t}_open_at_closing_hour():
    assert {t}_is_open(18)
? Is the upper limit wrongly left out somewhere?
? the last hour of the day does not count; which failure?
? Boundary: end of an interval should belong to it.
= case
@code
def same_{t}_name(left, right):
    return <<left.lower() == right.lower()||left == right>>
@test
def test_{t}_names_ignore_case():
    assert same_{t}_name("North", "NORTH")
? Capital letters matter where they should not. Which failure?
? comparison of names is too strict about upper and lower letters
? Two spellings of the same {t_p} are taken for different things.
= whitespace
@code
def clean_{t}_code(text):
    return <<text.strip().upper()||text.upper()>>
@test
def test_{t}_code_is_trimmed():
    assert clean_{t}_code("  ab7 ") == "AB7"
? Padding is not removed; which check fails?
? blanks around an input stay where they are
? the identifier of a {t_p} keeps stray spaces
= timezone
@code
def {t}_start(stamp):
    moment = datetime.fromisoformat(stamp)
    return <<moment.astimezone(timezone.utc)||moment.replace(tzinfo=timezone.utc)>>.hour
@test
def test_{t}_start_in_universal_time():
    assert {t}_start("2024-05-01T12:00:00+02:00") == 10
? Where is the offset from Greenwich ignored?
? clock time is taken over without converting it; which failure?
? A moment is off by two hours. Show the assertion.
= leap
@code
def {t}_days(year):
    return 366 if year % 4 == 0 <<and (year % 100 or year % 400 == 0)||>> else 365
@test
def test_{t}_days_of_century():
    assert {t}_days(1900) == 365
? Which failure is about the calendar rule for hundreds of years?
? February has a day too many at a turn of the century
? length of a year computed wrongly
= dedupe
@code
def unique_{t}s(items):
    return <<list(dict.fromkeys(items))||sorted(set(items))>>
@test
def test_unique_{t}s_keep_first_order():
    assert unique_{t}s(["z", "b", "z", "a"]) == ["z", "b", "a"]
? Removing duplicates shuffles the rest. Which test?
? the sequence of arrival is lost when repeats are dropped
? original order of {t_p} entries is not preserved
= aliasing
@code
def paint_{t}_grid(width, height):
    return <<[[0] * width for _ in range(height)]||[[0] * width] * height>>
@test
def test_{t}_grid_rows_are_separate():
    grid = paint_{t}_grid(2, 2)
    grid[0][1] = 7
    assert grid == [[0, 7], [0, 0]]
? Changing one row changes all of them; which failure shows it?
? rows share the same memory
? One write appears in two places. Where?
= float_eq
@code
def {t}_sum(parts):
    return <<round(sum(parts), 6)||sum(parts)>>
@test
def test_{t}_sum_of_tenths():
    assert {t}_sum([0.1, 0.2]) == 0.3
? Which failure is only about binary representation of decimals?
? tiny inexactness in an addition
? A total differs in the last digits only. Which one?
= parse_date
@code
def {t}_date(text):
    return datetime.strptime(text, <<"%d.%m.%Y"||"%m.%d.%Y">>).date().isoformat()
@test
def test_{t}_date_is_day_first():
    assert {t}_date("03.11.2023") == "2023-11-03"
? Day and month are mixed up. Where?
? which check shows an American reading of a European date?
? The calendar date of a {t_p} is misread.
= parse_crash
@code
def {t}_due(text):
    return datetime.strptime(text, <<"%d/%m/%y"||"%m/%d/%y">>).month
@test
def test_{t}_due_after_the_twelfth():
    assert {t}_due("25/06/24") == 6
? Which date could not be read at all?
? A format string does not fit its input; which test crashed on it?
? parsing the deadline of a {t_p} blows up
= empty_mean
@code
def mean_{t}_weight(weights):
    <<if not weights:||>>
    <<    return 0.0||>>
    return sum(weights) / len(weights)
@test
def test_mean_weight_without_{t}s():
    assert mean_{t}_weight([]) == 0.0
? Nothing to average: who did not think of that?
? crash for an empty collection
? an undefined quotient; which test ran into it?
= import_name
@code
def {t}_digest(data):
    return <<hashlib||hashlb>>.md5(data).hexdigest()[:6]
@test
def test_{t}_digest():
    assert {t}_digest(b"x") == "9dd4e4"
? Which failure is a typing mistake in a module's name?
? an identifier that nobody defined is used at run time
? the fingerprint of a {t_p} cannot be calculated; why?
= attribute
@code
def {t}_words(text):
    return text.<<split||splitt>>(",")
@test
def test_{t}_words_by_comma():
    assert {t}_words("a,b") == ["a", "b"]
? A method is called that strings do not have. Which failure?
? misspelt method name found at run time
? cutting a comma list fails with a typo
= arg_count
@code
def scale_{t}(value, factor, offset<<=0||>>):
    return value * factor + offset
@test
def test_scale_{t}_without_offset():
    assert scale_{t}(3, 4) == 12
? A parameter lost its default. Which test notices?
? call with too few arguments
? signature changed under the caller's feet; show the failure
= type_mix
@code
def {t}_caption(name, count):
    return name + ": " + <<str(count)||count>>
@test
def test_{t}_caption_has_count():
    assert {t}_caption("red", 2) == "red: 2"
? Text and number were glued together without conversion. Where?
? joining incompatible kinds of values
? the caption of a {t_p} cannot be built
= unit
@code
def {t}_metres(feet):
    return round(feet <<* 0.3048||/ 0.3048>>, 3)
@test
def test_{t}_metres_from_feet():
    assert {t}_metres(10) == 3.048
? conversion between units runs in the wrong direction
? Which length is far too big because it was divided instead of multiplied?
? imperial to metric gives nonsense for a {t_p}
= negation
@code
def {t}_is_allowed(role, blocked):
    return <<role not in blocked||role in blocked>>
@test
def test_blocked_role_cannot_use_{t}():
    assert not {t}_is_allowed("guest", {"guest"})
? Who gets in that should be kept out?
? permission logic is inverted; which check?
? A visitor without rights may use the {t_p}. Show it.
= json_shape
@code
def {t}_to_json(name, tags):
    return json.dumps({"name": name, "tags": <<sorted(tags)||"".join(sorted(tags))>>})
@test
def test_{t}_json_tags_are_a_list():
    assert json.loads({t}_to_json("n", {"b", "a"})) == {"name": "n", "tags": ["a", "b"]}
? A list is written as one string. Which failure compares the structures?
? shape of the exported document is wrong
? serialised form of a {t_p} has the wrong kind of value for one entry
= encoding
@code
def read_{t}_note(data):
    return data.decode(<<"utf-8"||"ascii">>)
@test
def test_{t}_note_with_umlaut():
    assert read_{t}_note("für".encode()) == "für"
? Which failure is about letters outside English?
? an accented character cannot be read
? character set too narrow for a remark on a {t_p}
= regex
@code
def {t}_numbers(text):
    return re.findall(r"<<\\d+||\\d>>", text)
@test
def test_{t}_numbers_have_many_digits():
    assert {t}_numbers("12 and 345") == ["12", "345"]
? Numbers fall apart into single figures. Which one?
? A pattern matches too little at a time; show the diff.
= recursion
@code
def {t}_depth(node):
    <<if not node:||>>
    <<    return 0||>>
    return 1 + max({t}_depth(child) for child in node) <<if node else 0||>>
@test
def test_{t}_depth_of_chain():
    assert {t}_depth([[[]]]) == 2
? A walk down a tree has no proper end; which test shows it?
? the maximum of nothing is asked for in a nested structure
? leaf case missing in a recursive function
= cache_stale
@code
_{t}_memo = {}
def {t}_price(name, table):
    key = <<(name, table[name])||name>>
    if key not in _{t}_memo:
        _{t}_memo[key] = table[name] * 2
    return _{t}_memo[key]
@test
def test_{t}_price_follows_table():
    assert {t}_price("k", {"k": 2}) == 4
    assert {t}_price("k", {"k": 5}) == 10
? An outdated remembered value is handed out. Where?
? result does not follow its changed source
? stale memo: which assertion?
= pagination
@code
def page_of_{t}s(items, page, size=3):
    start = <<(page - 1) * size||page * size>>
    return items[start:start + size]
@test
def test_first_page_of_{t}s():
    assert page_of_{t}s([1, 2, 3, 4, 5], 1) == [1, 2, 3]
? The first sheet shows what belongs on the second. Which failure?
? counting of sheets starts at nought though it should not
? browsing through {t_p} entries skips the beginning
= merge
@code
def merge_{t}_options(base, extra):
    result = dict(<<base||extra>>)
    result.update(<<extra||base>>)
    return result
@test
def test_{t}_options_later_wins():
    assert merge_{t}_options({"a": 1, "b": 2}, {"b": 3}) == {"a": 1, "b": 3}
? Which failure shows that defaults beat the user's own choice?
? precedence of settings is reversed
? an override is ignored; show the difference of the dictionaries
= plural
@code
def count_{t}s(n):
    return f"{n} {t}" + (<<"" if n == 1 else "s"||"s">>)
@test
def test_single_{t}_has_no_plural_ending():
    assert count_{t}s(1) == "1 {t}"
? Grammar: one thing is spoken of as several. Which test?
? singular form is wrong in a text
= clamp
@code
def limit_{t}(value, low, high):
    return <<max(low, min(value, high))||min(low, max(value, high))>>
@test
def test_{t}_stays_in_range():
    assert limit_{t}(50, 0, 10) == 10
? A value should be kept between two bounds but is not. Show it.
? limiter gives back the wrong end
= url
@code
def {t}_link(name):
    return "/items/" + <<quote(name)||name>>
@test
def test_{t}_link_is_escaped():
    assert {t}_link("a b/ü") == "/items/a%20b/%C3%BC"
? Special characters go unescaped into an address. Which failure?
? percent signs are missing in a link
= html
@code
def {t}_cell(text):
    return "<td>" + <<escape(text)||text>> + "</td>"
@test
def test_{t}_cell_is_safe():
    assert "<script>" not in {t}_cell("<script>alert(1)</script>")
? Which failure means that visitors could inject code into the page?
? markup from users goes through unfiltered
? a security hole in how a {t_p} is displayed
= count_words
@code
def {t}_initials(name):
    return "".join(word[0] for word in name.<<split()||split(" ")>>)
@test
def test_{t}_initials_with_double_blank():
    assert {t}_initials("Ada  Byron") == "AB"
? Two spaces in a row break it. Which test?
? an empty piece of text has no first letter; where did that crash?
= iterator
@code
def {t}_stats(values):
    <<values = list(values)||>>
    return (sum(values), max(values))
@test
def test_{t}_stats_from_generator():
    assert {t}_stats(v for v in (1, 4, 2)) == (7, 4)
? Something is walked through twice although it can be used only once. Which failure?
? the stream was already used up when it was needed again
= percent
@code
def {t}_share(part, whole):
    return <<100 * part / whole||part / whole>>
@test
def test_{t}_share_in_percent():
    assert {t}_share(1, 4) == 25
? A ratio comes out a hundred times too small.
? Which result lacks the factor that turns a fraction into hundredths?
= frozen
@code
@dataclass(frozen=<<False||True>>)
class {T}State:
    level: int = 0
    def raise_level(self):
        self.level += 1
        return self.level
@test
def test_{t}_state_can_rise():
    assert {T}State().raise_level() == 1
? Which object refuses to be changed?
? assignment to something declared unchangeable
? the state of a {t_p} cannot be updated; show the error
= ctx
@code
@contextmanager
def {t}_session(log):
    log.append("open")
    <<try:||if True:>>
        yield
    <<finally:||if True:>>
        log.append("close")
@test
def test_{t}_session_closes_on_error():
    log = []
    with pytest.raises(KeyError):
        with {t}_session(log):
            raise KeyError("x")
    assert log == ["open", "close"]
? Is clean-up skipped when something goes wrong inside a block?
? after a failure the resource stays open; which check?
= global_state
@code
{T}_LIMITS = {"max": 5}
def raise_{t}_limit(by):
    limits = <<dict({T}_LIMITS)||{T}_LIMITS>>
    limits["max"] += by
    return limits["max"]
@test
def test_{t}_limit_constant_untouched():
    raise_{t}_limit(2)
    assert {T}_LIMITS == {"max": 5}
? A constant was altered by accident. Show the assertion.
? shared default was modified in place
= env
@code
def {t}_folder():
    return os.environ<<.get("APP_{U}_DIR", "/tmp/{t}")||["APP_{U}_DIR"]>>
@test
def test_{t}_folder_has_fallback():
    assert {t}_folder() == "/tmp/{t}"
? Which test depends on a variable of the shell that is not set?
? no fallback for missing environment
= log_message
@code
def archive_{t}(count):
    if count == 0:
        log.warning("nothing to put away for {t}")
        return <<0||None>>
    log.info("{t}: %d put away", count)
    return count
@test
def test_archive_without_{t}s():
    print("preparing an empty archive")
    assert archive_{t}(0) == 0
? Which failing test was about having no items to store away?
? no number comes back when there is nothing to archive
""")

_HEADER = """import hashlib, json, logging, os, re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from urllib.parse import quote

log = logging.getLogger(__name__)

"""
_PICK = re.compile(r"<<(.*?)\|\|(.*?)>>", re.S)


def _choose(code: str, bad: bool) -> str:
    lines = []
    for line in code.split("\n"):
        if line.count("<<<") and "||" in line:  # a comparison sign inside the choice
            line = re.sub(
                r"<<(<=?)(.*?)\|\|(<=?)(.*?)>>",
                lambda m: (m.group(3) + m.group(4)) if bad else (m.group(1) + m.group(2)),
                line,
            )
        done = _PICK.sub(lambda m: m.group(2) if bad else m.group(1), line)
        if done.strip() or not line.strip():
            lines.append(done.rstrip() if done.strip() else "")
    return "\n".join(lines)


@dataclass
class Planted:
    """A fragment in a project: the noun, whether it is faulty, the test's name and file."""

    fragment: Fragment
    noun: str
    words: str
    bad: bool
    test: str
    module: str


def _fill(text: str, noun: str, words: str) -> str:
    return (
        text.replace("{t_p}", words)
        .replace("{t}", noun)
        .replace("{T}", noun.title())
        .replace("{U}", noun.upper())
    )


def _plan(rng: random.Random, faults: int, passing: int, modules: int) -> list[Planted]:
    nouns = rng.sample(NOUNS, modules)
    chosen = rng.sample(FRAGMENTS, min(len(FRAGMENTS), faults + passing))
    planted = []
    for index, fragment in enumerate(chosen):
        noun, words = rng.choice(nouns)
        match = re.search(r"def (test_\w+)", _fill(fragment.test, noun, ""))
        assert match is not None
        planted.append(Planted(fragment, noun, rng.choice(words), index < faults, match.group(1), noun))
    rng.shuffle(planted)
    return planted


def _unittest(test: str) -> str:
    """A pytest function as a method of a unittest case."""
    lines = []
    for line in test.rstrip("\n").split("\n"):
        line = re.sub(r"^def (test_\w+)\(\)", r"def \1(self)", line)
        line = line.replace("pytest.raises", "self.assertRaises")
        line = re.sub(r"assert (.+) == (.+)$", r"self.assertEqual(\1, \2)", line)
        line = re.sub(r"assert not (.+)$", r"self.assertFalse(\1)", line)
        line = re.sub(r"assert (.+) not in (.+)$", r"self.assertNotIn(\1, \2)", line)
        line = re.sub(r"assert (.+)$", r"self.assertTrue(\1)", line)
        lines.append("    " + line)
    return "\n".join(lines) + "\n"


_EXTRAS = [
    (
        "skip",
        '@pytest.mark.skip(reason="{reason}")\ndef test_{t}_{word}():\n    assert False\n',
        [
            "Which check was left out, and with what justification?",
            "Why was a test not executed?",
            "something was deliberately not run; the reason",
            "Show what pytest passed over.",
        ],
    ),
    (
        "xfail",
        '@pytest.mark.xfail(reason="{reason}")\ndef test_{t}_{word}():\n    assert 1 == 2\n',
        [
            "Which known weakness is tolerated for now?",
            "a failure that was expected anyway",
            "Is any test allowed to fail, and why?",
        ],
    ),
    (
        "fixture",
        '@pytest.fixture\ndef {t}_{word}():\n    raise RuntimeError("{reason}")\n\n\ndef test_with_{t}_{word}({t}_{word}):\n    assert {t}_{word}\n',
        [
            "Which test never began because its preparation broke?",
            "a test's set-up went wrong; show that error",
            "Error while building what a test needs, not in the test itself",
        ],
    ),
    (
        "warn",
        'def test_{t}_{word}():\n    import warnings\n    warnings.warn("{reason}", DeprecationWarning)\n',
        [
            "What did pytest warn about?",
            "Which test uses something that will be taken away?",
            "Is there an outdated call that still works?",
        ],
    ),
]
_REASONS = [
    "needs the staging server",
    "see ticket 4812",
    "flaky on slow disks",
    "only on Windows",
    "waits for the new driver",
    "broken since the last upgrade",
    "no licence on this machine",
    "old calling convention",
    "takes half an hour",
    "the sandbox has no sound card",
    "pending review by finance",
]


def _write(
    root: Path, planted: list[Planted], package: str, rng: random.Random, style: str
) -> list[tuple[str, str, list[str]]]:
    """Write the project; returns what extra tests were planted as (kind, name or reason, queries)."""
    (root / package).mkdir()
    (root / package / "__init__.py").write_text("")
    (root / "tests").mkdir()
    if style == "unittest":
        (root / "tests" / "__init__.py").write_text("")
    extras: list[tuple[str, str, list[str]]] = []
    by_module: dict[str, list[Planted]] = {}
    for item in planted:
        by_module.setdefault(item.module, []).append(item)
    taken: set[str] = set()
    reasons = rng.sample(_REASONS, len(_EXTRAS))
    for module, items in by_module.items():
        code, tests = (
            _HEADER,
            "import json\nimport pytest\n" if style == "pytest" else "import json\nimport unittest\n",
        )
        tests += f"from {package}.{module} import *\n\n\n"
        if style == "unittest":
            tests += f"class {module.title()}Tests(unittest.TestCase):\n"
        for item in items:
            code += _fill(_choose(item.fragment.code, item.bad), item.noun, "").rstrip("\n") + "\n\n\n"
            body = _fill(item.fragment.test, item.noun, "").rstrip("\n") + "\n"
            tests += (body + "\n\n") if style == "pytest" else _unittest(body) + "\n"
        if style == "pytest" and rng.random() < 0.5:
            kind, source, queries = rng.choice(_EXTRAS)
            if kind not in taken:
                taken.add(kind)
                reason, word = reasons.pop(), kit.MAKERS["word"](rng)
                tests += source.replace("{reason}", reason).replace("{word}", word).replace("{t}", module)
                extras.append((kind, reason if kind != "fixture" else f"test_with_{module}_{word}", queries))
        (root / package / f"{module}.py").write_text(code, encoding="utf-8")
        (root / "tests" / f"test_{module}.py").write_text(tests, encoding="utf-8")
    return extras


def run(
    command: list[str],
    cwd: Path,
    rng: random.Random,
    home: str,
    env: dict[str, str] | None = None,
    timeout: float = 60,
) -> str:
    """Output of a command (both streams) with paths, addresses and durations made independent of the machine."""
    import os

    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(cwd),
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        **(env or {}),
    }
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return scrub(done.stdout.decode("utf-8", "replace"), cwd, rng, home)


def scrub(text: str, cwd: Path, rng: random.Random, home: str) -> str:
    """Replace the scratch folder, interpreter folders, addresses and durations by values drawn from `rng`."""
    text = text.replace(str(cwd.resolve()), home).replace(str(cwd), home)
    text = re.sub(r"(?:/[\w.+-]+)+/lib/python3\.(\d+)/", r"/usr/lib/python3.\1/", text)
    text = re.sub(r"/\S*/bin/python[\d.]*", f"{home}/.venv/bin/python", text)
    seen: dict[str, str] = {}
    text = re.sub(
        r"0x7[0-9a-f]{11}", lambda m: seen.setdefault(m.group(), f"0x7f{rng.getrandbits(40):010x}"), text
    )
    text = re.sub(r"\b(in |took )\d+\.\d+ ?s", lambda m: f"{m.group(1)}{rng.uniform(0.05, 4):.2f}s", text)
    text = re.sub(r"(Ran \d+ tests? in )[\d.]+s", lambda m: f"{m.group(1)}{rng.uniform(0.002, 1):.3f}s", text)
    return text.rstrip("\n")


def _blocks(page: Page, style: str) -> dict[str, tuple[int, int]]:
    """Failure blocks by test name: from the header to the last non-blank line before the next header."""
    blocks: dict[str, tuple[int, int]] = {}
    if style == "pytest":
        head, stop = (
            re.compile(r"^_{3,} (?:ERROR at setup of )?([\w.\[\]-]+) _{3,}$"),
            re.compile(r"^(=+ .* =+|_{3,} .* _{3,}|-+ coverage.*)$"),
        )
    else:
        head, stop = re.compile(r"^(?:FAIL|ERROR): (test_\w+) "), re.compile(r"^(={60,}|Ran \d+ tests?.*)$")
    for number, line in enumerate(page.lines, 1):
        match = head.match(line)
        if not match:
            continue
        end = number
        while end < len(page.lines) and not stop.match(page.lines[end]):
            end += 1
        while end > number and (not page.lines[end - 1].strip() or set(page.lines[end - 1]) == {"-"}):
            end -= 1
        blocks[match.group(1).split(".")[-1]] = (number, end)
    return blocks


def _suite(rng: random.Random, index: int, python: str) -> Iterator[Record]:
    style = "pytest" if rng.random() < 0.75 else "unittest"
    planted = _plan(rng, rng.randint(3, 7), rng.randint(3, 22), rng.randint(3, 7))
    package = rng.choice(["core", "app", "domain", "lib", "service", "engine"]) + rng.choice(
        ["", "kit", "base", "_x"]
    )
    home = f"/home/user/src/{package}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        extras = _write(root, planted, package, rng, style)
        if style == "pytest":
            flags = [
                rng.choice(["-q", "-v", "", "-vv"]),
                rng.choice(
                    ["--tb=short", "--tb=short", "--tb=long", "--tb=line", "--tb=native", "--tb=auto"]
                ),
                rng.choice(["", "-rA", "-ra", "-rfEs"]),
            ]
            arguments = [f for f in flags if f]
            output = run([python, "-m", "pytest", "-p", "no:cacheprovider", *arguments], root, rng, home)
            command = (
                " ".join(["python -m pytest", *arguments])
                if rng.random() < 0.6
                else " ".join(["pytest", *arguments, "tests"])
            )
        else:
            arguments = rng.choice([["-v"], [], ["-v", "-b"]])
            output = run(
                [python, "-m", "unittest", "discover", "-s", "tests", "-t", ".", *arguments], root, rng, home
            )
            command = " ".join(["python -m unittest discover -s tests", *arguments])
    page = Page()
    if output:
        page.say(output)
    labels: list[Label] = []
    blocks = _blocks(page, style)
    faulty = [item for item in planted if item.bad]
    rng.shuffle(faulty)
    for item in faulty[:5]:
        key = item.test
        if item.test in blocks:
            page.mark(key, *blocks[item.test])
        else:
            number = _line_of(page, item)
            if number:
                page.mark(key, number)
        query = kit.vary(rng, _fill(rng.choice(item.fragment.queries), item.noun, item.words))
        labels.append(Label(query, key, f"{style}_{item.fragment.name}"))
    good = [item for item in planted if not item.bad]
    for item in good[:2]:
        number = page.find(item.test, "PASSED") or page.find(item.test, "... ok")
        if number and page.find(item.test, start=number + 1) == 0 and rng.random() < 0.5:
            page.mark("ok_" + item.test, number)
            words = re.sub(r"_", " ", item.test.removeprefix("test_")).replace(item.noun, item.words)
            labels.append(
                Label(
                    rng.choice(
                        [
                            "Did the check '{w}' go through?",
                            "Is '{w}' all right now?",
                            "outcome of the check on {w}",
                        ]
                    ).replace("{w}", words),
                    "ok_" + item.test,
                    f"{style}_passed",
                )
            )
    for kind, needle, queries in extras:
        key = "x_" + kind
        if kind == "fixture" and needle in blocks:
            page.mark(key, *blocks[needle])
        elif kind in ("skip", "xfail"):
            number = page.find(needle, "SKIP" if kind == "skip" else "XFAIL")
            if number:
                page.mark(key, number)
        elif kind == "warn":
            number = page.find("DeprecationWarning: " + needle)
            if number:
                page.mark(key, max(1, number - 1), min(len(page.lines), number + 1))
        labels.append(Label(rng.choice(queries), key, f"{style}_{kind}")) if key in page.marks else None
    if page.lines and rng.random() < 0.2:
        page.mark("total", len(page.lines))
        labels.append(
            Label(
                rng.choice(
                    [
                        "How many went wrong altogether?",
                        "overall result of the run",
                        "What is the final tally?",
                    ]
                ),
                "total",
                f"{style}_total",
            )
        )
    used = {item.fragment.name for item in planted}
    if labels and rng.random() < 0.35 and (easy := kit.lexical(rng, page, rng.choice(labels).key or "")):
        labels.append(easy)
    if rng.random() < 0.72:
        absent = rng.choice(
            [
                f
                for f in FRAGMENTS
                if f.name not in used and not _similar(f.name, {i.fragment.name for i in faulty})
            ]
            or []
        )
        noun, words = rng.choice(NOUNS)
        labels.append(
            Label(
                kit.vary(rng, _fill(rng.choice(absent.queries), noun, rng.choice(words))),
                None,
                f"{style}_absent_{absent.name}",
            )
        )
    yield from kit.records(
        page,
        labels,
        tool_type="test_output",
        command=command,
        family=NAME,
        project=f"{package}-{index % 30}",
        ident=f"test_output-{index}-{rng.getrandbits(32):08x}",
        package=style,
    )


_ALIKE = [
    {"off_by_one", "inclusive", "pagination"},
    {"sort_order", "dedupe"},
    {"rounding", "float_eq", "percent", "unit", "clamp"},
    {"mutable_default", "aliasing", "global_state", "cache_stale", "merge"},
    {"none_return", "empty_mean", "recursion", "iterator", "count_words", "log_message"},
    {"key_error", "import_name", "attribute", "env"},
    {"wrong_exception", "no_exception"},
    {"case", "whitespace"},
    {"timezone", "parse_date", "parse_crash", "leap"},
    {"encoding", "url", "html", "parse_crash"},
    {"arg_count", "type_mix", "frozen"},
    {"negation", "inclusive"},
    {"json_shape", "regex", "count_words"},
    {"plural", "case"},
    {"ctx", "no_exception"},
]


def _similar(name: str, others: set[str]) -> bool:
    return any(name in group and group & others for group in _ALIKE)


def _line_of(page: Page, item: Planted) -> int:
    """The one line that tells of a failure when no block is printed (--tb=line, --tb=no)."""
    for needle in (f"::{item.test} - ", f"::{item.test} FAILED"):
        number = page.find(needle)
        if number:
            return number
    return 0


@dataclass
class _Crash:
    name: str
    body: str
    queries: list[str]


def _crashes(text: str) -> list[_Crash]:
    found: list[_Crash] = []
    for line in text.splitlines():
        if line.startswith("= "):
            found.append(_Crash(line[2:].strip(), "", []))
        elif line.startswith("? "):
            found[-1].queries.append(line[2:])
        elif line.strip():
            found[-1].body += line + "\n"
    return found


CRASHES = _crashes("""
= key
    row = {"name": "{t}", "size": 3}
    return row["{word}"]
? Which step asked a mapping for an entry that is not in it?
? an expected field of the record is not there
? lookup by name in a dictionary went wrong while working on a {t_p}
= chained_config
    try:
        return int("{word}")
    except ValueError as exc:
        raise RuntimeError("bad setting for {t}") from exc
? Which error was translated into another on purpose? Both parts, please.
? A setting was not numeric and the program wrapped that; show the whole chain.
? root cause and consequence for the misconfigured {t_p}
= during
    try:
        open("/nonexistent/{word}.csv")
    except FileNotFoundError:
        {}["{word}"]
? Where did handling of one failure produce the next?
? A second error arose while the first was being dealt with.
? table file absent, and then even the fallback broke
= file
    with open("/nonexistent/{t}/{word}.txt") as handle:
        return handle.read()
? Which path could not be opened?
? an input document is missing on disk
? the data of a {t_p} was not where it should be
= json
    import json
    return json.loads('{"{t}": [1, 2,}')
? Which document had a syntax slip?
? malformed input text: the parser's complaint
? the description of a {t_p} could not be decoded
= index
    items = list(range({n}))
    return items[{nn}]
? access beyond the end of a sequence
? Which position does not exist?
= attr
    class {T}:
        pass
    return {T}().{word}
? A property is used that the object does not have. Where?
? Which class lacks what is asked of it?
= none
    found = {}.get("{t}")
    return found.{word}
? Where was nothing treated as something?
? an optional result was used without a check
= zero
    total, parts = {nn}, 0
    return total / parts
? undefined arithmetic
? a share among nobody: which step?
= types
    return "{t}" + {nn}
? A number was appended to text without conversion.
? mixing incompatible operands
= args
    def {word}(left, right):
        return left
    return {word}(1, 2, 3)
? Which call passes more than the callee takes?
? wrong number of arguments
= kwarg
    def {word}(size):
        return size
    return {word}(size=1, colour="red")
? A named option was handed over that nobody knows.
? which function was given an unknown parameter?
= decode
    return bytes([{nn}, 0xff, 0xfe]).decode("utf-8")
? bytes that are no valid text
? a character set problem; show where
= encode
    return "{t} €".encode("latin-1")
? A sign cannot be written in the chosen character set.
? the currency symbol breaks the output
= assertion
    level = -{n}
    assert level >= 0, "{t} below ground"
? Which internal check did not hold?
? a sanity condition was violated; its message
= recursion
    def {word}(n):
        return {word}(n + 1)
    return {word}(0)
? endless self-call
? The stack was used up. Which function is to blame?
= unpack
    first, second = "{t}:{word}:{nn}".split(":")
    return first
? Too many pieces for the names on the left.
? splitting gave more parts than expected
= unpack_few
    first, second, third = ("{t}", {n})
    return third
? Fewer values than variables: where?
? a tuple was shorter than assumed
= hash
    return {["{t}"]: {n}}
? A list was used where only fixed values may serve.
? unhashable thing as a key
= iter
    return list({nnn})
? A plain number was looped over.
? something that cannot be walked through
= stop
    return next(iter([]))
? The next element was wanted though there was none.
? source ran dry
= value
    return int("{nn}x")
? text that looks almost like a number
? numeric conversion refused
= perm
    raise PermissionError(13, "Permission denied", "/srv/{t}/{word}.lock")
? Which lock file may not be touched?
? rights problem of the operating system
= timeout
    raise TimeoutError("{t} did not answer within {sec} s")
? What took too long?
? waiting for a {t_p} was given up
= connection
    raise ConnectionResetError(104, "Connection reset by peer")
? The other end hung up.
? network link torn down from outside
= import
    import {word}_{t}
? Which library is not installed?
? an optional dependency is missing
= name
    return {word}_total + 1
? a variable nobody defined
? misspelt or forgotten identifier
= unbound
    if len("{t}") > 90:
        {word} = 1
    return {word}
? A local is read before anything was stored in it.
? which variable only gets a value in some cases?
= overflow
    import math
    return math.exp({nnnn})
? a result too large for a float
? numeric range exceeded
= domain
    import math
    return math.sqrt(-{nn})
? a root of something negative
? input outside of what the function is defined for
= struct
    import struct
    return struct.unpack("<Q", b"{t}"[:3])
? too few bytes for a binary record
? packed data is shorter than its layout demands
= date
    from datetime import date
    return date(2023, 2, 30)
? a day that no calendar has
? impossible date
= notimpl
    raise NotImplementedError("{t} in {word} mode")
? Which feature has not been written yet?
? a gap in the implementation
= group
    raise ExceptionGroup("{t} checks", [ValueError("{word}"), OSError("disk")])
? several failures at once, bundled
? Which step reports more than one problem together?
= frozen
    pair = ("{t}", {n})
    pair[1] = {nn}
? writing into something that cannot change
? item assignment refused
= enum
    import enum
    class {T}Mode(enum.Enum):
        FAST = 1
    return {T}Mode("{word}")
? a mode that is not among the allowed ones
? unknown member of an enumeration
= decimal
    from decimal import Decimal
    return Decimal("{nn},5")
? A decimal comma where a point was needed.
? exact number with foreign punctuation
""")
_STEPS = "load collect prepare convert check render publish apply sync export scan compare merge index store".split()


def _script(rng: random.Random, index: int, python: str) -> Iterator[Record]:
    chosen = rng.sample(CRASHES, rng.randint(3, 6))
    quiet = rng.randint(3, 12)
    steps: list[tuple[str, _Crash | None]] = [(c.name, c) for c in chosen] + [
        (f"ok{i}", None) for i in range(quiet)
    ]
    rng.shuffle(steps)
    if rng.random() < 0.5:  # the last crash is not caught
        last = next(i for i in range(len(steps) - 1, -1, -1) if steps[i][1] is not None)
        steps = [*steps[:last], *steps[last + 1 :], steps[last]]
        uncaught = True
    else:
        uncaught = False
    style = rng.choice(["print_exc", "logging", "format"])
    lines = [
        "import logging",
        "import sys",
        "import traceback",
        "",
        'logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format="%(levelname)s %(name)s: %(message)s")'
        if rng.random() < 0.5
        else 'logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format="%(name)s %(levelname)-8s %(message)s")',
        f'log = logging.getLogger("{rng.choice(["runner", "batch", "pipeline", "harvest", "nightly"])}")',
        "",
    ]
    calls: list[str] = []
    asked: list[tuple[str, _Crash, kit.Slots]] = []
    for number, (_, crash) in enumerate(steps):
        noun, words = rng.choice(NOUNS)
        slots = kit.Slots(rng, {}, {"t": noun, "t_p": rng.choice(words), "T": noun.title()})
        step = f"{rng.choice(_STEPS)}_{noun}_{number}"
        if crash is None:
            lines += [
                f"def {step}():",
                f"    for n in range({rng.randint(1, 7)}):",
                f'        log.{rng.choice(["info", "debug"])}("{noun} %d {rng.choice(["done", "read", "is fine", "checked"])}", n)',
                f'    print("{step}: {rng.randint(2, 900)} entries")',
                "",
                "",
            ]
        else:
            depth = rng.randint(0, 3)
            inner = step if depth == 0 else f"_{rng.choice(_STEPS)}_{noun}_{number}_0"
            body = re.sub(r"\{(t|T|word|n|nn|nnn|nnnn|sec)\}", lambda m, s=slots: s[m.group(1)], crash.body)
            lines += [f"def {inner}():", *body.rstrip("\n").split("\n"), "", ""]
            for level in range(1, depth + 1):
                name = step if level == depth else f"_{rng.choice(_STEPS)}_{noun}_{number}_{level}"
                lines += [
                    f"def {name}():",
                    f'    log.debug("{rng.choice(["enter", "begin", "working on"])} {noun}")',
                    f"    return {inner}()",
                    "",
                    "",
                ]
                inner = name
            asked.append((step, crash, slots))
        calls.append(step)
    lines += [
        "def main():",
        f"    steps = [{', '.join(calls)}]",
        "    for step in steps:",
        f'        print("{rng.choice(["--", "step", "#", ">>"])}", step.__name__, flush=True)',
    ]
    if uncaught:
        lines += ["        if step is steps[-1]:", "            step()", "            break"]
    report = {
        "print_exc": "traceback.print_exc()",
        "logging": 'log.exception("step %s failed", step.__name__)',
        "format": 'print("!", "".join(traceback.format_exc()))',
    }[style]
    lines += [
        "        try:",
        "            step()",
        "        except Exception:",
        f"            {report}",
        "",
        "",
        "main()",
        "",
    ]
    script = rng.choice(["run", "batch", "nightly", "sync", "main", "pipeline"]) + ".py"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / script).write_text("\n".join(lines), encoding="utf-8")
        output = run([python, script], root, rng, "/home/user/src/jobs")
    page = Page()
    if output:
        page.say(output)
    labels: list[Label] = []
    headers = {step: page.find(f" {step}") for step, _, _ in asked}
    for step, crash, slots in asked:
        start = page.find("Traceback", start=headers[step]) or page.find(
            "Exception Group", start=headers[step]
        )
        if not start:
            continue
        later = [
            page.find(f" {name}", start=start + 1)
            for name in calls[calls.index(step) + 1 : calls.index(step) + 2]
        ]
        stop = next((number for number in later if number), len(page.lines) + 1) - 1
        while stop > start and not page.lines[stop - 1].strip():
            stop -= 1
        if stop - start > 40:
            continue
        first = start
        if crash.name in ("chained_config", "during"):
            pass
        page.mark(step, first, stop)
        labels.append(
            Label(kit.vary(rng, slots.fill(rng.choice(crash.queries))), step, f"traceback_{crash.name}")
        )
    used = {c.name for c in chosen}
    if rng.random() < 0.6:
        absent = rng.choice(
            [
                c
                for c in CRASHES
                if c.name not in used and not any(c.name in g and g & used for g in _CRASH_ALIKE)
            ]
        )
        noun, words = rng.choice(NOUNS)
        labels.append(
            Label(
                kit.vary(
                    rng,
                    kit.Slots(rng, {}, {"t": noun, "t_p": rng.choice(words)}).fill(
                        rng.choice(absent.queries)
                    ),
                ),
                None,
                f"traceback_absent_{absent.name}",
            )
        )
    yield from kit.records(
        page,
        labels,
        tool_type="python",
        command=f"python {script}",
        family=NAME,
        project=f"jobs-{index % 30}",
        ident=f"python-{index}-{rng.getrandbits(32):08x}",
        package="python",
    )


_CRASH_ALIKE = [
    {"key", "index", "during", "stop", "attr"},
    {"attr", "none", "name", "unbound", "import"},
    {"types", "value", "decimal", "iter", "chained_config", "json"},
    {"args", "kwarg"},
    {"decode", "encode", "json"},
    {"unpack", "unpack_few", "struct"},
    {"hash", "frozen", "types", "iter"},
    {"zero", "overflow", "domain"},
    {"file", "during", "perm"},
    {"timeout", "connection"},
    {"enum", "key", "value", "date"},
    {"group", "chained_config", "during"},
]


def _coverage(rng: random.Random, index: int, python: str) -> Iterator[Record]:
    planted = _plan(rng, 0, rng.randint(12, 34), rng.randint(9, 24))
    package = rng.choice(["core", "app", "domain", "lib"]) + rng.choice(["", "kit", "base"])
    home = f"/home/user/src/{package}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root, planted, package, rng, "unittest")
        modules = sorted({item.module for item in planted})
        bare = rng.sample([entry for entry in NOUNS if entry[0] not in modules], 1)
        for noun, _ in bare:
            (root / package / f"{noun}.py").write_text(
                _HEADER
                + f"def {noun}_count(items):\n    if not items:\n        return 0\n    return len(items)\n",
                encoding="utf-8",
            )
        asked = {}
        for module in modules:
            extra = rng.randint(0, 14)
            source = (root / package / f"{module}.py").read_text(encoding="utf-8")
            for n in range(extra):
                source += f"\n\ndef {rng.choice(_STEPS)}_{module}_{n}(value):\n    if value > {rng.randint(1, 99)}:\n        return {rng.randint(1, 9)}\n    return value + {n}\n"
            (root / package / f"{module}.py").write_text(source, encoding="utf-8")
            asked[module] = extra
        branch = rng.random() < 0.5
        run(
            [
                python,
                "-m",
                "coverage",
                "run",
                *(["--branch"] if branch else []),
                f"--source={package}",
                "-m",
                "unittest",
                "discover",
                "-s",
                "tests",
                "-t",
                ".",
            ],
            root,
            rng,
            home,
        )
        missing = rng.random() < 0.7
        output = run([python, "-m", "coverage", "report", *(["-m"] if missing else [])], root, rng, home)
    page = Page()
    if output:
        page.say(output)
    words = dict(NOUNS)
    rows = {m: page.find(f"{package}/{m}.py") for m in [*modules, bare[0][0]]}
    percent = {
        m: int(found.group(1))
        for m, n in rows.items()
        if n and (found := re.search(r"(\d+)%", page.lines[n - 1]))
    }
    labels: list[Label] = []
    if len(percent) < 4:
        return

    def ask(module: str, *queries: str) -> None:
        page.mark(module + queries[0], rows[module])
        labels.append(Label(kit.vary(rng, rng.choice(queries)), module + queries[0], "coverage"))

    if percent.get(bare[0][0]) == 0:
        ask(
            bare[0][0],
            "Which part was never touched by any test?",
            "code that no check ever loads",
            "a module nobody exercised at all",
        )
    ranked = sorted((p, m) for m, p in percent.items() if p > 0)
    if ranked[0][0] < ranked[1][0]:
        ask(
            ranked[0][1],
            "Among what was run at all, what is tested worst?",
            "the weakest file that has at least some tests",
            "lowest share of executed statements apart from zero",
        )
    full = [m for m, p in percent.items() if p == 100]
    if 0 < len(full) <= 4:
        for m in full:
            page.mark("full", rows[m])
        labels.append(
            Label(
                kit.vary(
                    rng,
                    rng.choice(
                        [
                            "Which files have nothing left to cover?",
                            "everything executed: which ones?",
                            "completely exercised modules",
                        ]
                    ),
                ),
                "full",
                "coverage",
            )
        )
    for m in rng.sample(
        [m for m in modules if percent.get(m, 100) < 100],
        k=min(2, sum(percent.get(m, 100) < 100 for m in modules)),
    ):
        w = rng.choice(words[m])
        ask(
            m,
            f"How well is the code about a {w} exercised?",
            f"Which statements of the {w} part did no test reach?"
            if missing
            else f"share of the {w} code that ran",
            f"figures for whatever handles a {w}",
        )
    page.mark("total", page.find("TOTAL"))
    if rng.random() < 0.3:
        labels.append(
            Label(
                rng.choice(
                    ["How much of the whole project ran?", "the overall figure", "sum over all files"]
                ),
                "total",
                "coverage",
            )
        )
    if rng.random() < 0.5:
        noun, other = rng.choice([e for e in NOUNS if e[0] not in rows])
        labels.append(
            Label(
                kit.vary(rng, f"How well is the code about a {rng.choice(other)} exercised?"),
                None,
                "coverage_absent",
            )
        )
    yield from kit.records(
        page,
        labels,
        tool_type="coverage",
        command="coverage report" + (" -m" if missing else ""),
        family=NAME,
        project=f"{package}-{index % 30}",
        ident=f"coverage-{index}-{rng.getrandbits(32):08x}",
        package="coverage",
    )


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of real test runs, coverage reports and tracebacks.

    Options: `observations` (default 120), `python`: an interpreter that has pytest and coverage (default: this one).
    """
    python = str(options.get("python") or sys.executable)
    makers = [_suite, _suite, _suite, _script, _script, _coverage]
    for index in range(int(options.get("observations", 120))):
        local = random.Random(rng.getrandbits(64))
        yield from local.choice(makers)(local, index, python)
