"""How fast linecls is, beside torch, the pooled encoder of squeez and a generative model: one table, one plot.

\b
  python eval/throughput.py test.jsonl.gz --checkpoint runs/minilm/best.ckpt --out eval/results/throughput
  python eval/throughput.py test.jsonl.gz --checkpoint best.ckpt --limit 20 --rounds 2     # a quick look

Every system runs in a process of its own; rounds are interleaved, so that a slow minute of the machine meets all of
them, and medians are reported. Observations are distinct, one query each. Needs the extras train, export, eval and
backbones, and squeez 0.1.4; a system that cannot run is listed with its reason.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
from runtime_profile import ATTENTIONS, PRODUCTS, Inside, Recorded, bandwidth, peak, profiled
from throughput_worker import SYSTEMS

from linecls import __version__, provenance
from linecls.artifact import Artifact, embedded

HERE = Path(__file__).parent
NAMES = {
    "linecls_int8": "linecls, int8",
    "linecls_fp16": "linecls, fp16",
    "linecls_fp32": "linecls, fp32",
    "torch_eager": "torch eager, fp32",
    "torch_compile": "torch.compile, fp32",
    "squeez_pooled": "squeez pooled, same backbone",
    "endpoint": "generative endpoint",
}
_BACKBONE = "package:all-MiniLM-L6-v2"
_SHORT_LINES = 200  # of the output for the whole-process comparison
_MOST_OPERATORS = 8
_PROFILED = 12  # observations: the runtime's profile holds a limited number of events
_BARE = 24  # observations whose calls are made again without the engine: what they read is kept in memory
_BARE_ROUNDS = 3


@click.command(help=__doc__)
@click.argument("records", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--checkpoint", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Of linecls train.")
@click.option("--model", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Model directory with int8"
              " and fp32, in place of exporting the checkpoint.")  # fmt: skip
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=HERE / "results" / "throughput")
@click.option("--system", "chosen", multiple=True, type=click.Choice(list(SYSTEMS)), help="Only these systems.")
@click.option("--limit", default=60, show_default=True, type=click.IntRange(min=1), help="Observations per round.")
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(min=1))
@click.option("--threads", type=click.IntRange(min=1), help="Of every system.  [default: the physical cores]")
@click.option("--device", default="cpu", show_default=True)
@click.option("--price", default=0.10, show_default=True, help="Of this machine, USD per hour, for the cost column.")
@click.option("--endpoint", help="URL of an OpenAI-compatible server, e.g. http://localhost:8000/v1.")
@click.option("--endpoint-model", help="Model to ask for there.")
@click.option("--processes", default=9, show_default=True, type=click.IntRange(min=0), help="Runs of the commands.")
@click.option("--seed", default=0, show_default=True)
def main(
    *,
    records: Path,
    checkpoint: Path | None,
    model: Path | None,
    out: Path,
    chosen: tuple[str, ...],
    limit: int,
    rounds: int,
    threads: int | None,
    device: str,
    price: float,
    endpoint: str | None,
    endpoint_model: str | None,
    processes: int,
    seed: int,
) -> None:
    from linecls.session import physical_cores

    threads = threads or physical_cores()
    pairs = choose_pairs(records, limit, seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pairs.json.gz").write_bytes(gzip.compress(json.dumps(pairs).encode()))
        model = model or prepare_model(checkpoint, folder)
        artifact = Artifact.read(model)
        settings: dict[str, Any] = {
            "pairs": str(folder / "pairs.json.gz"),
            "model": str(model),
            "checkpoint": None if checkpoint is None else str(checkpoint),
            "squeez_model": None,
            "device": device,
            "threads": threads,
            "endpoint": endpoint,
            "endpoint_model": endpoint_model,
        }
        skipped: dict[str, str] = {}
        try:
            settings["squeez_model"] = str(prepare_squeez(folder / "squeez"))
        except Exception as error:
            skipped["squeez_pooled"] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        for system in SYSTEMS:
            reason = why_not(system, artifact, settings, device)
            if reason and system not in skipped and (not chosen or system in chosen):
                skipped[system] = reason
        names = [s for s in SYSTEMS if s not in skipped and (not chosen or s in chosen)]
        tokens = count_tokens(artifact, [observation for _, observation in pairs])
        result: dict[str, Any] = {
            "about": about(records, limit, len(pairs), tokens, rounds, threads, device, price, seed, artifact),
            "systems": measure(names, settings, rounds, len(pairs), tokens, price, skipped),
            "skipped": skipped,
            "engine": inside_engine(model, artifact, pairs, tokens, device, threads),
            "processes": compare_processes(folder, settings, processes),
        }
    result["goals"] = goals(result)
    out.mkdir(parents=True, exist_ok=True)
    (out / "throughput.json").write_text(json.dumps(result, indent=2) + "\n")
    (out / "throughput.md").write_text(as_markdown(result))
    plot(result, out / "throughput.png")
    click.echo(as_markdown(result), nl=False)
    click.echo(f"wrote {out}: throughput.json, throughput.md, throughput.png", err=True)


# --- what is run ----------------------------------------------------------------------------------------------


def choose_pairs(records: Path, limit: int, seed: int) -> list[tuple[str, str]]:
    """A random sample of distinct observations, each with one of its queries."""
    from linecls.records import load_records

    by_output: dict[str, list[str]] = {}
    for record in load_records(records):
        if record.tool_output.strip():
            by_output.setdefault(record.tool_output, []).append(record.query)
    chance = random.Random(seed)
    outputs = sorted(by_output, key=lambda text: hashlib.sha256(text.encode("utf-8", "replace")).digest())
    chosen = chance.sample(outputs, min(limit, len(outputs)))
    return [(chance.choice(by_output[text]), text) for text in chosen]


def prepare_model(checkpoint: Path | None, folder: Path) -> Path:
    """The model directory to measure: the checkpoint as int8 and fp32, or the embedded model."""
    if checkpoint is None:
        return Path(embedded())
    from linecls import exporting

    click.echo("exporting the checkpoint", err=True)
    exporting.export(exporting.load_checkpoint(checkpoint), folder / "model", variants=("int8", "fp32"))
    return folder / "model"


def prepare_squeez(folder: Path) -> Path:
    """A pooled encoder of squeez on our backbone, saved as its trainer saves one. The head is random: it costs the
    same."""
    from squeez.encoder.model import LINE_SEP_TOKEN
    from squeez.encoder.sentence import PooledLineClassifier, PooledLineConfig
    from transformers import AutoModel, AutoTokenizer

    from linecls.model.backbone import packaged_path

    source = str(packaged_path(_BACKBONE))
    tokenizer = AutoTokenizer.from_pretrained(source)
    tokenizer.add_special_tokens({"additional_special_tokens": [LINE_SEP_TOKEN]})
    backbone: Any = AutoModel.from_pretrained(source)
    backbone.resize_token_embeddings(len(tokenizer))
    longest = backbone.config.max_position_embeddings
    config = PooledLineConfig(
        base_model_name=source,
        encoder_config=backbone.config.to_dict(),
        vocab_size=len(tokenizer),
        max_length=longest,
    )
    classifier: Any = PooledLineClassifier(config)
    classifier.encoder.load_state_dict(backbone.state_dict())
    classifier.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def why_not(system: str, artifact: Artifact, settings: dict[str, Any], device: str) -> str | None:
    """Why a system cannot run, None where it can."""
    if system.startswith("linecls_") and (variant := system.removeprefix("linecls_")) not in artifact.files:
        return f"the model has no variant {variant}"
    if system == "linecls_fp16" and device == "cpu":
        return "fp16 is for GPUs"
    if system.startswith("torch_") and settings["checkpoint"] is None:
        return "no --checkpoint was given"
    if system == "endpoint" and settings["endpoint"] is None:
        return "no --endpoint was given"
    return None


def count_tokens(artifact: Artifact, observations: Sequence[str]) -> int:
    """Tokens of the observations by the model's tokenizer, lines cut nowhere, context not counted."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(artifact.tokenizer))
    tokenizer.no_truncation()
    lines = [line for text in observations for line in text.split("\n")]
    return sum(len(e.ids) for e in tokenizer.encode_batch(lines, add_special_tokens=False))


class Worker:
    """A system in its process."""

    def __init__(self, system: str, settings: dict[str, Any]) -> None:
        threads = str(settings["threads"])
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
        environment |= {"RAYON_NUM_THREADS": threads, "HF_HUB_OFFLINE": "1"}
        environment["TOKENIZERS_PARALLELISM"] = "true" if settings["threads"] > 1 else "false"
        command = [sys.executable, str(HERE / "throughput_worker.py"), system, json.dumps(settings)]
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the worker
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment
        )
        self.load_seconds = self._answer()["load_seconds"]

    def ask(self, command: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().strip().splitlines() or ["no message"]
        raise RuntimeError(said[-1][:300])

    def close(self) -> None:
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()


def measure(
    names: Sequence[str],
    settings: dict[str, Any],
    rounds: int,
    observations: int,
    tokens: int,
    price: float,
    skipped: dict[str, str],
) -> dict[str, Any]:
    """Interleaved rounds of all systems; one that breaks is moved to `skipped`."""
    workers: dict[str, Worker] = {}
    seconds: dict[str, list[float]] = {}
    latencies: dict[str, list[float]] = {}
    memory: dict[str, float] = {}
    try:
        for name in names:
            click.echo(f"loading {NAMES[name]}", err=True)
            try:
                workers[name] = Worker(name, settings)
            except RuntimeError as error:
                skipped[name] = str(error)
        for number in range(rounds):
            for name in list(workers):
                try:
                    answer = workers[name].ask("run")
                    memory[name] = workers[name].ask("peak")["mib"]
                except RuntimeError as error:
                    skipped[name] = str(error)
                    workers.pop(name).close()
                    continue
                seconds.setdefault(name, []).append(answer["seconds"])
                latencies.setdefault(name, []).extend(answer["latencies"])
                click.echo(f"round {number + 1}: {NAMES[name]}: {answer['seconds']:.1f} s", err=True)
        loads = {name: worker.load_seconds for name, worker in workers.items()}
    finally:
        for worker in workers.values():
            worker.close()
    systems = {}
    for name, load in loads.items():
        median = statistics.median(seconds[name])
        ordered = sorted(latencies[name])
        per_second = observations / median
        systems[name] = {
            "name": NAMES[name],
            "rounds_seconds": seconds[name],
            "observations_per_second": per_second,
            "tokens_per_second": tokens / median,
            "latency_p50_ms": 1e3 * statistics.median(ordered),
            "latency_p95_ms": 1e3 * ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
            "peak_memory_mib": memory[name],
            "load_seconds": load,
            "usd_per_million_observations": 1e6 / per_second / 3600 * price,
        }
    return systems


# --- inside the engine ----------------------------------------------------------------------------------------


def inside_engine(
    model: Path, artifact: Artifact, pairs: list[tuple[str, str]], tokens: int, device: str, threads: int
) -> dict[str, Any]:
    """For each variant: the engine beside its bare sessions, padding, share of products, and the machine's floor."""
    from linecls.pruner import Pruner

    found: dict[str, Any] = {}
    peaks: dict[str, float] = {}
    for variant in artifact.files:
        if variant == "fp16" and device == "cpu":
            continue
        click.echo(f"profiling {variant}", err=True)
        pruner = Pruner.from_pretrained(model, device=device, threads=threads, variant=variant)
        list(pruner.prune_many(pairs[:3]))
        pruner.forget()
        with Inside() as inside:
            before = time.perf_counter()
            list(pruner.prune_many(pairs))
            whole = time.perf_counter() - before
        bare = beside_bare(pruner, pairs[:_BARE])
        sample = pairs[:_PROFILED]
        with profiled() as work, Inside() as fed:
            list(Pruner.from_pretrained(model, device=device, threads=threads, variant=variant).prune_many(sample))
        seen = count_tokens(artifact, [observation for _, observation in sample])
        kind = variant if variant in ("int8", "fp16") else "fp32"
        for needed in {kind, *work.operations_by} - set(peaks):
            peaks[needed] = peak(needed, device=device, threads=threads)
        memory = bandwidth()
        at_peak = sum(done / peaks[precision] for precision, done in work.operations_by.items())
        # What is fed grows otherwise than the observations: long lines are cut, windows repeat context.
        whole_over_sample = inside.tokens / fed.tokens if fed.tokens else tokens / seen
        # The bandwidth is the host's; on a GPU only the operations make the floor.
        floor = max(at_peak, work.bytes / memory if device == "cpu" else 0.0) * whole_over_sample
        found[variant] = {
            "seconds": whole,
            "tokens_per_second": tokens / whole,
            "share_inside_runtime": inside.seconds / whole,
            "share_of_bare_sessions": bare,
            "calls": inside.calls,
            "padding": 1 - inside.tokens / inside.cells if inside.cells else None,
            "share_in_products": work.in_products / work.total,
            "operators_seconds": dict(work.seconds.most_common(_MOST_OPERATORS)),
            "operations_per_token": work.operations / seen,
            "product_bytes_per_token": work.bytes / seen,
            "peak_operations_per_second": peaks[kind],
            "operations_by_precision": {name: done / work.operations for name, done in work.operations_by.items()},
            "bandwidth_bytes_per_second": memory,
            "floor_seconds": floor,
            "share_of_floor": floor / whole,
        }
    return found


def beside_bare(pruner: Any, pairs: Sequence[tuple[str, str]]) -> float:
    """Tokens/s of the engine over those of its sessions given the same calls and nothing else to do.

    Median over interleaved rounds. Time inside the runtime says less: while the engine tokenises beside a call, that
    call is slower than by itself.
    """
    with Recorded() as recorded:
        pruner.forget()
        list(pruner.prune_many(pairs))
    ratios = []
    for _ in range(_BARE_ROUNDS):
        pruner.forget()
        before = time.perf_counter()
        list(pruner.prune_many(pairs))
        engine = time.perf_counter() - before
        ratios.append(recorded.replay() / engine)
    pruner.forget()
    return statistics.median(ratios)


# --- whole processes ------------------------------------------------------------------------------------------


def short_output(lines: int = _SHORT_LINES) -> str:
    """A test run's output of our own making."""
    chance = random.Random(7)
    names = ("login", "cache", "cart", "search", "export", "session", "invoice", "queue")
    text = []
    for number in range(lines - 1):
        name, state = chance.choice(names), "FAILED" if number == 131 else "PASSED"
        text.append(f"tests/test_{name}.py::test_{name}_{number} {state} [{100 * number // lines:3d}%]")
    return "\n".join([*text, f"1 failed, {lines - 2} passed in 12.31s"]) + "\n"


def compare_processes(folder: Path, settings: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Wall time of whole commands on a 200-line output, start included, interleaved."""
    if not repeats:
        return {}
    log = folder / "output.log"
    log.write_text(short_output())
    load = (
        "import time; t = time.perf_counter(); from linecls import Pruner; Pruner.from_pretrained({});"
        " print(time.perf_counter() - t)"
    )
    query = "which test failed"
    commands = {
        "linecls prune": [sys.executable, "-m", "linecls", "prune", query, str(log), "--model", settings["model"]],
        "import and load": [sys.executable, "-c", load.format(repr(settings["model"]))],
    }
    if settings["squeez_model"]:
        commands["squeez"] = [sys.executable, "-m", "squeez", query, "--input-file", str(log)]
        commands["squeez"] += ["--local-model", settings["squeez_model"]]
    threads = str(settings["threads"])
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "HF_HUB_OFFLINE": "1", "HOME": str(folder)}
    environment["LINECLS_DAEMON"] = "0"  # a resident process of the user must not answer
    times: dict[str, list[float]] = {name: [] for name in commands}
    click.echo("timing whole commands", err=True)
    for number in range(repeats + 1):  # the first one fills the file cache
        for name, command in list(commands.items()):
            before = time.perf_counter()
            run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
            spent = time.perf_counter() - before
            if run.returncode:
                said = (run.stderr.strip().splitlines() or ["no message"])[-1]
                click.echo(f"{name} failed: {said[:200]}", err=True)
                del commands[name], times[name]
            elif number:
                times[name].append(float(run.stdout) if name == "import and load" else spent)
    return {name: {"median_seconds": statistics.median(t), "seconds": t} for name, t in times.items() if t}


# --- the result -----------------------------------------------------------------------------------------------


def about(
    records: Path,
    limit: int,
    observations: int,
    tokens: int,
    rounds: int,
    threads: int,
    device: str,
    price: float,
    seed: int,
    artifact: Artifact,
) -> dict[str, Any]:
    """What it takes to repeat the run."""
    versions = {"linecls": __version__, "python": platform.python_version()}
    for package in ("onnxruntime", "onnxruntime-gpu", "torch", "transformers", "squeez"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "records": records.name,
        "sha256": hashlib.sha256(records.read_bytes()).hexdigest()[:16],
        "limit": limit,
        "seed": seed,
        "observations": observations,
        "tokens": tokens,
        "rounds": rounds,
        "threads": threads,
        "device": device,
        "machine": provenance.measured_on(),
        "usd_per_hour": price,
        "model": f"{artifact.name} {artifact.version}",
        "sha256_of_files": {name: digest[:16] for name, digest in artifact.sha256.items()},
        "versions": versions,
    }


def goals(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The figures to reach, each with what was measured; None where it was not."""

    def ratio(one: str, other: str) -> float | None:
        """Median over the rounds of the ratio within a round."""
        systems = result["systems"]
        if one not in systems or other not in systems:
            return None
        times = zip(systems[other]["rounds_seconds"], systems[one]["rounds_seconds"], strict=True)
        return statistics.median(a / b for a, b in times)

    commands, engine = result["processes"], result["engine"].get("int8", {})
    own, peer = commands.get("linecls prune"), commands.get("squeez")
    load = commands.get("import and load")
    padding = engine.get("padding")
    rows = [
        ("int8 over torch eager, tokens/s", ratio("linecls_int8", "torch_eager"), ">=", 3.0),
        ("int8 over torch.compile, tokens/s", ratio("linecls_int8", "torch_compile"), None, None),
        ("int8 over squeez pooled, tokens/s", ratio("linecls_int8", "squeez_pooled"), None, None),
        ("engine over its bare sessions, tokens/s, int8", engine.get("share_of_bare_sessions"), ">=", 0.85),
        ("time inside the runtime, of the whole engine, int8", engine.get("share_inside_runtime"), None, None),
        (
            "squeez over linecls prune, whole process",
            peer["median_seconds"] / own["median_seconds"] if own and peer else None,
            ">=",
            10.0,
        ),
        ("import and model load, seconds", load["median_seconds"] if load else None, "<=", 0.35),
        ("padding, int8", padding, "<=", 0.05),
    ]
    return [
        {"what": what, "measured": value, "sign": sign, "goal": goal, "met": _met(value, sign, goal)}
        for what, value, sign, goal in rows
    ]


def _met(value: float | None, sign: str | None, goal: float | None) -> bool | None:
    if value is None or goal is None:
        return None
    return value >= goal if sign == ">=" else value <= goal


def as_markdown(result: dict[str, Any]) -> str:
    about_, systems = result["about"], result["systems"]
    head = [
        "# Throughput",
        "",
        f"{about_['observations']} observations of {about_['records']} (sha256 {about_['sha256']}, seed"
        f" {about_['seed']}), {about_['tokens']:,} tokens, one query each; {about_['rounds']} interleaved"
        f" rounds, medians. Machine: {about_['machine']}; {about_['threads']} threads; device {about_['device']}.",
        f"Versions: {', '.join(f'{name} {number}' for name, number in about_['versions'].items())}."
        f" Model: {about_['model']}.",
        "",
        f"| system | observations/s | tokens/s | p50 ms | p95 ms | peak MiB | load s | USD per million at"
        f" {about_['usd_per_hour']:.2f}/h |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    body = [
        f"| {s['name']} | {s['observations_per_second']:.2f} | {s['tokens_per_second']:,.0f} |"
        f" {s['latency_p50_ms']:.0f} | {s['latency_p95_ms']:.0f} | {s['peak_memory_mib']:.0f} |"
        f" {s['load_seconds']:.2f} | {s['usd_per_million_observations']:.2f} |"
        for s in systems.values()
    ]
    body += [f"| {NAMES[name]} | not run: {reason} | | | | | | |" for name, reason in result["skipped"].items()]
    body += ["", "## Ratios and goals", "", "| what | measured | goal | met |", "|---|---:|---:|---|"]
    for goal in result["goals"]:
        value = "-" if goal["measured"] is None else f"{goal['measured']:.3g}"
        wanted = "" if goal["goal"] is None else f"{goal['sign']} {goal['goal']:g}"
        met = {None: "", True: "yes", False: "no"}[goal["met"]]
        body.append(f"| {goal['what']} | {value} | {wanted} | {met} |")
    body += ["", "## Inside the engine", ""]
    body += [
        "| variant | tokens/s | over bare sessions | inside the runtime | padding | in products | MFLOP/token"
        " | peak GFLOP/s | share of floor |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for variant, e in result["engine"].items():
        padding = "-" if e["padding"] is None else f"{e['padding']:.1%}"
        body.append(
            f"| {variant} | {e['tokens_per_second']:,.0f} | {e['share_of_bare_sessions']:.1%} |"
            f" {e['share_inside_runtime']:.1%} | {padding} |"
            f" {e['share_in_products']:.1%} | {e['operations_per_token'] / 1e6:.1f} |"
            f" {e['peak_operations_per_second'] / 1e9:.0f} | {e['share_of_floor']:.1%} |"
        )
    body += [
        "",
        "Tokens: of the observations alone, by the model's tokenizer. In products: time of "
        + ", ".join(sorted(PRODUCTS)[:4])
        + f", … and {', '.join(sorted(ATTENTIONS)[:2])}, … in the runtime's profile. Floor: the products' operations at"
        " the measured peak of a plain product of their own precision, or their bytes at the measured bandwidth,"
        " whichever takes longer. Over bare sessions: tokens/s of the engine over those of the same calls made by"
        " themselves.",
        "",
    ]
    for variant, e in result["engine"].items():
        total = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in e["operators_seconds"].items())
        body.append(f"Operators of {variant}: {total}.")
    if result["processes"]:
        body += ["", "## Whole commands on a 200-line output", "", "| command | median s |", "|---|---:|"]
        body += [f"| {name} | {values['median_seconds']:.3f} |" for name, values in result["processes"].items()]
    return "\n".join([*head, *body]) + "\n"


def plot(result: dict[str, Any], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    systems = list(result["systems"].values())[::-1]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 0.5 * len(systems) + 1.6), layout="constrained")
    names = [s["name"] for s in systems]
    colours = ["#2f6f4f" if name.startswith("linecls") else "#9a9a9a" for name in names]
    bars = left.barh(names, [s["tokens_per_second"] for s in systems], color=colours)
    left.bar_label(bars, fmt="{:,.0f}", padding=3)
    left.set_xlabel("tokens/s (more is better)")
    left.margins(x=0.18)
    left.xaxis.set_major_locator(MaxNLocator(5))
    left.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    middle = [s["latency_p50_ms"] for s in systems]
    beyond = [s["latency_p95_ms"] - s["latency_p50_ms"] for s in systems]
    right.barh(names, middle, xerr=[[0] * len(systems), beyond], color=colours, ecolor="#404040", capsize=3)
    right.set_xlabel("ms for one observation: p50, whisker to p95")
    right.set_yticklabels([])
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
