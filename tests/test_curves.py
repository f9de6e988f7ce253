from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.curves import SHARES, bias_curve, ranked_recall
from linecls.metrics import recall_at_compression
from linecls.spans import Span

RECORDS = st.lists(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), max_size=8), min_size=1, max_size=6).filter(
    lambda records: any(gold for record in records for _, gold in record)
)


def brute(scores: list[np.ndarray], gold: list[np.ndarray], bias: float) -> tuple[float, float]:
    """Mean share dropped and mean recall at one bias, record by record."""
    dropped = [1 - (s >= bias).mean() if len(s) else 0.0 for s in scores]
    recall = [(s[g] >= bias).mean() for s, g in zip(scores, gold, strict=True) if g.any()]
    return float(np.mean(dropped)), float(np.mean(recall))


@given(RECORDS)
def test_every_point_is_what_its_bias_gives(records) -> None:
    scores = [np.array([s for s, _ in record], dtype=float) for record in records]
    gold = [np.array([g for _, g in record], dtype=bool) for record in records]
    curve = bias_curve(scores, gold)
    for bias, dropped, recall in curve:
        assert (dropped, recall) == pytest.approx(brute(scores, gold, bias), abs=1e-9)
    # with room for all of them, every score is a point
    assert {bias for bias, _, _ in bias_curve(scores, gold, points=2000)} == set(np.concatenate(scores))
    assert curve[-1][2] == pytest.approx(1.0)


def test_thinned_to_its_ends_and_points_between() -> None:
    rng = np.random.default_rng(0)
    scores, gold = [rng.normal(size=500) for _ in range(4)], [rng.random(500) < 0.1 for _ in range(4)]
    curve = bias_curve(scores, gold, points=50)
    assert 40 <= len(curve) <= 51
    assert curve[0][0] == max(map(max, scores))
    assert curve[-1][0] == min(map(min, scores))
    dropped = [point[1] for point in curve]
    assert (np.diff(dropped) <= 0).all()
    assert np.abs(np.diff(dropped)).max() < 0.05


def test_nothing_to_find_has_no_curve() -> None:
    assert bias_curve([np.zeros(3)], [np.zeros(3, bool)]) == []
    assert bias_curve([np.zeros(0)], [np.zeros(0, bool)]) == []


def test_ranked_recall_is_recall_at_compression() -> None:
    scores, gold = np.random.default_rng(1).random(37), [Span(3, 5), Span(30, 31)]
    for share, recall in zip(SHARES, ranked_recall(scores, gold), strict=True):
        assert recall == recall_at_compression(scores, gold, share)
