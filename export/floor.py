"""How far the encoder is from what the machine can do: operations, peak of its matrix products, profile.

\b
  python export/floor.py                # the embedded model
  python export/floor.py model -v fp32

The peak is measured here, by matrix products of the encoder's shapes and nothing else; the floor is the time that the
encoder's products would take at that peak. Numbers of a busy machine are worthless.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
import numpy as np
import onnx
import onnxruntime
from make_default import RESULTS
from onnx import TensorProto, helper, numpy_helper

from linecls import provenance
from linecls.artifact import ENCODER, Artifact, embedded
from linecls.session import physical_cores

_PRODUCTS = ("MatMul", "MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "FusedMatMul", "Gemm")
_ATTENTION = ("MultiHeadAttention", "Attention", "Softmax")
_ROWS, _WIDTH, _REPEATS = 16, 128, 7


@click.command(help=__doc__)
@click.argument("model", default=embedded(), type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-v", "--variant", help="[default: the model's first]")
@click.option("--threads", default=physical_cores(), show_default=True, type=click.IntRange(min=1))
def main(model: Path, variant: str | None, threads: int) -> None:
    artifact = Artifact.load(model)
    variant = variant or artifact.default_variant
    path = artifact.graphs(variant)[ENCODER]
    shapes = products(path)
    tokens = _ROWS * _WIDTH
    operations = 2 * sum(rows * columns for rows, columns in shapes)
    peak = measured_peak(max(shapes, key=np.prod), quantised=variant == "int8", threads=threads)
    seconds, by_kind = profile(path, threads)
    total = sum(by_kind.values())
    shares = {kind: by_kind[kind] / total for kind in sorted(by_kind, key=by_kind.__getitem__, reverse=True)}
    values: dict[str, Any] = {
        "model": f"{artifact.name} {artifact.version}, {variant}",
        "threads": threads,
        "weights_megabytes": path.stat().st_size / 1e6,
        "operations_per_token": operations,
        "peak_gops": peak / 1e9,
        "floor_ms_per_1000_tokens": operations * 1e3 / peak * 1e3,
        "measured_ms_per_1000_tokens": seconds / tokens * 1e6,
        "share_of_peak": operations * tokens / seconds / peak,
        "share_of_products": sum(shares.get(kind, 0.0) for kind in _PRODUCTS),
        "share_of_attention": sum(shares.get(kind, 0.0) for kind in _ATTENTION),
        "share_by_operator": {kind: share for kind, share in shares.items() if share >= 0.005},
        "machine": provenance.measured_on(),
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"floor_{variant}.json").write_text(json.dumps(values, indent=2) + "\n")
    click.echo(json.dumps(values, indent=2))


def products(path: Path) -> list[tuple[int, int]]:
    """[rows, columns] of each weight matrix that a token passes."""
    graph = onnx.load(str(path)).graph
    sizes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    found = [sizes[node.input[1]] for node in graph.node if node.op_type in _PRODUCTS and node.input[1] in sizes]
    return [(int(shape[0]), int(shape[1])) for shape in found if len(shape) == 2]


def measured_peak(shape: tuple[int, int], *, quantised: bool, threads: int) -> float:
    """Operations per second of the plain product of [tokens, rows] with [rows, columns], the best of several."""
    rows, columns = shape
    rng = np.random.default_rng(0)
    if quantised:
        left, kind, operator = (
            rng.integers(0, 255, (_ROWS * _WIDTH, rows)).astype(np.uint8),
            TensorProto.UINT8,
            "MatMulInteger",
        )
        weight, out = rng.integers(-127, 127, (rows, columns)).astype(np.int8), TensorProto.INT32
    else:
        left, kind, operator = rng.normal(size=(_ROWS * _WIDTH, rows)).astype(np.float32), TensorProto.FLOAT, "MatMul"
        weight, out = rng.normal(size=(rows, columns)).astype(np.float32), TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node(operator, ["a", "b"], ["c"])],
        "product",
        [helper.make_tensor_value_info("a", kind, [None, rows])],
        [helper.make_tensor_value_info("c", out, [None, columns])],
        [numpy_helper.from_array(weight, "b")],
    )
    product = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    session = onnxruntime.InferenceSession(product.SerializeToString(), _options(threads), ["CPUExecutionProvider"])
    seconds = min(_timed(lambda: session.run(None, {"a": left})) for _ in range(5 * _REPEATS))
    return 2.0 * left.shape[0] * rows * columns / seconds


def profile(path: Path, threads: int) -> tuple[float, dict[str, float]]:
    """Seconds of one call (the best of several), and the time in each kind of operator, summed over all calls."""
    rng = np.random.default_rng(0)
    ids = rng.integers(1000, 20000, (_ROWS, _WIDTH))
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
    plain = onnxruntime.InferenceSession(str(path), _options(threads), ["CPUExecutionProvider"])
    seconds = min(_timed(lambda: plain.run(None, feeds)) for _ in range(_REPEATS))
    with tempfile.TemporaryDirectory() as folder:
        options = _options(threads)
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(folder) / "profile")
        session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        for _ in range(_REPEATS):
            session.run(None, feeds)
        events = json.loads(Path(session.end_profiling()).read_text())
    by_kind: dict[str, float] = defaultdict(float)
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            by_kind[event["args"]["op_name"]] += event["dur"]
    return seconds, by_kind


def _options(threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return options


def _timed(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
