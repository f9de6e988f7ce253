"""Operating points: the F1 that is reported is the F1 that the metrics give, and the targets are met."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls.decoding import OperatingPoint
from linecls.metrics import score_record
from linecls.spans import from_mask, to_mask
from linecls.tuning import Scored, best_f1_point, mean_f1, scored_recall, standard_points


def scored(seed: int, lines: int = 40, noise: float = 1.0, gold: bool = True) -> Scored:
    rng = np.random.default_rng(seed)
    mask = np.zeros(lines, np.bool_)
    if gold:
        start = int(rng.integers(0, lines - 4))
        mask[start : start + 4] = True
    shown = mask.copy()
    if not gold:
        shown[5:9] = True  # something that looks like an answer
    logits = (shown * 4.0 - 2.0 + rng.normal(0, noise, lines)).astype(np.float32)
    return Scored([f"line {i % 30}\n" for i in range(lines)], mask, logits, 0.9 if gold else 0.2)


@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(st.sampled_from(["a", " a ", "", "b", "c", "  "]), min_size=1, max_size=12),
    data=st.data(),
)
def test_f1_is_the_squeez_line_f1(texts: list[str], data: st.DataObject) -> None:
    masks = [data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))) for _ in range(2)]
    gold, predicted = (np.array(mask) for mask in masks)
    lines = [text + "\n" for text in texts]
    ours = Scored(lines, gold, np.zeros(len(lines), np.float32), 1.0).f1(from_mask(predicted))
    theirs = score_record("".join(lines), from_mask(gold), from_mask(predicted))["squeez.span_f1"]
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_best_point_beats_its_neighbours_and_learns_to_say_nothing() -> None:
    items = [scored(seed, gold=seed % 5 > 0) for seed in range(60)]
    point, f1 = best_f1_point(items)
    assert f1 == mean_f1(items, point)
    assert f1 > 0.8
    assert 0.2 < point.empty_threshold <= 0.9
    assert f1 > mean_f1(items, replace(point, bias=point.bias + 2))
    assert f1 > mean_f1(items, replace(point, bias=point.bias - 2))


def test_logits_that_drift_between_observations_are_read_relative_to_the_best_line() -> None:
    drift = np.random.default_rng(1).normal(0, 5, 60)
    items = [
        Scored(s.lines, s.gold, (s.keep_logits + d).astype(np.float32), s.answerable)
        for s, d in zip((scored(seed, noise=0.3) for seed in range(60)), drift, strict=True)
    ]
    point, f1 = best_f1_point(items)
    assert point.relative
    assert f1 > 0.9
    assert f1 == pytest.approx(mean_f1([scored(seed, noise=0.3) for seed in range(60)], point), abs=0.01)


def test_recall_point_keeps_what_it_promises_with_the_largest_bias() -> None:
    items = [scored(seed, noise=2.0) for seed in range(80)]
    best, _ = best_f1_point(items)
    point = standard_points(items, best)["recall"]

    def recall(bias: float) -> float:
        moved = replace(point, bias=bias)
        return float(np.mean([to_mask(s.decode(moved), len(s.lines))[s.gold].mean() for s in items]))

    assert recall(point.bias - 1e-3) >= 0.90
    assert recall(point.bias + 0.5) < 0.90
    assert point.empty_threshold == 0


def test_recall_at_compression_leaves_out_records_without_gold() -> None:
    perfect = [scored(seed, noise=0.01) for seed in range(5)]
    assert scored_recall([*perfect, scored(9, gold=False)], 0.9) == 1.0
    assert np.isnan(scored_recall([scored(9, gold=False)], 0.9))


def test_nothing_to_tune_on_is_no_crash() -> None:
    assert best_f1_point([]) == (OperatingPoint(), 0.0)
