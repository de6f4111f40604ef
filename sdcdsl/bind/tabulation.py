"""What tabulating microdata gives: sums at every level, who contributes how much, and contributions on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl

from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.ranking import NOBODY, CellContributions, Ranking, run_starts


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each holding contributes to each leaf cell, each pair once, sorted by cell."""

    cell: np.ndarray  # int64
    holding: np.ndarray  # int32
    amount: np.ndarray  # float64, weighted

    def at(self, cells: np.ndarray) -> Contributions:
        """Those to the cells that are marked."""
        chosen = cells[self.cell]
        return self if chosen.all() else Contributions(self.cell[chosen], self.holding[chosen], self.amount[chosen])


class Leaves(Protocol):
    """Contributions to leaf cells: kept in memory, or read again from the data when somebody wants some of them."""

    def at(self, cells: np.ndarray) -> Contributions:
        """Those to the leaf cells that are marked, each pair once, sorted by cell."""
        ...


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
    names: pl.Series | dict[int, str] | None  # of holdings, by number; None: a holding is a record, numbered by its row
    contributions: Leaves | None = None

    def name(self, holding: int) -> str:
        return f"record {holding + 1}" if self.names is None else str(self.names[int(holding)])


def of_ranking(
    ranking: Ranking,
    value: np.ndarray,
    unweighted: np.ndarray,
    weighted_count: np.ndarray,
    names: pl.Series | dict[int, str] | None,
    contributions: Leaves | None,
) -> Tabulation:
    """Who contributes to every cell, with the sums of all cells; `weighted_count` is that of the leaves."""
    return Tabulation(
        ranking.lattice,
        value=value,
        unweighted=unweighted,
        count=ranking.count,
        nonzero=ranking.nonzero,
        weighted_count=roll_sum(ranking.lattice, weighted_count, signed=False),
        absolute=ranking.absolute,
        largest=np.maximum(ranking.largest, 0.0).T,
        holding=np.where(ranking.holding == NOBODY, -1, ranking.holding).T,
        names=names,
        contributions=contributions,
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


def split(
    cell: np.ndarray, holding: np.ndarray | None, amount: np.ndarray, own: np.ndarray, numbers: int
) -> tuple[CellContributions, CellContributions]:
    """Holdings with one leaf cell, and the (holding, leaf cell) pairs of the others. Holdings are numbered below
    `numbers`; without any, every record is its own."""
    none = np.zeros(0, dtype=np.int64)
    if holding is None:
        everything = CellContributions(cell, np.arange(len(cell), dtype=np.int32), amount, own)
        return everything, everything.take(none)
    holding = holding.astype(np.int32)
    everything = CellContributions(cell, holding, amount, own)
    repeated = np.bincount(holding, minlength=numbers)[holding] > 1
    if not repeated.any():
        return everything, everything.take(none)
    several = everything.take(np.flatnonzero(repeated))
    key = several.holding.astype(np.int64) * (1 + int(cell.max())) + several.cell
    order = np.argsort(key, kind="stable")
    several = several.take(order)
    first = run_starts(key[order])
    amount = np.add.reduceat(several.amount, first)
    own = amount if several.ranked is several.amount else np.add.reduceat(several.ranked, first)
    several = CellContributions(several.cell[first], several.holding[first], amount, own)
    lone = np.ones(len(several), dtype=bool)
    neighbours = several.holding[1:] == several.holding[:-1]
    lone[1:] &= ~neighbours
    lone[:-1] &= ~neighbours
    alone = _both(everything.take(np.flatnonzero(~repeated)), several.take(np.flatnonzero(lone)))
    return alone, several.take(np.flatnonzero(~lone))


def _both(a: CellContributions, b: CellContributions) -> CellContributions:
    amount = np.concatenate([a.amount, b.amount])
    ranked = amount if a.ranked is a.amount else np.concatenate([a.ranked, b.ranked])
    return CellContributions(np.concatenate([a.cell, b.cell]), np.concatenate([a.holding, b.holding]), amount, ranked)


def contributions(alone: CellContributions, shared: CellContributions) -> Contributions:
    both = _both(alone, shared)
    order = np.lexsort((both.holding, both.cell))
    return Contributions(both.cell[order], both.holding[order], both.amount[order])
