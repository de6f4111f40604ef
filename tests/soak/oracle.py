"""A second opinion on every release: the released CSV files read by a few lines of our own (`reading`), attackers with
the knowledge that the policy's words give them (`knowledge`), and arithmetic that shares no code with the program.

Small tables are attacked in exact rational arithmetic, larger ones by linear programs of scipy. Adjusted tables say
nothing about their changes: they have to add up, keep the bounds, and be as far from the truth as the levels ask for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.problem import TableProblem
from tests.attack.oracle import System, protected, simplex_range
from tests.methods.oracle import DOWN, SHORT, UP, Oracle, furthest
from tests.soak.case import Case
from tests.soak.knowledge import views
from tests.soak.reading import ADJUSTED, CHANGED, Release

CELLS, PAIRS = 45, 40  # more would take rational arithmetic too long
MANY = 120  # pairs that linear programs look at
CHOICES = 10  # cells that a search by hand may hide or not
ADDS_UP = 1e-9  # of the sum of the absolute terms


@dataclass(frozen=True)
class Second:
    """How the oracle could look at a release ("exact", "LP" or "distance"), and what it holds against it."""

    how: str
    complaints: list[str]


def second_opinion(case: Case, problem: TableProblem, release: Release) -> Second:
    complaints = list(release.complaints) + adds_up(problem, release)
    if release.adjusted:
        return Second("distance", complaints + far_enough(problem, release))
    how = "exact" if problem.n <= CELLS and problem.dataset.sizes["pair"] <= PAIRS else "LP"
    return Second(how, complaints + exposed(problem, release, views(case, problem), exact=how == "exact"))


def exposed(
    problem: TableProblem, release: Release, known: list[tuple[np.ndarray, np.ndarray]], *, exact: bool
) -> list[str]:
    """Every pair of attacker and cell whose levels are missed."""
    d, out = problem.dataset, []
    a = d["a"].values
    numbers = d["coefficient"].values, d["cell_of"].values, d["equation_of"].values
    M = None if exact else Oracle(problem).M
    pairs = range(d.sizes["pair"]) if exact else range(0, d.sizes["pair"], 1 + d.sizes["pair"] // MANY)
    for pair in pairs:
        cell, who = int(d["cell_at"].values[pair]), int(d["attacker_at"].values[pair])
        if "conditional" in d and d["conditional"].values[pair] and not release.touched(cell):
            continue
        low, high = np.maximum(release.low, known[who][0]), np.minimum(release.high, known[who][1])
        lpl, upl, spl = (float(d[name].values[pair]) for name in ("lpl", "upl", "spl"))
        if M is None:
            ends = simplex_range(System(a, *numbers, low, high), cell)
            if protected(ends, float(a[cell]), lpl, upl, spl):
                continue
            shown = f"lies in {tuple(float(end) for end in ends)}"
        else:
            down, up = (furthest(M, a - low, high - a, cell, side, max(lpl, upl, spl)) for side in (DOWN, UP))
            if down >= lpl * SHORT and up >= upl * SHORT and down + up >= spl * SHORT:
                continue
            shown = f"falls by {down} and rises by {up} at most"
        label = problem.attackers[who]
        out.append(f"{problem.label(cell)} = {a[cell]!r} {shown} for {label}, levels {lpl, upl, spl}")
    return out


def adds_up(problem: TableProblem, release: Release) -> list[str]:
    """Relations in which every figure is printed hold among the printed figures."""
    d = problem.dataset
    out = []
    for equation in range(problem.m):
        mine = d["equation_of"].values == equation
        cells = d["cell_of"].values[mine]
        terms = d["coefficient"].values[mine] * release.value[cells]
        if np.isnan(terms).any() or not np.isin(release.status[cells], (CHANGED, ADJUSTED)).any():
            continue
        if abs(terms.sum() - d["b"].values[equation]) > ADDS_UP * max(np.abs(terms).sum(), 1e-6):
            out.append(f"relation {equation} of {[problem.label(int(c)) for c in cells]} does not add up")
    return out


def far_enough(problem: TableProblem, release: Release) -> list[str]:
    """Every sensitive cell is a level away from the truth. Where an attacker has a level on one side only, the other
    attackers' level on the other side is enough."""
    d = problem.dataset
    a, v = d["a"].values, release.value.copy()
    for union in np.flatnonzero(~d["published"].values).tolist():
        v[union] = _sum_of_members(problem, union, v)
    out = []
    for cell in np.unique(d["cell_at"].values).tolist():
        mine = d["cell_at"].values == cell
        move = v[cell] - a[cell]
        if np.isnan(move):
            continue
        lpl, upl = float(d["lpl"].values[mine].max()), float(d["upl"].values[mine].max())
        ways = [move >= upl * (1 - 1e-9)] if upl > 0 else []
        ways += [-move >= lpl * (1 - 1e-9)] if lpl > 0 else []
        if ways and not any(ways):
            out.append(f"{problem.label(cell)} moved by {move}, levels {lpl} down and {upl} up")
    return out


def _sum_of_members(problem: TableProblem, union: int, v: np.ndarray) -> float:
    d = problem.dataset
    equation = d["equation_of"].values[d["cell_of"].values == union][0]
    mine = d["equation_of"].values == equation
    cells, factors = d["cell_of"].values[mine], d["coefficient"].values[mine]
    own = cells == union
    return float((d["b"].values[equation] - (factors[~own] * v[cells[~own]]).sum()) / factors[own][0])


# ---- what a search says of itself ----------------------------------------------------------------------------------


def best_suppression(problem: TableProblem) -> float | None:
    """The cheapest set of hidden cells, None if there is none; nan if the table is too large to try all of them."""
    oracle = Oracle(problem)
    if len(oracle.choice) > CHOICES or "conditional" in problem.dataset:
        return float("nan")
    return oracle.cheapest()


def best_intervals(problem: TableProblem) -> float | None:
    """The least cost of intervals, None if none protect; nan if the linear program would be large, or its numbers so
    uneven that a plain solver's tolerances hide the smaller ones."""
    d = problem.dataset
    levels = np.concatenate([d[name].values for name in ("lpl", "upl", "spl")])
    levels = levels[levels > 0]
    uneven = len(levels) > 0 and levels.max() > 1e4 * levels.min()
    if problem.n * d.sizes["pair"] > 600 or "conditional" in d or uneven:
        return float("nan")
    return Oracle(problem).intervals()


def hopeless(problem: TableProblem) -> bool:
    """Whether somebody falls short even with everything hidden that may be hidden."""
    oracle = Oracle(problem)
    return bool(oracle.exposed(oracle.everything()))
