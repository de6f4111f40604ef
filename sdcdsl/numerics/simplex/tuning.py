"""What the simplex methods were tuned by, and on which tables. Tolerances stand beside the loops they belong to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableauTuning:
    """On audits of suppressed hier13 and hier16 (13 and 29 dimensions)."""

    pivots: int = 200  # between two looks at the drift
    stalled: int = 25  # steps without progress after which the first eligible row is taken (Bland), which cannot cycle
    rounds: int = 200  # times `pivots`, after which a question is given up
    eager: int = 60_000  # numbers up to which a tableau holds all rows from the start
    joining: int = 100  # rows that join at a time
    held: int = 2  # rows for each dimension that a large tableau holds before it forgets those of no use
    kept: int = 3  # and of which it keeps so many


@dataclass(frozen=True)
class RevisedTuning:
    """On exact audits of suppressed ninenew (173 dimensions)."""

    patience: int = 1000  # pivots after which a question is left to others
    joining: int = 30  # rows that are looked at next
    few: int = 3  # rows for each dimension that are looked at first, at least
    most: int = 6  # and at most, about
    less: float = 0.7  # how much nearer one looks after having seen too many
    more: float = 1.4  # how much further after too few


@dataclass(frozen=True)
class DualTuning:
    """On suppression of the look-alikes of paper 002 (5 400 cells)."""

    steps: int = 3000  # after which a question is given up
    entries: int = 200_000  # of the elementary matrices
    anew: int = 40  # steps after which the inverse is made anew
    work: float = 400.0  # entries that are looked at in a question, as a multiple of the table's: at most
    least_work: float = 4.0  # and as little, where most questions are given up
    recent: int = 16  # questions by which the work is judged
    large_enough: float = 0.1  # of the largest candidate: a pivot may be as small as this if its row is shorter


TABLEAU, REVISED, DUAL = TableauTuning(), RevisedTuning(), DualTuning()
