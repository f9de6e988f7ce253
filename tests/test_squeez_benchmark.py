"""The Squeez benchmark as docs/squeez_benchmark.md runs it, on a local data set of the same schema and field sizes."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("lightning")
pytest.importorskip("datasets")

import yaml

from linecls.cli import main
from linecls.records import Record, load_records, write_records

HUB_ID = "KRLabsOrg/tool-output-extraction-swebench"
ROOT = Path(__file__).parent.parent
MODELS = {"ettin32m": "hub_ettin_32m.yaml", "modernbert": "hub_modernbert_base.yaml"}
# A random ModernBERT, the architecture of both backbones, in place of their weights.
TINY = {
    "model_type": "modernbert",
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 512,
    "pad_token_id": 0,
    "cls_token_id": 2,
    "bos_token_id": 2,
    "sep_token_id": 3,
    "eos_token_id": 3,
}
TOOLS = ("read_file", "grep", "test_output", "git_log", "npm_build", "kubectl", "pip_install", "lint_output")


def rows(count: int, seed: int) -> list[Record]:
    """Rows as the data set has them: a focused query, a long background task, now and then a negative."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        size = rng.choice([20, 40, 160])
        lines = [
            f"{i:4} listening on port {8000 + i}, ready to serve request {rng.randrange(9999)}" for i in range(size)
        ]
        at = rng.randrange(2, size - 4)
        lines[at : at + 2] = [f"FAILED tests/test_login.py::test_{number}", "E   AssertionError: 401 != 200"]
        is_negative = number % 6 == 5
        query = "where is the database dropped" if is_negative else f"which login test fails in run {number}"
        made.append(
            Record(
                instance_id=f"django__django-{11000 + seed * 100 + number}",
                source="synthetic" if number % 3 == 0 else "swe",
                tool_type=TOOLS[number % len(TOOLS)],
                query=query,
                background_task="The session expires too early when the cache key changes. " * 30,
                tool_output="\n".join(lines) + "\n",
                gold_spans=[] if is_negative else [(at + 1, at + 2)],
                command="pytest -q",
            )
        )
    return made


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data set's folder, in its three forms side by side; its hub id leads here."""
    import datasets

    folder = tmp_path / "hub"
    folder.mkdir()
    for split, count, seed in (("train", 12, 1), ("dev", 6, 2), ("test", 6, 3)):
        made = rows(count, seed)
        write_records(folder / f"{split}.jsonl", made, form="v1")
        write_records(folder / f"encoder_{split}.jsonl", made, form="encoder")
        with (folder / f"canonical_{split}.jsonl").open("w") as file:
            for record in made:
                row = record.to_dict()
                row["gold_spans"] = [{**span, "reason": "relevant"} for span in row["gold_spans"]]
                file.write(json.dumps(row) + "\n")
    for name in ("load_dataset", "load_dataset_builder"):
        real = getattr(datasets, name)

        def local(path: str, *args: Any, real: Any = real, **kwargs: Any) -> Any:
            return real(str(folder) if path == HUB_ID else path, *args, **kwargs)

        monkeypatch.setattr(datasets, name, local)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    return folder


def train(which: str, folder: Path, tokenizer: Path) -> Path:
    """The run of a configuration with a tiny backbone on the CPU; returns its folder."""
    from linecls.training.cli import LineCLI
    from linecls.training.data import LineDataModule
    from linecls.training.module import LineModule

    run = folder / "run"
    config = yaml.safe_load((ROOT / "configs/train" / f"squeez_{which}.yaml").read_text())
    trainer = config["trainer"]
    trainer.update(accelerator="cpu", max_epochs=1, default_root_dir=str(run))
    trainer.update(enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=1)
    for part in (trainer["logger"], trainer["callbacks"]):
        for item in part:
            for key in ("save_dir", "dirpath"):
                if key in item.get("init_args", {}):
                    item["init_args"][key] = str(run)
    config["data"].update(batch_tokens=2000, step_tokens=4000)
    model = yaml.safe_load((ROOT / "configs/model" / MODELS[which]).read_text())["model"]
    model.update(backbone=str(tokenizer.parent), backbone_config=TINY)
    model["encoding"].update(window_tokens=256, max_line_tokens=32, max_query_tokens=24, context_tokens=16)
    model["classifier"].update(width=32, layers=1, heads=2)
    config["model"] = {**model, **config["model"]}
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    LineCLI(LineModule, LineDataModule, args=["fit", "--config", str(path)], save_config_kwargs={"overwrite": True})
    return run


def call(*arguments: str) -> str:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == 0, result.stderr
    return result.stdout


def documented(places: dict[str, Path]) -> list[list[str]]:
    """The `linecls` commands of docs/squeez_benchmark.md but for the training, with these paths in place of theirs."""
    text = (ROOT / "docs/squeez_benchmark.md").read_text()
    block = text.partition("```bash\n")[2].partition("```")[0].replace("\\\n", " ")
    commands = [shlex.split(line) for line in block.splitlines() if line.startswith("linecls ")]
    assert [command[1] for command in commands] == ["train", "export", "tune", "eval"]
    known = {name: str(path) for name, path in places.items()} | {"$data": f"hub:{HUB_ID}"}
    return [[known.get(word, word) for word in command[1:]] for command in commands[1:]]


def test_from_the_data_set_to_the_table(hub: Path, tmp_path: Path, tiny_tokenizer_path: Path) -> None:
    pytest.importorskip("onnxscript")
    run = train("ettin32m", tmp_path, tiny_tokenizer_path)
    model, report = tmp_path / "model", tmp_path / "report"
    export, tune, evaluate = documented(
        {
            "runs/squeez_ettin32m/best.ckpt": run / "best.ckpt",
            "models/squeez_ettin32m": model,
            "eval/results/squeez": report,
        }
    )
    call(*export, "--variant", "fp32")
    call(*tune)
    values = json.loads(call(*evaluate, "--json", "--bootstrap", "20"))
    assert set(values["systems"]) == {"linecls", "bm25", "first", "last", "random"}
    for system in values["systems"].values():
        assert system["records"] == 6
        assert 0 <= system["overall"]["squeez.span_f1"]["value"] <= 1
        assert system["squeez_0.1.4"]["stripped_reference"]["num_samples"] == 6
    assert any("Squeez-2B" in row["system"] for row in values["published"]["rows"])
    assert "Squeez-2B" in (report / "report.md").read_text()


def test_the_modernbert_configuration_trains(hub: Path, tmp_path: Path, tiny_tokenizer_path: Path) -> None:
    assert (train("modernbert", tmp_path, tiny_tokenizer_path) / "best.ckpt").is_file()


@pytest.mark.parametrize("which", MODELS)
def test_the_files_are_read_as_they_ship(which: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Every key is one that the training knows, of the type that it wants, together with the model's own file."""
    from linecls.training.cli import LineCLI
    from linecls.training.data import LineDataModule
    from linecls.training.module import LineModule

    monkeypatch.chdir(ROOT)
    files = [f"configs/model/{MODELS[which]}", f"configs/train/squeez_{which}.yaml"]
    assert f"linecls train --config {files[0]} --config {files[1]}" in (ROOT / files[1]).read_text()
    arguments = ["fit", *(word for file in files for word in ("--config", file)), "--print_config"]
    with pytest.raises(SystemExit) as done:
        LineCLI(LineModule, LineDataModule, args=arguments)
    assert done.value.code == 0
    printed = yaml.safe_load(capsys.readouterr().out)
    assert printed["data"]["train"] == [f"hub:{HUB_ID}"]
    assert (printed["data"]["train_split"], printed["data"]["dev_split"]) == ("train", "validation")
    assert printed["trainer"]["default_root_dir"] == f"runs/squeez_{which}"


def test_the_splits_are_read_from_the_canonical_files(hub: Path) -> None:
    for split, file in (("train", "train"), ("validation", "dev"), ("test", "test")):
        assert load_records(f"hub:{HUB_ID}", split=split) == load_records(hub / f"canonical_{file}.jsonl")
