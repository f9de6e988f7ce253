"""Span algebra: 1-based inclusive line ranges, as in the Squeez canonical records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # numpy is imported where masks are made: who only merges spans need not wait for it
    import numpy as np
    from numpy.typing import NDArray


class Span(NamedTuple):
    """Lines `start_line` to `end_line` of an observation, 1-based and inclusive."""

    start_line: int
    end_line: int


def merge(spans: Iterable[Span | tuple[int, int]]) -> list[Span]:
    """Sort spans and merge those that overlap or touch.

    Raises ValueError for a span that starts below 1 or ends before it starts.
    """
    merged: list[Span] = []
    for start, end in sorted((s[0], s[1]) for s in spans):
        if start < 1 or end < start:
            raise ValueError(f"not a span: lines {start} to {end} (1-based, inclusive)")
        if merged and start <= merged[-1].end_line + 1:
            merged[-1] = Span(merged[-1].start_line, max(end, merged[-1].end_line))
        else:
            merged.append(Span(start, end))
    return merged


def from_mask(keep: Sequence[bool] | NDArray[np.bool_]) -> list[Span]:
    """Spans of the runs of True in a per-line mask of shape [L]."""
    import numpy as np

    mask = np.asarray(keep, dtype=bool)
    if mask.size == 0:
        return []
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return [Span(int(a) + 1, int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def to_mask(spans: Iterable[Span | tuple[int, int]], total_lines: int) -> NDArray[np.bool_]:
    """Per-line mask of shape [total_lines]; what lies past the last line is clipped."""
    import numpy as np

    mask = np.zeros(total_lines, dtype=bool)
    for start, end in merge(spans):
        mask[start - 1 : end] = True
    return mask


def count_lines(spans: Iterable[Span | tuple[int, int]]) -> int:
    """Number of distinct lines in the spans."""
    return sum(span.end_line - span.start_line + 1 for span in merge(spans))
