"""The queue in front of one model, and the counters."""

from __future__ import annotations

import asyncio
import random
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.serving.batching import Batcher, Closed, Limits, Overloaded
from linecls.serving.meters import Counter, Gauge, Histogram, exposition


class Echo:
    """Answers a pair with the pair and its options; fails for the query `burst`."""

    def __init__(self, seconds=0.0):
        self.calls = []
        self.seconds = seconds

    def prune_many(self, pairs, **options):
        call = []
        self.calls.append(call)
        for pair in list(pairs) if self.seconds == 0 else pairs:
            call.append(pair)
            time.sleep(self.seconds)
            if pair[0] == "burst":
                raise RuntimeError("burst")
            yield (*pair, options)


def run(echo, talk, **limits):
    async def main():
        batcher = Batcher(echo.prune_many, Limits(**limits))
        batcher.start()
        try:
            return await talk(batcher)
        finally:
            await batcher.close()

    return asyncio.run(main())


def test_every_request_gets_its_own_answers():
    source = random.Random(0)
    requests = [
        ([(f"q{source.randrange(9)}", "o" * source.randrange(20)) for _ in range(source.randrange(1, 5))], {"n": i % 3})
        for i in range(60)
    ]
    echo = Echo()

    async def talk(batcher):
        return await asyncio.gather(*(batcher.prune(pairs, options) for pairs, options in requests))

    answers = run(echo, talk, wait_seconds=0.02)
    for (pairs, options), given_back in zip(requests, answers, strict=True):
        assert given_back == [(*pair, options) for pair in pairs]
    assert len(echo.calls) < len(requests)
    for call in echo.calls:
        assert len(call) <= 32
        assert [len(o) for _, o in call] == sorted(len(o) for _, o in call)


def test_one_that_fails_fails_alone():
    async def talk(batcher):
        requests = [batcher.prune([(query, "o")], {}) for query in ("a", "burst", "b")]
        return await asyncio.gather(*requests, return_exceptions=True)

    first, second, third = run(Echo(), talk, wait_seconds=0.05)
    assert (first, third) == ([("a", "o", {})], [("b", "o", {})])
    assert isinstance(second, RuntimeError)


def test_who_went_away_is_not_computed_for():
    echo = Echo(seconds=0.2)

    async def talk(batcher):
        first = asyncio.ensure_future(batcher.prune([("first", "")], {}))
        await asyncio.sleep(0.1)
        second = asyncio.ensure_future(batcher.prune([("second", "")], {}))
        await asyncio.sleep(0.01)
        second.cancel()
        await first
        await asyncio.gather(second, return_exceptions=True)
        assert batcher.open_pairs == 0
        return await batcher.prune([("third", "")], {})

    assert run(echo, talk, wait_seconds=0) == [("third", "", {})]
    assert [query for call in echo.calls for query, _ in call] == ["first", "third"]


def test_a_full_queue_refuses_and_an_empty_one_takes_all():
    async def talk(batcher):
        assert len(await batcher.prune([("q", "o")] * 9, {})) == 9  # over the limit, but alone
        assert len(await batcher.prune([("q", "o" * 100)], {})) == 1
        open_request = asyncio.ensure_future(batcher.prune([("q", "o" * 5)] * 3, {}))
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await batcher.prune([("q", "")] * 2, {})
        with pytest.raises(Overloaded):
            await batcher.prune([("q", "o" * 6)], {})
        assert len(await batcher.prune([("q", "o")], {})) == 1
        assert len(await open_request) == 3

    run(Echo(seconds=0.01), talk, queue_pairs=4, queue_bytes=20)


def test_closing_finishes_what_waits_and_takes_no_more():
    echo = Echo(seconds=0.05)

    async def talk(batcher):
        requests = [asyncio.ensure_future(batcher.prune([(f"q{i}", "")], {})) for i in range(5)]
        await asyncio.sleep(0.01)
        await batcher.close()
        with pytest.raises(Closed):
            await batcher.prune([("late", "")], {})
        return [await request for request in requests]

    assert [answer[0][0] for answer in run(echo, talk)] == [f"q{i}" for i in range(5)]


# Counters

LABEL = st.text('ab"\\\n,{}=é ', max_size=8)


@given(st.lists(st.tuples(LABEL, st.integers(1, 5)), max_size=20))
def test_label_values_come_back(additions):
    counter = Counter("x_total", "A text\nof two lines.", ("l",))
    expected: dict[str, int] = {}
    for label, amount in additions:
        counter.add(amount, label)
        expected[label] = expected.get(label, 0) + amount
    lines = exposition([counter]).split("\n")
    assert lines[:2] == ["# HELP x_total A text\\nof two lines.", "# TYPE x_total counter"]
    found = {}
    for line in lines[2:-1]:
        assert line.startswith('x_total{l="')
        label, _, value = line.removeprefix('x_total{l="').rpartition('"} ')
        plain = label.replace("\\\\", "\0").replace('\\"', '"').replace("\\n", "\n").replace("\0", "\\")
        found[plain] = int(value)
    assert found == expected


@given(st.lists(st.floats(0, 100, allow_nan=False), max_size=30))
def test_a_histogram_counts_at_or_under_each_bound(values):
    histogram = Histogram("x", "t", (1, 10, 50))
    for value in values:
        histogram.observe(value)
    lines = dict(line.rsplit(" ", 1) for line in histogram.render()[2:])
    for bound in ("1", "10", "50", "+Inf"):
        assert int(lines[f'x_bucket{{le="{bound}"}}']) == sum(value <= float(bound) for value in values)
    assert int(lines["x_count"]) == len(values)
    assert float(lines["x_sum"]) == pytest.approx(sum(values))


def test_counting_from_many_threads():
    counter = Counter("x_total", "t")
    threads = [threading.Thread(target=lambda: [counter.add() for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.render()[-1] == "x_total 4000"
    with pytest.raises(ValueError, match="labels"):
        counter.add(1, "extra")
    assert Gauge("y", "t", lambda: 1.5).render()[-1] == "y 1.5"
