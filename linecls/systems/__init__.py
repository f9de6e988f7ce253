"""Systems by name: linecls itself and what it is compared with."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from linecls.errors import LineclsError, missing_extra
from linecls.systems.base import Selection, System

__all__ = ["GENERATIVE", "HEURISTICS", "NAMES", "Selection", "System", "create", "from_file"]

# Loaded on first use: `similarity` brings torch, `linecls` the ONNX Runtime.
_REGISTRY = {
    "linecls": ("linecls.systems.ours", "Linecls"),
    "similarity": ("linecls.systems.similarity", "Similarity"),
    "bm25": ("linecls.systems.heuristics", "BM25"),
    "first": ("linecls.systems.heuristics", "First"),
    "last": ("linecls.systems.heuristics", "Last"),
    "random": ("linecls.systems.heuristics", "Random"),
    "generative": ("linecls.systems.generative", "Endpoint"),
    "local": ("linecls.systems.local_generative", "LocalGenerative"),
    "squeez-pooled": ("linecls.systems.peers", "SqueezPooled"),
    "llmlingua2": ("linecls.systems.peers", "LLMLingua2"),
    "swe-pruner": ("linecls.systems.peers", "SwePruner"),
}
NAMES = tuple(_REGISTRY)
HEURISTICS = ("bm25", "first", "last", "random")
GENERATIVE = ("generative", "local")


def create(name: str, **options: Any) -> System:
    """The system called `name`, ready to run; options are those of its class.

    Raises LineclsError for an unknown name, TypeError for an option that the system does not take, and what
    loading its model raises.
    """
    if name not in _REGISTRY:
        raise LineclsError(f"unknown system '{name}'; choose from: {', '.join(NAMES)}")
    module, cls = _REGISTRY[name]
    return getattr(import_module(module), cls)(**options)


def from_file(path: str | Path, *, cache: str | Path | None = None) -> System:
    """The system that a YAML file describes: `system: NAME`, options of its class, and its name in reports.

    `name` may be left out; it is then the file's name without its ending. cache: folder that keeps the completions
    of a generative system, where the file names none. Raises LineclsError for a file that cannot be used,
    MissingExtraError without PyYAML (extra `eval`), and what loading the system's model raises.
    """
    try:
        import yaml
    except ImportError:
        raise missing_extra("pyyaml", "eval") from None
    source = Path(path)
    try:
        values = yaml.safe_load(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise LineclsError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    except yaml.YAMLError as error:
        raise LineclsError(f"{path}: no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise LineclsError(f"{path}: a system is described by 'system: NAME' and its options")
    kind, name = values.pop("system", None), values.pop("name", None) or source.stem
    if not isinstance(kind, str) or not isinstance(name, str):
        raise LineclsError(f"{path}: 'system' must be one of: {', '.join(NAMES)}; 'name' a text")
    try:
        defaults = {"cache": cache} if kind in GENERATIVE else {}
        system: Any = create(kind, **{**defaults, **values})
    except (LineclsError, TypeError, ValueError) as error:
        if isinstance(error, TypeError) and "argument" not in str(error):
            raise
        said = str(error).removeprefix(f"{_REGISTRY[kind][1]}.__init__() ") if kind in _REGISTRY else str(error)
        raise (type(error) if isinstance(error, LineclsError) else LineclsError)(f"{path}: {said}") from error
    system.name = name
    return system
