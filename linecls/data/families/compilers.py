"""Java and Rust projects with planted faults, really compiled by javac and cargo.

Compilers work in phases and stop after the first that fails, so one project takes its faults from one phase: in the
catalogues the name of a fault begins with it.
"""

# ruff: noqa: E501  (wordings stay on one line)

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._tables import worded
from linecls.data.families._toolkit import Label, Page
from linecls.data.families.checks import Placed, Snippet, compose, project_name, snippets
from linecls.data.families.test_runs import run
from linecls.records import Record

NAME = "compilers"

JAVA = snippets(kit.catalogue_text("compilers_java"))
RUST = snippets(kit.catalogue_text("compilers_rust"))

ALIKE: list[set[str]] = [
    set(line.split())
    for line in """
attr_string_int attr_lossy attr_checked attr_generic
attr_symbol attr_method attr_class attr_import attr_enum
attr_args attr_constructor
attr_abstract attr_override attr_weaker
attr_final attr_private attr_static
attr_final attr_twice attr_duplicate
attr_cycle attr_finalclass
attr_operand attr_condition
attr_switchtype attr_method attr_array attr_primitive
attr_unchecked attr_rawtypes attr_instanceof attr_redundant
flow_return flow_unreachable flow_finally
flow_uninit flow_finalfield flow_capture
flow_exception flow_nevercaught
types_mismatch types_arg types_branches types_if types_index
types_count types_missingfield
types_method types_field types_unwrap types_call types_iter types_deref
types_display types_bound types_trait types_ops
resolve_value resolve_func resolve_type resolve_import resolve_macro resolve_trait resolve_variant resolve_derive
borrow_moved borrow_deref borrow_return borrow_closure
borrow_mut borrow_assign borrow_unusedmut
borrow_two borrow_shared
borrow_dead borrow_unused borrow_mustuse
borrow_parens borrow_unusedmut
""".strip().splitlines()
]

_CLEAN_JAVA = [
    "class {T}Pair {\n    final int left;\n    final int right;\n\n    {T}Pair(int left, int right) {\n"
    "        this.left = left;\n        this.right = right;\n    }\n}",
    "interface {T}Source {\n    String next();\n}",
    'class {T}Words {\n    static String join(java.util.List<String> parts) {\n        return String.join("-", parts);\n    }\n}',
    "record {T}Entry(String name, int size) { }",
]
_CLEAN_RUST = [
    "pub fn {t}_double(value: u32) -> u32 {\n    value * 2\n}",
    "pub struct {T}Store {\n    pub items: Vec<String>,\n}",
    "pub fn {t}_longest(items: &[String]) -> usize {\n    items.iter().map(|i| i.len()).max().unwrap_or(0)\n}",
    "#[derive(Clone, Debug)]\npub enum {T}Kind {\n    Plain,\n    Special(u8),\n}",
]


def near(name: str, others: set[str]) -> bool:
    """Whether a question about one fault might be answered by the report of another."""
    return name in others or any(name in group and group & others for group in ALIKE)


def _labels(
    rng: random.Random,
    page: Page,
    placed: list[Placed],
    catalogue: list[Snippet],
    locate: Callable[[Placed], list[tuple[int, int]]],
) -> list[Label]:
    by_kind: dict[str, list[tuple[Placed, list[tuple[int, int]]]]] = {}
    for item in placed:
        by_kind.setdefault(item.snippet.name, []).append((item, locate(item)))
    labels: list[Label] = []
    for name, items in by_kind.items():
        if not all(spans for _, spans in items) or len(items) > 3:
            continue
        query = worded(rng, rng.choice(items[0][0].snippet.queries))
        if len(items) > 1 and rng.random() < 0.6:  # one of several, told by its file
            item, spans = rng.choice(items)
            others = {other.noun for other, _ in items if other is not item}
            if item.noun in others:
                continue
            low = query[:1].lower() + query[1:]
            query = rng.choice(
                [
                    f"In the part about {rng.choice(item.words)}: {low}",
                    f"{query} Only {item.file}.",
                    f"{item.file}: {low}",
                ]
            )
            told, alone = [(item, spans)], False
        else:
            told, alone = items, not near(name, set(by_kind) - {name})
        key = f"{name}:{told[0][0].noun}"
        for _, spans in told:
            for span in spans:
                page.mark(key, *span)
        labels.append(Label(query, key, name, cuttable=alone))
    rng.shuffle(labels)
    labels = labels[:7]
    phase = {name.partition("_")[0] for name in by_kind}
    free = [s for s in catalogue if s.name.partition("_")[0] in phase and not near(s.name, set(by_kind))]
    for snippet in rng.sample(free, min(len(free), rng.choice([1, 1, 2]))):
        labels.append(Label(worded(rng, rng.choice(snippet.queries)), None, f"absent_{snippet.name}"))
    return labels


def _until(page: Page, number: int, ends: re.Pattern[str]) -> int:
    stop = number
    while stop < len(page.lines) and not ends.match(page.lines[stop]):
        stop += 1
    while stop > number and not page.lines[stop - 1].strip():
        stop -= 1
    return stop


def _java(rng: random.Random, index: int) -> Iterator[Record]:
    if not shutil.which("javac"):
        return
    phase = rng.choice(["attr", "attr", "flow"])
    catalogue = [s for s in JAVA if s.name.startswith(phase)]
    texts, placed = compose(
        rng,
        catalogue,
        _CLEAN_JAVA,
        suffix=".java",
        mark=" //!",
        count=rng.randint(6, 14),
        files=rng.randint(3, 7),
        head="",
    )
    project = project_name(rng)
    root_name = rng.choice(["src", "src/main/java", f"src/org/{project}"])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / root_name).mkdir(parents=True)
        names = []
        for name, text in texts.items():
            (root / root_name / name).write_text(text, "utf-8")
            names.append(f"{root_name}/{name}")
        output = run(
            ["javac", "-J-Xshare:auto", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-Xlint:all", "-Xmaxerrs", "200",
             "-Xmaxwarns", "200", "-d", "out", *sorted(names)], root, rng, f"/home/user/src/{project}",
        )  # fmt: skip
    style = rng.choice(["javac", "javac", "ant", "maven"])
    lines = output.rstrip("\n").split("\n")
    if style == "ant":
        lines = ["Buildfile: build.xml", "", "init:", "", "compile:", f"    [javac] Compiling {len(texts)} source files to out",
                 *("    [javac] " + line for line in lines), "", "BUILD FAILED"]  # fmt: skip
    page = Page()
    page.say(*lines)
    head = r"(?:\s*\[javac\] )?"
    begin = re.compile(rf"{head}(?:\S+\.java:\d+: |warning: \[|Note: |\d+ (?:errors?|warnings?)\b)|$|BUILD")

    def locate(item: Placed) -> list[tuple[int, int]]:
        wanted = re.compile(rf"{head}{re.escape(root_name)}/{item.file}:{item.line}: ")
        reported = [n for n, line in enumerate(page.lines, 1) if wanted.match(line)]
        if "serial" not in item.snippet.name:
            reported = [n for n in reported if "[serial]" not in page.lines[n - 1]]
        return [(n, _until(page, n, begin)) for n in reported]

    command = {"ant": "ant compile", "maven": "javac -Xlint:all -d out @sources.txt"}.get(
        style,
        rng.choice(
            ["javac -Xlint:all -d out $(find src -name '*.java')", "make classes", "javac -Xlint:all -d out src/*.java"]
        ),
    )
    yield from kit.records(
        page, _labels(rng, page, placed, JAVA, locate), tool_type="build_output" if style == "ant" else "mvn_gradle",
        command=command, family=NAME, project=f"{project}-{index % 20}", ident=f"java-{index}-{rng.getrandbits(32):08x}",
        package="javac",
    )  # fmt: skip


def _rust(rng: random.Random, index: int) -> Iterator[Record]:
    if not shutil.which("cargo"):
        return
    phase = rng.choice(["types", "types", "resolve", "borrow", "borrow"])
    catalogue = [s for s in RUST if s.name.startswith(phase)]
    texts, placed = compose(
        rng,
        catalogue,
        _CLEAN_RUST,
        suffix=".rs",
        mark=" //!",
        count=rng.randint(6, 13),
        files=rng.randint(3, 7),
        head="",
    )
    project = project_name(rng)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "src").mkdir()
        for name, text in texts.items():
            (root / "src" / name).write_text(text, "utf-8")
        modules = "".join(f"pub mod {name.removesuffix('.rs')};\n" for name in sorted(texts))
        (root / "src" / "lib.rs").write_text(modules, "utf-8")
        manifest = (
            f'[package]\nname = "{project}"\nversion = "0.{rng.randint(1, 9)}.{rng.randint(0, 9)}"\nedition = "2021"\n'
        )
        (root / "Cargo.toml").write_text(manifest, "utf-8")
        kept = {
            name: os.environ.get(name, str(Path.home() / f".{name.split('_')[0].lower()}"))
            for name in ("CARGO_HOME", "RUSTUP_HOME")
        }
        output = run(
            ["cargo", "check", "--offline", "--color", "never"], root, rng, f"/home/user/src/{project}", env=kept
        )
    page = Page()
    page.say(output.rstrip("\n"))

    def locate(item: Placed) -> list[tuple[int, int]]:
        found = []
        for number, line in enumerate(page.lines, 1):
            if re.match(rf"\s*--> src/{item.file}:{item.line}:", line):
                first = number
                while first > 1 and not re.match(r"(error|warning)(\[|:)", page.lines[first - 1]):
                    first -= 1
                found.append((first, _until(page, number, re.compile(r"$"))))
        return found

    yield from kit.records(
        page, _labels(rng, page, placed, RUST, locate), tool_type="cargo_build",
        command=rng.choice(["cargo check", "cargo check --all-targets", "cargo build", "cargo check 2>&1"]), family=NAME,
        project=f"{project}-{index % 20}", ident=f"rust-{index}-{rng.getrandbits(32):08x}", package="rustc",
    )  # fmt: skip


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of Java and Rust builds; what is not installed is left out. Options: `observations`, `languages`."""
    makers = {"java": _java, "rust": _rust}
    chosen = [makers[name] for name in options.get("languages", ["java", "rust"])]
    for index in range(int(options.get("observations", kit.MANY))):
        local = random.Random(rng.getrandbits(64))
        made = list(local.choice(chosen)(local, index))
        if made and made[0].tool_output.count("\n") >= 20:
            yield from made
        if not made and index >= 20 and not any(shutil.which(tool) for tool in ("javac", "cargo")):
            return
