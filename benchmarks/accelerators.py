"""What accelerators buy: the model alone, solved by HiGHS, against the accelerator of the method, in one process.

    python benchmarks/accelerators.py --json benchmarks/results/accelerators.json     # about five minutes
    python benchmarks/accelerators.py --only 'cells-48:*' --limit 5

Both get the same table, one thread, the same gap and the same limit, and are run once before on a small table. Seconds
are of CPU time, building the model included, the best of two where they are short; the accelerator's include putting
its release into the model. The ratio is that of the model alone to the accelerator: below 1 the model alone is faster.
Where the model ends at its limit, the ratio is a least one. Rows of enhanced adjustment have no cost to agree about:
tables are drawn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from instances import Shape, network
from measuring import DEADLINES, figure, measured
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.by_model import by_model
from sdcdsl.methods.model_check import checked
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.solving import definition
from sdcdsl.registry import load
from sdcdsl.status import OPTIMAL
from sdcdsl.vocabulary.methods import METHODS

KIND = "Accelerators and models alone"
GAP, LIMIT, SHORT = 1e-5, 20.0, 2.0  # what is shorter is run twice
SAME = 1e-4  # of a cost
SHAPES = {
    "cells-20": Shape(5, 1, 4, 0.15),
    "cells-48": Shape(8, 2, 6, 0.15),
    "cells-120": Shape(15, 3, 8, 0.12),
    "cells-240": Shape(20, 3, 12, 0.12),
}
WARM = Shape(4, 1, 4, 0.2)
SEED = 3


@dataclass(frozen=True)
class Asked:
    """A method with the options that are measured."""

    method: str
    options: Callable[[int], dict]  # by the number of cells


ASKED = {
    "csp": Asked("csp", lambda n: {}),
    "ip": Asked("ip", lambda n: {}),
    "ip, least widths": Asked("ip", lambda n: {"min_width": 10.0}),
    "cta": Asked("cta", lambda n: {"norm": "L1"}),
    "cta, L2": Asked("cta", lambda n: {"norm": "L2"}),
    "ecta": Asked("ecta", lambda n: {"alpha": 0.5, "tries": 10}),
    "rounding": Asked("rounding", lambda n: {"base": np.full(n, 5.0)}),
    "perturb": Asked("perturb", lambda n: {"range": (np.full(n, -100.0), np.full(n, 100.0))}),
    "combined": Asked("combined", lambda n: {"suppress": np.arange(n) % 2 == 0, "interval": np.arange(n) % 2 == 1}),
}


def row_of(instance: str, asked: Asked, setting: Setting) -> Row:
    problem = network(SHAPES[instance], seed=SEED)
    small = network(WARM, seed=SEED)
    ways = {"accelerated": _accelerated, "alone": _alone}
    results: dict[str, Result] = {}
    seconds: dict[str, float] = {}
    for way, solve in ways.items():
        _timed(solve, small, asked, setting)
        results[way], seconds[way] = _timed(solve, problem, asked, setting)
        if seconds[way] < SHORT:
            seconds[way] = min(seconds[way], _timed(solve, problem, asked, setting)[1])
    fast, alone = results["accelerated"], results["alone"]
    ours, theirs = fast.objective, alone.objective
    agree = None
    if fast.status == alone.status == OPTIMAL and ours is not None and theirs is not None:
        agree = abs(ours - theirs) <= SAME * abs(theirs) + SAME
    return {
        "cells": problem.n,
        "pairs": problem.dataset.sizes["pair"],
        "status": fast.status,
        "objective": fast.objective,
        "cpu": seconds["accelerated"],
        "alone": {"status": alone.status, "objective": alone.objective, "cpu": seconds["alone"]},
        "ratio": seconds["alone"] / seconds["accelerated"],
        "agree": agree,
    }


def _timed(
    solve: Callable[[TableProblem, str, SolveContext], Result], problem: TableProblem, asked: Asked, setting: Setting
) -> tuple[Result, float]:
    options = {**asked.options(problem.n), "gap": GAP, "threads": 1}
    context = SolveContext(options, DEADLINES[setting.clock](setting.limit), seed=1)
    return measured(lambda: solve(problem, asked.method, context))


def _accelerated(problem: TableProblem, method: str, context: SolveContext) -> Result:
    """The accelerator at any size, checked by the model."""
    record = METHODS[method]
    return checked(problem, definition(method), load(record.accelerator or "")(problem, context), context)


def _alone(problem: TableProblem, method: str, context: SolveContext) -> Result:
    defined = definition(method)
    own = getattr(defined, "solve", None)
    return by_model(problem, defined, context) if own is None else own(problem, context)


def _words(row: Row) -> tuple[str, ...]:
    alone = row.get("alone", {})
    return (
        row["instance"],
        row["method"],
        figure(row.get("pairs")),
        row["status"],
        figure(row.get("objective"), 2),
        figure(row.get("cpu"), 2),
        alone.get("status", "–"),
        figure(alone.get("objective"), 2),
        figure(alone.get("cpu"), 2),
        figure(row.get("ratio"), 1),
        {True: "yes", False: "**NO**", None: "–"}[row.get("agree")],
    )


NAMES = (
    "table",
    "method",
    "pairs",
    "accelerator",
    "cost",
    "CPU s",
    "model alone",
    "cost",
    "CPU s",
    "ratio",
    "same cost",
)


def entries(done: Done) -> Iterator[Entry]:
    for instance in SHAPES:
        for name, asked in ASKED.items():
            yield Entry(
                KIND,
                instance,
                name,
                lambda setting, instance=instance, asked=asked: row_of(instance, asked, setting),
                LIMIT,
                ("build", "solve"),
                about="the same cost where both prove it",
                quick=5.0 if instance == "cells-48" else None,
                longer=4 * LIMIT,
            )


SUITE = Suite("accelerators", __doc__, entries, {KIND: Columns(NAMES, _words)})

if __name__ == "__main__":
    main([SUITE], __doc__)
