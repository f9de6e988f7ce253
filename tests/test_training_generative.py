from __future__ import annotations

import json

import pytest
from test_local_generative import folder  # noqa: F401  (the tiny causal model)

from linecls.errors import LineclsError
from linecls.records import Record
from linecls.spans import Span
from linecls.systems import create
from linecls.systems.generative import parse_answer
from linecls.training.generative import FinetuneConfig, answer_text, finetune, make_example

pytest.importorskip("peft")
TEXT = "the cache key changed\nlistening on port 8080\n  ready to serve\n"
RECORDS = [
    Record(query="which port", tool_output=TEXT, gold_spans=[Span(2, 2)]),
    Record(query="who logged in", tool_output=TEXT, gold_spans=[]),
    Record(query="what changed", tool_output=TEXT * 60, gold_spans=[Span(1, 1)]),
]


def settings(model: object, output: object, **fields: object) -> FinetuneConfig:
    return FinetuneConfig(**{"model": str(model), "output": str(output), "train": ["x"], "max_length": 700} | fields)


def test_the_answer_is_what_the_parser_reads() -> None:
    for record in RECORDS:
        assert parse_answer(answer_text(record)).lines == record.relevant_lines()


def test_the_loss_counts_the_answer_and_its_end(folder) -> None:  # noqa: F811
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    example = make_example(tokenizer, RECORDS[0])
    assert example.ids[-1] == tokenizer.eos_token_id
    answer = tokenizer.decode(example.ids[example.start : -1])
    assert answer == tokenizer.decode(tokenizer.encode(answer_text(RECORDS[0]), add_special_tokens=False))
    assert "port" in tokenizer.decode(example.ids[: example.start])


def test_trains_an_adapter_that_the_local_system_takes(folder, tmp_path) -> None:  # noqa: F811
    steps: list[float] = []
    config = settings(folder, tmp_path / "adapter", epochs=12, step_records=2, learning_rate=2e-2, device="cpu")
    written = finetune(config, RECORDS, lambda step, total, loss: steps.append(loss))
    told = json.loads((written / "linecls_finetune.json").read_text())
    assert (told["records"], told["too_long"], len(told["losses"])) == (2, 1, 12)
    assert steps == told["losses"]
    assert steps[-1] < steps[0] - 0.1
    plain = create("local", model=str(folder), max_tokens=8, device="cpu")
    tuned = create("local", model=str(folder), adapter=written, max_tokens=8, device="cpu")
    assert tuned.describe()["adapter_sha256"]
    chat = [{"role": "user", "content": TEXT}]
    assert tuned.complete(chat).text != plain.complete(chat).text


def test_settings_and_records_that_do_not_fit(folder, tmp_path) -> None:  # noqa: F811
    with pytest.raises(LineclsError, match="max_length 20"):
        finetune(settings(folder, tmp_path, max_length=20, device="cpu"), RECORDS)
    with pytest.raises(LineclsError, match="cannot adapt"):
        finetune(settings(folder, tmp_path, targets=["nothing"], device="cpu"), RECORDS)
    with pytest.raises(LineclsError, match="rank"):
        settings(folder, tmp_path, rank=0)
    with pytest.raises(LineclsError, match="no record file"):
        settings(folder, tmp_path, train=[])
