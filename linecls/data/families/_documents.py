"""Two engines for tool outputs: tables whose odd rows are asked for, and documents made of blocks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Kind, Label, Page, Slots
from linecls.records import Record


def groups(text: str) -> list[set[str]]:
    return [set(line.split()) for line in text.strip().splitlines()]


@dataclass
class Sheet:
    """A table: tool type, commands, header fields, usual rows, odd rows and what is alike among those."""

    name: str
    tool_type: str
    commands: list[str]
    header: str
    usual: list[str]
    odd: list[Kind]
    alike: list[set[str]]
    gap: int = 3
    top: str = ""
    who: tuple[str, ...] = ()  # queries about an ordinary row, with a slot whose value no other row has


@dataclass
class Paper:
    """A document made of blocks: usual blocks and incidents, each several lines that belong together."""

    name: str
    tool_type: str
    commands: list[str]
    usual: list[list[str]]
    odd: list[Kind]
    alike: list[set[str]]
    head: list[str]
    foot: list[str]
    blank: bool = False
    prefix: Callable[[random.Random, int, int], str] | None = None


def blocks(text: str) -> list[list[str]]:
    return [block.split("\n") for block in text.strip("\n").split("\n%\n")]


def _absent(rng: random.Random, kinds: Sequence[Kind], chosen: Sequence[Kind], alike: list[set[str]]) -> Kind | None:
    names = {k.name for k in chosen}
    free = [k for k in kinds if k.name not in names and not any(k.name in g and g & names for g in alike)]
    return rng.choice(free) if free else None


def _ask(
    rng: random.Random,
    page: Page,
    placed: list[tuple[str, Kind, Slots]],
    *,
    kinds: Sequence[Kind],
    alike: list[set[str]],
    rule: str,
) -> list[Label]:
    """Labels of placed incidents, twins only by queries with a slot, and perhaps a negative."""
    labels: list[Label] = []
    count: dict[str, int] = {}
    for _, kind, _ in placed:
        count[kind.name] = count.get(kind.name, 0) + 1
    for key, kind, slots in placed:
        queries = [
            q for q in kind.queries if all(n in slots or n.removesuffix("_p") in slots for n in kit.slot_names(q))
        ]
        if count[kind.name] > 1:
            queries = [q for q in queries if "{" in q]
        if queries:
            for query in rng.sample(queries, k=min(len(queries), 2 if rng.random() < 0.2 else 1)):
                others = {k.name for _, k, _ in placed if k is not kind}
                alone = count[kind.name] == 1 and not any(kind.name in g and g & others for g in alike)
                told = kit.vary(rng, slots.fill(query))
                labels.append(Label(told, key, f"{rule}_{kind.name}", cuttable=alone))
    rng.shuffle(labels)
    labels = labels[:6]
    if placed and rng.random() < 0.45 and (easy := kit.lexical(rng, page, rng.choice(placed)[0])):
        labels.append(easy)
    if rng.random() < 0.75:
        absent = _absent(rng, kinds, [k for _, k, _ in placed], alike)
        if absent is not None:
            slots = Slots(rng, kit.VOCABULARIES)
            with suppress(KeyError):  # a query whose slot only the printed text would settle
                query = slots.fill(rng.choice(absent.queries))
                labels.append(Label(kit.vary(rng, query), None, f"{rule}_absent_{absent.name}"))
    return labels


def _choose(rng: random.Random, kinds: Sequence[Kind], count: int) -> list[Kind]:
    chosen = rng.sample(list(kinds), min(count, len(kinds)))
    if rng.random() < 0.4:
        twins = [k for k in chosen if any("{" in q for q in k.queries)]
        if twins:
            chosen.append(rng.choice(twins))
    rng.shuffle(chosen)
    return chosen


def _cells(row: str) -> list[str]:
    first, *rest = row.split(";")
    return [first.rstrip(), *(cell.strip() for cell in rest)]


def _align(rows: list[list[str]], gap: int) -> list[str]:
    width = [max((len(r[c]) for r in rows if c < len(r)), default=0) for c in range(max(len(r) for r in rows))]
    return [
        "".join((cell.ljust(width[i] + gap) if i + 1 < len(row) else cell) for i, cell in enumerate(row)).rstrip()
        for row in rows
    ]


def sheet(rng: random.Random, spec: Sheet, index: int, family: str) -> Iterator[Record]:
    """Records of one table."""
    chosen = _choose(rng, spec.odd, rng.randint(3, 8))
    taken: set[str] = set()
    rows: list[tuple[str, list[str]]] = []
    ordinary: dict[str, Slots] = {}
    for number in range(rng.randint(28, 150)):
        ordinary[f"r{number}"] = slots = Slots(rng, kit.VOCABULARIES)
        rows.append((f"r{number}", _cells(slots.fill(rng.choice(spec.usual)))))
    placed = []
    for number, kind in enumerate(chosen):
        slots = Slots(rng, kit.VOCABULARIES, taken=taken)
        line = slots.fill(rng.choice(kind.variants)[0].lines[0])
        rows.insert(rng.randrange(len(rows) + 1), (f"k{number}", _cells(line)))
        placed.append((f"k{number}", kind, slots))
    page = Page()
    if spec.top:
        page.say(spec.top)
    header = Slots(rng, kit.VOCABULARIES).fill(spec.header)
    texts = _align([_cells(header), *(cells for _, cells in rows)], spec.gap)
    page.say(texts[0])
    for (key, _), text in zip(rows, texts[1:], strict=True):
        page.say(text, key=key or None)
    labels = _ask(rng, page, placed, kinds=spec.odd, alike=spec.alike, rule=spec.name)
    candidates = list(ordinary.items())
    rng.shuffle(candidates)
    for key, slots in candidates if spec.who else []:
        query = rng.choice(spec.who)
        values = [slots.get(name.removesuffix("_p"), "") for name in kit.slot_names(query)]
        if all(value and sum(value in text for text in texts) == 1 for value in values):
            labels.append(Label(kit.vary(rng, slots.fill(query)), key, f"{spec.name}_ordinary"))
            break
    yield from kit.records(
        page,
        labels,
        tool_type=spec.tool_type,
        command=rng.choice(spec.commands),
        family=family,
        project=f"{spec.name}-{index % 25}",
        ident=f"{spec.name}-{index}-{rng.getrandbits(32):08x}",
    )


def paper(rng: random.Random, spec: Paper, index: int, family: str) -> Iterator[Record]:
    """Records of one document."""
    chosen = _choose(rng, spec.odd, rng.randint(4, 10))
    taken: set[str] = set()
    usual = [
        spec.usual[i % len(spec.usual)]
        for i in range(rng.choice([rng.randint(6, 20), rng.randint(15, 50), rng.randint(40, 95)]))
    ]
    rng.shuffle(usual)
    plan: list[tuple[str, list[str]]] = []
    for block in usual:
        slots = Slots(rng, kit.VOCABULARIES)
        plan.append(("", [slots.fill(line) for line in block]))
    placed = []
    for number, kind in enumerate(chosen):
        slots = Slots(rng, kit.VOCABULARIES, taken=taken)
        lines = [slots.fill(line) for event in rng.choice(kind.variants) for line in event.lines]
        plan.insert(rng.randrange(1, len(plan) + 1), (f"k{number}", lines))
        placed.append((f"k{number}", kind, slots))
    page = Page()
    head = Slots(rng, kit.VOCABULARIES)
    for line in spec.head:
        page.say(head.fill(line))
    for step, (key, lines) in enumerate(plan, 1):
        for line in lines:
            page.say((spec.prefix(rng, step, len(page.lines)) if spec.prefix else "") + line, key=key or None)
        if spec.blank:
            page.say("")
    for line in spec.foot:
        page.say(head.fill(line))
    labels = _ask(rng, page, placed, kinds=spec.odd, alike=spec.alike, rule=spec.name)
    yield from kit.records(
        page,
        labels,
        tool_type=spec.tool_type,
        command=rng.choice(spec.commands),
        family=family,
        project=f"{spec.name}-{index % 25}",
        ident=f"{spec.name}-{index}-{rng.getrandbits(32):08x}",
    )
