"""The closest safe table by trying every combination of senses: linear programs of scipy and squares by HiGHS over the
letters of the problem itself, nothing of the methods."""

from __future__ import annotations

from itertools import product

import highspy
import numpy as np
from hypothesis import reject
from scipy.optimize import linprog

from sdcdsl.bind.problem import TableProblem

INF = np.inf


class EverySense:
    def __init__(self, problem: TableProblem, stay: np.ndarray | None = None):
        d = problem.dataset
        self.a, self.n = d["a"].values, problem.n
        self.M = np.zeros((problem.m, problem.n))
        np.add.at(self.M, (d["equation_of"].values, d["cell_of"].values), d["coefficient"].values)
        published, status = d["published"].values, d["status"].values
        self.low = np.maximum(d["lb"].values, d["low"].values.max(axis=0)) - self.a
        self.high = np.minimum(d["ub"].values, d["high"].values.min(axis=0)) - self.a
        self.low[~published], self.high[~published] = -INF, INF
        fixed = published & (status == "z") if stay is None else published & ((status == "z") | stay)
        self.low[fixed] = self.high[fixed] = 0.0
        paid = published & (status != "m")
        self.w = np.where(paid, d["w"].values, 0.0)
        self.levels: dict[int, tuple[float, float]] = {}
        for cell, lpl, upl in zip(d["cell_at"].values.tolist(), d["lpl"].values, d["upl"].values, strict=True):
            if lpl > 0 or upl > 0:
                down, up = self.levels.get(cell, (0.0, 0.0))
                self.levels[cell] = max(down, lpl), max(up, upl)
        # A side that nobody has a level for is closed: the truth itself is zero away from the truth.
        self.levels = {cell: (down or INF, up or INF) for cell, (down, up) in self.levels.items()}

    def best(self, norm: str = "L1") -> float:
        """The least objective; inf if no senses have a table."""
        return min((self.at(senses, norm) for senses in product((-1, 1), repeat=len(self.levels))), default=0.0)

    def at(self, senses: tuple[int, ...], norm: str) -> float:
        l, u = self.low.copy(), self.high.copy()
        for (cell, (down, up)), sense in zip(self.levels.items(), senses, strict=True):
            if sense > 0:
                l[cell] = up
            else:
                u[cell] = -down
        if (l > u).any() or np.isposinf(l).any() or np.isneginf(u).any():
            return INF
        if norm == "Linf":
            return self._largest(l, u)
        first = self._linear(l, u)
        if norm == "L1" or first is None:
            return INF if first is None else first[0]
        return self._squares(l, u, first[1])

    def _linear(self, l: np.ndarray, u: np.ndarray) -> tuple[float, np.ndarray] | None:
        ends = [(lo, hi) for lo, hi in zip(np.maximum(l, 0), np.maximum(u, 0), strict=True)]
        ends += [(lo, hi) for lo, hi in zip(np.maximum(-u, 0), np.maximum(-l, 0), strict=True)]
        made = linprog(np.tile(self.w, 2), A_eq=np.hstack([self.M, -self.M]), b_eq=np.zeros(len(self.M)), bounds=ends)
        return (made.fun, made.x[: self.n] - made.x[self.n :]) if made.status == 0 else None

    def _largest(self, l: np.ndarray, u: np.ndarray) -> float:
        n, inside = self.n, np.isin(np.arange(self.n), list(self.levels))
        rows = []
        for i in np.flatnonzero(self.w > 0):
            for sign in (1.0, -1.0):
                row = np.zeros(n + 2)
                row[i], row[n if inside[i] else n + 1] = sign * self.w[i], -1.0
                rows.append(row)
        A = np.hstack([self.M, np.zeros((len(self.M), 2))])
        made = linprog(
            [*np.zeros(n), 1.0, 1.0],
            A_ub=np.array(rows) if rows else None,
            b_ub=np.zeros(len(rows)) if rows else None,
            A_eq=A,
            b_eq=np.zeros(len(A)),
            bounds=[*zip(l, u, strict=True), (0, INF), (0, INF)],
        )
        return made.fun if made.status == 0 else INF

    def _squares(self, l: np.ndarray, u: np.ndarray, start: np.ndarray) -> float:
        """min Σ w z² by an active-set method, in units of the start and of the largest weight: its tolerances are
        absolute, and in other units it ends early, or outside the ends."""
        unit, heaviest = float(np.abs(start).max(initial=0.0)) or 1.0, float(self.w.max(initial=0.0)) or 1.0
        highs = highspy.Highs()
        highs.silent()
        highs.addVars(self.n, l / unit, u / unit)
        for row in self.M:
            at = np.flatnonzero(row)
            highs.addRow(0.0, 0.0, len(at), at, row[at])
        every = np.arange(self.n)
        diagonal = 2 * self.w / heaviest
        highs.passHessian(self.n, self.n, highspy.HessianFormat.kTriangular, every, every, diagonal)
        highs.run()
        if highs.getModelStatus() == highspy.HighsModelStatus.kSolveError:  # it gives up on one table of a thousand
            reject()
        assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        z = np.array(highs.getSolution().col_value) * unit
        beyond = max((l - z).max(initial=0.0), (z - u).max(initial=0.0), np.abs(self.M @ z).max(initial=0.0))
        assert beyond <= 1e-6 * unit
        return float(self.w @ z**2)
