"""Rounded tables of large size: a first one, by trial (`annealing`) or from the relaxation (`elastic`), then better
ones, a neighbourhood at a time.

A neighbourhood frees the parts of some sums, or parts where the table differs from the relaxation; all others stay, and
the mixed-integer problem of what is left takes a moment. Neighbourhoods grow while they are solved at once, and shrink
where they are not. Tables that miss a level are cut off like any other solution, and trials keep the cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.methods.mixed.forms import Forms
from sdcdsl.methods.mixed.search import Search
from sdcdsl.methods.result import Clock, Standing
from sdcdsl.methods.rounding.annealing import Windows, annealed
from sdcdsl.methods.rounding.elastic import elastic
from sdcdsl.methods.rounding.parts import Parts, parts_of, stacked
from sdcdsl.solve.master import INFEASIBLE, OPTIMAL

ANY = 0.9  # a gap with which the first solution will do
FIRST = 5.0  # seconds for it
TRIALS = 30  # for each part, at least
FEW_TRIALS = 30_000
TABLES = 3  # by trial, with cuts in between
FEW = 1000  # parts: more of them are put right from the relaxation (`elastic`) before anything is tried
SHARE = 0.9  # of the time: the rest is for the mixed-integer problem as a whole
ENDLESS = 60.0  # seconds where there is no limit
MOMENT = 2.0  # seconds for a neighbourhood
SMALL = 300  # parts of the first neighbourhood
IDLE = 60  # neighbourhoods in a row that bring nothing: it is time for something else


class Finder:
    def __init__(self, forms: Forms, wider: Callable[[], Forms], seed: int):
        """`wider`: the forms with one more step."""
        self.forms, self.wider, self.seed = forms, wider, seed

    def __call__(self, search: Search, clock: Clock, gap: float, tell: Callable[[Standing], None]) -> None:
        seconds = SHARE * clock.left if np.isfinite(clock.left) else ENDLESS
        clock = clock.part(seconds)
        solved = search.master.solve(gap=ANY, seconds=min(FIRST, clock.left), seed=self.seed)
        if solved.status == INFEASIBLE:
            search.infeasible = True
            return
        if solved.x is not None:
            search.offer(solved.x)
            search.cut_off(solved.x, clock)
        at, problem = self.forms.at, search.problem
        least, most = np.zeros(len(at.base)), np.zeros(len(at.base))
        rounded = at.multiple >= 0
        least[rounded], most[rounded] = problem.lower[at.multiple[rounded]], problem.upper[at.multiple[rounded]]
        parts = parts_of(self.forms.instance, at, least, most)
        if parts is None:
            return
        ends = least[parts.cells], most[parts.cells]
        if len(parts.cells) <= FEW:
            self._try(search, parts, ends, clock)
        if search.best is None or len(parts.cells) > FEW:
            k = elastic(search, self.forms, self.wider(), parts, clock, self.seed, lambda: search.over(clock))
            if k is not None:
                x = np.zeros(len(problem.cost))
                x[at.multiple[rounded]] = k[rounded]
                x = at.completed(x * problem.unit) / problem.unit
                search.offer(x)
                search.cut_off(x, clock)
        if search.best is None and len(parts.cells) > FEW:
            self._try(search, parts, ends, clock)
        tell(Standing("tables by trial", search.objective, search.bound))
        if search.best is not None:
            self._neighbourhoods(search, parts, clock, gap, tell)

    # ---- by trial ------------------------------------------------------------------------------------------------

    def _try(self, search: Search, parts: Parts, ends: tuple[np.ndarray, np.ndarray], clock: Clock) -> None:
        columns = self.forms.at.multiple[parts.cells]
        relaxed = search.relaxed_at
        start = relaxed[columns] if relaxed is not None else np.zeros(len(columns))
        trials = max(TRIALS * len(columns), FEW_TRIALS)
        for number in range(TABLES):
            if clock.over:
                return
            found = annealed(self._windows(search, parts, ends), start, trials, self.seed + number, lambda: clock.over)
            if found.outside > 0:
                return
            x = self._columns(search, parts, found.k)
            search.offer(x)
            if not search.cut_off(x, clock):
                return

    def _windows(self, search: Search, parts: Parts, ends: tuple[np.ndarray, np.ndarray]) -> Windows:
        """The windows of all cells, and the cuts there are: Σ c k ≥ b with k = T k_parts + shift."""
        instance, at = self.forms.instance, self.forms.at
        own = parts.rounded
        cells = parts.rows[own]
        right = search.master.rhs[search.stated :]
        matrix: Any = search.master.matrix
        rows: Any = csr_array(matrix[search.stated :])
        cuts = csr_array(rows[:, at.multiple[cells]]) if len(right) else csr_array((0, len(cells)))
        right = right - cuts @ parts.shift[own]
        A = stacked(parts, csr_array(cuts @ parts.T[np.flatnonzero(own)]))
        none = np.zeros(len(right))
        return Windows(
            A,
            np.concatenate([parts.least, right]),
            np.concatenate([parts.most, none + np.inf]),
            np.concatenate([parts.offset, none]),
            np.concatenate([np.where(own, instance.w_down[parts.rows], 0.0), none]),
            np.concatenate([np.where(own, instance.w_up[parts.rows], 0.0), none]),
            parts.base,
            *ends,
        )

    def _columns(self, search: Search, parts: Parts, k_parts: np.ndarray) -> np.ndarray:
        """The columns of the master."""
        at, own = self.forms.at, parts.rounded
        x = np.zeros(len(search.problem.cost))
        k = np.zeros(len(at.base))
        k[parts.rows[own]] = np.round(np.asarray(parts.T @ k_parts))[own] + parts.shift[own]
        x[at.multiple[parts.rows[own]]] = k[parts.rows[own]]
        return at.completed(x * search.problem.unit) / search.problem.unit

    # ---- neighbourhoods ------------------------------------------------------------------------------------------

    def _neighbourhoods(
        self, search: Search, parts: Parts, clock: Clock, gap: float, tell: Callable[[Standing], None]
    ) -> None:
        draw = np.random.default_rng(self.seed)
        columns = self.forms.at.multiple[parts.cells]
        counts = np.diff(parts.T.indptr)
        size, idle, unit = float(min(SMALL, len(columns))), 0, search.problem.unit
        while not clock.over and idle < IDLE and not search.near_enough(gap):
            assert search.best is not None
            x = search.best.u / unit
            free = self._some(draw, parts, counts, columns, search, x, int(size))
            kept = search.master.lower, search.master.upper
            search.master.lower, search.master.upper = kept[0].copy(), kept[1].copy()
            still = columns[~free]
            search.master.lower[still] = search.master.upper[still] = np.round(x[still])
            solved = search.master.solve(start=x, gap=0.1 * gap, seconds=min(MOMENT, clock.left), seed=self.seed)
            search.master.lower, search.master.upper = kept
            size = min(size * (1.1 if solved.status == OPTIMAL else 0.8), float(len(columns)))
            before = search.best.objective
            if solved.x is not None and solved.objective < search.master.cost @ x * (1 - 1e-12):
                search.offer(solved.x)
                search.cut_off(solved.x, clock)
            idle = 0 if search.best.objective < before else idle + 1
            tell(Standing("neighbourhoods", search.objective, search.bound, f"{int(size)} parts"))
            if size >= len(columns) and solved.status == OPTIMAL:
                return

    def _some(self, draw, parts: Parts, counts, columns, search: Search, x: np.ndarray, size: int) -> np.ndarray:
        free = np.zeros(len(columns), dtype=bool)
        if draw.random() < 0.5 and search.relaxed_at is not None:
            other = np.flatnonzero(np.abs(x[columns] - search.relaxed_at[columns]) > 1e-6)
            free[draw.permutation(other)[:size]] = True
            if free.sum() >= 0.5 * size:
                return free
        sums = np.flatnonzero((counts > 1) & (counts <= max(size, 2)))
        for row in draw.permutation(sums):
            if free.sum() >= size:
                break
            free[parts.T.indices[parts.T.indptr[row] : parts.T.indptr[row + 1]]] = True
        return free
