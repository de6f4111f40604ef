"""Costs that are multiples of one number, and bounds that rise to the next."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.accelerate.forms.bounds import on_grid, step_of

WHOLE = np.array([True, True, True])


@pytest.mark.parametrize(
    ("cost", "step"),
    [
        ([3.0, -2.0, 0.0], 1.0),
        ([300.0, 200.0, 0.0], 100.0),
        ([0.5, 1.5, 2.0], 0.1),
        ([0.25, 1.0, 1.0], 0.01),
        ([1 / 3, 1.0, 1.0], 0.0),
        ([0.0, 0.0, 0.0], 0.0),
    ],
)
def test_the_largest_power_of_ten_that_divides_all_costs(cost: list[float], step: float):
    assert step_of(np.array(cost), WHOLE) == pytest.approx(step)


def test_a_column_with_fractions_and_a_cost_leaves_no_step():
    cost = np.array([3.0, 2.0, 1.0])
    assert step_of(cost, np.array([True, True, False])) == 0.0
    assert step_of(np.array([3.0, 2.0, 0.0]), np.array([True, True, False])) == 1.0


def test_bounds_rise_to_the_next_multiple_and_noise_does_not_count():
    assert on_grid(9090.3004, 1.0) == 9091.0
    assert on_grid(9091.0 + 1e-9, 1.0) == pytest.approx(9091.0, abs=1e-8)
    assert on_grid(9090.9999999, 1.0) == 9091.0
    assert on_grid(-0.7, 1.0) == 0.0
    assert on_grid(0.123, 0.0) == 0.123
    assert on_grid(-np.inf, 1.0) == -np.inf
