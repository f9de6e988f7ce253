"""What a very long observation costs, and whether cutting it into segments costs quality.

\b
  python eval/long_observation.py                                   # 1,000,000 lines, 100 MB
  python eval/long_observation.py --lines 20000 --bytes 2000000     # a quick look
  python eval/long_observation.py --records test.jsonl.gz           # and quality: segments against one whole

Cost: a log of our own making, every line different from all others, through `Pruner.prune` in a process of its own, at
a tenth of the length and at the whole. Memory above the model is the highest resident memory while pruning, the
observation's bytes included, over what the process holds with the model loaded. Time is linear in the length
when ten times the lines take ten times as long, and when the last tenth of the lines goes as fast as the first.

Quality: the records are answered twice, segment by segment and with all lines in one segment, as they stand (records
of more than --long lines, with segments far shorter than those that ship), and put between other observations of the
file until they have --buried lines (with the segments that ship).
"""

from __future__ import annotations

import json
import math
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).parent
QUERY = "which disk is full"
NEEDLE = "kernel: /dev/sdb1 is full, no space is left for the journal of the database"
_WORDS = ("worker", "request", "served", "cache", "index", "shard", "queue", "session", "token", "user", "order")
_WORDS += ("invoice", "export", "batch", "retry", "latency", "connection", "pool", "socket", "handler", "route")
_WORDS += ("upstream", "header", "cookie", "payload", "schema", "column", "table", "commit", "replica", "tenant")
_PART = 10  # the shorter of the two runs has one line of so many
_SHORT_SEGMENTS = (64, 128)  # lines
_WHOLE = 1 << 30  # lines of a segment that holds everything
_DROPPED = 0.9


@click.command(help=__doc__)
@click.option("--lines", default=1_000_000, show_default=True, type=click.IntRange(min=2000))
@click.option("--bytes", "size", default=100_000_000, show_default=True, type=click.IntRange(min=1))
@click.option("--model", type=click.Path(exists=True, file_okay=False, path_type=Path), help="[default: the embedded]")
@click.option("--threads", type=click.IntRange(min=1), help="[default: the physical cores]")
@click.option(
    "--records", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Compare quality on these."
)
@click.option(
    "--long", "long_", default=256, show_default=True, type=click.IntRange(min=130), help="A long record, lines."
)
@click.option(
    "--buried", default=2500, show_default=True, type=click.IntRange(min=1), help="Lines to bury a record in."
)
@click.option("--limit", default=150, show_default=True, type=click.IntRange(min=1), help="Records compared, at most.")
@click.option("--cost/--no-cost", default=True, show_default=True, help="Measure memory and time.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=HERE / "results" / "long_observation")
def main(
    *,
    lines: int,
    size: int,
    model: Path | None,
    threads: int | None,
    records: Path | None,
    long_: int,
    buried: int,
    limit: int,
    cost: bool,
    out: Path,
) -> None:
    from linecls import __version__, provenance
    from linecls.artifact import Artifact, embedded

    artifact = Artifact.read(model or embedded())
    result: dict[str, Any] = {
        "about": {
            "machine": provenance.measured_on(),
            "model": f"{artifact.name} {artifact.version}",
            "versions": {"linecls": __version__, "python": platform.python_version()},
            "segment_lines": artifact.encoding.max_lines,
            "overlap_lines": artifact.encoding.overlap_lines,
        }
    }
    if cost:
        runs = []
        for count, length in ((lines // _PART, size // _PART), (lines, size)):
            click.echo(f"pruning {count:,} lines, {length / 1e6:.1f} MB", err=True)
            runs.append(in_own_process(count, length, artifact.directory, threads))
        result["cost"] = {"runs": runs, **fit(runs)}
    if records is not None:
        result["quality"] = quality(artifact, records, long_, buried, limit, threads)
    text = as_markdown(result)
    out.mkdir(parents=True, exist_ok=True)
    (out / "long_observation.json").write_text(json.dumps(result, indent=2) + "\n")
    (out / "long_observation.md").write_text(text)
    click.echo(text, nl=False)


# --- cost -----------------------------------------------------------------------------------------------------


def write_log(path: Path, lines: int, size: int) -> None:
    """A log of so many lines and about so many bytes; no two lines are equal; `NEEDLE` stands at three quarters."""
    chance = random.Random(lines)
    room = max(size // lines - 1, 0)
    with path.open("w") as file:
        for number in range(lines):
            if number == 3 * lines // 4:
                file.write(f"{NEEDLE}\n")
                continue
            words = [f"{number:08x}"]
            length = len(words[0])
            while length < room:
                word = chance.choice(_WORDS) if chance.random() < 0.85 else str(chance.randrange(100_000))
                words.append(word)
                length += len(word) + 1
            file.write(" ".join(words)[: max(room, len(words[0]))] + "\n")


def in_own_process(lines: int, size: int, model: Path, threads: int | None) -> dict[str, Any]:
    """Figures of one run; see `measure`."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        write_log(log, lines, size)
        settings = json.dumps({"log": str(log), "model": str(model), "threads": threads})
        command = [sys.executable, __file__, "measure", settings]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode:
        raise click.ClickException(f"the run over {lines:,} lines failed; the reason stands above")
    return json.loads(run.stdout)


def measure(settings: dict[str, Any]) -> dict[str, Any]:
    """Load the model, then prune the log."""
    from linecls.pruner import Pruner

    pruner = Pruner.from_pretrained(settings["model"], device="cpu", threads=settings["threads"])
    log = Path(settings["log"])
    model = resident()
    has_reset = reset_peak()
    marks: list[tuple[float, int]] = []
    begun = time.perf_counter()
    raw = log.read_bytes()
    pruning = pruner.prune(
        QUERY, raw, max_lines=20, progress=lambda done, _: marks.append((time.perf_counter() - begun, done))
    )
    seconds = time.perf_counter() - begun
    highest = peak()
    sample = raw[: 1 << 20].decode().split("\n")
    encode = pruner.encoder.tokenizer.encode_batch
    per_line = sum(len(e.ids) for e in encode(sample, add_special_tokens=False)) / len(sample)
    tenth = pruning.total_lines / 10
    return {
        "lines": pruning.total_lines,
        "bytes": len(raw),
        "seconds": seconds,
        "lines_per_second": pruning.total_lines / seconds,
        "tokens_per_line": per_line,
        "tokens_per_second": per_line * pruning.total_lines / seconds,
        "first_tenth_tokens_per_second": per_line * _rate(marks, 0, tenth),
        "last_tenth_tokens_per_second": per_line * _rate(marks, 9 * tenth, 10 * tenth),
        "model_mib": model,
        "above_model_mib": highest - model,
        "peak_is_of_pruning_alone": has_reset,
        "threads": pruner.network.threads,
        "found": NEEDLE in str(pruning.text, "utf-8") if isinstance(pruning.text, bytes) else NEEDLE in pruning.text,
    }


def _rate(marks: Sequence[tuple[float, int]], first: float, last: float) -> float:
    """Lines per second between two numbers of lines done, taken at the marks nearest to them."""
    marks = [(0.0, 0), *marks]
    one, other = (min(marks, key=lambda mark: abs(mark[1] - place)) for place in (first, last))
    return (other[1] - one[1]) / (other[0] - one[0]) if other[0] > one[0] else math.nan


def resident() -> float:
    """Resident memory of this process now, MiB (its peak so far where the system does not tell)."""
    return _status("VmRSS")


def peak() -> float:
    """Highest resident memory since `reset_peak`, or of the whole process where that did nothing, MiB."""
    return _status("VmHWM")


def _status(name: str) -> float:
    status = Path("/proc/self/status")
    if status.is_file():
        return int(status.read_text().partition(f"{name}:")[2].split()[0]) / 1024
    import resource

    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def reset_peak() -> bool:
    """Forget how high the memory of this process has stood; whether the system does that (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def fit(runs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """exponent: seconds grow with the lines to this power between the two runs; 1 is linear. memory: the same of
    what lies above the model."""
    short, long_ = runs
    lines = math.log(long_["lines"] / short["lines"])
    memory = [max(run["above_model_mib"], 0.1) for run in runs]
    return {
        "exponent": math.log(long_["seconds"] / short["seconds"]) / lines,
        "memory_exponent": math.log(memory[1] / memory[0]) / lines,
    }


# --- quality --------------------------------------------------------------------------------------------------


def quality(
    artifact: Any, path: Path, long_: int, buried: int, limit: int, threads: int | None
) -> list[dict[str, Any]]:
    """Each way of cutting against the whole observation, on the same records."""
    from linecls.records import load_records

    records = load_records(path)
    chance = random.Random(0)
    long_records = [r for r in records if r.tool_output.count("\n") > long_]
    sample = chance.sample(records, min(limit, len(records)))
    buried_records = [bury(record, records, buried, chance) for record in sample]
    shipped = artifact.encoding.max_lines
    rows = []
    if long_records := chance.sample(long_records, min(limit, len(long_records))):
        title = f"records of more than {long_} lines"
        longest = max(record.tool_output.count("\n") for record in long_records)
        lengths = [length for length in sorted({*_SHORT_SEGMENTS, shipped}) if length < longest]
        rows += compare(artifact, title, long_records, lengths, threads)
    if buried > shipped:
        rows += compare(artifact, f"records between others, {buried:,} lines", buried_records, [shipped], threads)
    return rows


def bury(record: Any, records: Sequence[Any], lines: int, chance: random.Random) -> Any:
    """The record with other observations of the file before and behind it, of `lines` lines or a little more."""
    others = [text for text in sorted({r.tool_output for r in records}) if text != record.tool_output]
    chance.shuffle(others)
    parts, count = [_ended(record.tool_output)], record.tool_output.count("\n")
    for text in others:
        if count >= lines:
            break
        parts.insert(chance.choice((0, len(parts))), _ended(text))
        count += text.count("\n")
    before = "".join(parts[: parts.index(_ended(record.tool_output))]).count("\n")
    spans = [(start + before, end + before) for start, end in record.gold_spans]
    return replace(record, tool_output="".join(parts), gold_spans=spans)


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"


def compare(
    artifact: Any, title: str, records: Sequence[Any], lengths: Sequence[int], threads: int | None
) -> list[dict[str, Any]]:
    """Line F1 at the model's operating point and recall of gold lines with 90 % of lines dropped, by segment length."""
    import numpy as np

    from linecls.comparing import paired_difference
    from linecls.metrics import recall_at_compression
    from linecls.pruner import Pruner
    from linecls.tuning import score_records

    point = artifact.operating_point(None)
    records = sorted(records, key=lambda record: record.tool_output)  # queries of one observation share its encoding
    values: dict[int, tuple[Any, Any, float]] = {}
    loaded = Pruner.from_pretrained(artifact.directory, device="cpu", threads=threads)
    for length in (_WHOLE, *lengths):
        click.echo(f"{title}: segments of {'all' if length == _WHOLE else length} lines", err=True)
        overlap = 0 if length == _WHOLE else length * artifact.encoding.overlap_lines // artifact.encoding.max_lines
        encoding = replace(artifact.encoding, max_lines=length, overlap_lines=overlap)
        loaded.forget()
        pruner = Pruner(artifact, loaded.network, type(loaded.encoder)(loaded.encoder.tokenizer, encoding))
        scored = score_records(pruner, records)
        segments = sum(-(-max(len(s.lines) - overlap, 1) // (length - overlap)) for s in scored) / len(scored)
        f1 = [s.f1(s.decode(point)) for s in scored]
        recall = [
            recall_at_compression(s.keep_logits, s.gold_spans, _DROPPED) if s.gold.any() else np.nan for s in scored
        ]
        values[length] = f1, recall, segments
    observations = [record.tool_output for record in records]
    rows = []
    for length in lengths:
        f1, recall, segments = values[length]
        f1_gap = paired_difference(f1, values[_WHOLE][0], observations)
        recall_gap = paired_difference(recall, values[_WHOLE][1], observations)
        rows.append(
            {
                "what": title,
                "records": len(records),
                "segment_lines": length,
                "segments_per_record": segments,
                "f1": float(np.mean(f1)),
                "f1_whole": float(np.mean(values[_WHOLE][0])),
                "f1_difference": f1_gap._asdict(),
                "recall": float(np.nanmean(recall)),
                "recall_whole": float(np.nanmean(values[_WHOLE][1])),
                "recall_difference": recall_gap._asdict(),
            }
        )
    return rows


# --- the result -----------------------------------------------------------------------------------------------


def as_markdown(result: dict[str, Any]) -> str:
    about = result["about"]
    text = [
        "# Very long observations",
        "",
        f"Model: {about['model']}, segments of {about['segment_lines']:,} lines that share {about['overlap_lines']}."
        f" Machine: {about['machine']}. linecls {about['versions']['linecls']}.",
    ]
    if "cost" in result:
        text += [
            "",
            "## Cost",
            "",
            "| lines | MB | seconds | tokens/s | tokens/s, first tenth | last tenth | model MiB | above it MiB"
            " | needle found |",
            "|---:|---:|---:|---:|---:|---:|---:|---:|---|",
        ]
        text += [
            f"| {r['lines']:,} | {r['bytes'] / 1e6:.1f} | {r['seconds']:.1f} | {r['tokens_per_second']:,.0f} |"
            f" {r['first_tenth_tokens_per_second']:,.0f} | {r['last_tenth_tokens_per_second']:,.0f} |"
            f" {r['model_mib']:.0f} | {r['above_model_mib']:.0f} | {'yes' if r['found'] else 'no'} |"
            for r in result["cost"]["runs"]
        ]
        text += [
            "",
            f"Seconds grow with the lines to the power {result['cost']['exponent']:.2f} (1 is linear); memory above the"
            f" model to the power {result['cost']['memory_exponent']:.2f}, the observation's bytes included."
            f" {result['cost']['runs'][0]['threads']} threads.",
        ]
    if "quality" in result:
        text += [
            "",
            "## Segments against one whole",
            "",
            "| records | n | segment, lines | segments | line F1 | whole | difference [95 %] | recall, 90 % dropped"
            " | whole | difference [95 %] |",
            "|---|---:|---:|---:|---:|---:|---|---:|---:|---|",
        ]
        text += [
            f"| {r['what']} | {r['records']} | {r['segment_lines']:,} | {r['segments_per_record']:.1f} |"
            f" {r['f1']:.3f} | {r['f1_whole']:.3f} | {_gap(r['f1_difference'])} | {r['recall']:.3f} |"
            f" {r['recall_whole']:.3f} | {_gap(r['recall_difference'])} |"
            for r in result["quality"]
        ]
    return "\n".join(text) + "\n"


def _gap(gap: dict[str, float]) -> str:
    return f"{gap['value']:+.3f} [{gap['low']:+.3f}, {gap['high']:+.3f}]"


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        print(json.dumps(measure(json.loads(sys.argv[2]))))
    else:
        main()
