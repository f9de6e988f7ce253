"""Rows through one pruner, in order, a stream: the local engine, and what each worker of a cluster runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from linecls.batch.rows import Outcome, Row, answered, failed
from linecls.errors import LineclsError

if TYPE_CHECKING:
    from linecls.pruner import Pruner

_MOST_WAITING = 4096  # rows that are read and not yet written, those with errors included
_MOST_WAITING_SIZE = 64 << 20  # their characters
_COUNT_EVERY = 16  # tokens are counted in one of so many rows and estimated from the length in the others
_PROBE = ("which test failed", "1 passed\n1 failed\n")


def prune_rows(
    pruner: Pruner, rows: Iterable[Row], options: Mapping[str, Any], *, count_tokens: bool = False
) -> Iterator[Outcome]:
    """One outcome per row, in order; memory does not grow with their number.

    options: those of `Pruner.prune_many`. count_tokens: fill in `Outcome.tokens`.
    A row on which the model fails gets an outcome with the error. Raises LineclsError when the model fails on
    anything at all, and whatever `rows` raises, both after the rows before are through.
    """
    feed = _Feed(rows)
    tokens = _Tokens(pruner) if count_tokens else None
    while not feed.is_finished:
        results = pruner.prune_many(feed.pairs(), **options)
        while True:
            try:
                pruning = next(results)
            except StopIteration:
                break
            except Exception:  # one of the rows that wait: find out which, by itself
                feed.stop()
                yield from _one_by_one(pruner, feed, options)
                break
            while (row := feed.waiting.popleft()).error is not None:
                yield failed(row, row.error)
            feed.written += row.size
            yield answered(row, pruning, tokens.of(row) if tokens else 0)
        for row in _drained(feed):
            if row.error is None:
                raise LineclsError(f"the pruner gave no answer for row {row.number}")
            yield failed(row, row.error)
    if feed.failure is not None:
        raise feed.failure


def _one_by_one(pruner: Pruner, feed: _Feed, options: Mapping[str, Any]) -> Iterator[Outcome]:
    for row in _drained(feed):
        if row.error is not None:
            yield failed(row, row.error)
            continue
        try:
            outcome = answered(row, pruner.prune(row.query, row.observation, **options))
        except Exception as error:
            reason = _one_line(error)
            try:
                pruner.prune(*_PROBE, **options)
            except Exception as broken:
                raise LineclsError(f"the model fails on every row: {_one_line(broken)}") from broken
            outcome = failed(row, reason)
        yield outcome


def _drained(feed: _Feed) -> Iterator[Row]:
    while feed.waiting:
        row = feed.waiting.popleft()
        feed.written += row.size
        yield row


class _Feed:
    """Hands rows to the pruner and remembers those that wait for an answer.

    The pruner may read its pairs in another thread. A run of `pairs` ends early when too much waits: only then
    are rows with errors written that no good row follows.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = iter(rows)
        self._lock = threading.Lock()
        self._is_open = False
        self._read = 0
        self.written = 0
        self.waiting: deque[Row] = deque()
        self.is_finished = False
        self.failure: BaseException | None = None

    def pairs(self) -> Iterator[tuple[str, str | bytes]]:
        self._is_open = True
        while len(self.waiting) < _MOST_WAITING and self._read - self.written < _MOST_WAITING_SIZE:
            with self._lock:
                if not self._is_open:
                    return
                try:
                    row = next(self._rows)
                except StopIteration:
                    self.is_finished = True
                    return
                except Exception as error:  # of the input, not of the pruner: raised when all before it is written
                    self.failure, self.is_finished = error, True
                    return
                self._read += row.size
                self.waiting.append(row)
            if row.error is None:
                yield row.query, row.observation

    def stop(self) -> None:
        """No further row goes to the pruner that failed."""
        with self._lock:
            self._is_open = False


class _Tokens:
    """Tokens of an observation: counted now and then, in between estimated from its length."""

    def __init__(self, pruner: Pruner) -> None:
        self._tokenizer = pruner.encoder.tokenizer
        self._rows = self._counted = self._length = 0

    def of(self, row: Row) -> int:
        text = row.observation if isinstance(row.observation, str) else row.observation.decode("utf-8", "replace")
        if self._rows % _COUNT_EVERY == 0:
            sample = text[:20_000]
            encoded = self._tokenizer.encode_batch(sample.split("\n"), add_special_tokens=False)
            self._counted += sum(len(line.ids) for line in encoded)
            self._length += len(sample)
        self._rows += 1
        return round(len(text) * self._counted / max(self._length, 1))


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    return text if isinstance(error, LineclsError) and text else f"{type(error).__name__}: {text}".rstrip(": ")
