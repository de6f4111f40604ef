"""Conditional levels (paper 003 §7) against every set of hidden cells, and every set of cells with an interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdcdsl.accelerate.ip import counted
from sdcdsl.audit import audit, certify
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.csp import model as csp
from sdcdsl.methods.ip import model as ip
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.solving import by_model, run
from sdcdsl.proof.checking import verify
from tests.methods.conditioned import Conditioned, conditional, tables
from tests.methods.tiny_tables import made


def solved(problem: TableProblem, method: str, **options) -> Result:
    return run(problem, method, SolveContext(options, Deadline(), seed=1))


def assert_best(problem: TableProblem, result: Result, best: float | None) -> None:
    if best is None:
        assert result.status == "infeasible"
        assert result.pattern is None
        return
    assert result.pattern is not None
    assert audit(problem, result.pattern, exact=False).verdict in ("protected", "nothing to check")
    assert result.status == "optimal"
    unit = max(float(problem.dataset["w"].max()), 1.0)
    assert result.objective == pytest.approx(best, rel=2e-6, abs=2e-6 * unit)
    assert result.bound is not None
    assert result.bound <= best + 1e-6 * max(best, unit)


@pytest.mark.parametrize(("shape", "seed"), tables())
def test_cell_suppression(shape: str, seed: int):
    problem = conditional(seed, shape)
    oracle = Conditioned(problem)
    best = oracle.cheapest()
    result = solved(problem, "csp")
    assert_best(problem, result, best)
    if result.pattern is not None:
        assert oracle.valid(result.pattern.status == "x")
    if seed == 0:
        compact = by_model(problem, csp, SolveContext({}))
        assert (compact.objective is None) == (best is None)
        if best is not None:
            assert compact.objective == pytest.approx(best)


@pytest.mark.parametrize(("shape", "seed"), [("one dimension", 0), ("2-D", 1)])
def test_interval_protection(shape: str, seed: int):
    problem = conditional(seed, shape)
    best = Conditioned(problem).cheapest_intervals()
    assert_best(problem, solved(problem, "ip"), best)
    assert (by_model(problem, ip, SolveContext({})).objective is None) == (best is None)


@pytest.mark.parametrize(("shape", "seed"), tables())
def test_interval_protection_and_the_first_model(shape: str, seed: int):
    problem = conditional(seed, shape)
    assert_best(problem, solved(problem, "ip"), by_model(problem, ip, SolveContext({"gap": 1e-9})).objective)


@pytest.mark.parametrize(("shape", "seed"), [("one dimension", 0), ("2-D", 0), ("2-D", 1)])
def test_intervals_that_keep_every_level_are_there_before_any_choice(shape: str, seed: int, monkeypatch):
    """Somebody who stops a search early has valid intervals: as wide as all conditional levels together ask for."""
    monkeypatch.setattr(counted, "TUNING", replace(counted.TUNING, steps=0))
    problem, deadline = conditional(seed, shape), Deadline()

    def stop(progress) -> None:
        deadline.stop = True

    best = by_model(problem, ip, SolveContext({"gap": 1e-9})).objective
    result = run(problem, "ip", SolveContext({}, deadline, seed=1, report=stop))
    assert (result.pattern is None) == (best is None)
    if result.pattern is not None:
        assert audit(problem, result.pattern, exact=False).verdict in ("protected", "nothing to check")


def test_conditional_levels_change_what_is_best():
    """Row and column of a square: the cheap cell beside the sensitive one would be known too well."""
    relations = [[(-1.0, 4), (1.0, 0), (1.0, 1)], [(-1.0, 5), (1.0, 2), (1.0, 3)]]
    relations += [[(-1.0, 6), (1.0, 0), (1.0, 2)], [(-1.0, 7), (1.0, 1), (1.0, 3)]]
    a = np.array([10.0, 2.0, 8.0, 7.0, 12.0, 15.0, 18.0, 9.0])
    plain = made(8, relations, a, [(0, 0), (0, 1)], levels=np.array([[2.0, 0.0], [2.0, 5.0], [0.0, 0.0]]))
    status = np.array(["u", *"sss", *"zzzz"])
    flagged = plain.dataset.assign(status=("cell", status), conditional=("pair", np.array([False, True])))
    problem = replace(plain, dataset=flagged)
    result = solved(problem, "csp")
    assert result.status == "optimal"
    assert result.pattern is not None
    assert (result.pattern.status == "x")[1]  # the square is all there is: it can rise by 7, so 5 is enough
    more = replace(problem, dataset=flagged.assign(upl=("pair", np.array([2.0, 9.0]))))
    assert solved(more, "csp").status == "infeasible"  # and 9 is not
    intervals = solved(problem, "ip")
    assert intervals.pattern is not None
    assert intervals.pattern.high[1] - a[1] == pytest.approx(5.0)
    assert intervals.objective == pytest.approx(4 * (2 + 5))


def test_pairs_that_do_not_count_are_not_stated(tmp_path):
    problem = conditional(0, "3 × 3")
    result = solved(problem, "csp")
    assert result.pattern is not None
    found = certify(problem, result.pattern, tmp_path / "c.jsonl", exact=False)
    checked = verify(tmp_path / "c.jsonl")
    assert not checked.reasons
    assert found.verdict == "protected"
    d = problem.dataset
    touched = result.pattern.status[d["cell_at"].values] == "x"
    counted = ~d["conditional"].values | touched
    assert len(found.verdicts) == counted.sum() < len(counted)
    everything = replace(problem, dataset=d.drop_vars("conditional"))
    assert len(audit(everything, result.pattern, exact=False).verdicts) == len(counted)
