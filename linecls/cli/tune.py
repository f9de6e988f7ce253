"""`linecls tune`: an operating point for a target, with what it promises and what it keeps on unseen records."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linecls.errors import LineclsError
from linecls.progress import Count
from linecls.streams import warn

if TYPE_CHECKING:
    from linecls.records import Record
    from linecls.tuning import Target

_HELP = """Find the decoding parameters that reach a target on RECORDS, and write them into a model under a name.

RECORDS are labelled records as for `linecls eval`. Targets:

\b
  compression=0.90  drop at least 90 % of the lines; of all ways the one that keeps the most gold lines
  tokens=500        keep at most 500 tokens of an observation; likewise
  recall=0.95       keep at least 95 % of the gold lines; of all ways the one that drops the most
  f1                the highest F1 of line texts

All are means over the records. For compression and tokens the records need no label: rows with `query` and
`tool_output` are enough, and then only the bias is tuned; the rest is that of the model's default point.

Every bias and every empty threshold that makes a difference is looked at. The records are cut into folds by
observation, and each fold is answered with what the others choose: the column `held out` says what to expect
on new records, with a 95 % interval. A target that is missed there is raised until it holds.

\b
Examples:
  linecls tune dev.jsonl --target recall=0.95
  linecls tune dev.jsonl --target compression=0.90 --name lean --model model/
  linecls tune dev.jsonl --target tokens=500 --name short -o model/     # a copy of the embedded model
  linecls prune "which test fails" log.txt --model model/ --operating-point short

\b
Exit status:
  0  done; one line on stderr says so when the target is missed on held-out records
  2  wrong usage, records, a model or an output that cannot be used, or a target that cannot be reached
"""


@click.command(
    "tune",
    help=_HELP,
    short_help="Find operating points for a compression, recall or F1 target.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.argument("records", nargs=-1, required=True)
@click.option("--target", "wanted", required=True, metavar="TARGET", help="What to reach; see above.")
@click.option("--name", metavar="NAME", help="Write the operating point under this name; without it only report.")
@click.option("--model", metavar="MODEL", help="Model directory or hub id, in place of the embedded model.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write into a copy of the model here; a copy that stands there gets the point added.  [default: MODEL]",
)
@click.option("--split", help="Which split of a data set, where RECORDS have several.")
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of the observations.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of folds and intervals.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda[:N] or tensorrt[:N].")
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads.  [default: the physical cores]")
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write tuning.json, tuning.md and, with matplotlib, tuning.png to DIR.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
def command(
    *,
    records: tuple[str, ...],
    wanted: str,
    name: str | None,
    model: str | None,
    output: Path | None,
    split: str | None,
    folds: int,
    seed: int,
    device: str,
    threads: int | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """The click command; see `_HELP`."""
    from linecls.operating_points import check_name, writable_directory, write_point
    from linecls.tuning import Target, score_records, tune

    target = Target.parse(wanted)
    if name is None and output is not None:
        raise click.UsageError("--output needs --name: the name of the operating point to write.")
    destination = None
    if name is not None:
        check_name(name)
        destination = writable_directory(model, output)
    if report is not None:
        _make_folder(report)
    loaded = _load(records, split, target)

    from linecls import provenance, tuning_report
    from linecls.pruner import Pruner

    pruner = Pruner.from_pretrained(model, device=device, threads=threads)
    with _progress(len(loaded)) as advance:
        scored = score_records(pruner, loaded, advance)
    tuning = tune(scored, target, base=pruner.artifact.operating_point(), folds=folds, seed=seed)
    sources = [provenance.source(source) for source in records]
    found = tuning_report.to_dict(tuning, sources)
    if name is not None and destination is not None:
        kept = ("target", "files", "records", "observations", "promised", "held_out")
        write_point(pruner.artifact, destination, name, tuning.point, {key: found[key] for key in kept})
        click.echo(f"wrote the operating point {name} into {destination}", err=True)
    if report is not None:
        try:
            paths = tuning_report.write(tuning, report, sources)
        except OSError as error:
            raise LineclsError(f"cannot write the report to {report}: {error.strerror or error}") from error
        for path in paths:
            click.echo(f"wrote {path}", err=True)
    click.echo(json.dumps(found, indent=1) + "\n" if as_json else tuning_report.to_text(tuning, sources), nl=False)
    if tuning.held_out is None:
        few = "one observation only" if tuning.observations == 1 else "too few records with gold lines"
        warn(f"{few}: nothing can be held out, so what the point promises is not checked")
    elif not tuning.is_held:
        reached = tuning.held_out[target.kind].value
        warn(f"the target {target} is missed on held-out records: {target.kind} {reached:.4g} there")


def _load(sources: Sequence[str], split: str | None, target: Target) -> list[Record]:
    """The records; without their labels where the target needs none and a source has none."""
    from linecls.records import has_labels, load_records, require_queries

    unlabelled = [source for source in sources if not has_labels(source, split=split)]
    if unlabelled and target.needs_gold:
        raise LineclsError(f"{unlabelled[0]}: the records carry no labels, which the target {target} needs")
    loaded: list[Record] = []
    for source in sources:
        found = load_records(source, split=split, labelled=not unlabelled)
        require_queries(found, source)
        loaded += found
    if not loaded:
        raise LineclsError(f"{', '.join(sources)}: no records")
    if target.needs_gold and not any(record.gold_spans for record in loaded):
        raise LineclsError(f"{', '.join(sources)}: no record has gold lines, which the target {target} needs")
    return loaded


def _make_folder(folder: Path) -> None:
    """Before the work, so that a report is not lost to a folder that cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LineclsError(f"cannot make the report folder {folder}: {error.strerror}") from error


@contextmanager
def _progress(records: int) -> Iterator[Callable[[int], None] | None]:
    """A bar on stderr where somebody looks at it, a line now and then elsewhere."""
    if sys.stderr is None:
        yield None
        return
    if not sys.stderr.isatty():
        yield Count(records, "records are scored").advance
        return
    with click.progressbar(length=records, label="scoring", file=sys.stderr) as bar:
        yield bar.update
