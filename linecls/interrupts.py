"""Input that a signal cannot lose: what was read of it is there when the process is told to end.

The standard library alone is imported here: this is on the way of every `linecls prune`.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from typing import Any, BinaryIO

INTERRUPTED = "interrupted: what was read of the input went through unchanged"

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_PIECE = 1 << 16
_MOST_PIPED = 1 << 20  # bytes that a pipe can hold, on systems as they come


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

    A signal that was ignored before (by nohup, or for a shell's background job) stays so. In a thread that is not the
    main one signals cannot be handled, and nothing changes.
    """

    _entered: Interrupts | None = None

    def __init__(self) -> None:
        self.raw = b""
        self._before: dict[int, Any] = {}
        self._is_held = False  # a signal waits for the next `_release`
        self._came: int | None = None

    @classmethod
    def entered(cls) -> Interrupts:
        """The one that is entered already, else a new one."""
        return cls._entered or cls()

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
        if self._is_held:
            self._came = self._came or number
        else:
            raise Interrupted(number)

    def _release(self) -> None:
        self._is_held = False
        if self._came is not None:
            number, self._came = self._came, None
            raise Interrupted(number)

    def read(self, stream: BinaryIO, most: int | None = None, *, before: bytes = b"") -> bytes:
        """Read a stream to its end into `raw`, behind what was read `before`, or until there are over `most` bytes.

        Raises OSError as the stream does. No byte that was taken from it is lost, whenever a signal comes.
        """
        pieces = [before]
        size = len(before)
        self._is_held = True
        try:
            while most is None or size <= most:
                piece = self._next(stream)
                if not piece:
                    break
                pieces.append(piece)
                size += len(piece)
        except Interrupted:
            self._is_held = True
            # What the other side of a pipe has written before it was interrupted, too.
            size = 0
            while size < _MOST_PIPED and _is_ready(stream) and (piece := _take_piece(stream)):
                pieces.append(piece)
                size += len(piece)
            raise
        finally:
            self.raw = b"".join(pieces)
            self._release()
        return self.raw

    def pass_on(self, stream: BinaryIO, write: Callable[[bytes], object]) -> None:
        """Give `raw`, and then what is left of the stream as it comes, to `write`.

        A signal ends it between two pieces. Raises what the stream and `write` raise.
        """
        self._is_held = True
        try:
            piece, self.raw = self.raw, b""
            while piece:
                write(piece)
                piece = self._next(stream)
        finally:
            self._release()

    def _next(self, stream: BinaryIO) -> bytes:
        """The next piece, b"" at the end. A signal raises while it is waited for: then nothing is in flight."""
        self._release()
        _is_ready(stream, wait=True)
        self._is_held = True
        return _take_piece(stream)


def _descriptor(stream: BinaryIO) -> int | None:
    """The descriptor to wait for; None where the system cannot, or there is none."""
    if os.name != "posix":
        return None
    try:
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return None


def _is_ready(stream: BinaryIO, *, wait: bool = False) -> bool:
    """Whether a read would not block."""
    descriptor = _descriptor(stream)
    if descriptor is None:
        return wait
    return bool(select.select([descriptor], [], [], None if wait else 0)[0])


def _take_piece(stream: BinaryIO) -> bytes:
    descriptor = _descriptor(stream)
    return stream.read(_PIECE) if descriptor is None else os.read(descriptor, _PIECE)
