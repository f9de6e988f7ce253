from __future__ import annotations

import json
import sys
import types

import pytest

from linecls.artifact import Artifact, embedded, resolve, write_artifact
from linecls.decoding import OperatingPoint
from linecls.encoding import EncodingConfig
from linecls.errors import ArtifactError, LineclsError, MissingExtraError

POINTS = {"balanced": OperatingPoint(0.5, 1.0, 0.2), "recall": OperatingPoint(-1.0)}


@pytest.fixture
def parts(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    for name, content in {
        "int8.onnx": b"eight bits",
        "fp32.onnx": b"many bits",
        "scorer.onnx": b"scores",
        "tok.json": b"{}",
    }.items():
        (parts / name).write_bytes(content)
    return parts


def write(parts, target, **changes):
    values = {
        "name": "tiny",
        "version": "3",
        "encoding": EncodingConfig(window_tokens=96),
        "graphs": {
            "int8": {"encoder": parts / "int8.onnx", "scorer": parts / "scorer.onnx"},
            "fp32": {"encoder": parts / "fp32.onnx", "scorer": parts / "scorer.onnx"},
        },
        "providers": {"cpu": "int8", "cuda": "fp32"},
        "pooling": "last",
        "tokenizer": parts / "tok.json",
        "operating_points": POINTS,
        "default_operating_point": "balanced",
        "provenance": {"seed": 7, "data": ["ours"]},
        "card": "# tiny\n",
    }
    return write_artifact(target, **{**values, **changes})


@pytest.fixture
def model_dir(parts, tmp_path):
    return write(parts, tmp_path / "deep" / "model").directory


def edit(model_dir, **changes):
    path = model_dir / "linecls.json"
    values = json.loads(path.read_text())
    path.write_text(json.dumps({**values, **changes}))


def test_what_is_written_is_loaded_again(model_dir):
    artifact = Artifact.load(model_dir)
    assert (artifact.name, artifact.version) == ("tiny", "3")
    assert artifact.encoding == EncodingConfig(window_tokens=96)
    assert artifact.operating_points == POINTS
    assert artifact.provenance == {"seed": 7, "data": ["ours"]}
    assert artifact.default_variant == "int8"
    assert {role: path.read_bytes() for role, path in artifact.graphs().items()} == {
        "encoder": b"eight bits",
        "scorer": b"scores",
    }
    assert artifact.graphs("fp32")["encoder"].name == "encoder-fp32.onnx"
    assert artifact.graphs("fp32")["scorer"] == artifact.graphs("int8")["scorer"]
    assert (artifact.variant_for("cpu"), artifact.variant_for("cuda")) == ("int8", "fp32")
    assert artifact.pooling == "last"
    assert artifact.size == sum(path.stat().st_size for path in model_dir.iterdir())
    assert sorted(path.name for path in model_dir.iterdir()) == [
        "README.md",
        "encoder-fp32.onnx",
        "encoder-int8.onnx",
        "linecls.json",
        "scorer.onnx",
        "tokenizer.json",
    ]
    assert [path.name for path in model_dir.parent.iterdir()] == ["model"]  # no scratch left


def test_operating_points_and_variants_by_name(model_dir):
    artifact = Artifact.load(model_dir)
    assert artifact.operating_point() == POINTS["balanced"]
    assert artifact.operating_point("recall") == POINTS["recall"]
    with pytest.raises(LineclsError, match="no operating point 'speed'; it has: balanced, recall"):
        artifact.operating_point("speed")
    with pytest.raises(ArtifactError, match="no variant 'fp16'; it has: int8, fp32"):
        artifact.graphs("fp16")


@pytest.mark.parametrize("name", ["encoder-int8.onnx", "scorer.onnx", "tokenizer.json", "README.md"])
def test_a_changed_or_missing_file_is_named(model_dir, name):
    content = (model_dir / name).read_bytes()
    (model_dir / name).write_bytes(content[:-1] + b"?")
    with pytest.raises(ArtifactError, match=f"{name} is corrupt.*fetch"):
        Artifact.load(model_dir)
    (model_dir / name).unlink()
    with pytest.raises(ArtifactError, match=f"{name} cannot be read.*fetch"):
        Artifact.load(model_dir)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema_version": 3}, "schema version 3, this linecls reads 2; upgrade linecls$"),
        ({"schema_version": None}, "schema version None, this linecls reads 2; export the model again$"),
        ({"encoding": {"window": 3}}, "malformed: unknown encoding fields: window"),
        ({"encoding": []}, "malformed"),
        ({"operating_points": {"a": {"bias": 1, "speed": 2}}}, "malformed"),
        ({"operating_points": {"a": {"bias": "x"}}}, "malformed"),
        ({"default_operating_point": "speed"}, "no operating point 'speed'"),
        ({"files": {"int8": {"encoder": "../a.onnx", "scorer": "scorer.onnx"}}}, "outside the model directory"),
        ({"files": {"int8": {"encoder": "other.onnx", "scorer": "scorer.onnx"}}}, r"no sha256 of other\.onnx"),
        ({"files": {"fp32": {"encoder": "encoder-fp32.onnx"}}}, "the graphs of fp32"),
        ({"files": {"fp32": "encoder-fp32.onnx"}}, "malformed"),
        ({"files": {}}, "names no variant"),
        ({"providers": {"cuda": "fp16"}}, "no variant 'fp16'"),
        ({"pooling": "median"}, "unknown pooling 'median'"),
        ({"sha256": {}}, r"no sha256 of tokenizer\.json"),
    ],
)
def test_malformed_metadata_is_refused(model_dir, changes, message):
    edit(model_dir, **changes)
    with pytest.raises(ArtifactError, match=message) as caught:
        Artifact.load(model_dir)
    assert "\n" not in str(caught.value)


def test_an_older_schema_is_to_be_exported_again(model_dir):
    edit(model_dir, schema_version=1, files={"int8": "model.onnx"})
    with pytest.raises(ArtifactError, match=r"schema version 1, this linecls reads 2; export the model again$"):
        Artifact.load(model_dir)


def test_a_missing_field_is_named(model_dir):
    path = model_dir / "linecls.json"
    values = json.loads(path.read_text())
    del values["encoding"]
    path.write_text(json.dumps(values))
    with pytest.raises(ArtifactError, match="no field 'encoding'"):
        Artifact.load(model_dir)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe\x00"])
def test_metadata_that_is_no_json_object_is_refused(model_dir, content):
    (model_dir / "linecls.json").write_bytes(content)
    with pytest.raises(ArtifactError, match=r"linecls\.json is not"):
        Artifact.load(model_dir)


def test_no_model_directory(tmp_path):
    with pytest.raises(ArtifactError, match="no such model directory"):
        Artifact.load(tmp_path / "nowhere")
    with pytest.raises(ArtifactError, match="not a model directory"):
        Artifact.load(tmp_path)


def test_an_artifact_is_replaced_and_anything_else_is_not(parts, model_dir, tmp_path):
    write(
        parts,
        model_dir,
        graphs={"int8": {"encoder": parts / "int8.onnx", "scorer": parts / "scorer.onnx"}},
        version="4",
        providers={},
        card=None,
    )
    assert Artifact.load(model_dir).version == "4"
    assert not (model_dir / "encoder-fp32.onnx").exists()
    (model_dir / "notes.txt").write_text("mine")
    with pytest.raises(ArtifactError, match=r"notes\.txt"):
        write(parts, model_dir)
    assert (model_dir / "notes.txt").read_text() == "mine"
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ArtifactError, match="is a file"):
        write(parts, tmp_path / "file")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert write(parts, empty).directory == empty


def test_a_failed_write_leaves_the_old_artifact(parts, model_dir):
    with pytest.raises(OSError, match="gone"):
        write(parts, model_dir, graphs={"int8": {"encoder": parts / "gone.onnx"}}, version="4")
    assert Artifact.load(model_dir).version == "3"
    assert [path.name for path in model_dir.parent.iterdir()] == ["model"]


def test_a_write_without_graph_or_default_point_is_refused(parts, tmp_path):
    with pytest.raises(ArtifactError, match="at least one graph"):
        write(parts, tmp_path / "model", graphs={})
    with pytest.raises(ArtifactError, match="'speed'"):
        write(parts, tmp_path / "model", default_operating_point="speed")
    assert not (tmp_path / "model").exists()


def test_resolve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve() == embedded()
    assert embedded().parts[-3:] == ("linecls", "assets", "default")
    (tmp_path / "org" / "name").mkdir(parents=True)
    assert str(resolve("org/name")) == "org/name"  # a directory goes before the hub
    assert str(resolve("./no/such/directory")) == "no/such/directory"
    assert str(resolve("./model")) == "model"  # no id of the hub, so nobody is asked for it


def test_a_hub_id_without_the_hub_extra(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"linecls\[hub\]"):
        resolve("org/name")


def test_a_hub_id_through_the_hub(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hub = types.ModuleType("huggingface_hub")
    hub.snapshot_download = lambda repo, allow_patterns: str(tmp_path / repo)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert resolve("org/name") == tmp_path / "org" / "name"

    def offline(repo, allow_patterns):
        raise ConnectionError("cannot\nreach the hub")

    hub.snapshot_download = offline  # type: ignore[attr-defined]
    with pytest.raises(ArtifactError, match=r"org/name here.*cannot reach the hub.*online"):
        resolve("org/name")


def test_operating_points_can_be_replaced(model_dir):
    fresh = {"tight": OperatingPoint(-0.5, 0.25, 0.3, relative=True)}
    artifact = Artifact.load(model_dir).with_operating_points(fresh, "tight")
    assert artifact.operating_point() == fresh["tight"]
    assert Artifact.load(model_dir) == artifact
    with pytest.raises(ArtifactError, match="'wide' is not among the points"):
        artifact.with_operating_points(fresh, "wide")


def test_a_card_can_be_written_later_and_the_files_stay_intact(model_dir):
    Artifact.load(model_dir).with_card("# another\n", {"test": {"f1": 0.5}})
    artifact = Artifact.load(model_dir)
    assert (model_dir / "README.md").read_text() == "# another\n"
    assert artifact.provenance == {"seed": 7, "data": ["ours"], "test": {"f1": 0.5}}
