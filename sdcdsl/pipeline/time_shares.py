"""How the time of a method is divided: its search, and what has to follow it.

The audit is not optional and nothing is written without it, so its time is set aside before the search begins:
estimated from the size of the table, and as measured once a release was audited. An audit ends with the limit, however
low the estimate was: then the release that was audited before is written, or nothing.
Experiments on an adjusted table are of use only if some are made: they have a share of the time, and what the search
leaves.
"""

from __future__ import annotations

from math import inf

from sdcdsl.bind.problem import TableProblem
from sdcdsl.deadline import Deadline
from sdcdsl.vocabulary.methods import METHODS

# CPU seconds, from benchmarks/results/scaling.json: `read-bind-write`, and the audits of `audit`, `rounding-network`,
# `csp-cube`, `rounding-counts` and `ip-cube`.
PER_CELL = 4e-5  # of the audit's reduction, and of files and pages
PER_PAIR = 4e-4
# For each pair and cell: in tables of two dimensions, whose moves are flows; and in more of them, where a pattern that
# hides cells leaves few that move, and a table in which all cells have some room leaves all.
FLOWS, FEW_OPEN, ALL_OPEN = 2e-8, 2e-7, 5e-6
SEVERAL = 2.5  # relations that a cell stands in, in the mean, in more than two dimensions
MOST = 0.4  # of the limit: a search needs time too
LONGER = 1.2  # a later audit may take so many times as long as the longest so far
FOR_EXPERIMENTS = 0.25  # of the limit, on the table that was found
LATE, SHARE_LATE = 5.0, 0.05  # seconds and share beyond the limit that need no word


def for_the_rest(problem: TableProblem, method: str) -> float:
    """Seconds that the audit and writing take, roughly."""
    sizes, described = problem.dataset.sizes, METHODS.get(method)
    if described is not None and described.adjusts:  # distances are looked at, nobody is attacked
        return problem.n * PER_CELL
    several = sizes["entry"] > SEVERAL * problem.n
    each = FLOWS if not several else FEW_OPEN if method == "csp" else ALL_OPEN
    return problem.n * PER_CELL + sizes["pair"] * (PER_PAIR + each * problem.n)


def for_search(whole: Deadline, problem: TableProblem, method: str, experiments: bool = False) -> Deadline:
    """The part of the search, less what follows it."""
    left = whole.remaining
    if left == inf:
        return whole
    share = FOR_EXPERIMENTS if experiments else 0.0
    return whole.within(left - min(for_the_rest(problem, method) + share * left, MOST * left))


class Shares:
    """Of one method: `whole` for everything, `search` for its searches."""

    def __init__(self, whole: Deadline, problem: TableProblem, method: str, experiments: bool = False):
        self.whole, self.experiments = whole, experiments
        self.search = for_search(whole, problem, method, experiments)

    def audited(self, problem: TableProblem, seconds: float) -> None:
        """An audit took so long: the next one may take as long, and some more."""
        limit = self.whole.limit
        if limit is not None:
            experiments = FOR_EXPERIMENTS * limit if self.experiments else 0.0
            set_aside = LONGER * seconds + problem.n * PER_CELL + experiments
            self.search.limit = max(limit - set_aside, (1 - MOST) * limit)

    @property
    def patience(self) -> float:
        """Seconds that an audit may take; the rest of what a limit allows for being late is for writing."""
        return self.whole.remaining + 0.5 * (LATE + SHARE_LATE * (self.whole.limit or 0.0))


def late(whole: Deadline) -> tuple[str, ...]:
    """A word about an audit that went on after the limit."""
    if whole.limit is None or whole.stop or whole.elapsed <= whole.limit * (1 + SHARE_LATE) + LATE:
        return ()
    beyond = whole.elapsed - whole.limit
    return (f"the audit ended {beyond:.0f} s after the limit of {whole.limit:g} s: nothing is released without it",)
