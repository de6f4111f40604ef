"""Which requirements fall short of their level, and why: the separation of the second models.

A round asks about every requirement at one point of the master. Most requirements need no question: a move that was
found for one side, as long as the capacities allow and both ways round, shows for every class in it how far it goes at
least. What falls short comes with the identity that proves it (`attacks`), from which the caller makes a cut.

An identity is rarely unique, and the best at the point may be poor around it: where there is no slack yet, coefficients
cost nothing. So a round may first be held at a *deep* point, with a little more slack everywhere. What falls short
there does so at the point as well, by a cut with small coefficients; only if nothing does is the point itself looked
at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import inf

import numpy as np

from sdcdsl.accelerate.cutting.attacks import AttackAnswer, Attacks, attacks_on
from sdcdsl.accelerate.cutting.batched_separation import BatchedSeparation, answered
from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.min_cost_separation import MinCostSeparation, OutOfTime
from sdcdsl.accelerate.cutting.requirements import CutRequirements, Levels
from sdcdsl.accelerate.cutting.tuning import TUNING
from sdcdsl.executing import SERIAL, Team, in_order

ENOUGH = 1e-9  # requirements count as reached that miss their level by no more than this share


@dataclass(frozen=True, eq=False)
class Identity:
    """sign · D_p = Σ coefficients · D_cells; for a slide D_p and -D_p each have theirs, added up as |c| both ways."""

    viewer: int
    need: float
    up: tuple[np.ndarray, np.ndarray]  # classes and α ≥ 0: times the slack upwards
    down: tuple[np.ndarray, np.ndarray]  # classes and β ≥ 0: times the slack downwards
    level: int  # number of the side, or of the slide after all requirements


@dataclass(eq=False)
class SeparationRound:
    """What a round found out. `hull` is the least slack (down, then up) that holds a move for every level; it is
    `whole` if there is one for each."""

    short: np.ndarray  # bool [side, then slide]
    reached: np.ndarray  # [side, then slide], at least
    hull: np.ndarray
    found: list[Identity] = field(default_factory=list)
    questions: int = 0
    whole: bool = True
    complete: bool = True  # False: the deadline ended it
    hopeless: list[int] = field(default_factory=list)  # levels that the whole slack does not reach
    repairs: list[tuple[int, np.ndarray, np.ndarray]] = field(default_factory=list)  # level, classes, and their moves


class Separation:
    def __init__(self, demands: CutRequirements, repairs: MinCostSeparation | None = None, team: Team = SERIAL):
        self.demands, self.repairs, self.team = demands, repairs, team
        self.attacks: Attacks = attacks_on(demands.classes)
        levels, slides = demands.levels, demands.slides
        self.levels = Levels(
            *(np.concatenate([getattr(levels, f.name), getattr(slides, f.name)]) for f in fields(Levels))
        )
        self.requirements = len(levels)
        # Flows are found in less time than it takes to ask for them.
        linear = demands.classes.network is None
        self._in_waves = linear and len(self.levels) * demands.classes.count >= TUNING.large
        self._asking = (
            team.share(BatchedSeparation(demands, self.levels, self.requirements)) if self._in_waves else None
        )
        self._hard = np.zeros(len(self.levels))  # how often a level was missed of late: asked about first

    def round(
        self,
        capacities: Capacities,
        *,
        deep: Capacities | None = None,
        tolerance: float = ENOUGH,
        over: Callable[[], bool] = lambda: False,
        only: np.ndarray | None = None,
        each: bool = False,
        repairing: bool = True,
        known: Sequence[np.ndarray] = (),
    ) -> SeparationRound:
        """`only` marks levels to ask about. `each`: a question for every one of them, whatever other moves show.
        `repairing`: at the least cost, where that is offered, instead of how far a requirement goes. `known`: moves of
        all classes that are at hand."""
        if deep is not None:
            made = self.round(deep, tolerance=tolerance, over=over, only=only, each=each, repairing=repairing)
            if made.found or not made.complete:
                return made
        n = self.demands.classes.count
        made = SeparationRound(np.zeros(len(self.levels), dtype=bool), np.zeros(len(self.levels)), np.zeros(2 * n))
        self._done = np.zeros(len(self.levels), dtype=bool) if only is None else ~only
        self._point, self._tolerance, self._each = capacities, tolerance, each
        order = np.argsort(-self._hard, kind="stable")
        for move in known:
            moved = np.flatnonzero(move)
            self._credit(moved, move[moved], made)
        if self._asking is not None and not (self.repairs is not None and repairing):
            self._by_waves(order, made, over)
        else:
            self._one_by_one(order, made, over, repairing)
        chosen = True if only is None else only
        self._hard = np.where(chosen, 0.7 * self._hard + made.short, self._hard)
        return made

    def _one_by_one(self, order: np.ndarray, made: SeparationRound, over: Callable[[], bool], repairing: bool) -> None:
        for s in order.tolist():
            if self._done[s]:
                continue
            if over():
                made.complete = made.whole = False
                return
            self._done[s] = True
            if self.repairs is not None and repairing and s < self.requirements:
                try:
                    self._repair(s, made)
                except OutOfTime:
                    made.complete = made.whole = False
                    return
            else:
                self._answer(s, self._ask(s, made), made)

    def _by_waves(self, order: np.ndarray, made: SeparationRound, over: Callable[[], bool]) -> None:
        """Many questions at a time, whoever answers them; what their moves show is known for the next wave. The same
        questions are asked however many there are to answer them."""
        point = self.team.share(self._point)
        while len(left := order[~self._done[order]]):
            wave = left[: TUNING.wave].tolist()
            batches = [wave[i : i + TUNING.batch] for i in range(0, len(wave), TUNING.batch)]
            calls = [(self._asking, point, batch) for batch in batches]
            got = 0
            for batch, answers in zip(batches, in_order(self.team, answered, calls, over=over), strict=False):
                for s, mine in zip(batch, answers, strict=True):
                    if not self._done[s] or self._each:
                        self._done[s] = True
                        self._answer(s, self._taken(mine, made), made)
                got += 1
            if got < len(batches):
                made.complete = made.whole = False
                return

    @property
    def recent(self) -> np.ndarray:
        """Levels that were missed not long ago."""
        return self._hard > 0.1

    # ---- questions --------------------------------------------------------------------------------------------

    def _answer(self, s: int, answers: list[AttackAnswer], made: SeparationRound) -> None:
        self._slide(s, answers, made) if s >= self.requirements else self._side(s, answers[0], made)

    def _side(self, s: int, answer: AttackAnswer, made: SeparationRound) -> None:
        _, _, viewer, need = self.target(s)
        made.reached[s] = max(answer.reached, made.reached[s])
        if answer.reached >= need * (1 - self._tolerance):
            self._hold(answer.moved, answer.move, need / answer.reached, made)
            return
        made.short[s] = True
        made.found.append(self.identity(s, viewer, need, answer))
        self._stretch(answer, viewer, need, made)

    def _repair(self, s: int, made: SeparationRound) -> None:
        assert self.repairs is not None
        cell, sign, viewer, need = self.target(s)
        point = self._point.of_viewer(viewer)
        made.questions += 1
        repair = self.repairs.ask(cell, sign, need, point, self.demands.slack(viewer))
        if repair is None:
            made.hopeless.append(s)
            made.short[s], made.whole = True, False
            return
        made.repairs.append((s, repair.moved, repair.move))
        self._hold(repair.moved, repair.move, 1.0, made)
        self._credit(repair.moved, repair.move, made)
        made.reached[s] = need
        if repair.price <= 0:
            return
        identity = identity_of(s, viewer, need, repair.cells, repair.coefficients)
        value = self.value(identity, self._point) if len(repair.cells) else inf
        if value < need * (1 - self._tolerance):
            made.short[s], made.reached[s] = True, value
            made.found.append(identity)

    def _slide(self, s: int, answers: list[AttackAnswer], made: SeparationRound) -> None:
        _, _, viewer, need = self.target(s)
        made.reached[s] = total = sum(a.reached for a in answers)
        if total >= need * (1 - self._tolerance):
            for answer in answers:
                if answer.reached > 0:
                    self._hold(answer.moved, answer.move, min(1.0, need / answer.reached), made)
            return
        made.short[s] = True
        made.found.append(self.identity(s, viewer, need, *answers))
        for answer in answers:
            if answer.reached > 0:
                self._stretch(answer, viewer, need * answer.reached / total, made)
        made.whole &= total > 0

    def target(self, s: int) -> tuple[int, int, int, float]:
        levels = self.levels
        return int(levels.cell[s]), int(levels.sign[s]), int(levels.viewer[s]), float(levels.need[s])

    def _ask(self, s: int, made: SeparationRound) -> list[AttackAnswer]:
        """For a slide upwards, then downwards."""
        cell, sign, viewer, need = self.target(s)
        slack = self._point.at(viewer, need)
        return [
            self._taken([self.attacks.ask(cell, turn, need, *slack)], made)[0]
            for turn in ((sign,) if s < self.requirements else (1, -1))
        ]

    def _taken(self, answers: list[AttackAnswer], made: SeparationRound) -> list[AttackAnswer]:
        for answer in answers:
            made.questions += 1
            if answer.reached > 0:
                self._credit(answer.moved, answer.move, made)
        return answers

    def lacking(self, s: int, down: np.ndarray, up: np.ndarray, tolerance: float) -> Identity | None:
        """Why one level is missed within these capacities; None if it is not."""
        cell, sign, viewer, need = self.target(s)
        signs = (sign,) if s < self.requirements else (1, -1)
        answers = [self.attacks.ask(cell, turn, need, down, up) for turn in signs]
        if sum(a.reached for a in answers) >= need * (1 - tolerance):
            return None
        return self.identity(s, viewer, need, *answers)

    def identity(self, s: int, viewer: int, need: float, *answers: AttackAnswer) -> Identity:
        combined = [(a.cells, a.coefficients) for a in answers if a.cells is not None and a.coefficients is not None]
        if len(combined) == 1:
            return identity_of(s, viewer, need, *combined[0])
        cells, c = (np.concatenate(parts) for parts in zip(*combined, strict=True))
        up, down = c > 0, c < 0
        return Identity(viewer, need, _sum(cells[up], c[up]), _sum(cells[down], -c[down]), s)

    def value(self, identity: Identity, capacities: Capacities) -> float:
        """How far the identity lets its level be reached at this point."""
        down, up = capacities.at(identity.viewer, identity.need)
        return float(identity.up[1] @ up[identity.up[0]] + identity.down[1] @ down[identity.down[0]])

    # ---- what moves show ----------------------------------------------------------------------------------------

    def _hold(self, moved: np.ndarray, move: np.ndarray, times: float, made: SeparationRound) -> None:
        n = self.demands.classes.count
        at = np.where((move > 0) == (times > 0), n, 0) + moved
        made.hull[at] = np.maximum(made.hull[at], np.abs(move * times))

    def _stretch(self, answer: AttackAnswer, viewer: int, need: float, made: SeparationRound) -> None:
        """A move that falls short, taken further, as if the release left as much slack as it needs."""
        if answer.reached <= 0:
            made.whole = False
            return
        times = need / answer.reached
        low, high = self.demands.slack(viewer)
        slack = np.where(answer.move > 0, high[answer.moved], low[answer.moved])
        if (np.abs(answer.move * times) > slack * (1 + 1e-12)).any():
            made.whole = False
        else:
            self._hold(answer.moved, answer.move, times, made)

    def _at_cells(self, moved: np.ndarray, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Levels still to be asked at cells that move, and how far each of these goes. A flow moves a few cells of very
        many, and there are as many flows as levels: nothing here may look at all of either."""
        cell, by_cell = self._by_cell
        moved, move = moved[move != 0], move[move != 0]
        first, last = np.searchsorted(cell, moved, side="left"), np.searchsorted(cell, moved, side="right")
        count = last - first
        ends = np.cumsum(count)
        found = by_cell[np.arange(count.sum()) - np.repeat(ends - count, count) + np.repeat(first, count)]
        each = np.repeat(move, count)
        open_ = ~self._done[found]
        order = np.argsort(found[open_])
        return found[open_][order], each[open_][order]

    @cached_property
    def _by_cell(self) -> tuple[np.ndarray, np.ndarray]:
        """Cells of the levels in order, and whose they are."""
        order = np.argsort(self.levels.cell, kind="stable")
        return self.levels.cell[order], order

    def _credit(self, moved: np.ndarray, move: np.ndarray, made: SeparationRound) -> None:
        """Enters how far this move, as long as it fits, forth and back, takes the levels that are still to be asked."""
        if self._each:
            return
        levels, capacities = self.levels, self._point
        left, each = self._at_cells(moved, move)
        if not len(left):
            return
        size, rising = np.abs(move), move > 0
        clip = float((capacities.share[moved] / size).min()) if capacities.share is not None else inf
        viewer = levels.viewer[left]
        forth, back = np.zeros(len(left)), np.zeros(len(left))
        for v in np.unique(viewer).tolist():
            low, high = capacities.of_viewer(v)
            down, up = low[moved], high[moved]
            forth[viewer == v] = (np.where(rising, up, down) / size).min()
            back[viewer == v] = (np.where(rising, down, up) / size).min()
        need = levels.need[left]
        forth, back = np.minimum(forth, clip * need), np.minimum(back, clip * need)
        there = each * levels.sign[left]
        slide = left >= self.requirements
        gets = np.abs(there) * np.where(slide, forth + back, np.where(there > 0, forth, back))
        made.reached[left] = np.maximum(made.reached[left], gets)
        settled = gets >= need * (1 - self._tolerance)
        self._done[left[settled]] = True
        if settled.any() and capacities.share is None:
            times = need / there
            single, both = settled & ~slide, settled & slide
            # Of a slide, as much of it forth and back as there is; of requirements just what they need.
            far = np.concatenate([times[single], np.minimum(forth[both], np.abs(times[both]))])
            near = np.concatenate([times[single], -np.minimum(back[both], np.abs(times[both]))])
            for step in {float(far.max(initial=0.0)), float(near.min(initial=0.0))} - {0.0}:
                self._hold(moved, move, step, made)


def identity_of(s: int, viewer: int, need: float, cells: np.ndarray, c: np.ndarray) -> Identity:
    """Of cells that are named once."""
    up, down = c > 0, c < 0
    return Identity(viewer, need, (cells[up], c[up]), (cells[down], -c[down]), s)


def _sum(cells: np.ndarray, amounts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at, place = np.unique(cells, return_inverse=True)
    return at, np.bincount(place, weights=amounts, minlength=len(at))
