"""Directions read off the relaxation: b that are nearly decided are fixed, the others follow, a few at a time.

The relaxation with its cuts (`envelopes`) sees what a direction means for all levels around it, which flips of single
groups do not: what flips and small blocks leave, a few dives of a third of a second find. A little chance makes dives
from the same node differ. All but the first stay near the best directions known: where the relaxation agrees with them,
most are kept.
"""

from __future__ import annotations

from math import inf

import numpy as np

from sdcdsl.accelerate.cta.senses.relaxation import Relaxation
from sdcdsl.accelerate.cta.tuning import DIVE
from sdcdsl.deadline import Deadline


class Dives:
    def __init__(self, relaxation: Relaxation, seed: int):
        self.relaxation, self.chosen = relaxation, relaxation.model.chosen
        self.random = np.random.default_rng(seed)
        self.many = 0

    def from_node(self, low: np.ndarray, high: np.ndarray, best: np.ndarray, deadline: Deadline) -> np.ndarray | None:
        """bool [k of the model]: which go up; None where it leads to nothing. `low`, `high`: the ends of b, `best`: the
        best directions so far."""
        relaxation, low, high = self.relaxation, low.copy(), high.copy()
        self.many += 1
        near = self.many > 1
        while True:
            relaxation.choose(low, high)
            made = relaxation.solve(deadline)
            if made is None or made == inf or deadline.expired:
                return None
            b, is_open = relaxation.b, low < high
            if not is_open.any():
                return low > 0.5
            off = np.abs(b - np.rint(b))
            if near:
                chosen = is_open & ((b > 0.5) == best) & (self.random.random(len(b)) < DIVE.kept)
                near = False
            else:
                order = np.argsort(off + DIVE.chance * self.random.random(len(b)) + 2.0 * ~is_open, kind="stable")
                chosen = is_open & (off < DIVE.sure)
                chosen[order[: max(1, int(DIVE.share * is_open.sum()))]] = True
            low[chosen] = high[chosen] = b[chosen] > 0.5
            relaxation.missing()
