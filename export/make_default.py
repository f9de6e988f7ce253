"""Make the embedded model from a checkpoint, and prove it.

    python export/make_default.py runs/minilm/best.ckpt --dev dev.jsonl.gz --test test.jsonl.gz

1. exports fp32 and both int8 variants (per-tensor and per-channel scales) and scores the dev records with each;
2. keeps the int8 variant with the highest F1 on dev, and tunes its operating points there;
3. evaluates it on the test records, and writes linecls/assets/default/ with a model card.
The comparison of the variants goes to export/results/quantisation.md and .json.
"""

from __future__ import annotations

import json
import platform
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from linecls import exporting
from linecls.artifact import Artifact, embedded, file_sha256
from linecls.evaluation import evaluate
from linecls.pruner import Pruner
from linecls.records import Record, load_records
from linecls.systems.ours import Linecls
from linecls.tuning import Scored, best_f1_point, score_records, scored_recall, standard_points

RESULTS = Path(__file__).parent / "results"
VARIANTS = {"fp32": None, "int8 per tensor": False, "int8 per channel": True}


@dataclass(frozen=True)
class VariantResult:
    """One row of the comparison: figures on the dev records, each variant at its own best operating point."""

    variant: str
    megabytes: float
    f1: float
    recall_at_90: float
    logit_difference: float  # mean absolute difference of the keep logits from fp32
    ms_per_1000_tokens: float


def compare(checkpoint: exporting.Checkpoint, folder: Path, dev: list[Record]) -> dict[str, tuple[Artifact, Any]]:
    """Export every variant and score the dev records with it."""
    tokens = count_tokens(checkpoint, dev)
    out: dict[str, tuple[Artifact, Any]] = {}
    reference: list[Scored] | None = None
    for variant, per_channel in VARIANTS.items():
        kind = "fp32" if per_channel is None else "int8"
        artifact = exporting.export(
            checkpoint,
            folder / variant.replace(" ", "-"),
            variants=[kind],
            per_channel=bool(per_channel),
            check_on=[(r.query, r.tool_output) for r in dev[:: max(len(dev) // 12, 1)]] if kind == "fp32" else (),
        )
        pruner = Pruner.from_pretrained(artifact.directory, device="cpu")
        with click.progressbar(length=len(dev), label=f"dev, {variant}") as bar:
            start = time.perf_counter()
            scored = score_records(pruner, dev, bar.update)
            seconds = time.perf_counter() - start
        point, f1 = best_f1_point(scored)
        reference = reference or scored
        gaps = [np.abs(s.keep_logits - r.keep_logits).mean() for s, r in zip(scored, reference, strict=True)]
        row = VariantResult(
            variant,
            round(artifact.graph().stat().st_size / 1e6, 1),
            f1,
            scored_recall(scored, 0.9),
            float(np.mean(gaps)),
            seconds / tokens * 1e6,
        )
        click.echo(f"{row}", err=True)
        out[variant] = (artifact, (row, scored, point))
    return out


def count_tokens(checkpoint: exporting.Checkpoint, records: list[Record]) -> int:
    """Tokens of the observations as the model reads them (long lines cut), summed over the records."""
    from linecls.observation import Observation

    known: dict[str, int] = {}
    for record in records:
        if record.tool_output not in known:
            segments = checkpoint.encoder.segments(Observation.of(record.tool_output))
            known[record.tool_output] = sum(len(segment.ids) for segment in segments)
    return sum(known[record.tool_output] for record in records)


def quantisation_report(rows: list[VariantResult], dev: Path, records: int) -> str:
    head = (
        "| variant | MB | F1 on dev | recall, 90 % dropped | mean logit difference from fp32 | ms per 1,000 tokens |\n"
        "|---|---|---|---|---|---|\n"
    )
    body = "".join(
        f"| {r.variant} | {r.megabytes} | {r.f1:.4f} | {r.recall_at_90:.4f} | {r.logit_difference:.4f} |"
        f" {r.ms_per_1000_tokens:.0f} |\n"
        for r in rows
    )
    return (
        f"# Quantisation of the embedded model\n\n{head}{body}\n"
        "F1: Squeez line F1, each variant at its own best operating point. Dynamic int8 by ONNX Runtime.\n"
        f"Data: {dev.name}, {records} records, sha256 {file_sha256(dev)[:16]}. Machine: {machine()}.\n"
        "Command: `python export/make_default.py CHECKPOINT --dev … --test …`\n"
    )


def machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    import os

    return f"{model}, {len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} CPUs"


@click.command(help=__doc__)
@click.argument("checkpoint", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dev", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--test", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--training-data", required=True, help="What it was trained on, in a sentence, for the card.")
@click.option("-o", "--output", default=embedded(), type=click.Path(path_type=Path), show_default="linecls/assets/default")
@click.option("--name", default="linecls-minilm", show_default=True)
@click.option("--model-version", default="1", show_default=True)
def main(
    checkpoint: Path, dev: Path, test: Path, training_data: str, output: Path, name: str, model_version: str
) -> None:
    loaded = exporting.load_checkpoint(checkpoint)
    dev_records, test_records = load_records(dev), load_records(test)
    with tempfile.TemporaryDirectory() as scratch:
        variants = compare(loaded, Path(scratch), dev_records)
        rows = [row for _, (row, _, _) in variants.values()]
        best = max((r for r in rows if r.variant != "fp32"), key=lambda r: r.f1)
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "quantisation.md").write_text(quantisation_report(rows, dev, len(dev_records)))
        (RESULTS / "quantisation.json").write_text(json.dumps([asdict(r) for r in rows], indent=2) + "\n")

        artifact, (_, scored, point) = variants[best.variant]
        points = standard_points(scored, point)
        artifact.with_operating_points(points, "f1")
        system = Linecls(artifact.directory, device="cpu")
        with click.progressbar(length=len(test_records), label="test") as bar:
            report = evaluate(test_records, [system], sources=[test], on_record=lambda _: bar.update(1))
        metrics = {key: report["linecls"].overall[key] for key in CARD_METRICS}
        fp32 = next(r for r in rows if r.variant == "fp32")
        provenance = {
            "training_data": training_data,
            "tuned_on": {"file": dev.name, "records": len(dev_records), "sha256": file_sha256(dev)},
            "evaluated_on": {"file": test.name, "records": len(test_records), "sha256": file_sha256(test)},
            "test": {key: estimate.value for key, estimate in metrics.items()},
            "int8_f1_minus_fp32_f1_on_dev": best.f1 - fp32.f1,
            "licence": "Apache-2.0; weights start from all-MiniLM-L6-v2 (Apache-2.0)",
        }
        card = model_card(name, model_version, training_data, metrics, points, best, fp32, (dev, test))
        per_channel = VARIANTS[best.variant]
        exporting.export(
            loaded,
            output,
            variants=["int8"],
            per_channel=bool(per_channel),
            name=name,
            version=model_version,
            operating_points=points,
            default_operating_point="f1",
            provenance=provenance,
            check_on=[(r.query, r.tool_output) for r in dev_records[:6]],
            card=card,
        )
    click.echo(f"wrote {output}", err=True)
    click.echo(report.to_text())


CARD_METRICS = {
    "squeez.span_f1": "line F1 (Squeez)",
    "squeez.span_precision": "line precision",
    "squeez.span_recall": "line recall",
    "squeez.compression_corrected": "share of input lines removed",
    "pruning.recall_at_50": "recall of gold lines, 50 % of lines dropped",
    "pruning.recall_at_70": "recall of gold lines, 70 % of lines dropped",
    "pruning.recall_at_90": "recall of gold lines, 90 % of lines dropped",
    "pruning.true_negative_empty": "negatives answered with empty output",
}


def model_card(
    name: str,
    version: str,
    training_data: str,
    metrics: dict[str, Any],
    points: dict[str, Any],
    best: VariantResult,
    fp32: VariantResult,
    files: tuple[Path, Path],
) -> str:
    figures = "".join(
        f"| {label} | {metrics[key].value:.3f} | {metrics[key].low:.3f} to {metrics[key].high:.3f} |\n"
        for key, label in CARD_METRICS.items()
    )
    decoding = "".join(
        f"| {n} | {p.bias:.3f} | {p.switch_cost:.2f} | {p.empty_threshold:.4f} |\n" for n, p in points.items()
    )
    return f"""# {name} {version}

The model embedded in linecls: given a query and the raw output of a tool, one keep logit per line and the
probability that the output answers the query at all.

- **Architecture.** all-MiniLM-L6-v2 (6 layers, 384 wide) reads windows of 128 tokens without the query and the
  query by itself; line states, their similarities with the query (cosine, late interaction) and free line
  features go through a 3-layer transformer over all lines with the query's tokens in front. The keep logit
  starts from the similarity and learns what is added to it.
- **Training data.** {training_data}
- **Form.** int8 ({best.variant.removeprefix("int8 ")} scales), {best.megabytes} MB, ONNX opset {exporting.OPSET}.
- **Licence.** Apache-2.0. The weights start from all-MiniLM-L6-v2 (Apache-2.0).

## Figures on {files[1].name}

| metric | value | 95 % interval |
|---|---|---|
{figures}
Measured by `python export/make_default.py` at the operating point `f1`, with the int8 file, on
{machine()}; bootstrap over records. The same figures come from
`linecls eval {files[1].name} --system linecls`.
int8 against fp32 on {files[0].name}: F1 {best.f1:.4f} against {fp32.f1:.4f}.

## Operating points, tuned on {files[0].name}

| name | bias | switch cost | empty threshold |
|---|---|---|---|
{decoding}
`f1` (the default) has the highest line F1; `recall` keeps at least 90 % of the gold lines on average and never
answers with nothing.

## Limits

English queries. Words are read without case. A line is read up to 48 tokens (its first 32 and last 16). What
is learned of tools that are rare in the training data (SQL consoles, Ansible, Terraform) is thin. An empty
answer can be wrong: where that matters use the operating point `recall`.
"""


if __name__ == "__main__":
    main()
