"""Where the command `linecls` begins: a plain `prune` that the resident process answers needs no command-line library.

Importing click takes longer than everything else that such a call does. Whatever is not plain (an option, no resident
process, nothing kept, an output that cannot be written) goes the ordinary way, with the input as it was.
"""

from __future__ import annotations

import io
import os
import sys

from linecls.interrupts import INTERRUPTED, Interrupted, Interrupts


def main(prog_name: str | None = None) -> None:
    """The program. prog_name: what help and errors call it; None takes it from the command."""
    try:
        if sys.argv[1:2] == ["prune"]:
            _prune(sys.argv[1:], prog_name)
        else:
            Interrupts.hand_over()
            _ordinary(prog_name)
    except KeyboardInterrupt:
        sys.exit(130)


def _ordinary(prog_name: str | None) -> None:
    from linecls.cli import main as command

    command(prog_name=prog_name)


def _is_plain(arguments: list[str]) -> bool:
    """Whether it is `prune QUERY [FILE]`."""
    if not 2 <= len(arguments) <= 3 or arguments[0] != "prune":
        return False
    return bool(arguments[1].strip()) and not any(argument.startswith("-") for argument in arguments[1:])


def _prune(arguments: list[str], prog_name: str | None) -> None:
    signals = Interrupts.entered(until_read=True)
    kept = None
    try:
        with signals:
            if _is_plain(arguments):
                kept = _kept(arguments, signals)
            if kept is None:
                _ordinary(prog_name)  # which goes on with the same signals
    except Interrupted as interrupt:
        sys.exit(_give_back(signals.raw) or interrupt.status)
    if kept is not None and not _written(kept):
        _ordinary(prog_name)


def _kept(arguments: list[str], signals: Interrupts) -> bytes | None:
    """The kept lines, as the resident process says; None where it does not, or keeps none."""
    from linecls.serving import client

    if os.environ.get(client.ENVIRONMENT) == "0" or (raw := _input(arguments[2:], signals)) is None:
        return None
    from linecls.observation import Observation, is_text

    if not is_text(raw):
        return None
    from linecls.progress import Progress

    progress = Progress()
    try:
        found = client.ask(arguments[1], raw, {}, progress=progress.show)
    finally:
        progress.clear()
    if found is None or not found.spans:
        return None
    from linecls.spans import Span

    kept = Observation.of(raw).select([Span(*span) for span in found.spans])
    return kept if isinstance(kept, bytes) else kept.encode()


def _input(files: list[str], signals: Interrupts) -> bytes | None:
    """The bytes to prune; None where the ordinary way has to read, or complain. They can be read again."""
    from linecls.serving import endpoint

    try:
        if not os.path.exists(endpoint.find(None, "auto", None).socket):
            return None
        if files:
            if not os.path.isfile(files[0]):  # a pipe gives its bytes only once
                return None
            signals.settle()
            with open(files[0], "rb") as stream:
                return stream.read()
        if sys.stdin is None or sys.stdin.isatty():
            return None
        raw = signals.read(sys.stdin.buffer)
    except Exception:
        return None
    sys.stdin = io.TextIOWrapper(io.BytesIO(raw))
    return raw


def _written(kept: bytes) -> bool:
    """Whether the output could be written; if not, the ordinary way says what is wrong."""
    from linecls.streams import write_all

    try:
        write_all(sys.stdout.buffer, kept)
    except (OSError, ValueError, AttributeError):
        return False
    return True


def _give_back(raw: bytes) -> int:
    """Write what was read of a pipe before a signal came; the status when that fails, else 0."""
    from linecls.streams import OutputError, discard_stdout, warn, write_stdout

    try:
        write_stdout(raw)
    except OutputError as error:
        warn(str(error))
        return 2
    except BrokenPipeError:
        discard_stdout()
        return 141
    warn(INTERRUPTED if raw else "interrupted")
    return 0
