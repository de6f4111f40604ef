"""How a search or a solver ended, in one set of words for all of them."""

from __future__ import annotations

OPTIMAL, FEASIBLE, INFEASIBLE, LIMIT, FAILED = "optimal", "feasible", "infeasible", "limit", "failed"
