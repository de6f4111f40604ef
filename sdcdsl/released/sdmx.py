"""SDMX-CSV: what columns are called there, and what the official code lists say.

    1.0   DATAFLOW, then as below
    2.0   STRUCTURE (`dataflow`), STRUCTURE_ID, ACTION (`I`, information), then

    a column for each dimension, OBS_VALUE, OBS_STATUS, CONF_STATUS, LOWER_BOUND, UPPER_BOUND, COMMENT_OBS

    CL_OBS_STATUS    A normal value · Q missing value, suppressed
    CL_CONF_STATUS   F free for publication · N not for publication · C confidential, as the cell itself (primary)
                     · D secondary confidentiality, set by the sender

Identifiers of SDMX are letters, digits and `_`, usually capitals.
"""

from __future__ import annotations

import re

import polars as pl

from sdcdsl.bind.table import BoundTable
from sdcdsl.released.columns import code_columns

DATAFLOW, VALUE, STATUS, CONFIDENTIAL = "DATAFLOW", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"
LOW, HIGH, COMMENT = "LOWER_BOUND", "UPPER_BOUND", "COMMENT_OBS"
STRUCTURE, STRUCTURE_ID, ACTION = "STRUCTURE", "STRUCTURE_ID", "ACTION"
OURS = (DATAFLOW, STRUCTURE, STRUCTURE_ID, ACTION, VALUE, STATUS, CONFIDENTIAL, LOW, HIGH, COMMENT)
NORMAL, SUPPRESSED = "A", "Q"
FREE, NOT_PUBLISHED, PRIMARY, SECONDARY = "F", "N", "C", "D"


def structure_columns(dataflow: str, rows: int, version: int = 2) -> dict[str, pl.Series]:
    """Which structure the rows are of."""
    said = {DATAFLOW: dataflow} if version == 1 else {STRUCTURE: "dataflow", STRUCTURE_ID: dataflow, ACTION: "I"}
    return {name: pl.repeat(text, rows, eager=True) for name, text in said.items()}


def identifier(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name).upper()
    return plain if plain[:1].isalpha() else f"X{plain}"


def dimension_columns(table: BoundTable) -> list[str]:
    """By dimension; a name that is taken gets a number behind it."""
    out: list[str] = []
    for name in code_columns(table):
        wanted, n = identifier(name), 1
        while wanted in (*OURS, *out):
            n += 1
            wanted = f"{identifier(name)}_{n}"
        out.append(wanted)
    return out
