"""Which engine a component gets: a tableau where it moves in few dimensions, flows on networks, else a solver."""

from __future__ import annotations

from math import inf

import numpy as np

from sdcdsl.attack.engine import Bounds, Engine, EngineAnswer, nothing
from sdcdsl.attack.fixed_cells import FixedCellsEngine
from sdcdsl.attack.flow_engine import FlowEngine
from sdcdsl.attack.reduction import Component
from sdcdsl.attack.singleton_presolve import PresolvedEngine
from sdcdsl.attack.tableau_engine import TableauEngine
from sdcdsl.attack.tuning import TUNING
from sdcdsl.numerics.null_space import Echelon, echelon


def engine_for(component: Component, name_of_engine: str | None = None) -> Engine:
    """The engine that fits, or the one asked for (which may not be able to: ValueError)."""
    matrix, l, u = component.matrix, component.l, component.u
    if not matrix.rows:
        return UnrelatedCell(l, u)
    if name_of_engine == "highs":
        return _highs(component, None)
    if name_of_engine == "network":
        made = _network(component)
        if made is None:
            raise ValueError("the relations are not those of a network")
        return made
    found, entries = None, len(matrix.index)
    if name_of_engine is None and entries > TUNING.large_matrix:
        if entries < TUNING.large_elimination:
            found = echelon(matrix)
        few = found is not None and len(found.free) <= TUNING.few_dimensions
        flow = None if few else _network(component)
        if flow is not None:
            return flow
    if found is None:
        found = echelon(matrix)
    size = matrix.columns * len(found.free) if found is not None else inf
    if name_of_engine == "dense" and found is None:
        raise ValueError("too many numbers for an elimination")
    if found is not None and (name_of_engine == "dense" or size <= TUNING.large_tableau):
        return TableauEngine(matrix, found, l, u)
    return _highs(component, found)


class Engines:
    """A few engines kept for later questions about the same box."""

    def __init__(self) -> None:
        self._kept: list[tuple[Component, str | None, Engine]] = []

    def __reduce__(self) -> tuple[type[Engines], tuple[()]]:
        """Engines stay in the process they were made in: others begin with none."""
        return Engines, ()

    def of(self, component: Component, name_of_engine: str | None = None) -> Engine:
        for other, name, engine in self._kept:
            if name == name_of_engine and _same_box(component, other):
                return engine
        return self.new(component, name_of_engine)

    def new(self, component: Component, name_of_engine: str | None = None) -> Engine:
        """One that knows nothing yet, kept for others: what it answers does not depend on who asked before."""
        made = engine_for(component, name_of_engine)
        self._kept = [*self._kept[1 - TUNING.kept_engines :], (component, name_of_engine, made)]
        return made


def _same_box(one: Component, other: Component) -> bool:
    return (
        np.array_equal(one.cells, other.cells)
        and np.array_equal(one.equations, other.equations)
        and np.array_equal(one.l, other.l)
        and np.array_equal(one.u, other.u)
    )


def _network(component: Component) -> Engine | None:
    if component.network is None:
        return None
    presolved, network = component.network
    return PresolvedEngine(presolved, FlowEngine(network, component.l[presolved.cells], component.u[presolved.cells]))


def _highs(component: Component, found: Echelon | None) -> Engine:
    from sdcdsl.attack.lp_engine import LpEngine  # noqa: PLC0415  only what needs a solver loads it

    m = component.matrix
    if found is None:
        return LpEngine(m, np.arange(m.rows), component.l, component.u)
    return FixedCellsEngine(found, m.columns, LpEngine(m, np.sort(found.row), component.l, component.u))


class UnrelatedCell:
    """A cell in no relation: its box is all there is to know."""

    def __init__(self, l: np.ndarray, u: np.ndarray):
        self.l, self.u = l, u

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> EngineAnswer:
        l, u = float(self.l[cell]), float(self.u[cell])
        if bounds is not None and len(bounds[0]):
            l, u = float(bounds[1][0]), float(bounds[2][0])
        reached = u if sign > 0 else -l
        move = np.array([sign * (reached if reached < inf else 1.0)])
        return EngineAnswer(reached, np.array([cell], dtype=np.int64), move, True, nothing)

    def joint(self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray) -> None:
        return None

    def still(self, cells: np.ndarray) -> np.ndarray:
        return np.zeros(len(cells), dtype=bool)
