"""Results of sdcTable (`getInfo(…, "finalData")`, easySdcTable): the dimensions, a count, the values, `sdcStatus`.

The values stand there unprotected beside the status: u (primary) and x (secondary) are to be hidden, s and z published.
"""

from __future__ import annotations

from dataclasses import replace

from sdcdsl.bind.readers.csv_text import Header
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, Source
from sdcdsl.released.columns import find_roles
from sdcdsl.released.delimited import rows_of
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.statements import Layout, PublishedStatements

STATUS = "sdcstatus"


def has_sdc_status(header: Header) -> bool:
    return any(name.casefold() == STATUS for name in header.names)


def read_sdctable(
    source: Source, header: Header, table: BoundTable, layout: Layout, statements: PublishedStatements
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    column = next((name for name in header.names if name.casefold() == STATUS), "sdcStatus")
    layout = replace(layout, columns={"status": column, **layout.columns})
    roles, problems = find_roles(source.name, header.last_line, header.names, table, layout)
    if roles is None:
        return None, problems
    return rows_of(source, header, replace(roles, low=None, high=None), table, layout, statements)
