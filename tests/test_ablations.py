"""The program that compares variants: plans, paired intervals, whole runs with a tiny backbone, resume."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")

import yaml  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from programs import ROOT, load  # noqa: E402

from linecls.errors import LineclsError  # noqa: E402
from linecls.records import Record, write_records  # noqa: E402
from linecls.tuning import Scored  # noqa: E402

ablations = load("ablations")

TINY: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": 300,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 128,
}
WORDS = ["collected items", "the cache key changed", "listening on port", "AssertionError", "unused variable"]


def some_records(count: int, seed: int) -> list[Record]:
    rng = random.Random(seed)
    records = []
    for number in range(count):
        lines = [f"{rng.choice(WORDS)} {rng.randrange(99)}" for _ in range(rng.randrange(8, 20))]
        where = rng.randrange(len(lines))
        lines[where] = f"FAILED tests/test_login.py number {number}"
        output = "\n".join(lines) + "\n"
        common = {"tool_output": output, "tool_type": "test_output"}
        records.append(Record(query="which login test failed", gold_spans=[(where + 1, where + 1)], **common))
        records.append(Record(query="who dropped the database", gold_spans=[], **common))
    return records


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer_path: Path) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("ablations")
    for name, seed in (("train", 1), ("dev", 2), ("built", 3)):
        write_records(folder / f"{name}.jsonl.gz", some_records(8, seed))
    model = {
        "model": {
            "backbone": str(tiny_tokenizer_path.parent),
            "backbone_config": TINY,
            "encoding": {"window_tokens": 64, "max_line_tokens": 24, "max_query_tokens": 16},
            "classifier": {"width": 16, "layers": 1, "heads": 2},
        }
    }
    (folder / "model.yaml").write_text(yaml.safe_dump(model))
    plan = {
        "seed": 0,
        "average": 0.5,
        "common": {"model.optimiser.head_lr": 1e-2, "data.augmentation.cut_probability": 0.3, "data.step_tokens": 300},
        "baselines": {
            "frozen": {
                "kind": "frozen",
                "config": str(folder / "model.yaml"),
                "steps": 3,
                "variants": {
                    "alone": {"question": "no line encoder", "set": {"model.classifier.layers": 0}},
                    "vote": {
                        "question": "votes",
                        "against": "alone",
                        "set": {"model.classifier.layers": 0, "model.classifier.pooling": "vote"},
                    },
                    "built": {"question": "more data", "built": True},
                },
            }
        },
    }
    plan["common"]["model.frozen"] = True
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))
    return {path.name.split(".")[0]: path for path in folder.iterdir()}


def call(files: dict[str, Path], folder: Path, *arguments: str) -> Any:
    common = ["--plan", str(files["plan"]), "--train", str(files["train"]), "--dev", str(files["dev"])]
    common += ["-o", str(folder / "out"), "--cache", str(folder / "states")]
    return CliRunner().invoke(ablations.main, [*common, *arguments])


def test_runs_every_variant_once_and_writes_the_table(files: dict[str, Path], tmp_path: Path) -> None:
    first = call(files, tmp_path, "--only", "frozen", "--only", "frozen/alone")
    assert first.exit_code == 0, first.output
    assert "frozen: step 3 of 3" in first.stderr
    second = call(files, tmp_path, "--built", str(files["built"]))
    assert second.exit_code == 0, second.output
    assert "frozen: done before" in second.stderr
    assert "frozen/alone: done before" in second.stderr
    report = json.loads((tmp_path / "out" / "ablations.json").read_text())
    rows = {row["name"]: row for row in report["rows"]}
    assert list(rows) == ["frozen", "frozen/alone", "frozen/vote", "frozen/built"]
    assert {row["steps"] for row in rows.values()} == {3}
    assert rows["frozen"]["difference"] is None
    assert rows["frozen/vote"]["against"] == "frozen/alone"
    for metric in ("f1", "recall_at_90"):
        vote, alone = (rows[name]["figures"][metric][0] for name in ("frozen/vote", "frozen/alone"))
        assert rows["frozen/vote"]["difference"][metric][0] == pytest.approx(vote - alone, abs=1e-6)
    assert rows["frozen/alone"]["learned_parameters"] < rows["frozen"]["learned_parameters"]
    assert rows["frozen"]["learned_parameters"] < rows["frozen"]["parameters"]
    table = (tmp_path / "out" / "ablations.md").read_text()
    assert "## frozen: frozen, 3 steps" in table
    assert "| vote | votes | alone |" in table
    assert str(tmp_path) not in table + json.dumps(report)  # no place of this machine


def test_changed_settings_run_again_and_a_budget_stops(files: dict[str, Path], tmp_path: Path) -> None:
    assert call(files, tmp_path, "--only", "frozen", "--steps", "1").exit_code == 0
    again = call(files, tmp_path, "--only", "frozen", "--steps", "2")
    assert "done before" not in again.stderr
    stopped = call(files, tmp_path, "--steps", "1", "--budget-minutes", "0.0001")
    assert stopped.exit_code == 0
    assert "stopping" in stopped.stderr
    assert "frozen/built: left out, it needs --built" not in stopped.stderr
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 1


def test_bad_calls_are_one_line(files: dict[str, Path], tmp_path: Path) -> None:
    assert "no run is called so" in call(files, tmp_path, "--only", "nothing").stderr
    files = {**files, "train": tmp_path / "absent.jsonl"}
    result = call(files, tmp_path)
    assert isinstance(result.exception, LineclsError)
    assert "absent.jsonl" in str(result.exception)
    plan = tmp_path / "plan.yaml"
    for text, expected in (
        ("- 1\n", "no settings"),
        ("seed: 0\n", "no plan"),
        ("a: [", "no YAML"),
        ("seed: 0\naverage: 0.9\ncommon: {}\nbaselines: {}\ncolour: blue\n", "colour"),
    ):
        plan.write_text(text)
        with pytest.raises(LineclsError, match=expected):
            ablations.load_plan(plan, tmp_path)


def test_the_plan_of_the_repository_names_configurations_that_train() -> None:
    variants = ablations.load_plan(ablations.PLAN, ROOT)
    names = {variant.name for variant in variants}
    assert len(names) == len(variants) > 40
    assert all(variant.against is None or variant.against in names for variant in variants)
    from linecls.encoding import EncodingConfig
    from linecls.model.classifier import ClassifierConfig
    from linecls.training.batches import Augmentation
    from linecls.training.module import LossConfig, OptimiserConfig

    by_name = {variant.name: variant.settings for variant in variants}
    for variant in variants:
        model = variant.settings["model"]
        EncodingConfig.from_dict(model["encoding"])
        ClassifierConfig(**model["classifier"])
        LossConfig(**model["loss"])
        OptimiserConfig(**model["optimiser"])
        Augmentation(**variant.settings["data"]["augmentation"])
        assert bool(model.get("frozen")) == (variant.kind == "frozen")
        if variant.against is not None and not variant.built:
            assert variant.settings != by_name[variant.against]


def test_dotted_settings_nest_and_later_ones_win() -> None:
    one = ablations.nested({"model.classifier.layers": 3, "model.backbone": "x", "seed": 1})
    assert one == {"model": {"classifier": {"layers": 3}, "backbone": "x"}, "seed": 1}
    both = ablations.merged(one, {"model": {"classifier": {"layers": 0}}})
    assert both["model"] == {"classifier": {"layers": 0}, "backbone": "x"}
    assert one["model"]["classifier"]["layers"] == 3


def test_intervals_resample_whole_observations() -> None:
    groups = np.repeat(np.arange(20), 30)
    rng = np.random.default_rng(3)
    shared = rng.random(20)[groups]  # all records of an observation agree: 20 values, not 600
    alone = rng.random(600)
    found = ablations.estimates({"shared": shared, "alone": alone, "none": np.full(600, np.nan)}, groups)
    width = {name: high - low for name, (_, low, high) in found.items()}
    assert width["shared"] > 3 * width["alone"]
    assert found["shared"][0] == pytest.approx(float(shared.mean()))
    assert np.isnan(found["none"]).all()


def test_operating_points_come_from_the_other_half() -> None:
    rng = np.random.default_rng(1)
    scored, keys = [], []
    for number in range(12):
        gold = np.zeros(30, bool)
        gold[number : number + 3] = True
        # In one half gold has high logits, in the other low ones: a point of its own half would do far better.
        sign = 1.0 if number % 2 else -1.0
        logits = (sign * (gold * 8.0 - 4.0) + rng.normal(0, 0.1, 30)).astype(np.float32)
        scored.append(Scored([f"line {i}\n" for i in range(30)], gold, logits, 0.9))
        keys.append((f"{number:032x}", "q"))
    values = ablations.outcomes(scored, keys)
    odd = np.arange(12) % 2 == 1
    assert np.nanmean(values["auc"][odd]) == 1.0
    assert np.nanmean(values["f1"][odd]) < 0.5  # its point was chosen on records whose gold has low logits
