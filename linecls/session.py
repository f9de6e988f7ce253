"""One ONNX Runtime session: device, threads, memory, and the graph's call."""

from __future__ import annotations

import logging
import mmap
import os
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linecls.errors import ArtifactError, DeviceError, LineclsError, missing_extra

_DEVICE = re.compile(r"auto|cpu|(?:cuda|tensorrt)(?::(\d+))?")
_CPU_PROVIDER, _CUDA_PROVIDER = "CPUExecutionProvider", "CUDAExecutionProvider"
_TENSORRT_PROVIDER = "TensorrtExecutionProvider"
_PROVIDERS = {"cuda": _CUDA_PROVIDER, "tensorrt": _TENSORRT_PROVIDER}


def parse_device(device: str) -> tuple[str, int]:
    """`auto`, `cpu`, `cuda[:N]` or `tensorrt[:N]` as kind and index. Raises DeviceError for anything else."""
    match = _DEVICE.fullmatch(device)
    if match is None:
        raise DeviceError(f"unknown device {device!r}; use auto, cpu, cuda, cuda:N or tensorrt")
    return device.partition(":")[0], int(match.group(1) or 0)


def import_runtime() -> Any:
    """The `onnxruntime` module.

    Raises MissingExtraError when it is not installed, and LineclsError when the CPU and the GPU distribution
    are both installed: they overwrite each other's files, and which one runs is a matter of chance.
    """
    found = installed_distributions()
    if len(found) > 1:
        raise LineclsError(
            "onnxruntime and onnxruntime-gpu are both installed and overwrite each other; run:"
            " pip uninstall onnxruntime onnxruntime-gpu, then pip install 'linecls[cpu]' or 'linecls[gpu]'"
        )
    # The runtime would otherwise write a device id and a database under the user's home, and may send them.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ImportError as error:
        if found:
            raise LineclsError(f"{found[0]} is installed but does not load: {error}") from error
        raise missing_extra("onnxruntime", "cpu") from error
    return onnxruntime


def installed_distributions() -> list[str]:
    """Names of the distributions beside the `onnxruntime` package that bring it.

    Read from the names of their metadata folders: importlib.metadata alone would cost more start-up time than
    the rest of this module.
    """
    spec = find_spec("onnxruntime")
    if spec is None or not spec.submodule_search_locations:
        return []
    site = Path(next(iter(spec.submodule_search_locations))).parent
    names = {path.name.partition("-")[0].replace("_", "-") for path in site.glob("onnxruntime*.dist-info")}
    return sorted(names & {"onnxruntime", "onnxruntime-gpu"})


def choose_device(device: str) -> tuple[str, int]:
    """`parse_device`, with `auto` resolved: cuda where the installed runtime has it, else cpu.

    Raises DeviceError when a GPU is asked for and the installed runtime has no provider for it.
    """
    kind, index = parse_device(device)
    if kind == "cpu":
        return kind, index
    available = import_runtime().get_available_providers()
    if kind == "auto":
        return ("cuda" if _CUDA_PROVIDER in available else "cpu"), 0
    if _PROVIDERS[kind] not in available:
        name = {"cuda": "CUDA", "tensorrt": "TensorRT"}[kind]
        raise DeviceError(
            f"device {device}: the installed onnxruntime has no {name}; pip install 'linecls[gpu]' in place of"
            " 'linecls[cpu]', or use --device cpu"
        )
    return kind, index


class Session:
    """An open graph.

    graph: the ONNX file.
    outputs: names of the outputs that `run` gives, in order.
    device: `auto`, `cpu`, `cuda`, `cuda:N`, `tensorrt` or `tensorrt:N`; operators without a kernel there run on
        the CPU. `auto` falls back to the CPU, with one logged line, where CUDA does not start.
    threads: CPU threads within one operator; None takes the physical cores that this process may use.
    batch_invariant: whether a row's result does not depend on what else is in its call. Dynamically quantised
        graphs scale activations by the range of the whole tensor, so for them it is False.
    Raises ArtifactError when the graph does not load or lacks an output, DeviceError when the device does not start.
    """

    def __init__(
        self, graph: str | Path, outputs: Sequence[str], *, device: str = "auto", threads: int | None = None
    ) -> None:
        if threads is not None and threads < 1:
            raise LineclsError(f"threads must be at least 1, not {threads}")
        kind, index = choose_device(device)
        runtime = import_runtime()
        runtime.set_default_logger_severity(4)
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # what goes wrong is raised; stderr belongs to the caller
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.execution_mode = runtime.ExecutionMode.ORT_SEQUENTIAL
        options.intra_op_num_threads = threads or physical_cores()
        options.inter_op_num_threads = 1
        options.use_deterministic_compute = True
        # Patterns are kept per shape, and nearly every call has a shape of its own.
        options.enable_mem_pattern = False
        # Two graphs take turns: the threads of the one at rest must not spin beside the other's.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self._runtime = runtime
        self._session = self._open(str(graph), options, kind, index)
        if kind != "cpu" and _PROVIDERS[kind] not in self._session.get_providers():
            if device != "auto":
                raise DeviceError(f"device {device}: {kind} does not start here; check the driver, or use --device cpu")
            logging.getLogger("linecls").warning("linecls: CUDA does not start here, so the CPU does the work")
            kind = "cpu"
        self.device = "cpu" if kind == "cpu" else f"{kind}:{index}"
        self.threads = options.intra_op_num_threads
        self.batch_invariant = not _contains(Path(graph), b"DynamicQuantizeLinear")
        self.inputs = [node.name for node in self._session.get_inputs()]
        self._outputs = list(outputs)
        known = {node.name for node in self._session.get_outputs()}
        if missing := [name for name in outputs if name not in known]:
            raise ArtifactError(f"{graph} has no output {missing[0]}; export the model again")

    def _open(self, graph: str, options: Any, kind: str, index: int) -> Any:
        providers: list[Any] = [_CPU_PROVIDER]
        if kind != "cpu":
            providers.insert(0, (_CUDA_PROVIDER, {"device_id": index, "arena_extend_strategy": "kSameAsRequested"}))
        if kind == "tensorrt":
            cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linecls" / "tensorrt"
            engine = {
                "device_id": index,
                "trt_fp16_enable": True,
                "trt_engine_cache_enable": True,
                "trt_engine_cache_path": str(cache),
                "trt_timing_cache_enable": True,
                "trt_timing_cache_path": str(cache),
            }
            providers.insert(0, (_TENSORRT_PROVIDER, engine))
        # On the CPU the fused operator is slower than its parts; see `fusing.fuse_encoder`.
        slow = ["SkipLayerNormFusion"] if kind == "cpu" else None
        try:
            return self._runtime.InferenceSession(graph, options, providers=providers, disabled_optimizers=slow)
        except Exception as error:  # the runtime raises a dozen kinds, most of them its own
            raise ArtifactError(f"the runtime cannot load {graph}: {_one_line(error)}") from error

    def run(self, feeds: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """The outputs for the named inputs. Inputs that the graph does not have are left out."""
        try:
            known = {name: feeds[name] for name in self.inputs}
        except KeyError as error:
            raise ArtifactError(f"the graph asks for the unknown input {error}; upgrade linecls") from error
        try:
            return self._session.run(self._outputs, known)
        except Exception as error:
            raise ArtifactError(f"the network cannot run: {_one_line(error)}") from error

    def width_of(self, output: str) -> int:
        """Size of the last dimension of an output, which the graph must fix."""
        node = next(node for node in self._session.get_outputs() if node.name == output)
        if not isinstance(node.shape[-1], int):
            raise ArtifactError(f"the graph does not fix the width of {output}; export the model again")
        return node.shape[-1]

    def bind(self, shapes: Mapping[str, tuple[int, ...]], outputs: Mapping[str, tuple[int, ...]]) -> BoundCall:
        """A call of fixed shapes (int64 in, float32 out) whose buffers are allocated once, on the device."""
        return BoundCall(self._runtime, self._session, self.device, shapes, outputs)


class BoundCall:
    """A call of fixed shapes with buffers on the device; see `Session.bind`. Not for two threads at once."""

    def __init__(
        self,
        runtime: Any,
        session: Any,
        device: str,
        shapes: Mapping[str, tuple[int, ...]],
        outputs: Mapping[str, tuple[int, ...]],
    ) -> None:
        kind, _, index = device.partition(":")
        where = ("cpu", 0) if kind == "cpu" else ("cuda", int(index))
        self._on_host = kind == "cpu"  # there the arrays are the buffers themselves
        self._session = session
        self._binding = session.io_binding()
        self._inputs = {
            name: runtime.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.int64), *where)
            for name, shape in shapes.items()
        }
        self._results = {
            name: runtime.OrtValue.ortvalue_from_shape_and_type(list(shape), np.float32, *where)
            for name, shape in outputs.items()
        }
        for name, value in self._inputs.items():
            self._binding.bind_ortvalue_input(name, value)
        for name, value in self._results.items():
            self._binding.bind_ortvalue_output(name, value)

    def run(self, feeds: Mapping[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        """The outputs, copied to the host; `feeds` as the shapes say."""
        try:
            for name, value in self._inputs.items():
                value.update_inplace(feeds[name])
            self._session.run_with_iobinding(self._binding)
            arrays = [value.numpy() for value in self._results.values()]
            return [array.copy() for array in arrays] if self._on_host else arrays
        except Exception as error:
            raise ArtifactError(f"the network cannot run: {_one_line(error)}") from error


def physical_cores() -> int:
    """Physical cores among the CPUs that this process may run on, at least 1."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, (os.cpu_count() or 2) // 2)
    cores: set[str] = set()
    allowed = os.sched_getaffinity(0)
    for cpu in allowed:
        try:
            siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
        except OSError:
            return len(allowed)
        cores.add(siblings)
    return max(1, len(cores))


def _contains(path: Path, word: bytes) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(word) >= 0


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
