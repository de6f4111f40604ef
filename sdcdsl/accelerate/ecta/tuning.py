"""What the search for a table that no attack tells from the true one was tuned by: the tables of CSPLIB (the suite
`ecta` of the benchmarks)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    narrow: float = 0.7  # of the first table's β: moves that need no more fit into the boxes of most tables
    first: int = 10  # tries that are made one after another for their moves
    block: int = 5  # tries that are a task after that
    light: float = 1e-3  # with free sensitive cells, what deviations of other cells weigh
    near: float = 1.05  # the search for a smaller β ends at this ratio
    halvings: int = 16  # of a range of β
    projections: int = 5  # before it is left to programs
    far: float = 1e4  # nothing has to move so many times as far as the largest level asks
    many: int = 300  # pairs for which questions about many cells at once pay
    few: int = 3  # cells: joint questions end below so many
    worth: float = 0.1  # or when one settles less than this share of what it asked for
    kept: int = 3000  # moves, the latest
    numbers: int = 20_000_000  # moves times pairs: fewer moves are kept where it would be more


TUNING = Tuning()
