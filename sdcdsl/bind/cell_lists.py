"""Cells listed in a file: `sensitive from csv "…"` and τ-ARGUS a-priori files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.evaluate import View
from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.options import option_values
from sdcdsl.bind.readers.csv_records import read_csv
from sdcdsl.bind.readers.hst import read_hst
from sdcdsl.bind.readers.records import ROW, ColumnSelection
from sdcdsl.bind.readers.wording import offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, Place
from sdcdsl.policy import document as d
from sdcdsl.vocabulary.formats import CELL_LISTS

LEVELS = ("lpl", "upl")


@dataclass(frozen=True, eq=False)
class ListedCells:
    sensitive: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    hidden: np.ndarray
    fixed: np.ndarray


@dataclass(frozen=True)
class _Entry:
    codes: tuple[str, ...]
    status: str | None
    place: Place
    levels: tuple[float, float] | None = None  # below, above


def cells_from_file(
    file: d.FileReference, views: Sequence[View], places: FileLocations, n: int
) -> tuple[ListedCells | None, list[Diagnostic]]:
    path, missing = places.find(file.path, file.path, file.span)
    if path is None:
        return None, missing
    view = next((v for v in views if v.lattice is not None), None)
    if view is None or view.lattice is None:
        return None, []
    names = [dim.name for dim in view.lattice.dimensions]
    if file.format == "hst":
        found_entries, problems = _hst(path, len(names))
    else:
        found_entries, problems = _csv(path, file, names)
    if problems:
        return None, problems
    out = ListedCells(np.zeros(n, bool), np.zeros(n), np.zeros(n), np.zeros(n, bool), np.zeros(n, bool))
    strange: list[_Entry] = []
    for entry in found_entries:
        cell = _cell(view, dict(zip(names, entry.codes, strict=True)))
        if cell is None:
            strange.append(entry)
            continue
        chosen = {"hidden": out.hidden, "protect": out.fixed, "unsafe": out.sensitive}.get(entry.status or "")
        if chosen is not None:
            chosen[cell] = True
        if entry.levels is not None:  # a line of its own in an a-priori file, before or after the status
            out.lower[cell], out.upper[cell] = entry.levels
    if strange:
        marks = [(e.place, ", ".join(e.codes)) for e in strange]
        return None, [offenders("SDC326", "cells that do not exist in the table", marks, len(strange))]
    return out, []


def _cell(view: View, codes: Mapping[str, str]) -> int | None:
    assert view.lattice is not None
    if any(codes[dim.name] not in dim.index for dim in view.lattice.dimensions):
        return None
    return int(view.cells[view.lattice.cell(codes)])


def _hst(path, dimensions: int) -> tuple[Iterator[_Entry], list[Diagnostic]]:
    records, problems = read_hst(path, dimensions=dimensions)
    if records is None or problems:
        return iter(()), problems
    return (_Entry(r.codes, r.status, FilePlace(str(path), line=r.line), r.levels) for r in records), []


def _csv(path, file: d.FileReference, names: list[str]) -> tuple[Iterator[_Entry], list[Diagnostic]]:
    options = option_values(file.options, CELL_LISTS["csv"].options)
    asked = ColumnSelection(codes=names, decimal=options["decimal"])
    records, problems = read_csv(path, asked, delimiter=options["delimiter"])
    if records is None:
        return iter(()), problems
    rows = records.frame.collect()
    return (
        _Entry(tuple(row[name] or "" for name in names), "unsafe", records.place(row[ROW]))
        for row in rows.iter_rows(named=True)
    ), []
