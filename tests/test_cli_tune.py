from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

from linecls.artifact import Artifact, embedded
from linecls.cli import main
from linecls.records import Record, to_row, write_records


def make_records():
    made = []
    for number in range(8):
        lines = [f"[{i}/30] compiling part_{number}_{i}.c" for i in range(30)]
        lines[10 + number] = f"part_{number}.c:31:5: error: 'limit' undeclared"
        text = "\n".join(lines) + "\n"
        at = 11 + number
        made.append(Record(query="which name is undeclared", tool_output=text, gold_spans=[(at, at)]))
        made.append(Record(query="which disk is full", tool_output=text, gold_spans=[] if number % 2 else [(1, 2)]))
    return made


@pytest.fixture
def model(tiny_model_dir, tmp_path):
    return shutil.copytree(tiny_model_dir, tmp_path / "model")


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "dev.jsonl.gz"
    write_records(path, make_records())
    return path


@pytest.fixture
def unlabelled(tmp_path):
    path = tmp_path / "outputs.jsonl"
    rows = [{"query": r.query, "tool_output": r.tool_output} for r in make_records()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def tune(*arguments):
    return CliRunner().invoke(main, ["tune", *map(str, arguments)])


def test_a_point_is_found_written_and_used(model, labelled, tmp_path):
    arguments = [labelled, "--target", "recall=0.9", "--name", "r90", "--model", model, "--report", tmp_path / "report"]
    result = tune(*arguments)
    assert result.exit_code == 0
    assert "16 records (4 negatives) on 8 observations, 5 folds by observation" in result.stdout
    assert f"wrote the operating point r90 into {model}" in result.stderr
    report = json.loads((tmp_path / "report" / "tuning.json").read_text())
    artifact = Artifact.load(model)
    assert report["operating_point"]["bias"] == artifact.operating_point("r90").bias
    assert artifact.provenance["tuned"]["r90"]["target"] == "recall=0.9"
    assert artifact.provenance["tuned"]["r90"]["files"][0]["name"] == "dev.jsonl.gz"
    assert str(tmp_path) not in (model / "linecls.json").read_text()
    # The pruner decodes with it: mean recall over the records is what was promised.
    recalls = []
    for record in make_records():
        call = ["prune", record.query, "--model", str(model), "--operating-point", "r90", "--json"]
        spans = json.loads(CliRunner().invoke(main, call, input=record.tool_output).stdout)["spans"]
        kept = {line for span in spans for line in range(span["start_line"], span["end_line"] + 1)}
        gold = {line for start, end in record.gold_spans for line in range(start, end + 1)}
        recalls += [len(kept & gold) / len(gold)] if gold else []
    assert sum(recalls) / len(recalls) == pytest.approx(report["promised"]["recall"])
    assert report["promised"]["recall"] >= 0.9 - 1e-9


def test_without_labels_and_into_a_copy(model, unlabelled, tmp_path):
    copy = tmp_path / "copy"
    before = (model / "linecls.json").read_bytes()
    arguments = [unlabelled, "--target", "compression=0.6", "--model", model, "-o", copy]
    result = tune(*arguments, "--name", "lean", "--json")
    assert result.exit_code == 0
    values = json.loads(result.stdout)
    assert values["negatives"] is None
    assert set(values["promised"]) == {"compression", "tokens"}
    assert values["promised"]["compression"] >= 0.6 - 1e-9
    assert Artifact.load(copy).operating_point("lean").bias == values["operating_point"]["bias"]
    assert (model / "linecls.json").read_bytes() == before
    shown = CliRunner().invoke(main, ["model", "--model", str(copy)]).stdout
    assert "lean" in shown
    assert "compression=0.6" in shown


@pytest.mark.parametrize("form", ["v1", "encoder", "canonical"])
def test_labels_are_left_out_where_a_row_has_none(model, tmp_path, form):
    path = tmp_path / "rows.jsonl"
    names = ("response", "relevant_lines", "gold_spans", "is_irrelevant")
    rows = [{k: v for k, v in to_row(record, form).items() if k not in names} for record in make_records()[:6]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = tune(path, "--target", "tokens=40", "--model", model, "--json")
    assert result.exit_code == 0, result.stderr
    values = json.loads(result.stdout)
    assert (values["records"], values["negatives"]) == (6, None)
    assert values["promised"]["tokens"] <= 40


def test_one_observation_works_and_says_what_is_missing(model, tmp_path):
    path = tmp_path / "one.jsonl"
    write_records(path, make_records()[:1])
    result = tune(path, "--target", "f1", "--model", model)
    assert result.exit_code == 0
    assert result.stderr.count("\n") == 1
    assert "one observation only" in result.stderr


@pytest.mark.parametrize(
    ("records", "target", "message"),
    [
        ("none", "f1", "no records"),
        ("negatives", "recall=0.9", "no record has gold lines, which the target recall=0.9 needs"),
        ("unlabelled", "recall=0.9", "carry no labels, which the target recall=0.9 needs"),
        ("unlabelled", "compression=0.999", "cannot be reached: the highest compression here is"),
        ("absent", "f1", "no such file"),
        ("broken", "f1", "not JSON"),
        ("labelled", "speed=3", "unknown target 'speed=3'"),
        ("labelled", "recall=1.5", "is no share"),
    ],
)
def test_one_clear_line(model, tmp_path, labelled, unlabelled, records, target, message):
    paths = {"labelled": labelled, "unlabelled": unlabelled}
    for name, text in (("none", ""), ("broken", '{"query": \n'), ("absent", None)):
        paths[name] = tmp_path / f"{name}.jsonl"
        if text is not None:
            paths[name].write_text(text)
    paths["negatives"] = tmp_path / "negatives.jsonl"
    write_records(paths["negatives"], [r for r in make_records() if r.is_irrelevant])
    before = (model / "linecls.json").read_bytes()
    result = tune(paths[records], "--target", target, "--name", "x", "--model", model)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert (model / "linecls.json").read_bytes() == before


def test_the_embedded_model_needs_an_output_and_output_a_name(labelled, tmp_path):
    before = (embedded() / "linecls.json").read_bytes()
    result = tune(labelled, "--target", "f1", "--name", "mine")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "--output" in result.stderr
    assert tune(labelled, "--target", "f1", "-o", tmp_path / "copy").exit_code == 2
    assert not (tmp_path / "copy").exists()
    assert (embedded() / "linecls.json").read_bytes() == before
