"""Which way a change of facts goes. Facts are a set (S8): that two are versions of one is for the reader's sake."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import Sign, compare
from sdcdsl.policy.meaning import bind_arguments, simplified
from sdcdsl.policy.verdicts import ChangeVerdict, VerdictReason, by_signs
from sdcdsl.vocabulary.option import options_of
from sdcdsl.vocabulary.rules import find_rule

Pair = tuple[d.Fact | None, d.Fact | None]


def paired(old: tuple[d.Fact, ...], new: tuple[d.Fact, ...]) -> Iterator[Pair]:
    """What differs: two versions of a fact side by side, the rest alone."""
    before, after = dict.fromkeys(old), dict.fromkeys(new)
    gone, come = [f for f in before if f not in after], [f for f in after if f not in before]
    partner: dict[int, d.Fact] = {}
    for key in _KEYS:  # first what is most alike
        pending: dict[Hashable, deque[d.Fact]] = {}
        for f in come:
            if (k := key(f)) is not None:
                pending.setdefault((type(f), k), deque()).append(f)
        taken: set[int] = set()
        for f in gone:
            k = key(f) if id(f) not in partner else None
            if k is not None and (queue := pending.get((type(f), k))):
                partner[id(f)] = queue.popleft()
                taken.add(id(partner[id(f)]))
        come = [f for f in come if id(f) not in taken]
    yield from ((f, partner.get(id(f))) for f in gone)
    yield from ((None, f) for f in come)


def _same_meaning(f: d.Fact) -> Hashable | None:
    match f:
        case d.Sensitive():
            return (f.cells, _rule_name(f.rule), f.rule.arguments if f.rule else (), f.together, f.file)
        case d.Status():
            return (f.status, f.cells)
        case d.Waive():
            return (f.role, f.code, f.cells)
        case _:
            return (f.condition, f.where)


def _same_cells(f: d.Fact) -> Hashable | None:
    match f:
        case d.Sensitive() if f.rule is not None:
            return (_rule_name(f.rule), f.cells)
        case d.Sensitive() if f.file is not None:
            return (f.cells, f.file.path)
        case d.Sensitive(cells) | d.Status(_, cells) if cells.at:
            return (getattr(f, "status", None), cells.table, getattr(f, "together", False), cells.at[0])
        case d.Require():
            return ("condition", f.condition)
        case _:
            return None


def _same_subject(f: d.Fact) -> Hashable | None:
    match f:
        case d.Sensitive() if f.rule is not None:
            return (_rule_name(f.rule), f.cells.table)
        case d.Sensitive() if f.file is not None:
            return ("file", f.cells.table)
        case d.Sensitive(cells) | d.Status(_, cells) if not cells.at:
            return (getattr(f, "status", None), cells.table)
        case d.Require():
            return ("because", f.because)
        case _:
            return None


_KEYS: tuple[Callable[[d.Fact], Hashable | None], ...] = (_same_meaning, _same_cells, _same_subject)


def _rule_name(call: x.Call | None) -> str | None:
    """Two names of one rule are one name."""
    rule = find_rule(call.name) if call is not None else None
    return rule.name if rule is not None else call.name if call is not None else None


def added(f: d.Fact) -> ChangeVerdict:
    match f:
        case d.Sensitive():
            return ChangeVerdict(VerdictReason.MORE_SENSITIVE)
        case d.Status("suppress"):
            return ChangeVerdict(VerdictReason.MORE_HIDDEN)
        case d.Status():
            return ChangeVerdict(VerdictReason.FEWER_PUBLISHED, undone=True)
        case d.Waive():
            return ChangeVerdict(VerdictReason.MORE_SENSITIVE, undone=True)
        case _:
            return ChangeVerdict(VerdictReason.MORE_REQUIRED)


def changed(a: d.Fact, b: d.Fact) -> ChangeVerdict:
    if _same_meaning(a) == _same_meaning(b) and not isinstance(a, d.Waive):
        return ChangeVerdict(VerdictReason.WHY_ONLY) if getattr(a, "rule", None) is None else _same_rule(a, b)
    match a, b:
        case d.Sensitive(), d.Sensitive() if a.rule is not None and b.rule is not None:
            return _rule_changed(a, b, a.rule, b.rule)
        case d.Sensitive(), d.Sensitive() if a.together or b.together:
            return ChangeVerdict(VerdictReason.OTHER_CELLS)  # another sum is another cell
        case (d.Sensitive(), d.Sensitive()) | (d.Status(), d.Status()) if a.cells.at and b.cells.at:
            return _addresses(a, b)
        case d.Waive(), d.Waive():
            if a.until == b.until:
                return ChangeVerdict(VerdictReason.WHY_ONLY)
            later = b.until is None or (a.until is not None and b.until > a.until)
            return ChangeVerdict(VerdictReason.WAIVER_ENDS, undone=later)
        case d.Require(), d.Require():
            return _requirement(a, b)
        case _:
            return ChangeVerdict(VerdictReason.OTHER_CELLS)


def _same_rule(a: d.Fact, b: d.Fact) -> ChangeVerdict:
    why = a.because == b.because
    return ChangeVerdict(VerdictReason.SAME, about=("the rule",)) if why else ChangeVerdict(VerdictReason.WHY_ONLY)


def _addresses(a: d.Sensitive | d.Status, b: d.Sensitive | d.Status) -> ChangeVerdict:
    old, new = set(a.cells.at), set(b.cells.at)
    if old - new and new - old:
        return ChangeVerdict(VerdictReason.OTHER_CELLS)
    if old == new:
        return ChangeVerdict(VerdictReason.WHY_ONLY)
    published = isinstance(a, d.Status) and a.status != "suppress"
    found = ChangeVerdict(
        VerdictReason.FEWER_PUBLISHED if published else VerdictReason.MORE_ADDRESSES, undone=published
    )
    return found if new > old else found.back


def _requirement(a: d.Require, b: d.Require) -> ChangeVerdict:
    old, new = a.condition, b.condition
    if old == new:  # asked of other cells
        if simplified(b.where) is True or simplified(a.where) is True:
            return ChangeVerdict(VerdictReason.MORE_REQUIRED, undone=simplified(a.where) is True)
        return ChangeVerdict(VerdictReason.OTHER_CELLS)
    if isinstance(old, x.Compare) and isinstance(new, x.Compare) and a.where == b.where:
        same = old.left == new.left and old.operator == new.operator
        if same and isinstance(old.left, x.Name) and old.left.name in ("lpl", "upl", "spl"):
            sign = compare(new.right, old.right) if old.operator in (">=", ">") else None
            return by_signs({sign}, VerdictReason.ASKS_MORE, VerdictReason.MIXED, "what is required")
    return ChangeVerdict(VerdictReason.CELLS_TELL)


def _rule_changed(a: d.Sensitive, b: d.Sensitive, one: x.Call, other: x.Call) -> ChangeVerdict:
    if a.cells != b.cells:
        alike = one.arguments == other.arguments and a.cells.table == b.cells.table
        if alike and None in (a.cells.where, b.cells.where):
            return ChangeVerdict(VerdictReason.RULE_LOOKS, undone=a.cells.where is None)
        return ChangeVerdict(VerdictReason.OTHER_CELLS)
    rule = find_rule(one.name)
    if rule is None:
        return ChangeVerdict(VerdictReason.CELLS_TELL)
    known = options_of(rule.arguments)
    old, new = bind_arguments(one, known)[0], bind_arguments(other, known)[0]
    signs: set[Sign] = set()
    for name, spec in known.items():
        was = old[name].value if name in old else _default(spec.default)
        now = new[name].value if name in new else _default(spec.default)
        step = compare(now, was)
        # Which way an argument works is the rule's to say; a plug-in may keep silent.
        signs.add(step * spec.tighter if step is not None and (spec.tighter or step == 0) else None)
    if None in signs:
        return ChangeVerdict(VerdictReason.CELLS_TELL)
    return by_signs(signs, VerdictReason.RULE_FINDS, VerdictReason.PULLS) if signs - {0} else _same_rule(a, b)


def _default(value: Any) -> x.Expression | None:
    if isinstance(value, str) and value.endswith("%"):
        return x.Percent(value[:-1])
    return x.Number(str(value)) if isinstance(value, int | float) else None
