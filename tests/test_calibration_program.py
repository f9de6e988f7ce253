"""eval/calibration.py with the embedded model on our own text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from programs import load

pytest.importorskip("onnxruntime")

from linecls.errors import LineclsError
from linecls.records import Record, write_records

calibration = load("calibration")


def some_records(count: int) -> list[Record]:
    records = []
    for number in range(count):
        output = f"starting job {number}\nreading settings\ncannot reach the database at port {number}\nall done\n"
        records.append(Record(query="why did the job fail", tool_output=output, gold_spans=[(3, 3)]))
        records.append(Record(query="which user logged in", tool_output=output, gold_spans=[]))
    return records


def test_writes_scalings_fitted_on_dev_and_measured_on_test(tmp_path: Path) -> None:
    write_records(tmp_path / "dev.jsonl", some_records(12))
    write_records(tmp_path / "test.jsonl", some_records(5))
    arguments = [
        "--dev",
        str(tmp_path / "dev.jsonl"),
        "--test",
        str(tmp_path / "test.jsonl"),
        "-o",
        str(tmp_path / "o"),
    ]
    result = CliRunner().invoke(calibration.main, arguments)
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "o" / "calibration.json").read_text())
    keep = report["logits"]["keep"]
    assert keep["as it is"]["count"] == 5 * 2 * 4
    assert keep["temperature"]["shift"] == 0
    assert keep["scale and shift"]["shift"] != 0
    assert keep["scale and shift"]["brier"] < keep["as it is"]["brier"]
    assert "| answerable | temperature |" in result.stdout
    (tmp_path / "dev.jsonl").write_text("")
    empty = CliRunner().invoke(calibration.main, arguments)
    assert isinstance(empty.exception, LineclsError)


def test_without_test_records_each_half_is_measured_with_the_other_ones_scaling() -> None:
    rng = np.random.default_rng(0)
    half = np.arange(4000) % 2
    logits = rng.normal(0, 2, 4000)
    # The halves disagree on the base rate, so a scaling of a half's own cases would look calibrated.
    outcomes = rng.random(4000) < 1 / (1 + np.exp(-(logits + np.where(half, 3.0, -3.0))))
    found = calibration.compare(calibration.Cases(logits, outcomes, half), None)
    assert found["scale and shift"]["ece"] > 0.3
