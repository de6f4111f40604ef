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
from typing import TYPE_CHECKING, Any

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.modelling import discounted, limits, objective_scaling, result, typical
from sdcdsl.methods.result import Order, Result
from sdcdsl.methods.witness_tables import Setting, Tables, if_touched, setting, tables, wide_enough
from sdcdsl.pattern import Pattern, hidden
from sdcdsl.solve import solve
from sdcdsl.solve.modelling import by_variable, new_model

if TYPE_CHECKING:
    import linopy


def model(problem: TableProblem, options: Mapping[str, Any], w: np.ndarray | None = None) -> linopy.Model:
    """The model of Figure 3. `w`: other costs than the problem's."""
    instance = Instance(problem)
    made = new_model()
    of = setting(instance)
    cost = np.where(_counted(instance), instance.w if w is None else w, 0.0)
    always = instance.sensitive | instance.open_anyway
    x = made.add_variables(lower=of.over_cells(always.astype(float)), upper=1, binary=True, name="x")
    f, g = (tables(made, of, side, clipped=True) for side in (UP, DOWN))
    for t in (f, g):
        if t is not None:
            _only_where_hidden(made, of, t, x, always)
    wide_enough(made, of, f, g)
    if_touched(made, of, f, g, x)
    cap = options.get("cap_hidden")
    if cap is not None:
        counted = of.over_cells(_counted(instance).astype(float))
        made.add_constraints((counted * x).sum() <= cap, name="few enough hidden")
    made.add_objective((of.over_cells(cost) * x).sum())
    made.objective.scaling = objective_scaling(typical(cost[of.cells]))
    return made


def _only_where_hidden(made: linopy.Model, of: Setting, t: Tables, x: linopy.Variable, always: np.ndarray) -> None:
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


def pattern(problem: TableProblem, values: Mapping[str, np.ndarray]) -> Pattern:
    """What is published with these values of the model's variables."""
    instance = Instance(problem)
    is_hidden = instance.sensitive | instance.open_anyway
    is_hidden[np.flatnonzero(instance.may_open)] |= values["x"] > 0.5
    return hidden(instance.a, is_hidden)


def objective(problem: TableProblem, released: Pattern, w: np.ndarray | None = None) -> float:
    """Σ w of the published cells that are hidden."""
    instance = Instance(problem)
    counted = _counted(instance) & (released.low != released.high)
    return float((instance.w if w is None else w)[counted].sum())


def solve_compact(problem: TableProblem, order: Order) -> Result:
    """The best pattern by the first model."""
    w = discounted(Instance(problem).w, order)
    made = model(problem, order.options, w)
    solution = solve(made, limits(order), order.options.get("backend") or "highs")
    if solution.values is None:
        return result(solution, None)
    released = pattern(problem, by_variable(made, solution.values))
    exact = objective(problem, released, w)  # the solver's own is a sum of scaled numbers
    return result(replace(solution, objective=exact, bound=_at_most(solution.bound, exact)), released)


def _at_most(bound: float | None, objective: float) -> float | None:
    return None if bound is None else min(bound, objective)
