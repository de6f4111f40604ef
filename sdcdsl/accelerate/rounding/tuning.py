"""What the search for rounded tables was tuned with, and on which tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    # Neighbourhoods and prices: the tables of benchmarks/rounding.py, 2 400 to 10 400 cells.
    any: float = 0.9  # a gap with which the first solution will do
    first: float = 5.0  # seconds for it
    trials: int = 30  # for each part, at least
    few_trials: int = 30_000
    tables: int = 3  # by trial, with cuts in between
    few: int = 1000  # parts: more of them are put right from the relaxation before anything is tried
    tiny: int = 50  # parts: a table of so few needs no better start than any, the whole problem is soon solved
    share: float = 0.9  # of the time: the rest is for the mixed-integer problem as a whole
    large_share: float = 0.98  # where that is too large to get anywhere
    endless: float = 60.0  # seconds where there is no limit
    better: float = 0.65  # of that: for tables from the relaxation; where none is found, the rest improves one
    moment: float = 1.5  # seconds for a neighbourhood
    narrow: float = 1e-5  # its gap
    stalled: int = 300  # neighbourhoods in a row that bring nothing: it is time for something else
    # Trials from the relaxation: `rounding-counts` of benchmarks/scaling.py, 3 375 and 97 336 cells.
    large: int = 20_000  # parts: for more, trials are all there is
    trying: float = 0.4  # of the time, for fewer
    gradient: float = 0.15  # of the time, at most
    steps: int = 4_000  # of the gradient method


@dataclass(frozen=True)
class ElasticTuning:
    """Of `elastic` and `neighbourhoods`: the tables of benchmarks/rounding.py, 2 400 to 10 400 cells."""

    price: float = 0.5  # of base · weight, for every multiple that a sum is outside its window: at first
    rising: float = 8.0  # times that, for all sums, at the end of the time: whoever has less raises it faster
    dearer: float = 1e4  # times that, for a sum that is outside all the time
    moment: float = 1.5  # seconds for a step
    wall: float = 3.0  # times that on the wall, where others take their share
    first: float = 5.0  # seconds for the pieces
    narrow: float = 1e-6  # the gap of a step
    close: float = 0.9  # of the least by which two losses differ: nearer than that is no better
    cheap: float = 0.6  # of the common price: the same for what is outside
    long: float = 600.0  # seconds: the time that prices have where there is no limit
    stalled: int = 120  # steps in a row that bring nothing
    most_families: int = 12
    most_slices: int = 24  # of a family
    first_size: float = 400.0  # parts of a first neighbourhood
    quick: float = 0.25  # seconds: what is solved faster may be larger
    rushes: float = 1.5  # until the first that is not solved
    grows: float = 1.1  # then
    shrinks: float = 0.8  # and where one is not
    forgets: float = 0.85  # what a family gained before counts so much less with each try
    least_chance: float = 1.0  # times the mean gain: no family is given up


@dataclass(frozen=True)
class PairsTuning:
    """Of `pairs`: `rounding-counts` of benchmarks/scaling.py, 97 336 cells. Heat and prices are shares of base ·
    weight."""

    a_part: int = 5  # trials for each part between two looks at the deadline,
    least: int = 10_000  # so many at least,
    chunk: int = 200_000  # and at most
    trials: int = 40  # for each part at first; twice as many with every round
    together: float = 0.6  # of the trials are about two parts
    widest: int = 200  # parts of a sum that pairs are taken from
    hot: float = 0.17  # at first,
    again: float = 0.1  # from a table that was cooled before,
    cold: float = 0.04  # and at last
    low: float = 0.07  # beyond the multipliers, of a multiple outside a window: at first,
    high: float = 0.33  # and at last
    mending: float = 0.02  # of the trials begin in a sum that is outside
    price: float = 1.0  # of a multiple outside a window, when all are to come in
    warm: float = 0.3  # then
    tries: int = 60  # chunks of that,
    brief: int = 20  # and for a table that is to be there before anything else


@dataclass(frozen=True)
class AnnealingTuning:
    """Of `annealing`: the tables of benchmarks/rounding.py, 2 400 to 10 400 cells."""

    chunk: int = 2_000  # trials between two looks at the deadline
    chain: int = 10  # parts that move together, at most
    looked_at: int = 24  # parts of a row among which the best is taken
    hot: float = 0.35  # of base · weight: what a trial may make worse, at first
    cold: float = 0.004  # and at last
    dearer: float = 1.15  # the price of a row that stays outside its window, chunk by chunk,
    dearest: float = 1e6  # and the highest, of base · weight
    mending: float = 0.5  # of the trials begin in a sum that is outside its window, as long as there are any
    few_copies: int = 2_000  # parts: in larger tables not every better one is kept, which would cost more


@dataclass(frozen=True)
class PartsTuning:
    """Of `parts` and `blocks`, which write a table as sums of parts: the same."""

    passes: int = 64  # sums of sums of sums …
    most_entries: int = 30_000_000
    most_linked: int = 3000  # parts with relations between them
    most_times: int = 64  # a sum that takes a part more often than this is no sum to go by
    most_parts: int = 30  # of a piece


TUNING, ELASTIC = Tuning(), ElasticTuning()
ANNEALING, PARTS = AnnealingTuning(), PartsTuning()
PAIRS = PairsTuning()
