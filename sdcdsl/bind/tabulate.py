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

Up to `in_passes.AT_ONCE` records are held in memory; of more, some at a time (`in_passes`), with the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.bind.lattice import CELL_LIMIT, Lattice, lattice
from sdcdsl.bind.microdata import Columns, EncodedRecords, Where, encode
from sdcdsl.bind.out_of_core import AT_ONCE, Scan, tabulate_in_passes
from sdcdsl.bind.ranking import rank
from sdcdsl.bind.readers.records import ROW
from sdcdsl.bind.tabulation import Tabulation, contributions, of_ranking, roll_sum, split
from sdcdsl.diagnostics import Diagnostic, Place, diagnostic, listed


def tabulate(
    frame: pl.LazyFrame | pl.DataFrame,
    dimensions: Sequence[DimensionCodes],
    columns: Columns,
    *,
    k: int = 2,
    ranked: Literal["weighted", "own"] = "weighted",
    keep_contributions: bool = False,
    limit: int = CELL_LIMIT,
    at_once: int = AT_ONCE,
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
    lazy = lazy.select([*columns.all, *rows])
    count = len(frame) if isinstance(frame, pl.DataFrame) else lazy.select(pl.len()).collect(engine="streaming").item()
    if count > at_once:
        scan = Scan(lazy, cells, columns, count)
        return tabulate_in_passes(scan, k, ranked, keep_contributions, at_once, place, where)
    # Not in batches: columns that are in memory already stay where they are.
    records, found = encode(lazy.collect(engine="in-memory"), cells, columns, place, where)
    if records is None:
        return None, found
    return _tabulated(cells, records, k, ranked, keep_contributions), []


def _tabulated(cells: Lattice, records: EncodedRecords, k: int, ranked: str, keep: bool) -> Tabulation:
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
    alone, shared = split(records.cell, records.holding, amount, own, len(records))
    ranking = rank(cells, alone, shared, k)
    kept = contributions(alone, shared) if keep else None
    return of_ranking(ranking, rolled[id(value)], rolled[id(unweighted)], weighted_count, records.names, kept)
