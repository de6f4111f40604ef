"""What a well-formed JJ file may still get wrong: its numbers, its statuses, its sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sdcdsl.bind.readers.jj_layout import CELL_FIELDS, Tokens
from sdcdsl.bind.readers.wording import clip, figure, offenders
from sdcdsl.diagnostics import Diagnostic, FilePlace, Place, listed
from sdcdsl.diagnostics.confidential import secret, secret_figure

if TYPE_CHECKING:
    from sdcdsl.bind.readers.jj import JJTable

FIELDS = ("index", "value", "weight", "status", "lower", "upper", "LPL", "UPL", "SPL")
STATUSES = frozenset("uszm")

# A relation may miss its right-hand side by this part of the sum of its absolute terms: values printed with seven
# significant digits stay within it, a wrong digit in any of them does not.
ADDITIVE_WITHIN = 1e-6


def check_cells(tokens: Tokens, columns: np.ndarray, letters: list[str]) -> list[Diagnostic]:
    """`columns[k]` holds field k of every cell; infinite bounds are fine, other infinities are not."""
    finite = np.isfinite(columns)
    if not finite.all():
        finite[4:6] |= np.isinf(columns[4:6])
        if not finite.all():
            return _not_numbers(tokens, np.argwhere(~finite.T))
    problems: list[Diagnostic] = []

    def complain(code: str, headline: str, where: ArrayLike, column: int, say: Callable[[int], str]) -> None:
        rows = np.flatnonzero(where).tolist()
        if rows:
            found = ((_place(tokens, row, column), say(row)) for row in rows)
            problems.append(offenders(code, headline, found, len(rows)))

    def word(row: int, column: int) -> str:
        return clip(tokens.words[2 + CELL_FIELDS * row + column])

    index, low, high = columns[0], columns[4], columns[5]
    complain(
        "SDC313",
        "cell numbers must be whole numbers",
        (index % 1 != 0) | (np.abs(index) >= 2**53),
        0,
        lambda row: f"found `{word(row, 0)}`",
    )
    if not STATUSES.issuperset(set(letters)):
        unknown = np.array([letter not in STATUSES for letter in letters])
        complain(
            "SDC322",
            "a cell's status must be u, s, z or m",
            unknown,
            3,
            lambda row: f"found `{word(row, 3)}`",
        )
    if not (np.diff(index) > 0).all():
        order = np.argsort(index, kind="stable")
        again = np.zeros(len(index), dtype=bool)
        again[order[1:]] = index[order[1:]] == index[order[:-1]]
        complain("SDC305", "cells appear twice", again, 0, lambda row: f"cell {word(row, 0)} stands above already")
    complain(
        "SDC313",
        "bounds upside down",
        low > high,
        4,
        lambda row: f"cell {word(row, 0)} lies between {word(row, 4)} and {word(row, 5)}",
    )
    complain(
        "SDC313",
        "levels below zero",
        (columns[6:] < 0).any(axis=0),
        6,
        lambda row: f"cell {word(row, 0)} requires {word(row, 6)}, {word(row, 7)}, {word(row, 8)}",
    )
    return problems


def _place(tokens: Tokens, row: int, column: int) -> FilePlace:
    return tokens.place(2 + CELL_FIELDS * row + column, FIELDS[column])


def _not_numbers(tokens: Tokens, at: np.ndarray) -> list[Diagnostic]:
    text: list[tuple[int, int]] = []
    not_finite: list[tuple[int, int]] = []
    for row, column in at.tolist():
        word = tokens.words[2 + CELL_FIELDS * row + column]
        (not_finite if word.lstrip("+-").lower().startswith(("nan", "inf")) or word[-1].isdigit() else text).append(
            (row, column)
        )
    problems = []
    for code, headline, where in (
        ("SDC306", "text where a number belongs", text),
        ("SDC307", "numbers that are not finite", not_finite),
    ):
        if where:
            found = (
                (
                    _place(tokens, row, column),
                    f"found `{secret_figure(clip(tokens.words[2 + CELL_FIELDS * row + column]))}`",
                )
                for row, column in where
            )
            problems.append(offenders(code, headline, found, len(where)))
    return problems


def check_relations(table: JJTable, tokens: Tokens) -> list[Diagnostic]:
    m = len(table.rhs)
    with np.errstate(over="ignore", invalid="ignore"):  # sums beyond the largest number count as wrong
        terms = table.coefficient * table.a[table.cell_of]
        sums = np.bincount(table.equation_of, weights=terms, minlength=m)
        sizes = np.bincount(table.equation_of, weights=np.abs(terms), minlength=m) + np.abs(table.rhs)
        holds = (np.abs(sums - table.rhs) <= ADDITIVE_WITHIN * sizes) & np.isfinite(sizes)
    wrong = np.flatnonzero(~holds)
    if not len(wrong):
        return []
    return [
        offenders(
            "SDC301",
            f"totals do not add up: {len(wrong)} of {m} relations",
            _unequal_sides(table, tokens, terms, wrong),
            len(wrong),
        )
    ]


def _unequal_sides(table: JJTable, tokens: Tokens, terms: np.ndarray, wrong: np.ndarray) -> Iterator[tuple[Place, str]]:
    """A relation with a minus on its totals reads best as two sums that should be equal."""
    colons = (tokens.series == ":").arg_true().to_numpy()
    for equation in wrong.tolist():
        mine = table.equation_of == equation
        coefficient, cells = table.coefficient[mine], table.index[table.cell_of[mine]]
        left, right = terms[mine][coefficient > 0].sum(), -terms[mine][coefficient < 0].sum()
        rhs = float(table.rhs[equation])
        other = _cells(cells[coefficient < 0]) + (f" and the constant {secret(figure(rhs))}" if rhs else "")
        label = (
            f"{_cells(cells[coefficient > 0]) or 'nothing'} sum to {secret(figure(left))}, "
            f"{other.removeprefix(' and ') or 'nothing'} to {secret(figure(right + rhs))} "
            f"(off by {secret(figure(left - right - rhs))})"
        )
        yield tokens.place(int(colons[equation]), f"relation {equation + 1}"), label


def _cells(numbers: np.ndarray) -> str:
    if not len(numbers):
        return ""
    return ("cells " if len(numbers) > 1 else "cell ") + listed(map(str, numbers.tolist()), most=6).replace("`", "")
