"""Listings of containers and of a cluster."""

# ruff: noqa: E501  (wordings stay on one line)

from __future__ import annotations

import random

from linecls.data.families import _toolkit as kit
from linecls.data.families._listing_tools import (
    binary,
    some,
)
from linecls.data.families._tables import Row, Table, age, extreme, names, those


def containers(rng: random.Random) -> Table:
    """Containers, images or their use of resources."""
    rows: list[Row] = []
    for image, means in some(rng, "image", 12, 26):
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


def cluster(rng: random.Random) -> Table:
    """Objects of a cluster: pods, deployments, services, autoscalers, claims, cron jobs, ingresses, use of resources."""
    kind = rng.choice(["pods", "pods", "deploy", "svc", "hpa", "pvc", "top", "cronjob", "ingress"])
    rows: list[Row] = []
    for name, means in some(rng, "k8s", 16, 35):
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
