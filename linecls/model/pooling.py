"""From token states to line states, and the similarities between query and lines."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from linecls.encoding import Batch

# Columns of the similarity block, each standardised within its observation; see `Similarity`.
SIMILARITIES = ("cosine", "cosine_neighbourhood", "late", "late_neighbourhood", "bm25_neighbourhood")


def pool_lines(states: Tensor, line_index: Tensor, line_length: Tensor, pooling: str = "mean") -> Tensor:
    """Line states [B, L, hidden] from token states [W, T, hidden].

    pooling: "mean" over a line's tokens ("vote" too), or the state at its "first" or "last" token. A blank line is
    zero.
    """
    rows, width, hidden = states.shape
    blank = (line_length == 0).unsqueeze(-1)
    if pooling in ("mean", "vote"):
        # A line lies within one window, so a running sum per window keeps float32 exact enough.
        running = F.pad(states.float().cumsum(dim=1), (0, 0, 1, 0)).reshape(rows * (width + 1), hidden)
        begin = line_index + torch.div(line_index, width, rounding_mode="floor")
        total = _take(running, begin + line_length) - _take(running, begin)
        return total / line_length.clamp(min=1).unsqueeze(-1)
    position = line_index if pooling == "first" else line_index + (line_length - 1).clamp(min=0)
    return _take(states.float().reshape(rows * width, hidden), position).masked_fill(blank, 0.0)


def _take(flat: Tensor, index: Tensor) -> Tensor:
    return flat.index_select(0, index.reshape(-1)).reshape(*index.shape, flat.shape[-1])


def neighbourhood_sum(values: Tensor) -> Tensor:
    """Sum over the lines l-1, l, l+1 of values [B, L, C]."""
    padded = F.pad(values, (0, 0, 1, 1))
    return padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]


def standardise(values: Tensor, mask: Tensor) -> Tensor:
    """Zero mean and unit variance over each observation's lines; values [B, L, C], mask [B, L]."""
    weight = mask.unsqueeze(-1).to(values.dtype)
    count = weight.sum(dim=1, keepdim=True).clamp(min=1)
    centred = (values - (values * weight).sum(dim=1, keepdim=True) / count) * weight
    return centred / ((centred**2).sum(dim=1, keepdim=True) / count + 1e-4).sqrt()


class Similarity(nn.Module):
    """Similarities of every line with the query: the backbone's own prior, nothing destroyed.

    cosine: of the mean-pooled line and query (Reimers and Gurevych 2019); late: for each query token the best
    cosine among the line's tokens, averaged with learned weights over the query tokens (late interaction,
    Khattab and Zaharia 2020, eq. 3); each also over the three-line neighbourhood.
    """

    def __init__(self, hidden: int, line_tokens: int) -> None:
        """line_tokens: the most tokens that a line has in its window."""
        super().__init__()
        self.line_tokens = line_tokens
        self.token_weight = nn.Linear(hidden, 1)
        nn.init.zeros_(self.token_weight.weight)
        nn.init.zeros_(self.token_weight.bias)

    def forward(
        self,
        tokens: Tensor,
        line_states: Tensor,
        query_states: Tensor,
        query_mask: Tensor,
        line_index: Tensor,
        line_length: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Similarities [B, L, 4] and the mean query state [B, hidden]; token states [N, hidden]."""
        query_states = query_states.float()
        live = query_mask.unsqueeze(-1).float()
        query_mean = (query_states * live).sum(dim=1) / live.sum(dim=1)
        query_unit = F.normalize(query_mean, dim=-1).unsqueeze(1)
        length = line_length.unsqueeze(-1).float()
        around = neighbourhood_sum(line_states * length)
        cosine = (F.normalize(line_states, dim=-1, eps=1e-6) * query_unit).sum(dim=-1)
        cosine_around = (F.normalize(around, dim=-1, eps=1e-6) * query_unit).sum(dim=-1)

        best = self._best_match(tokens, query_states, line_index, line_length)
        best_around = torch.maximum(best, torch.maximum(_shift(best, 1), _shift(best, -1)))
        score = self.token_weight(query_states).squeeze(-1).masked_fill(query_mask == 0, -1e4)
        weight = score.softmax(dim=-1).unsqueeze(1)
        late, late_around = (best * weight).sum(dim=-1), (best_around * weight).sum(dim=-1)
        return torch.stack((cosine, cosine_around, late, late_around), dim=-1), query_mean

    def _best_match(self, tokens: Tensor, query_states: Tensor, line_index: Tensor, line_length: Tensor) -> Tensor:
        """For each line and query token the best cosine among the line's tokens, [B, L, Q]; 0 when blank."""
        batch = line_index.shape[0]
        flat = F.normalize(tokens.float(), dim=-1)
        cosine = flat @ F.normalize(query_states, dim=-1).transpose(1, 2)  # [B, N, Q]
        step = torch.arange(self.line_tokens, device=tokens.device)
        valid = step < line_length.unsqueeze(-1)  # [B, L, K]
        # Padding steps repeat the line's first token, so the maximum needs no mask.
        index = line_index.unsqueeze(-1) + step.where(valid, torch.zeros_like(step))
        index = index + cosine.shape[1] * torch.arange(batch, device=tokens.device)[:, None, None]
        best = _take(cosine.reshape(-1, cosine.shape[-1]), index).amax(dim=2)
        return best * (line_length > 0).unsqueeze(-1)


def _shift(values: Tensor, by: int) -> Tensor:
    """Values [B, L, C] of the line `by` lines further; zeros at the edge."""
    if by > 0:
        return F.pad(values, (0, 0, 0, by))[:, by:]
    return F.pad(values, (0, 0, -by, 0))[:, :by]


def to_tensors(batch: Batch, device: torch.device | str = "cpu") -> dict[str, Tensor]:
    """numpy batch of `encoding.collate` as tensors."""
    return {name: torch.from_numpy(array).to(device) for name, array in batch.items()}
