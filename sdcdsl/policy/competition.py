"""R1 without data: how the amounts of competing statements move between two versions of a block.

A statement decides the cells that it matches and no later one does. Seen from one version, a statement of the other can
take over from every statement that may have decided the same cells. It cannot take over from what stands below it in
its own version too (that still wins), nor, where it stood in both, from what stood above it (it won already). So it is
enough to compare each added, removed, changed or moved statement with those, and two versions in which every such
comparison points one way differ in that way in every cell.

An amount is a tuple of expressions that tighten as they grow: `(amount,)` of a level, `(low, -high)` of bounds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import Extremes, Sign
from sdcdsl.policy.meaning import covered, simplified

Amount = tuple[x.Expression, ...]
LevelStatement = d.Level | d.Conditional
_MOST_MOVED = 50  # a list that was turned over is not taken apart: its moves need data


Signs = set[Sign]  # how what a statement brings compares with what it takes over from


@dataclass(frozen=True, eq=False)
class _Entry:
    statement: LevelStatement | d.Bounds
    amount: Amount
    against: str | None
    everywhere: bool
    key: int  # the same for the same cells and attackers
    alive: bool


def amount_of(statement: LevelStatement | d.Bounds) -> Amount:
    if isinstance(statement, LevelStatement):
        return (statement.amount,)
    if statement.low is None or statement.high is None:
        given = x.Call("given", ())  # known to the data alone: equal to itself, and between the infinities
        return (given, x.Negative(given))
    return (statement.low, x.Negative(statement.high))


def moves(
    old: Sequence[LevelStatement] | Sequence[d.Bounds],
    new: Sequence[LevelStatement] | Sequence[d.Bounds],
    defaults: Iterable[Amount],
    into: dict[int, Signs],
) -> None:
    """Add to `into`, by the identity of each statement that differs, the signs of new less old amounts.

    `defaults` are the amounts of a cell that no statement matches. A statement that no cell uses gets no signs.
    """
    known: dict[Hashable, Any] = {}  # equal keys and amounts are made one, so that they are compared only once
    before, after, defaults = _entries(old, known), _entries(new, known), list(defaults)
    stable = _stable([e.key for e in before], [e.key for e in after])
    _take_over(before, after, stable, defaults, 1, into)
    _take_over(after, before, stable, defaults, -1, into)


def _entries(statements: Sequence[LevelStatement] | Sequence[d.Bounds], known: dict[Hashable, Any]) -> list[_Entry]:
    unused = {id(s) for s, _ in covered(statements)}
    last: dict[int, _Entry] = {}
    for s in statements:
        where, against = simplified(s.where), getattr(s, "against", None)
        if where is False:
            continue
        key = known.setdefault((against, where), len(known))
        amount = amount_of(s)
        amount = known.setdefault(("amount", amount), amount)
        last.pop(key, None)
        last[key] = _Entry(s, amount, against, where is True, key, id(s) not in unused)
    return list(last.values())


def _stable(before: list[int], after: list[int]) -> set[int]:
    """A longest sequence of keys that both lists hold in the same order."""
    place = {key: i for i, key in enumerate(before)}
    common = [key for key in after if key in place]
    ends: list[int] = []  # the smallest last place of a sequence of each length
    heads: list[int] = []
    previous: list[int] = []
    for i, key in enumerate(common):
        at = bisect_left(ends, place[key])
        previous.append(heads[at - 1] if at else -1)
        ends[at : at + 1] = [place[key]]
        heads[at : at + 1] = [i]
    out: set[int] = set()
    i = heads[-1] if heads else -1
    while i >= 0:
        out.add(common[i])
        i = previous[i]
    return out


class _Pool:
    """Amounts that may be taken over from, by the attacker they are for."""

    def __init__(self, width: int):
        self.width = width
        self.by: dict[str | None, list[Extremes]] = {}
        self.all = [Extremes() for _ in range(width)]
        self.seen: set[tuple[int, str | None]] = set()

    def add(self, amount: Amount, against: str | None) -> None:
        if (id(amount), against) in self.seen:
            return
        self.seen.add((id(amount), against))
        mine = self.by.setdefault(against, [Extremes() for _ in range(self.width)])
        for part, own, every in zip(amount, mine, self.all, strict=True):
            own.add(part)
            every.add(part)

    def signs(self, amount: Amount, against: str | None) -> Signs:
        pools = [self.all] if against is None else [self.by[k] for k in (None, against) if k in self.by]
        return {sign for pool in pools for part, one in zip(amount, pool, strict=True) for sign in one.signs(part)}


def _take_over(
    source: list[_Entry],
    target: list[_Entry],
    stable: set[int],
    defaults: list[Amount],
    way: int,
    into: dict[int, Signs],
) -> None:
    """The signs of those statements of `target` that `source` does not hold alike."""
    if not target:
        return
    width = len(target[0].amount)
    was = {e.key: e for e in source}
    gone_below = _gone_below(source, target, stable, width)
    passed = _Pool(width)
    for e in source:
        if e.alive and e.key not in stable:
            passed.add(e.amount, e.against)
    closed = {e.against for e in source if e.everywhere}  # where nothing is left to the defaults
    moved = 0
    for e in target:
        old = was.get(e.key)
        kept = old is not None and e.key in stable
        if not kept or (old is not None and old.amount is not e.amount):
            signs = into.setdefault(id(e.statement), set())
            if e.alive:
                if kept and old is not None:
                    found = gone_below[e.key] | (_alone(e, [old.amount]) if old.alive else Signs())
                elif old is not None:
                    moved += 1
                    found = _moved(e, source, target) if moved <= _MOST_MOVED else {None}
                else:
                    found = passed.signs(e.amount, e.against) | _alone(
                        e, [] if closed & {None, e.against} else defaults
                    )
                signs |= {sign if sign is None else sign * way for sign in found}
        if kept and old is not None and old.alive:
            passed.add(old.amount, old.against)


def _alone(e: _Entry, others: Iterable[Amount]) -> Signs:
    return {
        sign for a, parts in zip(e.amount, zip(*others, strict=True), strict=False) for sign in Extremes(parts).signs(a)
    }


def _gone_below(source: list[_Entry], target: list[_Entry], stable: set[int], width: int) -> dict[int, Signs]:
    """For each kept statement: how it compares with what stood below it and does not any more."""
    stable_target = {e.key: e for e in target if e.key in stable}
    pool = _Pool(width)
    out: dict[int, Signs] = {}
    for e in reversed(source):
        if e.key in stable_target:
            now = stable_target[e.key]
            out[e.key] = pool.signs(now.amount, now.against) if now.amount is not e.amount else set()
        elif e.alive:
            pool.add(e.amount, e.against)
    return out


def _moved(e: _Entry, source: list[_Entry], target: list[_Entry]) -> Signs:
    """A statement in another place takes over from itself, and from what it has overtaken."""
    below = False
    after: set[int] = set()
    for other in target:
        if below:
            after.add(other.key)
        below = below or other.key == e.key
    start = next(i for i, other in enumerate(source) if other.key == e.key)
    overtaken = (
        other
        for other in source[start + 1 :]
        if other.key not in after and (other.against is None or e.against is None or other.against == e.against)
    )
    rivals = {id(other.amount): other.amount for other in (source[start], *overtaken) if other.alive}
    return _alone(e, rivals.values())
