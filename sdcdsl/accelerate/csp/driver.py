"""Cell suppression: the cheapest set of cells to hide (paper 003 §3).

    min Σ w_i x_i    x ∈ {0, 1},  x_p = 1 for sensitive cells, and for every attacker k and sensitive cell p
                     max { d_p : M d = 0, -LB_i^k x_i ≤ d_i ≤ UB_i^k x_i } ≥ upl,  the same downwards for lpl,
                     both together ≥ spl

Conditional levels (§7, `methods.conditions`) hold for cells that are hidden: d_p ≥ upl · x_p.

In this context, and as far as time allows: a valid pattern (`finding`), a better one, a lower bound from the linear
relaxation with capacity cuts (`cutting`), patterns guided by its solution, bounds of parts of the table that add up
(`by_parts`), and the master problem with its cuts, whose solutions are completed to valid patterns again. Whatever ends
the search, the best valid pattern is the result, with the best bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf, isfinite
from time import process_time

import numpy as np

from sdcdsl.accelerate.csp.bounding import Bounding
from sdcdsl.accelerate.csp.box_state import Move
from sdcdsl.accelerate.csp.by_boxes import ByBoxes
from sdcdsl.accelerate.csp.conditional_repair import ConditionalRepair
from sdcdsl.accelerate.csp.finders import finder_for
from sdcdsl.accelerate.csp.heuristics import Found, SuppressionHeuristic
from sdcdsl.accelerate.csp.known_witnesses import completed_witnesses
from sdcdsl.accelerate.csp.lazy_members import LazyMembers
from sdcdsl.accelerate.csp.proving import Proving
from sdcdsl.accelerate.csp.tuning import DRIVER
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.checkpoint import CheckpointState
from sdcdsl.methods.conditional_levels import conditions_of
from sdcdsl.methods.instance import Instance, discounted
from sdcdsl.methods.pattern_check import falling_short
from sdcdsl.methods.result import Progress, Result, SolveContext, gap
from sdcdsl.pattern import hidden as pattern_of
from sdcdsl.proof.witness import MoveMatrix
from sdcdsl.solve.limits import SolveLimits
from sdcdsl.status import FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

SEARCH, BOUND = "search", "bound"  # phases, as they are kept


def solve(problem: TableProblem, context: SolveContext) -> Result:
    return _Solving(problem, context).run()


class _Priced:
    """A finder that looked at other prices: its patterns at the real ones."""

    def __init__(self, finder: SuppressionHeuristic, w: np.ndarray, counted: np.ndarray):
        self.finder, self.w, self.counted = finder, w, counted

    @property
    def gaining(self) -> bool:
        return self.finder.gaining

    @property
    def bounded(self) -> bool:
        return self.finder.bounded

    @property
    def tells_no_sums(self) -> bool:
        return self.finder.tells_no_sums

    def first(self, hidden: np.ndarray | None = None, moves: Sequence[Move] = ()) -> Found | None:
        return self._real(self.finder.first(hidden, moves))

    def better(self, deadline: Deadline) -> Found | None:
        return self._real(self.finder.better(deadline))

    def complete(self, hidden: np.ndarray, price: np.ndarray | None = None) -> Found | None:
        return self._real(self.finder.complete(hidden, price))

    def require(self, instance: Instance) -> Found | None:
        return self._real(self.finder.require(instance))

    def proves(self, hidden: np.ndarray) -> bool:
        return self.finder.proves(hidden)

    def known_moves(self) -> list[Move]:
        return self.finder.known_moves()

    def _real(self, found: Found | None) -> Found | None:
        return None if found is None else (found[0], float(self.w[found[0] & self.counted].sum()))


class _Solving:
    def __init__(self, problem: TableProblem, context: SolveContext):
        self.problem, self.context = problem, context
        whole = Instance(problem)
        self.conditions = conditions_of(whole)
        self.instance = whole if self.conditions is None else self.conditions.base
        # Ends earlier, by what the last check takes.
        self.deadline = context.deadline.within(context.deadline.longest)
        self._checked: np.ndarray | None = None
        self.w = discounted(self.instance, context.before, context.options)
        self.cap = context.options.get("cap_hidden")
        self.wanted = float(context.options.get("gap") or 0.0)
        self.best: Found | None = None
        self.before_best: list[Found] = []
        self.bound: float | None = None
        self.seconds: dict[str, float] = {}
        self.checkpointer, self.phase = context.checkpointer, SEARCH
        self.checkpointer.save = self._keep
        self.bounding: Bounding | None = None
        self.finder: SuppressionHeuristic | None = None
        self.counted = problem.dataset["published"].values

    def run(self) -> Result:
        must = self.instance.sensitive | self.instance.open_anyway
        self.bound = float(self.w[must & self.counted].sum())
        if self.cap is not None and (must & self.counted).sum() > self.cap:
            return Result(INFEASIBLE, seconds=self.seconds)
        if not self.instance.asks:
            self.best = must, self.bound
            return self._result()
        finder = self.finder = self._finder()
        with self._timed("search"):
            known = self._known()
            moves = [] if known is None else self._known_witnesses()
            found = finder.first(known, moves)
            if found is not None:
                self._take(found)
                if not moves:
                    self._resume(finder, known)
                if self.phase == SEARCH:
                    began, left = self.deadline.elapsed, self.deadline.remaining
                    if isinstance(finder, ByBoxes) and finder.bounded:
                        self._improve(finder, began + DRIVER.guided_share * left)
                    else:
                        self._improve(finder, began + DRIVER.gaining_share * left, while_gaining=True)
                        self._improve(finder, began + DRIVER.first_share * left)
                self._set_aside(finder)
            elif not self.deadline.expired and (
                self.conditions is None or falling_short(self.instance, self.instance.may_open)
            ):
                return self._nothing()
        if not self._done() and not self.deadline.expired and finder.bounded:
            with self._timed("bound"):
                infeasible = self._prove(finder)
            if infeasible and self.best is None:
                return Result(INFEASIBLE, seconds=self.seconds)
        with self._timed("search"):
            self._improve(finder, inf if isfinite(self.deadline.remaining) else self.deadline.elapsed)
            if (
                not self.deadline.expired
                and self.best is not None
                and (again := finder.complete(self.best[0])) is not None
            ):
                self._take(again)  # without cells that cost nothing and serve nothing
            self._check(finder)
        return self._result() if self.best is not None else self._nothing()

    # ---- steps -----------------------------------------------------------------------------------------

    def _finder(self) -> SuppressionHeuristic:
        """With a cap on the number of cells, each of them counts: more and more, until there are few enough."""
        finder = self._finder_at(0.0)
        if self.cap is None:
            return finder
        for toll in DRIVER.tolls:
            found = finder.first()
            if found is None or (found[0] & self.counted).sum() <= self.cap or self.deadline.expired:
                break
            finder = self._finder_at(toll)
        return _Priced(finder, self.w, self.counted)

    def _finder_at(self, toll: float) -> SuppressionHeuristic:
        typical = float(np.median(self.w[self.w > 0])) if (self.w > 0).any() else 1.0

        def make(instance: Instance) -> SuppressionHeuristic:
            prices, seed, team = self.w + toll * typical, self.context.seed, self.context.team
            sums = self.conditions is None and self.problem.families is None
            return finder_for(instance, prices, self.deadline, self._tell, seed, sums, team)

        if self.conditions is not None:
            return ConditionalRepair(self.conditions, make, self.deadline)
        finder = make(self.instance)
        return finder if self.problem.families is None else LazyMembers(finder, self.problem, self.deadline)

    def _improve(self, finder: SuppressionHeuristic, until: float, while_gaining: bool = False) -> None:
        idle = 0
        deadline = self.deadline.within(max(until - self.deadline.elapsed, 0.0))
        while not self._done() and (finder.gaining or not while_gaining) and not deadline.expired:
            found = finder.better(deadline)
            if found is None:
                return
            idle = 0 if self._take(found) else idle + 1
            self._keep()
            if idle > DRIVER.patience:
                return

    def _prove(self, finder: SuppressionHeuristic) -> bool:
        """Whether it was proved that there is no pattern (with so few cells)."""
        aside = None if self.conditions is None else self.conditions.aside
        instance = finder.instance if isinstance(finder, LazyMembers) else self.instance
        bounding = self.bounding = Bounding(instance, self.w, self.cap, aside, self.context.team)
        self.phase = BOUND
        if self.checkpointer.found is not None:
            bounding.resume(self.checkpointer.found.arrays)

        def said(phase: str, bound: float) -> None:
            self.bound = max(self.bound or bound, bound)
            self._tell(Progress(phase, note=f"{bounding.master.rows} cuts"))
            self._keep()

        limits = SolveLimits(gap=self.wanted, threads=self.context.options.get("threads"), seed=self.context.seed)
        wanted = max(self.wanted, 1e-9)
        proving = Proving(bounding, finder, self.deadline, self._take, said, lambda: self.best, wanted, limits)
        proving.run(self.context.options.get("backend") or "highs")
        return proving.infeasible

    # ---- what was known before, and what is kept -----------------------------------------------------------

    def _known(self) -> np.ndarray | None:
        """The best pattern of an earlier run, if it can be one of this problem."""
        state = self.checkpointer.found
        hidden = None if state is None else state.arrays.get("hidden")
        if hidden is None or hidden.dtype != bool or hidden.shape != (self.instance.n,):
            return None
        must = self.instance.sensitive | self.instance.open_anyway
        return None if (must & ~hidden).any() or (hidden & ~self.instance.may_open).any() else hidden

    def _known_witnesses(self) -> list[Move]:
        """Of that pattern, those that add up; what the search before had in hand. Others are looked for anew."""
        state = self.checkpointer.found
        if state is None or "move_start" not in state.arrays:
            return []
        start, cell, d = (state.arrays[f"move_{name}"] for name in ("start", "cell", "amount"))
        moves = MoveMatrix(start, cell, d, int(state.facts["cells"]))
        return completed_witnesses(self.instance, moves)

    def _resume(self, finder: SuppressionHeuristic, known: np.ndarray | None) -> None:
        """With that pattern, if attackers find nothing wrong with it."""
        if known is None or self.checkpointer.found is None or self._short(known, finder):
            return
        self._take((known, float(self.w[known & self.counted].sum())))
        self.phase = BOUND if self.checkpointer.found.facts.get("phase") == BOUND else SEARCH

    def _keep(self) -> None:
        if self.best is None or not self.checkpointer.due:
            return
        arrays = {"hidden": self.best[0]}
        if self.bounding is not None:
            arrays |= self.bounding.kept.arrays(self.bounding.separation)
        self.checkpointer.keep(CheckpointState({"phase": self.phase}, arrays))

    def _take(self, found: Found) -> bool:
        if self.best is not None and (found[1], found[0].sum()) >= (self.best[1], self.best[0].sum()):
            return False
        if self.cap is not None and (found[0] & self.counted).sum() > self.cap:
            return False
        if self.best is not None:
            self.before_best.append(self.best)
        self.best = found
        a, (hidden, cost) = self.instance.a, found
        moves = self._moves_of(hidden)
        last = self.finder is not None and self.finder.tells_no_sums
        self.context.incumbents.offer(cost, lambda: Result(FEASIBLE, pattern_of(a, hidden), cost, moves=moves), last)
        self._tell(Progress("search", found[1]))
        return True

    def _set_aside(self, finder: SuppressionHeuristic) -> None:
        """Time for the last check, as much as one takes now: limits are for everything, the check included."""
        if self.deadline.expired or self.deadline.limit is None or not isfinite(self.deadline.limit):
            return
        began = self.deadline.elapsed
        self._check(finder)
        self.deadline.limit -= DRIVER.longer * (self.deadline.elapsed - began)

    def _check(self, finder: SuppressionHeuristic) -> None:
        """A solver's tolerances are not ours. A pattern that leaves a requirement short is completed, or given up for
        the one before it."""
        while self.best is not None and self.best[0] is not self._checked and self._short(self.best[0], finder):
            again = finder.complete(self.best[0])
            self.best = None
            if again is not None and not self._short(again[0], finder):
                self._take(again)
            if self.best is None and self.before_best:
                self.best = self.before_best.pop()
        self._checked = None if self.best is None else self.best[0]

    def _short(self, hidden: np.ndarray, finder: SuppressionHeuristic) -> bool:
        if not finder.proves(hidden) and falling_short(self.instance, hidden):
            return True
        return self.conditions is not None and len(self.conditions.short(hidden)) > 0

    def _done(self) -> bool:
        return self.best is not None and self.bound is not None and gap(self.best[1], self.bound) <= self.wanted + 1e-9

    # ---- what comes of it --------------------------------------------------------------------------------

    def _nothing(self) -> Result:
        if not self.deadline.expired and (clashes := falling_short(self.instance, self.instance.may_open, exact=True)):
            return Result(INFEASIBLE, seconds=self.seconds, clashes=tuple(clashes))
        return Result(LIMIT, bound=self.bound, seconds=self.seconds)

    def _result(self) -> Result:
        assert self.best is not None
        hidden, cost = self.best
        secondary = hidden & self.counted & ~self.instance.sensitive & ~self.instance.open_anyway
        facts = {
            "hidden": int((hidden & self.counted).sum()),
            "secondary": int(secondary.sum()),
            "secondary_cost": float(self.w[secondary].sum()),
        }
        status = OPTIMAL if self._done() else FEASIBLE
        pattern = pattern_of(self.instance.a, hidden)
        moves = self._moves_of(hidden)
        return Result(status, pattern, cost, self.bound, self.seconds, facts=facts, moves=moves)

    def _moves_of(self, hidden: np.ndarray) -> MoveMatrix | None:
        """What the search knows of witnesses in this pattern."""
        known = [] if self.finder is None else self.finder.known_moves()
        return MoveMatrix.sorted(known, self.instance.n).within(hidden) if known else None

    # ---- small things ------------------------------------------------------------------------------------

    def _tell(self, progress: Progress) -> None:
        objective = progress.objective
        if self.best is not None:
            objective = self.best[1] if objective is None else min(objective, self.best[1])
        self.context.report(Progress(progress.phase, objective, self.bound, progress.note))

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        before = process_time()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + process_time() - before
