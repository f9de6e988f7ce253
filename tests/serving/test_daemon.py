"""The resident process, the callers that use it, and everything that makes a caller prune by itself."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls.artifact import embedded
from linecls.cli import main
from linecls.serving import client, endpoint, frames
from linecls.serving import daemon as daemon_module
from linecls.serving.daemon import AlreadyRunning, Daemon, request, sockets
from linecls.serving.endpoint import EndpointError
from linecls.spans import Span

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX") or os.name == "nt", reason="needs unix sockets")

LOG = b"collected 3 items\r\n\xff\xfe raw\nFAILED test_login - ConnectionRefusedError: [Errno 111]\n\n3 in 0.1s"


@pytest.fixture(autouse=True)
def runtime(tmp_path_factory, monkeypatch):
    """A private directory of the test's own, with a short name; no process of the user's is asked."""
    folder = tmp_path_factory.mktemp("r")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.delenv(client.ENVIRONMENT, raising=False)
    return folder / "linecls"


class Fake:
    """Keeps the first line of whatever it gets, and is half done at once."""

    def __init__(self, delay=0.0):
        self.asked = []
        self.delay = delay

    def prune(self, query, observation, *, progress, **options):
        self.asked.append((query, observation, options))
        progress(5, 10)
        time.sleep(self.delay)
        if options.get("operating_point") == "nonsense":
            raise ValueError("no such point")
        if options.get("max_tokens") == 1:
            return SimpleNamespace(spans=[], answerable=0.25, unfit_tokens=7)
        return SimpleNamespace(spans=[Span(1, 1)], answerable=0.25, unfit_tokens=None)


@contextmanager
def serving(pruner, *, place=None, idle=60.0):
    """A daemon in a thread of this process."""
    daemon = Daemon(place or endpoint.find(), lambda: pruner, idle_seconds=idle)
    ready = threading.Event()
    endings = []
    thread = threading.Thread(target=lambda: endings.append(daemon.run(ready=ready.set)))
    thread.start()
    assert ready.wait(20)
    try:
        yield SimpleNamespace(daemon=daemon, thread=thread, endings=endings)
    finally:
        daemon.stop()
        thread.join(20)
        assert not thread.is_alive()


def prune(*arguments, raw=LOG):
    return CliRunner().invoke(main, ["prune", *arguments], input=raw)


# The way there and back


def test_an_answer_comes_from_the_resident_process():
    pruner = Fake()
    with serving(pruner):
        answer = client.ask("why \udcff", LOG, {"bias": -0.1, "max_lines": None})
        assert answer == ([(1, 1)], 0.25, None)
        assert prune("login").stdout_bytes == b"collected 3 items\r\n"
        assert json.loads(prune("login", "--json", "--max-lines", "3").stdout)["answerable"] == 0.25
    assert pruner.asked[0] == ("why \udcff", LOG, {"bias": -0.1, "max_lines": None})
    assert pruner.asked[2][2]["max_lines"] == 3


def test_the_answer_is_that_of_the_own_process():
    pytest.importorskip("onnxruntime")
    from linecls.pruner import Pruner

    with serving(Pruner.from_pretrained(device="cpu")) as served:
        for arguments in (["why does the login test fail"], ["q", "--numbers", "--bias", "-50"], ["q", "--json"]):
            warm, cold = prune(*arguments), prune(*arguments, "--no-daemon")
            assert (warm.exit_code, warm.stdout_bytes, warm.stderr) == (cold.exit_code, cold.stdout_bytes, cold.stderr)
        assert served.daemon.status()["answered"] == 3
        unknown = prune("login", "--operating-point", "nonsense")
        assert unknown.exit_code == 2
        assert "has no operating point 'nonsense'" in unknown.stderr


def test_the_caller_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from linecls.cli import main\n"
        "try: main(['prune', 'login'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'hashlib', 'subprocess', 'asyncio'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    pruner = Fake()
    with serving(pruner):
        run = subprocess.run([sys.executable, "-c", code], input=LOG, check=False, capture_output=True)
    assert (run.returncode, run.stderr) == (0, b"")
    assert len(pruner.asked) == 1


@settings(max_examples=30)
@given(
    st.dictionaries(st.text(max_size=5), st.floats(allow_nan=False) | st.text(max_size=5) | st.none(), max_size=4),
    st.binary(max_size=2000),
)
def test_frames_come_back_as_they_were(header, body):
    left, right = socket.socketpair()
    with left, right:
        frames.Line(left, silence=5).send(header, body)
        assert frames.Line(right, silence=5).receive() == (header, body)


def test_an_observation_larger_than_any_buffer():
    pruner = Fake()
    raw = os.urandom(1 << 20) * 20
    with serving(pruner):
        assert client.ask("q", raw, {}) == ([(1, 1)], 0.25, None)
    assert pruner.asked[0][1] == raw


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        struct.pack("!4sIQ", b"LCD1", frames.MAX_HEADER + 1, 0),
        struct.pack("!4sIQ", b"LCD1", 2, frames.MAX_BODY + 1) + b"{}",
        struct.pack("!4sIQ", b"LCD1", 2, 0) + b"[]",
        struct.pack("!4sIQ", b"LCD1", 2, 0) + b"\xff{",
        struct.pack("!4sIQ", b"LCD1", 2, 5) + b"{}ab",
        b"LC",
        b"",
    ],
)
def test_what_is_no_frame_ends_the_conversation_and_nothing_else(data):
    pruner = Fake()
    with serving(pruner) as served:
        connection = client.connect(served.daemon.place.socket)
        with connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(10)
            with suppress(ConnectionResetError):  # it ended without reading all of it
                assert connection.recv(100) == b""
        assert client.ask("q", LOG, {}) is not None


@pytest.mark.parametrize("header", [{}, {"kind": "prune"}, {"kind": "nonsense"}, {"kind": ["prune"]}])
def test_a_strange_message_gets_an_error(header):
    with serving(Fake()) as served, client.connect(served.daemon.place.socket) as connection:
        line = frames.Line(connection, silence=10)
        line.send(header)
        assert line.receive()[0]["kind"] == "error"


@pytest.mark.parametrize("change", [{"query": 1}, {"query": None}, {"options": []}, {"options": {"self": 1}}])
def test_a_malformed_query_gets_an_error(change):
    pytest.importorskip("onnxruntime")
    from linecls.pruner import Pruner

    with serving(Pruner.from_pretrained(device="cpu")) as served:
        with client.connect(served.daemon.place.socket) as connection:
            line = frames.Line(connection, silence=10)
            good = {"kind": "prune", "identity": served.daemon.place.identity, "query": "q", "options": {}}
            line.send({**good, **change}, LOG)
            assert line.receive()[0]["kind"] == "error"
        assert client.ask("q", LOG, {}) is not None


# Falling back


def test_nobody_runs(runtime):
    assert client.ask("q", LOG, {}) is None
    assert not runtime.exists()  # a look costs nothing and leaves nothing


@pytest.mark.parametrize(("setting", "wanted"), [("0", None), ("1", False), (None, False)])
def test_it_is_not_used_when_told_so(monkeypatch, setting, wanted):
    if setting is not None:
        monkeypatch.setenv(client.ENVIRONMENT, setting)
    with serving(Fake()):
        assert client.ask("q", LOG, {}, wanted=wanted) is None


def test_another_model_or_device_is_another_process(tmp_path):
    pruner = Fake()
    shutil.copy(embedded() / "linecls.json", tmp_path)
    with serving(pruner):
        assert client.ask("q", LOG, {}, model=tmp_path) is None
        assert client.ask("q", LOG, {}, model="organisation/name") is None
        assert client.ask("q", LOG, {}, device="cpu") is None
        assert client.ask("q", LOG, {}, threads=3) is None
        assert client.ask("q", LOG, {}, model=embedded()) is not None
    assert len(pruner.asked) == 1


def test_another_version_is_refused_and_the_old_process_ends(monkeypatch):
    with serving(Fake()) as served:
        place = served.daemon.place
        with client.connect(place.socket) as connection:
            line = frames.Line(connection, silence=10)
            identity = {**place.identity, "version": "0.0.0"}
            line.send({"kind": "prune", "identity": identity, "query": "q", "options": {}}, LOG)
            assert "other code" in line.receive()[0]["reason"]
        monkeypatch.setattr("linecls.__version__", "9.9.9")
        assert client.ask("q", LOG, {}) is None  # looks for another socket
        with client.connect(place.socket) as connection:
            line = frames.Line(connection, silence=10)
            line.send({"kind": "prune", "identity": place.identity, "query": "q", "options": {}}, LOG)
            assert line.receive()[0]["kind"] == "error"  # its own code is no longer on the disk
        served.thread.join(20)
        assert served.endings == ["the code or the model on the disk has changed"]


def test_a_failing_model_makes_the_caller_prune_by_itself():
    with serving(Fake()):
        assert client.ask("q", LOG, {"operating_point": "nonsense"}) is None


def test_a_busy_process(monkeypatch):
    monkeypatch.setattr("linecls.serving.daemon._BEAT_SECONDS", 0.05)
    pruner = Fake(delay=1.0)
    with serving(pruner):
        first = threading.Thread(target=client.ask, args=("first", LOG, {}))
        first.start()
        while not pruner.asked:
            time.sleep(0.01)
        begun = time.monotonic()
        assert client.ask("second", LOG, {}) is None
        assert time.monotonic() - begun < 0.8
        first.join()
    assert [query for query, _, _ in pruner.asked] == ["first"]  # nothing is computed for who went away


def test_a_long_answer_is_waited_for(monkeypatch):
    monkeypatch.setattr("linecls.serving.daemon._BEAT_SECONDS", 0.05)
    monkeypatch.setattr(client, "_SILENCE_SECONDS", 0.4)
    seen = []
    with serving(Fake(delay=1.2)):
        assert client.ask("q", LOG, {}, progress=lambda *numbers: seen.append(numbers)) is not None
    assert set(seen) == {(5, 10)}


def test_the_caller_says_that_the_best_line_does_not_fit():
    with serving(Fake()):
        result = prune("login", "--max-tokens", "1")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        "linecls: note: the best line has 7 tokens, more than --max-tokens 1, so none of the answer is shown\n"
    )


def test_a_caller_that_goes_away_costs_no_more_work(monkeypatch):
    monkeypatch.setattr("linecls.serving.daemon._BEAT_SECONDS", 0.05)
    ended = threading.Event()

    class Long(Fake):
        def prune(self, query, observation, *, progress, **options):
            if query != "long":
                return super().prune(query, observation, progress=progress, **options)
            try:
                for done in range(6000):
                    progress(done, 6000)
                    time.sleep(0.01)
            finally:
                ended.set()

    with serving(Long()) as served:
        with client.connect(served.daemon.place.socket) as connection:
            line = frames.Line(connection, silence=10)
            identity = served.daemon.place.identity
            line.send({"kind": "prune", "identity": identity, "query": "long", "options": {}}, LOG)
            assert line.receive()[0]["kind"] == "working"
        assert ended.wait(10)
        assert client.ask("q", LOG, {}) is not None


@contextmanager
def listening(runtime):
    runtime.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(endpoint.find().socket)
        listener.listen(1)
        yield listener


def test_a_process_that_hangs(runtime, monkeypatch):
    monkeypatch.setattr(client, "_SILENCE_SECONDS", 0.2)
    with listening(runtime):  # never accepts
        begun = time.monotonic()
        assert client.ask("q", os.urandom(1 << 20) * 4, {}) is None  # more than the kernel buffers
        assert client.ask("q", LOG, {}) is None
        assert time.monotonic() - begun < 2
        monkeypatch.setattr("linecls.serving.daemon._SILENCE_SECONDS", 0.2)
        with pytest.raises(EndpointError, match="does not answer"):
            request(endpoint.find().socket, "status")


def test_a_process_that_says_working_for_ever(runtime, monkeypatch):
    monkeypatch.setattr(client, "_DEADLINE_SECONDS", 0.3)
    stop = threading.Event()
    with listening(runtime) as listener:

        def chat():
            connection, _ = listener.accept()
            with connection:
                line = frames.Line(connection, silence=5)
                while not stop.wait(0.02):
                    try:
                        line.send({"kind": "working"})
                    except OSError:
                        return

        thread = threading.Thread(target=chat)
        thread.start()
        try:
            begun = time.monotonic()
            assert client.ask("q", LOG, {}) is None
            assert time.monotonic() - begun < 2
        finally:
            stop.set()
            thread.join()


@pytest.mark.parametrize(
    "header", [{}, {"kind": "answer"}, {"kind": "answer", "spans": [[1]], "answerable": 0.5}, {"kind": 3}]
)
def test_a_process_that_answers_nonsense(runtime, header):
    with listening(runtime) as listener:

        def answer():
            connection, _ = listener.accept()
            with connection:
                line = frames.Line(connection, silence=5)
                line.receive()
                line.send(header)

        thread = threading.Thread(target=answer)
        thread.start()
        assert client.ask("q", LOG, {}) is None
        thread.join()


def test_a_stale_socket_is_passed_over_and_replaced(runtime):
    with listening(runtime):
        pass
    place = endpoint.find()
    assert os.path.exists(place.socket)
    assert client.ask("q", LOG, {}) is None
    with serving(Fake()):
        assert client.ask("q", LOG, {}) is not None
    assert not os.path.exists(place.socket)


def test_stop_stops_the_one_of_the_same_options():
    with serving(Fake()) as plain, serving(Fake(), place=endpoint.find(threads=3)) as other:

        def stop(*arguments):
            result = CliRunner().invoke(main, ["daemon", "stop", *arguments])
            return result.exit_code, result.stdout, result.stderr

        note = "linecls: 1 of another model, device or version: see linecls daemon status; --all stops them too\n"
        assert stop() == (0, f"stopped: pid {os.getpid()}\n", "")
        plain.thread.join(20)
        assert not plain.thread.is_alive()
        assert stop() == (0, "nothing to stop\n", note)
        assert other.thread.is_alive()
        assert stop("--all", "--threads", "3")[0] == 2
        assert stop("--threads", "3") == (0, f"stopped: pid {os.getpid()}\n", "")
        other.thread.join(20)
        assert not other.thread.is_alive()
    with serving(Fake()), serving(Fake(), place=endpoint.find(device="cpu")):
        assert stop("--all") == (0, f"stopped: pid {os.getpid()}, pid {os.getpid()}\n", "")
        assert sockets() == []


def test_a_process_that_hangs_is_not_called_nothing(runtime, monkeypatch):
    monkeypatch.setattr("linecls.serving.daemon._SILENCE_SECONDS", 0.2)
    with listening(runtime):  # never accepts
        says = f"linecls: the process behind {endpoint.find().socket} does not answer; end it with: kill -9 "
        for command in ("stop", "status"):
            result = CliRunner().invoke(main, ["daemon", command])
            assert (result.exit_code, result.stdout) == (1, "")
            assert result.stderr.startswith(says)
            assert result.stderr.count("\n") == 1
        # Another one that runs is seen all the same.
        with serving(Fake(), place=endpoint.find(threads=3)):
            assert json.loads(CliRunner().invoke(main, ["daemon", "status", "--json"]).stdout)[0]["threads"] == 3


def test_stop_sweeps_stale_sockets(runtime):
    with listening(runtime):
        pass
    result = CliRunner().invoke(main, ["daemon", "stop"])
    assert (result.exit_code, result.stdout) == (0, "nothing to stop\n")
    assert sockets() == []


# Privacy


def test_the_directory_and_the_socket_are_the_user_s_alone(runtime):
    with serving(Fake()) as served:
        assert runtime.stat().st_mode & 0o777 == 0o700
        assert os.stat(served.daemon.place.socket).st_mode & 0o777 == 0o600


def test_a_directory_that_others_may_enter_is_refused(runtime):
    with serving(Fake()) as served:
        runtime.chmod(0o755)
        assert client.ask("q", LOG, {}) is None
        runtime.chmod(0o700)
        assert client.ask("q", LOG, {}) is not None
        assert served.daemon.status()["answered"] == 1
    runtime.chmod(0o755)
    with pytest.raises(EndpointError, match="only you may enter"):
        Daemon(endpoint.find(), Fake).run()
    with pytest.raises(EndpointError, match="only you may enter"):
        client.start(endpoint.find())


def test_a_link_in_the_place_of_the_directory_is_refused(runtime, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    runtime.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EndpointError, match="only you may enter"):
        Daemon(endpoint.find(), Fake).run()


def test_another_user_is_turned_away(monkeypatch):
    pruner = Fake()
    with serving(pruner):
        monkeypatch.setattr("linecls.serving.daemon.peer_uid", lambda _: os.geteuid() + 1)
        assert client.ask("q", LOG, {}) is None
        monkeypatch.setattr("linecls.serving.daemon.peer_uid", frames.peer_uid)
        monkeypatch.setattr("linecls.serving.frames.peer_uid", lambda _: os.geteuid() + 1)
        assert client.ask("q", LOG, {}) is None
    assert pruner.asked == []


def test_the_peer_is_known_here():
    left, right = socket.socketpair()
    with left, right:
        assert frames.peer_uid(left) == os.geteuid()
        assert frames.peer_pid(left) == os.getpid()


def test_a_path_too_long_for_a_socket(runtime, monkeypatch):
    deep = runtime.parent / ("d" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    with pytest.raises(EndpointError, match="too long"):
        Daemon(endpoint.find(), Fake).run()
    assert client.ask("q", LOG, {}) is None


# Life and death


def test_of_two_processes_the_second_gives_way(monkeypatch):
    monkeypatch.setattr("linecls.serving.daemon.run_until_signal", lambda daemon, **options: daemon.run(**options))
    with serving(Fake()):

        def load():
            raise AssertionError("the second must not load the model")

        with pytest.raises(AlreadyRunning, match="runs already"):
            Daemon(endpoint.find(), load).run()
        assert client.ask("q", LOG, {}) is not None
        result = CliRunner().invoke(main, ["daemon", "run"])
        assert result.exit_code == 1
        assert "runs already; see: linecls daemon status" in result.stderr


@pytest.mark.parametrize("is_early", [False, True])
def test_of_two_starts_the_second_waits_for_the_first(monkeypatch, is_early):
    started, looks, begin, is_held = [], [], client.start, daemon_module.is_held

    def start(*arguments, **options):
        started.append(begin(*arguments, **options))
        return started[-1]

    def look(path):
        looks.append(is_held(path))
        return looks[-1] and not (is_early and len(looks) == 1)  # early: the first had no lock when this one looked

    def load():  # the lock is held, and nobody listens yet
        while len(looks) < 2:
            time.sleep(0.01)
        for process in started:
            assert process.wait(60) == 1
        return Fake()

    monkeypatch.setattr(client, "start", start)
    monkeypatch.setattr(daemon_module, "is_held", look)
    daemon = Daemon(endpoint.find(), load)
    first = threading.Thread(target=daemon.run)
    first.start()
    try:
        while not is_held(daemon.place.lock):
            time.sleep(0.01)
        result = CliRunner().invoke(main, ["daemon", "start"])
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == f"already running: pid {os.getpid()}, socket {daemon.place.socket}\n"
        assert len(started) == is_early
    finally:
        for process in started:  # before the lock is free, or the last one would get it
            process.wait(60)
        daemon.stop()
        first.join(20)
    assert not is_held(daemon.place.lock)


def starts(monkeypatch, status, says):
    """Starts whose first process ends with a status after it has said something; the second one goes on."""
    started = []

    def start(*_, errors, **__):
        started.append(None)
        if len(started) > 1:
            return SimpleNamespace(pid=os.getpid(), poll=lambda: None)
        os.write(errors.fileno(), f"linecls: {says}\n".encode())
        return SimpleNamespace(pid=-1, poll=lambda: status)

    monkeypatch.setattr(client, "start", start)
    return started


def test_when_the_first_of_two_starts_fails_the_second_takes_over(monkeypatch):
    started = starts(monkeypatch, 1, daemon_module.GAVE_WAY)
    monkeypatch.setattr("linecls.cli.daemon._status", lambda _: {"pid": os.getpid()} if len(started) == 2 else None)
    begun = time.monotonic()
    result = CliRunner().invoke(main, ["daemon", "start"])
    assert result.stdout == f"running: pid {os.getpid()}, socket {endpoint.find().socket}\n"
    assert time.monotonic() - begun < 20


def test_an_interpreter_that_fails_has_not_given_way(monkeypatch):
    started = starts(monkeypatch, 1, "MemoryError")
    result = CliRunner().invoke(main, ["daemon", "start"])
    assert (result.exit_code, result.stderr) == (2, "linecls: it ended at once: MemoryError\n")
    assert len(started) == 1


@pytest.mark.parametrize("answers", [True, False])
def test_a_start_waits_for_a_process_that_takes_its_time(monkeypatch, answers):
    asked = []

    def status(path):
        asked.append(path)
        if len(asked) < 4 or not answers:
            raise EndpointError("it does not answer")
        return {"pid": 7}

    monkeypatch.setattr(client, "start", lambda *_, **__: pytest.fail("another one must not be started"))
    monkeypatch.setattr("linecls.cli.daemon._status", status)
    result = CliRunner().invoke(main, ["daemon", "start", *([] if answers else ["--wait", "0.2"])])
    if answers:
        assert result.stdout == f"already running: pid 7, socket {endpoint.find().socket}\n"
    else:
        assert (result.exit_code, result.stderr) == (2, "linecls: it does not answer\n")


def test_a_start_follows_a_socket_whose_name_changes(monkeypatch):
    old, new = endpoint.find(threads=5), endpoint.find()
    started, places = starts(monkeypatch, None, ""), iter([old, old])
    monkeypatch.setattr(endpoint, "find", lambda *_: next(places, new))
    monkeypatch.setattr("linecls.cli.daemon._status", lambda path: {"pid": 7} if path == new.socket else None)
    result = CliRunner().invoke(main, ["daemon", "start", "--wait", "5"])
    assert (result.exit_code, result.stdout) == (0, f"already running: pid 7, socket {new.socket}\n")
    assert len(started) == 1


def test_a_start_that_takes_too_long_says_what_to_do(monkeypatch):
    starts(monkeypatch, None, "")
    result = CliRunner().invoke(main, ["daemon", "start", "--wait", "0.1"])
    assert result.exit_code == 2
    assert result.stderr.startswith("linecls: it does not answer after 0.1 s and may still be loading the model; ")


def test_who_looks_at_the_lock_does_not_keep_it(runtime):
    import fcntl

    place = endpoint.find()
    assert not daemon_module.is_held(place.lock)  # there is none yet
    endpoint.make_private(place.directory)
    with open(place.lock, "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        letting_go = threading.Timer(0.1, fcntl.flock, (lock, fcntl.LOCK_UN))
        letting_go.start()
        with daemon_module._held(place.lock):
            assert daemon_module.is_held(place.lock)
        letting_go.join()
    assert not daemon_module.is_held(place.lock)


def test_it_ends_when_idle():
    with serving(Fake(), idle=0.2) as served:
        served.thread.join(20)
        assert served.endings == ["nobody asked for a while"]


def test_it_ends_when_its_socket_is_gone():
    with serving(Fake(), idle=2.0) as served:
        os.unlink(served.daemon.place.socket)
        served.thread.join(20)
        assert served.endings == ["its socket is gone"]


def test_the_last_answer_is_given_before_it_ends():
    pruner = Fake(delay=0.5)
    answers = []
    with serving(pruner) as served:
        thread = threading.Thread(target=lambda: answers.append(client.ask("q", LOG, {})))
        thread.start()
        while not pruner.asked:
            time.sleep(0.01)
        served.daemon.stop()
        thread.join()
    assert answers == [([(1, 1)], 0.25, None)]


def test_too_many_callers_are_turned_away(monkeypatch):
    monkeypatch.setattr("linecls.serving.daemon._CALLERS", 2)
    with serving(Fake()) as served:
        idle = [client.connect(served.daemon.place.socket) for _ in range(2)]
        while served.daemon._callers < 2:
            time.sleep(0.01)
        assert client.ask("q", LOG, {}) is None
        for connection in idle:
            connection.close()
        while served.daemon._callers:
            time.sleep(0.01)
        assert client.ask("q", LOG, {}) is not None


def test_a_failed_start_is_not_repeated_at_once(runtime, monkeypatch):
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda *arguments, **_: started.append(arguments[0]) or "process")
    for _ in range(3):
        assert client.ask("q", LOG, {}, wanted=True) is None
    assert len(started) == 1
    assert client.start(endpoint.find(), patience=0) is not None


def test_started_on_demand_used_shown_and_stopped(runtime, tmp_path):
    pytest.importorskip("onnxruntime")
    log = tmp_path / "log"
    log.write_bytes(LOG)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", client.ENVIRONMENT: "1"}

    def linecls(*arguments):
        command = [sys.executable, "-m", "linecls", *arguments]
        return subprocess.run(command, env=environment, check=False, capture_output=True, timeout=120, cwd=tmp_path)

    assert linecls("daemon", "status").returncode == 1
    first = linecls("prune", "why does the login test fail", "log")
    try:
        limit = time.monotonic() + 60
        while not sockets() and time.monotonic() < limit:
            time.sleep(0.05)
        again = linecls("daemon", "start")
        assert again.returncode == 0
        assert again.stdout.startswith(b"already running: pid ")
        second = linecls("prune", "why does the login test fail", "log")
        assert (first.returncode, first.stdout, first.stderr) == (second.returncode, second.stdout, second.stderr)
        (values,) = json.loads(linecls("daemon", "status", "--json").stdout)
        assert values["answered"] == 1
        assert values["model"] == str(embedded())
        assert b"1 answers" in linecls("daemon", "status").stdout
        os.kill(values["pid"], signal.SIGSTOP)  # it hangs: the answer comes all the same
        try:
            third = linecls("prune", "why does the login test fail", "log")
            assert (third.stdout, third.stderr) == (first.stdout, first.stderr)
        finally:
            os.kill(values["pid"], signal.SIGCONT)
    finally:
        stopped = linecls("daemon", "stop")
    assert stopped.stdout.startswith(b"stopped: pid ")
    assert sockets() == []
    assert linecls("daemon", "stop").stdout == b"nothing to stop\n"


@pytest.mark.parametrize("wait", ["-1", "0", "nan", "inf", "soon"])
def test_a_wait_that_is_none_is_a_usage_error(monkeypatch, wait):
    monkeypatch.setattr(client, "start", lambda *_, **__: pytest.fail("nothing must be started"))
    result = CliRunner().invoke(main, ["daemon", "start", "--wait", wait])
    assert result.exit_code == 2
    assert "Invalid value for '--wait'" in result.stderr


@pytest.mark.parametrize("name", ["linecls.json", "encoder-int8.onnx", "tokenizer.json"])
def test_a_start_that_fails_names_the_file_that_is_broken(tiny_model_dir, tmp_path, name):
    pytest.importorskip("onnxruntime")
    model = shutil.copytree(tiny_model_dir, tmp_path / "model")
    (model / name).write_text("{}")
    result = CliRunner().invoke(main, ["daemon", "start", "--model", str(model)])
    assert result.exit_code == 2
    assert result.stderr.startswith("linecls: it ended at once: ")
    assert str(model / name) in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_start_with_no_model_names_the_directory(tmp_path):
    result = CliRunner().invoke(main, ["daemon", "start", "--model", str(tmp_path / "nowhere")])
    assert result.exit_code == 2
    assert f"cannot read {tmp_path / 'nowhere'}" in result.stderr


def test_a_signal_ends_it_in_order(runtime):
    pytest.importorskip("onnxruntime")
    command = [sys.executable, "-m", "linecls", "daemon", "run", "--idle", "60"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("linecls: listening on ")
        process.terminate()
        assert process.stderr.readline() == "linecls: ended: a signal\n"
        assert process.wait(20) == 0
    assert sockets() == []
