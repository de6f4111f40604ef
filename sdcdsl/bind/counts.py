"""What the numbers of contributors tell an attacker who knows them (`knows counts`).

* A cell without contributors is zero.
* In a table of counts the value is the count.
* Who contributes to a cell alone, and knows its own part, knows the cell (`sdcdsl.bind.attackers` adds this).

Beyond that a number of contributors does not bound a magnitude: a contributor may report zero, or any amount.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.evaluate import View
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, Span, diagnostic
from sdcdsl.policy import document as d

EMPTY = "nobody contributes to it, so it is zero"
COUNTED = "the table counts contributors, so the number of contributors is the value"
ZERO = "it is zero"


@dataclass(frozen=True, eq=False)
class KnownCells:
    """Cells that one `knows` statement tells exactly, and why."""

    span: Span | None
    what: str  # zeros or counts
    why: str
    cells: np.ndarray  # bool [cell]


def known_by_counts(
    attacker: d.Block,
    said: d.Knows,
    views: Sequence[View],
    tables: Sequence[BoundTable],
    a: np.ndarray,
    name: Callable[[int], str],
) -> tuple[list[KnownCells], list[Diagnostic]]:
    """What follows from the counts of every table; tables without counts are refused before there are data (SDC132)."""
    empty, counted = np.zeros(len(a), dtype=bool), np.zeros(len(a), dtype=bool)
    for view, table in zip(views, tables, strict=True):
        count = table.quantities.get("count")
        if count is None:
            continue
        empty[view.cells[count == 0]] = True
        if _counts(table, count):
            counted[view.cells] = True
    wrong = np.flatnonzero(empty & (a != 0))
    if len(wrong):
        headline = f"no contributors, and yet a value, in {cells(wrong)}"
        label = f"`{attacker.name}` takes a cell without contributors for zero"
        return [], [diagnostic("SDC323", headline, said.span, label, notes=[first_cells(wrong, name)])]
    return [
        KnownCells(said.span, "counts", EMPTY, empty & ~counted),
        KnownCells(said.span, "counts", COUNTED, counted),
    ], []


def _counts(table: BoundTable, count: np.ndarray) -> bool:
    """Whether values are numbers of contributors, said or not: who knows the one then knows the other."""
    return (table.judged is not None and table.judged.frequency) or bool((table.value == count).all())
