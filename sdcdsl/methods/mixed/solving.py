"""What rounding, perturbation and combined methods have in common: build the forms, search, publish."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

import numpy as np

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.cutting.attacks import AttackFailed
from sdcdsl.methods.first_models import typical
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.mixed.forms import Forms
from sdcdsl.methods.mixed.own import own_clashes, within_own_levels
from sdcdsl.methods.mixed.published import Published
from sdcdsl.methods.mixed.search import Find, Search
from sdcdsl.methods.mixed.why import misfits
from sdcdsl.methods.result import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL, Clock, Order, Result
from sdcdsl.methods.result import gap as gap_of

LEAST_GAP = 2e-6  # what continuous problems are solved to; a gap of 0 means this


@dataclass(frozen=True, eq=False)
class Shape:
    """How the cells of a table are published, with everything said about it."""

    forms: Forms
    about: tuple[str, ...]  # what readers are told

    @property
    def published(self) -> Published:
        return Published(self.forms.instance, self.forms.at, self.forms.into.unit)


def new_forms(problem: TableProblem, *amounts: np.ndarray) -> Forms:
    """`amounts`: lengths of what is decided (bases, ranges, levels); solvers work in units of a typical one."""
    d = problem.dataset
    return Forms(Instance(problem), typical(np.concatenate(amounts)), d["lb"].values, d["ub"].values)


def solve_shape(shape: Shape, order: Order, finder: Find | None = None, patience: Clock | None = None) -> Result:
    """`patience`: without a release when this is over, there will be none."""
    forms = shape.forms
    instance, published = forms.instance, shape.published
    gap = max(float(order.options.get("gap") or 0.0), LEAST_GAP)
    began = process_time()
    problem = forms.into.problem()
    clashes = own_clashes(forms, problem)
    notes = misfits(forms)
    if clashes or notes:
        return Result(INFEASIBLE, clashes=tuple(clashes), notes=tuple(notes))
    problem = within_own_levels(forms, problem)
    search = Search(instance, problem, forms.open & instance.may_open, published, finder, order.team)
    search.patience, search.keeping = patience, order.keeping
    try:
        search.run(order.clock, gap, order.tell)
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
    return Result(OPTIMAL if proven else FEASIBLE, pattern, best.objective, bound, seconds, facts=facts)
