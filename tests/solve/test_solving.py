"""Statuses mean one thing, for every backend; nothing is believed that does not stand up to a check."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import metadata

import linopy
import numpy as np
import pytest
import xarray as xr

from sdcdsl.registry import forget
from sdcdsl.solve import BackendRefused, Can, SolveLimits, Solver, Status, backend, missing, refusal, solve
from sdcdsl.solve.backend import BackendAnswer, Ending
from sdcdsl.solve.highs import Highs
from sdcdsl.solve.modelling import by_variable, new_model, numbers
from sdcdsl.solve.solving import judged
from sdcdsl.solve.through_linopy import ThroughLinopy
from sdcdsl.vocabulary.backends import BACKENDS as REGISTERED
from sdcdsl.vocabulary.backends import Backend

BACKENDS: list[Solver] = [backend("highs"), backend("scip"), ThroughLinopy("highs"), ThroughLinopy("scip")]
IDS = ["highs", "scip", "highs through linopy", "scip through linopy"]
every_backend = pytest.mark.parametrize("by", BACKENDS, ids=IDS)


def knapsack() -> linopy.Model:
    """max 5 x0 + 4 x1 + 3 x2, 2 x0 + 3 x1 + x2 ≤ 4, binary: x0 and x2, worth 8."""
    model = new_model()
    item = {"item": [0, 1, 2]}
    x = model.add_variables(binary=True, name="x", coords=item)
    weight, worth = (xr.DataArray(v, coords=item, dims="item") for v in ([2.0, 3.0, 1.0], [5.0, 4.0, 3.0]))
    model.add_constraints((weight * x).sum() <= 4, name="light enough")
    model.add_objective((worth * x).sum(), sense="max")
    return model


def line(low: float = 0.0, need: float = 3.0, high: float = np.inf, whole: bool = False) -> linopy.Model:
    """min x + y, x + y ≥ need, x ≥ low."""
    model = new_model()
    over = {"i": [0, 1]}
    x = model.add_variables(lower=low, upper=high, name="x", coords=over, integer=whole)
    model.add_constraints(x.sum() >= need, name="enough")
    model.add_objective(x.sum())
    return model


def unbounded(whole: bool) -> linopy.Model:
    """min -x, x ≥ 0, x - y ≤ 1: more of both is always better."""
    model = new_model()
    x, y = (model.add_variables(lower=0, name=n, coords={"i": [0]}, integer=whole) for n in "xy")
    model.add_constraints(x - y <= 1, name="together")
    model.add_objective((-1 * x).sum())
    return model


def neither() -> linopy.Model:
    """The same, and x + y ≤ -1: presolving sees that the objective has no end before it sees that nothing fits."""
    model = unbounded(whole=False)
    model.add_constraints(model["x"] - model["y"] >= 2, name="apart")
    return model


@every_backend
def test_optimal(by: Solver):
    found = solve(knapsack(), SolveLimits(), by)
    assert found.status is Status.OPTIMAL
    assert (found.objective, found.bound, found.gap) == (pytest.approx(8), pytest.approx(8), pytest.approx(0))
    assert found.values is not None
    np.testing.assert_array_equal(by_variable(knapsack(), found.values)["x"], [1, 0, 1])


@every_backend
def test_optimal_linear(by: Solver):
    found = solve(line(), SolveLimits(), by)
    assert (found.status, found.objective, found.bound) == (Status.OPTIMAL, pytest.approx(3), pytest.approx(3))


@every_backend
@pytest.mark.parametrize("whole", [False, True])
def test_infeasible(by: Solver, whole: bool):
    found = solve(line(high=1.0, whole=whole), SolveLimits(), by)
    assert (found.status, found.objective, found.values) == (Status.INFEASIBLE, None, None)


@every_backend
@pytest.mark.parametrize("whole", [False, True])
def test_unbounded_is_told_from_infeasible(by: Solver, whole: bool):
    assert solve(unbounded(whole), SolveLimits(), by).status is Status.UNBOUNDED
    assert solve(neither(), SolveLimits(), by).status is Status.INFEASIBLE


@pytest.mark.parametrize("by", BACKENDS[:2], ids=IDS[:2])
def test_no_time_is_a_limit(by: Solver):
    found = solve(knapsack(), SolveLimits(time=0.0), by)
    assert (found.status, found.values) == (Status.LIMIT, None)


@pytest.mark.parametrize("by", BACKENDS[:2], ids=IDS[:2])
def test_a_seed_and_threads_are_taken(by: Solver):
    assert solve(knapsack(), SolveLimits(seed=7, threads=1), by).objective == pytest.approx(8)
    assert solve(knapsack(), SolveLimits(seed=8, threads=2), by).objective == pytest.approx(8)


def quadratic(whole: bool) -> linopy.Model:
    """min (x - 1.6)²: 1.6, or 2."""
    model = new_model(sparse=False)
    x = model.add_variables(lower=0, upper=5, name="x", coords={"i": [0]}, integer=whole)
    model.add_constraints(x >= 0, name="something")
    model.add_objective((x * x).sum() - 3.2 * x.sum())
    return model


def test_squares():
    for by in ("highs", "scip"):
        found = solve(quadratic(False), SolveLimits(), by)
        assert found.objective == pytest.approx(-2.56, abs=1e-6)
        assert found.values == pytest.approx([1.6], abs=1e-3)
    assert solve(quadratic(True), SolveLimits(), "scip").values == pytest.approx([2.0])


def test_what_was_not_declared_is_refused():
    """HiGHS would answer a MIQP with neither an error nor a solution."""
    assert not Highs.can & Can.MIQP
    with pytest.raises(
        BackendRefused, match=r"`highs` has not declared .* quadratic objectives with integer variables"
    ):
        solve(quadratic(True))


class Patient(Highs):
    """Never looks at the deadline."""

    can = Highs.can & ~Can.TIME_LIMIT


def test_a_time_limit_needs_somebody_who_keeps_it():
    assert solve(knapsack(), SolveLimits(), Patient()).status is Status.OPTIMAL
    with pytest.raises(BackendRefused, match="a time limit"):
        solve(knapsack(), SolveLimits(time=5.0), Patient())


def test_backends_by_name():
    assert set(REGISTERED) == {"highs", "scip", "gurobi", "cplex", "xpress", "mosek"}
    assert missing("highs") is None
    with pytest.raises(BackendRefused, match=r"there is no backend `hihgs`\. did you mean `highs`"):
        backend("hihgs")
    assert missing("cplex") == "the solver `cplex` is not installed here"
    why = refusal(knapsack(), SolveLimits(), backend("gurobi"))
    assert why is not None
    assert "gurobi" in why


def test_scip_absent_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    assert "install sdcdsl[scip]" in (missing("scip") or "")
    with pytest.raises(BackendRefused, match=r"install sdcdsl\[scip\]"):
        solve(knapsack(), SolveLimits(), "scip")


class Stubborn(Highs):
    """A third party's backend."""

    name = "stubborn"


STUBBORN = Backend("stubborn", "HiGHS by another name", Stubborn)
STRANGE = Backend("strange", "no solver", dict)


def test_a_third_party_registers_by_an_entry_point(monkeypatch: pytest.MonkeyPatch):
    entries = [
        metadata.EntryPoint(name, f"tests.solve.test_solving:{name.upper()}", "sdcdsl.backends")
        for name in ("stubborn", "strange", "absent")
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda group: [e for e in entries if e.group == group])
    forget()
    try:
        assert solve(knapsack(), SolveLimits(), "stubborn").objective == pytest.approx(8)
        assert "a dict is no solver" in (missing("strange") or "")
        assert "has no attribute 'ABSENT'" in (missing("absent") or "")
    finally:
        monkeypatch.undo()
        forget()


# ---- what solvers say is checked ------------------------------------------------------------------------


def said(values: Sequence[float], ending: Ending = Ending.OPTIMAL, bound: float | None = None) -> BackendAnswer:
    return BackendAnswer(ending, np.array(values), bound, "said")


def test_a_wrong_solution_is_a_failure():
    seen = numbers(knapsack())
    assert judged(seen, said([1, 0, 1]), SolveLimits()).status is Status.OPTIMAL
    for wrong in ([1, 1, 1], [1, 0, 2], [1, 0, -1], [0.5, 0, 1], [1, 0, np.nan], [1, 0]):
        assert judged(seen, said(wrong), SolveLimits()).status is Status.FAILED, wrong


def test_unknown_is_a_failure_even_with_values():
    assert judged(numbers(knapsack()), said([1, 0, 1], Ending.FAILED), SolveLimits()).status is Status.FAILED


def test_a_gap_decides_what_is_optimal():
    seen = numbers(knapsack())
    found = judged(seen, said([1, 0, 1], bound=10.0), SolveLimits())
    assert (found.status, found.bound, found.gap) == (Status.FEASIBLE, 10.0, pytest.approx(0.2))
    assert judged(seen, said([1, 0, 1], bound=10.0), SolveLimits(gap=0.2)).status is Status.OPTIMAL
    assert judged(seen, said([1, 0, 1], Ending.LIMIT), SolveLimits()).gap is None


def test_whole_numbers_are_made_exact_and_the_rest_follows():
    """y ≤ 1e6 x: with x = 0 up to the tolerance of a solver, y could still be 1."""
    model = new_model()
    x = model.add_variables(binary=True, name="x", coords={"i": [0]})
    y = model.add_variables(lower=0, upper=1e6, name="y", coords={"i": [0]})
    model.add_constraints(y - 1e6 * x <= 0, name="only if")
    model.add_constraints(y >= 1, name="something")
    model.add_objective((5 * x).sum() + (0.001 * y).sum())
    seen = numbers(model)
    assert judged(seen, said([1e-6, 1.0]), SolveLimits()).status is Status.FAILED
    again = judged(seen, said([1 - 1e-6, 1e6 - 0.5]), SolveLimits())
    assert again.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert again.values is not None
    assert again.values[0] == 1.0


def test_scaled_models_answer_in_their_own_units():
    """Columns and objective are scaled for the solver only."""
    model = new_model()
    x = model.add_variables(
        lower=0, name="x", coords={"i": [0, 1]}, scaling=xr.DataArray([1e-6, 1e-6], dims="i", coords={"i": [0, 1]})
    )
    model.add_constraints(x.sum() >= 3e6, name="enough", scaling=1e-6)
    model.add_objective((2 * x).sum())
    model.objective.scaling = 1e-6
    assert numbers(model).row_low.max() == pytest.approx(3)
    for by in ("highs", "scip"):
        found = solve(model, SolveLimits(), by)
        assert (found.status, found.objective, found.bound) == (Status.OPTIMAL, pytest.approx(6e6), pytest.approx(6e6))
        assert found.values is not None
        assert found.values.sum() == pytest.approx(3e6)


def test_the_same_twice():
    first, second = (solve(knapsack(), SolveLimits(seed=3)) for _ in range(2))
    assert (first.objective, first.bound) == (second.objective, second.bound)
    np.testing.assert_array_equal(first.values, second.values)
