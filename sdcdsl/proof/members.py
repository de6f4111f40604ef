"""What members of classes know beyond the view they share, by cell: whom does a table leave out?

A table leaves out the members whose own knowledge excludes it. `left_out` says so of one table as a certificate counts
it, whatever is rounded; `left_out_of_each` of many at once, up to rounding errors, for who looks for tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcdsl.proof.exact import excess

NOBODY = np.zeros(0, dtype=np.int64)
SURELY = 1 - 1e-9  # of what a member leaves a cell: a shorter move is in its box, whatever is rounded
HARDLY = 1 + 1e-12  # times what a member leaves a cell: a move that is longer by less is no longer
AT_ONCE = 4_000_000  # members that are compared with tables at a time


@dataclass(frozen=True, eq=False)
class Known:
    """What is known: who, about which cell, at least and at most."""

    attacker: np.ndarray
    cell: np.ndarray
    low: np.ndarray
    high: np.ndarray


class MemberKnowledge:
    """By cell, with the least that any member leaves a cell. `class_of` [attacker]; -1: of none."""

    def __init__(self, known: Known, a: np.ndarray, class_of: np.ndarray) -> None:
        mine = np.flatnonzero(class_of[known.attacker] >= 0)
        order = mine[np.argsort(known.cell[mine], kind="stable")]
        self.a, self.class_of = a, class_of
        self.attacker, self.cell = known.attacker[order], known.cell[order]
        self.low, self.high = known.low[order], known.high[order]
        self.start = np.searchsorted(self.cell, np.arange(len(a) + 1))
        below, above = a[self.cell] - self.low, self.high - a[self.cell]
        down, up = np.full(len(a), np.inf), np.full(len(a), np.inf)
        np.minimum.at(down, self.cell, below)
        np.minimum.at(up, self.cell, above)
        self.down, self.up = down, up  # [cell]
        self.below, self.above = below, above  # [entry]
        excluded = (self.low > a[self.cell]) | (self.high < a[self.cell])
        self.never = np.unique(self.attacker[excluded])  # whose box does not hold the truth

    def left_out(self, number: int, cells: np.ndarray, move: np.ndarray, step: float, allowed: float) -> np.ndarray:
        """Members of the class whose box does not hold the table."""
        far = step * move
        slack = self._least(cells, far)
        beyond = np.asarray((np.abs(far) >= SURELY * slack) & (far != 0))
        cells, move = cells[beyond], move[beyond]
        at, entry = self._entries(cells)
        a, each = self.a[self.cell[entry]], move[at]
        steps = np.full(len(each), step)
        off = np.maximum(excess(a, steps, each, self.high[entry]), excess(-a, -steps, each, -self.low[entry]))
        out = np.unique(np.concatenate([self.attacker[entry[off > allowed]], self.never]))
        return out[self.class_of[out] == number]

    def left_out_of_each(
        self, number: np.ndarray, table: np.ndarray, cells: np.ndarray, far: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(table, attacker), ascending, of tables given by their entries, each for a class: `number` [table]."""
        slack = self._least(cells, far)
        beyond = np.flatnonzero(np.abs(far) > HARDLY * slack)
        size = np.cumsum(self.start[cells[beyond] + 1] - self.start[cells[beyond]])
        most = int(size[-1]) if len(size) else 0
        ends = np.searchsorted(size, np.arange(AT_ONCE, most, AT_ONCE))
        keys, count = [NOBODY], len(self.class_of)
        for part in np.split(beyond, ends):
            at, entry = self._entries(cells[part])
            way = far[part][at]
            least = np.where(way > 0, self.above[entry], self.below[entry])
            short = np.abs(way) > HARDLY * least
            who, owner = self.attacker[entry[short]], table[part][at[short]]
            mine = self.class_of[who] == number[owner]
            keys.append(owner[mine] * count + who[mine])
        if len(self.never):
            everywhere = np.repeat(np.arange(len(number)), len(self.never)), np.tile(self.never, len(number))
            mine = self.class_of[everywhere[1]] == number[everywhere[0]]
            keys.append(everywhere[0][mine] * count + everywhere[1][mine])
        owner, who = np.divmod(np.unique(np.concatenate(keys)), count)
        return owner, who

    def _least(self, cells: np.ndarray, far: np.ndarray) -> np.ndarray:
        """What every member leaves these cells, the ways they go."""
        return np.where(far > 0, self.up[cells], self.down[cells])

    def _entries(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All that members know about these cells, and about which of them."""
        count = self.start[cells + 1] - self.start[cells]
        at = np.repeat(np.arange(len(cells)), count)
        return at, np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count) + self.start[cells][at]
