"""A local Ray with two actors."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from linecls.batch import ray_engine
from linecls.batch.run import Plan, run_batch
from linecls.batch.spool import Checkpoint, Spool
from linecls.cli import main
from linecls.errors import LineclsError


@pytest.fixture(scope="module")
def cluster():
    """Ray with two CPUs; shared, because its start takes seconds."""
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    pytest.importorskip("ray.data", reason="needs the extra ray")
    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    except Exception as error:
        if "timed out during startup" not in str(error):
            raise
        pytest.skip("Ray gives itself 30 s to start; this machine is too busy for that")
    yield ray
    ray.shutdown()


@pytest.fixture
def source(tmp_path: Path, sentences: list[str]) -> Path:
    """Rows of several bundles, some of them bad."""
    path = tmp_path / "in.jsonl"
    with path.open("w") as file:
        for i in range(600):
            text = "\n".join(sentences[(i + j) % len(sentences)] for j in range(i % 5 + 1))
            row = {"id": i, "query": f"why does test {i} fail", "tool_output": text}
            file.write("{broken\n" if i % 200 == 77 else json.dumps(row) + "\n")
    return path


def test_the_bytes_are_those_of_the_local_engine(cluster, source, tmp_path, tiny_model_dir):
    arguments = ["batch", str(source), "--model", str(tiny_model_dir), "--device", "cpu", "--id-field", "id"]
    local, ray = tmp_path / "local.jsonl", tmp_path / "ray.jsonl"
    result = CliRunner().invoke(main, [*arguments, "-o", str(local)])
    assert result.exit_code == 1
    result = CliRunner().invoke(main, [*arguments, "-o", str(ray), "--engine", "ray", "--workers", "2"])
    assert result.exit_code == 1, result.stderr
    assert result.stderr == "linecls: 3 of 600 rows failed; their field `error` says why\n"
    assert ray.read_bytes() == local.read_bytes()


def test_two_actors_share_the_work(cluster, tmp_path, tiny_model_dir, monkeypatch):
    meeting, source = tmp_path / "meeting", tmp_path / "in.jsonl"
    meeting.mkdir()
    source.write_text("".join(f'{{"query": "q{i}", "tool_output": "a"}}\n' for i in range(3000)))

    class Named(ray_engine.Worker):
        def __call__(self, batch):
            (meeting / str(os.getpid())).touch()
            until = time.monotonic() + 30  # so that one cannot do it all before the other has started
            while len(list(meeting.iterdir())) < 2 and time.monotonic() < until:
                time.sleep(0.05)
            return ray_engine._table([os.getpid()])

    monkeypatch.setattr(ray_engine, "Worker", Named)
    plan = Plan(str(source), tmp_path / "out.jsonl", model=str(tiny_model_dir), device="cpu", workers=2)
    batches = ray_engine._pipeline(cluster, plan, Checkpoint()).iter_batches(batch_size=None)
    processes = [pickle.loads(bundle)[0] for batch in batches for bundle in batch["bundle"]]
    assert len(processes) == 12  # bundles of 256 rows
    assert len(set(processes)) == 2
    assert os.getpid() not in processes


def test_an_actor_that_dies_is_replaced(cluster, source, tmp_path, tiny_model_dir, monkeypatch):
    died = tmp_path / "died"

    class Mortal(ray_engine.Worker):
        def __call__(self, batch):
            if not died.exists():
                died.touch()
                os._exit(1)
            return super().__call__(batch)

    options = {"model": str(tiny_model_dir), "device": "cpu"}
    run_batch(Plan(str(source), tmp_path / "whole.jsonl", **options))
    monkeypatch.setattr(ray_engine, "Worker", Mortal)
    result = run_batch(Plan(str(source), tmp_path / "out.jsonl", engine="ray", workers=2, **options))
    assert died.exists()
    assert (result.rows, result.failed) == (600, 3)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_it_goes_on_where_another_engine_stopped(cluster, source, tmp_path, tiny_model_dir):
    whole, target = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    options = {"model": str(tiny_model_dir), "device": "cpu"}
    run_batch(Plan(str(source), whole, **options))
    stopped = run_batch(Plan(str(source), target, stop_on_error=True, **options))
    assert stopped.rows == 77
    result = run_batch(Plan(str(source), target, engine="ray", workers=2, **options))
    assert (result.rows, result.resumed, result.failed) == (600, 77, 3)
    assert target.read_bytes() == whole.read_bytes()


def test_what_goes_wrong_on_a_node_is_one_line(cluster, source, tmp_path, tiny_model_dir):
    target = tmp_path / "out.jsonl"
    options = {"model": str(tiny_model_dir), "device": "cpu", "engine": "ray", "workers": 1}
    plan = Plan(str(source), target, stop_on_error=True, **options)
    assert run_batch(plan).stopped is not None
    source.write_bytes(source.read_bytes()[200:])
    with pytest.raises(LineclsError, match="is not the input that the unfinished output was begun with") as raised:
        run_batch(plan)
    assert "\n" not in str(raised.value)


def test_standard_input_is_refused(tmp_path):
    pytest.importorskip("ray", reason="needs the extra ray")
    arguments = ["batch", "-", "-o", str(tmp_path / "out.jsonl"), "--engine", "ray"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "--engine ray cannot read standard input" in result.stderr


def test_without_ray(tmp_path, source, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    result = CliRunner().invoke(main, ["batch", str(source), "-o", str(tmp_path / "out.jsonl"), "--engine", "ray"])
    assert result.exit_code == 2
    assert "pip install 'linecls[ray]'" in result.stderr
    assert not Spool(tmp_path / "out.jsonl", {}).journal.exists()
