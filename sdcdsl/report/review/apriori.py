"""An a-priori file of τ-ARGUS (`.hst`) that says of every cell what this run decided: sensitive cells with their
levels, hidden ones as hidden, and what is published on purpose as protected from suppression."""

from __future__ import annotations

from pathlib import Path

from sdcdsl.outcome import Outcome
from sdcdsl.released.frame import texts
from sdcdsl.report.review.cells import reviewed
from sdcdsl.report.review.context import ReviewContext

SEPARATOR = ";"
STATUS = {"primary": "u", "secondary": "m", "suppressed by the policy": "m", "published on purpose": "p"}


def write_apriori(outcome: Outcome, table: str, path: Path, context: ReviewContext) -> None:
    cells = reviewed(outcome, table)
    lpl, upl = (texts(level).to_list() for level in (cells.lpl, cells.upl))
    lines = []
    for at, (codes, role) in enumerate(zip(cells.codes.rows(), cells.role, strict=True)):
        if role not in STATUS:
            continue
        address = SEPARATOR.join(f'"{code.replace(chr(34), chr(39))}"' for code in codes)
        lines.append(f"{address};{STATUS[role]}")
        if role == "primary" and (cells.lpl[at] or cells.upl[at]):
            lines.append(f"{address};pl;{lpl[at]};{upl[at]}")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
