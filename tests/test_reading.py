"""Plain words: what the vocabulary has in place of pieces, marks, rulers, stamps and ids; the rest as it stands."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from linecls import Pruner
from linecls.artifact import embedded
from linecls.encoding import EncodingConfig, WindowEncoder
from linecls.observation import Observation, scoring_text
from linecls.reading import PlainWords


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(embedded() / "tokenizer.json"))


@pytest.fixture(scope="module")
def read(tokenizer: Tokenizer) -> PlainWords:
    return PlainWords(tokenizer)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("raise TypeError(getUserName)", "raise Type Error(get User Name)"),
        ("HTTPServerError and parseURL", "HTTP Server Error and parse URL"),
        ("utf8Decoder", "utf8 Decoder"),
        ("JavaScript is a word", "Java Script is a word"),
        ("McDonald is one too", "McDonald is one too"),  # the vocabulary has it
        ("aGVsbG8gd29ybGQhISE", "aGVsbG8gd29ybGQhISE"),  # no identifier changes case so often
        ("snake_case and SHOUTED", "snake_case and SHOUTED"),
    ],
)
def test_identifiers_are_split_where_the_vocabulary_lacks_them(read: PlainWords, text: str, expected: str) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("✓ adds", " ok  adds"),
        ("✕ adds", " failed  adds"),
        ("⚠️ slow", " warning  slow"),
        ("├── a", "|- a"),
        ("│ a ┃ b", "| a | b"),
        ("━━━━ 12 MB", "- 12 MB"),
        ("██████▌ 60%", "# 60%"),
        ("======== FAILURES ========", "=== FAILURES ==="),
        ("____ test_a ____", "___ test_a ___"),
        ("1. cart ........ ok", "1. cart ... ok"),
        ("--- a/x", "--- a/x"),
    ],
)
def test_marks_and_rulers(read: PlainWords, text: str, expected: str) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T12:00:03.123456Z up", "2026-03-01 12:00:03 up"),
        ("2026-03-01 12:00:03,123 up", "2026-03-01 12:00:03 up"),
        ("2026-03-01T12:00:03+01:00 up", "2026-03-01 12:00:03 up"),
        ("took 00:00:03.123 s", "took 00:00:03.123 s"),  # no date in front: a duration
        ("commit 0123456789abcdef0123456789abcdef01234567", "commit 01234567"),
        ("id 0b6cbb1e-52d7-4be6-8f6b-7d2c9d0b3a11 done", "id 0b6cbb1e done"),
        ("short 0b6cbb1ea11 and 123456789012345678", "short 0b6cbb1ea11 and 123456789012345678"),
    ],
)
def test_stamps_and_ids(read: PlainWords, text: str, expected: str) -> None:
    assert read(text) == expected


def test_a_tick_and_a_cross_are_told_apart(tokenizer: Tokenizer, read: PlainWords) -> None:
    def tokens(text: str) -> list[str]:
        return tokenizer.encode(text, add_special_tokens=False).tokens

    assert tokens("✓ adds") == tokens("✕ adds")  # both unknown
    assert tokens(read("✓ adds")) != tokens(read("✕ adds"))
    assert tokens(read("ValueError")) == ["value", "error"]


@settings(max_examples=150)
@given(st.text(max_size=200))
def test_reading_keeps_lines_apart_and_ends(read: PlainWords, text: str) -> None:
    line = scoring_text(text.replace("\n", " "))
    once = read(line)
    assert "\n" not in once
    assert bool(once.strip()) == bool(line.replace("\ufe0f", "").strip())


@pytest.mark.parametrize("line", ["a" * 200_000, "aB" * 100_000, "-" * 200_000, "0a" * 100_000, "└" * 200_000])
def test_long_lines_are_read_in_linear_time(read: PlainWords, line: str) -> None:
    assert len(read(line)) <= 2 * len(line)


def test_the_encoder_reads_lines_and_queries_alike(tokenizer: Tokenizer) -> None:
    plain = WindowEncoder(tokenizer, EncodingConfig(plain_words=True))
    usual = WindowEncoder(tokenizer, EncodingConfig())
    name = "ConnectionResetError"
    observation = Observation.of(f"{name}\n")
    words = usual.query("connection reset error").body.tolist()
    assert plain.query(name).body.tolist() == words != usual.query(name).body.tolist()
    assert next(plain.segments(observation)).ids.tolist() == words
    # Features are those of the line as it stands.
    segments = [next(encoder.segments(observation)) for encoder in (plain, usual)]
    assert np.array_equal(segments[0].features, segments[1].features)


@pytest.fixture(scope="module")
def pruner(tmp_path_factory: pytest.TempPathFactory) -> Pruner:
    """The embedded model made to read plain words."""
    folder = tmp_path_factory.mktemp("model") / "plain"
    shutil.copytree(embedded(), folder)
    values = json.loads((folder / "linecls.json").read_text(encoding="utf-8"))
    values["encoding"]["plain_words"] = True
    (folder / "linecls.json").write_text(json.dumps(values), encoding="utf-8")
    return Pruner.from_pretrained(folder)


@pytest.mark.parametrize("spare", [-1, 0, 30])
def test_budgets_count_the_tokens_of_the_line_itself(pruner: Pruner, tokenizer: Tokenizer, spare: int) -> None:
    """What is shown costs its own tokens, not those of the words it was read in."""
    ruler = "=" * 40
    text = f"build started\n{ruler} TypeError {ruler}\nbuild ended\n"
    limit = len(tokenizer.encode(text.split("\n")[1], add_special_tokens=False).ids) + spare
    pruning = pruner.prune("type error", text, max_tokens=limit, bias=-30.0)
    assert len(tokenizer.encode(str(pruning.text), add_special_tokens=False).ids) <= limit
    assert ("TypeError" in pruning.text) == (spare >= 0)


def test_what_is_kept_stands_as_it_was(pruner: Pruner) -> None:
    text = "starting\n✕ checks TypeError ====== 2026-03-01T12:00:03.123456Z\r\ndone\n"
    pruning = pruner.prune("which check failed", text, bias=-30.0)
    assert pruning.text == text
