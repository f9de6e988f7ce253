"""What protecting failure lines keeps, and what it costs in compression, on labelled records.

  python eval/protection.py test.jsonl.gz
  python eval/protection.py test.jsonl.gz --predictions report/predictions.jsonl -o eval/results
  python eval/protection.py test.jsonl.gz --audit 40

The predictions are those that `linecls eval RECORDS --system linecls --report DIR` writes; without them the coverage
alone is measured, which takes no model. Two figures need no trust in the rules that they judge: how many of the lines
that the labels point at and that speak of failure are protected, and, with --audit, a sample of the lines that speak
of failure and are not.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from linecls import provenance
from linecls.observation import Observation
from linecls.protection import Protection, failure_lines
from linecls.records import Record, load_records
from linecls.spans import Span, to_mask

# Looser than the rules on purpose: any word of failure, wherever it stands.
_SPEAKS = re.compile(
    r"error|exception|\bfail|fatal|panic|traceback|\bdenied|refused|\babort|segfault|core dumped|✗|✕|✖", re.IGNORECASE
)
# Texts that quote failures rather than report them.
_QUOTING = ("read_file", "grep", "git_log", "git_diff", "git_blame", "diff", "config", "json", "ls", "curl")


class Output:
    """One observation with the masks [L] of its failure lines and of the lines that some label points at."""

    def __init__(self, record: Record) -> None:
        self.tool_type = record.tool_type
        self.observation = Observation.of(record.tool_output)
        self.failures = failure_lines(self.observation.lines)
        self.gold = np.zeros(len(self.observation), dtype=bool)
        self.speaks = np.array([_SPEAKS.search(line) is not None for line in self.observation.lines], dtype=bool)

    @property
    def quotes(self) -> bool:
        """Whether it shows a document rather than what a program reports."""
        return self.tool_type in _QUOTING


def outputs_of(records: list[Record]) -> dict[str, Output]:
    """Each distinct tool output of the records."""
    outputs: dict[str, Output] = {}
    for record in records:
        if record.tool_output not in outputs:
            outputs[record.tool_output] = Output(record)
        output = outputs[record.tool_output]
        output.gold |= to_mask(record.gold_spans, len(output.observation))
    return outputs


def coverage(outputs: dict[str, Output]) -> dict[str, dict[str, int]]:
    """Per tool type: outputs, lines, failure lines, and labelled lines that speak of failure, protected or not."""
    table: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for output in outputs.values():
        for key in (output.tool_type, "programs" if not output.quotes else "documents", "all"):
            row = table[key]
            row["outputs"] += 1
            row["lines"] += len(output.observation)
            row["failure_lines"] += int(output.failures.sum())
            row["labelled"] += int((output.gold & output.speaks).sum())
            row["labelled_protected"] += int((output.gold & output.speaks & output.failures).sum())
    return {key: dict(table[key]) for key in sorted(table, key=lambda k: (k in ("programs", "documents", "all"), k))}


def cost(records: list[Record], outputs: dict[str, Output], predictions: dict[str, list[Span]]) -> dict[str, Any]:
    """Over the records: lines removed, labelled lines found and failure lines lost, for some protections.

    Means over records; recall over the records with an answer.
    """
    protections = {
        "none": Protection(),
        "errors": Protection(errors=True),
        "errors, context 1, edges 2": Protection(errors=True, context=1, edges=2),
    }
    result = {}
    for name, protection in protections.items():
        removed, recall, lost, missing = [], [], 0, 0
        for record in records:
            if record.instance_id not in predictions:
                missing += 1
                continue
            output = outputs[record.tool_output]
            total = len(output.observation)
            kept = to_mask(protection.apply(output.observation, predictions[record.instance_id]), total)
            gold = to_mask(record.gold_spans, total)
            removed.append(1 - kept.mean() if total else 0.0)
            lost += int((output.failures & ~kept).sum())
            if gold.any():
                recall.append((gold & kept).sum() / gold.sum())
        if missing:
            raise click.ClickException(f"{missing} of {len(records)} records have no prediction")
        result[name] = {
            "lines_removed": float(np.mean(removed)),
            "recall": float(np.mean(recall)) if recall else None,
            "failure_lines_lost": lost,
        }
    return result


def read_predictions(path: Path, system: str) -> dict[str, list[Span]]:
    """The spans by instance of one system in a predictions.jsonl."""
    found = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["system"] == system:
                found[row["instance_id"]] = [Span(span["start_line"], span["end_line"]) for span in row["spans"]]
    return found


def to_markdown(values: dict[str, Any]) -> str:
    """The tables as Markdown."""
    out = ["# Protection of failure lines", ""]
    out += [
        f"{values['records']} records, commit {values['commit'] or 'unknown'}, data: {values['source']['name']}.",
        "",
    ]
    if values["cost"]:
        out += ["| protection | lines removed | recall of labelled lines | failure lines lost |", "|---|---|---|---|"]
        for name, row in values["cost"].items():
            recall = "–" if row["recall"] is None else f"{row['recall']:.3f}"
            out.append(f"| {name} | {row['lines_removed']:.3f} | {recall} | {row['failure_lines_lost']} |")
        out.append("")
    out += [
        "| tool type | outputs | lines | failure lines | share | labelled lines that speak of failure | protected |"
    ]
    out.append("|" + "---|" * 7)
    for name, row in values["coverage"].items():
        share = row["failure_lines"] / max(row["lines"], 1)
        cells = [name, row["outputs"], row["lines"], row["failure_lines"], f"{share:.1%}", row["labelled"]]
        out.append("| " + " | ".join(map(str, [*cells, row["labelled_protected"]])) + " |")
    out += ["", "Command: `python eval/protection.py RECORDS [--predictions FILE] -o eval/results`."]
    return "\n".join(out) + "\n"


@click.command(help=__doc__.replace("\n  python", "\n\n\b\n  python", 1) if __doc__ else None)
@click.argument("records", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--predictions", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="predictions.jsonl")
@click.option("--system", default="linecls", show_default=True, help="Whose predictions.")
@click.option(
    "--audit", type=click.IntRange(min=0), default=0, help="Print so many unprotected lines that speak of failure."
)
@click.option("--seed", default=0, show_default=True, help="Of that sample.")
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for protection.md and .json."
)
def main(records: Path, predictions: Path | None, system: str, audit: int, seed: int, output: Path | None) -> None:
    """Measure and print."""
    labelled = list(load_records(records))
    outputs = outputs_of(labelled)
    values = {
        "records": len(labelled),
        "source": provenance.source(records),
        "commit": provenance.commit(),
        "machine": provenance.machine(),
        "coverage": coverage(outputs),
        "cost": cost(labelled, outputs, read_predictions(predictions, system)) if predictions else None,
    }
    report = to_markdown(values)
    if output is None:
        click.echo(report, nl=False)
    else:
        output.mkdir(parents=True, exist_ok=True)
        (output / "protection.md").write_text(report, encoding="utf-8")
        (output / "protection.json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    if audit:
        missed = [
            f"{o.tool_type}: {line.rstrip()[:200]}"
            for o in outputs.values()
            if not o.quotes
            for line, speaks, found in zip(o.observation.lines, o.speaks, o.failures, strict=True)
            if speaks and not found
        ]
        for line in random.Random(seed).sample(missed, min(audit, len(missed))):
            click.echo(line)


if __name__ == "__main__":
    main()
