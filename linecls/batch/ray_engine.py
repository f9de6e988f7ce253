"""The rows of a batch through Ray Data: one task reads, a pool of actors prunes, the driver writes in order.

The reading task and the actors run the same code as the local engine, and the order of the rows is kept, so the
output has the same bytes. Every node must reach the input under the same name, and have linecls installed.
"""

from __future__ import annotations

import logging
import os
import pickle
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from linecls.batch.rows import Fields, Outcome, Row
from linecls.batch.sources import STDIN, open_source
from linecls.errors import LineclsError, missing_extra

if TYPE_CHECKING:
    from linecls.batch.run import Plan
    from linecls.batch.spool import Checkpoint

_BUNDLE_ROWS = 256  # go through one actor at once, or fewer:
_BUNDLE_SIZE = 1 << 20  # characters of their observations
_COLUMN = "bundle"


def outcomes(plan: Plan, done: Checkpoint) -> Iterator[Outcome]:
    """The outcomes of the rows after those that are done, in order.

    Ray is started on this machine, or joined where RAY_ADDRESS or a running cluster says.
    Raises MissingExtraError without Ray, LineclsError for standard input and for whatever fails on a node.
    """
    check(plan.source)
    ray = _import_ray()
    started = not ray.is_initialized()
    try:
        if started:
            ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        for batch in _pipeline(ray, plan, done).iter_batches(batch_size=1, batch_format="pyarrow"):
            for bundle in batch.column(_COLUMN).to_pylist():
                yield from pickle.loads(bundle)
    except Exception as error:  # Ray raises a dozen kinds, its start-up bare Exception
        raise _cause(error) from error
    finally:
        if started:
            ray.shutdown()


def check(source: str) -> None:
    """Before the work. Raises MissingExtraError without Ray, LineclsError for standard input."""
    if source == STDIN:
        raise LineclsError("--engine ray cannot read standard input; name a file that every node can read")
    _import_ray()


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    warnings.filterwarnings("ignore", module=r"ray\..*")
    try:
        import ray  # pyright: ignore[reportMissingImports]
        import ray.data  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise missing_extra("ray", "ray") from error
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return ray


def _pipeline(ray: Any, plan: Plan, done: Checkpoint) -> Any:
    context = ray.data.DataContext.get_current().copy()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.target_max_block_size = _BUNDLE_SIZE  # a block per bundle: small blocks would be joined into one
    with ray.data.DataContext.current(context):
        threads = plan.threads or 1
        kind = plan.device.partition(":")[0]  # without an index: an actor sees one GPU, its own
        on_gpu = kind not in ("auto", "cpu")
        resources = {"num_gpus": 1} if on_gpu else {"num_cpus": threads}
        room = int(ray.cluster_resources().get("GPU" if on_gpu else "CPU", 0) // (1 if on_gpu else threads))
        workers = plan.workers or max(1, room)
        pool = ray.data.ActorPoolStrategy(min_size=1, max_size=workers, initial_size=max(1, min(workers, room)))
        rows = ray.data.read_datasource(_datasource(ray, plan, done), override_num_blocks=1, num_cpus=0)
        return rows.map_batches(
            Worker,
            batch_size=1,
            batch_format="pyarrow",
            compute=pool,
            fn_constructor_kwargs={
                "loading": {"model": plan.model, "device": kind, "threads": threads},
                "options": plan.decoding,
            },
            **resources,
        )


def _datasource(ray: Any, plan: Plan, done: Checkpoint) -> Any:
    read = Reading(plan.source, plan.fields, plan.split, done)

    class Rows(ray.data.Datasource):
        """The input as one stream of bundles: only a reader that sees all rows knows their numbers and digest."""

        def estimate_inmemory_data_size(self) -> int | None:
            return None

        def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[Any]:
            metadata = ray.data.block.BlockMetadata(num_rows=None, size_bytes=None, exec_stats=None, input_files=None)
            return [ray.data.ReadTask(read, metadata)]

    return Rows()


class Reading:
    """What the reading task runs."""

    def __init__(self, source: str, fields: Fields, split: str | None, done: Checkpoint) -> None:
        self._arguments = (source, fields, split, done)

    def __call__(self) -> Iterator[Any]:
        from linecls.batch.run import after

        source, fields, split, done = self._arguments
        rows = after(open_source(source, fields, split=split).rows(), done, source)
        for bundle in _bundles(rows):
            yield _table(bundle)


class Worker:
    """What an actor runs: one pruner for all the bundles that come its way."""

    def __init__(self, loading: dict[str, Any], options: dict[str, Any]) -> None:
        from linecls.pruner import Pruner

        self._pruner = Pruner.from_pretrained(loading["model"], device=loading["device"], threads=loading["threads"])
        self._options = options

    def __call__(self, batch: Any) -> Any:
        from linecls.batch.pruning import prune_rows

        rows = [row for bundle in batch.column(_COLUMN).to_pylist() for row in pickle.loads(bundle)]
        return _table(list(prune_rows(self._pruner, rows, self._options, count_tokens=True)))


def _bundles(rows: Iterable[Row]) -> Iterator[list[Row]]:
    bundle: list[Row] = []
    size = 0
    for row in rows:
        bundle.append(row)
        size += row.size
        if len(bundle) >= _BUNDLE_ROWS or size >= _BUNDLE_SIZE:
            yield bundle
            bundle, size = [], 0
    if bundle:
        yield bundle


def _table(bundle: list[Any]) -> Any:
    import pyarrow

    return pyarrow.table({_COLUMN: pyarrow.array([pickle.dumps(bundle)], pyarrow.large_binary())})


def _cause(error: BaseException) -> LineclsError:
    """Our own error out of those that Ray wraps around it, or one line of Ray's."""
    seen: BaseException | None = error
    while seen is not None:
        inner = getattr(seen, "cause", None) or seen.__cause__
        if isinstance(seen, LineclsError) and not hasattr(seen, "cause"):
            return seen
        seen = inner
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return LineclsError(f"Ray stopped: {lines[-1].strip()[:300]}")
