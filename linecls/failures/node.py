"""Node: uncaught errors, npm and its kin, jest, mocha, vitest, tap, TypeScript, ESLint, bundlers."""

from __future__ import annotations

import re

from linecls.failures.rules import Lines, Rule, following, matching


def _uncaught(lines: Lines, hit: int) -> tuple[int, int]:
    """The code that Node quotes above an uncaught error: location, line, caret, blank."""
    quoted = hit >= 4 and re.match(r"\s*\^+\s*$", lines.body(hit - 2)) is not None
    return (hit - 4 if quoted else hit), hit + 1


def _lint(lines: Lines, hit: int) -> tuple[int, int]:
    """An ESLint finding; the name of its file stands above the file's first finding."""
    return (hit - 1 if hit and lines.indent(hit - 1) == 0 else hit), hit + 1


def _tap(lines: Lines, hit: int) -> tuple[int, int]:
    """A failed test of TAP with the indented block of details below it."""
    stop = hit + 1
    if stop < len(lines) and lines.body(stop).strip() == "---":
        while stop < len(lines) and stop - hit < 200:
            stop += 1
            if lines.body(stop - 1).strip() == "...":
                return hit, stop
    return hit, hit + 1


_PART = matching(r"\s*(?:Expected|Received|Difference|[-+] |$)")


def _comparison(lines: Lines, hit: int) -> tuple[int, int]:
    """jest's expected and received values below the matcher; the blank lines after them are no part of it."""
    stop = following(_PART, 12)(lines, hit)[1]
    while lines.indent(stop - 1) < 0:
        stop -= 1
    return hit, stop


RULES = (
    Rule(
        ("npm err", "npm error", "err_pnpm", "error command failed", "elifecycle"),
        re.compile(r"^npm (?:ERR!|error)(?:\s|$)|\bERR_PNPM_|^error Command failed|\bELIFECYCLE\b"),
    ),
    Rule(("error",), re.compile(r"^(?:Uncaught )?(?:[A-Z]\w{0,60})?Error(?: \[\w{1,60}\])?: "), _uncaught),
    Rule(("unhandled",), re.compile(r"^\W{0,4}(?:\(node:\d{1,9}\) )?Unhandled", re.IGNORECASE)),
    Rule(("●", "✕", "✗", "✘", "×", "✖"), re.compile(r"^\s*(?:●(?! Console)|✕|✗|✘|×|✖)\s?\S")),
    Rule(("❯",), re.compile(r"^\s*❯ .{1,300}\b[1-9]\d{0,6} failed\b")),
    Rule(("not ok",), re.compile(r"^\s*not ok \d"), _tap),
    Rule(("# fail",), re.compile(r"^# fail [1-9]")),
    Rule(("→",), re.compile(r"^\s+→ [A-Za-z]")),
    Rule(
        ("econn", "enoent", "eacces", "eaddrinuse", "etimedout", "eperm", "enospc", "enotfound", "eai_again", "emfile"),
        re.compile(
            r"(?:^|: |connect |getaddrinfo )E(?:CONNREFUSED|CONNRESET|NOENT|ACCES|ADDRINUSE|TIMEDOUT|PERM|NOSPC"
            r"|NOTFOUND|AI_AGAIN|MFILE)(?=[\s:,]|$)"
        ),
    ),
    Rule(("fail ",), re.compile(r"^\s*FAIL\s{1,4}\S")),
    Rule(
        ("failed", "failing", "error"),
        re.compile(
            r"^\s*(?:Tests?|Test Suites|Test Files|Snapshots):?\s{1,12}[1-9]\d{0,6} failed|^\s*[1-9]\d{0,6} failing\b"
            r"|^\s*Errors\s{1,4}[1-9]"
        ),
    ),
    Rule(
        ("error ", "error/", "error -"),
        re.compile(
            r"^\s{1,6}\d{1,7}:\d{1,6}\s{1,12}error\s|\[Error/[\w/@-]{1,80}\]$|: line \d{1,7}, col \d{1,6}, Error - "
        ),
        _lint,
    ),
    Rule(
        ("error in ", "module not found", "cannot find", "compiled with", "failed to compile", "via ", " ts"),
        re.compile(
            r"^\W{0,6}(?:ERROR in|Module not found|Failed to compile|Cannot find module)"
            r"|\bcompiled with [1-9]\d{0,6} error|\(via \w{0,60}Error\)|^\s+TS\d{4,5}: "
        ),
    ),
    Rule(("expect(",), re.compile(r"^\s*expect\(.{1,200}\)\.\w"), _comparison),
    Rule((" | ",), re.compile(r"^\s*> {1,3}\d{1,6} \| "), following(matching(r"\s*\|\s*\^"), 1)),
)
