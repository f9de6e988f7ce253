"""One row on its way through a batch: what is read of it, and the line of JSON that is written for it."""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from linecls.errors import LineclsError
from linecls.observation import is_blank

if TYPE_CHECKING:
    from linecls.pruner import Pruning

#: What a batch writes for a row beside its id and the fields that are passed through.
WRITTEN = (
    "row",
    "text",
    "text_base64",
    "spans",
    "kept_lines",
    "total_lines",
    "kept_bytes",
    "total_bytes",
    "answerable",
    "unfit_tokens",
    "error",
)
_MOST_NAMES = 12  # of a row's own fields in the message about a missing one


@dataclass(frozen=True, slots=True)
class Fields:
    """Names of the fields that are read.

    id: the field that identifies a row, written first; passed: further fields that are written as they stood.
    Raises LineclsError for a name that the output needs itself, or that is given twice.
    """

    query: str = "query"
    observation: str = "tool_output"
    id: str | None = None
    passed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in self.copied:
            if name in WRITTEN:
                raise LineclsError(f"the field {name!r} cannot be passed through: the output has its own {name!r}")
            if name in seen:
                raise LineclsError(f"the field {name!r} is passed through twice")
            seen.add(name)
        if self.query == self.observation:
            raise LineclsError(f"query and observation are both read from {self.query!r}")

    @property
    def copied(self) -> tuple[str, ...]:
        """The fields that are written as they stood, in order."""
        return (() if self.id is None else (self.id,)) + self.passed

    @property
    def read(self) -> tuple[str, ...]:
        """Every field that is looked at, each once."""
        return tuple(dict.fromkeys((*self.copied, self.query, self.observation)))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the input.

    number: where it stands, from 1: its line in JSONL, its place elsewhere.
    copied: values of `Fields.copied`; error: why the row cannot be pruned, None where it can.
    digest: of all rows up to this one, 16 bytes; position: how far the source is read, in its own unit.
    """

    number: int
    digest: bytes
    position: int
    query: str = ""
    observation: str | bytes = ""
    copied: dict[str, Any] = field(default_factory=dict)
    error: str | None = None

    @property
    def size(self) -> int:
        """Length of the observation, in characters or bytes."""
        return len(self.observation)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is written for a row.

    line: the row as JSON with its newline; tokens: of the observation, estimated.
    kept_lines, total_lines, kept_bytes, total_bytes: 0 for a row that failed.
    """

    line: bytes
    number: int
    digest: bytes
    position: int
    error: str | None
    kept_lines: int = 0
    total_lines: int = 0
    kept_bytes: int = 0
    total_bytes: int = 0
    tokens: int = 0


def make_row(values: Mapping[str, Any], fields: Fields, number: int, digest: bytes, position: int) -> Row:
    """A row from its fields; one that lacks what it needs carries the error."""
    copied = {name: values.get(name) for name in fields.copied}
    query, observation = values.get(fields.query), values.get(fields.observation)
    error = None
    for name, value in ((fields.query, query), (fields.observation, observation)):
        if value is None:
            state = "is null" if name in values else f"is missing; the row has: {_names(values)}"
            error = f"field {name!r} {state}"
            break
    else:
        if not isinstance(query, str):
            error = f"field {fields.query!r} is {_kind(query)}, not a string"
        elif is_blank(query):
            error = f"field {fields.query!r} is empty: say what to look for"
        elif not isinstance(observation, (str, bytes)):
            error = f"field {fields.observation!r} is {_kind(observation)}, not a string"
    if error is not None:
        return Row(number, digest, position, copied=copied, error=error)
    return Row(number, digest, position, query, observation, copied)  # pyright: ignore[reportArgumentType]


def answered(row: Row, pruning: Pruning, tokens: int = 0) -> Outcome:
    """The outcome of a row that was pruned.

    A text that is no UTF-8 has U+FFFD in the place of what JSON cannot hold, and its bytes in `text_base64`.
    """
    kept = _bytes(pruning.text)
    total_bytes = len(_bytes(row.observation))
    values: dict[str, Any] = {"row": row.number, **row.copied, "text": kept.decode("utf-8", "replace")}
    try:
        kept.decode("utf-8")
    except UnicodeDecodeError:
        values["text_base64"] = base64.b64encode(kept).decode("ascii")
    values |= {
        "spans": [{"start_line": start, "end_line": end} for start, end in pruning.spans],
        "kept_lines": pruning.kept_lines,
        "total_lines": pruning.total_lines,
        "kept_bytes": len(kept),
        "total_bytes": total_bytes,
        "answerable": pruning.answerable,
        "unfit_tokens": pruning.unfit_tokens,
        "error": None,
    }
    return Outcome(
        json_line(values),
        row.number,
        row.digest,
        row.position,
        None,
        pruning.kept_lines,
        pruning.total_lines,
        len(kept),
        total_bytes,
        tokens,
    )


def failed(row: Row, error: str) -> Outcome:
    """The outcome of a row that could not be pruned: every field there, those of the answer null."""
    values = {"row": row.number, **row.copied}
    values |= {name: None for name in WRITTEN if name not in ("row", "text_base64", "error")}
    values["error"] = error
    return Outcome(json_line(values), row.number, row.digest, row.position, error)


def json_line(values: Mapping[str, Any]) -> bytes:
    """A JSON object with its newline; what JSON does not know is text (dates ISO 8601, bytes base64)."""
    text = json.dumps(values, ensure_ascii=False, default=_as_text)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair in a field that is passed through: only an escape holds it
        return json.dumps(values, default=_as_text).encode() + b"\n"


def _as_text(value: Any) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _names(values: Mapping[str, Any]) -> str:
    names = [str(name)[:40] for name in list(values)[:_MOST_NAMES]]
    return ", ".join(names) + (", …" if len(values) > _MOST_NAMES else "") if names else "no field"


def _kind(value: Any) -> str:
    names = {bool: "true or false", dict: "an object", list: "a list", bytes: "bytes", str: "a string"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else f"a {type(value).__name__}")
