"""Baselines without a model: BM25, first, last and random lines; 10 % of the lines by default.

They are the baselines of the Squeez paper. Each keeps max(1, round(keep * L)) of L lines, on negatives too.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linecls.observation import scoring_text, split_lines
from linecls.systems.base import OneByOne, Selection, check_share, keep_top

_WORD = re.compile(r"\w+")


def bm25_scores(query: str, documents: Sequence[str], *, k1: float = 1.2, b: float = 0.75) -> NDArray[np.float64]:
    """Okapi BM25 of `query` against each of `documents` [L], which are also the corpus (Robertson 1994).

    Tokens are lower-case runs of word characters; the inverse document frequency is
    ln(1 + (L - df + 0.5) / (df + 0.5)), which is never negative. A word that the query repeats counts again.
    """
    terms = Counter(_WORD.findall(query.lower()))
    column = {term: i for i, term in enumerate(terms)}
    lengths = np.zeros(len(documents))
    found: list[tuple[int, int, int]] = []  # (document, term, count), only where a term stands
    for row, document in enumerate(documents):
        words = _WORD.findall(document.lower())
        lengths[row] = len(words)
        found += ((row, column[word], count) for word, count in Counter(words).items() if word in column)
    if not found:
        return np.zeros(len(documents))
    rows, columns, counts = np.array(found).T
    frequency = np.bincount(columns, minlength=len(terms))
    weight = np.array(list(terms.values())) * np.log1p((len(documents) - frequency + 0.5) / (frequency + 0.5))
    saturation = k1 * (1.0 - b + b * lengths[rows] / lengths.mean())
    gain = weight[columns] * counts * (k1 + 1.0) / (counts + saturation)
    return np.bincount(rows, weights=gain, minlength=len(documents)).astype(np.float64)


class _Heuristic(OneByOne):
    """A ranking of the lines by a rule, cut at a share."""

    def __init__(self, keep: float = 0.1) -> None:
        """keep: the share of lines kept, above 0 and at most 1 (ValueError otherwise)."""
        self.keep = check_share(keep)

    def select(self, query: str, observation: str) -> Selection:
        """The `keep` share of lines that the rule ranks highest, with the ranking's scores."""
        return keep_top(self.scores(query, split_lines(observation)), self.keep)

    def scores(self, query: str, lines: Sequence[str]) -> NDArray[np.float64]:
        """The rule: one score for each of `lines` [L]."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """The rule's parameters."""
        return {"keep": self.keep}


class BM25(_Heuristic):
    """The lines that share the rarest words with the query."""

    name = "bm25"

    def __init__(self, keep: float = 0.1, k1: float = 1.2, b: float = 0.75) -> None:
        """keep: share of lines kept; k1 and b: saturation and length normalisation of BM25."""
        super().__init__(keep)
        self.k1, self.b = k1, b

    def scores(self, query: str, lines: Sequence[str]) -> NDArray[np.float64]:
        """`bm25_scores` of the lines without terminal escapes."""
        return bm25_scores(query, [scoring_text(line) for line in lines], k1=self.k1, b=self.b)

    def describe(self) -> dict[str, Any]:
        """The rule's parameters."""
        return {"keep": self.keep, "k1": self.k1, "b": self.b}


class First(_Heuristic):
    """The first lines."""

    name = "first"

    def scores(self, query: str, lines: Sequence[str]) -> NDArray[np.float64]:
        """Falling with the line number."""
        return -np.arange(len(lines), dtype=np.float64)


class Last(_Heuristic):
    """The last lines."""

    name = "last"

    def scores(self, query: str, lines: Sequence[str]) -> NDArray[np.float64]:
        """Rising with the line number."""
        return np.arange(len(lines), dtype=np.float64)


class Random(_Heuristic):
    """Lines drawn at random, the same ones each time for the same query, observation and seed."""

    name = "random"

    def __init__(self, keep: float = 0.1, seed: int = 0) -> None:
        """keep: share of lines kept; seed: another one draws other lines."""
        super().__init__(keep)
        self.seed = seed

    def scores(self, query: str, lines: Sequence[str]) -> NDArray[np.float64]:
        """Uniform in 0..1, from a generator seeded by a hash of everything that stands in the call."""
        digest = hashlib.blake2b(f"{self.seed}\0{query}\0".encode("utf-8", "surrogatepass"), digest_size=16)
        for line in lines:
            digest.update(line.encode("utf-8", "surrogatepass"))
        return np.random.default_rng(int.from_bytes(digest.digest(), "big")).random(len(lines))

    def describe(self) -> dict[str, Any]:
        """The rule's parameters."""
        return {"keep": self.keep, "seed": self.seed}
