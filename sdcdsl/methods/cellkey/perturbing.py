"""The cell key method: v_i = a_i + p(a_i, key_i), where p is a table of probabilities looked up by the cell's key.

Every published count is drawn by itself, so totals are no sums of their parts. Zero stays zero. With `additive` the
table closest to it that adds up is published (`adding_up`).
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.record_keys import keys_of
from sdcdsl.methods.cellkey.adding_up import closest
from sdcdsl.methods.cellkey.learned import learned
from sdcdsl.methods.cellkey.ptable import NoPTable, PTable
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN
from sdcdsl.status import FAILED, FEASIBLE, LIMIT


def solve(problem: TableProblem, context: SolveContext) -> Result:
    began = perf_counter()
    d, table = problem.dataset, context.options["ptable"]
    assert isinstance(table, PTable)
    a, status, published = d["a"].values, d["status"].values, d["published"].values
    if ((a < 0) | (a != np.round(a)))[published].any():
        return Result(FAILED, notes=("the method is for counts, and some values are none",))
    if context.deadline.expired:
        return Result(LIMIT, timed=True)
    noisy = published & np.isin(status, ("s", "u"))
    value = a.copy()
    value[noisy] += table.noise(a[noisy], keys_of(problem)[0][noisy])
    try:
        low, high = value.copy(), value.copy()
        low[noisy], high[noisy] = table.ends(value[noisy])
    except NoPTable as error:
        return Result(FAILED, notes=(f"the table of probabilities contradicts itself: {error}",))
    about = [f"noise of at most {table.deviation}, with known probabilities"]
    if context.options.get("additive"):
        drawn = value
        value, failed = closest(problem, drawn, noisy, context)
        if value is None:
            return failed
        moved = float(np.abs(value - drawn).max(initial=0.0))
        low[noisy], high[noisy] = (
            np.maximum(value - table.deviation - moved, 0.0)[noisy],
            value[noisy] + (table.deviation + moved),
        )
        about.append(f"moved by at most {moved:g} so that they add up")
    hidden = (status == "m") & published
    nothing = hidden | ~published
    low[nothing], high[nothing], value[nothing] = -np.inf, np.inf, np.nan
    word = np.where(nothing, HIDDEN, np.where(low < high, CHANGED, EXACT))
    pattern = Pattern(low, high, value, word, about=tuple(about), random=True)
    cost = float((d["w"].values * np.abs(value - a))[noisy].sum())
    seconds = {"noise": perf_counter() - began}
    notes = learned(problem, pattern, table, additive=bool(context.options.get("additive")))
    return Result(FEASIBLE, pattern, cost, None, seconds, notes=notes)
