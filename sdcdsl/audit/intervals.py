"""What an attacker can tell about every pair's cell, and what is proved about the ends of that interval.

An end is *exact* where a table reaches it and a bound lets none go further (`proof.ends`). Otherwise it is one of the
two: the interval reaches *at least* so far, which a table shows, or *at most*, which a bound shows. The second is said
of sides that fall short of their level, since that is what the verdict rests on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdcdsl.attack.task import DOWN, UP
from sdcdsl.audit.proving import Proofs
from sdcdsl.proof.exact import TOLERANCE

EXACT, AT_LEAST, AT_MOST = "exact", "at least", "at most"
DIGITS = 12  # of a distance: what lies behind them depends on the way an engine went
HARDLY = 1e-3  # of a level: what tables within its tolerance show below that is not shown
NEARLY = 0.05  # of a unit, at most: what a distance may lack to count as a whole number


@dataclass(frozen=True, eq=False)
class Intervals:
    """`exact_required`: exact ends were. Otherwise nothing is called exact. `integer`: the ends are whole numbers."""

    proofs: Proofs
    exact_required: bool
    integer: bool

    @property
    def low(self) -> np.ndarray:
        return self.proofs.values - self._distance[DOWN]

    @property
    def high(self) -> np.ndarray:
        return self.proofs.values + self._distance[UP]

    @cached_property
    def kind(self) -> np.ndarray:
        """[2, pair], below and above: exact, at least or at most."""
        return np.where(self._exact, EXACT, np.where(self.short, AT_MOST, AT_LEAST))

    @cached_property
    def short(self) -> np.ndarray:
        """[2, pair]: sides that are proved to fall short, alone or together."""
        proofs, pairs = self.proofs, self.proofs.problem.pairs
        wide = proofs.most_down + proofs.most_up < pairs.spl * (1 - TOLERANCE)
        below = proofs.most_down < pairs.lpl * (1 - TOLERANCE)
        above = proofs.most_up < pairs.upl * (1 - TOLERANCE)
        return np.stack([below | wide, above | wide])

    @cached_property
    def _exact(self) -> np.ndarray:
        if not self.exact_required:
            return np.zeros_like(self.most, dtype=bool)
        if self.integer:
            return (self._least >= self.most) | self.proofs.exact
        return self.proofs.exact

    @cached_property
    def _distance(self) -> np.ndarray:
        return np.where(self._exact | self.short, self.most, self._least)

    @cached_property
    def most(self) -> np.ndarray:
        """[2, pair]: no table goes further below, or above, the true value."""
        proofs = self.proofs
        most = np.minimum(proofs.most, np.stack([proofs.most_down, proofs.most_up]))
        return whole(most) if self.integer else rounded(most)

    @cached_property
    def _least(self) -> np.ndarray:
        """What the ends were checked for, and what the verdict rests on, which is measured by the level."""
        proofs = self.proofs
        level = np.stack([proofs.problem.levels_down, proofs.problem.levels_up])
        shown = np.stack([proofs.down, proofs.up])
        shown = np.where((shown >= HARDLY * level) | np.isinf(level), shown, 0.0)
        least = np.maximum(proofs.least, np.minimum(shown, proofs.most))
        return np.minimum(whole(least), self.most) if self.integer else rounded(least)


def spelled(low: str, high: str, low_is: str, high_is: str) -> str:
    """An interval for people, with what is proved of its ends."""
    if low_is == high_is == EXACT:
        return f"{low} .. {high}"
    below, above = (
        {EXACT: "", AT_LEAST: " or less", AT_MOST: " or more"},
        {EXACT: "", AT_LEAST: " or more", AT_MOST: " or less"},
    )
    said = {low_is, high_is} - {EXACT}
    width = f" ({said.pop()} this wide)" if len(said) == 1 else ""
    return f"{low}{below[low_is]} .. {high}{above[high_is]}{width}"


def rounded(distance: np.ndarray) -> np.ndarray:
    flat = [float(f"{x:.{DIGITS}g}") for x in distance.ravel().tolist()]
    return np.array(flat, dtype=float).reshape(distance.shape)


def whole(distance: np.ndarray) -> np.ndarray:
    """For who knows that values are whole numbers: the last one on the way."""
    return np.floor(distance + np.minimum(TOLERANCE * np.maximum(distance, 1.0), NEARLY))
