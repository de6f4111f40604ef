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

from collections.abc import Callable, Iterator
from functools import cached_property
from math import inf
from typing import TypeVar

import numpy as np

from sdcdsl.attack.batched_max_flow import batches_pay, in_batches
from sdcdsl.attack.ends import Ends
from sdcdsl.attack.engine import Answer, Bounds, Engine, Identity
from sdcdsl.attack.engine_choice import Engines
from sdcdsl.attack.ledger import OVERSHOOT, SHORT, Ledger
from sdcdsl.attack.singleton_presolve import PresolvedEngine
from sdcdsl.attack.tableau_engine import Answers, TableauEngine
from sdcdsl.attack.task import DOWN, UP, AttackTask, Findings, Refutation
from sdcdsl.attack.tuning import TUNING
from sdcdsl.numerics.simplex.batched import ENOUGH, NOBODY
from sdcdsl.numerics.simplex.tableau import typical_slack

T = TypeVar("T")

SURELY_SHORT = 1 - 1e-7  # of a level: what sums with rounding errors show to be below this is below the level
ENOUGH_OF_GAIN = 1 - 1e-12  # the same sum, added up in another order


def settle(task: AttackTask, progress: Callable[[int], None] | None = None, engines: Engines | None = None) -> Findings:
    """`engines`: where an engine for the same box is left, and may be found when exact ends are required. Verdicts
    rest on engines of their own, so that they come out the same whoever does the work."""
    return _Survey(task, progress, engines or Engines()).run()


class _Survey(Ledger):
    def __init__(self, task: AttackTask, progress: Callable[[int], None] | None, engines: Engines):
        super().__init__(task)
        self.progress, self.engines = progress, engines
        n = len(self.pairs)
        self.refuted = np.zeros((2, n), dtype=bool)
        self.exposed = np.zeros(n, dtype=bool)  # as good as proved, and only the verdict is wanted
        self.pushed = np.zeros((2, len(self.l)), dtype=bool)
        self.ends = Ends(task) if task.prove else None

    # ---- the three steps -------------------------------------------------------------------------------

    def run(self) -> Findings:
        self._refute_by_box()
        self._refute_by_relations()
        if self.open.any() or len(self.task.watch):
            chosen = self.engines.of if self.task.exact else self.engines.new
            self.engine: Engine = chosen(self.task.component, self.task.engine)
            if isinstance(self.engine, TableauEngine):
                self.engine.to_the_end = self.task.to_the_end
            for side in (UP, DOWN) if not (self.task.exact and self._quick) else ():
                self._jointly(side)
            self._all_at_once()
            for side in (UP, DOWN):
                self._singly(side)
            self._sliding()
            self._watch()
            if self.strict:
                self.found.fixed = self.engine.still(self.pairs.cell)
        self.forget_unused()
        if self.ends is not None:
            self.ends.prove(self.found)
            self._refute_by_ends(self.ends)
        if self.strict:  # what the moves were good for is proved
            self.found.moves, self.found.witness[:] = [], -1
        else:
            self.finite_steps()
        return self.found

    def _refute_by_box(self) -> None:
        """A cell whose own box is too narrow needs no engine; its end may be nearer still, and where it is to be proved
        somebody has to look."""
        if self.strict:
            return
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
        """Cells that single relations leave too little slack, one after the other, for everybody with this view."""
        matrix = self.task.component.matrix
        if self.task.exact or not matrix.rows or not (self.open & (self.pairs.need > 0)).any():
            return
        narrowed = self.task.component.narrowed
        for side, slack in ((DOWN, -narrowed.l), (UP, narrowed.u)):
            need = self.pairs.need[side]
            short = self.open[side] & (slack[self.pairs.cell] < need * SURELY_SHORT) & ~self.exposed
            for cell in np.unique(self.pairs.cell[short]):
                identity = narrowed.multipliers(int(cell), 1 if side == UP else -1)
                if identity is None:
                    continue
                mine = self.by_cell[self.pair_start[cell] : self.pair_start[cell + 1]]
                mine = mine[short[mine]]
                self._refuted_by(mine, side, identity)

    def _refute_by_ends(self, ends: Ends) -> None:
        """Requirements whose end turned out to fall short, without anybody having asked why."""
        most, need = self.found.most, self.pairs.need
        short = (most < need * SHORT) | (most.sum(axis=0) < self.pairs.slide * SHORT)
        for side, pair in zip(*np.nonzero(short & ~self.refuted), strict=True):
            self._refuted_by(np.array([pair]), int(side), ends.why(int(side), int(pair)))

    def _refute_each(self, pairs: np.ndarray, side: int) -> None:
        nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
        self.found.refutations += [Refutation(pairs[i : i + 1], side, *nothing) for i in range(len(pairs))]
        self.refuted[side, pairs] = True
        self._give_up(pairs, side)

    def _jointly(self, side: int) -> None:
        """Several rounds for all attackers of the view together; each requires what the last one left."""
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
            if self._quick or np.count_nonzero(~(self.open[side] & self._lacking(side))[ask]) < max(
                TUNING.last_joint * len(ask), 2
            ):
                return

    @property
    def _quick(self) -> bool:
        """Whether single questions cost next to nothing."""
        if not isinstance(self.engine, TableauEngine) or len(self.known.cell):
            return False
        return self.engine.quick(self._loose, self.task.exact)

    @cached_property
    def _loose(self) -> bool:
        """Whether nobody requires all of its slack, where hundreds of rows may meet in one corner."""
        need = self.pairs.need * TUNING.roomy
        return self.task.exact or bool((need <= self.own)[self.open].all())

    def _all_at_once(self) -> None:
        """Single questions, where the engine answers many of them in one go. In exact mode nobody needs the moves."""
        if not isinstance(self.engine, TableauEngine) or not self._quick:
            return
        sides = [self._hardest_first(side) for side in (UP, DOWN)]
        pair, side = np.concatenate(sides), np.repeat([UP, DOWN], [len(pairs) for pairs in sides])
        fine = ~self.engine.still(self.pairs.cell[pair])
        if not self.task.exact:
            fine &= self.pairs.slide[pair] == 0  # how far both sides go together is not asked here
        pair, side = pair[fine], side[fine]
        level = self.pairs.need[side, pair]
        need = np.full(len(pair), inf) if self.task.exact else OVERSHOOT * level
        answers = self.engine.all_at_once(
            self.pairs.cell[pair], np.where(side == UP, 1, -1), need, level * SHORT, self._twins(pair, side)
        )
        if answers is None:
            return
        self.found.questions += len(answers.found.points)
        short = answers.closed & (answers.reached < level * SHORT)
        # What falls short by less than a hair has to be proved by the furthest move.
        enough = np.where(answers.closed, np.minimum(level * ENOUGH, answers.reached), level * ENOUGH)
        if self.strict:
            for answer in range(len(answers.found.points)):
                self._credit(*answers.move(answer))
        elif not self.task.exact:
            self._cover(answers, np.where(short, inf, enough))
        for q in np.flatnonzero(answers.closed & ~(self.strict & np.isinf(answers.reached))):  # a ray has to be seen
            at = side[q], pair[q]
            if not self.open[at] or not (self.task.exact or short[q] or self.found.reached[at] >= enough[q]):
                continue
            self.open[at], self.found.closed[at] = False, True
            self.found.reached[at] = max(self.found.reached[at], answers.reached[q])
            if self.ends is not None:
                self.ends.ended_by(int(side[q]), pair[q : q + 1], answers.multipliers(int(q)))
            if short[q] and not self.refuted[at] and not self.exposed[pair[q]]:
                self._refuted_by(pair[q : q + 1], int(side[q]), answers.multipliers(int(q)))

    def _twins(self, pair: np.ndarray, side: np.ndarray) -> np.ndarray:
        """The question about the other side, which the verdict does not need if one side falls short."""
        at = np.full((2, len(self.pairs)), NOBODY)
        if not self.task.exact:
            at[side, pair] = np.arange(len(pair))
        return at[1 - side, pair]

    def _cover(self, answers: Answers, enough: np.ndarray) -> None:
        """Enters as few moves as it takes to get everybody as far as one of them does."""
        serves = answers.gains >= enough * ENOUGH_OF_GAIN
        while serves.any():
            best = int(serves.sum(axis=1).argmax())
            self._credit(*answers.move(best))
            serves &= ~serves[best]

    def _hardest_first(self, side: int) -> np.ndarray:
        order = np.flatnonzero(self.open[side] & self._lacking(side))
        with np.errstate(divide="ignore", invalid="ignore"):
            hardness = self.pairs.need[side, order] / self.own[side, order]
        return order[np.argsort(-hardness, kind="stable")]

    def _singly(self, side: int) -> None:
        for pair, passed in self._one_by_one(side):
            if pair is not None and self.open[side, pair] and self._lacking(side)[pair]:
                self._ask(pair, side, inf if self.task.exact else OVERSHOOT * float(self.pairs.need[side, pair]))
            if self.progress is not None:
                self.progress(passed)

    def _one_by_one(self, side: int) -> Iterator[tuple[int | None, int]]:
        """Pairs to ask about, and how many are done with each."""
        pairs = self._hardest_first(side)
        if isinstance(self.engine, PresolvedEngine) and batches_pay(self, self.engine):
            yield from in_batches(self, self.engine, pairs, side)
        else:
            yield from ((int(pair), 1) for pair in pairs)

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
        slack = self.u if side == UP else -self.l
        while True:
            cells = self.task.watch[~self.moved[self.task.watch] & (slack[self.task.watch] > 0)]
            cells = cells[~self.engine.still(cells)]
            if len(cells) < 3:
                return
            needs = np.minimum(slack[cells], typical_slack(self.l, self.u))
            move = self.engine.joint(cells, np.full(len(cells), 1 if side == UP else -1), needs)
            self.found.questions += 1
            if move is not None and max(self.steps(*move)) > 0:
                self.moved[move[0]] = True
            if np.count_nonzero(self.moved[cells]) < max(TUNING.last_joint * len(cells), 2):
                return

    # ---- questions and what they give --------------------------------------------------------------------

    def _ask(self, pair: int, side: int, need: float, refute: bool = False) -> None:
        cell, attacker = int(self.pairs.cell[pair]), int(self.pairs.attacker[pair])
        bounds = self.bounds_of(attacker)
        if bounds is not None and not self.pushed[side, cell]:
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
        self._ended(np.array([pair]), side, answer)
        narrow = self.strict and self.own[:, pair].sum() < self.pairs.slide[pair] * SHORT
        if refute or narrow or self.found.reached[side, pair] < self.pairs.need[side, pair] * SHORT:
            self._refute(np.array([pair]), side, answer)

    def _ended(self, pairs: np.ndarray, side: int, answer: Answer) -> None:
        """Keeps the reason for the end, where ends are to be proved."""
        if self.ends is None or answer.reached == inf:
            return
        identity = answer.multipliers()
        if identity is not None:
            self.ends.ended_by(side, pairs, identity)

    def _ask_for_all(self, cell: int, side: int) -> None:
        """How far the cell goes for who knows no more than the view: nobody gets it further."""
        self.pushed[side, cell] = True
        mine = self.by_cell[self.pair_start[cell] : self.pair_start[cell + 1]]
        need = inf if self.task.exact else OVERSHOOT * float(self.pairs.need[side, mine].max())
        answer = self._push(cell, 1 if side == UP else -1, need, None)
        if answer is None:
            return
        most = answer.reached if answer.closed else answer.bound
        self.ceiling[side, cell] = most
        if answer.closed:
            self._ended(mine, side, answer)
        self._credit(answer.cells, answer.move)
        short = mine[most < self.pairs.need[side, mine] * SHORT]
        self._refute(short[~self.exposed[short]], side, answer)

    def _refute(self, pairs: np.ndarray, side: int, answer: Answer) -> None:
        pairs = pairs[~self.refuted[side, pairs]]
        identity = answer.multipliers() if len(pairs) else None
        if identity is not None:
            self._refuted_by(pairs, side, identity)

    def _refuted_by(self, pairs: np.ndarray, side: int, identity: Identity) -> None:
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

    def _credit(self, cells: np.ndarray, move: np.ndarray) -> None:
        """Enter how far one move, scaled and reversed, takes every pair."""
        # Where nobody checks the end, it needs no witness.
        if isinstance(self.engine, TableauEngine) and len(cells) and (self.strict or not self.task.exact):
            self.credit(*self.engine.polished(cells, move))
        else:
            self.credit(cells[move != 0], move[move != 0])

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

    def _target(self, side: int, pairs: np.ndarray) -> np.ndarray:
        """What a joint question should give: the level and a little more, or in exact mode the end of its own box."""
        own = self.own[side, pairs]
        if not self.task.exact:
            return np.minimum(self.pairs.need[side, pairs] * OVERSHOOT, own)
        return own
