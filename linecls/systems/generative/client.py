"""JSON over HTTP with patience: retries with back-off, a shared pause after a rate limit, one-line errors."""

from __future__ import annotations

import http.client
import ipaddress
import json
import math
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from linecls.errors import LineclsError

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_FIRST_WAIT = 1.0  # seconds before the first retry; doubled for each further one
_LONGEST_WAIT = 120.0  # a server that asks for more is not waited for
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum context|too (?:long|many tokens)|exceeds?\b.{0,40}\b(?:context|n_ctx)",
    re.IGNORECASE,
)


class EndpointError(LineclsError):
    """A server cannot be used: down, unwilling, or speaking something else. The message is one line."""


class ContextError(EndpointError):
    """The server says that this one request does not fit the model's context."""


@dataclass(frozen=True)
class Completion:
    """What a model wrote. seconds: latency of the request that succeeded, without waits and failed tries."""

    text: str
    cut: bool
    prompt_tokens: int
    completion_tokens: int
    seconds: float


class JsonClient:
    """Requests to one server; may be used by several threads at once."""

    def __init__(self, base_url: str, *, api_key: str | None = None, timeout: float = 600.0, retries: int = 5) -> None:
        """base_url: http(s), without the last part of the path; api_key: sent as a bearer token.

        timeout: seconds until a silent server counts as failed; retries: further tries of a request that met a
        rate limit, a server error, a time-out or a broken connection, 1, 2, 4, … seconds apart or as the server's
        Retry-After asks. Raises EndpointError for an unusable address or key.
        """
        self.base_url = base_url.strip().rstrip("/")
        try:
            parts = urlsplit(self.base_url)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port, parts = None, None, urlsplit("")
        if parts.scheme not in ("http", "https") or not host:
            raise EndpointError(f"'{base_url}' is no address of a server; write http://HOST:PORT/v1 or https://HOST/v1")
        self.shown = f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"  # without user and password
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if api_key is not None and api_key.strip():
            if not api_key.strip().isascii() or not api_key.strip().isprintable():
                raise EndpointError("the API key holds characters that no key has; set it again")
            self._headers["Authorization"] = f"Bearer {api_key.strip()}"
        self._timeout, self._retries = timeout, retries
        self.is_loopback = _is_loopback(host)
        proxies = [urllib.request.ProxyHandler({})] if self.is_loopback else []
        self._opener = urllib.request.build_opener(_NoRedirect, *proxies)
        self._lock = threading.Lock()
        self._not_before = 0.0  # monotonic: a rate limit holds for all threads
        self._has_answered = False

    def request(self, path: str, body: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], float]:
        """The JSON object that the server answers to a POST of `body` (a GET without one), and the seconds it took.

        Raises ContextError where the server says that the request is too long for the model, EndpointError
        when it cannot be reached, refuses, or has not answered after all retries.
        """
        data = None if body is None else json.dumps(body).encode()
        wait = _FIRST_WAIT
        for attempt in range(self._retries + 1):
            self._pause()
            start = time.perf_counter()
            try:
                value = self._once(path, data)
                self._has_answered = True
                return value, time.perf_counter() - start
            except _Transient as failure:
                hopeless = failure.refused and not self._has_answered
                asked = failure.retry_after
                if attempt == self._retries or hopeless or (asked or 0.0) > _LONGEST_WAIT:
                    tries = f" after {attempt + 1} tries" if attempt else ""
                    raise EndpointError(f"{self.shown}: {failure}{tries}{failure.advice}") from None
                if asked is not None and failure.is_limit:
                    with self._lock:
                        self._not_before = max(self._not_before, time.monotonic() + asked)
                else:
                    time.sleep(asked if asked is not None else wait)
                wait = min(2 * wait, _LONGEST_WAIT)
        raise AssertionError("unreachable")

    def _pause(self) -> None:
        with self._lock:
            rest = self._not_before - time.monotonic()
        if rest > 0:
            time.sleep(rest)

    def _once(self, path: str, data: bytes | None) -> dict[str, Any]:
        request = urllib.request.Request(f"{self.base_url}/{path}", data, self._headers)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                content = response.read()
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except TimeoutError:
            raise _Transient(f"no answer within {self._timeout:g} s") from None
        except urllib.error.URLError as error:
            reason = error.reason
            if isinstance(reason, TimeoutError):
                raise _Transient(f"no answer within {self._timeout:g} s") from None
            refused = isinstance(reason, (ConnectionRefusedError, socket.gaierror))
            text = getattr(reason, "strerror", None) or str(reason)
            raise _Transient(
                f"cannot be reached ({text})", refused=refused, advice="; start the server or correct the address"
            ) from None
        except (http.client.HTTPException, OSError) as error:
            raise _Transient(f"broke the connection ({type(error).__name__})") from None
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise _Transient("answered with something that is no JSON object", advice="; is this the right address?")
        return value

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        """The exception for an HTTP status other than success."""
        try:
            message = _message(error.read())
        except (OSError, http.client.HTTPException):
            message = ""
        said = f": {message}" if message else ""
        where = f"{self.shown}: "
        if error.code in (401, 403):
            has_key = "Authorization" in self._headers
            hint = "the API key is wrong or may not do this" if has_key else "it wants an API key"
            return EndpointError(f"{where}refused with status {error.code}; {hint}{said}")
        if error.code in (400, 413, 422) and _TOO_LONG.search(message):
            return ContextError(f"{where}too long for the model{said}")
        if error.code in _RETRIED:
            limit = error.code == 429
            what = "the rate limit is reached" if limit else f"failed with status {error.code}"
            asked = _retry_after(error.headers.get("Retry-After"))
            if asked is not None and asked > _LONGEST_WAIT:
                what += f" and it asks to wait {asked:.0f} s"
            return _Transient(
                what + said,
                retry_after=asked,
                is_limit=limit,
                advice="; run again later, or with less concurrency" if limit else "",
            )
        if error.code == 404:
            return EndpointError(f"{where}status 404; the path or the model's name is wrong{said}")
        return EndpointError(f"{where}refused with status {error.code}{said}")


class _Transient(Exception):
    """A failure that another try may not meet."""

    def __init__(
        self,
        text: str,
        *,
        retry_after: float | None = None,
        refused: bool = False,
        is_limit: bool = False,
        advice: str = "",
    ) -> None:
        super().__init__(text)
        self.retry_after, self.refused, self.is_limit, self.advice = retry_after, refused, is_limit, advice


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected POST would lose its body and hand the key to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def chat_completion(client: JsonClient, payload: Mapping[str, Any]) -> Completion:
    """POST `payload` to `chat/completions` and read the first choice.

    Raises EndpointError as `JsonClient.request` does, and for an answer that is no chat completion.
    """
    value, seconds = client.request("chat/completions", payload)
    try:
        choice = value["choices"][0]
        content = choice["message"]["content"]
    except (TypeError, LookupError):
        said = _message(json.dumps(value).encode())
        raise EndpointError(
            f"{client.shown}: the answer is no chat completion{f': {said}' if said else ''}; is this an "
            "OpenAI-compatible endpoint?"
        ) from None
    if isinstance(content, list):  # parts, of which the text ones count
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    usage = value.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Completion(
        text=content if isinstance(content, str) else "",
        cut=choice.get("finish_reason") in ("length", "max_tokens"),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        seconds=seconds,
    )


def first_model(client: JsonClient) -> str:
    """The name of the first model that the server lists. Raises EndpointError where it lists none."""
    value, _ = client.request("models")
    try:
        return str(value["data"][0]["id"])
    except (TypeError, LookupError):
        raise EndpointError(f"{client.shown}: lists no model; name one") from None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _message(content: bytes) -> str:
    """What a server says about a failure, in one short line; empty where it says nothing readable."""
    text = content[:10_000].decode("utf-8", "replace")
    try:
        value: Any = json.loads(content)
        for key in ("error", "message", "detail"):
            if isinstance(value, dict) and key in value:
                value = value[key]
        text = value if isinstance(value, str) else json.dumps(value) if value else ""
    except (ValueError, RecursionError):
        if "<" in text:  # a proxy's page
            return ""
    text = " ".join(text.split())
    return text if len(text) <= 200 else text[:197] + "..."


def _retry_after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for; None where it is missing or unreadable."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return None
        when = when if when.tzinfo else when.replace(tzinfo=timezone.utc)
        seconds = (when - datetime.now(timezone.utc)).total_seconds()
    return None if math.isnan(seconds) else max(seconds, 0.0)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
