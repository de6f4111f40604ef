"""What every attacker knows before the release, from the policy's words and the world alone."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.problem import TableProblem
from tests.soak.case import Case
from tests.soak.reading import empty_cells


def views(case: Case, problem: TableProblem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Lowest and highest values of each attacker. What the program takes attackers to know counts as well: it may only
    be more, as with contributors who know their own parts."""
    d = problem.dataset
    a = d["a"].values
    named = {one.name: one for one in case.wanted.attackers}
    shown = d["published"].values
    empty = empty_cells(problem, case.world)
    out = []
    for number, name in enumerate(problem.attackers):
        view = int(d["view_of"].values[number])
        low, high = d["low"].values[view].copy(), d["high"].values[view].copy()
        for entry in np.flatnonzero(d["known_attacker"].values == number):
            cell = int(d["known_cell"].values[entry])
            low[cell] = max(low[cell], d["known_low"].values[entry])
            high[cell] = min(high[cell], d["known_high"].values[entry])
        one = named.get(name)
        if one is not None and not one.each:
            own_low, own_high = one.ends(a)
            known = shown & (a == 0) if one.zeros else np.zeros(problem.n, dtype=bool)
            if one.counts:
                known[empty] = True
                known |= shown & case.world.frequency
            own_low, own_high = (np.where(known, a, end) for end in (own_low, own_high))
            low, high = (
                np.where(shown, np.maximum(low, own_low), low),
                np.where(shown, np.minimum(high, own_high), high),
            )
        out.append((np.minimum(low, a), np.maximum(high, a)))
    return out
