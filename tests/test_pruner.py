from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linecls.errors import ArtifactError, LineclsError, QueryError
from linecls.observation import Observation, split_lines
from linecls.pruner import Pruner
from linecls.session import Session
from linecls.spans import Span, to_mask

KEEP_ALL = {"bias": -1000.0}


@pytest.fixture(scope="module")
def pruner(tiny_model_dir):
    return Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1)


@pytest.fixture(scope="module", params=["int8", "fp32"])
def each_pruner(request, tiny_model_dir):
    return Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1, variant=request.param)


def is_subsequence(few, many):
    rest = iter(many)
    return all(any(line == other for other in rest) for line in few)


arbitrary_bytes = st.one_of(
    st.binary(max_size=300),
    st.lists(
        st.sampled_from(
            [
                b"login failed",
                b"\n",
                b"\r\n",
                b"\x00",
                b"\x1b[31mFAILED\x1b[0m",
                b"\xff\xfe",
                b" ",
                "│é\u2028".encode(),
            ]
        ),
        max_size=60,
    ).map(b"".join),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    observation=arbitrary_bytes,
    query=st.sampled_from(["why does the login test fail", "?", "\x00\ud800x", "cache"]),
    bias=st.floats(-4, 2),
    max_lines=st.none() | st.integers(0, 5),
)
def test_kept_bytes_are_whole_input_lines_in_order(pruner, observation, query, bias, max_lines):
    result = pruner.prune(query, observation, bias=bias, max_lines=max_lines)
    lines = [
        line.encode("utf-8", "surrogateescape") for line in split_lines(observation.decode("utf-8", "surrogateescape"))
    ]
    mask = to_mask(result.spans, len(lines))
    assert isinstance(result.text, bytes)
    assert result.text == b"".join(line for line, keep in zip(lines, mask, strict=True) if keep)
    assert (result.kept_lines, result.total_lines) == (int(mask.sum()), len(lines))
    assert result.keep_logits.shape == (len(lines),)
    assert result.keep_logits.dtype == np.float32
    assert np.isfinite(result.keep_logits).all()
    assert 0 <= result.answerable <= 1
    assert max_lines is None or result.kept_lines <= max_lines


@pytest.mark.parametrize("observation", ["", "\n", "\n\n \n", "one line", "a\r\nb\r\n", "a\n\nb", "\x00\n\x1b[0m\n"])
def test_small_and_odd_observations(pruner, observation):
    result = pruner.prune("why does the login test fail", observation, **KEEP_ALL)
    assert result.text == observation
    assert result.total_lines == len(split_lines(observation))
    as_bytes = pruner.prune("why does the login test fail", observation.encode(), **KEEP_ALL)
    assert as_bytes.text == observation.encode()
    assert as_bytes.keep_logits.tolist() == result.keep_logits.tolist()


def test_nothing_answers_in_nothing(pruner):
    for observation in ("", "\n\n"):
        result = pruner.prune("login", observation)
        assert (result.text, result.spans, result.kept_lines, result.answerable) == ("", [], 0, 0.0)


def test_type_errors_are_plain(pruner):
    with pytest.raises(TypeError, match="a query is str, not NoneType"):
        pruner.prune(None, "a line")
    with pytest.raises(TypeError, match="str or bytes"):
        pruner.prune("login", 3)


@pytest.fixture(scope="module")
def pairs(sentences):
    rng = np.random.default_rng(5)
    words = " ".join(sentences).split()

    def text(length):
        return "\n".join(" ".join(rng.choice(words, rng.integers(0, 12))) for _ in range(length))

    observations = [text(length) for length in (1, 3, 170, 40, 9, 2, 64, 65, 30)]
    return [(" ".join(rng.choice(words, 5)), text) for text in observations for _ in range(rng.integers(1, 4))]


def test_results_do_not_depend_on_the_batch(each_pruner, pairs):
    alone = [each_pruner.prune(query, observation) for query, observation in pairs]
    assert any(result.spans for result in alone)
    for batch_tokens in (1, 300, 2000, 10**6):
        together = list(each_pruner.prune_many(pairs, batch_tokens=batch_tokens))
        for one, other in zip(alone, together, strict=True):
            assert other.spans == one.spans
            assert other.text == one.text
            np.testing.assert_array_equal(other.keep_logits, one.keep_logits)
            assert other.answerable == one.answerable


def test_results_do_not_depend_on_order_or_repetition(pruner, pairs):
    forwards = list(pruner.prune_many(pairs))
    backwards = list(pruner.prune_many(pairs[::-1]))[::-1]
    again = list(pruner.prune_many(pairs))
    for results in (backwards, again):
        for one, other in zip(forwards, results, strict=True):
            np.testing.assert_array_equal(other.keep_logits, one.keep_logits)


def test_quantised_and_float_networks_are_told_apart(tiny_model_dir):
    def variant(name):
        return Pruner.from_pretrained(tiny_model_dir, device="cpu", variant=name).network.batch_invariant

    assert variant("fp32")
    assert not variant("int8")


def test_prune_many_streams_and_shares_the_encoding(tiny_model_dir, sentences, monkeypatch):
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1)
    laid_out = []
    windows = pruner.encoder.windows
    monkeypatch.setattr(pruner.encoder, "windows", lambda *a: laid_out.append(a) or windows(*a))
    observation = "\n".join(sentences)
    asked = []

    def pairs():
        for query in ("login", "cache", "port"):
            asked.append(query)
            yield query, observation

    results = pruner.prune_many(pairs(), batch_tokens=1)
    assert asked == []
    next(results)
    assert (len(list(results)), len(asked)) == (2, 3)
    assert len(laid_out) == 1


@pytest.fixture
def calls(monkeypatch):
    """Shapes of the token windows of each call of an encoder, in order."""
    shapes = []
    run = Session.run

    def spy(session, feeds):
        if "input_ids" in feeds:
            shapes.append(feeds["input_ids"].shape)
        return run(session, feeds)

    monkeypatch.setattr(Session, "run", spy)
    return shapes


@pytest.mark.parametrize("variant", ["int8", "fp32"])
def test_an_observation_and_a_query_are_encoded_once(tiny_model_dir, sentences, calls, variant):
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1, variant=variant)
    observation = "\n".join(sentences)
    rows = len(pruner.encoder.windows(next(pruner.encoder.segments(Observation.of(observation)))).rows)
    pruner.prune("login", observation)
    assert sum(height for height, _ in calls) == rows + 1
    calls.clear()
    pruner.prune("login", observation + "\n")  # the last newline is no token
    assert calls == []
    pruner.prune("cache", observation)
    assert [height for height, _ in calls] == [1]
    calls.clear()
    list(pruner.prune_many([("login", observation), ("cache", observation), ("cache", "another\n" * 3)]))
    assert [height for height, _ in calls] == [1]


def test_float_windows_of_many_observations_share_calls(tiny_model_dir, sentences, calls):
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1, variant="fp32")
    pairs = [("login", f"{sentences[n // 7]}\n{sentences[n % 7]}") for n in range(40)]
    list(pruner.prune_many(pairs))
    assert len(calls) < 15
    calls.clear()
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1, variant="int8")
    list(pruner.prune_many(pairs))
    assert len(calls) == 41


def test_equal_windows_run_once(tiny_model_dir, calls):
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1)
    pruner.prune("login", "login test failed\n" * 640)
    assert sum(height for height, _ in calls) < 12


def test_calls_stay_small_however_long_the_observation(tiny_model_dir, calls):
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1)
    pruner.network._call_tokens = 256
    pruner.prune("login", "\n".join(f"login test {n} of the cache failed" for n in range(300)))
    assert len(calls) > 10
    assert all(height * width <= 256 for height, width in calls)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.sampled_from(["", "login", "cache key changed", "port 8080 ready to serve", "x" * 90]), max_size=90
    ),
    others=st.lists(st.sampled_from(["login", "a\n\ncache key\n" * 30, "port\n" * 200, ""]), max_size=4),
    batch_tokens=st.sampled_from([1, 200, 16384]),
)
def test_logits_are_the_same_bits_in_any_company(each_pruner, lines, others, batch_tokens):
    observation = "\n".join(lines)
    fresh = Pruner(each_pruner.artifact, each_pruner.network, each_pruner.encoder)
    each_pruner.network._segments.clear()
    pairs = [(query, text) for text in (*others, observation, *others) for query in ("login", "the cache key")]
    together = list(each_pruner.prune_many(pairs, batch_tokens=batch_tokens))[len(others) * 2 :][:2]
    each_pruner.network._segments.clear()
    for query, result in zip(("login", "the cache key"), together, strict=True):
        alone = fresh.prune(query, observation)
        each_pruner.network._segments.clear()
        assert alone.keep_logits.tobytes() == result.keep_logits.tobytes()
        assert (alone.answerable, alone.spans, alone.text) == (result.answerable, result.spans, result.text)


def test_progress_reaches_the_end(pruner):
    seen = []
    pruner.prune("login", "login failed\n" * 150 + "\n" * 100, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert len(seen) > 3
    assert seen[-1] == (250, 250)


def test_an_abandoned_stream_stops_its_thread(pruner, sentences):
    import threading

    results = pruner.prune_many(((("login", f"{n} {sentences[0]}")) for n in range(50)), batch_tokens=1)
    next(results)
    results.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("linecls")]


def test_an_error_of_the_network_reaches_the_caller(pruner, sentences, monkeypatch):
    def fail(pairs):
        raise ArtifactError("the network cannot run: no memory")

    monkeypatch.setattr(pruner.network, "logits", fail)
    for batch_tokens in (1, 10**6):
        with pytest.raises(ArtifactError, match="no memory"):
            list(pruner.prune_many([("login", sentences[0])] * 3, batch_tokens=batch_tokens))


def test_long_observations_join_their_segments(pruner):
    lines = [f"step {number} passed" for number in range(500)]
    result = pruner.prune("which step failed", "\n".join(lines), **KEEP_ALL)
    assert result.spans == [Span(1, 500)]
    assert (result.keep_logits != 0).all()  # every line got a number from some segment


def test_options_override_the_operating_point(pruner, sentences):
    observation = "\n".join(sentences * 3)
    wide = pruner.prune("login", observation, operating_point="wide")
    assert wide.kept_lines == wide.total_lines == 21
    assert pruner.prune("login", observation, operating_point="wide", bias=1000.0).spans == []
    assert pruner.prune("login", observation, **KEEP_ALL, empty_threshold=1.0).spans == []
    merged = pruner.prune("login", observation, bias=-1.0, switch_cost=100.0)
    assert len(merged.spans) <= 1
    assert pruner.prune("login", observation, **KEEP_ALL, max_lines=4).kept_lines == 4
    assert pruner.prune("login", observation, **KEEP_ALL, keep_ratio=0.25).kept_lines == 5
    with pytest.raises(LineclsError, match="no operating point 'speed'"):
        pruner.prune("login", observation, operating_point="speed")
    with pytest.raises(ValueError, match="keep_ratio"):
        pruner.prune("login", observation, keep_ratio=1.5)
    with pytest.raises(ValueError, match="batch_tokens"):
        pruner.prune_many([("login", observation)], batch_tokens=0)


@pytest.mark.parametrize("limit", [0, 3, 20, 60])
def test_a_token_budget_counts_what_the_tokenizer_counts(pruner, sentences, limit):
    long_line = "login test failed " * 900  # far past what the network sees of a line
    observation = "\n".join([*sentences, long_line, *sentences])
    result = pruner.prune("login", observation, **KEEP_ALL, max_tokens=limit)
    tokens = pruner.encoder.tokenizer.encode(result.text, add_special_tokens=False).ids
    assert len(tokens) <= limit
    assert long_line not in result.text
    best = observation.split("\n")[int(np.argmax(result.keep_logits))]
    needed = len(pruner.encoder.tokenizer.encode(best, add_special_tokens=False).ids)
    assert bool(result.spans) == (needed <= limit)
    if 0 < limit < needed:  # a long line is counted in pieces, and a word that is cut counts twice
        assert needed <= result.unfit_tokens <= needed * 1.01
    else:
        assert result.unfit_tokens is None
    if result.spans:
        assert best in result.text.split("\n")


@pytest.mark.parametrize("query", ["", " \t\r\n", "\x00\x1f", "\u3000\x85", "\ud800"])
def test_an_empty_query_is_refused(pruner, query):
    with pytest.raises(ValueError, match="the query is empty: say what to look for") as error:
        pruner.prune(query, "line\n")
    assert isinstance(error.value, LineclsError)
    with pytest.raises(QueryError):
        list(pruner.prune_many([("login", "line\n"), (query, "line\n")]))


def test_a_ten_megabyte_line_and_a_long_query(pruner, sentences):
    huge = b"x" * 5_000_000 + b" login " + b"y" * 5_000_000
    result = pruner.prune("login test " * 10_000, b"first\n" + huge + b"\nlast", **KEEP_ALL)
    assert result.text == b"first\n" + huge + b"\nlast"
    assert pruner.prune("login", huge, **KEEP_ALL, max_tokens=1).text == b""


def test_memory_grows_with_lines_not_with_windows(pruner):
    total = 30_000
    observation = b"step passed\n" * total
    tracemalloc.start()
    result = pruner.prune("which step failed", observation, **KEEP_ALL)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.text == observation
    assert peak < 600 * total  # the lines themselves are about 100 bytes each, the tokens of all far more


LONG = """
import json, sys, time
from pathlib import Path
from linecls.pruner import Pruner

def status(name):
    return int(Path("/proc/self/status").read_text().partition(name + ":")[2].split()[0]) * 1024

pruner = Pruner.from_pretrained(sys.argv[1], device="cpu", threads=1, variant=sys.argv[2])
pruner.prune("which step failed", b"".join(b"warm %d up\\n" % i for i in range(2000)))
found = []
for total in (4000, 40000):
    raw = b"".join(b"step %d of %d passed\\n" % (i, total) for i in range(total))
    Path("/proc/self/clear_refs").write_text("5")
    held, begun = status("VmRSS"), time.process_time()
    pruning = pruner.prune("which step failed", raw, max_lines=5)
    assert (pruning.total_lines, len(pruning.keep_logits)) == (total, total)
    found.append((status("VmHWM") - held, time.process_time() - begun))
print(json.dumps(found))
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs the memory figures of Linux")
@pytest.mark.parametrize("variant", ["int8", "fp32"])
def test_ten_times_the_lines_cost_ten_times_the_time_and_no_states(tiny_model_dir, variant):
    """No two lines alike, so nothing is computed once for several. The states of all tokens would be 1,150 bytes a
    line here (9 tokens of 32 floats), and for the embedded model 12 times that."""
    command = [sys.executable, "-c", LONG, str(tiny_model_dir), variant]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    (few, few_seconds), (many, many_seconds) = json.loads(run.stdout)
    assert (many - few) / 36_000 < 400
    assert many_seconds < 20 * few_seconds


def test_what_is_kept_of_earlier_pairs_can_be_dropped(tiny_model_dir, sentences, calls):
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1)
    before = pruner.prune("login", "\n".join(sentences))
    once = len(calls)
    calls.clear()
    pruner.prune("login", "\n".join(sentences))
    kept = len(calls)
    calls.clear()
    pruner.forget()
    again = pruner.prune("login", "\n".join(sentences))
    assert kept < once == len(calls)
    assert (again.keep_logits == before.keep_logits).all()


# The artifact as the pruner meets it


@pytest.fixture
def model_copy(tiny_model_dir, tmp_path):
    return shutil.copytree(tiny_model_dir, tmp_path / "model")


def test_a_corrupt_model_is_refused(model_copy):
    graph = model_copy / "encoder-int8.onnx"
    graph.write_bytes(graph.read_bytes()[:-10])
    with pytest.raises(ArtifactError, match=r"encoder-int8\.onnx is corrupt"):
        Pruner.from_pretrained(model_copy)


def test_a_graph_or_tokenizer_that_does_not_load_is_refused(model_copy):
    from linecls.artifact import file_sha256

    def replace_file(name, content):
        (model_copy / name).write_bytes(content)
        values = json.loads((model_copy / "linecls.json").read_text())
        values["sha256"][name] = file_sha256(model_copy / name)
        (model_copy / "linecls.json").write_text(json.dumps(values))

    replace_file("encoder-int8.onnx", b"no graph at all")
    with pytest.raises(ArtifactError, match=r"cannot load .*encoder-int8\.onnx"):
        Pruner.from_pretrained(model_copy, device="cpu")
    replace_file("tokenizer.json", b"{}")
    with pytest.raises(ArtifactError, match=r"cannot use .*tokenizer\.json"):
        Pruner.from_pretrained(model_copy, device="cpu")


def test_a_model_that_gives_no_numbers_is_refused(pruner, sentences, monkeypatch):
    def no_numbers(pairs):
        return [(np.full(len(pair.segment), np.nan, np.float32), 0.0) for pair in pairs]

    monkeypatch.setattr(pruner.network, "logits", no_numbers)
    with pytest.raises(ArtifactError, match="no number"):
        pruner.prune("login", sentences[0])


def test_importing_linecls_loads_nothing_heavy(tiny_model_dir):
    code = (
        "import sys, linecls\n"
        "heavy = ('numpy', 'tokenizers', 'onnxruntime', 'click', 'torch', 'transformers')\n"
        "assert not [m for m in heavy if m in sys.modules], sys.modules.keys()\n"
        "p = linecls.Pruner.from_pretrained(sys.argv[1], device='cpu', threads=1)\n"
        "p.prune('login', 'login failed')\n"
        "assert not [m for m in ('torch', 'transformers', 'click', 'datasets') if m in sys.modules]\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tiny_model_dir)], check=True)
