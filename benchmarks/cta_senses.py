"""Controlled tabular adjustment with free senses: how good, how soon, and how good it can be at all.

    python benchmarks/cta_senses.py --json benchmarks/results/cta_senses.json       # all tables: 22 minutes of CPU
    python benchmarks/cta_senses.py --only 'targus,table*' --limit 10               # a quick look
    python benchmarks/cta_senses.py --alone 1                                       # without HiGHS beside it

Costs are 1 / value (1 where the value is 0), in L1. Seconds are of CPU time, of one core. Beside ours stands HiGHS
alone, on the mixed-integer problem of paper 000 (6) as it is written there, lengths in units of a typical level, with
as many seconds in the same run. Promised are the objectives of the prototype, and never more than HiGHS alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import highspy
import numpy as np
from measuring import DEADLINES, Case, figure, measured, said, share
from patterns import CSPLIB, from_file, linear_program
from registry import Columns, Done, Entry, Row, Suite
from runner import main
from scipy.sparse import csc_array, csr_array, hstack, vstack

from sdcdsl.accelerate.cta.senses import choose
from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.methods.cta.adjustment import Adjustment
from sdcdsl.methods.cta.settings import settings_of
from sdcdsl.methods.result import Progress
from sdcdsl.methods.result import gap as gap_of

KIND = "Free senses in L1"
GAP = 1e-6
LIMIT = 60.0
SOON = 10.0  # seconds to the first table
ON_THE_WALL = 20.0
SAME = 1e-4  # objectives that agree to this are not told apart
# At most: optima that are proven, or what the prototype found.
MOST = {
    "targus": 4.3939,
    "table7": 20.389,
    "table8": 0.34105,
    "osorio": 2.964,
    "hier13x7x7d": 4.1445,
    "hier13": 12.80,
    "hier13x13x13a": 12.89,
    "hier16": 25.70,
    "two5in6": 67.90,
    "ninenew": 89.10,
    "cbs": 1085.7,
}


def _file(path: Path) -> Callable[[], TableProblem]:
    def made() -> TableProblem:
        problem = from_file(path)
        a = problem.dataset["a"].values
        w = 1 / np.where(a == 0, 1.0, np.abs(a))
        return replace(problem, dataset=problem.dataset.assign(w=("cell", w)))

    return made


def cases() -> list[Case]:
    files = {name: CSPLIB / f"{name}.jj" for name in MOST}
    return [Case(name, _file(path), 0.95 * LIMIT, GAP, path.is_file(), "general") for name, path in files.items()]


# ---- a row ------------------------------------------------------------------------------------------------------


def row_of(case: Case, clock: str, peer: bool) -> Row:
    of = settings_of(case.make(), {})
    warm_up = CSPLIB / "targus.jj"
    if warm_up.is_file():  # loads compiled kernels and solvers
        choose(settings_of(_file(warm_up)(), {}), GAP, DEADLINES[clock](5.0))
    timer = DEADLINES[clock](case.limit)
    first: list[float] = []

    def heard(progress: Progress) -> None:
        if progress.objective is not None and not first:
            first.append(timer.elapsed)

    result, cpu = measured(lambda: choose(of, case.gap, timer, 0, heard))
    row: Row = {
        "instance": case.name,
        "method": "cta",
        "cells": of.of.n,
        "sensitive": of.of.p,
        "groups": result.facts.get("groups"),
        "limit": case.limit,
        "status": result.status,
        "objective": result.objective,
        "bound": result.bound,
        "gap": None if result.objective is None or result.bound is None else gap_of(result.objective, result.bound),
        "first": first[0] if first else None,
        "cpu": cpu,
        "phases": result.facts.get("seconds", {}),
        "load": round(os.getloadavg()[0], 1),
    }
    return row | (alone(of.of, DEADLINES[clock](case.limit)) if peer else {})


def alone(of: Adjustment, deadline: Deadline) -> Row:
    """HiGHS on (6): z⁺ and z⁻ of every cell, b of the sensitive ones."""
    n, p, cells = of.n, of.p, of.cells
    unit = float(np.median(np.concatenate([of.lpl[np.isfinite(of.lpl)], of.upl[np.isfinite(of.upl)]])))
    one, none = csr_array((np.ones(p), (np.arange(p), cells)), shape=(p, n)), csr_array((p, n))

    def by(value: np.ndarray) -> csr_array:
        return csr_array((value, (np.arange(p), np.arange(p))), shape=(p, p))

    lpl, upl, down, up = of.lpl / unit, of.upl / unit, -of.low[cells] / unit, of.high[cells] / unit
    rows = [
        hstack([of.M, -of.M, csr_array((len(of.M.indptr) - 1, p))]),
        hstack([one, none, by(-upl)]),
        hstack([none, one, by(lpl)]),
        hstack([one, none, by(-up)]),
        hstack([none, one, by(down)]),
    ]
    zero, far = np.zeros(p), np.full(p, np.inf)
    adds_up = np.zeros(len(of.M.indptr) - 1)
    ends = np.concatenate([adds_up, zero, lpl, -far, -far]), np.concatenate([adds_up, far, far, zero, down])
    high = np.concatenate([of.high / unit, -of.low / unit, np.ones(p)])
    cost = np.concatenate([of.w_up, of.w_down, zero]) * unit
    highs = linear_program(csc_array(vstack(rows)), (np.zeros(len(high)), high), cost, ends)
    whole = np.arange(len(high) - p, len(high), dtype=np.int32)
    highs.changeColsIntegrality(p, whole, np.full(p, int(highspy.HighsVarType.kInteger), dtype=np.uint8))
    highs.setOptionValue("mip_rel_gap", GAP)
    for asked in (highs.cbMipInterrupt, highs.cbSimplexInterrupt):
        asked.subscribe(lambda event: event.interrupt(deadline.expired))
    highs.setOptionValue("time_limit", ON_THE_WALL * deadline.remaining)  # a busy machine must not cost it CPU time
    _, cpu = measured(highs.run)
    info = highs.getInfo()
    found = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
    peer = {"objective": info.objective_function_value if found else None, "bound": info.mip_dual_bound, "cpu": cpu}
    return {"highs": peer}


def met(row: Row) -> bool:
    if row.get("objective") is None or row["first"] is None or row["first"] > SOON:
        return False
    other = row.get("highs", {}).get("objective")
    return row["objective"] <= MOST[row["instance"]] and (other is None or row["objective"] <= other * (1 + SAME))


def _words(row: Row) -> tuple[str, ...]:
    peer = row.get("highs", {})
    return (
        row["instance"],
        figure(row.get("cells")),
        figure(row.get("sensitive")),
        figure(row.get("groups")),
        said(row),
        figure(row.get("objective"), 4),
        figure(row.get("bound"), 4),
        share(row.get("gap")),
        figure(row.get("first"), 1),
        figure(row.get("cpu"), 1),
        figure(peer.get("objective"), 4) if peer else "not run",
        figure(peer.get("bound"), 4) if peer else "not run",
        figure(MOST[row["instance"]], 4),
        "yes" if row["met"] else "**NO**",
    )


COLUMNS = Columns(
    (
        "instance",
        "cells",
        "sensitive",
        "groups",
        "status",
        "objective",
        "bound",
        "gap",
        "first table s",
        "CPU s",
        "HiGHS alone",
        "its bound",
        "promised",
        "met",
    ),
    _words,
)


def entries(done: Done) -> Iterator[Entry]:
    for case in cases():
        yield Entry(
            KIND,
            case.name,
            "cta",
            lambda setting, case=case: row_of(
                replace(case, limit=setting.limit), setting.clock, not setting.options["alone"]
            ),
            case.limit,
            ("solve",),
            judge=lambda row: {"met": met(row)},
            about=f"≤ {MOST[case.name]}",
            here=case.here,
            quick=QUICK.get(case.name),
            longer=ON_THE_WALL * case.limit,
        )


# Rows of the quick run, with their seconds.
QUICK = {"targus": 5.0, "table7": 5.0, "osorio": 5.0}
OPTIONS = {"alone": 0}  # 1: HiGHS is not run beside ours
SUITE = Suite("cta_senses", __doc__, entries, {KIND: COLUMNS}, OPTIONS)

if __name__ == "__main__":
    main([SUITE], __doc__)
