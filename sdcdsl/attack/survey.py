"""Settles many pairs of attackers and cells of one component: who can drive which cell how far?

Every move that is found serves all pairs. A move is a direction from the truth: scaled until the box stops it, and
reversed, it shows for each cell in it how far it goes at least, and one vertex settles many pairs. So:

1. joint questions: one linear program that gives as many cells as it can all of what they need;
2. single questions for what is left, hardest first;
3. what is proved to fall short gets the multipliers that prove it.

In `exact` mode a side is settled when its furthest point is known, otherwise as soon as its level is reached. Attackers
who know more than the view they share (their own contributions) are served by the same moves, scaled to their tighter
boxes, and asked about one by one only where those do not reach.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TypeVar

import numpy as np

from sdcdsl.attack.choosing import Engines
from sdcdsl.attack.dense import DenseEngine
from sdcdsl.attack.dictionary import typical_room
from sdcdsl.attack.engine import Answer, Bounds, Engine
from sdcdsl.attack.propagation import Propagated
from sdcdsl.attack.task import DOWN, UP, Findings, Refutation, Task

T = TypeVar("T")

ENOUGH = 1 - 5e-10  # a level counts as reached from this share of it on: nobody looks for more
SHORT = 1 - 1e-9  # and as missed below this one, as audits do; in between the furthest move has to prove it
OVERSHOOT = 1 + 4e-6  # asked for beyond the level: neither rounding errors nor snapping to fractions leave it short
SURELY_SHORT = 1 - 1e-7  # of a level: what sums with rounding errors show to be below this is below the level
NOTHING = 1e-9  # of the largest entry of a move: smaller ones may be rounding errors
LAST_JOINT = 0.1  # joint questions end when one settles less than this share of what it asked for


def settle(task: Task, progress: Callable[[int], None] | None = None, engines: Engines | None = None) -> Findings:
    """`engines`: where an engine for the same box is left, and may be found when exact ends are asked for. Verdicts
    rest on engines of their own, so that they come out the same whoever does the work."""
    return _Survey(task, progress, engines or Engines()).run()


class _Survey:
    def __init__(self, task: Task, progress: Callable[[int], None] | None, engines: Engines):
        self.task, self.progress, self.engines = task, progress, engines
        self.pairs, self.known = task.pairs, task.known
        n = len(self.pairs)
        self.found = Findings(np.zeros((2, n)), np.zeros((2, n), bool), np.full((2, n), -1), np.zeros((2, n)))
        component = task.component
        self.l, self.u = component.l, component.u
        self.own = self._own_ends()
        levels = self.pairs.need[self.pairs.need > 0]
        self.slack = 2e-10 * float(levels.min()) if len(levels) else 0.0  # auditing allows 1e-9
        self.known_start = np.searchsorted(self.known.attacker, np.arange(task.attackers + 1))
        self.moved = np.zeros(len(component.cells), dtype=bool)
        self.refuted = np.zeros((2, n), dtype=bool)
        self.exposed = np.zeros(n, dtype=bool)  # as good as proved, and only the verdict is wanted
        self.ceiling = np.full((2, len(component.cells)), inf)  # how far a cell goes for everybody with this view
        self.asked = np.zeros((2, len(component.cells)), dtype=bool)
        self.by_cell = np.argsort(self.pairs.cell, kind="stable")
        self.pair_start = np.searchsorted(self.pairs.cell[self.by_cell], np.arange(len(component.cells) + 1))
        # In exact mode every side is open until its end is known; otherwise a side that needs nothing is settled,
        # unless both sides together need something.
        self.open = (self.own > 0) & ((self.pairs.need > 0) | task.exact | (self.pairs.slide > 0))
        self.found.closed |= self.own <= 0
        if task.settled is not None:
            self.open &= ~task.settled

    def _own_ends(self) -> np.ndarray:
        """How far the cell's own box lets each pair go."""
        cell = self.pairs.cell
        own = np.stack([-self.l[cell], self.u[cell]])
        if len(self.known.cell):
            key = self.known.attacker * len(self.l) + self.known.cell
            order = np.argsort(key)
            wanted = self.pairs.attacker * len(self.l) + cell
            at = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
            there = key[order][at] == wanted
            entry = order[at[there]]
            own[DOWN, there] = np.minimum(own[DOWN, there], -self.known.l[entry])
            own[UP, there] = np.minimum(own[UP, there], self.known.u[entry])
        return own

    # ---- the three steps -------------------------------------------------------------------------------

    def run(self) -> Findings:
        self._refute_by_box()
        self._refute_by_relations()
        if self.open.any() or len(self.task.watch):
            chosen = self.engines.of if self.task.exact else self.engines.new
            self.engine: Engine = chosen(self.task.component, self.task.engine)
            if isinstance(self.engine, DenseEngine):
                self.engine.to_the_end = self.task.to_the_end
            for side in (UP, DOWN):
                self._jointly(side)
            for side in (UP, DOWN):
                self._singly(side)
            self._sliding()
            self._watch()
        self._forget_unused()
        self._finite_steps()
        return self.found

    def _refute_by_box(self) -> None:
        """A cell whose own box is too narrow needs no engine."""
        for side in (DOWN, UP):
            short = np.flatnonzero(self.own[side] < self.pairs.need[side] * SHORT)
            self._refute_each(short[~self.exposed[short]], side)
        narrow = np.flatnonzero(self.own.sum(axis=0) < self.pairs.slide * SHORT)
        for side in (DOWN, UP):
            self._refute_each(narrow[~self.refuted[side, narrow]], side)
        if not self.task.exact:
            self.open[:, narrow] = False
            self.exposed[narrow] = True

    def _refute_by_relations(self) -> None:
        """Cells that single relations leave too little room, one after the other, for everybody with this view."""
        matrix = self.task.component.matrix
        if self.task.exact or not matrix.rows or not (self.open & (self.pairs.need > 0)).any():
            return
        narrowed = Propagated(matrix, self.l, self.u)
        for side, room in ((DOWN, -narrowed.l), (UP, narrowed.u)):
            need = self.pairs.need[side]
            short = self.open[side] & (room[self.pairs.cell] < need * SURELY_SHORT) & ~self.exposed
            for cell in np.unique(self.pairs.cell[short]):
                identity = narrowed.multipliers(int(cell), 1 if side == UP else -1)
                if identity is None:
                    continue
                mine = self.by_cell[self.pair_start[cell] : self.pair_start[cell + 1]]
                mine = mine[short[mine]]
                sign = 1 if side == UP else -1
                self.found.refutations.append(Refutation(mine, side, identity[0], sign * identity[1]))
                self.refuted[side, mine] = True
                self._give_up(mine, side)

    def _refute_each(self, pairs: np.ndarray, side: int) -> None:
        nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
        self.found.refutations += [Refutation(pairs[i : i + 1], side, *nothing) for i in range(len(pairs))]
        self.refuted[side, pairs] = True
        self._give_up(pairs, side)

    def _jointly(self, side: int) -> None:
        """Several rounds for all attackers of the view together; each asks for what the last one left."""
        sign = 1 if side == UP else -1
        while True:
            ask = np.flatnonzero(self.open[side] & self._lacking(side))
            target = self._target(side, ask)
            ask, target = ask[np.isfinite(target)], target[np.isfinite(target)]
            cells, first = np.unique(self.pairs.cell[ask], return_index=True)
            if len(cells) < 3:
                return
            signs, need = np.full(len(cells), sign), target[first]
            move = self._answered(lambda c=cells, s=signs, n=need: self.engine.joint(c, s, n))
            if move is None:
                return
            self._credit(*move)
            if np.count_nonzero(~(self.open[side] & self._lacking(side))[ask]) < max(LAST_JOINT * len(ask), 2):
                return

    def _singly(self, side: int) -> None:
        order = np.flatnonzero(self.open[side] & self._lacking(side))
        with np.errstate(divide="ignore", invalid="ignore"):
            hardness = self.pairs.need[side, order] / self.own[side, order]
        for pair in order[np.argsort(-hardness, kind="stable")]:
            if self.open[side, pair] and self._lacking(side)[pair]:
                self._ask(int(pair), side, inf if self.task.exact else OVERSHOOT * float(self.pairs.need[side, pair]))
            if self.progress is not None:
                self.progress(1)

    def _lacking(self, side: int) -> np.ndarray:
        """Pairs that a question about this side alone may help."""
        if self.task.exact:
            return ~self.found.closed[side]
        return self.found.reached[side] < self.pairs.need[side] * ENOUGH

    def _sliding(self) -> None:
        """Both sides together must give `slide`: what one side has more, the other may have less."""
        for pair in np.flatnonzero((self.pairs.slide > 0) & ~self.exposed):
            for side in (UP, DOWN):
                missing = self.pairs.slide[pair] - self.found.reached[1 - side, pair]
                if self.found.reached[side, pair] < missing * ENOUGH and not self.found.closed[side, pair]:
                    self._ask(int(pair), side, OVERSHOOT * float(missing))
            both = self.found.reached[:, pair]
            if both.sum() < self.pairs.slide[pair] * ENOUGH:
                for side in (UP, DOWN):
                    self._ask(int(pair), side, inf, refute=True)

    def _watch(self) -> None:
        """Cells that no move has moved so far are asked about, together and one by one, until something moves them."""
        for side in (UP, DOWN):
            self._watch_jointly(side)
        left = self.task.watch[~self.moved[self.task.watch]]
        still = left[known := self.engine.still(left)].tolist()
        for cell in left[~known]:
            if self.moved[cell]:
                continue
            for sign in (1, -1):
                answer = self._push(int(cell), sign, inf, None)
                if answer is not None and answer.reached > 0:
                    self.moved[answer.cells] = True
                if self.moved[cell]:
                    break
            else:
                still.append(int(cell))
        self.found.still = np.sort(np.array(still, dtype=np.int64))

    def _watch_jointly(self, side: int) -> None:
        room = self.u if side == UP else -self.l
        while True:
            cells = self.task.watch[~self.moved[self.task.watch] & (room[self.task.watch] > 0)]
            cells = cells[~self.engine.still(cells)]
            if len(cells) < 3:
                return
            needs = np.minimum(room[cells], typical_room(self.l, self.u))
            move = self.engine.joint(cells, np.full(len(cells), 1 if side == UP else -1), needs)
            self.found.questions += 1
            if move is not None and max(self._steps(*move)) > 0:
                self.moved[move[0]] = True
            if np.count_nonzero(self.moved[cells]) < max(LAST_JOINT * len(cells), 2):
                return

    # ---- questions and what they give --------------------------------------------------------------------

    def _ask(self, pair: int, side: int, need: float, refute: bool = False) -> None:
        cell, attacker = int(self.pairs.cell[pair]), int(self.pairs.attacker[pair])
        bounds = self._bounds(attacker)
        if bounds is not None and not self.asked[side, cell]:
            self._ask_for_all(cell, side)
            if not self.open[side, pair] and not refute:
                return
        answer = self._push(cell, 1 if side == UP else -1, need, bounds)
        if answer is None:
            self.open[side, pair] = False
            return
        # A survey before this one may have seen the move: then nobody has got anything of it yet.
        seen = answer.again and self.found.reached[side, pair] >= answer.reached * ENOUGH
        if not (seen and self.open[side, pair]):
            self.open[side, pair] = True  # what is asked about takes what the answer gives
            self._credit(answer.cells, answer.move)
        if not answer.closed:
            if answer.bound < self.pairs.need[side, pair] * ENOUGH:
                self.open[side, pair] = False
                self._refute(np.array([pair]), side, answer)
            return
        self.open[side, pair] = False
        self.found.closed[side, pair] = True
        # Moves are taken a rounding error beyond the box; nobody is told of more than there is.
        self.found.reached[side, pair] = min(self.found.reached[side, pair], answer.reached)
        if refute or self.found.reached[side, pair] < self.pairs.need[side, pair] * SHORT:
            self._refute(np.array([pair]), side, answer)

    def _ask_for_all(self, cell: int, side: int) -> None:
        """How far the cell goes for who knows no more than the view: nobody gets it further."""
        self.asked[side, cell] = True
        mine = self.by_cell[self.pair_start[cell] : self.pair_start[cell + 1]]
        need = inf if self.task.exact else OVERSHOOT * float(self.pairs.need[side, mine].max())
        answer = self._push(cell, 1 if side == UP else -1, need, None)
        if answer is None:
            return
        most = answer.reached if answer.closed else answer.bound
        self.ceiling[side, cell] = most
        self._credit(answer.cells, answer.move)
        short = mine[most < self.pairs.need[side, mine] * SHORT]
        self._refute(short[~self.exposed[short]], side, answer)

    def _refute(self, pairs: np.ndarray, side: int, answer: Answer) -> None:
        pairs = pairs[~self.refuted[side, pairs]]
        identity = answer.multipliers() if len(pairs) else None
        if identity is not None:
            sign = 1 if side == UP else -1
            self.found.refutations.append(Refutation(pairs, side, identity[0], sign * identity[1]))
            self.refuted[side, pairs] = True
            self._give_up(pairs, side)

    def _give_up(self, pairs: np.ndarray, side: int) -> None:
        """One side that falls short exposes a pair: whoever wants only the verdict need not ask about the other."""
        if not self.task.exact:
            short = pairs[self.pairs.need[side, pairs] > 0]
            self.open[:, short] = False
            self.exposed[short] = True

    def _push(self, cell: int, sign: int, need: float, bounds: Bounds | None) -> Answer | None:
        return self._answered(lambda: self.engine.push(cell, sign, need, bounds))

    def _answered(self, question: Callable[[], T]) -> T | None:
        """None where the engine fails: pairs stay open, for another engine, or for the verdict `not proven`."""
        self.found.questions += 1
        try:
            return question()
        except (RuntimeError, np.linalg.LinAlgError) as said:
            self.found.failures.append(str(said))
            return None

    def _bounds(self, attacker: int) -> Bounds | None:
        """The ends that hold for one attacker only."""
        mine = slice(self.known_start[attacker], self.known_start[attacker + 1])
        cells = self.known.cell[mine]
        if not len(cells):
            return None
        return cells, np.maximum(self.known.l[mine], self.l[cells]), np.minimum(self.known.u[mine], self.u[cells])

    def _target(self, side: int, pairs: np.ndarray) -> np.ndarray:
        """What a joint question should give: the level and a little more, or in exact mode the end of its own box."""
        own = self.own[side, pairs]
        if not self.task.exact:
            return np.minimum(self.pairs.need[side, pairs] * OVERSHOOT, own)
        return own

    def _credit(self, cells: np.ndarray, move: np.ndarray) -> None:
        """Enter how far one move, scaled and reversed, takes every pair."""
        if isinstance(self.engine, DenseEngine) and len(cells):
            cells, move = self.engine.polished(cells, move)
        else:
            cells, move = cells[move != 0], move[move != 0]
        forward, back = self._steps(cells, move)
        if forward <= 0 and back <= 0:
            return
        self.moved[cells] = True
        touched, at = self._pairs_of(cells, move)
        forwards, backs = self._steps_of_attackers(cells, move, forward, back)
        attacker = self.pairs.attacker[touched]
        number = len(self.found.moves)
        used = False
        for step, ways in ((forwards, 1.0), (backs, -1.0)):
            times = step[attacker] if step.ndim else np.full(len(touched), float(step))
            with np.errstate(invalid="ignore"):
                amount = np.where(times > 0, at * ways * times, 0.0)
            for side, gain in ((UP, amount), (DOWN, -amount)):
                better = (gain > self.found.reached[side, touched]) & self.open[side, touched]
                if better.any():
                    pairs = touched[better]
                    self.found.reached[side, pairs] = gain[better]
                    self.found.witness[side, pairs] = number
                    self.found.step[side, pairs] = ways * times[better]
                    used = True
        if used:
            self.found.moves.append((cells, move))
            self._close(touched)

    def _pairs_of(self, cells: np.ndarray, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs with an open side among some cells, and by how much their cells move."""
        count = self.pair_start[cells + 1] - self.pair_start[cells]
        some = count > 0
        count, first = count[some], self.pair_start[cells[some]]
        pair = self.by_cell[np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())]
        is_open = self.open[DOWN, pair] | self.open[UP, pair]
        return pair[is_open], np.repeat(move[some], count)[is_open]

    def _close(self, touched: np.ndarray) -> None:
        for side in (DOWN, UP):
            reached = self.found.reached[side, touched]
            end = np.minimum(self.own[side, touched], self.ceiling[side, self.pairs.cell[touched]])
            at_end = reached >= end * ENOUGH
            self.found.closed[side, touched[at_end]] = True
            if self.task.exact or self.task.to_the_end:  # the end itself is what a report shows
                own = self.own[side, touched]
                self.found.reached[side, touched] = np.where(reached >= own * ENOUGH, own, reached)
            done = at_end
            if not self.task.exact:
                done = done | ((reached >= self.pairs.need[side, touched] * ENOUGH) & (self.pairs.slide[touched] == 0))
            self.open[side, touched[done]] = False

    def _steps(self, cells: np.ndarray, move: np.ndarray) -> tuple[float, float]:
        return _longest(move, self.l[cells], self.u[cells], self.slack), _longest(
            -move, self.l[cells], self.u[cells], self.slack
        )

    def _steps_of_attackers(
        self, cells: np.ndarray, move: np.ndarray, forward: float, back: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same for each attacker's own box; one number for all where nobody knows more."""
        if not len(self.known.cell):
            return np.array(forward), np.array(back)
        dense = np.zeros(len(self.l))
        dense[cells] = move
        at = dense[self.known.cell]
        used = np.flatnonzero(at != 0)
        forwards, backs = np.full(self.task.attackers, forward), np.full(self.task.attackers, back)
        who = self.known.attacker[used]
        l, u, at = self.known.l[used] - self.slack, self.known.u[used] + self.slack, at[used]
        np.minimum.at(forwards, who, np.where(at > 0, u, l) / at)
        np.minimum.at(backs, who, np.where(at > 0, -l, -u) / at)
        return forwards, backs

    def _forget_unused(self) -> None:
        """Keep only moves that some pair relies on."""
        found = self.found
        used = np.unique(found.witness[found.witness >= 0])
        number = np.full(len(found.moves) + 1, -1)
        number[used] = np.arange(len(used))
        found.witness = number[found.witness]
        found.moves = [found.moves[i] for i in used]

    def _finite_steps(self) -> None:
        """A move that nothing stops is taken as often as the pair that needs it most asks for."""
        found = self.found
        need = np.maximum(self.pairs.need, self.pairs.slide)
        for number in np.unique(found.witness[np.isinf(found.step)]):
            dense = np.zeros(len(self.l))
            dense[found.moves[number][0]] = found.moves[number][1]
            mine = np.isinf(found.step) & (found.witness == number)
            times = (need / np.abs(np.where(mine, dense[self.pairs.cell], 1.0)))[mine]
            found.step[mine] = np.sign(found.step[mine]) * max(float(times.max()) * OVERSHOOT, 1.0)


def _longest(move: np.ndarray, l: np.ndarray, u: np.ndarray, slack: float) -> float:
    """How many times the move fits into the box."""
    if not len(move):
        return 0.0
    size = np.abs(move)
    room = np.where(move > 0, u, -l)
    # Rounding errors at cells without room must not hold a move back: there a little more than the room will do.
    room = np.where(room > 1e3 * slack, room, room + slack)
    # A ray is as long as it happens to be: what counts as nothing in it is a share of itself, however large levels are.
    nothing = min(slack, NOTHING * float(size.max()))
    longest = float(np.where(size <= nothing, inf, room / size).min()) if nothing else float((room / size).min())
    return 1.0 if abs(longest - 1.0) < 1e-11 else max(longest, 0.0)
