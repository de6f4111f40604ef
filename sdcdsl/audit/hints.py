"""Tables that a search has found, taken for what they prove about a release.

A search that hides cells has a witness for every requirement: a move that keeps all relations and stays where cells are
hidden. The audit takes such moves for hints. For every pair and side it chooses one that goes far enough in the box of
the attacker, if there is one, and the step it is taken by; then arithmetic decides, as for any other table
(`audit.proving`). Hints that are wrong cost time and prove nothing.

Where pairs are families, moves in everybody's box come first, since they leave out nobody. For members whom those
leave out, others are tried as long as somebody is left out by all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.attack.session import around
from sdcdsl.attack.task import DOWN, UP
from sdcdsl.audit.packing import ScaledMove, bundles
from sdcdsl.audit.proving import Proofs
from sdcdsl.audit.tuning import TUNING
from sdcdsl.proof.members import SURELY
from sdcdsl.proof.system import ProofProblem, spans
from sdcdsl.proof.witness import MoveMatrix

ENOUGH = 1 + 4e-13  # asked for beyond the level, so that rounding leaves no table short
BARELY = 1 - 5e-10  # of that, where there is no more slack: what is forgiven of a level is twice as much
ALONE, EVERYBODY = -2, -1  # parts that go with no others; parts in the boxes of all attackers


def take_hints(proofs: Proofs, moves: MoveMatrix) -> np.ndarray:
    """Enters what the moves prove; bool [view, cell]: cells that one of them moves in the box of the view."""
    problem = proofs.problem
    moves = _completed(moves, problem)
    lengths = _Lengths(problem, moves)
    found = _Candidates.of(problem, moves, lengths)
    if len(found):
        found = found.take(_chosen(proofs, moves, found))
        together: dict[int, list[ScaledMove]] = {}
        for part, boxes in _parts(problem, moves, lengths, found):
            together.setdefault(boxes, []).append(part)
        for boxes, parts in together.items():
            if boxes == ALONE:
                proofs.take_all(parts)
                continue
            for bundle in bundles(parts, problem.system.cells):
                if not proofs.take(bundle.joined()) and len(bundle.parts) > 1:
                    proofs.take_all(bundle.parts)
    return lengths.moved


def _chosen(proofs: Proofs, moves: MoveMatrix, found: _Candidates) -> np.ndarray:
    """The first candidate of each pair and side; where it leaves members out, more of them, as long as that helps."""
    first = found.first_of_each()
    served = proofs.served
    if served is None:
        return first
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(found))))
    family = served.of_pair[found.pair]
    leaving = (family >= 0) & ~found.everybody[first][group] & (np.arange(len(found)) - first[group] < TUNING.tried)
    some = np.flatnonzero(leaving)
    if not len(some):
        return first
    count = moves.count[found.move[some]]
    table, at = np.repeat(np.arange(len(some)), count), spans(moves.start[found.move[some]], count)
    step = np.where(found.way > 0, found.times, -found.times)[some]
    owner, who = served.knowledge.left_out_of_each(
        served.families.of[family[some]], table, moves.cell[at], moves.move[at] * step[table]
    )
    key = family[some[owner]] * len(served.families.class_of) + who
    rowless = ~np.isin(key, served.with_rows)
    owner, who = owner[rowless], who[rowless]
    begin = np.searchsorted(owner, np.arange(len(some) + 1))
    out = [first[~leaving[first]]]
    ends = np.flatnonzero(np.diff(group[some])) + 1
    for mine in np.split(np.arange(len(some)), ends):
        left = [who[begin[k] : begin[k + 1]] for k in mine.tolist()]
        out.append(some[mine[_cover(left)]])
    return np.concatenate(out)


def _cover(left: list[np.ndarray]) -> list[int]:
    """Few of these tables, so that as few members as possible are left out by all of them."""
    best = min(range(len(left)), key=lambda k: len(left[k]))
    chosen, rest = [best], left[best]
    while len(rest):
        still = [np.count_nonzero(np.isin(rest, one, assume_unique=True)) for one in left]
        best = int(np.argmin(still))
        if still[best] == len(rest):
            break
        chosen.append(best)
        rest = rest[np.isin(rest, left[best], assume_unique=True)]
    return chosen


def _completed(moves: MoveMatrix, problem: ProofProblem) -> MoveMatrix:
    """Moves of a table with fewer cells: sums that were added after them move as their parts do."""
    system = problem.system
    if moves.cells == system.cells:
        return moves
    late = np.flatnonzero(system.cell_of >= moves.cells)
    equation, own = system.equation_of[late], system.coefficient[late]
    order = np.argsort(system.cell_of[late], kind="stable")
    if not np.array_equal(system.cell_of[late][order], np.arange(moves.cells, system.cells)):
        return MoveMatrix(np.zeros(1, dtype=np.int64), moves.cell[:0], moves.move[:0], system.cells)
    row = np.full(system.equations, -1, dtype=np.int64)
    row[equation[order]] = np.arange(len(order))
    entry = np.flatnonzero((row[system.equation_of] >= 0) & (system.cell_of < moves.cells))
    at = row[system.equation_of[entry]]
    shape = len(order), moves.cells
    sums = csr_array((-system.coefficient[entry] / own[order][at], (at, system.cell_of[entry])), shape=shape)
    whole = csr_array((moves.move, moves.cell, moves.start), shape=(len(moves), moves.cells))
    more = csr_array(whole @ sums.T)
    more.eliminate_zeros()
    owner = np.concatenate([moves.owner, np.repeat(np.arange(len(moves)), np.diff(more.indptr))])
    cell = np.concatenate([moves.cell, moves.cells + more.indices.astype(np.int64)])
    order = np.lexsort((cell, owner))
    start = np.searchsorted(owner[order], np.arange(len(moves) + 1))
    return MoveMatrix(start, cell[order], np.concatenate([moves.move, more.data])[order], system.cells)


class _Lengths:
    """How often each move fits into the boxes of the views, back and forth, and into the box that all members of a
    class share."""

    def __init__(self, problem: ProofProblem, moves: MoveMatrix):
        regions, a = problem.regions, problem.system.a
        self.of_view = np.zeros((regions.views, 2, len(moves)))
        self.moved = np.zeros((regions.views, problem.system.cells), dtype=bool)
        for view in range(regions.views):
            l, u = around(a, regions.low[view], regions.high[view])
            self.of_view[view] = moves.fitting(l, u)
            fits = (self.of_view[view] > 0).any(axis=0)
            self.moved[view, moves.cell[fits[moves.owner]]] = True
        self.of_class = self._of_classes(problem, moves)

    @staticmethod
    def _of_classes(problem: ProofProblem, moves: MoveMatrix) -> np.ndarray:
        families, regions, a = problem.families, problem.regions, problem.system.a
        if families is None:
            return np.zeros((0, 2, len(moves)))
        known = regions.known
        attacker = np.repeat(np.arange(regions.attackers), np.diff(known.start))
        out = np.zeros((len(families.anyone), 2, len(moves)))
        for number, anyone in enumerate(families.anyone.tolist()):
            view = regions.view_of[anyone]
            l, u = around(a, regions.low[view], regions.high[view])
            mine = families.class_of[attacker] == number
            np.maximum.at(l, known.cell[mine], np.minimum(known.low[mine] - a[known.cell[mine]], 0.0))
            np.minimum.at(u, known.cell[mine], np.maximum(known.high[mine] - a[known.cell[mine]], 0.0))
            out[number] = SURELY * moves.fitting(l, u)
        return out


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Moves that take the cell of a pair far enough in the box of its attacker: those of a pair and side together,
    the best ones first."""

    pair: np.ndarray
    side: np.ndarray  # DOWN or UP
    move: np.ndarray
    way: np.ndarray  # 0 back, 1 forth
    times: np.ndarray  # at least so often
    most: np.ndarray  # and at most so often
    everybody: np.ndarray  # bool: nobody of the pair's class is left out, if it stands for one

    def __len__(self) -> int:
        return len(self.pair)

    def take(self, which: np.ndarray) -> _Candidates:
        columns = (self.pair, self.side, self.move, self.way, self.times, self.most, self.everybody)
        return _Candidates(*(column[which] for column in columns))

    def first_of_each(self) -> np.ndarray:
        key = 2 * self.pair + self.side
        return np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))

    @classmethod
    def of(cls, problem: ProofProblem, moves: MoveMatrix, lengths: _Lengths) -> _Candidates:
        pairs, regions, families = problem.pairs, problem.regions, problem.families
        by_cell = np.argsort(moves.cell, kind="stable")
        start = np.searchsorted(moves.cell[by_cell], np.arange(problem.system.cells + 1))
        asking = np.flatnonzero(((pairs.lpl > 0) | (pairs.upl > 0)) & (pairs.spl == 0))
        count = start[pairs.cell[asking] + 1] - start[pairs.cell[asking]]
        pair = np.repeat(asking, count)
        entry = by_cell[spans(start[pairs.cell[asking]], count)]
        move, far = moves.owner[entry], moves.move[entry]
        listed = families.number_of(pairs) if families is not None else None
        out = []
        for side, level in ((DOWN, pairs.lpl), (UP, pairs.upl)):
            way = ((far > 0) == (side == UP)).astype(np.int64)
            times = level[pair] * ENOUGH / np.abs(far)
            most = lengths.of_view[regions.view_of[pairs.attacker[pair]], way, move]
            fine = np.flatnonzero((level[pair] > 0) & (times * BARELY <= most))
            own = _own_lengths(problem, moves, pairs.attacker[pair[fine]], move[fine], way[fine])
            most = np.minimum(most[fine], own)
            enough = times[fine] * BARELY <= most
            fine, most = fine[enough], most[enough]
            times[fine] = np.minimum(times[fine], most)
            everybody = np.ones(len(fine), dtype=bool)
            if listed is not None and families is not None:
                family = listed[pair[fine]]
                mine = np.flatnonzero(family >= 0)
                length = lengths.of_class[families.of[family[mine]], way[fine][mine], move[fine][mine]]
                everybody[mine] = times[fine][mine] <= length
                # A longer step would leave out more members.
                most[mine] = np.where(everybody[mine], np.minimum(most[mine], length), times[fine][mine])
            sides = np.full(len(fine), side)
            out.append((pair[fine], sides, move[fine], way[fine], times[fine], most, everybody))
        columns = [np.concatenate(column) for column in zip(*out, strict=True)]
        pair, side, move, *_, everybody = columns
        served = np.bincount(move, minlength=len(moves))[move]  # fewer tables in all, if each serves many
        order = np.lexsort((move, -served, ~everybody, side, pair))
        return cls(*(column[order] for column in columns))


def _own_lengths(
    problem: ProofProblem, moves: MoveMatrix, attacker: np.ndarray, move: np.ndarray, way: np.ndarray
) -> np.ndarray:
    """How often moves fit into what attackers know beyond their views."""
    out = np.full(len(attacker), np.inf)
    known, a = problem.regions.known, problem.system.a
    if not len(known.cell) or not len(attacker):
        return out
    row, entry = known.of(attacker)
    cell = known.cell[entry]
    far = moves.at(move[row], cell) * np.where(way[row] > 0, 1.0, -1.0)
    slack = np.where(far > 0, known.high[entry] - a[cell], a[cell] - known.low[entry])
    moved = far != 0
    np.minimum.at(out, row[moved], np.maximum(slack[moved], 0.0) / np.abs(far[moved]))
    return out


def _parts(
    problem: ProofProblem, moves: MoveMatrix, lengths: _Lengths, chosen: _Candidates
) -> Iterator[tuple[ScaledMove, int]]:
    """Pairs that rely on the same move the same way, taken as often as the one that needs it most; and what it can be
    made one with (`_boxes`)."""
    order = np.lexsort((chosen.most, ~chosen.everybody, chosen.way, chosen.move))
    chosen = chosen.take(order)
    made: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # one and the same arrays, however often a move is taken
    key = (2 * chosen.move + chosen.way) * 2 + chosen.everybody
    for mine in np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(key)) + 1):
        left = mine
        while len(left):
            # Who allows for the fewest steps, and all whose need that covers; the others need a step of their own.
            covers = chosen.times[left] <= chosen.most[left[0]]
            part, left = chosen.take(left[covers]), left[~covers]
            w, way, times = int(part.move[0]), int(part.way[0]), float(part.times.max())
            if w not in made:
                cells = slice(int(moves.start[w]), int(moves.start[w + 1]))
                made[w] = moves.cell[cells], moves.move[cells]
            up, step = part.side == UP, times if way else -times
            yield (
                ScaledMove(*made[w], step, part.pair[up], part.pair[~up]),
                _boxes(problem, lengths, part, w, way, times),
            )


def _boxes(problem: ProofProblem, lengths: _Lengths, part: _Candidates, w: int, way: int, times: float) -> int:
    """Moves without a common cell can be made at once, for attackers whose boxes hold each of them: everybody, those
    with one view, or those of this move alone."""
    regions = problem.regions
    attacker = problem.pairs.attacker[part.pair]
    known = regions.known.start
    informed = (known[attacker + 1] > known[attacker]).any()
    if problem.families is not None:
        informed = informed and (problem.families.class_of[attacker] < 0).any()
        if (lengths.of_class[:, way, w] < times).any():
            return ALONE
    if informed:
        return ALONE
    if (lengths.of_view[:, way, w] >= times).all():
        return EVERYBODY
    views = np.unique(regions.view_of[attacker])
    return int(views[0]) if len(views) == 1 else ALONE
