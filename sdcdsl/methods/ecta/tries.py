"""The method of paper 001 §III: T tables, each attacked; of those that protect the one with the smallest β.

    draw        ξ_i in [(1 - α/2) a_i, (1 + α/2) a_i], moved to where levels and bounds allow it        ¶18
    solve       the model: the least β for this draw                                                   ¶18
    attack      every attacker on the region that a reader has, `pattern.ecta`; once more with 2 β      ¶23, ¶24
    otherwise   raise β beyond that once, for the tables of the first round                               ¶23
                hold K of the cells that were exposed as near to their true values as their levels      ¶20, ¶21
                allow, and try T tables more

With `sensitive_free` (¶22) sensitive cells only follow their draws as well as a given β allows; β starts at the least
there is and is doubled until a table protects.

Nothing here says how far β is from the smallest possible: a result is `feasible`, never `optimal`. `infeasible` is only
said where no draw can help: a cell cannot have its levels with this α, or no table adds up, or an attacker comes too
near in the widest region that any table has.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.methods.cta.closest_by_model import closest
from sdcdsl.methods.cta.settings import Settings as Closest
from sdcdsl.methods.ecta.advice import Advice
from sdcdsl.methods.ecta.attempt import DOUBLED, EXPOSED, FIRST_BETA, NONE, PROTECTED, Try
from sdcdsl.methods.ecta.deviations import Deviations, Table, rounded_up
from sdcdsl.methods.ecta.model import ends, model_of, table_of
from sdcdsl.methods.ecta.ranges import Own, ValueRanges, known_too_well
from sdcdsl.methods.ecta.regions import published, widest
from sdcdsl.methods.ecta.settings import settings_of
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.modelling import limits
from sdcdsl.methods.pattern_check import exposed
from sdcdsl.methods.result import Clash, Progress, Result, SolveContext
from sdcdsl.solve import Status, solve
from sdcdsl.solve.modelling import by_variable
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, SolverFailed


@dataclass(eq=False)
class Tries:
    """One search. `held` [sensitive cell]: fixed near its true value."""

    problem: TableProblem
    context: SolveContext
    rounds: list[Counter[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.settings = settings_of(self.context.options)
        self.instance = Instance(self.problem)
        self.own = Own(self.instance)
        self.of = Deviations(self.instance, self.settings.cap, self.settings.most)
        self.rng = np.random.default_rng(self.context.seed)
        self.seconds = {"model": 0.0, "audit": 0.0}

    # ---- one try -------------------------------------------------------------------------------------------------

    def table(self, drawn: np.ndarray, allowed: ValueRanges, largest: float) -> Table | None:
        """The model's table for a draw; None if there is none."""
        box = self.of.box(allowed, largest / 2)
        made = model_of(self.of, box, drawn, largest)
        solution = self._solved(made)
        if solution is None:
            return None
        table = table_of(self.of, box, by_variable(made, solution))
        if table is None or self.settings.norm == "Linf":
            return table
        return self._closest(table)

    def _closest(self, table: Table) -> Table:
        """Of the tables with this β the one with the least sum of weighted deviations, or of their squares."""
        i = self.instance
        own = table.z[self.of.cells]
        low, high = self.of.box(ValueRanges(*(self.of.a[self.of.cells] + own,) * 2), max(table.beta, table.least) / 2)
        low[self.of.cells] = high[self.of.cells] = own
        if not (low < high).any():
            return table
        free = i.open_anyway | self.of.sensitive
        down, up = np.where(free, 0.0, i.w_down), np.where(free, 0.0, i.w_up)
        none, no_sense = np.zeros(0), np.zeros(0, dtype=np.int8)
        nobody = np.zeros(0, dtype=np.int64)
        adjustment = Adjustment(i.M, i.a, down, up, low, high, nobody, none, none, no_sense)
        of = Closest(self.settings.norm, adjustment, np.zeros(i.n, dtype=bool), (down + up) / 2)
        z = closest(of, self.context).z
        return table if z is None or not self.of.adds_up(z) else Table(z, table.beta, self.of.beta(z))

    def _solved(self, made: Any) -> np.ndarray | None:
        """Values of the model's variables; None if it is infeasible, or the time was over."""
        solution = solve(made, limits(self.context), self.context.options.get("backend") or "highs")
        if solution.status not in (Status.OPTIMAL, Status.FEASIBLE, Status.INFEASIBLE, Status.LIMIT):
            raise SolverFailed(solution.message)
        return solution.values

    def attacked(self, table: Table, beta: float) -> Try:
        """With this β published, and with its double if somebody falls short (¶24)."""
        twice = min(2 * beta, self.settings.cap)
        once = self._attacked(table, beta, PROTECTED)
        if once.outcome == PROTECTED or twice <= beta:
            return once
        return self._attacked(table, twice, DOUBLED)

    def _attacked(self, table: Table, beta: float, outcome: str) -> Try:
        began = monotonic()
        region = published(self.instance, table.z, self.settings.alpha, beta)
        short = exposed(self.instance, region.low, region.high)
        self.seconds["audit"] += monotonic() - began
        return Try(EXPOSED if short else outcome, beta, table, tuple(short))

    # ---- rounds --------------------------------------------------------------------------------------------------

    def round(self, drawn: ValueRanges, allowed: ValueRanges) -> list[Try]:
        """T tries, or until time is over."""
        self.rounds.append(Counter())
        same = bool((drawn.low == drawn.high).all())
        made: list[Try] = []
        beta = max(self._least(allowed), FIRST_BETA) if self.settings.free else 0.0
        for number in range(1 if same and not self.settings.free else self.settings.tries):
            if self.context.deadline.expired:
                break
            one = self._tried(self.rng.uniform(*ends(drawn)), allowed, beta)
            made.append(one)
            self.rounds[-1][one.outcome] += 1
            self.context.report(Progress("tries", self._best_beta(made), None, f"try {number + 1}: {one.outcome}"))
            if self.settings.free:
                if one.outcome in (PROTECTED, DOUBLED) or beta >= self.settings.cap:
                    break
                beta = min(2 * beta, self.settings.cap)
        return made

    def _tried(self, drawn: np.ndarray, allowed: ValueRanges, beta: float) -> Try:
        """`beta`: given, with free sensitive cells."""
        began = monotonic()
        table = self.table(drawn, allowed, min(beta, 2 * self.settings.most) if beta else 2 * self.settings.most)
        self.seconds["model"] += monotonic() - began
        return Try(NONE) if table is None else self.attacked(table, beta or table.beta)

    def _least(self, allowed: ValueRanges) -> float:
        """The least β of any table with sensitive cells in these ranges: the model without a draw."""
        box = self.of.box(allowed)
        made = model_of(self.of, box, np.clip(self.own.a, *ends(allowed)), 2 * self.settings.most)
        made.objective = 1 * made.variables["beta"]
        solution = self._solved(made)
        table = None if solution is None else table_of(self.of, box, by_variable(made, solution))
        return self.settings.cap if table is None else rounded_up(table.least)

    @staticmethod
    def _best_beta(made: list[Try]) -> float | None:
        return min((one.beta for one in made if one.outcome in (PROTECTED, DOUBLED)), default=None)

    def raised(self, made: list[Try]) -> Try | None:
        """The tables of a round with a larger and larger β, until one protects (¶23)."""
        tables = sorted((one.table for one in made if one.table is not None), key=lambda table: table.beta)
        beta = 2 * max((one.beta for one in made), default=0.0)
        while tables and not self.context.deadline.expired:
            beta = min(rounded_up(max(beta, FIRST_BETA)), self.settings.cap)
            for table in tables:
                one = self._attacked(table, beta, PROTECTED)
                if one.outcome == PROTECTED:
                    return one
            if beta >= self.settings.cap:
                return None
            beta = 2 * beta
        return None

    def ranges(self, held: np.ndarray) -> tuple[ValueRanges, ValueRanges] | None:
        """Where sensitive cells are drawn, and where they may be; None if no additive table has such values."""
        alpha = self.settings.alpha
        drawn, allowed = self.own.drawn_from(alpha), self.own.allowed(alpha)
        nearest = np.clip(self.own.a, *ends(allowed))
        drawn, allowed = (
            ValueRanges(np.where(held, nearest, r.low), np.where(held, nearest, r.high)) for r in (drawn, allowed)
        )
        return (drawn, allowed) if self.any_table(allowed) else None

    def any_table(self, allowed: ValueRanges) -> bool:
        made = model_of(self.of, self.of.box(allowed), np.clip(self.own.a, *ends(allowed)), 2 * self.settings.most)
        made.objective = 0 * made.variables["beta"]
        return self._solved(made) is not None

    def to_hold(self, tries: list[Try], not_these: np.ndarray) -> np.ndarray:
        """K of the cells that showed that a table does not protect; of all others if there is none (¶21)."""
        blamed = {cell for one in tries for clash in one.short for cell in self._behind(clash)}
        left = np.flatnonzero(np.isin(self.own.cells, list(blamed)) & ~not_these)
        if not len(left):
            left = np.flatnonzero(~not_these)
        return self.rng.permutation(left)[: self.settings.at_a_time]

    def _behind(self, clash: Clash) -> list[int]:
        """The cell itself; of a union those that it adds up."""
        cell = int(self.instance.pair_cell[clash.pair])
        if self.instance.sensitive[cell]:
            return [cell]
        M = self.instance.M
        return np.unique(M[M.tocsc()[:, [cell]].indices].indices).tolist()

    def hopeless(self, alpha: float, *, exact: bool = False) -> list[Clash]:
        """Requirements that fall short in the widest region that any table with this α and any β can have."""
        low, high = widest(self.instance, self.own.allowed(alpha), alpha, self.settings.most, self.settings.cap)
        return exposed(self.instance, low, high, exact=exact)

    def result(self, status: str, best: Try | None = None, held: np.ndarray | None = None, **more: Any) -> Result:
        counts = [{name: counts[name] for name in (PROTECTED, DOUBLED, EXPOSED, NONE)} for counts in self.rounds]
        facts = {"alpha": self.settings.alpha, "tries": sum(sum(one.values()) for one in counts), "rounds": counts}
        facts |= more.pop("facts", {})
        if held is not None and held.any():
            facts["fixed"] = [int(cell) for cell in self.own.cells[held]]
        if best is None or best.table is None:
            return Result(status, seconds=self.seconds, facts=facts, **more)
        facts |= {"beta": best.beta, "least beta": best.table.least}
        released = published(self.instance, best.table.z, self.settings.alpha, best.beta)
        return Result(status, released, best.beta, None, self.seconds, facts=facts, **more)


def solve_tries(problem: TableProblem, context: SolveContext) -> Result:
    """The method by its model alone."""
    tries = Tries(problem, context)
    try:
        return _searched(tries)
    except SolverFailed as said:
        return tries.result(FAILED, notes=(str(said),))


def _searched(tries: Tries) -> Result:
    alpha, instance, own = tries.settings.alpha, tries.instance, tries.own
    if alpha > 1:
        return Result(FAILED, notes=("α may be 100 % at most: beyond that v does not even tell a cell's sign",))
    clashes = known_too_well(instance)
    if clashes:
        return Result(INFEASIBLE, clashes=tuple(clashes))
    advice = Advice(tries.problem, own, alpha)
    if advice.too_small:
        return Result(INFEASIBLE, notes=advice.of_single_cells(), facts=advice.facts())
    held, stuck = np.zeros((2, len(own.cells)), dtype=bool)
    ranges = tries.ranges(held)
    if tries.context.deadline.expired:
        return tries.result(LIMIT)
    if ranges is None:
        return tries.result(INFEASIBLE, notes=advice.of_all_cells(tries.any_table), facts=advice.facts())
    if not instance.pairs:
        return tries.result(FEASIBLE, Try(PROTECTED, 0.0, Table(np.zeros(instance.n), 0.0, 0.0)))
    hopeless = tries.hopeless(alpha)
    if hopeless:
        pairs = {clash.pair for clash in hopeless}
        clashes = tuple(clash for clash in tries.hopeless(alpha, exact=True) if clash.pair in pairs)
        notes = advice.of_pairs(lambda larger: not tries.hopeless(larger))
        return tries.result(INFEASIBLE, clashes=clashes, notes=notes, facts=advice.facts())
    while True:
        made = tries.round(*ranges)
        protecting = [one for one in made if one.outcome in (PROTECTED, DOUBLED)]
        if protecting:
            return tries.result(FEASIBLE, min(protecting, key=lambda one: one.beta), held)
        if tries.context.deadline.expired:
            return tries.result(LIMIT, held=held, notes=("no table protected before the time was over",))
        raised = tries.raised(made) if len(tries.rounds) == 1 else None
        if raised is not None:
            return tries.result(FEASIBLE, raised, notes=(RAISED,))
        ranges = None
        while ranges is None:
            chosen = tries.to_hold(made, held | stuck)
            if not len(chosen):
                return tries.result(LIMIT, held=held, notes=(NOTHING_LEFT,))
            held[chosen] = True
            ranges = tries.ranges(held)
            if ranges is None:
                held[chosen], stuck[chosen] = False, True


RAISED = "twice the least β did not protect any of the tables: β was raised until one of them was protected"
NOTHING_LEFT = (
    "no table protected, with sensitive cells fixed one after another; that proves nothing: a larger α, a larger cap on"
    " β or another seed may find a table"
)
