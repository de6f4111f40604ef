"""Sliding levels as levels up and down."""

from __future__ import annotations

from math import inf

import numpy as np

from sdcdsl.methods.instance import DOWN, UP, Instance, Requirements


def requirements_with(instance: Instance, share_up: float) -> Requirements:
    """The requirements, with what sliding levels require beyond the other two divided between up and down."""
    need = instance.level.copy()
    extra = instance.slide - need.sum(axis=0)
    for pair in np.flatnonzero(extra > 0):
        down, up = _own_slack(instance, int(pair))
        more_up = min(share_up * extra[pair], max(up - need[UP, pair], 0.0))
        more_down = min(extra[pair] - more_up, max(down - need[DOWN, pair], 0.0))
        need[DOWN, pair] += more_down
        need[UP, pair] += extra[pair] - more_down
    side, pair = np.nonzero(need > 0)
    return Requirements(pair, side, instance.pair_cell[pair], instance.pair_attacker[pair], need[side, pair])


def _own_slack(instance: Instance, pair: int) -> tuple[float, float]:
    cell, attacker = int(instance.pair_cell[pair]), int(instance.pair_attacker[pair])
    view = instance.view_of[attacker]
    down, up = float(instance.LB[view, cell]), float(instance.UB[view, cell])
    cells, LB, UB = instance.known(attacker)
    mine = np.flatnonzero(cells == cell)
    return min([down, *LB[mine]], default=inf), min([up, *UB[mine]], default=inf)
