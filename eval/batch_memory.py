"""Memory and speed of `linecls batch` by the number of rows: a million short observations need what a thousand need.

\b
  python eval/batch_memory.py                    # 1,000 and 1,000,000 rows
  python eval/batch_memory.py --rows 20000       # a quick look
  python eval/batch_memory.py --random           # the same with a random network that is some ten times as fast

Every number of rows is one `linecls batch` in a process of its own, on short observations of our own making that are
all different. Memory is the highest resident memory of that process.
"""

from __future__ import annotations

import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).parent
FEW = 1000
_RUN = """
import json, sys
from linecls.batch.run import Plan, run_batch
from pathlib import Path
source, output, model, threads = json.loads(sys.argv[1])
result = run_batch(Plan(source, Path(output), model=model, device="cpu", threads=threads))
try:  # getrusage would count what was inherited at the fork
    peak = int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
except OSError:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([result.rows, result.failed, peak]))
"""


@click.command(help=__doc__)
@click.option("--rows", default=1_000_000, show_default=True, type=click.IntRange(min=FEW + 1))
@click.option("--model", type=click.Path(exists=True, file_okay=False, path_type=Path), help="[default: the embedded]")
@click.option(
    "--random",
    "is_random",
    is_flag=True,
    help="A random network of two layers, 32 wide, in place of a model: all else that a batch holds in memory is the"
    " same. Needs the extras train and export.",
)
@click.option("--threads", type=click.IntRange(min=1), help="[default: the physical cores]")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=HERE / "results" / "batch_memory")
def main(*, rows: int, model: Path | None, is_random: bool, threads: int | None, out: Path) -> None:
    from linecls import __version__, provenance
    from linecls.artifact import Artifact, embedded
    from linecls.session import physical_cores

    if is_random and model is not None:
        raise click.UsageError("--random takes the place of --model; give one of them.")
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        if is_random:
            model = random_model(Path(folder) / "model")
        artifact = Artifact.read(model or embedded())
        for count in (FEW, rows):
            click.echo(f"{count:,} rows", err=True)
            runs.append({"rows": count, **measure(count, model, threads)})
    about = {
        "machine": provenance.measured_on(),
        "model": f"{artifact.name} {artifact.version}",
        "threads": threads or physical_cores(),
        "versions": {"linecls": __version__, "python": platform.python_version()},
    }
    result = {"about": about, "runs": runs}
    out.mkdir(parents=True, exist_ok=True)
    (out / "batch_memory.json").write_text(json.dumps(result, indent=2) + "\n")
    (out / "batch_memory.md").write_text(as_markdown(result))
    click.echo(as_markdown(result), nl=False)


def as_markdown(result: dict[str, Any]) -> str:
    about = result["about"]
    lines = [
        "# Memory of linecls batch",
        "",
        f"Observations of 3 to 6 lines, no two alike. Model: {about['model']}. Machine: {about['machine']},"
        f" {about['threads']} threads. linecls {about['versions']['linecls']}.",
        "",
        "| rows | seconds | rows/s | MB written | peak MiB |",
        "|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {run['rows']:,} | {run['seconds']:.1f} | {run['rows'] / run['seconds']:.0f} |"
        f" {run['written'] / 1e6:.1f} | {run['peak_mib']:.0f} |"
        for run in result["runs"]
    ]
    return "\n".join(lines) + "\n"


def measure(rows: int, model: Path | None = None, threads: int | None = None) -> dict[str, Any]:
    """One batch of so many rows: seconds, bytes written, peak_mib. Raises ClickException when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
        write_rows(source, rows)
        arguments = json.dumps([str(source), str(output), None if model is None else str(model), threads])
        before = time.perf_counter()
        run = subprocess.run([sys.executable, "-c", _RUN, arguments], stdout=subprocess.PIPE, text=True, check=False)
        seconds = time.perf_counter() - before
        if run.returncode:
            raise click.ClickException(f"the batch of {rows:,} rows failed; the reason stands above")
        done, failed, peak = json.loads(run.stdout)
        if (done, failed) != (rows, 0):
            raise click.ClickException(f"of {rows:,} rows {done:,} are there, {failed:,} with an error")
        unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
        return {"seconds": seconds, "written": os.path.getsize(output), "peak_mib": peak / unit}


def random_model(directory: Path) -> Path:
    """A model directory with a network that nobody trained, on the tokenizer of the embedded model."""
    import torch
    from tokenizers import Tokenizer

    from linecls.artifact import Artifact, embedded
    from linecls.exporting import Checkpoint, export
    from linecls.model.backbone import Backbone
    from linecls.model.classifier import ClassifierConfig, LineClassifier

    torch.manual_seed(0)
    shipped = Artifact.read(embedded())
    tokenizer = Tokenizer.from_file(str(shipped.tokenizer))
    config = {
        "model_type": "bert",
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 512,
    }
    classifier = ClassifierConfig(width=32, layers=1, heads=2, span_scores=True)
    model = LineClassifier(Backbone("random", config=config), classifier).eval()
    export(Checkpoint(model, shipped.encoding, tokenizer, {"backbone": "random"}), directory, name="random")
    return directory


def write_rows(path: Path, rows: int) -> None:
    """Observations of 3 to 6 lines, no two alike."""
    chance = random.Random(1)
    names = ("login", "cache", "cart", "search", "export", "session", "invoice", "queue")
    with path.open("w") as file:
        for number in range(rows):
            name = chance.choice(names)
            lines = [f"run {number}: {name} {chance.choice(names)} passed" for _ in range(chance.randrange(2, 6))]
            lines.insert(chance.randrange(len(lines)), f"E   the {name} service refused request {number}")
            file.write(json.dumps({"query": f"why does {name} fail", "tool_output": "\n".join(lines)}) + "\n")


if __name__ == "__main__":
    main()
