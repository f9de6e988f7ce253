"""Torch and ONNX agree; a checkpoint becomes a model directory that prunes."""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")
pytest.importorskip("onnxscript")

from click.testing import CliRunner  # noqa: E402
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

from linecls import exporting  # noqa: E402
from linecls.artifact import Artifact  # noqa: E402
from linecls.cli import main  # noqa: E402
from linecls.encoding import EncodingConfig  # noqa: E402
from linecls.errors import LineclsError  # noqa: E402
from linecls.observation import Observation  # noqa: E402
from linecls.pruner import Pruner  # noqa: E402
from linecls.records import Record, write_records  # noqa: E402

TINY_BERT: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 128,
}


def write_checkpoint(path: Path, backbone: Path, reading: str) -> Path:
    from linecls.model.classifier import ClassifierConfig
    from linecls.training.module import LineModule, LossConfig, OptimiserConfig

    torch.manual_seed(3)
    module = LineModule(
        str(backbone),
        EncodingConfig.from_dict(
            {"reading": reading, "window_tokens": 64, "max_line_tokens": 24, "max_query_tokens": 16}
        ),
        ClassifierConfig(width=32, layers=2, heads=2),
        OptimiserConfig(),
        LossConfig(),
        backbone_config=TINY_BERT,
    )
    for parameter in module.model.parameters():
        if parameter.ndim == 1:
            torch.nn.init.normal_(parameter, mean=0.5, std=0.3)
    torch.nn.init.normal_(module.model.head[-1].weight, std=0.2)
    checkpoint: dict[str, Any] = {"state_dict": module.state_dict()}
    module.on_save_checkpoint(checkpoint)
    torch.save(checkpoint, path)
    return path


@pytest.fixture(scope="module", params=["apart", "joint"])
def exported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer_path: Path
) -> tuple[exporting.Checkpoint, Path]:
    folder = tmp_path_factory.mktemp(f"export-{request.param}")
    path = write_checkpoint(folder / "tiny.ckpt", tiny_tokenizer_path.parent, request.param)
    checkpoint = exporting.load_checkpoint(path)
    exporting.export(checkpoint, folder / "model", check_on=[("login", "a\nlogin failed\n\nb\n" * 9)])
    return checkpoint, folder / "model"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    query=st.text(max_size=80),
    lines=st.lists(st.sampled_from(["", "login test", "cache key changed in src", "x" * 90, "é\x1b[31mred"])).filter(
        any
    ),
)
def test_torch_and_onnx_agree(exported: tuple[exporting.Checkpoint, Path], query: str, lines: list[str]) -> None:
    checkpoint, directory = exported
    network = Pruner.from_pretrained(directory, device="cpu", variant="fp32").network
    pairs = exporting.example_pairs(checkpoint.encoder, [(query, "\n".join(lines))])
    assert exporting.parity(checkpoint.model, network, pairs) <= exporting.PARITY


def test_exported_model_prunes_and_states_where_it_comes_from(
    exported: tuple[exporting.Checkpoint, Path],
) -> None:
    _, directory = exported
    artifact = Artifact.load(directory)
    assert artifact.files == {
        "int8": {"encoder": "encoder-int8.onnx", "scorer": "scorer.onnx"},
        "fp32": {"encoder": "encoder-fp32.onnx", "scorer": "scorer.onnx"},
    }
    assert artifact.providers == {"cpu": "int8", "cuda": "fp32"}
    fused = artifact.provenance["fused_operators"]
    assert (fused["MultiHeadAttention"], fused["LayerNormalization"], fused["BiasGelu"]) == (2, 5, 2)
    assert fused["SkipLayerNormalization"] == 0  # slower on a CPU than its parts
    assert artifact.provenance["classifier"]["width"] == 32
    assert artifact.provenance["torch_onnx_difference"] <= exporting.PARITY
    observation = "collected 12 items\nFAILED tests/test_login.py\n" * 10
    pruning = Pruner.from_pretrained(directory, device="cpu").prune("login test", observation, max_lines=3)
    assert pruning.keep_logits.shape == (20,)
    assert pruning.kept_lines <= 3


@pytest.fixture(scope="module")
def modernbert(tiny_tokenizer_path: Path) -> exporting.Checkpoint:
    from linecls.model.backbone import Backbone
    from linecls.model.classifier import ClassifierConfig, LineClassifier

    torch.manual_seed(5)
    tokenizer = Tokenizer.from_file(str(tiny_tokenizer_path))
    special = {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
    backbone = Backbone(
        "tiny",
        config={
            "model_type": "modernbert",
            "vocab_size": tokenizer.get_vocab_size(),
            "hidden_size": 16,
            "num_hidden_layers": 3,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "max_position_embeddings": 8192,
            "local_attention": 32,
            "global_attn_every_n_layers": 3,
            **special,
        },
    )
    model = LineClassifier(backbone, ClassifierConfig(width=32, layers=1, heads=2, span_scores=True)).eval()
    for parameter in model.parameters():
        if parameter.ndim == 1:
            torch.nn.init.normal_(parameter, mean=0.5, std=0.3)
    torch.nn.init.normal_(model.head[-1].weight, std=0.2)
    torch.nn.init.normal_(model.span_head.head[-1].weight, std=0.2)
    encoding = EncodingConfig(window_tokens=8192, max_query_tokens=16, context_tokens=64)
    return exporting.Checkpoint(model, encoding, tokenizer, {"backbone": "modernbert"})


SHORT = "the login cache key failed on port 8080\n\nb\n" * 60
LONG = "".join(f"login {n % 10} of the cache failed on port\n" for n in range(400))


@pytest.fixture(scope="module")
def modernbert_dir(modernbert: exporting.Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All variants, span scores too."""
    directory = tmp_path_factory.mktemp("modernbert") / "model"
    exporting.export(modernbert, directory, variants=exporting.VARIANTS, check_on=[("login failed", SHORT)])
    return directory


def test_modernbert_exports_in_every_variant(modernbert: exporting.Checkpoint, modernbert_dir: Path) -> None:
    artifact = Artifact.load(modernbert_dir)
    assert artifact.provenance["torch_onnx_difference"] <= exporting.PARITY
    assert artifact.provenance["fused_operators"]["MultiHeadAttention"] == 1  # of three, one looks at all tokens
    assert artifact.providers == {"cpu": "int8", "cuda": "fp16"}
    sizes = {name: artifact.graphs(name)["encoder"].stat().st_size for name in exporting.VARIANTS}
    assert sizes["int8"] < sizes["fp32"] > sizes["fp16"]
    for query, text in (("login failed", LONG), ("?", SHORT[:700])):  # windows of 3,000 tokens, and one of 200
        logits = {
            name: Pruner.from_pretrained(modernbert_dir, device="cpu", variant=name, threads=1)
            .prune(query, text)
            .keep_logits
            for name in exporting.VARIANTS
        }
        spread = float(logits["fp32"].std())
        # A share of the logit itself too: sums over the lines of a span may be far larger than their differences.
        np.testing.assert_allclose(logits["fp16"], logits["fp32"], atol=0.1 * spread, rtol=2**-9)
        np.testing.assert_allclose(logits["int8"], logits["fp32"], atol=0.5 * spread, rtol=2**-5)
        assert np.corrcoef(logits["int8"], logits["fp32"])[0, 1] > 0.9


def test_modernbert_with_long_windows_agrees_with_torch(modernbert: exporting.Checkpoint, modernbert_dir: Path) -> None:
    pruner = Pruner.from_pretrained(modernbert_dir, device="cpu", threads=1, variant="fp32")
    (segment,) = pruner.encoder.segments(Observation.of(LONG))
    assert max(len(row) for row in pruner.encoder.windows(segment).rows) > 3000
    pairs = exporting.example_pairs(modernbert.encoder, [("login", LONG)])
    # More tokens, more rounding; a wrong mask or angle is off by whole logits here.
    assert exporting.parity(modernbert.model, pruner.network, pairs) <= 10 * exporting.PARITY


@pytest.mark.parametrize("variant", exporting.VARIANTS)
def test_nothing_in_modernbert_s_graph_grows_with_the_square_of_the_tokens(
    modernbert_dir: Path, tmp_path: Path, variant: str
) -> None:
    """By the runtime's own account of every operator's output. What MultiHeadAttention holds inside is not seen."""
    graph = Artifact.load(modernbert_dir).graphs(variant)["encoder"]
    one, other = (largest_output(graph, width, tmp_path / str(width)) for width in (1500, 3000))
    assert other == pytest.approx(2 * one, rel=0.05)


def test_angles_stay_in_float32_where_the_rest_is_float16(modernbert_dir: Path) -> None:
    """A CPU computes float16 in float32, so the logits do not tell: the graph does."""
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(str(Artifact.load(modernbert_dir).graphs("fp16")["encoder"])).graph
    makers = {name: node for node in graph.node for name in node.output}
    kinds = {tensor.name: tensor.data_type for tensor in graph.initializer}
    assert onnx.TensorProto.FLOAT16 in kinds.values()
    ahead = [name for node in graph.node if node.op_type in ("Cos", "Sin") for name in node.input]
    assert ahead
    seen: set[str] = set()
    while ahead:
        name = ahead.pop()
        if name in seen:
            continue
        seen.add(name)
        assert kinds.get(name) != onnx.TensorProto.FLOAT16
        if name in makers:
            assert not [a for a in makers[name].attribute if a.name == "to" and a.i == onnx.TensorProto.FLOAT16]
            ahead += makers[name].input
    assert len(seen) > 4


def largest_output(graph: Path, width: int, prefix: Path) -> int:
    """Numbers in the largest output of any operator for one window of `width` tokens."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_profiling, options.profile_file_prefix, options.intra_op_num_threads = True, str(prefix), 1
    session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    ids = np.arange(width, dtype=np.int64)[None] % 100
    session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
    events = json.loads(Path(session.end_profiling()).read_text())
    shapes = [
        shape for e in events for item in e.get("args", {}).get("output_type_shape", []) for shape in item.values()
    ]
    assert len(shapes) > 50
    return max(math.prod(shape) for shape in shapes)


@settings(max_examples=40)
@given(lengths=st.lists(st.integers(1, 50), min_size=1, max_size=3), reach=st.integers(1, 20), seed=st.integers(0, 99))
def test_attention_in_blocks_is_attention_behind_a_mask(lengths: list[int], reach: int, seed: int) -> None:
    from linecls.model.sliding import nearby

    torch.manual_seed(seed)
    query, key, value = torch.randn(3, len(lengths), max(lengths), 2, 4).unbind(0)
    place = torch.arange(max(lengths))
    mask = (place < torch.tensor(lengths)[:, None]).long()
    near = (place[None] - place[:, None]).abs() <= reach
    scores = torch.einsum("wqhd,wkhd->whqk", query, key) / 2
    scores = scores.masked_fill(~(near & mask[:, None, None, :].bool()), float("-inf"))
    wanted = torch.einsum("whqk,wkhd->wqhd", scores.softmax(-1), value)
    got = nearby(query, key, value, mask, reach)
    assert got.isfinite().all()
    for row, length in enumerate(lengths):
        torch.testing.assert_close(got[row, :length], wanted[row, :length], rtol=1e-4, atol=1e-5)


def test_exporting_leaves_the_model_as_it_was(modernbert: exporting.Checkpoint, modernbert_dir: Path) -> None:
    backbone = modernbert.model.backbone
    assert not [m for m in backbone.modules() if "forward" in vars(m)]
    ids = torch.arange(40).reshape(1, -1)
    assert backbone(ids, torch.ones_like(ids)).isfinite().all()


@pytest.mark.parametrize("variant", ["int8", "fp32"])
def test_graphs_say_nothing_of_the_machine(exported: tuple[exporting.Checkpoint, Path], variant: str) -> None:
    source = str(Path(exporting.__file__).parent.parent)
    for path in Artifact.load(exported[1]).graphs(variant).values():
        content = path.read_bytes()
        for word in (source, "site-packages", "stack_trace"):
            assert word.encode() not in content


def count_operators(graph: Path) -> Counter[str]:
    onnx = pytest.importorskip("onnx")
    return Counter(node.op_type for node in onnx.load(str(graph)).graph.node)


def test_half_precision_is_close(exported: tuple[exporting.Checkpoint, Path], tmp_path: Path) -> None:
    checkpoint, directory = exported
    artifact = exporting.export(checkpoint, tmp_path / "model", variants=["fp16"], check_on=[("login", "login\n" * 9)])
    assert artifact.files == {"fp16": {"encoder": "encoder-fp16.onnx", "scorer": "scorer.onnx"}}
    assert artifact.graphs()["encoder"].stat().st_size < (directory / "encoder-fp32.onnx").stat().st_size
    assert count_operators(artifact.graphs()["encoder"])["SkipLayerNormalization"] == 4  # for a GPU
    observation = "collected 12 items\nFAILED tests/test_login.py\n" * 10
    full, half = (
        Pruner.from_pretrained(where, device="cpu", variant=variant).prune("login test", observation).keep_logits
        for where, variant in ((directory, "fp32"), (tmp_path / "model", "fp16"))
    )
    np.testing.assert_allclose(half, full, atol=0.1)


def test_int8_calibrated_on_text(exported: tuple[exporting.Checkpoint, Path], tmp_path: Path) -> None:
    checkpoint, directory = exported
    texts = [("login test", "collected 12 items\nFAILED tests/test_login.py\n" * 30), ("cache key", SHORT)]
    artifact = exporting.export(checkpoint, tmp_path / "model", variants=["int8"], calibrate_on=texts)
    errors = artifact.provenance["int8_errors"]
    assert len(errors) == 2 * 4  # two layers: query, key and value; attention; two of the feed-forward block
    assert max(errors.values()) < 0.1
    pruners = {
        "fp32": Pruner.from_pretrained(directory, device="cpu", variant="fp32"),
        "int8": Pruner.from_pretrained(tmp_path / "model", device="cpu"),
    }
    assert pruners["int8"].network.batch_invariant
    full, whole = (pruner.prune("login failed", SHORT).keep_logits for pruner in pruners.values())
    assert np.abs(whole - full).mean() < 0.2 * full.std()


def test_calibration_text_is_drawn_evenly_and_once(exported: tuple[exporting.Checkpoint, Path]) -> None:
    def source(word: str, count: int) -> list[Record]:
        return [
            Record(query=f"{word} {n % 2}", tool_output=f"{word} {n // 2}\n", gold_spans=[]) for n in range(2 * count)
        ]

    pairs = exporting.calibration_pairs([source("login", 30), source("cache", 3)], limit=20)
    assert [text.split()[0] for _, text in pairs] == ["login"] * 10 + ["cache"] * 3
    assert len({text for _, text in pairs}) == 13
    assert pairs == exporting.calibration_pairs([source("login", 30), source("cache", 3)], limit=20)
    calls = list(exporting.calibration_calls(exported[0].encoder, [("login", SHORT)]))
    assert sum(len(call["input_ids"]) for call in calls) <= 1 + 8
    assert all(call["attention_mask"].any(axis=1).all() for call in calls)
    with pytest.raises(LineclsError, match="no records to calibrate on"):
        exporting.calibration_pairs([[]])


@pytest.mark.parametrize("form", [{"pooling": "vote", "layers": 0}, {"line_scope": "window"}])
def test_forms_for_comparison_are_refused(
    exported: tuple[exporting.Checkpoint, Path], tmp_path: Path, form: dict[str, Any]
) -> None:
    checkpoint, _ = exported
    model = copy.deepcopy(checkpoint.model)
    model.config = replace(model.config, **form)
    with pytest.raises(LineclsError, match="not exported"):
        exporting.export(replace(checkpoint, model=model), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_unknown_variant_is_named(exported: tuple[exporting.Checkpoint, Path], tmp_path: Path) -> None:
    with pytest.raises(LineclsError, match="unknown variant 'int4'; use int8, fp16, fp32"):
        exporting.export(exported[0], tmp_path / "model", variants=["int4"])


def test_parity_sees_a_difference(exported: tuple[exporting.Checkpoint, Path]) -> None:
    checkpoint, directory = exported
    pairs = list(exporting.example_pairs(checkpoint.encoder, [("login", "login failed\nb\nc\n")]))
    network = Pruner.from_pretrained(directory, device="cpu", variant="fp32").network
    weight = checkpoint.model.residual_scale.bias
    with torch.no_grad():
        weight += 0.01
    try:
        worst = exporting.parity(checkpoint.model, network, pairs)
    finally:
        with torch.no_grad():
            weight -= 0.01
    assert worst == pytest.approx(0.01, abs=1e-4)


def test_command_exports_and_tunes(tmp_path: Path, tiny_tokenizer_path: Path) -> None:
    checkpoint = write_checkpoint(tmp_path / "tiny.ckpt", tiny_tokenizer_path.parent, "apart")
    output = "collected 12 items\nthe cache key changed\nlistening on port 8080\n" * 4
    records = [
        Record(query="cache key", tool_output=output, gold_spans=[(2, 2)]),
        Record(query="which test fails", tool_output=output, gold_spans=[]),
    ]
    write_records(tmp_path / "dev.jsonl.gz", records)
    target = tmp_path / "model"
    arguments = ["export", str(checkpoint), "-o", str(target), "--variant", "int8"]
    dev = str(tmp_path / "dev.jsonl.gz")
    result = CliRunner().invoke(main, [*arguments, "--tune", dev, "--calibrate", dev])
    assert result.exit_code == 0, result.output
    artifact = Artifact.load(target)
    assert artifact.provenance["int8_errors"]
    assert "fused operators of the encoder: MultiHeadAttention 2, LayerNormalization 5" in result.stderr
    assert artifact.default_operating_point == "f1"
    assert set(artifact.operating_points) == {"f1", "recall"}
    assert list(artifact.files) == ["int8"]


def test_what_is_no_checkpoint_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ckpt"
    broken.write_bytes(b"not a checkpoint")
    with pytest.raises(LineclsError, match=r"broken\.ckpt is no checkpoint"):
        exporting.load_checkpoint(broken)
    with pytest.raises(LineclsError, match="cannot read the checkpoint"):
        exporting.load_checkpoint(tmp_path / "absent.ckpt")
