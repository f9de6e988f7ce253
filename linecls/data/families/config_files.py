"""Configuration files of real projects: packaging, tools, workflows, hooks; asked where something is settled.

A setting is found by its key, whatever the notation (YAML, TOML, INI); the catalogue of keys knows how people ask
for it. A comment above a setting is a second source of questions. Files come from local clones, at several ages.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.histories import Repository, repositories
from linecls.data.rephrase import rephrase
from linecls.data.views import Answered, Origin
from linecls.data.vocabulary import stems
from linecls.errors import LineclsError
from linecls.observation import split_lines
from linecls.records import Record
from linecls.spans import Span

NAME = "config_files"

_WANTED = re.compile(
    r"(^|/)(pyproject\.toml|setup\.cfg|tox\.(ini|toml)|\.coveragerc|mypy\.ini|pytest\.ini|\.flake8"
    r"|\.pre-commit-config\.ya?ml|\.readthedocs\.ya?ml|\.travis\.yml|appveyor\.yml|azure-pipelines\.yml"
    r"|\.github/(workflows/[^/]*\.ya?ml|dependabot\.yml)|mkdocs\.yml)$"
)
_SKIPPED = re.compile(r"(^|/)(tests?|examples?|testing)/")


@dataclass(frozen=True)
class Setting:
    """A setting: its dotted path, the last part, the block it stands in, and its lines from 0."""

    path: str
    key: str
    block: str
    lines: range


def _keys(text: str) -> list[tuple[re.Pattern[str], list[str]]]:
    rows = []
    for line in text.splitlines():
        left, _, right = line.partition(" = ")
        if right:
            rows.append((re.compile(rf"(?:^|\.)(?:{left})$" if "^" not in left else left), right.split(" | ")))
    return rows


_KEYS = _keys(kit.catalogue_text("config_keys"))
_YAML = re.compile(r"^( *)(- +)?([A-Za-z_][\w./-]*|\"[^\"]+\"|'[^']+'):(?: +(.*))?$")
_INI = re.compile(r"^([A-Za-z_][\w.-]*)\s*[=:]\s*(.*)$")


def _yaml(lines: list[str]) -> Iterator[Setting]:
    stack: list[tuple[int, str]] = []
    for number, raw in enumerate(lines):
        match = _YAML.match(raw.rstrip())
        if not match:
            continue
        indent = len(match.group(1)) + len(match.group(2) or "")
        while stack and stack[-1][0] >= indent:
            stack.pop()
        key = match.group(3).strip("\"'")
        stop = number + 1
        for later in range(number + 1, len(lines)):
            bare = lines[later].strip()
            depth = len(lines[later]) - len(lines[later].lstrip(" "))
            if not bare or depth > indent or (depth == indent and bare.startswith("- ") and not match.group(2)):
                stop = later + 1 if bare else stop
            else:
                break
        parts = [name for _, name in stack]
        block = next((parts[i + 1] for i, name in enumerate(parts[:-1]) if name == "jobs"), "")
        if "steps" in parts or "repos" in parts:
            block = block or "the hook"
        yield Setting(".".join([*parts, key]), key, block, range(number, stop))
        stack.append((indent, key))


def _sections(lines: list[str]) -> Iterator[Setting]:
    section = ""
    number = 0
    while number < len(lines):
        raw = lines[number].rstrip()
        header = re.match(r"^\[+\s*([^\]]+?)\s*\]+$", raw)
        match = _INI.match(raw)
        stop = number + 1
        if header:
            section = header.group(1).replace('"', "")
        elif match and not raw.startswith(("#", ";")):
            value = match.group(2)
            opened = value.count("[") - value.count("]") + value.count("{") - value.count("}")
            quoted = value.count('"""') % 2 == 1 or value.count("'''") % 2 == 1
            while stop < len(lines):
                bare = lines[stop].rstrip()
                if opened > 0:
                    opened += bare.count("[") - bare.count("]") + bare.count("{") - bare.count("}")
                elif quoted:
                    quoted = not ('"""' in bare or "'''" in bare)
                elif not re.match(r"^\s+\S", bare):
                    break
                stop += 1
            block = re.sub(r"^(testenv:|env\.|tool\.tox\.env\.)", "", section) if "env" in section else ""
            yield Setting(f"{section.replace(':', '.')}.{match.group(1)}", match.group(1), block, range(number, stop))
        number = stop


def settings_of(path: str, text: str) -> list[Setting]:
    """The settings of a file whose notation follows from its name."""
    lines = text.split("\n")
    return list(_yaml(lines) if re.search(r"\.ya?ml$", path) else _sections(lines))


def _asked(path: str, settings: list[Setting], rng: random.Random) -> list[tuple[Setting, str, str]]:
    found = []
    by_pattern: Counter[str] = Counter()
    hits: list[tuple[Setting, re.Pattern[str], list[str]]] = []
    for setting in settings:
        for pattern, queries in _KEYS:
            if pattern.search(setting.path):
                hits.append((setting, pattern, queries))
                by_pattern[pattern.pattern] += 1
                break
    for setting, pattern, queries in hits:
        alone = by_pattern[pattern.pattern] == 1
        same = sum(1 for s, p, _ in hits if p is pattern and s.block == setting.block)
        usable = [q for q in queries if ("{s}" in q) == (not alone and bool(setting.block) and same == 1)]
        if "{k}" in "".join(queries) and sum(s.key == setting.key for s, p, _ in hits if p is pattern) == 1:
            usable = [q for q in queries if "{k}" in q]
        elif not alone and (same != 1 or not setting.block):
            continue
        usable = usable or ([q for q in queries if "{" not in q] if alone else [])
        if not usable or len(setting.lines) > 14:
            continue
        block = re.sub(r"[-_]+", " ", setting.block) or "the run"
        told = (
            block
            if block.startswith("the ")
            else f"the {block} job"
            if path.endswith("ml")
            else f"the {block} environment"
        )
        query = rng.choice(usable).replace("{k}", re.sub(r"[-_]+", " ", setting.key)).replace("{s}", told)
        found.append((setting, f"key_{setting.key}", query))
    return found


def _remarked(lines: list[str], settings: list[Setting], rng: random.Random) -> list[tuple[range, str]]:
    starts = {s.lines.start: s for s in settings}
    found = []
    number = 0
    while number < len(lines):
        first = number
        while number < len(lines) and re.match(r"^\s*#", lines[number]):
            number += 1
        if number > first and number in starts and number - first <= 4 and len(starts[number].lines) <= 8:
            handle = " ".join(line.strip().lstrip("# ").strip() for line in lines[first:number])
            query = rephrase(handle, "comment", rng, stems(handle))
            if query:
                found.append((range(first, starts[number].lines.stop), query))
        number = max(number, first + 1)
    return found


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tool type `config`.

    Options: `repos` (local clones), `exclude` (project names), `ages` (how many versions of a file, 3), `labels`
    (most of an observation, 5), `negatives` (absent settings for each, 1.2), `min_lines` (25).
    """
    part, parts = int(options.get("part", 0)), int(options.get("parts", 1))
    found = repositories(options.get("repos", []), options.get("exclude", []))
    near: dict[str, set[str]] = {}
    queues = [_of_repository(r, random.Random(rng.random()), options, near) for r in found[part::parts]]
    while queues:
        for queue in list(queues):
            batch = next(queue, None)
            if batch is None:
                queues.remove(queue)
            else:
                yield from batch


def _versions(repository: Repository, ages: int) -> list[str]:
    total = int(repository.git("rev-list", "--count", "--first-parent", "HEAD").strip() or 0)
    return [f"HEAD~{total * n // (ages * 2)}" if n else "HEAD" for n in range(ages)]


def _of_repository(
    repository: Repository, rng: random.Random, options: dict[str, Any], near: dict[str, set[str]]
) -> Iterator[list[Record]]:
    seen: set[str] = set()
    low = int(options.get("min_lines", 25))
    for version in _versions(repository, int(options.get("ages", 3))):
        try:
            names = repository.git("ls-tree", "-r", "--name-only", version).split("\n")
        except LineclsError:  # a version that a shallow clone lacks
            continue
        for path in sorted(n for n in names if _WANTED.search(n) and not _SKIPPED.search(n)):
            text = repository.show(version, path)
            if text is None or text in seen or "\r" in text or not low <= text.count("\n") <= 420:
                continue
            seen.add(text)
            if batch := _of_file(repository, version, path, text, near=near, rng=rng, options=options):
                yield batch


def _of_file(
    repository: Repository,
    version: str,
    path: str,
    text: str,
    *,
    near: dict[str, set[str]],
    rng: random.Random,
    options: dict[str, Any],
) -> list[Record]:
    """Records of one file; `near` collects which settings files of the same kind have, for negatives."""
    lines = split_lines(text)
    settings = settings_of(path, text)
    asked = _asked(path, settings, rng)
    rng.shuffle(asked)
    found: list[tuple[Answered, bool]] = []
    busy: set[int] = set()
    for where, query in _remarked([line.rstrip("\n") for line in lines], settings, rng)[:2]:
        if not busy & set(where):
            found.append((("remark", query, [Span(where.start + 1, where.stop)]), False))
            busy |= set(where)
    for setting, rule, query in asked:
        if len(found) >= int(options.get("labels", 5)):
            break
        if query not in {f[0][1] for f in found} and not busy & set(setting.lines):
            found.append(((rule, query, [Span(setting.lines.start + 1, setting.lines.stop)]), True))
            busy |= set(setting.lines)
    if len(found) < 2:
        return []
    paths = [s.path for s in settings]
    kind = "workflow" if ".github/workflows" in path else path.rpartition("/")[2]
    usual = near.setdefault(kind, set())
    missing = [(p, q) for p, q in _KEYS if not any(p.search(name) for name in paths) and not re.search(p, text)]
    missing = [m for m in missing if m[0].pattern in usual] or missing
    usual |= {p.pattern for p, _ in _KEYS if any(p.search(name) for name in paths)}
    count = float(options.get("negatives", 1.2))
    for pattern, queries in rng.sample(missing, min(len(missing), int(count) + (rng.random() < count - int(count)))):
        plain = [q for q in queries if "{" not in q]
        if plain:
            found.append(((f"absent_{pattern.pattern[:24]}", rng.choice(plain), []), False))
    short = repository.git("rev-parse", "--short", version).strip()
    origin = Origin(NAME, repository.project, repository.project, short, repository.licence, path)
    command = rng.choice([f"cat {path}", f"cat {path}", f"git show {short}:{path}", f"sed -n '1,{len(lines)}p' {path}"])
    name = f"{short}-{path.replace('/', '.')}"
    records = origin.records(name, "config", command, text, [answered for answered, _ in found])
    for record, (_, cuttable) in zip(records, found, strict=True):
        record.extra["cuttable"] = cuttable
    return records
