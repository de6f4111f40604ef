"""What is left to attack: cells with slack, in connected components.

Cells without slack are known, and cells that share no relation with others of them can be attacked apart: each
component is a problem of its own. A cell that is alone with known cells in a relation stays in its component, although
it cannot move: why it cannot is an answer too.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sdcdsl.attack.bound_propagation import Propagated
from sdcdsl.attack.singleton_presolve import SingletonPresolve
from sdcdsl.numerics.flow.network import Network, as_network
from sdcdsl.numerics.null_space import RelationMatrix


@dataclass(frozen=True, eq=False)
class ReducedRelations:
    """M in coordinate form, as a table problem carries it."""

    coefficient: np.ndarray
    cell_of: np.ndarray
    equation_of: np.ndarray
    cells: int
    equations: int


@dataclass(frozen=True, eq=False)
class Component:
    """Cells and equations under their own numbers; l ≤ d ≤ u.

    What follows from them alone is found once, for all surveys of a large component: each is about a thousand pairs.
    """

    cells: np.ndarray  # int64: numbers in the table, ascending
    equations: np.ndarray  # int64: numbers in the table
    matrix: RelationMatrix
    l: np.ndarray
    u: np.ndarray

    def __getstate__(self) -> dict[str, Any]:
        """Others find out for themselves what follows: that is quicker than to send it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def network(self) -> tuple[SingletonPresolve, Network] | None:
        """Networks are recognised only without the cells that a chain of relations determines."""
        presolved = SingletonPresolve(self.matrix)
        m = presolved.rest
        row = np.repeat(np.arange(m.rows), np.diff(m.start))
        network = as_network(m.value, m.index, row, m.columns, m.rows)
        return None if network is None else (presolved, network)

    @cached_property
    def narrowed(self) -> Propagated:
        return Propagated(self.matrix, self.l, self.u)


class Reduction:
    """The components of one box. `of[cell]` is a cell's component, -1 if it has no slack."""

    def __init__(self, relations: ReducedRelations, l: np.ndarray, u: np.ndarray):
        self._l, self._u = l, u
        self._relations = relations
        free = u > l
        entry = np.flatnonzero(free[relations.cell_of] & (relations.coefficient != 0))
        cell, equation = relations.cell_of[entry], relations.equation_of[entry]
        # Sorting by component first gives every component its entries, its cells and its equations in one piece.
        n = relations.cells
        nodes = n + relations.equations
        graph = coo_array((np.ones(len(cell), dtype=np.int8), (cell, n + equation)), shape=(nodes, nodes))
        _, label = connected_components(graph, directed=False)
        cells = np.flatnonzero(free)
        names, number = np.unique(label[cells], return_inverse=True)
        self.count = len(names)
        self.of = np.full(n, -1, dtype=np.int64)
        self.of[cells] = number
        self._cells, self._cell_start = _grouped(cells, number, self.count)
        entry_component = self.of[cell]
        order = np.lexsort((cell, equation, entry_component))
        self._entry = entry[order]
        self._entry_start = _starts(entry_component[order], self.count)

    def component(self, number: int) -> Component:
        cells = self._cells[self._cell_start[number] : self._cell_start[number + 1]]
        entry = self._entry[self._entry_start[number] : self._entry_start[number + 1]]
        given = self._relations
        equations, row = np.unique(given.equation_of[entry], return_inverse=True)
        column = np.searchsorted(cells, given.cell_of[entry])
        matrix = RelationMatrix(
            _starts(row, len(equations)), column, given.coefficient[entry].astype(float), len(cells)
        )
        return Component(cells, equations.astype(np.int64), matrix, self._l[cells], self._u[cells])


def _grouped(items: np.ndarray, group: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(group, kind="stable")
    return items[order], _starts(group[order], groups)


def _starts(ascending: np.ndarray, groups: int) -> np.ndarray:
    return np.searchsorted(ascending, np.arange(groups + 1)).astype(np.int64)
