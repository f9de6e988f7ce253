"""At which bias each line is dropped: the Viterbi answers of `decoding` for all biases at once.

For one switch cost the answers are nested: a larger bias keeps a subset. So the whole path is one number per line,
its *threshold*: the line is kept exactly while the bias is below it.

With absolute logits the thresholds are the solution of a one-dimensional total-variation problem,

    minimise  sum_t (theta_t - logit_t)^2 / 2  +  cost/2 * sum_t |theta_t - theta_{t+1}|,   theta outside: -infinity,

because the level sets {theta > bias} of its solution are the best labellings at each bias (A. Chambolle, *An
algorithm for total variation minimization and applications*, 2004; D. Hochbaum, *An efficient algorithm for image
segmentation, Markov random fields and related problems*, 2001). As the cost grows, neighbours that became equal stay
equal (J. Friedman et al., *Pathwise coordinate optimization*, 2007), so all costs are served by one pass that merges
runs of lines in the order in which they meet: O(L log L).

Relative points cap the switch cost at minus the bias. Below the cost nothing changes: the threshold is theta. Where the
cap acts, cost and bias move together, and a line is kept from the cost at which its theta crosses minus the cost: a
second number per line that the same pass finds.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linecls.decoding import GRID

FloatArray = NDArray[np.float64]


class Thresholds(NamedTuple):
    """Thresholds [C, L] for each of C switch costs and L lines.

    absolute: of operating points that read the logits as they are.
    relative: of those that count the bias from the highest logit; none is above 0.
    """

    absolute: FloatArray
    relative: FloatArray


def bias_thresholds(keep_logits: ArrayLike, switch_costs: Sequence[float]) -> Thresholds:
    """Thresholds for keep logits [L] and C switch costs (>= 0, rising).

    `decode(keep_logits, OperatingPoint(bias, cost, relative=...))` keeps the lines with threshold > bias, up to a few
    multiples of 2**-20, the grid on which it decodes; a relative bias must be below 0.
    Raises ValueError for a logit that is not finite, and for costs that are negative or fall.
    """
    logits = np.asarray(keep_logits, dtype=np.float64)
    costs = [float(cost) for cost in switch_costs]
    if any(not cost >= 0 for cost in costs) or sorted(costs) != costs:
        raise ValueError("switch costs must be numbers >= 0 in rising order")
    if not np.isfinite(logits).all():
        raise ValueError("a keep logit is not a finite number")
    if logits.size == 0 or not costs:
        nothing = np.zeros((len(costs), logits.size))
        return Thresholds(nothing, nothing)
    top = float(logits.max())
    theta, crossing = _merge_path(np.rint((logits - top) * GRID) / GRID, costs)
    return Thresholds(theta + top, np.where(crossing < np.array(costs)[:, None], -crossing, theta))


def _merge_path(scores: FloatArray, costs: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """theta [C, L] at each cost, and the cost [L] at which theta crosses -cost (infinity: not up to the last cost).

    A run of n equal lines has theta = (sum of scores + cost * tilt) / n. Each neighbour that is higher adds one half
    to tilt, each that is lower takes one half, and beyond both ends stands -infinity. So theta is linear in the cost
    until the run meets a neighbour; which of two neighbours is the higher one cannot change before they meet.
    scores [L] are at most 0, and 0 for the best line.
    """
    runs = _Runs(scores)
    theta = np.empty((len(costs), scores.size))
    for index, cost in enumerate(costs):
        runs.advance(cost)
        theta[index] = runs.heights(cost)
    return theta, runs.crossing


class _Runs:
    """The runs of equal theta as the switch cost grows; a run is known by the index of its first line."""

    def __init__(self, scores: FloatArray) -> None:
        firsts = np.flatnonzero(np.concatenate(([True], np.diff(scores) != 0)))
        ends = np.append(firsts[1:], scores.size)
        rises = np.concatenate(([1], np.sign(np.diff(scores[firsts])), [-1]))
        self.count = dict(zip(firsts.tolist(), (ends - firsts).tolist(), strict=True))  # in order of the lines
        self.total = dict(zip(firsts.tolist(), (scores[firsts] * (ends - firsts)).tolist(), strict=True))
        # 1 where the run is higher than the one before it (after it: than the run itself), else -1
        self.rise = dict(zip([*firsts.tolist(), scores.size], rises.tolist(), strict=True))
        self.before = dict(zip(firsts[1:].tolist(), firsts[:-1].tolist(), strict=True))
        self.version = dict.fromkeys(firsts.tolist(), 0)
        self.crossing = np.full(scores.size, math.inf)
        self._crossed: set[int] = set()
        self._size = scores.size
        # (cost, first line of the run, its version, first line of the run that it meets or -1, that one's version)
        self._events: list[tuple[float, int, int, int, int]] = []
        for first in firsts.tolist():
            self._expect_crossing(first, 0.0)
            self._expect_meeting(first, 0.0)
        heapq.heapify(self._events)

    def heights(self, cost: float) -> FloatArray:
        """theta [L] at `cost`, up to which the runs have been advanced."""
        values = [(self.total[first] + cost * self._tilt(first)) / count for first, count in self.count.items()]
        return np.repeat(values, list(self.count.values()))

    def advance(self, cost: float) -> None:
        """Let everything happen that happens up to `cost`."""
        while self._events and self._events[0][0] <= cost:
            now, first, version, other, other_version = heapq.heappop(self._events)
            if self.version.get(first) != version:
                continue
            if other < 0:
                self._cross(first, now)
            elif self.version.get(other) == other_version:
                self._join(first, other, now)

    def _after(self, first: int) -> int:
        return first + self.count[first]

    def _tilt(self, first: int) -> float:
        return (self.rise[self._after(first)] - self.rise[first]) / 2

    def _join(self, left: int, right: int, now: float) -> None:
        if (left in self._crossed) != (right in self._crossed):  # they stand at one height: both are across
            self._cross(left, now)
            self._cross(right, now)
        self.count[left] += self.count.pop(right)
        self.total[left] += self.total.pop(right)
        del self.rise[right], self.before[right], self.version[right]
        self._crossed.discard(right)
        self.version[left] += 1
        follower = self._after(left)
        if follower < self._size:
            self.before[follower] = left
            self._expect_meeting(left, now)
        if left in self.before:
            self._expect_meeting(self.before[left], now)
        self._expect_crossing(left, now)

    def _cross(self, first: int, now: float) -> None:
        if first not in self._crossed:
            self._crossed.add(first)
            self.crossing[first : self._after(first)] = now

    def _expect_meeting(self, first: int, now: float) -> None:
        """The cost at which a run meets the one after it, if they come nearer."""
        other = self._after(first)
        if other == self._size:
            return
        n, m = self.count[first], self.count[other]
        closing = self.rise[other] * (self._tilt(first) / n - self._tilt(other) / m)
        if closing > 0:
            gap = self.rise[other] * (self.total[other] / m - self.total[first] / n)
            self._push(max(now, gap / closing), first, other)

    def _expect_crossing(self, first: int, now: float) -> None:
        """The cost at which theta = -cost; a single best line stands there from the start."""
        if first in self._crossed:
            return
        slope = self._tilt(first) + self.count[first]
        if slope > 0:
            self._push(max(now, -self.total[first] / slope), first, -1)
        elif self.total[first] == 0:
            self._push(now, first, -1)

    def _push(self, cost: float, first: int, other: int) -> None:
        heapq.heappush(self._events, (cost, first, self.version[first], other, self.version.get(other, 0)))
