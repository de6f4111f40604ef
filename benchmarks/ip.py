"""Interval protection: every promise a row, measured and audited.

    python benchmarks/ip.py --json benchmarks/results/ip.json           # everything: about half an hour
    python benchmarks/ip.py --only 'lookalike-*,targus' --limit 5       # a quick look

Seconds are of CPU time, of one core; the method gets 95 % of the seconds promised, so that it ends within them.

A unit of width costs 1 / value in the made tables (one of the costs that paper 000 names, and the one with which its
findings come out again), in rows `by-value` the value, in rows `alike` 1. Files have their own costs, the values.

For the tables that resemble those of paper 000, how many cells became intervals and how many of these have the true
value in the middle stand next to what the paper found on its own (Tables 3 and 4).

`first-model` is the linear program of paper 003, Figure 6, against the cutting planes on the same table of 480 cells.
Its time is that of the solver alone, without building the model, ours all of it, best of three; at its limit the ratio
is a least one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from instances import ASYMMETRIC, LARGE, SYMMETRIC, Shape, business, lookalike, network
from measuring import DEADLINES, Case, figure, measured, said, share, solved
from patterns import CSPLIB, from_file
from registry import Columns, Done, Entry, Row, Suite
from runner import main

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.by_model import by_model
from sdcdsl.methods.ip import model as ip
from sdcdsl.methods.result import SolveContext
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import INTERVAL

KIND = "Interval protection"
GAP = 1e-6
RATIO = 100  # of the first model's time and ours
FIRST_MODEL = "first-model"
# Tables 3 and 4 of paper 000, per cent: of cells that are intervals, of these with the value in the middle.
PAPER = {
    "symmetric": {1: (18.2, 87.1), 2: (18.5, 85.4), 3: (19.1, 77.9), 4: (23.1, 80.8), 5: (25.3, 77.5), 6: (25.5, 76.9)},
    "asymmetric": {1: (21.4, 2.9), 2: (20.8, 2.3), 3: (21.4, 1.1), 4: (26.8, 2.1), 5: (27.7, 1.0), 6: (28.4, 3.5)},
}
# Where the true value lies in its interval: the classes of Table 4, by where the middle is, seen from the value.
PLACES = ("at the upper end", "above the middle", "in the middle", "below the middle", "at the lower end")


@dataclass(frozen=True)
class Promise:
    """Beside a release that the audit calls protected: `seconds`, and the gap, which may be open where `or_stated`."""

    seconds: float
    gap: float = GAP
    or_stated: bool = False
    ratio: float | None = None

    @property
    def text(self) -> str:
        words = f"valid, gap ≤ {self.gap:g}{' or stated' if self.or_stated else ''}, ≤ {self.seconds:g} s"
        return words if self.ratio is None else f"{words}, ≥ {self.ratio:g} × faster, same cost"

    def met(self, row: Row) -> bool:
        if row.get("audit") != "protected" or row["cpu"] > self.seconds or row["gap"] is None:
            return False
        faster = self.ratio is None or (row["ratio"] >= self.ratio and row["agree"] is not False)
        return faster and (self.or_stated or row["gap"] <= self.gap)


@dataclass(frozen=True)
class Claim:
    case: Case
    promise: Promise


def claims() -> Iterator[Claim]:
    for costs in ("relative", "by-value", "alike"):
        suffix = "" if costs == "relative" else f"-{costs}"
        for number in range(1, 7):
            for word, levels in (("symmetric", SYMMETRIC), ("asymmetric", ASYMMETRIC)):
                made = Case(f"lookalike-{number}-{word}{suffix}", _lookalike(number, levels, costs), 4.75, GAP)
                yield Claim(made, Promise(5))
        yield Claim(Case(f"network-10000{suffix}", _network(LARGE[10_000], costs), 57, GAP), Promise(60))
    for name, seconds, or_stated in (
        ("targus", 5, False),
        ("table7", 5, False),
        ("table8", 5, False),
        ("osorio", 5, False),
        ("hier13x7x7d", 5, False),
        ("hier13", 300, True),
    ):
        path = CSPLIB / f"{name}.jj"
        made = Case(name, _file(path), 0.95 * seconds, GAP, path.is_file(), "general")
        yield Claim(made, Promise(seconds, or_stated=or_stated))
    for percent, costs in ((10, "relative"), (16, "relative"), (10, "by-value"), (16, "by-value")):
        made = _network(Shape(24, 3, 20, percent / 100), costs)
        yield Claim(Case(f"{FIRST_MODEL}-{percent}-{costs}", made, 57, GAP), Promise(60, ratio=RATIO))


def _lookalike(number: int, levels: tuple[float, float], costs: str):
    return lambda: _with(costs, lookalike(number, levels))


def _network(shape: Shape, costs: str):
    return lambda: _with(costs, network(shape))


def _with(costs: str, problem: TableProblem) -> TableProblem:
    a = problem.dataset["a"].values
    w = {"relative": 1 / np.maximum(a, 1.0), "by-value": a, "alike": np.ones(problem.n)}[costs]
    return replace(problem, dataset=problem.dataset.assign(w=("cell", w)))


def _file(path: Path):
    return lambda: from_file(path)


# ---- a row ------------------------------------------------------------------------------------------------------


def row_of(case: Case, clock: str, first_model_limit: float) -> Row:
    _warm_up(case, clock)
    problem, result, row = solved(case, "ip", clock)
    if result.pattern is not None:
        row |= widths(problem, result.pattern)
    if case.name.startswith(FIRST_MODEL):
        row["cpu"] = min(row["cpu"], *(solved(case, "ip", clock)[2]["cpu"] for _ in range(2)))
        row |= first_model(problem, result.objective, row["cpu"], first_model_limit, clock)
    return row


def _warm_up(case: Case, clock: str) -> None:
    """Loads compiled kernels and solvers; what it finds does not matter."""
    make = _lookalike(1, SYMMETRIC, "relative") if case.kind == "network" else (lambda: business(seed=99))
    solved(replace(case, make=make, limit=min(5.0, case.limit)), "ip", clock)


def widths(problem: TableProblem, pattern: Pattern) -> Row:
    """How many intervals there are, and where the true value lies in them."""
    used = (pattern.status == INTERVAL) & problem.dataset["published"].values
    a, low, high = problem.dataset["a"].values[used], pattern.low[used], pattern.high[used]
    slack = 1e-6 * (high - low)
    off = a - (low + high) / 2
    classes = (np.abs(a - high) <= slack, off > slack, np.abs(off) <= slack, off < -slack, np.abs(a - low) <= slack)
    left = np.ones(len(a), dtype=bool)
    places = {}
    for at in (0, 4, 2, 1, 3):  # ends and middle first, the rest between them
        mine = left & classes[at]
        places[PLACES[at]] = round(100 * float(mine.mean()), 1) if len(a) else None
        left &= ~mine
    return {"intervals": int(used.sum()), "share": 100 * float(used.mean()), "places": {p: places[p] for p in PLACES}}


def first_model(problem: TableProblem, objective: float | None, ours: float, limit: float, clock: str) -> Row:
    options = {"gap": GAP, "threads": 1}
    _, building = measured(lambda: ip.model(problem, SolveContext(options)))
    made, cpu = measured(lambda: by_model(problem, ip, SolveContext(options, DEADLINES[clock](limit + building))))
    solving = cpu - building
    apart = np.inf if made.objective is None or objective is None else abs(made.objective - objective)
    return {
        "first_model": {"status": made.status, "objective": made.objective, "cpu": solving, "building": building},
        "ratio": solving / ours,
        "agree": bool(apart <= 1e-5 * abs(objective or 0.0)) if made.status == "optimal" else None,
    }


def _words(row: Row) -> tuple[str, ...]:
    phases = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in row.get("phases", {}).items())
    paper = row.get("paper") or (None, None)
    centred = row.get("places", {}).get("in the middle")
    if "first_model" in row:
        first = row["first_model"]
        phases += f"; first model: {first['status']} after {first['cpu']:.0f} s, {row['ratio']:.0f} ×"
    return (
        row["instance"],
        figure(row.get("cells")),
        figure(row.get("sensitive")),
        figure(row["limit"], 1),
        said(row),
        figure(row.get("objective"), 0 if (row.get("objective") or 0) > 1e5 else 2),
        figure(row.get("bound"), 0 if (row.get("bound") or 0) > 1e5 else 2),
        share(row.get("gap")),
        figure(row.get("cpu"), 1),
        phases,
        row.get("audit", "–"),
        figure(row.get("audit_cpu"), 2),
        figure(row.get("intervals")),
        _beside(row.get("share"), paper[0]),
        _beside(centred, paper[1]),
        row["promise"],
        "yes" if row["met"] else "**NO**",
    )


def _beside(ours: float | None, theirs: float | None) -> str:
    words = "–" if ours is None else f"{ours:.1f} %"
    return words if theirs is None else f"{words} ({theirs:.1f} %)"


NAMES = (
    "instance",
    "cells",
    "sensitive",
    "limit s",
    "status",
    "cost",
    "bound",
    "gap",
    "CPU s",
    "by phase",
    "audit",
    "audit s",
    "intervals",
    "of cells (paper)",
    "centred (paper)",
    "promise",
    "met",
)
COLUMNS = Columns(NAMES, _words)
TABLES = {KIND: COLUMNS}


# ---- the suite --------------------------------------------------------------------------------------------------


def entries(done: Done) -> Iterator[Entry]:
    for claim in claims():
        yield Entry(
            KIND,
            claim.case.name,
            "ip",
            lambda setting, claim=claim: row_of(
                replace(claim.case, limit=setting.limit), setting.clock, setting.options["first_model_limit"]
            ),
            claim.case.limit,
            ("build", "solve", "audit") if claim.case.name.startswith(FIRST_MODEL) else ("solve", "audit"),
            judge=lambda row, claim=claim: {
                "promise": claim.promise.text,
                "met": claim.promise.met(row),
                "paper": paper_on(claim.case.name),
            },
            about=claim.promise.text,
            here=claim.case.here,
            quick=QUICK.get(claim.case.name),
            longer=OPTIONS["first_model_limit"] if claim.case.name.startswith(FIRST_MODEL) else 0.0,
        )


def paper_on(name: str) -> tuple[float, float] | None:
    if not name.startswith("lookalike-") or name.endswith(("by-value", "alike")):
        return None
    _, number, word = name.split("-")[:3]
    return PAPER[word][int(number)]


OPTIONS = {"first_model_limit": 300.0}  # seconds for the compact model
QUICK = {"lookalike-1-symmetric": 4.75, "lookalike-1-asymmetric": 4.75, "lookalike-4-symmetric": 4.75}
SUITE = Suite("ip", __doc__, entries, TABLES, OPTIONS)

if __name__ == "__main__":
    main([SUITE], __doc__)
