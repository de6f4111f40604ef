"""Controlled tabular adjustment as the papers write it.

    min  Σ w_i⁺ z_i⁺ + w_i⁻ z_i⁻                        norm L1    (000 (6), 004 (4))
    or   Σ w_i z_i²                                     norm L2    (004 (5))
    or   t_P + t_N,                                     norm Linf  (004 (6))
         w_i |z_i| ≤ t_P for i ∈ P,   ≤ t_N elsewhere   "t_P is the largest", "t_N is the largest"
    or   ω₁ Σ w_i |z_i| + ω₂ Σ_S w_i z_i²               norm L1L2  (004 (10))

    M (z⁺ - z⁻) = 0                                     "deviations add up"
    0 ≤ z_i⁺ ≤ high_i,   0 ≤ z_i⁻ ≤ -low_i              i without a level
    upl_i y_i ≤ z_i⁺ ≤ high_i y_i                       "rises by its level", "rises or not at all"
    lpl_i (1 - y_i) ≤ z_i⁻ ≤ -low_i (1 - y_i)           "falls by its level", "falls or not at all"
    0 ≥ 1 if bounds leave a level no way                "a cell with nowhere to go"

y_i = 1: cell i moves up. Where the sense is given, or only one is possible, there is no y and the level is a bound.

|z_i| = z_i⁺ + z_i⁻ and z_i² = (z_i⁺)² + (z_i⁻)² hold at the optimum, since moving both ways costs more. Infinite bounds
before a binary are replaced by what an optimum can need: it is a sum of circuits, each there for the level of some
cell, so that in a network no cell moves further than all levels together; elsewhere `STRETCH` times that is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.sparse import csr_array

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cta.settings import L1L2, L2, LINF, Settings, published, settings_of
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.methods.modelling import objective_scaling, relation_sums, typical
from sdcdsl.methods.result import NoRelease, Result, SolveContext
from sdcdsl.methods.witness_tables import STRETCH
from sdcdsl.numerics.flow.network import as_network
from sdcdsl.numerics.nearest.additive import additive
from sdcdsl.pattern import Pattern
from sdcdsl.solve.modelling import new_model

if TYPE_CHECKING:
    import linopy

Ends = dict[int, xr.DataArray]  # by DOWN and UP
DUST = 1e-9  # of the typical level: what solvers leave of a zero


def model(problem: TableProblem, context: SolveContext, witnesses: bool = True) -> linopy.Model:
    """Adjusted tables need no witnesses: the model is the same without."""
    return model_of(settings_of(problem, context.options))


def model_of(of: Settings, tangents: Sequence[np.ndarray] | None = None) -> linopy.Model:
    """`tangents`: squares are replaced by their tangents at these deviations (`outer_approximation`)."""
    a = of.of
    made = new_model()
    free = np.flatnonzero(a.low < a.high)
    unit = 1.0 if of.integer else _unit(of)  # a scaled whole number is none
    chosen = a.open[:, DOWN] & a.open[:, UP]  # both ways are open: a binary decides
    low, high = _ends(of, free, chosen)
    scaling = xr.full_like(high[UP], 1 / unit)
    z = {
        side: made.add_variables(lower=low[side], upper=high[side], name=name, scaling=scaling, integer=of.integer)
        for side, name in ((UP, "z_up"), (DOWN, "z_down"))
    }
    given = np.where(a.low < a.high, 0.0, a.low)  # deviations that nothing is left to decide about
    _adds_up(made, a.M, free, z[UP] - z[DOWN], given, unit)
    if chosen.any():
        _senses(made, of, chosen, z, high, unit)
    if not a.open.any(axis=1).all():  # a cell that can go nowhere: no solver must find a table
        never = made.add_variables(lower=0, upper=0, name="never")
        made.add_constraints(1 * never >= 1, name="a cell with nowhere to go")
    _objective(made, of, free, z, unit, tangents)
    return made


def deviations(of: Settings, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """z of the model's solution: without dust, additive, and not short of a level by a solver's tolerance."""
    a = of.of
    z = np.where(a.low < a.high, 0.0, a.low)
    free = np.flatnonzero(a.low < a.high)
    z[free] = values["z_up"] - values["z_down"]
    z = np.where(np.abs(z) <= DUST * _unit(of), 0.0, z)
    if of.integer:
        return np.round(z)
    own = z[a.cells]
    l, u = a.box(np.where(own > 0, 1, -1).astype(np.int8))
    return additive(a.M, np.clip(z, l, u), l, u)


def pattern(problem: TableProblem, values: Mapping[str, np.ndarray], context: SolveContext) -> Pattern:
    """The table that a solution of the model publishes."""
    return published(problem, deviations(settings_of(problem, context.options), values))


def model_of_release(
    problem: TableProblem, result: Result, context: SolveContext
) -> tuple[linopy.Model, dict[str, np.ndarray]]:
    """Of soft totals, where totals that should stay have moved."""
    assert result.pattern is not None
    of = settings_of(problem, context.options)
    z = result.pattern.value - of.of.a
    penalty = context.options.get("soft_totals")
    if penalty is not None and _moved(of, z):
        of = of.with_soft_totals(float(penalty), problem, context.options)
    if _moved(of, z):
        raise NoRelease("a cell moves that must stay")
    return model_of(of), _values(of, z)


def decisions(problem: TableProblem, result: Result, context: SolveContext) -> dict[str, np.ndarray]:
    return model_of_release(problem, result, context)[1]


def _moved(of: Settings, z: np.ndarray) -> bool:
    """Whether a cell deviates about which nothing is left to decide."""
    stays = (of.of.low == of.of.high) & ~np.isnan(z)
    return bool((z[stays] != of.of.low[stays]).any())


def _values(of: Settings, z: np.ndarray) -> dict[str, np.ndarray]:
    """Of the model's variables; nan for those of hidden cells, which deviate as the others need it."""
    a = of.of
    free = np.flatnonzero(a.low < a.high)
    own = z[free]
    values = {"z_up": np.maximum(own, 0.0), "z_down": np.maximum(-own, 0.0)}
    chosen = a.cells[a.open[:, DOWN] & a.open[:, UP]]
    if len(chosen):
        values["y"] = (z[chosen] > 0).astype(float)
    if not a.open.any(axis=1).all():
        values["never"] = np.array(0.0)
    if of.norm == LINF:
        size, inside = np.nan_to_num(of.w * np.abs(z)), of.sensitive
        for name, mask in (("t_P", inside), ("t_N", ~inside)):
            cells = free[mask[free] & (of.w[free] > 0)]
            if len(cells):
                values[name] = np.array(size[cells].max())
    return values


def objective(problem: TableProblem, released: Pattern, context: SolveContext) -> float:
    of = settings_of(problem, context.options)
    return of.objective(np.nan_to_num(released.value - of.of.a))


def solve(problem: TableProblem, context: SolveContext) -> Result:
    """The closest table by the model alone, and why there is none."""
    from sdcdsl.methods.cta.closest_by_model import closest_release  # noqa: PLC0415  it builds models of this module

    return closest_release(problem, context)


def completed(problem: TableProblem, result: Result, context: SolveContext) -> Result:
    """With how many of the cells with a level move up, and down."""
    assert result.pattern is not None
    of = settings_of(problem, context.options)
    own = np.nan_to_num(result.pattern.value - of.of.a)[of.of.cells]
    facts = {"norm": of.norm, "up": int((own > 0).sum()), "down": int((own < 0).sum())}
    return replace(result, facts={**result.facts, **facts})


def _unit(of: Settings) -> float:
    levels = np.concatenate([of.of.lpl, of.of.upl])
    levels = levels[np.isfinite(levels)]
    return typical(levels if len(levels) else np.concatenate([-of.of.low, of.of.high]))


def _over(of_all: np.ndarray, cells: np.ndarray) -> xr.DataArray:
    return xr.DataArray(of_all[cells], dims="cell", coords={"cell": cells})


def _ends(
    of: Settings, free: np.ndarray, chosen: np.ndarray
) -> tuple[dict[int, xr.DataArray], dict[int, xr.DataArray]]:
    """Bounds of z⁻ and z⁺. Cells with a given sense start at their level and do not move the other way."""
    a = of.of
    level = {DOWN: a.lpl, UP: a.upl}
    low, high = {}, {}
    for side, slack in ((DOWN, -a.low), (UP, a.high)):
        least, most = np.zeros(a.n), slack.copy()
        only = ~chosen & a.open[:, side]
        least[a.cells[only]] = level[side][only]
        most[a.cells[~chosen & ~a.open[:, side]]] = 0.0
        before_binary = a.cells[chosen]
        most[before_binary] = np.minimum(most[before_binary], _furthest(of))
        low[side], high[side] = _over(least, free), _over(most, free)
    return low, high


def _furthest(of: Settings) -> float:
    a = of.of
    levels = np.maximum(np.where(np.isfinite(a.lpl), a.lpl, 0.0), np.where(np.isfinite(a.upl), a.upl, 0.0))
    if of.integer:  # a level of a quarter requires 1
        levels = np.ceil(levels)
    entry: Any = a.M.tocoo()
    whole = np.array_equal(entry.data, np.sign(entry.data))
    network = as_network(entry.data, entry.col, entry.row, a.n, len(a.M.indptr) - 1) if whole else None
    return float(levels.sum()) * (STRETCH if network is None else 1.0)


def _adds_up(made: linopy.Model, M: csr_array, free: np.ndarray, z: Any, given: np.ndarray, unit: float) -> None:
    here: Any = M[:, free]
    if not here.nnz:
        return
    sums, rows = relation_sums(here, z)
    rest = xr.DataArray(-(M @ given)[rows], {"relation": rows}, "relation")
    made.add_constraints(sums == rest, name="deviations add up", scaling=1 / unit)


def _senses(
    made: linopy.Model,
    of: Settings,
    chosen: np.ndarray,
    z: dict[int, linopy.Variable],
    high: dict[int, xr.DataArray],
    unit: float,
) -> None:
    a = of.of
    cells = a.cells[chosen]
    y = made.add_variables(binary=True, name="y", coords={"cell": cells})
    for side, word, level in ((UP, "rises", a.upl), (DOWN, "falls", a.lpl)):
        moves = y if side == UP else 1 - y
        amount, most = z[side].sel(cell=cells), high[side].sel(cell=cells)
        need = xr.DataArray(level[chosen], dims="cell", coords={"cell": cells})
        made.add_constraints(amount - need * moves >= 0, name=f"{word} by its level", scaling=1 / unit)
        made.add_constraints(amount - most * moves <= 0, name=f"{word} or not at all", scaling=1 / unit)


def _objective(
    made: linopy.Model,
    of: Settings,
    free: np.ndarray,
    z: dict[int, linopy.Variable],
    unit: float,
    tangents: Sequence[np.ndarray] | None,
) -> None:
    size = z[UP] + z[DOWN]
    if of.norm == LINF:
        inside = of.sensitive
        w = _over(of.w, free)
        total = 0
        for name, mask in (("t_P", inside), ("t_N", ~inside)):
            cells = free[mask[free] & (of.w[free] > 0)]
            if not len(cells):
                continue
            t = made.add_variables(lower=0, name=name, scaling=1 / (unit * typical(of.w)))
            weighted = (w * size).sel(cell=cells)
            made.add_constraints(weighted - t <= 0, name=f"{name} is the largest", scaling=1 / (unit * typical(of.w)))
            total = total + t
        made.add_objective(1 * total)
        made.objective.scaling = objective_scaling(typical(of.w) * unit)
        return
    parts: list[Any] = []
    if of.norm != L2:
        parts.append((_over(of.w_up, free) * z[UP]).sum() + (_over(of.w_down, free) * z[DOWN]).sum())
    w = _over(of.w_square, free)
    if of.norm in (L2, L1L2) and bool((w > 0).any()):  # squares of which none counts are no objective to every solver
        if tangents is None:
            parts.append((w * z[UP] * z[UP]).sum() + (w * z[DOWN] * z[DOWN]).sum())
        else:
            parts.append(_below_squares(made, of, free[of.w_square[free] > 0], z, unit, tangents))
    made.add_objective(parts[0] + parts[1] if len(parts) > 1 else parts[0] if parts else (0 * z[UP]).sum())
    scale = typical(of.w_square) * unit**2 if of.norm == L2 else typical(of.w_up) * unit
    made.objective.scaling = objective_scaling(scale)


def _below_squares(
    made: linopy.Model,
    of: Settings,
    cells: np.ndarray,
    z: dict[int, linopy.Variable],
    unit: float,
    tangents: Sequence[np.ndarray],
) -> Any:
    """Σ w_i s_i with s_i ≥ 2 t z_i - t² for every t; for whole z_i the secants s_i ≥ (2 t ± 1) z_i - t (t ± 1)."""
    s = made.add_variables(lower=0, coords={"cell": cells}, name="s", scaling=1 / unit**2)
    deviation = z[UP].sel(cell=cells) - z[DOWN].sel(cell=cells)
    shifts = (-1.0, 1.0) if of.integer else (0.0,)
    for number, point in enumerate(tangents):
        t = _over(point, cells)
        for shift in shifts:
            name = f"above tangent {number + 1}" + (" and before" if shift < 0 else "")
            made.add_constraints(s - (2 * t + shift) * deviation >= -t * (t + shift), name=name, scaling=1 / unit**2)
    return (_over(of.w_square, cells) * s).sum()
