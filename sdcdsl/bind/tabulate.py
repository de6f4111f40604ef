"""Microdata to all cells of a table, at every level of every tree.

For every cell of the full lattice (see `lattice`): the weighted and the unweighted sum of the measure, how many
holdings contribute, the weighted number of records, the k largest contributions per holding and who makes them.

Conventions
* A holding's contribution to a cell is the weighted sum over its records in that cell, whatever leaves they lie in.
* Contributions are ranked, and reported in `largest`, by absolute value; `absolute` is the sum over holdings of those
  absolute values, the X of the sensitivity rules. For non-negative data it is the value itself.
* `ranked="own"` ranks holdings by what they reported (unweighted). The weighted remainder then also holds the w - 1
  others each sampled record stands for, which is right when the weights are secret. The default assumes they are known,
  which marks at least as many cells as sensitive.
* A record of zero counts as a contributor (`count`); `nonzero` leaves those out.
* A code with a minus sign (A = B - C) subtracts values; its contributors count in A like any other.
* Ties between contributions are broken by the order of first appearance in the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.bind.lattice import CELL_LIMIT, Lattice, lattice
from sdcdsl.bind.microdata import Columns, Records, Where, encode
from sdcdsl.bind.ranking import NOBODY, Pairs, rank, run_starts
from sdcdsl.bind.readers.records import ROW
from sdcdsl.diagnostics import Diagnostic, Place, diagnostic, listed


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each holding contributes to each leaf cell, each pair once, sorted by cell."""

    cell: np.ndarray  # int64
    holding: np.ndarray  # int32
    amount: np.ndarray  # float64, weighted


@dataclass(frozen=True, eq=False)
class Tabulation:
    lattice: Lattice
    value: np.ndarray  # weighted sum
    unweighted: np.ndarray
    count: np.ndarray  # distinct holdings
    nonzero: np.ndarray  # distinct holdings that contribute something else than zero
    weighted_count: np.ndarray  # sum of weights over records
    absolute: np.ndarray  # Σ |contribution| over holdings
    largest: np.ndarray  # [cell, k], absolute values, 0 beyond the last contributor
    holding: np.ndarray  # [cell, k], -1 beyond the last contributor
    names: pl.Series | None  # of holdings, by number; None: a holding is a record, numbered by its row
    contributions: Contributions | None = None

    def name(self, holding: int) -> str:
        return f"record {holding + 1}" if self.names is None else str(self.names[int(holding)])


def tabulate(
    frame: pl.LazyFrame | pl.DataFrame,
    dimensions: Sequence[DimensionCodes],
    columns: Columns,
    *,
    k: int = 2,
    ranked: Literal["weighted", "own"] = "weighted",
    keep_contributions: bool = False,
    limit: int = CELL_LIMIT,
    place: Place | None = None,
    where: Where | None = None,
) -> tuple[Tabulation | None, list[Diagnostic]]:
    """All cells of the table `dimensions` × `columns`; `columns.dimensions` are in the order of `dimensions`."""
    cells, found = lattice(dimensions, limit=limit, place=place)
    if cells is None:
        return None, found
    lazy = frame.lazy()
    missing = [name for name in columns.all if name not in lazy.collect_schema()]
    if missing:
        present = listed(lazy.collect_schema().names())
        return None, [diagnostic("SDC303", f"no column {listed(missing)}", place, notes=[f"the data has {present}"])]
    rows = [ROW] if where is not None and ROW in lazy.collect_schema() else []
    records, found = encode(lazy.select([*columns.all, *rows]).collect(), cells, columns, place, where)
    if records is None:
        return None, found
    return _tabulated(cells, records, k, ranked, keep_contributions), []


def _tabulated(cells: Lattice, records: Records, k: int, ranked: str, keep: bool) -> Tabulation:
    n = cells.size
    number = np.bincount(records.cell, minlength=n).astype(np.float64)
    unweighted = number if records.x is None else np.bincount(records.cell, weights=records.x, minlength=n)
    if records.w is None:
        value, weighted_count = unweighted, number
        amount = records.x if records.x is not None else np.ones(len(records))
        own = amount
    else:
        own = records.x if records.x is not None else np.ones(len(records))
        amount = own * records.w
        value = np.bincount(records.cell, weights=amount, minlength=n)
        weighted_count = np.bincount(records.cell, weights=records.w, minlength=n)
    rolled = {id(a): roll_sum(cells, a) for a in (value, unweighted)}
    if ranked == "weighted":
        own = amount
    alone, shared = _split(records, amount, own)
    ranking = rank(cells, alone, shared, k)
    return Tabulation(
        cells,
        value=rolled[id(value)],
        unweighted=rolled[id(unweighted)],
        count=ranking.count,
        nonzero=ranking.nonzero,
        weighted_count=roll_sum(cells, weighted_count, signed=False),
        absolute=ranking.absolute,
        largest=np.maximum(ranking.largest, 0.0).T,
        holding=np.where(ranking.holding == NOBODY, -1, ranking.holding).T,
        names=records.names,
        contributions=_contributions(alone, shared) if keep else None,
    )


def roll_sum(cells: Lattice, leaf_values: np.ndarray, *, signed: bool = True) -> np.ndarray:
    """Values at leaf cells (zero elsewhere) added up the hierarchies."""
    total = leaf_values.astype(np.float64, copy=True)
    for d, composition in enumerate(cells.compositions):
        slabs = total.reshape(-1, cells.shape[d], cells.stride[d])
        for parents, children, sign in composition.steps:
            part = slabs[:, children]
            slabs[:, parents] += part if not signed or (sign > 0).all() else part * sign[None, :, None]
    return total


def _split(records: Records, amount: np.ndarray, own: np.ndarray) -> tuple[Pairs, Pairs]:
    """Holdings with one leaf cell, and the (holding, leaf cell) pairs of the others."""
    rows = np.arange(len(records), dtype=np.int32)
    if records.holding is None:
        everything = Pairs(records.cell, rows, amount, own)
        return everything, everything.take(rows[:0])
    holding = records.holding.astype(np.int32)
    everything = Pairs(records.cell, holding, amount, own)
    repeated = np.bincount(holding, minlength=len(records))[holding] > 1
    if not repeated.any():
        return everything, everything.take(rows[:0])
    several = everything.take(np.flatnonzero(repeated))
    key = several.holding.astype(np.int64) * (1 + int(records.cell.max())) + several.cell
    order = np.argsort(key, kind="stable")
    several = several.take(order)
    first = run_starts(key[order])
    amount = np.add.reduceat(several.amount, first)
    own = amount if several.ranked is several.amount else np.add.reduceat(several.ranked, first)
    several = Pairs(several.cell[first], several.holding[first], amount, own)
    lone = np.ones(len(several), dtype=bool)
    neighbours = several.holding[1:] == several.holding[:-1]
    lone[1:] &= ~neighbours
    lone[:-1] &= ~neighbours
    alone = _both(everything.take(np.flatnonzero(~repeated)), several.take(np.flatnonzero(lone)))
    return alone, several.take(np.flatnonzero(~lone))


def _both(a: Pairs, b: Pairs) -> Pairs:
    amount = np.concatenate([a.amount, b.amount])
    ranked = amount if a.ranked is a.amount else np.concatenate([a.ranked, b.ranked])
    return Pairs(np.concatenate([a.cell, b.cell]), np.concatenate([a.holding, b.holding]), amount, ranked)


def _contributions(alone: Pairs, shared: Pairs) -> Contributions:
    both = _both(alone, shared)
    order = np.lexsort((both.holding, both.cell))
    return Contributions(both.cell[order], both.holding[order], both.amount[order])
