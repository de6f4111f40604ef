"""Cell perturbation (paper 003 §6): v_i ∈ [⌊a_i⌋, ⌈a_i⌉], with the width R_i of the range known to everybody.

min  Σ w_i⁺ z_i⁺ + w_i⁻ z_i⁻ (+ w_i x_i)       v = a + z⁺ - z⁻,  M v = b
     sensitive cells at ⌊a_p⌋ or ⌈a_p⌉          (`end`: which, or either)
     attackers: M y = b,  v_i - R_i ≤ y_i ≤ v_i + R_i,  every level kept (cuts of Figure 13)
     Σ x_i ≤ q                                   (`cap_changed`)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.forms.shape import Shape, new_forms

ENDS = {"free": 0, None: 0, "low": -1, "high": 1}


def shape(problem: TableProblem, options: Mapping[str, Any]) -> Shape:
    low, high = (np.nan_to_num(end, nan=0.0) for end in options["range"])
    down, up = np.maximum(-low, 0.0), np.maximum(high, 0.0)
    cap = options.get("cap_changed")
    forms = new_forms(problem, down, up)
    instance = forms.instance
    cells = np.flatnonzero(instance.may_open & ~instance.open_anyway & (down + up > 0))
    columns = forms.perturbed(cells, down, up, ends(problem.n, options.get("end")), counted=cap is not None)
    if cap is not None:
        forms.into.total("few enough changed", columns, float(cap))
    forms.add_up()
    return Shape(forms, ("deviations within the ranges stated",))


def ends(n: int, said: Any) -> np.ndarray:
    if isinstance(said, np.ndarray):
        return np.array([ENDS[word] for word in said])
    return np.full(n, ENDS[said])
