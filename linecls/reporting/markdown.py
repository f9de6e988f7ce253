"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from linecls.reporting.blocks import Block, Items, Table, Terms
from linecls.reporting.sections import failure_lines, interval_note, sections, summary_line

if TYPE_CHECKING:
    from linecls.evaluation import Report


def render(report: Report, pictures: Collection[str] = ()) -> str:
    """All sections; the metric families stand apart. pictures: the plots that stand beside the file as NAME.png."""
    parts = ["# Evaluation", summary_line(report), *failure_lines(report)]
    note = interval_note(report)
    if note is not None:
        parts.append(note)
    for section in sections(report):
        parts.append(f"## {section.title}")
        parts += [_block(block) for block in section.blocks]
        if section.plot in pictures:
            parts.append(f"![{section.title}]({section.plot}.png)")
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return f"**{block.caption}**\n\n{_table(block)}" if block.caption else _table(block)
    if isinstance(block, Terms):
        return "\n".join(f"- *{term}*: {meaning}" for term, meaning in block.items)
    if isinstance(block, Items):
        return "\n".join(f"- {line}" for line in block.lines)
    return block


def _table(table: Table) -> str:
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in (table.head, *table.rows)]
    rule = ["---", *("---:" for _ in table.head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in (cells[0], rule, *cells[1:]))
