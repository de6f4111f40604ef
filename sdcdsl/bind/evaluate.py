"""Expressions over cells.

Every table is a *view* of the cells: it knows codes, levels and quantities of its own cells. A condition that mentions
a dimension selects only cells of views that have it. Last match wins (R1): `Matched` says for every cell which
statement it follows, and amounts are computed only for the cells that use them, so that `1 / value where value > 0` is
never asked about a zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdcdsl.bind.dimensions import codes_under, levels_in
from sdcdsl.bind.hierarchy import DimensionCodes
from sdcdsl.bind.lattice import Lattice
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.diagnostics import Diagnostic, Place, diagnostic
from sdcdsl.policy import expressions as x
from sdcdsl.policy.types import code_text
from sdcdsl.registry import load
from sdcdsl.vocabulary.functions import FUNCTIONS
from sdcdsl.vocabulary.quantities import QUANTITIES

Values = np.ndarray


@dataclass(frozen=True, eq=False)
class View:
    """The cells of one table, or the extra cells that belong to none; `cells` maps them to the common numbering."""

    cells: np.ndarray
    quantities: Mapping[str, np.ndarray]
    largest: np.ndarray | None = None  # [cell, k]
    lattice: Lattice | None = None
    numbers: np.ndarray | None = None  # of JJ cells, for `at (cell: 17)`
    table: str = ""

    def dimension(self, name: str) -> tuple[int, DimensionCodes, str] | None:
        """Position, codes and tree for a dimension or `dimension.tree`."""
        if self.lattice is None:
            return None
        for position, codes in enumerate(self.lattice.dimensions):
            if codes.name == name:
                return position, codes, ""
            if name.startswith(f"{codes.name}.") and any(t.name == name[len(codes.name) + 1 :] for t in codes.trees):
                return position, codes, name[len(codes.name) + 1 :]
        return None

    def has(self, expression: x.Expression | None) -> bool:
        """Does the view have every dimension that the expression mentions (S10)?"""
        return all(any(self.knows(name) for name in names) for names in self._mentioned(expression))

    @property
    def is_table(self) -> bool:
        return self.lattice is not None or self.numbers is not None

    def knows(self, name: str) -> bool:
        return self.dimension(name) is not None or (name == "cell" and self.numbers is not None)

    def is_code(self, name: str) -> bool:
        """A name that is no quantity stands for a dimension, or for a code beside one."""
        return name not in self.quantities and name not in QUANTITIES

    def _mentioned(self, expression: x.Expression | None) -> Iterator[list[str]]:
        """What the expression speaks of: for each place the names of which one must be a dimension."""
        for e in x.walk(expression):
            match e:
                case x.Member(dimension) | x.Under(dimension) | x.AtLevel(dimension):
                    yield [dimension]
                case x.Call("level", (x.Argument(_, x.Name(name)),)):
                    yield [name]
                case x.Compare(_, left, right):  # `nace = C` and `C = nace` say the same
                    names = [side.name for side in (left, right) if isinstance(side, x.Name)]
                    if any(self.is_code(name) for name in names):
                        yield names


class Evaluator:
    """Evaluates on chosen local cells of one view. Numbers come out as arrays of floats, truth as arrays of bools."""

    def __init__(self, view: View, cells: np.ndarray, more: Mapping[str, np.ndarray] | None = None):
        self.view = view
        self.cells = cells
        self.more = more or {}  # quantities of this evaluation alone, one value for each of `cells`

    def __call__(self, e: x.Expression) -> Values:
        with np.errstate(all="ignore"):  # what is not finite is named by the caller, cell by cell
            return np.broadcast_to(np.asarray(self._value(e)), self.cells.shape)

    def holds(self, e: x.Expression | None) -> tuple[Values, Values]:
        """Where a condition is true, and where nobody can say because part of it has no value (0 / 0 > 3).

        `count > 0 and value / count > 3` is false, not unknown, where the count is zero: one false part decides.
        """
        if e is None:
            return np.ones(self.cells.shape, dtype=bool), np.zeros(self.cells.shape, dtype=bool)
        with np.errstate(all="ignore"):
            unknown = np.broadcast_to(self._unknown(e), self.cells.shape)
        return self(e).astype(bool) & ~unknown, unknown

    def _unknown(self, e: x.Expression):
        match e:
            case x.Compare(_, left, right) if not self._compares_codes(e):
                return np.isnan(self._value(left)) | np.isnan(self._value(right))
            case x.Not(value):
                return self._unknown(value)
            case x.Every(parts) | x.Some(parts):
                decides = isinstance(e, x.Some)  # a true part decides `or`, a false one `and`
                unknown = [np.asarray(self._unknown(p)) for p in parts]
                sure = [~u & (np.asarray(self._value(p)) == decides) for p, u in zip(parts, unknown, strict=True)]
                return _any(unknown) & ~_any(sure)
            case x.Cond(condition, then, otherwise):
                chosen = np.where(self._value(condition), self._unknown(then), self._unknown(otherwise))
                return self._unknown(condition) | chosen
        return np.False_

    def _value(self, e: x.Expression):
        match e:
            case x.Number() | x.Percent():
                return e.value
            case x.Infinity():
                return np.inf
            case x.Name(name):
                return self._quantity(name)
            case x.Call():
                return self._call(e)
            case x.Negative(value):
                return -self._value(value)
            case x.Binary(operator, left, right):
                return _BINARY[operator](self._value(left), self._value(right))
            case x.Compare():
                return self._compare(e)
            case x.Member("cell", codes, negated) if self.view.numbers is not None:
                return self._numbered([code.text for code in codes]) ^ negated
            case x.Member(dimension, codes, negated):
                return self._codes(dimension, lambda c, _: _listed(c, [k.text for k in codes])) ^ negated
            case x.Under(dimension, code, negated):
                return self._codes(dimension, lambda c, tree: codes_under(c, code.text, tree)) ^ negated
            case x.AtLevel(dimension, level, negated):
                return self._codes(dimension, lambda c, tree: levels_in(c, tree) == level) ^ negated
            case x.Not(value):
                return ~np.asarray(self._value(value))
            case x.Every(parts):
                return np.logical_and.reduce(np.broadcast_arrays(*(self._value(p) for p in parts)))
            case x.Some(parts):
                return np.logical_or.reduce(np.broadcast_arrays(*(self._value(p) for p in parts)))
            case x.Cond(condition, then, otherwise):
                return np.where(self._value(condition), self._value(then), self._value(otherwise))
        raise TypeError(f"cannot evaluate {e!r}")

    def _quantity(self, name: str):
        if name in self.more:
            return self.more[name]
        if name in self.view.quantities:
            return self.view.quantities[name][self.cells]
        return np.nan  # a quantity this table does not have: named as a cell without a value where it is used

    def _call(self, e: x.Call):
        if e.name == "largest":
            rank = int(e.arguments[0].value.text)  # type: ignore[union-attr]
            largest = self.view.largest
            return largest[self.cells, rank - 1] if largest is not None and rank <= largest.shape[1] else np.nan
        if e.name == "level":
            return self._codes(e.arguments[0].value.name, levels_in).astype(float)  # type: ignore[union-attr]
        values = [self._value(a.value) for a in e.arguments]
        return FUNCTIONS.call(e.name, self._worked_out, e.name, values)

    def _worked_out(self, function: str, values: Sequence[Any]) -> np.ndarray:
        shape = np.broadcast_shapes(*map(np.shape, values), self.cells.shape)
        return np.broadcast_to(_defined(load(FUNCTIONS[function].of))(*values), shape)

    def _compares_codes(self, e: x.Compare) -> bool:
        names = [side.name for side in (e.left, e.right) if isinstance(side, x.Name)]
        return any(n not in self.more and self.view.is_code(n) and self.view.knows(n) for n in names)

    def _compare(self, e: x.Compare):
        for side, other in ((e.left, e.right), (e.right, e.left)):
            if isinstance(side, x.Name) and side.name not in self.more and self.view.is_code(side.name):
                text = code_text(other)
                if side.name == "cell" and self.view.numbers is not None and text is not None:
                    return self._numbered([text]) ^ (e.operator != "=")
                if self.view.dimension(side.name) is not None and text is not None:
                    inside = self._codes(side.name, lambda c, _, text=text: _listed(c, [text]))
                    return inside if e.operator == "=" else ~inside
        return _COMPARE[e.operator](self._value(e.left), self._value(e.right))

    def _numbered(self, texts: Sequence[str]) -> np.ndarray:
        assert self.view.numbers is not None
        return np.isin(self.view.numbers[self.cells], [int(text) for text in texts if text.isdigit()])

    def _codes(self, name: str, of: Callable[[DimensionCodes, str], np.ndarray]) -> np.ndarray:
        found = self.view.dimension(name)
        assert found is not None and self.view.lattice is not None, name
        position, codes, tree = found
        return of(codes, tree)[self.view.lattice.codes_at(self.cells, position)]


def _any(masks: Sequence[np.ndarray]) -> np.ndarray:
    return np.logical_or.reduce(np.broadcast_arrays(*masks))


def _listed(codes: DimensionCodes, required: Sequence[str]) -> np.ndarray:
    out = np.zeros(len(codes.codes), dtype=bool)
    out[[codes.index[c] for c in required if c in codes.index]] = True
    return out


def _defined(of: Callable) -> Callable:
    """Infinity out of finite numbers (1 / 0, log(0)) is no value: `min(5, 1 / value)` must not hide it."""

    def guarded(*given):
        out = np.asarray(of(*given), dtype=float)
        return np.where(
            np.isinf(out) & np.logical_and.reduce(np.broadcast_arrays(*map(np.isfinite, given))), np.nan, out
        )

    return guarded


_BINARY: dict[str, Callable] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "of": lambda share, whole: np.multiply(share, np.abs(whole)),  # a share of the size, whatever its sign
    "/": _defined(np.divide),
    "^": _defined(lambda a, b: np.power(np.asarray(a, dtype=float), b)),
}
_COMPARE: dict[str, Callable] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def smallest(*amounts: Values) -> Values:
    return np.minimum.reduce(np.broadcast_arrays(*amounts))


def largest(*amounts: Values) -> Values:
    return np.maximum.reduce(np.broadcast_arrays(*amounts))


# ---- statements over cells ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clause:
    """An amount for the cells that a condition selects."""

    amount: x.Expression
    where: x.Expression | None
    place: Place | None
    more: Mapping[str, str] = field(default_factory=dict)  # `needed` means another quantity below than above
    numbered: bool = False  # a default that a JJ file brings along: only for its cells


def select(
    views: Sequence[View], where: x.Expression | None, n: int, name: Callable[[int], str], table: str | None = None
) -> tuple[np.ndarray, list[Diagnostic]]:
    """The common cells that a condition selects, in any view that has its dimensions."""
    out = np.zeros(n, dtype=bool)
    bad: list[int] = []
    for view in views:
        if (table is not None and view.table != table) or not view.has(where):
            continue
        true, unknown = Evaluator(view, np.arange(len(view.cells))).holds(where)
        out[view.cells[true]] = True
        bad += view.cells[unknown].tolist()
    return out, undecided(where, bad, name)


def last_match(
    views: Sequence[View],
    clauses: Sequence[Clause],
    required: np.ndarray,
    name: Callable[[int], str],
    finite: bool = True,
) -> tuple[np.ndarray, np.ndarray, list[Diagnostic]]:
    """For the wanted cells: the amount of the last clause that selects each, and which one it was (-1: none).

    Where a clause has no finite value in a cell that follows it, a diagnostic names the cell (SDC321).
    """
    n = len(required)
    amount, by = np.full(n, np.nan), np.full(n, -1, dtype=np.int64)
    found: list[Diagnostic] = []
    for index in reversed(range(len(clauses))):
        clause = clauses[index]
        bad: list[int] = []
        vague: list[int] = []
        for view in views:
            if not view.has(clause.where) or not view.has(clause.amount) or (clause.numbered and view.numbers is None):
                continue
            local = np.flatnonzero(required[view.cells] & (by[view.cells] < 0))
            true, unknown = Evaluator(view, local).holds(clause.where)
            # What a sum of cells does not have (a count, a code) cannot select it.
            vague += view.cells[local[unknown]].tolist() if view.is_table else []
            local = local[true]
            if not len(local):
                continue
            more = {k: view.quantities[v][local] for k, v in clause.more.items()}
            values = Evaluator(view, local, more)(clause.amount).astype(float)
            wrong = np.isnan(values) | (np.isinf(values) & finite)
            bad += [int(c) for c in view.cells[local[wrong]]]
            amount[view.cells[local]] = values
            by[view.cells[local]] = index
        if bad:
            found.append(_without_value(clause, bad, name))
        found += undecided(clause.where, vague, name)
    return amount, by, found


def undecided(
    where: x.Expression | None, bad: Sequence[int] | np.ndarray, name: Callable[[int], str]
) -> list[Diagnostic]:
    """A condition that is neither true nor false somewhere."""
    if where is None or not len(bad):
        return []
    found = diagnostic(
        "SDC321",
        f"this condition is neither true nor false in {cells(bad)}",
        where.span,
        "divides by zero, or uses something these cells do not have",
        notes=[first_cells(bad, name)],
        help="leave such cells out first: where count > 0 and value / count > 3",
    )
    return [found]


def _without_value(clause: Clause, bad: list[int], name: Callable[[int], str]) -> Diagnostic:
    return diagnostic(
        "SDC321",
        f"this expression has no value in {cells(bad)} that follow{'s' if len(bad) == 1 else ''} it",
        clause.amount.span or clause.place,
        "divides by zero, or uses something these cells do not have",
        notes=[first_cells(bad, name)],
        help="give those cells a statement of their own: … where value = 0",
    )
