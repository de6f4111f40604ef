"""What rounding, perturbation and combined methods have in common: build the forms, search, publish."""

from __future__ import annotations

from time import process_time

import numpy as np

from sdcdsl.accelerate.cutting.attacks import AttackFailed
from sdcdsl.accelerate.forms.inconsistent_multiples import misfits
from sdcdsl.accelerate.forms.own_levels import own_clashes, within_own_levels
from sdcdsl.accelerate.forms.search import Candidate, Find, FormsSearch
from sdcdsl.deadline import Deadline
from sdcdsl.methods.forms.shape import Shape
from sdcdsl.methods.result import Result, SolveContext
from sdcdsl.methods.result import gap as gap_of
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

LEAST_GAP = 2e-6  # what continuous problems are solved to; a gap of 0 means this


def solve_shape(
    shape: Shape, context: SolveContext, heuristic: Find | None = None, patience: Deadline | None = None
) -> Result:
    """`patience`: without a release when this is over, there will be none."""
    forms = shape.forms
    instance, published = forms.instance, shape.published
    gap = max(float(context.options.get("gap") or 0.0), LEAST_GAP)
    began = process_time()
    problem = forms.into.problem()
    clashes = own_clashes(forms, problem)
    notes = misfits(forms)
    if clashes or notes:
        return Result(INFEASIBLE, clashes=tuple(clashes), notes=tuple(notes))
    problem = within_own_levels(forms, problem)
    search = FormsSearch(instance, problem, forms.open & instance.may_open, published, heuristic, context.team)
    search.patience, search.checkpointer = patience, context.checkpointer

    def made_of(best: Candidate) -> Result:
        pattern = published.pattern(best.u, shape.about)
        return Result(FEASIBLE, pattern, best.objective, moves=search.witnesses(best))

    search.shown = lambda best: context.incumbents.offer(best.objective, lambda: made_of(best))
    try:
        search.run(context.deadline, gap, context.report)
    except AttackFailed as said:
        return Result(FAILED, notes=(str(said),))
    seconds = {"search": process_time() - began}
    bound = search.bound if np.isfinite(search.bound) else None
    if search.best is None:
        clashes = tuple(search.demands.hopeless)
        return Result(INFEASIBLE if search.infeasible else LIMIT, bound=bound, seconds=seconds, clashes=clashes)
    best = search.best
    bound = None if bound is None else min(bound, best.objective)
    proven = bound is not None and gap_of(best.objective, bound) <= gap
    pattern = published.pattern(best.u, shape.about)
    facts = {"rounds": search.rounds, "cuts": search.cuts}
    status = OPTIMAL if proven else FEASIBLE
    return Result(status, pattern, best.objective, bound, seconds, facts=facts, moves=search.witnesses(best))
