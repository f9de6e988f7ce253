"""What a generative pruner is asked: the form that Squeez models were trained on, and one for general models."""

from __future__ import annotations

from typing import NamedTuple

from linecls.errors import LineclsError

# The wire format of the Squeez models (arXiv 2604.04979), as `squeez` 0.1.4 (Apache-2.0) sends it. Models that
# were fine-tuned on it expect it word for word.
_SQUEEZ_SYSTEM = (
    "You prune verbose tool output for a coding agent. Given a focused extraction query and one tool output, "
    "return only the smallest verbatim evidence block(s) the agent should read next. Return the kept text inside "
    "<relevant_lines> tags. Do not rewrite, summarize, or invent lines."
)

# For models that never saw that format: what counts as an answer, and what an empty one looks like.
_ZERO_SHOT_SYSTEM = (
    "You select lines. You get a query and the raw output of one command. Copy the lines of the output that answer "
    "the query, and no others, exactly as they stand: same characters, same order, one per line. Take the smallest "
    "block that answers. Write them between <relevant_lines> and </relevant_lines>. If no line answers the query, "
    "write <relevant_lines></relevant_lines>. Never explain, number, shorten, translate or invent a line."
)
_ZERO_SHOT_REMINDER = (
    "\nCopy the lines of this output that answer the query between <relevant_lines> and </relevant_lines>, and "
    "write nothing else."
)

# Lengths in characters at which squeez 0.1.4 cuts; tool output is never cut.
_QUERY_LIMIT = 3000
_BACKGROUND_LIMIT = 3000


class Prompt(NamedTuple):
    """A system message, and what follows the tool output in the user's turn."""

    system: str
    reminder: str = ""


PROMPTS = {"squeez": Prompt(_SQUEEZ_SYSTEM), "zero-shot": Prompt(_ZERO_SHOT_SYSTEM, _ZERO_SHOT_REMINDER)}


def check_prompt(name: str) -> str:
    """`name` if there is a prompt of that name; LineclsError otherwise."""
    if name not in PROMPTS:
        raise LineclsError(f"unknown prompt '{name}'; choose from: {', '.join(PROMPTS)}")
    return name


def build_messages(prompt: str, query: str, observation: str, background: str = "") -> list[dict[str, str]]:
    """The chat messages of one request: a system and a user message.

    prompt: a key of PROMPTS. An empty query or background has no block; both are cut at 3,000 characters, with
    "..." behind, as squeez 0.1.4 does.
    """
    form = PROMPTS[check_prompt(prompt)]
    blocks = (
        ("query", _shortened(query, _QUERY_LIMIT)),
        ("background_task", _shortened(background, _BACKGROUND_LIMIT)),
    )
    head = "".join(f"<{tag}>\n{text}\n</{tag}>\n" for tag, text in blocks if text)
    user = f"{head}<tool_output>\n{observation}\n</tool_output>{form.reminder}"
    return [{"role": "system", "content": form.system}, {"role": "user", "content": user}]


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "..."
