"""Directions improved block by block: groups with a level that are near each other choose anew, all at once, while the
others keep theirs (and what is far away does not move at all).

Near is what a random walk from group to relation to group soon comes to. Blocks of several sizes are tried, those more
often that have brought more a second so far. An improved choice is completed by the linear program over all groups, and
by flips of the groups around.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.cta.senses.flips import STEP, Flips
from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.senses.mip import Model, Part
from sdcdsl.accelerate.cta.senses.relaxation import worth_having
from sdcdsl.accelerate.cta.senses.sense_choice import ReservedShare
from sdcdsl.accelerate.cta.senses.warm_start import Point, WarmStart
from sdcdsl.accelerate.cta.tuning import BLOCK
from sdcdsl.deadline import Deadline
from sdcdsl.status import OPTIMAL


class Blocks:
    def __init__(self, warm: WarmStart, flips: Flips, seed: int):
        self.warm, self.flips = warm, flips
        self.groups: Groups = warm.groups
        self.random = np.random.default_rng(seed)
        self.tries = 0
        self.ends = self.groups.low, self.groups.high
        entries = csr_array(
            (np.ones_like(self.groups.every.data), self.groups.every.indices, self.groups.every.indptr),
            shape=self.groups.every.shape,
        )
        self._relations = np.maximum(np.diff(entries.indptr), 1)
        self._groups = np.maximum(np.diff(entries.tocsc().indptr), 1)
        self._entries, self._turned = entries, csr_array(entries.T)
        sizes = [size for size in BLOCK.sizes if size[0] < self.groups.count]
        self.sizes = [
            *sizes,
            (self.groups.count, BLOCK.sizes[len(sizes)][1] if len(sizes) < len(BLOCK.sizes) else BLOCK.sizes[-1][1]),
        ]

    def improve(self, point: Point, deadline: Deadline, tell: Callable[[Point], None]) -> Point:
        spent, gained = np.full(len(self.sizes), 1.0), np.full(len(self.sizes), BLOCK.ahead * point.objective)
        self.ends = worth_having(self.groups, (self.warm.c_down, self.warm.c_up), point.objective)
        pending: list[int] = []
        while not deadline.expired:
            if not pending:
                pending = self.random.permutation(len(self.groups.sensitive)).tolist()
            size = int(np.argmax(gained / spent))
            begun, before = process_time(), point.objective
            point = self._tried(point, pending.pop(), *self.sizes[size], deadline)
            self.tries += 1
            spent[size] += process_time() - begun
            deadline.mark_time_dependent()  # which sizes are tried follows from how long they take
            gained[size] += before - point.objective
            if point.objective < before:
                tell(point)
            gained *= 0.98  # what was long ago counts less
            spent *= 0.98
        return point

    def _tried(self, point: Point, seed: int, columns: int, choices: int, deadline: Deadline) -> Point:
        part = self._part(seed, columns, choices)
        prices = self.warm.c_down, self.warm.c_up
        model = Model(self.groups, prices, part, point.up, point.D, self.ends)
        made = model.solve(ReservedShare(deadline, BLOCK.one), 1e-5, model.cuts(self._cuts(part)), BLOCK.nodes)
        if made.up is None or made.objective >= point.objective * (1 - STEP) or (made.up == point.up).all():
            return point
        status, found = self.warm.solve(made.up)  # one linear program, even if time is up: it would be lost otherwise
        if status != OPTIMAL or found is None or found.objective >= point.objective * (1 - STEP):
            return point
        around = np.zeros(len(point.up), dtype=bool)
        beside = self.flips.beside
        for k in np.flatnonzero(found.up != point.up).tolist():
            around[beside.indices[beside.indptr[k] : beside.indptr[k + 1]]] = True
        return self.flips.improve(found, deadline, only=around)

    def _part(self, seed: int, columns: int, choices: int) -> Part:
        g = self.groups
        x = np.zeros(g.count)
        x[g.sensitive[seed]] = 1.0
        total = x.copy()
        for _ in range(BLOCK.steps):
            x = BLOCK.stay * (self._turned @ ((self._entries @ (x / self._groups)) / self._relations))
            total += x
        near = total / np.sqrt(self._groups) * (1 + 0.3 * self.random.random(g.count))
        free, chosen = np.zeros(g.count, dtype=bool), np.zeros(len(g.sensitive), dtype=bool)
        chosen[np.argsort(-near[g.sensitive], kind="stable")[:choices]] = True
        free[np.argsort(-near, kind="stable")[:columns]] = True
        free[g.sensitive[chosen]] = True
        return Part(free, chosen)

    def _cuts(self, part: Part) -> np.ndarray:
        """All entries of relations with a group that may flip."""
        rows = np.unique(self._turned[self.groups.sensitive[part.choices]].indices)
        start = np.asarray(self.groups.every.indptr).tolist()
        spans = [np.arange(start[r], start[r + 1]) for r in rows.tolist()]
        return np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)
