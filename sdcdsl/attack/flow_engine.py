"""How far can one cell go? On a network the answer is a maximum flow, and its proof a minimum cut.

Let d_p = t for the arc p. Preservation at the nodes asks the other arcs to bring t from the head of p back to its tail
(from tail to head for d_p = -t), arc j within [l_j, u_j]. Each question starts at d = 0 and adds shortest paths that
still carry something (`bridge`), first those that carry much: the fewer and shorter the cycles, the smaller the
certificate. It ends when the level required is reached, when the cell's own bound is, or when no path is left. Then
the nodes found from one end are one side of a cut. The sum of their equations reads, with s the sign of the question,

    s · d_p = Σ over arcs j that leave the side of the source  d_j  -  Σ over arcs that enter it  d_j

for every solution, and each term on the right is at its bound: no d goes further.

Arithmetic is exact. Bounds that are decimals are turned into whole numbers; all others are moved inwards to multiples
of a power of two, at most 2^-44 of the largest finite bound. Sums and differences of such numbers have no rounding, so
M d = 0 holds as it stands, and what remains of a capacity is 0 or at least one step of the grid.

One question touches only what it visits: marks carry the number of the search, and changed arcs are listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, inf, isfinite, log2

import numpy as np

from sdcdsl.numerics.compiled import large
from sdcdsl.numerics.flow.max_flow import CLOSED, UNBOUNDED, route
from sdcdsl.numerics.flow.network import Network

Bounds = tuple[np.ndarray, np.ndarray, np.ndarray]

FINEST = 6  # decimal places up to which bounds are taken for decimals
WHOLE = 2.0**50
BITS = 44  # leaves slack for sums of 2^9 of the largest bounds


@dataclass(frozen=True, eq=False)
class Push:
    """An answer. `reached` is ∞ if there is no limit; then the move is a ray, which may be taken any number of times.

    `side` is one side of the minimum cut, without the ground, and `toward` is 1 if it is the side of the source. It is
    empty if the cell's own bound stopped it: the identity is then s · d_p = s · d_p.
    """

    cell: int
    sign: int
    reached: float
    cells: np.ndarray  # int64, ascending: the support of d, the cell itself included
    move: np.ndarray  # float64: d there
    closed: bool  # proved to be the maximum
    network: Network = field(repr=False)
    side: np.ndarray | None = field(repr=False, default=None)  # int64 [node]; None unless closed by a finite bound
    toward: int = 1
    bound: float = inf
    again: bool = False

    @property
    def cut(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Cells and coefficients with sign · d_p = Σ coefficient · d for all M d = 0, and bound = `reached`."""
        if self.side is None:
            return None
        if not len(self.side):
            return np.array([self.cell]), np.array([float(self.sign)])
        net = self.network
        spans = zip(net.start[self.side], net.start[self.side + 1], strict=True)
        near = np.concatenate([net.arc[a:b] for a, b in spans])
        at = np.repeat(self.side, net.start[self.side + 1] - net.start[self.side])
        cells, place = np.unique(near, return_inverse=True)
        inflow = np.bincount(place, weights=np.where(net.head[near] == at, 1.0, -1.0))
        there = (inflow != 0) & (cells != self.cell)
        return cells[there], -self.toward * inflow[there]

    def multipliers(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Equations and γ with sign · e_p - Mᵀγ = the coefficients of the cut, in whole numbers."""
        if self.side is None:
            return None
        equation, gamma = self.network.equation[self.side], self.toward * self.network.flip[self.side]
        order = np.argsort(equation)
        return equation[order], gamma[order]


class FlowEngine:
    """Questions to one network with one box, l ≤ 0 ≤ u. Not for two threads at once: it keeps its marks."""

    def __init__(self, network: Network, l: np.ndarray, u: np.ndarray, *, fast: bool | None = None) -> None:
        self.network = network
        cells, nodes = network.cells, network.ground + 1
        self.fast = large(cells) if fast is None else fast
        ends = np.abs(np.concatenate([l, u])).astype(float)
        ends = ends[np.isfinite(ends)]
        self.scale, self.whole = _scale(ends)
        largest = max(float(ends.max(initial=0.0)) * self.scale, 1e-200)
        self.grid = 2.0 ** (ceil(log2(largest)) - BITS)
        if self.whole:
            self.grid = min(self.grid, 1.0)
        low, high = self._inward(np.asarray(l, dtype=float), np.asarray(u, dtype=float))
        keep = (lambda a: a) if self.fast else np.ndarray.tolist  # lists are quicker to index one by one
        self._low, self._high = keep(low), keep(high)
        self._graph = tuple(keep(a) for a in (network.tail, network.head, network.start, network.arc))
        self._d, self._mark = keep(np.zeros(cells)), keep(np.zeros(cells, dtype=np.int64))
        self._seen, self._via = keep(np.full(nodes, -1)), keep(np.zeros(nodes, dtype=np.int64))
        self._queues = tuple(keep(np.zeros(nodes, dtype=np.int64)) for _ in range(4))
        self._touched, self._move = keep(np.zeros(cells, dtype=np.int64)), keep(np.zeros(cells))
        self._state, self._stamp = keep(np.zeros(2, dtype=np.int64)), 0
        self._route = route.fast if self.fast else route.plain

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> Push:
        """How far d_cell goes in the direction `sign`, or that it goes as far as `need`.

        `bounds` are cells with the ends that hold for them in this question only.
        """
        if bounds is None:
            return self._push(cell, sign, need, self.whole)
        cells = np.asarray(bounds[0]).tolist()
        low, high = self._inward(np.asarray(bounds[1], dtype=float), np.asarray(bounds[2], dtype=float))
        before = [(self._low[j], self._high[j]) for j in cells]
        finite = np.concatenate([low, high])
        finite = finite[np.isfinite(finite)]
        try:
            for j, a, b in zip(cells, low.tolist(), high.tolist(), strict=True):
                self._low[j], self._high[j] = a, b
            return self._push(cell, sign, need, self.whole and bool(np.all(finite == np.rint(finite))))
        finally:
            for j, (a, b) in zip(reversed(cells), reversed(before), strict=True):
                self._low[j], self._high[j] = a, b

    def run_batch(self, loop: Callable, batch: tuple, modes: tuple) -> tuple[int, int]:
        """A compiled loop over many questions, which keeps its marks here."""
        at, why, self._stamp = loop(
            batch,
            (self.grid, self.scale, self._stamp),
            self._graph,
            (self._low, self._high, self._d),
            (self._seen, self._via, self._mark),
            (*self._queues, self._touched, self._move, self._state),
            modes,
        )
        return at, why

    def _push(self, cell: int, sign: int, need: float, whole: bool) -> Push:
        own = float(self._high[cell] if sign > 0 else -self._low[cell])
        want = min(own, self.level(need, whole))
        reached, status, moved, count, toward, self._stamp = self._route(
            (cell, sign, want, self.grid, self._stamp + 1),
            self._graph,
            (self._low, self._high, self._d),
            (self._seen, self._via, self._mark),
            (*self._queues, self._touched, self._move, self._state),
        )
        cells = np.array(self._touched[:moved], dtype=np.int64)
        move = np.array(self._move[:moved])
        order = np.argsort(cells)
        cells, move = cells[order], move[order]
        if status == UNBOUNDED:
            return Push(cell, sign, inf, cells, move, True, self.network)
        side = None
        if status == CLOSED:
            side = np.array(self._queues[0 if toward > 0 else 1][:count], dtype=np.int64)
        elif reached >= own:
            side = np.zeros(0, dtype=np.int64)
        if self.scale != 1:
            reached, move = reached / self.scale, move / self.scale
        return Push(cell, sign, reached, cells, move, side is not None, self.network, side, toward)

    def _inward(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The box in units of the engine, moved inwards to its grid."""
        if np.any(low > 0) or np.any(high < 0):
            raise ValueError("a box must hold 0, the true table")
        low, high = (_rounded(side * self.scale) if self.whole else side for side in (low, high))
        return np.ceil(low / self.grid) * self.grid, np.floor(high / self.grid) * self.grid

    def level(self, need: float, whole: bool) -> float:
        """In units of the engine, the least level on the grid that is enough. Between whole bounds the maximum is whole
        too."""
        if not isfinite(need):
            return inf
        level, step = need * self.scale, 1.0 if whole else self.grid
        if self.whole and abs(level - round(level)) <= 1e-9 * max(1.0, abs(level)):
            level = float(round(level))
        return max(ceil(level / step) * step, 0.0)


def _scale(ends: np.ndarray) -> tuple[float, bool]:
    """The power of ten that makes all ends whole, if there is one."""
    for places in range(FINEST + 1):
        scaled = ends * 10.0**places
        if np.all(scaled < (WHOLE if places == 0 else 2.0**BITS)) and np.all(_rounded(scaled) == np.rint(scaled)):
            return 10.0**places, True
    return 1.0, False


def _rounded(x: np.ndarray) -> np.ndarray:
    """Numbers that miss a whole number only by how decimals are stored become whole."""
    with np.errstate(invalid="ignore"):
        whole = np.rint(x)
        return np.where(np.abs(x - whole) <= np.minimum(np.abs(whole) * 2.0**-49, 1e-6), whole, x)
