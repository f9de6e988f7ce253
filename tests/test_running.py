from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from linecls.cli import main
from linecls.observation import Observation
from linecls.running import run
from linecls.spans import Span
from linecls.store import Store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX shells and signals")
MANY = "i=0; while [ $i -lt 100 ]; do echo line $i of ordinary output, nothing to see; i=$((i+1)); done"


def shell(script: str, **options):
    pieces: list[bytes] = []
    options = {"max_bytes": 1 << 20, "overflow": pieces.append, **options}
    return run(["sh", "-c", script], **options), b"".join(pieces)


def test_both_streams_in_the_order_in_which_they_were_written() -> None:
    finished, rest = shell("echo one; echo two >&2; printf 'three\\r\\n\\377'; exit 3")
    assert finished.output == b"one\ntwo\nthree\r\n\xff"
    assert (finished.returncode, finished.timed_out, rest) == (3, False, b"")


def test_a_signal_is_told_from_a_status() -> None:
    assert shell("kill -KILL $$")[0].returncode == -9
    assert shell("exit 137")[0].returncode == 137


def test_a_long_output_is_handed_on_whole() -> None:
    finished, rest = shell("printf start; head -c 700000 /dev/zero; exit 4", max_bytes=100_000)
    assert (finished.output, finished.returncode) == (None, 4)
    assert rest == b"start" + bytes(700_000)
    assert shell("printf 12345", max_bytes=5)[0].output == b"12345"
    assert shell("printf 123456", max_bytes=5) == (shell("printf 123456", max_bytes=5)[0], b"123456")


def test_an_endless_output_ends_with_the_time() -> None:
    start = time.monotonic()
    finished, rest = shell("yes", max_bytes=100_000, timeout=0.5)
    assert finished.timed_out
    assert finished.output is None
    assert len(rest) > 100_000
    assert time.monotonic() - start < 20


def test_a_command_that_will_not_end_is_killed() -> None:
    start = time.monotonic()
    finished, _ = shell("trap '' TERM; echo stays; while :; do sleep 0.1; done", timeout=0.5)
    assert (finished.output, finished.returncode, finished.timed_out) == (b"stays\n", -9, True)
    assert time.monotonic() - start < 30


def test_one_that_closes_its_output_is_still_timed() -> None:
    finished, _ = shell("exec >&- 2>&-; sleep 60", timeout=0.5)
    assert (finished.output, finished.timed_out) == (b"", True)


def test_a_process_left_behind_is_not_waited_for() -> None:
    start = time.monotonic()
    finished, _ = shell("sleep 20 & echo done")
    assert (finished.output, finished.returncode) == (b"done\n", 0)
    assert time.monotonic() - start < 15


def test_a_reader_that_goes_away_ends_the_command() -> None:
    def gone(piece: bytes) -> None:
        raise BrokenPipeError

    start = time.monotonic()
    with pytest.raises(BrokenPipeError):
        shell("yes", max_bytes=1000, overflow=gone)
    assert time.monotonic() - start < 15


def test_a_terminal_for_programs_that_look() -> None:
    code = "import sys; print(sys.stdout.isatty(), sys.stderr.isatty())"
    assert run([sys.executable, "-c", code], max_bytes=99, overflow=print, terminal=True).output == b"True True\n"
    assert run([sys.executable, "-c", code], max_bytes=99, overflow=print).output == b"False False\n"


def test_notes_come_while_it_runs() -> None:
    notes: list[tuple[int, float]] = []
    shell("echo one; sleep 2.5", note=lambda size, seconds: notes.append((size, seconds)))
    assert notes
    assert notes[-1][0] == 4


# The command


@pytest.fixture
def linecls(tmp_path, monkeypatch):
    """`linecls run`, with a model that keeps the lines with "47"; `asked` has the queries."""

    def answer(query, raw, options, daemon, **loading):
        call.asked.append(query)
        observation = Observation.of(raw)
        return observation, [Span(i, i) for i, line in enumerate(observation.lines, 1) if "47" in line], 0.9

    def call(*arguments: str, **environment: str):
        environment = {"LINECLS_STORE": str(tmp_path / "outputs"), **environment}
        return CliRunner().invoke(main, ["run", *arguments], env=environment)

    call.asked = []
    monkeypatch.setattr("linecls.cli.prune.answer", answer)
    return call


def test_it_prunes_with_markers_and_keeps_the_status(linecls, tmp_path) -> None:
    result = linecls("-q", "47?", "--", "sh", "-c", f"{MANY}; echo fatal: gone >&2; echo a; echo b; exit 5")
    assert (result.exit_code, result.stderr) == (5, "")
    lines = result.stdout.splitlines()
    (path,) = (tmp_path / "outputs").iterdir()
    assert lines[2] == f"[linecls: 44 lines omitted, linecls expand {path.stem}:3-46]"
    assert "line 47 of ordinary output, nothing to see" in lines
    assert lines[-3:] == ["fatal: gone", "a", "b"]
    assert Store(tmp_path / "outputs").load(path.stem).endswith(b"fatal: gone\na\nb\n")


def test_tight_and_without_markers(linecls, tmp_path) -> None:
    result = linecls("--profile", "tight", "--no-markers", "--", "sh", "-c", f"{MANY}; echo fatal: gone")
    assert result.stdout == "line 47 of ordinary output, nothing to see\n"
    assert not (tmp_path / "outputs").exists()


def test_where_the_query_comes_from(linecls) -> None:
    linecls("-q", "first", "--", "sh", "-c", MANY, LINECLS_QUERY="second")
    linecls("--", "sh", "-c", MANY, LINECLS_QUERY="second")
    linecls("--", "sh", "-c", MANY, LINECLS_QUERY=" ")
    assert linecls.asked[:2] == ["first", "second"]
    assert linecls.asked[2].startswith("sh -c 'i=0;")
    linecls("-q", "x" * 100_000, "--", "sh", "-c", MANY)
    assert len(linecls.asked[3]) == 2000


@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("echo short", ()),
        (MANY, ("--min-bytes", "100000")),
        (MANY, ("--max-bytes", "100")),
        (f"{MANY}; printf '\\0'", ()),
    ],
)
def test_what_goes_through_unchanged(linecls, script: str, options: tuple[str, ...]) -> None:
    raw = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, check=True).stdout
    assert linecls(*options, "--", "sh", "-c", script).stdout_bytes == raw
    assert linecls.asked == []


def test_of_a_binary_output_one_line_says_that_it_was_not_pruned(linecls) -> None:
    result = linecls("--", "sh", "-c", f"{MANY}; printf '\\0'")
    assert result.stderr == "linecls: note: the output is binary and was not pruned\n"
    assert linecls("--", "sh", "-c", "printf '\\0'").stderr == ""  # short anyway


def test_a_model_that_fails_costs_neither_output_nor_a_second_run(linecls, monkeypatch, tmp_path) -> None:
    def burst(*_, **__):
        raise RuntimeError("burst\nopen")

    monkeypatch.setattr("linecls.cli.prune.answer", burst)
    result = linecls("--", "sh", "-c", f"{MANY}; echo ran >> {tmp_path}/log; exit 9")
    assert result.stdout.count("\n") == 100
    assert result.stderr == "linecls: warning: the output was not pruned: RuntimeError: burst open\n"
    assert result.exit_code == 9
    assert (tmp_path / "log").read_text() == "ran\n"


def test_a_model_without_the_operating_point_decodes_with_its_default(linecls, monkeypatch) -> None:
    import click

    points = []

    def answer(query, raw, options, daemon, **loading):
        points.append(options["operating_point"])
        if options["operating_point"]:
            raise click.BadParameter("no such point")
        return Observation.of(raw), [Span(5, 5)], 0.9

    monkeypatch.setattr("linecls.cli.prune.answer", answer)
    assert "line 4 of" in linecls("--", "sh", "-c", MANY).stdout
    assert points == ["recall", None]


def test_what_cannot_be_run(linecls, tmp_path) -> None:
    result = linecls("--", "no-such-command-here")
    assert (result.exit_code, result.stderr) == (127, "linecls: no-such-command-here: command not found\n")
    (tmp_path / "plain").write_text("x")
    result = linecls("--", str(tmp_path / "plain"))
    assert (result.exit_code, result.stderr) == (126, f"linecls: cannot run {tmp_path / 'plain'}: Permission denied\n")
    assert linecls().exit_code == 2
    assert linecls("--timeout", "0", "--", "true").exit_code == 2
    assert linecls("--timeout", "nan", "--", "true").exit_code == 2


def test_time_is_up(linecls) -> None:
    result = linecls("--timeout", "0.4", "--", "sh", "-c", f"{MANY}; sleep 60")
    assert result.exit_code == 124
    assert "line 47" in result.stdout
    assert result.stderr == "linecls: sh was ended: its 0.4 s were up\n"


# As a process among others


def start(*arguments: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "linecls", "run", "--", *arguments]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def test_it_dies_of_the_signal_that_its_command_died_of() -> None:
    run = start("sh", "-c", "echo bye; kill -SEGV $$")
    assert run.communicate(timeout=60) == (b"bye\n", b"")
    assert run.returncode == -signal.SIGSEGV


def test_signals_reach_the_command_and_its_output_is_kept(tmp_path) -> None:
    script = f"trap 'echo got it; exit 7' TERM; echo ready; touch {tmp_path}/ready; while :; do sleep 0.05; done"
    run = start("sh", "-c", script)
    limit = time.monotonic() + 60
    while not (tmp_path / "ready").exists() and time.monotonic() < limit:
        time.sleep(0.02)
    run.send_signal(signal.SIGTERM)
    out, err = run.communicate(timeout=60)
    assert (out[:6], out[-7:], err) == (b"ready\n", b"got it\n", b"")  # some shells say that their sleep ended
    assert run.returncode == 7


def assert_all_comes_through(number: int, signalling: str) -> None:
    """`linecls run` in a process in which `signalling` sends the signal: it dies of it, with the output written."""
    code = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"{signalling}"
        "from linecls.cli import main\n"
        "main(['run', '--', 'sh', '-c', sys.argv[2]])\n"
    )
    command = [sys.executable, "-c", code, str(int(number)), MANY]
    run = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    assert run.returncode == -number
    assert run.stdout.count(b"\n") == 100
    assert run.stderr.decode() == "linecls: interrupted: the command's output went through unchanged\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_model_runs_costs_no_output(number: int) -> None:
    assert_all_comes_through(
        number,
        "from linecls.cli import prune\n"
        "prune.answer = lambda *_, **__: (os.kill(os.getpid(), int(sys.argv[1])), time.sleep(30))\n",
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_at_the_moment_in_which_the_command_ends_costs_no_output(number: int) -> None:
    assert_all_comes_through(
        number,
        "from linecls import running\n"
        "begin = running.run\n"
        "def run(*arguments, **options):\n"
        "    finished = begin(*arguments, **options)\n"
        "    os.kill(os.getpid(), int(sys.argv[1]))\n"
        "    return finished\n"
        "running.run = run\n",
    )


def test_the_reader_of_an_endless_output_goes_away() -> None:
    run = start("yes")
    assert run.stdout.read(4) == b"y\ny\n"
    run.stdout.close()
    assert run.wait(60) == 141
    run.stderr.close()
