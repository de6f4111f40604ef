"""Cell perturbation as paper 003 states it first (Figure 12): one mixed-integer program of scipy over the letters of
the problem, z⁺ and z⁻ of every cell, an end for every sensitive one, a table for every side of a pair.

Written apart from the methods, and for tables of a few cells only: every matrix is dense.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from sdcdsl.bind.problem import TableProblem


class FigureTwelve:
    def __init__(self, problem: TableProblem, down: np.ndarray, up: np.ndarray, end: str = "free", whole: bool = False):
        """`down`, `up` [cell]: how far a cell may be published from its value. `whole`: by whole numbers only."""
        d = problem.dataset
        self.problem, self.n, self.end, self.whole = problem, problem.n, end, whole
        self.a = d["a"].values
        self.M = np.zeros((problem.m, problem.n))
        np.add.at(self.M, (d["equation_of"].values, d["cell_of"].values), d["coefficient"].values)
        published, status = d["published"].values, d["status"].values
        self.gone = ~published | (status == "m")
        fixed = (status == "z") | self.gone
        self.r = np.where(fixed, 0.0, down + up)
        self.down = np.where(fixed, 0.0, np.minimum(down, self.a - d["lb"].values))
        self.up = np.where(fixed, 0.0, np.minimum(up, d["ub"].values - self.a))
        if whole:
            self.down, self.up = np.floor(self.down), np.floor(self.up)
        self.sensitive = (status == "u") & published
        self.stated = [row for row in self.M if not (row[~published] != 0).any()]

    def best(self, most: int | None = None) -> float:
        """The least Σ w |v - a|; inf if there is no such table. `most` cells may change."""
        n, d = self.n, self.problem.dataset
        pairs = d.sizes["pair"]
        width = 4 * n + 2 * pairs * n  # z⁺, z⁻, at the upper end?, changed?, then the tables as deviations from a
        low, high, whole = np.zeros(width), np.zeros(width), np.zeros(width)
        high[:n], high[n : 2 * n] = self.up, self.down
        high[2 * n : 4 * n] = whole[2 * n : 4 * n] = 1
        whole[: 2 * n] = self.whole & ~np.tile(self.gone, 2)
        # What is gone may be read as anything that the table's own bounds allow.
        high[:n][self.gone] = (d["ub"].values - self.a)[self.gone]
        high[n : 2 * n][self.gone] = (self.a - d["lb"].values)[self.gone]
        rows: list[np.ndarray] = []
        least: list[float] = []
        greatest: list[float] = []

        def row(entries: Mapping[Any, float], lo: float, hi: float) -> None:
            line = np.zeros(width)
            for at, value in entries.items():
                line[at] += value
            rows.append(line)
            least.append(lo)
            greatest.append(hi)

        for relation in self.stated:
            at = np.flatnonzero(relation)
            row({**{i: relation[i] for i in at}, **{n + i: -relation[i] for i in at}}, 0, 0)
        for i in range(n):
            if self.sensitive[i]:
                row({i: 1, 2 * n + i: -self.up[i]}, 0, 0)
                row({n + i: 1, 2 * n + i: self.down[i]}, self.down[i], self.down[i])
                if self.end != "free":
                    low[2 * n + i] = high[2 * n + i] = float(self.end == "high")
            if most is not None and not self.gone[i]:
                row({i: 1, 3 * n + i: -self.up[i]}, -inf, 0)
                row({n + i: 1, 3 * n + i: -self.down[i]}, -inf, 0)
        if most is not None:
            row({3 * n + i: 1 for i in range(n)}, -inf, most)
        for pair in range(pairs):
            f, g = 4 * n + 2 * pair * n, 4 * n + (2 * pair + 1) * n
            slack_down, slack_up = self._slack(int(d["attacker_at"].values[pair]))
            for table in (f, g):
                low[table : table + n], high[table : table + n] = -slack_down, slack_up
                for relation in self.M:
                    row({table + i: relation[i] for i in np.flatnonzero(relation)}, 0, 0)
                for i in np.flatnonzero(~self.gone):
                    row({table + i: 1, i: -1, n + i: 1}, -self.r[i], self.r[i])
            cell = int(d["cell_at"].values[pair])
            row({f + cell: 1}, float(d["upl"].values[pair]), inf)
            row({g + cell: 1}, -inf, -float(d["lpl"].values[pair]))
            row({f + cell: 1, g + cell: -1}, float(d["spl"].values[pair]), inf)
        cost = np.zeros(width)
        cost[:n] = cost[n : 2 * n] = np.where(self.gone, 0.0, d["w"].values)
        made = milp(
            cost,
            constraints=LinearConstraint(np.array(rows), np.array(least), np.array(greatest)),  # pyright: ignore[reportArgumentType]
            bounds=Bounds(low, high),  # pyright: ignore[reportArgumentType]
            integrality=whole,
        )
        assert made.status in (0, 2), made.message
        return float(made.fun) if made.status == 0 else inf

    def _slack(self, attacker: int) -> tuple[np.ndarray, np.ndarray]:
        d = self.problem.dataset
        view = int(d["view_of"].values[attacker])
        low, high = d["low"].values[view].copy(), d["high"].values[view].copy()
        for entry in np.flatnonzero(d["known_attacker"].values == attacker):
            cell = int(d["known_cell"].values[entry])
            low[cell] = max(low[cell], d["known_low"].values[entry])
            high[cell] = min(high[cell], d["known_high"].values[entry])
        return np.maximum(self.a - low, 0.0), np.maximum(high - self.a, 0.0)
