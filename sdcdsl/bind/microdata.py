"""Records as numbers: codes become leaf cells, holdings row numbers; what does not fit is diagnosed, never dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.naming import SHOWN
from sdcdsl.bind.readers.records import ROW
from sdcdsl.bind.readers.wording import clip
from sdcdsl.diagnostics import Diagnostic, Mark, Place, diagnostic, did_you_mean, listed
from sdcdsl.diagnostics.confidential import secret

Where = Callable[[int, str], Place]  # a row and a column of a file
POSITION = "position of a record"  # from 0, of those a table is made from; only in frames that hold some of them


@dataclass(frozen=True)
class Columns:
    """Where a frame holds what. Without a measure every record counts as one."""

    dimensions: tuple[str, ...]
    measure: str | None = None
    unit: str | None = None
    group: str | None = None
    weight: str | None = None

    @property
    def all(self) -> list[str]:
        optional = (self.measure, self.unit, self.group, self.weight)
        return list(dict.fromkeys([*self.dimensions, *(name for name in optional if name is not None)]))


@dataclass(frozen=True, eq=False)
class EncodedRecords:
    """One entry a record. A holding is numbered by the row of its first record, so its name is `names[number]`."""

    cell: np.ndarray  # int64
    x: np.ndarray | None  # float64; None: every record counts as one
    w: np.ndarray | None  # float64; None: no weights
    holding: np.ndarray | None  # int64 row numbers; None: every record is a contributor of its own
    names: pl.Series | None

    def __len__(self) -> int:
        return len(self.cell)


def encode(
    frame: pl.DataFrame,
    lattice: Lattice,
    columns: Columns,
    place: Place | None = None,
    where: Where | None = None,
    every: int | None = None,
) -> tuple[EncodedRecords | None, list[Diagnostic]]:
    """Records of a collected frame that has all `columns`; `where` says in which row of a file a record stands.

    A frame with a column POSITION holds some of `every` record, those with faults.
    """
    every = len(frame) if every is None else every
    cell = np.zeros(len(frame), dtype=np.int64)
    found: list[Diagnostic] = []
    coded = frame.select(  # all columns at once: polars takes one thread for each
        pl.col(column).cast(pl.String).cast(pl.Enum(dimension.codes), strict=False).to_physical().alias(dimension.name)
        for column, dimension in zip(columns.dimensions, lattice.dimensions, strict=True)
    )
    for d, column in enumerate(columns.dimensions):
        codes, problems = _codes(frame[column], coded.to_series(d), lattice, d, place)
        found += [_located(p, bad, frame, column, where) for p, bad in problems]
        if codes is not None:
            # Through a table of multiples: wide integers are made once.
            cell += (np.arange(lattice.shape[d]) * lattice.stride[d])[codes]
    x, problems = _numbers(frame, columns.measure, place, where, every)
    found += problems
    w, problems = _numbers(frame, columns.weight, place, where, every)
    found += problems
    if w is not None and (w < 0).any():
        headline = f"column {columns.weight} holds negative weights"
        negative = _offending_rows("SDC323", headline, frame, w < 0, place, every)
        found.append(_located(negative, w < 0, frame, columns.weight or "", where))
    if found:
        return None, found
    holding, names = _holdings(frame, columns)
    return EncodedRecords(cell, x, w, holding, names), []


def _codes(
    series: pl.Series, coded: pl.Series, lattice: Lattice, d: int, place: Place | None
) -> tuple[np.ndarray | None, list[tuple[Diagnostic, np.ndarray]]]:
    """The codes of a column by number, if they are all leaves of the dimension; or what is wrong with which records."""
    dimension, composition = lattice.dimensions[d], lattice.compositions[d]
    leaf = composition.is_leaf
    if coded.null_count() == 0:
        codes = coded.to_numpy()
        if leaf.all() or leaf[codes].all():
            return codes, []
    known = pl.Series(np.append(leaf, False)).gather(coded.fill_null(len(leaf)).cast(pl.UInt32))
    text = series.cast(pl.String)
    odd = text.filter(~known).to_frame("code").group_by("code", maintain_order=True).len()
    missing, inner = series.is_null().to_numpy(), coded.is_not_null().to_numpy()
    kinds = {"missing": missing, "total": inner & ~known.to_numpy(), "unknown": ~missing & ~inner}
    said = _unknown_codes(dimension.name, odd, set(dimension.codes), dimension.codes, place)
    return None, [(problem, kinds[kind]) for kind, problem in said.items()]


def _unknown_codes(
    name: str, odd: pl.DataFrame, totals: set[str], codes: Sequence[str], place: Place | None
) -> dict[str, Diagnostic]:
    """One diagnostic a kind of mistake: unknown, missing, a total where a leaf belongs."""
    found = {}
    kinds: dict[str, list[tuple[str, int]]] = {"unknown": [], "total": [], "missing": []}
    for code, records in odd.iter_rows():
        kind = "missing" if code is None else "total" if code in totals else "unknown"
        kinds[kind].append((code or "", records))
    if kinds["missing"]:
        records = sum(n for _, n in kinds["missing"])
        headline = f"{_many(records, 'record has', 'records have')} no code of dimension {name}"
        found["missing"] = diagnostic("SDC304", headline, place)
    says = {
        "unknown": ("the dimension does not have", None),
        "total": (
            "sums up others; records carry the finest codes",
            "give each record its finest code, or tabulate elsewhere and bind cells",
        ),
    }
    for kind, (reason, advice) in says.items():
        if offenders := kinds[kind]:
            records = sum(n for _, n in offenders)
            shown = listed([code for code, _ in offenders], most=SHOWN)
            noun = "code" if len(offenders) == 1 else "codes"
            headline = f"{noun} of dimension {name} that {reason}: {shown}"
            near = did_you_mean(offenders[0][0], codes) if kind == "unknown" else ""
            notes = [f"{_many(len(offenders), 'code', 'codes')} on {_many(records, 'record', 'records')}"]
            found[kind] = diagnostic("SDC304", headline, place, near, notes=notes, help=advice or near or None)
    return found


def _numbers(
    frame: pl.DataFrame, column: str | None, place: Place | None, where: Where | None, every: int
) -> tuple[np.ndarray | None, list[Diagnostic]]:
    if column is None:
        return None, []
    series = frame[column]
    if not series.dtype.is_numeric():
        return None, [diagnostic("SDC306", f"column {column} holds {series.dtype}, not numbers", place)]
    numbers = series.cast(pl.Float64).to_numpy()  # null becomes NaN
    good = np.isfinite(numbers)
    if good.all():
        return numbers, []
    empty = series.is_null().to_numpy()
    headline = f"column {column} holds something that is not a finite number"
    if (good | empty).all():
        headline = f"column {column} is empty where a number belongs"
    bad = _offending_rows("SDC307", headline, frame, ~good, place, every)
    return None, [_located(bad, ~good, frame, column, where)]


def _located(found: Diagnostic, bad: np.ndarray, frame: pl.DataFrame, column: str, where: Where | None) -> Diagnostic:
    """The same, with the first rows of the file that are meant, where the records know their rows."""
    quote = secret if found.code != "SDC304" else str  # codes may be named, figures not
    if where is None or ROW not in frame.columns:
        return found
    rows = np.flatnonzero(bad)
    if found.code == "SDC304":  # the first row of every code: ten rows with the same one tell no more than one
        codes = frame[column].cast(pl.String).gather(rows)
        rows = rows[(codes.is_first_distinct() | codes.is_null()).to_numpy()]
    first = rows[:SHOWN]
    rows, words = frame[ROW].gather(first).to_list(), frame[column].cast(pl.String).gather(first).to_list()
    marks = [
        Mark(where(row, column), quote(f"`{clip(w)}`") if w else "the field is empty")
        for row, w in zip(rows, words, strict=True)
    ]
    if found.code == "SDC304":
        return replace(found, marks=tuple(marks))
    # Rows are counted as the file has them, and records not once more.
    rest = int(bad.sum()) - len(marks)
    return replace(found, marks=tuple(marks), notes=(f"and {rest:,} more",) if rest else ())


def _offending_rows(
    code: str, headline: str, frame: pl.DataFrame, bad: np.ndarray, place: Place | None, every: int
) -> Diagnostic:
    rows = np.flatnonzero(bad)
    rest = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    first = frame[POSITION].to_numpy()[rows[:SHOWN]] if POSITION in frame.columns else rows[:SHOWN]
    shown = ", ".join(f"{int(row) + 1:,}" for row in first)
    return diagnostic(code, headline, place, notes=[f"records {shown}{rest} (of {every:,}, counted from 1)"])


def _many(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"


def _holdings(frame: pl.DataFrame, columns: Columns) -> tuple[np.ndarray | None, pl.Series | None]:
    holding, declared = holding_rows(frame, columns), _declared(frame, columns)
    if holding is None:
        return None, None
    if not declared[0].null_count():
        return holding, declared[0]
    records = pl.Series("holding", [f"record {row + 1}" for row in range(len(frame))], dtype=pl.String)
    return holding, pl.select(pl.coalesce([*(series.cast(pl.String) for series in declared), records])).to_series()


def _declared(frame: pl.DataFrame, columns: Columns) -> list[pl.Series]:
    return [frame[column] for column in (columns.group, columns.unit) if column is not None]


def holding_rows(frame: pl.DataFrame, columns: Columns) -> np.ndarray | None:
    """The row of the first record of each record's holding; None: every record is a contributor of its own.

    A record without a holding counts under its unit, one without a unit under itself.
    """
    declared = _declared(frame, columns)
    if not declared:
        return None
    if not declared[0].null_count():
        return first_rows(declared[0])
    holding = np.arange(len(frame))
    open_rows = np.ones(len(frame), dtype=bool)
    for series in declared:
        here = open_rows & series.is_not_null().to_numpy()
        rows = np.flatnonzero(here)
        holding[rows] = rows[first_rows(series.gather(rows))]
        open_rows &= ~here
    return holding


def first_rows(series: pl.Series) -> np.ndarray:
    """For each value of a series without nulls, the row where it first appears."""
    n = len(series)
    if series.dtype.is_integer() and n:
        low, high = int(series.min()), int(series.max())  # type: ignore[arg-type]
        if high - low <= 4 * n + 1000:
            offset = series.to_numpy().astype(np.int64) - low
            first = np.empty(high - low + 1, dtype=np.int64)
            first[offset[::-1]] = np.arange(n)[::-1]  # the last write wins, so the first row does
            return first[offset]
    rows = pl.DataFrame({"value": series}).with_row_index("row").select(pl.col("row").min().over("value"))
    return rows["row"].to_numpy().astype(np.int64)


def contributors_among(frame: pl.LazyFrame | pl.DataFrame, column: str, among: Sequence[str]) -> set[str]:
    """Which of the wanted contributors the data has."""
    name = pl.col(column).cast(pl.String)
    return set(frame.lazy().filter(name.is_in(among)).select(name.unique()).collect()[column].to_list())


def without_contributors(frame: pl.LazyFrame | pl.DataFrame, column: str, left_out: Sequence[str]) -> pl.LazyFrame:
    return frame.lazy().filter(~pl.col(column).cast(pl.String).is_in(left_out).fill_null(False))
