"""Logs whose lines are long: the decisive words stand behind times, ids and fields, or deep in a server's own format.

Services write the incidents of the family `logs` into structured lines of many fields; a mail server, a load balancer, a
search engine and a key-value store have catalogues of their own. In most logs one incident is loud: it comes many times
over and is seldom what is asked for. What a query asks for as a negative is of the same server and did not happen.
"""

# ruff: noqa: E501  (texts of tools stay on one line)

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families import logs
from linecls.data.families._documents import groups
from linecls.data.families._toolkit import Kind
from linecls.records import Record

NAME = "daemon_logs"


@dataclass(frozen=True)
class _Server:
    """A server's log: how it is read, what is usual in it, its incidents, and those that one query might mean."""

    name: str
    commands: list[tuple[str, str]]  # tool type, command
    normal: list[tuple[str, str]]
    kinds: list[Kind]
    alike: list[set[str]]
    layout: Callable[[random.Random], logs.Layout]


def _id(rng: random.Random, digits: int) -> str:
    return f"{rng.getrandbits(4 * digits):0{digits}x}"


def _iso(t: datetime) -> str:
    return t.strftime("%Y-%m-%dT%H:%M:%S.") + f"{t.microsecond // 1000:03d}Z"


def _exim(rng: random.Random) -> logs.Layout:
    pid = f" [{rng.randint(300, 30000)}]" if rng.random() < 0.4 else ""
    return lambda t, lv, s, m: f"{t:%Y-%m-%d %H:%M:%S}{pid} {m}"


def _haproxy(rng: random.Random) -> logs.Layout:
    start = f"{rng.choice(['lb-1', 'edge', 'gate-a'])} haproxy[{rng.randint(300, 30000)}]: "

    def layout(t: datetime, level: str, service: str, message: str) -> str:
        accepted = f"[{t:%d/%b/%Y:%H:%M:%S}.{t.microsecond // 1000:03d}]"
        return f"{t:%b %d %H:%M:%S} {start}{message.replace('[@]', accepted)}"

    return layout


def _search(rng: random.Random) -> logs.Layout:
    host, cluster, node = f"search-{rng.randint(0, 5)}", _id(rng, 12), _id(rng, 12)

    def plain(t: datetime, level: str, service: str, message: str) -> str:
        severity, logger = level.split()
        stamp = _iso(t).rstrip("Z").replace(".", ",")
        return f"[{stamp}][{severity:<5}][{logger:<25}] [{host}] {message}"

    def structured(t: datetime, level: str, service: str, message: str) -> str:
        severity, logger = level.split()
        fields = {
            "@timestamp": _iso(t), "log.level": severity, "ecs.version": "1.2.0", "service.name": "ES_ECS",
            "event.dataset": "elasticsearch.server", "process.thread.name": f"elasticsearch[{host}][generic][T#{rng.randint(1, 9)}]",
            "log.logger": logger, "elasticsearch.cluster.uuid": cluster, "elasticsearch.node.id": node, "message": message,
        }  # fmt: skip
        return json.dumps(fields)

    return rng.choice([plain, structured])


def _store(rng: random.Random) -> logs.Layout:
    def layout(t: datetime, level: str, service: str, message: str) -> str:
        severity, caller = level.split()
        return f'{{"level":"{severity}","ts":"{_iso(t)}","caller":"{caller}",{message}}}'

    return layout


def _service(rng: random.Random) -> logs.Layout:
    """One of the structured layouts of services, with ids that change from line to line."""
    region, version = (
        rng.choice(["eu-central-1", "us-east-2", "ap-south-1"]),
        f"{rng.randint(1, 9)}.{rng.randint(0, 30)}.{rng.randint(0, 9)}",
    )
    node = f"ip-10-0-{rng.randint(0, 63)}-{rng.randint(2, 250)}.{region}.compute.internal"

    def ecs(t: datetime, level: str, service: str, message: str) -> str:
        return json.dumps({
            "@timestamp": _iso(t), "log": {"level": level.lower(), "origin": {"file": {"name": f"{service}/handler.go", "line": rng.randint(20, 400)}}},
            "service": {"name": service, "version": version, "node": {"name": node}}, "trace": {"id": _id(rng, 32)},
            "span": {"id": _id(rng, 16)}, "message": message,
        })  # fmt: skip

    def cloud(t: datetime, level: str, service: str, message: str) -> str:
        labels = {"k8s-pod/app": service, "k8s-pod/pod-template-hash": _id(rng, 10), "compute.resource_name": node}
        return json.dumps({
            "insertId": _id(rng, 16), "labels": labels, "logName": f"projects/shop/logs/{service}", "severity": level,
            "jsonPayload": {"message": message, "caller": f"server.go:{rng.randint(20, 400)}"}, "timestamp": _iso(t),
        }, separators=(",", ":"))  # fmt: skip

    def pairs(t: datetime, level: str, service: str, message: str) -> str:
        return (
            f"time={_iso(t)} level={level.lower()} caller={service.replace('-', '_')}/run.go:{rng.randint(20, 400)} trace_id={_id(rng, 32)} "
            f"span_id={_id(rng, 16)} tenant={rng.randint(100, 999)} region={region} component={service} msg={json.dumps(message)} build={version}"
        )

    def spring(t: datetime, level: str, service: str, message: str) -> str:
        logger = (
            ".".join(part[0] for part in ("org", "shop", "core", service))
            + f".{service.title().replace('-', '')}Worker"
        )
        return f"{_iso(t)} {level:>5} 7 --- [{service},{_id(rng, 32)},{_id(rng, 16)}] [http-nio-8080-exec-{rng.randint(1, 30)}] {logger:<40} : {message}"

    def runtime(t: datetime, level: str, service: str, message: str) -> str:
        inner = {
            "time": _iso(t),
            "id": _id(rng, 32),
            "host": node,
            "level": level,
            "logger": service,
            "msg": message,
            "v": version,
        }
        return f"{_iso(t)[:-1]}{rng.randint(100000, 999999)}Z stdout F {json.dumps(inner)}"

    return rng.choice([ecs, cloud, pairs, spring, runtime])


_SERVERS = [
    _Server(
        "exim",
        [("logs", "tail -n 300 /var/log/exim4/mainlog"), ("docker_logs", "docker logs mail"), ("logs", "cat mainlog")],
        [
            ("<=", "{hash} <= {user}@office.example H={host}.lan [{ip}] P=esmtpsa X=TLS1.3:TLS_AES_256_GCM_SHA384:256 CV=no A=login:{user} S={nnnn} id={hash}@office.example"),
            ("=>", "{hash} => {user}@{peer} R=dnslookup T=remote_smtp S={nnnn} H=mx1.{peer} [{wan}] X=TLS1.3:TLS_AES_256_GCM_SHA384:256 CV=yes C=\"250 2.0.0 OK {hex}\" QT={n}s DT={n2}s"),
            ("=>", "{hash} => {user} <{user}@office.example> R=local_users T=maildir_home S={nnnn}"),
            ("Completed", "{hash} Completed QT={n}s"),
            ("no", "no host name found for IP address {wan}"),
            ("start", "Start queue run: pid={pid}"),
            ("end", "End queue run: pid={pid}"),
            ("lost", "unexpected disconnection while reading SMTP command from [{wan}] D={n}s"),
        ],
        kit.parse_catalogue(kit.catalogue_text("daemons_exim")),
        groups("unreachable gave_up\nmalware junk\nloop gave_up\ngreylist unreachable\nblocklisted no_reverse junk"),
        _exim,
    ),
    _Server(
        "haproxy",
        [("logs", "journalctl -u haproxy --no-pager"), ("docker_logs", "docker logs lb --tail 300"), ("logs", "tail -n 250 /var/log/haproxy.log")],
        [
            ("http", '{ip}:{eport} [@] front~ {svc}/{host} 0/0/{n}/{nn}/{nnn} 200 {nnnn} - - ---- {nn}/{nn2}/{n}/{n2}/0 0/0 "GET {endpoint} HTTP/1.1"'),
            ("http", '{ip}:{eport} [@] front~ {svc}/{host} 0/0/{n}/{nn}/{nnn} 201 {nnn} - - --VN {nn}/{nn2}/{n}/{n2}/0 0/0 "POST {endpoint} HTTP/2.0"'),
            ("http", '{ip}:{eport} [@] front~ {svc}/{host} 0/0/{n}/{nn}/{nnn} 304 {nnn} - - ---- {nn}/{nn2}/{n}/{n2}/0 0/0 "GET /static/{word}.js HTTP/2.0"'),
            ("http", '{ip}:{eport} [@] front~ {svc}/{host} 0/0/{n}/{nn}/{nnn} 404 {nnn} - - ---- {nn}/{nn2}/{n}/{n2}/0 0/0 "GET /{word} HTTP/1.1"'),
            ("http", "{ip}:{eport} [@] stats stats/<STATS> 0/0/0/0/0 200 {nnnn} - - LR-- {nn}/1/0/0/0 0/0 \"GET /metrics HTTP/1.1\""),
        ],
        kit.parse_catalogue(kit.catalogue_text("daemons_haproxy")),
        groups("garbage slow_sender\nserver_slow queue_full broke_off\nno_server refused down"),
        _haproxy,
    ),
    _Server(
        "search",
        [("docker_logs", "docker logs search-0 --since 2h"), ("logs", "tail -n 300 /var/log/search/cluster_server.json"), ("kubectl", "kubectl -n search logs search-0 --tail=300")],
        [
            ("INFO o.e.c.m.MetadataMappingService", "[{table}/{hash}] update_mapping [_doc]"),
            ("INFO o.e.c.m.MetadataCreateIndexService", "[{table}-2026.0{n}.{nn}] creating index, cause [auto(bulk api)], templates [{word}], shards [1]/[1]"),
            ("INFO o.e.i.s.IndexShard", "[{table}][{n}] primary-replica resync completed with {n2} operations"),
            ("INFO o.e.c.r.a.AllocationService", "current.health=\"GREEN\" message=\"Cluster health status changed from [YELLOW] to [GREEN] (reason: [shards started [[{table}][{n}]]]).\""),
            ("INFO o.e.x.i.IndexLifecycleTransition", "moving index [{table}-2026.0{n}] from [{word}] to the next step in policy [{word2}]"),
            ("DEBUG o.e.a.s.TransportSearchAction", "[{table}][{n}] query took {nnn} ms on node {hash}"),
            ("INFO o.e.m.j.JvmGcMonitorService", "[gc][{nnnnn}] overhead, spent [{nnn}ms] collecting in the last [{n}.{n2}s]"),
        ],
        kit.parse_catalogue(kit.catalogue_text("daemons_search")),
        groups("watermark flood\nbreaker gc rejected\ntls auth\nslowlog rejected"),
        _search,
    ),
    _Server(
        "store",
        [("docker_logs", "docker logs etcd-1"), ("kubectl", "kubectl -n kube-system logs etcd-master-0"), ("logs", "journalctl -u etcd -o cat --no-pager")],
        [
            ("info mvcc/index.go:214", '"msg":"compact tree index","revision":{big}'),
            ("info etcdserver/server.go:2511", '"msg":"triggering snapshot","local-member-id":"{hash}","local-member-applied-index":{big},"local-member-snapshot-count":100000'),
            ("info etcdserver/server.go:2545", '"msg":"saved snapshot","snapshot-index":{big}'),
            ("info fileutil/purge.go:77", '"msg":"purged","path":"/var/lib/store/member/snap/{hash}.snap"'),
            ("info etcdhttp/metrics.go:145", '"msg":"/health OK (status code 200)","remote":"{ip}:{eport}"'),
            ("info traceutil/trace.go:171", '"msg":"trace[{nnnnn}] range","detail":"{range_begin:/registry/{word}/{word2}; response_count:1; response_revision:{big}; }","duration":"{nnn}.{nn}ms","steps":["trace[{nnnnn}] \'agreement among raft nodes before linearized reading\' (duration: {nn}.{n}ms)"],"step_count":1'),
            ("info wal/wal.go:742", '"msg":"created a new WAL segment","path":"/var/lib/store/member/wal/{hash}.wal"'),
        ],
        kit.parse_catalogue(kit.catalogue_text("daemons_store")),
        groups("lost_leader new_leader\nslow_disk overload slow_apply\nremoved snapshot\nbad_cert expired_cert auth"),
        _store,
    ),
]  # fmt: skip


def _of_server(rng: random.Random, index: int) -> Iterator[Record]:
    server = rng.choice(_SERVERS)
    page, labels = logs.story(
        rng, server.kinds, server.normal, server.layout(rng), logs.Clock(rng),
        length=rng.randint(40, 240), incidents=rng.randint(4, 8), services=6, alike=server.alike, loud=rng.choice([0, 1, 1, 2]),
    )  # fmt: skip
    tool, command = rng.choice(server.commands)
    yield from kit.records(
        page, labels, tool_type=tool, command=command, family=NAME, project=f"{server.name}-{index % 40}",
        ident=f"{server.name}-{index}-{rng.getrandbits(32):08x}",
    )  # fmt: skip


def _of_services(rng: random.Random, index: int) -> Iterator[Record]:
    page, labels = logs.story(
        rng, logs.APP, logs.NORMAL, _service(rng), logs.Clock(rng), plain=logs.PLAIN,
        length=rng.randint(30, 200), incidents=rng.randint(4, 9), services=rng.randint(4, 9), loud=rng.choice([0, 1, 1, 2]),
    )  # fmt: skip
    tool, command = rng.choice([
        ("logs", "tail -n 200 /var/log/containers/app.log"), ("docker_logs", "docker compose logs --no-log-prefix --tail 250"),
        ("docker_logs", "docker logs app --since 1h"), ("kubectl", "kubectl -n prod logs deploy/app --tail=250"),
    ])  # fmt: skip
    yield from kit.records(
        page, labels, tool_type=tool, command=command, family=NAME, project=f"structured-{index % 40}",
        ident=f"structured-{index}-{rng.getrandbits(32):08x}",
    )  # fmt: skip


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of long-lined logs; `observations`, the most outputs to make."""
    for index in range(int(options.get("observations", kit.MANY))):
        local = random.Random(rng.getrandbits(64))
        yield from (_of_services if local.random() < 0.45 else _of_server)(local, index)
