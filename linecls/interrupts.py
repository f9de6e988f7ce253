"""Input that a signal cannot lose: what was read of it is there when the process is told to end.

A terminal sends its interrupt to the whole pipeline, and who writes into the pipe may have much to say yet: a test
runner prints its summary then. So the first interrupt does not end the reading of a pipe, a second one does.

The standard library alone is imported here: this is on the way of every `linecls prune`.
"""

from __future__ import annotations

import os
import select
import signal
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TYPE_CHECKING = False  # see linecls/__init__.py
if TYPE_CHECKING:
    from typing import Any, BinaryIO

INTERRUPTED = "interrupted: what was read of the input went through unchanged"

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_PIECE = 1 << 16
_MOST_PIPED = 1 << 20  # bytes that a pipe can hold, on systems as they come
_PATIENCE = 1.0  # seconds after an interrupt before somebody may wonder why nothing ends
_READS_ON = "interrupted: reading on until the other side of the pipe ends; a second interrupt ends it at once"


class Interrupted(BaseException):
    """A signal that ends the process has come; `number` says which."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def status(self) -> int:
        """The exit status: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + self.number


class Interrupts:
    """While entered, a signal that would end the process raises Interrupted in its place.

    raw: what `read` has read, all of it up to the signal when one came.

    until_read: let the first signal wait until `read` begins, which hands on what is there, or until `settle`.

    While a pipe is read the first SIGINT waits for the pipe's end. A signal that was ignored before (by nohup, or for
    a shell's background job) stays so. In a thread that is not the main one signals cannot be handled, and nothing
    changes.
    """

    _entered: Interrupts | None = None

    def __init__(self, *, until_read: bool = False) -> None:
        self.raw = b""
        self._before: dict[int, Any] = {}
        self._is_early = until_read  # of two signals the second does not wait
        self._is_held = until_read  # a signal waits for the next `_release`
        self._came: int | None = None
        self._reads_pipe = False  # the first interrupt waits for the pipe's end
        self._interrupted: float | None = None  # when it came
        self._has_told = False

    @classmethod
    def entered(cls, *, until_read: bool = False) -> Interrupts:
        """The one that is entered already, else a new one."""
        return cls._entered or cls(until_read=until_read)

    @classmethod
    def hand_over(cls) -> None:
        """Leave the one that is entered, if any: signals are for others now, and one that has waited comes again."""
        if (signals := cls._entered) is not None:
            signals.__exit__()
            if signals._came is not None:
                signal.raise_signal(signals._came)

    def __enter__(self) -> Interrupts:
        if Interrupts._entered is self:
            return self
        for number in _SIGNALS:
            before = signal.getsignal(number)
            if before is signal.SIG_IGN:
                continue
            try:
                signal.signal(number, self._take)
            except ValueError:  # not the main thread
                break
            self._before[number] = before
        if self._before:
            Interrupts._entered = self
        return self

    def __exit__(self, *_: object) -> None:
        if Interrupts._entered is self:
            Interrupts._entered = None
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _take(self, number: int, frame: object) -> None:
        if number == signal.SIGINT and self._reads_pipe and self._interrupted is None:
            self._interrupted = time.monotonic()
        elif self._is_held and not (self._is_early and self._came is not None):
            self._came = self._came or number
        else:
            raise Interrupted(number)

    def _release(self) -> None:
        self._is_held = False
        if self._came is not None:
            number, self._came = self._came, None
            raise Interrupted(number)

    def settle(self) -> None:
        """Nothing is read here: a signal that has waited for that raises now, and others when they come."""
        self._is_early = False
        self._release()

    @contextmanager
    def held(self) -> Iterator[None]:
        """A signal that comes inside the block raises at its end."""
        self._is_held = True
        try:
            yield
        finally:
            self._release()

    def read(self, stream: BinaryIO, most: int | None = None, *, before: bytes = b"") -> bytes:
        """Read a stream to its end into `raw`, behind what was read `before`, or until there are over `most` bytes.

        Raises OSError as the stream does. No byte that was taken from it is lost, whenever a signal comes. Who gets
        over `most` bytes of a pipe reads on, with `read` or `pass_on`: an interrupt that came waits for that.
        """
        pieces = [before]
        size = len(before)
        self._begin(stream)
        try:
            while most is None or size <= most:
                piece = self._next(stream)
                if not piece:
                    self._end()
                    break
                pieces.append(piece)
                size += len(piece)
        except Interrupted:
            self._is_held = True
            self._reads_pipe = False
            # What the other side of a pipe has written before it was interrupted, too.
            size = 0
            while size < _MOST_PIPED and _is_ready(stream, 0) and (piece := _take_piece(stream)):
                pieces.append(piece)
                size += len(piece)
            raise
        finally:
            self.raw = b"".join(pieces)
            self._release()
        return self.raw

    def pass_on(self, stream: BinaryIO, write: Callable[[bytes], object]) -> None:
        """Give `raw`, and then what is left of the stream as it comes, to `write`.

        A signal ends it between two pieces, the first SIGINT at the end of a pipe. Raises what the stream and `write`
        raise.
        """
        self._begin(stream)
        try:
            piece, self.raw = self.raw, b""
            while piece:
                write(piece)
                piece = self._next(stream)
            self._end()
        finally:
            self._reads_pipe = False
            self._release()

    def _begin(self, stream: BinaryIO) -> None:
        self._is_held, self._is_early = True, False
        self._reads_pipe = _is_pipe(stream)
        if self._reads_pipe and self._came == signal.SIGINT:
            self._came, self._interrupted = None, time.monotonic()

    def _end(self) -> None:
        """The stream has ended: an interrupt that has waited for that comes with the next `_release`."""
        self._reads_pipe = False
        if self._interrupted is not None:
            self._came = self._came or signal.SIGINT

    def _next(self, stream: BinaryIO) -> bytes:
        """The next piece, b"" at the end. A signal raises while it is waited for: then nothing is in flight."""
        self._release()
        while not _is_ready(stream, _PATIENCE):
            self._tell()
        self._tell()
        self._is_held = True
        return _take_piece(stream)

    def _tell(self) -> None:
        """Say once why an interrupt has not ended the process, where that lasts."""
        if self._has_told or self._interrupted is None or time.monotonic() - self._interrupted < _PATIENCE:
            return
        from linecls.streams import warn

        self._has_told = True
        warn(_READS_ON)


def _descriptor(stream: BinaryIO) -> int | None:
    """The descriptor to wait for; None where the system cannot, or there is none."""
    if os.name != "posix":
        return None
    try:
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return None


def _is_pipe(stream: BinaryIO) -> bool:
    """Whether another process writes what is read here."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _is_ready(stream: BinaryIO, seconds: float) -> bool:
    """Whether a read would not block, after so many seconds at most; where nobody can tell, whether one may wait."""
    descriptor = _descriptor(stream)
    if descriptor is None:
        return seconds > 0
    return bool(select.select([descriptor], [], [], seconds)[0])


def _take_piece(stream: BinaryIO) -> bytes:
    descriptor = _descriptor(stream)
    return stream.read(_PIECE) if descriptor is None else os.read(descriptor, _PIECE)
