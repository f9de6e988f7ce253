"""`linecls eval`: systems side by side on labelled records."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linecls.errors import LineclsError
from linecls.systems import HEURISTICS, NAMES, create

if TYPE_CHECKING:
    from linecls.records import Record
    from linecls.systems import System

_HELP = """Run systems over labelled RECORDS and compare what they keep with the gold lines.

RECORDS are JSONL files, plain or gzip, folders that `datasets` reads, or hub:OWNER/NAME. Systems:

\b
  linecls     the pruner, with the embedded model or the one that --model names
  similarity  the untrained backbone: cosine of the query with three-line windows
  bm25        the tenth of the lines that shares the rarest words with the query
  first       the first tenth of the lines
  last        the last tenth
  random      a random tenth, the same one each time

The table shows means, some with half the width of their 95 % bootstrap interval: precision, recall and F1 of
line texts as the Squeez evaluator counts them, the share of lines dropped, recall of the gold lines with 50,
70 and 90 % of the lines dropped (R@), how often negatives (rightly) and positives (wrongly) got no lines, and
the time. --report writes all metrics with their intervals, per tool type, level and length.

\b
Examples:
  linecls eval test.jsonl.gz
  linecls eval test.jsonl.gz --system linecls,bm25 --report runs/eval
  linecls eval dev.jsonl --model runs/best --bias 0.5 --limit 200
  linecls eval hub:KRLabsOrg/tool-output-extraction-swebench --split test --published
  linecls eval test.jsonl.gz --json | jq '.systems.linecls.overall["squeez.span_f1"]'

\b
Exit status:
  0  done
  2  wrong usage, or records, a model or a report folder that cannot be used; one line on stderr says which
"""


@click.command(
    "eval",
    help=_HELP,
    short_help="Compare systems on labelled records.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.argument("records", nargs=-1, required=True)
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="System to run; may be given several times.  [default: linecls and the four heuristics]",
)
@click.option("--model", metavar="MODEL", help="Model directory or hub id for linecls.")
@click.option("--device", default="auto", show_default=True, help="Where linecls runs: auto, cpu, cuda or cuda:N.")
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads of linecls.")
@click.option("--bias", type=float, help="Let linecls keep less (larger) or more (smaller); in logits.")
@click.option("--operating-point", metavar="NAME", help="Let linecls decode as tuned for a target.")
@click.option("--split", help="Which split of a data set, where RECORDS have several.")
@click.option("--limit", type=click.IntRange(min=1), help="Evaluate on a random sample of so many records.")
@click.option("--seed", default=0, show_default=True, help="Seed of the sample and of the intervals.")
@click.option(
    "--bootstrap",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    help="Resamples behind the intervals; 0 for no intervals.",
)
@click.option("--published", is_flag=True, help="Add published figures of other systems, marked as such.")
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write report.json, report.md, predictions.jsonl and, with matplotlib, recall.png to DIR.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(
    *,
    records: tuple[str, ...],
    systems: tuple[str, ...],
    split: str | None,
    limit: int | None,
    seed: int,
    bootstrap: int,
    published: bool,
    report: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """The click command; see `_HELP`."""
    names = _names(systems)
    if options["bias"] is not None and not math.isfinite(options["bias"]):
        raise click.BadParameter("it must be a finite number", param_hint="--bias")
    if seed < 0:
        raise click.BadParameter("it must not be negative", param_hint="--seed")
    if report is not None:
        _make_folder(report)
    labelled = _load(records, split, limit, seed)
    ready = [_create(name, options) for name in names]
    with _progress(ready, len(labelled)) as advance:
        from linecls.evaluation import evaluate

        result = evaluate(
            labelled,
            ready,
            bootstrap=bootstrap,
            seed=seed,
            sources=records,
            published=published,
            on_record=advance,
        )
    if report is not None:
        try:
            paths = result.write(report)
        except OSError as error:
            raise LineclsError(f"cannot write the report to {report}: {error.strerror or error}") from error
        for path in paths:
            click.echo(f"wrote {path}", err=True)
    click.echo(result.to_json() if as_json else result.to_text(), nl=False)


def _names(given: Sequence[str]) -> list[str]:
    """The systems asked for, each once, in order; commas separate too."""
    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    if given and not names:
        raise click.BadParameter("name at least one system", param_hint="--system")
    for name in names:
        if name not in NAMES:
            raise click.BadParameter(f"unknown system '{name}'; choose from: {', '.join(NAMES)}", param_hint="--system")
    return list(dict.fromkeys(names)) or ["linecls", *HEURISTICS]


def _make_folder(folder: Path) -> None:
    """Before the work, so that a report is not lost to a folder that cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LineclsError(f"cannot make the report folder {folder}: {error.strerror}") from error


def _load(sources: Sequence[str], split: str | None, limit: int | None, seed: int) -> list[Record]:
    from linecls.records import load_records

    loaded = [record for source in sources for record in load_records(source, split=split)]
    if not loaded:
        raise LineclsError(f"{', '.join(sources)}: no records")
    if limit is not None and limit < len(loaded):
        chosen = sorted(random.Random(seed).sample(range(len(loaded)), limit))
        loaded = [loaded[i] for i in chosen]
    return loaded


def _create(name: str, options: dict[str, Any]) -> System:
    """Only `linecls` takes options here."""
    return create(name, **(options if name == "linecls" else {}))


@contextmanager
def _progress(systems: Sequence[System], records: int) -> Iterator[Callable[[str], object] | None]:
    """A bar on stderr where somebody looks at it."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=len(systems) * records, file=sys.stderr) as bar:

        def advance(name: str) -> None:
            bar.label = name
            bar.update(1)

        yield advance
