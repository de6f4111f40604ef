"""Tables that may be published: draws made additive, and the least β for given values of the sensitive cells (¶18).

Drawn one by one, sensitive cells have no chance to add up wherever a relation holds only such cells and zeros. So a
draw ξ is moved to the nearest additive table within the ranges of all cells,

    min Σ_S ((v_i - ξ_i) / a_i)² + Σ_N ((v_i - a_i) / a_i)²,      M v = b,    v within its ranges

(relative distances: in these the other cells stay where a small β can follow). Its sensitive values are kept, and the
paper's linear program requires the least β with |v_i - a_i| ≤ β/2 |a_i| elsewhere. Divided by β it has bounds in place
of two rows a cell and one variable λ = 1 / β beside them:

    max λ     M_N R t + λ M_S z_S = 0,    -1 ≤ t_i ≤ 1       z_i = r_i t_i / λ,   r_i = |a_i| / 2

Bounds of the table that lie nearer than β/2 are rows r_i t_i ≥ λ (lb_i - a_i), added where they are broken.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack

from sdcdsl.accelerate.ecta.tuning import TUNING
from sdcdsl.deadline import Deadline
from sdcdsl.methods.ecta.deviations import NOTHING, Box, Deviations, Table
from sdcdsl.methods.ecta.ranges import ValueRanges
from sdcdsl.methods.instance import Instance
from sdcdsl.numerics.lp import LinearProgram
from sdcdsl.numerics.nearest.additive import additive, conjugate
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.status import INFEASIBLE, OPTIMAL, SolverFailed

TIGHT: dict[str, Any] = {"presolve": True, "primal_tolerance": 1e-9, "dual_tolerance": 1e-9}


class AdjustedTables(Deviations):
    def __init__(self, instance: Instance, cap: float, most: float, norm: str = "Linf"):
        super().__init__(instance, cap, most)
        self.norm = norm
        self._Mt, self._squares = csr_array(self.M.T), csr_array(self.M.multiply(self.M))
        self.failures: list[str] = []
        self._feasible: LinearProgram | None = None

    def any_in(self, box: Box) -> bool:
        """Whether there is an additive table in the box at all."""
        low, high = box[0] / self.unit, box[1] / self.unit
        if self._feasible is None:
            scaled = csr_array(self.M * self.unit[None, :] / self.row_unit[:, None])
            self._feasible = LinearProgram(scaled, bounds=(low, high), **TIGHT)
        else:
            self._feasible.change_bounds(low, high)
        status = self._feasible.solve()
        if status not in (OPTIMAL, INFEASIBLE):
            raise SolverFailed(self._feasible.message)
        return status == OPTIMAL

    # ---- draws ---------------------------------------------------------------------------------------------------

    def nearest(self, xi: np.ndarray, box: Box, deadline: Deadline, others: float = 1.0) -> np.ndarray | None:
        """The additive table nearest to draws of the sensitive cells; `others`: what the deviations of other cells
        weigh beside. None if it was not found."""
        target = np.zeros(self.instance.n)
        target[self.cells] = xi - self.a[self.cells]
        w = np.where(self.sensitive, 1.0, others) / self.unit**2
        z = self._by_projections(target, w, box, deadline)
        if z is None and not deadline.expired:
            z = self._by_programs(target, w, box, deadline)
        return None if z is None else self._exact(z, box)

    def _by_projections(self, target: np.ndarray, w: np.ndarray, box: Box, deadline: Deadline) -> np.ndarray | None:
        """Projections onto M z = 0, with cells that leave their ranges held at the ends from then on. That is not quite
        the nearest table, which nobody needs, but is found much faster; None if it does not come to an end."""
        low, high = box
        z = np.clip(target, low, high)
        inverse = np.where(low < high, 1 / w, 0.0)
        steps = self.instance.n // 2 + 100
        for _ in range(TUNING.projections):
            r = self.M @ z
            if (np.abs(r) <= 1e-11 * self.row_unit).all():
                return z
            if deadline.expired:
                return None
            diagonal = self._squares @ inverse
            preconditioner = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1.0), 0.0)
            y = conjugate(lambda x, i=inverse: self.M @ (i * (self._Mt @ x)), r, preconditioner, 1e-9, steps)
            moved = z - inverse * (self._Mt @ y)
            if np.abs(self.M @ moved).max() > 1e-3 * np.abs(r).max():
                return None  # what is held contradicts the relations, or nearly
            z = np.clip(moved, low, high)
            inverse = np.where(moved != z, 0.0, inverse)
        return None

    def _by_programs(self, target: np.ndarray, w: np.ndarray, box: Box, deadline: Deadline) -> np.ndarray | None:
        """The nearest table itself."""
        # Fixed columns beside M carry the draw: z = q + f in the sensitive cells, f the draw, q what it is moved by.
        M = csr_array(hstack([self.M, self.M[:, self.cells]]))
        f = target[self.cells]
        low, high = np.concatenate([box[0], f]), np.concatenate([box[1], f])
        low[self.cells] -= f
        high[self.cells] -= f
        w = np.where(self.instance.open_anyway, 0.0, w)
        w = np.concatenate([w, np.zeros(len(f))])
        solved = L2(M).solve(w, low, high, deadline)
        if solved.z is None and not deadline.expired:
            solved = L1(M).solve(np.sqrt(w), np.sqrt(w), low, high, deadline)
        if solved.z is None:
            if not deadline.expired:
                self.failures.append(f"the table nearest to a draw was not found: {solved.status}")
            return None
        z = solved.z[: self.instance.n].copy()
        z[self.cells] += f
        return z

    def _exact(self, z: np.ndarray, box: Box) -> np.ndarray:
        """Adding up to the last digits, sensitive cells where they are if that is enough."""
        low, high = box[0].copy(), box[1].copy()
        low[self.cells] = high[self.cells] = np.clip(z[self.cells], low[self.cells], high[self.cells])
        made = additive(self.M, z, low, high)
        return made if self.adds_up(made) else additive(self.M, z, *box)

    # ---- β -------------------------------------------------------------------------------------------------------

    def least_beta(self, z: np.ndarray, deadline: Deadline) -> Table:
        """The table with the sensitive values of z, which is additive, and the least β that allows."""
        best = self._smaller(z)
        if best is not None and self.adds_up(best) and self.beta(best) <= self.beta(z):
            z = best
        table = self.table(z)
        return table if self.norm == "Linf" else self._closer(table, deadline)

    def least_for_any(self, range_: ValueRanges) -> float:
        """The least β of any table with sensitive cells in their ranges, for which there is one; nearly."""
        few, many = 0.0, self.most
        if self.any_in(self.box(range_, few)):
            return few
        for _ in range(TUNING.halvings):
            middle = (few + many) / 2
            few, many = (few, middle) if self.any_in(self.box(range_, middle)) else (middle, many)
        return 2 * many

    def _smaller(self, z: np.ndarray) -> np.ndarray | None:
        """The linear program; None if HiGHS finds nothing."""
        beta = self.beta(z)
        if beta <= NOTHING:
            return None
        columns = np.flatnonzero(~self.sensitive & ~self.fixed)
        open_ended = self.instance.open_anyway[columns]
        r = np.where(open_ended, self.unit[columns], beta / 2 * self.size[columns])
        lb, ub = self.lb[columns] / r, self.ub[columns] / r
        t_low = np.where(open_ended, -np.inf, np.where(lb < 0, -1.0, 0.0))
        t_high = np.where(open_ended, np.inf, np.where(ub > 0, 1.0, 0.0))
        push = self.M[:, self.cells] @ z[self.cells]
        rows_unit = 1 / self.row_unit
        matrix = hstack([csc_array(self.M[:, columns]) * r[None, :], csc_array(push[:, None])])
        matrix = csr_array(csr_array(matrix) * (rows_unit / beta)[:, None])
        # λ counts in units of 1 / the β that z needs: at least 1, and endless if the others need not move at all.
        last = len(columns)
        program = LinearProgram(
            matrix,
            cost=np.append(np.zeros(last), 1.0),
            bounds=(np.append(t_low, 0.5), np.append(t_high, beta / NOTHING)),
            maximise=True,
            **TIGHT,
        )
        for _ in range(50):
            if program.solve() != OPTIMAL:
                return None
            x = program.x
            t = x[:last] / x[last]
            under = np.flatnonzero(t < lb - 1e-9 * np.maximum(np.abs(lb), 1e-3))
            over = np.flatnonzero(t > ub + 1e-9 * np.maximum(np.abs(ub), 1e-3))
            if not len(under) and not len(over):
                break
            rows = len(under) + len(over)
            index = np.column_stack([np.concatenate([under, over]), np.full(rows, last)]).astype(np.int32)
            value = np.column_stack([np.ones(rows), -np.concatenate([lb[under], ub[over]])])
            low = np.repeat([0.0, -np.inf], [len(under), len(over)])
            high = np.repeat([np.inf, 0.0], [len(under), len(over)])
            program.add_rows(low, high, 2 * np.arange(rows, dtype=np.int32), index.ravel(), value.ravel())
        else:
            return None
        out = z.copy()
        out[columns] = t * r
        half = (1 + 1e-9) * beta / 2 / x[last] * self.size
        low, high = np.where(self.others, np.maximum(self.lb, -half), self.lb), self.ub
        high = np.where(self.others, np.minimum(self.ub, half), high)
        low[self.cells] = high[self.cells] = z[self.cells]
        return additive(self.M, out, low, high)

    def _closer(self, table: Table, deadline: Deadline) -> Table:
        """Of the tables with this β the one with the least sum of weighted deviations, or of their squares."""
        i, half = self.instance, max(table.beta, table.least) / 2 * self.size
        low = np.where(self.others, np.maximum(self.lb, -half), self.lb)
        high = np.where(self.others, np.minimum(self.ub, half), self.ub)
        low[self.cells] = high[self.cells] = table.z[self.cells]
        free = i.open_anyway | self.sensitive
        down, up = np.where(free, 0.0, i.w_down), np.where(free, 0.0, i.w_up)
        if self.norm == "L1":
            solved = L1(self.M).solve(down, up, low, high, deadline)
        else:
            solved = L2(self.M).solve((down + up) / 2, low, high, deadline)
        if solved.z is None or not self.adds_up(solved.z):
            return table
        return Table(solved.z, table.beta, self.beta(solved.z))
