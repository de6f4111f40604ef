"""What a run against contributors will take, before anything is searched.

Fitted to tables of 555 to 12 500 cells with 4 800 to 13 700 respondents who all attack
(`benchmarks/contributors.py`): a search that keeps a witness for each row, and the audit of its first pattern. Measured
on one core; kernels that have to be compiled once on a machine, and networks, whose patterns have no witnesses, take
longer.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdcdsl.bind.problem import TableProblem

PROGRAM = 300e6  # bytes: the program with its solvers and kernels
CELL_BYTES, ROW_BYTES = 12e3, 20e3  # of relations and prices, and of witnesses and claims
CELL_SECONDS, ROW_SECONDS = 5e-4, 1e-3


@dataclass(frozen=True)
class Foresight:
    memory_bytes: int
    seconds: float  # of CPU time, until a first release for everybody is audited


def foresight(problem: TableProblem, method: str | None) -> Foresight | None:
    """None where it depends on more than the size: other methods, and pairs that all stand in the list."""
    if method != "csp" or problem.families is None:
        return None
    cells, rows = problem.n, problem.dataset.sizes["pair"]
    memory = PROGRAM + CELL_BYTES * cells + ROW_BYTES * rows
    return Foresight(round(memory), round(CELL_SECONDS * cells + ROW_SECONDS * rows, 1))
