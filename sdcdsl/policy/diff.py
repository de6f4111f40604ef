"""What a change of policy means, statement by statement.

Each edit says whether protection became `tighter` or `looser`, stayed the same (`neutral`), or whether only the data
can tell (`needs data`). The verdict is about what the policy asks for: a cost moves the choice of cells, not the
protection they get, and is neutral.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sdcdsl.diagnostics import Span
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import compare, multiple
from sdcdsl.policy.checks.options import bind_arguments
from sdcdsl.policy.resolve import KINDS, Policy
from sdcdsl.policy.write import fact, heading, statement
from sdcdsl.vocabulary.option import options_of
from sdcdsl.vocabulary.plugins import find_rule


class Verdict(StrEnum):
    TIGHTER = "tighter"
    LOOSER = "looser"
    NEUTRAL = "neutral"
    NEEDS_DATA = "needs data"

    @property
    def opposite(self) -> Verdict:
        return {Verdict.TIGHTER: Verdict.LOOSER, Verdict.LOOSER: Verdict.TIGHTER}.get(self, self)


@dataclass(frozen=True)
class Edit:
    """One change: `old` is None for what was added, `new` for what was taken away."""

    verdict: Verdict
    where: str  # the block, or "policy"
    old: str | None
    new: str | None
    old_span: Span | None = None
    new_span: Span | None = None
    why: str = ""

    @property
    def kind(self) -> str:
        return "added" if self.old is None else "removed" if self.new is None else "changed"


def diff(old: Policy, new: Policy) -> list[Edit]:
    edits = list(_settings(old, new))
    for kind in KINDS:
        edits += _blocks(kind, old.blocks[kind], new.blocks[kind])
    edits += _facts(old, new)
    return edits


def overall(edits: Iterable[Edit]) -> Verdict:
    """The verdict of all edits together: loosening somewhere is loosening, unless only the data can tell."""
    found = {e.verdict for e in edits}
    for verdict in (Verdict.LOOSER, Verdict.NEEDS_DATA, Verdict.TIGHTER):
        if verdict in found:
            return verdict
    return Verdict.NEUTRAL


def _settings(old: Policy, new: Policy) -> Iterator[Edit]:
    for word in ("title", "seed"):
        a, b = getattr(old, word), getattr(new, word)
        if a != b:
            text = "policy" if word == "title" else "seed"
            yield Edit(Verdict.NEUTRAL, "policy", _said(text, a), _said(text, b), why="says nothing about protection")


def _said(word: str, value: object) -> str | None:
    return None if value is None else f'{word} "{value}"' if isinstance(value, str) else f"{word} {value}"


# ---- blocks --------------------------------------------------------------------------------------------


def _blocks(kind: str, old: Any, new: Any) -> Iterator[Edit]:
    for name in [*old, *(n for n in new if n not in old)]:
        if name not in new:
            block = old[name]
            verdict, why = _whole(block, new)
            yield Edit(verdict.opposite, heading(block), heading(block), None, block.heading, why=_undone(why))
        elif name not in old:
            block = new[name]
            verdict, why = _whole(block, old)
            yield Edit(verdict, heading(block), None, heading(block), new_span=block.heading, why=why)
        else:
            yield from _block(old[name], new[name])


def _whole(block: d.Block, others: Any) -> tuple[Verdict, str]:
    """The verdict of adding a whole block; taking it away is the opposite."""
    if block.kind == "protect" and any(set(block.tables) & set(o.tables) for o in others.values()):
        return Verdict.NEEDS_DATA, "another release of a table that is protected elsewhere too"
    return _WHOLE[block.kind]


# Reasons of additions, and what they become when the same thing is taken away.
_REVERSED = {
    "more tables are protected": "fewer tables are protected",
    "more cells are sensitive": "fewer cells are sensitive",
    "fewer cells are sensitive": "more cells are sensitive",
    "more cells are hidden": "fewer cells are hidden",
    "more cells are published as they are": "fewer cells are published as they are",
    "more is required": "less is required",
    "the attacker knows more": "the attacker knows less",
    "the attacker knows less": "the attacker knows more",
    "more is guarded against": "less is guarded against",
    "asks for a level that was not asked for": "a level is no longer asked for",
    "the level, for some cells, rises": "the level, for some cells, falls",
    "the level, for some cells, falls": "the level, for some cells, rises",
}


def _undone(why: str) -> str:
    return _REVERSED.get(why, why)


_WHOLE = {
    "dimension": (Verdict.NEEDS_DATA, "what is published changes"),
    "data": (Verdict.NEEDS_DATA, "the data changes"),
    "table": (Verdict.NEEDS_DATA, "what is published changes"),
    "attacker": (Verdict.NEUTRAL, "counts only where a protect block names it"),
    "scenario": (Verdict.NEUTRAL, "counts only where a protect block names it"),
    "protect": (Verdict.TIGHTER, "more tables are protected"),
}


def _block(old: d.Block, new: d.Block) -> Iterator[Edit]:
    where = heading(new)
    if old.tables != new.tables:
        gone = set(old.tables) - set(new.tables)
        verdict = Verdict.LOOSER if gone else Verdict.TIGHTER if set(new.tables) - set(old.tables) else Verdict.NEUTRAL
        why = "a table is no longer protected here" if gone else "tables protected together"
        yield Edit(verdict, where, heading(old), heading(new), old.heading, new.heading, why)
    before, after = _keyed(old.statements), _keyed(new.statements)
    for key, a in before.items():
        b = after.get(key)
        if b is None:
            verdict, why = _alone(a, new)
            yield Edit(verdict.opposite, where, _text(a), None, a.span, why=_undone(why))
        elif a != b:
            verdict, why = _changed(a, b)
            yield Edit(verdict, where, _text(a), _text(b), a.span, b.span, why)
    for key, b in after.items():
        if key not in before:
            verdict, why = _alone(b, old)
            yield Edit(verdict, where, None, _text(b), new_span=b.span, why=why)
    yield from _order(where, before, after)


def _text(s: d.Statement) -> str:
    return " ".join(statement(s).split())


def _keyed(statements: Sequence[d.Statement]) -> dict[Hashable, d.Statement]:
    out: dict[Hashable, d.Statement] = {}
    for s in statements:
        key: Hashable = _key(s)
        out[key] = s  # R1: the last one counts
    return out


def _key(s: d.Statement) -> Hashable:
    match s:
        case d.Level(level, _, against, where):
            return ("level", level, against, where)
        case d.Cost(_, price, where):
            return ("cost", price, where)
        case d.Bounds(_, _, where):
            return ("bounds", where)
        case d.Knows(what):
            return ("knows", what)
        case d.Column(role, _, rank):
            return ("column", role, rank)
        case d.ColumnOf(quantity, _, rank):
            return ("column of", quantity, rank)
        case d.HierarchySum(total, _, name):
            return ("sum", total, name)
        case d.HierarchyFile(_, name) | d.HierarchyPrefix(_, name) | d.HierarchyTree(_, name):
            return ("hierarchy", name)
        case d.Release(file):
            return ("release", file.path)
    return type(s).__name__


def _order(where: str, before: dict, after: dict) -> Iterator[Edit]:
    """R1 makes the order of competing statements count."""
    common = [k for k in before if k in after and isinstance(k, tuple) and k[0] in ("level", "cost", "bounds")]
    for family in ("level", "bounds"):
        a = [k for k in common if k[0] == family]
        b = [k for k in after if k in set(a)]
        if a != b:
            moved = next(k for k, other in zip(b, a, strict=True) if k != other)
            yield Edit(
                Verdict.NEEDS_DATA,
                where,
                _text(before[moved]),
                _text(after[moved]),
                before[moved].span,
                after[moved].span,
                "the order changed, and the last match wins",
            )


def _changed(a: d.Statement, b: d.Statement) -> tuple[Verdict, str]:
    match a, b:
        case d.Level(), d.Level():
            return _amounts(a.amount, b.amount, "the level")
        case d.Bounds(), d.Bounds():
            return _bounds(a, b)
        case d.Against(), d.Against():
            return _names(a.attackers, b.attackers, "attacker")
        case d.Scenarios(), d.Scenarios():
            return _names(a.names, b.names, "scenario")
        case d.MethodChain(), d.MethodChain():
            return _methods(a, b)
        case (d.Cost(), _):
            return Verdict.NEUTRAL, "moves the choice of cells, not their protection"
        case (d.Release() | d.Assess() | d.UnitOf(), _):
            return Verdict.NEUTRAL, "says nothing about protection"
    return Verdict.NEEDS_DATA, "its effect shows in the cells"


def _alone(s: d.Statement, other: d.Block) -> tuple[Verdict, str]:
    """The verdict of adding the statement to the other block; taking it away is the opposite."""
    match s:
        case d.Level(level, amount, against, where):
            if where is None and against is None:
                return Verdict.TIGHTER, "asks for a level that was not asked for"
            general = next(
                (o for o in reversed(other.all(d.Level)) if o.level == level and o.where is None and o.against is None),
                None,
            )
            if general is None:
                return Verdict.TIGHTER, "asks for a level that was not asked for"
            return _amounts(general.amount, amount, "the level, for some cells,")
        case d.Bounds(where=where):
            general = next((o for o in reversed(other.all(d.Bounds)) if o.where is None), None)
            if where is not None and general is not None:
                return _bounds(general, s)
            return Verdict.NEEDS_DATA, "what the attacker knows changes"
        case d.Knows() | d.Coalition() | d.Against() | d.Scenarios():
            return Verdict.TIGHTER, "the attacker knows more" if isinstance(s, d.Knows) else "more is guarded against"
        case d.Cost():
            return Verdict.NEUTRAL, "moves the choice of cells, not their protection"
        case d.Release() | d.Assess() | d.UnitOf():
            return Verdict.NEUTRAL, "says nothing about protection"
    return Verdict.NEEDS_DATA, "its effect shows in the cells"


def _amounts(a: x.Expression, b: x.Expression, what: str) -> tuple[Verdict, str]:
    match compare(b, a):
        case 1:
            return Verdict.TIGHTER, f"{what} rises"
        case -1:
            return Verdict.LOOSER, f"{what} falls"
        case 0:
            return Verdict.NEUTRAL, f"{what} is the same"
    return Verdict.NEEDS_DATA, f"{what} rises in some cells and may fall in others"


def _bounds(a: d.Bounds, b: d.Bounds) -> tuple[Verdict, str]:
    if a.low is None or b.low is None:
        return Verdict.NEEDS_DATA, "the data gives the bounds"
    low, high = _bound_moved(a.low, b.low), _bound_moved(a.high, b.high)
    if low is None or high is None or low * high > 0:
        return Verdict.NEEDS_DATA, "the bounds move, which way shows in the cells"
    if low > 0 or high < 0:
        return Verdict.TIGHTER, "the attacker knows more"
    if low < 0 or high > 0:
        return Verdict.LOOSER, "the attacker knows less"
    return Verdict.NEUTRAL, "the bounds are the same"


def _bound_moved(a: x.Expression | None, b: x.Expression | None) -> int | None:
    if isinstance(a, x.Infinity) or isinstance(b, x.Infinity):
        return (not isinstance(a, x.Infinity)) - (not isinstance(b, x.Infinity))
    zero = multiple(a), multiple(b)
    # Zero lies below every share of a value.
    if zero[0] and zero[1] and zero[0].base != zero[1].base and 0.0 in (zero[0].factor, zero[1].factor):
        return (zero[1].factor > 0) - (zero[0].factor > 0)
    return compare(b, a)


def _names(a: tuple[str, ...], b: tuple[str, ...], what: str) -> tuple[Verdict, str]:
    gone, come = sorted(set(a) - set(b)), sorted(set(b) - set(a))
    if gone and come:
        return Verdict.NEEDS_DATA, f"{what} {', '.join(gone)} replaced by {', '.join(come)}"
    if gone:
        return Verdict.LOOSER, f"{what} {', '.join(gone)} is no longer guarded against"
    if come:
        return Verdict.TIGHTER, f"{what} {', '.join(come)} is guarded against too"
    return Verdict.NEUTRAL, "only the order changed"


_EFFORT = frozenset({"gap", "time_limit", "threads", "backend"})


def _methods(a: d.MethodChain, b: d.MethodChain) -> tuple[Verdict, str]:
    if [e.name for e in a.engines] != [e.name for e in b.engines]:
        return Verdict.NEEDS_DATA, "another method publishes something else"
    for one, other in zip(a.engines, b.engines, strict=True):
        changed = {o.name for o in set(one.options) ^ set(other.options)}
        if not changed <= _EFFORT:
            return Verdict.NEEDS_DATA, "what is published changes"
    return Verdict.NEUTRAL, "how long to search says nothing about protection"


# ---- facts --------------------------------------------------------------------------------------------------


def _facts(old: Policy, new: Policy) -> Iterator[Edit]:
    a, b = _counted(old.facts), _counted(new.facts)
    gone = [f for f in a if f not in b]
    come = [f for f in b if f not in a]
    for before in gone:
        after = next((f for f in come if _alike(before, f)), None)
        if after is None:
            verdict, why = _fact(before)
            yield Edit(verdict.opposite, "policy", fact(before), None, before.span, why=_undone(why))
        else:
            come.remove(after)
            verdict, why = _fact_changed(before, after)
            yield Edit(verdict, "policy", fact(before), fact(after), before.span, after.span, why)
    for after in come:
        verdict, why = _fact(after)
        yield Edit(verdict, "policy", None, fact(after), new_span=after.span, why=why)


def _counted(facts: tuple[d.Fact, ...]) -> list[d.Fact]:
    return list(dict.fromkeys(facts))


def _alike(a: d.Fact, b: d.Fact) -> bool:
    """Two versions of one statement?"""
    match a, b:
        case d.Sensitive(), d.Sensitive():
            ruled = a.rule is not None and b.rule is not None
            return ruled and a.cells.table == b.cells.table and _rule_name(a.rule) == _rule_name(b.rule)
        case d.Waive(), d.Waive():
            return (a.role, a.code, a.cells) == (b.role, b.code, b.cells)
        case d.Status(), d.Status():
            return (a.status, a.cells) == (b.status, b.cells)
        case d.Require(), d.Require():
            return a.because == b.because or a.condition == b.condition
    return False


def _rule_name(call: x.Call | None) -> str | None:
    """Two names of one rule are one name."""
    rule = find_rule(call.name) if call is not None else None
    return rule.name if rule is not None else call.name if call is not None else None


def _fact(f: d.Fact) -> tuple[Verdict, str]:
    match f:
        case d.Sensitive():
            return Verdict.TIGHTER, "more cells are sensitive"
        case d.Status("suppress"):
            return Verdict.TIGHTER, "more cells are hidden"
        case d.Status():
            return Verdict.LOOSER, "more cells are published as they are"
        case d.Waive():
            return Verdict.LOOSER, "fewer cells are sensitive"
    return Verdict.TIGHTER, "more is required"


def _fact_changed(a: d.Fact, b: d.Fact) -> tuple[Verdict, str]:
    match a, b:
        case d.Sensitive(), d.Sensitive():
            return _rule_changed(a, b)
        case d.Waive(), d.Waive():
            if a.until == b.until:
                return Verdict.NEUTRAL, "only the reason changed"
            later = b.until is None or (a.until is not None and b.until > a.until)
            return (Verdict.LOOSER, "the waiver lasts longer") if later else (Verdict.TIGHTER, "the waiver ends sooner")
        case d.Status(), d.Status():
            return Verdict.NEUTRAL, "only the reason changed"
        case d.Require(), d.Require():
            return _requirement(a, b)
    return Verdict.NEEDS_DATA, "its effect shows in the cells"


def _requirement(a: d.Require, b: d.Require) -> tuple[Verdict, str]:
    if (a.condition, a.where) == (b.condition, b.where):
        return Verdict.NEUTRAL, "only the reason changed"
    old, new = a.condition, b.condition
    if isinstance(old, x.Compare) and isinstance(new, x.Compare) and a.where == b.where:
        same = old.left == new.left and old.operator == new.operator
        if same and old.operator in (">=", ">"):
            return _amounts(old.right, new.right, "what is required")
    return Verdict.NEEDS_DATA, "its effect shows in the cells"


def _rule_changed(a: d.Sensitive, b: d.Sensitive) -> tuple[Verdict, str]:
    assert a.rule is not None and b.rule is not None
    same = (_rule_name(a.rule), a.rule.arguments) == (_rule_name(b.rule), b.rule.arguments)
    if a.cells != b.cells:
        if same and b.cells.where is None:
            return Verdict.TIGHTER, "the rule looks at all cells"
        if same and a.cells.where is None:
            return Verdict.LOOSER, "the rule looks at fewer cells"
        return Verdict.NEEDS_DATA, "the rule looks at other cells"
    rule = find_rule(a.rule.name)
    if rule is None:
        return Verdict.NEEDS_DATA, "its effect shows in the cells"
    known = options_of(rule.arguments)
    old, new = bind_arguments(a.rule, known)[0], bind_arguments(b.rule, known)[0]
    directions = set()
    for name, spec in known.items():
        if name in old and name in new and old[name].value == new[name].value:
            continue
        one = multiple(old[name].value) if name in old else _default(spec.default)
        other = multiple(new[name].value) if name in new else _default(spec.default)
        if one is None or other is None:
            return Verdict.NEEDS_DATA, "its effect shows in the cells"
        step = (other.factor > one.factor) - (other.factor < one.factor)
        directions.add(step * spec.tighter)
    directions.discard(0)
    if directions == {1}:
        return Verdict.TIGHTER, "the rule finds more cells"
    if directions == {-1}:
        return Verdict.LOOSER, "the rule finds fewer cells"
    if not directions:
        return Verdict.NEUTRAL, "the rule says the same" if a.because == b.because else "only the reason changed"
    return Verdict.NEEDS_DATA, "the rule's arguments pull in two directions"


def _default(value: Any):
    if isinstance(value, str) and value.endswith("%"):
        return multiple(x.Percent(value[:-1]))
    return multiple(x.Number(str(value))) if value is not None else None
