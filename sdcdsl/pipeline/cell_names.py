"""Cells by the name people give them: `nace: 20, nuts: XA13`, `turnover(nace: 20, nuts: XA13)`, `cell 17`.

Messages name cells as `turnover: nace = 20, nuts = XA13`; what somebody copies from there is understood, too. A code
with a comma, a parenthesis or a quotation mark in it stands in quotation marks, as in the language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.evaluate import View
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, Source, Span, diagnostic, did_you_mean, listed

_NAME = r'[^\s:=,()"]+'
_WRAPPED = re.compile(rf"\s*(?P<table>{_NAME})?\s*\((?P<inside>.*)\)\s*$", re.S)
_TABLE = re.compile(rf"\s*(?P<table>{_NAME})\s*:(?=\s*{_NAME}\s*=|\s*cell\s+\d)")
_CODE = r'"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^,"]*[^,"\s])'
_PART = re.compile(rf"\s*(?P<name>{_NAME})\s*[:=]\s*(?:{_CODE})\s*(?:,|$)")
_NUMBER = re.compile(r"\s*cell\s+(?P<number>\d+)\s*$")

HOW = '--cell "nace: 20, region: North", --cell "turnover(nace: 20, region: North)" or --cell "cell 17"'


@dataclass(frozen=True)
class Coordinate:
    dimension: str
    code: str
    at_name: Span
    at_code: Span


@dataclass(frozen=True)
class CellName:
    """A cell as somebody wrote it; `cell` is the only dimension of a table whose cells are numbered."""

    source: Source
    coordinates: tuple[Coordinate, ...]
    table: str | None = None
    at_table: Span | None = None

    @property
    def whole(self) -> Span:
        return Span(self.source, 0, len(self.source.text))

    @property
    def codes(self) -> dict[str, str]:
        return {c.dimension: c.code for c in self.coordinates}


def parse_cell(text: str) -> tuple[CellName | None, list[Diagnostic]]:
    source = Source("--cell", text)
    whole = Span(source, 0, len(text))
    table, start, end = None, 0, len(text)
    if wrapped := _WRAPPED.match(text):
        table = wrapped.span("table") if wrapped["table"] else None
        start, end = wrapped.span("inside")
    elif before := _TABLE.match(text):
        table, start = before.span("table"), before.end()
    coordinates: list[Coordinate] = []
    if number := _NUMBER.match(text, start, end):
        place = Span(source, *number.span("number"))
        coordinates.append(Coordinate("cell", number["number"], place, place))
        start = end
    while start < end:
        part = _PART.match(text, start, end)
        if part is None:
            wrong = diagnostic("SDC118", "this does not name a cell", whole, "expected DIMENSION: CODE, …", help=HOW)
            return None, [wrong]
        group = "quoted" if part["quoted"] is not None else "bare"
        code = re.sub(r"\\(.)", r"\1", part[group]) if group == "quoted" else part[group]
        spans = (Span(source, *part.span(g)) for g in ("name", group))
        coordinates.append(Coordinate(part["name"], code, *spans))
        start = part.end()
    if not coordinates:
        return None, [diagnostic("SDC118", "this names no cell", whole, help=HOW)]
    twice = next((c for i, c in enumerate(coordinates) if c.dimension in {o.dimension for o in coordinates[:i]}), None)
    if twice is not None:
        return None, [diagnostic("SDC118", f"`{twice.dimension}` is named twice", twice.at_name)]
    at_table = Span(source, *table) if table is not None else None
    return CellName(source, tuple(coordinates), at_table.text if at_table else None, at_table), []


def find_cells(
    names: Sequence[CellName], problems: Mapping[str, TableProblem]
) -> tuple[dict[str, list[int]], list[Diagnostic]]:
    """The cells of every block that the names stand for, each once, in the order of the names. A name without a table
    stands for a cell in every table that has exactly its dimensions."""
    out: dict[str, list[int]] = {}
    found: list[Diagnostic] = []
    for name in names:
        here = {block: _cells(name, problem) for block, problem in problems.items()}
        if not any(here.values()):
            found.append(_missing(name, [view for p in problems.values() for view in p.views if view.is_table]))
        for block, cells in here.items():
            if cells:
                out[block] = list(dict.fromkeys([*out.get(block, []), *cells]))
    return out, found


def _cells(name: CellName, problem: TableProblem) -> list[int]:
    found: dict[int, None] = {}
    for view in problem.views:
        if name.table not in (None, view.table) or not _fits(name, view):
            continue
        if view.lattice is not None:
            if all(c.code in codes.index for c, codes in _pairs(name, view)):
                found[int(view.cells[view.lattice.cell(name.codes)])] = None
        elif view.numbers is not None and name.codes["cell"].isdecimal():
            found.update((int(view.cells[i]), None) for i in np.flatnonzero(view.numbers == int(name.codes["cell"])))
    return list(found)


def _dimensions(view: View) -> list[str]:
    return [codes.name for codes in view.lattice.dimensions] if view.lattice is not None else ["cell"]


def _fits(name: CellName, view: View) -> bool:
    return view.is_table and set(_dimensions(view)) == set(name.codes)


def _pairs(name: CellName, view: View):
    assert view.lattice is not None
    known = {codes.name: codes for codes in view.lattice.dimensions}
    return [(c, known[c.dimension]) for c in name.coordinates]


# ---- what is wrong with a name ---------------------------------------------------------------------


def _missing(name: CellName, views: Sequence[View]) -> Diagnostic:
    tables = list(dict.fromkeys(view.table for view in views))
    if name.table is not None and name.table not in tables:
        headline, near = f"no table `{name.table}` is protected", did_you_mean(name.table, tables)
        return diagnostic("SDC102", headline, name.at_table, near, notes=[f"the tables: {listed(tables)}"])
    views = [view for view in views if name.table in (None, view.table)]
    dimensions = list(dict.fromkeys(d for view in views for d in _dimensions(view)))
    for c in name.coordinates:
        if c.dimension not in dimensions:
            headline, near = f"no dimension `{c.dimension}`", did_you_mean(c.dimension, dimensions)
            return diagnostic("SDC101", headline, c.at_name, near, notes=[f"the dimensions: {listed(dimensions)}"])
    fitting = [view for view in views if _fits(name, view)]
    if not fitting:
        return _misfit(name, views)
    for view in fitting:
        if view.lattice is None:
            continue
        for c, codes in _pairs(name, view):
            if c.code not in codes.index:
                headline = f"dimension `{c.dimension}` has no code `{c.code}`"
                return diagnostic("SDC116", headline, c.at_code, did_you_mean(c.code, codes.codes))
    return diagnostic("SDC326", "there is no such cell", name.whole)


def _misfit(name: CellName, views: Sequence[View]) -> Diagnostic:
    """The address leaves out a dimension, or joins those of two tables."""
    notes = [f"`{view.table}` has the dimensions {listed(_dimensions(view))}" for view in views]
    for view in views:
        missing = [d for d in _dimensions(view) if d not in name.codes]
        if view.lattice is not None and set(name.codes) < set(_dimensions(view)):
            totals = {codes.name: codes.total for codes in view.lattice.dimensions}
            said = ", ".join([name.source.text.strip(" ()"), *(f"{d}: {totals[d]}" for d in missing)])
            headline = f"a cell of `{view.table}` has a code of {listed(missing)} as well"
            return diagnostic("SDC118", headline, name.whole, notes=notes, help=f'the total of it: --cell "{said}"')
    return diagnostic("SDC118", "no table has exactly these dimensions", name.whole, notes=notes)
