"""Int8 with ranges chosen on text: the parts, the graph, and what it loses against fp32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from linecls.errors import LineclsError  # noqa: E402
from linecls.quantising import (  # noqa: E402
    Inputs,
    best_range,
    observe,
    outlying,
    quantise,
    quantise_encoder,
    round_inputs,
    round_weights,
    smoothing,
    steps,
)
from linecls.session import Session  # noqa: E402

WORDS, WIDTH, WIDE = 3000, 384, 512  # a word table large enough to be quantised


def seen(rows: np.ndarray) -> Inputs:
    return Inputs(rows.min(axis=0), rows.max(axis=0), rows)


@given(low=st.floats(-50, 0), high=st.floats(0, 50), seed=st.integers(0, 99))
def test_inputs_within_the_range_are_off_by_half_a_step_and_zero_stays_zero(low: float, high: float, seed: int) -> None:
    rows = np.random.default_rng(seed).uniform(low, high, (20, 3)).astype(np.float32)
    scale, _ = steps((low, high))
    # The zero point is whole, so a bound may lie half a step off.
    assert np.abs(round_inputs(rows, (low, high)) - rows).max() <= 1.01 * scale + 1e-6
    assert not round_inputs(np.zeros((2, 3), np.float32), (low, high)).any()


def test_a_range_leaves_out_a_rare_outlier_that_does_not_matter() -> None:
    rows = np.random.default_rng(0).normal(size=(500, 40)).astype(np.float32)
    rows[7, 3] = 100.0
    weights = np.ones((40, 4), np.float32)
    weights[3] = 1e-3
    low, high = best_range(rows, weights)
    assert high < 30
    assert low < -2
    weights[3] = 10.0
    assert best_range(rows, weights)[1] > 90


@settings(max_examples=20)
@given(seed=st.integers(0, 999), rows=st.integers(1, 90), columns=st.integers(1, 5), rank=st.integers(1, 40))
def test_rounded_weights_are_whole_and_lose_no_more_than_the_nearest(
    seed: int, rows: int, columns: int, rank: int
) -> None:
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(400, rank)) @ rng.normal(size=(rank, rows))  # channels that depend on one another
    weights = rng.normal(size=(rows, columns)).astype(np.float32)
    scales = (np.abs(weights).max(axis=0) / 127).astype(np.float32)
    whole = round_weights(weights, scales, inputs.T @ inputs)
    assert np.array_equal(whole, np.rint(whole))
    assert np.abs(whole).max() <= 127

    def error(values: np.ndarray) -> float:
        return float(np.square(inputs @ (values * scales - weights)).sum())

    # A bound of the greedy choice in expectation; a single draw may lie above it.
    assert error(whole) <= 2 * error(np.rint(weights / scales)) + 1e-6


def test_rounding_weights_helps_where_channels_depend_on_one_another() -> None:
    rng = np.random.default_rng(4)
    inputs = rng.normal(size=(2000, 6)) @ rng.normal(size=(6, 96)) + 0.05 * rng.normal(size=(2000, 96))
    weights = rng.normal(size=(96, 32)).astype(np.float32)
    scales = (np.abs(weights).max(axis=0) / 127).astype(np.float32)
    errors = [
        np.square(inputs @ (whole * scales - weights)).mean()
        for whole in (round_weights(weights, scales, inputs.T @ inputs), np.rint(weights / scales))
    ]
    assert errors[0] < 0.2 * errors[1]


def test_smoothing_evens_the_channels_out() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 30)).astype(np.float32)
    rows[:, 4] *= 40
    weights = rng.normal(size=(30, 8)).astype(np.float32)
    division = smoothing(seen(rows), weights, 1.0)
    spread = np.quantile(np.abs(rows / division), 0.999, axis=0)
    np.testing.assert_allclose(spread, spread[0], rtol=1e-4)
    assert np.prod(division.astype(np.float64)) == pytest.approx(1, rel=1e-3)
    assert (smoothing(seen(rows), weights, None) == 1).all()


def test_outlying_channels_are_those_that_reach_furthest() -> None:
    rows = np.ones((5, 6), np.float32)
    rows[2, 1], rows[3, 4] = -50, 30
    weights = np.ones((6, 2), np.float32)
    weights[5, 0] = 35
    assert outlying(seen(rows), weights, 0).tolist() == []
    assert outlying(seen(rows), weights, 1).tolist() == [1]
    assert outlying(seen(rows), weights, 2).tolist() == [1, 5]


# --- a graph ----------------------------------------------------------------------------------------------------------


def write_graph(path: Path, seed: int = 0) -> Path:
    """A layer like BERT's: word table, norm with one large channel, attention, a GELU with one large unit."""
    rng = np.random.default_rng(seed)
    gain = np.ones(WIDTH, np.float32)
    gain[9] = 30.0
    inner = rng.normal(size=(WIDTH, WIDE)).astype(np.float32) * 0.03
    inner[:, 70] = 0.0
    inner[9, 70] = 1.0  # the large channel makes a large unit
    outer = rng.normal(size=(WIDE, WIDTH)).astype(np.float32) * 0.1
    outer[70] *= 2
    values = {
        "table": rng.normal(size=(WORDS, WIDTH)).astype(np.float32),
        "gain": gain,
        "shift": np.zeros(WIDTH, np.float32),
        **{f"w{part}": rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) * 0.05 for part in "qkvo"},
        **{f"b{part}": rng.normal(size=WIDTH).astype(np.float32) for part in "qkv"},
        "inner": inner,
        "outer": outer,
        "one": np.ones(WIDTH, np.float32),
    }

    def node(kind: str, inputs: list[str], output: str, **attributes: object) -> onnx.NodeProto:
        domain = "com.microsoft" if kind in ("MultiHeadAttention", "Gelu") else ""
        return helper.make_node(kind, inputs, [output], domain=domain, **attributes)

    nodes = [
        node("Gather", ["table", "input_ids"], "words"),
        node("LayerNormalization", ["words", "gain", "shift"], "normed", axis=-1),
        *(n for p in "qkv" for n in (node("MatMul", ["normed", f"w{p}"], f"m{p}"), node("Add", [f"m{p}", f"b{p}"], p))),
        node("Cast", ["attention_mask"], "padding", to=TensorProto.INT32),
        node("MultiHeadAttention", ["q", "k", "v", "", "padding"], "mixed", num_heads=4),
        node("MatMul", ["mixed", "wo"], "attended"),
        node("Add", ["attended", "normed"], "skipped"),
        node("LayerNormalization", ["skipped", "gain", "shift"], "again", axis=-1),
        node("MatMul", ["again", "inner"], "inside"),
        node("Gelu", ["inside"], "active"),
        node("MatMul", ["active", "outer"], "outside"),
        node("Add", ["outside", "again"], "last"),
        node("LayerNormalization", ["last", "one", "shift"], "states", axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "layer",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["w", "t"]) for n in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["w", "t", WIDTH])],
        [numpy_helper.from_array(array, name) for name, array in values.items()],
        value_info=[  # shape inference stops at operators of another domain
            helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
            for made in nodes
            for name in made.output
            if name not in ("padding", "states")
        ],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), str(path))
    return path


def calls(seed: int, count: int = 12) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        ids = rng.integers(0, WORDS, (4, 24))
        mask = np.ones_like(ids)
        mask[1, 15:] = 0
        found.append({"input_ids": ids, "attention_mask": mask})
    return found


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("quantising")
    paths = {name: folder / f"{name}.onnx" for name in ("fp32", "dynamic", "calibrated")}
    write_graph(paths["fp32"])
    quantise(paths["fp32"], paths["dynamic"], per_channel=True)
    quantise_encoder(paths["fp32"], paths["calibrated"], observe(paths["fp32"], calls(1)))
    return paths


def run(path: Path, feeds: dict[str, np.ndarray]) -> np.ndarray:
    return Session(path, ["states"], device="cpu", threads=1).run(feeds)[0]


def test_what_is_observed_is_what_the_products_read(graphs: dict[str, Path]) -> None:
    inputs = observe(graphs["fp32"], calls(1))
    assert list(inputs) == ["normed", "mixed", "again", "active"]
    assert inputs["normed"].sample.shape == (12 * (4 * 24 - 9), WIDTH)  # padding is left out
    for found in inputs.values():
        np.testing.assert_array_equal(found.sample.max(axis=0), found.high)
        np.testing.assert_array_equal(found.sample.min(axis=0), found.low)
    with pytest.raises(LineclsError, match="no text"):
        observe(graphs["fp32"], [])


def test_calibrated_int8_loses_less_than_dynamic_int8(graphs: dict[str, Path]) -> None:
    feeds = calls(2, 1)[0]
    real = feeds["attention_mask"].astype(bool)
    wanted = run(graphs["fp32"], feeds)[real]
    lost = {name: np.abs(run(graphs[name], feeds)[real] - wanted).mean() for name in ("dynamic", "calibrated")}
    assert lost["calibrated"] < 0.5 * lost["dynamic"]
    assert graphs["calibrated"].stat().st_size < 1.05 * graphs["dynamic"].stat().st_size


def test_every_remedy_is_used_where_it_belongs(graphs: dict[str, Path], tmp_path: Path) -> None:
    products = quantise_encoder(graphs["fp32"], tmp_path / "again.onnx", observe(graphs["fp32"], calls(1)))
    assert (tmp_path / "again.onnx").read_bytes() == graphs["calibrated"].read_bytes()
    found = {product.inputs: product for product in products}
    assert list(found) == ["normed", "mixed", "again", "active"]
    assert found["normed"].exponent
    assert found["again"].exponent
    assert found["active"].exact
    graph = onnx.load(str(graphs["calibrated"])).graph
    kinds = [node.op_type for node in graph.node]
    assert kinds.count("MatMulIntegerToFloat") == 6
    assert kinds.count("QuantizeLinear") == 4
    assert kinds.count("Mul") == 2 + 1  # both norms, and the rows of the word table
    assert max(np.prod(tensor.dims) for tensor in graph.initializer if tensor.data_type == TensorProto.FLOAT) < 4096


def test_a_row_is_the_same_whatever_else_is_in_its_call(graphs: dict[str, Path]) -> None:
    assert Session(graphs["calibrated"], ["states"], device="cpu").batch_invariant
    feeds = calls(3, 1)[0]
    together = run(graphs["calibrated"], feeds)
    for row in range(4):
        alone = run(graphs["calibrated"], {name: array[row : row + 1] for name, array in feeds.items()})
        np.testing.assert_array_equal(alone[0], together[row])
