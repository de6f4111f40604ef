"""What variants of engines buy: the same work with them and without them, in one process, with the same answers.

    python benchmarks/variants.py --json benchmarks/results/variants.json     # a minute
    python benchmarks/variants.py --only 'hier13-*'

`sdcdsl/numerics` has one simplex method, one interior point method, one flow code and one null space reduction, some of
them in variants. A variant stays as long as a row here is clearly above 1: *without it* is what would do its work if it
were not there. Seconds are of CPU time, one thread, the best of three where they are short; both have run before, so
that nothing is loaded or compiled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from cta import Box, ours
from cta import of_problem as box_of
from instances import CSPLIB, from_file, large, lookalike
from measuring import DEADLINES, figure, measured
from patterns import problem_of
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.accelerate.csp.cheapest_direction import Cheapest
from sdcdsl.attack import tableau_engine
from sdcdsl.audit import audit
from sdcdsl.methods.instance import Instance
from sdcdsl.numerics.nearest import linf
from sdcdsl.numerics.simplex.dual import DualSimplex
from sdcdsl.pattern import Pattern, hidden, intervals

KIND = "Variants of engines"
SAME = 1e-6  # of an answer
LIMIT, LONG = 60.0, 5.0

Off = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Variant:
    engine: str
    name: str
    instance: str
    without: str  # what does its work then
    work: Callable[[str, float], Callable[[], Any]]  # of the instance and the seconds: what is timed, gives its answer
    off: Off
    file: str = ""  # of CSPLIB, that has to be there
    quick: bool = False


# ---- work ------------------------------------------------------------------------------------------------------------


def _hidden(instance: str) -> tuple[Any, Pattern]:
    """`hier13-hidden-96`: 96 cells of a hundred hidden at random, and all sensitive ones."""
    table, _, share = instance.partition("-hidden-")
    problem = lookalike(2) if table == "lookalike-2" else problem_of(table)
    mask = np.random.default_rng(2).random(problem.n) < float(share) / 100
    mask[problem.sensitive] = True
    return problem, hidden(problem.dataset["a"].values, mask)


def _narrow(instance: str) -> tuple[Any, Pattern]:
    """Intervals around nearly all cells, as wide as the highest level: just wide enough for some."""
    problem = problem_of(instance.removesuffix("-intervals"))
    a = problem.dataset["a"].values
    width = float(max(problem.dataset["lpl"].values.max(), problem.dataset["upl"].values.max()))
    wide = width * (np.random.default_rng(2).random(problem.n) < 0.97)
    wide[problem.sensitive] = width
    return problem, intervals(np.maximum(a - wide, 0.0), a + wide)


def audits(make: Callable[[str], tuple[Any, Pattern]], exact: bool = True, engine: str | None = None) -> Any:
    def work(instance: str, limit: float) -> Callable[[], Any]:
        problem, pattern = make(instance)
        return lambda: audit(problem, pattern, exact=exact, engine=engine).verdicts

    return work


def closest(norm: str, make: Callable[[str], Box]) -> Any:
    def work(instance: str, limit: float) -> Callable[[], Any]:
        box = make(instance)
        return lambda: ours(box, norm, DEADLINES["cpu"](limit)).objective

    return work


def cheapest_directions(count: int) -> Any:
    """Of the first sensitive cells, each upwards, in the box of the first attacker at prices of 1."""

    def work(instance: str, limit: float) -> Callable[[], Any]:
        problem = lookalike(2)
        of = Instance(problem)
        cells = problem.sensitive[:count]
        slack = of.slack(0)
        price = np.ones(of.n)

        def run() -> float:
            finder = Cheapest(of)
            total = 0.0
            for cell in cells.tolist():
                need = min(0.1 * max(float(of.a[cell]), 1.0), float(slack[1][cell]))
                move = finder.move(cell, 1, need, slack, price) if need > 0 else None
                total += 0.0 if move is None else float(np.abs(move[1]).sum()) / need
            return total

        return run

    return work


def _of_file(instance: str) -> Box:
    return box_of(from_file(CSPLIB / f"{instance}.jj"))


def tuned(module: Any, name: str = "TUNING", **fields: Any) -> Off:
    return lambda: patch.object(module, name, replace(getattr(module, name), **fields))


VARIANTS = (
    Variant(
        "simplex", "tableau", "hier13-hidden-96", "HiGHS", audits(_hidden), nullcontext, "hier13", quick=True
    ),
    Variant(
        "simplex", "batched", "hier13-hidden-100", "one question at a time", audits(_hidden),
        lambda: patch.object(tableau_engine.TableauEngine, "all_at_once", lambda *_: None), "hier13",
    ),
    Variant(
        "simplex", "revised", "hier13-hidden-97", "interior point and tableau", audits(_hidden),
        tuned(tableau_engine, loose_up_to=0), "hier13",
    ),
    Variant(
        "simplex", "dual", "lookalike-2", "HiGHS", cheapest_directions(150),
        lambda: patch.object(DualSimplex, "solve", lambda *_: (-1, None, None)), quick=True,
    ),
    Variant(
        "interior point", "box", "hier13-intervals", "revised and tableau", audits(_narrow),
        tuned(tableau_engine, inner_from=10**9), "hier13",
    ),
    Variant(
        "closest in L∞", "by cuts on the maxima", "network-10000", "a row for each cell",
        closest("Linf", lambda _: box_of(large(10_000))), lambda: patch.object(linf, "_few_relations", lambda _: False),
        quick=True,
    ),
    Variant(
        "closest in L∞", "a row for each cell", "two5in6", "by cuts on the maxima", closest("Linf", _of_file),
        lambda: patch.object(linf, "_few_relations", lambda _: True), "two5in6",
    ),
)  # fmt: skip


# ---- rows ------------------------------------------------------------------------------------------------------------


def row_of(variant: Variant, setting: Setting) -> Row:
    work = variant.work(variant.instance, setting.limit)
    other = work
    if variant.name == "tableau":
        other = audits(_hidden, engine="highs")(variant.instance, setting.limit)
    answer, cpu = _best(work)
    with variant.off():
        again, without = _best(other)
    return {
        "status": "done",
        "engine": variant.engine,
        "objective": float(answer) if isinstance(answer, float) else None,
        "cpu": cpu,
        "without": {"name": variant.without, "cpu": without, "objective": again if isinstance(again, float) else None},
        "ratio": without / cpu,
        "agree": _agree(answer, again),
    }


def _best(work: Callable[[], Any]) -> tuple[Any, float]:
    """After a first time, which loads and compiles and is all there is of what takes long."""
    answer, cpu = measured(work)
    if cpu < LONG:
        answer, cpu = min((measured(work) for _ in range(3)), key=lambda made: made[1])
    return answer, cpu


def _agree(answer: Any, again: Any) -> bool | None:
    """None where answers of a search at its limit may differ."""
    if answer is None or again is None:
        return None
    if isinstance(answer, float):
        return True if abs(answer - again) <= SAME * max(abs(answer), 1.0) else None
    return bool(np.array_equal(answer, again))


def _words(row: Row) -> tuple[str, ...]:
    without = row.get("without", {})
    return (
        row.get("engine", "–"),
        row["method"].partition(": ")[2],
        row["instance"],
        figure(row.get("cpu"), 3),
        without.get("name", "–"),
        figure(without.get("cpu"), 3),
        figure(row.get("ratio"), 1),
        {True: "yes", False: "**NO**", None: "–"}[row.get("agree")],
    )


NAMES = ("engine", "variant", "table", "CPU s", "without it", "CPU s", "ratio", "same answer")


def entries(done: Done) -> Iterator[Entry]:
    for variant in VARIANTS:
        yield Entry(
            KIND,
            variant.instance,
            f"{variant.engine}: {variant.name}",
            lambda setting, variant=variant: row_of(variant, setting),
            LIMIT,
            ("solve",),
            about="faster than without it",
            here=not variant.file or (CSPLIB / f"{variant.file}.jj").is_file(),
            quick=10.0 if variant.quick else None,
            longer=3 * LIMIT,
        )


SUITE = Suite("variants", __doc__, entries, {KIND: Columns(NAMES, _words)})

if __name__ == "__main__":
    main([SUITE], __doc__)
