"""Plots of a report, by matplotlib (extra `eval`); None where it is not installed or there is nothing to draw."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linecls.evaluation import Report, SystemReport
    from linecls.metrics import Estimate

# Okabe and Ito 2008: told apart by colour-blind readers too.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
_STYLES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
_ZOOM = 0.8  # share of lines dropped at which the second panel begins
_GROUPS = {
    "level": "level",
    "lines": "lines of the observation",
    "position": "gold lines in the",
    "tool_type": "tool type",
}
_LABEL_GAP = 0.032  # least distance of two labels of published figures, in recall


def recall_figure(report: Report) -> Any:
    """Recall of gold lines when the same share of every observation is dropped, whole and from 80 % on.

    A line for each system that gives scores; a marker, with its intervals, where its own answer stands; a hollow
    square for a published pair of figures.
    """
    figure, panels = _panels(2)
    if figure is None:
        return None
    looks = _looks(report)
    for name, system in report.systems.items():
        for axes in panels:
            if system.curve:
                axes.plot(*zip(*system.curve, strict=True), **looks[name].line)
            _own_answer(axes, system, looks[name])
    _published(panels[1], report)
    panels[0].axvspan(_ZOOM, 1, color="0.93", zorder=0)
    _percent(panels[0], "lines dropped of every observation", 0, 0.2)
    _percent(panels[1], f"the same, from {100 * _ZOOM:.0f} % on", _ZOOM, 0.05)
    panels[0].set_ylabel("recall of gold lines")
    title = "Lines: scores ranked. Markers: the answer that the system gives by itself, with 95 % intervals."
    return _finished(figure, looks, title + (" Squares: published, other test set." if report.published else ""))


def bias_figure(report: Report) -> Any:
    """Recall of gold lines against the mean share of lines dropped, for every bias; None without scores.

    Between two biases the line is straight: what a coin toss between them gives.
    """
    curves = [
        (name, kind, curve) for name, s in report.systems.items() for kind, curve in s.bias_curves.items() if curve
    ]
    figure, panels = _panels(2) if curves else (None, [])
    if figure is None:
        return None
    looks = _looks(report)
    for name, kind, curve in curves:
        axes = panels[kind == "relative"]
        axes.plot([1.0, *(point[1] for point in curve)], [0.0, *(point[2] for point in curve)], **looks[name].line)
        _own_answer(axes, report[name], looks[name])
    for axes in panels:
        _percent(axes, "lines dropped, mean over records", 0, 0.2)
    panels[0].set_ylabel("recall of gold lines")
    panels[0].set_title("bias on the score", fontsize=9)
    panels[1].set_title("bias on the distance from the observation's best score", fontsize=9)
    return _finished(figure, {name: looks[name] for name, _, _ in curves}, "One bias for all observations")


def speed_figure(report: Report) -> Any:
    """F1 of lines against the median latency of one observation, on a logarithmic axis."""
    placed = {
        name: (s.timing.median, s.overall["squeez.span_f1"])
        for name, s in report.systems.items()
        if s.timing.median > 0 and not math.isnan(s.overall["squeez.span_f1"].value)
    }
    figure, panels = _panels(1) if placed else (None, [])
    if figure is None:
        return None
    axes, looks = panels[0], _looks(report)
    middle = math.sqrt(min(t for t, _ in placed.values()) * max(t for t, _ in placed.values()))
    for name, (latency, f1) in placed.items():
        _errorbar(axes, latency, f1.value, looks[name], y=f1)
        side: dict[str, Any] = (
            {"xytext": (7, 3), "ha": "left"} if latency <= middle else {"xytext": (-7, 3), "ha": "right"}
        )
        axes.annotate(name, (latency, f1.value), **side, textcoords="offset points", fontsize=8)
    axes.set(xscale="log", xlabel="median latency of one observation (logarithmic)", ylabel="F1 of lines")
    axes.xaxis.set_major_formatter(_duration)
    axes.set_ylim(0, max(0.1, min(1.02, 1.25 * max(f1.value for _, f1 in placed.values()))))
    axes.margins(x=0.2)
    return _finished(figure, {}, "Quality against time, with 95 % intervals")


def groups_figure(report: Report) -> Any:
    """F1 of lines by level, length, position of the gold lines and tool type; None where nothing has two groups."""
    groups = {key: next(iter(report.systems.values())).groups.get(key, {}) for key in _GROUPS}
    shown = {key: [v for v in values if v != "none"] for key, values in groups.items() if len(values) > 1}
    looks, systems = _looks(report), report.systems
    rows = max([len(shown.get("tool_type", ())), sum(len(v) + 3 for key, v in shown.items() if key != "tool_type")])
    figure = _figure(10.4, 1.4 + max(0.24, 0.06 * len(systems)) * rows) if shown else None
    if figure is None:
        return None
    tops = [
        max(e.value, e.value if math.isnan(e.high) else e.high)
        for s in systems.values()
        for key, values in shown.items()
        for e in (s.groups[key][value]["squeez.span_f1"] for value in values)
    ]
    limit = min(1.0, math.ceil(10 * max(tops) + 0.2) / 10)
    tools = shown.pop("tool_type", None)
    # A row of the left column is as high as its values need; what the tool types need more stays free below.
    heights = [len(values) + 2.0 for values in shown.values()]
    heights.append(max(0.01, len(tools or ()) - sum(heights)))
    widths = (1, 1.2) if tools and shown else (1, 0.001) if shown else (0.001, 1)
    grid = figure.add_gridspec(len(heights), 2, width_ratios=widths, height_ratios=heights)
    for row, (key, values) in enumerate(shown.items()):
        _dots(figure.add_subplot(grid[row, 0]), systems, key, values, looks)
    if tools:
        _dots(figure.add_subplot(grid[:, 1]), systems, "tool_type", tools, looks)
    for axes in figure.axes:
        axes.set_xlabel("F1 of lines", fontsize=8)
        axes.set_xlim(0, limit)
    return _finished(figure, looks, "F1 of lines by group, with 95 % intervals; number of records in brackets")


def calibration_figure(report: Report) -> Any:
    """What came true against what was stated, per bin; None where no system states probabilities."""
    kinds = {"answerable": "that the observation answers the query", "lines": "that a line is gold"}
    found = {
        kind: {name: s.calibration[kind] for name, s in report.systems.items() if kind in s.calibration}
        for kind in kinds
    }
    found = {kind: systems for kind, systems in found.items() if systems}
    figure, panels = _panels(len(found)) if found else (None, [])
    if figure is None:
        return None
    looks = _looks(report)
    for axes, (kind, systems) in zip(panels, found.items(), strict=True):
        axes.plot([0, 1], [0, 1], ":", color="grey")
        for name, calibration in systems.items():
            points = [b.stated for b in calibration.bins], [b.observed for b in calibration.bins]
            axes.plot(*points, **looks[name].line | {"marker": "o", "markersize": 4})
            axes.lines[-1].set_label(f"{name}: ECE {calibration.ece:.3f}")
        axes.set_title(f"probability {kinds[kind]}", fontsize=9)
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="stated", ylabel="share that came true")
        axes.legend(handles=axes.lines[1:], fontsize=8)
    return _finished(figure, {}, "On the dotted line, what is stated comes true")


FIGURES = {
    "recall": recall_figure,
    "speed": speed_figure,
    "bias": bias_figure,
    "groups": groups_figure,
    "calibration": calibration_figure,
}


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


class _Look:
    """How a system is drawn: the same in every plot."""

    def __init__(self, name: str, place: int) -> None:
        self.color = _COLORS[place % len(_COLORS)]
        self.marker = _MARKERS[place % len(_MARKERS)]
        style = _STYLES[place // len(_COLORS) % len(_STYLES)]
        self.line: dict[str, Any] = {"color": self.color, "linestyle": style, "linewidth": 1.5 if place else 2.4}
        self.name = name


def _looks(report: Report) -> dict[str, _Look]:
    return {name: _Look(name, place) for place, name in enumerate(report.systems)}


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure(figsize=(width, height), layout="constrained")


def _panels(count: int) -> tuple[Any, list[Any]]:
    """A figure and its axes side by side; (None, []) without matplotlib."""
    figure = _figure(5.2 * count if count > 1 else 7, 4.6)
    if figure is None:
        return None, []
    return figure, [figure.add_subplot(1, count, place + 1) for place in range(count)]


def _percent(axes: Any, label: str, start: float, step: float) -> None:
    from matplotlib.ticker import MultipleLocator, PercentFormatter

    axes.xaxis.set_major_locator(MultipleLocator(step))
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    axes.set(xlabel=label, xlim=(start, 1), ylim=(0, 1.02))


def _duration(seconds: float, _: Any = None) -> str:
    """A tick of a logarithmic axis of seconds."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.999 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds * 1e6:g} µs"


def _own_answer(axes: Any, system: SystemReport, look: _Look) -> None:
    own = system.groups["answer"].get("gold")
    if own is not None:
        x, y = own["squeez.compression_corrected"], own["pruning.line_recall"]
        _errorbar(axes, x.value, y.value, look, x=x, y=y)


def _errorbar(
    axes: Any, at: float, value: float, look: _Look, *, x: Estimate | None = None, y: Estimate | None = None
) -> None:
    axes.errorbar(
        at,
        value,
        xerr=_reach(x),
        yerr=_reach(y),
        fmt=look.marker,
        color=look.color,
        markersize=6,
        markeredgecolor="white",
        markeredgewidth=0.6,
        elinewidth=1,
        zorder=3,
    )


def _reach(estimate: Estimate | None) -> list[list[float]] | None:
    """How far an interval reaches below and above its value; None without one."""
    if estimate is None or math.isnan(estimate.low):
        return None
    return [[max(0.0, estimate.value - estimate.low)], [max(0.0, estimate.high - estimate.value)]]


def _published(axes: Any, report: Report) -> None:
    """Hollow squares with their names beside them, moved up where they would meet."""
    rows = [(row.recall, row.compression, row.system.partition(" (")[0]) for row in report.published]
    placed = sorted((y, x, name) for y, x, name in rows if y is not None and x is not None and x >= _ZOOM)
    last = {"left": -math.inf, "right": -math.inf}
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.4}
    for y, x, name in placed:
        side = "left" if x < (1 + _ZOOM) / 2 else "right"
        last[side] = height = max(y, last[side] + _LABEL_GAP)
        axes.plot(x, y, "s", color="0.35", fillstyle="none", markersize=6, zorder=4)
        at = x + 0.004 if side == "left" else x - 0.004
        axes.text(at, height, name, fontsize=7, color="0.25", ha=side, va="center", bbox=box, zorder=4)


def _dots(
    axes: Any, systems: Mapping[str, SystemReport], key: str, values: Sequence[str], looks: Mapping[str, _Look]
) -> None:
    """F1 of every system for each value of a group, from the top down."""
    spread = 0.6 / max(len(systems), 1)
    for place, (name, system) in enumerate(systems.items()):
        estimates = [system.groups[key][value]["squeez.span_f1"] for value in values]
        for row, estimate in enumerate(estimates):
            height = row + spread * (place - (len(systems) - 1) / 2)
            axes.errorbar(
                estimate.value,
                height,
                xerr=_reach(estimate),
                fmt=looks[name].marker,
                color=looks[name].color,
                markersize=4,
                elinewidth=0.7,
            )
    sizes = [next(iter(systems.values())).groups[key][value]["squeez.span_f1"].records for value in values]
    labels = [f"{value} ({size})" for value, size in zip(values, sizes, strict=True)]
    axes.set_yticks(range(len(values)), labels, fontsize=8)
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.set_title(f"by {_GROUPS[key]}" if key != "position" else "gold lines in the", fontsize=9)


def _finished(figure: Any, looks: Mapping[str, _Look], title: str) -> Any:
    """Grids, one legend for all panels below them, and what is drawn as the title."""
    from matplotlib.lines import Line2D

    figure.suptitle(title, fontsize=9)
    for axes in figure.axes:
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    if looks:
        handles = [Line2D([], [], **look.line, marker=look.marker, label=look.name) for look in looks.values()]
        figure.legend(
            handles=handles, loc="outside lower center", ncols=min(len(handles), 6), fontsize=8, frameon=False
        )
    return figure
