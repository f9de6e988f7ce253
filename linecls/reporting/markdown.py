"""A report as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linecls.reporting.sections import Table, interval_note, sections, summary_line

if TYPE_CHECKING:
    from linecls.evaluation import Report


def render(report: Report) -> str:
    """All sections; the metric families stand apart."""
    parts = ["# Evaluation", summary_line(report)]
    note = interval_note(report)
    if note is not None:
        parts.append(note)
    for section in sections(report):
        parts.append(f"## {section.title}")
        parts += [_table(block) if isinstance(block, Table) else block for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in (table.head, *table.rows)]
    rule = ["---", *("---:" for _ in table.head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in (cells[0], rule, *cells[1:]))
