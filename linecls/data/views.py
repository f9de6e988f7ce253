"""Views of a file as agents make them, and the labels that can be asked of one view.

A view is a whole file, a range or its head, with or without line numbers. The handles of its labels (and
others, so that a missing docstring is no sign of an answer) are taken out of the text.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from linecls.data.families import SOURCE
from linecls.data.python_labels import Label
from linecls.data.rephrase import content_stems, overlap, rephrase, stems
from linecls.records import Record
from linecls.spans import Span, merge

Asked = tuple[Label, str]  # a label and its query
Answered = tuple[str, str, list[Span]]  # rule, query and gold


@dataclass(frozen=True)
class Origin:
    """Where an observation comes from: what `Record.extra` says of it, and the name its id starts with."""

    family: str
    project: str
    package: str
    version: str
    licence: str
    path: str

    def records(self, name: str, tool_type: str, command: str, text: str, labels: Iterable[Answered]) -> list[Record]:
        """The canonical records of an observation called `name`."""
        return [
            Record(
                instance_id=f"{self.family}-{self.project}-{name}#{number}",
                source=SOURCE,
                tool_type=tool_type,
                query=query,
                tool_output=text,
                gold_spans=spans,
                command=command,
                extra={
                    "project": self.project,
                    "family": self.family,
                    "rule": rule,
                    "package": self.package,
                    "version": self.version,
                    "licence": self.licence,
                },
            )
            for number, (rule, query, spans) in enumerate(labels)
        ]


@dataclass(frozen=True)
class Shape:
    """How observations are made: labels each, share of negatives, fewest and most lines."""

    labels: int = 6
    negatives: float = 0.15
    low: int = 40
    high: int = 400


@dataclass
class Bench:
    """What the observations of one project share.

    foreign: (path, query) of what has been asked so far; a query about one file is a hard negative for
        another.
    """

    rng: random.Random
    shape: Shape
    foreign: list[tuple[str, str]] = field(default_factory=list)

    def count(self, expected: float) -> int:
        """A whole number with that expectation."""
        return int(expected) + (self.rng.random() < expected - int(expected))

    def take_foreign(self, usable: list[tuple[str, str]]) -> str:
        """One of the usable queries, which is not used again."""
        choice = usable.pop(self.rng.randrange(len(usable)))
        self.foreign.remove(choice)
        return choice[1]


@dataclass
class _View:
    lines: list[str]
    origin: list[int]  # which line of the file each one was, from 0


def edited(
    lines: list[str], chosen: Sequence[int], labels: Sequence[Label], extra_drops: Sequence[range] = ()
) -> _View:
    """The chosen lines (numbers from 0) of a file, without the labels' handles and without `extra_drops`."""
    texts = {n: lines[n] for n in chosen}
    gone: set[int] = set()
    for label in labels:
        gone.update(label.drop)
        for first, column, last, end_column, replacement in sorted(label.edits, reverse=True):
            if all(n in texts for n in range(first, last + 1)):
                texts[first] = texts[first][:column] + replacement + texts[last][end_column:]
                gone.update(range(first + 1, last + 1))
    for drop in extra_drops:
        gone.update(drop)
    kept = [n for n in chosen if n not in gone]
    return _View([texts[n] for n in kept], kept)


def windows(total: int, rng: random.Random, shape: Shape, most: int) -> list[range]:
    """Up to `most` disjoint ranges of a file of `total` lines; the whole file when it is short enough."""
    if total <= shape.high:
        return [range(0, total)] if total >= shape.low else []
    found, start = [], rng.randrange(0, 60)
    while start + shape.low < total:
        stop = min(total, start + int(shape.low * (shape.high / shape.low) ** rng.uniform(0.35, 1.0)))
        if rng.random() < 0.6:  # people ask for round numbers
            start, stop = -(-start // 10) * 10, stop // 10 * 10
        if stop - start >= shape.low:
            found.append(range(start, stop))
        start = max(stop, start + 1) + rng.randrange(0, 40)
    rng.shuffle(found)
    return found[:most]


def present(lines: list[str], path: str, window: range, total: int, rng: random.Random) -> tuple[str, str]:
    """The text of a view and the command that shows it.

    Handles were taken out, so the file that the command names is the one without them: lines count anew.
    """
    numbered = rng.random() < 0.3
    start = 1 if window.start == 0 else window.start + 1
    stop = start + len(lines) - 1
    if window.start == 0 and window.stop >= total:
        command = (
            f"cat -n {path}" if numbered else rng.choice([f"cat {path}", f"cat {path}", f"sed -n '1,{stop}p' {path}"])
        )
    elif window.start == 0 and rng.random() < 0.6:
        command = f"head -n {stop} {path}" if not numbered else f"cat -n {path} | head -n {stop}"
    elif numbered:
        command = rng.choice([f"cat -n {path} | sed -n '{start},{stop}p'", f"nl -ba {path} | sed -n '{start},{stop}p'"])
    else:
        command = f"sed -n '{start},{stop}p' {path}"
    if numbered:
        lines = [f"{start + i:6d}\t{line}" for i, line in enumerate(lines)]
    return "".join(lines), command


def ask(label: Label, lines: list[str], rng: random.Random) -> str | None:
    """A query for a label whose words are not too many of those of its answer; None when none comes of it."""
    gold = "".join(edited(lines, list(label.answer), [label]).lines)
    query = rephrase(label.handle, label.kind, rng, stems(gold))
    if query is None:
        return None
    share = overlap(query, gold)
    if share > 0.85 or (share > 0.5 and rng.random() < 2 * (share - 0.5)):
        return None
    return query


def may_be_answered(query: str, lines: Sequence[str], reach: int = 10, share: float = 0.6) -> bool:
    """Whether some `reach` neighbouring lines hold so many of the query's words that they may answer it."""
    wanted = content_stems(query)
    if not wanted:
        return True
    held = [stems(line) & wanted for line in lines]
    return any(len(set().union(*held[i : i + reach])) >= share * len(wanted) for i in range(0, len(held), reach // 2))


_WEIGHT = {"docstring": 1.0, "comment": 1.2, "error": 1.8, "option": 0.5}


def _candidates(labels: list[Label], most: int, rng: random.Random, taken: Sequence[Label] = ()) -> list[Label]:
    """Labels that overlap neither each other nor those taken; answers of one or very many lines come last."""

    def weight(label: Label) -> float:
        size = len(label.answer)
        return _WEIGHT.get(label.rule, 1.0) * (0.35 if size == 1 else 1.0 if size <= 10 else 0.5)

    ranked = sorted(labels, key=lambda x: rng.random() ** (1 / weight(x)), reverse=True)
    busy = {n for label in taken for n in (*label.answer, *label.drop)}
    chosen: list[Label] = []
    for label in ranked:
        block = {*label.answer, *label.drop}
        if len(chosen) < most and not block & busy:
            chosen.append(label)
            busy |= block
    return chosen


def _within(label: Label, window: range) -> bool:
    first = label.drop.start if label.drop else label.answer.start
    return first >= window.start and label.answer.stop <= window.stop


def observe(
    origin: Origin,
    name: str,
    lines: list[str],
    labels: list[Label],
    bench: Bench,
    *,
    window: range,
    given: Sequence[Asked] = (),
) -> list[Record]:
    """Records of one view of a file: `given` labels first, then others up to `shape.labels`, then negatives.

    Returns an empty list when fewer than two labels (one if any is given) come of it.
    """
    rng, shape, least = bench.rng, bench.shape, 1 if given else 2
    inside = [label for label in labels if _within(label, window)]
    asked: list[Asked] = list(given)
    for label in _candidates(inside, shape.labels * 3, rng, [x for x, _ in given]):
        if len(asked) > shape.labels:
            break
        query = ask(label, lines, rng)
        if query and query not in {q for _, q in asked}:
            asked.append((label, query))
    if len(asked) < least:
        return []
    cut, absent = _negatives(origin.path, asked, [lines[n] for n in window], bench, len(given))
    asked = asked[: shape.labels]
    removed = [range(x.drop.start if x.drop else x.answer.start, x.answer.stop) for x in cut]
    stripped = [label for label, _ in asked]
    view = edited(lines, window, [*stripped, *_also_stripped(inside, stripped, rng)], removed)
    if len(view.lines) < 0.8 * shape.low or sum(bool(line.strip()) for line in view.lines) < 20:
        return []
    place = {n: i for i, n in enumerate(view.origin)}
    found: list[Answered] = []
    for label, query in asked:
        kept = [place[n] for n in label.answer if n in place]
        while kept and not view.lines[kept[-1]].strip():
            kept.pop()
        if kept and len(kept) <= 20:
            found.append((label.rule, query, merge((i + 1, i + 1) for i in kept)))
            bench.foreign.append((origin.path, query))
    if len(found) < least:
        return []
    found += [(rule, query, []) for rule, query in absent if not may_be_answered(query, view.lines)]
    text, command = present(view.lines, origin.path, window, len(lines), rng)
    return origin.records(name, "read_file", command, text, found)


def _also_stripped(inside: list[Label], asked: list[Label], rng: random.Random) -> list[Label]:
    """Labels that lose their handle too, so that a bare function or error is no sign of an answer."""
    share = rng.choice([0.5, 1.0, 1.0])
    busy = {n for label in asked for edit in label.edits for n in range(edit[0], edit[2] + 1)}
    chosen = {id(label) for label in asked}
    also = []
    for label in inside:
        touched = {n for edit in label.edits for n in range(edit[0], edit[2] + 1)}
        if id(label) not in chosen and not touched & busy and rng.random() < share:
            also.append(label)
            busy |= touched
    return also


def _negatives(
    path: str, asked: list[Asked], shown: list[str], bench: Bench, given: int
) -> tuple[list[Label], list[tuple[str, str]]]:
    """Labels whose answer is to be cut out (taken from `asked`), and (rule, query) of all negatives."""
    # About a quarter of them prove answerable after all.
    count = bench.count(1.35 * bench.shape.negatives * min(len(asked), bench.shape.labels))
    words = stems("".join(shown))
    usable = [f for f in bench.foreign if f[0] != path and len(content_stems(f[1]) & words) >= 2]
    cut: list[Label] = []
    absent: list[tuple[str, str]] = []
    for _ in range(count):
        cuttable = [a for a in asked[given:] if a[0].cuttable and len(a[0].answer) <= 12]
        if usable and (bench.rng.random() < 0.6 or not cuttable):
            absent.append(("other_file", bench.take_foreign(usable)))
        elif cuttable and len(asked) > 2:
            pair = bench.rng.choice(cuttable)
            asked.remove(pair)
            cut.append(pair[0])
            absent.append(("cut_out", pair[1]))
    return cut, absent
