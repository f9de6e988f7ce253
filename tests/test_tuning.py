"""Operating points: the F1 that is reported is the F1 that the metrics give, and the targets are met."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls import tuning_report
from linecls.decoding import OperatingPoint
from linecls.errors import LineclsError
from linecls.metrics import score_record
from linecls.spans import from_mask, to_mask
from linecls.tuning import (
    F1_SLACK,
    Scored,
    Target,
    Tuner,
    _folds,
    best_f1_point,
    mean_f1,
    readier_to_be_empty,
    scored_recall,
    standard_points,
    tune,
)


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


def test_f1_point_gives_little_away_for_more_empty_answers() -> None:
    items = [scored(seed, noise=2.0) for seed in range(80)]
    best, f1 = best_f1_point(items)
    for start in (best, replace(best, empty_threshold=0.0)):
        point = readier_to_be_empty(items, start)
        assert point.empty_threshold >= start.empty_threshold
        assert replace(point, empty_threshold=start.empty_threshold) == start
        assert mean_f1(items, point) >= mean_f1(items, start) - F1_SLACK - 1e-12
        larger = [s.answerable for s in items if s.answerable > point.empty_threshold]
        assert all(
            mean_f1(items, replace(point, empty_threshold=value)) < mean_f1(items, start) - F1_SLACK for value in larger
        )
    assert standard_points(items, best)["f1"] == readier_to_be_empty(items, best)
    assert mean_f1(items, standard_points(items, best)["f1"]) >= f1 - F1_SLACK - 1e-12


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


# --- targets, held to their promise ---------------------------------------------------------------------------------


def observed(count: int, *, noise: float = 1.5, labels: int = 3, seed: int = 0) -> list[Scored]:
    """Scored records, `labels` to an observation; one in ten observations has no answer."""
    items = []
    for number in range(count):
        base = scored(seed * 10_000 + number, noise=noise, gold=number % 10 > 0)
        lines = [f"{number} {line}" for line in base.lines]
        tokens = np.arange(len(lines)) % 5 + 1
        items += [replace(base, lines=lines, tokens=tokens) for _ in range(labels)]
    return items


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [("compression=0.90", "compression", 0.9), ("tokens=5e2", "tokens", 500), ("f1", "f1", 0)],
)
def test_targets_are_read(text: str, kind: str, value: float) -> None:
    assert Target.parse(text) == Target(kind, value)


@pytest.mark.parametrize(
    "text", ["", "f1=0.5", "recall", "recall=", "recall=1.1", "compression=1", "tokens=0", "recall=1.2.3", "speed=3"]
)
def test_other_targets_are_refused(text: str) -> None:
    with pytest.raises(LineclsError):
        Target.parse(text)


@pytest.mark.parametrize("text", ["recall=0.9", "compression=0.85", "tokens=12", "f1"])
def test_a_promise_is_what_decoding_gives_and_holds_on_other_records(text: str) -> None:
    items, target = observed(60, labels=1), Target.parse(text)
    found = tune(items, target)
    kept = [to_mask(s.decode(found.point), len(s.lines)) for s in items]
    expected = {
        "compression": np.mean([1 - mask.mean() for mask in kept]),
        "recall": np.mean([mask[s.gold].mean() for s, mask in zip(items, kept, strict=True) if s.gold.any()]),
        "tokens": np.mean([s.token_counts[mask].sum() for s, mask in zip(items, kept, strict=True)]),
        "f1": mean_f1(items, found.point),
    }
    for name, value in expected.items():
        assert found.promised[name] == pytest.approx(value, abs=1e-9)
    assert found.held_out is not None
    assert found.is_held
    estimate = found.held_out[target.kind]
    assert estimate.low <= estimate.value <= estimate.high
    fresh = observed(300, labels=1, seed=1)
    masks = [to_mask(s.decode(found.point), len(s.lines)) for s in fresh]
    there = {
        "compression": np.mean([1 - mask.mean() for mask in masks]),
        "recall": np.mean([mask[s.gold].mean() for s, mask in zip(fresh, masks, strict=True) if s.gold.any()]),
        "tokens": np.mean([s.token_counts[mask].sum() for s, mask in zip(fresh, masks, strict=True)]),
        "f1": mean_f1(fresh, found.point),
    }[target.kind]
    assert abs(there - estimate.value) < (2 if target.kind == "tokens" else 0.06)


def test_of_the_points_that_meet_the_target_the_best_is_taken() -> None:
    items = observed(20, labels=1)
    point = Tuner(items).choose(Target("recall", 0.9))
    assert point is not None
    best = -1.0
    for relative in (False, True):
        for bias in np.arange(-6, 4, 0.5):
            tried = OperatingPoint(float(bias), 0.5, 0.0, relative)
            masks = [to_mask(s.decode(tried), len(s.lines)) for s in items]
            recall = np.mean([mask[s.gold].mean() for s, mask in zip(items, masks, strict=True) if s.gold.any()])
            if recall >= 0.9:
                best = max(best, float(np.mean([1 - mask.mean() for mask in masks])))
    masks = [to_mask(s.decode(point), len(s.lines)) for s in items]
    assert np.mean([1 - mask.mean() for mask in masks]) >= best


def test_without_labels_only_the_bias_moves() -> None:
    items = [replace(s, gold=np.zeros(len(s.lines), np.bool_)) for s in observed(20)]
    base = OperatingPoint(0.0, 0.75, 0.3, True)
    found = tune(items, Target("compression", 0.8), base=base)
    assert replace(found.point, bias=0.0) == base
    assert found.negatives is None
    assert found.promised["compression"] >= 0.8
    wider = replace(found.point, bias=found.point.bias - 0.5)
    assert np.mean([1 - to_mask(s.decode(wider), len(s.lines)).mean() for s in items]) < 0.8
    with pytest.raises(LineclsError, match="needs records with gold"):
        tune(items, Target("recall", 0.9))


def test_a_target_out_of_reach_says_how_far_it_goes() -> None:
    items = [replace(s, gold=np.zeros(len(s.lines), np.bool_)) for s in observed(10)]
    with pytest.raises(
        LineclsError, match=r"compression=0\.99 cannot be reached: the highest compression here is 0\.9"
    ):
        tune(items, Target("compression", 0.99), base=OperatingPoint(-1.0, relative=True))
    with pytest.raises(LineclsError, match=r"tokens=0\.5 cannot be reached: the lowest number of kept tokens here is"):
        tune(items, Target("tokens", 0.5), base=OperatingPoint(-1.0, relative=True))
    with pytest.raises(LineclsError, match="no records"):
        tune([], Target("f1"))


def test_a_missed_target_is_raised_until_it_holds() -> None:
    """Few observations and much noise: what is just met on some is missed on the others."""
    items = observed(12, noise=3.0, labels=1)
    found = tune(items, Target("recall", 0.9), folds=4)
    assert found.held_out is not None
    assert found.is_held
    assert found.promised["recall"] >= 0.9
    plain = Tuner(items).choose(Target("recall", 0.9))
    assert plain is not None
    assert found.promised["compression"] <= np.mean([1 - to_mask(s.decode(plain), len(s.lines)).mean() for s in items])


def test_labels_of_one_observation_share_a_fold_and_one_observation_has_none() -> None:
    groups = np.repeat(np.arange(9), [5, 1, 1, 3, 2, 2, 4, 1, 1])
    fold = _folds(groups, 4, 0)
    assert all(len(set(fold[groups == group].tolist())) == 1 for group in range(9))
    assert set(fold.tolist()) == {0, 1, 2, 3}
    alone = tune(observed(2)[3:], Target("recall", 0.9))
    assert alone.observations == 1
    assert alone.held_out is None
    assert alone.is_held


def test_gold_in_one_observation_only_leaves_nothing_to_hold_out() -> None:
    items = [scored(1), *(scored(seed, gold=False) for seed in range(2, 8))]
    items = [replace(s, lines=[f"{n} {line}" for line in s.lines]) for n, s in enumerate(items)]
    assert tune(items, Target("recall", 0.9)).held_out is None
    held = tune(items, Target("compression", 0.9)).held_out
    assert held is not None
    assert held["recall"].records == 1


def test_a_default_point_that_answers_nothing_is_named() -> None:
    items = [replace(s, gold=np.zeros(len(s.lines), np.bool_)) for s in observed(3)]
    with pytest.raises(LineclsError, match="leaves every record without an answer"):
        tune(items, Target("compression", 0.5), base=OperatingPoint(-1.0, 0.0, 1.0, True))


def test_an_empty_observation_is_no_trouble() -> None:
    nothing = Scored([], np.zeros(0, np.bool_), np.zeros(0, np.float32), 0.0)
    found = tune([nothing, *observed(12, labels=1)], Target("f1"))
    assert found.records == 13


def test_intervals_resample_observations() -> None:
    """Three equal labels of each observation say no more than one."""
    once, thrice = observed(25, labels=1), observed(25, labels=3)
    widths = []
    for items in (once, thrice):
        held = tune(items, Target("f1")).held_out
        assert held is not None
        widths.append(held["f1"].high - held["f1"].low)
    assert widths[1] == pytest.approx(widths[0], rel=0.35)


@pytest.mark.parametrize(
    ("text", "is_labelled"),
    [(text, True) for text in ("compression=0.8", "recall=0.9", "f1", "tokens=30")]
    + [(text, False) for text in ("compression=0.8", "tokens=30")],
)
def test_the_plot_shows_promise_and_target(text, is_labelled, tmp_path, monkeypatch) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    target = Target.parse(text)
    items = observed(12)
    if not is_labelled:
        items = [replace(item, gold=np.zeros_like(item.gold)) for item in items]
    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    assert tuning_report.plot(tune(items, target), tmp_path / "tuning.png")
    (axes,) = drawn[0].axes
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    labels = [entry.get_text() for entry in axes.get_legend().get_texts()]
    by_tokens = not is_labelled or target.kind == "tokens"
    assert ("tokens kept of an observation" in labels) == by_tokens
    assert ("target" in labels) == (text != "f1")


def test_the_report_says_it_all(tmp_path) -> None:
    found = tune(observed(20), Target("recall", 0.9))
    paths = tuning_report.write(found, tmp_path, [{"name": "dev.jsonl", "sha256": "ab"}])
    assert {"tuning.json", "tuning.md"} <= {path.name for path in paths}
    values = json.loads((tmp_path / "tuning.json").read_text())
    assert OperatingPoint(**values["operating_point"]) == found.point
    assert values["held_out"]["recall"]["low"] <= values["held_out"]["recall"]["high"]
    assert values["negatives"] == 6
    compressions = [row["compression"] for row in values["curve"]]
    assert compressions == sorted(compressions, reverse=True)
    assert len(compressions) <= 200
    text = tuning_report.to_text(found)
    assert "60 records (6 negatives) on 20 observations, 5 folds" in text
    assert "held out" in text
    assert "* " in text
