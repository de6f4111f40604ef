"""What a release costs its readers, by level of the hierarchies: a total that is gone is missed more than a cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdcdsl.bind.dimensions import levels_in
from sdcdsl.bind.lattice import Lattice
from sdcdsl.outcome import Outcome
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.released.rows import cells_by_table
from sdcdsl.report.page.figures import count, percent

HEATS = (0.05, 0.2, 0.5)  # from these shares on a level is darker


def losses_of(outcome: Outcome) -> list[dict[str, Any]]:
    """For each table with codes, a row for each level of each dimension. A function of what is released."""
    if outcome.pattern is None:
        return []
    gone, maps = outcome.pattern.status != EXACT, cells_by_table(outcome.problem)
    return [
        {"name": table.name, "rows": _rows(table.lattice, gone[maps[table.name]])}
        for table in outcome.problem.tables
        if table.lattice is not None
    ]


def totals_of(outcome: Outcome) -> tuple[int, int] | None:
    """How many totals there are, cells that are sums of others, and how many are not published as they are. One that
    several tables share counts once."""
    tables = [table for table in outcome.problem.tables if table.lattice is not None]
    if outcome.pattern is None or not tables:
        return None
    maps = cells_by_table(outcome.problem)
    total = np.zeros(outcome.problem.n, dtype=bool)
    for table in tables:
        assert table.lattice is not None
        total[maps[table.name][~table.lattice.is_leaf]] = True
    return int(total.sum()), int((total & (outcome.pattern.status != EXACT)).sum())


def _rows(lattice: Lattice, gone: np.ndarray) -> list[dict[str, Any]]:
    position = np.unravel_index(np.arange(lattice.size), lattice.shape)
    out: list[dict[str, Any]] = []
    for dimension, at in zip(lattice.dimensions, position, strict=True):
        level = levels_in(dimension)
        deepest = int(level.max())
        for number in sorted(set(level[level > 0].tolist())):
            here = (level == number)[at]
            share = float(gone[here].mean())
            out.append(
                {
                    "dimension": dimension.name if number == 1 else "",
                    "level": _words(number, deepest),
                    "cells": count(int(here.sum())),
                    "gone": count(int(gone[here].sum())),
                    "share": percent(share),
                    "heat": sum(share >= limit for limit in HEATS) + (share > 0),
                }
            )
    return out


def _words(number: int, deepest: int) -> str:
    if number == 1:
        return "1, the total"
    return f"{number}, the finest codes" if number == deepest else str(number)
