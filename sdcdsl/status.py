"""How a search or a solver ended, in one set of words for all of them."""

from __future__ import annotations

OPTIMAL, FEASIBLE, INFEASIBLE, LIMIT, FAILED = "optimal", "feasible", "infeasible", "limit", "failed"
UNBOUNDED, INFEASIBLE_OR_UNBOUNDED = "unbounded", "infeasible or unbounded"
CUTOFF = "cutoff"  # the optimum is not better than what was given as good enough


class SolverFailed(RuntimeError):
    """A solver did not answer; says what it said instead."""
