"""Codes that a spreadsheet would take for formulas: `=1+2` opened from a CSV file is 3, and others run programs.

An apostrophe in front makes them text. Codes that begin with apostrophes and then one of the signs get one more, so
that the guard can be taken away again. Spreadsheets of East Asia take the full-width signs for the narrow ones. Only
text is guarded, and a code is text even if it looks like a number; figures of the table, such as -5, stay as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

_SIGNS = r"[=+\-@\t\r\n＝＋－＠]"


_CUT = rf"[,;|\t\r\n]\s*['\"]*{_SIGNS}"  # where a spreadsheet with another separator would begin a field


def guarded_rows(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], line_end: str = "\r\n") -> str:
    """CSV of rows with text among their figures, which is guarded. Where a formula stands in the middle of a text,
    every text stands in quotation marks."""
    made = [{name: _guarded_field(value) for name, value in row.items()} for row in rows]
    cut = any(re.search(_CUT, value) for row in made for value in row.values() if isinstance(value, str))
    out = io.StringIO()
    quoting = csv.QUOTE_NONNUMERIC if cut else csv.QUOTE_MINIMAL
    writer = csv.DictWriter(out, columns, lineterminator=line_end, quoting=quoting)
    writer.writeheader()
    writer.writerows(made)
    return out.getvalue()


def _guarded_field(value: Any) -> Any:
    if not isinstance(value, str) or not re.match(f"'*{_SIGNS}", value):
        return value
    try:
        float(value)  # -inf is a figure
    except ValueError:
        return f"'{value}"
    return value


def may_be_cut(codes: pl.Series) -> bool:
    """Does a formula stand in the middle of a code, behind what another spreadsheet takes for a separator?"""
    return bool(codes.str.contains(_CUT).any())


def guarded(codes: pl.Series) -> pl.Series:
    return codes.str.replace(f"^('*{_SIGNS})", "'${1}")


def unguarded(codes: pl.Series, known: Sequence[str]) -> pl.Series:
    """The codes of one column. A column of nothing but known codes has no guard."""
    if codes.is_in(known).all():
        return codes
    return codes.str.replace(f"^'('*{_SIGNS})", "${1}")
