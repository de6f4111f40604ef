"""How far an attacker can drive a cell, in exact rational arithmetic, two ways that share only Gauss' elimination.

The tables an attacker takes for possible are a + x with M x = 0 and low - a ≤ x ≤ high - a. Floating-point numbers are
rationals, so nothing is rounded anywhere. Only for small systems: some twenty cells.

* `simplex_range`: a bounded primal simplex by Bland's rule, which starts at x = 0 and cannot cycle.
* `eliminated_range`: Fourier-Motzkin elimination of everything but the cell, for a handful of free directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

INF = math.inf
Number = Fraction | float  # an infinite end is a float, everything else is exact
TOLERANCE = Fraction(1, 10**9)
Inequality = tuple[tuple[Fraction, ...], frozenset[int]]  # coefficients and right-hand side; what it was made of


@dataclass(frozen=True, eq=False)
class System:
    """Relations in coordinate form, the true table, and the box that one attacker sees."""

    a: np.ndarray
    coefficient: np.ndarray
    cell_of: np.ndarray
    equation_of: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def n(self) -> int:
        return len(self.a)

    @cached_property
    def open(self) -> list[int]:
        return [i for i in range(self.n) if self.low[i] < self.high[i]]

    @cached_property
    def down(self) -> list[Number]:
        """How far each cell can go down at most, as a number ≤ 0."""
        return [-INF if math.isinf(v) else Fraction(v) - Fraction(t) for v, t in _pairs(self.low, self.a)]

    @cached_property
    def up(self) -> list[Number]:
        return [INF if math.isinf(v) else Fraction(v) - Fraction(t) for v, t in _pairs(self.high, self.a)]

    @cached_property
    def rows(self) -> list[list[Fraction]]:
        """The relations over the open cells."""
        position = {cell: j for j, cell in enumerate(self.open)}
        rows = [[Fraction(0)] * len(position) for _ in range(int(max(self.equation_of, default=-1)) + 1)]
        for c, cell, equation in zip(self.coefficient, self.cell_of, self.equation_of, strict=True):
            if int(cell) in position:
                rows[int(equation)][position[int(cell)]] += Fraction(float(c))
        return rows

    @cached_property
    def echelon(self) -> tuple[list[list[Fraction]], list[int]]:
        return reduced(self.rows)

    @property
    def freedom(self) -> int:
        """The number of directions in which tables can differ, bounds aside."""
        return len(self.open) - len(self.echelon[1])

    def seen(self, low: np.ndarray, high: np.ndarray) -> System:
        return System(self.a, self.coefficient, self.cell_of, self.equation_of, low, high)

    @property
    def b(self) -> np.ndarray:
        """The right-hand side that makes the true table fulfil the relations."""
        m = int(max(self.equation_of, default=-1)) + 1
        return np.bincount(self.equation_of, weights=self.coefficient * self.a[self.cell_of], minlength=m)


def _pairs(ends: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
    return [(float(e), float(v)) for e, v in zip(ends, values, strict=True)]


def reduced(rows: list[list[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """Reduced row echelon form without zero rows, and the column of each pivot."""
    left, done, pivots = [row[:] for row in rows], [], []
    for column in range(len(rows[0]) if rows else 0):
        at = next((i for i, row in enumerate(left) if row[column]), None)
        if at is None:
            continue
        pivot = left.pop(at)
        pivot = [v / pivot[column] for v in pivot]
        left = [_minus(row, row[column], pivot) for row in left]
        done = [_minus(row, row[column], pivot) for row in done]
        done.append(pivot)
        pivots.append(column)
    return done, pivots


def _minus(row: list[Fraction], times: Fraction, other: list[Fraction]) -> list[Fraction]:
    return [v - times * o if o else v for v, o in zip(row, other, strict=True)] if times else row


# ---- simplex ---------------------------------------------------------------------------------------------------


def simplex_range(system: System, cell: int) -> tuple[Number, Number]:
    """The smallest and largest value of a cell over all tables of the system."""
    if cell not in system.open:
        return Fraction(float(system.a[cell])), Fraction(float(system.a[cell]))
    value = Fraction(float(system.a[cell]))
    return value - _furthest(system, cell, -1), value + _furthest(system, cell, 1)


def _furthest(system: System, cell: int, sign: int) -> Number:
    """max sign · x_cell. Each x_j is split into parts up and down, both from zero to their slack."""
    rows, pivots = system.echelon
    parts = [(j, s) for j, c in enumerate(system.open) for s in (1, -1) if (system.up[c] if s > 0 else -system.down[c])]
    slack = [system.up[system.open[j]] if s > 0 else -system.down[system.open[j]] for j, s in parts]
    basis = [next(k for k, (j, _) in enumerate(parts) if j == pivot) for pivot in pivots]
    tableau = [[row[j] * s * parts[b][1] for j, s in parts] for row, b in zip(rows, basis, strict=True)]
    value = [Fraction(0)] * len(basis)
    full = [False] * len(parts)  # parts outside the basis that stand at their slack instead of at zero
    gain = [Fraction(sign * s if system.open[j] == cell else 0) for j, s in parts]
    for row, b in zip(tableau, basis, strict=True):
        gain = _minus(gain, gain[b], row)
    total = Fraction(0)
    while True:
        inside = set(basis)
        enter = next((k for k, g in enumerate(gain) if k not in inside and (g < 0 if full[k] else g > 0)), None)
        if enter is None:
            return total
        way = -1 if full[enter] else 1
        step, leaving = slack[enter], -1
        for i, row in enumerate(tableau):
            rate = -way * row[enter]  # by how much the part in the basis moves
            if not rate:
                continue
            limit = value[i] / -rate if rate < 0 else (slack[basis[i]] - value[i]) / rate
            if limit < step or (limit == step and basis[i] < (basis[leaving] if leaving >= 0 else enter)):
                step, leaving = limit, i
        if step == INF:
            return INF
        assert isinstance(step, Fraction)
        total += way * step * gain[enter]
        value = [v - way * step * row[enter] for v, row in zip(value, tableau, strict=True)]
        if leaving < 0:
            full[enter] = not full[enter]
            continue
        gone = basis[leaving]
        full[gone] = value[leaving] != 0  # it left at its slack, or at zero
        value[leaving] = way * step + (Fraction(slack[enter]) if full[enter] else 0)
        full[enter] = False
        pivot = [v / tableau[leaving][enter] for v in tableau[leaving]]
        tableau = [pivot if i == leaving else _minus(row, row[enter], pivot) for i, row in enumerate(tableau)]
        gain = _minus(gain, gain[enter], pivot)
        basis[leaving] = enter


# ---- elimination -------------------------------------------------------------------------------------------------


def eliminated_range(system: System, cell: int) -> tuple[Number, Number]:
    """The same by Fourier and Motzkin; Chernikov's rule drops most of the redundant inequalities on the way."""
    value = Fraction(float(system.a[cell]))
    if cell not in system.open:
        return value, value
    kernel = _kernel(system)
    own = kernel[system.open.index(cell)]
    if not any(own):
        return value, value
    # Measure along the cell itself: t_q = (z - Σ other own_j t_j) / own_q puts z in the place of t_q.
    q = next(j for j, v in enumerate(own) if v)
    todo: set[Inequality] = set()
    for i, row in enumerate(kernel):
        inner = [row[q] / own[q] if j == q else v - row[q] / own[q] * own[j] for j, v in enumerate(row)]
        for s, slack in ((1, system.up[system.open[i]]), (-1, system.down[system.open[i]])):
            if isinstance(slack, Fraction):
                todo.add(((*(s * v for v in inner), s * slack), frozenset([2 * i + (s > 0)])))
    for gone, j in enumerate([j for j in range(len(own)) if j != q], 1):
        todo = _without(todo, j, gone + 1)
    low: Number = -INF
    high: Number = INF
    for row, _ in todo:
        if row[q] > 0:
            high = min(high, row[-1] / row[q])
        elif row[q] < 0:
            low = max(low, row[-1] / row[q])
    return value + low, value + high


def _kernel(system: System) -> list[list[Fraction]]:
    """Open cells by free directions: x = K t fulfils all relations."""
    rows, pivots = system.echelon
    free = [j for j in range(len(system.open)) if j not in pivots]
    out = [[Fraction(int(j == f)) for f in free] for j in range(len(system.open))]
    for row, pivot in zip(rows, pivots, strict=True):
        out[pivot] = [-row[f] for f in free]
    return out


def _without(rows: set[Inequality], j: int, most: int) -> set[Inequality]:
    """Inequalities that follow for the other variables; none needs more than `most` of the first ones.

    The same inequality stays under every combination that gave it: dropping one would make Chernikov's rule wrong.
    """
    out = {(row, made) for row, made in rows if not row[j]}
    upper, lower = [r for r in rows if r[0][j] > 0], [r for r in rows if r[0][j] < 0]
    for above, made_above in upper:
        for below, made_below in lower:
            made = made_above | made_below
            if len(made) <= most:
                row = [u / above[j] - v / below[j] for u, v in zip(above, below, strict=True)]
                scale = next((abs(v) for v in row[:-1] if v), None)
                if scale is not None:
                    out.add((tuple(v / scale for v in row), made))
    return out


# ---- verdicts ------------------------------------------------------------------------------------------------------


def protected(ends: tuple[Number, Number], a: float, lpl: float, upl: float, spl: float) -> bool:
    """Whether an attacker with this interval stays as uncertain as asked, within 1e-9 of each level."""
    low, high = ends
    below, above = Fraction(a) - low, high - Fraction(a)
    levels = [Fraction(level) * (1 - TOLERANCE) for level in (lpl, upl, spl)]
    # A level of nothing asks for nothing, also where the last digit of a sum lies on the wrong side of a printed end.
    return all(not level or slack >= level for slack, level in zip((below, above, below + above), levels, strict=True))


def whole(ends: tuple[Number, Number]) -> tuple[Number, Number]:
    """The ends for someone who knows that the figures are whole numbers."""
    low, high = ends
    return low if low == -INF else Fraction(math.ceil(low)), high if high == INF else Fraction(math.floor(high))
