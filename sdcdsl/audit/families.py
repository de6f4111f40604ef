"""Tables for families of pairs: one that leaves out nobody, or few tables that together leave out nobody.

For each family and side a linear program looks for the shortest move that takes the cell as far as it has to go, in
the box that the members share. What a member knows beyond that is a matter of cost: beyond the slack that the best
informed member leaves a cell, each unit costs `beyond` times as much. Whom the table leaves out all the same is asked
about next, with the slacks of all of them for bounds; then one by one. Members for whom there is no table are what is
left: they get pairs of their own in the list, and bounds that prove it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.sparse import csc_array, hstack

from sdcdsl.attack.session import around
from sdcdsl.attack.task import DOWN, UP
from sdcdsl.audit.packing import ScaledMove
from sdcdsl.audit.proving import Proofs
from sdcdsl.audit.tuning import TUNING
from sdcdsl.numerics.lp import LinearProgram
from sdcdsl.proof.families import NOBODY, ServedMembers
from sdcdsl.proof.system import ProofProblem
from sdcdsl.status import OPTIMAL

OVERSHOOT = 1 + 4e-6  # asked for beyond the level, so that rounding leaves no table short
EXACTLY = 1e-10  # within which a program keeps relations and bounds, in typical levels
NOTHING = 1e-9  # of the largest entry of a move: smaller ones are rounding errors


def serve(proofs: Proofs) -> None:
    """Enters tables for the pairs that stand for families, and whom they serve beside. In the order of the cells: a
    program begins where the one before it ended."""
    for program, families in _programs(proofs.problem):
        for family, side in product(families.tolist(), (UP, DOWN)):
            if proofs.served is not None and proofs.served.left[side][family] is None:
                found = program.shortest(family, side, NOBODY)
                if found is not None:
                    _serve_everybody(proofs, proofs.served, program, *found)
                if proofs.served.left[side][family] is None:
                    _offer(proofs, program, family, side, found)


def _serve_everybody(
    proofs: Proofs, served: ServedMembers, program: _Program, cells: np.ndarray, move: np.ndarray
) -> None:
    """The move as often as everybody's box holds it, there and back, for all families that it takes far enough."""
    for way in (1.0, -1.0):
        times = program.times(cells, way * move)
        family, far = program.families_of(cells, way * move)
        up = far > 0
        need = np.where(up, program.families.upl[family], program.families.lpl[family]) * OVERSHOOT
        open_yet = [served.left[int(u)][f] is None for f, u in zip(family.tolist(), up, strict=True)]
        mine = np.flatnonzero((need > 0) & (np.abs(far) * times >= need) & np.array(open_yet, dtype=bool))
        if not len(mine):
            continue
        step = way * float((need[mine] / np.abs(far[mine])).max())
        family, up = family[mine], up[mine]
        pairs = np.array([program.pair_of[f] for f in family.tolist()])
        proofs.take(ScaledMove(cells, move, step, pairs[up], pairs[~up]))
        for pair, one in zip(program.others_of(family), up[program.position(family)], strict=True):
            if not proofs.reached(pair, UP if one else DOWN):
                only = np.array([pair])
                proofs.take(ScaledMove(cells, move, step, only if one else NOBODY, NOBODY if one else only))


def serve_the_rest(proofs: Proofs) -> tuple[np.ndarray, np.ndarray]:
    """(family, attacker): members without a table, after whoever can be served was."""
    if proofs.served is None:
        return NOBODY, NOBODY
    for program, families in _programs(proofs.problem):
        for family in families:
            if proofs.served.reached(family):
                for side in (UP, DOWN):
                    _serve_members(proofs, proofs.served, program, int(family), side)
    return proofs.served.unserved()


def _serve_members(proofs: Proofs, served: ServedMembers, program: _Program, family: int, side: int) -> None:
    pending = served.pending(family, side)
    if len(pending) > 1 and _offer(proofs, program, family, side, program.shortest(family, side, pending)):
        pending = served.pending(family, side)
    while len(pending):
        one, pending = pending[:1], pending[1:]
        if _offer(proofs, program, family, side, program.shortest(family, side, one)):
            pending = np.intersect1d(pending, served.pending(family, side))


def _offer(
    proofs: Proofs, program: _Program, family: int, side: int, found: tuple[np.ndarray, np.ndarray] | None
) -> bool:
    """The table as a claim for the pair that stands for the family; and for others of the cell who see no more."""
    if found is None:
        return False
    cells, move = found
    pair = program.pair_of[family]
    made = [np.array([one]) for one in (pair, *program.others_of(np.array([family])))]
    held = False
    for number, pairs in enumerate(made):
        if number and proofs.reached(int(pairs[0]), side):
            continue
        up, down = (pairs, NOBODY) if side == UP else (NOBODY, pairs)
        right = proofs.take(ScaledMove(cells, move, 1.0, up, down))
        held = right if not number else held
    return held


def _programs(problem: ProofProblem) -> Iterator[tuple[_Program, np.ndarray]]:
    families = problem.families
    if families is None:
        return
    view_of = problem.regions.view_of[families.anyone]
    for number in range(len(families.anyone)):
        mine = np.flatnonzero(families.of == number)
        if len(mine):
            yield _Program(problem, number, int(view_of[number])), mine


class _Program:
    """The linear program of one class: a move is the sum of four parts of each cell, up and down, in everybody's box
    and beyond it."""

    def __init__(self, problem: ProofProblem, number: int, view: int):
        system, regions, families = problem.system, problem.regions, problem.families
        assert families is not None
        self.problem, self.families, self.number, a = problem, families, number, system.a
        l, u = around(a, regions.low[view], regions.high[view])
        self.slack = np.stack([-l, u])
        known = regions.known
        attacker = np.repeat(np.arange(regions.attackers), np.diff(known.start))
        mine = families.class_of[attacker] == number
        self._least = self.slack.copy()
        for side, ends in ((DOWN, a[known.cell] - known.low), (UP, known.high - a[known.cell])):
            np.minimum.at(self._least[side], known.cell[mine], np.maximum(ends[mine], 0.0))
        self.cells = np.flatnonzero(u > l)
        self.place = np.full(system.cells, -1, dtype=np.int64)
        self.place[self.cells] = np.arange(len(self.cells))
        listed = families.number_of(problem.pairs)
        self.pair_of = {int(f): int(p) for p, f in enumerate(listed) if f >= 0}
        self._others = self._wider(view, listed)
        self._parts()

    def _wider(self, view: int, listed: np.ndarray) -> dict[int, list[int]]:
        """Pairs of attackers who see no more than this view, and know nothing of their own; by cell."""
        pairs, regions = self.problem.pairs, self.problem.regions
        wider = ((regions.low <= regions.low[view]) & (regions.high >= regions.high[view])).all(axis=1)
        alone = np.diff(regions.known.start) == 0
        out: dict[int, list[int]] = {}
        fine = wider[regions.view_of[pairs.attacker]] & alone[pairs.attacker] & (listed < 0) & (pairs.spl == 0)
        for pair in np.flatnonzero(fine).tolist():
            out.setdefault(int(pairs.cell[pair]), []).append(pair)
        return out

    def others_of(self, family: np.ndarray) -> list[int]:
        return [pair for f in family.tolist() for pair in self._others.get(int(self.families.cell[f]), [])]

    def position(self, family: np.ndarray) -> np.ndarray:
        """Which of these families each of their other pairs belongs to."""
        count = [len(self._others.get(int(self.families.cell[f]), [])) for f in family.tolist()]
        return np.repeat(np.arange(len(family)), count)

    def times(self, cells: np.ndarray, move: np.ndarray) -> float:
        """How often everybody's box holds the move."""
        slack = np.where(move > 0, self._least[UP, cells], self._least[DOWN, cells])
        return float((slack / np.abs(move)).min(initial=np.inf))

    def families_of(self, cells: np.ndarray, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Families of this class whose cells move, and how far."""
        family = self.families.at(np.full(len(cells), self.number), cells)
        return family[family >= 0], move[family >= 0]

    def _parts(self) -> None:
        """Columns, in units of a typical level."""
        system, count = self.problem.system, len(self.cells)
        self.unit = float(np.median(np.maximum(self.families.lpl, self.families.upl))) or 1.0
        inside = self.place[system.cell_of] >= 0
        row, column = system.equation_of[inside], self.place[system.cell_of[inside]]
        used, row = np.unique(row, return_inverse=True)
        matrix = csc_array((system.coefficient[inside], (row, column)), shape=(len(used), count))
        ends, columns, costs, cells, ways = [], [], [], [], []
        self.column = np.full((2, 2, count), -1, dtype=np.int64)  # [side, within | beyond, cell]
        first = 0
        for side, way in ((DOWN, -1.0), (UP, 1.0)):
            for part, width in enumerate(self._widths(side, self.cells)):
                some = np.flatnonzero(width > 0)
                self.column[side, part, some] = first + np.arange(len(some))
                first += len(some)
                columns.append(way * matrix[:, some])
                ends.append(width[some] / self.unit)
                costs.append(np.full(len(some), TUNING.beyond if part else 1.0))
                cells.append(some)
                ways.append(np.full(len(some), way))
        self.width, self.cell = np.concatenate(ends), np.concatenate(cells)
        self.way = np.concatenate(ways)
        nothing = np.zeros(len(self.width))
        self.program = LinearProgram(
            hstack(columns, format="csc"),
            cost=np.concatenate(costs),
            bounds=(nothing, self.width),
            primal_tolerance=EXACTLY,
        )

    def _widths(self, side: int, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far these cells go in everybody's box, and beyond it."""
        least = self._least[side, cells]
        some = np.isfinite(least)
        return least, np.where(some, self.slack[side, cells] - np.where(some, least, 0.0), 0.0)

    def shortest(self, family: int, side: int, members: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Cells and how far each of them moves; None if there is no such table for these members."""
        families = self.families
        cell = int(families.cell[family])
        level = float((families.upl if side == UP else families.lpl)[family])
        at = int(self.place[cell])
        if at < 0:
            return None
        columns, low, high = self._bounds(at, side, level, members)
        if columns is None:
            return None
        self.program.change_bounds(low, high, columns)
        ended = self.program.solve()
        x = self.program.x if ended == OPTIMAL else None
        self.program.change_bounds(np.zeros(len(columns)), self.width[columns], columns)
        if x is None:
            self.program.forget()
            return None
        d = np.bincount(self.cell, weights=self.way * x, minlength=len(self.cells)) * self.unit
        used = np.flatnonzero(np.abs(d) > NOTHING * np.abs(d).max(initial=0.0))
        return self.cells[used], d[used]

    def _bounds(
        self, at: int, side: int, level: float, members: np.ndarray
    ) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
        """Of the columns of the cell itself, which has to move so far, and of those that these members know."""
        cell = int(self.cells[at])
        cells, slacks = self._known(cell, members)
        here = int(np.flatnonzero(cells == cell)[0])
        columns, low, high = [], [], []
        for way in (DOWN, UP):
            within, beyond = self.column[way, 0, self.place[cells]], self.column[way, 1, self.place[cells]]
            lower = np.zeros(len(cells))
            upper = slacks[way]
            if way != side:
                upper = upper.copy()
                upper[here] = 0.0
            else:
                if upper[here] < level * (1 - NOTHING):
                    return None, lower, upper
                lower[here] = min(level * OVERSHOOT, float(upper[here]))
            least, _ = self._widths(way, cells)
            inside = np.minimum(lower, least), np.minimum(upper, least)
            with np.errstate(invalid="ignore"):  # where everybody's box is open there is nothing beyond it
                outside = lower - inside[0], upper - inside[1]
            for column, (l, h) in ((within, inside), (beyond, outside)):
                some = column >= 0
                columns.append(column[some])
                low.append(l[some] / self.unit)
                high.append(h[some] / self.unit)
        return np.concatenate(columns).astype(np.int32), np.concatenate(low), np.concatenate(high)

    def _known(self, cell: int, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cells that these members know more about, and the cell itself, with the slack all of them leave."""
        known, a = self.problem.regions.known, self.problem.system.a
        _, entry = known.of(members)
        entry = entry[self.place[known.cell[entry]] >= 0]
        cells = np.unique(np.append(known.cell[entry], cell))
        slacks = self.slack[:, cells].copy()
        at = np.searchsorted(cells, known.cell[entry])
        np.minimum.at(slacks[DOWN], at, np.maximum(a[known.cell[entry]] - known.low[entry], 0.0))
        np.minimum.at(slacks[UP], at, np.maximum(known.high[entry] - a[known.cell[entry]], 0.0))
        return cells, slacks
