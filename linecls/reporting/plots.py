"""Plots of a report, by matplotlib (extra `eval`); None where it is not installed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linecls.evaluation import Report


def recall_figure(report: Report) -> Any:
    """Recall of gold lines when the same share of every observation is dropped.

    A line for each system that gives scores, a dot where its own answer stands, a hollow square for a
    published pair of figures.
    """
    axes = _axes("share of lines dropped", "recall of gold lines")
    if axes is None:
        return None
    for name, system in report.systems.items():
        (line,) = axes.plot(*zip(*system.curve, strict=True), label=name) if system.curve else (None,)
        _own_answer(axes, system, line, name)
    for row in report.published:
        if row.recall is not None and row.compression is not None:
            axes.plot(row.compression, row.recall, "s", color="grey", fillstyle="none")
            where, offset = (row.compression, row.recall), {"xytext": (-6, 0), "textcoords": "offset points"}
            label = row.system.partition(" (")[0]
            axes.annotate(label, where, **offset, fontsize=6, color="grey", ha="right", va="center")
    note = "; squares: published, on another test set" if report.published else ""
    axes.set(xlim=(0, 1), ylim=(0, 1.02))
    axes.set_title(f"Dots: the answer that the system gives by itself{note}", fontsize=9)
    return _finished(axes)


def bias_figure(report: Report) -> Any:
    """Recall of gold lines against the mean share of lines dropped, for every bias; None without scores."""
    curves = [
        (name, kind, curve) for name, s in report.systems.items() for kind, curve in s.bias_curves.items() if curve
    ]
    axes = _axes("mean share of lines dropped", "recall of gold lines") if curves else None
    if axes is None:
        return None
    colors: dict[str, Any] = {}
    for name, kind, curve in curves:
        style = {"linestyle": "-" if kind == "absolute" else "--", "drawstyle": "steps-post"}
        points = [point[1] for point in curve], [point[2] for point in curve]
        (line,) = axes.plot(*points, **style, label=name if name not in colors else None, color=colors.get(name))
        colors[name] = line.get_color()
        if kind == "absolute":
            _own_answer(axes, report[name], line, name)
    axes.set(xlim=(0, 1), ylim=(0, 1.02))
    axes.set_title("One bias for all observations; dashed: bias below the best line", fontsize=9)
    return _finished(axes)


def calibration_figure(report: Report) -> Any:
    """What came true against what was stated, per bin; None where no system states probabilities."""
    found = [(name, kind, c) for name, s in report.systems.items() for kind, c in s.calibration.items()]
    axes = _axes("stated probability", "share that came true") if found else None
    if axes is None:
        return None
    axes.plot([0, 1], [0, 1], ":", color="grey")
    for name, kind, calibration in found:
        points = [b.stated for b in calibration.bins], [b.observed for b in calibration.bins]
        axes.plot(*points, "o-", markersize=4, label=f"{name}, {kind}: ECE {calibration.ece:.3f}")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    return _finished(axes)


FIGURES = {"recall": recall_figure, "bias": bias_figure, "calibration": calibration_figure}


def save(figure: Any, path: Path) -> bool:
    """Write a figure as PNG; False where there is none."""
    if figure is None:
        return False
    figure.savefig(path, dpi=150, metadata={"Software": None})
    return True


def svg(figure: Any) -> str:
    """A figure as an SVG element for a page, the same for the same figure; empty where there is none."""
    if figure is None:
        return ""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "linecls", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :].strip()


def _axes(x: str, y: str) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure(figsize=(7, 4.5), layout="constrained").add_subplot(xlabel=x, ylabel=y)


def _own_answer(axes: Any, system: Any, line: Any, name: str) -> None:
    own = system.groups["answer"].get("gold")
    if own is not None:
        where = own["squeez.compression_corrected"].value, own["pruning.line_recall"].value
        axes.plot(*where, "o", color=line.get_color() if line else None, label=None if line else name)


def _finished(axes: Any) -> Any:
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)
    return axes.figure
