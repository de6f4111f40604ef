"""Enhanced controlled tabular adjustment (paper 001 §III): T random tables, each attacked, the best one published.

Published are v, α and β, with the promise |v_i - a_i| ≤ s |a_i|, s = α in sensitive cells and β in others. A try draws
the sensitive cells, makes the draw additive and requires the least β (`tables`); then every attacker is set on the
region that a reader has, `pattern.ecta`, and once more with β doubled if somebody falls short (¶24). Of the tables that
protect, the one with the smallest published β is the result. If there is none, cells whose attackers came too near are
fixed as near to their true values as their levels allow, and T tables more are tried (¶20, ¶21). Before that, once, β
is raised beyond its double (¶23): fixing makes β smaller, and who falls short for want of slack elsewhere needs more.

With `sensitive_free` (¶22) sensitive cells are not held at their draws but follow them as well as a given β allows; β
starts at the least there is, and is doubled or halved towards the smallest that protects.

Nothing here says how far β is from the smallest possible: a result is `feasible`, never `optimal`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from time import perf_counter
from typing import Any

import numpy as np

from sdcdsl.accelerate.ecta.tries import Terms, TrySequence, tried
from sdcdsl.accelerate.ecta.tuning import TUNING
from sdcdsl.bind.problem import TableProblem
from sdcdsl.executing import Channel, in_order
from sdcdsl.methods.checkpoint import CheckpointState
from sdcdsl.methods.ecta.advice import Advice
from sdcdsl.methods.ecta.attempt import DOUBLED, EXPOSED, FIRST_BETA, NONE, PROTECTED, Try
from sdcdsl.methods.ecta.deviations import Box, Table, rounded_up
from sdcdsl.methods.ecta.ranges import Own, ValueRanges, known_too_well
from sdcdsl.methods.ecta.regions import published, widest
from sdcdsl.methods.ecta.settings import settings_of
from sdcdsl.methods.ecta.tries import RAISED
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import Clash, Progress, Result, SolveContext
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, SolverFailed


@dataclass(frozen=True, eq=False)
class Ranges:
    """Of the sensitive cells in one round: where they are drawn, and where making the draw additive may take them."""

    drawn: ValueRanges
    allowed: ValueRanges


def solve(problem: TableProblem, context: SolveContext) -> Result:
    return EctaSearch(problem, context).solve()


class EctaSearch:
    def __init__(self, problem: TableProblem, context: SolveContext):
        self.problem, self.context, self.deadline = problem, context, context.deadline
        given = settings_of(context.options)
        self.alpha, self.cap, self.most, self.norm = given.alpha, given.cap, given.most, given.norm
        self.tries, self.at_a_time, self.free = given.tries, given.at_a_time, given.free
        self.rng = np.random.default_rng(context.seed)
        self.instance = Instance(problem)
        self.own = Own(self.instance)
        self.terms = Terms(self.instance, self.alpha, self.cap, self.most, self.norm)
        self.trying = TrySequence(self.terms)
        self.tables, self.attacks, self.seconds = self.trying.tables, self.trying.attacks, self.trying.seconds
        self._shared = context.team.share(self.terms)
        self._log: list[list[Try]] = []  # every try of every round
        self._again: Callable[[], list[Table]] = list
        self._before = self._read(context.checkpointer.found)
        context.checkpointer.save = self._keep
        self.rounds: list[Counter[str]] = []
        self.best: Try | None = None

    def solve(self) -> Result:
        try:
            return self._solve()
        except SolverFailed as said:
            return self._result(FAILED, notes=(str(said),))

    def _solve(self) -> Result:
        if self.alpha > 1:
            return Result(FAILED, notes=("α may be 100 % at most: beyond that v does not even tell a cell's sign",))
        clashes = known_too_well(self.instance)
        if clashes:
            return Result(INFEASIBLE, clashes=tuple(clashes))
        advice = Advice(self.problem, self.own, self.alpha)
        if advice.too_small:
            return Result(INFEASIBLE, notes=advice.of_single_cells(), facts=advice.facts())
        began = perf_counter()
        held = np.zeros(len(self.own.cells), dtype=bool)
        stuck = held.copy()  # cells that cannot be held without making all tables impossible
        ranges = self._ranges(held)
        self.seconds["finding"] += perf_counter() - began
        if ranges is None:
            notes = advice.of_all_cells(lambda range_: self.tables.any_in(self.tables.box(range_)))
            return self._result(INFEASIBLE, notes=notes, facts=advice.facts())
        if not self.instance.pairs:
            self.best = Try(PROTECTED, 0.0, Table(np.zeros(self.instance.n), 0.0, 0.0))
            return self._result(FEASIBLE)
        while True:
            short = self._round(ranges)
            if self.best is not None:
                return self._result(FEASIBLE, held=held)
            if self.deadline.expired:
                return self._result(LIMIT, notes=(self._so_far(),), held=held)
            if self.tables.failures and not short:
                raise SolverFailed(self.tables.failures[0])
            if len(self.rounds) == 1 and len(self._before) <= 1:  # an earlier run may be beyond that
                self._raise_beta()
                if self.best is not None:
                    return self._result(FEASIBLE, notes=(RAISED,))
                hopeless = self._hopeless()
                if hopeless:
                    notes = advice.of_pairs(lambda alpha: not self.attacks.short(*self._widest(alpha)))
                    return self._result(INFEASIBLE, clashes=tuple(hopeless), notes=notes, facts=advice.facts())
            while True:
                chosen = self._to_hold(short, held | stuck)
                if not len(chosen):
                    return self._result(LIMIT, notes=self._nothing_left(short), held=held)
                held[chosen] = True
                ranges = self._ranges(held)
                if ranges is not None:
                    break
                held[chosen], stuck[chosen] = False, True

    # ---- rounds --------------------------------------------------------------------------------------------------

    def _ranges(self, held: np.ndarray) -> Ranges | None:
        """None if no additive table has values that are allowed in all sensitive cells."""
        allowed, drawn = self.own.allowed(self.alpha), self.own.drawn_from(self.alpha)
        nearest = np.clip(self.own.a, allowed.low, allowed.high)
        drawn, allowed = (
            ValueRanges(np.where(held, nearest, r.low), np.where(held, nearest, r.high)) for r in (drawn, allowed)
        )
        return Ranges(drawn, allowed) if self.tables.any_in(self.tables.box(allowed)) else None

    def _round(self, ranges: Ranges) -> list[Clash]:
        """T tries; what fell short in them."""
        self.rounds.append(Counter())
        self._log.append([])
        self._fell_short: list[Clash] = []
        self._made: list[Table] = []
        if self.free:
            self._search_beta(ranges)
        else:
            same = bool((ranges.drawn.low == ranges.drawn.high).all())
            self._draws([self._draw(ranges) for _ in range(1 if same else self.tries)], ranges)
        return self._fell_short

    def _draws(self, drawn: list[np.ndarray], ranges: Ranges) -> None:
        """The first few here, the others by whoever is there."""
        box, inner, team = self.tables.box(ranges.allowed), ranges.drawn, self.context.team
        known = self._known(len(drawn))
        self._redraw(known, drawn, box, inner)
        self._again = partial(self._tables_of, known, drawn, box, inner)
        for number, xi in enumerate(drawn[len(known) : len(known) + TUNING.first], len(known)):
            if self.deadline.expired:
                return
            self._report(number, self._note(self.trying.draw(xi, box, inner, self.deadline)))
        moves = team.share(self.attacks.moves)
        firsts = range(len(known) + TUNING.first, len(drawn), TUNING.block)
        tasks = [
            (
                self._shared,
                moves,
                drawn[i : i + TUNING.block],
                box,
                inner,
                self.deadline,
                Channel(partial(self._heard, i)),
            )
            for i in firsts
        ]
        for block in in_order(team, tried, tasks, over=lambda: self.deadline.expired):
            self.trying.take(block)
            for made in block.tries:
                self.rounds[-1][self._note(made).outcome] += 1
            self._keep()

    # ---- what was known before, and what is kept -----------------------------------------------------------------

    def _known(self, tries: int) -> list[Try]:
        """What an earlier run found of the first tries of this round: outcomes, without the tables."""
        number = len(self.rounds) - 1
        known = self._before[number][:tries] if number < len(self._before) else []
        for made in known:
            self.rounds[-1][made.outcome] += 1
            self._log[-1].append(made)
            self._fell_short += made.short
        return known

    def _redraw(self, known: list[Try], drawn: list[np.ndarray], box: Box, inner: ValueRanges) -> None:
        """Draws of an earlier run that are said to protect are drawn again, least β first, until one does."""
        said = sorted((made.beta, i) for i, made in enumerate(known) if made.outcome in (PROTECTED, DOUBLED))
        for _, i in said:
            if self.deadline.expired:
                return
            made = self.trying.draw(drawn[i], box, inner, self.deadline)
            if made.outcome in (PROTECTED, DOUBLED):
                self.best = made
                return

    def _tables_of(self, known: list[Try], drawn: list[np.ndarray], box: Box, inner: ValueRanges) -> list[Table]:
        """Those of the tries that were not made again."""
        made = [
            self.trying.draw(drawn[i], box, inner, self.deadline).table
            for i, one in enumerate(known)
            if one.outcome == EXPOSED and not self.deadline.expired
        ]
        return [table for table in made if table is not None]

    def _keep(self) -> None:
        if not self.free and self.context.checkpointer.due:
            rounds = [[[m.outcome, m.beta, sorted({c.pair for c in m.short})] for m in made] for made in self._log]
            self.context.checkpointer.keep(CheckpointState({"rounds": rounds}))

    def _read(self, state: CheckpointState | None) -> list[list[Try]]:
        """Rounds of an earlier run; none, if what stands there makes no sense."""
        if state is None or self.free:
            return []
        try:
            rounds = [[_try_again(made, self.instance) for made in made_in] for made_in in state.facts["rounds"]]
        except (KeyError, TypeError, ValueError):
            return []
        return rounds

    def _draw(self, ranges: Ranges) -> np.ndarray:
        return self.rng.uniform(ranges.drawn.low, ranges.drawn.high)

    def _note(self, made: Try) -> Try:
        self._log[-1].append(made)
        if made.table is not None:
            self._made.append(made.table)
        return self._judged(made)

    def _judged(self, made: Try) -> Try:
        self._fell_short += made.short
        if made.outcome in (PROTECTED, DOUBLED) and (self.best is None or made.beta < self.best.beta):
            self.best = made
            if made.table is not None:
                z, beta = made.table.z, made.beta
                self.context.incumbents.offer(
                    beta, lambda: Result(FEASIBLE, published(self.instance, z, self.alpha, beta), beta)
                )
        return made

    def _search_beta(self, ranges: Ranges) -> None:
        """The variant of ¶22: the smallest β that protects, by doubling and halving."""
        began = perf_counter()
        least = self.tables.least_for_any(ranges.allowed)
        self.seconds["finding"] += perf_counter() - began
        beta = min(max(rounded_up(least), FIRST_BETA), self.cap)
        failed = rounded_up(least)
        for number in range(self.tries):
            if self.deadline.expired:
                return
            began = perf_counter()
            box = self.tables.box(ranges.allowed, self._share(beta))
            z = self.tables.nearest(self._draw(ranges), box, self.deadline, others=TUNING.light)
            self.seconds["finding"] += perf_counter() - began
            made = Try(NONE)
            if z is not None:
                made = self._note(self.trying.table(Table(z, beta, self.tables.beta(z)), beta, ranges.drawn))
            self._report(number, made)
            if made.outcome in (EXPOSED, NONE):
                failed = max(failed, min(2 * beta, self.cap))
            elif made.outcome == DOUBLED:
                failed = max(failed, beta)
            if self.best is None:
                if beta >= self.cap:
                    return
                beta = min(2 * failed, self.cap)
                continue
            if self.best.beta <= TUNING.near * failed:
                return
            beta = rounded_up(max(sqrt(self.best.beta * max(failed, FIRST_BETA / 10)), failed))

    def _raise_beta(self) -> None:
        """Larger and larger β for the tables of the first round, until one protects (¶23); then as small as it can be
        for this one, nearly."""
        tables = sorted([*self._again(), *self._made], key=lambda table: table.beta)
        times = 4
        while tables and not self.deadline.expired and self.best is None:
            for table in tables:
                beta = min(rounded_up(times * max(table.beta, FIRST_BETA / 4)), self.cap)
                if self.best is None or beta < self.best.beta:
                    self._judged(self.trying.attack(table, beta))
            tables = [table for table in tables if times * max(table.beta, FIRST_BETA / 4) < self.cap]
            times *= 2
        if self.best is None or self.best.table is None:
            return
        table, failed = self.best.table, self.best.beta / 2
        while self.best.beta > TUNING.near * failed and not self.deadline.expired:
            made = self._judged(self.trying.attack(table, rounded_up(sqrt(failed * self.best.beta))))
            failed = made.beta if made.outcome == EXPOSED else failed

    def _share(self, beta: float) -> float:
        return self.most if beta >= self.cap else beta / 2

    def _to_hold(self, short: list[Clash], held: np.ndarray) -> np.ndarray:
        """K of the cells that showed that tables do not protect, of others if there are none left (¶21)."""
        position = {int(cell): at for at, cell in enumerate(self.own.cells)}
        blamed = {position[cell] for clash in short for cell in self._behind(clash) if cell in position}
        left = np.array(sorted(at for at in blamed if not held[at]), dtype=np.int64)
        if not len(left):
            left = np.flatnonzero(~held)
        return self.rng.permutation(left)[: self.at_a_time]

    def _behind(self, clash: Clash) -> list[int]:
        """The cell itself; of a union those that it adds up."""
        cell = int(self.instance.pair_cell[clash.pair])
        if self.instance.sensitive[cell]:
            return [cell]
        M = self.instance.M
        rows = M.tocsc()[:, [cell]].indices
        return [int(c) for c in np.unique(M[rows].indices)]

    def _hopeless(self) -> list[Clash]:
        """Pairs that fall short in the widest region that any table with this α and any β can have."""
        began = perf_counter()
        low, high = self._widest(self.alpha)
        short = self.attacks.short(low, high)
        if short:
            pairs = {clash.pair for clash in short}
            short = [clash for clash in self.attacks.short(low, high, exact=True) if clash.pair in pairs]
        self.seconds["auditing"] += perf_counter() - began
        return short

    def _widest(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        return widest(self.instance, self.own.allowed(alpha), alpha, self.most, self.cap)

    # ---- words ---------------------------------------------------------------------------------------------------

    def _report(self, number: int, made: Try) -> None:
        self.rounds[-1][made.outcome] += 1
        self._keep()
        self._tell(number, made.outcome, None if made.table is None else made.beta)

    def _heard(self, first: int, said: tuple[int, str, float | None]) -> None:
        """From a block of tries, while it runs."""
        self._tell(first + said[0], *said[1:])

    def _tell(self, number: int, outcome: str, beta: float | None) -> None:
        best = None if self.best is None else self.best.beta
        at = f"round {len(self.rounds)}, try {number + 1} of {self.tries}: {outcome}"
        self.context.report(Progress("tries", best, None, at if beta is None else f"{at}, β {beta:g}"))

    def _so_far(self) -> str:
        tried = sum(sum(counts.values()) for counts in self.rounds)
        return f"none of {tried} tables protected before the time was over"

    def _nothing_left(self, short: list[Clash]) -> tuple[str, ...]:
        tried = sum(sum(counts.values()) for counts in self.rounds)
        cells = sorted({int(self.instance.pair_cell[clash.pair]) for clash in short})
        named = ", ".join(self.problem.label(cell) for cell in cells[:5]) + (", …" if len(cells) > 5 else "")
        return (
            f"none of {tried} tables protected, with {len(self.rounds) - 1} rounds of fixing sensitive cells; the last"
            f" ones fell short at {named}",
            "that proves nothing: a larger α, a larger cap on β or another seed may find a table",
        )

    def _result(self, status: str, *, held: np.ndarray | None = None, **more: Any) -> Result:
        facts: dict[str, Any] = {
            "alpha": self.alpha,
            "tries": sum(sum(counts.values()) for counts in self.rounds),
            "rounds": [{name: counts[name] for name in (PROTECTED, DOUBLED, EXPOSED, NONE)} for counts in self.rounds],
            "questions": self.attacks.questions,
        } | more.pop("facts", {})
        notes = more.pop("notes", ())
        if held is not None and held.any():
            facts["fixed"] = [int(cell) for cell in self.own.cells[held]]
        if self.best is None or status != FEASIBLE:
            return Result(status, seconds=self.seconds, facts=facts, notes=notes, **more)
        assert self.best.table is not None
        facts |= {"beta": self.best.beta, "least beta": self.best.table.least}
        pattern = published(self.instance, self.best.table.z, self.alpha, self.best.beta)
        return Result(status, pattern, self.best.beta, None, self.seconds, (), facts, notes)


def _try_again(made: list[Any], instance: Instance) -> Try:
    outcome, beta, pairs = made
    if outcome not in (PROTECTED, DOUBLED, EXPOSED, NONE) or not all(0 <= int(p) < instance.pairs for p in pairs):
        raise ValueError("not one of ours")
    return Try(outcome, float(beta), None, tuple(Clash(int(pair), None, 0.0, 0.0) for pair in pairs))
