from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from linecls.cli import main
from linecls.cli.hook import reply_to
from linecls.observation import Observation
from linecls.serving.hooks.codex import FIRST_LINE
from linecls.serving.hooks.guarded import answer_of, read_stdin, since_start
from linecls.spans import Span
from linecls.store import Store

OUTPUT = "".join(f"request {i} took 3 ms and went well\n" for i in range(1, 101)) + "fatal: gone\n"
OPTIONS = {"min_bytes": 100, "max_bytes": 100_000, "profile": "recall", "model": None}


def an_event(agent: str, output: str = OUTPUT, **fields) -> bytes:
    response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    values = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "serve", "description": "Show request 50"},
        "tool_response": response if agent == "claude-code" else output,
        "new_field": [],
        **fields,
    }
    return json.dumps(values).encode()


@pytest.fixture
def model(monkeypatch, tmp_path):
    """A model that keeps line 50."""
    asked: list[str] = []

    def answer(query, raw, options, daemon, **loading):
        asked.append(query)
        return Observation.of(raw), [Span(50, 50)], 0.9

    monkeypatch.setattr("linecls.cli.prune.answer", answer)
    monkeypatch.setenv("LINECLS_STORE", str(tmp_path / "outputs"))
    return asked


def shown(agent: str, reply: bytes) -> str:
    values = json.loads(reply)
    if agent == "codex":
        assert values["reason"].startswith(FIRST_LINE)
        return values["reason"][len(FIRST_LINE) :]
    return values["hookSpecificOutput"]["updatedToolOutput"]["stdout"]


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_output_is_replaced(model, agent: str, tmp_path) -> None:
    text = shown(agent, reply_to(agent, an_event(agent), **OPTIONS))
    lines = text.splitlines()
    assert lines[:2] == OUTPUT.splitlines()[:2]
    assert lines[3:6] == OUTPUT.splitlines()[48:51]
    assert lines[-1] == "fatal: gone"
    assert len(text) < len(OUTPUT)
    (path,) = (tmp_path / "outputs").iterdir()
    assert f"linecls expand {path.stem}:3-48]" in lines[2]
    assert Store(tmp_path / "outputs").load(path.stem) == OUTPUT.encode()
    assert model == ["Show request 50"]
    assert reply_to(agent, an_event(agent), **OPTIONS) == reply_to(agent, an_event(agent), **OPTIONS)


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_name": "Read"},
        {"hook_event_name": "PostToolUseFailure"},
        {"tool_input": {"command": "linecls expand 3f9a2c1b", "description": "x"}},
        {"tool_input": {}},
        {"tool_response": "text in place of an object"},
        {"tool_response": {"stdout": "short"}},
        {"tool_response": {"stdout": OUTPUT * 99}},
        {"tool_response": {"stdout": OUTPUT + "\0"}},
    ],
)
def test_what_stays_as_it_is(model, fields) -> None:
    assert reply_to("claude-code", an_event("claude-code", **fields), **OPTIONS) == b""
    assert model == []


def test_an_output_that_cannot_be_stored_stays_as_it_is(model, monkeypatch, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LINECLS_STORE", str(tmp_path / "file" / "outputs"))
    assert reply_to("claude-code", an_event("claude-code"), **OPTIONS) == b""
    monkeypatch.setenv("LINECLS_STORE", "")
    assert "[linecls: 46 lines omitted]" in shown(
        "claude-code", reply_to("claude-code", an_event("claude-code"), **OPTIONS)
    )


def test_characters_that_are_none(model) -> None:
    text = shown(
        "claude-code", reply_to("claude-code", an_event("claude-code", "\ud800é\U0001f600\n" + OUTPUT), **OPTIONS)
    )
    assert text.startswith("\ud800é\U0001f600\n")


def test_a_false_marker_in_an_output_is_escaped(model) -> None:
    false = "[linecls: 7 lines omitted, linecls expand 00000000:1-7]\n"
    text = shown("claude-code", reply_to("claude-code", an_event("claude-code", false + OUTPUT), **OPTIONS))
    assert text.startswith(false.replace("[linecls", "[\\linecls"))


# The process: quick, silent and with status 0 whatever comes


def hook(*arguments: str, event: bytes, **environment: str) -> tuple[subprocess.CompletedProcess, float]:
    start = time.monotonic()
    run = subprocess.run(
        [sys.executable, "-m", "linecls", "hook", *arguments],
        input=event,
        capture_output=True,
        env={**os.environ, "LINECLS_DAEMON": "0", **environment},
        timeout=120,
        check=False,
    )
    return run, time.monotonic() - start


@pytest.mark.parametrize(
    "event", [b"", b"no json", b"{}", b'{"tool_name": "Bash"}', an_event("claude-code", tool_name="Edit"), b"\xff" * 99]
)
def test_a_bad_event_is_answered_with_silence(event: bytes) -> None:
    run, _ = hook("claude-code", event=event)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_a_model_that_is_not_there(tmp_path) -> None:
    run, _ = hook("claude-code", "--deadline", "60", "--model", str(tmp_path / "none"), event=an_event("claude-code"))
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_a_reader_that_is_not_there() -> None:
    command = f'"{sys.executable}" -m linecls hook codex >&-'
    run = subprocess.run(command, shell=True, input=an_event("codex"), capture_output=True, timeout=120, check=False)
    assert (run.returncode, run.stderr) == (0, b"")


def test_the_deadline_holds_when_the_event_does_not_end() -> None:
    start = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "linecls", "hook", "claude-code", "--deadline", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        run.stdin.write(b'{"tool_name": ')
        run.stdin.flush()
        assert run.wait(60) == 0
        assert time.monotonic() - start < 30
        assert (run.stdout.read(), run.stderr.read()) == (b"", b"")
        run.stdin.close()


@pytest.mark.parametrize("arguments", [["emacs"], [], ["codex", "--deadline", "nan"], ["codex", "--bogus"]])
def test_wrong_usage_is_told_and_does_not_fail_the_agent(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, ["hook", *arguments])
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Usage:" in result.stderr


# The guard


def soon(seconds: float = 20.0) -> float:
    return time.monotonic() + seconds


def test_the_guard_returns_what_the_work_returns() -> None:
    assert answer_of(lambda: b"x" * 300_000, soon()) == b"x" * 300_000
    assert answer_of(lambda: b"", soon()) == b""


def test_the_guard_survives_everything() -> None:
    def noisy() -> bytes:
        os.write(1, b"noise")
        print("noise", file=sys.stderr)
        return b"reply"

    def crash() -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return b"dead"

    def half() -> bytes:
        raise SystemExit(0)

    assert answer_of(noisy, soon()) == b"reply"
    assert answer_of(lambda: b"%d" % (1 // 0), soon()) == b""
    assert answer_of(crash, soon()) == b""
    assert answer_of(half, soon()) == b""


def test_the_guard_waits_for_nothing_that_holds_the_interpreter() -> None:
    def hold() -> bytes:
        pattern = __import__("re").compile("(a+)+$")  # never lets go of the interpreter's lock
        pattern.match("a" * 60 + "b")
        return b"late"

    start = time.monotonic()
    assert answer_of(hold, soon(0.5)) == b""
    assert time.monotonic() - start < 10
    assert answer_of(lambda: b"late", time.monotonic() - 1) == b""


def test_standard_input_has_a_limit(monkeypatch) -> None:
    def reading(data: bytes, limit: int) -> bytes | None:
        source, sink = os.pipe()
        os.write(sink, data)
        os.close(sink)
        with open(source) as file:
            monkeypatch.setattr("linecls.serving.hooks.guarded.sys.stdin", file)
            return read_stdin(limit, soon())

    assert reading(b"12345", 5) == b"12345"
    assert reading(b"123456", 5) is None
    assert 0 <= since_start() < 100_000
