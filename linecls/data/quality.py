"""Checks over built records: near-duplicates, how far plain word matching gets, and the data card."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linecls.data.rephrase import overlap
from linecls.data.vocabulary import words_of
from linecls.observation import split_lines
from linecls.records import Record
from linecls.spans import to_mask

_PRIME = (1 << 31) - 1  # the Mersenne prime 2^31 - 1: products of two residues fit into uint64
_WORD = re.compile(r"[A-Za-z0-9_]+")


class MinHash:
    """Near-duplicate index after Broder (1997), "On the resemblance and containment of documents".

    Texts are sets of shingles; the share of equal minima estimates their Jaccard similarity. Candidates come
    from bands of four rows (locality-sensitive hashing), so that the index grows linearly.
    """

    def __init__(self, similarity: float = 0.8, permutations: int = 64, seed: int = 1) -> None:
        generator = np.random.default_rng(seed)
        self.similarity = similarity
        self._a = generator.integers(1, _PRIME, permutations, dtype=np.uint64)
        self._b = generator.integers(0, _PRIME, permutations, dtype=np.uint64)
        self._bands: dict[tuple[int, bytes], list[int]] = {}
        self._signatures: list[NDArray[np.uint64]] = []

    def signature(self, shingles: Iterable[str]) -> NDArray[np.uint64]:
        """Minima of shape [permutations]; of an empty set all are the prime."""
        hashes = {
            int.from_bytes(hashlib.blake2b(s.encode("utf-8", "replace"), digest_size=8).digest(), "big") % _PRIME
            for s in shingles
        }
        if not hashes:
            return np.full(len(self._a), _PRIME, dtype=np.uint64)
        values = np.array(sorted(hashes), dtype=np.uint64)
        return ((values[:, None] * self._a + self._b) % np.uint64(_PRIME)).min(axis=0)

    def add(self, shingles: Iterable[str]) -> bool:
        """Add a text unless one at least as similar as `similarity` is there; whether it was new."""
        signature = self.signature(shingles)
        keys = [(i, signature[i : i + 4].tobytes()) for i in range(0, len(signature), 4)]
        for other in {n for key in keys for n in self._bands.get(key, ())}:
            if np.mean(self._signatures[other] == signature) >= self.similarity:
                return False
        for key in keys:
            self._bands.setdefault(key, []).append(len(self._signatures))
        self._signatures.append(signature)
        return True


def observation_shingles(text: str) -> set[str]:
    """Pairs of neighbouring non-blank lines, digits masked: outputs that differ in numbers only are alike."""
    lines = [re.sub(r"\d+", "0", line.strip()) for line in text.split("\n") if line.strip()]
    return {f"{a}\n{b}" for a, b in pairwise(lines)} or set(lines)


def label_shingles(record: Record) -> set[str]:
    """Words of the query and of the answer, in pairs."""
    lines = split_lines(record.tool_output)
    gold = "".join(lines[n] for span in record.gold_spans for n in range(span.start_line - 1, span.end_line))
    words = [word.lower() for word in _WORD.findall(f"{record.query}\n{gold}")]
    return {f"{a} {b}" for a, b in pairwise(words)}


def level(record: Record) -> str:
    """`easy`, `medium` or `semantic` by the share of the query's words in the answer; empty for a negative."""
    if not record.gold_spans:
        return ""
    lines = split_lines(record.tool_output)
    gold = "".join(lines[n] for span in record.gold_spans for n in range(span.start_line - 1, span.end_line))
    share = overlap(record.query, gold)
    return "easy" if share > 0.5 else "medium" if share > 0.15 else "semantic"


def by_observation(records: Iterable[Record]) -> list[list[Record]]:
    """Records grouped by their observation, in order of first appearance."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.instance_id.rpartition("#")[0], []).append(record)
    return list(groups.values())


def without_duplicates(records: Iterable[Record], similarity: float = 0.8, repeats: int = 4) -> list[Record]:
    """Records without near-duplicate observations, nor near-duplicate labels (query and answer).

    A cut variant (`extra["variant_of"]`) stays when the observation that it comes from does: being alike is its
    point. A negative has no answer to be compared, and a query that is answered elsewhere is what makes it a hard
    one, so it goes only if its query was already asked as a negative `repeats` times.
    """
    observations, labels, kept = MinHash(similarity), MinHash(similarity, seed=2), []
    queries: set[tuple[str, str]] = set()
    unanswered: Counter[str] = Counter()
    stayed: set[str] = set()
    for group in by_observation(records):
        base = group[0].extra.get("variant_of")
        if base is not None and base not in stayed:
            continue
        if base is None and not observations.add(observation_shingles(group[0].tool_output)):
            continue
        stayed.add(group[0].instance_id.rpartition("#")[0])
        for record in group:
            query = record.query.lower()
            if (group[0].tool_output, query) in queries:
                continue
            if not record.gold_spans:
                new = unanswered[query] < repeats
                unanswered[query] += 1
            else:
                new = base is not None or labels.add(label_shingles(record))
            if new:
                queries.add((group[0].tool_output, query))
                kept.append(record)
    return kept


def tokens(text: str) -> list[str]:
    """Lower-case words; an identifier counts whole and by its parts."""
    return [token for word in _WORD.findall(text) for token in _tokens_of(word)]


@lru_cache(maxsize=1 << 17)
def _tokens_of(word: str) -> tuple[str, ...]:
    parts = words_of(word).lower().split()
    return (word.lower(), *parts) if len(parts) > 1 else (word.lower(),)


class LineIndex:
    """BM25 over the lines of one observation (Robertson and Zaragoza 2009, equation 3.15)."""

    def __init__(self, text: str, k1: float = 1.5, b: float = 0.75) -> None:
        counts = [Counter(tokens(line)) for line in split_lines(text)]
        lengths = np.array([sum(c.values()) for c in counts], dtype=np.float64)
        self.total_lines = len(counts)
        self._k1 = k1
        self._norm = k1 * (1 - b + b * lengths / (lengths.mean() or 1.0)) if counts else lengths
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for i, count in enumerate(counts):
            for token, n in count.items():
                self._postings.setdefault(token, []).append((i, n))

    def scores(self, query: str) -> NDArray[np.float64]:
        """Score of each line, shape [L]."""
        scores = np.zeros(self.total_lines)
        for token in set(tokens(query)):
            postings = self._postings.get(token, [])
            idf = math.log(1 + (self.total_lines - len(postings) + 0.5) / (len(postings) + 0.5))
            for i, n in postings:
                scores[i] += idf * n * (self._k1 + 1) / (n + self._norm[i])
        return scores


@dataclass(frozen=True)
class Lexical:
    """How far word matching gets with a record: `recall` of gold lines among the best `share` of lines, and
    whether the best line of all is `first` in the answer."""

    recall: float
    first: bool


def lexical(records: Sequence[Record], share: float = 0.1) -> list[Lexical | None]:
    """BM25's outcome for each record; None for negatives. Ties go to the earlier line."""
    outcomes: list[Lexical | None] = []
    index, text = LineIndex(""), None
    for record in records:
        if not record.gold_spans:
            outcomes.append(None)
            continue
        if record.tool_output is not text:
            index, text = LineIndex(record.tool_output), record.tool_output
        scores = index.scores(record.query)
        gold = to_mask(record.gold_spans, index.total_lines)
        order = np.argsort(-scores, kind="stable")
        best = order[: max(1, math.ceil(share * index.total_lines))]
        outcomes.append(Lexical(float(gold[best].sum() / gold.sum()), bool(gold[order[0]] and scores[order[0]] > 0)))
    return outcomes


def without_easy(
    records: Sequence[Record],
    rng: random.Random,
    drop: float = 0.5,
    most: float = 0.35,
    outcomes: Sequence[Lexical | None] | None = None,
) -> list[Record]:
    """Records without those that plain word matching answers too often.

    outcomes: what `lexical` says of the records, if that is known.
    drop: share that goes of the records whose answer holds the line that BM25 ranks first.
    most: of what is left, BM25's mean recall at 10 % of the lines for each tool type; found ones go, by
        chance, until it is met.
    """
    pairs = [
        (r, o)
        for r, o in zip(records, outcomes or lexical(records), strict=True)
        if o is None or not o.first or rng.random() >= drop
    ]
    gone: set[int] = set()
    for tool_type in sorted({r.tool_type for r, _ in pairs}):
        of_type = [(i, o.recall) for i, (r, o) in enumerate(pairs) if o and r.tool_type == tool_type]
        found = [(i, recall) for i, recall in of_type if recall > most]
        rng.shuffle(found)
        total, count = sum(recall for _, recall in of_type), len(of_type)
        while found and total > most * count:
            i, recall = found.pop()
            gone.add(i)
            total, count = total - recall, count - 1
    return [record for i, (record, _) in enumerate(pairs) if i not in gone]


def without_surplus_negatives(records: Sequence[Record], rng: random.Random, share: float = 0.2) -> list[Record]:
    """Records with at most a share of negatives in each tool type; which of them stay is chance."""
    negatives: dict[str, list[int]] = {}
    for i, record in enumerate(records):
        if record.is_irrelevant:
            negatives.setdefault(record.tool_type, []).append(i)
    totals = Counter(r.tool_type for r in records)
    gone: set[int] = set()
    for tool_type in sorted(negatives):
        numbers = negatives[tool_type]
        allowed = int(share / (1 - share) * (totals[tool_type] - len(numbers)))
        gone.update(rng.sample(numbers, max(0, len(numbers) - allowed)))
    return [record for i, record in enumerate(records) if i not in gone]


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    points = np.quantile(np.asarray(values, dtype=np.float64), [0, 0.1, 0.5, 0.9, 1])
    return dict(zip(("min", "p10", "median", "p90", "max"), (round(float(p), 4) for p in points), strict=True))


def _common(counts: Counter[str], most: int = 80) -> dict[str, int]:
    """The largest counts by name, and how many the others come to."""
    shown = dict(sorted(counts.most_common(most)))
    rest = sum(counts.values()) - sum(shown.values())
    return {**shown, f"({len(counts) - len(shown)} others)": rest} if rest else shown


def card(records: Sequence[Record], outcomes: Sequence[Lexical | None] | None = None) -> dict[str, Any]:
    """Figures about a set: counts, lengths in lines, gold share, positions of gold, BM25 recall at 10 %.

    outcomes: what `lexical` says of the records, if that is known.
    """
    outcomes = outcomes or lexical(records)
    positions, shares, gold_lines, lengths = Counter(), [], [], []
    recalls: dict[str, list[float]] = {}
    totals: dict[str, int] = {}
    for record, outcome in zip(records, outcomes, strict=True):
        key = record.instance_id.rpartition("#")[0]
        total = totals.setdefault(key, len(split_lines(record.tool_output)))
        if outcome is None:
            continue
        mask = to_mask(record.gold_spans, total)
        gold_lines.append(float(mask.sum()))
        shares.append(float(mask.mean()))
        positions[min(9, int(10 * (int(np.flatnonzero(mask)[0]) / max(1, total))))] += 1
        for name in ("all", record.tool_type, f"{record.tool_type}/{record.extra.get('rule', '')}"):
            recalls.setdefault(name, []).append(outcome.recall)
    lengths = [float(n) for n in totals.values()]
    answered = len(gold_lines)
    return {
        "records": len(records),
        "observations": len(totals),
        "projects": len({r.extra.get("project") for r in records}),
        "negatives": len(records) - answered,
        "negative_share": round(1 - answered / len(records), 4) if records else 0.0,
        "tool_types": dict(sorted(Counter(r.tool_type for r in records).items())),
        "families": dict(sorted(Counter(str(r.extra.get("family", "")) for r in records).items())),
        "levels": dict(sorted(Counter(str(r.extra.get("level") or level(r)) or "negative" for r in records).items())),
        "records_of_cut_variants": sum("variant_of" in r.extra for r in records),
        "rules": _common(Counter(f"{r.extra.get('family', '')}/{r.extra.get('rule', '')}" for r in records)),
        "licences": dict(Counter(str(r.extra.get("licence", "")) for r in records).most_common()),
        "lines": _quantiles(lengths),
        "gold_lines": _quantiles(gold_lines),
        "gold_share": {"mean": round(float(np.mean(shares)), 4) if shares else 0.0, **_quantiles(shares)},
        "query_words": _quantiles([float(len(r.query.split())) for r in records]),
        "gold_position": {f"{10 * i}-{10 * i + 10} %": round(positions[i] / max(1, answered), 3) for i in range(10)},
        "bm25_recall_at_10": {
            name: round(float(np.mean(values)), 4)
            for name, values in sorted(recalls.items())
            if "/" not in name or len(values) >= 30
        },
    }


def card_markdown(figures: dict[str, Any], title: str) -> str:
    """The data card as a Markdown page: one table of scalars, one for each breakdown."""
    parts = [f"# {title}", ""]
    scalars = {k: v for k, v in figures.items() if not isinstance(v, dict)}
    parts += ["| figure | value |", "|---|---|", *(f"| {k} | {v} |" for k, v in scalars.items()), ""]
    for name, table in figures.items():
        if isinstance(table, dict):
            parts += [
                f"## {name}",
                "",
                "| | |",
                "|---|---|",
                *(f"| {k or 'unnamed'} | {v} |" for k, v in table.items()),
                "",
            ]
    return "\n".join(parts)


def card_json(figures: dict[str, Any]) -> str:
    """The data card as JSON."""
    return json.dumps(figures, indent=2, ensure_ascii=False) + "\n"
