"""Where rows come from: JSONL (plain, gzip, standard input), Parquet, a folder that `datasets` reads.

Every source is read from its beginning: the running digest of its rows then proves, when a run goes on, that the
input is still the one that the run began with.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, cast

from linecls.batch.rows import Fields, Row, make_row
from linecls.errors import LineclsError, RecordError, missing_extra
from linecls.records import _open_dataset, _parse_line, import_datasets

LONGEST_ROW = 256 << 20  # bytes of a line of JSONL; a longer one is an error of its row, never held in memory
_PIECE = 1 << 20
_PARQUET_ROWS = 32  # decoded at once
STDIN = "-"


class Source(Protocol):
    """Rows in order; `total` is what `Row.position` reaches at the end, None where that is not known."""

    @property
    def total(self) -> int | None: ...

    def rows(self) -> Iterator[Row]:
        """Read from the beginning. Raises LineclsError where the input itself breaks off."""
        ...


def open_source(name: str, fields: Fields, *, split: str | None = None) -> Source:
    """The source behind a name: `-`, a file (its form is told by its content), or a folder.

    Nothing is held open until `rows` is called. Raises LineclsError when it cannot be read at all, MissingExtraError
    when what reads it is not installed.
    """
    if name == STDIN:
        _no_split(name, split)
        return JsonLines(name, fields)
    try:
        if Path(name).is_dir():
            import_datasets(name)
            return DatasetFolder(name, fields, split)
        os.stat(name)
        if os.path.isfile(name):
            with open(name, "rb") as file:
                head = file.read(4)
        else:  # a pipe gives its bytes only once
            head = b""
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise LineclsError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from error
    _no_split(name, split)
    if head != b"PAR1":
        return JsonLines(name, fields)
    _parquet_files()
    return Parquet(name, fields)


def _no_split(name: str, split: str | None) -> None:
    if split is not None:
        raise LineclsError(f"{name} is no data set with splits; leave out the split {split!r}")


@dataclass(frozen=True)
class JsonLines:
    """One JSON object per line, plain or gzip; blank lines are no rows."""

    name: str
    fields: Fields

    @property
    def total(self) -> int | None:
        """Bytes of the file."""
        if self.name == STDIN or not os.path.isfile(self.name):
            return None
        return os.path.getsize(self.name)

    def rows(self) -> Iterator[Row]:
        done = 0
        try:
            with self._open() as raw:
                is_gzip = raw.peek(2)[:2] == b"\x1f\x8b"
                stream = cast(IO[bytes], gzip.GzipFile(fileobj=raw) if is_gzip else raw)
                for row in self._lines(stream, raw if is_gzip else None):
                    yield row
                    done = row.number
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            what = "ends early" if isinstance(error, EOFError) else f"is corrupt ({error})"
            where = f"after line {done}" if done else "in its first line"
            raise LineclsError(f"{self.name}: {where} the gzip data {what}") from error
        except OSError as error:
            raise LineclsError(f"{self.name}: cannot be read: {error.strerror or error}") from error

    def _open(self) -> AbstractContextManager[io.BufferedReader]:
        if self.name != STDIN:
            return open(self.name, "rb")
        if sys.stdin is None:
            raise LineclsError("cannot read standard input: it is closed")
        stream: Any = sys.stdin.buffer
        return nullcontext(stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream))

    def _lines(self, stream: IO[bytes], compressed: IO[bytes] | None) -> Iterator[Row]:
        digest = hashlib.blake2b(digest_size=16)
        number = position = 0
        while line := stream.readline(LONGEST_ROW + 1):
            number += 1
            position += len(line)
            digest.update(line)
            too_long = len(line) > LONGEST_ROW
            while too_long and not line.endswith(b"\n") and (line := stream.readline(_PIECE)):
                position += len(line)
                digest.update(line)
            at = position
            if compressed is not None and compressed.seekable():
                at = compressed.tell()
            values: dict[str, Any] | None = None
            error = f"the line is longer than {LONGEST_ROW >> 20} MiB" if too_long else None
            if not too_long:
                try:
                    values = _parse_line(line, number)
                except RecordError as problem:
                    error = str(problem)
            if error is not None:
                yield Row(number, digest.digest(), at, copied=dict.fromkeys(self.fields.copied), error=error)
            elif values is not None:
                yield make_row(values, self.fields, number, digest.digest(), at)


@dataclass(frozen=True)
class Parquet:
    """A Parquet file; a text column may be binary. Only the columns that are needed are decoded."""

    name: str
    fields: Fields

    @property
    def total(self) -> int | None:
        """Rows of the file."""
        with _naming(self.name), _parquet_files()(self.name) as file:
            return file.metadata.num_rows

    def rows(self) -> Iterator[Row]:
        with _naming(self.name), _parquet_files()(self.name) as file:
            columns = file.schema_arrow.names
            for name in self.fields.read:
                if name not in columns:
                    raise LineclsError(f"{self.name} has no column {name!r}; it has: {', '.join(columns)}")
            batches = file.iter_batches(batch_size=_PARQUET_ROWS, columns=list(self.fields.read), use_threads=False)
            yield from _numbered((values for batch in batches for values in batch.to_pylist()), self.fields)


def _parquet_files() -> Any:
    """The class that reads Parquet."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise missing_extra("pyarrow", "eval") from error
    return ParquetFile


class _naming:
    """What Arrow raises, as one line that names the file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, LineclsError):
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            raise LineclsError(f"cannot read {self.name}: {reason}") from error


@dataclass(frozen=True)
class DatasetFolder:
    """A folder that `datasets` reads: written by `save_to_disk`, or holding JSONL or Parquet files."""

    name: str
    fields: Fields
    split: str | None = None

    @property
    def total(self) -> int | None:
        """Not known before it is read."""
        return None

    def rows(self) -> Iterator[Row]:
        label, values = _open_dataset(self.name, self.name, self.split)
        with _naming(f"{self.name}[{label}]"):
            yield from _numbered(values, self.fields)


def _numbered(rows: Iterator[dict[str, Any]], fields: Fields) -> Iterator[Row]:
    digest = hashlib.blake2b(digest_size=16)
    for number, values in enumerate(rows, 1):
        wanted = {name: values[name] for name in fields.read if name in values}
        digest.update(json.dumps(wanted, default=repr).encode())
        # a column that a row does not have reads as null there
        yield make_row(values, fields, number, digest.digest(), number)
