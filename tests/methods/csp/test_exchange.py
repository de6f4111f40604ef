"""Patterns from the side of what is published: valid at every step, and no group of cells is torn apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from sdcdsl.accelerate.csp import exchange_loops as steps
from sdcdsl.accelerate.csp.exchange import Exchange
from sdcdsl.accelerate.csp.heuristics import ByMoves
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from tests.attack.tables import cross, flat
from tests.methods.oracle import Oracle
from tests.methods.tiny_tables import made, tiny_table

SEEDS = [0, 3, 6, 9, 12, 14, 25]


@pytest.fixture(autouse=True)
def whatever_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exchange, "fits", staticmethod(lambda instance, sides, N: N is not None and len(sides) > 0))


def by_moves(problem) -> ByMoves:
    instance = Instance(problem)
    return ByMoves(instance, instance.w, Deadline(), lambda progress: None, 1)


def cube(seed: int):
    """Four dimensions of two cells and their total: 81 cells, 16 directions."""
    draw = np.random.default_rng(seed)
    n, relations = cross([flat(2)] * 4)
    N = null_space(matrix(n, relations))
    a = N @ np.linalg.lstsq(N, np.full(n, 50.0), rcond=None)[0]
    for _ in range(200):  # positive, and different from cell to cell
        b = a + N @ draw.normal(0, 2, N.shape[1])
        a = b if b.min() > 1 else a
    cells = draw.choice(n, 6, replace=False)
    levels = np.stack([0.1 * a[cells], 0.1 * a[cells], np.zeros(6)])
    return made(n, relations, a, [(0, int(p)) for p in cells], w=np.round(a, 3), levels=levels)


def matrix(n: int, relations) -> np.ndarray:
    M = np.zeros((len(relations), n))
    for row, relation in enumerate(relations):
        for s, cell in relation:
            M[row, cell] += s
    return M


def null_space(M: np.ndarray) -> np.ndarray:
    _, s, v = np.linalg.svd(M)
    return v[np.count_nonzero(s > 1e-9) :].T


@pytest.mark.parametrize("seed", SEEDS)
def test_every_pattern_of_an_exchange_is_valid(seed: int):
    problem = tiny_table(seed)
    oracle, finder = Oracle(problem), by_moves(problem)
    found, best = finder.first(), oracle.cheapest()
    assert found is not None and best is not None
    if finder.search is None or finder._state is None:
        return
    before = finder._state.cost
    for kicks in (0, 5, 20):
        state = finder.search.exchanged(finder._state, kicks)
        hidden, cost = finder._found(state)
        assert oracle.valid(hidden)
        assert best * (1 - 1e-9) <= cost
        assert state.cost <= before
        before, finder._state = state.cost, state


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_wins_where_cells_hang_together(seed: int):
    """Beside what one pass of cheapest moves finds, and attacked by plain linear programs."""
    problem = cube(seed)
    finder = by_moves(problem)
    assert finder.first() is not None
    search, first = finder.search, finder._state
    assert search is not None and first is not None
    state = search.exchanged(first, 40)
    assert state.cost < first.cost
    assert short_of(problem, search.hidden(state)) == []


def short_of(problem, hidden: np.ndarray) -> list[int]:
    one = Instance(problem)
    LB, UB = one.slack(0)
    bounds = [(-low, up) if h else (0, 0) for low, up, h in zip(LB, UB, hidden, strict=True)]
    out = []
    for s in range(len(one.requirements)):
        c = np.zeros(one.n)
        c[one.requirements.cell[s]] = -one.requirements.sign[s]
        made = linprog(c, A_eq=one.M, b_eq=np.zeros(one.m), bounds=bounds)
        if made.status == 0 and -made.fun < one.requirements.need[s] * (1 - 1e-6):
            out.append(s)
    return out


@pytest.mark.parametrize("seed", range(5))
def test_a_group_holds_all_cells_that_move_in_proportion(seed: int):
    """The heaviest one, against comparing all pairs of cells."""
    draw = np.random.default_rng(seed)
    F = draw.integers(-2, 3, (3, 40)).astype(float)
    u, weight = draw.integers(-1, 2, 40).astype(float), draw.integers(1, 20, 40).astype(float)
    barred = draw.random(40) < 0.1
    s, q = draw.normal(size=3) @ F, draw.normal(size=3) @ F
    total, won, j = steps.heaviest_group.plain(u, s, q, weight, barred, np.zeros(40), np.zeros(40, dtype=np.int64))
    whole = np.vstack([F, u])
    moving = np.flatnonzero(F.any(axis=0))
    best = 0.0
    for i in moving:
        group = [k for k in moving if np.linalg.matrix_rank(whole[:, [i, k]]) == 1]
        if not barred[group].any():
            best = max(best, weight[group].sum())
    assert total == weight[whole.any(axis=0)].sum()
    assert won == best
    assert j >= 0 and not barred[j]


@pytest.mark.parametrize("seed", range(8))
def test_a_cell_reaches_what_a_linear_program_says(seed: int):
    draw = np.random.default_rng(seed)
    F = draw.integers(-2, 3, (4, 30)).astype(float)
    LB, UB = draw.integers(0, 9, 30).astype(float), draw.integers(0, 9, 30).astype(float)
    p = int(np.flatnonzero(F.any(axis=0))[0])
    rows, most = np.vstack([F.T, -F.T]), np.concatenate([UB, LB])
    far = -linprog(-F[:, p], A_ub=rows, b_ub=most, bounds=(None, None)).fun
    for share in (0.5, 0.99, 1.01):
        if far > 1e-6:
            found, d = steps.reach.plain(F, p, 1.0, share * far, LB, UB, 200)
            assert found == (share < 1)
            assert (d <= UB + 1e-9).all() and (d >= -LB - 1e-9).all()
            assert np.linalg.matrix_rank(np.vstack([F, d]), tol=1e-6) == np.linalg.matrix_rank(F)


def test_rounding_errors_are_no_witness():
    """A witness whose only direction is published is gone, however far its dust could be stretched."""
    finder = by_moves(cube(1))
    finder.first()
    search, state = finder.search, finder._state
    assert search is not None and state is not None and search._exchange is not None
    one = search._exchange
    here = one._opened(search.hidden(state)[one.cells], [search.pool.ways[m] for m in state.moves])
    one._shrink(here, Deadline())
    one._swaps(here, Deadline())
    assert np.abs(here.witnesses).max(axis=1).min() > 1e-3
    assert one._holds(here)
