"""The search of one method, again and again until its release tells no sensitive sum.

Which sums of hidden cells are sensitive depends on what is hidden, and is known once there is a release. The audit
names those that it leaves too narrow (`audit.sums`); they become cells of the problem, and the method searches again.
Sums are never taken out, and there are finitely many, so that this ends. All searches together have the time of one:
the first ones a part of it each, so that a release that holds is at hand early, and the last one what is left. Where
releases cannot be mended, a search that is not the last ends soon after it has a release in hand: what counts is which
sums that one tells.

The same holds for contributors whose pairs are not in the list (`proof.families`): whom a release leaves too little
gets a row. A pattern of hidden cells is mended for both at once, by hiding more, so that a release is in hand before
the next search begins.

Bounds. A sum is required in every release of the rounds that follow, be all its members hidden or not. That may be
more than the audit asks of a release in which one of them is published: such a round proves nothing about the least
cost, and the bound stays the one of the rounds before. It is no more for a pair of which one cell is sensitive and asks
for at least as much as the pair: where the other cell is published, the pair moves as the sensitive cell does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sdcdsl.audit import Audit
from sdcdsl.audit.sums import covering
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.executing.timeouts import TimedOut, run_with_timeout
from sdcdsl.methods.checkpoint import Checkpointer, CheckpointState
from sdcdsl.methods.incumbents import Incumbents
from sdcdsl.methods.instance import Instance, discounted
from sdcdsl.methods.result import Result, gap
from sdcdsl.outcome import SAFE
from sdcdsl.pattern import hidden as pattern_of
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.pipeline.checkpoints import checkpointer_for
from sdcdsl.pipeline.method_plan import Plan, replanned
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.pipeline.time_shares import Shares
from sdcdsl.status import FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

SHARE = 0.5  # of the time that is left, for a search that may not be the last one, if it has something in hand by then
# Where that cannot be mended, so many times as long as the first release took, and this share of the time at least.
TIMES, LEAST = 2.0, 0.1
ENOUGH = 0.3  # of the limit: with less than this left, a search is the last one
MENDED = 0.8  # the same for the last one where its pattern may have to be mended for contributors
FELL_BACK = "the audit refused a release that cost less; this is the one that the search had before it"
NOT_AUDITED = "a better release was found, and its audit did not end in time"
TOO_LATE = "a release was found, and its audit did not end before the limit: nothing is released without it"
ROUNDING = 1e-9  # of a cost: less than that is no gap


@dataclass(frozen=True, eq=False)
class SearchRound:
    """A search and the audit of what it found."""

    problem: TableProblem
    plan: Plan
    result: Result
    audit: Audit | None = None
    found: tuple[Diagnostic, ...] = ()

    @property
    def found_release(self) -> bool:
        return self.result.status in (OPTIMAL, FEASIBLE) and self.result.pattern is not None


Search = Callable[[TableProblem, Plan, Checkpointer, Deadline, Incumbents], Result]
# The last one: of another release of the problem.
Auditing = Callable[[TableProblem, Result, Plan, Audit | None], tuple[Audit | None, list[Diagnostic]]]


class Rounds:
    def __init__(
        self,
        problem: TableProblem,
        plan: Plan,
        request: ProtectRequest,
        shares: Shares,
        search: Search,
        audit: Auditing,
    ):
        self.problem, self.plan, self.request, self.shares = problem, plan, request, shares
        self.whole, self.deadline = shares.whole, shares.search
        self.search, self.audit = search, audit
        self.first = problem
        self.number = 1  # of the problem: how often it was extended, and one
        self.best: SearchRound | None = None  # whose release tells no sensitive sum
        self.bound: float | None = None  # on the cost of any release
        self.timed = False
        self.unaudited = False  # the audit of a better release did not end
        self.seconds: dict[str, float] = {}
        self.stale: list[Diagnostic] = []

    def run(self) -> SearchRound:
        limited = self.deadline.limit is not None and (
            self.problem.sums is not None or self.problem.families is not None
        )
        last = not limited
        while True:
            made = self._round(SHARE if not last else MENDED if limited and self.problem.families is not None else 1.0)
            if not made.found_release:
                if made.result.status == LIMIT and not last and not self.deadline.expired:
                    last = True  # a part of the time was too little
                    continue
                return self._ended(self.best or self._nothing(made))
            if made.audit is None:
                return self._ended(self.best or (self._unaudited(made) if self.unaudited else made))
            if made.audit.verdict not in SAFE:
                if made.audit.problem is self.problem:
                    return self._ended(self.best or made)
                self._mend(made)
                self._extend(made.audit.problem)
                if self.best is not None and (self.deadline.expired or (last and limited)):
                    return self._ended(self.best)
                last = not limited or self.deadline.remaining < ENOUGH * (self.deadline.limit or 0.0)
                continue
            self.best = _cheaper(self.best, made)
            if last or made.result.status == OPTIMAL or not made.result.timed or self.deadline.expired:
                return self._ended(self.best)
            last = True

    def _round(self, share: float) -> SearchRound:
        checkpointer, stale = checkpointer_for(self.problem, self.plan, self.request, self.number)
        self.stale += stale if self.number == 1 and not self.stale else []
        if checkpointer.found is None and self.best is not None and self.best.problem.n == self.problem.n:
            checkpointer.found = _known(self.best)
        incumbents = Incumbents()
        if share == SHARE:
            part = self._first_part(incumbents)
        else:
            part = self.deadline if share == 1.0 else self.deadline.within(share * self.deadline.remaining)
        result = self.search(self.problem, self.plan, checkpointer, part, incumbents)
        self.timed |= result.timed
        for phase, passed in result.seconds.items():
            self.seconds[phase] = self.seconds.get(phase, 0.0) + passed
        if result.bound is not None and _proves(self.problem):
            self.bound = result.bound if self.bound is None else max(self.bound, result.bound)
        made = SearchRound(self.problem, self.plan, result)
        if not made.found_release:
            return made
        made = self._judged(made)
        return self._fallen_back(made, incumbents) if self._refused(made) else made

    def _first_part(self, incumbents: Incumbents) -> Deadline:
        """Of a search whose release may have to be mended, or found anew, unless it says that it mends it itself."""
        left, mends = self.deadline.remaining, self._mends
        part = self.deadline.until_found(SHARE * left)

        def found(last: bool) -> None:
            if last:
                part.go_on()
            else:
                part.shorten((SHARE if mends else LEAST) * left, TIMES)

        incumbents.first = found
        return part

    def _judged(self, made: SearchRound) -> SearchRound:
        began = self.whole.elapsed

        def audit() -> tuple[Audit | None, list[Diagnostic]]:
            return self.audit(made.problem, made.result, self.plan, made.audit)

        if self.whole.limit is None:
            judged, wrong = audit()
        else:
            try:
                judged, wrong = run_with_timeout(self.shares.patience, audit)
            except TimedOut:
                self.unaudited = True
                return replace(made, audit=None)
        self.shares.audited(made.problem, self.whole.elapsed - began)
        if judged is not None and judged.verdict in SAFE:  # it may have listed who is protected as well
            made = replace(made, problem=judged.problem)
        return replace(made, audit=judged, found=tuple(wrong))

    def _refused(self, made: SearchRound) -> bool:
        """Whether the audit found a release unprotected, other than by sums or pairs that nobody asked for."""
        if self.unaudited:
            return False
        return made.audit is None or (made.audit.problem is self.problem and made.audit.verdict not in SAFE)

    def _fallen_back(self, refused: SearchRound, incumbents: Incumbents) -> SearchRound:
        """The release that the search had before the one that the audit refuses, if that one is protected."""
        dearest = refused.result.objective
        for earlier in incumbents.best_first():
            if dearest is not None and earlier.objective is not None and earlier.objective <= dearest:
                continue
            made = self._judged(SearchRound(self.problem, self.plan, replace(earlier, seconds={})))
            if not self._refused(made):
                result = replace(made.result, notes=(*made.result.notes, FELL_BACK))
                return replace(made, result=result)
        return refused

    @property
    def _mends(self) -> bool:
        """Whether what a release leaves too narrow is put right at once. Without a limit the next search asks for it,
        and finds what costs least."""
        limited = self.problem.families is not None or self.deadline.limit is not None
        return self.plan.engine.name == "csp" and limited

    def _mend(self, made: SearchRound) -> None:
        """Of a pattern that exposes pairs that its search did not ask for, one that hides a little more."""
        if not self._mends:
            return
        while made.audit is not None and made.audit.verdict not in SAFE:
            wider = _wider(made, self.whole)
            if wider is None:
                return
            made = self._judged(replace(made, problem=made.audit.problem, result=wider))
        if made.audit is not None:
            self.best = _cheaper(self.best, made)

    def _extend(self, problem: TableProblem) -> None:
        self.problem, self.number = problem, self.number + 1
        self.plan = replanned(self.plan, problem, self.request)

    # ---- what comes of it ---------------------------------------------------------------------------

    def _ended(self, made: SearchRound) -> SearchRound:
        given_up = self.unaudited and self.best is not None
        notes = (*made.result.notes, NOT_AUDITED) if given_up else made.result.notes
        result = replace(made.result, timed=self.timed, seconds=self.seconds, notes=notes)
        if made.found_release and _late(made.problem) > _late(self.first):
            result = self._as_proved(made.problem, result)
        elif made.found_release and made.problem is not self.first:
            result = self._with_bound(result)
        return replace(made, result=result, found=(*self.stale, *made.found))

    def _as_proved(self, problem: TableProblem, result: Result) -> Result:
        more = _late(problem)
        sums = "1 sum of cells" if more == 1 else f"{more:,} sums of cells"
        note = f"{sums} that an earlier pattern left too narrow {'is' if more == 1 else 'are'} protected as well"
        status = result.status
        if not _proves(problem):
            status = self._with_bound(result).status
            note += "; the bound is that of a search that protects fewer"
        return replace(result, status=status, bound=self.bound, notes=(*result.notes, note))

    def _with_bound(self, result: Result) -> Result:
        """The bound of a search that requires fewer holds here as well."""
        tolerated = float(self.plan.options.get("gap") or 0.0) + ROUNDING
        known = result.objective is not None and self.bound is not None
        status = OPTIMAL if known and gap(result.objective, self.bound) <= tolerated else FEASIBLE  # type: ignore[arg-type]
        return replace(result, status=status, bound=self.bound)

    def _unaudited(self, made: SearchRound) -> SearchRound:
        """A release that nobody audited in time is none."""
        result = made.result
        nothing = Result(LIMIT, bound=result.bound, seconds=result.seconds, notes=(*result.notes, TOO_LATE), timed=True)
        return replace(made, result=nothing, found=())

    def _nothing(self, made: SearchRound) -> SearchRound:
        """No release, or none that tells no sensitive sum: then that is what is in the way."""
        if made.problem is self.first:
            return made
        result, more = made.result, _late(made.problem)
        sums = "a sum" if more == 1 else f"{more:,} sums"
        what = f"tell {sums} of cells that the rules call sensitive" if more else "expose cells to contributors"
        note = f"releases were found, and not released: they {what}"
        status = LIMIT if result.status == INFEASIBLE and not _proves(made.problem) else result.status
        return replace(made, result=replace(result, status=status, notes=(*result.notes, note)))


def _cheaper(best: SearchRound | None, made: SearchRound) -> SearchRound:
    if best is None or best.result.objective is None or made.result.objective is None:
        return made
    return made if made.result.objective <= best.result.objective else best


def _wider(made: SearchRound, deadline: Deadline) -> Result | None:
    from sdcdsl.accelerate.csp.widening import widened  # noqa: PLC0415  solvers take their time to load

    assert made.audit is not None and made.result.pattern is not None and made.result.objective is not None
    problem, options = made.audit.problem, made.plan.options
    instance, published = Instance(problem), problem.dataset["published"].values
    w = discounted(instance, made.plan.before, options)
    hidden = covering(made.result.pattern, problem.n).status != EXACT
    wider = widened(instance, hidden, np.flatnonzero(made.audit.verdicts != "p").tolist(), w, deadline)
    if wider is None or not (wider & ~hidden).any():
        return None
    cap = options.get("cap_hidden")
    if cap is not None and (wider & published).sum() > cap:
        return None
    cost = made.result.objective + float(w[wider & ~hidden & published].sum())
    return replace(made.result, status=FEASIBLE, pattern=pattern_of(instance.a, wider), objective=cost)


def _known(best: SearchRound) -> CheckpointState | None:
    """What a search of the same problem may begin with; it is attacked again before it counts. Its witnesses are those
    that the search before it had, and need not be all."""
    pattern = best.result.pattern
    if best.plan.engine.name != "csp" or pattern is None:
        return None
    hidden = (pattern.status != EXACT) | ~best.problem.dataset["published"].values
    moves, arrays = best.result.moves, {"hidden": hidden}
    if moves is not None:
        arrays |= {"move_start": moves.start, "move_cell": moves.cell, "move_amount": moves.move}
    return CheckpointState({"phase": "search", "cells": 0 if moves is None else moves.cells}, arrays)


def _late(problem: TableProblem) -> int:
    """Sums that a release made necessary."""
    return 0 if problem.sums is None else len(problem.sums.unions) - problem.sums.before


def _proves(problem: TableProblem) -> bool:
    """Whether what this problem requires is asked of every release."""
    if not _late(problem):
        return True
    assert problem.sums is not None
    unions, before = problem.sums.unions, problem.sums.before
    if not unions.always[before:].all():
        return False
    d = problem.dataset
    base = problem.n - len(unions)
    cell, attacker = d["cell_at"].values.astype(np.int64), d["attacker_at"].values.astype(np.int64)
    levels = np.stack([d[name].values for name in ("lpl", "upl", "spl")])
    count = d.sizes["attacker"]
    required = {int(key): levels[:, at] for at, key in enumerate(cell * count + attacker)}
    sensitive = (d["status"].values == "u") & d["published"].values
    for pair in np.flatnonzero(cell >= base + before):
        members = [int(c) for c in unions.members(int(cell[pair]) - base) if sensitive[c]]
        covered = (required.get(c * count + int(attacker[pair])) for c in members)
        if len(members) != 1 or not any(one is not None and (one >= levels[:, pair]).all() for one in covered):
            return False
    return True
