"""Where the command `linecls` begins: a plain `prune` that the resident process answers needs no command-line library.

Importing click takes longer than everything else that such a call does. Whatever is not plain (an option, no resident
process, nothing kept, an output that cannot be written) goes the ordinary way, with the input as it was.
"""

from __future__ import annotations

import io
import os
import sys


def main(prog_name: str | None = None) -> None:
    """The program. prog_name: what help and errors call it; None takes it from the command."""
    try:
        if _answered(sys.argv[1:]):
            return
    except KeyboardInterrupt:
        sys.exit(130)
    from linecls.cli import main as command

    command(prog_name=prog_name)


def _answered(arguments: list[str]) -> bool:
    """Whether `prune QUERY [FILE]` was answered, and the answer is written."""
    if not 2 <= len(arguments) <= 3 or arguments[0] != "prune":
        return False
    if any(argument.startswith("-") for argument in arguments[1:]) or not arguments[1].strip():
        return False
    from linecls.serving import client

    if os.environ.get(client.ENVIRONMENT) == "0" or (raw := _input(arguments[2:])) is None:
        return False
    found = client.ask(arguments[1], raw, {})
    if found is None or not found.spans:
        return False
    from linecls.observation import Observation
    from linecls.spans import Span

    kept = Observation.of(raw).select([Span(*span) for span in found.spans])
    try:
        sys.stdout.buffer.write(kept if isinstance(kept, bytes) else kept.encode())
        sys.stdout.buffer.flush()
    except (OSError, ValueError, AttributeError):  # the ordinary way says what is wrong
        return False
    return True


def _input(files: list[str]) -> bytes | None:
    """The bytes to prune; None where the ordinary way has to read, or complain. Standard input can be read again."""
    from linecls.serving import endpoint

    try:
        if not os.path.exists(endpoint.find(None, "auto", None).socket):
            return None
        if files:
            with open(files[0], "rb") as stream:
                return stream.read()
        if sys.stdin is None or sys.stdin.isatty():
            return None
        raw = sys.stdin.buffer.read()
    except Exception:
        return None
    sys.stdin = io.TextIOWrapper(io.BytesIO(raw))
    return raw
