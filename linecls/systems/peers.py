"""Other people's pruners as systems. Each runs its own package, weights or server, which must be at hand."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linecls.artifact import file_sha256
from linecls.errors import ArtifactError, missing_extra
from linecls.observation import scoring_text, split_lines
from linecls.spans import from_mask
from linecls.systems.base import OneByOne, Selection, check_share, keep_top
from linecls.systems.generative.client import EndpointError, JsonClient

_LLMLINGUA_TOKENS = 512  # the window that LLMLingua-2's encoders were trained with, special tokens included
_LINE_CHARACTERS = 8000  # of a line, that its score is read from


class SqueezPooled(OneByOne):
    """The pooled line classifier of the package `squeez` 0.1.4, run by the package's own code.

    One pass over `[CLS] query [SEP] line [LINE_SEP] line …`, a mean over each line's states, a linear layer.
    """

    name = "squeez-pooled"

    def __init__(self, model: str | Path, threshold: float = 0.5, device: str = "cpu") -> None:
        """model: a folder that its training wrote; threshold: least probability of a kept line (0.5 there).

        Raises MissingExtraError without the package, torch or transformers, ArtifactError for a folder
        without such a model.
        """
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold lies between 0 and 1, not {threshold}")
        try:
            import torch  # noqa: F401
            from transformers import AutoTokenizer
        except ImportError as error:
            raise missing_extra(error.name or "torch", "train") from error
        try:
            from squeez.encoder.modeling_squeez_pooled import (  # pyright: ignore[reportMissingImports]
                LINE_SEP_TOKEN,
                PooledLineClassifier,
            )
        except ImportError:
            raise missing_extra("squeez", "dev") from None
        self.folder, self.threshold = Path(model), threshold
        if not (self.folder / "config.json").is_file():
            raise ArtifactError(f"{model} holds no squeez model: it has no config.json")
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(model))
            loaded: Any = PooledLineClassifier.from_pretrained(str(model))
            self._model = loaded.eval().to(device)
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ArtifactError(f"{model} holds no pooled squeez model: {reason}") from error
        if self._tokenizer.convert_tokens_to_ids(LINE_SEP_TOKEN) == self._tokenizer.unk_token_id:
            raise ArtifactError(f"the tokenizer in {model} lacks {LINE_SEP_TOKEN}; it is none of a squeez model")

    def select(self, query: str, observation: str) -> Selection:
        """The lines of at least the threshold's probability, with the probabilities [L] as scores."""
        found = self._model.process(
            query, observation, self._tokenizer, threshold=self.threshold, return_line_probabilities=True
        )
        total = len(split_lines(observation))
        # The package sees one more, empty line behind a final newline, and none in blank text.
        probabilities = np.zeros(total)
        given = np.array(found["line_probabilities"][:total], dtype=np.float64)
        probabilities[: len(given)] = given
        return Selection(from_mask(probabilities >= self.threshold), probabilities, probabilities)

    def describe(self) -> dict[str, Any]:
        """The model by the sha256 of its weights, its base and the threshold."""
        weights = self.folder / "model.safetensors"
        return {
            "model": f"squeez pooled on {Path(self._model.config.base_model_name).name}",
            "sha256": file_sha256(weights) if weights.is_file() else None,
            "threshold": self.threshold,
        }


class LLMLingua2(OneByOne):
    """Lines ranked as LLMLingua-2 ranks words (arXiv 2403.12968): a token classifier that reads no query.

    The score of a line is the mean over its tokens of the probability to be preserved. LLMLingua-2 itself drops
    words; here whole lines stay or go, so that its answer is extractive.
    """

    name = "llmlingua2"

    def __init__(self, model: str | Path, keep: float = 0.1, device: str = "cpu") -> None:
        """model: folder of a token classifier whose label 1 is "preserve", with a fast tokenizer; keep: share
        of the lines.

        Raises MissingExtraError without torch or transformers, ArtifactError for a folder without such a model.
        """
        self.keep, self.folder = check_share(keep), Path(model)
        try:
            import torch
            from transformers import AutoModelForTokenClassification, AutoTokenizer
        except ImportError as error:
            raise missing_extra(error.name or "torch", "train") from error
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(model), use_fast=True)
            self._model: Any = AutoModelForTokenClassification.from_pretrained(str(model)).eval().to(device)
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise ArtifactError(f"{model} holds no token classifier: {reason}") from error
        if self._model.config.num_labels != 2:
            raise ArtifactError(f"{model} tells {self._model.config.num_labels} labels apart, not drop and preserve")
        self._torch = torch
        stated = int(getattr(self._model.config, "max_position_embeddings", _LLMLINGUA_TOKENS))
        self._width = min(stated, _LLMLINGUA_TOKENS)

    def select(self, query: str, observation: str) -> Selection:
        """The `keep` share of lines with the highest scores [L]; `query` is not read."""
        del query
        return keep_top(self._scores(split_lines(observation)), self.keep)

    def describe(self) -> dict[str, Any]:
        """The model by name and by the sha256 of its weights, and the share kept."""
        weights = self.folder / "model.safetensors"
        return {
            "model": f"LLMLingua-2 style, {self.folder.name}",
            "sha256": file_sha256(weights) if weights.is_file() else None,
            "keep": self.keep,
        }

    def _scores(self, lines: list[str]) -> NDArray[np.float64]:
        torch = self._torch
        texts = [scoring_text(line)[:_LINE_CHARACTERS] for line in lines]
        encoded = self._tokenizer(texts, add_special_tokens=False)["input_ids"] if texts else []
        lengths = [len(ids) for ids in encoded]
        stream = [token for ids in encoded for token in ids]
        room = self._width - 2
        preserved = np.zeros(len(stream))
        for start in range(0, len(stream), room):
            piece = stream[start : start + room]
            ids = torch.tensor([self._tokenizer.build_inputs_with_special_tokens(piece)], device=self._model.device)
            with torch.inference_mode():
                probability = self._model(input_ids=ids).logits[0].softmax(-1)[:, 1]
            offset = int((ids.shape[1] - len(piece)) // 2)
            preserved[start : start + len(piece)] = probability[offset : offset + len(piece)].float().cpu().numpy()
        sums = np.concatenate(([0.0], np.cumsum(preserved)))
        ends = np.array(list(accumulate(lengths)), dtype=np.intp)
        counts = np.array(lengths, dtype=np.intp)
        return (sums[ends] - sums[ends - counts]) / np.maximum(counts, 1)


class SwePruner(OneByOne):
    """The server of the package `swe-pruner` (SWE-Pruner, a 0.6B reranker with a line head), over its HTTP API."""

    name = "swe-pruner"

    def __init__(
        self, endpoint: str = "http://127.0.0.1:8000", threshold: float = 0.5, timeout: float = 600.0, retries: int = 5
    ) -> None:
        """endpoint: where `swe-pruner --model-path DIR` listens; threshold: least score of a kept line.

        timeout and retries as for `JsonClient`. Raises EndpointError for an unusable address.
        """
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold lies between 0 and 1, not {threshold}")
        self.threshold = threshold
        self._client = JsonClient(endpoint.strip().rstrip("/").removesuffix("/prune"), timeout=timeout, retries=retries)
        self.is_here = self._client.is_loopback

    def select(self, query: str, observation: str) -> Selection:
        """The lines that the server keeps. Raises EndpointError when it cannot be reached or refuses."""
        body = {"query": query, "code": observation, "threshold": self.threshold}
        value, _ = self._client.request("prune", body)
        kept = value.get("kept_frags")
        if value.get("error_msg") or not isinstance(kept, list) or not all(isinstance(n, int) for n in kept):
            said = value.get("error_msg") or "no list of kept lines"
            raise EndpointError(f"{self._client.shown}: the answer is none of swe-pruner: {said}")
        mask = np.zeros(len(split_lines(observation)), dtype=bool)
        places = server_lines(observation)
        for number in kept:
            if 1 <= number <= len(places):
                mask[places[number - 1]] = True
        return Selection(from_mask(mask))

    def describe(self) -> dict[str, Any]:
        """The server's address and the threshold."""
        return {"endpoint": self._client.shown, "threshold": self.threshold}


def server_lines(observation: str) -> list[int]:
    r"""The 0-based line (ended by `\n` only) of each line that `str.splitlines` sees, which swe-pruner numbers.

    That function also breaks at lone carriage returns, form feeds and U+2028.
    """
    breaks = [piece.endswith("\n") for piece in observation.splitlines(keepends=True)]
    return [0, *accumulate(map(int, breaks))][: len(breaks)]
