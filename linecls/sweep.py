"""What every bias gives on scored records, exactly: one sorted sweep over the thresholds of all their lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linecls.decoding import GRID

if TYPE_CHECKING:
    from linecls.tuning import Scored

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: compression: share of lines dropped. recall: share of gold lines kept, by position. precision, f1: Squeez line
#: metrics, by text. tokens: tokens kept.
METRICS = ("compression", "recall", "precision", "f1", "tokens")
_APART = 4 / GRID  # thresholds that are nearer to each other are not told apart by a bias


@dataclass(frozen=True)
class Curve:
    """Figures after each choice that can be made: P of them, from keeping least to keeping most.

    choices: the values of the parameter [P]; values: metric -> mean over the records [P] (NaN where no record
    defines it).
    """

    choices: FloatArray
    values: Mapping[str, FloatArray]


class Sweep:
    """R records at one switch cost, either all absolute or all relative.

    thresholds: for each record its lines' thresholds [L] (see `linecls.thresholds`).
    """

    def __init__(self, scored: Sequence[Scored], thresholds: Sequence[FloatArray], *, relative: bool) -> None:
        self.relative = relative
        self.answerable = np.array([s.answerable for s in scored], np.float64)
        bases, steps, orders = [], [], []
        for record, own in zip(scored, thresholds, strict=True):
            order = np.argsort(-own, kind="stable")
            values = figures(record, order)
            bases.append(values[:, 0])
            steps.append(np.diff(values, axis=1))
            orders.append(own[order])
        sizes = [len(own) for own in orders]
        bias = np.concatenate(orders) if orders else np.zeros(0)
        sort = np.argsort(-bias, kind="stable")
        self._threshold = bias[sort]
        self._owner = np.repeat(np.arange(len(sizes)), sizes)[sort]
        self._step = np.concatenate(steps, axis=1)[:, sort] if steps else np.zeros((len(METRICS), 0))
        self._base = np.stack(bases, axis=1) if bases else np.zeros((len(METRICS), 0))

    def over_bias(self, records: BoolArray, empty_threshold: float) -> Curve:
        """The curve over all biases on the records of a mask [R], at an empty threshold."""
        answered = records & (self.answerable >= empty_threshold)
        inside = answered[self._owner]
        threshold = self._threshold[inside]
        steps = np.nan_to_num(self._step[:, inside])
        base, count = _sums(self._base[:, records])
        totals = base[:, None] + np.concatenate((np.zeros((len(METRICS), 1)), np.cumsum(steps, axis=1)), axis=1)
        below = np.append(threshold, (threshold[-1] if threshold.size else 0.0) - 2.0)
        above = np.concatenate(([below[0] + 2.0], threshold))
        usable = above - below > _APART
        if threshold.size:
            usable[0] = False  # a point that never keeps anything is none
        biases = np.asarray(np.rint((above + below)[usable] / 2 * GRID) / GRID, np.float64)
        return Curve(biases, _means(totals[:, usable], count))

    def over_empty_threshold(self, records: BoolArray, bias: float) -> Curve:
        """The curve over all empty thresholds on the records of a mask [R], at a bias; it ends with 0."""
        chosen = np.flatnonzero(records)
        values = self._values_at(bias)[:, chosen]
        base = self._base[:, chosen]
        order = np.argsort(self.answerable[chosen], kind="stable")
        probability = self.answerable[chosen][order]
        total, count = _sums(values)
        change = np.cumsum(np.nan_to_num(base - values)[:, order], axis=1)
        totals = total[:, None] + np.concatenate((np.zeros((len(METRICS), 1)), change), axis=1)
        between = (probability[1:] + probability[:-1]) / 2
        thresholds: FloatArray = np.concatenate((np.zeros(1), between))
        usable = np.concatenate(([True], np.diff(probability) > 0))  # the last choice, all empty, is none
        picked = np.flatnonzero(usable)[::-1]
        return Curve(thresholds[picked], _means(totals[:, picked], count))

    def _values_at(self, bias: float) -> FloatArray:
        """Figures [M, R] of each record at a bias, nothing emptied."""
        kept = int(np.searchsorted(-self._threshold, -bias, side="left"))
        records = self._base.shape[1]
        gained = [np.bincount(self._owner[:kept], row[:kept], minlength=records) for row in self._step]
        return np.asarray(self._base + np.stack(gained), np.float64)


def figures(record: Scored, order: NDArray[np.int64]) -> FloatArray:
    """Figures [M, K + 1] of one record with its first 0 to K lines of `order` [K] kept, as METRICS names them."""
    kept = np.arange(len(order) + 1)
    ids = record.text_ids[order]
    new = np.zeros(len(ids), dtype=bool)
    new[np.unique(ids, return_index=True)[1]] = True
    new &= ids >= 0
    is_gold = np.isin(ids, list(record.gold_ids)) & new
    distinct, hits = _running(new), _running(is_gold)
    wanted = len(record.gold_ids)
    lines, gold = len(record.lines), int(record.gold.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack(
            [
                1.0 - kept / max(lines, 1),
                _running(record.gold[order]) / gold if gold else np.full(len(kept), np.nan),
                np.where(distinct > 0, hits / distinct, float(wanted == 0)),
                np.where(distinct + wanted > 0, 2 * hits / (distinct + wanted), 1.0),
                _running(record.token_counts[order]),
            ]
        )


def _running(values: NDArray[np.generic]) -> FloatArray:
    return np.concatenate(([0.0], np.cumsum(values.astype(np.float64))))


def _sums(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums [M] over the records that define each metric, and their number [M]."""
    defined = ~np.isnan(values)
    return np.where(defined, values, 0.0).sum(axis=1), defined.sum(axis=1).astype(np.float64)


def _means(totals: FloatArray, count: FloatArray) -> dict[str, FloatArray]:
    with np.errstate(invalid="ignore", divide="ignore"):
        return dict(zip(METRICS, totals / count[:, None], strict=True))
