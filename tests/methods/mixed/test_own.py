"""What levels ask of their own cell: as many multiples as leave slack for them, and no more."""

from __future__ import annotations

import numpy as np
import pytest

from sdcdsl.accelerate.forms.own_levels import own_clashes, within_own_levels
from sdcdsl.accelerate.forms.search import FormsSearch
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.rounding.model import shape
from sdcdsl.methods.solving import run
from tests.attack.tables import cross, flat
from tests.methods.tiny import tiny
from tests.methods.tiny_tables import changed, made
from tests.waiting import HANGS


def random_levels(seed: int, most: float) -> TableProblem:
    problem, draw = tiny(seed), np.random.default_rng(seed)
    none = np.zeros(problem.dataset.sizes["pair"])
    lpl, upl = draw.choice([0.0, 0.5, 1.0], (2, len(none))) * most
    return changed(problem, lpl=lpl, upl=upl, spl=none)


@pytest.mark.parametrize("seed", range(12))
def test_multiples_that_leave_slack_for_the_levels_and_no_others(seed: int):
    steps = seed % 3
    forms = shape(random_levels(seed, 3.0 + 4 * steps), {"base": 5.0, "steps": steps}).forms
    problem = forms.into.problem()
    i, at = forms.instance, forms.at
    tight = within_own_levels(forms, problem)
    clashes = {clash.pair for clash in own_clashes(forms, problem)}
    for cell in np.flatnonzero(at.multiple >= 0).tolist():
        column = int(at.multiple[cell])
        k = np.arange(float(problem.lower[column]), float(problem.upper[column]) + 0.5)
        t = at.first[cell] + 5.0 * k - i.a[cell]
        allowed = np.ones(len(k), dtype=bool)
        for pair in np.flatnonzero((i.pair_cell == cell) & ~i.conditional).tolist():
            keeps = (at.reach[cell] - t >= i.level[DOWN, pair]) & (at.reach[cell] + t >= i.level[UP, pair])
            assert (pair in clashes) == (not keeps.any())
            allowed &= keeps
        bounds = (tight.lower[column] <= k) & (k <= tight.upper[column])
        np.testing.assert_array_equal(bounds, allowed)


def test_pairs_of_one_cell_that_leave_no_multiple_between_them():
    """22 is 20 for the attacker who must think that it may be 17, and 25 for the one for whom it may be 27."""
    n, relations = cross([flat(2), flat(2)])
    a = np.array([93.0, 45.0, 48.0, 41.0, 22.0, 19.0, 52.0, 23.0, 29.0])
    levels = np.array([[5.0, 0.0], [0.0, 5.0], [0.0, 0.0]])
    problem = made(n, relations, a, [(0, 4), (1, 4)], view_of=[0, 0], levels=levels)
    forms = shape(problem, {"base": 5.0}).forms
    assert not own_clashes(forms, forms.into.problem())
    result = run(problem, "rounding", SolveContext({"base": 5.0}, Deadline(HANGS)))
    assert result.facts["steps"] > 0
    assert "keeps the levels" in result.notes[0]


@pytest.mark.parametrize("seed", range(6))
def test_cuts_over_whole_columns_have_whole_right_hand_sides(seed: int):
    """5 k ≥ 1 asks for k ≥ 1, not for a fifth."""
    of, draw = shape(random_levels(seed, 3.0), {"base": 5.0}), np.random.default_rng(seed)
    forms, i, p = of.forms, of.forms.instance, of.forms.into.problem()
    search = FormsSearch(i, p, forms.open & i.may_open, of.published)
    for _ in range(20):
        search.cut_off(np.where(p.integer, draw.integers(0, 2, len(p.cost)), 0.0))
    A, right = search.master.matrix[search.stated :], search.master.rhs[search.stated :]
    for row in range(len(right)):
        c = A.data[A.indptr[row] : A.indptr[row + 1]]
        if p.integer[A.indices[A.indptr[row] : A.indptr[row + 1]]].all() and len(c):
            assert right[row] / np.abs(c).min() == pytest.approx(round(right[row] / np.abs(c).min()), abs=1e-9)
