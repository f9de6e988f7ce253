"""linecls itself as a system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linecls.systems.base import Selection

if TYPE_CHECKING:
    from linecls.pruner import Pruner, Pruning


class Linecls:
    """The pruner with the embedded model, or with the model directory or hub id given."""

    name = "linecls"
    in_batches = True

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        device: str = "auto",
        threads: int | None = None,
        pruner: Pruner | None = None,
        **options: Any,
    ) -> None:
        """model, device, threads: as for `Pruner.from_pretrained`; pruner: one that is already loaded.

        options: what `Pruner.prune` takes (`bias`, `max_lines`, `keep_ratio`, ...); None leaves the default.
        Raises ArtifactError, DeviceError or MissingExtraError as loading does.
        """
        self.options = {key: value for key, value in options.items() if value is not None}
        if pruner is None:
            from linecls.pruner import Pruner

            pruner = Pruner.from_pretrained(model, device=device, threads=threads)
        self._pruner: Any = pruner

    def select(self, query: str, observation: str) -> Selection:
        """What `Pruner.prune` keeps, with its keep logits [L], their sigmoid, and the answerable probability."""
        return _selection(self._pruner.prune(query, observation, **self.options))

    def select_many(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Selection]:
        """The same through `Pruner.prune_many`, which fills its batches from several observations."""
        return map(_selection, self._pruner.prune_many(pairs, **self.options))

    def describe(self) -> dict[str, Any]:
        """The model by name and by the sha256 of its graphs, the device and how it decodes."""
        artifact = self._pruner.artifact
        return {
            "model": f"{artifact.name} {artifact.version}",
            "sha256": {
                f"{variant}.{role}": artifact.sha256[name]
                for variant, roles in artifact.files.items()
                for role, name in roles.items()
            },
            "device": self._pruner.network.device,
            "operating_point": artifact.default_operating_point,
            **self.options,
        }


def _selection(pruning: Pruning) -> Selection:
    logits = pruning.keep_logits.astype(np.float64)
    probabilities = 0.5 * (1.0 + np.tanh(0.5 * logits))  # the sigmoid, without overflow
    return Selection(pruning.spans, pruning.keep_logits, probabilities, pruning.answerable)
