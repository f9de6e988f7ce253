"""A line as the network reads it in plain words: the same, without what an uncased vocabulary makes nothing of.

WordPiece vocabularies are made from prose. Of a tool's output they make pieces without a meaning (`TypeError` becomes
`type ##er ##ror`), unknown tokens (a tick and a cross alike), and a token for each character of a ruler; in a log the
time and the ids of a line fill the room of its message. `PlainWords` writes such text in words of the vocabulary:

- identifiers that it does not have are split where the case changes: `TypeError` is read as `Type Error`;
- ticks, crosses and warning signs become words, frames of tables `-` and `|`, bars `#`;
- of four or more equal signs in a row three stay;
- a time of day that follows a date loses its fraction and zone, and the `T` in front of it;
- of more than 12 hexadecimal digits the first 8 stay, of a UUID its first group.

Queries are read in the same way, so that both sides agree. Nothing of this reaches the output.
"""

from __future__ import annotations

import re

from tokenizers import Tokenizer

_MARKS = str.maketrans(
    {
        **dict.fromkeys("✓✔✅☑🗸", " ok "),
        **dict.fromkeys("✗✘✕✖❌☒", " failed "),
        **dict.fromkeys("⚠❗", " warning "),
        "ℹ": " info ",
        **dict.fromkeys("❯▶►➜", ">"),
        "\ufe0f": None,  # asks for the coloured form of the sign before
    }
)
_LEVEL = re.compile("[─━┄┅┈┉╌╍═╴╶╸╺⎯]+")
_FRAME = re.compile("[\u2500-\u257f]+")
_BAR = re.compile("[\u2580-\u259f]+")
_RUN = re.compile(r"([^\w\s]|_)\1{3,}")
_TIME = re.compile(r"(?<=\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d{3,9})?(?:Z|[+-]\d\d:?\d\d)?\b")
_UUID = re.compile(r"\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_HEX = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])([0-9a-f]{8})[0-9a-f]{5,}\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[0-9])(?=[A-Z][a-z])")
_LETTERS_PER_PART = 3  # random letters of both cases change it more often than identifiers do


class PlainWords:
    """Writes text in words of a tokenizer's vocabulary; a function of the text alone, line by line."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __call__(self, text: str) -> str:
        """The text to tokenise, for text as `observation.scoring_text` gives it."""
        if not text.isascii():
            text = text.translate(_MARKS)
            text = _BAR.sub("#", _FRAME.sub("|", _LEVEL.sub("-", text)))
        text = _TIME.sub(r" \1", _RUN.sub(r"\1\1\1", text))
        text = _HEX.sub(r"\1", _UUID.sub(r"\1", text))
        return _WORD.sub(self._split, text) if _CHANGE.search(text) else text

    def _split(self, match: re.Match[str]) -> str:
        word = match.group()
        parts = _CHANGE.split(word)
        if len(parts) == 1 or len(word) < _LETTERS_PER_PART * len(parts) or self._is_known(word):
            return word
        return " ".join(parts)

    def _is_known(self, word: str) -> bool:
        return self._tokenizer.token_to_id(word.lower()) is not None
