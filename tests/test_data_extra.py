"""Small places in files, listings, configuration files, crashes, compilers, and hard negatives."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls.cli.data import command
from linecls.data import build, negatives, quality
from linecls.data.families import (
    _listing_tools,
    _listings_host,
    _rows,
    _tables,
    compilers,
    config_files,
    crashes,
    listings,
    memory_faults,
    python_points,
    script_source,
)
from linecls.data.families._tables import Table, draw, extreme, labels_of, those
from linecls.data.python_points import calls, doing, phrase, points_of
from linecls.errors import LineclsError
from linecls.observation import split_lines
from linecls.records import Record, write_records
from linecls.spans import Span, count_lines, from_mask


def made(family: Any, count: int, seed: int = 0, **options: Any) -> list[Record]:
    return list(family.generate(random.Random(seed), {"observations": count, **options}))


def groups_of(records: list[Record]) -> list[list[Record]]:
    return [list(g) for _, g in groupby(records, key=negatives.observation_of)]


def sound(records: list[Record]) -> None:
    for record in records:
        total = len(split_lines(record.tool_output))
        assert record.is_irrelevant == (not record.gold_spans)
        assert all(1 <= s.start_line <= s.end_line <= total for s in record.gold_spans)
        assert record.query.strip() == record.query != ""
        assert "{" not in record.query
    for group in groups_of(records):
        assert len({r.tool_output for r in group}) == 1
        assert len({r.instance_id for r in group}) == len(group)


def gold(record: Record) -> list[str]:
    lines = split_lines(record.tool_output)
    return [lines[n] for s in record.gold_spans for n in range(s.start_line - 1, s.end_line)]


def record(text: str, spans: list[tuple[int, int]], query: str, number: int, **extra: Any) -> Record:
    found = [Span(*s) for s in spans]
    return Record(
        instance_id=f"obs#{number}", source="linecls", tool_type="shell", query=query, background_task="",
        tool_output=text, gold_spans=found, is_irrelevant=not found, command=extra.pop("command", "cat x"), extra=extra,
    )  # fmt: skip


# --- hard negatives ----------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.data())
def test_a_cut_variant_lacks_the_answer_and_keeps_the_other_lines(data: st.DataObject) -> None:
    total = data.draw(st.integers(20, 60))
    lines = [f"line {n}\n" for n in range(total)]
    masks = [data.draw(st.sets(st.integers(0, total - 1), min_size=1, max_size=4)) for _ in range(4)]
    group = [
        record("".join(lines), list(from_mask([n in mask for n in range(total)])), f"q{i}", i, cuttable=i < 2, rule="r")
        for i, mask in enumerate(masks)
    ]
    cut = negatives.cut_out(group, random.Random(data.draw(st.integers(0, 99))))
    assert cut
    sound(cut)
    gone = [r.query for r in cut if r.is_irrelevant]
    assert gone
    assert set(gone) <= {"q0", "q1"}
    removed = {n for q in gone for n in masks[int(q[1])]}
    assert cut[0].tool_output == "".join(line for n, line in enumerate(lines) if n not in removed)
    for kept in (r for r in cut if not r.is_irrelevant):
        assert gold(kept) == [lines[n] for n in sorted(masks[int(kept.query[1])])]
    assert all(r.extra["variant_of"] == "obs" for r in cut)


def test_printed_line_numbers_are_counted_anew() -> None:
    text = "".join(f"{n:6d}\tword {n}\n" for n in range(7, 47))
    cut = negatives.cut_out(
        [record(text, [(3, 5)], "q", 0, cuttable=True, command="cat -n a | head")], random.Random(1)
    )
    numbers = [int(line.split("\t")[0]) for line in split_lines(cut[0].tool_output)]
    assert numbers == list(range(7, 44))
    blame = "".join(f"abcdef12 (ann 2024-01-02 {n:3d}) word\n" for n in range(98, 130))
    cut = negatives.cut_out([record(blame, [(1, 1)], "q", 0, cuttable=True, command="git blame a")], random.Random(1))
    assert cut[0].tool_output.startswith("abcdef12 (ann 2024-01-02  98) word\n")
    assert cut[0].tool_output.endswith("2024-01-02 128) word\n")


def test_nothing_is_cut_that_is_not_marked_or_too_large() -> None:
    text = "x\n" * 30
    assert not negatives.cut_out([record(text, [(1, 2)], "q", 0)], random.Random(1))
    assert not negatives.cut_out([record(text, [(1, 20)], "q", 0, cuttable=True)], random.Random(1))


def test_marks_do_not_reach_the_records_that_are_written() -> None:
    group = [record("x\n" * 30, [(1, 1)], "q", 0, cuttable=True), record("x\n" * 30, [(3, 3)], "p", 1)]
    out = list(negatives.with_cuts(group, random.Random(1), 1.0))
    assert [r.instance_id for r in out] == ["obs#0", "obs#1", "obs~cut#0", "obs~cut#1"]
    assert not any("cuttable" in r.extra for r in out)
    assert list(negatives.with_cuts(out[:2], random.Random(1), 1.0)) == out[:2]


def test_variants_and_repeated_negatives_are_no_duplicates() -> None:
    words = [f"some words number {n} about {'abcdefghij'[n % 10]}\n" for n in range(40)]
    base = [record("".join(words), [(3, 3)], "where is it said?", 0, cuttable=True)]
    base += [record("".join(words), [(9, 9)], "and the other one?", 1)]
    out = quality.without_duplicates(list(negatives.with_cuts(base, random.Random(0), 1.0)))
    assert [r.is_irrelevant for r in out] == [False, False, True, False]
    many = []
    for n in range(8):
        text = "".join(f"{random.Random(n * 99 + k).getrandbits(60):x} lines\n" for k in range(30))
        fresh = record(text.translate({48 + d: 97 + d for d in range(10)}), [], "which pod was evicted?", 0)
        fresh.instance_id = f"o{n}#0"
        many.append(fresh)
    assert len(quality.without_duplicates(many, repeats=3)) == 3


# --- listings ----------------------------------------------------------------------------------


def test_answers_are_computed_from_the_rows() -> None:
    rows = [{"name": f"n{i}", "size": size} for i, size in enumerate([5, 90, 7, 0, 6])]
    assert extreme("big", "size", "q").choose(rows) == [1]
    assert extreme("small", "size", "q", least=True).choose(rows) == [3]
    assert extreme("big", "size", "q", where=lambda r: r["size"] < 50).choose(rows) == [2]
    assert extreme("big", "size", "q").choose([*rows, {"name": "x", "size": 90}]) == []
    assert those("none", lambda r: r["size"] == 0, "q").choose(rows) == [3]


@pytest.mark.parametrize(
    "style", ["plain", "dashes", "bare", "psql", "box", "mysql", "expanded", "csv", "json", "jsonl", "yaml"]
)
def test_every_layout_shows_each_row_in_its_lines(style: str) -> None:
    rows = [{"name": f"entry{i:02d}", "size": i * 7 % 23} for i in range(20)]
    columns = [("name", "name", "<"), ("size", "size", ">")]
    table = Table("t", "shell", ["x"], columns, rows, [extreme("big", "size", "Which one is big?")], style=style)
    page = draw(table)
    for number, row in enumerate(rows):
        shown = "\n".join(page.lines[n - 1] for n in page.marks[f"r{number}"])
        assert row["name"] in shown
        assert not any(other["name"] in shown for other in rows if other is not row)
    [label] = labels_of(random.Random(0), table, page)
    best = max(rows, key=lambda r: r["size"])
    assert best["name"] in "\n".join(page.lines[n - 1] for n in page.marks[label.key])


def test_an_unmet_condition_is_a_negative() -> None:
    rows = [{"name": f"e{i}", "size": i} for i in range(5)]
    table = Table(
        "t", "shell", ["x"], [("name", "name", "<")], rows, [those("void", lambda r: False, "Which is empty?")]
    )
    [label] = labels_of(random.Random(0), table, draw(table))
    assert label.key is None


def test_listings_are_sound_varied_and_repeatable() -> None:
    records = made(listings, 60)
    sound(records)
    assert records == made(listings, 60)
    assert len({r.tool_type for r in records}) >= 10
    assert 0.15 < sum(r.is_irrelevant for r in records) / len(records) < 0.4
    assert any(r.command.count(";") or r.command.count("&&") for r in records)
    answered = [r for r in records if not r.is_irrelevant]
    assert sum(count_lines(r.gold_spans) <= 14 for r in answered) > 0.9 * len(answered)


def test_the_fullest_file_system_is_found_in_the_text() -> None:
    for seed in range(40):
        table = _listings_host.volumes(random.Random(seed))
        [ask] = [a for a in table.asks if a.rule == "fullest"]
        chosen = ask.choose(table.rows)
        page = draw(table)
        if chosen:
            shares = [int(m.group(1)) for line in page.lines if (m := re.search(r" (\d+)% ", line))]
            assert f" {max(shares)}% " in page.lines[page.marks[f"r{chosen[0]}"][0] - 1]


def test_names_are_told_in_other_words() -> None:
    for section in ("pip", "npm", "deb", "proc", "file", "unit", "module", "k8s", "mount", "image"):
        entries = _tables.names(section)
        assert len({name for name, _ in entries}) == len(entries)
        assert all(means for _, means in entries)


@pytest.mark.parametrize(
    "work", [_rows.recap, _rows.branches, _rows.assets, _rows.durations, _rows.outcomes, _rows.cron]
)
def test_smaller_listings_have_answers(work: Any) -> None:
    table = work(random.Random(3))
    page = draw(table)
    labels = labels_of(random.Random(3), table, page)
    assert any(label.key for label in labels)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0"), (900, "900"), (2048, "2.0K"), (5 * 2**30, "5.0G"), (3 * 2**40, "3.0T")]
)
def test_human_sizes(size: int, text: str) -> None:
    assert _listing_tools.human(size) == text


# --- small places in files ---------------------------------------------------------------------

SOURCE = """import json
import os
import time

try:
    import lmdb
except ImportError:
    lmdb = None

PAUSE_SECONDS = 30
SHAPES = ("round", "square", "oval")


def load_parcel(path, encoding="utf-8", strict=True):
    if not path:
        return None
    try:
        with open(path, encoding=encoding) as handle:
            found = json.load(handle)
    except FileNotFoundError:
        log.warning("no parcel was found under %s, an empty one is made", path)
        return {}
    if isinstance(found, dict):
        found.setdefault("kind", "box")
    elif strict:
        raise ValueError("only mappings are parcels")
    time.sleep(PAUSE_SECONDS)
    return found


class Depot:
    def pick_shelf(self, parcels, order=None):
        if order is None:
            order = os.environ["DEPOT_ORDER"]
        # Heavy goods must not go above the others
        if order == "heavy":
            parcels = sorted(parcels, key=lambda p: p.kilos)
        with self._lock:
            self.shelf = parcels
        return [p.place for p in parcels if p.place]
"""


def test_points_stand_where_they_say() -> None:
    found: dict[str, list[str]] = {}
    lines = SOURCE.split("\n")
    for seed in range(8):
        for point in points_of(SOURCE, random.Random(seed)):
            found[point.rule] = ["\n".join(lines[a.start : a.stop]) for a in point.answer]
    assert found["optional"] == ["try:\n    import lmdb\nexcept ImportError:\n    lmdb = None"]
    assert found["guard"] == ["    if not path:\n        return None"]
    assert found["fallback"] == ['        if order is None:\n            order = os.environ["DEPOT_ORDER"]']
    assert found["handler"][0].startswith("    except FileNotFoundError:")
    assert found["handler"][0].endswith("return {}")
    assert found["kind"] == ['    if isinstance(found, dict):\n        found.setdefault("kind", "box")']
    assert found["lock"] == ["        with self._lock:\n            self.shelf = parcels"]
    assert "lambda p: p.kilos" in found["order"][0]
    assert found["choice"][0].lstrip().startswith('if order == "heavy":')
    assert found["result"] == ["        return [p.place for p in parcels if p.place]"] or "found" in found["result"][0]
    assert found["constant"][0].startswith(("PAUSE_SECONDS", "SHAPES"))


def test_calls_that_do_not_occur_have_no_lines() -> None:
    hits = {key: lines for key, _, lines in calls(SOURCE, random.Random(0))}
    assert [SOURCE.split("\n")[n].strip() for n in hits[r"\btime\.sleep\("]] == ["time.sleep(PAUSE_SECONDS)"]
    assert hits[r"\bsocket\.socket\("] == []
    assert all(not lines for _, _, lines in calls("# time.sleep(3)\n", random.Random(0)))


@settings(max_examples=40)
@given(st.text("abcdeghlmnoprstuXYZ_09", min_size=1, max_size=24).filter(str.isidentifier), st.integers(0, 50))
def test_any_identifier_can_be_told(name: str, seed: int) -> None:
    assert "_" not in phrase(name, random.Random(seed))
    told = doing(name, random.Random(seed))
    assert told is None or told.strip()


def test_broken_source_has_no_points() -> None:
    assert points_of("def f(:\n", random.Random(0)) == []


def _package(folder: Path, name: str, text: str, licence: str = "MIT") -> Path:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nLicense-Expression: {licence}\n"
    )
    (folder / name).mkdir()
    (folder / name / "core.py").write_text(text)
    (info / "RECORD").write_text(f"{name}/core.py,,\n")
    return folder


def test_files_of_packages_are_asked_about_as_they_are(tmp_path: Path) -> None:
    text = SOURCE + "\n\n" + SOURCE.replace("parcel", "letter").replace("Depot", "Office").replace("shelf", "tray")
    site = _package(tmp_path, "depot", text)
    records = made(python_points, 5, sources=[str(site)])
    sound(records)
    assert {r.tool_type for r in records} == {"read_file"}
    shown = re.sub(r"(?m)^ *\d+\t", "", records[0].tool_output)
    assert shown == text
    assert any(r.extra["cuttable"] for r in records if not r.is_irrelevant)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "depot"
    (folder / "src").mkdir(parents=True)

    def git(*arguments: str, who: str = "Ann", when: str = "2020-01-02T10:00:00") -> None:
        people = {f"GIT_{role}_NAME": who for role in ("AUTHOR", "COMMITTER")}
        mails = {f"GIT_{role}_EMAIL": "a@b.example" for role in ("AUTHOR", "COMMITTER")}
        dates = {f"GIT_{role}_DATE": when for role in ("AUTHOR", "COMMITTER")}
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **people, **mails, **dates}
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=env)

    git("init", "-q")
    (folder / "LICENSE").write_text("MIT License\n\nPermission is hereby granted, free of charge, to any person\n")
    text = SOURCE + "\n\n" + SOURCE.replace("parcel", "letter").replace("Depot", "Office")
    (folder / "src" / "depot.py").write_text(text)
    workflow = folder / ".github" / "workflows"
    workflow.mkdir(parents=True)
    (workflow / "tests.yml").write_text(WORKFLOW)
    (folder / "tox.ini").write_text(TOX)
    git("add", "-A")
    git("commit", "-qm", "Start")
    (folder / "src" / "depot.py").write_text(text.replace("PAUSE_SECONDS = 30", "PAUSE_SECONDS = 45", 1))
    git("commit", "-qam", "Wait longer", who="Ben", when="2023-05-06T10:00:00")
    (folder / "src" / "depot.py").write_text(
        text.replace("PAUSE_SECONDS = 30", "PAUSE_SECONDS = 45", 1) + "\n# the end\n"
    )
    git("commit", "-qam", "End", who="Cy", when="2024-05-06T10:00:00")
    return folder


WORKFLOW = """name: tests

on:
  push:
    branches: [main]
  schedule:
    - cron: "5 4 * * 1"

permissions: {}

jobs:
  unit:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    strategy:
      fail-fast: false
      matrix:
        python: ["3.10", "3.11"]
    steps:
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
      # The cache must be cleared before the wheels are built again
      - run: rm -rf cache
      - run: tox
  docs:
    runs-on: macos-latest
    needs: unit
    steps:
      - run: make docs
"""
TOX = """[tox]
env_list =
    py310
    py311
    style
skip_missing_interpreters = true

[testenv]
deps =
    pytest
    coverage
commands =
    pytest {posargs}
pass_env =
    CI

[testenv:style]
skip_install = true
commands =
    ruff check .
base_python = python3.11

[pytest]
addopts = -q
testpaths = tests
filterwarnings =
    error
"""


def test_settings_are_found_with_their_lines() -> None:
    found = {s.path: s for s in config_files.settings_of("tests.yml", WORKFLOW)}
    lines = WORKFLOW.split("\n")
    assert [lines[n] for n in found["on.schedule"].lines] == ["  schedule:", '    - cron: "5 4 * * 1"']
    assert [lines[n] for n in found["jobs.unit.timeout-minutes"].lines] == ["    timeout-minutes: 15"]
    assert found["jobs.unit.timeout-minutes"].block == "unit"
    assert found["jobs.docs.runs-on"].block == "docs"
    found = {s.path: s for s in config_files.settings_of("tox.ini", TOX)}
    lines = TOX.split("\n")
    assert [lines[n] for n in found["tox.env_list"].lines] == ["env_list =", "    py310", "    py311", "    style"]
    assert found["testenv.style.base_python"].block == "style"
    text = '[tool.ruff]\nselect = [\n  "E",\n  "F",\n]\nline-length = 90\n'
    found = {s.path: s for s in config_files.settings_of("pyproject.toml", text)}
    assert found["tool.ruff.select"].lines == range(1, 5)
    assert found["tool.ruff.line-length"].lines == range(5, 6)


def test_configuration_files_of_a_clone(clone: Path) -> None:
    records = list(config_files.generate(random.Random(2), {"repos": [str(clone)], "min_lines": 20}))
    sound(records)
    assert {r.tool_type for r in records} == {"config"}
    assert len(groups_of(records)) == 2
    rules = {r.extra["rule"]: gold(r) for r in records if not r.is_irrelevant}
    if "key_timeout-minutes" in rules:
        assert rules["key_timeout-minutes"] == ["    timeout-minutes: 15\n"]
    for absent in (r for r in records if r.is_irrelevant):
        assert absent.extra["rule"].startswith("absent_")


def test_blame_tells_people_as_handles_and_the_newest_lines(clone: Path) -> None:
    found = []
    for seed in range(6):
        records = list(python_points.generate(random.Random(seed), {"repos": [str(clone)], "min_lines": 60}))
        sound(records)
        found += records
    assert {r.tool_type for r in found} == {"git_blame"}
    assert not any(re.search(r"\b(Ann|Ben|Cy)\b|a@b", r.tool_output) for r in found)
    newest = [r for r in found if r.extra["rule"] == "blame_newest"]
    assert newest
    assert all("2024-05-06" in line or "# the end" in "".join(gold(r)) for r in newest for line in gold(r))


# --- scripts, crashes, compilers ---------------------------------------------------------------

SCRIPT = """'use strict';

const MAX_OPEN_PARCELS = 12;
const LABEL_PATTERN = /^[a-z]+-\\d+$/;

function stow(parcel, shelf) {
  // a broken parcel must never be sent out again
  if (parcel.broken) {
    shelf.hold(parcel);
    return null;
  }
  if (!LABEL_PATTERN.test(parcel.label)) {
    throw new TypeError('the label of a parcel is not readable');
  }
  setTimeout(() => shelf.sweep(), 500);
  return JSON.stringify(parcel);
}

function count(shelves) {
  let sum = 0;
  for (const shelf of shelves) {
    sum += shelf.size;
  }
  return sum;
}
"""


def test_script_points_end_with_their_brackets() -> None:
    found: dict[str, str] = {}
    lines = SCRIPT.split("\n")
    for seed in range(12):
        for point in script_source.points_of(SCRIPT, random.Random(seed)):
            found[point.key[:12]] = "\n".join(lines[point.answer[0].start : point.answer[0].stop])
    assert found["remark a bro"] == "\n".join(lines[6:11])
    assert found["throw the la"] == "\n".join(lines[11:14])
    assert found["constant MAX"] == lines[2]
    assert found["call \\bsetTi"] == lines[14]


@given(st.lists(st.sampled_from(["f(", ")", "{", "}", "x;", "'(' + y", "", "// (", "return [", "];"]), max_size=12))
def test_block_end_stays_in_bounds(lines: list[str]) -> None:
    for start in range(len(lines)):
        end = script_source.block_end(lines, start)
        assert end is None or start < end <= len(lines)


def test_npm_packages_are_read_with_their_licence(tmp_path: Path) -> None:
    for name, licence in (("depot", "MIT"), ("closed", "GPL-3.0"), ("secret", "MIT")):
        home = tmp_path / name
        (home / "lib").mkdir(parents=True)
        (home / "package.json").write_text(f'{{"name": "{name}", "version": "2.1.0", "license": "{licence}"}}')
        (home / "lib" / "stow.js").write_text(SCRIPT + "\n" + SCRIPT.replace("parcel", "letter").replace("stow", "put"))
    records = list(script_source.generate(random.Random(1), {"node_modules": str(tmp_path), "exclude": ["secret"]}))
    sound(records)
    assert {r.extra["project"] for r in records} == {"depot"}
    assert {r.extra["version"] for r in records} == {"2.1.0"}
    with pytest.raises(LineclsError, match="node_modules"):
        list(script_source.generate(random.Random(1), {"node_modules": str(tmp_path / "no")}))


def test_crash_catalogue_is_whole() -> None:
    assert len({c.name for c in crashes.CRASHES}) == len(crashes.CRASHES) > 50
    assert all(c.body and len(c.queries) >= 2 for c in crashes.CRASHES)
    assert set().union(*crashes.ALIKE) <= {c.name for c in crashes.CRASHES}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the jobs use exception groups")
def test_real_crash_reports_are_whole_blocks() -> None:
    records = made(crashes, 2, seed=4, python=sys.executable)
    sound(records)
    answered = [r for r in records if not r.is_irrelevant]
    assert len(answered) >= 4
    for entry in answered:
        lines = gold(entry)
        assert "ERROR" in lines[0]
        assert any(line.lstrip(" |+").startswith(("Traceback", "Exception Group")) for line in lines[1:2])
        assert not any(re.search(r"\bINFO\b", line) for line in lines)
        assert "/tmp/" not in entry.tool_output.replace('open("/tmp")', "")


@pytest.mark.parametrize("catalogue", [compilers.JAVA, compilers.RUST], ids=["java", "rust"])
def test_compiler_catalogues_mark_one_line_each(catalogue: list[Any]) -> None:
    names = {s.name for s in catalogue}
    assert len(names) == len(catalogue)
    for snippet in catalogue:
        text = snippet.head + "\n".join(snippet.body)
        assert text.count("//!") == 1, snippet.name
        assert snippet.queries


def test_alike_faults_are_known_ones() -> None:
    assert set().union(*compilers.ALIKE) <= {s.name for s in [*compilers.JAVA, *compilers.RUST]}


@pytest.mark.skipif(not shutil.which("javac"), reason="needs a Java compiler")
def test_java_reports_are_those_of_the_planted_lines() -> None:
    records = made(compilers, 1, seed=2, languages=["java"])
    sound(records)
    for entry in (r for r in records if not r.is_irrelevant):
        assert re.search(r"\.java:\d+: (error|warning)", gold(entry)[0])


@pytest.mark.skipif(not shutil.which("cargo"), reason="needs cargo")
def test_rust_reports_are_those_of_the_planted_lines() -> None:
    records = made(compilers, 1, seed=3, languages=["rust"])
    if not any("-->" in r.tool_output for r in records):
        pytest.skip("no toolchain is set up")
    sound(records)
    for entry in (r for r in records if not r.is_irrelevant):
        assert gold(entry)[0].startswith(("error", "warning"))
        assert "-->" in "".join(gold(entry))


# --- the whole way -----------------------------------------------------------------------------


def test_a_build_with_cuts_is_deterministic() -> None:
    job = build.Job("listings", 0, 2, 60, 5, {"cut": 0.6})
    records = list(build.generate(job))
    assert records == list(build.generate(job))
    sound(records)
    assert any(r.extra["rule"].startswith("cut_") for r in records)
    assert len({r.instance_id for r in records}) == len(records)


def test_the_configuration_that_ships_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Path(__file__).parents[1] / "configs" / "data" / "extra.yaml"
    held_out = record("x\n", [], "q", 0, project="Depot")
    write_records(tmp_path / "test.jsonl.gz", [held_out])
    plan = build.load_plan(config, exclude_records=[str(tmp_path / "test.jsonl.gz")])
    assert {job.family for job in plan.jobs} >= {"listings", "python_points", "config_files", "crashes", "compilers"}
    assert all(job.options["exclude"] == ["depot"] for job in plan.jobs)


def test_levels_go_by_shared_words() -> None:
    text = "alpha beta timeout\nother\n"
    queries = ("alpha beta?", "Which timeout is the longest of everything configured?", "Who waits?")
    assert [quality.level(record(text, [(1, 1)], query, 0)) for query in queries] == ["easy", "medium", "semantic"]
    assert quality.level(record(text, [], "alpha", 0)) == ""


def test_dates_of_a_listing_grow_with_age() -> None:
    days = [_listing_tools.day_of(n) for n in range(1500)]
    assert days == sorted(days, reverse=True)
    assert len(set(days)) == len(days)


def test_a_row_must_stand_out_by_what_is_printed() -> None:
    rows = [{"name": f"e{i}", "size": size} for i, size in enumerate([2048, 2060, 5, 6])]
    asks = [extreme("big", "size", "Which is big?")]
    table = Table("t", "shell", ["x"], [("size", "size", ">")], rows, asks, show={"size": _listing_tools.human})
    assert labels_of(random.Random(0), table, draw(table)) == []


def test_leaks_and_errors_of_memory_are_told_apart() -> None:
    lines = [
        "==7== Invalid read of size 1",
        "==7==    at 0x1: pick_load0_part (a.c:3)",
        "==7== ",
        "==7== 4 bytes in 1 blocks",
        "==7==    definitely lost in loss record 1 of 1",
        "==7==    by 0x2: pick_scan1_part (a.c:9)",
        "==7== ",
    ]
    page = memory_faults.Page()
    page.say(*lines)
    assert memory_faults._blocks(page) == [(1, 2), (4, 6)]
    by_name = {f.name: f for f in memory_faults.FAULTS}
    placed = [("pick_load0_part", "a.c", by_name["read_past"]), ("pick_scan1_part", "a.c", by_name["leak_lost"])]
    found = {
        label.rule: page.spans(label.key)
        for label in memory_faults._labels(random.Random(0), page, placed)
        if label.key
    }
    assert found == {"read_past": [Span(1, 2)], "leak_lost": [Span(4, 6)]}


@pytest.mark.skipif(not (shutil.which("gcc") and shutil.which("valgrind")), reason="needs gcc and valgrind")
def test_real_memory_reports_name_the_planted_function() -> None:
    records = made(memory_faults, 1, seed=2)
    sound(records)
    answered = [r for r in records if not r.is_irrelevant]
    assert answered
    assert all("_part (" in "".join(gold(r)) for r in answered if r.extra["rule"] != "heap_summary")


def test_a_card_is_printed_for_any_record_file(tmp_path: Path) -> None:
    text = "".join(f"line {n}\n" for n in range(20))
    write_records(tmp_path / "few.jsonl.gz", [record(text, [(2, 3)], "where?", 0), record(text, [], "who?", 1)])
    done = CliRunner().invoke(command, ["card", str(tmp_path / "few.jsonl.gz")])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("# few\n")
    assert "| negatives | 1 |" in done.output
    done = CliRunner().invoke(command, ["card", str(tmp_path / "few.jsonl.gz"), "--json"])
    assert json.loads(done.output)["gold_lines"]["median"] == 2.0
