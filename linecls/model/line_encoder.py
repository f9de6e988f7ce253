"""A small bidirectional transformer over line states, the query's tokens in front."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class RelativeBias(nn.Module):
    """Learned attention bias by distance in lines: exact up to 8, log-spaced up to 512 (Raffel et al. 2020).

    The query's tokens stand outside the order: attention from and to them has one learned bias each.
    """

    exact, buckets, furthest = 8, 16, 512

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.table = nn.Embedding(2 * self.buckets + 3, heads)
        nn.init.zeros_(self.table.weight)

    def forward(self, queries: int, lines: int, device: torch.device) -> Tensor:
        """Bias [heads, Q + L, Q + L]."""
        # One embedding per distance, laid out along the diagonals: the table is read 2 L - 1 times, not L * L.
        distance = torch.arange(1 - lines, lines, device=device)
        size = distance.abs()
        spread = self.buckets - self.exact
        log = torch.log(size.clamp(min=1).float() / self.exact) / math.log(self.furthest / self.exact)
        coarse = (self.exact + (log * spread).long()).clamp(max=self.buckets - 1)
        bucket = torch.where(size < self.exact, size, coarse)
        bucket = torch.where(distance < 0, bucket + self.buckets, bucket)
        position = torch.arange(lines, device=device)
        diagonal = position.unsqueeze(0) - position.unsqueeze(1) + (lines - 1)
        between = self.table(bucket).transpose(0, 1).index_select(1, diagonal.reshape(-1)).reshape(-1, lines, lines)
        within, outwards, inwards = self.table.weight[2 * self.buckets :, :, None, None]
        upper = torch.cat((within.expand(-1, queries, queries), outwards.expand(-1, queries, lines)), dim=2)
        lower = torch.cat((inwards.expand(-1, lines, queries), between), dim=2)
        return torch.cat((upper, lower), dim=1)


class Layer(nn.Module):
    """Pre-norm transformer layer."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.norm_attention, self.norm_feed = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed_in, self.feed_out = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x [B, S, width]; bias [B, heads, S, S] is added to the attention scores."""
        batch, size, width = x.shape
        q, k, v = self.qkv(self.norm_attention(x)).chunk(3, dim=-1)
        q, k, v = (t.reshape(batch, size, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads) + bias
        mixed = (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, size, width)
        x = x + self.dropout(self.out(mixed))
        return x + self.dropout(self.feed_out(self.dropout(F.gelu(self.feed_in(self.norm_feed(x))))))


class LineEncoder(nn.Module):
    """Lets every line see every query token and every other line of its segment."""

    def __init__(self, width: int, layers: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.relative = RelativeBias(heads)
        self.layers = nn.ModuleList(Layer(width, heads, dropout) for _ in range(layers))

    def forward(
        self, query: Tensor, query_mask: Tensor, lines: Tensor, line_mask: Tensor, window: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """query [B, Q, width], lines [B, L, width] and their masks -> the same two, encoded.

        window [B, L]: lines of different numbers do not see each other, and the query sees none, so that it carries
            nothing from one to the next; None lets all see all.
        """
        x = torch.cat((query, lines), dim=1)
        live = torch.cat((query_mask.bool(), line_mask), dim=1)
        hidden = torch.zeros_like(live, dtype=torch.float32).masked_fill(~live, -1e4)
        bias = self.relative(query.shape[1], lines.shape[1], x.device).unsqueeze(0) + hidden[:, None, None, :]
        if window is not None:
            place = F.pad(window, (query.shape[1], 0), value=-1)
            apart = (place.unsqueeze(2) != place.unsqueeze(1)) & (place >= 0).unsqueeze(1)
            bias = bias + (apart.float() * -1e4).unsqueeze(1)
        for layer in self.layers:
            x = layer(x, bias)
        return x[:, : query.shape[1]], x[:, query.shape[1] :]
