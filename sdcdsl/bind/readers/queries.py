"""What databases have in common: a query or a table of a policy, and how it failed."""

from __future__ import annotations

from collections.abc import Sequence

from sdcdsl.bind.readers.records import ColumnSelection, Reading
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.diagnostics.confidential import secret


def quoted(identifier: str) -> str:
    """As SQL writes a name."""
    return '"' + identifier.replace('"', '""') + '"'


def columns_of(selection: ColumnSelection, names: Sequence[str]) -> str:
    """What is selected of a query: without a column to read, a row still counts."""
    return ", ".join(map(quoted, selection.columns or names[:1]))


def no_query(reading: Reading, otherwise: str | None = None) -> tuple[str | None, list[Diagnostic]]:
    """The query of the options; of a table, everything in it. `otherwise`: the table, where none is named."""
    query, table = reading.options["query"], reading.options["table"] or otherwise
    if query is not None and reading.options["table"] is not None:
        headline = "a query and a table: one of them says what to read"
        return None, [diagnostic("SDC302", headline, reading.span, help="leave out `table`")]
    if query is None and table is None:
        headline = "nothing says what to read of the database"
        return None, [diagnostic("SDC302", headline, reading.span, help='query "select … from …", or table "…"')]
    return query.strip().rstrip(";") if query is not None else f"SELECT * FROM {_table(str(table))}", []


def _table(name: str) -> str:
    """`schema.table`, each part as it is written."""
    return ".".join(quoted(part) for part in name.split("."))


def query_failed(name: str, why: str, told: bool, reading: Reading) -> Diagnostic:
    """`told`: the reason names what stands in the policy or in the database's own description, and no data."""
    line = " ".join(why.split("\n\n", maxsplit=1)[0].split())
    notes = [line if told else secret(line)]
    return diagnostic("SDC302", f"the query on {name} fails", reading.span, notes=notes)
