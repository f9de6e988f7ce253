"""`linecls export`."""

from __future__ import annotations

from pathlib import Path

import click

from linecls.errors import missing_extra

_HELP = """Write a model directory (ONNX graphs, tokenizer, metadata) from a checkpoint of `linecls train`.

\b
  linecls export runs/linebench/best.ckpt -o model/
  linecls export runs/linebench/best.ckpt -o model/ --tune dev.jsonl.gz     # choose the operating points on labels
  linecls export runs/linebench/best.ckpt -o model/ --calibrate train.jsonl.gz  # int8 with ranges chosen on its text
  linecls export runs/linebench/best.ckpt -o model/ --variant int8 --variant fp16   # fp16 is for a GPU
  linecls prune "why does it fail" log.txt --model model/

The fp32 graphs are compared with torch on the records given by --tune (or a small example) and refused when a
logit differs by more than 1e-4. Needs the extras `train` and `export`.
"""


@click.command(help=_HELP)
@click.argument("checkpoint", type=click.Path(dir_okay=False, path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="Directory.")
@click.option(
    "--variant",
    "variants",
    multiple=True,
    type=click.Choice(["int8", "fp16", "fp32"]),
    help="Precision to write (fp16 is for a GPU); the first one given is the default. [default: int8, fp32]",
)
@click.option(
    "--per-channel/--per-tensor",
    default=True,
    show_default=True,
    help="Scales of the int8 weights without --calibrate.",
)
@click.option(
    "--calibrate",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Records whose outputs choose the ranges of int8 (labels are not read). [default: ranges of each call]",
)
@click.option("--name", default="linecls", show_default=True, help="Name of the model in its metadata.")
@click.option("--model-version", default="0", show_default=True, help="Version of the model in its metadata.")
@click.option(
    "--tune",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Labelled records on which to choose the operating points (best F1, recall first).",
)
def command(
    checkpoint: Path,
    output: Path,
    variants: tuple[str, ...],
    per_channel: bool,
    calibrate: Path | None,
    name: str,
    model_version: str,
    tune: Path | None,
) -> None:
    try:
        from linecls import exporting
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "train,export") from error
    from linecls.pruner import Pruner
    from linecls.records import load_records
    from linecls.tuning import best_f1_point, score_records, standard_points

    loaded = exporting.load_checkpoint(checkpoint)
    records = load_records(tune) if tune else []
    artifact = exporting.export(
        loaded,
        output,
        variants=variants or ("int8", "fp32"),
        per_channel=per_channel,
        name=name,
        version=model_version,
        check_on=[(r.query, r.tool_output) for r in records[:8]] or [("which error", "a\nb: error\nc\n" * 30)],
        calibrate_on=exporting.calibration_pairs([load_records(calibrate, labelled=False)]) if calibrate else (),
    )
    click.echo(f"wrote {output}: {', '.join(artifact.files)}, {artifact.size / 1e6:.1f} MB", err=True)
    fused = ", ".join(f"{kind} {count}" for kind, count in artifact.provenance["fused_operators"].items() if count)
    difference = artifact.provenance["torch_onnx_difference"]
    click.echo(
        f"fused operators of the encoder: {fused or 'none'}; logits differ from torch by {difference:.1e}", err=True
    )
    if records:
        scored = score_records(Pruner.from_pretrained(output, device="cpu"), records)
        point, f1 = best_f1_point(scored)
        artifact.with_operating_points(standard_points(scored, point), "f1")
        click.echo(f"operating point f1: {point} (F1 {f1:.3f} on {tune})", err=True)
