"""What a contributor's own parts tell it about sums: bounds of single cells, carried through the relations.

Whoever contributes 107 to a cell of 114, and knows of its neighbour only that it is at least 3.5, knows that both
together are at least 110.5, and not only 107. Bounds of the cells that a member knows something about are narrowed by
each relation in turn, interval by interval, until nothing changes; all other cells stay as the view has them. What is
left of a cell's slack is all that any release can hide from that member.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdcdsl.bind.attackers import Knowledge
from sdcdsl.bind.relations import Relations

ROUNDS = 12  # passes through all relations; what still moves by then moves little
CLEARLY = 1e-11  # of what a relation adds up: less is taken for rounding errors
ROUNDING = 2.0**-50  # the same for the errors themselves
AT_ONCE = 2_000_000  # entries of relations that are looked at together

Bounds = tuple[np.ndarray, np.ndarray]


def slack_left(one: Knowledge, relations: Relations, a: np.ndarray) -> np.ndarray:
    """[below | above, known]: how far the cell of each entry can lie from its value for its member."""
    cell = one.known_cell
    out = np.maximum(np.stack([a[cell] - one.known_low, one.known_high - a[cell]]), 0.0)
    if not len(cell):
        return out
    system = _System(relations, one, a)
    for part in _parts(one.known_member, system.count[cell]):
        low, high = system.narrowed(part)
        out[:, part] = np.minimum(out[:, part], np.maximum(np.stack([a[cell[part]] - low, high - a[cell[part]]]), 0.0))
    return out


def _parts(member: np.ndarray, size: np.ndarray) -> Iterator[np.ndarray]:
    """Entries, all of a member together, of not too many members at a time."""
    order = np.argsort(member, kind="stable")
    number = np.cumsum(np.bincount(member, size)) // AT_ONCE
    group = number[member[order]]
    yield from np.split(order, np.flatnonzero(np.diff(group)) + 1)


class _System:
    """Relations with the intervals that the view's bounds give their terms, added up."""

    def __init__(self, relations: Relations, one: Knowledge, a: np.ndarray):
        self.one, self.equations = one, len(relations.rhs)
        order = np.argsort(relations.cell_of, kind="stable")
        self.equation, self.coefficient = relations.equation_of[order].astype(np.int64), relations.coefficient[order]
        self.count = np.bincount(relations.cell_of, minlength=len(a))
        self.start = np.cumsum(self.count) - self.count
        cell = relations.cell_of[order]
        self.b = relations.rhs
        self.size = self._sums(self.equation, np.abs(self.coefficient * a[cell])) + np.abs(self.b)
        terms = _terms(self.coefficient, one.low[cell], one.high[cell])
        # [least | most, equation]: of the finite terms, and how many there are of the others.
        self.finite = [self._sums(self.equation, np.where(np.isfinite(t), t, 0.0)) for t in terms]
        self.open = [self._sums(self.equation, np.isinf(t)) for t in terms]

    def _sums(self, at: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.bincount(at, values.astype(float), minlength=self.equations)

    def narrowed(self, part: np.ndarray) -> Bounds:
        """The bounds of these entries for their members."""
        one = self.one
        member, cell = one.known_member[part], one.known_cell[part]
        low, high = np.maximum(one.known_low[part], one.low[cell]), np.minimum(one.known_high[part], one.high[cell])
        count = self.count[cell]
        who = np.repeat(np.arange(len(part)), count)  # the entry of each row: one for each relation of its cell
        row = np.repeat(self.start[cell] - np.cumsum(count) + count, count) + np.arange(count.sum())
        equation, coefficient = self.equation[row], self.coefficient[row]
        key, group = np.unique(member[who] * self.equations + equation, return_inverse=True)
        of = key % self.equations
        clear, error = CLEARLY * self.size[equation], ROUNDING * self.size[equation]
        before = _terms(coefficient, one.low[cell[who]], one.high[cell[who]])
        base = [
            (f[of] - _added(group, _finite(t), len(key)), o[of] - _added(group, np.isinf(t), len(key)))
            for f, o, t in zip(self.finite, self.open, before, strict=True)
        ]
        for _ in range(ROUNDS):
            terms = _terms(coefficient, low[who], high[who])
            ends = []
            for (finite, opened), term, other in zip(base, terms, (np.inf, -np.inf), strict=True):
                rest = (finite + _added(group, _finite(term), len(key)))[group] - _finite(term)
                free = (opened + _added(group, np.isinf(term), len(key)))[group] - np.isinf(term)
                ends.append(np.where(free > 0.5, other, self.b[equation] - rest))  # of coefficient times the cell
            most, least = ends
            lower, upper = (
                np.minimum(least / coefficient, most / coefficient),
                np.maximum(least / coefficient, most / coefficient),
            )
            narrower_low, narrower_high = low.copy(), high.copy()
            np.maximum.at(narrower_low, who, np.where(lower > low[who] + clear, lower + error, -np.inf))
            np.minimum.at(narrower_high, who, np.where(upper < high[who] - clear, upper - error, np.inf))
            if np.array_equal(narrower_low, low) and np.array_equal(narrower_high, high):
                break
            low, high = narrower_low, narrower_high
        return low, high


def _terms(coefficient: np.ndarray, low: np.ndarray, high: np.ndarray) -> Bounds:
    """The least and the most that coefficient times a cell can be."""
    plus = coefficient > 0
    return coefficient * np.where(plus, low, high), coefficient * np.where(plus, high, low)


def _finite(x: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(x), x, 0.0)


def _added(at: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    return np.bincount(at, values.astype(float), minlength=count)
