"""Controlled tabular adjustment (papers 004, 000 §2.2): the closest table whose sensitive cells are far from the truth.

    min ‖x - a‖    over  M x = b,  bounds,  x_p ≤ a_p - lpl_p  or  x_p ≥ a_p + upl_p  for sensitive p

With all senses given it is one continuous problem (`closest`); where some are free they are searched (`senses`), with a
bound. What is published is a table and nothing about how it was made: the audit checks the distances, not an attacker,
and `assess` tells how near one comes who knows more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from time import process_time
from typing import Any

import numpy as np

from sdcdsl.accelerate.cta.closest import closest, in_l1, level_multipliers, nearer
from sdcdsl.accelerate.cta.elastic import missing
from sdcdsl.accelerate.cta.senses import choose
from sdcdsl.accelerate.cta.senses.integer import whole
from sdcdsl.accelerate.cta.senses.search import Show
from sdcdsl.accelerate.cta.tuning import SEARCH
from sdcdsl.bind.naming import cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cta.model import solve as by_model
from sdcdsl.methods.cta.refusals import clashes as clashes_of
from sdcdsl.methods.cta.refusals import decimals, far_enough, nowhere_to_go, sliding
from sdcdsl.methods.cta.settings import L1, LINF, Settings, published, settings_of
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.result import gap as gap_of
from sdcdsl.numerics.nearest.solved import Solved
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

SHOWN = 200  # multipliers by name
LEAST_GAP = 1e-6  # what continuous problems are solved to; a gap of 0 means this


def solve(problem: TableProblem, context: SolveContext) -> Result:
    solver = AdjustmentSearch(problem, context)
    if (context.options.get("backend") or "highs") == "highs":
        return solver.solve()
    return solver.with_multipliers(by_model(problem, context))


@dataclass(frozen=True, eq=False)
class ClosestTable:
    """A choice of senses with its closest table, or why there is none."""

    status: str
    sense: np.ndarray | None = None
    z: np.ndarray | None = None
    bound: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    missing: np.ndarray | None = None  # [p]: what levels lack at least
    note: str = ""
    solved: Solved | None = None  # of these senses, where it is at hand


class AdjustmentSearch:
    def __init__(self, problem: TableProblem, context: SolveContext):
        self.problem, self.context = problem, context
        self.settings = settings_of(problem, context.options)
        self.gap = max(float(context.options.get("gap") or 0.0), LEAST_GAP)
        self.seconds: dict[str, float] = {}

    def solve(self) -> Result:
        refused = sliding(self.problem)
        if refused is not None:
            return refused
        refused = nowhere_to_go(self.problem, self.settings)
        found = ClosestTable(INFEASIBLE) if refused is not None else self._found(self.settings)
        notes: tuple[str, ...] = ()
        penalty = self.context.options.get("soft_totals")
        if found.status == INFEASIBLE and penalty is not None:
            softer = self.settings.with_soft_totals(float(penalty), self.problem, self.context.options)
            if nowhere_to_go(self.problem, softer) is None:
                again = self._found(softer)
                if again.z is not None:
                    found, self.settings = again, softer
                    moved = int((softer.totals & (again.z != 0)).sum())
                    notes = (f"no table keeps the totals: {moved} of them moved, at {penalty:g} times their cost",)
        if found.z is None:
            return self._nothing(found) if refused is None else refused
        return self._result(
            found, (*notes, *filter(None, [found.note]), *decimals(self.problem, self.settings, found.z))
        )

    def with_multipliers(self, result: Result) -> Result:
        """A result of the model with the multipliers of its senses: not every backend tells its own."""
        if result.pattern is None:
            return result
        sense = np.where((result.pattern.value - self.settings.of.a)[self.settings.of.cells] > 0, 1, -1).astype(np.int8)
        return replace(result, facts={**result.facts, **self._multipliers(self.settings, sense, None)})

    # ---- what cannot be ----------------------------------------------------------------------------------

    def _nothing(self, found: ClosestTable) -> Result:
        notes = (found.note,) if found.note else ()
        if found.status == FAILED and self.context.deadline.expired:
            return Result(LIMIT, bound=found.bound, seconds=self.seconds, notes=notes)
        if found.status == INFEASIBLE and found.missing is None:
            found, notes = self._why(found, notes)
        if found.status != INFEASIBLE or found.missing is None:
            return Result(found.status, bound=found.bound, seconds=self.seconds, notes=notes)
        short = np.flatnonzero(found.missing > 0)
        total = f"levels are missed in {cells(short)} at least"
        clashes = tuple(clashes_of(self.problem, self.settings, short, found.missing))
        return Result(INFEASIBLE, clashes=clashes, seconds=self.seconds, notes=(*notes, total))

    def _why(self, found: ClosestTable, notes: tuple[str, ...]) -> tuple[ClosestTable, tuple[str, ...]]:
        """The reason for a proof that comes without one, from the search among tables that need not be whole."""
        sense = _only_one(self.settings)
        other = self._closest(self.settings, sense) if sense.all() else self._searched(self.settings)
        if other.z is not None and self.settings.integer:
            return found, (*notes, "there are such tables, but none of whole numbers")
        return (found if other.missing is None else replace(found, missing=other.missing)), notes

    # ---- search ------------------------------------------------------------------------------------------

    def _found(self, of: Settings) -> ClosestTable:
        sense = _only_one(of)
        began = process_time()
        found = self._closest(of, sense) if sense.all() else self._searched(of)
        self.seconds["search"] = self.seconds.get("search", 0.0) + process_time() - began
        if of.integer and found.z is not None and found.sense is not None:
            return self._whole(of, found)
        return found

    def _closest(self, of: Settings, sense: np.ndarray) -> ClosestTable:
        solved = closest(of, sense, self.context.deadline)
        if solved.status == INFEASIBLE:
            note = "" if (of.of.sense == 0).all() else "senses are given: `sense free` may find a table"
            return ClosestTable(INFEASIBLE, sense, missing=missing(of.of, sense, self.context.deadline), note=note)
        if solved.status == FAILED and (z := in_l1(of, sense, self.context.deadline)) is not None:
            return ClosestTable(FEASIBLE, sense, z, note=_instead(of))
        return ClosestTable(solved.status, sense, solved.z, solved.bound, solved=solved)

    def _searched(self, of: Settings) -> ClosestTable:
        chosen = choose(of, self.gap, self.context.deadline, self.context.seed, self.context.report, self._shown(of))
        if chosen.status == FAILED and self._all_infeasible(of):
            return ClosestTable(INFEASIBLE, missing=chosen.violation)
        if chosen.status == FAILED and of.norm != L1:
            linear = choose(
                replace(of, norm=L1), self.gap, self.context.deadline, self.context.seed, self.context.report
            )
            if linear.sense is not None and linear.z is not None:
                again = closest(of, linear.sense, self.context.deadline)
                note = "" if again.z is not None else _instead(of)
                return ClosestTable(FEASIBLE, linear.sense, linear.z if again.z is None else again.z, note=note)
        return ClosestTable(chosen.status, chosen.sense, chosen.z, chosen.bound, chosen.facts, chosen.violation)

    def _shown(self, of: Settings) -> Show:
        """Better tables are in hand at once, but for those that are to be of whole numbers."""

        def shown(objective: float, table: Callable[[], np.ndarray]) -> None:
            def make() -> Result | None:
                z = table()
                if not far_enough(of, z):
                    return None
                return Result(FEASIBLE, published(self.problem, z), of.objective(z))

            if not of.integer:
                self.context.incumbents.offer(objective, make)

        return shown

    def _all_infeasible(self, of: Settings) -> bool:
        """Whether no senses at all have a table, where they are few: then that is what the search failed at."""
        sense = _only_one(of)
        free = np.flatnonzero(sense == 0)
        if len(free) > SEARCH.all_tried:
            return False
        for signs in product((1, -1), repeat=len(free)):
            sense[free] = signs
            if closest(of, sense, self.context.deadline).status != INFEASIBLE:
                return False
        return True

    def _whole(self, of: Settings, found: ClosestTable) -> ClosestTable:
        assert found.sense is not None and found.z is not None
        began = process_time()
        made = whole(of, found.sense, found.z, self.gap, self.context.deadline, self.context.seed)
        self.seconds["whole numbers"] = process_time() - began
        return ClosestTable(
            made.status, made.sense, made.z, made.bound if made.bound is not None else found.bound, note=found.note
        )

    # ---- what comes out ------------------------------------------------------------------------------------

    def _result(self, found: ClosestTable, notes: tuple[str, ...]) -> Result:
        of, z, sense = self.settings, found.z, found.sense
        assert z is not None and sense is not None
        if of.norm == LINF and not of.integer:
            z = nearer(of, sense, z, self.context.deadline)
        if not far_enough(of, z):
            return Result(FAILED, seconds=self.seconds, notes=("a solution misses its levels",))
        objective = of.objective(z)
        bound = None if found.bound is None else min(found.bound, objective)
        facts: dict[str, Any] = {
            "norm": of.norm,
            "up": int((sense > 0).sum()),
            "down": int((sense < 0).sum()),
            **found.facts,
            **self._multipliers(of, sense, found.solved),
        }
        proven = bound is not None and gap_of(objective, bound) <= self.gap
        pattern = published(self.problem, z)
        return Result(
            OPTIMAL if proven else FEASIBLE, pattern, objective, bound, self.seconds, facts=facts, notes=notes
        )

    def _multipliers(self, of: Settings, sense: np.ndarray, solved: Solved | None) -> dict[str, Any]:
        """‖μ‖₁, and the largest μ; for a continuous problem only."""
        if of.integer or not of.of.p:
            return {}
        solved = solved or closest(of, sense, self.context.deadline)
        mu = level_multipliers(of, sense, solved)
        if mu is None:
            return {}
        largest = np.argsort(-mu, kind="stable")[:SHOWN]
        return {
            "multipliers": float(np.abs(mu).sum()),
            "multiplier of": {self.problem.label(int(of.of.cells[i])): float(mu[i]) for i in largest},
        }


def _instead(of: Settings) -> str:
    return f"the table that is closest in {of.norm} was not found: this one is the closest in L1"


def _only_one(of: Settings) -> np.ndarray:
    """Senses that are given, or the only ones that bounds and levels leave."""
    ways = of.of.open
    sense = of.of.sense.copy()
    sense[ways[:, UP] & ~ways[:, DOWN]] = 1
    sense[ways[:, DOWN] & ~ways[:, UP]] = -1
    return sense
