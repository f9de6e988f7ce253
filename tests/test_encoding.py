"""Windows hold every line exactly once; features are finite and placed right; segments cover the observation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from linecls.encoding import (
    FEATURES,
    INPUT_NAMES,
    STATIC,
    EncodingConfig,
    Pair,
    WindowEncoder,
    collate,
    length_bucket,
    static_features,
)
from linecls.observation import Observation

SMALL = EncodingConfig(
    window_tokens=40, max_line_tokens=12, max_query_tokens=8, context_tokens=6, max_lines=20, overlap_lines=6
)


def small(reading: str = "apart") -> EncodingConfig:
    return EncodingConfig.from_dict({**SMALL.to_dict(), "reading": reading})


@pytest.fixture(scope="module")
def tokenizer(tiny_tokenizer_path: Path) -> Tokenizer:
    return Tokenizer.from_file(str(tiny_tokenizer_path))


def encoder_of(tokenizer: Tokenizer, reading: str = "apart") -> WindowEncoder:
    return WindowEncoder(tokenizer, small(reading))


LOGS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=60), max_size=70)


@settings(max_examples=40, deadline=None)
@given(lines=LOGS, reading=st.sampled_from(["apart", "joint"]))
def test_every_line_stands_once_in_the_windows(tokenizer: Tokenizer, lines: list[str], reading: str) -> None:
    encoder = encoder_of(tokenizer, reading)
    query = encoder.query("why does the login test fail")
    for segment in encoder.segments(Observation.of("\n".join(lines))):
        windows = encoder.windows(segment, query)
        assert all(len(row) <= SMALL.window_tokens for row in windows.rows)
        for index in range(len(segment)):
            tokens = segment.ids[segment.offsets[index] : segment.offsets[index + 1]]
            begin, size = windows.line_column[index], windows.line_length[index]
            assert windows.rows[windows.line_row[index]][begin : begin + size].tolist() == tokens.tolist()


@settings(max_examples=60, deadline=None)
@given(total=st.integers(0, 200))
def test_segments_decide_every_line_exactly_once(tokenizer: Tokenizer, total: int) -> None:
    segments = list(encoder_of(tokenizer).segments(Observation.of("line\n" * total)))
    decided = [i for s in segments for i in range(s.keep_start, s.keep_stop)]
    assert decided == list(range(total))
    assert all(s.start <= s.keep_start <= s.keep_stop <= s.stop for s in segments)
    assert all(len(s) <= SMALL.max_lines for s in segments)


def test_joint_windows_begin_with_the_query(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer, "joint")
    query = encoder.query("login test")
    segment = next(encoder.segments(Observation.of("collected 12 items\n" * 15)))
    windows = encoder.windows(segment, query)
    assert len(windows.rows) > 1
    for row in windows.rows:
        assert row[: len(query.ids)].tolist() == query.ids.tolist()
    with pytest.raises(ValueError, match="needs the query"):
        encoder.windows(segment)


def test_left_context_repeats_whole_lines(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer)
    segment = next(encoder.segments(Observation.of("test fail\n" * 20)))
    windows = encoder.windows(segment)
    second = windows.rows[1]
    first_own = int(np.flatnonzero(windows.line_row == 1)[0])
    context = windows.line_column[first_own] - 1  # tokens between the opening token and the first own line
    assert 0 < context <= SMALL.context_tokens
    assert (
        second[1 : 1 + context].tolist()
        == segment.ids[segment.offsets[first_own] - context : segment.offsets[first_own]].tolist()
    )


def test_long_line_keeps_both_ends(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer)
    line = "warning " + "login " * 400 + "fail"
    segment = next(encoder.segments(Observation.of(line)))
    assert len(segment.ids) == SMALL.max_line_tokens
    whole = tokenizer.encode(line, add_special_tokens=False).ids
    assert segment.ids[0] == whole[0]
    assert segment.ids[-1] == whole[-1]


def test_query_is_cut_in_the_middle_and_may_be_empty(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer)
    assert len(encoder.query("login " * 20_000).ids) == SMALL.max_query_tokens + 2
    empty = encoder.query("  \n ")
    assert len(empty.ids) == 2
    assert len(empty.body) == len(empty.terms) == 0


@settings(max_examples=40, deadline=None)
@given(lines=LOGS.filter(bool), query=st.text(max_size=40))
def test_features_are_finite_and_modest(tokenizer: Tokenizer, lines: list[str], query: str) -> None:
    encoder = encoder_of(tokenizer)
    for segment in encoder.segments(Observation.of("\n".join(lines))):
        features = encoder.features(segment, encoder.query(query))
        assert features.shape == (len(segment), len(FEATURES))
        assert features.dtype == np.float32
        assert np.isfinite(features).all()
        assert np.abs(features).max() < 5


def test_static_features_say_what_their_names_say() -> None:
    texts = ["start", "    x = 1", "", "==========", "ERROR 17: no such file", "ERROR 18: no such file"]
    values = dict(zip(FEATURES, static_features(texts, 0, 6).T, strict=False))
    assert len(values) == STATIC
    assert values["blank"].tolist() == [0, 0, 1, 0, 0, 0]
    assert values["before_blank"].tolist() == [0, 1, 0, 0, 0, 1]
    assert values["after_blank"].tolist() == [1, 0, 0, 1, 0, 0]
    assert values["rule"].tolist() == [0, 0, 0, 1, 0, 0]
    assert values["failure_word"].tolist() == [0, 0, 0, 0, 1, 1]
    assert values["template_first"].tolist() == [1, 1, 1, 1, 1, 0]
    assert values["template_count"][4] == values["template_count"][5] > values["template_count"][0]
    assert values["relative_position"].tolist() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert values["upper_share"][4] == pytest.approx(5 / 22)
    assert values["indent"][1] > values["indent"][0] == 0


def test_bm25_finds_the_line_with_the_query_s_words(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer)
    observation = Observation.of("ready to serve requests\nthe cache key changed\n" + "collected 12 items\n" * 8)
    segment = next(encoder.segments(observation))
    features = encoder.features(segment, encoder.query("which file changed the cache key"))
    relative = features[:, FEATURES.index("bm25_relative")]
    assert relative.argmax() == 1
    assert relative[1] == 1
    assert relative[5] == 0


def test_collate_shares_the_windows_of_one_observation(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer)
    segment = next(encoder.segments(Observation.of("collected 12 items\n" * 12)))
    windows = encoder.windows(segment)
    pairs = []
    for text in ("login", "why does the login test fail"):
        query = encoder.query(text)
        pairs.append(Pair(query, segment, windows, encoder.features(segment, query)))
    batch = collate(pairs)
    assert tuple(batch) == INPUT_NAMES
    assert len(batch["input_ids"]) == len(windows.rows)
    assert batch["query_mask"].sum(axis=1).tolist() == [len(p.query.ids) for p in pairs]
    flat = batch["input_ids"].reshape(-1)
    for row in range(2):
        for index in range(len(segment)):
            begin, size = batch["line_index"][row, index], batch["line_length"][row, index]
            expected = segment.ids[segment.offsets[index] : segment.offsets[index + 1]]
            assert flat[begin : begin + size].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"reading": "sideways"}, "reading"),
        ({"window_tokens": 20, "max_line_tokens": 48}, "window_tokens"),
        ({"max_lines": 100, "overlap_lines": 50}, "overlap_lines"),
        ({"max_line_tokens": 2}, "max_line_tokens"),
        ({"colour": "blue"}, "unknown encoding fields: colour"),
    ],
)
def test_impossible_settings_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EncodingConfig.from_dict(values)


def test_unknown_special_token_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(ValueError, match=r"no token '<cls>'"):
        WindowEncoder(tokenizer, EncodingConfig(cls_token="<cls>"))


def test_length_buckets_grow_by_half_octaves() -> None:
    assert [length_bucket(n) for n in (0, 1, 2, 3, 4, 8, 1024)] == [0, 0, 2, 3, 4, 6, 20]
    assert length_bucket(10**9) == 23
