"""Free senses in L2, L∞ and L1 + L2 (papers 004 (5), (6), (10), 000 (6)).

The directions that are good in L1 are a start. Flips of groups, each answered by the solver of the norm (`closest`), go
on from there: for separable norms those first whose multipliers promise most, by the same weak duality as in L1; in L∞
those of the groups that hold the maxima. HiGHS has no mixed-integer quadratic programs: the bound comes from branches
(`branching`), which end where sensitive cells are few, and from the mixed-integer problem of L1 with other objectives,

    L2        Σ t_i,   t_i ≥ 2 q_i ρ r_i - q_i ρ²    tangents of q_i r_i² at points ρ, with r = D⁺ + D⁻
    L∞        t_P + t_N,   w_i r_i ≤ t_P or t_N

where tangents are added at every solution until the best directions known are within the gap of it, or time is up.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.cta.closest import closest
from sdcdsl.accelerate.cta.senses.branching import branched
from sdcdsl.accelerate.cta.senses.mip import Model, Part
from sdcdsl.accelerate.cta.senses.relaxation import Relaxation
from sdcdsl.accelerate.cta.senses.search import DOUBT, LEAST_GAP, SenseSearch, Tell
from sdcdsl.accelerate.cta.senses.sense_choice import Chosen, ReservedShare
from sdcdsl.accelerate.cta.tuning import NORM
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.settings import LINF, Settings
from sdcdsl.methods.result import Progress
from sdcdsl.methods.result import gap as gap_of
from sdcdsl.numerics.aggregation import FIXED
from sdcdsl.numerics.nearest.solved import SeparableCost, Solved
from sdcdsl.status import FAILED, FEASIBLE, OPTIMAL


class NonlinearNorm:
    """Any norm but L1."""

    def __init__(self, of: Settings, gap: float, deadline: Deadline, seed: int, tell: Tell):
        self.of, self.gap, self.deadline, self._tell = of, max(gap, LEAST_GAP), ReservedShare(deadline), tell
        self._seed = seed
        w = np.where(of.w > 0, of.w, 0.0)
        linear = (of.w_down, of.w_up) if of.norm == "L1L2" else (w, w)
        self.search = SenseSearch(of.of, *linear, 0.5 * self.gap, ReservedShare(self.deadline, NORM.start))
        self.groups = self.search.groups
        self.bound = 0.0
        self.best: Solved | None = None
        self.up = np.zeros(0, dtype=bool)
        self.flipped = 0
        self.seconds: dict[str, float] = {}

    def run(self) -> Chosen:
        begun = perf_counter()
        first = self.search.run(self._seed)
        self.seconds["L1"] = perf_counter() - begun
        if first.sense is None or self.search.best is None:
            return first
        self.up = self.search.best.up.copy()
        self.best = self._solved(self.up)
        if self.best is None:
            return Chosen(FAILED, first.sense, facts=self.facts)
        self._say("start")
        self._phase("flips", lambda: self._flips(ReservedShare(self.deadline, NORM.flips)))
        self._phase("branches", self._branch)
        if not self.proven:
            self._phase("tangents", self._prove)
        best = self.best
        assert best.objective is not None
        bound = min(self.bound, best.objective)
        status = OPTIMAL if gap_of(best.objective, bound) <= self.gap else FEASIBLE
        return Chosen(status, self.groups.senses(self.up), best.z, best.objective, bound, facts=self.facts)

    def _phase(self, name: str, work: Callable[[], None]) -> None:
        begun = perf_counter()
        work()
        self.seconds[name] = perf_counter() - begun
        self._say(name)

    @property
    def proven(self) -> bool:
        best = None if self.best is None else self.best.objective
        return best is not None and gap_of(best, self.bound) <= self.gap

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "groups": len(self.groups.sensitive),
            "columns": self.groups.count,
            "flips": self.flipped,
            "seconds": {name: round(s, 3) for name, s in self.seconds.items()},
        }

    def _say(self, phase: str) -> None:
        self._tell(Progress(phase, None if self.best is None else self.best.objective, self.bound))

    def _solved(self, up: np.ndarray) -> Solved | None:
        solved = closest(self.of, self.groups.senses(up), self.deadline)
        return solved if solved.status == OPTIMAL and solved.z is not None and solved.objective is not None else None

    def _better(self, up: np.ndarray, phase: str) -> bool:
        found = self._solved(up)
        self.flipped += 1
        assert self.best is not None and self.best.objective is not None
        if found is None or found.objective is None or found.objective >= self.best.objective * (1 - 1e-9):
            return False
        self.best, self.up = found, up
        self._say(phase)
        return True

    def _branch(self) -> None:
        def offer(up: np.ndarray) -> float:
            self._better(up, "branches")
            assert self.best is not None and self.best.objective is not None
            return self.best.objective

        assert self.best is not None and self.best.objective is not None
        deadline = ReservedShare(self.deadline, NORM.branches)
        bound = branched(self.of, self.groups, self.best.objective, 0.5 * self.gap, deadline, offer)
        self.bound = max(self.bound, min(bound, self.best.objective))

    # ---- flips --------------------------------------------------------------------------------------------------

    def _flips(self, deadline: Deadline) -> None:
        tried = np.zeros(len(self.up))
        while not deadline.expired:
            prospect = self._prospects()
            order = np.flatnonzero(prospect < tried)
            if not len(order):
                return
            k = int(order[np.argmin(prospect[order])])
            up = self.up.copy()
            up[k] = ~up[k]
            if not self._better(up, "flips"):
                tried[k] = 1.0001 * prospect[k]

    def _prospects(self) -> np.ndarray:
        """[k]: the change that multipliers promise; a bound of it where the norm is separable. inf: may not flip."""
        g, a, best = self.groups, self.of.of, self.best
        assert best is not None and best.z is not None and best.y is not None
        sense = g.senses(self.up)
        k = g.at[g.place]
        shut = ~np.where(self.up, g.open[:, 0], g.open[:, 1])
        if self.of.norm == LINF:
            assert best.mu_low is not None and best.mu_high is not None
            promise = -np.where(sense > 0, best.mu_low[a.cells], best.mu_high[a.cells])
            return np.where(shut, inf, np.bincount(k, promise, len(self.up)))
        pull = a.M.T @ best.y
        cells = a.cells
        curved = self.of.w_square[cells]
        none = np.zeros(len(cells))
        linear = (self.of.w_down[cells], self.of.w_up[cells]) if self.of.norm == "L1L2" else (none, none)
        cost = SeparableCost(*linear, curved)
        now, then = (self._least(cost, pull[cells], s) for s in (sense, -sense))
        with np.errstate(invalid="ignore"):
            change = np.bincount(k, then - now, len(self.up))
        return np.where(shut, inf, change)

    def _least(self, cost: SeparableCost, pull: np.ndarray, sense: np.ndarray) -> np.ndarray:
        a = self.of.of
        l, u = np.where(sense > 0, a.upl, a.low[a.cells]), np.where(sense > 0, a.high[a.cells], -a.lpl)
        with np.errstate(invalid="ignore", over="ignore"):
            z = np.where(l <= u, cost.cheapest(pull, np.minimum(l, u), u), 0.0)
            value = cost.each(z) - pull * z
        return np.where((l <= u) & np.isfinite(value), value, 1e300)

    # ---- bound --------------------------------------------------------------------------------------------------

    def _prove(self) -> None:
        assert self.best is not None
        curve = Tangents(self) if self.of.norm != LINF else Maxima(self)
        relaxation = Relaxation(curve.model, curve if isinstance(curve, Tangents) else None)

        def better(bound: float) -> None:
            self.bound = max(self.bound, bound * curve.natural)
            self._say("relaxation")

        if not relaxation.run(ReservedShare(self.deadline, 0.5), better):
            return
        for _ in range(NORM.rounds):
            if self.deadline.expired or self.proven:
                return
            made = curve.model.solve(self.deadline, 0.25 * self.gap, relaxation.tight)
            if made.bound > -inf:
                self.bound = max(self.bound, (made.bound - DOUBT * abs(made.bound)) * curve.natural)
            if made.up is None or made.D is None:
                return
            self._better(made.up, "tangents")
            if isinstance(curve, Maxima) or not curve.at(np.abs(made.D)):
                return
            solved = self._solved(made.up)
            if solved is not None and solved.z is not None:
                curve.at(self._moved(solved.z))

    def _moved(self, z: np.ndarray) -> np.ndarray:
        """|D| in units, of a table."""
        return np.abs(self.groups.moves(z))


def _model(
    bent: NonlinearNorm, prices: tuple[np.ndarray, np.ndarray], ends: tuple[np.ndarray, np.ndarray], extra: int
) -> Model:
    g = bent.groups
    part = Part(np.ones(g.count, dtype=bool), np.ones(len(g.sensitive), dtype=bool))
    return Model(g, prices, part, bent.up, np.zeros(g.count), ends, extra)


class Tangents:
    """L2 and L1 + L2."""

    def __init__(self, bent: NonlinearNorm):
        g, of, best = bent.groups, bent.of, bent.best
        assert best is not None and best.z is not None and best.objective is not None
        q = g.squares(of.w_square) * g.unit**2
        some = q[q > 0]
        self.natural = float(np.exp(np.log(some).mean())) if len(some) else 1.0
        self.q = q / self.natural
        prices = np.zeros(g.count), np.zeros(g.count)
        if of.norm == "L1L2":
            down, up, price = g.prices(of.w_down, of.w_up)
            prices = down * price * g.unit / self.natural, up * price * g.unit / self.natural
        self.curved = np.flatnonzero(self.q > 0)
        objective = best.objective * (1 + 1e-9) / self.natural
        r = np.full(g.count, inf)
        r[self.curved] = np.sqrt(objective / self.q[self.curved])
        ends = np.maximum(g.low, -r), np.minimum(g.high, r)
        self.model = _model(bent, prices, ends, len(self.curved))
        moved = bent._moved(best.z)
        for times in NORM.points:
            self.at(np.where(moved > 0, moved * times, 0.0))

    def at(self, r: np.ndarray) -> bool:
        """Tangents at these points of all groups that move there."""
        return self._add(np.flatnonzero(r[self.curved] > 0), r)

    def tangents(self, x: np.ndarray) -> bool:
        n = self.model.n
        r, t = x[:n] + x[n : 2 * n], x[2 * n : 2 * n + len(self.curved)]
        value = self.q[self.curved] * r[self.curved] ** 2
        return self._add(np.flatnonzero(value > t + 1e-7 * (1 + np.abs(value))), r)

    def _add(self, which: np.ndarray, r: np.ndarray) -> bool:
        m, n = self.model, self.model.n
        if not len(which):
            return False
        group = self.curved[which]
        slope, rest = 2 * self.q[group] * r[group], -self.q[group] * r[group] ** 2
        row = np.arange(len(which))
        index = (np.tile(row, 3), np.concatenate([group, n + group, 2 * n + which]))
        rows = csr_array((np.concatenate([-slope, -slope, np.ones(len(which))]), index), shape=(len(which), m.width))
        m.require(rows, rest, np.full(len(which), inf))
        return True


class Maxima:
    """L∞, with a maximum for sensitive cells and one for the others."""

    def __init__(self, bent: NonlinearNorm):
        g, of, best = bent.groups, bent.of, bent.best
        assert best is not None and best.objective is not None
        self.natural = best.objective or 1.0
        ends_low, ends_high = g.low.copy(), g.high.copy()
        cells = np.flatnonzero(g.of != FIXED)
        dear = np.zeros((2, g.count))
        inside = of.sensitive[cells].astype(np.int64)
        np.maximum.at(dear, (inside, g.of[cells]), of.w[cells] * np.abs(g.factor[cells]) * g.unit / self.natural)
        most = dear.max(axis=0)
        with np.errstate(divide="ignore"):
            r = np.where(most > 0, (1 + 1e-9) / most, inf)
        nothing = np.zeros(g.count), np.zeros(g.count)
        self.model = m = _model(bent, nothing, (np.maximum(ends_low, -r), np.minimum(ends_high, r)), 2)
        side, group = np.nonzero(dear)
        row = np.arange(len(group))
        index = np.tile(row, 3), np.concatenate([group, m.n + group, 2 * m.n + side])
        value = dear[side, group]
        rows = csr_array((np.concatenate([-value, -value, np.ones(len(row))]), index), shape=(len(row), m.width))
        m.require(rows, np.zeros(len(row)), np.full(len(row), inf))
