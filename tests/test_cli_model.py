from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

from linecls.cli import main


@pytest.fixture
def model(tiny_model_dir):
    def call(*arguments, directory=tiny_model_dir):
        return CliRunner().invoke(main, ["model", "--model", str(directory), *arguments])

    return call


def test_a_model_is_described(model, tiny_model_dir):
    result = model()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("tiny 1  ")
    assert str(tiny_model_dir) in result.stdout
    for word in (
        "encoder-int8.onnx (int8)",
        "scorer.onnx (int8, fp32)",
        "tokenizer.json",
        "intact",
        "default (default)",
        "wide",
        "window_tokens",
    ):
        assert word in result.stdout
    assert "MISSING" not in result.stdout


def test_as_json(model, tiny_model_dir):
    values = json.loads(model("--json").stdout)
    assert values["name"] == "tiny"
    assert values["bytes"] == sum(path.stat().st_size for path in tiny_model_dir.iterdir())
    assert values["operating_points"]["wide"]["bias"] == -50.0
    assert values["default_operating_point"] == "default"
    assert values["encoding"]["window_tokens"] == 64
    files = {file["name"]: file for file in values["files"]}
    assert files["encoder-int8.onnx"]["variants"] == ["int8"]
    assert values["providers"] == {"cpu": "int8", "cuda": "fp32"}
    assert all(file["intact"] for file in files.values())


def test_provenance_is_shown_as_a_tree(model, tiny_model_dir, tmp_path):
    copy = shutil.copytree(tiny_model_dir, tmp_path / "copy")
    values = json.loads((copy / "linecls.json").read_text())
    values["provenance"] = {"seed": 7, "data": ["a", "b"], "backbone": {"license": "Apache-2.0"}}
    (copy / "linecls.json").write_text(json.dumps(values))
    lines = [line.split() for line in model(directory=copy).stdout.splitlines()]
    assert ["seed", "7"] in lines
    assert ["data", "a,", "b"] in lines
    assert ["license", "Apache-2.0"] in lines


@pytest.mark.parametrize(("damage", "state"), [("change", "DAMAGED"), ("remove", "MISSING")])
def test_damage_is_shown_and_ends_with_status_2(model, tiny_model_dir, tmp_path, damage, state):
    copy = shutil.copytree(tiny_model_dir, tmp_path / "copy")
    graph = copy / "encoder-int8.onnx"
    graph.write_bytes(b"?") if damage == "change" else graph.unlink()
    result = model(directory=copy)
    assert result.exit_code == 2
    assert state in result.stdout
    assert result.stderr.count("\n") == 1
    assert "encoder-int8.onnx" in result.stderr
    files = {file["name"]: file for file in json.loads(model("--json", directory=copy).stdout)["files"]}
    assert not files["encoder-int8.onnx"]["intact"]
    assert files["tokenizer.json"]["intact"]


def test_no_model(model, tmp_path):
    result = model(directory=tmp_path / "nowhere")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("linecls: cannot read ")
    assert result.stderr.count("\n") == 1
