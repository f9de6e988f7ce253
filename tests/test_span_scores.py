"""The distribution over spans against the sum over all spans, one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from linecls.model.span_scores import SpanScores, log_coverage, span_loss


def scores_of(seed: int, lines: int, scale: float = 2.0) -> SpanScores:
    generator = torch.Generator().manual_seed(seed)
    return SpanScores(*(scale * torch.randn(1, lines, generator=generator) for _ in range(3)))


def all_spans(scores: SpanScores, lines: int) -> dict[tuple[int, int], float]:
    start, inside, end = (t[0].double().numpy() for t in scores)
    return {(s, e): start[s] + inside[s : e + 1].sum() + end[e] for s in range(lines) for e in range(s, lines)}


def log_sum(values: list[float]) -> float:
    return float(np.logaddexp.reduce(values))


@given(seed=st.integers(0, 10_000), lines=st.integers(1, 12), padding=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_coverage_sums_the_spans_over_a_line(seed: int, lines: int, padding: int) -> None:
    scores = scores_of(seed, lines + padding)
    mask = torch.arange(lines + padding).unsqueeze(0) < lines
    got = log_coverage(scores, mask)[0, :lines]
    spans = all_spans(scores, lines)
    for line in range(lines):
        expected = log_sum([score for (s, e), score in spans.items() if s <= line <= e])
        assert float(got[line]) == pytest.approx(expected, abs=1e-6)


@given(seed=st.integers(0, 10_000), lines=st.integers(2, 12), data=st.data())
@settings(max_examples=40, deadline=None)
def test_loss_is_the_negative_log_likelihood_of_the_gold_spans(seed: int, lines: int, data: st.DataObject) -> None:
    gold = data.draw(st.lists(st.booleans(), min_size=lines, max_size=lines))
    scores, labels = scores_of(seed, lines + 2), torch.zeros(1, lines + 2)
    labels[0, :lines] = torch.tensor(gold).float()
    mask = torch.arange(lines + 2).unsqueeze(0) < lines
    spans = all_spans(scores, lines)
    total = log_sum(list(spans.values()))
    edges = np.flatnonzero(np.diff([0, *gold, 0])).reshape(-1, 2)
    expected = np.mean([total - spans[s, e - 1] for s, e in edges]) if len(edges) else 0.0
    assert float(span_loss(scores, labels, mask)) == pytest.approx(float(expected), abs=1e-6)


def test_long_observations_lose_no_precision() -> None:
    lines = 1000
    scores = SpanScores(torch.zeros(1, lines), torch.full((1, lines), -9.0), torch.zeros(1, lines))
    scores.inside[0, 500:503] = 3.0
    coverage = log_coverage(scores, torch.ones(1, lines, dtype=torch.bool))[0]
    assert coverage.argmax() == 501
    assert float(coverage[501] - coverage[499]) == pytest.approx(9.0, abs=0.2)
    labels = torch.zeros(1, lines)
    labels[0, 500:503] = 1
    assert float(span_loss(scores, labels, torch.ones(1, lines, dtype=torch.bool))) < 0.2


def test_loss_has_finite_gradients_everywhere() -> None:
    parts: list[Tensor] = [t.clone().requires_grad_() for t in scores_of(3, 40)]
    labels = torch.zeros(2, 40)
    labels[0, 5:9] = 1
    mask = torch.arange(40).unsqueeze(0) < torch.tensor([[30], [40]])
    span_loss(SpanScores(*(p.expand(2, 40) for p in parts)), labels, mask).sum().backward()
    for part in parts:
        assert part.grad is not None
        assert torch.isfinite(part.grad).all()
        assert part.grad.abs().sum() > 0
