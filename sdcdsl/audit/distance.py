"""Changed values without a word about the changes: what such a table promises, and what it does not.

Controlled tabular adjustment publishes another table that is additive, keeps the bounds, and keeps away from the truth
in every sensitive cell: v_p ≤ a_p - lpl or v_p ≥ a_p + upl (004; 001 §II). That is checked. It is *not* checked, and
cannot be without a published region, how near an attacker comes who guesses how the table was made.

An attacker without a level on one side requires nothing there. But zero is no distance: the value must be as far on
this side as the other attackers of the cell ask for, and a side that nobody has a level for does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import lsqr

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.proof.exact import TOLERANCE
from sdcdsl.proof.system import ProofPairs

ADDITIVE = 1e-9  # residual of a relation, relative to the sum of its absolute terms


@dataclass(frozen=True, eq=False)
class Distance:
    far: np.ndarray  # bool [pair]: the published value is a level away from the truth
    broken: np.ndarray  # relations that the published values break
    outside: np.ndarray  # cells outside the bounds that every table keeps

    @property
    def wrong(self) -> bool:
        return bool(len(self.broken) or len(self.outside))


NOT_CLAIMED = (
    "nothing is published about how values were changed, so no attacker was simulated: additivity, bounds and the"
    " distance of sensitive cells from their true values were checked. How near an attacker comes who guesses the"
    " method, the norm or the levels is not claimed"
)


def distance(problem: TableProblem, pattern: Pattern, pairs: ProofPairs) -> Distance:
    d = problem.dataset
    v = np.where(np.isnan(pattern.value), d["a"].values, pattern.value)
    unions = ~d["published"].values
    unseen = np.isnan(pattern.value) & ~unions
    coefficient, cell, equation = d["coefficient"].values, d["cell_of"].values, d["equation_of"].values
    if unseen.any():
        v[unseen] = _completed(problem, v, unseen)
    # Sums that exist only to be protected have no published value: theirs follows from their members.
    inside = ~unions[cell]
    own = np.bincount(equation[inside], weights=(coefficient * v[cell])[inside], minlength=problem.m)
    for entry in np.flatnonzero(~inside):
        v[cell[entry]] = own[equation[entry]] / -coefficient[entry]
    terms = coefficient * v[cell]
    total = np.bincount(equation, weights=terms, minlength=problem.m) - d["b"].values
    scale = np.bincount(equation, weights=np.abs(terms), minlength=problem.m) + np.abs(d["b"].values)
    lb, ub = d["lb"].values, d["ub"].values
    slack = TOLERANCE * np.maximum(np.abs(v), np.abs(d["a"].values))
    move = v[pairs.cell] - d["a"].values[pairs.cell]
    up, down = (_least(pairs.cell, level, problem.n) for level in (pairs.upl, pairs.lpl))
    far = (move >= up * (1 - TOLERANCE)) | (-move >= down * (1 - TOLERANCE))
    return Distance(
        far | ((pairs.upl <= 0) & (pairs.lpl <= 0)),
        np.flatnonzero(np.abs(total) > ADDITIVE * scale),
        np.flatnonzero(~unions & ~unseen & ((v < lb - slack) | (v > ub + slack))),
    )


def _least(cell: np.ndarray, level: np.ndarray, n: int) -> np.ndarray:
    """How far a pair's value must go on one side: its own level, else the largest of the cell; inf if there is none."""
    most = np.zeros(n)
    np.maximum.at(most, cell, level)
    least = np.where(level > 0, level, most[cell])
    return np.where(least > 0, least, np.inf)


def _completed(problem: TableProblem, v: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    """Figures for hidden cells with which the published ones add up as far as any do: least squares about the truth."""
    d = problem.dataset
    entries = d["coefficient"].values.astype(float), (d["equation_of"].values, d["cell_of"].values)
    M = csr_array(entries, shape=(problem.m, problem.n))
    open_cells = unseen | ~d["published"].values
    r = d["b"].values - M @ v
    move = np.zeros(problem.n)
    move[open_cells] = lsqr(M[:, np.flatnonzero(open_cells)], r, atol=1e-15, btol=1e-15)[0]
    return (v + move)[unseen]
