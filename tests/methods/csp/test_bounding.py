"""What the master proves, against all patterns of tables that are small enough to try them."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.accelerate.csp.bounding import Bounding, step_of, unit_of
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from tests.methods.tiny import by_cost, tiny, valid


def all_valid(problem) -> list[tuple[float, np.ndarray]]:
    """Every valid pattern, cheapest first."""
    return [
        (cost, hidden)
        for cost, hidden in by_cost(Instance(problem))
        if valid(problem, *(np.where(hidden, np.inf, 0.0),) * 2)
    ]


@pytest.mark.parametrize("seed", range(12))
def test_cuts_and_fixings_leave_every_pattern_that_is_cheaper(seed: int):
    problem = tiny(seed, (2, 2))
    patterns = all_valid(problem)
    if not patterns:
        pytest.skip("nothing protects this one")
    instance = Instance(problem)
    least = patterns[0][0]
    for cost, known in (patterns[0], patterns[len(patterns) // 4], patterns[len(patterns) // 2]):
        bounding = Bounding(instance, instance.w)
        while bounding.round(Deadline()):
            pass
        bounding.fix(cost, bounding.of_cells(known))
        for _ in range(60):
            made = bounding.master.solve()
            assert made.x is not None
            bounding.proved(made.bound)
            rows = bounding.broken(np.round(made.x), Deadline())
            if not rows:
                break
            bounding.add_lasting(rows)
        assert bounding.bound == pytest.approx(min(least, cost), rel=1e-9)
        master = bounding.master
        for other_cost, other in patterns:
            x = bounding.of_cells(other)
            assert (master.matrix @ x >= master.rhs - 1e-7).all()
            if other_cost < cost * (1 - 1e-9):
                assert ((x >= master.lower) & (x <= master.upper)).all()


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_whole_steps_and_never_too_high(seed: int):
    problem = tiny(seed, (2, 2))
    patterns = all_valid(problem)
    if not patterns:
        pytest.skip("nothing protects this one")
    instance = Instance(problem)
    w = np.round(instance.w) * 3 + 3
    bounding = Bounding(instance, w)
    assert bounding.step > 0
    least = min(float(w[hidden & bounding.published].sum()) for _, hidden in patterns)
    while bounding.round(Deadline()):
        assert bounding.bound <= least + 1e-9
        steps = (bounding.bound - bounding.base) / bounding.step
        assert steps == pytest.approx(round(steps), abs=1e-9)


@pytest.mark.parametrize(
    ("cost", "step"),
    [
        ([3.0, 6.0, 0.0], 3.0),
        ([4.0, 7.0], 1.0),
        ([0.5, 1.25], 0.25),
        ([0.1, 0.25], 0.05),
        ([1.0, np.sqrt(2)], 0.0),
        ([0.0, 0.0], 0.0),
        ([1.0, 3e9], 0.0),  # steps too many to tell from rounding
        ([2e9, 4e9], 2e9),
    ],
)
def test_steps_of_costs(cost: list[float], step: float):
    made = np.array(cost)
    assert step_of(made) == pytest.approx(step, rel=1e-12)
    if step > 0:
        share = made / unit_of(made, step_of(made))
        assert np.allclose(share * 2**20, np.round(share * 2**20), rtol=0, atol=1e-6)
