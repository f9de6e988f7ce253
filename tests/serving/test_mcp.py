"""The MCP server: its tools by themselves, and through the SDK's own client over standard input and output."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

mcp = pytest.importorskip("mcp")
pytest.importorskip("onnxruntime")

from mcp.server.mcpserver.exceptions import ToolError  # noqa: E402

from linecls.pruner import Pruner  # noqa: E402
from linecls.serving import mcp as serving  # noqa: E402
from linecls.serving.mcp import Tools  # noqa: E402
from linecls.store import Store  # noqa: E402

LOG = (
    "".join(f"INFO request {i} served in {i % 7} ms, nothing to see\n" for i in range(60))
    + "ERROR cannot reach redis at 127.0.0.1:6379: connection refused\n"
    + "".join(f"INFO request {i} served in {i % 5} ms, nothing to see\n" for i in range(60, 120))
)
ANSWER = "ERROR cannot reach redis at 127.0.0.1:6379: connection refused\n"
QUERY = "which server could not be reached"
MARKER = re.compile(r"^\[linecls: (\d+) lines? omitted, linecls expand ([0-9a-f]+:(\d+)-(\d+))\]$", re.MULTILINE)


@pytest.fixture(scope="module")
def pruner():
    return Pruner.from_pretrained(device="cpu", threads=1)


@pytest.fixture
def tools(pruner, tmp_path):
    return Tools(lambda: pruner, Store(tmp_path / "store"))


def python(code):
    return [sys.executable, "-c", code]


def restored(text, tools):
    """The text with every marker replaced by what it stands for."""
    return MARKER.sub(lambda marker: tools.expand(marker[2]).removesuffix("\n"), text)


@pytest.mark.parametrize("profile", ["recall", "tight"])
def test_what_prune_text_leaves_out_can_be_expanded(tools, profile):
    text = tools.prune_text(QUERY, LOG, profile)
    assert ANSWER in text
    assert len(text) < len(LOG) / 2
    assert restored(text, tools) == LOG


def test_short_text_comes_back_as_it_is(tools):
    assert tools.prune_text(QUERY, "one\r\ntwo") == "one\r\ntwo"


def test_run_pruned_says_how_it_ended_and_keeps_the_answer(tools):
    code = f"import sys; sys.stdout.write({LOG!r}); sys.stdout.flush(); sys.stderr.write('last words\\n'); sys.exit(3)"
    first, _, rest = tools.run_pruned(QUERY, python(code)).partition("\n")
    assert re.fullmatch(r"\[linecls: the command ended with status 3 after \d+\.\d s\]", first)
    assert ANSWER in rest
    assert restored(rest, tools) == LOG + "last words\n"


def test_run_pruned_runs_once_without_input(tools, tmp_path):
    mark = tmp_path / "mark"
    text = tools.run_pruned(QUERY, f"echo ran >> '{mark}'; pwd; cat; kill -9 $$", directory=str(tmp_path))
    assert text.startswith("[linecls: the command was killed by signal 9 after ")
    assert text.endswith(f"\n{tmp_path}\n")
    assert mark.read_text() == "ran\n"


@pytest.fixture(autouse=True)
def no_input(monkeypatch):
    """As the SDK does for a server on standard input: a command must not read the client's messages."""
    nowhere = os.open(os.devnull, os.O_RDONLY)
    before = os.dup(0)
    os.dup2(nowhere, 0)
    yield
    os.dup2(before, 0)
    os.close(nowhere)
    os.close(before)


def test_run_pruned_ends_what_takes_too_long(tools):
    text = tools.run_pruned(QUERY, ["sleep", "60"], timeout=0.3)
    assert text == "[linecls: the command was ended after 0.3 s]\n"


def test_binary_output_is_not_shown(tools):
    text = tools.run_pruned(QUERY, python("import sys; sys.stdout.buffer.write(bytes(range(256)) * 100)"))
    assert text.endswith("\n[linecls: 25600 bytes that are no text, not shown]")


def test_an_output_too_long_for_the_model(tools, monkeypatch):
    monkeypatch.setattr(serving, "MAX_BYTES", 1000)
    text = tools.prune_text(QUERY, LOG * 3)
    assert text.startswith(f"[linecls: {3 * len(LOG)} bytes are too many for the model; ")
    assert text.count(ANSWER) == 3  # failure lines
    assert restored(text.partition("\n")[2], tools) == LOG * 3


def test_an_output_too_large_to_keep(tools, monkeypatch):
    monkeypatch.setattr(serving, "MAX_ENTRY", 100_000)
    code = "print('first'); print(('x' * 99 + '\\n') * 3000, end=''); print('last')"
    text = tools.run_pruned(QUERY, python(code))
    assert "\nfirst\n" in text
    assert text.endswith("\nlast\n")
    lost = int(re.search(r"\[linecls: (\d+) bytes were not kept", text)[1])
    assert lost == 300_000 + len("first\nlast\n") - 2 * serving._END


def test_without_a_model_the_output_comes_through(tmp_path):
    def load():
        raise OSError("burst\nopen")

    text = Tools(load, Store(tmp_path)).prune_text(QUERY, LOG)
    assert text == f"[linecls: not pruned, for the model cannot run: OSError: burst open]\n{LOG}"


def test_without_a_store(pruner, tmp_path):
    text = Tools(lambda: pruner, None).prune_text(QUERY, LOG)
    assert ANSWER in text
    assert "omitted]" in text
    (tmp_path / "file").write_text("")
    text = Tools(lambda: pruner, Store(tmp_path / "file")).prune_text(QUERY, LOG)
    note, _, shown = text.partition("\n")
    assert "cannot keep outputs" in note
    assert shown == LOG


def test_when_nothing_answers(pruner, tmp_path):
    class Silent:
        artifact = pruner.artifact

        def prune(self, *_, **__):
            return SimpleNamespace(spans=[])

    tools = Tools(Silent, Store(tmp_path))
    first, _, rest = tools.prune_text(QUERY, LOG).partition("\n")
    assert first == "[linecls: no line answers the query]"
    assert ANSWER in rest  # it carries failure signal
    assert restored(rest, tools) == LOG


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("prune_text", {"query": " ", "text": LOG}, "query is empty"),
        ("prune_text", {"query": "\x00\u3000", "text": LOG}, "query is empty"),
        ("run_pruned", {"query": " ", "command": ["true"]}, "query is empty"),
        ("run_pruned", {"query": "x", "command": []}, "command is empty"),
        ("run_pruned", {"query": "x", "command": ["a\0b"]}, "NUL"),
        ("run_pruned", {"query": "x", "command": ["/no/such/program"]}, "cannot run /no/such/program: No such file"),
        ("run_pruned", {"query": "x", "command": ["true"], "directory": "/no/such"}, "there is no directory /no/such"),
        ("expand", {"reference": "../../etc/passwd"}, "is no ID"),
        ("expand", {"reference": "0123abcd"}, "there is no output 0123abcd"),
        ("expand", {"reference": "0123abcd:9-3"}, "names no lines"),
    ],
)
def test_what_is_refused_in_one_line(tools, name, arguments, says):
    with pytest.raises(ToolError) as refusal:
        getattr(tools, name)(**arguments)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_expand_gives_no_more_than_a_client_can_take(tools, monkeypatch):
    text = tools.prune_text(QUERY, LOG)
    monkeypatch.setattr(serving, "MAX_SHOWN", 100)
    with pytest.raises(ToolError, match="ask for fewer lines"):
        tools.expand(MARKER.search(text)[2])
    with pytest.raises(ToolError, match="not kept here"):
        Tools(lambda: None, None).expand("0123abcd")


# Through the SDK's client


def talk(conversation, tmp_path, *arguments):
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "linecls", "mcp", "--threads", "1", *arguments],
        env={**os.environ, "LINECLS_STORE": str(tmp_path / "store")},
    )

    async def main():
        async with mcp.Client(server, read_timeout_seconds=120) as client:
            return await conversation(client)

    return asyncio.run(main())


def test_with_the_sdk_s_client(tmp_path):
    async def conversation(client):
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == {"prune_text", "run_pruned", "expand"}
        assert listed["prune_text"].annotations.read_only_hint
        assert listed["run_pruned"].annotations.destructive_hint
        assert listed["run_pruned"].input_schema["required"] == ["query", "command"]
        assert listed["run_pruned"].input_schema["properties"]["query"]["minLength"] == 1

        pruned = await client.call_tool("prune_text", {"query": QUERY, "text": LOG})
        assert not pruned.is_error
        (content,) = pruned.content
        assert ANSWER in content.text
        marker = MARKER.search(content.text)
        expanded = await client.call_tool("expand", {"reference": marker[2]})
        assert expanded.content[0].text == "".join(LOG.splitlines(True)[int(marker[3]) - 1 : int(marker[4])])

        # It must neither read the client's messages nor write among them.
        code = f"import sys; print(sys.stdin.read() == ''); print({LOG!r})"
        ran = await client.call_tool("run_pruned", {"query": QUERY, "command": python(code)})
        assert "ended with status 0" in ran.content[0].text
        assert ANSWER in ran.content[0].text
        assert "\nTrue\n" in ran.content[0].text

        for name, arguments, says in (
            ("expand", {"reference": "../x"}, "'../x' is no ID"),
            ("prune_text", {"query": QUERY}, "text: Field required"),
            ("prune_text", {"query": "", "text": LOG}, "the query is empty: say what to look for"),
            ("prune_text", {"query": "x" * 65_537, "text": LOG}, "query: String should have at most 65536 characters"),
            ("prune_text", {"query": "x", "text": LOG, "profile": "y"}, "profile: Input should be 'recall' or 'tight'"),
            ("run_pruned", {"query": "", "command": ["true"]}, "the query is empty: say what to look for"),
            ("run_pruned", {"query": QUERY, "command": ["/no/such/program"]}, "cannot run /no/such/program"),
            ("run_pruned", {"command": 3}, "query: Field required; command: Input should be a valid list"),
            ("run_pruned", {"query": QUERY, "command": ["true"], "timeout": -1}, "timeout: Input should be greater"),
        ):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error
            assert refused.content[0].text.startswith(f"Error executing tool {name}: {says}")
            assert "\n" not in refused.content[0].text
            assert len(refused.content[0].text) < 200  # what was sent is not sent back
        again = await client.call_tool("prune_text", {"query": QUERY, "text": LOG})
        assert again.content == pruned.content

    talk(conversation, tmp_path)


def test_no_run(tmp_path):
    async def conversation(client):
        return {tool.name for tool in (await client.list_tools()).tools}

    assert talk(conversation, tmp_path, "--no-run") == {"prune_text", "expand"}


def test_it_ends_when_its_input_ends(tmp_path):
    command = [sys.executable, "-m", "linecls", "mcp", "--threads", "1"]
    run = subprocess.run(command, input=b"nonsense\n", capture_output=True, timeout=120, check=False)
    assert run.returncode == 0
    assert b"Traceback" not in run.stderr
