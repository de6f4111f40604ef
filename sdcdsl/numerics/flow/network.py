"""Recognises when M d = 0 says no more than that a flow is preserved at every node of a graph.

A matrix whose columns hold at most one +1 and one -1 is the incidence matrix of a graph: equations are nodes, cells are
arcs from the -1 (tail) to the +1 (head), a single entry joins its node to a *ground*, and M d = 0 reads inflow =
outflow. Tables in two dimensions, one of them with a hierarchy, are such once the signs of some equations are turned
and the equations that follow from others are left out. Nothing is known here but the matrix, so both are found:

* An equation is *kept* if one of its cells is in at most two equations that are still there: to leave it out would not
  be forced by this cell. The rest are candidates, and those that the kept ones imply are left out. That lowers the
  number of equations of their cells, and the next round keeps more.
* In rows that are a tree this goes from the leaves up: the relations over the columns are kept for leaf rows, follow
  for the rows above them, and every other relation is kept. Taking cells away changes none of it, since a cell that
  stays, stays in the same equations. The system must come with *all* relations: one from which a redundant relation of
  the wrong kind is gone need not be recognised.
* What is left out is proved, not supposed. g is in the row space of an incidence matrix iff it is a difference of
  potentials: g_j = π(head j) - π(tail j). Away from the support of g, π is constant on connected parts. So take a cell
  e of g and grow the parts around its two ends, both at once. If they meet, g is not implied. If one is used up, take
  g_e times the boundary of that part from g, which then has less support; at zero, g is proved to be a combination.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.numerics.compiled import kernel


@dataclass(frozen=True, eq=False)
class Network:
    """Node v stands for `flip[v]` times equation `equation[v]`; the ground is the node after the last."""

    tail: np.ndarray  # int64 [cell]: where the cell has -1
    head: np.ndarray  # int64 [cell]: where it has +1
    equation: np.ndarray  # int64 [node]: number of the equation in the system that was given
    flip: np.ndarray  # int64 [node]: 1 or -1
    start: np.ndarray  # int64 [node + 2]: arcs at node v are arc[start[v] : start[v + 1]], the ground included
    arc: np.ndarray  # int64

    @property
    def cells(self) -> int:
        return len(self.tail)

    @property
    def ground(self) -> int:
        return len(self.equation)


@dataclass(frozen=True, eq=False)
class _System:
    """The entries cell by cell and equation by equation."""

    cell: np.ndarray  # int64 [entry], ascending
    row: np.ndarray
    sign: np.ndarray
    row_start: np.ndarray  # int64 [equation + 1]
    row_cell: np.ndarray  # int64 [entry], ascending within an equation
    row_sign: np.ndarray
    cells: int

    @property
    def equations(self) -> int:
        return len(self.row_start) - 1


def as_network(
    coefficient: np.ndarray, cell_of: np.ndarray, equation_of: np.ndarray, cells: int, equations: int
) -> Network | None:
    """The system as a network with the same solutions, or None where none was found."""
    system = _system(coefficient, cell_of, equation_of, cells, equations)
    if system is None:
        return None
    length = np.diff(system.row_start)
    there = (length > 0) & ~_repeated(system)
    kept = np.zeros(equations, dtype=bool)
    while True:
        degree = np.bincount(system.cell[there[system.row]], minlength=cells)
        kept[system.row[degree[system.cell] <= 2]] = True
        kept &= there
        network = _incidence(system, kept)
        if network is None:
            return None
        candidates = np.flatnonzero(there & ~kept)
        if not len(candidates):
            return network
        follows = _implied(system, network, candidates)
        there[candidates[follows]] = False
        if not follows.any():
            alone = candidates[length[candidates] == 1]  # says d_j = 0: belongs somewhere, and hinders least as a node
            if not len(alone):
                return None
            kept[alone] = True


def _system(coefficient, cell_of, equation_of, cells: int, equations: int) -> _System | None:
    """None if an entry is not 1 or -1 once entries for the same place are added up."""
    key = np.asarray(cell_of, dtype=np.int64) * equations + equation_of
    if np.any(key[1:] <= key[:-1]):
        key, place = np.unique(key, return_inverse=True)
        value = np.bincount(place, weights=coefficient, minlength=len(key))
        key, value = key[value != 0], value[value != 0]
    else:
        value = np.asarray(coefficient, dtype=float)
    if not np.all(np.abs(value) == 1):
        return None
    sign = value.astype(np.int64)
    cell, row = key // max(equations, 1), key % max(equations, 1)
    order = np.argsort(row, kind="stable")
    return _System(cell, row, sign, _starts(row, equations), cell[order], sign[order], cells)


def _starts(group: np.ndarray, groups: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups))])


def _repeated(system: _System) -> np.ndarray:
    """Marks equations that are another one, or its negative, over again. A sum finds them, a comparison decides."""
    length = np.diff(system.row_start)
    weight = np.random.default_rng(0).integers(1, 2**40, system.cells)
    total = np.zeros(system.equations, dtype=np.int64)
    np.add.at(total, system.row, weight[system.cell] * system.sign)
    _, first, group = np.unique(np.stack([np.abs(total), length]), axis=1, return_index=True, return_inverse=True)
    same = first[group.ravel()]
    repeated = (same != np.arange(system.equations)) & (length > 0)
    for row in np.flatnonzero(repeated):
        mine = slice(system.row_start[row], system.row_start[row + 1])
        other = slice(system.row_start[same[row]], system.row_start[same[row] + 1])
        turn = system.row_sign[mine] * system.row_sign[other]
        repeated[row] = np.array_equal(system.row_cell[mine], system.row_cell[other]) and np.all(turn == turn[0])
    return repeated


def _incidence(system: _System, kept: np.ndarray) -> Network | None:
    """The kept equations as a graph; None if a cell is in three of them or no choice of signs fits."""
    equation = np.flatnonzero(kept)
    ground = len(equation)
    number = np.full(system.equations, ground)
    number[equation] = np.arange(ground)
    entry = np.flatnonzero(kept[system.row])
    cell = system.cell[entry]
    if np.any(cell[2:] == cell[:-2]):
        return None
    ends = np.full((2, system.cells), ground)
    sign = np.zeros((2, system.cells), dtype=np.int64)
    again = np.zeros(len(cell), dtype=np.int64)
    again[1:] = cell[1:] == cell[:-1]
    ends[again, cell] = number[system.row[entry]]
    sign[again, cell] = system.sign[entry]
    order = np.argsort(ends.ravel(), kind="stable")
    start, arc = _starts(ends.ravel(), ground + 1), order % max(system.cells, 1)
    flip = np.zeros(ground, dtype=np.int64)
    if not balance(ends[0], ends[1], sign[0] * sign[1], start, arc, flip, np.empty(ground, dtype=np.int64)):
        return None
    into = sign[0] * np.append(flip, 0)[ends[0]] > 0
    head, tail = np.where(into, ends[0], ends[1]), np.where(into, ends[1], ends[0])
    return Network(tail, head, equation, flip, start, arc)


def _implied(system: _System, network: Network, candidates: np.ndarray) -> np.ndarray:
    follows = np.zeros(len(candidates), dtype=np.bool_)
    nodes = network.ground + 1
    implied(
        candidates,
        (system.row_start, system.row_cell, system.row_sign),
        (network.tail, network.head, network.start, network.arc),
        np.zeros(system.cells, dtype=np.int64),
        np.full(nodes, -1),
        np.empty((2, nodes), dtype=np.int64),
        follows,
    )
    return follows


@kernel
def balance(one, two, product, start, arc, flip, queue):
    """Turns signs so that every cell between two nodes has opposite ones; False if some cycle forbids it."""
    ground = len(flip)
    for root in range(ground):
        if flip[root] != 0:
            continue
        flip[root] = 1
        queue[0] = root
        done, count = 0, 1
        while done < count:
            v = queue[done]
            done += 1
            for q in range(start[v], start[v + 1]):
                j = arc[q]
                w = one[j] + two[j] - v
                if w == ground:
                    continue
                if flip[w] == 0:
                    flip[w] = -flip[v] * product[j]
                    queue[count] = w
                    count += 1
                elif flip[w] != -flip[v] * product[j]:
                    return False
    return True


@kernel
def apart(a, b, stamp, graph, left, seen, queue):
    """Grows the parts around a and b over cells where `left` is 0. Returns which is used up (0 at a, 1 at b) and its
    number of nodes, or -1 if they meet."""
    tail, head, start, arc = graph
    if a == b:
        return -1, 0
    seen[a], seen[b] = stamp, stamp + 1
    queue[0, 0], queue[1, 0] = a, b
    done_a, done_b, count_a, count_b, work_a, work_b = 0, 0, 1, 1, 0, 0
    while True:
        side = 0 if work_a <= work_b else 1
        done, count = (done_a, count_a) if side == 0 else (done_b, count_b)
        if done == count:
            return side, count
        v = queue[side, done]
        for q in range(start[v], start[v + 1]):
            j = arc[q]
            if left[j] != 0:
                continue
            w = tail[j] + head[j] - v
            if seen[w] == stamp + 1 - side:
                return -1, 0
            if seen[w] != stamp + side:
                seen[w] = stamp + side
                queue[side, count] = w
                count += 1
        work = start[v + 1] - start[v] + 1
        if side == 0:
            done_a, count_a, work_a = done + 1, count, work_a + work
        else:
            done_b, count_b, work_b = done + 1, count, work_b + work


@kernel
def implied(candidates, rows, graph, left, seen, queue, follows):
    """Which candidate equations are differences of potentials. `left` is what of the equation is not yet explained."""
    row_start, row_cell, row_sign = rows
    tail, head, start, arc = graph
    stamp = 0
    for i in range(len(candidates)):
        first, last = row_start[candidates[i]], row_start[candidates[i] + 1]
        for k in range(first, last):
            left[row_cell[k]] = row_sign[k]
        follows[i] = True
        for k in range(first, last):
            e = row_cell[k]
            if left[e] == 0:
                continue
            side, count = apart(head[e], tail[e], stamp, graph, left, seen, queue)
            stamp += 2
            if side < 0:
                follows[i] = False
                break
            height = left[e] if side == 0 else -left[e]
            for n in range(count):
                v = queue[side, n]
                for q in range(start[v], start[v + 1]):
                    j = arc[q]
                    if head[j] != tail[j]:
                        left[j] -= height if head[j] == v else -height
        for k in range(first, last):
            left[row_cell[k]] = 0
