"""Query and observation in, verbatim lines out: the whole way for one observation or for thousands."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from linecls.artifact import ENCODER, SCORER, TOKENIZER, Artifact, resolve
from linecls.decoding import Budget, OperatingPoint, best_line, decode
from linecls.encoding import Pair, Query, Segment, WindowEncoder, Windows
from linecls.errors import ArtifactError, empty_query
from linecls.network import ENCODER_OUTPUTS, SCORER_OUTPUTS, Logits, Network, SplitNetwork
from linecls.observation import Observation, is_blank, scoring_text
from linecls.session import Session, choose_device
from linecls.spans import Span, count_lines

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_CACHED_SEGMENTS = 16  # an observation of more segments is tokenised again for each of its queries
_BATCH_TOKENS = 16384
_BATCHES_IN_FLIGHT = 2  # one runs, one is ready, while the next is being tokenised
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
    unfit_tokens: tokens of the best line of the answer, when they alone are over max_tokens and nothing is kept
        for that; else None.
    """

    text: str | bytes
    spans: list[Span]
    keep_logits: NDArray[np.float32]
    answerable: float
    kept_lines: int
    total_lines: int
    unfit_tokens: int | None = None


class Pruner:
    """Keeps the lines of tool output that answer a query.

    >>> pruner = Pruner.from_pretrained()
    >>> pruner.prune("why does the login test fail", log).text

    What a pair of query and observation gives does not depend on the pairs before, beside or after it. The states
    of the last observation stay (about 50 MB at most), so that a further query on it costs little. Several threads
    may use one pruner.
    """

    def __init__(self, artifact: Artifact, network: Network, encoder: WindowEncoder) -> None:
        self.artifact = artifact
        self.network = network
        self.encoder = encoder
        self._reader = _Reader(encoder)

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

        device: `auto`, `cpu`, `cuda`, `cuda:N` or `tensorrt[:N]`. `auto` takes a GPU where the runtime has one and
            the model has a variant for it.
        threads: CPU threads; None takes the physical cores that this process may use.
        variant: precision of the network (`artifact.files`); None takes the one for the device.
        Raises ArtifactError for a missing or corrupt model, DeviceError for an unknown or absent device,
        MissingExtraError when the runtime is not installed.
        """
        artifact = Artifact.read(resolve(model))
        kind, _ = choose_device(device)
        given = variant
        if kind != "cpu" and variant is None:
            variant = artifact.variant_for("cuda")
            if variant is None and device == "auto":  # quantised operators run on the CPU anyway
                kind = "cpu"
        artifact.verify([TOKENIZER])
        try:
            encoder = WindowEncoder(Tokenizer.from_file(str(artifact.tokenizer)), artifact.encoding)
        except Exception as error:  # the tokenizers package raises bare Exception
            raise ArtifactError(f"cannot use {artifact.tokenizer}: {error}; export the model again") from error
        network = None
        if kind != "cpu":
            network = _open(artifact, variant, device, threads)
        if network is None or (network.device == "cpu" and given is None):  # the GPU did not start
            network = _open(artifact, given or artifact.variant_for("cpu"), "cpu", threads)
        return cls(artifact, network, encoder)

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
        progress: Callable[[int, int], None] | None = None,
    ) -> Pruning:
        """Keep the lines of `observation` that answer `query`.

        operating_point: name of the artifact's operating point to decode with (None: its default).
        bias, switch_cost, empty_threshold: put in the place of the operating point's own (see
            `decoding.OperatingPoint`).
        max_lines, max_tokens, keep_ratio: limits that are never exceeded (see `decoding.Budget`); tokens are
            those of the model's tokenizer.
        progress: called with the number of lines done so far and that of all lines, after each segment of a
            long observation.
        Raises ValueError for an option out of range, QueryError for an empty query, LineclsError for an unknown
        operating point.
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
        point, budget = self._decoding(**options)  # pyright: ignore[reportArgumentType]
        return next(self._stream([(query, observation)], point, budget, _BATCH_TOKENS, progress))

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
        batch_tokens: int = _BATCH_TOKENS,
    ) -> Iterator[Pruning]:
        """One `Pruning` per (query, observation), in order; options as for `prune`.

        Pairs are read and tokenised while the network works on those before them, a few batches ahead. Where the
        network is `batch_invariant`, windows of many observations are packed by length into calls of about
        `batch_tokens` tokens; dynamic int8 encodes every observation by itself. Neither changes a result: spans,
        bytes and logits are those of `prune`. Consecutive queries on one observation share its encoding. Memory grows
        with the longest observation's lines, and with `batch_tokens`, not with the number of pairs. An empty query
        raises QueryError when its pair is read, and nothing comes after that.
        """
        point, budget = self._decoding(
            bias=bias,
            switch_cost=switch_cost,
            empty_threshold=empty_threshold,
            operating_point=operating_point,
            max_lines=max_lines,
            max_tokens=max_tokens,
            keep_ratio=keep_ratio,
        )
        if batch_tokens < 1:
            raise ValueError(f"batch_tokens must be at least 1, not {batch_tokens}")
        return self._stream(pairs, point, budget, batch_tokens)

    def forget(self) -> None:
        """Let go of what is kept of earlier observations and queries; no result changes. For measurements."""
        self._reader.forget()
        self.network.forget()

    def _decoding(
        self,
        *,
        bias: float | None,
        switch_cost: float | None,
        empty_threshold: float | None,
        operating_point: str | None,
        max_lines: int | None,
        max_tokens: int | None,
        keep_ratio: float | None,
    ) -> tuple[OperatingPoint, Budget]:
        point = self.artifact.operating_point(operating_point)
        overrides = {"bias": bias, "switch_cost": switch_cost, "empty_threshold": empty_threshold}
        point = replace(point, **{name: value for name, value in overrides.items() if value is not None})
        return point, Budget(max_lines, max_tokens, keep_ratio)

    def _stream(
        self,
        pairs: Iterable[tuple[str, str | bytes]],
        point: OperatingPoint,
        budget: Budget,
        batch_tokens: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> Iterator[Pruning]:
        waiting: deque[_Job] = deque()
        worker = _Worker(self.network, batch_tokens)
        try:
            for query, raw in pairs:
                if not isinstance(query, str):
                    raise TypeError(f"a query is str, not {type(query).__name__}")
                if is_blank(query):
                    raise empty_query()
                job = _Job(Observation.of(raw), progress)
                waiting.append(job)
                for pair in self._reader.pairs(self.encoder.query(query), job.observation):
                    if len(pair.segment.ids) == 0:
                        job.pass_over(pair.segment)
                        continue
                    job.open_segments += 1
                    if budget.max_tokens is not None:
                        job.count_tokens(self.encoder, pair.segment)
                    worker.add(job, pair)
                job.is_read = True
                while waiting and waiting[0].is_done:
                    yield waiting.popleft().pruning(point, budget)
            worker.finish()
        except BaseException as error:  # who interrupts a program does not wait for an answer
            worker.close(wait=isinstance(error, (Exception, GeneratorExit)))
            raise
        worker.close()
        while waiting:
            yield waiting.popleft().pruning(point, budget)


def _open(artifact: Artifact, variant: str | None, device: str, threads: int | None) -> Network:
    graphs = artifact.graphs(variant)
    with _Verification(artifact, [path.name for path in graphs.values()]):
        encoder = Session(graphs[ENCODER], ENCODER_OUTPUTS, device=device, threads=threads)
        scorer = Session(graphs[SCORER], SCORER_OUTPUTS, device=encoder.device, threads=threads)
    return SplitNetwork(encoder, scorer, artifact.pooling)


class _Verification:
    """Checks files of an artifact beside the block, on a second core; leaving the block waits for it.

    Where a file is not what it should be, that is the error, whatever the block made of it.
    """

    def __init__(self, artifact: Artifact, names: list[str]) -> None:
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._check, args=(artifact, names), daemon=True)

    def _check(self, artifact: Artifact, names: list[str]) -> None:
        try:
            artifact.verify(names)
        except Exception as error:  # raised again where it is waited for
            self._error = error

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            return  # an interrupt does not wait
        self._thread.join()
        if self._error is not None:
            raise self._error


class _Job:
    """One observation on its way: its logits are filled in segment by segment."""

    def __init__(self, observation: Observation, progress: Callable[[int, int], None] | None = None) -> None:
        self.observation = observation
        self._progress = progress
        self._lines_done = 0
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
        self._tell(segment)

    def pass_over(self, segment: Segment) -> None:
        """A segment of blank lines: none of them answers anything."""
        self.keep_logits[segment.keep_start : segment.keep_stop] = _BLANK_LOGIT
        self._tell(segment)

    def _tell(self, segment: Segment) -> None:
        if self._progress is not None:
            self._lines_done += segment.keep_stop - segment.keep_start
            self._progress(self._lines_done, len(self.observation))

    def count_tokens(self, encoder: WindowEncoder, segment: Segment) -> None:
        """Tokens of each line of the segment, those that the network does not see included."""
        counts = np.diff(segment.offsets)
        # A line that was cut has the limit's number of tokens, or was cut before it was tokenised; another may have
        # been tokenised in other words.
        lines = self.observation.lines[segment.start : segment.stop]
        longest = encoder.config.max_line_tokens
        for index, line in enumerate(lines):
            text = scoring_text(line)
            if counts[index] >= longest or len(line) > _COUNT_PIECE // 8 or encoder.read(text) != text:
                counts[index] = _count_tokens(encoder.tokenizer, text)
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
            unfit_tokens=None if spans else self._unfit_tokens(point, budget, answerable),
        )

    def _unfit_tokens(self, point: OperatingPoint, budget: Budget, answerable: float) -> int | None:
        if not budget.max_tokens:  # no limit, or nothing asked for
            return None
        best = best_line(self.keep_logits, decode(self.keep_logits, point, answerable))
        if best is None or self.token_counts[best - 1] <= budget.max_tokens:
            return None
        return int(self.token_counts[best - 1])


class _Reader:
    """Tokenises observations; the last one stays for the next query on it."""

    def __init__(self, encoder: WindowEncoder) -> None:
        self._encoder = encoder
        self._last: tuple[list[str], list[tuple[Segment, Windows | None]]] | None = None

    def pairs(self, query: Query, observation: Observation) -> Iterator[Pair]:
        """The pairs of the query and each segment, lazily."""
        for segment, shared in self._segments(observation):
            windows = self._encoder.windows(segment, query) if shared is None else shared
            yield Pair(query, segment, windows, self._encoder.features(segment, query))

    def forget(self) -> None:
        """Let go of the last observation."""
        self._last = None

    def _segments(self, observation: Observation) -> Iterator[tuple[Segment, Windows | None]]:
        last = self._last  # another thread may put its own in this place
        if last is not None and last[0] == observation.lines:
            yield from last[1]
            return
        joint = self._encoder.config.reading == "joint"
        self._last, encoded = None, []
        for segment in self._encoder.segments(observation):
            item = (segment, None if joint else self._encoder.windows(segment))
            if len(encoded) <= _CACHED_SEGMENTS:
                encoded.append(item)
            yield item
        if len(encoded) <= _CACHED_SEGMENTS:
            self._last = (observation.lines, encoded)


class _Worker:
    """Runs batches of pairs through the network in a thread of its own, one after another.

    The thread starts with the first full batch: less than one runs where it is.
    """

    def __init__(self, network: Network, batch_tokens: int) -> None:
        self._network = network
        self._batch_tokens = batch_tokens
        self._batch: list[tuple[_Job, Pair]] = []
        self._tokens = 0
        self._pool: ThreadPoolExecutor | None = None
        self._running: deque[tuple[list[tuple[_Job, Pair]], Future[list[Logits]]]] = deque()

    def add(self, job: _Job, pair: Pair) -> None:
        """Take a pair; hand out the results that are there, and wait when too many batches are on their way."""
        self._batch.append((job, pair))
        self._tokens += sum(map(len, pair.windows.rows)) + len(pair.segment)
        if self._tokens >= self._batch_tokens:
            if self._pool is None:
                from concurrent.futures import ThreadPoolExecutor

                self._pool = ThreadPoolExecutor(1, "linecls")
            self._running.append((self._batch, self._pool.submit(self._logits, self._batch)))
            self._batch, self._tokens = [], 0
        while self._running and (len(self._running) > _BATCHES_IN_FLIGHT or self._running[0][1].done()):
            self._take()

    def finish(self) -> None:
        """Hand out all results."""
        while self._running:
            self._take()
        self._hand_out(self._batch, self._logits(self._batch))

    def close(self, *, wait: bool = True) -> None:
        """Forget what has not begun, and wait for what has, if so wished."""
        if self._pool is not None:
            self._pool.shutdown(wait=wait, cancel_futures=True)

    def _take(self) -> None:
        batch, future = self._running.popleft()
        self._hand_out(batch, future.result())

    def _logits(self, batch: Sequence[tuple[_Job, Pair]]) -> list[Logits]:
        return self._network.logits([pair for _, pair in batch])

    @staticmethod
    def _hand_out(batch: Sequence[tuple[_Job, Pair]], results: Sequence[Logits]) -> None:
        for (job, pair), (keep, answerable) in zip(batch, results, strict=True):
            job.take(pair.segment, keep, answerable)


def _count_tokens(tokenizer: Tokenizer, text: str) -> int:
    pieces = [text[i : i + _COUNT_PIECE] for i in range(0, len(text), _COUNT_PIECE)]
    return sum(len(e.ids) for e in tokenizer.encode_batch(pieces, add_special_tokens=False))


def _sigmoid(logit: float) -> float:
    """Probability of a logit; 0 for -inf, which an empty observation has."""
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))
