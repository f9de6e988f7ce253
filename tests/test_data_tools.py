"""The families of tool output: evidence lines known by construction, real runs, determinism."""

import random
import shutil
import sys
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls.data.families import (
    _documents,
    _toolkit,
    builds,
    checks,
    logs,
    responses,
    script_checks,
    services,
)
from linecls.data.families import test_runs as runs
from linecls.data.families._toolkit import Label, Page, Slots
from linecls.spans import Span, count_lines

WRITTEN = [logs, services, builds, responses]


def made(family, count, seed=0, **options):
    return list(family.generate(random.Random(seed), {"observations": count, **options}))


@pytest.mark.parametrize("family", WRITTEN, ids=lambda f: f.NAME)
def test_records_of_written_families_are_sound(family):
    records = made(family, 25)
    for record in records:
        lines = record.tool_output.count("\n")
        assert record.is_irrelevant == (not record.gold_spans)
        assert all(1 <= span.start_line <= span.end_line <= lines for span in record.gold_spans)
        assert count_lines(record.gold_spans) <= 0.6 * lines
        assert record.query.strip() == record.query != ""
        assert "{" not in record.query
        assert record.extra["family"] == family.NAME
    groups = [list(g) for _, g in groupby(records, key=lambda r: r.instance_id.rpartition("#")[0])]
    assert all(len({r.tool_output for r in group}) == 1 for group in groups)
    assert sum(len(group) >= 3 for group in groups) > 0.8 * len(groups)
    assert 0.04 < sum(r.is_irrelevant for r in records) / len(records) < 0.25


@pytest.mark.parametrize("family", WRITTEN, ids=lambda f: f.NAME)
def test_equal_seeds_give_equal_records_and_other_seeds_others(family):
    assert made(family, 4, seed=3) == made(family, 4, seed=3)
    first = {r.tool_output for r in made(family, 4, seed=3)}
    assert not first & {r.tool_output for r in made(family, 4, seed=4)}


@pytest.mark.parametrize("family", WRITTEN, ids=lambda f: f.NAME)
def test_no_slot_is_left_open(family):
    known = set(_toolkit.MAKERS) | set(_toolkit.VOCABULARIES)
    for record in made(family, 12, seed=1):
        assert not {name for name in _toolkit.slot_names(record.tool_output) if name in known}


def test_catalogue_is_parsed_into_variants_events_and_queries():
    kinds = _toolkit.parse_catalogue(
        "= leak WARN\n> pipe {word} leaks\n| at valve {n}\n+ closed\n> wet floor\n? Where is water?\n"
    )
    assert [(k.name, k.level) for k in kinds] == [("leak", "WARN")]
    assert [[e.lines for e in v] for v in kinds[0].variants] == [
        [["pipe {word} leaks", "at valve {n}"], ["closed"]],
        [["wet floor"]],
    ]
    assert kinds[0].queries == ["Where is water?"]


@pytest.mark.parametrize("text", ["> no entry\n", "= a X\n> only text\n", "= a X\n? only query\n", "= a X\nstray\n"])
def test_broken_catalogues_are_refused(text):
    with pytest.raises(ValueError, match="catalogue"):
        _toolkit.parse_catalogue(text)


def test_slots_are_drawn_once_with_their_paraphrase():
    slots = Slots(random.Random(0), {"fruit": [("apple", ["red ball"])]}, {"who": "Ann"})
    assert (
        slots.fill("{who} eats {fruit}, the {fruit_p}, {fruit} {nn}")
        == f"Ann eats apple, the red ball, apple {slots['nn']}"
    )
    with pytest.raises(KeyError, match="nothing_known"):
        slots.fill("{nothing_known}")


def test_slots_avoid_values_that_are_taken():
    taken: set[str] = set()
    words = {"fruit": [("apple", []), ("pear", [])]}
    drawn = {Slots(random.Random(n), words, taken=taken).fill("{fruit}") for n in range(2)}
    assert drawn == {"apple", "pear"}


@given(st.lists(st.tuples(st.text("ab\n", max_size=6), st.sampled_from([None, "x", "y"])), max_size=12))
@settings(max_examples=60, deadline=None)
def test_page_keeps_line_numbers_of_its_marks(chunks):
    page, expected = Page(), {"x": [], "y": []}
    for text, key in chunks:
        page.say(text, key=key)
        if key:
            expected[key] += text.split("\n")
    lines = page.text().split("\n")
    for key, wanted in expected.items():
        found = [lines[n - 1] for span in page.spans(key) for n in range(span.start_line, span.end_line + 1)]
        assert found == wanted


def test_records_leave_out_evidence_that_is_missing_or_nearly_everything():
    page = Page()
    page.say(*(f"line {n}" for n in range(20)))
    page.mark("few", 3, 4)
    page.mark("most", 1, 19)
    labels = [
        Label("a", "few", "r"),
        Label("b", "most", "r"),
        Label("c", "none", "r"),
        Label("d", None, "r"),
        Label("a", "few", "r"),
    ]
    kept = list(_toolkit.records(page, labels, tool_type="logs", command="cat x", family="f", project="p", ident="o"))
    assert [(r.instance_id, r.query, r.gold_spans) for r in kept] == [
        ("o#0", "a", [Span(3, 4)]),
        ("o#1", "d", []),
    ]


def test_lexical_label_quotes_words_found_only_in_the_evidence():
    page = Page()
    page.say("the pump runs well", "the valve burst open", "the pump runs well")
    page.mark("k", 2)
    label = _toolkit.lexical(random.Random(0), page, "k")
    assert label is not None
    assert "valve burst" in label.query or "burst open" in label.query
    assert _toolkit.lexical(random.Random(0), page, "unknown") is None


def test_program_paths_fall_back_when_a_variable_is_unset(monkeypatch):
    monkeypatch.setenv("SOME_TOOL", "/opt/tool")
    monkeypatch.delenv("NO_TOOL", raising=False)
    assert _toolkit.program({"python": "$SOME_TOOL/py"}, "python", "x") == "/opt/tool/py"
    assert _toolkit.program({"python": "$NO_TOOL"}, "python", "x") == "x"
    assert _toolkit.program({}, "python", "x") == "x"


def test_story_marks_every_line_of_an_incident():
    kinds = _toolkit.parse_catalogue(
        "= flood ERROR\n> water in cellar {nn}\n|   at stairs\n+ pump {word} started\n? Where is water?\n"
        "= fire ERROR\n> smoke in attic\n? Where does it burn?\n"
    )
    page, labels = logs.story(
        random.Random(5),
        kinds,
        [("INFO", "all is dry {nnn}")],
        lambda moment, level, service, message: f"{level} {service}: {message}",
        logs.Clock(random.Random(1)),
        length=30,
        incidents=2,
        services=4,
    )
    evidence = {
        label.rule: [
            page.lines[n - 1] for span in page.spans(label.key) for n in range(span.start_line, span.end_line + 1)
        ]
        for label in labels
        if label.key and label.rule != "lexical"
    }
    flood = evidence["flood"]
    assert "water in cellar" in flood[0]
    assert flood[1] == "  at stairs"
    assert "pump" in flood[2]
    assert len(flood) == 3
    assert ["smoke in attic" in line for line in evidence["fire"]] == [True]


def test_table_columns_are_aligned():
    assert _documents._align([["A", "B"], ["long", "x"], ["s", ""]], 2) == ["A     B", "long  x", "s"]


def test_choice_in_fragments_takes_the_good_or_the_bad_form():
    code = "def f(n):\n    <<check(n)||>>\n    return n <<<=||<>> 3\n"
    assert runs._choose(code, bad=False) == "def f(n):\n    check(n)\n    return n <= 3\n"
    assert runs._choose(code, bad=True) == "def f(n):\n    return n < 3\n"


def test_fragments_pass_when_good_and_fail_when_bad(tmp_path):
    for fragment in runs.FRAGMENTS:
        for bad in (False, True):
            code = runs._HEADER + runs._fill(runs._choose(fragment.code, bad), "crate", "")
            scope: dict = {"__name__": "crate", "pytest": pytest}
            exec(compile(code, "crate.py", "exec"), scope)
            exec(
                compile("import json\n" + runs._fill(fragment.test, "crate", ""), "test_crate.py", "exec"),
                scope,
            )
            test = next(value for name, value in scope.items() if name.startswith("test_"))
            if bad:
                with pytest.raises((Exception, pytest.fail.Exception)):
                    test()
            else:
                test()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_real_test_run_blocks_show_the_planted_failures(seed):
    records = list(runs._suite(random.Random(seed), 0, sys.executable))
    planted = [
        r for r in records if r.gold_spans and r.extra["rule"].split("_", 1)[1] in {f.name for f in runs.FRAGMENTS}
    ]
    assert planted
    for record in planted:
        lines = record.tool_output.split("\n")
        gold = "\n".join(
            lines[s.start_line - 1 : s.end_line] and "\n".join(lines[s.start_line - 1 : s.end_line])
            for s in record.gold_spans
        )
        fragment = next(f for f in runs.FRAGMENTS if f.name == record.extra["rule"].split("_", 1)[1])
        name = fragment.test.split("def ")[1].split("(")[0]
        assert all(part in gold for part in name.split("{t}"))


def test_real_script_tracebacks_are_whole():
    records = [
        r
        for r in runs._script(random.Random(4), 0, sys.executable)
        if r.extra["rule"].startswith("traceback_") and r.gold_spans
    ]
    assert records
    for record in records:
        lines = record.tool_output.split("\n")
        span = record.gold_spans[0]
        assert "Traceback" in lines[span.start_line - 1] or "Exception Group" in lines[span.start_line - 1]


def test_scrubbed_output_tells_nothing_of_the_machine(tmp_path):
    text = f"{tmp_path}/a.py at 0x7f1234567890 in 0.31s\n/usr/local/lib/python3.11/x.py"
    clean = runs.scrub(text, tmp_path, random.Random(0), "/home/user/src/p")
    assert str(tmp_path) not in clean
    assert "0x7f1234567890" not in clean
    assert clean.startswith("/home/user/src/p/a.py at 0x7f")
    assert clean == runs.scrub(text, tmp_path, random.Random(0), "/home/user/src/p")


@pytest.mark.parametrize(
    ("catalogue", "mark", "suffix"),
    [
        (checks.TYPES, "  #!", ".py"),
        (checks.LINT, "  #!", ".py"),
        (checks.C_FAULTS, " //!", ".c"),
        (script_checks.TS, " //!", ".ts"),
        (script_checks.JS, " //!", ".js"),
    ],
    ids=["types", "lint", "c", "ts", "js"],
)
def test_composed_projects_know_the_lines_of_their_faults(catalogue, mark, suffix):
    texts, placed = checks.compose(
        random.Random(2), catalogue, ["x_{t} = 1"], suffix=suffix, mark=mark, count=40, files=5, head=""
    )
    assert len({p.snippet.name for p in placed}) == min(40, len(catalogue))
    for item in placed:
        line = texts[item.file].split("\n")[item.line - 1]
        marked = [raw for raw in [*item.snippet.head.split("\n"), *item.snippet.body] if mark in raw]
        assert line in {item.slots.fill(raw.split(mark)[0].rstrip()) for raw in marked}
        assert not any(mark in text for text in texts.values())


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("make"), reason="needs gcc and make")
def test_compiler_blocks_are_those_of_the_planted_lines():
    records = [r for r in checks._build(random.Random(1), 0, {}) if r.gold_spans and r.extra["rule"].startswith("gcc_")]
    assert records
    for record in records:
        lines = record.tool_output.split("\n")
        gold = lines[record.gold_spans[0].start_line - 1 : record.gold_spans[0].end_line]
        assert any("warning:" in line or "error:" in line for line in gold)


def test_real_linter_run_is_labelled():
    pytest.importorskip("ruff")
    found = [
        r
        for seed in range(3)
        for r in checks._lint(random.Random(seed), 0, {})
        if r.gold_spans and r.extra["package"] == "ruff"
    ]
    assert found
    for record in found:
        kind = record.extra["rule"].split("_")[-1]
        if kind in {s.name for s in checks.LINT}:
            lines = record.tool_output.split("\n")
            assert kind in lines[record.gold_spans[0].start_line - 1]


def test_script_checks_make_nothing_without_their_tools():
    assert made(script_checks, 16) == []


def test_outputs_of_several_projects_are_told_apart():
    text = (
        "kelp/a.py:1: error: one\n    code\nkelp_web/b.py:2: error: two\nkelp/c.py:3: note: three\n"
        "Found 2 errors in 2 files (checked 9 source files)"
    )
    assert checks.split_projects(text, ["kelp", "kelp_web"], "/home/user/src/work") == {
        "kelp": ["kelp/a.py:1: error: one", "    code", "kelp/c.py:3: note: three"],
        "kelp_web": ["kelp_web/b.py:2: error: two"],
    }
