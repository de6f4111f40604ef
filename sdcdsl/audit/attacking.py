"""From what has to be proved to surveys, component by component and view by view, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from time import monotonic

import numpy as np

from sdcdsl.attack.engine_choice import Engines
from sdcdsl.attack.reduction import Component, ReducedRelations, Reduction
from sdcdsl.attack.session import around
from sdcdsl.attack.survey import settle
from sdcdsl.attack.task import AttackTask, Findings, OwnKnowledge, TaskPairs, WholeBox
from sdcdsl.audit.tuning import TUNING
from sdcdsl.executing import SERIAL, Channel, Tally, Team, in_order
from sdcdsl.numerics.null_space import RelationMatrix
from sdcdsl.proof.system import ProofProblem

Progress = Callable[[int, int], None]  # pairs settled so far, of how many

FAR = 1e6  # times the largest level is as far as a table needs to go; engines lose sight of small moves beside 1e12
NEAR = 1e3  # the same for pairs with levels of one size: moves so short that rounding does not count beside the level
ALIKE = 10.0  # levels within this factor are of one size


@dataclass(frozen=True, eq=False)
class Attack:
    """One survey: the pairs of the audit it is about, its task, and what it found."""

    view: int
    pairs: np.ndarray  # int64: numbers in the audit
    component: Component
    findings: Findings


Stated = tuple[int, np.ndarray, AttackTask]  # view, pairs of the audit, what is asked about them

# Stands in a task whose component comes apart from it.
_NONE = np.zeros(0, dtype=np.int64)
_APART = Component(
    _NONE, _NONE, RelationMatrix(np.zeros(1, dtype=np.int64), _NONE, np.zeros(0), 0), np.zeros(0), np.zeros(0)
)


def attack(
    problem: ProofProblem,
    chosen: np.ndarray,
    watch: np.ndarray,
    *,
    exact: bool,
    prove_ends: bool = False,
    settled: np.ndarray | None = None,
    engine: str | None = None,
    engines: Engines | None = None,
    team: Team = SERIAL,
    progress: Progress | None = None,
    reach: float = FAR,
    within: float = inf,
) -> Iterator[Attack]:
    """Surveys of the `chosen` pairs; of the cells in `watch` (a mask for each view) it is found out whether they can
    move at all.

    `prove_ends`: ends that are found are checked by arithmetic; if they are not asked for here (`exact`), they will be
    next, and `engines` are kept for that. `settled` [2, pair] are ends that are known already, nan where none is. No
    cell is moved further than `within`, nor, unless exact ends are wanted, than `reach` times the largest level.
    """
    tasks = list(_tasks(problem, chosen, watch, exact, engine, reach, within))
    if settled is not None:
        tasks = [(view, pairs, replace(task, settled=settled[:, pairs])) for view, pairs, task in tasks]
    if prove_ends:
        tasks = [(view, pairs, replace(task, to_the_end=not exact, prove=True)) for view, pairs, task in tasks]
    batches = _batches(tasks, TUNING.ends if exact else TUNING.verdicts)
    tally = Tally([sum(len(tasks[i][1]) for i in batch) for batch in batches], progress)
    calls = _calls(tasks, batches, team, tally, engines)
    made = in_order(team, surveyed, calls, done=tally.done)
    for batch, found in zip(batches, made, strict=True):
        for i, findings in zip(batch, found, strict=True):
            view, pairs, task = tasks[i]
            yield Attack(view, pairs, task.component, findings)


def _batches(tasks: list[Stated], most: int) -> list[list[int]]:
    """Numbers of tasks, small ones together: what is sent costs more than a survey of a few cells."""
    out: list[list[int]] = []
    pairs = 0
    for i, (_, mine, _) in enumerate(tasks):
        if not out or pairs + len(mine) > most:
            out.append([])
            pairs = 0
        out[-1].append(i)
        pairs += max(len(mine), 1)
    return out


def _calls(
    tasks: list[Stated], batches: list[list[int]], team: Team, tally: Tally, engines: Engines | None
) -> list[tuple]:
    """What `surveyed` is given. A component that several tasks are about is shared, not sent with each of them."""
    if team.width > 1 and not team.apart:
        engines = None  # threads would ask one engine at the same time
    often = Counter(id(task.component) for _, _, task in tasks)
    shared = {id(task.component): team.share(task.component) for _, _, task in tasks if often[id(task.component)] > 1}
    out: list[tuple] = []
    for number, batch in enumerate(batches):
        mine = [tasks[i][2] for i in batch]
        component = shared.get(id(mine[0].component)) if len(mine) == 1 else None
        if component is not None:
            mine = [replace(mine[0], component=_APART)]
        out.append((component, mine, Channel(tally.of(number)), engines))
    return out


def surveyed(
    component: Component | None, tasks: list[AttackTask], line: Channel, engines: Engines | None
) -> list[Findings]:
    """Surveys, wherever they are made."""
    said, sides = 0.0, 0

    def tick(count: int) -> None:
        nonlocal said, sides
        sides += count
        if monotonic() - said > TUNING.often:
            said = monotonic()
            line.say(sides // 2)  # one large component may be all there is: half a pair each

    mine = tasks if component is None else [replace(task, component=component) for task in tasks]
    return [settle(task, tick, engines) for task in mine]


def of_one_size(problem: ProofProblem, pairs: np.ndarray) -> Iterator[np.ndarray]:
    """The pairs by the size of their smallest level. A move that serves a level of a million as well as one of 1 breaks
    relations by more than 1e-9 of the smaller one, whatever is done about rounding."""
    levels = np.stack([problem.pairs.lpl[pairs], problem.pairs.upl[pairs], problem.pairs.spl[pairs]])
    least = np.where(levels > 0, levels, np.inf).min(axis=0)
    order = np.argsort(least, kind="stable")
    start = 0
    for at in range(1, len(order) + 1):
        if at == len(order) or least[order[at]] > ALIKE * least[order[start]]:
            yield np.sort(pairs[order[start:at]])
            start = at


def _tasks(
    problem: ProofProblem,
    chosen: np.ndarray,
    watch: np.ndarray,
    exact: bool,
    engine: str | None,
    reach: float,
    within: float,
) -> Iterator[tuple[int, np.ndarray, AttackTask]]:
    system, regions = problem.system, problem.regions
    relations = ReducedRelations(system.coefficient, system.cell_of, system.equation_of, system.cells, system.equations)
    view_of_pair = regions.view_of[problem.pairs.attacker[chosen]]
    for view in range(regions.views):
        mine = chosen[view_of_pair == view]
        box = around(system.a, regions.low[view], regions.high[view])
        far = reach * max(
            level[mine].max(initial=0.0) for level in (problem.pairs.lpl, problem.pairs.upl, problem.pairs.spl)
        )
        far = min(within, far if not exact and far > 0 else inf)
        l, u = (np.where(np.isfinite(end), np.clip(end, -far, far), end) for end in box)
        if not len(mine) and not (watch[view] & (u > l)).any():
            continue
        reduction = Reduction(relations, l, u)
        known = _OwnKnowledge(problem, view, box if far < inf else None)
        at = reduction.of[problem.pairs.cell[mine]]
        order = np.argsort(at, kind="stable")
        starts = np.searchsorted(at[order], np.arange(reduction.count + 1))
        watched = np.unique(reduction.of[watch[view] & (reduction.of >= 0)])
        for number in np.union1d(np.unique(at[at >= 0]), watched):
            pairs = mine[order[starts[number] : starts[number + 1]]]
            component = reduction.component(int(number))
            looked = np.flatnonzero(watch[view, component.cells])
            parts = max(len(pairs) // (TUNING.ends if exact else TUNING.verdicts), 1)
            for i, part in enumerate(np.array_split(pairs, parts)):
                look = looked if i == 0 else looked[:0]
                yield view, part, _task(problem, component, part, known, exact, engine, look)


def _task(
    problem: ProofProblem,
    component: Component,
    pairs: np.ndarray,
    known: _OwnKnowledge,
    exact: bool,
    engine: str | None,
    watch: np.ndarray,
) -> AttackTask:
    given = problem.pairs
    attackers, attacker = np.unique(given.attacker[pairs], return_inverse=True)
    local = TaskPairs(
        np.searchsorted(component.cells, given.cell[pairs]),
        attacker,
        np.stack([given.lpl[pairs], given.upl[pairs]]),
        given.spl[pairs],
    )
    more, box = known.of(attackers, component)
    return AttackTask(component, local, more, len(attackers), exact, engine, watch, box=box)


class _OwnKnowledge:
    """What single attackers of a view know beyond it, as slack around the truth; and the box of the view, where the
    components are cut out of a smaller one."""

    def __init__(self, problem: ProofProblem, view: int, box: tuple[np.ndarray, np.ndarray] | None):
        self.problem, self.view, self.box = problem, view, box

    def of(self, attackers: np.ndarray, component: Component) -> tuple[OwnKnowledge, WholeBox | None]:
        """What these attackers know, within the component's box; and that box as it is, `AttackTask.box`."""
        who, cell, l, u = self._entries(attackers, component)
        at = np.searchsorted(component.cells, cell)
        # The view may say more than what an attacker is said to know.
        known = OwnKnowledge(who, at, np.maximum(l, component.l[at]), np.minimum(u, component.u[at]))
        if self.box is None:
            return known, None
        return known, (self.box[0][component.cells], self.box[1][component.cells], l, u)

    def _entries(self, attackers: np.ndarray, component: Component) -> tuple[np.ndarray, ...]:
        known, a = self.problem.regions.known, self.problem.system.a
        if not len(known.cell) or not len(attackers):
            nothing = OwnKnowledge.nothing()
            return nothing.attacker, nothing.cell, nothing.l, nothing.u
        who, entry = known.of(attackers)
        cell = known.cell[entry]
        at = np.minimum(np.searchsorted(component.cells, cell), len(component.cells) - 1)
        here = component.cells[at] == cell
        cell, entry = cell[here], entry[here]
        return who[here], cell, *around(a[cell], known.low[entry], known.high[entry])
