"""The attack on one table after another: same relations and levels, another box each time.

    M d = 0,    l_i ≤ d_i ≤ u_i       d = y - a; the box of the published region and of what an attacker knows

A move that once showed that a cell goes far enough does so again wherever it fits into the new box, scaled and reversed
as need be. So all moves are kept, and tried on the next table before anybody is asked anew; with every table there are
fewer questions left.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.ecta.tuning import TUNING
from sdcdsl.attack.engine import Bounds, Engine
from sdcdsl.attack.engine_choice import engine_for
from sdcdsl.attack.fixed_cells import FixedCellsEngine
from sdcdsl.attack.lp_engine import LpEngine
from sdcdsl.attack.reduction import Component, ReducedRelations, Reduction
from sdcdsl.attack.survey import settle
from sdcdsl.attack.task import AttackTask, OwnKnowledge, TaskPairs
from sdcdsl.methods.clashes import ENOUGH, clashes
from sdcdsl.methods.instance import DOWN, UP, Instance
from sdcdsl.methods.result import Clash

OVERSHOOT = 1 + 4e-6  # asked for beyond the level

SOLVERS = LpEngine, FixedCellsEngine  # they go on from the last answer, in whatever box

Move = tuple[np.ndarray, np.ndarray]  # cells, and by how much


class RegionAttacks:
    def __init__(self, instance: Instance):
        d = instance.problem.dataset
        self.instance = instance
        self.relations = ReducedRelations(
            d["coefficient"].values.astype(float),
            d["cell_of"].values.astype(np.int64),
            d["equation_of"].values.astype(np.int64),
            instance.n,
            instance.m,
        )
        self.view = instance.view_of[instance.pair_attacker] if instance.pairs else np.zeros(0, dtype=np.int64)
        self.far = TUNING.far * max(instance.level.max(initial=0.0), instance.slide.max(initial=0.0))
        levels = instance.level[instance.level > 0]
        self.allowance = 2e-10 * float(levels.min()) if len(levels) else 0.0  # audits allow 1e-9
        self._moves: list[Move] = []
        self.found: list[Move] = []  # all that were found here, not learned
        self._kept = min(TUNING.kept, max(TUNING.numbers // max(instance.pairs, 1), 10))
        self._engines: dict[int, tuple[np.ndarray, Engine, Component]] = {}
        self.questions = 0  # questions to engines

    def short(self, low: np.ndarray, high: np.ndarray, *, exact: bool = False) -> list[Clash]:
        """Pairs that a release with low ≤ y ≤ high leaves with less than their levels. Whether there are any is
        certain; only `exact` tells how far they get."""
        i = self.instance
        low, high = np.minimum(low - i.a, 0.0), np.maximum(high - i.a, 0.0)
        reached = np.zeros((2, i.pairs))
        for view in np.unique(self.view):
            l, u = self._box(low, high, int(view))
            pairs = np.flatnonzero(self.view == view)
            if not exact:
                reached[:, pairs] = self._by_moves(self._moves, pairs, l, u)
                pairs = pairs[self._lacking(reached)[pairs]]
            if not len(pairs):
                continue
            for component, mine in self._components(pairs, l, u):
                if exact:
                    self._furthest(mine, component, reached)
                    continue
                if len(mine) >= TUNING.many:
                    self._jointly(self._engine(component, anew=True)[0], component, mine, reached)
                self._one_by_one(component, mine, reached)
        return clashes(self.instance, reached)

    @property
    def moves(self) -> list[Move]:
        """What is kept for the next tables."""
        return list(self._moves)

    def learn(self, moves: list[Move]) -> None:
        """Moves that were found elsewhere."""
        self._moves = [*self._moves, *moves][-self._kept :]

    def _lacking(self, reached: np.ndarray) -> np.ndarray:
        i = self.instance
        return (reached < i.level * ENOUGH).any(axis=0) | (reached.sum(axis=0) < i.slide * ENOUGH)

    def prepare(self, low: np.ndarray, high: np.ndarray) -> None:
        """Moves for many pairs at once in a narrow box, so that they fit into the boxes of many tables."""
        i = self.instance
        low, high = np.minimum(low - i.a, 0.0), np.maximum(high - i.a, 0.0)
        for view in np.unique(self.view):
            l, u = self._box(low, high, int(view))
            reached = np.zeros((2, i.pairs))
            pairs = np.flatnonzero(self.view == view)
            for component, mine in self._components(pairs, l, u):
                self._jointly(self._engine(component, anew=True)[0], component, mine, reached)

    def _box(self, low: np.ndarray, high: np.ndarray, view: int) -> tuple[np.ndarray, np.ndarray]:
        i = self.instance
        l = np.maximum(np.maximum(low, -i.LB[view]), -self.far)
        return l, np.minimum(np.minimum(high, i.UB[view]), self.far)

    def _components(self, pairs: np.ndarray, l: np.ndarray, u: np.ndarray) -> Iterator[tuple[Component, np.ndarray]]:
        reduction = Reduction(self.relations, l, u)
        at = reduction.of[self.instance.pair_cell[pairs]]
        for number in np.unique(at[at >= 0]):
            yield reduction.component(int(number)), pairs[at == number]

    def _furthest(self, pairs: np.ndarray, component: Component, reached: np.ndarray) -> None:
        """How far each pair gets, exactly."""
        i = self.instance
        attackers, attacker = np.unique(i.pair_attacker[pairs], return_inverse=True)
        local = TaskPairs(
            np.searchsorted(component.cells, i.pair_cell[pairs]), attacker, i.level[:, pairs], i.slide[pairs]
        )
        known = self._known(attackers, component.cells)
        found = settle(AttackTask(component, local, known, len(attackers), exact=True))
        self.questions += found.questions
        reached[:, pairs] = found.reached

    def _jointly(self, engine: Engine, component: Component, pairs: np.ndarray, reached: np.ndarray) -> None:
        """Questions that give as many cells as they can all of what they need, while that is worth it."""
        i = self.instance
        for side, sign in ((UP, 1), (DOWN, -1)):
            while True:
                ask = pairs[reached[side, pairs] < i.level[side, pairs] * ENOUGH]
                cells, first = np.unique(i.pair_cell[ask], return_index=True)
                if len(cells) < TUNING.few:
                    break
                at = np.searchsorted(component.cells, cells)
                slack = component.u[at] if side == UP else -component.l[at]
                needs = np.minimum(i.level[side, ask[first]] * OVERSHOOT, slack)
                at, needs = at[needs > 0], needs[needs > 0]
                move = engine.joint(at, np.full(len(at), sign), needs) if len(at) else None
                self.questions += 1
                if move is None:
                    return
                self._keep(component, move, pairs, reached)
                if (reached[side, ask] >= i.level[side, ask] * ENOUGH).sum() < max(TUNING.worth * len(ask), 2):
                    break

    def _engine(self, component: Component, anew: bool) -> tuple[Engine, bool]:
        """An engine, and whether it is one for another box: a solver goes on from where it stands, which takes a
        fraction of the time of its first answer, if each question brings the ends of all cells with it."""
        number = int(component.cells[0])
        cells, engine, box = self._engines.get(number, (component.cells[:0], None, None))
        if engine is None or anew or not np.array_equal(cells, component.cells):
            engine, box = engine_for(component), component
            if isinstance(engine, SOLVERS):
                self._engines[number] = component.cells, engine, component
        return engine, box is not component

    def _one_by_one(self, component: Component, pairs: np.ndarray, reached: np.ndarray) -> None:
        """Every answer is tried on all pairs that are left. Who falls short on one side need not be asked again."""
        i = self.instance
        engine, other_box = self._engine(component, anew=False)
        lost: set[int] = set()
        for side in (UP, DOWN):
            for pair in pairs[np.argsort(-i.level[side, pairs], kind="stable")]:
                missing = max(i.level[side, pair], i.slide[pair] - reached[1 - side, pair])
                if int(pair) in lost or reached[side, pair] >= missing * ENOUGH:
                    continue
                local = int(np.searchsorted(component.cells, i.pair_cell[pair]))
                bounds = self._bounds(int(i.pair_attacker[pair]), component, other_box)
                self.questions += 1
                try:
                    answer = engine.push(local, 1 if side == UP else -1, OVERSHOOT * float(missing), bounds)
                except (RuntimeError, np.linalg.LinAlgError):
                    lost.add(int(pair))
                    continue
                self._keep(component, (answer.cells, answer.move), pairs, reached)
                reached[side, pair] = max(reached[side, pair], min(answer.reached, OVERSHOOT * missing))
                if reached[side, pair] < i.level[side, pair] * ENOUGH:
                    lost.add(int(pair))

    def _keep(self, component: Component, found: Move, pairs: np.ndarray, reached: np.ndarray) -> None:
        """For later tables, and for the pairs that are left."""
        cells, move = found
        some = move != 0
        self.found.append((component.cells[cells[some]], move[some]))
        self.learn(self.found[-1:])
        l, u = np.zeros(self.instance.n), np.zeros(self.instance.n)
        l[component.cells], u[component.cells] = component.l, component.u
        reached[:, pairs] = np.maximum(reached[:, pairs], self._by_moves(self._moves[-1:], pairs, l, u))

    def _bounds(self, attacker: int, component: Component, all_cells: bool) -> Bounds | None:
        known = self._known(np.array([attacker]), component.cells)
        if not len(known.cell) and not all_cells:
            return None
        l, u = component.l.copy(), component.u.copy()
        np.maximum.at(l, known.cell, known.l)
        np.minimum.at(u, known.cell, known.u)
        cells = np.arange(len(l)) if all_cells else np.unique(known.cell)
        return cells, l[cells], u[cells]

    def _known(self, attackers: np.ndarray, cells: np.ndarray) -> OwnKnowledge:
        parts = [self.instance.known(int(k)) for k in attackers]
        who = np.repeat(np.arange(len(attackers)), [len(p[0]) for p in parts])
        about, LB, UB = (np.concatenate([p[side] for p in parts]) for side in range(3))
        at = np.minimum(np.searchsorted(cells, about), len(cells) - 1)
        here = cells[at] == about
        return OwnKnowledge(who[here], at[here], -LB[here], UB[here])

    def _by_moves(self, moves: list[Move], pairs: np.ndarray, l: np.ndarray, u: np.ndarray) -> np.ndarray:
        """How far moves take each pair in this box: [DOWN | UP, pair]."""
        i = self.instance
        out = np.zeros((2, len(pairs)))
        moves = [move for move in moves if len(move[0])]
        if not moves or not len(pairs):
            return out
        start = np.cumsum([0] + [len(cells) for cells, _ in moves])
        cell = np.concatenate([cells for cells, _ in moves])
        move = np.concatenate([m for _, m in moves])
        down, up = self._lengths(-l[cell], move), self._lengths(u[cell], move)
        forth = np.minimum.reduceat(np.where(move > 0, up, down), start[:-1])
        back = np.minimum.reduceat(np.where(move > 0, down, up), start[:-1])
        all_moves = csr_array((move, cell, start), shape=(len(moves), i.n)).tocsc()
        at = all_moves[:, i.pair_cell[pairs]].toarray()
        attacker = i.pair_attacker[pairs]
        for k in np.unique(attacker):
            mine = np.flatnonzero(attacker == k)
            about, LB, UB = i.known(int(k))
            f, b = forth, back
            if len(about):
                d = all_moves[:, about].toarray()
                with np.errstate(divide="ignore", invalid="ignore"):
                    f = np.minimum(f, np.where(d == 0, np.inf, np.where(d > 0, UB, -LB) / d).min(axis=1))
                    b = np.minimum(b, np.where(d == 0, np.inf, np.where(d > 0, LB, -UB) / d).min(axis=1))
            f, b = np.maximum(f, 0.0)[:, None], np.maximum(b, 0.0)[:, None]
            gains = at[:, mine]
            out[UP, mine] = np.maximum(gains * f, -gains * b).max(axis=0, initial=0.0)
            out[DOWN, mine] = np.maximum(-gains * f, gains * b).max(axis=0, initial=0.0)
        return out

    def _lengths(self, slack: np.ndarray, move: np.ndarray) -> np.ndarray:
        """How many times each entry fits; rounding errors at cells without slack do not hold a move back."""
        size = np.abs(move)
        slack = np.where(slack > 1e3 * self.allowance, slack, slack + self.allowance)
        return np.where(size <= self.allowance, np.inf, slack / size)
