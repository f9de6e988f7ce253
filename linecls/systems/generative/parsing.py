"""The lines in what a model wrote."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

Form = Literal["tags", "json", "open", "text", "none"]

_OPEN, _CLOSE = "<relevant_lines>", "</relevant_lines>"
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"```[\w+.-]*[ \t]*\n(.*?)\n?```", re.DOTALL)
_FENCE_LINE = re.compile(r"\s*```[\w+.-]*\s*")


@dataclass(frozen=True)
class Answer:
    """The lines that a model wrote, without their newlines, blank ones included.

    form: "tags", in `<relevant_lines>`; "json", in `{"relevant_lines": [...]}`, the form of older releases;
    "open", in a tag that was never closed; "text", in no envelope, so that every line counts; "none", nothing
    was written at all.
    """

    lines: list[str]
    form: Form


def parse_answer(text: str) -> Answer:
    """Read what a model wrote.

    A block of reasoning in `<think>` tags is left out, and so is a code fence around the lines. The lines of
    several `<relevant_lines>` blocks are joined. Text in no envelope is taken line by line, as squeez 0.1.4
    does: an explanation is no answer, but it is what the caller would get.
    """
    text = _THINKING.sub("", text)
    if not text.strip():
        return Answer([], "none")
    listed = _from_json(text)
    if listed is not None:
        return Answer(listed, "json")
    if _OPEN in text:
        lines, closed = [], True
        for piece in text.split(_OPEN)[1:]:
            body, end, _ = piece.partition(_CLOSE)
            closed = bool(end)
            lines += _block(body)
        return Answer(lines, "tags" if closed else "open")
    return Answer(_block(text.replace(_CLOSE, "")), "text")


def _block(body: str) -> list[str]:
    """The lines of a block; line breaks beside the tags and a code fence around the lines are no part of it."""
    lines = body.strip("\n").split("\n")
    if not "".join(lines).strip():
        return []
    if len(lines) > 1 and _FENCE_LINE.fullmatch(lines[0]):
        lines = lines[1:]
        if lines[-1].strip() == "```":
            lines.pop()
    return lines


def _from_json(text: str) -> list[str] | None:
    """The list of a JSON answer, bare or in a code fence; None for anything else."""
    fenced = _FENCE.search(text)
    for candidate in (text, fenced[1] if fenced else ""):
        if not candidate.lstrip().startswith("{"):
            continue
        try:
            value = json.loads(candidate)
            items = value["relevant_lines"]
        except (ValueError, TypeError, LookupError, RecursionError):
            continue
        if isinstance(items, list):
            return [line for item in items for line in str(item).removesuffix("\n").split("\n")]
    return None
