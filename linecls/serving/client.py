"""Ask the resident process for an answer. Whatever goes wrong, the answer is None and the caller prunes by itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from linecls.serving import endpoint
from linecls.serving.endpoint import Endpoint, EndpointError

if TYPE_CHECKING:
    import socket
    import subprocess
    from collections.abc import Callable
    from typing import BinaryIO

ENVIRONMENT = "LINECLS_DAEMON"  # 1: use and start on demand; 0: never use; unset: use the one that runs

_CONNECT_SECONDS = 0.5
_SILENCE_SECONDS = 2.0  # the process says at least twice a second that it is working
_DEADLINE_SECONDS = 30.0
_SLOWEST_BYTES_PER_SECOND = 5_000.0
_START_SECONDS = 30.0  # so long a start on demand is given before another is tried


class Answer(NamedTuple):
    """What `Pruner.prune` decided: spans (1-based, inclusive), the probability that something answers, and
    `Pruning.unfit_tokens`."""

    spans: list[tuple[int, int]]
    answerable: float
    unfit_tokens: int | None = None


def ask(
    query: str,
    raw: bytes,
    options: dict[str, Any],
    *,
    wanted: bool | None = None,
    model: str | os.PathLike[str] | None = None,
    device: str = "auto",
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Answer | None:
    """The resident process's answer for a query and the bytes of an observation, or None. Never raises.

    options: keyword arguments of `Pruner.prune`.
    wanted: True starts a process in the background when none runs (this call does not wait for it), False
        asks nobody, None follows the environment variable LINECLS_DAEMON.
    model, device, threads: as for `Pruner.from_pretrained`; a process with others does not answer.
    progress: called with the number of lines done so far and that of all lines, while a long answer is made.

    None also when the process is busy, does not answer in time, or found fault with the request: pruning in the
    own process then gives the result, or the error.
    """
    if wanted is None:
        setting = os.environ.get(ENVIRONMENT)
        wanted, allowed = setting == "1", setting != "0"
    else:
        allowed = wanted
    if not allowed:
        return None
    try:
        place = endpoint.find(model, device, threads)
        if not os.path.exists(place.socket):
            if wanted:
                start(place)
            return None
        return _ask(place, query, raw, options, wanted, progress)
    except Exception:  # the caller has another way to its answer
        return None


def _ask(
    place: Endpoint,
    query: str,
    raw: bytes,
    options: dict[str, Any],
    wanted: bool,
    progress: Callable[[int, int], None] | None,
) -> Answer | None:
    import time

    from linecls.serving.frames import Line

    try:
        connection = connect(place.socket)
    except ConnectionRefusedError:  # nobody listens any more: left over from a process that was killed
        if wanted:
            start(place)
        return None
    with connection:
        deadline = time.monotonic() + _DEADLINE_SECONDS + len(raw) / _SLOWEST_BYTES_PER_SECOND
        line = Line(connection, silence=_SILENCE_SECONDS, deadline=deadline)
        line.send({"kind": "prune", "identity": place.identity, "query": query, "options": options}, raw)
        while True:
            header, _ = line.receive()
            if header["kind"] == "working":
                if progress is not None and "done" in header:
                    progress(int(header["done"]), int(header["total"]))
                continue
            if header["kind"] != "answer":
                return None
            spans = [(int(start), int(end)) for start, end in header["spans"]]
            return Answer(spans, float(header["answerable"]), header.get("unfit_tokens"))


def connect(path: str) -> socket.socket:
    """A connection to a socket in the private directory.

    Raises EndpointError when directory or peer are not this user's, OSError when nobody listens.
    """
    import socket

    from linecls.serving.frames import peer_uid

    if not endpoint.is_private(os.path.dirname(path)):
        raise EndpointError(f"{os.path.dirname(path)} is not a directory that only you may enter")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_CONNECT_SECONDS)
        connection.connect(path)
        if peer_uid(connection) not in (None, os.geteuid()):
            raise EndpointError(f"{path} belongs to another user")
    except BaseException:
        connection.close()
        raise
    return connection


def start(
    place: Endpoint,
    *,
    idle_seconds: int | None = None,
    patience: float = _START_SECONDS,
    errors: BinaryIO | None = None,
) -> subprocess.Popen[bytes] | None:
    """Start a resident process in the background, without waiting for it.

    errors: where its stderr goes; None for nowhere.
    None, and none started, when an earlier start is not `patience` seconds old: it may still be loading the
    model, or it has failed and would fail again. Raises EndpointError and OSError.
    """
    import subprocess
    import sys
    import time

    endpoint.make_private(place.directory)
    try:
        if abs(time.time() - os.stat(place.lock).st_mtime) < patience:
            return None
    except FileNotFoundError:
        pass
    with open(place.lock, "ab"):
        os.utime(place.lock)
    command = [sys.executable, "-m", "linecls", "daemon", "run", "--model", place.identity["model"]]
    command += ["--device", place.identity["device"]]
    if place.identity["threads"] is not None:
        command += ["--threads", str(place.identity["threads"])]
    if idle_seconds is not None:
        command += ["--idle", str(idle_seconds)]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(
        command,
        stdin=nowhere,
        stdout=nowhere,
        stderr=nowhere if errors is None else errors,
        cwd="/",
        start_new_session=True,
        close_fds=True,
    )
