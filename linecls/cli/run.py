"""`linecls run`: a command, and of its output the lines that answer."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from contextlib import suppress
from typing import NoReturn

import click

from linecls.cli._decoding_options import model_options, profile_options, seconds
from linecls.errors import LineclsError
from linecls.interrupts import Interrupted, Interrupts
from linecls.observation import is_blank, is_text
from linecls.running import Finished, run
from linecls.streams import warn, write_stdout

_HELP = """Run COMMAND and print the lines of its output that answer a query.

The command runs once. Its standard output and standard error are taken together, in the order in which they were
written, and pruned when it has ended; its exit status, or the signal it died of, becomes that of linecls. Lines
with failure signal are always kept, and a marker line stands for what is omitted: `linecls expand` prints it.

Without --query the query is LINECLS_QUERY, else the command itself.

\b
Examples:
  linecls run -q "why does the login test fail" -- pytest -x tests
  linecls run -q "which object file is missing" --timeout 600 -- make -j8
  LINECLS_QUERY="who changed the cache key" linecls run -- git log -p -20

The output goes through unchanged when it is short, binary (with a NUL byte, or with over a tenth that is no UTF-8, in
its first 64 KiB), or longer than --max-bytes, and when the model cannot run. Without `--`, options of COMMAND would be
taken for options of linecls.

\b
Exit status:
  that of COMMAND, or that of a process killed by the same signal
  2    wrong usage, or output that cannot be written
  124  the time of --timeout was up
  126  COMMAND cannot be executed
  127  COMMAND is not found
"""


@click.command(
    "run",
    help=_HELP,
    short_help="Run a command and print the lines of its output that answer a query.",
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "allow_interspersed_args": False,
    },
)
@click.argument("command_line", metavar="COMMAND [ARGUMENT]...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("-q", "--query", envvar="LINECLS_QUERY", show_envvar=True, help="What to look for in the output.")
@click.option(
    "--markers/--no-markers", default=True, help="Marker lines in the place of what is omitted.  [default: on]"
)
@click.option("--timeout", type=float, callback=seconds(), metavar="SECONDS", help="End the command after that time.")
@profile_options
@click.option("--pty", is_flag=True, help="Give the command a terminal for its output, for programs that look.")
@model_options
def command(
    command_line: tuple[str, ...],
    *,
    query: str | None,
    profile: str,
    markers: bool,
    timeout: float | None,
    min_bytes: int,
    max_bytes: int,
    pty: bool,
    model: str | None,
    device: str,
    threads: int | None,
) -> None:
    """The click command; see `_HELP`."""
    if pty and os.name != "posix":
        raise click.UsageError("--pty needs a POSIX system.")
    finished: Finished | None = None
    try:
        with Interrupts() as signals:
            with signals.held():  # while the command runs, they go to it
                finished = _run(command_line, timeout, max_bytes, pty)
            if finished.output is None:
                warn(f"note: the output is longer than {max_bytes} bytes and was not pruned (--max-bytes)")
                text = b""
            else:
                asked = query if query and not is_blank(query) else shlex.join(command_line)
                text = _prune(finished.output, asked, profile, markers, min_bytes, model, device, threads)
    except Interrupted as interrupt:
        if finished is not None and finished.output is not None:  # the command has run: it must come through
            write_stdout(finished.output)
            warn("interrupted: the command's output went through unchanged")
        _die_of(interrupt.number)
    write_stdout(text)
    _end_like(finished, command_line, timeout)


def _run(command_line: tuple[str, ...], timeout: float | None, max_bytes: int, pty: bool) -> Finished:
    note = _note if sys.stderr is not None and sys.stderr.isatty() else None
    try:
        finished = run(
            command_line, max_bytes=max_bytes, overflow=write_stdout, timeout=timeout, terminal=pty, note=note
        )
    except FileNotFoundError:
        warn(f"{command_line[0]}: command not found")
        sys.exit(127)
    except (PermissionError, OSError, ValueError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        warn(f"cannot run {command_line[0]}: {getattr(error, 'strerror', None) or error}")
        sys.exit(126)
    if note is not None:
        click.echo("\r\x1b[K", nl=False, err=True)
    return finished


def _note(size: int, seconds: float) -> None:
    click.echo(f"\r\x1b[Klinecls: running, {seconds:.0f} s, {size / 1000:.0f} kB of output", nl=False, err=True)


def _prune(
    raw: bytes,
    query: str,
    profile_name: str,
    markers: bool,
    min_bytes: int,
    model: str | None,
    device: str,
    threads: int | None,
) -> bytes:
    """What to print of the output: all of it whenever pruning it is of no use or does not work."""
    from linecls.agent import PROFILES, shorten
    from linecls.cli.asking import ask
    from linecls.store import Store

    if len(raw) < min_bytes:
        return raw
    if not is_text(raw):
        warn("note: the output is binary and was not pruned")
        return raw
    profile = PROFILES[profile_name]
    try:
        spans = ask(query, raw, profile, model=model, device=device, threads=threads)
        shortened = shorten(raw, spans, profile.protection, markers=markers, store=Store.of_user())
    except Exception as error:  # whatever it is, the command's output must come through
        reason = str(error) if isinstance(error, LineclsError) else f"{type(error).__name__}: {error}"
        warn(f"warning: the output was not pruned: {reason}")
        return raw
    if shortened.warning:
        warn(f"warning: {shortened.warning}")
    return shortened.text


def _end_like(finished: Finished, command_line: tuple[str, ...], timeout: float | None) -> None:
    """End this process as the command ended."""
    if finished.timed_out:
        warn(f"{command_line[0]} was ended: its {timeout:g} s were up")
        sys.exit(124)
    if finished.returncode < 0:
        _die_of(-finished.returncode)
    sys.exit(finished.returncode)


def _die_of(number: int) -> NoReturn:
    """Die of a signal, so that the caller sees the status that the command would have had."""
    if os.name != "posix":
        sys.exit(128 + number)
    import resource

    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command has left its own core, if any
    with suppress(OSError, ValueError):  # some signals cannot be given their default action, nor need to
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)  # a signal that does not end a process
