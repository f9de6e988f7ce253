"""A tiny line classifier with random weights, exported once per run."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine must not turn a slow example into a failure.
# In CI the examples are the same every time; elsewhere new ones are tried.
settings.register_profile("linecls", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("linecls")

# No test starts or asks a resident process, or fills a store, that is the user's own.
os.environ["LINECLS_DAEMON"] = "0"
os.environ["LINECLS_STORE"] = tempfile.mkdtemp(prefix="linecls-tests-")
atexit.register(shutil.rmtree, os.environ["LINECLS_STORE"], ignore_errors=True)

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
    """A WordPiece tokenizer of a few hundred entries, the same in every run (what a trainer writes is not)."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    words = {word for sentence in SENTENCES for word in re.findall(r"[a-z]+|[0-9]+|[^\w\s]|_", sentence.lower())}
    letters = set("abcdefghijklmnopqrstuvwxyz0123456789_") | {letter for word in words for letter in word}
    pieces = {f"##{letter}" for letter in letters} | {
        f"##{word[n:]}" for word in words for n in range(2, len(word) - 1)
    }
    entries = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted(letters), *sorted(pieces), *sorted(words - letters)]
    tokenizer = Tokenizer(models.WordPiece({entry: n for n, entry in enumerate(entries)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(scope="session")
def tiny_model_dir(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer_path: Path) -> Path:
    """A model directory with a random two-layer BERT: int8 by default, fp32 beside it."""
    for module in ("torch", "transformers", "onnxscript"):
        pytest.importorskip(module)
    import torch
    from tokenizers import Tokenizer

    from linecls.decoding import OperatingPoint
    from linecls.encoding import EncodingConfig
    from linecls.exporting import Checkpoint, export
    from linecls.model.backbone import Backbone
    from linecls.model.classifier import ClassifierConfig, LineClassifier

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
        window_tokens=64,
        max_line_tokens=24,
        max_query_tokens=16,
        context_tokens=8,
        max_lines=64,
        overlap_lines=16,
    )
    return export(
        Checkpoint(model, encoding, tokenizer, {"seed": 0}),
        tmp_path_factory.mktemp("models") / "tiny",
        name="tiny",
        version="1",
        operating_points={"default": OperatingPoint(), "wide": OperatingPoint(bias=-50.0)},
        check_on=[("why does the login test fail", "\n".join(SENTENCES))],
    ).directory
