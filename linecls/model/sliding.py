"""ModernBERT's attention in the form in which it is exported: what the eager one computes, in less memory.

Three of its four attentions and the like look only so many tokens far (`local_attention`), and yet the eager form
makes all T x T scores and masks nearly all of them. Here such an attention runs in blocks of its reach: the tokens of
a block see those of the block before, of their own and of the one behind, so scores cost T times three reaches. An
attention over all tokens becomes ONNX Runtime's MultiHeadAttention, which on a GPU never holds all scores at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_HIDDEN = -1e4  # a score that the softmax makes zero, and that float16 can hold


@contextmanager
def export_form(encoder: nn.Module, attention_mask: Tensor) -> Iterator[None]:
    """Let every ModernBERT attention inside `encoder` run in the form above; other architectures stay as they are.

    attention_mask: that of the tokens, [W, T]. Attention over all tokens can then be exported, but not run in torch.
    """
    modules: list[Any] = [m for m in encoder.modules() if type(m).__name__ == "ModernBertAttention"]
    try:
        for module in modules:
            module.forward = partial(_attend, module, attention_mask)
        yield
    finally:
        for module in modules:
            del module.forward


def _attend(module: Any, mask: Tensor, hidden: Tensor, *_: Any, position_ids: Tensor, **__: Any) -> tuple[Tensor]:
    """What takes the place of `ModernBertAttention.forward`: hidden [W, T, H] -> ([W, T, H],)."""
    from transformers.models.modernbert.modeling_modernbert import apply_rotary_pos_emb

    rows, length, _size = hidden.shape
    projected = module.Wqkv(hidden).reshape(rows, length, 3, module.num_heads, module.head_dim)
    cos, sin = module.rotary_emb(projected, position_ids=position_ids)
    query, key, value = projected.unbind(2)
    query, key = apply_rotary_pos_emb(query, key, cos, sin, unsqueeze_dim=2)
    reach = module.local_attention[0]
    mixed = everywhere(query, key, value, mask) if reach < 0 else nearby(query, key, value, mask, reach)
    return (module.out_drop(module.Wo(mixed.reshape(rows, length, module.all_head_size))),)


def nearby(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, reach: int) -> Tensor:
    """Attention of every token to the tokens at most `reach` places away that `mask` [W, T] has.

    query, key, value and the result are [W, T, heads, d]. Exact; memory grows linearly with T. What a token gets that
    sees none is finite and means nothing.
    """
    rows, length, heads, size = query.shape
    blocks = (length + reach - 1) // reach
    missing = blocks * reach - length

    def neighbours(tokens: Tensor) -> Tensor:
        """[W, T, heads, d] -> [W, blocks, heads, 3 * reach, d]"""
        padded = F.pad(tokens, (0, 0, 0, 0, reach, missing + reach))
        parts = padded.reshape(rows, blocks + 2, reach, heads, size).transpose(2, 3)
        return torch.cat((parts[:, :-2], parts[:, 1:-1], parts[:, 2:]), dim=3)

    there = F.pad(mask, (reach, missing + reach)).reshape(rows, blocks + 2, reach)
    there = torch.cat((there[:, :-2], there[:, 1:-1], there[:, 2:]), dim=2)
    place = torch.arange(3 * reach, device=query.device) - reach
    near = (place.unsqueeze(0) - place[reach : 2 * reach].unsqueeze(1)).abs() <= reach
    seen = near & (there != 0)[:, :, None, None, :]
    asked = F.pad(query, (0, 0, 0, 0, 0, missing)).reshape(rows, blocks, reach, heads, size).transpose(2, 3)
    scores = asked @ neighbours(key).transpose(3, 4) * size**-0.5
    scores = scores + torch.where(seen, 0.0, _HIDDEN).to(scores.dtype)
    mixed = (scores.softmax(dim=-1) @ neighbours(value)).transpose(2, 3)
    return mixed.reshape(rows, blocks * reach, heads, size)[:, :length]


def everywhere(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Attention to all tokens of the row that `mask` [W, T] has, as one operator: exported, never run in torch."""
    rows, length, heads, size = query.shape
    inputs = [tokens.reshape(rows, length, heads * size) for tokens in (query, key, value)]
    return torch.onnx.ops.symbolic(
        "com.microsoft::MultiHeadAttention",
        (*inputs, None, mask.to(torch.int32)),
        {"num_heads": heads, "scale": size**-0.5},
        dtype=query.dtype,
        shape=(rows, length, heads * size),
        version=1,
    )
