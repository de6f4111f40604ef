"""False proofs that were found once: each with a release that everybody can check by hand."""

from __future__ import annotations

from dataclasses import replace

import highspy
import numpy as np
import pytest

from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import settings_of
from sdcdsl.methods.result import Result, SolveContext, gap
from sdcdsl.methods.solving import definition, run
from sdcdsl.numerics.integrality import run_twice, whole_ends
from sdcdsl.solve import Status, solve
from tests.attack.tables import TREES, cross, flat
from tests.conformance.adjustments import safe
from tests.methods.tiny_tables import made, scaled
from tests.waiting import HANGS

INF = np.inf


def solved(problem: TableProblem, method: str, **options) -> Result:
    return run(problem, method, SolveContext(options, Deadline(HANGS), seed=1))


# ---- a least width that is more than any attacker reckons with -----------------------------------------------------


def known_closely() -> TableProblem:
    """Two by two, one sensitive cell; attackers know the two small cells within a half. Totals are dear."""
    n, relations = cross([flat(2), flat(2)])
    a = np.array([108.0, 45.0, 63.0, 43.0, 40.0, 3.0, 65.0, 5.0, 60.0])
    inner = np.array([0, 0, 0, 0, 1, 1, 0, 1, 1], dtype=bool)
    small = a < 10
    view = np.where(small, 0.5 * a, 0.0), np.where(small, 1.5 * a, INF)
    w = np.where(inner, 1.0, 100.0)
    return made(n, relations, a, [(0, 4)], w=w, views=[view], levels=np.array([[1.0], [1.0], [0.0]]))


WIDE = {"min_width": 10.0}
EVERYWHERE = np.ones(9, dtype=bool)


def test_four_intervals_of_ten_cost_forty():
    """The inner cells move by one against each other; nothing narrower than ten is allowed, at one a unit."""
    for method, options in (("combined", {"interval": EVERYWHERE}), ("ip", {})):
        result = solved(known_closely(), method, **WIDE, **options)
        assert result.status == "optimal"
        assert result.objective == pytest.approx(40.0)
        assert result.bound is not None and result.bound <= 40.0


@pytest.mark.parametrize(("method", "options"), [("combined", {"interval": EVERYWHERE}), ("ip", {})])
def test_so_they_do_in_the_first_model(method: str, options: dict):
    answer = solve(definition(method).model(known_closely(), SolveContext(WIDE | options)))
    assert answer.status is Status.OPTIMAL
    assert answer.objective == pytest.approx(40.0)


def test_an_interval_holds_what_published_multiples_add_up_to():
    """A total of 13 as a multiple of 10, two parts of 6 and 7 that attackers know within one: with the total at 10 or
    20 some part is read as 3 further down or 7 further up, which no attacker believes and which adds up."""
    n, relations = cross([flat(2)])
    a = np.array([13.0, 6.0, 7.0])
    view = a - np.array([INF, 1.0, 1.0]), a + np.array([INF, 1.0, 1.0])
    problem = made(n, relations, a, [(0, 1)], views=[view], levels=np.array([[1.0], [1.0], [0.0]]))
    parts = np.array([False, True, True])
    result = solved(problem, "combined", round=np.where(parts, np.nan, 10.0), interval=parts)
    # 3 for the total; the first part moves one up and down, the second against it or the total makes up for it.
    assert result.status == "optimal"
    assert result.objective is not None and result.objective <= 3.0 + 3.0 + 2.0 + 1e-6


# ---- whole numbers between ends that are not whole -----------------------------------------------------------------


def counts() -> TableProblem:
    n, relations = cross([TREES[0], TREES[0]])
    a = np.zeros((5, 5))
    leaves = {3: (6, 220, 6), 4: (372, 244, 403), 2: (2853, 0, 7)}
    for row, values in leaves.items():
        a[row, [3, 4, 2]] = values
    a = totals(a)
    w = np.where(a > 417, a, 2.0).ravel()
    level = np.array([a[3, 3], a[2, 3]])
    levels = np.stack([0.1 * level + 0.5, 0.15 * level + 0.5, [0.0, 0.0]])
    view = 0.2 * a.ravel(), 1.8 * a.ravel()
    return made(n, relations, a.ravel(), [(0, 18), (0, 13)], w=w, views=[view], levels=levels)


def totals(table: np.ndarray) -> np.ndarray:
    """Rows and columns 3 and 4 are parts of 1, which is with 2 a part of 0."""
    out = table.copy()
    for _ in range(2):
        out[1], out[0] = out[3] + out[4], out[1] + out[2]
        out[0] = out[1] + out[2]
        out = out.T.copy()
    return out


def test_an_adjustment_that_keeps_the_grand_total():
    z = np.zeros((5, 5))
    z[3, [3, 4, 2]] = 4, 176, 4
    z[4, [3, 4, 2]] = 282, -176, -9
    z[2, [3, 4, 2]] = -286, 0, 5
    z = totals(z).ravel()
    problem, options = counts(), {"norm": "L1", "integer": True}
    of = settings_of(problem, options)
    assert z[0] == 0 and safe(of, z)
    cost = float(problem.dataset["w"].values @ np.abs(z))
    result = solved(problem, "cta", **options)
    assert result.bound is not None and result.bound <= cost
    assert result.objective is not None and result.objective <= cost
    assert result.status == "optimal"


def test_ends_are_rounded_inwards_where_numbers_are_whole():
    integer = np.array([True, True, False, True])
    low, high = whole_ends(integer, np.array([-1.5, 2.0000000001, 0.5, -INF]), np.array([2.9, 4.9999999999, 0.7, INF]))
    assert low.tolist() == [-1.0, 2.0, 0.5, -INF]
    assert high.tolist() == [2.0, 5.0, 0.7, INF]


@pytest.mark.parametrize("presolve", ["choose", "off"])
def test_no_solution_is_found_twice(presolve: str):
    """2 x = 1 has none; 2 x = 4 has one, whatever is said first. A handle is left as it was."""
    for right, status in ((1.0, "kInfeasible"), (4.0, "kOptimal")):
        highs = highspy.Highs()
        highs.silent()
        highs.setOptionValue("presolve", presolve)
        highs.addVar(0.0, 10.0)
        highs.changeColIntegrality(0, highspy.HighsVarType.kInteger)
        highs.addRow(right, right, 1, np.array([0], dtype=np.int32), np.array([2.0]))
        run_twice(highs)
        assert highs.getModelStatus().name == status
        assert highs.getOptionValue("presolve")[1] == presolve


# ---- other units ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1.0, 1e-3, 1e6, 1e9])
def test_multiples_further_away_in_any_unit(times: float):
    """One part of three must rise by twelve: with a base of 10 and one step it goes from 18 to 20 or 30. 30 leaves 10
    to 50, too little below for nobody; 20 leaves 0 to 40. Levels ask for 12 up and 15 down: 20 gives 22 and 18."""
    n, relations = cross([flat(3)])
    a = np.array([30.0, 18.0, 5.0, 7.0])
    problem = made(n, relations, a, [(0, 1)], levels=np.array([[15.0], [12.0], [0.0]]), w=np.ones(4))
    result = solved(scaled(problem, times, costs=False), "rounding", base=10.0 * times, steps=1)
    # 20 + 10 + 0 is 30: deviations 0, 2, 5, 7 with 5 → 10 and 7 → 0, or 5 → 0 and 7 → 10: 0 + 2 + 5 + 3.
    assert result.status == "optimal"
    assert result.objective == pytest.approx(10.0 * times)
    assert result.bound == pytest.approx(10.0 * times, rel=1e-5)


# ---- caps ----------------------------------------------------------------------------------------------------------


def test_cells_that_must_be_hidden_count_where_nobody_has_a_level():
    n, relations = cross([flat(4)])
    a = np.array([10.0, 1.0, 2.0, 3.0, 4.0])
    problem = made(n, relations, a, [(0, 1), (0, 2)])
    assert solved(problem, "csp", cap_hidden=2).status == "optimal"
    assert solved(problem, "csp", cap_hidden=1).status == "infeasible"


# ---- cells that move together --------------------------------------------------------------------------------------


def together(**more) -> TableProblem:
    """Three hidden by turns: a total that must be published ties two cells to each other, and to cells of a second
    relation, so that four cells form one class."""
    n, relations = cross([flat(2), flat(2)])
    a = np.array([108.0, 45.0, 63.0, 43.0, 40.0, 3.0, 65.0, 5.0, 60.0])
    inner = np.array([0, 0, 0, 0, 1, 1, 0, 1, 1], dtype=bool)
    status = np.where(inner, "s", "z")
    status[4] = "u"
    return made(n, relations, a, [(0, 4)], status=status, levels=np.array([[2.0], [2.0], [0.0]]), **more)


def test_each_cell_of_a_class_has_a_least_width_of_its_own():
    """All four move by 2 either way. Two of them must be 10 wide, at 1 a unit; the others stay at 4, at 5 a unit."""
    least = np.array([0.0, 0, 0, 0, 10, 0, 0, 0, 10])
    w = np.where(least > 0, 1.0, 5.0)
    problem = together(w=w)
    cells = np.isin(np.arange(9), (4, 5, 7, 8))
    for method, options in (("ip", {}), ("combined", {"interval": cells})):
        result = solved(problem, method, min_width=least, **options)
        assert result.objective == pytest.approx(2 * 10 * 1.0 + 2 * 4 * 5.0)
        assert result.bound is not None and result.bound <= 60.0 * (1 + 1e-9)


def test_each_cell_of_a_class_is_widened_at_its_cheaper_end():
    """All four must be 10 wide where 4 would do; each has 6 units to spare for its cheaper end."""
    problem = together()
    up = np.array([1.0, 1, 1, 1, 1, 7, 1, 7, 1])
    down = np.array([1.0, 1, 1, 1, 7, 1, 1, 1, 7])
    dear = {"w_up": ("cell", up), "w_down": ("cell", down)}
    problem = replace(problem, dataset=problem.dataset.assign(dear))
    result = solved(problem, "ip", min_width=10.0)
    assert result.objective == pytest.approx(4 * (2 * 1.0 + 2 * 7.0 + 6 * 1.0))


def test_a_union_has_no_width_that_a_cap_is_about():
    """Two parts of a total that stays, and their union, which nobody publishes and which must have a slack of 8."""
    n, relations = cross([flat(3)])
    a = np.array([30.0, 10.0, 10.0, 10.0, 20.0])
    relations = [*relations, [(-1.0, 4), (1.0, 1), (1.0, 2)]]
    published, status = np.array([True] * 4 + [False]), np.array(list("zuusu"))
    levels = np.array([[1.0, 4.0], [1.0, 4.0], [0.0, 0.0]])
    problem = made(n + 1, relations, a, [(0, 1), (0, 4)], status=status, published=published, levels=levels)
    caps = np.array([8.0, 8.0, 8.0, 8.0, 1.0])
    # The third part takes what the union moves by; so do the two others between them.
    for options in ({}, {"cap_intervals": 3}):
        result = solved(problem, "ip", cap_width=caps, **options)
        assert result.status == "optimal"
        assert result.objective == pytest.approx(8.0 + 8.0)


# ---- sizes ---------------------------------------------------------------------------------------------------------


def test_levels_below_only_are_levels_in_any_unit():
    """Amounts of milliards; nothing is asked for above."""
    n, relations = cross([flat(3)])
    a = np.array([30.0, 10.0, 10.0, 10.0])
    problem = made(n, relations, a, [(0, 1)], levels=np.array([[4.0], [0.0], [0.0]]), w=np.array([9.0, 1, 1, 1]))
    result = solved(scaled(problem, 1e10, costs=False), "combined", interval=np.ones(4, dtype=bool), min_width=4e10)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(8e10)


def test_a_quarter_of_a_count_is_a_count():
    """The model for other solvers: what must move by a quarter moves by 1, and so does another part."""
    n, relations = cross([flat(2)])
    a = np.array([20.0, 10.0, 10.0])
    status = np.array(list("zus"))
    problem = made(n, relations, a, [(0, 1)], status=status, levels=np.array([[0.25], [0.25], [0.0]]))
    answer = solve(definition("cta").model(problem, SolveContext({"norm": "L1", "integer": True})))
    assert answer.status is Status.OPTIMAL
    assert answer.objective == pytest.approx(2.0)


def test_a_cost_of_nothing_has_a_gap():
    assert gap(0.0, 0.0) == 0.0
    assert gap(0.0, -1e-12) == INF
