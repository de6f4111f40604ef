"""Is a released file safe? Read by hand, and attacked in exact rational arithmetic (`tests.attack.oracle`)."""

from __future__ import annotations

import csv
from math import inf
from pathlib import Path

import numpy as np

from sdcdsl.bind.problem import TableProblem
from tests.attack.oracle import System, protected, simplex_range

ADDS_UP = 1e-9  # of the largest term


def wrong_with(path: Path, problem: TableProblem) -> list[str]:
    """Everything that is wrong; nothing, if the file may go out."""
    d, [table] = problem.dataset, problem.tables
    a = d["a"].values
    low, high, printed = np.full(problem.n, -inf), np.full(problem.n, inf), np.full(problem.n, np.nan)
    words = np.full(problem.n, "", dtype="<U12")
    assert table.lattice is not None
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cell = table.lattice.cell({"a": row["a"], "b": row["b"]})
            words[cell] = row["status"]
            printed[cell] = float(row["value"]) if row["value"] else np.nan
            if row["status"] == "published":
                low[cell] = high[cell] = printed[cell]
            if row["low"]:
                low[cell] = max(low[cell], float(row["low"]))
            if row["high"]:
                high[cell] = min(high[cell], float(row["high"]))
    out = [f"cell {i} is missing" for i in np.flatnonzero(words == "")]
    out += [f"cell {i} is hidden and has a figure" for i in np.flatnonzero((words == "hidden") & ~np.isnan(printed))]
    out += [f"the truth of cell {i} is excluded" for i in np.flatnonzero((a < low - 1e-9) | (a > high + 1e-9))]
    if out:
        return out
    if (words == "adjusted").any():
        return _near(problem, printed)
    low, high = np.minimum(low, a), np.maximum(high, a)  # within rounding, as was just seen
    return _exposed(problem, low, high)


def _near(problem: TableProblem, v: np.ndarray) -> list[str]:
    """An adjusted table promises to add up, to keep its bounds, and to keep away from the truth."""
    d = problem.dataset
    out = [f"cell {i} has no figure" for i in np.flatnonzero(np.isnan(v))]
    for equation in range(problem.m):
        mine = d["equation_of"].values == equation
        terms = d["coefficient"].values[mine] * v[d["cell_of"].values[mine]]
        if abs(terms.sum() - d["b"].values[equation]) > ADDS_UP * max(1.0, np.abs(terms).max()):
            out.append(f"relation {equation} does not hold")
    for cell, lpl, upl in zip(d["cell_at"].values, d["lpl"].values, d["upl"].values, strict=True):
        move = v[cell] - d["a"].values[cell]
        if not (move >= upl * (1 - 1e-9) or -move >= lpl * (1 - 1e-9)):
            out.append(f"cell {cell} is only {abs(move):g} from the truth")
    return out


def _exposed(problem: TableProblem, low: np.ndarray, high: np.ndarray) -> list[str]:
    d = problem.dataset
    a, out = d["a"].values, []
    numbers = d["coefficient"].values, d["cell_of"].values, d["equation_of"].values
    for pair, (attacker, cell) in enumerate(zip(d["attacker_at"].values, d["cell_at"].values, strict=True)):
        view = int(d["view_of"].values[attacker])
        seen_low, seen_high = np.maximum(low, d["low"].values[view]), np.minimum(high, d["high"].values[view])
        for entry in np.flatnonzero(d["known_attacker"].values == attacker):
            known = int(d["known_cell"].values[entry])
            seen_low[known] = max(seen_low[known], d["known_low"].values[entry])
            seen_high[known] = min(seen_high[known], d["known_high"].values[entry])
        ends = simplex_range(System(a, *numbers, seen_low, seen_high), int(cell))
        levels = (float(d[name].values[pair]) for name in ("lpl", "upl", "spl"))
        if not protected(ends, float(a[cell]), *levels):
            out.append(
                f"cell {cell} is known to lie in {float(ends[0]):g} .. {float(ends[1]):g}, its value is {a[cell]:g}"
            )
    return out
