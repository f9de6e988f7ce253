"""Answers of HTTP services and databases: lists of objects, metrics, header exchanges, SQL sessions, listings."""

# ruff: noqa: E501  (texts of tools and queries stay on one line)

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._documents import Paper, Sheet, blocks, groups, paper, sheet
from linecls.data.families._toolkit import Label, Page, Slots
from linecls.records import Record

NAME = "responses"


@dataclass
class Objects:
    """A list of objects an interface returns: usual fields, and odd ones with queries."""

    name: str
    path: str
    wrap: str
    base: dict[str, str] = field(default_factory=dict)
    odd: list[tuple[str, dict[str, str], list[str]]] = field(default_factory=list)


def _objects(text: str) -> list[Objects]:
    """`# name path wrapper`, `. key = value` usual fields, `= name key=value; ...` odd object, `? query`."""
    found: list[Objects] = []
    for line in text.strip().splitlines():
        if line.startswith("# "):
            name, path, wrap = line[2:].split()
            found.append(Objects(name, path, wrap))
        elif line.startswith(". "):
            key, _, value = line[2:].partition(" = ")
            found[-1].base[key] = value
        elif line.startswith("= "):
            name, _, rest = line[2:].partition(" ")
            found[-1].odd.append((name, dict(part.strip().split("=", 1) for part in rest.split(";")), []))
        elif line.startswith("? "):
            found[-1].odd[-1][2].append(line[2:])
    return found


OBJECTS = _objects(kit.catalogue_text("responses_objects"))


def _nest(flat: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *path, last = key.split(".")
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node[last] = value
    return tree


def _value(text: str, slots: Slots, rng: random.Random) -> Any:
    filled = slots.fill(rng.choice(text.split("|")))
    try:
        return json.loads(filled)
    except json.JSONDecodeError:
        return filled


def _list(rng: random.Random, index: int) -> Iterator[Record]:
    """A JSON list in which single objects are asked for."""
    spec = rng.choice(OBJECTS)
    chosen = rng.sample(spec.odd, rng.randint(3, min(6, len(spec.odd))))
    total = rng.randint(8, 34)
    keys: list[str] = ["" for _ in range(total)] + [name for name, _, _ in chosen]
    rng.shuffle(keys)
    drop = set(rng.sample(list(spec.base), rng.randint(0, min(2, len(spec.base) - 3))))
    used = {k for _, over, _ in chosen for k in over}
    page = Page()
    wrapped = spec.wrap != "-" and rng.random() < 0.7
    form = rng.choice(["pretty", "pretty", "pretty", "lines"])
    if form == "pretty":
        if wrapped:
            page.say("{", f'  "total": {total + len(chosen)},', f'  "{spec.wrap}": [')
        else:
            page.say("[")
    pad = "    " if wrapped else "  "
    overrides = {name: over for name, over, _ in chosen}
    for position, name in enumerate(keys):
        slots = Slots(rng, kit.VOCABULARIES)
        flat = {k: _value(v, slots, rng) for k, v in spec.base.items() if k not in drop or k in used}
        flat.update({k: _value(v, slots, rng) for k, v in overrides.get(name, {}).items()})
        tree = _nest(flat)
        if form == "lines":
            page.say(json.dumps(tree), key=name or None)
            continue
        text = json.dumps(tree, indent=2).split("\n")
        text[-1] += "" if position + 1 == len(keys) else ","
        page.say(*(pad + line for line in text), key=name or None)
    if form == "pretty":
        page.say(*(["  ]", "}"] if wrapped else ["]"]))
    labels = [
        Label(kit.vary(rng, rng.choice(queries)), name, f"json_{spec.name}_{name}") for name, _, queries in chosen
    ]
    rest = [o for o in spec.odd if o[0] not in {c[0] for c in chosen} and not set(o[1]) & used]
    if rest and rng.random() < 0.75:
        labels.append(Label(kit.vary(rng, rng.choice(rng.choice(rest)[2])), None, f"json_{spec.name}_absent"))
    tool = "curl" if rng.random() < 0.75 else "json"
    end = " | jq -c '.[]'" if form == "lines" else " | jq ."
    command = (
        f"curl -s http://127.0.0.1:{rng.randint(7000, 9900)}{spec.path}{end}"
        if tool == "curl"
        else f"cat {spec.name}.json"
    )
    yield from kit.records(
        page,
        labels,
        tool_type=tool,
        command=command,
        family=NAME,
        project=f"{spec.name}-{index % 25}",
        ident=f"json-{index}-{rng.getrandbits(32):08x}",
    )


METRICS = kit.parse_catalogue(kit.catalogue_text("responses_metrics"))
_METRIC_ALIKE = groups(
    "fds maxfds\ne500 e404 e429\nqueue consumer dlq\ndbpool dbwait\ncachehit cachemiss evict\nlag leader elections\nretry breaker\njobok jobfail\nup\nstart build\ndisk\nrss gc goroutines cpu"
)
_METRIC_USUAL = blocks(kit.catalogue_text("responses_metric_usual"))

HEADERS = kit.parse_catalogue(kit.catalogue_text("responses_headers"))
_HEADER_USUAL = blocks(kit.catalogue_text("responses_header_usual"))

SQL = kit.parse_catalogue(kit.catalogue_text("responses_sql"))
_SQL_USUAL = blocks(kit.catalogue_text("responses_sql_usual"))

PAPERS = [
    Paper(
        "metrics",
        "curl",
        ["curl -s localhost:9090/metrics", "curl -s http://127.0.0.1:8081/metrics"],
        _METRIC_USUAL,
        METRICS,
        _METRIC_ALIKE,
        ["# HELP up_info Whether it runs.", "up_info 1"],
        [],
        False,
    ),
    Paper(
        "headers",
        "curl",
        [
            "curl -v https://api.example/",
            "bash probe.sh  # curl -sv for each address",
            "curl -svL https://shop.example/",
        ],
        _HEADER_USUAL,
        HEADERS,
        groups(
            "redirect auth retry accept\ntls cert certbad http2 hsts\ncache etag\ndns refused timeout\nlimit retry\ncookie csp cors"
        ),
        [],
        [],
        False,
    ),
    Paper(
        "psql",
        "sql",
        ["psql app -f session.sql -a", "psql -d app -e -f checks.sql"],
        _SQL_USUAL,
        SQL,
        groups(
            "unique fk null check\nnocol notable\nperm lockto\ntype div\nseq idx\nempty del0 notice\nabort rollback\nupd copy\njson top size"
        ),
        ["psql (15.6)", 'Type "help" for help.', ""],
        [],
        True,
    ),
]

LS = Sheet(
    "ls",
    "ls",
    ["ls -la", "ls -l --time-style=long-iso", "ls -lA"],
    "total {nnnn}",
    [
        "-rw-r--r-- ; 1 ; {user} ; staff ; {nnnn} ; 2024-0{n}-1{n} 0{n}:{mm} ; {word}_{word2}.py",
        "-rw-r--r-- ; 1 ; {user} ; staff ; {nnnnn} ; 2024-0{n}-2{n} 1{n}:{mm} ; {word}-{nn}.json",
        "drwxr-xr-x ; {n} ; {user} ; staff ; 4096 ; 2024-0{n}-1{n} 0{n}:{mm} ; {word}_{nn}",
        "-rw-r--r-- ; 1 ; {user} ; staff ; {nnn} ; 2023-1{n}-1{n} 0{n}:{mm} ; {word}.md",
    ],
    kit.parse_catalogue(kit.catalogue_text("responses_ls")),
    groups("world suid\nkey hidden\nold foreign\nhuge core"),
    1,
)


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of HTTP answers, SQL sessions and listings; `observations`, the most outputs to make."""
    for index in range(int(options.get("observations", kit.MANY))):
        local = random.Random(rng.getrandbits(64))
        roll = local.random()
        if roll < 0.4:
            yield from _list(local, index)
        elif roll < 0.93:
            yield from paper(local, local.choice(PAPERS), index, NAME)
        else:
            yield from sheet(local, LS, index, NAME)
