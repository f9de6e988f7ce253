"""Listings about software: installed and outdated packages, coverage."""

# ruff: noqa: E501  (wordings stay on one line)

from __future__ import annotations

import random

from linecls.data.families._listing_tools import (
    dotted,
    release,
    row_suffix,
    some,
)
from linecls.data.families._tables import Row, Table, extreme, names, those


def packages(rng: random.Random) -> Table:
    """Packages that pip, npm, dpkg or apt list, installed or outdated."""
    kind = rng.choice(["pip", "pip", "freeze", "npm", "outdated", "npmout", "dpkg", "dpkg", "upgradable"])
    section = {
        "pip": "pip",
        "freeze": "pip",
        "outdated": "pip",
        "npm": "npm",
        "npmout": "npm",
        "dpkg": "deb",
        "upgradable": "deb",
    }[kind]
    rows: list[Row] = []
    for name, means in some(rng, section, 18, 70):
        version = release(rng)
        newer = (
            (version[0] + 1, 0, rng.randint(0, 3))
            if rng.random() < 0.3
            else (version[0], version[1] + rng.randint(1, 9), 0)
            if rng.random() < 0.6
            else (*version[:2], version[2] + rng.randint(1, 5))
        )
        rows.append(
            {
                "name": name,
                "means": means,
                "v": version,
                "new": newer,
                "version": dotted(version),
                "latest": dotted(newer),
                "wanted": dotted(
                    (version[0], max(version[1], newer[1] if newer[0] == version[0] else version[1]), newer[2])
                ),
                "kind": rng.choice(["wheel", "wheel", "wheel", "sdist"]),
                "arch": rng.choice(["amd64", "amd64", "all"]),
                "state": "ii",
                "place": "",
                "depended": rng.choice(["web", "web", "api", "tools"]),
            }
        )
    rows.sort(key=lambda r: r["name"])
    odd = rng.sample(rows, 5)
    for row, change in zip(
        odd,
        rng.sample(
            [
                {"version": row_suffix(odd[0], ".dev0"), "odd": "pre"},
                {"version": row_suffix(odd[1], "rc1"), "odd": "pre"},
                {"place": "/home/user/src/" + odd[2]["name"]},
                {"state": "rc"},
                {"state": "iU"},
                {"state": "hi"},
                {"arch": "i386"},
                {"version": "0.0.1", "odd": "first"},
                {"kind": "sdist"},
            ],
            5,
        ),
        strict=True,
    ):
        row.update(change)
    by_name = (
        "Which version of {m} is there?",
        "Is {m} installed?",
        "{n} version",
        "How old is {m}?",
        "Do we have {m}?",
        "Find the entry for {m}.",
    )
    if kind in ("outdated", "npmout"):
        asks = [
            those(
                "major",
                lambda r: r["new"][0] > r["v"][0],
                "Which upgrades jump to the next major release?",
                "What may break when upgraded, by the first number?",
                most=6,
            ),
            those(
                "patch",
                lambda r: r["new"][:2] == r["v"][:2],
                "Which ones lag behind by a bug-fix release only?",
                "harmless updates that change the last number only",
                most=6,
            ),
            those(
                "source",
                lambda r: kind == "outdated" and r["kind"] == "sdist",
                "Which of the newer ones would have to be built here?",
                "no ready-made binary for the update",
                most=6,
            ),
            extreme(
                "gap",
                "gap",
                "Which one has fallen behind the furthest in minor releases?",
                "the most outdated within its major line",
            ),
        ]
        for row in rows:
            row["gap"] = row["new"][1] - row["v"][1] if row["new"][0] == row["v"][0] else -1
        if kind == "outdated":
            return Table(
                "outdated",
                "pip_install",
                ["pip list --outdated", "python -m pip list -o"],
                [
                    ("Package", "name", "<"),
                    ("Version", "version", "<"),
                    ("Latest", "latest", "<"),
                    ("Type", "kind", "<"),
                ],
                rows,
                asks,
                (
                    "What could {m} be upgraded to?",
                    "Is there a newer release of {m}?",
                    "{n} latest",
                    "Which update is waiting for {m}?",
                ),
                names("pip"),
                style="dashes",
                gap=1,
            )
        return Table(
            "npmout",
            "npm_install",
            ["npm outdated", "npm outdated --long=false"],
            [
                ("Package", "name", "<"),
                ("Current", "version", ">"),
                ("Wanted", "wanted", ">"),
                ("Latest", "latest", ">"),
                ("Location", "name", "<"),
                ("Depended by", "depended", "<"),
            ],
            rows,
            asks,
            (
                "What could {m} be upgraded to?",
                "Is {m} up to date?",
                "{n} latest",
                "Which release of {m} would the range allow?",
            ),
            names("npm"),
        )
    asks = [
        those(
            "pre",
            lambda r: r.get("odd") == "pre",
            "Is anything installed that is not a final release?",
            "pre-releases among them",
        ),
        those(
            "first",
            lambda r: r.get("odd") == "first",
            "Which one looks like the very first upload of a project?",
            "a suspiciously early version",
        ),
        extreme("major", "first", "Which one has the highest major version?", "the largest leading number"),
    ]
    for row in rows:
        row["first"] = row["v"][0]
    if kind == "dpkg":
        asks = [
            those(
                "removed",
                lambda r: r["state"] == "rc",
                "What was removed but left its settings behind?",
                "leftover configuration of a package that is gone",
            ),
            those(
                "unpacked",
                lambda r: r["state"] == "iU",
                "Which package was unpacked and never set up?",
                "an installation that stopped half-way",
            ),
            those("held", lambda r: r["state"] == "hi", "What is kept from being upgraded?", "a package on hold"),
            those(
                "foreign",
                lambda r: r["arch"] == "i386",
                "What is for another processor than the rest?",
                "a 32-bit package on this machine",
            ),
            *asks,
        ]
        for row in rows:
            row["version"] = row["version"] + rng.choice(["-1", "-2+deb12u1", "-1ubuntu3", "+dfsg-4"])
            row["text"] = rng.choice(row["means"])
        head = [
            "Desired=Unknown/Install/Remove/Purge/Hold",
            "| Status=Not/Inst/Conf-files/Unpacked/halF-conf/Half-inst/trig-aWait/Trig-pend",
            "|/ Err?=(none)/Reinst-required (Status,Err: uppercase=bad)",
            "||/ Name           Version      Architecture Description",
            "+++-==============-============-============-================",
        ]
        return Table(
            "dpkg",
            "shell",
            ["dpkg -l", "dpkg -l | cat"],
            [("", "state", "<"), ("", "name", "<"), ("", "version", "<"), ("", "arch", "<"), ("", "text", "<")],
            rows,
            asks,
            ("version of {n}", "Which release of {n} do we run?", "Is {m} installed?", "Is there a package for {m}?"),
            names("deb"),
            head=head,
            style="bare",
        )
    if kind == "upgradable":
        for row in rows:
            row["line"] = (
                f"{row['name']}/{rng.choice(['stable', 'stable', 'stable-security', 'stable-backports'])} {row['latest']}-1 {row['arch']} [upgradable from: {row['version']}-1]"
            )
        asks = [
            those(
                "security",
                lambda r: "security" in r["line"],
                "Which updates close a hole?",
                "fixes from the security archive",
                most=8,
            ),
            those(
                "backport",
                lambda r: "backports" in r["line"],
                "What comes from a newer release of the distribution?",
                "packages out of the backports",
                most=8,
            ),
            those("foreign", lambda r: r["arch"] == "i386", "What is for another processor than the rest?"),
        ]
        return Table(
            "upgradable",
            "shell",
            ["apt list --upgradable", "apt list --upgradable 2>/dev/null"],
            [("", "line", "<")],
            rows,
            asks,
            ("Is there an update for {m}?", "newer build of {n}", "Does {m} need an upgrade?"),
            names("deb"),
            head=["Listing..."],
            style="bare",
        )
    if kind == "npm":
        for row in rows:
            row["line"] = (
                f"├── {row['name']}@{row['version']}"
                + rng.choices(["", " extraneous", " deduped", ' invalid: "^9" from the root project'], [20, 1, 1, 1])[0]
            )
        asks = [
            those(
                "extraneous",
                lambda r: "extraneous" in r["line"],
                "What is installed although nobody asks for it?",
                "leftovers that are in no manifest",
                most=6,
            ),
            those(
                "invalid",
                lambda r: "invalid" in r["line"],
                "Which one does not satisfy the wanted range?",
                "a release that breaks the requirement",
                most=6,
            ),
            *asks,
        ]
        return Table(
            "npmls",
            "npm_install",
            ["npm ls", "npm ls --depth=0", "npm list"],
            [("", "line", "<")],
            rows,
            asks,
            by_name,
            names("npm"),
            head=[f"web@{dotted(release(rng))} /home/user/web"],
            style="bare",
        )
    asks.append(
        those(
            "editable",
            lambda r: bool(r["place"]),
            "What is installed from a local checkout?",
            "development install of our own",
        )
    )
    if kind == "freeze":
        for row in rows:
            row["line"] = f"-e file://{row['place']}" if row["place"] else f"{row['name']}=={row['version']}"
        return Table(
            "freeze",
            "pip_install",
            ["pip freeze", "cat requirements.lock", "uv pip freeze"],
            [("", "line", "<")],
            rows,
            asks,
            by_name,
            names("pip"),
            style="bare",
        )
    return Table(
        "piplist",
        "pip_install",
        ["pip list", "python -m pip list", "uv pip list"],
        [("Package", "name", "<"), ("Version", "version", "<"), ("Editable project location", "place", "<")],
        rows,
        asks,
        by_name,
        names("pip"),
        style="dashes",
        gap=1,
    )


def coverage(rng: random.Random) -> Table:
    """Coverage by module or function, as five tools print it."""
    kind = rng.choice(["py", "py", "branch", "jest", "go"])
    root = rng.choice(["app", "src/shop", "billing", "server", "pkg"])
    ending = {"py": ".py", "branch": ".py", "jest": ".ts", "go": ".go"}[kind]
    rows: list[Row] = []
    for name, means in some(rng, "module", 20, 50):
        total = int(10 ** rng.uniform(0.8, 2.8))
        share = min(1.0, max(0.0, rng.gauss(0.85, 0.13)))
        rows.append(
            {"name": f"{root}/{name}{ending}", "means": means, "total": total, "miss": round(total * (1 - share))}
        )
    for row, change in zip(
        rng.sample(rows, 3), [{"miss": None}, {"total": 0, "miss": 0}, {"total": rng.randint(700, 1900)}], strict=True
    ):
        row.update(change)
        if row["miss"] is None:
            row["miss"] = row["total"]
        row["miss"] = min(row["miss"], row["total"])
    rows.sort(key=lambda r: r["name"])
    for row in rows:
        row["part"] = rng.randint(0, 9) if row["miss"] else 0
        row["branch"] = row["total"] // 4 * 2
        row["share"] = 100 if not row["total"] else int(100 * (1 - row["miss"] / row["total"]))
        gaps, at = [], rng.randint(3, 30)
        for _ in range(min(row["miss"], rng.randint(1, 6))):
            length = rng.choice([0, 0, 1, 4, 17])
            gaps.append(f"{at}-{at + length}" if length else str(at))
            at += length + rng.randint(4, 90)
        row["gaps"] = ", ".join(gaps) if row["miss"] < row["total"] or not row["total"] else f"1-{row['total'] * 2}"
    asks = [
        extreme(
            "worst",
            "share",
            "Which module is tested the least?",
            "the lowest share",
            "Where are tests needed most, by percentage?",
            least=True,
        ),
        extreme("missing", "miss", "Where is the largest number of lines never run?", "most untested statements"),
        extreme("large", "total", "Which module is the largest?", "most statements of all"),
        those(
            "none",
            lambda r: r["total"] > 0 and r["miss"] == r["total"],
            "Which module is never run by any test?",
            "not covered at all",
            "nothing of it was executed",
        ),
        those("void", lambda r: r["total"] == 0, "Which file has nothing to cover?", "without any statement"),
        those(
            "one",
            lambda r: r["miss"] == 1,
            "Where is a single line missing to be complete?",
            "just one statement short",
            most=5,
        ),
        extreme("branches", "part", "Where are most conditions taken one way only?", "the most half-taken branches")
        if kind == "branch"
        else those(
            "poor",
            lambda r: 0 < r["share"] < 45 and r["total"] > 0,
            "Which modules are less than half covered?",
            most=5,
        ),
    ]
    named = (
        "How well is {m} tested?",
        "Which lines of the module for {m} never run?",
        "coverage of {m}",
        "What is missing in the tests of {m}?",
        "{n}",
    )
    known = [(f"{root}/{n}{ending}", m) for n, m in names("module")]
    total, miss = sum(r["total"] for r in rows), sum(r["miss"] for r in rows)
    if kind == "jest":
        for row in rows:
            row.update(a=row["share"], b=max(0, row["share"] - rng.randint(0, 30)), c=row["share"], d=row["share"])
        return Table(
            "jestcov",
            "coverage",
            ["npx jest --coverage", "npx vitest run --coverage"],
            [
                ("File", "name", "<"),
                ("% Stmts", "a", ">"),
                ("% Branch", "b", ">"),
                ("% Funcs", "c", ">"),
                ("% Lines", "d", ">"),
                ("Uncovered Line #s", "gaps", "<"),
            ],
            rows,
            [asks[0], asks[3], asks[6]],
            named,
            known,
            style="psql",
        )
    if kind == "go":
        for row in rows:
            row["func"] = "".join(
                p.title()
                for p in rng.choice(
                    [
                        "load_all",
                        "parse",
                        "apply_rules",
                        "new_client",
                        "close",
                        "send_batch",
                        "validate",
                        "merge",
                        "encode",
                    ]
                ).split("_")
            )
            row["spot"], row["pct"] = f"example.com/{row['name']}:{rng.randint(9, 400)}:", f"{row['share']}.0%"
        return Table(
            "gocov",
            "coverage",
            ["go tool cover -func=cover.out"],
            [("", "spot", "<"), ("", "func", "<"), ("", "pct", ">")],
            rows,
            [asks[0], asks[3], asks[6]],
            named[:1] + named[2:3],
            known,
            style="bare",
            gap=4,
            foot=[f"total:\t\t\t(statements)\t\t{100 - 100 * miss // max(1, total)}.0%"],
        )
    columns = [("Name", "name", "<"), ("Stmts", "total", ">"), ("Miss", "miss", ">")]
    columns += [("Branch", "branch", ">"), ("BrPart", "part", ">")] if kind == "branch" else []
    columns += [("Cover", "share", ">"), ("Missing", "gaps", "<")]
    return Table(
        "pycov",
        "coverage",
        ["coverage report -m", "pytest --cov --cov-report=term-missing -q", "python -m coverage report --show-missing"],
        columns,
        rows,
        asks,
        named,
        known,
        style="dashes",
        gap=3,
        foot=["-" * 60, f"TOTAL {total} {miss} {100 - 100 * miss // max(1, total)}%"],
        show={"share": lambda v: f"{v}%"},
    )
