"""A second opinion on tiny tables: the released CSV file read by a few lines of our own, and exact rational arithmetic.

Hidden cells, intervals and published figures are read here; what is published beside changed figures (bases, widths,
α and β) is read by the program's own reader, and attacked by the oracle all the same.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.released import read_release
from tests.attack.oracle import System, protected, simplex_range
from tests.methods.oracle import Oracle

CELLS, PAIRS = 45, 40  # more would take rational arithmetic too long
CHOICES = 10  # cells that a search by hand may hide or not


@dataclass(frozen=True)
class Second:
    """What the oracle could look at, and what it holds against the release."""

    asked: bool
    complaints: list[str]


def released(problem: TableProblem, files: dict[str, Path]) -> tuple[Pattern | None, list[str]]:
    pattern, found = read_release(problem, files)
    if pattern is None:
        return None, [f"the released files cannot be read: {[d.headline for d in found]}"]
    if not pattern.claims or "v" in pattern.status or len(problem.tables) > 1:
        return pattern, []
    low, high = _plain_box(problem, next(iter(files.values())))
    n = len(low)
    # An end that is the true value but for the last bit of a sum is read as the true value.
    same = all(np.allclose(x[:n], y, rtol=1e-15, atol=0) for x, y in ((pattern.low, low), (pattern.high, high)))
    return pattern, [] if same else ["the released file says other things to a plain reader than to the audit"]


def _plain_box(problem: TableProblem, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Row by row in the order of the cells, as the file is written; a published figure stands for the true value."""
    a = problem.dataset["a"].values
    low, high = [], []
    with path.open(newline="", encoding="utf-8") as lines:
        for cell, row in enumerate(csv.DictReader(lines)):
            if row["status"] == "published":
                assert abs(float(row["value"]) - a[cell]) <= 1e-9 * max(abs(a[cell]), 1e-300) + 1e-300, row
                low.append(a[cell])
                high.append(a[cell])
            else:
                low.append(float(row["low"] or "-inf"))
                high.append(float(row["high"] or "inf"))
    return np.array(low), np.array(high)


def second_opinion(problem: TableProblem, files: dict[str, Path]) -> Second:
    pattern, complaints = released(problem, files)
    if pattern is None or complaints:
        return Second(asked=True, complaints=complaints)
    if not pattern.claims:
        return Second(asked=True, complaints=_far_enough(problem, pattern))
    d = problem.dataset
    if problem.n > CELLS or d.sizes["pair"] > PAIRS:
        return Second(asked=False, complaints=[])
    touched = pattern.status != "."
    out = []
    for pair in range(d.sizes["pair"]):
        cell, who = int(d["cell_at"].values[pair]), int(d["attacker_at"].values[pair])
        if "conditional" in d and d["conditional"].values[pair] and not touched[cell]:
            continue
        box = pattern.seen(*_known(problem, who))
        system = System(d["a"].values, d["coefficient"].values, d["cell_of"].values, d["equation_of"].values, *box)
        ends = simplex_range(system, cell)
        levels = [float(d[name].values[pair]) for name in ("lpl", "upl", "spl")]
        if not protected(ends, float(d["a"].values[cell]), *levels):
            shown = tuple(float(end) for end in ends)
            out.append(f"{problem.label(cell)} lies in {shown} for attacker {who}, levels {levels}")
    return Second(asked=True, complaints=out)


def _known(problem: TableProblem, attacker: int) -> tuple[np.ndarray, np.ndarray]:
    d = problem.dataset
    view = int(d["view_of"].values[attacker])
    low, high = d["low"].values[view].copy(), d["high"].values[view].copy()
    for entry in np.flatnonzero(d["known_attacker"].values == attacker):
        cell = int(d["known_cell"].values[entry])
        low[cell] = max(low[cell], d["known_low"].values[entry])
        high[cell] = min(high[cell], d["known_high"].values[entry])
    return low, high


def _far_enough(problem: TableProblem, pattern: Pattern) -> list[str]:
    """Of a table that says nothing about its changes: sums hold, and every sensitive cell is a level away."""
    d, v = problem.dataset, pattern.value.copy()
    a = d["a"].values
    unions = ~d["published"].values
    out = []
    residual, scale = np.zeros(problem.m), np.zeros(problem.m)
    entries = list(zip(d["coefficient"].values, d["cell_of"].values, d["equation_of"].values, strict=True))
    for s, cell, equation in entries:
        if unions[cell]:
            v[cell] = sum(t * v[c] for t, c, e in entries if e == equation and c != cell) / -s
    for s, cell, equation in entries:
        residual[equation] += s * v[cell]
        scale[equation] += abs(s * v[cell])
    wrong = np.flatnonzero(np.abs(residual - d["b"].values) > 1e-9 * scale)
    if len(wrong) and not np.isnan(v).any():
        out.append(f"relations {wrong.tolist()} do not add up")
    for pair in range(d.sizes["pair"]):
        cell = int(d["cell_at"].values[pair])
        lpl, upl = float(d["lpl"].values[pair]), float(d["upl"].values[pair])
        move = v[cell] - a[cell]
        ways = [move >= upl * (1 - 1e-9)] if upl > 0 else []
        ways += [-move >= lpl * (1 - 1e-9)] if lpl > 0 else []
        if ways and not any(ways) and not np.isnan(move):
            out.append(f"{problem.label(cell)} moved by {move}, levels {lpl} down and {upl} up")
    return out


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
