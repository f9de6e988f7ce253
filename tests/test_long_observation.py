"""The programs in eval/ that show what a long observation and many rows cost: what they count."""

from __future__ import annotations

import json
import random

import pytest
from click.testing import CliRunner
from programs import load

from linecls.records import Record, write_records
from linecls.spans import Span

program = load("long_observation")


def test_a_log_has_the_lines_and_bytes_that_are_asked_for(tmp_path):
    program.write_log(tmp_path / "log", 3000, 300_000)
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == len(set(lines)) == 3000
    assert (tmp_path / "log").stat().st_size == pytest.approx(300_000, rel=0.02)
    assert lines[2250] == program.NEEDLE


def test_a_buried_record_keeps_its_answer():
    texts = ["alpha\nbeta\n" * 3, "one\ntwo", "x\n" * 20]
    records = [Record(query="q", tool_output=text, gold_spans=[Span(2, 2)]) for text in texts]
    for seed in range(5):
        buried = program.bury(records[1], records, 20, random.Random(seed))
        lines = buried.tool_output.splitlines()
        assert len(lines) >= 20
        assert [lines[n - 1] for start, end in buried.gold_spans for n in range(start, end + 1)] == ["two"]


def test_the_fit_is_a_power():
    runs = [{"lines": n, "seconds": 1e-6 * n**2, "above_model_mib": 0.1 * n} for n in (1000, 10_000)]
    assert program.fit(runs)["exponent"] == pytest.approx(2)
    assert program.fit(runs)["memory_exponent"] == pytest.approx(1)


def test_cost_and_quality_in_one_table(tiny_model_dir, sentences, tmp_path):
    records = [
        Record(
            query=f"why does {i} fail", tool_output="\n".join(sentences * 22) + f"\n{i}\n", gold_spans=[Span(i, i + 1)]
        )
        for i in range(1, 5)
    ]
    write_records(tmp_path / "records.jsonl", records)
    arguments = ["--lines", "2000", "--bytes", "60000", "--model", tiny_model_dir, "--threads", "1", "--out", tmp_path]
    arguments += ["--records", tmp_path / "records.jsonl", "--long", "130", "--buried", "300", "--limit", "3"]
    result = CliRunner().invoke(program.main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "long_observation.json").read_text())
    few, many = found["cost"]["runs"]
    assert (few["lines"], many["lines"]) == (200, 2000)
    assert many["bytes"] == pytest.approx(60_000, rel=0.02)
    assert many["tokens_per_second"] > 0
    assert many["above_model_mib"] < 200
    by_length = {(row["what"], row["segment_lines"]): row for row in found["quality"]}
    assert {length for _, length in by_length} == {64, 128}  # the tiny model's segments have 64 lines
    for row in found["quality"]:
        assert row["segments_per_record"] > 1
        assert row["records"] == 3
        assert row["f1_difference"]["value"] == pytest.approx(row["f1"] - row["f1_whole"])
    assert "| lines | MB | seconds |" in result.output
