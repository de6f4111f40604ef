"""All levels at once: the optimum of a linear program, moves that are moves, identities that hold for every move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sdcdsl.accelerate.cutting import requirements as demands
from sdcdsl.accelerate.cutting.joint_model import Identities, JointModel, solve_joint_model
from sdcdsl.accelerate.ip import benders
from sdcdsl.numerics.sparse_null_space import sparse_null_space
from tests.attack.planes import System, table, tree
from tests.attack.tables import TREES, flat
from tests.methods.ip.test_method import assert_protected, solved
from tests.methods.ip.test_method import table as problem_of
from tests.methods.oracle import Oracle

SHAPES = {"2 × 2 × 2": (tree(2), tree(2), tree(2)), "with a hierarchy": (tree(2, 2), tree(2), tree(3))}


def relations(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Independent ones, and a basis of what they allow."""
    M = system.dense
    kept: list[np.ndarray] = []
    for row in M:
        if np.linalg.matrix_rank(np.array([*kept, row])) > len(kept):
            kept.append(row)
    N = sparse_null_space(csr_array(M))
    assert N is not None
    assert np.abs(M @ N.toarray()).max() == 0
    return np.array(kept), N.toarray()


def random_question(shape: str, seed: int, split: bool) -> tuple[JointModel, np.ndarray]:
    """Some sides of a table; costs, slacks and ends of z at random, the latter hardly ever in the way."""
    draw = np.random.default_rng(seed)
    M, N = relations(table(*SHAPES[shape]))
    n, sides = M.shape[1], 4
    cell = draw.choice(n, sides, replace=False)
    column = np.stack([np.arange(n), np.arange(n) + (n if split else 0)])
    columns = 2 * n if split else n
    least = np.zeros(columns)
    least[draw.choice(columns, 3, replace=False)] = 0.3
    most = np.where(draw.random(columns) < 0.5, np.inf, draw.uniform(3, 6, columns))
    slack = draw.uniform(0.5, 2.0, (2, sides, n))
    asked = JointModel(
        N, cell, draw.choice([-1, 1], sides), slack, column, np.exp(draw.normal(0, 2, columns)), least, most
    )
    return asked, M


def by_linprog(asked: JointModel) -> float:
    """The same with a general solver: columns y of all sides, then z."""
    sides, (n, dim), columns = len(asked.cell), asked.N.shape, len(asked.price)
    width = sides * dim + columns
    A, b = [], []
    for k in range(sides):
        for way, turn in enumerate((-1.0, 1.0)):
            rows = np.zeros((n, width))
            rows[:, k * dim : (k + 1) * dim] = turn * asked.N
            rows[np.arange(n), sides * dim + asked.column[way]] = -asked.slack[way, k]
            A.append(rows)
            b += [0.0] * n
        level = np.zeros((1, width))
        level[0, k * dim : (k + 1) * dim] = -asked.sign[k] * asked.N[asked.cell[k]]
        A.append(level)
        b.append(-1.0)
    free = [(None, None)] * (sides * dim)
    made = linprog(
        np.concatenate([np.zeros(sides * dim), asked.price]),
        A_ub=np.concatenate(A),
        b_ub=b,
        bounds=free + list(zip(asked.least, asked.most, strict=True)),
    )
    assert made.status == 0
    return float(made.fun)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_optimum(shape: str, split: bool, seed: int):
    asked, M = random_question(shape, seed, split)
    best = by_linprog(asked)
    made = solve_joint_model(asked, lambda: False, 1e-8, lambda _: None)
    assert made is not None
    assert made.cost == pytest.approx(best, rel=1e-6)
    assert made.bound == pytest.approx(best, rel=1e-6)
    assert np.abs(made.moves @ M.T).max() < 1e-12 * np.abs(made.moves).max()
    assert asked.sign * made.moves[np.arange(4), asked.cell] == pytest.approx(1.0, rel=1e-12)
    for way, turned in enumerate((-made.moves, made.moves)):
        assert (turned <= asked.slack[way] * made.z[asked.column[way]] * (1 + 1e-12)).all()
    assert (made.z >= asked.least).all() and (made.z <= asked.most * (1 + 1e-12)).all()


@pytest.mark.parametrize("seed", range(3))
def test_multipliers_become_identities_that_prove_as_much(seed: int):
    """Each holds for every move of the table, and together they are worth the optimum."""
    asked, M = random_question("with a hierarchy", seed, split=True)
    made = solve_joint_model(asked, lambda: False, 1e-8, lambda _: None)
    assert made is not None
    identities, moves = Identities(csr_array(M), asked.N), null_space(M)
    load, worth = np.zeros(len(asked.price)), 0.0
    for k in range(4):
        found = identities.near(int(asked.cell[k]), int(asked.sign[k]), made.balance[k])
        if found is None:
            continue
        cells, c, times = found
        dense = np.zeros(M.shape[1])
        dense[cells] = c
        dense[asked.cell[k]] -= asked.sign[k]
        assert np.abs(dense @ moves).max() < 1e-9
        dense[asked.cell[k]] += asked.sign[k]
        for way, part in enumerate((np.maximum(-dense, 0.0), np.maximum(dense, 0.0))):
            np.add.at(load, asked.column[way], times * part * asked.slack[way, k])
        worth += times
    # A cell that reaches its level needs as much width of its own: what is not a matter of other cells.
    own = asked.least.copy()
    for k in range(4):
        way = 1 if asked.sign[k] > 0 else 0
        at = asked.column[way, asked.cell[k]]
        own[at] = max(own[at], 1.0 / asked.slack[way, k, asked.cell[k]])
    left = asked.price - load
    ends = np.where(left >= 0, own, np.where(np.isfinite(asked.most), asked.most, 1e3))
    proved = worth + float((left * ends).sum())
    assert proved == pytest.approx(made.cost, rel=1e-4)
    assert proved <= made.cost * (1 + 1e-6)


def test_errors_in_multipliers_leave_identities_true():
    asked, M = random_question("with a hierarchy", 0, split=False)
    made = solve_joint_model(asked, lambda: False, 1e-8, lambda _: None)
    assert made is not None
    wrong = made.balance[0] * (1 + np.random.default_rng(1).normal(0, 1e-3, M.shape[1]))
    found = Identities(csr_array(M), asked.N).near(int(asked.cell[0]), int(asked.sign[0]), wrong)
    assert found is not None
    dense = np.zeros(M.shape[1])
    dense[found[0]] = found[1]
    dense[asked.cell[0]] -= asked.sign[0]
    assert np.abs(dense @ null_space(M)).max() < 1e-9


def test_time_that_is_up_gives_what_there_is():
    asked, _ = random_question("2 × 2 × 2", 0, split=False)
    left = iter([False] * 6 + [True] * 100)
    made = solve_joint_model(asked, lambda: next(left), 0.0, lambda _: None)
    assert solve_joint_model(asked, lambda: True, 0.0, lambda _: None) is None
    assert made is not None
    best = by_linprog(asked)
    assert made.bound <= best * (1 + 1e-6) and made.cost >= best * (1 - 1e-9)


@pytest.mark.parametrize(("lower", "upper"), [(0.2, 0.2), (0.05, 0.2)])
def test_intervals_are_as_good_as_the_first_model(lower: float, upper: float, monkeypatch):
    """Cutting planes are given up at once for it; symmetric and not."""
    problem = problem_of(3, [TREES[0], flat(3), flat(3)], 5, lower, upper)
    best = Oracle(problem).intervals()
    asked = []
    monkeypatch.setattr(benders, "TUNING", replace(benders.TUNING, step=1e30))
    monkeypatch.setattr(benders, "solve_joint_model", lambda *what: asked.append(what) or solve_joint_model(*what))
    result = solved(problem)
    assert asked, "all levels at once were not tried"
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=2e-6)
    assert result.bound is not None and best is not None and result.bound <= best * (1 + 1e-9)
    assert_protected(problem, result)


@pytest.mark.long
def test_where_slacks_are_narrow_symmetric_intervals_fit_into_them(monkeypatch):
    """As if all tables counted as symmetric: what fits only in wider slacks is not taken for valid."""
    monkeypatch.setattr(demands, "TUNING", replace(demands.TUNING, narrow=1.0))
    monkeypatch.setattr(benders, "TUNING", replace(benders.TUNING, step=1e30))
    narrowly = []
    mirror = benders.Benders._mirror_narrowly
    monkeypatch.setattr(
        benders.Benders, "_mirror_narrowly", lambda *what: narrowly.append(mirror(*what)) or bool(narrowly[-1])
    )
    for seed in range(4):
        problem = problem_of(seed, [flat(4), flat(3), flat(3)], 6, 0.6, 0.6)
        best = Oracle(problem).intervals()
        result = solved(problem)
        assert result.status == "optimal"
        assert result.objective == pytest.approx(best, rel=2e-6)
        assert_protected(problem, result)
    assert narrowly, "no table of these has slacks that are too narrow"
