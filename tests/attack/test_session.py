"""Sessions against exact arithmetic: the ends of every cell, the tables that reach them, the proofs of both."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from sdcdsl.attack import CellRange, Session
from tests.attack.oracle import INF, System, simplex_range
from tests.attack.tables import World, cross, flat, known_table, systems

ENGINES = ["dense", "network", "highs", None]
CLOSE = 1e-9


def session(system: System, engine: str | None = None) -> Session:
    return Session(
        system.a, system.coefficient, system.cell_of, system.equation_of, system.low, system.high, engine=engine
    )


def close(mine: float, exact, scale: float) -> bool:
    return mine == exact if math.isinf(exact) else abs(mine - float(exact)) <= CLOSE * scale


def scale_of(system: System) -> float:
    """What 1e-9 is relative to: the largest finite number around."""
    sizes = [np.abs(x[np.isfinite(x)]) for x in (system.a, system.low, system.high)]
    return float(max(1.0, *(s.max(initial=0.0) for s in sizes)))


def moved(direction, n: int) -> np.ndarray:
    out = np.zeros(n)
    out[direction.cells] = direction.move
    return out


def check_direction(system: System, direction, cell: int, end: float, sign: int) -> None:
    """a + move is a table that reaches the end; for an infinite end every multiple of the move is one."""
    move = moved(direction, system.n)
    scale = scale_of(system)
    m = int(max(system.equation_of, default=-1)) + 1
    left = np.bincount(system.equation_of, weights=system.coefficient * move[system.cell_of], minlength=m)
    assert np.abs(left).max(initial=0.0) <= CLOSE * max(1.0, np.abs(move).max(initial=0.0)), "it does not add up"
    if math.isinf(end):
        assert move[cell] * sign > 0, "the ray does not move the cell"
        assert (move[np.isfinite(system.low)] >= -CLOSE * np.abs(move).max()).all()
        assert (move[np.isfinite(system.high)] <= CLOSE * np.abs(move).max()).all()
        return
    y = system.a + move
    assert (y >= system.low - CLOSE * scale).all() and (y <= system.high + CLOSE * scale).all(), "outside the box"
    assert abs(y[cell] - end) <= CLOSE * scale, "it does not reach the end"


def check_proof(system: System, proof, cell: int, end: float, sign: int) -> None:
    """sign · x_p = c · x with c = sign · e_p - Mᵀγ, and c · x is nowhere in the box larger than what is claimed."""
    c = np.zeros(system.n)
    c[cell] = sign
    m = int(max(system.equation_of, default=-1)) + 1
    gamma = np.zeros(m)
    gamma[proof.equations] = proof.gamma
    c -= np.bincount(system.cell_of, weights=system.coefficient * gamma[system.equation_of], minlength=system.n)
    c[np.abs(c) <= CLOSE] = 0.0  # what rounding leaves must not meet an infinite end
    slack = np.where(c > 0, system.high - system.a, system.a - system.low)
    most = float((np.abs(c[c != 0]) * slack[c != 0]).sum())
    scale = scale_of(system)
    assert abs(proof.amount - sign * (end - system.a[cell])) <= CLOSE * scale, "it claims another end"
    assert most <= proof.amount + CLOSE * scale, (most, proof.amount)


def able(system: System, engine: str | None) -> list[CellRange] | None:
    """The answers of an engine; None if it says that it is not made for such relations, which two of them may."""
    made = session(system, engine)
    try:
        return [made.range(cell) for cell in range(system.n)]
    except ValueError:
        assert engine in ("dense", "network")
        return None


def check(system: System) -> None:
    """Every engine that can work on the system, against one exact computation."""
    exact = [simplex_range(system, cell) for cell in range(system.n)]
    scale = scale_of(system)
    for engine in ENGINES:
        for cell, r in enumerate(able(system, engine) or []):
            low, high = exact[cell]
            said = (engine, cell, r.low, r.high, low, high)
            assert close(r.low, low, scale) and close(r.high, high, scale), said
            check_direction(system, r.down, cell, r.low, -1)
            check_direction(system, r.up, cell, r.high, 1)
            for proof, end, sign in ((r.lower_bound, r.low, -1), (r.upper_bound, r.high, 1)):
                if proof is not None:
                    check_proof(system, proof, cell, end, sign)
                else:  # nothing to prove: no end, or a cell that cannot move at all
                    assert math.isinf(end) or low == high, (*said, "no proof")


def test_the_table_everybody_knows():
    r = session(known_table()).range(4 * 2 + 3)
    assert (r.low, r.high) == (5.0, 30.0)


@pytest.mark.long
@given(system=systems())
@settings(max_examples=150, deadline=None)
def test_ranges_are_exact(system):
    check(system)


@pytest.mark.long
@given(system=systems(kinds=["whole", "sparse"], moods=["suppression", "wide open", "all hidden"]))
@settings(max_examples=100, deadline=None)
def test_ranges_of_suppressed_tables(system):
    check(system)


@given(system=systems())
@settings(max_examples=50, deadline=None)
def test_questions_do_not_disturb_each_other(system):
    """The same answer whatever was asked before, in any order."""
    used = session(system)
    forward = [used.range(cell) for cell in range(system.n)]
    again = [used.range(cell) for cell in reversed(range(system.n))][::-1]
    scale = scale_of(system)
    for cell, (one, two) in enumerate(zip(forward, again, strict=True)):
        fresh = session(system).range(cell)
        for other in (two, fresh):
            assert close(one.low, other.low, scale) and close(one.high, other.high, scale)


def test_degenerate_systems():
    nothing = World(3, [], np.array([1.0, 2.0, 3.0]), "whole")
    r = session(nothing.system(np.array([1.0, 0.0, -INF]), np.array([1.0, INF, 5.0])))
    assert [(r.range(i).low, r.range(i).high) for i in range(3)] == [(1.0, 1.0), (0.0, INF), (-INF, 5.0)]
    n, made = cross([flat(2), flat(2)])
    a = np.array([10.0, 4, 6, 7, 3, 4, 3, 1, 2])
    table = World(n, made, a, "whole")
    shown = session(table.system(a, a))
    assert all((shown.range(i).low, shown.range(i).high) == (a[i], a[i]) for i in range(n))
    lone = np.arange(n) == 4
    alone = session(table.system(np.where(lone, 0, a), np.where(lone, INF, a)))
    assert (alone.range(4).low, alone.range(4).high) == (3.0, 3.0)
