"""Files of Python packages, asked about by what their authors wrote of each piece.

A label starts from a handle that describes a piece of code: the first sentence of a docstring, a comment
above statements, an error message, the help of an option. The handle is taken out of the text, rephrased to a
query, and the piece it described is the answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from linecls.data.packages import Package, packages
from linecls.data.python_labels import labels_of
from linecls.data.views import Bench, Origin, Shape, observe, windows
from linecls.observation import split_lines
from linecls.records import Record

NAME = "python_source"


def generate(rng: random.Random, options: dict[str, Any]) -> Iterator[Record]:
    """Records of tool type `read_file`.

    Options: `sources` (folders of wheels or site-packages), `exclude` (project names), `per_package` (most
    observations of one package, 16), `per_file` (most of one file, 2), `labels` (most labels of an
    observation, 6), `min_lines` and `max_lines` of a view (40 and 400), `negatives` (share, 0.15).
    """
    shape = Shape(
        labels=int(options.get("labels", 6)), negatives=float(options.get("negatives", 0.15)),
        low=int(options.get("min_lines", 40)), high=int(options.get("max_lines", 400)),
    )  # fmt: skip
    found = packages(options.get("sources", []), options.get("exclude", []))
    queues = [
        _of_package(
            package,
            random.Random(rng.random()),
            shape,
            int(options.get("per_file", 2)),
            int(options.get("per_package", 16)),
        )
        for package in found[int(options.get("part", 0)) :: int(options.get("parts", 1))]
    ]
    rng.shuffle(queues)
    while queues:  # one observation of each package in turn
        for queue in list(queues):
            batch = next(queue, None)
            if batch is None:
                queues.remove(queue)
            else:
                yield from batch


def _of_package(
    package: Package, rng: random.Random, shape: Shape, per_file: int, limit: int
) -> Iterator[list[Record]]:
    files = list(package.files)
    rng.shuffle(files)
    bench, made = Bench(rng, shape), 0
    for path in files:
        text = package.read(path)
        if text is None or len(text) > 400_000 or max(map(len, text.split("\n"))) > 600:
            continue
        lines, labels = split_lines(text), labels_of(text, rng)
        if len(labels) < 2:
            continue
        origin = Origin(NAME, package.name, package.name, package.version, package.licence, path)
        for window in windows(len(lines), rng, shape, per_file):
            name = f"{path.removesuffix('.py').replace('/', '.')}-{window.start + 1}"
            if batch := observe(origin, name, lines, labels, bench, window=window):
                made += 1
                yield batch
                if made >= limit:
                    return
