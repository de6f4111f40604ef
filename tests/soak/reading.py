"""The released CSV files as a plain reader understands them; of the program only the numbers of its cells are used."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from sdcdsl.bind.problem import TableProblem
from tests.soak.worlds import Cell, World

NEAR = 1e-9  # of the value: printed digits
TOTAL = "Total"
FIGURES = ("value", "low", "high", "status")
PUBLISHED, HIDDEN, INTERVAL, CHANGED, ADJUSTED, UNSEEN = "published", "hidden", "interval", "changed", "adjusted", ""


@dataclass(eq=False)
class Release:
    """What the files say about every cell of the problem; unions are in no file."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    status: np.ndarray
    complaints: list[str]

    @property
    def adjusted(self) -> bool:
        return bool((self.status == ADJUSTED).any())

    def touched(self, cell: int) -> bool:
        return self.status[cell] != PUBLISHED


def empty_release(n: int) -> Release:
    return Release(np.full(n, np.nan), np.full(n, -inf), np.full(n, inf), np.full(n, UNSEEN, dtype="<U12"), [])


def cells_by_code(problem: TableProblem) -> dict[frozenset[tuple[str, str]], int]:
    """The numbers of the published cells, by their codes without totals. Nothing for tables without dimensions."""
    if any(table.lattice is None for table in problem.tables):
        return {}
    return {_key_of(problem, i): i for i in np.flatnonzero(problem.dataset["published"].values).tolist()}


def codes(problem: TableProblem, cell: int) -> dict[str, str]:
    """By dimension, from a label such as `main: area = aA, kind = Total`."""
    return dict(part.split(" = ", 1) for part in problem.label(cell).rpartition(": ")[2].split(", "))


def _key_of(problem: TableProblem, cell: int) -> frozenset[tuple[str, str]]:
    return frozenset(part for part in codes(problem, cell).items() if part[1] != TOTAL)


def empty_cells(problem: TableProblem, world: World) -> list[int]:
    """Cells to which nobody contributes."""
    at = cells_by_code(problem)
    out = set()
    for name, cells in world.empty.items():
        for cell in cells:
            number = at.get(_key(world, name, cell))
            if number is not None:
                out.add(number)
    return sorted(out)


def _key(world: World, table: str, cell: Cell) -> frozenset[tuple[str, str]]:
    names = [d.name for d in world.tables[table]]
    return frozenset((name, code) for name, code in zip(names, cell, strict=True) if code != TOTAL)


def read(problem: TableProblem, files: dict[str, Path]) -> Release:
    """A figure that is printed twice has to be the same; of two boxes a reader takes what they have in common."""
    out = empty_release(problem.n)
    at = cells_by_code(problem)
    for path in files.values():
        with path.open(newline="", encoding="utf-8") as lines:
            for number, row in enumerate(csv.DictReader(lines)):
                key = frozenset(part for part in row.items() if part[0] not in FIGURES and part[1] != TOTAL)
                _row(out, problem, at[key] if at else number, row)
    shown = problem.dataset["published"].values
    missing = np.flatnonzero(shown & (out.status == UNSEEN))
    out.complaints += [f"{problem.label(i)} is in no file" for i in missing.tolist()]
    a = problem.dataset["a"].values
    room = NEAR * np.maximum(np.abs(a), 1e-6)
    wrong = np.flatnonzero((a < out.low - room) | (a > out.high + room))
    out.complaints += [f"what is said of {problem.label(i)} excludes the truth" for i in wrong.tolist()]
    out.low, out.high = np.minimum(out.low, a), np.maximum(out.high, a)
    return out


def _row(out: Release, problem: TableProblem, cell: int, row: dict[str, str]) -> None:
    a, status = float(problem.dataset["a"].values[cell]), row["status"]
    value = float(row["value"]) if row["value"] else np.nan
    if status == PUBLISHED:
        if not abs(value - a) <= NEAR * max(abs(a), 1e-6):
            out.complaints.append(f"{problem.label(cell)} is {a!r} and published as {value!r}")
        out.low[cell] = out.high[cell] = value = a
    if status == HIDDEN and not np.isnan(value):
        out.complaints.append(f"{problem.label(cell)} is hidden, with a figure beside it")
    if row["low"]:
        out.low[cell] = max(out.low[cell], float(row["low"]))
    if row["high"]:
        out.high[cell] = min(out.high[cell], float(row["high"]))
    if out.status[cell] in (UNSEEN, HIDDEN):
        out.value[cell], out.status[cell] = value, status
