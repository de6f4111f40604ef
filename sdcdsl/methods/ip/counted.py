"""Interval protection with a fixed cost, a least width or a cap on the number of intervals (paper 003 §4.3).

Binaries x_K say which classes get an interval:

    min Σ w⁺ z⁺ + w⁻ z⁻ + w x      z⁻ + z⁺ ≤ widest · x      z⁻ + z⁺ ≥ least · x      Σ x ≤ q
    capacity cuts in z as in `benders`, and in x with the room of the viewer: Σ min(α_i UB_i, level) x_i ≥ level

First the linear program without binaries, then its narrowest intervals are dropped and it is solved again, until the
cap is kept: valid intervals early. Then rounds of the mixed-integer problem over the cuts found so far; each of its
solutions is attacked, and ends the search when nothing falls short.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from sdcdsl.methods.cutting.demands import Demands
from sdcdsl.methods.cutting.separation import Capacities, Identity, Separation
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.ip.benders import MISS, Benders
from sdcdsl.methods.ip.polish import tight
from sdcdsl.methods.result import Clock, Standing
from sdcdsl.solve.master import FEASIBLE, INFEASIBLE, OPTIMAL, Master, Row

Costs = tuple[np.ndarray, np.ndarray, np.ndarray]
Asked = tuple[np.ndarray | None, np.ndarray | None, int | None]
SLICE = 0.25  # of the time that is left: for one mixed-integer problem
FAR = 20.0  # times the highest level: further than any move that helps is taken to go


class Counted:
    def __init__(self, instance: Instance, demands: Demands, costs: Costs, asked: Asked):
        self.instance, self.demands, self.costs = instance, demands, costs
        min_width, cap_width, self.cap = asked
        classes = demands.classes
        self.n = classes.count
        paid = ~instance.open_anyway
        w_down, w_up, w_fixed = (np.where(paid, w, 0.0) for w in costs)
        low, high = classes.total(w_down, w_up)
        self.fixed, _ = classes.total(w_fixed, w_fixed)
        self.count, _ = classes.total(paid.astype(float), paid.astype(float))
        self.cost = np.concatenate([low, high])
        self.most = np.concatenate(demands.widest)
        self.least_width = None if min_width is None else _greatest(classes, min_width)
        self.cap_width = None if cap_width is None else classes.least(cap_width, cap_width)[0]
        self.best: np.ndarray | None = None
        self.objective, self.bound = inf, -inf
        self.infeasible = False
        self.hopeless: Benders | None = None
        self.rounds = 0

    # ---- first intervals ------------------------------------------------------------------------------------------

    def run(self, clock: Clock, gap: float, tell: Callable[[Standing], None]) -> None:
        first = self._without_binaries(self.demands, clock, gap)
        if first is None:
            return
        self.bound = max(self.bound, first.bound)
        self._offer(first.separation, first.best)
        if self.cap is not None and first.best is not None:
            self._drop(first, clock, gap)
        tell(Standing("intervals", self.objective if self.objective < inf else None, self.bound))
        self._integral(clock, gap, tell)

    def _without_binaries(self, demands: Demands, clock: Clock, gap: float) -> Benders | None:
        """The linear program; a fixed cost is spread over a typical width. None if it has no solution."""
        w_down, w_up, _ = self.costs
        widest = None
        if self.cap_width is not None:
            cap = np.full(self.instance.n, inf)
            of = self.demands.classes.of
            cap[of >= 0] = self.cap_width[of[of >= 0]]
            widest = demands.classes.least(cap, cap)[0]
        benders = Benders(self.instance, demands, w_down, w_up, widest)
        benders.run(clock, 0.5 * gap)
        if benders.hopeless or benders.infeasible:
            if demands is self.demands:
                self.infeasible = True
                self.hopeless = benders if benders.hopeless else None
            return None
        return benders

    def _drop(self, benders: Benders, clock: Clock, gap: float) -> None:
        """Without the narrowest intervals, until there are few enough."""
        openable = self.instance.may_open.copy()
        assert self.cap is not None
        while not clock.over and benders.best is not None:
            z, missed = tight(benders.separation, benders.best)
            if missed.any():
                return
            down, up = benders.demands.classes.to_cells(z[: benders.n], z[benders.n :])
            width = np.where(self.instance.open_anyway, 0.0, down + up)
            used = np.flatnonzero(width > 0)
            self._offer_cells(down, up)
            spare = used[~self.instance.sensitive[used]]
            over = len(used) - self.cap
            if over <= 0 or not len(spare):
                return
            openable &= (width > 0) | self.instance.open_anyway | self.instance.sensitive
            openable[spare[np.argsort(width[spare], kind="stable")[: max(1, over // 4)]]] = False
            demands = Demands(self.instance, openable)
            if demands.hopeless:
                return
            again = self._without_binaries(demands, clock, gap)
            if again is None:
                return
            benders = again

    # ---- the mixed-integer problem ----------------------------------------------------------------------------

    def _integral(self, clock: Clock, gap: float, tell: Callable[[Standing], None]) -> None:
        n, unit = self.n, self.demands.unit
        far = FAR * float(self.demands.levels.need.max(initial=0.0) + self.demands.slides.need.max(initial=0.0))
        if self.demands.classes.network is not None:
            far /= FAR  # one cycle through the cell does it, and carries no more than the level
        self.far = np.minimum(self.most, far)
        if self.least_width is not None:  # wider than any move, if that is asked for
            self.far = np.maximum(self.far, np.tile(np.where(self.count > 0, self.least_width, 0.0), 2))
        scale = float(np.exp(np.log(self.cost[self.cost > 0]).mean())) if (self.cost > 0).any() else 1.0
        own = np.zeros(n, dtype=bool)
        own[self.demands.levels.cell] = True
        cost = np.concatenate([self.cost / scale, self.fixed / (scale * unit)])
        lower, upper = np.zeros(3 * n), np.concatenate([self.far / unit, np.ones(n)])
        lower[2 * n :] = own
        integer = np.arange(3 * n) >= 2 * n
        master = Master(cost, lower, upper, integer)
        master.add(self._links(unit))
        separation = Separation(self.demands)
        exact = bool((self.far >= self.most).all()) or self.demands.classes.network is not None
        while not clock.over:
            start = None if self.best is None else self._start(self.best, unit)
            left = min(clock.left, 1e9)
            solved = master.solve(start=start, gap=0.5 * gap, seconds=max(SLICE * left, 0.1), seed=0)
            if solved.status == INFEASIBLE:
                self.infeasible = exact and self.best is None
                return
            if solved.status not in (OPTIMAL, FEASIBLE) or solved.x is None:
                return
            if exact:
                self.bound = max(self.bound, solved.bound * scale * unit)
            z = np.maximum(solved.x[: 2 * n], 0.0) * unit
            point = Capacities(self.demands, z[:n], z[n:])
            more = z + 1e-2 * unit
            deep = Capacities(self.demands, more[:n], more[n:])
            made = separation.round(point, deep=deep, tolerance=MISS, over=lambda: clock.over)
            self.rounds += 1
            tell(Standing("intervals", self.objective if self.objective < inf else None, self.bound))
            if made.complete and not made.found:
                self._offer(separation, z)
                return
            if made.whole:
                self._offer(separation, made.hull)
            if self.objective < inf and self.objective - self.bound <= gap * abs(self.objective):
                return
            for identity in made.found:
                master.add(self._rows(identity, z, unit))

    def _links(self, unit: float) -> list[Row]:
        n, rows = self.n, []
        for k in range(n):
            both = np.array([k, n + k, 2 * n + k])
            for half in (0, n):
                rows.append((np.array([half + k, 2 * n + k]), np.array([-1.0, self.far[half + k] / unit]), 0.0))
            if self.cap_width is not None and np.isfinite(self.cap_width[k]):
                rows.append((both, np.array([-1.0, -1.0, self.cap_width[k] / unit]), 0.0))
            if self.least_width is not None and self.count[k] > 0:
                rows.append((both, np.array([1.0, 1.0, -self.least_width[k] / unit]), 0.0))
        if self.cap is not None:
            rows.append((2 * n + np.arange(n), -self.count, -float(self.cap)))
        return rows

    def _rows(self, identity: Identity, z: np.ndarray, unit: float) -> list[Row]:
        n, need = self.n, identity.need
        (up, alpha), (down, beta) = identity.up, identity.down
        columns, c = np.concatenate([down, n + up]), np.concatenate([beta, alpha])
        low, high = self.demands.room(identity.viewer)
        room = np.concatenate([low[down], high[up]])
        fixed = room < z[columns]
        in_z = (columns[~fixed], c[~fixed] * unit / need, 1.0 - float(c[fixed] @ room[fixed]) / need)
        each = np.bincount(columns % n, weights=c * np.minimum(room, self.far[columns]), minlength=n)
        at = np.flatnonzero(each)
        return [in_z, (2 * n + at, np.minimum(each[at] / need, 1.0), 1.0)]

    # ---- valid intervals ----------------------------------------------------------------------------------------

    def _start(self, z: np.ndarray, unit: float) -> np.ndarray:
        used = (z[: self.n] > 0) | (z[self.n :] > 0)
        own = np.zeros(self.n, dtype=bool)
        own[self.demands.levels.cell] = True
        return np.concatenate([np.minimum(z, self.far) / unit, (used | own).astype(float)])

    def _offer(self, separation: Separation, z: np.ndarray | None) -> None:
        if z is None:
            return
        least, missed = tight(separation, z)
        if not missed.any():
            self._offer_classes(least)

    def _offer_cells(self, down: np.ndarray, up: np.ndarray) -> None:
        """Widths that were found with other classes, of which these are parts."""
        negative = self.demands.classes.least(-down, -up)
        self._offer_classes(np.maximum(-np.concatenate(negative), 0.0))

    def _offer_classes(self, z: np.ndarray) -> None:
        """Kept if it is allowed and better: widened to the least width first."""
        n = self.n
        z = z.copy()
        width = z[:n] + z[n:]
        used = width > 0
        if self.least_width is not None:
            lacking = np.where(used & (self.count > 0), np.maximum(self.least_width - width, 0.0), 0.0)
            cheap_up = self.cost[n:] <= self.cost[:n]
            z[n:] += np.where(cheap_up, lacking, 0.0)
            z[:n] += np.where(cheap_up, 0.0, lacking)
        if self.cap_width is not None and (z[:n] + z[n:] > self.cap_width * (1 + 1e-9)).any():
            return
        if self.cap is not None and self.count[used].sum() > self.cap:
            return
        finite = np.where(self.cost > 0, z, 0.0)
        price = float(self.cost @ finite + self.fixed[used].sum())
        if price < self.objective:
            self.best, self.objective = z, price


def _greatest(classes, amount: np.ndarray) -> np.ndarray:
    out = np.zeros(classes.count)
    cells = np.flatnonzero(classes.of >= 0)
    np.maximum.at(out, classes.of[cells], amount[cells])
    return out
