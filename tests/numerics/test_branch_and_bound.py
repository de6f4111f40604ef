"""The driver on covering problems: against scipy's mixed-integer solver, and its bound at every node."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.branch_and_bound import BranchAndBound, Expansion, Node, Pseudocosts, Revisit

Domains = tuple[np.ndarray, np.ndarray]
ALWAYS = Deadline()


class Cover:
    """min c x, A x ≥ b, x binary; branches on the most fractional variable."""

    def __init__(self, seed: int, rows: int = 12, columns: int = 14):
        draw = np.random.default_rng(seed)
        self.c = draw.uniform(1.0, 3.0, columns)
        self.A = draw.integers(0, 4, (rows, columns)).astype(float)
        self.b = 0.4 * self.A.sum(axis=1)
        self.incumbent = inf
        self.order: list[int] = []

    @property
    def optimum(self) -> float:
        best = milp(self.c, constraints=LinearConstraint(self.A, self.b), integrality=np.ones(14), bounds=Bounds(0, 1))
        return float(best.fun)

    def search(self, dive: bool) -> BranchAndBound[Domains]:
        search = BranchAndBound(self.expand, lambda: self.incumbent - 1e-9, (lambda *_: True) if dive else None)
        search.push(-inf, (np.zeros(14), np.ones(14)))
        return search

    def expand(self, node: Node[Domains], deadline: Deadline) -> Expansion[Domains] | None:
        self.order.append(node.number)
        relaxed = linprog(self.c, -self.A, -self.b, bounds=np.stack(node.state, axis=1))
        if relaxed.status == 2:
            return Expansion()
        x = relaxed.x
        j = int(np.argmin(np.abs(x - 0.5)))
        if min(x[j], 1 - x[j]) < 1e-7:
            self.incumbent = min(self.incumbent, relaxed.fun)
            return Expansion(bound=relaxed.fun)
        children = []
        for value in (0.0, 1.0):
            low, high = node.state[0].copy(), node.state[1].copy()
            low[j] = high[j] = value
            children.append((relaxed.fun, (low, high)))
        return Expansion(children)


@pytest.mark.parametrize("dive", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_a_mixed_integer_solver(seed: int, dive: bool):
    cover = Cover(seed)
    search, optimum, before = cover.search(dive), cover.optimum, -inf
    while search.step(ALWAYS):
        assert before <= search.bound <= optimum + 1e-7
        before = search.bound
    assert search.closed
    assert cover.incumbent == pytest.approx(optimum)
    assert search.bound == pytest.approx(optimum)


def test_best_first_expands_in_the_order_of_bounds_and_twice_the_same():
    orders = []
    for _ in range(2):
        cover = Cover(7)
        search, bounds = cover.search(False), []
        while not search.closed:
            node = search.first
            assert node is not None
            bounds.append(node.bound)
            search.step(ALWAYS)
        assert bounds == sorted(bounds)
        orders.append(cover.order)
    assert orders[0] == orders[1]


def test_diving_goes_to_a_child_of_the_last_node():
    cover = Cover(3)
    search = cover.search(True)
    search.step(ALWAYS)
    search.step(ALWAYS)
    assert search.first is not None
    assert search.first.depth == 2


def test_a_node_that_could_not_be_expanded_stays_open():
    finishes = [False, False, True]
    search: BranchAndBound[str] = BranchAndBound(lambda *_: Expansion() if finishes.pop(0) else None, lambda: 10.0)
    search.push(3.0, "root")
    for _ in range(2):
        assert not search.step(ALWAYS)
        assert not search.closed
        assert (search.bound, search.expanded) == (3.0, 0)
    assert search.step(ALWAYS)
    assert search.closed
    assert search.bound == inf


def test_no_time_expands_nothing():
    cover = Cover(0)
    search = cover.search(False)
    search.advance(100, Deadline(0.0))
    assert search.expanded == 0
    assert not cover.order


def test_a_node_is_revisited_before_all_others():
    def expand(node: Node[str], deadline: Deadline) -> Expansion[str] | Revisit[str]:
        seen.append(node.state)
        if node.state == "root":
            return Expansion([(2.0, "left"), (1.0, "right")])
        return Revisit(5.0, "right with a cut") if node.state == "right" else Expansion(bound=node.bound)

    seen: list[str] = []
    search = BranchAndBound(expand, lambda: 10.0)
    search.push(0.0, "root")
    search.advance(10, ALWAYS)
    assert seen == ["root", "right", "right with a cut", "left"]
    assert search.bound == 2.0


def test_what_is_pruned_keeps_its_bound():
    cutoff = [10.0]
    search = BranchAndBound(lambda node, deadline: Expansion([(4.0, "a"), (6.0, "b")]), lambda: cutoff[0])
    search.push(0.0, "root")
    cutoff[0] = 3.0
    search.step(ALWAYS)
    assert search.closed
    assert search.bound == 4.0


def test_pseudocosts_are_means_per_unit_of_distance():
    costs = Pseudocosts(3)
    costs.record(0, 1, 2.0, 0.5)
    costs.record(0, 1, 1.0, 0.5)
    costs.record(1, 1, 3.0, 0.5)
    assert costs.known(1) == 1
    assert costs.known(0) == 0
    x = np.array([0.5, 0.25, 1.0])
    # At 0 a unit brings 3 on average, at 1 it brings 6; variables that were never fixed take the mean of all.
    np.testing.assert_allclose(costs.estimates(x), [[1.5, 0.75, 3.0], [3.0, 4.5, 0.0]])
    np.testing.assert_allclose(costs.estimates(x, 5.0), [[2.5, 0.75, 5.0], [3.0, 4.5, 0.0]])
