"""`linecls prune`: from a pipe or a file to the lines that answer."""

from __future__ import annotations

import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO, NamedTuple

import click

from linecls.cli._decoding_options import decoding_options, model_options
from linecls.errors import LineclsError
from linecls.interrupts import INTERRUPTED, Interrupted, Interrupts
from linecls.observation import Observation, is_blank, is_text
from linecls.spans import Span
from linecls.streams import warn, write_stdout

BINARY = "the input is binary and was not pruned"

_HELP = """Print the lines of FILE, or of standard input, that answer QUERY.

Kept lines come out byte for byte and in order, and nothing else does. When nothing answers, nothing is printed.

\b
Examples:
  pytest -q 2>&1 | linecls prune "why does the login test fail"
  linecls prune "which step broke the build" ci.log --max-lines 40
  rg -n TODO | linecls prune "todos about the cache" --numbers
  linecls prune "which port is taken" server.log --json | jq .spans
  make 2>&1 | linecls prune "what broke" --protect errors --edges 2 --markers

When the model cannot run (its files are missing or damaged, the runtime is not installed), the whole input
goes through unchanged and one line on stderr says why: a pruner must not lose a command's output. So does what
was read of a pipe when a signal ends linecls, an input longer than --max-bytes, and a binary one: with a NUL byte,
or with over a tenth that is no UTF-8, in its first 64 KiB. Ctrl-C goes to the whole
pipeline: linecls first reads what the other side of the pipe still writes; a second Ctrl-C ends it at once.

The time grows with the input. As a rule of thumb, two CPU cores read 300 to 1,000 lines a second, by their length:
1,000 lines take one to three seconds, 50,000 one to three minutes. Where it takes long, stderr says how far it is and
about how long it takes still; --max-bytes sets a limit.

\b
Exit status:
  0    done, also when nothing answers and when the input went through unchanged
  1    with --strict: the model did not run, or was not to (binary input, --max-bytes); all of it still went through
  2    wrong usage, unknown device or operating point, unreadable FILE, or output that cannot be written
  130  interrupted; 143, 129: ended by SIGTERM, SIGHUP
  141  the reader of the output went away
"""


@click.command(
    "prune",
    help=_HELP,
    short_help="Print the lines of tool output that answer a query.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("query")
@click.argument("file", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: spans, counts, text.")
@click.option("--numbers", is_flag=True, help="Put each line's number in front: '  12│line'.")
@decoding_options
@click.option(
    "--protect",
    type=click.Choice(["errors"]),
    help="Keep the lines that carry failure signal too: errors, failed tests, whole tracebacks, exit codes. These,"
    " --context and --edges come on top of any limit.",
)
@click.option("--context", type=click.IntRange(min=0), default=0, help="Keep N lines around each answering block too.")
@click.option("--edges", type=click.IntRange(min=0), default=0, help="Keep the first and the last N lines too.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=0),
    help="A longer input goes through unchanged.  [default: no limit, see above for the time]",
)
@click.option(
    "--markers/--no-markers",
    default=False,
    help="Say where lines are omitted, in marker lines that `linecls expand` prints again.  [default: no markers]",
)
@model_options
@click.option(
    "--daemon/--no-daemon",
    default=None,
    help="Start a resident process for the next calls, or use none.  [default: use one that runs]",
)
@click.option("--strict", is_flag=True, help="Exit with status 1 when the input goes through unpruned.")
def command(
    query: str,
    file: str | None,
    *,
    as_json: bool,
    numbers: bool,
    model: str | None,
    device: str,
    threads: int | None,
    strict: bool,
    daemon: bool | None,
    protect: str | None,
    context: int,
    edges: int,
    markers: bool,
    max_bytes: int | None,
    **options: Any,
) -> None:
    """The click command; see `_HELP`."""
    if as_json + numbers + markers > 1:
        raise click.UsageError("--json, --numbers and --markers exclude each other.")
    if is_blank(query):
        raise click.UsageError("The query is empty: say what to look for.")
    _check_device(device)
    kept = _kept(file)

    def prune(raw: bytes) -> _Printed:
        if not is_text(raw):
            return _Printed(_whole_as_json(raw, BINARY) if as_json else raw, f"note: {BINARY}", is_unpruned=True)
        loading = {"model": model, "device": device, "threads": threads}
        try:
            found = answer(query, raw, options, daemon, **loading)
        except click.ClickException:
            raise
        except Exception as error:  # whatever it is, the command's output must come through
            reason = str(error) if isinstance(error, LineclsError) else f"{type(error).__name__}: {error}"
            note = f"warning: the model cannot run, so nothing was pruned: {reason}"
            return _Printed(_whole_as_json(raw, reason) if as_json else raw, note, is_unpruned=True)
        spans, text = _present(raw, found, protect, context, edges, markers, as_json, numbers)
        return _Printed(text, _why_little(found, spans, options["max_tokens"]))

    try:
        with Interrupts.entered(until_read=True) as signals, _open(file, signals) as stream:
            raw = _read(signals, stream, file, max_bytes)
            if max_bytes is None or len(raw) <= max_bytes:
                printed = prune(raw)
            else:
                printed = _unpruned(signals, stream, max_bytes, as_json, kept)
    except Interrupted as interrupt:
        _give_back(signals.raw, as_json, kept)
        os._exit(interrupt.status)  # the network's thread cannot be interrupted, and may be busy for seconds
    write_stdout(printed.text, kept_elsewhere=kept)
    if printed.note is not None:
        warn(printed.note)
    if strict and printed.is_unpruned:
        click.get_current_context().exit(1)


class _Printed(NamedTuple):
    """What is printed, what is said of it on stderr, and whether it is the input as it was."""

    text: bytes
    note: str | None = None
    is_unpruned: bool = False


def _check_device(device: str) -> None:
    if device in ("auto", "cpu", "cuda"):  # as nearly always: the import below costs more than the rest
        return
    from linecls.session import parse_device

    parse_device(device)


def _open(file: str | None, signals: Interrupts) -> AbstractContextManager[BinaryIO]:
    """The input. Raises LineclsError, one line, when it cannot be opened."""
    if file is not None and file != "-":
        signals.settle()  # to open a named pipe is to wait for who writes into it
        try:
            return open(file, "rb")
        except (OSError, ValueError) as error:
            raise LineclsError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from error
    if sys.stdin is None:
        raise LineclsError("cannot read standard input: it is closed")
    if file is None and sys.stdin.isatty():
        raise click.UsageError("Nothing to prune: name a FILE, or pipe a command's output in.")
    return nullcontext(sys.stdin.buffer)


def _read(signals: Interrupts, stream: BinaryIO, file: str | None, most: int | None) -> bytes:
    """The input's bytes, or its first ones, if there are more than `most`. Raises LineclsError."""
    try:
        return signals.read(stream, most)
    except OSError as error:
        name = "standard input" if file in (None, "-") else file
        raise LineclsError(f"cannot read {name}: {error.strerror}") from error


def _unpruned(signals: Interrupts, stream: BinaryIO, max_bytes: int, as_json: bool, kept: str | None) -> _Printed:
    """Let an input through that is longer than the limit, from now on as it comes."""
    reason = f"the input is longer than {max_bytes} bytes and was not pruned (--max-bytes)"
    if as_json:
        text = _whole_as_json(signals.read(stream, before=signals.raw), reason)
    else:
        signals.pass_on(stream, lambda piece: write_stdout(piece, kept_elsewhere=kept))
        text = b""
    return _Printed(text, f"note: {reason}", is_unpruned=True)


def _give_back(raw: bytes, as_json: bool, kept: str | None) -> None:
    """Print what was read, after an interrupt, unless it can be read again."""
    if kept is None:
        write_stdout(_whole_as_json(raw, INTERRUPTED) if as_json else raw)
    warn(INTERRUPTED if kept is None else f"interrupted; {kept}")


def _why_little(found: Answered, shown: list[Span], max_tokens: int | None) -> str | None:
    """What to say when the answer is empty."""
    if found.unfit_tokens is not None:
        return (
            f"note: the best line has {found.unfit_tokens} tokens, more than --max-tokens {max_tokens},"
            " so none of the answer is shown"
        )
    if shown or not _on_terminal():
        return None
    return f"none of the {len(found.observation)} lines answers the query"


class Answered(NamedTuple):
    """The observation, the answering spans, the answerable probability, and `Pruning.unfit_tokens`."""

    observation: Observation
    spans: list[Span]
    answerable: float
    unfit_tokens: int | None


def answer(query: str, raw: bytes, options: dict[str, Any], daemon: bool | None, **loading: Any) -> Answered:
    """What answers, from the resident process or from here. It says on stderr how far a long input is.

    Raises click.BadParameter for an operating point that the model does not have.
    """
    from linecls.progress import Progress
    from linecls.serving import client

    progress = Progress()
    try:
        found = client.ask(query, raw, options, wanted=daemon, progress=progress.show, **loading)
        if found is not None:
            spans = [Span(*span) for span in found.spans]
            return Answered(Observation.of(raw), spans, found.answerable, found.unfit_tokens)
        from linecls.pruner import Pruner

        pruner = Pruner.from_pretrained(**loading)
        try:
            pruner.artifact.operating_point(options["operating_point"])
        except LineclsError as error:
            raise click.BadParameter(str(error), param_hint="--operating-point") from error
        pruning = pruner.prune(query, raw, **options, progress=progress.show)
        return Answered(Observation.of(raw), pruning.spans, pruning.answerable, pruning.unfit_tokens)
    finally:
        progress.clear()


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _present(
    raw: bytes,
    found: Answered,
    protect: str | None,
    context: int,
    edges: int,
    markers: bool,
    as_json: bool,
    numbers: bool,
) -> tuple[list[Span], bytes]:
    """The spans with what is protected, and the bytes to print."""
    from linecls import rendering

    observation, spans = found.observation, found.spans
    if protect or context or edges or markers:  # else numpy need not be imported when the resident process answers
        from linecls.protection import Protection

        protection = Protection(errors=protect == "errors", context=context, edges=edges)
        if markers:
            from linecls.agent import shorten
            from linecls.store import Store

            shortened = shorten(raw, spans, protection, store=Store.of_user())
            if shortened.warning:
                warn(f"warning: {shortened.warning}")
            return shortened.spans, shortened.text
        spans = protection.apply(observation, spans)
    if as_json:
        return spans, _json(rendering.as_dict(observation, spans, found.answerable, found.unfit_tokens))
    kept = (rendering.numbered if numbers else rendering.plain)(observation, spans)
    return spans, kept if isinstance(kept, bytes) else kept.encode("utf-8", "surrogateescape")


def _whole_as_json(raw: bytes, reason: str) -> bytes:
    """The unpruned input in the form of an answer, with the key `warning`."""
    from linecls.rendering import as_dict

    observation = Observation.of(raw)
    spans = [Span(1, len(observation))] if len(observation) else []
    return _json({**as_dict(observation, spans, None), "warning": reason})


def _json(values: dict[str, Any]) -> bytes:
    return (json.dumps(values, ensure_ascii=False) + "\n").encode("utf-8")


def _kept(file: str | None) -> str | None:
    """Where the input still is; None when it is gone, for a pipe gives its bytes only once."""
    return f"{file} still holds all of it" if file not in (None, "-") and os.path.isfile(file) else None
