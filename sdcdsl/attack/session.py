"""The one question of this field: how low and how high can an attacker drive a cell, given what is published?

    session = Session(a, coefficient, cell_of, equation_of, low, high)
    session.range(cell)        # low, high, the tables that reach them, and why there is no more

`low` and `high` are the attacker's box: what is published, and what the attacker knows beforehand. The true table `a`
lies in it. Components and engines are made when a question needs them, and kept for the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from sdcdsl.attack.engine import Answer, Engine
from sdcdsl.attack.engine_choice import engine_for
from sdcdsl.attack.reduction import Component, ReducedRelations, Reduction


@dataclass(frozen=True, eq=False)
class Direction:
    """Where the table moves: cells and by how much."""

    cells: np.ndarray
    move: np.ndarray


@dataclass(frozen=True, eq=False)
class Proof:
    """d_p, for the lower end -d_p, is Σ c_i d_i for every table, with c = ±e_p - Mᵀγ; `amount` is what that allows."""

    equations: np.ndarray
    gamma: np.ndarray
    amount: float


@dataclass(frozen=True, eq=False)
class CellRange:
    low: float
    high: float
    down: Direction  # a + move is a table at the lower end; a ray if there is no lower end
    up: Direction
    lower_bound: Proof | None  # None where there is no end
    upper_bound: Proof | None


class Session:
    def __init__(
        self,
        a: np.ndarray,
        coefficient: np.ndarray,
        cell_of: np.ndarray,
        equation_of: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        engine: str | None = None,
    ):
        equations = int(equation_of.max()) + 1 if len(equation_of) else 0
        self.relations = ReducedRelations(coefficient, cell_of, equation_of, len(a), equations)
        self.a, self.l, self.u = a, *around(a, low, high)
        self.reduction = Reduction(self.relations, self.l, self.u)
        self._questions = engine
        self._engines: dict[int, tuple[Component, Engine]] = {}

    def range(self, cell: int) -> CellRange:
        number = int(self.reduction.of[cell])
        if number < 0:
            return self._still(cell)
        if number not in self._engines:
            component = self.reduction.component(number)
            self._engines[number] = component, engine_for(component, self._questions)
        component, engine = self._engines[number]
        local = int(np.searchsorted(component.cells, cell))
        down, up = engine.push(local, -1), engine.push(local, 1)
        return CellRange(
            low=float(self.a[cell] - down.reached),
            high=float(self.a[cell] + up.reached),
            down=_direction(component, down),
            up=_direction(component, up),
            lower_bound=self._proof(component, down),
            upper_bound=self._proof(component, up),
        )

    def _still(self, cell: int) -> CellRange:
        """A cell that cannot move: a narrow box, or relations that leave it alone with known cells."""
        nowhere = Direction(np.zeros(0, dtype=np.int64), np.zeros(0))
        value = float(self.a[cell])
        return CellRange(value, value, nowhere, nowhere, None, None)

    @staticmethod
    def _proof(component: Component, answer: Answer) -> Proof | None:
        identity = answer.multipliers()
        if identity is None or answer.reached == inf:
            return None
        return Proof(component.equations[identity[0]], identity[1], float(answer.reached))


def _direction(component: Component, answer: Answer) -> Direction:
    return Direction(component.cells[answer.cells], answer.move)


def around(a: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The box as slack around the truth, which lies in it (within rounding)."""
    return np.minimum(low - a, 0.0), np.maximum(high - a, 0.0)
