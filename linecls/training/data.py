"""LightningDataModule over record files."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import lightning.pytorch as pl
import torch
from torch import Tensor

from linecls.encoding import WindowEncoder
from linecls.errors import LineclsError
from linecls.model.pooling import to_tensors
from linecls.records import load_records
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
from linecls.training.cached import StateCache

_AHEAD = 2  # batches made in advance


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
    """Iterates over one epoch's plan; saves its position, so that a resumed run continues mid-epoch.

    states: gives the inputs token states in place of ids (a frozen backbone).
    """

    def __init__(
        self,
        groups: Sequence[Group],
        encoder: WindowEncoder,
        augmentation: Augmentation | None,
        *,
        batch_tokens: int,
        step_tokens: int,
        seed: int | None,
        states: StateCache | None = None,
    ) -> None:
        self.groups, self.encoder, self.augmentation = groups, encoder, augmentation
        self.batch_tokens, self.step_tokens, self.seed = batch_tokens, step_tokens, seed
        self.counts = list(line_token_counts(groups, encoder))
        self.states = states
        if states is not None:
            states.prepare(groups, self.counts)
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
        # The next batches are made while the network works on this one; the position counts those handed out.
        ahead: deque[Future[TrainBatch]] = deque()
        with ThreadPoolExecutor(1, thread_name_prefix="batches") as worker:
            try:
                for micro in self._plan[self.position :]:
                    ahead.append(worker.submit(self._build, micro))
                    if len(ahead) > _AHEAD:
                        self.position += 1
                        yield ahead.popleft().result()
                while ahead:
                    self.position += 1
                    yield ahead.popleft().result()
            finally:
                for future in ahead:
                    future.cancel()

    def _build(self, micro: MicroBatch) -> TrainBatch:
        inputs, labels, targets = build_batch(micro, self.groups, self.encoder)
        if self.states is not None:
            inputs |= self.states.fill(inputs, targets)
        return TrainBatch(to_tensors(inputs), torch.from_numpy(labels), targets, micro)

    def state_dict(self) -> dict[str, int]:
        return {"epoch": self.epoch, "position": self.position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.epoch, self.position = state["epoch"], state["position"]
        self._plan = self.plan(self.epoch)


class LineDataModule(pl.LightningDataModule):
    """Records grouped by observation and packed into token-budgeted batches.

    The tokenizer and the form of the windows come from the module that is trained (`LineModule.window_encoder`).

    shares: for each training file the share of its observations that an epoch reads, drawn anew each time; all of
        every file when it is not given.
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
        shares: list[float] | None = None,
        train_split: str | None = None,
        dev_split: str | None = None,
    ) -> None:
        super().__init__()
        if shares is not None and (len(shares) != len(train) or not all(0 < share <= 1 for share in shares)):
            raise LineclsError(f"data.shares must be one number over 0 and up to 1 for each of {len(train)} files")
        self.shares = shares or [1.0] * len(train)
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
        shares = self.shares if augmentation is not None else [1.0] * len(files)
        groups: list[Group] = []
        for file, share in zip(files, shares, strict=True):
            groups.extend(group_records(load_records(file, split=split), share)[: self.limit])
        if not groups:
            raise LineclsError(f"no records to read in {', '.join(files) or 'an empty list of files'}")
        return BatchLoader(
            groups,
            module.window_encoder(),
            augmentation,
            states=module.state_cache(),
            batch_tokens=self.batch_tokens,
            step_tokens=self.step_tokens,
            seed=self.seed if augmentation is not None else None,
        )

    def train_dataloader(self) -> Any:
        return self.train_loader

    def val_dataloader(self) -> Any:
        return self.dev_loader
