"""The metrics of `linecls.metrics` as torchmetrics classes, for validation during training.

States are sums, so results over several processes are those of all their records together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torchmetrics import Metric

from linecls import metrics
from linecls.observation import split_lines
from linecls.spans import Span, to_mask

Spans = Iterable[Span | tuple[int, int]]


class SqueezLineMetrics(Metric):
    """Means over records of the Squeez line metrics, unrounded, with their corrected compression.

    `update` takes one record. `compute` gives a dict of scalar tensors: precision, recall, f1, exact_match,
    empty_accuracy, compression, compression_corrected, the shares true_negative_empty and positive_empty
    (NaN without such records), and micro_precision, micro_recall, micro_f1 over all lines. With `full` also
    the slower fuzzy_precision, fuzzy_recall, fuzzy_f1, partial_overlap and rouge_l.
    """

    full_state_update = False
    is_differentiable = False
    higher_is_better = True
    sums: torch.Tensor
    counts: torch.Tensor

    _MEANS = (
        "precision",
        "recall",
        "f1",
        "exact_match",
        "empty_accuracy",
        "compression",
        "compression_corrected",
        "true_negative_empty",
        "positive_empty",
    )
    _FULL = ("fuzzy_precision", "fuzzy_recall", "fuzzy_f1", "partial_overlap", "rouge_l")
    _POOLED = ("hits", "predicted", "reference")

    def __init__(self, *, full: bool = False, **kwargs: Any) -> None:
        """full: also the metrics that compare every predicted line with every gold line."""
        super().__init__(**kwargs)
        self.names = self._MEANS + (self._FULL if full else ()) + self._POOLED
        self.full = full
        for state in ("sums", "counts"):
            zeros = torch.zeros(len(self.names), dtype=torch.float64)
            self.add_state(state, default=zeros, dist_reduce_fx="sum")

    def update(self, observation: str | Sequence[str], gold: Spans, predicted: Spans) -> None:
        """Add one record: the observation's text or its lines, the gold spans and the predicted spans."""
        lines = split_lines(observation) if isinstance(observation, str) else observation
        text = "".join(lines)
        gold_mask, kept_mask = to_mask(gold, len(lines)), to_mask(predicted, len(lines))
        kept, reference = metrics.texts_at(lines, kept_mask), metrics.texts_at(lines, gold_mask)
        overlap = metrics.line_overlap(kept, reference)
        nan = metrics.NAN
        row = [
            *overlap,
            float(set(kept) == set(reference)),
            float(bool(kept) == bool(reference)),
            metrics.squeez_compression(kept, text),
            metrics.share_dropped(int(kept_mask.sum()), len(lines)),
            nan if reference else float(not kept),
            float(not kept) if reference else nan,
        ]
        if self.full:
            row += metrics.fuzzy_overlap(kept, reference)
            row.append(metrics.partial_overlap(kept, reference))
            row.append(metrics.rouge_l("\n".join(kept), "\n".join(reference)))
        row += [len(set(kept) & set(reference)), len(set(kept)), len(set(reference))]
        values = torch.tensor(row, dtype=self.sums.dtype, device=self.sums.device)
        defined = values.isfinite()
        self.sums += torch.where(defined, values, 0.0)
        self.counts += defined

    def compute(self) -> dict[str, torch.Tensor]:
        """Means over all records so far; NaN where no record defines a metric."""
        result = dict(zip(self.names, self.sums / self.counts, strict=True))
        for name in self._POOLED:
            del result[name]
        hits, predicted, reference = self.sums[-3:]
        result["micro_precision"] = hits / predicted
        result["micro_recall"] = hits / reference
        result["micro_f1"] = 2 * hits / (predicted + reference)
        return result


class RecallAtCompression(Metric):
    """Mean recall of gold lines with a share of the lines dropped, over records that have gold lines.

    `compute` gives a dict of scalar tensors: recall_at_50, recall_at_70, recall_at_90 by default.
    """

    full_state_update = False
    is_differentiable = False
    higher_is_better = True
    sums: torch.Tensor
    records: torch.Tensor

    def __init__(self, compressions: Sequence[float] = metrics.COMPRESSIONS, **kwargs: Any) -> None:
        """compressions: the shares of lines dropped, each in 0..1."""
        super().__init__(**kwargs)
        self.compressions = tuple(compressions)
        zeros = torch.zeros(len(self.compressions), dtype=torch.float64)
        self.add_state("sums", default=zeros, dist_reduce_fx="sum")
        self.add_state("records", default=torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")

    def update(
        self,
        observation: str | Sequence[str],
        gold: Spans,
        keep_logits: torch.Tensor | np.ndarray | Sequence[float],
    ) -> None:
        """Add one record: the observation's text or its L lines, the gold spans and the keep logits [L].

        Raises ValueError where the logits are not one for each line.
        """
        total = len(split_lines(observation) if isinstance(observation, str) else observation)
        logits = torch.as_tensor(keep_logits).detach().double().cpu().numpy()
        if logits.shape != (total,):
            raise ValueError(f"{logits.shape} keep logits for an observation of {total} lines")
        spans = list(gold)
        if not to_mask(spans, total).any():
            return
        row = [metrics.recall_at_compression(logits, spans, dropped) for dropped in self.compressions]
        self.sums += torch.tensor(row, dtype=self.sums.dtype, device=self.sums.device)
        self.records += 1

    def compute(self) -> dict[str, torch.Tensor]:
        """Means over all records so far; NaN without any."""
        means = self.sums / self.records
        return {f"recall_at_{round(100 * c)}": mean for c, mean in zip(self.compressions, means, strict=True)}
