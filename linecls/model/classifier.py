"""The hierarchical line classifier: windows of tokens -> line states -> one keep logit per line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from linecls.encoding import FEATURES, LENGTH_BUCKETS
from linecls.model.backbone import Backbone
from linecls.model.line_encoder import LineEncoder
from linecls.model.pooling import SIMILARITIES, Similarity, pool_lines, standardise
from linecls.model.span_scores import SpanScores, log_coverage

_BM25 = FEATURES.index("bm25_neighbourhood")
_POSITION = ("relative_position", "lines_before", "lines_after")


@dataclass(frozen=True)
class ClassifierConfig:
    """Shape of everything above the backbone.

    width, layers, heads, dropout: of the line encoder; layers=0 leaves each line by itself.
    pooling: how tokens become a line state: "mean", "first" or "last" (for causal backbones); or "vote": each token
        gets a logit of its own and the line's logit is that of their mean probability (the majority vote of
        SWE-Pruner Pro, arXiv 2607.18213, made smooth). A vote has no line encoder and is for comparisons: it is
        not exported.
    residual: start the keep logit from the similarity of line and query, and learn what is added to it.
    line_features: read the free line features of `encoding.FEATURES`.
    length_embedding: read the length-aware embedding e(N) (SWE-Pruner Pro, arXiv 2607.18213).
    span_scores: score whole spans (where one starts, goes on and ends), so that the lines of a block stand or fall
        together; the keep logit of a line is then the log of how much the spans that cover it weigh.
    position_features: read where in the observation a line stands; off, those columns of the features are zero.
    line_scope: which lines a line sees in the line encoder: all of its segment, or those of its own token window.
    """

    width: int = 256
    layers: int = 3
    heads: int = 4
    dropout: float = 0.1
    pooling: Literal["mean", "first", "last", "vote"] = "mean"
    residual: bool = True
    line_features: bool = True
    length_embedding: bool = True
    span_scores: bool = False
    position_features: bool = True
    line_scope: Literal["observation", "window"] = "observation"

    def __post_init__(self) -> None:
        if self.pooling == "vote" and self.layers:
            raise ValueError("pooling 'vote' has no line encoder: set layers to 0")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class LineClassifier(nn.Module):
    """Keep logit per line and answerable logit per pair; the torch twin of the ONNX graph."""

    def __init__(self, backbone: Backbone, config: ClassifierConfig | None = None, line_tokens: int = 48) -> None:
        """line_tokens: `EncodingConfig.max_line_tokens` of the windows that it will read."""
        super().__init__()
        self.config = config = config or ClassifierConfig()
        self.backbone = backbone
        hidden, width = backbone.width, config.width
        inputs = len(SIMILARITIES) + (len(FEATURES) if config.line_features else 0)
        self.similarity = Similarity(hidden, line_tokens)
        self.line_norm, self.query_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.line_in, self.query_in = nn.Linear(hidden, width), nn.Linear(hidden, width)
        self.product_in = nn.Linear(hidden, width, bias=False)
        self.feature_in = nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, width))
        self.length = nn.Embedding(LENGTH_BUCKETS, width)
        nn.init.normal_(self.length.weight, std=0.02)
        self.drop_in = nn.Dropout(config.dropout)
        self.line_encoder = LineEncoder(width, config.layers, config.heads, config.dropout)
        self.head = _head(width, width, config.dropout)
        self.answerable_head = _head(2 * width + 2, width, config.dropout)
        self.span_head = SpanHead(width, config.dropout) if config.span_scores else None
        self.residual_scale = nn.Linear(len(SIMILARITIES), 1)
        self.without_position: Tensor
        kept = torch.tensor([float(name not in _POSITION) for name in FEATURES])
        self.register_buffer("without_position", kept, persistent=False)
        with torch.no_grad():  # start at the prior: the sum of the standardised similarities
            self.residual_scale.weight.fill_(0.4)
            self.residual_scale.weight[:, -1] = 0.1
            self.residual_scale.bias.fill_(-1.0)

    def forward(self, **inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs as `encoding.INPUT_NAMES` describes -> keep logits [B, L], answerable logits [B].

        Logits of padding lines are 0.
        """
        keep, answerable, spans = self.scores(**inputs)
        return final_logits(keep, spans, inputs["line_mask"]), answerable

    def scores(
        self,
        *,
        input_ids: Tensor,
        attention_mask: Tensor,
        query_ids: Tensor,
        query_mask: Tensor,
        line_index: Tensor,
        line_length: Tensor,
        line_features: Tensor,
        line_mask: Tensor,
        length_bucket: Tensor,
    ) -> tuple[Tensor, Tensor, SpanScores | None]:
        """What the losses need: line logits [B, L], answerable logits [B] and, where they are on, span scores."""
        states = self.backbone(input_ids, attention_mask)
        return self.scores_of_states(
            tokens=states.reshape(-1, states.shape[-1]),
            lines=pool_lines(states, line_index, line_length, self.config.pooling),
            query_states=self.backbone(query_ids, query_mask),
            query_mask=query_mask,
            line_index=line_index,
            line_length=line_length,
            line_features=line_features,
            line_mask=line_mask,
            length_bucket=length_bucket,
            window=line_index // states.shape[1] if self.config.line_scope == "window" else None,
        )

    def scores_of_states(
        self,
        *,
        tokens: Tensor,
        lines: Tensor,
        query_states: Tensor,
        query_mask: Tensor,
        line_index: Tensor,
        line_length: Tensor,
        line_features: Tensor,
        line_mask: Tensor,
        length_bucket: Tensor,
        window: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, SpanScores | None]:
        """What follows the backbone: states of tokens [N, hidden], lines [B, L, hidden] and queries [B, Q, hidden].

        line_index is the position of a line's first token in `tokens`; window [B, L] says which lines see each other
        where not all do; the rest and the result as for `scores`.
        """
        if not self.config.position_features:
            line_features = line_features * self.without_position
        similarity, query_mean = self.similarity(tokens, lines, query_states, query_mask, line_index, line_length)
        similarity = torch.cat((similarity, line_features[..., _BM25 : _BM25 + 1]), dim=-1)
        prior = standardise(similarity, line_mask)
        features = torch.cat((prior, line_features), dim=-1) if self.config.line_features else prior

        line_states, query_unit = self.line_norm(lines), self.query_norm(query_mean).unsqueeze(1)
        known = self.feature_in(features)
        if self.config.length_embedding:
            known = known + self.length(length_bucket).unsqueeze(1)
        x = self.line_in(line_states) + self.product_in(line_states * query_unit) + known
        query = self.query_in(self.query_norm(query_states.float()))
        query, x = self.line_encoder(query, query_mask, self.drop_in(x), line_mask, window)
        if self.config.pooling == "vote":
            keep = self._vote(tokens, line_index, line_length, query_unit, known)
        else:
            keep = self.head(x).squeeze(-1).float()
        if self.config.residual:
            keep = keep + self.residual_scale(prior).squeeze(-1)
        spans = None if self.span_head is None else self.span_head(x, keep)
        return keep.masked_fill(~line_mask, 0.0), self._answerable(query, x, keep, query_mask, line_mask), spans

    def _vote(
        self, states: Tensor, line_index: Tensor, line_length: Tensor, query_unit: Tensor, known: Tensor
    ) -> Tensor:
        """Logit [B, L] of the mean over a line's tokens of their probability to be kept.

        states [N, hidden] of all tokens; query_unit [B, 1, hidden]; known [B, L, width]: what does not come from
        tokens. A blank line is one zero token.
        """
        step = torch.arange(self.similarity.line_tokens, device=states.device)
        pair, line, place = (step < line_length.clamp(min=1).unsqueeze(-1)).nonzero(as_tuple=True)
        tokens = states.float()[line_index[pair, line] + place]
        tokens = self.line_norm(tokens * (line_length[pair, line] > 0).unsqueeze(-1))
        x = self.line_in(tokens) + self.product_in(tokens * query_unit[pair, 0]) + known[pair, line]
        chance = self.head(self.drop_in(x)).squeeze(-1).float().sigmoid()
        total = torch.zeros(line_index.shape, device=chance.device).index_put((pair, line), chance, accumulate=True)
        return (total / line_length.clamp(min=1)).logit(eps=1e-4)

    def _answerable(self, query: Tensor, x: Tensor, keep: Tensor, query_mask: Tensor, line_mask: Tensor) -> Tensor:
        live, query_live = line_mask.unsqueeze(-1), query_mask.unsqueeze(-1).to(query.dtype)
        best = keep.masked_fill(~line_mask, -1e4).amax(dim=1, keepdim=True)
        mean = (keep * line_mask).sum(dim=1, keepdim=True) / line_mask.sum(dim=1, keepdim=True).clamp(min=1)
        seen = torch.cat(
            (
                (query * query_live).sum(dim=1) / query_live.sum(dim=1),
                x.masked_fill(~live, -1e4).amax(dim=1),
                torch.cat((best, mean), dim=1).detach() / 4,
            ),
            dim=1,
        )
        return self.answerable_head(seen).squeeze(-1).float()


def final_logits(keep: Tensor, spans: SpanScores | None, line_mask: Tensor) -> Tensor:
    """Keep logits [B, L] of line logits [B, L] and, where there are any, span scores; 0 for padding lines."""
    if spans is None:
        return keep
    return log_coverage(spans, line_mask).float().masked_fill(~line_mask, 0.0)


class SpanHead(nn.Module):
    """Scores of a span's start, inside and end at every line; at first only the line's own logit counts."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.head = _head(width, width, dropout, outputs=3)
        self.logit_scale = nn.Parameter(torch.tensor(1.0))
        self.logit_bias = nn.Parameter(torch.tensor(-1.5))

    def forward(self, x: Tensor, keep: Tensor) -> SpanScores:
        """x [B, L, width], line logits [B, L]."""
        start, inside, end = self.head(x).float().unbind(dim=-1)
        return SpanScores(start, inside + self.logit_scale * keep + self.logit_bias, end)


def _head(inputs: int, width: int, dropout: float, outputs: int = 1) -> nn.Sequential:
    """LayerNorm, two Linear-GELU-Dropout blocks, outputs that start at zero."""
    last = nn.Linear(width, outputs)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(
        nn.LayerNorm(inputs),
        nn.Linear(inputs, width),
        nn.GELU(),
        nn.Dropout(dropout),
        nn.Linear(width, width),
        nn.GELU(),
        nn.Dropout(dropout),
        last,
    )
