"""The agent's last message, from the end of its transcript (JSON lines that other programs write)."""

from __future__ import annotations

import json
import os
import stat
from typing import Any

_TAIL = 256 << 10  # bytes: a transcript may be hundreds of megabytes


def last_message(path: str | None) -> str:
    """The text of the last message that the agent wrote; "" when there is none or it cannot be read.

    Reads the last 256 KiB of the file, whatever its size, and only of a regular file.
    """
    if path is None:
        return ""
    try:
        lines = _tail(os.path.expanduser(path)).split(b"\n")
    except (OSError, ValueError):
        return ""
    for line in reversed(lines):
        if b"assistant" in line or b"agent_message" in line:
            try:
                text = _text(json.loads(line))
            except (ValueError, RecursionError):
                continue  # cut off, or not JSON
            if text.strip():
                return text
    return ""


def _tail(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return b""
        file.seek(max(status.st_size - _TAIL, 0))
        return file.read(_TAIL)


def _text(entry: Any) -> str:
    """The assistant's text in one line of a transcript: Claude Code's or Codex's."""
    if not isinstance(entry, dict):
        return ""
    payload = entry.get("payload")
    if not isinstance(payload, dict):
        payload = {}
    if payload.get("type") == "agent_message":  # Codex's event
        return payload["message"] if isinstance(payload.get("message"), str) else ""
    message = payload if payload.get("type") == "message" else entry.get("message")
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if block.get("type") in ("text", "output_text")]
    return "\n\n".join(text for text in texts if isinstance(text, str))
