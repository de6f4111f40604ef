"""What the interior point method over boxes was tuned by: audits of intervals of hier13 and hier16 (126 and 372
dimensions), and of suppressed ninenew (173 dimensions, where nearly every cell moves in all of them)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BoxTuning:
    steps: int = 40  # most questions take 10 to 25
    back: float = 0.995  # share of the way to the nearest end that a step takes
    in_sight: float = 1.0  # share of the way between point and bound from which rows at their ends may hold the goal
    joins: float = 0.5  # share of the slack it had at first below which a row counts
    first: float = 3  # rows for each dimension that are looked at from the start
    first_full: float = 1.5  # the same where zeros are few
    full: float = 0.3  # share of numbers that are not zero from which zeros are not worth leaving out
    few: float = 1 / 3  # of the dimensions: so many rows may hold a move by themselves
    wider: float = 4.0  # the ends of the target are moved so many times as far out
    granted: float = 0.1  # slack, in units of a row's own, of rows that have none at first
    large: int = 100  # dimensions from which a library factors faster than a loop
    block: int = 64  # columns that are multiplied at once
    at_its_end: float = 0.05  # price over slack from which a row counts as being at its end
    nearly: float = 1e-2  # of the way between point and bound: a bound that gets worse is a matter of rounding


BOX = BoxTuning()
