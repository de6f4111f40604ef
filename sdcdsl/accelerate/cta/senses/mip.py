"""The mixed-integer problem of paper 000 (6) over groups, or over some of them while the others stay as they are.

    min Σ c⁺ D⁺ + c⁻ D⁻
    R (D⁺ - D⁻) = 0,    up · b ≤ D⁺ ≤ high · b,    down · (1 - b) ≤ D⁻ ≤ -low · (1 - b),   b binary where a level is

Its linear relaxation is weak: with b = 1/2 the two columns of a group cancel, and nobody else has to move. But in a
table either D⁺ or D⁻ is zero, so that |D| = D⁺ + D⁻ =: r, and whatever one group of a relation moves the others have to
make up for:

    |ρ_i| r_i ≤ Σ_{j ≠ i} |ρ_j| r_j      for every relation Σ ρ_j D_j = 0 and every group i in it

for groups without a level too, which carry the need on. These cuts, found where they are violated, close most of the
gap (they are what interval protection requires, one relation at a time); more of it close those of `envelopes`, which
look at all levels of a relation at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from sdcdsl.accelerate.cta.senses.envelopes import Envelopes
from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.senses.sense_choice import ReservedShare
from sdcdsl.accelerate.cta.tuning import SEARCH
from sdcdsl.deadline import Deadline
from sdcdsl.numerics.integrality import uncounted
from sdcdsl.numerics.milp import Integral, MixedIntegerProgram
from sdcdsl.numerics.sparse_null_space import size
from sdcdsl.status import FAILED, INFEASIBLE

Cuts = tuple[csr_array, np.ndarray]  # rows over the columns of a model, and what they are at least


@dataclass(frozen=True, eq=False)
class Part:
    """What may change: `columns` bool [group], of the groups with a level `choices` bool [k] may flip."""

    columns: np.ndarray
    choices: np.ndarray


@dataclass(frozen=True, eq=False)
class SenseSolution:
    status: str
    up: np.ndarray | None = None  # bool [k]
    D: np.ndarray | None = None
    objective: float = inf
    bound: float = -inf


class Model:
    """Columns: D⁺, then D⁻ of the groups that may change, extra ones, then b of those that may flip."""

    def __init__(
        self,
        groups: Groups,
        prices: tuple[np.ndarray, np.ndarray],
        part: Part,
        up: np.ndarray,
        D: np.ndarray,
        ends: tuple[np.ndarray, np.ndarray] | None = None,
        extra: int = 0,
    ):
        """`up`, `D`: where everything stands. `ends` [group]: of all solutions that are worth having. `extra` columns
        ≥ 0 with a cost of 1 stand for parts of the objective that rows will tie to D."""
        g = self.groups = groups
        c_down, c_up = prices
        low, high = (g.low, g.high) if ends is None else ends
        choosing = g.sensitive[part.choices]
        open_ended = np.isinf(low[choosing]) | np.isinf(high[choosing])
        self.capped = bool(open_ended.any())  # an end was made up: nothing is proved then
        if self.capped:
            low, high = low.copy(), high.copy()
            low[choosing] = np.maximum(low[choosing], -SEARCH.wide)
            high[choosing] = np.minimum(high[choosing], SEARCH.wide)
        self.ends = low, high
        self.part, self.up, self.D = part, up, D
        self.free = np.flatnonzero(part.columns)
        self.n = len(self.free)
        self.local = np.full(g.count, -1)
        self.local[self.free] = np.arange(self.n)
        self.chosen = np.flatnonzero(part.choices & part.columns[g.sensitive])
        self.k = len(self.chosen)
        self.outside = D.copy()
        self.outside[self.free] = 0.0
        self.rest = float(c_up @ np.maximum(self.outside, 0.0) + c_down @ np.maximum(-self.outside, 0.0))
        self.extra = extra
        self.width = 2 * self.n + extra + self.k
        self.cost = np.concatenate([c_up[self.free], c_down[self.free], np.ones(extra), np.zeros(self.k)])
        self.low, self.high = self._ends()
        self.matrix, self.row_low, self.row_high = self._rows()

    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        g, n = self.groups, self.n
        low = np.zeros(self.width)
        high = np.concatenate(
            [self.ends[1][self.free], -self.ends[0][self.free], np.full(self.extra, inf), np.ones(self.k)]
        )
        given = ~self.part.choices & self.part.columns[g.sensitive]
        s, up = g.sensitive[given], self.up[given]
        at = self.local[s]
        low[at[up]], high[n + at[up]] = g.up[s[up]], 0.0
        low[n + at[~up]], high[at[~up]] = g.down[s[~up]], 0.0
        shut = ~g.open[self.chosen]
        low[self.width - self.k :] = shut[:, 0]
        high[self.width - self.k :] = ~shut[:, 1]
        return low, high

    def _rows(self) -> tuple[csr_array, np.ndarray, np.ndarray]:
        g, n, k = self.groups, self.n, self.k
        mine = csr_array(g.matrix[:, self.free])
        used = np.flatnonzero(np.diff(mine.indptr))
        mine = csr_array(mine[used])
        self.relations = len(used)  # the first rows; then levels up, down, ends up, down, k of each
        equal = -(g.matrix[used] @ self.outside)
        s = g.sensitive[self.chosen]
        at = self.local[s]
        pick = csr_array((np.ones(k), (np.arange(k), at)), shape=(k, n))
        none, gap = csr_array((k, n)), csr_array((k, self.extra))
        most_up, most_down = self.ends[1][s], -self.ends[0][s]
        blocks = [
            hstack([mine, -mine, csr_array((size(mine)[0], self.extra + k))]),
            hstack([pick, none, gap, _diagonal(-g.up[s])]),
            hstack([none, pick, gap, _diagonal(g.down[s])]),
            hstack([pick, none, gap, _diagonal(-most_up)]),
            hstack([none, pick, gap, _diagonal(most_down)]),
        ]
        zero, ends = np.zeros(k), np.full(k, inf)
        low = np.concatenate([equal, zero, g.down[s], -ends, -ends])
        high = np.concatenate([equal, ends, ends, zero, most_down])
        return csr_array(vstack(blocks)), low, high

    def require(self, rows: csr_array, low: np.ndarray, high: np.ndarray) -> None:
        """Further rows, for good."""
        self.matrix = csr_array(vstack([self.matrix, rows]))
        self.row_low, self.row_high = np.concatenate([self.row_low, low]), np.concatenate([self.row_high, high])

    def cuts(self, entries: np.ndarray) -> Cuts:
        """Rows ≥ the second, for the group of each of these entries of `every`."""
        rows = self.groups.every
        of = np.searchsorted(rows.indptr, entries, side="right") - 1
        length = np.diff(rows.indptr)[of]
        entry = np.repeat(rows.indptr[:-1][of] - np.cumsum(length) + length, length) + np.arange(length.sum())
        row = np.repeat(np.arange(len(entries)), length)
        value = np.abs(rows.data[entry])
        value[entry == np.repeat(entries, length)] *= -1.0
        group = rows.indices[entry]
        inside = self.local[group] >= 0
        fixed = np.bincount(row, np.where(inside, 0.0, value * np.abs(self.D[group])), len(entries))
        row, at, value = row[inside], self.local[group[inside]], value[inside]
        index = np.concatenate([at, self.n + at])
        made = csr_array((np.tile(value, 2), (np.tile(row, 2), index)), shape=(len(entries), self.width))
        return made, -fixed

    def left_over(self, envelopes: Envelopes, which: np.ndarray, constant: np.ndarray, slope: np.ndarray) -> Cuts:
        """The cuts of these relations of `envelopes`, with its y₀ and y for all; of a model of all groups."""
        g, rows = self.groups, self.groups.every
        place = np.full(len(g.sensitive), -1)
        place[self.chosen] = self.width - self.k + np.arange(self.k)
        at, column, value, least = [], [], [], np.zeros(len(which))
        for i, r in enumerate(which.tolist()):
            span = slice(rows.indptr[envelopes.relations[r]], rows.indptr[envelopes.relations[r] + 1])
            mine = slice(envelopes.first[r], envelopes.first[r + 1])
            up, down = np.abs(envelopes.up[mine]), np.abs(envelopes.down[mine])
            groups = self.local[rows.indices[span]]
            column += [groups, self.n + groups, place[envelopes.choice[mine]]]
            value += [np.abs(rows.data[span]), np.abs(rows.data[span]), down - up - slope[mine]]
            at.append(np.full(2 * len(groups) + len(up), i))
            least[i] = constant[r] + down.sum()
        if not at:
            return csr_array((0, self.width)), least
        entries = np.concatenate(value), (np.concatenate(at), np.concatenate(column))
        return csr_array(entries, shape=(len(which), self.width)), least

    def all(self, cuts: Cuts | None) -> tuple[csr_array, tuple[np.ndarray, np.ndarray]]:
        """The rows and their ends, with these cuts."""
        if cuts is None:
            return self.matrix, (self.row_low, self.row_high)
        rows, least = cuts
        low, high = np.concatenate([self.row_low, least]), np.concatenate([self.row_high, np.full(len(least), inf)])
        return csr_array(vstack([self.matrix, rows])), (low, high)

    def solve(
        self,
        deadline: Deadline,
        gap: float = 0.0,
        cuts: Cuts | None = None,
        nodes: int | None = None,
        whole: bool = False,
    ) -> SenseSolution:
        """`whole`: all columns are whole numbers, not only b; if they can be counted, or else b alone."""
        matrix, rows = self.all(cuts)
        whole = whole and not uncounted(np.ones(self.width, dtype=bool), self.low, self.high, *rows).any()
        integer = np.arange(self.width) >= (0 if whole else self.width - self.k)
        solved = MixedIntegerProgram(self.cost, self.low, self.high, integer, matrix, *rows).solve(
            **self._start(),
            gap=gap,
            seconds=seconds_on_wall(deadline),
            over=lambda: deadline.expired,
            in_programs=True,
            nodes=nodes,
            primal_tolerance=1e-9,
            integer_tolerance=1e-9,
        )
        deadline.mark_time_dependent(solved.timed)
        return self._made(solved)

    def _start(self) -> dict[str, Any]:
        senses = self.up[self.chosen].astype(float)
        if self.extra:  # HiGHS works them out from the directions
            return {"start": senses, "start_columns": np.arange(self.width - self.k, self.width)}
        D = self.D[self.free]
        return {"start": np.concatenate([np.maximum(D, 0.0), np.maximum(-D, 0.0), senses])}

    def _made(self, solved: Integral) -> SenseSolution:
        if solved.status == INFEASIBLE:
            return SenseSolution(FAILED if self.capped else INFEASIBLE)
        bound = -inf if self.capped else solved.bound + self.rest
        x = solved.x
        if x is None:
            return SenseSolution(solved.status, bound=bound)
        up, D = self.up.copy(), self.D.copy()
        up[self.chosen] = x[self.width - self.k :] > 0.5
        D[self.free] = x[: self.n] - x[self.n : 2 * self.n]
        return SenseSolution(solved.status, up, D, solved.objective + self.rest, bound)


def seconds_on_wall(deadline: Deadline) -> float:
    """HiGHS counts time on the wall, the deadline whatever it counts."""
    rate = deadline.rate if isinstance(deadline, ReservedShare) else 1.0
    return rate * deadline.remaining


def _diagonal(value: np.ndarray) -> csr_array:
    return csr_array((value, (np.arange(len(value)), np.arange(len(value)))), shape=(len(value), len(value)))
