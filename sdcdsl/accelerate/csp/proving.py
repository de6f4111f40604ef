"""A pattern and a bound that meet: rounds of cuts, patterns guided by their solution, parts of the table one by one and
then all of it (`by_parts`), and where that is not enough the integer master problem.

Solutions of the relaxation and of the integer master are not patterns yet: requirements that no cut speaks of so far
may fall short. Each is completed to a valid pattern by the heuristics, which often finds a better one than they do
alone; and each gives cuts. When the integer optimum needs no completion it is the best pattern there is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcdsl.accelerate.csp.bounding import Bounding
from sdcdsl.accelerate.csp.heuristics import Found, SuppressionHeuristic
from sdcdsl.accelerate.csp.partition_bound import ByParts
from sdcdsl.accelerate.csp.tuning import BOUND
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import gap
from sdcdsl.numerics.master import Row
from sdcdsl.solve.limits import SolveLimits
from sdcdsl.solve.status import Status
from sdcdsl.status import FAILED, INFEASIBLE, OPTIMAL


class Proving:
    """`take` is given patterns, `said` new bounds; both live with the caller."""

    def __init__(
        self,
        bounding: Bounding,
        finder: SuppressionHeuristic,
        deadline: Deadline,
        take: Callable[[Found], bool],
        said: Callable[[str, float], None],
        best: Callable[[], Found | None],
        wanted: float,
        limits: SolveLimits,
    ):
        self.bounding, self.finder, self.deadline = bounding, finder, deadline
        self.take, self.said, self.best, self.wanted, self.limits = take, said, best, wanted, limits
        self._solving = self._completing = 0.0  # seconds that integer problems and completions took
        self._last = 0.0  # seconds of the last completion
        self._too_large = False  # a round of cuts of the whole table does not end in the time that is left for one
        self.infeasible = False  # with the cap on the number of cells
        self._random = np.random.default_rng(limits.seed)

    def run(self, backend: str = "highs") -> None:
        self._in_parts()
        if self.bounding.subtables.parts and not self._done():
            self._guided()
        self._relaxed()
        if not self._done():
            self._guided()
        if self._too_large:
            return
        if not self._done() and backend == "scip":
            self._branch_and_cut()
        elif not self._done():
            self._by_parts()
            if not self._done():
                self._integral()

    # ---- relaxation --------------------------------------------------------------------------------------

    def _relaxed(self) -> None:
        """A round of cuts of the whole table, then of its parts as long as they raise the bound, and again."""
        whole: list[float] = []
        while not self._done():
            part = self.deadline
            if self.bounding.subtables.parts:
                part = part.within(BOUND.one_round * part.remaining)
            cuts = self.bounding.round(part)
            self.said("relaxation", self.bounding.bound)  # who hears it may keep what is known so far
            whole.append(self.bounding.bound)
            if part.expired and not self.deadline.expired:
                self.deadline.mark_time_dependent()
                self._too_large = True
            if not cuts or self._too_large or _stalled(whole, BOUND.stalled):
                return
            self._in_parts()

    def _in_parts(self) -> None:
        bounds: list[float] = []
        while self.bounding.subtables.parts and not self._done():
            cuts = self.bounding.round(self.deadline, in_parts=True)
            self.said("relaxation", self.bounding.bound)
            bounds.append(self.bounding.bound)
            if not cuts or _stalled(bounds, BOUND.stalled_in_parts):
                return

    def _guided(self) -> None:
        share = self.bounding.to_cells(self.bounding.x)
        for threshold in BOUND.thresholds:
            if self._done():
                return
            self._complete(share > threshold, self.bounding.w * (1 - BOUND.pull * share))
        self._draw(share)

    def _draw(self, share: np.ndarray) -> None:
        """The same at random: where completing takes no time, many of them find what three do not. Every other one
        keeps to the best pattern so far, more or less."""
        one = self.deadline.within(BOUND.drawing * self.deadline.remaining)
        for k in range(BOUND.draws):
            best = self.best()
            if self._done() or one.expired:
                return
            if self._last > BOUND.quick:
                self.deadline.mark_time_dependent()
                return
            part = self._random.uniform() if k % 2 and best is not None else 1.0
            mixed = share if best is None else part * share + (1 - part) * best[0]
            pull, noise = self._random.uniform(0.5, 1.0), self._random.choice(BOUND.noise)
            price = self.bounding.w * (1 - pull * mixed) * np.exp(self._random.normal(0, noise, len(share)))
            self._complete(mixed > self._random.uniform(), price)

    def _complete(self, hidden: np.ndarray, price: np.ndarray | None = None) -> None:
        began = self.deadline.elapsed
        found = self.finder.complete(hidden, price)
        self._last = self.deadline.elapsed - began
        self._completing += self._last
        if found is not None:
            self.take(found)

    def _pattern(self, x: np.ndarray) -> Found:
        one = self.bounding
        hidden = (one.to_cells(x) > 0.5) | one.instance.sensitive | one.instance.open_anyway
        return hidden, float(one.w[hidden & one.published].sum())

    # ---- parts of the table ------------------------------------------------------------------------------

    def _by_parts(self) -> None:
        bounding = self.bounding

        def best() -> tuple[np.ndarray, float] | None:
            known = self.best()
            return None if known is None else (bounding.of_cells(known[0]), known[1])

        began, before = self.deadline.elapsed, self._completing

        def propose(x: np.ndarray, whole: bool) -> None:
            if self._last > BOUND.at_once and not whole:
                self.deadline.mark_time_dependent()
                if self._completing - before > BOUND.completing * (self.deadline.elapsed - began):
                    return
            share = bounding.to_cells(x)
            self._complete(share > 0.5, bounding.w * (1 - BOUND.pull * share))

        def enough(bound: float) -> bool:
            known = self.best()
            return known is not None and gap(known[1], bound) <= self.wanted

        def tell() -> None:
            self.said("parts", bounding.bound)

        ByParts(bounding, self.deadline, best, propose, enough, tell).run()
        tell()

    # ---- integer master ----------------------------------------------------------------------------------

    def _integral(self) -> None:
        bounding = self.bounding
        seconds, tight = BOUND.slice, False
        while not self._done():
            best = self.best()
            start = bounding.of_cells(best[0]) if best is not None else None
            if best is not None and start is not None:
                bounding.fix(best[1], start)
            left = self._gap()
            goal = self.wanted / 2 if tight else max(left / BOUND.coarse, self.wanted / 2)
            if best is not None:  # the master does not count what is hidden anyway
                goal *= best[1] / max(best[1] - bounding.base, 1e-9 * best[1])
            slice_ = self.deadline.within(min(seconds, self.deadline.remaining))
            made = bounding.master.solve(
                start=start,
                gap=goal,
                seconds=BOUND.busy * slice_.remaining,
                threads=self.limits.threads or 1,
                seed=self.limits.seed,
                heuristics=False,  # completing its solutions does better
                over=lambda slice_=slice_: slice_.expired,
            )
            self._solving += slice_.elapsed
            self.deadline.mark_time_dependent(made.timed)
            if made.status == INFEASIBLE:
                self.infeasible = best is None  # the best keeps all cuts: with one at hand the solver is wrong
                return
            if made.status == FAILED:
                return
            bounding.proved(made.bound)
            self.said("integer problem", bounding.bound)
            if made.x is None or self.deadline.expired:
                seconds *= 2
                continue
            x = np.round(made.x)
            rows = bounding.broken(x, self.deadline)
            if rows:
                bounding.add_lasting(rows)
                self._others(made.met, self.deadline.within(BOUND.cutting * slice_.elapsed))
                self._complete(bounding.to_cells(x) > 0.5)
                self._relaxed()
                self.deadline.mark_time_dependent()  # how much is drawn follows from how long solving takes
                if self._completing < BOUND.completing * self._solving:
                    self._draw(bounding.to_cells(bounding.x))
                continue
            if not bounding.complete:
                return
            self.take(self._pattern(x))
            if made.status == OPTIMAL and tight:
                return
            tight = made.status == OPTIMAL
            seconds *= 1 if tight else 2

    def _others(self, met: list[np.ndarray], enough: Deadline) -> None:
        """Solutions on the way, the last first: what they break, the next integer problem need not find out."""
        seen: set[bytes] = set()
        for other in (np.round(x) for x in reversed(met)):
            if self.deadline.expired or (len(seen) >= BOUND.least_met and enough.expired):
                return
            if other.tobytes() in seen:
                continue
            seen.add(other.tobytes())
            self.bounding.add_lasting(self.bounding.broken(other, self.deadline))
            if self._last < BOUND.at_once or self._completing < BOUND.completing * self._solving:
                self._complete(self.bounding.to_cells(other) > 0.5)

    def _branch_and_cut(self) -> None:
        """The same in one go, where a solver takes cuts on its way."""
        from sdcdsl.solve.scip import branch_and_cut  # noqa: PLC0415  an extra

        bounding, master = self.bounding, self.bounding.master
        best = self.best()

        def separate(x: np.ndarray, integral: bool) -> list[Row]:
            return bounding.broken(x, Deadline()) if integral else bounding.violated(x, self.deadline)

        def better(x: np.ndarray, objective: float) -> None:
            self.take(self._pattern(x))

        made = branch_and_cut(
            master.cost,
            master.lower,
            master.upper,
            master.integer,
            (master.matrix, master.rhs),
            separate,
            self.limits.with_time(self.deadline.remaining),
            start=bounding.of_cells(best[0]) if best is not None else None,
            on_incumbent=better,
        )
        self.infeasible = made.status == Status.INFEASIBLE and best is None
        if made.bound is not None and made.status in (Status.OPTIMAL, Status.FEASIBLE, Status.LIMIT):
            bounding.proved(made.bound)
            self.said("branch and cut", bounding.bound)

    # ---- when to stop --------------------------------------------------------------------------------------

    def _gap(self) -> float:
        best = self.best()
        return 1.0 if best is None else gap(best[1], self.bounding.bound)

    def _done(self) -> bool:
        return self.deadline.expired or self._gap() <= self.wanted


def _stalled(bounds: list[float], share: float) -> bool:
    return len(bounds) > BOUND.stall and bounds[-1] - bounds[-BOUND.stall] < share * abs(bounds[-1])
