"""Moves that were found, and which requirements each of them certifies.

A move is a direction from the truth. It may be taken as far as the bounds of an attacker allow, both ways round: what
it certifies does not depend on what it was made for. Moves are never forgotten while there is space: one that needs a
cell which is published now may serve again when that cell is hidden.

Everything is kept by the cells and requirements that a move touches, a few dozen of them: adding a move to a pattern,
or taking one away, costs the same in a table of a thousand cells and in one of a million.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from sdcdsl.methods.instance import DOWN, UP, Instance, Requirements

ENOUGH = 1 - 1e-9
NONE = np.zeros(0, dtype=np.int64)


class Pool:
    def __init__(self, instance: Instance, sides: Requirements):
        self.instance, self.requirements = instance, sides
        self.ways: list[tuple[np.ndarray, np.ndarray]] = []  # [move]: cells, and how far they go
        self.covers: list[np.ndarray] = []  # [move]: requirements
        self._moving: defaultdict[int, list[int]] = defaultdict(list)  # [cell]: moves, in order
        self._certifying: defaultdict[int, list[int]] = defaultdict(list)  # [requirement]: moves, in order
        self._at, self._sign = _Lists(sides.cell, instance.n), sides.sign
        known = [instance.known(int(k)) for k in np.unique(sides.attacker)]
        self._known_by = np.repeat(np.unique(sides.attacker), [len(cells) for cells, _, _ in known])
        self._known_at = _Lists(np.concatenate([cells for cells, _, _ in known] or [NONE]), instance.n)
        self._known_slack = np.stack([np.concatenate([k[1 + s] for k in known] or [np.zeros(0)]) for s in (DOWN, UP)])

    @property
    def count(self) -> int:
        return len(self.ways)

    def add(self, cells: np.ndarray, d: np.ndarray) -> int:
        move = len(self.ways)
        self.ways.append((cells, d))
        self.covers.append(self._covered(cells, d))
        self._index(move)
        return move

    def keep(self, moves: np.ndarray) -> None:
        """Forgets all but these."""
        self.ways = [self.ways[move] for move in moves]
        self.covers = [self.covers[move] for move in moves]
        self._moving.clear()
        self._certifying.clear()
        for move in range(len(moves)):
            self._index(move)

    def cells(self, move: int) -> np.ndarray:
        return self.ways[move][0]

    def cells_of(self, moves: Iterable[int]) -> np.ndarray:
        """Cells that the moves need, as often as they need them."""
        return np.concatenate([self.ways[move][0] for move in moves] or [NONE])

    def covered_by(self, moves: Iterable[int]) -> np.ndarray:
        """Requirements that the moves certify, as often as they do."""
        return np.concatenate([self.covers[move] for move in moves] or [NONE])

    def moving(self, cells: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Those of the moves (in order) that need one of the cells."""
        return _among([move for cell in cells.tolist() for move in self._moving.get(cell, ())], moves)

    def certifying(self, requirements: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Those of the moves (in order) that certify one of the requirements."""
        return _among([move for r in requirements.tolist() for move in self._certifying.get(r, ())], moves)

    def _index(self, move: int) -> None:
        for cell in self.ways[move][0].tolist():
            self._moving[cell].append(move)
        for requirement in self.covers[move].tolist():
            self._certifying[requirement].append(move)

    def _covered(self, cells: np.ndarray, d: np.ndarray) -> np.ndarray:
        at, requirement = self._at.of(cells)
        if not len(requirement):
            return NONE
        attackers, who = np.unique(self.requirements.attacker[requirement], return_inverse=True)
        ahead, back = self._lengths(cells, d, attackers)
        go = d[at] * self._sign[requirement]  # > 0: taken as it is, < 0: the other way round
        length = np.where(go > 0, ahead[who], back[who])
        with np.errstate(invalid="ignore"):
            far_enough = (go != 0) & (np.abs(go) * length >= self.requirements.need[requirement] * ENOUGH)
        return np.sort(requirement[far_enough])

    def _lengths(self, cells: np.ndarray, d: np.ndarray, attackers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many times the move can be taken by each of the attackers, and how many times reversed."""
        one = self.instance
        up, size = d > 0, np.abs(d)
        views = one.view_of[attackers]
        LB, UB = one.LB[:, cells], one.UB[:, cells]
        ahead = (np.where(up, UB, LB) / size).min(axis=1)[views]
        back = (np.where(up, LB, UB) / size).min(axis=1)[views]
        at, entry = self._known_at.of(cells)
        if len(entry):
            place = np.minimum(np.searchsorted(attackers, self._known_by[entry]), len(attackers) - 1)
            here = attackers[place] == self._known_by[entry]
            who, at, entry = place[here], at[here], entry[here]
            down_slack, up_slack = self._known_slack[:, entry]
            np.minimum.at(ahead, who, np.where(up[at], up_slack, down_slack) / size[at])
            np.minimum.at(back, who, np.where(up[at], down_slack, up_slack) / size[at])
        return ahead, back


class _Lists:
    """Entries by the cell that each belongs to."""

    def __init__(self, cell: np.ndarray, n: int):
        self._order = np.argsort(cell, kind="stable")
        self._start = np.searchsorted(cell[self._order], np.arange(n + 1))

    def of(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where in `cells`, and which entry."""
        start, count = self._start[cells], self._start[cells + 1] - self._start[cells]
        at = np.repeat(np.arange(len(cells)), count)
        place = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count) + start[at]
        return at, self._order[place]


def _among(found: list[int], moves: np.ndarray) -> np.ndarray:
    """Without repetitions, and without what is not among the moves."""
    if not found or not len(moves):
        return NONE
    distinct = np.unique(np.array(found, dtype=np.int64))
    place = np.minimum(np.searchsorted(moves, distinct), len(moves) - 1)
    return distinct[moves[place] == distinct]
