"""Numbers as the cells of a table."""

from __future__ import annotations

import math
from typing import Any

from linecls.metrics import Estimate


def plain(value: float | None, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def short(estimate: Estimate, with_interval: bool) -> str:
    """Value and, where asked for, half the width of its interval."""
    if not with_interval or math.isnan(estimate.low):
        return plain(estimate.value)
    return f"{estimate.value:.3f} ±{(estimate.high - estimate.low) / 2:.3f}".replace("±0.", "±.")


def long(estimate: Estimate) -> str:
    """Value and its interval."""
    if math.isnan(estimate.low):
        return plain(estimate.value, 4)
    return f"{estimate.value:.4f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def percent(value: float | None) -> str:
    """A share in per cent."""
    return "–" if value is None or math.isnan(value) else f"{100 * value:.1f} %"


def significant(value: float | None) -> str:
    """A number of any size with three significant digits, thousands apart, never in scientific notation."""
    if value is None or math.isnan(value):
        return "–"
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def dollars(value: float | None) -> str:
    """A price; what is less than a hundredth of a cent is said to be that."""
    return "< 0.0001" if value is not None and 0 < value < 1e-4 else significant(value)


def probability(p: float) -> str:
    """A p-value."""
    return "–" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def setting(value: Any) -> str:
    """A parameter of a system."""
    return " ".join(f"({k} {v})" for k, v in value.items()) if isinstance(value, dict) else str(value)
