"""Trials of single parts and of pairs: sums come into their windows, at a loss that is what it is said to be."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.accelerate.rounding.losses import losses_of
from sdcdsl.accelerate.rounding.pairs import PairTrials
from tests.methods.rounding.test_elastic import allowed, loss, started


def never() -> bool:
    return False


@pytest.mark.parametrize("seed", [3, 5])
def test_sums_outside_are_mended(monkeypatch, seed: int) -> None:
    of, _, _ = started(seed, 1, (4, 4, 4))
    made = PairTrials(of, of.k_most, np.zeros(0), 0)
    assert not allowed(of, of.k_most)
    found = made.mended(never)
    assert found.outside == 0 and allowed(of, found.k)
    assert found.loss == pytest.approx(loss(of, found.k))
    assert (of.k_least <= found.k).all() and (found.k <= of.k_most).all()


def test_cooling_brings_the_loss_near_the_least() -> None:
    """The least loss is found by looking at all tables of a small cube, one part after another."""
    of, _, _ = started(1, 1, (2, 2, 2))
    sides = [np.arange(low, high + 1) for low, high in zip(of.k_least, of.k_most, strict=True)]
    tables = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(sides))
    best = min(loss(of, k) for k in tables if allowed(of, k))
    made = PairTrials(of, of.k_most, np.zeros(len(of.least)), 1)
    made.cooled(20_000, 0.3, never)
    found = made.mended(never)
    assert found.outside == 0 and allowed(of, found.k)
    assert best <= found.loss <= 1.2 * best


def test_a_deadline_ends_trials_and_what_cannot_move_stays() -> None:
    of, _, _ = started(3, 1)
    losses = losses_of(of)
    assert len(losses.cost) == len(of.k_least)
    made = PairTrials(of, of.k_least, np.zeros(0), 0)
    made.cooled(10**9, 0.3, lambda: True)
    assert made.trials == 0
    held = PairTrials(of.__class__(**{**of.__dict__, "k_most": of.k_least}), of.k_least, np.zeros(0), 0)
    assert np.array_equal(held.mended(never).k, of.k_least)
