"""Many questions to one network, asked one after the other in one compiled loop.

A flow takes microseconds, far less than it takes to ask for it and to enter what it brings. So the loop goes from
question to question without coming back: it enters what every flow, scaled until the box stops it and reversed, gives
to all pairs, exactly as `Ledger.credit` does, and questions that others have settled are not asked any more. It comes
back where there is more to say than how far: a cell that falls short, or one that nothing ends.

What it buys: exact audits of 40 000 cells three to five times as fast as one question at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import inf

import numpy as np

from sdcdsl.attack.ledger import NOTHING, OVERSHOOT, SHORT, Ledger
from sdcdsl.attack.singleton_presolve import PresolvedEngine
from sdcdsl.attack.task import DOWN, UP
from sdcdsl.attack.tuning import TUNING
from sdcdsl.numerics.compiled import kernel
from sdcdsl.numerics.flow.max_flow import CLOSED, UNBOUNDED, route
from sdcdsl.numerics.simplex.batched import ENOUGH

ASKED, FULL, MORE_TO_SAY = 0, 1, 2


def batches_pay(ledger: Ledger, engine: PresolvedEngine) -> bool:
    """Whether it pays, and nobody knows more than the view."""
    return engine.inner.fast and not len(ledger.known.cell)


def in_batches(
    ledger: Ledger, engine: PresolvedEngine, pairs: np.ndarray, side: int
) -> Iterator[tuple[int | None, int]]:
    """Asks about one side of the pairs in this order. Yields a pair that somebody else has to ask about before it goes
    on, or None, and how many questions were passed since the last time."""
    presolved, inner = engine.presolved, engine.inner
    local = presolved.local[ledger.pairs.cell[pairs]]
    needs = ledger.pairs.need[side, pairs]
    want = np.full(len(pairs), inf)
    if not ledger.task.exact:
        want = np.array([inner.level(OVERSHOOT * need, inner.whole) for need in needs.tolist()])
    kept = _Kept(ledger, presolved.cells)
    slack = ledger.l[presolved.cells], ledger.u[presolved.cells], ledger.allowance
    served = ledger.pair_start[presolved.cells], ledger.pair_start[presolved.cells + 1], ledger.by_cell
    found, given = ledger.found, ledger.pairs
    entries = found.reached, found.closed, found.witness, found.step, ledger.open
    levels = given.need, given.slide, ledger.own
    at = 0
    while at < len(pairs):
        end, before = min(at + TUNING.flows_at_once, len(pairs)), at
        at, why = inner.run_batch(
            _answer_batch.fast,
            ((pairs, local, want, side, at, end), slack, served, entries, levels, kept.lists),
            (ledger.task.exact, ledger.task.exact or ledger.task.to_the_end, ledger.strict),
        )
        kept.enter()
        left = int(pairs[at]) if why == MORE_TO_SAY else None
        at += why == MORE_TO_SAY
        yield left, at - before


class _Kept:
    """Moves that somebody relies on, one behind the other until they are entered."""

    def __init__(self, ledger: Ledger, cells: np.ndarray):
        self.ledger, self.cells = ledger, cells
        most = 4 * len(cells) + TUNING.flows_at_once
        self.moved = np.zeros(len(cells), dtype=np.bool_)
        self.count = np.zeros(2, dtype=np.int64)  # moves here; questions asked
        self.start = np.zeros(TUNING.flows_at_once + 1, dtype=np.int64)
        self.cell, self.move = np.zeros(most, dtype=np.int64), np.zeros(most)

    @property
    def lists(self) -> tuple:
        return self.moved, self.count, self.start, self.cell, self.move, len(self.ledger.found.moves)

    def enter(self) -> None:
        moves, starts = int(self.count[0]), self.start.tolist()
        cells, move = self.cells[self.cell[: starts[moves]]], self.move[: starts[moves]].copy()
        self.ledger.found.moves += [(cells[a:b], move[a:b]) for a, b in pairwise(starts[: moves + 1])]
        self.ledger.found.questions += int(self.count[1])
        self.ledger.moved[self.cells[self.moved]] = True
        self.count[:] = 0


@kernel
def _answer_batch(batch, numbers, graph, box, marks, lists, modes):
    """The number of the question it stopped at, why, and the last mark used."""
    (pairs, local, wants, side, first, last), slack, served, entries, levels, kept = batch
    grid, scale, stamp = numbers
    exact, to_the_end, strict = modes
    reached, closed, _, _, is_open = entries
    need, _, _ = levels
    low, high, _ = box
    touched, move = lists[4], lists[5]
    count, start, cell_of, move_of = kept[1], kept[2], kept[3], kept[4]
    sign = 1 if side == UP else -1
    for q in range(first, last):
        p, cell = pairs[q], local[q]
        lacking = not closed[side, p] if exact else reached[side, p] < need[side, p] * ENOUGH
        if not is_open[side, p] or not lacking:
            continue
        if cell < 0:
            return q, MORE_TO_SAY, stamp
        if start[count[0]] + len(low) > len(move_of) or count[0] + 1 >= len(start):
            return q, FULL, stamp
        own = high[cell] if sign > 0 else -low[cell]
        got, status, moved, _, _, stamp = route(
            (cell, sign, min(own, wants[q]), grid, stamp + 1), graph, box, marks, lists
        )
        ended = status == CLOSED or got >= own
        # An end that a cut makes, not the cell's own, takes the cut to prove.
        cut = strict and status == CLOSED and got < own
        if status == UNBOUNDED or cut or (ended and got / scale < need[side, p] * SHORT):
            return q, MORE_TO_SAY, stamp
        count[1] += 1
        begin = start[count[0]]
        order = np.argsort(touched[:moved])
        for k in range(moved):
            cell_of[begin + k], move_of[begin + k] = touched[order[k]], move[order[k]] / scale
        ahead, back = _steps(begin, begin + moved, cell_of, move_of, slack)
        if ahead > 0 or back > 0:
            used = _enter(begin, begin + moved, ahead, back, served, entries, kept)
            if used:
                count[0] += 1
                start[count[0]] = begin + moved
                _close(begin, begin + moved, served, entries, levels, kept, exact, to_the_end)
        if ended:
            is_open[side, p], closed[side, p] = False, True
            reached[side, p] = min(reached[side, p], got / scale)
    return last, ASKED, stamp


@kernel
def _steps(first, last, cell_of, move_of, slack):
    """How many times the move fits into the box, forwards and backwards, as in `ledger`."""
    l, u, allowance = slack
    largest = 0.0
    for k in range(first, last):
        largest = max(largest, abs(move_of[k]))
    nothing = min(allowance, NOTHING * largest)
    ahead, back = np.inf, np.inf
    for k in range(first, last):
        size = abs(move_of[k])
        if nothing > 0 and size <= nothing:
            continue
        j = cell_of[k]
        above = u[j] if u[j] > 1e3 * allowance else u[j] + allowance
        below = -l[j] if -l[j] > 1e3 * allowance else -l[j] + allowance
        ahead = min(ahead, (above if move_of[k] > 0 else below) / size)
        back = min(back, (below if move_of[k] > 0 else above) / size)
    ahead, back = max(ahead, 0.0), max(back, 0.0)
    if abs(ahead - 1.0) < 1e-11:
        ahead = 1.0
    if abs(back - 1.0) < 1e-11:
        back = 1.0
    return ahead, back


@kernel
def _enter(first, last, ahead, back, served, entries, kept):
    """What the move gives to every open side; whether anybody gets more than before."""
    begin, end, by_cell = served
    reached, _, witness, step, is_open = entries
    moved, count, _, cell_of, move_of, entered = kept
    number = entered + count[0]
    used = False
    for k in range(first, last):
        j = cell_of[k]
        moved[j] = True
        for i in range(begin[j], end[j]):
            p = by_cell[i]
            if not is_open[DOWN, p] and not is_open[UP, p]:
                continue
            for way in (1.0, -1.0):
                times = ahead if way > 0 else back
                if times <= 0:
                    continue
                amount = move_of[k] * way * times
                side = UP if amount > 0 else DOWN
                if is_open[side, p] and abs(amount) > reached[side, p]:
                    reached[side, p] = abs(amount)
                    witness[side, p] = number
                    step[side, p] = way * times
                    used = True
    return used


@kernel
def _close(first, last, served, entries, levels, kept, exact, to_the_end):
    """Requirements that have got all there is, or all they need."""
    begin, end, by_cell = served
    reached, closed, _, _, is_open = entries
    need, slide, own = levels
    cell_of = kept[3]
    for k in range(first, last):
        j = cell_of[k]
        for i in range(begin[j], end[j]):
            p = by_cell[i]
            if not is_open[DOWN, p] and not is_open[UP, p]:
                continue
            for side in range(2):
                at_end = reached[side, p] >= own[side, p] * ENOUGH
                if at_end:
                    closed[side, p] = True
                    if to_the_end:
                        reached[side, p] = own[side, p]
                enough = not exact and slide[p] == 0 and reached[side, p] >= need[side, p] * ENOUGH
                if at_end or enough:
                    is_open[side, p] = False
