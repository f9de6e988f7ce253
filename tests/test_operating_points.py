"""Operating points in model directories: added, replaced, never into the embedded model, never half."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from linecls.artifact import Artifact, embedded
from linecls.decoding import OperatingPoint
from linecls.errors import ArtifactError, LineclsError
from linecls.operating_points import check_name, writable_directory, write_point

POINT = OperatingPoint(-1.25, 0.5, 0.1, True)


@pytest.fixture
def model(tiny_model_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model_dir, tmp_path / "model"))


def test_a_point_is_added_beside_the_others(model: Path) -> None:
    before = Artifact.load(model)
    after = write_point(before, model, "lean", POINT, {"target": "compression=0.9"})
    assert after.operating_points == {**before.operating_points, "lean": POINT}
    assert after.default_operating_point == before.default_operating_point
    assert after.provenance["tuned"] == {"lean": {"target": "compression=0.9"}}
    again = write_point(after, model, "lean", OperatingPoint(3.0), {"target": "f1"})
    assert again.operating_point("lean") == OperatingPoint(3.0)
    assert again.provenance["tuned"] == {"lean": {"target": "f1"}}
    Artifact.load(model)
    assert not [path for path in model.iterdir() if path.name.startswith(".")]


def test_a_copy_is_made_once_and_then_added_to(model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "deep" / "copy"
    before = (model / "linecls.json").read_bytes()
    write_point(Artifact.read(model), writable_directory(str(model), copy), "a", POINT)
    write_point(Artifact.read(model), writable_directory(str(model), copy), "b", POINT)
    assert {"a", "b"} <= set(Artifact.load(copy).operating_points)
    assert (model / "linecls.json").read_bytes() == before


def test_an_empty_directory_becomes_the_copy(model: Path, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    write_point(Artifact.read(model), writable_directory(str(model), tmp_path / "made"), "a", POINT)
    assert Artifact.load(tmp_path / "made").operating_point("a") == POINT


def test_the_embedded_model_is_not_touched(tmp_path: Path) -> None:
    for model, output in ((None, None), (str(embedded()), None), (None, embedded())):
        with pytest.raises(ArtifactError, match="embedded model"):
            writable_directory(model, output)
    assert writable_directory(None, tmp_path / "copy") == tmp_path / "copy"


def test_what_stands_in_the_way_is_kept(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArtifactError, match="is a file"):
        writable_directory(str(model), tmp_path / "file")
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(ArtifactError, match="not a model directory"):
        writable_directory(str(model), other)
    with pytest.raises(ArtifactError, match="another model"):
        writable_directory(None, model)
    with pytest.raises(ArtifactError, match="no such model directory"):
        writable_directory(str(tmp_path / "absent"), None)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written_is_found_before_the_work(model: Path) -> None:
    model.chmod(0o500)
    with pytest.raises(ArtifactError, match="cannot be written"):
        writable_directory(str(model), None)


def test_a_failed_write_leaves_the_model_as_it_was(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted((path.name, path.read_bytes()) for path in model.iterdir())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(LineclsError, match="No space left"):
        write_point(Artifact.read(model), model, "lean", POINT)
    assert sorted((path.name, path.read_bytes()) for path in model.iterdir()) == before


def test_a_figure_that_is_no_number_is_not_written(model: Path) -> None:
    before = (model / "linecls.json").read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        write_point(Artifact.read(model), model, "lean", POINT, {"recall": float("nan")})
    assert (model / "linecls.json").read_bytes() == before


@pytest.mark.parametrize("name", ["", "-x", "a b", "a/b", ".", "x" * 65, "a\n"])
def test_names_that_a_command_line_could_not_carry_are_refused(name: str) -> None:
    with pytest.raises(LineclsError, match="no name"):
        check_name(name)
    assert check_name("compression=0.90") == "compression=0.90"


def test_metadata_is_json_for_people(model: Path) -> None:
    write_point(Artifact.read(model), model, "lean", POINT)
    text = (model / "linecls.json").read_text()
    assert json.loads(text)["operating_points"]["lean"]["relative"] is True
    assert text.count("\n") > 20
