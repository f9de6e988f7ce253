"""Static checks and builds with planted faults: mypy, pyright, ruff, flake8, pylint, gcc and make, pip.

Each project is composed of snippets; `#!` (`//!` in C) ends the line at which the tool complains, so the
evidence is found by file and line in what the tool really printed.
"""

# ruff: noqa: E501  (texts of tools and queries stay on one line)

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Label, Page
from linecls.data.families.test_runs import NOUNS, run
from linecls.records import Record

NAME = "checks"


@dataclass
class Snippet:
    """Code with a fault at the line that ends with a mark, and queries about the complaint."""

    name: str
    head: str = ""
    body: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)


def snippets(text: str) -> list[Snippet]:
    """`= name` begins a snippet, `^ line` goes to the top of its file, `? query`, all else is code."""
    found: list[Snippet] = []
    for line in text.splitlines():
        if line.startswith("= "):
            found.append(Snippet(line[2:].strip()))
        elif line.startswith("? "):
            found[-1].queries.append(line[2:])
        elif line.startswith("^ "):
            found[-1].head += line[2:] + "\n"
        elif found and (line.strip() or found[-1].body):
            found[-1].body.append(line)
    for snippet in found:
        while snippet.body and not snippet.body[-1].strip():
            snippet.body.pop()
    return found


TYPES = snippets(kit.catalogue_text("checks_types"))

LINT = snippets(kit.catalogue_text("checks_lint"))
LINT = [s for s in LINT if s.queries]

C_FAULTS = snippets(kit.catalogue_text("checks_c_faults"))
_STD = [
    "os",
    "sys",
    "json",
    "re",
    "math",
    "time",
    "shutil",
    "string",
    "textwrap",
    "calendar",
    "bisect",
    "heapq",
    "glob",
    "uuid",
    "zlib",
]
_ALIKE: list[set[str]] = [
    {"return_str", "return_none", "missing_return_value", "yield", "override"},
    {"arg_type", "callback", "str_bytes", "literal", "protocol"},
    {"optional_attr", "missing_attr", "enum_member", "self_missing", "possibly_unbound"},
    {"wrong_args_count", "unexpected_kw", "super_init"},
    {"assign", "reassign", "list_item", "dict_item", "generic", "operand", "union"},
    {"typed_dict", "typed_dict_key", "index_str", "dict_item"},
    {"final", "frozen", "property"},
    {"undefined", "import_missing"},
    {"tuple_index", "index_str"},
    {"not_callable", "not_iterable", "operand", "union", "await_missing"},
    {"abstract", "protocol"},
    {"F401", "F841", "B007", "ARG001", "B015"},
    {"F811", "F601", "A001"},
    {"E711", "E712", "F632"},
    {"E722", "B904", "B017", "TRY002"},
    {"B006", "B008", "PLW0603"},
    {"S301", "S506", "S602", "S608"},
    {"S105", "S324", "S311"},
    {"UP006", "UP007", "UP031", "UP008"},
    {"SIM102", "C901", "RET505"},
    {"C401", "C416", "SIM118", "RUF005"},
    {"N801", "N802", "E741", "A001"},
    {"PLR0913", "FBT003", "ARG001"},
    {"F541", "UP031"},
    {"F821"},
    {"S113", "SIM115"},
    {"E731", "B023"},
    {"DTZ005", "B008"},
    {"PTH118"},
    {"unused_var", "unused_func", "unused_param"},
    {"implicit_decl", "undeclared", "include"},
    {"int_from_ptr", "ptr_mismatch", "const_discard", "local_addr"},
    {"too_few", "too_many"},
    {"no_return", "void_value", "uninit"},
    {"format", "format_arg"},
    {"missing_semicolon", "unterminated"},
    {"assign_cond", "lvalue", "const_assign"},
    {"dangling_else", "misleading_indent"},
    {"shift", "overflow", "sign_compare", "div_zero"},
    {"incomplete", "no_member"},
    {"redefinition", "conflicting", "case_dup"},
    {"fallthrough", "enum_switch", "case_dup", "break_outside"},
    {"array_bounds", "string_overflow", "static_assert"},
]


def near(name: str, others: set[str]) -> bool:
    """Whether a query about `name` might be answered by one of the others."""
    return name in others or any(name in group and group & others for group in _ALIKE)


@dataclass
class Placed:
    """A snippet in a file: where the tool is expected to complain."""

    snippet: Snippet
    noun: str
    words: list[str]
    file: str
    line: int
    slots: kit.Slots


def compose(
    rng: random.Random,
    catalogue: list[Snippet],
    clean: list[str],
    *,
    suffix: str,
    mark: str,
    count: int,
    files: int,
    head: str,
) -> tuple[dict[str, str], list[Placed]]:
    """Files with `count` faulty snippets among clean ones; a snippet may be planted twice under other nouns."""
    nouns = rng.sample(NOUNS, files)
    chosen = rng.sample(catalogue, min(count, len(catalogue)))
    plan: list[tuple[Snippet, tuple[str, list[str]]]] = [(s, rng.choice(nouns)) for s in chosen]
    for snippet, noun in list(plan):
        if rng.random() < 0.15:
            plan.append((snippet, rng.choice([n for n in nouns if n != noun] or nouns)))
    common = rng.sample(chosen, min(4, len(chosen)))  # real projects have some complaints over and over
    for _ in range(rng.choice([0, rng.randint(4, 12), rng.randint(10, 40)])):
        plan.append((rng.choice(common), rng.choice(nouns)))
    by_file: dict[str, list[tuple[Snippet, kit.Slots] | str]] = {noun: [] for noun, _ in nouns}
    done: set[tuple[str, str]] = set()
    for snippet, (noun, words) in plan:
        if (snippet.name, noun) in done:
            continue
        done.add((snippet.name, noun))
        slots = kit.Slots(
            rng,
            {},
            {
                "t": noun,
                "T": noun.title(),
                "module": rng.choice(_STD),
                "shadow": rng.choice(["list", "input", "id", "type", "filter", "hash"]),
                "t_p": rng.choice(words),
            },
        )
        by_file[noun].append((snippet, slots))
    texts: dict[str, str] = {}
    placed: list[Placed] = []
    vocabulary = dict(NOUNS)
    for noun, items in by_file.items():
        for piece in rng.sample(clean, rng.randint(1, min(7, len(clean)))):
            items.append(kit.Slots(rng, {}, {"t": noun, "T": noun.title()}).fill(piece))
        rng.shuffle(items)
        lines = head.split("\n") if head else []
        name = f"{noun}{suffix}"
        body: list[str] = []
        marks: list[tuple[bool, int, Snippet, kit.Slots]] = []
        for item in items:
            if isinstance(item, str):
                body += [*item.split("\n"), "", ""]
                continue
            snippet, slots = item
            for line in snippet.head.rstrip("\n").split("\n") if snippet.head else []:
                filled = slots.fill(line)
                if mark in filled:
                    filled = filled.split(mark)[0].rstrip()
                    lines.append(filled)
                    marks.append((True, len(lines), snippet, slots))
                elif filled not in lines:
                    lines.append(filled)
            for line in snippet.body:
                filled = slots.fill(line)
                if mark in filled:
                    filled = filled.split(mark)[0].rstrip()
                    body.append(filled)
                    marks.append((False, len(body), snippet, slots))
                else:
                    body.append(filled)
            body += ["", ""]
        offset = len(lines) + 2
        for top, number, snippet, slots in marks:
            placed.append(Placed(snippet, noun, vocabulary[noun], name, number if top else number + offset, slots))
        texts[name] = "\n".join([*lines, "", "", *body]).rstrip("\n") + "\n"
    return texts, placed


_CLEAN_PY = [
    "def {t}_double(value: int) -> int:\n    return value * 2",
    "class {T}Store:\n    def __init__(self) -> None:\n        self.items: list[str] = []\n\n    def add(self, item: str) -> None:\n        self.items.append(item)",
    'def {t}_join(parts: list[str]) -> str:\n    return "-".join(parts)',
    "def {t}_bounds(values: list[int]) -> tuple[int, int]:\n    return min(values), max(values)",
    '{t}_names = ["a", "b", "c"]',
    "def {t}_find(rows: dict[str, int], key: str) -> int | None:\n    return rows.get(key)",
]
_NOISE_PY = [
    "def {t}_raw(x):\n    return x",
    "def {t}_pass(a, b=None):\n    return a or b",
    "class {T}Bag:\n    def put(self, x):\n        self.x = x\n\n    def take(self):\n        return self.x",
    "def {t}_echo(*args):\n    return args",
    "def {t}_later(cb):\n    def inner():\n        return cb()\n\n    return inner",
    "def _{t}_hidden(v):\n    return v",
]
_CLEAN_C = [
    "int {t}_double(int v) { return v * 2; }",
    "int {t}_max(int a, int b) {\n    return a > b ? a : b;\n}",
    'void {t}_hello(void) {\n    puts("{t}");\n}',
    "long {t}_sum(const int *v, int n) {\n    long s = 0;\n    for (int i = 0; i < n; i++) s += v[i];\n    return s;\n}",
]


def _block(page: Page, number: int, starts: Callable[[str], bool]) -> int:
    """Last line of the block that begins at `number`: up to the next line that starts another."""
    end = number
    while end < len(page.lines) and not starts(page.lines[end]):
        end += 1
    while end > number and not page.lines[end - 1].strip():
        end -= 1
    return end


def label(
    rng: random.Random,
    page: Page,
    placed: list[Placed],
    catalogue: list[Snippet],
    locate: Callable[[Placed], list[tuple[int, int]]],
    *,
    tool: str,
    limit: int = 6,
) -> list[Label]:
    """Labels for the planted faults that the tool reported; repeated kinds only by what tells them apart."""
    by_kind: dict[str, list[Placed]] = {}
    for item in placed:
        by_kind.setdefault(item.snippet.name, []).append(item)
    labels: list[Label] = []
    for name, items in by_kind.items():
        regions = [locate(item) for item in items]
        if not any(regions):
            continue
        if len(items) == 1:
            key = f"{name}0"
            for span in regions[0]:
                page.mark(key, *span)
            labels.append(
                Label(
                    kit.vary(rng, items[0].slots.fill(rng.choice(items[0].snippet.queries))),
                    key,
                    f"{tool}_{name}",
                    cuttable=not near(name, {other for other in by_kind if other != name}),
                )
            )
            continue
        special = [q for q in items[0].snippet.queries if "{t_p}" in q]
        if special and rng.random() < 0.7 and all(regions):
            at = rng.randrange(len(items))
            for span in regions[at]:
                page.mark(f"{name}{at}", *span)
            labels.append(
                Label(kit.vary(rng, items[at].slots.fill(rng.choice(special))), f"{name}{at}", f"{tool}_{name}")
            )
        elif all(regions) and len(items) <= 4:
            for found in regions:
                for span in found:
                    page.mark(f"{name}all", *span)
            general = [q for q in items[0].snippet.queries if "{" not in q]
            if general:
                labels.append(Label(kit.vary(rng, rng.choice(general)), f"{name}all", f"{tool}_{name}_all"))
    rng.shuffle(labels)
    labels = labels[:limit]
    if labels and rng.random() < 0.35 and (easy := kit.lexical(rng, page, rng.choice(labels).key or "")):
        labels.append(easy)
    if rng.random() < 0.7:
        names = set(by_kind)
        absent = kit.pick(rng, [s for s in catalogue if not near(s.name, names)])
        if absent is not None:
            noun, words = rng.choice(NOUNS)
            slots = kit.Slots(rng, {}, {"t": noun, "t_p": rng.choice(words), "T": noun.title()})
            labels.append(
                Label(
                    kit.vary(rng, slots.fill(rng.choice(absent.queries))),
                    None,
                    f"{tool}_absent_{absent.name}",
                )
            )
    return labels


def project_name(rng: random.Random) -> str:
    return rng.choice(
        [
            "atlas",
            "brook",
            "cairn",
            "dune",
            "etch",
            "flint",
            "grove",
            "heron",
            "inlet",
            "jetty",
            "kelp",
            "loom",
        ]
    ) + rng.choice(["", "kit", "ctl", "lib"])


def _typed(rng: random.Random, index: int, options: dict[str, Any]) -> Iterator[Record]:
    """One run of a type checker over several projects; each project's part of the output is an observation."""
    python = kit.program(options, "python", sys.executable)
    tool = rng.choice(["mypy", "mypy", "pyright"])
    flags = (
        rng.choice(
            [
                ["--pretty"],
                [],
                ["--show-error-context"],
                ["--show-column-numbers"],
                ["--strict"],
                ["--pretty", "--strict"],
                ["--show-error-end"],
            ]
        )
        if tool == "mypy"
        else []
    )
    noisy = rng.random() < 0.6
    if noisy and tool == "mypy" and "--strict" not in flags:
        flags = [*flags, "--disallow-untyped-defs"]
    clean = _CLEAN_PY + _NOISE_PY if noisy else _CLEAN_PY
    projects: dict[str, tuple[dict[str, str], list[Placed]]] = {}
    while len(projects) < TYPED_BATCH:
        projects.setdefault(
            project_name(rng) + rng.choice(["", "_core", "_web", "_ng"]),
            compose(
                rng,
                TYPES,
                clean,
                suffix=".py",
                mark="  #!",
                count=rng.randint(8, 34),
                files=rng.randint(4, 14),
                head="from __future__ import annotations",
            ),
        )
    home = "/home/user/src/mono"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for project, (texts, _) in projects.items():
            (root / project).mkdir()
            (root / project / "__init__.py").write_text("")
            for name, text in texts.items():
                (root / project / name).write_text(text, encoding="utf-8")
        cache = options.get("cache") or Path(tempfile.gettempdir()) / "linecls-mypy"
        if tool == "mypy":
            output = run(
                [
                    python,
                    "-m",
                    "mypy",
                    "--cache-dir",
                    str(cache),
                    "--check-untyped-defs",
                    *flags,
                    *sorted(projects),
                ],
                root,
                rng,
                home,
                timeout=400,
            )
        else:
            output = run(
                [python, "-m", "pyright", "--pythonpath", python, *sorted(projects)],
                root,
                rng,
                home,
                timeout=400,
            )
    parts = split_projects(output, list(projects), home)
    for number, (project, (texts, placed)) in enumerate(projects.items()):
        lines = parts[project]
        errors = sum(bool(re.search(r"(: error:| - error: )", line)) for line in lines)
        files = len({re.split(r":\d+", line.strip())[0] for line in lines if re.search(r"(: error:| - error: )", line)})
        if not errors:
            continue
        if tool == "mypy":
            lines.append(f"Found {errors} errors in {files} files (checked {len(texts) + 1} source files)")
        else:
            warnings = sum(" - warning: " in line for line in lines)
            lines.append(f"{errors} errors, {warnings} warnings, 0 informations ")
        page = Page()
        page.say(*lines)
        yield from _typed_page(
            rng,
            page,
            tool=tool,
            project=project,
            placed=placed,
            ident=f"{index}-{number}",
            command=" ".join([tool, *flags, project]),
        )


TYPED_BATCH = 8


def split_projects(output: str, projects: list[str], home: str) -> dict[str, list[str]]:
    """Lines of each project: those that name its folder and what follows them."""
    parts: dict[str, list[str]] = {project: [] for project in projects}
    current = ""
    pattern = re.compile(
        rf"^\s*(?:{re.escape(home)}/)?({'|'.join(sorted(map(re.escape, projects), key=len, reverse=True))})/\S+"
    )
    for line in output.split("\n"):
        match = pattern.match(line)
        if match:
            current = match.group(1)
        elif re.match(r"^(Found \d+ error|\d+ errors?, )", line):
            current = ""
        if current:
            parts[current].append(line)
    return parts


def _typed_page(
    rng: random.Random, page: Page, *, tool: str, project: str, placed: list[Placed], ident: str, command: str
) -> Iterator[Record]:
    if tool == "mypy":
        start = re.compile(r"^(\S+\.py):(\d+):|^Found \d+|^\S+\.py: note: In")

        def locate(item: Placed) -> list[tuple[int, int]]:
            found = []
            for number, line in enumerate(page.lines, 1):
                if re.match(rf"{project}/{item.file}:{item.line}:.*error", line):
                    end = _block(page, number, lambda s: bool(start.match(s)))
                    while end < len(page.lines) and re.match(
                        rf"{project}/{item.file}:{item.line}:.*note", page.lines[end]
                    ):
                        end = _block(page, end + 1, lambda s: bool(start.match(s)))
                    found.append((number, end))
            return found
    else:
        begin = re.compile(r"^  ?\S+\.py:\d+:\d+ - |^/\S+\.py$|^\d+ errors?")

        def locate(item: Placed) -> list[tuple[int, int]]:
            return [
                (n, _block(page, n, lambda s: bool(begin.match(s))))
                for n, line in enumerate(page.lines, 1)
                if f"/{item.file}:{item.line}:" in line
            ]

    labels = label(rng, page, placed, TYPES, locate, tool=tool)
    if rng.random() < 0.1:
        page.mark("total", len(page.lines))
        labels.append(
            Label(
                rng.choice(["How bad is it altogether?", "number of problems in total"]),
                "total",
                f"{tool}_total",
            )
        )
    yield from kit.records(
        page,
        labels,
        tool_type="type_check",
        command=command,
        family=NAME,
        project=project,
        ident=f"type_check-{ident}-{rng.getrandbits(32):08x}",
        package=tool,
    )


def _lint(rng: random.Random, index: int, options: dict[str, Any]) -> Iterator[Record]:
    python = kit.program(options, "python", sys.executable)
    project = project_name(rng)
    count = rng.randint(6, 18)
    texts, placed = compose(
        rng,
        LINT,
        _CLEAN_PY + _NOISE_PY,
        suffix=".py",
        mark="  #!",
        count=count,
        files=rng.randint(2, 7),
        head="",
    )
    codes = sorted({item.snippet.name for item in placed})
    home = f"/home/user/src/{project}"
    form = rng.choice(["concise", "full", "full", "grouped", "flake8", "pylint-like"])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / project).mkdir()
        for name, text in texts.items():
            (root / project / name).write_text(text, encoding="utf-8")
        extra = rng.sample(["D103", "ANN001", "ANN201", "D101", "D100", "INP001", "ANN202"], rng.randint(1, 3))
        if form == "flake8":
            output = run(
                [
                    python,
                    "-m",
                    "flake8",
                    "--max-complexity",
                    "6",
                    *(["--show-source"] if rng.random() < 0.5 else []),
                    project,
                ],
                root,
                rng,
                home,
            )
            command = f"flake8 {project}"
        else:
            fmt = "pylint" if form == "pylint-like" else form
            output = run(
                [
                    python,
                    "-m",
                    "ruff",
                    "check",
                    "--isolated",
                    "--no-cache",
                    "--select",
                    ",".join([*codes, *extra]),
                    "--output-format",
                    fmt,
                    "--config",
                    "lint.mccabe.max-complexity=6",
                    project,
                ],
                root,
                rng,
                home,
            )
            command = rng.choice(
                [f"ruff check {project}", f"ruff check --output-format {fmt} {project}", "ruff check ."]
            )
    page = Page()
    if output:
        page.say(output)

    def locate(item: Placed) -> list[tuple[int, int]]:
        code = item.snippet.name
        path = f"{project}/{item.file}"
        found = []
        for number, line in enumerate(page.lines, 1):
            if form in ("concise", "flake8", "pylint-like"):
                if re.match(rf"(\./)?{re.escape(path)}:{item.line}:.*\b{code}\b", line):
                    end = number
                    while (
                        form == "flake8"
                        and end < len(page.lines)
                        and not re.match(r"(\./)?\S+\.py:\d+:", page.lines[end])
                    ):
                        end += 1
                    found.append((number, end))
            elif form == "grouped":
                if re.match(rf"\s+{item.line}:\d+\s+{code}\b", line):
                    above = next(
                        (page.lines[n - 1] for n in range(number, 0, -1) if page.lines[n - 1].endswith(".py:")),
                        "",
                    )
                    if path in above:
                        found.append((number, number))
            elif (
                re.search(rf"--> {re.escape(path)}:{item.line}:", line)
                and number > 1
                and page.lines[number - 2].startswith(code)
            ):
                found.append(
                    (
                        number - 1,
                        _block(page, number, lambda s: bool(re.match(r"^[A-Z]+\d+ |^Found |^invalid", s))),
                    )
                )
        return found

    labels = label(rng, page, placed, LINT, locate, tool=form)
    if page.lines and rng.random() < 0.12:
        number = page.find("Found ")
        if number:
            page.mark("total", number, len(page.lines))
            labels.append(
                Label(
                    rng.choice(["How many issues, and what could be repaired automatically?", "the closing tally"]),
                    "total",
                    "ruff_total",
                )
            )
    yield from kit.records(
        page,
        labels,
        tool_type="lint_output",
        command=command,
        family=NAME,
        project=f"{project}-{index % 9}",
        ident=f"lint_output-{index}-{rng.getrandbits(32):08x}",
        package="flake8" if form == "flake8" else "ruff",
    )


def _build(rng: random.Random, index: int, options: dict[str, Any]) -> Iterator[Record]:
    if not shutil.which("gcc") or not shutil.which("make"):
        return
    project = project_name(rng)
    texts, placed = compose(
        rng,
        C_FAULTS,
        _CLEAN_C,
        suffix=".c",
        mark=" //!",
        count=rng.randint(5, 16),
        files=rng.randint(3, 8),
        head="#include <stdio.h>\n#include <string.h>",
    )
    home = f"/home/user/src/{project}"
    flags = ["-Wall", "-Wextra", "-Wconversion", "-O2"] if rng.random() < 0.4 else ["-Wall", "-Wextra", "-O1"]
    quiet = rng.random() < 0.4
    show = " -fno-diagnostics-show-caret" if rng.random() < 0.25 else ""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "src").mkdir()
        for name, text in texts.items():
            (root / "src" / name).write_text(text, encoding="utf-8")
        objects = " ".join(f"build/{name[:-2]}.o" for name in texts)
        rule = (
            "\t@echo '  CC      $<'\n\t@$(CC) $(CFLAGS) -c $< -o $@\n" if quiet else "\t$(CC) $(CFLAGS) -c $< -o $@\n"
        )
        (root / "Makefile").write_text(
            f"CC = gcc\nCFLAGS = {' '.join(flags)} -std=gnu11{show}\nOBJS = {objects}\n\n{project}: $(OBJS)\n\t$(CC) -o $@ $(OBJS)\n\nbuild/%.o: src/%.c\n\t@mkdir -p build\n{rule}"
        )
        output = run(["make", "-k"], root, rng, home)
    page = Page()
    if output:
        page.say(output)
    begin = re.compile(r"^(src/\S+:|gcc |make|  CC |In file|/usr/bin/ld|cc1|compilation)")

    def locate(item: Placed) -> list[tuple[int, int]]:
        found = []
        for number, line in enumerate(page.lines, 1):
            if re.match(rf"src/{item.file}:{item.line}:\d+: (warning|error|fatal error):", line):
                end = _block(page, number, lambda s: bool(begin.match(s)))
                while end < len(page.lines) and re.match(r"src/\S+:\d+:\d+: note:", page.lines[end]):
                    end = _block(page, end + 1, lambda s: bool(begin.match(s)))
                first = (
                    number - 1
                    if number > 1 and re.match(rf"src/{item.file}: (In function|At top)", page.lines[number - 2])
                    else number
                )
                found.append((first, end))
        return found

    labels = label(rng, page, placed, C_FAULTS, locate, tool="gcc")
    failed = [n for n, line in enumerate(page.lines, 1) if re.match(r"make: \*\*\* \[", line)]
    if failed and len(failed) <= 4 and rng.random() < 0.3:
        for n in failed:
            page.mark("failed", n)
        labels.append(
            Label(
                rng.choice(
                    [
                        "Which objects could not be made?",
                        "targets that did not come about",
                        "What broke according to the build tool itself?",
                    ]
                ),
                "failed",
                "make_failed",
            )
        )
    yield from kit.records(
        page,
        labels,
        tool_type="build_output",
        command=rng.choice(["make -k", "make -k all", f"make -k {project}"]),
        family=NAME,
        project=f"{project}-{index % 9}",
        ident=f"build_output-{index}-{rng.getrandbits(32):08x}",
        package="gcc",
    )


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of static checks, builds and installations.

    Options: `observations`, the most outputs to make, `python`: an interpreter that has mypy, pyright, ruff and flake8.
    """
    wanted = int(options.get("observations", kit.MANY))
    index = 0
    while index < wanted:
        local = random.Random(rng.getrandbits(64))
        maker = local.choices([_typed, _lint, _build], weights=[1, TYPED_BATCH * 0.8, TYPED_BATCH])[0]
        yield from maker(local, index, options)
        index += TYPED_BATCH if maker is _typed else 1
