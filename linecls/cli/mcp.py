"""`linecls mcp`: the MCP server on standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from linecls.errors import missing_extra

if TYPE_CHECKING:
    from linecls.pruner import Pruner

_HELP = """Serve the Model Context Protocol on standard input and output.

Tools: prune_text (a text and a query), run_pruned (a command and a query), expand (what a marker line stands for).
run_pruned runs whatever command the client sends, with your rights, as a shell tool does: let your client ask you
before each call, or leave it out with --no-run.

\b
Examples:
  claude mcp add linecls -- linecls mcp
  codex mcp add linecls -- linecls mcp --no-run

Needs the extra `mcp`.
"""


@click.command("mcp", help=_HELP, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--run/--no-run", "with_run", default=True, help="Whether to offer run_pruned.  [default: yes]")
@click.option("--model", metavar="MODEL", help="Model directory or hub id, in place of the embedded model.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda[:N] or tensorrt[:N].")
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads.  [default: the physical cores]")
def command(with_run: bool, model: str | None, device: str, threads: int | None) -> None:
    """The click command; see `_HELP`."""
    from linecls.session import parse_device
    from linecls.store import Store

    parse_device(device)
    try:
        from linecls.serving.mcp import Tools, create_server
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "mcp") from error

    def load() -> Pruner:
        from linecls.pruner import Pruner

        return Pruner.from_pretrained(model, device=device, threads=threads)

    tools = Tools(load, Store.of_user())
    tools.warm()
    try:
        create_server(tools, with_run=with_run).run("stdio")
    finally:
        tools.close()
