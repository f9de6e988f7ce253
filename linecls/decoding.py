"""From keep logits to spans: an exact two-state Viterbi pass, budgets and the empty decision.

The labelling x in {0, 1}^L that is chosen maximises

    sum over kept lines of (logit - bias)  -  switch_cost * number of spans,

and of several best labellings the smallest one (the intersection of all of them, which is itself best).

**A larger bias never keeps a line that a smaller one drops.** For sets of lines A and B,
spans(A | B) + spans(A & B) <= spans(A) + spans(B), so the objective is supermodular; raising the bias
lowers the gain of each line by the same amount. By Topkis' monotonicity theorem the smallest maximiser can
only shrink. The solutions for all biases are therefore nested, so a budget can be met by bisecting over the
bias. To make this hold in floating point too, scores are rounded to multiples of 2**-20: every sum
below is then a float64 integer far under 2**53, hence exact, and ties are true ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linecls.spans import Span, from_mask

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
    budget: limits that the answer never exceeds. A larger bias is searched for this observation until the
        answer fits; what is then left of the budget goes to the best part of what the next smaller bias would
        have added. An answer that is not empty without a budget is not empty with one that can hold one of
        its lines.
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
    if budget is None or units.size == 0:
        return from_mask(_solve(units, cost))
    return from_mask(_solve_within(units, cost, budget, token_counts))


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


def _solve_within(units: FloatArray, cost: float, budget: Budget, token_counts: ArrayLike | None) -> BoolArray:
    """The mask [L] of the budgeted answer; `units` are the scores at the operating point's own bias."""
    line_limit = budget.line_limit(units.size)
    weights, limits = [np.ones(units.size, dtype=np.int64)], [line_limit]
    if budget.max_tokens is not None:
        if token_counts is None:
            raise ValueError("max_tokens needs the token counts of the lines")
        tokens = np.asarray(token_counts, dtype=np.int64)
        if tokens.shape != units.shape or (tokens < 0).any():
            raise ValueError("token counts must be one number >= 0 per line")
        weights.append(tokens)
        limits.append(budget.max_tokens)
    if 0 in limits:  # a blank line has no token, but nobody who allows none asks for it
        return np.zeros(units.size, dtype=bool)
    for weight, limit in zip(weights, limits, strict=True):
        units = np.where(weight > limit, -_COST_LIMIT, units)  # such a line can be in no answer

    def fits(mask: BoolArray) -> bool:
        return all(int(w[mask].sum()) <= limit for w, limit in zip(weights, limits, strict=True))

    unbounded = _solve(units, cost)
    if fits(unbounded):
        return unbounded
    # Only these lines can be kept at a larger bias: search among them, each span walled off by one line.
    wall = np.zeros_like(unbounded)
    wall[1:] = unbounded[:-1] & ~unbounded[1:]
    inside = np.flatnonzero(unbounded | wall)
    search = np.where(unbounded, units, -_COST_LIMIT)[inside]

    def solution(raised: float) -> BoolArray:
        mask = np.zeros_like(unbounded)
        mask[inside] = _solve(search - raised, cost)
        return mask

    too_small, large = 0, int(units.max())
    smaller, larger = np.zeros_like(unbounded), unbounded
    while large - too_small > 1:
        middle = (too_small + large) // 2
        mask = solution(middle)
        if fits(mask):
            large, smaller = middle, mask
        else:
            too_small, larger = middle, mask
    return _fill(smaller, larger, units=units, cost=cost, weights=weights, limits=limits)


def _fill(
    smaller: BoolArray,
    larger: BoolArray,
    *,
    units: FloatArray,
    cost: float,
    weights: list[NDArray[np.int64]],
    limits: list[int],
) -> BoolArray:
    """`smaller`, which fits, plus the best of what `larger`, which does not, adds to it.

    The runs that `larger` adds go in whole, by falling mean score, as long as they fit; the first that does
    not is cut to the best contiguous sub-run that fits, if that is worth a span (or if all else is empty).
    """
    runs = from_mask(larger & ~smaller)
    starts = np.array([run.start_line - 1 for run in runs])
    ends = np.array([run.end_line for run in runs])

    def per_run(values: NDArray[Any]) -> NDArray[Any]:
        sums = np.concatenate(([0], np.cumsum(values)))
        return sums[ends] - sums[starts]

    means = per_run(np.where(larger, units, 0)) / (ends - starts)
    order = np.argsort(-means, kind="stable")
    room = [limit - int(w[smaller].sum()) for w, limit in zip(weights, limits, strict=True)]
    running = [np.cumsum(per_run(w)[order]) for w in weights]
    over = np.logical_or.reduce([sums > r for sums, r in zip(running, room, strict=True)])
    whole = int(np.argmax(over))  # `larger` as a whole does not fit, so some run is over
    kept = smaller.copy()
    edges = np.zeros(kept.size + 1, dtype=np.int64)
    edges[starts[order[:whole]]] = 1
    edges[ends[order[:whole]]] = -1
    kept |= np.cumsum(edges[:-1]) > 0

    left = [r - (int(sums[whole - 1]) if whole else 0) for sums, r in zip(running, room, strict=True)]
    a, b = int(starts[order[whole]]), int(ends[order[whole]])
    first, last, gain = _best_window(units[a:b], [w[a:b] for w in weights], left)
    if gain > (cost if kept.any() else 0):
        kept[a + first : a + last] = True
    return kept


def _best_window(units: FloatArray, weights: list[NDArray[np.int64]], limits: list[int]) -> tuple[int, int, float]:
    """Start, end (exclusive) and sum of the run of lines with the largest sum whose weights fit the limits.

    For each end the allowed starts are an interval; the best one is a range minimum over prefix sums, found
    with a sparse table. Of equal windows the first to end is taken, and for it the shortest. An impossible
    window is (0, 0, -inf).
    """
    total = units.size
    last = np.arange(total)
    first = np.zeros(total, dtype=np.int64)
    for weight, limit in zip(weights, limits, strict=True):
        sums = np.concatenate(([0], np.cumsum(weight)))
        first = np.maximum(first, np.searchsorted(sums, sums[1:] - limit))
    prefix = np.concatenate(([0.0], np.cumsum(units)))
    length = last - first + 1  # 0 where the line by itself is over the limit
    level = np.frexp(np.maximum(length, 1))[1] - 1  # floor(log2(length))
    lowest = np.full(total, np.inf)
    table, reach = prefix[:-1], 1
    for power in range(int(level.max()) + 1):
        chosen = (level == power) & (length > 0)
        lowest[chosen] = np.minimum(table[first[chosen]], table[last[chosen] - reach + 1])
        table = np.minimum(table[:-reach], table[reach:]) if table.size > reach else table
        reach *= 2
    gains = prefix[1:] - lowest
    end = int(np.argmax(gains))
    gain = float(gains[end])
    if gain == -math.inf:
        return 0, 0, gain
    window = prefix[first[end] : end + 1][::-1]
    start = end - int(np.argmin(window))
    return start, end + 1, gain
