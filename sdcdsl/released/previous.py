"""Last period's release: which cells it did not publish as they were. Its figures are of another period, and are not
compared with anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic
from sdcdsl.released import status_words as w
from sdcdsl.released.figures import NIL, NUMBER
from sdcdsl.released.read import read_rows
from sdcdsl.released.rows import ReleasedRows, cells_by_table
from sdcdsl.released.statements import Layout, PublishedStatements

_TOUCHED = (w.HIDDEN, w.INTERVAL, w.CHANGED, w.TOOL_HIDDEN)


def read_previous(problem: TableProblem, files: Mapping[str, Path]) -> tuple[np.ndarray | None, list[Diagnostic]]:
    """A mask over the cells of the problem. Cells that the files do not have were not there then."""
    out = np.zeros(problem.n, dtype=bool)
    found: list[Diagnostic] = []
    maps = cells_by_table(problem)
    for table in problem.tables:
        rows, problems = read_rows(files[table.name], table, Layout(), PublishedStatements(), None)
        found += problems
        if rows is not None:
            out[maps[table.name][rows.cell[_touched(rows)]]] = True
    return (None if found else out), found


def _touched(rows: ReleasedRows) -> np.ndarray:
    printed = np.isin(rows.value.kind, (NUMBER, NIL)) | (rows.status == w.TOOL_EMPTY)
    point = (rows.low.kind == NUMBER) & (rows.high.kind == NUMBER) & (rows.low.number == rows.high.number)
    own = ((rows.low.kind == NUMBER) | (rows.high.kind == NUMBER)) & ~point
    return ~(printed | point) | own | np.isin(rows.status, _TOUCHED)
