"""Controlled tabular adjustment (papers 004, 000 §2.2): the closest table whose sensitive cells are far from the truth.

    min ‖x - a‖    over  M x = b,  bounds,  x_p ≤ a_p - lpl_p  or  x_p ≥ a_p + upl_p  for sensitive p

With all senses given it is one continuous problem (`closest`); where some are free they are searched (`senses`), with a
bound. What is published is a table and nothing about how it was made: the audit checks the distances, not an attacker,
and `assess` tells how near one comes who knows more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from math import isfinite
from time import process_time
from typing import Any

import numpy as np

from sdcdsl.accelerate.cta.closest import closest, in_l1, level_multipliers, nearer
from sdcdsl.accelerate.cta.elastic import missing
from sdcdsl.accelerate.cta.senses import choose
from sdcdsl.accelerate.cta.senses.integer import whole
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta import model as compact
from sdcdsl.methods.cta.settings import L1, LINF, Settings, published, settings_of
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.methods.result import Clash, Result, SolveContext
from sdcdsl.methods.result import gap as gap_of
from sdcdsl.numerics.nearest.solved import Solved
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

FEW = 6  # senses that are all tried
SHOWN = 200  # multipliers by name
LEAST_GAP = 1e-6  # what continuous problems are solved to; a gap of 0 means this
WITHIN = 1e-9  # of a level: what whole numbers and audits overlook
ADDS_UP = 1e-12  # of what a relation adds up
FIRST_MODEL = 0.9  # of the time for another solver; with the rest the table of its senses is made exact
LAST = 5.0  # seconds for that where nothing is left, since a table that does not add up is worth nothing


def solve(problem: TableProblem, context: SolveContext) -> Result:
    return Solver(problem, context).solve()


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


class Solver:
    def __init__(self, problem: TableProblem, context: SolveContext):
        self.problem, self.context = problem, context
        self.settings = settings_of(problem, context.options)
        self.gap = max(float(context.options.get("gap") or 0.0), LEAST_GAP)
        self.seconds: dict[str, float] = {}

    def solve(self) -> Result:
        refused = self._sliding()
        if refused is not None:
            return refused
        refused = self._nowhere_to_go(self.settings)
        found = ClosestTable(INFEASIBLE) if refused is not None else self._found(self.settings)
        notes: tuple[str, ...] = ()
        penalty = self.context.options.get("soft_totals")
        if found.status == INFEASIBLE and penalty is not None:
            softer = self.settings.with_soft_totals(float(penalty), self.problem, self.context.options)
            if self._nowhere_to_go(softer) is None:
                again = self._found(softer)
                if again.z is not None:
                    found, self.settings = again, softer
                    moved = int((softer.totals & (again.z != 0)).sum())
                    notes = (f"no table keeps the totals: {moved} of them moved, at {penalty:g} times their cost",)
        if found.z is None:
            return self._nothing(found) if refused is None else refused
        return self._result(found, (*notes, *filter(None, [found.note]), *self._decimals(found.z)))

    def _decimals(self, z: np.ndarray) -> tuple[str, ...]:
        """Whole figures that are not whole any more are seen to have moved."""
        a = self.settings.of.a
        shown = self.problem.dataset["published"].values
        if (a[shown] != np.round(a[shown])).any() or (z[shown] == np.round(z[shown])).all():
            return ()
        return ("decimals show which of the whole figures moved: `integer` publishes whole ones",)

    # ---- what cannot be ----------------------------------------------------------------------------------

    def _sliding(self) -> Result | None:
        """An adjusted table gives attackers no interval, so nothing can be said about how wide it is."""
        d = self.problem.dataset
        wide = d["spl"].values > d["lpl"].values + d["upl"].values
        if not wide.any():
            return None
        note = (
            "sliding levels ask how wide an attacker's interval stays; an adjusted table publishes none. Ask for lpl "
            "and upl, or take a method with intervals: csp, ip, ecta"
        )
        return Result(INFEASIBLE, clashes=(), notes=(note,))

    def _nowhere_to_go(self, of: Settings) -> Result | None:
        a = of.of
        stuck = np.flatnonzero(~a.open.any(axis=1))
        if not len(stuck):
            return None
        return Result(INFEASIBLE, clashes=tuple(self._clashes(of, stuck, None)), notes=self._unasked(of, stuck))

    def _unasked(self, of: Settings, stuck: np.ndarray) -> tuple[str, ...]:
        """Cells whose sense leads where no level asks for anything: being zero away from the truth protects nothing."""
        a, out = of.of, []
        for sense, level, name in ((1, a.upl, "upl"), (-1, a.lpl, "lpl")):
            bare = a.cells[stuck[(a.sense[stuck] == sense) & np.isinf(level[stuck])]]
            if len(bare):
                way = "up" if sense > 0 else "down"
                where = first_cells(bare, self.problem.label)
                out.append(f"`sense {way}` moves {cells(bare)} {way}, and no `{name}` says how far: {where}")
        return tuple(out)

    def _clashes(self, of: Settings, which: np.ndarray, lacking: np.ndarray | None) -> list[Clash]:
        """Pairs of these cells, with what they need and what can be had."""
        a, d = of.of, self.problem.dataset
        cell, levels = d["cell_at"].values, {DOWN: d["lpl"].values, UP: d["upl"].values}
        at = {int(a.cells[i]): i for i in which.tolist()}
        out = []
        for pair in np.flatnonzero(np.isin(cell, list(at))).tolist():
            i = at[int(cell[pair])]
            nearest = DOWN if a.lpl[i] <= a.upl[i] else UP
            for side, room in ((DOWN, -a.low), (UP, a.high)):
                need = float(levels[side][pair])
                if need <= 0 or (a.sense[i] > 0 and side == DOWN) or (a.sense[i] < 0 and side == UP):
                    continue
                if lacking is not None and a.sense[i] == 0 and side != nearest:
                    continue  # what is lacking is known of the nearer side
                reach = float(room[cell[pair]]) if lacking is None else need - float(lacking[i])
                if reach < need:
                    out.append(Clash(pair, side, need, max(reach, 0.0) + 0.0))  # no minus before a zero
        return out

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
        clashes = tuple(self._clashes(self.settings, short, found.missing))
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
        if self.context.options.get("backend") == "scip":
            return self._by_first_model(of)
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
        chosen = choose(of, self.gap, self.context.deadline, self.context.seed, self.context.report)
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

    def _all_infeasible(self, of: Settings) -> bool:
        """Whether no senses at all have a table, where they are few: then that is what the search failed at."""
        sense = _only_one(of)
        free = np.flatnonzero(sense == 0)
        if len(free) > FEW:
            return False
        for signs in product((1, -1), repeat=len(free)):
            sense[free] = signs
            if closest(of, sense, self.context.deadline).status != INFEASIBLE:
                return False
        return True

    def _by_first_model(self, of: Settings) -> ClosestTable:
        began = process_time()
        deadline = self.context.deadline
        deadline = deadline.within(FIRST_MODEL * deadline.remaining) if isfinite(deadline.remaining) else deadline
        status, z, bound = compact.solved(of, replace(self.context, deadline=deadline))
        self.seconds["first model"] = process_time() - began
        if z is None:
            return ClosestTable(status, bound=bound)
        sense = np.where(z[of.of.cells] > 0, 1, -1).astype(np.int8)
        if not of.integer:  # general solvers end where the objective hardly changes any more: z may be far from it
            exact = _adds_up(of, z)
            again = closest(
                of, sense, self.context.deadline if exact else Deadline(max(self.context.deadline.remaining, LAST))
            )
            if again.z is not None and (of.objective(again.z) <= of.objective(z) or not exact):
                z = again.z
            elif not exact and (linear := in_l1(of, sense, Deadline(LAST))) is not None:
                return ClosestTable(FEASIBLE, sense, linear, bound, note=_instead(of))
        return ClosestTable(status, sense, z, bound)

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
        if not _far_enough(of, z):
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


def _adds_up(of: Settings, z: np.ndarray) -> bool:
    """Well within what the audit forgives: it takes sums of cells as the cells make them."""
    M = of.of.M
    return bool((np.abs(M @ z) <= ADDS_UP * (abs(M) @ np.abs(z))).all())


def _far_enough(of: Settings, z: np.ndarray) -> bool:
    a = of.of
    own = (a.a + z)[a.cells] - a.a[a.cells]  # as the published figures will say it
    slack = 1e-10 * np.abs(a.a[a.cells])
    up, down = (np.minimum(level - slack, level * (1 - WITHIN)) for level in (a.upl, a.lpl))
    return bool(((own >= up) | (-own >= down)).all())
