"""Cell suppression at the edges: nothing to do, nothing to be done, no time, other units, other costs."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.accelerate.csp.driver import solve
from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.methods.result import Progress, Result, SolveContext
from tests.attack.tables import COX, cross, flat
from tests.methods.oracle import Oracle
from tests.methods.tiny_tables import changed, made, scaled, tiny_table


def solved(problem: TableProblem, before: np.ndarray | None = None, seed: int = 0, **options) -> Result:
    return solve(problem, SolveContext(options, Deadline(), seed, before))


def hidden(result: Result) -> np.ndarray:
    assert result.pattern is not None
    return result.pattern.status == "x"


def known_table(levels=(10.0, 12.0, 0.0), **parts) -> TableProblem:
    """I, II, III × A, B, C with totals; II·C is 22 and sensitive; cost is value."""
    n, relations = cross([flat(3), flat(3)])
    w = COX.ravel() if "w" not in parts else parts.pop("w")
    return made(n, relations, COX.ravel(), [(0, 11)], levels=np.array(levels).reshape(3, 1), w=w, **parts)


def test_nobody_to_protect():
    n, relations = cross([flat(3), flat(3)])
    status = np.where(np.arange(n) == 5, "m", "s")
    result = solved(made(n, relations, COX.ravel(), [], status=status, w=COX.ravel()))
    assert (result.status, result.objective, result.bound) == ("optimal", 20, 20)
    assert np.flatnonzero(hidden(result)).tolist() == [5]


def test_levels_of_zero_ask_for_nothing_but_the_cell_itself():
    result = solved(known_table((0.0, 0.0, 0.0)))
    assert (result.status, result.objective) == ("optimal", 22)
    assert np.flatnonzero(hidden(result)).tolist() == [11]


def test_a_table_without_relations():
    problem = made(3, [], np.array([5.0, 6, 7]), [(0, 1)], levels=np.array([[2.0], [3.0], [0.0]]))
    result = solved(problem)
    assert (result.status, result.objective) == ("optimal", 1)
    assert np.flatnonzero(hidden(result)).tolist() == [1]


def test_all_other_cells_must_be_published():
    status = np.where(np.arange(16) == 11, "u", "z")
    result = solved(known_table(status=status))
    assert result.status == "infeasible"
    assert result.pattern is None
    assert {(c.pair, c.side, c.need, c.reach) for c in result.clashes} == {(0, DOWN, 10, 0), (0, UP, 12, 0)}


def test_only_the_side_that_cannot_be_had_clashes():
    """II·C cannot fall below 0; upwards there is no end."""
    result = solved(known_table((23.0, 30.0, 0.0)))
    assert result.status == "infeasible"
    assert [(c.pair, c.side, c.need) for c in result.clashes] == [(0, DOWN, 23)]
    assert result.clashes[0].reach == pytest.approx(22)


def test_a_sliding_level_that_cannot_be_had():
    result = solved(known_table((1.0, 1.0, 40.0), views=[(COX.ravel() - 5, COX.ravel() + 15)]))
    assert result.status == "infeasible"
    assert [(c.pair, c.side, c.need) for c in result.clashes] == [(0, None, 40)]
    assert result.clashes[0].reach == pytest.approx(20)


def test_the_table_everybody_knows():
    """Hiding II·A, II·C, III·A, III·C costs 8 + 22 + 17 + 12; 10 down and 12 up need column B of III instead of A."""
    problem = known_table((5.0, 8.0, 0.0))
    result = solved(problem)
    assert (result.status, result.objective) == ("optimal", 59)
    assert result.bound == pytest.approx(59)
    assert np.flatnonzero(hidden(result)).tolist() == [9, 11, 13, 15]
    assert (result.facts["hidden"], result.facts["secondary"], result.facts["secondary_cost"]) == (4, 3, 37)


def test_what_was_hidden_before_is_cheaper():
    """Half price for II·B and III·B: 19 / 2 + 32 / 2 beats 8 + 17 only by more than half."""
    problem = known_table((5.0, 8.0, 0.0))
    before = np.isin(np.arange(16), [10, 14])
    oracle = Oracle(problem)
    for discount in (0.0, 0.4, 0.6, 1.0):
        result = solved(problem, before, previous_discount=discount)
        w = np.where(before, oracle.w * (1 - discount), oracle.w)
        assert result.objective == pytest.approx(oracle.cheapest(w))
        assert oracle.valid(hidden(result))
        assert (hidden(result)[10]) == (discount > 0.5)


@pytest.mark.parametrize("seed", range(8))
def test_without_time_there_is_no_unprotected_pattern(seed: int):
    problem = tiny_table(seed)
    oracle = Oracle(problem)
    for limit in (0.0, 0.02):
        result = solve(problem, SolveContext({}, Deadline(limit)))
        assert result.status in ("optimal", "feasible", "limit")
        assert (result.pattern is None) == (result.status == "limit")
        if result.pattern is not None:
            assert oracle.valid(hidden(result))


@pytest.mark.parametrize("seed", [1, 9, 18, 30])
def test_other_units_and_far_bounds_change_nothing(seed: int):
    problem = tiny_table(seed)
    d = problem.dataset
    plain = hidden(solved(problem))
    far = changed(problem, low=np.maximum(d["low"].values, -1e12), high=np.minimum(d["high"].values, 1e12))
    large = scaled(problem, 1e9)
    known = changed(
        large, low=np.maximum(large.dataset["low"].values, -1e15), high=np.minimum(large.dataset["high"].values, 1e15)
    )
    for other in (far, large, known, scaled(problem, 1e9, costs=False)):
        assert np.array_equal(hidden(solved(other)), plain)


@pytest.mark.parametrize("seed", [5, 12])
def test_the_same_seed_gives_the_same_pattern(seed: int):
    problem = tiny_table(seed)
    patterns = [hidden(solved(problem, seed=5)).tolist() for _ in range(2)]
    assert patterns[0] == patterns[1]


def test_the_standing_only_gets_better():
    problem = tiny_table(14)
    heard: list[Progress] = []
    result = solve(problem, SolveContext({}, Deadline(), report=heard.append))
    costs = [s.objective for s in heard if s.objective is not None]
    bounds = [s.bound for s in heard if s.bound is not None]
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)
    assert costs[-1] == result.objective
    assert audit(problem, result.pattern).verdict == "protected"  # type: ignore[arg-type]
