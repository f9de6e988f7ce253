"""Rust: rustc and cargo, panics, failed tests."""

from __future__ import annotations

import re

from linecls.failures.rules import Lines, Rule, deeper, following, matching, not_blank

_NOTE = matching(r"note: run with|note: Some details|stack backtrace:|thread '")


def _panic(lines: Lines, hit: int) -> tuple[int, int]:
    """The message below the location, up to the note, a blank line or 12 lines; then the backtrace."""
    stop = following(lambda t, h, i: not_blank(t, h, i) and not _NOTE(t, h, i), 12)(lines, hit)[1]
    while stop < len(lines) and re.match(r"stack backtrace:|note: |\s+\d{1,6}: |\s+at ", lines.body(stop)):
        stop += 1
    return hit, stop


RULES = (
    Rule(("panicked at",), re.compile(r"\bpanicked at\b"), _panic),
    Rule(("... failed",), re.compile(r"^test .{1,300} \.\.\. FAILED")),
    Rule(("failures:",), re.compile(r"^failures:$"), following(deeper, 400)),
    Rule(("stdout ----",), re.compile(r"^---- .{1,300} stdout ----$")),
    Rule(("test result: failed",), re.compile(r"^test result: FAILED")),
)
