"""Methods against every set of hidden cells, and intervals against the first model as one linear program."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.solving import run
from tests.methods.oracle import Oracle
from tests.methods.tiny_tables import SHAPES, tiny_table

EACH = 3  # tables of every shape
TIGHT = [("two hierarchies", 4), ("linked hierarchy", 4)]  # sliding levels that take all there is on one side


def tables() -> list[tuple[str, int]]:
    return [(shape, seed) for shape in SHAPES for seed in range(EACH)] + TIGHT


def solved(problem: TableProblem, method: str, **options) -> Result:
    return run(problem, method, SolveContext(options, Deadline(), seed=1))


def assert_audited(problem: TableProblem, result: Result) -> None:
    assert result.pattern is not None
    assert audit(problem, result.pattern, exact=False).verdict in ("protected", "nothing to check")


def assert_suppressed(problem: TableProblem, result: Result, best: float, oracle: Oracle) -> None:
    """Valid by both attackers, no cheaper than the best, and honest about it."""
    assert_audited(problem, result)
    hidden = result.pattern.status == "x"  # type: ignore[union-attr]
    assert oracle.valid(hidden)
    assert result.objective == pytest.approx(oracle.cost(hidden))
    assert result.bound is not None and result.objective is not None
    slack = 1e-6 * max(best, 1e-6)
    assert result.bound <= best + slack
    assert best <= result.objective + slack
    assert result.status in ("optimal", "feasible")
    if result.status == "optimal":
        assert result.objective <= best + slack


@pytest.mark.parametrize(("shape", "seed"), tables())
def test_cell_suppression(shape: str, seed: int):
    problem = tiny_table(seed, shape)
    oracle = Oracle(problem)
    best = oracle.cheapest()
    assert best is not None
    assert_suppressed(problem, solved(problem, "csp"), best, oracle)


@pytest.mark.parametrize("seed", range(12))
def test_cell_suppression_that_may_be_impossible(seed: int):
    problem = tiny_table(seed, levels="too much")
    oracle = Oracle(problem)
    best, result = oracle.cheapest(), solved(problem, "csp")
    if best is not None:
        assert_suppressed(problem, result, best, oracle)
        return
    assert result.status == "infeasible"
    assert result.pattern is None
    assert sorted({clash.pair for clash in result.clashes}) == oracle.exposed(oracle.everything())


@pytest.mark.parametrize("seed", [0, 6, 14, 17])
def test_cell_suppression_with_a_cap(seed: int):
    """As few as can be, one more, and one fewer."""
    problem = tiny_table(seed)
    oracle = Oracle(problem)
    ones = np.ones(problem.n)
    fewest = oracle.cheapest(ones)
    assert fewest is not None
    for cap in (int(fewest), int(fewest) + 1):
        best, result = oracle.cheapest(cap=cap), solved(problem, "csp", cap_hidden=cap)
        assert best is not None
        if result.status != "limit":
            assert_suppressed(problem, result, best, oracle)
            assert (result.pattern.status == "x")[oracle.published].sum() <= cap  # type: ignore[union-attr]
    result = solved(problem, "csp", cap_hidden=int(fewest) - 1)
    assert result.pattern is None
    assert result.status in ("infeasible", "limit")


@pytest.mark.parametrize(("shape", "seed"), tables())
def test_interval_protection(shape: str, seed: int):
    pytest.importorskip("sdcdsl.accelerate.ip.driver")
    problem = tiny_table(seed, shape)
    best = Oracle(problem).intervals()
    result = solved(problem, "ip")
    assert best is not None
    assert result.status == "optimal"
    assert_audited(problem, result)
    assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6 * max(float(problem.dataset["w"].max()), 1.0))


@pytest.mark.parametrize("seed", range(8))
def test_interval_protection_that_may_be_impossible(seed: int):
    pytest.importorskip("sdcdsl.accelerate.ip.driver")
    problem = tiny_table(seed, levels="too much")
    best, result = Oracle(problem).intervals(), solved(problem, "ip")
    assert (best is None) == (result.status == "infeasible")
    if best is None:
        oracle = Oracle(problem)
        assert result.pattern is None
        assert sorted({clash.pair for clash in result.clashes}) == oracle.exposed(oracle.everything())
