"""Token states of a frozen backbone on disk: computed once per observation, read by every head that is trained.

With the backbone frozen the states of an observation's tokens never change, so an epoch costs what the head costs
(the mode of SWE-Pruner Pro, arXiv 2607.18213). Only the apart reading can do so: in joint windows the states depend
on the query. A crop, cut or splice of an observation takes its lines' states from the whole one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from linecls.encoding import Batch, Pair, Query, WindowEncoder, collate, pad
from linecls.errors import LineclsError
from linecls.model.backbone import Backbone
from linecls.training.batches import Group, Target

_STATES, _INDEX = "states.f16", "index.jsonl"
_BATCH_TOKENS = 8192  # of one forward pass while the cache is filled


class _Stored(NamedTuple):
    """Where the states of an observation or a query begin in the file, and how many there are."""

    start: int
    tokens: int


class StateCache:
    """A folder of float16 token states, memory-mapped, for one backbone and one form of the windows.

    folder: where caches lie; each backbone (by the bytes of its weights) and encoding has a folder of its own in it.
        Observations and queries are found by their content. What an interrupted run has written is used again.
    Raises LineclsError for the joint reading, for numerals (a crop renumbers its lines) and for a folder that cannot
    be written.
    """

    def __init__(self, folder: str | Path, backbone: Backbone, encoder: WindowEncoder) -> None:
        if encoder.config.reading != "apart" or encoder.config.numerals:
            raise LineclsError("a frozen backbone needs states that a line keeps; set reading: apart, numerals: false")
        self.backbone, self.encoder, self.width = backbone, encoder, backbone.width
        self.folder = Path(folder) / _fingerprint(backbone, encoder)
        self._known: dict[str, _Stored] = {}
        self._count = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._open()
        except OSError as error:
            raise LineclsError(f"cannot keep states in {self.folder}: {error.strerror or error}") from error
        self._map: NDArray[np.float16] | None = None
        self._lines: list[NDArray[np.int64]] = []

    def _open(self) -> None:
        """Read the index; drop what an interrupted run wrote to the states without an entry."""
        index = self.folder / _INDEX
        whole = ""
        for line in index.read_text(encoding="utf-8").splitlines(keepends=True) if index.exists() else ():
            if not line.endswith("\n"):
                break
            entry = json.loads(line)
            self._known[entry["key"]] = _Stored(entry["start"], entry["tokens"])
            self._count = entry["start"] + entry["tokens"]
            whole += line
        index.write_text(whole, encoding="utf-8")
        with open(self.folder / _STATES, "ab") as states:
            states.truncate(self._count * self.width * 2)

    def prepare(self, groups: Sequence[Group], counts: Sequence[NDArray[np.int64]]) -> None:
        """Compute what is missing of the groups' observations and queries; `fill` then serves these groups.

        counts: per group the tokens of each line, [L].
        """
        from tqdm import tqdm

        queries = list(dict.fromkeys(label.query for group in groups for label in group.labels))
        missing = [group for group in groups if _observation_key(group) not in self._known]
        new_queries = [query for query in queries if _query_key(query) not in self._known]
        with (
            open(self.folder / _STATES, "ab") as states,
            open(self.folder / _INDEX, "a", encoding="utf-8") as index,
            tqdm(total=len(missing) + len(new_queries), desc="states", unit="text", disable=None) as bar,
        ):
            for key, values in self._compute(missing, new_queries):
                states.write(values.tobytes())
                states.flush()
                index.write(json.dumps({"key": key, "start": self._count, "tokens": len(values)}) + "\n")
                index.flush()
                self._known[key] = _Stored(self._count, len(values))
                self._count += len(values)
                bar.update()
        if self._count:
            self._map = np.memmap(self.folder / _STATES, np.float16, "r", shape=(self._count, self.width))
        self._lines = []
        for group, tokens in zip(groups, counts, strict=True):
            stored = self._known[_observation_key(group)]
            if stored.tokens != int(tokens.sum()):
                raise LineclsError(f"{self.folder} does not fit its observations; remove it")
            self._lines.append(stored.start + np.concatenate(([0], np.cumsum(tokens)))[:-1])

    def fill(self, batch: Batch, targets: Sequence[Target]) -> dict[str, NDArray[np.float32]]:
        """States for a batch of the prepared groups: `input_ids` [W, T, hidden], `query_ids` [B, Q, hidden].

        They take the place of the ids in the network's inputs. Tokens that belong to no line are zero.
        """
        rows, width = batch["input_ids"].shape
        states = np.zeros((rows * width, self.width), np.float32)
        done: set[int] = set()
        for row, target in enumerate(targets):
            if id(target.segment) in done:
                continue
            done.add(id(target.segment))
            size = len(target.segment)
            lengths = batch["line_length"][row, :size]
            sources = np.array([self._lines[group][line] for group, line in target.origin], np.int64)
            into = _ranges(batch["line_index"][row, :size], lengths)
            states[into] = self._read(_ranges(sources, lengths))
        query_states = np.zeros((*batch["query_ids"].shape, self.width), np.float32)
        for row, target in enumerate(targets):
            stored = self._known[_query_key(target.label.query)]
            query_states[row, : stored.tokens] = self._read(np.arange(stored.start, stored.start + stored.tokens))
        return {"input_ids": states.reshape(rows, width, self.width), "query_ids": query_states}

    def _read(self, places: NDArray[np.int64]) -> NDArray[np.float16]:
        if self._map is None:
            return np.zeros((len(places), self.width), np.float16)
        return self._map[places]

    def _compute(self, groups: Sequence[Group], queries: Sequence[str]) -> Iterator[tuple[str, NDArray[np.float16]]]:
        for group in groups:
            yield _observation_key(group), self._observation(group)
        for text in queries:
            query = self.encoder.query(text)
            yield _query_key(text), self._encode([query.ids])[0]

    def _observation(self, group: Group) -> NDArray[np.float16]:
        """States of the tokens of all lines, one after the other, [N, hidden]; each line as its own segment sees it."""
        nothing = np.empty(0, np.int64)
        query = Query(np.zeros(1, np.int64), nothing, nothing)
        parts: list[NDArray[np.float16]] = []
        for segment in self.encoder.segments(group.observation):
            windows = self.encoder.windows(segment)
            batch = collate([Pair(query, segment, windows, self.encoder.features(segment, query))])
            flat = np.concatenate(self._encode(windows.rows, batch["input_ids"].shape[1]))
            kept = slice(segment.keep_start - segment.start, segment.keep_stop - segment.start)
            parts.append(flat[_ranges(batch["line_index"][0, kept], batch["line_length"][0, kept])])
        return np.concatenate(parts)

    def _encode(self, rows: Sequence[NDArray[np.int64]], width: int | None = None) -> list[NDArray[np.float16]]:
        """States of rows of ids, padded to `width` (None: the longest row's), [width, hidden] each."""
        width = width or max(len(row) for row in rows)
        found: list[NDArray[np.float16]] = []
        step = max(_BATCH_TOKENS // width, 1)
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            with torch.inference_mode():
                device = next(self.backbone.parameters()).device
                tensors = (torch.from_numpy(array).to(device) for array in pad(some, width))
                states = self.backbone(*tensors).float().cpu().numpy()
            with np.errstate(over="ignore"):
                half = states.astype(np.float16)
            if not np.isfinite(half).all():
                raise LineclsError(f"states of {self.backbone.name} do not fit float16; it cannot be kept frozen")
            found.extend(half)
        return found


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """start, start + 1, … of each run, one after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def _fingerprint(backbone: Backbone, encoder: WindowEncoder) -> str:
    digest = hashlib.sha256()
    for name, tensor in backbone.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    settings: dict[str, Any] = {"encoding": encoder.config.to_dict(), "bidirectional": backbone.bidirectional}
    digest.update(json.dumps(settings, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def _observation_key(group: Group) -> str:
    return _key("observation", "".join(group.observation.lines))


def _query_key(query: str) -> str:
    return _key("query", query)


def _key(kind: str, text: str) -> str:
    return hashlib.blake2b(f"{kind}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
