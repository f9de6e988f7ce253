"""The MCP server: the tools `prune_text`, `run_pruned` and `expand`, with the official SDK."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field, ValidationError

import linecls
from linecls.agent import MAX_BYTES, MIN_BYTES, PROFILES, Profile, shorten
from linecls.errors import LineclsError, StoreError, empty_query
from linecls.observation import is_blank, is_text
from linecls.protection import Protection
from linecls.spans import Span
from linecls.store import MAX_ENTRY, Store, parse_reference

if TYPE_CHECKING:
    from linecls.pruner import Pruner
    from linecls.running import Finished

MAX_SHOWN = 1 << 18  # bytes of one result of `expand`
MAX_TIMEOUT = 3600.0  # seconds

_END = 1 << 14  # bytes of either end that are shown of an output too large to keep
# Of an output too long for the model: the failure lines, and so many lines of both ends.
_LONG = Protection(errors=True, edges=40)
_INSTRUCTIONS = """Prunes the output of commands to the lines that answer a question, byte for byte.
Use run_pruned in place of a plain shell call when you need one piece of information from an output that may be long,
and prune_text for output that you have already. A line such as [linecls: 52 lines omitted, linecls expand
3f9a2c1b:13-64] stands for lines that were left out; the tool expand gives them back for 3f9a2c1b:13-64."""

# An empty query is left to the tools, as a blank one is: they say what is wrong in plainer words.
Query = Annotated[
    str,
    Field(
        max_length=65_536,
        description="The one thing to find out, in words.",
        json_schema_extra={"minLength": 1},
    ),
]
ProfileName = Annotated[
    Literal["recall", "tight"],
    Field(description="recall: rather too much, and every line with failure signal; tight: only what answers."),
]


class Tools:
    """What the tools do, without the protocol.

    load: gives the pruner, on the first use.
    store: where originals are kept; None keeps none, and markers then point nowhere.
    """

    def __init__(self, load: Callable[[], Pruner], store: Store | None) -> None:
        self._load = load
        self._store = store
        self._pruner: Pruner | None = None
        self._guard = threading.Lock()
        self._loading: threading.Thread | None = None

    def warm(self) -> None:
        """Load the model in the background, so that the first call does not wait for it."""

        def load() -> None:
            with suppress(Exception):  # the call that needs the model says what is wrong
                self._model()

        self._loading = threading.Thread(target=load, name="linecls-load", daemon=True)
        self._loading.start()

    def close(self) -> None:
        """Wait for a model that is being loaded: the runtime aborts a process that ends under it."""
        if self._loading is not None:
            self._loading.join()

    def prune_text(self, query: Query, text: str, profile: ProfileName = "recall") -> str:
        """Keep the lines of a text that answer a query, byte for byte.

        Marker lines stand for what is left out; `expand` gives it back.
        """
        if is_blank(query):
            raise ToolError(str(empty_query()))
        return self._shorten(query, text.encode("utf-8", "surrogatepass"), PROFILES[profile])

    def run_pruned(
        self,
        query: Query,
        command: Annotated[
            list[str] | str,
            Field(description="A list of program and arguments, or one string for the shell /bin/sh."),
        ],
        profile: ProfileName = "recall",
        directory: Annotated[str | None, Field(description="Where to run it; default: where the server runs.")] = None,
        timeout: Annotated[float, Field(gt=0, le=MAX_TIMEOUT, description="Seconds until it is ended.")] = 600.0,
    ) -> str:
        """Run a command once, with no input, and keep the lines of its output that answer a query.

        Standard output and standard error are taken together. The first line says how the command ended; marker
        lines stand for what is left out, and `expand` gives it back.
        """
        if is_blank(query):
            raise ToolError(str(empty_query()))
        arguments = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        if not arguments or not arguments[0].strip() or any("\0" in argument for argument in arguments):
            raise ToolError("the command is empty or holds a NUL character")
        ends = _Ends()
        begun = time.monotonic()
        finished = _run(arguments, directory, timeout, ends)
        ending = _ending(finished, time.monotonic() - begun, timeout)
        if finished.output is None:
            return f"{ending}\n{ends.text()}"
        if not is_text(finished.output):
            return f"{ending}\n[linecls: {len(finished.output)} bytes that are no text, not shown]"
        return f"{ending}\n{self._shorten(query, finished.output, PROFILES[profile])}"

    def expand(
        self, reference: Annotated[str, Field(description="As in a marker: 3f9a2c1b:13-64, or 3f9a2c1b for all.")]
    ) -> str:
        """Give back the lines that a marker line stands for."""
        if self._store is None:
            raise ToolError("originals are not kept here: LINECLS_STORE is empty")
        try:
            raw = self._store.expand(parse_reference(reference))
        except StoreError as error:
            raise ToolError(str(error)) from error
        if len(raw) > MAX_SHOWN:
            raise ToolError(
                f"these are {len(raw)} bytes, and at most {MAX_SHOWN} are given at once: ask for fewer lines"
            )
        return raw.decode("utf-8", "replace")

    def _shorten(self, query: str, raw: bytes, profile: Profile) -> str:
        """What to show of an output; all of it, with a line that says why, when the model cannot run."""
        if len(raw) < MIN_BYTES:
            return raw.decode("utf-8", "replace")
        note, protection, spans = "", profile.protection, list[Span]()
        if len(raw) > MAX_BYTES:
            protection = _LONG
            note = f"[linecls: {len(raw)} bytes are too many for the model; its ends and failure lines are shown]\n"
        else:
            try:
                model = self._model()
                known = model.artifact.operating_points
                point = profile.operating_point if profile.operating_point in known else None
                spans = model.prune(query, raw, operating_point=point).spans
            except Exception as error:  # whatever it is, the output must come through
                reason = str(error) if isinstance(error, LineclsError) else f"{type(error).__name__}: {error}"
                text = raw.decode("utf-8", "replace")
                return f"[linecls: not pruned, for the model cannot run: {' '.join(reason.split())}]\n{text}"
        shortened = shorten(raw, spans, protection, store=self._store)
        if shortened.warning:
            note += f"[linecls: {' '.join(shortened.warning.split())}]\n"
        if not spans and not note:
            note = "[linecls: no line answers the query]\n"
        return note + shortened.text.decode("utf-8", "replace")

    def _model(self) -> Pruner:
        with self._guard:
            self._pruner = self._pruner or self._load()
            return self._pruner


def create_server(tools: Tools, *, with_run: bool = True) -> MCPServer:
    """The server with its tools; without `run_pruned` when `with_run` is False."""
    server = _Server("linecls", version=linecls.__version__, instructions=_INSTRUCTIONS, log_level="ERROR")
    reading = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    running = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
    plain: dict[str, Any] = {"structured_output": False}
    server.tool(annotations=reading, **plain)(tools.prune_text)
    server.tool(annotations=reading, **plain)(tools.expand)
    if with_run:
        server.tool(annotations=running, **plain)(tools.run_pruned)
    return server


class _Server(MCPServer):
    """The SDK's server; arguments that do not fit get one line in place of the validator's report."""

    async def call_tool(self, name: str, arguments: dict[str, Any], *rest: Any, **options: Any) -> Any:
        """As the SDK's."""
        try:
            return await super().call_tool(name, arguments, *rest, **options)
        except ToolError as error:
            if type(error) is ToolError and isinstance(error.__cause__, ValidationError):
                raise ToolError(f"Error executing tool {name}: {_faults(error.__cause__)}") from error.__cause__
            raise


def _faults(error: ValidationError) -> str:
    """What is wrong with each argument, in one line, without the values."""
    faults: dict[str, str] = {}
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        faults.setdefault(str(fault["loc"][0]) if fault["loc"] else "the arguments", fault["msg"])
    return "; ".join(f"{name}: {text}" for name, text in faults.items())


class _Ends:
    """The first and the last bytes of an output that is too large to keep."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._size = 0

    def take(self, piece: bytes) -> None:
        self._size += len(piece)
        self._head += piece[: max(0, _END - len(self._head))]
        self._tail = (self._tail + piece)[-_END:]

    def text(self) -> str:
        lost = self._size - len(self._head) - len(self._tail)
        note = f"[linecls: {lost} bytes were not kept; write the output to a file to see all of it]"
        head, tail = (bytes(part).decode("utf-8", "replace") for part in (self._head, self._tail))
        return f"{head}\n{note}\n{tail}"


def _run(arguments: list[str], directory: str | None, timeout: float, ends: _Ends) -> Finished:
    from linecls.running import run

    if directory is not None:
        if not os.path.isdir(directory):
            raise ToolError(f"there is no directory {directory}")
        # `exec` puts the program in the shell's place, so that its status and signals are the command's.
        arguments = ["/bin/sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh", os.path.abspath(directory), *arguments]
    try:
        return run(arguments, max_bytes=MAX_ENTRY, overflow=ends.take, timeout=timeout)
    except (OSError, ValueError) as error:
        raise ToolError(f"cannot run {arguments[0]}: {getattr(error, 'strerror', None) or error}") from error


def _ending(finished: Finished, seconds: float, timeout: float) -> str:
    if finished.timed_out:
        return f"[linecls: the command was ended after {timeout:g} s]"
    if finished.returncode < 0:
        return f"[linecls: the command was killed by signal {-finished.returncode} after {seconds:.1f} s]"
    return f"[linecls: the command ended with status {finished.returncode} after {seconds:.1f} s]"
