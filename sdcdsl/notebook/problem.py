"""A block that has met its data, as a value to look at."""

from __future__ import annotations

import numpy as np
import polars as pl
import xarray as xr

from sdcdsl.bind.problem import TableProblem
from sdcdsl.notebook import html
from sdcdsl.notebook.labelled import labelled
from sdcdsl.released.columns import written_columns
from sdcdsl.released.frame import bound_table, codes_of
from sdcdsl.released.rows import cells_by_table

STATUSES = {"u": "sensitive", "s": "", "z": "published as it is", "m": "hidden already"}


class Problem:
    """Cells, relations, attackers and levels of one protect block. It holds the true values."""

    def __init__(self, bound: TableProblem):
        self.bound = bound

    @property
    def name(self) -> str:
        return self.bound.name

    @property
    def dataset(self) -> xr.Dataset:
        """Everything in the papers' letters: a, lb, ub, w [cell]; lpl, upl, spl [pair]; the relations [entry]."""
        return self.bound.dataset

    @property
    def counts(self) -> dict[str, int]:
        return self.bound.summary()

    def cells(self, table: str | None = None) -> pl.DataFrame:
        """A row for each cell of a table: its codes, value, what it is, and the largest levels against anybody."""
        name = table if table is not None else self.bound.tables[0].name
        maps = cells_by_table(self.bound)
        if name not in maps:
            raise KeyError(f"no table {name} in {self.name}; there are {', '.join(maps)}")
        at, d = maps[name], self.bound.dataset
        levels = {}
        for level in ("lpl", "upl", "spl"):
            most = np.zeros(self.bound.n)
            np.maximum.at(most, d["cell_at"].values, d[level].values)
            levels[level] = most[at]
        statuses = [STATUSES[letter] for letter in d["status"].values[at].tolist()]
        bound = bound_table(self.bound, name)
        codes = dict(zip(written_columns(bound), codes_of(bound), strict=True))
        return pl.DataFrame({**codes, "value": d["a"].values[at], "status": statuses, **levels})

    def array(self, table: str | None = None) -> xr.Dataset:
        """The cells of a table by its dimensions, whose coordinates are the codes."""
        frame = self.cells(table)
        names = ["value", "status", "lpl", "upl", "spl"]
        return labelled(frame.drop(names), frame.select(names))

    def __repr__(self) -> str:
        counts = self.counts
        return f"<problem {self.name}: {counts['cells']:,} cells, {counts['sensitive']:,} sensitive>"

    def _repr_html_(self) -> str:
        counts = self.counts
        rows = [(name, f"{number:,}") for name, number in counts.items() if number]
        marked = [[one.what, len(one.at), one.only_here] for one in self.bound.marked]
        parts = [html.heading(self.name, "confidential: it holds the true values"), html.facts(rows)]
        if marked:
            parts.append(html.table(["statement", "cells", "by it alone"], marked))
        return "".join(parts)
