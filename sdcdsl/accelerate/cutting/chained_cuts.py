"""Several cuts for one side, as if the master had answered each: what a cut lacks is given to its cheapest class, and
the requirement is asked about again, until it is satisfied. All of the cuts are violated at the point the chain starts
from.

A round of the master costs more than many questions, and one side may need dozens of cuts: chains save rounds. The
first question of a chain is as hard as any; the others go on from its answer. On a network the flow stays and what it
leaves is the next network; elsewhere the simplex method starts where it ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from sdcdsl.accelerate.cutting.attacks import AttackAnswer, FlowAttacks
from sdcdsl.accelerate.cutting.separation import ENOUGH, Identity, Separation


def interval_chain(separation: Separation, s: int, z: np.ndarray, price: np.ndarray, longest: int) -> list[Identity]:
    """Side `s` with intervals z (down, then up): a class is given slack in one direction, at `price` a unit."""
    _, _, viewer, need = separation.target(s)
    answers = islice(_Widening(separation, s, z, price), longest)
    return [separation.identity(s, viewer, need, answer) for answer in answers]


def widened(
    separation: Separation, z: np.ndarray, price: np.ndarray, over: Callable[[], bool] = lambda: False
) -> np.ndarray | None:
    """Intervals around z that satisfy all requirements: one after the other is given what it lacks, those with the
    highest levels first, since what they get serves others. None where somebody leaves too little slack, or time is
    over."""
    for s in np.argsort(-separation.levels.need[: separation.requirements], kind="stable").tolist():
        if over():
            return None
        chain = _Widening(separation, s, z, price)
        deque(chain, maxlen=0)
        if not chain.satisfied:
            return None
        z = np.maximum(z, chain.z)
    return z


class _Widening:
    """One side in intervals that are given slack where an answer says that it is lacking and costs the least; and the
    answers, as long as it lacks any."""

    def __init__(self, separation: Separation, s: int, z: np.ndarray, price: np.ndarray):
        cell, sign, viewer, self.need = separation.target(s)
        self._n, self._price = separation.demands.classes.count, price
        self._slack = np.concatenate(separation.demands.slack(viewer))
        self.z = np.minimum(z, self._slack)
        self._question = _Question(separation, cell, sign, self.need, self.z[: self._n], self.z[self._n :])

    @property
    def satisfied(self) -> bool:
        return self._question.lacking <= self.need * ENOUGH

    def __iter__(self) -> Iterator[AttackAnswer]:
        while True:
            answer = self._question.ask()
            if answer.cells is None or answer.coefficients is None or self.satisfied:
                return
            yield answer
            if not self._widen(answer.cells, answer.coefficients):
                return

    def _widen(self, cells: np.ndarray, coefficients: np.ndarray) -> bool:
        rising, size = coefficients > 0, np.abs(coefficients)
        at = np.where(rising, self._n, 0) + cells
        spare = self._slack[at] - self.z[at]
        some = np.flatnonzero((spare > 1e-9 * self.need) & (size > 1e-7))
        if not len(some):
            return False
        chosen = some[np.argmin(self._price[at[some]] / size[some])]
        more = min(self._question.lacking / float(size[chosen]), float(spare[chosen]))
        self.z[at[chosen]] += more
        k = int(cells[chosen])
        self._question.widen(k, 0.0 if rising[chosen] else more, more if rising[chosen] else 0.0)
        return True


def share_chain(
    separation: Separation, s: int, x: np.ndarray, price: np.ndarray, longest: int, tolerance: float = 1e-4
) -> list[Identity]:
    """Side `s` with the share x of every class hidden: a class is hidden more, at `price` for all of it."""
    cell, sign, viewer, need = separation.target(s)
    low, high = (np.minimum(slack, need) for slack in separation.demands.slack(viewer))
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

    def ask(self) -> AttackAnswer:
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
