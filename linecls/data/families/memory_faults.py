"""C programs with faults in their use of memory, really run under valgrind; each report is one block."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._tables import worded
from linecls.data.families._toolkit import Label, Page
from linecls.data.families.test_runs import NOUNS, run
from linecls.records import Record

NAME = "memory_faults"


@dataclass
class Fault:
    """The body of a function; a leak is only reported at the end of the run."""

    name: str
    leak: bool
    body: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


def _faults(text: str) -> list[Fault]:
    found: list[Fault] = []
    for line in text.splitlines():
        if line.startswith("= "):
            name, leak = line[2:].split()
            found.append(Fault(name, leak == "1"))
        elif line.startswith("? "):
            found[-1].queries.append(line[2:])
        elif line.strip():
            found[-1].body.append(line)
    return found


FAULTS = _faults(kit.catalogue_text("memory_faults"))
ALIKE = [
    set(line.split())
    for line in """
uninit_branch uninit_heap uninit_print mismatch_syscall
read_past write_past strcpy_over overlap write_before
use_after_free write_after_free read_freed_string
double_free free_middle free_stack
leak_lost leak_calloc leak_strdup leak_realloc
""".strip().splitlines()
]


def _program(rng: random.Random, chosen: list[Fault]) -> tuple[dict[str, str], list[tuple[str, str, Fault]]]:
    nouns = rng.sample(NOUNS, rng.randint(2, 4))
    texts = {
        f"{noun}.c": ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "#include <unistd.h>", ""]
        for noun, _ in nouns
    }
    placed = []
    declared, called = [], []
    for number, fault in enumerate(chosen):
        noun, _ = rng.choice(nouns)
        slots = kit.Slots(rng, {}, {})
        verb = rng.choice(["load", "scan", "merge", "apply", "flush", "count", "move", "show", "patch", "fold"])
        name = f"{noun}_{verb}{number}"
        lines = texts[f"{noun}.c"]
        lines += [
            f"static void {name}_part(void)",
            "{",
            *(slots.fill(line).replace(" //!", "") for line in fault.body),
            "}",
            "",
        ]
        lines += [f"void {name}(void)", "{", f"    {name}_part();", "}", ""]
        declared.append(f"void {name}(void);")
        called.append(f"    {name}();")
        placed.append((f"{name}_part", f"{noun}.c", fault))
    files = {name: "\n".join(lines) for name, lines in texts.items()}
    files["main.c"] = "\n".join(
        [
            "#include <stdio.h>",
            *declared,
            "",
            "int main(void)",
            "{",
            *called,
            '    puts("done");',
            "    return 0;",
            "}",
            "",
        ]
    )
    return files, placed


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tool type `debugger`; none without gcc and valgrind. Options: `observations`."""
    if not shutil.which("gcc") or not shutil.which("valgrind"):
        return
    for index in range(int(options.get("observations", kit.MANY))):
        yield from _observation(random.Random(rng.getrandbits(64)), index)


def _observation(rng: random.Random, index: int) -> Iterator[Record]:
    chosen = rng.sample(FAULTS, rng.randint(6, 13))
    files, placed = _program(rng, chosen)
    tool = rng.choice(["atlas", "brook", "cairn", "dune", "etch", "flint", "grove", "heron", "jetty", "loom"])
    flags = [
        "--leak-check=full",
        *rng.sample(["--track-origins=yes", "--show-leak-kinds=all", "--num-callers=20"], rng.randint(0, 3)),
    ]
    home = f"/home/user/src/{tool}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in files.items():
            (root / name).write_text(text, "utf-8")
        run(["gcc", "-g", "-O0", "-w", "-fno-builtin", "-o", tool, *sorted(files)], root, rng, home)
        output = run(["valgrind", *flags, f"./{tool}"], root, rng, home)
    output = re.sub(r"==\d+==", f"=={rng.randint(900, 32000)}==", output)
    page = Page()
    page.say(output.rstrip("\n"))
    labels = _labels(rng, page, placed)
    if len(page.lines) >= 40 and labels:
        yield from kit.records(
            page, labels, tool_type="debugger", command=f"valgrind {' '.join(flags)} ./{tool}", family=NAME,
            project=f"memory-{index % 20}", ident=f"memory-{index}-{rng.getrandbits(32):08x}", package="valgrind",
        )  # fmt: skip


def _blocks(page: Page) -> list[tuple[int, int]]:
    """First and last line (1-based) of each report: from a line that is not indented to the next empty one."""
    found, start = [], 0
    for number, line in enumerate(page.lines, 1):
        bare = re.sub(r"^==\d+== ?", "", line)
        report = line.startswith("==")
        if report and bare and not bare.startswith(" ") and not start:
            start = number
        elif (not report or not bare) and start:
            found.append((start, number - 1))
            start = 0
    return found


def _labels(rng: random.Random, page: Page, placed: list[tuple[str, str, Fault]]) -> list[Label]:
    blocks = _blocks(page)
    labels: list[Label] = []
    names = {fault.name for _, _, fault in placed}
    for function, file, fault in placed:
        hits = []
        for start, stop in blocks:
            text = "\n".join(page.lines[start - 1 : stop])
            lost = " lost in loss record" in text or "still reachable in loss record" in text
            if re.search(rf"(at|by) 0x[0-9A-F]+: {function} \(", text) and lost == fault.leak:
                hits.append((start, stop))
        if not hits or len(hits) > 4 or sum(b - a + 1 for a, b in hits) > 44:
            continue
        for start, stop in hits:
            page.mark(function, start, stop)
        alone = not any(fault.name in group and group & (names - {fault.name}) for group in ALIKE)
        query = worded(rng, rng.choice(fault.queries))
        if not alone and rng.random() < 0.5:
            query = rng.choice(
                [f"In {file}: {query[:1].lower()}{query[1:]}", f"{query} ({function.rpartition('_')[0]})"]
            )
        labels.append(Label(query, function, fault.name, cuttable=alone and not fault.leak))
    rng.shuffle(labels)
    labels = labels[:7]
    for start, _ in blocks[-2:]:
        if "HEAP SUMMARY" in page.lines[start - 1]:
            page.mark("heap", start, start + 2)
            labels.append(
                Label(
                    rng.choice(
                        ["How much was still allocated when the program ended?", "balance of allocations and releases"]
                    ),
                    "heap",
                    "heap_summary",
                )
            )
    free = [f for f in FAULTS if f.name not in names and not any(f.name in g and g & names for g in ALIKE)]
    for fault in rng.sample(free, min(len(free), rng.choice([1, 1, 2]))):
        labels.append(Label(worded(rng, rng.choice(fault.queries)), None, f"absent_{fault.name}"))
    return labels
