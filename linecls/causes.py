"""Why an answer is wrong, told from its lines and the gold lines alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from linecls.observation import split_lines
from linecls.spans import Span, from_mask, to_mask

#: In the order in which they are asked for; the first that holds is the cause.
CAUSES = (
    "right",
    "wrongly empty",
    "wrongly answered",
    "wrong place",
    "fragmented",
    "too long",
    "too short",
)


def cause(observation: str, gold: Iterable[Span], kept: Iterable[Span]) -> str:
    """One of CAUSES for the kept spans of an observation; blank lines make no difference.

    right: the kept lines are the gold lines. wrongly empty: nothing is kept although there is gold. wrongly answered:
    something is kept although there is none. wrong place: no kept line is gold. fragmented: some kept lines are gold,
    but there are more kept spans than gold spans. too long, too short: more lines too many than missing, or the other
    way round; as many of each counts as too long.
    """
    lines = split_lines(observation)
    visible = np.array([bool(line.strip()) for line in lines], dtype=bool)
    gold_mask, kept_mask = to_mask(gold, len(lines)), to_mask(kept, len(lines))
    wanted, shown = gold_mask & visible, kept_mask & visible
    if (wanted == shown).all():
        return "right"
    if not shown.any():
        return "wrongly empty"
    if not wanted.any():
        return "wrongly answered"
    if not (wanted & shown).any():
        return "wrong place"
    # Blank lines do not part a span: they count as kept, and as gold, where both neighbours are.
    if _pieces(shown, visible) > _pieces(wanted, visible):
        return "fragmented"
    return "too short" if (wanted & ~shown).sum() > (shown & ~wanted).sum() else "too long"


def _pieces(mask: np.ndarray, visible: np.ndarray) -> int:
    return len(from_mask(mask[visible]))
