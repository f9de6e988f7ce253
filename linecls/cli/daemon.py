"""`linecls daemon`: the resident process that keeps the model loaded."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from linecls.cli._decoding_options import seconds
from linecls.errors import LineclsError
from linecls.streams import warn

if TYPE_CHECKING:
    from subprocess import Popen

_HELP = """Keep the model loaded in a process of its own, so that `linecls prune` need not load it.

The process listens on a unix socket in a directory that only you may enter. `linecls prune` uses the one that
runs and otherwise prunes by itself; it never starts one unless LINECLS_DAEMON=1 is set or --daemon is given.
The process ends by itself when nobody asks for a while.

\b
Examples:
  linecls daemon start                      # in the background; ends when idle for 15 minutes
  pytest -q 2>&1 | linecls prune "why does the login test fail"
  linecls daemon status
  linecls daemon stop                       # the one that start, with the same options, has started
  linecls daemon stop --all                 # those of other models, devices and versions too
  LINECLS_DAEMON=1 linecls prune QUERY log  # starts one for the next calls
  LINECLS_DAEMON=0 linecls prune QUERY log  # uses none

\b
Exit status:
  0  done
  1  status: none runs, or one does not answer; stop: one did not end; run: another runs already
  2  it cannot start; one line on stderr says why
"""
_Found = TypeVar("_Found")
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_GAVE_WAY = 1  # status of `daemon run` where another process holds the lock


@click.group("daemon", help=_HELP, context_settings=_CONTEXT)
def command() -> None:
    """The click group; see `_HELP`."""


_idle = click.option("--idle", type=click.IntRange(min=1), metavar="SECONDS", help="End when idle for so long.")


def _identity(function: Any) -> Any:
    """The options that tell one resident process from another."""
    for option in (
        click.option("--threads", type=click.IntRange(min=1), help="CPU threads.  [default: the physical cores]"),
        click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda[:N] or tensorrt[:N]."),
        click.option("--model", metavar="DIRECTORY", help="Model directory, in place of the embedded model."),
    ):
        function = option(function)
    return function


@command.command(short_help="Serve in the foreground.")
@_identity
@_idle
def run(model: str | None, device: str, threads: int | None, idle: int | None) -> None:
    """Serve in the foreground until idle, a signal, or `linecls daemon stop`."""
    from linecls.serving import endpoint
    from linecls.serving.daemon import IDLE_SECONDS, AlreadyRunning, Daemon, run_until_signal

    def load() -> Any:
        from linecls.pruner import Pruner

        return Pruner.from_pretrained(model, device=device, threads=threads)

    place = endpoint.find(model, device, threads)
    daemon = Daemon(place, load, idle_seconds=idle or IDLE_SECONDS)
    try:
        ending = run_until_signal(daemon, ready=lambda: warn(f"listening on {place.socket}"))
    except AlreadyRunning as error:
        warn(str(error))
        click.get_current_context().exit(_GAVE_WAY)
    warn(f"ended: {ending}")


@command.command(short_help="Start one in the background.")
@_identity
@_idle
@click.option(
    "--wait",
    type=float,
    default=60.0,
    show_default=True,
    callback=seconds(),
    metavar="SECONDS",
    help="Wait so long until it answers.",
)
def start(model: str | None, device: str, threads: int | None, idle: int | None, wait: float) -> None:
    """Start a process in the background and wait until it answers."""
    from linecls.serving import client, endpoint
    from linecls.serving.daemon import is_held
    from linecls.session import parse_device

    parse_device(device)
    limit = time.monotonic() + wait
    started: dict[str, Popen[bytes]] = {}  # by the name of the endpoint
    silent: LineclsError | None = None
    # What the processes say while they start; the file has no name, and is gone when nobody has it open.
    with tempfile.TemporaryFile() as errors:
        while True:
            # Anew each time: a file of the package that changes meanwhile gives the socket another name.
            place = endpoint.find(model, device, threads)
            process = started.get(place.name)
            ended = None if process is None else process.poll()
            try:
                running, silent = _status(place.socket), None
            except LineclsError as error:  # on a busy machine it may take its time
                running, silent = None, error
            if running is not None:
                is_ours = running["pid"] in {each.pid for each in started.values()}
                state = "running" if is_ours else "already running"
                click.echo(f"{state}: pid {running['pid']}, socket {place.socket}")
                return
            if ended is not None and not _gave_way(ended, errors):
                raise LineclsError(f"it ended at once: {_last_line(errors)}")
            # Of two starts at once the process of one gives way, and is next should that of the other fail.
            if silent is None and (process is None or ended is not None) and not is_held(place.lock):
                begun = client.start(place, idle_seconds=idle, patience=0, errors=errors)
                started |= {} if begun is None else {place.name: begun}
            if time.monotonic() >= limit:
                break
            time.sleep(0.05)
    if silent is not None:
        raise silent
    raise LineclsError(
        f"it does not answer after {wait:g} s and may still be loading the model; linecls daemon status shows when it"
        " does, --wait waits longer"
    )


def _gave_way(status: int, errors: BinaryIO) -> bool:
    """Whether a process has ended because another one serves the same; an interpreter that fails has its status too."""
    from linecls.serving.daemon import GAVE_WAY

    return status == _GAVE_WAY and _last_line(errors) == GAVE_WAY


def _last_line(errors: BinaryIO) -> str:
    """The last that a process said on its stderr, without the name of the program."""
    said = os.pread(errors.fileno(), 1 << 16, 0)  # the process writes where this would leave the file's position
    lines = said.decode("utf-8", "replace").splitlines()
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return last.removeprefix("linecls: ") or "it did not say why; `linecls daemon run` may"


@command.command(short_help="Show what runs.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def status(as_json: bool) -> None:
    """Show your resident processes, of any version and model."""
    from linecls.serving.daemon import sockets

    found, stuck = _each(sockets(), _status)
    if as_json:
        click.echo(json.dumps(found, indent=2))
    for values in [] if as_json else found:
        click.echo(
            f"pid {values['pid']}  linecls {values['version']}  up {values['up_seconds']:.0f} s,"
            f" {values['answered']} answers, ends in {values['ends_in_seconds']:.0f} s  {values['model']}"
        )
    if not (found or stuck or as_json):
        warn("no resident process runs")
    if stuck or not found:
        click.get_current_context().exit(1)


@command.command(short_help="Stop what start has started.")
@_identity
@click.option("--all", "every", is_flag=True, help="Stop every one of yours, of any model, device and version.")
def stop(model: str | None, device: str, threads: int | None, every: bool) -> None:
    """Stop the resident process that `linecls daemon start` with the same options has started.

    A query that it is answering is finished.
    """
    from linecls.serving import endpoint
    from linecls.serving.daemon import sockets

    if every and (model is not None or device != "auto" or threads is not None):
        raise click.UsageError("--all stops every resident process: leave out --model, --device and --threads.")
    chosen = None if every else endpoint.find(model, device, threads).socket
    paths = sockets()
    meant = [path for path in paths if chosen in (None, path)]
    stopped, stuck = _each(meant, _stop)
    others = sum(_is_running(path) for path in paths if path not in meant)
    if stopped:
        click.echo("stopped: " + ", ".join(f"pid {pid}" for pid in stopped))
    elif not stuck:
        click.echo("nothing to stop")
        if others:
            warn(f"{others} of another model, device or version: see linecls daemon status; --all stops them too")
    if stuck:
        click.get_current_context().exit(1)


def _each(paths: Iterable[str], ask: Callable[[str], _Found | None]) -> tuple[list[_Found], bool]:
    """What `ask` finds behind the sockets, and whether a process behind one hangs, of which a line then tells."""
    found, stuck = [], False
    for path in paths:
        try:
            if (values := ask(path)) is not None:
                found.append(values)
        except LineclsError as error:
            warn(str(error))
            stuck = True
    return found, stuck


def _stop(path: str) -> int | None:
    """Stop the process behind a socket and wait for its end; its id, None when there is none.

    Raises LineclsError when it does not answer or does not end.
    """
    from linecls.serving.daemon import request

    try:
        pid = request(path, "stop").get("pid")
    except (ConnectionError, FileNotFoundError):
        _remove_stale(path)
        return None
    limit = time.monotonic() + 15
    while os.path.exists(path):
        if time.monotonic() >= limit:
            raise LineclsError(f"pid {pid} was told to stop and did not end; end it with: kill -9 {pid}")
        time.sleep(0.02)
    return pid


def _is_running(path: str) -> bool:
    """Whether somebody listens at a socket, even if he does not answer."""
    from linecls.serving import client

    try:
        client.connect(path).close()
    except (ConnectionError, FileNotFoundError):
        _remove_stale(path)
        return False
    except (OSError, LineclsError):
        pass
    return True


def _status(path: str) -> dict[str, Any] | None:
    """The reply of the process behind `path`; None when there is none. Raises LineclsError when it hangs."""
    from linecls.serving.daemon import request

    if os.path.exists(path):
        with suppress(ConnectionError, FileNotFoundError):
            return request(path, "status")
    return None


def _remove_stale(path: str) -> None:
    """Remove a socket at which nobody listens, unless a starting process holds its lock."""
    import fcntl

    with open(path.removesuffix(".sock") + ".lock", "ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        with suppress(FileNotFoundError):
            os.unlink(path)
