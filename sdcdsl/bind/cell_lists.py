"""Cells listed in a file: `sensitive from csv "…"` and τ-ARGUS a-priori files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.evaluate import View
from sdcdsl.bind.file_locations import FileLocations
from sdcdsl.bind.options import option_values
from sdcdsl.bind.readers.wording import offenders
from sdcdsl.bind.reading import read_by
from sdcdsl.diagnostics import Diagnostic, Place
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
class CellEntry:
    """What a line of a file says of a cell: `unsafe`, `hidden`, `protect` (published as it is), or its levels."""

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
    options = option_values(file.options, CELL_LISTS[file.format].options)
    found_entries, problems = read_by(CELL_LISTS, file.format, list, file.span, path, names, options)
    if problems or found_entries is None:
        return None, problems
    out = ListedCells(np.zeros(n, bool), np.zeros(n), np.zeros(n), np.zeros(n, bool), np.zeros(n, bool))
    strange: list[CellEntry] = []
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
