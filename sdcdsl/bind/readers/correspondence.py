"""Correspondence tables: a CSV with a column for each level, from coarse to fine, and a row for each finest code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.readers.csv_text import TextRows, read_rows
from sdcdsl.bind.readers.tree_building import Branch, grow
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source


def read_correspondence(
    source: Path | Source,
    *,
    total: str | None = None,
    columns: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    name: str = "",
) -> tuple[CodeTree | None, list[Diagnostic]]:
    """The tree below `total`, of all columns or of the chosen ones in the order given.

    A code repeated in the next column is one node (a group with a single member of its own name); empty fields at the
    end of a row mean that the code goes no deeper. Without a total the first column must hold a single code.
    """
    rows, problems = read_rows(source, columns, delimiter=delimiter, encoding=encoding)
    if rows is None:
        return None, problems
    at = [rows.header.index(c) for c in columns] or list(range(len(rows.header)))
    gaps = [
        (FilePlace(rows.name, line=line), "a finer code without a coarser one")
        for line, row in rows.records
        if _path(row, at) is None
    ]
    if gaps:
        return None, [offenders("SDC312", "rows with a gap between their levels", gaps, len(gaps))]
    coarsest = dict.fromkeys(row[at[0]] for _, row in rows.records)
    below = None if list(coarsest) == [total] else total  # the first column may be the total itself
    tops = coarsest if below is None else ()
    return grow(_branches(rows, at, below), total=total, name=name, place=FilePlace(rows.name), tops=tops)


def _path(row: list[str], at: Sequence[int]) -> list[str] | None:
    codes = [row[i] for i in at]
    while codes and not codes[-1]:
        codes.pop()
    return codes if all(codes) and codes else None


def _branches(rows: TextRows, at: Sequence[int], total: str | None) -> Iterator[Branch]:
    seen: set[tuple[str, str]] = set()
    for line, row in rows.records:
        above = total
        for level, code in enumerate(_path(row, at) or []):
            if above is not None and (above, code) not in seen:
                seen.add((above, code))
                yield Branch(above, code, FilePlace(rows.name, clip(rows.header[at[level]]), line=line))
            above = code
