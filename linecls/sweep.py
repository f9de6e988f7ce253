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
            steps.append(np.nan_to_num(np.diff(values, axis=1)))
            orders.append(own[order])
        sizes = [len(own) for own in orders]
        bias = np.concatenate(orders) if orders else np.zeros(0)
        sort = np.argsort(-bias, kind="stable")
        self._threshold = bias[sort]
        self._owner = np.repeat(np.arange(len(sizes)), sizes)[sort]
        self._step = np.concatenate(steps, axis=1)[:, sort] if steps else np.zeros((len(METRICS), 0))
        self._base = np.stack(bases, axis=1) if bases else np.zeros((len(METRICS), 0))

    def over_bias(self, records: BoolArray, empty_threshold: float, metrics: Sequence[str] = METRICS) -> Curve:
        """The curve over all biases on the records of a mask [R], at an empty threshold.

        A point that never keeps anything is none: the curve is empty where all records are under the threshold.
        """
        rows = [METRICS.index(name) for name in metrics]
        answered = records & (self.answerable >= empty_threshold)
        inside = np.flatnonzero(answered[self._owner])
        threshold = self._threshold[inside]
        base, count = _sums(self._base[rows][:, records])
        totals = np.stack([start + np.cumsum(self._step[row][inside]) for row, start in zip(rows, base, strict=True)])
        below = np.append(threshold[1:], threshold[-1:] - 2.0)
        usable = np.flatnonzero(threshold - below > _APART)
        biases = np.rint((threshold + below)[usable] / 2 * GRID) / GRID
        return Curve(np.asarray(biases, np.float64), _means(metrics, totals[:, usable], count))

    def over_empty_threshold(self, records: BoolArray, bias: float, metrics: Sequence[str] = METRICS) -> Curve:
        """The curve over all empty thresholds on the records of a mask [R], at a bias; it ends with 0."""
        rows = [METRICS.index(name) for name in metrics]
        chosen = np.flatnonzero(records)
        base = self._base[rows][:, chosen]
        values = self._values_at(bias, rows)[:, chosen]
        order = np.argsort(self.answerable[chosen], kind="stable")
        probability = self.answerable[chosen][order]
        total, count = _sums(values)
        change = np.cumsum(np.nan_to_num(base - values)[:, order], axis=1)
        totals = total[:, None] + np.concatenate((np.zeros((len(rows), 1)), change), axis=1)
        thresholds = np.zeros(len(probability))
        thresholds[1:] = (probability[1:] + probability[:-1]) / 2
        usable = np.flatnonzero(np.diff(probability, prepend=-1.0) > 0)[::-1]  # all empty is no choice
        return Curve(thresholds[usable], _means(metrics, totals[:, usable], count))

    def _values_at(self, bias: float, rows: Sequence[int]) -> FloatArray:
        """Figures [M, R] of each record at a bias, nothing emptied."""
        kept = int(np.searchsorted(-self._threshold, -bias, side="left"))
        records = self._base.shape[1]
        gained = [np.bincount(self._owner[:kept], self._step[row][:kept], minlength=records) for row in rows]
        return np.asarray(self._base[rows] + np.stack(gained), np.float64)


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


def _means(metrics: Sequence[str], totals: FloatArray, count: FloatArray) -> dict[str, FloatArray]:
    with np.errstate(invalid="ignore", divide="ignore"):
        return dict(zip(metrics, totals / count[:, None], strict=True))
