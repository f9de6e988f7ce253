"""The HTTP server: `/prune`, `/prune_batch`, `/health`, `/metrics`, and SWE-Pruner's shape of `/prune`."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.security import HTTPBearer
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    Tag,
    create_model,
)
from starlette.exceptions import HTTPException
from tokenizers import Tokenizer

import linecls
from linecls import rendering
from linecls.decoding import OperatingPoint
from linecls.errors import LineclsError, empty_query
from linecls.observation import Observation, is_blank, scoring_text, split_lines
from linecls.pruner import Pruner, Pruning
from linecls.serving import swe_pruner
from linecls.serving.batching import Batcher, Closed, Limits, Overloaded
from linecls.serving.guard import Guard, Rules
from linecls.serving.meters import CONTENT_TYPE, Counter, Gauge, Histogram, exposition

MAX_BATCH = 256  # observations of one /prune_batch
MAX_QUERY = 65_536  # characters

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_PAIRS = (1, 2, 4, 8, 16, 32, 64)
_DESCRIPTION = """Prunes the output of tools to the verbatim lines that answer a query.

Text goes in and comes out as JSON strings, so an observation must be valid Unicode; `linecls prune` takes any bytes."""


def _short_enough(query: str) -> str:
    if len(query) > MAX_QUERY:
        raise ValueError(f"a query has at most {MAX_QUERY} characters")
    return query


def _asked(query: str) -> str:
    if is_blank(query):
        raise empty_query()
    return query


def _number(value: Any) -> Any:
    if isinstance(value, (bool, str)):  # which pydantic would turn into numbers
        raise ValueError("Input should be a number")
    return value


_Number = BeforeValidator(_number)  # behind the limits, or they are missing in the schema
# Not as maxLength in the schema: beside a pattern it makes generators of test cases build a string that long.
_Query = Annotated[str, AfterValidator(_short_enough)]
# `is_blank` as a pattern for the schema. No \S: what is white space differs between the dialects of expressions.
_ASKED = r"[^\x00-\x20\x7f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"


class Problem(BaseModel):
    """Why a request was not served."""

    detail: str


class Lines(BaseModel):
    """A run of lines, 1-based and inclusive."""

    start_line: int
    end_line: int


class PruneReply(BaseModel):
    """What is kept of one observation. `answerable` is the probability that it answers the query at all.

    When the kept text holds lone surrogates, they are U+FFFD in `text` and `text_base64` has the exact text. Where
    nothing is kept because the best line alone is over `max_tokens`, `unfit_tokens` has its tokens.
    """

    spans: list[Lines]
    kept_lines: int
    total_lines: int
    answerable: float
    text: str
    text_base64: str | None = None
    unfit_tokens: int | None = None


class BatchReply(BaseModel):
    """One reply per observation, in order."""

    results: list[PruneReply]


class SwePrunerRequest(BaseModel):
    """SWE-Pruner's request; told from ours by `code`. `chunk_overlap_tokens` is taken and has no effect."""

    query: _Query
    code: str
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), _Number] = 0.5
    always_keep_first_frags: StrictBool = False
    chunk_overlap_tokens: Annotated[int, _Number] = 50


class SwePrunerReply(BaseModel):
    """SWE-Pruner's reply; see docs/serving.md for what its numbers mean here."""

    score: float
    pruned_code: str
    token_scores: list[tuple[str, float]]
    kept_frags: list[int]
    origin_token_cnt: int
    left_token_cnt: int
    model_input_token_cnt: int
    error_msg: str | None = None


class Health(BaseModel):
    """That the server answers; `open_pairs` observations wait or run."""

    status: Literal["healthy"]
    model_loaded: Literal[True]
    version: str
    model: str
    open_pairs: int


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Json(JSONResponse):
    """JSON in ASCII: a lone surrogate, which JSON can carry and UTF-8 cannot, comes back as it came."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def create_app(pruner: Pruner, rules: Rules | None = None, limits: Limits | None = None) -> Guard:
    """The ASGI application, guarded by `rules`, with one queue of `limits` for the pruner."""
    rules = rules or Rules()
    service = _Service(pruner, limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.batcher.start()
        yield
        await service.batcher.close()

    app = FastAPI(
        title="linecls",
        version=linecls.__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
        redirect_slashes=False,
    )
    _add_routes(app, service, guarded=rules.token is not None)
    _add_problems(app)
    guard = Guard(app, rules, service.observe)
    guard.openapi = app.openapi  # pyright: ignore[reportAttributeAccessIssue]
    return guard


def serve(app: Guard, listener: socket.socket, *, grace_seconds: float = 30.0) -> None:
    """Serve on a bound socket until SIGINT or SIGTERM, then finish what is open, for at most `grace_seconds`.

    A pruning that nobody waits for any more cannot be interrupted: when it lasts longer, the process ends all the same.
    """
    import os
    import signal
    import threading

    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            end = threading.Timer(grace_seconds + 1, os._exit, (0,))
            end.daemon = True
            end.start()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="on",
        backlog=1024,
        limit_concurrency=1024,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=int(grace_seconds),
    )
    server = Server(config)
    # For a signal that comes before uvicorn listens to signals; and uvicorn raises it again when it is done, though
    # an ordered end is no failure.
    signal.signal(signal.SIGTERM, lambda *_: setattr(server, "should_exit", True))
    server.run(sockets=[listener])


class _Service:
    """The pruner behind its queue, and its counters."""

    paths = frozenset({"/prune", "/prune_batch", "/health", "/metrics", "/openapi.json"})

    def __init__(self, pruner: Pruner, limits: Limits | None) -> None:
        self.pruner = pruner
        self.point = pruner.artifact.operating_point()
        self.tokenizer = Tokenizer.from_file(str(pruner.artifact.tokenizer))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.requests = Counter("linecls_requests_total", "Requests by path and status.", ("path", "status"))
        self.lines = Counter("linecls_lines_total", "Lines of observations, kept and dropped.", ("fate",))
        self.seconds = Histogram("linecls_request_seconds", "Time from a request's head to its answer.", _SECONDS)
        self.pairs = Histogram("linecls_batch_pairs", "Pairs of query and observation that ran together.", _PAIRS)
        self.batcher = Batcher(pruner.prune_many, limits, on_batch=self.pairs.observe)
        waiting = Gauge("linecls_open_pairs", "Pairs that wait or run.", lambda: self.batcher.open_pairs)
        self.meters = (self.requests, self.lines, self.seconds, self.pairs, waiting)

    def observe(self, path: str, status: int, seconds: float) -> None:
        self.requests.add(1, path if path in self.paths else "other", str(status))
        if path.startswith("/prune"):
            self.seconds.observe(seconds)

    async def prune(self, pairs: Sequence[tuple[str, str]], options: dict[str, Any]) -> list[Pruning]:
        prunings = await self.batcher.prune(pairs, options)
        self.lines.add(sum(p.kept_lines for p in prunings), "kept")
        self.lines.add(sum(p.total_lines - p.kept_lines for p in prunings), "dropped")
        return prunings

    async def prune_like_swe_pruner(self, request: SwePrunerRequest) -> dict[str, Any]:
        if is_blank(request.query):
            return swe_pruner.whole(request.code, "the query is empty, so nothing was pruned")
        options = swe_pruner.decoding_options(request.threshold, self.point)
        (pruning,) = await self.prune([(request.query, request.code)], options)
        return await asyncio.to_thread(self._swe_pruner_reply, request, pruning)

    def _swe_pruner_reply(self, request: SwePrunerRequest, pruning: Pruning) -> dict[str, Any]:
        return swe_pruner.response(
            request.code,
            pruning.spans,
            pruning.keep_logits.tolist(),
            pruning.answerable,
            self._count([scoring_text(line) for line in split_lines(request.code)]),
            self._count([scoring_text(request.query)])[0],
            self.point,
            keep_first=request.always_keep_first_frags,
        )

    def _count(self, texts: list[str]) -> list[int]:
        return [len(encoding.ids) for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]


def _add_routes(app: FastAPI, service: _Service, *, guarded: bool) -> None:
    prune_request, batch_request = _requests(service.pruner.artifact.operating_points)
    body = Annotated[
        Annotated[prune_request, Tag("linecls")] | Annotated[SwePrunerRequest, Tag("swe_pruner")],  # pyright: ignore[reportInvalidTypeForm]
        Discriminator(lambda value: "swe_pruner" if isinstance(value, dict) and "code" in value else "linecls"),
    ]
    problems: dict[int | str, Any] = {status: {"model": Problem} for status in (400, 408, 413, 422, 429, 503, 504)}
    if guarded:
        problems[401] = {"model": Problem}
    secured = [Depends(HTTPBearer(auto_error=False))] if guarded else []

    async def prune(request: body) -> Any:  # pyright: ignore[reportInvalidTypeForm]
        if isinstance(request, SwePrunerRequest):
            return _Json(await service.prune_like_swe_pruner(request))
        query, observation, options = request.query, request.observation, _options(request, "query", "observation")
        (pruning,) = await service.prune([(query, observation)], options)
        return _Json(_reply(observation, pruning))

    async def prune_batch(request: batch_request) -> Any:  # pyright: ignore[reportInvalidTypeForm]
        pairs = [(item.query, item.observation) for item in request.items]
        prunings = await service.prune(pairs, _options(request, "items")) if pairs else []
        return _Json({"results": [_reply(o, p) for (_, o), p in zip(pairs, prunings, strict=True)]})

    async def health() -> Any:
        artifact = service.pruner.artifact
        return Health(
            status="healthy",
            model_loaded=True,
            version=linecls.__version__,
            model=f"{artifact.name} {artifact.version}",
            open_pairs=service.batcher.open_pairs,
        )

    async def metrics() -> Any:
        return PlainTextResponse(exposition(service.meters), media_type=CONTENT_TYPE)

    # FastAPI reads the annotations, which are strings in this module and stand for local names.
    prune.__annotations__["request"] = body
    prune_batch.__annotations__["request"] = batch_request
    post: dict[str, Any] = {"methods": ["POST"], "responses": problems, "dependencies": secured}
    app.add_api_route("/prune", prune, response_model=PruneReply | SwePrunerReply, **post)
    app.add_api_route("/prune_batch", prune_batch, response_model=BatchReply, **post)
    app.add_api_route("/health", health, response_model=Health)
    app.add_api_route(
        "/metrics",
        metrics,
        response_class=PlainTextResponse,
        dependencies=secured,
        responses={401: {"model": Problem}} if guarded else None,
    )


def _requests(points: dict[str, OperatingPoint]) -> tuple[Any, Any]:
    """The models of our own requests; the names of the operating points are the loaded model's."""
    query: Any = (
        Annotated[_Query, AfterValidator(_asked)],
        Field(
            description=f"What to look for, at most {MAX_QUERY} characters.",
            json_schema_extra={"pattern": _ASKED},
        ),
    )
    observation = (str, Field(description="The raw output of one tool call."))
    limit = Annotated[int, Field(ge=0, le=2**31), _Number]
    options: dict[str, Any] = {
        "operating_point": _optional(Literal[tuple(points)]),
        "bias": _optional(Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False), _Number]),
        "max_lines": _optional(limit),
        "max_tokens": _optional(limit),
        "keep_ratio": _optional(Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), _Number]),
    }
    item = create_model("Item", __base__=_Strict, query=query, observation=observation)
    single = create_model("PruneRequest", __base__=_Strict, query=query, observation=observation, **options)
    items = (list[item], Field(max_length=MAX_BATCH))
    return single, create_model("BatchRequest", __base__=_Strict, items=items, **options)


def _optional(kind: Any) -> tuple[Any, None]:
    return kind | None, None


def _options(request: BaseModel, *others: str) -> dict[str, Any]:
    return request.model_dump(exclude=set(others), exclude_none=True)


def _reply(observation: str, pruning: Pruning) -> dict[str, Any]:
    return rendering.as_dict(Observation.of(observation), pruning.spans, pruning.answerable, pruning.unfit_tokens)


def _is_json(content_type: str) -> bool:
    """Whether a body of this type is read as JSON: `application/json`, or `application/` with the suffix `+json`."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _add_problems(app: FastAPI) -> None:
    def problem(status: int, detail: str, headers: Any = None) -> JSONResponse:
        return _Json({"detail": detail}, status, headers)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        if not _is_json(request.headers.get("content-type", "")):  # the body was then not even read as JSON
            return problem(422, "send the body as JSON, with the header Content-Type: application/json")
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part not in ("body", "linecls", "swe_pruner"))
        if first["type"] == "json_invalid":
            return problem(422, f"the body is not JSON: error at character {place}")
        return problem(422, f"{place or 'the body'}: {first['msg']}")

    async def refused(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return problem(error.status_code, str(error.detail), error.headers)

    async def overloaded(_: Request, error: Exception) -> JSONResponse:
        return problem(429, str(error), {"retry-after": "1"})

    async def closed(_: Request, error: Exception) -> JSONResponse:
        return problem(503, str(error), {"retry-after": "5"})

    async def failed(_: Request, error: Exception) -> JSONResponse:
        return problem(500, f"the model cannot run: {error}")

    for kind, handler in (
        (RequestValidationError, invalid),
        (HTTPException, refused),
        (Overloaded, overloaded),
        (Closed, closed),
        (LineclsError, failed),
    ):
        app.add_exception_handler(kind, handler)
