"""One ONNX Runtime session: device, threads, and the network's call."""

from __future__ import annotations

import mmap
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linecls.errors import ArtifactError, DeviceError, LineclsError, missing_extra

_DEVICE = re.compile(r"auto|cpu|cuda(?::(\d+))?")
_CPU_PROVIDER, _CUDA_PROVIDER = "CPUExecutionProvider", "CUDAExecutionProvider"
OUTPUT_NAMES = ("keep_logits", "answerable_logits")


def parse_device(device: str) -> tuple[str, int]:
    """`auto`, `cpu`, `cuda` or `cuda:N` as kind and index. Raises DeviceError for anything else."""
    match = _DEVICE.fullmatch(device)
    if match is None:
        raise DeviceError(f"unknown device {device!r}; use auto, cpu, cuda or cuda:N")
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

    Raises DeviceError when cuda is asked for and the installed runtime has no provider for it.
    """
    kind, index = parse_device(device)
    if kind == "cpu":
        return kind, index
    has_cuda = _CUDA_PROVIDER in import_runtime().get_available_providers()
    if kind == "auto":
        return ("cuda" if has_cuda else "cpu"), 0
    if not has_cuda:
        raise DeviceError(
            f"device {device}: the installed onnxruntime has no CUDA; pip install 'linecls[gpu]' in place of"
            " 'linecls[cpu]', or use --device cpu"
        )
    return kind, index


class Session:
    """An open network.

    graph: the ONNX file.
    device: `auto`, `cpu`, `cuda` or `cuda:N`; operators without a CUDA kernel run on the CPU.
    threads: CPU threads within one operator; None takes the physical cores that this process may use.
    batch_invariant: whether a row's result does not depend on what else is in its batch. Dynamically
        quantised graphs scale activations by the range of the whole tensor, so for them it is False.
    """

    def __init__(self, graph: str | Path, *, device: str = "auto", threads: int | None = None) -> None:
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
        providers: list[Any] = [_CPU_PROVIDER]
        if kind == "cuda":
            providers.insert(0, (_CUDA_PROVIDER, {"device_id": index}))
        try:
            self._session = runtime.InferenceSession(str(graph), options, providers=providers)
        except Exception as error:  # the runtime raises a dozen kinds, most of them its own
            raise ArtifactError(f"the runtime cannot load {graph}: {_one_line(error)}") from error
        if kind == "cuda" and _CUDA_PROVIDER not in self._session.get_providers():
            raise DeviceError(f"device {device}: CUDA does not start here; check the driver, or use --device cpu")
        self.device = f"cuda:{index}" if kind == "cuda" else "cpu"
        self.threads = options.intra_op_num_threads
        self.batch_invariant = not _contains(Path(graph), b"DynamicQuantizeLinear")
        self._inputs = [node.name for node in self._session.get_inputs()]
        outputs = {node.name for node in self._session.get_outputs()}
        if missing := [name for name in OUTPUT_NAMES if name not in outputs]:
            raise ArtifactError(f"{graph} has no output {missing[0]}; export the model again")

    def run(self, batch: dict[str, NDArray[Any]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Keep logits [B, L] and answerable logits [B], float32, of a batch from `encoding.collate`."""
        try:
            feeds = {name: batch[name] for name in self._inputs}
        except KeyError as error:
            raise ArtifactError(f"the graph asks for the unknown input {error}; upgrade linecls") from error
        try:
            keep, answerable = self._session.run(list(OUTPUT_NAMES), feeds)
        except Exception as error:
            raise ArtifactError(f"the network cannot run: {_one_line(error)}") from error
        return np.asarray(keep, np.float32), np.asarray(answerable, np.float32)


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
