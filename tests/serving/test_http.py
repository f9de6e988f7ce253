"""The HTTP server: its answers, its limits, its end, and its own description of itself."""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("onnxruntime")
httpx = pytest.importorskip("httpx")

from linecls.observation import is_blank  # noqa: E402
from linecls.pruner import Pruner  # noqa: E402
from linecls.serving.batching import Limits  # noqa: E402
from linecls.serving.guard import Rules  # noqa: E402
from linecls.serving.http import _ASKED, create_app  # noqa: E402

LOG = "collected 3 items\r\n\nFAILED test_login - ConnectionRefusedError: [Errno 111]\n" + "ok\n" * 20 + "3 in 0.1s"
QUERY = "why does the login test fail"


@pytest.fixture(scope="module")
def pruner() -> Pruner:
    return Pruner.from_pretrained(device="cpu", threads=1)


class Client:
    """Requests to an application in this process, its start and its end included."""

    def __init__(self, app, **headers):
        self.app = app
        self.headers = {"host": "localhost", **headers}

    def run(self, talk):
        async def main():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            client = httpx.AsyncClient(transport=transport, base_url="http://x", headers=self.headers)
            async with client, lifespan(self.app):
                return await talk(client)

        return asyncio.run(main())

    def post(self, path, body, **options):
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        return self.run(lambda client: client.post(path, **content, **options))

    def get(self, path, **options):
        return self.run(lambda client: client.get(path, **options))


class lifespan:
    """The start and the end of an ASGI application."""

    def __init__(self, app):
        self.app = app

    async def __aenter__(self):
        self.to_app, self.from_app = asyncio.Queue(), asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self.task = asyncio.ensure_future(self.app(scope, self.to_app.get, self.from_app.put))
        await self.to_app.put({"type": "lifespan.startup"})
        assert (await self.from_app.get())["type"] == "lifespan.startup.complete"

    async def __aexit__(self, *_):
        await self.to_app.put({"type": "lifespan.shutdown"})
        assert (await self.from_app.get())["type"] == "lifespan.shutdown.complete"
        await self.task


@pytest.fixture
def client(pruner):
    return Client(create_app(pruner))


# Answers


def test_prune_is_what_the_pruner_gives(client, pruner):
    expected = pruner.prune(QUERY, LOG)
    reply = client.post("/prune", {"query": QUERY, "observation": LOG})
    assert reply.status_code == 200
    assert reply.json() == {
        "spans": [{"start_line": s.start_line, "end_line": s.end_line} for s in expected.spans],
        "kept_lines": expected.kept_lines,
        "total_lines": 24,
        "answerable": expected.answerable,
        "text": expected.text,
    }


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"bias": -1000}, 24),
        ({"bias": 1000}, 0),
        ({"bias": -1000, "max_lines": 2}, 2),
        ({"bias": -1000, "keep_ratio": 0.5}, 12),
        ({"operating_point": "recall", "max_tokens": 0}, 0),
    ],
)
def test_options(client, options, kept):
    assert client.post("/prune", {"query": QUERY, "observation": LOG, **options}).json()["kept_lines"] == kept


def test_a_best_line_over_the_token_limit_is_told(client, pruner):
    options = {"bias": -1000, "max_tokens": 1}
    expected = pruner.prune(QUERY, LOG, **options).unfit_tokens
    assert expected > 1
    body = {"query": QUERY, "observation": LOG, **options}
    assert client.post("/prune", body).json()["unfit_tokens"] == expected
    items = {"items": [{"query": QUERY, "observation": LOG}], **options}
    assert client.post("/prune_batch", items).json()["results"][0]["unfit_tokens"] == expected


def test_batch_answers_in_order(client, pruner):
    items = [{"query": q, "observation": o} for q in (QUERY, "how long did it take") for o in (LOG, "", "ok\n")]
    results = client.post("/prune_batch", {"items": items, "operating_point": "recall"}).json()["results"]
    for item, result in zip(items, results, strict=True):
        expected = pruner.prune(item["query"], item["observation"], operating_point="recall")
        assert (result["text"], result["answerable"]) == (expected.text, expected.answerable)
    assert client.post("/prune_batch", {"items": []}).json() == {"results": []}


def test_requests_at_one_time_share_batches_and_keep_their_answers(pruner):
    app = create_app(pruner, limits=Limits(wait_seconds=0.05))
    bodies = [{"query": QUERY, "observation": f"line {i}\n" + LOG, "max_lines": i % 3} for i in range(12)]

    async def talk(client):
        replies = await asyncio.gather(*(client.post("/prune", json=body) for body in bodies))
        return replies, (await client.get("/metrics")).text

    replies, metrics = Client(app).run(talk)
    for body, reply in zip(bodies, replies, strict=True):
        assert reply.json()["text"] == pruner.prune(QUERY, body["observation"], max_lines=body["max_lines"]).text
    lines = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
    assert lines["linecls_batch_pairs_sum"] == "12"
    assert int(lines["linecls_batch_pairs_count"]) < 12
    assert lines['linecls_requests_total{path="/prune",status="200"}'] == "12"
    assert lines["linecls_request_seconds_count"] == "12"
    assert lines["linecls_open_pairs"] == "0"
    kept, dropped = (int(lines[f'linecls_lines_total{{fate="{fate}"}}']) for fate in ("kept", "dropped"))
    assert kept + dropped == 12 * 25


def test_health(client):
    reply = client.get("/health").json()
    assert (reply["status"], reply["model_loaded"], reply["open_pairs"]) == ("healthy", True, 0)


@pytest.mark.parametrize("text", ["a\x00b\n\ud800 login\n", "\u2028\x0c\r\n\r", "😀 login\n" * 3, ""])
def test_any_text_comes_back_as_it_was(client, text):
    body = json.dumps({"query": "login", "observation": text, "operating_point": "recall", "bias": -1000}).encode()
    reply = client.post("/prune", body, headers={"content-type": "application/json"})
    assert reply.status_code == 200
    assert reply.json()["text"] == text.replace("\ud800", "\ufffd" * 3)
    body = json.dumps({"query": "login", "code": text, "threshold": 0}).encode()
    reply = client.post("/prune", body, headers={"content-type": "application/json"})
    assert reply.json()["pruned_code"] == text


# SWE-Pruner's shape


def swe(client, **body):
    reply = client.post("/prune", {"query": QUERY, "code": LOG, **body})
    assert reply.status_code == 200
    return reply.json()


def test_swe_pruner_s_shape(client, pruner):
    reply = swe(client, threshold=0.5, always_keep_first_frags=False, chunk_overlap_tokens=50)
    expected = pruner.prune(QUERY, LOG)
    lines = LOG.splitlines()
    kept = [number for s in expected.spans for number in range(s.start_line, s.end_line + 1)]
    assert reply["kept_frags"] == kept
    assert reply["score"] == expected.answerable
    assert reply["error_msg"] is None
    for number in kept:
        assert lines[number - 1] in reply["pruned_code"]
    assert "(filtered " in reply["pruned_code"]
    assert "".join(text for text, _ in reply["token_scores"]) == LOG
    assert all(0 <= score <= 1 for _, score in reply["token_scores"])
    assert 0 < reply["left_token_cnt"] < reply["origin_token_cnt"] < reply["model_input_token_cnt"]


def test_swe_pruner_s_threshold(client):
    kept = [set(swe(client, threshold=t)["kept_frags"]) for t in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)]
    for wider, tighter in itertools.pairwise(kept):
        assert tighter <= wider
    assert (len(kept[0]), len(kept[-1])) == (24, 0)
    everything = swe(client, threshold=0)
    assert everything["pruned_code"] == LOG
    assert everything["left_token_cnt"] == everything["origin_token_cnt"]  # how its agents see that nothing went
    assert swe(client, threshold=1, always_keep_first_frags=True)["kept_frags"] == [1]


def test_swe_pruner_s_edges(client):
    assert swe(client, query=" ")["pruned_code"] == LOG
    for query in ("", "\x00\u3000"):
        assert "query is empty" in swe(client, query=query)["error_msg"]
    empty = swe(client, code="")
    assert (empty["pruned_code"], empty["kept_frags"], empty["token_scores"]) == ("", [], [])
    # Line numbers are those of str.splitlines, which breaks lines where we do not.
    assert swe(client, code="a\x0cb\nc\r\nd", threshold=0)["kept_frags"] == [1, 2, 3, 4]


# What is refused


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "query: Field required"),
        ({"query": " \n", "observation": ""}, "query: Value error, the query is empty: say what to look for"),
        ({"query": "\x00\u3000", "observation": ""}, "the query is empty: say what to look for"),
        ({"query": "x" * 70_000, "observation": ""}, "at most 65536 characters"),
        ({"query": 3, "observation": ""}, "query: "),
        ({"query": "x"}, "observation: Field required"),
        ({"query": "x", "observation": "", "operating_point": "none"}, "operating_point: "),
        ({"query": "x", "observation": "", "keep_ratio": 2}, "keep_ratio: "),
        ({"query": "x", "observation": "", "max_lines": -1}, "max_lines: "),
        ({"query": "x", "observation": "", "max_lines": True}, "max_lines: "),
        ({"query": "x", "observation": "", "bias": "1"}, "bias: "),
        ({"query": "x", "code": "", "always_keep_first_frags": "yes"}, "always_keep_first_frags: "),
        ({"query": "x", "observation": "", "max_lines": 10**400}, "max_lines: "),
        ({"query": "x", "observation": "", "keep_raito": 0.5}, "keep_raito: Extra inputs"),
        ({"query": "x", "code": "", "threshold": "much"}, "threshold: "),
        ({"query": "x", "code": "", "threshold": 1.5}, "threshold: Input should be less than or equal to 1"),
        ({"query": "x", "code": "", "threshold": -0.1}, "threshold: Input should be greater than or equal to 0"),
        ([], "the body: "),
        (None, ""),
        (b'{"query": "x", "observation": "", "bias": NaN}', "bias: "),
        (b'{"query": "x"', "the body is not JSON"),
        (b'{"query": "\\ud800", "observation": ""}', "query: "),
        (b"\xff\xfe", ""),
        (b"[" * 100_000, ""),
        (b"", ""),
    ],
)
def test_what_is_malformed_gets_one_line(client, body, says):
    reply = client.post("/prune", body, headers={"content-type": "application/json"})
    assert reply.status_code in (400, 422)
    assert says in reply.json()["detail"]
    assert "\n" not in reply.json()["detail"]
    assert len(reply.text) < 400  # what was sent is not sent back


def test_other_requests_that_are_refused(client):
    # No content type; what curl -d sends by itself; what a web page may send without asking.
    for sent in ({}, {"content-type": "application/x-www-form-urlencoded"}, {"content-type": "text/plain; charset=x"}):
        for path in ("/prune", "/prune_batch"):
            reply = client.post(path, b'{"query": "x", "observation": ""}', headers=sent)
            assert (reply.status_code, reply.json()["detail"]) == (
                422,
                "send the body as JSON, with the header Content-Type: application/json",
            )
    for sent in ("application/json; charset=utf-8", "Application/JSON", "application/problem+json"):
        reply = client.post("/prune", b'{"query": "x"}', headers={"content-type": sent})
        assert reply.json()["detail"] == "observation: Field required"
    assert client.get("/prune").status_code == 405
    assert client.get("/nowhere").json() == {"detail": "Not Found"}
    too_many = {"items": [{"query": "x", "observation": ""}] * 257}
    assert client.post("/prune_batch", too_many).status_code == 422


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8000", "", "[::1"])
def test_a_foreign_host_name_is_refused(pruner, host):
    assert Client(create_app(pruner), host=host).get("/health").status_code == 421


@pytest.mark.parametrize("host", ["localhost:8000", "LOCALHOST", "127.0.0.1:1", "[::1]:8000", "[::1]"])
def test_loopback_names_are_served(pruner, host):
    assert Client(create_app(pruner), host=host).get("/health").status_code == 200


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("", 401),
        ("Bearer", 401),
        ("Bearer wrong", 401),
        ("Bearer secret2", 401),
        ("Basic secret", 401),
        ("secret", 401),
        ("Bearer secret", 200),
        ("bearer  secret", 200),
    ],
)
def test_the_token(pruner, header, status):
    headers = {} if header is None else {"authorization": header}
    guarded = Client(create_app(pruner, Rules(token="secret")), **headers)
    assert guarded.post("/prune", {"query": "x", "observation": ""}).status_code == status
    for path in ("/metrics", "/openapi.json"):
        assert guarded.get(path).status_code == status
    assert guarded.get("/health").status_code == 200


def test_a_body_over_the_limit(pruner):
    small = Client(create_app(pruner, Rules(max_body=1000)))
    body = {"query": "x", "observation": "y" * 1000}
    assert small.post("/prune", body).status_code == 413

    async def in_pieces():
        for _ in range(3):
            yield b"x" * 500

    reply = small.run(lambda client: client.post("/prune", content=in_pieces()))
    assert (reply.status_code, reply.json()["detail"]) == (413, "the body is over 1000 bytes")
    assert small.post("/prune", {"query": "x", "observation": "y" * 900}).status_code == 200


def test_a_body_that_does_not_come(pruner):
    slow = Client(create_app(pruner, Rules(body_seconds=0.1)))

    async def drip():
        yield b"{"
        await asyncio.sleep(5)

    assert slow.run(lambda client: client.post("/prune", content=drip())).status_code == 408


class Slow:
    """A pruner whose answers take their time."""

    def __init__(self, pruner, seconds):
        self.artifact = pruner.artifact
        self.seconds = seconds
        self.asked = []
        self._pruner = pruner

    def prune_many(self, pairs, **options):
        for pair in pairs:
            self.asked.append(pair)
            time.sleep(self.seconds)
            yield self._pruner.prune(*pair, **options)


BODY = {"query": "x", "observation": "y"}


def test_too_many_requests_are_turned_away(pruner):
    app = create_app(Slow(pruner, 0.3), Rules(max_requests=3))

    async def talk(client):
        return await asyncio.gather(*(client.post("/prune", json=BODY) for _ in range(10)))

    replies = Client(app).run(talk)
    assert sorted(reply.status_code for reply in replies) == [200] * 3 + [429] * 7
    refused = next(reply for reply in replies if reply.status_code == 429)
    assert refused.headers["retry-after"] == "1"


def test_too_much_work_is_turned_away(pruner):
    app = create_app(Slow(pruner, 0.2), limits=Limits(queue_pairs=4))
    batch = {"items": [BODY] * 3}

    async def talk(client):
        first = asyncio.ensure_future(client.post("/prune_batch", json=batch))
        await asyncio.sleep(0.1)
        second = await client.post("/prune_batch", json=batch)
        third = client.post("/prune", json=BODY)
        return [(await reply).status_code for reply in (first, third)], second.status_code

    assert Client(app).run(talk) == ([200, 200], 429)


def test_too_many_bytes_are_turned_away(pruner):
    app = create_app(Slow(pruner, 0.3), Rules(max_buffered=1000))
    body = {"query": "x", "observation": "y" * 700}

    async def talk(client):
        return await asyncio.gather(*(client.post("/prune", json=body) for _ in range(3)))

    assert sorted(r.status_code for r in Client(app).run(talk)) == [200, 429, 429]
    assert Client(create_app(pruner, Rules(max_buffered=10))).post("/prune", body).status_code == 200


def test_an_answer_that_takes_too_long(pruner):
    slow = Slow(pruner, 0.5)
    app = create_app(slow, Rules(request_seconds=0.1))

    async def talk(client):
        first = [await client.post("/prune", json=BODY) for _ in range(3)]
        await asyncio.sleep(0.6)
        return first

    replies = Client(app).run(talk)
    assert [reply.status_code for reply in replies] == [504] * 3
    assert len(slow.asked) < 3  # who is gone before the turn is not computed for


def test_a_model_that_fails(pruner):
    class Broken(Slow):
        def prune_many(self, pairs, **options):
            for query, observation in pairs:
                if query == "burst":
                    raise RuntimeError("burst")
                yield self._pruner.prune(query, observation, **options)

    app = create_app(Broken(pruner, 0), limits=Limits(wait_seconds=0.1))

    async def talk(client):
        bodies = [{**BODY, "query": query} for query in ("a", "burst", "b")]
        return await asyncio.gather(*(client.post("/prune", json=body) for body in bodies))

    assert [reply.status_code for reply in Client(app).run(talk)] == [200, 500, 200]


# Its own description


def test_openapi_names_what_is_there(client):
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {"/prune", "/prune_batch", "/health", "/metrics"}
    points = document["components"]["schemas"]["PruneRequest"]["properties"]["operating_point"]
    assert {"f1", "recall"} <= set(points["anyOf"][0]["enum"])
    for status in ("413", "422", "429", "504"):
        assert document["paths"]["/prune"]["post"]["responses"][status]


def test_the_schema_and_the_check_agree_on_what_an_empty_query_is():
    characters = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    asked = re.compile(_ASKED)
    assert [c for c in characters if is_blank(c) == bool(asked.search(c))] == []


@pytest.mark.filterwarnings("ignore")
def test_schemathesis_finds_nothing(pruner):
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    app = create_app(pruner)
    checked = []
    with Server(app) as url:
        schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
        cases = st.one_of(
            *(
                operation.ok().as_strategy(generation_mode=mode)
                for operation in schema.get_all_operations()
                for mode in schemathesis.GenerationMode
            )
        )

        @settings(
            max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
        )
        @given(cases)
        def check(case):
            case.call_and_validate(base_url=url)
            checked.append(case.operation.path)

        check()
    assert set(checked) == {"/prune", "/prune_batch", "/health", "/metrics"}


class Server:
    """The application behind uvicorn in a thread."""

    def __init__(self, app):
        import uvicorn

        self.socket = socket.create_server(("127.0.0.1", 0))
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})

    def __enter__(self):
        self.thread.start()
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def __exit__(self, *_):
        self.server.should_exit = True
        self.thread.join(20)
        self.socket.close()


# As a process


class Process:
    """`linecls serve` on a free port."""

    def __init__(self, *arguments, **environment):
        command = [sys.executable, "-m", "linecls", "serve", "--port", "0", "--threads", "1", *arguments]
        self.run = subprocess.Popen(
            command, env={**os.environ, "OMP_NUM_THREADS": "1", **environment}, stderr=subprocess.PIPE, text=True
        )
        assert self.run.stderr is not None
        self.first_line = self.run.stderr.readline()

    @property
    def port(self):
        return int(self.first_line.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run.kill()
        self.run.communicate()


def test_the_command_serves_and_ends_in_order():
    with Process("--token-file", os.devnull) as refused:
        assert refused.run.wait(60) == 2
        assert "holds no token" in refused.first_line
    with Process("--batch-wait", "1000", LINECLS_TOKEN="secret") as process:
        assert process.first_line.startswith("linecls: listening on http://127.0.0.1:")
        connection = http.client.HTTPConnection("127.0.0.1", process.port, timeout=60)
        headers = {"content-type": "application/json", "authorization": "Bearer secret"}
        connection.request("POST", "/prune", json.dumps({"query": QUERY, "observation": LOG}), headers)
        health, waiting = http.client.HTTPConnection("127.0.0.1", process.port, timeout=60), 0
        while not waiting:  # for company, for a second
            health.request("GET", "/health")
            waiting = json.loads(health.getresponse().read())["open_pairs"]
        health.close()
        process.run.send_signal(signal.SIGTERM)
        reply = connection.getresponse()
        assert reply.status == 200
        assert "ConnectionRefusedError" in json.loads(reply.read())["text"]
        assert process.run.wait(60) == 0
        assert process.run.stderr.read() == ""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", process.port), timeout=5)


def test_a_pruning_that_nobody_waits_for_does_not_keep_the_process():
    code = (
        "import os, signal, socket, sys, threading, time\n"
        "from linecls.serving import http\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        "async def app(scope, receive, send):\n"
        "    while scope['type'] == 'lifespan':\n"
        "        kind = (await receive())['type']\n"
        "        if kind == 'lifespan.shutdown': time.sleep(120)\n"  # as a pruning that cannot be interrupted
        "        await send({'type': kind + '.complete'})\n"
        "        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()\n"
        "http.serve(app, listener, grace_seconds=0.5)\n"
    )
    begun = time.monotonic()
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=100, check=False)
    assert run.returncode == 0, run.stderr
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--host", "0.0.0.0"], "can be reached from other machines: give a token"),
        (["--host", "192.0.2.1", "--token-file", "TOKEN"], "cannot listen on 192.0.2.1 port 0"),
        (["--token-file", "/no/such/file"], "cannot read /no/such/file: No such file"),
        (["--model", "/no/such/model"], "no such model directory"),
        (["--timeout", "0"], "must be above 0"),
        (["--batch-wait", "-1"], "between 0 and 1000"),
    ],
)
def test_one_line_and_status_2(arguments, says, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from linecls.cli import main

    monkeypatch.delenv("LINECLS_TOKEN", raising=False)
    (tmp_path / "token").write_text("secret\n")
    arguments = [str(tmp_path / "token") if argument == "TOKEN" else argument for argument in arguments]
    result = CliRunner().invoke(main, ["serve", "--port", "0", *arguments])
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_port_that_is_taken():
    from click.testing import CliRunner

    from linecls.cli import main

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(main, ["serve", "--port", port])
    assert result.exit_code == 2
    assert result.stderr == f"linecls: cannot listen on 127.0.0.1 port {port}: Address already in use; choose another\n"
