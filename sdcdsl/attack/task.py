"""What a survey is asked and what it answers: plain arrays, so that both can be sent to another process."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdcdsl.attack.reduction import Component

DOWN, UP = 0, 1


@dataclass(frozen=True, eq=False)
class TaskPairs:
    """Pairs within one component. Attackers are numbered within the task; needs are amounts, for DOWN and UP."""

    cell: np.ndarray  # int64 [pair]
    attacker: np.ndarray  # int64 [pair]
    need: np.ndarray  # float64 [2, pair]
    slide: np.ndarray  # float64 [pair]: what both sides together need

    def __len__(self) -> int:
        return len(self.cell)


@dataclass(frozen=True, eq=False)
class OwnKnowledge:
    """What single attackers know beyond the view, as bounds on d: sorted by attacker."""

    attacker: np.ndarray
    cell: np.ndarray
    l: np.ndarray
    u: np.ndarray

    @staticmethod
    def nothing() -> OwnKnowledge:
        nobody = np.zeros(0, dtype=np.int64)
        return OwnKnowledge(nobody, nobody, np.zeros(0), np.zeros(0))


# The ends l and u of the cells, and those of what single attackers know.
WholeBox = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class AttackTask:
    """All that one worker needs to know; made of arrays, so that it can be sent to another process."""

    component: Component
    pairs: TaskPairs
    known: OwnKnowledge
    attackers: int
    exact: bool = False
    engine: str | None = None
    watch: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # cells: can they move at all?
    to_the_end: bool = False  # ends will be asked for later: where a side falls short, find out by how much
    settled: np.ndarray | None = None  # float64 [2, pair]: ends known from an earlier survey; nan where none is
    prove: bool = False  # ends are checked by arithmetic: `least` and `most` of the findings
    box: WholeBox | None = None  # where the component's is cut off


@dataclass(frozen=True, eq=False)
class Refutation:
    """Multipliers that show that a side of some pairs goes no further: of one pair in the box of its attacker, of
    several in the box of the view."""

    pairs: np.ndarray  # int64, all about the same cell
    side: int
    equations: np.ndarray
    gamma: np.ndarray


@dataclass(eq=False)
class Findings:
    """What was found about the pairs of a task."""

    reached: np.ndarray  # float64 [2, pair]: goes at least so far; ∞ if nothing ends it
    closed: np.ndarray  # bool [2, pair]: and no further, as far as the engine can tell
    witness: np.ndarray  # int64 [2, pair]: the move that shows it, -1 for none
    step: np.ndarray  # float64 [2, pair]: times this, negative for reversed
    moves: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    refutations: list[Refutation] = field(default_factory=list)
    still: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # watched cells that cannot move
    failures: list[str] = field(default_factory=list)  # what a solver said instead of an answer
    questions: int = 0
    # float64 [2, pair], of tasks that `prove`: how far a table was checked to go, and how far none was checked to go
    least: np.ndarray = field(default_factory=lambda: np.zeros((2, 0)))
    most: np.ndarray = field(default_factory=lambda: np.zeros((2, 0)))
    fixed: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))  # [pair]: no box would let it move
