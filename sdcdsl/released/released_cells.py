"""From rows of a file to what is said about every cell of its table.

Two things are decided for the file as a whole:

* A dash is zero if no cell that shows one has another value, as in most offices' keys of signs; else it means hidden.
* The letters of τ-ARGUS, sdcTable and JJ files stand beside the original values, and u, m, x … then say which of them
  are not to be printed. If one of those values is not the original, or something is published about changes, the file
  is an adjusted or rounded table, and the letters only say why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.readers.wording import figure, offenders
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Diagnostic, FilePlace, diagnostic
from sdcdsl.released import status_words as w
from sdcdsl.released.closeness import Closeness
from sdcdsl.released.figures import BLANK, NIL, NUMBER, RANGE, WORD
from sdcdsl.released.rows import ReleasedRows
from sdcdsl.released.statements import Absent, PublishedStatements


@dataclass(frozen=True, eq=False)
class ReleasedCells:
    """What one table says about its cells, or all tables about the cells of the problem."""

    number: np.ndarray  # nan where none is printed
    half: np.ndarray  # half a unit of its last digit, where the true values have more digits
    low: np.ndarray  # of the cell's own interval; nan where it has none
    high: np.ndarray
    changed: np.ndarray  # the release itself says that the figure was changed
    base: np.ndarray  # of this cell; nan where nothing is said
    deviation: np.ndarray

    def take(self, at: np.ndarray) -> ReleasedCells:
        return ReleasedCells(*(getattr(self, name)[at] for name in self.__dataclass_fields__))

    @classmethod
    def nothing(cls, n: int) -> ReleasedCells:
        number, low, high, base, deviation = np.full((5, n), np.nan)
        return cls(number, np.zeros(n), low, high, np.zeros(n, dtype=bool), base, deviation)


def read_cells(
    rows: ReleasedRows,
    table: BoundTable,
    truth: np.ndarray,
    close: Closeness,
    statements: PublishedStatements,
    absent: Absent,
) -> tuple[ReleasedCells | None, list[Diagnostic]]:
    """`truth` and `close` are of the table's own cells."""
    found = _absent_cells(rows, table, truth, close, absent)
    said, wrong = _Reading(rows, table, truth[rows.cell], close.take(rows.cell), statements).read()
    found += wrong
    if said is None or found:
        return None, found
    read = ReleasedCells.nothing(table.size)
    for name in ReleasedCells.__dataclass_fields__:
        getattr(read, name)[rows.cell] = getattr(said, name)
    if absent == "zero":
        missing = np.ones(table.size, dtype=bool)
        missing[rows.cell] = False
        read.number[missing] = 0.0
    return read, []


def _absent_cells(
    rows: ReleasedRows, table: BoundTable, truth: np.ndarray, close: Closeness, absent: Absent
) -> list[Diagnostic]:
    missing = np.ones(table.size, dtype=bool)
    missing[rows.cell] = False
    if absent == "zero":
        missing &= ~close.equal(truth, np.zeros(table.size))
    at = np.flatnonzero(missing)
    if absent == "hidden" or not len(at):
        return []
    which = "whose value is not zero " if absent == "zero" else ""
    headline = f"cells of table `{table.name}` {which}are missing in {rows.name}"
    help = "say what a cell that is left out means: --absent hidden, or --absent zero" if absent == "error" else None
    marks = ((FilePlace(rows.name), table.label(int(c))) for c in at)
    return [offenders("SDC309", headline, marks, len(at), help=help)]


class _Reading:
    """The rows of one file, with the true values of their cells."""

    def __init__(
        self,
        rows: ReleasedRows,
        table: BoundTable,
        truth: np.ndarray,
        close: Closeness,
        statements: PublishedStatements,
    ):
        self.rows, self.table, self.truth, self.close, self.statements = rows, table, truth, close, statements
        self.found: list[Diagnostic] = []
        kind = rows.value.kind
        self.number = np.where(kind == NUMBER, rows.value.number, np.nan)
        self.half = close.printed(rows.value.half)
        self._zeros()
        self.low, self.high = self._interval()
        self.own = ~np.isnan(self.low)
        point = self.own & (self.low == self.high)
        self.half = np.where(point & np.isnan(self.number), self._half_of_point(), self.half)
        self.number = np.where(point & np.isnan(self.number), self.low, self.number)
        self.printed = ~np.isnan(self.number)

    def read(self) -> tuple[ReleasedCells | None, list[Diagnostic]]:
        self._upside_down()
        hidden_by_letter = self._letters()
        self._contradictions()
        if self.found:
            return None, self.found
        number = np.where(hidden_by_letter, np.nan, self.number)
        changed = ~np.isnan(number) & (self.rows.status == w.CHANGED)
        stated = [np.where(f.kind == NUMBER, f.number, np.nan) for f in (self.rows.base, self.rows.deviation)]
        return ReleasedCells(number, self.half, self.low, self.high, changed, *stated), []

    # ---- reading ----------------------------------------------------------------------------------

    def _zeros(self) -> None:
        kind, status = self.rows.value.kind, self.rows.status
        zero = self.close.equal(self.truth, np.zeros(len(self.truth)))
        dash = kind == NIL
        nil = dash if zero[dash].all() else np.zeros(len(kind), dtype=bool)
        nil |= (status == w.TOOL_EMPTY) & np.isin(kind, (BLANK, WORD, NIL)) & zero
        self.number[nil] = 0.0

    def _interval(self) -> tuple[np.ndarray, np.ndarray]:
        """From the columns or the value; an end that misses the truth by less than it prints is moved to the truth."""
        value, ends, halves = self.rows.value, [], []
        for figures, text, half in (
            (self.rows.low, value.low, value.low_half),
            (self.rows.high, value.high, value.high_half),
        ):
            given, said = figures.kind == NUMBER, value.kind == RANGE
            self._say("SDC406", "two intervals for one cell", given & said & (figures.number != text), "value")
            ends.append(np.where(given, figures.number, np.where(said, text, np.nan)))
            halves.append(self.close.printed(np.where(given, figures.half, half)))
        some = ~np.isnan(ends[0]) | ~np.isnan(ends[1])
        low, high = (np.where(some & np.isnan(end), far, end) for end, far in zip(ends, (-np.inf, np.inf), strict=True))
        point = low == high  # one figure, not two ends
        missed = [~point & (np.abs(end - self.truth) <= half) for end, half in zip((low, high), halves, strict=True)]
        return (
            np.where(missed[0], np.minimum(low, self.truth), low),
            np.where(missed[1], np.maximum(high, self.truth), high),
        )

    def _half_of_point(self) -> np.ndarray:
        value = self.rows.value
        return self.close.printed(np.where(value.kind == RANGE, value.low_half, self.rows.low.half))

    def _letters(self) -> np.ndarray:
        by_letter = (self.rows.status == w.TOOL_HIDDEN) & self.printed & ~self.own
        moved = by_letter & ~self.close.equal(self.truth, self.number, self.half)
        adjusted = moved.any() or self.statements.says_something
        return np.zeros(len(by_letter), dtype=bool) if adjusted else by_letter

    # ---- what is wrong ----------------------------------------------------------------------------

    def _upside_down(self) -> None:
        def between(row: int) -> str:
            return f"from {figure(self.low[row])} to {figure(self.high[row])}"

        self._say("SDC404", "intervals upside down", self.low > self.high, "low", between)
        for what, figures in (("base", self.rows.base), ("deviation", self.rows.deviation)):
            below = (figures.kind == NUMBER) & (figures.number < 0)
            self._say("SDC404", f"a {what} below zero", below, what, lambda row, f=figures: figure(f.number[row]))

    def _contradictions(self) -> None:
        status, printed, own = self.rows.status, self.printed, self.own
        wide = own & (self.low < self.high)
        shown = np.isin(status, (w.PUBLISHED, w.TOOL_PUBLISHED))
        nothing = np.isneginf(self.low) & np.isposinf(self.high)
        against = (status == w.HIDDEN) & (printed | (own & ~nothing))
        against |= shown & ((~printed & ~own) | wide)
        against |= (status == w.INTERVAL) & (~own | (printed & wide))
        against |= (status == w.CHANGED) & ~printed
        against |= (status == w.TOOL_EMPTY) & ~printed

        def both(row: int) -> str:
            return f"called {w.SAID[int(status[row])]}, but {self._shown(row)}"

        self._say("SDC406", "statuses that contradict what is printed", against, "status", both)
        tolerance = np.maximum(self.half, 1e-9 * np.abs(self.number))
        outside = printed & wide & ((self.number < self.low - tolerance) | (self.number > self.high + tolerance))
        self._say("SDC406", "figures outside their own interval", outside, "value", self._shown)

    def _shown(self, row: int) -> str:
        parts = [figure(self.number[row])] if self.printed[row] else []
        if self.own[row] and self.low[row] != self.high[row]:
            parts.append(f"{figure(self.low[row])} to {figure(self.high[row])}")
        return f"shows {', '.join(parts)}" if parts else "shows no figure"

    def _say(
        self, code: str, headline: str, where: np.ndarray, what: str, more: Callable[[int], str] | None = None
    ) -> None:
        at = np.flatnonzero(where)
        if not len(at):
            return
        marks = []
        for row in at[:10].tolist():
            label = self.table.label(int(self.rows.cell[row]))
            marks.append((self.rows.place(row, what), f"{label}: {more(row)}" if more is not None else label))
        self.found.append(offenders(code, f"{headline}, in {self.rows.name}", marks, len(at)))


def no_file(table: BoundTable) -> Diagnostic:
    headline = f"there is no released file for table `{table.name}`"
    return diagnostic("SDC309", headline, help="give a file for each table that is protected together")
