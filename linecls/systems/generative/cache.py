"""Completions on disk, keyed by their request, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from linecls.errors import LineclsError
from linecls.systems.generative.client import Completion


def default_cache() -> Path:
    """`$XDG_CACHE_HOME/linecls/completions`, or the same under `~/.cache`."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "linecls" / "completions"


def request_key(identity: Mapping[str, Any]) -> str:
    """SHA-256 of a request as canonical JSON: everything that the answer depends on."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


class CompletionCache:
    """One small JSON file for each completion, in a folder of its own two-letter prefix.

    A file appears whole or not at all; one that cannot be read counts as missing. The prompt is not stored.
    """

    def __init__(self, folder: str | Path) -> None:
        """folder: made when the first completion is kept."""
        self.folder = Path(folder)

    def get(self, key: str) -> Completion | None:
        """The completion of a request, None if there is none."""
        try:
            values = json.loads(self._path(key).read_bytes())
            return Completion(
                text=str(values["text"]),
                cut=bool(values["cut"]),
                prompt_tokens=int(values["prompt_tokens"]),
                completion_tokens=int(values["completion_tokens"]),
                seconds=float(values["seconds"]),
            )
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            return None

    def put(self, key: str, completion: Completion) -> None:
        """Keep a completion. Raises LineclsError where the folder cannot be written."""
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(asdict(completion), file)
                os.replace(name, path)
            except BaseException:
                os.unlink(name)
                raise
        except OSError as error:
            raise LineclsError(f"cannot keep a completion in {self.folder}: {error.strerror or error}") from error

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"
