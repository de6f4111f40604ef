"""CSV with a header: a column for each dimension, and any of `value`, `low`, `high`, `status`, `base`, `deviation`.

The results of rtauargus and τ-ARGUS's pivot format are of this kind, with a `Status` of letters or numbers.
"""

from __future__ import annotations

from sdcdsl.bind.readers.csv_text import Header
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, Source
from sdcdsl.released.columns import find_roles
from sdcdsl.released.delimited import rows_of
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.statements import Layout, PublishedStatements


def read_csv_release(
    source: Source, header: Header, table: BoundTable, layout: Layout, statements: PublishedStatements
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    roles, problems = find_roles(source.name, header.last_line, header.names, table, layout)
    if roles is None:
        return None, problems
    return rows_of(source, header, roles, table, layout, statements)
