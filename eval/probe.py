"""Linear probe: how well one weight vector tells gold lines from the rest in the frozen states of a backbone.

\b
  python eval/probe.py configs/model/frozen_minilm.yaml --train train.jsonl.gz --dev dev.jsonl.gz -o eval/results/probe
  python eval/probe.py configs/model/frozen_smollm2_12.yaml --reading joint --train train.jsonl.gz --dev dev.jsonl.gz \\
      -o eval/results/probe

Joint: the query stands in front of every window, and the probe reads a line's state alone. Apart: the states know
nothing of the query, so the probe reads the line's state and its product with the query's mean state. The probe is a
logistic regression in which gold lines and others weigh the same. AUC over all dev lines together, and the mean over
records of the AUC of their own lines. Published for a large agent's own states: 0.83 (SWE-Pruner Pro, arXiv
2607.18213; not measured here).
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import yaml
from numpy.typing import NDArray

from linecls.artifact import file_sha256
from linecls.encoding import EncodingConfig, Pair, WindowEncoder, collate
from linecls.errors import LineclsError
from linecls.metrics import area_under_roc
from linecls.observation import Observation
from linecls.records import Record, load_records
from linecls.spans import to_mask

FloatArray = NDArray[np.float32]


class Lines(NamedTuple):
    """Probe inputs [N, D], gold [N] and the record [N] of all lines of some records."""

    inputs: FloatArray
    gold: NDArray[np.bool_]
    record: NDArray[np.int64]


def line_inputs(records: Sequence[Record], backbone: Any, encoder: WindowEncoder, pooling: str) -> Lines:
    """What the probe reads of every line of the records; a long observation's lines as their own segments see them."""
    import torch

    from linecls.model.pooling import pool_lines, to_tensors

    inputs: list[FloatArray] = []
    gold: list[NDArray[np.bool_]] = []
    shared: dict[tuple[str, int], FloatArray] = {}  # apart: line states serve all queries
    with (
        torch.inference_mode(),
        click.progressbar(records, label="states", file=sys.stderr) as bar,
    ):
        for record in bar:
            query = encoder.query(record.query)
            ids = torch.from_numpy(query.ids)[None]
            query_mean = backbone(ids, torch.ones_like(ids)).float().mean(dim=1).numpy()
            parts: list[FloatArray] = []
            for number, segment in enumerate(encoder.segments(Observation.of(record.tool_output))):
                key = (record.tool_output, number)
                states = shared.get(key)
                if states is None:
                    windows = encoder.windows(segment, query)
                    batch = to_tensors(collate([Pair(query, segment, windows, encoder.features(segment, query))]))
                    tokens = backbone(batch["input_ids"], batch["attention_mask"])
                    states = pool_lines(tokens, batch["line_index"], batch["line_length"], pooling)[0].numpy()
                    if encoder.config.reading == "apart":
                        shared[key] = states
                parts.append(states[segment.keep_start - segment.start : segment.keep_stop - segment.start])
            lines = np.concatenate(parts) if parts else np.zeros((0, backbone.width), np.float32)
            if encoder.config.reading == "apart":
                lines = np.concatenate((lines, lines * query_mean), axis=1)
            inputs.append(lines)
            gold.append(to_mask(record.gold_spans, len(lines)))
    owner = np.repeat(np.arange(len(records)), [len(lines) for lines in inputs])
    return Lines(np.concatenate(inputs), np.concatenate(gold), owner)


class Probe(NamedTuple):
    """A weight per input [D], after standardising with `mean` and `scale` [D]."""

    mean: FloatArray
    scale: FloatArray
    weight: FloatArray

    def scores(self, inputs: FloatArray) -> FloatArray:
        """The probe's value for each line [N], up to a constant."""
        return np.asarray(((inputs - self.mean) / self.scale) @ self.weight, np.float32)


def fit(lines: Lines, penalty: float = 1e-3, steps: int = 200) -> Probe:
    """Logistic regression by L-BFGS, both classes of equal weight, `penalty` on half the squared norm of the weights.

    Raises LineclsError where all lines are gold or none is.
    """
    import torch

    if not lines.gold.any() or lines.gold.all():
        raise LineclsError("a probe needs gold lines and others in its training records")
    mean, scale = lines.inputs.mean(axis=0), lines.inputs.std(axis=0) + 1e-6
    x = torch.from_numpy((lines.inputs - mean) / scale)
    y = torch.from_numpy(lines.gold.astype(np.float32))
    share = torch.where(y > 0, 0.5 / y.sum(), 0.5 / (1 - y).sum())
    weight, bias = torch.zeros(x.shape[1], requires_grad=True), torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=steps, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimiser.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(x @ weight + bias, y, reduction="none")
        total = (loss * share).sum() + penalty / 2 * weight.square().sum()
        total.backward()
        return total

    optimiser.step(closure)
    return Probe(mean, scale, weight.detach().numpy())


def areas(scores: FloatArray, lines: Lines) -> dict[str, float]:
    """AUC over all lines, and the mean over records of that of their own lines."""
    own = [area_under_roc(scores[rows], lines.gold[rows]) for rows in _rows_of_records(lines.record)]
    return {"auc_all_lines": area_under_roc(scores, lines.gold), "auc_within_records": float(np.nanmean(own))}


def _rows_of_records(record: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return np.split(np.arange(len(record)), np.flatnonzero(np.diff(record)) + 1)


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("config", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--train", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Records to fit on.")
@click.option("--dev", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Records to score on.")
@click.option("--reading", type=click.Choice(["apart", "joint"]), default="apart", show_default=True)
@click.option("--train-records", type=click.IntRange(min=1), default=600, show_default=True, help="Sample to fit on.")
@click.option("--dev-records", type=click.IntRange(min=1), default=300, show_default=True, help="Sample to score on.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the samples.")
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="Result folder.")
def main(
    *,
    config: Path,
    train: Path,
    dev: Path,
    reading: str,
    train_records: int,
    dev_records: int,
    seed: int,
    output: Path,
) -> None:
    from linecls.model.backbone import Backbone, load_tokenizer

    try:
        model = yaml.safe_load(config.read_text(encoding="utf-8"))["model"]
        values = {**model["encoding"], "reading": reading}
        if reading == "joint":  # the window keeps its room for lines
            values["window_tokens"] = values["window_tokens"] + values.get("max_query_tokens", 48) + 1
        encoding = EncodingConfig.from_dict(values)
        pooling = model.get("classifier", {}).get("pooling", "mean")
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise LineclsError(f"{config} is no model configuration: {' '.join(str(error).split())}") from error
    started = time.perf_counter()
    backbone = Backbone(
        model["backbone"],
        layers=model.get("layers"),
        config=model.get("backbone_config"),
        bidirectional=model.get("bidirectional", False),
    )
    encoder = WindowEncoder(load_tokenizer(model["backbone"]), encoding)
    rng = random.Random(seed)
    parts: dict[str, Lines] = {}
    for role, path, limit in (("train", train, train_records), ("dev", dev, dev_records)):
        records = [record for record in load_records(path) if record.tool_output]
        chosen = sorted(rng.sample(range(len(records)), min(limit, len(records))))
        if not chosen:
            raise LineclsError(f"there are no records in {path}")
        parts[role] = line_inputs([records[index] for index in chosen], backbone, encoder, pooling)
    probe = fit(parts["train"])
    result = {
        "config": config.name,
        "reading": reading,
        **{role: areas(probe.scores(lines.inputs), lines) for role, lines in parts.items()},
        "lines": {role: len(lines.gold) for role, lines in parts.items()},
        "gold_lines": {role: int(lines.gold.sum()) for role, lines in parts.items()},
        "records": {role: int(lines.record[-1]) + 1 for role, lines in parts.items()},
        "inputs": int(parts["train"].inputs.shape[1]),
        "seed": seed,
        "files": {r: {"name": p.name, "sha256": file_sha256(p)} for r, p in (("train", train), ("dev", dev))},
        "seconds": round(time.perf_counter() - started, 1),
    }
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{config.stem}_{reading}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    dev_areas = result["dev"]
    click.echo(
        f"{config.stem}, {reading}: AUC {dev_areas['auc_all_lines']:.3f} over all dev lines, "
        f"{dev_areas['auc_within_records']:.3f} within records"
    )
    click.echo(f"wrote {path}", err=True)


def run() -> None:
    """The command; an error of ours is one line and status 2."""
    try:
        main()
    except LineclsError as error:
        click.echo(f"probe: {error}", err=True)
        raise SystemExit(2) from error


if __name__ == "__main__":
    run()
