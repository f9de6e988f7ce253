"""From the finished rows to the output: JSONL, gzip or Parquet, by the name; the same rows give the same bytes."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from linecls.batch.rows import Fields
from linecls.batch.spool import sync_folder
from linecls.errors import LineclsError, missing_extra

_GROUP_ROWS = 1 << 16  # of a Parquet row group, or fewer:
_GROUP_BYTES = 32 << 20  # as JSON
_LEVEL = 6


def output_form(output: Path) -> str:
    """`jsonl`, `gzip` or `parquet`, by the name. Raises LineclsError for another name, or without pyarrow."""
    name = output.name.lower()
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return "jsonl"
    if name.endswith((".jsonl.gz", ".ndjson.gz", ".json.gz")):
        return "gzip"
    if name.endswith(".parquet"):
        _arrow()
        return "parquet"
    raise LineclsError(f"cannot tell the form of {output} from its name; end it in .jsonl, .jsonl.gz or .parquet")


def publish(spool: Path, output: Path, fields: Fields) -> None:
    """Put the rows of `spool` (JSONL) at `output`, in one step; `spool` may be gone afterwards.

    Raises LineclsError when the disk is full, `output` then being what it was.
    """
    form = output_form(output)
    if form == "jsonl":
        _replace(spool, output)
        return
    made = output.with_name(output.name + ".tmp")
    try:
        _write_gzip(spool, made) if form == "gzip" else _write_parquet(spool, made, fields)
        with made.open("rb") as file:
            os.fsync(file.fileno())
    except BaseException as error:
        made.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise LineclsError(f"cannot write {made}: {error.strerror or error}") from error
        raise
    _replace(made, output)


def _replace(source: Path, target: Path) -> None:
    try:
        os.replace(source, target)
        sync_folder(target.parent)
    except OSError as error:
        raise LineclsError(f"cannot write {target}: {error.strerror or error}") from error


def _write_gzip(spool: Path, made: Path) -> None:
    with (
        spool.open("rb") as source,
        made.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=raw, mtime=0) as target,
    ):
        shutil.copyfileobj(source, target, 1 << 20)


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise missing_extra("pyarrow", "eval") from error
    return pyarrow


def _write_parquet(spool: Path, made: Path, fields: Fields) -> None:
    """One pass finds the types of the fields that are passed through, a second one writes."""
    arrow = _arrow()
    with_bytes = False
    types: dict[str, Any] = dict.fromkeys(fields.copied, arrow.null())
    for rows in _groups(spool):
        with_bytes = with_bytes or any("text_base64" in row for row in rows)
        for name, known in types.items():
            types[name] = _common(arrow, known, _type(arrow, [row[name] for row in rows]))
    schema = _schema(arrow, types, with_bytes)
    with arrow.parquet.ParquetWriter(made, schema, compression="zstd") as writer:
        for rows in _groups(spool):
            columns = [_column(arrow, [row.get(field.name) for row in rows], field.type) for field in schema]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))


def _groups(spool: Path) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    size = 0
    with spool.open("rb") as file:
        for line in file:
            rows.append(_clean(json.loads(line)))
            size += len(line)
            if len(rows) >= _GROUP_ROWS or size >= _GROUP_BYTES:
                yield rows
                rows, size = [], 0
    if rows:
        yield rows


def _schema(arrow: Any, types: dict[str, Any], with_bytes: bool) -> Any:
    span = arrow.struct([("start_line", arrow.int64()), ("end_line", arrow.int64())])
    copied = [(name, arrow.string() if kind is None else kind) for name, kind in types.items()]
    ours = [
        ("text", arrow.string()),
        *([("text_base64", arrow.string())] if with_bytes else []),
        ("spans", arrow.list_(span)),
        ("kept_lines", arrow.int64()),
        ("total_lines", arrow.int64()),
        ("kept_bytes", arrow.int64()),
        ("total_bytes", arrow.int64()),
        ("answerable", arrow.float64()),
        ("unfit_tokens", arrow.int64()),
        ("error", arrow.string()),
    ]
    return arrow.schema([("row", arrow.int64()), *copied, *ours])


def _type(arrow: Any, values: Iterable[Any]) -> Any:
    """The Arrow type of values from JSON; None where they have none in common."""
    try:
        return arrow.array(values).type
    except (arrow.ArrowException, OverflowError):
        return None


def _common(arrow: Any, one: Any, other: Any) -> Any:
    if one is None or other is None:
        return None
    try:
        schemas = [arrow.schema([("x", kind)]) for kind in (one, other)]
        return arrow.unify_schemas(schemas, promote_options="permissive").field("x").type
    except arrow.ArrowException:
        return None


def _column(arrow: Any, values: list[Any], kind: Any) -> Any:
    """Values of several types become text: strings as they are, the rest as JSON."""
    try:
        return arrow.array(values, kind)
    except (arrow.ArrowException, OverflowError, TypeError):
        return arrow.array(
            [v if v is None or isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values], kind
        )


def _clean(value: Any) -> Any:
    """Half a surrogate pair, which JSON can hold and Parquet cannot, is U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value
