"""Valid patterns without a bound: by flows where the relations are those of a network, else by linear programs.

A `SuppressionHeuristic` gives a first pattern, makes it better as long as it is let, and completes what others propose
(a rounded solution of the master problem, say) to a valid pattern. Costs are those of all published cells that are
hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from sdcdsl.accelerate.csp.box_search import adds_up
from sdcdsl.accelerate.csp.box_state import Move
from sdcdsl.accelerate.csp.local_search import LocalSearch, SearchState
from sdcdsl.accelerate.csp.network_search import NetworkSearch
from sdcdsl.accelerate.csp.sliding import requirements_with
from sdcdsl.accelerate.csp.tuning import BOXES, LOCAL, NETWORK
from sdcdsl.deadline import Deadline
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.pattern_check import falling_short
from sdcdsl.methods.result import Progress

Tell = Callable[[Progress], None]
Found = tuple[np.ndarray, float]  # hidden cells, and what they cost


class SuppressionHeuristic(Protocol):
    @property
    def gaining(self) -> bool:
        """Whether it has not been through all cells once without winning much."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether a bound can be expected in any time, for a table as large as this."""
        ...

    @property
    def tells_no_sums(self) -> bool:
        """Whether sums of what its patterns hide are protected as well, where the rules call them sensitive."""
        ...

    def first(self, hidden: np.ndarray | None = None, moves: Sequence[Move] = ()) -> Found | None:
        """`hidden`: a pattern that is known, to hide little beyond; `moves`: its witnesses."""
        ...

    def better(self, deadline: Deadline) -> Found | None:
        """Goes on from the last pattern, for a while; None if there is nothing left to try."""
        ...

    def complete(self, hidden: np.ndarray, price: np.ndarray | None = None) -> Found | None:
        """A valid pattern that hides little beyond `hidden`."""
        ...

    def require(self, instance: Instance) -> Found | None:
        """The pattern, completed for an instance with more pairs in its list; goes on with that one."""
        ...

    def proves(self, hidden: np.ndarray) -> bool:
        """Whether it has a witness for every requirement of this pattern, checked by arithmetic."""
        ...

    def known_moves(self) -> list[Move]:
        """Witnesses that it has in hand; none where it works without."""
        ...


class ByFlows:
    """Where flows find nothing (sliding levels are divided in advance), moves may."""

    def __init__(self, search: NetworkSearch, deadline: Deadline, tell: Tell, otherwise: SuppressionHeuristic):
        self.search, self.deadline, self.tell, self._otherwise = search, deadline, tell, otherwise
        self._best: np.ndarray | None = None
        self._slice = NETWORK.first_slice
        self._settled = False

    @property
    def gaining(self) -> bool:
        return self._best is None and self._otherwise.gaining

    @property
    def bounded(self) -> bool:
        return True

    @property
    def tells_no_sums(self) -> bool:
        return False

    def first(self, hidden: np.ndarray | None = None, moves: Sequence[Move] = ()) -> Found | None:
        found = self._kept(self.search.protect(self.deadline, self.tell, start=hidden, effort=0.0))
        return found or self._otherwise.first(hidden, moves)

    def better(self, deadline: Deadline) -> Found | None:
        if self._best is None:
            return self._otherwise.better(deadline)
        if self._settled:
            self._settled = False  # it may go on from another pattern later
            return None
        part = deadline.within(self._slice)
        found = self._kept(self.search.protect(part, self.tell, start=self._best))
        self._settled = not part.expired  # nothing was won for long
        self._slice *= 2
        return found

    def complete(self, hidden: np.ndarray, price: np.ndarray | None = None) -> Found | None:
        if self._best is None:
            return self._otherwise.complete(hidden, price)
        return self.search.repair(hidden, price)

    def require(self, instance: Instance) -> Found | None:
        return self._otherwise.require(instance) if self._best is None else None

    def proves(self, hidden: np.ndarray) -> bool:
        return False

    def known_moves(self) -> list[Move]:
        return [] if self._best is not None else self._otherwise.known_moves()

    def _kept(self, hidden: np.ndarray | None) -> Found | None:
        if hidden is None:
            return None
        self._best = hidden
        return hidden, self.search.cost


class ByMoves:
    def __init__(self, instance: Instance, w: np.ndarray, deadline: Deadline, tell: Tell, seed: int):
        self.instance, self.w, self.deadline, self.tell, self.seed = instance, w, deadline, tell, seed
        self.counted = instance.problem.dataset["published"].values
        self.phase = "first pattern"
        self.search: LocalSearch | None = None
        self._state: SearchState | None = None
        self._swept = False

    @property
    def gaining(self) -> bool:
        return self._state is not None and not self._swept

    @property
    def bounded(self) -> bool:
        return True

    @property
    def tells_no_sums(self) -> bool:
        return False

    def first(self, hidden: np.ndarray | None = None, moves: Sequence[Move] = ()) -> Found | None:
        slides = (self.instance.slide > self.instance.level.sum(axis=0)).any()
        best: tuple[LocalSearch, SearchState] | None = None
        for share in LOCAL.shares_up if slides else LOCAL.shares_up[:1]:
            search = LocalSearch(
                self.instance, requirements_with(self.instance, share), self.deadline, self.seed, self.w, self._improved
            )
            state = search.completed(list(moves)) if moves else search.start(hidden)
            if state is not None and (best is None or state.cost < best[1].cost):
                best = search, state
        if best is None:
            return self._everything()
        self.search, self._state = best
        return self._found(best[1])

    def better(self, deadline: Deadline) -> Found | None:
        if self.search is None or self._state is None or not len(self._state.moves):
            return None
        self.search.deadline = deadline
        if self.search.exchanges:
            self.phase = "exchange"
            before = self._state.cost
            self._state = self.search.exchanged(self._state, LOCAL.kicks)
            self._swept = self._state.cost > before * (1 - 1e-3) and not deadline.expired
        elif self.search.hasty:
            self.phase = "move by move"
            self.search.hasty = False
            self._state = self.search.start(patient=True) or self.search.best or self._state
        elif not self._swept:
            self.phase = "sweep"
            before = self._state.cost
            self._state = self.search.sweep(self._state)
            self._swept = self._state.cost > before * (1 - 1e-3) and not deadline.expired
        else:
            self.phase = "neighbourhoods"
            self._state = self.search.neighbourhoods(self._state, LOCAL.rounds)
        self.search.deadline = self.deadline
        return self._found(self.search.best or self._state)

    def complete(self, hidden: np.ndarray, price: np.ndarray | None = None) -> Found | None:
        if self.search is None:
            return None
        self.phase = "completing"
        state = self.search.start(hidden, price)
        if state is None:
            return None
        state = self.search.exchanged(state, 0) if self.search.exchanges else self.search.sweep(state)
        if self._state is None or state.cost < self._state.cost:
            self._state, self._swept = state, False
        else:  # the pool may have numbered its moves anew
            self._state = self.search.best
        return self._found(state)

    def require(self, instance: Instance) -> Found | None:
        if self.search is None or not self.moves or (instance.slide > instance.level.sum(axis=0)).any():
            return None
        search = LocalSearch(instance, instance.requirements, self.deadline, self.seed, self.w, self._improved)
        state = search.completed(self.moves)
        if state is None:
            return None
        self.instance, self.search, self._state, self._swept = instance, search, state, False
        return self._found(state)

    def proves(self, hidden: np.ndarray) -> bool:
        if self.search is None or self.search.best is None or not len(self.search.best.moves):
            return False
        best = self.search.best
        inside = not (self.search.hidden(best) & ~hidden).any()
        return inside and bool(best.count.all()) and adds_up(self.instance.M, self.moves)

    def known_moves(self) -> list[Move]:
        return [] if self.search is None else self.moves

    @property
    def moves(self) -> list[Move]:
        """Of the best pattern so far."""
        assert self.search is not None
        return [] if self.search.best is None else [self.search.pool.ways[move] for move in self.search.best.moves]

    def adopt(self, moves: list[Move], deadline: Deadline) -> None:
        """Goes on from a pattern with a move for every requirement."""
        if self.search is None:
            requirements = requirements_with(self.instance, LOCAL.shares_up[0])
            self.search = LocalSearch(
                self.instance, requirements, deadline, self.seed, self.w, self._improved, BOXES.nearby
            )
        self._state, self._swept = self.search.adopt(moves), False

    def _found(self, state: SearchState) -> Found:
        assert self.search is not None
        return self._priced(self.search.hidden(state))

    def _priced(self, hidden: np.ndarray) -> Found:
        return hidden, float(self.w[hidden & self.counted].sum())

    def _improved(self, state: SearchState) -> None:
        hidden = self.instance.sensitive | self.instance.open_anyway | (state.users > 0)
        self.tell(Progress(self.phase, self._priced(hidden)[1]))

    def _everything(self) -> Found | None:
        """Where no share of the sliding levels works for all, hiding everything may; what it hides too much goes again
        one by one."""
        hidden = self.instance.may_open.copy()
        if self.deadline.expired or falling_short(self.instance, hidden):
            return None
        return self._priced(thinned(self.instance, hidden, self.w, self.deadline))


def thinned(instance: Instance, hidden: np.ndarray, w: np.ndarray, deadline: Deadline) -> np.ndarray:
    """Without cells that can be published with nothing new hidden, heaviest first: every pattern is attacked."""
    hidden = hidden.copy()
    cells = np.flatnonzero(hidden & ~instance.sensitive & ~instance.open_anyway)
    for cell in cells[np.argsort(-w[cells], kind="stable")]:
        if deadline.expired:
            break
        hidden[cell] = False
        hidden[cell] = bool(falling_short(instance, hidden))
    return hidden
