"""Our answers in the shape of SWE-Pruner's service, so that its clients work with this server.

The shape is that of `online_serving.py` and `prune_wrapper.py` in the repository Ayanami1314/swe-pruner (Wang et
al., SWE-Pruner, arXiv 2601.16746). What differs is said in docs/serving.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from linecls.decoding import OperatingPoint
from linecls.observation import Observation, split_lines
from linecls.spans import Span, merge

MARKER = "(filtered {} lines)"


def decoding_options(threshold: float, point: OperatingPoint) -> dict[str, float]:
    """Options of `Pruner.prune` for SWE-Pruner's threshold, a probability.

    A line is kept there when its probability is at least the threshold. Here the operating point is moved by the
    threshold's logit: 0.5, their default, is the operating point itself, a larger threshold never keeps more, 0 keeps
    everything and 1 nothing. Raises ValueError for what is no probability.
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie between 0 and 1, not {threshold}")
    if threshold == 0:
        return {"bias": -1e6, "switch_cost": 0.0, "empty_threshold": 0.0}
    if threshold == 1:
        return {"bias": 1e6}
    return {"bias": point.bias + math.log(threshold / (1 - threshold))}


def response(
    code: str,
    spans: Sequence[Span],
    keep_logits: Sequence[float],
    answerable: float,
    token_counts: Sequence[int],
    query_tokens: int,
    point: OperatingPoint,
    *,
    keep_first: bool = False,
) -> dict[str, Any]:
    """The body of a reply.

    keep_logits, token_counts: one per line of `code`, lines ending at a line feed.
    point: the operating point before the threshold moved it.
    token_scores: a pair of text and probability per line, for our model scores whole lines; joined, the
        texts are `code` again. A line at the operating point's bias has the probability 0.5.
    kept_frags: numbers of the kept lines as `code.splitlines()` counts them.
    keep_first: keep the first line whatever its score.
    """
    observation = Observation.of(code)
    kept = merge([*spans, Span(1, 1)] if keep_first and len(observation) else spans)
    pieces, left, position = [], 0, 1
    for start, end in [*kept, Span(len(observation) + 1, len(observation))]:
        dropped = "".join(observation.lines[position - 1 : start - 1])
        marker = MARKER.format(start - position) + ("\n" if dropped.endswith("\n") else "")
        if dropped:
            pieces.append(marker if len(marker) < len(dropped) else dropped)
        pieces += observation.lines[start - 1 : end]
        left += sum(token_counts[start - 1 : end])
        position = end + 1
    total = sum(token_counts)
    zero = point.bias + (max(keep_logits, default=0.0) if point.relative else 0.0)
    return {
        "score": answerable,
        "pruned_code": "".join(pieces),
        "token_scores": [
            [line, _sigmoid(logit - zero)] for line, logit in zip(observation.lines, keep_logits, strict=True)
        ],
        "kept_frags": _line_numbers(code, kept),
        "origin_token_cnt": total,
        "left_token_cnt": left,
        "model_input_token_cnt": query_tokens + total,
        "error_msg": None,
    }


def whole(code: str, reason: str) -> dict[str, Any]:
    """The body of a reply that keeps everything, with the reason in `error_msg`."""
    return {
        "score": 0.0,
        "pruned_code": code,
        "token_scores": [],
        "kept_frags": list(range(1, len(code.splitlines()) + 1)),
        "origin_token_cnt": 0,
        "left_token_cnt": 0,
        "model_input_token_cnt": 0,
        "error_msg": reason,
    }


def _line_numbers(code: str, spans: Sequence[Span]) -> list[int]:
    """Numbers, as `str.splitlines` counts, of the lines in spans of lines that end at a line feed.

    `splitlines` also breaks at a carriage return, a form feed and others, so one line of ours is one or more of its.
    """
    numbers: list[int] = []
    before, line = 0, 0
    wanted = iter(merge(spans))
    span = next(wanted, None)
    for line, text in enumerate(split_lines(code), start=1):
        if span is None:
            break
        count = len(text.splitlines())
        if span.start_line <= line:
            numbers += range(before + 1, before + count + 1)
            if line == span.end_line:
                span = next(wanted, None)
        before += count
    return numbers


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-max(value, -700.0)))
