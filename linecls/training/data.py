"""LightningDataModule over record files."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import lightning.pytorch as pl
import torch
from torch import Tensor

from linecls.encoding import WindowEncoder
from linecls.errors import LineclsError
from linecls.model.pooling import to_tensors
from linecls.records import Record, load_records
from linecls.training.batches import (
    Augmentation,
    Group,
    MicroBatch,
    Target,
    build_batch,
    group_records,
    line_token_counts,
    plan_epoch,
)


@dataclass
class TrainBatch:
    """Network inputs, labels float32 [B, L], what each row stands for, and the micro-batch's place in its step."""

    inputs: dict[str, Tensor]
    labels: Tensor
    targets: list[Target]
    micro: MicroBatch

    def to(self, device: torch.device) -> TrainBatch:
        inputs = {name: tensor.to(device) for name, tensor in self.inputs.items()}
        return TrainBatch(inputs, self.labels.to(device), self.targets, self.micro)


class BatchLoader:
    """Iterates over one epoch's plan; saves its position, so that a resumed run continues mid-epoch."""

    def __init__(
        self,
        groups: Sequence[Group],
        encoder: WindowEncoder,
        augmentation: Augmentation | None,
        *,
        batch_tokens: int,
        step_tokens: int,
        seed: int | None,
    ) -> None:
        self.groups, self.encoder, self.augmentation = groups, encoder, augmentation
        self.batch_tokens, self.step_tokens, self.seed = batch_tokens, step_tokens, seed
        self.counts = list(line_token_counts(groups, encoder))
        self.epoch = self.position = 0
        self._length: int | None = None  # of every epoch: that of the first
        self._plan = self.plan(0)
        self._length = len(self._plan)

    def plan(self, epoch: int) -> list[MicroBatch]:
        rng = None if self.seed is None else random.Random(f"{self.seed}/{epoch}")
        return plan_epoch(
            self.groups,
            self.encoder,
            self.augmentation,
            batch_tokens=self.batch_tokens,
            step_tokens=self.step_tokens,
            token_counts=self.counts,
            rng=rng,
            length=self._length,
        )

    def __len__(self) -> int:
        return len(self._plan)

    def __iter__(self) -> Iterator[TrainBatch]:
        if self.position >= len(self._plan):
            self.position = 0
            if self.seed is not None:
                self.epoch += 1
                self._plan = self.plan(self.epoch)
        for micro in self._plan[self.position :]:
            inputs, labels, targets = build_batch(micro, self.groups, self.encoder)
            self.position += 1
            yield TrainBatch(to_tensors(inputs), torch.from_numpy(labels), targets, micro)

    def state_dict(self) -> dict[str, int]:
        return {"epoch": self.epoch, "position": self.position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.epoch, self.position = state["epoch"], state["position"]
        self._plan = self.plan(self.epoch)


class LineDataModule(pl.LightningDataModule):
    """Records grouped by observation and packed into token-budgeted batches.

    The tokenizer and the form of the windows come from the module that is trained (`LineModule.window_encoder`).

    train, dev: record sources (anything that `linecls.load_records` reads: files, folders, `hub:OWNER/NAME`).
    train_split, dev_split: the split of the data sets among them that have several.
    batch_tokens: tokens of a forward pass; step_tokens: tokens whose gradients one optimiser step gathers.
    limit: use only the first so many observations of each file (a smoke run).
    """

    def __init__(
        self,
        train: list[str],
        dev: list[str],
        augmentation: Augmentation,
        batch_tokens: int = 4096,
        step_tokens: int = 8192,
        seed: int = 0,
        limit: int | None = None,
        train_split: str | None = None,
        dev_split: str | None = None,
    ) -> None:
        super().__init__()
        self.train_files, self.dev_files = train, dev
        self.train_split, self.dev_split = train_split, dev_split
        self.augmentation = augmentation
        self.batch_tokens, self.step_tokens = batch_tokens, step_tokens
        self.seed, self.limit = seed, limit
        self.train_loader: BatchLoader | None = None
        self.dev_loader: BatchLoader | None = None

    def setup(self, stage: str | None = None) -> None:
        if self.dev_loader is None:
            self.dev_loader = self._loader(self.dev_files, self.dev_split, None)
        if stage == "fit" and self.train_loader is None:
            self.train_loader = self._loader(self.train_files, self.train_split, self.augmentation)

    def _loader(self, files: Sequence[str], split: str | None, augmentation: Augmentation | None) -> BatchLoader:
        module: Any = self.trainer.lightning_module  # type: ignore[union-attr]
        records: list[Record] = []
        for file in files:
            records.extend(load_records(file, split=split))
        groups = group_records(records)[: self.limit]
        if not groups:
            raise LineclsError(f"no records to read in {', '.join(files) or 'an empty list of files'}")
        return BatchLoader(
            groups,
            module.window_encoder(),
            augmentation,
            batch_tokens=self.batch_tokens,
            step_tokens=self.step_tokens,
            seed=self.seed if augmentation is not None else None,
        )

    def train_dataloader(self) -> Any:
        return self.train_loader

    def val_dataloader(self) -> Any:
        return self.dev_loader
