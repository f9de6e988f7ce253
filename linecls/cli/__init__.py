"""The command line. Each command stands in a module of its own, imported when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from linecls import __version__
from linecls.errors import LineclsError
from linecls.streams import discard_stdout, write_stderr

# Name -> where the click command is, and what the list of commands says of it.
_COMMANDS = {
    "prune": ("linecls.cli.prune:command", "Print the lines of tool output that answer a query."),
    "batch": ("linecls.cli.batch:command", "Prune every row of a file."),
    "run": ("linecls.cli.run:command", "Run a command and print the lines of its output that answer a query."),
    "expand": ("linecls.cli.expand:command", "Print what a marker line says was omitted."),
    "hook": ("linecls.cli.hook:command", "Prune a coding agent's tool output, as its hook."),
    "install": ("linecls.cli.install:install", "Put the hook into a coding agent's settings."),
    "uninstall": ("linecls.cli.install:uninstall", "Take the hook out of a coding agent's settings."),
    "daemon": ("linecls.cli.daemon:command", "Keep the model loaded for the next calls of prune."),
    "serve": ("linecls.cli.serve:command", "Serve over HTTP."),
    "mcp": ("linecls.cli.mcp:command", "Serve the Model Context Protocol on standard input and output."),
    "model": ("linecls.cli.model:command", "Show a model: files, limits, provenance, operating points."),
    "eval": ("linecls.cli.evaluate:command", "Compare systems on labelled records."),
    "tune": ("linecls.cli.tune:command", "Find operating points for a compression, recall or F1 target."),
    "train": ("linecls.cli.train:command", "Train a model from labelled records."),
    "data": ("linecls.cli.data:command", "Build labelled records by program."),
    "export": ("linecls.cli.export:command", "Turn a checkpoint into a model directory."),
}

_HELP = """Prune tool output to the verbatim lines that answer a query.

A query and the raw output of one command go in; the lines that matter come out, byte for byte, in order,
or nothing when nothing answers. It runs offline, with the model that comes with the package.

\b
Examples:
  pytest -q 2>&1 | linecls prune "why does the login test fail"
  linecls prune "which step broke the build" ci.log --max-lines 40
  git log -200 | linecls prune "when did the cache key change" --numbers
  kubectl describe pod web | linecls prune "why is it not ready" --json
  linecls model

`linecls COMMAND --help` tells more about a command.

\b
Exit status:
  0    done
  1    a check that was asked for failed (prune --strict: the model did not run)
  2    wrong usage, an unknown device, or an input or output that cannot be used; one line on stderr says which
  130  interrupted; 143, 129: ended by SIGTERM, SIGHUP
  141  the reader of the output went away
"""


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and that ends as Unix tools do."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        return getattr(import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except OSError as error:  # help, versions and tables that cannot be written; click handles a broken pipe
            discard_stdout()
            write_stderr(f"linecls: cannot write the output: {error.strerror or error}\n")
            sys.exit(2)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LineclsError as error:
            write_stderr(f"linecls: {error}\n")
            ctx.exit(2)
        except BrokenPipeError:
            discard_stdout()
            ctx.exit(141)
        except KeyboardInterrupt:
            ctx.exit(130)


@click.group(
    cls=LazyGroup,
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", package_name="linecls", message="%(prog)s %(version)s")
def main() -> None:
    """The group `linecls`."""
