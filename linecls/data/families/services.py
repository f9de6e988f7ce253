"""Tables, documents and long command outputs of services: clusters, containers, infrastructure, hosts, databases.

Three engines carry the catalogues: tables whose odd rows are asked for, documents made of blocks (image
builds, plans, CI jobs), and settings rendered as YAML, JSON, TOML, INI or environment.
"""

# ruff: noqa: E501  (texts of tools and queries stay on one line)

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._documents import Paper, Sheet, blocks, groups, paper, sheet
from linecls.data.families._toolkit import Label, Page, Slots
from linecls.records import Record

NAME = "services"


_WHO = {
    "pods": (
        "On which machine does {svc_p} run?",
        "Is {svc_p} up and ready?",
        "How long has {svc_p} existed?",
        "whereabouts of {svc_p}",
    ),
    "events": ("What happened to {svc_p} lately?", "latest news of {svc_p}"),
    "ps": (
        "How much memory does {svc_p} take?",
        "Since when has {svc_p} been at work?",
        "the process of {svc_p}",
    ),
    "df": ("How full is the volume of {word}?", "room left for {word}"),
    "units": ("Is {svc_p} running under systemd?", "state of {svc_p}"),
    "sockets": ("Which port does {svc_p} hold?", "network use of {svc_p}"),
    "images": ("Which release of {svc_p} is deployed?", "For how long has {svc_p} been up?"),
    "pvc": ("How big is the disk of {svc_p}?", "storage of {svc_p}"),
    "query": ("Who is reading {table_p} at the moment?", "a look into {table_p}"),
}

SHEETS = [
    Sheet(
        "pods",
        "kubectl",
        ["kubectl get pods -A -o wide", "kubectl get po --all-namespaces -o wide"],
        "NAMESPACE ; NAME ; READY ; STATUS ; RESTARTS ; AGE ; IP ; NODE",
        [
            "prod ; {svc}-{rs}-{suffix} ; 1/1 ; Running ; 0 ; {nn}d ; {ip} ; node-{n}",
            "staging ; {svc}-{rs}-{suffix} ; 2/2 ; Running ; 0 ; {nn}h ; {ip} ; node-{n}",
            "kube-system ; coredns-{rs}-{suffix} ; 1/1 ; Running ; 0 ; {nn}d ; {ip} ; node-{n}",
            "batch ; {word}-job-{suffix} ; 0/1 ; Completed ; 0 ; {n}d ; {ip} ; node-{n}",
            "prod ; {svc}-{n} ; 1/1 ; Running ; {n} ({nn}d ago) ; {nnn}d ; {ip} ; node-{n}",
        ],
        kit.parse_catalogue(kit.catalogue_text("services_pods")),
        groups(
            "crash oom err partial config init creating\npull config creating\npending creating init\nevicted term unknown oom"
        ),
    ),
    Sheet(
        "nodes",
        "kubectl",
        ["kubectl get nodes -o wide", "kubectl get no"],
        "NAME ; STATUS ; ROLES ; AGE ; VERSION ; INTERNAL-IP ; OS-IMAGE ; KERNEL-VERSION",
        [
            "node-{nnn} ; Ready ; <none> ; {nnn}d ; v1.29.4 ; {ip} ; Ubuntu 22.04.4 LTS ; 5.15.0-105",
            "pool-a-{suffix} ; Ready ; worker ; {nn}d ; v1.29.4 ; {ip} ; Debian GNU/Linux 12 ; 6.1.0-21",
        ],
        kit.parse_catalogue(kit.catalogue_text("services_nodes")),
        groups("notready cordon"),
    ),
    Sheet(
        "events",
        "kubectl",
        ["kubectl get events -A --sort-by=.lastTimestamp", "kubectl get events -n prod"],
        "LAST SEEN ; TYPE ; REASON ; OBJECT ; MESSAGE",
        [
            '{nn}s ; Normal ; Pulled ; pod/{svc}-{rs}-{suffix} ; Container image "registry.example/{svc}:{ver}" already present on machine',
            "{n}m ; Normal ; Created ; pod/{svc}-{rs}-{suffix} ; Created container {word}",
            "{n}m ; Normal ; Started ; pod/{svc}-{rs}-{suffix} ; Started container {word}",
            "{nn}m ; Normal ; Scheduled ; pod/{svc}-{rs}-{suffix} ; Successfully assigned prod/{svc}-{rs}-{suffix} to node-{n}",
            "{nn}m ; Normal ; SuccessfulCreate ; replicaset/{svc}-{rs} ; Created pod: {svc}-{rs}-{suffix}",
            "{nn}m ; Normal ; ScalingReplicaSet ; deployment/{svc} ; Scaled up replica set {svc}-{rs} to {n}",
            "{nn}m ; Normal ; Completed ; job/{word}-{nnnnn} ; Job completed",
        ],
        kit.parse_catalogue(kit.catalogue_text("services_events")),
        groups("unhealthy backoff\nsched quota preempt\nimage mount pvc\nhpa hpafail\nevict preempt"),
    ),
    Sheet(
        "ps",
        "shell",
        ["ps aux", "ps aux --sort=-%mem", "ps -ef | head -200"],
        "USER ; PID ; %CPU ; %MEM ; VSZ ; RSS ; TTY ; STAT ; START ; TIME ; COMMAND",
        [
            "root ; {pid} ; 0.0 ; 0.1 ; {nnnnn} ; {nnnn} ; ? ; Ss ; 0{n}:{mm} ; 0:0{n} ; /usr/sbin/{word}d --foreground",
            "www-data ; {pid} ; 0.{n} ; 0.{n} ; {nnnnn} ; {nnnn} ; ? ; S ; 0{n}:{mm} ; 0:{mm} ; nginx: worker process",
            "app ; {pid} ; 1.{n} ; 2.{n} ; {nnnnn} ; {nnnnn} ; ? ; Sl ; 0{n}:{mm} ; 1:{mm} ; /opt/{svc}/bin/{svc} --port {port}",
            "root ; {pid} ; 0.0 ; 0.0 ; 0 ; 0 ; ? ; I< ; 0{n}:{mm} ; 0:00 ; [kworker/{n}:{n2}-events]",
            "{user} ; {pid} ; 0.0 ; 0.{n} ; {nnnn} ; {nnnn2} ; pts/{n} ; Ss ; 0{n}:{mm} ; 0:00 ; -bash",
            "postgres ; {pid} ; 0.{n} ; 0.{n} ; {nnnnn} ; {nnnnn} ; ? ; Ss ; 0{n}:{mm} ; 0:{mm} ; postgres: app app {ip}({eport}) idle",
        ],
        kit.parse_catalogue(kit.catalogue_text("services_ps")),
        groups("cpu miner\nmem cpu\nstopped debug screen\nbackup migr disk\nssh screen"),
        2,
    ),
    Sheet(
        "df",
        "shell",
        ["df -h", "df -hT", "df -h && mount | tail"],
        "Filesystem ; Type ; Size ; Used ; Avail ; Use% ; Mounted on",
        [
            "tmpfs ; tmpfs ; {gib}G ; {n}.{n2}M ; {gib}G ; 1% ; /run/user/{nnnn}",
            "overlay ; overlay ; {nnn}G ; {nn}G ; {nn2}G ; {pct}% ; /var/lib/docker/overlay2/{hash}/merged",
            "/dev/loop{nn} ; squashfs ; {nnn}M ; {nn}M ; {nn2}M ; {pct}% ; /snap/{word}/{nnnn}",
            "/dev/mapper/vg-{word} ; ext4 ; {nnn}G ; {nn}G ; {nn2}G ; {pct}% ; /srv/{word}",
        ],
        kit.parse_catalogue(kit.catalogue_text("services_df")),
        groups("full near ro\nnfs fuse\nusb ro\nboot"),
        2,
    ),
    Sheet(
        "units",
        "shell",
        ["systemctl list-units --all --no-pager", "systemctl --no-pager"],
        "  UNIT ; LOAD ; ACTIVE ; SUB ; DESCRIPTION",
        [
            "  {svc}.service ; loaded ; active ; running ; {word} daemon",
            "  dev-{word}.device ; loaded ; active ; plugged ; {word} disk",
            "  {word}.timer ; loaded ; active ; waiting ; Daily {word} clean-up",
            "  {word}.socket ; loaded ; active ; listening ; {word} activation socket",
            "  srv-{word}.mount ; loaded ; active ; mounted ; /srv/{word}",
            "  {word}-setup.service ; loaded ; inactive ; dead ; One-time setup of {word}",
        ],
        kit.parse_catalogue(kit.catalogue_text("services_units")),
        groups("failed activating failedmount\nnotfound masked\nexited elapsed"),
        1,
    ),
    Sheet(
        "sockets",
        "shell",
        ["ss -tulpn", "ss -tanp", "netstat -tulpn"],
        "Netid ; State ; Recv-Q ; Send-Q ; Local Address:Port ; Peer Address:Port ; Process",
        [
            'tcp ; ESTAB ; 0 ; 0 ; {ip}:{eport} ; {ip2}:443 ; users:(("{svc}",pid={pid},fd={nn}))',
            'tcp ; LISTEN ; 0 ; 128 ; 127.0.0.1:{eport} ; 0.0.0.0:* ; users:(("{svc}",pid={pid},fd={n}))',
            "tcp ; TIME-WAIT ; 0 ; 0 ; {ip}:{eport} ; {ip2}:8080 ; ",
            'udp ; UNCONN ; 0 ; 0 ; 127.0.0.53%lo:{eport} ; 0.0.0.0:* ; users:(("systemd-resolve",pid={pid},fd=13))',
        ],
        kit.parse_catalogue(kit.catalogue_text("services_sockets")),
        groups("open_db redis dns\nclosewait syn sendq backlog\ntelnet irc"),
    ),
    Sheet(
        "images",
        "shell",
        ["docker ps -a", "docker container ls --all"],
        "CONTAINER ID ; IMAGE ; COMMAND ; CREATED ; STATUS ; PORTS ; NAMES",
        [
            '{hash} ; registry.example/{svc}:{ver} ; "/entrypoint.sh" ; {nn} days ago ; Up {n} days ; {eport}/tcp ; {svc}-1',
            '{hash} ; {word}:latest ; "docker-entrypoint…" ; {n} weeks ago ; Up {nn} hours ; ; {word}_{n}',
            '{hash} ; busybox ; "sh" ; {n} months ago ; Exited (0) {n} months ago ; ; {word}_{word2}',
        ],
        kit.parse_catalogue(kit.catalogue_text("services_images")),
        groups("killed exit1 segv restarting\nunhealthy starting paused created"),
    ),
    Sheet(
        "pvc",
        "kubectl",
        ["kubectl get pvc -A", "kubectl get pvc,pv"],
        "NAMESPACE ; NAME ; STATUS ; VOLUME ; CAPACITY ; ACCESS MODES ; STORAGECLASS ; AGE",
        ["prod ; data-{svc}-{n} ; Bound ; pvc-{uuid} ; {gib}Gi ; RWO ; standard ; {nn}d"],
        kit.parse_catalogue(kit.catalogue_text("services_pvc")),
        groups("pending lost term\nshared rox"),
    ),
    Sheet(
        "query",
        "sql",
        ['psql app -c "table pg_stat_activity"', "psql -d app -f activity.sql"],
        " pid ; usename ; state ; wait_event ; age ; query",
        [
            " {pid} ; app ; idle ; ClientRead ; 00:00:{mm} ; COMMIT",
            " {pid} ; app ; active ; ; 00:00:00.{nnn} ; SELECT * FROM {table} WHERE id = {nnnn}",
            " {pid} ; app ; idle ; ClientRead ; 00:0{n}:{mm} ; SELECT 1",
            " {pid} ; report ; active ; DataFileRead ; 00:00:0{n} ; SELECT count(*) FROM {table}",
        ],
        kit.parse_catalogue(kit.catalogue_text("services_query")),
        groups("idle_tx aborted\nlock tuple index bulk\nlong vacuum"),
        2,
    ),
    Sheet(
        "routes",
        "shell",
        ["ip route show table all", "ip -br route; ip rule", "ip route"],
        "Destination ; via ; dev ; proto ; metric",
        [
            "10.{nn}.{nn2}.0/24 ; via 10.0.0.{n} ; eth{n} ; bgp ; {nnn}",
            "172.{nn}.{nn2}.0/20 ; via 10.0.0.{n} ; wg{n} ; static ; {nn}",
            "{ip}/32 ; - ; cali{hex} ; kernel ; 0",
        ],
        kit.parse_catalogue(kit.catalogue_text("services_routes")),
        groups("default default2\nblackhole unreachable"),
        2,
    ),
]


def _step(rng: random.Random, step: int, line: int) -> str:
    return f"#{step} {step * 0.37 + line * 0.21:.2f} "


PAPERS = [
    Paper(
        "dockerbuild",
        "docker_build",
        [
            "docker build --progress=plain -t app .",
            "docker buildx build --progress=plain .",
            "docker compose build --progress=plain",
        ],
        blocks(kit.catalogue_text("services_dockerbuild_usual")),
        kit.parse_catalogue(kit.catalogue_text("services_dockerbuild")),
        groups(
            "apt404 missingcmd nativefail pipno\nlegacy hadolint tz rootpip platform\nnpmaudit npmeresolve engine pipno\nexit137 disk\ngpg pullden hashmis\ntestfail rust nativefail"
        ),
        [
            '#0 building with "default" instance using docker driver',
            "#1 [internal] load build definition from Dockerfile",
            "#1 DONE 0.0s",
        ],
        [],
        False,
        _step,
    ),
    Paper(
        "plan",
        "terraform",
        ["terraform plan -no-color", "terraform plan -no-color -input=false", "tofu plan -no-color"],
        blocks(kit.catalogue_text("services_plan_usual")),
        kit.parse_catalogue(kit.catalogue_text("services_plan")),
        groups(
            "dbreplace destroy encrypt cert\nopen public admin\nscale type\nbackup protect\nmoved drift\ndeprec undef creds"
        ),
        [
            "aws_instance.{word}: Refreshing state... [id=i-{hash}]",
            "aws_s3_bucket.{word2}: Refreshing state... [id=assets-{word2}]",
            "",
            "Terraform used the selected providers to generate the following execution plan.",
            "Resource actions are indicated with the following symbols:",
            "  + create",
            "  ~ update in-place",
            "  - destroy",
            "",
            "Terraform will perform the following actions:",
            "",
        ],
        ["Plan: {nn} to add, {n} to change, {n2} to destroy."],
        True,
    ),
]


@dataclass
class _Setting:
    key: str
    value: str
    queries: list[str]


def _settings(text: str) -> dict[str, list[_Setting]]:
    found: dict[str, list[_Setting]] = {}
    section = ""
    for line in text.strip().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            found[section] = []
            continue
        left, _, right = line.partition(" ? ")
        key, _, value = left.partition(" = ")
        found[section].append(
            _Setting(key.strip(), value.strip(), [q.strip() for q in right.split(" | ") if q.strip()])
        )
    return found


SETTINGS = _settings(kit.catalogue_text("services_settings"))


def _scalar(value: str) -> object:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.isdigit() else value


def settings(rng: random.Random, index: int) -> Iterator[Record]:
    """A configuration in one of several notations; some settings are asked for."""
    names = rng.sample(list(SETTINGS), rng.randint(6, len(SETTINGS)))
    form = rng.choice(["yaml", "json", "toml", "ini", "env", "values", "curl"])
    page, placed = Page(), []
    owner = rng.choice(["app", "service", rng.choice(kit.VOCABULARIES["svc"])[0]])
    missing: list[_Setting] = [s for n in SETTINGS if n not in names for s in SETTINGS[n]]
    if form in ("json", "curl"):
        page.say("{")
    elif form == "values":
        page.say(f"# settings of {owner}", f"{owner}:")
    for position, name in enumerate(names):
        chosen = rng.sample(SETTINGS[name], rng.randint(max(2, len(SETTINGS[name]) - 2), len(SETTINGS[name])))
        missing += [s for s in SETTINGS[name] if s not in chosen]
        if form == "yaml":
            page.say(f"{name}:")
        elif form == "values":
            page.say(f"  {name}:")
        elif form in ("toml", "ini"):
            page.say(f"[{name}]")
        elif form in ("json", "curl"):
            page.say(f'  "{name}": ' + "{")
        elif form == "env":
            page.say(f"# {name}")
        for number, setting in enumerate(chosen):
            value = Slots(rng, kit.VOCABULARIES).fill(setting.value)
            key = f"{name}.{setting.key}"
            last = number + 1 == len(chosen)
            if form in ("yaml", "values"):
                indent = "  " if form == "yaml" else "    "
                quoted = f'"{value}"' if any(c in value for c in "#:,%") else value
                if "," in value and rng.random() < 0.7:
                    page.say(
                        f"{indent}{setting.key}:",
                        *(f"{indent}  - {part}" for part in value.split(",")),
                        key=key,
                    )
                else:
                    page.say(f"{indent}{setting.key}: {quoted}", key=key)
            elif form in ("json", "curl"):
                if "," in value and rng.random() < 0.7:
                    parts = value.split(",")
                    page.say(
                        f'    "{setting.key}": [',
                        *(f"      {json.dumps(p)}" + ("," if i + 1 < len(parts) else "") for i, p in enumerate(parts)),
                        "    ]" + ("" if last else ","),
                        key=key,
                    )
                else:
                    page.say(f'    "{setting.key}": {json.dumps(_scalar(value))}' + ("" if last else ","), key=key)
            elif form == "toml":
                page.say(f"{setting.key} = {json.dumps(_scalar(value))}", key=key)
            elif form == "ini":
                if rng.random() < 0.15:
                    page.say(f"; {setting.key.replace('_', ' ')} was {rng.randint(1, 90)} before")
                page.say(f"{setting.key} = {value}", key=key)
            else:
                page.say(f"{name.upper()}_{setting.key.upper()}={value}", key=key)
            placed.append((key, setting))
        if form in ("json", "curl"):
            page.say("  }" + ("" if position + 1 == len(names) else ","))
        elif form != "values":
            page.say("")
    if form in ("json", "curl"):
        page.say("}")
    labels = [
        Label(kit.vary(rng, rng.choice(s.queries)), key, f"setting_{key}", cuttable=True)
        for key, s in rng.sample(placed, min(5, len(placed)))
    ]
    if missing and rng.random() < 0.75:
        labels.append(Label(kit.vary(rng, rng.choice(rng.choice(missing).queries)), None, "setting_absent"))
    ending = {
        "yaml": "config.yaml",
        "json": "settings.json",
        "toml": "config.toml",
        "ini": f"{owner}.ini",
        "env": ".env",
        "values": "values.yaml",
    }
    command = (
        f"curl -s http://127.0.0.1:{rng.randint(7000, 9900)}/debug/config | jq ."
        if form == "curl"
        else f"cat {ending[form]}"
    )
    yield from kit.records(
        page,
        labels,
        tool_type="curl"
        if form == "curl"
        else rng.choice(["config", "config", "json"])
        if form == "json"
        else "config",
        command=command,
        family=NAME,
        project=f"conf-{index % 30}",
        ident=f"config-{index}-{rng.getrandbits(32):08x}",
    )


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tables, documents and settings; `observations`, the most outputs to make."""
    for index in range(int(options.get("observations", kit.MANY))):
        local = random.Random(rng.getrandbits(64))
        roll = local.random()
        if roll < 0.5:
            spec = local.choice(SHEETS)
            yield from sheet(local, replace(spec, who=_WHO.get(spec.name, ())), index, NAME)
        elif roll < 0.8:
            yield from paper(local, local.choice(PAPERS), index, NAME)
        else:
            yield from settings(local, index)
