"""What is said of a long input, and where."""

from __future__ import annotations

import io
import json
import os
import types

import pytest
from click.testing import CliRunner

from linecls import progress
from linecls.cli import main


@pytest.fixture
def shown(monkeypatch):
    """Give a Progress, its clock and the text that it has written so far; `terminal` says what stderr is."""

    def make(terminal):
        stream = io.StringIO()
        stream.isatty = lambda: terminal  # type: ignore[method-assign]
        monkeypatch.setattr("sys.stderr", stream)
        clock = types.SimpleNamespace(now=100.0)
        monkeypatch.setattr("time.monotonic", lambda: clock.now)
        return progress.Progress(), clock, stream.getvalue

    return make


def test_a_bar_on_a_terminal_that_goes_away(shown):
    bar, clock, text = shown(terminal=True)
    bar.show(100, 2000)
    assert text() == ""
    clock.now = 103.0
    bar.show(1000, 2000)
    bar.show(1500, 2000)  # too soon after the one before
    assert text() == "\rlinecls: [##########----------] 50%, 1,000 of 2,000 lines, 0:03 left"
    clock.now = 200.0
    bar.show(1999, 2000)
    last = text().rpartition("\r")[2]
    assert last.startswith("linecls: [###################-] 100%, 1,999 of 2,000 lines, 0:00 left")
    bar.clear()
    assert text().endswith("\r" + " " * len(last.rstrip()) + "\r")


def test_of_a_long_time_to_go_a_terminal_hears_once_how_to_avoid_it(shown):
    bar, clock, text = shown(terminal=True)
    clock.now = 103.0
    bar.show(1_000, 8_000)
    clock.now = 106.0
    bar.show(1_500, 8_000)
    note, first, second = text().split("\r")[0], *text().split("\r")[1:]
    assert note == (
        "linecls: note: 1,000 of 8,000 lines are read, about 0:21 to go; --max-bytes lets a longer input through"
        " unpruned\n"
    )
    assert first.startswith("linecls: [##------------------] 12%, 1,000 of 8,000 lines, 0:21 left")
    assert second.startswith("linecls: [###-----------------] 19%, 1,500 of 8,000 lines, 0:26 left")


def test_a_bar_is_not_wider_than_the_terminal(shown, monkeypatch):
    bar, clock, text = shown(terminal=True)
    monkeypatch.setattr(progress, "_columns", lambda: 30)
    clock.now = 110.0
    bar.show(1, 2)
    assert len(text()) == 30  # with the carriage return


def test_one_line_elsewhere_that_says_how_much_is_to_do_and_how_to_limit_it(shown):
    line, clock, text = shown(terminal=False)
    clock.now = 104.0
    line.show(1_000, 120_000)
    assert text() == ""
    clock.now = 105.0
    for done in (2_000, 3_000, 120_000):
        line.show(done, 120_000)
        clock.now += 10
    line.clear()
    assert text() == (
        "linecls: note: 2,000 of 120,000 lines are read, about 4:55 to go;"
        " --max-bytes lets a longer input through unpruned\n"
    )


def test_of_long_work_a_line_now_and_then(shown):
    _, clock, text = shown(terminal=False)
    count = progress.Count(40, "answers")
    for _ in range(10):
        clock.now += 2
        count.advance(label="bm25")
    assert text() == ""
    for _ in range(10):
        clock.now += 2
        count.advance(label="bm25")
    clock.now += 100
    count.advance(20)
    assert text() == "linecls: bm25: 15 of 40 answers, about 0:50 to go\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["eval", "--system", "first,last"], "2 of 4 answers"), (["tune", "--target", "tokens=5"], "1 of 2 records are")],
)
def test_the_long_commands_say_how_far_they_are(tiny_model_dir, tmp_path, monkeypatch, arguments, says):
    monkeypatch.setattr(progress, "NOTE_SECONDS", 0.0)
    records = tmp_path / "records.jsonl"
    rows = [{"query": "which", "tool_output": f"one\ntwo {i}\n", "gold_spans": []} for i in range(2)]
    records.write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = ["--model", str(tiny_model_dir)] if arguments[0] == "tune" else []
    result = CliRunner().invoke(main, [*arguments, str(records), *model])
    assert result.exit_code == 0
    assert f"{says} " in result.stderr or f"{says}," in result.stderr


def test_quick_or_unheard_it_says_nothing(shown, monkeypatch):
    line, clock, text = shown(terminal=False)
    clock.now = 150.0
    line.show(10, 10)
    line.clear()
    assert text() == ""
    monkeypatch.setattr("sys.stderr", None)
    silent = progress.Progress()
    clock.now = 200.0
    silent.show(5, 10)
    silent.clear()


def test_columns_of_what_is_no_terminal(monkeypatch):
    with open(os.devnull) as nowhere:
        monkeypatch.setattr("sys.stderr", nowhere)
        assert progress._columns() == 80
