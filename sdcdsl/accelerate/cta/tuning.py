"""What the search for senses was tuned by: the tables of CSPLIB and the look-alikes of paper 000 (the suite
`cta_senses` of the benchmarks)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchTuning:
    """Shares are of the time that is left, at most."""

    all_tried: int = 6  # cells with a level, all of whose senses are tried
    flips: float = 0.6
    relaxation: float = 0.35
    blocks: float = 0.6
    tree: float = 0.7
    first_look: float = 0.2  # of the tree's time
    promising: float = 0.7  # of the gap may be left after it
    dives: float = 0.3  # of the tree's time
    few: int = 300  # groups: so many are left to the mixed-integer problem at once, more to blocks first
    first_choices: int = 10  # groups that may go either way, all of whose choices are tried for a start
    penalty: float = 1e4  # of a group's cost, for going against its direction
    slow: float = 1e-5  # of the bound: rounds of cuts that bring less are not worth their time
    flip_share: int = 4  # of the promising flips, the first try makes one in so many
    nearby: int = 3  # whole numbers above the lowest that a group may take near the continuous optimum
    cells: float = 4.0  # times as long as the first table of the groups, for that of all cells,
    least_cells: float = 1.0  # and of so many seconds at least
    wide: float = 1e4  # in typical levels: the end of groups that choose and have none


@dataclass(frozen=True)
class DiveTuning:
    share: float = 0.15  # of the b that are open, fixed at a time
    sure: float = 0.01  # b so near to 0 or 1 are fixed as well
    chance: float = 0.2  # how far a draw may move a b before it is rounded
    kept: float = 0.8  # of the b that agree with the best directions


@dataclass(frozen=True)
class BlockTuning:
    sizes: tuple[tuple[int, int], ...] = ((600, 10), (1500, 16), (3000, 24), (6000, 40))  # groups that move; that flip
    steps: int = 8  # of the walk that chooses them
    stay: float = 0.85  # how far it goes
    nodes: int = 60  # of the tree over a block
    one: float = 1 / 2  # of the time that is left, for one block at most: large ones may take very long
    ahead: float = 1e-3  # of the objective a second: what a size is believed to bring before it was tried


@dataclass(frozen=True)
class TreeTuning:
    first: int = 24  # b that are tried at the first nodes
    then: int = 6  # and at later ones
    nodes: int = 4  # that are the first ones
    rounds: int = 4  # of cuts at a node
    most_rounds: int = 50  # at one without anything to choose
    worth: float = 0.02  # of the gap: rounds of cuts that bring less end
    rounded: int = 8  # one node in so many is asked which way all its groups lean
    most_levels: int = 9  # groups with a level in a relation that has an envelope: there are 2^most_levels patterns
    envelope_steps: int = 200  # of the simplex method over them


@dataclass(frozen=True)
class NormTuning:
    """Norms other than L1. Shares are of the time that is left."""

    start: float = 0.3
    flips: float = 0.5
    branches: float = 0.5
    rounds: int = 40  # of tangents and mixed-integer problems
    points: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)  # times a group's move: where tangents stand at first


SEARCH, DIVE, BLOCK, TREE, NORM = SearchTuning(), DiveTuning(), BlockTuning(), TreeTuning(), NormTuning()
