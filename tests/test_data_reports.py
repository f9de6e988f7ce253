"""Logs with long lines and reports of several failed tests: one answer among others of its kind."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from linecls.data import build, negatives
from linecls.data.families import daemon_logs, failure_reports, logs
from linecls.data.families._toolkit import parse_catalogue
from linecls.observation import split_lines
from linecls.records import Record, load_records
from linecls.spans import count_lines

FAMILIES = [daemon_logs, failure_reports]


def made(family: Any, count: int, seed: int = 0) -> list[Record]:
    return list(family.generate(random.Random(seed), {"observations": count}))


def groups_of(records: list[Record]) -> list[list[Record]]:
    return [list(group) for _, group in groupby(records, key=negatives.observation_of)]


def gold(record: Record) -> list[str]:
    lines = split_lines(record.tool_output)
    return [lines[n] for s in record.gold_spans for n in range(s.start_line - 1, s.end_line)]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.NAME)
def test_records_are_sound(family: Any) -> None:
    records = made(family, 30)
    for record in records:
        total = len(split_lines(record.tool_output))
        assert record.is_irrelevant == (not record.gold_spans)
        assert all(1 <= s.start_line <= s.end_line <= total for s in record.gold_spans)
        assert count_lines(record.gold_spans) <= max(45, 0.4 * total)
        assert record.query.strip() == record.query != ""
        assert "{" not in record.query
    groups = groups_of(records)
    assert all(len({r.tool_output for r in group}) == 1 for group in groups)
    assert sum(len(group) >= 3 for group in groups) > 0.8 * len(groups)
    assert 0.08 < sum(r.is_irrelevant for r in records) / len(records) < 0.3


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.NAME)
def test_equal_seeds_give_equal_records_and_other_seeds_others(family: Any) -> None:
    assert made(family, 5, seed=3) == made(family, 5, seed=3)
    assert not {r.tool_output for r in made(family, 5, seed=3)} & {r.tool_output for r in made(family, 5, seed=4)}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.NAME)
def test_no_slot_is_left_open(family: Any) -> None:
    for record in made(family, 30, seed=1):
        for slot in (
            "{hash}",
            "{nn}",
            "{n}",
            "{word}",
            "{word2}",
            "{svc}",
            "{ip}",
            "{host}",
            "{table}",
            "{big}",
            "[@]",
        ):
            assert slot not in record.tool_output


def test_lines_of_answers_in_daemon_logs_are_long() -> None:
    answers = [line for record in made(daemon_logs, 40) for line in gold(record)]
    assert sum(len(line) > 160 for line in answers) > 0.7 * len(answers)
    plain = [line for record in made(logs, 40) for line in gold(record)]
    assert sum(len(line) > 160 for line in plain) < 0.4 * len(plain)


def test_a_loud_incident_comes_several_times_and_the_others_do_not() -> None:
    kinds = parse_catalogue(
        "\n".join(f"= {name} E\n> {name} happened\n? What about {name}?" for name in ("apple", "pear", "plum", "fig"))
    )
    for seed in range(8):
        page, labels = logs.story(
            random.Random(seed), kinds, [("I", "as usual")], lambda t, lv, s, m: m, logs.Clock(random.Random(seed)),
            length=40, incidents=3, services=3, alike=[], loud=1,
        )  # fmt: skip
        counts = Counter(line.split()[0] for line in page.lines if line.endswith("happened"))
        assert sorted(counts.values())[:2] == [1, 1]
        assert 4 <= max(counts.values()) <= 12
        for label in labels:
            if label.key and label.rule in counts:
                assert len(page.marks[label.key]) == counts[label.rule]


def test_every_server_has_a_catalogue_whose_groups_name_its_kinds() -> None:
    for server in daemon_logs._SERVERS:
        names = [kind.name for kind in server.kinds]
        assert len(set(names)) == len(names) >= 12
        assert set().union(*server.alike) <= set(names)
    assert set().union(*failure_reports.ALIKE) <= {kind.name for kind in failure_reports.KINDS}


def test_every_kind_of_failure_has_a_message_in_each_ecosystem() -> None:
    ecosystems = {ecosystem for ecosystem, *_ in failure_reports.RUNNERS.values()}
    for kind in failure_reports.KINDS:
        assert set(kind.messages) == ecosystems
        assert len(kind.queries) >= 2
    assert len({subject.title for subject in failure_reports.SUBJECTS}) == len(failure_reports.SUBJECTS)


def test_a_query_by_the_way_to_fail_has_one_answer_and_its_negative_none() -> None:
    """The message of the kind stands once in the answer; that of an absent kind stands nowhere."""
    seen = Counter[str]()
    for group in groups_of(made(failure_reports, 60, seed=2)):
        ecosystem = failure_reports.RUNNERS[group[0].instance_id.split("-")[0]][0]
        messages = {
            kind.name: re.compile(r"\S+".join(map(re.escape, re.split(r"\{\w+\}", kind.messages[ecosystem]))))
            for kind in failure_reports.KINDS
        }
        for record in group:
            what, _, kind = record.extra["rule"].partition("_")
            seen[what] += 1
            assert record.is_irrelevant == (what == "absent")
            if what == "way":
                assert sum(bool(messages[kind].search(line)) for line in gold(record)) == 1
            elif what == "absent" and kind != "passed":
                assert not messages[kind].search(record.tool_output)
    assert min(seen[what] for what in ("way", "subject", "absent")) > 20


@pytest.mark.parametrize("name", failure_reports.RUNNERS)
def test_each_runner_prints_every_test_and_marks_the_failed_ones(name: str) -> None:
    ecosystem, _, _, printed = failure_reports.RUNNERS[name]
    rng = random.Random(5)
    tests = failure_reports._run(rng, ecosystem)
    page = failure_reports.Page()
    printed(page, tests, rng)
    failed = {test.key for test in tests if test.kind}
    assert set(page.marks) == failed
    for test in tests:
        block = [page.lines[n - 1] for n in page.marks.get(test.key, [])]
        if test.kind:
            text = "\n".join(block).lower()
            words = test.subject.title.split()[0]
            assert words in text
            assert sum(test.message in line for line in block) == 1
            numbers = page.marks[test.key]
            assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_broken_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="belongs to no entry"):
        failure_reports.parse_kinds("js > text\n")


def test_the_configuration_builds(tmp_path: Path) -> None:
    plan = build.load_plan(Path(__file__).parent.parent / "configs/data/reports.yaml")
    assert {job.family for job in plan.jobs} == {"daemon_logs", "failure_reports"}
    small = replace(plan, jobs=[replace(job, count=50) for job in plan.jobs if not job.part])
    figures = build.build(small, tmp_path)
    records = load_records(tmp_path / "reports.jsonl.gz")
    assert figures["records"] == len(records) > 60
    assert {r.extra["family"] for r in records} == {job.family for job in plan.jobs}
    assert 0 < sum(r.is_irrelevant for r in records) < 0.35 * len(records)
