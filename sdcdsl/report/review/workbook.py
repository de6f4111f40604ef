"""A workbook for reviewers: what is published on one sheet, and on another why, with the true values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sdcdsl.outcome import Outcome
from sdcdsl.released.to_excel import check_rows, finish, published_sheet, workbook, write_numbers, write_texts
from sdcdsl.report.review.cells import reviewed
from sdcdsl.report.review.context import ReviewContext

# Backgrounds that print in grey as well; the role is a word, too.
COLOURS = {
    "primary": "#F8CBAD",
    "secondary": "#FFE699",
    "suppressed by the policy": "#D9D9D9",
    "published on purpose": "#C6E0B4",
}


def write_workbook(outcome: Outcome, table: str, path: Path, context: ReviewContext) -> None:
    assert outcome.pattern is not None
    cells = reviewed(outcome, table)
    check_rows(table, len(cells))
    with workbook(path) as book:
        published_sheet(book, outcome.problem, outcome.pattern, table, name="published")
        sheet = book.add_worksheet("internal")
        head = book.add_format({"bold": True, "bottom": 1})
        figures = book.add_format({"num_format": "#,##0.###############", "align": "right"})
        columns: dict[str, tuple[list[Any], bool]] = {
            **{name: (cells.codes[name].to_list(), True) for name in cells.codes.columns},
            "true value": (cells.value.tolist(), False),
            "published": (cells.published["value"].to_list(), False),
            "role": (cells.role, True),
            "CONF_STATUS": (cells.flag, True),
            "reason": (cells.reason, True),
            "lpl": (_where_any(cells.lpl, cells.upl), False),
            "upl": (_where_any(cells.upl, cells.lpl), False),
        }
        if cells.count is not None:
            columns["contributors"] = (cells.count.tolist(), False)
        for k in range(cells.largest.shape[1]):
            columns[f"largest {k + 1}"] = (cells.largest[:, k].tolist(), False)
        for column, (title, (values, text)) in enumerate(columns.items()):
            sheet.write_string(0, column, title, head)
            if text:
                write_texts(sheet, column, values)
            else:
                write_numbers(sheet, column, values, figures)
        finish(sheet, list(columns), len(cells.codes.columns), len(cells))
        for role, colour in COLOURS.items():
            where = (1, 0, len(cells), len(columns) - 1)
            at = _letter(list(columns).index("role"))
            rule = {"type": "formula", "criteria": f'=${at}2="{role}"', "format": book.add_format({"bg_color": colour})}
            sheet.conditional_format(*where, rule)
        _about(book, outcome, table, context)


def _where_any(level: np.ndarray, other: np.ndarray) -> list[float | None]:
    return [one if one or two else None for one, two in zip(level.tolist(), other.tolist(), strict=True)]


def _letter(column: int) -> str:
    return chr(65 + column) if column < 26 else _letter(column // 26 - 1) + chr(65 + column % 26)


def _about(book: Any, outcome: Outcome, table: str, context: ReviewContext) -> None:
    sheet = book.add_worksheet("about")
    bold = book.add_format({"bold": True})
    rows = [
        ("Confidential", "the sheet `internal` has true values"),
        ("policy", context.provenance.title),
        ("table", table),
        ("method", f"{outcome.method}: {outcome.result.status}"),
        ("audit", outcome.verdict or ""),
        ("made by", f"sdcdsl {context.provenance.versions['sdcdsl']}"),
    ]
    for row, (what, said) in enumerate(rows):
        sheet.write_string(row, 0, what, bold)
        sheet.write_string(row, 1, said)
    for row, (role, colour) in enumerate(COLOURS.items(), len(rows) + 1):
        sheet.write_string(row, 0, role, book.add_format({"bg_color": colour}))
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, 60)
