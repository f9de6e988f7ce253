"""A generative pruner in this process: any causal model that transformers loads, with or without an adapter."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from linecls.artifact import file_sha256
from linecls.errors import LineclsError, missing_extra
from linecls.systems.generative.base import Generative
from linecls.systems.generative.client import Completion, ContextError

PACKAGED = "package:"


class LocalGenerative(Generative):
    """A model run by transformers, one observation at a time, by greedy decoding unless a temperature is set."""

    name = "local"

    def __init__(
        self,
        model: str,
        *,
        adapter: str | Path | None = None,
        prompt: str = "squeez",
        max_tokens: int = 1024,
        temperature: float = 0.0,
        background: bool = False,
        max_context: int | None = None,
        device: str = "auto",
        seed: int = 0,
        cache: str | Path | None = None,
    ) -> None:
        """model: `package:SmolLM2-135M-Instruct`, a directory, a GGUF file or a hub id; adapter: a folder that
        peft wrote.

        max_context: tokens of prompt and answer together, None for what the model was made for; device: `auto`,
        `cpu` or `cuda:N`; seed: of sampling, where temperature is above 0; the others as for `Generative`.
        Raises MissingExtraError without transformers (extra `train`) or peft, LineclsError for a model that
        does not load.
        """
        super().__init__(
            prompt=prompt, max_tokens=max_tokens, temperature=temperature, background=background, cache=cache
        )
        self.model_name, self.adapter, self.seed = model, adapter, seed
        self._tokenizer, self._model = load_causal(model, adapter, device)
        stated = int(getattr(self._model.config, "max_position_embeddings", None) or 1 << 20)
        self.max_context = stated if max_context is None else min(max_context, stated)
        self._weights = _weights_sha256(model), None if adapter is None else _weights_sha256(str(adapter))

    def complete(self, messages: list[dict[str, str]]) -> Completion:
        """Generate. Raises ContextError where prompt and answer do not fit `max_context`."""
        import torch

        ids = self._tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt")
        if ids.shape[1] + self.max_tokens > self.max_context:
            raise ContextError(f"{ids.shape[1]} tokens and an answer do not fit {self.max_context}")
        ids = ids.to(self._model.device)
        sampling: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        if self.temperature:
            sampling = {"do_sample": True, "temperature": self.temperature}
            torch.manual_seed(self.seed)
        start = time.perf_counter()
        with torch.inference_mode():
            output = self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=self.max_tokens,
                pad_token_id=self._tokenizer.pad_token_id,
                **sampling,
            )
        written = output[0, ids.shape[1] :]
        ends = self._model.generation_config.eos_token_id
        stopped = len(written) > 0 and int(written[-1]) in ({ends} if isinstance(ends, int) else set(ends or ()))
        return Completion(
            text=self._tokenizer.decode(written, skip_special_tokens=True),
            cut=not stopped and len(written) >= self.max_tokens,
            prompt_tokens=int(ids.shape[1]),
            completion_tokens=len(written),
            seconds=time.perf_counter() - start,
        )

    def identity(self) -> dict[str, Any]:
        """The model and adapter by name and by the sha256 of their weights, and the limits."""
        weights, adapter = self._weights
        adapted = {} if self.adapter is None else {"adapter": Path(self.adapter).name, "adapter_sha256": adapter}
        return {
            "model": self.model_name if self.model_name.startswith(PACKAGED) else Path(self.model_name).name,
            "sha256": weights,
            **adapted,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "max_context": self.max_context,
            "seed": self.seed,
        }


def load_causal(model: str, adapter: str | Path | None = None, device: str = "auto") -> tuple[Any, Any]:
    """Tokenizer (with a padding token) and causal model in eval mode; see `LocalGenerative` for the arguments."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise missing_extra(error.name or "transformers", "train") from error
    path = _path(model)
    source, options = str(path or model), {}
    if path is not None and path.suffix == ".gguf":
        source, options = str(path.parent), {"gguf_file": path.name}
    on_gpu = torch.cuda.is_available() if device == "auto" else device.startswith("cuda")
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(source, **options)
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            source, dtype=torch.bfloat16 if on_gpu else torch.float32, **options
        )
        loaded = loaded.to(("cuda" if on_gpu else "cpu") if device == "auto" else device)
    except Exception as error:  # transformers, safetensors and the hub client raise dozens of types here
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise LineclsError(f"cannot load the model '{model}': {reason}") from error
    if tokenizer.chat_template is None:
        raise LineclsError(f"the tokenizer of '{model}' has no chat template; take an instruction-tuned model")
    if adapter is not None:
        try:
            from peft import PeftModel
        except ImportError:
            raise missing_extra("peft", "generative") from None
        try:
            loaded = PeftModel.from_pretrained(loaded, str(adapter))
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise LineclsError(f"cannot load the adapter '{adapter}': {reason}") from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer, loaded.eval()


def _path(model: str) -> Path | None:
    """Where the weights stand on this machine; None for a hub id."""
    if model.startswith(PACKAGED):
        from linecls.model.backbone import packaged_path

        return packaged_path(model)
    return Path(model) if Path(model).exists() else None


def _weights_sha256(model: str) -> str | None:
    """Of the weights where they are one file on this machine."""
    path = _path(model)
    if path is None:
        return None
    files = [path] if path.is_file() else sorted((*path.glob("*.safetensors"), *path.glob("*.gguf")))
    return file_sha256(files[0]) if len(files) == 1 else None
