"""Ruby and PHP: exceptions with their frames, RSpec, minitest, PHPUnit."""

from __future__ import annotations

import re

from linecls.failures.rules import Rule, following, matching, not_blank

RULES = (
    Rule((":in ",), re.compile(r"^\s*(?:from )?\S{1,300}:\d{1,7}:in ['`].{1,200}")),
    Rule(
        ("error)", "exception)"),
        re.compile(r"\((?:\w{1,60}::){0,6}\w{0,60}(?:Error|Exception)\)$"),
        following(matching(r"\s+from "), 2000),
    ),
    Rule(("failure/error:",), re.compile(r"^\s*Failure/Error:"), following(not_blank, 12)),
    Rule((") failure:", ") error:"), re.compile(r"^\s*\d{1,6}\) (?:Failure|Error):"), following(not_blank, 12)),
    Rule(("rspec ./",), re.compile(r"^rspec \./\S{1,300}:\d")),
    Rule(("#",), re.compile(r"^\W{0,3}#\d{1,4} (?:/\S{1,300}\(\d{1,7}\): |\{main\}|\[internal function\])")),
    Rule(("stack trace:",), re.compile(r"^\W{0,3}Stack trace:$")),
)
