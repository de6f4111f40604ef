"""JJ files as releases: statuses u and m are hidden cells, all others are published with the value of the file."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.readers.jj import read_jj
from sdcdsl.bind.readers.wording import offenders
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic
from sdcdsl.pattern import Pattern, hidden
from sdcdsl.released.figures import Figures
from sdcdsl.released.rows import Rows
from sdcdsl.released.words import TOOL_HIDDEN, TOOL_PUBLISHED

CELLS_FROM = 3  # the line of the first cell


def pattern_of_jj(problem: TableProblem) -> Pattern:
    """What the problem's own file says: sensitive cells and those already hidden are not published."""
    d = problem.dataset
    return hidden(d["a"].values, np.isin(d["status"].values, ("u", "m")) | ~d["published"].values)


def looks_like_jj(text: str) -> bool:
    words = text[:200].split(None, 2)[:2]
    return len(words) == 2 and words[0] == "0" and words[1].isdecimal()


def read_jj_release(source: Source, table: BoundTable) -> tuple[Rows | None, list[Diagnostic]]:
    if table.given is None:
        headline = f"a JJ file says nothing about table `{table.name}`, whose cells have codes and no numbers"
        return None, [diagnostic("SDC302", headline, FilePlace(source.name))]
    read, problems = read_jj(source)
    if read is None:
        return None, problems
    order = np.argsort(table.given.index, kind="stable")
    at = order[np.minimum(np.searchsorted(table.given.index, read.index, sorter=order), len(order) - 1)]
    strange = np.flatnonzero(table.given.index[at] != read.index)

    def place(row: int, what: str = "") -> FilePlace:
        return FilePlace(source.name, line=CELLS_FROM + row)

    if len(strange):
        marks = ((place(int(i)), f"cell {read.index[i]}") for i in strange)
        headline = f"cells that table `{table.name}` does not have"
        return None, [*problems, offenders("SDC304", headline, marks, len(strange))]
    n = len(at)
    status = np.where(np.isin(read.status, ("u", "m")), TOOL_HIDDEN, TOOL_PUBLISHED)
    blank = Figures.blank(n)
    return Rows(source.name, place, at, Figures.of_numbers(read.a), blank, blank, status, blank, blank), problems
