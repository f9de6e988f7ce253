"""Fused operators for an exported encoder: what ONNX Runtime's own optimiser does not find in torch's graphs.

Needs the extra `export`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

_DOMAIN = "com.microsoft"
_HEADS_APART = [0, 2, 1, 3]  # [W, T, heads, d] -> [W, heads, T, d]
_KEYS_APART = [0, 2, 3, 1]
_FLOAT = onnx.TensorProto.FLOAT
FUSED = ("MultiHeadAttention", "SkipLayerNormalization", "LayerNormalization", "BiasGelu", "Gelu")


def fuse_encoder(source: Path, target: Path, *, half: bool = False) -> dict[str, int]:
    """Write `source` with fused operators; give how many there are of each of `FUSED`.

    Layer norms and GELUs by ONNX Runtime's transformers optimiser, attention by `fuse_attention`.
    half: for a GPU: weights and activations in float16, inputs and outputs as before; the angles of rotary
    positions stay in float32; skip connections are one with their norm. On a CPU the two apart take less than half
    the time of SkipLayerNormalization (runtime 1.32), whose sums are not vectorised.
    """
    from onnxruntime.transformers.fusion_options import FusionOptions
    from onnxruntime.transformers.optimizer import optimize_model

    options = FusionOptions("bert")
    options.enable_attention = False
    options.enable_skip_layer_norm = half
    options.enable_bias_skip_layer_norm = half
    model = onnx.load(str(source))
    _give_norms_a_bias(model.graph)
    onnx.save(model, str(target))
    fused = optimize_model(str(target), model_type="bert", optimization_options=options, opt_level=0)
    fuse_attention(fused.model)
    if all(opset.domain != _DOMAIN for opset in fused.model.opset_import):
        fused.model.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    if half:
        fused.convert_float_to_float16(keep_io_types=True, node_block_list=_angles(fused.model.graph))
        fused.topological_sort()
        _drop_round_trips(fused.model.graph)
    onnx.save(fused.model, str(target))
    found = Counter(node.op_type for node in fused.model.graph.node)
    return {name: found[name] for name in FUSED}


def fuse_attention(model: onnx.ModelProto) -> int:
    """Replace eager attention over all tokens of a row by MultiHeadAttention; give how many were replaced.

    Only where queries, keys and values are plain splits of [W, T, hidden] into heads and the mask is that of
    padding (BERT and its like); rotary positions and local attention stay as they are.
    """
    graph = model.graph
    makers = {name: node for node in graph.node for name in node.output}
    readers: dict[str, list[Any]] = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            readers[name].append(node)
    values = {tensor.name: tensor for tensor in graph.initializer}
    matches = [m for n in graph.node if n.op_type == "Softmax" and (m := _match(n, makers.get, readers, values))]
    if not matches:
        return 0
    gone: set[int] = set()
    fused: dict[int, Any] = {}
    for inside, node in matches:
        gone.update(map(id, inside))
        fused[id(inside[-1])] = node
    nodes = [fused.get(id(node)) or node for node in graph.node if id(node) in fused or id(node) not in gone]
    nodes.insert(0, helper.make_node("Cast", ["attention_mask"], ["padding_mask"], to=onnx.TensorProto.INT32))
    del graph.node[:]
    graph.node.extend(nodes)
    _drop_unread(graph)
    return len(matches)


def _match(
    softmax: Any, maker: Callable[[str], Any], readers: dict[str, list[Any]], values: dict[str, Any]
) -> tuple[list[Any], Any] | None:
    """The nodes of one attention, its last one last, and the node that takes their place; None for another form."""

    def step_back(node: Any, index: int, *kinds: str) -> Any:
        before = maker(node.input[index]) if node is not None else None
        return before if before is not None and before.op_type in kinds else None

    def step_on(node: Any, kind: str) -> Any:
        after = readers[node.output[0]] if node is not None else []
        return after[0] if len(after) == 1 and after[0].op_type == kind else None

    def heads(node: Any, index: int, order: list[int]) -> tuple[Any, Any]:
        turned = step_back(node, index, "Transpose")
        if turned is None or list(turned.attribute[0].ints) != order:
            return None, None
        return turned, step_back(turned, 0, "Reshape")

    masked = step_back(softmax, 0, "Add")
    scaled = step_back(masked, 0, "Div", "Mul")
    scores = step_back(scaled, 0, "MatMul")
    mixed = step_on(softmax, "MatMul")
    merged = step_on(mixed, "Transpose")
    last = step_on(merged, "Reshape")
    if scores is None or last is None or scaled.input[1] not in values or not _is_padding(masked.input[1], maker):
        return None
    parts = (heads(scores, 0, _HEADS_APART), heads(scores, 1, _KEYS_APART), heads(mixed, 1, _HEADS_APART))
    if any(shaped is None for _, shaped in parts):
        return None
    count = _last_two(parts[0][1], maker, values)
    if count is None:
        return None
    factor = float(numpy_helper.to_array(values[scaled.input[1]]))
    names = [shaped.input[0] for _, shaped in parts]
    node = helper.make_node(
        "MultiHeadAttention",
        [*names, "", "padding_mask"],
        list(last.output),
        domain=_DOMAIN,
        name=f"attention_{last.output[0]}",
        num_heads=count,
        scale=1 / factor if scaled.op_type == "Div" else factor,
    )
    inside = [masked, scaled, scores, softmax, mixed, merged, *(n for part in parts for n in part), last]
    return inside, node


def _is_padding(name: str, maker: Callable[[str], Any]) -> bool:
    """Whether a mask is (1 - attention_mask) * lowest, the same for every query token."""
    product = maker(name)
    difference = maker(product.input[0]) if product is not None and product.op_type == "Mul" else None
    while difference is not None and difference.op_type in ("Sub", "Cast", "Unsqueeze", "Expand"):
        source = difference.input[-1 if difference.op_type == "Sub" else 0]
        if source == "attention_mask":
            return True
        difference = maker(source)
    return False


def _last_two(reshape: Any, maker: Callable[[str], Any], values: dict[str, Any]) -> int | None:
    """Number of heads in the shape [W, T, heads, d] of a Reshape."""
    shape = maker(reshape.input[1])
    sizes = [name for name in ([] if shape is None else shape.input) if name in values]
    flat = np.concatenate([numpy_helper.to_array(values[name]).reshape(-1) for name in sizes] or [np.empty(0)])
    if len(flat) < 2:
        return None
    return int(flat[-2])


def _give_norms_a_bias(graph: Any) -> None:
    """The optimiser fails on a LayerNormalization without a bias (ModernBERT's): give it one of zeros."""
    values = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "LayerNormalization" and len(node.input) == 2 and node.input[1] in values:
            name = f"{node.input[1]}_no_bias"
            if name not in values:
                zeros = np.zeros_like(numpy_helper.to_array(values[node.input[1]]))
                values[name] = numpy_helper.from_array(zeros, name)
                graph.initializer.append(values[name])
            node.input.append(name)


def _angles(graph: Any) -> list[str]:
    """Names of the nodes that make cosines and sines of positions, from the first one on.

    Float16 has no odd number beyond 2,048: an angle of position times frequency would be wrong by whole turns.
    """
    makers = {name: node for node in graph.node for name in node.output}
    for number, node in enumerate(graph.node):
        node.name = node.name or f"node_{number}"
    found: dict[str, Any] = {}
    ahead = [node for node in graph.node if node.op_type in ("Cos", "Sin")]
    while ahead:
        node = ahead.pop()
        if node.name not in found:
            found[node.name] = node
            ahead += [makers[name] for name in node.input if name in makers]
    return list(found)


def _drop_round_trips(graph: Any) -> None:
    """Leave out casts to float16 and back that the conversion puts between two nodes that both stay in float32."""
    makers = {name: node for node in graph.node for name in node.output}
    exact: dict[str, str] = {}
    for node in graph.node:
        is_back = node.op_type == "Cast" and any(a.name == "to" and a.i == _FLOAT for a in node.attribute)
        before = makers.get(node.input[0]) if is_back else None
        if before is not None and before.op_type == "Cast" and before.name.endswith("_cast_to_fp16_node"):
            exact[node.output[0]] = before.input[0]
    for node in graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = exact.get(name, name)
    _drop_unread(graph)


def _drop_unread(graph: Any) -> None:
    """Leave out nodes and weights that nothing reads."""
    wanted = {output.name for output in graph.output}
    kept: list[Any] = []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(node.input)
    weights = [tensor for tensor in graph.initializer if tensor.name in wanted]
    del graph.node[:]
    graph.node.extend(reversed(kept))
    del graph.initializer[:]
    graph.initializer.extend(weights)
