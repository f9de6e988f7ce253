"""Rows of invented businesses in many layouts: query results, exports, answers of services."""

# ruff: noqa: E501  (wordings stay on one line)

from __future__ import annotations

import random

from linecls.data.families import _toolkit as kit
from linecls.data.families._listing_tools import change
from linecls.data.families._tables import Ask, Row, Table, extreme, names, those

Column = tuple[str, str, str]


def _person(rng: random.Random) -> str:
    return rng.choice(names("person"))[0]


def _city(rng: random.Random) -> str:
    return rng.choice(names("city"))[0]


def _orders(rng: random.Random) -> tuple[str, list[Column], list[Row], list[Ask]]:
    rows: list[Row] = [
        {
            "id": 40_000 + 17 * n + rng.randint(0, 9),
            "who": _person(rng),
            "city": _city(rng),
            "status": rng.choice(["shipped", "shipped", "paid", "delivered"]),
            "items": rng.randint(1, 6),
            "total": round(10 ** rng.uniform(1, 2.6), 2),
            "carrier": rng.choice(["parcelhub", "parcelhub", "nordpost"]),
            "placed": f"2026-0{rng.randint(1, 6)}-{rng.randint(1, 28):02d}",
            "coupon": None,
            "note": None,
        }
        for n in range(rng.randint(18, 70))
    ]
    change(
        rng,
        rows,
        [
            {"status": "refunded", "note": "arrived broken"},
            {"total": 0.0, "coupon": "WELCOME100"},
            {"items": rng.randint(60, 400)},
            {"status": "lost"},
            {"status": "on_hold", "note": "address does not exist"},
            {"carrier": None, "note": "collect in store"},
            {"note": "happy birthday!"},
            {"total": round(rng.uniform(4000, 9000), 2)},
            {"coupon": "VIP20"},
            {"placed": "2024-11-03"},
            {"status": "chargeback"},
            {"who": None},
        ],
        6,
    )
    asks = [
        extreme(
            "dear", "total", "Which purchase cost the most?", "the most expensive one", "Who spent the most at once?"
        ),
        extreme("bulk", "items", "Which one looks like a wholesale purchase?", "by far the most pieces"),
        extreme("first", "placed", "Which one is the oldest?", "the earliest of them", least=True),
        those(
            "refund",
            lambda r: r["status"] == "refunded",
            "Where was the money paid back?",
            "a return for damaged goods",
        ),
        those("free", lambda r: r["total"] == 0, "Which one cost nothing?", "everything covered by a code"),
        those("lost", lambda r: r["status"] == "lost", "Which parcel never arrived?", "gone astray on the way"),
        those("held", lambda r: r["status"] == "on_hold", "Which one is stopped, and why?", "not going out for now"),
        those(
            "pickup", lambda r: r["carrier"] is None, "Who fetches the goods in person?", "no delivery service involved"
        ),
        those(
            "gift", lambda r: r["note"] == "happy birthday!", "Which one is a present?", "comes with congratulations"
        ),
        those("vip", lambda r: r["coupon"] == "VIP20", "Who got a discount for regular customers?"),
        those(
            "bank",
            lambda r: r["status"] == "chargeback",
            "Where did the bank take the money back?",
            "disputed with the card issuer",
        ),
        those("nobody", lambda r: r["who"] is None, "Which one belongs to no customer?", "ordered by nobody known"),
    ]
    return (
        "orders",
        [
            ("id", "id", ">"),
            ("customer", "who", "<"),
            ("city", "city", "<"),
            ("status", "status", "<"),
            ("items", "items", ">"),
            ("total", "total", ">"),
            ("carrier", "carrier", "<"),
            ("placed_on", "placed", "<"),
            ("coupon", "coupon", "<"),
            ("note", "note", "<"),
        ],
        rows,
        asks,
    )


def _staff(rng: random.Random) -> tuple[str, list[Column], list[Row], list[Ask]]:
    people = [n for n, _ in names("person")]
    rows: list[Row] = [
        {
            "id": 100 + n,
            "who": name,
            "team": rng.choice(["platform", "support", "sales", "design", "data"]),
            "grade": rng.randint(1, 5),
            "salary": rng.randint(38, 96) * 1000,
            "since": f"20{rng.randint(12, 25)}-{rng.randint(1, 12):02d}-01",
            "until": None,
            "hours": 40,
            "boss": rng.choice([101, 104, 107]),
            "mail": name.split()[0].lower() + "@corp.example",
            "leave": rng.randint(3, 28),
        }
        for n, name in enumerate(rng.sample(people, rng.randint(17, len(people))))
    ]
    change(
        rng,
        rows,
        [
            {"until": "2026-03-31"},
            {"hours": 20},
            {"boss": None},
            {"salary": 148_000},
            {"mail": "someone@agency.example"},
            {"leave": -2},
            {"team": None},
            {"grade": 9},
            {"hours": 0},
            {"until": "2027-12-31"},
        ],
        5,
    )
    asks = [
        extreme("paid", "salary", "Who earns the most?", "the best paid of all"),
        extreme("veteran", "since", "Who has been there the longest?", "the first one hired", least=True),
        extreme("fresh", "since", "Who joined last?", "the newcomer"),
        extreme("rested", "leave", "Who has the most days off left?", "should go on holiday soon"),
        those("gone", lambda r: r["until"] == "2026-03-31", "Who has left in the meantime?", "a contract that is over"),
        those("fixed", lambda r: r["until"] == "2027-12-31", "Who has a contract that ends, but not yet?"),
        those("part", lambda r: r["hours"] == 20, "Who works half the time?", "part-time"),
        those("top", lambda r: r["boss"] is None, "Who reports to nobody?", "at the head of it all"),
        those("outside", lambda r: "agency" in r["mail"], "Who comes from another firm?", "an external address"),
        those("negative", lambda r: r["leave"] < 0, "Who took more holidays than there were?", "below zero"),
        those("teamless", lambda r: r["team"] is None, "Who belongs to no group?"),
        those("odd", lambda r: r["grade"] > 5, "Whose level can't be right?", "outside the scale"),
    ]
    return (
        "staff",
        [
            ("id", "id", ">"),
            ("name", "who", "<"),
            ("team", "team", "<"),
            ("grade", "grade", ">"),
            ("salary", "salary", ">"),
            ("hired", "since", "<"),
            ("left_on", "until", "<"),
            ("weekly_hours", "hours", ">"),
            ("manager_id", "boss", ">"),
            ("email", "mail", "<"),
            ("leave_days", "leave", ">"),
        ],
        rows,
        asks,
    )


def _sensors(rng: random.Random) -> tuple[str, list[Column], list[Row], list[Ask]]:
    rows: list[Row] = [
        {
            "id": f"S{n:03d}",
            "place": rng.choice(
                ["roof", "cellar", "hall A", "hall B", "greenhouse", "cold store", "server room", "yard"]
            ),
            "kind": rng.choice(["temp", "temp", "humidity", "co2"]),
            "value": round(rng.gauss(21, 3), 1),
            "unit": "C",
            "battery": rng.randint(35, 100),
            "seen": rng.randint(2, 290),
            "fw": "2.4.1",
            "err": 0,
        }
        for n in range(rng.randint(20, 70))
    ]
    for row in rows:
        if row["kind"] == "humidity":
            row.update(value=round(rng.gauss(52, 8), 1), unit="%")
        elif row["kind"] == "co2":
            row.update(value=float(rng.randint(410, 990)), unit="ppm")
    change(
        rng,
        rows,
        [
            {"value": None},
            {"value": -127.0, "unit": "C", "kind": "temp"},
            {"battery": 2},
            {"seen": 400_000},
            {"fw": "1.9.0"},
            {"err": 57},
            {"value": 2400.0, "unit": "ppm", "kind": "co2"},
            {"value": 61.5, "unit": "C", "kind": "temp"},
            {"fw": "3.0.0-beta"},
        ],
        5,
    )
    asks = [
        extreme("flat", "battery", "Which device needs new batteries first?", "the weakest power supply", least=True),
        extreme("silent", "seen", "Which one has not reported for the longest time?", "silent for ages"),
        extreme("errors", "err", "Which device had the most failed transmissions?", "worst connection"),
        those("empty", lambda r: r["value"] is None, "Which one delivers no reading?", "no measurement at all"),
        those(
            "broken",
            lambda r: r["value"] == -127.0,
            "Which reading is impossible, as of a disconnected probe?",
            "the typical figure of a broken wire",
        ),
        those("old", lambda r: r["fw"] == "1.9.0", "Which one still runs outdated software?", "firmware left behind"),
        those("beta", lambda r: "beta" in r["fw"], "Where is trial software installed?"),
        those(
            "stale air",
            lambda r: r["value"] == 2400.0,
            "Where should somebody open a window?",
            "air too stale to breathe for long",
        ),
        those("hot", lambda r: r["value"] == 61.5, "Where is it dangerously hot?", "nearly a fire"),
    ]
    return (
        "sensors",
        [
            ("id", "id", "<"),
            ("place", "place", "<"),
            ("kind", "kind", "<"),
            ("value", "value", ">"),
            ("unit", "unit", "<"),
            ("battery_pct", "battery", ">"),
            ("last_seen_s", "seen", ">"),
            ("firmware", "fw", "<"),
            ("errors", "err", ">"),
        ],
        rows,
        asks,
    )


def _loans(rng: random.Random) -> tuple[str, list[Column], list[Row], list[Ask]]:
    titles = [
        "The Salt Road",
        "Winter Orchard",
        "A Manual of Knots",
        "Night Ferry",
        "Paper Moths",
        "The Clockmaker",
        "Rivers of the North",
        "Bread and Ash",
        "Small Engines",
        "Atlas of Clouds",
        "The Third Harbour",
        "Bees in Town",
        "Glass Mountain",
        "Letters to Nobody",
        "The Long Ditch",
        "Maps for Sleepwalkers",
        "Iron and Honey",
        "The Last Tram",
        "A Year of Frost",
        "The Quiet Gear",
    ]
    rows: list[Row] = [
        {
            "id": 7000 + 3 * n,
            "title": rng.choice(titles),
            "reader": _person(rng),
            "branch": rng.choice(["Central", "Hillside", "Harbour", "School"]),
            "out": f"2026-0{rng.randint(3, 6)}-{rng.randint(1, 28):02d}",
            "due": f"2026-07-{rng.randint(10, 30)}",
            "back": None,
            "renewed": rng.randint(0, 2),
            "fee": 0.0,
        }
        for n in range(rng.randint(18, 60))
    ]
    change(
        rng,
        rows,
        [
            {"due": "2025-02-14"},
            {"fee": 38.5},
            {"renewed": 11},
            {"back": "2026-06-20"},
            {"branch": None},
            {"out": "2026-08-01"},
            {"reader": None},
            {"fee": -5.0},
        ],
        5,
    )
    asks = [
        extreme("late", "due", "Which loan is overdue the longest?", "should have come back first of all", least=True),
        extreme("fee", "fee", "Who owes the most?", "the highest fine"),
        extreme("renewed", "renewed", "Which one was extended again and again?", "the most renewals"),
        those("returned", lambda r: r["back"] is not None, "Which one came back already?", "returned"),
        those(
            "nowhere",
            lambda r: r["branch"] is None,
            "Which record does not say where it was lent?",
            "no library building",
        ),
        those(
            "future",
            lambda r: r["out"] == "2026-08-01",
            "Which date of lending has not come yet?",
            "lent in the future",
        ),
        those(
            "anonymous", lambda r: r["reader"] is None, "Who has it is unknown: which record?", "a borrower is missing"
        ),
        those("credit", lambda r: r["fee"] < 0, "Who even gets something back?", "a negative fine"),
    ]
    return (
        "loans",
        [
            ("id", "id", ">"),
            ("title", "title", "<"),
            ("reader", "reader", "<"),
            ("branch", "branch", "<"),
            ("lent_on", "out", "<"),
            ("due_on", "due", "<"),
            ("returned_on", "back", "<"),
            ("renewals", "renewed", ">"),
            ("fee", "fee", ">"),
        ],
        rows,
        asks,
    )


def _flights(rng: random.Random) -> tuple[str, list[Column], list[Row], list[Ask]]:
    rows: list[Row] = [
        {
            "no": f"{rng.choice(['NX', 'QT', 'LU'])}{rng.randint(100, 999)}",
            "frm": _city(rng),
            "to": _city(rng),
            "gate": f"{rng.choice('ABC')}{rng.randint(1, 30)}",
            "status": rng.choice(["on time", "on time", "boarding", "departed"]),
            "delay": rng.randint(0, 25),
            "seats": rng.choice([96, 144, 180]),
            "sold": 0,
            "kind": rng.choice(["A320", "E190", "B738"]),
            "wx": None,
        }
        for _ in range(rng.randint(18, 55))
    ]
    for row in rows:
        row["sold"] = int(row["seats"] * rng.uniform(0.4, 0.97))
        while row["to"] == row["frm"]:
            row["to"] = _city(rng)
    change(
        rng,
        rows,
        [
            {"status": "cancelled"},
            {"delay": 340, "status": "delayed"},
            {"gate": None},
            {"sold": 203},
            {"status": "diverted"},
            {"wx": "thunderstorm"},
            {"kind": "AT72", "seats": 70, "sold": 33},
            {"sold": 4},
        ],
        5,
    )
    asks = [
        extreme("late", "delay", "Which departure is latest against its schedule?", "the longest delay"),
        extreme("empty", "sold", "Which one is nearly empty?", "fewest passengers", least=True),
        those("off", lambda r: r["status"] == "cancelled", "Which one does not go at all?", "called off"),
        those(
            "gate",
            lambda r: r["gate"] is None,
            "For which one do passengers not know where to go?",
            "no boarding place assigned",
        ),
        those("over", lambda r: r["sold"] > r["seats"], "Which one is overbooked?", "more tickets than places"),
        those("elsewhere", lambda r: r["status"] == "diverted", "Which one lands somewhere else than planned?"),
        those("weather", lambda r: r["wx"] is not None, "Where does the weather matter?", "bad weather noted"),
        those("prop", lambda r: r["kind"] == "AT72", "Which one is flown by a propeller aircraft?"),
    ]
    return (
        "flights",
        [
            ("flight", "no", "<"),
            ("origin", "frm", "<"),
            ("destination", "to", "<"),
            ("gate", "gate", "<"),
            ("status", "status", "<"),
            ("delay_min", "delay", ">"),
            ("seats", "seats", ">"),
            ("sold", "sold", ">"),
            ("aircraft", "kind", "<"),
            ("weather", "wx", "<"),
        ],
        rows,
        asks,
    )


def _accounts(rng: random.Random) -> tuple[str, list[Column], list[Row], list[Ask]]:
    rows: list[Row] = [
        {
            "id": 300 + n,
            "login": name.split()[0].lower() + rng.choice(["", "", str(rng.randint(1, 99))]),
            "role": rng.choice(["member", "member", "editor"]),
            "active": True,
            "mfa": True,
            "fails": rng.randint(0, 2),
            "seen": f"2026-06-{rng.randint(1, 29):02d}",
            "quota": rng.choice([5, 5, 10]),
            "used": 0.0,
            "locale": rng.choice(["en", "de", "pt", "sv"]),
            "key": None,
        }
        for n, (name, _) in enumerate(rng.sample(names("person"), rng.randint(16, 24)))
    ]
    for row in rows:
        row["used"] = round(row["quota"] * rng.random(), 2)
    change(
        rng,
        rows,
        [
            {"role": "owner"},
            {"active": False},
            {"mfa": False},
            {"fails": 41},
            {"seen": None},
            {"used": 12.4, "quota": 10},
            {"key": "rotate-overdue"},
            {"seen": "2023-01-09"},
            {"role": "bot"},
            {"locale": "xx"},
        ],
        6,
    )
    asks = [
        extreme("attack", "fails", "Whose password is somebody trying to guess?", "the most unsuccessful logins"),
        extreme("heavy", "used", "Who stores the most?", "largest use of space"),
        extreme(
            "asleep",
            "seen",
            "Which account has been asleep the longest?",
            "the last visit lies furthest back",
            least=True,
        ),
        those("owner", lambda r: r["role"] == "owner", "Who may do everything?", "the most powerful role"),
        those("off", lambda r: not r["active"], "Which account is switched off?", "can't log in any more"),
        those("weak", lambda r: not r["mfa"], "Who logs in with a password alone?", "no second factor"),
        those("never", lambda r: r["seen"] is None, "Who was never here?", "registered but never came"),
        those("over", lambda r: r["used"] > r["quota"], "Who has gone over the allowance?", "more than permitted"),
        those("key", lambda r: r["key"] is not None, "Whose access key should have been renewed?"),
        those("robot", lambda r: r["role"] == "bot", "Which account is no human?", "a machine user"),
        those("locale", lambda r: r["locale"] == "xx", "Which language setting cannot be right?"),
    ]
    return (
        "accounts",
        [
            ("id", "id", ">"),
            ("login", "login", "<"),
            ("role", "role", "<"),
            ("active", "active", "<"),
            ("mfa", "mfa", "<"),
            ("failed_logins", "fails", ">"),
            ("last_seen", "seen", "<"),
            ("quota_gb", "quota", ">"),
            ("used_gb", "used", ">"),
            ("locale", "locale", "<"),
            ("api_key", "key", "<"),
        ],
        rows,
        asks,
    )


def _statements(rng: random.Random) -> tuple[str, list[Column], list[Row], list[Ask]]:
    tables = [
        "orders",
        "customers",
        "products",
        "invoices",
        "sessions",
        "audit_log",
        "stock_moves",
        "payments",
        "reviews",
        "coupons",
        "shipments",
        "addresses",
        "price_history",
        "carts",
        "webhook_calls",
        "mail_queue",
        "files",
        "tags",
        "roles",
        "translations",
    ]
    rows: list[Row] = [
        {
            "table": t,
            "live": int(10 ** rng.uniform(2, 6.3)),
            "dead": 0,
            "seq": rng.randint(0, 900),
            "idx": rng.randint(1000, 900_000),
            "vac": f"2026-06-{rng.randint(1, 29):02d} 03:{rng.randint(10, 59)}",
            "size": int(10 ** rng.uniform(4.2, 9.5)),
            "mod": rng.randint(0, 4000),
        }
        for t in rng.sample(tables, rng.randint(16, 20))
    ]
    for row in rows:
        row["dead"] = int(row["live"] * rng.uniform(0, 0.05))
    change(
        rng,
        rows,
        [
            {"vac": None},
            {"idx": 0, "seq": 88_412},
            {"live": 0, "dead": 0},
            {"dead": 9_400_000},
            {"vac": "2024-02-11 03:14"},
            {"mod": 2_900_000},
        ],
        4,
    )
    asks = [
        extreme("big", "size", "Which relation needs the most disk?", "largest on disk"),
        extreme("rows", "live", "Which one has the most entries?", "the longest relation"),
        extreme("bloat", "dead", "Where does the most garbage lie?", "most dead tuples"),
        extreme("scan", "seq", "Which one is read from front to back most often?", "begging for an index"),
        extreme("stale", "vac", "Where was cleaning up done the longest ago?", least=True),
        those("never", lambda r: r["vac"] is None, "Which one was never cleaned up?", "no clean-up recorded"),
        those("noindex", lambda r: r["idx"] == 0, "Which one never uses an index?", "index access does not happen"),
        those("empty", lambda r: r["live"] == 0, "Which relation holds nothing?", "without any entry"),
        extreme("churn", "mod", "What changed the most since the statistics were taken?", "outdated planner figures"),
    ]
    return (
        "pg_stat_user_tables",
        [
            ("relname", "table", "<"),
            ("n_live_tup", "live", ">"),
            ("n_dead_tup", "dead", ">"),
            ("seq_scan", "seq", ">"),
            ("idx_scan", "idx", ">"),
            ("n_mod_since_analyze", "mod", ">"),
            ("last_autovacuum", "vac", "<"),
            ("total_bytes", "size", ">"),
        ],
        rows,
        asks,
    )


def _builds(rng: random.Random) -> tuple[str, list[Column], list[Row], list[Ask]]:
    rows: list[Row] = [
        {
            "id": 880_000 + 41 * n,
            "branch": rng.choice(
                ["main", "main", "release/4.2", "fix/login-loop", "feat/bulk-edit", "dep/urllib3", "docs/setup"]
            ),
            "flow": rng.choice(["test", "lint", "build", "deploy"]),
            "result": "success",
            "by": rng.choice(["amara", "jonas", "mei", "priya", "renovate[bot]"]),
            "event": rng.choice(["push", "push", "pull_request"]),
            "secs": rng.randint(45, 800),
            "sha": kit.MAKERS["hex"](rng),
        }
        for n in range(rng.randint(18, 60))
    ]
    change(
        rng,
        rows,
        [
            {"result": "failure"},
            {"result": "cancelled"},
            {"result": "timed_out", "secs": 21_600},
            {"result": "action_required"},
            {"result": "startup_failure", "secs": 0},
            {"event": "schedule"},
            {"event": "workflow_dispatch"},
            {"result": "in_progress"},
            {"result": "skipped", "secs": 1},
        ],
        6,
    )
    asks = [
        extreme("slow", "secs", "Which run took the longest?", "the slowest one"),
        those("red", lambda r: r["result"] == "failure", "Which run is red?", "did not pass"),
        those("stopped", lambda r: r["result"] == "cancelled", "Which run did somebody stop?", "broken off by hand"),
        those(
            "limit",
            lambda r: r["result"] == "timed_out",
            "What ran into the time limit?",
            "went on until it was cut off",
        ),
        those("approve", lambda r: r["result"] == "action_required", "Which run waits for a person to let it go on?"),
        those(
            "broken",
            lambda r: r["result"] == "startup_failure",
            "Which run did not even start?",
            "the workflow file itself was wrong",
        ),
        those("nightly", lambda r: r["event"] == "schedule", "What was started by the clock?", "a nightly run"),
        those("hand", lambda r: r["event"] == "workflow_dispatch", "Which one was started by hand?"),
        those("running", lambda r: r["result"] == "in_progress", "What is not finished yet?", "still going"),
        those("skip", lambda r: r["result"] == "skipped", "Which run did nothing since its condition was not met?"),
    ]
    return (
        "runs",
        [
            ("databaseId", "id", ">"),
            ("headBranch", "branch", "<"),
            ("workflowName", "flow", "<"),
            ("conclusion", "result", "<"),
            ("actor", "by", "<"),
            ("event", "event", "<"),
            ("duration_s", "secs", ">"),
            ("headSha", "sha", "<"),
        ],
        rows,
        asks,
    )


_DOMAINS = [_orders, _staff, _sensors, _loans, _flights, _accounts, _statements, _builds]

_STYLES = [
    ("psql", "sql", ["psql -d {d} -c 'select * from {t}'", "psql {d} -f {t}.sql", "psql -h 127.0.0.1 {d} -c 'table {t}'"]),
    ("box", "sql", ["sqlite3 -box {d}.db 'select * from {t}'", "duckdb {d}.duckdb -c 'from {t}'"]),
    ("mysql", "sql", ["mysql {d} -t -e 'select * from {t}'", "mariadb {d} -t < {t}.sql"]),
    ("expanded", "sql", ["psql {d} -x -c 'select * from {t} order by 1'"]),
    ("csv", "shell", ["cat {t}.csv", "sqlite3 -header -csv {d}.db 'select * from {t}'", "head -n 80 exports/{t}.csv"]),
    ("json", "curl", ["curl -s http://127.0.0.1:8100/api/{t} | jq .", "curl -s -H 'Authorization: Bearer $T' https://{d}.example/v1/{t} | jq '.items'", "http GET :8000/{t}"]),
    ("json", "json", ["cat {t}.json", "jq . exports/{t}.json", "python -m json.tool {t}.json"]),
    ("jsonl", "json", ["cat {t}.jsonl", "jq -c '.[]' {t}.json", "head -50 {t}.ndjson"]),
    ("yaml", "config", ["cat {t}.yaml", "yq . fixtures/{t}.yml"]),
    ("plain", "shell", ["column -t -s, {t}.csv", "./manage {t} list", "corpctl get {t}"]),
]  # fmt: skip


def business(rng: random.Random, layout: int | None = None) -> Table:
    """Rows of one business in one of many layouts (`layout`: which of them), the columns in any order."""
    name, columns, rows, asks = rng.choice(_DOMAINS)(rng)
    style, tool, commands = rng.choice(_STYLES) if layout is None else _STYLES[layout]
    if style in ("json", "expanded", "yaml"):
        rows = rng.sample(rows, min(len(rows), rng.randint(12, 32)))
    rng.shuffle(rows)
    fields = list(columns)
    if rng.random() < 0.4:
        fields[1:] = rng.sample(fields[1:], len(fields) - 1)
    store = rng.choice(["shop", "corp", "house", "city", "lib", "air", "prod", "app"])
    shown = [c.format(d=store, t=name) for c in commands]
    null = {"none": lambda _: rng.choice(["", "NULL"]) if style in ("box", "mysql") else ""}
    return Table(name, tool, shown, fields, rows, asks, style=style, project=f"{name}-{rng.randrange(40)}", show=null)
