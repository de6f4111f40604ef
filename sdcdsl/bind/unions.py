"""Sums of hidden cells that are sensitive together: stated in the policy, found from the contributors, or those of a
group who are not in one category of an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sdcdsl.bind.aggregates import Aggregates, sensitive_aggregates
from sdcdsl.bind.evaluate import Evaluator, View
from sdcdsl.bind.holdings import cells_from, contributions_to
from sdcdsl.bind.relations import Relations, with_sums
from sdcdsl.bind.rules.cells import Judgement, RuleCells, combined
from sdcdsl.bind.sensitivity import Marks, judge
from sdcdsl.bind.table import BoundTable
from sdcdsl.policy import document as d
from sdcdsl.policy.resolve import Policy
from sdcdsl.vocabulary.rules import find_rule

Key = tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class Unions:
    """Extra cells: union u sums up `cell_of[union_of == u]` with their coefficients."""

    union_of: np.ndarray
    cell_of: np.ndarray
    coefficient: np.ndarray
    value: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    count: np.ndarray  # contributors; NaN where nobody knows
    largest: np.ndarray  # [union, k]; NaN where nobody knows
    always: np.ndarray  # bool: any release that hides the members is required it

    def __len__(self) -> int:
        return len(self.value)

    def take(self, chosen: np.ndarray) -> Unions:
        """Those that are marked."""
        number = np.cumsum(chosen) - 1
        member = chosen[self.union_of]
        rest = (self.value, self.lower, self.upper, self.count, self.largest, self.always)
        parts = number[self.union_of[member]], self.cell_of[member], self.coefficient[member]
        return Unions(*parts, *(values[chosen] for values in rest))

    def with_more(self, more: Unions) -> Unions:
        mine = (self.cell_of, self.coefficient, self.value, self.lower, self.upper, self.count, self.largest)
        theirs = (more.cell_of, more.coefficient, more.value, more.lower, more.upper, more.count, more.largest)
        union_of = np.concatenate([self.union_of, len(self) + more.union_of])
        always = np.concatenate([self.always, more.always])
        return Unions(union_of, *(np.concatenate(both) for both in zip(mine, theirs, strict=True)), always=always)

    @property
    def keys(self) -> list[Key]:
        """The signed members of each, which tell it from others."""
        starts = np.searchsorted(self.union_of, np.arange(len(self) + 1))
        cells, signs = self.cell_of.tolist(), self.coefficient.tolist()
        return [tuple(sorted(zip(cells[s:e], signs[s:e], strict=True))) for s, e in pairwise(starts.tolist())]

    def members(self, union: int) -> np.ndarray:
        return self.cell_of[self.union_of == union]

    def extended(self, made: Relations) -> Relations:
        return with_sums(made, self.union_of, self.cell_of, self.coefficient, len(self))


def find_unions(
    policy: Policy,
    tables: Sequence[BoundTable],
    maps: Sequence[np.ndarray],
    a: np.ndarray,
    marks: Marks,
    automatic: bool,
) -> Unions:
    """Sums that are stated, and those of cells that every release hides."""
    found: dict[Key, _UnionLevel] = {}
    for at, cells, _ in marks.together:
        found[tuple((c, 1.0) for c in cells)] = _UnionLevel(at, 0.0, 0.0, True)
    for at, told, _ in marks.elsewhere:
        columns = (told.group.tolist(), told.category.tolist(), told.lower.tolist(), told.upper.tolist())
        for group, category, lower, upper in zip(*columns, strict=True):
            key = tuple(sorted(((group, 1.0), (category, -1.0))))
            before = found.get(key, _UnionLevel(at, 0.0, 0.0, True))
            found[key] = _UnionLevel(before.table, max(before.lower, lower), max(before.upper, upper), True)
    if automatic:
        _find(found, policy, tables, maps, marks.sensitive | (marks.status == "suppress"))
    return _made(found, tables, maps, a)


def further_unions(
    policy: Policy,
    tables: Sequence[BoundTable],
    maps: Sequence[np.ndarray],
    a: np.ndarray,
    hidden: np.ndarray,
    known: Unions,
) -> Unions:
    """Sums of the cells that one release does not publish as they are, whoever hid them, without those in `known`."""
    found: dict[Key, _UnionLevel] = {}
    _find(found, policy, tables, maps, hidden, hidden_totals=True)
    for key in known.keys:
        found.pop(key, None)
    return _made(found, tables, maps, a)


@dataclass(frozen=True)
class _UnionLevel:
    table: int  # where the members lie
    lower: float
    upper: float
    always: bool


def _find(
    found: dict[Key, _UnionLevel],
    policy: Policy,
    tables: Sequence[BoundTable],
    maps: Sequence[np.ndarray],
    hidden: np.ndarray,
    hidden_totals: bool = False,
) -> None:
    for at, (table, cells) in enumerate(zip(tables, maps, strict=True)):
        made = _automatic(policy, table, hidden[cells], hidden_totals)
        if made is None:
            continue
        starts = np.searchsorted(made.union_of, np.arange(len(made) + 1))
        for u, (s, e) in enumerate(pairwise(starts)):
            parts = zip(cells[made.cell_of[s:e]].tolist(), made.coefficient[s:e].tolist(), strict=True)
            key = tuple(sorted(parts))
            before = found.get(key, _UnionLevel(at, 0.0, 0.0, False))
            lower, upper = max(before.lower, float(made.lower[u])), max(before.upper, float(made.upper[u]))
            found[key] = _UnionLevel(before.table, lower, upper, before.always or bool(made.always[u]))


def _made(
    found: dict[Key, _UnionLevel], tables: Sequence[BoundTable], maps: Sequence[np.ndarray], a: np.ndarray
) -> Unions:
    sizes = [len(parts) for parts in found]
    flat = [part for parts in found for part in parts]
    union_of = np.repeat(np.arange(len(sizes)), sizes)
    cell_of = np.array([c for c, _ in flat], dtype=np.int64)
    coefficient = np.array([s for _, s in flat], dtype=float)
    value = np.bincount(union_of, weights=coefficient * a[cell_of], minlength=len(sizes)) if flat else np.zeros(0)
    needed = list(found.values())
    lower, upper = (
        np.array([o.lower for o in needed], dtype=float),
        np.array([o.upper for o in needed], dtype=float),
    )
    of_table = np.array([o.table for o in needed], dtype=np.int64)
    always = np.array([o.always for o in needed], dtype=bool)
    count, largest = _contributors(union_of, cell_of, coefficient, of_table, tables, maps)
    return Unions(union_of, cell_of, coefficient, value, lower, upper, count, largest, always)


def _contributors(
    union_of: np.ndarray,
    cell_of: np.ndarray,
    coefficient: np.ndarray,
    of_table: np.ndarray,
    tables: Sequence[BoundTable],
    maps: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """How many contribute to each union, and the largest of them, for the expressions of the policy."""
    n, k = len(of_table), max((t.known_largest for t in tables), default=0)
    count, largest = np.full(n, np.nan), np.full((n, k), np.nan)
    for at, (table, cells) in enumerate(zip(tables, maps, strict=True)):
        mine = np.flatnonzero(of_table == at)
        if table.contributors is None or table.lattice is None or not len(mine):
            continue
        local = np.full(1 + max(int(cells.max()), int(cell_of.max())), -1, dtype=np.int64)
        local[cells] = np.arange(len(cells))
        number = np.full(n, -1, dtype=np.int64)
        number[mine] = np.arange(len(mine))
        member = np.flatnonzero(number[union_of] >= 0)
        place = local[cell_of[member]]
        chosen = np.zeros(table.size, dtype=bool)
        chosen[place] = True
        made = table.contributors.holdings.contributions
        assert made is not None
        inside = contributions_to(table.lattice, made, chosen)
        start = np.searchsorted(inside.cell, place, side="left")
        reach = np.searchsorted(inside.cell, place, side="right") - start
        entry = np.repeat(start - np.cumsum(reach) + reach, reach) + np.arange(int(reach.sum()))
        amount = inside.amount[entry] * np.repeat(coefficient[member], reach)
        owner = np.repeat(number[union_of[member]], reach)
        seen = cells_from(np.zeros(len(mine)), owner, inside.holding[entry], amount, table.known_largest)
        count[mine] = seen.count
        largest[mine, : table.known_largest] = seen.largest
    return count, largest


def judges(policy: Policy, table: BoundTable) -> bool:
    """Whether sums of this table's cells can be judged."""
    return table.contributors is not None and table.lattice is not None and bool(_rules(policy, table))


def _rules(policy: Policy, table: BoundTable) -> list[d.Sensitive]:
    return [
        f
        for f in policy.facts_of(d.Sensitive)
        if f.rule is not None
        and f.cells.table in (None, table.name)
        and (rule := find_rule(f.rule.name)) is not None
        and rule.judges_sums
    ]


def _automatic(policy: Policy, table: BoundTable, hidden: np.ndarray, hidden_totals: bool) -> Aggregates | None:
    """Only tables from microdata know who contributes to what."""
    rules = _rules(policy, table)
    if table.contributors is None or table.lattice is None or not rules or not hidden.any():
        return None
    made = table.contributors.judged
    assert made.contributions is not None
    inside = contributions_to(table.lattice, made.contributions, hidden)

    def verdict(cells: RuleCells) -> Judgement:
        cells = replace(cells, frequency=table.judged is not None and table.judged.frequency)
        return combined([_judged(f, cells, table.known_largest) for f in rules])

    k = table.known_largest
    return sensitive_aggregates(table.value, table.relations, hidden, inside, verdict, k=k, hidden_totals=hidden_totals)


def _judged(fact: d.Sensitive, cells: RuleCells, known: int) -> Judgement:
    """A rule on unions; its condition holds if it speaks of nothing but quantities that a union has."""
    n = len(cells.value)
    nothing = Judgement(np.zeros(n, dtype=bool), np.zeros(n), np.zeros(n))
    assert fact.rule is not None
    view = View(np.arange(n), {"value": cells.value, "count": cells.count.astype(float)}, cells.largest)
    if not view.has(fact.cells.where):
        return nothing
    found, problems = judge(fact.rule, cells, known, fact)
    if found is None or problems:
        return nothing
    if fact.cells.where is None:
        return found
    where, _ = Evaluator(view, np.arange(n)).holds(fact.cells.where)
    return Judgement(found.sensitive & where, np.where(where, found.lower, 0.0), np.where(where, found.upper, 0.0))
