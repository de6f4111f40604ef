"""A pattern that leaves some requirements short, with more cells hidden until it leaves none of them short.

What is hidden besides takes nothing away from anybody: every table that was possible stays possible. So a release whose
audit exposes a few pairs is mended by a cheapest move for each of them, and is as good as any where there is no time to
search again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdcdsl.accelerate.csp.cheapest_direction import Cheapest
from sdcdsl.accelerate.csp.tuning import BOXES
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import DOWN, UP, Instance

HIDDEN = 1e-6  # of the price of a cell: what it costs to move one that is hidden already


def widened(
    instance: Instance, hidden: np.ndarray, pairs: Sequence[int], w: np.ndarray, deadline: Deadline
) -> np.ndarray | None:
    """None if there is no move for one of the pairs, whatever is hidden, or no time to find it."""
    out = hidden.copy()
    cheapest = Cheapest(instance, None if instance.n <= BOXES.whole else BOXES.far)
    least = HIDDEN * float(w[w > 0].min(initial=np.inf)) if (w > 0).any() else HIDDEN
    for pair in pairs:
        slack = instance.slack(int(instance.pair_attacker[pair]))
        for side, sign in ((DOWN, -1), (UP, 1)):
            need = float(instance.level[side, pair])
            if deadline.expired:
                return None
            if need <= 0:
                continue
            price = np.where(out, least, np.maximum(w, least))
            move = cheapest.move(int(instance.pair_cell[pair]), sign, need, slack, price)
            if move is None:
                return None
            out[move[0]] = True
    return out
