"""Compare the variants of a model directory on labelled records: size, parity, F1, time. One table.

\b
  linecls export runs/linebench/best.ckpt -o model --variant int8 --variant fp16 --variant fp32
  python export/variants.py model dev.jsonl.gz

Each variant stands at its own best operating point, beside its loss against fp32. Time is that of the whole way on the
CPU, measured in rounds over all variants, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from make_default import RESULTS

from linecls import provenance
from linecls.artifact import ENCODER, Artifact, file_sha256
from linecls.observation import Observation
from linecls.pruner import Pruner
from linecls.records import Record, load_records
from linecls.tuning import Scored, best_f1_point, score_records, scored_recall

_ROUND = 10  # records that one variant scores before the next has its turn


@dataclass(frozen=True)
class Row:
    """One variant. Differences are of the keep logits, from fp32; times in ms per 1,000 observation tokens."""

    variant: str
    serves: str
    encoder_megabytes: float
    largest_difference: float
    mean_difference: float
    f1: float
    f1_difference: float
    recall_at_90: float
    wall_ms: float
    cpu_ms: float


@click.command(help=__doc__)
@click.argument("model", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("records", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--limit", default=200, show_default=True, help="Records drawn (seed 0).")
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads.  [default: the physical cores]")
def main(model: Path, records: Path, limit: int, threads: int | None) -> None:
    artifact = Artifact.load(model)
    if "fp32" not in artifact.files:
        raise click.ClickException(f"{model} has no variant fp32 to compare with; export it with --variant fp32")
    loaded = load_records(records)
    sample = random.Random(0).sample(loaded, min(limit, len(loaded)))
    names = ["fp32", *(name for name in artifact.files if name != "fp32")]
    scored, wall, cpu, tokens = measure(artifact, names, sample, threads)
    rows = [row(artifact, name, scored, wall[name] / tokens * 1e6, cpu[name] / tokens * 1e6) for name in names]
    report = table(rows, artifact, records, len(sample), len(loaded))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "variants.json").write_text(json.dumps([asdict(r) for r in rows], indent=2) + "\n")
    (RESULTS / "variants.md").write_text(report)
    click.echo(report)


def measure(
    artifact: Artifact, names: list[str], sample: list[Record], threads: int | None
) -> tuple[dict[str, list[Scored]], dict[str, float], dict[str, float], int]:
    """What each variant says of the records, its wall and CPU seconds, and the tokens of the records' observations."""
    pruners = {
        name: Pruner.from_pretrained(artifact.directory, device="cpu", variant=name, threads=threads) for name in names
    }
    scored: dict[str, list[Scored]] = {name: [] for name in names}
    wall, cpu = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    sample = sorted(sample, key=lambda record: record.tool_output)
    with click.progressbar(length=len(sample) * len(names), label="scoring") as bar:
        for start in range(0, len(sample), _ROUND):
            for name, pruner in pruners.items():
                before = time.perf_counter(), time.process_time()
                scored[name] += score_records(pruner, sample[start : start + _ROUND])
                wall[name] += time.perf_counter() - before[0]
                cpu[name] += time.process_time() - before[1]
                bar.update(_ROUND)
    encoder = pruners[names[0]].encoder
    outputs = {record.tool_output for record in sample}
    tokens = sum(len(s.ids) for output in outputs for s in encoder.segments(Observation.of(output)))
    return scored, wall, cpu, tokens


def row(artifact: Artifact, name: str, scored: dict[str, list[Scored]], wall_ms: float, cpu_ms: float) -> Row:
    gaps = np.concatenate(
        [np.abs(a.keep_logits - b.keep_logits) for a, b in zip(scored[name], scored["fp32"], strict=True)]
    )
    f1 = best_f1_point(scored[name])[1]
    return Row(
        name,
        ", ".join(kind for kind, variant in artifact.providers.items() if variant == name) or "-",
        round(artifact.graphs(name)[ENCODER].stat().st_size / 1e6, 1),
        float(gaps.max(initial=0.0)),
        float(gaps.mean()),
        f1,
        f1 - best_f1_point(scored["fp32"])[1],
        scored_recall(scored[name], 0.9),
        wall_ms,
        cpu_ms,
    )


def table(rows: list[Row], artifact: Artifact, records: Path, used: int, total: int) -> str:
    body = "".join(
        f"| {r.variant} | {r.serves} | {r.encoder_megabytes} | {r.largest_difference:.4f} | {r.mean_difference:.4f} |"
        f" {r.f1:.4f} | {r.f1_difference:+.4f} | {r.recall_at_90:.4f} | {r.wall_ms:.0f} | {r.cpu_ms:.0f} |\n"
        for r in rows
    )
    fused = ", ".join(f"{name} {count}" for name, count in artifact.provenance.get("fused_operators", {}).items())
    return (
        "# Variants of one model\n\n"
        "| variant | serves | encoder, MB | largest logit difference | mean | F1 | F1 - fp32 | recall, 90 % dropped |"
        " ms per 1,000 tokens | CPU ms |\n|---|---|---|---|---|---|---|---|---|---|\n"
        f"{body}\n"
        f"Differences from fp32, which itself is {artifact.provenance.get('torch_onnx_difference')} from torch.\n"
        f"Fused operators of the encoder: {fused}.\n"
        "F1: Squeez line F1, each variant at its own best operating point. All on the CPU provider, which computes\n"
        "fp16 through casts; its time says nothing of a GPU.\n\n"
        f"Model: {artifact.name} {artifact.version}. Data: {used} of the {total} records of {records.name} (seed 0;"
        f" sha256 {file_sha256(records)[:16]}).\n"
        f"Machine: {provenance.measured_on()}."
        f" Command: `python export/variants.py MODEL {records.name} --limit {used}`\n"
    )


if __name__ == "__main__":
    main()
