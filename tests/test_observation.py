from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from linecls import observation
from linecls.observation import Observation, is_blank, scoring_text, split_lines
from linecls.spans import Span, to_mask

# Rich in line ends of every kind, in duplicates and in bytes that are no UTF-8.
PIECES = [
    "\n",
    "\r\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "\u2028",
    "\x00",
    "\x1b[31m",
    "a",
    "b",
    "é",
    "\t",
]
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join))
byte_strings = st.one_of(
    st.binary(),
    st.lists(st.sampled_from([b"\n", b"\r\n", b"\xff", b"\xed\xb2\x80", b"x", b"\x00"])).map(b"".join),
)
span_lists = st.lists(
    st.tuples(st.integers(1, 12), st.integers(0, 4)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))
)


@given(st.one_of(texts, byte_strings))
@example("")
@example(b"")
@example("no final newline")
@example("\n")
@example(b"\xff\xfe\n\x80")
def test_joining_the_lines_gives_the_input_again(raw: str | bytes) -> None:
    observation = Observation.of(raw)
    assert observation.raw == raw
    assert type(observation.raw) is type(raw)
    assert observation.is_bytes == isinstance(raw, bytes)
    assert len(observation) == len(observation.lines)


@given(st.one_of(texts, byte_strings), st.integers(1, 9))
def test_lines_do_not_depend_on_the_blocks_that_are_split_at_once(raw: str | bytes, block: int) -> None:
    lines = Observation.of(raw).lines
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observation, "_BLOCK", block)
        assert Observation.of(raw).lines == lines


def test_one_wide_character_does_not_widen_the_whole() -> None:
    raw = b"x" * 99 + b"\n"
    raw = raw * 150_000 + "\U0001f600\n".encode()
    tracemalloc.start()
    lines = Observation.of(raw).lines
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(lines) == 150_001
    assert peak - held < len(raw)  # decoded at once it would be four times as long


@given(st.one_of(texts, byte_strings))
def test_only_a_newline_ends_a_line(raw: str | bytes) -> None:
    lines = Observation.of(raw).lines
    assert all(line.endswith("\n") for line in lines[:-1])
    assert all(line and "\n" not in line[:-1] for line in lines)
    newlines = raw.count(b"\n" if isinstance(raw, bytes) else "\n")
    assert len(lines) - newlines in (0, 1)


def test_the_final_newline_opens_no_further_line() -> None:
    assert split_lines("a\nb\n") == ["a\n", "b\n"]
    assert split_lines("a\nb") == ["a\n", "b"]
    assert split_lines("a\n\n") == ["a\n", "\n"]
    assert split_lines("") == []
    assert split_lines("a\r\nb\rc\u2028d\x0ce") == ["a\r\n", "b\rc\u2028d\x0ce"]


@given(st.one_of(texts, byte_strings), span_lists)
def test_select_gives_exactly_the_lines_of_the_spans(raw: str | bytes, spans: list[Span]) -> None:
    observation = Observation.of(raw)
    kept = observation.select(spans)
    assert type(kept) is type(raw)
    mask = to_mask(spans, len(observation))
    expected = "".join(line for line, keep in zip(observation.lines, mask, strict=True) if keep)
    assert kept == (expected.encode("utf-8", "surrogateescape") if isinstance(raw, bytes) else expected)


@given(byte_strings, span_lists)
def test_selected_bytes_are_a_subsequence_of_whole_input_lines(raw: bytes, spans: list[Span]) -> None:
    kept = Observation.of(raw).select(spans)
    assert isinstance(kept, bytes)
    whole_line = re.compile(rb"[^\n]*\n|[^\n]+")
    rest = iter(whole_line.findall(raw))
    assert all(line in rest for line in whole_line.findall(kept))


@given(st.one_of(texts, byte_strings))
def test_selecting_everything_and_nothing(raw: str | bytes) -> None:
    observation = Observation.of(raw)
    assert observation.select([Span(1, len(observation) + 1)]) == raw
    assert observation.select([]) == raw[:0]


def test_other_byte_types_are_bytes() -> None:
    for raw in (bytearray(b"a\nb"), memoryview(b"a\nb")):
        assert Observation.of(raw).raw == b"a\nb"  # type: ignore[arg-type]


@pytest.mark.parametrize("raw", [None, 3, ["a\n"]])
def test_what_is_neither_text_nor_bytes_is_refused(raw: object) -> None:
    with pytest.raises(TypeError, match="str or bytes"):
        Observation.of(raw)  # type: ignore[arg-type]


@given(st.one_of(texts, byte_strings))
@example("a\x00")
@example("\x1b")
@example("\x07\n")
def test_scoring_text_holds_no_control_character(raw: str | bytes) -> None:
    for line in Observation.of(raw).lines:
        text = scoring_text(line)
        assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]", text)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)), st.sampled_from(["", "\n", "\r\n"]))
def test_scoring_text_of_plain_ascii_is_the_line_without_its_end(body: str, end: str) -> None:
    assert scoring_text(body + end) == body


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("\x1b[1;31mFAILED\x1b[0m tests/test_login.py\n", "FAILED tests/test_login.py"),
        ("\x1b]8;;https://example.org\x07link\x1b]8;;\x07\n", "link"),
        ("10%\r50%\r100%\r\n", "10% 50% 100%"),
        ("\tif x:\n", "\tif x:"),
        ("naïve café ✓\n", "naïve café ✓"),
        ("\n", ""),
        ("", ""),
    ],
)
def test_scoring_text_examples(line: str, expected: str) -> None:
    assert scoring_text(line) == expected


@pytest.mark.parametrize("query", ["", " ", "\t\r\n", "\x00\x7f\x1b", "\u3000\x85\u2028", "\ud800"])
def test_white_space_and_controls_ask_nothing(query: str) -> None:
    assert is_blank(query)
    assert not is_blank(f"{query}?{query}")
