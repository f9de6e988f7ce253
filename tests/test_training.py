"""Batch plans, the training run from a configuration, exact resume after a kill, dev metrics."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")

import yaml  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

from linecls.encoding import EncodingConfig, WindowEncoder  # noqa: E402
from linecls.records import Record, write_records  # noqa: E402
from linecls.spans import from_mask  # noqa: E402
from linecls.training.batches import (  # noqa: E402
    Augmentation,
    build_batch,
    group_records,
    line_token_counts,
    plan_epoch,
)

TINY_BERT: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 128,
}
LINES = [
    "collected 12 items",
    "the cache key changed in src/cache.rs",
    "listening on port 8080",
    "E   AssertionError: 401 != 200",
    "warning: unused variable session_table",
    "ready to serve requests",
]


def some_records(count: int, lines: int, seed: int) -> list[Record]:
    """Observations of shuffled lines with two queries each and a negative on every third."""
    rng = random.Random(seed)
    records = []
    for number in range(count):
        chosen = [f"{rng.choice(LINES)} {number}" for _ in range(lines)]
        chosen[lines // 2] = f"FAILED tests/test_login.py::test_{number}"
        output = "\n".join(chosen) + "\n"
        common = {"tool_output": output, "tool_type": "test_output"}
        gold = (lines // 2 + 1, lines // 2 + 1)
        records.append(Record(query=f"which login test fails in run {number}", gold_spans=[gold], **common))
        records.append(Record(query="first line", gold_spans=[(1, 2)], **common))
        if number % 3 == 0:
            records.append(Record(query="where is the database dropped", gold_spans=[], **common))
    return records


@pytest.fixture(scope="module")
def encoder(tiny_tokenizer_path: Path) -> WindowEncoder:
    config = EncodingConfig(window_tokens=64, max_line_tokens=24, max_query_tokens=16, max_lines=40, overlap_lines=8)
    return WindowEncoder(Tokenizer.from_file(str(tiny_tokenizer_path)), config)


def plan(encoder: WindowEncoder, records: list[Record], augmentation: Augmentation | None, seed: int) -> Any:
    groups = group_records(records)
    counts = list(line_token_counts(groups, encoder))
    rng = random.Random(seed) if augmentation else None
    batches = plan_epoch(
        groups, encoder, augmentation, batch_tokens=1500, step_tokens=4000, token_counts=counts, rng=rng
    )
    return groups, batches


def test_groups_hold_all_labels_of_an_observation() -> None:
    groups = group_records(some_records(6, 12, 0))
    assert len(groups) == 6
    assert [len(g.labels) for g in groups] == [3, 2, 2, 3, 2, 2]
    assert from_mask(groups[0].labels[0].gold) == [(7, 7)]


def test_plan_for_evaluation_holds_every_label_once_unchanged(encoder: WindowEncoder) -> None:
    records = some_records(7, 30, 1)
    groups, batches = plan(encoder, records, None, 0)
    seen = [id(label) for batch in batches for item in batch.items for label in item.labels]
    assert sorted(seen) == sorted(id(label) for group in groups for label in group.labels)


def test_steps_gather_tokens_and_count_their_pairs(encoder: WindowEncoder) -> None:
    _, batches = plan(encoder, some_records(20, 30, 2), Augmentation(), 5)
    assert batches[-1].last
    assert sum(b.last for b in batches) > 1
    pairs = 0
    open_step = []
    for batch in batches:
        open_step.append(batch)
        pairs += sum(len(item.labels) for item in batch.items)
        if batch.last:
            assert {b.step_pairs for b in open_step} == {pairs}
            open_step, pairs = [], 0


@pytest.mark.parametrize("more", [-3, 0, 4])
def test_an_epoch_can_be_given_its_length(encoder: WindowEncoder, more: int) -> None:
    groups = group_records(some_records(20, 30, 2))
    counts = list(line_token_counts(groups, encoder))

    def planned(length: int | None) -> list[Any]:
        return plan_epoch(
            groups,
            encoder,
            Augmentation(),
            batch_tokens=1500,
            step_tokens=4000,
            token_counts=counts,
            rng=random.Random(5),
            length=length,
        )

    free = planned(None)
    fitted = planned(len(free) + more)
    assert len(fitted) == len(free) + more
    places = [
        sorted([(p.group, *p.lines.tolist()) for p in i.parts] for b in batches for i in b.items)
        for batches in (free, fitted)
    ]
    assert places[0] == places[1]


def test_every_epoch_of_a_loader_has_the_length_it_states(encoder: WindowEncoder) -> None:
    from linecls.training.data import BatchLoader

    groups = group_records(some_records(15, 30, 8))
    loader = BatchLoader(groups, encoder, Augmentation(), batch_tokens=1500, step_tokens=4000, seed=3)
    assert [sum(1 for _ in loader) for _ in range(4)] == [len(loader)] * 4


def test_crops_keep_gold_whole_or_drop_the_label(encoder: WindowEncoder) -> None:
    records = some_records(30, 60, 3)  # longer than max_lines: every observation is cropped
    augmentation = Augmentation(crop_probability=1, crop_negative=1, swap_probability=0)
    groups, batches = plan(encoder, records, augmentation, 7)
    kept_gold = dropped_gold = 0
    for batch in batches:
        for item in batch.items:
            (part,) = item.parts
            assert part.lines.tolist() == list(range(part.lines[0], part.lines[-1] + 1))
            assert 0 <= part.lines[0] <= part.lines[-1] < 60
            assert len(item) <= encoder.config.max_lines
            originals = {label.query: label.gold for label in groups[part.group].labels}
            for label in item.labels:
                assert label.gold.tolist() == originals[label.query][part.lines].tolist()
                assert label.gold.sum() in (0, originals[label.query].sum())
                kept_gold += bool(label.gold.any())
                dropped_gold += bool(originals[label.query].any() and not label.gold.any())
    assert kept_gold >= 30
    assert dropped_gold > 0


def test_swapped_queries_are_negatives(encoder: WindowEncoder) -> None:
    records = some_records(12, 20, 4)
    augmentation = Augmentation(crop_probability=0, swap_probability=1)
    groups, batches = plan(encoder, records, augmentation, 1)
    extra = 0
    for batch in batches:
        for item in batch.items:
            own = {id(label) for label in groups[item.parts[0].group].labels}
            foreign = [label for label in item.labels if id(label) not in own]
            assert all(not label.gold.any() for label in foreign)
            extra += len(foreign)
    assert extra >= 8


def test_cut_out_answers_make_negatives_and_leave_the_other_labels(encoder: WindowEncoder) -> None:
    records = some_records(30, 30, 4)
    augmentation = Augmentation(crop_probability=0, swap_probability=0, cut_probability=1)
    groups, batches = plan(encoder, records, augmentation, 2)
    cut = 0
    for batch in batches:
        for item in batch.items:
            (part,) = item.parts
            group = groups[part.group]
            originals = {label.query: label.gold for label in group.labels}
            gone = np.setdiff1d(np.arange(len(group.observation)), part.lines)
            for label in item.labels:
                assert len(label.gold) == len(item)
                assert label.gold.tolist() == originals[label.query][part.lines].tolist()
                whole = originals[label.query]
                assert label.gold.sum() == whole.sum() or (np.flatnonzero(whole).tolist() == gone.tolist())
                cut += bool(whole.any() and not label.gold.any())
    assert cut >= 10


def test_splices_hold_the_labels_of_both_observations(encoder: WindowEncoder) -> None:
    records = some_records(30, 20, 4)
    augmentation = Augmentation(crop_probability=0, swap_probability=0, splice_probability=1)
    groups, batches = plan(encoder, records, augmentation, 2)
    spliced = 0
    for batch in batches:
        for item in batch.items:
            assert len(item) <= encoder.config.max_lines
            lines = [groups[part.group].observation.lines[line] for part in item.parts for line in part.lines]
            assert len(lines) == len(item)
            spliced += len(item.parts) == 2
            golds = {}
            for part in item.parts:
                for label in groups[part.group].labels:
                    golds[label.query, len(golds)] = {
                        groups[part.group].observation.lines[i] for i in np.flatnonzero(label.gold)
                    }
            for label in item.labels:
                own = {lines[i] for i in np.flatnonzero(label.gold)}
                assert any(query == label.query and own == gold for (query, _), gold in golds.items())
    assert spliced >= 5


def test_an_epoch_reads_the_share_of_a_file_that_was_asked_for(encoder: WindowEncoder) -> None:
    always, sometimes = group_records(some_records(20, 20, 4)), group_records(some_records(200, 20, 5), share=0.3)
    groups = [*always, *sometimes]
    counts = list(line_token_counts(groups, encoder))

    def seen(epoch: int) -> set[int]:
        settings = {"batch_tokens": 1500, "step_tokens": 4000, "token_counts": counts, "rng": random.Random(epoch)}
        batches = plan_epoch(groups, encoder, Augmentation(crop_probability=0), **settings)
        return {part.group for batch in batches for item in batch.items for part in item.parts}

    epochs = [seen(epoch) for epoch in range(3)]
    for drawn in epochs:
        assert set(range(len(always))) <= drawn
        assert 30 <= len(drawn) - len(always) <= 90
    assert epochs[0] != epochs[1]


def test_batch_rows_stand_for_their_labels(encoder: WindowEncoder) -> None:
    groups, batches = plan(encoder, some_records(5, 60, 6), None, 0)
    for micro in batches:
        batch, labels, targets = build_batch(micro, groups, encoder)
        assert len(targets) == len(labels) == len(batch["query_ids"])
        for row, target in enumerate(targets):
            segment = target.segment
            size = len(segment)
            assert labels[row, :size].tolist() == target.label.gold[segment.start : segment.stop].tolist()
            assert not labels[row, size:].any()
            assert batch["line_mask"][row].sum() == size


# --- whole runs ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run_config(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer_path: Path) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("records")
    write_records(folder / "train.jsonl.gz", some_records(12, 24, 10))
    write_records(folder / "dev.jsonl.gz", some_records(4, 24, 11))
    return {
        "seed_everything": 5,
        "model": {
            "backbone": str(tiny_tokenizer_path.parent),
            "backbone_config": TINY_BERT,
            "encoding": {"window_tokens": 64, "max_line_tokens": 24, "max_query_tokens": 16},
            "classifier": {"width": 32, "layers": 1, "heads": 2, "dropout": 0.2},
            "optimiser": {"backbone_lr": 1e-3, "head_lr": 3e-3},
            "loss": {"gamma": 2.0},
        },
        "data": {
            "train": [str(folder / "train.jsonl.gz")],
            "dev": [str(folder / "dev.jsonl.gz")],
            "augmentation": {"crop_probability": 0.5},
            "batch_tokens": 600,
            "step_tokens": 1200,
        },
        "trainer": {
            "accelerator": "cpu",
            "precision": "bf16-mixed",
            "max_epochs": 3,
            "log_every_n_steps": 1,
            "enable_model_summary": False,
            "enable_progress_bar": False,
        },
    }


def launch(config: dict[str, Any], folder: Path, *arguments: str, callbacks: list[Any] | None = None) -> Any:
    """Run the LightningCLI in this process; return the trainer's module."""
    from linecls.training.cli import LineCLI
    from linecls.training.data import LineDataModule
    from linecls.training.module import LineModule

    folder.mkdir(exist_ok=True)
    values = {**config, "trainer": {**config["trainer"], "default_root_dir": str(folder)}}
    values["trainer"]["logger"] = {
        "class_path": "lightning.pytorch.loggers.CSVLogger",
        "init_args": {"save_dir": str(folder)},
    }
    values["trainer"]["callbacks"] = [
        {"class_path": "lightning.pytorch.callbacks.EMAWeightAveraging", "init_args": {"decay": 0.9}},
        {
            "class_path": "lightning.pytorch.callbacks.ModelCheckpoint",
            "init_args": {
                "dirpath": str(folder),
                "filename": "step-{step}",
                "every_n_train_steps": 1,
                "save_top_k": -1,
            },
        },
    ]
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(values))
    cli = LineCLI(
        LineModule,
        LineDataModule,
        args=["fit", "--config", str(path), *arguments],
        save_config_kwargs={"overwrite": True},
        trainer_defaults={"callbacks": callbacks or []},
    )
    return cli


def weights(checkpoint: Path) -> Iterator[tuple[str, torch.Tensor]]:
    state = torch.load(checkpoint, map_location="cpu", weights_only=False)
    yield from state["state_dict"].items()
    yield from ((f"current.{k}", v) for k, v in state["current_model_state"].items())


@pytest.fixture(scope="module")
def finished(run_config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    launch(run_config, folder)
    return folder


def checkpoints(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-step=*.ckpt"), key=lambda path: int(path.stem.split("=")[1].split("-")[0]))


def test_training_learns_and_reports_the_squeez_metrics(finished: Path) -> None:
    import csv

    with next(finished.glob("lightning_logs/version_*/metrics.csv")).open() as file:
        rows = list(csv.DictReader(file))
    losses = [float(row["loss"]) for row in rows if row.get("loss")]
    assert np.mean(losses[-3:]) < np.mean(losses[:3])
    dev = [row for row in rows if row.get("dev/f1")]
    assert len(dev) == 3
    assert 0 <= float(dev[-1]["dev/f1"]) <= 1
    assert float(dev[-1]["dev/recall@50"]) >= float(dev[-1]["dev/recall@90"])
    assert len({row["lr"] for row in rows if row.get("lr")}) > 2


@pytest.mark.parametrize("where", ["middle", "epoch end"])
def test_resumed_run_ends_with_the_same_weights(
    finished: Path, run_config: dict[str, Any], tmp_path: Path, where: str
) -> None:
    steps = checkpoints(finished)
    per_epoch = len(steps) // 3
    start = steps[per_epoch // 2] if where == "middle" else steps[per_epoch - 1]
    torch.manual_seed(99)  # whatever state the process is in
    launch(run_config, tmp_path / "resumed", "--ckpt_path", str(start))
    resumed = dict(weights(checkpoints(tmp_path / "resumed")[-1]))
    expected = dict(weights(steps[-1]))
    assert resumed.keys() == expected.keys()
    assert all(torch.equal(resumed[name], expected[name]) for name in expected)


def test_same_seed_same_weights(finished: Path, run_config: dict[str, Any], tmp_path: Path) -> None:
    launch(run_config, tmp_path / "again")
    again = dict(weights(checkpoints(tmp_path / "again")[-1]))
    assert all(torch.equal(again[name], tensor) for name, tensor in weights(checkpoints(finished)[-1]))


def test_frozen_backbone_stays_as_it_is_and_its_model_is_whole(run_config: dict[str, Any], tmp_path: Path) -> None:
    from linecls.exporting import load_checkpoint
    from linecls.training.module import LineModule

    model = {**run_config["model"], "frozen": True, "cache": str(tmp_path / "states")}
    trainer = {**run_config["trainer"], "max_epochs": 1, "max_steps": 3, "precision": "32-true"}
    cli = launch({**run_config, "model": model, "trainer": trainer}, tmp_path / "frozen")
    assert cli.trainer.global_step == 3
    steps = checkpoints(tmp_path / "frozen")
    first, last = (dict(weights(path)) for path in (steps[0], steps[-1]))
    # The moving average rounds what does not move.
    moved = {name for name in first if float((first[name] - last[name]).abs().max()) > 1e-6}
    assert any("head" in name for name in moved)
    assert not [name for name in moved if "backbone" in name]
    # The checkpoint reads token ids as any other and says what the states on disk said.
    whole = load_checkpoint(steps[-1]).model
    module: LineModule = cli.model
    batch = next(iter(cli.datamodule.dev_loader))
    inputs, _, _ = build_batch(batch.micro, cli.datamodule.dev_loader.groups, cli.datamodule.dev_loader.encoder)
    with torch.inference_mode():
        from_ids = whole(**{name: torch.from_numpy(array) for name, array in inputs.items()})
        from_disk = module.model.eval()(**batch.inputs)
    for ours, theirs in zip(from_ids, from_disk, strict=True):
        assert float((ours - theirs).abs().max()) < 0.25  # float16 on disk; similarities are standardised


def test_command_explains_itself_and_names_a_bad_setting(tmp_path: Path) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "linecls", "train"]
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert "linecls train --config" in helped.stdout
    path = tmp_path / "bad.yaml"
    path.write_text("model: {colour: blue}\n")
    bad = subprocess.run([*command, "--config", str(path)], capture_output=True, text=True, check=False)
    assert bad.returncode == 2
    assert "colour" in bad.stderr
    assert "Traceback" not in bad.stderr
