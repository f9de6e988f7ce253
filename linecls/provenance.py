"""Where and on what a figure was measured: machine, commit, files. Every report states them in the same words."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from linecls import __version__
from linecls.artifact import file_sha256


def cpu_name() -> str:
    """What the processor calls itself, `unknown` where nothing tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine() or "unknown"


def machine() -> dict[str, Any]:
    """Processor, number of cores, Python and operating system."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def commit() -> str | None:
    """The commit of the checkout that tracks this file, with `-dirty` after changes; None elsewhere."""
    here = Path(__file__)
    git = ["git", "-C", str(here.parent)]
    try:
        subprocess.run([*git, "ls-files", "--error-unmatch", here.name], check=True, capture_output=True, timeout=10)
        found = subprocess.run(
            [*git, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            check=True,
            capture_output=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() or None


def measured_on() -> str:
    """Machine and commit in a few words, to stand behind `Machine:` or in a JSON field of that name."""
    found = commit()
    number, _, dirty = (found or "").partition("-")
    state = f"commit {number[:12]}{', changed' if dirty else ''}" if found else f"linecls {__version__}"
    return f"{cpu_name()}, {os.cpu_count()} cores; {state}"


def source(path: str | Path) -> dict[str, str | None]:
    """Name of a file (never its folder, which says more about the machine than about the data) and its sha256; None
    where it is no file, as for a data set of a hub."""
    file = Path(path)
    if not file.is_file():
        return {"name": str(path), "sha256": None}
    return {"name": file.name, "sha256": file_sha256(file)}
