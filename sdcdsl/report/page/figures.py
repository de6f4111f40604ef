"""Figures as the page prints them: thousands set apart, a real minus, no noise of the last bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

GAP = "\u202f"  # a narrow space that does not break
MINUS = "\u2212"
DIGITS = 12  # what lies behind them is rounding
_MOST_DECIMALS = 3


def count(number: int) -> str:
    return f"{number:,}".replace(",", GAP)


def plural(number: int, noun: str, several: str | None = None) -> str:
    return f"{count(number)} {noun if number == 1 else several or noun + 's'}"


def figure(x: float | None, digits: int = 6) -> str:
    """For people: as many digits as a reader compares by; whole numbers keep all of theirs."""
    if x is None or math.isnan(x):
        return "–"
    if math.isinf(x):
        return "∞" if x > 0 else f"{MINUS}∞"
    if x == round(x) and abs(x) < 1e15:
        text = f"{abs(x):,.0f}"
    else:
        before = max(math.floor(math.log10(abs(x))) + 1, 0)
        text = f"{abs(x):,.{max(digits - before, 0)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        if float(text.replace(",", "")) == 0:
            text = f"{abs(x):.2g}"
    return (MINUS if x < 0 and text != "0" else "") + text.replace(",", GAP)


def percent(share: float | None) -> str:
    """Of a share: `35 %`, `0.42 %`."""
    if share is None or not math.isfinite(share):
        return "–"
    return per_cent(100 * share)


def per_cent(x: float) -> str:
    size = abs(x)
    text = figure(x, 3) if size < 99.95 else figure(round(x))
    return f"{'under 0.01' if 0 < size < 0.01 else text}{GAP}%"


def decimals_of(values: np.ndarray) -> int:
    """How many decimals a column of figures needs: all that tell its values apart, and not more than three."""
    finite = values[np.isfinite(values)]
    size = np.maximum(np.abs(finite), 1.0)
    for decimals in range(_MOST_DECIMALS):
        if (np.abs(np.round(finite, decimals) - finite) <= 1e-9 * size).all():
            return decimals
    return _MOST_DECIMALS if not len(finite) or size.max() < 10_000 else 2


def column(values: np.ndarray) -> list[Any]:
    """For JSON, which has neither infinity nor NaN: None. Whole numbers go without a point; nothing is rounded."""
    whole = np.isfinite(values) & (np.rint(values) == values) & (np.abs(values) < 2**53)
    if whole.all():
        return np.rint(values).astype(np.int64).tolist()
    plain = np.where(whole, values, 0).astype(np.int64).tolist()
    listed = values.tolist()
    return [
        n if w else (x if math.isfinite(x) else None)
        for n, x, w in zip(plain, listed, whole.tolist(), strict=True)
    ]  # fmt: skip


def tidy(values: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Without what computing left behind the twelfth digit of the larger of value and size."""
    scale = np.maximum(np.where(np.isfinite(values), np.abs(values), 0.0), np.abs(size))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        power = np.where(scale > 0, DIGITS - np.ceil(np.log10(np.where(scale > 0, scale, 1.0))), 0)
        factor = 10.0 ** np.clip(power, -300, 300)
        rounded = np.rint(values * factor) / factor
    return np.where(np.isfinite(rounded), rounded, values)
