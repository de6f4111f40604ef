"""Paper 002, Tables 1 to 9: how near attackers come to an adjusted table, on every table of CSPLIB that is at hand.

    python benchmarks/paper_002.py --json benchmarks/results/paper_002.json
    python benchmarks/paper_002.py --only 'targus:*,hier13:L1*'

All senses up; protected with weights 1/a (L1) and 1/a² (L2), 1 where a is zero; experiments B1, B2, B3 and C with ten
replications and one seed; Δ, the error in guessed levels, is 0.2 as in the paper, and 0.3 for B1 and B2 in rows of
their own. A row that meets its limit keeps the replications that were done, and says how many.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from instances import CSPLIB, business, from_file
from measuring import DEADLINES, figure, measured, said
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cta.adjustment import Adjustment, adjustment
from sdcdsl.numerics.nearest.l1 import L1
from sdcdsl.numerics.nearest.l2 import L2
from sdcdsl.numerics.nearest.solved import Solved
from sdcdsl.risk import assess

KIND = "Experiments of paper 002"
FILES = (
    *("targus", "table8", "hier13x7x7d", "table7", "cbs", "osorio"),
    *("hier13", "hier13x13x13a", "hier16", "two5in6", "ninenew"),
)
MADE = "business"  # for machines without the files
NORMS = ("L1", "L2")
EXPERIMENTS = {0.2: ("B1", "B2", "B3", "C"), 0.3: ("B1", "B2")}  # by Δ
SEED = 1
REPLICATIONS = 10
LIMIT = 400.0


def closest(made: Adjustment, norm: str) -> Solved:
    w = np.divide(1.0, made.a, out=np.ones_like(made.a), where=made.a > 0)
    l, u = made.box(np.ones(made.p, dtype=np.int8))
    return L1(made.M).solve(w, w, l, u) if norm == "L1" else L2(made.M).solve(w**2, l, u)


def row_of(problem: TableProblem, norm: str, delta: float, setting: Setting) -> Row:
    made = adjustment(problem)
    closest(adjustment(business(seed=99)), norm)  # loads what has to be loaded
    found, protecting = measured(lambda: closest(made, norm))
    row: Row = {
        "cells": problem.n,
        "sensitive": made.p,
        "relations": problem.m,
        "norm": norm,
        "delta": delta,
        "seed": SEED,
        "protecting_cpu": protecting,
    }
    if found.z is None or found.mu_low is None or found.mu_high is None:
        return row | {"status": found.status, "notes": ["no table to attack"]}
    options = {"norm": norm, "delta": delta, "replications": setting.options["replications"]}
    deadline = DEADLINES[setting.clock](setting.limit)
    v = made.a + found.z
    result, cpu = measured(lambda: assess(problem, v, EXPERIMENTS[delta], options, SEED, deadline=deadline))
    return row | {
        "status": "done",
        "cpu": cpu + protecting,
        "multipliers": float(found.mu_low.sum() + found.mu_high.sum()),
        "complete": result.complete,
        "verdict": result.verdict,
        "experiments": {trial.experiment: trial.as_json() for trial in result.trials if trial.replications},
    }


def entries(done: Done) -> Iterator[Entry]:
    for delta in EXPERIMENTS:
        for norm in NORMS:
            method = f"{norm}, Δ {delta:g}"
            yield _entry(MADE, method, lambda: business(seed=0), norm, delta, True, 20.0 if delta == 0.2 else None)
            for name in FILES:
                path = CSPLIB / f"{name}.jj"
                yield _entry(name, method, lambda path=path: from_file(path), norm, delta, path.is_file())


def _entry(name, method, make, norm, delta, here, quick=None) -> Entry:
    def measure(setting: Setting) -> Row:
        return row_of(make(), norm, delta, setting)

    return Entry(KIND, name, method, measure, LIMIT, ("solve",), here=here, quick=quick, longer=200.0)


def _words(row: Row) -> tuple[str, ...]:
    shares = [
        f"{name} {trial['recomputed']:.1f} ({trial['replications']})"
        for name, trial in row.get("experiments", {}).items()
    ]
    return (
        row["instance"],
        row["method"],
        figure(row.get("cells")),
        figure(row.get("sensitive")),
        said(row | {"audit": "–"}) if row.get("experiments") else said(row),
        ", ".join(shares) or "–",
        figure(row.get("multipliers"), 2),
        figure(row.get("cpu"), 1),
        row.get("verdict", "–"),
    )


NAMES = (
    "instance",
    "norm, Δ",
    "cells",
    "sensitive",
    "status",
    "recomputed, per cent of guesses (replications)",
    "‖μ‖₁",
    "CPU s",
    "verdict",
)
SUITE = Suite("paper_002", __doc__, entries, {KIND: Columns(NAMES, _words)}, {"replications": REPLICATIONS})

if __name__ == "__main__":
    main([SUITE], __doc__)
