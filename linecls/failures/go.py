"""Go: the compiler, `go test`, testify, panics."""

from __future__ import annotations

import re

from linecls.failures.rules import Lines, Rule, deeper, following, matching


def _panic(lines: Lines, hit: int) -> tuple[int, int]:
    """The message and the stack of the goroutine that panicked; other goroutines' stacks are no part of it."""
    stop = hit + 1
    while stop < len(lines) and stop - hit <= 12 and not _GOROUTINE(lines, hit, stop):
        stop += 1
    if stop >= len(lines) or not _GOROUTINE(lines, hit, stop):
        return hit, hit + 1
    stop += 1
    while stop < len(lines) and lines.indent(stop) >= 0 and not _GOROUTINE(lines, hit, stop):
        stop += 1
    return hit, stop


def _failed_test(lines: Lines, hit: int) -> tuple[int, int]:
    """The messages below a failed test; with -v they stand above it."""
    start = hit
    while start > 0 and hit - start < 80 and deeper(lines, hit, start - 1):
        start -= 1
    return start, following(deeper, 400)(lines, hit)[1]


def _testify(lines: Lines, hit: int) -> tuple[int, int]:
    """From `Error Trace:` to `Test:`."""
    stop = hit + 1
    while stop < len(lines) and stop - hit < 80 and lines.indent(stop) > 0:
        stop += 1
        if lines.body(stop - 1).lstrip().startswith("Test:"):
            break
    return hit, stop


_GOROUTINE = matching(r"\s*goroutine \d{1,9} ")

RULES = (
    Rule(("panic: ", "fatal error: "), re.compile(r"^\s*(?:panic|fatal error): "), _panic),
    Rule(("--- fail",), re.compile(r"^\s*--- FAIL: "), _failed_test),
    Rule(("error trace:",), re.compile(r"^\s+Error Trace:\t"), _testify),
    Rule(("fail\t",), re.compile(r"^FAIL\t\S")),
    Rule(
        ('"output":"',), re.compile(r'"Output":"(?:\s|\\t)*(?:--- FAIL|FAIL\b|panic: |\w{1,100}_test\.go:\d)')
    ),  # -json
    # The compiler and vet say no "error": path.go:12:3: undefined: x
    Rule(
        (".go:",),
        re.compile(r"^(?:vet: )?(?:\./)?[\w./@-]{1,300}\.go:\d{1,7}:\d{1,6}: [a-zA-Z\"]"),
        following(matching(r"\t"), 12),
    ),
    Rule(("failed]", "too many errors"), re.compile(r"\[(?:build|setup) failed\]|^too many errors$")),
    Rule(
        ("go: ",),
        re.compile(
            r"^go: .{0,300}?(?:\bno \w|\bunknown |\bcannot |\binvalid |\bmissing |\bnot found|\bmismatch|\berrors? )"
        ),
        following(deeper, 6),
    ),
)
