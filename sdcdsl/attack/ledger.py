"""What every pair of a survey has got so far, and what one more move brings.

A move is a direction from the truth: scaled until the box stops it, and reversed, it shows for each cell in it how far
it goes at least, for every attacker in its own box.
"""

from __future__ import annotations

from math import inf

import numpy as np

from sdcdsl.attack.engine import Bounds
from sdcdsl.attack.task import DOWN, UP, AttackTask, Findings
from sdcdsl.numerics.simplex.batched import ENOUGH

OVERSHOOT = 1 + 4e-6  # asked for beyond the level: neither rounding errors nor snapping to fractions leave it short
SHORT = 1 - 1e-9  # of a level: below it counts as missed, as audits do; in between the furthest move has to prove it
NOTHING = 1e-9  # of the largest entry of a move: smaller ones may be rounding errors
ROUNDING = 1e-14  # the same where ends are proved, and nothing larger is forgiven


class Ledger:
    def __init__(self, task: AttackTask):
        self.task = task
        self.pairs, self.known = task.pairs, task.known
        n = len(self.pairs)
        self.found = Findings(np.zeros((2, n)), np.zeros((2, n), bool), np.full((2, n), -1), np.zeros((2, n)))
        component = task.component
        self.l, self.u = component.l, component.u
        self.own = self._own_ends()
        levels = self.pairs.need[self.pairs.need > 0]
        self.allowance = 2e-10 * float(levels.min()) if len(levels) else 0.0  # auditing allows 1e-9
        self.strict = task.exact and task.prove  # what counts is the end, whatever the level is
        if self.strict:
            self.allowance = 0.0
        self.known_start = np.searchsorted(self.known.attacker, np.arange(task.attackers + 1))
        self.moved = np.zeros(len(component.cells), dtype=bool)
        self.ceiling = np.full((2, len(component.cells)), inf)  # how far a cell goes for everybody with this view
        self.by_cell = np.argsort(self.pairs.cell, kind="stable")
        self.pair_start = np.searchsorted(self.pairs.cell[self.by_cell], np.arange(len(component.cells) + 1))
        # In exact mode every side is open until its end is known; otherwise a side that needs nothing is settled,
        # unless both sides together need something.
        self.open = (self.own > 0) & ((self.pairs.need > 0) | task.exact | (self.pairs.slide > 0))
        self.found.closed |= self.own <= 0
        if task.prove:
            self.found.least, self.found.most = np.zeros((2, n)), np.full((2, n), inf)
            self.found.fixed = np.zeros(n, dtype=bool)
        if task.settled is not None:
            known = ~np.isnan(task.settled)
            self.open &= ~known
            self.found.closed |= known
            self.found.reached[known] = task.settled[known]

    def _own_ends(self) -> np.ndarray:
        """How far the cell's own box lets each pair go."""
        cell = self.pairs.cell
        own = np.stack([-self.l[cell], self.u[cell]])
        if len(self.known.cell):
            key = self.known.attacker * len(self.l) + self.known.cell
            order = np.argsort(key)
            sought = self.pairs.attacker * len(self.l) + cell
            at = np.minimum(np.searchsorted(key[order], sought), len(key) - 1)
            there = key[order][at] == sought
            entry = order[at[there]]
            own[DOWN, there] = np.minimum(own[DOWN, there], -self.known.l[entry])
            own[UP, there] = np.minimum(own[UP, there], self.known.u[entry])
        return own

    def bounds_of(self, attacker: int) -> Bounds | None:
        """The ends that hold for one attacker only."""
        mine = slice(self.known_start[attacker], self.known_start[attacker + 1])
        cells = self.known.cell[mine]
        if not len(cells):
            return None
        return cells, np.maximum(self.known.l[mine], self.l[cells]), np.minimum(self.known.u[mine], self.u[cells])

    def credit(self, cells: np.ndarray, move: np.ndarray) -> None:
        """Enter how far one move, scaled and reversed, takes every pair."""
        forward, back = self.steps(cells, move)
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

    def steps(self, cells: np.ndarray, move: np.ndarray) -> tuple[float, float]:
        allowance = ROUNDING * float(np.abs(move).max(initial=0.0)) if self.strict else self.allowance
        l, u = self.l[cells], self.u[cells]
        return _longest(move, l, u, allowance), _longest(-move, l, u, allowance)

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
        l, u, at = self.known.l[used] - self.allowance, self.known.u[used] + self.allowance, at[used]
        np.minimum.at(forwards, who, np.where(at > 0, u, l) / at)
        np.minimum.at(backs, who, np.where(at > 0, -l, -u) / at)
        return forwards, backs

    def forget_unused(self) -> None:
        """Keep only moves that some pair relies on."""
        found = self.found
        used = np.unique(found.witness[found.witness >= 0])
        number = np.full(len(found.moves) + 1, -1)
        number[used] = np.arange(len(used))
        found.witness = number[found.witness]
        found.moves = [found.moves[i] for i in used]

    def finite_steps(self) -> None:
        """A move that nothing stops is taken as often as the pair that needs it most requires."""
        found = self.found
        need = np.maximum(self.pairs.need, self.pairs.slide)
        for number in np.unique(found.witness[np.isinf(found.step)]):
            dense = np.zeros(len(self.l))
            dense[found.moves[number][0]] = found.moves[number][1]
            mine = np.isinf(found.step) & (found.witness == number)
            times = (need / np.abs(np.where(mine, dense[self.pairs.cell], 1.0)))[mine]
            found.step[mine] = np.sign(found.step[mine]) * max(float(times.max()) * OVERSHOOT, 1.0)


def _longest(move: np.ndarray, l: np.ndarray, u: np.ndarray, allowance: float) -> float:
    """How many times the move fits into the box."""
    if not len(move):
        return 0.0
    size = np.abs(move)
    slack = np.where(move > 0, u, -l)
    # Rounding errors at cells without slack must not hold a move back: there a little more than the slack will do.
    slack = np.where(slack > 1e3 * allowance, slack, slack + allowance)
    # A ray is as long as it happens to be: what counts as nothing in it is a share of itself, however large levels are.
    nothing = min(allowance, NOTHING * float(size.max()))
    longest = float(np.where(size <= nothing, inf, slack / size).min()) if nothing else float((slack / size).min())
    return 1.0 if abs(longest - 1.0) < 1e-11 else max(longest, 0.0)
