"""Levels that a box of a cross table reaches, hierarchies and all: witnesses in microseconds.

In each dimension take a leaf at or below the code of the cell and, mostly, another leaf beside it. The codes above the
first leaf go one way, those above the second the other way, and codes above both stand still: a vector that adds up.
Every product of such vectors over the dimensions keeps all relations of the table. Where each cell of the product has
the slack, the cell reaches its level, and mostly its other level by the same move reversed. What is not found proves
nothing; what is found is checked by whoever relies on it (`sdcdsl.audit.hints`).

`BoxMoves` finds boxes from the relations alone, in tables of any kind, but none for cells with parts of their own.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.accelerate.csp.product_table import ProductTable
from sdcdsl.accelerate.cutting.tuning import TUNING
from sdcdsl.numerics.compiled import kernel
from sdcdsl.proof.witness import MoveMatrix

TRIES = TUNING.lattice_tries
BESIDE = TUNING.beside
SUM_TRIES = TUNING.sum_tries
AGAIN = TUNING.again
NOBODY = -1
MOST = 512  # cells of a box
DEEP = 32  # codes of a vector: levels of both of its leaves


class LatticeBoxes:
    """Of one table."""

    def __init__(self, table: ProductTable):
        self.table = table

    def found(
        self,
        cell: np.ndarray,
        sign: np.ndarray,
        need: np.ndarray,
        down: np.ndarray,
        up: np.ndarray,
        seed: int = 0,
    ) -> tuple[np.ndarray, MoveMatrix]:
        """bool [level], those that a box reaches; and the boxes, of the cells of the lattice. `sign` times the move of
        `cell` is to be `need`, at most one level a cell and side; `down`, `up` [cell] say how far each can go. A sum of
        cells moves where one of its members does, and the others do not undo it."""
        out, size = np.zeros(len(cell), dtype=bool), self.table.size
        made, left = list[MoveMatrix](), np.flatnonzero(cell < size)
        for attempt in range(AGAIN):
            by, boxes = self._boxes(cell[left], sign[left], need[left], down, up, seed + attempt)
            out[left] = by != NOBODY
            made.append(boxes)
            left = left[~out[left]]
            if not len(left):
                break
        sums, left = self.table.sums, np.flatnonzero(cell >= size)
        draw = np.random.default_rng(seed + AGAIN)
        for attempt in range(SUM_TRIES):
            if not len(left):
                break
            row = cell[left] - size
            at = sums.indptr[row] + draw.integers(0, sums.indptr[row + 1] - sums.indptr[row])
            member, way = sums.indices[at].astype(np.int64), sign[left] * sums.data[at]
            by, boxes = self._boxes(member, way, need[left], down, up, seed + AGAIN + attempt)
            some = np.flatnonzero(by != NOBODY)
            moved = self._of(boxes)[by[some]]
            far = np.asarray(moved.multiply(sums[row[some]]).sum(axis=1)).ravel() * sign[left[some]]
            turned = boxes.at(by[some], member[some]) * way[some] < 0
            out[left[some]] = np.where(turned, -far, far) >= need[left[some]]
            made.append(boxes)
            left = left[~out[left]]
        whole = joined(made)
        assert whole is not None
        return out, whole

    def _boxes(
        self, cell: np.ndarray, sign: np.ndarray, need: np.ndarray, down: np.ndarray, up: np.ndarray, seed: int
    ) -> tuple[np.ndarray, MoveMatrix]:
        """For levels of cells of the lattice: the number of a box that reaches each, as it is or turned round."""
        t = self.table
        number = np.full((2, t.size), -1, dtype=np.int64)  # [side, cell]: which of them
        number[(sign > 0).astype(np.int64), cell] = np.arange(len(cell))
        chance = np.random.default_rng(seed).integers(1, 2**31 - 1)
        by, start, cells, moves = _found(
            t.parent,
            t.part_start,
            t.part,
            t.stride,
            t.first,
            t.codes,
            t.step,
            cell.astype(np.int64),
            sign.astype(np.float64),
            need.astype(np.float64),
            number,
            np.ascontiguousarray(down[: t.size]),
            np.ascontiguousarray(up[: t.size]),
            np.int64(chance),
        )
        owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
        order = np.lexsort((cells, owner))
        boxes = MoveMatrix(start, cells[order], moves[order], t.size)
        by[np.isin(by, self._beyond(boxes, down, up))] = NOBODY
        return by, boxes

    def _of(self, boxes: MoveMatrix) -> csr_array:
        return csr_array((boxes.move, boxes.cell, boxes.start), shape=(len(boxes), self.table.size))

    def _beyond(self, boxes: MoveMatrix, down: np.ndarray, up: np.ndarray) -> np.ndarray:
        """Boxes that take a sum of cells further than it can go, one way or the other."""
        sums, size = self.table.sums, self.table.size
        if not sums.shape[0] or not len(boxes):
            return np.zeros(0, dtype=np.int64)
        moved = csr_array(self._of(boxes) @ sums.T)
        at = size + moved.indices
        far = np.abs(moved.data) > np.minimum(down[at], up[at])
        return np.unique(np.repeat(np.arange(len(boxes)), np.diff(moved.indptr))[far])


def joined(boxes: list[MoveMatrix]) -> MoveMatrix | None:
    """Those of several viewers together."""
    if not boxes:
        return None
    ends = np.cumsum([0, *(int(made.start[-1]) for made in boxes)])
    starts = [made.start[:-1] + end for made, end in zip(boxes, ends[:-1].tolist(), strict=True)]
    return MoveMatrix(
        np.concatenate([*starts, ends[-1:]]),
        np.concatenate([made.cell for made in boxes]),
        np.concatenate([made.move for made in boxes]),
        boxes[0].cells,
    )


@kernel
def _leaf_below(node, part_start, part, chance):
    while part_start[node + 1] > part_start[node]:
        chance = (chance * 48271) % 2147483647
        node = part[part_start[node] + chance % (part_start[node + 1] - part_start[node])]
    return node, chance


@kernel
def _leaf_beside(node, parent, part_start, part, chance):
    """A leaf that is not below the code: mostly of its nearest relatives, now and then of more distant ones; -1 if
    there is none."""
    below = node
    while parent[below] >= 0:
        above = parent[below]
        first, many = part_start[above], part_start[above + 1] - part_start[above]
        chance = (chance * 48271) % 2147483647
        if many > 1 and (chance % BESIDE or parent[above] < 0):
            chance = (chance * 48271) % 2147483647
            other = part[first + chance % many]
            if other == below:
                other = part[first + (chance + 1) % many]
            return _leaf_below(other, part_start, part, chance)
        below = above
    return np.int64(-1), chance


@kernel
def _found(  # noqa: PLR0915, PLR0917  one loop, compiled as a whole
    parent, part_start, part, stride, first, codes, step, cell, sign, need, number, down, up, chance
):
    dimensions = len(codes)
    by = np.full(len(cell), NOBODY, dtype=np.int64)
    start = np.zeros(len(cell) + 1, dtype=np.int64)
    cells, moves = np.zeros(max(64 * len(cell), 1), dtype=np.int64), np.zeros(max(64 * len(cell), 1))
    boxes, end = 0, 0
    nodes, signs = np.zeros((dimensions, DEEP), dtype=np.int64), np.zeros((dimensions, DEEP))
    many, at = np.zeros(dimensions, dtype=np.int64), np.zeros(dimensions, dtype=np.int64)
    box, way = np.zeros(MOST, dtype=np.int64), np.zeros(MOST)
    for s in range(len(cell)):
        if by[s] != NOBODY:
            continue
        p = cell[s]
        for attempt in range(TRIES):
            size, good = 1, True
            for k in range(dimensions):
                node = first[k] + (p // step[k]) % codes[k]
                one, chance = _leaf_below(node, part_start, part, chance)
                chance = (chance * 48271) % 2147483647
                other = np.int64(-1)
                # At first all dimensions have a leaf beside, then some go without.
                if attempt < TRIES // 2 or chance % 4 != 0:
                    other, chance = _leaf_beside(node, parent, part_start, part, chance)
                # The codes above both leaves stand still.
                many[k] = 0
                c = one
                while c >= 0 and many[k] < DEEP // 2:
                    nodes[k, many[k]], signs[k, many[k]] = c, 1.0
                    many[k] += 1
                    c = parent[c]
                ahead = many[k]
                c = other
                while c >= 0 and many[k] < DEEP:
                    common = -1
                    for e in range(ahead):
                        if nodes[k, e] == c:
                            common = e
                    if common >= 0:
                        # All of the first leaf's codes from here on are codes of the second as well.
                        moved = many[k] - ahead
                        for e in range(moved):
                            nodes[k, common + e], signs[k, common + e] = nodes[k, ahead + e], -1.0
                        many[k] = common + moved
                        break
                    nodes[k, many[k]], signs[k, many[k]] = c, -1.0
                    many[k] += 1
                    c = parent[c]
                size *= many[k]
            if size > MOST:
                continue
            at[:] = 0
            for b in range(size):
                c, d = np.int64(0), sign[s] * need[s]
                for k in range(dimensions):
                    c += stride[nodes[k, at[k]]]
                    d *= signs[k, at[k]]
                if (up[c] if d > 0 else down[c]) < need[s]:
                    good = False
                    break
                box[b], way[b] = c, d
                for k in range(dimensions):
                    at[k] += 1
                    if at[k] < many[k]:
                        break
                    at[k] = 0
            if not good:
                continue
            if end + size > len(cells):
                more, longer = np.zeros(2 * len(cells) + MOST, dtype=np.int64), np.zeros(2 * len(cells) + MOST)
                more[:end], longer[:end] = cells[:end], moves[:end]
                cells, moves = more, longer
            back = True  # whether the box can be turned round
            for b in range(size):
                cells[end + b], moves[end + b] = box[b], way[b]
                back = back and (down[box[b]] if way[b] > 0 else up[box[b]]) >= need[s]
            # Other levels of the cells that it moves are reached as well.
            for b in range(size):
                for turn in range(2 if back else 1):
                    mine = number[int((way[b] > 0) != (turn == 1)), box[b]]
                    if mine >= 0 and need[mine] <= need[s] and by[mine] == NOBODY:
                        by[mine] = boxes
            by[s] = boxes
            end += size
            boxes += 1
            start[boxes] = end
            break
    return by, start[: boxes + 1], cells[:end], moves[:end]
