"""Recall of gold lines against the share of lines dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linecls.metrics import top_lines
from linecls.spans import Span, to_mask

SHARES = np.round(np.concatenate([np.arange(0.0, 0.9, 0.05), np.arange(0.9, 0.995, 0.01)]), 2)


def ranked_recall(scores: NDArray[Any], gold: Sequence[Span]) -> NDArray[np.float64]:
    """Recall of the gold lines of one record at each share of SHARES dropped, from one ranking [L]."""
    ranked = top_lines(scores, 1.0)
    hits = np.cumsum(to_mask(gold, len(ranked))[ranked])
    keep = np.maximum(1, np.round((1.0 - SHARES) * len(ranked)).astype(int))
    return hits[keep - 1] / hits[-1]


def bias_curve(
    scores: Sequence[NDArray[np.floating]], gold: Sequence[NDArray[np.bool_]], *, points: int = 200
) -> list[tuple[float, float, float]]:
    """(bias, share of lines dropped, recall of gold lines) for every bias that changes something.

    scores: one array [L] per record, whose values are comparable between records; gold: the lines' labels [L].
    A line is kept where its score is at least the bias. Both shares are means over records, the recall over those
    with gold lines: each line is worth 1 / (N L) of the first and, if gold, 1 / (P G) of the second, so one
    sort of all lines gives the exact curve. It is thinned to at most `points` of its steps, the first and the
    last among them. Empty where no record has gold lines.
    """
    positive = sum(bool(mask.any()) for mask in gold)
    filled = [i for i, values in enumerate(scores) if len(values)]
    if not positive:
        return []
    ranked = np.concatenate([np.asarray(scores[i], dtype=np.float64) for i in filled])
    ranked = np.where(np.isnan(ranked), -np.inf, ranked)
    kept = np.concatenate([np.full(len(scores[i]), 1.0 / (len(scores) * len(scores[i]))) for i in filled])
    found = np.concatenate(
        [gold[i] / (positive * gold[i].sum()) if gold[i].any() else np.zeros(len(gold[i])) for i in filled]
    )
    order = np.argsort(-ranked, kind="stable")
    ranked, kept, found = ranked[order], np.cumsum(kept[order]), np.cumsum(found[order])
    last_of_tie = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    # Evenly spread over the share of lines kept.
    grid = np.linspace(0.0, kept[-1], points)
    chosen = np.unique(np.append(np.searchsorted(kept[last_of_tie], grid).clip(max=len(last_of_tie) - 1), 0))
    steps = last_of_tie[chosen]
    empty = 1.0 - len(filled) / len(scores)  # a record without lines drops none and keeps none
    return [(float(ranked[i]), float(max(0.0, 1.0 - kept[i] - empty)), float(min(1.0, found[i]))) for i in steps]
