"""Where lines that are given by their text stand in an observation: the way back to spans."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from linecls.errors import RecordError
from linecls.spans import Span, from_mask

# Above this many candidate places `locate_lines` takes the earliest ones; 4 bytes are held for each.
_MAX_PLACES = 1 << 24


def locate_lines(tool_output: str, relevant_lines: Sequence[str]) -> list[Span]:
    r"""Map lines given as text to spans of the output. The rule:

    1. Lines are compared exactly, character for character, without their newline. An item of
       `relevant_lines` that ends with a newline stands for the line without it; one that holds newlines
       stands for several lines.
    2. Every relevant line gets a line of the output with equal text, and the order is kept: the line numbers
       rise strictly. So a line given twice needs two lines of the output.
    3. Where several choices are possible, the one with the fewest spans (runs of adjacent lines) is taken;
       of those, the one whose first line stands earliest, then whose second line stands earliest, and so on.
    4. If a last, empty relevant line has no place, and the output is empty or ends with a newline, it is the
       empty line that `split("\n")` sees behind the final newline, and is dropped.
    5. If the possible places of all relevant lines together number more than 2**24 (huge outputs of repeating
       lines), each line takes its earliest possible place instead of rule 3.

    If the text allows only one choice, that choice is the result. Raises RecordError, naming the first line
    without a place (1-based), if the relevant lines are no ordered part of the output.
    """
    output = line_texts(tool_output)
    wanted = [text for item in relevant_lines for text in item.removesuffix("\n").split("\n")]
    places: dict[str, list[int]] = {text: [] for text in wanted}
    for number, text in enumerate(output):
        if text in places:
            places[text].append(number)
    earliest = _earliest_places(wanted, places)
    if len(earliest) < len(wanted):
        missing = len(earliest)
        is_phantom = missing == len(wanted) - 1 and not wanted[missing] and tool_output[-1:] in ("", "\n")
        if not is_phantom:
            why = (
                "comes in tool_output only before the lines it should follow"
                if places[wanted[missing]]
                else "does not stand in tool_output"
            )
            raise RecordError(f"relevant line {missing + 1} ({shorten(wanted[missing])}) {why}")
        wanted.pop()
    keep = np.zeros(len(output), dtype=bool)
    keep[_fewest_runs(wanted, places, earliest)] = True
    return from_mask(keep)


def ordered_places(wanted: Sequence[str], places: dict[str, list[int]]) -> list[int] | None:
    """The line of each wanted item by rules 2, 3 and 5 of `locate_lines`; None if no rising choice exists.

    places: for each wanted item the 0-based lines that it may stand for, rising.
    """
    items = list(wanted)
    earliest = _earliest_places(items, places)
    if len(earliest) < len(items):
        return None
    return _fewest_runs(items, places, earliest) if items else []


def _earliest_places(wanted: list[str], places: dict[str, list[int]]) -> list[int]:
    """The earliest line that each wanted line can have; shorter than `wanted` if one finds no place."""
    earliest: list[int] = []
    after = -1
    for text in wanted:
        where = places[text]
        at = bisect_right(where, after)
        if at == len(where):
            break
        after = where[at]
        earliest.append(after)
    return earliest


def _fewest_runs(wanted: list[str], places: dict[str, list[int]], earliest: list[int]) -> list[int]:
    """Rules 3 and 5 of `locate_lines`, by dynamic programming from the last wanted line to the first.

    A line between the earliest and the latest possible place of a wanted line is always part of some full
    choice, so only these are candidates. Time and memory grow with their number.
    """
    bounds: list[tuple[int, int]] = []  # index range of the candidates in the places of each line's text
    before = cast(int, np.iinfo(np.int64).max)
    for text, first in zip(reversed(wanted), reversed(earliest), strict=True):
        where = places[text]
        end = bisect_left(where, before)
        before = where[end - 1]
        bounds.append((bisect_left(where, first), end))
    bounds.reverse()
    count = sum(end - start for start, end in bounds)
    if count == len(wanted) or count > _MAX_PLACES:
        return earliest

    arrays = {text: np.asarray(where, dtype=np.int64) for text, where in places.items()}
    candidates = [arrays[text][start:end] for text, (start, end) in zip(wanted, bounds, strict=True)]
    # runs[i][k]: how many runs lines i, i+1, … need at least if line i stands at its candidate k
    runs: list[NDArray[np.int32]] = [np.ones(len(candidates[-1]), dtype=np.int32)]
    for here, following in zip(candidates[-2::-1], candidates[:0:-1], strict=True):
        best_from = np.minimum.accumulate(runs[-1][::-1])[::-1]
        nxt = np.searchsorted(following, here, side="right")
        adjacent = following[nxt] == here + 1
        runs.append(np.where(adjacent, np.minimum(runs[-1][nxt], best_from[nxt] + 1), best_from[nxt] + 1))
    runs.reverse()

    at = int(np.argmin(runs[0]))
    chosen = [int(candidates[0][at])]
    needed = int(runs[0][at])
    for here, cost in zip(candidates[1:], runs[1:], strict=True):
        at = int(np.searchsorted(here, chosen[-1], side="right"))
        if here[at] != chosen[-1] + 1 or cost[at] != needed:
            needed -= 1
            at += int(np.argmax(cost[at:] == needed))
        chosen.append(int(here[at]))
    return chosen


def line_texts(text: str) -> list[str]:
    """The lines of `split_lines` without their newline."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
