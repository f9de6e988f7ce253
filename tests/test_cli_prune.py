from __future__ import annotations

import base64
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linecls import __version__, rendering
from linecls.cli import main
from linecls.errors import missing_extra
from linecls.observation import Observation
from linecls.spans import Span

ODD = b"login failed\r\n\xff\xfe raw\n\x1b[31mFAILED\x1b[0m\n\nno end"


@pytest.fixture
def runner():
    return CliRunner()


@pytest.fixture
def prune(runner, tiny_model_dir):
    def call(*arguments, raw=ODD, model=tiny_model_dir):
        return runner.invoke(main, ["prune", *arguments, "--model", str(model)], input=raw)

    return call


def process(*arguments, **options):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **options.pop("env", {})}
    return subprocess.Popen([sys.executable, "-m", "linecls", *map(str, arguments)], env=environment, **options)


def test_kept_bytes_come_out_as_they_were(prune):
    result = prune("login", "--bias", "-1000")
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (0, ODD, "")
    result = prune("login", "--bias", "1000", raw=b"the login test failed\xff\n\n")
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (0, b"", "")


@pytest.mark.parametrize("raw", [b"login failed\n\x00", bytes(range(256)) * 300, "plain".encode("utf-16")])
def test_binary_input_goes_through_unchanged(prune, raw):
    note = "linecls: note: the input is binary and was not pruned\n"
    for arguments, status in (((), 0), (("--numbers",), 0), (("--strict",), 1)):
        result = prune("login", "--bias", "1000", *arguments, raw=raw)
        assert (result.exit_code, result.stdout_bytes, result.stderr) == (status, raw, note)
    answer = json.loads(prune("login", "--bias", "1000", "--json", raw=raw).stdout)
    assert base64.b64decode(answer.get("text_base64", "")) == raw or answer["text"].encode() == raw
    assert answer["warning"] == "the input is binary and was not pruned"


def test_a_best_line_over_the_token_limit_is_explained(prune):
    raw = b"login test failed " * 100 + b"\n"
    result = prune("login", "--bias", "-1000", "--max-tokens", "20", raw=raw)
    assert (result.exit_code, result.stdout_bytes) == (0, b"")
    assert result.stderr.startswith("linecls: note: the best line has ")
    assert result.stderr.endswith(" tokens, more than --max-tokens 20, so none of the answer is shown\n")
    assert prune("login", "--bias", "-1000", "--max-tokens", "0", raw=raw).stderr == ""
    answer = json.loads(prune("login", "--json", "--bias", "-1000", "--max-tokens", "20", raw=raw).stdout)
    assert f"the best line has {answer['unfit_tokens']} tokens" in result.stderr
    assert "unfit_tokens" not in json.loads(prune("login", "--json", "--bias", "-1000", raw=raw).stdout)


@pytest.mark.parametrize("size", [0, 300_000])
def test_an_input_over_the_limit_goes_through_unchanged(prune, tmp_path, size):
    raw = ODD + b"x" * size
    says = f"the input is longer than {len(raw) - 1} bytes and was not pruned (--max-bytes)"
    (tmp_path / "log").write_bytes(raw)
    limit = ("--max-bytes", str(len(raw) - 1), "--bias", "1000")
    for arguments, status in (((), 0), (("--numbers",), 0), (("--strict",), 1), ((str(tmp_path / "log"),), 0)):
        result = prune("login", *arguments, *limit, raw=raw)
        assert (result.exit_code, result.stdout_bytes, result.stderr) == (status, raw, f"linecls: note: {says}\n")
    answer = json.loads(prune("login", "--json", *limit, raw=raw).stdout)
    assert base64.b64decode(answer["text_base64"]) == raw
    assert answer["warning"] == says
    assert prune("login", "--max-bytes", str(len(raw)), "--bias", "1000", raw=raw).stdout_bytes == b""


def test_a_file_is_read_like_a_pipe(prune, tmp_path):
    (tmp_path / "log").write_bytes(ODD)
    assert prune("login", str(tmp_path / "log"), "--bias", "-1000", raw=b"not this").stdout_bytes == ODD
    assert prune("login", "-", "--bias", "-1000").stdout_bytes == ODD


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80), st.sampled_from(["-1000", "-1.0", "0.0"]))
def test_any_bytes_give_whole_lines(prune, raw, bias):
    result = prune("login", "--bias", bias, raw=raw)
    assert result.exit_code == 0
    lines = iter(raw.split(b"\n"))
    for line in result.stdout_bytes.split(b"\n"):
        assert line == b"" or any(line == other for other in lines)


def test_numbers(prune):
    result = prune("login", "--numbers", "--bias", "-1000", raw=b"one\r\nand two\xff")
    assert result.stdout_bytes == "   1│one\r\n".encode() + "   2│and two".encode() + b"\xff"


def test_json(prune):
    result = prune("login", "--json", "--bias", "-1000")
    answer = json.loads(result.stdout)
    assert answer["spans"] == [{"start_line": 1, "end_line": 5}]
    assert (answer["kept_lines"], answer["total_lines"]) == (5, 5)
    assert 0 < answer["answerable"] < 1
    assert answer["text"] == ODD.decode("utf-8", "replace")
    assert base64.b64decode(answer["text_base64"]) == ODD
    answer = json.loads(prune("login", "--json", "--bias", "1000", raw=b"plain\n").stdout)
    assert (answer["spans"], answer["text"], answer["kept_lines"]) == ([], "", 0)
    assert "text_base64" not in answer


def test_budgets_and_operating_points(prune):
    everything = ("login", "--operating-point", "wide")
    assert prune(*everything).stdout_bytes == ODD
    assert prune(*everything, "--max-lines", "2").stdout_bytes.count(b"\n") <= 2
    assert prune(*everything, "--max-lines", "0").stdout_bytes == b""
    assert prune(*everything, "--max-tokens", "0").stdout_bytes in (b"", b"\n")  # a blank line has no tokens
    assert len(Observation.of(prune(*everything, "--keep-ratio", "0.4").stdout_bytes)) == 2
    result = prune("login", "--operating-point", "speed")
    assert result.exit_code == 2
    assert "no operating point 'speed'; it has: default, wide" in result.stderr


@pytest.mark.parametrize("raw", [b"", b"\n", b"x", b"a\n" * 1000])
@pytest.mark.parametrize("query", ["?", "why " * 20_000, "\N{BLACK STAR} é"])
def test_odd_inputs_and_queries(prune, raw, query):
    result = prune(query, "--bias", "-1000", raw=raw)
    assert (result.exit_code, result.stdout_bytes) == (0, raw)


# When the model cannot run


def broken_model(tiny_model_dir, folder, how):
    model = shutil.copytree(tiny_model_dir, folder / "model")
    if how == "corrupt":
        (model / "encoder-int8.onnx").write_bytes(b"\x00" * 100)
    elif how == "missing":
        (model / "tokenizer.json").unlink()
    else:
        (model / "linecls.json").write_text("{}")
    return model


@pytest.mark.parametrize(
    ("how", "says"), [("corrupt", "encoder-int8.onnx"), ("missing", "tokenizer.json"), ("schema", "linecls.json")]
)
def test_the_input_goes_through_when_the_model_is_broken(prune, tiny_model_dir, tmp_path, how, says):
    model = broken_model(tiny_model_dir, tmp_path, how)
    for arguments, status in (((), 0), (("--strict",), 1), (("--numbers",), 0)):
        result = prune("login", *arguments, model=model)
        assert (result.exit_code, result.stdout_bytes) == (status, ODD)
        assert result.stderr.startswith("linecls: warning: ")
        assert says in result.stderr
        assert result.stderr.count("\n") == 1
    answer = json.loads(prune("login", "--json", model=model).stdout)
    assert base64.b64decode(answer["text_base64"]) == ODD
    assert answer["spans"] == [{"start_line": 1, "end_line": 5}]
    assert answer["answerable"] is None
    assert says in answer["warning"]
    assert json.loads(prune("login", "--json", model=model, raw=b"").stdout)["spans"] == []


def test_the_input_goes_through_without_the_runtime(prune, monkeypatch):
    def absent():
        raise missing_extra("onnxruntime", "cpu")

    monkeypatch.setattr("linecls.session.import_runtime", absent)
    result = prune("login")
    assert (result.exit_code, result.stdout_bytes) == (0, ODD)
    assert "pip install 'linecls[cpu]'" in result.stderr


def test_the_input_goes_through_whatever_happens(prune, monkeypatch):
    def burst(*_, **__):
        raise RuntimeError("burst\nopen")

    monkeypatch.setattr("linecls.pruner.Pruner.prune", burst)
    result = prune("login")
    assert (result.exit_code, result.stdout_bytes) == (0, ODD)
    assert result.stderr.endswith("RuntimeError: burst open\n")
    assert prune("login", "--strict").exit_code == 1


def test_no_such_model(prune, tmp_path):
    result = prune("login", model=tmp_path / "nowhere")
    assert (result.exit_code, result.stdout_bytes) == (0, ODD)
    assert "no such model directory" in result.stderr


# Wrong usage


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("login", "--device", "tpu"), "linecls: unknown device 'tpu'; use auto, cpu, cuda, cuda:N or tensorrt\n"),
        (("login", "no/such/file"), "linecls: cannot read no/such/file: No such file or directory\n"),
        (("login", "."), "linecls: cannot read .: Is a directory\n"),
    ],
)
def test_one_line_and_status_2(prune, arguments, says):
    result = prune(*arguments)
    assert (result.exit_code, result.stdout_bytes, result.stderr) == (2, b"", says)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("login", "--max-lines", "-1"),
        ("login", "--keep-ratio", "1.1"),
        ("login", "--keep-ratio", "nan"),
        ("login", "--bias", "nan"),
        ("login", "--bias", "much"),
        ("login", "--threads", "0"),
        ("login", "--json", "--numbers"),
        ("login", "a", "b"),
    ],
)
def test_usage_errors(prune, arguments):
    result = prune(*arguments)
    assert (result.exit_code, result.stdout_bytes) == (2, b"")
    assert result.stderr.startswith("Usage:")


class Stream(io.TextIOWrapper):
    """A stream that says whether it is a terminal."""

    def __init__(self, content: bytes, terminal: bool) -> None:
        super().__init__(io.BytesIO(content))
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.fixture
def streams(monkeypatch):
    """Put the standard streams of the command's module in place; None is a closed one."""

    def put(**streams):
        monkeypatch.setattr("linecls.cli.prune.sys", types.SimpleNamespace(stderr=sys.stderr, **streams))

    return put


def test_a_terminal_is_not_waited_for(prune, streams):
    streams(stdin=Stream(b"", terminal=True))
    result = prune("login")
    assert result.exit_code == 2
    assert "name a FILE, or pipe" in result.stderr


def test_closed_streams(prune, streams, tiny_model_dir):
    streams(stdin=None)
    result = prune("login")
    assert (result.exit_code, result.stderr) == (2, "linecls: cannot read standard input: it is closed\n")
    command = f'"{sys.executable}" -m linecls prune login "{__file__}" --model "{tiny_model_dir}" >&-'
    closed = subprocess.run(command, shell=True, check=False, stderr=subprocess.PIPE)
    assert closed.returncode == 2
    assert closed.stderr == b"linecls: cannot write the output: standard output is closed\n"


def test_the_note_that_nothing_answers_is_for_terminals(prune, monkeypatch):
    terminal = types.SimpleNamespace(stdin=Stream(b"a\n\nb\n", terminal=False), stderr=Stream(b"", terminal=True))
    monkeypatch.setattr("linecls.cli.prune.sys", terminal)
    result = prune("login", "--bias", "1000")
    assert (result.stdout_bytes, result.stderr) == (b"", "linecls: none of the 3 lines answers the query\n")


# The group


def test_help_teaches(runner):
    result = runner.invoke(main, ["--help"])
    assert result.exit_code == 0
    assert "| linecls prune " in result.stdout
    assert "Exit status:" in result.stdout
    for name in ("prune", "model", "eval", "train", "export"):
        assert f"\n  {name} " in result.stdout
    assert "--strict" in runner.invoke(main, ["prune", "--help"]).stdout


def test_version_and_unknown_command(runner):
    assert runner.invoke(main, ["--version"]).stdout.strip().endswith(f" {__version__}")
    result = runner.invoke(main, ["prunes"])
    assert result.exit_code == 2
    assert "No such command 'prunes'" in result.stderr


def test_help_imports_no_command():
    code = (
        "import sys, linecls.cli\n"
        "try: linecls.cli.main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not [m for m in sys.modules if m.startswith('linecls.cli.')]\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


# As a process among others


def test_a_reader_that_goes_away(tmp_path, tiny_model_dir):
    (tmp_path / "log").write_bytes(b"x" * 1_000_000)
    run = process(
        *("prune", "login", tmp_path / "log", "--bias", "-1000", "--model", tiny_model_dir),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    run.stdout.close()
    assert run.stderr.read() == b""
    run.stderr.close()
    assert run.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(tmp_path, tiny_model_dir):
    (tmp_path / "log").write_bytes(ODD)
    with open("/dev/full", "wb") as full:
        run = process(
            *("prune", "login", tmp_path / "log", "--bias", "-1000", "--model", tiny_model_dir),
            stdout=full,
            stderr=subprocess.PIPE,
        )
        _, error = run.communicate(timeout=60)
    assert run.returncode == 2
    assert error.decode().startswith("linecls: cannot write the output: No space left on device; ")
    assert error.decode().endswith(f"{tmp_path / 'log'} still holds all of it\n")
    assert error.count(b"\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["prune", "--help"], ["model"]])
def test_help_and_tables_on_a_full_disk(arguments):
    with open("/dev/full", "wb") as full:
        run = process(*arguments, stdout=full, stderr=subprocess.PIPE)
        _, error = run.communicate(timeout=60)
    assert run.returncode == 2
    assert error.decode() == "linecls: cannot write the output: No space left on device\n"


@pytest.mark.parametrize("query", ["", " \t", "\x1f\u3000"])
def test_an_empty_query_is_a_usage_error(prune, query):
    result = prune(query, raw=b"a line\n")
    assert (result.exit_code, result.stdout_bytes) == (2, b"")
    assert "The query is empty" in result.stderr


def test_nothing_is_written_under_the_user_s_home(tmp_path, tiny_model_dir):
    (tmp_path / "log").write_bytes(ODD)
    home = tmp_path / "home"
    home.mkdir()
    run = process(
        *("prune", "login", tmp_path / "log", "--model", tiny_model_dir),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")},
    )
    assert run.communicate(timeout=60)[1] == b""
    assert run.returncode == 0
    assert list(home.iterdir()) == []


INTERRUPTED = b"linecls: interrupted: what was read of the input went through unchanged\n"


def interrupted(code, *arguments, **options):
    """A process that runs `code` and then the command with the arguments after it."""
    # A background job of a shell starts with the interrupt ignored, and its children with it.
    start = "import os, signal, sys, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command = [sys.executable, "-c", f"{start}{code}\nfrom linecls.cli import main\nmain(sys.argv[1:])", *arguments]
    return subprocess.Popen([*map(str, command)], **options)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_it_reads_costs_no_byte(tiny_model_dir, number):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    raw = b"line\n" * 20_000
    with interrupted("", "prune", "login", "--model", tiny_model_dir, **pipes) as run:
        # Far more than a pipe holds: when it is written, the command is reading.
        run.stdin.write(raw)
        run.stdin.flush()
        run.send_signal(number)
        if number == signal.SIGINT:
            assert b"a second interrupt ends it at once" in run.stderr.readline()
            run.send_signal(number)
        out, err = run.stdout.read(), run.stderr.read()  # the other side of the pipe is still open
        try:
            assert run.wait(60) == 128 + number
            assert (out, err) == (raw, INTERRUPTED)
        finally:
            run.kill()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("arguments", [(), ("--json",), ("--max-bytes", "1000"), ("--json", "--max-bytes", "1000")])
def test_what_the_other_side_writes_after_an_interrupt_is_not_lost(tiny_model_dir, arguments):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    raw, summary = b"line\n" * 20_000, b"= 1 failed, 7 passed, interrupted =\n"
    run = interrupted("", "prune", "login", "--model", tiny_model_dir, *arguments, **pipes)
    out: list[bytes] = []
    reader = threading.Thread(target=lambda: out.append(run.stdout.read()))
    reader.start()
    run.stdin.write(raw)
    run.stdin.flush()
    run.send_signal(signal.SIGINT)  # as to the whole pipeline; a test runner then prints its summary
    time.sleep(0.3)
    run.stdin.write(summary)
    run.stdin.close()
    err = run.stderr.read()
    reader.join(60)
    run.stdout.close()
    run.stderr.close()
    assert run.wait(60) == 130
    assert err.endswith(INTERRUPTED)
    assert (json.loads(out[0])["text"].encode() if "--json" in arguments else out[0]) == raw + summary


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(("number", "arguments"), [(signal.SIGINT, ()), (signal.SIGTERM, ("--json",))])
def test_an_interrupt_while_the_model_runs_costs_no_byte(number, arguments):
    code = (
        "from linecls.cli import prune\n"
        f"prune.answer = lambda *_, **__: (os.kill(os.getpid(), {int(number)}), time.sleep(30))"
    )
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    run = interrupted(code, "prune", "q", *arguments, **pipes)
    out, err = run.communicate(ODD, timeout=60)
    assert (run.returncode, err) == (128 + number, INTERRUPTED)
    if arguments:
        answer = json.loads(out)
        assert base64.b64decode(answer["text_base64"]) == ODD
        assert answer["warning"].startswith("interrupted")
    else:
        assert out == ODD


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupt_prints_no_file_that_is_still_there(tmp_path):
    (tmp_path / "log").write_bytes(ODD)
    code = "from linecls.cli import prune\nprune.answer = lambda *_, **__: (os.kill(os.getpid(), 2), time.sleep(30))"
    run = interrupted(code, "prune", "q", tmp_path / "log", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, b"")
    assert err.decode() == f"linecls: interrupted; {tmp_path / 'log'} still holds all of it\n"


def test_pruning_loads_no_torch(tiny_model_dir):
    code = (
        "import sys\n"
        "from linecls.cli import main\n"
        "try: main(['prune', 'login', '--model', sys.argv[1]])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not [m for m in ('torch', 'transformers', 'lightning') if m in sys.modules]\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tiny_model_dir)], input=ODD, check=True, capture_output=True)


# Rendering


def test_rendering_of_text():
    observation = Observation.of("one\r\ntwo\n\nfour")
    spans = [Span(1, 1), Span(3, 4)]
    assert rendering.plain(observation, spans) == "one\r\n\nfour"
    assert rendering.numbered(observation, spans) == "   1│one\r\n   3│\n   4│four"
    assert rendering.as_dict(observation, spans, 0.5) == {
        "spans": [{"start_line": 1, "end_line": 1}, {"start_line": 3, "end_line": 4}],
        "kept_lines": 3,
        "total_lines": 4,
        "answerable": 0.5,
        "text": "one\r\n\nfour",
    }


def test_the_number_column_grows_with_the_observation():
    observation = Observation.of(b"x\n" * 12_345)
    assert rendering.numbered(observation, [Span(7, 7)]) == "    7│x\n".encode()


def test_a_lone_surrogate_in_text_still_makes_json():
    values = rendering.as_dict(Observation.of("a\ud800"), [Span(1, 1)], 0.5)
    assert json.dumps(values, ensure_ascii=False).encode("utf-8")
    assert base64.b64decode(values["text_base64"]).decode("utf-8", "surrogatepass") == "a\ud800"
