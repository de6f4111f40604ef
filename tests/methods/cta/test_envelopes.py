"""Cuts that know what the levels of a relation leave over, against all patterns of signs; and the tree over them."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdcdsl.accelerate.cta.senses.envelopes import Envelopes
from sdcdsl.accelerate.cta.senses.search import SenseSearch
from sdcdsl.accelerate.cta.tuning import TREE
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import settings_of
from sdcdsl.numerics.compiled import kernels
from tests.methods.cta.every_sense import EverySense
from tests.methods.tiny_tables import made, tiny_table
from tests.waiting import HANGS


def one_relation(up, down, weight) -> Envelopes:
    """Of groups with these levels that stand in a single relation with these coefficients."""
    of = Envelopes.__new__(Envelopes)
    of.relations, of.first, of.choice = np.array([0]), np.array([0, len(up)]), np.arange(len(up))
    of.up, of.down = np.array(weight) * up, np.array(weight) * down
    return of


def patterns(many: int) -> np.ndarray:
    return np.array([[(p >> i) & 1 for i in range(many)] for p in range(1 << many)], dtype=float)


@st.composite
def relations(draw):
    many = draw(st.integers(2, 6))
    level = st.lists(st.integers(0, 50), min_size=many, max_size=many).map(lambda x: np.array(x, dtype=float))
    weight = draw(st.lists(st.sampled_from([-2.0, -1.0, 0.5, 1.0]), min_size=many, max_size=many))
    b = draw(st.lists(st.sampled_from([0.0, 1.0, 0.5, 0.25, 0.9, 1 / 3]), min_size=many, max_size=many))
    return draw(level), draw(level), weight, np.array(b)


@given(relations(), st.sampled_from(["plain", "fast"]))
@settings(max_examples=200, deadline=None)
def test_the_largest_convex_function_below_what_is_left_over(relation, mode):
    up, down, weight, b = relation
    with kernels(mode):
        (value,), (constant,), slope = one_relation(up, down, weight).at(b)
    every = patterns(len(b))
    left = np.abs(every @ (weight * up) - (1 - every) @ (weight * down))
    unit = 1 + left.max()
    assert (constant + every @ slope <= left + 1e-9 * unit).all()  # a cut holds for every pattern
    least = linprog(left, A_eq=np.vstack([every.T, np.ones(len(left))]), b_eq=[*b, 1.0])
    assert value == pytest.approx(least.fun, abs=1e-7 * unit)  # and no cut says more about b


def test_levels_that_cannot_cancel_leave_their_least_difference():
    """5, 4 and 3: the best signs leave |5 - 4 - 3| = 2, and halves of all directions no longer hide it."""
    (value,), _, _ = one_relation([5.0, 4.0, 3.0], [5.0, 4.0, 3.0], [1.0, 1.0, 1.0]).at(np.full(3, 0.5))
    assert value == pytest.approx(2.0)


def test_relations_with_more_levels_than_can_be_enumerated_are_left_out():
    most = TREE.most_levels
    problem = crowded(0, rows=2, columns=most + 2, sensitive=2 * (most + 1))
    of = settings_of(problem, {"norm": "L1"})
    found = Envelopes(SenseSearch(of.of, of.w_down, of.w_up, 1e-6, Deadline(HANGS)).groups)
    assert np.diff(found.first).max(initial=0) <= most


def crowded(seed: int, rows: int = 4, columns: int = 4, sensitive: int = 7) -> TableProblem:
    """A table in two dimensions with levels in half of its inner cells, different below and above."""
    draw = np.random.default_rng(seed)
    inner = draw.integers(5, 90, (rows, columns)).astype(float)
    across = np.hstack([inner.sum(axis=1, keepdims=True), inner])
    table = np.vstack([across.sum(axis=0), across])
    number = np.arange(table.size).reshape(table.shape)
    relations = [[(-1.0, int(line[0])), *((1.0, int(i)) for i in line[1:])] for line in [*number, *number.T]]
    cells = draw.choice(number[1:, 1:].ravel(), sensitive, replace=False)
    levels = np.stack([draw.uniform(1, 5, sensitive), draw.uniform(1, 5, sensitive), np.zeros(sensitive)])
    w = 1 / table.ravel()
    return made(table.size, relations, table.ravel(), [(0, int(i)) for i in cells], w=w, levels=levels)


@pytest.mark.parametrize("make", [crowded, tiny_table])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_relaxation_and_tree_hold(make, seed: int):
    """Both stay below the best of all senses, and the tree proves it and finds it."""
    problem = make(seed)
    best = EverySense(problem).best()
    of = settings_of(problem, {"norm": "L1"})
    search = SenseSearch(of.of, of.w_down, of.w_up, 1e-6, Deadline(HANGS))
    if best == inf or not search.groups.count:  # no table, or nothing to move
        assert (search.run().objective or inf) == (best or inf)
        return
    search.started(search.deadline)
    assert search._relax(search.deadline)
    assert search.bound * search.natural <= best * (1 + 1e-6)
    if search.relaxation.model.capped:
        return
    search._tree(search.deadline)
    assert search.bound * search.natural == pytest.approx(best, rel=2e-6)
    assert search.best is not None and search.best.objective * search.natural == pytest.approx(best, rel=2e-6)


def test_a_node_that_nothing_fits_is_ruled_out_by_its_ray():
    """Two levels in a row that lets only one cell make up for them, and not enough."""
    lines = [[(-1.0, 0), (1.0, 1), (1.0, 2), (1.0, 3)]]
    low, high = np.array([0.0, 0.0, 0.0, 9.0]), np.array([100.0, 20.0, 20.0, 11.0])
    levels = np.array([[5.0, 5.0], [5.0, 5.0], [0.0, 0.0]])
    status = np.array(["z", "u", "u", "s"])
    a = np.array([30.0, 10.0, 10.0, 10.0])
    problem = made(4, lines, a, [(0, 1), (0, 2)], status=status, views=[(low, high)], levels=levels)
    of = settings_of(problem, {"norm": "L1"})
    search = SenseSearch(of.of, of.w_down, of.w_up, 1e-6, Deadline(HANGS))
    search.started(search.deadline)
    assert search.best is not None  # one up, one down
    search._relax(search.deadline)
    k = search.relaxation.model.k
    for way in (0.0, 1.0):
        search.relaxation.choose(np.full(k, way), np.full(k, way))
        assert (search.relaxation.solve(search.deadline) == inf) == (k > 1)
