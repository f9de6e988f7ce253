"""The event that an agent sends after a tool call, and the query in it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_PART = 300  # characters of each part of a query
_LOOKED_AT = 6000  # characters of a text from which a part is taken
# The output of linecls itself is pruned already, or is what the agent has asked to see in full.
_OWN = re.compile(r"(?:^|[\s;&|(/\"'])linecls[\"']?\s+(?:prune|run|expand)\b")


@dataclass(frozen=True)
class Event:
    """A `PostToolUse` event; fields that linecls does not use are not read.

    tool: the tool's name; tool_input: its arguments; response: its result, in the form of the agent.
    transcript: path of the conversation so far, None when the agent gives none.
    """

    tool: str
    tool_input: dict[str, Any]
    response: Any
    transcript: str | None

    @property
    def command(self) -> str:
        """The shell command, "" for a tool that has none."""
        command = self.tool_input.get("command", "")
        if isinstance(command, list):  # an argument vector
            command = " ".join(map(str, command))
        return command if isinstance(command, str) else ""

    @property
    def is_own(self) -> bool:
        """Whether the command runs linecls."""
        return _OWN.search(self.command) is not None


def parse(raw: bytes) -> Event | None:
    """The event in the JSON that the agent sent; None for anything else."""
    try:
        values = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or values.get("hook_event_name", "PostToolUse") != "PostToolUse":
        return None
    tool, tool_input, transcript = values.get("tool_name"), values.get("tool_input"), values.get("transcript_path")
    if not isinstance(tool, str):
        return None
    return Event(
        tool=tool,
        tool_input=tool_input if isinstance(tool_input, dict) else {},
        response=values.get("tool_response"),
        transcript=transcript if isinstance(transcript, str) and transcript else None,
    )


def query_of(event: Event, last_message: str) -> str:
    """What the agent looks for, from what it says of it; "" when it says nothing at all.

    The order: the description that it gave the tool call, then the end of its last message; the command only when
    both are missing, for its words are the tool's rather than the answer's.
    """
    description = event.tool_input.get("description")
    parts = [_line(description)[:_PART] if isinstance(description, str) else "", _ending(last_message)]
    said = ". ".join(part.rstrip(". ") for part in parts if part)
    return said or _line(event.command)[:_PART]


def _ending(message: str) -> str:
    """The end of a message's last paragraph, from the start of a sentence where that is near."""
    paragraphs = [paragraph for paragraph in message[-_LOOKED_AT:].split("\n\n") if paragraph.strip()]
    text = _line(paragraphs[-1]) if paragraphs else ""
    if len(text) <= _PART:
        return text
    text = text[-_PART:]
    start = re.search(r"[.!?:] (?=\S)", text)
    return text[start.end() :] if start and start.end() < _PART // 2 else text


def _line(text: str) -> str:
    return " ".join(text[:_LOOKED_AT].split())
