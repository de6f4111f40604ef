"""What attackers know about every cell.

A declared attacker is a *view*: bounds for all cells, from its `bounds` statements. `each unit` is one attacker for
every contributor that qualifies; all of them share the view, and each knows more in the cells it contributes to: a
cell is at least as large as its own part. (Where contributions may be negative, its own part says nothing about the
cell, and nothing is added.) Whoever knows the counts knows more: empty cells, the values of tables of counts, and the
cell that is nobody's but its own (`sdcdsl.bind.counts`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sdcdsl.bind import naming
from sdcdsl.bind.counts import ZERO, KnownCells, known_by_counts
from sdcdsl.bind.evaluate import Clause, Evaluator, View, last_match
from sdcdsl.bind.holdings import contributions_to, summed
from sdcdsl.bind.naming import first_cells
from sdcdsl.bind.table import BoundTable
from sdcdsl.bind.unions import Unions
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.diagnostics.confidential import secret
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x

ROUNDING = 1e-9  # of a value: bounds that exclude it by less contain it
BESIDE = 1e-4  # of the largest value: what smaller ones, and zeros, are measured by instead of by themselves


@dataclass(frozen=True, eq=False)
class Knowledge:
    """One declared attacker: bounds of its view, and who hides behind it."""

    name: str
    low: np.ndarray  # [cell]
    high: np.ndarray
    members: tuple[str, ...]  # the attacker itself, or one label for each contributor
    known_member: np.ndarray  # int64 [known]: who
    known_cell: np.ndarray  # int64 [known]: about which cell
    known_low: np.ndarray  # [known]: is at least this
    known_high: np.ndarray  # [known]: and at most this
    alone: np.ndarray  # bool [known]: nobody else contributes to the cell
    known_before: tuple[KnownCells, ...] = ()  # cells that the whole view knows exactly because of a `knows` statement


def know(
    attacker: d.Block,
    views: Sequence[View],
    tables: Sequence[BoundTable],
    a: np.ndarray,
    fixed: np.ndarray,
    name: Callable[[int], str],
    unions: Unions,
    late: int | None = None,
) -> tuple[Knowledge | None, list[Diagnostic]]:
    """`late`: from this cell on they are sums that one release made necessary. Bounds are stated of cells; those of
    such a sum follow from its members."""
    stated = np.arange(len(a)) < (len(a) if late is None else late)
    low, high, found = _bounds(attacker, views, tables, a, name, stated)
    if found:
        return None, found
    low[~stated], high[~stated] = (ends[~stated] for ends in _of_members(low, high, unions))
    low[fixed], high[fixed] = a[fixed], a[fixed]  # what is published as it is, everybody knows
    known_before, found = _known_before(attacker, views, tables, a, name, len(a) - len(unions))
    if found:
        return None, found
    for one in known_before:
        low[one.cells], high[one.cells] = a[one.cells], a[one.cells]
    each = attacker.last(d.Each)
    members, own = (attacker.name,), _Parts.none()
    if each is not None:
        labels, own = _each(attacker, each, views, tables, a, unions)
        members = tuple(f"{attacker.name} {label}" for label in labels)
    known = (own.member, own.cell, own.amount, own.most, own.alone)
    return Knowledge(attacker.name, low, high, members, *known, known_before=known_before), []


def _knows(attacker: d.Block, what: str) -> d.Knows | None:
    return next((k for k in attacker.all(d.Knows) if k.what == what), None)


def _known_before(
    attacker: d.Block,
    views: Sequence[View],
    tables: Sequence[BoundTable],
    a: np.ndarray,
    name: Callable[[int], str],
    base: int,
) -> tuple[tuple[KnownCells, ...], list[Diagnostic]]:
    """Cells, not sums of them, that are known exactly beforehand."""
    out: list[KnownCells] = []
    if (zeros := _knows(attacker, "zeros")) is not None:
        out.append(KnownCells(zeros.span, "zeros", ZERO, (a == 0) & (np.arange(len(a)) < base)))
    if (counts := _knows(attacker, "counts")) is not None:
        more, found = known_by_counts(attacker, counts, views, tables, a, name)
        if found:
            return (), found
        out += more
    return tuple(out), []


def _bounds(
    attacker: d.Block,
    views: Sequence[View],
    tables: Sequence[BoundTable],
    a: np.ndarray,
    name: Callable[[int], str],
    stated: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, list[Diagnostic]]:
    """Bounds of every cell; where no statement matches, or none is made, the attacker knows nothing."""
    n = len(a)
    statements = attacker.all(d.Bounds)
    given_low, given_high = _given(views, tables, n)
    sides, found = [], []
    for given, side in ((given_low, "low"), (given_high, "high")):
        # `bounds given` takes its place in the order of statements as an amount that the file brings.
        shown = [
            View(v.cells, {**v.quantities, "given": given[v.cells]}, v.largest, v.lattice, v.numbers, v.table)
            for v in views
        ]
        clauses = [
            Clause(_end(getattr(s, side)) if s.low is not None else x.Name("given", span=s.span), s.where, s.span)
            for s in statements
        ]
        amounts, by, problems = last_match(shown, clauses, stated, name, finite=False)
        found += problems
        open_side = -np.inf if side == "low" else np.inf
        default = np.where(np.isnan(given), open_side, given)  # a JJ file brings its bounds along (S31)
        sides.append((np.where(by >= 0, amounts, default), by))
    (low, by_low), (high, by_high) = sides
    if found:
        return low, high, found
    turned = (a < 0) & (low > high)  # 50 % to 150 % of -40 is -60 .. -20
    low, high = np.where(turned, high, low), np.where(turned, low, high)
    scale = ROUNDING * np.maximum(np.abs(a), BESIDE * float(np.abs(a).max(initial=0.0)))
    outside = np.flatnonzero((a < low - scale) | (a > high + scale))
    for index in np.unique(np.where(a[outside] < low[outside], by_low[outside], by_high[outside])):
        chosen = outside[np.where(a[outside] < low[outside], by_low[outside], by_high[outside]) == index]
        found.append(_excluded(attacker, statements[index], chosen, a, low, high, name))
    return np.minimum(low, a), np.maximum(high, a), found


def _of_members(low: np.ndarray, high: np.ndarray, unions: Unions) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of all cells, those of sums by interval arithmetic over their members."""
    low, high = low.copy(), high.copy()
    base = len(low) - len(unions)
    plus, at = unions.coefficient > 0, unions.cell_of
    size = np.abs(unions.coefficient)
    for ends, own, opposite in ((low, low, high), (high, high, low)):
        term = np.where(plus, size * own[at], -size * opposite[at])
        total = np.zeros(len(unions))
        np.add.at(total, unions.union_of, term)
        ends[base:] = total
    return low, high


def _end(e: x.Expression) -> x.Expression:
    """`150% of value` as an end of bounds is a place on the value's own side of zero, not an amount."""
    if isinstance(e, x.Negative):
        return x.Negative(_end(e.value), span=e.span)
    return x.Binary("*", e.left, e.right, span=e.span) if isinstance(e, x.Binary) and e.operator == "of" else e


def _given(views: Sequence[View], tables: Sequence[BoundTable], n: int) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.full(n, np.nan), np.full(n, np.nan)
    for view, table in zip(views, tables, strict=True):
        if table.given is not None:
            low[view.cells], high[view.cells] = table.given.low, table.given.high
        elif not table.name:  # sums of cells: the bounds of their members say it all
            low[view.cells], high[view.cells] = -np.inf, np.inf
    return low, high


def _excluded(
    attacker: d.Block, statement: d.Bounds, cells: np.ndarray, a: np.ndarray, low, high, name: Callable[[int], str]
) -> Diagnostic:
    negative = bool((a[cells] < 0).all()) and bool((low[cells] == 0).all())
    shown = first_cells(cells, lambda c: f"{name(c)} outside {secret(f'{low[c]:g} .. {high[c]:g}')}")
    if negative:
        headline = f"attacker `{attacker.name}` excludes negative values, which {naming.cells(cells)} have"
        return diagnostic(
            "SDC318", headline, statement.span, notes=[shown], help="bounds -inf .. inf, or bounds that fit"
        )
    headline = f"the bounds of attacker `{attacker.name}` exclude the true value of {naming.cells(cells)}"
    return diagnostic("SDC319", headline, statement.span, notes=[shown])


# ---- contributors as attackers ---------------------------------------------------------------------------


def _each(
    attacker: d.Block,
    each: d.Each,
    views: Sequence[View],
    tables: Sequence[BoundTable],
    a: np.ndarray,
    unions: Unions,
) -> tuple[tuple[str, ...], _Parts]:
    """Own parts, by member and common cell, of every contributor that qualifies somewhere in the block's tables."""
    together = bool(attacker.all(d.Coalition)) or each.role == "group"
    numbers: dict[str, int] = {}
    found = [_Parts.none()]
    qualified: list[np.ndarray] = []
    for view, table in zip(views, tables, strict=True):
        if table.contributors is None or table.lattice is None:
            continue
        made = table.contributors.holdings if together else table.contributors.units
        assert made.contributions is not None
        own = contributions_to(table.lattice, made.contributions, np.ones(table.size, dtype=bool))
        holdings, position = np.unique(own.holding, return_inverse=True)
        number = np.array([numbers.setdefault(made.name(int(h)), len(numbers)) for h in holdings], dtype=np.int64)
        member = number[position]
        if view.has(each.where):  # who qualifies in one table attacks them all
            true, unknown = Evaluator(view, own.cell, {"contribution": np.abs(own.amount)}).holds(each.where)
            qualified.append(np.unique(member[true | unknown]))  # in doubt somebody attacks
        most = np.full(len(member), np.inf)
        found.append(_Parts(member, view.cells[own.cell], own.amount, most, made.count[own.cell] == 1))
    parts = _joined(found)
    chosen = np.unique(np.concatenate([*qualified, np.zeros(0, dtype=np.int64)])).astype(np.int64)
    labels = tuple(np.array(list(numbers), dtype=object)[chosen])
    if _knows(attacker, "own contribution") is None:
        return labels, _Parts.none()
    parts = _joined([parts, _of_unions(parts, unions, len(a) - len(unions))])
    # Whoever knows to be the only contributor of a cell knows the cell.
    whole = parts.alone & (_knows(attacker, "counts") is not None)
    # Beside a negative part one's own part says nothing about the cell.
    mixed = np.unique(parts.cell[parts.amount < 0])
    known = np.isin(parts.member, chosen) & (whole | ~np.isin(parts.cell, mixed))
    member, cell, whole = np.searchsorted(chosen, parts.member[known]), parts.cell[known], whole[known]
    order = np.lexsort((cell, member))
    own = np.minimum(parts.amount[known], a[cell])  # sums in another order may differ in the last digit
    low, high = np.where(whole, a[cell], own), np.where(whole, a[cell], np.inf)
    return labels, _Parts(member[order], cell[order], low[order], high[order], parts.alone[known][order])


@dataclass(frozen=True, eq=False)
class _Parts:
    """What members contribute to common cells."""

    member: np.ndarray
    cell: np.ndarray
    amount: np.ndarray  # their part; what they know the cell to be at least
    most: np.ndarray  # and at most
    alone: np.ndarray  # nobody else contributes to the cell

    @staticmethod
    def none() -> _Parts:
        nobody = np.zeros(0, dtype=np.int64)
        return _Parts(nobody, nobody, np.zeros(0), np.zeros(0), nobody > 0)

    def take(self, order: np.ndarray) -> _Parts:
        return _Parts(self.member[order], self.cell[order], self.amount[order], self.most[order], self.alone[order])


def _joined(parts: Sequence[_Parts]) -> _Parts:
    """Sorted by cell and member; what linked tables both show counts once."""
    columns = ("member", "cell", "amount", "most", "alone")
    made = _Parts(*(np.concatenate([getattr(p, column) for p in parts]) for column in columns))
    made = made.take(np.lexsort((made.member, made.cell)))
    fresh = np.ones(len(made.cell), dtype=bool)
    fresh[1:] = (made.cell[1:] != made.cell[:-1]) | (made.member[1:] != made.member[:-1])
    return made.take(fresh)


def _of_unions(parts: _Parts, unions: Unions, base: int) -> _Parts:
    """Own parts of sums of cells: the sum of those of their members. (A difference is not bounded by them.)"""
    minus = np.unique(unions.union_of[unions.coefficient < 0])
    member_cell = np.flatnonzero(~np.isin(unions.union_of, minus))
    cell = unions.cell_of[member_cell]
    start = np.searchsorted(parts.cell, cell, side="left")
    reach = np.searchsorted(parts.cell, cell, side="right") - start
    entry = np.repeat(start - np.cumsum(reach) + reach, reach) + np.arange(int(reach.sum()))
    owner = np.repeat(unions.union_of[member_cell], reach)
    amount = parts.amount[entry] * np.repeat(unions.coefficient[member_cell], reach)
    owner, member, amount = summed(owner, parts.member[entry], amount)
    alone = np.bincount(owner, minlength=len(unions))[owner] == 1
    return _Parts(member, base + owner, amount, np.full(len(owner), np.inf), alone)


def dominated(known: Knowledge, spared: np.ndarray) -> np.ndarray:
    """Members who know nothing that another member does not know as well: protecting against that one is enough.

    A member is compared with the largest contributor of its first cell with fewest contributors. `spared` marks members
    that are treated more leniently somewhere (a level was cut, or a pair dropped because nobody else contributes): they
    dominate nobody.
    """
    members = len(known.members)
    out = np.zeros(members, dtype=bool)
    # Who knows nothing of its own knows what everybody knows: any other member will do, or the first of their kind.
    ignorant = np.ones(members, dtype=bool)
    ignorant[known.known_member] = False
    out[ignorant] = True
    if not (~ignorant & ~spared).any():
        out[np.flatnonzero(ignorant)[:1]] = False
    if not len(known.known_cell):
        return out
    crowd = np.bincount(known.known_cell)
    by_size = np.lexsort((known.known_member, -known.known_low, known.known_cell))
    first = np.concatenate([[0], 1 + np.flatnonzero(np.diff(known.known_cell[by_size]))])
    champion = np.full(len(crowd), -1, dtype=np.int64)
    champion[known.known_cell[by_size[first]]] = known.known_member[by_size[first]]
    starts = np.searchsorted(known.known_member, np.arange(members + 1))
    own = {
        m: dict(zip(known.known_cell[s:e].tolist(), known.known_low[s:e].tolist(), strict=True))
        for m, (s, e) in enumerate(pairwise(starts))
    }
    for member, cells in own.items():
        if not cells:
            continue
        rarest = min(cells, key=lambda c: (crowd[c], c))
        other = int(champion[rarest])
        if other == member or spared[other]:
            continue
        others = own[other]
        if all(others.get(cell, -np.inf) >= amount for cell, amount in cells.items()) and (
            others != cells or other < member
        ):
            out[member] = True
    return out
