from __future__ import annotations

import dataclasses
import gzip
import itertools
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from linecls import locating
from linecls.cli import main
from linecls.errors import MissingExtraError, RecordError
from linecls.observation import Observation
from linecls.records import (
    Record,
    detect_form,
    from_chatml,
    from_encoder_view,
    from_row,
    iter_records,
    load_records,
    locate_lines,
    require_queries,
    to_chatml,
    to_encoder_view,
    to_row,
    write_records,
)
from linecls.spans import Span, count_lines, from_mask

OUTPUT = (
    "collected 3 items\n"
    "\n"
    "tests/test_door.py .F.\n"
    "    def test_lock(door):\n"
    ">       assert door.locked\n"
    "E       assert False\n"
    "\n"
    "1 failed, 2 passed\n"
)


def make(**changes: Any) -> Record:
    fields: dict[str, Any] = {
        "instance_id": "door-1#0",
        "source": "own",
        "tool_type": "test_output",
        "query": "why is the door not locked?",
        "background_task": "mend the lock\nof the door",
        "tool_output": OUTPUT,
        "gold_spans": [Span(4, 6)],
        "command": "pytest tests/test_door.py",
        "extra": {"project": "door", "level": "easy"},
    }
    return Record(**(fields | changes))


def row(**changes: Any) -> dict[str, Any]:
    """A canonical row; a change to `...` leaves the field out."""
    full = make().to_dict() | changes
    return {name: value for name, value in full.items() if value is not ...}


NEGATIVE = make(instance_id="door-1#1", query="which port does it listen on?", gold_spans=[], extra={})

# Lines that repeat and that look like the tags of the v1 form.
LINE_POOL = [
    "",
    "a",
    "b",
    "a\r",
    " a",
    "</tool_output>",
    "<tool_output>",
    "<relevant_lines>",
    "</relevant_lines>",
]
LINE_POOL += [
    "<query>",
    "</query>",
    "<background_task>",
    "<|im_end|>",
    "\x1b[0m",
    "\udcff",
    "ü\u2028x",
    '{"a": 1}',
]
outputs = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(st.sampled_from(LINE_POOL)),
    st.sampled_from(["", "\n"]),
)
asked = st.one_of(st.sampled_from(["", "why?", "two\nlines\n", "<query>\n</query>"]), st.text(max_size=20))


@st.composite
def records(draw: st.DrawFn, texts: st.SearchStrategy[str] = outputs) -> Record:
    tool_output = draw(texts)
    total = len(Observation.of(tool_output))
    keep = draw(st.lists(st.booleans(), min_size=total, max_size=total))
    return make(
        query=draw(asked),
        background_task=draw(asked),
        tool_output=tool_output,
        gold_spans=from_mask(keep),
        command=draw(st.sampled_from(["", "pytest -q"])),
        extra=draw(st.dictionaries(st.sampled_from(["project", "level", "note"]), st.integers() | st.none())),
    )


# --- the record -------------------------------------------------------------------------------------------


@given(records())
def test_a_record_comes_back_from_its_row(record: Record) -> None:
    assert Record.from_dict(record.to_dict()) == record
    assert from_row(json.loads(json.dumps(record.to_dict()))) == record


def test_the_row_keeps_unknown_fields_behind_the_canonical_ones() -> None:
    assert list(make().to_dict()) == [
        "instance_id",
        "source",
        "tool_type",
        "query",
        "background_task",
        "tool_output",
        "gold_spans",
        "is_irrelevant",
        "command",
        "project",
        "level",
    ]
    nested = row(annotators=[{"name": "x", "sure": None}])
    assert Record.from_dict(nested).to_dict() == nested


def test_gold_spans_are_sorted_and_merged_and_may_have_other_keys() -> None:
    record = Record.from_dict(
        row(
            gold_spans=[
                {"start_line": 5, "end_line": 6, "reason": "assert"},
                {"start": 1, "end": 1},
                {"start_line": 4, "end_line": 5},
            ]
        )
    )
    assert record.gold_spans == [Span(1, 1), Span(4, 6)]
    assert record.relevant_lines()[0] == "collected 3 items"
    columns = Record.from_dict(row(gold_spans={"start_line": [1, 4], "end_line": [1, 6]}))
    assert columns.gold_spans == record.gold_spans


def test_is_irrelevant_is_derived() -> None:
    assert Record.from_dict(row(is_irrelevant=...)).is_irrelevant is False
    assert Record.from_dict(row(is_irrelevant=None, gold_spans=[])).is_irrelevant is True


def test_optional_fields_have_defaults_and_a_missing_id_is_derived() -> None:
    def bare(query: str, tool_output: str = "a\nb\n") -> Record:
        return Record.from_dict({"query": query, "tool_output": tool_output, "gold_spans": []})

    first, again, second, other = bare("q"), bare("q"), bare("r"), bare("q", "c\n")
    assert (first.source, first.tool_type, first.background_task, first.command) == ("", "", "", "")
    assert first.instance_id == again.instance_id
    assert first.instance_id != second.instance_id
    assert first.instance_id.split("#")[0] == second.instance_id.split("#")[0]
    assert first.instance_id.split("#")[0] != other.instance_id.split("#")[0]
    assert Record.from_dict(row(instance_id="")).instance_id == ""


@pytest.mark.parametrize(
    ("tool_output", "given_spans", "kept"),
    [
        ("a\nb\n", [(2, 3)], [Span(2, 2)]),  # line 3 is what split("\n") sees behind the final newline
        ("a\nb\n", [(3, 3)], []),
        ("", [(1, 1)], []),
    ],
)
def test_the_empty_line_after_a_final_newline_is_clipped(
    tool_output: str, given_spans: list[Any], kept: list[Span]
) -> None:
    record = make(tool_output=tool_output, gold_spans=given_spans, is_irrelevant=False)
    assert record.gold_spans == kept
    assert record.is_irrelevant == (not kept)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": ...}, "field 'query' is missing"),
        ({"tool_output": ...}, "field 'tool_output' is missing"),
        ({"gold_spans": ..., "query": "q"}, "field 'gold_spans' is missing"),
        ({"gold_spans": None}, "field 'gold_spans' is null"),
        ({"query": 3}, "field 'query' must be a string, not a number"),
        ({"tool_output": ["a"]}, "field 'tool_output' must be a string, not a list"),
        ({"instance_id": {}}, "field 'instance_id' must be a string, not an object"),
        ({"is_irrelevant": "no"}, "field 'is_irrelevant' must be true or false, not a string"),
        ({"is_irrelevant": True}, "is_irrelevant is true, but gold_spans names lines"),
        ({"gold_spans": []}, "is_irrelevant is false, but gold_spans names no line"),
        ({"gold_spans": "4-6"}, "gold_spans must be a list, not a string"),
        ({"gold_spans": {"start_line": [1], "end_line": [1, 2]}}, "must be a list of {start_line, end_line}"),
        ({"gold_spans": {}}, "must be a list of {start_line, end_line}"),
        ({"gold_spans": [4]}, "must be {start_line, end_line} in whole numbers, not 4"),
        ({"gold_spans": [{"start_line": 4}]}, "must be {start_line, end_line} in whole numbers"),
        ({"gold_spans": [{"start_line": 4, "end_line": 5.0}]}, "in whole numbers"),
        ({"gold_spans": [{"start_line": True, "end_line": 5}]}, "in whole numbers"),
        ({"gold_spans": [[1, 2, 3]]}, "in whole numbers"),
        ({"gold_spans": [{"start_line": 0, "end_line": 1}]}, "gold span 0 to 1 is no line range"),
        ({"gold_spans": [{"start_line": 3, "end_line": 2}]}, "gold span 3 to 2 is no line range"),
        ({"gold_spans": [[8, 10]]}, "gold span 8 to 10 lies outside tool_output, which has 8 lines"),
        ({"gold_spans": [[10, 10]]}, "gold span 10 to 10 lies outside tool_output, which has 8 lines"),
    ],
)
def test_a_malformed_row_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError) as caught:
        Record.from_dict(row(**changes))
    assert message in str(caught.value)


def test_extra_must_not_shadow_a_canonical_field() -> None:
    with pytest.raises(RecordError, match="'query'"):
        make(extra={"query": "another"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
field_names = st.sampled_from(
    [
        "query",
        "tool_output",
        "gold_spans",
        "is_irrelevant",
        "task",
        "relevant_lines",
        "prompt",
        "response",
        "metadata",
    ]
)


@given(st.dictionaries(field_names, json_values), st.sampled_from(["canonical", "v1", "encoder"]))
def test_any_json_object_is_a_record_or_a_record_error(damage: dict[str, Any], form: str) -> None:
    fields = to_row(make(), form) | damage  # type: ignore[arg-type]
    try:
        record = from_row(fields)
    except RecordError:
        return
    assert Record.from_dict(record.to_dict()) == record


# --- mapping lines back to spans --------------------------------------------------------------------------


def choices(output: list[str], wanted: list[str]) -> list[tuple[int, ...]]:
    """Every way to place the wanted lines in order, by brute force."""
    return [
        numbers
        for numbers in itertools.combinations(range(len(output)), len(wanted))
        if all(output[number] == text for number, text in zip(numbers, wanted, strict=True))
    ]


def run_count(numbers: tuple[int, ...]) -> int:
    return sum(later - earlier > 1 for earlier, later in itertools.pairwise(numbers)) + bool(numbers)


def as_spans(numbers: tuple[int, ...], total: int) -> list[Span]:
    return from_mask([number in numbers for number in range(total)])


few_lines = st.lists(st.sampled_from(["a", "b", ""]), max_size=9)


@settings(max_examples=400)
@given(few_lines, st.lists(st.sampled_from(["a", "b", ""]), max_size=5), st.booleans())
@example(["a", "b", "a", "a", "b"], ["a", "a", "b"], True)
@example(["b", "a", "b", "a", "b"], ["a", "b", "b"], True)
@example([], [], False)
def test_the_rule_holds_for_any_lines(output: list[str], wanted: list[str], final_newline: bool) -> None:
    text = "\n".join(output) + ("\n" if final_newline and output else "")
    output = [line.rstrip("\n") for line in Observation.of(text).lines]
    possible = choices(output, wanted)
    if possible:
        best = min(possible, key=lambda numbers: (run_count(numbers), numbers))
        assert locate_lines(text, wanted) == as_spans(best, len(output))
    elif wanted and not wanted[-1] and text[-1:] in ("", "\n") and choices(output, wanted[:-1]):
        assert locate_lines(text, wanted) == locate_lines(text, wanted[:-1])
    else:
        with pytest.raises(RecordError, match="relevant line"):
            locate_lines(text, wanted)


@settings(max_examples=300)
@given(few_lines.flatmap(lambda lines: st.tuples(st.just(lines), st.lists(st.booleans(), min_size=9, max_size=9))))
def test_what_the_text_determines_is_found(drawn: tuple[list[str], list[bool]]) -> None:
    output, keep = drawn
    text = "".join(line + "\n" for line in output)
    numbers = tuple(number for number in range(len(output)) if keep[number])
    wanted = [output[number] for number in numbers]
    spans = locate_lines(text, wanted)
    if len(choices(output, wanted)) == 1:
        assert spans == as_spans(numbers, len(output))
    assert make(tool_output=text, gold_spans=spans).relevant_lines() == wanted


@pytest.mark.parametrize(
    ("output", "wanted", "spans"),
    [
        # a block beats the earlier single lines
        ("a x b a b", "a b", [(4, 5)]),
        # among equal blocks the first
        ("a b x a b", "a b", [(1, 2)]),
        # the longest block from the first line on (a b at 1 to 2) would leave no place for the rest
        ("a c b a b", "a c b", [(1, 3)]),
        # fewest spans over all: a long block at the end beats one at the start
        ("a b x c a x b c d", "a b c d", [(1, 2), (8, 9)]),
        ("a x a a b b", "a a b b", [(3, 6)]),
        # a repeated line needs as many places as it is given times
        ("a x a", "a a", [(1, 1), (3, 3)]),
    ],
)
def test_the_rule_by_example(output: str, wanted: str, spans: list[tuple[int, int]]) -> None:
    text = output.replace(" ", "\n")
    assert locate_lines(text, wanted.split()) == [Span(*span) for span in spans]


def test_an_item_may_hold_its_newline_or_several_lines() -> None:
    assert locate_lines("a\nb\nc\n", ["a\n", "b\nc\n"]) == [Span(1, 3)]
    assert locate_lines("a\n\nb\n", ["\n"]) == [Span(2, 2)]


def test_the_line_without_a_place_is_named() -> None:
    with pytest.raises(RecordError, match=r"relevant line 2 \('c'\) does not stand in tool_output"):
        locate_lines("a\nb\n", ["a", "c"])
    with pytest.raises(RecordError, match=r"relevant line 2 \('a'\) comes .* before"):
        locate_lines("a\nb\n", ["b", "a"])
    with pytest.raises(RecordError, match="relevant line 1"):
        locate_lines("a", [""])  # no final newline, so there is no empty line behind it


def test_too_many_places_take_the_earliest(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a\nx\nb\na\nb\n"
    assert locate_lines(text, ["a", "b"]) == [Span(4, 5)]
    monkeypatch.setattr(locating, "_MAX_PLACES", 3)
    assert locate_lines(text, ["a", "b"]) == [Span(1, 1), Span(3, 3)]


def test_a_large_output_of_repeating_lines_is_mapped() -> None:
    lines = ["tick", "", "tock", ""] * 10_000
    lines[20_000:20_000] = ["tick", "", "boom", ""]
    text = "\n".join(lines)
    assert locate_lines(text, ["tick", "", "boom", "", "tick", ""]) == [Span(20_001, 20_006)]
    assert locate_lines(text, lines) == [Span(1, len(Observation.of(text)))]


# --- the forms --------------------------------------------------------------------------------------------


def separable(record: Record) -> bool:
    """Whether the tags of the prompt can be told from the record's own text, as `from_chatml` documents."""
    return not any(
        f"</{tag}>" in text for tag, text in (("query", record.query), ("background_task", record.background_task))
    )


@given(records())
@example(make(tool_output="x\n</tool_output>\n</tool_output>", gold_spans=[(2, 2)]))
@example(make(tool_output="", gold_spans=[]))
@example(make(tool_output="\n", gold_spans=[(1, 1)]))
@example(
    make(
        tool_output="</query>\n<background_task>\nx\n</background_task>\n<tool_output>",
        background_task="",
        gold_spans=[(1, 4)],
    )
)
def test_v1_gives_the_record_back(record: Record) -> None:
    assume(separable(record))
    back = from_chatml(to_chatml(record))
    assert dataclasses.replace(back, gold_spans=record.gold_spans) == record
    assert back.relevant_lines() == record.relevant_lines()
    output = [line.rstrip("\n") for line in Observation.of(record.tool_output).lines]
    if len(set(output)) == len(output):
        assert back.gold_spans == record.gold_spans


@given(records())
def test_the_encoder_view_keeps_query_output_and_lines(record: Record) -> None:
    view = to_encoder_view(record)
    assert list(view) == ["task", "tool_output", "relevant_lines", "tool_type"]
    back = from_encoder_view(view)
    assert (back.query, back.tool_output, back.tool_type) == (
        record.query,
        record.tool_output,
        record.tool_type,
    )
    assert back.relevant_lines() == record.relevant_lines()
    assert count_lines(back.gold_spans) == count_lines(record.gold_spans)
    assert to_encoder_view(back) == view


def test_the_v1_form_looks_as_documented() -> None:
    assert to_chatml(make(background_task=""), system_prompt="Prune.") == {
        "prompt": (
            "<|im_start|>system\nPrune.<|im_end|>\n"
            "<|im_start|>user\n<query>\nwhy is the door not locked?\n</query>\n"
            f"<tool_output>\n{OUTPUT}\n</tool_output><|im_end|>\n<|im_start|>assistant\n"
        ),
        "response": (
            "<relevant_lines>\n    def test_lock(door):\n>       assert door.locked\n"
            "E       assert False\n</relevant_lines>"
        ),
        "metadata": {
            "project": "door",
            "level": "easy",
            "instance_id": "door-1#0",
            "tool_type": "test_output",
            "source": "own",
            "num_total_lines": 9,
            "num_relevant_lines": 3,
            "compression_ratio": 0.6667,
            "command": "pytest tests/test_door.py",
        },
    }
    assert to_chatml(NEGATIVE)["response"] == "<relevant_lines>\n</relevant_lines>"


@pytest.mark.parametrize(
    ("response", "spans"),
    [
        ("<relevant_lines>\n</relevant_lines>", []),
        ("<relevant_lines></relevant_lines>", []),
        ("<relevant_lines>\n\n</relevant_lines>", [Span(2, 2)]),
        ("<relevant_lines>1 failed, 2 passed</relevant_lines><|im_end|>", [Span(8, 8)]),
        ('{"relevant_lines": ["1 failed, 2 passed"]}', [Span(8, 8)]),
    ],
)
def test_responses_that_v1_data_holds(response: str, spans: list[Span]) -> None:
    assert from_chatml(to_chatml(make()) | {"response": response}).gold_spans == spans


@pytest.mark.parametrize("background", ["", "<background_task>\n</background_task>\n"])
@pytest.mark.parametrize("tag", ["query", "task"])
@pytest.mark.parametrize("end", ["", "\n<|im_end|>\n<|im_start|>assistant\n"])
def test_prompts_that_v1_data_holds(background: str, tag: str, end: str) -> None:
    asks = f"<|im_start|>user\n<{tag}>\nq\n</{tag}>\n"
    prompt = f"{asks}{background}<tool_output>\n<query>\na\n\n</tool_output>{end}"
    record = from_chatml({"prompt": prompt, "response": "<relevant_lines>\na\n</relevant_lines>"})
    assert (record.query, record.background_task, record.tool_output) == ("q", "", "<query>\na\n")
    assert record.gold_spans == [Span(2, 2)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prompt": "hello"}, "prompt has no <query> block"),
        ({"prompt": "<query>\nq\n</query>\n"}, "prompt has no <tool_output> block after its <query> block"),
        (
            {"prompt": "<query>\nq\n</query>\n<tool_output>\na"},
            "prompt does not close its <tool_output> block",
        ),
        ({"response": "E       assert False"}, "response has no <relevant_lines> block"),
        ({"response": '{"relevant_lines": "a"}'}, "relevant_lines must be a list of strings"),
        ({"response": "<relevant_lines>\nnot there\n</relevant_lines>"}, "relevant line 1 ('not there')"),
        ({"response": None}, "field 'response' is null"),
        ({"prompt": 1}, "field 'prompt' must be a string"),
        ({"metadata": "x"}, "field 'metadata' must be an object"),
        ({"metadata": {"source": 3}}, "field 'source' must be a string"),
    ],
)
def test_a_malformed_v1_row_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError) as caught:
        from_row(to_chatml(make()) | changes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"task": "q", "tool_output": "a"}, "field 'relevant_lines' is missing"),
        ({"task": "q", "relevant_lines": []}, "field 'tool_output' is missing"),
        ({"tool_output": "a", "relevant_lines": []}, "field 'task' is missing"),
        ({"task": "q", "tool_output": "a", "relevant_lines": ["a", 2]}, "must be a list of strings"),
        ({"task": "q", "tool_output": "a", "relevant_lines": "a"}, "must be a list of strings"),
    ],
)
def test_a_malformed_encoder_row_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError) as caught:
        from_row(fields)
    assert message in str(caught.value)


def test_forms_are_told_apart_by_their_fields() -> None:
    assert detect_form(make().to_dict()) == "canonical"
    assert detect_form(to_chatml(make())) == "v1"
    assert detect_form(to_encoder_view(make())) == "encoder"
    assert detect_form(row(task="t", prompt="p")) == "canonical"
    assert detect_form({}) == "canonical"
    with pytest.raises(RecordError, match="unknown form 'v2'"):
        to_row(make(), "v2")  # type: ignore[arg-type]


# --- beside the squeez package ----------------------------------------------------------------------------


@given(records(st.one_of(outputs, st.text())))
def test_canonical_rows_agree_with_squeez(record: Record) -> None:
    canonical = pytest.importorskip("squeez.data.canonical")
    ours = record.to_dict()
    theirs = canonical.canonical_record(
        **{name: ours[name] for name in ours if name not in record.extra and name != "is_irrelevant"}
    )
    assert theirs == {name: ours[name] for name in theirs}
    assert record.relevant_lines() == canonical.extract_relevant_lines(record.tool_output, ours["gold_spans"])


def test_every_span_that_squeez_normalises_is_accepted() -> None:
    canonical = pytest.importorskip("squeez.data.canonical")
    total = len(OUTPUT.split("\n"))
    spans = canonical.normalize_spans([{"start": 6, "end": 99}, {"start_line": 1, "end_line": 2}], total)
    record = Record.from_dict(row(gold_spans=spans))
    assert record.gold_spans == [Span(1, 2), Span(6, 8)]


def test_files_that_squeez_assembles_are_read_and_ours_are_the_same(tmp_path: Path) -> None:
    assembler = pytest.importorskip("squeez.data.sample_assembler")
    config = pytest.importorskip("squeez.data.config")
    ours = [
        make(extra={}, source="swe", command=""),
        make(
            instance_id="door-1#1",
            query="how many failed?",
            gold_spans=[(3, 3), (8, 8)],
            extra={},
            source="swe",
        ),
        dataclasses.replace(NEGATIVE, source="swe"),
    ]
    distilled = [record.to_dict() for record in ours]
    assembler.assemble_samples(distilled, [], config.PipelineConfig(output_dir=tmp_path))

    def raw(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]

    assert load_records(tmp_path / "canonical_train.jsonl") == ours
    assert [record.to_dict() for record in ours] == raw("canonical_train.jsonl")
    assert [
        dataclasses.replace(r, command=o.command)
        for r, o in zip(load_records(tmp_path / "train.jsonl"), ours, strict=True)
    ] == ours
    encoder = load_records(tmp_path / "encoder_train.jsonl")
    assert [(r.query, r.gold_spans) for r in encoder] == [(r.query, r.gold_spans) for r in ours]
    assert [to_encoder_view(record) for record in ours] == raw("encoder_train.jsonl")

    for record, theirs in zip(ours, raw("train.jsonl"), strict=True):
        written = to_chatml(dataclasses.replace(record, command=""), system_prompt=config.SYSTEM_PROMPT)
        assert written == theirs


@given(records())
def test_squeez_reads_the_lines_of_our_responses(record: Record) -> None:
    evaluate = pytest.importorskip("squeez.training.evaluate")
    assume("relevant_lines>" not in record.tool_output)  # it stops at the first end tag
    parsed = evaluate._parse_relevant_lines(to_chatml(record)["response"])
    assert parsed == [line.strip() for line in record.relevant_lines() if line.strip()]


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["records.jsonl", "records.jsonl.gz"])
@pytest.mark.parametrize("form", ["canonical", "v1", "encoder"])
def test_written_records_are_read_again(tmp_path: Path, name: str, form: Any) -> None:
    path = tmp_path / name
    ours = [make(), NEGATIVE, make(tool_output="\udcff caf\u00e9 \u2028\r\n", gold_spans=[(1, 1)])]
    assert write_records(path, iter(ours), form=form) == 3
    assert os.listdir(tmp_path) == [name]
    read = load_records(str(path))
    assert [to_encoder_view(record) for record in read] == [to_encoder_view(record) for record in ours]
    if form != "encoder":
        assert read == ours


def test_the_same_records_give_the_same_gzip_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_records(tmp_path / "one.jsonl.gz", [make(), NEGATIVE])
    monkeypatch.setattr("time.time", lambda: 1e9)
    write_records(tmp_path / "another.jsonl.gz", [make(), NEGATIVE])
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "another.jsonl.gz").read_bytes()


def test_gzip_is_told_by_content_and_forms_may_be_mixed(tmp_path: Path) -> None:
    rows = [make().to_dict(), to_chatml(make()), to_encoder_view(make())]
    text = "\ufeff" + "\r\n\n".join(json.dumps(fields) for fields in rows)  # BOM, CR LF, blank lines, no final end
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(gzip.compress(text.encode()))
    assert [record.gold_spans for record in iter_records(path)] == [[Span(4, 6)]] * 3


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert load_records(tmp_path / "empty.jsonl") == []
    assert write_records(tmp_path / "none.jsonl.gz", []) == 0
    assert load_records(tmp_path / "none.jsonl.gz") == []


def test_a_file_may_be_rewritten_from_itself(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write_records(path, [make(), NEGATIVE])
    assert write_records(path, (record for record in iter_records(path) if record.is_irrelevant)) == 1
    assert load_records(path) == [NEGATIVE]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl.gz"
    write_records(path, [NEGATIVE])
    with pytest.raises(RecordError, match="'door-1#0' cannot be written as JSON"):
        write_records(path, [NEGATIVE, make(extra={"seen": {1, 2}})])
    assert load_records(path) == [NEGATIVE]
    assert os.listdir(tmp_path) == [path.name]


def test_unwritable_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none/records\.jsonl: cannot be written: No such file"):
        write_records(tmp_path / "none" / "records.jsonl", [make()])
    with pytest.raises(RecordError, match="cannot be written"):
        write_records(tmp_path, [make()])


GOOD = json.dumps(make().to_dict()).encode()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"query": "q",', "not JSON: "),
        (b"[1, 2]", "a row must be a JSON object, not a list"),
        (b'"text"', "a row must be a JSON object, not a string"),
        (b'{"query": "\xff"}', "not UTF-8 (byte 12 of the line)"),
        (b"{}", "field 'query' is missing"),
        (b"[" * 100_000, "not usable JSON"),
        (b'{"n": ' + b"9" * 10_000 + b"}", "not usable JSON"),
        (json.dumps(row(gold_spans=[[1, 99]])).encode(), "gold span 1 to 99 lies outside"),
        (json.dumps(row(is_irrelevant=True)).encode(), "is_irrelevant is true"),
        (json.dumps({"task": "q", "tool_output": "a", "relevant_lines": ["b"]}).encode(), "relevant line 1"),
        (b'\xef\xbb\xbf{"query": "q"}', "not JSON: "),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_malformed_line_is_named(tmp_path: Path, line: bytes, message: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(pack(b"\n".join([GOOD, b"", line, GOOD])))
    rows = iter_records(path)
    assert next(rows) == make()
    with pytest.raises(RecordError) as caught:
        next(rows)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damaged_gzip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl.gz"
    whole = gzip.compress(b"\n".join([GOOD] * 50))
    path.write_bytes(whole[:-12])
    with pytest.raises(RecordError, match=r"records\.jsonl\.gz:\d+: the gzip data ends early"):
        load_records(path)
    path.write_bytes(whole[:-8] + b"\0" * 8)
    with pytest.raises(RecordError, match=r"records\.jsonl\.gz:\d+: the gzip data is corrupt"):
        load_records(path)
    path.write_bytes(whole[:10] + b"\xff" * 40)
    with pytest.raises(RecordError, match=r"records\.jsonl\.gz:1: the gzip data is corrupt"):
        load_records(path)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"nowhere\.jsonl: no such file$"):
        load_records(tmp_path / "nowhere.jsonl")
    with pytest.raises(RecordError, match=r"someone/dataset: no such file; .* write hub:someone/dataset"):
        load_records("someone/dataset")
    with pytest.raises(RecordError, match="cannot be read"):
        load_records("nul\0name")


def test_a_file_has_no_splits(tmp_path: Path) -> None:
    write_records(tmp_path / "records.jsonl", [make()])
    with pytest.raises(RecordError, match="leave out the split 'test'"):
        load_records(tmp_path / "records.jsonl", split="test")


@pytest.mark.parametrize("name", ["many.jsonl", "many.jsonl.gz"])
def test_reading_and_writing_stream(tmp_path: Path, name: str) -> None:
    record = make(tool_output="x" * 20_000, gold_spans=[(1, 1)])
    tracemalloc.start()
    try:
        write_records(tmp_path / name, itertools.repeat(record, 400))
        assert sum(1 for _ in iter_records(tmp_path / name)) == 400
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000  # the file holds 8 MB


# --- data sets --------------------------------------------------------------------------------------------


@pytest.fixture
def datasets(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = pytest.importorskip("datasets")
    monkeypatch.setattr(module.config, "HF_DATASETS_CACHE", str(tmp_path_factory.mktemp("cache")))
    return module


SPLITS = {
    "train": [make(), make(instance_id="door-1#2", gold_spans=[(1, 2), (8, 8)])],
    "test": [make(instance_id="door-1#3", gold_spans=[]), make()],
}


def test_a_saved_data_set_is_read_by_split(tmp_path: Path, datasets: Any) -> None:
    tables = {
        split: datasets.Dataset.from_list([record.to_dict() for record in rows], split=split)
        for split, rows in SPLITS.items()
    }
    datasets.DatasetDict(tables).save_to_disk(tmp_path / "both")
    for split, rows in SPLITS.items():
        assert load_records(tmp_path / "both", split=split) == rows
        assert load_records(f"hub:{tmp_path / 'both'}", split=split) == rows
    with pytest.raises(RecordError, match="both has several splits; choose one: train, test"):
        load_records(tmp_path / "both")
    with pytest.raises(RecordError, match="both has no split 'dev'; it has: train, test"):
        load_records(tmp_path / "both", split="dev")

    tables["test"].save_to_disk(tmp_path / "one")
    assert load_records(tmp_path / "one") == load_records(tmp_path / "one", split="test") == SPLITS["test"]
    with pytest.raises(RecordError, match="has no split 'train'; it has: test"):
        load_records(tmp_path / "one", split="train")


def test_spans_held_in_columns_are_read(tmp_path: Path, datasets: Any) -> None:
    rows = [record.to_dict() for record in SPLITS["train"]]
    table = datasets.Dataset.from_list(
        [
            fields
            | {"gold_spans": {key: [span[key] for span in fields["gold_spans"]] for key in ("start_line", "end_line")}}
            for fields in rows
        ]
    )
    table.save_to_disk(tmp_path / "columns")
    assert load_records(tmp_path / "columns") == SPLITS["train"]


def test_columns_that_a_row_does_not_have_are_left_out(tmp_path: Path, datasets: Any) -> None:
    rows = [row(level=None, is_irrelevant=None), row(project=None, instance_id="door-1#4")]
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "gaps")
    assert [record.extra for record in load_records(tmp_path / "gaps")] == [
        {"project": "door"},
        {"level": "easy"},
    ]


@pytest.mark.parametrize("form", ["canonical", "v1", "encoder"])
@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "parquet"])
def test_a_folder_of_files_is_read_by_split(tmp_path: Path, datasets: Any, kind: str, form: Any) -> None:
    for split, rows in SPLITS.items():
        path = tmp_path / f"{split}.{kind}"
        if kind == "parquet":
            datasets.Dataset.from_list([to_row(record, form) for record in rows]).to_parquet(path)
        else:
            write_records(path, rows, form=form)
    for split, rows in SPLITS.items():
        read = load_records(tmp_path, split=split)
        assert [to_encoder_view(record) for record in read] == [to_encoder_view(record) for record in rows]
        if form != "encoder":
            assert read == rows
    with pytest.raises(RecordError, match="several splits"):
        load_records(tmp_path)


def write_three_forms(folder: Path) -> None:
    """The layout of the published data set: the same rows in three forms side by side."""
    for split, rows in SPLITS.items():
        write_records(folder / f"canonical_{split}.jsonl", rows)
        write_records(folder / f"{split}.jsonl", rows, form="v1")
        write_records(folder / f"encoder_{split}.jsonl", rows, form="encoder")


def test_of_three_forms_side_by_side_the_canonical_is_read(
    tmp_path: Path, datasets: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_three_forms(tmp_path)
    assert load_records(tmp_path, split="train") == SPLITS["train"]

    hub_id = "KRLabsOrg/tool-output-extraction-swebench"
    for name in ("load_dataset", "load_dataset_builder"):
        real = getattr(datasets, name)

        def local(path: str, *args: Any, real: Any = real, **kwargs: Any) -> Any:
            return real(str(tmp_path) if path == hub_id else path, *args, **kwargs)

        monkeypatch.setattr(datasets, name, local)
    assert load_records(f"hub:{hub_id}", split="test") == SPLITS["test"]


def test_a_split_must_not_mix_forms(tmp_path: Path, datasets: Any) -> None:
    parts = [
        datasets.Dataset.from_list([to_row(record, form) for record in SPLITS["train"]])
        for form in ("canonical", "encoder")
    ]
    datasets.concatenate_datasets(parts).save_to_disk(tmp_path / "mixed")
    with pytest.raises(RecordError, match=r"\[train\]:3: a row of the form encoder"):
        load_records(tmp_path / "mixed")

    write_records(tmp_path / "train-0.jsonl", SPLITS["train"])
    write_records(tmp_path / "train-1.jsonl", SPLITS["train"], form="encoder")
    with pytest.raises(RecordError, match=r"\[train\]: after row 2: Couldn't cast .* because column names don't match"):
        load_records(tmp_path)


def test_a_malformed_row_of_a_data_set_is_named(tmp_path: Path, datasets: Any) -> None:
    rows = [row(), row(gold_spans=[{"start_line": 7, "end_line": 70}])]
    datasets.Dataset.from_list(rows, split="test").save_to_disk(tmp_path / "bad")
    with pytest.raises(RecordError) as caught:
        load_records(tmp_path / "bad")
    assert str(caught.value).startswith(f"{tmp_path / 'bad'}[test]:2: gold span 7 to 70 lies outside")


def test_a_directory_that_is_no_data_set(tmp_path: Path, datasets: Any) -> None:
    with pytest.raises(RecordError, match="no readable data set"):
        load_records(tmp_path)
    (tmp_path / "train.jsonl").write_text('{"query": "q"\n')
    with pytest.raises(RecordError) as caught:
        load_records(tmp_path)
    assert str(caught.value).startswith(str(tmp_path))
    assert "\n" not in str(caught.value)
    (tmp_path / "train.jsonl").write_text('{"text": "q"}\n')
    with pytest.raises(RecordError, match=r"\[train\]:1: field 'query' is missing"):
        load_records(tmp_path)


def test_a_hub_that_cannot_be_reached(datasets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise ConnectionError("Couldn't reach the hub\nwith many details")

    monkeypatch.setattr(datasets, "load_dataset_builder", refuse)
    with pytest.raises(
        RecordError, match=r"^hub:some/one: no readable data set: Couldn't reach the hub with many details$"
    ):
        load_records("hub:some/one", split="test")


def test_without_datasets_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"datasets is not installed; run: pip install 'linecls\[eval\]'"):
        load_records("hub:some/one")


def test_reading_a_file_imports_nothing_heavy(tmp_path: Path) -> None:
    write_records(tmp_path / "records.jsonl.gz", [make()])
    code = (
        "import sys; from linecls import load_records; "
        f"assert len(load_records({str(tmp_path / 'records.jsonl.gz')!r})) == 1; "
        "assert not {'datasets', 'torch', 'pyarrow', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_record_that_asks_nothing_is_named(tmp_path: Path) -> None:
    asks, blank = (Record(query=query, tool_output="a\n", gold_spans=[], instance_id="x#1") for query in ("?", " \x00"))
    require_queries([asks], "dev.jsonl")
    with pytest.raises(RecordError, match=r"^dev.jsonl: record 2 \(x#1\): the query is empty: say what to look for$"):
        require_queries([asks, blank], "dev.jsonl")
    path = tmp_path / "dev.jsonl"
    write_records(path, [asks, blank])
    for arguments in (["eval", str(path), "--system", "first"], ["tune", str(path), "--target", "tokens=5"]):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 2
        assert "dev.jsonl: record 2 (x#1): the query is empty" in result.stderr
