"""States kept on disk against states computed on the spot."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")

from tokenizers import Tokenizer  # noqa: E402

from linecls.encoding import EncodingConfig, WindowEncoder  # noqa: E402
from linecls.errors import LineclsError  # noqa: E402
from linecls.model.backbone import Backbone  # noqa: E402
from linecls.model.pooling import to_tensors  # noqa: E402
from linecls.records import Record  # noqa: E402
from linecls.training.batches import (  # noqa: E402
    Augmentation,
    build_batch,
    group_records,
    line_token_counts,
    plan_epoch,
)
from linecls.training.cached import StateCache  # noqa: E402

TINY: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": 300,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 128,
}
WORDS = ["login", "failed", "cache", "", "warning: unused variable", "  port 8080", "E   AssertionError"]


@pytest.fixture(scope="module")
def encoder(tiny_tokenizer_path: Path) -> WindowEncoder:
    config = EncodingConfig(
        window_tokens=64, max_line_tokens=24, max_query_tokens=16, context_tokens=0, max_lines=30, overlap_lines=8
    )
    return WindowEncoder(Tokenizer.from_file(str(tiny_tokenizer_path)), config)


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    torch.manual_seed(0)
    return Backbone("tiny", config=TINY)


def some_records(sizes: list[int]) -> list[Record]:
    rng = random.Random(4)
    records = []
    for number, size in enumerate(sizes):
        output = "".join(f"{rng.choice(WORDS)} {rng.choice(WORDS)} {number if i % 4 else ''}\n" for i in range(size))
        for query in ("which test failed", f"what of run {number}"):
            records.append(Record(query=query, tool_output=output, tool_type="logs", gold_spans=[(2, 3)]))
    return records


def prepared(folder: Path, backbone: Backbone, encoder: WindowEncoder, sizes: list[int]) -> tuple[Any, Any, Any]:
    groups = group_records(some_records(sizes))
    counts = list(line_token_counts(groups, encoder))
    cache = StateCache(folder, backbone, encoder)
    cache.prepare(groups, counts)
    return cache, groups, counts


def batches(groups: Any, counts: Any, encoder: WindowEncoder, augmentation: Augmentation | None) -> Any:
    rng = random.Random(1) if augmentation else None
    plan = plan_epoch(groups, encoder, augmentation, batch_tokens=800, step_tokens=800, token_counts=counts, rng=rng)
    return [build_batch(micro, groups, encoder) for micro in plan]


def live_states(batch: Any, backbone: Backbone) -> Any:
    tensors = to_tensors(batch)
    with torch.inference_mode():
        return backbone(tensors["input_ids"], tensors["attention_mask"]).numpy()


def test_states_of_whole_observations_are_those_of_the_backbone(
    tmp_path: Path, encoder: WindowEncoder, backbone: Backbone
) -> None:
    cache, groups, counts = prepared(tmp_path, backbone, encoder, [12, 25, 70])
    for batch, _, targets in batches(groups, counts, encoder, None):
        filled = cache.fill(batch, targets)
        live = live_states(batch, backbone).reshape(-1, 16)
        flat = filled["input_ids"].reshape(-1, 16)
        read = np.zeros(len(flat), bool)
        for row, target in enumerate(targets):
            segment = target.segment
            # In a segment's overlap the line's state is the one of the segment that decides it.
            for line in range(segment.keep_start - segment.start, segment.keep_stop - segment.start):
                first, length = batch["line_index"][row, line], batch["line_length"][row, line]
                read[first : first + length] = True
            query = filled["query_ids"][row][batch["query_mask"][row] > 0]
            with torch.inference_mode():
                ids = torch.from_numpy(batch["query_ids"][row][batch["query_mask"][row] > 0])[None]
                assert np.allclose(query, backbone(ids, torch.ones_like(ids))[0].numpy(), atol=5e-3)
        assert read.sum() > 20
        assert np.allclose(flat[read], live[read], atol=5e-3)


def test_parts_of_observations_take_the_states_of_the_whole(
    tmp_path: Path, encoder: WindowEncoder, backbone: Backbone
) -> None:
    cache, groups, counts = prepared(tmp_path, backbone, encoder, [60, 55, 50, 45])
    whole = {}
    for batch, _, targets in batches(groups, counts, encoder, None):
        filled = cache.fill(batch, targets)["input_ids"].reshape(-1, 16)
        for row, target in enumerate(targets):
            for line, place in enumerate(target.origin):
                first, length = batch["line_index"][row, line], batch["line_length"][row, line]
                whole[place] = filled[first : first + length]
    augmentation = Augmentation(crop_probability=1, cut_probability=1, splice_probability=1, swap_probability=1)
    compared = 0
    for batch, _, targets in batches(groups, counts, encoder, augmentation):
        filled = cache.fill(batch, targets)["input_ids"].reshape(-1, 16)
        for row, target in enumerate(targets):
            for line, place in enumerate(target.origin):
                first, length = batch["line_index"][row, line], batch["line_length"][row, line]
                assert np.array_equal(filled[first : first + length], whole[place])
                compared += 1
    assert compared > 100


def test_nothing_is_computed_twice_and_a_torn_file_is_mended(
    tmp_path: Path, encoder: WindowEncoder, backbone: Backbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, groups, counts = prepared(tmp_path, backbone, encoder, [12, 25])
    batch, _, targets = batches(groups, counts, encoder, None)[0]
    expected = cache.fill(batch, targets)["input_ids"]
    with open(cache.folder / "states.f16", "ab") as file:
        file.write(b"torn")
    with open(cache.folder / "index.jsonl", "a") as file:
        file.write('{"key": "half')
    seen = []
    encode = StateCache._observation
    monkeypatch.setattr(StateCache, "_observation", lambda self, group: seen.append(group) or encode(self, group))
    again, groups, counts = prepared(tmp_path, backbone, encoder, [12, 25, 9])
    assert len(seen) == 1
    assert len(seen[0].observation) == 9
    batch, _, targets = batches(groups[:2], counts[:2], encoder, None)[0]
    assert np.array_equal(again.fill(batch, targets)["input_ids"], expected)


def test_each_backbone_and_encoding_has_its_own_states(
    tmp_path: Path, encoder: WindowEncoder, backbone: Backbone
) -> None:
    torch.manual_seed(1)
    other = Backbone("tiny", config=TINY)
    wider = WindowEncoder(encoder.tokenizer, EncodingConfig(window_tokens=96, max_line_tokens=24, max_query_tokens=16))
    folders = {StateCache(tmp_path, b, e).folder for b, e in ((backbone, encoder), (other, encoder), (backbone, wider))}
    assert len(folders) == 3
    joint = EncodingConfig(reading="joint", window_tokens=96, max_line_tokens=24, max_query_tokens=16)
    with pytest.raises(LineclsError, match="apart"):
        StateCache(tmp_path, backbone, WindowEncoder(encoder.tokenizer, joint))
