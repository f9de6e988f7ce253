"""Logs, shells, exit codes, and the forms of message that most tools share."""

from __future__ import annotations

import re

from linecls.failures.rules import Rule, deeper, diagnostic, following

_LEVEL = r"(?:ERROR|ERR|FATAL|CRITICAL|CRIT|SEVERE|EMERG|EMERGENCY|ALERT|PANIC)"
_LEVEL_WORDS = ("error", "fatal", "crit", "severe", "emerg", "alert", "panic", "[err]", " err ")

# Texts of errno and of resolvers, as programs append them to a message behind a colon.
_REASONS = (
    "No such file or directory",
    "Permission denied",
    "Connection refused",
    "Connection reset",
    "Connection timed out",
    "No space left on device",
    "Address already in use",
    "Operation not permitted",
    "Cannot allocate memory",
    "Broken pipe",
    "Too many open files",
    "Network is unreachable",
    "No route to host",
    "Read-only file system",
    "Name or service not known",
    "Temporary failure in name resolution",
    "Not a directory",
    "Is a directory",
    "Directory not empty",
    "File exists",
    "Input/output error",
    "Exec format error",
    "Text file busy",
    "Disk quota exceeded",
    "Invalid argument",
    "command not found",
    "i/o timeout",
    "no such host",
    "context deadline exceeded",
)

# In a line of a log that has no level, or a warning's: words of failure, but no count of zero and no empty value.
_QUIET = r"(?:INFO|DEBUG|TRACE|NOTICE|info|debug|trace|notice|Info|LOG|D!|I!)"
_FAILURE_WORD = (
    r"(?:[Ff]ail(?:ed|ure|ures|ing|s)?|[Ee]rrors?|[Ee]xceptions?|denied|refused|timed out|unreachable|rejected|aborted"
    r"|panic(?:ked)?|corrupt(?:ed|ion)?|[Kk]illed|segfault|unable to|cannot|could not|[Ii]nvalid user)"
)

LEVELS = (
    # A level where logs put it: first; in brackets or behind a separator; anywhere early in a line with a time.
    Rule(_LEVEL_WORDS, re.compile(rf"^[\s\[<(*!]{{0,4}}{_LEVEL}(?=[\]\s:|>)!/]|$)")),
    Rule(_LEVEL_WORDS, re.compile(rf"^.{{0,160}}?(?:[\]:|>] {{1,4}}| - |[\[|</])\[?{_LEVEL}(?=[\]:|>/]|\s)")),
    Rule(_LEVEL_WORDS, re.compile(rf"^.{{4,160}}?\s{_LEVEL}(?=[\s:])"), stamped=True),
    Rule(
        ("error", "fatal", "crit", "panic", "emerg", "severe"),
        re.compile(
            r"""(?:\b(?:level|lvl|severity|levelname|log\.level)["']?\s?[=:]\s?["']?|^.{0,80}?\[)"""
            r"""(?:error|fatal|critical|crit|panic|emerg|severe)\b(?=["'\],\s:]|$)""",
            re.IGNORECASE,
        ),
    ),
    Rule(('"level":',), re.compile(r'"level":\s?[56]0\b')),  # pino, bunyan
    Rule((".go:", "] "), re.compile(r"^[EF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} ")),  # klog
    Rule(("completed 5",), re.compile(r"\bCompleted 5\d\d ")),  # Rails
    Rule(
        (
            *("fail", "error", "exception", "denied", "refused", "timed out", "unreachable", "rejected", "aborted"),
            *("panic", "corrupt", "killed", "segfault", "unable to", "cannot", "could not", "nvalid user"),
        ),
        re.compile(
            rf"^(?!.{{0,120}}(?<!\w){_QUIET}(?!\w)).*?(?<![\w/.-])(?<!\b0 )(?<!\bno ){_FAILURE_WORD}(?![\w/.-])"
            r"(?!\"?\s?[=:]\s?\"?(?:0|null|false|none|nil|\"\")\b)"
        ),
        stamped=True,
    ),
)

MESSAGES = (
    # "error: …", "git: fatal: …", "error[E0308]: …", "Error TS2345: …" at the start of the line.
    Rule(
        ("error", "fatal", "panic"),
        re.compile(
            r"^(?:[^\s:]{1,120}: ){0,3}"
            r"(?:(?:PHP )?(?:fatal|internal|unexpected|unhandled|runtime|syntax|build|compile|compilation|parse|link"
            r"|config|uncaught|request|validation|type|name|import) )?"
            r"(?:error|fatal|panic)(?:\[\w{1,40}\]|\s?\(\w{1,40}\)|\s[A-Za-z]{0,8}\d{1,6})?:(?=\s|$)",
            re.IGNORECASE,
        ),
        diagnostic,
    ),
    Rule(
        ("error ",),
        re.compile(
            r"^(?:[\w./-]{1,60}: )?(?:\w{1,20} )?[Ee]rror (?:from|response|while|when|in|during|at|near|for|occurred"
            r"|reading|loading|opening|parsing|creating|running|executing|processing|\d{1,6} at)\b"
        ),
    ),
    # A diagnostic behind a location: path:12:5: error …, path(12,5): error …, path:12:5 - error …
    Rule(
        ("error",),
        re.compile(
            r"^\s*[^\s:(][^\s(]{0,300}?(?::\d{1,7}(?::\d{1,6}){0,2}|\(\d{1,7}(?:,\d{1,6})?\))(?:-\d{1,6})?"
            r"(?: - |: | : )(?:fatal |internal )?error(?:\[[\w-]{1,40}\])?(?:\s[A-Z]{1,5}\d{1,6})?\s?:",
            re.IGNORECASE,
        ),
        diagnostic,
    ),
    # What a system call says.
    Rule(
        tuple(reason.lower() for reason in _REASONS),
        re.compile(
            rf"""(?:^|: |\] |\[Errno \d{{1,3}}\] )(?:{"|".join(_REASONS)})(?=[\s:.,;)'"]|$)""",
            re.IGNORECASE,
        ),
    ),
    Rule((": not found",), re.compile(r"^[\w./-]{1,60}: (?:\d{1,6}: )?\S{1,200}: not found$")),
    Rule(("caused by",), re.compile(r"^\s*Caused by:", re.IGNORECASE), following(deeper, 200)),
    Rule(
        ("cannot", "could not", "couldn't", "unable to"),
        re.compile(r"^(?:[^\s:]{1,120}: ){0,2}(?:cannot|Cannot|[Cc]ould not|[Cc]ouldn't|[Uu]nable to) \w"),
    ),
    Rule(("failed",), re.compile(r"(?:^|[:\]] )[Ff]ailed to \w|\bfailed with (?:exit|error|status|code)\b")),
    Rule(
        ("failed", "fatal python", ":fail", "error)"),
        re.compile(
            r"^(?:[\w./\[\]-]{1,60}: )?[A-Za-z][\w'\"./-]{0,60}(?: [\w'\"./:-]{1,60}){0,5} failed"
            r"(?:[:,!.]|$| :\()|> Session \S{1,80} failed|\b[Bb]uild failed\b|^Fatal Python error"
            r"|\bfailed :\(|\bversion solving failed|:FAIL(?:$|: )"
            r"|^\S.{0,80}: (?:check )?failed(?:$|[,:]| with)|^\*\* \(\w{1,80}Error\)"
        ),
    ),
    Rule(
        ("constraint failed", "violates"),
        re.compile(r"\bconstraint failed\b|\bviolates \S{1,20}(?: \S{1,20})? constraint"),
    ),
)

EXITS = (
    Rule(
        ("exit", "returned", "status="),
        re.compile(
            r"\bexit(?:ed|s|ing)?(?: with)?(?: a)?(?: non-?zero)?(?: exit)?[ _-]?(?:status|code)(?: of| was)?"
            r"[\s:=]{1,3}-?[1-9]\d{0,9}\b"
            r"|\bexited (?:with )?\(?[1-9]\d{0,9}\)?(?=[\s.,;:]|$)|\breturned (?:a )?non-?zero\b"
            r"|\bstatus=[1-9]\d{0,9}/[A-Z]+",
            re.IGNORECASE,
        ),
    ),
    Rule(
        (
            *(
                "segmentation fault",
                "core dumped",
                "aborted",
                "killed",
                "out of memory",
                "oom",
                "bus error",
                "outofmemory",
            ),
            *(
                "terminate called",
                "double free",
                "stack overflow",
                "stackoverflow",
                "signal: ",
                "floating point exc",
                "stack smash",
            ),
        ),
        re.compile(
            r"\bSegmentation fault\b|\(core dumped\)|^\s*(?:Aborted|Killed|Bus error|Terminated)\b"
            r"|\bOut of memory\b|\bOOM[- ]?[Kk]ill|\bOutOfMemory|\bterminate called\b|\bdouble free or corruption"
            r"|\bstack smashing detected|\bStackOverflow|\bstack overflow\b|\bsignal: (?:killed|aborted|segm)"
            r"|^Floating point exc"
        ),
    ),
)

VERDICTS = (
    Rule(("fail",), re.compile(r"^\W{0,6}(?:FAIL|FAILED|FAILURE|FAILURES)(?:\W|$)")),
    Rule(
        ("fail", "... error"),
        re.compile(
            r"(?:\.\.\. ?ERROR|(?:\s|\.\.\.\s?|\[\s{0,2})(?:FAIL|FAILED|FAILURE))"
            r"(?:\s{0,2}\]|!|:|\s{1,20}\[\s{0,3}[\d.]{1,9} ?(?:%|s)\]|\s?\([^)]{0,40}\)| code \d.{0,60}| ✖.{0,60})?\s*$"
        ),
    ),
    Rule(
        ("failed", "... fail", "***exc"),
        re.compile(r"\*\*\* ?(?:FAILED|Failed|Exception|Timeout|Not Run)|: Failed$|\.\.\. fail$|\(FAILED - \d"),
    ),
    Rule(
        ("fail", "error"),
        re.compile(
            r"(?:^\W{0,4}|[=,(:|✖✗×]\s{0,8}|\b[Ff]ound |\bInterrupted: )[1-9]\d{0,6} "
            r"(?:tests? |examples?, |problems? )?(?:failed|failing|failures?|errors?)\b"
            r"(?=\s*[,.)=;!:|]|\s+(?:in|during|generated|found|and|\()|\s*$)|\bfailed [1-9]\d{0,6},"
            r"|^\W{0,3}[1-9]\d{0,6} FAILED|\b[1-9]\d{0,6} of \d{1,7} \w{1,20} failed"
            r"|^\[ {1,12}[1-9]\d{0,6} tests failed"
        ),
    ),
    Rule(
        ("fail", "error"),
        re.compile(r"\b(?:failures?|errors?|failed|unreachable)\s?[=:]\s?[1-9]\d{0,6}\b(?!\s?[.:/\w])", re.IGNORECASE),
    ),
)

VALUES = (
    # In JSON: an error that is there, a state that failed.
    Rule(
        ("error", "exception", "traceback"),
        re.compile(
            r'"(?:\w{1,20}_)?(?:error|errors|exception|error_?message|error_?description|traceback)"\s?:\s?'
            r'(?!\s*(?:null|false|""|\[\s*\]|\{\s*\}|0\b))',
            re.IGNORECASE,
        ),
    ),
    Rule(
        ("fail", "error"),
        re.compile(
            r'"(?:status|state|result|conclusion|outcome|phase|action)"\s?:\s?"(?:fail|failed|failure|error|errored)"',
            re.IGNORECASE,
        ),
    ),
    # HTTP: an error status in a response's head; a server error in an access log.
    Rule(("http/",), re.compile(r'^[<*\s]{0,4}HTTP/\d(?:\.\d)? [45]\d\d\b|HTTP/\d(?:\.\d)?" 5\d\d\b')),
)

ASSERTIONS = (
    Rule(
        ("assert",), re.compile(r"\b[Aa]ssertion\b.{0,200}\bfailed\b|^\s*assertion failed\b|\bFailed asserting that\b")
    ),
    Rule(
        ("want", "expected", "received", "actual"),
        re.compile(
            r"\bgot:? .{1,300}\bwant(?:ed)?\b|\b[Ee]xpected:? .{1,300}\b(?:but )?(?:got|was|received|actual)\b"
            r"|^\s*(?:Expected|Actual|Received)(?: \w{1,20}){0,2}\s{0,4}:\s"
        ),
    ),
)

RULES = (*LEVELS, *MESSAGES, *EXITS, *VERDICTS, *VALUES, *ASSERTIONS)
