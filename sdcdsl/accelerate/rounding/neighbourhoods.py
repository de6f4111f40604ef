"""Which parts of a table may move together: whole slices of it, unions of slices, and slices of slices.

A *family* is a way to divide the whole table: the grand total taken apart by one relation, its terms by another of the
same number of terms each, and so on (regions; kinds of income; kinds of income by months). In a neighbourhood of whole
slices most sums keep their other terms or lose all of them, so that what is left to choose is a smaller table of the
same shape, which is solved in a moment. Parts that are scattered over the table block each other instead.

Each family, taken alone or across another one, is drawn the more often the more it gained per second of late, and has a
size of its own, which grows while its neighbourhoods are solved at once and shrinks where they are not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.rounding.parts import Parts, sums_of
from sdcdsl.accelerate.rounding.tuning import ELASTIC
from sdcdsl.methods.instance import Instance


@dataclass
class SliceFamily:
    """A family, alone or across others, and how it fared."""

    slices: list[np.ndarray]  # numbers of parts
    across: bool
    size: float = ELASTIC.first_size
    gain: float = 0.0
    seconds: float = 1e-3
    failed: bool = False


class Neighbourhoods:
    def __init__(self, instance: Instance, parts: Parts, movable: np.ndarray, draw: np.random.Generator):
        """`movable` [part]: those with more than one multiple to choose from."""
        self.draw, self.movable = draw, movable
        self.parts = parts
        families = _families(instance, parts)
        if not families:  # single sums, then
            counts = np.diff(parts.T.indptr)
            families = [[_row(parts.T, row) for row in np.flatnonzero(counts > 1).tolist()]]
        self.ways = [SliceFamily(slices, False) for slices in families]
        if len(families) > 1:
            self.ways += [SliceFamily(slices, True) for slices in families]
        self._most = float(max(movable.sum(), 1))

    def drawn(self, near: np.ndarray | None = None) -> tuple[SliceFamily, np.ndarray]:
        """A way to divide the table, and the parts [bool] that it lets move; the slice that holds most of the parts
        `near` is among them, if any are given."""
        rate = np.array([way.gain / way.seconds for way in self.ways])
        even = ELASTIC.least_chance * max(float(rate.mean()), 1e-9)
        way = self.ways[int(self.draw.choice(len(self.ways), p=(rate + even) / (rate + even).sum()))]
        if not way.across:
            return way, self._filled(way.slices, np.ones(len(self.movable), dtype=bool), way.size, near)
        half = np.zeros(len(self.movable), dtype=bool)
        for at in self.draw.permutation(len(way.slices))[: max(len(way.slices) // 2, 1)].tolist():
            half[way.slices[at]] = True
        others = [
            one for other in self.ways if not other.across and other.slices is not way.slices for one in other.slices
        ]
        return way, self._filled(others, half, way.size, near)

    def _filled(
        self, slices: list[np.ndarray], within: np.ndarray, size: float, near: np.ndarray | None = None
    ) -> np.ndarray:
        """Slices by chance, until enough parts can move; of the last one no more than that takes."""
        free = np.zeros(len(self.movable), dtype=bool)
        within = within & self.movable
        order = self.draw.permutation(len(slices))
        if near is not None and len(near):
            within_block = np.zeros(len(self.movable), dtype=bool)
            within_block[near] = within[near]
            first = int(np.argmax([within_block[slices[at]].sum() for at in order.tolist()]))
            order = np.concatenate([order[first : first + 1], np.delete(order, first)])
        for at in order.tolist():
            if free.sum() >= size:
                break
            free[slices[at]] |= within[slices[at]]
        return free

    def learn(self, way: SliceFamily, gain: float, seconds: float, solved: bool) -> None:
        way.gain, way.seconds = ELASTIC.forgets * way.gain + gain, ELASTIC.forgets * way.seconds + max(seconds, 1e-3)
        if solved and seconds <= ELASTIC.quick:
            way.size = min(way.size * (ELASTIC.grows if way.failed else ELASTIC.rushes), self._most)
        elif not solved:
            way.size *= ELASTIC.shrinks
            way.failed = True


def _row(T: csr_array, row: int) -> np.ndarray:
    return T.indices[T.indptr[row] : T.indptr[row + 1]]


def _families(instance: Instance, parts: Parts) -> list[list[np.ndarray]]:
    """Each as its slices."""
    said = sums_of(instance)
    if said is None:
        return []
    M, total = said
    by_sum: dict[int, dict[int, np.ndarray]] = {}
    for relation, cell in enumerate(total.tolist()):
        terms = M.indices[M.indptr[relation] : M.indptr[relation + 1]]
        terms = terms[terms != cell]
        by_sum.setdefault(cell, {}).setdefault(len(terms), terms)
    terms_somewhere = np.zeros(instance.n, dtype=bool)
    for ways in by_sum.values():
        for terms in ways.values():
            terms_somewhere[terms] = True
    row_of = np.full(instance.n, -1)
    row_of[parts.rows] = np.arange(len(parts.rows))
    pending: list[tuple[int, ...]] = [(cell,) for cell in by_sum if not terms_somewhere[cell]]
    seen = set(pending)
    found: list[list[np.ndarray]] = []
    while pending and len(found) < ELASTIC.most_families:
        family = pending.pop(0)
        finer = [one for one in _finer(family, by_sum) if len(one) <= ELASTIC.most_slices]
        if not finer and len(family) > 1:  # the finest ones: unions of their slices are those of the others
            slices = [_row(parts.T, int(row_of[cell])) for cell in family if row_of[cell] >= 0]
            found.append([one for one in slices if len(one)])
        for one in finer:
            if one not in seen:
                seen.add(one)
                pending.append(one)
    return [slices for slices in found if len(slices) > 1]


def _finer(family: tuple[int, ...], by_sum: dict[int, dict[int, np.ndarray]]) -> list[tuple[int, ...]]:
    """The same with its slices taken apart: all that have a relation of so many terms, if that is half of them."""
    kinds = Counter(count for cell in family for count in by_sum.get(cell, {}))
    out = []
    for count, often in kinds.items():
        if 2 * often < len(family):
            continue
        cells: list[int] = []
        for cell in family:
            ways = by_sum.get(cell, {})
            cells += ways[count].tolist() if count in ways else [cell]
        out.append(tuple(sorted(set(cells))))
    return out
