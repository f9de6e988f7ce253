"""Writing a tuned operating point into a model directory, or into a copy of one."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from linecls.artifact import METADATA, Artifact, embedded, resolve
from linecls.decoding import OperatingPoint
from linecls.errors import ArtifactError, LineclsError

_NAME = re.compile(r"[A-Za-z0-9][\w.=-]{0,63}")


def check_name(name: str) -> str:
    """`name` if an operating point can be called so; LineclsError otherwise."""
    if not _NAME.fullmatch(name):
        raise LineclsError(
            f"{name!r} is no name for an operating point: use up to 64 letters, digits and . _ = -,"
            " and start with a letter or digit"
        )
    return name


def writable_directory(model: str | None, output: Path | None) -> Path:
    """The model directory that a point of `model` is to be written into; nothing is written yet.

    model: None for the embedded one, else a directory or a hub id; output: a directory for a copy, or None to change
    the model's own. Raises ArtifactError when that directory cannot be changed or holds something else.
    """
    source = resolve(model)
    if output is None:
        if source.resolve() == embedded().resolve():
            raise ArtifactError("the embedded model is not changed in place; name a directory for a copy with --output")
        if model is not None and source != Path(model):
            raise ArtifactError(f"{model} comes from the hub; name a directory for a copy of it with --output")
        Artifact.read(source)
        _check_writable(source)
        return source
    if output.resolve() == embedded().resolve():
        raise ArtifactError(f"{output} is the embedded model, which is not changed; name another --output")
    if not output.exists():
        _check_writable(next(parent for parent in output.absolute().parents if parent.exists()))
        return output
    if not output.is_dir():
        raise ArtifactError(f"{output} is a file; name a directory for the model")
    if any(output.iterdir()):
        _check_same_model(Artifact.read(source), Artifact.read(output))
    _check_writable(output)
    return output


def write_point(
    source: Artifact, directory: Path, name: str, point: OperatingPoint, tuned: Mapping[str, Any] | None = None
) -> Artifact:
    """Add an operating point to the model in `directory`, which becomes a copy of `source` where there is none.

    A point of that name is replaced. tuned: how it was found; stands under `provenance.tuned.NAME`. `linecls.json` is
    replaced as a whole or not at all. Returns the model as it then is.
    """
    check_name(name)
    try:
        if directory.resolve() != source.directory.resolve() and not (directory / METADATA).exists():
            _copy(source, directory)
        metadata = directory / METADATA
        values = json.loads(metadata.read_bytes())
        values["operating_points"][name] = asdict(point)
        if tuned is not None:
            provenance = values.setdefault("provenance", {})
            provenance["tuned"] = {**provenance.get("tuned", {}), name: dict(tuned)}
        _replace(metadata, json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    except OSError as error:
        raise LineclsError(f"cannot write the model in {directory}: {error.strerror or error}") from error
    return Artifact.read(directory)


def _copy(source: Artifact, directory: Path) -> None:
    """The files that belong to a model, all or none."""
    source.verify()
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{directory.name}-", dir=directory.parent) as scratch:
        fresh = Path(scratch) / "new"
        fresh.mkdir()
        for name in (METADATA, *source.sha256):
            shutil.copyfile(source.directory / name, fresh / name)
        if directory.is_dir():
            directory.rmdir()  # it is empty
        os.replace(fresh, directory)


def _replace(path: Path, text: str) -> None:
    handle, scratch = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        shutil.copymode(path, scratch)
        os.replace(scratch, path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def _check_same_model(source: Artifact, present: Artifact) -> None:
    """Raise ArtifactError where the networks differ: a point only holds for the network that it was tuned on."""
    graphs = [
        {model.sha256[name] for roles in model.files.values() for name in roles.values()} for model in (source, present)
    ]
    if graphs[0] != graphs[1]:
        raise ArtifactError(f"{present.directory} holds another model than {source.directory}; name another --output")


def _check_writable(directory: Path) -> None:
    if not os.access(directory, os.W_OK | os.X_OK):
        raise ArtifactError(f"{directory} cannot be written; name a directory for a copy with --output")
