"""What the listings share: sizes, dates, releases and draws from the catalogue of names."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta

from linecls.data.families._tables import Row, names

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
PEOPLE = ["root", "deploy", "www-data", "postgres", "amara", "jonas", "katya", "mei", "oskar", "priya", "backup"]


def human(size: float) -> str:
    """Bytes as `ls -h` and `du -h` print them."""
    for unit in ("", "K", "M", "G"):
        if size < 1024:
            return f"{size:.0f}{unit}" if size >= 10 or not unit else f"{size:.1f}{unit}"
        size /= 1024
    return f"{size:.1f}T"


def binary(size: float) -> str:
    """Bytes with a decimal unit as container tools print them."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g}{unit}"
        size /= 1000
    return f"{size:.3g}GB"


def release(rng: random.Random) -> tuple[int, int, int]:
    """A release in three numbers."""
    return rng.choice([0, 1, 2, 3, 4, 5, 8, 24]), rng.randint(0, 30), rng.randint(0, 14)


def dotted(version: tuple[int, ...]) -> str:
    """A release with dots."""
    return ".".join(map(str, version))


def some(rng: random.Random, section: str, low: int, high: int) -> list[tuple[str, list[str]]]:
    """Some entries of a section of the catalogue of names, in any order."""
    entries = names(section)
    return rng.sample(entries, min(len(entries), rng.randint(low, high)))


def moment(rng: random.Random) -> int:
    """Days before 2026-06-30."""
    return int(rng.random() ** 2 * 1400)


def day_of(days: int) -> str:
    """The date that lies so many days before the end of June 2026."""
    return (date(2026, 6, 30) - timedelta(days=days)).isoformat()


def row_suffix(row: Row, suffix: str) -> str:
    """A row's version with a suffix."""
    return str(row["version"]) + suffix


def change(rng: random.Random, rows: list[Row], changes: Sequence[Row], count: int) -> None:
    """Give `count` rows one of the changes each."""
    for row, update in zip(rng.sample(rows, count), rng.sample(list(changes), count), strict=True):
        row.update(update)
