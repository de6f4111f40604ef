"""Patterns from the side of what is published, for tables whose cells are closely tied together by relations.

All moves are d = N t, with few directions t. What is published takes directions away: V = {d : d_i = 0 for published i}
is all that is left to the attackers' doubts, and every cell that is fixed in V is published for nothing. A pattern
is valid if V has a witness for every side, and costs what the cells weigh that move in V. The tableau d = Tθ has the
d of published cells for parameters θ, and a few that are free. Three steps:

1. *Publish* a group of cells that move in proportion, heaviest first: V loses a dimension.
2. *Exchange*: give a published cell back, and publish the heaviest group of the larger V instead.
3. *Kick*: give several back that hold a heavy cell, and start again from there; kept if it ends cheaper.

Witnesses follow by projection; requirements that lose theirs are asked about anew, in as few dimensions as V has. On
hier16 an exchange takes 0.5 ms to look at and 5 ms to try, where a linear program over the whole table takes 350.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

from sdcdsl.accelerate.csp import exchange_loops as steps
from sdcdsl.accelerate.csp.tuning import EXCHANGE
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance, Requirements
from sdcdsl.numerics.sparse_null_space import size

SLIGHT = 1e-3  # no pivots on less than this
TRUE = 1e-9  # relative error of a witness
LEFT = 1e-6  # of a witness: less is none

Move = tuple[np.ndarray, np.ndarray]  # cells, and how far they go


@dataclass
class ExchangeState:
    """Where the search is."""

    T: np.ndarray  # [column, cell]
    owner: np.ndarray  # [column]: the published cell whose it is; -1: a free direction
    witnesses: np.ndarray  # [witness, cell]
    cost: float
    pivots: int = 0  # since the tableau was made

    def copy(self) -> ExchangeState:
        return ExchangeState(self.T.copy(), self.owner.copy(), self.witnesses.copy(), self.cost, self.pivots)

    @property
    def free(self) -> np.ndarray:
        return np.flatnonzero(self.owner < 0)


class Exchange:
    def __init__(
        self, instance: Instance, sides: Requirements, weight: np.ndarray, N: csc_array, random: np.random.Generator
    ):
        """Rows of N and weights are those of cells that may be opened."""
        self.cells = np.flatnonzero(instance.may_open)
        number = np.full(instance.n, -1, dtype=np.int64)
        number[self.cells] = np.arange(len(self.cells))
        self.N = np.ascontiguousarray(N.toarray().T)
        self.weight, self.random = weight[self.cells], random
        attackers, who = np.unique(sides.attacker, return_inverse=True)
        slacks = [instance.slack(int(k)) for k in attackers]
        self.slacks = (
            np.stack([down[self.cells] for down, _ in slacks]),
            np.stack([up[self.cells] for _, up in slacks]),
        )
        self.requirements = (
            number[sides.cell],
            sides.sign.astype(float),
            sides.need.astype(float),
            who.astype(np.int64),
        )
        self.barred = np.zeros(len(self.cells), dtype=bool)
        self.barred[self.requirements[0]] = True
        self._M = csr_array(instance.M[:, self.cells])
        self._keys, self._index = np.zeros(len(self.cells)), np.zeros(len(self.cells), dtype=np.int64)

    @staticmethod
    def fits(instance: Instance, sides: Requirements, N: csc_array | None) -> bool:
        """Whether directions are few enough for it to pay."""
        if N is None or not len(sides) or steps.pivot.fast is steps.pivot.plain:
            return False
        n, k = size(N)
        return (
            n >= EXCHANGE.smallest
            and k < n // 3
            and n * k <= EXCHANGE.most
            and n * len(np.unique(sides.attacker)) <= EXCHANGE.rooms
        )

    # ---- from patterns and back ----------------------------------------------------------------------------

    def improve(self, hidden: np.ndarray, moves: list[Move], deadline: Deadline, kicks: int) -> list[Move]:
        """Moves that certify every requirement within a cheaper pattern, or those that were given."""
        here = self._opened(hidden[self.cells], moves)
        if self._certified(here.witnesses).all():
            self._shrink(here, deadline)
            self._swaps(here, deadline)
            best = self._kicked(here, deadline, kicks) if self._holds(here) else here
            if self._holds(best):
                return [self._move(d) for d in best.witnesses]
        return moves

    def _opened(self, hidden: np.ndarray, moves: list[Move]) -> ExchangeState:
        witnesses = np.zeros((len(moves), len(self.cells)))
        whole = np.zeros(int(self.cells[-1]) + 1)
        for k, (cells, d) in enumerate(moves):
            whole[cells] = d
            witnesses[k] = whole[self.cells]
            whole[cells] = 0.0
        published = np.flatnonzero(~hidden)
        here = ExchangeState(self.N.copy(), np.full(len(self.N), -1, dtype=np.int64), witnesses, 0.0)
        steps.enter.fast(here.T, here.owner, published[np.argsort(-self.weight[published], kind="stable")])
        here.cost = self._cost(here)
        return here

    def _refresh(self, here: ExchangeState) -> None:
        """Without the rounding errors of many pivots: from the published cells alone."""
        published = here.owner[here.owner >= 0]
        here.T[:] = self.N
        here.pivots = 0
        here.owner[:] = -1
        steps.enter.fast(here.T, here.owner, published)
        F = here.T[here.free]
        here.witnesses = np.linalg.lstsq(F.T, here.witnesses.T, rcond=None)[0].T @ F
        here.cost = self._cost(here)

    def _holds(self, here: ExchangeState) -> bool:
        """Whether the witnesses are what they are taken for, in spite of rounding errors."""
        if here.pivots > EXCHANGE.fresh or not self._true(here.witnesses):
            self._refresh(here)
        return self._true(here.witnesses) and bool(self._certified(here.witnesses).all())

    def _true(self, witnesses: np.ndarray) -> bool:
        off = np.abs(self._M @ witnesses.T).max(axis=0, initial=0.0)
        return bool((off <= TRUE * np.abs(witnesses).max(axis=1)).all())

    def _move(self, d: np.ndarray) -> Move:
        moved = np.flatnonzero(d)
        return self.cells[moved], d[moved]

    # ---- steps ---------------------------------------------------------------------------------------------

    def _shrink(self, here: ExchangeState, deadline: Deadline) -> None:
        """Publishes groups, heaviest first, as long as all requirements keep a witness. What fails once fails for good:
        V only becomes smaller."""
        barred, failures = self.barred.copy(), 0
        still = np.zeros(len(self.cells))
        while not deadline.expired and len(here.free) > 1 and failures < EXCHANGE.failures:
            _, _, j = self._heaviest(here, still, barred)
            if j < 0:
                return
            if self._publish(here, j, None):
                failures = 0
            else:
                barred[j] = True
                failures += 1

    def _swaps(self, here: ExchangeState, deadline: Deadline) -> None:
        """Until no exchange makes it cheaper."""
        idle = 0
        while idle < len(here.T) and (here.owner >= 0).any():
            for b in self.random.permutation(np.flatnonzero(here.owner >= 0)):
                if deadline.expired:
                    return
                idle += 1
                if here.owner[b] >= 0 and self._swap(here, int(b)):
                    idle = 0
                if idle >= len(here.T):
                    return

    def _swap(self, here: ExchangeState, b: int) -> bool:
        total, won, j = self._heaviest(here, here.T[b], self.barred)
        if j < 0 or total - won > here.cost * (1 - 1e-9):
            return False
        return self._publish(here, j, b)

    def _kicked(self, here: ExchangeState, deadline: Deadline, kicks: int) -> ExchangeState:
        best = here.copy()
        for _ in range(kicks):
            if deadline.expired:
                break
            before = here.copy()
            self._kick(here)
            self._shrink(here, deadline)
            self._swaps(here, deadline)
            most = before.cost * (1 + EXCHANGE.worse * self.random.random())
            if here.cost > most or not self._holds(here) or here.cost > most:
                here = before
            if here.cost < best.cost * (1 - 1e-9):
                best = here.copy()
            elif here.cost > best.cost * (1 + EXCHANGE.away):
                here = best.copy()
        return best

    def _kick(self, here: ExchangeState) -> None:
        """Gives back some published cells that hold a heavy one, and publishes that if it can be."""
        s, _ = self._sums(here)
        heavy = np.where((np.abs(s) > steps.ZERO) & ~self.barred, self.weight, 0.0)
        if not heavy.any():
            return
        j = int(self.random.choice(len(heavy), p=heavy / heavy.sum()))
        holding = np.flatnonzero((here.owner >= 0) & (here.T[:, j] != 0.0))
        if not len(holding):
            holding = np.flatnonzero(here.owner >= 0)
        count = min(int(self.random.integers(1, EXCHANGE.largest_kick + 1)), len(holding))
        here.owner[self.random.choice(holding, count, replace=False)] = -1
        here.cost = self._cost(here)
        self._publish(here, j, None)

    # ---- pieces --------------------------------------------------------------------------------------------

    def _sums(self, here: ExchangeState) -> tuple[np.ndarray, np.ndarray]:
        F = here.T[here.free]
        return self.random.normal(size=len(F)) @ F, self.random.normal(size=len(F)) @ F

    def _cost(self, here: ExchangeState) -> float:
        return float(self.weight[np.abs(self._sums(here)[0]) > steps.ZERO].sum())

    def _heaviest(self, here: ExchangeState, u: np.ndarray, barred: np.ndarray) -> tuple[float, float, int]:
        s, q = self._sums(here)
        return steps.heaviest_group.fast(u, s, q, self.weight, barred, self._keys, self._index)

    def _publish(self, here: ExchangeState, j: int, instead_of: int | None) -> bool:
        """Publishes cell j, and gives back the one of a column; nothing happens if a requirement would lose its
        witness."""
        open_ones = here.free if instead_of is None else np.append(here.free, instead_of)
        large = np.abs(here.T[open_ones, j])
        c = int(open_ones[np.argmax(large)])
        rest = open_ones[open_ones != c]
        if large.max() < SLIGHT or not len(rest):
            return False
        x = here.T[c] / here.T[c, j]
        F = here.T[rest] - np.outer(here.T[rest, j], x)
        F[np.abs(F) <= steps.ZERO] = 0.0
        known = here.witnesses - np.outer(here.witnesses[:, j], x)
        # What is left of a witness that went this way alone is rounding errors, and they certify anything.
        known = known[np.abs(known).max(axis=1) > LEFT * np.abs(here.witnesses).max(axis=1)]
        witnesses = self._witnesses(F, known)
        if witnesses is None:
            return False
        steps.pivot.fast(here.T, c, j)
        if instead_of is not None:
            here.owner[instead_of] = -1
        here.owner[c] = j
        here.pivots += 1
        here.witnesses = witnesses
        here.cost = self._cost(here)
        return True

    def _witnesses(self, F: np.ndarray, known: np.ndarray) -> np.ndarray | None:
        """For every side, from those that are known and new ones within the directions F; None if there are none."""
        cell, sign, need, who = self.requirements
        done = np.zeros(len(cell), dtype=bool)
        known[:, ~F.any(axis=0)] = 0.0  # rounding errors
        kept = []
        for d in known:
            before = np.count_nonzero(done)
            steps.certified.fast(d, self.requirements, self.slacks, done)
            if np.count_nonzero(done) > before:
                kept.append(d)
        left = np.flatnonzero(~done)
        if len(left) and (len(F) > EXCHANGE.many or not F[:, cell[left]].any(axis=0).all()):
            return None
        for s in left[np.argsort(-need[left], kind="stable")]:
            if done[s]:
                continue
            LB, UB = self.slacks[0][who[s]], self.slacks[1][who[s]]
            found, d = steps.reach.fast(F, cell[s], sign[s], need[s], LB, UB, 3 * len(F) + 10)
            if found:
                steps.certified.fast(d, self.requirements, self.slacks, done)
                kept.append(d)
            if not done[s]:
                return None
        return np.array(kept)

    def _certified(self, witnesses: np.ndarray) -> np.ndarray:
        done = np.zeros(len(self.requirements[0]), dtype=bool)
        for d in witnesses:
            steps.certified.fast(d, self.requirements, self.slacks, done)
        return done
