"""What can be said about an amount without data: its value if it is constant, and which of two is larger."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sdcdsl.policy import expressions as x


@dataclass(frozen=True)
class Multiple:
    """`factor` times something that has no value yet (None: times one, a constant)."""

    factor: float
    base: x.Expression | None


def multiple(e: x.Expression | None) -> Multiple | None:
    """The amount as a multiple of one thing, or None where it is more complicated than that."""
    match e:
        case x.Number():
            return Multiple(e.value, None)
        case x.Percent():
            return Multiple(e.value, None)
        case x.Duration():
            return Multiple(e.seconds, None)
        case x.Infinity():
            return Multiple(math.inf, None)
        case x.Negative(value):
            inner = multiple(value)
            return Multiple(-inner.factor, inner.base) if inner else None
        case x.Name() | x.Call():
            return Multiple(1.0, e)
        case x.Binary("of" | "*", left, right):
            return _product(multiple(left), multiple(right))
        case x.Binary("/", left, right):
            below = constant(right)
            above = multiple(left)
            if above is None or below is None or below == 0:
                return None
            return Multiple(above.factor / below, above.base)
        case x.Binary("+" | "-" | "^" as operator, left, right):
            a, b = constant(left), constant(right)
            return None if a is None or b is None else _folded(operator, a, b)
    return None


def _product(a: Multiple | None, b: Multiple | None) -> Multiple | None:
    if a is None or b is None or (a.base is not None and b.base is not None):
        return None
    return Multiple(a.factor * b.factor, a.base or b.base)


def _folded(operator: str, a: float, b: float) -> Multiple | None:
    try:
        value = {"+": a + b, "-": a - b}.get(operator) if operator != "^" else a**b
    except (OverflowError, ZeroDivisionError):
        return None
    return Multiple(value, None) if isinstance(value, float) else None


def constant(e: x.Expression | None) -> float | None:
    found = multiple(e)
    if found is None or found.base is not None:
        return None
    return found.factor


def compare(a: x.Expression | None, b: x.Expression | None) -> int | None:
    """-1, 0 or 1 as a is smaller than, equal to or larger than b in every cell; None where that needs data.

    Multiples of the same thing compare by their factors where the thing cannot be negative, as values under
    protection and contributions are assumed to be in a comparison of policies.
    """
    if a == b:
        return 0
    left, right = multiple(a), multiple(b)
    if left is None or right is None:
        return None
    if left.base != right.base:
        return None
    return (left.factor > right.factor) - (left.factor < right.factor)
