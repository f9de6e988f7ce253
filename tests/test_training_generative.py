from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from programs import ROOT, load
from safetensors.torch import load_file
from test_local_generative import folder  # noqa: F401  (the tiny causal model)

from linecls.errors import LineclsError
from linecls.records import Record, write_records
from linecls.spans import Span
from linecls.systems import create
from linecls.systems.generative import parse_answer
from linecls.training.generative import CHECKPOINT, FinetuneConfig, answer_text, finetune, make_example

yaml = pytest.importorskip("yaml")
pytest.importorskip("peft")
torch = pytest.importorskip("torch")
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


def weights(adapter: Path) -> dict[str, Any]:
    return load_file(adapter / "adapter_model.safetensors")


DROPPING = {"epochs": 5, "step_records": 1, "learning_rate": 1e-2, "dropout": 0.3, "device": "cpu"}


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory) -> Path:  # noqa: F811
    return finetune(settings(folder, tmp_path_factory.mktemp("whole"), **DROPPING), RECORDS)


class TestABrokenRun:
    """Ten steps with a break in them learn what ten steps without one learn, dropout included."""

    @pytest.mark.parametrize(("stop", "every", "left"), [(4, 3, 4), (7, 2, 7)])
    def test_goes_on_to_the_same_weights(self, folder, whole, tmp_path, stop, every, left) -> None:  # noqa: F811
        config = settings(folder, tmp_path, checkpoint_steps=every, **DROPPING)

        def interrupt(step: int, steps: int, loss: float) -> None:
            if step == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            finetune(config, RECORDS, interrupt)
        assert (tmp_path / CHECKPOINT).is_file()
        seen: list[int] = []
        finetune(config, RECORDS, lambda step, steps, loss: seen.append(step))
        assert seen == list(range(left + 1, 11))
        assert not (tmp_path / CHECKPOINT).exists()
        expected, found = weights(whole), weights(tmp_path)
        assert expected.keys() == found.keys()
        assert all(torch.equal(expected[name], found[name]) for name in expected)
        losses = [json.loads((path / "linecls_finetune.json").read_text())["losses"] for path in (whole, tmp_path)]
        assert losses[0] == losses[1]

    def test_a_killed_run_goes_on_from_its_last_checkpoint(self, folder, whole, tmp_path) -> None:  # noqa: F811
        config = settings(folder, tmp_path, checkpoint_steps=3, **DROPPING)

        def die(step: int, steps: int, loss: float) -> None:
            if step == 5:
                raise MemoryError

        with pytest.raises(MemoryError):
            finetune(config, RECORDS, die)
        seen: list[int] = []
        finetune(config, RECORDS, lambda step, steps, loss: seen.append(step))
        assert seen[0] == 4
        assert all(torch.equal(weight, weights(tmp_path)[name]) for name, weight in weights(whole).items())

    def test_a_checkpoint_of_something_else_is_refused(self, folder, tmp_path) -> None:  # noqa: F811
        def interrupt(step: int, steps: int, loss: float) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            finetune(settings(folder, tmp_path, **DROPPING), RECORDS, interrupt)
        with pytest.raises(LineclsError, match="other settings or records"):
            finetune(settings(folder, tmp_path, **DROPPING | {"rank": 2}), RECORDS)
        with pytest.raises(LineclsError, match="other settings or records"):
            finetune(settings(folder, tmp_path, **DROPPING), RECORDS[:1])
        (tmp_path / CHECKPOINT).write_bytes(b"half")
        with pytest.raises(LineclsError, match="no checkpoint; remove it"):
            finetune(settings(folder, tmp_path, **DROPPING), RECORDS)


def test_the_limit_counts_records_that_fit(folder, tmp_path) -> None:  # noqa: F811
    config = settings(folder, tmp_path, limit=2, device="cpu")
    told = json.loads((finetune(config, RECORDS) / "linecls_finetune.json").read_text())
    assert told["records"] == 2


def test_the_program_from_its_file_to_a_tuned_system(folder, tmp_path, monkeypatch) -> None:  # noqa: F811
    """Both YAML files as they ship, with a tiny model in the place of SmolLM2, and `linecls eval` on the result."""
    from linecls.cli import main as linecls_main

    tuned = yaml.safe_load((ROOT / "configs/generative/smollm2_tuned.yaml").read_text())
    shipped = yaml.safe_load((ROOT / "configs/generative/smollm2_lora.yaml").read_text())
    assert (tuned["adapter"], tuned["model"]) == (shipped["output"], shipped["model"])
    program = load("finetune_generative")
    write_records(tmp_path / "train.jsonl", RECORDS)
    short = {"model": str(folder), "train": [str(tmp_path / "train.jsonl")], "max_length": 700, "epochs": 1}
    (tmp_path / "lora.yaml").write_text(yaml.safe_dump({**shipped, **short, "device": "cpu"}))
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(program.main, ["lora.yaml", "--limit", "2"])
    assert found.exit_code == 0, found.output
    assert "step 1 of 1: loss" in found.output
    (tmp_path / "tuned.yaml").write_text(
        yaml.safe_dump({**tuned, "model": str(folder), "max_tokens": 4, "device": "cpu"})
    )
    arguments = [
        "eval",
        "train.jsonl",
        "--system",
        "tuned.yaml,first",
        "--cache",
        "cache",
        "--json",
        "--bootstrap",
        "0",
    ]
    result = CliRunner().invoke(linecls_main, arguments)
    assert result.exit_code == 0, result.output
    described = json.loads(result.stdout)["systems"]["tuned"]["description"]
    assert described["adapter"] == Path(shipped["output"]).name
    (tmp_path / "bad.yaml").write_text("rank: 1\nnonsense: 2\n")
    refused = CliRunner().invoke(program.main, ["bad.yaml"])
    assert refused.exit_code == 1
    assert "bad.yaml: no settings of an adapter" in refused.output


def test_settings_and_records_that_do_not_fit(folder, tmp_path) -> None:  # noqa: F811
    with pytest.raises(LineclsError, match="max_length 20"):
        finetune(settings(folder, tmp_path, max_length=20, device="cpu"), RECORDS)
    with pytest.raises(LineclsError, match="cannot adapt"):
        finetune(settings(folder, tmp_path, targets=["nothing"], device="cpu"), RECORDS)
    with pytest.raises(LineclsError, match="rank"):
        settings(folder, tmp_path, rank=0)
    with pytest.raises(LineclsError, match="no record file"):
        settings(folder, tmp_path, train=[])
