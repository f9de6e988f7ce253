"""How far a batch was compressed: the distribution over its rows, as JSON, as a plot, or as one HTML page."""

from __future__ import annotations

import html
import io
import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from linecls.errors import LineclsError, missing_extra

SUFFIXES = (".json", ".html", ".png")
_STEPS = 10_000  # quantiles are exact to one of them
_BINS = 20
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MOST_ERRORS = 20
_UNITS = ("lines", "bytes")


def check_report(path: Path) -> None:
    """Before the work. Raises LineclsError for another suffix, a folder that is missing or cannot be written, or
    without matplotlib."""
    if path.suffix.lower() not in SUFFIXES:
        raise LineclsError(f"cannot tell the form of the report {path}; end it in {', '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise LineclsError(f"cannot write the report {path}: no such folder")
    if not os.access(path.parent, os.W_OK):
        raise LineclsError(f"cannot write the report {path}: the folder cannot be written")
    if path.suffix.lower() != ".json":
        _pyplot()


def report_files(path: Path) -> list[Path]:
    """The files that a report consists of: beside a PNG stands the JSON."""
    return [path.with_suffix(".json"), path] if path.suffix.lower() == ".png" else [path]


def summarise(spool: Path) -> dict[str, Any]:
    """Totals and distribution over the rows of a spool (JSONL); memory does not grow with their number.

    Compression of a row is 1 - kept / total, of lines and of bytes; rows that failed and empty observations
    have none. Quantiles are exact to 0.0001.
    """
    totals: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    counts = {unit: np.zeros(_STEPS + 1, np.int64) for unit in _UNITS}
    sums = dict.fromkeys(counts, 0.0)
    with spool.open("rb") as file:
        for line in file:
            row = json.loads(line)
            totals["rows"] += 1
            if row["error"] is not None:
                totals["failed"] += 1
                errors[_kind(row["error"])] += 1
                continue
            totals["without_kept_lines"] += not row["spans"]
            for unit, count in counts.items():
                kept, total = row[f"kept_{unit}"], row[f"total_{unit}"]
                totals[f"kept_{unit}"] += kept
                totals[f"total_{unit}"] += total
                if total:
                    share = 1 - kept / total
                    sums[unit] += share
                    count[round(share * _STEPS)] += 1
    names = ("rows", "failed", "without_kept_lines", "kept_lines", "total_lines", "kept_bytes", "total_bytes")
    summary: dict[str, Any] = {name: totals[name] for name in names}
    for unit, count in counts.items():
        summary[f"compression_{unit}"] = _distribution(
            count, sums[unit], totals[f"kept_{unit}"], totals[f"total_{unit}"]
        )
    summary["errors"] = dict(errors.most_common(_MOST_ERRORS))
    return summary


def _distribution(counts: np.ndarray, total: float, kept: int, of: int) -> dict[str, Any]:
    rows = int(counts.sum())
    if not rows:
        return {"rows": 0, "overall": None, "mean": None, "quantiles": {}, "histogram": [0] * _BINS}
    running = np.cumsum(counts)
    quantiles = {f"{q:g}": int(np.searchsorted(running, max(1, np.ceil(q * rows)))) / _STEPS for q in _QUANTILES}
    which = np.minimum(np.arange(_STEPS + 1) * _BINS // _STEPS, _BINS - 1)
    histogram = np.bincount(which, weights=counts, minlength=_BINS).astype(int).tolist()
    return {
        "rows": rows,
        "overall": 1 - kept / of,
        "mean": total / rows,
        "quantiles": quantiles,
        "histogram": histogram,
    }


def _kind(error: str) -> str:
    """Errors that differ in what they quote are of one kind."""
    return re.split(r"[;(]", error, maxsplit=1)[0].strip()


def write_report(path: Path, summary: dict[str, Any]) -> list[Path]:
    """Write the report and return what was written; beside a PNG stands the JSON. Raises LineclsError."""
    data = json.dumps(summary, indent=2) + "\n"
    kind = path.suffix.lower()
    if kind == ".json":
        contents = [data.encode()]
    elif kind == ".png":
        contents = [data.encode(), _plot(summary, "png")]
    else:
        contents = [_page(summary, data)]
    parts = dict(zip(report_files(path), contents, strict=True))
    try:
        for target, content in parts.items():
            made = target.with_name(target.name + ".tmp")
            made.write_bytes(content)
            os.replace(made, target)
    except OSError as error:
        raise LineclsError(f"cannot write the report {path}: {error.strerror or error}") from error
    return list(parts)


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise missing_extra("matplotlib", "eval") from error
    matplotlib.use("Agg")
    # The same report gives the same bytes.
    matplotlib.rcParams["svg.hashsalt"] = "linecls"
    from matplotlib import pyplot

    return pyplot


def _plot(summary: dict[str, Any], form: str) -> bytes:
    pyplot = _pyplot()
    figure, axes = pyplot.subplots(1, len(_UNITS), figsize=(9, 3.2), sharey=True, layout="constrained")
    edges = np.linspace(0, 1, _BINS + 1)
    for axis, unit in zip(axes, _UNITS, strict=True):
        values = summary[f"compression_{unit}"]
        axis.stairs(values["histogram"], edges, fill=True, color="#4878a8")
        axis.set_xlabel(f"compression in {unit} (1 - kept / total)")
        axis.set_xlim(0, 1)
        if values["rows"]:
            middle = values["quantiles"]["0.5"]
            axis.axvline(middle, color="#202020", linestyle="--", linewidth=1, label=f"median {middle:.3f}")
            axis.legend(loc="upper left", frameon=False)
    axes[0].set_ylabel("rows")
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, dpi=120, metadata={"Date": None} if form == "svg" else None)
    pyplot.close(figure)
    return buffer.getvalue()


def _page(summary: dict[str, Any], data: str) -> bytes:
    """One HTML page with everything in it; nothing is loaded from elsewhere."""
    plot = _plot(summary, "svg").decode()
    plot = plot[plot.index("<svg") :]
    rows = [(name.replace("_", " "), f"{value:,}") for name, value in summary.items() if isinstance(value, int)]
    for unit in _UNITS:
        values = summary[f"compression_{unit}"]
        if values["rows"]:
            spread = ", ".join(f"{float(q):.0%}: {value:.3f}" for q, value in values["quantiles"].items())
            rows.append((f"compression in {unit}, overall", f"{values['overall']:.4f}"))
            rows.append((f"compression in {unit}, mean over rows", f"{values['mean']:.4f}"))
            rows.append((f"compression in {unit}, quantiles", spread))
    rows += [(f"error: {text}", f"{count:,}") for text, count in summary["errors"].items()]
    cells = "\n".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    embedded = data.replace("</", "<\\/")
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>linecls batch</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #202020 }}
th {{ text-align: left; font-weight: normal; padding-right: 2rem }}
td {{ font-variant-numeric: tabular-nums }}
svg {{ width: 100%; height: auto }}
</style>
<h1>linecls batch</h1>
<table>
{cells}
</table>
{plot}
<script type="application/json" id="report">
{embedded}</script>
</html>
""".encode()
