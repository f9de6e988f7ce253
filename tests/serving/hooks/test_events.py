from __future__ import annotations

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls.serving.hooks import claude_code, codex
from linecls.serving.hooks.events import Event, parse, query_of
from linecls.serving.hooks.transcript import last_message

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=8), values, max_size=3),
    max_leaves=8,
)
FIELDS = (
    "hook_event_name",
    "tool_name",
    "tool_input",
    "tool_response",
    "transcript_path",
    "stdout",
    "command",
    "unknown",
)


def event(response=None, transcript=None, **tool_input) -> Event:
    return Event("Bash", tool_input, response, transcript)


def test_an_event() -> None:
    values = {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make", "description": "Build"},
        "tool_response": {"stdout": "x"},
        "something_new": {"a": [1]},
    }
    parsed = parse(json.dumps(values).encode())
    assert parsed == Event("Bash", {"command": "make", "description": "Build"}, {"stdout": "x"}, "/t.jsonl")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"not json",
        b"[1]",
        b"null",
        b"\xff\xfe",
        b"{}",
        b"[" * 100_000,
        b'{"tool_name": 3}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Bash"}',
    ],
)
def test_what_is_no_event(raw: bytes) -> None:
    assert parse(raw) is None


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_any_json_is_an_event_or_none(values) -> None:
    parsed = parse(json.dumps(values).encode())
    if parsed is not None:
        assert isinstance(parsed.command, str)
        assert isinstance(query_of(parsed, ""), str)
        for dialect in (claude_code, codex):
            assert isinstance(dialect.output_of(parsed, 1000), str | None)


def test_the_order_of_the_query() -> None:
    assert query_of(event(command="make", description=" Build\nit. "), "I look for the missing file.") == (
        "Build it. I look for the missing file"
    )
    assert query_of(event(command="make"), "First this.\n\nWhich file is missing?") == "Which file is missing?"
    assert query_of(event(command="make  -j8", description=""), " \n") == "make -j8"
    assert query_of(event(), "") == ""
    assert query_of(event(command=["make", "all"]), "") == "make all"
    assert query_of(event(command={"a": 1}, description=7), "") == ""


def test_a_query_is_short_whatever_is_said() -> None:
    long = "Now we look. " * 80_000
    said = query_of(event(command=long, description=long), long)
    assert len(said) <= 610
    assert said.startswith("Now we look. Now")
    assert len(query_of(event(command="x" * 1_000_000), "")) == 300


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("linecls expand 3f9a2c1b:1-9", True),
        ("cd x && linecls run -- make", True),
        ("/usr/bin/linecls prune q log", True),
        ("pytest tests/linecls", False),
        ("python -m linecls run -- make", True),
        ("cat linecls.md", False),
        ("python -m linecls_extra", False),
    ],
)
def test_the_output_of_linecls_itself(command: str, own: bool) -> None:
    assert event(command=command).is_own is own


# The last message


def line(*blocks, role="assistant") -> str:
    return json.dumps({"type": role, "message": {"role": role, "content": list(blocks)}}) + "\n"


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def test_the_last_message_of_claude_code(tmp_path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(
        line(text("old"))
        + line(text("Which test"), {"type": "tool_use", "name": "Bash"}, text("fails?"))
        + line({"type": "tool_use", "name": "Bash"})
        + line({"type": "tool_result", "content": "assistant"}, role="user")
        + '{"type": "assistant", "message": {"role": "assis'
    )
    assert last_message(str(path)) == "Which test\n\nfails?"
    path.write_text(json.dumps({"message": {"role": "assistant", "content": "plain"}}))
    assert last_message(str(path)) == "plain"


def test_the_last_message_of_codex(tmp_path) -> None:
    path = tmp_path / "rollout.jsonl"
    payload = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "who broke it"}]}
    path.write_text(json.dumps({"type": "response_item", "payload": payload}) + "\n")
    assert last_message(str(path)) == "who broke it"
    with path.open("a") as file:
        file.write(json.dumps({"type": "event_msg", "payload": {"type": "agent_message", "message": "later"}}) + "\n")
    assert last_message(str(path)) == "later"


def test_of_a_huge_transcript_only_the_end_is_read(tmp_path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.truncate(3 << 30)  # a sparse file: 3 GiB of zeros
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + line(text("the end")).encode())
    assert last_message(str(path)) == "the end"


@pytest.mark.parametrize(
    "content",
    ["", "\n\n", "assistant\n", '{"assistant": [[[', '["assistant"]\n{"message": "assistant"}\n', "assistant\x00\n"],
)
def test_a_transcript_of_another_form(tmp_path, content: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(content)
    assert last_message(str(path)) == ""


def test_a_transcript_that_cannot_be_read(tmp_path) -> None:
    assert last_message(None) == ""
    assert last_message(str(tmp_path / "none")) == ""
    assert last_message(str(tmp_path)) == ""
    assert last_message("a\x00b") == ""
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert last_message(str(tmp_path / "pipe")) == ""


# The two dialects


def test_the_output_that_claude_code_sends() -> None:
    response = {"stdout": "out", "stderr": "err", "interrupted": False, "isImage": False, "new": 1}
    assert claude_code.output_of(event(response), 99) == "out"
    assert claude_code.reply(event(response), "less") == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {**response, "stdout": "less"}}
    }


@pytest.mark.parametrize(
    "response",
    [
        None,
        "text",
        ["x"],
        {},
        {"stdout": 3},
        {"stdout": "x", "isImage": True},
        {"stdout": "x", "interrupted": True},
        {"stdout": "x", "backgroundTaskId": "b1"},
        {"stdout": "x", "persistedOutputPath": "/no/such/file"},
        {"stdout": "x", "persistedOutputPath": 3},
    ],
)
def test_what_claude_code_sends_that_is_left_alone(response) -> None:
    assert claude_code.output_of(event(response), 99) is None


def test_a_long_output_is_read_from_its_file(tmp_path) -> None:
    whole = tmp_path / "whole.txt"
    whole.write_text("start and all the rest é")
    response = {"stdout": "start", "stderr": "", "persistedOutputPath": str(whole), "persistedOutputSize": 25}
    assert claude_code.output_of(event(response), 99) == "start and all the rest é"
    assert claude_code.output_of(event(response), 9) is None
    updated = claude_code.reply(event(response), "less")["hookSpecificOutput"]["updatedToolOutput"]
    assert updated == {"stdout": "less", "stderr": ""}
    whole.write_bytes(b"\xff")
    assert claude_code.output_of(event(response), 99) is None
    whole.unlink()
    whole.symlink_to("/etc/passwd")
    assert claude_code.output_of(event(response), 99_999) is None


def test_codex() -> None:
    assert codex.output_of(event("out"), 9) == "out"
    assert codex.output_of(event("x" * 10), 9) is None
    assert codex.output_of(event({"output": "x"}), 9) is None
    reply = codex.reply(event("out"), "  less\n")
    assert reply["continue"] is False
    assert reply["reason"].endswith("]\n  less\n")
    assert set(reply) == {"continue", "stopReason", "reason"}
