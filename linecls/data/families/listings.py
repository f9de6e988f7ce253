"""Listings that tools print: files, disks, processes, packages, containers, cluster objects, units, coverage, rows.

Every table is made of typed values and asked about by comparing them, by a condition on them, or by what a row is.
"""

# ruff: noqa: E501  (wordings stay on one line)

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._rows import assets, branches, business, cron, durations, outcomes, recap
from linecls.data.families._tables import Row, Table, age, draw, extreme, joined, labels_of, names, those
from linecls.records import Record

NAME = "listings"

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def human(size: float) -> str:
    """Bytes as `ls -h` and `du -h` print them."""
    for unit in ("", "K", "M", "G"):
        if size < 1024:
            return f"{size:.0f}{unit}" if size >= 10 or not unit else f"{size:.1f}{unit}"
        size /= 1024
    return f"{size:.1f}T"


def binary(size: float) -> str:
    """Bytes with a decimal unit as container tools print them."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g}{unit}"
        size /= 1000
    return f"{size:.3g}GB"


def _version(rng: random.Random) -> tuple[int, int, int]:
    return rng.choice([0, 1, 2, 3, 4, 5, 8, 24]), rng.randint(0, 30), rng.randint(0, 14)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _some(rng: random.Random, section: str, low: int, high: int) -> list[tuple[str, list[str]]]:
    entries = names(section)
    return rng.sample(entries, min(len(entries), rng.randint(low, high)))


def _moment(rng: random.Random) -> int:
    """Days before 2026-06-30."""
    return int(rng.random() ** 2 * 1400)


def _day(days: int) -> str:
    return (date(2026, 6, 30) - timedelta(days=days)).isoformat()


_PEOPLE = ["root", "deploy", "www-data", "postgres", "amara", "jonas", "katya", "mei", "oskar", "priya", "backup"]


def _ls(rng: random.Random) -> Table:
    rows: list[Row] = []
    owner, group = rng.choice(_PEOPLE), rng.choice(["staff", "users", "dev", "root"])
    entries = _some(rng, "file", 18, 60)
    folders = rng.sample(
        [
            "src",
            "tests",
            "docs",
            "build",
            "dist",
            "node_modules",
            "static",
            "templates",
            "migrations",
            "scripts",
            ".git",
            ".venv",
            "__pycache__",
            "locale",
            "fixtures",
            "media",
        ],
        rng.randint(4, 12),
    )
    for name in folders:
        rows.append({"name": name, "mode": "drwxr-xr-x", "links": rng.randint(2, 14), "size": 4096, "folder": True})
    for name, means in entries:
        size = int(10 ** rng.uniform(1.3, 5.2))
        rows.append({"name": name, "means": means, "mode": "-rw-r--r--", "links": 1, "size": size})
    plain = [r for r in rows if not r.get("folder")]
    for row in rows:
        row.update(user=owner, group=group, days=_moment(rng))
    for row, change in zip(rng.sample(plain, min(len(plain), 7)), rng.sample([
        {"mode": "-rwxr-xr-x"}, {"mode": "-rw-rw-rw-"}, {"mode": "-rw-------"}, {"size": 0}, {"user": "root"} if owner != "root" else {"user": "nobody"},
        {"size": rng.randint(2, 9) * 10**8}, {"links": 2}, {"mode": "-rwsr-xr-x"}, {"mode": "----------"}, {"days": 2200},
    ], 7), strict=False):  # fmt: skip
        row.update(change)
    if rng.random() < 0.5:
        rows.append(
            {
                "name": "current -> releases/" + rng.choice(["14", "2026-05-02", "v3"]),
                "mode": "lrwxrwxrwx",
                "links": 1,
                "size": 11,
                "user": owner,
                "group": group,
                "days": _moment(rng),
                "link": True,
            }
        )
    rows.sort(key=lambda r: r["name"].strip(".").lower())
    long = rng.random() < 0.5
    for row in rows:
        row["when"] = _day(row["days"]) + f" {rng.randint(6, 22):02d}:{rng.randint(0, 59):02d}"
        if not long:
            year, month, day = row["when"][:10].split("-")
            row["when"] = f"{_MONTHS[int(month) - 1]} {int(day):>2} " + (
                row["when"][11:] if int(year) == 2026 else f" {year}"
            )
    asks = [
        extreme(
            "biggest",
            "size",
            "Which file takes up the most room?",
            "the heaviest entry",
            "What should I delete first to save space?",
            where=lambda r: not r.get("folder"),
        ),
        extreme(
            "newest",
            "days",
            "What was changed last?",
            "Which entry is the most recent?",
            "latest modification",
            least=True,
        ),
        extreme(
            "oldest",
            "days",
            "What has not been touched for the longest time?",
            "Which entry is the oldest?",
            "the dustiest entry here",
        ),
        those(
            "executable",
            lambda r: r["mode"] in ("-rwxr-xr-x", "-rwsr-xr-x"),
            "Which files can be run directly?",
            "Is any plain file marked executable?",
        ),
        those(
            "world",
            lambda r: r["mode"][8] == "w" and r["mode"][0] == "-",
            "Is there a file that everybody may overwrite?",
            "Which permissions are dangerously open for writing?",
            "writable by anyone on the machine",
        ),
        those(
            "private",
            lambda r: r["mode"] == "-rw-------",
            "Which file may only its owner read?",
            "something hidden from group and others",
        ),
        those(
            "empty",
            lambda r: r["size"] == 0,
            "Which file has no content at all?",
            "Did any write leave nothing behind?",
            "file of no length",
        ),
        those(
            "foreign",
            lambda r: r["user"] != owner,
            "What does not belong to the same account as the rest?",
            "Which entry has another owner?",
            "ownership that looks like a mistake",
        ),
        those(
            "linked",
            lambda r: r.get("link", False),
            "Which entry merely points somewhere else?",
            "Is there a symbolic link?",
            "Where does the alias lead?",
        ),
        those(
            "setuid",
            lambda r: "s" in r["mode"],
            "Which file runs with the rights of its owner whoever starts it?",
            "a privilege bit that should not be there",
        ),
        those(
            "locked",
            lambda r: r["mode"] == "----------",
            "Which file can nobody read, not even its owner?",
            "all permissions taken away",
        ),
        those(
            "hard",
            lambda r: r["links"] > 1 and not r.get("folder"),
            "Which file exists under a second name too?",
            "more than one hard link",
        ),
    ]
    command = (
        rng.choice(
            ["ls -la", "ls -la --time-style=long-iso", "ls -lA project", "ls -la /srv/app", "stat -c ... | column"]
        )
        if long
        else rng.choice(["ls -la", "ls -l", "ls -lA", "ls -la /home/user/app"])
    )
    return Table(
        "ls",
        "ls",
        [command.replace("stat -c ... | column", "ls -lA --time-style=long-iso")],
        [
            ("", "mode", "<"),
            ("", "links", ">"),
            ("", "user", "<"),
            ("", "group", "<"),
            ("", "size", ">"),
            ("", "when", "<"),
            ("", "name", "<"),
        ],
        rows,
        asks,
        (
            "How big is {m}?",
            "When was {m} last written?",
            "Is {m} in this folder?",
            "permissions of {m}",
            "Find {m}.",
            "owner of {n}",
        ),
        names("file"),
        head=[f"total {sum(r['size'] for r in rows) // 1024 + 40}"],
        style="bare",
        gap=1,
    )


def _du(rng: random.Random) -> Table:
    top = rng.choice(["/var", "/home/user", "/srv", "/opt", "."])
    parts = [
        "log",
        "cache",
        "lib",
        "backups",
        "spool",
        "www",
        "mail",
        "images",
        "videos",
        "models",
        "checkpoints",
        "datasets",
        "node_modules",
        ".venv",
        ".git",
        "build",
        "dist",
        "target",
        ".cache/pip",
        ".cache/huggingface",
        ".npm",
        "docker/overlay2",
        "docker/volumes",
        "postgresql/15/main",
        "journal",
        "crash",
        "tmp",
        "archives/2022",
        "archives/2023",
        "archives/2024",
        "exports",
        "uploads",
        "thumbnails",
        "registry",
        "snap",
        "apt/archives",
    ]
    means = {
        "log": "the journals",
        "backups": "the copies for emergencies",
        "mail": "the mailboxes",
        "videos": "the films",
        "models": "the trained networks",
        "node_modules": "the JavaScript dependencies",
        ".venv": "the Python environment",
        ".git": "version control's own data",
        ".cache/pip": "the installer's downloads",
        "docker/overlay2": "the container layers",
        "docker/volumes": "what containers keep",
        "postgresql/15/main": "the database",
        "journal": "systemd's log",
        "crash": "the dumps of crashed programs",
        "thumbnails": "the small previews",
        "uploads": "what users sent",
        "registry": "the stored images",
        "apt/archives": "the downloaded packages",
        "archives/2022": "the oldest archive",
        "datasets": "the training data",
        "checkpoints": "the saved training states",
        ".cache/huggingface": "the downloaded models",
        "target": "the Rust build results",
    }
    chosen = rng.sample(parts, rng.randint(14, 32))
    rows: list[Row] = [
        {"name": f"{top}/{p}", "size": int(10 ** rng.uniform(3.5, 10.4)), "means": [means[p]] if p in means else []}
        for p in chosen
    ]
    if rng.random() < 0.5:
        rows.sort(key=lambda r: r["size"])
    asks = [
        extreme(
            "most",
            "size",
            "Which folder eats the most space?",
            "Where has all the disk space gone?",
            "the fattest subfolder",
        ),
        extreme("least", "size", "Which one is hardly worth deleting?", "the smallest of all", least=True),
        those(
            "huge",
            lambda r: r["size"] > 8 * 2**30,
            "Which ones need more than eight gibibytes?",
            "What lies in the range of many gigabytes?",
        ),
        those(
            "tiny",
            lambda r: r["size"] < 10**4,
            "Which ones hold next to nothing, a few kilobytes?",
            "almost empty folders",
        ),
    ]
    return Table(
        "du",
        "shell",
        [rng.choice([f"du -h --max-depth=1 {top}", f"du -sh {top}/*", f"du -xh -d2 {top} | sort -h"])],
        [("", "size", "<"), ("", "name", "<")],
        rows,
        asks,
        ("How much room does {m} take?", "size of {m}", "Do {m} matter for the full disk?"),
        [(f"x/{p}", [m]) for p, m in means.items() if p not in chosen],
        foot=[f"{human(sum(r['size'] for r in rows))}    {top}"],
        style="bare",
        gap=4,
        show={"size": human},
    )


def _df(rng: random.Random) -> Table:
    inodes = rng.random() < 0.25
    rows: list[Row] = []
    for name, means in _some(rng, "mount", 12, 23):
        size = rng.choice([1, 2, 8, 20, 40, 100, 250, 500, 1000, 2000, 4000]) * 2**30
        kind = rng.choice(["ext4", "ext4", "xfs", "btrfs"])
        device = rng.choice(
            [
                f"/dev/sd{rng.choice('abcd')}{rng.randint(1, 6)}",
                f"/dev/mapper/vg0-{name.strip('/').replace('/', '_') or 'root'}",
                f"/dev/nvme0n1p{rng.randint(1, 9)}",
            ]
        )
        if "nfs" in name or rng.random() < 0.06:
            device, kind = f"nas-{rng.randint(1, 3)}:/export{name}", "nfs4"
        if name in ("/run", "/dev/shm", "/tmp"):
            device, kind = "tmpfs", "tmpfs"
        rows.append(
            {"name": name, "means": means, "device": device, "kind": kind, "size": size, "use": rng.randint(1, 84)}
        )
    for row, use in zip(rng.sample(rows, 3), rng.sample([100, 99, 97, 95, 0, 92], 3), strict=False):
        row["use"] = use
    if rng.random() < 0.3:
        rows[rng.randrange(len(rows))].update(device="/dev/sdh1", kind=rng.choice(["vfat", "exfat"]))
    for row in rows:
        unit = 16384 if inodes else 1
        row["used"], row["free"] = row["size"] * row["use"] // 100, row["size"] * (100 - row["use"]) // 100
        row["total"] = row["size"] // unit
    thing = "file entries (inodes)" if inodes else "space"
    asks = [
        extreme(
            "fullest",
            "use",
            f"Which mount is closest to running out of {thing}?",
            f"Where is {thing} scarcest?",
            "the fullest file system",
        ),
        extreme(
            "roomiest",
            "free",
            "Where is the most left?",
            "Which volume offers the most free capacity?",
            "best place for another big file",
        ),
        extreme(
            "emptiest",
            "use",
            "Which one is hardly used at all?",
            "the file system with the lowest share in use",
            least=True,
        ),
        extreme("largest", "size", "Which volume is the largest overall?", "biggest of the file systems"),
        those(
            "full",
            lambda r: r["use"] == 100,
            f"Is any volume completely out of {thing}?",
            "Where do writes fail already?",
        ),
        those(
            "near",
            lambda r: 90 <= r["use"] < 100,
            "Which mounts are nearly full, but not quite?",
            "What will run out soon?",
        ),
        those(
            "remote",
            lambda r: r["kind"] == "nfs4",
            "What comes over the network?",
            "Which file systems live on another machine?",
        ),
        those(
            "memory", lambda r: r["kind"] == "tmpfs", "What is kept in memory only?", "Which mounts vanish at a reboot?"
        ),
        those(
            "cow",
            lambda r: r["kind"] == "btrfs",
            "Which ones support snapshots by copy on write?",
            "file systems of the B-tree kind",
        ),
        those(
            "stick",
            lambda r: r["kind"] in ("vfat", "exfat"),
            "Is something formatted in the Windows or camera manner?",
            "a file system without Unix permissions",
        ),
    ]
    head = (
        "Filesystem",
        "Type",
        "Inodes" if inodes else "Size",
        "IUsed" if inodes else "Used",
        "IFree" if inodes else "Avail",
        "IUse%" if inodes else "Use%",
        "Mounted on",
    )
    return Table(
        "df",
        "shell",
        ["df -iT"] if inodes else ["df -hT", "df -h --output=source,fstype,size,used,avail,pcent,target"],
        [
            (t, k, a)
            for t, k, a in zip(head, ("device", "kind", "size", "used", "free", "use", "name"), "<<>>>><", strict=True)
        ],
        rows,
        asks,
        (
            "How full is the file system with {m}?",
            "Where do {m} live and how much is left?",
            "free space for {m}",
            "device behind {n}",
        ),
        names("mount"),
        show={
            "size": (lambda v: str(v // 16384)) if inodes else human,
            "used": (lambda v: str(v // 16384)) if inodes else human,
            "free": (lambda v: str(v // 16384)) if inodes else human,
            "use": lambda v: f"{v}%",
        },
    )


def _ps(rng: random.Random) -> Table:
    rows: list[Row] = []
    for command, means in _some(rng, "proc", 22, 40):
        rows.append(
            {
                "name": command,
                "means": means,
                "user": rng.choice(["root", "root", "www-data", "postgres", "deploy", "app"]),
                "cpu": round(rng.random() ** 4 * 30, 1),
                "mem": round(rng.random() ** 3 * 9, 1),
                "stat": rng.choice(["Ss", "S", "Sl", "Ssl", "S<s"]),
                "tty": "?",
            }
        )
    for _ in range(rng.randint(5, 45)):
        rows.append(
            {
                "name": rng.choice(
                    [
                        "[kworker/{n}:{n}-events]",
                        "[rcu_sched]",
                        "[migration/{n}]",
                        "[ksoftirqd/{n}]",
                        "[kswapd0]",
                        "[jbd2/sda{n}-8]",
                        "sh -c sleep {n}0",
                        "-bash",
                        "(sd-pam)",
                        "/bin/sh /usr/lib/apt/apt.systemd.daily",
                        "sleep {n}00",
                        "sshd: deploy@pts/{n}",
                        "ssh-agent",
                        "dbus-daemon --system",
                        "agetty --noclear tty{n}",
                    ]
                ).replace("{n}", str(rng.randint(0, 9))),
                "user": "root",
                "cpu": 0.0,
                "mem": round(rng.random() * 0.2, 1),
                "stat": rng.choice(["I<", "S", "S", "Ss", "I"]),
                "tty": "?",
            }
        )
    rng.shuffle(rows)
    for row in rows:
        row.update(
            pid=rng.randint(2, 32000),
            rss=int(row["mem"] * 163000) + rng.randint(0, 900),
            start=f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}",
            minutes=int(rng.random() ** 3 * 900),
        )
        row.update(time=f"{row['minutes']}:{rng.randint(0, 59):02d}", vsz=row["rss"] * 3 + 4000)
    for row, change in zip(
        rng.sample(rows, 5),
        rng.sample(
            [
                {
                    "stat": "Z",
                    "name": f"[{rng.choice(['python', 'sh', 'node', 'git'])}] <defunct>",
                    "rss": 0,
                    "vsz": 0,
                    "mem": 0.0,
                },
                {"stat": "D"},
                {"stat": "T"},
                {"cpu": round(rng.uniform(88, 399), 1), "stat": "R"},
                {"mem": round(rng.uniform(21, 55), 1)},
                {"user": "nobody"},
                {"tty": "pts/3"},
                {"start": "2025"},
                {"stat": "SN"},
            ],
            5,
        ),
        strict=False,
    ):
        row.update(change)
        row["means"] = []
    asks = [
        extreme(
            "memory",
            "mem",
            "Which process eats the most memory?",
            "Who is using up the RAM?",
            "the biggest resident set",
        ),
        extreme(
            "cpu",
            "cpu",
            "What keeps the processor busy?",
            "Which process burns the most cycles right now?",
            "the busiest one",
        ),
        extreme(
            "time", "minutes", "Which process has used the most processor time in all?", "largest accumulated run time"
        ),
        those(
            "zombie",
            lambda r: r["stat"] == "Z",
            "Is there a process whose parent never collected it?",
            "dead entries that still stand in the table",
        ),
        those(
            "disk",
            lambda r: r["stat"] == "D",
            "What hangs in an uninterruptible wait for the disk?",
            "Which process cannot be killed at the moment?",
        ),
        those(
            "stopped",
            lambda r: r["stat"] == "T",
            "What was suspended and never resumed?",
            "a program somebody froze with Ctrl-Z",
        ),
        those(
            "nobody",
            lambda r: r["user"] == "nobody",
            "What runs without any privileges, as the account for nobody?",
            "the unprivileged process",
        ),
        those(
            "terminal",
            lambda r: r["tty"] != "?",
            "Which process is attached to a terminal?",
            "something started by hand in a session",
        ),
        those(
            "lastyear",
            lambda r: r["start"] == "2025",
            "What has been up since before the turn of the year?",
            "Which process is older than this year?",
        ),
        those("nice", lambda r: r["stat"] == "SN", "Which process was given low priority?", "somebody being nice"),
    ]
    return Table(
        "ps",
        "shell",
        ["ps aux", "ps auxww", "ps aux --sort=start_time"],
        [
            ("USER", "user", "<"),
            ("PID", "pid", ">"),
            ("%CPU", "cpu", ">"),
            ("%MEM", "mem", ">"),
            ("VSZ", "vsz", ">"),
            ("RSS", "rss", ">"),
            ("TTY", "tty", "<"),
            ("STAT", "stat", "<"),
            ("START", "start", ">"),
            ("TIME", "time", ">"),
            ("COMMAND", "name", "<"),
        ],
        rows,
        asks,
        (
            "Is {m} running?",
            "Under which account does {m} run?",
            "How much memory does {m} need?",
            "process id of {m}",
            "When did {m} start?",
        ),
        names("proc"),
        gap=1,
    )


def _packages(rng: random.Random) -> Table:
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
    for name, means in _some(rng, section, 18, 70):
        version = _version(rng)
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
                "version": _dotted(version),
                "latest": _dotted(newer),
                "wanted": _dotted(
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
            head=[f"web@{_dotted(_version(rng))} /home/user/web"],
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


def row_suffix(row: Row, suffix: str) -> str:
    """A row's version with a suffix."""
    return str(row["version"]) + suffix


def _containers(rng: random.Random) -> Table:
    rows: list[Row] = []
    for image, means in _some(rng, "image", 12, 26):
        days = rng.randint(0, 300)
        rows.append(
            {
                "name": image,
                "means": means,
                "id": kit.MAKERS["hash"](rng),
                "image": f"{image}:{rng.choice(['latest', '3', '16-alpine', '1.27', '8.0.36', '2026.1'])}",
                "cmd": rng.choice(
                    ['"docker-entrypoint.s…"', '"/entrypoint.sh"', '"sh -c ./run"', '"/bin/server -conf /e…"']
                ),
                "days": days,
                "status": f"Up {rng.randint(2, 23)} hours",
                "ports": rng.choice(["", "5432/tcp", "127.0.0.1:8080->8080/tcp", "6379/tcp", "9090/tcp"]),
                "tag": f"{rng.choice(['shop', 'ci', 'infra'])}-{image.split('/')[-1]}-1",
                "size": int(10 ** rng.uniform(6.7, 9.4)),
                "use": int(rng.random() ** 3 * 190),
                "mem": int(10 ** rng.uniform(6.5, 9.8)),
            }
        )
    for row, status in zip(
        rng.sample(rows, 6),
        rng.sample(
            [
                "Exited (0) 3 weeks ago",
                "Exited (137) 2 hours ago",
                "Exited (1) 5 minutes ago",
                "Restarting (1) 12 seconds ago",
                "Up 4 days (unhealthy)",
                "Up 11 seconds (health: starting)",
                "Created",
                "Up 2 hours (Paused)",
                "Dead",
                "Exited (143) 6 days ago",
                "Exited (127) 9 minutes ago",
            ],
            6,
        ),
        strict=True,
    ):
        row["status"] = status
    if rng.random() < 0.5:
        rows[rng.randrange(len(rows))]["ports"] = (
            f"0.0.0.0:{rng.choice([80, 443, 3306, 5432])}->{rng.choice([80, 443, 3306, 5432])}/tcp"
        )
    for row in rows:
        row["created"] = f"{row['days']} days ago" if row["days"] > 1 else ("5 hours ago", "26 hours ago")[row["days"]]
    form = rng.choice(["ps", "ps", "images", "stats"])
    named = ("Is {m} up?", "Which container is {m}?", "state of {m}", "Which image is used for {m}?", "port of {m}")
    if form == "ps":
        asks = [
            those(
                "killed",
                lambda r: "(137)" in r["status"],
                "Which one was killed hard, perhaps for lack of memory?",
                "ended by SIGKILL",
            ),
            those(
                "failed",
                lambda r: "(1)" in r["status"] and "Exited" in r["status"],
                "Which one ended with a plain failure?",
                "Did anything stop on an error of its own?",
            ),
            those(
                "term",
                lambda r: "(143)" in r["status"],
                "Which one was asked to stop and did?",
                "ended by a polite termination signal",
            ),
            those("missing", lambda r: "(127)" in r["status"], "Which one could not find the command it should run?"),
            those(
                "loop",
                lambda r: "Restarting" in r["status"],
                "What keeps dying and coming back?",
                "a container in a restart loop",
            ),
            those(
                "sick",
                lambda r: "(unhealthy)" in r["status"],
                "Which one runs but fails its checks?",
                "up, yet not well",
            ),
            those(
                "young",
                lambda r: "starting" in r["status"],
                "What came up just now and is not checked yet?",
                "still warming up",
            ),
            those(
                "never",
                lambda r: r["status"] == "Created",
                "Which container has never been started?",
                "made but not run",
            ),
            those("paused", lambda r: "Paused" in r["status"], "What was frozen on purpose?", "a suspended container"),
            those(
                "done", lambda r: "(0)" in r["status"], "Which one finished its work without trouble?", "a clean end"
            ),
            those(
                "public",
                lambda r: "0.0.0.0" in r["ports"],
                "What can be reached from outside this machine?",
                "a port open to the whole world",
            ),
            extreme("oldest", "days", "Which container was created first of all?", "the oldest one"),
        ]
        return Table(
            "dockerps",
            "shell",
            ["docker ps -a", "docker ps --all", "podman ps -a"],
            [
                ("CONTAINER ID", "id", "<"),
                ("IMAGE", "image", "<"),
                ("COMMAND", "cmd", "<"),
                ("CREATED", "created", "<"),
                ("STATUS", "status", "<"),
                ("PORTS", "ports", "<"),
                ("NAMES", "tag", "<"),
            ],
            rows,
            asks,
            named,
            names("image"),
            gap=3,
        )
    if form == "images":
        for row in rows:
            row["repo"], row["label"] = row["image"].rsplit(":", 1)
        for row in rng.sample(rows, 2):
            row.update(repo="<none>", label="<none>", means=[])
        asks = [
            extreme("big", "size", "Which image wastes the most disk?", "the heaviest image"),
            extreme("small", "size", "Which image is the leanest?", "smallest of the images", least=True),
            extreme("old", "days", "Which image was built the longest ago?", "the most outdated image"),
            extreme("new", "days", "Which one is fresh?", "latest build", least=True),
            those(
                "dangling",
                lambda r: r["repo"] == "<none>",
                "What lost its tag and can be pruned?",
                "layers that nothing points to",
            ),
        ]
        return Table(
            "images",
            "shell",
            ["docker images", "docker image ls"],
            [
                ("REPOSITORY", "repo", "<"),
                ("TAG", "label", "<"),
                ("IMAGE ID", "id", "<"),
                ("CREATED", "created", "<"),
                ("SIZE", "size", "<"),
            ],
            rows,
            asks,
            ("Which tag of {m} do we have?", "How large is the image of {m}?", "Has {m} been pulled?"),
            names("image"),
            gap=3,
            show={"size": binary},
        )
    for row in rows:
        row["limit"] = rng.choice([512, 1024, 2048, 8192]) * 2**20
        row["mem"] = min(row["mem"], row["limit"])
        row["share"] = round(100 * row["mem"] / row["limit"], 2)
        row["usage"] = f"{row['mem'] / 2**20:.1f}MiB / {row['limit'] / 2**30:.3g}GiB"
        row["cpu"], row["pids"] = round(row["use"] + rng.random(), 2), rng.randint(1, 240)
    asks = [
        extreme("cpu", "cpu", "Which container keeps the processor busiest?", "Who uses the most cycles?"),
        extreme("mem", "share", "Which one is closest to its memory limit?", "Who will be killed for memory next?"),
        extreme("pids", "pids", "Which one has spawned the most processes?", "the largest number of threads"),
        those("idle", lambda r: r["cpu"] < 0.05, "Which ones do nothing at all right now?"),
    ]
    return Table(
        "stats",
        "shell",
        ["docker stats --no-stream", "podman stats --no-stream"],
        [
            ("CONTAINER ID", "id", "<"),
            ("NAME", "tag", "<"),
            ("CPU %", "cpu", "<"),
            ("MEM USAGE / LIMIT", "usage", "<"),
            ("MEM %", "share", "<"),
            ("PIDS", "pids", "<"),
        ],
        rows,
        asks,
        ("How much memory does {m} use?", "load caused by {m}"),
        names("image"),
        gap=3,
        show={"cpu": lambda v: f"{v}%", "share": lambda v: f"{v}%"},
    )


def _cluster(rng: random.Random) -> Table:
    kind = rng.choice(["pods", "pods", "deploy", "svc", "hpa", "pvc", "top", "cronjob", "ingress"])
    rows: list[Row] = []
    for name, means in _some(rng, "k8s", 16, 35):
        suffix = kit.MAKERS["suffix"](rng)
        rows.append(
            {
                "name": name,
                "means": means,
                "pod": f"{name}-{kit.MAKERS['rs'](rng)}-{suffix}",
                "ns": rng.choice(["prod", "prod", "staging", "kube-system", "tools"]),
                "ready": "1/1",
                "status": "Running",
                "restarts": rng.choice([0, 0, 0, 1, 2]),
                "secs": rng.randint(30, 20_000_000),
                "node": f"node-{rng.randint(1, 6)}",
                "want": rng.randint(1, 5),
                "type": "ClusterIP",
                "ip": f"10.96.{rng.randint(0, 255)}.{rng.randint(1, 250)}",
                "ext": "<none>",
                "port": rng.choice(["80/TCP", "8080/TCP", "443/TCP", "9090/TCP", "5432/TCP"]),
            }
        )
    for row in rows:
        row["have"], row["fresh"] = row["want"], row["want"]
    rows.sort(key=lambda r: (r["ns"], r["name"]))
    known = names("k8s")
    age_of = {"secs": age}
    named = ("Is {m} healthy?", "Where does the part for {m} run?", "What about {m}?", "state of {m}", "{n}")
    if kind == "pods":
        for row, change in zip(
            rng.sample(rows, 7),
            rng.sample(
                [
                    {"status": "CrashLoopBackOff", "ready": "0/1", "restarts": rng.randint(15, 90)},
                    {"status": "ImagePullBackOff", "ready": "0/1"},
                    {"status": "Pending", "ready": "0/1", "node": "<none>"},
                    {"status": "OOMKilled", "ready": "0/1"},
                    {"status": "Evicted", "ready": "0/1"},
                    {"status": "Completed", "ready": "0/1"},
                    {"status": "Terminating"},
                    {"ready": "0/1"},
                    {"ready": "1/2"},
                    {"status": "Init:0/2", "ready": "0/1"},
                    {"status": "CreateContainerConfigError", "ready": "0/1"},
                    {"restarts": rng.randint(100, 900)},
                    {"status": "Unknown"},
                ],
                7,
            ),
            strict=True,
        ):
            row.update(change)
        asks = [
            those(
                "crash",
                lambda r: "Crash" in r["status"],
                "What starts and dies over and over?",
                "Which one is held back after repeated crashes?",
            ),
            those(
                "pull",
                lambda r: "ImagePull" in r["status"],
                "Which image cannot be fetched?",
                "stuck since the registry does not deliver",
            ),
            those(
                "pending",
                lambda r: r["status"] == "Pending",
                "Which one found no machine yet?",
                "not scheduled anywhere",
            ),
            those(
                "oom",
                lambda r: r["status"] == "OOMKilled",
                "What needed more memory than it may have?",
                "killed by the memory limit",
            ),
            those(
                "evicted",
                lambda r: r["status"] == "Evicted",
                "What was thrown off its machine?",
                "pushed out for lack of resources",
            ),
            those(
                "done",
                lambda r: r["status"] == "Completed",
                "Which one has done its work and ended?",
                "finished successfully",
            ),
            those(
                "term",
                lambda r: r["status"] == "Terminating",
                "What is on its way out but still listed?",
                "shutting down",
            ),
            those(
                "init",
                lambda r: "Init" in r["status"],
                "Which one is still waiting for its preparations to end?",
                "stuck before the main container",
            ),
            those(
                "config",
                lambda r: "Config" in r["status"],
                "Which one refers to a secret or setting that is not there?",
                "cannot be created for a wrong configuration",
            ),
            those(
                "half", lambda r: r["ready"] == "1/2", "Of which pod is just one of the containers ready?", "half up"
            ),
            those(
                "unready",
                lambda r: r["ready"] == "0/1" and r["status"] == "Running",
                "What runs but gets no traffic since it is not ready?",
                "alive, yet failing its readiness check",
            ),
            those(
                "lost",
                lambda r: r["status"] == "Unknown",
                "Of which one has the node lost sight?",
                "nobody knows how it is",
            ),
            extreme("restarts", "restarts", "Which pod was restarted most often?", "the highest count of restarts"),
            extreme("young", "secs", "Which one came up last?", "the youngest pod", least=True),
            extreme("old", "secs", "Which one has been there the longest?", "the veteran"),
        ]
        return Table(
            "getpods",
            "kubectl",
            ["kubectl get pods -A -o wide", "kubectl get pods --all-namespaces -o wide", "oc get pods -A -o wide"],
            [
                ("NAMESPACE", "ns", "<"),
                ("NAME", "pod", "<"),
                ("READY", "ready", "<"),
                ("STATUS", "status", "<"),
                ("RESTARTS", "restarts", "<"),
                ("AGE", "secs", "<"),
                ("NODE", "node", "<"),
            ],
            rows,
            asks,
            named,
            known,
            gap=3,
            show=age_of,
        )
    if kind == "deploy":
        for row, change in zip(
            rng.sample(rows, 4),
            rng.sample(
                [
                    {"have": 0},
                    {"want": 0, "have": 0, "fresh": 0},
                    {"want": 12, "have": 12, "fresh": 12},
                    {"want": 6, "have": 4, "fresh": 6},
                    {"want": 5, "have": 5, "fresh": 1},
                ],
                4,
            ),
            strict=True,
        ):
            row.update(change)
        for row in rows:
            row["ready"] = f"{row['have']}/{row['want']}"
        asks = [
            those(
                "down",
                lambda r: r["want"] > 0 and r["have"] == 0,
                "What should run and has not a single replica?",
                "completely unavailable",
            ),
            those("off", lambda r: r["want"] == 0, "What was scaled down to nothing?", "switched off on purpose"),
            those(
                "partial",
                lambda r: 0 < r["have"] < r["want"],
                "Where are some replicas missing?",
                "only partly available",
            ),
            those(
                "rolling",
                lambda r: r["fresh"] < r["want"],
                "Which roll-out has not reached all replicas yet?",
                "still on the old template in part",
            ),
            extreme("most", "want", "What is scaled out the furthest?", "most replicas"),
            extreme("new", "secs", "What was deployed last?", least=True),
        ]
        return Table(
            "deploy",
            "kubectl",
            ["kubectl get deploy -A", "kubectl get deployments --all-namespaces"],
            [
                ("NAMESPACE", "ns", "<"),
                ("NAME", "name", "<"),
                ("READY", "ready", "<"),
                ("UP-TO-DATE", "fresh", "<"),
                ("AVAILABLE", "have", "<"),
                ("AGE", "secs", "<"),
            ],
            rows,
            asks,
            named,
            known,
            gap=3,
            show=age_of,
        )
    if kind == "svc":
        for row, change in zip(
            rng.sample(rows, 4),
            rng.sample(
                [
                    {"type": "LoadBalancer", "ext": "203.0.113." + str(rng.randint(2, 250))},
                    {"type": "LoadBalancer", "ext": "<pending>"},
                    {"type": "NodePort", "port": f"80:{rng.randint(30000, 32767)}/TCP"},
                    {"ip": "None"},
                    {"type": "ExternalName", "ip": "<none>", "ext": "db.partner.example"},
                    {"port": "53/UDP,53/TCP"},
                ],
                4,
            ),
            strict=True,
        ):
            row.update(change)
        asks = [
            those(
                "public",
                lambda r: r["type"] == "LoadBalancer" and r["ext"] != "<pending>",
                "What has an address outside the cluster?",
                "reachable from the internet",
            ),
            those(
                "waiting",
                lambda r: r["ext"] == "<pending>",
                "Which one still waits for its outside address?",
                "the provider has given it no address yet",
            ),
            those("node", lambda r: r["type"] == "NodePort", "What is exposed on every machine under a high port?"),
            those(
                "headless",
                lambda r: r["ip"] == "None",
                "Which service has no address of its own?",
                "a headless service",
            ),
            those(
                "alias",
                lambda r: r["type"] == "ExternalName",
                "Which entry merely forwards to a host elsewhere?",
                "a name for something outside",
            ),
            those("udp", lambda r: "UDP" in r["port"], "Which one speaks UDP as well?"),
        ]
        return Table(
            "svc",
            "kubectl",
            ["kubectl get svc -A", "kubectl get services --all-namespaces"],
            [
                ("NAMESPACE", "ns", "<"),
                ("NAME", "name", "<"),
                ("TYPE", "type", "<"),
                ("CLUSTER-IP", "ip", "<"),
                ("EXTERNAL-IP", "ext", "<"),
                ("PORT(S)", "port", "<"),
                ("AGE", "secs", "<"),
            ],
            rows,
            asks,
            ("Under which port is {m} offered?", "address of {m}", "How do I reach {m}?"),
            known,
            gap=3,
            show=age_of,
        )
    if kind == "hpa":
        for row in rows:
            row.update(now=rng.randint(3, 70), aim=80, low=rng.choice([1, 2, 3]), high=rng.choice([5, 8, 10]))
            row["have"] = rng.randint(row["low"], row["high"] - 1)
        for row, change in zip(
            rng.sample(rows, 3),
            [{"now": rng.randint(140, 400), "have": None}, {"now": None}, {"low": 4, "high": 4, "have": 4}],
            strict=True,
        ):
            row.update(change)
        for row in rows:
            row["have"] = row["high"] if row["have"] is None else row["have"]
            row["targets"] = f"{'<unknown>' if row['now'] is None else str(row['now']) + '%'}/{row['aim']}%"
            row["ref"] = f"Deployment/{row['name']}"
        asks = [
            those(
                "ceiling",
                lambda r: r["have"] == r["high"] and (r["now"] or 0) > r["aim"],
                "What cannot be scaled any further although it is overloaded?",
                "at its upper limit and still too busy",
            ),
            those("blind", lambda r: r["now"] is None, "Which one gets no measurements?", "scaling without figures"),
            those(
                "fixed",
                lambda r: r["low"] == r["high"],
                "Which one can neither grow nor shrink?",
                "bounds that leave no choice",
            ),
            extreme("load", "now", "Where is the load highest?", "the busiest of them"),
        ]
        return Table(
            "hpa",
            "kubectl",
            ["kubectl get hpa -A"],
            [
                ("NAMESPACE", "ns", "<"),
                ("NAME", "name", "<"),
                ("REFERENCE", "ref", "<"),
                ("TARGETS", "targets", "<"),
                ("MINPODS", "low", "<"),
                ("MAXPODS", "high", "<"),
                ("REPLICAS", "have", "<"),
                ("AGE", "secs", "<"),
            ],
            rows,
            asks,
            ("How far may {m} grow?", "autoscaling of {m}"),
            known,
            gap=3,
            show=age_of,
        )
    if kind == "pvc":
        for row in rows:
            row.update(
                status="Bound",
                vol=f"pvc-{kit.MAKERS['uuid'](rng)[:18]}",
                cap=rng.choice([1, 2, 5, 8, 10, 20]),
                mode="RWO",
                cls="standard",
                name=f"data-{row['name']}-0",
            )
        for row, change in zip(
            rng.sample(rows, 4),
            rng.sample(
                [
                    {"status": "Pending", "vol": ""},
                    {"status": "Lost"},
                    {"mode": "RWX"},
                    {"mode": "ROX"},
                    {"cls": "fast-ssd"},
                    {"cap": 500},
                ],
                4,
            ),
            strict=True,
        ):
            row.update(change)
        asks = [
            those(
                "pending", lambda r: r["status"] == "Pending", "Which claim still has no volume?", "waits for a disk"
            ),
            those(
                "lost",
                lambda r: r["status"] == "Lost",
                "Of which claim is the volume gone?",
                "its storage has vanished",
            ),
            those(
                "shared",
                lambda r: r["mode"] == "RWX",
                "What may be written from several machines at once?",
                "shared for writing",
            ),
            those("readonly", lambda r: r["mode"] == "ROX", "Which one can be mounted widely but never written?"),
            those(
                "fast",
                lambda r: r["cls"] == "fast-ssd",
                "What sits on the quick disks?",
                "another class of storage than the rest",
            ),
            extreme("big", "cap", "Which claim is the largest?", "most capacity"),
        ]
        return Table(
            "claims",
            "kubectl",
            ["kubectl get pvc -A"],
            [
                ("NAMESPACE", "ns", "<"),
                ("NAME", "name", "<"),
                ("STATUS", "status", "<"),
                ("VOLUME", "vol", "<"),
                ("CAPACITY", "cap", "<"),
                ("ACCESS MODES", "mode", "<"),
                ("STORAGECLASS", "cls", "<"),
                ("AGE", "secs", "<"),
            ],
            rows,
            asks,
            ("How much storage do we give to {m}?", "disk for {m}"),
            [(f"data-{n}-0", m) for n, m in known],
            gap=3,
            show={"secs": age, "cap": lambda v: f"{v}Gi"},
        )
    if kind == "cronjob":
        for row in rows:
            row.update(
                name=row["name"] + "-job",
                sched=rng.choice(["0 3 * * *", "*/15 * * * *", "30 1 * * 0", "0 0 1 * *", "5 * * * *"]),
                susp="False",
                active=0,
                last=rng.randint(60, 90000),
                zone="<none>",
            )
        for row, change in zip(
            rng.sample(rows, 3),
            rng.sample(
                [
                    {"susp": "True"},
                    {"active": 3},
                    {"last": 30_000_000},
                    {"sched": "* * * * *"},
                    {"zone": "Europe/Berlin"},
                ],
                3,
            ),
            strict=True,
        ):
            row.update(change)
        asks = [
            those("off", lambda r: r["susp"] == "True", "Which job is switched off?", "suspended"),
            those("overlap", lambda r: r["active"] > 1, "Which job runs several times at once?", "piling up"),
            those("minute", lambda r: r["sched"] == "* * * * *", "What is started every single minute?"),
            those(
                "monthly", lambda r: r["sched"] == "0 0 1 * *", "What runs on the first day of the month only?", most=6
            ),
            those("weekly", lambda r: r["sched"] == "30 1 * * 0", "Which jobs wait for Sunday?", most=6),
            those("zone", lambda r: r["zone"] != "<none>", "Which one goes by local time rather than the cluster's?"),
            extreme(
                "stale", "last", "Which job has not run for the longest time?", "never seems to be started any more"
            ),
        ]
        return Table(
            "cronjobs",
            "kubectl",
            ["kubectl get cronjobs -A"],
            [
                ("NAMESPACE", "ns", "<"),
                ("NAME", "name", "<"),
                ("SCHEDULE", "sched", "<"),
                ("TIMEZONE", "zone", "<"),
                ("SUSPEND", "susp", "<"),
                ("ACTIVE", "active", "<"),
                ("LAST SCHEDULE", "last", "<"),
                ("AGE", "secs", "<"),
            ],
            rows,
            asks,
            ("How often does the job for {m} run?", "schedule of {m}"),
            [(n + "-job", m) for n, m in known],
            gap=3,
            show={"secs": age, "last": age},
        )
    if kind == "ingress":
        for row in rows:
            row.update(cls="nginx", hosts=f"{row['name']}.shop.example", addr="203.0.113.10", ports="80, 443")
        for row, change in zip(
            rng.sample(rows, 3),
            rng.sample([{"hosts": "*"}, {"addr": ""}, {"ports": "80"}, {"cls": "<none>"}, {"cls": "traefik"}], 3),
            strict=True,
        ):
            row.update(change)
        asks = [
            those(
                "any",
                lambda r: r["hosts"] == "*",
                "Which rule catches requests for whatever host?",
                "no host name of its own",
            ),
            those("noaddr", lambda r: r["addr"] == "", "Which one got no address from the controller?"),
            those("plain", lambda r: r["ports"] == "80", "What is reachable without encryption only?", "no TLS"),
            those("other", lambda r: r["cls"] == "traefik", "Which one is served by another controller than the rest?"),
            those("noclass", lambda r: r["cls"] == "<none>", "Which one belongs to no controller?"),
        ]
        return Table(
            "ingress",
            "kubectl",
            ["kubectl get ingress -A"],
            [
                ("NAMESPACE", "ns", "<"),
                ("NAME", "name", "<"),
                ("CLASS", "cls", "<"),
                ("HOSTS", "hosts", "<"),
                ("ADDRESS", "addr", "<"),
                ("PORTS", "ports", "<"),
                ("AGE", "secs", "<"),
            ],
            rows,
            asks,
            ("Under which host is {m} served?", "entry for {m}"),
            known,
            gap=3,
            show=age_of,
        )
    for row in rows:
        row.update(cpu=int(10 ** rng.uniform(0, 3.2)), mem=int(10 ** rng.uniform(1, 3.7)))
    asks = [
        extreme("cpu", "cpu", "Which pod keeps the processors busy?", "the largest consumer of cycles"),
        extreme("mem", "mem", "Where does the memory go?", "the hungriest pod"),
        extreme("idle", "mem", "Which one gets by with the least memory?", least=True),
        those("heavy", lambda r: r["mem"] > 3000, "Which pods need several gigabytes?", most=5),
    ]
    return Table(
        "toppods",
        "kubectl",
        ["kubectl top pods -A", "kubectl top pod --all-namespaces"],
        [("NAMESPACE", "ns", "<"), ("NAME", "pod", "<"), ("CPU(cores)", "cpu", "<"), ("MEMORY(bytes)", "mem", "<")],
        rows,
        asks,
        ("How much does {m} consume?", "use of resources by {m}"),
        known,
        gap=3,
        show={"cpu": lambda v: f"{v}m", "mem": lambda v: f"{v}Mi"},
    )


def _units(rng: random.Random) -> Table:
    kind = rng.choice(["list", "files", "timers"])
    rows: list[Row] = [
        {
            "name": n,
            "means": m,
            "unit": f"{n}.service",
            "load": "loaded",
            "act": "active",
            "sub": "running",
            "text": m[0][0].upper() + m[0][1:] if rng.random() < 0.3 else f"{n} daemon",
            "state": rng.choice(["enabled", "enabled", "static", "disabled"]),
            "preset": "enabled",
        }
        for n, m in _some(rng, "unit", 20, 38)
    ]
    rows += [
        {
            "name": f"dev-sd{c}{i}",
            "unit": f"dev-sd{c}{i}.device",
            "load": "loaded",
            "act": "active",
            "sub": "plugged",
            "text": "Disk",
            "state": "generated",
            "preset": "-",
        }
        for c, i in rng.sample([(c, i) for c in "abc" for i in range(1, 6)], rng.randint(2, 12))
    ]
    plain = [r for r in rows if r["sub"] == "running"]
    named = ("Does {m} run?", "Is {m} switched on?", "state of {m}", "the unit for {m}", "{n}.service")
    known = names("unit")
    if kind == "list":
        for row, change in zip(
            rng.sample(plain, 6),
            rng.sample(
                [
                    {"act": "failed", "sub": "failed"},
                    {"act": "activating", "sub": "auto-restart"},
                    {"act": "inactive", "sub": "dead"},
                    {"load": "not-found", "act": "inactive", "sub": "dead"},
                    {"load": "masked", "act": "inactive", "sub": "dead"},
                    {"sub": "exited"},
                    {"act": "deactivating", "sub": "stop-sigterm"},
                    {"act": "reloading", "sub": "reload"},
                    {"load": "bad-setting", "act": "inactive", "sub": "dead"},
                    {"act": "activating", "sub": "start"},
                ],
                6,
            ),
            strict=True,
        ):
            row.update(change)
        asks = [
            those(
                "failed",
                lambda r: r["act"] == "failed",
                "Which service broke?",
                "What is in a failed state?",
                "not working, according to systemd",
            ),
            those(
                "loop",
                lambda r: r["sub"] == "auto-restart",
                "What is being started again after it died?",
                "waiting for another attempt",
            ),
            those(
                "missing",
                lambda r: r["load"] == "not-found",
                "Which unit is wanted by something but has no file?",
                "referred to, yet nowhere defined",
            ),
            those(
                "masked",
                lambda r: r["load"] == "masked",
                "What was forbidden to start at all?",
                "blocked by the administrator",
            ),
            those(
                "oneshot",
                lambda r: r["sub"] == "exited",
                "Which one did its work once and is done?",
                "active without any process",
            ),
            those("stopping", lambda r: r["act"] == "deactivating", "What is just being shut down?"),
            those("reload", lambda r: r["act"] == "reloading", "Which one is reading its settings again?"),
            those(
                "bad",
                lambda r: r["load"] == "bad-setting",
                "Which unit file has a mistake in it?",
                "could not be loaded for a wrong directive",
            ),
            those(
                "slow",
                lambda r: r["act"] == "activating" and r["sub"] == "start",
                "What has not come up yet?",
                "still starting",
            ),
        ]
        return Table(
            "listunits",
            "shell",
            ["systemctl list-units --all --no-pager", "systemctl --all --no-pager list-units"],
            [
                ("UNIT", "unit", "<"),
                ("LOAD", "load", "<"),
                ("ACTIVE", "act", "<"),
                ("SUB", "sub", "<"),
                ("DESCRIPTION", "text", "<"),
            ],
            rows,
            asks,
            named,
            known,
            gap=1,
            foot=[
                "",
                "LOAD   = Reflects whether the unit definition was properly loaded.",
                f"{len(rows)} loaded units listed.",
            ],
        )
    if kind == "files":
        for row, change in zip(
            rng.sample(plain, 4),
            rng.sample(
                [
                    {"state": "masked"},
                    {"state": "disabled", "preset": "enabled"},
                    {"state": "indirect"},
                    {"state": "linked"},
                    {"state": "enabled-runtime"},
                    {"state": "bad"},
                ],
                4,
            ),
            strict=True,
        ):
            row.update(change)
        asks = [
            those(
                "masked",
                lambda r: r["state"] == "masked",
                "What can't be started by anybody?",
                "blocked by the administrator",
            ),
            those("indirect", lambda r: r["state"] == "indirect", "Which one is pulled in by another name only?"),
            those("linked", lambda r: r["state"] == "linked", "Which unit file lives outside the usual folders?"),
            those(
                "runtime", lambda r: r["state"] == "enabled-runtime", "What is switched on until the next boot only?"
            ),
            those("bad", lambda r: r["state"] == "bad", "Which unit file is broken?"),
        ]
        return Table(
            "unitfiles",
            "shell",
            ["systemctl list-unit-files --no-pager", "systemctl list-unit-files --type=service --no-pager"],
            [("UNIT FILE", "unit", "<"), ("STATE", "state", "<"), ("PRESET", "preset", "<")],
            rows,
            asks,
            ("Will {m} start at boot?", "Is {m} switched on?", "{n}.service", "start-up of {m}"),
            known,
            gap=1,
            foot=["", f"{len(rows)} unit files listed."],
        )
    for row in plain:
        row.update(left=rng.randint(60, 600_000), passed=rng.randint(60, 600_000))
    for row, change in zip(
        rng.sample(plain, 2), rng.sample([{"left": None}, {"passed": None}, {"passed": 9_000_000}], 2), strict=True
    ):
        row.update(change)
    plain.sort(key=lambda r: r["left"] if r["left"] is not None else 10**9)
    for row in plain:
        row["next"] = (
            "-"
            if row["left"] is None
            else f"Tue 2026-06-{1 + row['left'] // 86400:02d} {row['left'] // 3600 % 24:02d}:{row['left'] // 60 % 60:02d}:00 UTC"
        )
        row["timer"] = f"{row['name']}.timer"
        row["lefts"] = "-" if row["left"] is None else age(row["left"]) + " left"
        row["ago"] = "-" if row["passed"] is None else age(row["passed"]) + " ago"
    asks = [
        extreme("soon", "left", "What fires next?", "the timer that is due first", least=True),
        extreme("last", "left", "Which one has the longest time to go?", "due last of all"),
        extreme("stale", "passed", "Which timer has not fired for the longest time?"),
        extreme("recent", "passed", "What ran most recently?", least=True),
        those("dead", lambda r: r["left"] is None, "Which timer has no next date?", "will not fire again"),
        those("never", lambda r: r["passed"] is None, "Which one has never run so far?"),
    ]
    return Table(
        "timers",
        "shell",
        ["systemctl list-timers --all --no-pager"],
        [
            ("NEXT", "next", "<"),
            ("LEFT", "lefts", "<"),
            ("PASSED", "ago", "<"),
            ("UNIT", "timer", "<"),
            ("ACTIVATES", "unit", "<"),
        ],
        plain,
        asks,
        ("When is the next run for {m}?", "timer of {m}", "How long until {m}?"),
        known,
    )


def _coverage(rng: random.Random) -> Table:
    kind = rng.choice(["py", "py", "branch", "jest", "go"])
    root = rng.choice(["app", "src/shop", "billing", "server", "pkg"])
    ending = {"py": ".py", "branch": ".py", "jest": ".ts", "go": ".go"}[kind]
    rows: list[Row] = []
    for name, means in _some(rng, "module", 20, 50):
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


_WORK: list[Callable[[random.Random], Table]] = [
    _ls, _ls, _du, _df, _ps, _ps, _packages, _packages, _containers, _containers, _cluster, _cluster, _units, _units, _coverage,
    _coverage, business, business, business, business, business, business, recap, branches, assets, durations, outcomes,
    outcomes, cron,
]  # fmt: skip

# What may be printed one after the other by one command line.
_GROUPS: list[tuple[str, list[Callable[[random.Random], Table]]]] = [
    ("shell", [_ls, _du, _df, _ps, _packages, _containers, _units, branches, cron]),
    ("shell", [_df, _ps, _units, _containers]),
    ("kubectl", [_cluster]),
    ("test_output", [outcomes, durations, _coverage]),
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
