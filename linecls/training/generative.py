"""Low-rank adapters for a generative pruner: chats in the squeez form, with the loss on the answer alone."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from linecls.errors import LineclsError, missing_extra
from linecls.records import Record
from linecls.systems.generative.prompts import build_messages, check_prompt

IGNORED = -100  # label of a token that the loss does not count


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig:
    """How an adapter is trained.

    model: as for `systems.local_generative.LocalGenerative`; output: folder of the adapter; train: record files;
    limit: so many records, drawn by the seed (None: all); prompt, background: as for generative systems;
    max_length: tokens of a chat with its answer, longer ones are left out; targets: modules that get an adapter.
    rank, alpha, dropout: of LoRA (Hu et al. 2021); step_records: records per optimiser step; learning_rate: its
    highest, after a linear warm-up over a tenth of the steps and before a linear fall to 0.
    """

    model: str
    output: str
    train: list[str]
    limit: int | None = None
    prompt: str = "squeez"
    background: bool = False
    max_length: int = 4096
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    targets: list[str] = field(default_factory=lambda: ["q_proj", "k_proj", "v_proj", "o_proj"])
    epochs: int = 1
    step_records: int = 8
    learning_rate: float = 2e-4
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        check_prompt(self.prompt)
        for name in ("max_length", "rank", "alpha", "epochs", "step_records"):
            if getattr(self, name) < 1:
                raise LineclsError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not self.train:
            raise LineclsError("train names no record file")


@dataclass(frozen=True)
class Example:
    """Token ids of a chat with its answer, and the position at which the answer starts."""

    ids: list[int]
    start: int


def answer_text(record: Record) -> str:
    """The answer that a record teaches, as `squeez` 0.1.4 writes it into its training data."""
    return "<relevant_lines>\n" + "".join(line + "\n" for line in record.relevant_lines()) + "</relevant_lines>"


def make_example(tokenizer: Any, record: Record, prompt: str = "squeez", background: bool = False) -> Example:
    """One chat: what the system would be asked, the right answer, and the token that ends it."""
    task = record.background_task if background else ""
    messages = build_messages(prompt, record.query, record.tool_output, task)
    asked = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True)
    answer = tokenizer.encode(answer_text(record), add_special_tokens=False)
    return Example([*asked, *answer, tokenizer.eos_token_id], len(asked))


def finetune(
    config: FinetuneConfig, records: Sequence[Record], on_step: Callable[[int, int, float], object] | None = None
) -> Path:
    """Train an adapter on `records` and write it to `config.output`; returns that folder.

    on_step: called after each optimiser step with its number, the number of steps and the mean loss per answer token.
    Beside the adapter stands `linecls_finetune.json` with the settings, the records used and the losses.
    Raises MissingExtraError without torch, transformers (extra `train`) or peft (extra `generative`), LineclsError
    where no record fits.
    """
    from linecls.systems.local_generative import load_causal

    tokenizer, model = load_causal(config.model, device=config.device)
    try:
        import torch
        from peft import LoraConfig, get_peft_model
    except ImportError:
        raise missing_extra("peft", "generative") from None
    torch.manual_seed(config.seed)
    chosen = list(records)
    if config.limit is not None and config.limit < len(chosen):
        chosen = random.Random(config.seed).sample(chosen, config.limit)
    made = (make_example(tokenizer, record, config.prompt, config.background) for record in chosen)
    examples = [example for example in made if len(example.ids) <= config.max_length]
    if not examples:
        raise LineclsError(f"none of {len(chosen)} records fits max_length {config.max_length}; raise it")
    lora = LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=config.dropout,
        target_modules=list(config.targets),
        task_type="CAUSAL_LM",
    )
    try:
        adapted: Any = get_peft_model(model, lora)
    except ValueError as error:
        raise LineclsError(f"cannot adapt {config.model}: {' '.join(str(error).split())}") from error
    adapted.train()
    weights = [weight for weight in adapted.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=config.learning_rate, weight_decay=0.0)
    batches = list(_batches(examples, config))
    losses: list[float] = []
    for step, batch in enumerate(batches, 1):
        optimiser.param_groups[0]["lr"] = config.learning_rate * _schedule(step, len(batches))
        answer_tokens = sum(len(example.ids) - example.start for example in batch)
        total = 0.0
        for example in batch:  # one at a time: lengths differ by orders of magnitude
            ids = torch.tensor([example.ids], device=adapted.device)
            labels = ids.clone()
            labels[0, : example.start] = IGNORED
            share = (len(example.ids) - example.start) / answer_tokens
            loss = adapted(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels).loss * share
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        losses.append(total)
        if on_step is not None:
            on_step(step, len(batches), total)
    folder = Path(config.output)
    try:
        adapted.save_pretrained(str(folder))
        told = {"config": asdict(config), "records": len(examples), "too_long": len(chosen) - len(examples)}
        text = json.dumps({**told, "losses": losses}, indent=1)
        (folder / "linecls_finetune.json").write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise LineclsError(f"cannot write the adapter to {folder}: {error.strerror or error}") from error
    return folder


def _batches(examples: Sequence[Example], config: FinetuneConfig) -> Iterator[list[Example]]:
    """The examples of all epochs, `step_records` at a time, in an order drawn by the seed."""
    generator = random.Random(config.seed)
    for _ in range(config.epochs):
        order = list(examples)
        generator.shuffle(order)
        for start in range(0, len(order), config.step_records):
            yield order[start : start + config.step_records]


def _schedule(step: int, steps: int) -> float:
    """Share of the highest learning rate at a step (from 1)."""
    warm = max(1, math.ceil(steps / 10))
    return step / warm if step <= warm else (steps - step + 1) / (steps - warm + 1)
