"""Low-rank adapters for a generative pruner: chats in the squeez form, with the loss on the answer alone."""

from __future__ import annotations

import hashlib
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

CHECKPOINT = "checkpoint.pt"  # in the output folder, until the training is done


@dataclass(frozen=True, kw_only=True)
class FinetuneConfig:
    """How an adapter is trained.

    model: as for `systems.local_generative.LocalGenerative`; output: folder of the adapter; train: record files;
    limit: so many of the records that fit, drawn by the seed (None: all); prompt, background: as for generative
    systems; max_length: tokens of a chat with its answer, longer ones are left out; targets: modules that get an
    adapter. rank, alpha, dropout: of LoRA (Hu et al. 2021); step_records: records per optimiser step; learning_rate:
    its highest, after a linear warm-up over a tenth of the steps and before a linear fall to 0.
    bfloat16: compute in it where that is a matter of precision (weights of the adapter stay float32);
    checkpoint_steps: optimiser steps between two checkpoints.
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
    bfloat16: bool = False
    checkpoint_steps: int = 25
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        check_prompt(self.prompt)
        for name in ("max_length", "rank", "alpha", "epochs", "step_records", "checkpoint_steps"):
            if getattr(self, name) < 1:
                raise LineclsError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not self.train:
            raise LineclsError("train names no record file")

    def recipe(self) -> dict[str, Any]:
        """The settings that decide what is learned: all but where it runs, and where and how often it is kept."""
        elsewhere = ("output", "device", "checkpoint_steps", "train")
        return {name: value for name, value in asdict(self).items() if name not in elsewhere}


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
    Every `checkpoint_steps` steps, and when it is interrupted, the state of the training is kept in
    `checkpoint.pt` of that folder; the same call goes on from there, to the same weights as without a break. It is
    removed at the end. Beside the adapter stands `linecls_finetune.json` with the settings, the records used and
    the losses.

    Raises MissingExtraError without torch, transformers (extra `train`) or peft (extra `generative`), LineclsError
    where no record fits or the checkpoint is one of other settings or records.
    """
    from linecls.systems.local_generative import load_causal

    folder = Path(config.output)
    tokenizer, model = load_causal(config.model, device=config.device)
    try:
        import torch
        from peft import LoraConfig, get_peft_model
    except ImportError:
        raise missing_extra("peft", "generative") from None
    torch.manual_seed(config.seed)
    examples, too_long = _examples(tokenizer, records, config)
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
    training = _Training(config, adapted, _digest(config, examples))
    batches = list(_batches(examples, config))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        training.resume(folder / CHECKPOINT)
        try:
            for batch in batches[len(training.losses) :]:
                training.step(batch, len(batches))
                step = len(training.losses)
                if step % config.checkpoint_steps == 0 and step < len(batches):
                    training.keep(folder / CHECKPOINT)
                if on_step is not None:
                    on_step(step, len(batches), training.losses[-1])
        except KeyboardInterrupt:
            training.keep(folder / CHECKPOINT)
            raise
        adapted.save_pretrained(str(folder))
        told = {"config": asdict(config), "records": len(examples), "too_long": too_long, "losses": training.losses}
        (folder / "linecls_finetune.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        (folder / CHECKPOINT).unlink(missing_ok=True)
    except OSError as error:
        raise LineclsError(f"cannot write the adapter to {folder}: {error.strerror or error}") from error
    return folder


class _Training:
    """Optimiser steps on an adapter, and their state on disk."""

    def __init__(self, config: FinetuneConfig, adapted: Any, digest: str) -> None:
        import torch

        self._torch, self._config, self._adapted, self._digest = torch, config, adapted, digest
        self._weights = {name: weight for name, weight in adapted.named_parameters() if weight.requires_grad}
        self._optimiser: Any = torch.optim.AdamW(self._weights.values(), lr=config.learning_rate, weight_decay=0.0)
        self._random = torch.get_rng_state()  # of the CPU: a GPU's dropout draws anew after a break
        self._whole = True  # the weights are those after the last step in `losses`
        self.losses: list[float] = []

    def step(self, batch: Sequence[Example], steps: int) -> None:
        """One step on the mean loss per answer token of `batch`, one chat at a time: lengths differ by magnitudes."""
        torch = self._torch
        self._optimiser.zero_grad(set_to_none=True)
        self._optimiser.param_groups[0]["lr"] = self._config.learning_rate * _schedule(len(self.losses) + 1, steps)
        answer_tokens = sum(len(example.ids) - example.start for example in batch)
        total = 0.0
        for example in batch:
            ids = torch.tensor([example.ids], device=self._adapted.device)
            answer = ids[0, example.start :]
            with torch.autocast(ids.device.type, torch.bfloat16, enabled=self._config.bfloat16):
                # Only the states that the answer is read from meet the vocabulary.
                logits = self._adapted(
                    input_ids=ids, attention_mask=torch.ones_like(ids), logits_to_keep=len(answer) + 1
                ).logits[0, :-1]
            loss = torch.nn.functional.cross_entropy(logits.float(), answer, reduction="sum") / answer_tokens
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self._weights.values(), 1.0)
        self._whole = False
        self._optimiser.step()
        self._random = torch.get_rng_state()
        self.losses.append(total)
        self._whole = True

    def keep(self, path: Path) -> None:
        """Write the state after the last step, whole or not at all; nothing inside the update of the weights."""
        if not self._whole or not self.losses:
            return
        state = {
            "digest": self._digest,
            "losses": self.losses,
            "weights": {name: weight.detach().cpu() for name, weight in self._weights.items()},
            "optimiser": self._optimiser.state_dict(),
            "random": self._random,
        }
        part = path.with_suffix(".part")
        self._torch.save(state, part)
        part.replace(path)

    def resume(self, path: Path) -> None:
        """Go on from a checkpoint, if there is one. Raises LineclsError for one that does not belong here."""
        if not path.exists():
            return
        try:
            state = self._torch.load(path, map_location="cpu", weights_only=True)
            digest = state["digest"]
        except Exception as error:  # torch and its unpickler raise many types for a damaged file
            raise LineclsError(f"{path} is no checkpoint; remove it to start again") from error
        if digest != self._digest:
            raise LineclsError(f"{path} is of other settings or records; remove it, or choose another output")
        with self._torch.no_grad():
            for name, weight in self._weights.items():
                weight.copy_(state["weights"][name])
        self._optimiser.load_state_dict(state["optimiser"])
        self._random = state["random"]
        self._torch.set_rng_state(self._random)
        self.losses = list(state["losses"])


def _examples(tokenizer: Any, records: Sequence[Record], config: FinetuneConfig) -> tuple[list[Example], int]:
    """The chats to train on, drawn from the records that fit, and how many records are too long."""
    chosen, too_long = [], 0
    order = list(records)
    if config.limit is not None:
        random.Random(config.seed).shuffle(order)
    for record in order:
        if len(chosen) == config.limit:
            break
        example = make_example(tokenizer, record, config.prompt, config.background)
        if len(example.ids) <= config.max_length:
            chosen.append(example)
        else:
            too_long += 1
    if not chosen:
        raise LineclsError(f"none of {len(records)} records fits max_length {config.max_length}; raise it")
    return chosen, too_long


def _digest(config: FinetuneConfig, examples: Sequence[Example]) -> str:
    """Of the settings and all tokens."""
    content = json.dumps([config.recipe(), [example.ids for example in examples]], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


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
