"""Controlled tabular adjustment as `protect` runs it: every norm against all combinations of senses; refusals."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.accelerate.cta.driver import solve
from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import Result, SolveContext
from tests.methods.cta.every_sense import EverySense
from tests.methods.known import bound
from tests.methods.tiny_tables import changed, made, scaled, tiny_table
from tests.test_known_answers import KNOWN
from tests.waiting import HANGS

FIGURE = next(path for path in KNOWN if path.stem == "figure-1-L1")
SMALL = next(path for path in KNOWN if path.stem == "three-by-three-5-8-cta")


def adjusted(problem: TableProblem, **options) -> Result:
    result = solve(problem, SolveContext(options, Deadline(HANGS)))
    if result.pattern is not None:
        assert audit(problem, result.pattern).verdict in ("protected", "nothing to check")
    return result


def moved(problem: TableProblem, result: Result) -> np.ndarray:
    assert result.pattern is not None
    return np.nan_to_num(result.pattern.value - problem.dataset["a"].values)


@pytest.mark.parametrize("norm", ["L1", "L2", "Linf"])
@pytest.mark.parametrize("seed", range(20, 32))
def test_no_combination_of_senses_is_better(seed: int, norm: str):
    problem = tiny_table(seed)
    problem = changed(problem, spl=np.zeros(problem.dataset.sizes["pair"]))
    best = EverySense(problem).best(norm)
    result = adjusted(problem, norm=norm)
    if best == np.inf:
        assert result.status == "infeasible"
        return
    assert result.objective == pytest.approx(best, rel=1e-5, abs=1e-7)
    assert result.bound is not None
    assert result.bound <= best * (1 + 1e-5) + 1e-7


def test_a_table_in_other_units_moves_the_same_cells():
    """Raw solvers get this silently wrong: weights of 1e-11 are below their tolerances."""
    problem = tiny_table(23)
    times = 1e10
    small = changed(problem, spl=np.zeros(problem.dataset.sizes["pair"]))
    large = changed(scaled(small, times), w=small.dataset["w"].values / times)
    for norm in ("L1", "L2"):
        one, other = adjusted(small, norm=norm), adjusted(large, norm=norm)
        np.testing.assert_allclose(moved(large, other) / times, moved(small, one), atol=1e-6)


def test_a_sliding_level_is_refused():
    problem = bound(next(path for path in KNOWN if path.stem == "three-by-three-10-8-30-ip"))
    result = adjusted(problem)
    assert result.status == "infeasible"
    assert "sliding" in result.notes[0]


def test_totals_stay_and_move_only_where_nothing_else_works():
    problem = bound(SMALL)
    totals = problem.dataset["a"].values >= 44
    kept = adjusted(problem, keep_totals=True)
    assert not moved(problem, kept)[totals].any()
    # Row II alone may move, and a row without its total has to.
    status = np.where(np.isin(problem.dataset["a"].values, [8.0, 19.0, 22.0, 49.0]), "s", "z")
    status[problem.dataset["status"].values == "u"] = "u"
    column_total = np.flatnonzero(problem.dataset["a"].values == 44)[0]
    status[[column_total, int(np.flatnonzero(problem.dataset["a"].values == 190)[0])]] = "s"
    row = changed(problem, status=status)
    fixed = adjusted(row, keep_totals=True)
    assert fixed.status == "infeasible"
    assert any("levels are missed in" in note for note in fixed.notes)
    soft = adjusted(row, keep_totals=True, soft_totals=1000.0)
    assert soft.status == "optimal"
    assert "totals" in soft.notes[0]
    assert moved(row, soft)[totals].any()


def test_senses_that_clash_are_named_with_what_they_lack():
    """Two cells and their fixed sum: both cannot go up."""
    relation = [[(1.0, 0), (1.0, 1), (-1.0, 2)]]
    a = np.array([10.0, 20.0, 30.0])
    status = np.array(["u", "u", "z"])
    levels = np.array([[2.0, 3.0], [2.0, 3.0], [0.0, 0.0]])
    problem = made(3, relation, a, [(0, 0), (0, 1)], status=status, levels=levels)
    up = adjusted(problem, sense="up")
    assert up.status == "infeasible"
    assert {clash.pair for clash in up.clashes} <= {0, 1}
    assert up.clashes
    free = adjusted(problem)
    assert free.status == "optimal"
    assert sorted(np.abs(moved(problem, free))[:2]) == [3.0, 3.0]


def test_no_slack_below_or_above_is_found_before_any_search():
    a = np.array([1.0, 20.0, 21.0])
    low, high = np.array([0.0, 0.0, 0.0]), np.array([2.0, 40.0, 60.0])
    problem = made(
        3,
        [[(1.0, 0), (1.0, 1), (-1.0, 2)]],
        a,
        [(0, 0)],
        views=[(low, high)],
        levels=np.array([[3.0], [4.0], [0.0]]),
    )
    result = adjusted(problem)
    assert result.status == "infeasible"
    assert {(clash.need, clash.reach) for clash in result.clashes} == {(3.0, 1.0), (4.0, 1.0)}


def test_whole_numbers_add_up_exactly():
    problem = bound(FIGURE)
    problem = changed(problem, upl=problem.dataset["upl"].values * 1.1)
    result = adjusted(problem, norm="L2", sense="up", integer=True)
    z = moved(problem, result)
    np.testing.assert_array_equal(z, np.round(z))
    own = z[problem.dataset["cell_at"].values]
    np.testing.assert_array_less(np.ceil(problem.dataset["upl"].values) - 1, own)


def test_adjust_limits_every_cell():
    problem = bound(FIGURE)
    a = problem.dataset["a"].values
    limit = 0.6 * a
    result = adjusted(problem, norm="L1", sense="up", range=(-limit, limit))
    assert (np.abs(moved(problem, result)) <= limit + 1e-9).all()
    assert result.objective > 36 - 1e-9  # type: ignore[operator]
    narrow = adjusted(problem, norm="L1", sense="up", range=(-0.1 * a, 0.1 * a))
    assert narrow.status == "infeasible"


def test_multipliers_say_what_a_higher_level_costs():
    """(9) of paper 004: levels one up cost μ more each."""
    problem = bound(FIGURE)
    before = adjusted(problem, sense="up")
    mu = before.facts["multiplier of"]
    label = {problem.label(int(cell)): pair for pair, cell in enumerate(problem.dataset["cell_at"].values)}
    for name, slope in mu.items():
        upl = problem.dataset["upl"].values.copy()
        upl[label[name]] += 0.01
        after = adjusted(changed(problem, upl=upl), sense="up")
        assert after.objective - before.objective == pytest.approx(0.01 * slope, abs=1e-6)  # type: ignore[operator]
    assert before.facts["multipliers"] == pytest.approx(sum(mu.values()))
