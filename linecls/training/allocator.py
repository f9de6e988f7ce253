"""The settings of glibc's allocator that training on a CPU wants."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

# glibc gives large tensors back to the kernel and fetches them anew on every step; keeping them doubles the
# speed of training on a CPU. It has to be in the environment before the process starts.
_ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "268435456",
}


def with_fast_allocator(command: Sequence[str]) -> None:
    """Replace this process by `command` with the allocator set for speed, unless it is set already."""
    missing = {name: value for name, value in _ALLOCATOR.items() if name not in os.environ}
    if missing and sys.platform.startswith("linux"):
        os.environ.update(missing)
        os.execv(command[0], list(command))
