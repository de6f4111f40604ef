"""The table of counts closest to one that does not add up.

min  Σ w_i (u_i + d_i)      z_i = v_i + u_i - d_i,  M z = b,  z ≥ 0 whole,  u, d ≥ 0
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.sparse import csr_array

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.modelling import RESULTS, limits
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.solve import solve
from sdcdsl.solve.modelling import by_variable, new_model
from sdcdsl.status import FAILED, LIMIT


def closest(
    problem: TableProblem, drawn: np.ndarray, noisy: np.ndarray, context: SolveContext
) -> tuple[np.ndarray | None, Result]:
    """The values, or why there are none. What is published without noise keeps its value."""
    d = problem.dataset
    cells = np.flatnonzero(noisy)
    M = csr_array(
        (d["coefficient"].values.astype(float), (d["equation_of"].values, d["cell_of"].values)),
        shape=(problem.m, problem.n),
    )
    of_others = np.diff(M[:, ~d["published"].values].indptr) > 0  # what only says what a union is
    rows = np.flatnonzero(~of_others & (np.diff(M[:, cells].indptr) > 0))
    start = np.where(noisy, drawn, d["a"].values)
    missing = (d["b"].values - M @ start)[rows]
    part = M[rows][:, cells].tocoo()
    over = {"cell": cells}
    model = new_model()
    weight = np.maximum(d["w"].values[cells], 1e-3)  # what costs nothing may move, and no further than it must
    up = model.add_variables(lower=0, upper=np.inf, name="up", coords=over, integer=True)
    down = model.add_variables(
        lower=0, upper=xr.DataArray(start[cells], over, "cell"), name="down", coords=over, integer=True
    )
    moved = up - down
    entry = xr.DataArray(part.coords[1], dims="entry")
    relation = xr.DataArray(part.coords[0], dims="entry", name="relation")
    sums = (xr.DataArray(part.data, dims="entry") * moved.isel(cell=entry)).groupby(relation).sum()
    there = np.unique(part.coords[0])
    model.add_constraints(sums == xr.DataArray(missing[there], {"relation": there}, "relation"), name="adds up")
    price = xr.DataArray(weight, over, "cell")
    model.add_objective((price * up).sum() + (price * down).sum())
    solution = solve(model, limits(context), context.options.get("backend") or "highs")
    status = RESULTS.get(solution.status, FAILED)
    if solution.values is None:
        return None, Result(status if status != FAILED else LIMIT, notes=("no table that adds up was found",))
    values = by_variable(model, solution.values)
    out = start.copy()
    out[cells] += np.round(values["up"]) - np.round(values["down"])
    if np.abs((M @ out - d["b"].values)[rows]).max(initial=0.0) > 1e-6:
        return None, Result(FAILED, notes=("the closest table does not add up",))
    return out, Result(status)
