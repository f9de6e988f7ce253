"""Type checks and lint of TypeScript and JavaScript with planted faults: tsc and eslint, really run."""

# ruff: noqa: E501  (texts of tools and queries stay on one line)

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Page
from linecls.data.families.checks import Placed, compose, label, project_name, snippets, split_projects
from linecls.data.families.test_runs import run
from linecls.records import Record

NAME = "script_checks"
BATCH = 8

TS = snippets(kit.catalogue_text("script_checks_ts"))

JS = snippets(kit.catalogue_text("script_checks_js"))

_CLEAN_TS = [
    "export const double{T} = (v: number): number => v * 2;",
    'export function join{T}(parts: string[]): string {\n  return parts.join("-");\n}',
    "export type {T}Id = string & { readonly brand: unique symbol };",
    'export const {t}Names: readonly string[] = ["a", "b"];',
]
_CLEAN_JS = [
    "export const double{T} = (v) => v + v;",
    'export function join{T}(parts) {\n  return parts.join("-");\n}',
    'export const {t}Names = ["a", "b"];',
]


def _bin(options: dict[str, Any], name: str) -> Path | None:
    folder = kit.program(options, "node_modules")
    path = Path(folder) / ".bin" / name
    return path if folder and path.exists() else None


def _projects(rng: random.Random, kind: str) -> dict[str, tuple[dict[str, str], list[Placed]]]:
    catalogue, clean, suffix = (TS, _CLEAN_TS, ".ts") if kind == "tsc" else (JS, _CLEAN_JS, ".js")
    found: dict[str, tuple[dict[str, str], list[Placed]]] = {}
    while len(found) < BATCH:
        name = project_name(rng) + rng.choice(["", "-web", "-ui", "-sdk"])
        found.setdefault(
            name,
            compose(
                rng,
                catalogue,
                clean,
                suffix=suffix,
                mark=" //!",
                count=rng.randint(8, 28),
                files=rng.randint(3, 12),
                head="",
            ),
        )
    return found


def _batch(rng: random.Random, index: int, options: dict[str, Any], kind: str) -> Iterator[Record]:
    """One run of tsc or eslint over several projects; each project's part is an observation."""
    program = _bin(options, kind)
    if program is None:
        return
    projects = _projects(rng, kind)
    home = "/home/user/src/mono"
    pretty = rng.random() < 0.4
    form = rng.choice(["stylish", "stylish", "unix"])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        names = []
        for project, (texts, _) in projects.items():
            (root / project / "src").mkdir(parents=True)
            for name, text in texts.items():
                (root / project / "src" / name).write_text(text, encoding="utf-8")
                names.append(f"{project}/src/{name}")
        if kind == "tsc":
            output = run(
                [
                    str(program),
                    "--noEmit",
                    "--strict",
                    "--noUnusedLocals",
                    "--noImplicitReturns",
                    "--target",
                    "es2022",
                    "--module",
                    "esnext",
                    "--moduleResolution",
                    "bundler",
                    "--skipLibCheck",
                    "--lib",
                    "es2022,dom",
                    *(["--pretty"] if pretty else []),
                    *names,
                ],
                root,
                rng,
                home,
                timeout=400,
            )
            output = re.sub(r"\x1b\[[0-9;]*m", "", output)
        else:
            rules = {s.name: "error" for s in JS}
            rules["no-magic-numbers"] = ["warn", {"ignore": list(range(-1, 100))}]  # type: ignore[assignment]
            rules["complexity"] = ["error", 6]  # type: ignore[assignment]
            rules["max-params"] = ["warn", 4]  # type: ignore[assignment]
            for noise in rng.sample(
                [
                    "max-statements",
                    "sort-keys",
                    "func-style",
                    "id-length",
                    "prefer-arrow-callback",
                    "capitalized-comments",
                ],
                2,
            ):
                rules[noise] = "warn"
            import json

            (root / "eslint.config.mjs").write_text(
                f"export default [{{ languageOptions: {{ globals: {{ console: 'readonly' }} }}, rules: {json.dumps(rules)} }}];\n",
                encoding="utf-8",
            )
            output = run([str(program), "--no-color", "-c", "eslint.config.mjs", *names], root, rng, home, timeout=400)
    parts = split_projects(output, list(projects), home)
    for number, (project, (_, placed)) in enumerate(projects.items()):
        lines = parts[project]
        while lines and not lines[-1].strip():
            lines.pop()
        if len(lines) < 12:
            continue
        page = Page()
        if kind == "tsc":
            errors = sum(bool(re.search(r"error TS\d+", line)) for line in lines)
            page.say(*lines)
            page.say("", f"Found {errors} errors.")
            command = f"npx tsc -p {project} --noEmit" + (" --pretty" if pretty else "")
        elif form == "stylish":
            problems = [line for line in lines if re.match(r"^\s+\d+:\d+\s+(error|warning)", line)]
            bad = sum(" error " in line for line in problems)
            page.say(*[line for line in lines if "potentially fixable" not in line])
            page.say("", f"✖ {len(problems)} problems ({bad} errors, {len(problems) - bad} warnings)")
            command = rng.choice([f"npx eslint {project}/src", "npm run lint"])
        else:
            current = ""
            for line in lines:
                if line.startswith("/"):
                    current = line
                elif match := re.match(r"^\s+(\d+:\d+)\s+(error|warning)\s+(.*?)\s{2,}(\S+)$", line):
                    page.say(
                        f"{current}:{match.group(1)}: {match.group(3)} [{match.group(2).title()}/{match.group(4)}]"
                    )
            command = f"npx eslint -f unix {project}/src"
        yield from _page(
            rng,
            page,
            placed=placed,
            project=project,
            kind=kind,
            form=form,
            ident=f"{index}-{number}",
            command=command,
        )


def _page(
    rng: random.Random,
    page: Page,
    *,
    placed: list[Placed],
    project: str,
    kind: str,
    form: str,
    ident: str,
    command: str,
) -> Iterator[Record]:
    def locate(item: Placed) -> list[tuple[int, int]]:
        found = []
        path = f"{project}/src/{item.file}"
        for number, line in enumerate(page.lines, 1):
            if kind == "tsc":
                if re.match(rf"{re.escape(path)}(\({item.line},\d+\): |:{item.line}:\d+ - )error", line):
                    end = number
                    while end < len(page.lines) and not re.match(r"^\S+\.ts[(:]\d+|^Found ", page.lines[end]):
                        end += 1
                    while end > number and not page.lines[end - 1].strip():
                        end -= 1
                    found.append((number, end))
            elif form == "unix":
                if f"{path}:{item.line}:" in line and line.endswith(f"/{item.snippet.name}]"):
                    found.append((number, number))
            elif re.match(rf"^\s+{item.line}:\d+\s", line) and line.rstrip().endswith(f" {item.snippet.name}"):
                above = next((page.lines[n - 1] for n in range(number, 0, -1) if page.lines[n - 1].startswith("/")), "")
                if above.endswith(path):
                    found.append((number, number))
        return found

    labels = label(rng, page, placed, TS if kind == "tsc" else JS, locate, tool=kind)
    yield from kit.records(
        page,
        labels,
        tool_type=kind,
        command=command,
        family=NAME,
        project=project,
        ident=f"{kind}-{ident}-{rng.getrandbits(32):08x}",
        package="typescript" if kind == "tsc" else "eslint",
    )


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tsc and eslint runs.

    Options: `observations`, the most outputs to make, `node_modules`: a folder in which typescript and eslint are installed;
    without it nothing is made.
    """
    if _bin(options, "tsc") is None and _bin(options, "eslint") is None:
        return
    for index in range(0, int(options.get("observations", kit.MANY)), BATCH):
        local = random.Random(rng.getrandbits(64))
        yield from _batch(local, index, options, "tsc" if (index // BATCH) % 2 == 0 else "eslint")
