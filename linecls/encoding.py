"""From an observation and a query to what the network reads: tokens per line, windows, free line features.

Training and inference call the same code. Long observations are cut into segments of at most
`EncodingConfig.max_lines` lines with an overlap, so that time and memory grow linearly with the observation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from linecls.observation import Observation, scoring_text
from linecls.reading import PlainWords

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]
Batch = dict[str, NDArray[Any]]

# Input names of the network, in the order of `LineClassifier.forward` and of the ONNX graph.
INPUT_NAMES = (
    "input_ids",  # int64 [W, T]   token windows
    "attention_mask",  # int64 [W, T]
    "query_ids",  # int64 [B, Q]   the query alone, one row per pair
    "query_mask",  # int64 [B, Q]
    "line_index",  # int64 [B, L]   position of each line's first token in the flattened windows
    "line_length",  # int64 [B, L]   tokens of the line in its window; 0 for a blank line
    "line_features",  # float32 [B, L, F]
    "line_mask",  # bool [B, L]    False for padding
    "length_bucket",  # int64 [B]      log-spaced bucket of the observation's number of lines
)

# Columns of line_features. The first STATIC depend on the observation alone, the rest on the query too.
FEATURES = (
    "indent",
    "indent_change",
    "blank",
    "after_blank",
    "before_blank",
    "characters",
    "upper_share",
    "digit_share",
    "punctuation_share",
    "rule",
    "relative_position",
    "lines_before",
    "lines_after",
    "failure_word",
    "warning_word",
    "template_count",
    "template_first",
    "bm25",
    "bm25_relative",
    "bm25_neighbourhood",
    "query_coverage",
)
STATIC = FEATURES.index("bm25")
LENGTH_BUCKETS = 24  # half-octave buckets: enough for 2**12 lines, longer observations share the last

_FAILURE = re.compile(
    r"error|fail|exception|traceback|fatal|panic|abort|denied|refused|cannot|unable|invalid|missing|undefined"
    r"|unexpected|not found|timed? ?out|assert|raise[sd]?\b|✗|✘|✕",
    re.IGNORECASE,
)
_WARNING = re.compile(r"warn|deprecat|caution|retry|skip", re.IGNORECASE)
_DROP_DIGITS = {ord(c): None for c in "0123456789"}
_STOP_WORDS = frozenset(
    """
    a about all an and any are as at be been but by can could did do does find for from had has have how
    i if in into is it its me my no not of on one or out over show so than that the their them then
    there these they this to up was we were what when where which while who whose why will with would
    you your
    """.split()  # noqa: SIM905 - a table of words reads better as text
)
# Characters per token that are certainly enough: a longer line is cut before it is tokenised.
_CHARACTERS_PER_TOKEN = 16
_BM25_K1, _BM25_B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class EncodingConfig:
    """Limits and form of the windows; stored in the artifact, so training and inference agree.

    reading: "apart" encodes windows without the query, once per observation for all its queries; "joint" puts
        the query in front of every window.
    window_tokens: tokens of a window, special tokens (and the query, when joint) included.
    max_line_tokens: a longer line is scored by its first two thirds and last third of this many tokens.
    max_query_tokens: a longer query is scored by its first half and last half of this many tokens.
    context_tokens: whole lines of the window before are repeated in front, up to this many tokens.
    max_lines, overlap_lines: size of a segment and how many lines it shares with the next one.
    cls_token, sep_token: what opens and closes a window; None where the backbone has no such token.
    numerals: write each line's number in front of it for the network to read.
    plain_words: tokenise lines and queries as `reading.PlainWords` writes them; for uncased vocabularies.
    """

    reading: Literal["apart", "joint"] = "apart"
    window_tokens: int = 128
    max_line_tokens: int = 48
    max_query_tokens: int = 48
    context_tokens: int = 16
    max_lines: int = 1024
    overlap_lines: int = 128
    cls_token: str | None = "[CLS]"
    sep_token: str | None = "[SEP]"
    numerals: bool = False
    plain_words: bool = False

    def __post_init__(self) -> None:
        if self.reading not in ("apart", "joint"):
            raise ValueError(f"reading must be 'apart' or 'joint', not {self.reading!r}")
        query_room = self.max_query_tokens + 1 if self.reading == "joint" else 0
        if self.window_tokens < self.max_line_tokens + self.context_tokens + query_room + 2:
            raise ValueError(
                f"window_tokens={self.window_tokens} cannot hold a line of max_line_tokens={self.max_line_tokens}"
                f" behind context_tokens={self.context_tokens}"
                + (f" and a query of max_query_tokens={self.max_query_tokens}" if query_room else "")
            )
        if not 0 <= 2 * self.overlap_lines < self.max_lines:
            raise ValueError("overlap_lines must be less than half of max_lines")
        if self.max_line_tokens < 3 or self.max_query_tokens < 2:
            raise ValueError("max_line_tokens must be at least 3 and max_query_tokens at least 2")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> EncodingConfig:
        """Build from a mapping; raises ValueError for an unknown key."""
        unknown = set(values) - {f.name for f in fields(cls)}
        if unknown:
            raise ValueError(f"unknown encoding fields: {', '.join(sorted(unknown))}")
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Query:
    """A tokenised query: `ids` with special tokens [Q], `body` without; `terms` the ids that BM25 counts."""

    ids: IntArray
    body: IntArray
    terms: IntArray


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of lines that the network sees at once.

    start, stop: its lines within the observation, 0-based, half open; keep_start, keep_stop: the lines whose
    logits this segment decides (the overlap belongs to the segment in which the line stands further inside).
    ids, offsets: tokens of all lines, flattened, and where each line begins, [L + 1].
    features: the static line features, float32 [L, STATIC].
    """

    start: int
    stop: int
    keep_start: int
    keep_stop: int
    total_lines: int
    ids: IntArray
    offsets: IntArray
    features: FloatArray

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Windows:
    """Token windows of one segment: `rows` of ids; per line the row and column of its first token."""

    rows: list[IntArray]
    line_row: IntArray
    line_column: IntArray
    line_length: IntArray


class WindowEncoder:
    """Tokenises observations and queries and lays them out in windows.

    tokenizer: a `tokenizers.Tokenizer`; its padding, truncation and special-token template are not used.
    Raises ValueError when a special token of the configuration is not in the vocabulary.
    """

    def __init__(self, tokenizer: Tokenizer, config: EncodingConfig) -> None:
        self.tokenizer = tokenizer
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.config = config
        self._cls = self._special(config.cls_token)
        self._sep = self._special(config.sep_token)
        self._plain = PlainWords(tokenizer) if config.plain_words else None

    def _special(self, token: str | None) -> IntArray:
        if token is None:
            return np.empty(0, np.int64)
        index = self.tokenizer.token_to_id(token)
        if index is None:
            raise ValueError(f"the tokenizer has no token {token!r}")
        return np.array([index], np.int64)

    def query(self, text: str) -> Query:
        """Tokenise a query; any length, the middle of a very long one is left out."""
        limit = self.config.max_query_tokens
        text = self.read(scoring_text(text.replace("\n", " ")))
        text = _clip(" ".join(text.split()), limit * _CHARACTERS_PER_TOKEN)
        ids = np.array(self.tokenizer.encode(text, add_special_tokens=False).ids, np.int64)
        body = _cut(ids, limit, limit - limit // 2)
        terms = np.array([i for i in sorted(set(ids.tolist())) if self._is_term(i)], np.int64)
        return Query(np.concatenate((self._cls, body, self._sep)), body, terms)

    def read(self, text: str) -> str:
        """What is tokenised of a text that `observation.scoring_text` gave."""
        return text if self._plain is None else self._plain(text)

    def _is_term(self, index: int) -> bool:
        token = (self.tokenizer.id_to_token(index) or "").lstrip("#Ġ▁").lower()
        return token.isalnum() and token not in _STOP_WORDS

    def segments(self, observation: Observation) -> Iterator[Segment]:
        """Cut an observation into segments, tokenised one after another: memory stays flat."""
        total, size, overlap = len(observation), self.config.max_lines, self.config.overlap_lines
        start = 0
        while start < total:
            stop = min(start + size, total)
            keep_start = start + overlap // 2 if start else 0
            keep_stop = total if stop == total else stop - (overlap - overlap // 2)
            yield self._segment(observation.lines, start, stop, keep_start, keep_stop)
            if stop == total:
                return
            start = stop - overlap

    def _segment(self, lines: list[str], start: int, stop: int, keep_start: int, keep_stop: int) -> Segment:
        limit = self.config.max_line_tokens
        texts = [_clip(scoring_text(line), limit * _CHARACTERS_PER_TOKEN) for line in lines[start:stop]]
        read = [self.read(text) for text in texts]
        if self.config.numerals:
            read = [f"{number} {text}" for number, text in enumerate(read, start + 1)]
        head = limit - limit // 3
        encoded = [
            ids if len(ids) <= limit else ids[:head] + ids[head - limit :]
            for ids in (e.ids for e in self.tokenizer.encode_batch(read, add_special_tokens=False))
        ]
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(ids) for ids in encoded], out=offsets[1:])
        flat = np.fromiter((i for ids in encoded for i in ids), np.int64, int(offsets[-1]))
        features = static_features(texts, start, len(lines))
        return Segment(start, stop, keep_start, keep_stop, len(lines), flat, offsets, features)

    def windows(self, segment: Segment, query: Query | None = None) -> Windows:
        """Lay the lines of a segment out in windows; `query` stands in front of each when reading is joint."""
        prefix = self._cls
        if self.config.reading == "joint":
            if query is None:
                raise ValueError("the joint reading needs the query to lay out windows")
            prefix = np.concatenate((self._cls, query.body, self._sep))
        room = self.config.window_tokens - len(prefix) - len(self._sep)
        offsets, count = segment.offsets, len(segment)
        rows: list[IntArray] = []
        line_row, line_column = np.zeros(count, np.int64), np.zeros(count, np.int64)
        first = 0
        while first < count:
            context = first  # whole lines repeated in front of this window
            while context > 0 and offsets[first] - offsets[context - 1] <= self.config.context_tokens:
                context -= 1
            begin = offsets[context]
            last = int(np.searchsorted(offsets, begin + room, side="right")) - 1  # one past the last that fits
            last = min(last, count)
            rows.append(np.concatenate((prefix, segment.ids[begin : offsets[last]], self._sep)))
            line_row[first:last] = len(rows) - 1
            line_column[first:last] = offsets[first:last] - begin + len(prefix)
            first = last
        return Windows(rows, line_row, line_column, np.diff(offsets))

    def features(self, segment: Segment, query: Query) -> FloatArray:
        """All line features of a segment for one query, float32 [L, F]."""
        return np.concatenate((segment.features, query_features(segment, query)), axis=1)


def static_features(texts: Sequence[str], start: int, total_lines: int) -> FloatArray:
    """Line features that do not depend on the query, float32 [L, STATIC]; `texts` as `scoring_text` gives them."""
    count = len(texts)
    data = np.frombuffer("\n".join(texts).encode("utf-8", "replace") + b"\n", np.uint8)
    ends = np.flatnonzero(data == 10)[:count]
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1] + 1)) if count else ends
    size = np.maximum(ends - begins, 1)

    def share(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        running = np.concatenate((np.zeros(1, np.int64), np.cumsum(mask)))
        return (running[ends] - running[begins]) / size

    upper = (data >= 65) & (data <= 90)
    digit = (data >= 48) & (data <= 57)
    letter = upper | ((data >= 97) & (data <= 122)) | (data >= 128)
    punctuation = ~(letter | digit) & (data > 32)

    indent = np.array([len(t) - len(t.lstrip()) for t in texts], np.float64)
    blank = np.array([not t.strip() for t in texts], np.float64)
    index = np.arange(start, start + count, dtype=np.float64)
    templates = [t.translate(_DROP_DIGITS) for t in texts]
    counts = Counter(templates)
    seen: set[str] = set()
    first = [t not in seen and not seen.add(t) for t in templates]
    columns = {
        "indent": np.log1p(indent) / 3,
        "indent_change": np.clip(np.diff(indent, prepend=indent[:1]) / 8, -1, 1),
        "blank": blank,
        "after_blank": np.concatenate((np.ones(1), blank[:-1])) if count else blank,
        "before_blank": np.concatenate((blank[1:], np.ones(1))) if count else blank,
        "characters": np.log1p(np.array([len(t) for t in texts], np.float64)) / 6,
        "upper_share": share(upper),
        "digit_share": share(digit),
        "punctuation_share": share(punctuation),
        "rule": (share(punctuation) > 0.8) & (size >= 4),
        "relative_position": index / max(total_lines - 1, 1),
        "lines_before": np.log1p(index) / 8,
        "lines_after": np.log1p(total_lines - 1 - index) / 8,
        "failure_word": [_FAILURE.search(t) is not None for t in texts],
        "warning_word": [_WARNING.search(t) is not None for t in texts],
        "template_count": np.log1p([counts[t] for t in templates]) / 5,
        "template_first": first,
    }
    return np.stack([np.asarray(columns[name], np.float32) for name in FEATURES[:STATIC]], axis=1)


def query_features(segment: Segment, query: Query) -> FloatArray:
    """BM25 of every line for the query's token ids within the segment, float32 [L, len(FEATURES) - STATIC].

    Okapi BM25 (Robertson and Zaragoza 2009, eq. 3.15) with k1 = 1.2, b = 0.75 and the lines as documents.
    """
    count, terms = len(segment), query.terms
    out = np.zeros((count, len(FEATURES) - STATIC), np.float32)
    if not count or not len(terms) or not len(segment.ids):
        return out
    lengths = np.diff(segment.offsets)
    position = np.searchsorted(terms, segment.ids)
    position[position == len(terms)] = 0
    hit = terms[position] == segment.ids
    line_of = np.repeat(np.arange(count), lengths)
    frequency = np.zeros((count, len(terms)))
    np.add.at(frequency, (line_of[hit], position[hit]), 1.0)
    document_frequency = (frequency > 0).sum(axis=0)
    idf = np.log1p((count - document_frequency + 0.5) / (document_frequency + 0.5))
    norm = _BM25_K1 * (1 - _BM25_B + _BM25_B * lengths / max(lengths.mean(), 1e-9))
    weight = frequency * (_BM25_K1 + 1) / (frequency + norm[:, None])
    possible = max(float(idf.sum()), 1e-9)
    score = weight @ idf / possible
    padded = np.pad(frequency > 0, ((1, 1), (0, 0)))
    around = (padded[:-2] | padded[1:-1] | padded[2:]) @ idf / possible
    out[:, 0] = score
    out[:, 1] = score / max(float(score.max()), 1e-9)
    out[:, 2] = around
    out[:, 3] = (frequency > 0) @ idf / possible
    return out


def length_bucket(total_lines: int) -> int:
    """Half-octave bucket of the number of lines N: the length-aware embedding's index (arXiv 2607.18213)."""
    return min(int(2 * np.log2(max(total_lines, 1))), LENGTH_BUCKETS - 1)


@dataclass(frozen=True, slots=True)
class Pair:
    """One query against one segment, with everything that does not depend on the batch."""

    query: Query
    segment: Segment
    windows: Windows
    features: FloatArray


def pad(rows: Sequence[IntArray], width: int, height: int | None = None) -> tuple[IntArray, IntArray]:
    """Rows of ids as one array, and its mask: int64 [height, width] both; height: None for as many as there are."""
    ids = np.zeros((len(rows) if height is None else height, width), np.int64)
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return ids, mask


def collate(pairs: Sequence[Pair]) -> Batch:
    """Pad pairs into the network's inputs (`INPUT_NAMES`); pairs that share `windows` share their rows."""
    rows: list[IntArray] = []
    first_row: dict[int, int] = {}
    for pair in pairs:
        if id(pair.windows) not in first_row:
            first_row[id(pair.windows)] = len(rows)
            rows.extend(pair.windows.rows)
    width = max(len(row) for row in rows)
    lines = max(len(pair.segment) for pair in pairs)
    longest_query = max(len(pair.query.ids) for pair in pairs)
    size = len(pairs)
    input_ids, attention_mask = pad(rows, width)
    query_ids, query_mask = pad([pair.query.ids for pair in pairs], longest_query)
    batch: Batch = {
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "query_ids": query_ids,
        "query_mask": query_mask,
        "line_index": np.zeros((size, lines), np.int64),
        "line_length": np.zeros((size, lines), np.int64),
        "line_features": np.zeros((size, lines, len(FEATURES)), np.float32),
        "line_mask": np.zeros((size, lines), np.bool_),
        "length_bucket": np.zeros(size, np.int64),
    }
    for b, pair in enumerate(pairs):
        count, windows = len(pair.segment), pair.windows
        row = windows.line_row + first_row[id(windows)]
        batch["line_index"][b, :count] = row * width + windows.line_column
        batch["line_length"][b, :count] = windows.line_length
        batch["line_features"][b, :count] = pair.features
        batch["line_mask"][b, :count] = True
        batch["length_bucket"][b] = length_bucket(pair.segment.total_lines)
    return batch


def _clip(text: str, limit: int) -> str:
    """Leave out the middle of a text that is far longer than its tokens can be."""
    if len(text) <= 2 * limit:
        return text
    return f"{text[:limit]} {text[-limit:]}"


def _cut(ids: IntArray, limit: int, head: int) -> IntArray:
    """Keep `head` tokens from the front and the rest of `limit` from the back."""
    if len(ids) <= limit:
        return ids
    return np.concatenate((ids[:head], ids[len(ids) - (limit - head) :]))
