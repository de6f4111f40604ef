"""The row of a cut: for each class of an identity the least of what the viewer knows, what is published, and what
hiding allows at the point where it was found. Each of them is right everywhere, so that any choice is.

    Σ_i c_i⁺ min(UB_i, up_i(u)) + c_i⁻ min(LB_i, down_i(u)) ≥ level
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Identity
from sdcdsl.accelerate.forms.bounds import common_step, on_grid
from sdcdsl.methods.forms.decisions import DecisionProblem
from sdcdsl.numerics.master import Row

# Of a level: where continuous columns can give it, cuts require so much more, so that what comes back from a solver
# still reaches the level. Whole numbers reach it or do not.
MARGIN = 1e-8


class CutRows:
    def __init__(self, problem: DecisionProblem, demands: CutRequirements):
        self.problem, self.demands = problem, demands
        self.margin, self.used_margin = MARGIN, False
        self._soft = ~problem.integer & (problem.lower < problem.upper)

    def row(self, identity: Identity, u: np.ndarray, down: np.ndarray, up: np.ndarray) -> Row:
        """Constants go to the right hand side; all is in levels. Of whole x, Σ c x is a multiple of what all c are
        multiples of, and so is the least that is enough."""
        p, need = self.problem, identity.need
        low, high = self.demands.slack(identity.viewer)
        constant = 0.0
        columns: list[np.ndarray] = []
        values: list[np.ndarray] = []
        for (classes, c), upward, slack in ((identity.up, True, high), (identity.down, False, low)):
            for k, times in zip(classes.tolist(), c.tolist(), strict=True):
                terms = self._terms(k, upward, float(slack[k]), times, need, u, down, up)
                kind, cell, value, is_up = min(terms, key=lambda t: t[2])
                if kind == "known":
                    constant += value
                elif kind == "hidden":
                    columns.append(np.array([p.hide[cell]]))
                    values.append(np.array([min(times * slack[k], need)]))
                else:
                    matrix, first = (p.up, p.up_0) if is_up else (p.down, p.down_0)
                    part = slice(matrix.indptr[cell], matrix.indptr[cell + 1])
                    columns.append(matrix.indices[part])
                    values.append(times * matrix.data[part])
                    constant += times * float(first[cell])
        column, place = np.unique(np.concatenate(columns or [np.zeros(0, dtype=np.int64)]), return_inverse=True)
        value = np.bincount(place, weights=np.concatenate(values or [np.zeros(0)]), minlength=len(column))
        value = value * p.unit[column]
        left = need - constant
        if p.integer[column].all():
            left = on_grid(left, common_step(value))
        elif (self._soft[column] & (value > 0)).any() and left > 0:
            left += self.margin * need
            self.used_margin |= self.margin > 0
        return column, value / need, left / need

    def _terms(self, k: int, upward: bool, slack: float, times: float, need: float, u, down, up):
        """What bounds a class from one side: (kind, cell, value at the point, whether it is the cell's upper
        requirement)."""
        classes = self.demands.classes
        out: list[tuple[str, int, float, bool]] = [("known", -1, times * slack, upward)]
        for cell in self._members[k]:
            is_up = upward == (classes.factor[cell] > 0)
            hide = self.problem.hide[cell]
            if hide >= 0:
                share = float(np.clip(u[hide], 0.0, 1.0))
                out.append(("hidden", cell, min(times * slack, need) * share if share > 0 else 0.0, is_up))
            elif not self.demands.instance.open_anyway[cell]:
                out.append(("box", cell, times * float((up if is_up else down)[cell]), is_up))
        return out

    @cached_property
    def _members(self) -> list[list[int]]:
        """The cells of each class."""
        out: list[list[int]] = [[] for _ in range(self.demands.classes.count)]
        for cell in np.flatnonzero(self.demands.classes.of >= 0).tolist():
            out[self.demands.classes.of[cell]].append(cell)
        return out
