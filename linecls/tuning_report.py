"""What `linecls tune` found, as text, Markdown, JSON and a plot."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from linecls.tuning import Estimate, Tuning

_ROWS = (
    ("compression", "compression"),
    ("recall", "recall"),
    ("precision", "precision"),
    ("f1", "F1"),
    ("tokens", "tokens kept"),
    ("negatives_empty", "negatives left empty"),
    ("positives_empty", "positives left empty"),
)
_UNLABELLED = ("compression", "tokens")
_LEVELS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99)  # compressions that the table shows
_CURVE_POINTS = 200  # of the curve in JSON and in the plot


def to_dict(tuning: Tuning, sources: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Everything, ready for JSON: figures that are not defined are None, the curve is thinned to 200 points."""
    names = _names(tuning)
    return {
        "target": str(tuning.target),
        "operating_point": asdict(tuning.point),
        "files": [dict(source) for source in sources],
        "records": tuning.records,
        "observations": tuning.observations,
        "negatives": tuning.negatives,
        "promised": {name: _number(tuning.promised[name]) for name in names},
        "held_out": None
        if tuning.held_out is None
        else {name: _interval(tuning.held_out[name]) for name in names if name in tuning.held_out},
        "is_held": tuning.is_held,
        "fold_points": [asdict(point) for point in tuning.fold_points],
        "curve": [
            {"bias": bias, **{name: _number(values[name]) for name in names if name in values}}
            for bias, values in _thinned(tuning)
        ],
    }


def to_text(tuning: Tuning, sources: Sequence[Mapping[str, Any]] = ()) -> str:
    """Tables for a terminal: the point, promised against held-out, and the trade-off by bias."""
    held = tuning.held_out or {}
    rows = [
        [label, _cell(tuning.promised[name], name), _estimate(held[name], name) if name in held else "–"]
        for name, label in _ROWS
        if name in _names(tuning)
    ]
    parts = [_summary(tuning, sources), _align(["", "promised", "held out"], rows)]
    parts.append("Trade-off by bias (* the operating point)\n" + _align(*_trade_off(tuning)))
    return "\n\n".join(parts) + "\n"


def to_markdown(tuning: Tuning, sources: Sequence[Mapping[str, Any]] = ()) -> str:
    """The same as Markdown, with the points of the folds."""
    held = tuning.held_out or {}
    rows = [
        [label, _cell(tuning.promised[name], name), _estimate(held[name], name) if name in held else "–"]
        for name, label in _ROWS
        if name in _names(tuning)
    ]
    parts = [f"# Operating point for {tuning.target}", _summary(tuning, sources)]
    parts.append(
        "Promised: on the records that the point was tuned on. Held out: each fold answered with the point that the"
        " other folds give; 95 % percentile bootstrap intervals over observations."
    )
    parts.append(_markdown(["", "promised", "held out"], rows))
    parts.append("## Trade-off by bias\n\n" + _markdown(*_trade_off(tuning)))
    if tuning.fold_points:
        keys = ("bias", "relative", "switch_cost", "empty_threshold")
        folds = [
            [str(index), *(_plain(getattr(point, key)) for key in keys)]
            for index, point in enumerate(tuning.fold_points, start=1)
        ]
        parts.append("## Points without each fold\n\n" + _markdown(["fold", *keys], folds))
    return "\n\n".join(parts) + "\n"


def write(tuning: Tuning, directory: Path, sources: Sequence[Mapping[str, Any]] = ()) -> list[Path]:
    """Write tuning.json, tuning.md and, with matplotlib, tuning.png; returns the paths."""
    directory.mkdir(parents=True, exist_ok=True)
    as_json = json.dumps(to_dict(tuning, sources), indent=1, allow_nan=False) + "\n"
    texts = {"tuning.json": as_json, "tuning.md": to_markdown(tuning, sources)}
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    paths = [directory / name for name in texts]
    picture = directory / "tuning.png"
    return [*paths, picture] if plot(tuning, picture) else paths


def plot(tuning: Tuning, path: str | Path) -> bool:
    """Draw recall and F1 against compression, or tokens kept where those are the target or there are no labels.

    False where matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    from matplotlib.ticker import PercentFormatter

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot(xlabel="lines dropped, mean over records", ylabel="mean over records")
    shown = (("recall", "recall of gold lines"), ("f1", "F1 of lines"))
    if tuning.negatives is None or tuning.target.kind == "tokens":
        shown = (("tokens", "tokens kept of an observation"),)
    points = _thinned(tuning)
    for name, label in shown:
        (line,) = axes.plot([v["compression"] for _, v in points], [v[name] for _, v in points], label=label)
        axes.plot(tuning.promised["compression"], tuning.promised[name], "o", color=line.get_color())
        if tuning.held_out is not None:
            x, y = tuning.held_out["compression"], tuning.held_out[name]
            bars: dict[str, Any] = {
                "xerr": [[x.value - x.low], [x.high - x.value]],
                "yerr": [[y.value - y.low], [y.high - y.value]],
            }
            axes.errorbar(x.value, y.value, fmt="x", color=line.get_color(), capsize=3, **bars)
    if tuning.target.kind == "compression":
        axes.axvline(tuning.target.value, color="grey", linestyle=":", label="target")
    elif tuning.target.kind in dict(shown) and tuning.target.kind != "f1":
        axes.axhline(tuning.target.value, color="grey", linestyle=":", label="target")
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    axes.set_title(f"{tuning.target}: dot promised, cross held out with 95 % intervals", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=150, metadata={"Software": None})
    return True


def _names(tuning: Tuning) -> tuple[str, ...]:
    return _UNLABELLED if tuning.negatives is None else tuple(name for name, _ in _ROWS)


def _summary(tuning: Tuning, sources: Sequence[Mapping[str, Any]]) -> str:
    names = ", ".join(str(source["name"]) for source in sources)
    kind = "without labels" if tuning.negatives is None else f"({tuning.negatives} negatives)"
    folds = f", {len(tuning.fold_points)} folds by observation" if tuning.fold_points else ""
    point = tuning.point
    return (
        f"{names + ': ' if names else ''}{tuning.records} records {kind} on {tuning.observations} observations{folds}\n"
        f"operating point for {tuning.target}: bias {_plain(point.bias)}"
        f"{' from the best line' if point.relative else ''},"
        f" switch cost {_plain(point.switch_cost)}, empty threshold {_plain(point.empty_threshold)}"
    )


def _trade_off(tuning: Tuning) -> tuple[list[str], list[list[str]]]:
    """Head and rows: the curve's points nearest to a few compressions, and that of the operating point."""
    names = [name for name in _names(tuning) if name in tuning.curve.values]
    compression = tuning.curve.values["compression"]
    own = int(np.argmin(np.abs(tuning.curve.choices - tuning.point.bias)))
    picked = {own, *(int(np.argmin(np.abs(compression - level))) for level in _LEVELS)}
    head = ["bias", *(dict(_ROWS)[name] for name in names)]
    rows = [
        [
            ("* " if index == own else "") + _plain(float(tuning.curve.choices[index])),
            *(_cell(float(tuning.curve.values[name][index]), name) for name in names),
        ]
        for index in sorted(picked)
    ]
    return head, rows


def _thinned(tuning: Tuning) -> list[tuple[float, dict[str, float]]]:
    """At most `_CURVE_POINTS` of the curve, evenly over its compressions, both ends among them."""
    compression = tuning.curve.values["compression"]
    levels = np.linspace(compression[0], compression[-1], _CURVE_POINTS)
    picked = np.unique(np.searchsorted(-compression, -levels).clip(0, len(compression) - 1))
    return [
        (float(tuning.curve.choices[i]), {name: float(values[i]) for name, values in tuning.curve.values.items()})
        for i in picked
    ]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _interval(estimate: Estimate) -> dict[str, float | int | None]:
    return {
        "value": _number(estimate.value),
        "low": _number(estimate.low),
        "high": _number(estimate.high),
        "records": estimate.records,
    }


def _plain(value: float | bool) -> str:
    return str(value) if isinstance(value, bool) else f"{value:.4g}"


def _cell(value: float, name: str) -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:.0f}" if name == "tokens" else f"{value:.3f}"


def _estimate(estimate: Estimate, name: str) -> str:
    value = _cell(estimate.value, name)
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return value
    return f"{value} [{_cell(estimate.low, name)}, {_cell(estimate.high, name)}]"


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
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))
