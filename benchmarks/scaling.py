"""Time and memory against the number of cells: every method on tables of one family, as far as they end in time.

    python benchmarks/scaling.py --json benchmarks/results/scaling.json                 # 10 minutes a row at most
    python benchmarks/scaling.py --limit 60 --only 'cta-*' --json FILE                  # with a smaller cap

`network`: a hierarchy crossed with a list, 10 % of the cells sensitive. `cube`: three dimensions, one with groups.
Suppression goes on improving as long as it may: it is asked for any gap, so that its curve is the time to a pattern
that its search would not improve without a proof, with a bound. Intervals, rounding and free senses are asked for a
proven gap of 5 %, perturbation for 20 %; adjustment with given senses for its optimum. ECTA's levels are a fifth of the
value, not rounded up: its α of 50 % cannot give a cell of 1 a level of 1. The sizes of a series grow by half a decade;
after a row that did not end within the limit the rest of its series is left out, and so is a row that would take more
than twice its limit, or nearly all memory, if it went on growing as between the two before it. The exponent is a fit of
c · n^e to rows from 0.05 s on: below that it is overhead.

Solvers inside the methods count what is left on the wall: on a busy machine a row may say `limit` before its CPU
seconds are used up, and its series ends early.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from binding import LEVELS, microdata
from generators import cubic, frequency, hierarchy, magnitude
from instances import Shape, network
from measuring import DEADLINES, audited, figure, measured, peak_memory, said, share
from plots import curves, fitted
from protect import Phases, written
from registry import Columns, Done, Entry, Row, Setting, Suite, foreseen
from runner import main

from sdcdsl.bind.lattice import CELL_LIMIT
from sdcdsl.bind.microdata import Columns as Fields
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.tabulate import tabulate
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pattern import hidden

KIND = "Scaling"
CAP = 600.0
GAP = 0.05
LEAST = 0.05  # seconds: what takes less is not fitted
PROVED = 1e-6  # a gap that linear programs leave
# 100 to 10 000 000; no table is taken beyond CELL_LIMIT.
SIZES = tuple(round(10 ** (half / 2)) for half in range(4, 15))
AUDITED = {"ecta": 10_000}  # regions in which every cell has an interval take hours, in three dimensions
RECORDS = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)


def networked(n: int) -> TableProblem:
    """Rows with a hierarchy, twice as many as columns."""
    columns = max(5, round((n / 2) ** 0.5))
    rows = max(10, round(n / columns))
    return network(Shape(rows, max(2, rows // 20), columns, 0.1), zeros=0.05, small_sums=n >= 10_000)


def relative(problem: TableProblem) -> TableProblem:
    """A unit of change costs 1 / value."""
    a = problem.dataset["a"].values
    return replace(problem, dataset=problem.dataset.assign(w=("cell", 1 / np.maximum(a, 1.0))))


def moderate(problem: TableProblem) -> TableProblem:
    """Levels of a fifth of the value, as they are."""
    d = problem.dataset
    fifth = 0.2 * d["a"].values[d["cell_at"].values]
    return replace(problem, dataset=d.assign(lpl=("pair", fifth), upl=("pair", fifth)))


def alike(problem: TableProblem) -> TableProblem:
    """All cells cost the same; levels of 2, as roundings and small perturbations can give."""
    d = problem.dataset
    two = np.minimum(2.0, d["a"].values[d["cell_at"].values])
    ones = np.ones(problem.n)
    return replace(problem, dataset=d.assign(w=("cell", ones), lpl=("pair", two), upl=("pair", 0 * two + 2)))


def counts(n: int) -> TableProblem:
    side = max(4, round(n ** (1 / 3)))
    made = frequency(((side - 1,),) * 3, seed=0)
    return replace(made, dataset=made.dataset.assign(w=("cell", np.ones(made.n))))


def within(problem: TableProblem) -> dict[str, Any]:
    far = np.maximum(np.ceil(0.3 * problem.dataset["a"].values), 5.0)
    return {"range": (-far, far), "end": "free"}


# Series: the method, its table, and its options.
Make = Callable[[int], TableProblem]
SERIES: dict[str, tuple[str, Make, Callable[[TableProblem], dict[str, Any]]]] = {
    "csp-network": ("csp", networked, lambda p: {}),
    "csp-cube": ("csp", cubic, lambda p: {}),
    "ip-network": ("ip", lambda n: relative(networked(n)), lambda p: {}),
    "ip-cube": ("ip", lambda n: relative(cubic(n)), lambda p: {}),
    "cta-L1": ("cta", lambda n: relative(cubic(n)), lambda p: {"norm": "L1", "sense": "up"}),
    "cta-L2": ("cta", lambda n: relative(cubic(n)), lambda p: {"norm": "L2", "sense": "up"}),
    "cta-Linf": ("cta", lambda n: relative(cubic(n)), lambda p: {"norm": "Linf", "sense": "up"}),
    "cta-free": ("cta", lambda n: relative(cubic(n)), lambda p: {"norm": "L1"}),
    "ecta": ("ecta", lambda n: moderate(cubic(n)), lambda p: {"alpha": 0.5, "tries": 5}),
    "rounding-network": ("rounding", lambda n: alike(networked(n)), lambda p: {"base": 5.0}),
    "rounding-counts": ("rounding", counts, lambda p: {"base": 3.0}),
    "perturb": ("perturb", lambda n: alike(networked(n)), within),
    "perturb-cube": ("perturb", lambda n: alike(cubic(n)), within),
}
GAPS = {
    "csp-network": 1.0,
    "csp-cube": 1.0,
    "perturb": 0.2,
    "perturb-cube": 0.2,
    "cta-free": 0.05,
    "cta-L1": 1e-6,
    "cta-L2": 1e-6,
    "cta-Linf": 1e-6,
    "ecta": 0.0,
}
AUDITS: dict[str, Make] = {"audit": networked, "audit-cube": cubic}
LARGEST = {"csp-cube": 100_000, "ip-cube": 100_000}  # beyond, the table alone says nothing new


def solving(series: str, n: int, setting: Setting) -> Row:
    method, make, options = SERIES[series]
    gap = GAPS.get(series, GAP)
    small = make(min(n, 1_500))  # large tables run compiled: what is compiled is loaded here
    run(small, method, SolveContext({**options(small), "gap": 1.0, "threads": 1}, DEADLINES[setting.clock](1.0)))
    problem = make(n)
    context = SolveContext({**options(problem), "gap": gap, "threads": 1}, DEADLINES[setting.clock](setting.limit))
    result, cpu = measured(lambda: run(problem, method, context))
    row = {"size": problem.n, "cells": problem.n, "sensitive": len(problem.sensitive), "cpu": cpu}
    row |= {"objective": result.objective, "gap": result.gap, "memory": peak_memory(), "notes": list(result.notes)}
    # What ran into its limit with the gap still open has not ended, whatever it found.
    ended = result.status == "optimal" or (
        result.status == "feasible" and (series == "ecta" or gap_met(result.gap, gap))
    )
    row["status"] = result.status if ended or result.pattern is None else "open gap"
    return row | (audited(problem, result.pattern, result.moves) if ended and n <= AUDITED.get(series, 100_000) else {})


def gap_met(found: float | None, asked: float) -> bool:
    return found is not None and found <= asked


def auditing(n: int, make: Make, setting: Setting) -> Row:
    """A pattern that hides what is sensitive and three cells in ten beside it, by chance."""
    problem, small = make(n), make(100)
    a = problem.dataset["a"].values
    rng = np.random.default_rng(2)
    marked = (problem.dataset["status"].values == "u") | (rng.random(problem.n) < 0.3)
    pattern = hidden(a, marked)
    audited(small, hidden(small.dataset["a"].values, np.ones(small.n, dtype=bool)))
    found = audited(problem, pattern)
    row = {"status": "done", "size": problem.n, "cells": problem.n, "cpu": found["audit_cpu"], "memory": peak_memory()}
    return row | {"sensitive": len(problem.sensitive), "audit": found["audit"], "timed": {"audit": found["audit_cpu"]}}


def binding(n: int, setting: Setting) -> Row:
    """Microdata in memory to all sums of four hierarchies; the size is that of the records."""
    frame = microdata(n, "mixed")
    dims = [hierarchy(name, levels) for name, levels in LEVELS.items()]
    columns = Fields(tuple(LEVELS), "turnover", group="holding", weight="weight")
    tabulate(frame.head(1000), dims, columns)
    before = peak_memory()
    (table, found), cpu = measured(lambda: tabulate(frame, dims, columns))
    assert table is not None, found
    row = {"status": "done", "size": n, "cells": int(np.prod([len(side.codes) for side in dims])), "cpu": cpu}
    return row | {"memory": peak_memory(), "memory_of_data": before, "timed": {"bind": cpu}}


def phases(n: int, setting: Setting) -> Row:
    """A CSV file of cells read and bound, and the release, the report and the lock written."""
    side = max(3, round(n ** (1 / 3)) - 1)
    rows = []
    for size in (2, side):  # the first loads what has to be loaded
        dimensions = [hierarchy(name, (size,)) for name in "abc"]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "in").mkdir()
            (folder / "out").mkdir()
            problem = magnitude(((size,),) * 3, share=0.05, zeros=0.0, seed=1)
            path = written(folder / "in", problem, dimensions, "cta")
            rows.append(Phases(path, folder / "out", setting).run()[1])
    row = rows[-1]
    return row | {"size": row["cells"], "cpu": row["timed"]["read"] + row["timed"]["bind"] + row["timed"]["write"]}


# ---- the suite ------------------------------------------------------------------------------------------------------


def entries(done: Done) -> Iterator[Entry]:
    for series in SERIES:
        for n in SIZES:
            if n <= LARGEST.get(series, n):
                work = lambda setting, series=series, n=n: solving(series, n, setting)  # noqa: E731
                yield _entry(series, n, work, ("solve",), 3.0 if n <= 1_000 else None)
    for series, make in AUDITS.items():
        for n in SIZES:
            work = lambda setting, n=n, make=make: auditing(n, make, setting)  # noqa: E731
            yield _entry(series, n, work, ("audit",), 10.0 if n <= 10_000 else None)
    for n in SIZES:
        work = lambda setting, n=n: phases(n, setting)  # noqa: E731
        yield _entry("read-bind-write", n, work, ("read", "bind", "write"), 10.0 if n <= 1_000 else None)
    for n in RECORDS:
        work = lambda setting, n=n: binding(n, setting)  # noqa: E731
        yield _entry("bind-records", n, work, ("bind",), 60.0 if n <= 100_000 else None)


def _entry(series: str, n: int, work, phases: tuple[str, ...], quick: float | None = None) -> Entry:
    return Entry(KIND, f"{series}-{n}", series, work, CAP, phases, quick=quick, longer=120.0, series=series, size=n)


def _words(row: Row) -> tuple[str, ...]:
    return (
        row["method"],
        figure(row.get("size")),
        figure(row["limit"]),
        _ended(row),
        share(row.get("gap")),
        figure(row.get("cpu"), 2),
        figure(row.get("memory"), 2),
        row.get("audit", "–"),
    )


def _ended(row: Row) -> str:
    """How a row ended; a method calls `optimal` what is within the gap it was asked for, which is not a proof."""
    asked = GAPS.get(row["method"], GAP)
    if row["status"] == "optimal" and (row.get("gap") or 0.0) > PROVED:
        return "any gap" if asked >= 1 else f"within {100 * asked:g} %"
    return said(row) if row["status"] == "failed" else row["status"]


NAMES = ("series", "cells or records", "limit s", "status", "gap", "CPU s", "GB", "audit")


def ended(rows: Sequence[Row], value: str) -> dict[str, list[tuple[float, float]]]:
    """Points of the series: rows that ended within their limit."""
    out: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        good = row.get("status") in ("optimal", "feasible", "done") and row.get("cpu", np.inf) <= row["limit"]
        if good and row.get(value):
            out.setdefault(row["method"], []).append((row["size"], row[value]))
    return {name: sorted(points) for name, points in out.items()}


def exponents(rows: Sequence[Row]) -> dict[str, float | None]:
    """The fitted powers of time, from LEAST seconds on."""
    fits = {name: fitted([p for p in points if p[1] >= LEAST]) for name, points in ended(rows, "cpu").items()}
    return {name: None if fit is None else fit[1] for name, fit in fits.items()}


def summed_up(rows: Sequence[Row]) -> Iterator[str]:
    """How far every series got, and how it grows."""
    powers, memory = exponents(rows), ended(rows, "memory")
    yield "| series | largest that ended | CPU s | GB | limit s | time grows as | next one |"
    yield "|---|---|---|---|---|---|---|"
    for series, points in ended(rows, "cpu").items():
        mine = [row for row in rows if row["method"] == series]
        last = max((row for row in mine if row.get("size") == points[-1][0]), key=lambda row: row["size"])
        after = [row for row in mine if row.get("size", np.inf) > last["size"]]
        power = powers[series]
        words = (
            series,
            figure(last["size"]),
            figure(last["cpu"], 2),
            figure(memory[series][-1][1] if series in memory else None, 2),
            figure(last["limit"]),
            "–" if power is None else f"n^{power:.2f}",
            _after(after[0]) if after else _next(series, points, memory.get(series, [])),
        )
        yield "| " + " | ".join(words) + " |"


def _after(row: Row) -> str:
    """The row behind the last one that ended within its limit."""
    spent = row.get("cpu", 0.0)
    return f"{figure(row.get('size'))}: " + (f"{figure(spent)} s" if spent > row["limit"] else _ended(row))


def _next(series: str, points: Sequence[tuple[float, float]], memory: Sequence[tuple[float, float]]) -> str:
    """What the size after the last one would take: it was left out for that, or there is none."""
    if len(points) < 2:
        return "none was tried"
    size = points[-1][0] ** 2 / points[-2][0]
    if size > CELL_LIMIT and series != "bind-records":
        return f"none: {figure(CELL_LIMIT)} cells are the most that a table may have"
    seconds, slack = foreseen(points, size), foreseen(memory, size)
    if seconds is None:
        return "none was tried"
    would = f"{figure(slack)} GB" if seconds <= CAP and slack is not None else f"{figure(seconds)} s"
    return f"about {figure(round(size, -3))}: {would} foreseen"


def drawn(rows: Sequence[Row]) -> dict[str, str]:
    time, memory = ended(rows, "cpu"), ended(rows, "memory")
    if not time:
        return {}
    start = {name: min((n for n, s in points if s >= LEAST), default=np.inf) for name, points in time.items()}
    wide = dict.fromkeys(memory, 10000.0)  # below, memory is that of the interpreter
    across = "cells (records for bind-records)"
    return {
        "scaling_time": curves("CPU time against size", across, "CPU seconds", time, start),
        "scaling_memory": curves("Peak memory against size", across, "GB", memory, wide),
    }


SUITE = Suite("scaling", __doc__, entries, {KIND: Columns(NAMES, _words)}, plots=drawn, summary=summed_up)

if __name__ == "__main__":
    main([SUITE], __doc__)
