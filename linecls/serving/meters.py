"""Counters of a server in the Prometheus text format (version 0.0.4), without a client library."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Counter:
    """A number that only grows, one for each combination of label values. Thread-safe."""

    def __init__(self, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self.name, self.text, self.labels = name, text, tuple(labels)
        self._values: dict[tuple[str, ...], float] = {} if labels else {(): 0}
        self._guard = threading.Lock()

    def add(self, amount: float = 1, *values: str) -> None:
        """Add to the counter of the label values, given in the order of `labels`."""
        if len(values) != len(self.labels):
            raise ValueError(f"{self.name} has the labels {self.labels}, not {len(values)} of them")
        with self._guard:
            self._values[values] = self._values.get(values, 0) + amount

    def render(self) -> list[str]:
        with self._guard:
            values = sorted(self._values.items())
        return [
            *_head(self.name, self.text, "counter"),
            *(f"{self.name}{_braces(self.labels, key)} {_number(value)}" for key, value in values),
        ]


class Gauge:
    """A number of this moment, asked for when it is read."""

    def __init__(self, name: str, text: str, read: Callable[[], float]) -> None:
        self.name, self.text, self.read = name, text, read

    def render(self) -> list[str]:
        return [*_head(self.name, self.text, "gauge"), f"{self.name} {_number(self.read())}"]


class Histogram:
    """How many observed values lie at or under each bound. Thread-safe."""

    def __init__(self, name: str, text: str, bounds: Sequence[float]) -> None:
        self.name, self.text, self.bounds = name, text, tuple(sorted(bounds))
        self._counts = [0] * (len(self.bounds) + 1)
        self._sum = 0.0
        self._guard = threading.Lock()

    def observe(self, value: float) -> None:
        with self._guard:
            self._counts[bisect_left(self.bounds, value)] += 1
            self._sum += value

    def render(self) -> list[str]:
        with self._guard:
            counts, total = list(self._counts), self._sum
        lines, under = _head(self.name, self.text, "histogram"), 0
        for bound, count in zip((*map(_number, self.bounds), "+Inf"), counts, strict=True):
            under += count
            lines.append(f'{self.name}_bucket{{le="{bound}"}} {under}')
        return [*lines, f"{self.name}_sum {_number(total)}", f"{self.name}_count {under}"]


def exposition(meters: Sequence[Counter | Gauge | Histogram]) -> str:
    """All meters as the text that Prometheus reads."""
    return "".join(f"{line}\n" for meter in meters for line in meter.render())


def _head(name: str, text: str, kind: str) -> list[str]:
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return [f"# HELP {name} {escaped}", f"# TYPE {name} {kind}"]


def _braces(labels: Sequence[str], values: Sequence[str]) -> str:
    def quoted(value: str) -> str:
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'

    pairs = ",".join(f"{label}={quoted(value)}" for label, value in zip(labels, values, strict=True))
    return f"{{{pairs}}}" if pairs else ""


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
