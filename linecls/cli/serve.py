"""`linecls serve`: the HTTP server."""

from __future__ import annotations

import ipaddress
import os
import socket

import click

from linecls.errors import LineclsError, missing_extra
from linecls.streams import warn

TOKEN_VARIABLE = "LINECLS_TOKEN"

_HELP = """Serve over HTTP: POST /prune and /prune_batch, GET /health, /metrics and /openapi.json.

/prune also takes SWE-Pruner's requests (query, code, threshold) and answers them in its shape. The server listens on
loopback unless told otherwise; elsewhere it needs a token, from the file named by --token-file or the environment
variable LINECLS_TOKEN. Requests over the limits get 413 or 429; an ordered end (SIGTERM, Ctrl-C) finishes what is open.

\b
Examples:
  linecls serve
  curl -s localhost:8000/prune -H 'content-type: application/json' \\
       -d '{"query": "which test fails", "observation": "ok 1\\nnot ok 2\\n"}'
  linecls serve --host 0.0.0.0 --token-file token.txt

Needs the extra `serve`.
"""


@click.command("serve", help=_HELP, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--token-file", type=click.Path(dir_okay=False), help="File whose first line is the bearer token.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="Further name that clients may ask for by Host.")
@click.option("--max-body", default=8.0, show_default=True, metavar="MB", help="Most megabytes of one request.")
@click.option("--max-requests", default=64, show_default=True, type=click.IntRange(min=1), help="At one time.")
@click.option("--timeout", default=60.0, show_default=True, metavar="SECONDS", help="Most seconds for an answer.")
@click.option(
    "--batch-wait", default=2.0, show_default=True, metavar="MS", help="Milliseconds that a request waits for company."
)
@click.option("--model", metavar="MODEL", help="Model directory or hub id, in place of the embedded model.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda[:N] or tensorrt[:N].")
@click.option("--threads", type=click.IntRange(min=1), help="CPU threads.  [default: the physical cores]")
def command(
    host: str,
    port: int,
    token_file: str | None,
    allow_host: tuple[str, ...],
    max_body: float,
    max_requests: int,
    timeout: float,
    batch_wait: float,
    model: str | None,
    device: str,
    threads: int | None,
) -> None:
    """The click command; see `_HELP`."""
    for name, value in (("--max-body", max_body), ("--timeout", timeout)):
        if not 0 < value < 1e6:
            raise click.BadParameter("must be above 0.", param_hint=name)
    if not 0 <= batch_wait <= 1000:
        raise click.BadParameter("must lie between 0 and 1000.", param_hint="--batch-wait")
    token = _token(token_file)
    if not _is_loopback(host) and token is None:
        raise LineclsError(
            f"{host} can be reached from other machines: give a token with --token-file or {TOKEN_VARIABLE},"
            " or listen on 127.0.0.1"
        )
    try:
        from linecls.serving import http
    except ModuleNotFoundError as error:
        raise missing_extra(str(error.name), "serve") from error
    from linecls.pruner import Pruner
    from linecls.serving.batching import Limits
    from linecls.serving.guard import LOOPBACK_NAMES, Rules

    pruner = Pruner.from_pretrained(model, device=device, threads=threads)
    hosts = LOOPBACK_NAMES | {host.lower(), *(name.lower() for name in allow_host)}
    rules = Rules(
        token=token,
        hosts=hosts if _is_loopback(host) or allow_host else None,
        max_body=int(max_body * 1e6),
        max_requests=max_requests,
        request_seconds=timeout,
    )
    app = http.create_app(pruner, rules, Limits(wait_seconds=batch_wait / 1000))
    with _listen(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        warn(f"listening on http://{name}:{listener.getsockname()[1]}")
        http.serve(app, listener)


def _token(path: str | None) -> str | None:
    """The bearer token of the file or the environment. Raises LineclsError when there is a source without one."""
    if path is None:
        token = os.environ.get(TOKEN_VARIABLE)
        source = f"the environment variable {TOKEN_VARIABLE}"
    else:
        source = path
        try:
            with open(path, encoding="utf-8") as file:
                token = file.readline().strip()
        except (OSError, ValueError) as error:
            raise LineclsError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if token is not None and not (token.strip() and token.isascii() and token.isprintable()):
        raise LineclsError(f"{source} holds no token: one line of printable ASCII characters")
    return token


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    try:
        (family, kind, *_, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(1024)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise LineclsError(f"cannot listen on {host} port {port}: {error.strerror}; choose another") from error
    return listener
