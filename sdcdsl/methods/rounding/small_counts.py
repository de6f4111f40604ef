"""Rounding of small counts: only counts below a limit move, and what they add up to follows (`below`).

Of the counts of a table's leaves those with 0 < a_i < L become 0 or the base r; all others stay, and totals are the
sums of what is published. (Ø. Langsrud, J. Heldal: an algorithm for small count rounding of tabular data, 2018, as in
the R package SmallCountRounding. There base and limit are one; here the limit is the base or less.)

    min  Σ w_j |v_j - a_j|        v_i = r x_i, x_i ∈ {0, 1}, of small leaves;  v_i = a_i of other leaves;  M v = b

Readers know how it was done, so of a leaf that is published as 0 they know that it is less than L, and of one that is
published as r that it is between 1 and r; every other leaf is what it is. Totals tell nothing more: they are sums of
what is published of the leaves. So what is possible of a cell is the sum over its leaves, and levels are linear:

    room above = Σ over its leaves of    L - 1 - a_i + (r - L + 1) x_i  of small ones,  L - 1 of zeros
    room below = Σ                       a_i - x_i                      of small ones,  r - 1 of leaves of r itself
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.sparse import csr_array

from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.tabulation import roll_sum
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.modelling import RESULTS, limits, objective_scaling, typical
from sdcdsl.methods.result import Progress, Result, SolveContext
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import CHANGED, EXACT, HIDDEN
from sdcdsl.solve import solve as solve_model
from sdcdsl.solve.modelling import CONSTANT, by_variable, new_model
from sdcdsl.status import FAILED, OPTIMAL

if TYPE_CHECKING:
    import linopy


class NotForIt(ValueError):
    """The table or the options are not for rounding small counts. The text says why."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of tables of counts, and how they are published."""

    problem: TableProblem
    base: float
    limit: float
    leaf: np.ndarray  # bool [cell]
    small: np.ndarray  # leaves that are rounded
    zero: np.ndarray  # bool [cell]: leaves of nobody, which might have been small
    full: np.ndarray  # bool [cell]: leaves of the base, which might have been small

    @property
    def a(self) -> np.ndarray:
        return self.problem.dataset["a"].values

    @property
    def room(self) -> np.ndarray:
        """[DOWN | UP, cell]: of leaves, with small ones rounded down."""
        out = np.zeros((2, self.problem.n))
        out[DOWN, self.small], out[UP, self.small] = self.a[self.small], self.limit - 1 - self.a[self.small]
        out[UP, self.zero], out[DOWN, self.full] = self.limit - 1, self.base - 1
        return out

    @property
    def further(self) -> tuple[float, float]:
        """What rounding up instead adds to the room below and above."""
        return -1.0, self.base - self.limit + 1


def solve(problem: TableProblem, context: SolveContext) -> Result:
    try:
        of = leaves(problem, context.options)
    except NotForIt as error:
        return Result(FAILED, notes=(str(error),))
    context.report(Progress("model"))
    if not len(of.small):
        return _released(of, np.zeros(0), OPTIMAL, None, {})
    made = model(of)
    solution = solve_model(made, limits(context), context.options.get("backend") or "highs")
    status, seconds = RESULTS.get(solution.status, FAILED), {"model": solution.seconds}
    if solution.values is None:
        notes = (solution.message,) if status == FAILED else ()
        return Result(status, bound=solution.bound, seconds=seconds, notes=notes)
    chosen = np.round(by_variable(made, solution.values)["up"])
    return _released(of, chosen, status, solution.bound, seconds)


def leaves(problem: TableProblem, options: Mapping[str, Any]) -> Leaves:
    d, limit = problem.dataset, float(options["below"])
    bases = np.unique(np.broadcast_to(np.asarray(options["base"], dtype=float), (problem.n,)))
    bases = bases[np.isfinite(bases)]
    if len(bases) != 1 or bases[0] < limit or bases[0] != np.round(bases[0]):
        raise NotForIt("`below` needs one base for all cells, a whole number no smaller than the limit")
    a, published = d["a"].values, d["published"].values
    if ((a < 0) | (a != np.round(a)))[published].any():
        raise NotForIt("`below` is for counts, and some values are none")
    if (d["status"].values == "m").any():
        raise NotForIt("`below` publishes every cell, and some must be hidden")
    leaf = published.copy()
    for table, view in zip(problem.tables, problem.views, strict=False):
        if table.lattice is None or any((c.sign < 0).any() for c in table.lattice.compositions):
            raise NotForIt("`below` needs tables whose totals are sums of their parts")
        leaf[view.cells[~table.lattice.is_leaf]] = False
    for table, view in zip(problem.tables, problem.views, strict=False):
        if table.lattice is not None and not leaf[view.cells[table.lattice.is_leaf]].all():
            raise NotForIt("`below` needs linked tables with the same leaves: a leaf of one is a total of another")
    rounded = leaf & (d["status"].values != "z")
    small = np.flatnonzero(rounded & (a > 0) & (a < limit))
    base = float(bases[0])
    return Leaves(problem, base, limit, leaf, small, rounded & (a == 0), rounded & (a == base))


def model(of: Leaves) -> linopy.Model:
    """Binaries of small leaves, values of totals, and the levels."""
    d, n = of.problem.dataset, of.problem.n
    made = new_model()
    up = made.add_variables(binary=True, name="up", coords={"cell": of.small})
    # Totals as sums of their leaves, in units of what a leaf moves: never of each other, so that nothing accumulates.
    sums = sums_of(of, np.flatnonzero(d["published"].values & ~of.leaf))
    column = np.full(n, -1, dtype=np.int64)
    column[of.small] = np.arange(len(of.small))
    w = d["w"].values
    cost = w[of.small] * (of.base - 2 * of.a[of.small])
    constant = float(w[of.small] @ of.a[of.small])
    part = csr_array(sums[:, of.small]).tocoo()
    rows = np.unique(part.coords[0])
    if len(rows):
        over = {"row": rows}
        high, low = (made.add_variables(lower=0, name=name, coords=over) for name in ("above", "below"))
        entry = xr.DataArray(part.coords[1], dims="entry")
        row = xr.DataArray(part.coords[0], dims="entry", name="row")
        moved = (xr.DataArray(of.base * part.data, dims="entry") * up.isel(cell=entry)).groupby(row).sum()
        started = xr.DataArray((sums[:, of.small] @ of.a[of.small])[rows], over, "row")
        made.add_constraints(moved - high + low == started, name="totals follow")
        price = xr.DataArray(w[np.flatnonzero(d["published"].values & ~of.leaf)[rows]], over, "row")
        total = (price * high).sum() + (price * low).sum()
        made.add_objective((xr.DataArray(cost, {"cell": of.small}, "cell") * up).sum() + total)
    else:
        made.add_objective((xr.DataArray(cost, {"cell": of.small}, "cell") * up).sum())
    made.parameters[CONSTANT] = constant
    made.objective.scaling = objective_scaling(typical(np.abs(cost)))
    _levels(made, of, up)
    return made


def _levels(made: linopy.Model, of: Leaves, up: linopy.Variable) -> None:
    """The room of a cell is the sum of that of its leaves; levels of the same cell are met by the largest."""
    instance = Instance(of.problem)
    cells, at = np.unique(instance.pair_cell, return_inverse=True)
    if not len(cells):
        return
    sums = sums_of(of, cells)
    room = [sums @ of.room[side] for side in (DOWN, UP)]
    levels = [np.zeros(len(cells)) for _ in range(3)]
    for level, values in zip(levels, (instance.level[DOWN], instance.level[UP], instance.slide), strict=True):
        np.maximum.at(level, at, np.where(instance.conditional, 0.0, values))
    count = csr_array(sums[:, of.small])
    for name, there, more, level in (
        ("down far enough", room[DOWN], of.further[0], levels[0]),
        ("up far enough", room[UP], of.further[1], levels[1]),
        ("wide enough", room[DOWN] + room[UP], sum(of.further), levels[2]),
    ):
        asking = np.flatnonzero(level > 0)
        part = csr_array(count[asking] * more).tocoo()
        missing = level[asking] - there[asking]
        rows = np.unique(part.coords[0])
        if (missing[np.setdiff1d(np.arange(len(asking)), rows)] > 1e-9).any():  # no leaf of it moves
            made.add_constraints(0 * up.sum() >= 1, name=f"{name} where nothing moves")
        if len(rows):
            entry = xr.DataArray(part.coords[1], dims="entry")
            row = xr.DataArray(part.coords[0], dims="entry", name="row")
            sum_of = (xr.DataArray(part.data, dims="entry") * up.isel(cell=entry)).groupby(row).sum()
            made.add_constraints(sum_of >= xr.DataArray(missing[rows], {"row": rows}, "row"), name=name)


def sums_of(of: Leaves, cells: np.ndarray) -> csr_array:
    """[row, cell]: the leaves of each of these cells, of unions those of their members."""
    problem = of.problem
    n = problem.n
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    values: list[np.ndarray] = []
    number = np.full(n, -1, dtype=np.int64)
    wanted = np.unique(np.concatenate([cells, _members(problem)[1]]))
    left = np.ones(n, dtype=bool)
    for table, view in zip(problem.tables, problem.views, strict=False):
        assert table.lattice is not None
        number[:] = -1
        number[view.cells] = np.arange(len(view.cells))
        for c in wanted[(number[wanted] >= 0) & left[wanted]].tolist():
            inside = np.zeros(1, dtype=np.int64)
            for dim, composition in enumerate(table.lattice.compositions):
                code = int(table.lattice.codes_at(number[[c]], dim)[0])
                own = np.array(sorted(composition.leaves_of[code]), dtype=np.int64)
                inside = np.add.outer(inside, own * table.lattice.stride[dim]).ravel()
            rows.append(np.full(len(inside), c))
            columns.append(view.cells[inside])
            values.append(np.ones(len(inside)))
            left[c] = False
    index = (np.concatenate(rows), np.concatenate(columns)) if rows else (np.zeros(0, int), np.zeros(0, int))
    published = csr_array((np.concatenate(values) if values else np.zeros(0), index), shape=(n, n))
    union, member, sign = _members(problem)
    unions = csr_array((sign, (union, member)), shape=(n, n))
    every = csr_array(published + unions @ published)
    every.eliminate_zeros()
    return csr_array(every[cells])


def _members(problem: TableProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every union the cells that it is made of, with their signs."""
    d = problem.dataset
    published, cell, equation = d["published"].values, d["cell_of"].values, d["equation_of"].values
    sign = d["coefficient"].values.astype(float)
    own = np.flatnonzero(~published[cell])
    union, factor = np.full(problem.m, -1, dtype=np.int64), np.zeros(problem.m)
    union[equation[own]], factor[equation[own]] = cell[own], sign[own]
    parts = np.flatnonzero(published[cell] & (union[equation] >= 0))
    return union[equation[parts]], cell[parts], -sign[parts] / factor[equation[parts]]


def _released(of: Leaves, chosen: np.ndarray, status: str, bound: float | None, seconds: dict[str, float]) -> Result:
    released = pattern(of, chosen)
    objective = cost(of.problem, released)
    bound = objective if status == OPTIMAL and bound is None else bound
    facts = {"rounded_up": int(chosen.sum()), "rounded_down": int((chosen == 0).sum())}
    return Result(status, released, objective, None if bound is None else min(bound, objective), seconds, facts=facts)


def pattern(of: Leaves, chosen: np.ndarray) -> Pattern:
    """What is published, and what readers make of it. `chosen`: which small leaves are rounded up."""
    d, a = of.problem.dataset, of.a
    value = np.where(of.leaf, a, 0.0)
    value[of.small] = of.base * chosen
    low, high = value.copy(), value.copy()
    known = of.leaf & (d["status"].values == "z")  # nobody takes these for rounded
    nothing, full = of.leaf & ~known & (value == 0), of.leaf & ~known & (value == of.base)
    high[nothing], low[full] = of.limit - 1, 1.0
    for table, view in zip(of.problem.tables, of.problem.views, strict=False):
        assert table.lattice is not None
        for ends in (value, low, high):
            ends[view.cells] = roll_sum(table.lattice, np.where(table.lattice.is_leaf, ends[view.cells], 0.0))
    published = d["published"].values
    low[~published], high[~published], value[~published] = -np.inf, np.inf, np.nan
    word = np.where(~published, HIDDEN, np.where(low < high, CHANGED, EXACT))
    about = (f"base {of.base:g}, counts below {of.limit:g}",)
    return Pattern(low, high, value, word, about=about)


def cost(problem: TableProblem, released: Pattern) -> float:
    d = problem.dataset
    published = d["published"].values
    return float((d["w"].values * np.abs(released.value - d["a"].values))[published].sum())
