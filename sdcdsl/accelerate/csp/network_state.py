"""A table as a network with prices, and the incumbent of a suppression pattern on it, ready for the inner loops.

Numbers are made free of scale: needs and slacks are shares of the largest need, costs of the largest cost, all rounded
to 40 bits. A table times a million gives the same numbers, and so the same pattern; what rounding changes is a
thousandth of the tolerance of an audit. On a network no flow has to send more through a cell than its need, so slacks
end at 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sdcdsl.accelerate.csp.network_incumbent import COST, LOGGED, TOP
from sdcdsl.attack.singleton_presolve import SingletonPresolve
from sdcdsl.methods.instance import Instance
from sdcdsl.numerics.flow.network import Network, as_network
from sdcdsl.numerics.null_space import RelationMatrix

BITS = 40
DRAWS = 4093


class Graph(NamedTuple):
    """The graph as in `attack.network`, its arcs cheapest first at each node; costs; cells that are hidden anyway."""

    tail: np.ndarray
    head: np.ndarray
    start: np.ndarray
    arc: np.ndarray
    w: np.ndarray
    fixed: np.ndarray


class ViewCapacities(NamedTuple):
    """What attackers leave open in each cell, by view; `loaded` says whose own knowledge is written into it."""

    LB: np.ndarray
    UB: np.ndarray
    view_of: np.ndarray
    start: np.ndarray
    cell: np.ndarray
    own_LB: np.ndarray
    own_UB: np.ndarray
    kept_LB: np.ndarray
    kept_UB: np.ndarray
    loaded: np.ndarray


class FlowRequirements(NamedTuple):
    """The requirements, and those of each cell."""

    cell: np.ndarray
    sign: np.ndarray
    attacker: np.ndarray
    need: np.ndarray
    start: np.ndarray
    side: np.ndarray


class Incumbent(NamedTuple):
    hidden: np.ndarray  # bool [cell]
    users: np.ndarray  # [cell]: how many requirements rely on it
    first: np.ndarray  # [cell]: the first of its entries, -1 for none
    near: np.ndarray  # [2 cell]: the hidden arcs at each node, in the places of `Graph.start`
    opened: np.ndarray  # [node]: how many those are
    place: np.ndarray  # [2, cell]: where the arc stands in `near` at its tail and its head
    begin: np.ndarray  # [side]: its witness is entries begin : begin + length
    length: np.ndarray  # [side]: 0 without a witness
    entry: np.ndarray  # [4, entry]: cell, side, next and previous entry of the same cell
    flow: np.ndarray  # [entry]
    log: np.ndarray  # [4, change]
    state: np.ndarray
    amounts: np.ndarray


class Workspace(NamedTuple):
    """Scratch space. `flow` is 0 everywhere between questions."""

    dist: np.ndarray
    via: np.ndarray
    seen: np.ndarray
    path: np.ndarray
    flow: np.ndarray
    mark: np.ndarray
    touched: np.ndarray
    closed: np.ndarray
    pending: np.ndarray
    listed: np.ndarray
    draws: np.ndarray


def graph_of(instance: Instance) -> tuple[Network, np.ndarray] | None:
    """The cells that may be hidden and can move at all as a network, with their numbers; None if they are none."""
    may = np.flatnonzero(instance.may_open)
    m = instance.M[:, may].tocsr()
    m.eliminate_zeros()
    m.sort_indices()
    start, index = m.indptr.astype(np.int64), m.indices.astype(np.int64)
    peeled = SingletonPresolve(RelationMatrix(start, index, m.data, len(may)))
    rest = peeled.rest
    row = np.repeat(np.arange(rest.rows), np.diff(rest.start))
    network = as_network(rest.value, rest.index, row, rest.columns, rest.rows)
    return None if network is None else (network, may[peeled.cells])


def priced(network: Network, w: np.ndarray, fixed: np.ndarray) -> Graph:
    """The arcs at each node in order of their cost."""
    node = np.repeat(np.arange(len(network.start) - 1), np.diff(network.start))
    arc = network.arc[np.lexsort((w[network.arc], node))]
    return Graph(network.tail, network.head, network.start, arc, w, fixed)


def slacks_of(instance: Instance, cells: np.ndarray, unit: float) -> ViewCapacities:
    attackers = len(instance.view_of)
    local = np.full(instance.n, -1)
    local[cells] = np.arange(len(cells))
    known = [instance.known(k) for k in range(attackers)]
    here = [local[cell] >= 0 for cell, _, _ in known]
    count = np.array([mine.sum() for mine in here], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(count)])

    def joined(part: int) -> np.ndarray:
        return np.concatenate([one[part][mine] for one, mine in zip(known, here, strict=True)] or [np.zeros(0)])

    most = int(count.max(initial=0))
    return ViewCapacities(
        share(instance.LB[:, cells], unit),
        share(instance.UB[:, cells], unit),
        instance.view_of.astype(np.int64),
        start,
        local[joined(0).astype(np.int64)],
        share(joined(1), unit),
        share(joined(2), unit),
        np.zeros(most),
        np.zeros(most),
        np.full(1, -1),
    )


def asked_of(
    cell: np.ndarray, sign: np.ndarray, attacker: np.ndarray, need: np.ndarray, cells: int
) -> FlowRequirements:
    start = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=cells))])
    return FlowRequirements(cell, sign, attacker, need, start, np.argsort(cell, kind="stable"))


def share(x: np.ndarray, unit: float) -> np.ndarray:
    """As shares of the unit, at most 1."""
    return rounded(np.minimum(x, unit) / unit)


def rounded(x: np.ndarray) -> np.ndarray:
    mantissa, exponent = np.frexp(np.ascontiguousarray(x))
    return np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS)


def empty_incumbent(graph: Graph, sides: int, entries: int) -> Incumbent:
    cells, nodes = len(graph.tail), len(graph.start) - 1
    return Incumbent(
        np.zeros(cells, dtype=bool),
        np.zeros(cells, dtype=np.int64),
        np.full(cells, -1),
        np.zeros(len(graph.arc), dtype=np.int64),
        np.zeros(nodes, dtype=np.int64),
        np.zeros((2, cells), dtype=np.int64),
        np.zeros(sides, dtype=np.int64),
        np.zeros(sides, dtype=np.int64),
        np.zeros((4, entries), dtype=np.int64),
        np.zeros(entries),
        np.zeros((4, 4 * cells + 4 * sides + 1000), dtype=np.int64),
        np.zeros(10, dtype=np.int64),
        np.zeros(6),
    )


def empty_workspace(graph: Graph, sides: int, seed: int) -> Workspace:
    cells, nodes = len(graph.tail), len(graph.start) - 1
    return Workspace(
        np.zeros((2, nodes)),
        np.zeros((2, nodes), dtype=np.int64),
        np.full((2, nodes), -1),
        np.zeros(2 * nodes, dtype=np.int64),
        np.zeros(cells),
        np.full(cells, -1),
        np.zeros(cells, dtype=np.int64),
        np.zeros(cells, dtype=bool),
        np.zeros(sides, dtype=np.int64),
        np.full(sides, -1),
        np.random.default_rng(seed).random(DRAWS),
    )


def hide(graph: Graph, incumbent: Incumbent, hidden: np.ndarray) -> None:
    """Hides exactly these cells; witnesses stay."""
    incumbent.hidden[:] = hidden
    incumbent.amounts[COST] = graph.w[hidden].sum()
    cells, nodes = np.flatnonzero(hidden & (graph.tail != graph.head)), len(incumbent.opened)
    node, end = np.concatenate([graph.tail[cells], graph.head[cells]]), np.repeat([0, 1], len(cells))
    both, order = np.tile(cells, 2), np.argsort(node, kind="stable")
    incumbent.opened[:] = np.bincount(node, minlength=nodes)
    first = np.concatenate([[0], np.cumsum(incumbent.opened)])[node[order]]
    at = graph.start[node[order]] + np.arange(len(order)) - first
    incumbent.near[at] = both[order]
    incumbent.place[end[order], both[order]] = at


def forget(incumbent: Incumbent) -> None:
    """No requirement has a witness, and nothing can be taken back."""
    incumbent.users[:], incumbent.first[:], incumbent.begin[:], incumbent.length[:] = 0, -1, 0, 0
    incumbent.state[[TOP, LOGGED]] = 0


def pack(incumbent: Incumbent) -> int:
    """Moves the witnesses to the front of the entries; returns how many entries they take."""
    sides = np.flatnonzero(incumbent.length)
    length = incumbent.length[sides]
    begin = np.cumsum(length) - length
    top = int(length.sum())
    old = np.repeat(incumbent.begin[sides] - begin, length) + np.arange(top)
    cell, flow = incumbent.entry[0, old], incumbent.flow[old]
    incumbent.entry[0, :top], incumbent.entry[1, :top], incumbent.flow[:top] = cell, np.repeat(sides, length), flow
    incumbent.begin[sides] = begin
    incumbent.first[:] = -1
    if top:
        order = np.argsort(cell, kind="stable")
        new = np.append(True, cell[order[1:]] != cell[order[:-1]])  # where the entries of another cell begin
        incumbent.entry[2, order] = np.where(np.append(new[1:], True), -1, np.append(order[1:], -1))
        incumbent.entry[3, order] = np.where(new, -1, np.append(-1, order[:-1]))
        incumbent.first[cell[order[new]]] = order[new]
    incumbent.state[TOP] = top
    return top
