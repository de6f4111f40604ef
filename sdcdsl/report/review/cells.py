"""Every cell of a table, what is published of it and why: what all files for reviewers are made from.

role     sensitive (primary), hidden with it (secondary), hidden by the policy, published on purpose, or nothing
reason   the statements that marked the cell, as the policy has them
flag     the reason in the code list CL_CONF_STATUS of SDMX, which Eurostat uses:
         F free · A small counts · O dominance by one unit · T by two · G by one or two (p% and pq rules)
         · M other measures of concentration · C another reason · D secondary · N not for publication
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sdcdsl.bind.problem import SensitiveCells, TableProblem
from sdcdsl.outcome import Outcome
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.policy import document as d
from sdcdsl.policy.plain import rule_called
from sdcdsl.released.columns import written_columns
from sdcdsl.released.frame import bound_table, release_frame
from sdcdsl.released.rows import cells_by_table
from sdcdsl.vocabulary.rules import find_rule

FREE, SECONDARY, NOT_PUBLISHED, OTHER = "F", "D", "N", "C"
ORDER = ("A", "O", "T", "G", "M", "C")  # the plainest reason first, where a cell has several


@dataclass(frozen=True, eq=False)
class ReviewedCells:
    codes: pl.DataFrame
    published: pl.DataFrame  # value, low, high, status, as printed
    value: np.ndarray  # the true one
    role: list[str]
    flag: list[str]
    reason: list[str]
    rules: list[tuple[str, ...]]  # names of the rules that marked the cell
    count: np.ndarray | None  # contributors
    largest: np.ndarray  # [cell, k]
    lpl: np.ndarray
    upl: np.ndarray

    def __len__(self) -> int:
        return len(self.value)


def reviewed(outcome: Outcome, table: str) -> ReviewedCells:
    problem, pattern = outcome.problem, outcome.pattern
    assert pattern is not None
    bound = bound_table(problem, table)
    cells = cells_by_table(problem)[table]
    frame = release_frame(problem, pattern, table)
    names = written_columns(bound)
    status, data = pattern.status[cells], problem.dataset
    letter = data["status"].values[cells]
    hidden = status != EXACT
    marks = _marks(problem, cells)
    role = [
        "primary" if one == "u" else "suppressed by the policy" if one == "m" else "published on purpose" if one == "z"
        else "secondary" if gone else ""
        for one, gone in zip(letter.tolist(), hidden.tolist(), strict=True)
    ]  # fmt: skip
    both = zip(letter.tolist(), hidden.tolist(), strict=True)
    flag = [_flag(one, gone, marks.get(i, [])) for i, (one, gone) in enumerate(both)]
    judged = bound.judged
    return ReviewedCells(
        frame.select(names),
        frame.drop(names),
        data["a"].values[cells],
        role,
        flag,
        ["; ".join(dict.fromkeys(m.what for m in marks.get(i, []))) for i in range(len(cells))],
        [tuple(dict.fromkeys(filter(None, map(_rule, marks.get(i, []))))) for i in range(len(cells))],
        None if judged is None else judged.count,
        np.zeros((len(cells), 0)) if judged is None else judged.largest[:, : bound.known_largest],
        *_levels(problem, cells),
    )


def _marks(problem: TableProblem, cells: np.ndarray) -> dict[int, list[SensitiveCells]]:
    place = np.full(problem.n, -1, dtype=np.int64)
    place[cells] = np.arange(len(cells))
    out: dict[int, list[SensitiveCells]] = {}
    for marked in problem.marked:
        for at in place[marked.at].tolist():
            if at >= 0:
                out.setdefault(at, []).append(marked)
    return out


def _levels(problem: TableProblem, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest against any attacker."""
    data = problem.dataset
    made = []
    for name in ("lpl", "upl"):
        most = np.zeros(problem.n)
        np.maximum.at(most, data["cell_at"].values, data[name].values)
        made.append(most[cells])
    return made[0], made[1]


def _rule(marked: SensitiveCells) -> str:
    fact = marked.fact
    call = fact.rule if isinstance(fact, d.Sensitive) else None
    rule = find_rule(call.name) if call is not None else None
    return rule.name if rule is not None else ""


def _flag(letter: str, hidden: bool, marks: list[SensitiveCells]) -> str:
    if letter == "u":
        flags = {_reason_flag(one) for one in marks} or {OTHER}
        return next(flag for flag in ORDER if flag in flags)
    if letter == "m":
        return NOT_PUBLISHED
    return SECONDARY if hidden else FREE


def _reason_flag(marked: SensitiveCells) -> str:
    fact = marked.fact
    match _rule(marked):
        case "threshold" | "contributors":
            return "A"
        case "p_percent" | "pq":
            return "G"
        case "dominance" if isinstance(fact, d.Sensitive) and fact.rule is not None:
            n = getattr(rule_called(fact.rule), "n", 0)
            return {1: "O", 2: "T"}.get(n, "M")
        case _:
            return OTHER
