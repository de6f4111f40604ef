"""Which way the cells with a level go, where that is free (papers 004 (3), 000 (6)), in L1.

Cells that must move together are one group; then, on ever larger scales: flips of single groups on a warm linear
program, blocks of groups as small mixed-integer problems, the whole as one: by a tree over the linear relaxation with
cuts, which says how good it can get, and if that leads nowhere as one mixed-integer problem. What comes out is a
solution of the problem over all cells, not only of the reduced one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from time import perf_counter, process_time
from typing import Any

import numpy as np

from sdcdsl.accelerate.cta.senses.blocks import Blocks
from sdcdsl.accelerate.cta.senses.branch_and_bound import SenseTree
from sdcdsl.accelerate.cta.senses.dives import Dives
from sdcdsl.accelerate.cta.senses.flips import Flips
from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.senses.mip import Model, Part
from sdcdsl.accelerate.cta.senses.relaxation import Relaxation, worth_having
from sdcdsl.accelerate.cta.senses.sense_choice import Chosen, ReservedShare
from sdcdsl.accelerate.cta.senses.start import Start, choices, start
from sdcdsl.accelerate.cta.senses.warm_start import Point, WarmStart
from sdcdsl.accelerate.cta.tuning import SEARCH
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.methods.result import Progress
from sdcdsl.methods.result import gap as gap_of
from sdcdsl.numerics.aggregation import FIXED
from sdcdsl.numerics.nearest.additive import additive
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

LEAST_GAP = 1e-6  # what a linear program is solved to; a gap of 0 means this
DOUBT = 1e-9  # of the objective: taken off what a mixed-integer solver calls a bound

Tell = Callable[[Progress], None]
Show = Callable[[float, Callable[[], np.ndarray]], None]  # the objective of a better table, and what makes the table


class SenseSearch:
    def __init__(self, adjustment: Adjustment, w_down: np.ndarray, w_up: np.ndarray, gap: float, deadline: Deadline):
        self.adjustment, self.w_down, self.w_up = adjustment, w_down, w_up
        self.gap, self.deadline = max(gap, LEAST_GAP), ReservedShare(deadline)
        self.seconds: dict[str, float] = {}
        begun = perf_counter()
        self.groups = Groups(adjustment)
        c_down, c_up, price = self.groups.prices(w_down, w_up)
        self.prices = c_down, c_up
        self.natural = price * self.groups.unit  # a unit of the reduced objective
        self.warm = WarmStart(self.groups, c_down, c_up)
        self.flips = Flips(self.warm)
        self.bound = 0.0  # of the reduced problem
        self.best: Point | None = None
        self.begun: Start | None = None
        self.tries = self.nodes = 0
        self._tell: Tell = lambda progress: None
        self.shown: Show = lambda objective, z: None
        self._seed = 0
        self.seconds["reduction"] = perf_counter() - begun

    def run(self, seed: int = 0, tell: Tell = lambda progress: None) -> Chosen:
        self._tell, self._seed = tell, seed
        if len(self.groups.hopeless):
            return self._hopeless()
        self._phase("start", 1.0, self.started)
        if self.best is None:
            return self._nothing()
        self._phase("flips", SEARCH.flips, self.flipped)
        done = self._phase("relaxation", SEARCH.relaxation, self._relax) if not self.proven else True
        if not self.proven and (len(self.groups.sensitive) > SEARCH.few or not done):
            self._phase("blocks", SEARCH.blocks if done else 1.0, self.blocked)
        if not self.proven and done:
            self._phase("tree", SEARCH.tree, self._tree)
        if not self.proven and done:
            self._phase("whole", 1.0, self._whole)
        return self._found()

    @property
    def proven(self) -> bool:
        return self._enough(self.bound)

    def _enough(self, bound: float) -> bool:
        return self.best is not None and gap_of(self.best.objective, bound) <= self.gap

    @property
    def _ceiling(self) -> float:
        return inf if self.best is None else self.best.objective

    # ---- phases -------------------------------------------------------------------------------------------------

    def _phase(self, name: str, share: float, work: Callable[[Deadline], Any]) -> Any:
        begun = perf_counter()
        answer = work(ReservedShare(self.deadline, share))
        self.seconds[name] = perf_counter() - begun
        self._say(name)
        return answer

    def _say(self, phase: str) -> None:
        objective = None if self.best is None else self.best.objective * self.natural
        self._tell(Progress(phase, objective, self.bound * self.natural))

    def _take(self, point: Point, phase: str) -> None:
        if self.best is None or point.objective < self.best.objective:
            self.best = point
            self.shown(point.objective * self.natural, lambda: self._table(point))
            self._say(phase)

    def _table(self, point: Point) -> np.ndarray:
        """A point as deviations of all cells, as additive as those of a solver of the whole."""
        a = self.adjustment
        l, u = a.box(self.groups.senses(point.up))
        return additive(a.M, np.clip(self.groups.to_cells(point.D), l, u), l, u, self.groups.unit)

    def started(self, deadline: Deadline) -> None:
        self.begun = start(self.warm, deadline)
        if self.begun.point is not None:
            self._take(self.begun.point, "start")

    def flipped(self, deadline: Deadline) -> None:
        assert self.best is not None
        self._take(self.flips.improve(self.best, deadline, lambda point: self._take(point, "flips")), "flips")

    def _model(self) -> Model:
        assert self.best is not None
        g, best = self.groups, self.best
        part = Part(np.ones(g.count, dtype=bool), np.ones(len(g.sensitive), dtype=bool))
        return Model(g, self.prices, part, best.up, best.D, worth_having(g, self.prices, best.objective))

    def _relax(self, deadline: Deadline) -> bool:
        self.relaxation = Relaxation(self._model())

        def better(bound: float) -> None:
            self.bound = max(self.bound, bound)
            self._say("relaxation")

        return self.relaxation.run(deadline, better)

    def blocked(self, deadline: Deadline) -> None:
        assert self.best is not None
        blocks = Blocks(self.warm, self.flips, self._seed)
        self._take(blocks.improve(self.best, deadline, lambda point: self._take(point, "blocks")), "blocks")
        self.tries = blocks.tries

    def _tree(self, deadline: Deadline) -> None:
        """Gone on with only if a first look closes so much of the gap that the rest is in sight."""
        if self.relaxation.model.capped:
            return
        dives = Dives(self.relaxation, self._seed)
        begun, spent = process_time(), 0.0

        def look(low: np.ndarray, high: np.ndarray) -> None:
            nonlocal spent
            now = process_time()
            if spent <= SEARCH.dives * (now - begun) and self.best is not None:
                deadline.mark_time_dependent()  # how often is a matter of time
                found = dives.from_node(low, high, self.best.up[dives.chosen], deadline)
                if found is not None:
                    self._settle(found, deadline)
                spent += process_time() - now

        def better(bound: float) -> None:
            self.bound = max(self.bound, bound * (1 - DOUBT))
            self._say("tree")

        tree = SenseTree(
            self.relaxation, lambda: self._ceiling, look, lambda b: self._settle(b, deadline), self._enough
        )
        before = self._ceiling - self.bound
        going = tree.run(ReservedShare(deadline, SEARCH.first_look), better)
        deadline.mark_time_dependent(not self.proven)
        if going and not self.proven and self._ceiling - tree.bound <= SEARCH.promising * before:
            tree.run(deadline, better)
        better(tree.bound)
        self.nodes = tree.nodes

    def _settle(self, chosen: np.ndarray, deadline: Deadline) -> None:
        """The closest table with these directions of the groups that choose, and with those near them."""
        assert self.best is not None
        up = self.best.up.copy()
        up[self.relaxation.model.chosen] = chosen
        status, point = self.warm.solve(up, deadline)
        if status == OPTIMAL and point is not None:
            self._take(self.flips.improve(point, deadline), "tree")

    def _whole(self, deadline: Deadline) -> None:
        assert self.best is not None
        model = self._model()
        if model.capped and (every := choices(self.groups)) is not None:
            self._each(every, deadline)
            return
        made = model.solve(deadline, 0.5 * self.gap, self.relaxation.tight)
        if made.up is not None and (made.up != self.best.up).any():
            status, point = self.warm.solve(made.up)
            if status == OPTIMAL and point is not None:
                self._take(point, "whole")
        if made.bound > -inf and made.status != INFEASIBLE:
            self.bound = max(self.bound, made.bound - DOUBT * abs(made.bound))

    def _each(self, every: Iterator[np.ndarray], deadline: Deadline) -> None:
        """Ends that were made up prove nothing; the best of all choices does."""
        for up in every:
            status, point = self.warm.solve(up, deadline)
            if status == OPTIMAL and point is not None:
                self._take(point, "whole")
            elif status != INFEASIBLE:
                return
        assert self.best is not None
        self.bound = max(self.bound, self.best.objective - DOUBT * abs(self.best.objective))

    # ---- what comes out -----------------------------------------------------------------------------------------

    @property
    def facts(self) -> dict[str, Any]:
        g = self.groups
        return {
            "groups": len(g.sensitive),
            "columns": g.count,
            "relations": len(g.matrix.indptr) - 1,
            "blocks": self.tries,
            "nodes": self.nodes,
            "seconds": {name: round(s, 3) for name, s in self.seconds.items()},
        }

    def _found(self) -> Chosen:
        """The senses, with a table over all cells."""
        assert self.best is not None
        begun = perf_counter()
        a = self.adjustment
        sense = self.groups.senses(self.best.up)
        l, u = a.box(sense)
        moment = Deadline(None if self.deadline.remaining == inf else self._a_moment)
        solved = L1(a.M).solve(self.w_down, self.w_up, l, u, moment)
        self.deadline.mark_time_dependent(moment.time_dependent)
        self.seconds["cells"] = perf_counter() - begun
        bound, z, objective = self.bound * self.natural, solved.z, solved.objective
        if solved.status == LIMIT:  # the groups have a table already, to fewer digits
            z = self._table(self.best)
            objective = a.length(z)
        if z is None or objective is None:
            return Chosen(FAILED, sense, bound=bound, facts=self.facts)
        bound = min(bound, objective)
        status = OPTIMAL if gap_of(objective, bound) <= self.gap else FEASIBLE
        return Chosen(status, sense, z, objective, bound, facts=self.facts)

    @property
    def _a_moment(self) -> float:
        """Seconds for the table over all cells, which is solved from the senses found: what the groups took to begin
        with, and some more."""
        return SEARCH.cells * max(self.seconds.get("start", 0.0), SEARCH.least_cells)

    def _nothing(self) -> Chosen:
        assert self.begun is not None
        missed = self.begun.missed
        violation = None if missed is None else self._missing(missed)
        return Chosen(self.begun.status, violation=violation, facts=self.facts)

    def _missing(self, point: Point) -> np.ndarray:
        a = self.adjustment
        z = self.groups.to_cells(point.D)[a.cells]
        up = self.groups.senses(point.up) > 0
        rise, fall = a.upl - z, a.lpl + z
        short = np.where(up, rise, fall)
        short = np.where(np.isinf(short), np.minimum(rise, fall), short)
        return np.where(short > 1e-7 * self.groups.unit, short, 0.0)

    def _hopeless(self) -> Chosen:
        """Some cells cannot move at all; the others are tried without them."""
        a, g = self.adjustment, self.groups
        smaller = np.minimum(a.lpl, a.upl)
        violation = np.where(g.place == FIXED, smaller, 0.0)
        keep = np.flatnonzero(g.place != FIXED)
        fewer = replace(a, cells=a.cells[keep], lpl=a.lpl[keep], upl=a.upl[keep], sense=a.sense[keep])
        others = SenseSearch(fewer, self.w_down, self.w_up, 1.0, self.deadline)
        others._phase("start", 1.0, others.started)
        if others.best is None and others.begun is not None and others.begun.missed is not None:
            violation[keep] = others._missing(others.begun.missed)
        return Chosen(INFEASIBLE, violation=violation, facts=self.facts)
