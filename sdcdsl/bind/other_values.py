"""A block bound once more for another table of values, as somebody would who replays a policy on a table that might be
the true one.

What follows from values is worked out anew: sensitivity by value, levels, costs, bounds of attackers, statements with
conditions. What follows from contributions cannot: a reader knows no contributions, so that rules judge those that
there are.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.problem import TableProblem
from sdcdsl.bind.protect import bind_protect
from sdcdsl.bind.table import BoundTable
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy


@dataclass(frozen=True, eq=False)
class OtherTables:
    """What `Binding` is to a block, with tables that are there already."""

    policy: Policy
    places: FileLocations
    today: datetime.date
    tables: Mapping[str, BoundTable]

    def table(self, name: str) -> BoundTable | None:
        return self.tables[name]


def rebound(
    problem: TableProblem, a: np.ndarray, protect: d.Block, policy: Policy, places: FileLocations, today: datetime.date
) -> TableProblem | None:
    """The problem of the same block with the values `a` [cell of the problem]; None if something would be wrong with
    it, so that nothing would have been released."""
    tables = {
        table.name: _with_values(table, a[view.cells])
        for table, view in zip(problem.tables, problem.views, strict=False)  # the last view is of unions
    }
    made, _ = bind_protect(OtherTables(policy, places, today, tables), protect)
    return made


def _with_values(table: BoundTable, value: np.ndarray) -> BoundTable:
    """A table of counts has its values a second time, as counts, and rules judge them."""
    quantities, judged = dict(table.quantities), table.judged
    if "count" in quantities and np.array_equal(quantities["count"], table.value):
        quantities["count"] = value
    if judged is not None and judged.frequency:
        judged = replace(judged, value=value, count=value, nonzero=value, absolute=np.abs(value))
    return replace(table, value=value, quantities=quantities, judged=judged)
