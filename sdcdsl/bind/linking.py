"""Tables protected together share the cells that mean the same thing.

Two cells mean the same when they have the same measure and the same codes in all dimensions, where a table without a
dimension stands at that dimension's whole. Dimensions are known by name and codes by their text, so one table may show
regions of two levels and another three.

The whole of a dimension is the root of its first tree. When tables disagree about the root (one shows Germany, another
Bavaria only), the whole is the root that no other table has as an inner code; if that does not single one out, no code
is taken for the whole, and tables without the dimension share nothing with tables that have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.additivity import TOLERANCE, figure
from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.naming import SHOWN
from sdcdsl.diagnostics import Diagnostic, Place, diagnostic
from sdcdsl.diagnostics.confidential import secret


@dataclass(frozen=True, eq=False)
class NamedTable:
    name: str
    measure: str
    lattice: Lattice


@dataclass(frozen=True, eq=False)
class Linked:
    """One flat numbering: the first table's cells, then what each further table adds, in its own order."""

    tables: tuple[NamedTable, ...]
    maps: tuple[np.ndarray, ...]  # local cell -> global cell, one a table
    cells: int
    table_of: np.ndarray  # int32 [global cell]: the first table that has the cell
    local_of: np.ndarray  # int64 [global cell]: its number there

    def label(self, cell: int) -> str:
        table = self.tables[self.table_of[cell]]
        where = table.lattice.label(int(self.local_of[cell]))
        return f"{table.name}: {where}" if len(self.tables) > 1 else where


def link(tables: Sequence[NamedTable]) -> Linked:
    """The shared numbering of the cells of several tables."""
    keys = _keys(tables)
    lengths = [len(key) for key in keys]
    flat = np.concatenate([*keys, np.zeros(0, dtype=np.int64)])
    _, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[by_appearance] = np.arange(len(first))
    starts = np.cumsum([0, *lengths])
    origin = first[by_appearance]
    table_of = np.searchsorted(starts, origin, side="right") - 1
    maps = tuple(np.split(number[inverse], starts[1:-1])) if tables else ()
    return Linked(tuple(tables), maps, len(first), table_of.astype(np.int32), origin - starts[table_of])


def _keys(tables: Sequence[NamedTable]) -> list[np.ndarray]:
    """A number for every cell of every table, equal for cells that mean the same."""
    measures = {measure: i for i, measure in enumerate(dict.fromkeys(t.measure for t in tables))}
    keys = [np.full(t.lattice.size, measures[t.measure], dtype=np.int64) for t in tables]
    bound = len(measures)
    for name in dict.fromkeys(d.name for t in tables for d in t.lattice.dimensions):
        numbers = _code_numbers(tables, name)
        if bound * len(numbers) >= 2**62:
            keys, bound = _compressed(keys)
        bound *= len(numbers)
        for at, table in enumerate(tables):
            place = [d.name for d in table.lattice.dimensions].index(name) if _has(table, name) else None
            keys[at] *= len(numbers)
            if place is not None:
                codes = np.array([numbers[code] for code in table.lattice.dimensions[place].codes])
                slabs = keys[at].reshape(-1, table.lattice.shape[place], table.lattice.stride[place])
                slabs += codes[:, None]
    return keys


def _has(table: NamedTable, name: str) -> bool:
    return any(d.name == name for d in table.lattice.dimensions)


def _code_numbers(tables: Sequence[NamedTable], name: str) -> dict[str | None, int]:
    """0 is the whole: the common root, and the place of tables without the dimension."""
    versions = [d for t in tables for d in t.lattice.dimensions if d.name == name]
    roots = dict.fromkeys(d.total for d in versions)
    inner = {code for d in versions for code in d.codes if code != d.total}
    whole = [root for root in roots if root not in inner]
    numbers: dict[str | None, int] = {whole[0] if len(whole) == 1 else None: 0}
    for version in versions:
        for code in version.codes:
            numbers.setdefault(code, len(numbers))
    return numbers


def _compressed(keys: list[np.ndarray]) -> tuple[list[np.ndarray], int]:
    """The same distinctions with the smallest numbers."""
    values, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    return np.split(inverse.astype(np.int64), np.cumsum([len(k) for k in keys])[:-1]), len(values)


def shared_values(
    linked: Linked, values: Sequence[np.ndarray], *, tolerance: float = TOLERANCE, place: Place | None = None
) -> tuple[np.ndarray, list[Diagnostic]]:
    """Values by global cell, from the first table that has one (NaN: none), and SDC301 where two tables disagree.

    Two values disagree when they differ by more than `tolerance` times the larger of them.
    """
    a = np.full(linked.cells, np.nan)
    source = np.full(linked.cells, -1, dtype=np.int32)
    wrong: list[tuple[int, int, float]] = []
    count = 0
    for at, (cells, here) in enumerate(zip(linked.maps, values, strict=True)):
        known = a[cells]
        off = np.abs(here - known) > tolerance * np.maximum(np.abs(here), np.abs(known))
        count += int(off.sum())
        wrong += [(int(cells[i]), at, float(here[i])) for i in np.flatnonzero(off)[: SHOWN - len(wrong)]]
        fresh = np.isnan(known) & ~np.isnan(here)
        a[cells[fresh]] = here[fresh]
        source[cells[fresh]] = at
    if not wrong:
        return a, []

    def says(cell: int, at: int, value: float) -> str:
        first, second = linked.tables[source[cell]].name, linked.tables[at].name
        own, other, apart = (secret(x) for x in (figure(a[cell]), figure(value), f"{value - a[cell]:.6g}"))
        return f"{first} says {own}, {second} says {other} (off by {apart})"

    def title(cell: int) -> str:
        return linked.tables[linked.table_of[cell]].lattice.label(int(linked.local_of[cell]))

    notes = [says(*wrong[0]), *(f"{title(w[0])}: {says(*w)}" for w in wrong[1:])]
    if count > len(wrong):
        notes.append(f"and {count - len(wrong):,} more cells")
    headline = f"two tables disagree about a cell they share: {title(wrong[0][0])}"
    return a, [diagnostic("SDC301", headline, place, notes=notes)]
