"""The cheapest move that takes one cell as far as it must go:

    min Σ price_i · |d_i| / min(slack_i, need)    M d = 0,  d_p = ± need,  -LB ≤ d ≤ UB

Hiding a cell costs the same however far it moves, so the price is spread over as much as the cell will have to move:
over the need, or over its slack where that is less. Lengths are measured in needs, so that neither large tables nor
small levels meet a solver's absolute tolerances.

The linear program is solved in one of three forms. *Nearby*: a dual simplex method of its own that touches only what
lies around the cell; most moves are found like this. *By directions*: where cells are so closely tied together by
relations that this takes thousands of steps, there are few directions, and the dual program over a sparse basis of them
has as many rows only. *By relations*: columns are the cells, rows the relations, whatever the table is.
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from time import process_time

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from sdcdsl.accelerate.csp.cheapest_in_basis import OverBasis
from sdcdsl.accelerate.csp.tuning import LOCAL
from sdcdsl.methods.instance import Instance
from sdcdsl.numerics.lp import DUAL, LinearProgram
from sdcdsl.numerics.null_space import RelationMatrix, independent_rows
from sdcdsl.numerics.simplex.dual import FOUND, DualSimplex
from sdcdsl.numerics.sparse_null_space import size, sparse_null_space
from sdcdsl.status import INFEASIBLE, OPTIMAL

DUST = 1e-7  # moves below this share of the need are rounding errors
SLIGHT = 1e-4  # slack below this share of the need does not raise the price further

Move = tuple[np.ndarray, np.ndarray]  # cells, and how far they go


class Cheapest:
    def __init__(self, instance: Instance, nearby: float | None = None):
        """`nearby`: moves that take the dual simplex method more work than this are not looked for: what one takes does
        not grow with the table."""
        self._only_nearby = nearby is not None
        self.cells = np.flatnonzero(instance.may_open)
        self.number = np.full(instance.n, -1, dtype=np.int64)
        self.number[self.cells] = np.arange(len(self.cells))
        self._M = csr_array(instance.M[:, self.cells])
        self._nearby = DualSimplex(self._M, nearby)
        self._directions: OverBasis | None = None
        self._asked = False  # whether there are few directions
        self._steps, self._vain = LOCAL.long, 0
        self.solved = 0

    @cached_property
    def basis(self) -> csc_array | None:
        """A sparse basis of all moves of the cells that may move."""
        return sparse_null_space(self._M)

    @property
    def slow(self) -> bool:
        """Whether cells are so closely tied together by relations that moves take long."""
        return self._directions is not None

    @cached_property
    def _relations(self) -> OverRelations:
        return OverRelations(self._M)

    def move(
        self, cell: int, sign: int, need: float, slack: tuple[np.ndarray, np.ndarray], price: np.ndarray
    ) -> Move | None:
        """None if the cell cannot go so far. `slack` is LB and UB, `price` is per cell, infinite if it must not
        move."""
        p = int(self.number[cell])
        if p < 0 or slack[(1 + sign) // 2][cell] < need * (1 - 1e-9):
            return None
        down, up, price = (self._movable(v) for v in (*slack, price))
        self.solved += 1
        status, cells, d = self._nearby.solve(p, sign, down, up, price, need)
        if status != FOUND and self._only_nearby:
            return None
        if status != FOUND:
            made = self._by_solver(p, sign, down / need, up / need, price)
            if made is None:
                return None
            cells = np.flatnonzero(made)
            d = made[cells]
        moved = np.abs(d) > DUST
        return self.cells[cells[moved]], d[moved] * need

    def _movable(self, of_cells: np.ndarray) -> np.ndarray:
        """Of the cells that may move; without a copy where all may."""
        return of_cells if len(self.cells) == len(of_cells) else of_cells[self.cells]

    def _by_solver(self, p: int, sign: int, down: np.ndarray, up: np.ndarray, price: np.ndarray) -> np.ndarray | None:
        shut = price == inf
        down, up, price = np.where(shut, 0.0, down), np.where(shut, 0.0, up), np.where(shut, 0.0, price)
        asked = (p, sign, down, up, price)
        took = 0.0
        if self._steps > 0:
            began = process_time()
            d, ended = self._relations.solve(*asked, self._steps)
            if ended:
                return d
            took = process_time() - began
        if not self._asked:
            self._asked = True
            N = self.basis
            if N is not None and size(N)[1] < size(self._M)[1] // 3:
                self._directions = OverBasis(N)
        if self._directions is not None:
            began = process_time()
            d, ended = self._directions.solve(*asked)
            self._weigh(took, process_time() - began)
            if ended:
                return d
        return self._relations.solve(*asked, None)[0]

    def _weigh(self, relations: float, directions: float) -> None:
        """How many steps by relations are worth while: as many as take as long as the other form, unless that was in
        vain twice."""
        if relations > 0:
            self._vain += 1
            self._steps = int(self._steps * directions / relations) if self._vain <= 2 else 0


class OverRelations:
    """Columns are d⁺ and d⁻ of all cells, rows are relations that imply all others."""

    def __init__(self, m: csr_array):
        self.size = size(m)[1]
        rows = m[independent_rows(RelationMatrix.of(m))]
        self.program = LinearProgram(hstack([rows, -rows]), primal_tolerance=1e-9)

    def solve(
        self, p: int, sign: int, down: np.ndarray, up: np.ndarray, price: np.ndarray, steps: int | None
    ) -> tuple[np.ndarray | None, bool]:
        """d, or None if there is none; and whether that is certain."""
        high = np.concatenate([up, down])
        low = np.zeros(len(high))
        there, back = (p, self.size + p) if sign > 0 else (self.size + p, p)
        low[there] = high[there] = 1.0
        high[back] = 0.0
        program, size = self.program, self.size
        cost = np.concatenate([price / np.clip(up, SLIGHT, 1.0), price / np.clip(down, SLIGHT, 1.0)])
        program.change_costs(cost)
        program.change_bounds(low, high)
        program.forget()
        status = program.solve(iterations=steps, algorithm=DUAL)
        if status == OPTIMAL:
            x = program.x
            return x[:size] - x[size:], True
        return None, status == INFEASIBLE
