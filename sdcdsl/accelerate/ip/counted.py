"""Interval protection with a fixed cost, a least width or a cap on the number of intervals (paper 003 §4.3), or with
conditional levels (§7).

Binaries x_K say which classes get an interval. The cells of a class need the same slack, but not the same width: what
one of them lacks to its least width it gets for itself (e), at the end where that costs less:

    min Σ w⁺ z⁺ + w⁻ z⁻ + w x + Σ min(w_i⁺, w_i⁻) e_i      z⁻ + z⁺ ≤ widest · x      z⁻ + z⁺ + e_i ≥ least_i · x
    Σ x ≤ q
    capacity cuts in z as in `benders`, and in x with the slack of the viewer: Σ min(α_i UB_i, level) x_i ≥ level;
    those of a conditional level of class p with level · x_p on the right

First the linear program without binaries, then its narrowest intervals are dropped and it is solved again, until the
cap is kept: valid intervals early. Then rounds of the mixed-integer problem over the cuts found so far; each of its
solutions is attacked, and ends the search when nothing falls short. Where intervals fall short of a conditional level
of their own, it is taken for an ordinary one, or the cell is published, until none does.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Identity, Separation, SeparationRound
from sdcdsl.accelerate.ip.benders import Benders
from sdcdsl.accelerate.ip.polish import tight
from sdcdsl.accelerate.ip.tuning import TUNING
from sdcdsl.deadline import Deadline
from sdcdsl.methods.conditional_levels import Conditions
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import Progress
from sdcdsl.numerics.master import Master, Row
from sdcdsl.status import FEASIBLE, INFEASIBLE, OPTIMAL

Costs = tuple[np.ndarray, np.ndarray, np.ndarray]
Options = tuple[np.ndarray | None, np.ndarray | None, int | None]


class Counted:
    def __init__(
        self,
        instance: Instance,
        demands: CutRequirements,
        costs: Costs,
        options: Options,
        conditions: Conditions | None = None,
    ):
        self.instance, self.demands, self.costs, self.conditions = instance, demands, costs, conditions
        self.aside = None if conditions is None else Separation(CutRequirements(conditions.aside))
        min_width, cap_width, self.cap = options
        classes = demands.classes
        self.n = classes.count
        paid = ~instance.open_anyway
        w_down, w_up, w_fixed = (np.where(paid, w, 0.0) for w in costs)
        low, high = classes.total(w_down, w_up)
        self.fixed, _ = classes.total(w_fixed, w_fixed)
        self.count, _ = classes.total(paid.astype(float), paid.astype(float))
        self.cost = np.concatenate([low, high])
        self.most = np.concatenate(demands.widest)
        cap_width = None if cap_width is None else np.where(paid, cap_width, inf)
        self.cap_width = None if cap_width is None else classes.least(cap_width, cap_width)[0]
        self.min_width = None if min_width is None else np.where(paid & (classes.of >= 0), min_width, 0.0)
        self.extra = Extra(self.n, classes.of, self.min_width, np.minimum(w_down, w_up), cap_width)
        self.best: np.ndarray | None = None
        self.objective, self.bound = inf, -inf
        self.infeasible = False
        self.shown: Callable[[float], None] = lambda objective: None  # called when `best` is a better one
        self.hopeless: Benders | None = None
        self.rounds = 0

    # ---- first intervals ------------------------------------------------------------------------------------------

    def run(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        first = self._without_binaries(self.instance, self.demands, deadline, gap)
        if first is None:
            return
        self.bound = max(self.bound, first.bound)
        self._offer(first.separation, first.best)
        if self.conditions is not None and first.best is not None:
            self._mend(self.conditions, first, deadline, gap)
        if self.cap is not None and first.best is not None:
            self._drop(first, deadline, gap)
        tell(Progress("intervals", self.objective if self.objective < inf else None, self.bound))
        self._integral(deadline, gap, tell)

    def _without_binaries(
        self, instance: Instance, demands: CutRequirements, deadline: Deadline, gap: float
    ) -> Benders | None:
        """The linear program; a fixed cost is spread over a typical width. None if it has no solution."""
        w_down, w_up, _ = self.costs
        widest = None
        if self.cap_width is not None:
            cap = np.full(self.instance.n, inf)
            of = self.demands.classes.of
            cap[of >= 0] = self.cap_width[of[of >= 0]]
            widest = demands.classes.least(cap, cap)[0]
        benders = Benders(instance, demands, w_down, w_up, widest)
        benders.run(deadline, 0.5 * gap)
        if benders.hopeless or benders.infeasible:
            if demands is self.demands:
                self.infeasible = True
                self.hopeless = benders if benders.hopeless else None
            return None
        return benders

    def _drop(self, benders: Benders, deadline: Deadline, gap: float) -> None:
        """Without the narrowest intervals, until there are few enough."""
        openable = self.instance.may_open.copy()
        assert self.cap is not None
        while not deadline.expired and benders.best is not None:
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
            demands = CutRequirements(self.instance, openable)
            if demands.hopeless:
                return
            again = self._without_binaries(self.instance, demands, deadline, gap)
            if again is None:
                return
            benders = again

    def _mend(self, of: Conditions, first: Benders, deadline: Deadline, gap: float) -> None:
        """Intervals of the base, until none falls short of a conditional level: protected, or published."""
        self._all_conditions(of, deadline, gap)
        for publish in (False, True):
            benders: Benders | None = first
            more, opens = np.zeros(len(of.ordinary), dtype=bool), of.may_open.copy()
            for _ in range(TUNING.steps):
                if deadline.expired or benders is None or benders.best is None:
                    break
                z, missed = tight(benders.separation, benders.best)
                if missed.any():
                    break
                down, up = benders.demands.classes.to_cells(z[: benders.n], z[benders.n :])
                short = self._short(*self._of_cells(down, up))
                if not len(short):
                    self._offer_cells(down, up)
                    break
                benders = None
                here = np.isin(of.whole.pair_cell, of.whole.pair_cell[short]) & of.whole.conditional
                for way in (publish, not publish):
                    trial, may = of.decided(more, opens, np.flatnonzero(here), way)
                    instance = of.asking(trial, may)
                    demands = CutRequirements(instance)
                    benders = None if demands.hopeless else self._without_binaries(instance, demands, deadline, gap)
                    if benders is not None and benders.best is not None:
                        more, opens = trial, may
                        break

    def _all_conditions(self, of: Conditions, deadline: Deadline, gap: float) -> None:
        """Every conditional level as an ordinary one: dear, and valid whatever it touches. Where cells that can never
        have their level stay shut, all others have slack for theirs."""
        instance = of.asking(of.whole.conditional & of.may_open[of.whole.pair_cell])
        demands = CutRequirements(instance)
        made = None if demands.hopeless else self._without_binaries(instance, demands, deadline, gap)
        if made is not None and made.best is not None:
            z, missed = tight(made.separation, made.best)
            if not missed.any():
                self._offer_cells(*demands.classes.to_cells(z[: made.n], z[made.n :]))

    def _short(self, *z: np.ndarray) -> np.ndarray:
        """Conditional pairs, one for each level that the intervals z (down, up) make count and do not satisfy."""
        if self.aside is None:
            return np.zeros(0, dtype=np.int64)
        used = (z[0] > 0) | (z[1] > 0)
        levels = self.aside.levels
        made = self.aside.round(Capacities(self.demands, *z), tolerance=TUNING.miss, only=used[levels.cell])
        return levels.pair[made.short]

    # ---- the mixed-integer problem ----------------------------------------------------------------------------

    def _integral(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        n, unit = self.n, self.demands.unit
        both = [self.demands] if self.aside is None else [self.demands, self.aside.demands]
        highest = max(float(one.levels.need.max(initial=0.0) + one.slides.need.max(initial=0.0)) for one in both)
        far = TUNING.far * highest
        if self.demands.classes.network is not None:
            far /= TUNING.far  # one cycle through the cell does it, and carries no more than the level
        # No interval of a better solution costs more than the best so far.
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.minimum(self.most, np.where(self.cost > 0, self.objective / self.cost, inf) * (1 + 1e-9))
        self.far = np.where(reach <= TUNING.beyond * far, reach, np.minimum(self.most, far))
        scale = float(np.exp(np.log(self.cost[self.cost > 0]).mean())) if (self.cost > 0).any() else 1.0
        own = np.zeros(n, dtype=bool)
        own[self.demands.levels.cell] = True
        extra = self.extra
        cost = np.concatenate([self.cost / scale, self.fixed / (scale * unit), extra.price / scale])
        lower, upper = np.zeros(len(cost)), np.concatenate([self.far / unit, np.ones(n), extra.least / unit])
        lower[2 * n : 3 * n] = own
        integer = (np.arange(len(cost)) >= 2 * n) & (np.arange(len(cost)) < 3 * n)
        master = Master(cost, lower, upper, integer)
        master.add(self._links(unit))
        separation = Separation(self.demands)
        exact = bool((self.far >= reach).all()) or self.demands.classes.network is not None
        while not deadline.expired:
            start = None if self.best is None else self._start(self.best, unit)
            left = min(deadline.remaining, 1e9)
            solved = master.solve(start=start, gap=0.5 * gap, seconds=max(TUNING.slice * left, 0.1), seed=0)
            deadline.mark_time_dependent(solved.timed)
            if solved.status == INFEASIBLE:
                self.infeasible = exact and self.best is None
                return
            if solved.status not in (OPTIMAL, FEASIBLE) or solved.x is None:
                return
            if exact:
                self.bound = max(self.bound, solved.bound * scale * unit)
            z = np.maximum(solved.x[: 2 * n], 0.0) * unit
            used = solved.x[2 * n : 3 * n] > 0.5
            if self.aside is not None:
                z = np.where(np.tile(used, 2), z, 0.0)
            point = Capacities(self.demands, z[:n], z[n:])
            more = z + 1e-2 * unit
            deep = Capacities(self.demands, more[:n], more[n:])
            made = separation.round(point, deep=deep, tolerance=TUNING.miss, over=lambda: deadline.expired)
            beside = self._beside(point, used, deadline)
            self.rounds += 1
            tell(Progress("intervals", self.objective if self.objective < inf else None, self.bound))
            if made.complete and not made.found and (beside is None or (beside.complete and not beside.found)):
                self._offer(separation, z)
                return
            if made.whole:
                self._offer(separation, made.hull)
            if self.objective < inf and self.objective - self.bound <= gap * abs(self.objective):
                return
            for identity in made.found:
                master.add(self._rows(identity, z, unit))
            if beside is not None and self.aside is not None:
                for identity in beside.found:
                    master.add(self._rows(identity, z, unit, int(self.aside.levels.cell[identity.level])))

    def _beside(self, point: Capacities, used: np.ndarray, deadline: Deadline) -> SeparationRound | None:
        if self.aside is None:
            return None
        return self.aside.round(
            point, tolerance=TUNING.miss, over=lambda: deadline.expired, only=used[self.aside.levels.cell], each=True
        )

    def _links(self, unit: float) -> list[Row]:
        n, rows = self.n, []
        for k in range(n):
            both = np.array([k, n + k, 2 * n + k])
            for half in (0, n):
                rows.append((np.array([half + k, 2 * n + k]), np.array([-1.0, self.far[half + k] / unit]), 0.0))
            if self.cap_width is not None and np.isfinite(self.cap_width[k]):
                rows.append((both, np.array([-1.0, -1.0, self.cap_width[k] / unit]), 0.0))
        for e, k in enumerate(self.extra.of.tolist()):
            columns = np.array([k, n + k, 2 * n + k, 3 * n + e])
            rows.append((columns, np.array([1.0, 1.0, -self.extra.least[e] / unit, 1.0]), 0.0))
        rows += [(np.array([2 * n + k]), np.array([-1.0]), 0.0) for k in np.flatnonzero(self.extra.barred).tolist()]
        if self.cap is not None:
            rows.append((2 * n + np.arange(n), -self.count, -float(self.cap)))
        return rows

    def _rows(self, identity: Identity, z: np.ndarray, unit: float, p: int | None = None) -> list[Row]:
        """In z and in x; of a conditional level of class p."""
        n, need = self.n, identity.need
        (up, alpha), (down, beta) = identity.up, identity.down
        columns, c = np.concatenate([down, n + up]), np.concatenate([beta, alpha])
        low, high = self.demands.slack(identity.viewer)
        slack = np.concatenate([low[down], high[up]])
        fixed = slack < z[columns]
        in_z = (columns[~fixed], c[~fixed] * unit / need, 1.0 - float(c[fixed] @ slack[fixed]) / need)
        each = np.bincount(columns % n, weights=c * np.minimum(slack, self.far[columns]), minlength=n)
        at = np.flatnonzero(each)
        rows = [in_z, (2 * n + at, np.minimum(each[at] / need, 1.0), 1.0)]
        return rows if p is None else [_if_used(row, 2 * n + p) for row in rows if row[2] > 0]

    # ---- valid intervals ----------------------------------------------------------------------------------------

    def _start(self, z: np.ndarray, unit: float) -> np.ndarray:
        used = (z[: self.n] > 0) | (z[self.n :] > 0)
        own = np.zeros(self.n, dtype=bool)
        own[self.demands.levels.cell] = True
        near = np.minimum(z, self.far)
        lacking = self.extra.lacking(near[: self.n] + near[self.n :], used | own)
        return np.concatenate([near / unit, (used | own).astype(float), lacking / unit])

    def _offer(self, separation: Separation, z: np.ndarray | None) -> None:
        if z is None:
            return
        if self.conditions is not None:
            if len(self._short(z[: self.n], z[self.n :])):
                return  # making narrower ones of these takes long, and mends nothing
            touched = self._touched(z)
            separation = Separation(CutRequirements(self.conditions.of_touched(touched)))
        least, missed = tight(separation, z)
        if not missed.any():
            self._offer_classes(least)

    def _touched(self, z: np.ndarray) -> np.ndarray:
        of = self.demands.classes.of
        used = (z[: self.n] > 0) | (z[self.n :] > 0)
        return (of >= 0) & used[np.maximum(of, 0)]

    def _of_cells(self, down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Widths that were found with other classes, of which these are parts."""
        low, high = self.demands.classes.least(-down, -up)
        return np.maximum(-low, 0.0), np.maximum(-high, 0.0)

    def _offer_cells(self, down: np.ndarray, up: np.ndarray) -> None:
        self._offer_classes(np.concatenate(self._of_cells(down, up)))

    def _offer_classes(self, z: np.ndarray) -> None:
        """Kept if it is allowed and better; what cells lack to their least width is paid for."""
        n = self.n
        if len(self._short(z[:n], z[n:])):
            return
        width = z[:n] + z[n:]
        used = width > 0
        if (used & self.extra.barred).any():
            return
        if self.cap_width is not None and (width > self.cap_width * (1 + 1e-9)).any():
            return
        if self.cap is not None and self.count[used].sum() > self.cap:
            return
        finite = np.where(self.cost > 0, z, 0.0)
        price = float(self.cost @ finite + self.fixed[used].sum() + self.extra.price @ self.extra.lacking(width, used))
        if price < self.objective:
            self.best, self.objective = z, price
            self.shown(price)

    def intervals(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Down and up of every cell, as wide as is required."""
        down, up = self.demands.classes.to_cells(z[: self.n], z[self.n :])
        if self.min_width is None:
            return down, up
        w_down, w_up, _ = self.costs
        lacking = np.where(down + up > 0, np.maximum(self.min_width - (down + up), 0.0), 0.0)
        return down + np.where(w_up <= w_down, 0.0, lacking), up + np.where(w_up <= w_down, lacking, 0.0)


class Extra:
    """What cells of a class get for themselves: one column for all that have the same least width."""

    def __init__(
        self, n: int, of: np.ndarray, min_width: np.ndarray | None, w: np.ndarray, cap_width: np.ndarray | None
    ):
        cells = np.flatnonzero(min_width > 0) if min_width is not None else np.zeros(0, dtype=np.int64)
        least = np.zeros(len(of)) if min_width is None else min_width
        pairs, at = np.unique(np.stack([of[cells], least[cells]], axis=1), axis=0, return_inverse=True)
        self.of, self.least = pairs[:, 0].astype(np.int64), pairs[:, 1]  # [column]: class, width
        self.price = np.bincount(at.ravel(), weights=w[cells], minlength=len(self.of))
        self.barred = np.zeros(n, dtype=bool)  # classes with a cell whose interval would have to be too wide
        if cap_width is not None:
            self.barred[of[cells[least[cells] > cap_width[cells]]]] = True

    def lacking(self, width: np.ndarray, used: np.ndarray) -> np.ndarray:
        """[column], where the classes have these widths."""
        return np.where(used[self.of], np.maximum(self.least - width[self.of], 0.0), 0.0)


def _if_used(row: Row, x: int) -> Row:
    """A row that holds where the column x is 1."""
    columns, coefficients, rhs = row
    own = columns == x
    return np.append(columns[~own], x), np.append(coefficients[~own], coefficients[own].sum() - rhs), 0.0
