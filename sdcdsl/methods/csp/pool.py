"""Moves that were found, and which sides each of them certifies.

A move is a direction from the truth. It may be taken as far as the room of an attacker allows, both ways round: what it
certifies does not depend on what it was made for. Moves are never forgotten while there is space: one that needs a
cell which is published now may serve again when that cell is hidden.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.methods.instance import DOWN, UP, Instance, Sides

ENOUGH = 1 - 1e-9


class Pool:
    def __init__(self, instance: Instance, sides: Sides):
        self.instance, self.sides = instance, sides
        self.count = 0
        self.support = np.zeros((64, instance.n), dtype=bool)  # [move, cell]
        self.covers = np.zeros((64, len(sides)), dtype=bool)  # [move, side]
        self.ways: list[tuple[np.ndarray, np.ndarray]] = []  # [move]: cells, and how far they go
        attackers = np.unique(sides.attacker)
        self._attackers = attackers
        self._local = np.searchsorted(attackers, sides.attacker)
        known = [instance.known(int(k)) for k in attackers]
        self._known_by = np.repeat(np.arange(len(attackers)), [len(cells) for cells, _, _ in known])
        self._known_cell = np.concatenate([cells for cells, _, _ in known] or [np.zeros(0, dtype=np.int64)])
        self._known_room = np.stack([np.concatenate([k[1 + s] for k in known] or [np.zeros(0)]) for s in (DOWN, UP)])

    def add(self, cells: np.ndarray, d: np.ndarray) -> int:
        if self.count == len(self.support):
            self.support = np.concatenate([self.support, np.zeros_like(self.support)])
            self.covers = np.concatenate([self.covers, np.zeros_like(self.covers)])
        at = self.count
        self.support[at] = False
        self.support[at, cells] = True
        self.covers[at] = self._covered(cells, d)
        self.ways.append((cells, d))
        self.count += 1
        return at

    def keep(self, moves: np.ndarray) -> None:
        """Forgets all but these."""
        self.support[: len(moves)] = self.support[moves]
        self.covers[: len(moves)] = self.covers[moves]
        self.ways = [self.ways[move] for move in moves]
        self.count = len(moves)

    def _covered(self, cells: np.ndarray, d: np.ndarray) -> np.ndarray:
        far = np.zeros(self.instance.n)
        far[cells] = d
        go = far[self.sides.cell] * self.sides.sign  # > 0: taken as it is, < 0: the other way round
        ahead, back = self._lengths(cells, d, far)
        length = np.where(go > 0, ahead[self._local], back[self._local])
        with np.errstate(invalid="ignore"):
            return (go != 0) & (np.abs(go) * length >= self.sides.need * ENOUGH)

    def _lengths(self, cells: np.ndarray, d: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many times the move can be taken by each attacker, and how many times reversed."""
        one = self.instance
        up, size = d > 0, np.abs(d)
        views = one.view_of[self._attackers]
        LB, UB = one.LB[:, cells], one.UB[:, cells]
        ahead = (np.where(up, UB, LB) / size).min(axis=1)[views]
        back = (np.where(up, LB, UB) / size).min(axis=1)[views]
        if len(self._known_cell):
            by = far[self._known_cell]
            entry = np.flatnonzero(by)
            size, up, who = np.abs(by[entry]), by[entry] > 0, self._known_by[entry]
            down_room, up_room = self._known_room[:, entry]
            np.minimum.at(ahead, who, np.where(up, up_room, down_room) / size)
            np.minimum.at(back, who, np.where(up, down_room, up_room) / size)
        return ahead, back
