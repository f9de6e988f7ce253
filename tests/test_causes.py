from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.causes import CAUSES, cause
from linecls.spans import from_mask

TEXT = "a\nb\n\nc\nd\ne\nf\n"


@pytest.mark.parametrize(
    ("gold", "kept", "expected"),
    [
        ([(4, 5)], [(4, 5)], "right"),
        ([(4, 5)], [(3, 5)], "right"),  # line 3 is blank
        ([], [], "right"),
        ([(4, 5)], [], "wrongly empty"),
        ([(4, 5)], [(3, 3)], "wrongly empty"),
        ([], [(1, 1)], "wrongly answered"),
        ([(4, 5)], [(1, 2)], "wrong place"),
        ([(4, 5)], [(1, 1), (4, 5)], "fragmented"),
        ([(1, 5)], [(1, 1), (5, 5)], "fragmented"),
        ([(1, 4)], [(1, 2), (4, 4)], "right"),
        ([(4, 4)], [(4, 6)], "too long"),
        ([(4, 5)], [(5, 6)], "too long"),
        ([(4, 6)], [(5, 5)], "too short"),
        ([(1, 1), (5, 5)], [(5, 5)], "too short"),
    ],
)
def test_causes(gold, kept, expected) -> None:
    assert cause(TEXT, gold, kept) == expected


@given(st.lists(st.tuples(st.sampled_from(["x", "", " "]), st.booleans(), st.booleans()), max_size=12))
def test_every_answer_has_a_cause_and_only_the_gold_lines_are_right(rows) -> None:
    text = "".join(line + "\n" for line, _, _ in rows)
    gold, kept = from_mask([g for _, g, _ in rows]), from_mask([k for _, _, k in rows])
    found = cause(text, gold, kept)
    assert found in CAUSES
    assert (found == "right") == all(g == k for line, g, k in rows if line.strip())
    assert cause(text, gold, gold) == "right"
