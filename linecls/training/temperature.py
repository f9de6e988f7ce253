"""Scale and shift of logits that make their probabilities come true (temperature and Platt scaling)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linecls.errors import LineclsError

_STEPS, _CLOSE = 100, 1e-10
_RIDGE = 1e-8  # keeps the curvature of separable data from vanishing

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Scaling:
    """probability = sigmoid(scale * logit + shift); a temperature T is scale 1 / T and shift 0."""

    scale: float = 1.0
    shift: float = 0.0

    def probabilities(self, logits: ArrayLike) -> FloatArray:
        """Probabilities of logits [N]."""
        return sigmoid(self.scale * np.asarray(logits, np.float64) + self.shift)


def sigmoid(values: ArrayLike) -> FloatArray:
    """1 / (1 + exp(-x)), without overflow."""
    return np.exp(-np.logaddexp(0.0, -np.asarray(values, np.float64)))


def fit_temperature(logits: ArrayLike, outcomes: ArrayLike) -> Scaling:
    """The scaling of one temperature of least log loss on logits [N] and truth values [N] (Guo et al. 2017).

    Raises LineclsError where all outcomes are the same.
    """
    return _fit(logits, outcomes, shifted=False)


def fit_platt(logits: ArrayLike, outcomes: ArrayLike) -> Scaling:
    """The scale and shift of least log loss (Platt 1999, without its smoothed targets); errors as above."""
    return _fit(logits, outcomes, shifted=True)


def _fit(logits: ArrayLike, outcomes: ArrayLike, *, shifted: bool) -> Scaling:
    """Newton's method with halved steps: the log loss is convex in scale and shift."""
    z, y = np.asarray(logits, np.float64), np.asarray(outcomes, bool)
    if z.ndim != 1 or z.shape != y.shape:
        raise ValueError("logits and outcomes must have one value per case")
    if not y.any() or y.all():
        raise LineclsError("a scaling needs cases that came true and cases that did not")
    inputs = np.stack((z, np.ones_like(z)), axis=1) if shifted else z[:, None]

    def loss(weights: FloatArray) -> float:
        score = inputs @ weights
        return float(np.mean(np.logaddexp(0.0, np.where(y, -score, score))))

    weights = np.zeros(inputs.shape[1])
    weights[0] = 1.0
    best = loss(weights)
    for _ in range(_STEPS):
        p = sigmoid(inputs @ weights)
        gradient = inputs.T @ (p - y) / len(y)
        curvature = (inputs * (p * (1 - p))[:, None]).T @ inputs / len(y) + _RIDGE * np.eye(len(weights))
        step = np.linalg.solve(curvature, gradient)
        while (found := loss(weights - step)) > best and np.abs(step).max() > _CLOSE:
            step = step / 2
        if best - found < _CLOSE:
            break
        weights, best = weights - step, found
    return Scaling(float(weights[0]), float(weights[1]) if shifted else 0.0)
