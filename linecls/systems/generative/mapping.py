"""From the lines that a model wrote back to lines of the observation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from linecls.locating import line_texts, ordered_places
from linecls.observation import scoring_text
from linecls.spans import Span, from_mask


@dataclass(frozen=True)
class Mapped:
    """Where written lines stand.

    spans: the lines of the observation that they are. Of the non-blank ones: exact is how many stand there
    character for character; normalised, how many more but for white space and terminal escapes; repeated, how
    many stand there less often than they were written; hallucinated holds those that stand nowhere.
    """

    spans: list[Span]
    exact: int
    normalised: int
    repeated: int
    hallucinated: list[str]


def map_lines(observation: str, written: Sequence[str], *, cut: bool = False) -> Mapped:
    """Find the lines that a model wrote (without newlines) in the observation.

    A line is first looked for as it stands (without a carriage return at its end), then without terminal
    escapes and with runs of white space as one space. Where text stands more than once, the order in which it
    was written decides, then the fewest spans (`linecls.locating`); written out of order, a line takes the next
    free place. Blank lines count only where they join two lines that stand around blank lines.
    cut: the model was stopped by its token limit, so the start of a line is enough for the last one.
    """
    output = line_texts(observation)
    exact_places: dict[str, list[int]] = {}
    normal_places: dict[str, list[int]] = {}
    for number, line in enumerate(output):
        exact_places.setdefault(line.removesuffix("\r"), []).append(number)
        normal_places.setdefault(_normalised(line), []).append(number)

    places: dict[str, list[int]] = {}  # of each text that stands somewhere, by a key
    wanted: list[str] = []
    is_exact: list[bool] = []
    hallucinated: list[str] = []
    for index, line in enumerate(written):
        normal = _normalised(line)
        if not normal:
            continue
        text = line.removesuffix("\r")
        if text in exact_places:
            key, where, exact = f"e{text}", exact_places[text], True
        else:
            key, where, exact = f"n{normal}", normal_places.get(normal), False
            if where is None and cut and index == len(written) - 1:
                where = [number for number, out in enumerate(output) if _normalised(out).startswith(normal)] or None
        if where is None:
            hallucinated.append(line)
            continue
        places[key] = where
        wanted.append(key)
        is_exact.append(exact)

    chosen: Sequence[int | None] | None = ordered_places(wanted, places)
    if chosen is None:
        chosen = _free_places(wanted, places)
    keep = np.zeros(len(output), dtype=bool)
    keep[[place for place in chosen if place is not None]] = True
    _join_over_blanks(keep, output, chosen)
    found = [exact for exact, place in zip(is_exact, chosen, strict=True) if place is not None]
    return Mapped(from_mask(keep), sum(found), len(found) - sum(found), len(wanted) - len(found), hallucinated)


def _normalised(line: str) -> str:
    return " ".join(scoring_text(line).split())


def _free_places(wanted: Sequence[str], places: dict[str, list[int]]) -> list[int | None]:
    """A place for each wanted line that is not in the output's order: the next free one, else the first free."""
    taken: set[int] = set()
    chosen: list[int | None] = []
    before = -1
    for key in wanted:
        where = places[key]
        after = bisect_right(where, before)
        place = next((p for p in (*where[after:], *where[:after]) if p not in taken), None)
        if place is not None:
            taken.add(place)
            before = place
        chosen.append(place)
    return chosen


def _join_over_blanks(keep: np.ndarray, output: Sequence[str], chosen: Sequence[int | None]) -> None:
    """Keep blank lines between two lines that were written one after the other."""
    for first, second in pairwise(chosen):
        if (
            first is not None
            and second is not None
            and second - first > 1
            and not any(line.strip() for line in output[first + 1 : second])
        ):
            keep[first + 1 : second] = True
