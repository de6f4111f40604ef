"""Enhanced controlled tabular adjustment as paper 001 writes it (¶18): one table for one draw ξ of the sensitive cells.

    min  β + F Σ e_i / |a_i|                         over z = v - a, β, and e, the distances from the draw
         M z = 0                                     "deviations add up"
         -e_i ≤ z_i - (ξ_i - a_i) ≤ e_i              sensitive i: "not above the draw", "not below the draw"
         -β/2 |a_i| ≤ z_i ≤ β/2 |a_i|                other i: "rises within beta", "falls within beta"
         lb_i ≤ a_i + z_i ≤ ub_i,   |z_i| ≤ α |a_i|, and slack for the levels of i (`ranges`), for sensitive i

The paper has v_i = ξ_i. Where a relation holds only sensitive cells and zeros, drawn values never add up: so e_i lets a
cell leave its draw, at F times what the same share costs in β. Hidden cells and unions of cells have no β.

The draw is data of a try: the first one follows from the seed, and this is the model that is written and shown. The
method (`tries`) solves it for T draws, sets the attackers on what would be published, and starts again with cells held
near their true values if none protects. With norm L1 or L2 a second model, that of `cta` with z of the sensitive cells
and β given, requires the closest of the tables with this β.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.ecta.deviations import Box, Deviations, Table
from sdcdsl.methods.ecta.ranges import Own, ValueRanges
from sdcdsl.methods.ecta.regions import published
from sdcdsl.methods.ecta.settings import Settings, settings_of
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.modelling import relation_sums
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.numerics.nearest.additive import additive
from sdcdsl.pattern import Pattern
from sdcdsl.solve.modelling import new_model

if TYPE_CHECKING:
    import linopy

FOLLOW = 1000.0  # F


def model(problem: TableProblem, context: SolveContext, witnesses: bool = True) -> linopy.Model:
    """Of the first draw. Attackers are no part of it: the model is the same without witnesses."""
    given, of = _of(problem, context)
    box = of.box(Own(of.instance).allowed(given.alpha))
    return model_of(of, box, first_draw(of.instance, context), 2 * given.most)


def first_draw(instance: Instance, context: SolveContext) -> np.ndarray:
    drawn = Own(instance).drawn_from(settings_of(context.options).alpha)
    return np.random.default_rng(context.seed).uniform(*ends(drawn))


def _of(problem: TableProblem, context: SolveContext) -> tuple[Settings, Deviations]:
    given = settings_of(context.options)
    return given, Deviations(Instance(problem), given.cap, given.most)


def ends(range_: ValueRanges) -> tuple[np.ndarray, np.ndarray]:
    return range_.low, range_.high


def model_of(of: Deviations, box: Box, drawn: np.ndarray, largest: float) -> linopy.Model:
    """`drawn` ξ, one value a sensitive cell; `largest` β."""
    made = new_model()
    cells = variable_cells(of, box)
    low, high, unit, a = (_over(x, cells) for x in (*box, of.unit, of.a))
    z = made.add_variables(lower=low, upper=high, name="z", scaling=1 / unit)
    beta = made.add_variables(lower=0, upper=largest, name="beta")
    _adds_up(made, of, cells, z)
    loss: Any = 1 * beta
    sensitive, other = cells[of.sensitive[cells]], cells[of.others[cells]]
    if len(sensitive):
        here = np.isin(of.cells, sensitive)
        xi = xr.DataArray(drawn[here], {"cell": sensitive}, "cell") - a.sel(cell=sensitive)
        size = unit.sel(cell=sensitive)
        e = made.add_variables(lower=0, coords={"cell": sensitive}, name="e", scaling=1 / size)
        own = z.sel(cell=sensitive)
        made.add_constraints(own - e <= xi, name="not above the draw", scaling=1 / size)
        made.add_constraints(own + e >= xi, name="not below the draw", scaling=1 / size)
        loss = loss + (FOLLOW / size * e).sum()
    if len(other):
        size = unit.sel(cell=other)
        made.add_constraints(z.sel(cell=other) - size / 2 * beta <= 0, name="rises within beta", scaling=1 / size)
        made.add_constraints(z.sel(cell=other) + size / 2 * beta >= 0, name="falls within beta", scaling=1 / size)
    made.add_objective(loss)
    return made


def variable_cells(of: Deviations, box: Box) -> np.ndarray:
    """Cells that may deviate, or must; not those that nobody publishes and no relation holds."""
    in_relations = np.diff(of.M.tocsc().indptr) > 0
    moves = (box[0] < box[1]) | (box[0] != 0)
    return np.flatnonzero(moves & (in_relations | ~of.instance.open_anyway))


def _adds_up(made: linopy.Model, of: Deviations, cells: np.ndarray, z: linopy.Variable) -> None:
    here: Any = of.M[:, cells]
    if not here.nnz:
        return
    sums, used = relation_sums(here, z)
    scaling = xr.DataArray(1 / of.row_unit[used], {"relation": used}, "relation")
    made.add_constraints(sums == 0, name="deviations add up", scaling=scaling)


def _over(of_all: np.ndarray, cells: np.ndarray) -> xr.DataArray:
    return xr.DataArray(of_all[cells], {"cell": cells}, "cell")


def table_of(of: Deviations, box: Box, values: Mapping[str, np.ndarray]) -> Table | None:
    """The table of a solution: made exactly additive, with the least β it needs. None if sums are missed."""
    z = np.zeros(of.instance.n)
    z[variable_cells(of, box)] = values["z"]
    low, high = box[0].copy(), box[1].copy()
    low[of.cells] = high[of.cells] = np.clip(z, low, high)[of.cells]
    exact = additive(of.M, z, low, high)
    if not of.adds_up(exact):
        exact = additive(of.M, z, *box)
    return of.table(exact) if of.adds_up(exact) else None


def pattern(problem: TableProblem, values: Mapping[str, np.ndarray], context: SolveContext) -> Pattern:
    """What is published with these values of the model's variables, before anybody has attacked it."""
    given, of = _of(problem, context)
    table = table_of(of, of.box(Own(of.instance).allowed(given.alpha)), values)
    if table is None:
        raise ValueError("the values do not add up")
    return published(of.instance, table.z, given.alpha, table.beta)


def model_of_release(
    problem: TableProblem, result: Result, context: SolveContext
) -> tuple[linopy.Model, dict[str, np.ndarray]]:
    """Of the draw that the release itself is, with the β that is published: no cell leaves its draw. A β at its cap
    says no more than the cap on deviations does (`Deviations`), and the rows of β are left out."""
    assert result.pattern is not None
    given, of = _of(problem, context)
    box = of.box(Own(of.instance).allowed(given.alpha))
    z = np.where(of.union, np.nan, result.pattern.value - of.a)  # what is not published deviates as the others need it
    beta = objective(problem, result.pattern, context)
    if beta >= of.cap:
        of.others = np.zeros(of.instance.n, dtype=bool)
    cells = variable_cells(of, box)
    values = {"z": z[cells], "beta": np.array(beta), "e": np.zeros(int(of.sensitive[cells].sum()))}
    return model_of(of, box, (of.a + z)[of.cells], 2 * given.most), values


def decisions(problem: TableProblem, result: Result, context: SolveContext) -> dict[str, np.ndarray]:
    return model_of_release(problem, result, context)[1]


def objective(problem: TableProblem, released: Pattern, context: SolveContext) -> float:
    """β, as it is published."""
    return next(float(said.removeprefix("β ")) for said in released.about if said.startswith("β "))


def solve(problem: TableProblem, context: SolveContext) -> Result:
    from sdcdsl.methods.ecta.tries import solve_tries  # noqa: PLC0415  it builds models of this module

    return solve_tries(problem, context)


def completed(problem: TableProblem, result: Result, context: SolveContext) -> Result:
    return result
