"""Printed figures: numbers with the unit of their last digit, intervals, and words for what is not there.

    5    5.0    1 204 877    -3    2,5        a number (a comma where the file uses decimal commas)
    5..30    5 .. 30    5-30    -5 - 3    5 to 30    [5, 30]    [5; 30]        an interval
    5..    ..30                                                                open on one side

Most figures are plain numbers, which polars reads; the rest is looked at text by text, each distinct one once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl

from sdcdsl.released.status_words import HIDDEN_WORDS, NIL_WORDS

BLANK, NUMBER, RANGE, NIL, WORD, STRANGE = range(6)
_PLAIN = r"^[+-]?\d+(\.\d+)?$"
_GROUPED = re.compile("(?<=\\d)[ \u00a0\u2009\u202f'’](?=\\d{3}(?!\\d))")
_INFINITE = {"inf": np.inf, "+inf": np.inf, "infinity": np.inf, "∞": np.inf, "-inf": -np.inf, "-∞": -np.inf}


@dataclass(frozen=True, eq=False)
class Figures:
    """One column. `half` is half a unit of the last printed digit, of the number or of the two ends."""

    kind: np.ndarray
    number: np.ndarray
    half: np.ndarray
    low: np.ndarray  # of an interval; infinite where it is open
    low_half: np.ndarray
    high: np.ndarray
    high_half: np.ndarray

    @classmethod
    def of_numbers(cls, number: np.ndarray) -> Figures:
        """Figures that no text was printed for, or all of whose digits are there."""
        kind = np.where(np.isnan(number), BLANK, NUMBER).astype(np.uint8)
        low, high = np.full((2, len(number)), np.nan)
        half, low_half, high_half = np.zeros((3, len(number)))
        return cls(kind, number, half, low, low_half, high, high_half)

    @classmethod
    def blank(cls, n: int) -> Figures:
        return cls.of_numbers(np.full(n, np.nan))


class _Figure(NamedTuple):
    kind: int
    number: float = np.nan
    half: float = 0.0
    low: float = np.nan
    low_half: float = 0.0
    high: float = np.nan
    high_half: float = 0.0


def read_figures(texts: pl.Series, decimal: str, hidden: frozenset[str]) -> Figures:
    texts = texts.str.strip_chars()
    plain = texts.str.contains(_PLAIN).fill_null(value=False).to_numpy() & (decimal == ".")
    number = np.where(plain, texts.cast(pl.Float64, strict=False).to_numpy(), np.nan)
    out = Figures.of_numbers(number)
    point = texts.str.find(".", literal=True).cast(pl.Int64)
    decimals = (texts.str.len_chars().cast(pl.Int64) - point - 1).fill_null(0).to_numpy()
    out.half[plain] = 0.5 * 10.0 ** -decimals[plain].astype(float)
    rest = np.flatnonzero(~plain & texts.is_not_null().to_numpy())
    known: dict[str, _Figure] = {}
    for at, text in zip(rest.tolist(), texts.gather(rest).to_list(), strict=True):
        if text not in known:
            known[text] = _figure(text, decimal, hidden)
        for column, entry in zip(_columns(out), known[text], strict=True):
            column[at] = entry
    return out


def with_decimal_mark(columns: Sequence[pl.Series], decimal: str | None, hidden: frozenset[str]) -> list[Figures]:
    """All columns of a file, with its decimal mark: the point, unless that leaves texts which the comma explains."""
    made = [read_figures(c, decimal or ".", hidden) for c in columns]
    if decimal is None and any((f.kind == STRANGE).any() for f in made):
        with_comma = [read_figures(c, ",", hidden) for c in columns]
        if not any((f.kind == STRANGE).any() for f in with_comma):
            return with_comma
    return made


def _columns(figures: Figures) -> list[np.ndarray]:
    return [getattr(figures, f.name) for f in fields(Figures)]


def _figure(text: str, decimal: str, hidden: frozenset[str]) -> _Figure:
    word = text.casefold()
    if not text:
        return _Figure(BLANK)
    if word in NIL_WORDS and word not in hidden:
        return _Figure(NIL)
    if word in hidden or word in HIDDEN_WORDS:
        return _Figure(WORD)
    if word in _INFINITE:
        return _Figure(NUMBER, _INFINITE[word])
    plain = _GROUPED.sub("", text.replace("−", "-"))
    single, *ranges = _patterns(decimal)
    if single.fullmatch(plain):
        return _Figure(NUMBER, *_value(plain, decimal))
    match = next((m for m in (form.fullmatch(plain) for form in ranges) if m), None)
    if match is None:
        return _Figure(STRANGE)
    low = _value(match["low"], decimal) if match["low"] else (-np.inf, 0.0)
    high = _value(match["high"], decimal) if match["high"] else (np.inf, 0.0)
    return _Figure(RANGE, np.nan, 0.0, *low, *high)


@cache
def _patterns(decimal: str) -> list[re.Pattern[str]]:
    """A number; an interval without brackets, with brackets, open on one side."""
    number = rf"[+-]?\d+(?:{re.escape(decimal)}\d+)?(?:[eE][+-]?\d{{1,3}})?"
    low, high, dots = rf"(?P<low>{number})", rf"(?P<high>{number})", r"\.\.|…"
    comma = r",\s*" if decimal == "." else r",\s+"  # [5,30] is no interval where the comma is the decimal mark
    forms = [
        number,
        rf"{low}\s*(?:{dots}|-|–|—|to)\s*{high}",
        rf"\[\s*{low}\s*(?:{dots}|-|–|—|to|;|{comma})\s*{high}\s*\]",
        rf"{low}?\s*(?:{dots})\s*{high}?",  # both open is a word for hidden
    ]
    return [re.compile(form) for form in forms]


def _value(text: str, decimal: str) -> tuple[float, float]:
    """The number, and half a unit of its last digit; 1e+05, as R writes 100000, is good to the unit."""
    text = text.replace(decimal, ".")
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return float(text), float(f"5e{min(int(exponent or 0) - digits, 0) - 1}")
