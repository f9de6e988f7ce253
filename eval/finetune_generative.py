"""Train a LoRA adapter for a generative pruner on labelled records: CONFIG is a YAML file of FinetuneConfig's fields.

\b
  pip install 'linecls[train,generative,eval]'
  python eval/finetune_generative.py configs/generative/smollm2_lora.yaml --limit 8
  linecls eval test.jsonl.gz --system linecls,configs/generative/smollm2_tuned.yaml --report runs/tuned

A run that breaks off, or is ended by Ctrl-C, goes on from its last checkpoint when it is started again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from linecls.errors import LineclsError
from linecls.records import load_records
from linecls.training.allocator import with_fast_allocator
from linecls.training.generative import FinetuneConfig, finetune


@click.command(help=__doc__)
@click.argument("config", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--limit", type=click.IntRange(min=1), help="So many records in place of what CONFIG says.")
@click.option("--train", multiple=True, metavar="FILE", help="Record files in place of what CONFIG says.")
@click.option("-o", "--output", metavar="DIR", help="Folder of the adapter in place of what CONFIG says.")
def main(config: Path, limit: int | None, train: tuple[str, ...], output: str | None) -> None:
    try:
        settings = read(config)
        given = {"limit": limit, "train": list(train) or None, "output": output}
        settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
        records = [record for source in settings.train for record in load_records(source)]
        with _progress() as advance:
            folder = finetune(settings, records, advance)
    except LineclsError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo(f"stopped; the same command goes on from {settings.output}", err=True)
        raise SystemExit(130) from None
    click.echo(f"wrote {folder}", err=True)


def read(path: Path) -> FinetuneConfig:
    try:
        import yaml
    except ImportError:
        raise LineclsError("pyyaml is not installed; run: pip install 'linecls[eval]'") from None
    try:
        return FinetuneConfig(**yaml.safe_load(path.read_text(encoding="utf-8")))
    except (TypeError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise LineclsError(f"{path}: no settings of an adapter: {' '.join(str(error).split())}") from error


@contextmanager
def _progress() -> Iterator[Callable[[int, int, float], object]]:
    """A bar on stderr where somebody looks at it, else a line for every tenth step and the last."""
    if not sys.stderr.isatty():
        yield _say
        return
    with click.progressbar(length=0, label="training", file=sys.stderr, show_pos=True) as bar:

        def advance(step: int, steps: int, loss: float) -> None:
            bar.length, bar.label = steps, f"loss {loss:.4f}"
            bar.update(step - bar.pos)

        yield advance


def _say(step: int, steps: int, loss: float) -> None:
    if step % 10 == 0 or step in (1, steps):
        click.echo(f"{time.strftime('%H:%M:%S')} step {step} of {steps}: loss {loss:.4f}", err=True)


if __name__ == "__main__":
    with_fast_allocator([sys.executable, *sys.argv])
    main()
