"""Systems by name: linecls itself and what it is compared with."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from linecls.errors import LineclsError
from linecls.systems.base import Selection, System

__all__ = ["HEURISTICS", "NAMES", "Selection", "System", "create"]

# Loaded on first use: `similarity` brings torch, `linecls` the ONNX Runtime.
_REGISTRY = {
    "linecls": ("linecls.systems.ours", "Linecls"),
    "similarity": ("linecls.systems.similarity", "Similarity"),
    "bm25": ("linecls.systems.heuristics", "BM25"),
    "first": ("linecls.systems.heuristics", "First"),
    "last": ("linecls.systems.heuristics", "Last"),
    "random": ("linecls.systems.heuristics", "Random"),
}
NAMES = tuple(_REGISTRY)
HEURISTICS = ("bm25", "first", "last", "random")


def create(name: str, **options: Any) -> System:
    """The system called `name`, ready to run; options are those of its class.

    Raises LineclsError for an unknown name, TypeError for an option that the system does not take, and what
    loading its model raises.
    """
    if name not in _REGISTRY:
        raise LineclsError(f"unknown system '{name}'; choose from: {', '.join(NAMES)}")
    module, cls = _REGISTRY[name]
    return getattr(import_module(module), cls)(**options)
