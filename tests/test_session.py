"""Devices, threads, and the runtime as the session meets it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from linecls import session as session_module
from linecls.errors import ArtifactError, DeviceError, LineclsError, MissingExtraError
from linecls.network import ENCODER_INPUTS, ENCODER_OUTPUTS, SCORER_OUTPUTS
from linecls.pruner import Pruner
from linecls.session import Session, choose_device, import_runtime, parse_device, physical_cores


@pytest.mark.parametrize(
    ("device", "parsed"),
    [
        ("auto", ("auto", 0)),
        ("cpu", ("cpu", 0)),
        ("cuda", ("cuda", 0)),
        ("cuda:3", ("cuda", 3)),
        ("tensorrt:2", ("tensorrt", 2)),
    ],
)
def test_devices(device, parsed):
    assert parse_device(device) == parsed


@pytest.mark.parametrize("device", ["", "gpu", "cuda:", "tensorrt:x", "cuda:x", "cpu:1", "CPU", "cuda:-1"])
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
    graph = tiny_model_dir / "encoder-int8.onnx"
    assert Session(graph, ENCODER_OUTPUTS, device="cpu", threads=2).threads == 2
    assert Session(graph, ENCODER_OUTPUTS, device="cpu").threads == physical_cores() >= 1
    with pytest.raises(LineclsError, match="threads must be at least 1"):
        Session(graph, ENCODER_OUTPUTS, threads=0)


def test_inputs_and_outputs_that_linecls_does_not_know(tiny_model_dir):
    session = Session(tiny_model_dir / "encoder-int8.onnx", ENCODER_OUTPUTS, device="cpu")
    with pytest.raises(ArtifactError, match="unknown input"):
        session.run({"input_ids": np.zeros((1, 4), np.int64)})
    with pytest.raises(ArtifactError, match="no output keep_logits"):
        Session(tiny_model_dir / "encoder-int8.onnx", SCORER_OUTPUTS, device="cpu")


def test_a_bound_call_gives_what_a_plain_one_gives(tiny_model_dir):
    session = Session(tiny_model_dir / "encoder-fp32.onnx", ENCODER_OUTPUTS, device="cpu", threads=1)
    hidden = session.width_of("states")
    call = session.bind(dict.fromkeys(ENCODER_INPUTS, (3, 16)), {"states": (3, 16, hidden)})
    for seed in (0, 1):
        ids = np.random.default_rng(seed).integers(5, 200, (3, 16))
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        assert call.run(feeds)[0].tobytes() == session.run(feeds)[0].tobytes()
    with pytest.raises(ArtifactError, match="cannot run"):
        call.run({"input_ids": ids})


def test_fixed_shapes_as_on_a_gpu_change_no_result(tiny_model_dir, sentences):
    """The path of a GPU, buffers and all, on the CPU provider."""
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1, variant="fp32")
    bound = Pruner.from_pretrained(tiny_model_dir, device="cpu", threads=1, variant="fp32")
    bound.network._is_bound, bound.network._call_tokens = True, 512
    pairs = [("why does the login fail", "\n".join(sentences * n)) for n in (1, 5, 20)]
    alone = [bound.prune(*pair).keep_logits.tobytes() for pair in pairs]
    for one, other, same in zip(pruner.prune_many(pairs), bound.prune_many(pairs), alone, strict=True):
        assert one.spans == other.spans
        np.testing.assert_allclose(one.keep_logits, other.keep_logits, atol=1e-5)
        assert other.keep_logits.tobytes() == same


class OnlyCpu:
    """The runtime of a machine with the GPU distribution and no GPU that starts."""

    def __init__(self, runtime, *providers):
        self._runtime, self._providers = runtime, providers
        self.asked = []

    def __getattr__(self, name):
        return getattr(self._runtime, name)

    def get_available_providers(self):
        return [*self._providers, "CPUExecutionProvider"]

    def InferenceSession(self, graph, options, providers, disabled_optimizers=None):
        assert (disabled_optimizers is None) == (len(providers) > 1)  # a GPU has a good kernel of what it makes
        self.asked.append(providers)
        return self._runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def test_a_gpu_that_does_not_start(tiny_model_dir, monkeypatch, caplog):
    runtime = OnlyCpu(import_runtime(), "TensorrtExecutionProvider", "CUDAExecutionProvider")
    monkeypatch.setattr(session_module, "import_runtime", lambda: runtime)
    for device in ("cuda", "cuda:1", "tensorrt"):
        with pytest.raises(DeviceError, match=f"device {device}: .* does not start here"):
            Pruner.from_pretrained(tiny_model_dir, device=device)
    assert runtime.asked[1][0][1]["device_id"] == 1
    engine = runtime.asked[2][0][1]
    assert runtime.asked[2][0][0] == "TensorrtExecutionProvider"
    assert engine["trt_engine_cache_enable"]
    assert engine["trt_engine_cache_path"].endswith("linecls/tensorrt")
    pruner = Pruner.from_pretrained(tiny_model_dir)
    assert pruner.network.device == "cpu"
    assert not pruner.network.batch_invariant  # int8, the variant for the CPU
    assert [record.getMessage() for record in caplog.records] == [
        "linecls: CUDA does not start here, so the CPU does the work"
    ]
    assert pruner.prune("login", "login failed\n").total_lines == 1
