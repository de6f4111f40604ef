"""The closest table with senses given: every norm against a bare solver on the same problem, in the same run.

    python benchmarks/cta.py --json benchmarks/results/cta.json         # everything: about five minutes
    python benchmarks/cta.py --only 'L2-*'                              # some of it

All senses up, weights 1 / value (1 where the value is 0). Seconds are of CPU time, of one core, from the numbers of a
table to deviations that add up and are proved; those of the bare solver are HiGHS's alone, on the same linear program
(a column for each direction a cell may move in, nothing scaled, HiGHS's own settings) or quadratic program (one column
a cell). A solver that reached its limit makes the ratio a least one. `cube-k` has k × k × k inner cells and their
margins, `network-n` is a hierarchy crossed with a list; values are skewed whole numbers, 5 or 10 % of the cells are
sensitive.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import highspy
import numpy as np
from bare_quadratic import has_hipo, quadratic
from instances import large
from measuring import DEADLINES, figure, measured, peak_memory, said, share
from patterns import CSPLIB, from_file, linear_program
from registry import Columns, Done, Entry, Row, Suite
from runner import main
from scipy.sparse import csc_array, csr_array, eye_array, hstack, kron, vstack

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cta.adjustment import adjustment
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.nearest.l1l2 import mixed
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.numerics.nearest.linf import linf
from sdcdsl.numerics.nearest.solved import Solved

KIND = "Closest tables, senses given"
NORMS = ("L1", "L2", "Linf", "L1L2")
LIMIT = 240.0
FILES = (
    *("targus", "table7", "table8", "hier13x7x7d", "hier13", "hier13x13x13a"),
    *("hier16", "two5in6", "ninenew", "osorio", "cbs"),
)
# known-answers.md and Table 3 of paper 004: what objectives have to be
KNOWN = {
    "L1": (4.66106, 28.4557, 0.341259, 4.65907, 16.2828, 15.7745, 29.6833, 83.1397, 101.910, 3.00516, 1167.06),
    "L2": (1084.09, 59605.1, 1.89572, 278.021, 1033.34, 1028.73, 1544.98, 4593.08, 5907.42, 2.04222, 88515.6),
}


@dataclass(frozen=True, eq=False)
class Box:
    M: csr_array
    w: np.ndarray
    l: np.ndarray
    u: np.ndarray
    sensitive: np.ndarray


@dataclass(frozen=True)
class Promise:
    objective: float | None = None
    seconds: float | None = None
    memory: float | None = None  # GB
    at_most: float | None = None  # times the bare solver's seconds
    faster: float | None = None

    @property
    def text(self) -> str:
        words = ["proved"]
        if self.objective is not None:
            words.append(f"{self.objective:g}")
        if self.seconds is not None:
            words.append(f"≤ {self.seconds:g} s")
        if self.memory is not None:
            words.append(f"≤ {self.memory:g} GB")
        if self.at_most is not None:
            words.append(f"≤ {self.at_most:g} × bare")
        if self.faster is not None:
            words.append(f"≥ {self.faster:g} × faster")
        return ", ".join(words)

    def met(self, row: Row) -> bool:
        if row["status"] != "optimal" or row.get("agree") is False:
            return False
        ratio = row.get("ratio", 0.0)
        return (
            (self.objective is None or abs(row["objective"] - self.objective) <= 5e-6 * self.objective)
            and (self.seconds is None or row["cpu"] <= self.seconds)
            and (self.memory is None or row["memory"] <= self.memory)
            and (self.at_most is None or ratio * self.at_most >= 1)
            and (self.faster is None or ratio >= self.faster)
        )


@dataclass(frozen=True)
class Claim:
    name: str
    norm: str
    make: Callable[[], Box]
    promise: Promise
    bare: float = 0.0  # seconds for the bare solver; 0: none
    here: bool = True


def claims() -> Iterator[Claim]:
    fast = Promise(at_most=1.5)
    for size in (10_000, 100_000):
        yield Claim(f"L1-network-{size}", "L1", _network(size), fast, 120)
    for side in (21, 47):
        yield Claim(f"L1-cube-{side}", "L1", _cube(side), fast, 120)
    yield Claim("L2-cube-11", "L2", _cube(11), Promise(faster=20), 120)  # where the bare solver still answers
    yield Claim("L2-cube-15", "L2", _cube(15), Promise(faster=20), 120)
    yield Claim("L2-cube-33", "L2", _cube(33), Promise(seconds=5))
    yield Claim("L2-cube-100", "L2", _cube(100), Promise(seconds=60, memory=4))
    for at, name in enumerate(FILES):
        path = CSPLIB / f"{name}.jj"
        for norm in NORMS:
            objective = KNOWN[norm][at] if norm in KNOWN else None
            yield Claim(
                f"{norm}-{name}",
                norm,
                _file(path),
                Promise(objective),
                60 if norm == "L1" else 0,
                path.is_file(),
            )


# ---- tables --------------------------------------------------------------------------------------------------------


def of_problem(problem: TableProblem) -> Box:
    made = adjustment(problem)
    l, u = made.box(np.ones(made.p))
    sensitive = np.zeros(made.n, dtype=bool)
    sensitive[made.cells] = True
    return Box(made.M, 1 / np.where(made.a > 0, made.a, 1.0), l, u, sensitive)


def _network(size: int) -> Callable[[], Box]:
    return lambda: of_problem(large(size))


def _file(path: Path) -> Callable[[], Box]:
    return lambda: of_problem(from_file(path))


def _cube(k: int) -> Callable[[], Box]:
    return lambda: cube(k)


def cube(k: int) -> Box:
    """One inner cell in ten is 0, and stays; one cell in twenty has to rise by 10 %."""
    rng = np.random.default_rng(0)
    a = np.ceil(rng.lognormal(3, 1.5, (k, k, k))) * (rng.random((k, k, k)) > 0.1)
    for axis in range(3):
        a = np.concatenate([a, a.sum(axis=axis, keepdims=True)], axis=axis)
    a = a.ravel()
    line, every = csr_array(np.append(np.ones(k), -1.0)[None]), eye_array(k + 1)
    sums = [kron(kron(line, every), every), kron(kron(every, line), every), kron(kron(every, every), line)]
    sensitive = np.zeros(len(a), dtype=bool)
    sensitive[rng.choice(np.flatnonzero(a > 0), len(a) // 20, replace=False)] = True
    l = np.where(sensitive, np.ceil(0.1 * a), -a)
    u = np.where(a > 0, np.inf, 0.0)
    return Box(csr_array(vstack(sums)), 1 / np.where(a > 0, a, 1.0), l, u, sensitive)


# ---- solvers -------------------------------------------------------------------------------------------------------


def ours(box: Box, norm: str, deadline: Any) -> Solved:
    M, w, l, u = box.M, box.w, box.l, box.u
    if norm == "L1":
        return L1(M).solve(w, w, l, u, deadline)
    if norm == "L2":
        return L2(M).solve(w, l, u, deadline)
    if norm == "Linf":
        return linf(M, w, l, u, box.sensitive, deadline)
    return mixed(M, 0.99 * w, 0.99 * w, 0.01 * w, l, u, deadline)


def bare_l1(box: Box, limit: float) -> tuple[float | None, float]:
    """HiGHS's objective, if it reached one, and the seconds of its run."""
    columns, l, u = box.M.tocsc(), box.l, box.u
    up, down = np.flatnonzero(u > 0), np.flatnonzero(l < 0)
    ends = np.concatenate([np.maximum(l[up], 0.0), np.maximum(-u[down], 0.0)]), np.concatenate([u[up], -l[down]])
    adds_up = np.zeros(len(box.M.indptr) - 1)
    highs = linear_program(
        csc_array(hstack([columns[:, up], -columns[:, down]])),
        ends,
        np.concatenate([box.w[up], box.w[down]]),
        (adds_up, adds_up),
    )
    highs.setOptionValue("time_limit", limit)
    _, cpu = measured(highs.run)
    ended = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return (highs.getInfo().objective_function_value if ended else None), cpu


def bare_l2(box: Box, limit: float, solver: str) -> tuple[float | None, float]:
    found, cpu = measured(lambda: quadratic(box.M, box.w, box.l, box.u, DEADLINES["wall"](limit), solver))
    return (None if found is None else float(box.w @ found**2)), cpu


def row_of(claim: Claim, clock: str, limit: float) -> Row:
    box = claim.make()
    ours(cube(3), claim.norm, None)  # loads what has to be loaded
    made, cpu = measured(lambda: ours(box, claim.norm, DEADLINES[clock](limit)))
    row: Row = {
        "instance": claim.name,
        "cells": len(box.w),
        "relations": box.M.shape[0] if box.M.shape else 0,
        "sensitive": int(box.sensitive.sum()),
        "limit": limit,
        "status": made.status,
        "objective": made.objective,
        "bound": made.bound,
        "cpu": cpu,
        "memory": peak_memory(),
        "load": round(os.getloadavg()[0], 1),
    }
    if made.z is not None and made.objective is not None and made.bound is not None:
        x = np.abs(made.z) + 1 / box.w
        row["gap"] = (made.objective - made.bound) / made.objective
        row["residual"] = float((np.abs(box.M @ made.z) / (abs(box.M) @ x)).max())
    if claim.bare:
        bare, bare_cpu = bare_l1(box, claim.bare) if claim.norm == "L1" else bare_l2(box, claim.bare, "qpasm")
        row |= {"bare": bare, "bare_cpu": bare_cpu, "ratio": bare_cpu / cpu}
        if bare is not None and made.objective is not None:
            row["agree"] = bool(abs(bare - made.objective) <= 1e-5 * made.objective)
    if claim.norm == "L2" and has_hipo() and len(box.w) < 50_000:
        row["hipo"], row["hipo_cpu"] = bare_l2(box, 120, "hipo")
    return row


# ---- the run -------------------------------------------------------------------------------------------------------


def _words(row: Row) -> tuple[str, ...]:
    objective = row.get("objective")
    bare = row.get("bare_cpu")
    beside = "–" if bare is None else f"{bare:.2f}" + ("" if row.get("bare") is not None else " (no answer)")
    return (
        row["instance"],
        figure(row.get("cells")),
        figure(row.get("relations")),
        said(row | {"audit": "–"}) if objective is not None else said(row),
        "–" if objective is None else f"{objective:.6g}",
        share(row.get("gap")),
        "–" if row.get("residual") is None else f"{row['residual']:.0e}",
        figure(row.get("cpu"), 2),
        figure(row.get("memory"), 2),
        beside,
        "–" if row.get("ratio") is None else f"{row['ratio']:.1f}",
        "–" if row.get("hipo_cpu") is None else figure(row["hipo_cpu"], 2),
        row["promise"],
        "yes" if row["met"] else "**NO**",
    )


NAMES = (
    "instance",
    "cells",
    "relations",
    "status",
    "objective",
    "gap",
    "residual",
    "CPU s",
    "GB",
    "bare HiGHS s",
    "times faster",
    "HiPO s",
    "promise",
    "met",
)
COLUMNS = Columns(NAMES, _words)
TABLES = {KIND: COLUMNS}


def entries(done: Done) -> Iterator[Entry]:
    for claim in claims():
        yield Entry(
            KIND,
            claim.name,
            claim.norm,
            lambda setting, claim=claim: row_of(claim, setting.clock, setting.limit),
            LIMIT,
            ("solve",),
            judge=lambda row, claim=claim: {"promise": claim.promise.text, "met": claim.promise.met(row)},
            about=claim.promise.text,
            here=claim.here,
            quick=60.0 if claim.name in QUICK else None,
            longer=claim.bare,
        )


QUICK = ("L1-network-10000", "L1-cube-21", "L2-cube-11", "L2-cube-33")
SUITE = Suite("cta", __doc__, entries, TABLES)

if __name__ == "__main__":
    main([SUITE], __doc__)
