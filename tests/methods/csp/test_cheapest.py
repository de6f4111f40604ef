"""The cheapest move, in all forms of the linear program, against scipy; and many times in the same work space."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp.cheapest_direction import Cheapest, OverRelations
from sdcdsl.accelerate.csp.cheapest_in_basis import OverBasis
from sdcdsl.methods.instance import Instance
from sdcdsl.numerics.compiled import kernels
from sdcdsl.numerics.simplex.dual import FOUND, NONE, SLIGHT, DualSimplex
from sdcdsl.numerics.sparse_null_space import sparse_null_space
from tests.attack.tables import TREES, cross, flat, linked
from tests.methods.tiny_tables import made, scaled
from tests.shapes import shape

TABLES = {
    "2-D": lambda: cross([flat(2), flat(3)]),
    "2 × 2 × 2": lambda: cross([flat(2), flat(2), flat(2)]),
    "3 × 3 × 2": lambda: cross([flat(3), flat(3), flat(2)]),
    "two hierarchies": lambda: cross([TREES[1], TREES[0]]),
    "linked": lambda: linked(TREES[0], flat(2), TREES[1]),
    "chain": lambda: cross([TREES[2], TREES[3]]),
}


def matrix(table: str) -> np.ndarray:
    n, relations = TABLES[table]()
    M = np.zeros((len(relations), n))
    for row, relation in enumerate(relations):
        for s, cell in relation:
            M[row, cell] += s
    return M


@dataclass(frozen=True, eq=False)
class Question:
    p: int
    sign: int
    down: np.ndarray  # slacks, in needs
    up: np.ndarray
    price: np.ndarray

    def of(self, near: DualSimplex) -> tuple[int, np.ndarray, np.ndarray]:
        return near.solve(self.p, self.sign, self.down, self.up, self.price)

    @property
    def opened(self) -> tuple[int, int, np.ndarray, np.ndarray, np.ndarray]:
        """Without infinite prices: what must not move has no slack."""
        shut = self.price == inf
        down, up, price = (np.where(shut, 0.0, x) for x in (self.down, self.up, self.price))
        return self.p, self.sign, down, up, price


def question(draw: np.random.Generator, n: int, alike: bool = False) -> Question:
    """`alike`: as much slack up as down."""
    kind = str(draw.choice(["endless", "mixed", "tight", "uneven"]))
    down, up = (
        {
            "endless": np.full(n, inf),
            "mixed": draw.choice([0.0, 0.3, 0.5, 1.0, 2.0, inf], n, p=[0.05, 0.1, 0.15, 0.2, 0.2, 0.3]),
            "tight": draw.uniform(0.2, 1.5, n),
            "uneven": 10.0 ** draw.uniform(-6, 2, n),
        }[kind]
        for _ in range(2)
    )
    up = down if alike else up
    p, sign = int(draw.integers(n)), int(draw.choice([-1, 1]))
    down, up = down.copy(), up.copy()
    down[p], up[p] = max(down[p], 1.0), max(up[p], 1.0)
    kind = str(draw.choice(["one", "any", "zeros", "shut", "far apart"]))
    price = {
        "one": np.ones(n),
        "any": draw.uniform(0.1, 9, n),
        "zeros": draw.choice([0.0, 0.0, 1.0, 3.0], n),
        "shut": draw.choice([1.0, 2.0, 5.0, inf], n),
        "far apart": 10.0 ** draw.uniform(-4, 4, n),
    }[kind]
    price[p] = 1e-3
    return Question(p, sign, down, up, price)


def least(M: np.ndarray, q: Question) -> float | None:
    """min Σ price |d| / min(slack, 1), p apart; None if p cannot go so far."""
    n, (p, sign, down, up, price) = M.shape[1], q.opened
    cost = np.concatenate([price / np.clip(slack, SLIGHT, 1.0) for slack in (up, down)])
    high, low = np.concatenate([up, down]), np.zeros(2 * n)
    own, back = (p, n + p) if sign > 0 else (n + p, p)
    low[own] = high[own] = 1.0
    high[back] = cost[own] = cost[back] = 0.0
    bounds = np.stack([low, high], axis=1)
    found = linprog(cost, A_eq=np.hstack([M, -M]), b_eq=np.zeros(len(M)), bounds=bounds, method="highs")
    assert found.status in (0, 2), found.message
    return found.fun if found.status == 0 else None


def assert_best(M: np.ndarray, q: Question, d: np.ndarray | None, best: float | None) -> None:
    assert (d is None) == (best is None)
    if d is None or best is None:
        return
    p, sign, down, up, price = q.opened
    assert d[p] == pytest.approx(sign, abs=1e-9)
    assert np.abs(M @ d).max() <= 1e-8
    slack = np.where(d > 0, up, down)
    others = np.arange(len(d)) != p
    assert (np.abs(d) <= slack + 1e-8)[others].all()
    assert (price * np.abs(d) / np.clip(slack, SLIGHT, 1.0))[others].sum() == pytest.approx(best, rel=1e-6, abs=1e-7)


def nearby_move(near: DualSimplex, q: Question, n: int) -> np.ndarray | None:
    status, cells, move = q.of(near)
    assert status in (FOUND, NONE)
    if status == NONE:
        return None
    d = np.zeros(n)
    d[cells] = move
    return d


@pytest.mark.parametrize("form", ["plain", pytest.param("fast", marks=pytest.mark.long)])
@pytest.mark.parametrize("table", TABLES)
def test_nearby_is_as_cheap_as_can_be(form: str, table: str):
    M = matrix(table)
    draw = np.random.default_rng(7)
    with kernels(form):  # type: ignore[arg-type]
        near = DualSimplex(csr_array(M))
    for _ in range(20):
        q = question(draw, M.shape[1])
        assert_best(M, q, nearby_move(near, q, M.shape[1]), least(M, q))


def test_long_moves_through_inverses_that_are_made_anew():
    """Tables in which a move takes several times as many steps as an inverse lasts."""
    draw = np.random.default_rng(5)
    n, relations = cross([TREES[2], flat(8), flat(9)])
    M = np.zeros((len(relations), n))
    for row, relation in enumerate(relations):
        for s, cell in relation:
            M[row, cell] += s
    with kernels("fast"):
        near = DualSimplex(csr_array(M))
    found = 0
    for _ in range(25):
        down, up = (draw.choice([0.3, 0.6, 1.0, 3.0, inf], n) for _ in range(2))
        p = int(draw.integers(n))
        down[p] = up[p] = 1.0
        q = Question(p, int(draw.choice([-1, 1])), down, up, draw.uniform(0.5, 2.0, n))
        d = nearby_move(near, q, n)
        assert_best(M, q, d, least(M, q))
        found += d is not None and near.inversions >= 1
    assert found >= 8


@pytest.mark.parametrize("table", TABLES)
def test_by_relations_is_as_cheap_as_can_be(table: str):
    M = matrix(table)
    draw = np.random.default_rng(8)
    by_relations = OverRelations(csr_array(M))
    for _ in range(12):
        q = question(draw, M.shape[1])
        d, certain = by_relations.solve(*q.opened, None)
        assert certain
        assert_best(M, q, d, least(M, q))


@pytest.mark.parametrize("table", TABLES)
def test_by_directions_is_as_cheap_as_can_be(table: str):
    """Its price is that of the smaller of both slacks, so they are the same here."""
    M = matrix(table)
    draw = np.random.default_rng(9)
    N = sparse_null_space(csr_array(M))
    assert N is not None
    by_directions, sure = OverBasis(N), 0
    for _ in range(12):
        q = question(draw, M.shape[1], alike=True)
        d, certain = by_directions.solve(*q.opened)
        if certain:
            sure += 1
            assert_best(M, q, d, least(M, q))
    assert sure >= 10


@pytest.mark.parametrize("table", ["2 × 2 × 2", "linked"])
def test_directions_with_slack_on_one_side_only_still_go_there(table: str):
    M = matrix(table)
    draw = np.random.default_rng(10)
    N = sparse_null_space(csr_array(M))
    assert N is not None
    by_directions = OverBasis(N)
    for _ in range(12):
        q = question(draw, M.shape[1])
        d, certain = by_directions.solve(*q.opened)
        if certain:
            assert (d is None) == (least(M, q) is None)
            if d is not None:
                assert np.abs(M @ d).max() <= 1e-8
                assert (d <= q.opened[3] + 1e-8).all() and (-d <= q.opened[2] + 1e-8).all()


@pytest.mark.parametrize("form", ["plain", "fast"])
@pytest.mark.parametrize("table", ["3 × 3 × 2", "linked"])
def test_an_answer_does_not_depend_on_earlier_questions(form: str, table: str):
    M = csr_array(matrix(table))
    draw = np.random.default_rng(11)
    questions = [question(draw, shape(M)[1]) for _ in range(14)]
    with kernels(form):  # type: ignore[arg-type]
        used, backwards = DualSimplex(M), DualSimplex(M)
        first = [q.of(used) for q in questions]
        second = [q.of(backwards) for q in reversed(questions)][::-1]
        fresh = [q.of(DualSimplex(M)) for q in questions]
    for one, *others in zip(first, second, fresh, strict=True):
        for other in others:
            assert one[0] == other[0]
            assert np.array_equal(one[1], other[1])
            assert np.array_equal(one[2], other[2])


def test_both_forms_give_the_same_answer():
    M = csr_array(matrix("3 × 3 × 2"))
    draw = np.random.default_rng(12)
    with kernels("plain"):
        plain = DualSimplex(M)
    with kernels("fast"):
        fast = DualSimplex(M)
    for _ in range(30):
        q = question(draw, shape(M)[1])
        one, other = q.of(plain), q.of(fast)
        assert one[0] == other[0]
        assert np.array_equal(one[1], other[1])
        assert np.allclose(one[2], other[2], rtol=1e-12)


def test_cells_whose_part_in_a_pivot_row_cancels_on_the_way():
    """A cell is in three relations; its sum may be 0 after two of them, and the cell is met again."""
    M = csr_array(matrix("2 × 2 × 2"))
    with kernels("plain"):
        near = DualSimplex(M)
    for seed in range(24, 40):
        draw = np.random.default_rng(seed)
        n = shape(M)[1]
        up, down = (draw.choice([0.3, 0.5, 1.0, 2.0], n) for _ in range(2))
        p = int(draw.integers(n))
        up[p] = down[p] = 2.0
        q = Question(p, 1, down, up, draw.integers(1, 9, n).astype(float))
        assert_best(M.toarray(), q, nearby_move(near, q, n), least(M.toarray(), q))


@pytest.mark.parametrize("times", [1e-6, 1.0, 1e9])
def test_a_move_in_the_units_of_the_table(times: float):
    """A rectangle of the 2 × 2 table; the third cell has slack for 7 only."""
    n, relations = cross([flat(2), flat(2)])
    a = np.array([40.0, 22, 18, 20, 11, 9, 20, 11, 9])
    high = np.where(np.arange(n) == 8, 16.0, 1000.0)
    problem = scaled(made(n, relations, a, [(0, 4)], views=[(np.zeros(n), high)]), times)
    instance = Instance(problem)
    instance.may_open[[0, 1, 2, 3, 6]] = False
    cheapest = Cheapest(instance)
    made_move = cheapest.move(4, 1, 7.0 * times, instance.slack(0), np.ones(n))
    assert made_move is not None
    cells, d = made_move
    order = np.argsort(cells)
    assert cells[order].tolist() == [4, 5, 7, 8]
    assert d[order] == pytest.approx(np.array([7.0, -7, -7, 7]) * times, rel=1e-9)
    assert cheapest.move(4, 1, 7.001 * times, instance.slack(0), np.ones(n)) is None
    assert cheapest.move(0, 1, 1.0 * times, instance.slack(0), np.ones(n)) is None  # must be published
    shut = np.where(np.arange(n) == 5, inf, 1.0)
    assert cheapest.move(4, 1, 1.0 * times, instance.slack(0), shut) is None
