"""The cheapest move over a basis of directions: d = N t, and the program

    min Σ c_i⁺ d_i⁺ + c_i⁻ d_i⁻    d = N t,  s · d_p = 1,  -L ≤ d ≤ U        has the dual
    max -s y_p - Σ U_i (y_i - c_i⁺)⁺ - Σ L_i (-y_i - c_i⁻)⁺                  Nᵀ y = 0

with one row per direction and columns that lie between -c⁻ and c⁺, except y_p, which is free. What goes beyond is paid
for by a column of its own, made for a cell when a solution first leaves its slack: nearly all cells have more slack
than any move takes. Starting cold is as fast as going on from the last question.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from sdcdsl.numerics.lp import LinearProgram
from sdcdsl.numerics.sparse_null_space import size
from sdcdsl.status import INFEASIBLE_OR_UNBOUNDED, OPTIMAL, UNBOUNDED

SLIGHT = 1e-4
WITHIN = 1 + 1e-9
FREE = 1e30


class OverBasis:
    def __init__(self, N: csc_array):
        self.N = N
        self.n, self.k = size(N)
        rows: Any = csc_array(N.T)
        self._start, self._index, self._value = rows.indptr, rows.indices, rows.data
        self.program = LinearProgram(rows)
        self._cells = np.arange(self.n, dtype=np.int32)
        self.beyond: list[tuple[int, int]] = []  # cell and sign of each further column
        self._paid: set[tuple[int, int]] = set()

    def solve(
        self, p: int, sign: int, down: np.ndarray, up: np.ndarray, price: np.ndarray
    ) -> tuple[np.ndarray | None, bool]:
        """d, or None; and whether that is certain. A cell without slack on a side never goes there."""
        self.program.forget()
        self._pose(p, sign, price, down, up)
        for _ in range(60):
            status = self.program.solve()
            if status != OPTIMAL:
                # Without end: no move does it. HiGHS sees the same from the other side.
                return None, status in (UNBOUNDED, INFEASIBLE_OR_UNBOUNDED)
            d = self.N @ self.program.dual
            if d[p] == 0:
                return None, False
            d /= sign * d[p]
            over = np.flatnonzero((d > up * WITHIN + 1e-9) | (-d > down * WITHIN + 1e-9))
            if not len(over):
                return d, True
            if not self._pay(over, d, p, down, up):
                return None, False
        return None, False

    def _pose(self, p: int, sign: int, price: np.ndarray, down: np.ndarray, up: np.ndarray) -> None:
        """Where a cell has no slack on a side, nothing is gained by pushing it there: y has no end on that
        requirement."""
        low = np.where(down > 0, -price / np.clip(down, SLIGHT, 1.0), -FREE)
        high = np.where(up > 0, price / np.clip(up, SLIGHT, 1.0), FREE)
        low[p], high[p] = -FREE, FREE
        cost = np.zeros(self.n)
        cost[p] = float(sign)
        self.program.change_bounds(low, high, self._cells)
        self.program.change_costs(cost, self._cells)
        for j, (cell, way) in enumerate(self.beyond):
            self._price(self.n + j, cell, way, p, down, up)

    def _price(self, column: int, cell: int, way: int, p: int, down: np.ndarray, up: np.ndarray) -> None:
        slack = (up if way > 0 else down)[cell]
        usable = np.isfinite(slack) and cell != p
        self.program.change_column(column, float(slack) if usable else 0.0, 0.0, FREE if usable else 0.0)

    def _pay(self, over: np.ndarray, d: np.ndarray, p: int, down: np.ndarray, up: np.ndarray) -> bool:
        """Columns for the cells that went too far; False if they have them already."""
        news = [(int(i), 1 if d[i] > 0 else -1) for i in over]
        news = [key for key in news if key not in self._paid]
        for cell, way in news:
            span = slice(self._start[cell], self._start[cell + 1])
            self.program.add_column(0.0, 0.0, 0.0, self._index[span], self._value[span] * way)
            self._price(self.n + len(self.beyond), cell, way, p, down, up)
            self.beyond.append((cell, way))
            self._paid.add((cell, way))
        return bool(news)
