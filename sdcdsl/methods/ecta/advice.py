"""What to say when α is too small: for single cells, for all of them together, against the attackers.

The three are asked in this order, each only if the one before leaves nothing to say:

    the ranges of `ranges`, cell by cell          no draw can give a cell its own levels
    the same with the relations                   every cell has a range, but no additive table lies in all of them
    the widest region of any table                an attacker comes too near whatever is drawn

Each has a smallest α; below it no table protects. That one exists above it is for the tries to show.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.ecta.ranges import Own, ValueRanges

CLOSE = 1 + 1e-9  # α may be so much below the smallest: rounding
HALVINGS = 20
NAMED = 5


class Advice:
    def __init__(self, problem: TableProblem, own: Own, alpha: float):
        self.problem, self.own, self.alpha = problem, own, alpha
        self.smallest_of = own.smallest()
        self.smallest = float(self.smallest_of.max(initial=0.0))

    @property
    def too_small(self) -> bool:
        return self.smallest > self.alpha * CLOSE

    def facts(self) -> dict[str, Any]:
        return {"smallest alpha": self.smallest if np.isfinite(self.smallest) else None}

    def of_single_cells(self) -> tuple[str, ...]:
        short = np.flatnonzero(self.smallest_of > self.alpha * CLOSE)
        worst = short[np.argsort(-self.smallest_of[short], kind="stable")]
        never = worst[np.isinf(self.smallest_of[worst])]
        more = "" if len(worst) <= NAMED else f" and {len(worst) - NAMED} more"
        if len(never):
            cells = ", ".join(self._label(at) for at in never[:NAMED])
            more = "" if len(never) <= NAMED else f" and {len(never) - NAMED} more"
            return (f"no α allows the levels within the bounds of {cells}{more}",)
        cells = ", ".join(f"{self._label(at)} ({_percent(float(self.smallest_of[at]))})" for at in worst[:NAMED])
        return (
            f"α {_percent(self.alpha)} is too small for the levels of {_cells(len(worst))}: the smallest that is enough"
            f" for each is {_percent(self.smallest)}",
            f"by cell: {cells}{more}",
        )

    def of_all_cells(self, any_table: Callable[[ValueRanges], bool]) -> tuple[str, ...]:
        """No table adds up within the ranges; `any_table` says whether one does for others."""
        smallest = self._least(lambda alpha: any_table(self.own.allowed(alpha)))
        if smallest is None:
            return (
                "no additive table lies within what levels, bounds, fixed cells and the largest β allow, for any α",
            )
        self.smallest = smallest
        return (
            f"every sensitive cell has values that α {_percent(self.alpha)} allows, but no additive table has such ones"
            f" in all of them; the smallest α for which there is one is {_percent(smallest)}",
        )

    def of_pairs(self, enough: Callable[[float], bool]) -> tuple[str, ...]:
        """Attackers come too near in the widest region; `enough` says whether they do not for another α."""
        smallest = self._least(enough)
        if smallest is None:
            return ("a larger α does not help: no table with α and β protects these cells",)
        self.smallest = smallest
        return (
            f"no table with α {_percent(self.alpha)} protects these cells, whatever is drawn; α must be at least"
            f" {_percent(smallest)}",
        )

    def _least(self, fits: Callable[[float], bool]) -> float | None:
        few, many = self.alpha, 1.0
        if not fits(many):
            return None
        for _ in range(HALVINGS):
            middle = (few + many) / 2
            few, many = (few, middle) if fits(middle) else (middle, many)
        return many

    def _label(self, at: int) -> str:
        return self.problem.label(int(self.own.cells[at]))


def _percent(share: float) -> str:
    """Rounded up, so that what is advised is enough."""
    return f"{ceil(share * 1e6 - 1e-4) / 1e4:g} %"


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
