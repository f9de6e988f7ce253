"""The replay of an agent's commands as a program; what it measures takes too long for a test."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner
from programs import ROOT, load


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "eval"))
    return load("agent_replay")


def test_a_name_that_is_none_lists_the_names(program: Any) -> None:
    result = CliRunner().invoke(program.main, ["--show", "nothing"])
    assert result.exit_code == 2
    assert "no case is called 'nothing'" in result.stderr
    listed = [line.strip() for line in result.stderr.partition("the cases are:")[2].splitlines() if line.strip()]
    assert listed == [case.name for case in program.CASES]


def test_the_help_says_where_the_names_stand(program: Any) -> None:
    shown = " ".join(CliRunner().invoke(program.main, ["--help"]).stdout.split())
    assert "NAME is one of the first column of the table; one that is none lists them." in shown
