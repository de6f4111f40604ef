"""One move for all levels at once: valid intervals within seconds, at any size.

A deviation D of the whole table (M D = 0) that takes every class with a level as far as its highest level asks,
whichever way, and whose negative fits as well, shows to everybody what they need: the intervals [-|D|, |D|] hold both.
Its cost is Σ (w⁻ + w⁺) |D|, so that the best such move is a closest table with free senses (paper 004 (3)), and
sensitive cells of one relation serve each other. Classes that leave too little slack for their own level both ways are
left to repairs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcdsl.accelerate.cta.senses.search import SenseSearch
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.ip.tuning import TUNING
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.numerics.nearest.additive import additive


class JointAdjustment:
    """Started with `first`, which takes moments; `better` goes on from there."""

    def __init__(
        self, demands: CutRequirements, cost: np.ndarray, deadline: Deadline, widest: np.ndarray | None = None
    ):
        """`cost` [class]: of a unit of |D|; `widest` [class]: what z⁻ + z⁺ may be."""
        slack = np.min([np.minimum(low, high) for low, high in demands.slacks], axis=0)
        if widest is not None:
            slack = np.minimum(slack, 0.5 * widest)
        self.unit, self._deadline = demands.unit, deadline
        cells, level = _highest(demands)
        fits = level <= slack[cells]
        cells, level = cells[fits], level[fits]
        self._slack, self._adjustment = slack, None
        self._search: SenseSearch | None = None
        if len(cells):
            n = demands.classes.count
            self._adjustment = Adjustment(
                demands.classes.matrix.sparse.tocsr(),
                np.zeros(n),
                cost,
                cost,
                -slack,
                slack,
                cells,
                level,
                level,
                np.zeros(len(cells), dtype=np.int8),
            )
            self._search = SenseSearch(self._adjustment, cost, cost, 0.0, deadline)

    def first(self) -> np.ndarray | None:
        """D [class], from the quickest choice of senses; None if it leads nowhere."""
        search = self._search
        if search is None or len(search.groups.hopeless):
            return None
        search.started(self._deadline)
        return self._move()

    def better(self, deadline: Deadline, shown: Callable[[np.ndarray], None], enough: Callable[[], bool]) -> None:
        """Flips of single classes, then blocks of them, as long as that brings anything: `shown` gets moves that are
        better by more than a little, and the last one."""
        search = self._search
        if search is None or search.best is None:
            return
        last = search.best.objective

        def show() -> None:
            nonlocal last
            move = self._move()
            if search.best is not None and move is not None and search.best.objective < last:
                last = search.best.objective
                shown(move)

        def better(objective: float, table: object) -> None:
            if search.best is not None and search.best.objective < last * (1 - TUNING.gain):
                show()

        search.shown = better
        search.flipped(deadline)
        show()
        if not enough() and not deadline.expired:
            search.blocked(deadline)
            show()

    def _move(self) -> np.ndarray | None:
        """Where no choice keeps all levels, what misses the least of them still serves the others."""
        search, a = self._search, self._adjustment
        if search is None or a is None or search.begun is None:
            return None
        point = search.best or search.begun.missed
        if point is None:
            return None
        return additive(a.M, search.groups.to_cells(point.D), -self._slack, self._slack, self.unit)


def _highest(demands: CutRequirements) -> tuple[np.ndarray, np.ndarray]:
    """Classes with a level, and the highest of their levels; half of what a slide requires."""
    levels, slides = demands.levels, demands.slides
    of = np.concatenate([levels.cell, slides.cell])
    need = np.concatenate([levels.need, 0.5 * slides.need])
    cells, at = np.unique(of, return_inverse=True)
    most = np.zeros(len(cells))
    np.maximum.at(most, at, need)
    return cells, most
