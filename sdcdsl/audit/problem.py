"""What an audit has to prove: the relations, what every attacker sees of the release, and the levels.

Conditional levels (paper 003 §7) are stated of cells that the release does not publish as they are; of others there is
nothing to prove.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.proof.families import Families
from sdcdsl.proof.system import ProofPairs, ProofProblem, Regions, System

WHOLE = 1e-6  # what an end may lack to count as a whole number: more than files lose, less than anybody publishes


def stated(problem: TableProblem, pattern: Pattern, integer: bool = False) -> ProofProblem:
    """`integer`: attackers know that the values are whole numbers, which narrows what is published and what they know
    beforehand to whole ends, and so the intervals that follow."""
    d = problem.dataset
    system = System(
        d["a"].values,
        d["coefficient"].values.astype(float),
        d["cell_of"].values.astype(np.int64),
        d["equation_of"].values.astype(np.int64),
        d["b"].values,
    )
    if integer:
        pattern = _whole_ends(pattern, system.a)
    low, high = pattern.seen(d["low"].values, d["high"].values)
    known_cell = d["known_cell"].values
    regions = Regions(
        low,
        high,
        d["view_of"].values,
        d["known_attacker"].values,
        known_cell,
        np.maximum(d["known_low"].values, pattern.low[known_cell]),
        np.minimum(d["known_high"].values, pattern.high[known_cell]),
    )
    counts = stated_pairs(problem, pattern)
    cell, attacker = d["cell_at"].values[counts], d["attacker_at"].values[counts]
    lpl, upl, spl = (d[level].values[counts] for level in ("lpl", "upl", "spl"))
    if integer:
        lpl, upl, spl = _whole(system.a[cell], lpl, upl, spl)
    pairs = ProofPairs(cell, attacker, lpl, upl, spl)
    return ProofProblem(system, regions, pairs, _families(problem, pairs, integer))


def whole_numbers(problem: TableProblem) -> bool:
    """Whether everybody knows that the values are whole: they are counts, or the policy says so."""
    return bool(problem.dataset.attrs.get("whole", 0))


def _families(problem: TableProblem, pairs: ProofPairs, integer: bool) -> Families | None:
    """Those that the pairs in the list stand for."""
    if problem.families is None:
        return None
    families = problem.families.stated_by(pairs)
    if not len(families):
        return None
    if integer:
        a, nothing = problem.dataset["a"].values[families.cell], np.zeros(len(families))
        lpl, upl, _ = _whole(a, families.lpl, families.upl, nothing)
        families = replace(families, lpl=lpl, upl=upl)
    return families


def stated_pairs(problem: TableProblem, pattern: Pattern) -> np.ndarray | slice:
    """The pairs of the problem that an audit of this release is about, in their order."""
    d = problem.dataset
    if "conditional" not in d:
        return slice(None)
    return np.flatnonzero(~d["conditional"].values | (pattern.status[d["cell_at"].values] != EXACT))


def _whole_ends(pattern: Pattern, a: np.ndarray) -> Pattern:
    """Of cells whose value is a whole number: between 1.2 and 3.4 are 2 and 3 alone."""
    whole = a == np.round(a)
    low = np.where(whole, np.minimum(np.ceil(pattern.low - WHOLE), a), pattern.low)
    high = np.where(whole, np.maximum(np.floor(pattern.high + WHOLE), a), pattern.high)
    return replace(pattern, low=low, high=high)


def _whole(a: np.ndarray, lpl: np.ndarray, upl: np.ndarray, spl: np.ndarray) -> tuple[np.ndarray, ...]:
    """Levels that intervals with whole ends have to keep: ⌈low⌉ ≤ a - lpl requires low ≤ ⌊a - lpl⌋."""
    return (
        np.where(lpl > 0, a - np.floor(a - lpl + 1e-9), 0.0),
        np.where(upl > 0, np.ceil(a + upl - 1e-9) - a, 0.0),
        np.ceil(spl - 1e-9),
    )
