"""Make the embedded model from a checkpoint, and prove it. Two steps, with the evaluation between them:

\b
  python export/make_default.py make runs/minilm/best.ckpt --dev dev.jsonl.gz --calibrate tools.jsonl.gz \
      --training-data "…"
  linecls eval test.jsonl.gz --system linecls,bm25,first,last,random --report eval/results/linebench_test
  python export/make_default.py card eval/results/linebench_test/report.json
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from linecls import exporting, provenance
from linecls.artifact import ENCODER, Artifact, embedded, file_sha256
from linecls.observation import Observation
from linecls.pruner import Pruner
from linecls.records import Record, load_records
from linecls.tuning import Scored, best_f1_point, score_records, scored_recall, standard_points

RESULTS = Path(__file__).parent / "results"
VARIANTS = ("fp32", "int8 per tensor", "int8 per channel", "int8 calibrated")
CARD_METRICS = {
    "squeez.span_f1": "line F1 (Squeez)",
    "squeez.span_precision": "line precision",
    "squeez.span_recall": "line recall",
    "squeez.compression_corrected": "share of input lines removed",
    "pruning.recall_at_50": "recall of gold lines, 50 % of lines dropped",
    "pruning.recall_at_70": "recall of gold lines, 70 % of lines dropped",
    "pruning.recall_at_90": "recall of gold lines, 90 % of lines dropped",
    "pruning.true_negative_empty": "negatives answered with empty output",
    "pruning.positive_empty": "positives answered with empty output (wrong)",
}


@click.group(help=__doc__)
def main() -> None: ...


@dataclass(frozen=True)
class VariantResult:
    """One row of the comparison: figures on dev records, each variant at its own best operating point."""

    variant: str
    megabytes: float
    f1: float
    recall_at_90: float
    logit_difference: float  # mean absolute difference of the keep logits from fp32
    ms_per_1000_tokens: float


@main.command(help="Export, compare fp32 with the int8 forms, keep the int8 form that loses least, tune it on dev.")
@click.argument("checkpoint", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dev", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--calibrate",
    "calibrate_on",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Records whose outputs choose the ranges of int8: of all files together as many as exporting.CALIBRATED_ON."
    " Without them only the dynamic forms are compared.",
)
@click.option("--training-data", required=True, help="What it was trained on, for the card.")
@click.option("--compare-on", default=200, show_default=True, help="Dev records on which the variants are compared.")
@click.option("-o", "--output", default=embedded(), type=click.Path(path_type=Path), show_default="the embedded model")
@click.option("--name", default="linecls-minilm", show_default=True)
@click.option("--model-version", default="1", show_default=True)
def make(
    checkpoint: Path,
    dev: Path,
    calibrate_on: tuple[Path, ...],
    training_data: str,
    compare_on: int,
    output: Path,
    name: str,
    model_version: str,
) -> None:
    loaded = exporting.load_checkpoint(checkpoint)
    records = load_records(dev)
    sample = random.Random(0).sample(records, min(compare_on, len(records)))
    rows: list[VariantResult] = []
    reference: list[Scored] | None = None
    with tempfile.TemporaryDirectory() as scratch:
        check_on = [(record.query, record.tool_output) for record in sample[:12]]
        sources = [load_records(path, labelled=False) for path in calibrate_on]
        pairs = exporting.calibration_pairs(sources) if sources else []
        graphs = exporting.export_graphs(loaded, Path(scratch), check_on, pairs)
        for variant in VARIANTS if pairs else VARIANTS[:-1]:
            artifact = export_variant(loaded, graphs, Path(scratch) / variant.replace(" ", "-"), variant)
            scored, seconds = score(artifact, sample, variant)
            reference = reference or scored
            rows.append(compare(variant, artifact, scored, reference, seconds / count_tokens(loaded, sample)))
            click.echo(f"{rows[-1]}", err=True)
        best = min((row for row in rows if row.variant != "fp32"), key=lambda row: row.logit_difference)
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "quantisation.md").write_text(quantisation_report(rows, dev, len(sample), len(records)))
        (RESULTS / "quantisation.json").write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")

        artifact = exporting.export(
            loaded,
            output,
            graphs=graphs_for(best.variant, graphs),
            variants=["int8"],
            per_channel=best.variant != "int8 per tensor",
            name=name,
            version=model_version,
            provenance={
                "training_data": training_data,
                "tuned_on": {"file": dev.name, "records": len(records), "sha256": file_sha256(dev)},
                "calibrated_on": [path.name for path in calibrate_on],
                "quantisation": asdict(best),
                "quantisation_fp32": asdict(rows[0]),
                "licence": "Apache-2.0; the weights start from all-MiniLM-L6-v2 (Apache-2.0)",
            },
        )
    scored, _ = score(artifact, records, "dev")
    point, f1 = best_f1_point(scored)
    artifact.with_operating_points(standard_points(scored, point), "f1")
    click.echo(f"wrote {output}; F1 {f1:.4f} on {dev.name} at {point}", err=True)


def export_variant(
    checkpoint: exporting.Checkpoint, graphs: exporting.Graphs, directory: Path, variant: str
) -> Artifact:
    return exporting.export(
        checkpoint,
        directory,
        graphs=graphs_for(variant, graphs),
        variants=["fp32" if variant == "fp32" else "int8"],
        per_channel=variant != "int8 per tensor",
    )


def graphs_for(variant: str, graphs: exporting.Graphs) -> exporting.Graphs:
    """The graphs as a variant is made from them: the dynamic forms of int8 know nothing of the calibration text."""
    return graphs if variant == "int8 calibrated" else replace(graphs, inputs=None)


def score(artifact: Artifact, records: list[Record], label: str) -> tuple[list[Scored], float]:
    """What the artifact says of the records, and the seconds that it took."""
    pruner = Pruner.from_pretrained(artifact.directory, device="cpu")
    with click.progressbar(length=len(records), label=label) as bar:
        start = time.perf_counter()
        scored = score_records(pruner, records, bar.update)
        return scored, time.perf_counter() - start


def compare(
    variant: str, artifact: Artifact, scored: list[Scored], reference: list[Scored], seconds_per_token: float
) -> VariantResult:
    gaps = [np.abs(s.keep_logits - r.keep_logits).mean() for s, r in zip(scored, reference, strict=True)]
    return VariantResult(
        variant,
        round(sum(path.stat().st_size for path in artifact.graphs().values()) / 1e6, 1),
        best_f1_point(scored)[1],
        scored_recall(scored, 0.9),
        float(np.mean(gaps)),
        seconds_per_token * 1e6,
    )


def count_tokens(checkpoint: exporting.Checkpoint, records: list[Record]) -> int:
    """Tokens of the observations as the model reads them (long lines cut), summed over the records."""
    known: dict[str, int] = {}
    for record in records:
        if record.tool_output not in known:
            segments = checkpoint.encoder.segments(Observation.of(record.tool_output))
            known[record.tool_output] = sum(len(segment.ids) for segment in segments)
    return sum(known[record.tool_output] for record in records)


def quantisation_report(rows: list[VariantResult], dev: Path, compared: int, total: int) -> str:
    head = (
        "| variant | MB | F1 | recall, 90 % dropped | mean logit difference from fp32 | ms per 1,000 tokens |\n"
        "|---|---|---|---|---|---|\n"
    )
    body = "".join(
        f"| {r.variant} | {r.megabytes} | {r.f1:.4f} | {r.recall_at_90:.4f} | {r.logit_difference:.4f} |"
        f" {r.ms_per_1000_tokens:.0f} |\n"
        for r in rows
    )
    return (
        f"# Quantisation of the embedded model\n\n{head}{body}\n"
        "F1: Squeez line F1, each variant at its own best operating point. Per tensor, per channel: dynamic int8 by\n"
        "ONNX Runtime; calibrated: `linecls.quantising`. The form with the smallest logit difference is kept: F1 on\n"
        "so few records is noisier than what the forms differ by. The time is that of the whole way, tokenising\n"
        "included, over the tokens of all distinct observations.\n\n"
        f"Data: {compared} of the {total} records of {dev.name} (seed 0; sha256 {file_sha256(dev)[:16]}).\n"
        f"Machine: {provenance.measured_on()}. Command: `python export/make_default.py make CHECKPOINT --dev {dev.name}"
        f"{' --calibrate …' if rows[-1].variant == VARIANTS[-1] else ''} …`\n"
    )


@main.command(help="Write the model card from a report of `linecls eval` on this very model.")
@click.argument("report", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-m", "--model", default=embedded(), type=click.Path(path_type=Path), show_default="the embedded model")
def card(report: Path, model: Path) -> None:
    artifact = Artifact.load(model)
    values = json.loads(report.read_bytes())
    system = values["systems"].get("linecls")
    if system is None:
        raise click.ClickException(f"{report} holds no figures of the system linecls")
    encoder = artifact.graphs()[ENCODER].name
    if artifact.sha256[encoder] not in system["description"]["sha256"].values():
        raise click.ClickException(f"{report} is about another model than {model}; run linecls eval again")
    figures = {key: system["overall"][key] for key in CARD_METRICS}
    source = {**values["about"]["files"][0], "records": system["records"]}
    test = {key: round(figure["value"], 4) for key, figure in figures.items()}
    artifact.with_card(
        model_card(artifact, figures, source),
        {"evaluated_on": source, "test": test},
    )
    click.echo(f"wrote {model}/README.md", err=True)


def model_card(artifact: Artifact, figures: dict[str, Any], source: dict[str, Any]) -> str:
    table = "".join(
        f"| {label} | {figures[key]['value']:.3f} | {figures[key]['low']:.3f} to {figures[key]['high']:.3f} |\n"
        for key, label in CARD_METRICS.items()
    )
    points = "".join(
        f"| {name} | {p.bias:.3f} {'below the best line' if p.relative else ''} | {p.switch_cost:.2f} |"
        f" {p.empty_threshold:.4f} |\n"
        for name, p in artifact.operating_points.items()
    )
    origin = artifact.provenance
    int8, fp32 = origin["quantisation"], origin["quantisation_fp32"]
    return f"""# {artifact.name} {artifact.version}

The model embedded in linecls: given a query and the raw output of a tool, one keep logit per line, and the
probability that the output answers the query at all.

- **Architecture.** all-MiniLM-L6-v2 (6 layers, 384 wide) reads windows of {artifact.encoding.window_tokens} tokens
  without the query, and the query by itself. Line states, their similarities with the query (cosine and late
  interaction) and free line features go through a {origin["classifier"]["layers"]}-layer transformer over all lines
  with the query's tokens in front. A line's logit starts from the similarity; what is learned is added to it. A head
  for spans scores where an answer starts, goes on and ends; the keep logit is the log weight of all spans over a line.
- **Training data.** {origin["training_data"]}
- **Form.** {int8["variant"]}, {int8["megabytes"]} MB, ONNX opset {exporting.OPSET}.
- **Licence.** Apache-2.0. The weights start from all-MiniLM-L6-v2 (Apache-2.0).

## Figures on {source["name"]}

| metric | value | 95 % interval |
|---|---|---|
{table}
{source["records"]} records, none of whose projects is in the training data; operating point `f1`; bootstrap over
observations. Command: `linecls eval {source["name"]} --system linecls`.
int8 against fp32: F1 {int8["f1"]:.4f} against {fp32["f1"]:.4f} on dev records (`export/results/quantisation.md`).

## Operating points, tuned on {origin["tuned_on"]["file"]}

| name | bias | switch cost | empty threshold |
|---|---|---|---|
{points}
`f1`, the default, has the highest line F1, less at most 0.001 for more empty answers; `recall` keeps at least 90 % of
the gold lines on average there and never answers with nothing.

## Limits

English queries. Words are read without case. A line is read up to {artifact.encoding.max_line_tokens} tokens (its
first two thirds and last third of them). An empty answer can be wrong: where that matters, use the operating point
`recall`.
"""


if __name__ == "__main__":
    main()
