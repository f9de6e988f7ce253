"""A distribution over the spans of an observation, and what it says of each line.

The score of the span from line s to line e is start[s] + inside[s] + ... + inside[e] + end[e], and a softmax over
all L (L + 1) / 2 spans makes it a distribution: a linear-chain conditional random field (Lafferty et al. 2001) whose
labellings have exactly one run of kept lines. With running sums of `inside` every sum over spans falls apart into one
over starts and one over ends, so nothing here costs more than a pass over the lines.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_NEVER = -1e9


class SpanScores(NamedTuple):
    """Scores [B, L] of a span that starts at a line, holds it, or ends at it."""

    start: Tensor
    inside: Tensor
    end: Tensor


def _halves(scores: SpanScores, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Score of a span as a sum of one part of its start and one of its end, float64 [B, L] each."""
    start, inside, end = (t.double() for t in scores)
    running = inside.masked_fill(~mask, 0.0).cumsum(dim=1)
    opening = (start - running + inside).masked_fill(~mask, _NEVER)
    closing = (end + running).masked_fill(~mask, _NEVER)
    return opening, closing


def log_coverage(scores: SpanScores, mask: Tensor) -> Tensor:
    """Log of the summed weights of all spans that cover a line, float64 [B, L], not normalised.

    The differences between lines are those of the log-probabilities of being in the span. Left unnormalised, lines
    of several segments of one observation compare.
    """
    opening, closing = _halves(scores, mask)
    lines = torch.arange(mask.shape[1], device=mask.device)
    before = lines.unsqueeze(0) <= lines.unsqueeze(1)  # [i, s]: a span that starts at s may cover i
    started = opening.unsqueeze(1).masked_fill(~before, _NEVER).logsumexp(dim=2)
    to_come = closing.unsqueeze(1).masked_fill(~before.T, _NEVER).logsumexp(dim=2)
    return started + to_come


def span_loss(scores: SpanScores, labels: Tensor, mask: Tensor) -> Tensor:
    """Negative log-likelihood of the gold spans, the mean over a sample's spans, [B]; 0 without gold.

    labels [B, L]: 1 on gold lines; runs of them are the spans.
    """
    opening, closing = _halves(scores, mask)
    log_total = (closing + opening.logcumsumexp(dim=1)).logsumexp(dim=1)
    gold = (labels > 0) & mask
    edge = torch.zeros_like(gold[:, :1])
    first = gold & ~torch.cat((edge, gold[:, :-1]), dim=1)
    last = gold & ~torch.cat((gold[:, 1:], edge), dim=1)
    total = opening.masked_fill(~first, 0.0).sum(dim=1) + closing.masked_fill(~last, 0.0).sum(dim=1)
    count = first.sum(dim=1)
    return (log_total - total / count.clamp(min=1)).masked_fill(count == 0, 0.0)
