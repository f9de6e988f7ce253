"""A compressor for Headroom: the entry point `linecls` of the group `headroom.compressor`.

The contract is that of `headroom/transforms/compressor_registry.py` in headroom-ai 0.42: `descriptor`, and `compress`
from a `CompressInput` to a `CompressOutput`. Headroom discovers the compressor when both packages are installed and
uses it when it is asked to (`--compressor linecls`).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linecls.agent import PROFILES
from linecls.errors import missing_extra
from linecls.observation import Observation, is_blank
from linecls.spans import Span, count_lines

if TYPE_CHECKING:
    from linecls.pruner import Pruner, Pruning

SHORTEST = 600  # characters; there is little to win on less
LONGEST = 1 << 20  # characters; the model would read more for minutes while a request waits
CONTENT_TYPES = ("text/plain", "text/x-log", "text/x-search-results", "text/x-code", "text/x-diff", "text/x-config")

_OPTIONS = ("operating_point", "bias", "max_lines", "max_tokens", "keep_ratio")
# Pointers of Headroom's own to what it took out before; pruning one would lose it.
_POINTERS = ("Retrieve original: hash=", "Retrieve more: hash=", "<<ccr:")


class LineclsCompressor:
    """Keeps the lines that answer the query, those with failure signal, and the ends (the profile `recall`).

    A dropped run becomes a line that says how many lines are gone, and the last line of the result says by which
    hash Headroom gives the original back. Content passes through unchanged (`compressed` is False) when there is no
    query, when nothing would be left, when the result would not be shorter, and when anything goes wrong.

    load: gives the pruner, on the first use.
    """

    def __init__(self, load: Any = None) -> None:
        self._load = load or _embedded
        self._pruner: Pruner | None = None
        self._guard = threading.Lock()

    @property
    def descriptor(self) -> Any:
        """Headroom's `CompressorDescriptor`. Raises MissingExtraError when headroom-ai is not installed."""
        return _contract().CompressorDescriptor(
            name="linecls",
            content_types=list(CONTENT_TYPES),
            lossless=False,
            cost_tier="ml",
            recoverable=True,
        )

    def compress(self, inp: Any) -> Any:
        """`CompressInput` to `CompressOutput`. Raises nothing but MissingExtraError.

        inp.config: may hold options of `Pruner.prune`: operating_point, bias, max_lines, max_tokens, keep_ratio.
        inp.budget: `target_ratio` is the share of the lines that the answer may keep.
        Token counts are estimates of four characters each; Headroom counts with its own.
        """
        try:
            if reason := _unfit(inp):
                return _unchanged(inp, reason)
            pruning, spans = self._prune(inp)
            if pruning.unfit_tokens is not None:
                return _unchanged(inp, f"the best line has {pruning.unfit_tokens} tokens, more than max_tokens")
            if not spans:
                return _unchanged(inp, "no line answers the query")
            text, digest = render(inp.content, spans)
            if len(text) >= len(inp.content):
                return _unchanged(inp, "nothing to win")
        except Exception as error:  # a compressor must not break the request that it is in
            return _unchanged(inp, f"{type(error).__name__}: {error}")
        return _contract().CompressOutput(
            content=text,
            tokens_before=_tokens(inp.content),
            tokens_after=_tokens(text),
            lossless=False,
            markers=[f"linecls:kept={count_lines(spans)}/{pruning.total_lines}"],
            recoverable={digest: inp.content},
            compressed=True,
        )

    def _prune(self, inp: Any) -> tuple[Pruning, list[Span]]:
        with self._guard:
            pruner = self._pruner = self._pruner or self._load()
        profile = PROFILES["recall"]
        options: dict[str, Any] = {}
        if profile.operating_point in pruner.artifact.operating_points:
            options["operating_point"] = profile.operating_point
        options |= {name: value for name, value in inp.config.items() if name in _OPTIONS}
        if (ratio := inp.budget.get("target_ratio")) is not None:
            options["keep_ratio"] = float(ratio)
        pruning = pruner.prune(inp.query, inp.content, **options)
        if not pruning.spans:
            return pruning, []
        return pruning, profile.protection.apply(Observation.of(inp.content), pruning.spans)


def render(content: str, spans: Sequence[Span]) -> tuple[str, str]:
    """The lines of the spans with one line for each dropped run and a pointer at the end; and the pointer's hash.

    The hash is the first 24 hex digits of the content's sha256, as Headroom names originals. A run shorter than its
    marker stays as it is.
    """
    observation = Observation.of(content)
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    parts: list[str] = []
    shown = 0
    for start, end in [*spans, Span(len(observation) + 1, len(observation))]:
        dropped = "".join(observation.lines[shown : start - 1])
        count = start - 1 - shown
        marker = f"[{count} line{'s' if count > 1 else ''} omitted by linecls]\n"
        parts += [marker if len(marker) < len(dropped) else dropped, *observation.lines[start - 1 : end]]
        shown = end
    text = "".join(parts)
    newline = "" if text.endswith("\n") or not text else "\n"
    return f"{text}{newline}[{len(observation)} lines in all. Retrieve original: hash={digest}]", digest


def _unfit(inp: Any) -> str | None:
    """Why the content is not even shown to the model; None when it is."""
    if is_blank(inp.query):
        return "there is no query to prune for"
    if not SHORTEST <= len(inp.content) <= LONGEST:
        return f"the content is not between {SHORTEST} and {LONGEST} characters long"
    if any(pointer in inp.content for pointer in _POINTERS):
        return "the content holds a pointer to an original"
    return None


def _unchanged(inp: Any, reason: str) -> Any:
    tokens = _tokens(inp.content)
    return _contract().CompressOutput(
        content=inp.content,
        tokens_before=tokens,
        tokens_after=tokens,
        lossless=True,
        warnings=[f"linecls: {' '.join(reason.split())}"],
        compressed=False,
    )


def _tokens(text: str) -> int:
    return (len(text) + 3) // 4


def _embedded() -> Pruner:
    from linecls.pruner import Pruner

    return Pruner.from_pretrained()


def _contract() -> Any:
    try:
        from headroom.transforms import compressor_registry  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise missing_extra("headroom-ai", "headroom") from error
    return compressor_registry
