"""JJ files, the exchange format of τ-ARGUS and CSPLIB.

    0
    n
    index value weight status lower upper LPL UPL SPL      (n times)
    m
    rhs k : index ( coefficient ) …                        (m times)

The whole text is split and turned into numbers at once; where a word stands says what it must be. Line numbers are only
worked out when there is something to complain about.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sdcdsl.bind.readers.jj_checks import check_cells, check_relations
from sdcdsl.bind.readers.jj_layout import (
    CELL_FIELDS,
    Tokens,
    broken_relations,
    ends_early,
    first_broken_cell,
    whole_number,
)
from sdcdsl.bind.readers.text_files import open_text
from sdcdsl.diagnostics import Diagnostic, FilePlace, Source, diagnostic, has_errors

# Solvers take 1e20 for infinity and files write it so, since most readers of JJ know no word for it.
INFINITE_FROM = 1e20
INFINITY_WRITTEN = "1e30"


@dataclass(frozen=True, eq=False)
class JJTable:
    """Cells in file order under their own numbers; `cell_of` and `equation_of` count positions from 0."""

    index: np.ndarray  # int64: the file's cell numbers
    a: np.ndarray
    weight: np.ndarray
    status: np.ndarray  # u sensitive · s may be touched · z must be published as it is · m already hidden
    low: np.ndarray  # -inf where open
    high: np.ndarray  # inf where open
    lpl: np.ndarray
    upl: np.ndarray
    spl: np.ndarray
    coefficient: np.ndarray  # the relations: sum of coefficient * a over an equation's entries = rhs
    cell_of: np.ndarray
    equation_of: np.ndarray
    rhs: np.ndarray


def read_jj(source: Path | Source) -> tuple[JJTable | None, list[Diagnostic]]:
    opened, problems = open_text(source)
    if opened is None:
        return None, problems
    if not opened.text or opened.text.isspace():
        return None, [diagnostic("SDC308", f"{opened.name} is empty", FilePlace(opened.name))]
    # τ-ARGUS writes `7 (-1)`, others `7 ( -1 )`; the first parenthesis tells, and if a later one is written
    # otherwise the second attempt reads it.
    text = opened.text
    if " ( " in text[: text.find("(") + 2]:
        table, problems = _read(opened.name, text)
        if table is not None:
            return table, problems
    for sign in "():":
        text = text.replace(sign, f" {sign} ")
    return _read(opened.name, text)


def _read(name: str, text: str) -> tuple[JJTable | None, list[Diagnostic]]:
    tokens = Tokens.of(name, text)
    cells, problems = _cells(tokens)
    if cells is None:
        return None, problems
    relations, problems = _relations(tokens, len(cells["index"]), cells["index"])
    if relations is None:
        return None, problems
    table = JJTable(**cells, **relations)
    problems = check_relations(table, tokens)
    return (None if has_errors(problems) else table), problems


def _cells(tokens: Tokens) -> tuple[dict[str, np.ndarray] | None, list[Diagnostic]]:
    if tokens.series[0] != "0":
        return None, [tokens.malformed(0, "a JJ file starts with a line `0`")]
    n = whole_number(tokens.numbers, 1)
    if n is None or n < 1:
        return None, [tokens.malformed(1, "the second line must be the number of cells")]
    end = 2 + CELL_FIELDS * n
    if end >= len(tokens.numbers):
        return None, [first_broken_cell(tokens, n) or ends_early(tokens, n)]
    block = tokens.numbers[2:end].reshape(n, CELL_FIELDS)
    letters = tokens.series.slice(5, end - 5).gather_every(CELL_FIELDS).str.to_lowercase().to_list()
    columns = block.T.copy()
    columns[3] = 0
    # A line with a field too few or too many shifts all that follows: letters land among the numbers.
    aligned = not np.isnan(columns).any() and all(map(str.isalpha, set(letters)))
    if not aligned and (d := first_broken_cell(tokens, n)) is not None:
        return None, [d]
    problems = check_cells(tokens, columns, letters)
    if has_errors(problems):
        return None, problems
    low, high = columns[4], columns[5]
    low[low <= -INFINITE_FROM] = -np.inf
    high[high >= INFINITE_FROM] = np.inf
    return {
        "index": columns[0].astype(np.int64),
        "a": columns[1],
        "weight": columns[2],
        "status": np.array(letters, dtype="U1"),
        "low": low,
        "high": high,
        "lpl": columns[6],
        "upl": columns[7],
        "spl": columns[8],
    }, problems


def _relations(tokens: Tokens, n: int, index: np.ndarray) -> tuple[dict[str, np.ndarray] | None, list[Diagnostic]]:
    base = 2 + CELL_FIELDS * n
    m = whole_number(tokens.numbers, base)
    if m is None or m < 0:
        return None, [tokens.malformed(base, f"after the {n} cells comes the number of relations")]
    signs = tokens.series.slice(base + 1)
    colon = np.flatnonzero((signs == ":").to_numpy()) + base + 1
    size = tokens.numbers[colon - 1] if len(colon) else np.zeros(0)
    if len(colon) != m or not (_whole(size) & (size >= 0) & (size < len(tokens.numbers))).all():
        return None, [broken_relations(tokens, n, m)]
    size = size.astype(np.int64)
    after = colon + 1 + 4 * size  # where the next relation must start
    starts = np.concatenate([[base + 1], after])
    if not np.array_equal(np.append(colon - 2, len(tokens.numbers)), starts):
        return None, [broken_relations(tokens, n, m)]
    equation_of = np.repeat(np.arange(m), size)
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    entry = np.repeat(colon + 1, size) + 4 * within
    opening, closing = (signs == "(").to_numpy(), (signs == ")").to_numpy()
    shift = base + 1
    rhs, cells, coefficient = (tokens.numbers[at] for at in (colon - 2, entry, entry + 2))
    in_form = opening[entry + 1 - shift] & closing[entry + 3 - shift] & np.isfinite(coefficient) & _whole(cells)
    if not (in_form.all() and np.isfinite(rhs).all()):
        return None, [broken_relations(tokens, n, m)]
    cell_of, known = _positions(index, cells.astype(np.int64))
    if not known.all():
        return None, [tokens.unknown_cells(entry[~known], equation_of[~known])]
    return {
        "coefficient": coefficient,
        "cell_of": cell_of.astype(np.int32),
        "equation_of": equation_of.astype(np.int32),
        "rhs": rhs,
    }, []


def _whole(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (values % 1 == 0) & (np.abs(values) < 2**53)


def _positions(index: np.ndarray, sought: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each wanted cell number stands in the file, and whether it does."""
    if len(sought) and index[-1] - index[0] == len(index) - 1 and (np.diff(index) == 1).all():
        found = sought - index[0]  # numbered in sequence, as nearly every file is
        known = (found >= 0) & (found < len(index))
        return found, known
    order = np.argsort(index, kind="stable")
    at = np.minimum(np.searchsorted(index, sought, sorter=order), len(index) - 1)
    found = order[at]
    return found, index[found] == sought


def jj_text(table: JJTable) -> str:
    """The table as a JJ file: integers as integers, other numbers with the fewest digits that read back the same."""
    columns = [
        table.index.tolist(),
        *(map(_number, column.tolist()) for column in (table.a, table.weight)),
        table.status.tolist(),
        *(map(_number, c.tolist()) for c in (table.low, table.high, table.lpl, table.upl, table.spl)),
    ]
    out = ["0", str(len(table.index))]
    out += [" ".join(map(str, row)) for row in zip(*columns, strict=True)]
    out.append(str(len(table.rhs)))
    entries: list[list[str]] = [[] for _ in range(len(table.rhs))]
    cells = table.index[table.cell_of].tolist()
    for equation, cell, coefficient in zip(table.equation_of.tolist(), cells, table.coefficient.tolist(), strict=True):
        entries[equation].append(f"{cell} ( {_number(coefficient)} )")
    out += [
        " ".join([f"{_number(rhs)} {len(row)} :", *row]) for rhs, row in zip(table.rhs.tolist(), entries, strict=True)
    ]
    return "\n".join(out) + "\n"


def _number(value: float) -> str:
    if value in (np.inf, -np.inf):
        return INFINITY_WRITTEN if value > 0 else f"-{INFINITY_WRITTEN}"
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)
