"""Levels that a box of cells reaches: the quickest witness in a cross table.

In a table with several dimensions a cell p, another cell q_k of one relation of each dimension, and the cells where the
relations of these cross again make a box: 2, 4 or 8 cells that move together, each by as much as p, and keep all
relations. Where each of them has the slack, p reaches its level. No attack is needed then. Boxes are found from the
relations alone, and are checked against all of them; what is not found proves nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array

from sdcdsl.accelerate.cutting.capacities import Capacities
from sdcdsl.accelerate.cutting.requirements import CutRequirements
from sdcdsl.accelerate.cutting.separation import Separation
from sdcdsl.accelerate.cutting.tuning import TUNING
from sdcdsl.numerics.compiled import kernel

TRIES = TUNING.tries
PARTNERS = TUNING.partners


class BoxMoves:
    def __init__(self, demands: CutRequirements):
        rows = demands.classes.matrix
        columns = csc_array(rows.sparse)
        columns.sort_indices()
        self._rows = rows.start.astype(np.int64), rows.index.astype(np.int64), rows.value
        self._columns = columns.indptr.astype(np.int64), columns.indices.astype(np.int64), columns.data

    def reached(self, separation: Separation, point: Capacities, seed: int = 0) -> np.ndarray:
        """bool [level]; of requirements only."""
        levels = separation.levels
        out = np.zeros(len(levels), dtype=bool)
        sides = np.flatnonzero(np.arange(len(levels)) < separation.requirements)
        for viewer in np.unique(levels.viewer[sides]).tolist():
            mine = sides[levels.viewer[sides] == viewer]
            down, up = point.of_viewer(viewer)
            chance = np.random.default_rng(seed).integers(1, 2**31 - 1)
            out[mine] = _boxes(
                *self._rows,
                *self._columns,
                levels.cell[mine],
                levels.sign[mine].astype(float),
                levels.need[mine],
                down,
                up,
                int(chance),
            )
        return out


@kernel
def _boxes(  # noqa: PLR0915, PLR0917  one loop, compiled as a whole
    row_start, row_cell, row_value, column_start, column_row, column_value, cells, signs, needs, down, up, chance
):
    n = len(column_start) - 1
    out = np.zeros(len(cells), dtype=np.bool_)
    mark = np.zeros(n, dtype=np.int64)
    stamp = 0
    box, move = np.zeros(8, dtype=np.int64), np.zeros(8)
    edge, other = np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)
    for s in range(len(cells)):
        p = cells[s]
        degree = column_start[p + 1] - column_start[p]
        if degree == 0:
            continue
        for attempt in range(TRIES):
            dims = min(degree, 3 - attempt % 3)
            box[0], move[0] = p, signs[s] * needs[s]
            count, good = 1, True
            # One relation of each dimension, and a partner with slack in it.
            for k in range(dims):
                chance = (chance * 48271) % 2147483647
                at = column_start[p] + chance % degree
                edge[k] = column_row[at]
                for before in range(k):
                    good = good and edge[before] != edge[k]
                if not good:
                    break
                d = column_value[at] * move[0]
                found = -1
                first, many = row_start[edge[k]], row_start[edge[k] + 1] - row_start[edge[k]]
                for _ in range(PARTNERS):
                    chance = (chance * 48271) % 2147483647
                    e = first + chance % many
                    q, step = row_cell[e], -d / row_value[e]
                    slack = up[q] if step > 0 else down[q]
                    if q != p and slack >= abs(step):
                        found = q
                        box[count], move[count] = q, step
                        break
                if found < 0:
                    good = False
                    break
                other[k] = found
                count += 1
            if not good:
                continue
            # Where the relations of two partners cross again.
            for i in range(dims):
                for j in range(i + 1, dims):
                    if not good:
                        break
                    stamp += 1
                    crossing = -1
                    for a in range(column_start[other[i]], column_start[other[i] + 1]):
                        if column_row[a] != edge[i]:
                            for e in range(row_start[column_row[a]], row_start[column_row[a] + 1]):
                                mark[row_cell[e]] = stamp
                    for a in range(column_start[other[j]], column_start[other[j] + 1]):
                        if column_row[a] != edge[j]:
                            for e in range(row_start[column_row[a]], row_start[column_row[a] + 1]):
                                q = row_cell[e]
                                if mark[q] == stamp and q != p and q != other[i] and q != other[j]:
                                    crossing = q
                                    break
                        if crossing >= 0:
                            break
                    if crossing < 0:
                        good = False
                        break
                    box[count], move[count] = crossing, move[1 + i] * move[1 + j] / move[0]
                    count += 1
            if not good:
                continue
            if dims == 3:
                # The corner opposite p: where the relations of two crossings meet, other than in a partner.
                stamp += 1
                corner = -1
                for a in range(column_start[box[4]], column_start[box[4] + 1]):
                    for e in range(row_start[column_row[a]], row_start[column_row[a] + 1]):
                        mark[row_cell[e]] = stamp
                for a in range(column_start[box[5]], column_start[box[5] + 1]):
                    for e in range(row_start[column_row[a]], row_start[column_row[a] + 1]):
                        if mark[row_cell[e]] == stamp:
                            mark[row_cell[e]] = -stamp
                for a in range(column_start[box[6]], column_start[box[6] + 1]):
                    for e in range(row_start[column_row[a]], row_start[column_row[a] + 1]):
                        q = row_cell[e]
                        if mark[q] == -stamp:
                            inside = False
                            for b in range(7):
                                inside = inside or box[b] == q
                            if not inside:
                                corner = q
                if corner < 0:
                    continue
                box[7], move[7] = corner, move[1] * move[2] * move[3] / (move[0] * move[0])
                count = 8
            for b in range(count):
                slack = up[box[b]] if move[b] > 0 else down[box[b]]
                good = good and slack >= abs(move[b])
                for c in range(b):
                    good = good and box[b] != box[c]
            if not good:
                continue
            # All relations are kept, exactly.
            for b in range(count):
                for a in range(column_start[box[b]], column_start[box[b] + 1]):
                    left = 0.0
                    for c in range(count):
                        for e in range(column_start[box[c]], column_start[box[c] + 1]):
                            if column_row[e] == column_row[a]:
                                left += column_value[e] * move[c]
                    good = good and left == 0.0
            if good:
                out[s] = True
                break
    return out
