"""The data engine: framework, wording, checks, and the families made from code and histories."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls.cli.data import command
from linecls.data import build, families, quality
from linecls.data.families import commits, grep, python_source
from linecls.data.histories import readable_body, repositories, told, without_names
from linecls.data.packages import is_permissive, packages
from linecls.data.python_labels import labels_of, message_handle
from linecls.data.rephrase import clean, content_stems, is_telling, overlap, rephrase
from linecls.data.views import Shape, edited, may_be_answered, windows
from linecls.data.vocabulary import gerund, participle, past, stem, third_person, words_of
from linecls.errors import LineclsError
from linecls.observation import split_lines
from linecls.records import Record, load_records

MODULE = '''"""Parcels and their way through the depot."""

import time

LIMIT = 20


def heaviest(parcels):
    """Return the parcel that needs the strongest carrier of all."""
    best = None
    for parcel in parcels:
        if best is None or parcel.kilos > best.kilos:
            best = parcel
    return best


def stow(shelf, parcel):
    """Put a parcel onto the first shelf with enough room left."""
    # Fragile goods must never stand below something heavy
    if parcel.fragile:
        shelf.top.append(parcel)
    else:
        shelf.bottom.append(parcel)
    return shelf


def hand_over(parcel, person):
    if person.number not in parcel.allowed:
        raise PermissionError(f"the person {person!r} may not collect this delivery")
    parcel.gone = time.time()
    return parcel


def options(parser):
    parser.add_argument("--depot", default="north", help="name of the building where lost goods are kept")
    parser.add_argument("--days", type=int, help="how long nobody may claim an item before it is sold")


def is_late(parcel, now):
    """Whether the customer has waited longer than was promised."""
    return now - parcel.sent > parcel.promise


class Carrier:
    def route(self, stops):
        """Order the stops so that the lorry never crosses the river twice."""
        near = [s for s in stops if s.bank == self.bank]
        far = [s for s in stops if s.bank != self.bank]
        return near + far

    def cost(self, stops):
        """Estimate what the fuel for a tour will come to."""
        # Empty tours happen on public holidays
        if not stops:
            return 0
        return sum(stop.distance for stop in stops) * self.price
'''
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\nLicense-Expression: {licence}\n"


def _site(folder: Path, projects: dict[str, str], modules: int = 3) -> Path:
    """A site-packages folder; the modules of a project differ in their names, so none is a duplicate."""
    for project, licence in projects.items():
        info = folder / f"{project}-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(METADATA.format(name=project, licence=licence))
        (folder / project).mkdir()
        record = []
        for i in range(modules):
            word = f"{project}{'abcdefgh'[i]}"
            for term in ("parcel", "stops", "shelf"):
                text = MODULE if i == 0 else MODULE.replace(term, f"{word}_{term}")
            (folder / project / f"part{i}.py").write_text(text)
            record.append(f"{project}/part{i}.py,,")
        (info / "RECORD").write_text("\n".join(record))
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return _site(tmp_path / "site", {"depot": "MIT", "harbour": "BSD-3-Clause", "closed": "GPL-3.0-only"})


def _gold(record: Record) -> str:
    lines = split_lines(record.tool_output)
    return "".join("".join(lines[s.start_line - 1 : s.end_line]) for s in record.gold_spans)


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("take out", ("takes out", "taken out", "taking out", "took out")),
        ("copy", ("copies", "copied", "copying", "copied")),
        ("stop", ("stops", "stopped", "stopping", "stopped")),
        ("push", ("pushes", "pushed", "pushing", "pushed")),
    ],
)
def test_inflection(base: str, forms: tuple[str, ...]) -> None:
    assert (third_person(base), participle(base), gerund(base), past(base)) == forms


def test_words_that_are_kin_share_a_stem() -> None:
    assert stem("caching") == stem("cached") == stem("caches")
    assert stem("path") != stem("patch")
    assert words_of("maxRedirect_count") == "max redirect count"


def test_clean_takes_markup_off_and_spells_identifiers() -> None:
    rng = random.Random(0)
    assert clean("Return the :class:`~app.UserStore` of ``max_age`` seconds. More here.", rng) == (
        "Return the user store of max age seconds"
    )
    assert clean("See https://example.org for the rules", rng) is None
    assert clean("x = {1: 2} is set", rng) is None


@pytest.mark.parametrize("text", ["Return self", "TODO write this down later", "Initialize the object", "A b c d"])
def test_stock_phrases_are_not_telling(text: str) -> None:
    assert not is_telling(text)


def test_a_query_has_neither_the_handle_nor_much_of_the_answer() -> None:
    handle = "Remove all expired entries from the directory cache"
    queries = {rephrase(handle, "function", random.Random(n), {"remov", "entr", "director"}) for n in range(60)}
    queries.discard(None)
    assert len(queries) > 30, "the wording varies"
    assert all("expired" in q.lower() or "cache" in q.lower() for q in queries if q), "and keeps the meaning"
    assert sum("entries" in q for q in queries if q) < len(queries) / 3, "words of the answer give way to synonyms"
    assert handle not in queries


@given(st.text(max_size=80), st.sampled_from(["function", "comment", "error", "option", "commit", "log_body"]))
@settings(max_examples=150, deadline=None)
def test_rephrase_takes_any_text(text: str, kind: str) -> None:
    query = rephrase(text, kind, random.Random(1))
    assert query is None or (query.isascii() and "\n" not in query and len(query.split()) >= 4)


def test_overlap_disregards_what_the_wording_adds() -> None:
    assert content_stems("Which lines find the parcel?") == content_stems("parcel")
    assert overlap("Which lines weigh the parcel?", "def weigh(parcel): ...") == 1.0
    assert overlap("Where is the barge moored?", "def weigh(parcel): ...") == 0.0


def test_labels_of_a_module() -> None:
    lines = split_lines(MODULE)
    labels = labels_of(MODULE, random.Random(3))
    found = {(label.rule, lines[label.answer.start].strip()) for label in labels}
    assert ("docstring", "def heaviest(parcels):") in found
    assert ("comment", "if parcel.fragile:") in found
    assert ("error", "if person.number not in parcel.allowed:") in found
    assert {rule for rule, _ in found} == {"docstring", "comment", "error", "option"}
    for label in labels:
        text = "".join(edited(lines, range(len(lines)), [label]).lines)
        if label.drop or label.edits:
            assert label.handle not in text, label
    assert labels_of("def broken(:\n", random.Random(0)) == []


def test_the_condition_belongs_to_a_comment_that_opens_its_block() -> None:
    source = (
        "def f(x):\n    if x.is_closed:\n        # Nobody is listening any more\n"
        "        x.forget()\n        return None\n    return x\n"
    )
    (label,) = [label for label in labels_of(source, random.Random(0)) if label.rule == "comment"]
    assert list(label.answer) == [1, 2, 3, 4]
    assert list(label.drop) == [2]


@pytest.mark.parametrize(
    ("message", "handle"),
    [
        ("cannot open %r for writing", "cannot open for writing"),
        ("{} must be a positive number, got {}", "the value must be a positive number"),
        ("%s: %s", None),
    ],
)
def test_message_handle(message: str, handle: str | None) -> None:
    assert message_handle(message) == handle


@given(st.integers(1, 3000), st.integers(0, 50))
@settings(max_examples=60, deadline=None)
def test_windows_lie_inside_and_apart(total: int, seed: int) -> None:
    shape = Shape(low=40, high=200)
    found = windows(total, random.Random(seed), shape, 5)
    seen: set[int] = set()
    for window in found:
        assert window.start >= 0
        assert window.stop <= total
        assert min(40, total) <= len(window) <= 210
        assert not seen & set(window)
        seen |= set(window)


def test_may_be_answered() -> None:
    lines = ["open the harbour gate\n", "wait for the tide\n", *["nothing here\n"] * 20]
    assert may_be_answered("Where do we open the harbour gate at high tide?", lines)
    assert not may_be_answered("Where are unpaid invoices archived?", lines)


def test_packages_are_permissive_and_excluded_by_any_spelling(site: Path) -> None:
    assert [p.name for p in packages([str(site)])] == ["depot", "harbour"]
    assert [p.name for p in packages([str(site)], ["Depot"])] == ["harbour"]
    (depot, _) = packages([str(site)])
    assert depot.read("depot/part0.py") == MODULE
    assert depot.read("depot/none.py") is None
    assert is_permissive("Apache-2.0")
    assert not is_permissive("LGPL or BSD")
    assert not is_permissive("")
    with pytest.raises(LineclsError, match="no folder"):
        packages(["nowhere"])


def _python_records(site: Path, **options: Any) -> list[Record]:
    return list(python_source.generate(random.Random(5), {"sources": [str(site)], **options}))


def test_python_source_records_are_consistent(site: Path) -> None:
    records = _python_records(site)
    assert len({r.instance_id for r in records}) == len(records) > 8
    assert {r.tool_type for r in records} == {"read_file"}
    assert {r.extra["project"] for r in records} == {"depot", "harbour"}
    for group in quality.by_observation(records):
        assert all(r.tool_output is group[0].tool_output and r.command == group[0].command for r in group)
        assert len({r.query for r in group}) == len(group)
    for record in records:
        assert record.source == "linecls"
        assert record.extra.keys() >= {"family", "rule", "package", "version", "licence"}
        assert record.is_irrelevant == (not record.gold_spans)
        if record.extra["rule"] in ("cut_out", "other_file"):
            assert record.is_irrelevant
        else:
            assert _gold(record).strip()
            assert 1 <= len(_gold(record).splitlines()) <= 20


def test_python_source_hides_the_handle_it_asks_by(site: Path) -> None:
    docstrings = [
        line.strip().strip('"')
        for line in MODULE.splitlines()
        if line.strip().startswith('"""') and "Parcels" not in line
    ]
    asked = [r for r in _python_records(site) if r.extra["rule"] == "docstring"]
    assert asked
    for record in asked:
        assert _gold(record).lstrip().lstrip("0123456789\t ").startswith("def ")
        assert not any(docstring in _gold(record) for docstring in docstrings)


def test_numbered_views_count_from_the_first_line_shown(site: Path) -> None:
    numbered = [
        r
        for seed in range(6)
        for r in python_source.generate(random.Random(seed), {"sources": [str(site)]})
        if "-n" in r.command and "cat" in r.command
    ]
    assert numbered
    for record in numbered:
        lines = split_lines(record.tool_output)
        numbers = [int(line.split("\t")[0]) for line in lines]
        assert numbers == list(range(numbers[0], numbers[0] + len(lines)))


def test_same_seed_same_records_and_parts_share_nothing(site: Path) -> None:
    assert _python_records(site) == _python_records(site)
    first, second = (_python_records(site, part=part, parts=2) for part in (0, 1))
    assert first
    assert second
    assert not {r.extra["project"] for r in first} & {r.extra["project"] for r in second}


@pytest.mark.skipif(shutil.which("grep") is None, reason="needs grep")
def test_grep_hits_stand_where_the_query_says(tmp_path: Path) -> None:
    site = _site(tmp_path, {"depot": "MIT"}, modules=6)
    records: list[Record] = []
    for seed in range(40):
        records += grep.generate(random.Random(seed), {"sources": [str(site)], "min_hits": 4, "per_package": 2})
    assert records
    for record in records:
        assert record.tool_type == "grep"
        assert record.command.startswith(("grep ", "rg "))
        assert all(line.startswith("depot/part") or line == "--\n" for line in split_lines(record.tool_output))
        assert record.is_irrelevant or 1 <= len(_gold(record).splitlines()) <= 8


BEFORE = [
    f"def step_{n}(items):\n    total = {n}\n    for item in items:\n"
    f"        total += item * {n}\n    return total\n\n\n"
    for n in range(12)
]


WHO = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2024-03-01T12:00:00Z"}


def _git(folder: Path, *arguments: str) -> None:
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in WHO.items()}
    environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=environment)


@pytest.fixture
def clone(tmp_path: Path) -> str:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    folder = tmp_path / "lighthouse"
    folder.mkdir()
    _git(folder, "init", "-q")
    (folder / "LICENSE").write_text("Permission is hereby granted, free of charge, to any person\n")
    parts = list(BEFORE)
    (folder / "lamp.py").write_text("".join(parts))
    _git(folder, "add", ".")
    _git(folder, "commit", "-q", "-m", "Start with twelve empty towers")
    subjects = [
        "Fix overflow of the lens counter when fog is dense (#12)",
        "Make the keeper wake before the evening storm arrives",
        "Fixed wrong colour of the beacon for passing ferries",
        "Stop ringing the bell while birds sit on the roof",
    ]
    for n, subject in enumerate(subjects):
        parts[2 * n] = parts[2 * n].replace("total += item", f"total -= item + guard_{n}")
        (folder / "lamp.py").write_text("".join(parts))
        _git(folder, "commit", "-qam", f"{subject}\n\nSailors complained about it in the last winter season.")
    return str(folder)


def test_told_keeps_what_a_subject_says() -> None:
    assert told("fix(core): keep cookies of the former session (#42)") == "Keep cookies of the former session"
    assert told("Bump version to 3.1") is None
    assert told("Fix typo") is None


def test_bodies_and_names() -> None:
    body = "The old loop lost the last entry of a page. It was wrong.\n\n- a list\n\nFixes: x"
    assert readable_body(body)[0] == "The old loop lost the last entry of a page"
    text = without_names("Author: Ada L <ada@mail.net>\n\n    Signed-off-by: Ada L <ada@mail.net>\n")
    assert text == "Author: dev1 <user@example.org>\n\n    Signed-off-by: dev1 <user@example.org>\n"


def test_commits_label_the_old_lines_and_the_hunk(clone: str) -> None:
    (repository,) = repositories([clone])
    assert (repository.project, repository.licence) == ("lighthouse", "MIT")
    assert repositories([clone], ["Lighthouse"]) == []
    seen: set[str] = set()
    for seed in range(8):
        for record in commits.generate(random.Random(seed), {"repos": [clone], "negatives": 0.0}):
            seen.add(record.extra["rule"])
            if record.extra["rule"] == "commit":
                assert "total += item" in _gold(record)
                assert len(_gold(record).splitlines()) == 1
            if record.extra["rule"] in ("range_diff", "log_patch"):
                assert record.tool_type == "git_diff"
                assert "guard_" in _gold(record)
                assert _gold(record).lstrip()[0] in "+-"
                assert not any(word in record.tool_output for word in ("overflow", "keeper", "beacon", "ringing"))
    assert seen >= {"commit", "range_diff"}


def test_a_folder_that_is_no_repository_is_reported(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("needs git")
    with pytest.raises(LineclsError, match="git rev-parse failed"):
        repositories([str(tmp_path)])


def test_families_are_found_by_name() -> None:
    assert {"python_source", "commits", "grep"} <= set(families.names())
    assert families.get("grep").NAME == "grep"
    with pytest.raises(LineclsError, match="unknown data family"):
        families.get("nothing")


def _record(number: int, query: str, text: str, gold: list[tuple[int, int]], **extra: Any) -> Record:
    return Record(
        instance_id=f"o{number}#0", source="linecls", tool_type="logs", query=query, tool_output=text,
        gold_spans=gold, extra={"project": "p", "family": "f", "rule": "r", **extra},
    )  # fmt: skip


def _text(*words: str) -> str:
    return "".join(f"{word} line of the tower {i} with its own tale {word * 2}\n" for i, word in enumerate(words))


def test_near_duplicates_go() -> None:
    names = ["amber", "birch", "cedar", "dune", "ember", "fjord", "gale", "heron", "inlet", "jetty"]
    text = _text(*names)
    other = _text(*[name[::-1] for name in names])
    same = text.replace("tower 3", "tower 7")
    records = [_record(0, "where is amber", text, [(1, 1)]), _record(1, "what of the gale", same, [(7, 7)])]
    records.append(_record(2, "where is rebma", other, [(1, 1)]))
    kept = quality.without_duplicates(records)
    assert [r.instance_id for r in kept] == ["o0#0", "o2#0"]


def test_minhash_estimates_jaccard() -> None:
    index = quality.MinHash(permutations=256)
    a, b = index.signature(f"a{i}" for i in range(100)), index.signature(f"a{i}" for i in range(50, 150))
    assert abs(float((a == b).mean()) - 1 / 3) < 0.12
    assert (index.signature([]) == index.signature([])).all()


def test_bm25_ranks_the_line_with_the_rare_word_first() -> None:
    index = quality.LineIndex("the ship\nthe ship and the whale\nthe sea\n\n")
    assert index.scores("whale").argmax() == 1
    assert index.scores("absent").sum() == 0
    assert quality.LineIndex("").scores("x").shape == (0,)
    assert quality.tokens("getUserName of x_1") == [
        "getusername",
        "get",
        "user",
        "name",
        "of",
        "x_1",
        "x",
        "1",
    ]


def test_easy_records_are_thinned_out() -> None:
    words = [f"word{chr(97 + i)}" for i in range(20)]
    text = _text(*words)
    easy = [_record(i, words[i], text, [(i + 1, i + 1)]) for i in range(20)]
    hard = [_record(20 + i, "unknown", text, [(20, 20)]) for i in range(20)]
    absent = [_record(40, "unknown", text, [])]
    rng = random.Random(0)
    assert len(quality.without_easy([*easy, *hard, *absent], rng, drop=1.0)) == 21
    kept = quality.without_easy([*easy, *hard, *absent], rng, drop=0.0, most=0.2)
    assert quality.card(kept)["bm25_recall_at_10"]["all"] <= 0.2
    assert absent[0] in kept
    assert len(kept) == 26


def test_negatives_are_capped_in_each_tool_type() -> None:
    text = _text(*"abcdefgh")
    found = [_record(i, "a", text, [(1, 1)]) for i in range(8)]
    absent = [_record(8 + i, "z", text, []) for i in range(8)]
    kept = quality.without_surplus_negatives([*found, *absent], random.Random(0), 0.2)
    assert [r for r in kept if r.gold_spans] == found
    assert len(kept) == 10


def test_card_counts() -> None:
    text = _text(*"abcdefghij")
    figures = quality.card([_record(0, "what is c", text, [(3, 4)]), _record(1, "none", text + "x\n", [])])
    assert (figures["records"], figures["observations"], figures["negatives"]) == (2, 2, 1)
    assert figures["gold_lines"]["median"] == 2
    assert figures["gold_share"]["mean"] == 0.2
    assert figures["gold_position"]["20-30 %"] == 1.0
    assert "| records | 2 |" in quality.card_markdown(figures, "Set")
    assert quality.card([])["records"] == 0


def _config(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "set.yaml"
    path.write_text(text)
    return path


def test_build_is_resumable_deterministic_and_writes_a_card(tmp_path: Path, site: Path) -> None:
    config = _config(
        tmp_path,
        "name: tiny\nseed: 4\nfamilies:\n  python_source:\n"
        f"    count: 12\n    parts: 2\n    options: {{sources: ['{site}']}}\n",
    )
    runner = CliRunner()
    done = runner.invoke(command, ["build", str(config), "-o", str(tmp_path / "a")])
    assert done.exit_code == 0, done.output
    shards = sorted((tmp_path / "a" / "shards").iterdir())
    assert len(shards) == 2
    assert (tmp_path / "a" / "tiny.card.md").read_text().startswith("# Built set tiny")
    stamp = shards[0].stat().st_mtime_ns
    shards[1].unlink()
    runner.invoke(command, ["build", str(config), "-o", str(tmp_path / "a")])
    assert shards[0].stat().st_mtime_ns == stamp, "a finished part is kept"
    assert shards[1].exists()
    runner.invoke(command, ["build", str(config), "-o", str(tmp_path / "b")])
    assert (tmp_path / "a" / "tiny.jsonl.gz").read_bytes() == (tmp_path / "b" / "tiny.jsonl.gz").read_bytes()
    records = load_records(tmp_path / "a" / "tiny.jsonl.gz")
    assert records
    excluded = [
        "build",
        str(config),
        "-o",
        str(tmp_path / "c"),
        "--exclude-projects-of",
        str(tmp_path / "a" / "tiny.jsonl.gz"),
    ]
    assert runner.invoke(command, excluded).exit_code == 0
    assert load_records(tmp_path / "c" / "tiny.jsonl.gz") == []


def test_workers_do_not_change_the_outcome(tmp_path: Path, site: Path) -> None:
    config = _config(
        tmp_path,
        f"name: w\nfamilies:\n  python_source: {{count: 8, parts: 2, options: {{sources: ['{site}']}}}}\n",
    )
    plan = build.load_plan(config)
    seen: list[str] = []
    build.build(plan, tmp_path / "one", workers=1, progress=lambda job, made: seen.append(job.shard))
    build.build(plan, tmp_path / "two", workers=2)
    assert seen == [job.shard for job in plan.jobs]
    assert (tmp_path / "one" / "w.jsonl.gz").read_bytes() == (tmp_path / "two" / "w.jsonl.gz").read_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("families: [a]", "mapping"),
        ("famlies: {}\nfamilies: {}", "unknown keys famlies"),
        ("families:\n  nothing: {count: 1}", "unknown data family"),
        ("a: [", "cannot read"),
    ],
)
def test_bad_configurations_say_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LineclsError, match=message):
        build.load_plan(_config(tmp_path, text))
