"""Tables of typed rows: what may be asked about them by comparing, by a condition, or by what a row is.

Unlike a `Sheet`, whose odd rows are written by hand, the answer here is computed from the values of all rows.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Label, Page

Row = dict[str, Any]
Choose = Callable[[Sequence[Row]], list[int]]


def names(section: str) -> list[tuple[str, list[str]]]:
    """A section of the catalogue of names: identifier and what it is in other words."""
    return _NAMES[section]


def _sections(text: str) -> dict[str, list[tuple[str, list[str]]]]:
    found: dict[str, list[tuple[str, list[str]]]] = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            found[section] = []
        elif line.strip():
            name, _, rest = line.partition(" =")
            found[section].append((name.strip(), [part.strip() for part in rest.split("|") if part.strip()]))
    return found


def age(seconds: int) -> str:
    """An age as a cluster or systemd prints it: in the largest unit of which there are two."""
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


_ROUNDED: dict[str, Callable[[Any], str]] = {"passed": age}  # fields that other columns show rounded
_NAMES = _sections(kit.catalogue_text("listing_names"))


@dataclass(frozen=True)
class Ask:
    """Wordings of one question and how its rows are found.

    cuttable: whether the question has no answer once the rows are gone (untrue for the largest of something).
    key: the field that is compared, if any; a row must stand out by how it is printed, too.
    """

    rule: str
    wordings: tuple[str, ...]
    choose: Choose
    cuttable: bool = False
    most: int = 4
    key: str = ""


def extreme(
    rule: str, key: str, *wordings: str, least: bool = False, where: Callable[[Row], bool] | None = None
) -> Ask:
    """The row with the largest (or least) value of a field, when it stands out; among those that `where` admits."""

    def choose(rows: Sequence[Row]) -> list[int]:
        admitted = [n for n, row in enumerate(rows) if row.get(key) is not None and (where is None or where(row))]
        ranked = sorted(admitted, key=lambda n: rows[n][key], reverse=not least)
        if len(ranked) < 3 or rows[ranked[0]][key] == rows[ranked[1]][key]:
            return []
        return [ranked[0]]

    return Ask(rule, wordings, choose, key=key)


def those(rule: str, test: Callable[[Row], bool], *wordings: str, most: int = 4) -> Ask:
    """The rows that meet a condition; without any the question is a negative."""
    return Ask(rule, wordings, lambda rows: [n for n, row in enumerate(rows) if test(row)], cuttable=True, most=most)


@dataclass
class Table:
    """A table to be printed: `columns` are (title, key, align) with align `<` or `>`."""

    name: str
    tool_type: str
    commands: Sequence[str]
    columns: Sequence[tuple[str, str, str]]
    rows: list[Row]
    asks: Sequence[Ask]
    by_name: Sequence[str] = ()  # wordings with {m} for what a row is, or {n} for its name
    absent: Sequence[tuple[str, list[str]]] = ()  # names that are not in it
    head: Sequence[str] = ()
    foot: Sequence[str] = ()
    gap: int = 2
    style: str = "plain"
    project: str = ""
    show: dict[str, Callable[[Any], str]] = field(default_factory=dict)


def _cell(table: Table, key: str, row: Row) -> str:
    value = row.get(key)
    if value is None:
        return table.show.get("none", lambda _: "")(value)
    return table.show[key](value) if key in table.show else str(value)


def _plain(page: Page, table: Table, titles: bool = True) -> None:
    cells = [[_cell(table, key, row) for _, key, _ in table.columns] for row in table.rows]
    heads = [title for title, _, _ in table.columns]
    width = [max([len(h) if titles else 0, *(len(c[i]) for c in cells)]) for i, h in enumerate(heads)]

    def line(texts: list[str]) -> str:
        parts = [f"{t:{align}{w}}" for t, w, (_, _, align) in zip(texts, width, table.columns, strict=True)]
        return (" " * table.gap).join(parts).rstrip()

    if titles:
        page.say(line(heads))
        if table.style == "dashes":
            page.say(line(["-" * w for w in width]))
    for number, row in enumerate(cells):
        page.say(line(row), key=f"r{number}")


def _psql(page: Page, table: Table) -> None:
    cells = [[_cell(table, key, row) for _, key, _ in table.columns] for row in table.rows]
    width = [max(len(t), *(len(c[i]) for c in cells)) for i, (t, _, _) in enumerate(table.columns)]
    page.say(" " + " | ".join(f"{t:^{w}}" for (t, _, _), w in zip(table.columns, width, strict=True)))
    page.say("-" + "-+-".join("-" * w for w in width) + "-")
    for number, row in enumerate(cells):
        body = " | ".join(f"{t:{a}{w}}" for t, w, (_, _, a) in zip(row, width, table.columns, strict=True))
        page.say(" " + body, key=f"r{number}")
    page.say(f"({len(cells)} rows)")


def _box(page: Page, table: Table) -> None:
    cells = [[_cell(table, key, row) for _, key, _ in table.columns] for row in table.rows]
    width = [max(len(t), *(len(c[i]) for c in cells)) for i, (t, _, _) in enumerate(table.columns)]
    light = table.style == "mysql"
    bar, cross = ("|", "+") if light else ("│", "┼")
    left, right, dash = ("+", "+", "-") if light else ("├", "┤", "─")
    rule = cross.join(dash * (w + 2) for w in width)
    page.say(("+" + rule + "+") if light else "┌" + rule.replace("┼", "┬") + "┐")
    page.say(bar + bar.join(f" {t:<{w}} " for (t, _, _), w in zip(table.columns, width, strict=True)) + bar)
    page.say(left + rule + right)
    for number, row in enumerate(cells):
        body = bar.join(f" {t:{a}{w}} " for t, w, (_, _, a) in zip(row, width, table.columns, strict=True))
        page.say(bar + body + bar, key=f"r{number}")
    page.say(("+" + rule + "+") if light else "└" + rule.replace("┼", "┴") + "┘")


def _expanded(page: Page, table: Table) -> None:
    width = max(len(t) for t, _, _ in table.columns)
    for number, row in enumerate(table.rows):
        page.say(f"-[ RECORD {number + 1} ]" + "-" * 24)
        for title, key, _ in table.columns:
            page.say(f"{title:<{width}} | {_cell(table, key, row)}".rstrip(), key=f"r{number}")


def _csv(page: Page, table: Table) -> None:
    page.say(",".join(title for title, _, _ in table.columns))
    for number, row in enumerate(table.rows):
        page.say(",".join(_cell(table, key, row) for _, key, _ in table.columns), key=f"r{number}")


def _objects(page: Page, table: Table) -> None:
    items = [{title: row.get(key) for title, key, _ in table.columns} for row in table.rows]
    if table.style == "jsonl":
        for number, item in enumerate(items):
            page.say(json.dumps(item), key=f"r{number}")
        return
    page.say("[")
    for number, item in enumerate(items):
        lines = json.dumps(item, indent=2).split("\n")
        lines[-1] += "," if number + 1 < len(items) else ""
        page.say(*("  " + line for line in lines), key=f"r{number}")
    page.say("]")


def _yaml(page: Page, table: Table) -> None:
    page.say("items:")
    for number, row in enumerate(table.rows):
        for i, (title, key, _) in enumerate(table.columns):
            value = row.get(key)
            shown = "null" if value is None else json.dumps(value) if not isinstance(value, str) else value
            page.say(f"{'- ' if i == 0 else '  '}{title}: {shown}", key=f"r{number}")


_STYLES: dict[str, Callable[[Page, Table], None]] = {
    "plain": _plain, "dashes": _plain, "bare": lambda page, table: _plain(page, table, titles=False), "psql": _psql,
    "box": _box, "mysql": _box, "expanded": _expanded, "csv": _csv, "json": _objects, "jsonl": _objects, "yaml": _yaml,
}  # fmt: skip


def draw(table: Table) -> Page:
    """The page of a table; row n is evidence of the key `rn`."""
    page = Page()
    page.say(*table.head) if table.head else None
    _STYLES[table.style](page, table)
    page.say(*table.foot) if table.foot else None
    return page


_LEADS = ("Quick check: ", "I need to know: ", "For the report: ", "Find out: ", "Show the line: ", "Evidence for: ")


def worded(rng: random.Random, text: str) -> str:
    """A question or phrase with another start or end; its words stay."""
    roll = rng.random()
    if roll < 0.1:
        return rng.choice(_LEADS) + (text[:1].lower() + text[1:] if not text[:2].isupper() else text)
    if roll < 0.2:
        return text.rstrip("?.")
    if roll < 0.4 and text[:1].islower():
        return text[:1].upper() + text[1:]
    return text


def joined(rng: random.Random, tables: Sequence[Table], subjects: dict[str, str]) -> tuple[Page, list[Label], str]:
    """Several tables one after the other, as of one command line; queries say which one they are about."""
    page, labels, commands = Page(), [], []
    form = rng.choice(["prompt", "blank", "rule"])
    for number, table in enumerate(tables):
        command = rng.choice(list(table.commands))
        commands.append(command)
        if form == "prompt":
            page.say(f"$ {command}")
        elif form == "rule":
            page.say(f"=== {table.name.replace('_', ' ')} ===")
        elif number:
            page.say("")
        part = draw(table)
        start = len(page.lines)
        found = labels_of(rng, table, part, most=3, negatives=0.7)
        page.say(*part.lines)
        for key, lines in part.marks.items():
            page.marks[f"{number}/{key}"] = [start + n for n in lines]
        subject = subjects.get(table.name, table.name.replace("_", " "))
        for label in found:
            query = label.query
            if "named" not in label.rule:
                low = query[:1].lower() + query[1:]
                query = rng.choice(
                    [f"Of the {subject}: {low}", f"{subject[:1].upper()}{subject[1:]}: {low}", f"{query} ({subject})",
                     f"In the part about {subject}: {low}"]
                )  # fmt: skip
            key = None if label.key is None else f"{number}/{label.key}"
            labels.append(Label(query, key, label.rule, cuttable=label.cuttable))
    rng.shuffle(labels)
    if form == "blank" or rng.random() < 0.5:
        return page, labels[:8], rng.choice(["; ", " && ", "; echo; "]).join(commands)
    return page, labels[:8], rng.choice(["bash report.sh", "bash checks.sh", "./status.sh", "make report"])


def _looks_alike(table: Table, key: str, chosen: int) -> bool:
    """Whether another row prints the same in the field by which one was chosen."""
    show = table.show.get(key) or _ROUNDED.get(key)
    if show is None:
        return False
    shown = [None if row.get(key) is None else show(row[key]) for row in table.rows]
    return shown.count(shown[chosen]) > 1


def labels_of(rng: random.Random, table: Table, page: Page, most: int = 5, negatives: float = 1.3) -> list[Label]:
    """Labels of a table, answers computed from its rows; negatives for conditions that no row meets."""
    found: list[Label] = []
    missing: list[Label] = []
    asks = list(table.asks)
    rng.shuffle(asks)
    taken: set[int] = set()
    for ask in asks:
        rows = ask.choose(table.rows)
        if ask.key and rows and _looks_alike(table, ask.key, rows[0]):
            continue
        query = worded(rng, rng.choice(ask.wordings))
        if not rows and ask.cuttable:
            missing.append(Label(query, None, f"{table.name}_absent_{ask.rule}"))
        elif rows and len(rows) <= ask.most and not (set(rows) & taken and rng.random() < 0.5):
            key = f"{ask.rule}:{len(found)}"
            page.marks[key] = [n for row in rows for n in page.marks[f"r{row}"]]
            found.append(Label(query, key, f"{table.name}_{ask.rule}", cuttable=ask.cuttable))
            taken |= set(rows)
    found = found[:most]
    shown = {str(row.get("name")) for row in table.rows}
    if table.by_name:
        rows = list(range(len(table.rows)))
        rng.shuffle(rows)
        for number in rows[: rng.choice([1, 1, 2])]:
            row = table.rows[number]
            same = sum(str(other.get("name")) == str(row.get("name")) for other in table.rows)
            if row.get("means") and same == 1:
                wording = rng.choice(table.by_name)
                query = wording.format(m=rng.choice(row["means"]), n=row["name"])
                found.append(Label(worded(rng, query), f"r{number}", f"{table.name}_named", cuttable=True))
        others = [(n, means) for n, means in table.absent if n not in shown and means]
        for name, means in rng.sample(others, min(len(others), 2)):
            query = rng.choice(table.by_name).format(m=rng.choice(means), n=name)
            missing.append(Label(worded(rng, query), None, f"{table.name}_absent_named"))
    rng.shuffle(missing)
    count = int(negatives) + (rng.random() < negatives - int(negatives))
    rng.shuffle(found)
    return [*found, *missing[:count]]
