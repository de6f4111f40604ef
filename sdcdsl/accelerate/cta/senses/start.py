"""First directions: any that work, or how far the levels are missed at least as far as was found.

All groups up, where up is open to them, works for most tables. Where it does not, levels may be missed at a high cost
(as paper 004 §5 does with margins), and flips bring the cost down; what is left then is decided by the
mixed-integer problem itself, or where that would need ends that nobody has, by trying all choices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from sdcdsl.accelerate.cta.senses.flips import Flips
from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.senses.mip import Model, Part
from sdcdsl.accelerate.cta.senses.warm_start import Point, WarmStart
from sdcdsl.accelerate.cta.tuning import SEARCH
from sdcdsl.deadline import Deadline
from sdcdsl.status import FAILED, FEASIBLE, INFEASIBLE, LIMIT, OPTIMAL

MISSED = 1e-7  # in typical levels: less is the solver's tolerance


@dataclass(frozen=True, eq=False)
class Start:
    status: str  # FEASIBLE with a point, else INFEASIBLE, LIMIT or FAILED
    point: Point | None
    missed: Point | None = None  # of the elastic problem


def start(warm: WarmStart, deadline: Deadline) -> Start:
    groups = warm.groups
    if not groups.open.any(axis=1).all():
        return Start(INFEASIBLE, None, _elastic(warm, deadline))
    for up in (groups.open[:, 1], ~groups.open[:, 0], _nearest(groups)):
        status, point = warm.solve(up, deadline)
        if status == OPTIMAL:
            return Start(FEASIBLE, point)
        if status == LIMIT:
            return Start(LIMIT, None)
    missed = _elastic(warm, deadline)
    if missed is not None:
        status, point = warm.solve(missed.up, deadline)
        if status == OPTIMAL:
            return Start(FEASIBLE, point)
    up = groups.open[:, 1]
    part = Part(np.ones(groups.count, dtype=bool), np.ones(len(up), dtype=bool))
    made = Model(groups, (warm.c_down, warm.c_up), part, up, np.zeros(groups.count)).solve(deadline, gap=1.0)
    if made.up is not None:
        status, point = warm.solve(made.up, deadline)
        if status == OPTIMAL:
            return Start(FEASIBLE, point)
    if made.status in (INFEASIBLE, LIMIT):
        return Start(made.status, None, missed)
    return _every(warm, deadline, missed)  # the problem had an end that was made up, and proves nothing


def _every(warm: WarmStart, deadline: Deadline, missed: Point | None) -> Start:
    """Every choice of directions, where there are few of them: what none of them allows is infeasible."""
    every = choices(warm.groups)
    if every is None:
        return Start(FAILED, None, missed)
    for up in every:
        status, point = warm.solve(up, deadline)
        if status == OPTIMAL:
            return Start(FEASIBLE, point)
        if status != INFEASIBLE:
            return Start(status if status == LIMIT else FAILED, None, missed)
    return Start(INFEASIBLE, None, missed)


def choices(groups: Groups) -> Iterator[np.ndarray] | None:
    """All directions that groups can take, where there are few of them."""
    free = np.flatnonzero(groups.open.all(axis=1))
    if len(free) > SEARCH.first_choices:
        return None
    chosen = product((True, False), repeat=len(free))
    return (_with(groups.open[:, 1], free, choice) for choice in chosen)


def _with(up: np.ndarray, free: np.ndarray, choice: tuple[bool, ...]) -> np.ndarray:
    out = up.copy()
    out[free] = choice
    return out


def _nearest(groups: Groups) -> np.ndarray:
    """Each group towards its smaller level."""
    s = groups.sensitive
    return np.where(groups.open.all(axis=1), groups.up[s] <= groups.down[s], groups.open[:, 1])


def _elastic(warm: WarmStart, deadline: Deadline) -> Point | None:
    soft = WarmStart(warm.groups, warm.c_down, warm.c_up, elastic=True)
    status, point = soft.solve(warm.groups.open[:, 1], deadline)
    if status != OPTIMAL or point is None:
        return None
    flips = Flips(soft)
    while point.missed.max(initial=0.0) > MISSED and not deadline.expired:
        better = flips.improve(point, deadline)
        if better.objective >= point.objective * (1 - 1e-9):
            break
        point = better
    return point
