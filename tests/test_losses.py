"""Losses against their definitions written out per sample."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from linecls.model.losses import (  # noqa: E402
    balanced_focal,
    listwise,
    plain_focal,
    weighted_cross_entropy,
)


def by_hand(logits: list[float], labels: list[int], gamma: float) -> float:
    terms = {0: [], 1: []}
    for logit, label in zip(logits, labels, strict=True):
        p = 1 / (1 + math.exp(-logit))
        p_t = p if label else 1 - p
        terms[label].append(-((1 - p_t) ** gamma) * math.log(p_t))
    means = [sum(t) / len(t) for t in terms.values() if t]
    return sum(means) / len(means)


@pytest.mark.parametrize("gamma", [0.0, 2.0])
def test_balanced_focal_averages_keep_and_prune_lines_apart(gamma: float) -> None:
    rows = [([2.0, -1.0, 0.3, 0.5], [1, 0, 0, 0]), ([0.1, -2.0, 1.5], [0, 0, 0])]
    logits, labels, mask = torch.zeros(2, 4), torch.zeros(2, 4), torch.zeros(2, 4, dtype=torch.bool)
    logits[:] = 7.0  # padding must not count
    for i, (values, marks) in enumerate(rows):
        logits[i, : len(values)] = torch.tensor(values)
        labels[i, : len(marks)] = torch.tensor(marks)
        mask[i, : len(values)] = True
    result = balanced_focal(logits, labels, mask, gamma)
    assert result.tolist() == pytest.approx([by_hand(v, m, gamma) for v, m in rows], abs=1e-6)


def test_one_gold_line_weighs_as_much_as_a_thousand_others() -> None:
    logits = torch.zeros(1, 1001)
    labels = torch.zeros(1, 1001)
    labels[0, 17] = 1
    mask = torch.ones(1, 1001, dtype=torch.bool)
    logits.requires_grad_(True)
    balanced_focal(logits, labels, mask).sum().backward()
    gradient = logits.grad[0]
    assert float(-gradient[17]) == pytest.approx(float(gradient.sum() - gradient[17]), rel=1e-4)


def test_listwise_is_the_log_share_of_gold_and_nothing_without_gold() -> None:
    logits = torch.tensor([[1.0, 2.0, 0.5, 9.0], [1.0, 2.0, 0.5, 9.0]])
    labels = torch.tensor([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, True, False]] * 2)
    log_sum = math.log(sum(math.exp(v) for v in (1.0, 2.0, 0.5)))
    expected = ((log_sum - 2.0) + (log_sum - 0.5)) / 2
    assert listwise(logits, labels, mask).tolist() == pytest.approx([expected, 0.0], abs=1e-5)


def test_plain_focal_averages_all_lines_alike() -> None:
    logits, labels = torch.tensor([[2.0, -1.0, 0.3, 7.0]]), torch.tensor([[1.0, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, True, False]])
    one_by_one = [by_hand([v], [m], 2.0) for v, m in ((2.0, 1), (-1.0, 0), (0.3, 0))]
    assert float(plain_focal(logits, labels, mask)) == pytest.approx(sum(one_by_one) / 3, abs=1e-6)


@pytest.mark.parametrize(
    ("labels", "weight"), [([1, 0, 0, 0], 3.0), ([1] + [0] * 30, 10.0), ([0, 0, 0], 1.0), ([1, 1], 1.0)]
)
def test_weighted_cross_entropy_weighs_gold_by_its_rarity_up_to_ten(labels: list[int], weight: float) -> None:
    values = [0.4 * i - 1 for i in range(len(labels))]
    logits = torch.tensor([[*values, 9.0]])
    mask = torch.tensor([[True] * len(labels) + [False]])
    terms = [math.log1p(math.exp(-v if m else v)) for v, m in zip(values, labels, strict=True)]
    weights = [weight if m else 1.0 for m in labels]
    expected = sum(t * w for t, w in zip(terms, weights, strict=True)) / sum(weights)
    result = weighted_cross_entropy(logits, torch.tensor([[*map(float, labels), 0.0]]), mask)
    assert float(result) == pytest.approx(expected, abs=1e-5)
