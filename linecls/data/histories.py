"""Git histories as a source: commits, their hunks and old versions of files, read with git itself."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from linecls.data.packages import is_permissive, project_name
from linecls.errors import LineclsError

_LICENCES = [  # a phrase of the licence text, the name
    (re.compile(r"GNU (LESSER |AFFERO )?GENERAL PUBLIC|Mozilla Public License", re.I), "copyleft"),
    (re.compile(r"Apache License\s+Version 2", re.I), "Apache-2.0"),
    (re.compile(r"Permission is hereby granted, free of charge", re.I), "MIT"),
    (
        re.compile(r"Neither the name of|names? of (?:its|the) contributors|may not be used to endorse", re.I),
        "BSD-3-Clause",
    ),
    (re.compile(r"Redistribution and use in source and binary forms", re.I), "BSD-2-Clause"),
    (re.compile(r"Permission to use, copy, modify, and(?:/or)? distribute", re.I), "ISC"),
]
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Hunk:
    """A changed run of a file, without context: lines from `old_start` (1-based) that `old` became `new`."""

    path: str
    old_start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class Commit:
    """A commit without its diff."""

    sha: str
    subject: str
    body: str


@dataclass(frozen=True)
class Repository:
    """A local clone, bare or not."""

    path: Path
    project: str

    def git(self, *arguments: str, feed: str | None = None) -> str:
        """What git prints. Raises LineclsError when it fails."""
        command = ["git", "-c", "core.quotepath=off", "-C", str(self.path), *arguments]
        done = subprocess.run(
            command, input=feed.encode() if feed is not None else None, capture_output=True, check=False
        )
        if done.returncode:
            message = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
            raise LineclsError(f"git {arguments[0]} failed in {self.path}: {message}")
        return done.stdout.decode("utf-8", "replace")

    @cached_property
    def version(self) -> str:
        """The short name of the newest commit."""
        return self.git("rev-parse", "--short=12", "HEAD").strip()

    @cached_property
    def licence(self) -> str:
        """The licence by the text of the licence file; empty when unknown."""
        names = self.git("ls-tree", "--name-only", "HEAD").split("\n")
        for name in names:
            if re.match(r"(un)?licen[cs]e|copying", name, re.I):
                text = self.git("show", f"HEAD:{name}")
                return next((label for pattern, label in _LICENCES if pattern.search(text)), "")
        return ""

    def commits(self) -> list[Commit]:
        """All commits without merges, newest first."""
        text = self.git("log", "--no-merges", "--topo-order", "--format=%H%x00%s%x00%b%x01")
        found = []
        for entry in text.split("\x01"):
            parts = entry.strip("\n").split("\x00")
            if len(parts) == 3:
                found.append(Commit(*parts))
        return found

    def hunks(self, shas: Iterable[str]) -> Iterator[tuple[str, list[Hunk], set[str]]]:
        """For each commit its hunks in Python files and the paths of all files that it touches."""
        feed = "".join(f"{sha}\n" for sha in shas)
        text = self.git(
            "diff-tree",
            "--stdin",
            "-r",
            "--root",
            "-p",
            "-U0",
            "--no-color",
            "--no-ext-diff",
            "--no-renames",
            feed=feed,
        )
        for block in re.split(r"^(?=[0-9a-f]{40}\n)", text, flags=re.M):
            sha, _, diff = block.partition("\n")
            if len(sha) == 40:
                yield sha, *_parse(diff)

    def show(self, sha: str, path: str) -> str | None:
        """A file as of a commit; None when it is not there or no UTF-8."""
        done = subprocess.run(["git", "-C", str(self.path), "show", f"{sha}:{path}"], capture_output=True, check=False)
        try:
            return done.stdout.decode("utf-8") if done.returncode == 0 else None
        except UnicodeDecodeError:
            return None


def _parse(diff: str) -> tuple[list[Hunk], set[str]]:
    hunks: list[Hunk] = []
    paths: set[str] = set()
    path, start = "", 0
    old: list[str] = []
    new: list[str] = []

    def finish() -> None:
        if start >= 0 and (old or new) and path.endswith(".py"):
            hunks.append(Hunk(path, start, tuple(old), tuple(new)))
        old.clear()
        new.clear()

    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            finish()
            path = line.rpartition(" b/")[2]
            paths.add(path)
            start = -1  # the header's own --- and +++ lines follow
        elif match := _HUNK.match(line):
            finish()
            start = int(match.group(1))
        elif start >= 0 and line.startswith("-"):
            old.append(line[1:])
        elif start >= 0 and line.startswith("+"):
            new.append(line[1:])
    finish()
    return hunks, paths


def repositories(paths: Iterable[str], exclude: Iterable[str] = ()) -> list[Repository]:
    """Clones under permissive licences, by project name.

    A folder called `repo` or `.git` is named by its parent, and `owner+name` by the name.

    Raises LineclsError for a folder that git does not know.
    """
    unwanted = {project_name(name) for name in exclude}
    found: dict[str, Repository] = {}
    for path in sorted(paths):
        folder = Path(path)
        name = folder.name if folder.name not in ("repo", ".git", "git") else folder.parent.name
        project = project_name(re.split(r"[+/]", name)[-1].removesuffix(".git"))
        if project in unwanted or project in found:
            continue
        repository = Repository(folder, project)
        repository.git("rev-parse", "--git-dir")
        if is_permissive(repository.licence):
            found[project] = repository
    return [found[name] for name in sorted(found)]


_PREFIX = re.compile(
    r"^(?:\[[^\]]*\]\s*"
    r"|(?:fix|feat|feature|perf|refactor|bug|bugfix|enh|api|mnt|maint|rf|dev|core)(?:\([^)]*\))?!?:\s*"
    r"|(?:FIX|ENH|BUG|API|EFF|PERF|FEA)\b:?\s*"
    r"|(?:fixe[sd]|close[sd]|refs?|issue|ticket|gh-|bpo-)?\s*:?\s*#\d+\s*[:,.-]*\s*"
    r"|[\w./]{2,25}: )",
    re.IGNORECASE,
)
_SUFFIX = re.compile(
    r"\s*(?:\(?(?:(?:closes|fixes|refs|see|re|issue|pr|gh|bpo)[ -]*)?(?:#|GH-|gh-|bpo-)\d+\)?[.,;]*\s*)+$",
    re.IGNORECASE,
)
# Words of commits that change nothing one could ask about, or everything at once.
_DULL = re.compile(
    r"\b(merge|bump|release|version|typos?|lint\w*|format\w*|isort|black|ruff|flake8|mypy|pyright"
    r"|type ?hints?|typing|annotat\w+|types?|docs?|docstrings?|documentation|readme|changelog|changes|news"
    r"|dependabot|pre-commit"
    r"|ci|travis|github|actions|tests?|testing|revert\w*|clean ?-?ups?|cleaning|pep ?-?8|pep257"
    r"|whitespace|style|stylistic|spelling|grammar|comments?|copyright|license|authors|contributors|upgrade"
    r"|update|wip|minor|misc|unused|imports?|refactor\w*|rename\w*|deprecat\w*|python ?[23]\S*|py[23]\S*|pypy"
    r"|coverage|nit|review|feedback|suggestion\w*|codemod|pyupgrade|f-strings?|warnings?|simplif\w+|tweak\w*"
    r"|pickle|doc|wording|link)\b",
    re.IGNORECASE,
)


def told(subject: str) -> str | None:
    """The readable part of a commit's subject; None for what says nothing about behaviour."""
    text = _SUFFIX.sub("", subject.strip())
    previous = None
    while previous != text:
        previous, text = text, _PREFIX.sub("", text, count=1)
    if _DULL.search(text) or len(text.split()) < 4 or re.search(r"#\d+|\.\.\.$|…$", text):
        return None
    return text[:1].upper() + text[1:]


def readable_body(body: str) -> list[str]:
    """Sentences of a commit's body, without trailers, lists, quotes and code."""
    kept = []
    for paragraph in re.split(r"\n\s*\n", body):
        lines = [line.strip() for line in paragraph.split("\n")]
        if not any(
            re.match(
                r"[-*+>#]|\w[\w-]+-by:|(signed|co-authored|change-id|fixes|closes|refs|see)\b|https?:|\d+\.|\|",
                line,
                re.I,
            )
            or "::" in line
            for line in lines
        ):
            kept += re.split(r"(?<=[a-z0-9)`'\"])\.\s+(?=[A-Z])", " ".join(lines).strip().rstrip("."))
    return [sentence for sentence in kept if 5 <= len(sentence.split()) <= 30]


_MAIL = re.compile(r"<?[\w.+-]+@[\w-]+(?:\.[\w-]+)+>?")
_TRAILER = re.compile(
    r"^(\s*(?:Author|Commit|Signed-off-by|Co-authored-by|Reviewed-by|Reported-by|Thanks-to|Acked-by|Tested-by)"
    r":\s+)(.*)$",
    re.IGNORECASE | re.MULTILINE,
)


def without_names(text: str) -> str:
    """Git output with the people in headers and trailers as handles, and no mail addresses."""
    handles: dict[str, str] = {}

    def handle(match: re.Match[str]) -> str:
        name = re.sub(r"\s*<.*$", "", match.group(2)).strip()
        return f"{match.group(1)}{handles.setdefault(name, f'dev{len(handles) + 1}')} <user@example.org>"

    return _MAIL.sub("<user@example.org>", _TRAILER.sub(handle, text))
