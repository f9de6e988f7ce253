"""The programs in eval/ that measure speed: what they count, not how fast this machine is."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EVAL = Path(__file__).parent.parent / "eval"
sys.path.insert(0, str(EVAL))

import gpu_check  # noqa: E402
import runtime_profile  # noqa: E402
import throughput  # noqa: E402


@pytest.mark.parametrize(
    ("name", "inputs", "output", "expected"),
    [
        ("MatMul", [[8, 4], [4, 6]], [8, 6], 2 * 8 * 4 * 6),
        ("MatMul", [[3, 8, 4]], [3, 8, 6], 2 * 3 * 8 * 4 * 6),  # the second matrix is packed
        ("MatMul", [[3, 2, 8, 4], [3, 2, 4, 6]], [3, 2, 8, 6], 2 * 6 * 8 * 4 * 6),
        ("FusedMatMul", [[2, 8, 4], [2, 6, 4]], [2, 8, 6], 2 * 2 * 8 * 4 * 6),  # the second one transposed
        ("Gemm", [[8, 4], [6, 4], [6]], [8, 6], 2 * 8 * 4 * 6),
        ("DynamicQuantizeMatMul", [[1, 8, 4], [6], [6]], [1, 8, 6], 2 * 8 * 4 * 6),
        ("Attention", [[2, 8, 4], [4, 12], [12]], [2, 8, 4], 2 * 2 * 8 * 4 * 12 + 4 * 2 * 8 * 8 * 4),
        ("MultiHeadAttention", [[2, 8, 4], [2, 8, 4], [2, 8, 4]], [2, 8, 4], 4 * 2 * 8 * 8 * 4),
        ("Add", [[8, 4], [8, 4]], [8, 4], 0),
    ],
)
def test_operations(name, inputs, output, expected):
    assert runtime_profile.operations(name, inputs, [output]) == expected


@pytest.fixture(scope="module")
def product() -> bytes:
    """A graph of one product [rows, 16] x [16, 32] and one addition."""
    helper = pytest.importorskip("onnx").helper
    from onnx import TensorProto, numpy_helper

    graph = helper.make_graph(
        [helper.make_node("MatMul", ["attention_mask", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])],
        "product",
        [helper.make_tensor_value_info("attention_mask", TensorProto.FLOAT, ["rows", 16])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["rows", 32])],
        [numpy_helper.from_array(np.ones((16, 32), np.float32), "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()


def test_the_profile_gives_operations_and_times(product):
    import onnxruntime

    with runtime_profile.profiled() as work:
        session = onnxruntime.InferenceSession(product, providers=["CPUExecutionProvider"])
        for rows in (8, 24):
            session.run(None, {"attention_mask": np.ones((rows, 16), np.float32)})
    assert work.operations == 2 * (8 + 24) * 16 * 32
    assert work.bytes == 4 * (2 * 16 * 32 + (8 + 24) * (16 + 32))
    assert work.calls == 2
    assert 0 < work.in_products < work.total
    assert onnxruntime.InferenceSession(product, providers=["CPUExecutionProvider"]).get_inputs()


def test_time_inside_the_runtime_and_padding(product):
    import onnxruntime

    session = onnxruntime.InferenceSession(product, providers=["CPUExecutionProvider"])
    mask = np.zeros((8, 16), np.float32)
    mask[:6] = 1
    with runtime_profile.Inside() as inside:
        session.run(None, {"attention_mask": mask})
    session.run(None, {"attention_mask": mask})  # outside: not counted
    assert (inside.calls, inside.tokens, inside.cells) == (1, 96, 128)
    assert inside.seconds > 0


def test_operations_are_counted_by_their_precision():
    read = [{"float": [8, 4]}, {"float": [4, 6]}]
    assert runtime_profile._precision("MatMul", read) == "fp32"
    assert runtime_profile._precision("MatMul", [{"float16": [8, 4]}, {"float16": [4, 6]}]) == "fp16"
    assert runtime_profile._precision("MatMulIntegerToFloat", [{"uint8": [8, 4]}]) == "int8"


def test_recorded_calls_are_made_again(product):
    import onnxruntime

    session = onnxruntime.InferenceSession(product, providers=["CPUExecutionProvider"])
    with runtime_profile.Recorded() as recorded:
        for rows in (8, 24):
            session.run(None, {"attention_mask": np.ones((rows, 16), np.float32)})
    session.run(None, {"attention_mask": np.ones((2, 16), np.float32)})  # outside: not recorded
    assert recorded.replay() > 0
    assert [arguments[2]["attention_mask"].shape for _, arguments, _ in recorded._calls] == [(8, 16), (24, 16)]


@pytest.mark.parametrize("kind", ["fp32", "int8"])
def test_the_peak_is_a_speed(kind):
    pytest.importorskip("onnx")
    assert 1e3 < runtime_profile._product_speed(kind, (64, 64, 64), "cpu", 1, 0.01) < 1e15


@pytest.fixture
def settings(tiny_model_dir, tmp_path):
    pairs = [("which test failed", throughput.short_output(20)), ("error", "a\nb error\n" * 5)] * 2
    (tmp_path / "pairs.json.gz").write_bytes(gzip.compress(json.dumps(pairs).encode()))
    return {
        "pairs": str(tmp_path / "pairs.json.gz"),
        "model": str(tiny_model_dir),
        "device": "cpu",
        "threads": 1,
    }


def test_systems_in_processes_of_their_own(settings):
    skipped: dict[str, str] = {}
    found = throughput.measure(["linecls_int8", "linecls_fp16"], settings, 2, 4, 100, 3.6, skipped)
    assert list(found) == ["linecls_int8"]
    row = found["linecls_int8"]
    assert len(row["rounds_seconds"]) == 2
    assert row["tokens_per_second"] == pytest.approx(25 * row["observations_per_second"])
    assert row["usd_per_million_observations"] == pytest.approx(1000 / row["observations_per_second"])
    assert 0 < row["latency_p50_ms"] <= row["latency_p95_ms"]
    assert row["peak_memory_mib"] > 30
    assert "fp16" in skipped["linecls_fp16"]


def test_no_round_lives_on_what_the_one_before_has_encoded(settings, monkeypatch):
    """Everything here fits into what a network keeps."""
    import throughput_worker

    run = throughput_worker.SYSTEMS["linecls_int8"](settings)
    pairs = throughput_worker.load_pairs(Path(settings["pairs"]))[:2]
    counts = []
    for _ in range(3):
        with runtime_profile.Inside() as inside:
            run(pairs)
        counts.append((inside.calls, inside.tokens))
    assert counts[0] == counts[1] == counts[2]
    assert counts[0][0] >= 2 * 2 * 3  # the stream and single calls: window, query and scorer of both pairs


def test_inside_engine_counts_the_network_s_work(tiny_model_dir):
    from linecls.artifact import Artifact

    pairs = [("which test failed", throughput.short_output(30))]
    artifact = Artifact.read(tiny_model_dir)
    found = throughput.inside_engine(tiny_model_dir, artifact, pairs, 300, "cpu", 1)
    assert list(found) == list(artifact.files)
    for values in found.values():
        assert 0 < values["share_inside_runtime"] < 1
        assert 0 < values["share_of_bare_sessions"] < 1.5
        assert sum(values["operations_by_precision"].values()) == pytest.approx(1)
        assert set(values["operations_by_precision"]) <= {"int8", "fp32"}
        assert 0 < values["share_in_products"] < 1
        assert values["operations_per_token"] > 2 * 2 * 12 * 32 * 32  # two layers of width 32
        assert values["share_of_floor"] > 0


def test_distinct_observations_are_chosen(tmp_path):
    path = tmp_path / "records.jsonl"
    rows = [{"query": f"q{i}", "tool_output": f"out {i // 3}\n", "gold_spans": []} for i in range(30)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = throughput.choose_pairs(path, 6, 0)
    assert len({output for _, output in pairs}) == 6
    assert pairs == throughput.choose_pairs(path, 6, 0)
    assert len(throughput.choose_pairs(path, 100, 0)) == 10


def test_goals_and_table():
    system = {
        "name": "x",
        "observations_per_second": 2.0,
        "tokens_per_second": 10.0,
        "latency_p50_ms": 1.0,
        "latency_p95_ms": 2.0,
        "peak_memory_mib": 3.0,
        "load_seconds": 0.1,
        "usd_per_million_observations": 4.0,
    }
    result = {
        "about": {
            "observations": 2,
            "records": "r.jsonl",
            "sha256": "0",
            "seed": 0,
            "tokens": 10,
            "rounds": 3,
            "machine": "m",
            "threads": 1,
            "device": "cpu",
            "versions": {"linecls": "0"},
            "model": "m 1",
            "usd_per_hour": 0.1,
        },
        "systems": {
            "linecls_int8": {**system, "rounds_seconds": [1.0, 2.0, 1.0]},
            "torch_eager": {**system, "rounds_seconds": [4.0, 8.0, 2.0]},
        },
        "skipped": {"endpoint": "no --endpoint was given"},
        "engine": {},
        "processes": {"linecls prune": {"median_seconds": 0.5}, "squeez": {"median_seconds": 2.0}},
    }
    result["goals"] = throughput.goals(result)
    by_name = {goal["what"]: goal for goal in result["goals"]}
    assert by_name["int8 over torch eager, tokens/s"]["measured"] == 4.0
    assert by_name["int8 over torch eager, tokens/s"]["met"] is True
    assert by_name["squeez over linecls prune, whole process"]["met"] is False
    assert by_name["import and model load, seconds"]["measured"] is None
    text = throughput.as_markdown(result)
    assert "| int8 over torch eager, tokens/s | 4 | >= 3 | yes |" in text
    assert "| generative endpoint | not run: no --endpoint was given" in text


def test_the_gpu_check_says_why_it_skips(tmp_path):
    environment = {**os.environ, "PATH": "/usr/bin:/bin", "PYTHON": sys.executable}
    if any(Path(folder, "nvidia-smi").exists() for folder in ("/usr/bin", "/bin")):
        pytest.skip("there may be a GPU here")
    run = subprocess.run([EVAL / "gpu_check.sh"], capture_output=True, text=True, check=False, env=environment)
    assert (run.returncode, run.stdout) == (0, "gpu_check: skipped: nvidia-smi finds no GPU\n")


def test_the_gpu_check_runs_on_the_cpu_too(tiny_model_dir, monkeypatch):
    monkeypatch.setattr(gpu_check, "peak", lambda *_, **__: 1e12)
    rows = gpu_check.check("tiny", tiny_model_dir, "cpu", gpu_check.make_pairs(3), float("inf"))
    assert [row.variant for row in rows] == ["fp32"]
    assert (rows[0].logit_difference, rows[0].same_lines) == (0.0, 1.0)
    assert 0 < rows[0].roofline < 1
    assert "| tiny | fp32 | 0.0e+00 | 100.00% |" in gpu_check.as_markdown(rows, [], "cpu", [("q", "a\n")])


def test_a_random_network_can_be_exported(tmp_path):
    for module in ("torch", "transformers", "onnxscript"):
        pytest.importorskip(module)
    from linecls.pruner import Pruner

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
    shape = {**gpu_check._MODERNBERT, **small}
    directory, _ = gpu_check.export_random(shape, 512, tmp_path / "modern")
    pruner = Pruner.from_pretrained(directory, device="cpu", variant="fp32")
    assert pruner.artifact.encoding.window_tokens == 512
    assert pruner.prune("why", "a\nb error\n" * 20).total_lines == 40
