"""Constants of the engines of cell suppression, each record with the tables it was tuned on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BoxTuning:
    """Of `box_search`: business tables of 3 125 to 84 693 cells, and `mid` of the benchmarks."""

    free: float = 1e-3  # price of a cell that is hidden already, in typical weights
    tie: float = 1e-7  # of a typical weight: of two patterns that cost the same, the one with fewer cells
    smallest: int = 1500  # cells: below that linear programs take no time
    programs: int = 150_000  # cells: above that linear programs never go on from boxes
    nearby: float = 7e6  # entries that a linear program may look at for a move
    far: float = 1e9  # the same for a requirement that boxes cannot serve, where the table is not small:
    whole: int = 6_000  # cells: up to here it may look at the whole table as often as it likes
    bounded: int = 6_000  # cells: above that cuts say nothing in any time, and all of it is for the pattern
    gain: float = 2e-3  # of the cost: with less than this in a pass through all cells, linear programs go on
    starts_first: int = 2  # of a box, for a first pattern
    starts: int = 4
    efforts: tuple[float, ...] = (50.0, 1000.0)  # a box takes the cell at least so small a part of its way
    slice: int = 500  # requirements, or rounds, between two looks at the time
    noise: float = 0.35  # logarithm of prices
    entries: int = 200_000  # cells of moves that there is space for at first
    per_cell: int = 40  # and so many more for each cell of the table
    shortest: int = 8  # cells of a move: there is space for so many fewer moves
    touched: int = 20_000  # cells of the longest move
    undone: int = 4_000  # moves that a round may take out or add
    draws: int = 65_536  # random numbers at a time
    true: float = 1e-8  # what a relation may be off by, as a share of the move


BOXES = BoxTuning()
