from __future__ import annotations

import subprocess
import sys
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdcdsl.attack.flow_engine import FlowEngine, Push
from sdcdsl.numerics.flow.network import as_network
from tests.attack.planes import System, plane_tables, shuffled, table, tree

KINDS = ("whole", "decimal", "real")


def box(system: System, kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds around 0, some of them 0, some without end."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 40, (2, system.cells)).astype(float)
    if kind == "decimal":
        ends = np.round(ends + rng.integers(0, 100, ends.shape) / 100, 2)
    if kind == "real":
        ends = ends * rng.random(ends.shape)
    draw = rng.random(ends.shape)
    ends[draw < 0.15] = 0
    ends[draw > 1 - rng.choice([0.0, 0.2, 0.6])] = inf
    return -ends[0], ends[1]


def farthest(system: System, l: np.ndarray, u: np.ndarray, cell: int, sign: int) -> float:
    cost = np.zeros(system.cells)
    cost[cell] = -sign
    still, ends = np.zeros(system.equations), np.stack([l, u], 1)
    answer = linprog(cost, A_eq=system.dense, b_eq=still, bounds=ends, method="highs")
    if answer.status == 0:
        return -answer.fun
    assert answer.status in (2, 3, 4)  # unbounded, or the solver does not tell it from infeasible: 0 is feasible
    return inf


def is_right(system: System, l: np.ndarray, u: np.ndarray, push: Push, kind: str) -> None:
    """The move is a solution in the box, and a closed one comes with an identity that ends there."""
    d = np.zeros(system.cells)
    d[push.cells] = push.move
    assert np.all(np.diff(push.cells) > 0) and np.all(push.move != 0)
    assert np.abs(system.dense @ d).max(initial=0) <= (0 if kind != "decimal" else 1e-12)
    if push.reached == inf:
        assert d[push.cell] == push.sign
        assert np.all(np.isinf(u[d > 0])) and np.all(np.isinf(l[d < 0]))
        assert push.closed and push.cut is None
        return
    assert d[push.cell] == push.sign * push.reached
    assert np.all(l <= d) and np.all(d <= u)
    if kind == "whole":
        assert np.array_equal(d, np.rint(d))
    assert push.closed == (push.cut is not None)
    if push.cut is not None:
        cells, coefficient = push.cut
        bound = np.where(coefficient > 0, coefficient * u[cells], coefficient * l[cells]).sum()
        assert bound == push.reached if kind == "whole" else bound == pytest.approx(push.reached, abs=1e-9)
        equations, gamma = push.multipliers() or ((), ())
        row = np.zeros(system.cells)
        row[push.cell] = push.sign
        row -= np.array(gamma) @ system.dense[equations] if len(equations) else 0
        claimed = np.zeros(system.cells)
        claimed[cells] = coefficient
        assert np.array_equal(row, claimed)
        assert push.cell not in cells or not len(gamma)


def engine(system: System, l: np.ndarray, u: np.ndarray, fast: bool = False) -> FlowEngine:
    network = as_network(*system)
    assert network is not None
    return FlowEngine(network, l, u, fast=fast)


@settings(deadline=None, max_examples=200)
@given(plane_tables(), st.sampled_from(KINDS), st.integers(0, 2**32 - 1), st.booleans())
def test_as_far_as_a_linear_programme_goes(system, kind, seed, fast):
    if not system.cells:
        return
    system = shuffled(system, seed)
    l, u = box(system, kind, seed)
    made = engine(system, l, u, fast)
    for cell in np.random.default_rng(seed).permutation(system.cells)[:6].tolist():
        for sign in (1, -1):
            push = made.push(cell, sign)
            is_right(system, l, u, push, kind)
            assert push.closed
            most = farthest(system, l, u, cell, sign)
            assert push.reached == pytest.approx(most, abs=1e-7)
            need = (most if most < inf else 50.0) * 0.45
            early = made.push(cell, sign, need)
            is_right(system, l, u, early, kind)
            assert early.reached >= need * (1 - 1e-12)  # decimals are taken for what they are written as
            if kind == "whole":
                assert early.reached == np.ceil(need - 1e-9)


@settings(deadline=None, max_examples=100)
@given(plane_tables(), st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_bounds_for_one_question(system, kind, seed):
    if not system.cells:
        return
    rng = np.random.default_rng(seed)
    l, u = box(system, kind, seed)
    made = engine(system, l, u)
    cell, sign = int(rng.integers(system.cells)), int(rng.choice([-1, 1]))
    before = made.push(cell, sign)
    other = rng.permutation(system.cells)[: rng.integers(1, 4)]
    low, high = (end[other] for end in box(system, str(rng.choice(KINDS)), seed + 1))
    l2, u2 = l.copy(), u.copy()
    l2[other], u2[other] = low, high
    push = made.push(cell, sign, bounds=(other, low, high))
    is_right(system, l2, u2, push, "decimal")
    assert push.reached == pytest.approx(farthest(system, l2, u2, cell, sign), abs=1e-7)
    after = made.push(cell, sign)
    assert after.reached == before.reached and np.array_equal(after.move, before.move)


@settings(deadline=None, max_examples=60)
@given(plane_tables(), st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_compiled_and_plain_agree(system, kind, seed):
    l, u = box(system, kind, seed)
    plain, fast = engine(system, l, u, False), engine(system, l, u, True)
    for cell in range(min(system.cells, 8)):
        one, two = plain.push(cell, 1), fast.push(cell, 1)
        assert (one.reached, one.closed, one.toward) == (two.reached, two.closed, two.toward)
        assert np.array_equal(one.cells, two.cells) and np.array_equal(one.move, two.move)
        assert (one.side is None) == (two.side is None)
        if one.side is not None and two.side is not None:
            assert np.array_equal(one.side, two.side)


@pytest.mark.parametrize("fast", [False, True])
def test_many_paths(fast):
    """More paths than are sought one by one, in a table wide enough: the layered search gives the same."""
    system = table(tree(4, 5), tree(40))
    rng = np.random.default_rng(5)
    l, u = -rng.integers(0, 9, system.cells) * 1.0, rng.integers(0, 9, system.cells) * 1.0
    made = engine(system, l, u, fast)
    for cell in (0, 1, 41, 42, 300):
        free = (np.array([cell]), np.array([-inf]), np.array([inf]))
        low, high = l.copy(), u.copy()
        low[cell], high[cell] = -inf, inf
        for sign in (1, -1):
            push = made.push(cell, sign, bounds=free)
            is_right(system, low, high, push, "whole")
            assert push.reached == pytest.approx(farthest(system, low, high, cell, sign), abs=1e-6)


def test_large_whole_numbers_are_exact():
    system = table(tree(2), tree(2))
    top = 2.0**50 - 1
    made = engine(system, np.full(9, -top), np.full(9, top))
    push = made.push(4, 1)
    assert push.reached == top
    assert not system.times(push.cells, push.move).any()


def test_decimals_add_up_as_decimals():
    """0.1 + 0.2 is 0.3 here, so that a level just reached is reached."""
    system = System(np.array([-1.0, 1.0, 1.0]), np.array([0, 1, 2]), np.zeros(3, dtype=int), 3, 1)
    made = engine(system, np.array([-9, -0.1, -0.2]), np.array([9, 0.1, 0.2]))
    push = made.push(0, 1, 0.3)
    assert push.reached == 0.3 and not push.closed


def test_the_shortest_cycle_is_taken():
    system = table(tree(9), tree(9))
    made = engine(system, np.full(100, -5.0), np.full(100, 5.0))
    assert len(made.push(11, 1, 5).cells) == 4


def test_the_cells_own_bound_is_a_bound():
    system = table(tree(2), tree(2))
    made = engine(system, np.full(9, -5.0), np.where(np.arange(9) == 4, 2.0, 5.0))
    push = made.push(4, 1, 3)
    assert push.closed and push.reached == 2
    assert push.cut is not None and push.cut[0].tolist() == [4]


def test_a_box_without_the_true_table_is_refused():
    with pytest.raises(ValueError, match="true table"):
        engine(table(tree(2), tree(2)), np.ones(9), np.full(9, 2.0))


def test_the_compiler_is_not_loaded_for_small_tables():
    script = (
        "import sys, numpy as np\n"
        "from sdcdsl.attack.flow_engine import FlowEngine\n"
        "from sdcdsl.numerics.flow.network import as_network\n"
        "n = as_network(np.ones(2), np.arange(2), np.zeros(2, dtype=int), 2, 1)\n"
        "assert FlowEngine(n, -np.ones(2), np.ones(2)).push(0, 1).reached == 1\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
