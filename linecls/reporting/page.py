"""A report as one HTML page that needs nothing else: style and plots stand in it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from linecls.reporting.plots import FIGURES, svg
from linecls.reporting.sections import Section, Table, interval_note, sections, summary_line

if TYPE_CHECKING:
    from linecls.evaluation import Report

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1a1a1a; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid #ddd; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; margin: .8rem 0; white-space: nowrap; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid #e5e5e5; }
th { background: #f5f5f5; } th:first-child, td:first-child { text-align: left; position: sticky; left: 0; }
td:first-child { background: #fff; font-weight: 600; }
.note { color: #555; max-width: 60rem; } svg { max-width: 46rem; width: 100%; height: auto; }
nav a { margin-right: 1rem; }
@media (prefers-color-scheme: dark) {
  body { background: #16181b; color: #e4e4e4; } td:first-child { background: #16181b; } th { background: #24282c; }
  th, td, h2 { border-color: #34393e; } .note { color: #a8adb3; } svg { background: #fff; } a { color: #7db4ff; }
}
"""


def render(report: Report) -> str:
    """The page."""
    parts = [f"<h1>Evaluation</h1><p>{escape(summary_line(report))}</p>"]
    note = interval_note(report)
    if note is not None:
        parts.append(f'<p class="note">{escape(note)}</p>')
    found = sections(report)
    links = "".join(f'<a href="#s{i}">{escape(section.title)}</a>' for i, section in enumerate(found))
    parts.append(f"<nav>{links}</nav>")
    parts += [_section(report, section, f"s{i}") for i, section in enumerate(found)]
    return page("Evaluation", "\n".join(parts))


def page(title: str, body: str, style: str = "") -> str:
    """A whole HTML document; `title` is text, `body` is HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _section(report: Report, section: Section, anchor: str) -> str:
    parts = [f'<h2 id="{anchor}">{escape(section.title)}</h2>']
    for block in section.blocks:
        if isinstance(block, Table):
            parts.append(_table(block))
        elif block.startswith("- "):
            items = "".join(f"<li>{escape(line.removeprefix('- '))}</li>" for line in block.split("\n"))
            parts.append(f"<ul>{items}</ul>")
        else:
            parts.append(f'<p class="note">{escape(block)}</p>')
    if section.plot is not None:
        parts.append(svg(FIGURES[section.plot](report)))
    return "\n".join(parts)


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>'
