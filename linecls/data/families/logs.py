"""Logs of services, containers, clusters and CI as stories: traffic as usual with several incidents in it."""

# ruff: noqa: E501  (texts of tools and queries stay on one line)

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Kind, Label, Page, Slots
from linecls.records import Record

NAME = "logs"

APP = kit.parse_catalogue(kit.catalogue_text("logs_app"))

PLAIN = kit.parse_catalogue(kit.catalogue_text("logs_plain"))

NORMAL = [
    ("INFO", "GET {endpoint} 200 {ms}ms"),
    ("INFO", "POST {endpoint} 201 {ms}ms"),
    ("INFO", "GET {endpoint} 304 {n}ms"),
    ("INFO", "GET /healthz 200 1ms"),
    ("DEBUG", "cache hit for key {word}:{hex}"),
    ("DEBUG", "cache miss for key {word}:{hex}, loaded in {ms}ms"),
    ("INFO", "processed batch {hash} with {nnn} items in {ms}ms"),
    ("INFO", "user {user} signed in from {ip}"),
    ("INFO", "user {user} signed out"),
    ("DEBUG", "acquired connection {hex} from pool (idle={n})"),
    ("DEBUG", "released connection {hex}"),
    ("INFO", "published {n} messages to {queue}"),
    ("INFO", "consumed {hash} from {queue} in {ms}ms"),
    ("INFO", "{job} finished in {ms}ms, {nnn} rows"),
    ("INFO", "{job} scheduled for next run"),
    ("DEBUG", "heartbeat ok seq={nnnnn}"),
    ("INFO", "order {nnnnn} accepted total={float}"),
    ("INFO", "order {nnnnn} shipped with tracking {hex}"),
    ("INFO", "sent mail {hash} to {user}@mail.example"),
    ("DEBUG", "SELECT on {table} returned {nn} rows in {n} ms"),
    ("INFO", "saved {n} rows to {table}"),
    ("DEBUG", "token refreshed for {user}"),
    ("INFO", "stored upload {hex} ({nnnn} bytes)"),
    ("DEBUG", "poll {peer}: no news"),
    ("INFO", "fetched https://{peer}/v1/items?page={n} in {ms}ms"),
    ("INFO", "resized image {hex} to {nnn}x{nnn2}"),
    ("DEBUG", "lease renewed by {host}"),
    ("INFO", "metrics flushed: {nnn} series"),
    ("DEBUG", "gc: freed {nnn} objects in {n} ms"),
    ("INFO", "snapshot {hex} written to disk"),
    ("INFO", "rotated log file, {mib} MiB kept"),
    ("WARN", "response time {nnn}ms above target 300ms on {endpoint}"),
    ("INFO", "session {hash} created"),
    ("DEBUG", "flag {flag} evaluated to false"),
    ("INFO", "charge for order {nnnnn} captured: {float} EUR"),
    ("INFO", "indexed {nnn} documents"),
    ("DEBUG", "lock {word} taken for {ms}ms"),
    ("INFO", "websocket {hex} opened by {user}"),
    ("INFO", "websocket {hex} closed (1000)"),
    ("DEBUG", "validated payload {hash}"),
    ("WARN", "client sent unknown header x-{word}-id, ignored"),
    ("INFO", "checkpoint {nnnn} committed"),
    ("INFO", "replica caught up"),
    ("DEBUG", "dns cache refreshed, {nn} names"),
]


class Clock:
    """Time that moves on by irregular steps."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.now = datetime(
            rng.randint(2023, 2026),
            rng.randint(1, 12),
            rng.randint(1, 28),
            rng.randint(0, 23),
            rng.randint(0, 59),
            rng.randint(0, 59),
            rng.randint(0, 999) * 1000,
        )
        self.pace = rng.choice([0.02, 0.3, 2.0, 9.0])

    def tick(self) -> datetime:
        """The next instant."""
        self.now += timedelta(milliseconds=int(1 + self.rng.expovariate(1 / (self.pace * 1000))))
        return self.now


Layout = Callable[[datetime, str, str, str], str]
_JAVA = ["io.app.core", "io.app.web", "com.shop.data", "com.acme.jobs", "org.plant.bus"]


def _layouts(rng: random.Random) -> dict[str, Layout]:
    host, pid = rng.choice(["node-a", "ip-10-0-3-17", "vm-prod-2", "pi4", "bastion"]), rng.randint(300, 9000)
    pids: dict[str, int] = {}

    def number(svc: str) -> int:
        return pids.setdefault(svc, pid + len(pids) * 13 + 1)

    iso = lambda t: t.strftime("%Y-%m-%dT%H:%M:%S.") + f"{t.microsecond // 1000:03d}Z"  # noqa: E731
    comma = lambda t: t.strftime("%Y-%m-%d %H:%M:%S,") + f"{t.microsecond // 1000:03d}"  # noqa: E731
    short = {"INFO": "INF", "WARN": "WRN", "ERROR": "ERR", "DEBUG": "DBG"}
    package = rng.choice(_JAVA)
    key = rng.choice(["service", "app", "component", "logger"])
    text = rng.choice(["msg", "message", "event"])
    stamp = rng.choice(["ts", "time", "@timestamp"])
    colour = {"INFO": "\x1b[32m", "WARN": "\x1b[33m", "ERROR": "\x1b[31m", "DEBUG": "\x1b[36m"}
    return {
        "syslog": lambda t, lv, s, m: f"{t.strftime('%b %d %H:%M:%S')} {host} {s}[{number(s)}]: {m}",
        "syslog_level": lambda t, lv, s, m: (
            f"{t.strftime('%b %d %H:%M:%S')} {host} {s}[{number(s)}]: {lv.lower()}: {m}"
        ),
        "journal_iso": lambda t, lv, s, m: f"{t.strftime('%Y-%m-%dT%H:%M:%S+0000')} {host} {s}[{number(s)}]: {m}",
        "python": lambda t, lv, s, m: f"{comma(t)} {'WARNING' if lv == 'WARN' else lv} {s.replace('-', '_')}: {m}",
        "python_dash": lambda t, lv, s, m: f"{comma(t)} - {s} - {lv} - {m}",
        "log4j": lambda t, lv, s, m: (
            f"{comma(t).replace(',', '.')} [{s}-{number(s) % 8}] {lv:<5} {package}.{''.join(p.title() for p in s.split('-'))} - {m}"
        ),
        "json": lambda t, lv, s, m: json.dumps({stamp: iso(t), "level": lv.lower(), key: s, text: m}),
        "json_compact": lambda t, lv, s, m: json.dumps(
            {"lvl": lv[0], key: s, text: m, "t": int(t.timestamp())}, separators=(",", ":")
        ),
        "logfmt": lambda t, lv, s, m: (
            f'{stamp}={iso(t)} level={lv.lower()} {key}={s} {text}="{m.replace(chr(34), chr(39))}"'
        ),
        "zerolog": lambda t, lv, s, m: f"{t.strftime('%H:%M:%S')} {short[lv]} {s} > {m}",
        "klog": lambda t, lv, s, m: (
            f"{lv[0]}{t.strftime('%m%d %H:%M:%S.%f')} {number(s):>7} {s.replace('-', '_')}.go:{len(m) * 7 % 400 + 20}] {m}"
        ),
        "compose": lambda t, lv, s, m: f"{s + '-1':<20} | {lv:<5} {m}",
        "compose_ts": lambda t, lv, s, m: f"{s}-1  | {iso(t)} [{lv}] {m}",
        "brackets": lambda t, lv, s, m: f"[{t.strftime('%d/%b/%Y:%H:%M:%S')}] [{s}] [{lv}] {m}",
        "pipes": lambda t, lv, s, m: f"{t.strftime('%Y-%m-%d %H:%M:%S')} | {lv:<7} | {s}:{len(m) % 90 + 9} | {m}",
        "rust": lambda t, lv, s, m: f"{iso(t)} {lv:>5} {s.replace('-', '_')}::main: {m}",
        "ruby": lambda t, lv, s, m: f"{lv[0]}, [{t.strftime('%Y-%m-%dT%H:%M:%S.%f')} #{number(s)}] {lv:>5} -- {s}: {m}",
        "bare": lambda t, lv, s, m: f"{t.strftime('%H:%M:%S')} {s}: {lv} {m}",
        "pod": lambda t, lv, s, m: f"[pod/{s}-{number(s) * 7919 % 99999:05d}-x{len(s)}k/{s}] {lv} {m}",
        "colour": lambda t, lv, s, m: f"{colour[lv]}{lv}\x1b[0m {t.strftime('%H:%M:%S')} {s}: {m}",
    }


_FAMILY_OF = {"compose": "docker_logs", "compose_ts": "docker_logs", "pod": "kubectl", "klog": "kubectl"}
_COMMANDS = {
    "logs": [
        "tail -n {k} /var/log/app/combined.log",
        "journalctl --since today --no-pager",
        "cat /var/log/services.log",
        "sed -n '1,{k}p' app.log",
        "less -R logs/all.log",
        "zcat /var/log/app.log.2.gz | tail -n {k}",
    ],
    "docker_logs": [
        "docker compose logs --tail={k}",
        "docker compose logs --since 30m --no-color",
        "docker logs app --tail {k} 2>&1",
    ],
    "kubectl": [
        "kubectl logs -l tier=backend --prefix --tail={k}",
        "kubectl -n prod logs deploy/app --all-containers --tail={k}",
        "stern -n prod . --since 10m --no-follow",
    ],
}


def _specific(query: str) -> bool:
    return "{" in query


def _named(query: str) -> set[str]:
    """Slots that a query names, in their own or in other words."""
    return {name.removesuffix("_p") for name in kit.slot_names(query)}


def _plain(query: str, slots: set[str]) -> bool:
    """Whether the slots of a query are settled by the message that was printed."""
    return all(
        name in slots or name + "_p" in slots or name.removesuffix("_p") in slots for name in kit.slot_names(query)
    )


def _incident(rng: random.Random, kind: Kind, slots: Slots) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """Events (level, lines) of an incident and its queries, filled."""
    variant = rng.choice(kind.variants)
    used = {"svc"}
    for event in variant:
        for line in event.lines:
            used.update(kit.slot_names(line))
    events = [(kind.level, [slots.fill(line) for line in event.lines]) for event in variant]
    queries = [q for q in kind.queries if _plain(q, used)]
    return events, queries


def story(
    rng: random.Random,
    kinds: list[Kind],
    normal: list[tuple[str, str]],
    layout: Layout,
    clock: Clock,
    *,
    length: int,
    incidents: int,
    services: int,
    plain: Sequence[Kind] = (),
    alike: Sequence[set[str]] | None = None,
    loud: int = 0,
) -> tuple[Page, list[Label]]:
    """Traffic of `length` events with `incidents` different incidents, one of which may be a twin.

    `plain` are kinds of ordinary events; one or two of them are asked for by what tells them from their like,
    and no other event carries the same value. `alike` are sets of names of kinds that one query might mean; those of
    the services' logs where it is left out. `loud` of the incidents come four to twelve times over.
    """
    alike = _NEAR if alike is None else alike
    page, labels = Page(), []
    taken: set[str] = set()
    staff = rng.sample(kit.VOCABULARIES["svc"], services)
    chosen = rng.sample(kinds, min(incidents, len(kinds)))
    plain = rng.sample(list(plain), min(len(plain), rng.randint(0, 3)))
    plan: list[tuple[str, Kind, bool]] = [(f"i{i}", kind, False) for i, kind in enumerate([*plain, *chosen])]
    twin = rng.random() < 0.45
    if twin:
        pairs = [k for k in chosen if sum(_specific(q) for q in k.queries)]
        if pairs:
            plan.append((f"i{len(plan)}", rng.choice(pairs), True))
        else:
            twin = False
    doubled = plan[-1][1].name if twin else ""
    queue: list[tuple[float, str, str, str, list[str]]] = []
    asks: list[tuple[str, Kind, list[str], Slots]] = []
    used_services: set[str] = set()
    for key, kind, _ in plan:
        free = [s for s in staff if s[0] not in used_services] or staff
        name, words = rng.choice(free)
        used_services.add(name)
        slots = Slots(rng, kit.VOCABULARIES, {"svc": name, "svc_p": rng.choice(words)}, taken)
        events, queries = _incident(rng, kind, slots)
        if loud and any(kind is k for k in chosen[:loud]):
            events = events * rng.randint(4, 12)
        if kind.name == doubled:
            queries = [q for q in queries if _specific(q)]
        at = rng.random()
        for level, lines in events:
            queue.append((at, key, level, name, lines))
            at += rng.choice([0.0, 0.0, 0.01, 0.04])
        if queries:
            asks.append((key, kind, queries, slots))
    queue.sort(key=lambda item: item[0])
    scale = [(i + rng.random() * 0.5) / length for i in range(length)]
    favourites = rng.sample(normal, k=min(len(normal), rng.randint(8, 22)))
    favourites += [(kind.level, kind.variants[0][0].lines[0]) for kind in plain]
    unique = {
        kind.variants[0][0].lines[0]: {slots[name] for query in queries for name in _named(query) if name in slots}
        for _, kind, queries, slots in asks
        if kind in plain
    }
    for at in scale:
        while queue and queue[0][0] <= at:
            _emit(page, layout, clock, queue.pop(0))
        level, text = rng.choice(favourites)
        name = rng.choice(staff)[0]
        filled = Slots(rng, kit.VOCABULARIES).fill(text)
        while any(value in filled for value in unique.get(text, ())):
            filled = Slots(rng, kit.VOCABULARIES).fill(text)
        page.say(layout(clock.tick(), level, name, filled))
    for item in queue:
        _emit(page, layout, clock, item)
    for key, kind, queries, slots in asks:
        special, asked = [q for q in queries if _specific(q)], queries
        if special and rng.random() < 0.8 and _near(kind, [k for _, k, _, _ in asks if k is not kind], alike):
            asked = special
        for query in rng.sample(asked, k=min(len(asked), 2 if rng.random() < 0.25 else 1)):
            alone = kind.name != doubled and not _near(kind, [k for _, k, _ in plan if k is not kind], alike)
            told = kit.vary(rng, slots.fill(query))
            labels.append(Label(told, key, f"{kind.name}", cuttable=alone and kind not in plain))
    rng.shuffle(labels)
    labels = labels[:6]
    if rng.random() < 0.45 and (easy := kit.lexical(rng, page, rng.choice(plan)[0])):
        labels.append(easy)
    absent = kit.pick(rng, [k for k in kinds if k not in chosen and not _near(k, chosen, alike)])
    if absent is not None and rng.random() < 0.75:
        slots = Slots(rng, kit.VOCABULARIES, _colleague(rng, staff), taken)
        query = kit.vary(rng, slots.fill(rng.choice(absent.queries)))
        labels.append(Label(query, None, f"absent_{absent.name}"))
    return page, labels


_NEAR = [
    {
        "upstream_timeout",
        "upstream_5xx",
        "db_refused",
        "dns",
        "tls_expired",
        "retry_ok",
        "circuit",
        "rate_limited",
        "breaker_closed",
    },
    {"auth_fail", "locked", "forbidden", "token_expired", "bruteforce", "csrf"},
    {"oom", "eviction", "gc", "leak"},
    {"job_failed", "job_skipped", "job_slow", "job_empty"},
    {"perm_denied", "missing_file", "bad_config", "checksum", "disk_full"},
    {"null", "index_error", "div_zero", "recursion", "json_decode", "schema", "encoding", "too_large"},
    {"queue_lag", "dead_letter", "unroutable", "rebalance", "data_loss"},
    {"dup_key", "fk", "deadlock", "slow_query", "pool_exhausted", "migration", "exhausted_ids"},
    {"payment_declined", "double_charge", "refund"},
    {"shutdown", "restart", "failover", "config_reload", "replication"},
    {"cache_stampede", "eviction"},
    {"threads", "pool_exhausted", "gc", "leak", "job_slow", "slow_query"},
    {"third_party_ok", "breaker_closed", "retry_ok"},
    {"license", "deprecated", "tls_expired"},
]


def _near(kind: Kind, others: list[Kind], alike: Sequence[set[str]]) -> bool:
    """Whether a query for `kind` might be answered by one of the others."""
    names = {k.name for k in others}
    return any(kind.name in group and group & names for group in alike)


def _colleague(rng: random.Random, staff: list[tuple[str, list[str]]]) -> dict[str, str]:
    name, words = rng.choice(staff)
    return {"svc": name, "svc_p": rng.choice(words)}


def _emit(page: Page, layout: Layout, clock: Clock, item: tuple[float, str, str, str, list[str]]) -> None:
    _, key, level, service, lines = item
    page.say(layout(clock.tick(), level, service, lines[0]), key=key)
    prefix = ""
    sample = page.lines[-1]
    if " | " in sample[:26]:
        prefix = sample[: sample.index("|") + 2]
    elif sample.startswith("[pod/"):
        prefix = sample[: sample.index("]") + 2]
    for extra in lines[1:]:
        page.say(prefix + extra, key=key)


SYSTEM = kit.parse_catalogue(kit.catalogue_text("logs_system"))
SYSTEM_NORMAL = [
    ("systemd", "Started {svc}.service."),
    ("systemd", "Starting Daily apt activities..."),
    ("systemd", "{svc}.service: Deactivated successfully."),
    ("systemd", "Reached target Network is Online."),
    ("systemd", "Created slice User Slice of UID {nnnn}."),
    ("sshd", "Received disconnect from {ip} port {eport}:11: disconnected by user"),
    ("sshd", "pam_unix(sshd:session): session closed for user {user}"),
    ("CRON", "({user}) CMD (test -x /usr/sbin/anacron)"),
    ("CRON", "pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)"),
    ("CRON", "(root) CMD ({job} --quiet)"),
    ("kernel", 'audit: type=1400 audit(0.0:{nnn}): apparmor="STATUS"'),
    ("kernel", "TCP: request_sock_TCP: Possible SYN flooding on port {port}. Sending cookies."),
    ("kernel", "docker0: port {n}(veth{hex}) entered forwarding state"),
    ("chronyd", "Selected source {ip}"),
    ("dhclient", "bound to {ip} -- renewal in {nnnn} seconds."),
    ("systemd-logind", "New session {nnn} of user {user}."),
    ("systemd-logind", "Removed session {nnn}."),
    ("dockerd", 'level=info msg="ignoring event" container={hash}'),
    (
        "postfix/smtp",
        "{hash}: to=<{user}@corp.example>, relay=mail.corp.example[{ip}]:25, status=sent (250 ok)",
    ),
    ("NetworkManager", "<info>  device (eth{n}): state change: ip-config -> activated"),
    ("rsyslogd", "action 'action-1-builtin:omfwd' resumed"),
    ("dbus-daemon", "[system] Successfully activated service 'org.freedesktop.timedate1'"),
    ("snapd", "storehelpers.go:{nnn}: cannot refresh: no updates"),
]

POSTGRES = kit.parse_catalogue(kit.catalogue_text("logs_postgres"))
POSTGRES_NORMAL = [
    ("LOG", "connection received: host={ip} port={eport}"),
    ("LOG", "connection authorized: user=app database=app"),
    ("LOG", "disconnection: session time: 0:00:{nn}.{nnn} user=app database=app host={ip}"),
    ("LOG", "checkpoint starting: time"),
    ("LOG", "checkpoint complete: wrote {nnn} buffers (0.{n}%); 0 WAL file(s) added"),
    ("LOG", "duration: {n}.{nnn} ms  statement: SELECT * FROM {table} WHERE id = {nnnn}"),
    ("LOG", "duration: {n}.{nnn} ms  statement: COMMIT"),
    ("LOG", 'automatic analyze of table "app.public.{table}"'),
    ("LOG", "duration: {nn}.{nnn} ms  execute <unnamed>: INSERT INTO {table} VALUES ($1, $2)"),
]


def _nginx(rng: random.Random, index: int) -> Iterator[Record]:
    """An access log of a web server; the odd requests are told apart by what they mean."""
    clock = Clock(rng)
    pages = rng.sample(
        [
            "/",
            "/about",
            "/products/{nnn}",
            "/static/app.{hex}.js",
            "/static/site.css",
            "/img/{word}.webp",
            "/blog/{word}-{word2}",
            "/cart",
            "/search?q={word}",
            "/api/items?page={n}",
            "/favicon.ico",
            "/login",
            "/robots.txt",
            "/feed.xml",
        ],
        9,
    )
    agents = [
        "Mozilla/5.0 (X11; Linux x86_64) Firefox/126.0",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) Safari/605.1.15",
        "Mozilla/5.0 (Windows NT 10.0; Win64) Chrome/125.0 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5) Mobile/15E148",
    ]
    odd: list[tuple[str, str, list[str]]] = [
        (
            "injection",
            '{wan} - - [{at}] "GET /products?id=1%27%20OR%20%271%27=%271 HTTP/1.1" 400 154 "-" "sqlmap/1.8"',
            [
                "Who tried to smuggle database code into a parameter?",
                "an attack on the query layer",
                "Which visitor used an attack tool?",
            ],
        ),
        (
            "traversal",
            '{wan} - - [{at}] "GET /static/../../../../etc/passwd HTTP/1.1" 403 199 "-" "curl/8.5.0"',
            [
                "Who wanted a file from outside the web root?",
                "attempt to climb out of the folder",
                "a request for the system's account list",
            ],
        ),
        (
            "wp",
            '{wan} - - [{at}] "GET /wp-login.php HTTP/1.1" 404 162 "-" "{agent}"',
            ["Who is probing for a blog system that we do not run?", "a scanner looking for PHP"],
        ),
        (
            "env",
            '{wan} - - [{at}] "GET /.env HTTP/1.1" 404 162 "-" "Go-http-client/1.1"',
            [
                "Was anybody after the secrets of the deployment?",
                "a bot looking for configuration left lying about",
            ],
        ),
        (
            "bot",
            '66.249.66.{n} - - [{at}] "GET /sitemap.xml HTTP/1.1" 200 {nnnnn} "-" "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"',
            ["Did a search engine fetch the list of pages?", "visit of a crawler"],
        ),
        (
            "gateway",
            '{ip} - - [{at}] "POST /api/{word}/submit HTTP/1.1" 502 157 "https://shop.example/cart" "{agent}"',
            [
                "Which call failed because nobody was there behind the proxy?",
                "an application server that gave no proper answer",
            ],
        ),
        (
            "timeout",
            '{ip} - - [{at}] "GET /reports/{word}.pdf HTTP/1.1" 504 167 "-" "{agent}"',
            [
                "Which document took longer than the proxy was willing to wait?",
                "patience with the backend ran out",
            ],
        ),
        (
            "teapot",
            '{ip} - - [{at}] "POST /api/upload/{word} HTTP/1.1" 413 183 "-" "{agent}"',
            ["Which file was too big to be taken?", "someone sent more than the limit"],
        ),
        (
            "ratelimit",
            '{ip} - - [{at}] "GET /api/{word}/list?page={nnn} HTTP/1.1" 429 162 "-" "python-requests/2.31"',
            ["Which script was told to slow down?", "a client over its allowance"],
        ),
        (
            "redirect",
            '{ip} - - [{at}] "GET /old/{word} HTTP/1.1" 301 162 "https://forum.example/t/{nnn}" "{agent}"',
            ["Who came by an outdated link?", "a visitor sent on to a new address for good"],
        ),
        (
            "gone",
            '{ip} - - [{at}] "GET /promo/{word}-{nn} HTTP/1.1" 410 150 "https://mail.example/" "{agent}"',
            ["Which page was removed on purpose?", "a campaign that is over"],
        ),
        (
            "delete",
            '{ip} - {user} [{at}] "DELETE /api/articles/{nnn} HTTP/1.1" 204 0 "https://shop.example/admin" "{agent}"',
            ["Who removed something through the interface?", "a successful deletion by a signed-in person"],
        ),
        (
            "unauth",
            '{ip} - - [{at}] "GET /admin/{word} HTTP/1.1" 401 179 "-" "{agent}"',
            [
                "Who stood before the administration without credentials?",
                "not signed in, but wants the back office",
            ],
        ),
        (
            "crash",
            '{ip} - - [{at}] "GET /account/{word} HTTP/1.1" 500 1203 "https://shop.example/" "{agent}"',
            ["Which page broke on our side?", "an internal failure shown to a customer"],
        ),
        (
            "closed",
            '{ip} - - [{at}] "GET /export/{word}.csv HTTP/1.1" 499 0 "-" "{agent}"',
            ["Who gave up waiting?", "a visitor that hung up before the answer"],
        ),
        (
            "range",
            '{ip} - - [{at}] "GET /video/{word}.mp4 HTTP/1.1" 206 {big} "-" "{agent}"',
            ["Who is watching a film piece by piece?", "partial delivery of something large"],
        ),
        (
            "huge",
            '{ip} - - [{at}] "GET /dumps/{word}.tar.gz HTTP/1.1" 200 {big}12 "-" "Wget/1.21"',
            ["What was by far the largest download?", "someone fetched an archive of many megabytes"],
        ),
        (
            "method",
            '{ip} - - [{at}] "PUT /index.html HTTP/1.1" 405 559 "-" "{agent}"',
            [
                "Which kind of request is not permitted on its address?",
                "someone wanted to overwrite the start page",
            ],
        ),
        (
            "tls",
            '{wan} - - [{at}] "\\x16\\x03\\x01\\x02\\x00\\x01\\x00\\x01\\xFC\\x03\\x03" 400 157 "-" "-"',
            ["Who spoke an encrypted protocol to a plain port?", "garbage instead of a request line"],
        ),
        (
            "new",
            '{ip} - {user} [{at}] "POST /api/articles HTTP/1.1" 201 {nnn} "https://shop.example/admin" "{agent}"',
            ["Who created an entry?", "something new was published by a signed-in person"],
        ),
    ]
    chosen = rng.sample(odd, rng.randint(4, 8))
    near_groups = [
        {"injection", "traversal", "wp", "env", "tls", "method"},
        {"gateway", "timeout", "crash", "closed"},
        {"range", "huge"},
        {"delete", "new"},
        {"teapot", "ratelimit"},
        {"redirect", "gone"},
        {"unauth"},
        {"bot"},
    ]
    names = {o[0] for o in chosen}
    page, labels = Page(), []
    length = rng.randint(50, 260)
    places = sorted((rng.randrange(length), o) for o in chosen)
    for at in range(length):
        stamp = clock.tick().strftime("%d/%b/%Y:%H:%M:%S +0000")
        for where, (name, text, queries) in places:
            if where == at:
                slots = Slots(rng, kit.VOCABULARIES, {"at": stamp, "agent": rng.choice(agents)})
                page.say(slots.fill(text), key=name)
                labels.append(Label(kit.vary(rng, rng.choice(queries)), name, f"access_{name}"))
        slots = Slots(rng, kit.VOCABULARIES)
        page.say(
            f'{slots["ip"]} - - [{stamp}] "GET {slots.fill(rng.choice(pages))} HTTP/{rng.choice(["1.1", "2.0"])}" {rng.choice([200, 200, 200, 304])} {rng.randint(200, 40000)} "{rng.choice(["-", "https://shop.example/"])}" "{rng.choice(agents)}"'
        )
    rng.shuffle(labels)
    labels = labels[:6]
    free = [o for o in odd if o[0] not in names and not any(o[0] in g and g & names for g in near_groups)]
    if free and rng.random() < 0.6:
        absent = rng.choice(free)
        labels.append(Label(kit.vary(rng, rng.choice(absent[2])), None, f"access_absent_{absent[0]}"))
    yield from kit.records(
        page,
        labels,
        tool_type=rng.choice(["logs", "docker_logs"]),
        command=rng.choice(["tail -n 300 /var/log/nginx/access.log", "docker logs proxy", "cat access.log"]),
        family=NAME,
        project=f"web-{index % 40}",
        ident=f"access-{index}-{rng.getrandbits(32):08x}",
    )


def _system(rng: random.Random, index: int) -> Iterator[Record]:
    """A machine's journal: sshd, sudo, kernel, systemd and friends."""
    host = rng.choice(["argo", "basil", "cumin", "dill", "web-3", "ip-172-31-9-4", "raspi"])
    pids: dict[str, int] = {}
    iso = rng.random() < 0.4

    def layout(t: datetime, level: str, service: str, message: str) -> str:
        stamp = t.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00") if iso else t.strftime("%b %d %H:%M:%S")
        pid = (
            ""
            if level in ("kernel", "sudo")
            else f"[{1 if level == 'systemd' else pids.setdefault(level, rng.randint(400, 29000))}]"
        )
        return f"{stamp} {host} {level}{pid}: {message}"

    page, labels = story(
        rng,
        SYSTEM,
        SYSTEM_NORMAL,
        layout,
        Clock(rng),
        length=rng.randint(40, 260),
        incidents=rng.randint(4, 10),
        services=8,
    )
    yield from kit.records(
        page,
        labels,
        tool_type=rng.choice(["logs", "shell"]),
        command=rng.choice(
            [
                "journalctl -b --no-pager",
                "cat /var/log/syslog",
                "journalctl --since -2h",
                "tail -n 200 /var/log/messages",
            ]
        ),
        family=NAME,
        project=f"host-{index % 40}",
        ident=f"system-{index}-{rng.getrandbits(32):08x}",
    )


def _postgres(rng: random.Random, index: int) -> Iterator[Record]:
    pid = rng.randint(40, 900)
    style = rng.choice(["plain", "user", "docker"])

    def layout(t: datetime, level: str, service: str, message: str) -> str:
        stamp = t.strftime("%Y-%m-%d %H:%M:%S.") + f"{t.microsecond // 1000:03d} UTC"
        worker = pid + len(message) % 23
        if style == "user":
            return f"{stamp} [{worker}] app@app {level}:  {message}"
        prefix = "db-1  | " if style == "docker" else ""
        return f"{prefix}{stamp} [{worker}] {level}:  {message}"

    page, labels = story(
        rng,
        POSTGRES,
        POSTGRES_NORMAL,
        layout,
        Clock(rng),
        length=rng.randint(40, 220),
        incidents=rng.randint(4, 10),
        services=3,
    )
    yield from kit.records(
        page,
        labels,
        tool_type="docker_logs" if style == "docker" else rng.choice(["logs", "docker_logs"]),
        command="docker compose logs db"
        if style == "docker"
        else rng.choice(["tail -n 250 /var/log/postgresql/postgresql-15-main.log", "docker logs pg"]),
        family=NAME,
        project=f"pg-{index % 40}",
        ident=f"postgres-{index}-{rng.getrandbits(32):08x}",
    )


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of combined service logs; `observations`, the most outputs to make."""
    for index in range(int(options.get("observations", kit.MANY))):
        local = random.Random(rng.getrandbits(64))
        yield from local.choices(list(_MAKERS), weights=list(_MAKERS.values()))[0](local, index)


def _services(rng: random.Random, index: int) -> Iterator[Record]:
    name, layout = rng.choice(list(_layouts(rng).items()))
    tool_type = _FAMILY_OF.get(name, rng.choice(["logs", "logs", "docker_logs"]))
    length = int(rng.choice([rng.uniform(25, 70), rng.uniform(60, 160), rng.uniform(150, 330)]))
    page, labels = story(
        rng,
        APP,
        NORMAL,
        layout,
        Clock(rng),
        length=length,
        incidents=rng.randint(4, 10),
        services=rng.randint(5, 11),
        plain=PLAIN,
    )
    command = rng.choice(_COMMANDS[tool_type]).replace("{k}", str(len(page.lines)))
    yield from kit.records(
        page,
        labels,
        tool_type=tool_type,
        command=command,
        family=NAME,
        project=f"{rng.choice(['atlas', 'boreal', 'cobalt', 'dorado', 'ember', 'fathom'])}-{index % 40}",
        ident=f"logs-{index}-{rng.getrandbits(32):08x}",
    )


_MAKERS: dict[Callable[[random.Random, int], Iterator[Record]], float] = {
    _services: 5,
    _system: 2,
    _postgres: 2,
    _nginx: 1.5,
}
