"""Work that may fail, hang or crash, done so that the caller goes on in time all the same."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable

_PIECE = 1 << 16


def since_start() -> float:
    """Seconds that this process has lived, the interpreter's start included; 0 where the system does not tell."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def read_stdin(limit: int, until: float) -> bytes | None:
    """Standard input to its end; None when it has more than `limit` bytes or does not end by `until`.

    until: a time of time.monotonic.
    """
    if sys.stdin is None:
        return None
    if os.name == "nt":
        data = sys.stdin.buffer.read(limit + 1)
        return data if len(data) <= limit else None
    return _read(sys.stdin.fileno(), limit, until)


def answer_of(work: Callable[[], bytes], until: float) -> bytes:
    """What `work` returns; b"" when it raises, crashes, or has not ended by `until` (a time of time.monotonic).

    The work is done in a child process, which is killed when its time is up: neither a library that holds the
    interpreter's lock nor one that crashes or eats all memory can keep the caller. Where there is no fork, a
    thread does it.
    """
    if not hasattr(os, "fork"):
        return _in_thread(work, until)
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        _work(work, source, sink)
    os.close(sink)
    try:
        answer = _read(source, sys.maxsize, until)
        # The status tells a whole answer from one that a crash has cut off.
        return answer if answer is not None and _ended_well(child, until) else b""
    finally:
        os.close(source)
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _read(source: int, limit: int, until: float) -> bytes | None:
    """All that comes from a descriptor; None when that is more than the limit or takes too long."""
    parts: list[bytes] = []
    size = 0
    while True:
        wait = until - time.monotonic()
        if wait <= 0 or not select.select([source], [], [], wait)[0]:
            return None
        piece = os.read(source, _PIECE)
        if not piece:
            return b"".join(parts)
        parts.append(piece)
        size += len(piece)
        if size > limit:
            return None


def _ended_well(child: int, until: float) -> bool:
    """Whether a child that has closed its pipe ends with status 0."""
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.002)
    return False


def _work(work: Callable[[], bytes], source: int, sink: int) -> None:
    """The child's whole life. Never returns."""
    status = 1
    try:
        os.close(source)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):  # a word of a library on standard output would spoil the reply
            os.dup2(nowhere, descriptor)
        rest = memoryview(work())
        while rest:
            rest = rest[os.write(sink, rest) :]
        status = 0
    finally:
        os._exit(status)


def _in_thread(work: Callable[[], bytes], until: float) -> bytes:
    results: list[bytes] = []

    def run() -> None:
        with contextlib.suppress(Exception):
            results.append(work())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, until - time.monotonic()))
    return results[0] if results else b""
