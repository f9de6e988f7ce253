"""`linecls eval` when a generative system cannot go on: one clear line, and what is finished is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from test_generative import Server, chat, copy_line, server, waits  # noqa: F401  (fixtures)

from linecls.cli import main
from linecls.records import Record, write_records
from linecls.spans import Span

LINES = ["starting the build", "error: disk is full", "done in 3 s"]


@pytest.fixture
def records(tmp_path: Path) -> Path:
    made = [
        Record(
            instance_id=f"r{i}",
            query=f"what failed in run {i}",
            tool_output=f"run {i}\n" + "\n".join(LINES) + "\n",
            gold_spans=[Span(3, 3)],
        )
        for i in range(6)
    ]
    write_records(tmp_path / "cases.jsonl", made)
    return tmp_path / "cases.jsonl"


def run(records: Path, server: Server, *arguments: str, systems: str = "first,generative") -> Result:  # noqa: F811
    folder = records.parent
    options = ["--system", systems, "--endpoint", server.url, "--endpoint-model", "tiny", "--concurrency", "1"]
    options += ["--cache", str(folder / "cache"), "--report", str(folder / "report"), "--bootstrap", "20"]
    return CliRunner().invoke(main, ["eval", str(records), *options, *arguments])


def after(count: int, failure: tuple[int, Any, dict[str, str]]) -> Any:
    """Answers that are right for `count` requests, and `failure` from then on."""
    right, seen = copy_line(3), []

    def answer(path: str, body: Any) -> tuple[int, Any, dict[str, str]]:
        seen.append(path)
        return right(path, body) if len(seen) <= count else failure

    return answer


SLOW = {"error": {"message": "slow down"}}
BROKEN = [
    ((401, {"error": {"message": "Incorrect API key"}}, {}), "refused with status 401; it wants an API key"),
    ((429, SLOW, {"Retry-After": "3600"}), "the rate limit is reached and it asks to wait"),
    ((429, SLOW, {"Retry-After": "1"}), "the rate limit is reached: slow down after 6 tries"),
    ((200, {"hello": "world"}, {}), "the answer is no chat completion"),
    ((200, b"<html>welcome</html>", {}), "something that is no JSON object"),
    ((503, {}, {}), "failed with status 503 after 6 tries"),
    ((404, {"error": "no such model"}, {}), "the path or the model's name is wrong: no such model"),
]


@pytest.mark.parametrize(("failure", "message"), BROKEN, ids=[message[:32] for _, message in BROKEN])
def test_the_others_are_reported_and_the_run_goes_on_later(records, server, waits, failure, message) -> None:  # noqa: F811
    server.answers = after(4, failure)
    broken = run(records, server)
    assert broken.exit_code == 2
    said = [line for line in broken.stderr.splitlines() if not line.startswith("wrote ")]
    assert len(said) == 1
    assert said[0].startswith("linecls: generative: ")
    assert message in said[0]
    assert "finished answers are kept, so run it again to go on" in said[0]
    report = records.parent / "report"
    values = json.loads((report / "report.json").read_text())
    assert list(values["systems"]) == ["first"]
    assert message in values["about"]["failed"]["generative"]
    for name in ("report.md", "report.html"):
        assert "could not be run to its end and is left out" in (report / name).read_text()
    assert "first" in broken.stdout

    asked = len(server.requests)
    server.answers = copy_line(3)
    whole = run(records, server)
    assert whole.exit_code == 0
    assert len(server.requests) == asked + 2  # four were answered before
    values = json.loads((report / "report.json").read_text())
    assert values["about"]["failed"] == {}
    assert values["systems"]["generative"]["overall"]["squeez.span_f1"]["value"] == 1.0
    assert values["systems"]["generative"]["timing"]["cached"] == 4


def test_a_server_that_goes_down_on_the_way(records, server, waits) -> None:  # noqa: F811
    right = copy_line(3)

    def answer(path: str, body: Any) -> tuple[int, Any, dict[str, str]]:
        if len(server.requests) == 3:
            server._http.socket.close()
        return right(path, body)

    server.answers = answer
    broken = run(records, server, systems="generative,last")
    assert broken.exit_code == 2
    assert "cannot be reached" in broken.stderr or "broke the connection" in broken.stderr
    assert list(json.loads((records.parent / "report" / "report.json").read_text())["systems"]) == ["last"]


def test_a_wrong_key_is_told_from_a_missing_one(records, server, monkeypatch) -> None:  # noqa: F811
    monkeypatch.setenv("LINECLS_API_KEY", "sk-wrong")
    server.answers = after(0, (401, {}, {}))
    broken = run(records, server)
    assert "the API key is wrong or may not do this" in broken.stderr
    assert "sk-wrong" not in broken.output + (records.parent / "report" / "report.json").read_text()


def test_where_no_system_is_left_there_is_no_report(records, server) -> None:  # noqa: F811
    server.answers = after(0, (401, {}, {}))
    broken = run(records, server, "--json", systems="generative")
    assert (broken.exit_code, broken.stdout) == (2, "")
    assert broken.stderr.count("\n") == 1
    assert list((records.parent / "report").iterdir()) == []


def test_answers_cut_by_the_token_limit_are_used_and_counted(records, server) -> None:  # noqa: F811
    server.answers = lambda path, body: chat("<relevant_lines>\nerror: disk is", reason="length")
    done = run(records, server)
    assert done.exit_code == 0
    written = json.loads((records.parent / "report" / "report.json").read_text())["systems"]["generative"]["written"]
    assert (written["cut"], written["forms"], written["hallucinated"]) == (6, {"open": 6}, 0.0)
    assert "6 answers cut by the token limit" in done.stdout


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query": "q", "tool_output": "a\nb\n"}, "label"),
        ({"query": "q", "tool_output": "a\nb\n", "gold_spans": None}, "gold_spans"),
    ],
)
def test_records_without_labels_are_refused_before_anything_is_asked(records, server, row, message) -> None:  # noqa: F811
    records.write_text(json.dumps(row) + "\n")
    refused = run(records, server)
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert "cases.jsonl" in refused.stderr
    assert message in refused.stderr
    assert server.requests == []


def test_records_of_which_none_has_gold_lines_are_negatives(records, server) -> None:  # noqa: F811
    write_records(records, [Record(query="who logged in", tool_output="a\nb\n", gold_spans=[])])
    server.answers = lambda path, body: chat("Nobody logged in.")
    done = run(records, server)
    assert done.exit_code == 0
    values = json.loads((records.parent / "report" / "report.json").read_text())
    assert values["systems"]["generative"]["written"]["explained"] == 1.0
    assert values["systems"]["first"]["overall"]["pruning.recall_at_90"]["value"] is None
    assert "| nan" not in (records.parent / "report" / "report.md").read_text()
