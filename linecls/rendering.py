"""Kept lines as a reader or a program wants them; bytes in, bytes out."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from linecls.observation import Observation
from linecls.spans import Span, count_lines

_MIN_WIDTH = 4


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


def as_dict(observation: Observation, spans: Sequence[Span], answerable: float | None) -> dict[str, Any]:
    """The answer as plain values for JSON.

    Keys: `spans` (start_line, end_line; 1-based, inclusive), `kept_lines`, `total_lines`, `answerable`
    (probability; null when no model ran) and `text`. JSON cannot hold bytes that are no UTF-8: `text` then
    carries U+FFFD in their place, and `text_base64` stands beside it with the exact bytes.
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
    return values
