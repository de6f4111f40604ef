"""A release must leave the true table possible, and some table at all."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.additivity import total_entries
from sdcdsl.bind.from_cells import ROUNDING
from sdcdsl.bind.naming import SHOWN, cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.readers.wording import figure
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.diagnostics.confidential import secret
from sdcdsl.pattern import Pattern
from sdcdsl.released.closeness import LAST_BITS, Closeness
from sdcdsl.released.released_cells import ReleasedCells


def excluded(problem: TableProblem, pattern: Pattern, close: Closeness) -> list[Diagnostic]:
    """SDC403: cells whose true value lies outside what the release says about them."""
    a = problem.dataset["a"].values
    out = np.flatnonzero((a < pattern.low - close.within) | (a > pattern.high + close.within))
    if not len(out):
        return []

    def says(cell: int) -> str:
        printed, true = _between(pattern.low[cell], pattern.high[cell]), secret(figure(a[cell]))
        return f"{problem.label(cell)}: released {printed}, true {true}"

    headline = f"the release excludes the true value of {cells(out)}"
    return [diagnostic("SDC403", headline, notes=[first_cells(out, says)])]


def contradicts_sums(problem: TableProblem, pattern: Pattern, released: ReleasedCells) -> list[Diagnostic]:
    """SDC405: relations that no table within what is printed can keep.

    A plain figure counts with half a unit of its last digit to both sides where digits are missing, a figure with a
    stated interval, base or deviation with that, a hidden cell with everything.
    """
    low, high = pattern.low.copy(), pattern.high.copy()
    unclaimed = np.isnan(released.low) & np.isneginf(low) & np.isposinf(high) & (not pattern.claims)
    plain = ~np.isnan(released.number) & ((low == high) | unclaimed)
    low[plain], high[plain] = (released.number - released.half)[plain], (released.number + released.half)[plain]
    made, m = problem.relations, problem.m
    c, at, of = made.coefficient, made.cell_of, made.equation_of
    least = np.bincount(of, weights=np.where(c > 0, c * low[at], c * high[at]), minlength=m)
    most = np.bincount(of, weights=np.where(c > 0, c * high[at], c * low[at]), minlength=m)
    largest = np.fmax(np.abs(problem.dataset["a"].values), np.abs(released.number))  # adjusted ones may be much larger
    size = np.bincount(of, weights=np.abs(c) * largest[at], minlength=m) + np.abs(made.rhs)
    loose = any(t.rounded or t.given is not None for t in problem.tables)
    tolerance = (ROUNDING if loose else LAST_BITS) * size + LAST_BITS
    bad = np.flatnonzero((least > made.rhs + tolerance) | (most < made.rhs - tolerance))
    if not len(bad):
        return []
    notes = [_relation(problem, int(e), low, high) for e in bad[:SHOWN]]
    if len(bad) > SHOWN:
        notes.append(f"and {len(bad) - SHOWN:,} more relations")
    count = "1 relation" if len(bad) == 1 else f"{len(bad):,} relations"
    return [diagnostic("SDC405", f"the released table does not add up in {count}", notes=notes)]


def _relation(problem: TableProblem, equation: int, low: np.ndarray, high: np.ndarray) -> str:
    made = problem.relations
    mine = np.flatnonzero(made.equation_of == equation)
    with_total, entries = total_entries(made)
    at = np.searchsorted(with_total, equation)
    known = at < len(with_total) and with_total[at] == equation
    total = int(entries[at]) if known else -1
    parts = mine[mine != total]
    c, cell = made.coefficient[parts], made.cell_of[parts]
    if known:
        c = c / -made.coefficient[total]
    rhs = made.rhs[equation]
    least = np.where(c > 0, c * low[cell], c * high[cell]).sum() - (rhs if known else 0.0)
    most = np.where(c > 0, c * high[cell], c * low[cell]).sum() - (rhs if known else 0.0)
    if not known:
        return f"relation {equation + 1}: its cells give {_between(least, most)}, it requires {secret(figure(rhs))}"
    whole = int(made.cell_of[total])
    label = made.label(equation)
    along = f" (along {label.dimension})" if label is not None and label.others else ""
    stated = _between(low[whole], high[whole])
    return f"{problem.label(whole)}{along}: the parts sum to {_between(least, most)}, the total is {stated}"


def _between(low: float, high: float) -> str:
    return figure(low) if low == high else f"{figure(low)} to {figure(high)}"
