r"""The two families of pruning metrics as pure functions, their aggregates and their intervals.

Everything maps (observation text, gold spans, predicted spans) to numbers. Nothing is rounded before it is
averaged. A share that a record does not define (recall of a record without gold lines, for one) is NaN and
left out of the mean.

Squeez line metrics (`squeez_metrics`)
    The definitions of the evaluator released as `squeez` 0.1.4 on PyPI, over lists of stripped, non-blank
    line texts. `squeez_summary` gives its rounded figures, digit for digit. Its quirks are carried, with a
    corrected figure beside each (`corrected_metrics`):
    an empty prediction counts as one line in `compression`, a final newline opens one more input line there,
    and a rightly empty answer has `rouge_l` 0.
Scoring-recipe metrics (`recipe_metrics`)
    Multiset overlap of whitespace tokens, and exact spans.
Pruning metrics (`pruning_metrics`)
    Recall at a fixed compression, token compression, empty answers, error lines lost.

See docs/metrics.md for the formulas in one place.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linecls.observation import split_lines
from linecls.spans import Span, from_mask, to_mask

Spans = Iterable[Span | tuple[int, int]]
NAN = float("nan")

SQUEEZ_KEYS = (
    "span_precision",
    "span_recall",
    "span_f1",
    "exact_match",
    "fuzzy_span_precision",
    "fuzzy_span_recall",
    "fuzzy_span_f1",
    "partial_overlap",
    "empty_accuracy",
    "rouge_l",
    "compression",
)
CONFUSION = ("true_positive", "true_negative", "false_positive", "false_negative")
COMPRESSIONS = (0.5, 0.7, 0.9)

# --- lines ---------------------------------------------------------------------------------------------


def line_texts(observation: str | Sequence[str], spans: Spans) -> list[str]:
    """Stripped, non-blank texts of the lines in `spans`, in order, duplicates kept.

    observation: the raw text or its lines; spans: 1-based, inclusive; what lies past the end is ignored.
    """
    lines = _lines(observation)
    return texts_at(lines, to_mask(spans, len(lines)))


def canonical_reference(observation: str, spans: Spans) -> list[str]:
    """The reference that squeez 0.1.4 takes from a canonical record: raw lines, blank ones too, unstripped.

    Predictions are stripped there but this reference is not, so an indented gold line never matches; rows in
    its ChatML form have a stripped reference (`line_texts`), and the published figures rest on those.
    """
    lines = observation.split("\n")
    return list(compress(lines, to_mask(spans, len(lines))))


def texts_at(lines: Sequence[str], mask: NDArray[np.bool_]) -> list[str]:
    """Stripped, non-blank texts of the lines [L] where `mask` [L] is set, in order, duplicates kept."""
    return [text for line in compress(lines, mask) if (text := line.strip())]


def _lines(observation: str | Sequence[str]) -> Sequence[str]:
    return split_lines(observation) if isinstance(observation, str) else observation


# --- Squeez line metrics -------------------------------------------------------------------------------


class Overlap(NamedTuple):
    """Precision, recall and F1 in 0..1."""

    precision: float
    recall: float
    f1: float


def overlap(hits: int, predicted: int, reference: int) -> Overlap:
    """Precision, recall and F1 of `hits` among `predicted` and `reference` items.

    Both sides empty: all 1. One side empty, or no hit: all 0.
    """
    if not predicted and not reference:
        return Overlap(1.0, 1.0, 1.0)
    if not predicted or not reference or not hits:
        return Overlap(0.0, 0.0, 0.0)
    precision, recall = hits / predicted, hits / reference
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def line_overlap(predicted: Sequence[str], reference: Sequence[str]) -> Overlap:
    """Overlap of two lists of line texts as sets (Squeez `span_*`)."""
    left, right = set(predicted), set(reference)
    return overlap(len(left & right), len(left), len(right))


def fuzzy_overlap(predicted: Sequence[str], reference: Sequence[str], threshold: float = 0.5) -> Overlap:
    """One-to-one matching of lines whose similarity is at least `threshold` (Squeez `fuzzy_span_*`).

    Similarity of two lines: the ratio of their lengths where one contains the other, else the F1 of their
    sets of character bigrams. Pairs are taken greedily, the most similar first; among equals the later
    predicted line, then the later reference line.
    """
    similarity = _Bigrams().similarity
    memo: dict[tuple[str, str], float] = {}
    pairs: list[tuple[float, int, int]] = []
    for p, left in enumerate(predicted):
        for r, right in enumerate(reference):
            score = memo.get((left, right))
            if score is None:
                score = memo[left, right] = similarity(left, right)
            if score >= threshold:
                pairs.append((score, p, r))
    pairs.sort(reverse=True)
    free_predicted, free_reference = set(range(len(predicted))), set(range(len(reference)))
    hits = 0
    for _, p, r in pairs:
        if p in free_predicted and r in free_reference:
            free_predicted.remove(p)
            free_reference.remove(r)
            hits += 1
    return overlap(hits, len(predicted), len(reference))


def partial_overlap(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """Share of the reference's characters that the best predicted line covers, line by line (Squeez).

    A line covers min(lengths) characters of a reference line where one contains the other, else the share of
    the reference line's bigrams that it has, times its length, cut to whole characters. No reference:
    1 without a prediction, else 0. A reference of empty strings only: 0.
    """
    if not reference:
        return 0.0 if predicted else 1.0
    total = sum(map(len, reference))
    if not predicted or not total:
        return 0.0
    coverage = _Bigrams().coverage
    candidates = dict.fromkeys(predicted)
    best = {right: max(coverage(left, right) for left in candidates) for right in dict.fromkeys(reference)}
    return sum(best[right] for right in reference) / total


class _Bigrams:
    """Character-bigram comparisons of lines, with each line's bigrams worked out once."""

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {}

    def of(self, text: str) -> set[str]:
        known = self._known.get(text)
        if known is None:
            known = {a + b for a, b in pairwise(text)} if len(text) > 1 else {text}
            self._known[text] = known
        return known

    def similarity(self, left: str, right: str) -> float:
        if not left or not right:
            return 0.0
        short, long = sorted((len(left), len(right)))
        if left in right or right in left:
            return short / long
        ours, theirs = self.of(left), self.of(right)
        return overlap(len(ours & theirs), len(ours), len(theirs)).f1

    def coverage(self, left: str, right: str) -> int:
        """Characters of `right` that `left` covers."""
        if left in right or right in left:
            return min(len(left), len(right))
        ours, theirs = self.of(left), self.of(right)
        return int(len(ours & theirs) / len(theirs) * len(right))


def rouge_l(predicted: str, reference: str) -> float:
    """F1 of the longest common subsequence of whitespace tokens; 0 where either side has none (Squeez)."""
    left, right = predicted.split(), reference.split()
    if not left or not right:
        return 0.0
    return overlap(_common_subsequence(left, right), len(left), len(right)).f1


def _common_subsequence(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence, bit-parallel over the longer side (Hyyrö 2004)."""
    short, long = sorted((left, right), key=len)
    wanted = set(short)
    places: dict[str, list[int]] = {}
    for i, token in enumerate(long):
        if token in wanted:
            places.setdefault(token, []).append(i)
    masks = {token: _bits(where, len(long)) for token, where in places.items()}
    every = (1 << len(long)) - 1
    row = every
    for token in short:
        match = row & masks.get(token, 0)
        row = ((row + match) | (row - match)) & every
    return len(long) - row.bit_count()


def _bits(places: list[int], width: int) -> int:
    """The integer of `width` bits whose bits at `places` are set."""
    flags = np.zeros(width, dtype=bool)
    flags[places] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def squeez_compression(predicted: Sequence[str], observation: str) -> float:
    """1 - predicted lines / input lines, counted as squeez 0.1.4 counts them.

    An empty prediction is one line, a final newline opens one more input line, and blank lines are no
    predicted lines.
    """
    return 1.0 - ("\n".join(predicted).count("\n") + 1) / (observation.count("\n") + 1)


def empty_category(predicted: Sequence[str], reference: Sequence[str]) -> str:
    """One of CONFUSION: whether a prediction is empty against whether it should be."""
    if reference:
        return "true_positive" if predicted else "false_negative"
    return "false_positive" if predicted else "true_negative"


def squeez_metrics(predicted: Sequence[str], reference: Sequence[str], observation: str) -> dict[str, float]:
    """The metrics of squeez 0.1.4 for one record, unrounded, under its names (SQUEEZ_KEYS).

    predicted, reference: line texts, as from `line_texts`; observation: the raw input text.
    """
    lines = line_overlap(predicted, reference)
    fuzzy = fuzzy_overlap(predicted, reference)
    return {
        "span_precision": lines.precision,
        "span_recall": lines.recall,
        "span_f1": lines.f1,
        "exact_match": float(set(predicted) == set(reference)),
        "fuzzy_span_precision": fuzzy.precision,
        "fuzzy_span_recall": fuzzy.recall,
        "fuzzy_span_f1": fuzzy.f1,
        "partial_overlap": partial_overlap(predicted, reference),
        "empty_accuracy": float(bool(predicted) == bool(reference)),
        "rouge_l": rouge_l("\n".join(predicted), "\n".join(reference)),
        "compression": squeez_compression(predicted, observation),
    }


def squeez_rounded(metrics: Mapping[str, float]) -> dict[str, float]:
    """One record's `squeez_metrics` as squeez 0.1.4 writes them: four decimals."""
    return {key: round(metrics[key], 4) for key in SQUEEZ_KEYS}


def squeez_summary(rows: Sequence[Mapping[str, float]], categories: Sequence[str]) -> dict[str, object]:
    """The summary that squeez 0.1.4 prints: mean, median and deviation of the *rounded* records, rounded.

    rows: `squeez_metrics` of each record; categories: `empty_category` of each.
    """
    rounded = [squeez_rounded(row) for row in rows]
    summary: dict[str, object] = {}
    for key in SQUEEZ_KEYS if rounded else ():
        values = [row[key] for row in rounded]
        summary[key] = {
            "mean": round(statistics.mean(values), 4),
            "median": round(statistics.median(values), 4),
            "stdev": round(statistics.stdev(values), 4) if len(values) > 1 else 0,
        }
    counts = Counter(categories)
    summary["empty_confusion"] = {name: counts[name] for name in CONFUSION}
    summary["num_samples"] = len(rounded)
    return summary


def share_dropped(kept: int, total: int) -> float:
    """1 - kept / total, of lines or tokens; an empty observation has nothing to drop: 0."""
    return 1.0 - kept / total if total else 0.0


# --- scoring-recipe metrics ----------------------------------------------------------------------------


def recipe_metrics(
    observation: str | Sequence[str], gold: Spans, predicted: Spans, invented: Sequence[str] = ()
) -> dict[str, float]:
    """The scoring recipe over whitespace tokens of the kept (and invented) and the gold text.

    exact                  1 where both token sequences are the same.
    precision, recall, f1  multiset overlap of tokens; both sides empty: 1, one side empty: 0.
    compression            1 - |predicted| / |gold| in tokens; negative where more is kept than gold. Both
                           empty: 0. Gold empty and prediction not: undefined, NaN.
    strict_f1              F1 of spans that agree in both ends (each side merged); empty cases as above. Each
                           invented line is a predicted span that agrees with none.
    """
    lines = _lines(observation)
    gold_mask, kept_mask = to_mask(gold, len(lines)), to_mask(predicted, len(lines))
    wanted, kept = _tokens(lines, gold_mask), _tokens(lines, kept_mask) + _words(invented)
    tokens = overlap((Counter(wanted) & Counter(kept)).total(), len(kept), len(wanted))
    gold_spans, kept_spans = set(from_mask(gold_mask)), set(from_mask(kept_mask))
    strict = overlap(len(gold_spans & kept_spans), len(kept_spans) + len(invented), len(gold_spans))
    return {
        "exact": float(wanted == kept),
        "precision": tokens.precision,
        "recall": tokens.recall,
        "f1": tokens.f1,
        "compression": 1.0 - len(kept) / len(wanted) if wanted else (NAN if kept else 0.0),
        "strict_f1": strict.f1,
    }


def _tokens(lines: Sequence[str], mask: NDArray[np.bool_]) -> list[str]:
    return _words(compress(lines, mask))


def _words(lines: Iterable[str]) -> list[str]:
    return [token for line in lines for token in line.split()]


# --- pruning metrics -----------------------------------------------------------------------------------

# Words and shapes that mark a failure in the output of common tools (`FAILED`, `npm ERR!`, `ValueError`, the
# head of a traceback, pytest's `E   `), and counts of nothing, which are none.
_ERROR = re.compile(
    r"(?-i:^E   )"
    r"|\b(?:errors?|exceptions?|fail(?:ed|ures?|ing|s)?|fatal|panic(?:ked)?|traceback|critical|abort(?:ed)?"
    r"|segfault|segmentation fault|core dumped)\b"
    r"|\berr!"
    r"|\b\w+(?-i:Error|Exception)\b",
    re.IGNORECASE,
)
_NO_ERROR = re.compile(
    r"\b(?:0|no|without)[ :]+(?:\w+ )?(?:errors?|exceptions?|fail(?:ed|ures?))\b"
    r"|\b(?:errors?|fail(?:ed|ures?))\s*[:=]\s*0\b",
    re.IGNORECASE,
)


def is_error_line(line: str) -> bool:
    """Whether a line reports a failure, by its words alone; "0 errors" and the like do not count."""
    return bool(_ERROR.search(line)) and bool(_ERROR.search(_NO_ERROR.sub("", line)))


@lru_cache(maxsize=4)  # the labels of one observation follow one another
def _error_mask(observation: str) -> NDArray[np.bool_]:
    lines = split_lines(observation)
    return np.fromiter((is_error_line(line) for line in lines), dtype=bool, count=len(lines))


def top_lines(scores: ArrayLike, share: float) -> NDArray[np.intp]:
    """Indices of the max(1, round(share * L)) highest of `scores` [L], best first, ties to the earlier line.

    NaN ranks below everything. Empty for L = 0.
    """
    ranked = np.asarray(scores, dtype=np.float64)
    ranked = np.where(np.isnan(ranked), -np.inf, ranked)
    return np.argsort(-ranked, kind="stable")[: max(1, round(share * ranked.size))]


def recall_at_compression(keep_logits: ArrayLike, gold: Spans, dropped: float) -> float:
    """Share of gold lines that stay when the share `dropped` of lines, those with the lowest logits, goes.

    keep_logits: [L]. max(1, round((1 - dropped) * L)) lines stay; ties go to the earlier line. Lines are
    counted by position, blank ones too. NaN without gold lines. Raises ValueError for `dropped` outside 0..1.
    """
    if not 0.0 <= dropped <= 1.0:
        raise ValueError(f"dropped is a share between 0 and 1, not {dropped}")
    logits = np.asarray(keep_logits, dtype=np.float64)
    gold_mask = to_mask(gold, logits.size)
    wanted = int(gold_mask.sum())
    return float(gold_mask[top_lines(logits, 1.0 - dropped)].sum()) / wanted if wanted else NAN


def area_under_roc(scores: ArrayLike, positive: ArrayLike) -> float:
    """Chance that a positive of `positive` [N] has a higher score [N] than another, ties half; NaN without both kinds.

    From the mean ranks of the positives (Mann and Whitney 1947).
    """
    mask = np.asarray(positive, dtype=bool)
    hits, others = int(mask.sum()), int((~mask).sum())
    if not hits or not others:
        return NAN
    _, place, counts = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    return float((rank[place][mask].sum() - hits * (hits + 1) / 2) / (hits * others))


def pruning_metrics(
    observation: str,
    gold: Spans,
    predicted: Spans,
    keep_logits: ArrayLike | None = None,
    invented: Sequence[str] = (),
) -> dict[str, float]:
    """What matters when output is pruned; NaN where the record does not define it.

    An answer of invented lines is not empty, and their tokens are not dropped.

    recall_at_50, _70, _90   `recall_at_compression`; NaN without keep_logits [L].
    line_recall              share of gold lines kept, by position, blank ones too.
    token_compression        share of whitespace tokens dropped; 0 where the observation has none.
    true_negative_empty      of a record without gold lines: whether it is answered with nothing (right).
    positive_empty           of a record with gold lines: whether it is answered with nothing (wrong).
    error_lines_lost         share of the observation's error lines (`is_error_line`) that are not kept.
    gold_error_lines_lost    the same among the gold lines.
    """
    lines = split_lines(observation)
    gold_mask, kept_mask = to_mask(gold, len(lines)), to_mask(predicted, len(lines))
    counts = _counts(observation, lines, gold_mask, kept_mask, invented)
    has_gold, answered = bool(counts["line_reference"]), bool(counts["line_predicted"])
    recalls = {
        f"recall_at_{round(100 * dropped)}": NAN
        if keep_logits is None
        else recall_at_compression(keep_logits, from_mask(gold_mask), dropped)
        for dropped in COMPRESSIONS
    }
    return {
        **recalls,
        "line_recall": _ratio(int((gold_mask & kept_mask).sum()), int(gold_mask.sum())),
        "token_compression": share_dropped(int(counts["tokens_kept"]), int(counts["tokens"])),
        "true_negative_empty": NAN if has_gold else float(not answered),
        "positive_empty": float(not answered) if has_gold else NAN,
        "error_lines_lost": _ratio(counts["errors_lost"], counts["errors"]),
        "gold_error_lines_lost": _ratio(counts["gold_errors_lost"], counts["gold_errors"]),
    }


def _counts(
    observation: str,
    lines: Sequence[str],
    gold_mask: NDArray[np.bool_],
    kept_mask: NDArray[np.bool_],
    invented: Sequence[str],
) -> dict[str, float]:
    """The countable things of one record, whose sums over records give the micro averages."""
    errors = _error_mask(observation)
    wanted, kept = _tokens(lines, gold_mask), _tokens(lines, kept_mask) + _words(invented)
    wanted_texts, kept_texts = set(texts_at(lines, gold_mask)), set(_predicted(lines, kept_mask, invented))
    return {
        "line_hits": len(wanted_texts & kept_texts),
        "line_predicted": len(kept_texts),
        "line_reference": len(wanted_texts),
        "token_hits": (Counter(wanted) & Counter(kept)).total(),
        "token_reference": len(wanted),
        "lines": len(lines),
        "lines_kept": int(kept_mask.sum()) + len(invented),
        "tokens": len(observation.split()),
        "tokens_kept": len(kept),
        "errors": int(errors.sum()),
        "errors_lost": int((errors & ~kept_mask).sum()),
        "gold_errors": int((errors & gold_mask).sum()),
        "gold_errors_lost": int((errors & gold_mask & ~kept_mask).sum()),
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else NAN


# --- one record, many records --------------------------------------------------------------------------


def corrected_metrics(
    predicted: Sequence[str], reference: Sequence[str], kept_lines: int, total_lines: int
) -> dict[str, float]:
    """The Squeez figures whose definition has a quirk, without it.

    compression_corrected  1 - kept / total lines by position: an empty answer compresses to 1, a final
                           newline opens no line, kept blank lines count (and so do invented ones).
    rouge_l_corrected      1 instead of 0 where both sides are empty.
    """
    both_empty = not predicted and not reference
    return {
        "compression_corrected": share_dropped(kept_lines, total_lines),
        "rouge_l_corrected": 1.0 if both_empty else rouge_l("\n".join(predicted), "\n".join(reference)),
    }


def _predicted(lines: Sequence[str], kept_mask: NDArray[np.bool_], invented: Sequence[str]) -> list[str]:
    """Texts of an answer: its lines of the observation, then the invented ones."""
    return texts_at(lines, kept_mask) + [text for line in invented if (text := line.strip())]


def score_record(
    observation: str,
    gold: Spans,
    predicted: Spans,
    keep_logits: ArrayLike | None = None,
    invented: Sequence[str] = (),
) -> dict[str, float]:
    """All metrics of one record, named `family.metric`, for `aggregate`.

    invented: lines of the answer that stand nowhere in the observation, as generative systems write them. They are
    predicted text like any other: wrong, but there. An answer of them alone is not empty.

    squeez.*   `squeez_metrics` and `corrected_metrics` over stripped line texts
    recipe.*   `recipe_metrics`
    pruning.*  `pruning_metrics`
    count.*    the counts behind the micro averages

    Raises ValueError for keep_logits whose length is not the observation's number of lines.
    """
    lines = split_lines(observation)
    if keep_logits is not None and np.shape(keep_logits) != (len(lines),):
        raise ValueError(f"{np.shape(keep_logits)} keep logits for an observation of {len(lines)} lines")
    gold_mask, kept_mask = to_mask(gold, len(lines)), to_mask(predicted, len(lines))
    gold, predicted = from_mask(gold_mask), from_mask(kept_mask)
    kept, reference = _predicted(lines, kept_mask, invented), line_texts(lines, gold)
    families = {
        "squeez": squeez_metrics(kept, reference, observation)
        | corrected_metrics(kept, reference, int(kept_mask.sum()) + len(invented), len(lines)),
        "recipe": recipe_metrics(lines, gold, predicted, invented),
        "pruning": pruning_metrics(observation, gold, predicted, keep_logits, invented),
        "count": _counts(observation, lines, gold_mask, kept_mask, invented),
    }
    category = empty_category(kept, reference)
    families["count"] |= {name: float(name == category) for name in CONFUSION}
    return {f"{family}.{key}": float(v) for family, row in families.items() for key, v in row.items()}


class Estimate(NamedTuple):
    """A figure, its bootstrap interval (NaN where none was asked for) and the records that define it."""

    value: float
    low: float = NAN
    high: float = NAN
    records: int = 0


# Micro averages: a ratio of sums over records, as (numerator, denominator) count columns; `1 -` where marked.
_MICRO = {
    "micro.precision": ("line_hits", "line_predicted", False),
    "micro.recall": ("line_hits", "line_reference", False),
    "micro.recipe_precision": ("token_hits", "tokens_kept", False),
    "micro.recipe_recall": ("token_hits", "token_reference", False),
    "micro.recipe_compression": ("tokens_kept", "token_reference", True),
    "micro.compression": ("lines_kept", "lines", True),
    "micro.token_compression": ("tokens_kept", "tokens", True),
    "micro.error_lines_lost": ("errors_lost", "errors", False),
    "micro.gold_error_lines_lost": ("gold_errors_lost", "gold_errors", False),
}
_MICRO_F1 = {
    "micro.f1": ("line_hits", "line_predicted", "line_reference"),
    "micro.recipe_f1": ("token_hits", "tokens_kept", "token_reference"),
}


def aggregate(
    rows: Sequence[Mapping[str, float]],
    *,
    observations: Sequence[object] | None = None,
    bootstrap: int = 0,
    seed: int = 0,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """Averages over `score_record` rows, each with a percentile bootstrap interval.

    Macro averages keep the row's names (mean over the records that define the metric); micro averages are
    ratios of summed counts, named `micro.*`. observations: what each row belongs to [N]; the queries on one
    observation are no independent evidence, so whole observations are drawn, and a metric that a single one of them
    defines has no interval. None: every row is one of its own. bootstrap: number of resamples, 0 for no
    intervals; the same seed gives the same intervals. level: share of resamples inside the interval. No rows: an
    empty dict. Raises ValueError for another number of observations than rows.
    """
    if observations is not None and len(observations) != len(rows):
        raise ValueError(f"{len(observations)} observations for {len(rows)} rows")
    if not rows:
        return {}
    names = list(rows[0])
    table = np.array([[row[name] for name in names] for row in rows], dtype=np.float64)  # [N, K]
    point = _averages(np.ones((1, len(rows))), table, names)
    low, high = {}, {}
    if bootstrap:
        units: dict[object, int] = {}
        unit = np.array([units.setdefault(key, len(units)) for key in observations or range(len(rows))])
        draws = [_averages(w[:, unit], table, names) for w in _resamples(len(units), bootstrap, seed, len(rows))]
        reach = {name: len(set(unit[np.isfinite(table[:, k])])) for k, name in enumerate(names)}
        for name in point:
            if observations is not None and reach.get(name, len(units)) < 2:
                continue
            low[name], high[name] = _interval(np.concatenate([d[name] for d in draws]), level)
    defined = dict(zip(names, np.isfinite(table).sum(axis=0), strict=True))
    return {
        name: Estimate(float(value[0]), low.get(name, NAN), high.get(name, NAN), int(defined.get(name, len(rows))))
        for name, value in point.items()
    }


def bootstrap_interval(
    values: ArrayLike, *, resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean of `values` [N]; NaN entries are left out of each mean.

    The seeded percentile bootstrap of Efron (1979). (NaN, NaN) where no value is defined.
    """
    column = np.asarray(values, dtype=np.float64)[:, None]
    if not np.isfinite(column).any():
        return NAN, NAN
    draws = [_averages(w, column, ["value"])["value"] for w in _resamples(len(column), resamples, seed)]
    return _interval(np.concatenate(draws), level)


def _resamples(units: int, resamples: int, seed: int, records: int = 0) -> Iterator[NDArray[np.float64]]:
    """How often each unit is drawn, [R, units] at a time; R times the records is some 8 million at most."""
    rng = np.random.default_rng(seed)
    block = max(1, min(resamples, 8_000_000 // max(units, records)))
    share = np.full(units, 1.0 / units)
    for done in range(0, resamples, block):
        yield rng.multinomial(units, share, size=min(block, resamples - done)).astype(np.float64)


def _averages(
    weights: NDArray[np.float64], table: NDArray[np.float64], names: Sequence[str]
) -> dict[str, NDArray[np.float64]]:
    """Macro and micro averages [R] of the columns of `table` [N, K] under record weights [R, N]."""
    defined = np.isfinite(table)
    sums = weights @ np.where(defined, table, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / (weights @ defined.astype(np.float64))
        averages = {name: means[:, k] for k, name in enumerate(names) if not name.startswith("count.")}
        total = {n.partition(".")[2]: sums[:, k] for k, n in enumerate(names) if n.startswith("count.")}
        for name, (part, whole, inverse) in _MICRO.items() if total else ():
            ratio = total[part] / total[whole]
            averages[name] = 1.0 - ratio if inverse else ratio
        for name, (hits, predicted, reference) in _MICRO_F1.items() if total else ():
            averages[name] = 2 * total[hits] / (total[predicted] + total[reference])
    return {name: np.where(np.isfinite(value), value, NAN) for name, value in averages.items()}


def _interval(draws: NDArray[np.float64], level: float) -> tuple[float, float]:
    finite = draws[np.isfinite(draws)]
    if not finite.size:
        return NAN, NAN
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
