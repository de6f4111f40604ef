"""A table whose cells were made elsewhere: one row a cell, with contributor counts and largest contributions.

Totals that the file does not mention are computed. Leaves that it does not mention are empty (value and count zero)
where its totals show it or the policy says so, and refused otherwise (`absent`). Totals that are given are checked
within `ROUNDING`, relative to the sum of the absolute terms, because such files carry rounded decimals; within that
they are replaced by the sum of their parts, so that the system the solvers see is additive to the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sdcdsl.bind.additivity import check_additivity, failures, fill_totals
from sdcdsl.bind.contributor_checks import contributors_fit
from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.options import option_values
from sdcdsl.bind.ranking import CellContributions, rank
from sdcdsl.bind.readers.records import ROW, Records
from sdcdsl.bind.readers.wording import clip, offenders
from sdcdsl.bind.record_keys import given_keys
from sdcdsl.bind.relations import relations
from sdcdsl.bind.rules.cells import RuleCells
from sdcdsl.bind.sources import Sources, collected
from sdcdsl.bind.table import BoundTable
from sdcdsl.bind.tabulation import roll_sum
from sdcdsl.bind.unlisted_cells import absent_leaves
from sdcdsl.diagnostics import Diagnostic, FilePlace, did_you_mean, has_errors
from sdcdsl.policy import document as d
from sdcdsl.policy.meaning import keyed_noise
from sdcdsl.policy.measure import measure_of
from sdcdsl.vocabulary.formats import StatusOptions, ValueOptions

ROUNDING = 1e-6
LETTERS = {"sensitive": "u", "safe": "s", "fixed": "z", "hidden": "m"}


def from_cells(
    block: d.Block, cells: Lattice, sources: Sources, variables: Sequence[str]
) -> tuple[BoundTable | None, list[Diagnostic]]:
    data = block.the(d.From).data
    records, found = sources.records(data)
    if records is None:
        return None, found
    frame = collected(records)
    place = FilePlace(records.name)
    at, problems = _cells_of(frame, records, cells, [sources.column(data, dim.name) for dim in cells.dimensions])
    found = found + problems
    if at is None:
        return None, found
    row = np.full(cells.size, -1, dtype=np.int64)
    row[at] = np.arange(len(at))

    def spread(column: str, empty: float) -> np.ndarray:
        figures = frame[sources.column(data, column)].to_numpy().astype(float)
        return np.where(row >= 0, figures[row], empty)

    columns = {s.quantity: s.column for s in block.all(d.ColumnOf) if s.rank is None}
    a, found_totals, computed, rounded = _additive(spread(columns["value"], np.nan), row, cells, place)
    found = found + found_totals
    if a is None:
        return None, found
    counts = [s.column for s in block.all(d.Count) if s.column]
    declared = {c: spread(c, np.nan) for c in counts}
    absent = option_values(_value_of(block).options, ValueOptions)["absent"]
    if absent == "refused":
        number = declared[counts[0]] if counts else None
        found = found + absent_leaves(row, spread(columns["value"], np.nan), number, cells, place)
    quantities = {name: _rolled(spread(name, np.nan), row, cells) for name in variables}
    for quantity, column in (
        *[("count", c) for c in counts],
        *([("weight", columns["weight"])] if "weight" in columns else []),
    ):
        quantities[quantity] = _rolled(spread(column, np.nan), row, cells)
    ranked = {column: spread(column, np.nan) for column in _ranked(block)}
    found = found + _unsaid(records, frame, row, cells, a, declared)
    found = found + _unsaid(records, frame, row, cells, a, ranked, ranked=True)
    found = found + contributors_fit(spread(columns["value"], np.nan), declared, ranked, row, frame, records, cells)
    if has_errors(found):
        return None, found
    largest = _largest(list(ranked.values()), row, cells)
    judged = RuleCells(
        value=a,
        count=quantities.get("count", np.zeros(cells.size)),
        nonzero=quantities.get("count", np.zeros(cells.size)),
        absolute=np.abs(a),
        largest=largest,
        frequency=columns["value"] in counts,
    )
    status, wrong = _status(block, frame, records, row)
    key = sources.declared(data, "key")
    keys = None if key is None or not any(keyed_noise(sources.policy, block.name)) else spread(key, np.nan)
    if keys is not None:
        keys, problems = given_keys(keys, a, cells, place)
        wrong = [*wrong, *problems]
    table = BoundTable(
        name=block.name,
        measure=measure_of(block),
        place=place,
        relations=relations(cells),
        value=a,
        lattice=cells,
        quantities=quantities,
        judged=judged,
        known_largest=largest.shape[1],
        status=status,
        cell_keys=keys,
        integer=bool(block.all(d.Integer)),
        whole=bool(block.all(d.Integer)),
        computed=computed,
        empty=int(((row < 0) & cells.is_leaf).sum()),
        rounded=rounded,
    )
    return table, found + wrong


def _cells_of(
    frame: pl.DataFrame, records: Records, cells: Lattice, columns: Sequence[str]
) -> tuple[np.ndarray | None, list[Diagnostic]]:
    """The lattice cell of every row; unknown codes and repeated cells are named with their rows."""
    at = np.zeros(len(frame), dtype=np.int64)
    found: list[Diagnostic] = []
    for position, (column, dimension) in enumerate(zip(columns, cells.dimensions, strict=True)):
        coded = frame[column].cast(pl.Enum(dimension.codes), strict=False).to_physical()
        unknown = frame.filter(coded.is_null())
        if len(unknown):
            rows, words = unknown[ROW].to_list(), unknown[column].to_list()
            marks = [
                (records.place(r, column), f"`{clip(w)}`" if w is not None else "no code")
                for r, w in zip(rows[:10], words[:10], strict=True)
            ]
            near = did_you_mean(words[0] or "", dimension.codes)
            headline = f"codes that dimension `{dimension.name}` does not have"
            found.append(offenders("SDC304", headline, marks, len(rows), help=near or None))
        else:
            at += coded.to_numpy().astype(np.int64) * cells.stride[position]
    if found:
        return None, found
    _, first, counts = np.unique(at, return_index=True, return_counts=True)
    if (counts > 1).any():
        again = np.setdiff1d(np.arange(len(at)), first)
        marks = [(records.place(int(frame[ROW][int(i)])), cells.label(int(at[i]))) for i in again[:10]]
        return None, [offenders("SDC305", "cells that appear twice", marks, len(again))]
    return at, []


def _additive(
    given: np.ndarray, row: np.ndarray, cells: Lattice, place: FilePlace
) -> tuple[np.ndarray | None, list[Diagnostic], int, int]:
    made = relations(cells)
    a = np.where((row < 0) & cells.is_leaf, 0.0, given)
    filled, missing = fill_totals(a, made, cells.label, place=place)
    if missing:
        return None, missing, 0, 0
    wrong = check_additivity(filled.a, made, cells.label, tolerance=ROUNDING, place=place)
    if wrong:
        return None, wrong, 0, 0
    off = failures(filled.a, made)
    if not len(off.equation):
        return filled.a, [], int(filled.filled.sum()), 0
    summed = roll_sum(cells, np.where(cells.is_leaf, filled.a, 0.0))
    return summed, [], int(filled.filled.sum()), len(np.unique(off.total_cell))


def _rolled(given: np.ndarray, row: np.ndarray, cells: Lattice) -> np.ndarray:
    """Counts: as given, empty leaves zero, missing totals added up."""
    leaves = np.where(cells.is_leaf, np.nan_to_num(given), 0.0)
    return np.where(np.isnan(given), roll_sum(cells, leaves, signed=False), given)


def _value_of(block: d.Block) -> d.ColumnOf:
    return next(s for s in block.all(d.ColumnOf) if s.quantity == "value")


def _ranked(block: d.Block) -> list[str]:
    """The columns of the largest contributions, from the first on without a gap."""
    ranked = {s.rank: s.column for s in block.all(d.ColumnOf) if s.quantity == "largest"}
    return [ranked[k] for k in range(1, len(ranked) + 1) if all(j in ranked for j in range(1, k))]


def _largest(given: list[np.ndarray], row: np.ndarray, cells: Lattice) -> np.ndarray:
    """As given; where the file leaves a total out, those of its leaves, as if nobody contributed to two of them."""
    k = len(given)
    if not k:
        return np.zeros((cells.size, 0))
    known = np.abs(np.nan_to_num(np.stack(given, axis=1)))
    if (row >= 0).all():
        return known
    leaf = np.flatnonzero(cells.is_leaf)
    amount = known[leaf].ravel()
    parts = CellContributions(np.repeat(leaf, k), np.arange(len(amount), dtype=np.int32), amount, amount)
    merged = np.maximum(rank(cells, parts, parts.take(np.zeros(0, dtype=np.int64)), k).largest.T, 0.0)
    return np.where((row >= 0)[:, None], known, merged)


def _unsaid(
    records: Records,
    frame: pl.DataFrame,
    row: np.ndarray,
    cells: Lattice,
    a: np.ndarray,
    columns: Mapping[str, np.ndarray],
    ranked: bool = False,
) -> list[Diagnostic]:
    """Cells of the file without a number of contributors, or without a contribution that must be there."""
    rest, out = np.abs(a), []
    for column, given in columns.items():
        needed = rest > ROUNDING * np.abs(a) if ranked else np.ones(len(a), dtype=bool)
        bad = np.flatnonzero((row >= 0) & np.isnan(given) & needed)
        if len(bad):
            rows = frame[ROW].gather(row[bad[:10]]).to_list()
            marks = [(records.place(r, column), cells.label(int(c))) for r, c in zip(rows, bad[:10], strict=False)]
            headline = f"cells for which column `{clip(column)}` says nothing"
            out.append(offenders("SDC309", headline, marks, len(bad)))
        rest = rest - np.abs(np.nan_to_num(given))
    return out


def _status(
    block: d.Block, frame: pl.DataFrame, records: Records, row: np.ndarray
) -> tuple[np.ndarray | None, list[Diagnostic]]:
    statement = next((s for s in block.all(d.ColumnOf) if s.quantity == "status"), None)
    if statement is None:
        return None, []
    words = option_values(statement.options, StatusOptions)
    letters = {word: LETTERS[kind] for kind, listed in words.items() for word in (listed or ())}
    letters = letters or {letter: letter for letter in LETTERS.values()}
    said = frame[statement.column].to_list()
    strange = [i for i, word in enumerate(said) if word is not None and word not in letters]
    if strange:
        rows = frame[ROW].to_list()
        marks = [(records.place(rows[i], statement.column), f"`{clip(said[i])}`") for i in strange[:10]]
        help = "status COLUMN { sensitive …; safe … } says what the entries mean"
        return None, [offenders("SDC322", "cell statuses that are not declared", marks, len(strange), help=help)]
    coded = np.array([letters.get(word, "") for word in said] + [""])
    return coded[row], []
