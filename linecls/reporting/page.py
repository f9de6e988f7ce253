"""A report as one HTML page that needs nothing else: style and plots stand in it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from linecls.reporting.blocks import Block, Items, Section, Table, Terms
from linecls.reporting.plots import FIGURES, svg
from linecls.reporting.sections import failure_lines, interval_note, sections, summary_line

if TYPE_CHECKING:
    from linecls.evaluation import Report

STYLE = """
:root { --ink: #1d2127; --soft: #5b6470; --rule: #dfe3e8; --head: #f4f6f8; --paper: #fff; --link: #0b62c4; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6e9; --soft: #a3abb5; --rule: #363c44; --head: #23282e; --paper: #16191d; --link: #7db4ff; }
}
body { font: 15px/1.55 system-ui, sans-serif; margin: 2rem auto 4rem; max-width: 78rem; padding: 0 1.2rem;
  color: var(--ink); background: var(--paper); }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.6rem; padding-bottom: .2rem;
  border-bottom: 1px solid var(--rule); }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
nav { display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: 1.2rem 0; font-size: 14px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; margin: .8rem 0; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .28rem .7rem; text-align: right; border-bottom: 1px solid var(--rule); }
thead th { background: var(--head); font-weight: 600; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; }
td:first-child { background: var(--paper); font-weight: 600; }
tbody tr:hover td { background: var(--head); }
.note { color: var(--soft); max-width: 60rem; } .failed { color: #b3261e; font-weight: 600; }
svg { display: block; max-width: 62rem; width: 100%; height: auto; background: #fff; margin: 1rem 0; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; font-size: 13px; } dd { margin: 0; }
dt { font-weight: 600; }
"""


def render(report: Report) -> str:
    """The page."""
    parts = [f"<h1>Evaluation</h1><p>{escape(summary_line(report))}</p>"]
    parts += [f'<p class="failed">{escape(line)}</p>' for line in failure_lines(report)]
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
    parts += [_block(block) for block in section.blocks]
    if section.plot is not None:
        parts.append(svg(FIGURES[section.plot](report)))
    return "\n".join(parts)


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Terms):
        items = "".join(f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>" for term, meaning in block.items)
        return f"<details><summary>What the columns mean</summary><dl>{items}</dl></details>"
    if isinstance(block, Items):
        return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in block.lines)}</ul>"
    return f'<p class="note">{escape(block)}</p>'


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    caption = "" if table.caption is None else escape(table.caption)
    told = f"<caption>{caption}</caption>" if caption and not table.is_detail else ""
    text = f'<div class="wide"><table>{told}<thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>'
    return f"<details><summary>{caption}</summary>{text}</details>" if table.is_detail else text
