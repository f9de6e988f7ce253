"""What a system is: anything that maps a query and an observation to kept lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linecls.metrics import top_lines
from linecls.spans import Span, from_mask


@dataclass(frozen=True, eq=False)
class Selection:
    """The answer of a system for one observation of L lines.

    spans: the kept lines, sorted and merged; scores: one number per line [L], higher means rather kept, or
    None where the system ranks nothing (a generative one, for instance).
    """

    spans: list[Span]
    scores: NDArray[np.floating[Any]] | None = None


@runtime_checkable
class System(Protocol):
    """The interface that `linecls.evaluation.evaluate` runs."""

    @property
    def name(self) -> str:
        """The name under which reports list the system."""
        ...

    def select(self, query: str, observation: str) -> Selection:
        """The lines of `observation` that answer `query`."""
        ...

    def select_many(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Selection]:
        """One selection for each (query, observation), in order."""
        ...

    def describe(self) -> dict[str, Any]:
        """What a report must say to repeat the run: parameters, model name, sha256 of its weights."""
        ...


class OneByOne:
    """Base of systems that gain nothing from batches: `select_many` calls `select`."""

    name: str

    def select(self, query: str, observation: str) -> Selection:
        """The lines of `observation` that answer `query`."""
        raise NotImplementedError

    def select_many(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Selection]:
        """One selection for each (query, observation), in order."""
        return (self.select(query, observation) for query, observation in pairs)


def check_share(keep: float) -> float:
    """`keep` if it is a share of lines above 0 and at most 1; ValueError otherwise."""
    if not 0.0 < keep <= 1.0:
        raise ValueError(f"keep is a share of lines above 0 and at most 1, not {keep}")
    return keep


def keep_top(scores: NDArray[np.floating[Any]], share: float) -> Selection:
    """The selection of the max(1, round(share * L)) highest of `scores` [L], ties to the earlier line."""
    mask = np.zeros(len(scores), dtype=bool)
    mask[top_lines(scores, share)] = True
    return Selection(from_mask(mask), scores)
