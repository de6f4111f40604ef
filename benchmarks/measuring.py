"""What the benchmarks share: limits of CPU time, a method run and audited, memory, the machine, figures as words.

Limits count CPU time unless the wall is asked for: on a busy machine the two differ by a factor. Solvers that are given
what is left count it on the wall, and may stop early then. What loads solvers and compiled kernels is run before, on a
small table of the same kind.
"""

from __future__ import annotations

import os
import platform
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from registry import Row

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pattern import Pattern
from sdcdsl.proof.witness import MoveMatrix

PACKAGES = ("sdcdsl", "highspy", "numpy", "scipy", "numba", "xarray", "linopy", "polars", "pyscipopt")


class CpuDeadline(Deadline):
    """Counts the CPU time of the process, all its threads together."""

    def __init__(self, limit: float | None = None):
        super().__init__(limit)
        self.started = process_time()

    @property
    def elapsed(self) -> float:
        return process_time() - self.started


DEADLINES = {"cpu": CpuDeadline, "wall": Deadline}


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[], TableProblem]
    limit: float  # seconds for the method
    gap: float = 0.0
    here: bool = True  # its data is there
    kind: str = "network"  # the table that loads what has to be loaded: network, product of hierarchies, or general


# ---- one case ----------------------------------------------------------------------------------------------------


def measured(work: Callable[[], Any]) -> tuple[Any, float]:
    start = process_time()
    answer = work()
    return answer, process_time() - start


def solved(case: Case, method: str, clock: str) -> tuple[TableProblem, Result, Row]:
    """The result of a method, audited, with the figures that all rows have."""
    problem = case.make()
    context = SolveContext({"gap": case.gap, "threads": 1}, DEADLINES[clock](case.limit))
    result, cpu = measured(lambda: run(problem, method, context))
    row: Row = {
        "instance": case.name,
        "method": method,
        "cells": problem.n,
        "sensitive": len(problem.sensitive),
        "pairs": problem.dataset.sizes["pair"],
        "limit": case.limit,
        "status": result.status,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "cpu": cpu,
        "phases": {phase: round(s, 3) for phase, s in result.seconds.items()},
        "notes": list(result.notes),
        "load": round(os.getloadavg()[0], 1),
    }
    return problem, result, row | audited(problem, result.pattern)


def audited(problem: TableProblem, pattern: Pattern | None, moves: MoveMatrix | None = None) -> Row:
    """Verdicts alone: the ends of intervals are the audit's own benchmark. `moves` are the tables that the search hands
    on, as `protect` does."""
    if pattern is None:
        return {"audit": "no release", "short": None, "audit_cpu": None}
    made, cpu = measured(lambda: audit(problem, pattern, exact=False, hints=moves))
    return {"audit": made.verdict, "short": int((made.verdicts != "p").sum()), "audit_cpu": cpu}


# ---- what stands beside every row ------------------------------------------------------------------------------------


def machine() -> Row:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return {"cores": os.cpu_count(), "model": model or platform.processor(), "system": platform.system()}


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    out = {"python": platform.python_version()}
    for package in packages:
        try:
            out[package] = version(package)
        except PackageNotFoundError:
            continue
    return out


def peak_memory() -> float:
    """Of this process so far, in GB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e9


def memory_here() -> float:
    """Of this machine, in GB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def figure(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}".replace(",", " ")


def said(row: Row) -> str:
    """The status, and why there is nothing where there is nothing; other notes are for the file."""
    return row["status"] + ("" if row.get("audit") else "".join(f" ({note})" for note in row.get("notes", ())))


def share(value: float | None) -> str:
    return "–" if value is None else (f"{value:.1e}" if 0 < value < 1e-4 else f"{100 * value:.2f} %")
