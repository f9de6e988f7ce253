"""How near a run is to what the machine can do: matrix work that was done, against the measured speed of a product.

What the runtime executes is taken from its own profile (shapes and times of every operator), so this knows nothing
of the network. The peak is the best of several products that do nothing else, run by the same runtime.
"""

from __future__ import annotations

import json
import math
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Self

#: Operators that are a product of two matrices, alone or with what is fused onto it.
PRODUCTS = frozenset(
    {
        "MatMul",
        "Gemm",
        "FusedMatMul",
        "FusedGemm",
        "TransposeMatMul",
        "MatMulInteger",
        "MatMulIntegerToFloat",
        "DynamicQuantizeMatMul",
        "QLinearMatMul",
        "QGemm",
        "GemmFastGelu",
    }
)
_INTEGER = frozenset({"MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QLinearMatMul", "QGemm"})
#: Attention in one operator: products and softmax together.
ATTENTIONS = frozenset({"Attention", "QAttention", "MultiHeadAttention", "PackedAttention", "PackedMultiHeadAttention"})


@dataclass
class Work:
    """What the profile of a run says.

    seconds: by operator; operations_by: those of products, by precision (int8, fp16, fp32; a multiplication and an
    addition are two); bytes: what the products read and write; calls: of the runtime.
    """

    seconds: Counter[str] = field(default_factory=Counter)
    operations_by: Counter[str] = field(default_factory=Counter)
    bytes: float = 0.0
    calls: int = 0

    @property
    def operations(self) -> float:
        return float(sum(self.operations_by.values()))

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    @property
    def in_products(self) -> float:
        return sum(s for name, s in self.seconds.items() if name in PRODUCTS or name in ATTENTIONS)


def read_profile(paths: Sequence[str]) -> Work:
    """Sum of the profiles of one or more sessions (JSON, as `end_profiling` leaves them)."""
    work = Work()
    for path in paths:
        for event in json.loads(Path(path).read_text()):
            if event.get("cat") == "Session" and event.get("name") == "model_run":
                work.calls += 1
            name = event.get("args", {}).get("op_name")
            if event.get("cat") != "Node" or not name or not str(event.get("name", "")).endswith("_kernel_time"):
                continue
            work.seconds[name] += event["dur"] * 1e-6
            read, made = event["args"].get("input_type_shape", []), event["args"].get("output_type_shape", [])
            inputs, outputs = _shapes(read), _shapes(made)
            done: Any = operations(name, inputs, outputs)
            if done:
                work.operations_by[_precision(name, read)] += done
            if name in PRODUCTS or name in ATTENTIONS:
                work.bytes += sum(map(_bytes, [*read, *made])) + _hidden_weight(name, inputs, outputs)
    return work


def operations(name: str, inputs: Sequence[Sequence[int]], outputs: Sequence[Sequence[int]]) -> float:
    """Operations of the products in one call of an operator, from its shapes.

    A constant second matrix may be missing among the inputs: the runtime packs it beforehand.
    """
    if not inputs or not outputs or not inputs[0] or not outputs[0]:
        return 0.0
    first, made = inputs[0], outputs[0]
    if name in PRODUCTS:
        return 2.0 * math.prod(made) * first[-1]
    if name in ATTENTIONS and len(first) == 3:
        rows, length, hidden = first
        projections = 2.0 * math.prod(made) * hidden * 3 if name in ("Attention", "QAttention") else 0.0
        return projections + 4.0 * rows * length * length * made[-1]
    return 0.0


def _precision(name: str, read: Sequence[dict[str, Sequence[int]]]) -> str:
    """In what a product is computed: int8, fp16 or fp32."""
    if name in _INTEGER or name == "QAttention":
        return "int8"
    return "fp16" if any("float16" in item for item in read) else "fp32"


def _hidden_weight(name: str, inputs: Sequence[Sequence[int]], outputs: Sequence[Sequence[int]]) -> float:
    """Bytes of a packed second matrix, which the profile does not list."""
    if name not in PRODUCTS or sum(len(shape) >= 2 for shape in inputs) > 1 or not inputs or not outputs:
        return 0.0
    return inputs[0][-1] * outputs[0][-1] * (1 if name in _INTEGER else 4)


def _shapes(items: Sequence[dict[str, Sequence[int]]]) -> list[Sequence[int]]:
    return [next(iter(item.values())) for item in items if item]


def _bytes(item: dict[str, Sequence[int]]) -> float:
    sizes = {"float16": 2, "bfloat16": 2, "uint8": 1, "int8": 1, "bool": 1, "int64": 8, "double": 8}
    return sum(math.prod(shape) * sizes.get(kind, 4) for kind, shape in item.items())


@contextmanager
def profiled() -> Iterator[Work]:
    """Profile every session of ONNX Runtime that is opened inside; the work is there when the block ends.

    Open sessions must do nothing else than what is to be counted.
    """
    import onnxruntime

    original, opened, work = onnxruntime.InferenceSession.__init__, [], Work()
    with tempfile.TemporaryDirectory() as folder:

        def init(self: Any, model: Any, sess_options: Any = None, *arguments: Any, **options: Any) -> None:
            sess_options = sess_options or onnxruntime.SessionOptions()
            sess_options.enable_profiling = True
            sess_options.profile_file_prefix = str(Path(folder) / f"session{len(opened)}")
            original(self, model, sess_options, *arguments, **options)
            opened.append(self)

        kind: Any = onnxruntime.InferenceSession
        kind.__init__ = init
        try:
            yield work
            done = read_profile([session.end_profiling() for session in opened])
        finally:
            kind.__init__ = original
    work.seconds, work.operations_by, work.bytes, work.calls = done.seconds, done.operations_by, done.bytes, done.calls


class _Watcher:
    """While the block runs, every call of a session of ONNX Runtime goes through what `_watch` makes of it."""

    def __enter__(self) -> Self:
        import onnxruntime

        self._kind = onnxruntime.InferenceSession
        self._originals = {name: getattr(self._kind, name) for name in ("run", "run_with_iobinding")}
        for name, original in self._originals.items():
            setattr(self._kind, name, self._watch(original))
        return self

    def __exit__(self, *_: Any) -> None:
        for name, original in self._originals.items():
            setattr(self._kind, name, original)

    def _watch(self, original: Any) -> Any:
        """The function in the place of `original`, a method of the session."""
        raise NotImplementedError


class Inside(_Watcher):
    """Time inside the runtime and padding of its calls, while the block runs.

    seconds: with at least one call running; tokens, cells: true entries and size of all attention masks that
    were fed by name (a call with buffers on the device is not seen).
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.tokens = self.cells = self.calls = 0
        self._running, self._since = 0, 0.0
        self._lock = threading.Lock()

    def _watch(self, original: Any) -> Any:
        def call(session: Any, *arguments: Any, **options: Any) -> Any:
            feeds = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], dict) else {}
            with self._lock:
                self.calls += 1
                mask = feeds.get("attention_mask")
                if mask is not None:
                    self.tokens, self.cells = self.tokens + int(mask.sum()), self.cells + mask.size
                if not self._running:
                    self._since = time.perf_counter()
                self._running += 1
            try:
                return original(session, *arguments, **options)
            finally:
                with self._lock:
                    self._running -= 1
                    if not self._running:
                        self.seconds += time.perf_counter() - self._since

        return call


class Recorded(_Watcher):
    """The calls of the runtime that are made while the block runs, to be made again by themselves.

    What they read is kept: about 1.5 KB for each token, where the states are 384 wide.
    """

    def __init__(self) -> None:
        self._calls: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []

    def _watch(self, original: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            self._calls.append((original, arguments, options))
            return original(*arguments, **options)

        return call

    def replay(self) -> float:
        """Make the calls once more, one after another and nothing else; the seconds that they take."""
        before = time.perf_counter()
        for original, arguments, options in self._calls:
            original(*arguments, **options)
        return time.perf_counter() - before


def peak(kind: str, *, device: str = "cpu", threads: int | None = None, seconds: float = 0.5) -> float:
    """Operations per second of the best of several plain products of the given precision, as ONNX Runtime runs them.

    kind: fp32, fp16 or int8 (uint8 activations, int8 weights, int32 sums).
    """
    sizes = ((512, 384, 1536), (2048, 384, 1536), (1024, 1024, 1024), (2048, 2048, 2048))
    if device != "cpu":
        sizes = ((4096, 4096, 4096), (8192, 8192, 8192), (16384, 768, 3072))
    return max(_product_speed(kind, size, device, threads, seconds) for size in sizes)


def _product_speed(kind: str, size: tuple[int, int, int], device: str, threads: int | None, seconds: float) -> float:
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    rows, inner, columns = size
    random = np.random.default_rng(0)
    if kind == "int8":
        weight = random.integers(-127, 127, (inner, columns), np.int8)
        value = random.integers(0, 255, (rows, inner), np.uint8)
        operator, given, made = "MatMulInteger", TensorProto.UINT8, TensorProto.INT32
    else:
        dtype = {"fp32": np.float32, "fp16": np.float16}[kind]
        weight, value = (random.standard_normal(s).astype(dtype) for s in ((inner, columns), (rows, inner)))
        given = made = {"fp32": TensorProto.FLOAT, "fp16": TensorProto.FLOAT16}[kind]
        operator = "MatMul"
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", given, [rows, inner])],
        [helper.make_tensor_value_info("y", made, [rows, columns])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if threads:
        options.intra_op_num_threads = threads
    name, _, index = device.partition(":")
    provider: Any = "CPUExecutionProvider"
    if name == "cuda":
        provider = ("CUDAExecutionProvider", {"device_id": int(index or 0)})
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=[provider])
    binding = session.io_binding()
    where = (name, int(index or 0))
    binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(value, *where))
    binding.bind_output("y", *where)
    session.run_with_iobinding(binding)
    binding.synchronize_outputs()
    calls, best, until = 4, math.inf, time.perf_counter() + seconds
    while time.perf_counter() < until:
        before = time.perf_counter()
        for _ in range(calls):
            session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        best = min(best, (time.perf_counter() - before) / calls)
    return 2.0 * rows * inner * columns / best


def bandwidth(seconds: float = 0.5) -> float:
    """Bytes per second of copying an array that no cache holds (read and written bytes counted)."""
    source = np.ones(1 << 25, np.float32)
    target = np.empty_like(source)
    best, until = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < until:
        before = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - before)
    return 2.0 * source.nbytes / best
