"""What became of every block of a policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from sdcdsl.audit import NOT_EXCLUDED, Audit
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, has_errors
from sdcdsl.methods.result import Result
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT
from sdcdsl.risk import Assessment
from sdcdsl.status import FEASIBLE, INFEASIBLE, OPTIMAL
from sdcdsl.utility import Measures

# What an audit says of a release that may go out. Where no pair has a level there is nothing to attack.
SAFE = ("protected", NOT_EXCLUDED, "nothing to check")


class End(StrEnum):
    """How a run ended. Files are released only if it is DONE."""

    DONE = "done"
    WRONG_POLICY = "the policy is wrong, or requires what this version does not have"
    WRONG_DATA = "the data does not fit, or a file cannot be read or written"
    INFEASIBLE = "no release can satisfy the policy"
    LIMIT = "a limit was reached without a valid release"
    STOPPED = "somebody ended the search before there was a valid release"
    EXPOSED = "the audit did not find the release protected"


@dataclass(frozen=True)
class Attempt:
    """One method of the chain, and what it found."""

    method: str
    result: Result


@dataclass(frozen=True, eq=False)
class Changes:
    """This release against the last period's: cells of the problem."""

    files: tuple[str, ...]
    newly: np.ndarray  # published then, not published as they are now
    again: np.ndarray  # the other way round


@dataclass(frozen=True, eq=False)
class Outcome:
    name: str
    problem: TableProblem
    attempts: tuple[Attempt, ...]
    audit: Audit | None = None  # of the last attempt's pattern
    changes: Changes | None = None
    measures: Measures | None = None  # what the release leaves to its readers
    assessment: Assessment | None = None  # of an adjusted table, where the policy requires experiments
    seconds: dict[str, float] = field(default_factory=dict)
    found: tuple[Diagnostic, ...] = ()
    stopped: bool = False  # somebody ended the search

    @property
    def method(self) -> str:
        return self.attempts[-1].method

    @property
    def result(self) -> Result:
        return self.attempts[-1].result

    @property
    def pattern(self) -> Pattern | None:
        return self.result.pattern

    @property
    def touched(self) -> np.ndarray:
        """Cells that are not published as they are."""
        if self.pattern is None:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero((self.pattern.status != EXACT) & self.problem.dataset["published"].values)

    @property
    def verdict(self) -> str | None:
        """Of the audit; where it had nothing to check, every pair there is (none) is protected."""
        if self.audit is None:
            return None
        return "protected" if self.audit.verdict == "nothing to check" else self.audit.verdict

    @property
    def end(self) -> End:
        if self.result.status in (OPTIMAL, FEASIBLE):
            return End.DONE if self.verdict in SAFE and not has_errors(self.found) else End.EXPOSED
        # Somebody gave more methods than one: that one of them had too little time is what can be helped.
        statuses = {attempt.result.status for attempt in self.attempts}
        if statuses == {INFEASIBLE}:
            return End.INFEASIBLE
        return End.STOPPED if self.stopped else End.LIMIT


# Who ends one search ends those beside it: they may look as if they had reached a limit.
_WORST = (End.WRONG_POLICY, End.WRONG_DATA, End.EXPOSED, End.INFEASIBLE, End.STOPPED, End.LIMIT, End.DONE)


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that is known before anything is written; without outcomes something was wrong beforehand."""

    outcomes: tuple[Outcome, ...] = ()
    found: tuple[Diagnostic, ...] = ()
    wrong: End | None = None  # what was wrong before any method could run

    @property
    def end(self) -> End:
        if self.wrong is not None:
            return self.wrong
        ends = {outcome.end for outcome in self.outcomes}
        return next((end for end in _WORST if end in ends), End.DONE)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return list(dict.fromkeys([*self.found, *(d for outcome in self.outcomes for d in outcome.found)]))
