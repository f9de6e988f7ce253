"""Kept lines as a reader or a program wants them; bytes in, bytes out."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any

from linecls.observation import Observation
from linecls.spans import Span, count_lines

_MIN_WIDTH = 4
# How every marker begins, and what an observation may hold that looks like it, with any number of escapes.
MARKER_START = "[linecls: "
_IMITATION = re.compile(r"\[(\\*linecls:)", re.IGNORECASE)


def plain(observation: Observation, spans: Sequence[Span]) -> str | bytes:
    """The kept lines, byte for byte, in the type of the observation."""
    return observation.select(spans)


def numbered(observation: Observation, spans: Sequence[Span]) -> str | bytes:
    """The kept lines, each behind its line number: `  12│line`.

    The column is as wide as the observation's last line number and at least 4, so that it does not depend on
    what is kept. Only the prefix is added: the line itself, its end included, stays as it is.
    """
    width = max(_MIN_WIDTH, len(str(len(observation))))
    text = "".join(
        f"{number:>{width}}│{observation.lines[number - 1]}" for start, end in spans for number in range(start, end + 1)
    )
    return text.encode("utf-8", "surrogateescape") if observation.is_bytes else text


def marked(observation: Observation, spans: Sequence[Span], expand_id: str | None = None) -> str | bytes:
    """The kept lines with one marker line in the place of each dropped run.

    expand_id: id of the original in the store; without it a marker only says how many lines are gone:
    `[linecls: 52 lines omitted, linecls expand 3f9a2c1b:13-64]` or `[linecls: 52 lines omitted]`.

    A marker is never longer than the lines it stands for: a run that is shorter than its marker stays as it is.
    The text `[linecls:` (in any case of letters) of the observation itself is shown with a backslash behind the
    bracket, `[\\linecls:`, and one that is escaped already with one more: so what begins with `[linecls:` is a
    marker of ours, and the escape can be undone. Nothing else of a kept line changes.
    """
    parts: list[str] = []
    shown = 0  # lines done so far
    for start, end in [*spans, Span(len(observation) + 1, len(observation))]:
        if start > shown + 1:
            parts.append(_omission(observation, Span(shown + 1, start - 1), expand_id))
        parts.append(_escape("".join(observation.lines[start - 1 : end])))
        shown = end
    text = "".join(parts)
    return text.encode("utf-8", "surrogateescape") if observation.is_bytes else text


def _omission(observation: Observation, run: Span, expand_id: str | None) -> str:
    """The marker for a dropped run, or the run itself where that is shorter."""
    count = run.end_line - run.start_line + 1
    where = f", linecls expand {expand_id}:{run.start_line}-{run.end_line}" if expand_id else ""
    marker = f"{MARKER_START}{count} line{'s' if count > 1 else ''} omitted{where}]\n"
    lines = observation.lines[run.start_line - 1 : run.end_line]
    room = 0
    for line in lines:
        room += len(line)
        if room >= len(marker):
            return marker
    return _escape("".join(lines))


def _escape(text: str) -> str:
    return _IMITATION.sub(r"[\\\1", text) if "[" in text else text


def as_dict(
    observation: Observation, spans: Sequence[Span], answerable: float | None, unfit_tokens: int | None = None
) -> dict[str, Any]:
    """The answer as plain values for JSON.

    Keys: `spans` (start_line, end_line; 1-based, inclusive), `kept_lines`, `total_lines`, `answerable`
    (probability; null when no model ran) and `text`. JSON cannot hold bytes that are no UTF-8: `text` then
    carries U+FFFD in their place, and `text_base64` stands beside it with the exact bytes. `unfit_tokens` is there
    only where it says why nothing is kept: the tokens of the best line, which are over max_tokens.
    """
    kept = observation.select(spans)
    raw = kept if isinstance(kept, bytes) else kept.encode("utf-8", "surrogatepass")
    values: dict[str, Any] = {
        "spans": [{"start_line": start, "end_line": end} for start, end in spans],
        "kept_lines": count_lines(spans),
        "total_lines": len(observation),
        "answerable": answerable,
        "text": raw.decode("utf-8", "replace"),
    }
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        values["text_base64"] = base64.b64encode(raw).decode("ascii")
    if unfit_tokens is not None:
        values["unfit_tokens"] = unfit_tokens
    return values
