"""Listings of one machine: files, folders, volumes, processes, units."""

# ruff: noqa: E501  (wordings stay on one line)

from __future__ import annotations

import random

from linecls.data.families._listing_tools import (
    MONTHS,
    PEOPLE,
    day_of,
    human,
    moment,
    some,
)
from linecls.data.families._tables import Row, Table, age, extreme, names, those


def files(rng: random.Random) -> Table:
    """`ls -l` of a project folder."""
    rows: list[Row] = []
    owner, group = rng.choice(PEOPLE), rng.choice(["staff", "users", "dev", "root"])
    entries = some(rng, "file", 18, 60)
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
        row.update(user=owner, group=group, days=moment(rng))
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
                "days": moment(rng),
                "link": True,
            }
        )
    rows.sort(key=lambda r: r["name"].strip(".").lower())
    long = rng.random() < 0.5
    for row in rows:
        row["when"] = day_of(row["days"]) + f" {rng.randint(6, 22):02d}:{rng.randint(0, 59):02d}"
        if not long:
            year, month, day = row["when"][:10].split("-")
            row["when"] = f"{MONTHS[int(month) - 1]} {int(day):>2} " + (
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


def folders(rng: random.Random) -> Table:
    """`du` of the folders below one."""
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


def volumes(rng: random.Random) -> Table:
    """`df` with sizes or inodes."""
    inodes = rng.random() < 0.25
    rows: list[Row] = []
    for name, means in some(rng, "mount", 12, 23):
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


def processes(rng: random.Random) -> Table:
    """`ps aux`."""
    rows: list[Row] = []
    for command, means in some(rng, "proc", 22, 40):
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


def units(rng: random.Random) -> Table:
    """Units, unit files or timers of systemd."""
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
        for n, m in some(rng, "unit", 20, 38)
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
