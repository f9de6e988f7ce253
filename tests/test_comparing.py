from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.comparing import holm, paired_difference


class TestPairedDifference:
    def test_a_clear_gap(self) -> None:
        rng = np.random.default_rng(0)
        b = rng.random(200)
        found = paired_difference(b + 0.2 + rng.normal(0, 0.05, 200), b, [i // 4 for i in range(200)])
        assert found.value == pytest.approx(0.2, abs=0.02)
        assert 0.17 < found.low < found.value < found.high < 0.23
        assert found.p == pytest.approx(1 / 2001)
        assert (found.records, found.observations) == (200, 50)

    def test_no_gap_and_the_same_system(self) -> None:
        rng = np.random.default_rng(1)
        a, b = rng.random(100), rng.random(100)
        assert paired_difference(a, b, range(100)).p > 0.05
        same = paired_difference(a, a, range(100))
        assert (same.value, same.low, same.high, same.p) == (0.0, 0.0, 0.0, 1.0)

    def test_records_of_one_observation_are_no_independent_evidence(self) -> None:
        # Two observations of fifty records each: the gap could be the luck of either.
        gaps = np.concatenate([np.full(50, 0.3), np.full(50, -0.2)])
        together = paired_difference(gaps, np.zeros(100), [0] * 50 + [1] * 50)
        apart = paired_difference(gaps, np.zeros(100), range(100))
        assert together.p > 0.4 > apart.p
        assert together.high - together.low > apart.high - apart.low

    def test_the_sign_flip_test_holds_its_level(self) -> None:
        rng = np.random.default_rng(2)
        rejected = [
            paired_difference(rng.normal(size=30), np.zeros(30), range(30), resamples=199, seed=i).p <= 0.1
            for i in range(200)
        ]
        assert 0.04 < np.mean(rejected) < 0.17

    def test_undefined_values_are_left_out(self) -> None:
        found = paired_difference([1.0, np.nan, 3.0], [0.0, 5.0, np.nan], ["x", "y", "z"])
        assert (found.value, found.records, found.observations) == (1.0, 1, 1)
        nothing = paired_difference([np.nan], [1.0], ["x"])
        assert np.isnan([nothing.value, nothing.low, nothing.p]).all()

    def test_without_resamples_only_the_value(self) -> None:
        found = paired_difference([1.0, 0.0], [0.0, 0.0], "ab", resamples=0)
        assert found.value == 0.5
        assert np.isnan([found.low, found.high, found.p]).all()

    def test_repeats_itself_and_refuses_what_does_not_match(self) -> None:
        a, b = np.arange(9.0), np.arange(9.0)[::-1]
        assert paired_difference(a, b, range(9), seed=3) == paired_difference(a, b, range(9), seed=3)
        with pytest.raises(ValueError, match="one value per record"):
            paired_difference(a, b[:8], range(9))
        with pytest.raises(ValueError, match="one value per record"):
            paired_difference(a, b, range(8))


class TestHolm:
    def test_by_hand(self) -> None:
        assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
        assert holm([]) == []

    def test_undefined_ones_count_for_none(self) -> None:
        adjusted = holm([float("nan"), 0.02])
        assert np.isnan(adjusted[0])
        assert adjusted[1] == 0.02

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
    def test_never_smaller_never_above_one_and_in_order(self, values: list[float]) -> None:
        adjusted = holm(values)
        assert all(p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
        order = np.argsort(values, kind="stable")
        assert (np.diff(np.array(adjusted)[order]) >= 0).all()
