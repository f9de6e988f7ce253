"""Where the resident process listens, and what it must be to answer a caller.

The socket stands in a directory that only the user may enter: `$XDG_RUNTIME_DIR/linecls`, or `linecls-<uid>` in
the directory for temporary files. Its name depends on everything that decides an answer (the installed code,
the model, the device), so that after an upgrade a caller finds no socket rather than an old process. The standard
library alone is imported here: this is on the way of every `linecls prune`.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import Any, NamedTuple
from zlib import crc32

import linecls
from linecls.errors import LineclsError

PROTOCOL = 1
_LONGEST_PATH = 100  # bytes; the kernels' limits are 104 and 108


class EndpointError(LineclsError):
    """The private directory or the socket cannot be used."""


class Endpoint(NamedTuple):
    """The socket of one kind of resident process.

    identity: JSON values that caller and process compare before a query is answered.
    directory: the private directory.
    name: file name in it, without ending.
    """

    identity: dict[str, Any]
    directory: str
    name: str

    @property
    def socket(self) -> str:
        return os.path.join(self.directory, f"{self.name}.sock")

    @property
    def lock(self) -> str:
        return os.path.join(self.directory, f"{self.name}.lock")


def find(model: str | os.PathLike[str] | None = None, device: str = "auto", threads: int | None = None) -> Endpoint:
    """The endpoint for a model directory (None: the embedded model), as `Pruner.from_pretrained` takes them.

    Raises EndpointError where there are no unix sockets, and for a model that is no local directory: a hub id
    is looked up each time.
    """
    if not hasattr(os, "getuid"):
        raise EndpointError("the resident process needs unix sockets; use linecls prune without it")
    package = os.path.dirname(os.path.realpath(linecls.__file__))
    folder = os.path.realpath(model if model is not None else os.path.join(package, "assets", "default"))
    identity = {
        "protocol": PROTOCOL,
        "version": linecls.__version__,
        "package": package,
        "code": _fingerprint_of_code(package),
        "prefix": sys.prefix,
        "model": folder,
        "model_metadata": _fingerprint(os.path.join(folder, "linecls.json")),
        "device": device,
        "threads": threads,
    }
    name = f"{crc32(repr(sorted(identity.items())).encode('utf-8', 'surrogatepass')):08x}"
    return Endpoint(identity, directory(), name)


def directory() -> str:
    """Path of the private directory, whether it is there or not."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    if base and os.path.isabs(base) and os.path.isdir(base):
        return os.path.join(base, "linecls")
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"linecls-{os.getuid()}")


def is_private(path: str) -> bool:
    """Whether `path` is a real directory of this user that nobody else may enter."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def make_private(path: str) -> None:
    """Make the private directory. Raises EndpointError when something else stands there or it cannot be made."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise EndpointError(f"cannot make the directory {path}: {error.strerror}; set XDG_RUNTIME_DIR") from error
    if not is_private(path):
        raise EndpointError(
            f"{path} is not a directory of yours that only you may enter; remove it, or set XDG_RUNTIME_DIR"
        )


def check_length(path: str) -> None:
    """Raise EndpointError when the kernel takes no socket of this name."""
    if len(os.fsencode(path)) > _LONGEST_PATH:
        raise EndpointError(f"{path} is too long for a socket; set XDG_RUNTIME_DIR to a shorter path")


def _fingerprint(path: str) -> list[int]:
    """Size, time in nanoseconds and crc32 of a small file. Raises EndpointError when it cannot be read."""
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            return [found.st_size, found.st_mtime_ns, crc32(file.read())]
    except OSError as error:
        raise EndpointError(f"cannot read {path}: {error.strerror}") from error


def _fingerprint_of_code(package: str) -> int:
    """crc32 over name, size and time of the runtime's modules: an editable install changes under its version.

    Raises EndpointError when one goes away meanwhile.
    """
    try:
        with os.scandir(package) as entries:
            files = sorted((entry.name, entry.stat()) for entry in entries if entry.name.endswith(".py"))
    except OSError as error:
        raise EndpointError(f"cannot read {package}: {error.strerror}") from error
    return crc32("".join(f"{name}:{s.st_size}:{s.st_mtime_ns};" for name, s in files).encode())
