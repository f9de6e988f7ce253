"""What a system is: anything that maps a query and an observation to kept lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linecls.metrics import top_lines
from linecls.spans import Span, from_mask


@dataclass(frozen=True)
class Generation:
    """What a system that writes its answer wrote, and what that took.

    lines: non-blank lines written; exact, normalised: how many of them stand in the observation character for
    character, or but for white space and terminal escapes; hallucinated: how many stand nowhere in it.
    form: how the answer was wrapped (`parsing.Answer.form`); cut: stopped by the token limit; failed: no answer,
    because the observation does not fit the model's context, so that nothing was removed from it.
    prompt_tokens, completion_tokens: as the server counts them; seconds: latency of the request when it was
    made; cached: whether it was made in an earlier run.
    """

    lines: int
    exact: int
    normalised: int
    invented: tuple[str, ...]
    form: str
    cut: bool
    failed: bool
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    cached: bool

    @property
    def hallucinated(self) -> int:
        """Number of lines that stand nowhere in the observation."""
        return len(self.invented)


@dataclass(frozen=True, eq=False)
class Selection:
    """The answer of a system for one observation of L lines.

    spans: the kept lines, sorted and merged; scores: one number per line [L], higher means rather kept, or
    None where the system ranks nothing (a generative one, for instance).
    probabilities: what the system takes to be the probability that a line belongs to the answer [L];
    answerable: the same for there being an answer at all; None where it says no such thing.
    generation: what a generative system wrote.
    """

    spans: list[Span]
    scores: NDArray[np.floating[Any]] | None = None
    probabilities: NDArray[np.floating[Any]] | None = None
    answerable: float | None = None
    generation: Generation | None = None


@runtime_checkable
class System(Protocol):
    """The interface that `linecls.evaluation.evaluate` runs.

    A system may also have:
    - `select_records`, where it reads more of a record than query and observation: records in the place of pairs;
    - `in_batches`, true where `select_many` answers several pairs at once, so that the wait for one says nothing;
    - `is_here`, false where another machine does the work; `concurrency`, requests under way at once;
    - `token_price`, US dollars per million tokens of prompt and of answer.
    """

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
