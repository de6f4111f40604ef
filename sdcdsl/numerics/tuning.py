"""What the parts of numerics were tuned by that are no engine of their own, and on which tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    large: int = 400  # entries from which loading compiled code pays (half a second)
    # Rows of master problems, in trees over the look-alikes of paper 002.
    slack: float = 1e-4  # of its right-hand side: from there on a row counts as slack
    broken: float = 0.02  # and a row that is known comes back that is missed by so much
    slack_for: int = 8  # relaxations a row may be slack before it leaves
    leave_share: float = 0.25  # rows leave when they are so large a share
    kept_rows: int = 6000  # rows that are known, the latest
    back: int = 20  # rows that come back at a time
    # Parts of a table, on the same.
    loose: float = 0.12  # cells that lead out of the smaller part, as a share of those in it
    least_part: int = 6  # relations of a part
    most_parted: int = 2500  # relations of a table that is looked at: what it takes grows with the third power
    # Elimination. On the tables of CSPLIB it fills up to 2.4 times the numbers of the relations, on cubes far more.
    stable: float = 0.05  # a pivot is at least this share of the largest number in its row
    fill: int = 50  # times the numbers of the relations: what elimination may grow to
    most_numbers: int = 30_000_000  # of a null space that is made dense
    # Maximum flows, on tables of 40 000 cells.
    few_paths: int = 24  # paths to seek one by one, shortest and widest first; then many at a time
    # The gradient method, on counts of 97 336 cells.
    look: int = 40  # steps between two bounds
    looks: int = 8
    progress: float = 1e-4  # of the bound, over so many looks: less is none


TUNING = Tuning()
