"""SDMX-CSV 2.0 of all true values, with the reason of each confidential one in CONF_STATUS: what is transmitted to
those who may have it, such as Eurostat, and to nobody else."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sdcdsl.outcome import Outcome
from sdcdsl.released import sdmx
from sdcdsl.released.frame import bound_table, texts
from sdcdsl.released.to_sdmx import default_dataflow
from sdcdsl.released.write import csv_bytes
from sdcdsl.report.review.cells import reviewed
from sdcdsl.report.review.context import ReviewContext


def write_transmission(outcome: Outcome, table: str, path: Path, context: ReviewContext) -> None:
    cells = reviewed(outcome, table)
    columns = sdmx.structure_columns(default_dataflow(table), len(cells))
    names = zip(sdmx.dimension_columns(bound_table(outcome.problem, table)), cells.codes.columns, strict=True)
    columns |= {ours: cells.codes[name] for ours, name in names}
    columns[sdmx.VALUE] = texts(cells.value)
    columns[sdmx.STATUS] = pl.repeat(sdmx.NORMAL, len(cells), eager=True)
    columns[sdmx.CONFIDENTIAL] = pl.Series(cells.flag)
    columns[sdmx.COMMENT] = pl.Series([reason or None for reason in cells.reason], dtype=pl.String)
    path.write_bytes(csv_bytes(pl.DataFrame(columns)))
