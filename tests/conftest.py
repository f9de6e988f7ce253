"""A tiny line classifier with random weights, exported once per run; a fake of it where torch is not needed."""

from __future__ import annotations

from pathlib import Path

import pytest

SENTENCES = [
    "FAILED tests/test_login.py::test_session_expires - AssertionError: 401 != 200",
    "E   ConnectionRefusedError: [Errno 111] connection refused by the login service",
    "collected 12 items, 11 passed and 1 failed in 3.42 seconds",
    "warning: unused variable `cache_key` in src/cache.rs at line 48",
    "the cache key changed when the schema of the session table did",
    "listening on port 8080, ready to serve requests from the local network",
    "why does the login test fail and which file changed the cache key",
]


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    """Our own text, the tiny tokenizer's training data."""
    return list(SENTENCES)


@pytest.fixture(scope="session")
def tiny_tokenizer_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WordPiece tokenizer of a few hundred entries."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(scope="session")
def tiny_model_dir(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer_path: Path) -> Path:
    """A model directory with a random two-layer BERT: int8 by default, fp32 beside it."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    from onnxruntime.quantization import quantize_dynamic
    from tokenizers import Tokenizer

    from linecls.artifact import write_artifact
    from linecls.decoding import OperatingPoint
    from linecls.encoding import INPUT_NAMES, EncodingConfig, Pair, WindowEncoder, collate
    from linecls.model.backbone import Backbone
    from linecls.model.classifier import ClassifierConfig, LineClassifier
    from linecls.observation import Observation

    torch.manual_seed(0)
    tokenizer = Tokenizer.from_file(str(tiny_tokenizer_path))
    backbone = Backbone(
        "tiny",
        config={
            "model_type": "bert",
            "vocab_size": tokenizer.get_vocab_size(),
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "max_position_embeddings": 128,
        },
    )
    model = LineClassifier(backbone, ClassifierConfig(width=32, layers=2, heads=2)).eval()
    encoding = EncodingConfig(
        window_tokens=64, max_line_tokens=24, max_query_tokens=16, context_tokens=8, max_lines=64, overlap_lines=16
    )
    encoder = WindowEncoder(tokenizer, encoding)
    pairs = []
    for query, repeats in (("why does the login test fail", 12), ("cache key", 3)):
        tokens = encoder.query(query)
        for segment in encoder.segments(Observation.of("\n".join(SENTENCES * repeats))):
            pairs.append(Pair(tokens, segment, encoder.windows(segment), encoder.features(segment, tokens)))
    batch = collate(pairs)
    folder = tmp_path_factory.mktemp("graphs")
    torch.onnx.export(
        model,
        tuple(torch.from_numpy(batch[name]) for name in INPUT_NAMES),
        str(folder / "fp32.onnx"),
        input_names=list(INPUT_NAMES),
        output_names=["keep_logits", "answerable_logits"],
        dynamo=True,
        dynamic_shapes={
            name: {axis: torch.export.Dim.DYNAMIC for axis in range(min(batch[name].ndim, 2))} for name in INPUT_NAMES
        },
        opset_version=18,
        external_data=False,
        verbose=False,
    )
    quantize_dynamic(folder / "fp32.onnx", folder / "int8.onnx")
    return write_artifact(
        tmp_path_factory.mktemp("models") / "tiny",
        name="tiny",
        version="1",
        encoding=encoding,
        graphs={"int8": folder / "int8.onnx", "fp32": folder / "fp32.onnx"},
        tokenizer=tiny_tokenizer_path,
        operating_points={"default": OperatingPoint(), "wide": OperatingPoint(bias=-50.0)},
    ).directory
