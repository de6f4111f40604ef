"""The best release of a mixture of forms: linear relaxation with cuts, then mixed-integer problems over the cuts.

Every candidate is made exact first (`published`: whole multiples, values that add up), then every level is asked about
at the rooms that really leaves; what passes is valid whatever was cut short. Cuts are those of `decisions`: for each
class of an identity the least of what the viewer knows, what is published, and what hiding allows, each of which is
right, at the point where the identity was found. A level that holds where a column is 1 (`conditional`) asks for as
much less as the column is below 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.executing import SERIAL, Team
from sdcdsl.methods.checkpoint import Keeping, State
from sdcdsl.methods.cutting.capacities import Capacities
from sdcdsl.methods.cutting.demands import Demands
from sdcdsl.methods.cutting.kept import KeptCuts, read_cuts
from sdcdsl.methods.cutting.separation import Identity, Separation
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.mixed.bounds import on_grid, step_of
from sdcdsl.methods.mixed.conditional import IfTouched, held_if
from sdcdsl.methods.mixed.decisions import Problem
from sdcdsl.methods.mixed.published import Published
from sdcdsl.methods.result import Clock, Standing
from sdcdsl.solve.master import FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL, Master, Row

# Of a level: where continuous columns can give it, cuts ask for so much more, so that what comes back from a solver
# still reaches the level. Whole numbers reach it or do not. Bounds are lowered by `LOWERED` of themselves for it.
MARGIN = 1e-8
LOWERED = 1e-6
ENOUGH = 1e-9  # of a level: how much a valid release may lack
SLICE = 0.3  # of the time that is left: for one mixed-integer problem
WHOLE = 1e-6
ROUNDS = 60  # of the relaxation
PROGRESS = 1e-4  # a relative step of the bound below which the relaxation has done what it can


@dataclass(frozen=True, eq=False)
class Candidate:
    """A release: columns, and the room below and above that it leaves."""

    u: np.ndarray
    down: np.ndarray
    up: np.ndarray
    objective: float


class Mixed(Capacities):
    """The room of classes at a point where some cells are (partly) hidden and others have a box."""

    def __init__(self, demands: Demands, down: np.ndarray, up: np.ndarray, x: np.ndarray):
        """`x` [cell]: how much of a cell is hidden, inf where hiding it is not what is decided."""
        classes = demands.classes
        hidden = np.isfinite(x)
        low, high = classes.least(np.where(hidden, inf, down), np.where(hidden, inf, up))
        share, _ = classes.least(x, x)
        super().__init__(demands, low, high, share)

    def of_viewer(self, viewer: int) -> tuple[np.ndarray, np.ndarray]:
        if viewer not in self._cache:
            if len(self._cache) > 64:
                self._cache.clear()
            low, high = self.demands.room(viewer)
            assert self.share is not None
            hidden = np.isfinite(self.share)
            with np.errstate(invalid="ignore"):
                low, high = (np.where(hidden, np.where(self.share > 0, r * self.share, 0.0), r) for r in (low, high))
            self._cache[viewer] = np.minimum(low, self.down), np.minimum(high, self.up)
        return self._cache[viewer]


Find = Callable[["Search", Clock, float, Callable[[Standing], None]], None]
Missed = tuple[Identity, int]  # and the column it holds for, ALWAYS if in any case
ALWAYS = -1


class Search:
    def __init__(
        self,
        instance: Instance,
        problem: Problem,
        opened: np.ndarray,
        published: Published,
        finder: Find | None = None,
        team: Team = SERIAL,
    ):
        """`opened` [cell]: where a form leaves any room. `finder`: looks for releases in ways of its own."""
        self.instance, self.problem, self.published, self.finder = instance, problem, published, finder
        if_touched = instance.conditional
        self.demands = Demands(
            instance.asking(~if_touched, instance.may_open) if if_touched.any() else instance, opened
        )
        self.separation = Separation(self.demands, team=team) if not self.demands.hopeless else None
        self.if_touched: IfTouched | None = None
        if if_touched.any() and self.separation is not None:
            self.if_touched = IfTouched(instance, self.separation, published.at.touching)
            problem.upper[self.if_touched.barred] = 0.0
        self.hidden = problem.hide >= 0
        self.best: Candidate | None = None
        self.bound = -inf
        self.infeasible = False
        self.rounds = 0
        self.cuts = 0
        self.patience: Clock | None = None  # without a release when this is over, there will be none
        self.relaxed_at: np.ndarray | None = None  # where the relaxation stands
        self._scale = _typical(np.abs(problem.cost * problem.unit))
        self._step = step_of(problem.cost, problem.integer)
        self._soft = ~problem.integer & (problem.lower < problem.upper)
        self._margin, self._used_margin = MARGIN, False
        self.master = self._master()
        self.stated = self.master.rows  # those before the cuts
        self.keeping = Keeping()
        self._kept = KeptCuts()

    # ---- the master ------------------------------------------------------------------------------------------

    def _master(self) -> Master:
        p = self.problem
        master = Master(p.cost * p.unit / self._scale, p.lower / p.unit, p.upper / p.unit, p.integer)
        A = csr_array(p.A.multiply(p.unit))
        A.sort_indices()
        size = abs(A).max(axis=1).toarray().ravel() if A.nnz else np.zeros(len(p.row_low))
        A = csr_array(A.multiply(1.0 / np.where(size > 0, size, 1.0)[:, None]))
        low, high = p.row_low / np.where(size > 0, size, 1.0), p.row_high / np.where(size > 0, size, 1.0)

        def rows(chosen: np.ndarray, sign: float, right: np.ndarray) -> list[Row]:
            parts = [slice(A.indptr[row], A.indptr[row + 1]) for row in chosen.tolist()]
            return [(A.indices[s], sign * A.data[s], float(right[r])) for r, s in zip(chosen, parts, strict=True)]

        same = p.row_low == p.row_high
        equal = rows(np.flatnonzero((size > 0) & same), 1.0, low)
        rest = rows(np.flatnonzero((size > 0) & ~same & np.isfinite(low)), 1.0, low)
        rest += rows(np.flatnonzero((size > 0) & ~same & np.isfinite(high)), -1.0, -high)
        master.add(equal, equal=True)
        master.add(rest)
        return master

    def _whole(self, bound: float) -> float:
        """A bound of the master in units of the objective."""
        if not np.isfinite(bound):
            return bound
        whole = bound * self._scale + self.problem.offset
        if self._used_margin:
            whole -= LOWERED * abs(whole)
        return on_grid(whole - self.problem.offset, self._step) + self.problem.offset

    # ---- search ----------------------------------------------------------------------------------------------

    def run(self, clock: Clock, gap: float, tell: Callable[[Standing], None]) -> None:
        if self.demands.hopeless:
            self.infeasible = True
            return
        self._resume()
        self._once(clock, gap, tell)
        if self.infeasible and self._used_margin:  # perhaps only because of the margin
            self.infeasible, self._margin, self._used_margin = False, 0.0, False
            self.master, self.bound = self._master(), -inf
            self._once(clock, gap, tell)

    def _once(self, clock: Clock, gap: float, tell: Callable[[Standing], None]) -> None:
        if not self._relaxed(clock, gap, tell):
            return
        if self.finder is not None:
            self.finder(self, clock, gap, tell)
        if not self.infeasible:
            self._integral(clock, gap, tell)

    def over(self, clock: Clock) -> bool:
        return clock.over or (self.best is None and self.patience is not None and self.patience.over)

    def near_enough(self, gap: float) -> bool:
        return self.best is not None and self.best.objective - self.bound <= gap * abs(self.best.objective)

    def _relaxed(self, clock: Clock, gap: float, tell: Callable[[Standing], None]) -> bool:
        """The linear relaxation, until no level is missed or nothing much happens. False: nothing more to do."""
        before, stalled = -inf, 0
        for _ in range(ROUNDS):
            if self.over(clock):
                return False
            solved = self.master.relax(min(clock.left, 1e9))
            if solved.status == INFEASIBLE:
                self.infeasible = True
                return False
            if solved.status != OPTIMAL:
                return solved.status != LIMIT
            self.bound = max(self.bound, self._whole(solved.bound))
            self.relaxed_at = solved.x
            found = self._missed(solved.x, clock)
            self.rounds += 1
            tell(Standing("cuts", self.objective, self.bound, f"{self.cuts} cuts"))
            if not found:
                if self._whole_numbers(solved.x):
                    self.offer(solved.x)
                return not self.near_enough(gap)
            self._cut(found, solved.x)
            stalled = stalled + 1 if self.bound - before <= PROGRESS * abs(self.bound) else 0
            before = self.bound
            if stalled >= 3 and self.problem.integer.any():
                return True
        return True

    def _whole_numbers(self, x: np.ndarray) -> bool:
        """Otherwise what is made of a solution may be valid, and as cheap, and have fractions that nobody needs."""
        whole = x[self.problem.integer]
        return bool((np.abs(whole - np.round(whole)) <= WHOLE).all())

    def _integral(self, clock: Clock, gap: float, tell: Callable[[Standing], None]) -> None:
        if not self.problem.integer.any():
            self._continuous(clock, gap, tell)
            return
        seconds = 2.0
        while not self.over(clock) and not self.near_enough(gap):
            start = None if self.best is None else self.best.u / self.problem.unit
            left = clock.left
            if self.best is None and self.patience is not None:
                left = min(left, self.patience.left)
            slice_ = max(min(seconds, SLICE * left), 0.05)
            solved = self.master.solve(start=start, gap=0.5 * gap, seconds=slice_)
            clock.strike(solved.timed)
            if solved.status == INFEASIBLE:
                self.infeasible = self.best is None
                if self.best is not None:  # everything else costs more
                    self.bound = self.best.objective
                return
            self.bound = max(self.bound, self._whole(solved.bound))
            cut = False
            for x in [*solved.met[-4:], *([solved.x] if solved.x is not None else [])]:
                self.offer(x)
                cut |= self.cut_off(x, clock)
            tell(Standing("search", self.objective, self.bound, f"{self.cuts} cuts"))
            if not cut and (solved.status == OPTIMAL or not solved.more):
                return
            if not cut:
                seconds *= 2
            if solved.status not in (OPTIMAL, FEASIBLE, LIMIT):
                return

    def _continuous(self, clock: Clock, gap: float, tell: Callable[[Standing], None]) -> None:
        while not clock.over and not self.near_enough(gap):
            solved = self.master.relax(min(clock.left, 1e9))
            if solved.status != OPTIMAL:
                self.infeasible = solved.status == INFEASIBLE
                return
            self.bound = max(self.bound, self._whole(solved.bound))
            found = self._missed(solved.x, clock)
            tell(Standing("cuts", self.objective, self.bound, f"{self.cuts} cuts"))
            if not found:
                self.offer(solved.x)
                return
            self._cut(found, solved.x)

    @property
    def objective(self) -> float | None:
        return None if self.best is None else self.best.objective

    # ---- levels ----------------------------------------------------------------------------------------------

    def _missed(self, x: np.ndarray, clock: Clock) -> list[Missed]:
        """Levels that a point of the master misses by more than solvers' noise."""
        u = x * self.problem.unit
        down, up = self.problem.rooms(u)
        return self._separated(u, down, up, max(0.5 * self._margin, ENOUGH), clock)

    def _separated(self, u, down, up, tolerance: float, clock: Clock | None = None) -> list[Missed]:
        assert self.separation is not None
        point = self._point(u, down, up)
        over = (lambda: clock.over) if clock is not None else (lambda: False)
        found: list[Missed] = []
        if len(self.separation.levels):
            made = self.separation.round(point, tolerance=tolerance, over=over)
            found = [(identity, ALWAYS) for identity in made.found]
        if self.if_touched is not None:
            found += self.if_touched.missed(point, u, tolerance, over)
        return found

    def _point(self, u: np.ndarray, down: np.ndarray, up: np.ndarray) -> Mixed:
        x = np.full(self.instance.n, inf)
        x[self.hidden] = np.clip(u[self.problem.hide[self.hidden]], 0.0, 1.0)
        return Mixed(self.demands, down, up, x)

    def offer(self, x: np.ndarray) -> None:
        u = x * self.problem.unit
        for candidate in (self.published.short(u), u):
            made = self.published.exact(candidate)
            if made is None:
                continue
            exact, down, up, objective = made
            if not self.problem.allows(exact):
                continue
            if self.best is not None and objective >= self.best.objective * (1 - 1e-12):
                continue
            if not self._separated(exact, down, up, ENOUGH):
                self.best = Candidate(exact, down, up, objective)
                return

    def cut_off(self, x: np.ndarray, clock: Clock) -> bool:
        """Adds cuts for the levels that a solution misses, if it does."""
        found = self._missed(x, clock)
        if found:
            self._cut(found, x)
        return bool(found)

    # ---- cuts ------------------------------------------------------------------------------------------------

    def _cut(self, found: list[Missed], x: np.ndarray) -> None:
        u = x * self.problem.unit
        down, up = self.problem.rooms(u)
        self.cuts += self.master.add(self._row(identity, u, down, up, p) for identity, p in found)
        self._kept.add([identity for identity, p in found if p == ALWAYS], x)
        self._keep()

    # ---- what was known before, and what is kept -----------------------------------------------------------------

    def _resume(self) -> None:
        """Of an earlier run: cuts, and a release, which is offered as any other is."""
        state, width = self.keeping.found, len(self.problem.cost)
        if state is None or self.separation is None:
            return
        for identity, x in read_cuts(state.arrays, self.separation, width):
            if x is not None:
                self._cut([(identity, ALWAYS)], x)
        best = state.arrays.get("best")
        if best is not None and best.dtype == float and best.shape == (width,) and np.isfinite(best).all():
            self.offer(best)

    def _keep(self) -> None:
        if self.separation is not None and self.keeping.due:
            arrays = self._kept.arrays(self.separation)
            if self.best is not None:
                arrays["best"] = self.best.u / self.problem.unit
            self.keeping.keep(State({}, arrays))

    def _row(self, identity: Identity, u: np.ndarray, down: np.ndarray, up: np.ndarray, if_one: int) -> Row:
        """Σ over classes of the least term; constants go to the right hand side. `if_one`: the column it holds for."""
        p, need = self.problem, identity.need
        low, high = self.demands.room(identity.viewer)
        constant = 0.0
        columns: list[np.ndarray] = []
        values: list[np.ndarray] = []
        for (classes, c), upward, room in ((identity.up, True, high), (identity.down, False, low)):
            for k, times in zip(classes.tolist(), c.tolist(), strict=True):
                terms = self._terms(k, upward, float(room[k]), times, need, u, down, up)
                kind, cell, value, is_up = min(terms, key=lambda t: t[2])
                if kind == "known":
                    constant += value
                elif kind == "hidden":
                    columns.append(np.array([p.hide[cell]]))
                    values.append(np.array([min(times * room[k], need)]))
                else:
                    matrix, first = (p.up, p.up_0) if is_up else (p.down, p.down_0)
                    part = slice(matrix.indptr[cell], matrix.indptr[cell + 1])
                    columns.append(matrix.indices[part])
                    values.append(times * matrix.data[part])
                    constant += times * float(first[cell])
        column, place = np.unique(np.concatenate(columns or [np.zeros(0, dtype=np.int64)]), return_inverse=True)
        value = np.bincount(place, weights=np.concatenate(values or [np.zeros(0)]), minlength=len(column))
        left = need - constant
        if (self._soft[column] & (value > 0)).any() and left > 0:
            left += self._margin * need
            self._used_margin |= self._margin > 0
        row = column, value * p.unit[column] / need, left / need
        return row if if_one == ALWAYS else held_if(row, if_one, p.lower / p.unit, p.upper / p.unit)

    def _terms(self, k: int, upward: bool, room: float, times: float, need: float, u, down, up):
        """What bounds a class from one side: (kind, cell, value at the point, whether it is the cell's upper side)."""
        classes = self.demands.classes
        out: list[tuple[str, int, float, bool]] = [("known", -1, times * room, upward)]
        for cell in self._members[k]:
            is_up = upward == (classes.turn[cell] > 0)
            if self.hidden[cell]:
                share = float(np.clip(u[self.problem.hide[cell]], 0.0, 1.0))
                out.append(("hidden", cell, min(times * room, need) * share if share > 0 else 0.0, is_up))
            elif not self.instance.open_anyway[cell]:
                out.append(("box", cell, times * float((up if is_up else down)[cell]), is_up))
        return out

    @property
    def _members(self) -> list[list[int]]:
        if not hasattr(self, "_by_class"):
            self._by_class: list[list[int]] = [[] for _ in range(self.demands.classes.count)]
            for cell in np.flatnonzero(self.demands.classes.of >= 0).tolist():
                self._by_class[self.demands.classes.of[cell]].append(cell)
        return self._by_class


def _typical(amounts: np.ndarray) -> float:
    some = amounts[amounts > 0]
    return float(np.median(some)) if len(some) else 1.0
