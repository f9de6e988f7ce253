"""The thresholds say what `decode` keeps at every bias."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.decoding import OperatingPoint, decode
from linecls.spans import to_mask
from linecls.thresholds import bias_thresholds

# Multiples of 1/4 make ties and simultaneous merges common; the wide floats do not.
scores = st.one_of(st.integers(-12, 12).map(lambda n: n / 4), st.floats(-30, 30))
cost_lists = st.lists(
    st.one_of(st.integers(0, 12).map(lambda n: n / 4), st.floats(0, 20)), min_size=1, max_size=3, unique=True
).map(sorted)


@given(st.lists(scores, min_size=1, max_size=40), cost_lists, st.booleans(), st.data())
def test_a_line_is_kept_while_the_bias_is_below_its_threshold(logits, costs, relative, data):
    found = bias_thresholds(logits, costs)
    rows = found.relative if relative else found.absolute
    assert rows.shape == (len(costs), len(logits))
    for cost, row in zip(costs, rows, strict=True):
        near = data.draw(st.sampled_from(sorted(row.tolist())))
        bias = near + data.draw(st.sampled_from([-3.0, -0.125, -1e-4, 1e-4, 0.125, 3.0]))
        bias = float(np.rint(bias * 2**20) / 2**20)
        if (relative and bias >= 0) or np.abs(row - bias).min() < 8e-6:  # between the grid's points
            continue
        kept = to_mask(decode(logits, OperatingPoint(bias, cost, relative=relative)), len(logits))
        assert (row > bias).tolist() == kept.tolist()


@given(st.lists(st.integers(-8, 8).map(lambda n: n / 4), min_size=1, max_size=7), st.integers(0, 8), st.booleans())
def test_all_answers_of_all_biases_against_brute_force(logits, quarters, relative):
    """Every labelling by hand at every bias between two thresholds."""
    cost, values = quarters / 4, np.array(logits)
    found = bias_thresholds(logits, [cost])
    row = (found.relative if relative else found.absolute)[0]
    if relative:
        values = values - values.max()
    labellings = [np.array(x) for x in itertools.product((False, True), repeat=len(values))]
    levels = np.unique(row)
    for bias in [levels[0] - 1, *((levels[1:] + levels[:-1]) / 2), *([] if relative else [levels[-1] + 1])]:
        own_cost = min(cost, -bias - 1e-6) if relative else cost

        def value(mask, bias=bias, own_cost=own_cost):
            spans = int(mask[0]) + int((mask[1:] & ~mask[:-1]).sum())
            return float((values - bias)[mask].sum()) - own_cost * spans

        kept = row > bias
        assert value(kept) == pytest.approx(max(map(value, labellings)), abs=1e-5)


def test_without_switch_cost_the_thresholds_are_the_logits():
    logits = [0.5, -1.0, 2.0, 2.0, -3.0]
    found = bias_thresholds(logits, [0.0])
    assert found.absolute[0].tolist() == pytest.approx(logits, abs=1e-6)
    assert found.relative[0].tolist() == pytest.approx([x - 2.0 for x in logits], abs=1e-6)


def test_one_span_by_hand():
    # Cost 1: the run (3, 2) pays it for both, so it goes where 3 - b + 2 - b = 1; alone the first goes at 3 - 1.
    found = bias_thresholds([3.0, 2.0, -9.0], [1.0]).absolute[0]
    assert found[:2].tolist() == pytest.approx([2.0, 2.0], abs=1e-6)
    # Relative, the cost is capped at what the best line brings: that one stays up to bias 0. The second joins it at
    # bias -1: both then gain 1 + 0 and pay 1.
    relative = bias_thresholds([3.0, 2.0, -9.0], [5.0]).relative[0]
    assert relative[:2].tolist() == pytest.approx([0.0, -1.0], abs=1e-5)


def test_empty_and_refused_input():
    assert bias_thresholds([], [0.0, 1.0]).absolute.shape == (2, 0)
    with pytest.raises(ValueError, match="rising"):
        bias_thresholds([1.0], [1.0, 0.5])
    with pytest.raises(ValueError, match="finite"):
        bias_thresholds([np.inf], [0.0])


@pytest.mark.parametrize("shape", ["random", "slope", "waves"])
def test_long_observations_are_not_quadratic(shape):
    total = 30_000
    logits = {
        "random": np.random.default_rng(0).normal(0, 2, total),
        "slope": np.arange(total) / 1000,
        "waves": 3 * np.sin(np.arange(total) / 50),
    }[shape]
    start = time.process_time()
    bias_thresholds(logits, [0.0, 0.5, 1.0, 3.0])
    assert time.process_time() - start < 6  # 0.4 s of work; a quadratic pass takes minutes
