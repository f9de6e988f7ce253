"""`linecls batch`: a file of rows in, a file of pruned rows out."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linecls.batch.run import ENGINES, Plan, Watcher, run_batch
from linecls.batch.spool import safe
from linecls.cli._decoding_options import DECODING, decoding_options, model_options
from linecls.progress import Reminder, clock
from linecls.streams import warn

if TYPE_CHECKING:
    from linecls.batch.rows import Outcome

_HELP = """Prune every row of IN: a query and an observation each.

IN is JSONL (plain or gzip), Parquet, a folder that `datasets` reads, or - for JSONL on standard input. What is
written for a row: its place in IN (row), the fields of --id-field and --fields, the kept text, its spans, counts
of lines and bytes, answerable, and error, which is null where all went well. A row that cannot be pruned is
written with its error, and the run goes on.

\b
Examples:
  linecls batch trajectories.jsonl.gz -o pruned.jsonl.gz --id-field instance_id
  linecls batch calls.parquet -o pruned.parquet --query-field need --observation-field output
  zcat calls.jsonl.gz | linecls batch - -o pruned.jsonl --max-lines 40 --report pruned.html
  linecls batch calls.jsonl -o pruned.jsonl --engine ray --workers 16

Progress goes to stderr: a bar on a terminal, elsewhere a line every half minute. OUT appears when it is complete.
Until then OUT.part and OUT.journal stand beside it: when a run is killed, the same command goes on where it stood,
and the output has the same bytes.

\b
Exit status:
  0    every row was pruned
  1    rows failed (they are written with their error), or --on-error fail stopped before one
  2    wrong usage, or an input, a model or an output that cannot be used; one line on stderr says which
  130  interrupted; the same command goes on
"""


@click.command(
    "batch",
    help=_HELP,
    short_help="Prune every row of a file.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.argument("source", metavar="IN")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Ends in .jsonl, .jsonl.gz or .parquet.",
)
@click.option("--query-field", default="query", show_default=True, metavar="NAME", help="Field with the query.")
@click.option(
    "--observation-field", default="tool_output", show_default=True, metavar="NAME", help="Field with the observation."
)
@click.option("--id-field", metavar="NAME", help="Field that identifies a row; written first.")
@click.option("--fields", multiple=True, metavar="NAME[,NAME...]", help="Further fields to write as they stand.")
@click.option("--split", metavar="NAME", help="Which split, where IN is a folder with several.")
@decoding_options
@model_options
@click.option(
    "--on-error",
    type=click.Choice(["continue", "fail"]),
    default="continue",
    show_default=True,
    help="At a row that fails: write it with its error, or stop before it.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT, or an unfinished OUT of other settings.")
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the distribution of compression: .json, .html, or .png with the JSON beside it. HTML and PNG need"
    " matplotlib (extra `eval`); without it the run does not begin.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="local",
    show_default=True,
    help="local, or ray: workers on this machine or a cluster (RAY_ADDRESS).",
)
@click.option("--workers", type=click.IntRange(min=1), help="Workers of --engine ray.  [default: what has room]")
def command(
    *,
    source: str,
    output: Path,
    query_field: str,
    observation_field: str,
    id_field: str | None,
    fields: tuple[str, ...],
    split: str | None,
    model: str | None,
    device: str,
    threads: int | None,
    on_error: str,
    overwrite: bool,
    report: Path | None,
    engine: Any,
    workers: int | None,
    **options: Any,
) -> None:
    """The click command; see `_HELP`."""
    from linecls.batch.rows import Fields
    from linecls.session import parse_device

    if workers is not None and engine != "ray":
        raise click.UsageError("--workers goes with --engine ray.")
    parse_device(device)
    passed = tuple(name.strip() for text in fields for name in text.split(",") if name.strip())
    plan = Plan(
        source=source,
        output=output,
        fields=Fields(query_field, observation_field, id_field, passed),
        split=split,
        options={name: options[name] for name in DECODING},
        model=model,
        device=device,
        threads=threads,
        engine=engine,
        workers=workers,
        stop_on_error=on_error == "fail",
        overwrite=overwrite,
        report=report,
    )
    try:
        with _watcher(sys.stderr) as watcher:
            result = run_batch(plan, watcher)
    except KeyboardInterrupt:
        warn(f"interrupted; the same command goes on with {output}")
        raise
    if result.resumed:
        warn("1 row was done before" if result.resumed == 1 else f"{result.resumed} rows were done before")
    if result.stopped is not None:
        number, error = result.stopped
        warn(f"{source}: row {number}: {error}; stopped before it, {safe(result.rows)} in {output}.part")
    elif result.failed:
        warn(f"{result.failed} of {result.rows} rows failed; their field `error` says why")
    if result.stopped is not None or result.failed:
        click.get_current_context().exit(1)


_REDRAW_SECONDS = 0.2


def _watcher(stream: Any) -> AbstractContextManager[Watcher | None]:
    """A bar on a terminal, a line now and then elsewhere, nothing where stderr is closed."""
    if stream is None:
        return nullcontext()
    return Bar(stream) if stream.isatty() else Notes()


class _Tally:
    """What has been done, and how fast."""

    def __init__(self) -> None:
        self._rows = self._tokens = self._kept = self._lines = 0
        self._start = 0.0

    def _begin(self) -> None:
        self._start = time.monotonic()

    def _count(self, outcome: Outcome) -> None:
        self._rows += 1
        self._tokens += outcome.tokens
        self._kept += outcome.kept_lines
        self._lines += outcome.total_lines

    def text(self) -> str:
        """Rows, rows and tokens per second, share of the lines that is removed. Tokens are estimated from lengths."""
        seconds = max(time.monotonic() - self._start, 1e-3)
        text = f"{self._rows} rows, {self._rows / seconds:.1f} rows/s, {self._tokens / seconds:,.0f} tokens/s"
        return text + (f", {1 - self._kept / self._lines:.1%} removed" if self._lines else "")


class Bar(_Tally):
    """Progress on a terminal: share of the input, rows and tokens per second, compression so far."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self._stream = stream
        self._bar: Any = None
        self._position = self._shown = 0
        self._drawn = 0.0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._draw()
            self._bar.__exit__(None, None, None)

    def begins(self, total: int | None, resumed: int) -> None:
        """See `linecls.batch.run.Watcher`."""
        source: dict[str, Any] = {"iterable": iter(())} if total is None else {"length": total}
        self._bar = click.progressbar(
            **source,
            file=self._stream,
            show_eta=total is not None,
            show_percent=total is not None,
            item_show_func=lambda _: self.text(),
            label=f"after {resumed} rows" if resumed else None,
            update_min_steps=0,
        )
        self._begin()
        self._bar.__enter__()

    def row(self, outcome: Outcome) -> None:
        """See `linecls.batch.run.Watcher`."""
        self._count(outcome)
        self._position = outcome.position
        if time.monotonic() - self._drawn >= _REDRAW_SECONDS:
            self._draw()

    def _draw(self) -> None:
        self._bar.update(max(self._position - self._shown, 0), self)
        self._shown, self._drawn = self._position, time.monotonic()


class Notes(_Tally):
    """Progress off a terminal: a line every half minute, so that a log shows that a long run goes on, and how fast."""

    def __init__(self) -> None:
        super().__init__()
        self._total: int | None = None
        self._first: tuple[int, float] | None = None  # where the input stood at the first row, and when
        self._reminder = Reminder()

    def __enter__(self) -> Notes:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def begins(self, total: int | None, resumed: int) -> None:
        """See `linecls.batch.run.Watcher`."""
        self._total = total
        self._begin()
        self._reminder = Reminder()

    def row(self, outcome: Outcome) -> None:
        """See `linecls.batch.run.Watcher`."""
        self._count(outcome)
        now = time.monotonic()
        self._first = self._first or (outcome.position, now)  # where a run goes on, the rows before took no time
        if not self._reminder.is_due():
            return
        text = self.text()
        if self._total:
            text += f"; {min(outcome.position / self._total, 1):.0%} of the input"
            position, then = self._first
            if (done := outcome.position - position) > 0:
                left = (now - then) * max(self._total - outcome.position, 0) / done
                text += f", about {clock(left)} to go"
        warn(text)
