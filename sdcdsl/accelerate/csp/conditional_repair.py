"""Patterns with conditional levels: those of the base, mended until no hidden cell falls short of a level of its own.

Where one does there are two ways: protect it like a sensitive cell, or publish it. Either is tried throughout, the
other one where that leads nowhere; the cheaper result counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sdcdsl.accelerate.csp.box_state import Move
from sdcdsl.accelerate.csp.heuristics import Found, SuppressionHeuristic
from sdcdsl.accelerate.csp.tuning import DRIVER
from sdcdsl.deadline import Deadline
from sdcdsl.methods.conditional_levels import Conditions
from sdcdsl.methods.instance import Instance


class ConditionalRepair:
    """A finder of patterns that are valid with conditional levels; `make` gives one for ordinary levels."""

    def __init__(self, conditions: Conditions, make: Callable[[Instance], SuppressionHeuristic], deadline: Deadline):
        self.conditions, self.make, self.deadline = conditions, make, deadline
        self._base = make(conditions.base)
        self._best: Found | None = None
        self._seen: set[bytes] = set()

    def first(self, hidden: np.ndarray | None = None, moves: Sequence[Move] = ()) -> Found | None:
        return self._mended(self._base.first(hidden))

    @property
    def bounded(self) -> bool:
        return self._base.bounded

    @property
    def gaining(self) -> bool:
        return False

    @property
    def tells_no_sums(self) -> bool:
        return False

    def better(self, deadline: Deadline) -> Found | None:
        found = self._base.better(deadline)
        return None if found is None else self._mended(found) or self._best

    def complete(self, hidden: np.ndarray, price: np.ndarray | None = None) -> Found | None:
        return self._mended(self._base.complete(hidden, price))

    def require(self, instance: Instance) -> Found | None:
        return None

    def proves(self, hidden: np.ndarray) -> bool:
        return False

    def known_moves(self) -> list[Move]:
        return []

    def _mended(self, found: Found | None) -> Found | None:
        if found is None or (self._best is not None and found[1] >= self._best[1]):
            return None
        key = found[0].tobytes()
        if key in self._seen:
            return None
        self._seen.add(key)
        made = [one for one in (self._settled(found, publish) for publish in (False, True)) if one is not None]
        best = min(made, key=lambda one: one[1], default=None)
        if best is not None and (self._best is None or best[1] < self._best[1]):
            self._best = best
        return best

    def _settled(self, found: Found | None, publish: bool) -> Found | None:
        """Cells that fall short are published, or else protected."""
        of = self.conditions
        more, may_open = np.zeros(len(of.ordinary), dtype=bool), of.may_open.copy()
        for _ in range(DRIVER.repair_steps):
            if found is None or self.deadline.expired:
                return None
            short = of.short(found[0])
            if not len(short):
                return found
            found = None
            for way in (publish, not publish):
                trial, opens = of.decided(more, may_open, short, way)
                found = self.make(of.asking(trial, opens)).first()
                if found is not None:
                    more, may_open = trial, opens
                    break
        return None
