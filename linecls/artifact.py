"""A model directory: the network, its tokenizer, and `linecls.json`, which says what they are.

model.onnx       the network (`files` in linecls.json may name further variants, e.g. fp32 beside int8)
tokenizer.json   for the `tokenizers` package
linecls.json     schema version, name, encoding limits, operating points, provenance, sha256 of each file
README.md        the model card (optional)
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from linecls.decoding import OperatingPoint
from linecls.encoding import EncodingConfig
from linecls.errors import ArtifactError, LineclsError, missing_extra

SCHEMA_VERSION = 1
METADATA = "linecls.json"
TOKENIZER = "tokenizer.json"
GRAPH = "model.onnx"
CARD = "README.md"

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Artifact:
    """What `linecls.json` says of a model directory.

    encoding: the limits and form of the windows that the network was trained with.
    files: variant (by precision: int8, fp16, fp32) -> file name of its graph.
    sha256: file name -> hex digest, for each graph, the tokenizer and the model card.
    operating_points: name -> decoding parameters; `default_operating_point` is one of the names.
    provenance: how the model came to be; free form.
    """

    directory: Path
    name: str
    version: str
    encoding: EncodingConfig
    files: dict[str, str]
    sha256: dict[str, str]
    operating_points: dict[str, OperatingPoint]
    default_operating_point: str
    provenance: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> Artifact:
        """Read a model directory and check every file that it names.

        Raises ArtifactError, naming the file, when one is missing, malformed or not what its sha256 says, or
        when the schema version is not ours.
        """
        artifact = cls.read(path)
        artifact.verify()
        return artifact

    @classmethod
    def read(cls, path: str | Path) -> Artifact:
        """Read `linecls.json` alone, without a look at the files that it names (see `verify`)."""
        directory = Path(path)
        metadata = directory / METADATA
        try:
            values = json.loads(metadata.read_bytes())
        except OSError as error:
            hint = "not a model directory" if directory.is_dir() else "no such model directory"
            raise ArtifactError(f"cannot read {metadata}: {hint} ({error.strerror})") from error
        except ValueError as error:
            raise ArtifactError(f"{metadata} is not JSON: {error}; fetch the model again") from error
        if not isinstance(values, dict):
            raise ArtifactError(f"{metadata} is not a JSON object; fetch the model again")
        version = values.get("schema_version")
        if version != SCHEMA_VERSION:
            raise ArtifactError(
                f"{metadata} has schema version {version!r}, this linecls reads {SCHEMA_VERSION};"
                " upgrade linecls or export the model again"
            )
        try:
            artifact = cls(
                directory=directory,
                name=str(values["name"]),
                version=str(values["version"]),
                encoding=EncodingConfig.from_dict(values["encoding"]),
                files=dict(values["files"]),
                sha256=dict(values["sha256"]),
                operating_points={n: OperatingPoint(**p) for n, p in values["operating_points"].items()},
                default_operating_point=values["default_operating_point"],
                provenance=dict(values.get("provenance", {})),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"no field {error}" if isinstance(error, KeyError) else str(error)
            raise ArtifactError(f"{metadata} is malformed: {reason}; export the model again") from error
        artifact._check_names(metadata)
        return artifact

    def _check_names(self, metadata: Path) -> None:
        for name in (*self.files.values(), *self.sha256):
            if not isinstance(name, str) or name in ("", ".", "..") or Path(name).name != name:
                raise ArtifactError(f"{metadata} names a file outside the model directory: {name!r}")
        for name in (TOKENIZER, *self.files.values()):
            if name not in self.sha256:
                raise ArtifactError(f"{metadata} has no sha256 of {name}; export the model again")
        if GRAPH not in self.files.values():
            raise ArtifactError(f"{metadata} names no variant with the file {GRAPH}; export the model again")
        if self.default_operating_point not in self.operating_points:
            raise ArtifactError(
                f"{metadata} has no operating point {self.default_operating_point!r}, its default;"
                " export the model again"
            )

    def verify(self, names: Iterable[str] | None = None) -> None:
        """Check presence and sha256 of the named files (None: of all). Raises ArtifactError."""
        for name in self.sha256 if names is None else names:
            path = self.directory / name
            try:
                digest = file_sha256(path)
            except OSError as error:
                raise ArtifactError(
                    f"model file {path} cannot be read ({error.strerror}); fetch the model again"
                ) from error
            if digest != self.sha256[name]:
                raise ArtifactError(
                    f"model file {path} is corrupt: its sha256 is not the one in {METADATA}; fetch the model again"
                )

    @property
    def default_variant(self) -> str:
        """The variant whose graph is `model.onnx`."""
        return next(variant for variant, name in self.files.items() if name == GRAPH)

    def graph(self, variant: str | None = None) -> Path:
        """Path of a variant's graph (None: the default). Raises ArtifactError for an unknown variant."""
        variant = variant or self.default_variant
        if variant not in self.files:
            raise ArtifactError(f"the model has no variant {variant!r}; it has: {', '.join(self.files)}")
        return self.directory / self.files[variant]

    def with_operating_points(self, points: Mapping[str, OperatingPoint], default: str) -> Artifact:
        """Replace the operating points in `linecls.json`, atomically; returns the artifact as it then is."""
        if default not in points:
            raise ArtifactError(f"the default operating point {default!r} is not among the points")
        return self._rewrite(
            operating_points={name: asdict(point) for name, point in points.items()}, default_operating_point=default
        )

    def with_card(self, card: str, provenance: Mapping[str, Any]) -> Artifact:
        """Write the model card and add to the provenance; return the artifact as it then is."""
        path = self.directory / CARD
        path.write_text(card, encoding="utf-8")
        return self._rewrite(
            sha256={**self.sha256, CARD: file_sha256(path)}, provenance={**self.provenance, **provenance}
        )

    def _rewrite(self, **fields: Any) -> Artifact:
        metadata = self.directory / METADATA
        _write_metadata(metadata, {**json.loads(metadata.read_bytes()), **fields})
        return Artifact.read(self.directory)

    @property
    def tokenizer(self) -> Path:
        return self.directory / TOKENIZER

    def operating_point(self, name: str | None = None) -> OperatingPoint:
        """The named operating point (None: the default). Raises LineclsError for an unknown name."""
        name = name or self.default_operating_point
        if name not in self.operating_points:
            known = ", ".join(self.operating_points)
            raise LineclsError(f"the model has no operating point {name!r}; it has: {known}")
        return self.operating_points[name]

    @property
    def size(self) -> int:
        """Bytes of all files of the directory that belong to the model."""
        names = (METADATA, *self.sha256)
        return sum((self.directory / n).stat().st_size for n in names if (self.directory / n).is_file())


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def write_artifact(
    directory: str | Path,
    *,
    name: str,
    version: str,
    encoding: EncodingConfig,
    graphs: Mapping[str, str | Path],
    tokenizer: str | Path,
    operating_points: Mapping[str, OperatingPoint] | None = None,
    default_operating_point: str = "default",
    provenance: Mapping[str, Any] | None = None,
    card: str | None = None,
) -> Artifact:
    """Write a model directory as a whole or not at all, and return it, loaded and checked.

    graphs: variant -> ONNX file to copy; the first becomes `model.onnx`, the others `model-<variant>.onnx`.
    tokenizer: the `tokenizer.json` to copy.
    card: text of the model card.
    An artifact that stands there is replaced; a directory that holds anything else is refused.
    """
    import shutil
    import tempfile

    target = Path(directory)
    if not graphs:
        raise ArtifactError("a model directory needs at least one graph")
    points = dict(operating_points or {"default": OperatingPoint()})
    if default_operating_point not in points:
        raise ArtifactError(f"the default operating point {default_operating_point!r} is not among the points")
    _refuse_foreign(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
        fresh = Path(scratch) / "new"
        fresh.mkdir()
        files: dict[str, str] = {}
        for index, (variant, source) in enumerate(graphs.items()):
            files[variant] = f"model-{variant}.onnx" if index else GRAPH
            shutil.copyfile(source, fresh / files[variant])
        shutil.copyfile(tokenizer, fresh / TOKENIZER)
        if card is not None:
            (fresh / CARD).write_text(card, encoding="utf-8")
        values = {
            "schema_version": SCHEMA_VERSION,
            "name": name,
            "version": version,
            "encoding": encoding.to_dict(),
            "files": files,
            "sha256": {path.name: file_sha256(path) for path in sorted(fresh.iterdir())},
            "operating_points": {n: asdict(point) for n, point in points.items()},
            "default_operating_point": default_operating_point,
            "provenance": dict(provenance or {}),
        }
        _write_metadata(fresh / METADATA, values)
        Artifact.load(fresh)
        if target.exists():
            os.replace(target, Path(scratch) / "old")
        os.replace(fresh, target)
    return Artifact.load(target)


def _write_metadata(path: Path, values: dict[str, Any]) -> None:
    scratch = path.with_name(f".{path.name}.new")
    scratch.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(scratch, path)


def _refuse_foreign(target: Path) -> None:
    """Raise ArtifactError when `target` holds anything that is no part of an artifact."""
    if not target.exists():
        return
    if not target.is_dir():
        raise ArtifactError(f"{target} is a file; name a directory for the model")
    present = {path.name for path in target.iterdir()}
    own: set[str] = set()
    if METADATA in present:
        try:
            own = {METADATA, CARD, TOKENIZER, *json.loads((target / METADATA).read_bytes())["sha256"]}
        except (OSError, ValueError, KeyError, TypeError):
            own = {METADATA, CARD, TOKENIZER, GRAPH}
    if foreign := sorted(present - own):
        raise ArtifactError(f"{target} holds files that are no part of a model ({foreign[0]}); name another")


def embedded() -> Path:
    """Directory of the model that comes with the package."""
    return Path(__file__).parent / "assets" / "default"


def resolve(model: str | Path | None = None) -> Path:
    """The directory of a model: None is the embedded one, else a directory or a hub id `organisation/name`.

    Raises ArtifactError when there is no such directory and the hub does not give it, MissingExtraError when
    a hub id is named and huggingface-hub is not installed.
    """
    if model is None:
        return embedded()
    if Path(model).exists() or isinstance(model, Path) or not _HUB_ID.fullmatch(model):
        return Path(model)
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise missing_extra("huggingface-hub", "hub") from error
    try:
        return Path(snapshot_download(model, allow_patterns=["*.onnx", "*.json", CARD]))
    except Exception as error:  # the hub client has dozens of kinds, its transport's among them
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ArtifactError(
            f"no directory {model} here, and the hub does not give it ({reason[:200]});"
            " name a model directory, or fetch it once while online"
        ) from error
