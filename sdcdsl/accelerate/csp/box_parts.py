"""Patterns of boxes improved in parts of the table, side by side.

A part is what stands under some codes of one hierarchy. Each is improved by a copy of the whole pattern: neighbourhoods
begin in the part, and go wherever their moves go. What the copies exchanged is then put together: moves that none of
them gave up, and those that came. A requirement of which two copies gave up a move each, relying on the other's, gets a
new one. Parts are the same whoever improves them, so that patterns are, too.
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

Exchanged = tuple[np.ndarray, PackedMoves]  # which moves are still there, and those that came


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
    kept = np.logical_and.reduce([still for still, _ in made])
    _set(search, [_those(moves, kept), *(came for _, came in made)])
    if not search.complete(Deadline()) or search.cost > before:  # what came does not go together
        _set(search, [moves])
        return
    search.prune()


def improved(
    state: BoxState, moves: PackedMoves, part: int, seed: list[int], rounds: int, deadline: Deadline
) -> Exchanged:
    """What a copy of the pattern exchanges in its part."""
    mine = state.fresh(seed)
    mine.take(moves)
    left = rounds
    while left > 0 and not deadline.expired:
        mine.improve(min(left, BOXES.slice), 0.0, where=part)
        left -= BOXES.slice
    before, after = dict.fromkeys(_keys(moves)), mine.packed()
    keys = _keys(after)
    there = set(keys)
    came = np.array([key not in before for key in keys], dtype=bool)
    return np.array([key in there for key in before], dtype=bool), _those(after, came)


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
