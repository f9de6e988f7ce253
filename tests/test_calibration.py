from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.calibration import calibrate


def test_by_hand() -> None:
    found = calibrate([0.1, 0.15, 0.9, 1.0], [False, True, True, True])
    assert found is not None
    assert [(b.low, b.count, b.stated, b.observed) for b in found.bins] == [
        (0.1, 2, pytest.approx(0.125), 0.5),
        (0.9, 2, pytest.approx(0.95), 1.0),
    ]
    assert found.ece == pytest.approx((2 * 0.375 + 2 * 0.05) / 4)
    assert found.brier == pytest.approx((0.01 + 0.7225 + 0.01 + 0) / 4)
    assert (found.base_rate, found.auc) == (0.75, 1.0)


def test_a_calibrated_source_and_an_overconfident_one() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    outcomes = rng.random(20_000) < p
    honest, bold = calibrate(p, outcomes), calibrate((p > 0.5).astype(float), outcomes)
    assert honest is not None
    assert bold is not None
    assert honest.ece < 0.02
    assert bold.ece > 0.2
    assert honest.auc == pytest.approx(5 / 6, abs=0.01)  # of p uniform and outcomes drawn by it


def test_auc_counts_ties_half() -> None:
    found = calibrate([0.5, 0.5, 0.5, 0.9], [True, False, False, True])
    assert found is not None
    assert found.auc == (0.5 + 0.5 + 1 + 1) / 4


def test_one_class_has_no_auc_and_no_cases_no_calibration() -> None:
    found = calibrate([0.2, 0.4], [False, False])
    assert found is not None
    assert math.isnan(found.auc)
    assert found.to_dict()["auc"] is None
    assert calibrate([], []) is None


@pytest.mark.parametrize(("stated", "outcomes"), [([1.1], [True]), ([math.nan], [True]), ([0.5], [True, False])])
def test_refuses(stated, outcomes) -> None:
    with pytest.raises(ValueError, match=r"probabilit"):
        calibrate(stated, outcomes)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50))
def test_bins_hold_every_case_once(cases) -> None:
    found = calibrate([p for p, _ in cases], [outcome for _, outcome in cases])
    assert found is not None
    assert sum(b.count for b in found.bins) == found.count == len(cases)
    assert sum(b.count * b.observed for b in found.bins) == pytest.approx(sum(outcome for _, outcome in cases))
    assert all(b.low <= b.stated + 1e-12 and b.stated <= b.high + 1e-12 for b in found.bins)
    assert 0 <= found.ece <= 1
