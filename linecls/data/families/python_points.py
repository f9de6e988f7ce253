"""Python files as they are, asked about small places in them; of packages (`read_file`) and of clones (`git_blame`).

Nothing is taken out of the text. Negatives ask a file for what a similar one holds, for a sort of call that does not
occur, or for a failure that a function does not handle; `cut` in the options adds texts without the answer.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from linecls.data.histories import Repository, repositories, without_names
from linecls.data.packages import Package, packages
from linecls.data.python_points import Point, calls, points_of
from linecls.data.rephrase import content_stems, overlap
from linecls.data.views import Origin, Shape, may_be_answered, present, windows
from linecls.data.vocabulary import stems
from linecls.observation import split_lines
from linecls.records import Record
from linecls.spans import Span, merge

NAME = "python_points"

_WEIGHT = {
    "constant": 0.4, "default": 0.3, "result": 0.12, "guard": 1.0, "fallback": 1.0, "kind": 0.8, "choice": 1.0,
    "handler": 1.3, "lock": 1.0, "lookup": 0.5, "order": 0.8, "said": 1.2, "optional": 1.0, "call": 1.0,
    "kept_comment": 1.6, "kept_error": 1.3, "kept_option": 0.6,
}  # fmt: skip
_ONCE = {"result", "default", "constant", "lookup"}


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tool types `read_file` and `git_blame`.

    Options: `sources` (folders of wheels or site-packages), `repos` (local clones), `exclude` (project names),
    `per_package` and `per_repo` (most observations of one, 12 and 10), `per_file` (1), `labels` (most of an
    observation, 6), `negatives` (absent ones for each observation, 0.8), `min_lines` and `max_lines` (60 and 420).
    """
    shape = Shape(
        labels=int(options.get("labels", 6)), negatives=float(options.get("negatives", 0.8)),
        low=int(options.get("min_lines", 60)), high=int(options.get("max_lines", 420)),
    )  # fmt: skip
    part, parts = int(options.get("part", 0)), int(options.get("parts", 1))
    queues: list[Iterator[list[Record]]] = []
    for package in packages(options.get("sources", []), options.get("exclude", []))[part::parts]:
        texts = _texts(package, _shuffled(package.files, rng))
        origin = Origin(NAME, package.name, package.name, package.version, package.licence, "")
        queues.append(
            _of_files(texts, origin, random.Random(rng.random()), shape, int(options.get("per_package", 12)),
                      int(options.get("per_file", 1)))
        )  # fmt: skip
    for repository in repositories(options.get("repos", []), options.get("exclude", []))[part::parts]:
        queues.append(_of_blame(repository, random.Random(rng.random()), shape, int(options.get("per_repo", 10))))
    rng.shuffle(queues)
    while queues:  # one observation of each source in turn
        for queue in list(queues):
            batch = next(queue, None)
            if batch is None:
                queues.remove(queue)
            else:
                yield from batch


def _texts(package: Package, paths: list[str]) -> Iterator[tuple[str, str | None]]:
    for path in paths:
        yield path, package.read(path)


def _shuffled(files: Sequence[str], rng: random.Random) -> list[str]:
    names = list(files)
    rng.shuffle(names)
    return names


def choose(points: list[Point], window: range, lines: list[str], most: int, rng: random.Random) -> list[Point]:
    """Points inside a window that share neither a key nor lines, the rarer rules first; no two queries alike."""
    inside = [p for p in points if all(a.start >= window.start and a.stop <= window.stop for a in p.answer)]
    keys, queries = Counter(p.key for p in inside), Counter(p.query.lower() for p in inside)
    inside = [p for p in inside if keys[p.key] == 1 and queries[p.query.lower()] == 1]
    ranked = sorted(inside, key=lambda p: rng.random() ** (1 / _WEIGHT.get(p.rule, 1.0)), reverse=True)
    chosen: list[Point] = []
    busy: set[int] = set()
    rules: Counter[str] = Counter()
    for point in ranked:
        block = {n for a in point.answer for n in a}
        gold = "".join(lines[n] for n in block)
        if not content_stems(point.query) or block & busy or rules[point.rule] >= (1 if point.rule in _ONCE else 2):
            continue
        if overlap(point.query, gold) > 0.7 and rng.random() < 0.7:
            continue
        if len(chosen) >= most:
            break
        chosen.append(point)
        rules[point.rule] += 1
        busy |= block
    return chosen


def _absent(
    shown: str, lines: list[str], asked: list[Point], foreign: list[Point], count: float, rng: random.Random
) -> list[tuple[str, str]]:
    """Queries that the shown lines surely do not answer: calls that do not occur, points of other files."""
    found: list[tuple[str, str]] = []
    wanted = int(count) + (rng.random() < count - int(count))
    near = [(f"absent_{p.rule}", p.query) for p in foreign if len(content_stems(p.query) & stems(shown)) >= 2]
    missing = [("absent_call", query) for _, query, hits in calls(shown, rng) if not hits]
    rng.shuffle(near)
    rng.shuffle(missing)
    taken = {p.query for p in asked}
    while len(found) < wanted and (near or missing):
        rule, query = near.pop() if near and (not missing or rng.random() < 0.7) else missing.pop()
        safe = rule == "absent_call" or not may_be_answered(query, lines, share=0.7)
        if query not in taken and safe:
            found.append((rule, query))
            taken.add(query)
    return found


def _of_files(
    texts: Iterator[tuple[str, str | None]], origin: Origin, rng: random.Random, shape: Shape, limit: int, per_file: int
) -> Iterator[list[Record]]:
    made = 0
    foreign: list[Point] = []
    for path, text in texts:
        if text is None or "\r" in text or len(text) > 45_000 or max(map(len, text.split("\n"))) > 400:
            continue
        lines = split_lines(text)
        points = points_of(text, rng)
        for window in windows(len(lines), rng, shape, per_file):
            chosen = choose(points, window, lines, shape.labels, rng)
            if len(chosen) < 2:
                continue
            shown = [lines[n] for n in window]
            answers = [
                (p, merge((a.start - window.start + 1, a.stop - window.start) for a in p.answer)) for p in chosen
            ]
            absent = _absent("".join(shown), shown, chosen, foreign, shape.negatives, rng)
            shown_text, command = present(shown, path, window, len(lines), rng)
            name = f"{path.removesuffix('.py').replace('/', '.')}-{window.start + 1}"
            yield _records(origin, name, "read_file", command, shown_text, answers, absent)
            foreign = [*foreign[-60:], *chosen]
            made += 1
            if made >= limit:
                return


def _records(
    origin: Origin,
    name: str,
    tool_type: str,
    command: str,
    text: str,
    answers: list[tuple[Point, list[Span]]],
    absent: list[tuple[str, str]],
) -> list[Record]:
    found = [(p.rule, p.query, spans) for p, spans in answers] + [(rule, query, []) for rule, query in absent]
    records = origin.records(name, tool_type, command, text, found)
    for record, (point, _) in zip(records, answers, strict=False):
        record.extra["cuttable"] = point.cuttable
    return records


_BLAME = re.compile(r"^(\^?[0-9a-f]+)(?: +(\S+))? +\((.*?) +(\d{4}-\d\d-\d\d.*?|\d+ \w+.*? ago) +(\d+)\) ?(.*)$")


def _of_blame(repository: Repository, rng: random.Random, shape: Shape, limit: int) -> Iterator[list[Record]]:
    made = 0
    names = repository.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")
    paths = [n for n in names if n.endswith(".py") and not re.search(r"(^|/)(tests?|docs?|testing|examples?)(/|_)", n)]
    foreign: list[Point] = []
    for path in _shuffled(sorted(paths), rng):
        text = repository.show("HEAD", path)
        if text is None or "\r" in text or len(text) > 45_000 or max(map(len, text.split("\n"))) > 300:
            continue
        lines = split_lines(text)
        for window in windows(len(lines), rng, Shape(shape.labels, shape.negatives, 80, 300), 1):
            style = rng.choice([["--date=short"], ["--date=short"], ["--date=relative"], []])
            arguments = ["blame", *style, "-L", f"{window.start + 1},{window.stop}", "HEAD", "--", path]
            rows = split_lines(repository.git(*arguments))
            parsed = [_BLAME.match(row.rstrip("\n")) for row in rows]
            if len(rows) != len(window) or not all(parsed):
                continue
            shown, who = _with_handles([m for m in parsed if m], rng)
            chosen = choose(points_of(text, rng), window, lines, shape.labels - 1, rng)
            answers = [
                (p, merge((a.start - window.start + 1, a.stop - window.start) for a in p.answer)) for p in chosen
            ]
            answers += _about_history(who, rng)
            if len(answers) < 2:
                continue
            absent = _absent("".join(shown), shown, chosen, foreign, shape.negatives, rng)
            foreign = [*foreign[-60:], *chosen]
            command = f"git blame {' '.join(style)} -L {window.start + 1},{window.stop} {path}".replace("  ", " ")
            origin = Origin(NAME, repository.project, repository.project, "HEAD", repository.licence, path)
            name = f"blame-{path.removesuffix('.py').replace('/', '.')}-{window.start + 1}"
            yield _records(origin, name, "git_blame", command, without_names("".join(shown)), answers, absent)
            made += 1
        if made >= limit:
            return


def _with_handles(rows: list[re.Match[str]], rng: random.Random) -> tuple[list[str], list[tuple[str, str, str]]]:
    """The lines with people as handles, and (commit, handle, date) of each."""
    handles: dict[str, str] = {}
    width = len(rows[-1].group(5))
    numbered = rng.random() < 0.5
    shown, who = [], []
    for row in rows:
        name = row.group(3).strip()
        handle = handles.setdefault(
            name, f"dev{len(handles) + 1:02d}" if numbered else _HANDLES[len(handles) % len(_HANDLES)]
        )
        who.append((row.group(1).lstrip("^"), handle, row.group(4).strip()))
    broad = max(len(h) for _, h, _ in who)
    spaced = max(len(d) for _, _, d in who)
    for row, (_, handle, date) in zip(rows, who, strict=True):
        shown.append(
            f"{row.group(1)} ({handle:<{broad}} {date:<{spaced}} {row.group(5):>{width}}) {row.group(6)}".rstrip()
            + "\n"
        )
    return shown, who


_HANDLES = (
    "mwren", "tkolb", "asato", "pgrube", "lnoor", "dvega", "rhale", "jmoss", "cbrandt", "fikeda", "sorel", "bquist",
    "nyoder", "hpark", "egil", "ovidal", "kmarsh", "uzun", "wlind", "xavi", "zoltan", "imre",
)  # fmt: skip


def _about_history(who: list[tuple[str, str, str]], rng: random.Random) -> Iterator[tuple[Point, list[Span]]]:
    """Questions about the commits and people themselves: newest, oldest, one commit's or one person's only lines."""
    days = [date[:10] for _, _, date in who]
    absolute = all(re.match(r"\d{4}-\d\d-\d\d", day) for day in days)
    asked: list[tuple[str, list[int], str]] = []
    if absolute:
        for what, day in (("newest", max(days)), ("oldest", min(days))):
            places = [n for n, d in enumerate(days) if d == day]
            if 1 <= len(places) <= 8:
                word = {
                    "newest": ["touched most recently", "with the latest change", "edited last"],
                    "oldest": [
                        "left untouched the longest",
                        "with the earliest date",
                        "that nobody changed since the start",
                    ],
                }[what]
                asked.append(
                    (
                        what,
                        places,
                        rng.choice(
                            [f"Which lines are those {rng.choice(word)}?", f"Show the part {rng.choice(word)}."]
                        ),
                    )
                )
        years = Counter(d[:4] for d in days)
        for year, count in years.items():
            if count <= 6 and len(years) > 2:
                asked.append(
                    (f"year {year}", [n for n, d in enumerate(days) if d[:4] == year], f"What dates from {year}?")
                )
                break
    people = Counter(handle for _, handle, _ in who)
    rare = [h for h, count in people.items() if count <= 6]
    if rare and len(people) > 2:
        handle = rng.choice(rare)
        places = [n for n, (_, h, _) in enumerate(who) if h == handle]
        asked.append(
            (
                "person",
                places,
                rng.choice(
                    [
                        f"What did {handle} contribute?",
                        f"Which lines come from {handle}?",
                        f"lines by {handle}",
                        f"Is there anything that {handle} changed?",
                    ]
                ),
            )
        )
    commits = Counter(sha for sha, _, _ in who)
    small = [s for s, count in commits.items() if 2 <= count <= 8]
    if small and rng.random() < 0.5:
        sha = rng.choice(small)
        asked.append(
            (
                "commit",
                [n for n, (s, _, _) in enumerate(who) if s == sha],
                f"Which lines came in with commit {sha[:7]}?",
            )
        )
    rng.shuffle(asked)
    for rule, places, query in asked[:2]:
        point = Point(
            f"blame_{rule.split()[0]}", rule, query, (), cuttable=rule.split()[0] in ("person", "commit", "year")
        )
        yield point, merge((n + 1, n + 1) for n in places)
