"""Is there a table in a box at all? The one question that cannot start from the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from sdcdsl.numerics.lp import LinearProgram
from sdcdsl.proof.system import System
from sdcdsl.status import INFEASIBLE, OPTIMAL, SolverFailed


def feasible(relations: System, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether some y has M y = b and low ≤ y ≤ high; measured in typical values, since tolerances are absolute."""
    if (low > high).any():
        return False
    sizes = np.abs(relations.a[relations.a != 0])
    unit = float(np.exp(np.log(sizes).mean())) if len(sizes) else 1.0
    n, m = len(relations.a), len(relations.b)
    entries = (relations.coefficient, (relations.equation_of, relations.cell_of))
    matrix: Any = csc_array(entries, shape=(m, n))
    sums = relations.b / unit
    program = LinearProgram(matrix, bounds=(low / unit, high / unit), rows=(sums, sums), presolve=True)
    status = program.solve()
    if status not in (OPTIMAL, INFEASIBLE):
        raise SolverFailed(program.message)
    return status == OPTIMAL
