"""Requirements that fall short: pairs of attacker and cell, and by how much."""

from __future__ import annotations

import numpy as np

from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.result import Clash

ENOUGH = 1 - 1e-9  # of a level: as audits take levels


def clashes(instance: Instance, reached: np.ndarray) -> list[Clash]:
    """`reached` [DOWN | UP, pair]: how far each attacker can drive the cell."""
    out = []
    for side in (DOWN, UP):
        for pair in np.flatnonzero(reached[side] < instance.level[side] * ENOUGH):
            out.append(Clash(int(pair), side, float(instance.level[side, pair]), float(reached[side, pair])))
    both, listed = reached.sum(axis=0), {clash.pair for clash in out}
    for pair in np.flatnonzero(both < instance.slide * ENOUGH):
        if int(pair) not in listed:
            out.append(Clash(int(pair), None, float(instance.slide[pair]), float(both[pair])))
    return out
