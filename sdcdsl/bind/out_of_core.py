"""More records than memory holds: the data is read several times, each time for some of the holdings.

One pass in the order of the records adds up the cells and finds what is wrong with the data. Who contributes how much
needs all records of a holding together: holdings are dealt out by a hash of their names, and each further pass ranks
those of one share. Shares have no holding in common, so counts add up and lists of the largest merge. Memory holds the
cells and one share; nothing is written to disk, where a killed process would leave confidential records behind.

All figures are those of the path in memory to the last bit, except `absolute`, a sum over holdings in another order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import polars as pl

from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.microdata import POSITION, Columns, Where, encode, holding_rows
from sdcdsl.bind.ranking import NOBODY, CellContributions, Ranking, rank
from sdcdsl.bind.tabulation import Contributions, Tabulation, contributions, of_ranking, roll_sum, split
from sdcdsl.diagnostics import Diagnostic, Place, diagnostic

AT_ONCE = 4_000_000  # records whose holdings are ranked together: about 1 GB with all that it takes
BATCH = 1 << 19  # records added up at a time
MEASURE, WEIGHT = "measure of a record", "weight of a record"


@dataclass(frozen=True, eq=False)
class Scan:
    """Records as numbers, still lazy: their position, a code for each dimension, measure, weight, who contributes.

    A code is the number of a leaf among those of its dimension; NULL where the record has no leaf's code.
    """

    lazy: pl.LazyFrame
    lattice: Lattice
    columns: Columns
    records: int = 0  # how many: to deal them out

    @property
    def numbered(self) -> pl.LazyFrame:
        columns, dimensions = self.columns, zip(self.columns.dimensions, self.lattice.dimensions, strict=True)
        leaves = [composition.is_leaf for composition in self.lattice.compositions]
        codes = [
            pl.col(column)
            .cast(pl.String)
            .cast(pl.Enum([c for c, leaf in zip(dimension.codes, is_leaf, strict=True) if leaf]), strict=False)
            .to_physical()
            .alias(f"code {d}")
            for d, ((column, dimension), is_leaf) in enumerate(zip(dimensions, leaves, strict=True))
        ]
        amounts = [
            pl.col(column).cast(pl.Float64).alias(name)
            for column, name in ((columns.measure, MEASURE), (columns.weight, WEIGHT))
            if column is not None
        ]
        who = [column for column in (columns.group, columns.unit) if column is not None]
        return self.lazy.with_row_index(POSITION).select(POSITION, *codes, *amounts, *dict.fromkeys(who))

    @property
    def has_holdings(self) -> bool:
        return self.columns.group is not None or self.columns.unit is not None

    def in_order(self) -> Iterator[pl.DataFrame]:
        yield from self.numbered.collect_batches(chunk_size=BATCH, maintain_order=True, engine="streaming")

    def in_shares(self, at_once: int) -> Iterator[pl.DataFrame]:
        """All records of some holdings, in their order; together all records."""
        shares = -(-self.records // at_once)
        share = self._dealt_by() % shares
        for number in range(shares):
            part = self.numbered.filter(share == number).collect(engine="streaming")
            if len(part):
                yield part if part[POSITION].is_sorted() else part.sort(POSITION)

    def _dealt_by(self) -> pl.Expr:
        """A record without a holding counts under its unit, one without a unit under itself."""
        who = pl.col(POSITION).hash()
        for column in (self.columns.unit, self.columns.group):
            if column is not None:
                who = pl.when(pl.col(column).is_not_null()).then(pl.col(column).hash()).otherwise(who)
        return who

    def cells_of(self, part: pl.DataFrame) -> np.ndarray:
        """The leaf cell of every record of a part without faults."""
        cell = np.zeros(len(part), dtype=np.int64)
        for d, composition in enumerate(self.lattice.compositions):
            place = np.flatnonzero(composition.is_leaf) * self.lattice.stride[d]
            cell += place[part[f"code {d}"].to_numpy()]
        return cell

    def faulty(self, part: pl.DataFrame) -> bool:
        if any(part[f"code {d}"].null_count() for d in range(len(self.lattice.compositions))):
            return True
        numbers = [part[name].to_numpy() for name in (MEASURE, WEIGHT) if name in part.columns]
        negative = WEIGHT in part.columns and bool((numbers[-1] < 0).any())
        return negative or any(not np.isfinite(column).all() for column in numbers)

    def amounts_of(self, part: pl.DataFrame, weighted: bool = True) -> np.ndarray:
        own = part[MEASURE].to_numpy() if MEASURE in part.columns else np.ones(len(part))
        return own * part[WEIGHT].to_numpy() if weighted and WEIGHT in part.columns else own

    def holders_of(self, part: pl.DataFrame) -> np.ndarray | None:
        """For each record of a share the row, within it, of the first record of its holding."""
        return holding_rows(part, self.columns)

    @property
    def name(self) -> pl.Expr:
        """Whom a record counts for, in words."""
        declared = [pl.col(c).cast(pl.String) for c in (self.columns.group, self.columns.unit) if c is not None]
        return pl.coalesce([*declared, pl.format("record {}", pl.col(POSITION) + 1)])


class HoldingNames(dict[int, str]):
    """Of holdings, by the position of their first record. Of millions only those are kept that somebody requires."""

    def __init__(self, scan: Scan):
        super().__init__()
        self.scan = scan

    def __missing__(self, holding: int) -> str:
        record = self.scan.numbered.filter(pl.col(POSITION) == holding).select(self.scan.name)
        self[holding] = record.collect(engine="streaming").item()
        return self[holding]


def tabulate_in_passes(
    scan: Scan, k: int, ranked: str, keep: bool, at_once: int, place: Place | None, where: Where | None
) -> tuple[Tabulation | None, list[Diagnostic]]:
    if scan.records >= NOBODY:
        headline = f"more than {NOBODY - 1:,} records cannot be told apart"
        return None, [diagnostic("SDC327", headline, place)]
    _, found = encode(scan.lazy.head(0).collect(), scan.lattice, scan.columns, place, where)
    if found:  # columns of the wrong kind
        return None, found
    sums = _sums(scan, k, ranked)
    if sums is None:
        return None, _faults(scan, at_once, place, where)
    value, unweighted, weighted_count, ranking = sums
    names = HoldingNames(scan) if scan.has_holdings else None
    cells = scan.lattice
    if ranking is None:
        ranking = Ranking(cells, k)
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            for part in scan.in_shares(at_once):
                ranking.merge(_ranked(scan, part, k, ranked, workers))
    kept = ReadAgain(scan, at_once, names) if keep else None
    made = of_ranking(ranking, roll_sum(cells, value), roll_sum(cells, unweighted), weighted_count, names, kept)
    return made, []


def _sums(scan: Scan, k: int, ranked: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, Ranking | None] | None:
    """Sums over the leaf cells, and where every record is a contributor of its own the ranking as well; None if the
    data has faults."""
    cells = scan.lattice
    value, unweighted, weights = np.zeros((3, cells.size))
    leaves = None if scan.has_holdings else Ranking(cells, k)
    for part in scan.in_order():
        if scan.faulty(part):
            return None
        cell, amount, own = scan.cells_of(part), scan.amounts_of(part), scan.amounts_of(part, weighted=False)
        # One by one in their order, as bincount adds them up: the same sums to the last bit.
        np.add.at(value, cell, amount)
        if WEIGHT in part.columns:
            np.add.at(unweighted, cell, own)
            np.add.at(weights, cell, part[WEIGHT].to_numpy())
        elif 4 * len(cell) > cells.size:
            weights += np.bincount(cell, minlength=cells.size)  # whole numbers, in whatever order
        else:
            np.add.at(weights, cell, 1.0)
        if leaves is not None:
            who = part[POSITION].to_numpy().astype(np.int32)
            leaves.insert(CellContributions(cell, who, amount, own if ranked == "own" else amount))
    if leaves is not None:
        for d, composition in enumerate(cells.compositions):
            leaves.roll(d, composition)
    return value, unweighted if scan.columns.weight is not None else value, weights, leaves


def _ranked(scan: Scan, part: pl.DataFrame, k: int, ranked: str, workers: Executor) -> Ranking:
    """The ranking of one share, its holdings numbered by the position of their first record."""
    cell, amount = scan.cells_of(part), scan.amounts_of(part)
    own = scan.amounts_of(part, weighted=False) if ranked == "own" else amount
    made = rank(scan.lattice, *split(cell, scan.holders_of(part), amount, own, len(part)), k, workers)
    position = part[POSITION].to_numpy().astype(np.int32)
    somebody = made.holding != NOBODY
    made.holding[somebody] = position[made.holding[somebody]]
    return made


def _faults(scan: Scan, at_once: int, place: Place | None, where: Where | None) -> list[Diagnostic]:
    """What is wrong, from the records with something wrong alone."""
    numbered = scan.numbered
    names = numbered.collect_schema().names()
    faulty = [pl.col(name).is_null() for name in names if name.startswith("code ")]
    faulty += [~pl.col(name).is_finite().fill_null(False) for name in (MEASURE, WEIGHT) if name in names]
    faulty += [pl.col(WEIGHT) < 0] if WEIGHT in names else []
    rows = numbered.filter(pl.any_horizontal(faulty)).select(POSITION).head(at_once).collect(engine="streaming")
    records = scan.lazy.with_row_index(POSITION).join(rows.lazy(), on=POSITION, how="semi")
    frame = records.collect(engine="streaming").sort(POSITION)
    _, found = encode(frame, scan.lattice, scan.columns, place, where, scan.records)
    assert found, "the data has faults that nobody finds"
    if len(frame) == at_once:
        more = f"the first {at_once:,} records with something wrong were looked at; there may be more"
        found = [problem.note(more) for problem in found]
    return found


@dataclass(frozen=True, eq=False)
class ReadAgain:
    """Contributions to leaf cells, read from the data when they are wanted: of all records they would not fit."""

    scan: Scan
    at_once: int
    names: HoldingNames | None  # gets those of everybody it gives

    def at(self, cells: np.ndarray) -> Contributions:
        parts = [Contributions(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0))]
        shares = self.scan.in_shares(self.at_once) if self.scan.has_holdings else self.scan.in_order()
        for part in shares:
            cell = self.scan.cells_of(part)
            chosen = np.flatnonzero(cells[cell])
            if len(chosen):
                parts.append(self._part(part, cell, chosen))
        cell, holding = np.concatenate([p.cell for p in parts]), np.concatenate([p.holding for p in parts])
        order = np.lexsort((holding, cell))
        return Contributions(cell[order], holding[order], np.concatenate([p.amount for p in parts])[order])

    def _part(self, part: pl.DataFrame, cell: np.ndarray, chosen: np.ndarray) -> Contributions:
        amount, holders = self.scan.amounts_of(part)[chosen], self.scan.holders_of(part)
        rows = chosen if holders is None else holders[chosen]
        made = contributions(*split(cell[chosen], rows, amount, amount, len(part)))
        position = part[POSITION].to_numpy().astype(np.int32)
        if self.names is not None:
            somebody = np.unique(rows)
            words = part[somebody].select(self.scan.name).to_series().to_list()
            self.names.update(zip(position[somebody].tolist(), words, strict=True))
        return Contributions(made.cell, position[made.holding], made.amount)
