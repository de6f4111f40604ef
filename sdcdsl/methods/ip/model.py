"""Interval protection, the first model (paper 003, Figure 6), and its combination with suppression (§4.3).

    min  Σ w_i⁺ z_i⁺ + w_i⁻ z_i⁻                                    published: [a_i - z_i⁻, a_i + z_i⁺]
    for every attacker k and sensitive cell p:
         M f = b,   a_i - LB_i^k ≤ f_i ≤ a_i + UB_i^k
                    a_i - z_i⁻   ≤ f_i ≤ a_i + z_i⁺                 "… within intervals"
         the same for g                                             "low table … within intervals"
         f_p ≥ a_p + UPL,   g_p ≤ a_p - LPL,   f_p - g_p ≥ SPL      "up far enough", "down far enough", "wide enough"
    and  z_i⁺ + z_i⁻ ≤ the widest that is allowed                   "not too wide"

Where intervals have a cost of their own, a least width, a cap on their number or conditional levels, binaries x_i say
which are used:

    min  … + w_i x_i,    z_i⁺ ≤ Z_i⁺ x_i,   z_i⁻ ≤ Z_i⁻ x_i         "… only where one is used"
         z_i⁺ + z_i⁻ ≥ the least width · x_i                        "wide if at all"
         Σ x_i ≤ q                                                  "few enough intervals"
         UPL x_p, LPL x_p, SPL x_p for conditional levels           "up far enough if touched", …

f and g are centred on the truth and scaled by their level (`witness_tables`). Cells that are hidden already and unions
of cells have no interval: attackers learn nothing about them. Cells that must be published have none either.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.modelling import discounted, objective_scaling, typical
from sdcdsl.methods.published_amounts import public
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.witness_tables import ModelCells, WitnessTables, if_touched, tables, wide_enough
from sdcdsl.pattern import Pattern, intervals
from sdcdsl.solve.modelling import new_model

if TYPE_CHECKING:
    import linopy

DUST = 1e-9  # of the typical level: what solvers leave of a zero


def model(problem: TableProblem, context: SolveContext, witnesses: bool = True) -> linopy.Model:
    """The model of Figure 6, with the binaries of §4.3 where costs or options require them."""
    instance, options = Instance(problem), context.options
    made = new_model()
    of = ModelCells(instance)
    touch = _touchable(instance)
    unit = _unit(instance)
    binaries = needs_binaries(instance, options)
    sides = {side: tables(made, of, side, clipped=binaries) if witnesses else None for side in (UP, DOWN)}
    least = _least_widths(instance, options)
    most = {side: _most(slack, least, touch) for side, slack in ((UP, instance.UB), (DOWN, instance.LB))}
    if not witnesses:  # that an interval need not be wider than any attacker's slack is said by the witnesses
        most = {side: xr.full_like(ends, np.inf) for side, ends in most.items()}
    names = {UP: "z_up", DOWN: "z_down"}
    z = {
        side: made.add_variables(lower=0, upper=ends, name=names[side], scaling=xr.full_like(ends, 1 / unit))
        for side, ends in most.items()
    }
    for t in sides.values():
        if t is not None:
            _within_intervals(made, t, z, touch)
    wide_enough(made, of, sides[UP], sides[DOWN])
    if options.get("cap_width") is not None:
        widest = _amount(instance, options["cap_width"], np.inf)
        capped = touch[np.isfinite(widest[touch])]
        if len(capped):
            width = z[UP].sel(cell=capped) + z[DOWN].sel(cell=capped)
            made.add_constraints(width <= _over(widest, capped), name="not too wide", scaling=1 / unit)
    w_up, w_down, w_fixed = (_over(w, touch) for w in _costs(instance, context))
    loss = (w_up * z[UP]).sum() + (w_down * z[DOWN]).sum()
    if binaries:
        x = made.add_variables(binary=True, name="x", coords={"cell": touch})
        _binaries(made, of, options, z, x, most, sides, unit)
        if_touched(made, of, sides[UP], sides[DOWN], x)
        loss = loss + (w_fixed * x).sum()
    made.add_objective(loss)
    made.objective.scaling = objective_scaling(typical(np.concatenate([w_up.values, w_down.values])) * unit)
    return made


def needs_binaries(instance: Instance, options: Mapping[str, Any]) -> bool:
    required = options.get("min_width") is not None or options.get("cap_intervals") is not None
    return required or bool(instance.conditional.any() or (instance.w_fixed[_touchable(instance)] > 0).any())


def _touchable(instance: Instance) -> np.ndarray:
    return np.flatnonzero(instance.may_open & ~instance.open_anyway)


def _unit(instance: Instance) -> float:
    return typical(np.concatenate([instance.level.ravel(), instance.slide]))


def _over(of_all: np.ndarray, cells: np.ndarray) -> xr.DataArray:
    return xr.DataArray(of_all[cells], dims="cell", coords={"cell": cells})


def _amount(instance: Instance, given: Any, unsaid: float) -> np.ndarray:
    """A number for all cells, or one for each (nan: nothing is said)."""
    amount = np.broadcast_to(np.asarray(given, dtype=float), (instance.n,))
    return np.where(np.isnan(amount), unsaid, amount)


def _least_widths(instance: Instance, options: Mapping[str, Any]) -> np.ndarray:
    """How wide an interval is if there is one; a width that is used is printed."""
    said = options.get("min_width")
    return np.zeros(instance.n) if said is None else public(_amount(instance, said, 0.0))


def _most(slack: np.ndarray, least: np.ndarray, cells: np.ndarray) -> xr.DataArray:
    """No attacker reckons with more than this slack: wider an interval only looks, where a least width asks it to."""
    return _over(np.maximum(slack.max(axis=0), least), cells)


def _within_intervals(made: linopy.Model, t: WitnessTables, z: dict[int, linopy.Variable], touch: np.ndarray) -> None:
    d, high = t.d.sel(cell=touch), "high" if t.name == "f" else "low"
    made.add_constraints(d - z[UP] <= 0, name=f"{high} table rises within intervals", scaling=t.scaling)
    made.add_constraints(d + z[DOWN] >= 0, name=f"{high} table falls within intervals", scaling=t.scaling)


def _binaries(
    made: linopy.Model,
    of: ModelCells,
    options: Mapping[str, Any],
    z: dict[int, linopy.Variable],
    x: linopy.Variable,
    most: dict[int, xr.DataArray],
    sides: dict[int, WitnessTables | None],
    unit: float,
) -> None:
    instance = of.instance
    touch = x.indexes["cell"].to_numpy()
    least = _over(_least_widths(instance, options), touch)
    for side in (UP, DOWN):
        slacks = [(t.UB if side == UP else t.LB).sel(cell=touch).max("pair") for t in sides.values() if t is not None]
        if not slacks:  # nothing says how wide an interval has to be
            continue
        Z = np.minimum(most[side], functools.reduce(np.maximum, slacks, least))
        way = "up" if side == UP else "down"
        made.add_constraints(z[side] - Z * x <= 0, name=f"an interval {way} only where one is used", scaling=1 / unit)
    if options.get("min_width") is not None:
        made.add_constraints(z[UP] + z[DOWN] - least * x >= 0, name="wide if at all", scaling=1 / unit)
    if options.get("cap_intervals") is not None:
        made.add_constraints(x.sum() <= options["cap_intervals"], name="few enough intervals")


def _costs(instance: Instance, context: SolveContext) -> tuple[np.ndarray, ...]:
    """w⁺, w⁻ and w: what was not published as it was in the last period is cheaper to touch again."""
    return tuple(discounted(w, context) for w in (instance.w_up, instance.w_down, instance.w_fixed))


def pattern(problem: TableProblem, values: Mapping[str, np.ndarray], context: SolveContext) -> Pattern:
    """What is published with these values of the model's variables."""
    instance = Instance(problem)
    touch = _touchable(instance)
    up, down = np.zeros(instance.n), np.zeros(instance.n)
    up[touch], down[touch] = (_clean(values[name], _unit(instance)) for name in ("z_up", "z_down"))
    up[instance.open_anyway] = down[instance.open_anyway] = np.inf
    return intervals(_end(instance.a, -down), _end(instance.a, up))


def _end(a: np.ndarray, z: np.ndarray) -> np.ndarray:
    """a + z; where it had to be rounded, rounded away from a: an interval must not lose its level to arithmetic."""
    end = a + z
    short = np.abs(end - a) < np.abs(z)
    return np.where(short, np.nextafter(end, np.where(z > 0, np.inf, -np.inf)), end)


def _clean(z: np.ndarray, unit: float) -> np.ndarray:
    """Without dust, with whole numbers where they are meant, and all others a hair wider: solvers fall short by one."""
    near = np.round(z)
    whole = np.abs(z - near) <= DUST * np.maximum(unit, np.abs(z))
    z = np.where(whole, near, z * (1 + DUST))
    return np.where(z > DUST * unit, z, 0.0)


def decisions(problem: TableProblem, result: Result, context: SolveContext) -> dict[str, np.ndarray]:
    instance = Instance(problem)
    down, up = _widths(instance, result.pattern)
    values = {"z_up": up, "z_down": down}
    return values | ({"x": _used(down, up)} if needs_binaries(instance, context.options) else {})


def _widths(instance: Instance, released: Pattern | None) -> tuple[np.ndarray, np.ndarray]:
    """z⁻ and z⁺ of the cells that may have an interval."""
    assert released is not None
    touch = _touchable(instance)
    return (instance.a - released.low)[touch], (released.high - instance.a)[touch]


def _used(down: np.ndarray, up: np.ndarray) -> np.ndarray:
    return ((up > 0) | (down > 0)).astype(float)


def objective(problem: TableProblem, released: Pattern, context: SolveContext) -> float:
    """Σ w⁺ z⁺ + w⁻ z⁻ of the intervals, and what each costs by itself."""
    instance = Instance(problem)
    down, up = _widths(instance, released)
    used = _used(down, up) if needs_binaries(instance, context.options) else np.zeros(len(up))
    priced = zip((w[_touchable(instance)] for w in _costs(instance, context)), (up, down, used), strict=True)
    # What costs nothing may be as wide as it likes, also without end.
    return float(sum(w[w > 0] @ z[w > 0] for w, z in priced))


def completed(problem: TableProblem, result: Result, context: SolveContext) -> Result:
    """With the number of intervals."""
    used = _used(*_widths(Instance(problem), result.pattern))
    return replace(result, facts={**result.facts, "intervals": int(used.sum())})
