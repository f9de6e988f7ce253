"""The unfinished output of a batch, and how a run goes on after it was killed.

Beside OUT stand OUT.part, the finished rows as JSONL, and OUT.journal: what the run was asked for, then one
checkpoint per line, written after the rows that it counts have reached the disk. A run that finds them cuts
OUT.part to the last checkpoint and goes on with the row after it. OUT itself appears in one step, complete. The
journal is locked while a run writes.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from linecls.errors import LineclsError

try:
    import fcntl
except ImportError:  # not POSIX: two runs on one output are then not told apart
    fcntl = None

CHECKPOINT_SECONDS = 2.0  # work that a kill can cost
_BUFFER = 1 << 16
_PIECE = 1 << 20
_FORMAT = 1
_BINARY = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Checkpoint:
    """What is safely on disk: rows, how many of them failed, bytes of OUT.part, digest of the input rows (hex).

    complete: the input is at its end, only publishing is left.
    """

    rows: int = 0
    failed: int = 0
    bytes: int = 0
    digest: str = ""
    complete: bool = False


def safe(rows: int) -> str:
    """How a message counts the finished rows."""
    return "1 row is safe" if rows == 1 else f"{rows} rows are safe"


class Spool:
    """The rows of one output on their way; use as a context manager.

    output: where the result will stand; settings: what decides its content, plain JSON values.
    overwrite: replace an output that exists, and drop an unfinished one that was begun with other settings.
    Raises LineclsError when the output exists, is written by another run, or was begun with other settings.
    """

    def __init__(self, output: Path, settings: Mapping[str, Any], *, overwrite: bool = False) -> None:
        self.output = output
        self.path = output.with_name(output.name + ".part")
        self.journal = output.with_name(output.name + ".journal")
        self._settings = json.loads(json.dumps(settings))
        self._overwrite = overwrite
        self._file = self._log = -1
        self._log_size = 0
        self._last = 0.0  # when the last checkpoint was, on the monotonic clock
        self._buffer = bytearray()
        self.state = self.saved = Checkpoint()
        self.is_published = False

    def __enter__(self) -> Spool:
        if self.output.exists() and not self.output.is_file():
            raise LineclsError(f"cannot write {self.output}: it is no regular file")
        try:
            self._begin()
        except OSError as error:
            self.close()
            raise self._cannot_write(error) from error
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is not None:
                with suppress(LineclsError):  # the disk may be what failed
                    self.checkpoint()
        finally:
            self.close()

    def _begin(self) -> None:
        self._log = self._locked_journal()
        data = _read(self._log)
        whole = data[: data.rfind(b"\n") + 1]  # without a line that was not finished
        if not whole:
            existing = next((path for path in (self.output, self.path) if path.exists()), None)
            if existing is not None and not self._overwrite:
                self.journal.unlink()
                raise LineclsError(f"{existing} exists; remove it, choose another output, or give --overwrite")
        found = self._last_checkpoint(whole) if whole else None
        if found is None:
            self._start_anew()
        else:
            self._log_size = len(whole)
            self._go_on(found)

    def _locked_journal(self) -> int:
        while True:
            descriptor = os.open(self.journal, os.O_RDWR | os.O_CREAT | _BINARY, 0o666)
            if fcntl is None:
                return descriptor
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The run that held it may have removed the file between our open and our lock.
                if os.path.exists(self.journal) and os.path.samestat(os.fstat(descriptor), os.stat(self.journal)):
                    return descriptor
            except BlockingIOError:
                os.close(descriptor)
                raise LineclsError(
                    f"another run is writing {self.output}; wait for it, or choose another output"
                ) from None
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _last_checkpoint(self, journal: bytes) -> Checkpoint | None:
        """Where to go on; None where the run is to start anew."""
        try:
            header, *lines = [json.loads(line) for line in journal.splitlines()]
            checkpoint = Checkpoint(**lines[-1]) if lines else Checkpoint()
            settings = header["settings"] if header["linecls_batch"] == _FORMAT else None
        except (ValueError, TypeError, LookupError) as error:
            raise LineclsError(f"{self.journal} is no journal of linecls batch; move it away") from error
        if settings == self._settings:
            return checkpoint
        if self._overwrite:
            return None
        raise LineclsError(
            f"{self.path} was begun with {self._difference(settings)}; give the same again, or --overwrite to"
            " start anew"
        )

    def _difference(self, settings: Any) -> str:
        if not isinstance(settings, dict):
            return "another version of linecls"
        names = sorted(n for n in {*settings, *self._settings} if settings.get(n) != self._settings.get(n))
        then = json.dumps(settings.get(names[0]))
        now = json.dumps(self._settings.get(names[0]))
        return f"{names[0]} {then}, not {now}"

    def _start_anew(self) -> None:
        self._log_size = 0
        self._note({"linecls_batch": _FORMAT, "settings": self._settings})
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, 0o666)
        sync_folder(self.output.parent)

    def _note(self, values: Mapping[str, Any]) -> None:
        """One more line of the journal, in the place of one that a full disk cut short."""
        line = bytearray(json.dumps(values).encode() + b"\n")
        size = len(line)
        os.ftruncate(self._log, self._log_size)
        os.lseek(self._log, self._log_size, os.SEEK_SET)
        _write(self._log, line)
        os.fsync(self._log)
        self._log_size += size

    def _go_on(self, found: Checkpoint) -> None:
        if found.complete and not self.path.exists() and self.output.exists():
            self.is_published = True  # killed between the last two steps
        else:
            flags = os.O_WRONLY | _BINARY | (0 if found.bytes else os.O_CREAT)
            try:
                self._file = os.open(self.path, flags, 0o666)
            except FileNotFoundError:
                raise LineclsError(f"{self.path} is gone, but its journal is not; remove {self.journal}") from None
            if os.fstat(self._file).st_size < found.bytes:
                raise LineclsError(
                    f"{self.path} is shorter than its journal says; remove it and {self.journal} to start anew"
                )
            os.ftruncate(self._file, found.bytes)
            os.lseek(self._file, 0, os.SEEK_END)
        self.state = self.saved = found
        self._last = time.monotonic()

    def append(self, line: bytes, *, failed: bool, digest: bytes) -> None:
        """Take the next row; from time to time a checkpoint."""
        self._buffer += line
        state = self.state
        self.state = Checkpoint(state.rows + 1, state.failed + failed, state.bytes + len(line), digest.hex())
        now = time.monotonic()
        if now - self._last >= CHECKPOINT_SECONDS:
            self.checkpoint()
        elif len(self._buffer) >= _BUFFER:
            self._flush()

    def checkpoint(self) -> None:
        """Bring what was appended to the disk, and say so in the journal."""
        if self._file < 0 or self.state == self.saved:
            return
        self._flush()
        try:
            os.fsync(self._file)
            self._note(asdict(self.state))
        except OSError as error:
            raise self._cannot_write(error) from error
        self.saved = self.state
        self._last = time.monotonic()

    def complete(self) -> None:
        """The input is at its end."""
        self.state = replace(self.state, complete=True)
        self.checkpoint()

    def forget(self) -> None:
        """The output is published, or no row is done: remove what stands beside it, the journal last."""
        try:
            self.path.unlink(missing_ok=True)
            sync_folder(self.output.parent)
            self.journal.unlink(missing_ok=True)
        except OSError as error:
            raise LineclsError(f"{self.output} is written, but {error.filename} stays: {error.strerror}") from error

    def close(self) -> None:
        """Let go of the files; what was not brought to the disk is done again by the next run."""
        for descriptor in (self._file, self._log):
            if descriptor >= 0:
                os.close(descriptor)
        self._file = self._log = -1

    def _flush(self) -> None:
        try:
            _write(self._file, self._buffer)
        except OSError as error:
            raise self._cannot_write(error) from error

    def _cannot_write(self, error: OSError) -> LineclsError:
        return LineclsError(f"cannot write {error.filename or self.path}: {error.strerror or error}")


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some network file systems refuse; their names are on the server already
        pass
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> bytes:
    data = b""
    while piece := os.read(descriptor, 1 << 20):
        data += piece
    return data


def _write(descriptor: int, data: bytearray) -> None:
    """Write, and take from `data` what was written: after an error the rest is still there."""
    while data:
        del data[: os.write(descriptor, data[:_PIECE])]
