"""Operating points: the decoding parameters that reach a target on scored records, and how well that holds on others.

Biases and empty thresholds are found by exact sweeps (`linecls.sweep`): every value that makes a difference on the
records is looked at, none is sampled. Of the switch cost, which bends the whole path, a short list is tried.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linecls.decoding import OperatingPoint, decode
from linecls.errors import LineclsError
from linecls.metrics import Estimate, recall_at_compression
from linecls.observation import scoring_text, split_lines
from linecls.records import Record
from linecls.spans import Span, from_mask, to_mask
from linecls.sweep import METRICS, BoolArray, Curve, FloatArray, Sweep, figures
from linecls.thresholds import bias_thresholds

if TYPE_CHECKING:
    from linecls.pruner import Pruner

SWITCH_COSTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
# The empty thresholds from which the search starts: so much of the records is left without an answer.
_EMPTY_STARTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
F1_SLACK = 0.001  # of line F1 that the point of a shipped model gives away for more empty answers
_MARGIN_STEPS = 6  # so often a target is raised for a promise that does not hold
_OUTCOMES = (*METRICS, "negatives_empty", "positives_empty")
_COUNT_PIECE = 4096  # characters of a long line that are tokenised at once when its tokens are counted


@dataclass(frozen=True)
class Scored:
    """What the model said of one record, beside its gold.

    lines: the observation's lines; gold: bool [L]; keep_logits: float32 [L]; answerable: probability;
    tokens: tokens of each line [L] (None: every line counts as none).
    """

    lines: Sequence[str]
    gold: NDArray[np.bool_]
    keep_logits: NDArray[np.float32]
    answerable: float
    tokens: NDArray[np.int64] | None = None

    @cached_property
    def gold_spans(self) -> list[Span]:
        return from_mask(self.gold)

    @property
    def token_counts(self) -> NDArray[np.int64]:
        return np.zeros(len(self.lines), np.int64) if self.tokens is None else self.tokens

    @cached_property
    def observation(self) -> bytes:
        """The same for records of one observation: a digest of its text."""
        digest = hashlib.blake2b(digest_size=16)
        for line in self.lines:
            digest.update(line.encode("utf-8", "surrogatepass"))
        return digest.digest()

    @cached_property
    def text_ids(self) -> NDArray[np.int64]:
        """Equal stripped lines share a number; blank lines have -1: the Squeez line metrics compare texts."""
        seen: dict[str, int] = {}
        stripped = (line.strip() for line in self.lines)
        return np.array([seen.setdefault(text, len(seen)) if text else -1 for text in stripped], np.int64)

    @cached_property
    def gold_ids(self) -> frozenset[int]:
        return frozenset(self.text_ids[self.gold].tolist()) - {-1}

    def decode(self, point: OperatingPoint) -> list[Span]:
        return decode(self.keep_logits, point, self.answerable)

    def f1(self, spans: Sequence[Span]) -> float:
        """Squeez line F1 of predicted spans; 1 when both prediction and gold are empty."""
        predicted = set(self.text_ids[to_mask(spans, len(self.lines))].tolist()) - {-1}
        if not predicted and not self.gold_ids:
            return 1.0
        return 2 * len(predicted & self.gold_ids) / (len(predicted) + len(self.gold_ids))


def mean_f1(scored: Sequence[Scored], point: OperatingPoint) -> float:
    """Mean Squeez line F1 over records at an operating point."""
    return float(np.mean([s.f1(s.decode(point)) for s in scored]))


def best_f1_point(scored: Sequence[Scored]) -> tuple[OperatingPoint, float]:
    """The operating point of highest mean line F1, and that F1; the default point and 0.0 without records."""
    if not scored:
        return OperatingPoint(), 0.0
    point = Tuner(scored).choose(Target("f1")) or OperatingPoint()
    return point, mean_f1(scored, point)


def scored_recall(scored: Sequence[Scored], dropped: float) -> float:
    """Mean share of gold lines left when the `dropped` share of lowest-scored lines goes; records with gold."""
    values = [recall_at_compression(s.keep_logits, s.gold_spans, dropped) for s in scored if s.gold.any()]
    return float(np.mean(values)) if values else float("nan")


def score_records(
    pruner: Pruner, records: Sequence[Record], progress: Callable[[int], None] | None = None
) -> list[Scored]:
    """What the model says of each record; `progress` is called with 1 after each."""
    scored: list[Scored] = []
    answers = pruner.prune_many((record.query, record.tool_output) for record in records)
    last, lines, tokens = None, [], np.zeros(0, np.int64)
    for record, pruning in zip(records, answers, strict=True):
        if record.tool_output != last:
            last, lines = record.tool_output, split_lines(record.tool_output)
            tokens = _token_counts(pruner, lines)
        gold = to_mask(record.gold_spans, len(lines))
        scored.append(Scored(lines, gold, pruning.keep_logits, pruning.answerable, tokens))
        if progress is not None:
            progress(1)
    return scored


def _token_counts(pruner: Pruner, lines: Sequence[str]) -> NDArray[np.int64]:
    """Tokens [L] of each line by the model's tokenizer, as `--max-tokens` counts them."""
    texts = [scoring_text(line) for line in lines]
    pieces = [[text[i : i + _COUNT_PIECE] for i in range(0, len(text), _COUNT_PIECE)] for text in texts]
    flat = [piece for parts in pieces for piece in parts]
    counts = iter([len(e.ids) for e in pruner.encoder.tokenizer.encode_batch(flat, add_special_tokens=False)])
    return np.array([sum(next(counts) for _ in parts) for parts in pieces], np.int64)


def readier_to_be_empty(scored: Sequence[Scored], point: OperatingPoint) -> OperatingPoint:
    """The point with the largest empty threshold that costs at most `F1_SLACK` of mean line F1.

    Over a wide range the threshold hardly changes F1: what it gains on negatives, it loses elsewhere. Which value is
    the very best is chance there, and an empty answer where nothing answers is wanted.
    """
    if not scored:
        return point
    always = replace(point, empty_threshold=0.0)
    shown = np.array([s.f1(s.decode(always)) for s in scored])
    empty = np.array([s.f1([]) for s in scored])
    answerable = np.array([s.answerable for s in scored])

    def f1(threshold: float) -> float:
        return float(np.where(answerable < threshold, empty, shown).mean())

    least = f1(point.empty_threshold) - F1_SLACK
    larger = [float(value) for value in np.unique(answerable) if value > point.empty_threshold and f1(value) >= least]
    return replace(point, empty_threshold=max(larger, default=point.empty_threshold))


def standard_points(scored: Sequence[Scored], best: OperatingPoint) -> dict[str, OperatingPoint]:
    """The operating points of a shipped model: `f1`, and `recall` (mean recall of gold lines >= 0.90).

    `f1` is `best` as `readier_to_be_empty` has it. `recall` keeps the switch cost of `best`, never answers with
    nothing on its own, and takes the largest bias that reaches the target.
    """
    positive = [s for s in scored if s.gold.any()]

    def recall(bias: float) -> float:
        point = replace(best, bias=bias, empty_threshold=0.0)
        return float(np.mean([to_mask(s.decode(point), len(s.lines))[s.gold].mean() for s in positive]))

    low, high = best.bias - 20.0, best.bias + 5.0
    for _ in range(30):  # the recall falls as the bias grows
        middle = (low + high) / 2
        low, high = (middle, high) if recall(middle) >= 0.90 else (low, middle)
    return {"f1": readier_to_be_empty(scored, best), "recall": replace(best, bias=low, empty_threshold=0.0)}


# --- targets ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """What an operating point must reach, as a mean over records.

    kind: `compression` (share of lines dropped, at least `value`; of all points that drop so much the one with the
        highest recall), `recall` (share of gold lines kept, at least `value`; the one that drops most), `tokens`
        (tokens kept of an observation, at most `value`; highest recall), or `f1` (the highest line F1; no value).
    """

    kind: str
    value: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read `compression=0.9`, `recall=0.95`, `tokens=500` or `f1`. Raises LineclsError for anything else."""
        match = re.fullmatch(r"(f1)|(compression|recall|tokens)=([0-9.]+(?:[eE][+-]?\d+)?)", text.strip())
        if match is None:
            raise LineclsError(f"unknown target {text!r}; use compression=SHARE, recall=SHARE, tokens=NUMBER or f1")
        if match[1]:
            return cls("f1")
        try:
            value = float(match[3])
        except ValueError as error:
            raise LineclsError(f"the target {text!r} has no number: {match[3]}") from error
        if match[2] == "tokens" and not value > 0:
            raise LineclsError(f"the target {text!r} keeps nothing: name more than 0 tokens")
        if match[2] != "tokens" and not 0 < value < (1 if match[2] == "compression" else 1 + 1e-12):
            raise LineclsError(f"the target {text!r} is no share: name a number between 0 and 1")
        return cls(match[2], value)

    def __str__(self) -> str:
        return self.kind if self.kind == "f1" else f"{self.kind}={self.value:g}"

    @property
    def needs_gold(self) -> bool:
        return self.kind in ("f1", "recall")

    @property
    def sign(self) -> int:
        """1 where more is better, -1 for tokens."""
        return -1 if self.kind == "tokens" else 1

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the choice of a point looks at."""
        return ("f1",) if self.kind == "f1" else ("compression", "recall", "tokens")

    def is_met(self, values: FloatArray | float) -> BoolArray:
        """Where the figure that the target names is reached."""
        return self.sign * np.asarray(values) >= self.sign * self.value - 1e-12

    def worth(self, values: Mapping[str, FloatArray], *, labelled: bool) -> FloatArray:
        """What is highest at the best of the points that meet the target."""
        if self.kind == "f1":
            return values["f1"]
        if self.kind == "recall":
            return values["compression"]
        has_recall = labelled and not np.isnan(values["recall"]).all()
        return values["recall"] if has_recall else -values["compression"]


class Tuner:
    """Finds operating points on R scored records.

    base: without gold lines only the bias is tuned; the rest is that of this point.
    """

    def __init__(self, scored: Sequence[Scored], base: OperatingPoint | None = None) -> None:
        self.scored = scored
        self.labelled = any(s.gold.any() for s in scored)
        self.base = base or OperatingPoint()
        costs = SWITCH_COSTS if self.labelled else (self.base.switch_cost,)
        paths = [bias_thresholds(s.keep_logits, costs) for s in scored]
        self._sweeps = {
            (relative, cost): Sweep(
                scored, [(p.relative if relative else p.absolute)[index] for p in paths], relative=relative
            )
            for relative in ((False, True) if self.labelled else (self.base.relative,))
            for index, cost in enumerate(costs)
        }

    def choose(self, target: Target, records: BoolArray | None = None) -> OperatingPoint | None:
        """The best point for the records of a mask [R] (None: all); None where no point meets the target."""
        if records is None:
            records = np.ones(len(self.scored), dtype=bool)
        starts = self._starts(records)
        best, best_worth = None, -np.inf
        for (relative, cost), sweep in self._sweeps.items():
            worth, bias, empty = self._climb(sweep, target, records, starts)
            if worth > best_worth:
                best, best_worth = OperatingPoint(bias, cost, empty, relative), worth
        return best

    def curve(self, point: OperatingPoint) -> Curve:
        """Every bias at the switch cost and empty threshold of a point that this tuner chose."""
        sweep = self._sweeps[point.relative, point.switch_cost]
        return sweep.over_bias(np.ones(len(self.scored), dtype=bool), point.empty_threshold)

    def furthest(self, kind: str) -> float:
        """The best figure of a metric that a point gives on all records; NaN where no point answers any."""
        records = np.ones(len(self.scored), dtype=bool)
        curves = (
            sweep.over_bias(records, empty, (kind,))
            for sweep in self._sweeps.values()
            for empty in self._starts(records)
        )
        values = np.concatenate([curve.values[kind] for curve in curves])
        if not values.size:
            return float("nan")
        return float(np.min(values) if kind == "tokens" else np.max(values))

    def _starts(self, records: BoolArray) -> list[float]:
        if not self.labelled:
            return [self.base.empty_threshold]
        answerable = np.array([s.answerable for s in self.scored])[records]
        return np.unique([0.0, *np.quantile(answerable, _EMPTY_STARTS[1:])]).tolist()

    def _climb(
        self, sweep: Sweep, target: Target, records: BoolArray, starts: Sequence[float]
    ) -> tuple[float, float, float]:
        """Worth, bias and empty threshold: the best start, then threshold and bias in turn while it gets better."""

        def over_bias(empty: float) -> tuple[float, float, float]:
            worth, bias = self._best(sweep.over_bias(records, empty, target.metrics), target)
            return worth, bias, empty

        best = max((over_bias(empty) for empty in starts), key=lambda found: found[0])
        while self.labelled and best[0] > -np.inf:
            _, empty = self._best(sweep.over_empty_threshold(records, best[1], target.metrics), target)
            found = over_bias(empty)
            if found[0] <= best[0]:
                break
            best = found
        return best

    def _best(self, curve: Curve, target: Target) -> tuple[float, float]:
        """The highest worth on a curve and where it is; minus infinity where nothing meets the target."""
        worth = target.worth(curve.values, labelled=self.labelled)
        if target.kind != "f1":
            worth = np.where(target.is_met(curve.values[target.kind]), worth, -np.inf)
        if not worth.size:
            return -np.inf, 0.0
        index = int(np.argmax(worth))
        return float(worth[index]), float(curve.choices[index])


# --- promised against held-out ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tuning:
    """An operating point with what it promises.

    point: the operating point; target: what was asked for.
    promised: metric -> mean over the records that it was tuned on.
    held_out: the same over records whose observation was not tuned on, with 95 % bootstrap intervals over
        observations; None where nothing can be held out, as with a single observation. The metrics are
        `sweep.METRICS`, and with gold lines `negatives_empty` and `positives_empty`, the shares of records that
        rightly and wrongly got no lines.
    curve: every bias at the point's switch cost and empty threshold.
    fold_points: the points chosen without each fold.
    records, observations, negatives: how many there were (negatives: None without labels).
    """

    point: OperatingPoint
    target: Target
    promised: dict[str, float]
    held_out: dict[str, Estimate] | None
    curve: Curve
    fold_points: list[OperatingPoint]
    records: int
    observations: int
    negatives: int | None

    @property
    def is_held(self) -> bool:
        """Whether the target is met on records that were not tuned on, too."""
        if self.target.kind == "f1" or self.held_out is None:
            return True
        return bool(self.target.is_met(self.held_out[self.target.kind].value))


def tune(
    scored: Sequence[Scored],
    target: Target,
    *,
    base: OperatingPoint | None = None,
    folds: int = 5,
    seed: int = 0,
    bootstrap: int = 1000,
) -> Tuning:
    """Find the operating point for a target and hold it to its promise.

    The records are cut into `folds` by observation; each fold is answered with the point that the others give. Where
    the target is missed there, the others are asked for so much more, until it is met or nothing more can be asked;
    the final point is chosen on all records with that same margin.
    base: see `Tuner`; without gold lines it gives everything but the bias.
    Raises LineclsError without records, without gold where the target needs it, and for a target that no point
    reaches.
    """
    if not scored:
        raise LineclsError("there are no records to tune on")
    tuner = Tuner(scored, base)
    if target.needs_gold and not tuner.labelled:
        raise LineclsError(f"the target {target} needs records with gold lines, and none of the {len(scored)} has any")
    point = tuner.choose(target)
    if point is None:
        raise LineclsError(_unreachable(tuner, target))
    groups = _numbered([s.observation for s in scored])
    fold = _folds(groups, folds, seed)
    held_out, fold_points = None, []
    asked = target
    for _ in range(_MARGIN_STEPS if fold.any() else 0):
        whole = tuner.choose(asked)
        tried = [tuner.choose(asked, fold != f) for f in range(int(fold.max()) + 1)]
        points = [found for found in tried if found is not None]
        if whole is None or len(points) < len(tried):
            break
        rows = np.stack([_outcome(s, points[f]) for s, f in zip(scored, fold.tolist(), strict=True)])
        found = _estimates(rows, groups, bootstrap, seed)
        reached = found[target.kind].value
        if held_out is None or target.sign * reached > target.sign * held_out[target.kind].value:
            point, held_out, fold_points = whole, found, points
        if target.kind == "f1" or target.is_met(reached):
            break
        asked = replace(target, value=asked.value + target.value - reached)
        if not 0 < asked.value <= (np.inf if target.kind == "tokens" else 1):
            break
    rows = np.stack([_outcome(s, point) for s in scored])
    promised = {name: estimate.value for name, estimate in _estimates(rows, groups, 0, seed).items()}
    curve = tuner.curve(point)
    return Tuning(
        point=point,
        target=target,
        promised=promised,
        held_out=held_out,
        curve=curve,
        fold_points=fold_points,
        records=len(scored),
        observations=int(groups.max()) + 1,
        negatives=sum(not s.gold.any() for s in scored) if tuner.labelled else None,
    )


def _outcome(scored: Scored, point: OperatingPoint) -> FloatArray:
    """The figures [len(_OUTCOMES)] of one record, decoded at a point."""
    kept = np.flatnonzero(to_mask(scored.decode(point), len(scored.lines)))
    empty, has_gold = float(len(kept) == 0), bool(scored.gold.any())
    return np.append(figures(scored, kept)[:, -1], [np.nan if has_gold else empty, empty if has_gold else np.nan])


def _estimates(rows: FloatArray, groups: NDArray[np.int64], bootstrap: int, seed: int) -> dict[str, Estimate]:
    """Means over records of outcomes [R, M], with 95 % percentile intervals over resampled groups [R]."""
    defined = ~np.isnan(rows)
    count = int(groups.max()) + 1
    sums, sizes = np.zeros((count, rows.shape[1])), np.zeros((count, rows.shape[1]))
    np.add.at(sums, groups, np.where(defined, rows, 0.0))
    np.add.at(sizes, groups, defined)
    rng = np.random.default_rng(seed)
    result: dict[str, Estimate] = {}
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=bootstrap).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums.sum(axis=0) / sizes.sum(axis=0)
        resampled = (drawn @ sums) / (drawn @ sizes)
    for index, name in enumerate(_OUTCOMES):
        column = resampled[:, index][~np.isnan(resampled[:, index])]
        low, high = np.quantile(column, (0.025, 0.975)).tolist() if column.size else (np.nan, np.nan)
        result[name] = Estimate(float(means[index]), low, high, int(sizes[:, index].sum()))
    return result


def _numbered(keys: Sequence[bytes]) -> NDArray[np.int64]:
    """A number from 0 for each distinct key [R]."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(key, len(seen)) for key in keys], np.int64)


def _folds(groups: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold [R] of each record: groups stay whole, and each goes to the fold with the fewest records so far."""
    sizes = np.bincount(groups)
    filled = np.zeros(min(folds, len(sizes)), np.int64)
    place = np.zeros(len(sizes), np.int64)
    for group in np.random.default_rng(seed).permutation(len(sizes)):
        place[group] = int(np.argmin(filled))
        filled[place[group]] += sizes[group]
    return place[groups]


def _unreachable(tuner: Tuner, target: Target) -> str:
    """Why no point meets a target: how far the records let one go."""
    furthest = tuner.furthest(target.kind)
    if np.isnan(furthest):
        return f"the target {target} cannot be reached: the default point leaves every record without an answer"
    most = "lowest" if target.sign < 0 else "highest"
    what = "number of kept tokens" if target.kind == "tokens" else target.kind
    return f"the target {target} cannot be reached: the {most} {what} here is {furthest:.4g}"
