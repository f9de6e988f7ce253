"""C, C++ and their builds: linkers, make, CMake, ninja, gtest, sanitizers, TeX."""

from __future__ import annotations

import re

from linecls.failures.rules import Lines, Rule, following, matching, not_blank


def _cmake(lines: Lines, hit: int) -> tuple[int, int]:
    """The indented text below `CMake Error at …`, with the blank lines inside it."""
    stop = last = hit + 1
    while stop < len(lines) and stop - hit < 40 and lines.indent(stop) != 0:
        stop += 1
        if lines.indent(stop - 1) > 0:
            last = stop
    return hit, last


RULES = (
    Rule(
        ("undefined", "multiple def", "cannot find -l", "symbol(s) not", "collect2", "ld: ", "treated as errors"),
        re.compile(
            r"\bundefined reference to|\bundefined symbol\b|\bmultiple definition of|\bcannot find -l"
            r"|\bsymbol\(s\) not found|^collect2: "
            r"|\bld(?:\.\w{1,10})?: (?:error|cannot|final link failed)|^Undefined symbols"
            r"|^cc1\S{0,10}: .{0,40}treated as errors"
        ),
    ),
    Rule(("***", "not remade"), re.compile(r"^\w{0,8}make(?:\[\d{1,4}\])?: (?:\*\*\* |Target .{1,200} not remade)")),
    Rule(("ninja: ", "failed: "), re.compile(r"^ninja: (?:build stopped|error)|^FAILED: \S")),
    Rule(("cmake error",), re.compile(r"^CMake Error"), _cmake),
    Rule(
        ("errors while running", " - "),
        re.compile(
            r"^Errors while running CTest"
            r"|^\s{1,8}\d{1,6} - \S{1,200} \((?:Failed|Subprocess aborted|Timeout|SEGFAULT|Not Run)"
        ),
    ),
    Rule(
        (": failure",),
        re.compile(r"^\S{1,300}(?::\d{1,7}|\(\d{1,7}\)): Failure$"),
        following(lambda t, h, i: not_blank(t, h, i) and not t.body(i).startswith("["), 30),
    ),
    Rule(("[  failed",), re.compile(r"^\[ {2}FAILED {2}\]")),
    Rule(
        ("sanitizer:", "runtime error"),
        re.compile(r"Sanitizer: |: runtime error: "),
        following(matching(r"\s|SUMMARY|READ|WRITE|0x"), 60),
    ),
    Rule((".tex:", "! "), re.compile(r"\.tex:\d{1,7}: (?!.{0,40}[Ww]arning)\S|^! [A-Z]"), following(not_blank, 2)),
)
