"""Many small moves as few large ones.

On networks a witness is a short cycle, and thousands of pairs have one each. Moves that touch no common cell can be
made at once: their sum satisfies the relations as each of them does, and is in a box if each of them is. So the tables
of many pairs become one, which is checked, written and verified in one piece.

Each cell carries a word of 64 bits, one for each bundle that is open; a move goes into the first bundle that has none
of its cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from sdcdsl.audit.tuning import TUNING


@dataclass(frozen=True, eq=False)
class ScaledMove:
    """One move, taken `step` times, and the pairs it drives up and down."""

    cells: np.ndarray
    move: np.ndarray
    step: float
    up: np.ndarray
    down: np.ndarray


@dataclass(eq=False)
class Bundle:
    parts: list[ScaledMove] = field(default_factory=list)

    def joined(self) -> ScaledMove:
        """All parts as one move, taken once."""
        if len(self.parts) == 1:
            return self.parts[0]
        cells = np.concatenate([p.cells for p in self.parts])
        move = np.concatenate([p.move * p.step for p in self.parts])
        order = np.argsort(cells)
        return ScaledMove(
            cells[order],
            move[order],
            1.0,
            np.concatenate([p.up for p in self.parts]),
            np.concatenate([p.down for p in self.parts]),
        )


def bundles(parts: Iterable[ScaledMove], cells: int) -> Iterator[Bundle]:
    """The parts in bundles without a common cell."""
    taken = np.zeros(cells, dtype=np.uint64)
    made: list[Bundle] = []
    for part in parts:
        if len(part.cells) * TUNING.small > cells:
            yield Bundle([part])
            continue
        used = int(np.bitwise_or.reduce(taken[part.cells]))
        place = (~used & (used + 1)).bit_length() - 1  # the lowest bit that is not set
        if place >= TUNING.bundles:
            yield from made
            made, place = [], 0
            taken[:] = 0
        if place == len(made):
            made.append(Bundle())
        taken[part.cells] |= np.uint64(1 << place)
        made[place].parts.append(part)
    yield from made
