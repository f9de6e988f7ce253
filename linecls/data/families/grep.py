"""Searches over Python packages: many hits of a word, one of them described by its author.

`grep` really runs over the package's files; a hit is asked for by the docstring of the function it stands in,
by the comment above it or by the error that it leads to. None of these is among the hits.
"""

from __future__ import annotations

import keyword
import random
import re
import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from linecls.data.packages import Package, packages
from linecls.data.python_labels import Label, labels_of
from linecls.data.rephrase import content_stems, overlap, rephrase, stems
from linecls.data.views import Answered, Bench, Origin, Shape, may_be_answered
from linecls.errors import LineclsError
from linecls.observation import split_lines
from linecls.records import Record
from linecls.spans import from_mask

NAME = "grep"

# What agents search for; any of them has hits all over a package.
_PATTERNS = (
    r"raise \w+Error",
    r"os\.environ",
    r"logger\.",
    r"warnings\.warn",
    r"except ",
    r"isinstance\(",
    r"_cache",
    r"timeout",
    r"getattr\(",
    r"\.pop\(",
    r"\.get\(",
    r"setdefault",
    r"encoding",
    r"\.split\(",
    r"\.join\(",
    r"re\.(compile|match|search|sub)",
    r"yield ",
    r"with open",
    r"default",
    r"headers",
    r"config",
    r"lambda",
    r"subprocess",
    r"os\.path",
    r"Path\(",
    r"retry|retries",
    r"lock",
    r"\.close\(",
    r"if not ",
    r"return None",
    r"continue$",
    r"\.append\(",
    r"\.update\(",
    r"version",
    r"token",
    r"session",
    r"callback",
    r"parent",
    r"index",
    r"buffer",
    r"is None",
    r"len\(",
    r"assert ",
    r"\.strip\(",
    r"hasattr\(",
    r"sorted\(",
    r"super\(\)",
    r"\.encode\(|\.decode\(",
    r"async def",
    r"self\._\w+ = None",
)


@dataclass(frozen=True)
class _Hit:
    path: str
    line: int  # from 0
    context: bool


@dataclass
class _File:
    text: str
    lines: list[str]
    rng: random.Random

    @cached_property
    def labels(self) -> list[Label]:
        """Read on first use: most files of a search are never asked about."""
        return labels_of(self.text, self.rng)


@dataclass
class _Search:
    package: Package
    folder: str
    paths: list[str]
    pattern: str
    files: dict[str, _File]
    root: Path


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tool type `grep`.

    Options: `sources` (folders of wheels or site-packages), `exclude` (project names), `per_package` (most
    observations of one package, 5), `labels` (most of an observation, 5), `negatives` (share, 0.15),
    `min_hits` and `max_lines` (30 and 300). Needs the program `grep`.
    """
    shape = Shape(
        labels=int(options.get("labels", 5)), negatives=float(options.get("negatives", 0.15)),
        low=int(options.get("min_hits", 30)), high=int(options.get("max_lines", 300)),
    )  # fmt: skip
    found = packages(options.get("sources", []), options.get("exclude", []))
    chosen = found[int(options.get("part", 0)) :: int(options.get("parts", 1))]
    rng.shuffle(chosen)
    for package in chosen:  # one after the other: reading a package's files is what takes time
        yield from _of_package(package, random.Random(rng.random()), shape, int(options.get("per_package", 5)))


def _of_package(package: Package, rng: random.Random, shape: Shape, limit: int) -> Iterator[Record]:
    folder_of = Counter(path.rpartition("/")[0] for path in package.files)
    if len(package.files) < 4:
        return
    bench, made = Bench(rng, shape), 0
    files: dict[str, _File] = {}
    used: set[str] = set()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for _ in range(limit * 8):
            if made >= limit:
                return
            folder = rng.choice([*folder_of, package.files[0].split("/")[0]]).split("/")
            folder = "/".join(folder[: rng.randrange(1, len(folder) + 1)])
            paths = [path for path in package.files if path.startswith(f"{folder}/")]
            if not 3 <= len(paths) <= 50 or len(files) + len(set(paths) - set(files)) > 70:
                continue
            for path in paths:
                if path not in files:
                    files[path] = _unpack(package, path, root, rng)
            pattern = rng.choice(_PATTERNS) if rng.random() < 0.6 else _common_word(files, paths, rng, shape)
            if pattern is None or pattern in used:
                continue
            batch = _search(_Search(package, folder, paths, pattern, files, root), bench)
            if batch:
                used.add(pattern)
                made += 1
                yield from batch


def _unpack(package: Package, path: str, root: Path, rng: random.Random) -> _File:
    text = package.read(path) or ""
    if len(text) > 400_000:
        text = ""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())
    return _File(text, split_lines(text), random.Random(rng.random()))


_KEYWORDS = set(keyword.kwlist) | {"self", "type", "name", "value", "string", "this", "that"}


def _common_word(files: dict[str, _File], paths: list[str], rng: random.Random, shape: Shape) -> str | None:
    counts: Counter[str] = Counter()
    for path in rng.sample(paths, min(8, len(paths))):
        for line in files[path].lines:
            if not line.lstrip().startswith("#"):
                counts.update(set(re.findall(r"[a-z][a-z_]{3,}", line)))
    words = sorted(w for w, n in counts.items() if shape.low / 3 <= n <= shape.high * 0.3 and w not in _KEYWORDS)
    return rng.choice(words) if words else None


def _search(search: _Search, bench: Bench) -> list[Record]:
    rng, shape = bench.rng, bench.shape
    after = rng.choice([0, 0, 0, 1, 2, 3])
    flags = ["-H", "-n", "-E", *([f"-A{after}"] if after else [])]
    command = ["grep", *flags, "-e", search.pattern, "--", *search.paths]
    try:
        done = subprocess.run(command, cwd=search.root, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise LineclsError("the family `grep` needs the program grep; install it or leave the family out") from error
    lines = split_lines(done.stdout.decode("utf-8", "replace"))
    if not shape.low <= len(lines) <= shape.high or max(map(len, lines)) > 500:
        return []
    hits = [_hit(line) for line in lines]
    chosen = _labels(search, hits, lines, bench)
    if len(chosen) < 2:
        return []
    gone: set[int] = set()
    negatives: list[tuple[str, str]] = []
    for _ in range(bench.count(1.2 * shape.negatives * len(chosen))):
        if len(chosen) > 2 and rng.random() < 0.5:
            _, query, gold = chosen.pop(rng.randrange(len(chosen)))
            gone |= set(gold)
            negatives.append(("cut_out", query))
        elif absent := _absent(search, hits, stems("".join(lines)), rng):
            negatives.append(("other_file", absent))
    kept = [i for i in range(len(lines)) if i not in gone]
    shown = [lines[i] for i in kept]
    found: list[Answered] = [(rule, query, from_mask([i in gold for i in kept])) for rule, query, gold in chosen]
    found += [(rule, query, []) for rule, query in negatives if not may_be_answered(query, shown, 2, 0.5)]
    package = search.package
    origin = Origin(NAME, package.name, package.name, package.version, package.licence, search.folder)
    name = f"{search.folder.replace('/', '.')}-{re.sub(r'[^A-Za-z0-9]+', '_', search.pattern)}-{after}"
    return origin.records(name, "grep", _command(search.pattern, search.folder, after, rng), "".join(shown), found)


def _hit(line: str) -> _Hit | None:
    match = re.match(r"(.+?\.py)([:-])(\d+)\2", line)
    return _Hit(match.group(1), int(match.group(3)) - 1, match.group(2) == "-") if match else None


def _command(pattern: str, folder: str, after: int, rng: random.Random) -> str:
    context = f" -A {after}" if after else ""
    quoted = shlex.quote(pattern)
    extended = "E" if re.search(r"[|+(]", pattern) else ""
    grep = f"grep -rn{extended}"
    return rng.choice(
        [
            f"{grep} {quoted}{context} {folder}/ --include=*.py",
            f"{grep}{context} {quoted} {folder}",
            f"rg -n {quoted}{context} {folder}",
            f"{grep} --include='*.py' --exclude-dir=tests{context} {quoted} {folder}",
        ]
    )


def _labels(
    search: _Search, hits: list[_Hit | None], lines: list[str], bench: Bench
) -> list[tuple[str, str, list[int]]]:
    """(rule, query, numbers of the gold lines from 0) of the labels whose code has one to three hits."""
    by_path: dict[str, dict[int, int]] = {}
    for i, hit in enumerate(hits):
        if hit:
            by_path.setdefault(hit.path, {})[hit.line] = i
    words = [stems(line) for line in lines]
    rng = bench.rng
    asked = [path for path in search.paths if path in by_path]
    rng.shuffle(asked)
    candidates = [(path, label) for path in asked[:6] for label in search.files[path].labels]
    rng.shuffle(candidates)
    chosen: list[tuple[str, str, list[int]]] = []
    busy: set[int] = set()
    for path, label in candidates:
        if len(chosen) > bench.shape.labels:
            break
        shown = by_path[path]
        if any(n in shown for n in label.drop):
            continue
        gold = [shown[n] for n in label.answer if n in shown]
        proper = [i for i in gold if (h := hits[i]) and not h.context]
        if not 1 <= len(proper) <= 3 or len(gold) > 8 or busy & set(gold):
            continue
        told = stems(label.handle) - stems(search.pattern)
        answer = "".join(lines[i] for i in gold)
        if label.rule == "error" and len(told & stems(answer)) > 0.5 * len(told):
            continue  # the message itself is among the hits
        best = max(len(told & words[i]) for i in gold)
        rivals = sum(len(told & words[i]) >= best for i in range(len(lines)) if i not in gold)
        if best < 1 or rivals > 4:
            continue
        query = rephrase(label.handle, label.kind, rng, stems(answer))
        if query is None or overlap(query, answer) > 0.45 or query in {q for _, q, _ in chosen}:
            continue
        chosen.append((label.rule, _about_hits(query, rng), gold))
        busy |= set(gold)
    return chosen


def _about_hits(query: str, rng: random.Random) -> str:
    if rng.random() < 0.5:
        for old, new in (
            ("Which lines", "Which hits"),
            ("Which code", "Which hit"),
            ("Find the code", "Find the hit"),
            ("Which part", "Which hit"),
            ("what does that", "which hit does that"),
        ):
            if old in query:
                return query.replace(old, new)
    return query


def _absent(search: _Search, hits: list[_Hit | None], shown: set[str], rng: random.Random) -> str | None:
    """A query about code of the same files that has no hit."""
    held = {(hit.path, hit.line) for hit in hits if hit}
    candidates = [
        (path, label)
        for path in rng.sample(search.paths, min(4, len(search.paths)))
        for label in search.files[path].labels
    ]
    rng.shuffle(candidates)
    for path, label in candidates[:40]:
        if any((path, n) in held for n in (*label.answer, *label.drop)):
            continue
        query = rephrase(label.handle, label.kind, rng)
        if query and len(content_stems(query) & shown) >= 2:
            return _about_hits(query, rng)
    return None
