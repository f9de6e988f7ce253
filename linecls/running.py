"""Run a command once, its output captured in the order in which it was written.

Standard output and standard error share one pipe (or one pseudo terminal), so what the command wrote stands as a
terminal would show it. Memory is bounded: the capture goes to disk beyond `_IN_MEMORY`, and an output that outgrows
`max_bytes` is handed on as it comes. Signals that reach this process are passed on to the command.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_IN_MEMORY = 8 << 20
_PIECE = 1 << 16
_PIECES = 64  # so many wait to be taken; then the command waits
_GRACE = 2.0  # seconds between asking a command to end and killing it
_LINGER = 0.5  # seconds that the output of an ended command may stay silent, held open by a process it left behind
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_FROM_TERMINAL = tuple(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))
_SIGNALS = tuple(getattr(signal, name) for name in _FORWARDED if hasattr(signal, name))


@dataclass(frozen=True)
class Finished:
    """A command that has ended.

    output: what it wrote; None when that was more than the limit, and `overflow` got all of it.
    returncode: its exit status, or minus the signal it died of.
    timed_out: whether it was ended because its time was up.
    """

    output: bytes | None
    returncode: int
    timed_out: bool


def run(
    command: Sequence[str],
    *,
    max_bytes: int,
    overflow: Callable[[bytes], object],
    timeout: float | None = None,
    terminal: bool = False,
    note: Callable[[int, float], object] | None = None,
) -> Finished:
    """Run a command to its end.

    max_bytes, overflow: an output of more bytes is given to `overflow`, in pieces: what there is by then, and
        then the rest as it comes. What `overflow` raises ends the reading, and the command is told by a broken
        pipe.
    timeout: seconds after which the command is asked to end, and killed 2 s later.
    terminal: give the command a pseudo terminal as its output (POSIX only), for programs that look.
    note: called about once a second with the bytes so far and the seconds.

    Standard input is the caller's. Raises OSError when the command cannot be started.
    """
    start = time.monotonic()
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool, _Relay() as relay:
        process, source = _start(command, terminal)
        own_group = _has_own_group()
        relay.attach(process, own_group)
        pieces: queue.Queue[bytes | None] = queue.Queue(_PIECES)
        threading.Thread(target=_read, args=(source, pieces), daemon=True).start()
        size, overflowed, timed_out = 0, False, False
        ended: float | None = None  # when the command was seen to have ended, or last wrote after that
        noted = start
        try:
            while True:
                now = time.monotonic()
                if timeout is not None and now - start > timeout and ended is None and not timed_out:
                    timed_out = True
                    _end(process, own_group)
                if note is not None and now - noted >= 1:
                    noted = now
                    note(size, now - start)
                try:
                    piece = pieces.get(timeout=0.1)
                except queue.Empty:
                    if process.poll() is not None:
                        ended = ended or now
                        if now - ended > _LINGER:
                            break
                    continue
                if piece is None:
                    break
                ended = now if ended else None
                size += len(piece)
                if overflowed:
                    overflow(piece)
                    continue
                spool.write(piece)
                if size > max_bytes:
                    overflowed = True
                    spool.seek(0)
                    while kept := spool.read(_PIECE):
                        overflow(kept)
                    spool.seek(0)
                    spool.truncate()
            timed_out = _wait(process, own_group, start, timeout) or timed_out
        except BaseException:
            _abandon(process, source, own_group)
            raise
        spool.seek(0)
        return Finished(None if overflowed else spool.read(), process.returncode, timed_out)


def _start(command: Sequence[str], terminal: bool) -> tuple[subprocess.Popen[bytes], int]:
    """The process, and the descriptor to read its output from."""
    if terminal:
        source, sink = _open_terminal()
    else:
        source, sink = os.pipe()
    options: dict[str, object] = {}
    if _has_own_group():
        if sys.version_info >= (3, 11):
            options["process_group"] = 0
        else:
            options["preexec_fn"] = os.setpgrp
    try:
        return subprocess.Popen(list(command), stdout=sink, stderr=sink, **options), source  # pyright: ignore
    except BaseException:
        os.close(source)
        raise
    finally:
        os.close(sink)


def _open_terminal() -> tuple[int, int]:
    """A pseudo terminal, master and slave, 200 columns wide, that leaves line ends as they are."""
    import fcntl
    import pty
    import struct
    import termios

    source, sink = pty.openpty()
    attributes = termios.tcgetattr(sink)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(sink, termios.TCSANOW, attributes)
    fcntl.ioctl(sink, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    return source, sink


def _has_own_group() -> bool:
    """Whether the command gets a process group, so that all it starts can be ended.

    Not when it may read from a terminal: only the terminal's foreground group may.
    """
    return os.name == "posix" and not (sys.stdin is not None and _is_terminal(sys.stdin))


def _is_terminal(stream: object) -> bool:
    with suppress(Exception):
        return bool(stream.isatty())  # pyright: ignore[reportAttributeAccessIssue]
    return False


def _read(source: int, pieces: queue.Queue[bytes | None]) -> None:
    """Move what comes from the descriptor into the queue; None at its end."""
    while True:
        try:
            piece = os.read(source, _PIECE)
        except OSError:  # a pseudo terminal whose other side is closed; or the reading was given up
            piece = b""
        pieces.put(piece or None)
        if not piece:
            return


class _Relay:
    """While entered, passes the signals that this process gets on to the command instead of ending by them.

    It is entered before the command starts: a signal that comes too early waits for `attach`.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._own_group = False
        self._early: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Relay:
        if threading.current_thread() is threading.main_thread():  # others may not handle signals
            self._before = {number: signal.signal(number, self._take) for number in _SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if self._process is None:  # nothing was started
            for number in self._early:
                os.kill(os.getpid(), number)

    def attach(self, process: subprocess.Popen[bytes], own_group: bool) -> None:
        """From now on signals go to this command."""
        self._process, self._own_group = process, own_group
        for number in self._early:
            self._pass_on(number)

    def _take(self, number: int, frame: object) -> None:
        if self._process is None:
            self._early.append(number)
        else:
            self._pass_on(number)

    def _pass_on(self, number: int) -> None:
        # A terminal has sent its interrupt to the whole foreground group already.
        if self._process is not None and (self._own_group or number not in _FROM_TERMINAL):
            _send(self._process, self._own_group, number)


def _send(process: subprocess.Popen[bytes], own_group: bool, number: int) -> None:
    with suppress(OSError):
        if own_group:
            os.killpg(process.pid, number)
        elif process.poll() is None:
            process.send_signal(number)


def _end(process: subprocess.Popen[bytes], own_group: bool) -> None:
    """Ask the command to end; kill it when it does not."""
    _send(process, own_group, signal.SIGTERM)
    kill = getattr(signal, "SIGKILL", signal.SIGTERM)
    timer = threading.Timer(_GRACE, _send, (process, own_group, kill))
    timer.daemon = True
    timer.start()


def _wait(process: subprocess.Popen[bytes], own_group: bool, start: float, timeout: float | None) -> bool:
    """Wait for a command that has closed its output; whether its time ran out meanwhile."""
    timed_out = False
    while True:
        try:
            process.wait(0.2)
            return timed_out
        except subprocess.TimeoutExpired:
            if timeout is not None and time.monotonic() - start > timeout and not timed_out:
                timed_out = True
                _end(process, own_group)


def _abandon(process: subprocess.Popen[bytes], source: int, own_group: bool) -> None:
    """The reader of the output is gone: tell the command as a shell would, and do not wait for long."""
    with suppress(OSError):
        os.close(source)
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        _send(process, own_group, getattr(signal, "SIGPIPE", signal.SIGTERM))
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
