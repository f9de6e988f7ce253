"""Claude Code: the output of its Bash tool, and the reply that replaces it.

Follows Claude Code 2.1.233 (docs/agents.md has the sources): `updatedToolOutput` must have the shape of the tool's
own response, which for Bash is an object with `stdout`; a value of another shape is dropped, and the original shown.
"""

from __future__ import annotations

import os
import stat
from typing import Any

from linecls.serving.hooks.events import Event

TOOLS = ("Bash",)


def output_of(event: Event, max_bytes: int) -> str | None:
    """The command's output; None when there is none that could be replaced.

    A long output comes cut to its beginning, and stands whole in a file that the response names.
    """
    response = event.response
    if not isinstance(response, dict) or not isinstance(response.get("stdout"), str):
        return None
    if response.get("isImage") or response.get("interrupted") or response.get("backgroundTaskId"):
        return None
    whole = response.get("persistedOutputPath")
    if whole is None:
        return response["stdout"]
    return _read(whole, max_bytes) if isinstance(whole, str) else None


def reply(event: Event, text: str) -> dict[str, Any]:
    """What replaces the output: the response as it was, with another `stdout`."""
    # The file with the whole output would be shown in the place of `stdout`.
    kept = {key: value for key, value in event.response.items() if not key.startswith("persistedOutput")}
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {**kept, "stdout": text}}}


def _read(path: str, max_bytes: int) -> str | None:
    """The text of a regular file of the user's own, of at most max_bytes bytes; None for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            own = os.name == "nt" or status.st_uid == os.geteuid()
            if not (stat.S_ISREG(status.st_mode) and own and status.st_size <= max_bytes):
                return None
            return file.read().decode("utf-8")
    except (OSError, ValueError):
        return None
