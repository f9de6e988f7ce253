"""The reply in SWE-Pruner's shape, as a function of what was kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.decoding import OperatingPoint, decode
from linecls.observation import split_lines
from linecls.serving.swe_pruner import decoding_options, response, whole
from linecls.spans import from_mask

CODE = st.text("ab\n\r\x0c\u2028 ", max_size=60)


@given(CODE, st.data(), st.booleans())
def test_nothing_is_lost_or_invented(code, data, keep_first):
    lines = split_lines(code)
    keep = data.draw(st.lists(st.booleans(), min_size=len(lines), max_size=len(lines)))
    counts = [len(line) for line in lines]
    reply = response(code, from_mask(keep), [0.0] * len(lines), 0.5, counts, 3, OperatingPoint(), keep_first=keep_first)
    if keep_first and keep:
        keep[0] = True
    kept = "".join(line for line, kept in zip(lines, keep, strict=True) if kept)
    numbered = code.splitlines()
    assert [numbered[n - 1] for n in reply["kept_frags"]] == kept.splitlines()
    assert len(reply["pruned_code"]) <= len(code)
    rest = iter(reply["pruned_code"])
    assert all(any(character == other for other in rest) for character in kept)
    assert reply["left_token_cnt"] == len(kept)
    assert (reply["origin_token_cnt"], reply["model_input_token_cnt"]) == (len(code), len(code) + 3)
    assert "".join(text for text, _ in reply["token_scores"]) == code
    if all(keep):
        assert reply["pruned_code"] == code


@given(
    st.lists(st.floats(-30, 30), min_size=1, max_size=30),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(-5, 5),
    st.booleans(),
)
def test_a_larger_threshold_never_keeps_more(logits, one, other, bias, relative):
    point = OperatingPoint(bias=bias, switch_cost=1.0, relative=relative)

    def kept(threshold):
        values = {"switch_cost": 1.0, "relative": relative, **decoding_options(threshold, point)}
        return {n for s in decode(logits, OperatingPoint(**values)) for n in range(s.start_line, s.end_line + 1)}

    lower, higher = sorted((one, other))
    assert kept(higher) <= kept(lower)
    assert kept(0.5) == {n for s in decode(logits, point) for n in range(s.start_line, s.end_line + 1)}
    assert kept(0) == set(range(1, len(logits) + 1))
    assert kept(1) == set()


@pytest.mark.parametrize("threshold", [-0.01, 1.01, float("nan")])
def test_a_threshold_that_is_no_probability_is_refused(threshold):
    with pytest.raises(ValueError, match="between 0 and 1"):
        decoding_options(threshold, OperatingPoint())


def test_the_whole_code_with_a_reason():
    reply = whole("a\nb", "why")
    assert (reply["pruned_code"], reply["kept_frags"], reply["error_msg"]) == ("a\nb", [1, 2], "why")
