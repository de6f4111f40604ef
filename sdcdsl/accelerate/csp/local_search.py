"""Patterns by local search, each of them valid at every moment: every requirement has a move within the hidden cells.

1. *Greedy*: for every requirement that nothing certifies yet, hardest level first, the cheapest move; hide what it
   touches.
2. *Prune*: drop moves whose requirements others certify as well, dearest first; publish again what no move needs.
3. *Sweep*: publish a hidden cell, heaviest first, and certify anew only the requirements that relied on it; keep what
   is cheaper.
4. *Neighbourhoods*: forget several moves, or publish several cells, with prices a little off, repair, prune, and accept
   what is cheaper or hardly dearer.

Where cells are closely tied together by relations, 3 and 4 take a linear program over the whole table for every move;
`exchange` is the way there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from sdcdsl.accelerate.csp.cheapest_direction import Cheapest, Move
from sdcdsl.accelerate.csp.direction_pool import NONE, Pool
from sdcdsl.accelerate.csp.exchange import Exchange
from sdcdsl.accelerate.csp.joint_adjustment import joint_adjustment
from sdcdsl.accelerate.csp.tuning import LOCAL
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance, Requirements


@dataclass(frozen=True, eq=False)
class SearchState:
    """A set of moves; a valid pattern if every requirement is certified."""

    moves: np.ndarray  # int64: numbers in the pool, in order
    users: np.ndarray  # int64 [cell]: how many of them need a cell
    count: np.ndarray  # int64 [requirement]: how many of them certify it
    cost: float


class LocalSearch:
    def __init__(
        self,
        instance: Instance,
        sides: Requirements,
        deadline: Deadline,
        seed: int = 0,
        weight: np.ndarray | None = None,
        improved: Callable[[SearchState], None] = lambda state: None,
        nearby: float | None = None,
    ):
        """`nearby`: how much work a move may take, where the search goes on from a pattern it was given."""
        self.instance, self.requirements, self.deadline, self.improved = instance, sides, deadline, improved
        weight = instance.w if weight is None else weight
        positive = weight[weight > 0]
        self.typical = float(np.median(positive)) if len(positive) else 1.0
        self.must = instance.sensitive | instance.open_anyway
        self.weight = np.where(self.must, 0.0, weight + LOCAL.tie * self.typical)
        self.pool = Pool(instance, sides)
        self.cheapest = Cheapest(instance, nearby)
        self.random = np.random.default_rng(seed)
        self.best: SearchState | None = None
        self._began, self._asked = 0.0, 0  # when a first pattern was begun, and how many moves it took so far
        self._joined = False  # whether all that was left was served by one adjustment, or is not to be
        self.hasty = False  # whether the first pattern was begun like that
        self.short: list[int] = []  # requirements that no move certifies, whatever is hidden

    def hidden(self, state: SearchState) -> np.ndarray:
        return self.must | (state.users > 0)

    # ---- the steps -------------------------------------------------------------------------------------

    def start(
        self, cheap: np.ndarray | None = None, price: np.ndarray | None = None, patient: bool = False
    ) -> SearchState | None:
        """A valid pattern; None if there is none, or no time. `cheap` cells count as hidden already, prices may differ
        from the weights. `patient`: move by move, however long that takes."""
        self._began, self._asked, self._joined = self.deadline.elapsed, 0, patient
        state = self._completed(self._nothing(), self.must if cheap is None else cheap, price=price)
        return self._keep(self._pruned(state)) if state is not None else None

    def adopt(self, moves: list[Move]) -> SearchState:
        """The pattern of moves that certify every requirement."""
        made = np.array([self.pool.add(*move) for move in moves], dtype=np.int64)
        return self._keep(self._pruned(self._with(self._nothing(), made)))

    def completed(self, moves: list[Move]) -> SearchState | None:
        """The pattern of these moves, and of more of them for what they do not certify."""
        made = np.array([self.pool.add(*move) for move in moves], dtype=np.int64)
        given = self._with(self._nothing(), made)
        state = self._completed(given, given.users > 0)
        return None if state is None else self._keep(self._pruned(state))

    def sweep(self, state: SearchState) -> SearchState:
        """Every hidden cell once, heaviest first."""
        order = np.flatnonzero((state.users > 0) & (self.weight > 0))
        for cell in order[np.argsort(-self.weight[order], kind="stable")]:
            if self.deadline.expired:
                break
            if state.users[cell]:
                state = self._without(state, np.array([cell]), state.cost) or state
        return state

    def neighbourhoods(self, state: SearchState, rounds: int) -> SearchState:
        mean = state.cost / max(np.count_nonzero((state.users > 0) & (self.weight > 0)), 1)
        for _ in range(rounds):
            if self.deadline.expired or not len(state.moves):
                break
            price = self.weight * np.exp(self.random.normal(0, LOCAL.noise, self.instance.n))
            below = state.cost + LOCAL.warmth * mean * self.random.random()
            if self.random.random() < 0.5:
                rest = self._less(state, self._some_moves(state))
                made = self._repaired(rest, rest.users > 0, None, below, price)
            else:
                made = self._without(state, self._related(state), below, price)
            state = made or state
            if self.best is not None and state.cost > self.best.cost + LOCAL.away * mean:
                state = self.best
        return state

    @cached_property
    def _exchange(self) -> Exchange | None:
        N = self.cheapest.basis
        if N is None or not Exchange.fits(self.instance, self.requirements, N):
            return None
        return Exchange(self.instance, self.requirements, self.weight, N, self.random)

    @property
    def exchanges(self) -> bool:
        """Whether to exchange what is published rather than to sweep: where moves take long. Where exchanges do as
        well, a first pattern that was begun in haste is made anew before them."""
        if not self.cheapest.slow or self._exchange is None:
            return False
        return not self.hasty or self._exchange.N.size <= LOCAL.quick

    def exchanged(self, state: SearchState, kicks: int) -> SearchState:
        """What is published exchanged for heavier cells; the state itself if that brings nothing."""
        if self._exchange is None or not len(state.moves):
            return state
        before = [self.pool.ways[move] for move in state.moves]
        after = self._exchange.improve(self.hidden(state), before, self.deadline, kicks)
        if after is before:
            return state
        made = self._with(self._nothing(), np.array([self.pool.add(*move) for move in after], dtype=np.int64))
        return self._keep(self._pruned(made)) if made.count.all() and made.cost < state.cost else state

    # ---- pieces ----------------------------------------------------------------------------------------

    def _nothing(self) -> SearchState:
        return SearchState(NONE, np.zeros(self.instance.n, int), np.zeros(len(self.requirements), int), 0.0)

    def _without(
        self, state: SearchState, cells: np.ndarray, below: float, price: np.ndarray | None = None
    ) -> SearchState | None:
        """The pattern with `cells` published and the rest repaired, if it then costs less than `below`.

        What was hidden stays cheap even if its moves are gone: requirements that lost theirs will share it again.
        """
        rest = self._less(state, self.pool.moving(cells, state.moves))
        return self._repaired(rest, state.users > 0, cells, below, price)

    def _repaired(
        self, state: SearchState, cheap: np.ndarray, closed: np.ndarray | None, below: float, price: np.ndarray | None
    ) -> SearchState | None:
        made = self._completed(state, cheap, closed, below, price)
        if made is None:
            return None
        new = made.moves[~np.isin(made.moves, state.moves, assume_unique=True)]
        made = self._pruned(made, new)
        return self._keep(made) if made.cost < below * (1 - 1e-12) else None

    def _less(self, state: SearchState, gone: np.ndarray) -> SearchState:
        """Without these moves."""
        users, count = state.users.copy(), state.count.copy()
        cells = self.pool.cells_of(gone)
        np.subtract.at(users, cells, 1)
        np.subtract.at(count, self.pool.covered_by(gone), 1)
        published = np.unique(cells[users[cells] == 0])
        moves = np.setdiff1d(state.moves, gone, assume_unique=True)
        return SearchState(moves, users, count, state.cost - float(self.weight[published].sum()))

    def _with(self, state: SearchState, new: np.ndarray) -> SearchState:
        """With these moves, which are not among its own."""
        users, count = state.users.copy(), state.count.copy()
        cells = self.pool.cells_of(new)
        more = np.unique(cells[users[cells] == 0])
        np.add.at(users, cells, 1)
        np.add.at(count, self.pool.covered_by(new), 1)
        return SearchState(np.union1d(state.moves, new), users, count, state.cost + float(self.weight[more].sum()))

    def _completed(
        self,
        state: SearchState,
        cheap: np.ndarray,
        closed: np.ndarray | None = None,
        below: float = inf,
        price: np.ndarray | None = None,
    ) -> SearchState | None:
        """Certifies what the moves do not, hiding more; None if that costs as much as `below`, or is impossible."""
        users, count, cost = state.users.copy(), state.count.copy(), state.cost
        new: list[int] = []
        price = (self.weight if price is None else price) / self.typical  # solvers' tolerances are absolute
        price[self.must | cheap] = LOCAL.almost_free
        if closed is not None:
            price[closed] = inf
        left = np.flatnonzero(count == 0)
        for side in left[np.argsort(-self.requirements.need[left], kind="stable")].tolist():
            if count[side]:
                continue
            if cost >= below or self.deadline.expired:
                return None
            move = self._jointly(count, price) if closed is None and self._too_slow(count) else None
            moves = [] if move is None else [move]
            if move is None or side not in self.pool.covers[move]:
                own = self._move(side, price)
                if own is None or side not in self.pool.covers[own]:
                    if closed is None:
                        self.short.append(side)
                    return None
                moves.append(own)
            for made in moves:
                cells = self.pool.cells(made)
                cost += float(self.weight[cells[users[cells] == 0]].sum())
                users[cells] += 1
                count[self.pool.covers[made]] += 1
                price[cells] = LOCAL.almost_free
            new += moves
        return SearchState(np.union1d(state.moves, np.array(new, dtype=np.int64)), users, count, cost)

    def _too_slow(self, count: np.ndarray) -> bool:
        """Whether what is left, one by one, would take too much of the time there is."""
        self._asked += 1
        left = int(np.count_nonzero(count == 0))
        if self._joined or self._asked < LOCAL.trial or left < LOCAL.few or not self.cheapest.slow:
            return False
        each = (self.deadline.elapsed - self._began) / self._asked
        slow = left * each > min(LOCAL.patience, 0.2 * self.deadline.remaining)
        self.deadline.mark_time_dependent(slow)
        return slow

    def _jointly(self, count: np.ndarray, price: np.ndarray) -> int | None:
        """One move for all that is left."""
        self._joined = True
        self.hasty = self.best is None
        part = self.deadline.within(LOCAL.jointly * self.deadline.remaining)
        made = joint_adjustment(self.instance, self.requirements, np.flatnonzero(count == 0), price, part)
        return None if made is None else self.pool.add(*made)

    def _move(self, side: int, price: np.ndarray) -> int | None:
        s = self.requirements
        slack = self.instance.slack(int(s.attacker[side]))
        made = self.cheapest.move(int(s.cell[side]), 2 * int(s.side[side]) - 1, float(s.need[side]), slack, price)
        self.deadline.mark_time_dependent(self.cheapest.slow)  # it then goes by how long either of two forms takes
        return None if made is None else self.pool.add(*made)

    def _pruned(self, state: SearchState, new: np.ndarray | None = None) -> SearchState:
        """Without moves that others make superfluous, dearest first, and without cells no move needs. Where only the
        moves `new` came to a pattern with nothing to spare, only moves that certify the same can be superfluous."""
        pool, count, users = self.pool, state.count.copy(), state.users
        among = state.moves if new is None else pool.certifying(np.unique(pool.covered_by(new)), state.moves)
        spare = [move for move in among.tolist() if not (count[pool.covers[move]] == 1).any()]
        gain = [-float(self.weight[cells[users[cells] == 1]].sum()) for cells in map(pool.cells, spare)]
        gone: list[int] = []
        for place in np.argsort(gain, kind="stable").tolist():
            move = spare[place]
            if not (count[pool.covers[move]] == 1).any():
                gone.append(move)
                count[pool.covers[move]] -= 1
        return self._less(state, np.array(sorted(gone), dtype=np.int64)) if gone else state

    def _keep(self, state: SearchState) -> SearchState:
        if self.best is None or state.cost < self.best.cost:
            state = replace(state, cost=float(self.weight[state.users > 0].sum()))  # without rounding errors
            self.best = state
            self.improved(state)
        if self.pool.count > max(LOCAL.most_moves, LOCAL.spare_moves * len(state.moves)):
            keep = np.unique(np.concatenate([state.moves, self.best.moves]))
            self.pool.keep(keep)
            state, self.best = (
                SearchState(np.searchsorted(keep, s.moves), s.users, s.count, s.cost) for s in (state, self.best)
            )
        return state

    def _some_moves(self, state: SearchState) -> np.ndarray:
        """Up to four moves that share cells."""
        first = int(self.random.choice(state.moves))
        cells = self.pool.cells(first)
        near = self.pool.moving(cells[self.weight[cells] > 0], state.moves)
        more = min(int(self.random.integers(0, 4)), len(near))
        return np.union1d(self.random.choice(near, more, replace=False), [first])

    def _related(self, state: SearchState) -> np.ndarray:
        """A few hidden cells that serve the same moves."""
        candidates = np.flatnonzero((state.users > 0) & (self.weight > 0))
        if not len(candidates):
            return candidates
        share = self.weight[candidates] / self.weight[candidates].sum()
        first = int(self.random.choice(candidates, p=0.5 * share + 0.5 / len(candidates)))
        near = np.unique(self.pool.cells_of(self.pool.moving(np.array([first]), state.moves)))
        others = near[(self.weight[near] > 0) & (near != first)]
        more = min(int(self.random.integers(1, 8)), len(others))
        return np.append(self.random.choice(others, more, replace=False), first)
