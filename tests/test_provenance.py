from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from linecls import provenance


def test_files_are_named_without_their_folder(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_bytes(b"{}\n")
    assert provenance.source(file) == {"name": "records.jsonl", "sha256": hashlib.sha256(b"{}\n").hexdigest()}


def test_what_is_no_file_keeps_its_name() -> None:
    assert provenance.source("hub:organisation/name") == {"name": "hub:organisation/name", "sha256": None}


def test_machine_has_a_name_and_cores() -> None:
    found = provenance.machine()
    assert found["cpu"]
    assert found["cores"] >= 1
    assert provenance.measured_on().startswith(f"{found['cpu']}, {found['cores']} cores; ")


def test_commit_is_that_of_the_checkout() -> None:
    found = provenance.commit()
    assert found is None or len(found.removesuffix("-dirty")) == 40


@pytest.mark.parametrize(
    ("commit", "said"),
    [("a" * 40, f"commit {'a' * 12}"), ("a" * 40 + "-dirty", f"commit {'a' * 12}, changed"), (None, "linecls ")],
)
def test_commit_is_said_in_short(monkeypatch: pytest.MonkeyPatch, commit: str | None, said: str) -> None:
    monkeypatch.setattr(provenance, "commit", lambda: commit)
    assert f"cores; {said}" in provenance.measured_on()
