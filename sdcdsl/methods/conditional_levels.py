"""Conditional levels (paper 003 §7): a cell that is not sensitive has a level if it is not published as it is.

    Figure 3 with  f_p ≥ a_p + UPL x_p,   g_p ≤ a_p - LPL x_p,   f_p - g_p ≥ SPL x_p

What is asked of every release is the *base*: a release that is valid and touches cells whose own level falls short is
not a solution, though its cost is a bound. To take such a level for an ordinary one, or to publish its cell, restricts
the problem: what solves that is valid if nothing else falls short.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from sdcdsl.methods.instance import Instance
from sdcdsl.methods.pattern_check import falling_short
from sdcdsl.methods.tuning import TUNING


class Conditions:
    """`base`: only the levels that hold in any case. `aside`: only the others, of cells that may be touched."""

    def __init__(self, whole: Instance):
        self.whole = whole
        self.ordinary: np.ndarray = ~whole.conditional
        self.may_open = whole.may_open.copy()
        while self._aside_of(self.may_open).sum() <= TUNING.conditional:
            aside = whole.asking(self._aside_of(self.may_open), self.may_open)
            never = np.array([clash.pair for clash in falling_short(aside, self.may_open)], dtype=np.int64)
            if not len(never):
                break
            self.may_open[whole.pair_cell[never]] = False
        self.base = whole.asking(self.ordinary, self.may_open)
        self.aside = whole.asking(self._aside_of(self.may_open), self.may_open)

    def _aside_of(self, touched: np.ndarray) -> np.ndarray:
        return self.whole.conditional & touched[self.whole.pair_cell]

    def asking(self, more: np.ndarray, may_open: np.ndarray | None = None) -> Instance:
        """The base with `more` pairs (bool) taken for ordinary ones, and perhaps fewer cells to open."""
        return self.whole.asking(self.ordinary | more, self.may_open if may_open is None else may_open)

    def of_touched(self, touched: np.ndarray) -> Instance:
        """All levels of a release that touches these cells."""
        return self.asking(self._aside_of(touched))

    def decided(
        self, more: np.ndarray, may_open: np.ndarray, pairs: np.ndarray, publish: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """`more` and `may_open` of another restriction: the cells of these pairs are published, or the pairs are taken
        for ordinary ones."""
        more, may_open, cells = more.copy(), may_open.copy(), self.whole.pair_cell[pairs]
        if publish:
            may_open[cells] = False
            more[np.isin(self.whole.pair_cell, cells)] = False
        else:
            more[pairs] = True
        return more, may_open

    def short(self, hidden: np.ndarray) -> np.ndarray:
        """Conditional pairs that count when these cells are hidden, and fall short."""
        mine = self._aside_of(hidden)
        if not mine.any():
            return np.zeros(0, dtype=np.int64)
        clashes = falling_short(self.whole.asking(mine, self.may_open), hidden)
        return np.unique([clash.pair for clash in clashes]).astype(np.int64)


def settled(instance: Instance, always: np.ndarray, never: np.ndarray) -> Instance:
    """Where it is known of some cells that every release touches them, or that none does: a level of the first is one
    like any other, a level of the second requires nothing."""
    if not instance.conditional.any():
        return instance
    other = copy(instance)
    other.__dict__.pop("requirements", None)
    void = instance.conditional & never[instance.pair_cell]
    other.level, other.slide = np.where(void, 0.0, instance.level), np.where(void, 0.0, instance.slide)
    other.conditional = instance.conditional & ~(always | never)[instance.pair_cell]
    return other


def conditions_of(instance: Instance) -> Conditions | None:
    return Conditions(instance) if instance.conditional.any() else None
