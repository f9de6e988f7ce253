"""Hard negatives from answered records: the same observation without the answer, the query kept.

A family marks a record with `extra["cuttable"] = True` when nothing else in its observation could answer the query
once the gold lines are gone. `with_cuts` takes the mark off and adds a second observation to some of the first ones:
its text lacks the gold lines of one or two marked records, which become negatives, and keeps some of the other
labels with their spans moved, so that the cut text itself is no sign of an empty answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import groupby

from linecls.observation import split_lines
from linecls.records import Record
from linecls.spans import Span, count_lines, from_mask, to_mask

_NUMBERED = re.compile(r"^( *)(\d+)(\t)|^(\^?[0-9a-f]{7,40} .*? )( *\d+)(\) )")


def observation_of(record: Record) -> str:
    """The part of an instance id that names the observation."""
    return record.instance_id.rpartition("#")[0]


def _renumbered(lines: list[str], first: str, command: str) -> list[str]:
    """Lines with their printed numbers counted on from that of `first`, where the command prints one on each line."""
    if not re.search(r"\b(cat -n|nl|blame)\b", command):
        return lines
    begin, matches = _NUMBERED.match(first), [_NUMBERED.match(line) for line in lines]
    if begin is None or not all(matches):
        return lines
    renewed = []
    number = int(begin.group(2) or begin.group(5)) - 1
    for line, match in zip(lines, matches, strict=True):
        assert match is not None
        group = 2 if match.group(2) else 5
        number += 1
        start, end = (match.start(1), match.end(2)) if group == 2 else match.span(5)
        renewed.append(f"{line[:start]}{number:>{end - start}}{line[end:]}")
    return renewed


def cut_out(group: list[Record], rng: random.Random, most: int = 2, keep: int = 2) -> list[Record]:
    """Records of one observation to those of its cut variant; empty when nothing in it may be cut.

    most: how many of the marked records lose their lines. keep: how many other labels stay, if they do not share
    lines with those.
    """
    lines = split_lines(group[0].tool_output)
    usable = [
        r for r in group
        if r.extra.get("cuttable") and r.gold_spans and count_lines(r.gold_spans) <= min(30, 0.3 * len(lines))
    ]  # fmt: skip
    if not usable:
        return []
    chosen = rng.sample(usable, min(len(usable), rng.randint(1, most)))
    gone = to_mask([span for r in chosen for span in r.gold_spans], len(lines))
    left = [line for line, out in zip(lines, gone, strict=True) if not out]
    if len(left) < 12:
        return []
    text = "".join(_renumbered(left, lines[0], group[0].command))
    moved = (~gone).cumsum()
    name = f"{observation_of(group[0])}~cut"
    made: list[tuple[Record, list[Span], str]] = [(r, [], f"cut_{r.extra.get('rule', '')}") for r in chosen]
    others = [r for r in group if r.gold_spans and all(r is not c for c in chosen)]
    for record in rng.sample(others, min(keep, len(others))):
        mask = to_mask(record.gold_spans, len(lines))
        if not (mask & gone).any():
            kept = to_mask([(int(moved[n]), int(moved[n])) for n in mask.nonzero()[0]], len(left))
            made.append((record, from_mask(kept), str(record.extra.get("rule", ""))))
    records = []
    for number, (record, spans, rule) in enumerate(made):
        fresh = deepcopy(record)
        fresh.instance_id, fresh.tool_output = f"{name}#{number}", text
        fresh.gold_spans, fresh.is_irrelevant = spans, not spans
        fresh.extra = {**fresh.extra, "rule": rule, "variant_of": observation_of(record)}
        records.append(fresh)
    return records


def with_cuts(records: Iterable[Record], rng: random.Random, share: float) -> Iterator[Record]:
    """The records, and the cut variants of about `share` of the observations that offer one."""
    for _, batch in groupby(records, key=observation_of):
        group = list(batch)
        extra = cut_out(group, rng) if rng.random() < share else []
        for record in (*group, *extra):
            record.extra.pop("cuttable", None)
            yield record
