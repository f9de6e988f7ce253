"""Tables, documents and long command outputs of services: clusters, containers, infrastructure, hosts, databases.

Three engines carry the catalogues: tables whose odd rows are asked for, documents made of blocks (image
builds, plans, CI jobs), and settings rendered as YAML, JSON, TOML, INI or environment.
"""

# ruff: noqa: E501
from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._documents import Paper, Sheet, blocks, groups, paper, sheet
from linecls.data.families._toolkit import Label, Page, Slots
from linecls.records import Record

NAME = "services"


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
        kit.parse_catalogue("""
= crash X
> prod ; {svc}-{rs}-{suffix} ; 0/1 ; CrashLoopBackOff ; {nn} ({n}m ago) ; {n}h ; {ip} ; node-{n}
? Which workload starts and dies again and again?
? restarting endlessly: who?
? Is the {svc_p} staying up?
= pull X
> prod ; {svc}-{rs}-{suffix} ; 0/1 ; ImagePullBackOff ; 0 ; {nn}m ; {ip} ; node-{n}
> staging ; {svc}-{rs}-{suffix} ; 0/1 ; ErrImagePull ; 0 ; {nn}s ; {ip} ; node-{n}
? What cannot start because its container could not be fetched?
? Did {svc_p} get its image from the registry?
= pending X
> prod ; {svc}-{rs}-{suffix} ; 0/1 ; Pending ; 0 ; {nn}h ; <none> ; <none>
? What has found no place to run?
? waiting for a machine: which one?
? Has {svc_p} been scheduled anywhere?
= evicted X
> prod ; {svc}-{rs}-{suffix} ; 0/1 ; Evicted ; 0 ; {nn}h ; <none> ; node-{n}
? What was thrown off its machine?
? removed under resource pressure
= oom X
> prod ; {svc}-{rs}-{suffix} ; 0/1 ; OOMKilled ; {n} (1m ago) ; {n}d ; {ip} ; node-{n}
? Which one exceeded its memory?
? too hungry for its limit
= term X
> staging ; {svc}-{rs}-{suffix} ; 1/1 ; Terminating ; 0 ; {nn}d ; {ip} ; node-{n}
? What is on its way out but not gone yet?
? stuck while being deleted
= creating X
> prod ; {svc}-{rs}-{suffix} ; 0/2 ; ContainerCreating ; 0 ; {nn}m ; <none> ; node-{n}
? What is still being put together?
? not begun: its containers are only being prepared
= config X
> prod ; {svc}-{rs}-{suffix} ; 0/1 ; CreateContainerConfigError ; 0 ; {nn}m ; {ip} ; node-{n}
? Which one refers to settings or secrets that do not exist?
? a container that cannot be built from its specification
= partial X
> prod ; {svc}-{rs}-{suffix} ; 1/3 ; Running ; 0 ; {nn}h ; {ip} ; node-{n}
? Which one runs, but only in part?
? some of its containers are not serving
= init X
> prod ; {svc}-{rs}-{suffix} ; 0/1 ; Init:1/3 ; 0 ; {nn}m ; {ip} ; node-{n}
> prod ; {svc}-{rs}-{suffix} ; 0/1 ; Init:Error ; {n} (2m ago) ; {nn}m ; {ip} ; node-{n}
? Which one has not got past its preparations?
? blocked before the main container
= unknown X
> prod ; {svc}-{n} ; 1/1 ; Unknown ; 0 ; {nn}d ; {ip} ; node-9
? About which one does the cluster know nothing any more?
? no news from its machine
= err X
> batch ; {word}-job-{suffix} ; 0/1 ; Error ; 0 ; {nn}m ; {ip} ; node-{n}
? Which one-off task ended badly?
? a batch run without success
"""),
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
        kit.parse_catalogue("""
= notready X
> node-{nnn} ; NotReady ; <none> ; {nnn}d ; v1.29.4 ; {ip} ; Ubuntu 22.04.4 LTS ; 5.15.0-105
? Which machine is not fit for work?
? lost member of the cluster
= cordon X
> node-{nnn} ; Ready,SchedulingDisabled ; <none> ; {nnn}d ; v1.29.4 ; {ip} ; Ubuntu 22.04.4 LTS ; 5.15.0-105
? Which machine takes no new work?
? set aside for maintenance
= old X
> node-{nnn} ; Ready ; <none> ; {nnn}d ; v1.26.9 ; {ip} ; Ubuntu 20.04.6 LTS ; 5.4.0-182
? Which machine was forgotten in the upgrade?
? an outdated release of the agent
= master X
> cp-{word} ; Ready ; control-plane ; {nnn}d ; v1.29.4 ; {ip} ; Ubuntu 22.04.4 LTS ; 5.15.0-105
? Who runs the management plane?
? the head of the cluster
= gpu X
> gpu-{word} ; Ready ; accelerator ; {nn}d ; v1.29.4 ; {ip} ; Ubuntu 22.04.4 LTS ; 5.15.0-105
? Where could a model be trained?
? machine with a graphics card
= windows X
> win-{word} ; Ready ; worker ; {nn}d ; v1.29.4 ; {ip} ; Windows Server 2022 ; 10.0.20348
? Which machine does not run Linux?
? host for .NET Framework containers
= fresh X
> node-{nnn} ; Ready ; <none> ; {nn}s ; v1.29.4 ; {ip} ; Ubuntu 22.04.4 LTS ; 5.15.0-105
? Which machine has only just joined?
? newest member
"""),
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
        kit.parse_catalogue("""
= unhealthy W
> {nn}s ; Warning ; Unhealthy ; pod/{svc}-{rs}-{suffix} ; Readiness probe failed: HTTP probe failed with statuscode: 503
> {nn}s ; Warning ; Unhealthy ; pod/{svc}-{rs}-{suffix} ; Liveness probe failed: Get "http://{ip}:8080/live": context deadline exceeded
? Which check-up did not get the hoped-for answer?
? Is the {svc_p} answering its health questions?
= sched W
> {nn}m ; Warning ; FailedScheduling ; pod/{svc}-{rs}-{suffix} ; 0/{nn} nodes are available: {n} Insufficient cpu, {nn} node(s) had untolerated taint
? Why is there no room for something?
? lack of processing power anywhere for {svc_p}
= image W
> {n}m ; Warning ; Failed ; pod/{svc}-{rs}-{suffix} ; Failed to pull image "registry.example/{svc}:{ver}": manifest unknown
? Which release was never uploaded to the registry?
? a non-existing tag is wanted for {svc_p}
= mount W
> {n}m ; Warning ; FailedMount ; pod/{svc}-{rs}-{suffix} ; MountVolume.SetUp failed for volume "{word}" : secret "{word}-credentials" not found
? Which confidential object is missing?
? storage preparation stopped by an absent secret
= backoff W
> {n}m ; Warning ; BackOff ; pod/{svc}-{rs}-{suffix} ; Back-off restarting failed container {word}
? Who dies right after each start?
? repeated collapse of {svc_p}
= evict W
> {nn}m ; Warning ; Evicted ; pod/{svc}-{rs}-{suffix} ; The node was low on resource: ephemeral-storage. Container {word} was using {nnnn}Mi
? What was removed because a machine's disk filled up?
? scratch space used up
= quota W
> {nn}m ; Warning ; FailedCreate ; replicaset/{svc}-{rs} ; Error creating: pods "{svc}-{rs}-" is forbidden: exceeded quota: team, requested: limits.memory=2Gi
? Which creation broke the namespace's allowance?
? budget of a team exhausted
= hpa N
> {nn}m ; Normal ; SuccessfulRescale ; horizontalpodautoscaler/{svc} ; New size: {nn}; reason: cpu resource utilization (percentage of request) above target
? What was enlarged automatically under load?
? automatic growth of {svc_p}
= hpafail W
> {nn}m ; Warning ; FailedGetResourceMetric ; horizontalpodautoscaler/{svc} ; failed to get cpu utilization: unable to fetch metrics from resource metrics API
? Why can a scaler not decide anything?
? measurements for automatic sizing are missing
= job W
> {nn}m ; Warning ; BackoffLimitExceeded ; job/{word}-{nnnnn} ; Job has reached the specified backoff limit
? Which one-off task used up its attempts?
? batch work given up
= nodeready W
> {nn}m ; Warning ; NodeNotReady ; node/node-{nnn} ; Node node-{nnn} status is now: NodeNotReady
? Which machine dropped out?
? loss of a cluster member
= preempt N
> {nn}m ; Normal ; Preempted ; pod/{svc}-{rs}-{suffix} ; Preempted by pod {uuid} on node node-{n}
? What had to make way for something more important?
? displaced by higher priority
= cert W
> {nn}m ; Warning ; OrderFailed ; certificate/{word}-tls ; Failed to create Order: 429 urn:ietf:params:acme:error:rateLimited: too many certificates already issued
? Why was no new certificate issued?
? authority refuses further issuing
= pvc W
> {nn}m ; Warning ; ProvisioningFailed ; persistentvolumeclaim/data-{svc}-0 ; storageclass.storage.k8s.io "{word}-ssd" not found
? Which disk could not be made because its kind does not exist?
? storage request with an unknown class
"""),
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
        kit.parse_catalogue("""
= cpu X
> app ; {pid} ; {high}.{n} ; 3.{n} ; {big} ; {nnnnn} ; ? ; R ; 0{n}:{mm} ; {nnn}:{mm} ; /opt/{svc}/bin/{svc} --threads 1
? What keeps a core busy all the time?
? Who burns processor time?
= zombie X
> app ; {pid} ; 0.0 ; 0.0 ; 0 ; 0 ; ? ; Z ; 0{n}:{mm} ; 0:00 ; [{svc}] <defunct>
? Which process is dead but not yet collected by its parent?
? leftover entry of something finished
= mem X
> app ; {pid} ; 4.{n} ; 6{n}.{n2} ; {big} ; {big2} ; ? ; Sl ; 0{n}:{mm} ; 9:{mm} ; java -Xmx12g -jar /opt/{svc}/{svc}.jar
? What has taken most of the RAM?
? memory hog
= disk X
> root ; {pid} ; 0.{n} ; 0.1 ; {nnnnn} ; {nnnn} ; ? ; D ; 0{n}:{mm} ; 2:{mm} ; rsync -a /srv/data/ {host}:/backup/
? What is stuck waiting for storage?
? uninterruptible sleep: which copy job?
= stopped X
> {user} ; {pid} ; 0.0 ; 0.2 ; {nnnnn} ; {nnnn} ; pts/{n} ; T ; 0{n}:{mm} ; 0:00 ; vim {file}
? Which editor was put to sleep and forgotten?
? a suspended program at somebody's terminal
= debug X
> {user} ; {pid} ; 0.{n} ; 0.4 ; {nnnnn} ; {nnnn} ; pts/{n} ; Sl+ ; 0{n}:{mm} ; 0:01 ; gdb -p {pid2}
? Is anybody looking into a running process?
? interactive fault finding on a live system
= miner X
> nobody ; {pid} ; {high}.0 ; 1.{n} ; {nnnnn} ; {nnnnn} ; ? ; SNl ; Feb{nn} ; {nnnn}:{mm} ; /tmp/.x/kswapd0 -o stratum+tcp://{wan}:3333
? Which program looks like an intruder's?
? suspicious thing running from a temporary folder
= backup X
> root ; {pid} ; 3{n}.0 ; 0.{n} ; {nnnnn} ; {nnnn} ; ? ; S ; 0{n}:{mm} ; 0:{mm} ; pg_dump -Fc --dbname=app -f /backup/app.dump
? Is a database copy being made at the moment?
? running dump
= ssh X
> {user} ; {pid} ; 0.0 ; 0.1 ; {nnnnn} ; {nnnn} ; ? ; Ss ; 0{n}:{mm} ; 0:00 ; ssh -fNL {port}:localhost:5432 {host}
? Who has a tunnel to another machine open?
? port forwarding in the background
= secret X
> app ; {pid} ; 0.{n} ; 0.{n} ; {nnnnn} ; {nnnn} ; ? ; Sl ; 0{n}:{mm} ; 0:{mm} ; /opt/{svc}/sync --api-key=sk_{hash}
? Which credential can everybody on this machine read?
? secret given on the command line
= migr X
> app ; {pid} ; 12.{n} ; 1.{n} ; {nnnnn} ; {nnnnn} ; ? ; S ; 0{n}:{mm} ; 0:{mm} ; python manage.py migrate {table}
? Is the database layout being changed right now?
? a schema change that has not finished
= screen X
> {user} ; {pid} ; 0.0 ; 0.0 ; {nnnn} ; {nnnn2} ; ? ; Ss ; Jan{nn} ; 0:02 ; SCREEN -S {word}
? Who left a detached session behind?
? terminal session that outlives its user
"""),
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
        kit.parse_catalogue("""
= full X
> /dev/sd{letter}1 ; ext4 ; {nnn}G ; {nnn}G ; 0 ; 100% ; /var/{word}
? Where is nothing left?
? volume without any free space
= near X
> /dev/nvme{n}n1p2 ; xfs ; {nnn}G ; {nnn}G ; {n}G ; {high}% ; /home/{user}
? What will soon be full?
? nearly exhausted storage of a person
= nfs X
> {host}:/export/{word} ; nfs4 ; {nn}T ; {n}T ; {n2}T ; {pct}% ; /mnt/{word}
? What comes over the network from another machine?
? remote share and its place
= boot X
> /dev/sda2 ; vfat ; 511M ; {n}.1M ; 505M ; 2% ; /boot/efi
? Where does the firmware look when starting?
? small partition for booting
= usb X
> /dev/sdx1 ; exfat ; {gib}G ; {n}G ; {n2}G ; {pct}% ; /media/{user}/{word}
? Is anything removable plugged in?
? somebody's stick
= ro X
> /dev/sr0 ; iso9660 ; 4.{n}G ; 4.{n}G ; 0 ; 100% ; /media/cdrom
? What is an optical disc?
? medium that can never be written
= fuse X
> sshfs#{user}@{host}: ; fuse.sshfs ; {nnn}G ; {nn}G ; {nn2}G ; {pct}% ; /home/{user}/remote
? Whose folder lives on another computer through a secure shell?
? user-space mount
= zfs X
> tank/{word} ; zfs ; {nn}T ; {n}T ; {n2}T ; {pct}% ; /tank/{word}
? What lies on the pooled storage?
? data set of a pool
"""),
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
        kit.parse_catalogue("""
= failed X
> ● {svc}.service ; loaded ; failed ; failed ; {word} worker
? Which service broke down?
? What is the state of {svc_p}?
= notfound X
> ● {svc}.service ; not-found ; inactive ; dead ; {svc}.service
? What is referred to although nobody installed it?
? reference to a missing unit
= masked X
> ● {svc}.service ; masked ; inactive ; dead ; {svc}.service
? What was deliberately made impossible to start?
? blocked by an administrator
= activating X
> ● {svc}.service ; loaded ; activating ; auto-restart ; {word} gateway
? What is being brought up again after a failure?
? in the middle of a restart loop
= failedmount X
> ● mnt-{word}.mount ; loaded ; failed ; failed ; /mnt/{word}
? Which volume did not come up?
? attaching a file system went wrong
= exited X
> {svc}-init.service ; loaded ; active ; exited ; Prepare {word}
? What did its work once and is content?
? one-shot that has finished
= elapsed X
> {word}-renew.timer ; loaded ; active ; elapsed ; Renew certificates of {word}
? Which time trigger will not fire again?
? a schedule that is over
= reload X
> {svc}.service ; loaded ; reloading ; reload ; {word} proxy
? Who is reading its settings anew right now?
? not stopped, just refreshing
"""),
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
        kit.parse_catalogue("""
= open_db X
> tcp ; LISTEN ; 0 ; 244 ; 0.0.0.0:5432 ; 0.0.0.0:* ; users:(("postgres",pid={pid},fd=6))
? Is the database reachable from every network?
? data store open to the outside
= redis X
> tcp ; LISTEN ; 0 ; 511 ; 127.0.0.1:6379 ; 0.0.0.0:* ; users:(("redis-server",pid={pid},fd=6))
? Does the key-value cache listen only locally?
? where the in-memory store waits
= telnet X
> tcp ; LISTEN ; 0 ; 5 ; *:23 ; *:* ; users:(("telnetd",pid={pid},fd=3))
? Which unencrypted remote login is on?
? an ancient insecure service
= closewait X
> tcp ; CLOSE-WAIT ; {nnn} ; 0 ; {ip}:8080 ; {ip2}:{eport} ; users:(("{svc}",pid={pid},fd={nn}))
? Who forgot to hang up after the other side did?
? half-closed connection
= syn X
> tcp ; SYN-SENT ; 0 ; 1 ; {ip}:{eport} ; {wan}:443 ; users:(("{svc}",pid={pid},fd={nn}))
? Who is still waiting for the first answer?
? a connection attempt that hangs
= sendq X
> tcp ; ESTAB ; 0 ; {big} ; {ip}:443 ; {wan}:{eport} ; users:(("{svc}",pid={pid},fd={nn}))
? To whom can data not be delivered fast enough?
? piled up outgoing bytes
= dns X
> udp ; UNCONN ; 0 ; 0 ; 0.0.0.0:53 ; 0.0.0.0:* ; users:(("dnsmasq",pid={pid},fd=4))
? Who answers name queries for others?
? an open resolver
= irc X
> tcp ; ESTAB ; 0 ; 0 ; {ip}:{eport} ; {wan}:6667 ; users:(("{word}",pid={pid},fd=3))
? Which link looks like remote control by an intruder?
? odd chat connection to the outside
= backlog X
> tcp ; LISTEN ; 129 ; 128 ; 0.0.0.0:8080 ; 0.0.0.0:* ; users:(("{svc}",pid={pid},fd=7))
? Whose waiting line for new callers has overflowed?
? a listener that does not accept fast enough
"""),
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
        kit.parse_catalogue("""
= killed X
> {hash} ; registry.example/{svc}:{ver} ; "/entrypoint.sh" ; {nn} hours ago ; Exited (137) {nn} minutes ago ; ; {svc}-1
? What was shot down from outside, probably for memory?
? Did {svc_p} end by force?
= exit1 X
> {hash} ; registry.example/{svc}:{ver} ; "/entrypoint.sh" ; {nn} hours ago ; Exited (1) {nn} seconds ago ; ; {svc}-1
? What stopped by itself with a failure?
? {svc_p} gave up
= restarting X
> {hash} ; registry.example/{svc}:{ver} ; "/entrypoint.sh" ; {nn} hours ago ; Restarting (2) {nn} seconds ago ; ; {svc}-1
? What goes round and round without coming up?
? a container in a loop
= unhealthy X
> {hash} ; registry.example/{svc}:{ver} ; "/entrypoint.sh" ; {n} days ago ; Up {nn} hours (unhealthy) ; 0.0.0.0:{port}->{port}/tcp ; {svc}-1
? What is alive but does not pass its own check?
? running without being well
= starting X
> {hash} ; registry.example/{svc}:{ver} ; "/entrypoint.sh" ; {nn} seconds ago ; Up {n} seconds (health: starting) ; ; {svc}-1
? What has only just been launched?
? condition not yet known
= paused X
> {hash} ; registry.example/{svc}:{ver} ; "/entrypoint.sh" ; {n} days ago ; Up {n} days (Paused) ; ; {svc}-1
? What was frozen on purpose?
? halted without being stopped
= created X
> {hash} ; registry.example/{svc}:{ver} ; "/entrypoint.sh" ; {nn} minutes ago ; Created ; ; {svc}-1
? What exists but was never started?
? prepared and left
= segv X
> {hash} ; registry.example/{svc}:{ver} ; "/entrypoint.sh" ; {nn} hours ago ; Exited (139) {nn} minutes ago ; ; {svc}-1
? What crashed with a memory access error?
? native crash
= public X
> {hash} ; mongo:{n} ; "docker-entrypoint.s…" ; {n} days ago ; Up {n} days ; 0.0.0.0:27017->27017/tcp ; mongo-1
? Which database is published to every interface?
? a document store anybody could reach
"""),
        groups("killed exit1 segv restarting\nunhealthy starting paused created"),
    ),
    Sheet(
        "pvc",
        "kubectl",
        ["kubectl get pvc -A", "kubectl get pvc,pv"],
        "NAMESPACE ; NAME ; STATUS ; VOLUME ; CAPACITY ; ACCESS MODES ; STORAGECLASS ; AGE",
        ["prod ; data-{svc}-{n} ; Bound ; pvc-{uuid} ; {gib}Gi ; RWO ; standard ; {nn}d"],
        kit.parse_catalogue("""
= pending X
> prod ; data-{svc}-0 ; Pending ; ; ; ; {word}-ssd ; {nn}m
? Which claim has not got its disk?
? waiting for storage: {svc_p}
= lost X
> prod ; data-{svc}-{n} ; Lost ; pvc-{uuid} ; 0 ; ; standard ; {nnn}d
? Whose disk has vanished?
? data that is gone behind its claim
= shared X
> prod ; shared-{word} ; Bound ; pvc-{uuid} ; {gib}Gi ; RWX ; nfs ; {nn}d
? What can be written from several machines at once?
? common storage
= big X
> prod ; archive-{word} ; Bound ; pvc-{uuid} ; {n}Ti ; RWO ; cold ; {nnn}d
? Which request is by far the largest?
? slow storage for old things
= term X
> prod ; data-{svc}-{n} ; Terminating ; pvc-{uuid} ; {gib}Gi ; RWO ; standard ; {nnn}d
? Which one is being removed but still in use?
? stuck on deletion
= rox X
> prod ; models-{word} ; Bound ; pvc-{uuid} ; {gib}Gi ; ROX ; standard ; {nn}d
? What may be read by many but written by none?
? read-only volume
"""),
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
        kit.parse_catalogue("""
= idle_tx X
>  {pid} ; app ; idle in transaction ; ClientRead ; 0{n}:{mm}:{mm2} ; UPDATE {table} SET seen = true WHERE id = {nnnn}
? Who began to change something and then fell asleep?
? an open transaction that nobody finishes
= lock X
>  {pid} ; migrator ; active ; relation ; 00:{mm}:{mm2} ; ALTER TABLE {table} ADD COLUMN {word} jsonb
? Which structural change is being held up?
? the alteration of {table_p} cannot proceed
= long X
>  {pid} ; analyst ; active ; ; 0{n}:{mm}:{mm2} ; SELECT * FROM {table} a, {table2} b ORDER BY random()
? Which evaluation has been running for hours?
? someone joined without a condition
= vacuum X
>  {pid} ; postgres ; active ; VacuumDelay ; 00:{mm}:{mm2} ; autovacuum: VACUUM public.{table} (to prevent wraparound)
? Which housekeeping must not be interrupted?
? clean-up forced by transaction numbers
= tuple X
>  {pid} ; app ; active ; transactionid ; 00:00:{mm} ; DELETE FROM {table} WHERE id = {nnnn}
? Who waits for another writer of the same row?
? a removal that queues behind someone
= copy X
>  {pid} ; backup ; active ; WalSenderWaitForWAL ; {nn}:{mm2}:00 ; START_REPLICATION SLOT "{word}" 0/{hex}
? Who follows the changes of the server?
? streaming follower
= bulk X
>  {pid} ; loader ; active ; DataFileExtend ; 00:0{n}:{mm} ; COPY {table} FROM STDIN WITH (FORMAT csv)
? Is anyone loading data in bulk?
? mass import into {table_p}
= aborted X
>  {pid} ; app ; idle in transaction (aborted) ; ClientRead ; 00:{mm}:{mm2} ; INSERT INTO {table} VALUES (NULL)
? Whose transaction has failed and was not ended?
? session in a broken state
= index X
>  {pid} ; migrator ; active ; ; 00:{mm}:{mm2} ; CREATE INDEX CONCURRENTLY {word}_idx ON {table} ({word})
? Is an access path being built?
? new search structure on {table_p}
"""),
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
        kit.parse_catalogue("""
= default X
> default ; via {ip} ; eth0 ; dhcp ; 100
? Where does everything go that has no better way?
? way to the internet
= default2 X
> default ; via {ip} ; wwan0 ; static ; 700
? What is the fallback over the mobile network?
? second choice for outgoing traffic
= blackhole X
> blackhole 10.{nnn}.0.0/16 ; - ; lo ; static ; 0
? Which range is thrown away silently?
? packets to nowhere
= unreachable X
> unreachable {wan}/32 ; - ; lo ; static ; 4278
? For which address do senders get a refusal?
? target declared out of reach
= local X
> 127.0.0.0/8 ; - ; lo ; kernel ; 0
? the machine talking to itself
? loopback entry
= multi X
> 224.0.0.0/4 ; - ; eth1 ; static ; 0
? Where do group messages go?
? multicast
= vpn X
> 10.{nn}.0.0/16 ; via 10.255.{nn}.1 ; tun0 ; static ; 50
? Which net is behind the tunnel to the partner?
? private network over the encrypted link
= docker X
> 172.17.0.0/16 ; - ; docker0 ; kernel ; 0
? Which net do local containers use?
? bridge network
"""),
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
        blocks("""
Get:{mm} http://deb.example/debian bookworm/main amd64 lib{word}{n} amd64 {ver}-1 [{nnn} kB]
Get:{mm2} http://deb.example/debian bookworm/main amd64 {word}-common all {ver} [{nn} kB]
%
Selecting previously unselected package lib{word}{n}:amd64.
Preparing to unpack .../{nnn}-lib{word}{n}_{ver}_amd64.deb ...
Unpacking lib{word}{n}:amd64 ({ver}) ...
%
Setting up lib{word}{n}:amd64 ({ver}) ...
Setting up {word}-tools ({ver}) ...
%
Collecting {word}-client>={n}
  Downloading {word}_client-{ver}-py3-none-any.whl ({nn} kB)
%
added {nnn} packages, and audited {nnn2} packages in {nn}s
%
transferring context: {nn}.{n}kB done
%
CACHED [{n}/9] COPY {word}.lock ./
%
RUN make {word}
cc -O2 -c {word}.c -o {word}.o
%
 => extracting sha256:{hash}{hash2}
%
Building wheels for collected packages: {word}
  Building wheel for {word} (pyproject.toml): finished with status 'done'
%
Compiling {word} v{ver}
Compiling {word2}-sys v{ver}
%
RUN useradd --system {word}
%
webpack compiled {nnn} modules in {nnnn} ms
%
Processing triggers for libc-bin (2.36-9) ...
"""),
        kit.parse_catalogue("""
= apt404 E
> E: Unable to locate package {word}-dev
| E: Couldn't find any package by glob '{word}-dev'
? Which system library is not known to the package source?
? a distribution package that does not exist
= pipno E
> ERROR: Could not find a version that satisfies the requirement {word}-client=={ver} (from versions: 1.0.0, 1.1.0)
| ERROR: No matching distribution found for {word}-client=={ver}
? Which Python dependency is pinned to a release that was never published?
? unsatisfiable pin
= copy E
> ERROR: failed to calculate checksum of ref {hash}: "/{word}/dist": not found
? Which folder that should go into the image is not there?
? copying from an earlier stage or the context failed
= disk E
> failed to register layer: write /usr/lib/{word}.so: no space left on device
? Was the builder's storage full?
? out of room while unpacking
= hadolint W
>  1 warning found (use docker --debug to expand):
|  - SecretsUsedInArgOrEnv: Do not use ARG or ENV instructions for sensitive data (ENV "API_TOKEN") (line {nn})
? Is a credential baked into the image?
? advice about confidential values in the recipe
= legacy W
>  - LegacyKeyValueFormat: "ENV key=value" should be used instead of legacy "ENV key value" format (line {nn})
? Which instruction is written in the old style?
? outdated notation in the recipe
= rootpip W
> WARNING: Running pip as the 'root' user can result in broken permissions and conflicting behaviour with the system package manager.
? What is said about installing as the administrator?
? advice to use a virtual environment
= nativefail E
> {word}.c:{nnn}:10: fatal error: Python.h: No such file or directory
|   {nnn} | #include <Python.h>
|       |          ^~~~~~~~~~
| compilation terminated.
| error: command '/usr/bin/gcc' failed with exit code 1
? Which extension could not be compiled for want of headers?
? C part of a dependency does not build
= npmaudit W
> {nn} vulnerabilities ({n} moderate, {n2} high, 1 critical)
| To address all issues, run: npm audit fix --force
? How many known security holes do the front-end dependencies have?
? result of the safety check of the JavaScript packages
= npmeresolve E
> npm error code ERESOLVE
| npm error ERESOLVE unable to resolve dependency tree
| npm error Found: {word}-ui@{ver}
| npm error Could not resolve dependency: peer {word}-ui@"^{n}.0.0" from {word2}-charts@{ver}
? Which front-end packages cannot live together?
? peer requirement not met
= engine W
> npm warn EBADENGINE Unsupported engine {
| npm warn EBADENGINE   package: '{word}-kit@{ver}',
| npm warn EBADENGINE   required: { node: '>=22' },
| npm warn EBADENGINE   current: { node: 'v18.20.3' }
| npm warn EBADENGINE }
? Which package wants a newer runtime than there is?
? the JavaScript interpreter is too old for something
= gpg E
> W: GPG error: http://deb.example/{word} stable InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY {hex}{hex2}
| E: The repository 'http://deb.example/{word} stable InRelease' is not signed.
? Which package source cannot be trusted?
? missing key of a repository
= exit137 E
> ERROR: process "/bin/sh -c npm run build" did not complete successfully: exit code: 137
? Which step was killed, probably for memory?
? bundling ended by force
= missingcmd E
> /bin/sh: 1: {word}ctl: not found
| ERROR: process "/bin/sh -c {word}ctl init" did not complete successfully: exit code: 127
? Which program is called that the image does not have?
? unknown command in a step
= platform W
> WARNING: The requested image's platform (linux/arm64) does not match the detected host platform (linux/amd64/v3) and no specific platform was requested
? Is the base image made for another processor?
? architecture mismatch
= pullden E
> ERROR: failed to authorize: failed to fetch oauth token: denied: requested access to the resource is denied for registry.example/base/{word}
? Which base image may we not read?
? the registry lets us not in
= hashmis E
> ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.
|     {word}-core=={ver} from https://packages.example/{word}.whl:
|         Expected sha256 {hash}{hash2}
|              Got        {hex}{hex2}
? Which download is not what was promised?
? tampering or a changed file: fingerprints differ
= testfail E
> --- FAIL: Test{word}RoundTrip (0.0{n}s)
|     codec_test.go:{mm}: got {nnn}, want {nnn2}
? Which test stopped the image from being made?
? an assertion in the Go part failed
= size N
> naming to registry.example/app:{ver} done
| writing image sha256:{hash}{hash2} done
? What is the result called?
? final name and digest of the image
= tz W
> debconf: delaying package configuration, since apt-utils is not installed
? Why are packages not configured at once?
? harmless notice about a missing helper
= rust E
> error[E0433]: failed to resolve: use of undeclared crate or module `{word}`
|   --> src/{word}.rs:{mm}:5
|    |
| {nn} | use {word}::Client;
|    |     ^^^^ use of undeclared crate or module `{word}`
? Which Rust import is not declared as a dependency?
? compile failure of the Rust part
"""),
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
        blocks("""
  # aws_instance.{word} will be updated in-place
  ~ resource "aws_instance" "{word}" {
        id            = "i-{hash}"
      ~ tags          = {
          ~ "Release" = "{ver}" -> "{n}.0.{nn}"
        }
    }
%
  # aws_s3_object.{word} will be created
  + resource "aws_s3_object" "{word}" {
      + bucket = "assets-{word}"
      + key    = "{word2}/index.html"
      + etag   = (known after apply)
    }
%
  # aws_route53_record.{word} will be created
  + resource "aws_route53_record" "{word}" {
      + name    = "{word}.example.net"
      + records = ["{ip}"]
      + ttl     = 300
      + type    = "A"
    }
%
  # kubernetes_config_map.{word} will be updated in-place
  ~ resource "kubernetes_config_map" "{word}" {
      ~ data = {
          ~ "level" = "info" -> "debug"
        }
    }
%
  # random_pet.{word} will be created
  + resource "random_pet" "{word}" {
      + id     = (known after apply)
      + length = 2
    }
%
  # aws_iam_role.{word} will be created
  + resource "aws_iam_role" "{word}" {
      + arn  = (known after apply)
      + name = "{svc}-task"
    }
%
  # aws_cloudwatch_log_group.{word} will be updated in-place
  ~ resource "aws_cloudwatch_log_group" "{word}" {
      ~ retention_in_days = 30 -> 60
    }
"""),
        kit.parse_catalogue("""
= dbreplace X
>   # aws_db_instance.{word} must be replaced
| -/+ resource "aws_db_instance" "{word}" {
|       ~ address        = "{word}.db.internal" -> (known after apply)
|       ~ engine_version = "13.{n}" -> "15.{n2}" # forces replacement
|         identifier     = "{word}"
|     }
? Which change would throw away a database and make a new one?
? Where might data be lost?
= destroy X
>   # aws_ebs_volume.{word} will be destroyed
|   # (because aws_ebs_volume.{word} is not in configuration)
|   - resource "aws_ebs_volume" "{word}" {
|       - id   = "vol-{hash}" -> null
|       - size = {nnn} -> null
|     }
? Which disk would be removed?
? something no longer described is taken away
= open X
>   # aws_security_group_rule.{word} will be created
|   + resource "aws_security_group_rule" "{word}" {
|       + cidr_blocks = ["0.0.0.0/0"]
|       + from_port   = 22
|       + to_port     = 22
|       + type        = "ingress"
|     }
? What would let the whole world reach remote login?
? a dangerous opening of the firewall
= public X
>   # aws_s3_bucket_public_access_block.{word} will be updated in-place
|   ~ resource "aws_s3_bucket_public_access_block" "{word}" {
|       ~ block_public_acls   = true -> false
|       ~ block_public_policy = true -> false
|     }
? Where is protection against publishing files lifted?
? stored objects could become visible to everybody
= admin X
>   # aws_iam_role_policy_attachment.{word} will be created
|   + resource "aws_iam_role_policy_attachment" "{word}" {
|       + policy_arn = "arn:aws:iam::aws:policy/AdministratorAccess"
|       + role       = "{svc}"
|     }
? Who would get unlimited rights?
? full powers granted to a role
= scale X
>   # aws_autoscaling_group.{word} will be updated in-place
|   ~ resource "aws_autoscaling_group" "{word}" {
|       ~ max_size = {n} -> {nn}
|       ~ min_size = 1 -> {n}
|     }
? Which group of machines may grow?
? more instances allowed
= type X
>   # aws_instance.{word} will be updated in-place
|   ~ resource "aws_instance" "{word}" {
|         id            = "i-{hash}"
|       ~ instance_type = "t3.medium" -> "m6i.2xlarge"
|     }
? Which machine gets stronger and more expensive?
? a server changes its size
= backup X
>   # aws_db_instance.{word} will be updated in-place
|   ~ resource "aws_db_instance" "{word}" {
|       ~ backup_retention_period = 14 -> 0
|         identifier              = "{word}"
|     }
? Where would safety copies be switched off?
? retention of a database's copies drops to nothing
= encrypt X
>   # aws_ebs_volume.{word} must be replaced
| -/+ resource "aws_ebs_volume" "{word}" {
|       ~ encrypted = false -> true # forces replacement
|       ~ id        = "vol-{hash}" -> (known after apply)
|     }
? Which disk is made anew in order to be enciphered?
? protection of data at rest is introduced
= moved X
>   # aws_sqs_queue.{word} has moved to module.queues.aws_sqs_queue.{word}
|     resource "aws_sqs_queue" "{word}" {
|         name = "{queue}"
|     }
? What is only renamed in the description?
? no real change, just a new address in the code
= drift X
>   # aws_lambda_function.{word} has changed outside of Terraform
|   ~ resource "aws_lambda_function" "{word}" {
|         function_name = "{word}"
|       ~ memory_size   = 128 -> {mib}
|     }
? What did somebody alter by hand?
? deviation from the recorded state
= deprec X
> Warning: Argument is deprecated
|
|   with aws_s3_bucket.{word},
|   on storage.tf line {nn}, in resource "aws_s3_bucket" "{word}":
|   {nn}:   acl = "private"
|
| Use the aws_s3_bucket_acl resource instead
? Which setting is no longer the recommended way?
? outdated argument
= undef X
> Error: Reference to undeclared input variable
|
|   on main.tf line {nn}, in module "{word}":
|   {nn}:   region = var.{word}_region
|
| An input variable with the name "{word}_region" has not been declared.
? Which name is used without having been announced?
? unknown input to a module
= creds X
> Error: error configuring provider: no valid credential sources found
|
|   with provider["registry.example/hashicorp/aws"],
|   on provider.tf line {nn}
? Why could the cloud not be talked to?
? login data for the provider are missing
= cert X
>   # aws_acm_certificate.{word} must be replaced
| +/- resource "aws_acm_certificate" "{word}" {
|       ~ domain_name = "old.{word}.example" -> "{word}.example" # forces replacement
|     }
? Which proof of identity is issued anew for another name?
? a domain changes and with it its certificate
= protect X
>   # aws_lb.{word} will be updated in-place
|   ~ resource "aws_lb" "{word}" {
|       ~ enable_deletion_protection = true -> false
|         name                       = "{word}"
|     }
? Where is a safeguard against removal taken off?
? the balancer could be deleted afterwards
= ttl X
>   # aws_route53_record.{word} will be updated in-place
|   ~ resource "aws_route53_record" "{word}" {
|         name = "{word}.example.net"
|       ~ ttl  = 3600 -> 30
|     }
? Which name's answers will be remembered for a shorter time?
? caching period of an address cut down
= output X
>   ~ {word}_endpoint = "https://{word}.v1.example" -> (known after apply)
? Which value handed to others will be different?
? an output not known beforehand
"""),
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


SETTINGS = _settings("""
[server]
bind = 0.0.0.0 ? Is it reachable from other machines? | which interface does it use?
port = {eport} ? On what number are callers awaited? | where to connect to
workers = {n} ? How many requests can be handled at once? | degree of parallelism
keepalive_timeout = {sec} ? How long is a quiet connection kept open? | idle clients are dropped after
max_body_mb = {nn} ? How large may an upload be? | limit on what clients send
graceful_shutdown = {sec} ? How much time do running requests get at the end? | patience when stopping
trusted_proxies = 10.0.0.0/8 ? Whose forwarded addresses are believed? | which front machines are relied on
compression = gzip ? Are answers made smaller on the way?
[database]
url = postgres://app@{host}/app ? Where is data stored? | address of the persistent store
pool_size = {nn} ? How many connections are held ready? | simultaneous links to the store
statement_timeout_ms = {slow} ? When is a query given up? | longest permitted query
ssl_mode = disable ? Is traffic to the store enciphered? | protection of the link to the store
migrate_on_start = true ? Is the layout changed automatically? | who upgrades the schema?
read_replica = {ip} ? Where may reports be read from without burdening the main one? | second source for reading
[cache]
backend = redis ? What remembers results between requests? | product used for keeping things in memory
ttl_seconds = {nnn} ? When is a remembered value thrown away? | lifetime of stored answers
max_memory = {mib}mb ? How big may it grow in RAM? | size limit of remembered things
prefix = {word}: ? What is put before each key? | namespace for entries
[logging]
level = debug ? How talkative is it? | verbosity
format = json ? Are messages made for machines? | shape of the protocol lines
file = /var/log/{word}.log ? Where are messages written? | path of the protocol
rotate_keep = {n} ? How many old protocols are kept? | history of messages
redact = password,token ? Which words are hidden in messages? | keeping secrets out of protocols
[auth]
session_lifetime = {nn}h ? When must a visitor sign in again? | duration of a login
password_min_length = {nn} ? How short may a secret be? | rule for new secrets
max_attempts = {n} ? After how many wrong tries is one shut out? | protection against guessing
mfa_required = false ? Must everybody show a second proof? | two-step sign-in
jwt_secret = {hash} ? Is the signing secret written down here? | what are tokens signed with?
oauth_issuer = https://id.example.com ? Who vouches for identities? | external sign-in provider
allow_signup = true ? Can strangers make an account? | self-registration
[mail]
smtp_host = smtp.{word}.example ? Through which machine do letters leave? | outgoing post server
from = noreply@{word}.example ? Who appears as the sender? | sender address
batch = {nnn} ? How many letters go out at a time?
bounce_webhook = https://{word}.example/bounce ? Who is told about undeliverable letters?
dkim_selector = {word} ? Which key proves that letters are ours?
[storage]
bucket = {word}-assets ? Where do uploaded files go? | container for blobs
region = eu-central-1 ? In what part of the world are files kept? | location of the blobs
retention_days = {nnn} ? When are old files deleted? | how long things are kept
versioning = off ? Can an overwritten file be recovered? | history of objects
encryption = aes256 ? Are files enciphered where they lie?
[jobs]
concurrency = {nn} ? How many background tasks run side by side?
retry_limit = {n} ? How often is failed work repeated? | attempts before giving up
backoff = exponential ? How do pauses between attempts develop? | spacing of repetitions
dead_letter = {queue} ? Where do hopeless messages end up? | parking place for failures
nightly_at = 03:{mm} ? When does the nightly work begin? | time of the big run
lock_ttl = {sec} ? How long is exclusive access held? | protection against double runs
[features]
new_checkout = 25% ? Which share of users sees the redesigned purchase? | partial rollout
dark_mode = on ? Is a night look available?
beta_search = off ? Is the experimental finder usable?
bulk_export = staff ? Who may dump many rows? | group allowed to export
maintenance = false ? Is the site closed for work?
[limits]
requests_per_minute = {nnn} ? How fast may a client ask? | throttle
burst = {nn} ? What short excess is tolerated? | sudden peak allowed
max_items_per_order = {nn} ? How many pieces fit in one purchase?
upload_types = png,jpg,pdf ? What kinds of files are accepted? | permitted formats
query_depth = {n} ? How deeply may questions be nested?
[metrics]
endpoint = /internal/stats ? Where can figures be scraped? | path of the measurements
interval = {sec}s ? How often are figures sent?
histogram_buckets = 5,20,80,300 ? Into which classes are durations sorted?
sample_rate = 0.{n} ? What share of requests is traced? | tracing portion
alert_email = oncall@{word}.example ? Who is woken when things go wrong? | address for alarms
[tls]
cert_file = /etc/ssl/{word}.pem ? Where is the public part of the server's identity?
min_version = 1.2 ? Which old protocol releases are turned away? | weakest encryption allowed
hsts = 31536000 ? How long must browsers insist on encryption?
client_auth = optional ? Must callers prove who they are by certificate? | mutual authentication
ocsp_stapling = true ? Is the revocation status delivered along?
[ui]
locale = de_CH ? In what language do pages appear at first? | default language
currency = CHF ? In which money are amounts shown?
timezone = Europe/Zurich ? What local time is shown?
page_size = {nn} ? How many rows are on one sheet?
theme_color = #3a{n}f{n2}c ? What tint does the site have?
analytics_id = UA-{nnnn} ? Are visitors being counted by an outsider? | tracking number
""")


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
                        *(
                            f"      {json.dumps(p)}" + ("," if i + 1 < len(parts) else "")
                            for i, p in enumerate(parts)
                        ),
                        "    ]" + ("" if last else ","),
                        key=key,
                    )
                else:
                    page.say(
                        f'    "{setting.key}": {json.dumps(_scalar(value))}' + ("" if last else ","), key=key
                    )
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
        Label(kit.vary(rng, rng.choice(s.queries)), key, f"setting_{key}")
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
    """Records of tables, documents and settings; `observations` is how many outputs to make (default 250)."""
    for index in range(int(options.get("observations", 250))):
        local = random.Random(rng.getrandbits(64))
        roll = local.random()
        if roll < 0.5:
            yield from sheet(local, local.choice(SHEETS), index, NAME)
        elif roll < 0.8:
            yield from paper(local, local.choice(PAPERS), index, NAME)
        else:
            yield from settings(local, index)
