"""Controlled rounding (paper 003 §5): v_i a multiple of the base r_i next to a_i, M v = b.

    min  Σ w_i |v_i - a_i|      v_i ∈ {⌊a_i⌋, ⌈a_i⌉}, or up to `steps` multiples further
         attackers: M y = b,  v_i - R_i ≤ y_i ≤ v_i + R_i,  R_i = (1 + steps) r_i,  every level kept (cuts of Figure 10)

Readers are told the base of every cell, not which values were multiples of it already: the paper lets attackers know
that (r_i := 0 there), which a printed table does not tell them. A table may have no such rounding, even without levels
(2 × 2 × 2 is enough); then `steps` grows until there is one, and the release says how far values may be off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.forms.shape import Shape, new_forms
from sdcdsl.methods.published_amounts import public


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
