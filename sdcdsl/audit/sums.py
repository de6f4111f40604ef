"""Sums of cells that a release tells, although the rules call them sensitive.

A relation tells the sum of the parts that are not published as they are, whoever hid them: the rule, or the method that
protects another cell. Which of these sums are sensitive is known once there is a release. Those that it leaves too
narrow become cells of the problem, with levels like any other: the audit finds them exposed, and a search has to
protect them. Those that it leaves wide enough are not mentioned.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sdcdsl.audit.audit import Audit, Progress, audit
from sdcdsl.audit.problem import whole_numbers
from sdcdsl.bind.problem import TableProblem
from sdcdsl.executing import SERIAL, Team
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT, HIDDEN
from sdcdsl.proof.witness import MoveMatrix


def audit_release(
    problem: TableProblem,
    pattern: Pattern,
    *,
    exact: bool = True,
    integer: bool | None = None,
    team: Team = SERIAL,
    progress: Progress | None = None,
    before: Audit | None = None,
    hints: MoveMatrix | None = None,
) -> Audit:
    """The audit of all sensitive cells, and of the sensitive sums that the release leaves too narrow. `Audit.problem`
    has them as cells after all others; it is the one that was given where there are none. `integer`: attackers know
    that values are whole numbers; None: where they are counts, or the policy says so."""
    integer = whole_numbers(problem) if integer is None else integer
    wider = with_narrow_sums(problem, pattern, integer, team, hints)
    options: dict[str, Any] = {"exact": exact, "integer": integer, "team": team, "progress": progress}
    return audit(wider, covering(pattern, wider.n), before=before, hints=hints, **options)


def with_narrow_sums(
    problem: TableProblem,
    pattern: Pattern,
    integer: bool = False,
    team: Team = SERIAL,
    hints: MoveMatrix | None = None,
) -> TableProblem:
    """The problem with the sensitive sums that this release leaves too narrow; itself if there are none."""
    if problem.sums is None:
        return problem
    published = problem.dataset["published"].values
    more = problem.sums.beyond(published & (pattern.status != EXACT))
    if not len(more):
        return problem
    wider = problem.sums.extended(more).listing_as(problem)
    fresh = np.flatnonzero(wider.dataset["cell_at"].values >= problem.n)
    new_pairs = replace(wider, dataset=wider.dataset.isel(pair=fresh))
    made = audit(new_pairs, covering(pattern, wider.n), exact=False, integer=integer, team=team, hints=hints)
    short = np.unique(made.proofs.problem.pairs.cell[made.verdicts != "p"]) - problem.n
    if not len(short):
        return problem
    return problem.sums.extended(more.take(np.isin(np.arange(len(more)), short))).listing_as(problem)


def covering(pattern: Pattern, n: int) -> Pattern:
    """The same release, of a problem with further sums, about which it says nothing."""
    more = n - pattern.n
    if not more:
        return pattern
    return replace(
        pattern,
        low=np.append(pattern.low, np.full(more, -np.inf)),
        high=np.append(pattern.high, np.full(more, np.inf)),
        value=np.append(pattern.value, np.full(more, np.nan)),
        status=np.append(pattern.status, np.full(more, HIDDEN)),
    )
