"""Attacks in few dimensions: a simplex dictionary over the null space of the relations.

All tables the attacker cannot rule out are a + d with d = N t and l ≤ d ≤ u (`elimination`). Cells with proportional
rows of N move together; they form *classes*, and a class has the tightest bounds of its cells. The dictionary answers
"how far" for classes. At the furthest point of class r it says

    x_r = Σ T_rj x_j,    every x_j at the end that its sign asks for,

an identity that holds for all tables. In terms of cells (for each class the cell whose bound is the tight one) it is
d_p = Σ c_j d_j, and the multipliers γ of the relations that make it up are found by one sparse solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from sdcdsl.attack.dictionary import CLOSED, RAY, TIRED, Dictionary
from sdcdsl.attack.elimination import Echelon, Matrix, null_space
from sdcdsl.attack.engine import Bounds, Identity

NOTHING = 1e-12  # moves below this share of a cell's room are rounding errors


class Classes:
    """Cells that move together: cell i moves by `factor[i]` times its class `of[i]`; -1 for a cell that cannot move."""

    def __init__(self, basis: np.ndarray):
        n, k = basis.shape
        nonzero = basis != 0
        rows = np.flatnonzero(nonzero.any(axis=1))
        first = nonzero.argmax(axis=1) if k else np.zeros(n, dtype=np.int64)
        self.factor = np.zeros(n)
        self.factor[rows] = basis[rows, first[rows]]
        unit = basis[rows] / self.factor[rows, None] + 0.0  # no negative zeros
        # Rows are compared exactly, but sorted by a random sum: a lexicographic sort of all columns is slow.
        key = unit @ np.random.default_rng(0).random(k)
        order = np.lexsort((rows, key))
        fresh = np.ones(len(rows), dtype=bool)
        fresh[1:] = (np.abs(unit[order[1:]] - unit[order[:-1]]) > 1e-12).any(axis=1)
        self.of = np.full(n, -1, dtype=np.int64)
        self.of[rows[order]] = np.cumsum(fresh) - 1
        self.rows = unit[order[fresh]]
        self.members = np.flatnonzero(self.of >= 0)

    def ends(self, l: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of every moving cell as bounds of its class."""
        f = self.factor[self.members]
        low, high = l[self.members], u[self.members]
        return np.where(f > 0, low, high) / f, np.where(f > 0, high, low) / f

    def bounds(self, l: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The tightest bounds of each class."""
        low, high = self.ends(l, u)
        lo, hi = np.full(len(self.rows), -np.inf), np.full(len(self.rows), np.inf)
        np.maximum.at(lo, self.of[self.members], low)
        np.minimum.at(hi, self.of[self.members], high)
        return lo, hi


@dataclass(frozen=True, eq=False)
class Price:
    """x of the cell's class = Σ coefficient · x of `rows`, in the box l ≤ d ≤ u: why it goes no further."""

    cell: int
    sign: int
    rows: np.ndarray
    coefficient: np.ndarray
    l: np.ndarray
    u: np.ndarray


@dataclass(frozen=True, eq=False)
class Push:
    reached: float
    cells: np.ndarray
    move: np.ndarray
    closed: bool
    engine: DenseEngine
    price: Price | None = None

    def multipliers(self) -> Identity | None:
        return self.engine.multipliers(self.price) if self.price is not None else None


class DenseEngine:
    def __init__(self, matrix: Matrix, made: Echelon, l: np.ndarray, u: np.ndarray):
        self.matrix, self.echelon, self.l, self.u = matrix, made, l, u
        self.basis = null_space(matrix, made)
        self._size = np.abs(self.basis)
        self.classes = Classes(self.basis)
        self.lo, self.hi = self.classes.bounds(l, u)
        self.book = Dictionary(self.classes.rows, self.lo, self.hi)

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> Push:
        target = int(self.classes.of[cell])
        l, u = self.l, self.u
        if bounds is not None:
            l, u = l.copy(), u.copy()
            l[bounds[0]], u[bounds[0]] = bounds[1], bounds[2]
        if target < 0:
            return Push(0.0, *_nothing(), True, self, Price(cell, sign, *_nothing(), l, u))
        lo, hi = self.book.lo, self.book.hi
        if bounds is not None:
            lo, hi = self.book.box(*self.classes.bounds(l, u))
            self.book.home()
        factor = self.classes.factor[cell]
        way = sign if factor > 0 else -sign
        unit = abs(factor) * self.book.room[target]  # of the cell, in one unit of the row
        ended, ray = self.book.push(target, float(way), need / unit, lo, hi)
        if ended == TIRED:
            raise RuntimeError("the dictionary found no end")
        if ended == RAY:
            ray /= abs(ray[target]) * unit
            return Push(inf, *self._cells(ray), True, self)
        cells, move = self._cells(self.book.x)
        reached = max(way * self.book.x[target] * unit, 0.0)
        price = None
        end = (hi[target] if way > 0 else -lo[target]) * unit
        if ended == CLOSED:
            price = Price(cell, sign, *self.book.price(target), l, u)
        elif reached >= end * (1 - 1e-12):
            price = Price(cell, sign, np.array([target]), np.ones(1), l, u)
        if bounds is not None:
            self.book.home()
        return Push(reached, cells, move, price is not None, self, price)

    def joint(self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Maximises Σ share of its need that each cell gets, none more than all of it."""
        target = self.classes.of[cells]
        moving = target >= 0
        if not moving.any():
            return None
        target, factor = target[moving], self.classes.factor[cells[moving]]
        way = np.where(factor > 0, signs[moving], -signs[moving])
        share = needs[moving] / (np.abs(factor) * self.book.room[target])
        lo, hi = self.book.lo.copy(), self.book.hi.copy()
        np.minimum.at(hi, target[way > 0], share[way > 0])
        np.maximum.at(lo, target[way < 0], -share[way < 0])
        self.book.home()
        self.book.aim(target, way / share)
        self.book.push(len(lo) - 1, 1.0, inf, lo, hi)
        return self._cells(self.book.x)

    def multipliers(self, price: Price) -> Identity:
        """γ with sign · e_cell - Mᵀγ = the coefficients: solved on a basis of the relations, exact up to rounding."""
        wanted = np.zeros(self.matrix.columns)
        if len(price.rows):
            cells, coefficient = self._identity(price)
            np.subtract.at(wanted, cells, coefficient)
        wanted[price.cell] += price.sign
        gamma = self.echelon.multipliers(wanted)
        used = np.flatnonzero(np.abs(gamma) > 1e-12)
        return self.echelon.row[used], gamma[used]

    def polished(self, cells: np.ndarray, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The move as a combination of the null space, without rounding errors in cells that do not move."""
        dense = np.zeros(self.matrix.columns)
        dense[cells] = move
        t = dense[self.echelon.free]
        out = self.basis @ t
        moved = np.flatnonzero(np.abs(out) > 1e-13 * (self._size @ np.abs(t)))
        return moved, out[moved]

    def _cells(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """From rows of the dictionary to moves of cells."""
        x = np.where(np.abs(x) > NOTHING, x, 0.0)
        members, of = self.classes.members, self.classes.of
        move = x[of[members]] * self.book.room[of[members]] * self.classes.factor[members]
        used = move != 0
        return members[used], move[used]

    def _identity(self, price: Price) -> tuple[np.ndarray, np.ndarray]:
        """The price in terms of cells: each class by the cell that binds it at the end in question."""
        factor = price.sign * self.classes.factor[price.cell]
        members, of = self.classes.members, self.classes.of
        low, high = self.classes.ends(price.l, price.u)
        up = np.full(len(self.classes.rows), -1)
        down = up.copy()
        # Sorted from loose to tight, the last one written is the tightest.
        order = np.argsort(-high, kind="stable")
        up[of[members[order]]] = members[order]
        order = np.argsort(low, kind="stable")
        down[of[members[order]]] = members[order]
        chosen = np.where(factor * price.coefficient > 0, up[price.rows], down[price.rows])
        return chosen, factor * price.coefficient / self.classes.factor[chosen]


def _nothing() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(0, dtype=np.int64), np.zeros(0)
