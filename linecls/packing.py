"""Which token windows share a call of the encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH_STEP = 8  # a window is padded to a multiple of this many tokens
_PADDING = 20  # at most one token in so many of a mixed call may be padding


@dataclass(frozen=True, slots=True)
class Call:
    """rows: positions of the windows; width: tokens to which each of them is padded."""

    rows: list[int]
    width: int


def padded_width(length: int, step: int = WIDTH_STEP) -> int:
    """The width of a window of `length` tokens: the next multiple of `step`, at least one step."""
    return max(-(-length // step), 1) * step


def pack(lengths: Sequence[int], call_tokens: int, *, mixed: bool, step: int = WIDTH_STEP) -> list[Call]:
    """Cut windows of the given lengths into calls of at most `call_tokens` tokens, or of one window.

    mixed=False: all windows of a call have the same `padded_width`, so the width of a window's call depends on
        the window alone.
    mixed=True: widths may differ within a call while less than a twentieth of it is padding.
    The result depends on the lengths alone. Windows go by length, the longest first; equal ones keep their order.
    """
    order = sorted(range(len(lengths)), key=lambda i: -padded_width(lengths[i], step))
    calls: list[Call] = []
    rows: list[int] = []
    width = tokens = 0
    for index in order:
        own = padded_width(lengths[index], step)
        if rows:
            size = width * (len(rows) + 1)
            fits = size <= call_tokens
            alike = own == width or (mixed and _PADDING * (size - tokens - lengths[index]) <= size)
            if not (fits and alike):
                calls.append(Call(rows, width))
                rows = []
        if not rows:
            width, tokens = own, 0
        rows.append(index)
        tokens += lengths[index]
    if rows:
        calls.append(Call(rows, width))
    return calls
