"""Small pieces of HTML for notebooks: everything in them is escaped, nothing needs a script or a style sheet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS = 60
_LEFT, _RIGHT = "text-align:left", "text-align:right;font-variant-numeric:tabular-nums"


def heading(text: str, about: str = "") -> str:
    more = f' <span style="opacity:.7;font-weight:normal">{escape(about)}</span>' if about else ""
    return f'<p style="margin:.5em 0"><strong>{escape(text)}</strong>{more}</p>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and what is to be said of them."""
    lines = (
        f'<tr><th scope="row" style="{_LEFT}">{escape(k)}</th><td style="{_LEFT}">{escape(v)}</td></tr>'
        for k, v in rows
    )
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def table(names: Sequence[str], rows: Sequence[Sequence[object]], total: int | None = None) -> str:
    """As much of a table as anybody reads in a notebook; numbers to the right."""
    shown = rows[:MOST_ROWS]
    head = "".join(f'<th scope="col" style="{_LEFT}">{escape(name)}</th>' for name in names)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in shown)
    left = (total if total is not None else len(rows)) - len(shown)
    more = f'<caption style="caption-side:bottom;{_LEFT}">and {figure(left)} more</caption>' if left > 0 else ""
    return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<td style="{_RIGHT}">{escape(figure(value))}</td>'
    return f'<td style="{_LEFT}">{escape("" if value is None else str(value))}</td>'


def figure(value: float) -> str:
    if isinstance(value, float) and math.isnan(value):
        return ""
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "−∞"
    digits = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.11g}"  # as many as a release prints
    return digits.replace(",", "\N{NARROW NO-BREAK SPACE}")
