"""The columns of the tables: heading, metric, and what it means in a sentence. docs/metrics.md has the formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Column(NamedTuple):
    """A metric under its heading; an empty meaning: a column above it has the same one."""

    heading: str
    metric: str
    meaning: str


SQUEEZ = (
    Column("precision", "squeez.span_precision", "share of the kept line texts that are gold"),
    Column("recall", "squeez.span_recall", "share of the gold line texts that are kept"),
    Column("F1", "squeez.span_f1", "harmonic mean of the two, of each record"),
    Column("exact", "squeez.exact_match", "share of records whose kept texts are the gold ones"),
    Column("fuzzy F1", "squeez.fuzzy_span_f1", "F1 of lines paired one to one if half of their bigrams agree"),
    Column("partial", "squeez.partial_overlap", "share of the gold characters that the nearest kept line covers"),
    Column("empty acc.", "squeez.empty_accuracy", "share of records rightly left empty or rightly not"),
    Column("ROUGE-L", "squeez.rouge_l", "longest common subsequence of words, as F1; 0 for a rightly empty answer"),
    Column("ROUGE-L corr.", "squeez.rouge_l_corrected", "the same with 1 for a rightly empty answer"),
    Column("compression", "squeez.compression", "share of lines dropped, as squeez 0.1.4 counts them"),
    Column(
        "compression corr.",
        "squeez.compression_corrected",
        "share of lines dropped, 1 for an empty answer",
    ),
)
SQUEEZ_MICRO = (
    Column("precision", "micro.precision", "of the line texts of all records together"),
    Column("recall", "micro.recall", ""),
    Column("F1", "micro.f1", ""),
)
RECIPE = (
    Column("exact", "recipe.exact", "share of records whose tokens are the gold ones"),
    Column("precision", "recipe.precision", "share of the kept tokens that are gold, with their counts"),
    Column("recall", "recipe.recall", "share of the gold tokens that were kept"),
    Column("F1", "recipe.f1", "harmonic mean of the two, of each record"),
    Column("compression", "recipe.compression", "1 - kept / gold tokens: below 0 where more is kept than asked for"),
    Column("strict F1", "recipe.strict_f1", "F1 of whole spans with the very same first and last line"),
)
RECIPE_MICRO = (
    Column("precision", "micro.recipe_precision", "of the tokens of all records together"),
    Column("recall", "micro.recipe_recall", ""),
    Column("F1", "micro.recipe_f1", ""),
    Column("compression", "micro.recipe_compression", ""),
)
PRUNING = (
    Column(
        "recall at 50 %", "pruning.recall_at_50", "gold lines left when so many lines, the lowest scored, are dropped"
    ),
    Column("recall at 70 %", "pruning.recall_at_70", ""),
    Column("recall at 90 %", "pruning.recall_at_90", ""),
    Column("token compression", "pruning.token_compression", "share of whitespace tokens dropped, mean over records"),
    Column("the same, micro", "micro.token_compression", "of all tokens together"),
    Column("negatives left empty", "pruning.true_negative_empty", "share of unanswerable queries that got no line"),
    Column("positives left empty", "pruning.positive_empty", "share of answerable queries that got no line"),
    Column("error lines lost", "micro.error_lines_lost", "share of all lines that report a failure, gold or not"),
    Column("gold error lines lost", "micro.gold_error_lines_lost", "share of the gold ones among them"),
)
#: Per group: a table each.
GROUPED = (
    Column("F1 of lines (Squeez)", "squeez.span_f1", ""),
    Column("F1 of tokens (scoring recipe)", "recipe.f1", ""),
    Column("Recall of lines (Squeez)", "squeez.span_recall", ""),
    Column("Share of lines dropped", "squeez.compression_corrected", ""),
    Column("Recall of gold lines with 90 % of the lines dropped", "pruning.recall_at_90", ""),
)
COMPARED = {
    "squeez.span_f1": "F1",
    "squeez.span_recall": "recall",
    "pruning.line_recall": "recall by position",
    "pruning.recall_at_90": "recall at 90 %",
}


def terms(columns: Sequence[Column]) -> list[tuple[str, str]]:
    """Headings and meanings, columns of one meaning together."""
    found: list[tuple[str, str]] = []
    for column in columns:
        if column.meaning:
            found.append((column.heading, column.meaning))
        else:
            found[-1] = (f"{found[-1][0]}, {column.heading}", found[-1][1])
    return found
