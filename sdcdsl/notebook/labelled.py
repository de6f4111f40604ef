"""Rows of cells as arrays with labelled coordinates."""

from __future__ import annotations

import numpy as np
import polars as pl
import xarray as xr


def labelled(codes: pl.DataFrame, figures: pl.DataFrame) -> xr.Dataset:
    """One axis for each column of codes, in their order; NaN, or "", where a table has no such cell."""
    labels = {name: codes[name].unique(maintain_order=True).to_list() for name in codes.columns}
    place = tuple(
        codes[name].cast(pl.Enum(list(map(str, labels[name])))).to_physical().to_numpy() for name in codes.columns
    )
    shape = tuple(len(one) for one in labels.values())
    made = {}
    for name in figures.columns:
        text = figures[name].dtype == pl.String
        array = np.full(shape, "" if text else np.nan, dtype=object if text else np.float64)
        array[place] = figures[name].to_numpy()
        made[name] = (tuple(labels), array)
    return xr.Dataset(made, coords=labels)
