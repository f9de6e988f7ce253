"""Query and observation in, verbatim lines out: the whole way for one observation or for thousands."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from linecls.artifact import TOKENIZER, Artifact, resolve
from linecls.decoding import Budget, OperatingPoint, decode
from linecls.encoding import Pair, Query, Segment, WindowEncoder, Windows, collate
from linecls.errors import ArtifactError
from linecls.observation import Observation, scoring_text
from linecls.session import Session, choose_device
from linecls.spans import Span, count_lines

_CACHED_SEGMENTS = 16  # an observation of more segments is encoded again for each of its queries
_SORTED_BATCHES = 8  # so many batches' worth of pairs is sorted by length before it is cut into batches
_MOST_PAIRS = 32  # in one call: the network compares every pair's query with all of the call's tokens
_BLANK_LOGIT = -10.0  # of the lines of a segment without a single token, which the network is not asked about
_COUNT_PIECE = 4096  # characters of a long line that are tokenised at once when its tokens are counted


@dataclass(frozen=True)
class Pruning:
    """The answer for one query and one observation of L lines.

    text: the kept lines, byte for byte, in the type of the observation (str or bytes).
    spans: the kept lines as sorted, disjoint, 1-based inclusive spans; empty when nothing answers.
    keep_logits: the network's number for each line, float32 [L], before bias and decoding.
    answerable: probability that the observation answers the query at all.
    kept_lines, total_lines: how many lines are kept, and L.
    """

    text: str | bytes
    spans: list[Span]
    keep_logits: NDArray[np.float32]
    answerable: float
    kept_lines: int
    total_lines: int


class Pruner:
    """Keeps the lines of tool output that answer a query.

    >>> pruner = Pruner.from_pretrained()
    >>> pruner.prune("why does the login test fail", log).text

    What a pair of query and observation gives does not depend on the pairs before, beside or after it.
    """

    def __init__(self, artifact: Artifact, session: Session, encoder: WindowEncoder) -> None:
        self.artifact = artifact
        self.session = session
        self.encoder = encoder

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path | None = None,
        *,
        device: str = "auto",
        threads: int | None = None,
        variant: str | None = None,
    ) -> Pruner:
        """Load a model: None is the embedded one, else a directory or a hub id `organisation/name`.

        device: `auto`, `cpu`, `cuda` or `cuda:N`. `auto` takes a GPU where the runtime has one and the model
            has a variant in floating point for it.
        threads: CPU threads; None takes the physical cores that this process may use.
        variant: precision of the network (`artifact.files`); None takes the one for the device.
        Raises ArtifactError for a missing or corrupt model, DeviceError for an unknown or absent device,
        MissingExtraError when the runtime is not installed.
        """
        artifact = Artifact.read(resolve(model))
        kind, index = choose_device(device)
        if kind == "cuda" and variant is None:
            variant = next((v for v in ("fp16", "fp32") if v in artifact.files), None)
            if variant is None and device == "auto":  # quantised operators run on the CPU anyway
                kind = "cpu"
        graph = artifact.graph(variant)
        artifact.verify((TOKENIZER, graph.name))
        try:
            encoder = WindowEncoder(Tokenizer.from_file(str(artifact.tokenizer)), artifact.encoding)
        except Exception as error:  # the tokenizers package raises bare Exception
            raise ArtifactError(f"cannot use {artifact.tokenizer}: {error}; export the model again") from error
        session = Session(graph, device=f"cuda:{index}" if kind == "cuda" else "cpu", threads=threads)
        return cls(artifact, session, encoder)

    def prune(
        self,
        query: str,
        observation: str | bytes,
        *,
        bias: float | None = None,
        switch_cost: float | None = None,
        empty_threshold: float | None = None,
        operating_point: str | None = None,
        max_lines: int | None = None,
        max_tokens: int | None = None,
        keep_ratio: float | None = None,
    ) -> Pruning:
        """Keep the lines of `observation` that answer `query`.

        operating_point: name of the artifact's operating point to decode with (None: its default).
        bias, switch_cost, empty_threshold: put in the place of the operating point's own (see
            `decoding.OperatingPoint`).
        max_lines, max_tokens, keep_ratio: limits that are never exceeded (see `decoding.Budget`); tokens are
            those of the model's tokenizer.
        Raises ValueError for an option out of range, LineclsError for an unknown operating point.
        """
        options = {
            "bias": bias,
            "switch_cost": switch_cost,
            "empty_threshold": empty_threshold,
            "operating_point": operating_point,
            "max_lines": max_lines,
            "max_tokens": max_tokens,
            "keep_ratio": keep_ratio,
        }
        return next(self.prune_many([(query, observation)], **options))  # pyright: ignore[reportArgumentType]

    def prune_many(
        self,
        pairs: Iterable[tuple[str, str | bytes]],
        *,
        bias: float | None = None,
        switch_cost: float | None = None,
        empty_threshold: float | None = None,
        operating_point: str | None = None,
        max_lines: int | None = None,
        max_tokens: int | None = None,
        keep_ratio: float | None = None,
        batch_tokens: int = 16384,
    ) -> Iterator[Pruning]:
        """One `Pruning` per (query, observation), in order, as the pairs come; options as for `prune`.

        Consecutive queries on one observation share its encoding, and windows of many observations are packed
        by length into calls of about `batch_tokens` tokens, unless the network is dynamically quantised (see
        `Session.batch_invariant`): then every pair runs by itself, because its logits would depend on its
        neighbours. Neither changes a result. Memory grows with the longest observation's lines, and with
        `batch_tokens`, not with the number of pairs.
        """
        point = self.artifact.operating_point(operating_point)
        overrides = {"bias": bias, "switch_cost": switch_cost, "empty_threshold": empty_threshold}
        point = replace(point, **{name: value for name, value in overrides.items() if value is not None})
        budget = Budget(max_lines, max_tokens, keep_ratio)
        if batch_tokens < 1:
            raise ValueError(f"batch_tokens must be at least 1, not {batch_tokens}")
        return self._stream(pairs, point, budget, batch_tokens)

    def _stream(
        self,
        pairs: Iterable[tuple[str, str | bytes]],
        point: OperatingPoint,
        budget: Budget,
        batch_tokens: int,
    ) -> Iterator[Pruning]:
        reader = _Reader(self.encoder)
        batcher = _Batcher(self.session, batch_tokens)
        waiting: deque[_Job] = deque()
        for query, raw in pairs:
            if not isinstance(query, str):
                raise TypeError(f"a query is str, not {type(query).__name__}")
            observation = Observation.of(raw)
            job = _Job(observation)
            waiting.append(job)
            for pair in reader.pairs(self.encoder.query(query), observation):
                if len(pair.segment.ids) == 0:
                    job.pass_over(pair.segment)
                    continue
                job.open_segments += 1
                if budget.max_tokens is not None:
                    job.count_tokens(self.encoder, pair.segment)
                batcher.add(job, pair)
            job.is_read = True
            while waiting and waiting[0].is_done:
                yield waiting.popleft().pruning(point, budget)
        batcher.flush()
        while waiting:
            yield waiting.popleft().pruning(point, budget)


class _Job:
    """One observation on its way: its logits are filled in segment by segment."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self.keep_logits = np.zeros(len(observation), np.float32)
        self.token_counts = np.zeros(len(observation), np.int64)
        self.answerable_logit = -math.inf
        self.open_segments = 0
        self.is_read = False

    @property
    def is_done(self) -> bool:
        return self.is_read and self.open_segments == 0

    def take(self, segment: Segment, keep_logits: NDArray[np.float32], answerable_logit: float) -> None:
        """Take the network's answer for a segment: the logits [its lines] that it decides.

        An observation is as answerable as the most answerable of its segments.
        """
        decided = slice(segment.keep_start - segment.start, segment.keep_stop - segment.start)
        self.keep_logits[segment.keep_start : segment.keep_stop] = keep_logits[decided]
        if math.isnan(answerable_logit) or not np.isfinite(keep_logits).all():
            raise ArtifactError("the network gave something that is no number; export the model again")
        self.answerable_logit = max(self.answerable_logit, answerable_logit)
        self.open_segments -= 1

    def pass_over(self, segment: Segment) -> None:
        """A segment of blank lines: none of them answers anything."""
        self.keep_logits[segment.keep_start : segment.keep_stop] = _BLANK_LOGIT

    def count_tokens(self, encoder: WindowEncoder, segment: Segment) -> None:
        """Tokens of each line of the segment, those that the network does not see included."""
        counts = np.diff(segment.offsets)
        # A line that was cut has the limit's number of tokens, or was cut before it was tokenised.
        lines = self.observation.lines[segment.start : segment.stop]
        longest = encoder.config.max_line_tokens
        for index, line in enumerate(lines):
            if counts[index] >= longest or len(line) > _COUNT_PIECE // 8:
                counts[index] = _count_tokens(encoder.tokenizer, scoring_text(line))
        self.token_counts[segment.start : segment.stop] = counts

    def pruning(self, point: OperatingPoint, budget: Budget) -> Pruning:
        answerable = _sigmoid(self.answerable_logit)
        spans = decode(self.keep_logits, point, answerable, budget=budget, token_counts=self.token_counts)
        return Pruning(
            text=self.observation.select(spans),
            spans=spans,
            keep_logits=self.keep_logits,
            answerable=answerable,
            kept_lines=count_lines(spans),
            total_lines=len(self.observation),
        )


class _Reader:
    """Encodes observations; the last one stays encoded for the next query on it."""

    def __init__(self, encoder: WindowEncoder) -> None:
        self._encoder = encoder
        self._lines: list[str] | None = None
        self._encoded: list[tuple[Segment, Windows | None]] = []

    def pairs(self, query: Query, observation: Observation) -> Iterator[Pair]:
        """The pairs of the query and each segment, lazily."""
        for segment, shared in self._segments(observation):
            windows = self._encoder.windows(segment, query) if shared is None else shared
            yield Pair(query, segment, windows, self._encoder.features(segment, query))

    def _segments(self, observation: Observation) -> Iterator[tuple[Segment, Windows | None]]:
        if self._lines == observation.lines:
            yield from self._encoded
            return
        joint = self._encoder.config.reading == "joint"
        self._lines, encoded = None, []
        for segment in self._encoder.segments(observation):
            item = (segment, None if joint else self._encoder.windows(segment))
            if len(encoded) <= _CACHED_SEGMENTS:
                encoded.append(item)
            yield item
        if len(encoded) <= _CACHED_SEGMENTS:
            self._lines, self._encoded = observation.lines, encoded


class _Batcher:
    """Packs pairs into calls of the network."""

    def __init__(self, session: Session, batch_tokens: int) -> None:
        self._session = session
        self._batch_tokens = batch_tokens
        self._pending: list[tuple[_Job, Pair]] = []
        self._pending_tokens = 0

    def add(self, job: _Job, pair: Pair) -> None:
        """Take a pair; it runs now or with others, at the latest in `flush`."""
        if not self._session.batch_invariant:
            self._run([(job, pair)])
            return
        self._pending.append((job, pair))
        self._pending_tokens += sum(map(len, pair.windows.rows)) + len(pair.segment)
        if self._pending_tokens >= _SORTED_BATCHES * self._batch_tokens:
            self.flush()

    def flush(self) -> None:
        """Run what is pending: pairs that share windows stay together, the rest goes by length."""
        first_seen: dict[int, int] = {}
        for index, (_, pair) in enumerate(self._pending):
            first_seen.setdefault(id(pair.windows), index)
        pending = sorted(self._pending, key=lambda item: (len(item[1].segment), first_seen[id(item[1].windows)]))
        self._pending, self._pending_tokens = [], 0
        batch: list[tuple[_Job, Pair]] = []
        rows = width = 0
        for job, pair in pending:
            shared = bool(batch) and batch[-1][1].windows is pair.windows
            more_rows = rows + (0 if shared else len(pair.windows.rows))
            more_width = max(width, *map(len, pair.windows.rows))
            # Lines are padded to the longest pair, which is this one: they are sorted.
            tokens = more_rows * more_width + (len(batch) + 1) * len(pair.segment)
            if batch and (tokens > self._batch_tokens or len(batch) == _MOST_PAIRS):
                self._run(batch)
                batch, more_rows, more_width = [], len(pair.windows.rows), max(map(len, pair.windows.rows))
            batch.append((job, pair))
            rows, width = more_rows, more_width
        if batch:
            self._run(batch)

    def _run(self, batch: list[tuple[_Job, Pair]]) -> None:
        keep_logits, answerable_logits = self._session.run(collate([pair for _, pair in batch]))
        for (job, pair), keep, answerable in zip(batch, keep_logits, answerable_logits, strict=True):
            job.take(pair.segment, keep[: len(pair.segment)], float(answerable))


def _count_tokens(tokenizer: Tokenizer, text: str) -> int:
    pieces = [text[i : i + _COUNT_PIECE] for i in range(0, len(text), _COUNT_PIECE)]
    return sum(len(e.ids) for e in tokenizer.encode_batch(pieces, add_special_tokens=False))


def _sigmoid(logit: float) -> float:
    """Probability of a logit; 0 for -inf, which an empty observation has."""
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))
