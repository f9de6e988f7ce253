"""LightningModule: losses, gradient accumulation by tokens, learning-rate schedule, validation by decoding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import lightning.pytorch as pl
import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from linecls.encoding import EncodingConfig, WindowEncoder
from linecls.errors import LineclsError
from linecls.model.backbone import Backbone, load_tokenizer
from linecls.model.classifier import ClassifierConfig, LineClassifier
from linecls.model.losses import balanced_focal, listwise, plain_focal, weighted_cross_entropy
from linecls.model.span_scores import span_loss
from linecls.training.batches import Target
from linecls.training.cached import StateCache
from linecls.training.data import TrainBatch
from linecls.tuning import Scored, best_f1_point, scored_recall


@dataclass(frozen=True)
class OptimiserConfig:
    """AdamW with linear warm-up and cosine decay, and a learning rate that falls with depth.

    backbone_lr, head_lr: peak learning rates of the backbone's last layer and of everything above it.
    layer_decay: each layer further down learns at this share of the rate of the one above.
    warmup_share: share of all steps spent warming up; final_share: share of the peak rate at the end.
    """

    backbone_lr: float = 5e-5
    head_lr: float = 5e-4
    layer_decay: float = 0.85
    weight_decay: float = 0.01
    warmup_share: float = 0.05
    final_share: float = 0.05
    clip_norm: float = 1.0


@dataclass(frozen=True)
class LossConfig:
    """Weights of the losses: that of the lines (1), listwise softmax, span likelihood, BCE of the answerable logit.

    lines: what the lines' logits are trained with; gamma is of the focal losses.
    """

    lines: Literal["balanced_focal", "focal", "weighted_cross_entropy"] = "balanced_focal"
    gamma: float = 2.0
    listwise: float = 0.25
    span: float = 0.25
    answerable: float = 0.25


class LineModule(pl.LightningModule):
    """Trains a `LineClassifier`.

    backbone, layers, freeze_layers, attention, bidirectional: see `Backbone`.
    initial: a checkpoint of an earlier stage whose weights to start from.
    frozen: leave the whole backbone as it is; its token states are computed once and kept in the folder `cache`.
    """

    def __init__(
        self,
        backbone: str,
        encoding: EncodingConfig,
        classifier: ClassifierConfig,
        optimiser: OptimiserConfig,
        loss: LossConfig,
        layers: int | None = None,
        freeze_layers: int = 0,
        attention: str = "eager",
        backbone_config: dict[str, Any] | None = None,
        initial: str | None = None,
        bidirectional: bool = False,
        frozen: bool = False,
        cache: str = ".work/states",
    ) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.options = {
            "backbone": backbone,
            "layers": layers,
            "backbone_config": backbone_config,
            "bidirectional": bidirectional,
            "encoding": encoding.to_dict(),
            "classifier": classifier.to_dict(),
        }
        self.encoding, self.optimiser_config, self.loss_config = encoding, optimiser, loss
        self.model = LineClassifier(
            Backbone(
                backbone,
                layers=layers,
                freeze_layers=freeze_layers,
                config=backbone_config,
                attention=attention,
                bidirectional=bidirectional,
            ),
            classifier,
            encoding.max_line_tokens,
        )
        if initial is not None:
            state = torch.load(initial, map_location="cpu", weights_only=True)["state_dict"]
            missing, unexpected = self.load_state_dict(state, strict=False)
            new = [name for name in missing if not name.startswith("model.span_head.")]
            if new or unexpected:
                raise LineclsError(f"{initial} is of another model: {', '.join([*new, *unexpected][:3])} …")
        self.frozen, self._cache_folder = frozen, cache
        if frozen:
            self.model.backbone.requires_grad_(False)
        self._scored: list[Scored] = []

    def window_encoder(self) -> WindowEncoder:
        """Tokeniser and window layout that this model reads."""
        return WindowEncoder(load_tokenizer(self.options["backbone"]), self.encoding)

    def state_cache(self) -> StateCache | None:
        """The states of a frozen backbone for one loader; None where the backbone learns."""
        if not self.frozen:
            return None
        return StateCache(self._cache_folder, self.model.backbone, self.window_encoder())

    # --- one step -------------------------------------------------------------------------------------------

    def transfer_batch_to_device(self, batch: TrainBatch, device: torch.device, dataloader_idx: int) -> TrainBatch:
        return batch.to(device)

    def losses(self, batch: TrainBatch) -> dict[str, Tensor]:
        """Sum over the pairs of a micro-batch of each loss."""
        keep, answerable, spans = self.model.scores(**batch.inputs)
        mask, labels = batch.inputs["line_mask"], batch.labels
        gold = labels.amax(dim=1)
        losses = {
            "lines": self._line_loss(keep, labels, mask).sum(),
            "listwise": listwise(keep, labels, mask).sum(),
            "answerable": F.binary_cross_entropy_with_logits(answerable, gold, reduction="sum"),
        }
        if spans is not None:
            losses["span"] = span_loss(spans, labels, mask).sum().float()
        return losses

    def _line_loss(self, keep: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
        if self.loss_config.lines == "weighted_cross_entropy":
            return weighted_cross_entropy(keep, labels, mask)
        loss = balanced_focal if self.loss_config.lines == "balanced_focal" else plain_focal
        return loss(keep, labels, mask, self.loss_config.gamma)

    def training_step(self, batch: TrainBatch, batch_idx: int) -> None:
        losses = self.losses(batch)
        weight = self.loss_config
        total = losses["lines"] + sum(getattr(weight, name) * loss for name, loss in losses.items() if name != "lines")
        self.manual_backward(total / batch.micro.step_pairs)
        pairs = len(batch.labels)
        self.log("loss", total.detach() / pairs, prog_bar=True, batch_size=pairs)
        for name, value in losses.items():
            self.log(f"loss/{name}", value.detach() / pairs, batch_size=pairs)
        if batch.micro.last:
            optimiser: Any = self.optimizers()
            self.clip_gradients(optimiser, self.optimiser_config.clip_norm, "norm")
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            scheduler: Any = self.lr_schedulers()
            scheduler.step()
            self.log("lr", scheduler.get_last_lr()[-1])

    # --- validation: decode and score -------------------------------------------------------------------------

    def on_validation_epoch_start(self) -> None:
        self._scored = []

    def validation_step(self, batch: TrainBatch, batch_idx: int) -> None:
        keep, answerable = self.model(**batch.inputs)
        self._scored.extend(scored_pairs(batch, keep, answerable))

    def on_validation_epoch_end(self) -> None:
        from linecls.training.metrics import SqueezLineMetrics

        point, _ = best_f1_point(self._scored)
        metric = SqueezLineMetrics()
        for scored in self._scored:
            metric.update(scored.lines, scored.gold_spans, scored.decode(point))
        values = {name: float(value) for name, value in metric.compute().items()}
        for name in ("f1", "precision", "recall"):
            self.log(f"dev/{name}", values[name], prog_bar=name == "f1")
        for dropped in (0.5, 0.7, 0.9):
            recall = scored_recall(self._scored, dropped)
            self.log(f"dev/recall@{dropped:.0%}".replace("%", ""), recall, prog_bar=dropped == 0.9)
        self._scored = []

    # --- optimiser --------------------------------------------------------------------------------------------

    def configure_optimizers(self) -> Any:
        config = self.optimiser_config
        top = self.model.backbone.layer_count
        groups: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
        for name, parameter in self.model.named_parameters():
            if not parameter.requires_grad:
                continue
            decay = config.weight_decay if parameter.ndim > 1 else 0.0
            rate = config.head_lr
            if name.startswith("backbone."):
                depth = min(self.model.backbone.parameter_depth(name), top)
                rate = config.backbone_lr * config.layer_decay ** (top - depth)
            groups.setdefault((rate, decay), []).append(parameter)
        optimiser = torch.optim.AdamW(
            [{"params": p, "lr": rate, "weight_decay": decay} for (rate, decay), p in groups.items()]
        )
        total = self._total_steps()

        def factor(step: int) -> float:
            warmup = max(config.warmup_share * total, 1)
            if step < warmup:
                return (step + 1) / warmup
            progress = min((step - warmup) / max(total - warmup, 1), 1.0)
            return config.final_share + (1 - config.final_share) * 0.5 * (1 + math.cos(math.pi * progress))

        return {
            "optimizer": optimiser,
            "lr_scheduler": torch.optim.lr_scheduler.LambdaLR(optimiser, factor),
        }

    def _total_steps(self) -> int:
        datamodule: Any = self.trainer.datamodule  # type: ignore[attr-defined]
        epochs, steps = self.trainer.max_epochs, self.trainer.max_steps
        if epochs is None or epochs < 1:
            if steps > 0:
                return steps
            raise ValueError("set trainer.max_epochs or max_steps: the learning-rate schedule needs the run's length")
        planned = sum(micro.last for epoch in range(epochs) for micro in datamodule.train_loader.plan(epoch))
        return min(planned, steps) if steps > 0 else planned

    # --- exact resume -----------------------------------------------------------------------------------------

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["linecls"] = self.options
        checkpoint["torch_rng"] = torch.get_rng_state()

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self._resume_rng = checkpoint.get("torch_rng")

    def on_train_start(self) -> None:
        state = getattr(self, "_resume_rng", None)
        if state is not None:
            torch.set_rng_state(state)


def scored_pairs(batch: TrainBatch, keep: Tensor, answerable: Tensor) -> list[Scored]:
    """One scored pair per query and observation: the segments of a long observation are joined again."""
    logits = keep.float().cpu().numpy()
    probability = torch.sigmoid(answerable.float()).cpu().numpy()
    joined: dict[int, tuple[Target, NDArray[np.float32], list[float]]] = {}
    for row, target in enumerate(batch.targets):
        segment = target.segment
        if id(target.label) not in joined:
            joined[id(target.label)] = (target, np.zeros(len(target.lines), np.float32), [])
        _, whole, chances = joined[id(target.label)]
        own = logits[row, segment.keep_start - segment.start : segment.keep_stop - segment.start]
        whole[segment.keep_start : segment.keep_stop] = own
        chances.append(float(probability[row]))
    return [Scored(t.lines, t.label.gold, whole, max(chances)) for t, whole, chances in joined.values()]
