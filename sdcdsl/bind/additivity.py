"""Do the totals add up, and what are those that are missing?

Tolerance: a relation fails when |Σ coefficient · a - b| exceeds `tolerance` times the sum of the absolute terms (and
|b|). Relative to the terms, not to the total, so that a total of zero made of large cancelling parts is judged by what
floating-point sums of such parts can deliver. Relations with a missing value (NaN) are not judged.

The total of a relation is its first entry with a negative coefficient (the convention of `relations` and of JJ files).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sdcdsl.bind.naming import SHOWN, cells, first_cells
from sdcdsl.bind.relations import Relations
from sdcdsl.diagnostics import Diagnostic, FilePlace, Place, diagnostic
from sdcdsl.diagnostics.confidential import secret

TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Failures:
    """Relations that do not hold, by equation number."""

    equation: np.ndarray
    total_cell: np.ndarray
    parts: np.ndarray  # what the parts sum to
    total: np.ndarray  # what the table says


def total_entries(made: Relations) -> tuple[np.ndarray, np.ndarray]:
    """Equations that have a total, ascending, and the entry that is it."""
    negative = np.flatnonzero(made.coefficient < 0)
    equation, first = np.unique(made.equation_of[negative], return_index=True)
    return equation, negative[first]


def failures(a: np.ndarray, made: Relations, *, tolerance: float = TOLERANCE) -> Failures:
    """Relations that fail beyond the tolerance. A relation without a total is reported with its right-hand side."""
    terms = made.coefficient * a[made.cell_of]
    n = len(made.rhs)
    residual = np.bincount(made.equation_of, weights=terms, minlength=n) - made.rhs
    scale = np.bincount(made.equation_of, weights=np.abs(terms), minlength=n) + np.abs(made.rhs)
    bad = np.flatnonzero(np.abs(residual) > tolerance * scale)  # comparisons with NaN are false
    with_total, entry_of_total = total_entries(made)
    at = np.searchsorted(with_total, bad)
    known = at < len(with_total)
    known[known] = with_total[at[known]] == bad[known]
    entry = entry_of_total[at[known]]
    cell = np.full(len(bad), -1, dtype=np.int64)
    total, factor = made.rhs[bad].copy(), np.ones(len(bad))
    cell[known] = made.cell_of[entry]
    total[known] = a[cell[known]]
    factor[known] = -made.coefficient[entry]
    return Failures(bad, cell, total + residual[bad] / factor, total)


def check_additivity(
    a: np.ndarray,
    made: Relations,
    name: Callable[[int], str],
    *,
    tolerance: float = TOLERANCE,
    place: Place | None = None,
) -> list[Diagnostic]:
    """At most one SDC301: the first ten failing totals with both sums and the difference, and the count of the rest."""
    bad = failures(a, made, tolerance=tolerance)
    if not len(bad.equation):
        return []

    def says(i: int) -> str:
        off = bad.parts[i] - bad.total[i]
        parts, total, apart = (secret(x) for x in (figure(bad.parts[i]), figure(bad.total[i]), f"{off:.6g}"))
        return f"children sum to {parts}, table says {total} (off by {apart})"

    def title(i: int) -> str:
        cell = int(bad.total_cell[i])
        where = name(cell) if cell >= 0 else f"relation {bad.equation[i]}"
        label = made.label(int(bad.equation[i]))
        return f"{where} (along {label.dimension})" if label and len(label.others) else where

    shown = range(1, min(SHOWN, len(bad.equation)))
    notes = [says(0), *(f"{title(i)}: {says(i)}" for i in shown)]
    if len(bad.equation) > SHOWN:
        notes.append(f"and {len(bad.equation) - SHOWN:,} more relations")
    if isinstance(place, FilePlace) and not place.detail:
        place = replace(place, detail=f"{len(np.unique(bad.total_cell)):,} cells of {made.cells:,}")
    return [diagnostic("SDC301", f"totals do not add up: {title(0)}", place, notes=notes)]


def figure(x: float) -> str:
    """All digits that mean something, in groups of three."""
    return f"{x:,.15g}".replace(",", " ")


@dataclass(frozen=True, eq=False)
class FilledTotals:
    a: np.ndarray  # with totals where the parts are known
    filled: np.ndarray  # bool [cell]
    undetermined: np.ndarray  # cells still missing


def fill_totals(
    a: np.ndarray, made: Relations, name: Callable[[int], str], *, place: Place | None = None
) -> tuple[FilledTotals, list[Diagnostic]]:
    """Totals that are missing (NaN), computed from their parts, in as many rounds as the hierarchies are high.

    Only totals: a missing part that a difference would give stays missing, since a hole in the data is not for the
    program to fill. What stays missing is named (SDC309). Where several relations give a total, the first one does.
    """
    a = a.astype(np.float64, copy=True)
    missing = np.isnan(a)
    filled = np.zeros(len(a), dtype=bool)
    equation, entry = total_entries(made)
    cell = made.cell_of[entry]
    while missing.any():
        gap = missing[made.cell_of]
        gaps = np.bincount(made.equation_of[gap], minlength=len(made.rhs))
        ready = np.flatnonzero((gaps[equation] == 1) & missing[cell])
        if not len(ready):
            break
        terms = np.where(gap, 0.0, made.coefficient * a[made.cell_of])
        sums = np.bincount(made.equation_of, weights=terms, minlength=len(made.rhs)) - made.rhs
        where, first = np.unique(cell[ready], return_index=True)
        chosen = ready[first]
        a[where] = sums[equation[chosen]] / -made.coefficient[entry[chosen]]
        missing[where] = False
        filled[where] = True
    rest = np.flatnonzero(missing)
    found = []
    if len(rest):
        headline = f"{cells(rest)} without a value that no sum determines"
        found.append(diagnostic("SDC309", headline, place, notes=[first_cells(rest, name)]))
    return FilledTotals(a, filled, rest), found
