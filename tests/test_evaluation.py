from __future__ import annotations

import hashlib
import io
import json
import math
import re
import socket
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from linecls.cli import main
from linecls.errors import LineclsError
from linecls.evaluation import COMPARED, PUBLISHED, Prices, Report, evaluate, length_bucket, position_bucket
from linecls.records import Record, write_records
from linecls.spans import Span
from linecls.systems import HEURISTICS, Selection, create
from linecls.systems.base import Generation, OneByOne


def build_log(size: int, failing: str) -> str:
    lines = [f"[{i}/{size}] compiling {name}.c" for i, name in enumerate(["alpha", "beta", "gamma"] * size, 1)][:size]
    lines[size // 2 : size // 2] = [
        f"{failing}.c: In function 'load':",
        f"{failing}.c:31:5: error: 'limit' undeclared",
    ]
    return "\n".join([*lines, "make: *** [all] Error 1", ""])


def server_log(size: int) -> str:
    lines = [f"12:00:{i % 60:02} INFO request {i} served" for i in range(size)]
    lines[size - 3] = "12:00:59 WARN pool exhausted, 40 waiting"
    return "\n".join(lines) + "\n"


def make_records() -> list[Record]:
    """Twelve labels on six outputs of our own, three of them negatives."""
    made = []
    for n, size in enumerate((20, 60, 150)):
        text, at = build_log(size, "parser"), size // 2
        spans = [(at + 1, at + 2)], [(size + 3, size + 3)]
        questions = ("which name is undeclared in parser?", spans[0]), ("how did make end?", spans[1])
        for k, (query, gold) in enumerate(questions):
            made.append(label(f"build{n}#{k}", "make", query, text, gold=gold, level="easy" if k else "semantic"))
    for n, size in enumerate((30, 90, 600)):
        text = server_log(size)
        made.append(
            label(
                f"log{n}#0",
                "logs",
                "was the pool exhausted?",
                text,
                gold=[(size - 2, size - 2)],
                level="easy",
            )
        )
        made.append(label(f"log{n}#1", "logs", "which disk is full?", text, gold=[], level="medium"))
    return made


def label(name: str, tool: str, query: str, text: str, *, gold: list[tuple[int, int]], level: str) -> Record:
    return Record(
        instance_id=name,
        source="tests",
        tool_type=tool,
        query=query,
        tool_output=text,
        gold_spans=[Span(*pair) for pair in gold],
        extra={"level": level},
    )


class Oracle(OneByOne):
    """Answers with the gold lines; gives no scores."""

    name = "oracle"

    def __init__(self, records: list[Record]) -> None:
        self.gold = {(r.query, r.tool_output): r.gold_spans for r in records}

    def select(self, query: str, observation: str) -> Selection:
        return Selection(self.gold[query, observation])


MADE_UP = ("I could not find that line.", "The build failed.")


class Writer(OneByOne):
    """Writes four lines, two of them made up; one record does not fit its context."""

    name = "writer"

    def select(self, query: str, observation: str) -> Selection:
        failed = observation.count("\n") == 600 and "disk" in query
        if failed:
            return Selection([Span(1, 600)], generation=Generation(0, 0, 0, (), "none", False, True, 0, 0, 0.0, False))
        return Selection(
            [Span(1, 2)], generation=Generation(4, 1, 1, MADE_UP, "text", False, False, 100, 10, 0.5, True)
        )


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return make_records()


@pytest.fixture(scope="module")
def report(records) -> Report:
    systems = [Oracle(records), *map(create, HEURISTICS)]
    return evaluate(records, systems, bootstrap=200, published=True)


@pytest.fixture
def record_file(records, tmp_path):
    path = tmp_path / "cases.jsonl"
    write_records(path, records)
    return path


class TestEvaluate:
    def test_the_oracle_is_perfect_and_the_heuristics_are_not(self, report) -> None:
        oracle = report["oracle"].overall
        for name in (
            "squeez.span_f1",
            "recipe.f1",
            "recipe.strict_f1",
            "micro.f1",
            "pruning.true_negative_empty",
        ):
            assert oracle[name].value == 1.0
        assert oracle["pruning.positive_empty"].value == 0.0
        for name in HEURISTICS:
            f1 = report[name].overall["squeez.span_f1"]
            assert f1.value < 0.6
            assert f1.low <= f1.value <= f1.high
            assert report[name].overall["pruning.true_negative_empty"].value == 0.0

    def test_bm25_finds_what_shares_words(self, report) -> None:
        recall = {name: report[name].overall["pruning.recall_at_90"].value for name in HEURISTICS}
        assert recall["bm25"] > max(recall["first"], recall["random"])
        assert recall["last"] > recall["first"] == 0.0

    def test_groups_partition_the_records(self, report, records) -> None:
        groups = report["bm25"].groups
        assert set(groups) == {"answer", "tool_type", "level", "lines", "position"}
        for values in groups.values():
            assert sum(group["squeez.span_f1"].records for group in values.values()) == len(records)
        assert list(groups["lines"]) == ["0-49", "50-99", "100-199", "500+"]
        assert list(groups["level"]) == ["easy", "medium", "semantic"]
        assert list(groups["position"]) == ["middle third", "last third", "none"]
        assert groups["answer"]["gold"]["squeez.span_f1"].records == 9

    def test_the_mean_over_groups_is_the_overall_mean(self, report, records) -> None:
        groups = report["last"].groups["tool_type"].values()
        total = sum(group["squeez.span_f1"].value * group["squeez.span_f1"].records for group in groups)
        assert total / len(records) == pytest.approx(report["last"].overall["squeez.span_f1"].value)

    def test_a_system_without_scores_has_no_curve_and_no_recall_at(self, report) -> None:
        assert report["oracle"].curve == []
        assert math.isnan(report["oracle"].overall["pruning.recall_at_90"].value)
        curve = dict(report["bm25"].curve)
        assert curve[0.0] == 1.0
        assert curve[0.9] == pytest.approx(report["bm25"].overall["pruning.recall_at_90"].value)
        assert curve[0.5] == pytest.approx(report["bm25"].overall["pruning.recall_at_50"].value)

    def test_squeez_summaries_of_both_references(self, report, records) -> None:
        squeez = report["oracle"].squeez
        assert squeez["stripped_reference"]["num_samples"] == len(records)
        assert squeez["stripped_reference"]["empty_confusion"]["true_negative"] == 3
        assert squeez["canonical_reference"]["span_f1"]["mean"] == 1.0  # none of our gold lines is indented

    def test_repeats_itself(self, report, records) -> None:
        again = evaluate(records, [create("bm25")], bootstrap=200)
        # NaN differs from itself, so the estimates are compared as text.
        assert str(again["bm25"].overall) == str(report["bm25"].overall)

    def test_two_runs_agree_in_all_but_times(self, report, records) -> None:
        systems = [Oracle(records), *map(create, HEURISTICS)]
        again = evaluate(records, systems, bootstrap=200, published=True)
        assert again.figures() == report.figures()
        assert again.figures_sha256() == report.figures_sha256()
        times = ("seconds", "seconds_per_observation", "timing")
        for name, system in report.to_dict()["systems"].items():
            other = again.to_dict()["systems"][name]
            assert {k: v for k, v in system.items() if k not in times} == {
                k: v for k, v in other.items() if k not in times
            }
        fewer = evaluate(records[1:], systems, bootstrap=200)
        assert fewer.figures_sha256() != report.figures_sha256()

    def test_the_first_system_is_compared_with_each_other_one(self, report) -> None:
        assert set(report.comparisons) == set(COMPARED)
        difference, adjusted = report.comparisons["squeez.span_f1"]["bm25"]
        means = [report[name].overall["squeez.span_f1"].value for name in ("oracle", "bm25")]
        assert difference.value == pytest.approx(means[0] - means[1])
        assert difference.low > 0
        assert difference.observations == 6
        assert difference.p <= adjusted <= 4 * difference.p
        # the oracle gives no scores, so there is nothing to compare by them
        assert report.comparisons["pruning.recall_at_90"]["bm25"][0].records == 0

    def test_every_bias_has_its_point(self, report) -> None:
        curves = report["bm25"].bias_curves
        assert set(curves) == {"absolute", "relative"}
        assert curves["absolute"][-1][2] == pytest.approx(1.0)
        assert max(bias for bias, _, _ in curves["relative"]) == 0.0
        assert report["oracle"].bias_curves == {}

    def test_a_table_per_file_where_there_are_several(self, report, records) -> None:
        assert "file" not in report["bm25"].groups
        origins = ["a.jsonl"] * 5 + ["b.jsonl"] * 7
        files = evaluate(records, [create("first")], bootstrap=0, origins=origins)["first"].groups["file"]
        assert [files[name]["squeez.span_f1"].records for name in ("a.jsonl", "b.jsonl")] == [5, 7]
        with pytest.raises(ValueError, match="1 origins for 12 records"):
            evaluate(records, [create("first")], origins=["a"])

    def test_what_a_writing_system_wrote(self, records) -> None:
        written = evaluate(records, [Writer(), create("first")], bootstrap=0, prices=Prices(1.0, 2.0, hour=3.6))
        found = written["writer"].written
        assert found is not None
        assert (found.lines, found.cut, found.failed, found.forms) == (11 * 4, 0, 1, {"text": 11})
        assert (found.exact, found.normalised, found.hallucinated) == (0.25, 0.25, 0.5)
        assert (found.records_hallucinated, found.explained) == (1.0, 0.0)
        assert (found.prompt_tokens, found.completion_tokens) == (100, 10)
        timing = written["writer"].timing
        assert (timing.median, timing.cached) == (0.5, 11)
        assert timing.cost == pytest.approx((1100 * 1.0 + 110 * 2.0) / 1e6 / 12 * 1000)
        first = written["first"].timing
        assert first.cost == pytest.approx(first.seconds / 12 * 1000 / 1000)  # 3.6 dollars an hour: 1 per 1,000 s
        assert written["first"].written is None
        assert evaluate(records, [create("first")], bootstrap=0)["first"].timing.cost is None

    def test_what_a_writing_system_takes_and_costs(self, records) -> None:
        """Requests at once share the time; what is elsewhere costs no hour here; its own price goes first."""

        class Busy(Writer):
            concurrency = 4

        class Elsewhere(Writer):
            name, is_here = "elsewhere", False

        class Priced(Elsewhere):
            name, token_price = "priced", (10.0, 20.0)

        found = evaluate(records, [Busy(), Elsewhere(), Priced()], bootstrap=0, prices=Prices(hour=7200.0))
        busy = found["writer"].timing
        assert busy.per_record == pytest.approx(11 * 0.5 / 4 / 12)
        assert busy.cost == pytest.approx(busy.per_record * 2 * 1000)
        assert busy.measured == 11
        assert found["elsewhere"].timing.cost is None
        assert found["priced"].timing.cost == pytest.approx((1100 * 10 + 110 * 20) / 1e6 / 12 * 1000)

    def test_a_system_that_answers_in_batches_is_timed_one_by_one(self, records) -> None:
        alone: list[str] = []

        class Batched(OneByOne):
            name, in_batches = "batched", True

            def select(self, query: str, observation: str) -> Selection:
                alone.append(query)
                return Selection([])

            def select_many(self, pairs):
                return iter([Selection([]) for _ in pairs])

        timing = evaluate(records * 10, [Batched()], bootstrap=0)["batched"].timing
        assert timing.measured == len(alone) == 40
        assert set(alone) <= {record.query for record in records}

    def test_a_system_that_fails_is_left_out_where_the_caller_wants_that(self, records) -> None:
        class Broken(OneByOne):
            name = "broken"

            def select(self, query: str, observation: str) -> Selection:
                raise LineclsError("the server is gone")

        errors: list[LineclsError] = []
        found = evaluate(records, [Broken(), create("first")], bootstrap=0, on_failure=errors.append)
        assert list(found.systems) == ["first"]
        assert found.about["failed"] == {"broken": "the server is gone"}
        assert "broken could not be run to its end and is left out: the server is gone" in found.to_text()
        assert [str(error) for error in errors] == ["the server is gone"]
        with pytest.raises(LineclsError, match="gone"):
            evaluate(records, [create("first"), Broken()], bootstrap=0)
        with pytest.raises(LineclsError, match="gone"):
            evaluate(records, [Broken()], bootstrap=0, on_failure=errors.append)

    def test_made_up_lines_are_predicted_text(self, records) -> None:
        class Explainer(OneByOne):
            name = "explainer"

            def select(self, query: str, observation: str) -> Selection:
                return Selection([], generation=Generation(2, 0, 0, MADE_UP, "text", False, False, 9, 9, 0.1, False))

        found = evaluate(records, [Explainer()], bootstrap=0)["explainer"]
        assert found.overall["pruning.true_negative_empty"].value == 0.0
        assert found.overall["pruning.positive_empty"].value == 0.0
        assert found.overall["squeez.empty_accuracy"].value == 0.75
        assert found.overall["squeez.span_f1"].value == 0.0
        assert found.squeez["stripped_reference"]["empty_confusion"]["false_positive"] == 3
        assert found.written is not None
        assert (found.written.hallucinated, found.written.explained) == (1.0, 1.0)

    def test_records_go_whole_to_a_system_that_reads_them(self, records) -> None:
        seen: list[str] = []

        class Reader(OneByOne):
            name = "reader"

            def select_records(self, given):
                for record in given:
                    seen.append(record.instance_id)
                    yield Selection([])

        evaluate(records, [Reader()], bootstrap=0)
        assert seen == [record.instance_id for record in records]

    def test_stated_probabilities_are_checked(self, records) -> None:
        class Sure(OneByOne):
            name = "sure"

            def select(self, query: str, observation: str) -> Selection:
                lines = observation.count("\n")
                return Selection([], np.zeros(lines), np.full(lines, 0.5), 0.95)

        found = evaluate(records, [Sure(), create("first")], bootstrap=0)
        calibration = found["sure"].calibration
        assert (calibration["answerable"].count, calibration["answerable"].base_rate) == (12, 0.75)
        assert calibration["answerable"].ece == pytest.approx(0.2)
        assert calibration["lines"].count == sum(r.tool_output.count("\n") for r in records)
        assert calibration["lines"].ece == pytest.approx(0.5 - calibration["lines"].base_rate)
        assert found["first"].calibration == {}

    def test_says_what_it_ran_on(self, report, records) -> None:
        about = report.about
        assert (about["records"], about["negatives"], about["observations"]) == (12, 3, 6)
        assert about["machine"]["cores"] >= 1
        assert about["machine"]["cpu"]
        assert about["commit"] is None or re.fullmatch(r"[0-9a-f]{40}(-dirty)?", about["commit"])

    def test_calls_back_after_each_record(self, records) -> None:
        seen: list[str] = []
        evaluate(records, [create("first"), create("last")], bootstrap=0, on_record=seen.append)
        assert seen == ["first"] * 12 + ["last"] * 12

    def test_without_bootstrap_there_are_no_intervals(self, records) -> None:
        bare = evaluate(records, [create("first")], bootstrap=0)
        assert math.isnan(bare["first"].overall["squeez.span_f1"].low)
        assert "±" not in bare.to_text()

    def test_refuses_nothing_to_do_and_doubles(self, records) -> None:
        with pytest.raises(ValueError, match="no records"):
            evaluate([], [create("first")])
        with pytest.raises(ValueError, match="two systems"):
            evaluate(records, [create("first"), create("first", keep=0.5)])

    @pytest.mark.parametrize(("answers", "message"), [(11, "11 of 12"), (13, "more than 12")])
    def test_refuses_a_system_that_answers_too_little_or_too_much(self, records, answers, message) -> None:
        class Unsteady(OneByOne):
            name = "unsteady"

            def select_many(self, pairs):
                list(pairs)
                return iter([Selection([])] * answers)

        with pytest.raises(ValueError, match=message):
            evaluate(records, [Unsteady()], bootstrap=0)


class TestRendering:
    def test_json_is_strict_and_undefined_is_null(self, report) -> None:
        values = json.loads(report.to_json(), parse_constant=pytest.fail)
        assert values["systems"]["oracle"]["overall"]["pruning.recall_at_90"]["value"] is None
        assert values["systems"]["oracle"]["overall"]["squeez.span_f1"]["value"] == 1.0
        assert len(values["published"]["rows"]) == len(PUBLISHED)

    def test_terminal_table(self, report) -> None:
        text = report.to_text()
        assert text.startswith("12 records (3 negatives) on 6 outputs\n")
        assert re.search(r"^oracle +1\.000 +1\.000 ±\.000", text, re.MULTILINE)
        assert re.search(r"^BM25 10 % \* +0\.128", text, re.MULTILINE)
        assert re.search(r"^make +6 +1\.000", text, re.MULTILINE)

    def test_markdown_keeps_the_families_apart(self, report) -> None:
        text = report.to_markdown()
        titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert titles[0] == "At a glance"
        assert {"Squeez line metrics", "Scoring-recipe metrics", "Pruning metrics", "Published figures"} <= set(titles)
        assert titles[-1] == "Provenance"
        for block in text.split("\n\n"):
            if block.startswith("|"):
                assert len({row.count("|") for row in block.splitlines()}) == 1

    def test_published_figures_only_when_asked_for(self, records) -> None:
        bare = evaluate(records, [create("first")], bootstrap=0)
        assert "Squeez-2B" not in bare.to_markdown() + bare.to_text() + bare.to_json()

    def test_writes_its_files(self, report, records, tmp_path) -> None:
        paths = report.write(tmp_path / "new" / "folder")
        assert [p.name for p in paths][:5] == [
            "report.json",
            "report.md",
            "predictions.jsonl",
            "report.html",
            "differences.html",
        ]
        assert all(path.is_file() for path in paths)
        rows = [json.loads(line) for line in paths[2].read_text().splitlines()]
        assert len(rows) == 5 * len(records)
        assert rows[0] == {
            "system": "oracle",
            "instance_id": "build0#0",
            "spans": [{"start_line": 11, "end_line": 12}],
        }

    def test_plots_where_matplotlib_is(self, report, tmp_path, monkeypatch) -> None:
        pytest.importorskip("matplotlib")
        assert report.plot(tmp_path / "recall.png")
        assert (tmp_path / "recall.png").read_bytes().startswith(b"\x89PNG")
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        assert not report.plot(tmp_path / "none.png")
        assert not (tmp_path / "none.png").exists()


@pytest.mark.parametrize(
    ("lines", "bucket"),
    [(0, "0-49"), (49, "0-49"), (50, "50-99"), (499, "200-499"), (500, "500+"), (10**6, "500+")],
)
def test_length_buckets(lines: int, bucket: str) -> None:
    assert length_bucket(lines) == bucket


@pytest.mark.parametrize(
    ("gold", "lines", "position"),
    [
        ([], 9, "none"),
        ([Span(1, 3)], 9, "first third"),
        ([Span(4, 4)], 9, "middle third"),
        ([Span(9, 9)], 9, "last third"),
        ([Span(1, 1), Span(9, 9)], 9, "middle third"),
        ([Span(1, 1)], 1, "middle third"),
    ],
)
def test_position_buckets(gold, lines: int, position: str) -> None:
    assert position_bucket(gold, lines) == position


class TestCommand:
    def run(self, *arguments: object):
        return CliRunner().invoke(main, ["eval", *map(str, arguments)])

    def test_prints_the_table(self, record_file) -> None:
        done = self.run(record_file, "--system", "bm25,first", "--system", "last", "--bootstrap", 50)
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith("cases.jsonl: 12 records")
        assert re.findall(r"^(bm25|first|last|random) ", done.stdout, re.MULTILINE) == [
            "bm25",
            "first",
            "last",
        ]
        assert done.stderr == ""

    def test_json_names_the_file_by_its_digest(self, record_file) -> None:
        done = self.run(record_file, "--system", "first", "--bootstrap", 0, "--json")
        about = json.loads(done.stdout)["about"]
        digest = hashlib.sha256(record_file.read_bytes()).hexdigest()
        assert about["files"] == [{"name": "cases.jsonl", "sha256": digest}]

    def test_report_folder(self, record_file, tmp_path) -> None:
        folder = tmp_path / "report"
        done = self.run(record_file, "--system", "first", "--bootstrap", 0, "--report", folder)
        assert done.exit_code == 0, done.output
        assert json.loads((folder / "report.json").read_text())["about"]["records"] == 12
        assert f"wrote {folder / 'report.md'}" in done.stderr

    def test_a_limit_is_a_seeded_sample_in_file_order(self, record_file, records, tmp_path) -> None:
        def sampled(seed: int) -> list[str]:
            folder = tmp_path / str(seed)
            self.run(record_file, "--system", "first", "--limit", 4, "--seed", seed, "--report", folder)
            lines = (folder / "predictions.jsonl").read_text().splitlines()
            return [json.loads(line)["instance_id"] for line in lines]

        order = [record.instance_id for record in records]
        one = sampled(1)
        assert len(one) == 4
        assert one == sorted(one, key=order.index)
        assert one == sampled(1)
        assert one != sampled(2)

    def test_long_outputs_can_be_left_out_and_the_report_says_so(self, record_file, records) -> None:
        longest = max(len(record.tool_output) for record in records)
        done = self.run(record_file, "--system", "first", "--max-chars", longest - 1, "--limit", 2, "--bootstrap", 0)
        assert done.exit_code == 0, done.output
        left = sum(len(record.tool_output) < longest for record in records)
        assert done.stdout.startswith("cases.jsonl: 2 records")
        assert f"only outputs of at most {longest - 1:,} characters ({left} of 12 records)" in done.stdout
        assert f"a random sample of 2 of {left}, seed 0" in done.stdout
        none = self.run(record_file, "--system", "first", "--max-chars", 1)
        assert none.exit_code == 2
        assert "raise --max-chars" in none.stderr

    def test_several_files_add_up_and_are_told_apart(self, record_file) -> None:
        done = self.run(record_file, record_file, "--system", "first", "--bootstrap", 0, "--json")
        found = json.loads(done.stdout)
        assert found["about"]["records"] == 24
        assert list(found["systems"]["first"]["groups"]["file"]) == ["cases.jsonl", "cases.jsonl #2"]

    def test_systems_from_files(self, record_file, tmp_path) -> None:
        for name, keep in (("few", 0.05), ("many", 0.5)):
            (tmp_path / f"{name}.yaml").write_text(f"system: last\nkeep: {keep}\n")
        names = ",".join(str(tmp_path / f"{name}.yaml") for name in ("few", "many"))
        done = self.run(record_file, "--system", names, "--bootstrap", 0, "--json")
        recall = {n: s["overall"]["squeez.span_recall"]["value"] for n, s in json.loads(done.stdout)["systems"].items()}
        assert recall["few"] < recall["many"]

    def test_two_of_one_name_are_told_apart_or_refused(self, record_file, tmp_path) -> None:
        from linecls.cli.evaluate import _systems

        options = {"cache": None, "endpoint": None, "endpoint_model": "m", "prompt": "squeez", "concurrency": 1}
        names = ["generative:http://127.0.0.1:1/v1", "generative:http://127.0.0.1:1/v2"]
        assert [system.name for system in _systems(names, options)] == ["generative", "generative v2"]
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "x.yaml").write_text("system: first\n")
        done = self.run(record_file, "--system", f"{tmp_path / 'a' / 'x.yaml'},{tmp_path / 'b' / 'x.yaml'}")
        assert done.exit_code == 2
        assert "two systems are called 'x'" in done.stderr

    def test_prices_make_costs(self, record_file) -> None:
        done = self.run(record_file, "--system", "first", "--bootstrap", 0, "--json", "--hour-price", 3600)
        system = json.loads(done.stdout)["systems"]["first"]
        assert system["timing"]["cost"] == pytest.approx(system["seconds"] / 12 * 1000)

    def test_a_server_that_is_down_is_one_line(self, record_file, tmp_path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        done = self.run(record_file, "--system", "generative", "--endpoint", url, "--cache", tmp_path / "cache")
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1
        assert re.match(rf"linecls: generative: {url}: cannot be reached \(.*\); start the server", done.stderr)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--system", "bm52"], "unknown system 'bm52'"),
            (["--system", ","], "at least one system"),
            (["--system", "linecls", "--model", "no/such/folder"], "no/such/folder"),
            (["--bias", "nan"], "finite"),
            (["--seed", "-1"], "negative"),
            (["--split", "test", "--system", "first"], "split"),
            (["--limit", "0"], "--limit"),
            (["--system", "generative"], "--endpoint URL"),
            (["--system", "generative", "--endpoint", "nowhere"], "no address of a server"),
            (["--system", "squeez-pooled"], "--system squeez-pooled:MODEL"),
            (["--system", "squeez-pooled:no/such/folder"], "no/such/folder holds no squeez model"),
            (["--system", "swe-pruner"], "--system swe-pruner:URL"),
            (["--system", "swe-pruner:nowhere"], "no address of a server"),
            (["--system", "bm25:x"], "unknown system 'bm25:x'"),
            (["--system", "none.yaml"], "none.yaml: cannot be read"),
            (["--system", "first", "--token-price", "1"], "two prices"),
            (["--system", "first", "--token-price", "1,nan"], "two prices"),
        ],
    )
    def test_wrong_usage_ends_with_status_2(self, record_file, arguments, message) -> None:
        done = self.run(record_file, *arguments)
        assert done.exit_code == 2
        assert message in done.stderr
        assert "Traceback" not in done.output

    def test_records_that_cannot_be_used(self, tmp_path) -> None:
        empty, broken = tmp_path / "empty.jsonl", tmp_path / "broken.jsonl"
        empty.write_text("")
        broken.write_text('{"query": "a"}\n')
        for path, message in (
            (tmp_path / "none.jsonl", "none.jsonl"),
            (empty, "no records"),
            (broken, "broken.jsonl"),
        ):
            done = self.run(path, "--system", "first")
            assert done.exit_code == 2
            assert message in done.stderr

    def test_a_report_folder_that_cannot_be_made(self, record_file) -> None:
        done = self.run(record_file, "--system", "first", "--report", record_file / "under" / "a" / "file")
        assert done.exit_code == 2
        assert "report folder" in done.stderr

    def test_a_bar_shows_where_somebody_looks(self, monkeypatch) -> None:
        from linecls.cli import evaluate as module

        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        systems = [create("first"), create("last")]
        for stream, looked_at in ((io.StringIO(), False), (Terminal(), True)):
            monkeypatch.setattr("sys.stderr", stream)
            with module._progress(systems, 2) as advance:
                for name in ("first", "first", "last", "last"):
                    advance(name)
            # Elsewhere a line now and then, on a run that lasts (tests/test_progress.py).
            assert ("100%" in stream.getvalue()) == ("last" in stream.getvalue()) == looked_at

    def test_help_teaches(self) -> None:
        done = self.run("--help")
        for word in ("Examples:", "similarity", "--published", "Exit status:"):
            assert word in done.stdout
