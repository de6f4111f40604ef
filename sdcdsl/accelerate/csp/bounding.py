"""Lower bounds by capacity cuts: the second model of paper 003 (Figure 4), over classes of cells that move together.

    min Σ w_i x_i    Σ min((α_i UB_i + β_i LB_i) / level, 1) x_i ≥ 1     for every requirement and every identity (α, β)

In three or more dimensions these are first looked for in parts of the table (`cutting.subtables`), by flows in small
networks and small linear programs in place of those over the whole table.

Cells that can only move together (`cutting.classes`) are hidden together or not at all: one column a class. At the
optimum x* of the cuts so far every requirement is attacked, a cell having the share x* of its slack (of its level, if
it has more slack than that: a larger coefficient than 1 is of no use). What falls short gives the next cuts. Any
multipliers give a valid cut, and the bound is computed from the master's multipliers by plain arithmetic: neither can
be wrong because a solver was inaccurate.

Hiding is all or nothing, which the cuts alone do not say: covers (`cutting.covers`) add what follows from that, and
where costs are whole numbers, or multiples of one, so is the bound.

A conditional level of class p (`methods.conditions`) gives cuts with x_p in place of the 1 on the right, found with all
of the slack of p itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import floor, log2

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp.tuning import BOUND
from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.chained_cuts import share_chain
from sdcdsl.accelerate.cutting.covers import covers
from sdcdsl.accelerate.cutting.kept_cuts import KeptCuts, read_cuts
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Identity, Separation, SeparationRound
from sdcdsl.accelerate.cutting.subtables import Subtables
from sdcdsl.deadline import Deadline
from sdcdsl.executing import SERIAL, Team
from sdcdsl.methods.instance import Instance
from sdcdsl.numerics.cut_pool import RowAges
from sdcdsl.numerics.master import Master, Row
from sdcdsl.status import OPTIMAL

EXACT = 1e-8  # the same at integer points
LEAST = 1e-7  # coefficients below this are raised to it: valid, and kinder to the solver
LASTING = -(10**9)  # the age of a cut that is not to age yet
ERROR = 1e-7  # of a bound, in units: more than solvers are known to be wrong by
GRAIN = 1e-3  # decimals of costs that are no whole numbers
STEPS = 1e9  # steps to the dearest pattern; with more of them rounding counts


class Bounding:
    """The master problem, and what it says: `bound` in terms of w, `x` by class."""

    def __init__(
        self,
        instance: Instance,
        w: np.ndarray,
        cap: int | None = None,
        aside: Instance | None = None,
        team: Team = SERIAL,
    ):
        """`aside` requires the conditional levels; the team may be asked to separate."""
        self.instance, self.w = instance, w
        self.demands = CutRequirements(instance)
        self.classes = self.demands.classes
        self.published: np.ndarray = instance.problem.dataset["published"].values
        must = instance.sensitive | instance.open_anyway
        self.base = float(w[must & self.published].sum())
        extra = np.where(must, 0.0, w)
        self.cost: np.ndarray = np.add(*self.classes.total(extra, np.zeros(len(w))))
        count: np.ndarray = np.add(*self.classes.total((~must).astype(float), np.zeros(len(w))))
        self.fixed: np.ndarray = np.equal(count, 0)  # all of its cells are hidden anyway
        self.step = step_of(self.cost)  # costs of patterns differ by whole steps; 0 if nothing is known of them
        self.unit = unit_of(self.cost, self.step)
        lower = self.fixed.astype(float)
        self.master = Master(self.cost / self.unit, lower, np.ones(len(lower)), np.ones(len(lower), dtype=bool))
        self.separation = Separation(self.demands, team=team)
        self.subtables = Subtables(self.separation)
        self.aside = None if aside is None else Separation(CutRequirements(aside))
        self.kept = KeptCuts()
        self._ages = RowAges(self.master, 1e-7, BOUND.keep)
        self._lasting: set[bytes] = set()
        self._reduced: np.ndarray | None = None  # costs of the columns at the last relaxation
        self.x = lower.copy()
        self.bound = self.base
        self.complete = True  # whether the last separation asked about every requirement
        self.master.add(self._cuts(self._by_relation()))
        if cap is not None:
            over = int((must & self.published).sum())
            columns = np.flatnonzero(count > 0)
            self.master.add([(columns, -count[columns], float(over - cap))])

    def resume(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Cuts of a search that was ended from outside."""
        identities = [identity for identity, _ in read_cuts(arrays, self.separation)]
        self.kept.add(identities)
        self.master.add(self._cuts(identities))

    # ---- the relaxation ----------------------------------------------------------------------------------

    def round(self, deadline: Deadline, in_parts: bool = False) -> int:
        """Solves the relaxation and adds cuts; how many. `in_parts`: those of parts of the table alone."""
        made = self.master.relax(deadline.remaining)
        if made.status != OPTIMAL or made.slack is None:
            return 0
        self.proved(made.bound)
        self.x = np.clip(made.x, 0.0, 1.0)
        self._reduced = made.reduced
        self._purge(made.slack)
        cuts = self._in_parts(self.x, deadline) if in_parts else self.violated(self.x, deadline)
        return self.master.add(cuts) + self._ages.add(covers(self._knapsacks(), self.x, BOUND.violated), BOUND.keep)

    def _knapsacks(self) -> csr_array:
        """The rows of the master that are capacity cuts, or covers of them."""
        rows = self.master.matrix
        least = np.zeros(self.master.rows)
        filled = np.flatnonzero(np.diff(rows.indptr))
        least[filled] = np.minimum.reduceat(rows.data, rows.indptr[filled]) if len(filled) else 0.0
        return csr_array(rows[np.flatnonzero((least > 0) & (self.master.rhs == 1.0))])

    def proved(self, bound: float) -> None:
        """A bound of the master; no pattern costs anything between two steps."""
        if self.step > 0:
            ratio = self.unit / self.step
            error = 1e-6 + ERROR * ratio + 1e-12 * ratio * abs(bound)  # in steps
            bound = max(bound, float(np.ceil(ratio * bound - error)) / ratio)
        self.bound = max(self.bound, self.base + bound * self.unit)

    def fix(self, objective: float, x: np.ndarray) -> int:
        """Classes that a reduced cost alone keeps as they are in a known pattern x: whatever is cheaper than this has
        them so too. The pattern itself still satisfies the master. Returns how many there are."""
        made = self.master.relax()
        if made.reduced is None:
            return 0
        if made.slack is not None:
            self._purge(made.slack, share=0.0)
        slack = (objective - self.step - self.base) / self.unit - made.bound
        slack = max(slack, 0.0) * (1 + 1e-9) + 1e-9
        free = self.master.lower < self.master.upper
        stays = np.where(x > 0.5, made.reduced < -slack, made.reduced > slack)
        columns = np.flatnonzero(free & stays)
        self.master.bound_columns(columns, np.round(x[columns]), np.round(x[columns]))
        return len(columns)

    def add_lasting(self, rows: list[Row]) -> None:
        """Cuts found at whole numbers, and their covers there. Relaxations may leave them slack for long, and still the
        next integer problem would come back to the same place without them: they age only once they have been tight."""
        named = {columns.tobytes() + np.round(values, 9).tobytes(): k for k, (columns, values, _) in enumerate(rows)}
        new = [(name, rows[k]) for name, k in named.items() if name not in self._lasting]
        self._lasting |= {name for name, _ in new}
        self._ages.add([row for _, row in new], LASTING)

    def violated(self, x: np.ndarray, deadline: Deadline, least: float = BOUND.violated) -> list[Row]:
        """Cuts that x does not satisfy, one for each side that falls short."""
        everything = np.full(len(x), np.inf)
        point = Capacities(self.demands, everything, everything, x)
        deep = Capacities(self.demands, everything, everything, np.minimum(x + BOUND.deep, 1.0))
        made = self.separation.round(point, deep=deep, tolerance=least, over=lambda: deadline.expired)
        made.found += self._chains(made, x, deadline)
        return self._rows(x, made, least) + self._conditional(x, point, deadline, least)

    def _in_parts(self, x: np.ndarray, deadline: Deadline) -> list[Row]:
        found = self.subtables.identities(x, BOUND.missed_in_parts, lambda: deadline.expired)
        return self._missed(x, found, BOUND.violated)

    def short_of(self, x: np.ndarray, only: np.ndarray, deadline: Deadline) -> tuple[list[Row], np.ndarray]:
        """The same for these requirements alone and in haste: with a little more slack than x leaves, and no second
        look. Also which of them fall short."""
        everything = np.full(len(x), np.inf)
        deep = Capacities(self.demands, everything, everything, np.minimum(x + BOUND.deep, 1.0))
        made = self.separation.round(deep, tolerance=BOUND.violated, over=lambda: deadline.expired, only=only)
        return self._rows(x, made, BOUND.violated), made.short

    def _chains(self, made: SeparationRound, x: np.ndarray, deadline: Deadline) -> Iterator[Identity]:
        """Further cuts for the requirements that fall short: what the relaxation would open next is opened at once."""
        if self._reduced is None:
            return
        price = np.maximum(self._reduced, 0.0) + BOUND.chain_cost * self.master.cost
        for s in np.flatnonzero(made.short[: self.separation.requirements]).tolist():
            if deadline.expired:
                return
            yield from share_chain(self.separation, s, x, price, BOUND.chain)

    def broken(self, x: np.ndarray, deadline: Deadline, only: np.ndarray | None = None) -> list[Row]:
        """The same for x that is 0 or 1: then all of the slack counts, and no cut means that the pattern is valid."""
        slack = np.where(x > 0.5, np.inf, 0.0)
        point = Capacities(self.demands, slack, slack)
        made = self.separation.round(point, tolerance=EXACT, over=lambda: deadline.expired, only=only)
        rows = self._rows(x, made, EXACT)
        rows = rows + self._stronger(rows, x)
        if only is not None:
            return rows
        return rows + self._conditional(x, point, deadline, EXACT) + self.violated(x, deadline)

    def _stronger(self, rows: list[Row], x: np.ndarray) -> list[Row]:
        """Covers of these cuts alone."""
        if not rows:
            return []
        start = np.cumsum([0, *(len(columns) for columns, _, _ in rows)])
        columns, values = (np.concatenate([row[part] for row in rows]) for part in (0, 1))
        return covers(csr_array((values, columns, start), shape=(len(rows), len(x))), x, BOUND.violated)

    def _rows(self, x: np.ndarray, made: SeparationRound, least: float) -> list[Row]:
        self.complete = made.complete
        return self._missed(x, made.found, least)

    def _missed(self, x: np.ndarray, found: Iterable[Identity], least: float) -> list[Row]:
        out: dict[bytes, Row] = {}  # several requirements may give the same
        for identity in found:
            for columns, coefficients, rhs in self._cuts([identity]):
                key = columns.tobytes() + np.round(coefficients, 9).tobytes()
                if rhs - coefficients @ x[columns] > least / 2 and key not in out:
                    out[key] = columns, coefficients, rhs
                    self.kept.add([identity])
        return list(out.values())

    def _conditional(self, x: np.ndarray, point: Capacities, deadline: Deadline, least: float) -> list[Row]:
        """Cuts of conditional levels that x does not satisfy."""
        out: list[Row] = []
        for s in range(len(self.aside.levels)) if self.aside is not None else ():
            assert self.aside is not None
            p, _, viewer, need = self.aside.target(s)
            if x[p] <= least:
                continue
            if deadline.expired:
                self.complete = False
                break
            own = [np.minimum(slack[p], need) for slack in self.demands.slack(viewer)]
            down, up = (slack.copy() for slack in point.at(viewer, need))
            down[p], up[p] = own
            identity = self.aside.lacking(s, down, up, least)
            for columns, coefficients, rhs in self._cuts([identity] if identity is not None else []):
                at = np.append(columns[columns != p], p)
                value = np.append(coefficients[columns != p], coefficients[columns == p].sum() - rhs)
                if -(value @ x[at]) > least / 2:
                    out.append((at, value, 0.0))
        return out

    # ---- cuts --------------------------------------------------------------------------------------------

    def _by_relation(self) -> Iterator[Identity]:
        """Each relation of a sensitive class alone ties its requirements to the slack of the others."""
        m = self.classes.matrix
        columns = m.sparse.tocsc()
        levels = self.demands.levels
        for s in range(len(levels)):
            p, sign = int(levels.cell[s]), int(levels.sign[s])
            for e in range(columns.indptr[p], columns.indptr[p + 1]):
                span = slice(m.start[columns.indices[e]], m.start[columns.indices[e] + 1])
                cells, c = m.index[span], -sign * m.value[span] / columns.data[e]
                c = np.where(cells == p, 0.0, c)
                yield _identity(int(levels.viewer[s]), float(levels.need[s]), cells, c, s)

    def _cuts(self, identities) -> Iterator[Row]:
        for identity in identities:
            (up, alpha), (down, beta) = identity.up, identity.down
            low, high = self.demands.slack(identity.viewer)
            with np.errstate(invalid="ignore"):
                part_up = np.minimum(alpha * high[up] / identity.need, 1.0)
                part_down = np.minimum(beta * low[down] / identity.need, 1.0)
            columns, place = np.unique(np.concatenate([up, down]), return_inverse=True)
            values = np.bincount(place, weights=np.concatenate([part_up, part_down]), minlength=len(columns))
            columns, values = columns[values > 0], np.minimum(values[values > 0], 1.0)
            there = self.fixed[columns]
            rhs = 1.0 - float(values[there].sum())
            if rhs <= 1e-9:
                continue
            columns, values = columns[~there], values[~there]
            yield columns, np.clip(values / rhs, LEAST, 1.0), 1.0

    def _purge(self, slack: np.ndarray, share: float = 0.2) -> None:
        """Takes out cuts that were slack for long, if they are more than this share of all. Covers go first: an integer
        problem has its own."""
        self._ages.drop(self._ages.slack_for_long(slack, share))

    # ---- between cells and classes -----------------------------------------------------------------------

    def of_cells(self, hidden: np.ndarray) -> np.ndarray:
        """x of a pattern: a class counts if all of its cells are hidden."""
        x = np.ones(self.classes.count)
        cells = np.flatnonzero(self.classes.of >= 0)
        np.minimum.at(x, self.classes.of[cells], hidden[cells].astype(float))
        return x

    def to_cells(self, x: np.ndarray) -> np.ndarray:
        """x of the cells; 0 for those that cannot move."""
        return np.where(self.classes.of >= 0, x[np.maximum(self.classes.of, 0)], 0.0)


def step_of(cost: np.ndarray) -> float:
    """The largest number all costs are multiples of; 0 if there is none that is worth speaking of."""
    for grain in (1.0, GRAIN):
        whole = np.round(cost / grain)
        if (np.abs(cost - whole * grain) <= 1e-12 * cost).all() and 0 < whole.max(initial=0.0) < 2**53:
            step = float(np.gcd.reduce(whole.astype(np.int64))) * grain
            return step if cost.sum() < STEPS * step else 0.0
    return 0.0


def unit_of(cost: np.ndarray, step: float) -> float:
    """A typical cost. With steps, one that leaves them short binary fractions: solvers see them then."""
    if not (cost > 0).any():
        return 1.0
    typical = float(np.mean(cost[cost > 0]))
    return step * 2.0 ** floor(log2(typical / step)) if step > 0 else typical


def _identity(viewer: int, need: float, cells: np.ndarray, c: np.ndarray, s: int) -> Identity:
    up, down = c > 1e-12, c < -1e-12
    return Identity(viewer, need, (cells[up], c[up]), (cells[down], -c[down]), s)
