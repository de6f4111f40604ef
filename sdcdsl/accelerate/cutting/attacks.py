"""One attacker problem at a time, with the proof of how far it goes: max sign · D_p, M D = 0, -down ≤ D ≤ up.

Capacities change from question to question here, relations never do. The proof is an identity

    sign · D_p = Σ c_i D_i    for all M D = 0,    c = sign · e_p - Mᵀγ

and it is formed from γ and the relations alone: what a solver gets wrong makes γ less good, never the identity wrong.

On networks an answer is a maximum flow, on a grid of powers of two so that nothing is rounded, and c the arcs of a
minimum cut. Elsewhere it is a linear program by primal simplex: from one question to the next, at one point, hardly
more than the objective changes, and where the last one ended is a good place to start.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isfinite, log2
from typing import Any, Protocol

import numpy as np

from sdcdsl.accelerate.cutting.aggregation import Classes
from sdcdsl.numerics.compiled import large
from sdcdsl.numerics.flow import max_flow
from sdcdsl.numerics.flow.network import Network
from sdcdsl.numerics.lp import PRIMAL, LinearProgram
from sdcdsl.numerics.null_space import RelationMatrix, independent_rows
from sdcdsl.status import INFEASIBLE_OR_UNBOUNDED, OPTIMAL, UNBOUNDED

BITS = 44  # leaves slack for sums of 2^9 of the largest capacities
FINE = 2.0**-34  # of the level: a grid that is coarser than this loses sight of it
HUGE = 1e7  # capacities beyond this many times the level are as good as none
TIGHT: dict[str, Any] = {"primal_tolerance": 1e-10, "dual_tolerance": 1e-9}
DUST = 1e-11  # moves below this share of the level are rounding errors of a solver


class AttackFailed(RuntimeError):
    """A solver ended with something that is not an answer."""


@dataclass(frozen=True, eq=False)
class AttackAnswer:
    """`reached` may be ∞: then the move is a ray. `cells` and `coefficients` are the identity, None if `need` was met
    before a proof was."""

    reached: float
    moved: np.ndarray  # classes that move
    move: np.ndarray
    cells: np.ndarray | None
    coefficients: np.ndarray | None


class Attacks(Protocol):
    def ask(self, cell: int, sign: int, need: float, down: np.ndarray, up: np.ndarray) -> AttackAnswer:
        """How far the class goes; not further than `need` is required, though the answer may be."""
        ...


def attacks_on(classes: Classes) -> Attacks:
    if classes.network is not None:
        return FlowAttacks(classes.network)
    return LinearAttacks(classes.matrix)


class FlowAttacks:
    def __init__(self, network: Network, fast: bool | None = None):
        """`fast`: compiled, whatever the size; for many networks of a kind."""
        self.network = network
        cells, nodes = network.cells, network.ground + 1
        self.fast = large(cells) if fast is None else fast
        keep = (lambda a: a) if self.fast else np.ndarray.tolist
        self._keep = keep
        self._graph = tuple(keep(a) for a in (network.tail, network.head, network.start, network.arc))
        self._d, self._mark = keep(np.zeros(cells)), keep(np.zeros(cells, dtype=np.int64))
        self._marks = keep(np.full(nodes, -1)), keep(np.zeros(nodes, dtype=np.int64)), self._mark
        lists = [keep(np.zeros(nodes, dtype=np.int64)) for _ in range(4)]
        self._queues = lists[:2]
        self._lists = (
            *lists,
            keep(np.zeros(cells, dtype=np.int64)),
            keep(np.zeros(cells)),
            keep(np.zeros(2, dtype=np.int64)),
        )
        self._stamp = 0
        self._route = max_flow.route.fast if self.fast else max_flow.route.plain
        self._box: tuple = (None, None)

    def ask(self, cell: int, sign: int, need: float, down: np.ndarray, up: np.ndarray) -> AttackAnswer:
        if self._box[0] is not down or self._box[1] is not up:
            low, high = self.box(down, up)
            self._low, self._high = self._keep(low), self._keep(high)
            self._box = (down, up)
        if self.grid > FINE * need:
            # No arc of a flow carries more than the flow itself: capacities beyond the level only make the grid coarse.
            return self.within(cell, sign, need, *self.box(np.minimum(down, need), np.minimum(up, need)))
        return self._within(cell, sign, need, self._low, self._high)

    def box(self, down: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The capacities as bounds on the grid, which is chosen for them."""
        largest = max(
            float(np.max(down, where=np.isfinite(down), initial=0.0)),
            float(np.max(up, where=np.isfinite(up), initial=0.0)),
            1e-200,
        )
        self.grid = 2.0 ** (ceil(log2(largest)) - BITS)
        self._box = (None, None)
        return np.ceil(down / -self.grid) * self.grid, np.floor(up / self.grid) * self.grid

    def within(self, cell: int, sign: int, need: float, low: np.ndarray, high: np.ndarray) -> AttackAnswer:
        """The same within bounds that are on the grid; for flows that are made larger step by step."""
        return self._within(cell, sign, need, self._keep(low), self._keep(high))

    def _within(self, cell: int, sign: int, need: float, low, high) -> AttackAnswer:
        own = float(high[cell] if sign > 0 else -low[cell])
        level = ceil(need / self.grid) * self.grid if isfinite(need) else need
        reached, status, moved, count, toward, self._stamp = self._route(
            (cell, sign, min(own, level), self.grid, self._stamp + 1),
            self._graph,
            (low, high, self._d),
            self._marks,
            self._lists,
        )
        cells, move = np.array(self._lists[4][:moved], dtype=np.int64), np.array(self._lists[5][:moved])
        if status == max_flow.UNBOUNDED:
            return AttackAnswer(inf, cells, move, None, None)
        if status == max_flow.CLOSED:
            side = np.array(self._queues[0 if toward > 0 else 1][:count], dtype=np.int64)
            return AttackAnswer(reached, cells, move, *self._cut(cell, side, toward))
        if own < level:
            return AttackAnswer(reached, cells, move, np.array([cell]), np.array([float(sign)]))
        return AttackAnswer(reached, cells, move, None, None)

    def _cut(self, cell: int, side: np.ndarray, toward: int) -> tuple[np.ndarray, np.ndarray]:
        net = self.network
        inside = np.zeros(net.ground + 1, dtype=np.int8)
        inside[side] = 1
        inflow = inside[net.head] - inside[net.tail]
        inflow[cell] = 0
        cells = np.flatnonzero(inflow)
        return cells, -float(toward) * inflow[cells]


class LinearAttacks:
    def __init__(self, matrix: RelationMatrix):
        m = matrix.sparse[independent_rows(matrix)]
        self._transposed = m.T.tocsr()
        self._program = LinearProgram(m, maximise=True, algorithm=PRIMAL, **TIGHT)
        self._priced = np.zeros(0, dtype=np.int32)

    def forget(self) -> None:
        """As if nothing had been asked."""
        self._price(np.zeros(0, dtype=np.int32), np.zeros(0))
        self._program.forget()

    def ask(self, cell: int, sign: int, need: float, down: np.ndarray, up: np.ndarray) -> AttackAnswer:
        """Lengths are measured in `need`, since the tolerances of solvers are absolute."""
        unit = need if isfinite(need) and need > 0 else 1.0
        program = self._program
        self._price(np.array([cell], dtype=np.int32), np.array([float(sign)]))
        low, high = down / unit, up / unit
        low, high = np.where(low > HUGE, -inf, -low), np.where(high > HUGE, inf, high)
        if sign > 0:
            high[cell] = min(high[cell], need / unit)
        else:
            low[cell] = max(low[cell], -need / unit)
        program.change_bounds(low, high)
        status = program.solve()
        if status in (UNBOUNDED, INFEASIBLE_OR_UNBOUNDED):
            return self._ray(cell)
        if status != OPTIMAL:
            program.forget()
            if program.solve() != OPTIMAL:
                raise AttackFailed(program.message)
        x, gamma = program.x, program.dual
        moved = np.flatnonzero(np.abs(x) > DUST)
        c = -(self._transposed @ gamma)
        c[cell] += sign
        cells = np.flatnonzero(np.abs(c) > 1e-13)
        return AttackAnswer(max(sign * x[cell] * unit, 0.0), moved, x[moved] * unit, cells, c[cells])

    def _price(self, cells: np.ndarray, cost: np.ndarray) -> None:
        if len(self._priced):
            self._program.change_costs(np.zeros(len(self._priced)), self._priced)
        self._program.change_costs(cost, cells)
        self._priced = cells

    def _ray(self, cell: int) -> AttackAnswer:
        ray = self._program.primal_ray()
        if ray is None:
            raise AttackFailed("unbounded without a ray")
        self._program.forget()
        moved = np.flatnonzero(np.abs(ray) > DUST * abs(ray[cell]))
        return AttackAnswer(inf, moved, ray[moved] / abs(ray[cell]), None, None)
