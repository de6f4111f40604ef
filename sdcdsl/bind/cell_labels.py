"""Cells by the codes of their dimensions: `problem.labelled.sel(region="North", nace=["A", "B"])`.

One xarray index stands behind all dimensions, so that several may be named at once and the dimension `cell` stays what
it is. (A MultiIndex would rename it with the last level that is left, and one index a dimension allows one label at a
time.) It is no part of `TableProblem.dataset`: that one is sent to other processes and grows with the sums of cells
that are found on the way, and a million cells must carry no strings. Codes are positions in lists until they are read.

**Linked tables.** Every dimension of any table is a coordinate of all cells. In a table that leaves a dimension out,
its cells are totals of that dimension, as in the language. `table` is the first table that has the cell: cells of two
tables may have the same codes and not be the same. Sums of cells, and cells of JJ files, have no codes: "".
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from xarray.core.indexing import IndexSelResult

from sdcdsl.bind.evaluate import View
from sdcdsl.diagnostics import did_you_mean

if TYPE_CHECKING:
    from sdcdsl.bind.problem import TableProblem

CELL, TABLE = "cell", "table"


@dataclass(frozen=True, eq=False)
class Codes:
    """The code of every cell in one dimension, as a position in a list."""

    codes: tuple[str, ...]
    at: np.ndarray  # int32 [cell]

    @property
    def values(self) -> np.ndarray:
        return np.array(self.codes, dtype=object)[self.at]

    def having(self, label: Any, name: str) -> np.ndarray:
        """bool [cell]."""
        labels = [label] if np.ndim(label) == 0 else list(np.asarray(label, dtype=object).ravel())
        where = {code: position for position, code in enumerate(self.codes)}
        unknown = [str(one) for one in labels if str(one) not in where]
        if unknown:
            near = did_you_mean(unknown[0], self.codes)
            raise KeyError(f"no cell has the code `{unknown[0]}` in `{name}`. {near}".strip())
        return np.isin(self.at, [where[str(one)] for one in labels])


class CellLabels(xr.Index):
    def __init__(self, of: Mapping[str, Codes]):
        self.of = dict(of)

    def create_variables(self, variables: Any = None) -> dict[Hashable, xr.Variable]:
        return {name: xr.Variable(CELL, codes.values) for name, codes in self.of.items()}

    def sel(self, labels: dict[Any, Any], **options: Any) -> IndexSelResult:
        inside = [self.of[name].having(label, name) for name, label in labels.items()]
        return IndexSelResult({CELL: np.flatnonzero(np.logical_and.reduce(inside))})

    def isel(self, indexers: Mapping[Any, Any]) -> CellLabels | None:
        at = indexers[CELL]
        if not isinstance(at, slice) and np.ndim(at) != 1:
            return None
        chosen = at.values if isinstance(at, xr.Variable | xr.DataArray) else at
        return CellLabels({name: Codes(codes.codes, codes.at[chosen]) for name, codes in self.of.items()})

    def equals(self, other: xr.Index, **options: Any) -> bool:
        return (
            isinstance(other, CellLabels)
            and self.of.keys() == other.of.keys()
            and all(
                codes.codes == other.of[name].codes and np.array_equal(codes.at, other.of[name].at)
                for name, codes in self.of.items()
            )
        )

    @property
    def coordinates(self) -> xr.Coordinates:
        return xr.Coordinates(self.create_variables(), dict.fromkeys(self.of, self))


def labels_of(problem: TableProblem) -> CellLabels:
    views = [view for view in problem.views if view.lattice is not None]
    names = dict.fromkeys(codes.name for view in views for codes in view.lattice.dimensions)  # type: ignore[union-attr]
    tables = tuple(dict.fromkeys(["", *(view.table for view in problem.views)]))
    table = np.zeros(problem.n, dtype=np.int32)
    for view in reversed(problem.views):  # of a cell that several tables have, the first
        table[view.cells] = tables.index(view.table)
    return CellLabels({**{name: _codes(name, views, problem.n) for name in names}, TABLE: Codes(tables, table)})


def _codes(name: str, views: list[View], n: int) -> Codes:
    codes: dict[str, int] = {"": 0}
    at = np.zeros(n, dtype=np.int32)
    totals = [found[1].total for view in views if (found := view.dimension(name)) is not None]
    for view in reversed(views):
        if view.dimension(name) is None:
            at[view.cells] = codes.setdefault(totals[0], len(codes))
    for view in reversed(views):
        found = view.dimension(name)
        if found is None:
            continue
        where, dimension, _ = found
        positions = np.array([codes.setdefault(code, len(codes)) for code in dimension.codes], dtype=np.int32)
        assert view.lattice is not None
        at[view.cells] = positions[view.lattice.codes_at(np.arange(len(view.cells)), where)]
    return Codes(tuple(codes), at)
