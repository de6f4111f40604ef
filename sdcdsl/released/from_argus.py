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
from sdcdsl.released.columns import Roles, code_columns, written_columns
from sdcdsl.released.delimited import rows_of
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.statements import Layout, PublishedStatements
from sdcdsl.released.status_words import STATUS_LETTERS


def first_row(text: str, table: BoundTable, delimiter: str | None) -> Header | None:
    """The first row as a header would be read, if it holds codes of all dimensions and something more."""
    known = _known(table)
    row = find_header(text, [code for codes in known for code in codes], delimiter)
    if row is None or len(row.names) <= len(known):
        return None
    fits = (
        # A code may be guarded against spreadsheets; what a blank field is called.
        word in codes or word.removeprefix("'") in codes or word == f"column {at}"
        for at, (word, codes) in enumerate(zip(row.names, known, strict=False), 1)
    )
    return row if all(fits) else None


def _known(table: BoundTable) -> list[set[str]]:
    """The codes of each column, without blanks around them; or the numbers of the cells."""
    if table.lattice is not None:
        return [{code.strip() for code in dimension.codes} for dimension in table.lattice.dimensions]
    assert table.given is not None
    return [set(map(str, table.given.index.tolist()))]


def read_argus(
    source: Source, row: Header | None, table: BoundTable, layout: Layout, statements: PublishedStatements
) -> tuple[ReleasedRows | None, list[Diagnostic]]:
    if row is None:
        headline = f"the first row of {source.name} does not begin with codes of table `{table.name}`"
        notes = [f"expected a code of each of {', '.join(code_columns(table))}, then the value"]
        return None, [diagnostic("SDC302", headline, FilePlace(source.name, line=1), notes=notes)]
    codes = written_columns(table)
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
