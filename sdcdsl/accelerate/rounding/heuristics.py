"""Rounded tables of large size: a first one, by trial (`annealing`) or from the relaxation (`elastic`), then better
ones, a neighbourhood at a time.

Where the linear relaxation takes a simplex method too long, a gradient method (`numerics.primal_dual_gradient`) gives
its bound and a point near its optimum within seconds, and trials go on from there: `first`.

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

from sdcdsl.accelerate.forms.search import FormsSearch
from sdcdsl.accelerate.rounding.annealing import Windows, annealed
from sdcdsl.accelerate.rounding.elastic import elastic
from sdcdsl.accelerate.rounding.losses import Losses, losses_of
from sdcdsl.accelerate.rounding.neighbourhoods import Neighbourhoods
from sdcdsl.accelerate.rounding.pairs import PairTrials
from sdcdsl.accelerate.rounding.parts import Parts, parts_of, stacked
from sdcdsl.accelerate.rounding.tuning import PAIRS, TUNING
from sdcdsl.deadline import Deadline
from sdcdsl.methods.forms.forms import Forms
from sdcdsl.methods.result import Progress
from sdcdsl.numerics.primal_dual_gradient import Rows, relaxed
from sdcdsl.status import INFEASIBLE, OPTIMAL


class RoundingHeuristic:
    def __init__(self, forms: Forms, seed: int):
        self.forms, self.seed = forms, seed

    def first(self, search: FormsSearch, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> bool:
        """A bound and a table of what is large, before anything else. True if nothing else gets anywhere."""
        made = self._parts(search)
        if made is None or len(made[0].cells) <= TUNING.few:
            return False
        parts, ends = made
        large = len(parts.cells) > TUNING.large
        left = deadline.remaining if np.isfinite(deadline.remaining) else TUNING.endless
        part = deadline.within((1.0 if large else TUNING.trying) * left)
        windows = self._windows(search, parts, ends)
        losses = losses_of(windows)
        self._at_once(search, parts, windows, part)
        tell(Progress("tables from the truth", search.objective, search.bound))
        start, bound, multipliers = self._by_gradient(windows, losses, part.within(TUNING.gradient * left))
        if search.if_touched is None:
            search.raise_bound(bound)
        tell(Progress("relaxation", search.objective, search.bound))
        start = np.floor(start + np.random.default_rng(self.seed).random(len(start)))
        made, number, least = PairTrials(windows, start, multipliers, self.seed), 0, np.inf
        trials, hot = PAIRS.trials * len(made.movable), PAIRS.hot
        while not search.over(part) and not search.near_enough(gap):
            made.cooled(trials, hot, lambda: search.over(part))
            found = made.mended(lambda: search.over(part))
            part.mark_time_dependent()
            cut, number = False, number + 1
            if found.outside == 0 and found.loss < least:
                cut = search.settle(self._columns(search, parts, found.k))
                least, start = (np.inf if cut else found.loss), found.k
            if cut:
                windows = self._windows(search, parts, ends)
                made = PairTrials(windows, found.k, multipliers, self.seed + number)
            elif np.isfinite(least):
                made.begin(start)
            trials, hot = (trials if cut else 2 * trials), PAIRS.again if np.isfinite(least) else PAIRS.hot
            tell(Progress("tables by trial", search.objective, search.bound, f"{found.outside:g} outside"))
        return large

    def _at_once(self, search: FormsSearch, parts: Parts, windows: Windows, deadline: Deadline) -> None:
        """From the true values, rounded by chance, to some table: one in hand, before any effort is made."""
        at, cells = self.forms.at, parts.cells
        truth = (self.forms.instance.a[cells] - at.first[cells]) / at.base[cells]
        start = np.floor(truth + np.random.default_rng(self.seed).random(len(truth)))
        made = PairTrials(windows, start, np.zeros(0), self.seed)
        found = made.mended(lambda: search.over(deadline), PAIRS.brief)
        if found.outside == 0:
            search.settle(self._columns(search, parts, found.k))

    def _by_gradient(self, of: Windows, losses: Losses, deadline: Deadline) -> tuple[np.ndarray, float, np.ndarray]:
        """A point, a bound, and the multipliers of all rows that prove it."""
        stated = (np.diff(of.A.indptr) > 1) | (losses.slack_over > 0) | (losses.slack_under > 0)
        at = np.flatnonzero(stated)
        rows = Rows(
            csr_array(of.A[at]),
            of.least[at],
            losses.low[at],
            losses.high[at],
            of.most[at],
            losses.over[at],
            losses.under[at],
        )
        made = relaxed(losses.cost, of.k_least, of.k_most, rows, TUNING.steps, lambda: deadline.expired)
        deadline.mark_time_dependent(made.steps < TUNING.steps and deadline.expired)
        multipliers = np.zeros(len(of.least))
        multipliers[at] = made.price
        return made.x, made.bound + losses.constant, multipliers

    def _parts(self, search: FormsSearch) -> tuple[Parts, tuple[np.ndarray, np.ndarray]] | None:
        """The parts, and the least and the most of each."""
        at, problem = self.forms.at, search.problem
        least, most = np.zeros(len(at.base)), np.zeros(len(at.base))
        rounded = at.multiple >= 0
        least[rounded], most[rounded] = problem.lower[at.multiple[rounded]], problem.upper[at.multiple[rounded]]
        parts = parts_of(self.forms.instance, at, least, most)
        return None if parts is None else (parts, (least[parts.cells], most[parts.cells]))

    def __call__(self, search: FormsSearch, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        whole, deadline = (
            deadline,
            deadline.within(TUNING.share * deadline.remaining if np.isfinite(deadline.remaining) else TUNING.endless),
        )
        at, problem = self.forms.at, search.problem
        made = self._parts(search)
        if (search.best is None and not self._solved_at_once(search, deadline)) or made is None:
            return
        parts, ends = made
        # Sums of whole multiples are whole: solvers need not look at them.
        search.master.integer = np.isin(np.arange(len(problem.cost)), at.multiple[parts.cells])
        if len(parts.cells) > TUNING.few and np.isfinite(whole.remaining):
            deadline = whole.within(TUNING.large_share * whole.remaining)
        if len(parts.cells) <= TUNING.few:
            self._try(search, parts, ends, deadline)
        movable = search.master.lower[at.multiple[parts.cells]] < search.master.upper[at.multiple[parts.cells]]
        around = Neighbourhoods(self.forms.instance, parts, movable, np.random.default_rng(self.seed))
        if search.best is None or (len(parts.cells) > TUNING.tiny and not search.near_enough(gap)):
            self._from_relaxation(search, parts, ends, around, deadline, gap, tell)
        if search.best is None and len(parts.cells) > TUNING.few:
            self._try(search, parts, ends, deadline)
        tell(Progress("tables by trial", search.objective, search.bound))
        if search.best is not None:
            self._neighbourhoods(search, parts, around, deadline, gap, tell)

    def _solved_at_once(self, search: FormsSearch, deadline: Deadline) -> bool:
        """What the solver has in a moment: for large tables a poor one, but one. False where there is no table."""
        solved = search.master.solve(gap=TUNING.any, seconds=min(TUNING.first, deadline.remaining), seed=self.seed)
        deadline.mark_time_dependent(solved.timed)
        if solved.status == INFEASIBLE:
            search.infeasible = True
            return False
        if solved.x is not None:
            search.settle(solved.x)
        return True

    # ---- from the relaxation -------------------------------------------------------------------------------------

    def _from_relaxation(
        self,
        search: FormsSearch,
        parts: Parts,
        ends: tuple[np.ndarray, np.ndarray],
        around: Neighbourhoods,
        deadline: Deadline,
        gap: float,
        tell: Callable[[Progress], None],
    ) -> None:
        """Tiny tables need a first one only, others go on. A table that misses a level is cut off, and the next search
        has the cut."""
        one, cut = len(parts.cells) <= TUNING.tiny, False
        if search.relaxed_at is None:
            return
        start = search.relaxed_at[self.forms.at.multiple[parts.cells]]

        def found(k_parts: np.ndarray) -> bool:
            nonlocal cut
            x = self._columns(search, parts, k_parts)
            cut = search.settle(x)
            tell(Progress("tables from the relaxation", search.objective, search.bound))
            return not (cut or one or search.near_enough(gap))

        part = deadline.within(TUNING.better * deadline.remaining)

        def left() -> float:
            return 0.0 if search.over(deadline) else part.remaining if search.best is None else deadline.remaining

        for _ in range(TUNING.tables):
            elastic(self._windows(search, parts, ends), start, around, part, left, self.seed, found)
            if not cut or search.best is not None:
                return
            cut = False

    # ---- by trial ------------------------------------------------------------------------------------------------

    def _try(self, search: FormsSearch, parts: Parts, ends: tuple[np.ndarray, np.ndarray], deadline: Deadline) -> None:
        columns = self.forms.at.multiple[parts.cells]
        known = search.relaxed_at
        start = known[columns] if known is not None else np.zeros(len(columns))
        trials = max(TUNING.trials * len(columns), TUNING.few_trials)
        for number in range(TUNING.tables):
            if deadline.expired:
                return
            found = annealed(
                self._windows(search, parts, ends), start, trials, self.seed + number, lambda: deadline.expired
            )
            if found.outside > 0:
                return
            x = self._columns(search, parts, found.k)
            if not search.settle(x):
                return

    def _windows(self, search: FormsSearch, parts: Parts, ends: tuple[np.ndarray, np.ndarray]) -> Windows:
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

    def _columns(self, search: FormsSearch, parts: Parts, k_parts: np.ndarray) -> np.ndarray:
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
        search: FormsSearch,
        parts: Parts,
        around: Neighbourhoods,
        deadline: Deadline,
        gap: float,
        tell: Callable[[Progress], None],
    ) -> None:
        master, unit = search.master, search.problem.unit
        rows_of = csc_array(parts.T)
        stalled = 0
        while not deadline.expired and stalled < TUNING.stalled and not search.near_enough(gap):
            assert search.best is not None
            x, before = search.best.u / unit, search.best.objective
            way, free = around.drawn()
            mask = self._moving(rows_of, parts, free, len(x)) & (master.lower < master.upper)
            began = process_time()
            solved = master.solve_around(
                x, mask, gap=TUNING.narrow, seconds=min(TUNING.moment, deadline.remaining), seed=self.seed
            )
            if solved.x is not None and solved.objective < master.cost @ x * (1 - 1e-12):
                search.settle(solved.x)
            gain = before - search.best.objective
            done = solved.status == OPTIMAL
            around.learn(way, gain, process_time() - began, done)
            deadline.mark_time_dependent()  # which neighbourhoods are tried follows from how long they take
            stalled = 0 if gain > 0 else stalled + 1
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
