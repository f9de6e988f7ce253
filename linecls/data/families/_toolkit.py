"""Shared parts of the tool-output families: a page that knows its evidence lines, catalogues, vocabularies.

A catalogue is plain text, one entry per kind of incident:

    = name level          begins an entry (`level` is free: a log level, a status, a section)
    > text                begins a variant of what the tool prints; `{slot}` is filled from a vocabulary
    + text                a further event of the same variant (noise may fall between events)
    | text                a continuation line that stays glued to the line above (stack frames, details)
    ? text                a query that the entry answers; `{slot_p}` is the slot in other words
"""

from __future__ import annotations

import os
import random
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeVar

from linecls.data.families import SOURCE
from linecls.records import Record
from linecls.spans import Span, count_lines, merge

MANY = 1_000_000  # observations of a family when its options name no limit: the builder stops reading


_Item = TypeVar("_Item")


def pick(rng: random.Random, items: Sequence[_Item]) -> _Item | None:
    """One of the items, or None when there are none."""
    return rng.choice(items) if items else None


def catalogue_text(name: str) -> str:
    """Text of a catalogue that ships with the families."""
    return (files("linecls.data.families") / "catalogues" / f"{name}.txt").read_text("utf-8")


@dataclass
class Event:
    """One event of an incident: `lines[0]` is the message, the others are glued continuation lines."""

    lines: list[str]


@dataclass
class Kind:
    """An entry of a catalogue: what can be printed and what may be asked about it."""

    name: str
    level: str
    variants: list[list[Event]] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


def parse_catalogue(text: str) -> list[Kind]:
    """Parse a catalogue; raises ValueError for a line that belongs to no entry or an entry without queries."""
    kinds: list[Kind] = []
    for raw in text.splitlines():
        if not raw.strip():
            continue
        mark, body = raw[0], raw[2:]
        if mark == "=":
            name, _, level = body.partition(" ")
            kinds.append(Kind(name, level.strip() or "ERROR"))
            continue
        if not kinds or mark not in ">+|?":
            raise ValueError(f"catalogue line belongs to no entry: {raw!r}")
        kind = kinds[-1]
        if mark == ">":
            kind.variants.append([Event([body])])
        elif mark == "+":
            kind.variants[-1].append(Event([body]))
        elif mark == "|":
            kind.variants[-1][-1].lines.append(body)
        else:
            kind.queries.append(body)
    for kind in kinds:
        if not kind.variants or not kind.queries:
            raise ValueError(f"catalogue entry {kind.name} lacks a variant or a query")
    return kinds


def parse_vocabulary(text: str) -> list[tuple[str, list[str]]]:
    """Lines `identifier = paraphrase; paraphrase` to pairs of identifier and paraphrases."""
    entries = []
    for raw in text.strip().splitlines():
        name, _, rest = raw.partition(" =")
        entries.append((name.strip(), [part.strip() for part in rest.split(";") if part.strip()]))
    return entries


class Slots(dict[str, str]):
    """Values for one incident: each slot is drawn once, on first use, from a vocabulary or a number maker."""

    def __init__(
        self,
        rng: random.Random,
        vocabularies: Mapping[str, Sequence[tuple[str, list[str]]]],
        fixed: Mapping[str, str] | None = None,
        taken: set[str] | None = None,
    ) -> None:
        super().__init__(fixed or {})
        self._rng = rng
        self._vocabularies = vocabularies
        self._taken = taken if taken is not None else set()

    def __missing__(self, key: str) -> str:
        base, _, tail = key.rpartition("_")
        if tail == "p" and base:
            self[base]  # draws both
            return self[key]
        stem = key.rstrip("0123456789")
        if stem in self._vocabularies:
            entries = self._vocabularies[stem]
            free = [e for e in entries if (stem + e[0]) not in self._taken] or list(entries)
            name, words = self._rng.choice(free)
            self._taken.add(stem + name)
            self[key] = name
            self[key + "_p"] = self._rng.choice(words) if words else name
            return self[key]
        maker = MAKERS.get(stem)
        if maker is None:
            raise KeyError(f"no vocabulary or maker for slot {key!r}")
        self[key] = maker(self._rng)
        return self[key]

    def fill(self, text: str) -> str:
        """Fill the `{slot}`s of a text; other braces stay."""
        return _ARTICLES.sub(r"\1he ", _SLOT.sub(lambda m: self[m.group(1)], text))


_SLOT = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)\}")

_ARTICLES = re.compile(r"\b([Tt])he (?:the|a|an|what|where|one's) ")


_WORDS = tuple(catalogue_text("words").split())


def slot_names(text: str) -> list[str]:
    """Names of the `{slot}`s of a text."""
    return _SLOT.findall(text)


def _hex(n: int) -> Callable[[random.Random], str]:
    return lambda rng: "".join(rng.choices("0123456789abcdef", k=n))


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "n": lambda r: str(r.randint(2, 9)),
    "nn": lambda r: str(r.randint(11, 97)),
    "mm": lambda r: f"{r.randint(0, 59):02d}",
    "nnn": lambda r: str(r.randint(104, 989)),
    "nnnn": lambda r: str(r.randint(1024, 9870)),
    "nnnnn": lambda r: str(r.randint(10240, 98700)),
    "big": lambda r: str(r.randint(1_000_000, 98_000_000)),
    "ms": lambda r: str(r.randint(3, 480)),
    "slow": lambda r: str(r.randint(2100, 48000)),
    "sec": lambda r: str(r.choice([5, 10, 15, 20, 30, 45, 60, 90, 120])),
    "pct": lambda r: str(r.randint(3, 88)),
    "high": lambda r: str(r.randint(91, 99)),
    "float": lambda r: f"{r.uniform(0.1, 99):.2f}",
    "ip": lambda r: f"10.{r.randint(0, 63)}.{r.randint(0, 255)}.{r.randint(2, 250)}",
    "wan": lambda r: f"{r.choice([198, 203])}.{r.choice([51, 18])}.{r.choice([100, 113])}.{r.randint(2, 250)}",
    "port": lambda r: str(r.choice([5432, 6379, 8080, 8443, 9092, 9200, 5672, 3306, 27017, 50051, 4317, 7700])),
    "eport": lambda r: str(r.randint(32768, 60999)),
    "pid": lambda r: str(r.randint(300, 32000)),
    "hex": _hex(8),
    "hash": _hex(12),
    "sha": _hex(40),
    "uuid": lambda r: f"{_hex(8)(r)}-{_hex(4)(r)}-4{_hex(3)(r)}-a{_hex(3)(r)}-{_hex(12)(r)}",
    "mib": lambda r: str(r.choice([64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096])),
    "gib": lambda r: str(r.choice([2, 4, 8, 10, 16, 20, 32, 50, 64, 100])),
    "ver": lambda r: f"{r.randint(0, 9)}.{r.randint(0, 24)}.{r.randint(0, 12)}",
    "date": lambda r: f"20{r.randint(22, 26)}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}",
    "lineno": lambda r: str(r.randint(14, 460)),
    "word": lambda r: r.choice(_WORDS),
    "suffix": lambda r: "".join(r.choices("bcdfghjklmnpqrstvwxz2456789", k=5)),
    "rs": lambda r: "".join(r.choices("bcdf2456789", k=9)),
    "letter": lambda r: r.choice(string.ascii_lowercase),
}

_LEADS = (
    "I want to know: ",
    "For the incident report: ",
    "Debugging: ",
    "Please check: ",
    "Need this for the ticket: ",
    "Quick question: ",
    "Before I change anything: ",
)
_WRAPS = (
    "Show {q}.",
    "Find {q}.",
    "Where is {q}?",
    "Show me {q}",
    "I am looking for {q}.",
    "Locate {q}.",
    "Which lines are about {q}?",
    "Give me {q} and nothing else.",
    "Point me to {q}.",
    "{q}: exact lines",
    "Is there {q}?",
    "Extract {q}.",
)


def program(options: Mapping[str, Any], name: str, fallback: str = "") -> str:
    """A path from the options with `~` and environment variables filled in; `fallback` when unset or unknown."""
    path = os.path.expanduser(os.path.expandvars(str(options.get(name) or "")))
    return path if path and "$" not in path else fallback


def vary(rng: random.Random, query: str) -> str:
    """A query in one of several registers: a phrase becomes a command or stays terse, a question may lose its mark."""
    first = query.split(maxsplit=1)[0]
    if (
        query[-1] not in "?."
        and query[0].islower()
        and len(query) < 75
        and not set(query) & set(":,;")
        and first not in _QUESTION
        and rng.random() < 0.5
    ):
        if set(query.split()[1:]) & _VERBS:
            return rng.choice(_WRAPS).format(q="the place where " + query).replace("about the place where", "about how")
        return (
            rng.choice(_WRAPS)
            .format(q=query if first in ("the", "a", "an", "evidence", "signs") else "the entry about " + query)
            .replace("about the entry about", "about")
        )
    roll = rng.random()
    if roll < 0.08 and query.endswith("?"):
        return query[:-1]
    if roll < 0.14:
        return query[:1].lower() + query[1:]
    if roll < 0.19:
        return rng.choice(_LEADS) + query[:1].lower() + query[1:]
    if roll < 0.23 and query.endswith("."):
        return query[:-1]
    if query[0].islower() and rng.random() < 0.5:
        return query[0].upper() + query[1:]
    return query


_QUESTION = {"which", "who", "what", "where", "how", "why", "nobody", "did", "is", "was", "does", "not", "no"}
_VERBS = frozenset(catalogue_text("verbs").split())  # a phrase with one of them is a clause
_PIECES = re.compile(r"[A-Za-z][A-Za-z'-]*(?: [A-Za-z][A-Za-z'-]*){1,3}")
_QUOTES = (
    "Show the line with '{q}'.",
    "{q}",
    "Find '{q}'.",
    "Where does it say {q}?",
    "the '{q}' message",
    "Find the {q} entry.",
)


def lexical(rng: random.Random, page: Page, key: str) -> Label | None:
    """An easy label that repeats words of the evidence found nowhere else; None when there are none."""
    numbers = page.marks.get(key, [])
    if not numbers or len(numbers) > 20:
        return None
    gold = [page.lines[n - 1] for n in numbers]
    rest = "\n".join(line for n, line in enumerate(page.lines, 1) if n not in set(numbers))
    pieces = [p for line in gold[:3] for p in _PIECES.findall(line) if 9 <= len(p) <= 48 and p not in rest]
    if not pieces:
        return None
    return Label(rng.choice(_QUOTES).format(q=rng.choice(pieces)), key, "lexical")


@dataclass
class Page:
    """An observation under construction; lines may carry the key of the evidence they belong to."""

    lines: list[str] = field(default_factory=list)
    marks: dict[str, list[int]] = field(default_factory=dict)

    def say(self, *text: str, key: str | None = None) -> None:
        """Append lines (texts are split at newlines); with a key they become evidence of that key."""
        for chunk in text:
            for line in chunk.split("\n"):
                self.lines.append(line)
                if key is not None:
                    self.marks.setdefault(key, []).append(len(self.lines))

    def mark(self, key: str, start: int, end: int | None = None) -> None:
        """Make existing lines (1-based, inclusive) evidence of a key."""
        self.marks.setdefault(key, []).extend(range(start, (end or start) + 1))

    def find(self, *needles: str, start: int = 1) -> int:
        """First line at or after `start` that holds all needles; 0 if there is none."""
        for number in range(max(start, 1), len(self.lines) + 1):
            if all(needle in self.lines[number - 1] for needle in needles):
                return number
        return 0

    def spans(self, key: str) -> list[Span]:
        """Evidence of a key as merged spans; empty for a key that never came up."""
        return merge((n, n) for n in self.marks.get(key, []))

    def text(self) -> str:
        """The observation with a final newline."""
        return "\n".join(self.lines) + "\n"


@dataclass
class Label:
    """A query and the key of its evidence; a negative has no key.

    cuttable: whether nothing else would answer the query if its evidence were gone (see `linecls.data.negatives`).
    """

    query: str
    key: str | None
    rule: str
    cuttable: bool = False


def records(
    page: Page,
    labels: Iterable[Label],
    *,
    tool_type: str,
    command: str,
    family: str,
    project: str,
    ident: str,
    package: str = "",
    version: str = "",
    licence: str = "Apache-2.0",
) -> Iterator[Record]:
    """One record per label; a positive whose evidence is missing or too large a share is left out."""
    text = page.text()
    total = len(page.lines)
    seen: set[str] = set()
    kept = 0
    for label in labels:
        if label.query in seen:
            continue
        seen.add(label.query)
        spans = page.spans(label.key) if label.key is not None else []
        size = count_lines(spans)
        if label.key is not None and (not spans or size > max(45, 0.4 * total) or size > 0.6 * total):
            continue
        extra: dict[str, Any] = {
            "family": family,
            "rule": label.rule,
            "project": project,
            "package": package,
            "version": version,
            "licence": licence,
        }
        if label.cuttable:
            extra["cuttable"] = True
        yield Record(
            instance_id=f"{ident}#{kept}",
            source=SOURCE,
            tool_type=tool_type,
            query=label.query,
            background_task="",
            tool_output=text,
            gold_spans=spans,
            is_irrelevant=not spans,
            command=command,
            extra=extra,
        )
        kept += 1


# Vocabularies: identifier = other words for it.
VOCABULARIES: dict[str, list[tuple[str, list[str]]]] = {
    "svc": parse_vocabulary(catalogue_text("words_svc")),
    "table": parse_vocabulary(catalogue_text("words_table")),
    "queue": parse_vocabulary(catalogue_text("words_queue")),
    "job": parse_vocabulary(catalogue_text("words_job")),
    "host": parse_vocabulary(catalogue_text("words_host")),
    "user": parse_vocabulary("""
amara =
bjorn =
chloe =
deniz =
emeka =
farid =
greta =
hiroshi =
ines =
jonas =
katya =
luca =
mei =
nadia =
oskar =
priya =
"""),
    "file": parse_vocabulary(catalogue_text("words_file")),
    "peer": parse_vocabulary(catalogue_text("words_peer")),
    "flag": parse_vocabulary("""
new_checkout = the redesigned purchase flow
dark_mode = the night colours
async_export = exporting in the background
strict_csp = the tighter script policy
beta_search = the experimental finder
bulk_edit = changing many rows at once
"""),
    "endpoint": parse_vocabulary(catalogue_text("words_endpoint")),
}
