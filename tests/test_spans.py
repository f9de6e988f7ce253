from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.spans import Span, count_lines, from_mask, merge, to_mask

spans_lists = st.lists(
    st.tuples(st.integers(1, 40), st.integers(0, 8)).map(lambda pair: Span(pair[0], pair[0] + pair[1])),
    max_size=12,
)
masks = st.lists(st.booleans(), max_size=60)


def covered(spans: list[Span]) -> set[int]:
    return {line for start, end in spans for line in range(start, end + 1)}


@given(spans_lists)
def test_merge_covers_the_same_lines_and_is_idempotent(spans: list[Span]) -> None:
    merged = merge(spans)
    assert covered(merged) == covered(spans)
    assert merge(merged) == merged
    assert all(left.end_line + 1 < right.start_line for left, right in pairwise(merged))


@given(spans_lists, st.randoms(use_true_random=False))
def test_merge_does_not_depend_on_the_order(spans: list[Span], random) -> None:
    shuffled = list(spans)
    random.shuffle(shuffled)
    assert merge(shuffled) == merge(spans)


def test_merge_joins_what_overlaps_or_touches_only() -> None:
    assert merge([(7, 9), (1, 2), (3, 3), (2, 2), (11, 12)]) == [Span(1, 3), Span(7, 9), Span(11, 12)]
    assert merge([(1, 10), (2, 3)]) == [Span(1, 10)]
    assert merge([]) == []


@pytest.mark.parametrize("bad", [(0, 3), (-2, -1), (5, 4)])
def test_merge_refuses_what_is_no_span(bad: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=f"lines {bad[0]} to {bad[1]}"):
        merge([(1, 2), bad])


@given(masks)
def test_a_mask_comes_back_from_its_spans(keep: list[bool]) -> None:
    spans = from_mask(keep)
    assert merge(spans) == spans
    assert to_mask(spans, len(keep)).tolist() == keep
    assert count_lines(spans) == sum(keep)


@given(spans_lists)
def test_spans_come_back_merged_from_their_mask(spans: list[Span]) -> None:
    assert from_mask(to_mask(spans, 60)) == merge(spans)


@given(spans_lists, st.integers(0, 30))
def test_a_mask_clips_at_the_last_line(spans: list[Span], total_lines: int) -> None:
    mask = to_mask(spans, total_lines)
    assert mask.shape == (total_lines,)
    assert set(np.flatnonzero(mask) + 1) == {line for line in covered(spans) if line <= total_lines}


@given(spans_lists)
def test_count_lines_counts_each_line_once(spans: list[Span]) -> None:
    assert count_lines(spans) == len(covered(spans))


def test_from_mask_gives_plain_integers() -> None:
    (span,) = from_mask(np.array([False, True, True]))
    assert (span.start_line, span.end_line) == (2, 3)
    assert type(span.start_line) is int
    assert type(span.end_line) is int
