"""Paper 003: the patterns of its Figures 2, 5, 8 and 11 attacked, and its first models against its second ones.

    python benchmarks/paper_003.py --json benchmarks/results/paper_003.json       # seconds

All on the 3 × 3 table of its Figure 1, of which II·C = 22 is sensitive. A *pattern* row has what an attacker who knows
that nothing is negative finds about II·C; a *model* row has the optimum of the first model (with the attacker's tables
inside: Figures 3 and 6) and that of the cutting planes of the second (Figures 4 and 7), for several levels; rows of
rounding and perturbation (Figures 9, 10, 12, 13) have what the method finds. *Known* are optima of an enumeration of
all patterns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from generators import bound
from measuring import DEADLINES, audited, figure, measured, said
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.by_model import by_model
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import definition, run
from sdcdsl.pattern import Pattern, hidden, intervals, perturbed, rounded

PATTERNS, MODELS = "Patterns of paper 003", "Models of paper 003"
POLICY = """sdc 1
policy "the table of paper 003"

dimension activity {{
  codes I, II, III
  total Total
}}

dimension region {{
  codes A, B, C
  total Total
}}

table investment {{
  by activity, region
  values
    | activity \\ region |  A |   B |  C | Total |
    | I                 | 20 |  50 | 10 |    80 |
    | II                |  8 |  19 | 22 |    49 |
    | III               | 17 |  32 | 12 |    61 |
    | Total             | 45 | 101 | 44 |   190 |
}}

sensitive investment at (activity: II, region: C)

attacker external {{
  bounds 0 .. inf
}}

protect investment {{
  lpl {lpl}
  upl {upl}
  spl {spl}
  against external
  cost {cost}
  method csp
}}
"""
SENSITIVE = ("II", "C")
BASE = 10.0


@dataclass(frozen=True)
class Asked:
    """A model row: levels, cost, and the optimum by method where it is known."""

    levels: tuple[int, int, int]
    cost: str
    known: dict[str, float]

    @property
    def name(self) -> str:
        return " / ".join(map(str, self.levels)) + ("" if self.cost == "value" else ", cost 1")


ASKED = (
    Asked((10, 12, 0), "value", {"csp": 85, "ip": 1402}),
    Asked((10, 12, 0), "1", {"csp": 4, "ip": 88}),
    Asked((5, 8, 0), "value", {"csp": 59, "ip": 767}),
    Asked((17, 8, 0), "value", {"csp": 59, "ip": 1475}),
    Asked((10, 8, 30), "value", {"csp": 85, "ip": 1775}),
)


def table(asked: Asked = ASKED[0]) -> TableProblem:
    lpl, upl, spl = asked.levels
    return bound(POLICY.format(lpl=lpl, upl=upl, spl=spl, cost=asked.cost), Path())


def cells(problem: TableProblem, at: Mapping[tuple[str, str], Any]) -> Iterator[tuple[int, Any]]:
    lattice = problem.tables[0].lattice
    assert lattice is not None
    for (activity, region), what in at.items():
        yield lattice.cell({"activity": activity, "region": region}), what


def suppression(problem: TableProblem) -> Pattern:
    """Figure 2."""
    marked = np.zeros(problem.n, dtype=bool)
    marked[[i for i, _ in cells(problem, dict.fromkeys((("II", "A"), ("II", "C"), ("III", "A"), ("III", "C"))))]] = True
    return hidden(problem.dataset["a"].values, marked)


def interval(problem: TableProblem) -> Pattern:
    """Figure 5."""
    low, high = problem.dataset["a"].values.copy(), problem.dataset["a"].values.copy()
    printed = {("I", "A"): (18, 24), ("I", "C"): (6, 12), ("II", "A"): (4, 10), ("II", "C"): (20, 26)}
    for i, ends in cells(problem, dict(printed)):
        low[i], high[i] = ends
    return intervals(low, high)


def _table(problem: TableProblem, rows: dict[str, tuple[int, int, int, int]]) -> np.ndarray:
    v = np.zeros(problem.n)
    for activity, values in rows.items():
        for i, value in cells(
            problem, {(activity, r): x for r, x in zip(("A", "B", "C", "Total"), values, strict=True)}
        ):
            v[i] = value
    return v


def rounding(problem: TableProblem) -> Pattern:
    """Figure 8. Cells that are multiples of the base have no slack."""
    rows = {"I": (20, 50, 10, 80), "II": (10, 20, 20, 50), "III": (20, 30, 10, 60), "Total": (50, 100, 40, 190)}
    a = problem.dataset["a"].values
    return rounded(_table(problem, rows), np.where(a % BASE == 0, 0.0, BASE))


def perturbation(problem: TableProblem) -> Pattern:
    """Figure 11. The largest deviation printed, 4, is taken as what is published about all cells inside the table."""
    rows = {"I": (20, 50, 10, 80), "II": (7, 16, 26, 49), "III": (18, 35, 8, 61), "Total": (45, 101, 44, 190)}
    v = _table(problem, rows)
    moved = np.abs(v - problem.dataset["a"].values)
    return perturbed(v, np.where(moved > 0, moved.max(), 0.0))


FIGURES: dict[str, tuple[str, Callable[[TableProblem], Pattern], str]] = {
    "Figure 2": ("csp", suppression, "[5, 30]"),
    "Figure 5": ("ip", interval, "[20, 26]"),
    "Figure 8": ("rounding", rounding, "–"),
    "Figure 11": ("perturb", perturbation, "–"),
}


def attacked(make: Callable[[TableProblem], Pattern]) -> Row:
    problem = table()
    pattern = make(problem)
    made, cpu = measured(lambda: audit(problem, pattern, exact=True))
    v = np.where(np.isnan(pattern.value), problem.dataset["a"].values, pattern.value)
    d = problem.dataset
    sums = np.zeros(problem.m)
    np.add.at(sums, d["equation_of"].values, d["coefficient"].values * v[d["cell_of"].values])
    return {
        "status": "done",
        "cells": problem.n,
        "low": float(made.low[0]),
        "high": float(made.high[0]),
        "loss": float(np.abs(v - d["a"].values).sum()),
        "off": float(np.abs(sums - d["b"].values).max()),
        "cpu": cpu,
        "timed": {"audit": cpu},
    }


def compared(asked: Asked, method: str, setting: Setting) -> Row:
    problem = table(asked)
    context = SolveContext({"gap": 0.0, "threads": 1}, DEADLINES[setting.clock](setting.limit))
    second, cpu = measured(lambda: run(problem, method, context))
    first, first_cpu = measured(lambda: by_model(problem, definition(method), SolveContext({"gap": 0.0, "threads": 1})))
    return {
        "status": second.status,
        "cells": problem.n,
        "objective": second.objective,
        "first": first.objective,
        "first_status": first.status,
        "cpu": cpu,
        "first_cpu": first_cpu,
    } | audited(problem, second.pattern)


def changed(method: str, options: dict, setting: Setting) -> Row:
    """Levels of 2, which a rounding to 10 can give."""
    problem = table(Asked((2, 2, 0), "1", {}))
    context = SolveContext({**options, "gap": 0.0, "threads": 1}, DEADLINES[setting.clock](setting.limit))
    made, cpu = measured(lambda: run(problem, method, context))
    return {"status": made.status, "cells": problem.n, "objective": made.objective, "cpu": cpu} | audited(
        problem, made.pattern
    )


def entries(done: Done) -> Iterator[Entry]:
    for name, (method, make, printed) in FIGURES.items():
        yield Entry(
            PATTERNS,
            name,
            method,
            lambda setting, make=make: attacked(make),
            10.0,
            ("audit",),
            lambda row, printed=printed: {"printed": printed},
            quick=3.0,
        )
    for asked in ASKED:
        for method in ("csp", "ip"):
            yield Entry(
                MODELS,
                asked.name,
                method,
                lambda setting, asked=asked, method=method: compared(asked, method, setting),
                10.0,
                judge=lambda row, known=asked.known[method]: {"known": known, "met": _agree(row, known)},
                quick=3.0,
            )
    yield _changing("base 10", "rounding", {"base": BASE})
    yield _changing("± 8", "perturb", {"range": (np.full(16, -8.0), np.full(16, 8.0)), "end": "free"})


def _changing(name: str, method: str, options: dict) -> Entry:
    return Entry(MODELS, name, method, lambda setting: changed(method, options, setting), 10.0, quick=3.0)


def _agree(row: Row, known: float) -> bool:
    return all(row.get(name) is not None and abs(row[name] - known) <= 1e-6 * known for name in ("objective", "first"))


def _pattern_words(row: Row) -> tuple[str, ...]:
    found = f"[{row['low']:g}, {row['high']:g}]" if "low" in row else said(row)
    return row["instance"], row["method"], found, row["printed"], figure(row.get("loss")), figure(row.get("off"))


def _model_words(row: Row) -> tuple[str, ...]:
    return (
        row["instance"],
        row["method"],
        said(row),
        figure(row.get("objective"), 2),
        figure(row.get("first"), 2),
        figure(row.get("known"), 0),
        row.get("audit", "–"),
        figure(row.get("cpu"), 2),
        figure(row.get("first_cpu"), 2),
    )


PATTERN_NAMES = ("pattern", "method", "II·C from outside", "paper", "sum of changes", "sums missed by")
MODEL_NAMES = ("levels", "method", "status", "second model", "first model", "known", "audit", "CPU s", "first model s")
TABLES = {PATTERNS: Columns(PATTERN_NAMES, _pattern_words), MODELS: Columns(MODEL_NAMES, _model_words)}
SUITE = Suite("paper_003", __doc__, entries, TABLES)

if __name__ == "__main__":
    main([SUITE], __doc__)
