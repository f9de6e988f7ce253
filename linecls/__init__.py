"""linecls: prune tool output to the verbatim lines that answer a query.

>>> from linecls import Pruner
>>> pruner = Pruner.from_pretrained()
>>> pruner.prune("why does the login test fail", open("pytest.log", "rb").read()).text
"""

from __future__ import annotations

TYPE_CHECKING = False  # for typing.TYPE_CHECKING one would import it, before the command can handle a signal
if TYPE_CHECKING:
    from typing import Any

    from linecls.pruner import Pruner, Pruning
    from linecls.records import Record, load_records
    from linecls.spans import Span

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


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'linecls' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
