"""Logs of services, containers, clusters and CI as stories: traffic as usual with several incidents in it."""

# ruff: noqa: E501
from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from linecls.data.families import _toolkit as kit
from linecls.data.families._toolkit import Kind, Label, Page, Slots
from linecls.records import Record

NAME = "logs"

APP = kit.parse_catalogue("""
= db_refused ERROR
> could not connect to {peer}:{port}: Connection refused
> dial tcp {ip}:5432: connect: connection refused
+ database unreachable, giving up after {n} attempts
> psycopg.OperationalError: connection to server at "{ip}", port 5432 failed: Connection refused
|         Is the server running on that host and accepting TCP/IP connections?
? Which component found nothing listening when it tried to open its data store?
? Who could not get through to the server behind it because nobody answered the port?
? the {svc_p} could not open a connection; show it
? Where does {svc_p} say that the other side rejected the TCP handshake?
? outage of a backend as seen by {svc_p}
= tls_expired ERROR
> x509: certificate has expired or is not yet valid: current time is after {date}
> SSL: CERTIFICATE_VERIFY_FAILED certificate verify failed: certificate has expired (host {peer})
> PKIX path validation failed: java.security.cert.CertPathValidatorException: validity check failed for {peer}
|     Caused by: java.security.cert.CertificateExpiredException: NotAfter: {date}
? Whose proof of identity was past its end date?
? Is a handshake failing because somebody forgot to renew something?
? Which call broke because the encryption credentials were too old?
? The {svc_p} distrusts a partner because of an outdated certificate; where?
? find the overdue renewal that {svc_p} stumbled over
= oom WARN
> memory usage {high}% of {mib}MiB limit, shedding load
+ java.lang.OutOfMemoryError: Java heap space
|     at io.app.core.Buffer.grow(Buffer.java:{lineno})
|     at io.app.core.Batch.add(Batch.java:{lineno2})
> worker {pid} was sent SIGKILL! Perhaps out of memory?
> MemoryError: unable to allocate {mib} MiB for an array
> fatal: heap limit allocation failed - JavaScript heap out of memory
|  1: 0xb7a3c0 node::Abort() [node]
|  2: 0xa8f2d4 node::OOMErrorHandler [node]
? Which process died because RAM ran out?
? Something was too greedy for the space it had; what happened?
? evidence of memory exhaustion
? Did {svc_p} ask for more RAM than it may have?
? The {svc_p} was killed for lack of memory. Show it.
= disk_full ERROR
> write {file}: no space left on device
> OSError: [Errno 28] No space left on device: '{file}'
> flush failed: ENOSPC, free=0B on volume vol-{hex}
? Which write failed because the volume was full?
? Did anything run out of storage?
? Storage exhaustion: which component hit it?
? {svc_p}: could it still save its data to disk?
? Where could {file_p} not be written for want of room?
= perm_denied ERROR
> open {file}: permission denied
> PermissionError: [Errno 13] Permission denied: '{file}'
> EACCES: access to {file} refused for uid {nnnn}
? Which file may the process not read or write?
? Show the access that the operating system did not allow.
? an ownership or mode problem on {file_p}
? Who lacks rights on {file_p}?
? The {svc_p} runs as the wrong account for one of its files; find it
= missing_file ERROR
> stat {file}: no such file or directory
> FileNotFoundError: [Errno 2] No such file or directory: '{file}'
> cannot load {file}: ENOENT
? What was expected on disk and is not there?
? Which path does not exist?
? Somebody looked for {file_p} in vain; where?
? {svc_p} misses something that should have been deployed
= slow_query WARN
> slow query ({slow} ms): SELECT * FROM {table} WHERE status = 'open' ORDER BY created_at
> query took {slow}ms, plan: seq scan on {table}, rows={big}
> statement exceeded threshold: duration={slow}ms table={table} op=aggregate
? Which database access was far too slow?
? Where is time lost reading {table_p}?
? A lookup on {table_p} probably lacks an index; evidence?
? the {svc_p} waits for its store; how long and on what?
? show the statement that dragged
= deadlock ERROR
> deadlock detected while updating {table}
|   DETAIL: process {pid} waits for ShareLock on transaction {nnnnn}; blocked by process {pid2}
> Deadlock found when trying to get lock; try restarting transaction (table {table})
> transaction {hex} chosen as victim: circular wait on {table}
? Which two writers blocked each other?
? Was a transaction sacrificed because of mutual waiting?
? cyclic lock wait on {table_p}
? The {svc_p} lost a transaction to a competing writer. Where?
= dup_key ERROR
> duplicate key value violates unique constraint "{table}_pkey"
|   DETAIL: Key (id)=({nnnnn}) already exists.
> UNIQUE constraint failed: {table}.external_id
> E11000 duplicate key error collection: app.{table} index: external_id_1 dup key: "{hex}"
? Which insert failed because the row was there already?
? Something was stored twice; where did the database object?
? collision when saving {table_p}
? Did {svc_p} try to create an existing record?
= fk ERROR
> insert or update on table "{table}" violates foreign key constraint "{table}_owner_fk"
> FOREIGN KEY constraint failed while deleting from {table}
? Which write pointed at a parent row that is not there?
? broken reference between two relations, as reported by the database
? Orphaned entry among {table_p}: show the refusal
? {svc_p} violated referential integrity; where?
= pool_exhausted ERROR
> connection pool exhausted (size={nn}, waiting={nnn})
> QueuePool limit of size {n} overflow {nn} reached, connection timed out, timeout {sec}.00
> HikariPool-1 - Connection is not available, request timed out after {slow}ms
? Were there too few database connections for the load?
? Who waited in vain for a free connection?
? resource starvation towards the database
? All slots taken: when did {svc_p} run dry?
= upstream_timeout ERROR
> upstream {peer} did not respond within {sec}s
> requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='{peer}', port=443): Read timed out. (read timeout={sec})
> context deadline exceeded (Client.Timeout exceeded while awaiting headers) calling https://{peer}/
? Which outside party kept us waiting too long?
? Did {peer_p} answer in time?
? The call to {peer_p} took too long; find it.
? {svc_p} gave up waiting for a remote answer
? patience ran out on a call to an external system
= upstream_5xx ERROR
> {peer} answered 503 Service Unavailable
> bad gateway: unexpected status 502 from https://{peer}/v2
> upstream returned HTTP 500, body={"error":"internal"} host={peer}
? Which partner had trouble of its own?
? Was {peer_p} broken on its side?
? server-side failure at {peer_p}
? What did {svc_p} get back from the system it depends on when that was down?
= rate_limited WARN
> 429 Too Many Requests from {peer}, retry-after={sec}
> quota exceeded for {peer}: {nnn}/{nnn2} requests this minute
? Who asked a remote system too often?
? Are we being throttled?
? {peer_p} wants us to slow down; where is that?
? {svc_p} used up its allowance at a partner
= dns ERROR
> lookup {peer} on {ip}:53: no such host
> getaddrinfo ENOTFOUND {peer}
> Temporary failure in name resolution for {peer}
? Which host name could not be translated into an address?
? Is the resolver broken for anyone?
? {peer_p} could not even be found on the network
? naming problem seen by {svc_p}
= auth_fail WARN
> login failed for user {user}: invalid password (attempt {n})
> authentication rejected: user={user} reason=bad_credentials source={wan}
? Whose password was wrong?
? Which person mistyped the secret?
? rejected sign-in of {user}
? From where did {user} fail to get in?
= locked WARN
> account {user} locked after {n} failed attempts
> too many failures, user={user} suspended for {sec} minutes
? Who is barred for now because of repeated wrong tries?
? Which account was shut as a precaution?
? Why can {user} not sign in any more?
= forbidden WARN
> user {user} lacks role billing.admin for DELETE {endpoint}
> access denied: subject={user} action=write resource={endpoint} policy=deny-by-default
> 403 for {user} on {endpoint}: scope missing
? Who tried something they are not entitled to?
? Which action was refused for want of rights?
? {user} hit a wall of privileges; where?
? An unprivileged attempt at {endpoint_p}: show it.
= token_expired WARN
> jwt expired {nnn}s ago (sub={user})
> refresh token for {user} is no longer valid: issued {date}
? Whose session credential had run out?
? stale bearer credential, who presented it?
? {user} came with an outdated pass
= csrf WARN
> CSRF token mismatch on POST {endpoint} from {wan}
> origin https://{word}.example not allowed for {endpoint}, rejecting cross-site request
? Was a form sent from a foreign page?
? Which request looks forged by another website?
? cross-origin protection kicked in at {endpoint_p}
= bruteforce WARN
> {nnn} failed logins from {wan} within 60s, address blocked
> blocklisting {wan}: password spraying across {nn} accounts
? Which address was shut out for guessing passwords?
? signs of an attack on the sign-in
? Who was trying many accounts in a row?
= bad_config ERROR
> invalid value "{word}" for option retry.backoff: expected a duration
> config error: unknown key "{word}_limit" in {file}
> missing required setting APP_{word}_URL, refusing to start
? Which setting is wrong?
? Why would the program not accept its configuration?
? operator mistake in the settings of {svc_p}
? Somebody misconfigured something; what?
= deprecated WARN
> option "{word}.legacy" is deprecated and will be removed in {ver}
> DeprecationWarning: call to {word}_v1() is obsolete, use {word}_v2()
? What will stop working with a later release?
? Is anything old-fashioned still in use that should be replaced soon?
? upcoming removal that concerns {svc_p}
= json_decode ERROR
> invalid character '<' looking for beginning of value
|   body: <html><head><title>{word}</title>
> json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
> Unexpected token o in JSON at position {n} (payload of {hash})
? Which message could not be understood because it was not what it should have been?
? Where did a parser choke on what it got?
? {svc_p} received something unreadable
? malformed answer instead of structured data
= schema ERROR
> payload rejected: field "{word}" is required
> ValidationError: {word}_count must be >= 1, got -{n}
> unknown enum value "{word}" in event {uuid}
? Which input broke the rules for its fields?
? A document did not pass its checks; what was wrong with it?
? {svc_p} refused data for its content
= null ERROR
> java.lang.NullPointerException: Cannot invoke "Customer.getEmail()" because "c" is null
|     at io.app.mail.Sender.greet(Sender.java:{lineno})
|     at io.app.mail.Loop.run(Loop.java:{lineno2})
> AttributeError: 'NoneType' object has no attribute '{word}'
> TypeError: Cannot read properties of undefined (reading '{word}')
|     at render (/srv/app/dist/view.js:{lineno}:{nn})
|     at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
> panic: runtime error: invalid memory address or nil pointer dereference
| [signal SIGSEGV: segmentation violation code=0x1 addr=0x{n} pc=0x{hex}]
| goroutine {nnn} [running]:
| main.(*Handler).serve(0x0, {0x{hex}, 0x{hex}})
? Where did code use an object that was not there?
? Which crash is due to an absent value?
? {svc_p} assumed something exists that does not
? programming slip around an empty reference, with its stack
= index_error ERROR
> panic: runtime error: index out of range [{nn}] with length {n}
| goroutine {nn} [running]:
| main.pick(...)
|     /src/app/pick.go:{lineno}
> IndexError: list index out of range
> java.lang.ArrayIndexOutOfBoundsException: Index {nn} out of bounds for length {n}
|     at io.app.grid.Row.cell(Row.java:{lineno})
? Which crash came from reaching past the end of something?
? access beyond the last element
? {svc_p} read more elements than there are; show the crash
= div_zero ERROR
> ZeroDivisionError: division by zero
|   in average() at stats.py:{lineno}
> java.lang.ArithmeticException: / by zero
|     at io.app.stats.Mean.of(Mean.java:{lineno})
? Where was a mean taken over nothing?
? arithmetic that is not defined: which component did it?
? {svc_p} failed at maths; where?
= recursion ERROR
> RecursionError: maximum recursion depth exceeded while calling a Python object
> java.lang.StackOverflowError
|     at io.app.tree.Node.depth(Node.java:{lineno})
|     at io.app.tree.Node.depth(Node.java:{lineno})
|     at io.app.tree.Node.depth(Node.java:{lineno})
? Which function called itself without end?
? endless self-call in {svc_p}
? Where did the stack grow too deep?
= encoding ERROR
> UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe4 in position {nn}: invalid continuation byte
> invalid byte sequence for encoding "UTF8": 0x{n}f while importing {file}
? Which text was in a character set nobody expected?
? Umlauts broke something; where?
? wrong charset in input of {svc_p}
= queue_lag WARN
> consumer lag on {queue} is {nnnnn} messages
> {queue}: backlog {nnnnn}, oldest message {nnnn}s old
? Which channel is filling faster than it is emptied?
? Is any consumer falling behind?
? {queue_p} pile up; how bad is it?
? work waiting too long in {queue_p}
= dead_letter ERROR
> message {uuid} moved to {queue}.dlq after {n} deliveries
> giving up on {hash} from {queue}: max redeliveries reached, parked
? Which message was set aside because it could never be handled?
? poison message among {queue_p}
? What happened to the item that failed again and again?
= unroutable WARN
> message returned: no queue bound for routing key {queue}
> publishing to {queue} failed: topic does not exist
? What was sent to a place that nobody set up?
? Which destination for {queue_p} is not there?
? {svc_p} speaks into the void; evidence
= rebalance INFO
> group {word}-consumers rebalancing: member {hex} left
+ partitions assigned: {queue}-{n}
? Which consumer dropped out so that work was distributed anew?
? redistribution of partitions, and why
? {queue_p}: who handles them after the shuffle?
= job_failed ERROR
> job {job} failed after {sec}s: exit status {n}
> {job}: aborted at step {n}/9, rolled back {nnn} rows
> task {job}[{uuid}] raised unexpected: RuntimeError('{word} not ready')
|   Traceback (most recent call last):
|     File "/srv/app/tasks.py", line {lineno}, in run
|   RuntimeError: {word} not ready
? Which background task did not make it?
? How did {job_p} end?
? Did {job_p} go through?
? unsuccessful timed work, with its reason
= job_skipped WARN
> {job}: previous run still active, skipping
> not starting {job}: lock held by {host}
? Which timed task was left out because an earlier one had not finished?
? Why was {job_p} not started?
? overlapping runs avoided: where?
= job_slow WARN
> {job} took {slow}ms, budget 2000ms
> {job} still running after {nnnn}s
? Which background work takes much longer than planned?
? overrun of {job_p}
? How long did {job_p} need?
= job_empty INFO
> {job}: nothing to do
> {job} finished: 0 rows affected
? Which run turned out to have no work?
? Was there anything to process in {job_p}?
? a pointless run of a task
= shutdown INFO
> received SIGTERM, draining {nn} connections
+ shutdown complete in {ms}ms
> signal 15 caught, stopping workers
+ bye
? Which component was asked to stop and did so in an orderly way?
? orderly end of {svc_p}
? Was {svc_p} taken down on purpose?
= restart INFO
> starting {svc} {ver} (commit {hash})
+ listening on 0.0.0.0:{port}
> boot: {svc} build {nnnn}, previous exit code 139
+ ready after {slow} ms
? Which component came up anew, and in which release?
? What version of {svc_p} is running now?
? Did {svc_p} begin afresh?
= port_in_use ERROR
> bind: address already in use (0.0.0.0:{port})
> OSError: [Errno 98] Address already in use: ('0.0.0.0', {port})
> Error: listen EADDRINUSE: address already in use :::{port}
? Who could not open its socket because somebody else had taken it?
? port conflict
? Why did {svc_p} not come up on the network?
= config_reload INFO
> configuration reloaded from {file}: {n} keys changed
> SIGHUP: re-read {file}, log level now DEBUG
? When did new settings become effective without a restart?
? Were settings changed on the fly, and by which file?
? live change of configuration in {svc_p}
= failover WARN
> leader lost, starting election (term {nnn})
+ {host} became leader
> primary {host} unreachable for {sec}s, promoting replica
? Which machine took over the lead?
? change of command in the cluster
? Was there a switch to a standby?
= replication WARN
> replication lag {slow} ms behind {host}
> replica is {nnnn} WAL segments behind {host}
? Which copy of the data is not up to date?
? How far is the standby behind?
? stale reads possible: evidence
= clock WARN
> system clock is {slow} ms ahead of ntp pool, skew too large
> token not yet valid: local time differs by {nn}s from {host}
? Is a machine's time wrong?
? Whose watch does not agree with the others?
? time drift
= circuit WARN
> circuit breaker for {peer} opened after {n} failures
> {peer}: breaker OPEN, failing fast for {sec}s
? To whom did we stop sending calls for a while to protect ourselves?
? protective cut-off towards {peer_p}
? Are calls to {peer_p} being short-circuited?
= breaker_closed INFO
> circuit breaker for {peer} closed again, {nn} probes ok
> {peer} healthy, resuming normal traffic
? Which partner is considered well again?
? recovery of {peer_p}
? When could we talk to {peer_p} again?
= retry_ok WARN
> attempt 1 to reach {peer} failed (reset by peer), retrying in {n}s
+ attempt 2 to reach {peer} succeeded in {ms}ms
> GET https://{peer}/ping: EOF; backoff {n}s
+ GET https://{peer}/ping: 200 after retry
? Which call worked only at the second try?
? A hiccup that healed itself: show both lines.
? Was the trouble with {peer_p} overcome?
= cache_stampede WARN
> {nnn} concurrent misses for key {word}:{hex}
> hot key {word}:{hex} expired, {nnn} callers recomputing
? Where did many callers rebuild the same cached thing at once?
? thundering herd
? {svc_p}: which entry vanished from the cache while everybody wanted it?
= eviction WARN
> cache full, evicted {nnnn} entries
> maxmemory reached, dropping least recently used keys ({nnnn})
? Where was remembered data thrown out for want of room?
? Is the cache too small?
? {svc_p} forgets entries under pressure
= payment_declined WARN
> charge for order {nnnnn} declined: insufficient_funds
> card ending {nnnn} refused by issuer (code 51), order {nnnnn}
? Whose card did not have enough money?
? Which purchase was not paid because the bank said no?
? unsuccessful collection of money
= refund INFO
> refunded {float} EUR for order {nnnnn}
> credit note {hex} issued over {float} EUR
? Was any money given back?
? reversal of a payment: the amount
? Which customer got money returned?
= double_charge ERROR
> idempotency key {hex} reused with different amount, order {nnnnn}
> order {nnnnn} charged twice, reversing transaction {hash}
? Did somebody pay two times for one thing?
? repeated collection for the same purchase
? Which payment had to be undone because it ran twice?
= negative_stock ERROR
> stock of SKU-{nnnn} would become -{n}, reservation refused
> oversold: SKU-{nnnn} requested {nn}, available {n}
? Which article was sold more often than it is there?
? insufficient goods for a reservation
? impossible amount on the shelf
= mail_bounce WARN
> delivery to {user}@mail.example failed: 550 mailbox unavailable
> bounce for message {hash}: user unknown ({user})
? Whose mail address does not exist any more?
? undeliverable letter
? Could {user} be reached by mail?
= virus WARN
> upload {hex}.zip quarantined: Eicar-Test-Signature
> scanner flagged attachment {hex}.docm as malicious
? Was something harmful handed in?
? infected file
? Which upload was put under lock?
= too_large WARN
> request body of {mib} MiB exceeds limit of 10 MiB on {endpoint}
> 413 on {endpoint}: upload aborted at {big} bytes
? Which request was refused for its size?
? someone sent far too much to {endpoint_p}
? oversized input
= client_gone INFO
> client {wan} closed connection before response on {endpoint}
> broken pipe writing to {wan}
? Who hung up before getting an answer?
? impatient caller
? response that nobody waited for
= feature INFO
> flag {flag} enabled for {pct}% of users by {user}
> {user} switched {flag} off globally
? Who turned an experiment on or off?
? Was {flag_p} switched, and for whom?
? change of a toggle by a colleague
= migration INFO
> applying migration 00{nn}_add_{word}_to_{table}
+ migration 00{nn}_add_{word}_to_{table} done in {slow} ms
> schema of {table} upgraded to version {nn}
? Which change to the database layout was carried out?
? Was {table_p} altered on start?
? structural upgrade of the database
= checksum ERROR
> checksum mismatch for {file}: expected {hash}, got {hash2}
> corrupt block {nnnn} in {file}, refusing to read
? Which file is damaged?
? Does {file_p} differ from what it should be?
? integrity check that did not pass
= leak WARN
> {nnn} open file descriptors, soft limit 1024
> unclosed connections: {nnn}, possible leak in {word}_client
? Is something never given back?
? creeping loss of handles
? {svc_p} holds more and more resources
= gc WARN
> GC pause of {slow} ms (old generation)
> stop-the-world collection took {slow}ms, heap {mib}M->{mib2}M
? Which standstill is due to cleaning up memory?
? long pause of the runtime
? Why did {svc_p} freeze for seconds?
= threads WARN
> thread pool saturated: {nn} active, {nnn} queued
> event loop blocked for {slow} ms in handler {word}
? Which component had no free hands?
? Where was the main loop held up?
? {svc_p} cannot keep up with incoming work
= third_party_ok INFO
> webhook from {peer} accepted, event {hex}
> callback {hex} of {peer} verified and stored
? Did {peer_p} report anything to us?
? incoming notification from a partner
= license WARN
> licence expires in {n} days
> trial of component {word} ended, running with reduced limits
? What needs to be bought or extended soon?
? Is some entitlement about to run out?
= exhausted_ids ERROR
> sequence {table}_id_seq at {high}% of its maximum
> nextval: reached maximum value of sequence "{table}_id_seq" (2147483647)
? Which counter is about to overflow?
? running out of numbers for {table_p}
= data_loss ERROR
> {nnn} events dropped: buffer full
> discarding batch {hash}: sink unavailable for {sec}s
? What was thrown away for good?
? Were any records lost?
? {svc_p} had to forget something it should have passed on
""")

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
_JAVA = "io.app.core io.app.web com.shop.data com.acme.jobs org.plant.bus".split()


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
        "journal_iso": lambda t, lv, s, m: (
            f"{t.strftime('%Y-%m-%dT%H:%M:%S+0000')} {host} {s}[{number(s)}]: {m}"
        ),
        "python": lambda t, lv, s, m: (
            f"{comma(t)} {'WARNING' if lv == 'WARN' else lv} {s.replace('-', '_')}: {m}"
        ),
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
        "pipes": lambda t, lv, s, m: (
            f"{t.strftime('%Y-%m-%d %H:%M:%S')} | {lv:<7} | {s}:{len(m) % 90 + 9} | {m}"
        ),
        "rust": lambda t, lv, s, m: f"{iso(t)} {lv:>5} {s.replace('-', '_')}::main: {m}",
        "ruby": lambda t, lv, s, m: (
            f"{lv[0]}, [{t.strftime('%Y-%m-%dT%H:%M:%S.%f')} #{number(s)}] {lv:>5} -- {s}: {m}"
        ),
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


def _plain(query: str, slots: set[str]) -> bool:
    """Whether the slots of a query are settled by the message that was printed."""
    return all(
        name in slots or name + "_p" in slots or name.removesuffix("_p") in slots
        for name in kit._SLOT.findall(query)
    )


def _incident(rng: random.Random, kind: Kind, slots: Slots) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """Events (level, lines) of an incident and its queries, filled."""
    variant = rng.choice(kind.variants)
    used = {"svc"}
    for event in variant:
        for line in event.lines:
            used.update(kit._SLOT.findall(line))
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
) -> tuple[Page, list[Label]]:
    """Traffic of `length` events with `incidents` different incidents, one of which may be a twin."""
    page, labels = Page(), []
    taken: set[str] = set()
    staff = rng.sample(kit.VOCABULARIES["svc"], services)
    chosen = rng.sample(kinds, min(incidents, len(kinds)))
    plan: list[tuple[str, Kind, bool]] = [(f"i{i}", kind, False) for i, kind in enumerate(chosen)]
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
    for at in scale:
        while queue and queue[0][0] <= at:
            _emit(page, layout, clock, queue.pop(0))
        level, text = rng.choice(favourites)
        name = rng.choice(staff)[0]
        page.say(layout(clock.tick(), level, name, Slots(rng, kit.VOCABULARIES).fill(text)))
    for item in queue:
        _emit(page, layout, clock, item)
    for key, kind, queries, slots in asks:
        for query in rng.sample(queries, k=min(len(queries), 2 if rng.random() < 0.25 else 1)):
            labels.append(Label(kit.vary(rng, slots.fill(query)), key, f"{kind.name}"))
    rng.shuffle(labels)
    labels = labels[:6]
    if rng.random() < 0.45 and (easy := kit.lexical(rng, page, rng.choice(plan)[0])):
        labels.append(easy)
    if rng.random() < 0.75:
        absent = rng.choice([k for k in kinds if k not in chosen and not _near(k, chosen)])
        slots = Slots(
            rng, kit.VOCABULARIES, dict(zip(("svc", "svc_p"), _word(rng, staff), strict=True)), taken
        )
        labels.append(
            Label(kit.vary(rng, slots.fill(rng.choice(absent.queries))), None, f"absent_{absent.name}")
        )
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


def _near(kind: Kind, others: list[Kind]) -> bool:
    """Whether a query for `kind` might be answered by one of the others."""
    names = {k.name for k in others}
    return any(kind.name in group and group & names for group in _NEAR)


def _word(rng: random.Random, staff: list[tuple[str, list[str]]]) -> tuple[str, str]:
    name, words = rng.choice(staff)
    return name, rng.choice(words)


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


SYSTEM = kit.parse_catalogue("""
= ssh_fail sshd
> Failed password for {user} from {wan} port {eport} ssh2
> Failed publickey for {user} from {wan} port {eport} ssh2: RSA SHA256:{hash}
? Whose remote sign-in was refused?
? From which outside address did {user} try in vain to get a shell?
? unsuccessful remote access by {user}
= ssh_invalid sshd
> Invalid user {word} from {wan} port {eport}
+ Connection closed by invalid user {word} {wan} port {eport} [preauth]
? Which made-up account name was tried from outside?
? Somebody guessed account names; show it.
? knocking with a login that does not exist
= ssh_ok sshd
> Accepted publickey for {user} from {ip} port {eport} ssh2: ED25519 SHA256:{hash}
+ pam_unix(sshd:session): session opened for user {user}(uid={nnnn}) by (uid=0)
? Who really got onto the machine remotely?
? When did {user} come in by key?
? successful remote entry
= sudo_ok sudo
> {user} : TTY=pts/{n} ; PWD=/home/{user} ; USER=root ; COMMAND=/usr/bin/systemctl restart {svc}
> {user} : TTY=pts/{n} ; PWD=/root ; USER=root ; COMMAND=/usr/bin/vim {file}
? What was done with root's rights, and by whom?
? Which privileged command did {user} give?
? use of elevated rights
= sudo_bad sudo
> {user} : user NOT in sudoers ; TTY=pts/{n} ; PWD=/home/{user} ; USER=root ; COMMAND=/bin/bash
> {user} : 3 incorrect password attempts ; TTY=pts/{n} ; PWD=/tmp ; USER=root ; COMMAND=/usr/bin/cat /etc/shadow
? Who wanted to become root without being allowed?
? rejected elevation of rights
? Did {user} overstep?
= oom kernel
> Out of memory: Killed process {pid} ({svc}) total-vm:{big}kB, anon-rss:{nnnnn}kB, file-rss:0kB
+ oom_reaper: reaped process {pid} ({svc}), now anon-rss:0kB
> {svc} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
+ Memory cgroup out of memory: Killed process {pid} ({svc})
? Which program had to be sacrificed for want of RAM?
? the operating system's last resort against memory shortage
? Was anything killed to free memory?
= disk_io kernel
> blk_update_request: I/O error, dev sd{letter}, sector {big} op 0x0:(READ)
+ Buffer I/O error on dev sd{letter}1, logical block {nnnnn}, async page read
> nvme nvme{n}: I/O {nnn} QID {n} timeout, aborting
? Which drive is dying?
? hardware trouble when reading sectors
? signs of a failing disk
= fs_ro kernel
> EXT4-fs error (device sd{letter}1): ext4_find_entry:{nnnn}: inode #{nnnnn}: reading directory lblock 0
+ EXT4-fs (sd{letter}1): Remounting filesystem read-only
? Which volume can only be read from now on?
? Did the file system protect itself?
? damage to a directory on disk and its consequence
= link_down kernel
> eth{n}: Link is Down
+ eth{n}: Link is Up - 1Gbps/Full - flow control rx/tx
> igb 0000:0{n}:00.0 eno{n}: NIC Link is Down
? Was a cable pulled?
? a network port lost its carrier
? Which interface went away for a while?
= segv kernel
> {svc}[{pid}]: segfault at {n} ip 00007f{hex}12 sp 00007ffd{hex} error 4 in libc.so.6[7f{hex}000+195000]
> traps: {svc}[{pid}] general protection fault ip:{hex} sp:{hex2} error:0
? Which program crashed by touching memory it must not?
? invalid memory access according to the kernel
? What crashed natively?
= thermal kernel
> CPU{n}: Core temperature above threshold, cpu clock throttled (total events = {nnn})
> thermal thermal_zone{n}: critical temperature reached ({nn} C), shutting down
? Is the machine too hot?
? heat makes a core slow down
= usb kernel
> usb {n}-{n2}: new high-speed USB device number {n3} using xhci_hcd
+ usb {n}-{n2}: Product: {word} Mass Storage
+ sd {n}:0:0:0: [sdb] Attached SCSI removable disk
? Was something plugged in?
? a stick or similar appeared
= fw kernel
> [UFW BLOCK] IN=eth0 OUT= SRC={wan} DST={ip} LEN=60 PROTO=TCP SPT={eport} DPT=23 SYN
> nft drop: IN=eth0 SRC={wan} DST={ip} PROTO=UDP SPT={eport} DPT=1900
? Which packet did the filter throw away?
? a blocked probe from outside
= unit_fail systemd
> {svc}.service: Main process exited, code=exited, status={n}/FAILURE
+ {svc}.service: Failed with result 'exit-code'.
> {svc}.service: Start request repeated too quickly.
+ Failed to start {svc}.service.
? Which service could not be kept running?
? How did {svc_p} end?
? a unit that gave up
= unit_timeout systemd
> {svc}.service: State 'stop-sigterm' timed out. Killing.
+ {svc}.service: Killing process {pid} with signal SIGKILL.
? What did not stop when told to and was ended by force?
? Who ignored the polite request to finish?
= unit_dep systemd
> Dependency failed for {svc}.service.
+ {svc}.service: Job {svc}.service/start failed with result 'dependency'.
? Which service was not even tried because something before it broke?
? start cancelled for want of a prerequisite
= mount systemd
> srv-{word}.mount: Mount process exited, code=exited, status=32/n/a
+ Failed to mount srv-{word}.mount - /srv/{word}.
? Which volume could not be attached?
? a file system is not where it belongs after boot
= watchdog systemd
> {svc}.service: Watchdog timeout (limit {sec}s)!
+ {svc}.service: Killing process {pid} ({svc}) with signal SIGABRT.
? Which process no longer gave signs of life?
? Was something frozen and therefore aborted?
= dhcp dhclient
> DHCPDISCOVER on eth{n} to 255.255.255.255 port 67 interval {n2}
+ No DHCPOFFERS received.
+ No working leases in persistent database - sleeping.
? Did the machine get an address?
? nobody on the net hands out addresses
= ntp chronyd
> System clock wrong by {nn}.{nnnn} seconds, adjustment started
> Can't synchronise: no selectable sources
? Is the time right on this box?
? clock correction or lack of sources
= cron_fail CRON
> ({user}) CMD ({job})
+ (CRON) error (grandchild #{pid} failed with exit status {n})
? Which timed command ended badly?
? Did {job_p} go through?
= cron_mail CRON
> (CRON) info (No MTA installed, discarding output)
? Why does nobody receive what timed commands print?
? output of scheduled commands lost
= apt unattended-upgrade
> Packages that will be upgraded: openssl libssl3 {word}-utils
+ All upgrades installed
> Could not get lock /var/lib/dpkg/lock-frontend. It is held by process {pid} (apt-get)
? Did the machine update itself, and what?
? automatic software maintenance
= dns systemd-resolved
> Using degraded feature set UDP instead of UDP+EDNS0 for DNS server {ip}.
> DNSSEC validation failed for question {peer} IN A: no-signature
? Trouble with translating names?
? the resolver lowers its demands or distrusts an answer
= docker dockerd
> level=error msg="Handler for POST /v1.43/containers/{hash}/start returned error: driver failed programming external connectivity: Bind for 0.0.0.0:{port} failed: port is already allocated"
? Which container was kept from starting because its port was taken?
? collision on a published port
= selinux audit
> AVC avc:  denied  { read } for  pid={pid} comm="{svc}" name="{word}.key" scontext=system_u:system_r:httpd_t:s0 tcontext=unconfined_u:object_r:user_home_t:s0 tclass=file permissive=0
> apparmor="DENIED" operation="open" profile="/usr/sbin/{svc}" name="{file}" pid={pid} requested_mask="r" denied_mask="r"
? Which access did mandatory access control forbid?
? a security module stopped a program
= mail postfix/smtp
> {hash}: to=<{user}@mail.example>, relay=none, delay={nnn}, status=deferred (connect to mx.mail.example[{wan}]:25: Connection timed out)
> {hash}: to=<{user}@mail.example>, relay=mx.mail.example[{wan}]:25, status=bounced (host said: 550 5.1.1 User unknown)
? Which letter could not be delivered?
? {user} did not get the message; the reason?
= reboot systemd-logind
> System is rebooting (kernel upgrade, requested by {user}).
> Power key pressed short.
+ Powering off...
? Why did the machine go down?
? planned end of the system, and by whom
""")
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

POSTGRES = kit.parse_catalogue("""
= deadlock ERROR
> deadlock detected
| DETAIL:  Process {pid} waits for ShareLock on transaction {nnnnn}; blocked by process {pid2}.
|  Process {pid2} waits for ShareLock on transaction {nnnnn2}; blocked by process {pid}.
| HINT:  See server log for query details.
| STATEMENT:  UPDATE {table} SET qty = qty - 1 WHERE id = {nnnn}
? Which two clients held each other up?
? mutual blocking and its victim
? circular waiting on {table_p}
= unique ERROR
> duplicate key value violates unique constraint "{table}_{word}_key"
| DETAIL:  Key ({word})=({hex}) already exists.
| STATEMENT:  INSERT INTO {table} ({word}) VALUES ('{hex}')
? Which row was already present?
? second copy of something refused
? a clash when adding to {table_p}
= missing_rel ERROR
> relation "{table}_{word}" does not exist at character {nn}
| STATEMENT:  SELECT count(*) FROM {table}_{word}
? Which statement names something that was never created?
? a missing table or view
= missing_col ERROR
> column "{word}_at" of relation "{table}" does not exist at character {nn}
| STATEMENT:  UPDATE {table} SET {word}_at = now() WHERE id = {nnnn}
? Which field is unknown to the database?
? code and layout of {table_p} disagree
= syntax ERROR
> syntax error at or near "{word}" at character {nn}
| STATEMENT:  SELECT * FROM {table} WERE {word} = {n}
? Which statement is not even valid?
? a typing mistake in a query
= cancel_timeout ERROR
> canceling statement due to statement timeout
| STATEMENT:  SELECT * FROM {table} t JOIN {word}_history h ON h.ref = t.id ORDER BY 1
? Which query ran longer than it may?
? time limit hit while reading {table_p}
= cancel_user ERROR
> canceling statement due to user request
| STATEMENT:  DELETE FROM {table} WHERE created_at < '{date}'
? What did somebody stop by hand?
? an interrupted removal
= lock_wait LOG
> process {pid} still waiting for AccessExclusiveLock on relation {nnnnn} of database 16384 after 1000.{nnn} ms
| DETAIL:  Process holding the lock: {pid2}. Wait queue: {pid}.
| STATEMENT:  ALTER TABLE {table} ADD COLUMN {word} text
? Who has to queue for a lock?
? Which change of layout is held up by another client?
? the alteration of {table_p} hangs
= auth FATAL
> password authentication failed for user "{user}"
| DETAIL:  Connection matched pg_hba.conf line {nn}: "host all all 0.0.0.0/0 scram-sha-256"
? Who gave the wrong secret to the database?
? rejected database login
= hba FATAL
> no pg_hba.conf entry for host "{ip}", user "{user}", database "{word}", no encryption
? From where may one not connect at all?
? a client that no rule admits
= too_many FATAL
> sorry, too many clients already
> remaining connection slots are reserved for non-replication superuser connections
? Is the server full?
? limit of simultaneous sessions reached
= nodb FATAL
> database "{word}_test" does not exist
? Which catalogue is asked for that nobody made?
? connecting to something absent
= checkpoint LOG
> checkpoints are occurring too frequently ({nn} seconds apart)
| HINT:  Consider increasing the configuration parameter "max_wal_size".
? Does the server write its dirty pages out too often?
? advice to enlarge the journal
= slow LOG
> duration: {slow}.{nnn} ms  statement: SELECT sum(total) FROM {table} WHERE {word} IS NOT NULL GROUP BY region
? Which statement took seconds?
? a sluggish summary over {table_p}
= temp LOG
> temporary file: path "base/pgsql_tmp/pgsql_tmp{pid}.{n}", size {big}
| STATEMENT:  SELECT * FROM {table} ORDER BY {word}
? Which sort did not fit into memory?
? spill to disk
= autovac LOG
> automatic vacuum of table "app.public.{table}": index scans: 1
|  pages: 0 removed, {nnnn} remain, {nnn} scanned
|  tuples: {nnnn} removed, {nnnnn} remain, 0 are dead but not yet removable
| system usage: CPU: user: 0.{nn} s, system: 0.0{n} s
? What was cleaned up by itself, and how many dead rows went?
? housekeeping of {table_p}
= wraparound WARNING
> database "app" must be vacuumed within {big} transactions
| HINT:  To avoid a database shutdown, execute a database-wide VACUUM in that database.
? What threatens to stop the server?
? the counter of transactions is nearly used up
= repl LOG
> invalidating obsolete replication slot "{word}_slot"
| DETAIL:  The slot's restart_lsn {n}/{hex} exceeds the limit by {big} bytes.
? Which follower fell too far behind?
? a subscriber's place was given up
= crash LOG
> server process (PID {pid}) was terminated by signal 9: Killed
| DETAIL:  Failed process was running: SELECT * FROM {table}
+ terminating any other active server processes
+ all server processes terminated; reinitializing
? What brought all sessions down?
? collapse of one backend and what followed
= fk ERROR
> update or delete on table "{table}" violates foreign key constraint "{word}_{table}_fkey" on table "{word}"
| DETAIL:  Key (id)=({nnnn}) is still referenced from table "{word}".
| STATEMENT:  DELETE FROM {table} WHERE id = {nnnn}
? What could not be removed because something still points to it?
? dependants keep a row alive
= notnull ERROR
> null value in column "{word}" of relation "{table}" violates not-null constraint
| DETAIL:  Failing row contains ({nnnn}, null, {date}).
? A required field was left empty.
? incomplete row refused for {table_p}
= check ERROR
> new row for relation "{table}" violates check constraint "{table}_{word}_positive"
| DETAIL:  Failing row contains ({nnnn}, -{n}, {date}).
? An implausible number was refused.
? a rule on values kept out a row
= perm ERROR
> permission denied for table {table}
| STATEMENT:  SELECT * FROM {table}
? Which role may not read something?
? lacking a grant on {table_p}
= reload LOG
> received SIGHUP, reloading configuration files
| parameter "work_mem" changed to "{mib}MB"
? Were server settings changed without a restart?
? a parameter got a new value
""")
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
    """Records of combined service logs; `observations` is how many outputs to make (default 200)."""
    for index in range(int(options.get("observations", 200))):
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
    )
    command = rng.choice(_COMMANDS[tool_type]).replace("{k}", str(len(page.lines)))
    yield from kit.records(
        page,
        labels,
        tool_type=tool_type,
        command=command,
        family=NAME,
        project=f"{rng.choice('atlas boreal cobalt dorado ember fathom'.split())}-{index % 40}",
        ident=f"logs-{index}-{rng.getrandbits(32):08x}",
    )


_MAKERS: dict[Callable[[random.Random, int], Iterator[Record]], float] = {
    _services: 5,
    _system: 2,
    _postgres: 2,
    _nginx: 1.5,
}
