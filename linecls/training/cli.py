"""`linecls train`: LightningCLI over `LineModule` and `LineDataModule`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from lightning.pytorch.cli import LightningArgumentParser, LightningCLI

from linecls.training.allocator import with_fast_allocator
from linecls.training.data import LineDataModule
from linecls.training.module import LineModule


class LineCLI(LightningCLI):
    """Defaults that every run of ours needs."""

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        parser.set_defaults({"trainer.num_sanity_val_steps": 0, "trainer.use_distributed_sampler": False})


# Lightning's remarks on what this package does on purpose: accumulation by hand, dropout off in the backbone, a
# hook of the module in place of the data module's, checkpoints beside the log.
ON_PURPOSE = (
    ".*manual optimization and every_n_train_steps",
    ".*in eval mode at the start of training",
    ".*overridden `transfer_batch_to_device`",
    ".*exists and is not empty",
    ".*isinstance\\(treespec, LeafSpec\\)",
    ".*not supported by the model summary",
)


def train(arguments: Sequence[str]) -> None:
    """Run `LineCLI fit`; restarts the process once with the allocator set for speed."""
    with_fast_allocator([sys.executable, "-m", "linecls", "train", *arguments])
    for message in ON_PURPOSE:
        warnings.filterwarnings("ignore", message=message)
    sys.argv = ["linecls train", "fit", *arguments]
    LineCLI(LineModule, LineDataModule, seed_everything_default=0, save_config_kwargs={"overwrite": True})
