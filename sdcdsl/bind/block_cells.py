"""The cells of a block: those of its tables, each once, with their relations and names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sdcdsl.bind.evaluate import View
from sdcdsl.bind.linking import NamedTable, link, shared_values
from sdcdsl.bind.relations import Relations, joined, repeated, select
from sdcdsl.bind.table import BoundTable
from sdcdsl.bind.unions import Unions
from sdcdsl.diagnostics import Diagnostic


@dataclass(frozen=True, eq=False)
class _Numbered:
    """Names of the cells of tables that share nothing."""

    tables: tuple[BoundTable, ...]
    starts: np.ndarray

    def label(self, cell: int) -> str:
        at = int(np.searchsorted(self.starts, cell, side="right")) - 1
        where = self.tables[at].label(cell - int(self.starts[at]))
        return f"{self.tables[at].name}: {where}" if len(self.tables) > 1 else where


@dataclass(frozen=True, eq=False)
class CellNames:
    """Names of all cells of a problem, and nothing else of what it was made from: problems are sent to other
    processes."""

    common: Callable[[int], str]
    base: int  # from here on they are unions
    unions: Unions

    def label(self, cell: int) -> str:
        if cell < self.base:
            return self.common(cell)
        union = self.unions.union_of == cell - self.base
        parts = sorted(zip(-self.unions.coefficient[union], self.unions.cell_of[union], strict=True))
        words = [(" − " if sign > 0 else " + ") + self.common(int(part)) for sign, part in parts]
        return "".join(words).removeprefix(" + ")


@dataclass(frozen=True, eq=False)
class BlockCells:
    """The common cells of the tables of one block."""

    tables: tuple[BoundTable, ...]
    maps: tuple[np.ndarray, ...]
    a: np.ndarray
    relations: Relations
    label: Callable[[int], str]


def linked_cells(tables: list[BoundTable]) -> tuple[BlockCells, list[Diagnostic]]:
    numbered = [t for t in tables if t.lattice is None]
    if numbered:  # JJ tables share nothing: their cells have numbers, not meanings
        starts = np.cumsum([0, *(t.size for t in tables)])
        maps = tuple(np.arange(s, e) for s, e in pairwise(starts))
        a = np.concatenate([t.value for t in tables])
        made = joined([t.relations for t in tables], maps, len(a))
        return BlockCells(tuple(tables), maps, a, made, _Numbered(tuple(tables), starts).label), []
    linked = link([NamedTable(t.name, t.measure, t.lattice) for t in tables if t.lattice is not None])
    a, found = shared_values(linked, [t.value for t in tables], place=tables[0].place)
    made = joined([t.relations for t in tables], linked.maps, linked.cells)
    if len(tables) > 1:
        made = select(made, ~repeated(made))
    return BlockCells(tuple(tables), linked.maps, a, made, linked.label), found


def view_of(table: BoundTable, cells: np.ndarray) -> View:
    quantities = {"value": table.value, **table.quantities}
    largest = table.judged.largest if table.judged is not None else None
    if table.contributors is not None:  # expressions mean all contributors, rules not those who waived
        largest = table.contributors.holdings.largest if table.largest is None else table.largest
    numbers = table.given.index if table.given is not None else None
    return View(cells, quantities, largest, table.lattice, numbers, table.name)
