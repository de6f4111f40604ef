"""What the search for intervals was tuned with, and on which tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    # Cutting planes: `ip-network` and `ip-cube` of benchmarks/scaling.py, and hier13 and nine5d of benchmarks/ip.py.
    inward: float = (
        0.8  # share of the way from the master's optimum to the best intervals, where requirements are repaired
    )
    between: float = 0.5  # and on networks, where intervals are widened
    widening: int = 2  # steps of the master for each level, after which they are
    chain: int = 20  # cuts for one side at a time, on networks
    short_chain: int = 4  # and elsewhere
    chain_cost: float = 0.01  # of the cost: added to reduced costs where a chain chooses what to open
    extra: int = 40  # rounds within the gap required, since the optimum has simpler numbers than what lies near it
    old: int = 8  # rounds that a cut may be slack
    # All levels at once: nine5d and `ip-cube` of 1 000 and 3 375 cells.
    step: float = 1.2e7  # multiplications that take as long as one step of a simplex method
    most: float = 1e13  # multiplications that are never worth while
    large: int = 10_000_000  # numbers of a basis of directions, which is made dense
    # One move for all levels: `ip-cube` of 3 375 and 10 648 cells.
    adjusted_from: int = 500_000  # levels times classes; below, cutting planes have the optimum in seconds
    adjusting: float = 0.3  # of the time: for better moves
    long: float = 120.0  # seconds of it where there is no limit
    gain: float = 0.003  # of the cost: a better move by less is not made intervals of
    # The exact intervals at the end.
    polishing: float = 0.3  # of the time, at most, is left for them
    sampled: int = 4  # questions, from which it is foreseen what all of them take
    # Counted intervals: hier13x7x7d of benchmarks/ip.py.
    slice: float = 0.25  # of the time that is left: for one mixed-integer problem
    steps: int = 30  # intervals on the way to some that keep all conditional levels
    # Tolerances.
    grain: float = 1e-10  # of the lowest level: what capacities of flows are multiples of
    miss: float = 1e-8  # share of a level that may be missing
    looked_for_again: int = 200_000  # levels times classes: for less all moves are looked for once more
    far_off: float = 1e-4  # from this gap on, digits that cost less are not worth their place
    many_moves: int = 2_000_000  # levels times cells
    wider: tuple[float, ...] = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)
    # Counted intervals: how far classes are taken to go.
    beyond: float = 10.0  # times that far a bound that is proven is preferred to one that is assumed
    far: float = 20.0  # times the highest level: further than any move that helps is taken to go


TUNING = Tuning()
