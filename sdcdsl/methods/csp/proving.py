"""A pattern and a bound that meet: rounds of cuts, patterns guided by their solution, then the integer master problem.

Solutions of the relaxation and of the integer master are not patterns yet: sides that no cut speaks of so far may fall
short. Each is completed to a valid pattern by the heuristics, which often finds a better one than they do alone; and
each gives cuts. When the integer optimum needs no completion it is the best pattern there is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcdsl.methods.csp.bounding import Bounding
from sdcdsl.methods.csp.finding import Finder, Found
from sdcdsl.methods.result import Clock, gap
from sdcdsl.solve.limits import Limits
from sdcdsl.solve.master import FAILED, INFEASIBLE, OPTIMAL, Row
from sdcdsl.solve.status import Status

THRESHOLDS = (0.3, 0.5, 0.1)  # shares from which a cell of the relaxation counts as hidden
PULL = 0.9  # how much cheaper a cell becomes by its share
COARSE = 10  # gaps of the first integer problems, in gaps that are left
MET = 20  # solutions on the way to one that give cuts too
QUICK = 0.2  # seconds a completion may take to be tried on all of them
SLICE = 20.0  # seconds an integer problem gets at first
STALL, STALLED = 8, 2e-5  # rounds in which the bound must grow by this share


class Proving:
    """`take` is given patterns, `said` new bounds; both live with the caller."""

    def __init__(
        self,
        bounding: Bounding,
        finder: Finder,
        clock: Clock,
        take: Callable[[Found], bool],
        said: Callable[[str, float], None],
        best: Callable[[], Found | None],
        wanted: float,
        limits: Limits,
    ):
        self.bounding, self.finder, self.clock = bounding, finder, clock
        self.take, self.said, self.best, self.wanted, self.limits = take, said, best, wanted, limits
        self._completing = 0.0  # seconds the last completion took
        self.infeasible = False  # with the cap on the number of cells

    def run(self, backend: str = "highs") -> None:
        self._relaxed()
        if not self._done():
            self._guided()
        if not self._done():
            self._branch_and_cut() if backend == "scip" else self._integral()

    # ---- relaxation --------------------------------------------------------------------------------------

    def _relaxed(self) -> None:
        bounds: list[float] = []
        while not self._done():
            cuts = self.bounding.round(self.clock)
            self.said("relaxation", self.bounding.bound)
            bounds.append(self.bounding.bound)
            stalled = len(bounds) > STALL and bounds[-1] - bounds[-STALL] < STALLED * abs(bounds[-1])
            if not cuts or stalled:
                return

    def _guided(self) -> None:
        share = self.bounding.to_cells(self.bounding.x)
        for threshold in THRESHOLDS:
            if self._done():
                return
            self._complete(share > threshold, share)

    def _complete(self, hidden: np.ndarray, share: np.ndarray | None = None) -> None:
        price = None if share is None else self.bounding.w * (1 - PULL * share)
        began = self.clock.passed
        found = self.finder.complete(hidden, price)
        self._completing = self.clock.passed - began
        if found is not None:
            self.take(found)

    def _pattern(self, x: np.ndarray) -> Found:
        one = self.bounding
        hidden = (one.to_cells(x) > 0.5) | one.instance.sensitive | one.instance.open_anyway
        return hidden, float(one.w[hidden & one.published].sum())

    # ---- integer master ----------------------------------------------------------------------------------

    def _integral(self) -> None:
        bounding = self.bounding
        seconds, tight = SLICE, False
        while not self._done():
            best = self.best()
            if best is not None:
                bounding.fix(best[1])
            left = self._gap()
            goal = self.wanted / 2 if tight else max(left / COARSE, self.wanted / 2)
            if best is not None:  # the master does not count what is hidden anyway
                goal *= best[1] / max(best[1] - bounding.base, 1e-9 * best[1])
            start = bounding.of_cells(best[0]) if best is not None else None
            made = bounding.master.solve(
                start=start,
                gap=goal,
                seconds=min(seconds, self.clock.left),
                threads=self.limits.threads or 1,
                seed=self.limits.seed,
                heuristics=False,  # completing its solutions does better
            )
            if made.status == INFEASIBLE:
                # Whatever the cuts allow is dearer than the best: they leave nothing else.
                self.infeasible = best is None
                if best is not None:
                    bounding.bound = max(bounding.bound, best[1])
                    self.said("integer problem", bounding.bound)
                return
            if made.status == FAILED:
                return
            bounding.bound = max(bounding.bound, bounding.base + made.bound * bounding.unit)
            self.said("integer problem", bounding.bound)
            if made.x is None or self.clock.over:
                seconds *= 2
                continue
            x = np.round(made.x)
            rows = bounding.broken(x, self.clock)
            if rows:
                bounding.master.add(rows)
                for other in (np.round(x) for x in made.met[-MET:]):
                    bounding.master.add(bounding.broken(other, self.clock))
                    if self._completing < QUICK:
                        self._complete(bounding.to_cells(other) > 0.5)
                self._complete(bounding.to_cells(x) > 0.5)
                self._relaxed()
                continue
            if not bounding.complete:
                return
            self.take(self._pattern(x))
            if made.status == OPTIMAL and tight:
                return
            tight = made.status == OPTIMAL
            seconds *= 1 if tight else 2

    def _branch_and_cut(self) -> None:
        """The same in one go, where a solver takes cuts on its way."""
        from sdcdsl.solve.scip import branch_and_cut  # noqa: PLC0415  an extra

        bounding, master = self.bounding, self.bounding.master
        best = self.best()

        def separate(x: np.ndarray, integral: bool) -> list[Row]:
            return bounding.broken(x, Clock()) if integral else bounding.violated(x, self.clock)

        def better(x: np.ndarray, objective: float) -> None:
            self.take(self._pattern(x))

        made = branch_and_cut(
            master.cost,
            master.lower,
            master.upper,
            master.integer,
            (master.matrix, master.rhs),
            separate,
            self.limits.with_time(self.clock.left),
            start=bounding.of_cells(best[0]) if best is not None else None,
            on_incumbent=better,
        )
        self.infeasible = made.status == Status.INFEASIBLE and best is None
        if made.bound is not None and made.status in (Status.OPTIMAL, Status.FEASIBLE, Status.LIMIT):
            bounding.bound = max(bounding.bound, bounding.base + made.bound * bounding.unit)
            self.said("branch and cut", bounding.bound)

    # ---- when to stop --------------------------------------------------------------------------------------

    def _gap(self) -> float:
        best = self.best()
        return 1.0 if best is None else gap(best[1], self.bounding.bound)

    def _done(self) -> bool:
        return self.clock.over or self._gap() <= self.wanted
