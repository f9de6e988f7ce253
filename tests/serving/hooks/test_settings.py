from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls.cli import main
from linecls.serving.hooks.settings import Settings, SettingsError, hook_command, settings_path

FULL = """{
    "model": "opus",
    "hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}], "Stop": []},
    "é": 1
}"""


@pytest.fixture
def linecls(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")

    def call(*arguments: str, answer: str | None = None):
        return CliRunner().invoke(main, arguments, input=answer)

    return call


@pytest.mark.parametrize(("agent", "name"), [("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")])
@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("before", [None, "{}\n", FULL, '{"hooks": {}}', ""])
def test_install_is_idempotent_and_uninstall_restores(
    linecls, tmp_path, agent: str, name: str, project: bool, before: str | None
) -> None:
    path = (tmp_path / ("project" if project else "home")) / name
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_text(before)
        path.chmod(0o600)
    where = ["--project"] if project else []
    result = linecls("install", agent, *where, "--yes")
    assert result.exit_code == 0
    assert f"linecls hook {agent}" in result.stdout
    values = json.loads(path.read_text())
    (hook,) = values["hooks"]["PostToolUse"][-1]["hooks"]
    assert values["hooks"]["PostToolUse"][-1]["matcher"] == "Bash"
    assert (hook["type"], hook["timeout"]) == ("command", 10)
    assert hook["command"].endswith(f"linecls hook {agent}")
    for key, value in json.loads(before or "{}").items():
        if key != "hooks":
            assert values[key] == value
    installed = path.read_text()
    again = linecls("install", agent, *where, "--yes")
    assert (again.exit_code, again.stdout) == (0, "")
    assert "already" in again.stderr
    assert path.read_text() == installed

    result = linecls("uninstall", agent, *where, "--yes")
    assert result.exit_code == 0
    if before is None:
        assert not path.exists()
        assert list(path.parent.iterdir()) == []
    else:
        assert json.loads(path.read_text() or "{}") == json.loads(before or "{}") or before == '{"hooks": {}}'
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    if before == FULL:
        assert path.read_text() == FULL
        assert list(path.parent.iterdir()) == [path]
    assert "is not in" in linecls("uninstall", agent, *where, "--yes").stderr


def test_it_asks_and_a_no_changes_nothing(linecls, tmp_path) -> None:
    path = tmp_path / "home" / ".claude" / "settings.json"
    result = linecls("install", "claude-code", answer="n\n")
    assert result.exit_code == 1
    assert "+++ " in result.stdout
    assert "nothing was changed" in result.stderr
    assert linecls("install", "claude-code", answer="").exit_code == 1
    assert not path.exists()
    assert linecls("install", "claude-code", answer="y\n").exit_code == 0
    assert linecls("uninstall", "claude-code", answer="n\n").exit_code == 1
    assert path.exists()


def test_what_was_changed_after_install_stays(linecls, tmp_path) -> None:
    path = tmp_path / "home" / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(FULL)
    linecls("install", "claude-code", "--yes")
    values = json.loads(path.read_text())
    values["theme"] = "dark"
    values["hooks"]["PostToolUse"][-1]["hooks"].append({"type": "command", "command": "other"})
    path.write_text(json.dumps(values))
    linecls("uninstall", "claude-code", "--yes")
    after = json.loads(path.read_text())
    assert after["theme"] == "dark"
    assert after["hooks"]["PostToolUse"][-1] == {"matcher": "Bash", "hooks": [{"type": "command", "command": "other"}]}
    assert "linecls" not in path.read_text()
    assert path.with_name("settings.json.linecls-backup").read_text() == FULL


def test_another_installation_takes_the_place_of_the_hook(linecls, tmp_path) -> None:
    path = tmp_path / "home" / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    old = {"type": "command", "command": "'/old place/linecls' hook claude-code", "timeout": 5}
    path.write_text(json.dumps({"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [old, old]}]}}))
    assert linecls("install", "claude-code", "--yes").exit_code == 0
    assert path.read_text().count("hook claude-code") == 1
    assert "old place" not in path.read_text()


@pytest.mark.parametrize(
    "content", ["not json", '{"a": 1,}', "[1]", '{"hooks": []}', '{"hooks": {"PostToolUse": {}}}', "null", "\ufeff{}"]
)
def test_settings_that_are_not_understood_are_left_alone(linecls, tmp_path, content: str) -> None:
    path = tmp_path / "home" / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    for command in ("install", "uninstall"):
        result = linecls(command, "claude-code", "--yes")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("linecls: ")
        assert result.stderr.count("\n") == 1
    assert path.read_text() == content
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="symbolic links")
def test_a_link_stays_a_link(linecls, tmp_path) -> None:
    path = tmp_path / "home" / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    (tmp_path / "dotfiles.json").write_text("{}")
    path.symlink_to(tmp_path / "dotfiles.json")
    linecls("install", "claude-code", "--yes")
    assert path.is_symlink()
    assert "linecls hook" in (tmp_path / "dotfiles.json").read_text()


def test_a_directory_in_place_of_the_file(linecls, tmp_path) -> None:
    (tmp_path / "home" / ".claude" / "settings.json").mkdir(parents=True)
    result = linecls("install", "claude-code", "--yes")
    assert result.exit_code == 2
    assert result.stderr.startswith("linecls: cannot read ")


def test_a_file_in_place_of_the_folder(linecls, tmp_path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".claude").write_text("")
    result = linecls("install", "claude-code", "--yes")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_places_and_commands(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "c"))
    assert settings_path("claude-code", False) == tmp_path / "settings.json"
    assert settings_path("codex", False) == tmp_path / "c" / "hooks.json"
    assert settings_path("claude-code", True) == Path(".claude/settings.json")
    assert hook_command("codex", True) == "linecls hook codex"
    program = tmp_path / "my bin" / "linecls"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(program), "install"])
    assert hook_command("codex", False) == f"'{program}' hook codex"
    monkeypatch.setattr("sys.argv", ["/x/__main__.py"])
    assert hook_command("codex", False).endswith(" -m linecls hook codex")


HOOKS = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.just("linecls hook codex"),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(
            st.sampled_from(["hooks", "PostToolUse", "matcher", "command", "type", "x"]), values, max_size=3
        )
    ),
    max_leaves=10,
)


@settings(max_examples=50)
@given(HOOKS)
def test_any_json_is_changed_by_the_hook_alone_or_refused(tmp_path_factory, values) -> None:
    path = tmp_path_factory.mktemp("settings") / "hooks.json"
    path.write_text(json.dumps(values))
    file = Settings(path, "codex")
    try:
        clean = file.uninstalled()
        installed = file.installed("linecls hook codex")
    except SettingsError:
        return
    file.write(installed, backup=False)
    again = Settings(path, "codex")
    assert again.installed("linecls hook codex") == installed
    removed = again.uninstalled()
    stripped = json.loads(clean or "{}")
    if stripped.get("hooks") == {} or stripped.get("hooks", {}).get("PostToolUse") == []:
        return  # the empty list that the hook was put into goes with it
    assert json.loads(removed or "{}") == stripped
