"""Patterns of boxes improved in parts of the table, side by side.

A part is what stands under some codes of one hierarchy. Each is improved by a copy of the whole pattern: neighbourhoods
begin in the part, and go wherever their moves go. What the copies exchanged does not go together: one publishes a cell
that the moves of another need. So the pattern of the copy that gained most is taken, and in it neighbourhoods begin at
the cells that the others published: most of what they found is found again in a small part of the time. Parts are the
same whoever improves them, so that patterns are, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdcdsl.accelerate.csp.box_search import BoxSearch
from sdcdsl.accelerate.csp.box_state import BoxState, PackedMoves
from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.csp.tuning import BOXES
from sdcdsl.deadline import Deadline
from sdcdsl.executing import Team

# Which moves are still there, those that came, the cells that are published now, and the cost.
Exchanged = tuple[np.ndarray, PackedMoves, np.ndarray, float]


def improve_in_parts(search: BoxSearch, team: Team, seed: int, deadline: Deadline) -> None:
    """A neighbourhood for every cell that is hidden beside those that must be, or as many as there is time for."""
    part = parts_of(search.table)
    count = int(part.max(initial=0)) + 1
    search.in_parts(part)
    rounds = -(-search.secondary // count)
    moves, before = search.packed(), search.cost
    shared, given = team.share(search.state), team.share(moves)
    tasks = [(shared, given, k, [seed, k], rounds, deadline) for k in range(count)]
    made = list(_done(team, tasks))
    best = min(range(count), key=lambda k: made[k][3])
    kept, came, _, cost = made[best]
    if cost < before:
        _set(search, [_those(moves, kept), came])
    there = np.zeros(len(search.hidden), dtype=np.int64)
    for k in range(count):
        if k != best:
            there[made[k][2]] = 1
    there = (there & search.hidden)[: search.table.size]
    search.in_parts(there)
    left = int(BOXES.again * there.sum())
    while left > 0 and not deadline.expired:
        search.improve(min(left, BOXES.slice), 0.0, where=1)
        left -= BOXES.slice
    search.prune()


def improved(
    state: BoxState, moves: PackedMoves, part: int, seed: list[int], rounds: int, deadline: Deadline
) -> Exchanged:
    """What a copy of the pattern exchanges in its part."""
    mine = state.fresh(seed)
    mine.take(moves)
    hidden, left = mine.hidden, rounds
    while left > 0 and not deadline.expired:
        mine.improve(min(left, BOXES.slice), 0.0, where=part)
        left -= BOXES.slice
    before, after = dict.fromkeys(_keys(moves)), mine.packed()
    keys = _keys(after)
    there = set(keys)
    came = np.array([key not in before for key in keys], dtype=bool)
    published = np.flatnonzero(hidden & ~mine.hidden)
    kept = np.array([key in there for key in before], dtype=bool)
    return kept, _those(after, came), published, mine.cost


def parts_of(table: ProductTable) -> np.ndarray:
    """The part of each cell of the lattice, by the codes below the total of the dimension that has most of them; cells
    of that total by the next dimension."""
    branches = [_branches(table, k) for k in range(len(table.codes))]
    order = sorted(range(len(branches)), key=lambda k: -int(branches[k].max()))
    count = min(BOXES.parts, int(branches[order[0]].max()) + 1)
    part = np.full(table.size, -1, dtype=np.int64)
    cell = np.arange(table.size)
    for k in order:
        mine, many = branches[k], int(branches[k].max()) + 1
        of_code = np.where(mine >= 0, mine * min(count, many) // max(many, 1), -1)
        part = np.where(part < 0, of_code[cell // table.step[k] % table.codes[k]], part)
    return np.maximum(part, 0)


def _branches(table: ProductTable, k: int) -> np.ndarray:
    """Of each code of a dimension, the number of the code below the total under which it stands; -1 for the total."""
    first = int(table.first[k])
    parent = table.parent[first : first + table.codes[k]] - first
    below = np.flatnonzero((parent >= 0) & (table.parent[first + np.maximum(parent, 0)] < 0))
    branch = np.full(len(parent), -1, dtype=np.int64)
    branch[below] = np.arange(len(below))
    up = np.where(np.isin(np.arange(len(parent)), below) | (parent < 0), np.arange(len(parent)), parent)
    for _ in range(int(table.depth[k])):
        branch = branch[up]
    return branch


def _done(team: Team, tasks: list[tuple]) -> Iterator[Exchanged]:
    futures = [team.submit(improved, *task) for task in tasks]
    try:
        for future in futures:
            yield future.result()
    finally:
        for future in futures:
            future.cancel()


def _set(search: BoxSearch, moves: list[PackedMoves]) -> None:
    search.clear()
    for some in moves:
        search.take(some)


def _keys(moves: PackedMoves) -> list[bytes]:
    start, cell, d = moves
    spans = zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
    return [cell[a:b].tobytes() + d[a:b].tobytes() for a, b in spans]


def _those(moves: PackedMoves, chosen: np.ndarray) -> PackedMoves:
    start, cell, d = moves
    count = np.diff(start)
    entry = np.repeat(chosen, count)
    return np.append(0, np.cumsum(count[chosen])), cell[entry], d[entry]
