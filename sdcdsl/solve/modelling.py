"""Where linopy is met: new models, which class of problem a model is, its numbers, and names of its columns.

Models are built in the units of the table. Columns and rows carry a scaling (linopy's `scaling=`), and solvers only
ever see numbers that are scaled with it: their tolerances are absolute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.solve.backend import Can

if TYPE_CHECKING:
    import linopy


CONSTANT = "constant of the objective"  # a parameter of the model


def new_model(sparse: bool = True) -> linopy.Model:
    """An empty model. Not sparse is for netCDF files, whose plain version has no place for sparse rows."""
    import linopy  # noqa: PLC0415

    linopy.options["semantics"] = "v1"
    return linopy.Model(sparse=sparse)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A model as solvers see it: min or max c x + x Q x / 2, row_low ≤ A x ≤ row_high, low ≤ x ≤ high."""

    cost: np.ndarray
    Q: csr_array | None
    low: np.ndarray
    high: np.ndarray
    integer: np.ndarray  # bool
    A: csr_array
    row_low: np.ndarray
    row_high: np.ndarray
    maximise: bool
    unit: np.ndarray  # value of a column in the model's own units: x / unit
    objective_unit: float
    constant: float = 0.0  # of the objective, in the model's own units: solvers do not see it

    @property
    def n(self) -> int:
        return len(self.cost)

    def objective(self, x: np.ndarray) -> float:
        quadratic = 0.5 * float(x @ (self.Q @ x)) if self.Q is not None else 0.0
        return (float(self.cost @ x) + quadratic) / self.objective_unit + self.constant


def numbers(model: linopy.Model) -> Numbers:
    seen = model.matrices
    n = len(seen.vlabels)
    A = csr_array((0, n)) if seen.A is None else csr_array(seen.A)
    b, sense = seen.b, seen.sense
    return Numbers(
        cost=seen.c,
        Q=None if seen.Q is None else csr_array(seen.Q),
        low=seen.lb,
        high=seen.ub,
        integer=np.isin(seen.vtypes, ("B", "I")),
        A=A,
        row_low=np.where(sense == "<", -np.inf, b).astype(float),
        row_high=np.where(sense == ">", np.inf, b).astype(float),
        maximise=model.objective.sense == "max",
        unit=seen.var_scaling,
        objective_unit=float(model.objective.scaling),
        constant=float(model.parameters.get(CONSTANT, 0.0)),
    )


def needs(model: linopy.Model) -> Can:
    whole, squares = bool(len(model.binaries) or len(model.integers)), model.is_quadratic
    if whole and squares:
        return Can.MIQP
    return Can.MIP if whole else Can.QP if squares else Can.LP


def column_names(model: linopy.Model) -> list[str]:
    """`x(17)`, `f(3,17)`: what the columns are called in files."""
    out: list[str] = []
    for name, variable in model.variables.items():
        there = variable.labels.values.ravel() != -1
        coords = [variable.indexes[dim] for dim in variable.labels.dims]
        out += [written for written, is_there in zip(_written(name, coords), there, strict=True) if is_there]
    return out


def row_names(model: linopy.Model) -> list[str]:
    """`up_far_enough(3)`: what the rows are called in files."""
    out: list[str] = []
    for name, rows in model.constraints.items():
        active = rows.active_labels() - rows.range[0]
        written = _written(name, [rows.indexes[dim] for dim in rows.coord_dims])
        out += [written[at] for at in active.tolist()]
    return out


def _written(name: str, coords: Sequence[Iterable[Any]]) -> list[str]:
    plain = name.replace(" ", "_")
    if not coords:
        return [plain]
    codes = [[str(at) for at in side] for side in coords]  # once a code, not once a row
    return [f"{plain}({','.join(at)})" for at in product(*codes)]


def by_variable(model: linopy.Model, values: np.ndarray) -> dict[str, np.ndarray]:
    """The values of a solution, variable by variable, in the shape of each."""
    label_to_position = model.variables.label_index.label_to_pos
    return {name: values[label_to_position[variable.labels.values]] for name, variable in model.variables.items()}


def in_columns(model: linopy.Model, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """The inverse of `by_variable`."""
    label_to_position = model.variables.label_index.label_to_pos
    out = np.zeros(len(model.variables.label_index.vlabels))
    for name, variable in model.variables.items():
        out[label_to_position[variable.labels.values]] = values[name]
    return out


def name_of_column(model: linopy.Model, at: int) -> str:
    return column_names(model)[at]


def family_of_row(model: linopy.Model, at: int) -> str:
    """The name of the constraints that a row is one of."""
    for name, rows in model.constraints.items():
        at -= len(rows.active_labels())
        if at < 0:
            return str(name)
    raise IndexError(at)
