"""Operating points: the decoding parameters that reach a target on scored records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linecls.decoding import OperatingPoint, decode
from linecls.metrics import recall_at_compression
from linecls.observation import split_lines
from linecls.records import Record
from linecls.spans import Span, from_mask, to_mask

if TYPE_CHECKING:
    from linecls.pruner import Pruner

# Candidate parameters. The bias grid is relative to the logits at hand (their upper quantiles), because focal
# loss leaves logits uncalibrated; the others are absolute.
_BIAS_QUANTILES = np.concatenate((np.linspace(0.80, 0.99, 39), np.linspace(0.991, 0.999, 9)))
_SWITCH_COSTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
_EMPTY_QUANTILES = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4)


@dataclass(frozen=True)
class Scored:
    """What the model said of one record, beside its gold.

    lines: the observation's lines; gold: bool [L]; keep_logits: float32 [L]; answerable: probability.
    """

    lines: Sequence[str]
    gold: NDArray[np.bool_]
    keep_logits: NDArray[np.float32]
    answerable: float

    @cached_property
    def gold_spans(self) -> list[Span]:
        return from_mask(self.gold)

    @cached_property
    def text_ids(self) -> NDArray[np.int64]:
        """Equal stripped lines share a number; blank lines have -1: the Squeez line metrics compare texts."""
        seen: dict[str, int] = {}
        stripped = (line.strip() for line in self.lines)
        return np.array([seen.setdefault(text, len(seen)) if text else -1 for text in stripped], np.int64)

    @cached_property
    def gold_ids(self) -> frozenset[int]:
        return frozenset(self.text_ids[self.gold].tolist()) - {-1}

    def decode(self, point: OperatingPoint) -> list[Span]:
        return decode(self.keep_logits, point, self.answerable)

    def f1(self, spans: Sequence[Span]) -> float:
        """Squeez line F1 of predicted spans; 1 when both prediction and gold are empty."""
        predicted = set(self.text_ids[to_mask(spans, len(self.lines))].tolist()) - {-1}
        if not predicted and not self.gold_ids:
            return 1.0
        return 2 * len(predicted & self.gold_ids) / (len(predicted) + len(self.gold_ids))


def mean_f1(scored: Sequence[Scored], point: OperatingPoint) -> float:
    """Mean Squeez line F1 over records at an operating point."""
    return float(np.mean([s.f1(s.decode(point)) for s in scored]))


def best_f1_point(scored: Sequence[Scored]) -> tuple[OperatingPoint, float]:
    """The operating point of highest mean line F1, and that F1.

    Coordinate search: bias for each switch cost, with the logits as they are and relative to each observation's
    best line, then the empty threshold, then the bias once more.
    """
    best, best_f1 = OperatingPoint(), -1.0
    if not scored:
        return best, 0.0
    grids = {relative: _bias_grid(scored, relative) for relative in (False, True)}
    for relative, biases in grids.items():
        for cost in _SWITCH_COSTS:
            for bias in biases[:: max(len(biases) // 12, 1)]:
                point = OperatingPoint(float(bias), cost, 0.0, relative)
                best, best_f1 = _better(scored, point, best, best_f1)
    thresholds = np.quantile([s.answerable for s in scored], _EMPTY_QUANTILES)
    for name, values in (
        ("empty_threshold", thresholds),
        ("bias", grids[best.relative]),
        ("empty_threshold", thresholds),
    ):
        for value in values:
            best, best_f1 = _better(scored, replace(best, **{name: float(value)}), best, best_f1)
    return best, best_f1


def _bias_grid(scored: Sequence[Scored], relative: bool) -> NDArray[np.floating]:
    logits = [s.keep_logits - (s.keep_logits.max() if relative and len(s.keep_logits) else 0.0) for s in scored]
    return np.unique(np.quantile(np.concatenate(logits), _BIAS_QUANTILES))


def _better(
    scored: Sequence[Scored], point: OperatingPoint, best: OperatingPoint, best_f1: float
) -> tuple[OperatingPoint, float]:
    f1 = mean_f1(scored, point)
    return (point, f1) if f1 > best_f1 else (best, best_f1)


def scored_recall(scored: Sequence[Scored], dropped: float) -> float:
    """Mean share of gold lines left when the `dropped` share of lowest-scored lines goes; records with gold."""
    values = [recall_at_compression(s.keep_logits, s.gold_spans, dropped) for s in scored if s.gold.any()]
    return float(np.mean(values)) if values else float("nan")


def score_records(
    pruner: Pruner, records: Sequence[Record], progress: Callable[[int], None] | None = None
) -> list[Scored]:
    """What the model says of each record; `progress` is called with 1 after each."""
    scored: list[Scored] = []
    answers = pruner.prune_many((record.query, record.tool_output) for record in records)
    for record, pruning in zip(records, answers, strict=True):
        lines = split_lines(record.tool_output)
        gold = to_mask(record.gold_spans, len(lines))
        scored.append(Scored(lines, gold, pruning.keep_logits, pruning.answerable))
        if progress is not None:
            progress(1)
    return scored


def standard_points(scored: Sequence[Scored], best: OperatingPoint) -> dict[str, OperatingPoint]:
    """The operating points of a shipped model: `f1`, and `recall` (mean recall of gold lines >= 0.90).

    `recall` keeps the switch cost of `best`, never answers with nothing on its own, and takes the largest bias
    that reaches the target.
    """
    positive = [s for s in scored if s.gold.any()]

    def recall(bias: float) -> float:
        point = replace(best, bias=bias, empty_threshold=0.0)
        return float(np.mean([to_mask(s.decode(point), len(s.lines))[s.gold].mean() for s in positive]))

    low, high = best.bias - 20.0, best.bias + 5.0
    for _ in range(30):  # the recall falls as the bias grows
        middle = (low + high) / 2
        low, high = (middle, high) if recall(middle) >= 0.90 else (low, middle)
    return {"f1": best, "recall": replace(best, bias=low, empty_threshold=0.0)}
