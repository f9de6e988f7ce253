from __future__ import annotations

import json
import math
import statistics
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls import metrics
from linecls.observation import split_lines
from linecls.spans import Span, from_mask, to_mask

# Few distinct lines, so that they repeat, contain one another, differ in indent only, or are blank.
LINE = st.one_of(
    st.sampled_from(["", "  ", "ok", "  ok", "ok ok", "error: bad", "\terror: bad  ", "a", "ab", "abc d", "é\r"]),
    st.text(alphabet="ab é\t", max_size=8),
)
STRIPPED = st.lists(LINE.map(str.strip).filter(bool), max_size=8)


@st.composite
def labelled(draw: st.DrawFn) -> tuple[str, list[Span], list[Span]]:
    """An observation with gold and predicted spans."""
    lines = draw(st.lists(LINE, max_size=12))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n"]))
    total = len(split_lines(text))
    masks = [draw(st.lists(st.booleans(), min_size=total, max_size=total)) for _ in range(2)]
    return text, from_mask(masks[0]), from_mask(masks[1])


def longest_common(left: list[str], right: list[str]) -> int:
    """The textbook recursion, row by row."""
    row = [0] * (len(right) + 1)
    for a in left:
        before = row
        row = [0]
        for j, b in enumerate(right):
            row.append(before[j] + 1 if a == b else max(before[j + 1], row[j]))
    return row[-1]


# --- beside the released package ----------------------------------------------------------------------


class TestBesideSqueez:
    @given(STRIPPED, STRIPPED, st.text(alphabet="ab\n", max_size=30))
    @settings(max_examples=300, deadline=None)
    def test_each_metric_to_the_last_digit(self, predicted: list[str], reference: list[str], text: str) -> None:
        self.compare(predicted, reference, text)

    @given(st.lists(LINE, max_size=6), st.lists(LINE, max_size=6))
    @settings(max_examples=200, deadline=None)
    def test_unstripped_and_blank_reference_lines_too(self, predicted: list[str], reference: list[str]) -> None:
        self.compare([line.strip() for line in predicted if line.strip()], reference, "a\nb\n")

    @given(st.lists(st.text(max_size=20).filter(str.strip), max_size=5), st.integers(0, 2**32 - 1))
    @settings(max_examples=100, deadline=None)
    def test_any_text(self, reference: list[str], seed: int) -> None:
        chance = np.random.default_rng(seed)
        predicted = [line[int(chance.integers(0, 3)) :] + "x" * int(chance.integers(0, 3)) for line in reference]
        self.compare(predicted, reference, "\n".join(reference))

    def compare(self, predicted: list[str], reference: list[str], text: str) -> None:
        theirs = pytest.importorskip("squeez.training.evaluate")
        ours = metrics.squeez_rounded(metrics.squeez_metrics(predicted, reference, text))
        lines = theirs.compute_span_metrics(predicted, reference)
        fuzzy = theirs.compute_fuzzy_span_metrics(predicted, reference)
        empty = theirs.compute_empty_accuracy(predicted, reference)
        joined = "\n".join(predicted)
        assert ours == {
            "span_precision": lines["precision"],
            "span_recall": lines["recall"],
            "span_f1": lines["f1"],
            "exact_match": lines["exact_match"],
            "fuzzy_span_precision": fuzzy["precision"],
            "fuzzy_span_recall": fuzzy["recall"],
            "fuzzy_span_f1": fuzzy["f1"],
            "partial_overlap": theirs.compute_partial_overlap(predicted, reference),
            "empty_accuracy": empty["correct"],
            "rouge_l": theirs.compute_rouge_l(joined, "\n".join(reference)),
            "compression": theirs.compute_compression_ratio(text, joined),
        }
        assert metrics.empty_category(predicted, reference) == empty["category"]

    @pytest.mark.parametrize("form", ["chatml", "canonical"])
    def test_whole_run_of_its_generative_evaluator(self, form, tmp_path, monkeypatch) -> None:
        theirs = pytest.importorskip("squeez.training.evaluate")
        extractor = pytest.importorskip("squeez.inference.extractor")
        cases = real_cases()
        answers = {f"query {i}": "\n".join(metrics.line_texts(t, p)) for i, (t, _, p) in enumerate(cases)}

        class Recorded:
            def __init__(self, **_: object) -> None: ...

            def extract(self, task: str, **_: object) -> str:
                return f"<relevant_lines>\n{answers[task]}\n</relevant_lines>"

        monkeypatch.setattr(extractor, "ToolOutputExtractor", Recorded)
        rows, categories, file = [], [], tmp_path / "test.jsonl"
        with file.open("w") as stream:
            for i, (text, gold, predicted) in enumerate(cases):
                reference = metrics.line_texts(text, gold)
                row: dict[str, object] = {
                    "prompt": f"<query>\nquery {i}\n</query>\n<tool_output>\n{text}\n</tool_output>",
                    "response": "<relevant_lines>\n" + "\n".join(reference) + "\n</relevant_lines>",
                }
                if form == "canonical":
                    reference = metrics.canonical_reference(text, gold)
                    spans = [{"start_line": a, "end_line": b} for a, b in gold]
                    row = {"query": f"query {i}", "tool_output": text, "gold_spans": spans}
                stream.write(json.dumps(row) + "\n")
                kept = metrics.line_texts(text, predicted)
                rows.append(metrics.squeez_metrics(kept, reference, text))
                categories.append(metrics.empty_category(kept, reference))
        result = theirs.evaluate_model(model_path="recorded", eval_file=str(file))
        assert result.pop("num_errors") == 0
        assert metrics.squeez_summary(rows, categories) == result

    def test_whole_run_of_its_encoder_evaluator(self, tmp_path, monkeypatch) -> None:
        theirs = pytest.importorskip("squeez.encoder.evaluate")
        cases = real_cases()
        kept = {f"query {i}": metrics.line_texts(t, p) for i, (t, _, p) in enumerate(cases)}

        class Recorded:
            def extract(self, task: str, **_: object) -> list[str]:
                return kept[task]

        monkeypatch.setattr(theirs, "_load_model_and_tokenizer", lambda path: (Recorded(), None, "pooled"))
        rows, categories, file = [], [], tmp_path / "test.jsonl"
        with file.open("w") as stream:
            for i, (text, gold, _) in enumerate(cases):
                reference = metrics.line_texts(text, gold)
                row = {"task": f"query {i}", "tool_output": text, "relevant_lines": reference}
                stream.write(json.dumps(row) + "\n")
                rows.append(metrics.squeez_metrics(kept[f"query {i}"], reference, text))
                categories.append(metrics.empty_category(kept[f"query {i}"], reference))
        result = theirs.evaluate_encoder("recorded", str(file))
        assert (result.pop("model_type"), result.pop("threshold")) == ("pooled", 0.5)
        assert metrics.squeez_summary(rows, categories) == result


def real_cases() -> list[tuple[str, list[Span], list[Span]]]:
    """Predictions as systems give them (too much, too little, shifted, none, all) on a build log of ours."""
    log = [f"[{i:3}/120] compiling module_{i % 7}.c" for i in range(1, 41)]
    log[11:14] = [
        "    module_4.c: In function 'open_store':",
        "    module_4.c:88:9: error: 'fd' undeclared",
        "",
    ]
    log += ["  make: *** [all] Error 1", "  make: *** [all] Error 1", "finished in 3.2s"]
    text = "\n".join(log)
    golds = [[Span(12, 13)], [Span(41, 42)], [], [Span(12, 14), Span(43, 43)]]
    predictions = [
        [Span(12, 13)],
        [Span(13, 16)],
        [Span(1, 4), Span(41, 41)],
        [],
        [Span(1, len(log))],
        [Span(14, 14)],
        [Span(12, 13), Span(42, 43)],
    ]
    return [(text, gold, predicted) for gold in golds for predicted in predictions]


# --- identities -----------------------------------------------------------------------------------------


@given(labelled())
def test_shares_lie_in_the_unit_interval_and_f1_between_precision_and_recall(case) -> None:
    row = metrics.score_record(*case)
    for name, value in row.items():
        if not name.startswith("count.") and name != "recipe.compression" and not math.isnan(value):
            assert -1e-12 <= value <= 1 + 1e-12 or name == "squeez.compression", name
    for family, f1 in (("squeez.span_", "f1"), ("squeez.fuzzy_span_", "f1"), ("recipe.", "f1")):
        low, high = sorted((row[family + "precision"], row[family + "recall"]))
        assert low - 1e-12 <= row[family + f1] <= high + 1e-12


@given(labelled())
def test_a_perfect_prediction_is_perfect(case) -> None:
    text, gold, _ = case
    row = metrics.score_record(text, gold, gold)
    for name in (
        "span_precision",
        "span_recall",
        "span_f1",
        "exact_match",
        "fuzzy_span_f1",
        "rouge_l_corrected",
    ):
        assert row[f"squeez.{name}"] == 1.0
    assert row["squeez.partial_overlap"] == 1.0
    assert [row[f"recipe.{name}"] for name in ("exact", "precision", "recall", "f1", "strict_f1")] == [1.0] * 5
    assert row["recipe.compression"] == 0.0
    assert row["pruning.gold_error_lines_lost"] == 0.0 or math.isnan(row["pruning.gold_error_lines_lost"])


@given(labelled())
def test_swapping_gold_and_prediction_swaps_precision_and_recall(case) -> None:
    text, gold, predicted = case
    there, back = metrics.score_record(text, gold, predicted), metrics.score_record(text, predicted, gold)
    for family in ("squeez.span_", "recipe."):
        assert there[family + "precision"] == back[family + "recall"]
        assert there[family + "f1"] == pytest.approx(back[family + "f1"])
    assert there["recipe.strict_f1"] == pytest.approx(back["recipe.strict_f1"])


@given(labelled(), st.integers(0, 11))
def test_keeping_one_more_line_never_lowers_recall_nor_raises_compression(case, line: int) -> None:
    text, gold, predicted = case
    total = len(split_lines(text))
    if not predicted or line >= total:
        return
    less = metrics.score_record(text, gold, predicted)
    more = metrics.score_record(text, gold, [*predicted, Span(line + 1, line + 1)])
    if metrics.line_texts(text, gold):  # without gold text, saying nothing is what counts as full recall
        for name in ("recipe.recall", "pruning.line_recall", "count.line_hits"):
            assert more[name] >= less[name]
    for name in ("squeez.compression", "squeez.compression_corrected", "pruning.token_compression"):
        assert more[name] <= less[name]


@given(st.lists(st.sampled_from("abcde"), max_size=40), st.lists(st.sampled_from("abcdef"), max_size=40))
def test_rouge_l_rests_on_the_longest_common_subsequence(left: list[str], right: list[str]) -> None:
    common = longest_common(left, right)
    expected = 2 * common / (len(left) + len(right)) if left and right else 0.0
    assert metrics.rouge_l(" ".join(left), " ".join(right)) == pytest.approx(expected)


# --- definitions ----------------------------------------------------------------------------------------


def test_line_texts_are_stripped_non_blank_and_in_order() -> None:
    text = "  a\r\n\n\t \nb\na\n"
    assert metrics.line_texts(text, [(5, 9), (1, 3)]) == ["a", "a"]
    assert metrics.line_texts(split_lines(text), [(4, 4)]) == ["b"]
    assert metrics.canonical_reference(text, [(1, 2), (6, 6)]) == ["  a\r", "", ""]


def test_the_quirks_and_the_figures_without_them() -> None:
    text = "one\ntwo\nthree\nfour\n"
    nothing = metrics.score_record(text, [], [])
    assert nothing["squeez.compression"] == pytest.approx(1 - 1 / 5)
    assert nothing["squeez.compression_corrected"] == 1.0
    assert (nothing["squeez.rouge_l"], nothing["squeez.rouge_l_corrected"]) == (0.0, 1.0)
    one = metrics.score_record(text, [(1, 1)], [(1, 1)])
    assert one["squeez.compression"] == pytest.approx(0.8)
    assert one["squeez.compression_corrected"] == 0.75
    assert metrics.score_record("", [], [])["squeez.compression_corrected"] == 0.0


def test_duplicate_lines_count_once_as_sets_and_each_by_position() -> None:
    row = metrics.score_record("same\nsame\nother\n", [(1, 2)], [(2, 2)])
    assert row["squeez.span_recall"] == 1.0
    assert row["pruning.line_recall"] == 0.5
    assert row["recipe.recall"] == 0.5


def test_recipe_by_hand() -> None:
    text = "a b b\nb c\nd\n"
    row = metrics.recipe_metrics(text, [(1, 1)], [(1, 2)])
    assert row == pytest.approx(
        {"exact": 0, "precision": 3 / 5, "recall": 1, "f1": 0.75, "compression": 1 - 5 / 3, "strict_f1": 0}
    )
    assert metrics.recipe_metrics(text, [(1, 1), (3, 3)], [(3, 3)])["strict_f1"] == pytest.approx(2 / 3)


def test_recipe_on_empty_sides() -> None:
    text = "a\nb\n"
    assert set(metrics.recipe_metrics(text, [], []).values()) == {1.0, 0.0}
    assert metrics.recipe_metrics(text, [], [])["compression"] == 0.0
    assert math.isnan(metrics.recipe_metrics(text, [], [(1, 1)])["compression"])
    assert metrics.recipe_metrics(text, [(1, 1)], []) == pytest.approx(
        {"exact": 0, "precision": 0, "recall": 0, "f1": 0, "compression": 1, "strict_f1": 0}
    )


def test_fuzzy_matching_is_one_to_one_and_at_half_overlap() -> None:
    assert metrics.fuzzy_overlap(["abcd", "abcd"], ["abcd"]).f1 == pytest.approx(2 / 3)
    assert metrics.fuzzy_overlap(["ab"], ["abcd"]).f1 == 1.0  # contained: 2 / 4
    assert metrics.fuzzy_overlap(["ab"], ["abcde"]).f1 == 0.0  # 2 / 5
    assert metrics.fuzzy_overlap(["ab"], ["abcde"], threshold=0.4).f1 == 1.0


class TestRecallAtCompression:
    def test_by_hand(self) -> None:
        logits = [0.0, 5.0, 1.0, 1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]
        assert metrics.recall_at_compression(logits, [(2, 3)], 0.9) == 0.5
        assert metrics.recall_at_compression(logits, [(2, 3)], 0.8) == 1.0
        assert metrics.recall_at_compression(logits, [(4, 4)], 0.8) == 0.0  # a tie goes to the earlier line
        assert metrics.recall_at_compression(logits, [(1, 10)], 0.5) == 0.5

    def test_one_line_always_stays(self) -> None:
        assert metrics.recall_at_compression([1.0, 2.0], [(2, 2)], 1.0) == 1.0

    def test_undefined_without_gold(self) -> None:
        assert math.isnan(metrics.recall_at_compression([1.0, 2.0], [], 0.5))
        assert math.isnan(metrics.recall_at_compression([], [(1, 1)], 0.5))

    def test_not_a_number_ranks_last(self) -> None:
        assert metrics.recall_at_compression([math.nan, -9.0], [(2, 2)], 0.5) == 1.0

    def test_refuses_a_percentage(self) -> None:
        with pytest.raises(ValueError, match="between 0 and 1"):
            metrics.recall_at_compression([1.0], [(1, 1)], 90)

    @given(labelled(), st.data())
    def test_falls_with_compression_and_is_all_without(self, case, data) -> None:
        text, gold, _ = case
        total = len(split_lines(text))
        logits = data.draw(st.lists(st.floats(-5, 5), min_size=total, max_size=total))
        if not gold:
            return
        recalls = [metrics.recall_at_compression(logits, gold, c) for c in (0.0, 0.3, 0.5, 0.7, 0.9)]
        assert recalls[0] == 1.0
        assert recalls == sorted(recalls, reverse=True)


def test_score_record_checks_the_number_of_logits() -> None:
    with pytest.raises(ValueError, match="2 lines"):
        metrics.score_record("a\nb\n", [], [], np.zeros(3))


@pytest.mark.parametrize(
    "line",
    [
        "FAILED tests/test_login.py::test_token - KeyError: 'exp'",
        "E       assert 1 == 2",
        "main.c:3:5: error: 'x' undeclared",
        "npm ERR! code ELIFECYCLE",
        "Traceback (most recent call last):",
        "java.lang.NullPointerException",
        "1 failed, 0 errors in 2.1s",
        "kernel panic - not syncing",
    ],
)
def test_error_lines(line: str) -> None:
    assert metrics.is_error_line(line)


@pytest.mark.parametrize(
    "line",
    [
        "0 errors, 3 warnings",
        "no test failures",
        "ok=4 changed=1 failed=0",
        "Errors: 0",
        "failover node",
        "mirror",
        "",
    ],
)
def test_lines_that_report_no_error(line: str) -> None:
    assert not metrics.is_error_line(line)


def test_lost_error_lines_are_counted() -> None:
    text = "start\nerror: a\nerror: b\ndone\n"
    row = metrics.score_record(text, [(2, 2)], [(3, 4)])
    assert row["pruning.error_lines_lost"] == 0.5
    assert row["pruning.gold_error_lines_lost"] == 1.0
    assert math.isnan(metrics.score_record("fine\n", [], [])["pruning.error_lines_lost"])


def test_empty_answers_are_right_on_negatives_and_wrong_on_positives() -> None:
    rows = [metrics.score_record("a\nb\n", gold, kept) for gold in ([], [(1, 1)]) for kept in ([], [(2, 2)])]
    assert [row["pruning.true_negative_empty"] for row in rows[:2]] == [1.0, 0.0]
    assert [row["pruning.positive_empty"] for row in rows[2:]] == [1.0, 0.0]
    averages = metrics.aggregate(rows)
    assert averages["pruning.true_negative_empty"][0::3] == (0.5, 2)
    assert averages["pruning.positive_empty"][0::3] == (0.5, 2)
    assert Counter(name for row in rows for name in metrics.CONFUSION if row[f"count.{name}"]) == dict.fromkeys(
        metrics.CONFUSION, 1
    )


# --- averages and intervals -----------------------------------------------------------------------------


@given(st.lists(labelled(), min_size=1, max_size=6))
@settings(max_examples=50, deadline=None)
def test_macro_averages_are_means_of_unrounded_records(cases) -> None:
    rows = [metrics.score_record(*case) for case in cases]
    averages = metrics.aggregate(rows)
    for name in ("squeez.span_f1", "squeez.compression", "recipe.f1", "pruning.line_recall"):
        defined = [row[name] for row in rows if not math.isnan(row[name])]
        assert averages[name].records == len(defined)
        if defined:
            assert averages[name].value == pytest.approx(statistics.mean(defined))
        else:
            assert math.isnan(averages[name].value)


def test_micro_averages_pool_the_counts() -> None:
    rows = [
        metrics.score_record("a\nb\nc\nd\n", [(1, 1)], [(1, 2)]),
        metrics.score_record("\n".join("abcdefgh"), [(1, 6)], [(1, 1)]),
    ]
    averages = metrics.aggregate(rows)
    assert averages["micro.precision"].value == pytest.approx(2 / 3)
    assert averages["micro.recall"].value == pytest.approx(2 / 7)
    assert averages["micro.f1"].value == pytest.approx(2 * 2 / (3 + 7))
    assert averages["micro.compression"].value == pytest.approx(1 - 3 / 12)
    assert averages["micro.recipe_compression"].value == pytest.approx(1 - 3 / 7)


def test_no_records_have_no_averages() -> None:
    assert metrics.aggregate([]) == {}


def test_intervals_hold_the_mean_and_come_again_with_the_seed() -> None:
    chance = np.random.default_rng(5)
    cases = [from_mask(chance.random(20) < 0.3) for _ in range(120)]
    text = "\n".join(f"line {i}" for i in range(20))
    rows = [metrics.score_record(text, gold, cases[i - 1]) for i, gold in enumerate(cases)]
    first = metrics.aggregate(rows, bootstrap=400, seed=3)
    again = metrics.aggregate(rows, bootstrap=400, seed=3)
    other = metrics.aggregate(rows, bootstrap=400, seed=4)
    for name in ("squeez.span_f1", "micro.f1", "recipe.f1"):
        assert first[name].low < first[name].value < first[name].high
    # NaN differs from itself, so the pairs are compared as text.
    assert str(first) == str(again)
    assert first["squeez.span_f1"].low != other["squeez.span_f1"].low


def test_intervals_draw_whole_observations() -> None:
    """Ten queries on one observation that fail together are one piece of evidence, not ten."""
    chance = np.random.default_rng(2)
    text = "\n".join(f"line {i}" for i in range(10))
    right = np.repeat(chance.random(40) < 0.5, 10)
    rows = [metrics.score_record(text, [Span(1, 1)], [Span(1, 1) if hit else Span(9, 9)]) for hit in right]
    owners = [i // 10 for i in range(400)]
    alone = metrics.aggregate(rows, bootstrap=1000)["squeez.span_f1"]
    together = metrics.aggregate(rows, observations=owners, bootstrap=1000)["squeez.span_f1"]
    assert together.value == alone.value == right.mean()
    theory = 2 * 1.96 * right.std() / math.sqrt(40)
    assert together.high - together.low == pytest.approx(theory, rel=0.1)
    assert alone.high - alone.low == pytest.approx(theory / math.sqrt(10), rel=0.1)


def test_one_observation_has_no_interval() -> None:
    rows = [metrics.score_record("a\nb", [Span(1, 1)], [Span(i, i)]) for i in (1, 2)]
    found = metrics.aggregate(rows, observations=["x", "x"], bootstrap=50)
    assert math.isnan(found["squeez.span_f1"].low)
    assert math.isnan(found["micro.f1"].high)
    negative = metrics.score_record("a\nb", [], [])
    mixed = metrics.aggregate([*rows, negative], observations=["x", "x", "y"], bootstrap=50)
    assert math.isnan(mixed["pruning.line_recall"].low)  # defined on x alone
    assert not math.isnan(mixed["squeez.span_f1"].low)
    with pytest.raises(ValueError, match="1 observations for 2 rows"):
        metrics.aggregate(rows, observations=["x"])


def test_bootstrap_interval_is_as_wide_as_theory_says() -> None:
    values = np.random.default_rng(0).normal(size=400)
    low, high = metrics.bootstrap_interval(values, resamples=2000, seed=1)
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)
    assert metrics.bootstrap_interval([math.nan, 1.0, math.nan], resamples=50) == (1.0, 1.0)
    assert all(map(math.isnan, metrics.bootstrap_interval([math.nan])))


# --- torchmetrics ---------------------------------------------------------------------------------------


class TestTorchmetrics:
    @given(st.lists(labelled(), min_size=1, max_size=5))
    @settings(max_examples=30, deadline=None)
    def test_squeez_line_metrics_are_the_pure_functions(self, cases) -> None:
        pytest.importorskip("torchmetrics")
        from linecls.training.metrics import SqueezLineMetrics

        metric = SqueezLineMetrics(full=True)
        for text, gold, predicted in cases:
            metric.update(text, gold, predicted)
        averages = metrics.aggregate([metrics.score_record(*case) for case in cases])
        names = {
            "precision": "squeez.span_precision",
            "recall": "squeez.span_recall",
            "f1": "squeez.span_f1",
            "exact_match": "squeez.exact_match",
            "empty_accuracy": "squeez.empty_accuracy",
            "compression": "squeez.compression",
            "compression_corrected": "squeez.compression_corrected",
            "true_negative_empty": "pruning.true_negative_empty",
            "positive_empty": "pruning.positive_empty",
            "fuzzy_precision": "squeez.fuzzy_span_precision",
            "fuzzy_recall": "squeez.fuzzy_span_recall",
            "fuzzy_f1": "squeez.fuzzy_span_f1",
            "partial_overlap": "squeez.partial_overlap",
            "rouge_l": "squeez.rouge_l",
            "micro_precision": "micro.precision",
            "micro_recall": "micro.recall",
            "micro_f1": "micro.f1",
        }
        computed = {name: float(value) for name, value in metric.compute().items()}
        assert computed == pytest.approx({n: averages[k].value for n, k in names.items()}, nan_ok=True)

    def test_states_of_two_processes_add_up(self) -> None:
        pytest.importorskip("torchmetrics")
        from linecls.training.metrics import RecallAtCompression, SqueezLineMetrics

        text, gold, logits = "a\nb\nc\nd\n", [Span(2, 2)], [0.0, 3.0, 1.0, 2.0]
        whole, parts = SqueezLineMetrics(), [SqueezLineMetrics(), SqueezLineMetrics()]
        for i, predicted in enumerate(([Span(2, 3)], [], [Span(1, 1)], [Span(2, 2)])):
            whole.update(text, gold, predicted)
            parts[i % 2].update(split_lines(text), gold, predicted)
        parts[0].merge_state(parts[1])
        for name, value in whole.compute().items():
            assert float(parts[0].compute()[name]) == pytest.approx(float(value), nan_ok=True)

        left, right = RecallAtCompression(), RecallAtCompression()
        left.update(text, gold, logits)
        left.update(text, [], logits)  # no gold: left out
        right.update(text, [Span(1, 2)], logits)
        left.merge_state(right)
        assert {k: float(v) for k, v in left.compute().items()} == {
            "recall_at_50": 0.75,
            "recall_at_70": 0.75,
            "recall_at_90": 0.75,
        }

    def test_recall_takes_half_precision_and_checks_the_length(self) -> None:
        torch = pytest.importorskip("torch")
        pytest.importorskip("torchmetrics")
        from linecls.training.metrics import RecallAtCompression

        metric = RecallAtCompression((0.5,))
        metric.update("a\nb\n", [Span(2, 2)], torch.tensor([0.5, 1.0], dtype=torch.bfloat16, requires_grad=True))
        assert float(metric.compute()["recall_at_50"]) == 1.0
        with pytest.raises(ValueError, match="2 lines"):
            metric.update("a\nb\n", [Span(2, 2)], torch.zeros(3))


def test_spans_past_the_end_are_clipped() -> None:
    assert metrics.score_record("a\nb\n", [(2, 9)], [(2, 2)])["recipe.strict_f1"] == 1.0
    assert to_mask([(2, 9)], 2).tolist() == [False, True]


class TestInventedLines:
    """Text that a generative system wrote and that stands nowhere in the observation."""

    TEXT = "a b\nc d\ne f\n"

    def test_counts_as_predicted_in_every_family(self) -> None:
        row = metrics.score_record(self.TEXT, [(1, 1)], [(1, 1)], invented=[" x y z "])
        assert (row["squeez.span_precision"], row["squeez.span_recall"]) == (0.5, 1.0)
        assert (row["recipe.precision"], row["recipe.recall"], row["recipe.exact"]) == (0.4, 1.0, 0.0)
        assert row["recipe.strict_f1"] == pytest.approx(2 / 3)
        assert row["squeez.compression_corrected"] == pytest.approx(1 / 3)
        assert row["pruning.token_compression"] == pytest.approx(1 / 6)
        assert (row["pruning.line_recall"], row["count.line_predicted"], row["count.lines_kept"]) == (1.0, 2.0, 2.0)

    def test_an_explanation_is_no_empty_answer(self) -> None:
        row = metrics.score_record(self.TEXT, [], [], invented=["nothing found"])
        assert (row["squeez.empty_accuracy"], row["pruning.true_negative_empty"], row["count.false_positive"]) == (
            0,
            0,
            1,
        )
        assert (row["recipe.strict_f1"], row["squeez.span_f1"]) == (0.0, 0.0)

    def test_none_changes_nothing(self) -> None:
        plain = metrics.score_record(self.TEXT, [(1, 2)], [(2, 3)])
        assert str(metrics.score_record(self.TEXT, [(1, 2)], [(2, 3)], invented=())) == str(plain)


def test_area_under_roc_counts_pairs() -> None:
    rng = np.random.default_rng(0)
    scores, gold = rng.integers(0, 5, 40).astype(float), rng.random(40) < 0.3
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[gold] for b in scores[~gold]]
    assert metrics.area_under_roc(scores, gold) == pytest.approx(np.mean(pairs))
    assert np.isnan(metrics.area_under_roc(scores, np.ones(40, bool)))
