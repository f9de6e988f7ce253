from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linecls.packing import WIDTH_STEP, pack, padded_width

lengths = st.lists(st.integers(1, 140), max_size=120)


@given(lengths=lengths, call_tokens=st.integers(1, 3000), mixed=st.booleans())
def test_every_window_runs_once_and_fits(lengths, call_tokens, mixed):
    calls = pack(lengths, call_tokens, mixed=mixed)
    assert sorted(row for call in calls for row in call.rows) == list(range(len(lengths)))
    for call in calls:
        assert all(lengths[row] <= call.width for row in call.rows)
        assert len(call.rows) == 1 or call.width * len(call.rows) <= call_tokens


@given(lengths=lengths, others=lengths)
def test_unmixed_a_window_has_the_width_that_it_asks_for(lengths, others):
    for call in pack(lengths + others, 2048, mixed=False):
        for row in call.rows:
            length = (lengths + others)[row]
            assert call.width == padded_width(length) < length + WIDTH_STEP


@given(lengths=st.lists(st.integers(60, 140), min_size=1, max_size=120))
def test_mixed_calls_hold_little_padding_beyond_the_step(lengths):
    for call in pack(lengths, 2048, mixed=True):
        if len({padded_width(lengths[row]) for row in call.rows}) > 1:
            live = sum(lengths[row] for row in call.rows)
            size = call.width * len(call.rows)
            assert 20 * (size - live) <= size
