"""How long mixed-integer problems are let run, and to which gap."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest

from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.numerics.master import Master
from sdcdsl.numerics.milp import Integral
from sdcdsl.status import LIMIT
from tests.methods.tiny import tiny

GAP = 0.2


def test_a_problem_that_no_cut_has_changed_is_given_much_longer_than_before(monkeypatch: pytest.MonkeyPatch):
    """A solver that starts anew comes no further in the same time."""
    problem, asked, solve = tiny(0), [], Master.solve

    def patient(self: Master, **how: Any) -> Integral:
        asked.append(how)
        return Integral(LIMIT, None, inf, -inf, timed=True) if len(asked) < 3 else solve(self, **how)

    monkeypatch.setattr(Master, "solve", patient)
    reach = np.full(problem.n, 40.0)
    result = run(problem, "perturb", SolveContext({"range": (-reach, reach), "gap": GAP}, Deadline(1e6)))
    assert result.status == "optimal"
    seconds = [how["seconds"] for how in asked]
    assert seconds[1] >= 4 * seconds[0]
    assert seconds[2] >= 4 * seconds[1]
    assert 0.9 * GAP <= asked[0]["gap"] < GAP


@pytest.mark.parametrize("offset", [0.0, 1000.0, -1000.0])
def test_an_offset_belongs_to_the_gap_and_not_to_the_bound(offset: float):
    draw = np.random.default_rng(0)
    master = Master(draw.integers(5, 30, 12) * 1.0, np.zeros(12), np.ones(12), np.ones(12, dtype=bool))
    for _ in range(6):
        master.add([(np.arange(12), draw.integers(0, 9, 12) * 1.0, 17.0)])
    best = master.solve()
    made = master.solve(offset=offset)
    assert (made.objective, made.bound) == pytest.approx((best.objective, best.bound))
    loose = master.solve(offset=offset, gap=0.1)
    assert loose.objective - loose.bound <= 0.1 * abs(loose.objective + offset) + 1e-6
