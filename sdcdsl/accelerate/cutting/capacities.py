"""How far classes can move at a point of a master problem."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from sdcdsl.accelerate.cutting.requirements import CutRequirements


class Capacities:
    """The slack D has at a point: the least of what the release leaves (down, up), what the viewer leaves, and `share`
    times the level of the requirement asked about, if that is given (for CSP, where a cell that may go further than the
    level is no better than one that goes as far)."""

    def __init__(self, demands: CutRequirements, down: np.ndarray, up: np.ndarray, share: np.ndarray | None = None):
        self.demands, self.down, self.up, self.share = demands, down, up, share
        self._cache: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._last: tuple[tuple[int, float], tuple[np.ndarray, np.ndarray]] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what every point has in common."""
        return {**self.__dict__, "demands": None, "_cache": {}, "_last": None}

    def within(self, demands: CutRequirements) -> Self:
        """The same, where it has arrived without them."""
        if self.demands is not None:
            return self
        other = copy(self)
        other.demands = demands
        return other

    def of_viewer(self, viewer: int) -> tuple[np.ndarray, np.ndarray]:
        if viewer not in self._cache:
            if len(self._cache) > 64:
                self._cache.clear()
            low, high = self.demands.slack(viewer)
            if self.share is not None:  # slack times share
                with np.errstate(invalid="ignore"):
                    low, high = (np.where(self.share > 0, r * self.share, 0.0) for r in (low, high))
                self._cache[viewer] = low, high
            else:
                self._cache[viewer] = np.minimum(low, self.down), np.minimum(high, self.up)
        return self._cache[viewer]

    def at(self, viewer: int, need: float) -> tuple[np.ndarray, np.ndarray]:
        """The very same arrays where the next level is as large: attacks know them again."""
        low, high = self.of_viewer(viewer)
        if self.share is None:
            return low, high
        if self._last is None or self._last[0] != (viewer, need):
            clip = need * self.share
            self._last = (viewer, need), (np.minimum(low, clip), np.minimum(high, clip))
        return self._last[1]
