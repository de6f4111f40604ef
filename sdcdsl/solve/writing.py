"""Models as files for solvers outside: .lp, .mps, .nc (netCDF, for linopy).

Names of columns and rows say what they are about: `x(17)` is the binary of cell 17, `up_far_enough(3)` the level of
pair 3. linopy writes such names too, and looks each of them up by itself, which takes milliseconds a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.sparse import triu

from sdcdsl.solve.highs import handle
from sdcdsl.solve.modelling import Numbers, column_names, new_model, numbers, row_names

if TYPE_CHECKING:
    import linopy

LINE = 100  # some readers know no long lines


def write(model: linopy.Model, path: Path, about: Iterable[str] = ()) -> None:
    """In the format of the file's ending; `about`: what to say at the beginning of a file that has room for remarks.
    Raises OSError where nothing can be written."""
    match path.suffix.lower():
        case ".lp":
            remarks = [f"\\ {' '.join(line.split())}" for line in about]
            path.write_text("\n".join([*remarks, *_lp(model)]) + "\n", encoding="utf-8", newline="\n")
        case ".mps":
            _write_mps(model, path)
        case ".nc":
            _flat(model).to_netcdf(path, compression=False)
        case other:
            raise ValueError(f"no format of models ends in {other}")


def _write_mps(model: linopy.Model, path: Path) -> None:
    h = handle(numbers(model))
    for column, name in enumerate(column_names(model)):
        h.passColName(column, name)
    for row, name in enumerate(row_names(model)):
        h.passRowName(row, name)
    h.writeModel(str(path))
    if not path.is_file():
        raise OSError(f"HiGHS did not write {path}")


# ---- LP ---------------------------------------------------------------------------------------------


def _lp(model: linopy.Model) -> Iterator[str]:
    seen, columns = numbers(model), column_names(model)
    yield "maximize" if seen.maximise else "minimize"
    used = np.flatnonzero(seen.cost)
    linear = [(seen.cost[j], columns[j]) for j in used]
    squares = [] if seen.Q is None else _squares(seen.Q, columns)
    if linear or not squares:
        yield from _wrapped("obj:", linear or [(0.0, columns[0])])
    if squares:
        yield from _wrapped("  + [" if linear else "obj: [", squares, "] / 2")
    yield ""
    yield "subject to"
    yield from _rows(seen, columns, row_names(model))
    yield ""
    yield "bounds"
    yield from _bounds(seen, columns)
    for heading, kind in (("binary", _binary(seen)), ("general", seen.integer & ~_binary(seen))):
        if kind.any():
            yield ""
            yield heading
            yield from (columns[j] for j in np.flatnonzero(kind))
    yield "end"


def _rows(seen: Numbers, columns: list[str], names: list[str]) -> Iterator[str]:
    """Coefficients repeat, and most rows fit on a line: every number is made a text once, and lines are only looked at
    more closely where they are too long."""
    A = seen.A
    known, which = np.unique(A.data, return_inverse=True)
    heads = [f" {'-' if value < 0 else '+'} {_number(abs(value))} " for value in known.tolist()]
    terms = [heads[k] + columns[j] for k, j in zip(which.tolist(), A.indices.tolist(), strict=True)]
    start = [int(at) for at in A.indptr]
    for name, begin, stop, end in zip(names, start[:-1], start[1:], _relations(seen), strict=True):
        line = f"{name}:{''.join(terms[begin:stop])}"
        if len(line) <= LINE:
            yield f"{line} {end}"
        else:
            yield from _broken(f"{name}:", terms[begin:stop], end)


def _relations(seen: Numbers) -> Iterator[str]:
    texts: dict[float, str] = {}
    for low, high in zip(seen.row_low.tolist(), seen.row_high.tolist(), strict=True):
        value = high if high not in (low, np.inf) else low
        if value not in texts:
            texts[value] = _number(value)
        yield f"{'=' if low == high else '>=' if high == np.inf else '<='} {texts[value]}"


def _squares(Q: Any, columns: list[str]) -> list[tuple[float, str]]:
    """The terms of x Q x, each pair of columns once."""
    entry = triu(Q).tocoo()
    return [
        (float(v), f"{columns[i]} ^ 2") if i == j else (2.0 * float(v), f"{columns[i]} * {columns[j]}")
        for i, j, v in zip(entry.row, entry.col, entry.data, strict=True)
    ]


def _binary(seen: Numbers) -> np.ndarray:
    return seen.integer & (seen.low >= 0) & (seen.high <= 1)


def _bounds(seen: Numbers, columns: list[str]) -> Iterator[str]:
    texts = {value: _number(value) for value in np.unique(np.concatenate([seen.low, seen.high])) if np.isfinite(value)}
    for name, low, high in zip(columns, seen.low.tolist(), seen.high.tolist(), strict=True):
        if low == -np.inf and high == np.inf:
            yield f"{name} free"
        elif low == high:
            yield f"{name} = {texts[low]}"
        elif high == np.inf:
            yield f"{name} >= {texts[low]}"
        else:
            yield f"{texts.get(low, '-inf')} <= {name} <= {texts[high]}"


def _wrapped(begin: str, terms: list[tuple[float, str]], end: str = "") -> Iterator[str]:
    texts = [f" {'-' if value < 0 else '+'} {_number(abs(value))} {name}" for value, name in terms]
    return _broken(begin, texts, end)


def _broken(begin: str, terms: list[str], end: str) -> Iterator[str]:
    """Into lines that are short enough."""
    line = begin
    for term in terms:
        if len(line) + len(term) > LINE:
            yield line
            line = " "
        line += term
    yield f"{line} {end}".rstrip()


def _number(value: float) -> str:
    """As short as it can be and still the same number; no minus before a zero."""
    whole = int(value) if abs(value) < 1e15 else None
    return str(whole) if whole == value else repr(float(value))


# ---- netCDF -----------------------------------------------------------------------------------------


def _flat(model: linopy.Model) -> linopy.Model:
    """The same model with each family of rows along one dimension: plain netCDF has no place for sparse rows, and
    linopy may mix up dimensions of rows when it reads them back and solves."""
    import linopy  # noqa: PLC0415
    from linopy.constraints import CSRConstraint  # noqa: PLC0415

    flat = new_model(sparse=False)
    for name, v in model.variables.items():
        binary, whole = name in model.binaries, name in model.integers
        scaling = 1 if binary or whole else v.solver_scaling
        flat.add_variables(v.lower, v.upper, name=name, scaling=scaling, binary=binary, integer=whole)
    for name, rows in model.constraints.items():
        frozen: Any = rows if isinstance(rows, CSRConstraint) else rows.freeze()
        matrix, _, rhs, sense = frozen.to_matrix_with_rhs(model.variables.label_index)
        lengths = np.diff(matrix.indptr)
        wide = max(int(lengths.max(initial=0)), 1)
        coefficients, labels = np.full((len(lengths), wide), np.nan), np.full((len(lengths), wide), -1)
        there = np.arange(wide) < lengths[:, None]
        coefficients[there] = matrix.data
        labels[there] = model.variables.label_index.vlabels[matrix.indices]
        over = {"row": np.arange(len(lengths))}
        terms = {"coeffs": (("row", "_term"), coefficients), "vars": (("row", "_term"), labels)}
        left = linopy.LinearExpression(xr.Dataset(terms, coords=over), flat)
        scaling = xr.DataArray(np.broadcast_to(frozen._scaling, len(lengths)), over, "row")
        flat.add_constraints(
            left, xr.DataArray(sense, over, "row"), xr.DataArray(rhs, over, "row"), name, scaling=scaling
        )
    flat.add_objective(_flat_objective(model, flat), sense=model.objective.sense)
    flat.objective.scaling = model.objective.scaling
    return flat


def _flat_objective(model: linopy.Model, flat: linopy.Model) -> Any:
    import linopy  # noqa: PLC0415

    if model.objective.is_quadratic:
        said = model.objective.expression.data
        terms = {name: (said[name].dims, said[name].values) for name in ("coeffs", "vars")}
        return linopy.QuadraticExpression(xr.Dataset(terms), flat)
    labels, coefficients = model.objective.linear_terms()
    terms = {"coeffs": ("_term", coefficients), "vars": ("_term", labels)}
    return linopy.LinearExpression(xr.Dataset(terms), flat)
