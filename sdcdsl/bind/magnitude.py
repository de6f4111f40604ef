"""Numbers that are too large to be added up as the rest of the program relies on."""

from __future__ import annotations

import numpy as np

from sdcdsl.bind.naming import first_cells
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.diagnostics.confidential import secret
from sdcdsl.policy import document as d

LARGEST = 1e100  # methods multiply values with each other: far enough from where doubles end
DIGITS = 1e15  # doubles have 15 digits: from here on the last unit of a sum is not sure


def too_large(table: BoundTable, block: d.Block) -> list[Diagnostic]:
    """An error where sums overflow, or nearly; a warning where single units are lost in them."""
    size = np.abs(table.value)
    if table.contributors is not None:  # those of opposite signs do not show in the sum
        size = np.maximum(size, table.contributors.holdings.absolute)
    if not len(size) or (size <= DIGITS).all():
        return []
    what = block.last(d.Sum)
    column = f", column `{what.column}`" if what is not None else ""
    beyond = np.flatnonzero(~(size <= LARGEST))
    if len(beyond):
        headline = f"values of table `{table.name}`{column} are too large to be added up"
        notes = [first_cells(beyond, table.label), f"the largest is {_size(size)}; the limit is {LARGEST:.0e}"]
        return [diagnostic("SDC307", headline, table.place, notes=notes, help="look where these figures come from")]
    beyond = np.flatnonzero(size > DIGITS)
    headline = f"totals of table `{table.name}`{column} have more than 15 digits: single units are lost in them"
    notes = [
        first_cells(beyond, table.label),
        f"the largest is {_size(size)}; beside it small levels may not be provable, and nothing may be found",
    ]
    help = "look whether a figure is wrong; otherwise state values in thousands or millions"
    return [diagnostic("SDC336", headline, table.place, notes=notes, help=help)]


def _size(size: np.ndarray) -> str:
    return secret(f"{size.max():.3g}")
