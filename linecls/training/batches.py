"""Which lines of which observation meet which queries, in what order: the batch plan of an epoch.

A plan depends on (records, settings, seed, epoch) only, so an interrupted run continues with the same batches.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from linecls.encoding import Batch, Pair, Segment, WindowEncoder, collate
from linecls.observation import Observation
from linecls.records import Record
from linecls.spans import to_mask


@dataclass(frozen=True)
class Label:
    """A query on an observation and its gold mask, bool [lines of the observation]."""

    query: str
    gold: NDArray[np.bool_]


@dataclass(frozen=True)
class Group:
    """An observation with all its labels: encoded once, it serves them all.

    share: the chance that an epoch of training reads it.
    """

    observation: Observation
    tool_type: str
    labels: list[Label]
    share: float = 1.0


@dataclass(frozen=True)
class Augmentation:
    """How an observation may be changed in training.

    crop_probability: keep only a contiguous part of the lines, of a random size between crop_min_share and all;
        a label whose gold lies wholly outside becomes a negative with probability crop_negative, else it is
        left out, as is one whose gold is cut.
    swap_probability: add the query of another observation of the same tool type as a negative.
    cut_probability: take the gold lines of one label out: it becomes a negative that looks like a positive.
    splice_probability: put part of another observation of the same tool type, with its labels, before or after.
    max_labels: at most so many labels of one observation in one batch, drawn anew each epoch.
    """

    crop_probability: float = 0.5
    crop_min_share: float = 0.35
    crop_negative: float = 0.15
    swap_probability: float = 0.3
    cut_probability: float = 0.0
    splice_probability: float = 0.0
    max_labels: int = 8


@dataclass(frozen=True)
class Part:
    """Some lines of a group: their 0-based numbers, rising."""

    group: int
    lines: NDArray[np.int64]


@dataclass(frozen=True)
class Item:
    """What stands for one observation: parts of groups, one after the other, and the labels that hold there."""

    parts: list[Part]
    labels: list[Label]

    def __len__(self) -> int:
        """Number of lines."""
        return sum(len(part.lines) for part in self.parts)


@dataclass
class MicroBatch:
    """Items that go through the network in one forward; `last` closes an optimiser step of `step_pairs` pairs."""

    items: list[Item] = field(default_factory=list)
    last: bool = False
    step_pairs: int = 0


def group_records(records: Sequence[Record], share: float = 1.0) -> list[Group]:
    """Gather the labels of each observation, in the order of first appearance."""
    groups: dict[tuple[str, str], Group] = {}
    for record in records:
        key = (record.tool_output, record.tool_type)
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(Observation.of(record.tool_output), record.tool_type, [], share)
        if len(group.observation):
            gold = to_mask(record.gold_spans, len(group.observation))
            group.labels.append(Label(record.query, gold))
    return [group for group in groups.values() if group.labels]


def plan_epoch(
    groups: Sequence[Group],
    encoder: WindowEncoder,
    augmentation: Augmentation | None,
    *,
    batch_tokens: int,
    step_tokens: int,
    token_counts: Sequence[NDArray[np.int64]],
    rng: random.Random | None,
    length: int | None = None,
) -> list[MicroBatch]:
    """Pack the groups into micro-batches of about `batch_tokens` and steps of about `step_tokens` tokens.

    augmentation: None for evaluation: all labels, whole observations.
    token_counts: per group the tokens of each line, [L].
    rng: None keeps the order of the groups; batches then hold observations of similar length.
    length: exactly so many micro-batches, by splitting the largest or joining the smallest: a trainer asks for the
        length of an epoch once and then relies on it.
    """
    items = _items(groups, encoder.config.max_lines, augmentation, rng)

    def cost(item: Item) -> int:
        window = encoder.config.window_tokens
        room = window - encoder.config.context_tokens - 8
        tokens = sum(int(token_counts[part.group][part.lines].sum()) for part in item.parts)
        passes = len(item.labels) if encoder.config.reading == "joint" else 1
        return window * (tokens // max(room - 16, 1) + 1) * passes

    if rng is not None:
        # Observations of similar length share a batch, so little of it is padding; the batches are shuffled.
        items.sort(key=lambda item: len(item) * rng.uniform(0.7, 1.4))
    else:
        items.sort(key=len)
    batches: list[tuple[list[Item], int]] = []
    current: list[Item] = []
    tokens = 0
    for item in items:
        size = cost(item)
        if current and tokens + size > batch_tokens:
            batches.append((current, tokens))
            current, tokens = [], 0
        current.append(item)
        tokens += size
    if current:
        batches.append((current, tokens))
    if length is not None:
        _fit_length(batches, length, cost)
    if rng is not None:
        rng.shuffle(batches)
    return _steps(batches, step_tokens)


def _items(
    groups: Sequence[Group], max_lines: int, augmentation: Augmentation | None, rng: random.Random | None
) -> list[Item]:
    items: list[Item] = []
    by_tool: dict[str, list[int]] = {}
    for index, group in enumerate(groups):
        by_tool.setdefault(group.tool_type, []).append(index)
    for index, group in enumerate(groups):
        if augmentation is None or rng is None:
            items.append(Item([Part(index, np.arange(len(group.observation)))], group.labels))
            continue
        if rng.random() >= group.share:
            continue
        item = _cropped(index, group, max_lines, augmentation, rng)
        others = by_tool[group.tool_type]
        if rng.random() < augmentation.splice_probability:
            item = _splice(item, groups, others, max_lines, augmentation, rng)
        if rng.random() < augmentation.cut_probability:
            item = _cut_out(item, rng)
        labels = item.labels[: augmentation.max_labels]
        if rng.random() < augmentation.swap_probability and len(others) > 1:
            other = rng.choice(others)
            if all(part.group != other for part in item.parts):
                labels.append(Label(rng.choice(groups[other].labels).query, np.zeros(len(item), np.bool_)))
        if labels:
            items.append(Item(item.parts, labels))
    return items


def _cropped(index: int, group: Group, max_lines: int, augmentation: Augmentation, rng: random.Random) -> Item:
    labels = list(group.labels)
    rng.shuffle(labels)
    total = len(group.observation)
    start, stop = 0, total
    if total > max_lines or (total > 40 and rng.random() < augmentation.crop_probability):
        start, stop = _crop(labels, total, max_lines, augmentation, rng)
        labels = _crop_labels(labels, start, stop, augmentation, rng)
    return Item([Part(index, np.arange(start, stop))], labels)


def _splice(
    item: Item,
    groups: Sequence[Group],
    others: Sequence[int],
    max_lines: int,
    augmentation: Augmentation,
    rng: random.Random,
) -> Item:
    """The item and a part of another observation, in either order, with the labels of both."""
    index = rng.choice(others)
    if index == item.parts[0].group:
        return item
    guest = _cropped(index, groups[index], max_lines, augmentation, rng)
    if len(item) + len(guest) > max_lines:
        return item
    first, second = (item, guest) if rng.random() < 0.5 else (guest, item)
    nothing = [np.zeros(len(part), np.bool_) for part in (first, second)]
    labels = [Label(label.query, np.concatenate((label.gold, nothing[1]))) for label in first.labels]
    labels += [Label(label.query, np.concatenate((nothing[0], label.gold))) for label in second.labels]
    rng.shuffle(labels)
    return Item([*first.parts, *second.parts], labels)


def _cut_out(item: Item, rng: random.Random) -> Item:
    """The item without the gold lines of one of its labels; labels that share some of them are left out."""
    answered = [label for label in item.labels if label.gold.any() and not label.gold.all()]
    if not answered:
        return item
    chosen = rng.choice(answered)
    stays = ~chosen.gold
    parts, done = [], 0
    for part in item.parts:
        parts.append(Part(part.group, part.lines[stays[done : done + len(part.lines)]]))
        done += len(part.lines)
    labels = [Label(chosen.query, np.zeros(int(stays.sum()), np.bool_))]
    labels += [
        Label(label.query, label.gold[stays])
        for label in item.labels
        if label is not chosen and not (label.gold & chosen.gold).any()
    ]
    return Item(parts, labels)


def _crop(
    labels: Sequence[Label], total: int, max_lines: int, augmentation: Augmentation, rng: random.Random
) -> tuple[int, int]:
    """A random contiguous part that holds the gold of the first label that has any."""
    size = min(max(int(total * rng.uniform(augmentation.crop_min_share, 1)), 20), total, max_lines)
    gold = next((np.flatnonzero(label.gold) for label in labels if label.gold.any()), np.zeros(1, np.int64))
    first, last = int(gold[0]), int(gold[-1])
    low, high = max(0, last + 1 - size), min(first, total - size)
    start = rng.randint(low, high) if low <= high else min(first, total - size)
    return start, start + size


def _crop_labels(
    labels: Sequence[Label], start: int, stop: int, augmentation: Augmentation, rng: random.Random
) -> list[Label]:
    kept = []
    for label in labels:
        inside = label.gold[start:stop]
        lost = int(label.gold.sum() - inside.sum())
        if not lost or (not inside.any() and rng.random() < augmentation.crop_negative):
            kept.append(Label(label.query, inside))
    return kept


def _fit_length(batches: list[tuple[list[Item], int]], length: int, cost: Callable[[Item], int]) -> None:
    """Split the largest batches or join the smallest until there are `length`, or nothing is left to split."""
    while len(batches) > length:
        batches.sort(key=lambda batch: batch[1])
        (few, one), (more, two) = batches[:2]
        batches[:2] = [(few + more, one + two)]
    while len(batches) < length:
        index = max(range(len(batches)), key=lambda i: (len(batches[i][0]) > 1, batches[i][1]))
        items, _ = batches[index]
        if len(items) < 2:
            return
        halves = (items[: len(items) // 2], items[len(items) // 2 :])
        batches[index : index + 1] = [(half, sum(map(cost, half))) for half in halves]


def _steps(batches: Sequence[tuple[list[Item], int]], step_tokens: int) -> list[MicroBatch]:
    plan: list[MicroBatch] = []
    open_step: list[MicroBatch] = []
    tokens = 0
    for number, (items, size) in enumerate(batches):
        open_step.append(MicroBatch(items))
        tokens += size
        if tokens >= step_tokens or number == len(batches) - 1:
            pairs = sum(len(item.labels) for batch in open_step for item in batch.items)
            for batch in open_step:
                batch.step_pairs = pairs
            open_step[-1].last = True
            plan.extend(open_step)
            open_step, tokens = [], 0
    return plan


@dataclass(frozen=True)
class Target:
    """Which lines of which label a row of the batch decides; `origin`: (group, line there) of each line."""

    lines: list[str]
    label: Label
    segment: Segment
    origin: list[tuple[int, int]]


def build_batch(
    micro: MicroBatch, groups: Sequence[Group], encoder: WindowEncoder
) -> tuple[Batch, NDArray[np.float32], list[Target]]:
    """Network inputs of a micro-batch, its labels, float32 [B, L], and what each row stands for.

    Observations longer than a segment are cut into segments, each a pair of its own.
    """
    pairs: list[Pair] = []
    targets: list[Target] = []
    for item in micro.items:
        origin = [(part.group, line) for part in item.parts for line in part.lines.tolist()]
        lines = [groups[group].observation.lines[line] for group, line in origin]
        for segment in encoder.segments(Observation(lines)):
            shared = encoder.windows(segment) if encoder.config.reading == "apart" else None
            for label in item.labels:
                query = encoder.query(label.query)
                windows = shared or encoder.windows(segment, query)
                pairs.append(Pair(query, segment, windows, encoder.features(segment, query)))
                targets.append(Target(lines, label, segment, origin[segment.start : segment.stop]))
    batch = collate(pairs)
    labels = np.zeros(batch["line_mask"].shape, np.float32)
    for row, target in zip(labels, targets, strict=True):
        row[: len(target.segment)] = target.label.gold[target.segment.start : target.segment.stop]
    return batch, labels, targets


def line_token_counts(groups: Sequence[Group], encoder: WindowEncoder) -> Iterator[NDArray[np.int64]]:
    """Tokens of each line, [L] per group."""
    for group in groups:
        counts = np.zeros(len(group.observation), np.int64)
        for segment in encoder.segments(group.observation):
            counts[segment.start : segment.stop] = np.diff(segment.offsets)
        yield counts
