"""What linecls does on one GPU: the same answers as on the CPU, how fast, and how near the roofline.

\b
  eval/gpu_check.sh                                   # two networks of random weights, nothing else needed
  eval/gpu_check.sh --checkpoint runs/minilm/best.ckpt
  eval/gpu_check.sh --model model_with_fp16/          # a model directory that is exported already

Two networks are checked: the embedded model (its architecture with random weights, where neither a checkpoint nor
a model directory with a floating-point variant is given: speed and parity do not depend on the weights) and a
random ModernBERT-base with windows of 8,192 tokens. The text is our own. Needs onnxruntime-gpu and, for exporting,
the extras train and export.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from runtime_profile import peak, profiled

from linecls.artifact import Artifact, embedded
from linecls.errors import LineclsError
from linecls.pruner import Pruner

HERE = Path(__file__).parent
BUDGET_SECONDS = 450
_PROFILED = 20  # observations: the runtime's profile holds a limited number of events
_FLOATS = ("fp16", "fp32")
_MINILM = {
    "model_type": "bert",
    "vocab_size": 30522,
    "hidden_size": 384,
    "num_hidden_layers": 6,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "max_position_embeddings": 512,
}
_MODERNBERT = {
    "model_type": "modernbert",
    "vocab_size": 50368,
    "hidden_size": 768,
    "num_hidden_layers": 22,
    "num_attention_heads": 12,
    "intermediate_size": 1152,
    "max_position_embeddings": 8192,
    "global_attn_every_n_layers": 3,
    "local_attention": 128,
    "reference_compile": False,
}

Pairs = Sequence[tuple[str, str]]


@dataclass
class Row:
    """One variant of one network on the device.

    logit_difference: largest one from fp32 on the CPU; same_lines: share of lines kept or dropped alike.
    roofline: operations of all products at the measured peak, as a share of the whole time.
    """

    network: str
    variant: str
    logit_difference: float
    same_lines: float
    observations_per_second: float
    tokens_per_second: float
    p50_ms: float
    p95_ms: float
    tera_operations_per_second: float
    peak_tera_operations_per_second: float
    roofline: float


@click.command(help=__doc__)
@click.option("--checkpoint", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Of linecls train.")
@click.option("--model", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Exported already.")
@click.option("--modernbert/--no-modernbert", default=True, show_default=True, help="Check that network too.")
@click.option("--device", default="cuda", show_default=True)
@click.option("--observations", default=200, show_default=True, type=click.IntRange(min=2))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=HERE / "results" / "gpu")
def main(
    *, checkpoint: Path | None, model: Path | None, modernbert: bool, device: str, observations: int, out: Path
) -> None:
    until = time.monotonic() + BUDGET_SECONDS
    if reason := why_not(device):
        click.echo(f"gpu_check: skipped: {reason}")
        return
    pairs = make_pairs(observations)
    rows: list[Row] = []
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        networks: list[tuple[str, Any]] = [("embedded", lambda: embedded_model(model, checkpoint, folder / "minilm"))]
        if modernbert:
            networks.append(("ModernBERT-base, random", lambda: export_random(_MODERNBERT, 8192, folder / "modern")))
        for title, prepare in networks:
            if time.monotonic() > until - 60:
                notes.append(f"{title}: not run, the time was up")
                continue
            try:
                directory, note = prepare()
                notes += [f"{title}: {note}"] if note else []
                rows += check(title, directory, device, pairs, until)
            except (LineclsError, ImportError) as error:
                notes.append(f"{title}: not run: {' '.join(str(error).split())[:300]}")
    text = as_markdown(rows, notes, device, pairs)
    out.mkdir(parents=True, exist_ok=True)
    report = {"rows": [asdict(row) for row in rows], "notes": notes, "device": describe(device)}
    (out / "gpu.json").write_text(json.dumps(report, indent=2) + "\n")
    (out / "gpu.md").write_text(text)
    click.echo(text, nl=False)
    if not rows:
        raise SystemExit(1)


def why_not(device: str) -> str | None:
    """Why the check cannot run on the device, None where it can."""
    from linecls.session import choose_device

    try:
        choose_device(device)
        peak("fp32", device=device, seconds=0.01)
    except Exception as error:
        return " ".join(str(error).split())[:300]
    return None


def make_pairs(count: int) -> list[tuple[str, str]]:
    """Observations of 20 to 2,000 lines, of our own making."""
    chance = random.Random(3)
    words = ("cache", "login", "export", "queue", "retry", "timeout", "index", "build", "module", "session", "parser")
    pairs = []
    for number in range(count):
        lines = []
        for line in range(round(20 * 100 ** chance.random())):
            one, other = chance.choice(words), chance.choice(words)
            state = "error" if chance.random() < 0.02 else "ok"
            lines.append(
                f"{line:05d} src/{one}/{other}.py:{chance.randrange(900)}: {state} while {one} waits for {other}"
            )
        pairs.append((f"why does {chance.choice(words)} {number} fail", "\n".join(lines) + "\n"))
    return pairs


def embedded_model(model: Path | None, checkpoint: Path | None, folder: Path) -> tuple[Path, str | None]:
    """A model directory with floating-point variants, and what is to be said of it."""
    directory = model or Path(embedded())
    if set(_FLOATS) & set(Artifact.read(directory).files):
        return directory, None
    if checkpoint is not None:
        from linecls import exporting

        return export_variants(exporting.load_checkpoint(checkpoint), folder), f"exported from {checkpoint.name}"
    directory, _ = export_random(_MINILM, None, folder)
    return directory, "its architecture with random weights"


def export_random(backbone: dict[str, Any], window_tokens: int | None, folder: Path) -> tuple[Path, str | None]:
    """A network with random weights, in the encoding of the embedded model but for the windows' length."""
    from dataclasses import replace

    import torch
    from tokenizers import Tokenizer

    from linecls import exporting
    from linecls.model.backbone import Backbone
    from linecls.model.classifier import ClassifierConfig, LineClassifier

    artifact = Artifact.read(embedded())
    encoding = artifact.encoding
    if window_tokens is not None:
        encoding = replace(encoding, window_tokens=window_tokens)
    torch.manual_seed(0)
    network = LineClassifier(
        Backbone(backbone["model_type"], config=backbone), ClassifierConfig(), encoding.max_line_tokens
    )
    tokenizer = Tokenizer.from_file(str(artifact.tokenizer))
    checkpoint = exporting.Checkpoint(network.eval(), encoding, tokenizer, {"weights": "random"})
    return export_variants(checkpoint, folder), None


def export_variants(checkpoint: Any, folder: Path) -> Path:
    """fp16 and fp32 where the exporter knows both, else fp32."""
    from linecls import exporting

    try:
        exporting.export(checkpoint, folder, variants=("fp32", "fp16"))
    except LineclsError as error:
        if "unknown variant" not in str(error):
            raise
        exporting.export(checkpoint, folder, variants=("fp32",))
    return folder


def check(title: str, model: Path, device: str, pairs: Pairs, until: float) -> list[Row]:
    """Every floating-point variant of a model directory on the device; stops when the time is up."""
    artifact = Artifact.read(model)
    variants = [variant for variant in _FLOATS if variant in artifact.files]
    few = sorted(pairs, key=lambda pair: len(pair[1]))[: max(2, len(pairs) // 10)]  # the CPU is slow: the short ones
    reference = list(Pruner.from_pretrained(model, device="cpu", variant=variants[-1]).prune_many(few))
    rows = []
    for variant in variants:
        if time.monotonic() > until - 30:
            break
        pruner = Pruner.from_pretrained(model, device=device, variant=variant)
        found = list(pruner.prune_many(few))
        difference = max(
            float(np.abs(a.keep_logits - b.keep_logits).max()) for a, b in zip(found, reference, strict=True)
        )
        lines = sum(a.total_lines for a in reference)
        changed = sum(
            len(set(kept_lines(a.spans)) ^ set(kept_lines(b.spans))) for a, b in zip(found, reference, strict=True)
        )
        list(pruner.prune_many(pairs))  # shapes are new, kernels are chosen, buffers grow
        pruner.forget()
        before = time.perf_counter()
        list(pruner.prune_many(pairs))
        seconds = time.perf_counter() - before
        latencies = []
        pruner.forget()
        for query, observation in pairs[:50]:
            before = time.perf_counter()
            pruner.prune(query, observation)
            latencies.append(1e3 * (time.perf_counter() - before))
        latencies.sort()
        sample = pairs[:_PROFILED]
        with profiled() as work:
            list(Pruner.from_pretrained(model, device=device, variant=variant).prune_many(sample))
        best, tokens = peak(variant, device=device), count_tokens(pruner, pairs)
        done = work.operations / count_tokens(pruner, sample) * tokens
        rows.append(
            Row(
                network=title,
                variant=variant,
                logit_difference=difference,
                same_lines=1 - changed / lines,
                observations_per_second=len(pairs) / seconds,
                tokens_per_second=tokens / seconds,
                p50_ms=statistics.median(latencies),
                p95_ms=latencies[int(0.95 * (len(latencies) - 1))],
                tera_operations_per_second=done / seconds / 1e12,
                peak_tera_operations_per_second=best / 1e12,
                roofline=done / best / seconds,
            )
        )
    return rows


def count_tokens(pruner: Pruner, pairs: Pairs) -> int:
    """Tokens of the observations by the model's tokenizer, lines cut nowhere, context not counted."""
    lines = [line for _, text in pairs for line in text.split("\n")]
    return sum(len(e.ids) for e in pruner.encoder.tokenizer.encode_batch(lines, add_special_tokens=False))


def kept_lines(spans: Sequence[tuple[int, int]]) -> list[int]:
    return [line for start, end in spans for line in range(start, end + 1)]


def describe(device: str) -> str:
    """The GPU's name and driver as nvidia-smi gives them."""
    if not device.startswith("cuda"):
        return device
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return device
    return run.stdout.strip().splitlines()[0]


def as_markdown(rows: Sequence[Row], notes: Sequence[str], device: str, pairs: Pairs) -> str:
    lines = [
        "# linecls on a GPU",
        "",
        f"{describe(device)}; {len(pairs)} observations, {sum(text.count(chr(10)) for _, text in pairs):,} lines of our"
        " own text.",
        "",
        "| network | variant | largest logit difference from the CPU | lines decided alike | observations/s | tokens/s"
        " | p50 ms | p95 ms | TFLOP/s | peak TFLOP/s | share of roofline |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {r.network} | {r.variant} | {r.logit_difference:.1e} | {r.same_lines:.2%} |"
        f" {r.observations_per_second:.1f} | {r.tokens_per_second:,.0f} | {r.p50_ms:.1f} | {r.p95_ms:.1f} |"
        f" {r.tera_operations_per_second:.3g} | {r.peak_tera_operations_per_second:.3g} | {r.roofline:.1%} |"
        for r in rows
    ]
    lines += ["", "Share of roofline: operations of all matrix products, from the runtime's profile, at the measured"]
    lines += ["peak of a plain product of the same precision, over the time of the whole way, tokenising included."]
    lines += ["", *notes] if notes else []
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
