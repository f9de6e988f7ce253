"""A report for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linecls.evaluation import PUBLISHED_NOTE
from linecls.reporting.cells import percent, plain, short
from linecls.reporting.sections import failure_lines, group_sizes, group_value, summary_line

if TYPE_CHECKING:
    from linecls.evaluation import Report

_COLUMNS = (
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
_WITH_INTERVAL = ("squeez.span_recall", "squeez.span_f1", "pruning.recall_at_90")


def render(report: Report) -> str:
    """Overall figures, some with half-intervals, what generative systems made up, and F1 per tool type."""
    head = ["system", *(heading for heading, _ in _COLUMNS), "ms/obs"]
    rows = [
        [
            name,
            *(short(s.overall[metric], metric in _WITH_INTERVAL) for _, metric in _COLUMNS),
            f"{1e3 * s.seconds_per_observation:.3g}",
        ]
        for name, s in report.systems.items()
    ]
    rows += [
        [
            row.system + " *",
            *map(plain, (row.precision, row.recall, row.f1, row.compression)),
            *map(plain, (row.recall_at_50, row.recall_at_70, row.recall_at_90)),
            *("–",) * 3,
        ]
        for row in report.published
    ]
    parts = [summary_line(report), *failure_lines(report), _align(head, rows)]
    if report.published:
        parts.append(f"* {PUBLISHED_NOTE}")
    for name, system in report.systems.items():
        w = system.written
        if w is not None:
            parts.append(
                f"{name} wrote {w.lines} lines, {percent(w.hallucinated)} of which stand nowhere in the observation; "
                f"{w.cut} answers cut by the token limit, {w.failed} observations too long for the model"
            )
    sizes = group_sizes(report, "tool_type")
    if len(sizes) > 1:
        names = list(report.systems)
        rows = [
            [value, str(size)]
            + [plain(group_value(report, name, "tool_type", value, "squeez.span_f1")) for name in names]
            for value, size in sizes.items()
        ]
        parts.append("F1 per tool type\n" + _align(["tool type", "records", *names], rows))
    return "\n\n".join(parts) + "\n"


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
