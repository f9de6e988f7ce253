"""Python: tracebacks, pytest and unittest."""

from __future__ import annotations

import re

from linecls.failures.rules import Lines, Rule, deeper, diagnostic, following, matching, not_blank

_NAME = r"(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception|Interrupt|Exit|Timeout|Group)"


def _traceback(lines: Lines, hit: int) -> tuple[int, int]:
    """From the head over the frames to the exception, and what is indented below it.

    The frames are indented more than the head; the exception stands at the head's own indentation. pytest puts a
    margin in front that head, frames and exception share; an exception group draws one.
    """
    body = lines.body(hit)
    if _GROUP(lines, hit, hit):
        return following(_IN_GROUP, 100_000)(lines, hit)
    margin = body.find("Traceback (")
    if not re.fullmatch(r"[\s|E]*", body[:margin]):
        return hit, hit + 1  # inside another line, as in JSON: there are no frames below
    stop = hit + 1
    while stop < len(lines) and _continues(lines, stop, margin):
        stop += 1
    if stop < len(lines) and lines.body(stop)[margin : margin + 1].strip():
        stop += 1  # the exception itself
        while stop < len(lines) and lines.body(stop)[margin:].strip() and lines.body(stop)[margin].isspace():
            stop += 1
    return hit, stop


_GROUP = matching(r"\s*[+|] Exception Group Traceback")
_IN_GROUP = matching(r"\s*[+|][ -]|\s*[+|]$")


def _continues(lines: Lines, index: int, margin: int) -> bool:
    """Whether a line is part of the frames: indented, or blank before another frame."""
    rest = lines.body(index)[margin:]
    if rest.strip():
        return rest[0].isspace()
    return index + 1 < len(lines) and lines.body(index + 1)[margin:].startswith('  File "')


def _uncaught(lines: Lines, hit: int) -> tuple[int, int]:
    """A syntax error that Python prints without a head: its location and caret stand above it."""
    start = hit
    while start > 0 and hit - start < 6 and lines.indent(start - 1) > lines.indent(hit):
        start -= 1
    return (start, hit + 1) if lines.body(start).lstrip().startswith("File ") else (hit, hit + 1)


def _failed_test(lines: Lines, hit: int) -> tuple[int, int]:
    """pytest's `E` lines with the failing statement above them, marked by `>`."""
    start = hit
    while start > 0 and hit - start < 12 and not lines.body(start).startswith(">"):
        start -= 1
    if not lines.body(start).startswith(">"):
        start = hit
    return start, following(matching(r"E(?:\s|$)"), 2000)(lines, hit)[1]


RULES = (
    Rule(("traceback (",), re.compile(r"Traceback \((?:most recent call last|innermost last)\)"), _traceback),
    Rule(("another exception", "direct cause"), re.compile(r"^\W{0,8}(?:During handling of|The above exception was)")),
    Rule(
        ("syntaxerror", "indentationerror", "taberror"), re.compile(r"^\s*(?:Syntax|Indentation|Tab)Error: "), _uncaught
    ),
    Rule(("error", "exception", "interrupt", "timeout"), re.compile(rf"(?:^|[:\]>] ){_NAME}: \S")),
    Rule(("error", "exception", "interrupt", "exit", "timeout"), re.compile(rf"^{_NAME}$")),
    Rule((".py:",), re.compile(r"^\S{1,200}\.py:\d{1,6}: (?:[A-Z]\w{0,60}|Failed)$")),
    Rule(
        ("exception ignored", "importerror while"), re.compile(r"^Exception ignored in: |^ImportError while importing")
    ),
    # doctest
    Rule(
        ("failed example:", "exception raised:", "expected:", "got:"),
        re.compile(r"^(?:Failed example|Exception raised|Expected|Got):$"),
        following(deeper, 60),
    ),
    # pytest
    Rule(("e  ",), re.compile(r"^E {2,}\S"), _failed_test),
    Rule((">  ",), re.compile(r"^> {4,}\S")),
    Rule((": in ",), re.compile(r"^\S{1,200}\.py:\d{1,6}: in [\w<]"), following(deeper, 6)),
    Rule(("___", "error at"), re.compile(r"^_{2,80} \S.{0,200} _{2,80}$|^_{1,80} ERROR at .{1,200} _{1,80}$")),
    Rule(("failed", "error", "xpass"), re.compile(r"^(?:SUB)?(?:FAILED|ERROR|XPASS\(strict\))[ (]\S")),
    Rule(("=== ", "!!! "), re.compile(r"^=+ (?:FAILURES|ERRORS) =+$|^!{3,} .{1,200} !{3,}$")),
    Rule((".py",), re.compile(r"^\S{1,200}\.py [.sxXFEp]{0,200}[FE][.sxXFEp]{0,200}(?:\s|$)")),
    Rule(("::",), re.compile(r"::\S{1,300} (?:FAILED|ERROR)\b")),
    Rule(("internalerror>",), re.compile(r"^INTERNALERROR>")),
    # unittest
    Rule(("fail: ", "error: "), re.compile(r"^(?:FAIL|ERROR): \w{1,100} \("), following(not_blank, 2)),
    # Checkers that print a code: only those that mean broken code (pycodestyle E9, pyflakes, pylint's E and F).
    Rule(
        (": e9", ": f82", ": f72", ": e0", ": e1", ": f0"),
        re.compile(r"^\S{1,300}:\d{1,7}:\d{1,6}: (?:E9\d\d|F82\d|F72\d|[EF]\d{4}:)(?=\s)"),
        diagnostic,
    ),
)
