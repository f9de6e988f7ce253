"""Whether a stated probability is the share of cases in which it comes true."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linecls.metrics import area_under_roc


@dataclass(frozen=True)
class Bin:
    """Cases whose probability lies in [low, high): how many, what was stated on average, what came true."""

    low: float
    high: float
    count: int
    stated: float
    observed: float


@dataclass(frozen=True)
class Calibration:
    """How probabilities compare with what came true, over `count` cases of which the share `base_rate` did.

    ece: expected calibration error, the mean of |stated - observed| over the bins weighted by their counts
    (Guo et al. 2017); brier: mean squared difference of probability and outcome (Brier 1950); auc: probability
    that a case that came true was given the higher number, ties half (NaN where all or none did).
    bins: ten of equal width, empty ones left out.
    """

    count: int
    base_rate: float
    ece: float
    brier: float
    auc: float
    bins: list[Bin]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an undefined figure is None."""
        values = asdict(self)
        values["auc"] = None if np.isnan(self.auc) else self.auc
        return values


def calibrate(probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = 10) -> Calibration | None:
    """The calibration of `probabilities` [N] in 0..1 against `outcomes` [N] of truth values; None for N = 0.

    Raises ValueError for shapes that differ or probabilities out of range.
    """
    stated = np.asarray(probabilities, dtype=np.float64)
    came_true = np.asarray(outcomes, dtype=bool)
    if stated.ndim != 1 or stated.shape != came_true.shape:
        raise ValueError("probabilities and outcomes must have one value per case")
    if not ((stated >= 0) & (stated <= 1)).all():
        raise ValueError("a probability lies between 0 and 1")
    if not stated.size:
        return None
    index = np.minimum((stated * bins).astype(np.intp), bins - 1)
    counts = np.bincount(index, minlength=bins)
    sums = np.bincount(index, weights=stated, minlength=bins)
    hits = np.bincount(index, weights=came_true, minlength=bins)
    table = [
        Bin(i / bins, (i + 1) / bins, int(counts[i]), float(sums[i] / counts[i]), float(hits[i] / counts[i]))
        for i in np.flatnonzero(counts).tolist()
    ]
    return Calibration(
        count=int(stated.size),
        base_rate=float(came_true.mean()),
        ece=float(np.abs(sums - hits).sum() / stated.size),
        brier=float(np.mean((stated - came_true) ** 2)),
        auc=area_under_roc(stated, came_true),
        bins=table,
    )
