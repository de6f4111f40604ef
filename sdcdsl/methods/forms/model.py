"""The first models of rounding, perturbation and combinations (paper 003, Figures 9 and 12, §7), for other solvers.

The columns and rows of the forms (`forms` says what they mean), and for every attacker k and sensitive cell p two
tables (`witness_tables`) that stay within what is published, d being their distance from the truth:

    hidden       -LB_i^k x_i ≤ d_i ≤ UB_i^k x_i            "… only where hidden"
    interval     -z_i⁻ ≤ d_i ≤ z_i⁺                        "… within intervals"
    perturbed    p_i - q_i - R_i ≤ d_i ≤ p_i - q_i + R_i   "… near values"
    rounded      v_i - a_i - R_i ≤ d_i ≤ v_i - a_i + R_i, v_i = ⌊a_i⌋ + r_i k_i     "… near multiples"
    exact        d_i = 0                                   "… as published"

A conditional level holds with UPL x_p, LPL x_p, SPL x_p in place of UPL, LPL, SPL, where x_p says that the cell is
hidden or has an interval ("… if hidden", "… if an interval"); of a rounded or perturbed cell it holds like any other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.forms import forms as forms_module
from sdcdsl.methods.forms.forms import Forms
from sdcdsl.methods.forms.shape import Shape
from sdcdsl.methods.instance import DOWN, UP
from sdcdsl.methods.modelling import objective_scaling, typical
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.witness_tables import ModelCells, WitnessTables, if_touched, tables, wide_enough
from sdcdsl.pattern import Pattern
from sdcdsl.solve.modelling import CONSTANT, new_model

if TYPE_CHECKING:
    import linopy


def model(forms: Forms, witnesses: bool = True) -> linopy.Model:
    """Of forms to which everything has been said."""
    made = new_model()
    into = forms.into
    problem = into.problem()
    columns: dict[str, linopy.Variable] = {}
    labels = np.zeros(len(problem.cost), dtype=np.int64)
    for name, cells, at in into.groups:
        if not len(cells):
            continue
        over = {"cell": cells}
        lower, upper = (xr.DataArray(x[at], over, "cell") for x in (problem.lower, problem.upper))
        whole = bool(problem.integer[at].all())
        binary = whole and bool((problem.lower[at] >= 0).all() and (problem.upper[at] <= 1).all())
        kind: dict[str, Any] = {"binary": True} if binary else {"integer": True} if whole else {}
        if not whole:
            kind["scaling"] = xr.DataArray(1 / problem.unit[at], over, "cell")
        columns[name] = made.add_variables(lower=lower, upper=upper, name=name, **kind)
        labels[at] = columns[name].labels.values
    _rows(made, forms, labels)
    if witnesses:
        _tables(made, forms, columns)
    cost = [
        (xr.DataArray(problem.cost[at], {"cell": cells}, "cell") * columns[name]).sum()
        for name, cells, at in into.groups
        if len(cells)
    ]
    if cost:  # otherwise there is nothing to decide
        made.add_objective(sum(cost[1:], start=cost[0]))
    made.parameters[CONSTANT] = forms.into.offset
    made.objective.scaling = objective_scaling(typical(np.abs(problem.cost * problem.unit)))
    return made


class FormsModel:
    """The definition of a method whose options say how cells are published."""

    def __init__(self, shape: Callable[[TableProblem, Mapping[str, Any]], Shape]):
        self.shape = shape
        # Where the formulas of the model stand.
        self.modules = tuple(sys.modules[name] for name in (shape.__module__, forms_module.__name__, __name__))

    def model(self, problem: TableProblem, context: SolveContext, witnesses: bool = True) -> linopy.Model:
        return model(self.shape(problem, context.options).forms, witnesses)

    def pattern(self, problem: TableProblem, values: Mapping[str, np.ndarray], context: SolveContext) -> Pattern:
        shape = self.shape(problem, context.options)
        return shape.published.pattern(columns_of(shape.forms, values), shape.about)

    def decisions(self, problem: TableProblem, result: Result, context: SolveContext) -> dict[str, np.ndarray]:
        assert result.pattern is not None
        shape = self.shape(problem, context.options)
        into = shape.forms.into
        u = shape.published.columns(result.pattern, len(into.problem().cost))
        return {name: u[at] for name, cells, at in into.groups if len(cells)}

    def objective(self, problem: TableProblem, released: Pattern, context: SolveContext) -> float:
        return self.shape(problem, context.options).published.price(released)

    def completed(self, problem: TableProblem, result: Result, context: SolveContext) -> Result:
        return result


def columns_of(forms: Forms, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """The values of a solution as columns of the forms."""
    u = np.zeros(len(forms.into.problem().cost))
    for name, cells, at in forms.into.groups:
        if len(cells):
            u[at] = values[name]
    return u


def _rows(made: linopy.Model, forms: Forms, labels: np.ndarray) -> None:
    import linopy  # noqa: PLC0415

    problem = forms.into.problem()
    for name, rows in forms.into.families:
        rows = rows[np.diff(problem.A.indptr)[rows] > 0]  # noqa: PLW2901  relations of cells that all stay say nothing
        part = problem.A[rows]
        lengths = np.diff(part.indptr)
        if not len(rows):
            continue
        wide = int(lengths.max())
        there = np.arange(wide) < lengths[:, None]
        coefficients, variables = np.full((len(rows), wide), np.nan), np.full((len(rows), wide), -1)
        coefficients[there], variables[there] = part.data, labels[part.indices]
        over = {"row": np.arange(len(rows))}
        terms = {"coeffs": (("row", "_term"), coefficients), "vars": (("row", "_term"), variables)}
        left = linopy.LinearExpression(xr.Dataset(terms, coords=over), made)
        low, high = problem.row_low[rows], problem.row_high[rows]
        scaling = xr.DataArray(1.0 / np.nanmax(np.abs(coefficients), axis=1), over, "row")
        both = bool((low == high).all())
        sense, right = ("=", low) if both else (">=", low) if np.isinf(high).all() else ("<=", high)
        made.add_constraints(left, sense, xr.DataArray(right, over, "row"), name=name, scaling=scaling)


def _tables(made: linopy.Model, forms: Forms, columns: dict[str, linopy.Variable]) -> None:
    of = ModelCells(forms.instance)
    sides = {side: tables(made, of, side, clipped=True) for side in (UP, DOWN)}
    for t in sides.values():
        if t is None:
            continue
        high = "high" if t.name == "f" else "low"
        for what, cells, below, above in _slacks(forms, columns, t):
            d = t.d.sel(cell=cells)
            made.add_constraints(d - above <= 0, name=f"{high} table above {what}", scaling=t.scaling)
            made.add_constraints(d + below >= 0, name=f"{high} table below {what}", scaling=t.scaling)
    wide_enough(made, of, sides[UP], sides[DOWN])
    for name, word in (("x", "hidden"), ("x_used", "an interval")):
        if name in columns:
            if_touched(made, of, sides[UP], sides[DOWN], columns[name], word)


def _slacks(
    forms: Forms, columns: dict[str, linopy.Variable], t: WitnessTables
) -> Iterator[tuple[str, np.ndarray, Any, Any]]:
    """What is published, the cells it is about, and how far below and above the truth it lets a table go."""
    at, instance = forms.at, forms.instance
    valued = at.reach > 0
    rounded, perturbed = np.flatnonzero(at.base > 0), np.flatnonzero(valued & (at.base == 0))
    interval = np.flatnonzero((at.plus >= 0) & ~valued)
    hidden = np.flatnonzero(at.hide >= 0)
    over = lambda x, cells: xr.DataArray(x[cells], {"cell": cells}, "cell")  # noqa: E731
    if len(hidden):
        x = columns["x"].sel(cell=hidden)
        yield "only where hidden", hidden, t.LB.sel(cell=hidden) * x, t.UB.sel(cell=hidden) * x
    if len(interval):
        yield "within intervals", interval, columns["z_down"].sel(cell=interval), columns["z_up"].sel(cell=interval)
    if len(perturbed):
        moved, R = columns["p"].sel(cell=perturbed) - columns["q"].sel(cell=perturbed), over(at.reach, perturbed)
        yield "near values", perturbed, R - moved, R + moved
    if len(rounded):
        moved = over(at.base, rounded) * columns["k"].sel(cell=rounded) - over(instance.a - at.first, rounded)
        R = over(at.reach, rounded)
        yield "near multiples", rounded, R - moved, R + moved
    exact = np.flatnonzero(instance.may_open & ~forms.open)
    if len(exact):
        none = xr.DataArray(np.zeros(len(exact)), {"cell": exact}, "cell")
        yield "as published", exact, none, none
