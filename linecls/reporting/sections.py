"""What a report says, as titled sections of paragraphs and tables; the forms of it only lay them out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linecls.evaluation import PUBLISHED_NOTE
from linecls.reporting.cells import long, percent, plain, setting

if TYPE_CHECKING:
    from linecls.evaluation import Report, SystemReport

# Columns of the tables: heading, metric.
_SQUEEZ = (
    ("precision", "squeez.span_precision"),
    ("recall", "squeez.span_recall"),
    ("F1", "squeez.span_f1"),
    ("exact", "squeez.exact_match"),
    ("fuzzy F1", "squeez.fuzzy_span_f1"),
    ("partial", "squeez.partial_overlap"),
    ("empty acc.", "squeez.empty_accuracy"),
    ("ROUGE-L", "squeez.rouge_l"),
    ("ROUGE-L corr.", "squeez.rouge_l_corrected"),
    ("compression", "squeez.compression"),
    ("compression corr.", "squeez.compression_corrected"),
    ("micro P", "micro.precision"),
    ("micro R", "micro.recall"),
    ("micro F1", "micro.f1"),
)
_RECIPE = (
    ("exact", "recipe.exact"),
    ("precision", "recipe.precision"),
    ("recall", "recipe.recall"),
    ("F1", "recipe.f1"),
    ("compression", "recipe.compression"),
    ("strict F1", "recipe.strict_f1"),
    ("micro P", "micro.recipe_precision"),
    ("micro R", "micro.recipe_recall"),
    ("micro F1", "micro.recipe_f1"),
    ("micro compression", "micro.recipe_compression"),
)
_PRUNING = (
    ("recall at 50 %", "pruning.recall_at_50"),
    ("recall at 70 %", "pruning.recall_at_70"),
    ("recall at 90 %", "pruning.recall_at_90"),
    ("token compression", "pruning.token_compression"),
    ("token compression, micro", "micro.token_compression"),
    ("negatives left empty", "pruning.true_negative_empty"),
    ("positives left empty", "pruning.positive_empty"),
    ("error lines lost, micro", "micro.error_lines_lost"),
    ("gold error lines lost, micro", "micro.gold_error_lines_lost"),
)
_GROUP = (("F1", "squeez.span_f1"), ("R@90", "pruning.recall_at_90"))
_GROUP_TITLES = {
    "answer": "With and without gold lines",
    "file": "Per file",
    "tool_type": "Per tool type",
    "level": "Per level",
    "lines": "Per length of the observation, in lines",
    "position": "Per position of the gold lines in the observation",
}
_GROUP_HEADS = {"lines": "lines", "position": "gold lines in the"}
_METRIC_NAMES = {
    "squeez.span_f1": "F1",
    "squeez.span_recall": "recall",
    "pruning.line_recall": "recall by position",
    "pruning.recall_at_90": "recall at 90 %",
}
_PUBLISHED_KEYS = ("precision", "recall", "f1", "compression", "recall_at_50", "recall_at_70", "recall_at_90")
_BIAS_STEPS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
_CALIBRATED = {
    "answerable": "that the observation answers the query, over records",
    "lines": "that a line is a gold line, over all lines",
}


@dataclass(frozen=True)
class Table:
    """Rows of cells under a head; the first column is text, the others are numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Section:
    """A title and what stands below it, in order. plot: the picture that belongs there, if any."""

    title: str
    blocks: Sequence[str | Table]
    plot: str | None = None


def summary_line(report: Report) -> str:
    """What was run on."""
    about = report.about
    names = ", ".join(source["name"] for source in about["files"])
    counts = f"{about['records']} records ({about['negatives']} negatives) on {about['observations']} outputs"
    return f"{names}: {counts}" if names else counts


def sections(report: Report) -> list[Section]:
    """The whole report, sections without content left out."""
    found = [
        *(_family(report, *family) for family in _FAMILIES),
        _published(report),
        _significance(report),
        _bias(report),
        _written(report),
        *_calibration(report),
        _time(report),
        *(_group(report, dimension) for dimension in _GROUP_TITLES),
        _provenance(report),
    ]
    return [section for section in found if section is not None]


def interval_note(report: Report) -> str | None:
    """How the intervals in square brackets were made; None where there are none."""
    about = report.about
    if not about["bootstrap"]:
        return None
    return (
        f"Square brackets: {round(100 * about['level'])} % percentile bootstrap intervals over "
        f"records, {about['bootstrap']} resamples, seed {about['seed']}."
    )


def group_value(report: Report, system: str, dimension: str, value: str, metric: str) -> float:
    """A system's mean of a metric in a group; NaN where it has none."""
    estimates = report[system].groups.get(dimension, {}).get(value, {})
    return estimates[metric].value if metric in estimates else math.nan


def group_sizes(report: Report, dimension: str) -> dict[str, int]:
    """The values of a dimension in their order, and how many records have each."""
    for system in report.systems.values():
        return {v: e["squeez.span_f1"].records for v, e in system.groups.get(dimension, {}).items()}
    return {}


_FAMILIES = (
    ("Squeez line metrics", _SQUEEZ, None),
    ("Scoring-recipe metrics (whitespace tokens)", _RECIPE, None),
    (
        "Pruning metrics",
        _PRUNING,
        "Recall at a share dropped: the share of gold lines left when that share of every observation's lines, the "
        "lowest scored, is dropped.",
    ),
)


def _family(report: Report, title: str, columns: Iterable[tuple[str, str]], note: str | None) -> Section:
    rows = [[name, *(long(s.overall[metric]) for _, metric in columns)] for name, s in report.systems.items()]
    table = Table(["system", *(heading for heading, _ in columns)], rows)
    return Section(title, [note, table] if note else [table], "recall" if columns is _PRUNING else None)


def _published(report: Report) -> Section | None:
    if not report.published:
        return None
    head = ["system (published)", *(key.replace("_", " ") for key in _PUBLISHED_KEYS)]
    rows = [[row.system, *(plain(getattr(row, key), 4) for key in _PUBLISHED_KEYS)] for row in report.published]
    return Section("Published figures", [PUBLISHED_NOTE, Table(head, rows)])


def _significance(report: Report) -> Section | None:
    if not report.comparisons:
        return None
    first = next(iter(report.systems))
    rows = []
    for other in list(report.systems)[1:]:
        row = [other]
        for metric in report.comparisons:
            difference, adjusted = report.comparisons[metric][other]
            if math.isnan(difference.p):
                row += [plain(difference.value, 4), "–"]
            else:
                row += [
                    f"{difference.value:+.4f} [{difference.low:+.3f}, {difference.high:+.3f}]",
                    f"{adjusted:.4f}",
                ]
        rows.append(row)
    head = [f"{first} against"]
    for metric in report.comparisons:
        head += [f"{_METRIC_NAMES[metric]}: more by", "p"]
    note = (
        "Paired: both systems on the same records. Intervals resample whole observations; p is that of a sign-flip "
        "test over observations, adjusted for the number of systems (Holm)."
    )
    return Section("Paired significance", [note, Table(head, rows)])


def _bias(report: Report) -> Section | None:
    rows = []
    for name, system in report.systems.items():
        for kind, curve in system.bias_curves.items():
            row = [name, "as it is" if kind == "absolute" else "below the best line"]
            for step in _BIAS_STEPS:
                # The curve falls in compression: the last point that still drops so much.
                reached = [point for point in curve if point[1] >= step]
                row.append(f"{reached[-1][2]:.3f} ({reached[-1][0]:.3g})" if reached else "–")
            rows.append(row)
    if not rows:
        return None
    note = (
        "One bias for all observations: a line stays where its score, or its distance from the observation's best "
        "score, is at least the bias. Recall of gold lines (and the bias) at which the mean share of lines dropped is "
        "still at least the one above."
    )
    head = ["system", "score", *(f"{round(100 * step)} % dropped" for step in _BIAS_STEPS)]
    return Section("Recall against compression, every bias", [note, Table(head, rows)], "bias")


def _written(report: Report) -> Section | None:
    writing = {name: system.written for name, system in report.systems.items() if system.written is not None}
    if not writing:
        return None
    rows = [
        [
            name,
            str(w.lines),
            percent(w.exact),
            percent(w.normalised),
            percent(w.hallucinated),
            percent(w.records_hallucinated),
            percent(w.explained),
            str(w.cut),
            str(w.failed),
            ", ".join(f"{form} {count}" for form, count in w.forms.items()) or "–",
            plain(w.prompt_tokens, 0),
            plain(w.completion_tokens, 0),
        ]
        for name, w in writing.items()
    ]
    head = [
        "system",
        "lines written",
        "exact",
        "but for white space",
        "hallucinated",
        "records with such",
        "negatives explained",
        "cut",
        "too long",
        "form",
        "prompt tokens",
        "completion tokens",
    ]
    note = (
        "What generative systems wrote. A hallucinated line stands nowhere in the observation; an explanation in the "
        "place of an empty answer counts as such. These lines are predicted, and wrong, in all tables. Cut: stopped "
        "by the token limit. Too long for the model's context: nothing is dropped there. Tokens per record."
    )
    return Section("Written lines", [note, Table(head, rows)])


def _calibration(report: Report) -> list[Section]:
    blocks: list[str | Table] = []
    for kind, meaning in _CALIBRATED.items():
        stated = {name: s.calibration[kind] for name, s in report.systems.items() if kind in s.calibration}
        if not stated:
            continue
        blocks.append(f"Probability {meaning}.")
        rows = [
            [name, str(c.count), plain(c.base_rate, 4), plain(c.ece, 4), plain(c.brier, 4), plain(c.auc, 4)]
            for name, c in stated.items()
        ]
        blocks.append(Table(["system", "cases", "came true", "ECE", "Brier", "AUC"], rows))
        for name, c in stated.items():
            rows = [
                [f"{name}: {b.low:.1f} to {b.high:.1f}", str(b.count), f"{b.stated:.3f}", f"{b.observed:.3f}"]
                for b in c.bins
            ]
            blocks.append(Table(["stated", "cases", "mean stated", "came true"], rows))
    return [Section("Calibration", blocks, "calibration")] if blocks else []


def _time(report: Report) -> Section:
    rows = [
        [
            name,
            str(s.records),
            f"{s.seconds:.2f}",
            f"{1e3 * s.seconds_per_observation:.3g}",
            f"{1e3 * s.timing.median:.3g}",
            f"{1e3 * s.timing.p95:.3g}",
            f"{1000 * s.seconds_per_observation:.4g}",
            "–" if s.timing.cost is None else f"{s.timing.cost:.4g}",
            _tokens(s),
            str(s.timing.cached),
        ]
        for name, s in report.systems.items()
    ]
    head = [
        "system",
        "records",
        "seconds",
        "ms per observation",
        "median ms",
        "95th percentile ms",
        "seconds per 1,000",
        "US dollars per 1,000",
        "tokens per 1,000",
        "from an earlier run",
    ]
    note = (
        "Wall time of this run on the machine below; latencies are those of the requests where a server answers. "
        "Times, and costs that rest on them, are no part of the figures' digest."
    )
    return Section("Time", [note, Table(head, rows)])


def _tokens(system: SystemReport) -> str:
    if system.written is None or math.isnan(system.written.prompt_tokens):
        return "–"
    return f"{1000 * (system.written.prompt_tokens + system.written.completion_tokens):,.0f}"


def _group(report: Report, dimension: str) -> Section | None:
    sizes = group_sizes(report, dimension)
    if not sizes:
        return None
    names = list(report.systems)
    head = [_GROUP_HEADS.get(dimension, dimension.replace("_", " ")), "records"]
    head += [f"{name} {heading}" for heading, _ in _GROUP for name in names]
    rows = []
    for value, size in sizes.items():
        row = [value, str(size)]
        for _, metric in _GROUP:
            row += [long(report[name].groups[dimension][value][metric]) for name in names]
        rows.append(row)
    return Section(_GROUP_TITLES[dimension], [Table(head, rows)])


def _provenance(report: Report) -> Section:
    about = report.about
    lines = [f"- machine: {about['machine']['cpu']}, {about['machine']['cores']} cores"]
    lines.append(f"- linecls {about['linecls']}, Python {about['machine']['python']}")
    if about["commit"]:
        lines.append(f"- commit: {about['commit']}")
    for source in about["files"]:
        lines.append(f"- records: {source['name']}, sha256 {source['sha256'] or 'unknown'}")
    for name, system in report.systems.items():
        settings = ", ".join(f"{key} {setting(value)}" for key, value in system.description.items())
        lines.append(f"- {name}: {settings or 'no parameters'}")
    lines.append(f"- figures: sha256 {report.figures_sha256()} (the same for every run that finds the same)")
    return Section("Provenance", ["\n".join(lines)])
