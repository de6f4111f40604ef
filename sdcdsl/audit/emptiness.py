"""Does any table at all fit what was released? If none does, readers know that the release is wrong."""

from __future__ import annotations

import numpy as np

from sdcdsl.attack.feasible import feasible
from sdcdsl.audit.problem import stated
from sdcdsl.bind.problem import TableProblem
from sdcdsl.diagnostics import Diagnostic, diagnostic
from sdcdsl.pattern import Pattern


def empty_regions(problem: TableProblem, pattern: Pattern) -> list[Diagnostic]:
    """For a release that excludes the truth: the attackers who can tell."""
    task = stated(problem, pattern)
    regions, out = task.regions, []
    for view in range(regions.views):
        if feasible(task.system, regions.low[view], regions.high[view]):
            continue
        who = np.flatnonzero(regions.view_of == view)
        name = problem.attackers[int(who[0])] if len(who) else "readers"
        more = f" and {len(who) - 1} more" if len(who) > 1 else ""
        headline = f"no table fits what is released and what {name}{more} knows"
        notes = ["the attacker knows that the release is wrong; nothing in it is protected by that"]
        out.append(diagnostic("SDC407", headline, problem.tables[0].place, notes=notes))
    return out
