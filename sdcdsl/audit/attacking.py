"""From what has to be proved to surveys, component by component and view by view, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace

import numpy as np

from sdcdsl.attack.reduction import Component, Reduction, Relations
from sdcdsl.attack.session import around
from sdcdsl.attack.survey import settle
from sdcdsl.attack.task import Findings, Known, Pairs, Task
from sdcdsl.proof.system import Problem

Progress = Callable[[int, int], None]  # pairs settled so far, of how many

FAR = 1e6  # times the largest level is as far as a table needs to go; engines lose sight of small moves beside 1e12
CHUNK = 200  # pairs of one component that are worth a worker of their own


@dataclass(frozen=True, eq=False)
class Attack:
    """One survey: the pairs of the audit it is about, its task, and what it found."""

    view: int
    pairs: np.ndarray  # int64: numbers in the audit
    component: Component
    findings: Findings


def attack(
    problem: Problem,
    chosen: np.ndarray,
    watch: np.ndarray,
    *,
    exact: bool,
    settled: np.ndarray | None = None,
    engine: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Iterator[Attack]:
    """Surveys of the `chosen` pairs; of the cells in `watch` (a mask) it is found out whether they can move at all.

    `settled` [2, pair] marks sides whose end is known already.
    """
    tasks = list(_tasks(problem, chosen, watch, exact, engine, chunked=executor is not None))
    if settled is not None:
        tasks = [(view, pairs, replace(task, settled=settled[:, pairs])) for view, pairs, task in tasks]
    total, done, sides = sum(len(pairs) for _, pairs, _ in tasks), 0, 0

    def tick(count: int) -> None:
        """One large component may be all there is: sides count as well."""
        nonlocal sides
        sides += count
        if progress is not None:
            progress(min(done + sides // 2, total), total)

    for (view, pairs, task), findings in _settled(tasks, executor, tick):
        done, sides = done + len(pairs), 0
        if progress is not None:
            progress(done, total)
        yield Attack(view, pairs, task.component, findings)


def _settled(tasks, executor: Executor | None, tick: Callable[[int], None]):
    if executor is None:
        for one in tasks:
            yield one, settle(one[2], tick)
        return
    waiting = {executor.submit(settle, one[2]): one for one in tasks}
    try:
        for future in as_completed(waiting):
            yield waiting.pop(future), future.result()
    finally:
        for future in waiting:
            future.cancel()


def _tasks(
    problem: Problem, chosen: np.ndarray, watch: np.ndarray, exact: bool, engine: str | None, chunked: bool
) -> Iterator[tuple[int, np.ndarray, Task]]:
    system, regions = problem.system, problem.regions
    relations = Relations(system.coefficient, system.cell_of, system.equation_of, system.cells, system.equations)
    view_of_pair = regions.view_of[problem.pairs.attacker[chosen]]
    for view in range(regions.views):
        mine = chosen[view_of_pair == view]
        l, u = around(system.a, regions.low[view], regions.high[view])
        far = FAR * max(
            level[mine].max(initial=0.0) for level in (problem.pairs.lpl, problem.pairs.upl, problem.pairs.spl)
        )
        if not exact and far > 0:
            l, u = np.where(np.isfinite(l), np.maximum(l, -far), l), np.where(np.isfinite(u), np.minimum(u, far), u)
        if not len(mine) and not (watch & (u > l)).any():
            continue
        reduction = Reduction(relations, l, u)
        known = _Known(problem, view)
        at = reduction.of[problem.pairs.cell[mine]]
        order = np.argsort(at, kind="stable")
        starts = np.searchsorted(at[order], np.arange(reduction.count + 1))
        watched = np.unique(reduction.of[watch & (reduction.of >= 0)])
        for number in np.union1d(np.unique(at[at >= 0]), watched):
            pairs = mine[order[starts[number] : starts[number + 1]]]
            component = reduction.component(int(number))
            looked = np.flatnonzero(watch[component.cells])
            parts = max(len(pairs) // CHUNK, 1) if chunked else 1
            for i, part in enumerate(np.array_split(pairs, parts)):
                look = looked if i == 0 else looked[:0]
                yield view, part, _task(problem, component, part, known, exact, engine, look)


def _task(
    problem: Problem,
    component: Component,
    pairs: np.ndarray,
    known: _Known,
    exact: bool,
    engine: str | None,
    watch: np.ndarray,
) -> Task:
    given = problem.pairs
    attackers, attacker = np.unique(given.attacker[pairs], return_inverse=True)
    local = Pairs(
        np.searchsorted(component.cells, given.cell[pairs]),
        attacker,
        np.stack([given.lpl[pairs], given.upl[pairs]]),
        given.spl[pairs],
    )
    return Task(component, local, known.of(attackers, component), len(attackers), exact, engine, watch)


class _Known:
    """What single attackers of a view know beyond it, as room around the truth."""

    def __init__(self, problem: Problem, view: int):
        self.problem, self.view = problem, view

    def of(self, attackers: np.ndarray, component: Component) -> Known:
        known, a = self.problem.regions.known, self.problem.system.a
        if not len(known.cell) or not len(attackers):
            return Known.nothing()
        who, entry = known.of(attackers)
        cell = known.cell[entry]
        at = np.minimum(np.searchsorted(component.cells, cell), len(component.cells) - 1)
        here = component.cells[at] == cell
        cell, entry = cell[here], entry[here]
        l, u = around(a[cell], known.low[entry], known.high[entry])
        # The view may say more than what an attacker is said to know.
        l, u = np.maximum(l, component.l[at[here]]), np.minimum(u, component.u[at[here]])
        return Known(who[here], at[here], l, u)
