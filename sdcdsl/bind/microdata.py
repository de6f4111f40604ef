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

Where = Callable[[int, str], Place]  # a row and a column of a file


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
class Records:
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
) -> tuple[Records | None, list[Diagnostic]]:
    """Records of a collected frame that has all `columns`; `where` says in which row of a file a record stands."""
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
    x, problems = _numbers(frame, columns.measure, place, where)
    found += problems
    w, problems = _numbers(frame, columns.weight, place, where)
    found += problems
    if w is not None and (w < 0).any():
        negative = _offending_rows("SDC323", f"column {columns.weight} holds negative weights", w < 0, place)
        found.append(_located(negative, w < 0, frame, columns.weight or "", where))
    if found:
        return None, found
    holding, names = _holdings(frame, columns)
    return Records(cell, x, w, holding, names), []


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
    frame: pl.DataFrame, column: str | None, place: Place | None, where: Where | None
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
    headline = f"column {column} holds something that is not a finite number"
    return None, [_located(_offending_rows("SDC307", headline, ~good, place), ~good, frame, column, where)]


def _located(found: Diagnostic, bad: np.ndarray, frame: pl.DataFrame, column: str, where: Where | None) -> Diagnostic:
    """The same, with the first rows of the file that are meant, where the records know their rows."""
    if where is None or ROW not in frame.columns:
        return found
    first = np.flatnonzero(bad)[:SHOWN]
    rows, words = frame[ROW].gather(first).to_list(), frame[column].cast(pl.String).gather(first).to_list()
    marks = [Mark(where(row, column), f"`{clip(w)}`" if w else "nothing") for row, w in zip(rows, words, strict=True)]
    return replace(found, marks=tuple(marks))


def _offending_rows(code: str, headline: str, bad: np.ndarray, place: Place | None) -> Diagnostic:
    rows = np.flatnonzero(bad)
    rest = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    shown = ", ".join(f"{row + 1:,}" for row in rows[:SHOWN])
    return diagnostic(code, headline, place, notes=[f"records {shown}{rest} (of {len(bad):,}, counted from 1)"])


def _many(n: int, one: str, several: str) -> str:
    return f"{n:,} {one if n == 1 else several}"


def _holdings(frame: pl.DataFrame, columns: Columns) -> tuple[np.ndarray | None, pl.Series | None]:
    """A record without a holding counts under its unit, one without a unit under itself."""
    if columns.group is None and columns.unit is None:
        return None, None
    declared = [frame[column] for column in (columns.group, columns.unit) if column is not None]
    if not declared[0].null_count():
        return first_rows(declared[0]), declared[0]
    holding = np.arange(len(frame))
    names = pl.Series("holding", [f"record {row + 1}" for row in range(len(frame))], dtype=pl.String)
    open_rows = np.ones(len(frame), dtype=bool)
    for series in declared:
        here = open_rows & series.is_not_null().to_numpy()
        rows = np.flatnonzero(here)
        part = series.gather(rows)
        holding[rows] = rows[first_rows(part)]
        names = pl.select(pl.when(pl.Series(here)).then(series.cast(pl.String)).otherwise(names)).to_series()
        open_rows &= ~here
    return holding, names


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


def contributors_among(frame: pl.LazyFrame | pl.DataFrame, column: str, wanted: Sequence[str]) -> set[str]:
    """Which of the wanted contributors the data has."""
    name = pl.col(column).cast(pl.String)
    return set(frame.lazy().filter(name.is_in(wanted)).select(name.unique()).collect()[column].to_list())


def without_contributors(frame: pl.LazyFrame | pl.DataFrame, column: str, left_out: Sequence[str]) -> pl.LazyFrame:
    return frame.lazy().filter(~pl.col(column).cast(pl.String).is_in(left_out).fill_null(False))
