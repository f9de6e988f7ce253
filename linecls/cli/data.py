"""`linecls data`: building labelled records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from linecls.data.build import Job


@click.group("data")
def command() -> None:
    """Build labelled records by program."""


@command.command("build")
@click.argument("config", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write to.",
)
@click.option(
    "-j",
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Processes that work at the same time.",
)
@click.option("--sources", multiple=True, help="Folder of wheels or site-packages, instead of the configuration's.")
@click.option("--repos", multiple=True, help="Local git clone, instead of the configuration's.")
@click.option(
    "--exclude-projects-of",
    "exclude",
    multiple=True,
    type=click.Path(exists=True),
    help="Record file whose projects must not be used.",
)
def build_command(
    *,
    config: Path,
    output: Path,
    workers: int,
    sources: tuple[str, ...],
    repos: tuple[str, ...],
    exclude: tuple[str, ...],
) -> None:
    """Build the record set that CONFIG describes. Finished parts are kept, so a stopped run can go on."""
    from linecls.data.build import build, load_plan

    overrides = {key: list(value) for key, value in (("sources", sources), ("repos", repos)) if value}
    plan = load_plan(config, exclude_records=list(exclude), overrides=overrides)
    with click.progressbar(length=len(plan.jobs), label="building", show_pos=True, file=sys.stderr) as bar:

        def advance(job: Job, made: int) -> None:
            bar.label = f"{job.family} {job.part + 1}/{job.parts}" + ("" if made else " (kept)")
            bar.update(1)

        figures = build(plan, output, workers=workers, progress=advance)
    recall = figures["bm25_recall_at_10"].get("all", 0.0)
    click.echo(
        f"{output / plan.name}.jsonl.gz: {figures['records']} records over {figures['observations']} "
        f"observations, {figures['negatives']} negatives, BM25 recall at 10 % {recall:.3f}"
    )


@command.command("card")
@click.argument("records", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--title", help="Heading of the page; the file's name by default.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON instead of Markdown.")
def card_command(*, records: Path, title: str | None, as_json: bool) -> None:
    """Print the data card of a record file: counts, lengths, places of the answers, BM25 recall."""
    from linecls.data import quality
    from linecls.data.build import share_texts
    from linecls.records import load_records

    figures = quality.card(share_texts(load_records(records)))
    name = title or records.name.partition(".")[0]
    click.echo(quality.card_json(figures) if as_json else quality.card_markdown(figures, name), nl=False)
