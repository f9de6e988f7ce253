"""Replay real commands with the queries an agent would ask: what is saved, and is anything lost?

  python eval/agent_replay.py                  # prints the table
  python eval/agent_replay.py -o eval/results  # and writes agent_replay.md and agent_replay.json
  python eval/agent_replay.py --show "make"    # one output, before and after
  python eval/agent_replay.py --show list      # no such name, so it lists them

Each command runs once, on projects that are made for it or on this repository, and its output goes the way that
`linecls run` and the hooks go: the recall-first default for agents and the tight one. Commands whose tool is not
installed are skipped. Exit status 1: a needed line or an error line was lost with the recall-first default, or a
command no longer prints the line that it is asked for.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from agent_cases import CASES, REPOSITORY, Case, environment, make_projects

import linecls
from linecls import provenance
from linecls.agent import MAX_BYTES, MIN_BYTES, PROFILES, shorten
from linecls.decoding import decode
from linecls.observation import Observation
from linecls.protection import failure_lines
from linecls.pruner import Pruner
from linecls.running import run
from linecls.spans import to_mask
from linecls.store import Store, parse_reference

_MARKER = re.compile(rb"^\[linecls: \d+ lines? omitted, linecls expand ([0-9a-f]+:\d+-\d+)\]\n", re.MULTILINE)
_ESCAPED = re.compile(rb"\[\\(\\*linecls:)", re.IGNORECASE)


@dataclass(frozen=True)
class Outcome:
    """One output under one profile.

    tokens: of what is shown; errors_lost: failure lines of the output that are not shown; needed: whether the
    needed line is shown; restored: whether expanding every marker gives the output back, byte for byte.
    """

    tokens: int
    lines: int
    errors_lost: int
    needed: bool
    restored: bool


@dataclass(frozen=True)
class Row:
    """One command: its output, and what the profiles make of it."""

    name: str
    command: str
    query: str
    lines: int
    tokens: int
    error_lines: int
    profiles: dict[str, Outcome]


def capture(case: Case, projects: Path) -> bytes | None:
    """The command's output, None when its tool is not installed."""
    if any(shutil.which(tool) is None for tool in case.tools):
        return None
    folder = REPOSITORY if case.folder == "." else projects / case.folder
    settings = [f"{key}={value}" for key, value in environment().items()]
    command = ["env", "-i", "-C", str(folder), *settings, "sh", "-c", case.command]
    return run(command, max_bytes=MAX_BYTES, overflow=lambda piece: None, timeout=300).output


def replay(case: Case, raw: bytes, pruner: Pruner, store: Store) -> tuple[Row, dict[str, bytes]]:
    """The row of a command's output, and what is shown of it by profile."""
    observation = Observation.of(raw)
    failures = failure_lines(observation.lines)
    outcomes, texts = {}, {}
    answer = pruner.prune(case.query, raw)
    for name, profile in PROFILES.items():
        if len(raw) < MIN_BYTES:
            shown, spans, text = np.ones(len(observation), dtype=bool), [], raw
        else:
            point = pruner.artifact.operating_point(_point(pruner, profile.operating_point))
            found = decode(answer.keep_logits, point, answer.answerable)
            shortened = shorten(raw, found, profile.protection, store=store)
            spans, text = shortened.spans, shortened.text
            shown = _shown(text, to_mask(spans, len(observation)))
        outcomes[name] = Outcome(
            tokens=_tokens(pruner, text),
            lines=int(shown.sum()),
            errors_lost=int((failures & ~shown).sum()),
            needed=any(_needs(case, line) for line, kept in zip(observation.lines, shown, strict=True) if kept),
            restored=_restore(text, store) == raw,
        )
        texts[name] = text
    row = Row(
        name=case.name,
        command=case.command,
        query=case.query,
        lines=len(observation),
        tokens=_tokens(pruner, raw),
        error_lines=int(failures.sum()),
        profiles=outcomes,
    )
    return row, texts


def _point(pruner: Pruner, name: str | None) -> str | None:
    return name if name in pruner.artifact.operating_points else None


def _needs(case: Case, line: str) -> bool:
    return re.search(case.needed, line.rstrip("\r\n")) is not None


def _shown(text: bytes, kept: np.ndarray) -> np.ndarray:
    """Mask of the lines that stand in the text: the kept ones, and the runs that no marker replaces."""
    shown = np.ones(len(kept), dtype=bool)
    for reference in _MARKER.findall(text):
        span = parse_reference(reference.decode()).span
        assert span is not None
        assert not kept[span.start_line - 1 : span.end_line].any()
        shown[span.start_line - 1 : span.end_line] = False
    return shown


def _restore(text: bytes, store: Store) -> bytes:
    """The output again: every marker expanded, every escape undone."""
    parts, position = [], 0
    for match in _MARKER.finditer(text):
        parts.append(_ESCAPED.sub(rb"[\1", text[position : match.start()]))
        parts.append(store.expand(parse_reference(match.group(1).decode())))
        position = match.end()
    return b"".join(parts) + _ESCAPED.sub(rb"[\1", text[position:])


def _tokens(pruner: Pruner, text: bytes) -> int:
    """Tokens of the model's own tokenizer, line by line."""
    lines = text.decode("utf-8", "replace").splitlines()
    encodings = pruner.encoder.tokenizer.encode_batch(lines, add_special_tokens=False)
    return sum(len(encoding.ids) for encoding in encodings)


def to_markdown(about: dict[str, Any], rows: list[Row]) -> str:
    """The table, with totals, as Markdown."""
    out = ["# Agent replay", "", _summary(about, rows), ""]
    head = ["command", "query", "lines", "tokens", "error lines"]
    head += [f"{name} {what}" for name in PROFILES for what in ("tokens", "errors lost", "needed line")]
    out += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = [row.name, row.query, str(row.lines), str(row.tokens), str(row.error_lines)]
        for name in PROFILES:
            outcome = row.profiles[name]
            cells += [str(outcome.tokens), str(outcome.errors_lost), "yes" if outcome.needed else "**no**"]
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    totals = ["all", "", *(str(sum(getattr(row, key) for row in rows)) for key in ("lines", "tokens", "error_lines"))]
    for name in PROFILES:
        found = [row.profiles[name] for row in rows]
        totals += [str(sum(o.tokens for o in found)), str(sum(o.errors_lost for o in found))]
        totals.append(f"{sum(o.needed for o in found)} of {len(rows)}")
    out.append("| " + " | ".join(totals) + " |")
    if about["skipped"]:
        out += ["", f"Skipped, for their tool is not installed: {', '.join(about['skipped'])}."]
    out += [
        "",
        "Tokens are those of the model's tokenizer. Outputs under "
        f"{MIN_BYTES} bytes are shown as they are. Command: `python eval/agent_replay.py -o eval/results`.",
    ]
    return "\n".join(out) + "\n"


def _summary(about: dict[str, Any], rows: list[Row]) -> str:
    before = sum(row.tokens for row in rows)
    parts = [f"{len(rows)} commands, {before} tokens of output."]
    for name in PROFILES:
        found = [row.profiles[name] for row in rows]
        after = sum(outcome.tokens for outcome in found)
        parts.append(
            f"{name}: {after} tokens ({1 - after / max(before, 1):.0%} saved),"
            f" {sum(o.errors_lost for o in found)} error lines lost,"
            f" {sum(o.needed for o in found)} of {len(rows)} needed lines shown,"
            f" {sum(o.restored for o in found)} outputs restored byte for byte from their markers."
        )
    machine = about["machine"]
    parts.append(
        f"Model {about['model']}, linecls {about['linecls']}, commit {about['commit'] or 'unknown'};"
        f" {machine['cpu']}, {machine['cores']} cores."
    )
    return " ".join(parts)


@click.command(help=__doc__.replace("\n  python", "\n\n\b\n  python", 1) if __doc__ else None)
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for the two files.")
@click.option(
    "--show",
    metavar="NAME",
    help="Print one output, and what each profile shows of it. NAME is one of the first column of the table; one that"
    " is none lists them.",
)
@click.option("--model", help="Model directory, in place of the embedded model.")
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads.")
def main(output: Path | None, show: str | None, model: str | None, threads: int | None) -> None:
    """Run the replay."""
    cases = [case for case in CASES if show in (None, case.name)]
    if not cases:
        names = "".join(f"\n  {case.name}" for case in CASES)
        raise click.BadParameter(f"no case is called {show!r}; the cases are:{names}", param_hint="--show")
    pruner = Pruner.from_pretrained(model, threads=threads)
    rows, skipped, faults = [], [], []
    with tempfile.TemporaryDirectory(prefix="linecls-replay-") as scratch:
        make_projects(Path(scratch))
        store = Store(Path(scratch) / "outputs")
        for case in cases:
            raw = capture(case, Path(scratch))
            if raw is None:
                skipped.append(case.name)
                continue
            row, texts = replay(case, raw, pruner, store)
            rows.append(row)
            faults += _faults(case, raw, row)
            outcome = row.profiles["recall"]
            click.echo(f"{case.name}: {row.tokens} -> {outcome.tokens} tokens", err=True)
            if show is not None:
                for title, text in {"output": raw, **texts}.items():
                    click.echo(f"----- {title}")
                    sys.stdout.flush()
                    sys.stdout.buffer.write(text)
    artifact = pruner.artifact
    about = {
        "linecls": linecls.__version__,
        "model": f"{artifact.name} {artifact.version}",
        "commit": provenance.commit(),
        "machine": provenance.machine(),
        "skipped": skipped,
    }
    report = to_markdown(about, rows)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        (output / "agent_replay.md").write_text(report, encoding="utf-8")
        values = {"about": about, "rows": [asdict(row) for row in rows]}
        (output / "agent_replay.json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    elif show is None:
        click.echo(report, nl=False)
    for fault in faults:
        click.echo(fault, err=True)
    sys.exit(1 if faults else 0)


def _faults(case: Case, raw: bytes, row: Row) -> list[str]:
    """What must not be, one line each."""
    outcome = row.profiles["recall"]
    found = []
    if not any(_needs(case, line) for line in Observation.of(raw).lines):
        found.append(f"{case.name}: the command does not print the needed line {case.needed!r}")
    elif not outcome.needed:
        found.append(f"{case.name}: the needed line is not shown")
    if outcome.errors_lost:
        found.append(f"{case.name}: {outcome.errors_lost} error lines are not shown")
    if not all(each.restored for each in row.profiles.values()):
        found.append(f"{case.name}: expanding the markers does not give the output back")
    return found


if __name__ == "__main__":
    main()
