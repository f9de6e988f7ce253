"""JavaScript and TypeScript files of npm packages, asked about small places: remarked lines, errors, calls, constants.

Nothing is taken out of the text. Without a parser, a place ends where its brackets close, at a blank line or where
the indentation falls.
"""

# ruff: noqa: E501  (wordings stay on one line)

from __future__ import annotations

import json
import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.packages import is_permissive
from linecls.data.python_labels import message_handle
from linecls.data.python_points import Point, phrase
from linecls.data.rephrase import clean, content_stems, overlap, rephrase
from linecls.data.views import Answered, Origin, Shape, may_be_answered, present, windows
from linecls.data.vocabulary import stems
from linecls.errors import LineclsError
from linecls.observation import split_lines
from linecls.records import Record
from linecls.spans import merge

NAME = "script_source"

_CALLS: list[tuple[re.Pattern[str], list[str]]] = []
for _line in kit.catalogue_text("script_calls").splitlines():
    _left, _, _right = _line.partition(" = ")
    if _right:
        _CALLS.append((re.compile(_left.strip()), _right.split(" | ")))

_REMARK = re.compile(r"^(\s*)//+\s?(.*)$")
_DULL = re.compile(
    r"eslint|istanbul|c8 ignore|todo|fixme|xxx|hack|@ts-|prettier|https?:|#region|copyright|licen[sc]e|^[-=*#]+$|^/|"
    r"^(and|or|but|so|also|then|else|otherwise|\d|\(|=>|\{)|[;{}]\s*$|\w+\(.*\)",
    re.IGNORECASE,
)
_THROW = re.compile(r"throw (?:new )?[\w.]*(?:Error|Exception)?\w*\(\s*(?P<q>[\"'`])(?P<text>.+?)(?P=q)")
_CONST = re.compile(
    r"^(?:export )?(?:const|let|var) (?P<name>[A-Z][A-Z0-9_]{4,}|[a-z]+(?:Max|Min|Limit|Timeout|Default|Regexp?|Pattern|Interval|Size)\w*) ?(?::[^=]+)?= ?(?P<value>.+)$"
)


def block_end(lines: list[str], start: int, most: int = 12) -> int | None:
    """The line (from 0, exclusive) where the statement that starts at `start` ends; None when it is too long."""
    depth = 0
    for number in range(start, min(len(lines), start + most)):
        bare = re.sub(
            r"//.*$|\"(?:\\.|[^\"])*\"|'(?:\\.|[^'])*'|`(?:\\.|[^`])*`|/(?![*/])(?:\\.|[^/\n])+/[gimsuy]*",
            "",
            lines[number],
        )
        depth += sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
        following = lines[number + 1] if number + 1 < len(lines) else ""
        continued = re.match(r"\s*([.?:|&+]|else\b|catch\b|finally\b)", following) or re.search(
            r"([,=(?:|&+]|=>)\s*$", bare
        )
        if depth <= 0 and not continued:
            return number + 1
    return None


def _remarks(lines: list[str], rng: random.Random) -> Iterator[Point]:
    number = 0
    while number < len(lines):
        first = number
        found = []
        while number < len(lines) and (match := _REMARK.match(lines[number])):
            found.append(match)
            number += 1
        if found and len(found) <= 4 and number < len(lines) and lines[number].strip():
            handle = " ".join(m.group(2).strip() for m in found)
            indent = len(found[0].group(1))
            own = len(lines[number]) - len(lines[number].lstrip())
            stop = block_end(lines, number)
            if stop and own == indent and not _DULL.search(handle):
                single = stop == number + 1
                while (
                    single
                    and stop < len(lines)
                    and stop - first < 8
                    and lines[stop].strip()
                    and not _REMARK.match(lines[stop])
                ):
                    if len(lines[stop]) - len(lines[stop].lstrip()) != indent or lines[stop].lstrip()[0] in "})]":
                        break
                    further = block_end(lines, stop, 6)
                    if not further or further - first > 8:
                        break
                    stop = further
                query = rephrase(handle, "comment", rng, stems(handle))
                if query:
                    yield Point("kept_comment", f"remark {handle[:40]}", query, (range(first, stop),), cuttable=True)
        number = max(number, first + 1)


def _throws(lines: list[str], rng: random.Random) -> Iterator[Point]:
    for number, line in enumerate(lines):
        joined = (
            line
            if "(" in line and line.rstrip()[-1:] != "("
            else line.rstrip("\n") + (lines[number + 1].strip() if number + 1 < len(lines) else "")
        )
        match = _THROW.search(joined)
        if not match:
            continue
        handle = message_handle(re.sub(r"\$\{[^}]*\}", "{}", match.group("text")))
        text = clean(handle, rng) if handle else None
        stop = block_end(lines, number)
        if not text or not stop or len(text.split()) < 3:
            continue
        first = number
        for above in range(number - 1, max(-1, number - 4), -1):
            if re.match(r"\s*(\}?\s*else\s+)?if\s*\(|\s*case\b|\s*default:", lines[above]):
                first = above
                break
            if not lines[above].strip() or lines[above].rstrip().endswith(";"):
                break
        end = stop
        if first < number and stop < len(lines) and lines[stop].strip() == "}":
            end = stop + 1
        query = rephrase(text, "error", rng, stems(text))
        if query:
            yield Point("kept_error", f"throw {text}", query, (range(first, end),), cuttable=True)


def _constants(lines: list[str], rng: random.Random) -> Iterator[Point]:
    for number, line in enumerate(lines):
        match = _CONST.match(line.rstrip("\n"))
        stop = block_end(lines, number, 10) if match else None
        if not match or not stop:
            continue
        told, value = (
            phrase(match.group("name").lower() if match.group("name").isupper() else match.group("name"), rng, 0.6),
            match.group("value"),
        )
        if value.startswith("/"):
            query = rng.choice(
                [f"Which pattern recognises {told}?", f"How is {told} matched?", f"the expression for {told}"]
            )
        elif re.match(r"[\d(]", value):
            query = rng.choice([f"How much is {told}?", f"Which number is {told}?", f"Where is {told} fixed?"])
        elif value[:1] in "[{'\"`" or value.startswith("new "):
            query = rng.choice([f"What belongs to {told}?", f"Where is {told} spelled out?", f"contents of {told}"])
        else:
            continue
        yield Point("constant", f"constant {match.group('name')}", query, (range(number, stop),), cuttable=True)


def _calls(text: str, lines: list[str], rng: random.Random) -> Iterator[tuple[str, str, list[range]]]:
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    for pattern, queries in _CALLS:
        numbers = sorted({bisect_right(starts, m.start()) - 1 for m in pattern.finditer(text)})
        numbers = [n for n in numbers if n < len(lines)]
        plain = [n for n in numbers if not re.match(r"\s*(//|\*|/\*)", lines[n])]
        ranges = []
        for n in plain:
            stop = block_end(lines, n, 6)
            ranges.append(range(n, stop if stop and stop - n <= 5 else n + 1))
        yield pattern.pattern, rng.choice(queries), ranges if len(plain) == len(numbers) else [range(0)] * 9


def points_of(text: str, rng: random.Random) -> list[Point]:
    """The points of a script."""
    lines = text.split("\n")
    points = [*_remarks(lines, rng), *_throws(lines, rng), *_constants(lines, rng)]
    for key, query, ranges in _calls(text, lines, rng):
        if 1 <= len(ranges) <= 3:
            points.append(Point("call", f"call {key}", query, tuple(ranges), cuttable=len(ranges) == 1))
    return points


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tool type `read_file`.

    Options: `node_modules` (a folder of npm packages), `exclude` (project names), `per_package` (most observations of
    one, 12), `labels` (6), `negatives` (absent ones for each observation, 0.8).
    """
    folder = kit.program(options, "node_modules")
    if not folder or not Path(folder).is_dir():
        raise LineclsError("script_source: give a folder of npm packages as the option `node_modules`")
    unwanted = set(options.get("exclude", []))
    homes = sorted(p.parent for p in [*Path(folder).glob("*/package.json"), *Path(folder).glob("@*/*/package.json")])
    shape = Shape(
        labels=int(options.get("labels", 6)), negatives=float(options.get("negatives", 0.8)), low=50, high=400
    )
    queues = []
    for home in homes[int(options.get("part", 0)) :: int(options.get("parts", 1))]:
        about = json.loads((home / "package.json").read_text("utf-8"))
        name, licence = str(about.get("name", "")).lower(), str(about.get("license", ""))
        if name and name not in unwanted and name.rpartition("/")[2] not in unwanted and is_permissive(licence):
            origin = Origin(NAME, name, name, str(about.get("version", "")), licence, "")
            queues.append(
                _of_package(home, origin, random.Random(rng.random()), shape, int(options.get("per_package", 12)))
            )
    while queues:
        for queue in list(queues):
            batch = next(queue, None)
            if batch is None:
                queues.remove(queue)
            else:
                yield from batch


def _of_package(home: Path, origin: Origin, rng: random.Random, shape: Shape, limit: int) -> Iterator[list[Record]]:
    files = sorted(p for end in ("js", "mjs", "cjs", "ts") for p in home.rglob(f"*.{end}"))
    files = [
        p
        for p in files
        if "node_modules" not in p.relative_to(home).parts and ".min." not in p.name and p.stat().st_size < 45_000
    ]
    rng.shuffle(files)
    made = 0
    foreign: list[Point] = []
    for path in files[: 6 * limit]:
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        if "\r" in text or max(map(len, text.split("\n"))) > 300:
            continue
        lines, shown_path = split_lines(text), f"node_modules/{origin.project}/{path.relative_to(home)}"
        points = points_of(text, rng)
        for window in windows(len(lines), rng, shape, 1):
            chosen = _choose(points, window, lines, shape.labels, rng)
            if len(chosen) < 2:
                continue
            shown = [lines[n] for n in window]
            found: list[Answered] = [
                (p.rule, p.query, merge((a.start - window.start + 1, a.stop - window.start) for a in p.answer))
                for p in chosen
            ]
            answered = len(found)
            near = [
                p
                for p in foreign
                if len(content_stems(p.query) & stems("".join(shown))) >= 2
                and not may_be_answered(p.query, shown, share=0.7)
            ]
            absent = [(f"absent_{p.rule}", p.query) for p in near]
            if not absent or rng.random() < 0.25:
                absent += [("absent_call", q) for k, q, r in _calls("".join(shown), shown, rng) if not r]
            rng.shuffle(absent)
            count = int(shape.negatives) + (rng.random() < shape.negatives - int(shape.negatives))
            found += [(rule, query, []) for rule, query in absent[:count]]
            foreign = [*foreign[-40:], *(p for p in chosen if p.rule != "call")]
            output, command = present(shown, shown_path, window, len(lines), rng)
            records = origin.records(
                f"{path.relative_to(home)}-{window.start + 1}".replace("/", "."), "read_file", command, output, found
            )
            for record, point in zip(records[:answered], chosen, strict=True):
                record.extra["cuttable"] = point.cuttable
            yield records
            made += 1
            if made >= limit:
                return


def _choose(points: list[Point], window: range, lines: list[str], most: int, rng: random.Random) -> list[Point]:
    inside = [p for p in points if all(a.start >= window.start and a.stop <= window.stop for a in p.answer)]
    keys = Counter(p.key for p in inside)
    rng.shuffle(inside)
    inside.sort(key=lambda p: rng.random() * {"kept_comment": 0.6, "kept_error": 0.6}.get(p.rule, 1.0))
    chosen: list[Point] = []
    busy: set[int] = set()
    rules: Counter[str] = Counter()
    for point in inside:
        block = {n for a in point.answer for n in a}
        gold = "".join(lines[n] for n in block)
        if keys[point.key] > 1 or block & busy or rules[point.rule] >= 3 or not content_stems(point.query):
            continue
        if overlap(point.query, gold) > 0.7 and rng.random() < 0.7:
            continue
        chosen.append(point)
        rules[point.rule] += 1
        busy |= block
        if len(chosen) >= most:
            break
    return chosen


__all__ = ["NAME", "generate", "points_of"]
