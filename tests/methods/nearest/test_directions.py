"""Through the directions a table can move in: the same steps, the same tables, and proofs that are proofs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array, diags_array

from sdcdsl.numerics.nearest import interior_point as interior_module
from sdcdsl.numerics.nearest.feasible import rules_out
from sdcdsl.numerics.nearest.interior_point import Inside
from sdcdsl.numerics.nearest.kernel_step import Directions, directions
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.numerics.nearest.newton import Ended, Newton
from sdcdsl.numerics.nearest.relations_step import RelationSystem
from sdcdsl.numerics.nearest.solved import SeparableCost, lower_bound, residual
from sdcdsl.status import INFEASIBLE, OPTIMAL
from tests.methods.nearest.boxes import Box, csplib, random_box, sums
from tests.shapes import shape


def of(M: csr_array) -> Directions:
    found = directions(M)
    assert found is not None
    return found


@pytest.fixture
def any_size(monkeypatch):
    monkeypatch.setattr(interior_module, "INTERIOR", replace(interior_module.INTERIOR, large=0))


def small_cube(seed: int) -> tuple[np.random.Generator, csr_array]:
    """27 cells in 27 relations, which leave 8 directions."""
    return np.random.default_rng(seed), sums(2, 2, 2)


def test_a_basis_of_whole_numbers_that_says_what_makes_up_a_cell():
    """The parts determine the totals: 16 inner cells, and each total is a sum of some of them."""
    M = sums(2, 2, 2, 2)
    N = of(M).N.toarray()
    assert not (M @ N).any()
    assert N.shape[1] == 16 == np.linalg.matrix_rank(N) == shape(M)[1] - np.linalg.matrix_rank(M.toarray())
    assert set(np.unique(N)) == {0.0, 1.0}
    assert N.sum(axis=1).max() == 16  # the grand total


def test_sums_are_eliminated_and_parts_are_left():
    """What stands in the fewest relations is as well a part as a sum: with that choice N has 26 times the entries."""
    assert of(csplib("hier16").M).N.nnz < 30_000


def test_too_many_directions():
    """A table of two dimensions has more cells inside than relations."""
    assert directions(sums(6, 6)) is None


@pytest.mark.parametrize("seed", range(5))
def test_a_step_solves_its_equations(seed):
    rng, M = small_cube(seed)
    ways, n = of(M), shape(M)[1]
    Q = 10.0 ** rng.uniform(-4, 6, n)
    pull, x, g = rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
    system = ways.system(Q)
    assert system is not None
    dx, dg = system.step(pull, x, g)
    np.testing.assert_allclose(M @ (x + dx), 0, atol=1e-10)
    np.testing.assert_allclose(ways.Nt @ (g + dg), 0, atol=1e-8)
    np.testing.assert_allclose(Q * dx - dg, pull, rtol=1e-9, atol=1e-9 * np.abs(dg).max())
    np.testing.assert_allclose(M.T @ ways.multipliers(g + dg), g + dg, atol=1e-8 * np.abs(g + dg).max())


@pytest.mark.parametrize("seed", range(5))
def test_the_same_step_as_through_the_relations(seed):
    rng, M = small_cube(seed)
    n = shape(M)[1]
    Q = 10.0 ** rng.uniform(-2, 2, n)
    pull, x = rng.normal(size=n), rng.normal(size=n)
    basis = np.sort(of(M)._made.row)
    few = RelationSystem(csr_array(M[basis]), np.zeros(len(basis)))
    one, other = of(M).system(Q), few.system(Q)
    assert one is not None and other is not None
    dx, dg = one.step(pull, x, np.zeros(n))
    also_dx, dy = other.step(pull, x, np.zeros(len(basis)))
    np.testing.assert_allclose(dx, also_dx, atol=1e-8)
    np.testing.assert_allclose(dg, few.At @ dy, atol=1e-8)


def test_newtons_direction_is_that_of_dense_equations(any_size):
    """Held cells do not react: those of the dense system do not at all, those here as good as not."""
    rng, M = small_cube(7)
    n = shape(M)[1]
    react = 10.0 ** rng.uniform(-3, 3, n)
    D, z = react.copy(), rng.normal(size=n)
    D[rng.choice(n, 4, replace=False)] = 0.0  # of 8 directions
    inside = Inside(M)
    inside.solve(SeparableCost(np.zeros(n), np.zeros(n), 0.5 / react), np.full(n, -1.0), np.ones(n))
    d = inside.direct(D, react, z)
    assert d is not None
    H = (M @ diags_array(D) @ M.T).toarray()
    dense, *_ = np.linalg.lstsq(H, -(M @ z), rcond=1e-12)
    np.testing.assert_allclose(D * (M.T @ d), D * (M.T @ dense), atol=1e-4)


def reference(box: Box) -> bool:
    """Whether anything fits, says scipy."""
    ends = np.stack([box.l, box.u], axis=1)
    found = linprog(np.zeros(len(box.l)), A_eq=box.M, b_eq=np.zeros(shape(box.M)[0]), bounds=ends)
    assert found.status in (0, 2), found.message
    return found.status == 0


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_what_is_ruled_out_does_not_fit(seed):
    """Cells without prices, without ends and without slack among them; nothing that fits is ever ruled out."""
    box = random_box(seed)
    inside, cost = Inside(box.M), SeparableCost(0 * box.w, 0 * box.w, box.w)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interior_module, "INTERIOR", replace(interior_module.INTERIOR, large=0))
        reached = inside.solve(cost, box.l, box.u) if (box.l <= box.u).all() else None
    if reached is None:
        return
    if reached.towards is not None and rules_out(box.M, box.l, box.u, reached.towards):
        assert not reference(box)
    elif reached.towards is None:
        objective = cost.of(reached.z)
        bound, _ = lower_bound(box.M, cost, box.l, box.u, reached.y, objective)
        assert residual(box.M, reached.z, 1.0) <= 1e-9
        assert abs(objective - bound) <= 1e-6 * max(objective, 1e-3)


def test_a_small_slope_is_meant():
    """x = 1 000 000 y and y ≤ 1 fit together: the slope of y is a millionth of that of x, and no rounding error."""
    M = csr_array([[1e-6, -1.0]])
    l, u = np.array([5e5, 0.0]), np.array([np.inf, 1.0])
    assert not rules_out(M, l, u, np.array([1.0])) and not rules_out(M, l, u, np.array([-1.0]))
    assert rules_out(M, np.array([2e6, 0.0]), np.array([3e6, 1.0]), np.array([-1.0]))


def test_an_end_that_is_open_proves_nothing():
    M = csr_array([[1.0, -1.0]])
    assert not rules_out(M, np.array([2.0, -np.inf]), np.array([np.inf, np.inf]), np.array([-1.0]))


def attacked(name: str) -> Box:
    """The closest table to a table that has to go where no dual step is right for all: weights 1 / a²."""
    box = csplib(name)
    return Box(box.M, box.a, box.w**2, box.l, box.u, box.sensitive)


def test_the_same_table_as_without(monkeypatch):
    box = attacked("hier13x7x7d")
    monkeypatch.setattr(interior_module, "INTERIOR", replace(interior_module.INTERIOR, large=10**9))
    without = L2(box.M).solve(box.w, box.l, box.u)
    monkeypatch.setattr(interior_module, "INTERIOR", replace(interior_module.INTERIOR, large=0))
    made = L2(box.M, many=True).solve(box.w, box.l, box.u)
    assert made.status == without.status == OPTIMAL
    assert made.z is not None and without.z is not None and made.objective is not None
    assert made.objective == pytest.approx(without.objective, rel=1e-9)
    assert made.objective - (made.bound or 0.0) <= 1e-9 * made.objective
    np.testing.assert_allclose(made.z, without.z, atol=1e-6 * box.a.max())


def test_newton_is_asked_only_for_the_last_digits(monkeypatch):
    box = attacked("hier13")
    steps: list[int] = []
    plain = Newton._direction
    monkeypatch.setattr(
        Newton, "_direction", lambda self, *args, **named: steps.append(1) or plain(self, *args, **named)
    )
    made = L2(box.M, many=True).solve(box.w, box.l, box.u)
    assert made.status == OPTIMAL and not steps


def test_where_newton_fails_once_it_is_not_asked_again(monkeypatch):
    """A single problem does not begin by looking for directions; after a hard one, the next does."""
    box = attacked("hier13")
    calls: list[np.ndarray | None] = []

    def fails(self, cost, l, u, y=None, *more, **named):
        calls.append(y)
        return Ended(l, np.zeros(shape(box.M)[0]), False) if y is None else plain(self, cost, l, u, y, *more, **named)

    plain = Newton.minimise
    monkeypatch.setattr(Newton, "minimise", fails)
    solver = L2(box.M)
    assert not solver.tells_what_fits
    for _ in range(2):
        assert solver.solve(box.w, box.l, box.u).status == OPTIMAL
    assert solver.tells_what_fits
    assert [y is None for y in calls] == [True, False, False]


def test_a_table_that_nothing_fits_is_told_without_a_linear_program(monkeypatch):
    """All inner cells of hier13 have to rise, and its grand total to fall."""
    box = csplib("hier13")
    l, u = np.full(len(box.a), -1e6), np.full(len(box.a), 1e6)
    first = box.M[:1]
    cells = first.indices
    total = first.data < 0 if (first.data < 0).sum() == 1 else first.data > 0
    l[cells[~total]], u[cells[total]] = 1.0, -1.0
    monkeypatch.setattr("sdcdsl.numerics.nearest.l1l2.infeasible", lambda *args: pytest.fail("a linear program"))
    made = L2(box.M, many=True).solve(np.ones(len(l)), l, u)
    assert made.status == INFEASIBLE
    assert made.y is not None and rules_out(box.M, l, u, made.y)


def test_attackers_need_no_linear_program_to_know_what_fits():
    assert L2(csplib("hier13").M, many=True).tells_what_fits
    assert not L2(sums(4, 4), many=True).tells_what_fits
