"""Interval protection (papers 000, 003 §4): every cell is published as an interval [a - z⁻, a + z⁺] around its value.

Solved by cutting planes (`benders`), with a count of intervals, a least width or conditional levels as a mixed-integer
problem on top (`counted`), and published as the least intervals that hold an exact move for every level (`polish`).
What comes out is valid whatever was cut short: a time limit costs quality, never protection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from sdcdsl.accelerate.cutting.attacks import AttackFailed
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.ip.benders import Benders, MasterFailed
from sdcdsl.accelerate.ip.counted import Counted
from sdcdsl.accelerate.ip.polish import MARGIN, coarse, tight
from sdcdsl.accelerate.ip.tuning import TUNING
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.conditional_levels import conditions_of
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.ip.centre import centred, off_centre
from sdcdsl.methods.published_amounts import public
from sdcdsl.methods.result import Clash, Result, SolveContext
from sdcdsl.methods.result import gap as gap_of
from sdcdsl.pattern import Pattern, intervals
from sdcdsl.proof.witness import MoveMatrix
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

LEAST_GAP = 1e-6  # what a linear program is solved to; a gap of 0 means this
WITHIN = 1e-6  # of a width: what a cap overlooks
CRUMB = 1e-9  # of the lowest level: widths that are not published

Sides = tuple[np.ndarray, np.ndarray]  # down and up of every cell


def solve(problem: TableProblem, context: SolveContext) -> Result:
    return IntervalSearch(problem, context).solve()


class IntervalSearch:
    def __init__(self, problem: TableProblem, context: SolveContext):
        self.context, self.options = context, context.options
        whole = Instance(problem)
        self.conditions = conditions_of(whole)
        self.instance = whole if self.conditions is None else self.conditions.base
        n = self.instance.n
        self.gap = max(float(self.options.get("gap") or 0.0), LEAST_GAP)
        cheaper = np.ones(n)
        if context.before is not None:
            cheaper[context.before] = 1.0 - float(self.options.get("previous_discount") or 0.0)
        i = self.instance
        self.w_down, self.w_up, self.w_fixed = i.w_down * cheaper, i.w_up * cheaper, i.w_fixed * cheaper
        self.min_width = _amount(self.options.get("min_width"), n)
        if self.min_width is not None:  # a width that is used is printed
            self.min_width = public(self.min_width)
        self.cap_width = _amount(self.options.get("cap_width"), n)
        if self.cap_width is not None:  # of cells that are published as intervals
            self.cap_width[i.open_anyway] = inf
        self.cap_intervals = self.options.get("cap_intervals")
        self.seconds: dict[str, float] = {}

    def solve(self) -> Result:
        try:
            return self._solve()
        except (AttackFailed, MasterFailed) as said:
            return Result(FAILED, notes=(str(said),), seconds=self.seconds)

    def _solve(self) -> Result:
        begun = perf_counter()
        demands = CutRequirements(self.instance)
        self.seconds["reduction"] = perf_counter() - begun
        if demands.hopeless:
            return Result(INFEASIBLE, clashes=tuple(demands.hopeless), seconds=self.seconds)
        if not len(demands.levels) and not len(demands.slides):
            return self._result(np.zeros(self.instance.n), np.zeros(self.instance.n), 0.0)
        counted = self.cap_intervals is not None or self.min_width is not None or self.w_fixed.any()
        if counted or self.conditions is not None:
            return self._counted(demands)
        widest = None
        if self.cap_width is not None:
            widest = demands.classes.least(self.cap_width, self.cap_width)[0]
        benders = Benders(self.instance, demands, self.w_down, self.w_up, widest)
        benders.checkpointer = self.context.checkpointer
        # What a solver's digits leave open is covered by the margin, mostly; the audit says whether it is.
        n = demands.classes.count
        benders.shown = lambda objective, z: self._in_hand(
            objective, z, lambda z: demands.classes.to_cells(*np.split(coarse(benders.separation, z), [n])), benders
        )
        before_polishing = self._before_polishing(benders)
        z, missed = None, np.ones(1, dtype=bool)
        while z is None or (missed.any() and not self.context.deadline.expired and benders.cut_off(missed)):
            began = perf_counter()
            # Half of the gap is left for what the exact intervals are wider than the solver's.
            benders.run(before_polishing, 0.5 * self.gap, self.context.report)
            self._took("cuts", began)
            if benders.hopeless:
                return self._infeasible(benders)
            if benders.best is None and benders.exact is not None:
                break
            if benders.best is None:
                if benders.infeasible:
                    said = "the widest intervals allowed do not protect"
                    return Result(INFEASIBLE, notes=(said,), seconds=self.seconds)
                return Result(LIMIT, bound=_finite(benders.bound), seconds=self.seconds)
            began = perf_counter()
            z, missed = self._exact(benders)
            self._took("polish", began)
        if (missed.any() or z is None) and benders.exact is not None:
            z, missed = MARGIN * benders.exact, missed & False
        if missed.any() or z is None:
            status = LIMIT if self.context.deadline.expired else FAILED
            return Result(status, bound=_finite(benders.bound), seconds=self.seconds, notes=("no exact intervals",))
        down, up = demands.classes.to_cells(z[: benders.n], z[benders.n :])
        facts = {"rounds": benders.rounds, "cuts": benders.model.master.rows}
        return replace(self._result(down, up, benders.bound, facts), moves=moves_of(benders))

    def _exact(self, benders: Benders) -> tuple[np.ndarray, np.ndarray]:
        """Intervals that hold by arithmetic, and the levels that they do not hold."""
        assert benders.best is not None
        deadline = self.context.deadline
        over = (lambda: deadline.expired) if benders.exact is not None else (lambda: False)
        far = benders.objective - benders.bound > TUNING.far_off * abs(benders.objective)
        few_digits = far and benders.model.widest is None
        if not benders.held:
            return tight(benders.separation, benders.best, few_digits, benders.model.widest, over)
        if len(benders.separation.levels) * benders.n <= TUNING.looked_for_again:
            # Solutions from the inside have crumbs everywhere: 108 .. 108.00000001 for a figure that can be published.
            z, missed = tight(benders.separation, benders.best, few_digits, benders.model.widest, over)
            if not missed.any() and benders.model.price(z) <= benders.objective * (1 + LEAST_GAP):
                return z, missed
        z = coarse(benders.separation, benders.best) if far else MARGIN * benders.best
        return z, np.zeros(1, dtype=bool)

    def _in_hand(
        self,
        objective: float,
        z: np.ndarray | None,
        of_cells: Callable[[np.ndarray], Sides],
        benders: Benders | None = None,
    ) -> None:
        assert z is not None
        moves = None if benders is None else moves_of(benders)
        self.context.incumbents.offer(objective, lambda: replace(self._result(*of_cells(z), -inf), moves=moves))

    def _before_polishing(self, benders: Benders) -> Deadline:
        """The time less what it takes to find a move for every level, foreseen from a few."""
        deadline, levels = self.context.deadline, benders.separation.levels
        if deadline.remaining == inf or not len(levels):
            return deadline
        began = deadline.elapsed
        sample = np.linspace(0, len(levels) - 1, min(TUNING.sampled, len(levels))).astype(int)
        for s in sample.tolist():
            benders.furthest(s)
        foreseen = (deadline.elapsed - began) / len(sample) * len(levels)
        return deadline.within(deadline.remaining - min(foreseen, TUNING.polishing * deadline.remaining))

    def _took(self, phase: str, began: float) -> None:
        self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - began

    def _counted(self, demands: CutRequirements) -> Result:
        began = perf_counter()
        counted = Counted(
            self.instance,
            demands,
            (self.w_down, self.w_up, self.w_fixed),
            (self.min_width, self.cap_width, self.cap_intervals),
            self.conditions,
        )
        counted.shown = lambda objective: self._in_hand(objective, counted.best, counted.intervals)
        counted.run(self.context.deadline, self.gap, self.context.report)
        self.seconds["cuts"] = perf_counter() - began
        if counted.hopeless is not None:
            return self._infeasible(counted.hopeless)
        if counted.best is None:
            status = INFEASIBLE if counted.infeasible else LIMIT
            return Result(status, bound=_finite(counted.bound), seconds=self.seconds)
        down, up = counted.intervals(counted.best)
        return self._result(down, up, counted.bound, {"rounds": counted.rounds})

    def _infeasible(self, benders: Benders) -> Result:
        levels = benders.separation.levels
        clashes = []
        for s in benders.hopeless:
            side = int(levels.side[s])
            reach = benders.furthest(s)
            clashes.append(Clash(int(levels.pair[s]), None if side < 0 else side, float(levels.need[s]), reach))
        return Result(INFEASIBLE, clashes=tuple(clashes), seconds=self.seconds)

    def _result(self, down: np.ndarray, up: np.ndarray, bound: float, facts: dict[str, Any] | None = None) -> Result:
        instance = self.instance
        shown = ~instance.open_anyway
        need = instance.requirements.need
        crumb = CRUMB * float(need.min()) if len(need) else 0.0
        down, up = (np.where(shown & (z > crumb), z, 0.0) for z in (down, up))
        facts = dict(facts or {})
        notes: tuple[str, ...] = ()
        share = centred(down, up)
        if self.options.get("avoid_centre"):
            before = self._price(down, up)
            down, up = off_centre(down, up, self.cap_width, self.context.seed)
            after = self._price(down, up)
            facts["cost of moving the ends"] = after - before
            if after > before:
                share_of_cost = f"{100 * (after - before) / after:.2g} % of the cost"
                notes = (f"`avoid_centre` moved ends of intervals outwards: {share_of_cost}, and of the gap",)
            facts["centred before"] = share
            share = centred(down, up)
        facts["intervals"] = int(((down > 0) | (up > 0)).sum())
        facts["centred"] = share
        if share >= 0.5 and facts["intervals"] > 1:
            notes += (
                f"{share:.0%} of the intervals have the true value in their middle: levels that are the same below and "
                "above do that (paper 000); `avoid_centre` moves the ends",
            )
        if self.cap_width is not None and (down + up > self.cap_width * (1 + WITHIN)).any():
            said = "its intervals are wider than `cap_width` allows, by a solver's rounding errors"
            return Result(FAILED, bound=_finite(bound), seconds=self.seconds, notes=(said,))
        objective = self._price(down, up)
        bound = min(bound, objective)  # what is above it is a solver's last digit
        if self.context.before is not None:
            facts["cost without discount"] = float(
                (instance.w_up * up + instance.w_down * down + instance.w_fixed * ((down > 0) | (up > 0)))[shown].sum()
            )
        status = OPTIMAL if gap_of(objective, bound) <= self.gap else FEASIBLE
        pattern = published(instance, down, up)
        return Result(status, pattern, objective, _finite(bound), self.seconds, (), facts, notes)

    def _price(self, down: np.ndarray, up: np.ndarray) -> float:
        shown = ~self.instance.open_anyway
        used = (down > 0) | (up > 0)
        priced = zip((self.w_down, self.w_up, self.w_fixed), (down, up, used), strict=True)
        # What costs nothing may be as wide as it likes, also without end.
        return float(sum(w[on] @ z[on] for w, z in priced for on in [shown & (w > 0)]))


def moves_of(benders: Benders) -> MoveMatrix | None:
    """The moves of a joint adjustment, cell by cell, for the audit of a large table."""
    if not benders.witnesses:
        return None
    classes, n = benders.demands.classes, benders.instance.n
    members, moves = csc_array(classes.expansion), []
    for of, d in benders.witnesses:
        made = csc_array(members[:, of] @ csc_array(d[:, None]))
        moves.append((made.indices, made.data))
    return MoveMatrix.sorted(moves, n)


def published(instance: Instance, down: np.ndarray, up: np.ndarray) -> Pattern:
    """The ends as numbers, moved outwards where the nearest number would cut something off."""
    a, hidden = instance.a, instance.open_anyway
    low, high = a - down, a + up
    low = np.where(a - low < down, np.nextafter(low, -inf), low)
    high = np.where(high - a < up, np.nextafter(high, inf), high)
    return intervals(np.where(hidden, -inf, low), np.where(hidden, inf, high))


def _amount(given: Any, n: int) -> np.ndarray | None:
    return None if given is None else np.broadcast_to(np.asarray(given, dtype=float), (n,)).copy()


def _finite(bound: float) -> float | None:
    return bound if np.isfinite(bound) else None
