"""Originals of pruned outputs, so that what was omitted can be printed again, byte for byte.

A directory of the user's own with one file per output, named by the first digits of the sha256 of its bytes; the
directory and its files are for the user alone. It is a cache: files older than `MAX_AGE` go, and the oldest go when
all together exceed `MAX_BYTES`.

Where: `LINECLS_STORE`, else `linecls/outputs` in `XDG_CACHE_HOME`, else in `~/.cache`. An empty `LINECLS_STORE`
turns the store off.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from linecls.errors import StoreError
from linecls.observation import Observation
from linecls.spans import Span

MAX_AGE = 7 * 24 * 3600.0  # seconds since an output was last stored
MAX_BYTES = 256 << 20
MAX_ENTRY = 64 << 20
_SHORTEST, _LONGEST = 8, 64  # hex digits of an id
_ID = re.compile(rf"[0-9a-f]{{{_SHORTEST},{_LONGEST}}}")
_REFERENCE = re.compile(rf"({_ID.pattern})(?::(\d{{1,12}})(?:-(\d{{1,12}}))?)?")
_SUFFIX = ".out"
_NEW = ".new-"  # a file that is being written
_NEW_MAX_AGE = 3600.0


class Reference(NamedTuple):
    """What a marker points to: an output's id and the lines of it, None for all."""

    id: str
    span: Span | None


def parse_reference(text: str) -> Reference:
    """`ID`, `ID:A` or `ID:A-B` with 1-based, inclusive line numbers. Raises StoreError for anything else."""
    match = _REFERENCE.fullmatch(text.strip())
    if match is None:
        raise StoreError(f"{_shown(text)} is no ID[:A-B]; copy it from a marker, as in: linecls expand 3f9a2c1b:13-64")
    name, start, end = match.groups()
    if start is None:
        return Reference(name, None)
    span = Span(int(start), int(end or start))
    if span.start_line < 1 or span.end_line < span.start_line:
        raise StoreError(f"{_shown(text)} names no lines: they count from 1, first-last")
    return Reference(name, span)


class Store:
    """The store in one directory, which is made when something is saved."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)

    @classmethod
    def of_user(cls) -> Store | None:
        """The user's store; None where the environment turns it off or names no home."""
        named = os.environ.get("LINECLS_STORE")
        if named is not None:
            return cls(named) if named.strip() else None
        cache = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(cache):  # the XDG rules say to ignore a relative path
            cache = os.path.expanduser("~/.cache")
        return cls(Path(cache) / "linecls" / "outputs") if os.path.isabs(cache) else None

    def save(self, raw: bytes) -> str:
        """Keep an output and return its id: the first 8 digits of its sha256, more only if another has them.

        Saving the same bytes again gives the same id and starts its age anew. Safe beside other writers.
        Raises StoreError when it cannot be kept.
        """
        if len(raw) > MAX_ENTRY:
            raise StoreError(f"an output of {len(raw)} bytes is more than the store keeps ({MAX_ENTRY})")
        digest = hashlib.sha256(raw).hexdigest()
        try:
            self._open_directory()
            name = self._put(digest, raw)
            self._evict(name)
        except OSError as error:
            raise StoreError(f"cannot keep outputs in {self.directory}: {error.strerror or error}") from error
        return name

    def load(self, name: str) -> bytes:
        """The bytes that were saved under an id. Raises StoreError."""
        if _ID.fullmatch(name) is None:
            raise StoreError(f"{_shown(name)} is no id of an output")
        try:
            raw = _read(self._path(name))
        except FileNotFoundError:
            raise StoreError(
                f"there is no output {name} in {self.directory}; it is too old or was never kept: run the command again"
            ) from None
        except OSError as error:
            raise StoreError(f"cannot read {self._path(name)}: {error.strerror or error}") from error
        if not hashlib.sha256(raw).hexdigest().startswith(name):
            raise StoreError(f"output {name} in {self.directory} is damaged: run the command again")
        return raw

    def expand(self, reference: Reference) -> bytes:
        """The lines that a reference names, byte for byte. Raises StoreError."""
        raw = self.load(reference.id)
        if reference.span is None:
            return raw
        observation = Observation.of(raw)
        if reference.span.end_line > len(observation):
            raise StoreError(f"output {reference.id} has {len(observation)} lines, not {reference.span.end_line}")
        selected = observation.select([reference.span])
        assert isinstance(selected, bytes)
        return selected

    def _open_directory(self) -> None:
        """Make the directory. Raises OSError, and StoreError for one that another user owns or can write to."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name == "nt":
            return
        status = os.lstat(self.directory)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise StoreError(f"{self.directory} is no directory of your own; set LINECLS_STORE to one")
        if status.st_mode & 0o022:
            raise StoreError(f"others can write to {self.directory}; run: chmod 700 {self.directory}")

    def _path(self, name: str) -> Path:
        return self.directory / f"{name}{_SUFFIX}"

    def _put(self, digest: str, raw: bytes) -> str:
        for length in range(_SHORTEST, _LONGEST + 1):
            name = digest[:length]
            path = self._path(name)
            with suppress(FileNotFoundError):
                present = _read(path)
                if present == raw:
                    os.utime(path)
                    return name
                if hashlib.sha256(present).hexdigest().startswith(name):
                    continue  # another output that shares these digits
                os.unlink(path)  # damaged
            if self._create(path, raw) or _read(path) == raw:  # or another process has just written it
                return name
        raise StoreError("two outputs with one sha256")

    def _create(self, path: Path, raw: bytes) -> bool:
        """Write a file as a whole; False when the name is taken meanwhile."""
        descriptor, scratch = tempfile.mkstemp(prefix=_NEW, dir=self.directory)  # mode 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(raw)
            try:
                os.link(scratch, path)
            except FileExistsError:
                return False
            except OSError:  # a file system without hard links
                os.replace(scratch, path)
            return True
        finally:
            with suppress(FileNotFoundError):
                os.unlink(scratch)

    def _evict(self, kept: str) -> None:
        """Remove what is too old, then the oldest until the rest fits; never the one just saved."""
        now = time.time()
        entries: list[tuple[float, int, str]] = []
        with os.scandir(self.directory) as files:
            for file in files:
                with suppress(FileNotFoundError):
                    status = file.stat(follow_symlinks=False)
                    if file.name.startswith(_NEW):
                        if now - status.st_mtime > _NEW_MAX_AGE:
                            os.unlink(file.path)
                    elif file.name == kept + _SUFFIX:
                        entries.append((math.inf, status.st_size, ""))
                    elif file.name.endswith(_SUFFIX) and _ID.fullmatch(file.name.removesuffix(_SUFFIX)):
                        entries.append((status.st_mtime, status.st_size, file.path))
        total = sum(size for _, size, _ in entries)
        for modified, size, path in sorted(entries):
            if not path or (now - modified <= MAX_AGE and total <= MAX_BYTES):
                break
            with suppress(FileNotFoundError):
                os.unlink(path)
            total -= size


def _read(path: Path) -> bytes:
    """The bytes of a regular file; a link or a device in its place is an OSError, and nothing is waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no regular file")
        return file.read()


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "…")
