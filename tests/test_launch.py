"""The short way of a plain `prune`, and that everything else goes the ordinary one."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from linecls import launch
from linecls.serving import client, endpoint

RAW = b"one\r\ntwo \xff\nthree"


class _Stream(io.TextIOWrapper):
    def __init__(self, raw: bytes = b"") -> None:
        super().__init__(io.BytesIO(raw))


@pytest.fixture
def resident(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """A resident process that answers as told, and the ordinary way as a note of what it got to read."""
    seen: dict[str, Any] = {"answer": client.Answer([(2, 3)], 0.9), "asked": [], "ordinary": None}
    (tmp_path / "socket").touch()
    place = endpoint.find(None, "auto", None)
    monkeypatch.setattr(endpoint, "find", lambda *_: place._replace(directory=str(tmp_path)))
    monkeypatch.setattr(type(place), "socket", property(lambda _: str(tmp_path / "socket")), raising=False)
    monkeypatch.delenv(client.ENVIRONMENT, raising=False)

    def ask(query: str, raw: bytes, options: dict[str, Any], **_: Any) -> Any:
        seen["asked"].append((query, raw, options))
        return seen["answer"]

    def ordinary(prog_name: str | None = None) -> None:
        seen["ordinary"] = sys.stdin.buffer.read()

    monkeypatch.setattr(client, "ask", ask)
    monkeypatch.setattr("linecls.cli.main", ordinary)
    return seen


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, stdin: bytes = RAW, out: _Stream | None = None) -> bytes:
    out = out or _Stream()
    monkeypatch.setattr(sys, "argv", ["linecls", *arguments])
    monkeypatch.setattr(sys, "stdin", _Stream(stdin))
    monkeypatch.setattr(sys, "stdout", out)
    launch.main()
    return out.buffer.getvalue()  # type: ignore[attr-defined]


def test_the_answer_is_written_byte_for_byte(
    resident: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run(monkeypatch, "prune", "why") == b"two \xff\nthree"
    (tmp_path / "log").write_bytes(RAW)
    assert run(monkeypatch, "prune", "why", str(tmp_path / "log"), stdin=b"") == b"two \xff\nthree"
    assert resident["asked"] == [("why", RAW, {})] * 2
    assert resident["ordinary"] is None


@pytest.mark.parametrize("answer", [None, client.Answer([], 0.1)])
def test_without_an_answer_the_ordinary_way_reads_the_same_input(
    resident: dict[str, Any], monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    resident["answer"] = answer
    assert run(monkeypatch, "prune", "why") == b""
    assert resident["ordinary"] == RAW


def test_binary_input_goes_the_ordinary_way(resident: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, "prune", "why", stdin=RAW + b"\0")
    assert (resident["asked"], resident["ordinary"]) == ([], RAW + b"\0")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["model"],
        ["prune"],
        ["prune", " "],
        ["prune", "why", "--json"],
        ["prune", "why", "-"],
        ["prune", "a", "b", "c"],
    ],
)
def test_what_is_not_plain_goes_the_ordinary_way(
    resident: dict[str, Any], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    run(monkeypatch, *arguments)
    assert resident["asked"] == []
    assert resident["ordinary"] == RAW


def test_a_file_that_cannot_be_read_and_a_switched_off_process_go_the_ordinary_way(
    resident: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(monkeypatch, "prune", "why", str(tmp_path / "absent"))
    monkeypatch.setenv(client.ENVIRONMENT, "0")
    run(monkeypatch, "prune", "why")
    assert resident["asked"] == []


def test_an_output_that_cannot_be_written_goes_the_ordinary_way(
    resident: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["linecls", "prune", "why"])
    monkeypatch.setattr(sys, "stdin", _Stream(RAW))
    monkeypatch.setattr(sys, "stdout", None)
    launch.main()
    assert resident["ordinary"] == RAW


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("where", ["the resident process", "the ordinary way"])
def test_a_signal_costs_no_byte(
    resident: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    number: int,
    where: str,
) -> None:
    def interrupt(*_: Any, **__: Any) -> Any:
        os.kill(os.getpid(), number)
        time.sleep(10)

    if where == "the resident process":
        monkeypatch.setattr(client, "ask", interrupt)
    else:
        resident["answer"] = None
        monkeypatch.setattr("linecls.cli.main", interrupt)
    out = _Stream()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as ended:
            run(monkeypatch, "prune", "why", out=out)
    finally:
        for number_before, handler in before.items():
            signal.signal(number_before, handler)
    assert ended.value.code == 128 + number
    assert out.buffer.getvalue() == RAW  # type: ignore[attr-defined]
    assert capsys.readouterr().err == "linecls: interrupted: what was read of the input went through unchanged\n"


def test_a_pipe_with_a_name_is_left_to_the_ordinary_way(
    resident: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    run(monkeypatch, "prune", "why", str(tmp_path / "pipe"))  # would wait for ever if it opened it
    assert resident["asked"] == []
    assert resident["ordinary"] == RAW


def test_the_short_way_imports_no_command_line_library() -> None:
    modules = "launch", "serving.client", "observation", "progress", "interrupts"
    code = f"import sys, {', '.join(f'linecls.{name}' for name in modules)}; sys.exit('click' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=dict(os.environ), check=False).returncode == 0


def test_a_process_that_pruned_ends_with_the_status_and_all_of_its_output(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(RAW)
    environment = {**os.environ, "LINECLS_DAEMON": "0"}
    pruned = subprocess.run(
        [sys.executable, "-m", "linecls", "prune", "why", str(log), "--bias", "-1000"],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert (pruned.returncode, pruned.stdout) == (0, RAW)
    wrong = subprocess.run(
        [sys.executable, "-m", "linecls", "prune", "why", str(tmp_path / "none")],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert wrong.returncode == 2
    assert b"none" in wrong.stderr


# The first moments


def started(number: int, module: str, *arguments: str) -> tuple[int, bytes, bytes]:
    """`linecls` that gets a signal when it is about to import a module: its status, and what it wrote."""
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            sys.meta_path.remove(self)\n"
        f"            os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Finder())\n"
        f"sys.argv = ['linecls', *{arguments!r}]\n"
        "from linecls.__main__ import program\n"
        "program()\n"
    )
    source, sink = os.pipe()
    os.write(sink, RAW)
    os.close(sink)
    with open(source, "rb") as stdin:
        environment = {**os.environ, "LINECLS_DAEMON": "0"}
        run = subprocess.run(
            [sys.executable, "-c", code], env=environment, stdin=stdin, capture_output=True, timeout=120, check=False
        )
    return run.returncode, run.stdout, run.stderr


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["linecls.launch", "linecls.serving.client", "click", "linecls.cli.prune"])
@pytest.mark.parametrize("arguments", [("prune", "why"), ("prune", "why", "-", "--strict")])
def test_a_signal_while_it_starts_costs_no_byte(number: int, module: str, arguments: tuple[str, ...]) -> None:
    says = b"linecls: interrupted: what was read of the input went through unchanged\n"
    assert started(number, module, *arguments) == (128 + number, RAW, says)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("module", ["linecls.launch", "click"])
def test_a_signal_while_another_command_starts_ends_it_without_a_word(module: str) -> None:
    assert started(signal.SIGINT, module, "model") == (130, b"", b"")
    assert started(signal.SIGTERM, module, "model") == (-signal.SIGTERM, b"", b"")


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_signal_before_signals_are_handled_costs_no_byte() -> None:
    says = b"linecls: interrupted: what was read of the input went through unchanged\n"
    assert started(signal.SIGINT, "linecls.interrupts", "prune", "why") == (130, RAW, says)
    assert started(signal.SIGINT, "linecls.interrupts", "model") == (130, b"", b"")


def test_next_to_nothing_is_imported_before_signals_are_handled() -> None:
    folder = str(Path(launch.__file__).parent.parent)
    code = (
        f"import sys; sys.path.insert(0, {folder!r}); import linecls.__main__; print(*sys.modules)\n"
        "import linecls.interrupts; print(*sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    at_first, then = (set(line.split()) for line in run.stdout.splitlines())
    assert {name for name in at_first if name.startswith("linecls")} == {"linecls", "linecls.__main__"}
    assert {name for name in then - at_first if name.startswith("linecls")} == {"linecls.interrupts"}
    assert not {"typing", "re", "enum", "importlib"} & at_first
    assert not {"typing", "re"} & then


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_signal_while_it_starts_ends_the_pruning_of_a_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(RAW)
    says = f"linecls: interrupted; {log} still holds all of it\n".encode()
    assert started(signal.SIGINT, "click", "prune", "why", str(log)) == (130, b"", says)
