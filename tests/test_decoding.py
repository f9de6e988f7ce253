from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.decoding import Budget, OperatingPoint, best_line, decode, viterbi
from linecls.spans import Span, count_lines, from_mask, to_mask

GRID = 2.0**-20
# Small multiples of 1/4 make ties common; the wide floats do not.
scores = st.one_of(st.integers(-12, 12).map(lambda n: n / 4), st.floats(-30, 30))
costs = st.one_of(st.integers(0, 12).map(lambda n: n / 4), st.floats(0, 30))


def on_grid(values):
    return np.rint(np.asarray(values, dtype=np.float64) / GRID) * GRID


def value(mask, line_scores, cost):
    mask = np.asarray(mask, dtype=bool)
    return float(line_scores[mask].sum()) - cost * len(from_mask(mask))


def labelings(length):
    return (np.array(x, dtype=bool) for x in itertools.product((False, True), repeat=length))


@given(st.lists(scores, min_size=1, max_size=10), costs)
def test_viterbi_finds_the_smallest_best_labelling(line_scores, cost):
    exact, exact_cost = on_grid(line_scores), float(on_grid(cost))
    best = max(value(x, exact, exact_cost) for x in labelings(len(exact)))
    maximisers = [x for x in labelings(len(exact)) if value(x, exact, exact_cost) == best]
    smallest = np.logical_and.reduce(maximisers)
    assert viterbi(line_scores, cost).tolist() == smallest.tolist()


@given(st.lists(scores, max_size=60), costs, scores, st.floats(0, 10))
def test_a_larger_bias_keeps_a_subset(line_scores, cost, bias, more):
    kept = decode(line_scores, OperatingPoint(bias, cost))
    fewer = decode(line_scores, OperatingPoint(bias + more, cost))
    length = len(line_scores)
    assert not (to_mask(fewer, length) & ~to_mask(kept, length)).any()


@given(st.lists(scores, min_size=1, max_size=300), costs)
def test_viterbi_equals_the_textbook_recursion(line_scores, cost):
    exact, exact_cost = on_grid(line_scores), float(on_grid(cost))
    keep, drop = -np.inf, 0.0
    for score in exact:
        keep, drop = max(keep, drop - exact_cost) + score, max(keep, drop)
    assert value(viterbi(line_scores, cost), exact, exact_cost) == max(keep, drop)


def test_gaps_close_and_specks_drop_with_the_switch_cost():
    line_scores = [-1, 2, 3, -0.5, 2, -4, 0.5, -3]
    assert from_mask(viterbi(line_scores)) == [Span(2, 3), Span(5, 5), Span(7, 7)]
    assert from_mask(viterbi(line_scores, 1.0)) == [Span(2, 5)]
    assert from_mask(viterbi(line_scores, 7.0)) == []


def test_ties_are_dropped():
    assert decode([0.0, 0.0], OperatingPoint()) == []
    assert decode([1.0, -1.0, 1.0], OperatingPoint(switch_cost=1.0)) == []
    assert decode([3.0, -1.0, 3.0], OperatingPoint(switch_cost=1.0)) == [Span(1, 1), Span(3, 3)]
    assert decode([2.0, -1.0], OperatingPoint(bias=2.0)) == []


def test_empty_decision():
    point = OperatingPoint(empty_threshold=0.5)
    assert decode([5.0], point, 0.49) == []
    assert decode([5.0], point, 0.5) == [Span(1, 1)]
    assert decode([5.0], point, None) == [Span(1, 1)]
    assert decode([], point, 0.9) == []


def test_infinite_logits_are_limits_and_nan_is_refused():
    assert decode([np.inf, -np.inf, 1.0], OperatingPoint(switch_cost=0.5)) == [Span(1, 1), Span(3, 3)]
    with pytest.raises(ValueError, match="not a number"):
        decode([np.nan], OperatingPoint())


@pytest.mark.parametrize(
    "fields", [{"bias": np.nan}, {"switch_cost": -1}, {"switch_cost": np.inf}, {"empty_threshold": 1.5}]
)
def test_operating_points_are_checked(fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        OperatingPoint(**fields)


budgets = st.builds(
    Budget,
    max_lines=st.none() | st.integers(0, 12),
    max_tokens=st.none() | st.integers(0, 40),
    keep_ratio=st.none() | st.floats(0, 1),
)


@given(st.lists(st.tuples(scores, st.integers(0, 12)), min_size=1, max_size=40), costs, scores, budgets)
def test_budgets_are_never_exceeded_and_keep_the_best(lines, cost, bias, budget):
    logits = [score for score, _ in lines]
    tokens = np.array([count for _, count in lines])
    point = OperatingPoint(bias, cost)
    free = to_mask(decode(logits, point), len(lines))
    kept = decode(logits, point, budget=budget, token_counts=tokens)
    mask = to_mask(kept, len(lines))
    limit = budget.line_limit(len(lines))
    token_limit = np.inf if budget.max_tokens is None else budget.max_tokens
    assert mask.sum() <= limit
    assert tokens[mask].sum() <= token_limit
    if free.sum() <= limit and tokens[free].sum() <= token_limit:
        assert mask.tolist() == free.tolist()
    assert not (mask & ~free).any()
    best = best_line(logits, from_mask(free))
    fits = best is not None and limit >= 1 and token_limit > 0 and tokens[best - 1] <= token_limit
    assert mask.any() == fits
    if fits:  # what stays is never worse than what goes, and the best line is there
        assert mask[best - 1]
        assert np.array(logits)[mask].min() >= np.array(logits)[free & ~mask].max(initial=-np.inf)


@given(st.lists(st.tuples(scores, st.integers(0, 12)), max_size=40), costs, scores, budgets, st.data())
def test_a_larger_budget_never_drops_a_line(lines, cost, bias, budget, data):
    logits = [score for score, _ in lines]
    tokens = [count for _, count in lines]
    larger = Budget(
        max_lines=None if budget.max_lines is None else budget.max_lines + data.draw(st.integers(0, 12)),
        max_tokens=None if budget.max_tokens is None else budget.max_tokens + data.draw(st.integers(0, 40)),
        keep_ratio=None if budget.keep_ratio is None else data.draw(st.floats(budget.keep_ratio, 1)),
    )
    kept, more = (
        to_mask(decode(logits, OperatingPoint(bias, cost), budget=b, token_counts=tokens), len(lines))
        for b in (budget, larger)
    )
    assert not (kept & ~more).any()


def test_the_best_line_comes_first_and_no_worse_one_stands_for_it():
    logits, tokens = [1.0, 9.0, 2.0, 3.0], [2, 30, 3, 4]

    def kept(max_tokens, bias=0.0):
        return decode(logits, OperatingPoint(bias), budget=Budget(max_tokens=max_tokens), token_counts=tokens)

    assert kept(29) == []
    assert kept(30) == [Span(2, 2)]
    assert kept(34) == [Span(2, 2), Span(4, 4)]
    assert kept(36) == kept(34)  # line 3 does not fit, and the worse line 1 does not stand for it
    assert kept(39) == [Span(1, 4)]
    assert kept(34, bias=-1e6) == kept(34)  # the order is that of the logits, however small the bias
    assert (best_line(logits, [Span(3, 4)]), best_line([1.0, 1.0], [Span(1, 2)]), best_line(logits, [])) == (4, 1, None)


@given(st.lists(scores, min_size=1, max_size=40), st.integers(1, 12))
def test_without_switch_cost_a_line_budget_keeps_the_top_lines(logits, limit):
    kept = to_mask(decode(logits, OperatingPoint(), budget=Budget(max_lines=limit)), len(logits))
    exact = on_grid(logits)
    assert kept.sum() == min(limit, (exact > 0).sum())
    if kept.any():
        assert exact[kept].min() >= max(exact[~kept], default=-np.inf)


def test_one_span_over_the_budget_is_cut_to_its_best_part():
    logits = [-9, 1, 1, 4, 5, 4, 1, 1, -9]
    point = OperatingPoint(switch_cost=20)
    assert decode([2 * x for x in logits], point) == [Span(2, 8)]
    cut = decode([2 * x for x in logits], point, budget=Budget(max_lines=3))
    assert cut == [Span(4, 6)]


def test_keep_ratio_rounds_down_but_not_to_nothing():
    assert Budget(keep_ratio=0.1).line_limit(5) == 1
    assert Budget(keep_ratio=0.1).line_limit(39) == 3
    assert Budget(keep_ratio=0.29).line_limit(100) == 29
    assert Budget(keep_ratio=0.0).line_limit(100) == 0
    assert Budget(keep_ratio=0.5, max_lines=3).line_limit(100) == 3
    assert Budget().line_limit(7) == 7
    assert decode([1.0, 3.0, 2.0], OperatingPoint(), budget=Budget(keep_ratio=0.1)) == [Span(2, 2)]


@pytest.mark.parametrize("fields", [{"max_lines": -1}, {"max_tokens": -1}, {"keep_ratio": 1.01}])
def test_budgets_are_checked(fields):
    with pytest.raises(ValueError, match=next(iter(fields))):
        Budget(**fields)


def test_a_token_budget_needs_counts():
    with pytest.raises(ValueError, match="token counts"):
        decode([1.0], OperatingPoint(), budget=Budget(max_tokens=3))
    with pytest.raises(ValueError, match="one number"):
        decode([1.0], OperatingPoint(), budget=Budget(max_tokens=3), token_counts=[1, 2])


@pytest.mark.parametrize("shape", ["random", "alternating"])
def test_a_million_lines(shape):
    total = 1_000_000
    if shape == "random":
        logits = np.random.default_rng(0).normal(-1, 2, total)
    else:
        logits = np.where(np.arange(total) % 2, 1.0, -0.9)
    start = time.process_time()
    free = decode(logits, OperatingPoint(switch_cost=0.05))
    spent = time.process_time() - start
    assert free
    assert spent < 2.5  # 0.1 s of work on a quiet machine, most of it in making spans
    kept = decode(logits, OperatingPoint(switch_cost=0.05), budget=Budget(max_lines=1000))
    assert 0 < count_lines(kept) <= 1000


@given(st.lists(scores, min_size=1, max_size=60), costs, st.floats(-10, -0.01), st.floats(0, 10), scores)
def test_relative_bias_ignores_a_common_shift_and_never_keeps_nothing(line_scores, cost, bias, less, shift):
    logits = on_grid(line_scores)
    point = OperatingPoint(bias, cost, relative=True)
    kept = to_mask(decode(logits, point), len(logits))
    assert kept[int(np.argmax(logits))]
    assert to_mask(decode(logits + on_grid(shift), point), len(logits)).tolist() == kept.tolist()
    wider = to_mask(decode(logits, OperatingPoint(bias - less, cost, relative=True)), len(logits))
    assert not (kept & ~wider).any()


def test_relative_point_still_answers_with_nothing_when_nothing_answers():
    point = OperatingPoint(-1.0, 0.5, 0.4, relative=True)
    assert decode([0.0, 3.0], point, 0.39) == []
    assert decode([0.0, 3.0], point, 0.41) == [Span(2, 2)]
    assert decode([], point, 0.9) == []


def test_no_tokens_allowed_keeps_no_blank_line_either() -> None:
    answer = decode([5.0, 4.0, 5.0], OperatingPoint(), budget=Budget(max_tokens=0), token_counts=[3, 0, 2])
    assert answer == []
