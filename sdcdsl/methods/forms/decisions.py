"""What is decided about a release, as columns of a mixed-integer problem, and the slack that leaves around the truth.

Every form of publication of paper 003 tells attackers that y_i lies in a box around the true value a_i,

    a_i - down_i(u) ≤ y_i ≤ a_i + up_i(u)

and the box is a linear function of what is decided: widths of an interval (§4), multiples of a base (§5), deviations
(§6). A hidden cell (§3) has no box at all if x_i = 1, and none to speak of if x_i = 0. So one model serves them all:

    min c u    A u ≥ b,  l ≤ u ≤ h,  some u whole,    and a capacity cut for every identity  sign · D_p = Σ c_i D_i:
               Σ_i c_i⁺ min(UB_i, up_i(u)) + c_i⁻ min(LB_i, down_i(u)) ≥ level      (Figures 4, 7, 10, 13)

Columns are in units of the table here (`DecisionProblem` scales them); the slacks of cells that nobody speaks of are
zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.sparse import csr_array

Columns = np.ndarray  # numbers of columns
ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class DecisionProblem:
    """The decisions as arrays."""

    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    integer: np.ndarray
    unit: np.ndarray  # a typical size of each column
    A: csr_array  # rows: row_low ≤ A u ≤ row_high
    row_low: np.ndarray
    row_high: np.ndarray
    down: csr_array  # [cell, column]: slack below = down_0 + down u
    up: csr_array
    down_0: np.ndarray
    up_0: np.ndarray
    hide: np.ndarray  # int64 [cell]: the column that hides it, -1 for none
    offset: float  # of the objective

    def slacks(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Down and up of every cell; hidden ones have what `hide` says on top of this."""
        return np.maximum(self.down_0 + self.down @ u, 0.0), np.maximum(self.up_0 + self.up @ u, 0.0)

    def allows(self, u: np.ndarray) -> bool:
        """Are all rows and bounds kept, up to rounding errors?"""
        terms = abs(self.A) @ (np.abs(u) + self.unit)
        sums = self.A @ u
        off = (sums < self.row_low - ROUNDING * terms) | (sums > self.row_high + ROUNDING * terms)
        slack = ROUNDING * self.unit
        return not (off.any() or (u < self.lower - slack).any() or (u > self.upper + slack).any())


class Decisions:
    """Grows form by form; `problem()` when everything is said."""

    def __init__(self, n: int, unit: float):
        self.n, self.unit = n, unit
        self.offset = 0.0
        self.groups: list[tuple[str, np.ndarray, Columns]] = []  # what columns are called, and the cells they are about
        self.families: list[tuple[str, np.ndarray]] = []  # the same for rows
        self._cost: list[np.ndarray] = []
        self._lower: list[np.ndarray] = []
        self._upper: list[np.ndarray] = []
        self._integer: list[np.ndarray] = []
        self._unit: list[np.ndarray] = []
        self._count = 0
        self._entries: tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]] = ([], [], [])
        self._low: list[np.ndarray] = []
        self._high: list[np.ndarray] = []
        self._rows = 0
        self._slack: dict[str, tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]] = {
            "down": ([], [], []),
            "up": ([], [], []),
        }
        self.down_0, self.up_0 = np.zeros(n), np.zeros(n)
        self.hide = np.full(n, -1, dtype=np.int64)

    def columns(
        self,
        name: str,
        cells: np.ndarray,
        *,
        cost: np.ndarray | float = 0.0,
        lower: np.ndarray | float = 0.0,
        upper: np.ndarray | float = inf,
        integer: bool = False,
        counts: bool = False,
    ) -> Columns:
        """`counts`: numbers of something, whole or not, and no amounts of the table."""
        count = len(cells)
        at = np.arange(self._count, self._count + count)
        self._count += count
        self.groups.append((name, cells, at))
        for kept, given in ((self._cost, cost), (self._lower, lower), (self._upper, upper)):
            kept.append(np.broadcast_to(np.asarray(given, dtype=float), count).copy())
        self._integer.append(np.full(count, integer))
        self._unit.append(np.full(count, 1.0 if integer or counts else self.unit))
        return at

    def binaries(
        self, name: str, cells: np.ndarray, cost: np.ndarray | float = 0.0, lower: np.ndarray | float = 0.0
    ) -> Columns:
        return self.columns(name, cells, cost=cost, lower=lower, upper=1.0, integer=True)

    def rows(
        self,
        name: str,
        terms: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray | float]],
        low: np.ndarray | float,
        high: np.ndarray | float,
        count: int,
    ) -> None:
        """`count` rows; each term is (row, column, coefficient)."""
        for row, column, value in terms:
            self._entries[0].append(self._rows + np.asarray(row, dtype=np.int64))
            self._entries[1].append(np.asarray(column, dtype=np.int64))
            self._entries[2].append(np.broadcast_to(np.asarray(value, dtype=float), np.shape(column)))
        self.families.append((name, np.arange(self._rows, self._rows + count)))
        self._low.append(np.broadcast_to(np.asarray(low, dtype=float), count))
        self._high.append(np.broadcast_to(np.asarray(high, dtype=float), count))
        self._rows += count

    def each(self, name: str, terms: list[tuple[np.ndarray, np.ndarray | float]], low, high) -> None:
        """A row for each position: Σ coefficient · column, position by position."""
        count = len(terms[0][0])
        self.rows(name, [(np.arange(count), column, value) for column, value in terms], low, high, count)

    def total(self, name: str, columns: Columns, most: float) -> None:
        """Σ ≤ most."""
        self.rows(name, [(np.zeros(len(columns), dtype=np.int64), columns, 1.0)], -inf, most, 1)

    def slack(self, side: str, cells: np.ndarray, columns: Columns, coefficient: np.ndarray | float) -> None:
        at, column, value = self._slack[side]
        at.append(np.asarray(cells, dtype=np.int64))
        column.append(np.asarray(columns, dtype=np.int64))
        value.append(np.broadcast_to(np.asarray(coefficient, dtype=float), np.shape(columns)))

    def problem(self) -> DecisionProblem:
        count = self._count
        return DecisionProblem(
            _joined(self._cost),
            _joined(self._lower),
            _joined(self._upper),
            _joined(self._integer).astype(bool),
            _joined(self._unit),
            _matrix(self._entries, (self._rows, count)),
            _joined(self._low),
            _joined(self._high),
            _matrix(self._slack["down"], (self.n, count)),
            _matrix(self._slack["up"], (self.n, count)),
            self.down_0,
            self.up_0,
            self.hide,
            self.offset,
        )


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0)


def _matrix(parts: tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]], shape: tuple[int, int]) -> csr_array:
    row, column, value = (_joined(part) for part in parts)
    return csr_array((value, (row.astype(np.int64), column.astype(np.int64))), shape=shape)
