"""A whole batch: source, engine, spool, output, report."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from linecls import __version__
from linecls.batch.publishing import output_form, publish
from linecls.batch.report import check_report, report_files, summarise, write_report
from linecls.batch.rows import Fields, Outcome, Row
from linecls.batch.sources import STDIN, Source, open_source
from linecls.batch.spool import Checkpoint, Spool, safe
from linecls.errors import LineclsError

Engine = Literal["local", "ray"]
ENGINES: tuple[Engine, ...] = ("local", "ray")


@dataclass(frozen=True)
class Plan:
    """What a batch is asked to do.

    source: a file, a folder, or `-` for standard input; split: of a folder with several.
    output: .jsonl, .jsonl.gz or .parquet.
    options: those of `Pruner.prune_many` (None leaves the default); model, device, threads: of
        `Pruner.from_pretrained`.
    workers: pruners that the engine `ray` runs at once; None takes what the cluster has room for.
    stop_on_error: stop before the first row that fails, instead of writing it with its error.
    overwrite: replace an output that exists.
    report: where the distribution of compression goes (.json, .html, .png), None for nowhere.
    """

    source: str
    output: Path
    fields: Fields = field(default_factory=Fields)
    split: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None
    device: str = "auto"
    threads: int | None = None
    engine: Engine = "local"
    workers: int | None = None
    stop_on_error: bool = False
    overwrite: bool = False
    report: Path | None = None

    @property
    def decoding(self) -> dict[str, Any]:
        """The options that were given."""
        return {name: value for name, value in self.options.items() if value is not None}


@dataclass(frozen=True)
class Result:
    """rows, failed: of the whole output; resumed: rows that an earlier run had done; stopped: the row (its place
    and its error) before which the run stopped, because it was to stop there."""

    rows: int
    failed: int
    resumed: int
    stopped: tuple[int, str] | None = None


class Watcher(Protocol):
    """Who wants to see a run advance."""

    def begins(self, total: int | None, resumed: int) -> None:
        """total: what `Outcome.position` reaches, None if unknown; resumed: rows that are done already."""
        ...

    def row(self, outcome: Outcome) -> None: ...


def run_batch(plan: Plan, watcher: Watcher | None = None) -> Result:
    """Prune every row of `plan.source` into `plan.output`.

    A run that was killed goes on with the row after the last that is safely on disk; the output is the same,
    byte for byte, as that of a run that was not.
    Raises LineclsError, with how many rows are safe, for an input, a model or a disk that fails. A run that fails
    before its first row is safe leaves nothing beside the output.
    """
    output_form(plan.output)
    if plan.report is not None:
        check_report(plan.report)
    source = open_source(plan.source, plan.fields, split=plan.split)
    if _is_one_file(plan.source, plan.output):
        raise LineclsError(f"{plan.output} is input and output at once; choose another output")
    for path in [] if plan.report is None else report_files(plan.report):
        if _is_one_file(plan.source, path) or _is_one_file(plan.output, path):
            raise LineclsError(f"the report would overwrite {path}, the input or the output; choose another name")
    if plan.engine == "ray":
        from linecls.batch.ray_engine import check

        check(plan.source)
    settings = _settings(plan)
    with Spool(plan.output, settings, overwrite=plan.overwrite) as spool:
        resumed, stopped = spool.saved.rows, None
        if not spool.saved.complete:
            try:
                if watcher is not None:
                    watcher.begins(source.total, resumed)
                stopped = _fill(spool, plan, source, watcher)
            except LineclsError as error:
                raise _with_progress(error, spool) from error
            if stopped is not None:
                spool.checkpoint()
                return Result(spool.state.rows, spool.state.failed, resumed, stopped)
            spool.complete()
        if not spool.is_published:
            if plan.report is not None:
                write_report(plan.report, summarise(spool.path))
            publish(spool.path, plan.output, plan.fields)
        spool.forget()
        return Result(spool.saved.rows, spool.saved.failed, resumed)


def _is_one_file(one: str | Path, other: Path) -> bool:
    """Whether two paths name one file, there or to be made. `-` and a data set of a hub are none."""
    if os.path.exists(one) and other.exists():
        return one != STDIN and os.path.samefile(one, other)
    return one != STDIN and Path(one).resolve() == other.resolve()


def _settings(plan: Plan) -> dict[str, Any]:
    """What decides the bytes of the output, apart from the input. Raises LineclsError for what cannot be."""
    from linecls.artifact import Artifact, resolve
    from linecls.decoding import Budget

    artifact = Artifact.read(resolve(plan.model))
    artifact.operating_point(plan.decoding.get("operating_point"))
    Budget(**{name: plan.decoding.get(name) for name in ("max_lines", "max_tokens", "keep_ratio")})
    return {
        "model": artifact.sha256,
        "options": plan.decoding,
        "fields": asdict(plan.fields),
        "linecls": __version__,
    }


def _fill(spool: Spool, plan: Plan, source: Source, watcher: Watcher | None) -> tuple[int, str] | None:
    if plan.engine == "ray":
        from linecls.batch.ray_engine import outcomes

        stream = outcomes(plan, spool.saved)
    else:
        stream = _local(plan, source, spool.saved, count_tokens=watcher is not None)
    for outcome in stream:
        if outcome.error is not None and plan.stop_on_error:
            return outcome.number, outcome.error
        spool.append(outcome.line, failed=outcome.error is not None, digest=outcome.digest)
        if watcher is not None:
            watcher.row(outcome)
    return None


def _local(plan: Plan, source: Source, done: Checkpoint, *, count_tokens: bool) -> Iterator[Outcome]:
    from linecls.batch.pruning import prune_rows
    from linecls.pruner import Pruner

    pruner = Pruner.from_pretrained(plan.model, device=plan.device, threads=plan.threads)
    rows = after(source.rows(), done, plan.source)
    return prune_rows(pruner, rows, plan.decoding, count_tokens=count_tokens)


def after(rows: Iterator[Row], done: Checkpoint, name: str) -> Iterator[Row]:
    """The rows after those that an earlier run has done.

    Raises LineclsError when those that it has done are not what the input begins with.
    """
    count, digest = 0, b""
    for row in itertools.islice(rows, done.rows):
        count, digest = count + 1, row.digest
    if count < done.rows or digest.hex() != done.digest:
        raise LineclsError(
            f"{name} is not the input that the unfinished output was begun with (its first {done.rows} rows"
            " differ); give the same again, or remove the unfinished output"
        )
    yield from rows


def _with_progress(error: LineclsError, spool: Spool) -> LineclsError:
    """The error with what is safe and how to go on; where nothing is, what was begun is removed."""
    with suppress(LineclsError):  # the disk may be what failed
        spool.checkpoint()
    if not spool.saved.rows:
        with suppress(LineclsError):
            spool.forget()
        return error
    return type(error)(f"{error}; {safe(spool.saved.rows)} in {spool.path}, the same command goes on from there")
