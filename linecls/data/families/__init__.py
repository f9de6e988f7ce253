"""Families of built records: each a module that makes labelled observations of one kind by program.

A family module has

- `NAME: str`, the name used in configurations, and
- `generate(rng: random.Random, options: dict) -> Iterator[Record]`, which yields canonical records. All
  randomness comes from `rng`; for equal `rng` state, options and sources it yields equal records. It yields
  as many as it can, observation by observation (records that share an observation one after another, the
  same `tool_output` string in each); the builder stops reading when it has enough.

Two options come from the builder: `part` and `parts` (0 and 1 when absent). Parts of one family must not
repeat each other: a family that reads sources takes every `parts`-th of them, starting with number `part`.

Records have `source="linecls"`, `instance_id="<observation>#<label>"`, and in `extra` their provenance:
`project` (what splits go by), `family`, `rule` (the way the label was made), `package`, `version`, `licence`.

A module is found by its name in this package, or registered with `register`.
"""

from __future__ import annotations

import pkgutil
import random
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

from linecls.errors import LineclsError
from linecls.records import Record

SOURCE = "linecls"


class Family(Protocol):
    """What a family module offers."""

    NAME: str

    def generate(self, rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
        """Records, observation by observation."""
        ...


_REGISTERED: dict[str, Family] = {}


def register(family: Family) -> Family:
    """Make a family from outside this package known under its `NAME`."""
    _REGISTERED[family.NAME] = family
    return family


def names() -> list[str]:
    """Names of all known families, sorted."""
    shipped = {module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")}
    return sorted(shipped | set(_REGISTERED))


def get(name: str) -> Family | ModuleType:
    """The family called `name`. Raises LineclsError with the known names when there is none."""
    if name in _REGISTERED:
        return _REGISTERED[name]
    if name not in names():
        raise LineclsError(f"unknown data family {name!r}; known families: {', '.join(names())}")
    return import_module(f"{__name__}.{name}")
