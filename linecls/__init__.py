"""linecls: prune tool output to the verbatim lines that answer a query.

>>> from linecls import Pruner
>>> pruner = Pruner.from_pretrained()
>>> pruner.prune("why does the login test fail", open("pytest.log", "rb").read()).text
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Pruner", "Pruning", "Record", "Span", "__version__", "load_records"]

# Public names, loaded on first use so that `import linecls` stays fast.
_LAZY = {
    "Pruner": "linecls.pruner",
    "Pruning": "linecls.pruner",
    "Record": "linecls.records",
    "Span": "linecls.spans",
    "load_records": "linecls.records",
}

if TYPE_CHECKING:
    from linecls.pruner import Pruner, Pruning
    from linecls.records import Record, load_records
    from linecls.spans import Span


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'linecls' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
