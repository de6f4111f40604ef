"""What a cell that is not published is good for: publish this one, leave all others as they are, and attack again.

Publishing a cell takes slack from the cells that are connected with it through relations, and from nobody else: only
their pairs are attacked. Those that were protected and no longer are make up what the cell is needed for; if there are
none, it could be published by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sdcdsl.attack.reduction import ReducedRelations, Reduction
from sdcdsl.attack.session import around
from sdcdsl.audit import Audit, audit
from sdcdsl.audit.audit import WORDS
from sdcdsl.audit.intervals import EXACT as EXACT_END
from sdcdsl.audit.problem import stated_pairs
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pattern.pattern import EXACT

LISTED = 200  # intervals that are worked out to their ends


@dataclass(frozen=True)
class Interval:
    """What an attacker knows about a cell, and whether that is little enough."""

    low: float
    high: float
    verdict: str
    low_is: str  # what is proved of the ends: exact, at least, at most
    high_is: str

    @property
    def point(self) -> bool:
        """Whether the attacker knows the value, as far as figures are shown."""
        size = max(abs(self.low), abs(self.high))
        return size < np.inf and self.high - self.low <= 1e-12 * size and self.low_is == self.high_is == EXACT_END


@dataclass(frozen=True)
class Loss:
    """A cell that is protected as long as another is not published, and the attacker who would come nearest to it."""

    cell: int
    attacker: str
    attackers: int  # from how many it would no longer be kept
    value: float
    lpl: float
    upl: float
    spl: float
    before: Interval
    after: Interval

    @property
    def below(self) -> float:
        """How far below its value the attacker would have to think the cell possible."""
        return self.value - self.after.low

    @property
    def above(self) -> float:
        return self.after.high - self.value

    @property
    def narrower(self) -> bool:
        """By more than rounding."""
        tolerance = 1e-6 * max(abs(self.value), self.lpl, self.upl, self.spl)
        return self.after.low > self.before.low + tolerance or self.after.high < self.before.high - tolerance

    @property
    def missing(self) -> float:
        """The largest share of a level that would be missing."""
        sides = ((self.lpl, self.below), (self.upl, self.above), (self.spl, self.below + self.above))
        return max((1 - left / level for level, left in sides if level > 0), default=0.0)


@dataclass(frozen=True, eq=False)
class Publishing:
    """What would become of the release if one more cell were published as it is."""

    connected: np.ndarray  # pairs of other cells that could suffer
    lost: np.ndarray  # those that would
    cells: int  # of how many cells
    losses: tuple[Loss, ...]  # one a cell, the worst first, as many as anybody reads
    exposed_anyway: int  # connected pairs that are not protected as it is
    worse: tuple[Loss, ...] = ()  # cells of those that attackers would know more closely still

    @property
    def needed(self) -> bool:
        return bool(len(self.lost))


def needed_for(problem: TableProblem, pattern: Pattern, cell: int) -> Publishing:
    """For a pattern that attackers can be simulated with (`pattern.claims`)."""
    assert pattern.claims
    connected = connected_pairs(problem, pattern, cell)
    with_it = published(problem, pattern, cell)
    after = audit(narrowed(problem, connected), with_it, exact=False)
    fail = after.verdicts != "p"
    suspects, missing = connected[fail], _missing(after)[fail]
    before = audit(narrowed(problem, suspects), pattern, exact=False)
    was = before.verdicts == "p"
    lost, others = suspects[was], suspects[~was]
    losses = _losses(problem, pattern, with_it, lost, missing[was])
    worse = _losses(problem, pattern, with_it, others, missing[~was])
    cells = len(np.unique(problem.dataset["cell_at"].values[lost]))
    return Publishing(connected, lost, cells, losses, len(others), tuple(loss for loss in worse if loss.narrower))


def _missing(made: Audit) -> np.ndarray:
    """The largest share of a level that each pair is proved to miss."""
    pairs, proofs = made.proofs.problem.pairs, made.proofs
    down, up = proofs.most_down, proofs.most_up
    sides = ((pairs.lpl, down), (pairs.upl, up), (pairs.spl, down + up))
    return np.max(
        [1 - np.minimum(most, level) / np.where(level > 0, level, 1.0) - (level <= 0) for level, most in sides], axis=0
    )


def published(problem: TableProblem, pattern: Pattern, cell: int) -> Pattern:
    """The pattern with one more cell published as it is."""
    a = problem.dataset["a"].values[cell]
    low, high, value, status = (x.copy() for x in (pattern.low, pattern.high, pattern.value, pattern.status))
    low[cell] = high[cell] = value[cell] = a
    status[cell] = EXACT
    return replace(pattern, low=low, high=high, value=value, status=status)


def narrowed(problem: TableProblem, pairs: np.ndarray) -> TableProblem:
    """The same table, with nothing to protect but these pairs."""
    return replace(problem, dataset=problem.dataset.isel(pair=pairs))


def connected_pairs(problem: TableProblem, pattern: Pattern, cell: int) -> np.ndarray:
    """Pairs of other cells whose slack is connected with that of the cell, in the eyes of the pair's attacker."""
    d = problem.dataset
    relations = ReducedRelations(
        d["coefficient"].values.astype(float), d["cell_of"].values, d["equation_of"].values, problem.n, problem.m
    )
    low, high = pattern.seen(d["low"].values, d["high"].values)
    pairs = np.arange(d.sizes["pair"])[stated_pairs(problem, pattern)]
    about, view = d["cell_at"].values[pairs], d["view_of"].values[d["attacker_at"].values[pairs]]
    out = np.zeros(len(pairs), dtype=bool)
    for one in np.unique(view):
        if not high[one, cell] > low[one, cell]:
            continue  # whoever sees this knows the cell already
        of = Reduction(relations, *around(d["a"].values, low[one], high[one])).of
        out |= (view == one) & (about != cell) & (of[about] == of[cell])
    return pairs[out]


def _losses(
    problem: TableProblem, before: Pattern, after: Pattern, pairs: np.ndarray, missing: np.ndarray
) -> tuple[Loss, ...]:
    """One for each cell, with the attacker who comes nearest; where there are very many, one who is proved to."""
    if not len(pairs):
        return ()
    d = problem.dataset
    order = np.argsort(-missing, kind="stable")
    cells, first, times = np.unique(d["cell_at"].values[pairs[order]], return_index=True, return_counts=True)
    of_cell = dict(zip(cells.tolist(), times.tolist(), strict=True))
    few = narrowed(problem, pairs if len(pairs) <= LISTED else pairs[order[np.sort(first)[:LISTED]]])
    then, now = audit(few, before), audit(few, after)
    cell, attacker = (few.dataset[name].values.tolist() for name in ("cell_at", "attacker_at"))
    lpl, upl, spl = (few.dataset[level].values.tolist() for level in ("lpl", "upl", "spl"))
    found: list[Loss] = []
    for i, c in enumerate(cell):
        who, value = problem.attackers[int(attacker[i])], float(d["a"].values[c])
        intervals = interval_of(then, i), interval_of(now, i)
        found.append(Loss(c, who, of_cell[c], value, lpl[i], upl[i], spl[i], *intervals))
    found.sort(key=lambda loss: -loss.missing)
    nearest: dict[int, Loss] = {}
    for loss in found:
        nearest.setdefault(loss.cell, loss)
    return tuple(nearest.values())


def interval_of(made: Audit, pair: int) -> Interval:
    """Of an exact audit."""
    below, above = (str(kind) for kind in made.intervals.kind[:, pair])
    return Interval(float(made.low[pair]), float(made.high[pair]), WORDS[str(made.verdicts[pair])], below, above)
