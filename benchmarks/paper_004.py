"""Paper 004, Tables 1 to 3: the closest tables in L1, L2, L∞ and L1 with L2, and how far from the truth they are.

    python benchmarks/paper_004.py --json benchmarks/results/paper_004.json       # half a minute

All senses up, weights 1 / value; L1 with L2 has ω 0.99 and 0.01. Absolute deviations |z| and those in per cent of the
value: mean, standard deviation of a sample, and maximum, over all cells with a value, the sensitive and the other ones.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from cta import NORMS
from generators import bound
from instances import CSPLIB, business, from_file
from measuring import DEADLINES, figure, measured, said
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.bind.file_locations import RecordedLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pipeline.method_plan import plan_of
from sdcdsl.pipeline.request import ProtectRequest
from sdcdsl.policy import document as d
from sdcdsl.policy.read import read_policy

KIND, FIGURES_KIND = "Deviations of paper 004", "Figures of paper 004"
KNOWN = Path(__file__).resolve().parent.parent / "specs" / "known"
# What the paper prints: the objective, the 2-norm, or the deviations of the two parts.
FIGURES = {
    "figure-1-L1": ("objective", [36.0]),
    "figure-1-L1-one-more": ("objective", [46.0]),
    "figure-1-L1-one-to-four-more": ("objective", [68.0]),
    "figure-2-L2": ("norm", [12.12]),
    "figure-3-L1": ("z", [4.0, 4.0, 0.0]),
    "figure-3-L2": ("z", [4.0, 2.4, 1.6]),
}
FILES = ("hier13", "hier16", "ninenew", "two5in6")
MADE = "business"  # for machines without the files
LIMIT = 100.0


def row_of(problem: TableProblem, norm: str, setting: Setting) -> Row:
    """By the method as a policy would ask for it: in L∞, the table closest in L1 among the best ones."""
    options = {"norm": norm, "sense": "up", "omega1": 0.99, "omega2": 0.01}
    run(relative(business(seed=99)), "cta", SolveContext(options))  # loads what has to be loaded
    problem = relative(problem)
    made, cpu = measured(lambda: run(problem, "cta", SolveContext(options, DEADLINES[setting.clock](setting.limit))))
    row: Row = {
        "cells": problem.n,
        "sensitive": len(problem.sensitive),
        "relations": problem.m,
        "entries": problem.dataset.sizes["entry"],
        "status": made.status,
        "objective": made.objective,
        "bound": made.bound,
        "cpu": cpu,
    }
    if made.pattern is None:
        return row
    a, sensitive = problem.dataset["a"].values, np.isin(np.arange(problem.n), problem.sensitive)
    return row | {"deviations": deviations(made.pattern.value - a, a, sensitive)}


def relative(problem: TableProblem) -> TableProblem:
    a = problem.dataset["a"].values
    return replace(problem, dataset=problem.dataset.assign(w=("cell", 1 / np.where(a > 0, a, 1.0))))


def deviations(z: np.ndarray, a: np.ndarray, sensitive: np.ndarray) -> dict[str, Row]:
    out = {}
    for name, cells in (("all", np.ones(len(a), dtype=bool)), ("sensitive", sensitive), ("others", ~sensitive)):
        far = np.abs(z[cells])
        percent = 100 * far[a[cells] > 0] / a[cells & (a > 0)]
        out[name] = {
            "absolute": [float(far.mean()), float(far.std(ddof=1)), float(far.max())],
            "percent": [float(percent.mean()), float(percent.std(ddof=1)), float(percent.max())],
            "norm": float(np.linalg.norm(z[cells])),
        }
    return out


def figure_row(name: str, setting: Setting) -> Row:
    """A small table of the paper, as its policy in `specs/known` states it."""
    path = KNOWN / f"{name}.sdc"
    policy, found = read_policy(path, str(path), False)
    assert policy is not None and not found, found
    (block,) = policy.protects.values()
    (engine,) = block.the(d.MethodChain).engines
    problem = bound(path.read_text(encoding="utf-8"), KNOWN)
    request = ProtectRequest(policy, path, RecordedLocations(KNOWN), datetime.date(2026, 1, 1), KNOWN)
    plan, _ = plan_of(engine, block, problem, request)
    context = SolveContext(plan.options, DEADLINES[setting.clock](setting.limit))
    made, cpu = measured(lambda: run(problem, "cta", context))
    assert made.pattern is not None
    z = made.pattern.value - problem.dataset["a"].values
    return {
        "cells": problem.n,
        "status": made.status,
        "objective": made.objective,
        "norm": float(np.linalg.norm(z)),
        "z": [round(float(x), 6) + 0.0 for x in z],
        "multipliers": {name: round(mu, 9) + 0.0 for name, mu in made.facts.get("multiplier of", {}).items()},
        "cpu": cpu,
    }


def entries(done: Done) -> Iterator[Entry]:
    for name in FIGURES:
        yield Entry(
            FIGURES_KIND,
            name,
            "cta",
            lambda setting, name=name: figure_row(name, setting),
            10.0,
            ("solve",),
            _judged,
            quick=3.0,
        )
    for norm in NORMS:
        yield _entry(MADE, norm, lambda: business(seed=0), True, 5.0)
        for name in FILES:
            path = CSPLIB / f"{name}.jj"
            yield _entry(name, norm, lambda path=path: from_file(path), path.is_file())


def _entry(name, norm, make, here, quick=None) -> Entry:
    def measure(setting: Setting) -> Row:
        return row_of(make(), norm, setting)

    return Entry(KIND, name, norm, measure, LIMIT, ("solve",), here=here, quick=quick)


def _words(row: Row) -> tuple[str, ...]:
    found = row.get("deviations", {}).get("all")
    absolute = ["–", "–", "–"] if found is None else [", ".join(f"{x:.1f}" for x in found["absolute"])]
    if found is None:
        return row["instance"], row["method"], said(row), *absolute, figure(row.get("cpu"), 2)
    percent = ", ".join(f"{x:.2f}" for x in found["percent"])
    return row["instance"], row["method"], said(row), *absolute, percent, f"{found['norm']:.1f}", figure(row["cpu"], 2)


def _judged(row: Row) -> Row:
    what, printed = FIGURES[row["instance"]]
    found = np.atleast_1d(row.get(what, np.nan))
    return {"printed": [what, printed], "met": bool((np.abs(found - printed) <= 0.005 + 1e-9).all())}


def _figure_words(row: Row) -> tuple[str, ...]:
    z = ", ".join(f"{x:g}" for x in row.get("z", ()))
    what, printed = row["printed"]
    paper = f"{'deviations' if what == 'z' else what} {', '.join(f'{x:g}' for x in printed)}"
    return row["instance"], said(row), figure(row.get("objective"), 4), figure(row.get("norm"), 2), paper, z


FIGURE_NAMES = ("figure", "status", "objective", "2-norm", "paper", "deviations")
NAMES = ("instance", "norm", "status", "absolute: mean, sd, max", "per cent: mean, sd, max", "2-norm", "CPU s")
TABLES = {FIGURES_KIND: Columns(FIGURE_NAMES, _figure_words), KIND: Columns(NAMES, _words)}
SUITE = Suite("paper_004", __doc__, entries, TABLES)

if __name__ == "__main__":
    main([SUITE], __doc__)
