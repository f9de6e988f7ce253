"""From keep logits to spans: an exact two-state Viterbi pass, budgets and the empty decision.

The labelling x in {0, 1}^L that is chosen maximises

    sum over kept lines of (logit - bias)  -  switch_cost * number of spans,

and of several best labellings the smallest one (the intersection of all of them, which is itself best).

**A larger bias never keeps a line that a smaller one drops.** For sets of lines A and B,
spans(A | B) + spans(A & B) <= spans(A) + spans(B), so the objective is supermodular; raising the bias
lowers the gain of each line by the same amount. By Topkis' monotonicity theorem the smallest maximiser can
only shrink. To make this hold in floating point too, scores are rounded to multiples of 2**-20: every sum
below is then a float64 integer far under 2**53, hence exact, and ties are true ties.

A budget cuts the answer down by falling keep logit, so that what it keeps is never worse than what it drops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linecls.spans import Span, from_mask, to_mask

GRID = float(1 << 20)  # units per logit
_SCORE_LIMIT = float(1 << 31)  # 2048 logits: past that a line is simply kept, or simply dropped
_COST_LIMIT = float(1 << 50)

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class OperatingPoint:
    """Decoding parameters tuned for a named target.

    bias: subtracted from each keep logit; larger keeps less.
    relative: measure the logits from the highest one of the observation, so that a bias of -1.5 keeps what lies
        within 1.5 of the best line. The switch cost is then never more than what the best line brings, so a
        negative bias always keeps something: whether anything answers is for the answerable probability to say.
    switch_cost: what each span costs, in logits (>= 0); larger makes fewer and longer spans.
    empty_threshold: probability of being answerable under which the answer is empty.
    """

    bias: float = 0.0
    switch_cost: float = 0.0
    empty_threshold: float = 0.0
    relative: bool = False

    def __post_init__(self) -> None:
        if not math.isfinite(self.bias):
            raise ValueError(f"bias must be a finite number, not {self.bias}")
        if not (math.isfinite(self.switch_cost) and self.switch_cost >= 0):
            raise ValueError(f"switch_cost must be a finite number >= 0, not {self.switch_cost}")
        if not 0 <= self.empty_threshold <= 1:
            raise ValueError(f"empty_threshold must lie between 0 and 1, not {self.empty_threshold}")


@dataclass(frozen=True)
class Budget:
    """Upper limits on what is kept; None means no limit. All that are given hold at once.

    max_lines: number of lines (>= 0).
    max_tokens: number of tokens (>= 0), by the token counts handed to `decode`; 0 keeps nothing, no blank line either.
    keep_ratio: share of the observation's lines, from 0 to 1. The limit is floor(keep_ratio * L) lines, but
        one line for any ratio above 0, so that a short observation still gets an answer.
    """

    max_lines: int | None = None
    max_tokens: int | None = None
    keep_ratio: float | None = None

    def __post_init__(self) -> None:
        if self.max_lines is not None and self.max_lines < 0:
            raise ValueError(f"max_lines must be >= 0, not {self.max_lines}")
        if self.max_tokens is not None and self.max_tokens < 0:
            raise ValueError(f"max_tokens must be >= 0, not {self.max_tokens}")
        if self.keep_ratio is not None and not 0 <= self.keep_ratio <= 1:
            raise ValueError(f"keep_ratio must lie between 0 and 1, not {self.keep_ratio}")

    def line_limit(self, total_lines: int) -> int:
        """The number of lines that may be kept of an observation of `total_lines`."""
        limit = total_lines if self.max_lines is None else min(self.max_lines, total_lines)
        if self.keep_ratio is not None:
            share = math.floor(self.keep_ratio * total_lines + 1e-9)  # 0.29 * 100 is 28.999999999999996
            limit = min(limit, max(share, 1) if self.keep_ratio > 0 else 0)
        return limit


def decode(
    keep_logits: ArrayLike,
    point: OperatingPoint,
    answerable: float | None = None,
    *,
    budget: Budget | None = None,
    token_counts: ArrayLike | None = None,
) -> list[Span]:
    """The spans to keep.

    keep_logits: one per line, [L]; infinities are allowed, NaN raises ValueError.
    answerable: probability that the observation answers the query; below `point.empty_threshold` nothing is
        kept. None skips the decision.
    budget: limits that the answer never exceeds. Of the lines of the answer without a budget, those with the highest
        keep logits stay (of equal ones the first), as many as fit, up to the first that does not: a larger budget
        never drops a line that a smaller one keeps. When not even the best line fits, nothing stays; `best_line`
        tells which it is.
    token_counts: tokens per line, [L], >= 0; needed for `budget.max_tokens`.
    """
    logits = np.asarray(keep_logits, dtype=np.float64)
    if point.relative and logits.size and np.isfinite(top := logits.max()):
        logits = logits - top
    units = _to_units(logits - point.bias)
    if units.ndim != 1:
        raise ValueError(f"keep logits have one dimension, not {units.ndim}")
    if answerable is not None and answerable < point.empty_threshold:
        return []
    cost = float(np.rint(point.switch_cost * GRID))
    if point.relative and point.bias < 0:
        cost = max(0.0, min(cost, float(np.rint(-point.bias * GRID)) - 1))
    mask = _solve(units, cost)
    if budget is not None:
        _cut(mask, logits, budget, token_counts)
    return from_mask(mask)


def best_line(keep_logits: ArrayLike, spans: Sequence[Span]) -> int | None:
    """The number, from 1, of the line with the highest keep logit of those in `spans`; None when there is none.

    Of equal ones it is the first: the line that a budget would keep last.
    """
    logits = np.asarray(keep_logits, dtype=np.float64)
    lines = np.flatnonzero(to_mask(spans, logits.size))
    return int(lines[np.argmax(logits[lines])]) + 1 if lines.size else None


def viterbi(scores: ArrayLike, switch_cost: float = 0.0) -> BoolArray:
    """The mask [L] that maximises the sum of kept `scores` [L] minus `switch_cost` per run of kept lines.

    Exact for scores and cost rounded to 2**-20; ties are broken towards dropping. Linear in L, vectorised.
    """
    if not switch_cost >= 0:
        raise ValueError(f"switch_cost must be >= 0, not {switch_cost}")
    return _solve(_to_units(np.asarray(scores, dtype=np.float64)), float(np.rint(switch_cost * GRID)))


def _to_units(scores: FloatArray) -> FloatArray:
    """Scores [L] as integers on the grid."""
    if np.isnan(scores).any():
        raise ValueError("a keep logit is not a number")
    return np.clip(np.rint(scores * GRID), -_SCORE_LIMIT, _SCORE_LIMIT)


def _solve(units: FloatArray, cost: float) -> BoolArray:
    """Viterbi on grid units [L].

    Let d[t] be the best value of the first t lines with line t kept, minus that with line t dropped. The two
    Viterbi recursions give d[t] = min(max(d[t-1], -cost), 0) + units[t]: a walk reflected in [-cost, 0].
    Going back from the end, the state turns to kept where d > 0, to dropped where d <= -cost, and else stays.
    """
    total = units.size
    if total == 0:
        return np.zeros(0, dtype=bool)
    cost = min(cost, _COST_LIMIT)
    lead = _reflected_walk(units, cost)
    decided = (lead > 0) | (lead <= -cost)
    decided[-1] = True  # past the end there is no span to stay in: an undecided last line is dropped
    # For each line the nearest decided one at or after it.
    index = np.where(decided, np.arange(total), total)
    nearest = np.minimum.accumulate(index[::-1])[::-1]
    return (lead > 0)[nearest]


def _reflected_walk(steps: FloatArray, cost: float) -> FloatArray:
    """d [L] with d[t] = clip(d[t-1], -cost, 0) + steps[t] and d before the first line = -cost.

    One clipped step is x -> clip(x + s, -cost, 0), and a chain of them is clip(x + sum, lo, hi): so the walk
    is cut into about sqrt(L) blocks whose chains are composed side by side, the blocks' starting points
    follow one after the other, and a second pass side by side gives every value.
    """
    total = steps.size
    width = max(1, math.isqrt(total))
    blocks = -(-total // width)
    columns = np.zeros((blocks, width))
    columns.reshape(-1)[:total] = steps
    columns = np.ascontiguousarray(columns.T)  # [width, blocks]: one step of all blocks is contiguous

    lowest, highest = np.full(blocks, -cost), np.zeros(blocks)
    for step in columns:
        for bound in (lowest, highest):
            np.add(bound, step, out=bound)
            np.maximum(bound, -cost, out=bound)
            np.minimum(bound, 0.0, out=bound)
    start = np.empty(blocks)
    position = -cost
    for block, (shift, low, high) in enumerate(
        zip(columns.sum(axis=0).tolist(), lowest.tolist(), highest.tolist(), strict=True)
    ):
        start[block] = position
        position = min(max(position + shift, low), high)

    lead = columns
    for row in lead:
        np.add(row, start, out=row)
        np.maximum(row, -cost, out=start)
        np.minimum(start, 0.0, out=start)
    return np.ascontiguousarray(lead.T).reshape(-1)[:total]


def _cut(mask: BoolArray, logits: FloatArray, budget: Budget, token_counts: ArrayLike | None) -> None:
    """Cut the answer `mask` [L] down to a budget, in place."""
    weights, limits = [np.ones(mask.size, dtype=np.int64)], [budget.line_limit(mask.size)]
    if budget.max_tokens is not None:
        if token_counts is None:
            raise ValueError("max_tokens needs the token counts of the lines")
        tokens = np.asarray(token_counts, dtype=np.int64)
        if tokens.shape != mask.shape or (tokens < 0).any():
            raise ValueError("token counts must be one number >= 0 per line")
        weights.append(tokens)
        limits.append(budget.max_tokens)
    if 0 in limits:  # a blank line has no token, but nobody who allows none asks for it
        mask[:] = False
        return
    lines = np.flatnonzero(mask)
    lines = lines[np.argsort(-logits[lines], kind="stable")]
    for weight, limit in zip(weights, limits, strict=True):
        mask[lines[np.cumsum(weight[lines]) > limit]] = False  # the sums never fall: a first part stays
