"""How good any directions can be: the linear relaxation with cuts, and the bound its multipliers prove.

Rounds of cuts are added where they are violated, until none is or the time is up. The bound of every round is computed
from the multipliers alone,

    y_r ≥ 0 where a row is only bounded below, ≤ 0 above:    Σ y_r b_r + Σ_j min { (c - Aᵀy)_j x_j : l_j ≤ x_j ≤ u_j }

so that it holds whatever the solver's tolerances were. Ends that are open are replaced by those that any solution no
worse than the one known has to keep.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, vstack

from sdcdsl.accelerate.cta.senses.envelopes import Envelopes
from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.senses.mip import Cuts, Model, seconds_on_wall
from sdcdsl.accelerate.cta.tuning import SEARCH
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.lp import LinearProgram
from sdcdsl.numerics.nearest.solved import SeparableCost, within
from sdcdsl.numerics.sparse_null_space import size
from sdcdsl.status import INFEASIBLE, OPTIMAL

VIOLATED = 1e-6  # in typical levels


class Curved(Protocol):
    """A model whose objective is bent, and stands in it by tangents."""

    def tangents(self, x: np.ndarray) -> bool:
        """Adds those that x is below; False if there are none."""
        ...


class Relaxation:
    """Of a model of all groups. `b` is what it says about directions, `x` about all columns.

    Inside, D⁺ = level · b + e⁺ and D⁻ = level · (1 - b) + e⁻, so that levels are ends of columns and no rows; and that
    a group has no deviation against its direction is a row only where it has been broken. That leaves a third of the
    rows."""

    def __init__(self, model: Model, curved: Curved | None = None):
        self.model, self.curved = model, curved
        self.bound = -inf
        self.x = np.zeros(model.width)
        self.reduced = np.zeros(model.width)  # costs of e and b, with the multipliers of the last proof
        self._turn, self._shift = _beyond_levels(model)
        self._low, self._high = _ends(model)
        self._needed = np.zeros(2 * model.k, dtype=bool)  # ends of directions: which of these rows are there
        self._entries = np.zeros(0, dtype=np.int64)  # of `every`: the cuts for single groups
        self._envelopes = Envelopes(model.groups)
        self._cuts = csr_array((0, model.width)), np.zeros(0)
        self._slack = np.zeros(0)
        self._pass()

    @property
    def b(self) -> np.ndarray:
        return self.x[self.model.width - self.model.k :]

    @property
    def tight(self) -> Cuts:
        """The cuts without slack in the last round."""
        rows, least = self._cuts
        held = np.flatnonzero(self._slack <= VIOLATED)
        return csr_array(rows[held]), least[held]

    def run(self, deadline: Deadline, tell: Callable[[float], None] = lambda bound: None) -> bool:
        """True if no cut is missing any more, or further ones bring little."""
        while True:
            before, answer = self.bound, self.solve(deadline)
            if answer is None:
                return False
            self.bound = max(self.bound, answer)
            tell(self.bound)
            found = self.missing()
            bent = self.curved is not None and self.curved.tangents(self.x)
            if (not found and not bent) or self.bound - before <= SEARCH.slow * abs(self.bound):
                return True
            if deadline.expired:
                return False
            if bent:
                self._pass()

    def choose(self, low: np.ndarray, high: np.ndarray) -> None:
        """Ends of b [k] from now on."""
        first, k = self.model.width - self.model.k, self.model.k
        self._low[first:], self._high[first:] = low, high
        self._program.change_bounds(low, high, np.arange(first, first + k))

    def solve(self, deadline: Deadline) -> float | None:
        """The bound of the present rows and ends, inf if nothing keeps them; None if the solver did not say."""
        program = self._program
        status = program.solve(seconds=seconds_on_wall(deadline))
        if status == INFEASIBLE:
            return inf if self._ruled_out() else None
        if status != OPTIMAL:
            return None
        self.x = self._turn @ program.x + self._shift
        self._slack = self._cuts[0] @ self.x - self._cuts[1]
        return self._proved(program.dual, self._cost) + float(self.model.cost @ self._shift)

    # ---- rows ---------------------------------------------------------------------------------------------------

    def _pass(self) -> None:
        """All of it to the solver anew."""
        model, k = self.model, self.model.k
        matrix, (low, high) = model.all(self._cuts)
        there = np.ones(len(low), dtype=bool)
        there[model.relations : model.relations + 2 * k] = False
        there[model.relations + 2 * k : model.relations + 4 * k] = self._needed
        self._cost = self._turn.T @ model.cost
        self._matrix, self._rows = self._inside(csr_array(matrix[there]), low[there], high[there])
        bounds = self._low, self._high
        self._program = LinearProgram(self._matrix, cost=self._cost, bounds=bounds, rows=self._rows, presolve=True)

    def _inside(self, rows: csr_array, low: np.ndarray, high: np.ndarray):
        shift = rows @ self._shift
        return csr_array(rows @ self._turn), (low - shift, high - shift)

    def _add(self, rows: csr_array, low: np.ndarray, high: np.ndarray) -> None:
        made, ends = self._inside(rows, low, high)
        of: Any = made
        self._program.add_rows(*ends, of.indptr, of.indices, of.data)
        self._matrix = csr_array(vstack([self._matrix, made]))
        self._rows = np.concatenate([self._rows[0], ends[0]]), np.concatenate([self._rows[1], ends[1]])

    def missing(self) -> bool:
        """Adds all rows that x breaks; whether there are any."""
        model, rows, x = self.model, self.model.groups.every, self.x
        r = np.zeros(model.groups.count)
        r[model.free] = x[: model.n] + x[model.n : 2 * model.n]
        row = np.repeat(np.arange(size(rows)[0]), np.diff(rows.indptr))
        each = np.abs(rows.data) * r[rows.indices]
        total = np.bincount(row, each, size(rows)[0])
        entries = np.setdiff1d(np.flatnonzero(2 * each - total[row] > VIOLATED), self._entries)
        self._entries = np.concatenate([self._entries, entries])
        one, two = model.cuts(entries), self._left_over(total)
        cuts = csr_array(vstack([one[0], two[0]])), np.concatenate([one[1], two[1]])
        ends = self._beyond_ends()
        if len(cuts[1]):
            self._add(*cuts, np.full(len(cuts[1]), inf))
            self._cuts = csr_array(vstack([self._cuts[0], cuts[0]])), np.concatenate([self._cuts[1], cuts[1]])
        return bool(len(cuts[1])) or ends

    def _left_over(self, total: np.ndarray) -> Cuts:
        """`total` [relation]: Σ |ρ| r."""
        envelopes = self._envelopes
        b = np.zeros(len(self.model.groups.sensitive))
        b[self.model.chosen] = self.b
        value, constant, slope = envelopes.at(b)
        b = b[envelopes.choice]
        level = np.abs(envelopes.up) * b + np.abs(envelopes.down) * (1 - b)
        levels = np.add.reduceat(level, envelopes.first[:-1]) if len(level) else np.zeros(0)
        which = np.flatnonzero(value - (total[envelopes.relations] - levels) > VIOLATED)
        return self.model.left_over(envelopes, which, constant, slope)

    def _beyond_ends(self) -> bool:
        """Groups that go against their direction, or further than they may."""
        model = self.model
        first = model.relations + 2 * model.k
        rows = csr_array(model.matrix[first : first + 2 * model.k])
        high = model.row_high[first : first + 2 * model.k]
        with np.errstate(invalid="ignore"):
            broken = ~self._needed & (rows @ self.x - high > VIOLATED)
        if broken.any():
            self._needed |= broken
            self._add(csr_array(rows[np.flatnonzero(broken)]), np.full(broken.sum(), -inf), high[broken])
        return bool(broken.any())

    # ---- proofs -------------------------------------------------------------------------------------------------

    def _proved(self, y: np.ndarray, cost: np.ndarray) -> float:
        """What the multipliers prove about the least of a cost."""
        if self.model.capped:
            return -inf
        low, high = self._rows
        y = np.where(np.isinf(low), np.minimum(y, 0.0), np.where(np.isinf(high), np.maximum(y, 0.0), y))
        at = np.where(np.isinf(low), high, low)
        self.reduced = cost - self._matrix.T @ y
        with np.errstate(invalid="ignore"):
            ends = np.where(self.reduced > 0, self._low, np.where(self.reduced < 0, self._high, 0.0))
            rows, columns = np.where(y == 0.0, 0.0, y * at), np.where(ends == 0.0, 0.0, self.reduced * ends)
        total = float(rows.sum() + columns.sum())
        # The sums above are of numbers with rounding errors of their own.
        return total - 1e-12 * float(np.abs(rows).sum()) if np.isfinite(total) else -inf

    def _ruled_out(self) -> bool:
        """Whether the solver's ray proves that nothing keeps all rows: then it proves that zero is more than zero."""
        ray, nothing = self._program.dual_ray(), np.zeros(self.model.width)
        return ray is not None and max(self._proved(sign * ray, nothing) for sign in (1.0, -1.0)) > 0.0


def _beyond_levels(model: Model) -> tuple[csr_array, np.ndarray]:
    """x = turn x' + shift, where x' has e⁺ and e⁻ in place of D⁺ and D⁻."""
    s = model.groups.sensitive[model.chosen]
    at, b = model.local[s], model.width - model.k + np.arange(model.k)
    every, none = np.arange(model.width), np.zeros(model.width)
    value = np.concatenate([np.ones(model.width), model.groups.up[s], -model.groups.down[s]])
    row, column = np.concatenate([every, at, model.n + at]), np.concatenate([every, b, b])
    none[model.n + at] = model.groups.down[s]
    return csr_array((value, (row, column)), shape=(model.width, model.width)), none


def _ends(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Of x': a group that chooses goes beyond its level as far as it may in that direction."""
    low, high = model.low.copy(), model.high.copy()
    s = model.groups.sensitive[model.chosen]
    at = model.local[s]
    high[at] = np.maximum(high[at] - model.groups.up[s], 0.0)
    high[model.n + at] = np.maximum(high[model.n + at] - model.groups.down[s], 0.0)
    return low, high


def worth_having(
    groups: Groups, prices: tuple[np.ndarray, np.ndarray], objective: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of D that every solution no worse than `objective` keeps: a group can cost no more than what the levels of
    the others leave of it."""
    c_down, c_up = prices
    s = groups.sensitive
    each = np.zeros(groups.count)
    each[s] = np.minimum(
        np.where(groups.open[:, 0], c_down[s] * groups.down[s], inf),
        np.where(groups.open[:, 1], c_up[s] * groups.up[s], inf),
    )
    left = (objective - each.sum()) * (1 + 1e-9) + 1e-9 * abs(objective)
    cost = SeparableCost(c_down, c_up, np.zeros(groups.count))
    low, high = within(groups.matrix, cost, groups.low, groups.high, max(left, 0.0) + float(each.max(initial=0.0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        down = np.where(c_down > 0, (max(left, 0.0) + each) / c_down, inf)
        up = np.where(c_up > 0, (max(left, 0.0) + each) / c_up, inf)
    return np.maximum(low, -down), np.minimum(high, up)
