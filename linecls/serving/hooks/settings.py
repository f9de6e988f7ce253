"""An agent's settings file with and without the hook: what changes, and nothing else changes.

The files are those of the agents' own documentation (docs/agents.md): Claude Code's `settings.json`, Codex's
`hooks.json`. Both list hooks as `hooks.PostToolUse[].hooks[]` with a matcher for the tool's name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from linecls.errors import LineclsError

AGENTS = ("claude-code", "codex")
_BACKUP = ".linecls-backup"
_TIMEOUT = 10  # seconds that the agent waits for the hook at most; the hook's own deadline comes long before


class SettingsError(LineclsError):
    """An agent's settings cannot be read, understood or written."""


def settings_path(agent: str, project: bool) -> Path:
    """The file that the hook goes into: of the user, or of the project in the working directory."""
    if agent == "claude-code":
        folder = Path(".claude") if project else _home("CLAUDE_CONFIG_DIR", ".claude")
        return folder / "settings.json"
    return (Path(".codex") if project else _home("CODEX_HOME", ".codex")) / "hooks.json"


def hook_command(agent: str, project: bool) -> str:
    """The shell command of the hook.

    A project's settings are shared, so the command there is looked up on the PATH; the user's own name this
    installation.
    """
    import shlex

    if project:
        return f"linecls hook {agent}"
    program = os.path.abspath(sys.argv[0])
    if Path(program).stem == "linecls" and os.access(program, os.X_OK):
        return f"{shlex.quote(program)} hook {agent}"
    return f"{shlex.quote(sys.executable)} -m linecls hook {agent}"


class Settings:
    """One settings file, as it is and as it would be."""

    def __init__(self, path: Path, agent: str) -> None:
        self.path = path
        self.agent = agent
        self.before = self._read(path)
        self._own = re.compile(rf"\blinecls(?:\.exe)?['\"]? hook {re.escape(agent)}(?:\s|$)")

    def installed(self, command: str) -> str:
        """The file's text with the hook in it: once, with this command. Raises SettingsError."""
        values = self._values()
        wanted = {"type": "command", "command": command, "timeout": _TIMEOUT}
        if [hook for _, hook in self._hooks(values) if self._is_own(hook)] == [wanted]:
            return self.before or ""
        self._remove(values)
        groups = values.setdefault("hooks", {}).setdefault("PostToolUse", [])
        groups.append({"matcher": "Bash", "hooks": [wanted]})
        return _dump(values, self.before)

    def uninstalled(self) -> str | None:
        """The file's text without the hook, None when the file is to go. Raises SettingsError.

        Where that is what stood in the file before `install`, it comes back byte for byte.
        """
        values = self._values()
        if not self._remove(values):
            return self.before
        backup = self._read(self._backup)
        if backup is not None:
            with suppress(ValueError):
                if json.loads(backup) == values:
                    return backup
        return None if not values and backup is None else _dump(values, self.before)

    def write(self, text: str | None, *, backup: bool) -> None:
        """Put the text in the file, as a whole or not at all; None removes it. Raises SettingsError.

        backup: keep the file as it was beside it, under its name with `.linecls-backup`. Without, a backup whose
        content the file now has again goes.
        """
        target = Path(os.path.realpath(self.path))  # a link into a collection of dot files stays a link
        try:
            if text is None:
                target.unlink()
                return
            target.parent.mkdir(parents=True, exist_ok=True)
            if backup and self.before is not None:
                shutil.copy2(target, self._backup)
            descriptor, scratch = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                    file.write(text)
                if target.exists():
                    shutil.copymode(target, scratch)
                os.replace(scratch, target)
            except BaseException:
                os.unlink(scratch)
                raise
            if not backup and self._read(self._backup) == text:
                self._backup.unlink()
        except OSError as error:
            raise SettingsError(f"cannot write {target}: {error.strerror or error}") from error

    @property
    def _backup(self) -> Path:
        return self.path.with_name(self.path.name + _BACKUP)

    @staticmethod
    def _read(path: Path) -> str | None:
        try:
            return path.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SettingsError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error

    def _values(self) -> dict[str, Any]:
        if self.before is None or not self.before.strip():
            return {}
        try:
            values = json.loads(self.before)
        except ValueError as error:
            raise SettingsError(f"{self.path} is not JSON ({error}); mend it first, nothing was changed") from error
        hooks = values.get("hooks", {}) if isinstance(values, dict) else None
        groups = hooks.get("PostToolUse", []) if isinstance(hooks, dict) else None
        if not isinstance(values, dict) or not isinstance(groups, list):
            raise SettingsError(f"{self.path} does not have the form of {self.agent}'s settings; nothing was changed")
        return values

    @staticmethod
    def _hooks(values: dict[str, Any]) -> list[tuple[dict[str, Any], Any]]:
        """Each hook after a tool call, with the group that it stands in."""
        groups = values.get("hooks", {}).get("PostToolUse", [])
        found = [group for group in groups if isinstance(group, dict) and isinstance(group.get("hooks"), list)]
        return [(group, hook) for group in found for hook in group["hooks"]]

    def _is_own(self, hook: Any) -> bool:
        command = hook.get("command") if isinstance(hook, dict) else None
        return isinstance(command, str) and self._own.search(command) is not None

    def _remove(self, values: dict[str, Any]) -> bool:
        """Take our hook out, and what is empty then; whether it was there."""
        own = [(group, hook) for group, hook in self._hooks(values) if self._is_own(hook)]
        for group, hook in own:
            group["hooks"].remove(hook)
            if not group["hooks"]:
                values["hooks"]["PostToolUse"].remove(group)
        if own and not values["hooks"]["PostToolUse"]:
            del values["hooks"]["PostToolUse"]
        if own and not values["hooks"]:
            del values["hooks"]
        return bool(own)


def _home(variable: str, name: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / name)


def _dump(values: dict[str, Any], like: str | None) -> str:
    """JSON text, indented as the file was."""
    match = re.search(r"\n([ \t]+)\S", like or "")
    indent = match.group(1) if match else "  "
    return json.dumps(values, indent=indent, ensure_ascii=False) + "\n"
