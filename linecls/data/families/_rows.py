"""Smaller listings: recaps, branches, chunks, durations and outcomes of tests, periodic jobs."""

# ruff: noqa: E501  (wordings stay on one line)

from __future__ import annotations

import random

from linecls.data.families import _toolkit as kit
from linecls.data.families._listing_tools import change
from linecls.data.families._tables import Row, Table, extreme, names, those


def recap(rng: random.Random) -> Table:
    """The recap of a playbook, after some of its tasks."""
    rows: list[Row] = [
        {
            "name": n,
            "ok": rng.randint(9, 40),
            "changed": rng.randint(0, 6),
            "un": 0,
            "failed": 0,
            "skip": rng.randint(0, 9),
            "resc": 0,
            "ign": 0,
        }
        for n, _ in rng.sample(names("host"), 16)
    ]
    change(rng, rows, [{"un": 1, "ok": 0}, {"failed": 1}, {"changed": 0}, {"changed": 31}, {"resc": 2}, {"ign": 3}], 4)
    for row in rows:
        row["line"] = (
            f"{row['name']:<26} : ok={row['ok']:<4} changed={row['changed']:<4} unreachable={row['un']:<4} failed={row['failed']:<4} skipped={row['skip']:<4} rescued={row['resc']:<4} ignored={row['ign']:<4}"
        )
    asks = [
        those(
            "unreachable", lambda r: r["un"] > 0, "Which machine could not be contacted?", "no connection to the host"
        ),
        those(
            "failed",
            lambda r: r["failed"] > 0,
            "On which machine did a task go wrong for good?",
            "the play broke off there",
        ),
        those("rescued", lambda r: r["resc"] > 0, "Where did an error handler step in successfully?"),
        those("ignored", lambda r: r["ign"] > 0, "Where were errors deliberately overlooked?"),
        extreme("changed", "changed", "Which machine was altered the most?", "the most modifications"),
        extreme("skipped", "skip", "Where were the most tasks left out?"),
        those(
            "same",
            lambda r: r["changed"] == 0 and not r["un"],
            "Which machines were already as they should be?",
            most=3,
        ),
    ]
    hosts = [r["name"] for r in rows]
    head = []
    for task in rng.sample(
        [
            "Gathering Facts",
            "common : Install base packages",
            "common : Set the time zone",
            "web : Copy the site configuration",
            "web : Restart the server",
            "db : Ensure the role exists",
            "users : Authorised keys",
            "firewall : Open the ports",
            "backup : Install the timer",
            "monitoring : Place the exporter",
            "app : Fetch the release",
            "app : Run migrations",
        ],
        rng.randint(4, 10),
    ):
        head.append(f"TASK [{task}] " + "*" * max(3, 70 - len(task)))
        for host in rng.sample(hosts, rng.randint(3, 9)):
            head.append(rng.choice(["ok", "ok", "changed", "skipping"]) + f": [{host}]")
        head.append("")
    return Table(
        "recap",
        "ansible",
        ["ansible-playbook -i hosts.ini site.yml", "ansible-playbook site.yml --diff"],
        [("", "line", "<")],
        rows,
        asks,
        head=[
            f"PLAY [{rng.choice(['all', 'web', 'database hosts'])}] " + "*" * 60,
            "",
            *head,
            "PLAY RECAP " + "*" * 66,
        ],
        style="bare",
    )


def branches(rng: random.Random) -> Table:
    """Local branches with what they track."""
    words = [
        "login",
        "export",
        "search",
        "cache",
        "retry",
        "dark-mode",
        "invoices",
        "csv-import",
        "rate-limit",
        "webhooks",
        "avatars",
        "pagination",
        "i18n",
        "audit",
        "metrics",
        "sso",
        "onboarding",
        "tls13",
        "flaky-tests",
        "drop-py38",
    ]
    rows: list[Row] = []
    for word in rng.sample(words, rng.randint(14, 20)):
        rows.append(
            {
                "star": " ",
                "name": f"{rng.choice(['fix', 'feat', 'chore'])}/{word}",
                "sha": kit.MAKERS["hash"](rng)[:9],
                "a": 0,
                "b": 0,
                "gone": False,
                "up": True,
                "text": rng.choice(
                    [
                        "Add tests",
                        "Handle the empty case",
                        "Review comments",
                        "WIP",
                        "Use the new client",
                        "Fix the type",
                        "Rename",
                    ]
                ),
            }
        )
    change(rng, rows, [{"gone": True}, {"star": "*"}, {"up": False}, {"a": 14}, {"b": 212}, {"a": 2, "b": 9}], 5)
    for row in rows:
        track = ", ".join(
            [p for p in (f"ahead {row['a']}" if row["a"] else "", f"behind {row['b']}" if row["b"] else "") if p]
        )
        row["track"] = (
            ""
            if not row["up"]
            else f"[origin/{row['name']}" + (": gone]" if row["gone"] else f": {track}]" if track else "]")
        )
    asks = [
        those(
            "gone",
            lambda r: r["gone"] and r["up"],
            "Of which branch was the counterpart on the server deleted?",
            "can be cleaned up, its upstream vanished",
        ),
        those("here", lambda r: r["star"] == "*", "Where am I at the moment?", "the branch that is checked out"),
        those("local", lambda r: not r["up"], "Which branch exists on this machine only?", "never pushed"),
        those(
            "unpushed",
            lambda r: r["a"] and not r["b"] and r["up"] and not r["gone"],
            "What has commits that nobody else has seen?",
            "local work only",
        ),
        those(
            "diverged",
            lambda r: r["a"] and r["b"] and r["up"] and not r["gone"],
            "Which one has gone another way than its upstream?",
            "needs a merge or rebase in both directions",
        ),
        extreme("behind", "b", "Which one lags the furthest behind?"),
    ]
    return Table(
        "branches",
        "shell",
        ["git branch -vv"],
        [("", "star", "<"), ("", "name", "<"), ("", "sha", "<"), ("", "track", "<"), ("", "text", "<")],
        rows,
        asks,
        style="bare",
        gap=1,
    )


def assets(rng: random.Random) -> Table:
    """The chunks of a front-end build."""
    rows: list[Row] = []
    for name, means in [
        ("index", ["the entry page"]),
        ("vendor", ["third-party code"]),
        ("charts", ["the diagrams"]),
        ("editor", ["the text editor"]),
        ("map", ["the map view"]),
        ("login", ["logging in"]),
        ("admin", ["the back office"]),
        ("checkout", ["paying"]),
        ("locale-de", ["the German texts"]),
        ("locale-fr", ["the French texts"]),
        ("icons", ["the pictograms"]),
        ("pdf.worker", ["reading PDF files"]),
        ("polyfills", ["help for old browsers"]),
        ("theme", ["the colours"]),
        ("roboto-bold", ["the thick letters"]),
        ("hero", ["the large picture on top"]),
        ("search", ["finding things"]),
        ("settings", ["preferences"]),
        ("runtime", ["the loader of the parts"]),
        ("three", ["3D drawing"]),
    ]:
        end = "css" if name == "theme" else "woff2" if "roboto" in name else "webp" if name == "hero" else "js"
        rows.append(
            {
                "name": name,
                "means": means,
                "file": f"dist/assets/{name}-{kit.MAKERS['hex'](rng)}.{end}",
                "kb": round(10 ** rng.uniform(0.2, 2.9), 2),
                "end": end,
            }
        )
    rows = rng.sample(rows, rng.randint(14, 20))
    for row in rows:
        row["gz"] = round(row["kb"] * rng.uniform(0.25, 0.4), 2)
        row["a"], row["b"] = f"{row['kb']:.2f} kB", f"│ gzip: {row['gz']:.2f} kB"
    asks = [
        extreme(
            "big",
            "kb",
            "Which chunk should be split since it is the largest?",
            "the heaviest part of the bundle",
            "What slows the first load down the most?",
        ),
        extreme("small", "kb", "Which chunk is hardly worth a request of its own?", "the tiniest", least=True),
        those("style", lambda r: r["end"] == "css", "Which one is a style sheet?"),
        those("font", lambda r: r["end"] == "woff2", "Is a font among the emitted files?"),
        those("over", lambda r: r["kb"] > 500, "Which ones exceed half a megabyte?"),
    ]
    head = [
        f"vite v{rng.randint(4, 6)}.{rng.randint(0, 4)}.{rng.randint(0, 11)} building for production...",
        "transforming...",
        f"✓ {rng.randint(300, 3000)} modules transformed.",
        "rendering chunks...",
        "computing gzip size...",
    ]
    return Table(
        "assets",
        "npm_build",
        ["npm run build", "npx vite build", "pnpm build"],
        [("", "file", "<"), ("", "a", ">"), ("", "b", "<")],
        rows,
        asks,
        ("How large is the chunk for {m}?", "size of the part for {m}"),
        head=head,
        foot=[f"✓ built in {rng.uniform(2, 30):.2f}s"],
        style="bare",
    )


def durations(rng: random.Random) -> Table:
    """The slowest tests of a run."""
    rows: list[Row] = []
    for name, means in rng.sample(names("module"), rng.randint(18, 30)):
        secs = round(10 ** rng.uniform(-1.8, 1.1), 2)
        rows.append(
            {
                "name": name,
                "means": means,
                "secs": secs,
                "phase": rng.choice(["call", "call", "call", "setup", "teardown"]),
                "case": f"tests/test_{name}.py::test_{rng.choice(['round_trip', 'empty', 'large_input', 'rejects_bad', 'keeps_order', 'concurrent', 'defaults', 'unicode', 'timeout'])}",
            }
        )
    rows.sort(key=lambda r: -r["secs"])
    for row in rows:
        row["took"] = f"{row['secs']:.2f}s"
    setups = [r for r in rows if r["phase"] == "setup"]
    asks = [
        extreme(
            "slow",
            "secs",
            "Which test should be made faster first?",
            "the slowest of all",
            where=lambda r: r["phase"] == "call",
        ),
        extreme(
            "setup",
            "secs",
            "Where does preparing take the longest?",
            "the costliest fixture",
            where=lambda r: r["phase"] == "setup",
        ),
        extreme("down", "secs", "Where does cleaning up take long?", where=lambda r: r["phase"] == "teardown"),
        those("long", lambda r: r["secs"] > 5, "Which ones take more than five seconds?", "really long ones"),
    ]
    dots = []
    for name, _ in rng.sample(names("module"), rng.randint(14, 40)):
        dots.append(f"tests/test_{name}.py {'.' * rng.randint(3, 30):<34} [{rng.randint(1, 99):>3}%]")
    head = [
        "=" * 29 + " test session starts " + "=" * 29,
        f"collected {rng.randint(200, 900)} items",
        "",
        *dots,
        "",
        "=" * 29 + " slowest durations " + "=" * 30,
    ]
    return Table(
        "durations",
        "test_output",
        [f"pytest --durations={len(rows)}", f"python -m pytest -q --durations={len(rows)}"],
        [("", "took", "<"), ("", "phase", "<"), ("", "case", "<")],
        rows,
        asks if setups else asks[:1] + asks[3:],
        ("How long does testing {m} take?", "time spent on {m}"),
        names("module"),
        head=head,
        foot=[f"{'=' * 20} {rng.randint(200, 900)} passed in {rng.uniform(20, 90):.2f}s {'=' * 20}"],
        style="bare",
        gap=1,
    )


def outcomes(rng: random.Random) -> Table:
    """Single tests with their outcome, as four runners print them."""
    tool = rng.choice(["pytest", "ctest", "go", "jest"])
    rows: list[Row] = []
    cases = [
        "round trip",
        "empty input",
        "large input",
        "rejects bad values",
        "keeps the order",
        "two threads",
        "default settings",
        "non-Latin text",
        "slow peer",
        "closed handle",
        "nested values",
        "after a restart",
    ]
    for name, means in rng.sample(names("module"), rng.randint(16, 26)):
        for case in rng.sample(cases, rng.randint(1, 4)):
            rows.append(
                {
                    "name": f"{name} {case}",
                    "module": name,
                    "case": case,
                    "means": [f"the case of {case} for {m}" for m in means],
                    "out": "ok",
                    "secs": round(10 ** rng.uniform(-2, 0.6), 2),
                }
            )
    change(
        rng,
        rows,
        [
            {"out": "fail"},
            {"out": "skip"},
            {"out": "xfail"},
            {"out": "error"},
            {"out": "timeout", "secs": 300.0},
            {"out": "crash"},
        ],
        4,
    )
    total = len(rows)
    for n, row in enumerate(rows):
        slug = row["case"].replace(" ", "_").replace("-", "_")
        word = {
            "ok": "PASSED",
            "fail": "FAILED",
            "skip": "SKIPPED (needs a database)",
            "xfail": "XFAIL (known)",
            "error": "ERROR",
            "timeout": "FAILED",
            "crash": "FAILED",
        }[row["out"]]
        if tool == "pytest":
            row["line"] = f"tests/test_{row['module']}.py::test_{slug} {word:<30} [{100 * (n + 1) // total:>3}%]"
        elif tool == "ctest":
            word = {
                "ok": "   Passed",
                "fail": "***Failed",
                "skip": "***Skipped",
                "xfail": "   Passed",
                "error": "***Not Run",
                "timeout": "***Timeout",
                "crash": "***Exception: SegFault",
            }[row["out"]]
            row["line"] = (
                f"{n + 1:>3}/{total} Test #{n + 1}: {row['module'] + '_' + slug + ' ':.<46} {word} {row['secs']:>7.2f} sec"
            )
        elif tool == "go":
            word = {"ok": "PASS", "skip": "SKIP", "xfail": "PASS"}.get(row["out"], "FAIL")
            row["line"] = (
                f"--- {word}: Test{row['module'].title()}{row['case'].title().replace(' ', '').replace('-', '')} ({row['secs']:.2f}s)"
            )
        else:
            mark = {"ok": "✓", "skip": "○ skipped", "xfail": "✓"}.get(row["out"], "✕")
            row["line"] = f"    {mark} {row['module']}: {row['case']} ({int(row['secs'] * 1000)} ms)"
    asks = [those("skip", lambda r: r["out"] == "skip", "Which test was left out?", "not run on purpose")]
    if tool == "ctest":
        asks += [
            those("fail", lambda r: r["out"] == "fail", "Which one did not pass, without crashing?"),
            those(
                "crash", lambda r: r["out"] == "crash", "Which test touched memory it must not?", "ended by a signal"
            ),
            those("limit", lambda r: r["out"] == "timeout", "Which one had to be stopped after the allowed time?"),
            those("norun", lambda r: r["out"] == "error", "Which test could not even be started?"),
        ]
    elif tool == "pytest":
        asks += [
            those("known", lambda r: r["out"] == "xfail", "Which failure was expected?", "a known defect"),
            those("setup", lambda r: r["out"] == "error", "Which one broke outside the test body itself?"),
            those("fail", lambda r: r["out"] in ("fail", "timeout", "crash"), "What did not pass?", "red ones"),
        ]
    else:
        asks += [
            those(
                "fail", lambda r: r["out"] in ("fail", "timeout", "crash", "error"), "What did not pass?", "red ones"
            ),
            extreme("slow", "secs", "Which one took the longest?", "the slowest test"),
        ]
    known = [
        (f"{n} {c}", [f"the case of {c} for {m}" for m in means])
        for n, means in names("module")[:30]
        for c in cases[:6]
    ]
    commands = {
        "pytest": ["pytest -v", "python -m pytest -v tests"],
        "ctest": ["ctest --test-dir build", "ctest"],
        "go": ["go test -v ./... | grep -- ---"],
        "jest": ["npx jest --verbose"],
    }[tool]
    return Table(
        f"outcomes_{tool}",
        "js_test" if tool == "jest" else "test_output",
        commands,
        [("", "line", "<")],
        rows,
        asks,
        ("Did {m} pass?", "outcome of {m}", "How did {m} go?"),
        known,
        style="bare",
    )


def cron(rng: random.Random) -> Table:
    """A table of periodic jobs."""
    jobs = [
        ("/usr/local/bin/backup-db", "the database copy"),
        ("/usr/local/bin/backup-home", "the copy of the home folders"),
        ("certbot renew -q", "renewing certificates"),
        ("/srv/app/bin/send-reminders", "reminding customers"),
        ("/srv/app/bin/expire-carts", "emptying abandoned carts"),
        ("find /tmp -mtime +7 -delete", "clearing scratch files"),
        ("/usr/sbin/logrotate /etc/logrotate.conf", "rotating journals"),
        ("/srv/app/bin/rates", "fetching exchange rates"),
        ("/srv/app/bin/report --weekly", "the weekly figures"),
        ("/srv/app/bin/invoice-run", "writing invoices"),
        ("rsync -a /srv/media nas:/media", "copying the media"),
        ("/usr/bin/freshclam", "new virus signatures"),
        ("/srv/app/bin/sync-crm", "matching customers with the sales system"),
        ("/usr/local/bin/speedtest", "measuring the line"),
        ("/srv/app/bin/thumbs", "making small pictures"),
        ("psql -c 'vacuum analyze' shop", "tidying up the database"),
        ("/usr/local/bin/temp-alarm", "watching the temperature"),
        ("/srv/app/bin/sitemap", "the list of pages for search engines"),
    ]
    rows: list[Row] = []
    for command, means in rng.sample(jobs, rng.randint(12, len(jobs))):
        rows.append(
            {"name": command, "means": [means], "when": f"{rng.randint(0, 59)} {rng.randint(0, 23)} * * *", "off": ""}
        )
    change(
        rng,
        rows,
        [
            {"when": "* * * * *"},
            {"when": "@reboot"},
            {"when": f"0 {rng.randint(1, 5)} * * 1"},
            {"when": "15 6 1 * *"},
            {"off": "#"},
            {"when": "*/5 * * * *"},
            {"when": "0 9-17 * * 1-5"},
        ],
        5,
    )
    for row in rows:
        row["line"] = f"{row['off']}{row['when']} {row['name']}" + rng.choice(
            ["", " >/dev/null 2>&1", " >> /var/log/cron-jobs.log"]
        )
    asks = [
        those("minute", lambda r: r["when"] == "* * * * *", "What is started every minute?"),
        those("boot", lambda r: r["when"] == "@reboot", "What runs once after the machine comes up?"),
        those("monday", lambda r: r["when"].endswith("* * 1"), "What happens once a week only?"),
        those("monthly", lambda r: r["when"] == "15 6 1 * *", "What waits for the first of the month?"),
        those("off", lambda r: r["off"] == "#", "Which job has been commented out?", "switched off for now"),
        those("often", lambda r: r["when"].startswith("*/5"), "What runs twelve times in an hour?"),
        those("office", lambda r: "1-5" in r["when"], "What runs during working hours only?"),
    ]
    return Table(
        "cron",
        "config",
        ["crontab -l", "cat /etc/cron.d/app", "sudo crontab -l -u app"],
        [("", "line", "<")],
        rows,
        asks,
        ("When is {m} done?", "schedule for {m}", "Is there a job for {m}?", "Which line takes care of {m}?"),
        [(c, [m]) for c, m in jobs],
        head=[
            "# m h dom mon dow command",
            "SHELL=/bin/bash",
            "MAILTO=ops@example.org",
            "PATH=/usr/local/bin:/usr/bin:/bin",
        ],
        style="bare",
    )
