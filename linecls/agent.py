"""What an agent gets to see of an output: the answer, what is protected, and markers for the rest.

The profiles are the two defaults for agents. Whoever has asked the model hands its spans to `shorten`; the run
wrapper, the hooks and the servers all do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linecls.errors import StoreError
from linecls.observation import Observation
from linecls.protection import Protection
from linecls.rendering import MARKER_START, marked, plain
from linecls.spans import Span
from linecls.store import Store

MIN_BYTES = 2048  # a shorter output is shown as it is: there is little to win
MAX_BYTES = 1 << 20  # a longer one too: the model would read it for minutes


@dataclass(frozen=True)
class Profile:
    """How much an agent is shown.

    operating_point: preferred operating point of the model; a model without it decodes with its default.
    protection: what is kept besides.
    """

    operating_point: str | None
    protection: Protection


# Recall first: nothing that failed is lost, the answer has its surroundings and the output its two ends.
# Tight: what the model's default operating point keeps, as in the paper, and nothing else.
PROFILES = {
    "recall": Profile("recall", Protection(errors=True, context=1, edges=2)),
    "tight": Profile(None, Protection()),
}


@dataclass(frozen=True)
class Shortened:
    """What is shown of an output.

    text: the bytes to show; spans: the lines of the output that it holds (without the short runs that stay
    because their marker would be longer).
    expand_id: id of the original in the store, None when nothing was omitted or it could not be kept.
    warning: one line that says why the original could not be kept and is shown whole, else None.
    """

    text: bytes
    spans: list[Span]
    expand_id: str | None = None
    warning: str | None = None


def shorten(
    raw: bytes,
    spans: Sequence[Span],
    protection: Protection,
    *,
    markers: bool = True,
    store: Store | None = None,
) -> Shortened:
    """What to show of an output of which the model keeps `spans`.

    markers: put one in the place of each dropped run, and keep the original in the store (None: no store). What cannot
        be kept is shown whole: a command's output may not be had a second time.
    The result is never longer than the output, save for escapes (`rendering.marked`).
    """
    observation = Observation.of(raw)
    kept = protection.apply(observation, spans)
    if not markers:
        return Shortened(_bytes(plain(observation, kept)), kept)
    text = _bytes(marked(observation, kept, "0" * 8))
    if MARKER_START.encode() not in text:  # nothing is dropped, or only runs that are shorter than their markers
        return Shortened(text, kept)
    expand_id = None
    if store is not None:
        try:
            expand_id = store.save(raw)
        except StoreError as error:
            whole = [Span(1, len(observation))]
            return Shortened(_bytes(observation.raw), whole, None, f"{error}; the whole output is shown")
    return Shortened(_bytes(marked(observation, kept, expand_id)), kept, expand_id)


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
