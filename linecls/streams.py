"""Standard output and standard error, as the commands write them.

No command-line library is imported here: a plain `prune` does without one.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from linecls.errors import LineclsError


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
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_stdout()
        hint = f"; {kept_elsewhere}" if kept_elsewhere else ""
        raise OutputError(f"cannot write the output: {error.strerror}; it is incomplete{hint}") from error


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
