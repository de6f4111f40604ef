"""Random numbers that are the same on every machine and with every version of numpy.

What numpy promises to keep is the stream of raw 64-bit numbers of PCG64; how it makes normal or other numbers of them
may change. So everything here is made of the raw stream, by plain arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray


class Draws:
    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def uniform(self, count: int) -> Array:
        """Above 0 and below 1, so that logarithms and powers are finite."""
        return ((self._bits.random_raw(count) >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52

    def normal(self, count: int) -> Array:
        """Standard normal, by Box and Muller."""
        return np.sqrt(-2 * np.log(self.uniform(count))) * np.cos(2 * np.pi * self.uniform(count))

    def choice(self, shares: Sequence[float] | Array, count: int) -> Array:
        """Positions, each as often as its share asks for."""
        edges = np.cumsum(np.asarray(shares, float))
        at = np.searchsorted(edges, self.uniform(count) * edges[-1], side="right")
        return np.minimum(at, len(edges) - 1)

    def chance(self, likely: float | Array, count: int) -> Array:
        """Yes or no."""
        return self.uniform(count) < likely
