"""Java and its kin: exceptions with their frames, Maven, Gradle, JUnit; JavaScript's and .NET's frames look alike."""

from __future__ import annotations

import re

from linecls.failures.rules import Lines, Rule, following, matching, not_blank

_FRAME = r"\s+(?:at \S.{0,1000}|\.\.\. \d{1,6} (?:more|common frames omitted))$|\s+---? End of (?:inner|stack)"
_IN_STACK = matching(rf"(?:{_FRAME})|\s*(?:Caused by|Suppressed|Wrapped by): ")
_CALL = (
    # pkg.Class.method(File.java:12), Object.<anonymous> (/app/x.js:3:5), App.Main() in /src/App.cs:line 3
    r"(?:async |new )?[\w$.<>\[\]/@ -]{1,300}(?: \[as [\w$. ]{1,60}\])? ?"
    r"\((?:[^()\s]{1,300}:\d{1,7}(?::\d{1,7})?|Native Method|Unknown Source|native|<anonymous>"
    r"|[\w.-]{1,200}\.(?:java|kt|scala))\)"
    r"|(?:async )?(?:file://)?[^\s()]{1,300}:\d{1,7}:\d{1,7}"
    r"|[\w.`<>\[\],]{1,300}\([^()]{0,200}\) in \S{1,300}:line \d{1,7}"
)


_NAMED = re.compile(r"\s*(?:\S{1,60} )?[\w.$]{0,200}(?:Error|Exception|Throwable|Failure)\b(?: \[\w{1,60}\])?(?::|$)")


def _stack(lines: Lines, hit: int) -> tuple[int, int]:
    """A run of frames with its causes, and what is above it, up to the line that names the exception.

    A message may have a difference in it, with blank lines; one of more than 20 lines is not looked through.
    """
    start = hit
    for back in range(1, 21):
        if hit - back < 0 or lines.indent(hit - back) > lines.indent(hit) + 8:
            break
        if _NAMED.match(lines.body(hit - back)):
            start = hit - back
            break
    return start, following(_IN_STACK, 100_000)(lines, hit)[1]


RULES = (
    Rule(("at ",), re.compile(rf"^\s+at (?:{_CALL})(?: ~?\[\S{{1,200}}\])?$"), _stack),
    Rule(("exception in thread",), re.compile(r'Exception in thread "')),
    Rule(
        ("exception", "error", "throwable"),
        re.compile(r"^(?:[a-z_]\w{0,60}\.){1,10}[A-Z][\w$]{0,100}(?:Exception|Error|Throwable)(?:: |$)"),
    ),
    Rule(("went wrong",), re.compile(r"^\* What went wrong:"), following(not_blank, 40)),
    Rule(("build fail", "failure: build"), re.compile(r"\bBUILD FAILED\b|\bBUILD FAILURE\b|^FAILURE: Build")),
    Rule(("<<< ",), re.compile(r"<<< (?:FAILURE|ERROR)!")),
    Rule(
        ("failed",), re.compile(r"^> Task :\S{1,200} FAILED|^\S.{0,200} > .{1,200} FAILED$"), following(not_blank, 12)
    ),
    Rule(("failures: ", "errors: "), re.compile(r"Tests run: .{0,80}?(?:Failures|Errors): [1-9]")),
)
