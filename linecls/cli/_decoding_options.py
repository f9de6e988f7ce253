"""The options that several commands have, and what their numbers must be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])

#: Names of the parameters that `Pruner.prune` takes; the rest of `model_options` goes to `Pruner.from_pretrained`.
DECODING = ("bias", "max_lines", "max_tokens", "keep_ratio", "operating_point")


def finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Callback of an option whose number must be finite."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a finite number.", ctx, param)
    return value


def seconds(most: float = math.inf) -> Callable[[click.Context, click.Parameter, float | None], float | None]:
    """Callback of an option that is a time: finite, above 0, and at most `most` seconds."""

    def check(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
        if value is not None and not (math.isfinite(value) and 0 < value <= most):
            limit = f" and at most {most:g}" if math.isfinite(most) else ""
            raise click.BadParameter(f"give a number of seconds above 0{limit}.", ctx, param)
        return value

    return check


def decoding_options(command: _Command) -> _Command:
    """Add --bias, --max-lines, --max-tokens, --keep-ratio and --operating-point."""
    options = (
        click.option(
            "--bias",
            type=float,
            callback=finite,
            help="In place of the operating point's bias (see `linecls model`): larger keeps less. In logits;"
            " where the operating point is relative, from the best line down, so -1 keeps what comes within 1 of it.",
        ),
        click.option(
            "--max-lines",
            type=click.IntRange(min=0),
            help="Never keep more lines of an output than this; the best stay.",
        ),
        click.option(
            "--max-tokens",
            type=click.IntRange(min=0),
            help="Never keep more of the model's tokens; the best lines stay.",
        ),
        click.option(
            "--keep-ratio",
            type=click.FloatRange(0, 1),
            callback=finite,
            help="Never keep more than this share of an output's lines.",
        ),
        click.option("--operating-point", metavar="NAME", help="Decode as tuned for a target; see `linecls model`."),
    )
    return _apply(command, options)


def model_options(command: _Command) -> _Command:
    """Add --model, --device and --threads."""
    options = (
        click.option("--model", metavar="MODEL", help="Model directory or hub id, in place of the embedded model."),
        click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda[:N] or tensorrt[:N]."),
        click.option("--threads", type=click.IntRange(min=1), help="CPU threads.  [default: the physical cores]"),
    )
    return _apply(command, options)


def profile_options(command: _Command) -> _Command:
    """Add --profile, --min-bytes and --max-bytes, for the commands that agents start."""
    # Not on top: prune has no profiles, and is to start without what they import.
    from linecls.agent import MAX_BYTES, MIN_BYTES, PROFILES

    size = click.IntRange(min=0)
    options = (
        click.option(
            "--profile",
            type=click.Choice(list(PROFILES)),
            default="recall",
            show_default=True,
            help="recall: rather too much, and every line with failure signal; tight: only what answers.",
        ),
        click.option(
            "--min-bytes", type=size, default=MIN_BYTES, show_default=True, help="A shorter output stays as it is."
        ),
        click.option(
            "--max-bytes", type=size, default=MAX_BYTES, show_default=True, help="A longer output stays as it is."
        ),
    )
    return _apply(command, options)


def _apply(command: _Command, options: tuple[Callable[[_Command], _Command], ...]) -> _Command:
    for option in reversed(options):
        command = option(command)
    return command
