"""Long runs of small programs in which several jobs fail deep in the libraries; each failure is one block.

The programs are written, run and thrown away. A failure is asked for by what went wrong; its answer is the whole
report: the line that announces it and the traceback with all chained parts.
"""

# ruff: noqa: E501  (programs and wordings stay on one line)

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Label, Page
from linecls.records import Record

NAME = "crashes"


@dataclass
class Crash:
    """A way to fail: the body of a function and what may be asked about it."""

    name: str
    body: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


def _crashes(text: str) -> list[Crash]:
    found: list[Crash] = []
    for line in text.splitlines():
        if line.startswith("= "):
            found.append(Crash(line[2:].strip()))
        elif line.startswith("? "):
            found[-1].queries.append(line[2:])
        elif line.strip():
            found[-1].body.append(line)
    return found


CRASHES = _crashes(kit.catalogue_text("crashes"))

# Failures that a question about one of them might also mean.
ALIKE = [
    set(line.split())
    for line in """
refused resolve timeout status badurl badport
timeout childslow
xmlcut jsoncut yamltab tomldup csv inisection
yamlsafe yamltab tomldup inisection inimissing
jsontype pickle hash
sqlunique sqltable sqlsyntax sqlbind
childfail childslow childnone
zipbad gzipbad unpickle base64 decode
zipmember keymissing inimissing
permission isdir childnone samefile importing
date strptime zone naive
decimal format ip strptime
group taskgroup future
unpack struct argument
none keymissing
enum keymissing
literal yamlsafe
sort naive
future empty
decode encode
""".strip().splitlines()
]

_DOMAINS = {
    "ledger": ["post_entries", "close_month", "balance", "import_bookings", "read_batch", "apply_rules"],
    "fleet": ["plan_routes", "assign_drivers", "refuel", "track", "load_schedule", "next_stop"],
    "clinic": ["book_room", "send_reminder", "merge_patient", "print_label", "load_plan", "check_in"],
    "archive": ["ingest", "index_volume", "restore", "verify", "scan_shelf", "write_catalogue"],
    "weather": ["fetch_station", "smooth", "merge_grid", "publish", "read_sensor", "calibrate"],
    "bakery": ["plan_oven", "order_flour", "price_list", "count_stock", "mix", "deliver"],
    "library": ["lend", "remind", "catalogue", "move_shelf", "renew", "charge_fee"],
    "studio": ["render", "mix_down", "export_stems", "tag_tracks", "normalise", "upload"],
    "farm": ["sow", "water", "harvest", "weigh", "record_yield", "rotate_field"],
    "port": ["berth", "unload", "clear_customs", "stack", "weigh_container", "bill_vessel"],
}
_QUIET = (
    "{n} records read", "batch {n} done", "cache warm ({n} entries)", "skipped {n} unchanged", "checkpoint {n} written",
    "retry budget {n}", "queue length {n}", "took 0.{n} s", "lock taken by worker {n}", "config version {n}",
    "{n} duplicates merged", "flushed page {n}", "heartbeat {n}", "using profile {n}", "next run in {n} min",
)  # fmt: skip


def _module(crash: Crash, rng: random.Random, names: list[str], slots: kit.Slots, depth: int) -> list[str]:
    body = [re.sub(r"\{(t|T|word|n|nnnn)\}", lambda m: slots[m.group(1)], line) for line in crash.body]
    wrapped = rng.random() < 0.35
    inner = f"_{names[0]}_step"
    lines = [f"def {inner}(job):"]
    if wrapped:
        lines += ["    try:", *("    " + line for line in body), "    except Exception as error:"]
        cause = rng.choice(["from error", "from error", ""])
        kind = rng.choice(["RuntimeError", "ValueError", "LookupError"])
        lines += [f'        raise {kind}(f"{rng.choice(names)} of {{job}} did not work") {cause}'.rstrip()]
    else:
        lines += body
    lines += ["", ""]
    for level in range(depth):
        name = f"{names[1 + level % (len(names) - 1)]}_{level}"
        if rng.random() < 0.3:
            lines += [
                f"class {name.title().replace('_', '')}:",
                "    def run(self, job):",
                f"        return {inner}(job)",
            ]
            lines += ["", "", f"def {name}(job):", f"    return {name.title().replace('_', '')}().run(job)"]
        elif rng.random() < 0.5:
            lines += [
                f"def {name}(job, *, dry=False):",
                "    if not dry:",
                f"        result = {inner}(job)",
                "        return result",
                "    return None",
            ]
        else:
            lines += [f"def {name}(job):", f"    return [{inner}(part) for part in (job,)]"]
        lines += ["", ""]
        inner = name
    return [*lines, f"run = {inner}", ""]


def _program(
    rng: random.Random, chosen: list[Crash], total: int
) -> tuple[dict[str, str], list[tuple[str, Crash | None, kit.Slots]]]:
    domain = rng.choice(list(_DOMAINS))
    files: dict[str, str] = {f"{domain}/__init__.py": ""}
    plan: list[tuple[str, Crash | None, kit.Slots]] = []
    places = sorted(rng.sample(range(total), len(chosen)))
    crashes = iter(chosen)
    for number in range(total):
        verb = rng.choice(_DOMAINS[domain])
        noun, words = rng.choice(kit.VOCABULARIES["table"])
        slots = kit.Slots(rng, {}, {"t": noun, "t_p": rng.choice(words or [noun]), "T": noun.title().replace("_", "")})
        job = f"{verb}-{number:02d}"
        crash = next(crashes) if number in places else None
        if crash is not None:
            names = rng.sample(_DOMAINS[domain], 4)
            files[f"{domain}/job_{number:02d}.py"] = "\n".join(_module(crash, rng, names, slots, rng.randint(1, 6)))
        plan.append((job, crash, slots))
    layout = rng.choice(
        [
            "%(asctime)s %(levelname)s %(name)s: %(message)s",
            "%(levelname)-8s %(name)s | %(message)s",
            "[%(asctime)s] [%(levelname)s] %(message)s",
            "%(asctime)s,%(msecs)03d %(process)d %(levelname)s %(message)s",
        ]
    )
    said = rng.choice(["job %s failed", "giving up on %s", "%s: unhandled error", "could not finish %s", "%s crashed"])
    main = [
        "import importlib", "import logging", "import random", "import sys", "",
        f'logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="{layout}", datefmt="2026-05-0{rng.randint(1, 9)} %H:%M:%S")',
        f'log = logging.getLogger("{domain}")', f"rng = random.Random({rng.randint(1, 9999)})",
        f"quiet = {list(rng.sample(_QUIET, 8))!r}", f"plan = {[(j, c is not None, n) for n, (j, c, _) in enumerate(plan)]!r}", "",
        "for job, fails, number in plan:", f'    log.info("{rng.choice(["start", "begin", "next:", "running"])} %s", job)',
        f"    for _ in range(rng.randint(0, {rng.randint(2, 7)})):", '        log.info(rng.choice(quiet).replace("{n}", str(rng.randint(2, 400))))',
        "    if not fails:", f'        log.info("{rng.choice(["finished", "done with", "completed"])} %s", job)', "        continue",
        "    try:", f'        importlib.import_module(f"{domain}.job_{{number:02d}}").run(job)', "    except Exception:", f'        log.exception("{said}", job)',
        "    else:", '        log.info("odd %s", job)', "",
    ]  # fmt: skip
    files["main.py"] = "\n".join(main)
    return files, plan


def _blocks(lines: list[str], jobs: list[str]) -> dict[str, tuple[int, int]]:
    """First and last line (1-based) of the report about each failed job."""
    found: dict[str, tuple[int, int]] = {}
    entry = re.compile(r"^(\[?\d{4}-\d\d-\d\d |(INFO|ERROR) +\w+ \|)")
    for number, line in enumerate(lines):
        if "ERROR" in line and entry.match(line):
            job = next((j for j in jobs if re.search(rf"(^|\W){re.escape(j)}(\W|$)", line)), None)
            stop = number + 1
            while stop < len(lines) and not entry.match(lines[stop]):
                stop += 1
            if job:
                found[job] = (number + 1, stop)
    return found


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tool type `python`. Options: `python` (an interpreter, 3.11 or newer, with PyYAML), `observations`."""
    python = kit.program(options, "python", sys.executable)
    for index in range(int(options.get("observations", kit.MANY))):
        yield from _observation(random.Random(rng.getrandbits(64)), index, python)


def _observation(rng: random.Random, index: int, python: str) -> Iterator[Record]:
    chosen = rng.sample(CRASHES, rng.randint(3, 7))
    files, plan = _program(rng, chosen, rng.randint(len(chosen) + 2, 16))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        done = subprocess.run(
            [python, "-B", "main.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=120,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "HOME": folder},
        )  # fmt: skip
        home = f"/home/user/src/{rng.choice(['jobs', 'batch', 'nightly', 'app'])}"
        output = done.stdout.replace(str(Path(folder).resolve()), home).replace(folder, home)
        output = output.replace(python, "/usr/bin/python3")  # a timed-out child is named with its interpreter
    output = re.sub(
        r"/[^\s\"]*?/lib/python(3\.\d+)/site-packages", r"/home/user/.venv/lib/python\1/site-packages", output
    )
    output = re.sub(r"/(?:root|home/(?!user)\w+)/[^\s\"]*?/lib/python(3\.\d+)", r"/usr/lib/python\1", output)
    output = re.sub(r"0x[0-9a-f]{8,}", lambda _: f"0x7f{rng.getrandbits(40):010x}", output)
    output = _steady(output, rng)
    page = Page()
    page.say(output.rstrip("\n"))
    blocks = _blocks(page.lines, [job for job, _, _ in plan])
    labels: list[Label] = []
    names = {crash.name for crash in chosen}
    for job, crash, _ in plan:
        if crash is None or job not in blocks or blocks[job][1] - blocks[job][0] > 44:
            continue
        page.mark(job, *blocks[job])
        alone = not any(crash.name in group and group & (names - {crash.name}) for group in ALIKE)
        labels.append(Label(_worded(rng.choice(crash.queries), rng), job, f"crash_{crash.name}", cuttable=alone))
    rng.shuffle(labels)
    labels = labels[:5]
    if labels and rng.random() < 0.5:
        label = rng.choice(labels)
        verb = str(label.key).rpartition("-")[0].replace("_", " ")
        told = rng.choice(
            [
                f"Why did job {label.key} fail?",
                f"error of {label.key}",
                f"Show the traceback of {label.key}.",
                f"What went wrong in number {str(label.key)[-2:]}, {verb}?",
            ]
        )
        labels.append(Label(told, label.key, "crash_of_job", cuttable=True))
    free = [c for c in CRASHES if c.name not in names and not any(c.name in g and g & names for g in ALIKE)]
    for lacking in rng.sample(free, min(len(free), rng.choice([1, 1, 2]))):
        labels.append(Label(_worded(rng.choice(lacking.queries), rng), None, f"crash_absent_{lacking.name}"))
    quiet = [job for job, crash, _ in plan if crash is None]
    if quiet and rng.random() < 0.4:
        labels.append(Label(f"Why did job {rng.choice(quiet)} fail?", None, "crash_absent_job"))
    if len(page.lines) >= 40:
        yield from kit.records(
            page, labels, tool_type="python", command=rng.choice(["python main.py", "python3 main.py 2>&1", "./run.sh"]),
            family=NAME, project=f"crashes-{index % 40}", ident=f"crashes-{index}-{rng.getrandbits(32):08x}", licence="Apache-2.0",
        )  # fmt: skip


def _steady(output: str, rng: random.Random) -> str:
    """The same text with a clock and a process number of its own instead of the run's."""
    clock = rng.randint(0, 80_000)
    pid = rng.randint(300, 30_000)
    lines = []
    for raw in output.split("\n"):
        line = raw
        if re.match(r"^\[?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", line):
            clock += rng.choice([0, 0, 1, 1, 2, 7])
            told = f"{clock // 3600 % 24:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
            line = re.sub(r"\d\d:\d\d:\d\d", told, line, count=1)
            line = re.sub(r",\d{3} \d+ ", f",{rng.randint(0, 999):03d} {pid} ", line, count=1)
        lines.append(line)
    return "\n".join(lines)


_LEADS = ("For the incident report: ", "Post-mortem: ", "Before I retry: ", "Debugging: ")


def _worded(query: str, rng: random.Random) -> str:
    roll = rng.random()
    if roll < 0.12:
        return rng.choice(_LEADS) + query[:1].lower() + query[1:]
    return query.rstrip("?.") if roll < 0.22 else query
