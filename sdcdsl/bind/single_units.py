"""Weights that count units: a record of weight 4 stands for four units that contribute alike.

So it is in τ-ARGUS (as GaussSuppression describes it): the n largest contributors are as many as the weights of the
largest records make up. Of records of 100 and 10 with weights 4 and 7 the value is 470, and
the two largest contributors give 100 each. A weight of 1.5 is one unit and half of the next. Where weights scale
contributions, the two records give 400 and 70, as if each were one contributor of that size: that takes a sample for
the whole, and finds at least as much in the hands of the largest.

The number of contributors is that of those who answered either way, and whoever answered is one unit at least.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl

from sdcdsl.bind.microdata import Columns
from sdcdsl.bind.tabulation import Tabulation
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy

COUNTS = "counts units"
_MARK, _OWN = "\x1f", "\x1funit"


def weights_count_units(policy: Policy, data: str) -> bool:
    return any(c.role == "weight" and c.treatment == COUNTS for c in policy.data[data].all(d.Column))


def largest_units(
    frame: pl.LazyFrame, columns: Columns, k: int, tabulate: Callable[[pl.LazyFrame, Columns, int], Tabulation | None]
) -> np.ndarray | None:
    """[cell, k]: what the largest units contribute, each of them one unit wide."""
    column = columns.weight
    assert column is not None
    weight = pl.max_horizontal(pl.col(column), pl.lit(1.0))
    if columns.unit is None and columns.group is None:
        columns = replace(columns, unit=_OWN)
        frame = frame.with_columns(pl.int_range(pl.len()).cast(pl.String).alias(_OWN))
    frame = frame.filter(pl.col(column) > 0)
    whole = [_units(frame.filter(weight.floor() > n), columns, pl.lit(f"{n}{_MARK}1")) for n in range(max(k, 1))]
    part = weight - weight.floor()
    rest = _units(frame.filter(part > 0), columns, pl.concat_str(pl.lit(f"rest{_MARK}"), part.cast(pl.String)))
    # A record gives whole units and at most one part of a unit: k units are made of no more than 2 k of these.
    made = tabulate(pl.concat([*whole, rest]), replace(columns, weight=None), 2 * k)
    return None if made is None else _one_unit_wide(made.largest, _widths(made), k)


def _units(frame: pl.LazyFrame, columns: Columns, which: pl.Expr) -> pl.LazyFrame:
    named = dict.fromkeys(column for column in (columns.unit, columns.group) if column is not None)  # may be one
    return frame.with_columns(
        pl.concat_str(pl.col(column).cast(pl.String), pl.lit(_MARK), which).alias(column) for column in named
    )


def _widths(made: Tabulation) -> np.ndarray:
    """[cell, 2 k]: how much of a unit each is. Units without a name are whole."""
    known, at = np.unique(made.holding, return_inverse=True)
    names = ["" if number < 0 else made.name(int(number)) for number in known.tolist()]
    width = [float(name.rpartition(_MARK)[2]) if _MARK in name else float(bool(name)) for name in names]
    return np.array(width)[at].reshape(made.holding.shape)


def _one_unit_wide(size: np.ndarray, width: np.ndarray, k: int) -> np.ndarray:
    end = np.cumsum(width, axis=1)
    start = end - width
    slots = [np.clip(np.minimum(end, n + 1) - np.maximum(start, n), 0.0, None) for n in range(k)]
    return np.stack([(size * slot).sum(axis=1) for slot in slots], axis=1)
