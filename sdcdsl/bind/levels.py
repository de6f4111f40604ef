"""How uncertain every attacker must stay about every sensitive cell.

The levels of a protect block hold against the attackers it names. A scenario is a set of its own: its attackers, and
the block's levels followed by the scenario's (last match wins within the set). All sets must hold, so where two of them
speak of one attacker and cell, the larger level counts.

Conditional levels are for the other cells: they hold against everybody whom the block protects against, should a
release not publish the cell as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sdcdsl.bind.evaluate import Clause, View, last_match
from sdcdsl.bind.naming import cells, first_cells
from sdcdsl.diagnostics import Diagnostic, Span, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.competition import LevelStatement
from sdcdsl.policy.meaning import LEVELS, level_sets
from sdcdsl.policy.resolve import Policy

_NEEDED = {"lpl": "needed_lower", "upl": "needed_upper", "spl": "needed_sliding"}
_GIVEN = {level: d.Level(level, x.Name("needed")) for level in LEVELS}  # what a JJ file brings along (S31)


@dataclass(frozen=True, eq=False)
class AttackerLevels:
    """Levels against one declared attacker, for every cell: for those that are not sensitive the conditional ones."""

    attacker: str
    amounts: dict[str, np.ndarray]
    spans: dict[str, np.ndarray]  # which statement decided, as an index into `statements`
    statements: tuple[Span | None, ...]


def levels(
    policy: Policy,
    protect: d.Block,
    attackers: Sequence[str],
    views: Sequence[View],
    sensitive: np.ndarray,
    touchable: np.ndarray,
    name: Callable[[int], str],
) -> tuple[list[AttackerLevels], list[Diagnostic]]:
    """`touchable`: cells that are not sensitive, and that a release may leave out or blur."""
    found: list[Diagnostic] = []
    made = {attacker: _Collected(len(sensitive)) for attacker in attackers}
    sets = [(names, said, sensitive) for names, said in _sets(policy, protect, attackers)]
    if conditional := protect.all(d.Conditional):
        sets.append((attackers, conditional, touchable))
    for names, statements, about in sets:
        for attacker in (a for a in names if a in made):  # whose bounds are wrong has no levels either
            for level in LEVELS:
                chosen = [s for s in statements if s.level == level and s.against in (None, attacker)]
                needed = {"needed": _NEEDED[level]}
                clauses = [Clause(s.amount, s.where, s.span, needed, s is _GIVEN[level]) for s in chosen]
                amount, by, problems = last_match(views, clauses, about, name)
                found += problems + _below_zero(level, amount, by, chosen, name)
                made[attacker].add(level, np.where(by >= 0, amount, 0.0), by, [s.span for s in chosen])
    return [made[a].done(a) for a in attackers], found


def _below_zero(
    level: str, amount: np.ndarray, by: np.ndarray, said: Sequence[LevelStatement], name: Callable[[int], str]
) -> list[Diagnostic]:
    out = []
    negative = np.flatnonzero((by >= 0) & (amount < 0))
    for index in np.unique(by[negative]):
        chosen = negative[by[negative] == index]
        headline = f"`{level}` is below zero in {cells(chosen)}"
        out.append(diagnostic("SDC126", headline, said[int(index)].span, notes=[first_cells(chosen, name)]))
    return out


def _sets(
    policy: Policy, protect: d.Block, attackers: Sequence[str]
) -> list[tuple[Sequence[str], Sequence[LevelStatement]]]:
    given = list(_GIVEN.values())
    return [
        (attackers if one.attackers is None else one.attackers, [*given, *one.levels])
        for one in level_sets(policy, protect)
    ]


class _Collected:
    def __init__(self, n: int):
        self.amounts = {level: np.zeros(n) for level in LEVELS}
        self.spans = {level: np.full(n, -1, dtype=np.int64) for level in LEVELS}
        self.statements: list[Span | None] = []

    def add(self, level: str, amount: np.ndarray, by: np.ndarray, spans: list[Span | None]) -> None:
        base = len(self.statements)
        self.statements += spans
        larger = amount > self.amounts[level]
        self.amounts[level] = np.where(larger, amount, self.amounts[level])
        self.spans[level] = np.where(larger & (by >= 0), by + base, self.spans[level])

    def done(self, attacker: str) -> AttackerLevels:
        return AttackerLevels(attacker, self.amounts, self.spans, tuple(self.statements))
