"""One model for many requests: pairs that arrive together run together, and a full queue turns work away."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from linecls.errors import LineclsError
from linecls.pruner import Pruning


class Overloaded(LineclsError):
    """The queue is full; try again a little later."""


class Closed(LineclsError):
    """The server is ending and takes no more work."""


@dataclass(frozen=True)
class Limits:
    """What the queue takes.

    wait_seconds: how long the first pair of a batch waits for company; the latency that batching may cost.
    batch_pairs: most pairs of one batch.
    queue_pairs, queue_bytes: pairs and characters of observations that may wait or run; beyond, work is refused.
        A single request is always taken by an empty queue.
    """

    wait_seconds: float = 0.002
    batch_pairs: int = 32
    queue_pairs: int = 256
    queue_bytes: int = 64 << 20


@dataclass(eq=False)
class _Job:
    query: str
    observation: str
    options: tuple[tuple[str, Any], ...]
    answer: asyncio.Future[Pruning] = field(repr=False)
    settled: bool = False  # in the thread; `answer` learns it later


class Batcher:
    """Runs pairs of many requests through one `Pruner.prune_many`, in a thread of its own.

    Pairs with the same options run in one call of `prune_many`, equal observations side by side so that they are
    encoded once, shorter ones first so that none waits behind a longer one of its batch. Results do not depend on
    any of this. A pair whose request has gone away is not run.

    All methods belong to the event loop in which `start` was called.
    """

    def __init__(
        self,
        prune_many: Callable[..., Iterator[Pruning]],
        limits: Limits | None = None,
        *,
        on_batch: Callable[[int], None] = lambda size: None,
    ) -> None:
        self.limits = limits or Limits()
        self._prune_many = prune_many
        self._on_batch = on_batch
        self._queue: deque[_Job] = deque()
        self._arrived = threading.Condition()
        self._open_pairs = 0
        self._open_bytes = 0
        self._closing = False

    @property
    def open_pairs(self) -> int:
        """Pairs that wait or run."""
        return self._open_pairs

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="linecls-model", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Take no more work, finish what waits, end the thread."""
        with self._arrived:
            self._closing = True
            self._arrived.notify()
        while self._thread.is_alive():
            await asyncio.sleep(0.005)

    async def prune(self, pairs: Sequence[tuple[str, str]], options: dict[str, Any]) -> list[Pruning]:
        """One `Pruning` per (query, observation), in order.

        options: keyword arguments of `Pruner.prune_many`; their values must be hashable.
        Raises Overloaded when the queue is full, Closed after `close`, and what the pruner raises.
        """
        size = sum(len(observation) for _, observation in pairs)
        if self._closing:
            raise Closed("the server is ending")
        full = self._open_pairs + len(pairs) > self.limits.queue_pairs
        if self._open_pairs and (full or self._open_bytes + size > self.limits.queue_bytes):
            raise Overloaded("too much is waiting already; try again in a second")
        key = tuple(sorted(options.items()))
        jobs = [_Job(query, observation, key, self._loop.create_future()) for query, observation in pairs]
        self._open_pairs += len(jobs)
        self._open_bytes += size
        try:
            with self._arrived:
                self._queue.extend(jobs)
                self._arrived.notify()
            return await asyncio.gather(*(job.answer for job in jobs))
        finally:
            for job in jobs:
                job.answer.cancel()
            self._open_pairs -= len(jobs)
            self._open_bytes -= size

    # In the thread

    def _work(self) -> None:
        while batch := self._next_batch():
            self._on_batch(len(batch))
            batch.sort(key=lambda job: (repr(job.options), len(job.observation), job.observation))
            for _, group in itertools.groupby(batch, key=lambda job: repr(job.options)):
                self._run(list(group))

    def _next_batch(self) -> list[_Job]:
        """The pairs that wait, at most `batch_pairs`; empty when it is over."""
        with self._arrived:
            while not self._queue and not self._closing:
                self._arrived.wait()
            if len(self._queue) < self.limits.batch_pairs and not self._closing:
                self._arrived.wait_for(
                    lambda: len(self._queue) >= self.limits.batch_pairs or self._closing, self.limits.wait_seconds
                )
            return [self._queue.popleft() for _ in range(min(len(self._queue), self.limits.batch_pairs))]

    def _run(self, jobs: list[_Job]) -> None:
        """Run pairs with equal options; when one of them fails, each by itself, so that it fails alone."""
        taken: deque[_Job] = deque()

        def pairs() -> Iterator[tuple[str, str]]:
            for job in jobs:
                if not job.answer.cancelled():
                    taken.append(job)
                    yield job.query, job.observation

        try:
            for pruning in self._prune_many(pairs(), **dict(jobs[0].options)):
                self._settle(taken.popleft(), pruning)
        except Exception as error:
            if len(jobs) == 1:
                self._settle(jobs[0], error)
                return
            for job in jobs:
                if not job.settled:
                    self._run([job])

    def _settle(self, job: _Job, outcome: Pruning | Exception) -> None:
        def settle() -> None:
            if job.answer.done():  # its request has gone away
                return
            if isinstance(outcome, Exception):
                job.answer.set_exception(outcome)
            else:
                job.answer.set_result(outcome)

        job.settled = True
        with suppress(RuntimeError):  # the loop was closed without waiting for us
            self._loop.call_soon_threadsafe(settle)
