"""Calibrate a model's logits on dev records, and measure on test records how far its probabilities come true.

\b
  python eval/calibration.py --dev dev.jsonl.gz --test test.jsonl.gz -o eval/results/calibration
  python eval/calibration.py --model runs/model --dev dev.jsonl.gz -o eval/results/calibration

Three readings of each logit, line by line (keep) and record by record (answerable): as it is, with one temperature,
with scale and shift. Losses that balance gold lines against the rest overstate how often a line is gold; a
temperature cannot mend that, a shift can. Without --test the scalings are cross-fitted on dev: half of the
observations is measured with the scaling of the other half.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from linecls.artifact import file_sha256
from linecls.calibration import Calibration, calibrate
from linecls.errors import LineclsError
from linecls.pruner import Pruner
from linecls.records import Record, load_records
from linecls.training.temperature import Scaling, fit_platt, fit_temperature
from linecls.tuning import score_records

READINGS: dict[str, Callable[..., Scaling] | None] = {
    "as it is": None,
    "temperature": fit_temperature,
    "scale and shift": fit_platt,
}


class Cases(NamedTuple):
    """Logits [N], what came true [N] and which half of the observations a case belongs to [N]."""

    logits: NDArray[np.float64]
    outcomes: NDArray[np.bool_]
    half: NDArray[np.int64]

    def of(self, half: int) -> Cases:
        """The cases of one half."""
        rows = self.half == half
        return Cases(self.logits[rows], self.outcomes[rows], self.half[rows])


def cases_of(records: Sequence[Record], pruner: Pruner, label: str) -> dict[str, Cases]:
    """`keep`: every line of every record; `answerable`: every record."""
    if not records:
        raise LineclsError(f"there are no {label} records")
    with click.progressbar(length=len(records), label=label, file=sys.stderr) as bar:
        scored = score_records(pruner, records, bar.update)
    digest = [hashlib.blake2b(r.tool_output.encode("utf-8", "surrogatepass")).digest()[0] % 2 for r in records]
    half = np.array(digest, np.int64)
    keep = Cases(
        np.concatenate([s.keep_logits for s in scored]).astype(np.float64),
        np.concatenate([s.gold for s in scored]),
        np.repeat(half, [len(s.gold) for s in scored]),
    )
    chance = np.clip([s.answerable for s in scored], 1e-9, 1 - 1e-9)
    answerable = Cases(np.log(chance / (1 - chance)), np.array([bool(s.gold.any()) for s in scored]), half)
    return {"keep": keep, "answerable": answerable}


def compare(dev: Cases, test: Cases | None) -> dict[str, dict[str, Any]]:
    """For each reading its scaling, fitted on dev, and its reliability on test, or cross-fitted on dev without."""
    found: dict[str, dict[str, Any]] = {}
    for reading, fit in READINGS.items():
        scaling = fit(dev.logits, dev.outcomes) if fit else Scaling()
        if test is not None:
            measured = _measured(scaling.probabilities(test.logits), test.outcomes)
        else:
            measured = _cross_fitted(dev, fit)
        found[reading] = {**asdict(scaling), **measured.to_dict()}
    return found


def _measured(probabilities: NDArray[np.float64], outcomes: NDArray[np.bool_]) -> Calibration:
    found = calibrate(probabilities, outcomes)
    if found is None:
        raise LineclsError("there is nothing to measure on")
    return found


def _cross_fitted(dev: Cases, fit: Callable[..., Scaling] | None) -> Calibration:
    probabilities, outcomes = [], []
    for half in (0, 1):
        own, other = dev.of(half), dev.of(1 - half)
        scaling = fit(other.logits, other.outcomes) if fit else Scaling()
        probabilities.append(scaling.probabilities(own.logits))
        outcomes.append(own.outcomes)
    return _measured(np.concatenate(probabilities), np.concatenate(outcomes))


def markdown(results: dict[str, dict[str, dict[str, Any]]], about: dict[str, Any]) -> str:
    """One table: logit, reading, scaling, expected calibration error, Brier score, AUC."""
    lines = ["| logit | reading | scale | shift | ECE | Brier | AUC |", "|---|---|---|---|---|---|---|"]
    for logit, readings in results.items():
        for reading, row in readings.items():
            scaling = f"{row['scale']:.3f} | {row['shift']:+.3f}"
            auc = "–" if row["auc"] is None else f"{row['auc']:.3f}"
            lines.append(f"| {logit} | {reading} | {scaling} | {row['ece']:.4f} | {row['brier']:.4f} | {auc} |")
    files = ", ".join(f"{role} {source['name']}" for role, source in about["files"].items())
    return (
        f"# Calibration\n\nModel {about['model']}; {files}; measured on {about['measured_on']}.\n\n"
        + "\n".join(lines)
        + "\n"
    )


def plot(results: dict[str, dict[str, dict[str, Any]]], path: Path) -> bool:
    """Share observed against probability stated, a panel for each logit; False where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    for index, (logit, readings) in enumerate(results.items()):
        axes = figure.add_subplot(1, 2, index + 1, title=logit, xlabel="probability stated", ylabel="share observed")
        axes.plot((0, 1), (0, 1), color="grey", linewidth=0.8)
        for reading, row in readings.items():
            stated, observed = ([bin_[side] for bin_ in row["bins"]] for side in ("stated", "observed"))
            axes.plot(stated, observed, "o-", markersize=3, label=f"{reading}, ECE {row['ece']:.3f}")
        axes.legend()
    figure.savefig(path, dpi=130)
    return True


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--model", help="Model directory or hub id.  [default: the embedded model]")
@click.option("--dev", type=click.Path(dir_okay=False, path_type=Path), required=True, help="Records to fit on.")
@click.option("--test", type=click.Path(dir_okay=False, path_type=Path), help="Records to measure on.")
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="Result folder.")
def main(*, model: str | None, dev: Path, test: Path | None, output: Path) -> None:
    pruner = Pruner.from_pretrained(model, device="cpu")
    files = {"dev": dev} | ({"test": test} if test else {})
    cases = {role: cases_of(load_records(path), pruner, role) for role, path in files.items()}
    results = {logit: compare(cases["dev"][logit], cases["test"][logit] if test else None) for logit in cases["dev"]}
    about = {
        "model": f"{pruner.artifact.name} {pruner.artifact.version}",
        "files": {role: {"name": path.name, "sha256": file_sha256(path)} for role, path in files.items()},
        "measured_on": "test" if test else "dev, cross-fitted",
    }
    output.mkdir(parents=True, exist_ok=True)
    (output / "calibration.json").write_text(json.dumps({"about": about, "logits": results}, indent=1) + "\n")
    table = markdown(results, about)
    (output / "calibration.md").write_text(table, encoding="utf-8")
    plot(results, output / "calibration.png")
    click.echo(table, nl=False)


def run() -> None:
    """The command; an error of ours is one line and status 2."""
    try:
        main()
    except LineclsError as error:
        click.echo(f"calibration: {error}", err=True)
        raise SystemExit(2) from error


if __name__ == "__main__":
    run()
