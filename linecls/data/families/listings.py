"""Listings that tools print: files, disks, processes, packages, containers, cluster objects, units, coverage, rows.

Every table is made of typed values and asked about by comparing them, by a condition on them, or by what a row is.
"""

# ruff: noqa: E501  (wordings stay on one line)

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._business import business
from linecls.data.families._listings_cluster import cluster, containers
from linecls.data.families._listings_host import files, folders, processes, units, volumes
from linecls.data.families._listings_packages import coverage, packages
from linecls.data.families._rows import assets, branches, cron, durations, outcomes, recap
from linecls.data.families._tables import Table, draw, joined, labels_of
from linecls.records import Record

NAME = "listings"


_WORK: list[Callable[[random.Random], Table]] = [
    files, files, folders, volumes, processes, processes, packages, packages, containers, containers, cluster, cluster, units, units, coverage,
    coverage, business, business, business, business, business, business, recap, branches, assets, durations, outcomes,
    outcomes, cron,
]  # fmt: skip

# What may be printed one after the other by one command line.
_GROUPS: list[tuple[str, list[Callable[[random.Random], Table]]]] = [
    ("shell", [files, folders, volumes, processes, packages, containers, units, branches, cron]),
    ("shell", [volumes, processes, units, containers]),
    ("kubectl", [cluster]),
    ("test_output", [outcomes, durations, coverage]),
]

_SUBJECTS = {
    "ls": "files", "du": "sizes of folders", "df": "file systems", "ps": "processes", "outdated": "outdated packages",
    "npmout": "outdated npm packages", "dpkg": "Debian packages", "upgradable": "packages to upgrade", "npmls": "npm packages",
    "freeze": "frozen requirements", "piplist": "Python packages", "dockerps": "containers", "images": "images",
    "stats": "container figures", "getpods": "pods", "deploy": "deployments", "svc": "services", "hpa": "autoscalers",
    "claims": "volume claims", "cronjobs": "cron jobs", "ingress": "ingresses", "toppods": "use of resources by pods",
    "listunits": "units", "unitfiles": "unit files", "timers": "timers", "jestcov": "coverage", "gocov": "coverage by function",
    "pycov": "coverage", "recap": "hosts", "branches": "branches", "assets": "chunks", "durations": "slow tests", "cron": "crontab",
    "pg_stat_user_tables": "table statistics", "runs": "workflow runs", "loans": "library loans", "outcomes_pytest": "test cases",
    "outcomes_ctest": "ctest cases", "outcomes_go": "Go tests", "outcomes_jest": "jest tests",
}  # fmt: skip


def _several(rng: random.Random) -> tuple[str, list[Table]]:
    if rng.random() < 0.3:
        layout = rng.randrange(4)
        tool, made = "sql", [business(rng, layout) for _ in range(rng.randint(2, 5))]
    else:
        tool, group = rng.choice(_GROUPS)
        made = [rng.choice(group)(rng) for _ in range(rng.randint(2, 5))]
    seen: dict[str, Table] = {}
    for table in made:
        seen.setdefault(_SUBJECTS.get(table.name, table.name), table)
    return tool, list(seen.values())


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of listings. Options: `observations` (most outputs), `labels` (most of one, 5), `negatives` (1.3)."""
    for index in range(int(options.get("observations", kit.MANY))):
        local = random.Random(rng.getrandbits(64))
        if local.random() < 0.5:
            tool, tables = _several(local)
            page, labels, command = joined(local, tables, _SUBJECTS)
            name = "-".join(sorted(t.name for t in tables)[:2])
            project = f"{name}-{index % 25}"
        else:
            table = local.choice(_WORK)(local)
            page = draw(table)
            labels = labels_of(local, table, page, int(options.get("labels", 5)), float(options.get("negatives", 1.3)))
            tool, name, command = table.tool_type, table.name, local.choice(list(table.commands))
            project = table.project or f"{name}-{index % 25}"
        if len(page.lines) < 14:
            continue
        yield from kit.records(
            page, labels, tool_type=tool, command=command, family=NAME, project=project,
            ident=f"{name}-{index}-{local.getrandbits(32):08x}",
        )  # fmt: skip
