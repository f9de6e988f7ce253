"""Peers with tiny random weights through their own code; what they answer is compared with that code's answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_generative import Server

from linecls.errors import ArtifactError
from linecls.observation import split_lines
from linecls.spans import Span, from_mask
from linecls.systems import System, create
from linecls.systems.generative import EndpointError
from linecls.systems.peers import server_lines

TEXT = "the cache key changed\n\nlistening on port 8080\n" + "11 passed and 1 failed in 3.42 seconds\n" * 3


@pytest.fixture(scope="module")
def hf_tokenizer(tiny_tokenizer_path: Path):
    transformers = pytest.importorskip("transformers")
    return transformers.BertTokenizerFast(tokenizer_file=str(tiny_tokenizer_path))


def tiny_bert(size: int) -> dict[str, object]:
    return {
        "model_type": "bert",
        "vocab_size": size,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 128,
    }


@pytest.fixture(scope="module")
def squeez_folder(tmp_path_factory, tiny_tokenizer_path) -> Path:
    """What the package's training writes, with random weights."""
    torch = pytest.importorskip("torch")
    sentence = pytest.importorskip("squeez.encoder.sentence")
    from transformers import BertTokenizerFast

    path = tmp_path_factory.mktemp("squeez")
    tokenizer = BertTokenizerFast(tokenizer_file=str(tiny_tokenizer_path))
    tokenizer.add_special_tokens({"additional_special_tokens": [sentence.LINE_SEP_TOKEN]})
    torch.manual_seed(0)
    config = sentence.PooledLineConfig(
        base_model_name="tiny", encoder_config=tiny_bert(len(tokenizer)), vocab_size=len(tokenizer), max_length=100
    )
    sentence.PooledLineClassifier(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def lingua_folder(tmp_path_factory, hf_tokenizer) -> Path:
    torch = pytest.importorskip("torch")
    from transformers import BertConfig, BertForTokenClassification

    path = tmp_path_factory.mktemp("lingua")
    torch.manual_seed(0)
    values = {key: value for key, value in tiny_bert(len(hf_tokenizer)).items() if key != "model_type"}
    BertForTokenClassification(BertConfig(**values, num_labels=2)).save_pretrained(path)
    hf_tokenizer.save_pretrained(path)
    return path


class TestSqueezPooled:
    def test_keeps_what_the_package_keeps(self, squeez_folder) -> None:
        from squeez.encoder.sentence import PooledLineClassifier
        from transformers import AutoTokenizer

        system = create("squeez-pooled", model=squeez_folder)
        assert isinstance(system, System)
        probabilities = system.select("why", TEXT).probabilities
        assert probabilities is not None
        assert probabilities.shape == (6,)
        # a threshold between the lines, so that some are kept and some are not
        threshold = float(np.sort(probabilities)[3:5].mean())
        cut = create("squeez-pooled", model=squeez_folder, threshold=threshold).select("why", TEXT)
        model, tokenizer = (
            PooledLineClassifier.from_pretrained(squeez_folder).eval(),
            AutoTokenizer.from_pretrained(squeez_folder),
        )
        theirs = model.extract("why", TEXT, tokenizer, threshold=threshold)
        lines = split_lines(TEXT)
        ours = [lines[i - 1].rstrip("\n") for a, b in cut.spans for i in range(a, b + 1)]
        assert ours == theirs
        assert 0 < len(ours) < 6
        assert cut.spans == from_mask(probabilities >= threshold)

    @pytest.mark.parametrize("text", ["", "\n", " \n\n", "a"])
    def test_little_input(self, squeez_folder, text) -> None:
        assert create("squeez-pooled", model=squeez_folder).select("why", text).scores.shape == (
            len(split_lines(text)),
        )

    def test_says_what_it_ran(self, squeez_folder) -> None:
        described = create("squeez-pooled", model=squeez_folder).describe()
        assert len(described["sha256"]) == 64
        assert described["threshold"] == 0.5

    def test_squeez_folders_without_such_a_model(self, squeez_folder, tmp_path) -> None:
        with pytest.raises(ArtifactError, match=r"no config\.json"):
            create("squeez-pooled", model=tmp_path)
        (tmp_path / "config.json").write_text("{}")
        with pytest.raises(ArtifactError, match="no pooled squeez model"):
            create("squeez-pooled", model=tmp_path)
        with pytest.raises(ValueError, match="threshold"):
            create("squeez-pooled", model=squeez_folder, threshold=2.0)


class TestLLMLingua2:
    def test_a_line_scores_the_mean_of_its_tokens(self, lingua_folder, hf_tokenizer) -> None:
        import torch
        from transformers import AutoModelForTokenClassification

        system = create("llmlingua2", model=lingua_folder, keep=0.5)
        answer = system.select("not read", TEXT)
        assert answer.spans == system.select("at all", TEXT).spans
        lines = [line.rstrip("\n") for line in split_lines(TEXT)]
        lengths = [len(hf_tokenizer(line, add_special_tokens=False)["input_ids"]) for line in lines]
        ids = hf_tokenizer(" ".join(lines), add_special_tokens=False)["input_ids"]
        ids = hf_tokenizer.build_inputs_with_special_tokens(ids)
        assert len(ids) == sum(lengths) + 2
        model = AutoModelForTokenClassification.from_pretrained(lingua_folder).eval()
        with torch.inference_mode():
            probability = model(input_ids=torch.tensor([ids])).logits[0].softmax(-1)[:, 1].numpy()
        at = 1
        for score, length in zip(answer.scores, lengths, strict=True):
            expected = probability[at : at + length].mean() if length else 0.0
            assert score == pytest.approx(expected, abs=1e-5)
            at += length
        assert answer.scores[1] == 0.0  # the blank line
        assert sum(b - a + 1 for a, b in answer.spans) == 3

    def test_long_and_empty_input(self, lingua_folder) -> None:
        system = create("llmlingua2", model=lingua_folder)
        long = system.select("q", TEXT * 30)
        assert long.scores.shape == (180,)
        assert (np.delete(long.scores, np.arange(1, 180, 6)) > 0).all()
        assert system.select("q", "").spans == []

    def test_lingua_folders_without_such_a_model(self, lingua_folder, tmp_path, hf_tokenizer) -> None:
        from transformers import BertConfig, BertForTokenClassification

        with pytest.raises(ArtifactError, match="no token classifier"):
            create("llmlingua2", model=tmp_path)
        values = {key: value for key, value in tiny_bert(len(hf_tokenizer)).items() if key != "model_type"}
        BertForTokenClassification(BertConfig(**values, num_labels=5)).save_pretrained(tmp_path)
        hf_tokenizer.save_pretrained(tmp_path)
        with pytest.raises(ArtifactError, match="tells 5 labels apart"):
            create("llmlingua2", model=tmp_path)


class TestSwePruner:
    """Against a scripted server (unit): the real one needs a GPU and its weights."""

    @pytest.fixture
    def server(self):
        running = Server()
        yield running
        running.close()

    def test_sends_its_request_and_takes_its_lines(self, server) -> None:
        server.answers = lambda *_: (200, {"kept_frags": [1, 3, 99], "pruned_code": "…", "error_msg": None}, {})
        system = create("swe-pruner", endpoint=f"{server.url}/prune", threshold=0.3)
        assert isinstance(system, System)
        assert system.select("why", TEXT).spans == [Span(1, 1), Span(3, 3)]
        path, _, body = server.requests[0]
        assert (path, body) == ("/v1/prune", {"query": "why", "code": TEXT, "threshold": 0.3})

    def test_its_lines_are_those_of_splitlines(self) -> None:
        text = "a\rb\n\x0cc\r\nd\u2028e"
        assert text.splitlines() == ["a", "b", "", "c", "d", "e"]
        assert server_lines(text) == [0, 0, 1, 1, 2, 2]
        assert server_lines("") == []

    @pytest.mark.parametrize("value", [{}, {"kept_frags": ["1"]}, {"kept_frags": [1], "error_msg": "out of memory"}])
    def test_another_server_is_told(self, server, value) -> None:
        server.answers = lambda *_: (200, value, {})
        with pytest.raises(EndpointError, match="none of swe-pruner"):
            create("swe-pruner", endpoint=server.url).select("why", TEXT)
