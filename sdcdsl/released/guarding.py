"""Codes that a spreadsheet would take for formulas: `=1+2` opened from a CSV file is 3, and others run programs.

An apostrophe in front makes them text. Codes that begin with apostrophes and then one of the signs get one more, so
that the guard can be taken away again. Spreadsheets of East Asia take the full-width signs for the narrow ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

_SIGNS = r"[=+\-@\t\r\n＝＋－＠]"


def guarded(codes: pl.Series) -> pl.Series:
    return codes.str.replace(f"^('*{_SIGNS})", "'${1}")


def unguarded(codes: pl.Series, known: Sequence[str]) -> pl.Series:
    """The codes of one column. A column of nothing but known codes has no guard."""
    if codes.is_in(known).all():
        return codes
    return codes.str.replace(f"^'('*{_SIGNS})", "${1}")
