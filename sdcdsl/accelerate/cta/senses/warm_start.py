"""The closest table in L1 for given directions of all groups, on one handle that stays warm while directions change.

    min Σ c⁺ D⁺ + c⁻ D⁻,    R (D⁺ - D⁻) = 0,    a group that goes up: D⁺ ≥ its level, D⁻ = 0; and the other way round

A flip changes the ends of two columns, after which dual simplex goes on from the last basis; it stops as soon as the
flip is known to be no better than what there is. Elastic: the column against the chosen direction stays open at a high
cost, so that there is always an answer: what it uses is how far levels are missed.

With multipliers y of the relations, the optimum after a flip is at least the present one plus `estimates`, by weak
duality: the other groups stay where they were, and this one is where its reduced costs are least in its new box.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.sparse import csc_array, hstack

from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.tuning import SEARCH
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.lp import LinearProgram
from sdcdsl.status import OPTIMAL


@dataclass(frozen=True, eq=False)
class Point:
    up: np.ndarray  # bool [k]
    objective: float
    D: np.ndarray  # [group]
    y: np.ndarray
    missed: np.ndarray  # [k]: how far the level is missed; 0 unless elastic


class WarmStart:
    def __init__(self, groups: Groups, c_down: np.ndarray, c_up: np.ndarray, elastic: bool = False):
        self.groups, self.elastic = groups, elastic
        self.c_down, self.c_up = c_down, c_up
        self._n, self._columns = groups.count, groups.matrix.tocsc()
        # A penalty must count for groups that cost nothing too.
        least = max(float(np.median(np.concatenate([c_down, c_up]))) if groups.count else 1.0, 1.0)
        self._high_cost = SEARCH.penalty * np.maximum(np.maximum(c_down, c_up), least)
        self._program: LinearProgram | None = None
        self._up = np.zeros(0, dtype=bool)

    def solve(self, up: np.ndarray, deadline: Deadline | None = None, below: float = inf) -> tuple[str, Point | None]:
        """OPTIMAL with a point, INFEASIBLE, CUTOFF (no better than `below`), LIMIT or FAILED."""
        program = self._set(up)
        status = program.solve(seconds=inf if deadline is None else deadline.remaining, cutoff=below)
        return status, self._point(program, up) if status == OPTIMAL else None

    def estimates(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """[k]: by how much the objective changes, at least, if a group flips alone; and by how much it would if its
        multipliers stayed what they are, with the group at its level. inf where a group may not flip."""
        g = self.groups
        s, up = g.sensitive, point.up
        worth = (self._columns.T @ point.y)[s]
        rise, fall = self.c_up[s] - worth, self.c_down[s] + worth
        at_level = np.where(up, fall * g.down[s] - rise * g.up[s], rise * g.up[s] - fall * g.down[s])
        with np.errstate(invalid="ignore"):
            as_up = np.where(rise >= 0, rise * g.up[s], np.where(np.isinf(g.high[s]), -inf, rise * g.high[s]))
            as_down = np.where(fall >= 0, fall * g.down[s], np.where(np.isinf(g.low[s]), -inf, -fall * g.low[s]))
            least = np.where(up, as_down - as_up, as_up - as_down)
        shut = ~np.where(up, g.open[:, 0], g.open[:, 1])
        return np.where(shut, inf, least), np.where(shut, inf, at_level)

    def _point(self, program: LinearProgram, up: np.ndarray) -> Point:
        x, s = program.x, self.groups.sensitive
        missed = np.where(up, x[self._n + s], x[s]) if self.elastic else np.zeros(len(s))
        D = x[: self._n] - x[self._n :]
        return Point(up.copy(), program.objective, D, program.dual, missed)

    def _set(self, up: np.ndarray) -> LinearProgram:
        if self._program is None:
            low, high, cost = self._numbers(up, np.arange(len(up)), whole=True)
            matrix = csc_array(hstack([self._columns, -self._columns]))
            self._program = LinearProgram(matrix, cost=cost, bounds=(low, high))
        else:
            changed = np.flatnonzero(up != self._up)
            if len(changed):
                low, high, cost = self._numbers(up, changed)
                s = self.groups.sensitive[changed]
                at = np.concatenate([s, self._n + s]).astype(np.int32)
                self._program.change_bounds(low, high, at)
                if self.elastic:
                    self._program.change_costs(cost, at)
        self._up = up.copy()
        return self._program

    def _numbers(self, up: np.ndarray, which: np.ndarray, whole: bool = False):
        """Ends and costs of the columns of some groups with levels (`whole`: of all groups)."""
        g = self.groups
        s, up = g.sensitive[which], up[which]
        low = np.concatenate([np.where(up, g.up[s], 0.0), np.where(up, 0.0, g.down[s])])
        high = np.concatenate([np.where(up, g.high[s], 0.0), np.where(up, 0.0, -g.low[s])])
        cost = np.concatenate([self.c_up[s], self.c_down[s]])
        if self.elastic:
            # D = D⁺ - D⁻ stays within its ends, and D⁺ (or D⁻) at its level, even one that lies beyond them.
            wrong = np.concatenate([~up, up])
            level, far = np.where(up, g.up[s], g.down[s]), np.where(up, g.high[s], -g.low[s])
            back = np.where(up, -g.low[s], g.high[s])
            low = np.where(wrong, np.tile(np.maximum(level - far, 0.0), 2), low)
            high = np.where(wrong, np.tile(level + back, 2), np.tile(np.maximum(far, level), 2))
            cost = np.where(wrong, np.tile(self._high_cost[s], 2), cost)
        if not whole:
            return low, high, cost
        lows, highs = np.zeros(2 * self._n), np.concatenate([g.high, -g.low])
        costs = np.concatenate([self.c_up, self.c_down])
        at = np.concatenate([s, self._n + s])
        lows[at], highs[at], costs[at] = low, high, cost
        return lows, highs, costs
