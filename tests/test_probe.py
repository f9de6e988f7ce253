"""The linear probe: what it reads of a line, and that it finds what is linear."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

import yaml  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from programs import load  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

from linecls.encoding import EncodingConfig, WindowEncoder  # noqa: E402
from linecls.errors import LineclsError  # noqa: E402
from linecls.model.backbone import Backbone  # noqa: E402
from linecls.records import Record, write_records  # noqa: E402

TINY: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": 300,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 128,
}
RECORDS = [
    Record(
        query=query,
        tool_output="".join(f"listening on port {i}\n" for i in range(lines)) + "login failed\n\nready\n",
        tool_type="logs",
        gold_spans=[(lines + 1, lines + 1)],
    )
    for lines, query in ((6, "which login failed"), (9, "who was refused"), (45, "login"), (6, "cache key"))
]


probe = load("probe")


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    torch.manual_seed(0)
    return Backbone("tiny", config=TINY)


def encoder_of(path: Path, reading: str) -> WindowEncoder:
    config = EncodingConfig.from_dict(
        {"reading": reading, "window_tokens": 64, "max_line_tokens": 16, "max_query_tokens": 12, "context_tokens": 4}
        | {"max_lines": 30, "overlap_lines": 6}
    )
    return WindowEncoder(Tokenizer.from_file(str(path)), config)


@pytest.mark.parametrize("reading", ["apart", "joint"])
def test_every_line_has_one_input_and_its_label(tiny_tokenizer_path: Path, backbone: Backbone, reading: str) -> None:
    lines = probe.line_inputs(RECORDS, backbone, encoder_of(tiny_tokenizer_path, reading), "mean")
    sizes = [record.tool_output.count("\n") for record in RECORDS]
    assert np.bincount(lines.record).tolist() == sizes
    assert lines.inputs.shape == (sum(sizes), 32 if reading == "apart" else 16)
    assert np.flatnonzero(lines.gold).tolist() == [
        sum(sizes[:i]) + record.gold_spans[0][0] - 1 for i, record in enumerate(RECORDS)
    ]
    first, last = lines.inputs[lines.record == 0], lines.inputs[lines.record == 3]  # one output, two queries
    same_line_states = np.allclose(first[:, :16], last[:, :16], atol=1e-6)
    assert same_line_states == (reading == "apart")
    assert not np.allclose(first[:6], last[:6], atol=1e-6)


def test_a_probe_finds_a_direction_and_ignores_the_base_rate() -> None:
    rng = np.random.default_rng(0)
    direction = rng.normal(size=8)
    inputs = rng.normal(size=(4000, 8)).astype(np.float32) * 5 + 3
    gold = (inputs - 3) @ direction > 20  # few lines
    lines = probe.Lines(inputs, gold, np.repeat(np.arange(40), 100))
    assert 0 < gold.mean() < 0.2
    fitted = probe.fit(probe.Lines(inputs[:3000], gold[:3000], lines.record[:3000]))
    held_back = probe.Lines(inputs[3000:], gold[3000:], lines.record[3000:])
    found = probe.areas(fitted.scores(held_back.inputs), held_back)
    assert found["auc_all_lines"] > 0.99
    assert found["auc_within_records"] > 0.99
    with pytest.raises(LineclsError, match="gold lines"):
        probe.fit(probe.Lines(inputs, np.zeros(4000, bool), lines.record))


def test_the_program_writes_its_result(tmp_path: Path, tiny_tokenizer_path: Path) -> None:
    write_records(tmp_path / "records.jsonl", RECORDS)
    model = {
        "backbone": str(tiny_tokenizer_path.parent),
        "backbone_config": TINY,
        "encoding": {"window_tokens": 64, "max_line_tokens": 16, "max_query_tokens": 12, "context_tokens": 4},
    }
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump({"model": model}))
    records = str(tmp_path / "records.jsonl")
    arguments = ["--train", records, "--dev", records, "--reading", "joint", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(probe.main, [str(tmp_path / "tiny.yaml"), *arguments])
    assert result.exit_code == 0, result.output
    assert "tiny, joint: AUC" in result.stdout
    assert (tmp_path / "out" / "tiny_joint.json").is_file()
    (tmp_path / "tiny.yaml").write_text("model: 3\n")
    bad = CliRunner().invoke(probe.main, [str(tmp_path / "tiny.yaml"), *arguments])
    assert isinstance(bad.exception, LineclsError)
    assert "no model configuration" in str(bad.exception)
