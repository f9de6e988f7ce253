"""`linecls install` and `linecls uninstall`: the hook in an agent's settings."""

from __future__ import annotations

import difflib
import shutil
import sys
from pathlib import Path

import click

from linecls.streams import warn

_AGENTS = ("claude-code", "codex")  # as linecls.serving.hooks.settings has them, which is loaded when it is needed
_INSTALL_HELP = """Put the hook that prunes tool output into a coding agent's settings.

Shows what would change, asks, keeps a copy of the file beside it (NAME.linecls-backup), and changes nothing when the
hook is there already.

\b
  claude-code  ~/.claude/settings.json (CLAUDE_CONFIG_DIR), with --project .claude/settings.json
  codex        ~/.codex/hooks.json (CODEX_HOME), with --project .codex/hooks.json

\b
Examples:
  linecls install claude-code
  linecls install codex --project --yes
  linecls uninstall claude-code
"""
_UNINSTALL_HELP = """Take the hook out of a coding agent's settings.

Shows what would change and asks. Where nothing else has changed since `linecls install`, the file comes back byte for
byte; a file that install has made goes.
"""
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_PROJECT = click.option("--project", is_flag=True, help="The settings of the project in the working directory.")
_YES = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


@click.command(
    "install", help=_INSTALL_HELP, short_help="Put the hook into an agent's settings.", context_settings=_CONTEXT
)
@click.argument("agent", type=click.Choice(_AGENTS))
@_PROJECT
@_YES
def install(agent: str, project: bool, yes: bool) -> None:
    """The click command; see `_INSTALL_HELP`."""
    from linecls.serving.hooks.settings import Settings, hook_command, settings_path

    settings = Settings(settings_path(agent, project), agent)
    after = settings.installed(hook_command(agent, project))
    if after == settings.before:
        warn(f"the hook is in {settings.path} already")
        return
    _show(settings.path, settings.before, after)
    if not _agreed(yes):
        return
    settings.write(after, backup=True)
    warn(f"the hook is in {settings.path}; `linecls uninstall {agent}` takes it out again")
    if project and shutil.which("linecls") is None:
        warn("warning: linecls is not on the PATH, where the hook of a project is looked for")
    if agent == "codex":
        warn("note: Codex runs a new hook only after you have trusted it, with /hooks")


@click.command(
    "uninstall", help=_UNINSTALL_HELP, short_help="Take the hook out of an agent's settings.", context_settings=_CONTEXT
)
@click.argument("agent", type=click.Choice(_AGENTS))
@_PROJECT
@_YES
def uninstall(agent: str, project: bool, yes: bool) -> None:
    """The click command; see `_UNINSTALL_HELP`."""
    from linecls.serving.hooks.settings import Settings, settings_path

    settings = Settings(settings_path(agent, project), agent)
    after = settings.uninstalled()
    if after == settings.before:
        warn(f"the hook is not in {settings.path}")
        return
    _show(settings.path, settings.before, after)
    if _agreed(yes):
        settings.write(after, backup=False)
        warn(f"the hook is no longer in {settings.path}")


def _show(path: Path, before: str | None, after: str | None) -> None:
    old, new = ((text or "").splitlines(keepends=True) for text in (before, after))
    names = ("/dev/null" if before is None else str(path), "/dev/null" if after is None else str(path))
    for line in difflib.unified_diff(old, new, *names):
        click.echo(line if line.endswith("\n") else f"{line}\n", nl=False)


def _agreed(yes: bool) -> bool:
    if yes:
        return True
    if sys.stdin is None:
        raise click.UsageError("Nobody can be asked: give --yes.")
    if click.confirm("Write this?", err=True):
        return True
    warn("nothing was changed")
    click.get_current_context().exit(1)
