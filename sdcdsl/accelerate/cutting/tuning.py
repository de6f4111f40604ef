"""What cutting planes were tuned by: the look-alikes of papers 002 and 003 (1 444 to 5 400 cells), hier13 for the joint
model, and networks of 10 000 cells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    narrow: float = (
        0.05  # share of classes with less slack than the highest level, from which cuts are looked for in it
    )
    kept_capacities: int = 64  # of single attackers, to keep at hand
    hidden: float = 0.05  # classes that are hidden by a smaller share than this do not enter a cover
    most_entering: int = 24  # classes that may enter a cover, those first that are hidden most
    kept_cuts: int = 4000  # for another run: the latest
    large: float = 4e6  # levels times classes: above it a round is asked in waves
    wave: int = 64  # questions of a wave
    batch: int = 8  # questions of a task
    # Parts in few dimensions: hier13, hier16, ninenew, two5in6 and `mid`.
    most_in_parts: int = 100_000  # cells of a table that is looked through for them
    most_by_programs: int = 400  # cells of a part that is no network
    most_programs: int = 3000  # parts that are none
    most_dimensions: int = 4  # of a part
    share_of_lines: float = 0.05  # of all relations: a dimension with fewer is none that parts in three are made of
    far: float = 0.1  # of the level: where a part falls short by more, larger ones are not asked
    lines_at_once: int = 500
    parallel: float = 0.6  # of the cells of a relation: so many have a counterpart in one that is parallel
    # The joint model.
    steps: int = 35  # a solution takes about so many
    most_steps: int = 80
    back: float = 0.995  # share of the way to the wall
    refined: int = 2  # corrections of a direction
    stalled: int = 2  # steps without a smaller gap, near the end: rounding errors have won
    at_once: int = 40_000_000  # numbers of one batch of eliminated moves
    # Moves of box shape, of interval protection of cubes.
    tries: int = 80  # boxes for a level
    partners: int = 8  # cells looked at for one with slack
    # The same in cross tables: roundings of counts, 3 125 to 1 000 000 cells.
    lattice_tries: int = 200
    again: int = 10  # times, for levels that no box is found for
    sum_tries: int = 100  # members of a sum that boxes are tried through
    beside: int = 4  # every so manieth leaf beside a code is of more distant relatives


TUNING = Tuning()
