"""The process: `linecls`, and `python -m linecls`."""

from __future__ import annotations

import os
import sys


def program(prog_name: str | None = None) -> None:
    """Run the command of `sys.argv`; after a `prune` let the system take the process down.

    Taking the network apart piece by piece costs a short call 25 ms and gives nobody anything. What cannot be flushed
    is left to the interpreter, which says so.
    """
    try:
        status = _status(prog_name)
        if sys.argv[1:2] == ["prune"]:  # others may own what has to be closed
            _end(status)
    except KeyboardInterrupt:  # before the signals are handled, or behind that
        status = 130
    sys.exit(status)


def _status(prog_name: str | None) -> int:
    came = False
    while True:
        try:
            from linecls.interrupts import Interrupted, Interrupts

            break
        except KeyboardInterrupt:  # too early, but not to be forgotten
            came = True
    try:
        # Before all that takes time: a signal that comes meanwhile waits for the command.
        with Interrupts(until_read=True):
            if came:
                import signal

                signal.raise_signal(signal.SIGINT)
            from linecls.launch import main

            main(prog_name=prog_name)
    except Interrupted as interrupt:
        return interrupt.status
    except SystemExit as end:
        if not (end.code is None or isinstance(end.code, int)):
            raise
        return end.code or 0
    return 0


def _end(status: int) -> None:
    """End the process, unless its output cannot be flushed."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(status)


if __name__ == "__main__":
    program(prog_name="linecls")
