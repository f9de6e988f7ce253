"""Containers, clusters, provisioning, service managers, package managers, CI, git."""

from __future__ import annotations

import re

from linecls.failures.rules import Lines, Rule


def _terraform(lines: Lines, hit: int) -> tuple[int, int]:
    """`Error: …`, the place below it and the explanation below that, each a paragraph; else the line alone."""
    stop = hit + 1
    paragraphs = 0
    while stop < len(lines) and stop - hit < 40:
        if lines.indent(stop) < 0:
            stop += 1
            continue
        if lines.indent(stop - 1) < 0:
            paragraphs += 1
            if paragraphs == 1 and not re.match(r"  (?:on|with) ", lines.body(stop)):
                return hit, hit + 1
            if paragraphs == 3:
                break
        elif paragraphs == 0:
            return hit, hit + 1
        stop += 1
    while stop > hit + 1 and lines.indent(stop - 1) < 0:
        stop -= 1
    return hit, stop


RULES = (
    Rule(
        (
            *("crashloop", "imagepull", "errimage", "oomkilled", "evicted", "createcontainer", "failedscheduling"),
            *("failedmount", "backoff", "back-off", "unhealthy"),
        ),
        re.compile(
            r"\b(?:CrashLoopBackOff|ImagePullBackOff|ErrImagePull|OOMKilled|Evicted|CreateContainer\w{0,40}Error|FailedScheduling"
            r"|FailedMount|BackOff|Unhealthy)\b|Back-off restarting"
        ),
    ),
    Rule(
        ("failed", "reason:", "failure"),
        re.compile(
            r"\bWarning\s{1,12}(?:Failed\w{0,40}|\w{1,40}Failed)\b|^\s*Reason:\s{1,20}(?:Error|\w{0,40}BackOff|\w{0,40}Fail\w{0,20})"
            r"|\w{1,40}Failure\s{1,8}True\b|\s(?:True|False)\s{1,8}Failed[A-Z]\w{1,60}"
        ),
    ),
    Rule(
        ("failed to solve", "executor failed", "error ["),
        re.compile(r"\bfailed to solve\b|\bexecutor failed running|(?:^|\s)ERROR \["),
    ),
    Rule(("error: ",), re.compile(r"^Error: \S"), _terraform),
    Rule(("fatal: [", "failed: ["), re.compile(r"^(?:fatal|failed): \[")),
    Rule(
        ("failed", "exited"),
        re.compile(r"Active: failed|Main process exited|Failed with result|^Failed to \w|\bentered failed state"),
    ),
    Rule(("e: ",), re.compile(r"^E: \S")),  # apt
    Rule(("404  not",), re.compile(r"\b404 {1,2}Not Found\b")),
    Rule(("##[error]", "::error"), re.compile(r"##\[error\]|^::error")),
    Rule(
        ("resolutionimpossible", "no matching dist", "conflicting dep", "subprocess-exited", "status 'error'"),
        re.compile(
            r"\bResolutionImpossible\b|\bNo matching distribution|\bconflicting dependencies"
            r"|subprocess-exited-with-error|status 'error'"
        ),
    ),
    Rule(
        ("rejected]", "conflict (", "merge failed"),
        re.compile(r"^ ! \[(?:remote )?rejected\]|^CONFLICT \(|^Automatic merge failed"),
    ),
    Rule(
        ("curl: (", "* ", "< "),
        re.compile(
            r"^curl: \(\d{1,3}\) |^< [45]\d\d [A-Z]|^\* (?:Failed|Could not|SSL.{1,200}(?:error|problem)"
            r"|connect to .{1,200} failed|.{1,200}: Connection refused)"
        ),
    ),
    Rule(("status: ",), re.compile(r"->>HEADER<<-.{1,80}status: (?!NOERROR)[A-Z]")),
    Rule(("detail: ",), re.compile(r"\bDETAIL: {1,4}\S")),
    Rule(("sqlstate", "deadlock detected"), re.compile(r"\bSQLSTATE\b|\bdeadlock detected\b", re.IGNORECASE)),
)
