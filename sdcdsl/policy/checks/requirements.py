"""Requirements that the policy's own amounts already break, whatever the data.

A level has, in some cells, the amount of each statement that is not covered by a later one; each of them must satisfy
the requirement on its own. An attacker whom several scenarios name meets the largest of their levels (S19).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.policy import document as d
from sdcdsl.policy import expressions as x
from sdcdsl.policy.amounts import at_least
from sdcdsl.policy.meaning import LEVELS, LevelSet, brings_levels, covered, level_sets, simplified
from sdcdsl.policy.resolve import Policy
from sdcdsl.policy.write import expression

_MOST = 20_000  # choices of statements to try; data shows the rest
_Choice = tuple[x.Expression, d.Level | None]  # an amount a level has in some cells, and who says so
_ZERO: _Choice = (x.Number("0"), None)


def check(policy: Policy) -> Iterator[Diagnostic]:
    facts = [f for f in policy.facts_of(d.Require) if simplified(f.where) is True]
    if not facts:
        return
    for protect in policy.protects.values():
        if policy.is_damaged(protect.span):
            continue
        met = _met(policy, protect)
        for fact in facts:
            yield from _broken(fact, protect, met)


def _broken(fact: d.Require, protect: d.Block, met: Sequence[Mapping[str, list[_Choice]]]) -> Iterator[Diagnostic]:
    reported: set[tuple[str, int]] = set()
    for choices in met:
        for name, said in _culprits(fact.condition, choices):
            if (name, id(said)) not in reported:
                reported.add((name, id(said)))
                place = said.span if said is not None else protect.heading
                headline = f"`{protect.name}` breaks the requirement {expression(fact.condition)}"
                found = diagnostic("SDC142", headline, place, fact.because)
                if said is None:
                    found = found.note(f"nothing states `{name}` here, so that it is zero")
                yield found.mark(fact.span, "required here")


def _culprits(condition: x.Expression, choices: Mapping[str, list[_Choice]]) -> Iterator[tuple[str, d.Level | None]]:
    used = {e.name for e in x.walk(condition) if isinstance(e, x.Name)}
    names = [level for level in LEVELS if level in used]
    alone = [
        (name, said) for name in names for amount, said in choices[name] if holds(condition, {name: amount}) is False
    ]
    yield from alone
    if alone or len(names) < 2:
        return
    for chosen in islice(product(*(choices[name] for name in names)), _MOST):
        levels = {name: amount for name, (amount, _) in zip(names, chosen, strict=True)}
        if holds(condition, levels) is False:
            yield next(((name, by) for name, (_, by) in zip(names, chosen, strict=True) if by), (names[0], None))
            return


def _met(policy: Policy, protect: d.Block) -> list[dict[str, list[_Choice]]]:
    """For every attacker the amounts each level may have; attackers who meet the same are one."""
    sets = level_sets(policy, protect)
    given = brings_levels(policy, protect)
    amounts = [{level: _choices(one, level, None, given) for level in LEVELS} for one in sets if one.attackers is None]
    groups: dict[tuple[tuple[int, ...], str | None], str] = {}
    for attacker in dict.fromkeys(a for one in sets for a in one.attackers or ()):
        special = any(s.against == attacker for one in sets for s in one.levels)
        mine = tuple(i for i, one in enumerate(sets) if attacker in (one.attackers or ()))
        groups.setdefault((mine, attacker if special else None), attacker)
    for (mine, _), attacker in groups.items():
        found = [{level: _choices(sets[i], level, attacker, given) for level in LEVELS} for i in mine]
        amounts.append({level: _largest([one[level] for one in found]) for level in LEVELS})
    return amounts


def _choices(one: LevelSet, level: str, attacker: str | None, given: bool | None) -> list[_Choice]:
    said = [s for s in one.levels if s.level == level and s.against in (None, attacker)]
    if not said:
        return [_ZERO] if given is False else []  # a table's file states levels of its own (S31)
    # For one attacker it makes no difference whether a statement names that one.
    bare = [d.Level(s.level, s.amount, None, s.where) for s in said]
    dead = {id(b) for b, _ in covered(bare)}
    return [(_needed(s.amount, level), s) for s, b in zip(said, bare, strict=True) if id(b) not in dead]


def _largest(sets: Sequence[list[_Choice]]) -> list[_Choice]:
    if len(sets) == 1:
        return sets[0]
    out: list[_Choice] = []
    for chosen in islice(product(*sets), _MOST):
        said = next((by for _, by in reversed(chosen) if by is not None), None)
        out.append((x.Call("max", tuple(x.Argument(None, amount) for amount, _ in chosen)), said))
    return out


def _needed(e: x.Expression, level: str) -> x.Expression:
    """`needed` means the level below in `lpl` and the level above in `upl` (S16): two things."""
    return _replaced(e, {"needed": x.Name(f"needed {level}")})


def _replaced(e: x.Expression, names: Mapping[str, x.Expression]) -> x.Expression:
    match e:
        case x.Name(name):
            return names.get(name, e)
        case x.Negative(value):
            return x.Negative(_replaced(value, names))
        case x.Binary(operator, left, right):
            return x.Binary(operator, _replaced(left, names), _replaced(right, names))
        case x.Call(name, arguments):
            return x.Call(name, tuple(x.Argument(a.name, _replaced(a.value, names)) for a in arguments))
        case x.Cond(condition, then, otherwise):
            return x.Cond(condition, _replaced(then, names), _replaced(otherwise, names))
        case _:
            return e


def holds(condition: x.Expression, levels: Mapping[str, x.Expression]) -> bool | None:
    """Is the condition true of these levels? None where the data must tell."""
    match condition:
        case x.Compare(operator, left, right):
            return _compared(operator, _replaced(left, levels), _replaced(right, levels))
        case x.Not(value):
            inner = holds(value, levels)
            return None if inner is None else not inner
        case x.Every(parts):
            found = {holds(part, levels) for part in parts}
            return False if False in found else None if None in found else True
        case x.Some(parts):
            found = {holds(part, levels) for part in parts}
            return True if True in found else None if None in found else False
        case _:
            return None


def _compared(operator: str, a: x.Expression, b: x.Expression) -> bool | None:
    if operator in ("<", "<="):
        return _compared({"<": ">", "<=": ">="}[operator], b, a)
    above, below = at_least(a, b), at_least(b, a)
    over, under = at_least(a, b, more=True), at_least(b, a, more=True)
    true, false = {
        ">=": (above, under),
        ">": (over, below),
        "=": (above and below, over or under),
        "!=": (over or under, above and below),
    }[operator]
    return True if true else False if false else None
