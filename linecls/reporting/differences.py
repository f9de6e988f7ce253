"""Where two systems differ, side by side: what each keeps of an observation, beside the gold lines."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linecls.observation import scoring_text, split_lines
from linecls.reporting.page import page
from linecls.spans import from_mask, to_mask

if TYPE_CHECKING:
    from linecls.evaluation import Report
    from linecls.records import Record

_CONTEXT = 2  # lines shown around every line that is gold or kept
_WIDTH = 240  # characters shown of a line
_INVENTED = 8  # invented lines shown of an answer
_STYLE = """
pre { margin: 0; font: 12px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.lines { display: grid; grid-template-columns: 4rem 1.6rem 1fr 1fr; border: 1px solid var(--rule);
margin: .5rem 0 1.5rem; }
.lines > * { padding: 0 .4rem; min-width: 0; } .head { font-weight: 600; background: var(--head); }
.number { text-align: right; color: #888; } .gold { color: #b07d00; } .gap { grid-column: 1 / -1; color: #888;
background: var(--head); } .out { color: #9a9a9a; } .right { background: #d9f2dd; } .wrong { background: #fbe0dc; }
.missed { background: #fff3cd; color: #6b6b6b; }
summary { cursor: pointer; } .better { font-weight: 600; }
@media (prefers-color-scheme: dark) { .right { background: #1d4426; }
.wrong { background: #57261f; } .missed { background: #4a3f16; color: #cfcfcf; } }
"""
_LEGEND = (
    '<p class="note">★ gold line. <span class="right">kept, and gold</span> '
    '<span class="wrong">kept, not gold</span> <span class="missed">gold, not kept</span> '
    '<span class="out">rightly dropped</span></p>'
)


def render(report: Report, examples: int) -> str:
    """A page with up to `examples` records for each system but the first, which it is compared with.

    Records on which one of the two has the higher F1, the largest gaps first, in turn of either sign.
    """
    names = list(report.systems)
    parts = ["<h1>Where systems differ</h1>", _LEGEND]
    for other in names[1:]:
        chosen = choose(report, names[0], other, examples)
        parts.append(f"<h2>{escape(names[0])} and {escape(other)}</h2>")
        if not chosen:
            parts.append('<p class="note">Their F1 is the same on every record.</p>')
        parts += [_record(report, index, names[0], other) for index in chosen]
    return page("Where systems differ", "\n".join(parts), _STYLE)


def choose(report: Report, a: str, b: str, count: int) -> list[int]:
    """Indices of up to `count` records on which the systems' F1 differs most, wins of `a` and `b` in turn."""
    gaps = [
        left["squeez.span_f1"] - right["squeez.span_f1"]
        for left, right in zip(report[a].rows, report[b].rows, strict=True)
    ]
    wins = sorted((i for i, gap in enumerate(gaps) if gap > 0), key=lambda i: (-gaps[i], i))
    losses = sorted((i for i, gap in enumerate(gaps) if gap < 0), key=lambda i: (gaps[i], i))
    turns = [index for pair in zip(wins, losses, strict=False) for index in pair]
    return (turns + wins[len(losses) :] + losses[len(wins) :])[:count]


def _record(report: Report, index: int, a: str, b: str) -> str:
    record = report.records[index]
    lines = split_lines(record.tool_output)
    gold = to_mask(record.gold_spans, len(lines))
    kept = [to_mask(report[name].predictions[index][1], len(lines)) for name in (a, b)]
    f1 = [report[name].rows[index]["squeez.span_f1"] for name in (a, b)]
    rows = "".join(
        f'<div class="head{" better" if own == max(f1) else ""}">{escape(name)}: F1 {own:.3f}, {int(mask.sum())} of '
        f"{len(lines)} lines</div>"
        for name, own, mask in zip((a, b), f1, kept, strict=True)
    )
    body = _lines(lines, gold, kept) + _invented([report[name].invented[index] for name in (a, b)])
    return (
        f"<details open><summary>{escape(_title(record))}</summary>"
        f'<div class="lines"><div class="head number">line</div><div class="head"></div>{rows}{body}</div></details>'
    )


def _title(record: Record) -> str:
    return f"{record.query} ({record.tool_type or 'output'}, {record.instance_id})"


def _lines(lines: list[str], gold: NDArray[np.bool_], kept: list[NDArray[np.bool_]]) -> str:
    """The lines that are gold or kept by either, with some around them; runs of others as their number."""
    shown = np.zeros(len(lines), dtype=bool)
    for start, end in from_mask(gold | kept[0] | kept[1]):
        shown[max(0, start - 1 - _CONTEXT) : end + _CONTEXT] = True
    parts: list[str] = []
    skipped = 0
    for number, (line, is_shown) in enumerate(zip(lines, shown, strict=True), 1):
        if not is_shown:
            skipped += 1
            continue
        parts.append(_gap(skipped))
        skipped = 0
        is_gold = bool(gold[number - 1])
        star = '<div class="gold">★</div>' if is_gold else "<div></div>"
        text = scoring_text(line)
        text = escape(text if len(text) <= _WIDTH else text[:_WIDTH] + "…")
        cells = "".join(f'<pre class="{_color(bool(mask[number - 1]), is_gold)}">{text or " "}</pre>' for mask in kept)
        parts.append(f'<div class="number">{number}</div>{star}{cells}')
    parts.append(_gap(skipped))
    return "".join(parts)


def _invented(answers: list[tuple[str, ...]]) -> str:
    """What either system wrote that stands nowhere in the observation."""
    if not any(answers):
        return ""
    cells = ""
    for lines in answers:
        shown = [line if len(line) <= _WIDTH else line[:_WIDTH] + "…" for line in lines[:_INVENTED]]
        more = len(lines) - len(shown)
        shown += [f"… and {more} more"] if more else []
        cells += f'<pre class="{"wrong" if lines else "out"}">{escape(chr(10).join(shown)) or " "}</pre>'
    return f'<div class="gap">Written, but nowhere in the output:</div><div></div><div></div>{cells}'


def _gap(skipped: int) -> str:
    return f'<div class="gap">⋯ {skipped} line{"s" if skipped > 1 else ""}</div>' if skipped else ""


def _color(is_kept: bool, is_gold: bool) -> str:
    if is_kept:
        return "right" if is_gold else "wrong"
    return "missed" if is_gold else "out"
