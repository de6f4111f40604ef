"""The two axes of a risk–utility map: what a release takes from its readers, and what it leaves to attackers.

Loss, the same for every method, in per cent of Σ |a| over the published cells:

    published as it is      0
    a changed figure v      |v - a|: how far a reader is off who takes it for the truth
    an interval             a quarter of its width, at most |a|: how far its middle is off on average, the truth being
                            anywhere inside. A figure rounded to base r tells the interval v ± r, and is off by a
                            quarter of its width on average, too
    hidden                  |a|: nothing is printed

Risk, from the exact intervals of the audit. For every sensitive cell the attacker with the narrowest interval counts:

    ratio = width of the interval / width the policy requires,   lpl + upl or spl, whatever factor was tried
    risk  = 1 / (1 + ratio)

so 100 % is a cell that somebody computes exactly, 50 % one that is left just as uncertain as the policy asks, and 0 %
one of which nobody knows anything. The risk of a release is that of its median cell; its worst cell is told beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.audit import Audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, HIDDEN, INTERVAL


def loss(problem: TableProblem, pattern: Pattern) -> float:
    """In per cent."""
    data = problem.dataset
    published, size = data["published"].values, np.abs(data["a"].values)
    lost = np.zeros(problem.n)
    changed, interval, hidden = (pattern.status == kind for kind in (CHANGED, INTERVAL, HIDDEN))
    lost[changed] = np.abs(pattern.value - data["a"].values)[changed]
    with np.errstate(invalid="ignore"):
        width = pattern.high - pattern.low
    lost[interval] = np.minimum(width[interval] / 4, size[interval])
    lost[hidden] = size[hidden]
    total = float(size[published].sum())
    return 100 * float(lost[published].sum()) / total if total > 0 else 0.0


@dataclass(frozen=True)
class RemainingIntervals:
    """What attackers are left with: the cell in the middle, and the worst."""

    cells: int
    width: float | None  # per cent of the value; infinite where a side is open, None where all values are zero
    least_width: float | None
    ratio: float  # to the width that the policy requires
    least_ratio: float

    @property
    def risk(self) -> float:
        return 100 / (1 + self.ratio)

    @property
    def worst_risk(self) -> float:
        return 100 / (1 + self.least_ratio)


def left_to_attackers(audit: Audit, factor: float) -> RemainingIntervals | None:
    """Of an audit with exact intervals; None where nobody is attacked. `factor`: of the problem's levels."""
    problem = audit.problem
    pairs = audit.proofs.problem.pairs
    needed = _needed(problem, pairs.cell, pairs.attacker) / factor
    counts = (problem.dataset["status"].values[pairs.cell] == "u") & (needed > 0)
    if audit.distance is not None or not counts.any():
        return None
    cell = pairs.cell[counts]
    width = np.maximum(audit.high - audit.low, 0.0)[counts]
    cells, at = np.unique(cell, return_inverse=True)
    narrowest, ratio = np.full(len(cells), np.inf), np.full(len(cells), np.inf)
    np.minimum.at(narrowest, at, width)
    np.minimum.at(ratio, at, width / needed[counts])
    size = np.abs(problem.dataset["a"].values[cells])
    relative = 100 * narrowest[size > 0] / size[size > 0]
    some = len(relative) > 0
    return RemainingIntervals(
        len(cells),
        float(np.median(relative)) if some else None,
        float(relative.min()) if some else None,
        float(np.median(ratio)),
        float(ratio.min()),
    )


def _needed(problem: TableProblem, cell: np.ndarray, attacker: np.ndarray) -> np.ndarray:
    """The width that statements require, pair by pair: before anything was cut to what a contributor's part leaves."""
    view = problem.dataset["view_of"].values[attacker]
    out = np.zeros(len(cell))
    for number, one in enumerate(problem.attacker_levels):
        mine = view == number
        lpl, upl, spl = (one.amounts[level][cell[mine]] for level in ("lpl", "upl", "spl"))
        out[mine] = np.maximum(lpl + upl, spl)
    return out
