from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linecls import session as session_module
from linecls.errors import ArtifactError, DeviceError, LineclsError, MissingExtraError
from linecls.observation import Observation, split_lines
from linecls.pruner import Pruner
from linecls.session import Session, choose_device, import_runtime, parse_device, physical_cores
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
    query=st.sampled_from(["why does the login test fail", "", "\x00\ud800", "cache"]),
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
            if each_pruner.session.batch_invariant:
                np.testing.assert_allclose(other.keep_logits, one.keep_logits, atol=1e-5)
                assert other.answerable == pytest.approx(one.answerable, abs=1e-5)
            else:
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
        return Pruner.from_pretrained(tiny_model_dir, device="cpu", variant=name).session.batch_invariant

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

    results = pruner.prune_many(pairs())
    assert asked == []
    next(results)
    assert asked == ["login"]
    assert len(list(results)) == 2
    assert len(laid_out) == 1


def test_float_queries_on_one_observation_share_a_call(tiny_model_dir, sentences, monkeypatch):
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1, variant="fp32")
    batches = []
    run = pruner.session.run
    monkeypatch.setattr(pruner.session, "run", lambda batch: batches.append(batch) or run(batch))
    observation = "\n".join(sentences)
    rows = len(pruner.encoder.windows(next(pruner.encoder.segments(Observation.of(observation)))).rows)
    assert len(list(pruner.prune_many([("login", observation), ("cache", observation)]))) == 2
    assert [(len(b["input_ids"]), len(b["query_ids"])) for b in batches] == [(rows, 2)]
    batches.clear()
    list(pruner.prune_many([("login", f"{n}\n{observation}") for n in range(40)], batch_tokens=600))
    assert len(batches) > 5
    assert all(b["input_ids"].size + b["line_mask"].size <= 600 for b in batches)


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
    assert bool(result.spans) == (limit >= 20)


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


# The artifact as the pruner meets it


@pytest.fixture
def model_copy(tiny_model_dir, tmp_path):
    return shutil.copytree(tiny_model_dir, tmp_path / "model")


def test_a_corrupt_model_is_refused(model_copy):
    graph = model_copy / "model.onnx"
    graph.write_bytes(graph.read_bytes()[:-10])
    with pytest.raises(ArtifactError, match=r"model\.onnx is corrupt"):
        Pruner.from_pretrained(model_copy)


def test_a_graph_or_tokenizer_that_does_not_load_is_refused(model_copy):
    from linecls.artifact import file_sha256

    def replace_file(name, content):
        (model_copy / name).write_bytes(content)
        values = json.loads((model_copy / "linecls.json").read_text())
        values["sha256"][name] = file_sha256(model_copy / name)
        (model_copy / "linecls.json").write_text(json.dumps(values))

    replace_file("model.onnx", b"no graph at all")
    with pytest.raises(ArtifactError, match=r"cannot load .*model\.onnx"):
        Pruner.from_pretrained(model_copy, device="cpu")
    replace_file("tokenizer.json", b"{}")
    with pytest.raises(ArtifactError, match=r"cannot use .*tokenizer\.json"):
        Pruner.from_pretrained(model_copy, device="cpu")


def test_a_model_that_gives_no_numbers_is_refused(pruner, sentences, monkeypatch):
    monkeypatch.setattr(pruner.session, "run", lambda batch: (np.full(batch["line_mask"].shape, np.nan), np.zeros(1)))
    with pytest.raises(ArtifactError, match="no number"):
        pruner.prune("login", sentences[0])


# The session


@pytest.mark.parametrize(
    ("device", "parsed"),
    [("auto", ("auto", 0)), ("cpu", ("cpu", 0)), ("cuda", ("cuda", 0)), ("cuda:3", ("cuda", 3))],
)
def test_devices(device, parsed):
    assert parse_device(device) == parsed


@pytest.mark.parametrize("device", ["", "gpu", "cuda:", "cuda:x", "cpu:1", "CPU", "cuda:-1"])
def test_unknown_devices(device, tiny_model_dir):
    with pytest.raises(DeviceError, match="use auto, cpu, cuda"):
        parse_device(device)
    with pytest.raises(DeviceError, match="use auto, cpu, cuda"):
        Pruner.from_pretrained(tiny_model_dir, device=device)


class FakeRuntime:
    def __init__(self, *providers):
        self.providers = [*providers, "CPUExecutionProvider"]

    def get_available_providers(self):
        return self.providers


def test_auto_takes_cuda_where_it_is(monkeypatch):
    monkeypatch.setattr(session_module, "import_runtime", FakeRuntime)
    assert choose_device("auto") == ("cpu", 0)
    with pytest.raises(DeviceError, match=r"cuda:1: .*linecls\[gpu\]"):
        choose_device("cuda:1")
    monkeypatch.setattr(session_module, "import_runtime", lambda: FakeRuntime("CUDAExecutionProvider"))
    assert choose_device("auto") == ("cuda", 0)
    assert choose_device("cuda:1") == ("cuda", 1)
    assert choose_device("cpu") == ("cpu", 0)


def test_the_runtime_is_missing_or_there_twice(monkeypatch, tmp_path):
    site = tmp_path / "site"
    (site / "onnxruntime").mkdir(parents=True)
    (site / "onnxruntime" / "__init__.py").write_text("raise ImportError('no such symbol')")
    for module in [name for name in sys.modules if name.partition(".")[0] == "onnxruntime"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.syspath_prepend(str(site))
    (site / "onnxruntime-1.20.0.dist-info").mkdir()
    with pytest.raises(LineclsError, match="does not load: no such symbol"):
        import_runtime()
    (site / "onnxruntime_gpu-1.20.0.dist-info").mkdir()
    with pytest.raises(LineclsError, match=r"both installed.*pip uninstall"):
        import_runtime()
    monkeypatch.setattr(session_module, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"linecls\[cpu\]"):
        import_runtime()


def test_threads(tiny_model_dir):
    assert Session(tiny_model_dir / "model.onnx", device="cpu", threads=2).threads == 2
    assert Session(tiny_model_dir / "model.onnx", device="cpu").threads == physical_cores() >= 1
    with pytest.raises(LineclsError, match="threads must be at least 1"):
        Session(tiny_model_dir / "model.onnx", threads=0)


def test_an_input_that_linecls_does_not_know(pruner):
    with pytest.raises(ArtifactError, match="unknown input"):
        pruner.session.run({"input_ids": np.zeros((1, 4), np.int64)})


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
