"""Rounded tables of large size: a first one, by trial (`annealing`) or from the relaxation (`elastic`), then better
ones, a neighbourhood at a time.

A neighbourhood (`neighbourhoods`) frees the parts of some slices of the table; all others stay, and the mixed-integer
problem of what is left takes a moment. Tables that miss a level are cut off like any other solution, and trials keep
the cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from sdcdsl.accelerate.forms.search import Search
from sdcdsl.accelerate.rounding.annealing import Windows, annealed
from sdcdsl.accelerate.rounding.elastic import elastic
from sdcdsl.accelerate.rounding.neighbourhoods import Neighbourhoods
from sdcdsl.accelerate.rounding.parts import Parts, parts_of, stacked
from sdcdsl.deadline import Deadline
from sdcdsl.methods.forms.forms import Forms
from sdcdsl.methods.result import Progress
from sdcdsl.status import INFEASIBLE, OPTIMAL

ANY = 0.9  # a gap with which the first solution will do
FIRST = 5.0  # seconds for it
TRIALS = 30  # for each part, at least
FEW_TRIALS = 30_000
TABLES = 3  # by trial, with cuts in between
FEW = 1000  # parts: more of them are put right from the relaxation (`elastic`) before anything is tried
TINY = 50  # parts: a table of so few needs no better start than any, the whole problem is soon solved
SHARE = 0.9  # of the time: the rest is for the mixed-integer problem as a whole
LARGE_SHARE = 0.98  # where that is too large to get anywhere
ENDLESS = 60.0  # seconds where there is no limit
BETTER = 0.65  # of that: for tables from the relaxation; where none comes into its windows, the rest still improves one
MOMENT = 1.5  # seconds for a neighbourhood
NARROW = 1e-5  # its gap
IDLE = 300  # neighbourhoods in a row that bring nothing: it is time for something else


class Finder:
    def __init__(self, forms: Forms, seed: int):
        self.forms, self.seed = forms, seed

    def __call__(self, search: Search, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        whole, deadline = (
            deadline,
            deadline.within(SHARE * deadline.remaining if np.isfinite(deadline.remaining) else ENDLESS),
        )
        at, problem = self.forms.at, search.problem
        least, most = np.zeros(len(at.base)), np.zeros(len(at.base))
        rounded = at.multiple >= 0
        least[rounded], most[rounded] = problem.lower[at.multiple[rounded]], problem.upper[at.multiple[rounded]]
        parts = parts_of(self.forms.instance, at, least, most)
        if not self._solved_at_once(search, deadline) or parts is None:
            return
        # Sums of whole multiples are whole: solvers need not look at them.
        search.master.integer = np.isin(np.arange(len(problem.cost)), at.multiple[parts.cells])
        ends = least[parts.cells], most[parts.cells]
        if len(parts.cells) > FEW and np.isfinite(whole.remaining):
            deadline = whole.within(LARGE_SHARE * whole.remaining)
        if len(parts.cells) <= FEW:
            self._try(search, parts, ends, deadline)
        movable = search.master.lower[at.multiple[parts.cells]] < search.master.upper[at.multiple[parts.cells]]
        around = Neighbourhoods(self.forms.instance, parts, movable, np.random.default_rng(self.seed))
        if search.best is None or (len(parts.cells) > TINY and not search.near_enough(gap)):
            self._from_relaxation(search, parts, ends, around, deadline, gap, tell)
        if search.best is None and len(parts.cells) > FEW:
            self._try(search, parts, ends, deadline)
        tell(Progress("tables by trial", search.objective, search.bound))
        if search.best is not None:
            self._neighbourhoods(search, parts, around, deadline, gap, tell)

    def _solved_at_once(self, search: Search, deadline: Deadline) -> bool:
        """What the solver has in a moment: for large tables a poor one, but one. False where there is no table."""
        solved = search.master.solve(gap=ANY, seconds=min(FIRST, deadline.remaining), seed=self.seed)
        deadline.mark_time_dependent(solved.timed)
        if solved.status == INFEASIBLE:
            search.infeasible = True
            return False
        if solved.x is not None:
            search.settle(solved.x, deadline)
        return True

    # ---- from the relaxation -------------------------------------------------------------------------------------

    def _from_relaxation(
        self,
        search: Search,
        parts: Parts,
        ends: tuple[np.ndarray, np.ndarray],
        around: Neighbourhoods,
        deadline: Deadline,
        gap: float,
        tell: Callable[[Progress], None],
    ) -> None:
        """Tiny tables need a first one only, others go on. A table that misses a level is cut off, and the next search
        has the cut."""
        one, cut = len(parts.cells) <= TINY, False
        if search.relaxed_at is None:
            return
        relaxed = search.relaxed_at[self.forms.at.multiple[parts.cells]]

        def found(k_parts: np.ndarray) -> bool:
            nonlocal cut
            x = self._columns(search, parts, k_parts)
            cut = search.settle(x, deadline)
            tell(Progress("tables from the relaxation", search.objective, search.bound))
            return not (cut or one or search.near_enough(gap))

        part = deadline.within(BETTER * deadline.remaining)

        def left() -> float:
            return 0.0 if search.over(deadline) else part.remaining if search.best is None else deadline.remaining

        for _ in range(TABLES):
            elastic(self._windows(search, parts, ends), relaxed, around, part, left, self.seed, found)
            if not cut or search.best is not None:
                return
            cut = False

    # ---- by trial ------------------------------------------------------------------------------------------------

    def _try(self, search: Search, parts: Parts, ends: tuple[np.ndarray, np.ndarray], deadline: Deadline) -> None:
        columns = self.forms.at.multiple[parts.cells]
        relaxed = search.relaxed_at
        start = relaxed[columns] if relaxed is not None else np.zeros(len(columns))
        trials = max(TRIALS * len(columns), FEW_TRIALS)
        for number in range(TABLES):
            if deadline.expired:
                return
            found = annealed(
                self._windows(search, parts, ends), start, trials, self.seed + number, lambda: deadline.expired
            )
            if found.outside > 0:
                return
            x = self._columns(search, parts, found.k)
            if not search.settle(x, deadline):
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
        self,
        search: Search,
        parts: Parts,
        around: Neighbourhoods,
        deadline: Deadline,
        gap: float,
        tell: Callable[[Progress], None],
    ) -> None:
        master, unit = search.master, search.problem.unit
        rows_of = csc_array(parts.T)
        idle = 0
        while not deadline.expired and idle < IDLE and not search.near_enough(gap):
            assert search.best is not None
            x, before = search.best.u / unit, search.best.objective
            way, free = around.drawn()
            mask = self._moving(rows_of, parts, free, len(x)) & (master.lower < master.upper)
            began = process_time()
            solved = master.solve_around(x, mask, gap=NARROW, seconds=min(MOMENT, deadline.remaining), seed=self.seed)
            if solved.x is not None and solved.objective < master.cost @ x * (1 - 1e-12):
                search.settle(solved.x, deadline)
            gain = before - search.best.objective
            done = solved.status == OPTIMAL
            around.learn(way, gain, process_time() - began, done)
            deadline.mark_time_dependent()  # which neighbourhoods are tried follows from how long they take
            idle = 0 if gain > 0 else idle + 1
            tell(Progress("neighbourhoods", search.objective, search.bound, f"{int(free.sum())} parts"))
            if done and free.sum() == around.movable.sum():
                return

    def _moving(self, rows_of: csc_array, parts: Parts, free: np.ndarray, columns_in_all: int) -> np.ndarray:
        """The columns of cells that follow from these parts, and of what is beyond their windows."""
        at, mask = self.forms.at, np.zeros(columns_in_all, dtype=bool)
        moved: Any = rows_of[:, np.flatnonzero(free)]
        columns = at.multiple[parts.rows[np.unique(moved.indices)]]
        mask[columns[columns >= 0]] = True
        for k, _, over, under in at.beyond:
            mask[over] = mask[under] = mask[k]
        return mask
