"""Files that τ-ARGUS writes without a header, codes in the order of the table's dimensions:

    code-value       code … , value [, status]
    SBS              code … , value, count, status, dominance
    intermediate     code … ; value ; count ; [shadow ;] cost ; [largest … ;] status ; lower ; upper [; audit …]

The status is the first column behind the value that holds letters of τ-ARGUS and nothing else; `lower` and `upper` of
the intermediate format are protection levels, no part of the release. A code left blank is the total.
"""

from __future__ import annotations

import csv

from sdcdsl.bind.readers.csv_text import Header, all_rows, find_header, not_delimited
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic
from sdcdsl.released.columns import Roles, code_columns
from sdcdsl.released.delimited import rows_of
from sdcdsl.released.rows import Rows
from sdcdsl.released.statements import Layout, Published
from sdcdsl.released.words import STATUS_LETTERS


def first_row(text: str, table: BoundTable, delimiter: str | None) -> Header | None:
    """The first row as a header would be read, if it holds codes of all dimensions and something more."""
    if table.lattice is None:
        return None
    codes = [code for dimension in table.lattice.dimensions for code in dimension.codes]
    row = find_header(text, codes, delimiter)
    if row is None or len(row.names) <= len(table.dimensions):
        return None
    fits = (
        word in dimension.index or word == f"column {at}"  # what a blank field is called
        for at, (word, dimension) in enumerate(zip(row.names, table.lattice.dimensions, strict=False), 1)
    )
    return row if all(fits) else None


def read_argus(
    source: Source, row: Header | None, table: BoundTable, layout: Layout, statements: Published
) -> tuple[Rows | None, list[Diagnostic]]:
    if row is None:
        headline = f"the first row of {source.name} does not begin with codes of table `{table.name}`"
        notes = [f"expected a code of each of {', '.join(code_columns(table))}, then the value"]
        return None, [diagnostic("SDC302", headline, FilePlace(source.name, line=1), notes=notes)]
    codes = code_columns(table)
    beside = [f"field {i}" for i in range(len(codes) + 2, len(row.names) + 1)]
    header = Header([*codes, "value", *beside], row.delimiter, 0)
    try:
        status = _status_column(source.text, header, len(codes) + 1)
    except csv.Error as error:
        return None, [not_delimited(source.name, error)]
    return rows_of(source, header, Roles(codes, "value", status=status), table, layout, statements, padded=True)


def _status_column(text: str, header: Header, first: int) -> str | None:
    candidates = dict.fromkeys(range(first, len(header.names)))
    for _, row in all_rows(text, header):
        for i in [i for i in candidates if i < len(row) and row[i].strip().lower() not in STATUS_LETTERS]:
            del candidates[i]
        if not candidates:
            return None
    return header.names[next(iter(candidates))]
