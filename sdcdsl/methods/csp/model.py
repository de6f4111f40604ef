"""Cell suppression, the first model (paper 003, Figure 3), for any solver of mixed-integer linear programs.

    min  Σ w_i x_i                                                  x_i ∈ {0, 1}: cell i is hidden
    for every attacker k and sensitive cell p:
         M f = b,   a_i - LB_i^k x_i ≤ f_i ≤ a_i + UB_i^k x_i       "high table adds up", "… only where hidden"
         M g = b,   a_i - LB_i^k x_i ≤ g_i ≤ a_i + UB_i^k x_i       "low table adds up", "… only where hidden"
         f_p ≥ a_p + UPL,   g_p ≤ a_p - LPL,   f_p - g_p ≥ SPL      "up far enough", "down far enough", "wide enough"
    and  Σ x_i ≤ q  if there is a cap                               "few enough hidden"
    with UPL x_p, LPL x_p, SPL x_p for conditional levels           "up far enough if touched", …

with f and g centred on the truth and scaled by their level (`witness_tables`). Sensitive cells, cells that are hidden
already and unions of cells (which nobody publishes, and which cost nothing) have x = 1; cells that must be published
have no x. The model grows with cells times pairs: it is for small tables, for solvers outside, and the measure for the
second model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.modelling import discounted, objective_scaling, typical
from sdcdsl.methods.result import NoRelease, Result, SolveContext
from sdcdsl.methods.witness_tables import ModelCells, WitnessTables, if_touched, tables, wide_enough
from sdcdsl.pattern import Pattern, hidden
from sdcdsl.solve.modelling import new_model

if TYPE_CHECKING:
    import linopy


def model(problem: TableProblem, context: SolveContext, witnesses: bool = True) -> linopy.Model:
    """The model of Figure 3."""
    instance = Instance(problem)
    made = new_model()
    of = ModelCells(instance)
    cost = _costs(instance, context)
    always = instance.sensitive | instance.open_anyway
    x = made.add_variables(lower=of.over_cells(always.astype(float)), upper=1, binary=True, name="x")
    if witnesses:
        f, g = (tables(made, of, side, clipped=True) for side in (UP, DOWN))
        for t in (f, g):
            if t is not None:
                _only_where_hidden(made, of, t, x, always)
        wide_enough(made, of, f, g)
        if_touched(made, of, f, g, x)
    cap = context.options.get("cap_hidden")
    if cap is not None:
        counted = of.over_cells(_counted(instance).astype(float))
        made.add_constraints((counted * x).sum() <= cap, name="few enough hidden")
    made.add_objective((of.over_cells(cost) * x).sum())
    made.objective.scaling = objective_scaling(typical(cost[of.cells]))
    return made


def _only_where_hidden(
    made: linopy.Model, of: ModelCells, t: WitnessTables, x: linopy.Variable, always: np.ndarray
) -> None:
    free = of.cells[~always[of.cells]]
    if not len(free):
        return
    d, chosen, high = t.d.sel(cell=free), x.sel(cell=free), "high" if t.name == "f" else "low"
    made.add_constraints(
        d - t.UB.sel(cell=free) * chosen <= 0, name=f"{high} table rises only where hidden", scaling=t.scaling
    )
    made.add_constraints(
        d + t.LB.sel(cell=free) * chosen >= 0, name=f"{high} table falls only where hidden", scaling=t.scaling
    )


def _counted(instance: Instance) -> np.ndarray:
    """Cells that cost something when they are hidden: all that would be published."""
    return instance.problem.dataset["published"].values


def _costs(instance: Instance, context: SolveContext) -> np.ndarray:
    """[cell]: w of the cells that count; what was hidden in the last period is cheaper to hide again."""
    return np.where(_counted(instance), discounted(instance.w, context), 0.0)


def pattern(problem: TableProblem, values: Mapping[str, np.ndarray], context: SolveContext) -> Pattern:
    """What is published with these values of the model's variables."""
    instance = Instance(problem)
    is_hidden = instance.sensitive | instance.open_anyway
    is_hidden[np.flatnonzero(instance.may_open)] |= values["x"] > 0.5
    return hidden(instance.a, is_hidden)


def decisions(problem: TableProblem, result: Result, context: SolveContext) -> dict[str, np.ndarray]:
    assert result.pattern is not None
    instance, released = Instance(problem), result.pattern
    as_it_is = (released.low == instance.a) & (released.high == instance.a)
    is_hidden = np.isneginf(released.low) & np.isposinf(released.high)
    if not (as_it_is | is_hidden).all():
        raise NoRelease("a cell is neither hidden nor published as it is")
    return {"x": is_hidden[instance.may_open].astype(float)}


def objective(problem: TableProblem, released: Pattern, context: SolveContext) -> float:
    """Σ w of the published cells that are hidden."""
    return float(_costs(Instance(problem), context)[released.low != released.high].sum())


def completed(problem: TableProblem, result: Result, context: SolveContext) -> Result:
    """With the number of hidden cells, and what the secondary suppressions cost."""
    assert result.pattern is not None
    instance = Instance(problem)
    is_hidden = _counted(instance) & (result.pattern.low != result.pattern.high)
    secondary = is_hidden & ~instance.sensitive & ~instance.open_anyway
    facts = {
        "hidden": int(is_hidden.sum()),
        "secondary": int(secondary.sum()),
        "secondary_cost": float(_costs(instance, context)[secondary].sum()),
    }
    return replace(result, facts={**result.facts, **facts})
