"""The network as the pruner sees it: pairs of query and segment in, logits out.

A model directory holds two graphs. The encoder reads token windows; its states of an observation serve every query
on it. The scorer reads the states of one segment and of one query, and gives the logits.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

import numpy as np

from linecls.encoding import FloatArray, IntArray, Pair, Windows, length_bucket, pad
from linecls.packing import WIDTH_STEP, pack
from linecls.session import BoundCall, Session

ENCODER_INPUTS: tuple[str, ...] = ("input_ids", "attention_mask")  # int64 [W, T]
ENCODER_OUTPUTS = ("states",)  # float32 [W, T, H]
SCORER_INPUTS = (
    "token_states",  # float32 [N, H]  tokens of all lines, one line after another
    "line_states",  # float32 [L, H]
    "query_states",  # float32 [Q, H]
    "line_start",  # int64 [L]       position of a line's first token in token_states
    "line_length",  # int64 [L]       its tokens; 0 for a blank line
    "line_features",  # float32 [L, F]
    "length_bucket",  # int64 [1]
)
SCORER_OUTPUTS = ("keep_logits", "answerable_logit")  # float32 [L], [1]

# Tokens of one call of the encoder: a CPU wants the activations near its caches, a GPU wants much work at once.
_CALL_TOKENS = {"cpu": 2048, "cuda": 16384, "tensorrt": 16384}
_GPU_WIDTH_STEP = 32  # few shapes, each with buffers of its own
_CACHED_TOKENS = 32768  # whose states are kept for the next query: 50 MB where the states are 384 wide

T = TypeVar("T")
Logits = tuple[FloatArray, float]


class Network(Protocol):
    """batch_invariant: whether a pair's logits stay the same when its windows share calls with other pairs'."""

    batch_invariant: bool
    device: str
    threads: int

    def logits(self, pairs: Sequence[Pair]) -> list[Logits]:
        """For each pair the keep logits [its lines] and the answerable logit."""
        ...

    def forget(self) -> None:
        """Let go of what is kept of earlier pairs; no result changes."""
        ...


@dataclass(frozen=True, slots=True)
class Encoded:
    """States of a segment: tokens [N, H] of its lines one after another, without context; lines [L, H]."""

    tokens: FloatArray
    lines: FloatArray


class SplitNetwork:
    """Encoder and scorer; the states of the last segments and queries stay for the next pair that needs them.

    The logits of a pair are the same bits whatever else runs before it or beside it:

    - The scorer sees one pair per call.
    - Where the encoder is `batch_invariant`, each window runs at the width that it asks for itself
      (`packing.pack`), and the kernels compute a row in one order whatever stands beside it. On a GPU the number of
      rows of a call is fixed as well, so that the same kernel runs every time.
    - Where it is not (dynamic int8 scales activations by the range of the whole call), the windows of a segment run
      by themselves, and so does each query: what a call holds follows from the segment alone.
    """

    def __init__(self, encoder: Session, scorer: Session, pooling: str, call_tokens: int | None = None) -> None:
        """pooling: how the tokens of a line become its state: mean, first or last.

        call_tokens: size of one call of the encoder; None takes the one for the device.
        """
        self._encoder, self._scorer, self._pooling = encoder, scorer, pooling
        self.device, self.threads = encoder.device, encoder.threads
        self.batch_invariant = encoder.batch_invariant
        kind = self.device.partition(":")[0]
        self._call_tokens = call_tokens or _CALL_TOKENS[kind]
        self._is_bound = kind != "cpu"
        self._bound: dict[int, BoundCall] = {}
        self._bound_lock = threading.Lock()
        self._segments: _Cache[Encoded] = _Cache(_CACHED_TOKENS)
        self._queries: _Cache[FloatArray] = _Cache(_CACHED_TOKENS // 8)

    def logits(self, pairs: Sequence[Pair]) -> list[Logits]:
        """For each pair the keep logits [its lines] and the answerable logit."""
        segments: dict[bytes, Encoded] = {}
        queries: dict[bytes, FloatArray] = {}
        wanted: dict[tuple[bool, bytes], list[IntArray]] = {}
        keys = [(_key(pair.windows), pair.query.ids.tobytes()) for pair in pairs]
        for pair, (segment_key, query_key) in zip(pairs, keys, strict=True):
            if segment_key not in segments and (known := self._segments.get(segment_key)) is not None:
                segments[segment_key] = known
            if query_key not in queries and (states := self._queries.get(query_key)) is not None:
                queries[query_key] = states
            if segment_key not in segments:
                wanted[False, segment_key] = pair.windows.rows
            if query_key not in queries:
                wanted[True, query_key] = [pair.query.ids]
        encoded = dict(zip(wanted, self._encode_groups(list(wanted.values())), strict=True))
        results: list[Logits] = []
        for pair, (segment_key, query_key) in zip(pairs, keys, strict=True):
            if segment_key not in segments:
                segments[segment_key] = assemble(pair.windows, encoded[False, segment_key], self._pooling)
                self._segments.put(segment_key, segments[segment_key], len(segments[segment_key].tokens))
            if query_key not in queries:
                queries[query_key] = encoded[True, query_key][0]
                self._queries.put(query_key, queries[query_key], len(queries[query_key]))
            results.append(self._score(pair, segments[segment_key], queries[query_key]))
        return results

    def forget(self) -> None:
        """Let go of the states of earlier segments and queries; no result changes."""
        self._segments.clear()
        self._queries.clear()

    def _encode_groups(self, groups: list[list[IntArray]]) -> list[list[FloatArray]]:
        """States of the rows of each group; equal rows run once."""
        if not self.batch_invariant:
            return [self._encode_distinct(group) for group in groups]
        states = iter(self._encode_distinct([row for group in groups for row in group]))
        return [[next(states) for _ in group] for group in groups]

    def _encode_distinct(self, rows: Iterable[IntArray]) -> list[FloatArray]:
        places: dict[bytes, int] = {}
        distinct: list[IntArray] = []
        place_of: list[int] = []
        for row in rows:
            place = places.setdefault(row.tobytes(), len(distinct))
            if place == len(distinct):
                distinct.append(row)
            place_of.append(place)
        states = self._encode(distinct)
        return [states[place] for place in place_of]

    def _encode(self, rows: Sequence[IntArray]) -> list[FloatArray]:
        """States [tokens of the row, H] of each row of token ids."""
        states: list[FloatArray] = [np.empty((0, 0), np.float32)] * len(rows)
        step = _GPU_WIDTH_STEP if self._is_bound else WIDTH_STEP
        calls = pack([len(row) for row in rows], self._call_tokens, mixed=not self.batch_invariant, step=step)
        for call in calls:
            height = max(self._call_tokens // call.width, 1) if self._is_bound else len(call.rows)
            ids, mask = pad([rows[row] for row in call.rows], call.width, height)
            mask[len(call.rows) :, 0] = 1  # a row that sees nothing would be no number
            out = self._call({"input_ids": ids, "attention_mask": mask})
            for i, row in enumerate(call.rows):
                states[row] = out[i, : len(rows[row])]
        return states

    def _call(self, feeds: dict[str, IntArray]) -> FloatArray:
        if not self._is_bound:
            return self._encoder.run(feeds)[0]
        height, width = feeds["input_ids"].shape
        with self._bound_lock:
            if width not in self._bound:
                shapes = dict.fromkeys(ENCODER_INPUTS, (height, width))
                hidden = self._encoder.width_of(ENCODER_OUTPUTS[0])
                self._bound[width] = self._encoder.bind(shapes, {ENCODER_OUTPUTS[0]: (height, width, hidden)})
            return self._bound[width].run(feeds)[0]

    def _score(self, pair: Pair, segment: Encoded, query: FloatArray) -> Logits:
        length = pair.windows.line_length
        keep, answerable = self._scorer.run(
            {
                "token_states": segment.tokens,
                "line_states": segment.lines,
                "query_states": query,
                # Blank lines at the end start nowhere; their place is not read, but must exist.
                "line_start": np.minimum(np.cumsum(length) - length, len(segment.tokens) - 1),
                "line_length": length,
                "line_features": pair.features,
                "length_bucket": np.array([length_bucket(pair.segment.total_lines)], np.int64),
            }
        )
        return np.asarray(keep, np.float32), float(answerable[0])


def assemble(windows: Windows, states: Sequence[FloatArray], pooling: str) -> Encoded:
    """Put the states of a segment's windows together; `states` are those of `windows.rows`.

    A line's state is the mean of its tokens' states, or the first or the last of them; a blank line's is zero.
    """
    length = windows.line_length
    ends = np.cumsum(length)
    starts = ends - length
    tokens = np.empty((int(ends[-1]), states[0].shape[-1]), np.float32)
    first_lines = np.searchsorted(windows.line_row, np.arange(len(states) + 1))
    for row, (first, stop) in enumerate(pairwise(first_lines.tolist())):
        begin, end, column = starts[first], ends[stop - 1], windows.line_column[first]
        tokens[begin:end] = states[row][column : column + end - begin]
    lines = np.zeros((len(length), tokens.shape[-1]), np.float32)
    live = length > 0
    if pooling == "mean":
        sums = np.add.reduceat(tokens, starts[live], axis=0)
        lines[live] = sums / length[live, None].astype(np.float32)
    else:
        lines[live] = tokens[starts[live] if pooling == "first" else ends[live] - 1]
    return Encoded(tokens, lines)


class _Cache(Generic[T]):
    """The last entries by use, as many as hold `capacity` tokens together; safe for several threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[bytes, tuple[T, int]] = OrderedDict()
        self._tokens = 0
        self._lock = threading.Lock()

    def get(self, key: bytes) -> T | None:
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._tokens = 0

    def put(self, key: bytes, value: T, tokens: int) -> None:
        """Keep an entry of so many tokens; one that fills the cache alone is not kept."""
        if tokens > self._capacity:
            return
        with self._lock:
            self._tokens += tokens - self._entries.pop(key, (value, 0))[1]
            self._entries[key] = (value, tokens)
            while self._tokens > self._capacity:
                self._tokens -= self._entries.popitem(last=False)[1][1]


def _key(windows: Windows) -> bytes:
    """Equal for windows of equal content."""
    lengths = np.array([len(windows.line_length), *map(len, windows.rows)], np.int64)
    return b"".join((lengths.tobytes(), windows.line_length.tobytes(), *(row.tobytes() for row in windows.rows)))
