r"""Labelled examples: canonical Squeez v3 records, their readers, and the older forms of the same data.

Three forms hold the same label and are told apart row by row (`detect_form`):

- canonical v3: `instance_id, source, tool_type, query, background_task, tool_output, gold_spans,
  is_irrelevant, command`; further fields are kept in `Record.extra` and written back;
- v1 ChatML: `prompt` (with `<query>`, optional `<background_task>`, `<tool_output>`), `response` (the kept
  lines in `<relevant_lines>`), `metadata`;
- encoder view: `task`, `tool_output`, `relevant_lines` (list of lines), `tool_type`.

The last two name lines by their text only; `locate_lines` says how they are mapped back to line numbers.

Lines are those of `linecls.observation`: the final newline opens no further line. The squeez package splits
with `split("\n")`, so its spans may name the empty line after a final newline; that line is accepted and
clipped.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, TypeVar, cast

import numpy as np

from linecls.errors import LineclsError, RecordError, empty_query, missing_extra
from linecls.locating import line_texts, locate_lines, shorten
from linecls.observation import is_blank
from linecls.spans import Span, merge

Form = Literal["canonical", "v1", "encoder"]
_Read = TypeVar("_Read")

#: The instruction in front of a v1 prompt; pass another to `to_chatml` for a model that was trained with it.
SYSTEM_PROMPT = (
    "You are given a query and the output of one tool. Answer with the lines of the output that answer the "
    "query, copied verbatim and in order, between <relevant_lines> and </relevant_lines>; with nothing "
    "between them if no line does."
)

HUB_PREFIX = "hub:"

_TEXT_FIELDS = ("instance_id", "source", "tool_type", "query", "background_task", "tool_output", "command")
_FIELDS = (*_TEXT_FIELDS[:6], "gold_spans", "is_irrelevant", "command")
_LABELS = ("gold_spans", "is_irrelevant", "relevant_lines", "response")
_COUNTS = ("num_total_lines", "num_relevant_lines", "compression_ratio")  # v1 metadata, computed on writing


@dataclass(slots=True, kw_only=True)
class Record:
    """One labelled example. Raises RecordError if the fields are of the wrong type or contradict each other.

    gold_spans: 1-based inclusive line ranges of `tool_output`; given as spans, pairs or
        `{start_line, end_line}` in any order, held sorted and merged.
    is_irrelevant: true exactly if there is no gold span; derived when left out.
    extra: fields beyond the canonical ones, as they stood.
    """

    instance_id: str = ""
    source: str = ""
    tool_type: str = ""
    query: str
    background_task: str = ""
    tool_output: str
    gold_spans: list[Span]
    is_irrelevant: bool = field(default=cast(bool, None))
    command: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _TEXT_FIELDS:
            _expect(getattr(self, name), str, name)
        if self.is_irrelevant is not None:
            _expect(self.is_irrelevant, bool, "is_irrelevant")
        _expect(self.extra, dict, "extra")
        if shadowed := sorted(self.extra.keys() & set(_FIELDS)):
            raise RecordError(f"extra must not hold the canonical field {shadowed[0]!r}")
        given = _read_spans(self.gold_spans)
        if self.is_irrelevant is not None and self.is_irrelevant != (not given):
            raise RecordError(
                f"is_irrelevant is {str(self.is_irrelevant).lower()}, but gold_spans names "
                f"{'no line' if not given else 'lines'}"
            )
        self.gold_spans = _clip_spans(given, self.tool_output)
        self.is_irrelevant = not self.gold_spans

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Record:
        """Read a canonical row. `query`, `tool_output` and `gold_spans` must be there.

        A missing `instance_id` is derived from the text as `<output hash>#<query hash>`, so that labels of
        the same output stay recognisable; other missing or null fields get their defaults.
        """
        for name in ("query", "tool_output", "gold_spans"):
            _require(row, name)
        known = {name: row[name] for name in _FIELDS if row.get(name) is not None}
        extra = {name: value for name, value in row.items() if name not in _FIELDS}
        if "instance_id" not in known:
            known["instance_id"] = _derived_id(row["tool_output"], row["query"])
        return cls(**known, extra=extra)

    def to_dict(self) -> dict[str, Any]:
        """The canonical row: the canonical fields in their order, then the extra ones."""
        row: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        row["gold_spans"] = [{"start_line": a, "end_line": b} for a, b in self.gold_spans]
        return row | self.extra

    def relevant_lines(self) -> list[str]:
        """The gold lines without their newline, in order."""
        lines = line_texts(self.tool_output)
        return [line for start, end in self.gold_spans for line in lines[start - 1 : end]]


# --- the forms --------------------------------------------------------------------------------------------


def require_queries(records: Iterable[Record], source: str) -> None:
    """Raise RecordError, naming the record, when one of them asks nothing: no system can answer it."""
    for number, record in enumerate(records, 1):
        if is_blank(record.query):
            name = f"{number} ({record.instance_id})" if record.instance_id else str(number)
            raise RecordError(f"{source}: record {name}: {empty_query()}")


def detect_form(row: Mapping[str, Any]) -> Form:
    """Which form a row is in, by its field names.

    `gold_spans` makes it canonical, else `prompt` or `response` v1, else `task` or `relevant_lines` the
    encoder view. A row with none of them counts as canonical, so that the error says what a record needs.
    """
    if "gold_spans" in row:
        return "canonical"
    if "prompt" in row or "response" in row:
        return "v1"
    if "task" in row or "relevant_lines" in row:
        return "encoder"
    return "canonical"


def from_row(row: Mapping[str, Any]) -> Record:
    """Read a row in whichever form it is."""
    form = detect_form(row)
    if form == "v1":
        return from_chatml(row)
    if form == "encoder":
        return from_encoder_view(row)
    return Record.from_dict(row)


def to_row(record: Record, form: Form) -> dict[str, Any]:
    """Write a record in the given form."""
    if form == "v1":
        return to_chatml(record)
    if form == "encoder":
        return to_encoder_view(record)
    if form == "canonical":
        return record.to_dict()
    raise RecordError(f"unknown form {form!r}; choose canonical, v1 or encoder")


def to_chatml(record: Record, *, system_prompt: str = SYSTEM_PROMPT) -> dict[str, Any]:
    """The v1 form of a record.

    The metadata holds the counts that squeez writes there (`num_total_lines` counts as it does, with the
    empty line after a final newline), the command and the extra fields: what `from_chatml` needs to give the
    record back. Nothing is shortened (squeez cuts queries at 1,000, background tasks at 3,000 characters).
    """
    relevant = record.relevant_lines()
    background = f"<background_task>\n{record.background_task}\n</background_task>\n" if record.background_task else ""
    total = record.tool_output.count("\n") + 1 if record.tool_output else 0
    metadata = {name: value for name, value in record.extra.items() if name not in _COUNTS}
    metadata |= {
        "instance_id": record.instance_id,
        "tool_type": record.tool_type,
        "source": record.source,
        "num_total_lines": total,
        "num_relevant_lines": len(relevant),
        "compression_ratio": round(1 - len(relevant) / total, 4) if total else 0,
    }
    if record.command:
        metadata["command"] = record.command
    return {
        "prompt": (
            f"<|im_start|>system\n{system_prompt}<|im_end|>\n"
            f"<|im_start|>user\n<query>\n{record.query}\n</query>\n{background}"
            f"<tool_output>\n{record.tool_output}\n</tool_output><|im_end|>\n"
            f"<|im_start|>assistant\n"
        ),
        "response": "<relevant_lines>\n" + "".join(line + "\n" for line in relevant) + "</relevant_lines>",
        "metadata": metadata,
    }


def from_chatml(row: Mapping[str, Any]) -> Record:
    """Read a v1 row; `metadata` may be missing, unknown fields of it and of the row become `extra`.

    The query starts at the first `<query>` (in older data `<task>`) of the user's turn and ends at the first
    end tag that is followed by a `<background_task>` or `<tool_output>` tag, the background task at its first
    end tag that is followed by `<tool_output>`; the output goes on to the last `</tool_output>`. The response
    is read from the first `<relevant_lines>` to the last end tag, or is a JSON object with `relevant_lines`.
    The lines are mapped to the output by `locate_lines`.
    """
    for name in ("prompt", "response"):
        _expect(_require(row, name), str, name)
    metadata = row.get("metadata")
    if metadata is None:
        metadata = {}
    _expect(metadata, dict, "metadata")
    query, background, tool_output = _parse_prompt(row["prompt"])
    fields = {name: value for name, value in row.items() if name not in ("prompt", "response", "metadata")}
    fields |= {name: value for name, value in metadata.items() if name not in _COUNTS}
    fields |= {"query": query, "background_task": background, "tool_output": tool_output}
    fields["gold_spans"] = locate_lines(tool_output, _parse_response(row["response"]))
    return Record.from_dict(fields)


def to_encoder_view(record: Record) -> dict[str, Any]:
    """The encoder view of a record: the four fields of that form and no more."""
    return {
        "task": record.query,
        "tool_output": record.tool_output,
        "relevant_lines": record.relevant_lines(),
        "tool_type": record.tool_type,
    }


def from_encoder_view(row: Mapping[str, Any]) -> Record:
    """Read an encoder row; canonical fields beside its own are kept, unknown ones become `extra`.

    An item of `relevant_lines` may end with its newline or hold several lines. They are mapped to the output
    by `locate_lines`.
    """
    _expect(_require(row, "task"), str, "task")
    _expect(_require(row, "tool_output"), str, "tool_output")
    relevant = _line_list(_require(row, "relevant_lines"))
    fields = {name: value for name, value in row.items() if name not in ("task", "relevant_lines")}
    fields |= {"query": row["task"], "gold_spans": locate_lines(row["tool_output"], relevant)}
    return Record.from_dict(fields)


def _parse_prompt(prompt: str) -> tuple[str, str, str]:
    """Query, background task and tool output of a v1 prompt."""
    turn = max(prompt.find("<|im_start|>user\n"), 0)
    starts = {tag: at for tag in ("query", "task") if (at := prompt.find(f"<{tag}>\n", turn)) >= 0}
    if not starts:
        raise RecordError("prompt has no <query> block")
    tag = min(starts, key=lambda name: starts[name])
    body = prompt[starts[tag] + len(f"<{tag}>\n") :]

    output_tag = "<tool_output>\n"
    background_tag = "<background_task>\n"
    background_end = f"\n</background_task>\n{output_tag}"
    plain = body.find(f"\n</{tag}>\n{output_tag}")
    with_background = body.find(f"\n</{tag}>\n{background_tag}")
    background = ""
    if with_background >= 0 and (plain < 0 or with_background < plain):
        begin = with_background + len(f"\n</{tag}>\n{background_tag}")
        # one character back: an empty background task has a single newline between its tags
        end = body.find(background_end, begin - 1)
        if end >= 0:
            background = body[begin : max(begin, end)]
            return body[:with_background], background, _output_block(body[end + len(background_end) :])
    if plain < 0:
        raise RecordError(f"prompt has no <tool_output> block after its <{tag}> block")
    return body[:plain], background, _output_block(body[plain + len(f"\n</{tag}>\n{output_tag}") :])


def _output_block(text: str) -> str:
    end = text.rfind("\n</tool_output>")
    if end < 0:
        raise RecordError("prompt does not close its <tool_output> block")
    return text[:end]


def _parse_response(response: str) -> list[str]:
    """The lines of a v1 response."""
    start = response.find("<relevant_lines>")
    end = response.rfind("</relevant_lines>")
    if start < 0 or end < start:
        try:
            return _line_list(json.loads(response)["relevant_lines"])
        except (ValueError, TypeError, LookupError, RecursionError):
            raise RecordError("response has no <relevant_lines> block") from None
    body = response[start + len("<relevant_lines>") : end]
    if body in ("", "\n"):
        return []
    return body.removeprefix("\n").removesuffix("\n").split("\n")


# --- reading and writing ----------------------------------------------------------------------------------


def load_records(source: str | os.PathLike[str], *, split: str | None = None, labelled: bool = True) -> list[Record]:
    """All records of a source; see `iter_records`."""
    return list(iter_records(source, split=split, labelled=labelled))


def iter_records(
    source: str | os.PathLike[str], *, split: str | None = None, labelled: bool = True
) -> Iterator[Record]:
    """Read records one at a time; memory does not grow with their number.

    source: a JSONL file, plain or gzip (told by its content, not its name); a folder that `datasets` reads
        (written by `save_to_disk`, or holding JSONL or Parquet files); or `hub:OWNER/NAME`, a data set on the
        Hugging Face hub. Folders and hub ids need the package `datasets`. Of a data set that ships its rows
        in several forms side by side, the files named `canonical_*` are read.
    split: which split of a data set; may be left out if it has only one.
    labelled: False reads queries and outputs only: rows may lack the label, and one that is there is not read, so
        `gold_spans` is empty throughout.

    Rows may be in any form (`detect_form`), in a file even mixed; blank lines are skipped. Raises RecordError
    that names the source, the 1-based line (or row of a data set) and what is wrong there.
    """
    return _iter_source(source, split, from_row if labelled else _without_label)


def has_labels(source: str | os.PathLike[str], *, split: str | None = None) -> bool:
    """Whether the first row of a source carries a label; True for a source without rows."""
    return next(_iter_source(source, split, lambda row: any(name in row for name in _LABELS)), True)


def _without_label(row: Mapping[str, Any]) -> Record:
    """Query and output of a row in any form."""
    none: dict[Form, dict[str, Any]] = {
        "canonical": {"gold_spans": []},
        "v1": {"response": "<relevant_lines>\n</relevant_lines>"},
        "encoder": {"relevant_lines": []},
    }
    return from_row({name: value for name, value in row.items() if name not in _LABELS} | none[detect_form(row)])


def _iter_source(
    source: str | os.PathLike[str], split: str | None, read: Callable[[dict[str, Any]], _Read]
) -> Iterator[_Read]:
    text = os.fspath(source)
    if text.startswith(HUB_PREFIX):
        yield from _iter_dataset(text, text.removeprefix(HUB_PREFIX), split, read)
    elif os.path.isdir(text):
        yield from _iter_dataset(text, text, split, read)
    elif split is not None:
        raise RecordError(f"{text} is no data set with splits; leave out the split {split!r}")
    else:
        yield from _iter_file(text, read)


def write_records(path: str | os.PathLike[str], records: Iterable[Record], *, form: Form = "canonical") -> int:
    """Write records as JSONL, gzip if the name ends in `.gz`; returns how many.

    The same records give the same bytes (no time or name in the gzip header). The file takes its name only
    when it is complete, so `records` may be read from the file that is replaced.
    """
    path = Path(path)
    in_place = path.exists() and not path.is_file()  # a device or pipe: nothing to replace
    target = path if in_place else path.with_name(path.name + ".part")
    count = 0
    try:
        try:
            with open(target, "wb") as raw, _compressed(raw, path.suffix == ".gz") as stream:
                for record in records:
                    stream.write(_json_line(record, form))
                    count += 1
            if not in_place:
                os.replace(target, path)
        except BaseException:
            if not in_place:
                target.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RecordError(f"{path}: cannot be written: {error.strerror or error}") from None
    return count


def _compressed(raw: IO[bytes], is_gzip: bool) -> AbstractContextManager[IO[bytes]]:
    if not is_gzip:
        return nullcontext(raw)
    return cast(IO[bytes], gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=raw, mtime=0))


def _json_line(record: Record, form: Form) -> bytes:
    row = to_row(record, form)
    try:
        try:
            return json.dumps(row, ensure_ascii=False).encode() + b"\n"
        except UnicodeEncodeError:  # bytes that are no UTF-8, carried as lone surrogates: escape them
            return json.dumps(row).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"record {record.instance_id!r} cannot be written as JSON: {error}") from None


def _iter_file(path: str, read: Callable[[dict[str, Any]], _Read]) -> Iterator[_Read]:
    number = 0
    try:
        with open(path, "rb") as raw:
            stream: Iterable[bytes] = raw
            if raw.peek(2)[:2] == b"\x1f\x8b":
                stream = cast(Iterable[bytes], gzip.GzipFile(fileobj=raw))
            rows = iter(stream)
            while (line := next(rows, None)) is not None:
                number += 1
                try:
                    row = _parse_line(line, number)
                    record = None if row is None else read(row)
                except RecordError as error:
                    raise RecordError(f"{path}:{number}: {error}") from None
                if record is not None:
                    yield record
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = "ends early" if isinstance(error, EOFError) else f"is corrupt ({error})"
        raise RecordError(f"{path}:{number + 1}: the gzip data {what}") from None
    except FileNotFoundError:
        hint = f"; for a data set on the hub write {HUB_PREFIX}{path}" if path.count("/") == 1 else ""
        raise RecordError(f"{path}: no such file{hint}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise RecordError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _parse_line(line: bytes, number: int) -> dict[str, Any] | None:
    """The JSON object on a line, None for a blank line."""
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        if not text:
            return None
        row = json.loads(text)
    except UnicodeDecodeError as error:
        raise RecordError(f"not UTF-8 (byte {error.start + 1} of the line)") from None
    except json.JSONDecodeError as error:
        raise RecordError(f"not JSON: {error.msg} (character {error.pos + 1} of the line)") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
        raise RecordError(f"not usable JSON: {error}") from None
    return _as_row(row)


def _as_row(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise RecordError(f"a row must be a JSON object, not {_type_name(row)}")
    return row


def _iter_dataset(
    source: str, name: str, split: str | None, read: Callable[[dict[str, Any]], _Read]
) -> Iterator[_Read]:
    label, rows = _open_dataset(source, name, split)
    where = f"{source}[{label}]"
    form: Form | None = None
    number = 0
    while True:
        try:
            row = next(rows, None)
        except Exception as error:  # whatever a file, Arrow, a decompressor or the network raises below
            raise RecordError(f"{where}: after row {number}: {_one_line(error)}") from None
        if row is None:
            return
        number += 1
        try:
            # a column that a row does not have reads as null there
            row = {key: value for key, value in _as_row(row).items() if value is not None}
            found = detect_form(row)
            if form not in (None, found):
                raise RecordError(
                    f"a row of the form {found} among rows of the form {form}: "
                    "several forms of the same labels in one split would count them more than once"
                )
            form = found
            record = read(row)
        except RecordError as error:
            raise RecordError(f"{where}:{number}: {error}") from None
        yield record


def import_datasets(source: str) -> Any:
    """The module `datasets`. Raises MissingExtraError without it, RecordError, naming `source`, when it is broken."""
    try:
        import datasets
    except ImportError:
        raise missing_extra("datasets", "eval") from None
    except Exception as error:  # an old datasets beside a new pyarrow fails with AttributeError
        raise RecordError(f"{source}: the installed datasets does not work: {_one_line(error)}") from None
    return datasets


def _open_dataset(source: str, name: str, split: str | None) -> tuple[str, Iterator[Any]]:
    """The name and the rows of one split of a local or hub data set."""
    datasets = import_datasets(source)
    try:
        splits: dict[Any, Any]
        if any(os.path.isfile(os.path.join(name, file)) for file in ("dataset_dict.json", "state.json")):
            data: Any = datasets.load_from_disk(name)
            splits = dict(data) if isinstance(data, dict) else {str(data.split or "train"): data}
        else:
            splits = _stream_splits(datasets, name)
    except LineclsError:
        raise
    except Exception as error:  # datasets, hub client, Arrow and network raise dozens of types here
        raise RecordError(f"{source}: no readable data set: {_one_line(error)}") from None

    names = ", ".join(map(str, splits)) or "none"
    if split is None and len(splits) == 1:
        split = str(next(iter(splits)))
    if split is None:
        raise RecordError(f"{source} has several splits; choose one: {names}")
    if split not in splits:
        raise RecordError(f"{source} has no split {split!r}; it has: {names}")
    return split, iter(splits[split])


def _stream_splits(datasets: Any, name: str) -> dict[Any, Any]:
    """Streamed splits of a folder or hub id; of files in several forms only those named `canonical_*`."""
    builder = datasets.load_dataset_builder(name)
    canonical = {
        split: chosen
        for split, files in (builder.config.data_files or {}).items()
        if (chosen := [file for file in files if os.path.basename(file).startswith("canonical_")])
    }
    if not canonical:
        return dict(datasets.load_dataset(name, streaming=True))
    is_parquet = all(file.endswith(".parquet") for files in canonical.values() for file in files)
    reader = "parquet" if is_parquet else "json"
    return dict(datasets.load_dataset(reader, data_files=canonical, streaming=True))


# --- checks -----------------------------------------------------------------------------------------------


def _read_spans(value: Any) -> list[tuple[int, int]]:
    if isinstance(value, dict):  # `datasets` gives a Sequence of structs as one list per key
        columns = _bounds(value)
        if not all(isinstance(column, list) for column in columns) or len(columns[0]) != len(columns[1]):
            raise RecordError("gold_spans must be a list of {start_line, end_line}")
        value = list(zip(*columns, strict=True))
    if not isinstance(value, (list, tuple)):
        raise RecordError(f"gold_spans must be a list, not {_type_name(value)}")
    return [_read_span(span) for span in value]


def _read_span(span: Any) -> tuple[int, int]:
    if isinstance(span, dict):
        span = _bounds(span)
    bounds = list(span) if isinstance(span, (tuple, list)) else []
    if len(bounds) == 2 and all(map(_is_whole, bounds)):
        return int(bounds[0]), int(bounds[1])
    raise RecordError(f"a gold span must be {{start_line, end_line}} in whole numbers, not {shorten(span)}")


def _bounds(span: dict[str, Any]) -> tuple[Any, Any]:
    """The two bounds under their names, or under the short names that squeez reads too."""
    return span.get("start_line", span.get("start")), span.get("end_line", span.get("end"))


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _clip_spans(spans: list[tuple[int, int]], text: str) -> list[Span]:
    total = text.count("\n") + (not text.endswith("\n") and text != "")
    allowed = text.count("\n") + 1  # with the empty line that squeez counts after a final newline
    for start, end in spans:
        if not 1 <= start <= end:
            raise RecordError(f"gold span {start} to {end} is no line range (1-based, inclusive)")
        if end > allowed:
            raise RecordError(f"gold span {start} to {end} lies outside tool_output, which has {total} lines")
    return merge((start, min(end, total)) for start, end in spans if start <= total)


def _line_list(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise RecordError("relevant_lines must be a list of strings")
    return value


def _require(row: Mapping[str, Any], name: str) -> Any:
    value = row.get(name)
    if value is None:
        raise RecordError(f"field {name!r} is {'null' if name in row else 'missing'}")
    return value


def _expect(value: Any, kind: type, name: str) -> None:
    if not isinstance(value, kind):
        names = {str: "a string", bool: "true or false", dict: "an object"}
        raise RecordError(f"field {name!r} must be {names[kind]}, not {_type_name(value)}")


def _type_name(value: Any) -> str:
    names = {str: "a string", bool: "true or false", dict: "an object", list: "a list", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else type(value).__name__)


def _derived_id(tool_output: Any, query: Any) -> str:
    digests = (
        hashlib.blake2b(str(text).encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
        for text, size in ((tool_output, 8), (query, 4))
    )
    return "#".join(digests)


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:100]} ... {text[-195:]}"
