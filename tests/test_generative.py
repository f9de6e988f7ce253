from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.errors import LineclsError
from linecls.metrics import line_texts, score_record
from linecls.observation import split_lines
from linecls.records import Record
from linecls.spans import Span, count_lines
from linecls.systems import System, create, from_file
from linecls.systems.generative import (
    EndpointError,
    build_messages,
    map_lines,
    parse_answer,
)
from linecls.systems.generative import client as client_module
from linecls.systems.generative.cache import CompletionCache, default_cache, request_key
from linecls.systems.generative.client import Completion, JsonClient

LOG = "step 1: copy\n\n  step 2: copy\ndisk full on /data\n\nstep 3: stopped\n\x1b[31mstep 4: rolled back\x1b[0m\n"
LINE = st.text(alphabet="ab \t", max_size=4)


# --- prompts -------------------------------------------------------------------------------------------


class TestPrompts:
    def test_the_squeez_form_is_the_packages_to_the_byte(self) -> None:
        extractor = pytest.importorskip("squeez.inference.extractor")
        for query in ("which disk is full", "", "q" * 4000):
            assert build_messages("squeez", query, LOG) == extractor._build_messages(query, LOG)

    def test_the_background_stands_where_the_data_set_has_it(self) -> None:
        squeez = pytest.importorskip("squeez.training.evaluate")
        system, user = build_messages("squeez", "which disk", LOG, "Fix the backup")
        prompt = f"<|im_start|>system\n{system['content']}<|im_end|>\n<|im_start|>user\n{user['content']}<|im_end|>\n"
        assert prompt + "<|im_start|>assistant\n" == squeez._build_prompt("which disk", LOG, "Fix the backup")

    def test_zero_shot_asks_again_below_the_output(self) -> None:
        messages = build_messages("zero-shot", "which disk", LOG)
        assert "<relevant_lines></relevant_lines>" in messages[0]["content"]
        assert LOG in messages[1]["content"]
        assert messages[1]["content"].rpartition("</tool_output>")[2].strip()

    def test_an_unknown_one_is_refused(self) -> None:
        with pytest.raises(LineclsError, match="unknown prompt 'chat'; choose from: squeez, zero-shot"):
            build_messages("chat", "q", LOG)


# --- parsing -------------------------------------------------------------------------------------------


class TestParsing:
    @pytest.mark.parametrize(
        ("text", "lines", "form"),
        [
            ("<relevant_lines>\na\n  b\n</relevant_lines>", ["a", "  b"], "tags"),
            ("Sure!\n<relevant_lines>a</relevant_lines> That is it.", ["a"], "tags"),
            ("<relevant_lines>\na\n\nb\n</relevant_lines>", ["a", "", "b"], "tags"),
            ("<relevant_lines>\n</relevant_lines>", [], "tags"),
            ("<relevant_lines>a</relevant_lines>\n<relevant_lines>b</relevant_lines>", ["a", "b"], "tags"),
            ("<relevant_lines>\n```text\na\n```\n</relevant_lines>", ["a"], "tags"),
            ("<think>the user wants a</think>\n<relevant_lines>b</relevant_lines>", ["b"], "tags"),
            ('{"relevant_lines": ["a", "  b\\n", "c\\nd"]}', ["a", "  b", "c", "d"], "json"),
            ('```json\n{"relevant_lines": []}\n```', [], "json"),
            ("<relevant_lines>\na\nb", ["a", "b"], "open"),
            ("a\nb", ["a", "b"], "text"),
            ("```\na\n```", ["a"], "text"),
            ('{"relevant_lines": "a"}', ['{"relevant_lines": "a"}'], "text"),
            ('{"relevant_lines": [1', ['{"relevant_lines": [1'], "text"),
            ("", [], "none"),
            (" \n", [], "none"),
            ("<think>never ends", [], "none"),
        ],
    )
    def test_forms(self, text: str, lines: list[str], form: str) -> None:
        answer = parse_answer(text)
        assert (answer.lines, answer.form) == (lines, form)

    @given(st.lists(LINE.filter(str.strip), min_size=1, max_size=6))
    def test_what_is_wrapped_comes_out(self, lines: list[str]) -> None:
        body = "\n".join(lines)
        assert parse_answer(f"<relevant_lines>\n{body}\n</relevant_lines>").lines == lines
        assert parse_answer(json.dumps({"relevant_lines": lines})).lines == lines

    @given(st.text(max_size=60))
    def test_never_fails(self, text: str) -> None:
        assert isinstance(parse_answer(text).lines, list)


# --- mapping -------------------------------------------------------------------------------------------


class TestMapping:
    def test_exact_lines_then_normalised_then_hallucinated(self) -> None:
        found = map_lines(LOG, ["disk full on /data", "step 2:  copy", "step 4: rolled back", "the disk was full"])
        assert found.spans == [Span(3, 4), Span(7, 7)]
        assert (found.exact, found.normalised, found.hallucinated) == (1, 2, ["the disk was full"])

    def test_an_exact_match_goes_before_an_equal_one_with_other_indent(self) -> None:
        assert map_lines("  done\ndone\n", ["done"]).spans == [Span(2, 2)]

    def test_repeated_text_takes_the_place_that_order_and_neighbours_say(self) -> None:
        text = "}\nstart\n}\nstop\n}\n"
        assert map_lines(text, ["start", "}"]).spans == [Span(2, 3)]
        assert map_lines(text, ["stop", "}"]).spans == [Span(4, 5)]

    def test_out_of_order_and_too_often(self) -> None:
        found = map_lines("a\nb\nc\n", ["c", "a", "a"])
        assert found.spans == [Span(1, 1), Span(3, 3)]
        assert (found.exact, found.repeated, found.hallucinated) == (2, 1, [])

    def test_blank_lines_join_what_stands_around_them(self) -> None:
        assert map_lines(LOG, ["disk full on /data", "", "step 3: stopped"]).spans == [Span(4, 6)]
        assert map_lines(LOG, ["", ""]).spans == []

    def test_a_cut_answer_may_end_inside_a_line(self) -> None:
        written = ["step 1: copy", "disk full"]
        assert map_lines(LOG, written, cut=True).spans == [Span(1, 1), Span(4, 4)]
        assert map_lines(LOG, written).hallucinated == ["disk full"]

    def test_carriage_returns_belong_to_no_text(self) -> None:
        found = map_lines("a\r\nb\r\n", ["b"])
        assert (found.spans, found.exact) == ([Span(2, 2)], 1)

    @given(st.lists(LINE, max_size=12), st.data())
    def test_a_verbatim_choice_comes_back_as_text(self, lines: list[str], data) -> None:
        text = "".join(line + "\n" for line in lines)
        chosen = sorted(data.draw(st.sets(st.integers(0, max(len(lines) - 1, 0))))) if lines else []
        written = [lines[i] for i in chosen]
        found = map_lines(text, written)
        output = split_lines(text)
        kept = [output[i - 1].rstrip("\n") for a, b in found.spans for i in range(a, b + 1)]
        assert [line for line in kept if line.strip()] == [line for line in written if line.strip()]
        assert (found.hallucinated, found.normalised) == ([], 0)

    @given(st.lists(LINE, max_size=8), st.lists(LINE, max_size=8), st.booleans())
    def test_counts_add_up(self, lines: list[str], written: list[str], cut: bool) -> None:
        found = map_lines("\n".join(lines), written, cut=cut)
        counted = found.exact + found.normalised + found.repeated + len(found.hallucinated)
        assert counted == sum(bool(line.strip()) for line in written)
        assert count_lines(found.spans) >= found.exact + found.normalised


@given(
    st.lists(st.sampled_from(["alpha", "  beta", "gamma;", "", "}"]), min_size=1, max_size=8),
    st.lists(st.sampled_from(["alpha", "beta", "  gamma;", "", "}", "made up", "}}"]), max_size=6),
    st.data(),
)
def test_line_metrics_are_those_of_the_package_on_what_was_written(lines, written, data) -> None:
    """Hallucinated lines included: squeez 0.1.4 scores the text, we score spans and the text that has none."""
    squeez = pytest.importorskip("squeez.training.evaluate")
    text = "\n".join(lines)
    at = data.draw(st.integers(1, len(lines)))
    gold = [Span(at, data.draw(st.integers(at, len(lines))))]
    answer = "<relevant_lines>\n" + "\n".join(written) + "\n</relevant_lines>"
    theirs = squeez.compute_span_metrics(squeez._parse_relevant_lines(answer), line_texts(text, gold))
    mapped = map_lines(text, parse_answer(answer).lines)
    ours = score_record(text, gold, mapped.spans, invented=mapped.hallucinated)
    for name in ("precision", "recall", "f1", "exact_match"):
        key = f"squeez.{name}" if name == "exact_match" else f"squeez.span_{name}"
        assert ours[key] == pytest.approx(theirs[name], abs=1e-4)


# --- the client and the endpoint, against a server in this process (unit) ---------------------------------


class Server:
    """A scripted HTTP server on loopback: `answers` is called with each request's path and JSON."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.answers: Callable[[str, Any], tuple[int, Any, dict[str, str]]] = lambda path, body: (200, {}, {})
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def _serve(self, body: Any) -> None:
                outer.requests.append((self.path, dict(self.headers), body))
                status, value, headers = outer.answers(self.path, body)
                content = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, text in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, text)
                with suppress(BrokenPipeError):  # a client that waited no longer
                    self.end_headers()
                    self.wfile.write(content)

            def do_POST(self) -> None:
                self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def do_GET(self) -> None:
                self._serve(None)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        if not self._thread.is_alive():
            return
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def chat(text: str | None, reason: str = "stop") -> tuple[int, Any, dict[str, str]]:
    usage = {"prompt_tokens": 50, "completion_tokens": 7, "total_tokens": 57}
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return 200, {"choices": [choice], "usage": usage}, {}


def copy_line(number: int) -> Callable[[str, Any], tuple[int, Any, dict[str, str]]]:
    """Answers with one line of the output in the prompt."""

    def answer(path: str, body: Any) -> tuple[int, Any, dict[str, str]]:
        output = body["messages"][1]["content"].partition("<tool_output>\n")[2]
        return chat(f"<relevant_lines>\n{output.splitlines()[number - 1]}\n</relevant_lines>")

    return answer


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """How long the client would have slept."""
    slept: list[float] = []
    monkeypatch.setattr(client_module.time, "sleep", slept.append)
    return slept


def endpoint(server: Server, **options: Any):
    return create("generative", **{"endpoint": server.url, "model": "tiny", "concurrency": 1} | options)


class TestEndpoint:
    def test_sends_the_paper_s_request_and_maps_the_answer(self, server, monkeypatch) -> None:
        monkeypatch.setenv("LINECLS_API_KEY", "secret-key\n")
        server.answers = copy_line(4)
        system = endpoint(server, max_tokens=99, parameters={"seed": 3})
        assert isinstance(system, System)
        answer = system.select("which disk", LOG)
        assert (answer.spans, answer.scores) == ([Span(4, 4)], None)
        path, headers, body = server.requests[0]
        assert path == "/v1/chat/completions"
        assert headers["Authorization"] == "Bearer secret-key"
        assert body.pop("messages") == build_messages("squeez", "which disk", LOG)
        assert body == {"model": "tiny", "max_tokens": 99, "temperature": 0.0, "seed": 3}
        written = answer.generation
        assert (written.lines, written.exact, written.hallucinated, written.form) == (1, 1, 0, "tags")
        assert (written.prompt_tokens, written.completion_tokens, written.cached) == (50, 7, False)
        assert "secret" not in json.dumps(system.describe())

    def test_an_explanation_is_hallucinated_lines_and_keeps_nothing(self, server) -> None:
        server.answers = lambda *_: chat("No line of the output answers this.")
        answer = endpoint(server).select("who am I", LOG)
        assert answer.spans == []
        assert (answer.generation.lines, answer.generation.hallucinated) == (1, 1)

    def test_an_answer_cut_by_the_token_limit(self, server) -> None:
        server.answers = lambda *_: chat("<relevant_lines>\nstep 1: copy\ndisk fu", "length")
        answer = endpoint(server).select("which disk", LOG)
        assert answer.spans == [Span(1, 1), Span(4, 4)]
        assert (answer.generation.cut, answer.generation.hallucinated) == (True, 0)

    def test_takes_the_first_model_where_none_is_named(self, server) -> None:
        server.answers = lambda path, body: (
            (200, {"data": [{"id": "only"}]}, {}) if path.endswith("/models") else chat("x")
        )
        assert endpoint(server, model=None).describe()["model"] == "only"

    def test_an_observation_too_long_for_the_model_stays_whole(self, server) -> None:
        message = "This model's maximum context length is 8 tokens. However, you requested 90."
        server.answers = lambda *_: (400, {"error": {"message": message}}, {})
        answer = endpoint(server).select("which disk", LOG)
        assert (answer.spans, answer.generation.failed) == ([Span(1, 7)], True)

    def test_bytes_that_are_no_utf_8_do_not_break_the_request(self, server) -> None:
        server.answers = copy_line(2)
        text = b"caf\xe9\nok\n".decode("utf-8", "surrogateescape")
        assert endpoint(server).select("which", text).spans == [Span(2, 2)]

    def test_records_bring_their_background_only_when_asked(self, server) -> None:
        server.answers = copy_line(1)
        record = Record(query="which disk", tool_output=LOG, gold_spans=[], background_task="Fix the backup")
        for wanted in (False, True):
            list(endpoint(server, background=wanted).select_records([record]))
            assert ("Fix the backup" in server.requests[-1][2]["messages"][1]["content"]) is wanted

    def test_many_at_once_come_in_order(self, server) -> None:
        busy, most, lock = 0, 0, threading.Lock()

        def answer(path: str, body: Any) -> tuple[int, Any, dict[str, str]]:
            nonlocal busy, most
            with lock:
                busy += 1
                most = max(most, busy)
            time.sleep(0.02)
            with lock:
                busy -= 1
            wanted = body["messages"][1]["content"].partition("<query>\nline ")[2].partition("\n")[0]
            return copy_line(int(wanted))(path, body)

        server.answers = answer
        text = "".join(f"row {i}\n" for i in range(1, 13))
        system = endpoint(server, concurrency=3)
        answers = list(system.select_many((f"line {i}", text) for i in range(1, 13)))
        assert [a.spans for a in answers] == [[Span(i, i)] for i in range(1, 13)]
        assert 1 < most <= 3


class TestCache:
    def test_a_broken_run_goes_on_where_it_stopped(self, server, tmp_path, waits) -> None:
        pairs = [(f"question {i}", LOG) for i in range(6)]
        served = 0

        def dies_after_four(path: str, body: Any) -> tuple[int, Any, dict[str, str]]:
            nonlocal served
            served += 1
            return copy_line(4)(path, body) if served <= 4 else (500, {"error": "out of memory"}, {})

        server.answers = dies_after_four
        with pytest.raises(EndpointError, match=r"out of memory.*finished answers are kept, so run it again"):
            list(endpoint(server, cache=tmp_path, retries=1).select_many(pairs))
        server.requests.clear()
        server.answers = copy_line(4)
        answers = list(endpoint(server, cache=tmp_path).select_many(pairs))
        assert [a.spans for a in answers] == [[Span(4, 4)]] * 6
        assert [a.generation.cached for a in answers] == [True] * 4 + [False] * 2
        assert len(server.requests) == 2

    def test_another_request_has_another_key(self, server, tmp_path) -> None:
        server.answers = copy_line(4)
        for options in ({}, {"max_tokens": 9}, {"temperature": 0.5}, {"prompt": "zero-shot"}, {"model": "other"}):
            assert not endpoint(server, cache=tmp_path, **options).select("q", LOG).generation.cached
            assert endpoint(server, cache=tmp_path, **options).select("q", LOG).generation.cached

    def test_a_damaged_file_counts_as_missing(self, tmp_path) -> None:
        cache, key = CompletionCache(tmp_path), request_key({"a": 1})
        completion = Completion("text \ud800", True, 3, 4, 0.5)
        cache.put(key, completion)
        assert cache.get(key) == completion
        (path,) = tmp_path.rglob("*.json")
        for damage in ("", "[]", '{"text": "a"}', "{"):
            path.write_text(damage)
            assert cache.get(key) is None

    def test_a_folder_that_cannot_be_written(self, tmp_path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(LineclsError, match="cannot keep a completion"):
            CompletionCache(tmp_path / "file").put(request_key({}), Completion("", False, 0, 0, 0.0))

    def test_default_folder(self, monkeypatch, tmp_path) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert default_cache() == tmp_path / "linecls" / "completions"


class TestFailures:
    def test_retries_with_back_off_and_as_the_server_asks(self, server, waits) -> None:
        replies = iter([(503, {}, {}), (500, {}, {}), (503, {}, {"Retry-After": "7"}), chat("<relevant_lines>\n")])
        server.answers = lambda *_: next(replies)
        assert endpoint(server).select("q", LOG).spans == []
        assert waits == [1.0, 2.0, 7.0]

    def test_a_rate_limit_holds_for_all_threads(self, server, waits, monkeypatch) -> None:
        replies = iter([(429, {}, {"Retry-After": "30"}), (200, {}, {})])
        server.answers = lambda *_: next(replies)
        client = JsonClient(server.url)
        client.request("models")
        assert waits == [pytest.approx(30, abs=1)]
        client._pause()  # what another thread would do now
        assert len(waits) == 2

    def test_a_rate_limit_that_stays_is_one_line(self, server, waits) -> None:
        server.answers = lambda *_: (429, {"error": {"message": "quota\nused up"}}, {})
        with pytest.raises(EndpointError) as caught:
            list(endpoint(server, retries=2).select_many([("q", LOG)]))
        assert "rate limit is reached: quota used up after 3 tries; run again later" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert waits == [1.0, 2.0]

    def test_is_not_kept_waiting_for_an_hour(self, server, waits) -> None:
        server.answers = lambda *_: (429, {}, {"Retry-After": "3600"})
        with pytest.raises(EndpointError, match="asks to wait 3600 s"):
            endpoint(server).select("q", LOG)
        assert (waits, len(server.requests)) == ([], 1)

    @pytest.mark.parametrize(
        ("status", "value", "message"),
        [
            (401, {"error": {"message": "bad key"}}, "401; it wants an API key: bad key"),
            (404, {"detail": "no such model"}, "model's name is wrong: no such model"),
            (400, {"message": "unknown field"}, "refused with status 400: unknown field"),
            (301, b"<html>moved</html>", "refused with status 301"),
            (200, {"choices": []}, "no chat completion"),
            (200, {"error": "loading"}, "no chat completion: loading"),
        ],
    )
    def test_what_another_try_cannot_mend_is_said_at_once(self, server, waits, status, value, message) -> None:
        server.answers = lambda *_: (status, value, {"Location": server.url})
        with pytest.raises(EndpointError) as caught:
            endpoint(server).select("q", LOG)
        assert message in str(caught.value)
        assert (waits, len(server.requests)) == ([], 1)

    def test_a_wrong_key_is_told_from_a_missing_one(self, server, monkeypatch) -> None:
        monkeypatch.setenv("MY_KEY", "wrong")
        server.answers = lambda *_: (403, {}, {})
        with pytest.raises(EndpointError, match="the API key is wrong"):
            endpoint(server, api_key_env="MY_KEY").select("q", LOG)

    def test_an_answer_that_is_no_json(self, server, waits) -> None:
        server.answers = lambda *_: (200, b"<html>hello</html>", {})
        with pytest.raises(EndpointError, match="no JSON object after 2 tries; is this the right address"):
            endpoint(server, retries=1).select("q", LOG)

    def test_a_server_that_is_down_is_said_at_once(self, server, waits) -> None:
        system = endpoint(server)
        server.close()
        with pytest.raises(EndpointError, match=r"cannot be reached .*; start the server or correct the address"):
            system.select("q", LOG)
        assert waits == []

    def test_a_silent_server(self, server, waits) -> None:
        server.answers = lambda *_: threading.Event().wait(0.3) or chat("late")
        with pytest.raises(EndpointError, match=r"no answer within 0\.05 s after 2 tries"):
            endpoint(server, timeout=0.05, retries=1).select("q", LOG)

    @pytest.mark.parametrize(
        "url", ["localhost:8000", "ftp://host/v1", "http://", "http://host:port/v1", "", "http://[::1"]
    )
    def test_an_address_that_is_none(self, url) -> None:
        with pytest.raises(EndpointError, match="no address of a server"):
            create("generative", endpoint=url)

    def test_a_key_with_control_characters(self, monkeypatch) -> None:
        monkeypatch.setenv("LINECLS_API_KEY", "a\nb")
        with pytest.raises(EndpointError, match="API key"):
            create("generative", endpoint="http://127.0.0.1:1/v1")

    def test_a_password_in_the_address_is_not_shown(self) -> None:
        system = create("generative", endpoint="http://me:secret@127.0.0.1:1/v1", model="m")
        assert system.describe()["endpoint"] == "http://127.0.0.1:1/v1"

    @pytest.mark.parametrize(
        "options",
        [{"max_tokens": 0}, {"concurrency": 0}, {"temperature": -1.0}, {"timeout": 0.0}, {"retries": -1}],
    )
    def test_options_out_of_range(self, options) -> None:
        with pytest.raises(ValueError, match=next(iter(options))):
            create("generative", endpoint="http://127.0.0.1:1/v1", **options)

    def test_prices_of_tokens(self, server) -> None:
        assert endpoint(server, token_price=[0.15, 0.6]).token_price == (0.15, 0.6)
        assert endpoint(server).token_price is None
        for wrong in ([1.0], [1.0, -1.0], [1.0, float("nan")]):
            with pytest.raises(ValueError, match="two prices"):
                endpoint(server, token_price=wrong)

    def test_knows_whether_it_runs_here(self) -> None:
        for url, is_here in (
            ("http://127.0.0.1:1/v1", True),
            ("http://localhost:1/v1", True),
            ("https://a.b/v1", False),
        ):
            assert create("generative", endpoint=url, model="m").is_here is is_here

    def test_parameters_do_not_overrule(self) -> None:
        with pytest.raises(LineclsError, match="'messages'"):
            create("generative", endpoint="http://127.0.0.1:1/v1", parameters={"messages": []})

    @pytest.mark.parametrize(
        ("header", "seconds"),
        [("3", 3.0), ("-1", 0.0), ("soon", None), ("nan", None), (None, None)],
    )
    def test_retry_after(self, header, seconds) -> None:
        assert client_module._retry_after(header) == seconds

    def test_retry_after_as_a_date(self) -> None:
        from email.utils import formatdate

        assert client_module._retry_after(formatdate(time.time() + 60, usegmt=True)) == pytest.approx(60, abs=3)


# --- systems from files ------------------------------------------------------------------------------------


class TestFromFile:
    def test_options_and_names(self, tmp_path) -> None:
        path = tmp_path / "half.yaml"
        path.write_text("system: bm25\nkeep: 0.5\n")
        assert (from_file(path).name, from_file(path).describe()["keep"]) == ("half", 0.5)
        path.write_text("system: first\nname: the first\n")
        assert from_file(path).name == "the first"

    def test_completions_go_where_the_file_or_the_caller_says(self, tmp_path, server) -> None:
        server.answers = copy_line(1)
        path = tmp_path / "a.yaml"
        path.write_text(f"system: generative\nendpoint: {server.url}\nmodel: tiny\n")
        from_file(path, cache=tmp_path / "given").select("q", LOG)
        path.write_text(path.read_text() + f"cache: {tmp_path / 'own'}\n")
        from_file(path, cache=tmp_path / "other").select("q", LOG)
        assert {folder.name for folder in tmp_path.iterdir() if folder.is_dir()} == {"given", "own"}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("system: bm52\n", "unknown system 'bm52'"),
            ("system: bm25\nkep: 0.5\n", "unexpected keyword argument 'kep'"),
            ("system: bm25\nkeep: 7\n", "share of lines"),
            ("system: generative\n", "missing 1 required positional argument: 'endpoint'"),
            ("- a\n", "described by 'system: NAME'"),
            ("a: [\n", "no YAML"),
            ("name: x\n", "'system' must be one of"),
        ],
    )
    def test_a_bad_file_is_one_line_that_names_it(self, tmp_path, text, message) -> None:
        path = tmp_path / "bad.yaml"
        path.write_text(text)
        with pytest.raises(LineclsError) as caught:
            from_file(path)
        assert message in str(caught.value)
        assert str(caught.value).startswith(f"{path}: ")
        assert "\n" not in str(caught.value)

    def test_a_missing_file(self, tmp_path) -> None:
        with pytest.raises(LineclsError, match=r"none\.yaml: cannot be read: No such file"):
            from_file(tmp_path / "none.yaml")
