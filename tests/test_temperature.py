"""Scalings that make probabilities come true, against data drawn from known ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linecls.calibration import calibrate
from linecls.errors import LineclsError
from linecls.training.temperature import Scaling, fit_platt, fit_temperature, sigmoid


def drawn(scale: float, shift: float, count: int = 40_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, count)
    return logits, rng.random(count) < sigmoid(scale * logits + shift)


def error(probabilities: np.ndarray, outcomes: np.ndarray) -> float:
    found = calibrate(probabilities, outcomes)
    assert found is not None
    return found.ece


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.4, -3.0), (2.5, 1.0)])
def test_platt_finds_what_the_data_came_from(scale: float, shift: float) -> None:
    found = fit_platt(*drawn(scale, shift))
    assert found.scale == pytest.approx(scale, rel=0.06)
    assert found.shift == pytest.approx(shift, abs=0.12)


def test_a_temperature_mends_overconfidence_but_no_wrong_base_rate() -> None:
    logits, outcomes = drawn(0.5, 0.0)
    temperature = fit_temperature(logits, outcomes)
    assert temperature.scale == pytest.approx(0.5, rel=0.05)
    assert error(sigmoid(logits), outcomes) > 0.05
    assert error(temperature.probabilities(logits), outcomes) < 0.01
    logits, outcomes = drawn(1.0, -3.0)
    assert error(fit_temperature(logits, outcomes).probabilities(logits), outcomes) > 0.1
    assert error(fit_platt(logits, outcomes).probabilities(logits), outcomes) < 0.01


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1000), size=st.integers(2, 30), spread=st.floats(0.01, 50))
def test_fitting_never_makes_the_log_loss_worse(seed: int, size: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    logits, outcomes = rng.normal(0, spread, size), rng.random(size) < 0.5
    outcomes[:2] = True, False
    losses = [
        np.logaddexp(0.0, np.where(outcomes, -1, 1) * (scaling.scale * logits + scaling.shift)).mean()
        for scaling in (Scaling(), fit_temperature(logits, outcomes), fit_platt(logits, outcomes))
    ]
    assert losses[0] + 1e-6 >= losses[1] >= losses[2] - 1e-6


def test_what_cannot_be_fitted_is_named() -> None:
    with pytest.raises(LineclsError, match="came true"):
        fit_platt([1.0, 2.0], [True, True])
    with pytest.raises(ValueError, match="one value per case"):
        fit_temperature([1.0, 2.0], [True])
