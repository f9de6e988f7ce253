"""A causal model with tiny random weights through transformers; what it writes is noise, its bookkeeping is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from linecls.errors import LineclsError, MissingExtraError
from linecls.spans import Span
from linecls.systems import System, create

TEXT = "the cache key changed\nlistening on port 8080\n"
TEMPLATE = "{% for m in messages %}{{ m.content }} [SEP] {% endfor %}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, tiny_tokenizer_path: Path) -> Path:
    torch = pytest.importorskip("torch")
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    path = tmp_path_factory.mktemp("causal")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(tiny_tokenizer_path), unk_token="[UNK]", pad_token="[PAD]", eos_token="[SEP]"
    )
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=1024,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        pad_token_id=tokenizer.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def test_writes_counts_and_caches(folder, tmp_path) -> None:
    system = create("local", model=str(folder), max_tokens=5, device="cpu", cache=tmp_path)
    assert isinstance(system, System)
    answer = system.select("which key", TEXT)
    written = answer.generation
    assert written is not None
    assert written.completion_tokens <= 5
    assert written.cut == (written.completion_tokens == 5)
    assert written.prompt_tokens > 20
    assert written.lines == written.exact + written.normalised + written.hallucinated
    again = system.select("which key", TEXT)
    assert again.generation is not None
    assert (again.generation.cached, again.spans) == (True, answer.spans)


def test_sampling_repeats_itself_by_its_seed(folder) -> None:
    def text(seed: int) -> str:
        system = create("local", model=str(folder), max_tokens=12, temperature=1.5, seed=seed, device="cpu")
        return system.complete([{"role": "user", "content": TEXT}]).text

    assert text(1) == text(1) != text(2)


def test_an_observation_past_the_context_stays_whole(folder) -> None:
    system = create("local", model=str(folder), max_context=64, max_tokens=8, device="cpu")
    answer = system.select("which key", TEXT * 40)
    assert answer.spans == [Span(1, 80)]
    assert answer.generation.failed


def test_says_what_it_ran(folder) -> None:
    described = create("local", model=str(folder), device="cpu").describe()
    assert described["model"] == folder.name
    assert len(described["sha256"]) == 64
    assert described["max_context"] == 1024


def test_models_that_do_not_load(folder, tmp_path, monkeypatch) -> None:
    with pytest.raises(LineclsError, match="cannot load the model") as caught:
        create("local", model=str(tmp_path))
    assert "\n" not in str(caught.value)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"linecls\[gguf\]"):
        create("local", model="package:SmolLM2-135M-Instruct")


def test_an_adapter_that_does_not_load(folder, tmp_path) -> None:
    pytest.importorskip("peft")
    with pytest.raises(LineclsError, match="cannot load the adapter"):
        create("local", model=str(folder), adapter=tmp_path, device="cpu")


def test_a_tokenizer_without_a_chat_template(folder, tmp_path) -> None:
    import shutil

    shutil.copytree(folder, tmp_path / "bare")
    (tmp_path / "bare" / "chat_template.jinja").unlink(missing_ok=True)
    with pytest.raises(LineclsError, match="no chat template"):
        create("local", model=str(tmp_path / "bare"), device="cpu")
