"""Losses on line labels."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def focal(logits: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """Focal loss per line (Lin et al. 2017, eq. 4, without alpha): -(1 - p_t)^gamma log p_t."""
    signed = torch.where(labels > 0, logits, -logits)
    log_p = F.logsigmoid(signed)
    return -((1 - log_p.exp()) ** gamma) * log_p


def balanced_focal(logits: Tensor, labels: Tensor, mask: Tensor, gamma: float = 2.0) -> Tensor:
    """Per-sample balanced focal loss, one value per sample [B] (SWE-Pruner Pro, arXiv 2607.18213, training).

    The focal loss is averaged over the keep lines and over the prune lines of a sample separately, and the two
    means are averaged with equal weight; a sample without gold lines has only the prune term.
    logits, labels, mask: [B, L].
    """
    loss = focal(logits, labels, gamma)
    keep, prune = mask & (labels > 0), mask & (labels <= 0)
    keep_count, prune_count = keep.sum(dim=1), prune.sum(dim=1)
    keep_mean = (loss * keep).sum(dim=1) / keep_count.clamp(min=1)
    prune_mean = (loss * prune).sum(dim=1) / prune_count.clamp(min=1)
    terms = (keep_count > 0).to(loss.dtype) + (prune_count > 0).to(loss.dtype)
    return (keep_mean + prune_mean) / terms.clamp(min=1)


def plain_focal(logits: Tensor, labels: Tensor, mask: Tensor, gamma: float = 2.0) -> Tensor:
    """Focal loss averaged over all lines of a sample alike, [B]; logits, labels, mask: [B, L]."""
    return (focal(logits, labels, gamma) * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)


def weighted_cross_entropy(logits: Tensor, labels: Tensor, mask: Tensor, most: float = 10.0) -> Tensor:
    """Cross-entropy of a sample's lines, [B], gold lines weighted by how many more the others are, at most `most`.

    The recipe of squeez 0.1.4's pooled encoder, with the weights of each sample in place of a batch's. The mean is
    over the weights; a sample without gold lines, or with nothing else, has weights of 1. logits, labels, mask: [B, L].
    """
    gold = mask & (labels > 0)
    hits, others = gold.sum(dim=1, keepdim=True), (mask & ~gold).sum(dim=1, keepdim=True)
    ratio = (
        (others / hits.clamp(min=1)).clamp(max=most).where((hits > 0) & (others > 0), torch.ones_like(logits[:, :1]))
    )
    weight = torch.where(gold, ratio, torch.ones_like(logits)) * mask
    loss = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (loss * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1)


def listwise(logits: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """Softmax cross-entropy of the gold lines against all lines of the observation, per sample [B].

    The target is uniform over the gold lines (ListNet, Cao et al. 2007); 0 for a sample without gold.
    """
    gold = (mask & (labels > 0)).to(logits.dtype)
    log_p = logits.masked_fill(~mask, -1e4).log_softmax(dim=1)
    return -(log_p * gold).sum(dim=1) / gold.sum(dim=1).clamp(min=1)
