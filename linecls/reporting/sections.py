"""What a report says, section by section."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from linecls.evaluation import PUBLISHED_NOTE
from linecls.reporting.blocks import Block, Items, Section, Table, Terms
from linecls.reporting.cells import dollars, long, percent, plain, probability, setting, short, significant
from linecls.reporting.columns import (
    COMPARED,
    GROUPED,
    PRUNING,
    RECIPE,
    RECIPE_MICRO,
    SQUEEZ,
    SQUEEZ_MICRO,
    Column,
    terms,
)

if TYPE_CHECKING:
    from linecls.evaluation import Report, SystemReport

_GROUP_TITLES = {
    "answer": "With and without gold lines",
    "level": "By level",
    "lines": "By length of the observation",
    "position": "By position of the gold lines",
    "file": "By file",
    "tool_type": "By tool type",
}
_GROUP_HEADS = {"lines": "lines", "position": "gold lines in the", "tool_type": "tool type", "answer": "gold lines"}
_GROUP_NOTES = {
    "answer": "A record without gold lines is a negative: F1 is 1 for an empty answer and 0 for any other.",
    "position": "The third of the observation in which the middle of the gold lines lies.",
}
_PUBLISHED_KEYS = ("precision", "recall", "f1", "compression", "recall_at_50", "recall_at_70", "recall_at_90")
_PUBLISHED_HEADS = ("precision", "recall", "F1", "compression", "recall at 50 %", "recall at 70 %", "recall at 90 %")
_BIAS_STEPS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
_CALIBRATED = {
    "answerable": "that the observation answers the query, over records",
    "lines": "that a line is a gold line, over all lines",
}


def summary_line(report: Report) -> str:
    """What was run on."""
    about = report.about
    names = ", ".join(source["name"] for source in about["files"])
    counts = f"{about['records']} records ({about['negatives']} negatives) on {about['observations']} outputs"
    return (f"{names}: {counts}" if names else counts) + (f"; {about['sample']}" if about["sample"] else "")


def failure_lines(report: Report) -> list[str]:
    """The systems that could not be run to their end, and why."""
    return [
        f"{name} could not be run to its end and is left out: {why.removeprefix(f'{name}: ')}"
        for name, why in report.about["failed"].items()
    ]


def sections(report: Report) -> list[Section]:
    """The whole report, sections without content left out."""
    found = [
        _glance(report),
        _significance(report),
        _speed(report),
        _bias(report),
        _groups_at_a_glance(report),
        _written(report),
        _family(report, "Squeez line metrics", _SQUEEZ_NOTE, SQUEEZ, SQUEEZ_MICRO),
        _family(report, "Scoring-recipe metrics", _RECIPE_NOTE, RECIPE, RECIPE_MICRO),
        _family(report, "Pruning metrics", _PRUNING_NOTE, PRUNING),
        _published(report),
        _calibration(report),
        *(_group(report, dimension) for dimension in _GROUP_TITLES),
        _provenance(report),
    ]
    return [section for section in found if section is not None]


def interval_note(report: Report) -> str | None:
    """How the intervals were made; None where there are none."""
    about = report.about
    if not about["bootstrap"]:
        return None
    return (
        f"Square brackets: {round(100 * about['level'])} % percentile bootstrap intervals, {about['bootstrap']} "
        f"resamples of whole observations with all their queries, seed {about['seed']}; ±: half the width of one."
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


_SQUEEZ_NOTE = "As the evaluator of squeez 0.1.4 counts: stripped, non-blank line texts. Means over records."
_RECIPE_NOTE = (
    "The metrics of the published evaluation card, over whitespace tokens. Not to be mixed with those above: their "
    "compression compares with the gold text, not with the observation."
)
_PRUNING_NOTE = (
    "What matters when output is pruned. Recall at a share dropped needs scores, which a system that writes its "
    "answer does not have."
)


def _glance(report: Report) -> Section:
    """One row for each system, and the published ones below."""
    columns: list[tuple[str, list[str]]] = []
    systems = report.systems.values()

    def column(heading: str, cells: Sequence[str], published: Sequence[str] = ()) -> None:
        if any(cell != "–" for cell in (*cells, *published)):
            columns.append((heading, [*cells, *(published or ["–"] * len(report.published))]))

    for heading, metric, key in (
        ("precision", "squeez.span_precision", "precision"),
        ("recall", "squeez.span_recall", "recall"),
        ("F1", "squeez.span_f1", "f1"),
        ("lines dropped", "squeez.compression_corrected", "compression"),
        ("recall at 90 % dropped", "pruning.recall_at_90", "recall_at_90"),
        ("negatives left empty", "pruning.true_negative_empty", ""),
    ):
        has_interval = metric not in ("squeez.span_precision", "squeez.compression_corrected")
        cells = [short(s.overall[metric], has_interval) for s in systems]
        column(heading, cells, [plain(getattr(row, key)) if key else "–" for row in report.published])
    column("hallucinated lines", [percent(s.written.hallucinated) if s.written else "–" for s in systems])
    column("latency, ms", [significant(1e3 * s.timing.median) for s in systems])
    column("US dollars per 1,000", [dollars(s.timing.cost) for s in systems])
    names = [*report.systems, *(f"{row.system} †" for row in report.published)]
    rows = [[name, *(cells[i] for _, cells in columns)] for i, name in enumerate(names)]
    note = (
        "Precision, recall and F1 of line texts (Squeez line metrics), means over records. Recall at 90 % dropped: "
        "gold lines left when the lowest scored 90 % of every observation's lines are dropped. Latency: median of one "
        "observation asked alone."
    )
    blocks: list[Block] = [note, Table(["system", *(heading for heading, _ in columns)], rows)]
    if report.published:
        blocks.append(f"† {PUBLISHED_NOTE} Rows with and without † cannot be compared.")
    return Section("At a glance", blocks, "recall")


def _speed(report: Report) -> Section:
    rows = [
        [
            name,
            significant(1e3 * s.timing.median),
            significant(1e3 * s.timing.p95),
            str(s.timing.measured),
            significant(s.seconds_per_observation * 1000),
            _tokens(s),
            dollars(s.timing.cost),
            str(s.timing.cached),
        ]
        for name, s in report.systems.items()
    ]
    head = [
        "system",
        "median latency, ms",
        "95th percentile, ms",
        "measured on",
        "seconds per 1,000",
        "tokens per 1,000",
        "US dollars per 1,000",
        "from an earlier run",
    ]
    prices = report.about["prices"] or {}
    told = []
    if prices.get("hour") is not None:
        told.append(f"{prices['hour']:g} US dollars per hour of this machine")
    if prices.get("prompt") is not None:
        told.append(f"{prices['prompt']:g} and {prices['completion']:g} per million tokens of prompt and answer")
    note = (
        "On the machine named under Provenance. Latency: one observation asked alone; where a model writes the "
        "answer, its request as it was when it was made. Seconds per 1,000 observations: all records in a row, "
        "batched where the system batches, with the encoding of an observation shared by its queries where the "
        "system shares it. "
        f"Prices: {', '.join(told) if told else 'none given'}. No part of the figures' digest."
    )
    return Section("Speed and cost", [note, Table(head, rows)], "speed")


def _groups_at_a_glance(report: Report) -> Section | None:
    if all(len(group_sizes(report, dimension)) < 2 for dimension in ("level", "lines", "position", "tool_type")):
        return None
    return Section("Where systems are strong and weak", ["F1 of lines by group; the tables stand below."], "groups")


def _family(report: Report, title: str, note: str, columns: Sequence[Column], micro: Sequence[Column] = ()) -> Section:
    def table(of: Sequence[Column], caption: str | None = None) -> Table:
        rows = [[name, *(long(s.overall[column.metric]) for column in of)] for name, s in report.systems.items()]
        return Table(["system", *(column.heading for column in of)], rows, caption)

    blocks: list[Block] = [note, table(columns)]
    if micro:
        blocks.append(table(micro, "Micro averages: counts summed over all records"))
    return Section(title, [*blocks, Terms(terms(columns))])


def _published(report: Report) -> Section | None:
    if not report.published:
        return None
    head = ["system (published)", *_PUBLISHED_HEADS]
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
            value = "–" if math.isnan(difference.value) else f"{difference.value:+.3f}"
            if not math.isnan(difference.low):
                value += f" [{difference.low:+.3f}, {difference.high:+.3f}]"
            row += [value, probability(adjusted)]
        rows.append(row)
    head = [f"{first} against"]
    for metric in report.comparisons:
        head += [f"{COMPARED[metric]}: higher by", "p"]
    note = (
        f"How much higher {first} is, as the difference of means over the same records. Intervals resample whole "
        "observations. p: two-sided sign-flip test over observations, adjusted for the number of systems (Holm); a "
        "small one says that the difference is not by chance, not that it is large."
    )
    return Section("Is the difference real?", [note, Table(head, rows)])


def _bias(report: Report) -> Section | None:
    rows = []
    for name, system in report.systems.items():
        for kind, curve in system.bias_curves.items():
            row = [name, "as it is" if kind == "absolute" else "below the best"]
            for step in _BIAS_STEPS:
                # The curve falls in compression: the last point that still drops so much.
                reached = [point for point in curve if point[1] >= step]
                row.append(f"{reached[-1][2]:.3f} at {reached[-1][0]:.3g}" if reached else "–")
            rows.append(row)
    if not rows:
        return None
    note = (
        "One bias for all observations: a line stays where its score is at least the bias; or where its distance from "
        "the observation's best score is. Each cell: recall of gold lines, and the bias, at which the mean share of "
        "lines dropped is still at least the one above. Lines of equal score go together, so a score with many ties "
        "may jump past a share. `linecls tune` finds the point for a target on your records."
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


def _calibration(report: Report) -> Section | None:
    blocks: list[Block] = []
    details: list[Table] = []
    for kind, meaning in _CALIBRATED.items():
        stated = {name: s.calibration[kind] for name, s in report.systems.items() if kind in s.calibration}
        if not stated:
            continue
        rows = [
            [name, f"{c.count:,}", plain(c.base_rate, 4), plain(c.ece, 4), plain(c.brier, 4), plain(c.auc, 4)]
            for name, c in stated.items()
        ]
        head = ["system", "cases", "came true", "ECE", "Brier", "AUC"]
        blocks.append(Table(head, rows, f"Probability {meaning}"))
        for name, c in stated.items():
            rows = [
                [f"{b.low:.1f} to {b.high:.1f}", f"{b.count:,}", f"{b.stated:.3f}", f"{b.observed:.3f}"] for b in c.bins
            ]
            caption = f"{name}: probability {meaning}, by what was stated"
            details.append(Table(["stated", "cases", "mean stated", "came true"], rows, caption, is_detail=True))
    if not blocks:
        return None
    note = (
        "Whether a stated probability is the share of cases in which it comes true. ECE: expected calibration error "
        "over ten bins, 0 is best; Brier: mean squared error, 0 is best; AUC: whether the order is right, 1 is best. "
        "Only the order of the lines' probabilities decides what is kept at a given compression."
    )
    return Section("Calibration", [note, *blocks, *details], "calibration")


def _tokens(system: SystemReport) -> str:
    if system.written is None or math.isnan(system.written.prompt_tokens):
        return "–"
    return f"{1000 * (system.written.prompt_tokens + system.written.completion_tokens):,.0f}"


def _group(report: Report, dimension: str) -> Section | None:
    sizes = group_sizes(report, dimension)
    if not sizes:
        return None
    tables = []
    for column in GROUPED:
        cells = {
            name: [short(s.groups[dimension][value][column.metric], with_interval=True) for value in sizes]
            for name, s in report.systems.items()
        }
        cells = {name: own for name, own in cells.items() if any(cell != "–" for cell in own)}
        if cells:
            head = [_GROUP_HEADS.get(dimension, dimension), "records", *cells]
            rows = [[v, str(n), *(own[i] for own in cells.values())] for i, (v, n) in enumerate(sizes.items())]
            tables.append(Table(head, rows, column.heading, is_detail=bool(tables)))
    note = _GROUP_NOTES.get(dimension)
    return Section(_GROUP_TITLES[dimension], [*([note] if note else []), *tables])


def _provenance(report: Report) -> Section:
    about = report.about
    lines = [f"machine: {about['machine']['cpu']}, {about['machine']['cores']} cores"]
    lines.append(f"linecls {about['linecls']}, Python {about['machine']['python']}")
    if about["commit"]:
        lines.append(f"commit: {about['commit']}")
    for source in about["files"]:
        lines.append(f"records: {source['name']}, sha256 {source['sha256'] or 'unknown'}")
    for name, system in report.systems.items():
        settings = ", ".join(f"{key} {setting(value)}" for key, value in system.description.items())
        lines.append(f"{name}: {settings or 'no parameters'}")
    lines.append(f"figures: sha256 {report.figures_sha256()} (the same for every run that finds the same)")
    return Section("Provenance", [Items(lines)])
