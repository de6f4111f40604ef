"""The expressions of every statement: their types, and where constants alone already tell that something is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import compare, constant
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.types import Checker
from sdcdsl.policy.write import expression
from sdcdsl.vocabulary.quantities import ROLES, Place


def check(policy: Policy) -> Iterator[Diagnostic]:
    for attacker in policy.attackers.values():
        yield from _attacker(policy, attacker)
    for scenario in policy.scenarios.values():
        for level in scenario.all(d.Level):
            yield from _level(policy, level, None)
    for table in policy.tables.values():
        for only in table.all(d.Only):
            checker = Checker(policy, Place.RECORDS)
            checker.condition(only.where)
            yield from checker.diagnostics
    for protect in policy.protects.values():
        yield from _protect(policy, protect)
    for fact in policy.facts:
        yield from _fact(policy, fact)


def _attacker(policy: Policy, attacker: d.Block) -> Iterator[Diagnostic]:
    for bounds in attacker.all(d.Bounds):
        checker = Checker(policy, Place.BOUNDS, variables=variables(policy, policy.tables))
        if bounds.low is not None and bounds.high is not None:
            checker.amount(bounds.low)
            checker.amount(bounds.high)
            if compare(bounds.low, bounds.high) == 1:
                help = f"bounds {expression(bounds.high)} .. {expression(bounds.low)}"
                yield diagnostic("SDC125", "the lower bound is above the upper bound", bounds.span, help=help)
        _condition(checker, bounds.where, Place.SELECT)
        yield from checker.diagnostics
    for each in attacker.all(d.Each):
        checker = Checker(policy, Place.EACH)
        checker.condition(each.where)
        yield from checker.diagnostics


def _protect(policy: Policy, protect: d.Block) -> Iterator[Diagnostic]:
    for level in protect.all(d.Level):
        yield from _level(policy, level, protect.tables)
    for cost in protect.all(d.Cost):
        checker = _checker(policy, Place.COST, protect.tables)
        checker.amount(cost.amount)
        _condition(checker, cost.where, Place.SELECT)
        yield from checker.diagnostics


def _level(policy: Policy, level: d.Level, tables: Iterable[str] | None) -> Iterator[Diagnostic]:
    checker = _checker(policy, Place.LEVEL, tables)
    checker.amount(level.amount)
    _condition(checker, level.where, Place.SELECT)
    yield from checker.diagnostics
    value = constant(level.amount)
    if value is not None and value < 0:
        headline = f"`{level.level}` is below zero: {expression(level.amount)}"
        note = "a level is a distance from the value, whichever way it goes"
        yield diagnostic("SDC126", headline, level.amount.span, notes=[note])


def _fact(policy: Policy, fact: d.Fact) -> Iterator[Diagnostic]:
    if isinstance(fact, d.Require):
        checker = _checker(policy, Place.REQUIRE, None)
        checker.condition(fact.condition)
        _condition(checker, fact.where, Place.SELECT)
    else:
        cells = fact.cells
        if cells is None:
            return
        checker = _checker(policy, Place.SELECT, [cells.table] if cells.table else None)
        checker.condition(cells.where)
    yield from checker.diagnostics


def _condition(checker: Checker, where: x.Expression | None, place: Place) -> None:
    inner = Checker(checker.policy, place, checker.dimensions, checker.variables)
    inner.condition(where)
    checker.diagnostics += inner.diagnostics


def _checker(policy: Policy, place: Place, tables: Iterable[str] | None) -> Checker:
    chosen = list(policy.tables) if tables is None else [t for t in tables if t in policy.tables]
    return Checker(policy, place, dimensions_of(policy, chosen), variables(policy, chosen))


def dimensions_of(policy: Policy, tables: Iterable[str]) -> frozenset[str] | None:
    """The dimensions of these tables; None where that cannot be told (no table yet, or one that is damaged)."""
    found: set[str] = set()
    for table in tables:
        block = policy.tables[table]
        by = block.last(d.By)
        if policy.is_damaged(block.span):
            return None
        found.update(by.dimensions if by is not None else ())
    return frozenset(found) if found else None


def variables(policy: Policy, tables: Iterable[str]) -> frozenset[str]:
    """Names that the columns of ready-made cells bring into expressions."""
    out: set[str] = set()
    for table in tables:
        origin = policy.tables[table].last(d.From)
        data = policy.data.get(origin.data) if origin is not None else None
        if data is not None:
            out.update(c.role for c in data.all(d.Column) if c.rank is None and c.role not in ROLES)
    return frozenset(out)
