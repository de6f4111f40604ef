"""tariff(amount): what the office charges for touching a cell."""

from __future__ import annotations

from sdcdsl.vocabulary.functions import Function


def tariff(amount):
    return 1.0 + abs(amount) ** 0.5


FUNCTION = Function("tariff", "one and the square root of an amount", 1, 1, tariff)
