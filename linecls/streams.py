"""Standard output and standard error, as the commands write them.

No command-line library is imported here: a plain `prune` does without one.
"""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress

from linecls.errors import LineclsError

TYPE_CHECKING = False  # see linecls/__init__.py
if TYPE_CHECKING:
    from typing import BinaryIO


class OutputError(LineclsError):
    """Standard output cannot be written."""


def write_stdout(data: bytes, *, kept_elsewhere: str | None = None) -> None:
    """Write bytes to standard output, all of them.

    Raises OutputError when that fails, BrokenPipeError when the reader went away. kept_elsewhere: what to say
    of where the input still is.
    """
    if sys.stdout is None:
        raise OutputError("cannot write the output: standard output is closed")
    try:
        write_all(sys.stdout.buffer, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_stdout()
        hint = f"; {kept_elsewhere}" if kept_elsewhere else ""
        raise OutputError(f"cannot write the output: {error.strerror}; it is incomplete{hint}") from error


def write_all(stream: BinaryIO, data: bytes) -> None:
    """Write and flush bytes, all of them. Raises OSError as the stream does.

    With PYTHONUNBUFFERED or `python -u` standard output has no buffer, and a write that a signal interrupts takes a
    part only. So does one into a pipe that somebody has set not to block: what is left waits for room there.
    """
    rest = memoryview(data)
    while rest:
        try:
            taken = stream.write(rest)
        except BlockingIOError as error:  # of a buffered stream
            taken = error.characters_written
        if not taken:
            _wait_for_room(stream)
        rest = rest[taken or 0 :]
    while True:
        try:
            return stream.flush()
        except BlockingIOError:
            _wait_for_room(stream)


def _wait_for_room(stream: BinaryIO) -> None:
    select.select([], [stream.fileno()], [])


def warn(message: str) -> None:
    """One line on standard error."""
    write_stderr(f"linecls: {' '.join(message.split())}\n")


def write_stderr(text: str) -> None:
    """Write text to standard error, where somebody reads it."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # ValueError: it is closed
            sys.stderr.write(text)
            sys.stderr.flush()


def discard_stdout() -> None:
    """Let what is still buffered go nowhere, so that the interpreter does not complain while it ends."""
    try:
        descriptor = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
    except (OSError, ValueError):
        pass
