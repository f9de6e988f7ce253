"""What stands between a socket and the application: who may ask, how much, and for how long."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
GONE = 499  # the status, in the counters alone, of a request whose client went away


@dataclass(frozen=True)
class Rules:
    """Limits on requests.

    token: bearer token that every path but `/health` asks for; None asks for none.
    hosts: names that the Host header may carry, in lower case and without port; None takes any. Loopback alone
        keeps out web pages whose name was pointed at 127.0.0.1.
    max_body: bytes of one request's body.
    max_requests: requests at one time; further ones get 429.
    max_buffered: bytes of all bodies at one time; what goes over gets 429. One request alone is always taken.
    body_seconds: from a request's head to the end of its body.
    request_seconds: from the end of the body to the answer.
    """

    token: str | None = None
    hosts: Collection[str] | None = LOOPBACK_NAMES
    max_body: int = 8 << 20
    max_requests: int = 64
    max_buffered: int = 64 << 20
    body_seconds: float = 30.0
    request_seconds: float = 60.0


class _Refused(Exception):
    def __init__(self, status: int, detail: str, **headers: str) -> None:
        self.status, self.detail, self.headers = status, detail, headers


class _Gone(Exception):
    """The client went away before its request was complete."""


class Guard:
    """ASGI middleware: host, token, numbers, sizes and times, before and around the application.

    observe: called once per request with path, status and seconds.
    """

    def __init__(self, app: App, rules: Rules, observe: Callable[[str, int, float], None]) -> None:
        self._app = app
        self._rules = rules
        self._observe = observe
        self._requests = 0
        self._buffered = 0
        self._token = sha256(rules.token.encode("utf-8")).digest() if rules.token is not None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        begun, status = time.monotonic(), GONE

        async def recording(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._admit(scope, receive, recording)
        except _Refused as refusal:
            if status == GONE:  # no answer has begun
                await _answer(recording, refusal)
        except _Gone:
            pass
        finally:
            self._observe(scope["path"], status, time.monotonic() - begun)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        self._check_host(headers.get(b"host", b""))
        if scope["path"] == "/health":
            await self._run(scope, b"", receive, send)
            return
        self._check_token(headers.get(b"authorization", b""))
        if self._requests >= self._rules.max_requests:
            raise _busy()
        self._requests += 1
        body = bytearray()
        try:
            try:
                await asyncio.wait_for(self._read(headers, receive, body), self._rules.body_seconds)
            except asyncio.TimeoutError:
                raise _Refused(408, "the body did not arrive in time", connection="close") from None
            await self._run(scope, bytes(body), receive, send)
        finally:
            self._requests -= 1
            self._buffered -= len(body)

    def _check_host(self, header: bytes) -> None:
        if self._rules.hosts is None:
            return
        host = header.decode("latin-1").lower()
        name = "".join(host.partition("]")[:2]) if host.startswith("[") else host.partition(":")[0]
        if name not in self._rules.hosts:
            raise _Refused(421, "this server does not answer for that host name; see --allow-host")

    def _check_token(self, header: bytes) -> None:
        if self._token is None:
            return
        scheme, _, given = header.partition(b" ")
        matches = hmac.compare_digest(sha256(given.strip()).digest(), self._token)
        if scheme.lower() != b"bearer" or not matches:
            raise _Refused(401, "a bearer token is needed", **{"www-authenticate": "Bearer"})

    async def _read(self, headers: dict[bytes, bytes], receive: Receive, body: bytearray) -> None:
        too_large = _Refused(413, f"the body is over {self._rules.max_body} bytes", connection="close")
        announced = headers.get(b"content-length", b"")
        if announced.isdigit() and int(announced) > self._rules.max_body:
            raise too_large
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            piece = message.get("body", b"")
            if len(body) + len(piece) > self._rules.max_body:
                raise too_large
            if self._buffered > len(body) and self._buffered + len(piece) > self._rules.max_buffered:
                raise _busy()
            body += piece
            self._buffered += len(piece)
            if not message.get("more_body", False):
                return

    async def _run(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Run the application on a body that is all here, until it is done, its time is up or the client is gone."""
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            if unread:
                return unread.pop()
            await asyncio.Event().wait()  # the client's going away is watched for here
            raise AssertionError

        work = asyncio.ensure_future(self._app(scope, replay, send))
        gone = asyncio.ensure_future(_disconnect(receive))
        try:
            await asyncio.wait({work, gone}, timeout=self._rules.request_seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            elif not gone.done():
                raise _Refused(504, f"no answer within {self._rules.request_seconds:g} seconds")
        finally:
            for task in (work, gone):
                task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await task


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _busy() -> _Refused:
    return _Refused(429, "too many requests at one time; try again in a second", **{"retry-after": "1"})


async def _answer(send: Send, refusal: _Refused) -> None:
    body = json.dumps({"detail": refusal.detail}).encode("ascii")
    headers = {"content-type": "application/json", "content-length": str(len(body)), **refusal.headers}
    await send(
        {
            "type": "http.response.start",
            "status": refusal.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": body})
