"""Run systems over labelled records and report how they do, per group and with bootstrap intervals."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import linecls
from linecls import metrics
from linecls.artifact import file_sha256
from linecls.metrics import Estimate
from linecls.spans import Span

if TYPE_CHECKING:
    from linecls.records import Record
    from linecls.systems.base import System

LENGTHS = (50, 100, 200, 500)  # upper bounds of the length buckets, in lines, exclusive
_CURVE = np.round(np.concatenate([np.arange(0.0, 0.9, 0.05), np.arange(0.9, 0.995, 0.01)]), 2)


@dataclass(frozen=True)
class Published:
    """Figures that others published and we did not measure; a missing one is None."""

    system: str
    recall: float | None = None
    precision: float | None = None
    f1: float | None = None
    compression: float | None = None
    recall_at_50: float | None = None
    recall_at_70: float | None = None
    recall_at_90: float | None = None


# The Squeez-2B model card on the Squeez test split, and the Winnow card on the same split.
PUBLISHED = (
    Published("Squeez-2B (generative, LoRA on Qwen 3.5 2B)", 0.8624, 0.8043, 0.7895, 0.9150),
    Published("Qwen 3.5 35B A3B zero-shot", 0.7498, 0.7402, 0.7000, 0.9177),
    Published("Kimi K2 zero-shot", 0.5286, 0.6128, 0.5344, 0.9425),
    Published("Qwen 3.5 2B untrained", 0.5299, 0.4154, 0.4075, 0.8197),
    Published("BM25 10 %", 0.2172, 0.1277, 0.1314, 0.9036),
    Published("First-N 10 %", 0.1445, 0.0741, 0.0798, 0.9055),
    Published("Random 10 %", 0.1009, 0.0738, 0.0697, 0.9067),
    Published("Last-N 10 %", 0.0503, 0.0496, 0.0407, 0.9130),
    Published("Winnow (32M pooled encoder)", recall_at_50=0.89, recall_at_70=0.84, recall_at_90=0.68),
)
PUBLISHED_NOTE = "Published by their authors on the Squeez test split (617 or 618 records); not measured here."

# Columns of the tables: heading, metric.
_SQUEEZ_TABLE = (
    ("precision", "squeez.span_precision"),
    ("recall", "squeez.span_recall"),
    ("F1", "squeez.span_f1"),
    ("exact", "squeez.exact_match"),
    ("fuzzy F1", "squeez.fuzzy_span_f1"),
    ("partial", "squeez.partial_overlap"),
    ("empty acc.", "squeez.empty_accuracy"),
    ("ROUGE-L", "squeez.rouge_l"),
    ("ROUGE-L corr.", "squeez.rouge_l_corrected"),
    ("compression", "squeez.compression"),
    ("compression corr.", "squeez.compression_corrected"),
    ("micro P", "micro.precision"),
    ("micro R", "micro.recall"),
    ("micro F1", "micro.f1"),
)
_RECIPE_TABLE = (
    ("exact", "recipe.exact"),
    ("precision", "recipe.precision"),
    ("recall", "recipe.recall"),
    ("F1", "recipe.f1"),
    ("compression", "recipe.compression"),
    ("strict F1", "recipe.strict_f1"),
    ("micro P", "micro.recipe_precision"),
    ("micro R", "micro.recipe_recall"),
    ("micro F1", "micro.recipe_f1"),
    ("micro compression", "micro.recipe_compression"),
)
_PRUNING_TABLE = (
    ("recall at 50 %", "pruning.recall_at_50"),
    ("recall at 70 %", "pruning.recall_at_70"),
    ("recall at 90 %", "pruning.recall_at_90"),
    ("token compression", "pruning.token_compression"),
    ("token compression, micro", "micro.token_compression"),
    ("negatives left empty", "pruning.true_negative_empty"),
    ("positives left empty", "pruning.positive_empty"),
    ("error lines lost, micro", "micro.error_lines_lost"),
    ("gold error lines lost, micro", "micro.gold_error_lines_lost"),
)
_WITH_INTERVAL = ("squeez.span_recall", "squeez.span_f1", "pruning.recall_at_90")  # on the terminal
_TERMINAL = (
    ("precision", "squeez.span_precision"),
    ("recall", "squeez.span_recall"),
    ("F1", "squeez.span_f1"),
    ("compress", "squeez.compression_corrected"),
    ("R@50", "pruning.recall_at_50"),
    ("R@70", "pruning.recall_at_70"),
    ("R@90", "pruning.recall_at_90"),
    ("neg.empty", "pruning.true_negative_empty"),
    ("pos.empty", "pruning.positive_empty"),
)
_GROUP_TABLE = (("F1", "squeez.span_f1"), ("R@90", "pruning.recall_at_90"))
_GROUP_TITLES = {
    "answer": "With and without gold lines",
    "tool_type": "Per tool type",
    "level": "Per level",
    "lines": "Per length of the observation, in lines",
}


@dataclass
class SystemReport:
    """How one system did.

    description: parameters and model of the system; seconds: wall time over all records;
    overall: metric name to estimate, as `metrics.aggregate` names them; groups: the same for each value of
    `answer`, `tool_type`, `level` (where records have one) and `lines`; squeez: the rounded summary of
    squeez 0.1.4, for stripped references (its ChatML rows) and for raw ones (its canonical rows);
    curve: (share of lines dropped, mean recall of gold lines), empty for a system without scores;
    predictions: (instance_id, spans) in the order of the records.
    """

    name: str
    description: dict[str, Any]
    seconds: float
    overall: dict[str, Estimate]
    groups: dict[str, dict[str, dict[str, Estimate]]]
    squeez: dict[str, dict[str, object]]
    curve: list[tuple[float, float]]
    predictions: list[tuple[str, list[Span]]] = field(repr=False)

    @property
    def records(self) -> int:
        """Number of records run."""
        return len(self.predictions)

    @property
    def seconds_per_observation(self) -> float:
        """Wall time per record; systems may reuse work between records of one observation."""
        return self.seconds / self.records if self.records else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Everything but the predictions, ready for JSON (undefined figures are None)."""
        return {
            "description": self.description,
            "records": self.records,
            "seconds": self.seconds,
            "seconds_per_observation": self.seconds_per_observation,
            "overall": _plain(self.overall),
            "groups": {
                dimension: {value: _plain(estimates) for value, estimates in values.items()}
                for dimension, values in self.groups.items()
            },
            "squeez_0.1.4": self.squeez,
            "curve": [[dropped, _number(recall)] for dropped, recall in self.curve],
        }


@dataclass
class Report:
    """What `evaluate` found; `report["bm25"]` is the SystemReport of that name."""

    about: dict[str, Any]
    systems: dict[str, SystemReport]
    published: Sequence[Published] = ()

    def __getitem__(self, name: str) -> SystemReport:
        return self.systems[name]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the predictions, ready for JSON (undefined figures are None)."""
        result: dict[str, Any] = {
            "about": self.about,
            "systems": {name: system.to_dict() for name, system in self.systems.items()},
        }
        if self.published:
            result["published"] = {"note": PUBLISHED_NOTE, "rows": [vars(row) for row in self.published]}
        return result

    def to_json(self) -> str:
        """`to_dict` as indented JSON with a final newline."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    def to_text(self) -> str:
        """Plain tables for a terminal: overall figures, some with half-intervals, and F1 per tool type."""
        head = ["system", *(heading for heading, _ in _TERMINAL), "ms/obs"]
        rows = [
            [
                name,
                *(_short(s.overall[metric], metric in _WITH_INTERVAL) for _, metric in _TERMINAL),
                f"{1e3 * s.seconds_per_observation:.3g}",
            ]
            for name, s in self.systems.items()
        ]
        rows += [
            [
                row.system + " *",
                *map(_plain_cell, (row.precision, row.recall, row.f1, row.compression)),
                *map(_plain_cell, (row.recall_at_50, row.recall_at_70, row.recall_at_90)),
                *("–",) * 3,
            ]
            for row in self.published
        ]
        parts = [_summary_line(self.about), _align(head, rows)]
        if self.published:
            parts.append(f"* {PUBLISHED_NOTE}")
        values = self._group_values("tool_type")
        if len(values) > 1:
            names = list(self.systems)
            rows = [
                [value, str(self._group_size("tool_type", value))]
                + [_plain_cell(self._group(name, "tool_type", value, "squeez.span_f1")) for name in names]
                for value in values
            ]
            parts.append("F1 per tool type\n" + _align(["tool type", "records", *names], rows))
        return "\n\n".join(parts) + "\n"

    def to_markdown(self) -> str:
        """The whole report as Markdown: both metric families apart, pruning metrics, groups, provenance."""
        parts = ["# Evaluation", _summary_line(self.about)]
        if self.about["bootstrap"]:
            parts.append(
                f"Square brackets: {round(100 * self.about['level'])} % percentile bootstrap intervals over "
                f"records, {self.about['bootstrap']} resamples, seed {self.about['seed']}."
            )
        for title, columns in (
            ("Squeez line metrics", _SQUEEZ_TABLE),
            ("Scoring-recipe metrics (whitespace tokens)", _RECIPE_TABLE),
            ("Pruning metrics", _PRUNING_TABLE),
        ):
            rows = [[name, *(_long(s.overall[metric]) for _, metric in columns)] for name, s in self.systems.items()]
            parts.append(f"## {title}\n\n" + _markdown(["system", *(h for h, _ in columns)], rows))
        if self.published:
            keys = (
                "precision",
                "recall",
                "f1",
                "compression",
                "recall_at_50",
                "recall_at_70",
                "recall_at_90",
            )
            head = ["system (published)", *(key.replace("_", " ") for key in keys)]
            rows = [[row.system, *(_plain_cell(getattr(row, k), 4) for k in keys)] for row in self.published]
            parts.append(f"## Published figures\n\n{PUBLISHED_NOTE}\n\n" + _markdown(head, rows))
        parts.append("## Time\n\n" + self._time_table())
        parts += [self._group_section(dimension) for dimension in _GROUP_TITLES]
        parts.append("## Provenance\n\n" + self._provenance())
        return "\n\n".join(part for part in parts if part) + "\n"

    def write(self, directory: str | Path) -> list[Path]:
        """Write report.json, report.md, predictions.jsonl and, with matplotlib, recall.png; return the paths.

        The directory is made if it is missing; files of those names are replaced.
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        texts = {"report.json": self.to_json(), "report.md": self.to_markdown()}
        texts["predictions.jsonl"] = "".join(
            json.dumps(
                {
                    "system": name,
                    "instance_id": instance,
                    "spans": [{"start_line": a, "end_line": b} for a, b in spans],
                }
            )
            + "\n"
            for name, system in self.systems.items()
            for instance, spans in system.predictions
        )
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace")
        paths = [folder / name for name in texts]
        picture = folder / "recall.png"
        return [*paths, picture] if self.plot(picture) else paths

    def plot(self, path: str | Path) -> bool:
        """Draw recall of gold lines against the share of lines dropped; False where matplotlib is missing.

        A line for each system that gives scores, and a dot where its own answer stands.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError:
            return False
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.add_subplot(xlabel="share of lines dropped", ylabel="recall of gold lines")
        for name, system in self.systems.items():
            (line,) = axes.plot(*zip(*system.curve, strict=True), label=name) if system.curve else (None,)
            own = system.groups["answer"].get("gold")
            if own is not None:
                where = own["squeez.compression_corrected"].value, own["pruning.line_recall"].value
                color = line.get_color() if line else None
                axes.plot(*where, "o", color=color, label=None if line else name)
        axes.set(xlim=(0, 1), ylim=(0, 1.02), title="Dots: the answer that the system gives by itself")
        axes.grid(alpha=0.3)
        axes.legend()
        figure.savefig(path, dpi=150)
        return True

    def _group(self, system: str, dimension: str, value: str, metric: str) -> float:
        estimates = self.systems[system].groups.get(dimension, {}).get(value, {})
        return estimates[metric].value if metric in estimates else math.nan

    def _group_values(self, dimension: str) -> list[str]:
        for system in self.systems.values():
            return list(system.groups.get(dimension, {}))
        return []

    def _group_size(self, dimension: str, value: str) -> int:
        return next(iter(self.systems.values())).groups[dimension][value]["squeez.span_f1"].records

    def _group_section(self, dimension: str) -> str:
        values = self._group_values(dimension)
        if not values:
            return ""
        names = list(self.systems)
        head = [dimension.replace("_", " "), "records"]
        head += [f"{name} {heading}" for heading, _ in _GROUP_TABLE for name in names]
        rows = []
        for value in values:
            row = [value, str(self._group_size(dimension, value))]
            for _, metric in _GROUP_TABLE:
                row += [_long(self.systems[name].groups[dimension][value][metric]) for name in names]
            rows.append(row)
        return f"## {_GROUP_TITLES[dimension]}\n\n" + _markdown(head, rows)

    def _time_table(self) -> str:
        rows = [
            [name, str(s.records), f"{s.seconds:.2f}", f"{1e3 * s.seconds_per_observation:.3g}"]
            for name, s in self.systems.items()
        ]
        return _markdown(["system", "records", "seconds", "ms per observation"], rows)

    def _provenance(self) -> str:
        about = self.about
        lines = [f"- machine: {about['machine']['cpu']}, {about['machine']['cores']} cores"]
        lines.append(f"- linecls {about['linecls']}, Python {about['machine']['python']}")
        if about["commit"]:
            lines.append(f"- commit: {about['commit']}")
        for source in about["files"]:
            lines.append(f"- records: {source['name']}, sha256 {source['sha256'] or 'unknown'}")
        for name, system in self.systems.items():
            settings = ", ".join(f"{key} {_setting(value)}" for key, value in system.description.items())
            lines.append(f"- {name}: {settings or 'no parameters'}")
        return "\n".join(lines)


def evaluate(
    records: Iterable[Record],
    systems: Iterable[System],
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    sources: Sequence[str | Path] = (),
    published: bool = False,
    on_record: Callable[[str], object] | None = None,
) -> Report:
    """Run each system over all records and score its answers.

    bootstrap: resamples of the intervals, 0 for none; seed: of the intervals; sources: the files that the
    records came from, stated in the report with their sha256; published: add the PUBLISHED figures;
    on_record: called with the system's name after each record.

    Raises ValueError without records, for two systems of one name, and for a system that does not answer each
    record once; what a system raises passes through.
    """
    labelled = list(records)
    if not labelled:
        raise ValueError("there are no records to evaluate on")
    reports: dict[str, SystemReport] = {}
    for system in systems:
        if system.name in reports:
            raise ValueError(f"two systems are called '{system.name}'")
        reports[system.name] = _run(labelled, system, bootstrap, seed, on_record)
    about = {
        "linecls": linecls.__version__,
        "commit": _commit(),
        "machine": _machine(),
        "files": [_source(source) for source in sources],
        "records": len(labelled),
        "negatives": sum(not record.gold_spans for record in labelled),
        "observations": len({record.tool_output for record in labelled}),
        "bootstrap": bootstrap,
        "level": 0.95,
        "seed": seed,
    }
    return Report(about, reports, PUBLISHED if published else ())


def length_bucket(lines: int) -> str:
    """The length group of an observation with that many lines: "1-49", …, "500+"; "0-49" holds empty ones."""
    lower = 0
    for upper in LENGTHS:
        if lines < upper:
            return f"{lower}-{upper - 1}"
        lower = upper
    return f"{lower}+"


def _run(
    records: Sequence[Record],
    system: System,
    bootstrap: int,
    seed: int,
    on_record: Callable[[str], object] | None,
) -> SystemReport:
    rows: list[dict[str, float]] = []
    raw_rows: list[dict[str, float]] = []
    raw_categories: list[str] = []
    curves: list[NDArray[np.float64]] = []
    predictions: list[tuple[str, list[Span]]] = []
    seconds = 0.0
    answers = iter(system.select_many((record.query, record.tool_output) for record in records))
    for record in records:
        start = time.perf_counter()
        selection = next(answers, None)
        seconds += time.perf_counter() - start
        if selection is None:
            raise ValueError(f"system '{system.name}' answered {len(rows)} of {len(records)} records")
        text, gold, spans = record.tool_output, record.gold_spans, list(selection.spans)
        row = metrics.score_record(text, gold, spans, selection.scores)
        rows.append(row)
        kept, raw = metrics.line_texts(text, spans), metrics.canonical_reference(text, gold)
        raw_rows.append(metrics.squeez_metrics(kept, raw, text))
        raw_categories.append(metrics.empty_category(kept, raw))
        if selection.scores is not None and gold:
            curves.append(_curve(selection.scores, gold))
        predictions.append((record.instance_id, spans))
        if on_record is not None:
            on_record(system.name)
    if next(answers, None) is not None:
        raise ValueError(f"system '{system.name}' answered more than {len(records)} records")

    groups: dict[str, dict[str, list[dict[str, float]]]] = {}
    for record, row in zip(records, rows, strict=True):
        for dimension, value in _group_keys(record, row).items():
            groups.setdefault(dimension, {}).setdefault(value, []).append(row)
    describe = getattr(system, "describe", dict)
    categories = [next(name for name in metrics.CONFUSION if row[f"count.{name}"]) for row in rows]
    stripped_rows = [{key: row[f"squeez.{key}"] for key in metrics.SQUEEZ_KEYS} for row in rows]
    return SystemReport(
        name=system.name,
        description=describe(),
        seconds=seconds,
        overall=metrics.aggregate(rows, bootstrap=bootstrap, seed=seed),
        groups={
            dimension: {
                value: metrics.aggregate(values[value], bootstrap=bootstrap, seed=seed)
                for value in sorted(values, key=_group_order)
            }
            for dimension, values in groups.items()
        },
        squeez={
            "stripped_reference": metrics.squeez_summary(stripped_rows, categories),
            "canonical_reference": metrics.squeez_summary(raw_rows, raw_categories),
        },
        curve=list(zip(_CURVE.tolist(), np.mean(curves, axis=0).tolist(), strict=True)) if curves else [],
        predictions=predictions,
    )


def _group_keys(record: Record, row: Mapping[str, float]) -> dict[str, str]:
    keys = {"answer": "gold" if row["count.line_reference"] else "none", "tool_type": record.tool_type or "?"}
    if record.extra.get("level"):
        keys["level"] = str(record.extra["level"])
    keys["lines"] = length_bucket(int(row["count.lines"]))
    return keys


def _group_order(value: str) -> tuple[int, str]:
    """Length buckets by number, levels from easy to hard, everything else by name."""
    start = value.rstrip("+").partition("-")[0]
    if start.isdecimal():
        return int(start), value
    return {"easy": 0, "medium": 1, "semantic": 2}.get(value, 0), value


def _curve(scores: NDArray[Any], gold: Sequence[Span]) -> NDArray[np.float64]:
    """Recall of the gold lines at each compression of _CURVE, from one ranking."""
    ranked = metrics.top_lines(scores, 1.0)
    hits = np.cumsum(metrics.to_mask(gold, len(ranked))[ranked])
    keep = np.maximum(1, np.round((1.0 - _CURVE) * len(ranked)).astype(int))
    return hits[keep - 1] / hits[-1]


# --- where and on what it ran --------------------------------------------------------------------------


def _machine() -> dict[str, Any]:
    cpu = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                cpu = line.partition(":")[2].strip()
                break
    except OSError:
        pass  # not Linux
    return {
        "cpu": cpu or "unknown",
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _commit() -> str | None:
    """The commit of the checkout that tracks this file, with `-dirty` after changes; None elsewhere."""
    here = Path(__file__)
    git = ["git", "-C", str(here.parent)]
    try:
        subprocess.run([*git, "ls-files", "--error-unmatch", here.name], check=True, capture_output=True, timeout=10)
        found = subprocess.run(
            [*git, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            check=True,
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


def _source(source: str | Path) -> dict[str, Any]:
    """Name (never the folder, which says more about the machine than about the data) and sha256."""
    path = Path(source)
    if not path.is_file():
        return {"name": str(source), "sha256": None}
    return {"name": path.name, "sha256": file_sha256(path)}


# --- cells and tables ----------------------------------------------------------------------------------


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(estimates: Mapping[str, Estimate]) -> dict[str, dict[str, float | int | None]]:
    return {
        name: {
            "value": _number(e.value),
            "low": _number(e.low),
            "high": _number(e.high),
            "records": e.records,
        }
        for name, e in estimates.items()
    }


def _setting(value: Any) -> str:
    return " ".join(f"({k} {v})" for k, v in value.items()) if isinstance(value, dict) else str(value)


def _plain_cell(value: float | None, digits: int = 3) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def _short(estimate: Estimate, with_interval: bool) -> str:
    """Value and, where asked for, half the width of its interval."""
    if not with_interval or math.isnan(estimate.low):
        return _plain_cell(estimate.value)
    return f"{estimate.value:.3f} ±{(estimate.high - estimate.low) / 2:.3f}".replace("±0.", "±.")


def _long(estimate: Estimate) -> str:
    """Value and its interval."""
    if math.isnan(estimate.low):
        return _plain_cell(estimate.value, 4)
    return f"{estimate.value:.4f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def _summary_line(about: Mapping[str, Any]) -> str:
    names = ", ".join(source["name"] for source in about["files"])
    counts = f"{about['records']} records ({about['negatives']} negatives) on {about['observations']} outputs"
    return f"{names}: {counts}" if names else counts


def _align(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, the first flush left, the others flush right."""
    table = [list(head), *map(list, rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in (cells[0], rule, *cells[1:]))
