"""Who contributes to each cell: how many holdings, how much in absolute terms, and the k largest of them.

Sums roll up a hierarchy by addition; the number of distinct holdings and the largest contributions do not, because a
holding with records in two leaves is *one* contributor, with the sum, wherever both leaves meet. Rolling every
(cell, holding) pair through every combination of levels is right and far too slow. What is done instead:

* A holding all of whose records fall below one code of dimension d stays a single contribution from there upwards. Such
  contributions live in dense arrays (`Ranking`) in which children are merged into parents, slab by slab.
* Only *groups* that really have two or more pairs below the same codes are carried as explicit pairs. Stage d takes
  groups that agree in the codes of dimensions < d, moves their pairs up dimension d round by round and merges the pairs
  that meet. A group that shrinks to one pair leaves for the dense arrays. In every round the pairs at one code of
  dimension d form the groups of stage d + 1, and those that stand alone there leave at once.

Invariant: after the dense roll along dimension d, cell (c_1..c_d, leaves) holds in the arrays exactly the groups whose
pairs all lie below c_d; all other groups at that cell were emitted as pairs of stage d + 1. So every holding is counted
exactly once in every cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.composition import Composition, RollUpStep
from sdcdsl.bind.lattice import Lattice

NOBODY = np.iinfo(np.int32).max  # loses every tie
BATCH = 1 << 17  # pairs moved at a time: temporaries that stay in the cache cost half of those that do not


@dataclass(frozen=True, eq=False)
class CellContributions:
    """Contributions of holdings to cells: `amount` counts in the cell, `ranked` decides who is largest."""

    cell: np.ndarray  # int64
    holding: np.ndarray  # int32
    amount: np.ndarray  # float64
    ranked: np.ndarray  # float64; the same object as `amount` unless own values are ranked

    def __len__(self) -> int:
        return len(self.cell)

    def take(self, chosen: np.ndarray) -> CellContributions:
        amount = self.amount[chosen]
        ranked = amount if self.ranked is self.amount else self.ranked[chosen]
        return CellContributions(self.cell[chosen], self.holding[chosen], amount, ranked)


class Ranking:
    """Dense arrays over a lattice; ties between equal contributions go to the lower holding number."""

    def __init__(self, lattice: Lattice, k: int):
        self.lattice = lattice
        self.count = np.zeros(lattice.size, dtype=np.int64)
        self.nonzero = np.zeros(lattice.size, dtype=np.int64)
        self.absolute = np.zeros(lattice.size)
        self.largest = np.full((k, lattice.size), -1.0)
        self.holding = np.full((k, lattice.size), NOBODY, dtype=np.int32)

    def insert(self, pairs: CellContributions, pool: Executor | None = None) -> None:
        """Add contributions of holdings that are not yet in the cells concerned."""
        if not len(pairs):
            return
        cell, amount = pairs.cell, np.abs(pairs.amount)
        adding = pool.submit(self._add, cell, amount) if pool is not None else None
        if len(self.largest):
            size = amount if pairs.ranked is pairs.amount else np.abs(pairs.ranked)
            # Most pairs cannot enter the list of their cell: look at them once.
            contender = np.flatnonzero(size >= self.largest[-1][cell])
            self._rank(cell[contender], size[contender], pairs.holding[contender])
        if adding is not None:
            adding.result()
        else:
            self._add(cell, amount)

    def merge(self, other: Ranking) -> None:
        """Take in the ranking of other holdings over the same cells."""
        self.count += other.count
        self.nonzero += other.nonzero
        self.absolute += other.absolute
        for size, who in zip(other.largest, other.holding, strict=True):
            self._enter(slice(None), size, who)

    def _add(self, cell: np.ndarray, amount: np.ndarray) -> None:
        if len(cell) * 4 > self.lattice.size:
            self.count += np.bincount(cell, minlength=self.lattice.size)
            self.absolute += np.bincount(cell, weights=amount, minlength=self.lattice.size)
            positive = amount > 0
            self.nonzero += np.bincount(cell if positive.all() else cell[positive], minlength=self.lattice.size)
        else:
            np.add.at(self.count, cell, 1)
            np.add.at(self.absolute, cell, amount)
            np.add.at(self.nonzero, cell, (amount > 0).astype(np.int64))

    def _rank(self, cell: np.ndarray, size: np.ndarray, holding: np.ndarray) -> None:
        touched = None
        if len(cell) * 8 < self.lattice.size:
            touched, cell = np.unique(cell, return_inverse=True)
        n = self.lattice.size if touched is None else len(touched)
        for _ in range(len(self.largest)):
            if not len(cell):
                return
            best = np.full(n, -1.0)
            np.maximum.at(best, cell, size)
            ties = np.flatnonzero(size == best[cell])
            who = np.full(n, NOBODY, dtype=np.int32)
            np.minimum.at(who, cell[ties], holding[ties])
            self._enter(touched if touched is not None else slice(None), best, who)
            winner = ties[holding[ties] == who[cell[ties]]]
            rest = np.ones(len(cell), dtype=bool)
            rest[winner] = False
            cell, size, holding = cell[rest], size[rest], holding[rest]

    def _enter(self, where: np.ndarray | slice, size: np.ndarray, who: np.ndarray) -> None:
        for j in range(len(self.largest)):
            size, who = _insert_sorted(self.largest[j], self.holding[j], where, size, who)

    def roll(self, d: int, composition: Composition) -> None:
        """Merge children into parents along dimension d; what stands at a parent already stays there."""
        shape = (-1, self.lattice.shape[d], self.lattice.stride[d])
        sums = [a.reshape(shape) for a in (self.count, self.nonzero, self.absolute)]
        k = len(self.largest)
        largest = [self.largest[j].reshape(shape) for j in range(k)]
        holding = [self.holding[j].reshape(shape) for j in range(k)]
        for parents, children, _ in composition.steps:
            for a in sums:
                a[:, parents] += a[:, children]
            for i in range(k):
                size, who = largest[i][:, children], holding[i][:, children]
                # The child's i-th cannot come before the parent's i-th place is decided.
                for j in range(i, k):
                    size, who = _insert_sorted(largest[j], holding[j], (slice(None), parents), size, who)


def _insert_sorted(largest, holding, where, size, who) -> tuple[np.ndarray, np.ndarray]:
    """Keep the better of what stands at `where` and what comes; give back the other."""
    old, old_who = largest[where], holding[where]
    better = (size > old) | ((size == old) & (who < old_who))
    # Both losers first: `old` may be a view of what is about to be written.
    worse, worse_who = np.where(better, old, size), np.where(better, old_who, who)
    largest[where] = np.where(better, size, old)
    holding[where] = np.where(better, who, old_who)
    return worse, worse_who


def rank(
    lattice: Lattice, alone: CellContributions, shared: CellContributions, k: int, workers: Executor | None = None
) -> Ranking:
    """The ranking of every cell of a lattice.

    `alone` are the holdings with one leaf cell, `shared` the others: pairs of (holding, leaf cell), each once, sorted
    by holding. Who ranks often brings workers: every new thread may keep memory of its own.
    """
    ranking = Ranking(lattice, k)
    first = run_starts(shared.holding)
    group = np.repeat(np.arange(len(first)), np.diff(first, append=len(shared)))
    pairs = Grouped(group, shared.holding[first], shared.cell, shared.amount, shared.ranked)
    # The dimension with most leaves first: it tears most groups apart.
    order = sorted(range(len(lattice.shape)), key=lambda d: -int(lattice.compositions[d].is_leaf.sum()))
    # numpy sorts and gathers without the interpreter lock
    with ThreadPoolExecutor() if workers is None else nullcontext(workers) as pool:
        ranking.insert(alone, pool)
        for at, d in enumerate(order):
            stages = list(pool.map(_Stage(lattice, d, last=at == len(order) - 1).on, pairs.batches()))
            for part in _gathered([part for stage in stages for part in stage.inside], lattice.size):
                ranking.insert(part, pool)
            ranking.roll(d, lattice.compositions[d])
            for part in _gathered([part for stage in stages for part in stage.outside], lattice.size):
                ranking.insert(part, pool)
            pairs = _onward([part for stage in stages for part in stage.onward], pairs)
    return ranking


@dataclass(frozen=True, eq=False)
class Grouped:
    """Pairs of groups that may still meet; `where` is their cell, or in a stage the cell without the stage's code."""

    group: np.ndarray  # int64, ascending
    holder: np.ndarray  # int32, by group
    where: np.ndarray  # int64
    amount: np.ndarray
    ranked: np.ndarray

    def __len__(self) -> int:
        return len(self.where)

    def batches(self) -> Iterator[Grouped]:
        """Cut between groups, each batch with groups numbered from 0."""
        start = 0
        while start < len(self):
            stop = min(start + BATCH, len(self))
            if stop < len(self):
                stop = int(np.searchsorted(self.group, self.group[stop - 1], side="right"))
            first, last = int(self.group[start]), int(self.group[stop - 1])
            cut = slice(start, stop)
            amount = self.amount[cut]
            ranked = amount if self.ranked is self.amount else self.ranked[cut]
            yield Grouped(self.group[cut] - first, self.holder[first : last + 1], self.where[cut], amount, ranked)
            start = stop

    def take(self, chosen: np.ndarray) -> Grouped:
        amount = self.amount[chosen]
        ranked = amount if self.ranked is self.amount else self.ranked[chosen]
        return Grouped(self.group[chosen], self.holder, self.where[chosen], amount, ranked)

    def summed(self, first: np.ndarray) -> Grouped:
        """Runs of pairs, starting at `first`, added up."""
        amount = np.add.reduceat(self.amount, first)
        ranked = amount if self.ranked is self.amount else np.add.reduceat(self.ranked, first)
        return Grouped(self.group[first], self.holder, self.where[first], amount, ranked)

    def negated(self, negative: np.ndarray) -> Grouped:
        amount = np.where(negative, -self.amount, self.amount)
        ranked = amount if self.ranked is self.amount else np.where(negative, -self.ranked, self.ranked)
        return Grouped(self.group, self.holder, self.where, amount, ranked)


class _Stage:
    """One dimension's way up. The code in it is kept apart from the rest of the cell: divisions are dear."""

    def __init__(self, lattice: Lattice, d: int, *, last: bool):
        self.lattice, self.d, self.last = lattice, d, last
        self.n, self.stride = lattice.shape[d], lattice.stride[d]
        self.inside: list[CellContributions] = []  # for the arrays before the roll along this dimension
        self.outside: list[CellContributions] = []  # for the arrays after it
        self.onward: list[Grouped] = []  # the groups of the next stage, in each part numbered from 0

    def on(self, pairs: Grouped) -> _Stage:
        """A stage like this that has dealt with these pairs."""
        stage = _Stage(self.lattice, self.d, last=self.last)
        stage.run(pairs)
        return stage

    def run(self, pairs: Grouped) -> None:
        """Fills `inside`, `outside` and `onward`."""
        code = self.lattice.codes_at(pairs.where, self.d)
        pairs = Grouped(pairs.group, pairs.holder, pairs.where - code * self.stride, pairs.amount, pairs.ranked)
        leaves, leaf_code = self._sorted(pairs, code)
        self._emit(leaves, leaf_code)
        current, code, incomplete = leaves, leaf_code, np.zeros(0, dtype=bool)
        for step in self.lattice.compositions[self.d].rounds:
            if step.first:
                current, code, incomplete = self._start(leaves, leaf_code, step.move)
            if not len(current):
                continue
            current, code = self._moved(current, code, step)
            # A group reduced to one pair goes into the arrays, once: where this tree made it one.
            first = run_starts(current.group)
            lone = first[np.diff(first, append=len(current)) == 1]
            lone = lone[~incomplete[current.group[lone]]]
            arrived = step.reached[code]
            chosen = lone[arrived[lone]]
            self.inside.append(self._placed(current.take(chosen), code[chosen]))
            stays = np.ones(len(current), dtype=bool)
            stays[lone] = False
            if len(lone):
                stay = np.flatnonzero(stays)
                current, code, arrived = current.take(stay), code[stay], arrived[stay]
            if arrived.all():
                self._emit(current, code)
            else:
                chosen = np.flatnonzero(arrived)
                self._emit(current.take(chosen), code[chosen])

    def _sorted(self, pairs: Grouped, code: np.ndarray) -> tuple[Grouped, np.ndarray]:
        order = np.argsort(self._key(pairs, code))
        return pairs.take(order), code[order]

    def _key(self, pairs: Grouped, code: np.ndarray) -> np.ndarray:
        """Ascending in (group, code, rest of the cell)."""
        assert len(pairs.holder) * self.n * self.lattice.size < 2**63, "groups and cells overflow the sort key"
        key = pairs.group * self.n
        key += code
        key *= self.lattice.size
        key += pairs.where
        return key

    def _start(self, leaves: Grouped, code: np.ndarray, move: np.ndarray) -> tuple[Grouped, np.ndarray, np.ndarray]:
        """Leave out what the tree does not cover; a group that loses a pair is never complete within the tree."""
        incomplete = np.zeros(len(leaves.holder), dtype=bool)
        covered = move[code] >= 0
        if covered.all():
            return leaves, code, incomplete
        incomplete[leaves.group[~covered]] = True
        chosen = np.flatnonzero(covered)
        return leaves.take(chosen), code[chosen], incomplete

    def _moved(self, pairs: Grouped, code: np.ndarray, step: RollUpStep) -> tuple[Grouped, np.ndarray]:
        """Pairs at their new codes, those that meet added up, sorted."""
        negative = step.sign[code] < 0
        if negative.any():
            pairs = pairs.negated(negative)
        target = step.move[code]
        if np.array_equal(target, code):
            return pairs, code
        key = self._key(pairs, target)
        order = np.argsort(key)
        first = run_starts(key[order])
        pairs, target = pairs.take(order), target[order]
        return (pairs, target) if len(first) == len(pairs) else (pairs.summed(first), target[first])

    def _placed(self, pairs: Grouped, code: np.ndarray) -> CellContributions:
        cell = pairs.where + code * self.stride
        return CellContributions(cell, pairs.holder[pairs.group], pairs.amount, pairs.ranked)

    def _emit(self, pairs: Grouped, code: np.ndarray) -> None:
        """Pairs at codes reached for the first time: the groups of the next stage, and those that stand alone there."""
        if not len(pairs):
            return
        if self.last:
            self.outside.append(self._placed(pairs, code))
            return
        first = run_starts(pairs.group * self.n + code)
        length = np.diff(first, append=len(pairs))
        alone = first[length == 1]
        self.outside.append(self._placed(pairs.take(alone), code[alone]))
        many = np.ones(len(pairs), dtype=bool)
        many[alone] = False
        chosen = np.flatnonzero(many)
        together = pairs.take(chosen)
        holder = pairs.holder[pairs.group[first[length > 1]]]
        length = length[length > 1]
        number = np.repeat(np.arange(len(length)), length)
        where = together.where + code[chosen] * self.stride
        self.onward.append(Grouped(number, holder, where, together.amount, together.ranked))


def _gathered(parts: list[CellContributions], enough: int) -> Iterator[CellContributions]:
    """Parts put together until they are worth a pass over all cells."""
    batch: list[CellContributions] = []
    for i, part in enumerate(parts):
        batch.append(part)
        if i == len(parts) - 1 or sum(map(len, batch)) >= enough:
            amount = np.concatenate([p.amount for p in batch])
            same = all(p.ranked is p.amount for p in batch)
            ranked = amount if same else np.concatenate([p.ranked for p in batch])
            yield CellContributions(
                np.concatenate([p.cell for p in batch]), np.concatenate([p.holding for p in batch]), amount, ranked
            )
            batch = []


def _onward(parts: list[Grouped], before: Grouped) -> Grouped:
    """The groups of the next stage, numbered through."""
    if not parts:
        return before.take(np.zeros(0, dtype=np.int64))
    starts = np.cumsum([0, *(len(part.holder) for part in parts)])
    amount = np.concatenate([part.amount for part in parts])
    same = before.ranked is before.amount
    return Grouped(
        np.concatenate([part.group + start for part, start in zip(parts, starts[:-1], strict=True)]),
        np.concatenate([part.holder for part in parts]),
        np.concatenate([part.where for part in parts]),
        amount,
        amount if same else np.concatenate([part.ranked for part in parts]),
    )


def run_starts(values: np.ndarray) -> np.ndarray:
    """Where each run of equal values begins."""
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], 1 + np.flatnonzero(values[1:] != values[:-1])))
