"""`linecls train`: LightningCLI over `LineModule` and `LineDataModule`."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

from lightning.pytorch.cli import LightningArgumentParser, LightningCLI

from linecls.training.data import LineDataModule
from linecls.training.module import LineModule

# glibc gives large tensors back to the kernel and fetches them anew on every step; keeping them doubles the
# speed of training on a CPU. It has to be in the environment before the process starts.
_ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "268435456",
}


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


def with_fast_allocator(command: Sequence[str]) -> None:
    """Replace this process by `command` with the allocator set for speed, unless it is set already."""
    missing = {name: value for name, value in _ALLOCATOR.items() if name not in os.environ}
    if missing and sys.platform.startswith("linux"):
        os.environ.update(missing)
        os.execv(command[0], list(command))


def train(arguments: Sequence[str]) -> None:
    """Run `LineCLI fit`; restarts the process once with the allocator set for speed."""
    with_fast_allocator([sys.executable, "-m", "linecls", "train", *arguments])
    for message in ON_PURPOSE:
        warnings.filterwarnings("ignore", message=message)
    sys.argv = ["linecls train", "fit", *arguments]
    LineCLI(LineModule, LineDataModule, seed_everything_default=0, save_config_kwargs={"overwrite": True})
