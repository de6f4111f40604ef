"""The table problem: one sparse system with levels and attackers, as an xarray Dataset in the papers' letters.

    a, lb, ub [cell]                     values, and the bounds every table has to keep
    w, w_up, w_down, w_fixed [cell]      costs: of touching a cell at all, of moving it up, down, of the fact itself
    status [cell]                        u sensitive · s may be touched · z published as it is · m already hidden
    needed_lower, needed_upper [cell]    the levels required by what marked the cell
    published [cell]                     False for unions, which exist only to be protected
    coefficient, cell_of, equation_of [entry], b [equation]      the relations M a = b
    lpl, upl, spl, cell_at, attacker_at [pair]                   who must stay how uncertain about what
    conditional [pair]                                           … if the cell is touched; only where there are such
    low, high [view, cell], view_of [attacker]                   what each kind of attacker knows about every cell
    known_attacker, known_cell, known_low, known_high [known]    what a single attacker knows beyond its view

Cells are flat. Labels are computed on demand (`TableProblem.label`, `labelled`), so that a million cells carry no
strings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import xarray as xr

from sdcdsl.bind.cell_labels import labels_of
from sdcdsl.bind.counts import KnownCells
from sdcdsl.bind.evaluate import View
from sdcdsl.bind.levels import AttackerLevels
from sdcdsl.bind.relations import Relations
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Span
from sdcdsl.policy.document import Fact
from sdcdsl.proof.families import Families

if TYPE_CHECKING:
    from sdcdsl.bind.unions import Unions


@dataclass(frozen=True, eq=False)
class SensitiveCells:
    """What one statement did: how many cells it marked in each table, and how many only because of it."""

    span: Span | None
    what: str
    cells: dict[str, int]
    only_here: int
    at: np.ndarray  # the cells of the problem that it marked
    fact: Fact | None = None  # the statement itself; None: a file on its own


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """Cells that one statement, or a file on its own, wants published as they are."""

    span: Span | None
    what: str
    cells: np.ndarray


@dataclass(frozen=True, eq=False)
class StatementCells:
    """Cells that one statement, or a file on its own, speaks of, whether a later one won over it or not."""

    word: str  # publish, suppress, fix or waive
    span: Span | None
    what: str
    cells: np.ndarray


class SensitiveSums(Protocol):
    """What further sums of cells a release makes necessary: hidden parts of a relation that the rules call sensitive
    together."""

    @property
    def unions(self) -> Unions:
        """Those that the problem has."""
        ...

    @property
    def before(self) -> int:
        """How many of them it had before any search."""
        ...

    def beyond(self, hidden: np.ndarray) -> Unions: ...

    def extended(self, more: Unions) -> TableProblem: ...


@dataclass(frozen=True, eq=False)
class TableProblem:
    name: str
    dataset: xr.Dataset
    label: Callable[[int], str]
    tables: tuple[BoundTable, ...]
    relations: Relations
    attackers: tuple[str, ...]  # a label each
    marked: tuple[SensitiveCells, ...] = ()
    cut_pairs: int = 0  # pairs whose levels were cut to what the attacker's own part leaves
    merged_attackers: int = 0  # attackers that others dominate
    views: tuple[View, ...] = ()  # for expressions that are worked out later: options of methods
    attacker_levels: tuple[AttackerLevels, ...] = ()  # which statement asked for which level
    fixed: tuple[PublishedCells, ...] = ()  # who wants which cells published
    stated: tuple[StatementCells, ...] = ()  # every publish, suppress, fix and waive that is about cells
    families: Families | None = None  # of pairs that are not in the dataset: contributors who attack in great number
    listed: int = 0  # of these, those that a release left too little: the dataset has them, after all others
    sums: SensitiveSums | None = None  # None: nothing is known about contributors, or the policy says `unions off`
    known_before: tuple[
        tuple[str, KnownCells], ...
    ] = ()  # cells that declared attackers know exactly by a `knows` statement

    @property
    def labelled(self) -> xr.Dataset:
        """The dataset with the codes of its cells: `labelled.sel(region="North")`."""
        return self.dataset.assign_coords(labels_of(self).coordinates)

    @property
    def n(self) -> int:
        return self.dataset.sizes["cell"]

    @property
    def m(self) -> int:
        return self.dataset.sizes["equation"]

    def with_listed(self, family: np.ndarray, attacker: np.ndarray) -> TableProblem:
        """The same with pairs of members of families in the list, after all others."""
        families, d = self.families, self.dataset
        if families is None or not len(family):
            return self
        more = {
            "cell_at": families.cell[family],
            "attacker_at": attacker,
            "lpl": families.lpl[family],
            "upl": families.upl[family],
            "spl": np.zeros(len(family)),
        }
        longer = {name: ("pair", np.concatenate([d[name].values, values])) for name, values in more.items()}
        return replace(self, dataset=d.drop_dims("pair").assign(longer), listed=self.listed + len(family))

    def listing_as(self, other: TableProblem) -> TableProblem:
        """The same with the pairs in the list that `other`, which has fewer cells, was given."""
        if not other.listed or self.families is None:
            return self
        cell, attacker = (other.dataset[name].values[-other.listed :] for name in ("cell_at", "attacker_at"))
        number = {label: k for k, label in enumerate(self.attackers)}
        who = np.array([number.get(other.attackers[int(k)], -1) for k in attacker], dtype=np.int64)
        class_of = np.where(who >= 0, self.families.class_of[who], -1)
        place = {
            pair: f for f, pair in enumerate(zip(self.families.of.tolist(), self.families.cell.tolist(), strict=True))
        }
        at = [place.get(pair, -1) for pair in zip(class_of.tolist(), cell.tolist(), strict=True)]
        family = np.array(at, dtype=np.int64)
        return self.with_listed(family[family >= 0], who[family >= 0])

    @property
    def sensitive(self) -> np.ndarray:
        return np.flatnonzero(self.dataset["status"].values == "u")

    @property
    def _unlisted(self) -> int:
        """Pairs of the families without a row; the pairs that stand for families are pairs of nobody."""
        return 0 if self.families is None else self.families.pairs - len(self.families) - self.listed

    def summary(self) -> dict[str, int]:
        d = self.dataset
        status = d["status"].values
        return {
            "cells": int(d["published"].values.sum()),
            "unions": int((~d["published"].values).sum()),
            "relations": self.m,
            "entries": d.sizes["entry"],
            "sensitive": int(((status == "u") & d["published"].values).sum()),
            "fixed": int((status == "z").sum()),
            "hidden": int((status == "m").sum()),
            "attackers": d.sizes["attacker"],
            "pairs": d.sizes["pair"] + self._unlisted,
            **({} if self.families is None else {"listed_pairs": d.sizes["pair"]}),
        }
