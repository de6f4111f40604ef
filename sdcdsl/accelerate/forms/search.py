"""The best release of a mixture of forms: linear relaxation with cuts, then mixed-integer problems over the cuts.

Every candidate is made exact first (`published`: whole multiples, values that add up), then every level is asked about
at the slacks that really leaves; what passes is valid whatever was cut short. What does not is cut off (`cuts`), by
what was found there. A level that holds where a column is 1 (`conditional`) requires as much less as the column is
below 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.cutting.box_moves import BoxMoves
from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.kept_cuts import KeptCuts, read_cuts
from sdcdsl.accelerate.cutting.lattice_boxes import LatticeBoxes, joined
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Identity, Separation
from sdcdsl.accelerate.forms.bounds import on_grid, step_of
from sdcdsl.accelerate.forms.conditional import IfTouched, held_if
from sdcdsl.accelerate.forms.cuts import CutRows
from sdcdsl.accelerate.forms.tuning import TUNING
from sdcdsl.deadline import Deadline
from sdcdsl.executing import SERIAL, Team
from sdcdsl.methods.checkpoint import Checkpointer, CheckpointState
from sdcdsl.methods.forms.decisions import DecisionProblem
from sdcdsl.methods.forms.published import Published
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.result import Progress
from sdcdsl.numerics.master import Master, Row
from sdcdsl.proof.witness import MoveMatrix
from sdcdsl.status import FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

LOWERED = 1e-6  # of a bound: for the margin that cuts require
ENOUGH = 1e-9  # of a level: how much a valid release may lack
WHOLE = 1e-6


@dataclass(frozen=True, eq=False)
class Candidate:
    """A release: columns, and the slack below and above that it leaves."""

    u: np.ndarray
    down: np.ndarray
    up: np.ndarray
    objective: float


class MixedCapacities(Capacities):
    """The slack of classes at a point where some cells are (partly) hidden and others have a box."""

    def __init__(self, demands: CutRequirements, down: np.ndarray, up: np.ndarray, x: np.ndarray):
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
            low, high = self.demands.slack(viewer)
            assert self.share is not None
            hidden = np.isfinite(self.share)
            with np.errstate(invalid="ignore"):
                low, high = (np.where(hidden, np.where(self.share > 0, r * self.share, 0.0), r) for r in (low, high))
            self._cache[viewer] = np.minimum(low, self.down), np.minimum(high, self.up)
        return self._cache[viewer]


class Find(Protocol):
    """Ways of its own to releases: before the linear relaxation (True if nothing else is of use), and after it."""

    def first(
        self, search: FormsSearch, deadline: Deadline, gap: float, tell: Callable[[Progress], None], /
    ) -> bool: ...

    def __call__(
        self, search: FormsSearch, deadline: Deadline, gap: float, tell: Callable[[Progress], None], /
    ) -> None: ...


Missed = tuple[Identity, int]  # and the column it holds for, ALWAYS if in any case
ALWAYS = -1


class FormsSearch:
    def __init__(
        self,
        instance: Instance,
        problem: DecisionProblem,
        opened: np.ndarray,
        published: Published,
        heuristic: Find | None = None,
        team: Team = SERIAL,
    ):
        """`opened` [cell]: where a form leaves any slack. `heuristic`: looks for releases in ways of its own."""
        self.instance, self.problem, self.published, self.heuristic = instance, problem, published, heuristic
        if_touched = instance.conditional
        self.demands = CutRequirements(
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
        self.patience: Deadline | None = None  # without a release when this is over, there will be none
        self.relaxed_at: np.ndarray | None = None  # where the relaxation stands
        self._scale = _typical(np.abs(problem.cost * problem.unit))
        self._step = step_of(problem.cost, problem.integer)
        self._whole_slacks = bool(problem.integer[np.concatenate([problem.down.indices, problem.up.indices])].all())
        self._rows = CutRows(problem, self.demands)
        self.master = self._master()
        self.stated = self.master.rows  # those before the cuts
        self.checkpointer = Checkpointer()
        self._deadline = Deadline()
        self._boxes: BoxMoves | None = None
        self.shown: Callable[[Candidate], None] = lambda candidate: None
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
        if self._rows.used_margin:
            whole -= LOWERED * abs(whole)
        return on_grid(whole - self.problem.offset, self._step) + self.problem.offset

    # ---- search ----------------------------------------------------------------------------------------------

    def run(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        if self.demands.hopeless or (self.problem.lower > self.problem.upper).any():
            self.infeasible = True
            return
        self._deadline = deadline
        self._resume()
        self._once(deadline, gap, tell)
        if self.infeasible and self._rows.used_margin:  # perhaps only because of the margin
            self.infeasible, self._rows.margin, self._rows.used_margin = False, 0.0, False
            self.master, self.bound = self._master(), -inf
            self._once(deadline, gap, tell)

    def _once(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        if self.heuristic is not None and (self.heuristic.first(self, deadline, gap, tell) or self.near_enough(gap)):
            return
        if not self._relaxed(deadline, gap, tell):
            return
        if self.heuristic is not None:
            self.heuristic(self, deadline, gap, tell)
        if not self.infeasible:
            self._integral(deadline, gap, tell)

    def raise_bound(self, bound: float) -> None:
        """A bound on the objective from elsewhere; what all releases cost stands on a grid."""
        if np.isfinite(bound):
            self.bound = max(self.bound, on_grid(bound - self.problem.offset, self._step) + self.problem.offset)

    def over(self, deadline: Deadline) -> bool:
        return deadline.expired or (self.best is None and self.patience is not None and self.patience.expired)

    def near_enough(self, gap: float) -> bool:
        return self.best is not None and self.best.objective - self.bound <= gap * abs(self.best.objective)

    def _relaxed(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> bool:
        """The linear relaxation, until no level is missed or nothing much happens. False: nothing more to do."""
        before, stalled = -inf, 0
        for _ in range(TUNING.rounds):
            if self.over(deadline):
                return False
            solved = self.master.relax(min(deadline.remaining, 1e9))
            if solved.status == INFEASIBLE:
                self.infeasible = True
                return False
            if solved.status != OPTIMAL:
                return solved.status != LIMIT
            self.bound = max(self.bound, self._whole(solved.bound))
            self.relaxed_at = solved.x
            whole = self._whole_numbers(solved.x)
            at_once = whole and self._whole_slacks
            cut = self.settle(solved.x) if at_once else self.cut_off(solved.x)
            self.rounds += 1
            tell(Progress("cuts", self.objective, self.bound, f"{self.cuts} cuts"))
            if not cut:
                if whole and not at_once:
                    self.offer(solved.x)
                return not self.near_enough(gap)
            stalled = stalled + 1 if self.bound - before <= TUNING.progress * abs(self.bound) else 0
            before = self.bound
            if stalled >= 3 and self.problem.integer.any():
                return True
        return True

    def _whole_numbers(self, x: np.ndarray) -> bool:
        """Otherwise what is made of a solution may be valid, and as cheap, and have fractions that nobody needs."""
        whole = x[self.problem.integer]
        return bool((np.abs(whole - np.round(whole)) <= WHOLE).all())

    def _integral(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        if not self.problem.integer.any():
            self._continuous(deadline, gap, tell)
            return
        p, seconds, share = self.problem, TUNING.brief, TUNING.slice
        while not self.over(deadline) and not self.near_enough(gap):
            start = None if self.best is None else self.best.u / p.unit
            left = deadline.remaining
            if self.best is None and self.patience is not None:
                left = min(left, self.patience.remaining)
            solved = self.master.solve(
                start=start,
                gap=max(0.5 * gap, gap - TUNING.narrower),
                seconds=max(min(seconds, share * left), 0.05),
                over=lambda: self.over(deadline),
                offset=p.offset / self._scale,
            )
            deadline.mark_time_dependent(solved.timed)
            if solved.status == INFEASIBLE:
                self.infeasible = self.best is None  # with a release in hand the solver is wrong, and proves nothing
                return
            self.bound = max(self.bound, self._whole(solved.bound))
            cut = False
            for x in [*solved.met[-4:], *([solved.x] if solved.x is not None else [])]:
                cut |= self.settle(x)
            tell(Progress("search", self.objective, self.bound, f"{self.cuts} cuts"))
            if not cut and (solved.status == OPTIMAL or not solved.more):
                return
            seconds, share = (seconds, TUNING.slice) if cut else (TUNING.longer * seconds, TUNING.long_slice)
            if solved.status not in (OPTIMAL, FEASIBLE, LIMIT):
                return

    def _continuous(self, deadline: Deadline, gap: float, tell: Callable[[Progress], None]) -> None:
        while not deadline.expired and not self.near_enough(gap):
            solved = self.master.relax(min(deadline.remaining, 1e9))
            if solved.status != OPTIMAL:
                self.infeasible = solved.status == INFEASIBLE
                return
            self.bound = max(self.bound, self._whole(solved.bound))
            cut = self.cut_off(solved.x)
            tell(Progress("cuts", self.objective, self.bound, f"{self.cuts} cuts"))
            if not cut:
                self.offer(solved.x)
                return

    @property
    def objective(self) -> float | None:
        return None if self.best is None else self.best.objective

    # ---- levels ----------------------------------------------------------------------------------------------

    def _separated(self, u, down, up, tolerance: float) -> tuple[list[Missed], bool]:
        """The levels that are missed, and whether all were asked about in time."""
        assert self.separation is not None
        point, complete = self._point(u, down, up), True

        def over() -> bool:
            return self._deadline.expired

        found: list[Missed] = []
        if len(self.separation.levels):
            # A flow is found in less time than it takes to enter what it shows about other levels.
            flows = self.demands.classes.network is not None
            only = None if flows else self._unreached(point, down, up)
            made = self.separation.round(point, tolerance=tolerance, over=over, only=only, each=flows)
            found, complete = [(identity, ALWAYS) for identity in made.found], made.complete
        if self.if_touched is not None:
            found += self.if_touched.missed(point, u, tolerance, over)
            complete &= not over()
        return found, complete

    def _unreached(self, point: MixedCapacities, down: np.ndarray, up: np.ndarray) -> np.ndarray | None:
        """bool [level]: in large tables, those that no box of cells reaches. Boxes are found in less time than it takes
        to ask."""
        assert self.separation is not None
        if self.hidden.any() or not self._large:
            return None
        if self.lattice is not None:
            return ~self.boxes(down, up)[0]
        if self._boxes is None:
            self._boxes = BoxMoves(self.demands)
        return ~self._boxes.reached(self.separation, Capacities(self.demands, point.down, point.up))

    def boxes(self, down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, list[MoveMatrix]]:
        """Of a cross table: bool [level], those that boxes reach where each cell has this slack; and the boxes."""
        assert self.separation is not None and self.lattice is not None
        levels, i = self.separation.levels, self.instance
        reached, moves = np.zeros(len(levels), dtype=bool), []
        one_sided = np.arange(len(levels)) < self.separation.requirements
        for number, (view, attacker) in enumerate(self.demands.viewers):
            mine = np.flatnonzero(one_sided & (levels.viewer == number))
            low, high = (i.LB[view], i.UB[view]) if attacker < 0 else i.slack(attacker)
            pair, sign = levels.pair[mine], 2 * levels.side[mine] - 1
            slack = np.minimum(low, down), np.minimum(high, up)
            reached[mine], made = self.lattice.found(i.pair_cell[pair], sign, levels.need[mine], *slack)
            moves.append(made)
        return reached, moves

    def witnesses(self, best: Candidate) -> MoveMatrix | None:
        """Boxes within a release, for the audit of a large table: some that reach levels, and some that move what no
        level is about, of which it is asked whether anybody can compute it."""
        if self.separation is None or not self._large or self.lattice is None:
            return None
        found, need = self.boxes(best.down, best.up)[1], float(self.separation.levels.need.min())
        for view in sorted({view for view, _ in self.demands.viewers}):
            slack = np.minimum(self.instance.LB[view], best.down), np.minimum(self.instance.UB[view], best.up)
            still = (slack[0] > 0) | (slack[1] > 0)
            for sign in (1, -1):
                for boxes in found:
                    still[boxes.cell] = False
                cells = np.flatnonzero(still)
                signs, needs = np.full(len(cells), sign), np.full(len(cells), need)
                found.append(self.lattice.found(cells, signs, needs, *slack)[1])
        return joined(found)

    @property
    def _large(self) -> bool:
        levels = 0 if self.separation is None else len(self.separation.levels)
        return levels * self.demands.classes.count >= TUNING.boxed_from

    @cached_property
    def lattice(self) -> LatticeBoxes | None:
        table = ProductTable.of(self.instance)
        return None if table is None else LatticeBoxes(table)

    def _point(self, u: np.ndarray, down: np.ndarray, up: np.ndarray) -> MixedCapacities:
        x = np.full(self.instance.n, inf)
        x[self.hidden] = np.clip(u[self.problem.hide[self.hidden]], 0.0, 1.0)
        return MixedCapacities(self.demands, down, up, x)

    def offer(self, x: np.ndarray) -> list[Missed] | None:
        """Takes a solution, made exact, if it is the best so far. The levels it misses, None where nobody asked."""
        u = x * self.problem.unit
        short, found = self.published.short(u), None
        for candidate in (short, u) if (short != u).any() else (u,):
            made = self.published.exact(candidate)
            if made is None:
                continue
            exact, down, up, objective = made
            if not self.problem.allows(exact):
                continue
            if self.best is not None and objective >= self.best.objective * (1 - 1e-12):
                continue
            found, complete = self._separated(exact, down, up, ENOUGH)
            if not complete and not found:
                return None
            if not found:
                self.best = Candidate(exact, down, up, objective)
                self.shown(self.best)
                self._keep()
                break
        return found

    def cut_off(self, x: np.ndarray) -> bool:
        """Adds cuts for the levels that a point misses by more than solvers' noise, if it does."""
        u = x * self.problem.unit
        down, up = self.problem.slacks(u)
        found, _ = self._separated(u, down, up, max(0.5 * self._rows.margin, ENOUGH))
        self._cut(found, x)
        return bool(found)

    def settle(self, x: np.ndarray) -> bool:
        """Offers a solution, and cuts it off if it misses a level. Where slacks follow from whole numbers, those of the
        solution are those of what is offered, and a large table is asked about all its levels once, not twice."""
        found = self.offer(x)
        if found is None or not self._whole_slacks:
            return self.cut_off(x)
        self._cut(found, x)
        return bool(found)

    # ---- cuts ------------------------------------------------------------------------------------------------

    def _cut(self, found: list[Missed], x: np.ndarray) -> None:
        if not found:
            return
        p, u = self.problem, x * self.problem.unit
        down, up = p.slacks(u)
        rows = [self._rows.row(identity, u, down, up) for identity, _ in found]
        self.cuts += self.master.add(
            row if of == ALWAYS else held_if(row, of, p.lower / p.unit, p.upper / p.unit)
            for row, (_, of) in zip(rows, found, strict=True)
        )
        self._kept.add([identity for identity, p in found if p == ALWAYS], x)
        self._keep()

    # ---- what was known before, and what is kept -----------------------------------------------------------------

    def _resume(self) -> None:
        """Of an earlier run: cuts, and a release, which is offered as any other is."""
        self.checkpointer.save = self._keep
        state, width = self.checkpointer.found, len(self.problem.cost)
        if state is None or self.separation is None:
            return
        for identity, x in read_cuts(state.arrays, self.separation, width):
            if x is not None:
                self._cut([(identity, ALWAYS)], x)
        best = state.arrays.get("best")
        if best is not None and best.dtype == float and best.shape == (width,) and np.isfinite(best).all():
            self.offer(best)

    def _keep(self) -> None:
        if self.separation is not None and self.checkpointer.due:
            arrays = self._kept.arrays(self.separation)
            if self.best is not None:
                arrays["best"] = self.best.u / self.problem.unit
            self.checkpointer.keep(CheckpointState({}, arrays))


def _typical(amounts: np.ndarray) -> float:
    some = amounts[amounts > 0]
    return float(np.median(some)) if len(some) else 1.0
