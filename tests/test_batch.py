from __future__ import annotations

import errno
import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import load

from linecls.batch import pruning, publishing, report, sources
from linecls.batch import spool as spooling
from linecls.batch.pruning import prune_rows
from linecls.batch.rows import Fields, Row, make_row
from linecls.batch.run import Plan, run_batch
from linecls.batch.sources import JsonLines, open_source
from linecls.batch.spool import Spool
from linecls.cli import main
from linecls.cli.batch import Bar, Notes
from linecls.errors import LineclsError
from linecls.observation import Observation
from linecls.pruner import Pruner, Pruning
from linecls.spans import Span

LOG = "collected 3 items\n\ntest_login.py .F.\nE   ConnectionRefusedError: login service\r\n1 failed, 2 passed\n"


def observations(count: int) -> list[dict[str, object]]:
    return [
        {
            "id": f"r{i}",
            "query": f"why does login {i} fail",
            "tool_output": LOG.replace("3", str(i)) * (i % 3 + 1),
            "tags": [i, "x"] if i % 2 else None,
        }
        for i in range(count)
    ]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def read(path: Path) -> list[dict[str, object]]:
    data = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]


class Words:
    """A tokenizer that counts words."""

    def encode_batch(self, texts, **_):
        return [SimpleNamespace(ids=text.split()) for text in texts]


@dataclass
class FirstLine:
    """A pruner that keeps the first line, fails where it is told to, and reads `ahead` pairs ahead."""

    fails_on: str = "\0never"
    ahead: int = 3
    pruned: list[str] = field(default_factory=list)
    encoder: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(tokenizer=Words()))

    def prune(self, query, observation, **options):
        return next(self.prune_many([(query, observation)], **options))

    def prune_many(self, pairs, **_):
        waiting = []
        for pair in pairs:
            waiting.append(pair)
            if len(waiting) > self.ahead:
                yield self._one(*waiting.pop(0))
        yield from (self._one(*pair) for pair in waiting)

    def _one(self, query, raw):
        if self.fails_on in query:
            raise ValueError(f"cannot bear\n{query}")
        self.pruned.append(query)
        observation = Observation.of(raw)
        spans = [Span(1, 1)] if len(observation) else []
        logits = np.zeros(len(observation), np.float32)
        return Pruning(observation.select(spans), spans, logits, 0.5, len(spans), len(observation))


@pytest.fixture
def stub(monkeypatch):
    pruner = FirstLine()
    monkeypatch.setattr(Pruner, "from_pretrained", classmethod(lambda cls, *_, **__: pruner))
    return pruner


@pytest.fixture
def batch():
    def call(*arguments, **options):
        return CliRunner().invoke(main, ["batch", *map(str, arguments)], **options)

    return call


# Forms


def test_every_form_of_input_gives_the_same_rows(stub, batch, tmp_path):
    arrow = pytest.importorskip("pyarrow")

    datasets = pytest.importorskip("datasets")
    rows = [{key: row[key] for key in ("id", "query", "tool_output")} for row in observations(7)]
    plain = write(tmp_path / "in.jsonl", rows)
    inputs = [plain, write(tmp_path / "in.jsonl.gz", rows), tmp_path / "in.parquet", tmp_path / "folder"]
    pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(rows), inputs[2])
    datasets.Dataset.from_list(rows).save_to_disk(str(inputs[3]))
    outputs = []
    for number, source in enumerate(inputs):
        target = tmp_path / f"out{number}.jsonl"
        assert batch(source, "-o", target, "--id-field", "id").exit_code == 0
        outputs.append(target.read_bytes())
    target = tmp_path / "stdin.jsonl"
    assert batch("-", "-o", target, "--id-field", "id", input=plain.read_bytes()).exit_code == 0
    assert {*outputs, target.read_bytes()} == {outputs[0]}
    assert read(target)[0] == {
        "row": 1,
        "id": "r0",
        "text": "collected 0 items\n",
        "spans": [{"start_line": 1, "end_line": 1}],
        "kept_lines": 1,
        "total_lines": 5,
        "kept_bytes": 18,
        "total_bytes": len(rows[0]["tool_output"]),
        "answerable": 0.5,
        "unfit_tokens": None,
        "error": None,
    }


def test_every_form_of_output_holds_the_same_rows(stub, batch, tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = observations(9)
    rows[4]["tags"] = {"deep": 1}  # of another type than the rest
    source = write(tmp_path / "in.jsonl", rows)
    with source.open("ab") as file:
        file.write(b"{broken\n")
    for name in ("out.jsonl", "out.jsonl.gz", "out.parquet"):
        assert batch(source, "-o", tmp_path / name, "--fields", "tags").exit_code == 1
        assert not (tmp_path / f"{name}.part").exists()
        assert not (tmp_path / f"{name}.journal").exists()
    plain = read(tmp_path / "out.jsonl")
    assert plain == read(tmp_path / "out.jsonl.gz")
    for row in plain:
        row["tags"] = None if row["tags"] is None else json.dumps(row["tags"])
    assert parquet.read_table(tmp_path / "out.parquet").to_pylist() == plain


def test_parquet_keeps_the_types_that_json_has(stub, batch, tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = [{"query": "q", "tool_output": "a\n", "n": 1, "s": "x\ud800", "nested": {"a": [1]}}]
    rows.append({"query": "q", "tool_output": "a\n", "n": 2.5, "s": None, "nested": {"b": "z"}})
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert batch(source, "-o", tmp_path / "out.parquet", "--fields", "n,s,nested").exit_code == 0
    table = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["n"] for row in table] == [1.0, 2.5]
    assert [row["s"] for row in table] == ["x\ufffd\ufffd\ufffd", None]
    assert table[1]["nested"] == {"a": None, "b": "z"}


def test_bytes_that_are_no_text_come_out_exactly(stub, batch, tmp_path):
    arrow = pytest.importorskip("pyarrow")

    rows = [{"query": "q", "tool_output": b"\xff\xfe raw\r\nmore\n"}, {"query": "q", "tool_output": b"plain\n"}]
    pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(rows), tmp_path / "in.parquet")
    assert batch(tmp_path / "in.parquet", "-o", tmp_path / "out.jsonl").exit_code == 0
    first, second = read(tmp_path / "out.jsonl")
    import base64

    assert base64.b64decode(first["text_base64"]) == b"\xff\xfe raw\r\n"
    assert first["kept_bytes"] == 8
    assert "text_base64" not in second


def test_the_answers_are_those_of_prune(tiny_model_dir, tmp_path):
    source = write(tmp_path / "in.jsonl", observations(12))
    options = {"bias": -0.2, "max_lines": 2}
    plan = Plan(str(source), tmp_path / "out.jsonl", options=options, model=str(tiny_model_dir), device="cpu")
    assert run_batch(plan).rows == 12
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu")
    for row, given_ in zip(read(tmp_path / "out.jsonl"), observations(12), strict=True):
        expected = pruner.prune(given_["query"], given_["tool_output"], **options)
        assert row["text"] == expected.text
        assert row["spans"] == [{"start_line": a, "end_line": b} for a, b in expected.spans]
        assert row["answerable"] == expected.answerable


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_best_line_over_the_token_limit_is_told(tiny_model_dir, tmp_path, form):
    if form == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"query": "login", "tool_output": text} for text in ("login failed " * 40 + "\n", "x\n")]
    source, target = write(tmp_path / "in.jsonl", rows), tmp_path / f"out.{form}"
    options = {"bias": -1000.0, "max_tokens": 10}
    assert run_batch(Plan(str(source), target, options=options, model=str(tiny_model_dir), device="cpu")).failed == 0
    first, second = read(target) if form == "jsonl" else parquet.read_table(target).to_pylist()
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu")
    assert first["unfit_tokens"] == pruner.prune("login", rows[0]["tool_output"], **options).unfit_tokens > 10
    assert (first["spans"], second["unfit_tokens"], second["kept_lines"]) == ([], None, 1)


# Bad rows


BAD = [
    (b"{broken", "not JSON"),
    (b"\x00", "not JSON"),
    (b'{"query": "a\x00b", "tool_output": "x"}', "not JSON: Invalid control character"),
    (b"\xff\xfe", "not UTF-8"),
    (b"[1, 2]", "must be a JSON object"),
    (b"{}", "field 'query' is missing; the row has: no field"),
    (b'{"query": "q", "output": "x"}', "field 'tool_output' is missing; the row has: query, output"),
    (b'{"query": null, "tool_output": "x"}', "field 'query' is null"),
    (b'{"query": " ", "tool_output": "x"}', "field 'query' is empty"),
    (b'{"query": "\\u0000\\u3000", "tool_output": "x"}', "field 'query' is empty"),
    (b'{"query": 7, "tool_output": "x"}', "field 'query' is a number"),
    (b'{"query": "q", "tool_output": ["x"]}', "field 'tool_output' is a list"),
    (b'{"query": "q", "tool_output": "x", "n": ' + b"9" * 5000 + b"}", "not usable JSON"),
    (b'{"query": ' + b"[" * 100_000, "not usable JSON"),
]
GOOD = b'{"id": 1, "query": "q", "tool_output": "one\\u0000\\r\\ntwo"}'


def test_bad_rows_are_written_and_the_run_goes_on(stub, batch, tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = [b"\xef\xbb\xbf" + GOOD, *(line for bad, _ in BAD for line in (bad, GOOD + b"\r"))]
    source.write_bytes(b"\n\n".join(lines))  # blank lines between, no newline at the end
    result = batch(source, "-o", target, "--id-field", "id")
    assert result.exit_code == 1
    assert result.stderr == f"linecls: {len(BAD)} of {len(lines)} rows failed; their field `error` says why\n"
    rows = read(target)
    assert [row["row"] for row in rows] == [1 + 2 * i for i in range(len(lines))]
    for row, (_, says) in zip(rows[1::2], BAD, strict=True):
        assert says in row["error"]
        assert row["text"] is row["spans"] is row["kept_lines"] is row["answerable"] is None
    for row in rows[::2]:
        assert (row["id"], row["text"], row["total_lines"], row["error"]) == (1, "one\0\r\n", 2, None)


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=12))
def test_any_bytes_are_rows_or_blank(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("any") / "in.jsonl"
    path.write_bytes(b"\x20" + b"\n".join(lines))  # the space: not taken for gzip or Parquet
    rows = list(JsonLines(str(path), Fields()).rows())
    numbers = [row.number for row in rows]
    assert numbers == sorted(set(numbers))
    assert all(row.error for row in rows)
    for number, line in enumerate(b"\x20\n".join(lines).split(b"\n"), 1):
        assert (number in numbers) or not line.decode("utf-8-sig", "replace").strip()


def test_a_line_that_is_too_long_is_passed_over(stub, batch, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "LONGEST_ROW", 1000)
    monkeypatch.setattr(sources, "_PIECE", 64)
    source = tmp_path / "in.jsonl"
    long = GOOD.replace(b"two", b"z" * 5000)
    source.write_bytes(b"\n".join([GOOD, long, GOOD, long]))
    assert batch(source, "-o", tmp_path / "out.jsonl").exit_code == 1
    errors = [row["error"] for row in read(tmp_path / "out.jsonl")]
    assert errors[::2] == [None, None]
    assert errors[1] == errors[3]
    assert errors[1].startswith("the line is longer than")


def test_a_row_of_50_megabytes(stub, batch, tmp_path):
    big = {"query": "q", "tool_output": "first\n" + "y" * 50_000_000 + "\nlast"}
    source = write(tmp_path / "in.jsonl", [*observations(2), big, *observations(1)])
    assert batch(source, "-o", tmp_path / "out.jsonl").exit_code == 0
    row = read(tmp_path / "out.jsonl")[2]
    assert (row["text"], row["total_lines"], row["total_bytes"]) == ("first\n", 3, 50_000_011)


def test_a_row_of_50_megabytes_through_the_engine(tiny_model_dir, tmp_path):
    big = {"query": "login", "tool_output": "first\n" + "y " * 25_000_000 + "\nthe login failed\n"}
    source = write(tmp_path / "in.jsonl", [*observations(2), big, *observations(1)])
    options = {"bias": -1000.0}
    plan = Plan(str(source), tmp_path / "out.jsonl", options=options, model=str(tiny_model_dir), device="cpu")
    assert run_batch(plan).failed == 0
    row = read(tmp_path / "out.jsonl")[2]
    assert (row["kept_bytes"], row["total_bytes"]) == (50_000_024, 50_000_024)
    assert row["text"] == big["tool_output"]


def test_stop_at_the_first_bad_row(stub, batch, tmp_path):
    rows = observations(6)
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write(source, [*rows[:3], {"query": "q"}, *rows[4:]])
    result = batch(source, "-o", target, "--on-error", "fail")
    assert result.exit_code == 1
    assert result.stderr == (
        f"linecls: {source}: row 4: field 'tool_output' is missing; the row has: query; stopped before it,"
        f" 3 rows are safe in {target}.part\n"
    )
    assert not target.exists()
    write(source, rows)  # mended
    result = batch(source, "-o", target, "--on-error", "fail")
    assert (result.exit_code, result.stderr) == (0, "linecls: 3 rows were done before\n")
    assert len(read(target)) == 6


def test_a_row_that_the_model_cannot_bear(stub, batch, tmp_path):
    stub.fails_on = "login 5"
    source = write(tmp_path / "in.jsonl", observations(12))
    assert batch(source, "-o", tmp_path / "out.jsonl").exit_code == 1
    rows = read(tmp_path / "out.jsonl")
    assert [row["row"] for row in rows if row["error"]] == [6]
    assert rows[5]["error"] == "ValueError: cannot bear why does login 5 fail"
    assert [row["row"] for row in rows] == list(range(1, 13))


def test_a_model_that_fails_on_every_row_stops_the_run(stub, batch, tmp_path):
    stub.fails_on = ""
    source = write(tmp_path / "in.jsonl", observations(5))
    result = batch(source, "-o", tmp_path / "out.jsonl")
    assert result.exit_code == 2
    assert result.stderr.startswith("linecls: the model fails on every row: ValueError: cannot bear ")
    assert result.stderr.count("\n") == 1


def test_few_rows_wait_however_many_are_bad(monkeypatch):
    monkeypatch.setattr(pruning, "_MOST_WAITING", 50)
    taken = 0

    def rows():
        nonlocal taken
        for taken in range(5000):
            bad = "no" if taken % 1000 else None
            yield Row(taken, b"", taken, "q", "a\n", error=bad)

    given_back = 0
    for outcome in prune_rows(FirstLine(ahead=10_000), rows(), {}):
        assert outcome.number == given_back
        given_back += 1
        assert taken - given_back <= 50
    assert given_back == 5000


def test_rows_before_a_broken_input_are_answered():
    def rows():
        yield from (Row(i, b"", i, "q", "a\n") for i in range(5))
        raise LineclsError("the input ends here")

    stream = prune_rows(FirstLine(), rows(), {})
    assert [next(stream).number for _ in range(5)] == list(range(5))
    with pytest.raises(LineclsError, match="ends here"):
        next(stream)


MANY = """
import json, resource, sys
from pathlib import Path
import numpy as np
from linecls.batch.run import Plan, run_batch
from linecls.pruner import Pruner, Pruning
from linecls.spans import Span

class Keeper:
    def prune_many(self, pairs, **_):
        for _, text in pairs:
            yield Pruning(text, [Span(1, 20)], np.zeros(20, np.float32), 0.5, 20, 20)

Pruner.from_pretrained = classmethod(lambda cls, *_, **__: Keeper())
assert run_batch(Plan(sys.argv[1], Path(sys.argv[2]), model=sys.argv[3])).failed == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory in other units")
@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz"])
def test_many_rows_need_no_more_memory_than_few(tiny_model_dir, tmp_path, form):
    """Read, waiting, written and published, with a pruner that costs nothing: 38 MB of rows against 2 MB."""
    peaks = []
    for count in (1000, 20_000):
        source, target = tmp_path / f"in{count}.jsonl", tmp_path / f"out{count}.{form}"
        with source.open("w") as file:
            for number in range(count):
                text = "".join(f"{number} {'x' * 90}\n" for _ in range(20))
                file.write(json.dumps({"query": f"q{number}", "tool_output": text}) + "\n")
        command = [sys.executable, "-c", MANY, str(source), str(target), str(tiny_model_dir)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(run.stdout) / 1024)
        assert len(read(target)) == count
    assert peaks[1] - peaks[0] < 10  # MiB


def test_the_engine_keeps_nothing_of_the_rows_that_are_written(tiny_model_dir):
    """The program that shows it for a million rows, at small size: rows beyond those that may wait."""
    program = load("batch_memory")
    few, many = (program.measure(count, tiny_model_dir, 1)["peak_mib"] for count in (program.FEW, 6000))
    assert many - few < 25  # MiB: at most 4,096 rows wait, of some 2 KB each with their answers


# Broken inputs


@pytest.mark.parametrize(("good", "count"), [(1, "1 row is safe"), (2, "2 rows are safe")])
def test_safe_rows_are_counted_in_words(stub, batch, tmp_path, good, count):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write(source, [*observations(good), {"query": "q"}])
    assert f" {count} in {target}.part" in batch(source, "-o", target, "--on-error", "fail").stderr


def test_a_gzip_that_ends_in_its_first_line(stub, batch, tmp_path):
    source = tmp_path / "in.jsonl.gz"
    source.write_bytes(write(tmp_path / "whole.jsonl.gz", observations(1)).read_bytes()[:30])
    result = batch(source, "-o", tmp_path / "out.jsonl")
    assert (result.exit_code, result.stderr) == (2, f"linecls: {source}: in its first line the gzip data ends early\n")


def test_a_gzip_that_was_cut_short(stub, batch, tmp_path):
    rows = observations(400)
    whole = write(tmp_path / "whole.jsonl.gz", rows).read_bytes()
    assert batch(tmp_path / "whole.jsonl.gz", "-o", tmp_path / "expected.jsonl").exit_code == 0
    source, target = tmp_path / "in.jsonl.gz", tmp_path / "out.jsonl"
    source.write_bytes(whole[: len(whole) // 2])
    result = batch(source, "-o", target)
    done = len(read(tmp_path / "out.jsonl.part"))
    assert result.exit_code == 2
    assert result.stderr == (
        f"linecls: {source}: after line {done} the gzip data ends early; {done} rows are safe in {target}.part, the"
        " same command goes on from there\n"
    )
    assert 50 < done < 350
    assert not target.exists()
    stub.pruned.clear()
    source.write_bytes(whole)
    assert batch(source, "-o", target).exit_code == 0
    assert target.read_bytes() == (tmp_path / "expected.jsonl").read_bytes()
    assert len(stub.pruned) == 400 - done


def test_inputs_that_cannot_be_read(stub, batch, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    for source, says in (("missing.jsonl", "No such file"), ("bad.parquet", "cannot read")):
        result = batch(tmp_path / source, "-o", tmp_path / "out.jsonl")
        assert result.exit_code == 2
        assert says in result.stderr
        assert result.stderr.count("\n") == 1
    empty = write(tmp_path / "empty.jsonl", [])
    assert batch(empty, "-o", tmp_path / "empty_out.jsonl.gz").exit_code == 0
    assert read(tmp_path / "empty_out.jsonl.gz") == []


def test_a_column_that_is_not_there(stub, batch, tmp_path):
    arrow = pytest.importorskip("pyarrow")

    pytest.importorskip("pyarrow.parquet").write_table(
        arrow.table({"query": ["q"], "output": ["x"]}), tmp_path / "in.parquet"
    )
    result = batch(tmp_path / "in.parquet", "-o", tmp_path / "out.jsonl")
    assert result.exit_code == 2
    assert result.stderr == f"linecls: {tmp_path}/in.parquet has no column 'tool_output'; it has: query, output\n"


@pytest.mark.parametrize(
    ("name", "module", "extra", "arguments"),
    [
        ("in.parquet", "pyarrow.parquet", "eval", ()),
        ("in.jsonl", "pyarrow.parquet", "eval", ("-o", "out.parquet")),
        ("folder", "datasets", "eval", ()),
        ("in.jsonl", "ray", "ray", ("--engine", "ray")),
    ],
)
def test_a_missing_extra_leaves_nothing_behind(stub, batch, tmp_path, monkeypatch, name, module, extra, arguments):
    write(tmp_path / "in.jsonl", observations(2))
    (tmp_path / "in.parquet").write_bytes(b"PAR1 and more")
    (tmp_path / "folder").mkdir()
    (tmp_path / "out.jsonl").write_bytes(b"precious\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.chdir(tmp_path)
    result = batch(name, "-o", "out.jsonl", "--overwrite", *arguments)
    assert result.exit_code == 2
    assert result.stderr.endswith(f" is not installed; run: pip install 'linecls[{extra}]'\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (tmp_path / "out.jsonl").read_bytes() == b"precious\n"


def test_a_run_that_fails_before_its_first_row_leaves_nothing_behind(batch, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise LineclsError("no runtime")

    monkeypatch.setattr(Pruner, "from_pretrained", fail)
    write(tmp_path / "in.jsonl", observations(2))
    result = batch(tmp_path / "in.jsonl", "-o", tmp_path / "out.jsonl")
    assert (result.exit_code, result.stderr) == (2, "linecls: no runtime\n")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


# Going on


def test_another_input_is_not_taken_for_the_same(stub, batch, tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = observations(8)
    write(source, [*rows[:5], {}])
    assert batch(source, "-o", target, "--on-error", "fail").exit_code == 1
    for others in (rows[1:], rows[:3]):
        write(source, others)
        result = batch(source, "-o", target)
        assert result.exit_code == 2
        assert "is not the input that the unfinished output was begun with (its first 5 rows differ)" in result.stderr
    write(source, rows)
    assert batch(source, "-o", target).exit_code == 0
    assert len(read(target)) == 8


def test_other_settings_are_refused_or_start_anew(stub, batch, tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write(source, [*observations(5), {}])
    assert batch(source, "-o", target, "--on-error", "fail").exit_code == 1
    result = batch(source, "-o", target, "--bias", "1")
    assert result.exit_code == 2
    assert f'{target}.part was begun with options {{}}, not {{"bias": 1.0}}' in result.stderr
    stub.pruned.clear()
    assert batch(source, "-o", target, "--bias", "1", "--overwrite").exit_code == 1
    assert len(stub.pruned) == 5


def test_an_output_that_exists(stub, batch, tmp_path):
    source, target = write(tmp_path / "in.jsonl", observations(3)), tmp_path / "out.jsonl"
    target.write_bytes(b"precious\n")
    result = batch(source, "-o", target)
    assert result.exit_code == 2
    assert result.stderr == f"linecls: {target} exists; remove it, choose another output, or give --overwrite\n"
    assert target.read_bytes() == b"precious\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]
    assert batch(source, "-o", target, "--overwrite").exit_code == 0
    assert len(read(target)) == 3


def test_two_runs_on_one_output(stub, batch, tmp_path):
    source, target = write(tmp_path / "in.jsonl", observations(3)), tmp_path / "out.jsonl"
    with Spool(target, {"x": 1}) as held:
        held.append(b"{}\n", failed=False, digest=b"d")
        held.checkpoint()
        result = batch(source, "-o", target, "--overwrite")
        assert result.exit_code == 2
        assert result.stderr == (f"linecls: another run is writing {target}; wait for it, or choose another output\n")
        assert held.path.read_bytes() == b"{}\n"


class Crash(BaseException):
    """The power is gone: from here on nothing reaches the disk."""


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.parquet"])
def test_a_crash_at_any_step_loses_and_doubles_nothing(stub, tmp_path, monkeypatch, name):
    """Every call that changes the disk is in turn the last one; torn writes included."""
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(spooling, "CHECKPOINT_SECONDS", 0.0)
    source = write(tmp_path / "in.jsonl", [*observations(4), {"query": "bad"}])
    (tmp_path / "whole").mkdir()
    expected = tmp_path / "whole" / name
    run_batch(Plan(str(source), expected, Fields(passed=("tags",))))
    left = None

    def counted(function, torn=False):
        def call(*arguments, **options):
            nonlocal left
            if left is not None:
                left -= 1
                if left < 0:
                    if torn and left == -1:
                        function(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                    raise Crash
            return function(*arguments, **options)

        return call

    for module, function in ((os, "fsync"), (os, "ftruncate"), (os, "replace"), (Path, "unlink")):
        monkeypatch.setattr(module, function, counted(getattr(module, function)))
    monkeypatch.setattr(os, "write", counted(os.write, torn=True))
    steps = 0
    for step in range(200):
        folder = tmp_path / str(step)
        folder.mkdir()
        plan = Plan(str(source), folder / name, Fields(passed=("tags",)))
        left = step
        try:
            run_batch(plan)
        except Crash:
            left = None
            result = run_batch(plan)
            assert (result.rows, result.failed) == (5, 1)
            assert (folder / name).read_bytes() == expected.read_bytes()
            assert [p.name for p in folder.iterdir()] == [name]
        else:
            steps = step
            break
    assert steps > 20


KILLED = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored where a shell runs this in the background
from linecls.batch import spool
spool.CHECKPOINT_SECONDS = 0.005
from linecls.pruner import Pruner
whole = Pruner.prune_many
def slow(self, pairs, **options):
    for pruning in whole(self, pairs, **options):
        time.sleep(0.002)  # so that a kill finds the run at work
        yield pruning
Pruner.prune_many = slow
from linecls.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_kill_9_at_random_moments(tiny_model_dir, tmp_path):
    name = "out.jsonl.gz"
    rows = observations(300)
    rows[77] = {"query": "bad"}
    source = write(tmp_path / "in.jsonl", rows)
    plan = Plan(str(source), tmp_path / f"whole_{name}", model=str(tiny_model_dir), device="cpu", threads=1)
    run_batch(plan)
    target, journal = tmp_path / name, tmp_path / f"{name}.journal"
    command = [sys.executable, "-c", KILLED, "batch", source, "-o", target, "--model", tiny_model_dir]
    command += ["--device", "cpu", "--threads", "1"]
    chance = random.Random(os.environ.get("CI") and 0)
    kills = 0
    for _ in range(40):
        with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE) as run:
            begun = journal.stat().st_size if journal.exists() else 0
            while run.poll() is None and not (journal.exists() and journal.stat().st_size > begun + 300):
                time.sleep(0.002)
            if kills < 4:
                time.sleep(chance.random() * 0.1)
                run.kill()
            run.stderr.read()
        if run.returncode != -signal.SIGKILL:
            break
        kills += 1
    assert kills >= 2
    assert run.returncode == 1  # one row is bad
    assert target.read_bytes() == (tmp_path / f"whole_{name}").read_bytes()
    assert not journal.exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupted_run_says_so_and_goes_on(tiny_model_dir, tmp_path):
    source, target = write(tmp_path / "in.jsonl", observations(120)), tmp_path / "out.jsonl"
    run_batch(Plan(str(source), tmp_path / "whole.jsonl", model=str(tiny_model_dir), device="cpu", threads=1))
    command = [sys.executable, "-c", KILLED, "batch", source, "-o", target, "--model", tiny_model_dir]
    command = [*map(str, command), "--device", "cpu", "--threads", "1"]
    with at_work(command, target) as run:
        run.send_signal(signal.SIGINT)
        said = run.stderr.read()
    assert (run.returncode, said) == (130, b"linecls: interrupted; the same command goes on with %s\n" % bytes(target))
    assert not target.exists()
    done = len(read(tmp_path / "out.jsonl.part"))
    assert 0 < done < 120
    run = subprocess.run(command, capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (0, b"linecls: %d rows were done before\n" % done)
    assert target.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl", "whole.jsonl"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX locks")
def test_a_second_process_does_not_touch_the_output_of_the_first(tiny_model_dir, batch, tmp_path):
    source, target = write(tmp_path / "in.jsonl", observations(100)), tmp_path / "out.jsonl"
    run_batch(Plan(str(source), tmp_path / "whole.jsonl", model=str(tiny_model_dir), device="cpu", threads=1))
    command = [sys.executable, "-c", KILLED, "batch", source, "-o", target, "--model", tiny_model_dir]
    with at_work([*map(str, command), "--device", "cpu", "--threads", "1"], target) as run:
        second = batch(source, "-o", target, "--model", tiny_model_dir, "--device", "cpu", "--overwrite")
        assert run.poll() is None
        said = run.stderr.read()
    assert (second.exit_code, second.stderr) == (
        2,
        f"linecls: another run is writing {target}; wait for it, or choose another output\n",
    )
    assert (run.returncode, said) == (0, b"")
    assert target.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@contextmanager
def at_work(command: list[str], target: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process of a batch that has brought its first rows to the disk."""
    journal = target.with_name(target.name + ".journal")
    with subprocess.Popen(command, stderr=subprocess.PIPE) as run:
        while run.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > 2):
            time.sleep(0.002)
        yield run


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.argv[1:2] = []
from linecls.cli import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX limits")
def test_a_disk_that_fills_up(tiny_model_dir, tmp_path):
    rows = observations(60)
    source, target = write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    arguments = ["batch", source, "-o", target, "--model", tiny_model_dir, "--device", "cpu", "--bias", "-1000"]
    run = subprocess.run(
        [sys.executable, "-c", FULL, "9000", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert f"linecls: cannot write {target}.part: File too large" in run.stderr
    assert not target.exists()
    options = {"options": {"bias": -1000.0}, "model": str(tiny_model_dir), "device": "cpu"}
    assert run_batch(Plan(str(source), target, **options)).rows == 60
    run_batch(Plan(str(source), tmp_path / "whole.jsonl", **options))
    assert target.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_no_space_is_left_for_a_row(stub, batch, tmp_path, monkeypatch):
    """A write of which half is done, then none, as on a disk that fills up; the checkpoint has no room either."""
    monkeypatch.setattr(spooling, "_BUFFER", 1000)
    source, target = write(tmp_path / "in.jsonl", observations(40)), tmp_path / "out.jsonl"
    assert batch(source, "-o", tmp_path / "whole.jsonl").exit_code == 0
    whole, room = os.write, 6000

    def full(descriptor, data):
        nonlocal room
        written = whole(descriptor, bytes(data)[:room]) if room else 0
        room -= written
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return written

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        result = batch(source, "-o", target)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"linecls: cannot write {target}.part: No space left on device; ")
    done = json.loads(target.with_name("out.jsonl.journal").read_bytes().splitlines()[-1])["rows"]
    count = "1 row is safe" if done == 1 else f"{done} rows are safe"
    assert done
    assert result.stderr.endswith(f"; {count} in {target}.part, the same command goes on from there\n")
    assert not target.exists()
    assert batch(source, "-o", target).exit_code == 0
    assert target.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_a_disk_that_fills_up_while_rows_are_compressed(stub, batch, tmp_path, monkeypatch):
    source, target = write(tmp_path / "in.jsonl", observations(5)), tmp_path / "out.jsonl.gz"

    def full(spool, made):
        made.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(publishing, "_write_gzip", full)
        result = batch(source, "-o", target)
    assert (result.exit_code, result.stderr) == (2, f"linecls: cannot write {target}.tmp: No space left on device\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl.gz.journal", "out.jsonl.gz.part"]
    stub.pruned.clear()
    source.unlink()
    source.touch()  # all rows are there: the input is not read again
    assert batch(source, "-o", target).exit_code == 0
    assert len(read(target)) == 5
    assert stub.pruned == []


# The report


def test_report(stub, batch, tmp_path):
    rows = [{"query": "q", "tool_output": "a\n" * n} for n in (1, 2, 4, 10)]
    source = write(tmp_path / "in.jsonl", [*rows, {"query": "q", "tool_output": ""}, {"query": "q"}])
    assert batch(source, "-o", tmp_path / "out.jsonl", "--report", tmp_path / "r.json").exit_code == 1
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["rows"], found["failed"], found["without_kept_lines"]) == (6, 1, 1)
    assert (found["kept_lines"], found["total_lines"], found["total_bytes"]) == (4, 17, 34)
    lines = found["compression_lines"]
    assert lines["rows"] == 4
    assert lines["overall"] == pytest.approx(1 - 4 / 17)
    assert lines["mean"] == pytest.approx((0 + 0.5 + 0.75 + 0.9) / 4)
    assert lines["quantiles"]["0.5"] == 0.5
    assert lines["quantiles"]["0.95"] == 0.9
    assert sum(lines["histogram"]) == 4
    assert [index for index, count in enumerate(lines["histogram"]) if count] == [0, 10, 15, 18]
    assert found["errors"] == {"field 'tool_output' is missing": 1}


def test_report_as_a_plot(stub, batch, tmp_path):
    pytest.importorskip("matplotlib")
    source = write(tmp_path / "in.jsonl", observations(6))
    assert batch(source, "-o", tmp_path / "a.jsonl", "--report", tmp_path / "r.html").exit_code == 0
    page = (tmp_path / "r.html").read_text()
    assert page.count("<svg") == 1
    assert "src=" not in page
    assert "<link" not in page
    start = page.index('id="report">') + len('id="report">')
    assert json.loads(page[start : page.index("</script>")])["rows"] == 6
    assert batch(source, "-o", tmp_path / "b.jsonl", "--report", tmp_path / "p.png").exit_code == 0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "p.json").read_text())["rows"] == 6


@pytest.mark.parametrize("name", ["r.html", "r.png"])
def test_a_plot_without_matplotlib_is_refused_before_the_run(stub, batch, tmp_path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    source = write(tmp_path / "in.jsonl", observations(2))
    result = batch(source, "-o", tmp_path / "out.jsonl", "--report", tmp_path / name)
    assert (result.exit_code, stub.pruned) == (2, [])
    assert result.stderr == "linecls: matplotlib is not installed; run: pip install 'linecls[eval]'\n"
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    assert batch(source, "-o", tmp_path / "out.jsonl", "--report", tmp_path / "r.json").exit_code == 0
    assert "matplotlib (extra `eval`)" in " ".join(batch("--help").stdout.split())


def test_a_report_of_no_row():
    assert report._distribution(np.zeros(report._STEPS + 1, np.int64), 0.0, 0, 0)["overall"] is None


# Usage


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "out.csv"], "cannot tell the form of out.csv from its name"),
        (["-o", "out.jsonl", "--report", "r.pdf"], "cannot tell the form of the report r.pdf"),
        (["-o", "out.jsonl", "--report", "no/r.json"], "no such folder"),
        (["-o", "r.json", "--report", "r.json"], "the report would overwrite r.json, the input or the output"),
        (["-o", "no/out.jsonl"], "No such file or directory"),
        (["-o", "in.jsonl"], "in.jsonl is input and output at once"),
        (["-o", "out.jsonl", "--fields", "error"], "the output has its own 'error'"),
        (["-o", "out.jsonl", "--fields", "a,b,a"], "the field 'a' is passed through twice"),
        (["-o", "out.jsonl", "--split", "test"], "is no data set with splits"),
        (["-o", "out.jsonl", "--operating-point", "none"], "no operating point"),
        (["-o", "out.jsonl", "--model", "/no/such/model"], "no such model directory"),
        (["-o", "out.jsonl", "--device", "tpu"], "unknown device"),
        (["-o", "out.jsonl", "--workers", "2"], "--workers goes with --engine ray"),
        (["-o", "out.jsonl", "--bias", "nan"], "not a finite number"),
        ([], "Missing option '-o'"),
    ],
)
def test_usage(stub, batch, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path / "in.jsonl", observations(2))
    before = source.read_bytes()
    result = batch("in.jsonl", *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["in.jsonl"]
    assert source.read_bytes() == before


@pytest.mark.parametrize("report", ["in.json", "./in.json", "linked.json", "in.png"])
def test_a_report_never_takes_the_place_of_the_input(stub, batch, tmp_path, monkeypatch, report):
    monkeypatch.chdir(tmp_path)
    if report.endswith(".png"):
        pytest.importorskip("matplotlib")
    source = write(tmp_path / "in.json", observations(2))
    (tmp_path / "linked.json").symlink_to(source)
    before = source.read_bytes()
    result = batch("in.json", "-o", "out.jsonl", "--report", report)
    assert result.exit_code == 2
    assert "the input or the output; choose another name" in result.stderr
    assert source.read_bytes() == before
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_report_that_cannot_be_written_is_said_before_the_work(stub, batch, tmp_path):
    source = write(tmp_path / "in.jsonl", observations(2))
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    result = batch(str(source), "-o", str(tmp_path / "out.jsonl"), "--report", str(folder / "r.json"))
    assert result.exit_code == 2
    assert "the folder cannot be written" in result.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["closed", "in.jsonl"]


def test_quiet_where_nobody_looks_and_a_bar_where_somebody_does(stub, batch, tmp_path):
    source = write(tmp_path / "in.jsonl", observations(5))
    result = batch(source, "-o", tmp_path / "out.jsonl")
    assert (result.stdout, result.stderr) == ("", "")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for total in (source.stat().st_size, None):
        terminal = Terminal()
        with Bar(terminal) as bar:
            bar.begins(total, 0)
            rows = [make_row(row, Fields(), i, b"", 10 * i) for i, row in enumerate(observations(5))]
            for outcome in prune_rows(FirstLine(), rows, {}):
                bar.row(outcome)
            text = bar.text()
        assert text.startswith("5 rows, ")
        assert text.endswith(" removed")
        assert " rows/s, " in terminal.getvalue()
        assert " tokens/s, " in terminal.getvalue()


@pytest.mark.parametrize(("total", "ahead"), [(1000, "; 30% of the input, about 1:10 to go"), (None, "")])
def test_a_line_now_and_then_where_nobody_looks(monkeypatch, capsys, total, ahead):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr("time.monotonic", lambda: clock.now)
    rows = [make_row(row, Fields(), i, b"", 100 * i) for i, row in enumerate(observations(5), 1)]
    outcomes = [replace(outcome, tokens=900) for outcome in prune_rows(FirstLine(), rows, {})]
    with Notes() as notes:
        notes.begins(total, 0)
        for outcome in outcomes[:2]:
            clock.now += 10
            notes.row(outcome)
        assert capsys.readouterr().err == ""  # of a short run nothing
        for outcome in outcomes[2:]:
            clock.now += 10
            notes.row(outcome)
    removed = 1 - 3 / sum(outcome.total_lines for outcome in outcomes[:3])
    says = f"linecls: 3 rows, 0.1 rows/s, 90 tokens/s, {removed:.1%} removed{ahead}\n"
    assert capsys.readouterr().err == says


def test_lines_go_where_stderr_is_no_terminal(stub, batch, tmp_path, monkeypatch):
    monkeypatch.setattr("linecls.progress.NOTE_SECONDS", 0.0)
    source = write(tmp_path / "in.jsonl", observations(3))
    result = batch(source, "-o", tmp_path / "out.jsonl")
    first, *_, last = result.stderr.splitlines()
    assert first.startswith("linecls: 1 rows, ")
    assert last.startswith("linecls: 3 rows, ")
    assert "100% of the input, about 0:00 to go" in last


def test_tokens_are_estimated(tiny_model_dir):
    pruner = Pruner.from_pretrained(tiny_model_dir, device="cpu")
    rows = [make_row(row, Fields(), i, b"", i) for i, row in enumerate(observations(6))]
    counted = sum(o.tokens for o in prune_rows(pruner, rows, {}, count_tokens=True))
    encode = pruner.encoder.tokenizer.encode
    exact = sum(len(encode(r.observation, add_special_tokens=False).ids) for r in rows)
    assert counted == pytest.approx(exact, rel=0.05)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX pipes")
def test_a_named_pipe_is_read_once(stub, batch, tmp_path):
    data = write(tmp_path / "in.jsonl.gz", observations(4)).read_bytes()
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
    writer.start()
    assert batch(tmp_path / "pipe", "-o", tmp_path / "out.jsonl").exit_code == 0
    writer.join()
    assert len(read(tmp_path / "out.jsonl")) == 4


def test_open_source_tells_the_form_by_content(tmp_path):
    path = write(tmp_path / "odd.parquet.gz", observations(2))
    assert [row.number for row in open_source(str(path), Fields()).rows()] == [1, 2]
