"""What the data and the statements of a policy say about one cell, before anybody hides or attacks anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sdcdsl.bind.evaluate import Evaluator, View
from sdcdsl.bind.holdings import contributions_to
from sdcdsl.bind.problem import SensitiveCells, TableProblem
from sdcdsl.bind.rules.cells import RuleCells
from sdcdsl.bind.table import BoundTable
from sdcdsl.diagnostics import Span
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.policy import document as d
from sdcdsl.policy.plain import rule_called
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import fact as written
from sdcdsl.vocabulary.rules import RULES, find_rule

LARGEST = 5  # contributions that are named


@dataclass(frozen=True)
class Statement:
    """What somebody wrote, and where; `at` is None for what a file says on its own."""

    text: str
    at: str | None

    @classmethod
    def of(cls, span: Span | None, text: str = "") -> Statement:
        said = " ".join(span.text.split()) if span is not None and not text else text
        return cls(said, str(span) if span is not None else None)


@dataclass(frozen=True)
class CellPosition:
    """Where the cell stands in one table, and who contributes to it."""

    table: str
    codes: dict[str, str]
    contributors: int | None = None  # None: nobody knows
    largest: tuple[tuple[float, str | None], ...] = ()  # the largest contributions, and whose
    waived: int = 0  # contributors who waived their protection
    waivers: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Membership:
    """A relation the cell takes part in."""

    name: str
    total: bool  # the cell is what adds up, not a part of it
    others: int
    unpublished: int | None  # of the others; None: nothing is released


@dataclass(frozen=True)
class Finding:
    """One statement that makes cells sensitive, and what it says of this one."""

    statement: Statement
    marks: bool
    figures: str | None = None  # the rule's own computation
    table: str | None = None
    lower: float = 0.0  # the level that follows from it
    upper: float = 0.0


@dataclass(frozen=True)
class Touch:
    """A statement that publishes, suppresses, fixes or waives the cell."""

    word: str
    statement: Statement


@dataclass(frozen=True)
class Foreknown:
    """Somebody who knows the cell before anything is released."""

    attacker: str
    why: str
    statement: Statement | None = None


ALONE = "it is the only contributor, and knows that"


# ---- the cell itself -------------------------------------------------------------------------------


def seats(problem: TableProblem, cell: int, policy: Policy) -> tuple[CellPosition, ...]:
    """One for each table that has the cell."""
    out: list[CellPosition] = []
    for view, table in zip(problem.views, problem.tables, strict=False):
        local = _local(view, cell)
        if local is None:
            continue
        codes = table.lattice.codes(local) if table.lattice is not None else {"cell": _number(table, local)}
        out.append(_seat(table, view, local, codes, policy))
    return tuple(out)


def foreknown(problem: TableProblem, cell: int) -> tuple[Foreknown, ...]:
    """Who knows the cell exactly beforehand: by a `knows` statement, or as its only contributor."""
    out = [
        Foreknown(name, fact.why, Statement.of(fact.span)) for name, fact in problem.known_before if fact.cells[cell]
    ]
    data = problem.dataset
    exactly = (data["known_cell"].values == cell) & (data["known_low"].values == data["known_high"].values)
    attackers = data["known_attacker"].values[exactly]
    declared = {one.attacker for one in out}
    names = (problem.attackers[int(k)] for k in attackers)
    return (*out, *(Foreknown(name, ALONE) for name in names if name.split(" ", 1)[0] not in declared))


def _local(view: View, cell: int) -> int | None:
    found = np.flatnonzero(view.cells == cell)
    return int(found[0]) if len(found) else None


def _number(table: BoundTable, local: int) -> str:
    return str(table.given.index[local]) if table.given is not None else str(local)


def _seat(table: BoundTable, view: View, local: int, codes: dict[str, str], policy: Policy) -> CellPosition:
    count = view.quantities.get("count")
    contributors = int(count[local]) if count is not None and np.isfinite(count[local]) else None
    made = table.contributors
    if made is None or table.lattice is None or made.holdings.contributions is None:
        known = view.largest[local] if view.largest is not None else np.zeros(0)
        return CellPosition(table.name, codes, contributors, tuple((float(x), None) for x in known if x > 0))
    chosen = np.zeros(table.size, dtype=bool)
    chosen[local] = True
    parts = contributions_to(table.lattice, made.holdings.contributions, chosen)
    order = np.argsort(-np.abs(parts.amount), kind="stable")
    names = [made.holdings.name(int(h)) for h in parts.holding[order]]
    largest = tuple(zip(parts.amount[order][:LARGEST].tolist(), names[:LARGEST], strict=False))
    waived = int(made.holdings.count[local]) - int(made.judged.count[local])
    said = [f for f in policy.facts_of(d.Waive) if f.code is not None and f.code.text in names] if waived else []
    waivers = tuple(Statement.of(f.span, written(f)) for f in said)
    return CellPosition(table.name, codes, contributors, largest, waived, waivers)


def memberships(problem: TableProblem, cell: int, pattern: Pattern | None) -> tuple[Membership, ...]:
    """The relations of the tables that the cell is in; sums that exist only to be protected are told apart."""
    data = problem.dataset
    equation, of, coefficient = (data[x].values for x in ("equation_of", "cell_of", "coefficient"))
    published = data["published"].values
    out: list[Membership] = []
    for e in equation[of == cell].tolist():
        entries = equation == e
        others = of[entries & (of != cell)]
        if not published[others].all():
            continue
        label = problem.relations.label(e)
        hidden = None if pattern is None else int((pattern.status[others] != EXACT).sum())
        own = float(coefficient[entries & (of == cell)][0])
        total = own < 0 and bool((coefficient[entries & (of != cell)] > 0).all())
        out.append(Membership(str(label) if label is not None else f"relation {e}", total, len(others), hidden))
    return tuple(out)


def sums_with(problem: TableProblem, cell: int) -> tuple[int, ...]:
    """The sums of hidden cells that are protected beside the tables, and that the cell is part of."""
    data = problem.dataset
    equation, of = data["equation_of"].values, data["cell_of"].values
    extra = np.flatnonzero(~data["published"].values)
    mine = np.isin(equation, equation[of == cell]) & np.isin(of, extra)
    return tuple(int(c) for c in np.unique(of[mine]))


# ---- what makes it sensitive -----------------------------------------------------------------------


def findings(problem: TableProblem, cell: int) -> tuple[Finding, ...]:
    """What marks the cell; and of rules that do not, how far they are from it."""
    out: list[Finding] = []
    for marked in problem.marked:
        marks = bool((marked.at == cell).any())
        said = list(_judgements(problem, marked, cell))
        out += [finding for finding in said if finding.marks or not marks]
        if marks and not said:
            out.append(Finding(Statement.of(marked.span, marked.what), True, _given(problem, marked, cell)))
    return tuple(out)


def _given(problem: TableProblem, marked: SensitiveCells, cell: int) -> str | None:
    if marked.fact is not None:
        return None
    for view, table in zip(problem.views, problem.tables, strict=False):
        local = _local(view, cell)
        if local is not None and table.given is not None:
            return f"levels {table.given.lpl[local]:.9g} below and {table.given.upl[local]:.9g} above in the file"
    return None


def _judgements(problem: TableProblem, marked: SensitiveCells, cell: int) -> Iterator[Finding]:
    fact = marked.fact
    if not isinstance(fact, d.Sensitive) or fact.rule is None:
        return
    described, rule = find_rule(fact.rule.name), rule_called(fact.rule)
    if described is None or rule is None or described.reads_status:
        return
    for view, table in zip(problem.views, problem.tables, strict=False):
        local = _local(view, cell)
        if local is None or table.judged is None or fact.cells.table not in (None, table.name):
            continue
        if not view.has(fact.cells.where):
            continue
        holds, _ = Evaluator(view, np.array([local])).holds(fact.cells.where)
        seen = _one(table.judged, local)
        if rule.largest_needed > table.known_largest:
            continue
        judged = RULES.call(described.name, rule.judge, seen)
        marks = bool(holds[0] and judged.sensitive[0])
        words = RULES.call(described.name, rule.said, seen, 0)
        if not holds[0] and words is not None:
            words += "; its condition does not hold here"
        levels = (float(judged.lower[0]), float(judged.upper[0])) if marks else (0.0, 0.0)
        yield Finding(Statement.of(marked.span, marked.what), marks, words, table.name, *levels)


def _one(cells: RuleCells, at: int) -> RuleCells:
    """The same facts about one cell alone."""
    one = slice(at, at + 1)
    requested = cells.requested[one] if cells.requested is not None else None
    return replace(
        cells,
        value=cells.value[one],
        count=cells.count[one],
        nonzero=cells.nonzero[one],
        absolute=cells.absolute[one],
        largest=cells.largest[one],
        requested=requested,
    )


def touches(problem: TableProblem, cell: int) -> tuple[Touch, ...]:
    return tuple(
        Touch(stated.word, Statement.of(stated.span, stated.what))
        for stated in problem.stated
        if (stated.cells == cell).any()
    )
