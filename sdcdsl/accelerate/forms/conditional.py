"""Levels that hold where a column is 1 (paper 003 §7): of cells that may be hidden, or have an interval, and need not.

    Σ_i c_i⁺ min(UB_i, up_i(u)) + c_i⁻ min(LB_i, down_i(u)) ≥ level · x_p

A rounded or perturbed cell is not published as it is, whatever its value: its levels hold always (`conditions.settled`)
and do not appear here. Of cells that move together each has its own level and column: one of them may be published.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcdsl.accelerate.cutting.separation import Capacities, Identity, Separation
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.numerics.aggregation import FIXED
from sdcdsl.numerics.master import Row

NONE = 1e-6  # a column below this is 0

Level = tuple[int, tuple[int, ...], int, float, int]  # class, ways to go, viewer, what they must give, column


class IfTouched:
    def __init__(self, instance: Instance, separation: Separation, touching: np.ndarray):
        """`touching` [cell]: the column that says whether it is touched."""
        self.separation, demands = separation, separation.demands
        number = {key: n for n, key in enumerate(demands.viewers)}
        found: dict[tuple[int, int, int], Level] = {}
        barred = []
        classes = demands.classes
        for pair in np.flatnonzero(instance.conditional).tolist():
            cell, attacker = int(instance.pair_cell[pair]), int(instance.pair_attacker[pair])
            view, column = int(instance.view_of[attacker]), int(touching[cell])
            of = int(classes.of[cell])
            for side, need in self._levels_of(instance, pair):
                if of == FIXED:
                    barred.append(column)
                    continue
                viewer = number[(view, attacker) if (view, attacker) in number else (view, -1)]
                turn = int(classes.factor[cell])
                ways = {UP: (turn,), DOWN: (-turn,)}.get(side, (1, -1))
                key = cell, side, viewer
                if key not in found or need > found[key][3]:
                    found[key] = of, ways, viewer, need, column
        self.levels = list(found.values())
        self.barred = np.unique(barred).astype(np.int64)  # columns of cells that can never have their level

    @staticmethod
    def _levels_of(instance: Instance, pair: int) -> list[tuple[int, float]]:
        lpl, upl, spl = float(instance.level[DOWN, pair]), float(instance.level[UP, pair]), float(instance.slide[pair])
        out = [(DOWN, lpl), (UP, upl), (2, spl if spl > lpl + upl else 0.0)]
        return [(side, need) for side, need in out if need > 0]

    def missed(
        self, point: Capacities, u: np.ndarray, tolerance: float, over: Callable[[], bool] = lambda: False
    ) -> list[tuple[Identity, int]]:
        """Identities that show a level missed, each with the column it holds for."""
        out: list[tuple[Identity, int]] = []
        for number, (cell, ways, viewer, need, column) in enumerate(self.levels):
            share = float(min(u[column], 1.0))
            if share <= NONE:
                continue
            if over():
                break
            slack = point.at(viewer, need)
            answers = [self.separation.attacks.ask(cell, sign, need, *slack) for sign in ways]
            enough = need * share * (1 - tolerance)
            if sum(answer.reached for answer in answers) >= enough:
                continue
            # A small level in wide slacks may be missed by a rounding error of the move alone: the proof has none.
            identity = self.separation.identity(number, viewer, need, *answers)
            if self.separation.value(identity, point) < enough:
                out.append((identity, column))
        return out


def held_if(row: Row, p: int, lower: np.ndarray, upper: np.ndarray) -> Row:
    """A row Σ c x ≥ b for solutions with x_p = 1, as one that says nothing where x_p = 0: all that Σ c x can be at
    least is what the ends of the columns say."""
    columns, c, b = row
    with np.errstate(invalid="ignore"):
        ends = np.where(c > 0, lower[columns], upper[columns]) * c
    least = float(np.where(c == 0, 0.0, ends).sum())
    if least >= b:
        return np.array([p]), np.zeros(1), 0.0
    own = columns == p
    return np.append(columns[~own], p), np.append(c[~own], float(c[own].sum()) - (b - least)), least
