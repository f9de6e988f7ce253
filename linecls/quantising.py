"""Int8 encoders whose steps and ranges are chosen on real text.

The inputs of a product in int8 have one step for all channels and tokens. A few large channels (a dozen times the
others behind BERT's layer norms) and a few large tokens would cost all others their precision. So, judged by the
squared error of the products on text that `observe` saw:

- Smoothing (SmoothQuant, arXiv 2211.10438, eq. 4): input channel j is divided by
  s_j = max|X_j|^a / max|W_j|^(1-a), and row j of the weights multiplied by it. What a layer norm gives is also read
  by the skip connection: there the division is a Mul of its own before the product. What an attention gives is
  divided in the weights and bias of its values, for nothing.
- Exact channels (LLM.int8(), arXiv 2208.07339): a product that narrows, as the second of a feed-forward block, adds
  what its few largest input channels give in fp32. In MiniLM it is one unit of 1,536, at few tokens, that carries
  most of the error of all int8.
- A fixed range for the inputs of each product, narrower than what was seen where that loses less. Values beyond it
  are cut. A fixed range also makes a row's result independent of what else is in its call.
- Weights rounded one row after another, the error of each made good in the rows that follow (GPTQ, arXiv 2210.17323).
- A scale for each row of the embedding table.

`quantise` is the form without any text. Needs the extra `export`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from linecls.errors import LineclsError

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
Range = tuple[float, float]

EXPONENTS = (0.55, 0.7, 0.85)  # the values of a that are tried
EXACT = (1, 2, 4)  # how many channels may stay in fp32
_DOMAIN = "com.microsoft"
_TOP = 127  # largest weight; -128 is not used, so that zero is zero
_STEPS = 255  # of an input's range
_SAMPLE = 4096  # rows kept of each input
_RANGED = 768  # of them, those on which ranges are searched
_NARROWER = np.linspace(0.2, 1.0, 10)  # shares of a bound that are tried
_USUAL = 0.999  # the quantile of |x| that counts as the largest of a channel: beyond it the range may cut
_GAIN = 0.8  # what costs time is done where it lowers the squared error to this share or less
_DAMPING = 0.01  # of the mean diagonal, added to the Gram matrix: the value of the GPTQ paper
_BLOCK = 64  # rows whose corrections are collected before the rest of a matrix is touched
_TABLE = 1 << 20  # a table of fewer numbers stays in fp32


@dataclass(frozen=True)
class Inputs:
    """What a tensor that products read held, over all tokens seen.

    low, high: range of each channel [K]; sample: some of its rows [R, K].
    """

    low: FloatArray
    high: FloatArray
    sample: FloatArray


@dataclass(frozen=True)
class Product:
    """What was chosen for the products that read one tensor.

    inputs: the tensor's name; exponent: a of the smoothing, None for none; exact: how many channels stay in fp32;
    low, high: range of the (smoothed) inputs; error: root of the squared error on the sample, as a share of the root
    of the squared outputs.
    """

    inputs: str
    exponent: float | None
    exact: int
    low: float
    high: float
    error: float


def quantise(source: Path, target: Path, *, per_channel: bool) -> None:
    """Dynamic int8 by ONNX Runtime: weights of matrix products and the embedding table, activations at run time.

    per_channel: one scale per output column instead of one per matrix.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        source,
        target,
        per_channel=per_channel,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Gather"],
    )


# --- what the inputs hold ---------------------------------------------------------------------------------------------


def observe(graph: Path, calls: Iterable[Mapping[str, NDArray[np.int64]]]) -> dict[str, Inputs]:
    """Run an fp32 encoder; give what the inputs of its products with weights held, by the tensor's name.

    calls: `network.ENCODER_INPUTS` of each call. Padding is left out. Raises LineclsError without calls.
    """
    from linecls.session import import_runtime

    runtime = import_runtime()
    model = onnx.load(str(graph))
    names = list(_products(model.graph))
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    seen = {name: _Seen() for name in names}
    rng = np.random.default_rng(0)
    for feeds in calls:
        tokens = feeds["attention_mask"].astype(bool)
        keys = rng.random(int(tokens.sum()))
        for name, values in zip(names, session.run(names, dict(feeds)), strict=True):
            seen[name].add(values[tokens], keys)
    return {name: found.inputs() for name, found in seen.items()}


class _Seen:
    """The range of rows, and a uniform sample of them: those with the smallest keys."""

    def __init__(self) -> None:
        self._low: Any = np.inf
        self._high: Any = -np.inf
        self._rows: FloatArray | None = None
        self._keys = np.empty(0)

    def add(self, rows: FloatArray, keys: NDArray[np.float64]) -> None:
        """Rows [R, K] and a random key for each [R]."""
        self._low = np.minimum(self._low, rows.min(axis=0))
        self._high = np.maximum(self._high, rows.max(axis=0))
        if len(self._keys) == _SAMPLE:
            near = keys < self._keys.max()
            rows, keys = rows[near], keys[near]
        rows = rows if self._rows is None else np.concatenate((self._rows, rows))
        keys = np.concatenate((self._keys, keys))
        kept = np.argsort(keys, kind="stable")[:_SAMPLE]
        self._rows, self._keys = rows[kept], keys[kept]

    def inputs(self) -> Inputs:
        if self._rows is None:
            raise LineclsError("the records to calibrate on hold no text")
        return Inputs(self._low, self._high, self._rows)


# --- what is chosen ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Choice:
    """exact: input channels that stay in fp32; division of the inputs [K], their range; weights [K, N] as whole
    numbers, zero for the exact channels, and their scales [N].
    """

    exponent: float | None
    exact: IntArray
    division: FloatArray
    bounds: Range
    weights: FloatArray
    scales: FloatArray
    error: float


def _choose(inputs: Inputs, weights: FloatArray, *, is_free: bool) -> _Choice:
    """The best treatment of a product [K, N]; is_free: whether dividing its inputs costs no time."""
    rows = inputs.sample
    wanted = rows @ weights
    power = float(np.square(wanted).mean()) or 1.0

    def judged(exponent: float | None, exact: int, *, carefully: bool = False) -> _Choice:
        outliers = outlying(inputs, weights, exact)
        inside = weights.copy()
        inside[outliers] = 0.0
        division = smoothing(inputs, weights, exponent)
        inside *= division[:, None]
        divided = rows / division
        divided[:, outliers] = 0.0
        bounds = best_range(divided[:_RANGED], inside)
        scales = (np.maximum(np.abs(inside).max(axis=0), 1e-9) / _TOP).astype(np.float32)
        if carefully:
            whole = round_weights(inside, scales, (divided.T @ divided).astype(np.float64))
        else:
            whole = np.clip(np.rint(inside / scales), -_TOP, _TOP)
        got = round_inputs(divided, bounds) @ (whole * scales) + rows[:, outliers] @ weights[outliers]
        error = float(np.square(got - wanted).mean()) / power
        return _Choice(exponent, outliers, division, bounds, whole, scales, error)

    plain = judged(None, 0)
    if is_free or weights.shape[0] <= weights.shape[1]:
        other = min((judged(exponent, 0) for exponent in EXPONENTS), key=lambda choice: choice.error)
    else:
        several = [judged(None, exact) for exact in EXACT]
        least = min(choice.error for choice in several)
        other = next(choice for choice in several if choice.error * _GAIN <= least)  # few cost less than many
    best = other if other.error < plain.error * (1.0 if is_free else _GAIN) else plain
    return judged(best.exponent, len(best.exact), carefully=True)


def outlying(inputs: Inputs, weights: FloatArray, count: int) -> IntArray:
    """The `count` input channels whose largest value times largest weight is largest, in ascending order."""
    reach = np.maximum(np.abs(inputs.low), np.abs(inputs.high)) * np.abs(weights).max(axis=1)
    return np.sort(np.argsort(-reach, kind="stable")[:count]).astype(np.int64)


def smoothing(inputs: Inputs, weights: FloatArray, exponent: float | None) -> FloatArray:
    """What each input channel is divided by [K], of geometric mean 1; ones where the exponent is None."""
    if exponent is None:
        return np.ones(len(weights), np.float32)
    largest = np.maximum(np.quantile(np.abs(inputs.sample), _USUAL, axis=0), 1e-5)
    strongest = np.maximum(np.abs(weights).max(axis=1), 1e-5)
    division = largest**exponent / strongest ** (1 - exponent)
    return (division / np.exp(np.log(division).mean())).astype(np.float32)


def steps(bounds: Range) -> tuple[np.float32, np.uint8]:
    """Scale and zero point of uint8 inputs in a range that holds zero."""
    low, high = min(bounds[0], 0.0), max(bounds[1], 0.0)
    scale = np.float32(max(high - low, 1e-6) / _STEPS)
    return scale, np.uint8(np.clip(np.rint(-low / scale), 0, _STEPS))


def round_inputs(rows: FloatArray, bounds: Range) -> FloatArray:
    """Inputs [R, K] as the product in int8 reads them."""
    scale, zero = steps(bounds)
    return (np.clip(np.rint(rows / scale) + int(zero), 0, _STEPS) - int(zero)) * scale


def best_range(rows: FloatArray, weights: FloatArray) -> Range:
    """The range, at most that of the rows [R, K], of least squared error in their product with weights [K, N].

    The errors of the channels count as independent.
    """
    low, high = min(float(rows.min()), 0.0), max(float(rows.max()), 0.0)
    weight = np.square(weights).sum(axis=1)

    def error(bounds: Range) -> float:
        return float(np.square(round_inputs(rows, bounds) - rows).sum(axis=0) @ weight)

    best = (low, high)
    for _ in range(2):  # each bound with the other as it stands
        best = min(((best[0], high * share) for share in _NARROWER), key=error)
        best = min(((low * share, best[1]) for share in _NARROWER), key=error)
    return best


def round_weights(weights: FloatArray, scales: FloatArray, gram: NDArray[np.float64]) -> FloatArray:
    """Weights [K, N] as whole numbers from -127 to 127 of the columns' scales [N].

    gram: sum of x xᵀ over inputs [K, K]. The rows of the largest inputs go first; the error of each is spread over
    the rows that follow so that the outputs change least (GPTQ, arXiv 2210.17323, algorithm 1).
    """
    count = len(weights)
    gram = gram + np.eye(count) * max(_DAMPING * float(np.diag(gram).mean()), 1e-12)
    order = np.argsort(-np.diag(gram), kind="stable")
    left = weights[order].astype(np.float64)
    upper = np.linalg.cholesky(np.linalg.inv(gram[np.ix_(order, order)])).T
    whole = np.empty_like(left)
    for start in range(0, count, _BLOCK):
        stop = min(start + _BLOCK, count)
        errors = np.empty((stop - start, left.shape[1]))
        for row in range(start, stop):
            whole[row] = np.clip(np.rint(left[row] / scales), -_TOP, _TOP)
            errors[row - start] = (left[row] - whole[row] * scales) / upper[row, row]
            left[row + 1 : stop] -= np.outer(upper[row, row + 1 : stop], errors[row - start])
        left[stop:] -= upper[start:stop, stop:].T @ errors
    result = np.empty_like(whole)
    result[order] = whole
    return result.astype(np.float32)


# --- the graph --------------------------------------------------------------------------------------------------------


def quantise_encoder(source: Path, target: Path, inputs: Mapping[str, Inputs]) -> list[Product]:
    """Write the fp32 encoder `source` with its products in int8 and its word table in int8 rows.

    inputs: what `observe` gave for this graph. Products of one tensor share its rounded form. Gives what was chosen,
    in the order of the graph.
    """
    model = onnx.load(str(source))
    graph = model.graph
    values = {tensor.name: tensor for tensor in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}
    factors: dict[str, FloatArray] = {}  # of the columns of a product that makes values
    instead: dict[int, list[Any]] = {}
    chosen: list[Product] = []
    for name, nodes in reversed(_products(graph).items()):  # an attention's values are made before it is read
        matrices = [numpy_helper.to_array(values[node.input[1]]).astype(np.float32) for node in nodes]
        folded = _values_of(name, makers, values)
        choice = _choose(inputs[name], np.concatenate(matrices, axis=1), is_free=folded is not None)
        chosen.append(Product(name, choice.exponent, len(choice.exact), *choice.bounds, choice.error**0.5))
        made: list[Any] = []
        source_name = name
        if choice.exponent is not None:
            factor = (1 / choice.division).astype(np.float32)
            if folded is not None:
                product, bias = folded
                factors[product] = factor
                values[bias].CopyFrom(numpy_helper.from_array(numpy_helper.to_array(values[bias]) * factor, bias))
            else:
                source_name = f"{name}_smooth"
                made.append(helper.make_node("Mul", [name, _keep(values, f"{name}_factor", factor)], [source_name]))
        scale, zero = steps(choice.bounds)
        step = [_keep(values, f"{name}_scale", scale), _keep(values, f"{name}_zero", zero)]
        made.append(helper.make_node("QuantizeLinear", [source_name, *step], [f"{name}_int8"]))
        if len(choice.exact):
            places = _keep(values, f"{name}_exact_places", choice.exact)
            made.append(helper.make_node("Gather", [name, places], [f"{name}_exact"], axis=-1))
        column = 0
        for node, matrix in zip(nodes, matrices, strict=True):
            out, factor = node.output[0], factors.get(node.output[0], np.float32(1))
            columns = slice(column, column := column + matrix.shape[1])
            weight = _keep(values, f"{out}_weight", choice.weights[:, columns].astype(np.int8))
            scales = _keep(values, f"{out}_scales", choice.scales[columns] * factor)
            whole = f"{out}_whole" if len(choice.exact) else out
            operands = [f"{name}_int8", weight, step[0], scales, step[1]]
            made.append(helper.make_node("MatMulIntegerToFloat", operands, [whole], domain=_DOMAIN))
            if len(choice.exact):
                exact = _keep(values, f"{out}_exact_weight", matrix[choice.exact] * factor)
                made.append(helper.make_node("MatMul", [f"{name}_exact", exact], [f"{out}_exact"]))
                made.append(helper.make_node("Add", [whole, f"{out}_exact"], [out]))
            instead[id(node)] = []
        instead[id(nodes[0])] = made
    for node in graph.node:
        if node.op_type == "Gather" and node.input[0] in values and _is_large(values[node.input[0]]):
            instead[id(node)] = _gather_rows(node, values)
    nodes = [new for node in graph.node for new in instead.get(id(node), [node])]
    read = {name for node in nodes for name in node.input}
    del graph.node[:]
    graph.node.extend(nodes)
    del graph.initializer[:]
    graph.initializer.extend(tensor for name, tensor in values.items() if name in read)
    if all(opset.domain != _DOMAIN for opset in model.opset_import):
        model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    onnx.save(model, str(target))
    return chosen[::-1]


def _products(graph: Any) -> dict[str, list[Any]]:
    """The products with a constant matrix, by the tensor that they read, in the order of the graph."""
    values = {tensor.name: tensor for tensor in graph.initializer}
    found: dict[str, list[Any]] = defaultdict(list)
    for node in graph.node:
        if _is_product(node, values):
            found[node.input[0]].append(node)
    return dict(found)


def _is_product(node: Any, values: Mapping[str, Any]) -> bool:
    matrix = values.get(node.input[1]) if node.op_type == "MatMul" else None
    return matrix is not None and len(matrix.dims) == 2 and node.input[0] not in values


def _values_of(name: str, makers: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[str, str] | None:
    """Where an attention's output is scaled for nothing: the product that makes its values, and their bias."""
    attention = makers.get(name)
    if attention is None or attention.op_type != "MultiHeadAttention" or len(attention.input) < 3:
        return None
    biased = makers.get(attention.input[2])
    if biased is None or biased.op_type != "Add":
        return None
    biases = [part for part in biased.input if part in values]
    products = [part for part in biased.input if part in makers and _is_product(makers[part], values)]
    return (products[0], biases[0]) if len(biases) == len(products) == 1 else None


def _keep(values: dict[str, Any], name: str, array: Any) -> str:
    values[name] = numpy_helper.from_array(np.asarray(array), name)
    return name


def _is_large(tensor: Any) -> bool:
    return len(tensor.dims) == 2 and tensor.data_type == TensorProto.FLOAT and int(np.prod(tensor.dims)) >= _TABLE


def _gather_rows(node: Any, values: dict[str, Any]) -> list[Any]:
    """Nodes that look rows up in an int8 table with a scale for each row."""
    name, (places, out) = node.input[0], (node.input[1], node.output[0])
    table = numpy_helper.to_array(values[name]).astype(np.float32)
    scales = (np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-9) / _TOP).astype(np.float32)
    _keep(values, f"{name}_int8", np.rint(table / scales).astype(np.int8))
    _keep(values, f"{name}_scales", scales)
    return [
        helper.make_node("Gather", [f"{name}_int8", places], [f"{out}_int8"]),
        helper.make_node("Cast", [f"{out}_int8"], [f"{out}_whole"], to=TensorProto.FLOAT),
        helper.make_node("Gather", [f"{name}_scales", places], [f"{out}_scales"]),
        helper.make_node("Mul", [f"{out}_whole", f"{out}_scales"], [out]),
    ]
