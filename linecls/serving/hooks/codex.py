"""Codex: the output of its shell tool, and the reply that replaces it.

Follows Codex 0.155 (docs/agents.md has the sources). It has no field that replaces an output as Claude Code's
`updatedToolOutput` does; a hook that answers `continue: false` gets its `reason` shown to the model in the place of
the output, and the turn goes on. (`decision: block` would do it too, but makes the call count as failed.)
"""

from __future__ import annotations

from typing import Any

from linecls.serving.hooks.events import Event

TOOLS = ("Bash",)

# Codex cuts blanks at both ends of the reason, and the reply comes by a channel that else says "stopped".
FIRST_LINE = "[linecls: output pruned; the command has run and was not stopped]\n"


def output_of(event: Event, max_bytes: int) -> str | None:
    """The command's output as the model would read it; None when there is none."""
    return event.response if isinstance(event.response, str) and len(event.response) <= max_bytes else None


def reply(event: Event, text: str) -> dict[str, Any]:
    """What replaces the output."""
    return {"continue": False, "stopReason": "linecls pruned the output", "reason": FIRST_LINE + text}
