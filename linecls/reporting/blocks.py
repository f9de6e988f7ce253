"""What a report is made of: titled sections of paragraphs, lists, terms and tables; the forms of it lay them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of cells under a head; the first column is text, the others are numbers.

    caption: what the table shows, where a section has several. is_detail: a page shows it on request.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str | None = None
    is_detail: bool = False


@dataclass(frozen=True)
class Terms:
    """What the columns of the table above mean: (heading, meaning)."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Items:
    """A list of short lines."""

    lines: Sequence[str]


Block = str | Table | Terms | Items


@dataclass(frozen=True)
class Section:
    """A title and what stands below it, in order. plot: the picture that belongs there, if any."""

    title: str
    blocks: Sequence[Block]
    plot: str | None = None
