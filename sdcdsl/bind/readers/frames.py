"""Data frames that somebody handed in from Python, as records: pandas, polars, pyarrow and what else narwhals knows;
datasets of xarray, whose coordinates are the codes.

Only the columns asked for are taken over, and their numbers stay where they are: nothing is copied that need not be.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import polars as pl

from sdcdsl.bind.readers.records import ROW, ColumnSelection, Records, missing_columns, records_of
from sdcdsl.bind.readers.whole_numbers import whole_numbers_as_codes
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic


def no_frame(native: Any) -> str | None:
    """Why this cannot be read as a data frame, in words; None if it can."""
    if _is_polars(native) or _is_xarray(native):
        return None
    import narwhals as nw  # noqa: PLC0415

    if isinstance(nw.from_native(native, pass_through=True), nw.DataFrame | nw.LazyFrame):
        return None
    kind = type(native)
    return f"a {kind.__module__}.{kind.__qualname__} is no data frame of pandas, polars, pyarrow, xarray or narwhals"


def read_frame(native: Any, name: str, selection: ColumnSelection) -> tuple[Records | None, list[Diagnostic]]:
    """`name` is what messages call it."""
    if _is_polars(native):
        frame = native.lazy()
    elif _is_xarray(native):
        frame, found = _from_xarray(native, name, selection)
        if frame is None:
            return None, found
    else:
        frame, found = _from_narwhals(native, name, selection)
        if frame is None:
            return None, found
    if ROW in (columns := frame.collect_schema().names()):
        return None, [diagnostic("SDC302", f"{name} has a column `{ROW}`, a name that is taken", FilePlace(name))]
    wanted = [c for c in selection.columns if c in columns]
    # Without a column to read, a frame still has rows to count.
    frame = frame.with_row_index(ROW, offset=1) if len(wanted) < len(selection.columns) else _numbered(frame, wanted)
    frame, found = whole_numbers_as_codes(frame, name, selection.codes)
    if frame is None:
        return None, found
    try:
        return records_of(frame, name, selection)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:  # of a lazy frame that does not work
        headline = f"{name} cannot be read: its query fails ({type(error).__name__})"
        return None, [diagnostic("SDC302", headline, FilePlace(name))]


def _numbered(frame: pl.LazyFrame, wanted: list[str]) -> pl.LazyFrame:
    return frame.select(wanted).with_row_index(ROW, offset=1)


def _is_polars(native: Any) -> bool:
    return isinstance(native, pl.DataFrame | pl.LazyFrame)


def _is_xarray(native: Any) -> bool:
    xr = sys.modules.get("xarray")  # who hands one in has loaded it
    return xr is not None and isinstance(native, xr.Dataset | xr.DataArray)


def _from_narwhals(native: Any, name: str, selection: ColumnSelection) -> tuple[pl.LazyFrame | None, list[Diagnostic]]:
    import narwhals as nw  # noqa: PLC0415

    frame = nw.from_native(native)
    known = frame.collect_schema().names()
    if missing := missing_columns(known, name, selection):
        return None, missing
    frame = frame.select(selection.columns)
    try:
        made = frame.collect(backend="polars") if isinstance(frame, nw.LazyFrame) else frame
        return made.to_polars().lazy(), []
    except Exception as error:  # whatever a library of frames raises about columns that Arrow has no type for
        headline = f"{name} cannot be read: its columns cannot be taken over ({type(error).__name__})"
        return None, [diagnostic("SDC302", headline, FilePlace(name))]


def _from_xarray(native: Any, name: str, selection: ColumnSelection) -> tuple[pl.LazyFrame | None, list[Diagnostic]]:
    """One record for each cell: dimensions are columns of codes, variables columns of numbers.

    A cell in which no variable has a number is one without a record."""
    import xarray as xr  # noqa: PLC0415  takes a while, and who hands one in has loaded it

    data = native.to_dataset(name=native.name or "value") if not hasattr(native, "data_vars") else native
    dims = list(data.sizes)
    known = [str(one) for one in (*dims, *data.data_vars)]
    if missing := missing_columns(known, name, selection):
        return None, missing
    shape = tuple(data.sizes[dim] for dim in dims)
    if 0 in shape or not shape:
        return None, [diagnostic("SDC308", f"{name} has no rows", FilePlace(name))]
    columns: dict[str, pl.Series] = {}
    for dim in (dim for dim in dims if str(dim) in selection.columns):
        if dim not in data.coords:
            headline = f"dimension `{dim}` of {name} has no coordinate, which holds its codes"
            return None, [diagnostic("SDC303", headline, FilePlace(name))]
        codes = pl.Series(str(dim), [None if code is None else str(code) for code in data.coords[dim].values.tolist()])
        number = xr.DataArray(np.arange(len(codes), dtype=np.uint32), dims=dim)
        columns[str(dim)] = codes.gather(_spread(number, data))
    for variable in (one for one in data.data_vars if str(one) in selection.columns):
        columns[str(variable)] = pl.Series(str(variable), _spread(data[variable], data), nan_to_null=True)
    figures = [pl.col(str(one)).is_not_null() for one in data.data_vars if str(one) in selection.numbers]
    frame = pl.DataFrame(columns).lazy()
    return (frame.filter(pl.any_horizontal(figures)) if figures else frame), []


def _spread(one: Any, data: Any) -> np.ndarray:
    """One entry for each cell of the whole dataset; a view where it has all dimensions in their order."""
    return one.broadcast_like(data).transpose(*data.sizes).values.ravel()
