"""Run systems over labelled records and score what they answer: per group, with intervals, pair by pair.

`linecls.reporting` turns a `Report` into pages, tables and plots.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import linecls
from linecls import metrics, provenance
from linecls.calibration import Calibration, calibrate
from linecls.comparing import Difference, holm, paired_difference
from linecls.curves import SHARES, bias_curve, ranked_recall
from linecls.errors import LineclsError
from linecls.metrics import Estimate
from linecls.spans import Span, to_mask

if TYPE_CHECKING:
    from linecls.records import Record
    from linecls.systems.base import Selection, System

LENGTHS = (50, 100, 200, 500)  # upper bounds of the length buckets, in lines, exclusive
POSITIONS = ("first third", "middle third", "last third")
#: Metrics that systems are compared by, pair by pair.
COMPARED = ("squeez.span_f1", "squeez.span_recall", "pruning.line_recall", "pruning.recall_at_90")
_PAIRED_RESAMPLES = 10_000
_LATENCY_SAMPLE = 40  # records that a system which answers in batches is asked one by one


@dataclass(frozen=True)
class Published:
    """Figures that others published and we did not measure; a missing one is None."""

    system: str
    recall: float | None = None
    precision: float | None = None
    f1: float | None = None
    compression: float | None = None
    recall_at_50: float | None = None
    recall_at_70: float | None = None
    recall_at_90: float | None = None


# The Squeez-2B model card on the Squeez test split, and the Winnow card on the same split.
PUBLISHED = (
    Published("Squeez-2B (generative, LoRA on Qwen 3.5 2B)", 0.8624, 0.8043, 0.7895, 0.9150),
    Published("Qwen 3.5 35B A3B zero-shot", 0.7498, 0.7402, 0.7000, 0.9177),
    Published("Kimi K2 zero-shot", 0.5286, 0.6128, 0.5344, 0.9425),
    Published("Qwen 3.5 2B untrained", 0.5299, 0.4154, 0.4075, 0.8197),
    Published("BM25 10 %", 0.2172, 0.1277, 0.1314, 0.9036),
    Published("First-N 10 %", 0.1445, 0.0741, 0.0798, 0.9055),
    Published("Random 10 %", 0.1009, 0.0738, 0.0697, 0.9067),
    Published("Last-N 10 %", 0.0503, 0.0496, 0.0407, 0.9130),
    Published("Winnow (32M pooled encoder)", recall_at_50=0.89, recall_at_70=0.84, recall_at_90=0.68),
)
PUBLISHED_NOTE = "Published by their authors on the Squeez test split (617 or 618 records); not measured here."


@dataclass(frozen=True)
class Prices:
    """What a run costs: US dollars per million tokens of prompt and of completion, and per hour of this machine.

    A system that says what its tokens cost (`token_price`) is counted by that. The hour is the price of what runs
    here: all but a model behind a server elsewhere.
    """

    prompt: float | None = None
    completion: float | None = None
    hour: float | None = None


@dataclass(frozen=True)
class Timing:
    """How long a system took. Never part of what a rerun must repeat.

    seconds: wall time of this run over all records; per_record: seconds of work for one of them, which for a model
    that writes its answers is the latency of its requests, divided among those under way at once, so that answers
    from an earlier run count as what they took then; median, p95: latency in seconds of one record asked alone,
    over `measured` of them; cached: answers that were taken from an earlier run; cost: US dollars per 1,000 records
    by `Prices`, None where the prices do not say.
    """

    seconds: float
    per_record: float
    median: float
    p95: float
    measured: int
    cached: int
    cost: float | None


@dataclass(frozen=True)
class Written:
    """What a system that writes its answers wrote, over all records.

    lines: non-blank lines; exact, normalised, hallucinated: the shares of them that stand in the observation
    character for character, but for white space, or nowhere; records_hallucinated: share of records with at least
    one of the last; explained: of the records without gold lines, the share answered with text that stands
    nowhere (an explanation instead of an empty answer); cut, failed: records stopped by the token limit, and
    records that did not fit the model's context; forms: records by how the answer was wrapped;
    prompt_tokens, completion_tokens: per record.
    """

    lines: int
    exact: float
    normalised: float
    hallucinated: float
    records_hallucinated: float
    explained: float
    cut: int
    failed: int
    forms: dict[str, int]
    prompt_tokens: float
    completion_tokens: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an undefined share is None."""
        return {name: _number(v) if isinstance(v, float) else v for name, v in vars(self).items()}


@dataclass
class SystemReport:
    """How one system did.

    description: parameters and model of the system; timing: how long it took;
    overall: metric name to estimate, as `metrics.aggregate` names them; groups: the same for each value of
    `answer`, `tool_type`, `level` (where records have one), `lines`, `position` and, of several files, `file`;
    squeez: the rounded summary of squeez 0.1.4, for stripped references (its ChatML rows) and for raw ones (its
    canonical rows); curve: (share of lines dropped, mean recall of gold lines) with the same share dropped of
    every observation; bias_curves: (bias, share dropped, recall) for every bias on the scores as they are
    ("absolute") and on their distance from the observation's best line ("relative"); both empty for a system
    without scores. calibration: of the answerable probability and of the lines' probabilities, where it gives them;
    written: of a system that writes its answers; rows: `metrics.score_record` of each record; invented: the lines
    of its answer that stand nowhere in the observation; predictions: (instance_id, spans), in the order of the records.
    """

    name: str
    description: dict[str, Any]
    timing: Timing
    overall: dict[str, Estimate]
    groups: dict[str, dict[str, dict[str, Estimate]]]
    squeez: dict[str, dict[str, object]]
    curve: list[tuple[float, float]]
    bias_curves: dict[str, list[tuple[float, float, float]]]
    calibration: dict[str, Calibration]
    written: Written | None
    rows: list[dict[str, float]] = field(repr=False)
    invented: list[tuple[str, ...]] = field(repr=False)
    predictions: list[tuple[str, list[Span]]] = field(repr=False)

    @property
    def records(self) -> int:
        """Number of records run."""
        return len(self.predictions)

    @property
    def seconds(self) -> float:
        """Wall time over all records."""
        return self.timing.seconds

    @property
    def seconds_per_observation(self) -> float:
        """Seconds of work per record; systems may reuse work between records of one observation."""
        return self.timing.per_record

    def figures(self) -> dict[str, Any]:
        """Everything that a rerun on the same records repeats, ready for JSON (undefined figures are None)."""
        return {
            "description": self.description,
            "records": self.records,
            "overall": _plain(self.overall),
            "groups": {
                dimension: {value: _plain(estimates) for value, estimates in values.items()}
                for dimension, values in self.groups.items()
            },
            "squeez_0.1.4": self.squeez,
            "curve": [[dropped, _number(recall)] for dropped, recall in self.curve],
            "bias_curves": {
                kind: [[_number(bias), dropped, recall] for bias, dropped, recall in curve]
                for kind, curve in self.bias_curves.items()
            },
            "calibration": {name: calibration.to_dict() for name, calibration in self.calibration.items()},
            "written": None if self.written is None else self.written.to_dict(),
        }

    def to_dict(self) -> dict[str, Any]:
        """`figures` and the times; all but the predictions."""
        return {
            **self.figures(),
            "seconds": self.seconds,
            "seconds_per_observation": self.seconds_per_observation,
            "timing": {name: _number(v) if isinstance(v, float) else v for name, v in vars(self.timing).items()},
        }


@dataclass
class Report:
    """What `evaluate` found; `report["bm25"]` is the SystemReport of that name.

    comparisons: metric -> system -> how much more the first system reaches than it, and Holm's adjusted p.
    """

    about: dict[str, Any]
    systems: dict[str, SystemReport]
    comparisons: dict[str, dict[str, tuple[Difference, float]]]
    published: Sequence[Published] = ()
    records: Sequence[Record] = field(default=(), repr=False)

    def __getitem__(self, name: str) -> SystemReport:
        return self.systems[name]

    def figures(self) -> dict[str, Any]:
        """What a rerun of the same systems on the same records repeats: all but times, machine and commit."""
        return {
            "systems": {name: system.figures() for name, system in self.systems.items()},
            "comparisons": self._comparisons(),
        }

    def figures_sha256(self) -> str:
        """Digest of `figures`: the same for every run that found the same."""
        return hashlib.sha256(json.dumps(self.figures(), sort_keys=True, allow_nan=False).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Everything but the predictions, ready for JSON (undefined figures are None)."""
        result: dict[str, Any] = {
            "about": self.about,
            "figures_sha256": self.figures_sha256(),
            "systems": {name: system.to_dict() for name, system in self.systems.items()},
            "comparisons": self._comparisons(),
        }
        if self.published:
            result["published"] = {"note": PUBLISHED_NOTE, "rows": [vars(row) for row in self.published]}
        return result

    def to_json(self) -> str:
        """`to_dict` as JSON with a final newline; what holds no further containers stands on one line."""
        return _lines_of_json(self.to_dict()) + "\n"

    def to_text(self) -> str:
        """Plain tables for a terminal: overall figures, some with half-intervals, and F1 per tool type."""
        from linecls.reporting.text import render

        return render(self)

    def to_markdown(self) -> str:
        """The whole report as Markdown: both metric families apart, pruning metrics, groups, provenance."""
        from linecls.reporting.markdown import render

        return render(self)

    def to_html(self) -> str:
        """The whole report as one HTML page that needs no other file; with plots where matplotlib is."""
        from linecls.reporting.page import render

        return render(self)

    def write(self, directory: str | Path, *, examples: int = 20) -> list[Path]:
        """Write the report's files into a folder, made if it is missing, and return their paths.

        report.json, report.md, report.html, predictions.jsonl; differences.html, which shows up to `examples`
        records for each system on which it and the first one differ most; with matplotlib recall.png, bias.png
        and calibration.png. Files of those names are replaced. predictions.jsonl and differences.html hold what
        the records hold; the others hold figures alone.
        """
        from linecls.reporting.files import write

        return write(self, Path(directory), examples)

    def plot(self, path: str | Path) -> bool:
        """Draw recall of gold lines against the share of lines dropped; False where matplotlib is missing."""
        from linecls.reporting.plots import recall_figure, save

        return save(recall_figure(self), Path(path))

    def _comparisons(self) -> list[dict[str, Any]]:
        first = next(iter(self.systems), None)
        return [
            {
                "metric": metric,
                "a": first,
                "b": other,
                **{k: _number(v) if isinstance(v, float) else v for k, v in difference._asdict().items()},
                "p_holm": _number(adjusted),
            }
            for metric, row in self.comparisons.items()
            for other, (difference, adjusted) in row.items()
        ]


def evaluate(
    records: Iterable[Record],
    systems: Iterable[System],
    *,
    bootstrap: int = 1000,
    seed: int = 0,
    sources: Sequence[str | Path] = (),
    origins: Sequence[str] = (),
    published: bool = False,
    prices: Prices | None = None,
    sample: str | None = None,
    on_record: Callable[[str], object] | None = None,
    on_failure: Callable[[LineclsError], object] | None = None,
) -> Report:
    """Run each system over all records, score its answers, and compare the first system with the others.

    bootstrap: resamples of the intervals, 0 for none; seed: of the intervals; sources: the files that the
    records came from, stated in the report with their sha256; origins: the file of each record, for a table per
    file (none where there is one file); published: add the PUBLISHED figures; prices: for the cost of a run;
    sample: how the records were drawn from the sources, None for all; on_record: called with the system's name
    after each record; on_failure: called with the error of a system that cannot go on, which is then left out
    and named in the report. None: the error passes through, and what other systems answered is lost.

    Raises ValueError without records, for two systems of one name, and for a system that does not answer each
    record once; the last error of a system where none could be run to its end.
    """
    labelled = list(records)
    if not labelled:
        raise ValueError("there are no records to evaluate on")
    if origins and len(origins) != len(labelled):
        raise ValueError(f"{len(origins)} origins for {len(labelled)} records")
    files = list(origins) if len(set(origins)) > 1 else []
    chosen = list(systems)
    names = Counter(system.name for system in chosen)
    if doubles := [name for name, count in names.items() if count > 1]:
        raise ValueError(f"two systems are called '{doubles[0]}'")
    reports: dict[str, SystemReport] = {}
    failures: dict[str, str] = {}
    for index, system in enumerate(chosen):
        try:
            run = _run(labelled, system, on_record)
            latencies = _latencies(labelled, system, run)
        except LineclsError as error:
            if on_failure is None or (index == len(chosen) - 1 and not reports):
                raise
            on_failure(error)
            failures[system.name] = str(error)
            continue
        timing = _timing(system, run, latencies, prices or Prices())
        reports[system.name] = _score(labelled, system, run, timing, files, bootstrap, seed)
    about = {
        "linecls": linecls.__version__,
        "commit": provenance.commit(),
        "machine": provenance.machine(),
        "files": [provenance.source(source) for source in sources],
        "sample": sample,
        "failed": failures,
        "records": len(labelled),
        "negatives": sum(not record.gold_spans for record in labelled),
        "observations": len({record.tool_output for record in labelled}),
        "bootstrap": bootstrap,
        "level": 0.95,
        "seed": seed,
        "prices": vars(prices) if prices else None,
    }
    comparisons = _compare(labelled, list(reports.values()), _PAIRED_RESAMPLES if bootstrap else 0, seed)
    return Report(about, reports, comparisons, PUBLISHED if published else (), labelled)


def length_bucket(lines: int) -> str:
    """The length group of an observation with that many lines: "1-49", …, "500+"; "0-49" holds empty ones."""
    lower = 0
    for upper in LENGTHS:
        if lines < upper:
            return f"{lower}-{upper - 1}"
        lower = upper
    return f"{lower}+"


def position_bucket(gold: Sequence[Span], lines: int) -> str:
    """The third of the observation in which the middle of the gold lines lies; "none" without gold lines."""
    if not gold:
        return "none"
    kept = sum(b - a + 1 for a, b in gold)
    middle = sum((a + b) / 2 * (b - a + 1) for a, b in gold) / kept
    return POSITIONS[min(2, int(3 * (middle - 0.5) / max(lines, 1)))]


def _run(
    records: Sequence[Record], system: System, on_record: Callable[[str], object] | None
) -> list[tuple[Selection, float]]:
    """The answer for each record, and the seconds waited for it."""
    answered: list[tuple[Selection, float]] = []
    select_records = getattr(system, "select_records", None)
    if select_records is not None:
        answers = iter(select_records(records))
    else:
        answers = iter(system.select_many((record.query, record.tool_output) for record in records))
    for _ in records:
        start = time.perf_counter()
        selection = next(answers, None)
        if selection is None:
            raise ValueError(f"system '{system.name}' answered {len(answered)} of {len(records)} records")
        answered.append((selection, time.perf_counter() - start))
        if on_record is not None:
            on_record(system.name)
    if next(answers, None) is not None:
        raise ValueError(f"system '{system.name}' answered more than {len(records)} records")
    return answered


def _score(
    records: Sequence[Record],
    system: System,
    run: Sequence[tuple[Selection, float]],
    timing: Timing,
    files: Sequence[str],
    bootstrap: int,
    seed: int,
) -> SystemReport:
    rows: list[dict[str, float]] = []
    raw_rows: list[dict[str, float]] = []
    raw_categories: list[str] = []
    members: dict[str, dict[str, list[int]]] = {}
    selections = [selection for selection, _ in run]
    for index, (record, selection) in enumerate(zip(records, selections, strict=True)):
        text, gold, spans = record.tool_output, record.gold_spans, selection.spans
        row = metrics.score_record(text, gold, spans, selection.scores, _invented(selection))
        rows.append(row)
        kept = metrics.line_texts(text, spans) + [line.strip() for line in _invented(selection)]
        raw = metrics.canonical_reference(text, gold)
        raw_rows.append(metrics.squeez_metrics(kept, raw, text))
        raw_categories.append(metrics.empty_category(kept, raw))
        for dimension, value in _group_keys(record, row, files[index] if files else None).items():
            members.setdefault(dimension, {}).setdefault(value, []).append(index)

    def averages(of: Sequence[int]) -> dict[str, Estimate]:
        texts = [records[i].tool_output for i in of]
        return metrics.aggregate([rows[i] for i in of], observations=texts, bootstrap=bootstrap, seed=seed)

    describe = getattr(system, "describe", dict)
    categories = [next(name for name in metrics.CONFUSION if row[f"count.{name}"]) for row in rows]
    stripped_rows = [{key: row[f"squeez.{key}"] for key in metrics.SQUEEZ_KEYS} for row in rows]
    curve, bias_curves = _curves(records, selections)
    return SystemReport(
        name=system.name,
        description=describe(),
        timing=timing,
        overall=averages(range(len(rows))),
        groups={
            dimension: {value: averages(values[value]) for value in sorted(values, key=_group_order)}
            for dimension, values in members.items()
        },
        squeez={
            "stripped_reference": metrics.squeez_summary(stripped_rows, categories),
            "canonical_reference": metrics.squeez_summary(raw_rows, raw_categories),
        },
        curve=curve,
        bias_curves=bias_curves,
        calibration=_calibration(records, selections),
        written=_written(records, selections),
        rows=rows,
        invented=[_invented(selection) for selection in selections],
        predictions=[(r.instance_id, list(s.spans)) for r, s in zip(records, selections, strict=True)],
    )


def _invented(selection: Selection) -> tuple[str, ...]:
    return selection.generation.invented if selection.generation is not None else ()


def _group_keys(record: Record, row: Mapping[str, float], file: str | None) -> dict[str, str]:
    lines = int(row["count.lines"])
    keys = {"answer": "gold" if row["count.line_reference"] else "none", "tool_type": record.tool_type or "?"}
    if record.extra.get("level"):
        keys["level"] = str(record.extra["level"])
    keys["lines"] = length_bucket(lines)
    keys["position"] = position_bucket(record.gold_spans, lines)
    if file is not None:
        keys["file"] = file
    return keys


def _group_order(value: str) -> tuple[int, str]:
    """Length buckets by number, levels from easy to hard, positions from the start, everything else by name."""
    start = value.rstrip("+").partition("-")[0]
    if start.isdecimal():
        return int(start), value
    order = {"easy": 0, "medium": 1, "semantic": 2} | dict(zip(POSITIONS, range(3), strict=True)) | {"none": 3}
    return order.get(value, 0), value


def _curves(
    records: Sequence[Record], selections: Sequence[Selection]
) -> tuple[list[tuple[float, float]], dict[str, list[tuple[float, float, float]]]]:
    scores = [selection.scores for selection in selections]
    scored = [values for values in scores if values is not None]
    if not any(record.gold_spans for record in records) or len(scored) < len(scores):
        return [], {}
    ranked = [ranked_recall(s, r.gold_spans) for s, r in zip(scored, records, strict=True) if r.gold_spans]
    gold = [to_mask(record.gold_spans, len(values)) for record, values in zip(records, scored, strict=True)]
    shifted = [values - values.max() if len(values) and np.isfinite(values.max()) else values for values in scored]
    return (
        list(zip(SHARES.tolist(), np.mean(ranked, axis=0).tolist(), strict=True)),
        {"absolute": bias_curve(scored, gold), "relative": bias_curve(shifted, gold)},
    )


def _calibration(records: Sequence[Record], selections: Sequence[Selection]) -> dict[str, Calibration]:
    """Of "answerable", over records, and of "lines", over all lines of all records, where a system states them."""
    answerable = [(s.answerable, bool(r.gold_spans)) for r, s in zip(records, selections, strict=True)]
    stated = [(p, outcome) for p, outcome in answerable if p is not None]
    lines = [
        (s.probabilities, to_mask(r.gold_spans, len(s.probabilities)))
        for r, s in zip(records, selections, strict=True)
        if s.probabilities is not None
    ]
    found = {
        "answerable": calibrate([p for p, _ in stated], [outcome for _, outcome in stated]),
        "lines": calibrate(np.concatenate([p for p, _ in lines]), np.concatenate([gold for _, gold in lines]))
        if lines
        else None,
    }
    return {name: calibration for name, calibration in found.items() if calibration is not None}


def _written(records: Sequence[Record], selections: Sequence[Selection]) -> Written | None:
    pairs = [(r, s.generation) for r, s in zip(records, selections, strict=True) if s.generation is not None]
    if not pairs:
        return None
    generations = [generation for _, generation in pairs]
    answered = [g for g in generations if not g.failed]
    lines = sum(g.lines for g in answered)
    negatives = [g for record, g in pairs if not record.gold_spans and not g.failed]

    def share(part: float, whole: float) -> float:
        return part / whole if whole else math.nan

    return Written(
        lines=lines,
        exact=share(sum(g.exact for g in answered), lines),
        normalised=share(sum(g.normalised for g in answered), lines),
        hallucinated=share(sum(g.hallucinated for g in answered), lines),
        records_hallucinated=share(sum(g.hallucinated > 0 for g in answered), len(answered)),
        explained=share(sum(g.lines > 0 and g.hallucinated == g.lines for g in negatives), len(negatives)),
        cut=sum(g.cut for g in answered),
        failed=len(generations) - len(answered),
        forms=dict(sorted(Counter(g.form for g in answered).items())),
        prompt_tokens=share(sum(g.prompt_tokens for g in answered), len(answered)),
        completion_tokens=share(sum(g.completion_tokens for g in answered), len(answered)),
    )


def _latencies(records: Sequence[Record], system: System, run: Sequence[tuple[Selection, float]]) -> list[float]:
    """Seconds of one record asked alone.

    Of requests, where a server or a model wrote the answers, as they were when they were made; of a system that
    answers in batches, a sample asked again one by one, spread over the records; of others, what was waited for.
    """
    generations = [selection.generation for selection, _ in run if selection.generation is not None]
    if generations:
        return [generation.seconds for generation in generations if not generation.failed]
    if not getattr(system, "in_batches", False):
        return [waited for _, waited in run]
    places = np.unique(np.linspace(0, len(records) - 1, min(_LATENCY_SAMPLE, len(records))).round().astype(int))
    found: list[float] = []
    for record in (records[place] for place in places):
        start = time.perf_counter()
        system.select(record.query, record.tool_output)
        found.append(time.perf_counter() - start)
    return found


def _timing(
    system: System, run: Sequence[tuple[Selection, float]], latencies: Sequence[float], prices: Prices
) -> Timing:
    seconds = sum(waited for _, waited in run)
    generations = [selection.generation for selection, _ in run if selection.generation is not None]
    per_record = seconds / len(run)
    is_here = getattr(system, "is_here", True)
    if generations:
        per_record = sum(g.seconds for g in generations) / getattr(system, "concurrency", 1) / len(run)
    prompt, completion = getattr(system, "token_price", None) or (prices.prompt, prices.completion)
    cost = None
    if generations and prompt is not None and completion is not None:
        tokens = (sum(g.prompt_tokens for g in generations), sum(g.completion_tokens for g in generations))
        cost = (tokens[0] * prompt + tokens[1] * completion) / 1e6 / len(run) * 1000
    elif is_here and prices.hour is not None:
        cost = per_record / 3600 * prices.hour * 1000
    median, p95 = np.quantile(latencies, [0.5, 0.95]) if len(latencies) else (math.nan, math.nan)
    cached = sum(g.cached for g in generations)
    return Timing(seconds, per_record, float(median), float(p95), len(latencies), cached, cost)


def _compare(
    records: Sequence[Record], systems: Sequence[SystemReport], resamples: int, seed: int
) -> dict[str, dict[str, tuple[Difference, float]]]:
    """The first system against each other one, by each metric of COMPARED."""
    found: dict[str, dict[str, tuple[Difference, float]]] = {}
    if len(systems) < 2:
        return found
    observations = [record.tool_output for record in records]
    first, others = systems[0], systems[1:]
    for metric in COMPARED:
        own = [row[metric] for row in first.rows]
        differences = [
            paired_difference(own, [row[metric] for row in other.rows], observations, resamples=resamples, seed=seed)
            for other in others
        ]
        adjusted = holm([difference.p for difference in differences])
        found[metric] = {
            other.name: pair for other, pair in zip(others, zip(differences, adjusted, strict=True), strict=True)
        }
    return found


# --- ready for JSON ------------------------------------------------------------------------------------


def _lines_of_json(value: Any, indent: str = "") -> str:
    """Strict JSON, indented by a space a level; an estimate or a point of a curve takes one line, not six."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    if not any(isinstance(item, (dict, list, tuple)) for item in items):
        return json.dumps(value, allow_nan=False)
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {_lines_of_json(item, inner)}" for key, item in value.items()]
        left, right = "{}"
    else:
        lines = [_lines_of_json(item, inner) for item in value]
        left, right = "[]"
    return f"{left}\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}{right}"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(estimates: Mapping[str, Estimate]) -> dict[str, dict[str, float | int | None]]:
    return {
        name: {
            "value": _number(e.value),
            "low": _number(e.low),
            "high": _number(e.high),
            "records": e.records,
        }
        for name, e in estimates.items()
    }
