"""The sweep's curves are what decoding at each of their choices gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls.decoding import OperatingPoint
from linecls.metrics import score_record
from linecls.spans import from_mask, to_mask
from linecls.sweep import METRICS, Sweep, figures
from linecls.thresholds import bias_thresholds
from linecls.tuning import Scored

TEXTS = ["a", " a ", "", "b", "c", "  "]


def some(seed: int, count: int = 6) -> list[Scored]:
    rng = np.random.default_rng(seed)
    made = []
    for index in range(count):
        size = int(rng.integers(1, 15))
        gold = rng.random(size) < (0.3 if index % 3 else 0.0)
        logits = np.round(rng.normal(0, 2, size) * 4) / 4
        lines = [str(rng.choice(TEXTS)) + "\n" for _ in range(size)]
        tokens = rng.integers(0, 9, size)
        made.append(Scored(lines, gold, logits.astype(np.float32), float(np.round(rng.random(), 1)), tokens))
    return made


def sweep_of(items: list[Scored], cost: float, relative: bool) -> Sweep:
    paths = [bias_thresholds(s.keep_logits, [cost]) for s in items]
    return Sweep(items, [(p.relative if relative else p.absolute)[0] for p in paths], relative=relative)


def decoded(items: list[Scored], records: np.ndarray, point: OperatingPoint) -> dict[str, float]:
    rows = []
    for item in (s for s, chosen in zip(items, records, strict=True) if chosen):
        kept = np.flatnonzero(to_mask(item.decode(point), len(item.lines)))
        rows.append(figures(item, kept)[:, -1])
    defined = [[row[i] for row in rows if not np.isnan(row[i])] for i in range(len(METRICS))]
    return {m: float(np.mean(v)) if v else float("nan") for m, v in zip(METRICS, defined, strict=True)}


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.5, 1.25]),
    st.booleans(),
    st.sampled_from([0.0, 0.35, 0.75]),
    st.lists(st.booleans(), min_size=6, max_size=6).filter(any),
)
def test_every_point_of_a_curve_is_what_decoding_gives(seed, cost, relative, empty, chosen):
    items, records = some(seed), np.array(chosen)
    sweep = sweep_of(items, cost, relative)
    curve = sweep.over_bias(records, empty)
    assert np.all(np.diff(curve.choices) < 0)
    for index, bias in enumerate(curve.choices):
        expected = decoded(items, records, OperatingPoint(float(bias), cost, empty, relative))
        for name in METRICS:
            assert curve.values[name][index] == pytest.approx(expected[name], abs=1e-9, nan_ok=True)
    if len(curve.choices):
        bias = float(curve.choices[len(curve.choices) // 2])
        curve = sweep.over_empty_threshold(records, bias, ("f1", "tokens"))
        assert curve.choices[-1] == 0
        for index, threshold in enumerate(curve.choices):
            expected = decoded(items, records, OperatingPoint(bias, cost, float(threshold), relative))
            for name in ("f1", "tokens"):
                assert curve.values[name][index] == pytest.approx(expected[name], abs=1e-9)


def test_no_bias_and_no_threshold_is_left_out():
    """As many different answers as the sweep has choices, found by trying a fine grid of biases."""
    items = some(3)
    records = np.ones(len(items), dtype=bool)
    curve = sweep_of(items, 0.5, False).over_bias(records, 0.0)

    def answer(bias: float) -> tuple:
        return tuple(tuple(s.decode(OperatingPoint(bias, 0.5))) for s in items)

    answers = {answer(bias) for bias in np.arange(-9, 9, 1 / 48) + 1 / 200}
    answers.discard(((),) * len(items))  # keeping nothing anywhere is no point
    assert {answer(float(bias)) for bias in curve.choices} == answers


@settings(max_examples=50)
@given(texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=12), data=st.data())
def test_figures_are_the_metrics(texts, data):
    masks = [data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))) for _ in range(2)]
    gold, kept = (np.array(mask) for mask in masks)
    lines = [text + "\n" for text in texts]
    item = Scored(lines, gold, np.zeros(len(lines), np.float32), 1.0)
    ours = dict(zip(METRICS, figures(item, np.flatnonzero(kept))[:, -1], strict=True))
    theirs = score_record("".join(lines), from_mask(gold), from_mask(kept))
    for name, metric in (
        ("f1", "squeez.span_f1"),
        ("precision", "squeez.span_precision"),
        ("compression", "squeez.compression_corrected"),
        ("recall", "pruning.line_recall"),
    ):
        assert ours[name] == pytest.approx(theirs[metric], abs=1e-12, nan_ok=True)


def test_records_under_the_threshold_count_as_empty():
    items = some(5)
    records = np.ones(len(items), dtype=bool)
    assert len(sweep_of(items, 0.0, False).over_bias(records, 1.0).choices) == 0
