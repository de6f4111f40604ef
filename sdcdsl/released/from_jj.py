"""JJ files as releases: statuses u and m are hidden cells, all others are published with the value of the file.

A file that requires nothing is a result (`to_jj`): no cell is sensitive, no level is above zero, every weight is 1. The
value beside m only fills the field there, and its bounds are the published interval. In all others the values are the
original or adjusted ones (`understanding`), and bounds are what attackers know beforehand.

A table whose cells have codes is read if the file counts its cells as the table does, which its relations show.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.readers.jj import JJTable, read_jj
from sdcdsl.bind.readers.jj_checks import ADDITIVE_WITHIN
from sdcdsl.bind.readers.wording import offenders
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic
from sdcdsl.pattern import Pattern, hidden
from sdcdsl.released.figures import Figures
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.status_words import TOOL_HIDDEN, TOOL_PUBLISHED

CELLS_FROM = 3  # the line of the first cell


def pattern_of_jj(problem: TableProblem) -> Pattern:
    """What the problem's own file says: sensitive cells and those already hidden are not published."""
    d = problem.dataset
    return hidden(d["a"].values, np.isin(d["status"].values, ("u", "m")) | ~d["published"].values)


def looks_like_jj(text: str) -> bool:
    words = text[:200].split(None, 2)[:2]
    return len(words) == 2 and words[0] == "0" and words[1].isdecimal()


def read_jj_release(source: Source, table: BoundTable) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    read, problems = read_jj(source)
    if read is None:
        return None, problems
    index = table.given.index if table.given is not None else np.arange(table.size)
    order = np.argsort(index, kind="stable")
    at = order[np.minimum(np.searchsorted(index, read.index, sorter=order), len(order) - 1)]
    strange = np.flatnonzero(index[at] != read.index)

    def place(row: int, what: str = "") -> FilePlace:
        return FilePlace(source.name, line=CELLS_FROM + row)

    if len(strange):
        marks = ((place(int(i)), f"cell {read.index[i]}") for i in strange)
        headline = f"cells that table `{table.name}` does not have"
        return None, [*problems, offenders("SDC304", headline, marks, len(strange))]
    if table.given is None and not _same_numbers(read, table, at):
        headline = f"{source.name} numbers its cells otherwise than table `{table.name}`, whose cells have codes"
        return None, [diagnostic("SDC302", headline, FilePlace(source.name), "its relations are not the table's")]
    n = len(at)
    filled = (read.status == "m") & _asks_for_nothing(read)
    known = filled & (np.isfinite(read.low) | np.isfinite(read.high))
    value, low, high = (
        Figures.of_numbers(np.where(where, x, np.nan))
        for where, x in ((~filled, read.a), (known, read.low), (known, read.high))
    )
    status = np.where(np.isin(read.status, ("u", "m")), TOOL_HIDDEN, TOOL_PUBLISHED)
    return ReleasedRows(source.name, place, at, value, low, high, status, Figures.blank(n), Figures.blank(n)), problems


def _asks_for_nothing(read: JJTable) -> bool:
    levels = (read.lpl > 0) | (read.upl > 0) | (read.spl > 0)
    return not (levels | (read.status == "u") | (read.weight != 1)).any()


def _same_numbers(read: JJTable, table: BoundTable, at: np.ndarray) -> bool:
    """All cells are there, and the relations of the file hold for the table's own values."""
    m = len(read.rhs)
    if len(at) != table.size:
        return False
    if m == 0:
        return not len(table.relations.rhs)
    terms = read.coefficient * table.value[at[read.cell_of]]
    off = np.bincount(read.equation_of, weights=terms, minlength=m) - read.rhs
    size = np.bincount(read.equation_of, weights=np.abs(terms), minlength=m) + np.abs(read.rhs)
    return bool((np.abs(off) <= ADDITIVE_WITHIN * size).all())
