"""Every pair of attacker and sensitive cell, as the page plots it: what is needed, what can be told, the truth.

An audit that only requires verdicts stops where a level is reached: then `low` and `high` are ends that are proved to
lie inside the attacker's interval, and the page says "at least". Of a side that falls short they are the proved limits,
and the page says "at most". `lowIs` and `highIs` have a letter for each pair: e exact, l at least, m at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdcdsl.audit import Audit
from sdcdsl.audit.intervals import AT_LEAST, AT_MOST, EXACT
from sdcdsl.outcome import Outcome
from sdcdsl.released.rows import cells_by_table
from sdcdsl.report.page.figures import column, decimals_of, tidy

LETTERS = {EXACT: "e", AT_LEAST: "l", AT_MOST: "m"}
MOST_PAIRS = 100_000  # the tightest; nobody looks at more


def pairs_of(outcome: Outcome) -> dict[str, Any] | None:
    """None where there was nothing to audit."""
    made = outcome.audit
    if made is None or not len(made.verdicts):
        return None
    pairs, problem = made.proofs.problem.pairs, outcome.problem
    a = made.proofs.problem.system.a[pairs.cell]
    tight = tightness(made)
    chosen = np.arange(len(tight))
    if len(tight) > MOST_PAIRS:
        chosen = np.sort(np.lexsort((chosen, tight))[:MOST_PAIRS])
    cells, of_pair = np.unique(pairs.cell[chosen], return_inverse=True)
    names, of_attacker = np.unique(pairs.attacker[chosen], return_inverse=True)
    levels = {level: column(tidy(getattr(pairs, level)[chosen], a[chosen])) for level in ("lpl", "upl", "spl")}
    out: dict[str, Any] = {
        "all": len(tight),
        "exact": made.exact,
        "distance": made.distance is not None,
        "attackers": [problem.attackers[int(i)] for i in names],
        "cells": _cells(outcome, made, cells),
        "places": _places(outcome, cells),
        "cell": of_pair.tolist(),
        "attacker": of_attacker.tolist(),
        **levels,
        "tight": column(np.round(tight[chosen], 6)),
        "verdict": "".join(made.verdicts[chosen].tolist()),
        "decimals": decimals_of(problem.dataset["a"].values[cells]),
    }
    if made.distance is None:
        kinds = made.intervals.kind[:, chosen]
        out |= {"low": column(tidy(made.low[chosen], a[chosen])), "high": column(tidy(made.high[chosen], a[chosen]))}
        out |= {
            name: "".join(LETTERS[kind] for kind in row) for name, row in zip(("lowIs", "highIs"), kinds, strict=True)
        }
    return out


def tightness(made: Audit) -> np.ndarray:
    """The smallest ratio of what there is to what is required: 1 is just enough, below 1 is too little."""
    pairs = made.proofs.problem.pairs
    a = made.proofs.problem.system.a[pairs.cell]
    with np.errstate(divide="ignore", invalid="ignore"):
        if made.distance is not None:
            move = made.pattern.value[pairs.cell] - a
            up, down = move / pairs.upl, -move / pairs.lpl
            ratios = [np.where(pairs.upl > 0, up, -np.inf), np.where(pairs.lpl > 0, down, -np.inf)]
            best = np.max(np.stack(ratios), axis=0)
            return np.where(np.isnan(best) | np.isneginf(best), np.inf, np.maximum(best, 0.0))
        low, high = made.low, made.high
        sides = ((a - low, pairs.lpl), (high - a, pairs.upl), (high - low, pairs.spl))
        ratios = [np.where(level > 0, reach / np.where(level > 0, level, 1.0), np.inf) for reach, level in sides]
    return np.min(np.stack(ratios), axis=0)


def _cells(outcome: Outcome, made: Audit, cells: np.ndarray) -> dict[str, Any]:
    """Of each cell of a pair: where it stands in a table (−1 for sums that nobody publishes), and its figures."""
    problem, pattern = outcome.problem, made.pattern
    table, at = np.full(problem.n, -1, dtype=np.int64), np.full(problem.n, -1, dtype=np.int64)
    for number, places in reversed(list(enumerate(cells_by_table(problem).values()))):
        table[places], at[places] = number, np.arange(len(places))
    labels = {i: problem.label(int(cell)) for i, cell in enumerate(cells.tolist()) if table[cell] < 0}
    a = problem.dataset["a"].values[cells]
    return {
        "number": cells.tolist(),
        "table": table[cells].tolist(),
        "at": at[cells].tolist(),
        "label": {str(i): text for i, text in labels.items()},
        "true": column(tidy(a, a)),
        "low": column(tidy(pattern.low[cells], a)),
        "high": column(tidy(pattern.high[cells], a)),
        "value": column(tidy(pattern.value[cells], a)),
    }


def _places(outcome: Outcome, cells: np.ndarray) -> list[dict[str, list[int]]]:
    """The same cells table by table, since linked tables share them: where in the table, and which of `cells`."""
    number = np.full(outcome.problem.n, -1, dtype=np.int64)
    number[cells] = np.arange(len(cells))
    out = []
    for places in cells_by_table(outcome.problem).values():
        at = np.flatnonzero(number[places] >= 0)
        out.append({"at": at.tolist(), "cell": number[places[at]].tolist()})
    return out
