"""`linecls hook`: what a coding agent calls after each tool call."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import Any

import click

from linecls.agent import PROFILES, shorten
from linecls.cli._decoding_options import profile_options, seconds
from linecls.observation import is_blank, is_text
from linecls.streams import write_all

_HELP = """Prune the output of a coding agent's shell tool, as its PostToolUse hook.

The agent writes the event, as JSON, to standard input and reads the reply from standard output; nothing there means
that the output stays as it is. The query comes from the description that the agent gave its tool call and from the
end of its last message, or else from the command. `linecls install` puts the hook into the agent's settings.

Whatever goes wrong (no JSON, no model, no time, a wrong option), the output stays as it is and the exit status is 0.

\b
Examples:
  linecls install claude-code
  linecls hook claude-code < event.json
"""
_EVENT_LIMIT = 64 << 20
_RESERVE = 0.2  # seconds of the deadline for writing the reply and ending


class _Harmless(click.Command):
    """Ends with status 0 after wrong usage too: to an agent another status means that the tool call is refused."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except click.UsageError as error:
            with suppress(OSError):
                error.show()
            sys.exit(0)


@click.command(
    "hook",
    cls=_Harmless,
    help=_HELP,
    short_help="Prune a coding agent's tool output, as its hook.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("agent", type=click.Choice(["claude-code", "codex"]))
@click.option(
    "--deadline",
    type=float,
    default=2.0,
    show_default=True,
    callback=seconds(600),
    metavar="SECONDS",
    help="The output stays as it is when pruning takes longer than that.",
)
@profile_options
@click.option("--model", metavar="MODEL", help="Model directory or hub id, in place of the embedded model.")
def command(agent: str, deadline: float, **options: Any) -> None:
    """The click command; see `_HELP`."""
    reply = b""
    with suppress(Exception):  # a hook must never fail the agent
        from linecls.serving.hooks.guarded import answer_of, read_stdin, since_start

        until = time.monotonic() + deadline - since_start() - _RESERVE
        event = read_stdin(_EVENT_LIMIT, until)
        if event is not None:
            reply = answer_of(lambda: reply_to(agent, event, **options), until)
    with suppress(OSError, AttributeError):  # when nobody reads the reply
        if reply:
            write_all(sys.stdout.buffer, reply)


def reply_to(agent: str, raw: bytes, *, min_bytes: int, max_bytes: int, profile: str, model: str | None) -> bytes:
    """The reply to an event, b"" when the output is to stay as it is. Raises whatever pruning raises."""
    from linecls.serving.hooks import claude_code, codex, events
    from linecls.serving.hooks.transcript import last_message
    from linecls.store import Store

    dialect = claude_code if agent == "claude-code" else codex
    event = events.parse(raw)
    if event is None or event.tool not in dialect.TOOLS or event.is_own:
        return b""
    output = dialect.output_of(event, max_bytes)
    if output is None:
        return b""
    observation = output.encode("utf-8", "surrogatepass")
    if not (min_bytes <= len(observation) <= max_bytes and is_text(observation)):
        return b""
    query = events.query_of(event, last_message(event.transcript))
    if is_blank(query):
        return b""
    shortened = shorten(
        observation, _ask(query, observation, profile, model), PROFILES[profile].protection, store=Store.of_user()
    )
    if shortened.warning or len(shortened.text) >= len(observation):
        return b""  # what could not be stored would be lost: the agent cannot run the command again to see it
    text = shortened.text.decode("utf-8", "surrogatepass")
    return (json.dumps(dialect.reply(event, text)) + "\n").encode("ascii")


def _ask(query: str, observation: bytes, profile: str, model: str | None) -> list[Any]:
    from linecls.cli.asking import ask

    # The time is short: a resident process answers sooner, and the next call finds it running.
    daemon = None if os.environ.get("LINECLS_DAEMON") else True
    return ask(query, observation, PROFILES[profile], daemon=daemon, model=model, device="auto", threads=None)
