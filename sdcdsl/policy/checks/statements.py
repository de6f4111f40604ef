"""The expressions of every statement: their types, and where constants alone already tell that something is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sdcdsl.diagnostics import Diagnostic, diagnostic, listed
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import compare, constant
from sdcdsl.policy.competition import LevelStatement
from sdcdsl.policy.meaning import attackers_of
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.types import Checker
from sdcdsl.policy.write import expression
from sdcdsl.vocabulary.quantities import ROLES, Place


class _Scope:
    """What the statements about some tables may speak of. Thousands of facts are about the same tables, so that it is
    worked out once for each set of tables."""

    def __init__(self, policy: Policy):
        self.policy = policy
        self.known: dict[tuple[str, ...] | None, tuple[frozenset[str] | None, frozenset[str]]] = {}
        self.each: dict[tuple[str, ...] | None, list[frozenset[str] | None]] = {}  # the dimensions of each table

    def together(self, where: x.Expression | None, tables: tuple[str, ...] | None) -> Iterator[Diagnostic]:
        """A condition is about tables that have all its dimensions (S10): where none has, it selects nothing."""
        if where is None or where.span is None or self.policy.is_used(where.span):
            return
        named = {base for e in x.walk(where) for base in _dimension_in(self.policy, e)}
        if len(named) < 2:
            return
        if tables not in self.each:
            chosen = [t for t in (self.policy.tables if tables is None else tables) if t in self.policy.tables]
            self.each[tables] = [dimensions_of(self.policy, [t]) for t in chosen]
        known = self.each[tables]
        if not known or any(has is None or named <= has for has in known):
            return
        if named <= frozenset[str]().union(*(has for has in known if has is not None)):  # else each is reported alone
            headline = f"no table here has the dimensions {listed(sorted(named))} together"
            notes = ["a condition is about the tables that have all dimensions that it names"]
            yield diagnostic("SDC101", headline, where.span, "selects no cell", notes=notes)

    def attacked(self, attacker: str) -> tuple[str, ...] | None:
        """The tables of all blocks that protect against somebody; None where no block does."""
        blocks = (b for b in self.policy.protects.values() if attacker in attackers_of(self.policy, b))
        return tuple(dict.fromkeys(table for block in blocks for table in block.tables)) or None

    def checker(self, place: Place, tables: tuple[str, ...] | None) -> Checker:
        """`tables` None: all of them."""
        if tables not in self.known:
            chosen = [t for t in (self.policy.tables if tables is None else tables) if t in self.policy.tables]
            self.known[tables] = dimensions_of(self.policy, chosen), variables(self.policy, chosen)
        return Checker(self.policy, place, *self.known[tables])


def check(policy: Policy) -> Iterator[Diagnostic]:
    scope = _Scope(policy)
    for attacker in policy.attackers.values():
        yield from _attacker(scope, attacker)
    for scenario in policy.scenarios.values():
        for level in scenario.all(d.Level):
            yield from _level(scope, level, None)
    for table in policy.tables.values():
        for only in table.all(d.Only):
            checker = Checker(policy, Place.RECORDS)
            checker.condition(only.where)
            yield from checker.diagnostics
    for protect in policy.protects.values():
        yield from _protect(scope, protect)
    for fact in policy.facts:
        yield from _fact(scope, fact)


def _attacker(scope: _Scope, attacker: d.Block) -> Iterator[Diagnostic]:
    for bounds in attacker.all(d.Bounds):
        tables = scope.attacked(attacker.name)
        seen = scope.checker(Place.BOUNDS, tables)
        dimensions = None if scope.policy.is_used(attacker.span) else seen.dimensions
        checker = Checker(scope.policy, Place.BOUNDS, dimensions, scope.checker(Place.BOUNDS, None).variables)
        yield from scope.together(bounds.where, tables)
        if bounds.low is not None and bounds.high is not None:
            checker.amount(bounds.low)
            checker.amount(bounds.high)
            if compare(bounds.low, bounds.high) == 1:
                help = f"bounds {expression(bounds.high)} .. {expression(bounds.low)}"
                yield diagnostic("SDC125", "the lower bound is above the upper bound", bounds.span, help=help)
        _condition(checker, bounds.where, Place.SELECT)
        yield from checker.diagnostics
    for each in attacker.all(d.Each):
        checker = Checker(scope.policy, Place.EACH)
        checker.condition(each.where)
        yield from checker.diagnostics


def _protect(scope: _Scope, protect: d.Block) -> Iterator[Diagnostic]:
    for level in (*protect.all(d.Level), *protect.all(d.Conditional)):
        yield from _level(scope, level, protect.tables)
    for cost in protect.all(d.Cost):
        checker = scope.checker(Place.COST, protect.tables)
        checker.amount(cost.amount)
        yield from scope.together(cost.where, protect.tables)
        _condition(checker, cost.where, Place.SELECT)
        yield from checker.diagnostics


def _level(scope: _Scope, level: LevelStatement, tables: tuple[str, ...] | None) -> Iterator[Diagnostic]:
    checker = scope.checker(Place.LEVEL if isinstance(level, d.Level) else Place.CONDITIONAL, tables)
    checker.amount(level.amount)
    yield from scope.together(level.where, tables)
    _condition(checker, level.where, Place.SELECT)
    yield from checker.diagnostics
    value = constant(level.amount)
    if value is not None and value < 0:
        headline = f"`{level.level}` is below zero: {expression(level.amount)}"
        note = "a level is a distance from the value, whichever way it goes"
        yield diagnostic("SDC126", headline, level.amount.span, notes=[note])


def _fact(scope: _Scope, fact: d.Fact) -> Iterator[Diagnostic]:
    if isinstance(fact, d.Require):
        checker = scope.checker(Place.REQUIRE, None)
        checker.condition(fact.condition)
        yield from scope.together(fact.where, None)
        _condition(checker, fact.where, Place.SELECT)
    else:
        cells = fact.cells
        if cells is None:
            return
        tables = (cells.table,) if cells.table else None
        yield from scope.together(cells.where, tables)
        checker = scope.checker(Place.SELECT, tables)
        checker.condition(cells.where)
    yield from checker.diagnostics


def _condition(checker: Checker, where: x.Expression | None, place: Place) -> None:
    inner = Checker(checker.policy, place, checker.dimensions, checker.variables)
    inner.condition(where)
    checker.diagnostics += inner.diagnostics


def _dimension_in(policy: Policy, e: x.Located) -> Iterator[str]:
    match e:
        case x.Name(name) | x.Member(name) | x.Under(name) | x.AtLevel(name):
            base = name if name in policy.dimensions else name.rpartition(".")[0]
            if base in policy.dimensions:
                yield base
        case _:
            pass


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
