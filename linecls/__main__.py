"""The process: `linecls`, and `python -m linecls`."""

from __future__ import annotations

import os
import sys

from linecls.launch import main


def program(prog_name: str | None = None) -> None:
    """Run the command of `sys.argv`; after a `prune` let the system take the process down.

    Taking the network apart piece by piece costs a short call 25 ms and gives nobody anything. What cannot be flushed
    is left to the interpreter, which says so.
    """
    status = 0
    try:
        main(prog_name=prog_name)
    except SystemExit as end:
        if not (end.code is None or isinstance(end.code, int)):
            raise
        status = end.code or 0
    if sys.argv[1:2] != ["prune"]:  # others may own what has to be closed
        sys.exit(status)
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        sys.exit(status)
    os._exit(status)


if __name__ == "__main__":
    program(prog_name="linecls")
