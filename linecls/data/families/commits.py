"""Real git histories: what a commit says it does is the query, what it changes is the answer.

- `file`: the file before the change, the changed lines are the answer (tool type `read_file`);
- `range_diff`, `log_patch`: `git diff OLD..NEW -- FILE` or `git log -p` over several commits, the answer is
  the change of one of them (tool type `git_diff`);
- `log`: `git log` in several formats, the answer is the entry of one commit, described by its reworded
  subject or by its body where the format hides it (tool type `git_log`).
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from linecls.data.histories import Commit, Hunk, Repository, readable_body, repositories, told, without_names
from linecls.data.python_labels import Label, labels_of
from linecls.data.rephrase import content_stems, overlap, rephrase, stems
from linecls.data.views import Answered, Asked, Bench, Origin, Shape, may_be_answered, observe
from linecls.observation import split_lines
from linecls.records import Record
from linecls.spans import Span

NAME = "commits"

_NO_SOURCE = re.compile(
    r"(^|/)(tests?|testing|docs?|examples?|benchmarks?|conftest\.py|setup\.py|test_[^/]*|[^/]*_test\.py)(/|$)"
)


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tool types `read_file`, `git_diff` and `git_log`.

    Options: `repos` (local clones with history), `exclude` (project names), `rules` (of `file`, `diff`,
    `log`; all), `per_repo` (most observations of one repository and rule, 40), `commits` (most commits of
    one repository that are looked at, 4000), `labels` (most of an observation, 6), `negatives` (share,
    0.15), `min_lines` and `max_lines` (40 and 400).
    """
    shape = Shape(
        labels=int(options.get("labels", 6)), negatives=float(options.get("negatives", 0.15)),
        low=int(options.get("min_lines", 40)), high=int(options.get("max_lines", 400)),
    )  # fmt: skip
    rules = options.get("rules", ["file", "diff", "log"])
    limit = int(options.get("per_repo", 40))
    found = repositories(options.get("repos", []), options.get("exclude", []))
    queues = []
    for repository in found[int(options.get("part", 0)) :: int(options.get("parts", 1))]:
        history = _History(repository, random.Random(rng.random()), int(options.get("commits", 4000)))
        for rule in rules:
            queues.append(_RULES[rule](history, Bench(random.Random(rng.random()), shape), limit))
    while queues:
        for queue in list(queues):
            batch = next(queue, None)
            if batch is None:
                queues.remove(queue)
            else:
                yield from batch


class _History:
    """A repository with the commits that are worth asking about; read when first needed."""

    def __init__(self, repository: Repository, rng: random.Random, most: int) -> None:
        self.repository = repository
        self._rng = rng
        self._most = most
        self._commits: list[Commit] | None = None
        self._changes: dict[str, list[tuple[Commit, Hunk]]] | None = None

    @property
    def commits(self) -> list[Commit]:
        """All commits, newest first."""
        if self._commits is None:
            self._commits = self.repository.commits()
        return self._commits

    @property
    def changes(self) -> dict[str, list[tuple[Commit, Hunk]]]:
        """By source file the commits that change it, and no other source file, in one place; oldest first."""
        if self._changes is None:
            telling = [c for c in self.commits if told(c.subject)]
            if len(telling) > self._most:
                telling = self._rng.sample(telling, self._most)
            by_sha = {c.sha: c for c in telling}
            self._changes = {}
            for sha, hunks, _ in self.repository.hunks(by_sha):
                source = [h for h in hunks if not _NO_SOURCE.search(h.path)]
                if len(source) == 1 and len(source[0].new) <= 30:
                    self._changes.setdefault(source[0].path, []).append((by_sha[sha], source[0]))
            age = {commit.sha: n for n, commit in enumerate(self.commits)}
            for entries in self._changes.values():
                entries.sort(key=lambda entry: -age[entry[0].sha])
        return self._changes

    def origin(self, path: str, version: str) -> Origin:
        """Provenance of a file as of a commit."""
        project = self.repository.project
        return Origin(NAME, project, project, version, self.repository.licence, path)


def _ask_commit(commit: Commit, kind: str, shown: str, rng: random.Random) -> str | None:
    subject = told(commit.subject)
    query = rephrase(subject, kind, rng, stems(shown)) if subject else None
    return query if query and overlap(query, shown) <= (0.5 if kind == "log" else 0.8) else None


def _place(old: Sequence[str], lines: Sequence[str], at: int) -> int | None:
    """Where a run of lines stands in a file: at `at` (from 0) or at the only place where it occurs."""
    size = len(old)
    if [line.rstrip("\r\n") for line in lines[at : at + size]] == list(old):
        return at
    if size < 2 and len(old[0].strip()) < 25:
        return None
    stripped = [line.rstrip("\r\n") for line in lines]
    places = [i for i in range(len(lines) - size + 1) if stripped[i : i + size] == list(old)]
    return places[0] if len(places) == 1 else None


Change = tuple[Commit, Hunk]


def _of_files(history: _History, bench: Bench, limit: int) -> Iterator[list[Record]]:
    made = 0
    paths = sorted(history.changes)
    bench.rng.shuffle(paths)
    for path in paths:
        entries = [
            (commit, hunk)
            for commit, hunk in history.changes[path]
            if 1 <= len(hunk.old) <= 15 and any(line.strip() for line in hunk.old)
        ]
        while entries and made < limit:
            first, _ = entries[0]
            text = history.repository.show(f"{first.sha}^", path)
            if text is None or len(text) > 300_000:
                entries.pop(0)
                continue
            lines = split_lines(text)
            given, entries = _given(entries, lines, bench.rng)
            batch = _of_file(history, path, first.sha[:12], text, given=given, bench=bench) if given else []
            if batch:
                made += 1
                yield batch
        if made >= limit:
            return


def _given(entries: list[Change], lines: list[str], rng: random.Random) -> tuple[list[Asked], list[Change]]:
    """Labels of the commits whose old lines stand in the file, and the commits left for a later version."""
    given: list[Asked] = []
    busy: set[int] = set()
    rest = []
    for i, (commit, hunk) in enumerate(entries):
        place = _place(hunk.old, lines, hunk.old_start - 1) if i == 0 or len(given) < 4 else None
        if place is None or busy & set(range(place, place + len(hunk.old))):
            if i:
                rest.append((commit, hunk))
            continue
        answer = range(place, place + len(hunk.old))
        while len(answer) > 1 and not lines[answer.stop - 1].strip():
            answer = range(answer.start, answer.stop - 1)
        query = _ask_commit(commit, "commit", "".join(lines[n] for n in answer), rng)
        if query:
            given.append((Label("commit", "commit", commit.subject, answer), query))
            busy |= set(answer)
    return given, rest


def _of_file(
    history: _History, path: str, version: str, text: str, *, given: list[Asked], bench: Bench
) -> list[Record]:
    lines = split_lines(text)
    window = _around(given[0][0].answer, len(lines), bench)
    if len(window) < bench.shape.low:
        return []
    inside = [
        (label, query)
        for label, query in given
        if label.answer.start >= window.start and label.answer.stop <= window.stop
    ]
    name = f"file-{version}-{_dotted(path)}"
    origin = history.origin(path, f"{version}^")
    return observe(
        origin,
        name,
        lines,
        labels_of(text, bench.rng),
        bench,
        window=window,
        given=inside[: bench.shape.labels - 1],
    )


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _around(answer: range, total: int, bench: Bench) -> range:
    """A range of the file that holds the answer, the whole file when it is short enough."""
    rng, high = bench.rng, bench.shape.high
    if total <= high:
        return range(0, total)
    size = rng.randrange(min(150, high), high + 1)
    start = max(0, answer.start - rng.randrange(5, max(6, size - len(answer) - 15)))
    start = min(start // 10 * 10, max(0, total - size))
    return range(start, min(total, start + size))


def _of_diffs(history: _History, bench: Bench, limit: int) -> Iterator[list[Record]]:
    made, rng = 0, bench.rng
    paths = [path for path in sorted(history.changes) if len(history.changes[path]) >= 2]
    rng.shuffle(paths)
    for path in paths:
        entries = list(history.changes[path])
        while len(entries) >= 2 and made < limit:
            count = rng.randrange(2, min(len(entries), bench.shape.labels) + 1)
            group, entries = entries[:count], entries[count:]
            batch = _diff_records(history, path, _diff_command(path, group, rng), group, bench)
            if batch:
                made += 1
                yield batch
        if made >= limit:
            return


def _diff_command(path: str, group: list[Change], rng: random.Random) -> tuple[str, list[str]]:
    """Rule and git arguments that show the changes of a group of commits, oldest first, without subjects."""
    context = rng.choice([[], [], ["-U1"], ["-U2"], ["-U5"]])
    span = f"{group[0][0].sha[:9]}^..{group[-1][0].sha[:9]}"
    if rng.random() < 0.6:
        stat = ["--stat", "-p"] if rng.random() < 0.3 else []
        return "range_diff", ["diff", *stat, *context, span, "--", path]
    # The subject is the handle, so the format leaves it out.
    layout = rng.choice(["commit %h%nDate: %ad", "%h %ad", "commit %H", "== %h (%ad)"])
    return "log_patch", ["log", "-p", *context, "--date=short", f"--format={layout}", span, "--", path]


def _changed_run(hunk: Hunk, lines: list[str]) -> range | None:
    """The only run of changed lines that holds all lines a hunk adds (that it removes, if it adds none)."""
    sign, wanted = ("+", hunk.new) if any(line.strip() for line in hunk.new) else ("-", hunk.old)
    signed = [sign + line for line in wanted]
    stripped = [line.rstrip("\r\n") for line in lines]
    places = [i for i in range(len(lines) - len(signed) + 1) if stripped[i : i + len(signed)] == signed]
    if len(places) != 1:
        return None
    start, stop = places[0], places[0] + len(signed)
    removed = {"-" + line for line in hunk.old}
    while sign == "+" and start > 0 and stripped[start - 1] in removed:
        start -= 1
    return range(start, stop)


def _diff_records(
    history: _History, path: str, command: tuple[str, list[str]], group: list[Change], bench: Bench
) -> list[Record]:
    rule, arguments = command
    text = history.repository.git(*arguments)
    lines = split_lines(text)
    long_enough = max(30, bench.shape.low - 10) <= len(lines) <= bench.shape.high
    if not long_enough or max(map(len, lines)) > 600 or sum(line.startswith("@@") for line in lines) < 2:
        return []
    found: list[Answered] = []
    for commit, hunk in group:
        run = _changed_run(hunk, lines)
        if run is None or len(run) > 20:
            continue
        query = _ask_commit(commit, "diff", "".join(lines[n] for n in run), bench.rng)
        if query:
            found.append((rule, query, [Span(run.start + 1, run.stop)]))
    if len(found) < 2:
        return []
    queries = [(path, query) for _, query, _ in found]
    usable = [f for f in bench.foreign if f[0] != path and not may_be_answered(f[1], lines, share=0.5)]
    for _ in range(bench.count(1.2 * bench.shape.negatives * len(found))):
        if usable:
            found.append(("other_file", bench.take_foreign(usable), []))
    bench.foreign += queries
    name = f"{rule}-{group[0][0].sha[:12]}-{group[-1][0].sha[:12]}-{_dotted(path)}"
    origin = history.origin(path, group[-1][0].sha[:12])
    return origin.records(name, "git_diff", _command(arguments), text, found)


def _command(arguments: list[str]) -> str:
    return "git " + " ".join(f"'{a}'" if re.search(r"[ %()]", a) else a for a in arguments)


_FORMATS: list[tuple[list[str], int, int, bool]] = [  # arguments, fewest and most commits, whether bodies are shown
    (["--oneline"], 40, 150, False),
    (["--oneline", "--decorate"], 40, 120, False),
    (["--oneline", "--no-merges"], 40, 150, False),
    (["--oneline", "--graph"], 40, 120, False),
    (["--date=short", "--format=%h %ad %s"], 40, 140, False),
    (["--format=%h | %cs | %s"], 40, 140, False),
    (["--oneline", "--stat"], 15, 40, False),
    (["--no-merges", "--date=short", "--stat", "--format=%h %ad %s"], 12, 40, False),
    (["--date=iso"], 12, 30, True),
    (["--no-merges"], 12, 30, True),
    (["--no-merges", "--stat"], 8, 16, True),
]


def _of_logs(history: _History, bench: Bench, limit: int) -> Iterator[list[Record]]:
    rng, commits = bench.rng, history.commits
    for number in range(min(limit, len(commits) // 60)):
        anchor = commits[rng.randrange(len(commits))]
        layout, fewest, most, full = rng.choice(_FORMATS)
        arguments = ["log", *layout, f"-{rng.randrange(fewest, most + 1)}", anchor.sha[:9]]
        if rng.random() < 0.35 and history.changes:
            folder = rng.choice(sorted(history.changes)).rpartition("/")[0]
            arguments += ["--", folder] if folder else []
        text = without_names(history.repository.git(*arguments))
        if 20 <= text.count("\n") <= bench.shape.high:
            batch = _log_records(history, f"log-{number}", arguments, text, full=full, bench=bench)
            if batch:
                yield batch


_GRAPH = re.compile(r"^[|/\\ _]*\*[|/\\ _]*")


def _entries(lines: list[str], commits: dict[str, Commit]) -> list[tuple[Commit, range]]:
    """The commits of a log with the lines of their entries; `commits` goes by the first 7 digits."""
    heads = []
    for i, line in enumerate(lines):
        match = re.match(r"(?:commit )?([0-9a-f]{7,40})\b", _GRAPH.sub("", line))
        if match:
            heads.append((i, commits.get(match.group(1)[:7])))
    found = []
    for (i, commit), (stop, _) in zip(heads, [*heads[1:], (len(lines), None)], strict=True):
        end = stop
        while end > i + 1 and not lines[end - 1].strip(" |/\\\n"):
            end -= 1
        if commit:
            found.append((commit, range(i, end)))
    return found


def _log_records(
    history: _History, name: str, arguments: list[str], text: str, *, full: bool, bench: Bench
) -> list[Record]:
    lines = split_lines(text)
    entries = _entries(lines, {commit.sha[:7]: commit for commit in history.commits})
    bench.rng.shuffle(entries)
    listed = {commit.sha for commit, _ in entries}
    found: list[Answered] = []
    queries: list[tuple[str, str]] = []  # by commit: what one log does not list is a hard negative for it
    for commit, entry in entries:
        block = entry[:1] if "--graph" in arguments else entry
        if len(found) >= bench.shape.labels:
            break
        if len(block) > 20:
            continue
        query, rule = _ask_log(commit, "".join(lines[n] for n in block), full, bench.rng)
        if query and query not in {q for _, q, _ in found}:
            found.append((rule, query, [Span(block.start + 1, block.stop)]))
            queries.append((commit.sha, query))
    if len(found) < 2:
        return []
    shown = stems(text)
    usable = [
        (sha, query)
        for sha, query in bench.foreign
        if sha not in listed and content_stems(query) & shown and not may_be_answered(query, lines, 2, 0.5)
    ]
    for _ in range(bench.count(1.1 * bench.shape.negatives * len(found))):
        if usable:
            found.append(("other_log", bench.take_foreign(usable), []))
    bench.foreign += queries[:3]
    origin = history.origin("", history.repository.version)
    name = f"{name}-{zlib.crc32(text.encode('utf-8', 'replace')):08x}"
    return origin.records(name, "git_log", _command(arguments), text, found)


def _ask_log(commit: Commit, entry: str, full: bool, rng: random.Random) -> tuple[str | None, str]:
    """A query for a log's entry and its rule: from a body that the format hides, or from the subject."""
    sentences = readable_body(commit.body) if not full else []
    if sentences and rng.random() < 0.7:
        query = rephrase(sentences[0], "log_body", rng, stems(entry))
        if query and 0 < overlap(query, entry) <= 0.55:
            return query, "log_body"
    tries = (_ask_commit(commit, "log", entry, rng) for _ in range(3))
    return next((query for query in tries if query), None), "log_subject"


_RULES = {"file": _of_files, "diff": _of_diffs, "log": _of_logs}
