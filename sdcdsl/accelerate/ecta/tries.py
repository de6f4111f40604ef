"""Tries: a draw made additive, its least β, and every attacker set on the region that readers would have.

Tries do not depend on each other but for the moves that attacks have found, which only save questions. So the first few
of a round are made one after another, and the others in blocks that begin with the moves of these: in whatever process
a block is tried, it finds the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from sdcdsl.accelerate.ecta.attacking import Move, RegionAttacks
from sdcdsl.accelerate.ecta.tables import AdjustedTables
from sdcdsl.accelerate.ecta.tuning import TUNING
from sdcdsl.deadline import Deadline
from sdcdsl.executing import Channel
from sdcdsl.methods.ecta.attempt import DOUBLED, EXPOSED, NONE, PROTECTED, Try
from sdcdsl.methods.ecta.deviations import Box, Table
from sdcdsl.methods.ecta.ranges import ValueRanges
from sdcdsl.methods.ecta.regions import published
from sdcdsl.methods.instance import Instance


@dataclass(frozen=True, eq=False)
class Terms:
    """What all tries of a search have in common. `cap` is the largest β that may be published, `most` the largest share
    by which other cells may be moved."""

    instance: Instance
    alpha: float
    cap: float
    most: float
    norm: str


@dataclass(eq=False)
class Tried:
    """What came of a block of tries."""

    tries: list[Try]
    moves: list[Move]
    questions: int
    failures: list[str]
    seconds: dict[str, float]


@dataclass(eq=False)
class TrySequence:
    """One try after another, with the moves that were found so far."""

    terms: Terms
    moves: list[Move] = field(default_factory=list)
    prepared: bool = False

    def __post_init__(self) -> None:
        t = self.terms
        self.tables = AdjustedTables(t.instance, t.cap, t.most, t.norm)
        self.attacks = RegionAttacks(t.instance)
        self.attacks.learn(self.moves)
        self.seconds = {"finding": 0.0, "auditing": 0.0}

    def draw(self, xi: np.ndarray, box: Box, inner: ValueRanges, deadline: Deadline) -> Try:
        """A draw of the sensitive cells; `inner` is where they are drawn from."""
        began = perf_counter()
        z = self.tables.nearest(xi, box, deadline)
        table = None if z is None else self.tables.least_beta(z, deadline)
        self.seconds["finding"] += perf_counter() - began
        return Try(NONE) if table is None else self.table(table, table.beta, inner)

    def table(self, table: Table, beta: float, inner: ValueRanges) -> Try:
        began = perf_counter()
        if not self.prepared:
            self.prepared = True
            self.attacks.prepare(*narrowest(self.terms.instance, inner, self.terms.alpha, TUNING.narrow * beta))
        self.seconds["auditing"] += perf_counter() - began
        made = self.attack(table, beta)
        twice = min(2 * beta, self.terms.cap)
        if made.outcome == EXPOSED and twice > beta:
            again = self.attack(table, twice)
            made = Try(DOUBLED, twice, table) if again.outcome == PROTECTED else again
        return made

    def attack(self, table: Table, beta: float) -> Try:
        began = perf_counter()
        pattern = published(self.terms.instance, table.z, self.terms.alpha, beta)
        short = self.attacks.short(pattern.low, pattern.high)
        self.seconds["auditing"] += perf_counter() - began
        return Try(EXPOSED if short else PROTECTED, beta, table, tuple(short))

    def take(self, other: Tried) -> None:
        """What a block has learned."""
        self.attacks.learn(other.moves)
        self.attacks.questions += other.questions
        self.tables.failures += other.failures
        for phase, passed in other.seconds.items():
            self.seconds[phase] += passed


def tried(
    terms: Terms,
    moves: list[Move],
    drawn: list[np.ndarray],
    box: Box,
    inner: ValueRanges,
    deadline: Deadline,
    line: Channel,
) -> Tried:
    """A block of tries."""
    trying = TrySequence(terms, moves, prepared=True)
    made: list[Try] = []
    for number, xi in enumerate(drawn):
        if deadline.expired:
            break
        one = trying.draw(xi, box, inner, deadline)
        made.append(one)
        line.say((number, one.outcome, None if line.discreet or one.table is None else one.beta))
    return Tried(made, trying.attacks.found, trying.attacks.questions, trying.tables.failures, trying.seconds)


def narrowest(instance: Instance, range_: ValueRanges, alpha: float, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """What the regions of all tables with sensitive cells in these ranges and this β have in common."""
    a, size = instance.a, np.abs(instance.a)
    v_low, v_high = a - beta / 2 * size, a + beta / 2 * size
    cells = np.flatnonzero(instance.sensitive)
    v_low[cells], v_high[cells] = range_.low, range_.high
    one, other = (published(instance, v - a, alpha, beta) for v in (v_low, v_high))
    return np.maximum(one.low, other.low), np.minimum(one.high, other.high)
