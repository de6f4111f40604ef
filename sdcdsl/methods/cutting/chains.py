"""Several cuts for one side, as if the master had answered each: what a cut lacks is given to its cheapest class, and
the side is asked about again, until it is satisfied. All of the cuts are violated at the point the chain starts from.

A round of the master costs more than many questions, and one side may need dozens of cuts: chains save rounds. The
first question of a chain is as hard as any; the others go on from its answer. On a network the flow stays and what it
leaves is the next network; elsewhere the simplex method starts where it ended.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.methods.cutting.attacks import Answer, FlowAttacks
from sdcdsl.methods.cutting.separation import ENOUGH, Identity, Separation


def interval_chain(separation: Separation, s: int, z: np.ndarray, price: np.ndarray, longest: int) -> list[Identity]:
    """Side `s` with intervals z (down, then up): a class is given room in one direction, at `price` a unit."""
    cell, sign, viewer, need = separation.asked(s)
    n = separation.demands.classes.count
    room = np.concatenate(separation.demands.room(viewer))
    z = np.minimum(z, room)
    question = _Question(separation, cell, sign, need, z[:n], z[n:])
    out: list[Identity] = []
    while len(out) < longest:
        answer = question.ask()
        if answer.cells is None or answer.coefficients is None or question.lacking <= need * ENOUGH:
            break
        out.append(separation.identity(s, viewer, need, answer))
        rising, size = answer.coefficients > 0, np.abs(answer.coefficients)
        at = np.where(rising, n, 0) + answer.cells
        spare = room[at] - z[at]
        some = np.flatnonzero((spare > 1e-9 * need) & (size > 1e-7))
        if not len(some):
            break
        chosen = some[np.argmin(price[at[some]] / size[some])]
        more = min(question.lacking / float(size[chosen]), float(spare[chosen]))
        z[at[chosen]] += more
        k = int(answer.cells[chosen])
        question.widen(k, 0.0 if rising[chosen] else more, more if rising[chosen] else 0.0)
    return out


def share_chain(
    separation: Separation, s: int, x: np.ndarray, price: np.ndarray, longest: int, tolerance: float = 1e-4
) -> list[Identity]:
    """Side `s` with the share x of every class hidden: a class is hidden more, at `price` for all of it."""
    cell, sign, viewer, need = separation.asked(s)
    low, high = (np.minimum(room, need) for room in separation.demands.room(viewer))
    x = x.copy()
    question = _Question(separation, cell, sign, need, low * x, high * x)
    out: list[Identity] = []
    while len(out) < longest:
        answer = question.ask()
        if answer.cells is None or answer.coefficients is None or question.lacking <= need * tolerance:
            break
        out.append(separation.identity(s, viewer, need, answer))
        classes = answer.cells
        gain = np.abs(answer.coefficients) * np.where(answer.coefficients > 0, high[classes], low[classes])
        some = np.flatnonzero((x[classes] < 1 - 1e-9) & (gain > 1e-9 * need))
        if not len(some):
            break
        chosen = some[np.argmin(price[classes[some]] / np.minimum(gain[some], need))]
        k = int(classes[chosen])
        more = min(1.0 - float(x[k]), question.lacking / float(gain[chosen]))
        x[k] += more
        question.widen(k, more * float(low[k]), more * float(high[k]))
    return out


class _Question:
    """One side in capacities that only grow."""

    def __init__(self, separation: Separation, cell: int, sign: int, need: float, down: np.ndarray, up: np.ndarray):
        self.cell, self.sign, self.need, self.lacking = cell, sign, need, need
        self._attacks = separation.attacks
        self._flows = self._attacks if isinstance(self._attacks, FlowAttacks) else None
        self._down, self._up = self._flows.box(down, up) if self._flows else (down.copy(), up.copy())

    def ask(self) -> Answer:
        if self._flows is None:
            answer = self._attacks.ask(self.cell, self.sign, self.need, self._down, self._up)
            self.lacking = self.need - answer.reached
            return answer
        answer = self._flows.within(self.cell, self.sign, self.lacking, self._down, self._up)
        self.lacking -= answer.reached
        self._down[answer.moved] -= answer.move
        self._up[answer.moved] -= answer.move
        return answer

    def widen(self, k: int, down: float, up: float) -> None:
        if self._flows is None:
            self._down[k] += down
            self._up[k] += up
        else:
            grid = self._flows.grid
            self._down[k] -= np.ceil(down / grid) * grid
            self._up[k] += np.ceil(up / grid) * grid
