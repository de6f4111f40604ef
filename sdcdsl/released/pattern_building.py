"""From what the files say and what is published beside them to the pattern: each form of publication where it is used.

    nothing printed                                  hidden, or the cell's own interval
    a figure with its own interval                   that interval
    a figure with a base, a deviation, α and β       rounded, perturbed, ECTA (its own column before the statement)
    a figure that is the true value                  published as it is
    any other figure                                 changed, and nobody says by how much

One figure of the last kind makes an adjusted table: nothing certain follows from any of its plain figures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.readers.wording import figure, plural
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.pattern import Pattern, adjusted, combined, ecta, hidden, intervals, perturbed, rounded
from sdcdsl.pattern.pattern import CHANGED
from sdcdsl.released.closeness import Closeness
from sdcdsl.released.released_cells import ReleasedCells
from sdcdsl.released.statements import PublishedStatements


def make_pattern(
    problem: TableProblem, released: ReleasedCells, close: Closeness, statements: PublishedStatements
) -> tuple[Pattern | None, list[Diagnostic]]:
    a, v = problem.dataset["a"].values, released.number
    printed, own = ~np.isnan(v), ~np.isnan(released.low)
    true = printed & close.equal(a, v, released.half)
    point = own & printed & (released.low == released.high)
    wide = own & ~point
    base, deviation = released.base.copy(), released.deviation.copy()
    plain = printed & ~own & np.isnan(base) & np.isnan(deviation)
    if statements.base is not None:
        steps = v / statements.base
        multiple = plain & (np.abs(steps - np.round(steps)) <= 1e-9 * np.maximum(np.abs(steps), 1))
        odd = np.flatnonzero(plain & ~multiple & ~true)
        if len(odd):
            return None, [_no_multiples(problem, v, odd, statements.base)]
        base[multiple] = statements.base
        plain = plain & ~multiple
    elif statements.deviation is not None:
        deviation[plain] = statements.deviation
        plain = np.zeros_like(plain)
    by_deviation = printed & ~own & ~np.isnan(deviation)
    by_base = printed & ~own & ~np.isnan(base) & ~by_deviation
    by_share = plain if statements.alpha is not None else np.zeros_like(plain)
    plain = plain & ~by_share
    moved = plain & (~true | released.changed)

    exact = np.where(true, a, v)  # a figure that lacks digits is taken for all of them
    parts = [(np.ones(problem.n, dtype=bool), hidden(exact, ~(plain | point)))]
    parts.append((wide, intervals(released.low, released.high)))
    own_tolerance = (wide & printed) | (
        point & released.changed
    )  # a share of zero leaves no tolerance, and is a change in name
    parts.append((own_tolerance, Pattern(released.low, released.high, v, np.full(problem.n, CHANGED))))
    for mask, tolerance, form in ((by_base, base, rounded), (by_deviation, deviation, perturbed)):
        parts.append((mask, form(np.where(tolerance > 0, v, exact), np.where(mask, tolerance, 0.0))))
    if statements.alpha is not None and statements.beta is not None:
        sensitive = problem.dataset["status"].values == "u"
        share = np.where(sensitive, statements.alpha, statements.beta)
        parts.append((by_share, ecta(np.where(share > 0, v, exact), sensitive, statements.alpha, statements.beta)))
    if moved.any():
        parts.append((plain, adjusted(v, moved)))
    made = combined([parts[0], *(part for part in parts[1:] if part[0].any())])
    about = [*made.about]
    short = true & (v != a) & (released.half > 0)
    if short.any():
        about.append(f"{plural(int(short.sum()), 'figure')} rounded for display")
    # An end that misses the truth by less than the figure prints is moved to it.
    low = np.where((a < made.low) & (a >= made.low - released.half), a, made.low)
    high = np.where((a > made.high) & (a <= made.high + released.half), a, made.high)
    return replace(made, low=low, high=high, value=np.where(printed, v, np.nan), about=tuple(about)), []


def _no_multiples(problem: TableProblem, v: np.ndarray, odd: np.ndarray, base: float) -> Diagnostic:
    def says(cell: int) -> str:
        return f"{problem.label(cell)}: {figure(v[cell])}"

    headline = f"{cells(odd)} of a table rounded to base {base:g} with a figure that is no multiple of it"
    return diagnostic("SDC406", headline, notes=[first_cells(odd, says)])
