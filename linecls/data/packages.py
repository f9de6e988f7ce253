"""Installed and downloaded Python distributions as a source of text, with their licences."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from email.parser import HeaderParser
from functools import lru_cache
from pathlib import Path

from linecls.errors import LineclsError

_PERMISSIVE = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Unlicense|Zlib|HPND|0BSD|CC0|public domain)\b",
    re.I,
)
_COPYLEFT = re.compile(r"GPL|GNU|Mozilla|MPL|Eclipse|EUPL|Proprietary", re.I)
_NOT_SOURCE = re.compile(
    r"(^|/)(tests?|testing|_vendor|vendor|vendored|_vendored|locale|migrations|examples?|benchmarks?"
    r"|conftest\.py|.*_pb2\.py|test_[^/]*|typeshed)(/|$)"
)


@dataclass(frozen=True)
class Package:
    """A distribution whose source files can be read: `files` are its `.py` paths, relative to `root`."""

    name: str
    version: str
    licence: str
    root: Path
    files: tuple[str, ...]

    def read(self, path: str) -> str | None:
        """The text of one file; None for what is not there or no UTF-8."""
        try:
            if self.root.is_dir():
                return (self.root / path).read_bytes().decode("utf-8")
            return _wheel(self.root).read(path).decode("utf-8")
        except (UnicodeDecodeError, KeyError, OSError):
            return None


@lru_cache(maxsize=8)
def _wheel(path: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def project_name(name: str) -> str:
    """The normal form of a project's name (PEP 503): `ruamel.yaml` and `Ruamel_YAML` are one."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _described(metadata: str) -> tuple[str, str, str]:
    fields = HeaderParser().parsestr(metadata)
    classifiers = [c for c in fields.get_all("Classifier", []) if c.startswith("License ::")]
    licence = fields.get("License-Expression") or ""
    if not licence and classifiers:
        licence = "; ".join(c.split(" :: ")[-1] for c in classifiers)
    licence = licence or (fields.get("License") or "").strip().split("\n")[0]
    return project_name(fields.get("Name") or ""), fields.get("Version") or "", licence[:80]


def is_permissive(licence: str) -> bool:
    """Whether a licence field names a permissive licence and no copyleft one."""
    return bool(_PERMISSIVE.search(licence)) and not _COPYLEFT.search(licence)


def packages(sources: list[str], exclude: Iterable[str] = ()) -> list[Package]:
    """Distributions under permissive licences in folders of wheels or site-packages, by name, each once.

    Raises LineclsError when a folder does not exist.
    """
    found: dict[str, Package] = {}
    unwanted = {project_name(name) for name in exclude}
    for source in sources:
        folder = Path(source).expanduser()
        if not folder.is_dir():
            raise LineclsError(f"no folder {source}; give folders of wheels or site-packages as `sources`")
        for info in sorted(folder.glob("*.dist-info")):
            record, metadata = info / "RECORD", info / "METADATA"
            if record.exists() and metadata.exists():
                paths = [line.split(",")[0] for line in record.read_text("utf-8").splitlines()]
                _add(
                    found,
                    folder,
                    metadata.read_text("utf-8", "replace"),
                    [p for p in paths if not p.startswith("..")],
                    unwanted,
                )
        for path in sorted(folder.glob("*.whl")):
            with zipfile.ZipFile(path) as wheel:
                members = wheel.namelist()
                metadata = next((m for m in members if m.endswith(".dist-info/METADATA")), None)
                if metadata:
                    _add(found, path, wheel.read(metadata).decode("utf-8", "replace"), members, unwanted)
    return [found[name] for name in sorted(found)]


def _add(found: dict[str, Package], root: Path, metadata: str, paths: list[str], unwanted: set[str]) -> None:
    name, version, licence = _described(metadata)
    files = tuple(sorted(p for p in paths if p.endswith(".py") and not _NOT_SOURCE.search(p)))
    if name and name not in found and name not in unwanted and files and is_permissive(licence):
        found[name] = Package(name, version, licence, root, files)
