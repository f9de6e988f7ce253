"""Train each variant of a plan with the same budget, score it on held-back records and write one table.

\b
  python eval/ablations.py --train train.jsonl.gz --dev dev.jsonl.gz --budget-minutes 120 -o eval/results/ablations
  python eval/ablations.py --train train.jsonl.gz --dev dev.jsonl.gz --only 'frozen_minilm*' -o eval/results/ablations
  python eval/ablations.py --train train.jsonl.gz --dev dev.jsonl.gz --limit 20 --steps 5 -o /tmp/trial
  python eval/ablations.py --list

All variants see the same records and the same seed and take the same number of optimiser steps. A variant whose
result stands in the output folder, of the same settings and records, is not run again, so a stopped run goes on where
it was. Operating points are cross-fitted: records are scored at the point that is best on the other half of the
observations. Intervals are over observations.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import yaml
from numpy.typing import NDArray

from linecls import provenance
from linecls.artifact import file_sha256
from linecls.errors import LineclsError
from linecls.metrics import area_under_roc, recall_at_compression
from linecls.tuning import Scored, best_f1_point

PLAN = Path(__file__).with_suffix(".yaml")
METRICS = ("f1", "recall_at_50", "recall_at_70", "recall_at_90", "negatives_empty", "positives_empty", "auc")
RESAMPLES = 1000
FloatArray = NDArray[np.float64]


# --- the plan ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """One run of the plan.

    name: `baseline` or `baseline/variant`; kind: frozen or fine-tuned; question: what it answers; against: the run
    it is compared with (None: a baseline); settings: nested, of `linecls train`; built: whether it also reads the
    built records; steps: optimiser steps; average: decay of the moving average of the weights.
    """

    name: str
    kind: str
    question: str
    against: str | None
    settings: dict[str, Any]
    built: bool
    steps: int
    average: float


def load_plan(path: Path, root: Path) -> list[Variant]:
    """The runs of a plan, each baseline before its variants; `config` paths are relative to `root`.

    Raises LineclsError for a file that is no plan, and for a variant that names another that is not there.
    """
    plan = _mapping(path)
    variants: list[Variant] = []
    try:
        seed, average, common = int(plan.pop("seed")), float(plan.pop("average")), plan.pop("common")
        for base, entry in plan.pop("baselines").items():
            model = _mapping(root / entry["config"])
            kind, steps = str(entry["kind"]), int(entry["steps"])
            known = {"": {"question": "baseline"}, **entry.get("variants", {})}
            for name, values in known.items():
                if unknown := set(values) - {"question", "set", "against", "built"}:
                    raise LineclsError(f"{path}: {base}/{name} has the unknown key {sorted(unknown)[0]!r}")
                against = values.get("against", "")
                if against not in known:
                    raise LineclsError(f"{path}: {base}/{name} is against {against!r}, which is not there")
                settings = merged(model, nested({"seed_everything": seed, "data.seed": seed}), nested(common))
                variants.append(
                    Variant(
                        name=f"{base}/{name}" if name else base,
                        kind=kind,
                        question=str(values["question"]),
                        against=(f"{base}/{against}" if against else base) if name else None,
                        settings=merged(settings, nested(values.get("set", {}))),
                        built=bool(values.get("built", False)),
                        steps=steps,
                        average=average,
                    )
                )
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise LineclsError(f"{path} is no plan of ablations: {type(error).__name__}: {error}") from error
    if plan:
        raise LineclsError(f"{path} has the unknown key {sorted(plan)[0]!r}")
    return variants


def _mapping(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LineclsError(f"cannot read {path}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise LineclsError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise LineclsError(f"{path} holds no settings")
    return values


def nested(dotted: Mapping[str, Any]) -> dict[str, Any]:
    """`{"a.b": 1}` as `{"a": {"b": 1}}`."""
    result: dict[str, Any] = {}
    for key, value in dotted.items():
        place = result
        *path, last = key.split(".")
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return result


def merged(*settings: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings, the later ones winning; the arguments stay as they are."""
    result: dict[str, Any] = {}
    for values in settings:
        for key, value in values.items():
            if isinstance(value, Mapping):
                below = result.get(key)
                result[key] = merged(below if isinstance(below, Mapping) else {}, value)
            else:
                result[key] = value
    return result


# --- one run -------------------------------------------------------------------------------------------------------


def train_and_score(variant: Variant, settings: dict[str, Any]) -> dict[str, Any]:
    """Train a variant, score the dev records: what a result file holds, without its digest."""
    import torch

    from linecls.training.cli import LineCLI
    from linecls.training.data import LineDataModule
    from linecls.training.module import LineModule

    started = time.perf_counter()
    callbacks = _callbacks(variant)
    try:
        cli = LineCLI(
            LineModule,
            LineDataModule,
            args=settings,
            run=False,
            save_config_callback=None,
            trainer_defaults={"callbacks": callbacks},
        )
    except SystemExit as error:
        raise LineclsError(f"{variant.name}: linecls train refuses its settings (above)") from error
    cli.trainer.fit(cli.model, datamodule=cli.datamodule)
    module: Any = cli.model
    module.to(cli.trainer.strategy.root_device).eval()
    scored, keys = _score(module, cli.datamodule.dev_loader)
    meter = callbacks[0]
    parameters = [p.numel() for p in module.model.parameters() if p.requires_grad]
    whole = sum(p.numel() for p in module.model.parameters())
    result = {
        "records": hashlib.sha256("\n".join(key for pair in keys for key in pair).encode()).hexdigest()[:16],
        "groups": np.unique([observation for observation, _ in keys], return_inverse=True)[1].tolist(),
        "values": {
            k: [None if np.isnan(x) else round(float(x), 6) for x in v] for k, v in outcomes(scored, keys).items()
        },
        "parameters": whole,
        "learned_parameters": sum(parameters),
        "steps": cli.trainer.global_step,
        "pairs": meter.pairs,
        "tokens": meter.tokens,
        "seconds_per_1000_tokens": meter.seconds / max(meter.tokens, 1) * 1000,
        "last_loss": meter.loss,
        "seconds": time.perf_counter() - started,
    }
    del cli, module
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return result


def _callbacks(variant: Variant) -> list[Any]:
    import lightning.pytorch as pl
    import torch
    from lightning.pytorch.callbacks import EMAWeightAveraging

    class Meter(pl.Callback):
        """Tokens, pairs and seconds of the training steps, and the progress line."""

        tokens = pairs = 0
        seconds = loss = 0.0
        _since = _shown = 0.0

        def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, index: int) -> None:
            self._since = time.perf_counter()

        def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, batch: Any, index: int) -> None:
            now = time.perf_counter()
            self.seconds += now - self._since
            self.tokens += int(batch.inputs["attention_mask"].sum())
            self.pairs += len(batch.labels)
            loss = float(trainer.callback_metrics.get("loss", torch.nan))
            self.loss = loss if not self.loss else 0.95 * self.loss + 0.05 * loss
            done, total = trainer.global_step, trainer.max_steps
            if now - self._shown > 10 or done >= total:
                self._shown = now
                _say(f"{variant.name}: step {done} of {total}, loss {self.loss:.4f}, {self.seconds:.0f} s")

    return [Meter(), EMAWeightAveraging(decay=variant.average)]


def _score(module: Any, loader: Any) -> tuple[list[Scored], list[tuple[str, str]]]:
    """What the model says of each dev pair, and (digest of the observation, query) of each."""
    import torch

    from linecls.training.module import scored_pairs

    scored: list[Scored] = []
    keys: list[tuple[str, str]] = []
    with torch.inference_mode():
        for loaded in loader:
            batch = loaded.to(module.device)
            scored += scored_pairs(batch, *module.model(**batch.inputs))
            targets = {id(target.label): target for target in batch.targets}
            keys += [(_digest("".join(target.lines)), target.label.query) for target in targets.values()]
    return scored, keys


def outcomes(scored: Sequence[Scored], keys: Sequence[tuple[str, str]]) -> dict[str, FloatArray]:
    """METRICS of each record [N]; NaN where a record does not define one. keys: (observation, query) of each.

    The answers behind f1 and the two `empty` metrics are decoded at the operating point that is best on the records
    of the other half of the observations; auc is that of a record's own lines, gold against the rest.
    """
    half = np.array([int(observation[-1], 16) % 2 for observation, _ in keys])
    values = {name: np.full(len(scored), np.nan) for name in METRICS}
    for fold in (0, 1):
        point, _ = best_f1_point([s for s, side in zip(scored, half, strict=True) if side != fold])
        for index in np.flatnonzero(half == fold).tolist():
            record = scored[index]
            spans = record.decode(point)
            values["f1"][index] = record.f1(spans)
            values["positives_empty" if record.gold.any() else "negatives_empty"][index] = not spans
    for index, record in enumerate(scored):
        if record.gold.any():
            for dropped in (50, 70, 90):
                recall = recall_at_compression(record.keep_logits, record.gold_spans, dropped / 100)
                values[f"recall_at_{dropped}"][index] = recall
            values["auc"][index] = area_under_roc(record.keep_logits, record.gold)
    return values


# --- the table -----------------------------------------------------------------------------------------------------


def estimates(values: Mapping[str, FloatArray], groups: NDArray[np.int64], seed: int = 0) -> dict[str, list[float]]:
    """Mean and 95 % percentile bootstrap interval of each column [N], resampled by group; NaN entries do not count."""
    weights = np.random.default_rng(seed).multinomial(
        int(groups.max()) + 1, np.full(int(groups.max()) + 1, 1 / (int(groups.max()) + 1)), size=RESAMPLES
    )
    found: dict[str, list[float]] = {}
    for name, column in values.items():
        defined = np.isfinite(column)
        sums = np.bincount(groups, np.where(defined, column, 0.0), minlength=weights.shape[1])
        counts = np.bincount(groups, defined, minlength=weights.shape[1])
        with np.errstate(invalid="ignore", divide="ignore"):
            draws = (weights @ sums) / (weights @ counts)
            mean = sums.sum() / counts.sum()
        draws = draws[np.isfinite(draws)]
        low, high = np.quantile(draws, (0.025, 0.975)) if draws.size else (np.nan, np.nan)
        found[name] = [float(mean), float(low), float(high)]
    return found


def rows_of(variants: Sequence[Variant], results: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each result: its figures with intervals, and the paired differences to what it is compared with."""
    rows: list[dict[str, Any]] = []
    for variant in variants:
        result = results.get(variant.name)
        if result is None:
            continue
        values, groups = _columns(result), np.array(result["groups"])
        row: dict[str, Any] = {
            "name": variant.name,
            "kind": variant.kind,
            "question": variant.question,
            "against": variant.against,
            "figures": estimates(values, groups),
            "difference": None,
        }
        row |= {key: result[key] for key in ("parameters", "learned_parameters", "steps", "pairs", "tokens")}
        row |= {key: result[key] for key in ("seconds_per_1000_tokens", "seconds", "settings")}
        other = results.get(variant.against) if variant.against else None
        if other is not None and other["records"] == result["records"]:
            base = _columns(other)
            row["difference"] = estimates({name: values[name] - base[name] for name in METRICS}, groups)
        rows.append(row)
    return rows


def _columns(result: Mapping[str, Any]) -> dict[str, FloatArray]:
    return {name: np.array(column, dtype=np.float64) for name, column in result["values"].items()}


_TABLE = (
    ("F1", "f1", True),
    ("R@50", "recall_at_50", False),
    ("R@70", "recall_at_70", False),
    ("R@90", "recall_at_90", True),
    ("AUC", "auc", False),
    ("negatives empty", "negatives_empty", False),
)


def markdown(rows: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> str:
    """The table, one section for each baseline."""
    parts = [
        "# Ablations",
        f"Machine: {about['machine']['cpu']}, {about['machine']['cores']} cores. Commit: {about['commit']}. "
        + ". ".join(
            f"{role}: {source['name']}, sha256 {source['sha256'][:12]}" for role, source in about["files"].items()
        )
        + ".",
        "Square brackets: 95 % bootstrap intervals over observations. F1 is at cross-fitted operating points; Δ is the "
        "paired difference on the same records to the run named under `against`. AUC is the mean over records of that "
        "of their lines. What another seed changes is in the row of that name.",
    ]
    baselines = dict.fromkeys(row["name"].partition("/")[0] for row in rows)
    for base in baselines:
        own = [row for row in rows if row["name"].partition("/")[0] == base]
        head = ["run", "what is changed", "against"]
        for title, _, paired in _TABLE:
            head += [title, f"Δ {title}"] if paired else [title]
        head += ["learned parameters", "labels seen", "s per 1,000 tokens"]
        lines = [head, ["---"] * len(head)]
        for row in own:
            against = "baseline" if row["against"] == base else (row["against"] or "–").removeprefix(f"{base}/")
            cells = [row["name"].removeprefix(f"{base}/"), row["question"], against]
            for _, metric, paired in _TABLE:
                cells.append(_figure(row["figures"][metric], interval=paired))
                if paired:
                    difference = row["difference"]
                    cells.append(_figure(difference[metric], signed=True) if difference else "–")
            cells += [f"{row['learned_parameters']:,}", f"{row['pairs']:,}", f"{row['seconds_per_1000_tokens']:.3f}"]
            lines.append(cells)
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        parts.append(f"## {base}: {own[0]['kind']}, {own[0]['steps']} steps\n\n{table}")
    return "\n\n".join(parts) + "\n"


def _figure(estimate: Sequence[float], *, interval: bool = True, signed: bool = False) -> str:
    value, low, high = estimate
    if np.isnan(value):
        return "–"
    form = "+.3f" if signed else ".3f"
    return f"{value:{form}} [{low:{form}}, {high:{form}}]" if interval or signed else f"{value:{form}}"


def plot(rows: Sequence[Mapping[str, Any]], path: Path) -> bool:
    """Paired differences of F1 and recall at 90 % with their intervals; False without matplotlib or differences."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    compared = [row for row in rows if row["difference"]]
    if not compared:
        return False
    figure = Figure(figsize=(9, 1.2 + 0.28 * len(compared)), layout="constrained")
    places = np.arange(len(compared))[::-1]
    for index, (title, metric) in enumerate((("F1", "f1"), ("recall at 90 %", "recall_at_90"))):
        axes = figure.add_subplot(1, 2, index + 1, title=f"Δ {title}")
        value, low, high = np.array([row["difference"][metric] for row in compared]).T
        axes.errorbar(value, places, xerr=(value - low, high - value), fmt="o", markersize=4, capsize=2)
        axes.axvline(0, color="grey", linewidth=0.8)
        axes.set_yticks(places, [row["name"] for row in compared] if index == 0 else [])
        axes.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=130)
    return True


# --- the command ---------------------------------------------------------------------------------------------------


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _say(text: str) -> None:
    click.echo(text, err=True)


def _finished(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((folder / "runs").glob("*.json")):
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
            yield result["name"], result
        except (ValueError, KeyError) as error:
            raise LineclsError(f"{path} is no result of an ablation; remove it") from error


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(path.name + ".part")
    scratch.write_text(text, encoding="utf-8")
    os.replace(scratch, path)


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--plan", type=click.Path(dir_okay=False, path_type=Path), default=PLAN, help="The plan.")
@click.option("--train", type=click.Path(dir_okay=False, path_type=Path), help="Records to learn from.")
@click.option("--dev", type=click.Path(dir_okay=False, path_type=Path), help="Records to score on.")
@click.option(
    "--built", multiple=True, type=click.Path(dir_okay=False, path_type=Path), help="Built records, for `built: true`."
)
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Folder of results and table.")
@click.option("--only", multiple=True, metavar="PATTERN", help="Only runs of such a name (* and ?); may be repeated.")
@click.option("--budget-minutes", type=click.FloatRange(min=0), help="Start no run that is not done by then.")
@click.option("--steps", type=click.IntRange(min=1), help="Optimiser steps of each run, in place of the plan's.")
@click.option("--limit", type=click.IntRange(min=2), help="Only so many observations of each file (a trial).")
@click.option("--cache", default=".work/states", show_default=True, help="Folder of the frozen backbones' states.")
@click.option("--list", "list_only", is_flag=True, help="Print the runs of the plan and stop.")
def main(
    *,
    plan: Path,
    train: Path | None,
    dev: Path | None,
    built: tuple[Path, ...],
    output: Path | None,
    only: tuple[str, ...],
    budget_minutes: float | None,
    steps: int | None,
    limit: int | None,
    cache: str,
    list_only: bool,
) -> None:
    started = time.monotonic()
    variants = load_plan(plan, Path(__file__).parent.parent)
    chosen = [v for v in variants if not only or any(fnmatch.fnmatchcase(v.name, pattern) for pattern in only)]
    if not chosen:
        raise click.BadParameter(
            f"no run is called so; the plan has {', '.join(v.name for v in variants)}", param_hint="--only"
        )
    if list_only:
        for variant in chosen:
            click.echo(f"{variant.name:40} {variant.kind:10} {variant.question}")
        return
    if train is None or dev is None or output is None:
        raise click.UsageError("--train, --dev and --output are needed")
    files = {"train": train, "dev": dev, **{f"built {i + 1}": path for i, path in enumerate(built)}}
    try:
        sources = {role: {"name": path.name, "sha256": file_sha256(path)} for role, path in files.items()}
        (output / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LineclsError(f"cannot use {error.filename}: {error.strerror}") from error
    results = dict(_finished(output))
    longest = 0.0
    for variant in chosen:
        if variant.built and not built:
            _say(f"{variant.name}: left out, it needs --built")
            continue
        settings, digest = _settings(variant, files, sources, steps or variant.steps, limit, cache)
        if results.get(variant.name, {}).get("digest") == digest:
            _say(f"{variant.name}: done before")
            continue
        left = np.inf if budget_minutes is None else 60 * budget_minutes - (time.monotonic() - started)
        if left < longest:
            _say(f"{variant.name}: {left / 60:.1f} minutes are left and a run took {longest / 60:.1f}; stopping")
            break
        result = {
            "name": variant.name,
            "digest": digest,
            "settings": _public(settings),
            **train_and_score(variant, settings),
        }
        longest = max(longest, result["seconds"])
        _write(output / "runs" / f"{variant.name.replace('/', '.')}.json", json.dumps(_plain(result)) + "\n")
        results[variant.name] = result
        f1, recall = (np.nanmean(_columns(result)[name]) for name in ("f1", "recall_at_90"))
        _say(f"{variant.name}: F1 {f1:.3f}, recall at 90 % {recall:.3f}, {result['seconds']:.0f} s")
    rows = rows_of(variants, results)
    about = {"machine": provenance.machine(), "commit": provenance.commit(), "files": sources, "resamples": RESAMPLES}
    _write(output / "ablations.json", json.dumps(_plain({"about": about, "rows": rows}), indent=1) + "\n")
    _write(output / "ablations.md", markdown(rows, about))
    plot(rows, output / "ablations.png")
    click.echo(f"wrote {output}/ablations.md: {len(rows)} of {len(variants)} runs", err=True)


def _settings(
    variant: Variant,
    files: Mapping[str, Path],
    sources: Mapping[str, Mapping[str, str]],
    steps: int,
    limit: int | None,
    cache: str,
) -> tuple[dict[str, Any], str]:
    """Settings of the run for LightningCLI, and the digest of all that its result depends on."""
    records = [path for role, path in files.items() if role == "train" or (variant.built and role != "dev")]
    own = nested(
        {
            "data.train": [str(path) for path in records],
            "data.dev": [str(files["dev"])],
            "data.limit": limit,
            "trainer.max_steps": steps,
            "trainer.max_epochs": -1,
            "trainer.limit_val_batches": 0,
            "trainer.logger": False,
            "trainer.enable_checkpointing": False,
            "trainer.enable_progress_bar": False,
            "trainer.enable_model_summary": False,
        }
    )
    settings = merged(variant.settings, own)
    if settings["model"].get("frozen"):
        settings["model"]["cache"] = cache
    used = [source["sha256"] for role, source in sources.items() if variant.built or not role.startswith("built")]
    content = [_public(settings), used, asdict(variant)["average"]]
    return settings, hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _public(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without the places of files."""
    data = {key: value for key, value in settings["data"].items() if key not in ("train", "dev")}
    model = {key: value for key, value in settings["model"].items() if key != "cache"}
    return {**settings, "data": data, "model": model}


def _plain(value: Any) -> Any:
    """Ready for strict JSON: NaN is None."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def run() -> None:
    """The command, in a process with the allocator set for speed; an error of ours is one line and status 2."""
    try:
        from linecls.training.cli import ON_PURPOSE, with_fast_allocator
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is missing; pip install 'linecls[train,eval]'") from error
    with_fast_allocator([sys.executable, *sys.argv])
    # Settings come from the plan, not from this program's own arguments; what jsonargparse says is for Lightning.
    for message in (*ON_PURPOSE, "LightningCLI's args parameter"):
        warnings.filterwarnings("ignore", message=message)
    os.environ.setdefault("JSONARGPARSE_DEPRECATION_WARNINGS", "off")
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        main()
    except LineclsError as error:
        click.echo(f"ablations: {error}", err=True)
        raise SystemExit(2) from error


if __name__ == "__main__":
    run()
