"""Constants of the engines of cell suppression, each record with the tables it was tuned on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BoundTuning:
    """Of `bounding` and `proving`: the look-alikes, `small` and `mid` of benchmarks/csp.py."""

    violated: float = 1e-4  # cuts that are missed by less than this are left alone until nothing else is found
    deep: float = 1e-3  # added to all shares when a cut is chosen: coefficients where nothing is hidden are then small
    missed_in_parts: float = 1e-3  # of a level: by less no cut of a part of the table is missed
    chain: int = 8  # cuts for one side at a time
    chain_cost: float = 0.01  # of the cost: added to reduced costs where a chain chooses what to hide
    keep: int = 8  # rounds that a cut may be slack
    # Of `proving`.
    thresholds: tuple[float, ...] = (0.3, 0.5, 0.1)  # shares from which a cell of the relaxation counts as hidden
    pull: float = 0.9  # how much cheaper a cell becomes by its share
    coarse: int = 10  # gaps of the first integer problems, in gaps that are left
    least_met: int = 20  # solutions on the way to one that give cuts too, at least
    cutting: float = 0.2  # of the time of integer problems, for cuts of more of them,
    completing: float = 0.2  # and for completing them
    at_once: float = 0.03  # seconds of a completion that is always worth it
    draws: int = 150  # completions at prices with some noise,
    drawing: float = 0.06  # as long as they take no more than this share of the time that is left,
    quick: float = 0.2  # and each of them no more than so many seconds
    noise: tuple[float, ...] = (0.0, 0.1, 0.2, 0.4)  # logarithms of prices
    busy: int = 10  # seconds on the wall for one of the deadline: beyond that something is wrong
    slice: float = 20.0  # seconds an integer problem gets at first
    stall: int = 8  # rounds in which the bound must grow
    stalled: float = 2e-5  # by this share,
    stalled_in_parts: float = 2e-3  # and by this where cuts of parts are followed by those of the whole table
    one_round: float = 0.3  # of the time that is left, for a round of cuts of the whole table


@dataclass(frozen=True)
class TreeTuning:
    """Of `branch_and_bound` over the parts of a table: the look-alikes of benchmarks/csp.py."""

    rounds: int = 4  # of cuts at a node
    # Levels of the tree at which all requirements are attacked; of the others, every so manieth attacks some.
    by_flows: tuple[int, int] = (4, 3)
    by_programs: tuple[int, int] = (1, 8)
    fading: float = 0.97  # a round: how soon it is forgotten that a requirement fell short
    seldom_missed: float = 0.1  # from where on it counts as satisfied
    covers: int = 15  # a round
    covered: float = 0.02  # by how much they must be missed
    near: float = 0.1  # how slack rows may be that give covers
    ahead: float = 0.25  # of what is left to be proven: how much dearer than the cheapest node the next one may be
    to_the_end: tuple[int, int] = (30, 300)  # so many of so many nodes are gone on with whatever they cost
    candidates: int = 20  # columns looked at,
    tried: int = 10  # tried,
    known: int = 8  # and believed after so many tries


@dataclass(frozen=True)
class PartsTuning:
    """Of `partition_bound`: the same."""

    shared: float = 0.1  # of the classes: with more of them in several parts these say little
    times: int = 4  # prices are divided anew so many times, as long as the bound rises
    slice: int = 20  # nodes of a part, before another one may be more urgent
    most: int = 20000  # nodes of a part
    nearly: float = 0.999  # of a step between patterns: what is proven up to here is proven
    in_parts: float = 0.15  # of the gap: less than this is not worth looking for within the parts
    # How much a bound must rise, as a share of the gap, within which share of the time that is left: in a first look at
    # the whole, and then.
    brief: tuple[float, float] = (0.05, 0.05)
    patient: tuple[float, float] = (0.02, 0.15)
    gained: float = 0.1  # of the gap that is left: less than this is not worth another time


@dataclass(frozen=True)
class ExchangeTuning:
    """Of `exchange`: the look-alikes and business tables of benchmarks/csp.py."""

    most: int = 12_000_000  # entries of the tableau
    rooms: int = 2_000_000  # entries of all attackers' slacks
    many: int = 80  # dimensions from which a lost witness is not looked for
    failures: int = 6  # groups that cannot be published, one after the other, before no more are tried
    fresh: int = 60  # pivots after which the tableau is made anew
    smallest: int = 400  # cells: below that linear programs take no time
    largest_kick: int = 6  # groups that are published at once
    worse: float = 2e-3  # how much dearer a kick may end, as a share of the cost
    away: float = 1e-2  # how far that may lead from the best


@dataclass(frozen=True)
class LocalTuning:
    """Of `local_search`, `cheapest_direction` and `joint_adjustment`: the look-alikes, `small` and `mid`, and CSPLIB's
    hier13 and two5in6."""

    almost_free: float = 1e-3  # price of a cell that is hidden already, as a share of a typical weight
    tie: float = 1e-7  # of a typical weight: of two patterns that cost the same, the one with fewer cells
    most_moves: int = 6000  # that are kept,
    spare_moves: int = 3  # and as a multiple of those of a pattern
    long: int = 2000  # steps by relations after which directions are first given a chance
    # A first pattern: by moves one by one, or by one adjustment of the whole table.
    trial: int = 3  # moves one by one before their pace is judged
    few: int = 20  # requirements that are always served one by one
    patience: float = 4.0  # seconds it may take before all that is left is served by one adjustment
    jointly: float = 0.4  # of the time that is left, for that
    dear: float = 1e3  # price of what is missed of a level, in typical prices
    many: int = 50  # attackers, each with slacks of their own: with more of them there is no adjustment
    quick: int = 5_000_000  # entries of the tableau of exchanges: with more of them these take as long as moves
    member_rounds: int = 30  # of rows for contributors that a witness leaves out, for one pattern
    # The search from pattern to pattern.
    noise: float = 0.35  # logarithm of prices
    warmth: float = 0.3  # how much dearer than before a step may be, in hidden cells of mean weight
    away: float = 1.0  # how far it may go from the best
    rounds: int = 40  # neighbourhoods between two looks at what else there is to do
    kicks: int = 30  # of what is published, likewise
    shares_up: tuple[float, ...] = (1.0, 0.0, 0.5)  # of what a sliding level requires beyond the other two


@dataclass(frozen=True)
class NetworkTuning:
    """Of neighbourhoods of flows: `network-10000` and `network-100000` of benchmarks/csp.py."""

    short: int = 24  # cells of a flow that may serve other sides: what rests on long ones holds too many cells down
    dear: float = 2.0  # paths at more than so many times what is left to spend are not sought
    crowd: int = 60  # requirements that a neighbourhood may concern
    tie: float = 1e-6  # price of a cell that is hidden anyway, in mean costs: short flows hold fewer cells down
    keep: float = 1e-3  # price of a cell that is hidden so far, as a share of its cost
    batch: int = 64  # attempts between two looks at the deadline
    related: int = 6  # cells that are shaken together, at most, beside the first
    many_paths: int = 2000  # paths of one flow, after which they are taken by length alone: that ends
    first_slice: float = 3.0  # seconds for neighbourhoods, twice as many every time


@dataclass(frozen=True)
class DriverTuning:
    """Of `driver`: how its time is divided, on all tables of benchmarks/csp.py."""

    repair_steps: int = 30  # patterns on the way to one without shortcomings
    first_share: float = 0.6  # of the time for a first pattern and its improvement, before any bound
    guided_share: float = 0.3  # the same where a bound takes seconds, and completing its solution finds more
    gaining_share: float = 0.9  # the same where sweeps still win much: of a large table no bound says as much
    longer: float = 1.2  # a later check may take so many times as long
    patience: int = 10  # fruitless goes at a better pattern before something else is tried
    tolls: tuple[float, ...] = (0.3, 1.0, 10.0, 1e3)  # on every cell, in typical weights, where their number is capped


@dataclass(frozen=True)
class BoxTuning:
    """Of `box_search`: business tables of 3 125 to 84 693 cells, and `mid` of the benchmarks."""

    free: float = 1e-3  # price of a cell that is hidden already, in typical weights
    tie: float = 1e-7  # of a typical weight: of two patterns that cost the same, the one with fewer cells
    smallest: int = 1500  # cells: below that linear programs take no time
    programs: int = 12_000  # cells: above that linear programs never go on from boxes (24 966: nothing in 8 s)
    nearby: float = 7e6  # entries that a linear program may look at for a move
    far: float = 1e9  # the same for a requirement that boxes cannot serve, where the table is not small:
    whole: int = 6_000  # cells: up to here it may look at the whole table as often as it likes
    bounded: int = 6_000  # cells: above that cuts say nothing in any time, and all of it is for the pattern
    gain: float = 2e-3  # of the cost: with less than this in a pass through all cells, linear programs go on
    parted: int = 20_000  # cells: from here on parts of the table are improved side by side,
    parts: int = 12  # so many at most
    again: float = 2.0  # neighbourhoods for each cell that another part than the best has published
    mended: int = 40  # times that a pattern may be mended for sums that it tells,
    mended_pruned: int = 2  # and is pruned after that
    longer: float = 1.5  # than the last time: how long that may take
    starts_first: int = 2  # of a box, for a first pattern
    starts: int = 4
    efforts: tuple[float, ...] = (50.0, 1000.0)  # a box takes the cell at least so small a part of its way
    slice: int = 500  # requirements, or rounds, between two looks at the time
    noise: float = 0.35  # logarithm of prices
    entries: int = 200_000  # cells of moves that there is space for at first
    per_cell: int = 12  # and so many more for each cell of the table
    shortest: int = 8  # cells of a move: there is space for so many fewer moves
    touched: int = 20_000  # cells of the longest move
    undone: int = 4_000  # moves that a round may take out or add
    draws: int = 65_536  # random numbers at a time
    true: float = 1e-8  # what a relation may be off by, as a share of the move
    members: int = 4  # of a union that are tried, each without the others


BOUND, TREE, PARTS, EXCHANGE = BoundTuning(), TreeTuning(), PartsTuning(), ExchangeTuning()
LOCAL, NETWORK, DRIVER, BOXES = LocalTuning(), NetworkTuning(), DriverTuning(), BoxTuning()
