"""Weights that count units: a record of weight 4 stands for four units that contribute alike.

So it is in τ-ARGUS (Hundepool et al., Statistical Disclosure Control, 2012, p. 151): of records of 100 and 10 with
weights 4 and 7 the value is 470, and its two largest contributors give 100 each. Where weights scale contributions, the
two records give 400 and 70, as if each were one contributor of that size. The first is what is known of the population;
the second marks at least as many cells, since it takes a sample for the whole.

The number of contributors is that of records' units either way: a threshold asks how many answered.
"""

from __future__ import annotations

import polars as pl

from sdcdsl.bind.microdata import Columns
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy

COUNTS = "counts units"


def weights_count_units(policy: Policy, data: str) -> bool:
    return any(c.role == "weight" and c.treatment == COUNTS for c in policy.data[data].all(d.Column))


def single_units(frame: pl.LazyFrame, columns: Columns, k: int) -> pl.LazyFrame:
    """The records once for each unit that they stand for, up to k times: more are never among the k largest. A unit is
    whole, so weights are rounded; whoever answered is one at least."""
    assert columns.weight is not None
    weight = pl.col(columns.weight)
    units = pl.max_horizontal(weight.round(), pl.lit(1))
    named = [column for column in (columns.unit, columns.group) if column is not None]
    parts = [
        frame.filter((weight > 0) & (units > number)).with_columns(
            pl.concat_str([pl.col(column).cast(pl.String), pl.lit(f"\x1f{number}")]).alias(column) for column in named
        )
        for number in range(max(k, 1))
    ]
    return pl.concat(parts)
