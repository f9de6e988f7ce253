"""Train the pooled encoder of the package squeez 0.1.4 by its own code, on our records and on a backbone of ours.

\b
  python eval/train_pooled.py --train train.jsonl.gz --dev dev.jsonl.gz -o runs/squeez_pooled
  python eval/train_pooled.py --train train.jsonl.gz --dev dev.jsonl.gz --limit 50 --epochs 1 -o runs/squeez_trial
  linecls eval test.jsonl.gz --system configs/systems/squeez_pooled.yaml     # reads runs/squeez_pooled

The defaults are the package's (batch 2, 8 steps accumulated, learning rate 2e-5, 5 epochs, cosine, warm-up 0.1, gold
lines weighted up to 10), but for the window: a backbone that reads fewer than 8,192 tokens gets what it reads. The
package takes the checkpoint of least dev loss. Packages: squeez==0.1.4, torch, transformers, accelerate.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from linecls import provenance
from linecls.artifact import file_sha256
from linecls.errors import LineclsError, missing_extra
from linecls.records import Record, load_records, write_records

LONGEST = 8192  # tokens of a window in the package's recipe


def source_of(backbone: str) -> str:
    """What transformers loads for a backbone's name: the folder of a `package:` name, else the name itself.

    Raises MissingExtraError when the package is not installed, LineclsError for one without a folder of weights.
    """
    if not backbone.startswith("package:"):
        return backbone
    from linecls.model.backbone import packaged_path

    path = packaged_path(backbone)
    if not path.is_dir():
        raise LineclsError(f"{backbone} is a GGUF file, which squeez does not read; name another backbone")
    return str(path)


def window_of(source: str) -> int:
    """Tokens that the backbone reads at once, at most LONGEST."""
    from transformers import AutoConfig

    try:
        config: Any = AutoConfig.from_pretrained(source)
    except (OSError, ValueError) as error:
        raise LineclsError(f"cannot load {source!r}: {str(error).splitlines()[0]}") from error
    return min(int(getattr(config, "max_position_embeddings", LONGEST)), LONGEST)


def write_rows(records: Sequence[Record], path: Path) -> None:
    """Records in the package's encoder view, as plain JSONL."""
    write_records(path, records, form="encoder")


def sample(records: Sequence[Record], limit: int | None, seed: int) -> list[Record]:
    """The records, or a random sample of `limit` of them in their order."""
    if limit is None or limit >= len(records):
        return list(records)
    chosen = sorted(random.Random(seed).sample(range(len(records)), limit))
    return [records[index] for index in chosen]


@contextlib.contextmanager
def checkpoints_of_old() -> Iterator[None]:
    """Lets squeez 0.1.4 save checkpoints: it hands `Trainer._save_checkpoint` metrics, which newer ones do not take."""
    from transformers import Trainer

    save: Any = Trainer._save_checkpoint
    takes_metrics = "metrics" in inspect.signature(save).parameters

    def save_checkpoint(self: Any, model: Any, trial: Any, metrics: Any = None) -> None:
        save(self, model, trial, **({"metrics": metrics} if takes_metrics else {}))

    Trainer._save_checkpoint = save_checkpoint  # type: ignore[method-assign]
    try:
        yield
    finally:
        Trainer._save_checkpoint = save  # type: ignore[method-assign]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--train", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Records to learn from.")
@click.option("--dev", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Records to choose on.")
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="Model folder.")
@click.option("--backbone", default="package:all-MiniLM-L6-v2", show_default=True, help="Encoder to start from.")
@click.option("--max-length", type=click.IntRange(min=96), help="Tokens of a window.  [default: the backbone's]")
@click.option("--epochs", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--batch-size", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--accumulate", type=click.IntRange(min=1), default=8, show_default=True, help="Batches of one step.")
@click.option("--learning-rate", type=float, default=2e-5, show_default=True)
@click.option(
    "--eval-steps", type=click.IntRange(min=1), default=200, show_default=True, help="Steps between dev losses."
)
@click.option("--limit", type=click.IntRange(min=2), help="Only a random sample of so many records of each file.")
@click.option("--dev-limit", type=click.IntRange(min=2), help="So many of the dev file.  [default: --limit]")
@click.option("--seed", type=int, default=42, show_default=True, help="Of the sample and of the training.")
@click.option("--bf16", is_flag=True, help="Train in bfloat16, on a GPU.")
def main(
    *,
    train: Path,
    dev: Path,
    output: Path,
    backbone: str,
    max_length: int | None,
    epochs: int,
    batch_size: int,
    accumulate: int,
    learning_rate: float,
    eval_steps: int,
    limit: int | None,
    dev_limit: int | None,
    seed: int,
    bf16: bool,
) -> None:
    try:
        import transformers
        from squeez.encoder.train import train_pooled  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise missing_extra(error.name or "squeez", "dev") from error
    if bf16 and not transformers.utils.import_utils.is_torch_bf16_gpu_available():
        raise LineclsError("the package trains in bfloat16 on GPUs alone; leave --bf16 away")
    source = source_of(backbone)
    window = max_length or window_of(source)
    sources = (("train", train, limit), ("dev", dev, dev_limit or limit))
    records = {role: sample(load_records(path), most, seed) for role, path, most in sources}
    for role, found in records.items():
        if not found:
            raise LineclsError(f"there are no {role} records")
    transformers.set_seed(seed)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, checkpoints_of_old():
        rows = {role: Path(folder) / f"{role}.jsonl" for role in records}
        for role, path in rows.items():
            write_rows(records[role], path)
        train_pooled(
            train_file=str(rows["train"]),
            eval_file=str(rows["dev"]),
            base_model=source,
            output_dir=str(output),
            max_length=window,
            batch_size=batch_size,
            gradient_accumulation_steps=accumulate,
            learning_rate=learning_rate,
            num_epochs=epochs,
            eval_steps=eval_steps,
            save_steps=eval_steps,
            save_total_limit=1,
            bf16=bf16,
            eval_batch_size=batch_size,
        )
    about = {
        "backbone": backbone,
        "max_length": window,
        "epochs": epochs,
        "step_windows": batch_size * accumulate,
        "learning_rate": learning_rate,
        "seed": seed,
        "bf16": bf16,
        "files": {
            role: {"name": path.name, "sha256": file_sha256(path)} for role, path in (("train", train), ("dev", dev))
        },
        "records": {role: len(found) for role, found in records.items()},
        "minutes": round((time.perf_counter() - started) / 60, 1),
        "machine": provenance.machine(),
    }
    (output / "training.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    click.echo(f"wrote {output} after {about['minutes']} minutes", err=True)


def run() -> None:
    """The command; an error of ours is one line and status 2."""
    try:
        main()
    except LineclsError as error:
        click.echo(f"train_pooled: {error}", err=True)
        raise SystemExit(2) from error


if __name__ == "__main__":
    run()
