"""Lines that must not go: those with failure signal, the surroundings of what is kept, the two ends.

What is protected is added to what the model keeps; nothing is taken away. See docs/safety.md for what counts as
failure signal and what that costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linecls.observation import Observation
from linecls.spans import Span, from_mask, to_mask

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Protection:
    """What is kept besides the answer.

    errors: the lines that carry failure signal (`failures.find`).
    context: so many lines before and after each answering span, as `grep -C` does (>= 0).
    edges: so many lines at the start and at the end of the observation (>= 0).
    """

    errors: bool = False
    context: int = 0
    edges: int = 0

    def __post_init__(self) -> None:
        if self.context < 0 or self.edges < 0:
            raise ValueError(f"context and edges must be >= 0, not {self.context} and {self.edges}")

    def apply(self, observation: Observation, spans: Sequence[Span]) -> list[Span]:
        """The spans with what is protected of the observation added; sorted, merged, inside the observation."""
        total = len(observation)
        keep = to_mask(spans, total)
        if self.context:
            keep = _widen(keep, self.context)
        if self.edges:
            keep[: self.edges] = True
            keep[max(total - self.edges, 0) :] = True
        if self.errors:
            keep |= failure_lines(observation.lines)
        return from_mask(keep)


def failure_lines(lines: Sequence[str]) -> NDArray[np.bool_]:
    """Mask [L] of the lines that carry failure signal; linear in the number of characters."""
    from linecls import failures

    return failures.find(lines)


def _widen(keep: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """Mask [L] of the lines at most `by` lines away from a kept one."""
    import numpy as np

    steps = np.zeros(len(keep) + 1, dtype=np.int64)
    for start, end in from_mask(keep):
        steps[max(start - 1 - by, 0)] += 1
        steps[min(end + by, len(keep))] -= 1
    return np.cumsum(steps[:-1]) > 0
