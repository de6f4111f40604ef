"""What the first models of all methods have in common: scaling, limits, and what a solver's answer is to a method."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from scipy.sparse import csr_array

from sdcdsl.methods.result import SolveContext
from sdcdsl.solve import SolveLimits, Status
from sdcdsl.status import FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

RESULTS = {Status.OPTIMAL: OPTIMAL, Status.FEASIBLE: FEASIBLE, Status.INFEASIBLE: INFEASIBLE, Status.LIMIT: LIMIT}


def typical(amounts: np.ndarray) -> float:
    some = amounts[(amounts > 0) & np.isfinite(amounts)]
    return float(np.median(some)) if len(some) else 1.0


def objective_scaling(cost: float) -> float:
    """Solvers take objectives as they are, unless costs come near their tolerances or leave the usual range."""
    return 1.0 if 1e-3 <= cost <= 1e6 else 1.0 / cost


def discounted(w: np.ndarray, context: SolveContext) -> np.ndarray:
    """What was not published as it was last time is cheaper to touch again."""
    if context.before is None:
        return w
    return np.where(context.before, w * (1.0 - (context.options.get("previous_discount") or 0.0)), w)


def relation_sums(M: csr_array, over_cells: Any) -> tuple[Any, np.ndarray]:
    """M z for a variable of the columns of M, and the numbers of the relations that it has rows for."""
    entry: Any = csr_array(M).tocoo()
    coefficient = xr.DataArray(entry.data, dims="entry")
    relation = xr.DataArray(entry.row, dims="entry", name="relation")
    each = over_cells.isel(cell=xr.DataArray(entry.col, dims="entry"))
    return (coefficient * each).groupby(relation).sum(), np.unique(entry.row)


def limits(context: SolveContext) -> SolveLimits:
    asked = SolveLimits(None, context.options.get("gap") or 0.0, context.options.get("threads"), context.seed)
    return asked.with_time(context.deadline.remaining)
