"""Patterns where cells are all combinations of hierarchies: boxes give a first one and improve it; moves found by
linear programs, which see more and take longer, go on from there while the table is not too large for them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from sdcdsl.accelerate.csp.box_parts import improve_in_parts
from sdcdsl.accelerate.csp.box_search import BoxSearch
from sdcdsl.accelerate.csp.box_state import Move, packed
from sdcdsl.accelerate.csp.box_sums import BoxSums
from sdcdsl.accelerate.csp.cheapest_direction import Cheapest
from sdcdsl.accelerate.csp.heuristics import ByMoves, Found, Tell
from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.csp.tuning import BOXES, LOCAL
from sdcdsl.deadline import Deadline
from sdcdsl.executing import SERIAL, Team
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.pattern_check import falling_short
from sdcdsl.methods.result import Progress


class ByBoxes:
    """With `sums`, a pattern is found when it tells no sensitive sum either; while boxes improve one, it may tell some
    until they are protected again."""

    def __init__(
        self,
        instance: Instance,
        table: ProductTable,
        w: np.ndarray,
        deadline: Deadline,
        tell: Tell,
        moves: ByMoves,
        sums: bool = False,
        team: Team = SERIAL,
    ):
        self.instance, self.w, self.deadline, self.tell, self._moves = instance, w, deadline, tell, moves
        self.search = BoxSearch(instance, table, instance.requirements, w, moves.seed)
        self.counted = instance.problem.dataset["published"].values
        self._sums = BoxSums(instance, w, moves.seed, self._others)
        self._protects_sums, self._team, self._passes = sums, team, 0
        self._by_boxes, self._started, self._settled = True, False, False
        self._programs = instance.n <= BOXES.programs
        self._best: Found | None = None
        self._best_moves: list[Move] = []
        self._mending = 0.0  # seconds that it took to protect sums
        self._at_boxes = inf  # the cost when boxes were last gone back to

    @staticmethod
    def of(
        instance: Instance, w: np.ndarray, deadline: Deadline, tell: Tell, moves: ByMoves, sums: bool, team: Team
    ) -> ByBoxes | None:
        """None where boxes do not exist, or a small table needs none."""
        slides = (instance.slide > instance.level.sum(axis=0)).any()
        if slides or instance.n < BOXES.smallest or not len(instance.requirements):
            return None
        table = ProductTable.of(instance)
        if table is None:
            return None
        return ByBoxes(instance, table, w, deadline, tell, moves, sums, team)

    @property
    def gaining(self) -> bool:
        return self._started and (not self._settled or (not self._by_boxes and self._moves.gaining))

    @property
    def bounded(self) -> bool:
        return not self._started or self.instance.n <= BOXES.bounded

    @property
    def tells_no_sums(self) -> bool:
        return self._protects_sums and self._started

    def first(self, hidden: np.ndarray | None = None, moves: Sequence[Move] = ()) -> Found | None:
        price = None if hidden is None or moves else np.where(hidden, BOXES.free, self.search.weight)
        self.search.take(packed(moves, self.search.table.size))
        if not self.search.complete(self.deadline, price) and not self._others(self.search, self.deadline):
            return None if self.deadline.expired else self._last_resort()
        self.search.prune()
        self._started = True
        return self._found("first pattern", self.deadline) or self._with_its_sums()

    def _with_its_sums(self) -> Found:
        """A pattern whose sums cannot be protected, or not in time: that is left to the audit."""
        self._protects_sums = False
        found = self._found("first pattern", self.deadline)
        assert found is not None
        return found

    def _last_resort(self) -> Found | None:
        """Moves of linear programs throughout; in a large table what boxes have hidden so far, or everything, if no
        attacker gets too close where there is no witness. Without one for every requirement neither is improved."""
        if self.instance.n <= BOXES.whole:
            return self._moves.first()
        pairs = np.zeros(self.instance.pairs, dtype=bool)
        pairs[self.search.requirements.pair[self.search.uncertified]] = True
        for hidden in (self.search.hidden, self.instance.may_open.copy()):
            if self.deadline.expired:
                return None
            if not falling_short(self.instance.asking(pairs, self.instance.may_open), hidden):
                self._best = hidden, self._cost(hidden)
                return self._best
        return None

    def _others(self, search: BoxSearch, deadline: Deadline) -> bool:
        """What boxes cannot serve, one by one by linear programs; whether nothing is left."""
        if search.valid or deadline.expired:
            return search.valid
        nearby = None if self.instance.n <= BOXES.whole else BOXES.far
        cheapest, r, unit = Cheapest(search.instance, nearby), search.requirements, search.unit
        whole: Cheapest | None = None
        for k in np.flatnonzero(search.failed):
            if search.certifies(int(k)):
                continue
            if deadline.expired:
                return False
            price = np.where(search.hidden, LOCAL.almost_free, search.w / unit)
            slack = search.instance.slack(int(r.attacker[k]))
            wanted = int(r.cell[k]), int(r.sign[k]), float(r.need[k]), slack, price
            move = cheapest.move(*wanted)
            if move is None and nearby is not None:  # few need the whole table
                whole = whole or Cheapest(search.instance)
                move = whole.move(*wanted)
            if move is None:
                return False
            search.take(packed([move], search.table.size))
        return search.valid

    def better(self, deadline: Deadline) -> Found | None:
        if not self._started:
            return self._moves.better(deadline)
        searching = deadline.within(deadline.remaining - BOXES.longer * self._mending)
        if searching.expired:
            return None
        if not self._by_boxes:
            return self._by_programs(searching, deadline)
        before = self._at_best
        self._improve(searching)
        found = self._found("boxes", deadline)
        if self._at_best > before * (1 - BOXES.gain) and not searching.expired:
            self._settled = True
            if self._programs:
                self._by_boxes = False
                self._adopt()
        return found

    def _improve(self, deadline: Deadline) -> None:
        """Once through all that is hidden, in a large table in parts."""
        if self.instance.n >= BOXES.parted:
            self._passes += 1
            improve_in_parts(self.search, self._team, self._moves.seed + 1000 * self._passes, deadline)
            return
        for _ in range(1 + self.search.secondary // BOXES.slice):
            if deadline.expired:
                break
            self.search.improve(BOXES.slice, 0.0)

    def _adopt(self) -> None:
        """Linear programs go on from the pattern of the boxes."""
        instance, w = self.search.instance, self.search.w
        if self._moves.instance is not instance:
            self._moves = ByMoves(instance, w, self.deadline, self.tell, self._moves.seed)
        self._moves.adopt(self.search.moves(), self.deadline)

    def _by_programs(self, searching: Deadline, deadline: Deadline) -> Found | None:
        before = self._at_best
        found = self._moves.better(searching)
        if found is None:
            return None
        if found[1] < before:
            self._back_to_boxes(deadline)
        if not self._moves.gaining and self._at_best < self._at_boxes * (1 - BOXES.gain) and not deadline.expired:
            self._at_boxes = self._at_best
            self._by_boxes, self._settled = True, False
        return self._best

    def _back_to_boxes(self, deadline: Deadline) -> None:
        """What linear programs made cheaper, with its sums protected; boxes may make it cheaper again."""
        self.search.clear()
        self.search.take(packed(self._moves.moves, self.search.table.size))
        before = self.search
        if before.valid:
            self._found("linear programs", deadline)
        if self.search is not before:
            self._adopt()

    def complete(self, hidden: np.ndarray, price: np.ndarray | None = None) -> Found | None:
        if not self._started:
            return self._moves.complete(hidden, price)
        other = self.search.again()
        beyond = np.zeros(other.instance.n - len(hidden))
        cost = other.weight if price is None else np.append(price, beyond) / other.unit
        if not other.complete(self.deadline, np.where(np.append(hidden, beyond == 0), BOXES.free, cost)):
            return None
        other.prune()
        found = self._own(other), self._cost(self._own(other))
        if found[1] >= self._at_best:
            return found
        self.search, self._settled = other, False
        found = self._found("completing", self.deadline)
        if not self._by_boxes:
            self._adopt()
        return found

    def require(self, instance: Instance) -> Found | None:
        if not self._started:
            return self._moves.require(instance)
        search = BoxSearch(instance, self.search.table, instance.requirements, self.w, self._moves.seed)
        search.take(packed(self.known_moves(), search.table.size))
        if not search.complete(self.deadline) and not self._others(search, self.deadline):
            return None
        search.prune()
        self.instance, self.search, self._best, self._at_boxes = instance, search, None, inf
        self._sums, self._protects_sums = BoxSums(instance, self.w, self._moves.seed, self._others), False
        if not self._by_boxes:
            self._adopt()
        return self._found("first pattern", self.deadline)

    def proves(self, hidden: np.ndarray) -> bool:
        if not self._started:
            return self._moves.proves(hidden)
        moves = self._best_moves
        if any((~hidden[cells]).any() for cells, _ in moves):
            return False
        return self._sums.searching(packed(moves, self.search.table.size)).proved()

    def known_moves(self) -> list[Move]:
        return self._best_moves if self._started else self._moves.known_moves()

    @property
    def _at_best(self) -> float:
        return inf if self._best is None else self._best[1]

    def _cost(self, hidden: np.ndarray) -> float:
        return float(self.w[hidden & self.counted].sum())

    def _own(self, search: BoxSearch) -> np.ndarray:
        """What a search hides of the cells of the table itself."""
        return search.hidden[: self.instance.n]

    def _found(self, phase: str, deadline: Deadline) -> Found | None:
        """The best pattern, now that the sums of the search's are protected too; None if that does not end."""
        witnesses: list[Move] = []
        if self._protects_sums:
            began = deadline.elapsed
            made = self._sums.protected(self.search, deadline)
            took = deadline.elapsed - began  # the first time with what compiling takes, which says nothing of the next
            self._mending = min(self._mending or took, took)
            if made is None:
                return None
            self.search, witnesses = made
        hidden = self._own(self.search)
        found = hidden, self._cost(hidden)
        self.tell(Progress(phase, found[1]))
        if self._best is None or (found[1], found[0].sum()) < (self._best[1], self._best[0].sum()):
            self._best, self._best_moves = found, [*self._sums.of_table(self.search.moves()), *witnesses]
        return self._best
