"""Which engine a component gets: a dictionary where it moves in few dimensions, flows on networks, else a solver."""

from __future__ import annotations

from math import inf

import numpy as np

from sdcdsl.attack.dense import DenseEngine
from sdcdsl.attack.elimination import Echelon, echelon
from sdcdsl.attack.engine import Bounds, Engine, Identity
from sdcdsl.attack.flow import FlowEngine
from sdcdsl.attack.network import as_network
from sdcdsl.attack.peeling import Peeled, PeeledEngine
from sdcdsl.attack.reduction import Component

ENGINES = ("dense", "network", "highs")

LARGE_MATRIX = 500  # entries from which it pays to see whether the relations are those of a network
LARGE_DICTIONARY = 4_000_000  # numbers up to which a dictionary beats a linear program
FILL = 20  # elimination may grow to this many times the entries of the relations


def engine_for(component: Component, asked: str | None = None) -> Engine:
    """The engine that fits, or the one asked for (which may not be able to: ValueError)."""
    matrix, l, u = component.matrix, component.l, component.u
    if not matrix.rows:
        return Alone(l, u)
    if asked == "highs":
        return _highs(component, None)
    if asked == "network":
        made = _network(component)
        if made is None:
            raise ValueError("the relations are not those of a network")
        return made
    flow = _network(component) if asked is None and len(matrix.index) > LARGE_MATRIX else None
    if flow is not None:
        return flow
    found = echelon(matrix, fill=FILL * len(matrix.index) + 1000)
    size = matrix.columns * len(found.free) if found is not None else inf
    if asked == "dense" and found is None:
        raise ValueError("too many numbers for an elimination")
    if found is not None and (asked == "dense" or size <= LARGE_DICTIONARY):
        return DenseEngine(matrix, found, l, u)
    return _highs(component, found)


def _network(component: Component) -> Engine | None:
    """Networks are recognised only without the cells that a chain of relations determines."""
    peeled = Peeled(component.matrix)
    m = peeled.rest
    row = np.repeat(np.arange(m.rows), np.diff(m.start))
    network = as_network(m.value, m.index, row, m.columns, m.rows)
    if network is None:
        return None
    return PeeledEngine(peeled, FlowEngine(network, component.l[peeled.cells], component.u[peeled.cells]))


def _highs(component: Component, found: Echelon | None) -> Engine:
    from sdcdsl.attack.highs import HighsEngine  # noqa: PLC0415  only what needs a solver loads it

    m = component.matrix
    rows = np.sort(found.row) if found is not None else np.arange(m.rows)
    return HighsEngine(m, rows, component.l, component.u)


class Alone:
    """A cell in no relation: its box is all there is to know."""

    def __init__(self, l: np.ndarray, u: np.ndarray):
        self.l, self.u = l, u

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> Own:
        l, u = float(self.l[cell]), float(self.u[cell])
        if bounds is not None and len(bounds[0]):
            l, u = float(bounds[1][0]), float(bounds[2][0])
        return Own(cell, sign, u if sign > 0 else -l)

    def joint(self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray) -> None:
        return None


class Own:
    """A cell that goes to its own end, alone."""

    closed = True

    def __init__(self, cell: int, sign: int, reached: float):
        self.reached = reached
        self.cells = np.array([cell], dtype=np.int64)
        self.move = np.array([sign * (reached if reached < inf else 1.0)])

    def multipliers(self) -> Identity:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
