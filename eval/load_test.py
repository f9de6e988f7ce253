"""Load on `linecls serve` over loopback: where it saturates, and what it does at twice that load.

    python eval/load_test.py                    # starts a server of its own on a free port, about a minute
    python eval/load_test.py --seconds 20 --json load.json

First a closed loop finds the saturation: more and more callers, each asking again as soon as it is answered. Then
requests arrive at random at half, once and twice that rate, whether the earlier ones are answered or not. A
request that the server turns away with 429 is counted, not an error; anything else that is no answer is one, and
the exit status is then 1. The outputs are built from our own phrases with a fixed seed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

PHRASES = (
    "INFO request {} served in {} ms",
    "DEBUG cache miss for key user:{}:session:{}",
    "collected {} items, {} deselected",
    "src/module_{}.py:{}: note: defined here",
    "Downloading package-{} ({} kB)",
    "worker {} finished step {}",
)
QUERIES = (
    ("why does the login test fail", "FAILED tests/test_login.py::test_expiry - assert 401 == 200"),
    ("which server could not be reached", "ERROR cannot reach redis at 127.0.0.1:6379: connection refused"),
    ("where does the build stop", "error[E0308]: mismatched types in src/cache.rs:48:17"),
)
SIZES = (20, 60, 150, 400)  # lines
CALLERS = (1, 2, 4, 8, 16, 32)
MOST_OPEN = 512  # requests at one time; the test itself must stay bounded


@dataclass
class Outcome:
    """What came of one phase: seconds of the answers, and how many requests ended otherwise."""

    name: str
    offered: float = 0.0
    took: float = 0.0
    seconds: list[float] = field(default_factory=list)
    turned_away: int = 0
    errors: list[str] = field(default_factory=list)
    not_sent: int = 0

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.took if self.took else 0.0

    def take(self, status: int | str, seconds: float) -> None:
        if status == 200:
            self.seconds.append(seconds)
        elif status == 429:
            self.turned_away += 1
        else:
            self.errors.append(str(status))

    def percentile(self, share: float) -> float:
        """The time that `share` of the answers took at most (nearest rank), in milliseconds; NaN without answers."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")

    def row(self) -> str:
        times = " | ".join(f"{self.percentile(share):.0f}" for share in (0.5, 0.95, 0.99))
        offered = f"{self.offered:.0f}" if self.offered else "-"
        return f"| {self.name} | {offered} | {self.rate:.0f} | {self.turned_away} | {len(self.errors)} | {times} |"


def bodies(count: int = 48) -> list[bytes]:
    """Requests with outputs of 20 to 400 lines, each with one line that answers; the same every time."""
    source = random.Random(0)
    made = []
    for index in range(count):
        query, answer = QUERIES[index % len(QUERIES)]
        size = SIZES[index % len(SIZES)]
        lines = [source.choice(PHRASES).format(source.randrange(1000), source.randrange(1000)) for _ in range(size)]
        lines[source.randrange(size)] = answer
        made.append(json.dumps({"query": query, "observation": "\n".join(lines) + "\n"}).encode())
    return made


async def ask(port: int, body: bytes, limit: float) -> tuple[int | str, float]:
    """Status of one request (or what went wrong) and its seconds."""
    begun = time.monotonic()
    writer = None
    try:
        async with _timeout(limit):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"POST /prune HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
            writer.write(head.encode() + b"Content-Type: application/json\r\nConnection: close\r\n\r\n" + body)
            await writer.drain()
            reply = await reader.read(-1)
    except (OSError, asyncio.TimeoutError) as error:
        return type(error).__name__, time.monotonic() - begun
    finally:
        if writer is not None:
            writer.close()
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", reply)
    if match is None:
        return "no HTTP reply", time.monotonic() - begun
    status = int(match.group(1))
    if status == 200 and not reply.endswith(b"}"):
        return "cut reply", time.monotonic() - begun
    return status, time.monotonic() - begun


@contextlib.asynccontextmanager
async def _timeout(seconds: float):
    """`asyncio.timeout` of Python 3.11, for 3.10 too."""
    task = asyncio.current_task()
    assert task is not None
    over = False

    def end() -> None:
        nonlocal over
        over = True
        task.cancel()

    handle = asyncio.get_running_loop().call_later(seconds, end)
    try:
        yield
    except asyncio.CancelledError:
        if over:
            raise asyncio.TimeoutError from None
        raise
    finally:
        handle.cancel()


async def closed_loop(port: int, requests: list[bytes], callers: int, seconds: float) -> Outcome:
    """`callers` that ask again as soon as they are answered."""
    outcome = Outcome(f"{callers} callers")
    begun = time.monotonic()

    async def call(first: int) -> None:
        index = first
        while time.monotonic() < begun + seconds:
            outcome.take(*await ask(port, requests[index % len(requests)], 60))
            index += callers

    await asyncio.gather(*(call(i) for i in range(callers)))
    outcome.took = time.monotonic() - begun
    return outcome


async def open_loop(port: int, requests: list[bytes], name: str, rate: float, seconds: float) -> Outcome:
    """Requests that arrive at random, `rate` per second on average (a Poisson process with a fixed seed)."""
    source = random.Random(1)
    outcome = Outcome(name, offered=rate)
    open_requests: set[asyncio.Task[None]] = set()

    async def one(body: bytes) -> None:
        outcome.take(*await ask(port, body, 120))

    begun = due = time.monotonic()
    index = 0
    while due < begun + seconds:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        if len(open_requests) < MOST_OPEN:
            task = asyncio.ensure_future(one(requests[index % len(requests)]))
            open_requests.add(task)
            task.add_done_callback(open_requests.discard)
        else:
            outcome.not_sent += 1
        index += 1
        due += source.expovariate(rate)
    if open_requests:
        await asyncio.wait(open_requests)
    outcome.took = time.monotonic() - begun
    return outcome


async def measure(port: int, seconds: float) -> list[Outcome]:
    requests = bodies()
    await closed_loop(port, requests, 1, min(1.0, seconds))  # warms up; not counted
    closed = [await closed_loop(port, requests, callers, seconds / 2) for callers in CALLERS]
    saturation = max(outcome.rate for outcome in closed)
    loads = ((0.5, "half of it"), (1.0, "saturation"), (2.0, "twice"))
    return closed + [await open_loop(port, requests, name, factor * saturation, seconds) for factor, name in loads]


@contextlib.contextmanager
def server(threads: int | None, max_requests: int) -> Iterator[int]:
    """The port of a `linecls serve` of our own; it must end in order."""
    command = [sys.executable, "-m", "linecls", "serve", "--port", "0", "--max-requests", str(max_requests)]
    command += ["--threads", str(threads)] if threads else []
    environment = {name: value for name, value in os.environ.items() if name != "LINECLS_TOKEN"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        if "listening on" not in first:
            raise SystemExit(first.strip() or "linecls serve did not start")
        try:
            yield int(first.rsplit(":", 1)[1])
        finally:
            process.terminate()
            rest = process.stderr.read()
            if process.wait(60) or rest:
                raise SystemExit(f"the server ended with status {process.returncode}: {rest.strip()}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--seconds", type=float, default=8.0, help="length of each phase (the six of the closed loop: half)"
    )
    parser.add_argument("--threads", type=int, help="CPU threads of the server's model")
    parser.add_argument("--max-requests", type=int, default=64, help="requests that the server takes at one time")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    with server(options.threads, options.max_requests) as port:
        outcomes = asyncio.run(measure(port, options.seconds))
    print("| load | offered/s | answered/s | 429 | errors | p50 ms | p95 ms | p99 ms |")
    print("|---|---|---|---|---|---|---|---|")
    for outcome in outcomes:
        print(outcome.row())
    from linecls import provenance

    machine = f"{provenance.measured_on()}, Python {platform.python_version()}"
    print(f"\n{machine}; {options.seconds:g} s a phase")
    if options.json:
        options.json.write_text(json.dumps([asdict(outcome) for outcome in outcomes]), encoding="utf-8")
    errors = [error for outcome in outcomes for error in outcome.errors]
    if errors:
        print(f"errors: {sorted(set(errors))}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
