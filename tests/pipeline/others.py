"""A method of a third party, as its package would bring it along: all patterns of a small table, the cheapest first.

It is also an oracle: it knows no cuts, no bounds and no search, only the definition and the audit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from sdcdsl.audit import audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.csp import CspOptions
from sdcdsl.methods.result import Progress, Result, SolveContext
from sdcdsl.pattern import hidden
from sdcdsl.registry import forget
from sdcdsl.status import FEASIBLE, LIMIT, OPTIMAL
from sdcdsl.vocabulary.methods import Method

ENUMERATION = Method(
    "enumeration",
    "all patterns",
    "the table with some cells hidden",
    "none",
    CspOptions,
    solve="tests.pipeline.others:enumeration",
)
CARELESS = Method(
    "careless",
    "hides sensitive cells and nothing else",
    "too much",
    "none",
    CspOptions,
    solve="tests.pipeline.others:careless",
)
LYING = Method(
    "lying", "publishes something else", "a wrong table", "none", CspOptions, solve="tests.pipeline.others:lying"
)
FRUITLESS = Method(
    "fruitless",
    "searches until it is told to stop",
    "nothing",
    "none",
    CspOptions,
    solve="tests.pipeline.others:fruitless",
)
ENDLESS = Method(
    "endless",
    "searches until it is told to stop",
    "the table with all cells hidden",
    "none",
    CspOptions,
    solve="tests.pipeline.others:endless",
)
MEETING = Method(
    "meeting",
    "waits until another block is searched, too",
    "all cells hidden",
    "none",
    CspOptions,
    solve="tests.pipeline.others:meeting",
)
STUBBORN = Method(
    "stubborn", "searches on whatever it is told", "nothing", "none", CspOptions, solve="tests.pipeline.others:stubborn"
)
LINGERING = Method(
    "lingering",
    "has a release in hand and does not come back",
    "the table with all cells hidden",
    "none",
    CspOptions,
    solve="tests.pipeline.others:lingering",
)
BREAKING = Method(
    "breaking",
    "has a release in hand and breaks down",
    "the table with all cells hidden",
    "none",
    CspOptions,
    solve="tests.pipeline.others:breaking",
)
OVERBOLD = Method(
    "overbold",
    "has a release that protects, and ends with a cheaper one that does not",
    "too much",
    "none",
    CspOptions,
    solve="tests.pipeline.others:overbold",
)


def enumeration(problem: TableProblem, context: SolveContext) -> Result:
    d = problem.dataset
    a, w, status = d["a"].values, d["w"].values, d["status"].values
    must = status == "u"
    free = np.flatnonzero(status == "s")
    if context.deadline.expired:
        return Result(LIMIT)
    most = context.options["cap_hidden"] or len(free)
    patterns = [chosen for size in range(min(most, 4)) for chosen in combinations(free.tolist(), size)]
    for chosen in sorted(patterns, key=lambda chosen: (w[list(chosen)].sum(), chosen)):
        cells = must.copy()
        cells[list(chosen)] = True
        pattern = hidden(a, cells)
        if audit(problem, pattern, exact=False).verdict == "protected":
            cost = float(w[cells].sum())
            return Result(OPTIMAL, pattern, cost, cost)
    return Result("infeasible")


def careless(problem: TableProblem, context: SolveContext) -> Result:
    d = problem.dataset
    return Result(OPTIMAL, hidden(d["a"].values, d["status"].values == "u"), 0.0, 0.0)


def lying(problem: TableProblem, context: SolveContext) -> Result:
    d = problem.dataset
    return Result(OPTIMAL, hidden(d["a"].values + 1, d["status"].values == "u"), 0.0, 0.0)


def endless(problem: TableProblem, context: SolveContext) -> Result:
    while not context.deadline.expired:
        context.report(Progress("waiting", objective=190.0, bound=59.0))
        threading.Event().wait(0.05)
    d = problem.dataset
    everything = hidden(d["a"].values, np.ones(problem.n, dtype=bool))
    return Result(FEASIBLE, everything, float(d["w"].values.sum()), 59.0)


def fruitless(problem: TableProblem, context: SolveContext) -> Result:
    while not context.deadline.expired:
        context.report(Progress("waiting", note="for nothing"))
        threading.Event().wait(0.05)
    return Result(LIMIT)


_BOTH = threading.Barrier(2)


def meeting(problem: TableProblem, context: SolveContext) -> Result:
    """Two of these are done only if they run at the same time."""
    try:
        _BOTH.wait(timeout=context.options["time_limit"] or 900.0)
    except threading.BrokenBarrierError:
        _BOTH.reset()
        return Result(LIMIT)
    d = problem.dataset
    return Result(FEASIBLE, hidden(d["a"].values, np.ones(problem.n, dtype=bool)), float(d["w"].values.sum()), 0.0)


def stubborn(problem: TableProblem, context: SolveContext) -> Result:
    while True:
        context.report(Progress("waiting", note="for nothing"))
        threading.Event().wait(0.05)


def _in_hand(problem: TableProblem, context: SolveContext) -> None:
    """All cells hidden."""
    d = problem.dataset
    everything, cost = hidden(d["a"].values, np.ones(problem.n, dtype=bool)), float(d["w"].values.sum())
    context.incumbents.offer(cost, lambda: Result(FEASIBLE, everything, cost))
    context.report(Progress("waiting", cost, 59.0))


def lingering(problem: TableProblem, context: SolveContext) -> Result:
    _in_hand(problem, context)
    while True:
        threading.Event().wait(0.05)


def breaking(problem: TableProblem, context: SolveContext) -> Result:
    _in_hand(problem, context)
    raise ArithmeticError("a solver wrote beyond its memory")


def overbold(problem: TableProblem, context: SolveContext) -> Result:
    _in_hand(problem, context)
    made = careless(problem, context)
    context.incumbents.offer(0.0, lambda: made)
    return made


def install(folder: Path) -> None:
    """What pip would leave behind."""
    info = folder / "others-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n", encoding="utf-8")
    names = ("enumeration", "careless", "lying", "endless", "fruitless", "meeting", "stubborn")
    names += ("lingering", "breaking", "overbold")
    methods = "".join(f"{name} = tests.pipeline.others:{name.upper()}\n" for name in names)
    (info / "entry_points.txt").write_text(f"[sdcdsl.methods]\n{methods}", encoding="utf-8")


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "site"
    install(folder)
    monkeypatch.syspath_prepend(str(folder))
    forget()
    yield folder
    forget()


def environment(folder: Path) -> dict[str, str]:
    """For a process of its own."""
    root = Path(__file__).resolve().parents[2]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(root)])}
