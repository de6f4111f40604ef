"""A release as a JJ file. The format was made for problems, not for results, so some fields have to be filled:

    value     the printed figure; for hidden cells that of a possible table (`possible`), never the true one
    weight    1: weights mostly are the values
    status    s with a figure, m without. Never u, which would tell the sensitive cells
    bounds    the published interval of a cell; else open. Those of the source may follow from values
    levels    0: a level of so many per cent tells the value
    relations those that the figures keep

Cells have the numbers of the file they came from, else their place in the table.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.readers.jj import JJTable, jj_text
from sdcdsl.bind.readers.jj_checks import ADDITIVE_WITHIN
from sdcdsl.bind.relations import Relations, select
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED
from sdcdsl.released.consistent_table import possible_table
from sdcdsl.released.frame import bound_table
from sdcdsl.released.printing import DIGITS, as_printed
from sdcdsl.released.rows import cells_by_table


def write_release_jj(problem: TableProblem, pattern: Pattern, table: str, path: Path) -> None:
    path.write_bytes(jj_text(released_jj(problem, pattern, table)).encode("ascii"))


def released_jj(problem: TableProblem, pattern: Pattern, table: str) -> JJTable:
    bound = bound_table(problem, table)
    cells = cells_by_table(problem)[table]
    printed = as_printed(problem, pattern)
    figure, low, high = (x[cells] for x in (printed.value, printed.low, printed.high))
    hidden = np.isnan(figure)
    value = possible_table(bound.relations, figure, low, high)
    value[hidden] = [float(f"{v:.{DIGITS}g}") for v in value[hidden].tolist()]
    made = _kept(bound.relations, value)
    n = len(cells)
    open_ended = np.full(n, np.inf)
    # What a changed figure stands for is not told here: readers of JJ files take bounds for something else.
    own = hidden & (pattern.status[cells] != CHANGED)
    return JJTable(
        index=bound.given.index if bound.given is not None else np.arange(n),
        a=value,
        weight=np.ones(n),
        status=np.where(hidden, "m", "s"),
        low=np.where(own, low, -open_ended),
        high=np.where(own, high, open_ended),
        lpl=np.zeros(n),
        upl=np.zeros(n),
        spl=np.zeros(n),
        coefficient=made.coefficient,
        cell_of=made.cell_of,
        equation_of=made.equation_of,
        rhs=made.rhs,
    )


def _kept(made: Relations, value: np.ndarray) -> Relations:
    m = len(made.rhs)
    terms = made.coefficient * value[made.cell_of]
    off = np.bincount(made.equation_of, weights=terms, minlength=m) - made.rhs
    size = np.bincount(made.equation_of, weights=np.abs(terms), minlength=m) + np.abs(made.rhs)
    return select(made, np.abs(off) <= ADDITIVE_WITHIN / 2 * size)
