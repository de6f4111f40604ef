"""Parent/child tables: a CSV with a row for each code and the code it belongs to."""

from __future__ import annotations

from pathlib import Path

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.readers.csv_text import TextRows, read_rows
from sdcdsl.bind.readers.tree_building import Branch, grow
from sdcdsl.bind.readers.wording import offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic

PARENT_WORDS = {"parent", "parent_code", "above", "group"}
CHILD_WORDS = {"child", "code", "child_code"}


def read_parents(
    source: Path | Source,
    *,
    total: str | None = None,
    parent: str | None = None,
    child: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    name: str = "",
) -> tuple[CodeTree | None, list[Diagnostic]]:
    """Columns by name, or else the headers `parent` and `child` (or `code`), or else the first and the second column.

    A row without a parent declares a root.
    """
    columns = [c for c in (parent, child) if c is not None]
    rows, problems = read_rows(source, columns, delimiter=delimiter, encoding=encoding)
    if rows is None:
        return None, problems
    place = FilePlace(rows.name)
    if len(rows.header) < 2:
        return None, [diagnostic("SDC303", f"{rows.name} has one column, parent and child take two", place)]
    above, below = _columns(rows, parent, child)
    branches, tops, nameless = [], [], []
    for line, row in rows.records:
        here = FilePlace(rows.name, line=line)
        if not row[below]:
            nameless.append((here, "no code in this row"))
        elif row[above]:
            branches.append(Branch(row[above], row[below], here))
        else:
            tops.append(row[below])
    if nameless:
        return None, [offenders("SDC312", "rows without a code", nameless, len(nameless))]
    return grow(branches, total=total, name=name, place=place, tops=tops)


def _columns(rows: TextRows, parent: str | None, child: str | None) -> tuple[int, int]:
    lowered = [h.strip().lower() for h in rows.header]
    above = rows.header.index(parent) if parent is not None else _headed(lowered, PARENT_WORDS)
    below = rows.header.index(child) if child is not None else _headed(lowered, CHILD_WORDS)
    if above is None:
        above = 1 if below == 0 else 0
    if below is None or below == above:
        below = 1 if above == 0 else 0
    return above, below


def _headed(header: list[str], words: set[str]) -> int | None:
    return next((i for i, word in enumerate(header) if word in words), None)
