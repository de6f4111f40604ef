"""Controlled rounding (paper 003 §5): v_i a multiple of the base r_i next to a_i, M v = b.

    min  Σ w_i |v_i - a_i|      v_i ∈ {⌊a_i⌋, ⌈a_i⌉}, or up to `steps` multiples further
         attackers: M y = b,  v_i - R_i ≤ y_i ≤ v_i + R_i,  R_i = (1 + steps) r_i,  every level kept (cuts of Figure 10)

Readers are told the base of every cell, not which values were multiples of it already: the paper lets attackers know
that (r_i := 0 there), which a printed table does not tell them. A table may have no such rounding, even without levels
(2 × 2 × 2 is enough); then `steps` grows until there is one, and the release says how far values may be off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.mixed.solving import Shape, new_forms, solve_shape
from sdcdsl.methods.public import public
from sdcdsl.methods.result import INFEASIBLE, LIMIT, Order, Result
from sdcdsl.methods.rounding.finding import Finder

MOST_STEPS = 3  # tried beyond what is asked for, where nothing nearer exists
SHARE = 0.4  # of the time that is left, for multiples so near while there may be some further away
ENDLESS = 120.0  # seconds for the same where there is no limit


def solve(problem: TableProblem, order: Order) -> Result:
    asked = int(order.options.get("steps") or 0)
    tried: list[Result] = []
    for steps in range(asked, asked + MOST_STEPS + 1):
        made = shape(problem, {**order.options, "steps": steps})
        finder = Finder(made.forms, order.seed)
        left = order.clock.left
        patience = order.clock.part(SHARE * left if np.isfinite(left) else ENDLESS)
        last = steps == asked + MOST_STEPS
        result = solve_shape(made, order, finder, None if last else patience)
        if result.pattern is not None:
            return _further(result, steps, tried) if tried else result
        tried.append(result)
        if result.status not in (INFEASIBLE, LIMIT) or result.notes or order.clock.over:
            break
    last = tried[-1]
    decided = all(result.status == INFEASIBLE for result in tried)
    if not decided:
        return last if last.status != INFEASIBLE else replace(last, status=LIMIT)
    far = f"tried: values up to {len(tried) + asked} bases away"
    return replace(last, notes=(*last.notes, far))


def _further(result: Result, steps: int, tried: list[Result]) -> Result:
    """Values further away than was asked for, because nothing nearer exists or was found."""
    known = all(one.status == INFEASIBLE for one in tried)
    why = "no table of nearer multiples keeps the levels" if known else "no table of nearer multiples was found in time"
    note = f"{why}: values may be up to {1 + steps} bases away, and the release says so"
    return replace(result, notes=(*result.notes, note), facts={**result.facts, "steps": steps})


def shape(problem: TableProblem, options: Mapping[str, Any]) -> Shape:
    steps = int(options.get("steps") or 0)
    base = public(np.nan_to_num(np.broadcast_to(np.asarray(options["base"], dtype=float), (problem.n,)), nan=0.0))
    forms = new_forms(problem, base)
    instance = forms.instance
    cells = np.flatnonzero(instance.may_open & ~instance.open_anyway & (base > 0))
    forms.rounded(cells, base, steps)
    forms.add_up()
    bases = np.unique(base[cells])
    said = f"base {bases[0]:g}" if len(bases) == 1 else f"bases {bases[0]:g} to {bases[-1]:g}" if len(bases) else ""
    return Shape(forms, (said, f"at most {1 + steps} bases away") if steps else (said,))
