"""Paper 000: its six tables as look-alikes, Tables 1 to 4 and Figure 1.

    python benchmarks/paper_000.py --json benchmarks/results/paper_000.json       # a minute

The paper's tables are not public; ours have its numbers of cells, sensitive cells, relations and entries exactly
(Table 1) and values of our own. Here stand their dimensions, the time of controlled tabular adjustment with free senses
(Table 2: L1, gap 0.1 %, costs 1 / value) and interval protection with the place of the truth in every interval (Tables
3, 4 and Figure 1). Times of cell suppression, the other half of Table 2, are rows of `csp.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, before numpy is loaded

import numpy as np
from instances import ASYMMETRIC, LOOKALIKES, SYMMETRIC, lookalike
from ip import widths
from measuring import Case, figure, peak_memory, said, share, solved
from plots import intervals
from registry import Columns, Done, Entry, Row, Setting, Suite
from runner import main

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import INTERVAL

KIND = "Tables of paper 000"
LEVELS = {"symmetric": SYMMETRIC, "asymmetric": ASYMMETRIC}
GAPS = {"cta": 1e-3, "ip": 1e-6}
LIMIT = 60.0
FIGURE = 3  # the instance of Figure 1


def relative(number: int, word: str) -> TableProblem:
    problem = lookalike(number, LEVELS[word])
    w = 1 / np.maximum(problem.dataset["a"].values, 1.0)
    return replace(problem, dataset=problem.dataset.assign(w=("cell", w)))


def row_of(number: int, word: str, method: str, setting: Setting) -> Row:
    case = Case(f"{number}-{word}", lambda: relative(number, word), setting.limit, GAPS[method])
    warm = replace(case, make=lambda: relative(1, "asymmetric"), limit=min(5.0, setting.limit))
    solved(warm, method, setting.clock)
    problem, result, row = solved(case, method, setting.clock)
    d = problem.dataset
    row |= {"relations": problem.m, "entries": d.sizes["entry"], "levels": word, "memory": peak_memory()}
    if method == "ip" and result.pattern is not None:
        row |= widths(problem, result.pattern)
        if number == FIGURE:
            row["standardised"] = standardised(problem, result.pattern)
    return row


def standardised(problem: TableProblem, pattern: Pattern) -> list[tuple[float, float]]:
    """The ends of every interval, seen from the true value, of width 100."""
    used = (pattern.status == INTERVAL) & problem.dataset["published"].values
    a, low, high = problem.dataset["a"].values[used], pattern.low[used], pattern.high[used]
    wide = high - low
    ends = np.round(100 * np.stack([low - a, high - a], axis=1) / wide[:, None], 1) + 0.0
    return [(float(one), float(two)) for one, two in ends]


def entries(done: Done) -> Iterator[Entry]:
    for method in GAPS:
        for number in LOOKALIKES:
            for word in LEVELS:
                yield Entry(
                    KIND,
                    f"{number}-{word}",
                    method,
                    lambda setting, chosen=(number, word, method): row_of(*chosen, setting),
                    LIMIT,
                    quick=10.0 if number == 1 else None,
                )


def _words(row: Row) -> tuple[str, ...]:
    places = row.get("places", {})
    return (
        row["instance"],
        row["method"],
        figure(row.get("cells")),
        figure(row.get("sensitive")),
        figure(row.get("relations")),
        figure(row.get("entries")),
        said(row),
        share(row.get("gap")),
        figure(row.get("cpu"), 2),
        figure(row.get("intervals")),
        " / ".join(f"{value:.1f}" for value in places.values()) or "–",
        row.get("audit", "–"),
    )


NAMES = (
    "instance",
    "method",
    "n",
    "sensitive",
    "m",
    "nnz",
    "status",
    "gap",
    "CPU s",
    "intervals",
    "-50 / (-50, 0) / 0 / (0, 50) / 50, per cent",
    "audit",
)


def drawn(rows: Sequence[Row]) -> dict[str, str]:
    halves = {row["levels"]: row["standardised"] for row in rows if row.get("standardised")}
    if not halves:
        return {}
    return {"paper_000_figure_1": intervals(f"Intervals of look-alike {FIGURE}, as in Figure 1 of paper 000", halves)}


SUITE = Suite("paper_000", __doc__, entries, {KIND: Columns(NAMES, _words)}, plots=drawn)

if __name__ == "__main__":
    main([SUITE], __doc__)
