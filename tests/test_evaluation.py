from __future__ import annotations

import hashlib
import io
import json
import math
import re
import sys

import pytest
from click.testing import CliRunner

from linecls.cli import main
from linecls.evaluation import PUBLISHED, Report, evaluate, length_bucket
from linecls.records import Record, write_records
from linecls.spans import Span
from linecls.systems import HEURISTICS, Selection, create
from linecls.systems.base import OneByOne


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
        assert titles[:4] == [
            "Squeez line metrics",
            "Scoring-recipe metrics (whitespace tokens)",
            "Pruning metrics",
            "Published figures",
        ]
        assert titles[-1] == "Provenance"
        for block in text.split("\n\n"):
            if block.startswith("|"):
                assert len({row.count("|") for row in block.splitlines()}) == 1

    def test_published_figures_only_when_asked_for(self, records) -> None:
        bare = evaluate(records, [create("first")], bootstrap=0)
        assert "Squeez-2B" not in bare.to_markdown() + bare.to_text() + bare.to_json()

    def test_writes_its_files(self, report, records, tmp_path) -> None:
        paths = report.write(tmp_path / "new" / "folder")
        assert [p.name for p in paths][:3] == ["report.json", "report.md", "predictions.jsonl"]
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

    def test_several_files_add_up(self, record_file) -> None:
        done = self.run(record_file, record_file, "--system", "first", "--bootstrap", 0, "--json")
        assert json.loads(done.stdout)["about"]["records"] == 24

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
                assert (advance is not None) == looked_at
                for name in ("first", "first", "last", "last") if advance else ():
                    advance(name)
            assert ("100%" in stream.getvalue()) == ("last" in stream.getvalue()) == looked_at

    def test_help_teaches(self) -> None:
        done = self.run("--help")
        for word in ("Examples:", "similarity", "--published", "Exit status:"):
            assert word in done.stdout
