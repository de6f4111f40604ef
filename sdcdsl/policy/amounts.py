"""What can be said about an amount without data: its value if it is constant, and which of two is larger.

An amount is read as a sum of multiples: `10 + 5% of value` is 10 times one plus 0.05 times `value`. Two amounts compare
where every multiple points the same way. Values, counts, weights and contributions are taken not to be negative, as
nearly everywhere in tables under protection; a comparison of policies says so in its documentation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from sdcdsl.policy import expressions as x

Sign = int | None  # -1, 0, 1: smaller, equal, larger in every cell; None: that needs data

_CONSTANT = x.Number("1")
_NOT_NEGATIVE = frozenset({"value", "count", "weight", "needed", "contribution", "lpl", "upl", "spl"})
_NEVER_NEGATIVE = frozenset({"largest", "level", "abs", "sqrt", "exp"})
_KEEP_THE_SIGN = frozenset({"min", "round", "floor", "ceil"})
_SAME = 1e-12  # 0.7% and 0.007 are one number, whatever their last binary digit


Multiples = dict[x.Expression, float]  # what is multiplied → by how much; constants are multiples of _CONSTANT


@lru_cache(maxsize=65536)
def _multiples(e: x.Expression) -> Multiples | None:
    """None where the amount has no number without data, such as a division by zero."""
    match e:
        case x.Number() | x.Percent():
            return {_CONSTANT: e.value}
        case x.Duration():
            return {_CONSTANT: e.seconds}
        case x.Infinity():
            return {_CONSTANT: math.inf}
        case x.Negative(value):
            return _scaled(_multiples(value), -1.0)
        case x.Binary("+", left, right):
            return _sum(_multiples(left), _multiples(right))
        case x.Binary("-", left, right):
            return _sum(_multiples(left), _scaled(_multiples(right), -1.0))
        case x.Binary("of", left, right):  # a share of the size
            if (factor := constant(left)) is not None:
                return _scaled(_size(right), factor)
        case x.Binary("*", left, right):
            for share, whole in ((left, right), (right, left)):
                if (factor := constant(share)) is not None:
                    return _scaled(_multiples(whole), factor)
        case x.Binary("/", left, right) if (below := constant(right)) is not None:
            return _scaled(_multiples(left), 1 / below) if below else None
        case x.Binary("^", left, right):
            a, b = constant(left), constant(right)
            if a is not None and b is not None:
                return _power(a, b)
        case x.Text() | x.Range() | x.Compare() | x.Not() | x.Every() | x.Some():
            return None
        case _:
            pass
    return {e: 1.0}


def _size(e: x.Expression) -> Multiples | None:
    if (value := constant(e)) is not None:
        return {_CONSTANT: abs(value)}
    return _multiples(e) if _not_negative(e) else {x.Call("abs", (x.Argument(None, e),)): 1.0}


def _power(a: float, b: float) -> Multiples | None:
    try:
        value = a**b
    except (OverflowError, ZeroDivisionError):
        return None
    return {_CONSTANT: value} if isinstance(value, float) else None


def _scaled(a: Multiples | None, factor: float) -> Multiples | None:
    if a is None:
        return None
    scaled = {base: times * factor for base, times in a.items()}
    return None if any(math.isnan(times) for times in scaled.values()) else scaled


def _sum(a: Multiples | None, b: Multiples | None) -> Multiples | None:
    if a is None or b is None:
        return None
    out = {base: _added(a.get(base, 0.0), b.get(base, 0.0)) for base in {**a, **b}}
    return None if any(math.isnan(times) for times in out.values()) else out


def _added(a: float, b: float) -> float:
    total = a + b
    return 0.0 if abs(total) <= _SAME * max(abs(a), abs(b)) and math.isfinite(total) else total


def constant(e: x.Expression | None) -> float | None:
    found = _multiples(e) if e is not None else None
    if found is None or any(times and base != _CONSTANT for base, times in found.items()):
        return None
    return found.get(_CONSTANT, 0.0)


def factor_of(e: x.Expression) -> tuple[x.Expression, float] | None:
    """What the amount is a multiple of, and how many times: only for one thing, and one that is never negative."""
    found = {base: times for base, times in (_multiples(e) or {}).items() if times}
    if not found:
        return (_CONSTANT, 0.0) if constant(e) == 0 else None
    if len(found) > 1:
        return None
    ((base, times),) = found.items()
    return (base, times) if base == _CONSTANT or _not_negative(base) else None


def _not_negative(e: x.Expression) -> bool:
    if (value := constant(e)) is not None:
        return value >= 0
    match e:
        case x.Name(name):
            return name.split()[0] in _NOT_NEGATIVE  # `needed below` is one that a program wrote
        case x.Call(name, arguments):
            known = [_not_negative(a.value) for a in arguments]
            return name in _NEVER_NEGATIVE or (name in _KEEP_THE_SIGN and all(known)) or (name == "max" and any(known))
        case x.Cond(_, then, otherwise):
            return _not_negative(then) and _not_negative(otherwise)
        case x.Binary("*" | "/", left, right):
            return _not_negative(left) and _not_negative(right)
        case x.Binary("^", left, _):
            return _not_negative(left)
        case _:
            pass
    found = _multiples(e)
    if found is None or found == {e: 1.0}:
        return False
    return all(times >= 0 and (base == _CONSTANT or _not_negative(base)) for base, times in found.items())


# ---- order -----------------------------------------------------------------------------------------------


def at_least(a: x.Expression, b: x.Expression, *, more: bool = False) -> bool:
    """Is a never smaller than b? With `more`: and larger wherever what it is a multiple of is not zero?"""
    if a is b or a == b:
        return not more
    for part, parts in ((a, _least(a)), (b, _most(b))):
        if parts:
            return all(at_least(p, b, more=more) if part is a else at_least(a, p, more=more) for p in parts)
    for part, parts in ((a, _most(a)), (b, _least(b))):
        if parts:
            return any(at_least(p, b, more=more) if part is a else at_least(a, p, more=more) for p in parts)
    return _never_below(a, b, more)


def _least(e: x.Expression) -> list[x.Expression]:
    """Amounts of which the smallest counts."""
    return _arguments(e, "min")


def _most(e: x.Expression) -> list[x.Expression]:
    return _arguments(e, "max")


def _arguments(e: x.Expression, name: str) -> list[x.Expression]:
    match e:
        case x.Call(called, arguments) if called == name:
            return [a.value for a in arguments]
        case _:
            return []


def _never_below(a: x.Expression, b: x.Expression, more: bool) -> bool:
    left, right = _multiples(a), _multiples(b)
    if left is None or right is None:
        return False
    high, low = left.get(_CONSTANT, 0.0), right.get(_CONSTANT, 0.0)
    if math.isinf(high) or math.isinf(low):  # infinity outweighs whatever is added to it
        return high > low or (high == low and not more)
    rest = _sum(left, _scaled(right, -1.0)) or {}
    rest = {base: times for base, times in rest.items() if times}
    if not all(times > 0 and (base == _CONSTANT or _not_negative(base)) for base, times in rest.items()):
        return False
    return bool(rest) or not more


def compare(a: x.Expression | None, b: x.Expression | None) -> Sign:
    """-1, 0 or 1 as a is at most, equal to or at least b in every cell; None where that needs data."""
    if a is b or a == b:
        return 0
    if a is None or b is None:
        return None
    above, below = at_least(a, b), at_least(b, a)
    if above and below:
        return 0
    return 1 if above else -1 if below else None


class Extremes:
    """The smallest and largest of many amounts, kept so that one more amount is compared with all of them at once."""

    _MOST = 50  # amounts that are no multiples of one thing; with more, nothing is said

    def __init__(self, amounts: Iterable[x.Expression] = ()):
        self.ranges: dict[x.Expression, tuple[tuple[float, x.Expression], tuple[float, x.Expression]]] = {}
        self.others: dict[x.Expression, None] = {}
        for amount in amounts:
            self.add(amount)

    def add(self, amount: x.Expression) -> None:
        found = factor_of(amount)
        if found is None:
            if len(self.others) <= self._MOST:
                self.others[amount] = None
            return
        base, times = found
        least, most = self.ranges.get(base, ((times, amount), (times, amount)))
        self.ranges[base] = (
            (times, amount) if times < least[0] else least,
            (times, amount) if times > most[0] else most,
        )

    def signs(self, amount: x.Expression) -> set[Sign]:
        """How the amount compares with those kept: what holds against both ends of a range holds inside it."""
        if len(self.others) > self._MOST:
            return {None}
        ends = [end for pair in self.ranges.values() for _, end in pair]
        return {compare(amount, other) for other in (*ends, *self.others)}
