"""Which lines of an output carry failure signal, by rules per ecosystem; no model, linear time.

`find` is the whole interface. Each ecosystem has a module with its `RULES`; `common` has those of logs, shells
and exit codes. A rule looks at the *form* of a line (a level in its place, a diagnostic behind a location, the
frames of a stack), not at the mere word: a diff, a source file or a commit message that speaks of errors is no
failure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linecls.failures import common, go, jvm, native, node, python, ruby_php, rust, services
from linecls.failures.rules import Lines, Rule, quoted_changes

RULES: tuple[Rule, ...] = (
    *common.RULES,
    *python.RULES,
    *jvm.RULES,
    *go.RULES,
    *rust.RULES,
    *node.RULES,
    *native.RULES,
    *ruby_php.RULES,
    *services.RULES,
)


def find(lines: Sequence[str], rules: Sequence[Rule] = RULES) -> NDArray[np.bool_]:
    """Mask [L] of the lines that carry failure signal.

    lines: as `Observation.lines` has them. A very long line is judged by its head and its tail. The lines inside
    a unified diff's hunks are never marked: what a change says is no failure.
    """
    view = Lines(lines)
    found = np.zeros(len(lines), dtype=bool)
    hits = view.with_keywords({word for rule in rules for word in rule.keywords})
    for rule in rules:
        covered = 0  # a hit inside the block of the hit before it starts no block of its own
        for index in view.candidates(hits, rule.keywords):
            if found[index] and (rule.block is None or index < covered):  # nothing to add
                continue
            if not rule.hits(view, index):
                continue
            found[index] = True
            if rule.block is not None and index >= covered:
                start, covered = rule.block(view, index)
                found[start:covered] = True
    found[quoted_changes(view)] = False
    return found
