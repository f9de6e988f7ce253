"""`linecls data build`: run the families of a configuration and write records with a data card.

The output folder holds `shards/<family>-<part>-of-<parts>-<digest>.jsonl.gz`, one file for each finished part
of a family, then `<name>.jsonl.gz` (all of them, without near-duplicates and the too easy ones) and its card
`<name>.card.md` and `<name>.card.json`. The digest covers this version, the seed and everything that the
family was asked for, so a second run makes only what is missing or has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linecls import __version__
from linecls.data import families, negatives, quality
from linecls.errors import LineclsError, missing_extra
from linecls.records import Record, iter_records, load_records, write_records


@dataclass(frozen=True)
class Job:
    """One part of a family: at least `count` records unless its sources run dry; observations stay whole."""

    family: str
    part: int
    parts: int
    count: int
    seed: int
    options: dict[str, Any] = field(hash=False)

    @property
    def shard(self) -> str:
        """File name of the part, with a digest of all that shapes it."""
        told = json.dumps(
            [__version__, self.seed, self.part, self.parts, self.count, self.options],
            sort_keys=True,
            default=str,
        )
        digest = hashlib.sha256(told.encode()).hexdigest()[:8]
        return f"{self.family}-{self.part + 1}-of-{self.parts}-{digest}.jsonl.gz"


@dataclass(frozen=True)
class Plan:
    """What a configuration file asks for."""

    name: str
    seed: int
    jobs: list[Job]
    bm25_drop: float = 0.5
    bm25_most: float = 0.35
    negatives: float = 0.2
    similarity: float = 0.8


_KEYS = {"name", "seed", "exclude", "families", "bm25_drop", "bm25_most", "negatives", "similarity"}


def load_plan(
    path: str | Path, *, exclude_records: list[str] | None = None, overrides: dict[str, Any] | None = None
) -> Plan:
    """Read a YAML configuration.

    Keys: `name` (of the output), `seed`, `exclude` (project names that must not be used), `bm25_drop` and
    `bm25_most` (see `quality.without_easy`), `negatives` (their largest share in a tool type), `similarity`
    (above which observations are near-duplicates), and `families`: name -> `count`, `parts` and `options`.
    `~` and environment variables in `sources` and `repos` of the options are expanded.

    exclude_records: record files whose projects are excluded as well, so that nothing of a test set is built.
    overrides: options that replace those of every family (for instance `sources`).
    Raises LineclsError for a file that cannot be read or has unknown keys.
    """
    try:
        import yaml
    except ImportError as error:
        raise missing_extra("pyyaml", "train") from error
    try:
        config = yaml.safe_load(Path(path).read_text("utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise LineclsError(f"cannot read the data configuration {path}: {error}") from error
    if not isinstance(config, dict) or not isinstance(config.get("families"), dict):
        raise LineclsError(f"{path}: a data configuration is a mapping with the key `families`")
    if unknown := set(config) - _KEYS:
        raise LineclsError(f"{path}: unknown keys {', '.join(sorted(unknown))}; known: {', '.join(sorted(_KEYS))}")
    exclude = {str(name).lower() for name in config.get("exclude") or []}
    for source in exclude_records or []:
        exclude |= {str(r.extra.get("project", "")).lower() for r in iter_records(source)} - {""}
    seed, jobs = int(config.get("seed", 0)), []
    for name, asked in config["families"].items():
        families.get(name)
        options = {**(asked.get("options") or {}), **(overrides or {})}
        for key in ("sources", "repos"):
            if key in options:
                options[key] = [os.path.expandvars(os.path.expanduser(str(value))) for value in options[key]]
        options["exclude"] = sorted(exclude | {str(e).lower() for e in options.get("exclude", [])})
        parts = int(asked.get("parts", 1))
        for part in range(parts):
            count = (int(asked["count"]) * (part + 1)) // parts - (int(asked["count"]) * part) // parts
            jobs.append(Job(name, part, parts, count, seed, options))
    return Plan(
        name=str(config.get("name", Path(path).stem)), seed=seed, jobs=jobs,
        bm25_drop=float(config.get("bm25_drop", 0.5)),
        bm25_most=float(config.get("bm25_most", 0.35)),
        negatives=float(config.get("negatives", 0.2)), similarity=float(config.get("similarity", 0.8)),
    )  # fmt: skip


def generate(job: Job) -> Iterator[Record]:
    """The records of a job: whole observations until `count` is reached."""
    rng = random.Random(f"{job.seed}/{job.family}/{job.part}/{job.parts}")
    made, last = 0, ""
    raw = families.get(job.family).generate(rng, {**job.options, "part": job.part, "parts": job.parts})
    cuts = random.Random(f"cut/{job.seed}/{job.family}/{job.part}")
    for record in negatives.with_cuts(raw, cuts, float(job.options.get("cut", 0.0))):
        observation = negatives.observation_of(record).removesuffix("~cut")
        if made >= job.count and observation != last:
            return
        yield record
        made, last = made + 1, observation


def run_job(job: Job, folder: Path) -> int:
    """Write a job's shard, whole or not at all, unless it is there; returns the number of records written."""
    target = folder / job.shard
    if target.exists():
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{os.getpid()}-{job.shard}"
    try:
        records = list(generate(job))
        write_records(partial, records)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return len(records)


def build(
    plan: Plan, output: str | Path, *, workers: int = 1, progress: Callable[[Job, int], None] | None = None
) -> dict[str, Any]:
    """Make what is missing, join the shards, write the set and its card; returns the card's figures.

    progress: called after each part with the job and the number of records it newly wrote.
    """
    output = Path(output)
    folder = output / "shards"
    tell = progress or (lambda job, made: None)
    if workers <= 1:
        for job in plan.jobs:
            tell(job, run_job(job, folder))
    else:
        with ProcessPoolExecutor(workers) as pool:
            running = {pool.submit(run_job, job, folder): job for job in plan.jobs}
            for done in as_completed(running):
                tell(running[done], done.result())
    records = [record for job in plan.jobs for record in load_records(folder / job.shard)]
    records = share_texts(quality.without_duplicates(records, plan.similarity))
    known = quality.lexical(records)
    outcomes = {id(record): outcome for record, outcome in zip(records, known, strict=True)}
    records = quality.without_easy(records, random.Random(plan.seed), plan.bm25_drop, plan.bm25_most, known)
    records = quality.without_surplus_negatives(records, random.Random(plan.seed), plan.negatives)
    for record in records:
        record.extra["level"] = quality.level(record)
    figures = quality.card(records, [outcomes[id(record)] for record in records])
    partial = output / f".{os.getpid()}-{plan.name}.jsonl.gz"  # a reader never sees half a set
    write_records(partial, records)
    partial.replace(output / f"{plan.name}.jsonl.gz")
    (output / f"{plan.name}.card.json").write_text(quality.card_json(figures), "utf-8")
    (output / f"{plan.name}.card.md").write_text(quality.card_markdown(figures, f"Built set {plan.name}"), "utf-8")
    return figures


def share_texts(records: list[Record]) -> list[Record]:
    """The same records, those of one observation holding one string object."""
    texts: dict[str, str] = {}
    for record in records:
        record.tool_output = texts.setdefault(record.tool_output, record.tool_output)
    return records
