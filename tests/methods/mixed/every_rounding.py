"""The best controlled rounding of a tiny table by trying every combination of multiples, each attacked by linear
programs of scipy over the letters of the problem itself."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import linprog

from sdcdsl.bind.problem import TableProblem

SHORT = 1 - 1e-7


class EveryRounding:
    def __init__(self, problem: TableProblem, base: float):
        d = problem.dataset
        self.problem, self.base, self.a = problem, base, d["a"].values
        self.M = np.zeros((problem.m, problem.n))
        np.add.at(self.M, (d["equation_of"].values, d["cell_of"].values), d["coefficient"].values)
        self.b = d["b"].values
        self.shown = d["published"].values & (d["status"].values != "m")
        self.fixed = d["status"].values == "z"
        self.w = d["w"].values

    def best(self) -> float:
        """The least cost of a table that keeps every level; inf if there is none."""
        found = sorted(self._tables(), key=lambda made: made[0])
        return next((cost for cost, v in found if self.protected(v)), np.inf)

    def _tables(self):
        below = np.floor(self.a / self.base) * self.base
        choices = [
            (a,) if self.fixed[i] or not self.shown[i] or below[i] == a else (below[i], below[i] + self.base)
            for i, a in enumerate(self.a)
        ]
        # Inner cells decide: totals follow, and are multiples next to the true value or rule the choice out.
        totals = {int(np.flatnonzero(row < 0)[0]) for row in self.M if (row < 0).any()}
        inner = [i for i in range(len(self.a)) if i not in totals]
        rows = [r for r in range(len(self.M)) if self.shown[np.flatnonzero(self.M[r])].all()]
        for values in product(*(choices[i] for i in inner)):
            v = np.full(len(self.a), np.nan)
            v[inner] = values
            for _ in range(len(self.a)):
                for r in rows:
                    unknown = np.flatnonzero(np.isnan(v) & (self.M[r] != 0))
                    if len(unknown) == 1:
                        i = int(unknown[0])
                        known = np.nan_to_num(v) * (np.arange(len(v)) != i)
                        v[i] = (self.b[r] - self.M[r] @ known) / self.M[r, i]
            left = [i for i in np.flatnonzero(np.isnan(v)) if self.shown[i]]
            for rest in product(*(choices[i] for i in left)):
                full = v.copy()
                full[left] = rest
                full[~self.shown] = self.a[~self.shown]
                if all(abs(self.M[r] @ full - self.b[r]) < 1e-9 for r in rows) and all(
                    any(abs(full[i] - c) < 1e-9 for c in choices[i]) for i in np.flatnonzero(self.shown)
                ):
                    cost = float((self.w * np.abs(full - self.a))[self.shown].sum())
                    yield cost, full

    def protected(self, v: np.ndarray) -> bool:
        d = self.problem.dataset
        slack = np.where(self.fixed, 0.0, self.base)
        low, high = np.where(self.shown, v - slack, -np.inf), np.where(self.shown, v + slack, np.inf)
        for pair in range(d.sizes["pair"]):
            attacker, cell = int(d["attacker_at"].values[pair]), int(d["cell_at"].values[pair])
            view = int(d["view_of"].values[attacker])
            lo, hi = np.maximum(low, d["low"].values[view]), np.minimum(high, d["high"].values[view])
            for k in np.flatnonzero(d["known_attacker"].values == attacker):
                at = int(d["known_cell"].values[k])
                lo[at], hi[at] = max(lo[at], d["known_low"].values[k]), min(hi[at], d["known_high"].values[k])
            ends = []
            for sign in (1, -1):
                cost = np.zeros(len(v))
                cost[cell] = sign
                made = linprog(cost, A_eq=self.M, b_eq=self.b, bounds=list(zip(lo, hi, strict=True)))
                ends.append(sign * made.fun if made.status == 0 else -sign * np.inf)
            down, up = self.a[cell] - ends[0], ends[1] - self.a[cell]
            lpl, upl, spl = (float(d[x].values[pair]) for x in ("lpl", "upl", "spl"))
            if down < lpl * SHORT or up < upl * SHORT or down + up < spl * SHORT:
                return False
        return True
