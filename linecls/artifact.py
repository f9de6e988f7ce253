"""A model directory: the network, its tokenizer, and `linecls.json`, which says what they are.

encoder-*.onnx   token windows -> token states, one file per variant (int8, fp16, fp32)
scorer.onnx      states and query -> logits; the variants may share it
tokenizer.json   for the `tokenizers` package
linecls.json     schema version, name, encoding limits, operating points, provenance, sha256 of each file
README.md        the model card (optional)

`files` in linecls.json names the graphs of each variant, `providers` the variant for each kind of device.
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

SCHEMA_VERSION = 2
METADATA = "linecls.json"
TOKENIZER = "tokenizer.json"
ENCODER, SCORER = "encoder", "scorer"  # roles of a graph
CARD = "README.md"

_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # ./name is a directory
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Artifact:
    """What `linecls.json` says of a model directory.

    encoding: the limits and form of the windows that the network was trained with.
    files: variant (by precision: int8, fp16, fp32) -> role (`encoder`, `scorer`) -> file name. The first
        variant is the default.
    providers: kind of device (`cpu`, `cuda`) -> the variant made for it.
    pooling: how the states of a line's tokens become its state: mean, first or last.
    sha256: file name -> hex digest, for each graph, the tokenizer and the model card.
    operating_points: name -> decoding parameters; `default_operating_point` is one of the names.
    provenance: how the model came to be; free form.
    """

    directory: Path
    name: str
    version: str
    encoding: EncodingConfig
    files: dict[str, dict[str, str]]
    providers: dict[str, str]
    pooling: str
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
            is_newer = isinstance(version, int) and version > SCHEMA_VERSION
            raise ArtifactError(
                f"{metadata} has schema version {version!r}, this linecls reads {SCHEMA_VERSION};"
                f" {'upgrade linecls' if is_newer else 'export the model again'}"
            )
        try:
            artifact = cls(
                directory=directory,
                name=str(values["name"]),
                version=str(values["version"]),
                encoding=EncodingConfig.from_dict(values["encoding"]),
                files={variant: dict(files) for variant, files in values["files"].items()},
                providers=dict(values.get("providers", {})),
                pooling=str(values.get("pooling", "mean")),
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
        graphs = [name for files in self.files.values() for name in files.values()]
        for name in (*graphs, *self.sha256):
            if not isinstance(name, str) or name in ("", ".", "..") or Path(name).name != name:
                raise ArtifactError(f"{metadata} names a file outside the model directory: {name!r}")
        for name in (TOKENIZER, *graphs):
            if name not in self.sha256:
                raise ArtifactError(f"{metadata} has no sha256 of {name}; export the model again")
        if not self.files:
            raise ArtifactError(f"{metadata} names no variant; export the model again")
        for variant, files in self.files.items():
            if set(files) != {ENCODER, SCORER}:
                raise ArtifactError(f"{metadata} does not name the graphs of {variant}; export the model again")
        if unknown := set(self.providers.values()) - set(self.files):
            raise ArtifactError(f"{metadata} has no variant {sorted(unknown)[0]!r}; export the model again")
        if self.pooling not in ("mean", "first", "last"):
            raise ArtifactError(f"{metadata} has the unknown pooling {self.pooling!r}; upgrade linecls")
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
        """The first variant."""
        return next(iter(self.files))

    def variant_for(self, kind: str) -> str | None:
        """The variant for a kind of device (`cpu`, `cuda`); None where the model has none for it.

        A GPU wants floating point: without a word in `providers` it takes fp16, else fp32.
        """
        if kind in self.providers:
            return self.providers[kind]
        if kind == "cpu":
            return self.default_variant
        return next((variant for variant in ("fp16", "fp32") if variant in self.files), None)

    def graphs(self, variant: str | None = None) -> dict[str, Path]:
        """Role -> path of a variant's graphs (None: the default). Raises ArtifactError for an unknown variant."""
        variant = variant or self.default_variant
        if variant not in self.files:
            raise ArtifactError(f"the model has no variant {variant!r}; it has: {', '.join(self.files)}")
        return {role: self.directory / name for role, name in self.files[variant].items()}

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
    graphs: Mapping[str, Mapping[str, str | Path]],
    providers: Mapping[str, str] | None = None,
    pooling: str = "mean",
    tokenizer: str | Path,
    operating_points: Mapping[str, OperatingPoint] | None = None,
    default_operating_point: str = "default",
    provenance: Mapping[str, Any] | None = None,
    card: str | None = None,
) -> Artifact:
    """Write a model directory as a whole or not at all, and return it, loaded and checked.

    graphs: variant -> role -> ONNX file to copy. Variants that name the same file share its copy.
    providers, pooling: as in `Artifact`.
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
        files = _file_names(graphs)
        for variant, roles in graphs.items():
            for role, source in roles.items():
                shutil.copyfile(source, fresh / files[variant][role])
        shutil.copyfile(tokenizer, fresh / TOKENIZER)
        if card is not None:
            (fresh / CARD).write_text(card, encoding="utf-8")
        values = {
            "schema_version": SCHEMA_VERSION,
            "name": name,
            "version": version,
            "encoding": encoding.to_dict(),
            "files": files,
            "providers": dict(providers or {}),
            "pooling": pooling,
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


def _file_names(graphs: Mapping[str, Mapping[str, str | Path]]) -> dict[str, dict[str, str]]:
    """Variant -> role -> file name: `<role>.onnx` where all variants share the file, else `<role>-<variant>.onnx`."""
    sources: dict[str, set[str]] = {}
    for roles in graphs.values():
        for role, source in roles.items():
            sources.setdefault(role, set()).add(str(source))
    shared = {role for role, paths in sources.items() if len(paths) == 1 and role == SCORER}
    return {
        variant: {role: f"{role}.onnx" if role in shared else f"{role}-{variant}.onnx" for role in roles}
        for variant, roles in graphs.items()
    }


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
            own = {METADATA, CARD, TOKENIZER, "encoder-int8.onnx", f"{SCORER}.onnx"}
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
