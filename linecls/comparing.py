"""Whether two systems that answered the same records really differ: paired tests that respect observations.

Several queries share an observation, so their results are not independent. Both the interval and the test
resample whole observations (clusters), with all their records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Difference(NamedTuple):
    """How much more system A reaches than system B, as the difference of means over the same records.

    low, high: cluster bootstrap interval; p: two-sided p-value of the sign-flip test; records: that define the
    metric for both systems; observations: among which they are.
    """

    value: float
    low: float
    high: float
    p: float
    records: int
    observations: int


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    observations: Sequence[object],
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> Difference:
    """Compare the per-record values `a` and `b` [N]; records where either is NaN are left out.

    observations: what each record belongs to [N]. The interval is the percentile bootstrap over observations
    (Efron 1979, clusters as units). The p-value is that of a randomisation test (Fisher 1935): under the null
    hypothesis the sign of an observation's summed difference is a coin toss; p = (1 + draws at least as extreme)
    / (1 + resamples). All NaN where no record defines both, or without resamples (but for the value).
    """
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if left.shape != right.shape or left.ndim != 1 or len(observations) != left.size:
        raise ValueError("both systems and the observations must have one value per record")
    defined = np.isfinite(left) & np.isfinite(right)
    count = int(defined.sum())
    if not count:
        return Difference(np.nan, np.nan, np.nan, np.nan, 0, 0)
    gaps = (left - right)[defined]
    _, cluster = np.unique(
        np.array(_numbered([o for o, keep in zip(observations, defined, strict=True) if keep])), return_inverse=True
    )
    sums = np.bincount(cluster, weights=gaps)
    sizes = np.bincount(cluster).astype(np.float64)
    value = float(gaps.mean())
    if not resamples:
        return Difference(value, np.nan, np.nan, np.nan, count, len(sums))
    rng = np.random.default_rng(seed)
    draws, extreme = [], 0
    threshold = abs(sums.sum()) - 1e-9
    for size in _blocks(resamples, len(sums)):
        weights = rng.multinomial(len(sums), np.full(len(sums), 1.0 / len(sums)), size=size)
        draws.append((weights @ sums) / (weights @ sizes))
        signs = 1.0 - 2.0 * rng.integers(0, 2, size=(size, len(sums)))
        extreme += int((np.abs(signs @ sums) >= threshold).sum())
    low, high = np.quantile(np.concatenate(draws), [(1 - level) / 2, (1 + level) / 2])
    return Difference(value, float(low), float(high), (1 + extreme) / (1 + resamples), count, len(sums))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for being one of many (Holm 1979), in the given order; NaN stays NaN and counts for none."""
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    order = [i for i in np.argsort(values, kind="stable") if np.isfinite(values[i])]
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, float(values[index]) * (len(order) - rank)))
        adjusted[index] = running
    return adjusted.tolist()


def _numbered(items: Sequence[object]) -> list[int]:
    seen: dict[object, int] = {}
    return [seen.setdefault(item, len(seen)) for item in items]


def _blocks(resamples: int, width: int) -> list[int]:
    """Sizes of the blocks in which resamples are drawn; one holds some 4 million numbers at most."""
    block = max(1, 4_000_000 // max(width, 1))
    return [min(block, resamples - done) for done in range(0, resamples, block)]
