"""The resident process: one loaded model behind a unix socket, for this user alone.

It answers one query at a time. It ends when nobody has asked for a while, when it is told to, when its socket is
gone, and when the code or the model on the disk is no longer what it loaded.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

from linecls.errors import LineclsError
from linecls.serving import client, endpoint
from linecls.serving.endpoint import Endpoint, EndpointError
from linecls.serving.frames import FrameError, Line, peer_pid, peer_uid

IDLE_SECONDS = 900
GAVE_WAY = "a resident process for this model runs already; see: linecls daemon status"

_BEAT_SECONDS = 0.5  # how often a waiting caller hears that the process is working
_SILENCE_SECONDS = 5.0
_REQUEST_SECONDS = 60.0  # from the connection to the request's last byte
_CALLERS = 16
_TICK_SECONDS = 15.0
_ENDING_SECONDS = 10.0
_LOOK_SECONDS = 1.0  # who only looks at the lock has let go of it by then


class AlreadyRunning(EndpointError):
    """Another process serves the same model, or is about to."""


class _Abandoned(Exception):
    """Nobody waits for the answer any more."""


class _Pruner(Protocol):
    def prune(self, query: str, observation: bytes, **options: Any) -> Any: ...


class Daemon:
    """Answers on `place.socket` until it is idle for `idle_seconds` or told to stop.

    load: gives the pruner; called once the lock is held, so that of two processes only one loads the model.
    """

    def __init__(self, place: Endpoint, load: Callable[[], _Pruner], *, idle_seconds: float = IDLE_SECONDS) -> None:
        self.place = place
        self.idle_seconds = idle_seconds
        self._load = load
        self._started = self._last_used = time.monotonic()
        self._answered = 0
        self._callers = 0
        self._guard = threading.Lock()
        self._stopping = threading.Event()
        self._over = threading.Event()  # the callers of the last moment have had their time
        self._ending = ""

    def run(self, *, ready: Callable[[], None] = lambda: None) -> str:
        """Serve until it is over; returns why it ended. `ready` is called when the socket listens.

        Raises AlreadyRunning when another process serves the same, EndpointError when the socket cannot be made, and
        what `load` raises.
        """
        endpoint.make_private(self.place.directory)
        endpoint.check_length(self.place.socket)
        with _held(self.place.lock):
            pruner = self._load()
            self._wake, self._waker = socket.socketpair()
            with self._wake, self._waker, _listening(self.place.socket) as listener:
                inode = os.stat(self.place.socket).st_ino
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="linecls-model")
                self._last_used = time.monotonic()
                ready()
                while not self._stopping.is_set():
                    self._wait(listener, pruner)
                    self._end_if_over(inode)
            self._finish()
            os.utime(self.place.lock, (0, 0))  # the next start need not wait for this one
        return self._ending

    def stop(self, reason: str = "it was told to stop") -> None:
        """End the loop; may be called from any thread and from a signal handler."""
        self._ending = self._ending or reason
        self._stopping.set()
        with contextlib.suppress(OSError, AttributeError):
            self._waker.send(b"x")

    def _wait(self, listener: socket.socket, pruner: _Pruner) -> None:
        tick = min(_TICK_SECONDS, max(self.idle_seconds / 4, 0.05))
        ready, _, _ = select.select([listener, self._wake], [], [], tick)
        if listener not in ready or self._stopping.is_set():
            return
        try:
            connection, _ = listener.accept()
        except OSError:  # the caller is gone already, or there are too many open files
            time.sleep(0.01)
            return
        with self._guard:
            full = self._callers >= _CALLERS
            self._callers += not full
        if full or peer_uid(connection) not in (None, os.geteuid()):
            connection.close()
            if not full:
                self._leave()
            return
        threading.Thread(target=self._converse, args=(connection, pruner), daemon=True).start()

    def _leave(self) -> None:
        with self._guard:
            self._callers -= 1

    def _end_if_over(self, inode: int) -> None:
        if not self._callers and time.monotonic() - self._last_used >= self.idle_seconds:
            self.stop("nobody asked for a while")
        try:
            if os.stat(self.place.socket).st_ino != inode:
                self.stop("its socket was replaced")
        except OSError:
            self.stop("its socket is gone")

    def _finish(self) -> None:
        """Let the callers of this moment have their answers, but not for ever."""
        limit = time.monotonic() + _ENDING_SECONDS
        while self._callers and time.monotonic() < limit:
            time.sleep(0.02)
        self._over.set()
        self._worker.shutdown(wait=not self._callers, cancel_futures=True)

    def _converse(self, connection: socket.socket, pruner: _Pruner) -> None:
        try:
            with connection:
                line = Line(connection, silence=_SILENCE_SECONDS, deadline=time.monotonic() + _REQUEST_SECONDS)
                header, body = line.receive()
                line.deadline = None
                line.send(self._reply(line, header, body, pruner))
        except (OSError, FrameError):
            pass  # the caller went away, or is none of ours; it has another way to its answer
        finally:
            self._leave()

    def _reply(self, line: Line, header: dict[str, Any], body: bytes, pruner: _Pruner) -> dict[str, Any]:
        kind = header.get("kind")
        if kind == "status":
            return {"kind": "status", **self.status()}
        if kind == "stop":
            self.stop()
            return {"kind": "stopping", "pid": os.getpid()}
        if kind != "prune":
            return {"kind": "error", "reason": "unknown kind of message"}
        if header.get("identity") != self.place.identity or not self._is_current():
            return {"kind": "error", "reason": "this process has other code or another model"}
        self._last_used = time.monotonic()
        progress: dict[str, int] = {}
        is_gone = threading.Event()

        def note(done: int, total: int) -> None:
            if is_gone.is_set() or self._over.is_set():
                raise _Abandoned
            progress.update(done=done, total=total)

        try:
            future = self._worker.submit(pruner.prune, header["query"], body, progress=note, **header["options"])
        except Exception as error:  # a malformed request, or the worker is shut down
            return {"kind": "error", "reason": f"{type(error).__name__}: {error}"}
        try:
            return self._await(line, future, progress)
        finally:
            is_gone.set()
            self._last_used = time.monotonic()

    def _await(self, line: Line, future: Future[Any], progress: dict[str, int]) -> dict[str, Any]:
        while not wait([future], timeout=_BEAT_SECONDS).done:
            if future.cancel():  # another query is still running; this caller is faster by itself
                return {"kind": "error", "reason": "busy"}
            line.send({"kind": "working", **progress})
        try:
            pruning = future.result()
        except Exception as error:
            return {"kind": "error", "reason": f"{type(error).__name__}: {error}"}
        self._answered += 1
        spans = [[int(start), int(end)] for start, end in pruning.spans]
        return {
            "kind": "answer",
            "spans": spans,
            "answerable": float(pruning.answerable),
            "unfit_tokens": pruning.unfit_tokens,
        }

    def _is_current(self) -> bool:
        """Whether the code and the model on the disk are still those that were loaded; if not, it is over."""
        identity = self.place.identity
        try:
            current = endpoint.find(identity["model"], identity["device"], identity["threads"]).identity == identity
        except LineclsError:
            current = False
        if not current:
            self.stop("the code or the model on the disk has changed")
        return current

    def status(self) -> dict[str, Any]:
        """Process id, version, model, seconds since the start, answers given, seconds until it ends when idle."""
        now = time.monotonic()
        return {
            "pid": os.getpid(),
            "version": self.place.identity["version"],
            "model": self.place.identity["model"],
            "device": self.place.identity["device"],
            "threads": self.place.identity["threads"],
            "up_seconds": round(now - self._started, 1),
            "answered": self._answered,
            "ends_in_seconds": round(max(0.0, self.idle_seconds - (now - self._last_used)), 1),
        }


def run_until_signal(daemon: Daemon, *, ready: Callable[[], None] = lambda: None) -> str:
    """`daemon.run` in the main thread of a process; SIGTERM, SIGINT and SIGHUP end it in order."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: daemon.stop("a signal"))
    return daemon.run(ready=ready)


def request(path: str, kind: str) -> dict[str, Any]:
    """The reply of the process behind a socket to `status` or `stop`.

    Raises EndpointError when it does not answer (the message names its process id where the system tells),
    ConnectionRefusedError or FileNotFoundError when nobody listens.
    """
    try:
        connection = client.connect(path)
    except (BlockingIOError, TimeoutError) as error:  # so many wait already that the kernel takes no more
        raise EndpointError(f"the process behind {path} does not answer; find it with: fuser {path}") from error
    with connection:
        try:
            line = Line(connection, silence=_SILENCE_SECONDS)
            line.send({"kind": kind})
            return line.receive()[0]
        except (OSError, FrameError) as error:
            pid = peer_pid(connection)
            raise EndpointError(
                f"the process behind {path} does not answer; end it with: kill -9 {pid or 'PID'}"
            ) from error


def sockets() -> list[str]:
    """Paths of the sockets in the private directory, whether anybody listens or not."""
    folder = endpoint.directory()
    if not endpoint.is_private(folder):
        return []
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".sock"))


def is_held(path: str) -> bool:
    """Whether a process holds the lock file: it serves, or it is loading the model, or it is about to end."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _held(path: str) -> Iterator[None]:
    """Hold the lock file. Raises AlreadyRunning when another process holds it, for longer than `is_held` does."""
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        limit = time.monotonic() + _LOOK_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() >= limit:
                    raise AlreadyRunning(GAVE_WAY) from error
            time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _listening(path: str) -> Iterator[socket.socket]:
    """A listening socket at `path`, in the place of what a killed process left; removed at the end.

    Only for the holder of the lock.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            listener.bind(path)
            os.chmod(path, 0o600)
            listener.listen(_CALLERS)
        except OSError as error:
            raise EndpointError(f"cannot listen on {path}: {error.strerror}") from error
        listener.setblocking(False)
        inode = os.stat(path).st_ino
        yield listener
        with contextlib.suppress(OSError):
            if os.stat(path).st_ino == inode:
                os.unlink(path)
    finally:
        listener.close()
