"""One move for all levels at once gives intervals that every attacker is held by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.generators import cubic
from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.accelerate.ip import benders
from sdcdsl.accelerate.ip.joint_adjustment import JointAdjustment
from sdcdsl.audit import audit_release
from sdcdsl.audit.hints import take_hints
from sdcdsl.audit.problem import stated
from sdcdsl.audit.proving import Proofs
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.status import FEASIBLE, OPTIMAL
from tests.waiting import Looks


def relative(n: int, seed: int):
    made = cubic(n, seed=seed)
    return replace(made, dataset=made.dataset.assign(w=("cell", 1 / np.maximum(made.dataset["a"].values, 1.0))))


@pytest.mark.parametrize("seed", range(3))
def test_the_move_serves_all_levels(seed: int) -> None:
    instance = Instance(relative(343, seed))
    demands = CutRequirements(instance)
    cost = sum(demands.classes.total(instance.w_down, instance.w_up))
    joint = JointAdjustment(demands, cost, Deadline())
    first = joint.first()
    assert first is not None
    moves = [first]
    joint.better(Looks(0.1), moves.append, lambda: False)
    prices = [float(cost @ np.abs(move)) for move in moves]
    assert prices == sorted(prices, reverse=True) and prices[-1] < prices[0]
    for move in (moves[0], moves[-1]):
        off = demands.classes.matrix.sparse @ move
        assert np.abs(off).max() <= 1e-9 * np.abs(move).max()
        width = np.abs(move)
        made = Separation(demands).round(Capacities(demands, width, width), tolerance=1e-8, each=True)
        assert made.complete and not made.short.any()


def test_a_search_that_is_cut_short_ends_with_these_intervals(monkeypatch) -> None:
    """As if the table were a large one: its clock runs out long before cutting planes have said anything."""
    monkeypatch.setattr(benders, "TUNING", replace(benders.TUNING, adjusted_from=0))
    problem = relative(343, 1)
    context = SolveContext({"gap": 0.0, "threads": 1}, Looks(0.06))
    result = run(problem, "ip", context)
    assert result.status in (FEASIBLE, OPTIMAL) and result.pattern is not None
    assert result.objective is not None and result.bound is not None
    assert 0 < result.bound <= result.objective
    assert audit_release(problem, result.pattern, exact=False).verdict == "protected"
    assert result.moves is not None
    proofs = Proofs.none(stated(problem, result.pattern, False))
    take_hints(proofs, result.moves)
    assert (proofs.verdicts == "p").all() and len(proofs.verdicts)
