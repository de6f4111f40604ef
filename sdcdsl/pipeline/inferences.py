"""What attackers infer about one cell: exact intervals, who asked for how much, and tables they cannot rule out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from sdcdsl.audit import audit
from sdcdsl.audit.problem import stated_pairs
from sdcdsl.bind.problem import TableProblem
from sdcdsl.pattern import Pattern
from sdcdsl.pipeline.cell_facts import Statement
from sdcdsl.pipeline.publication_effect import Interval, interval_of, narrowed
from sdcdsl.policy.meaning import LEVELS

MOVERS = 5  # other cells of a table that are named
JUST_BEYOND = 1 + 1e-5  # surveys ask for a little more than the level, which nobody wants to read


@dataclass(frozen=True)
class FeasibleValue:
    """Another cell of a table that is as possible as the true one."""

    cell: int
    true: float
    there: float


@dataclass(frozen=True)
class FeasibleTable:
    """A table that an attacker cannot tell from the true one: what it says of the cell, and what of others."""

    value: float
    moves: tuple[FeasibleValue, ...]  # the largest first
    moved: int  # how many there are


@dataclass(frozen=True)
class Inferred:
    """One attacker and the cell. `required_by` names the statements behind the levels."""

    attacker: str
    interval: Interval
    lpl: float
    upl: float
    spl: float
    required_by: dict[str, Statement]
    conditional: bool = False  # asked for only because the cell is not published as it is
    cut: bool = False  # the attacker contributes so much itself that the level was cut
    others: tuple[FeasibleTable, ...] = ()

    def slack(self, value: float) -> dict[str, float]:
        """What is left beyond each level that is required; below zero it is missing."""
        down, up = value - self.interval.low, self.interval.high - value
        found = {"below": (self.lpl, down), "above": (self.upl, up), "width": (self.spl, down + up)}
        return {side: left - level for side, (level, left) in found.items() if level > 0}

    def share_left(self, value: float) -> float:
        """By how large a share the tightest level is kept; the smallest stands for the attacker who comes nearest."""
        levels = {"below": self.lpl, "above": self.upl, "width": self.spl}
        return min((left / levels[side] for side, left in self.slack(value).items()), default=np.inf)


def inferences(problem: TableProblem, pattern: Pattern, cell: int) -> tuple[Inferred, ...]:
    """Every attacker from whom the cell is to be kept, the nearest first; with tables for that one."""
    data = problem.dataset
    pairs = np.arange(data.sizes["pair"])[stated_pairs(problem, pattern)]
    pairs = pairs[data["cell_at"].values[pairs] == cell]
    if not len(pairs):
        return ()
    made = audit(narrowed(problem, pairs), pattern)
    out = [_inferred(problem, int(pair), interval_of(made, i)) for i, pair in enumerate(pairs.tolist())]
    value = float(data["a"].values[cell])
    order = sorted(range(len(out)), key=lambda i: out[i].share_left(value))
    nearest = order[0]
    others = _others(narrowed(problem, pairs[nearest : nearest + 1]), pattern, out[nearest], value)
    out[nearest] = replace(out[nearest], others=others)
    return tuple(out[i] for i in order)


def _inferred(problem: TableProblem, pair: int, interval: Interval) -> Inferred:
    data = problem.dataset
    cell, attacker = int(data["cell_at"].values[pair]), problem.attackers[int(data["attacker_at"].values[pair])]
    amounts = {level: float(data[level].values[pair]) for level in LEVELS}
    required_by: dict[str, Statement] = {}
    cut = False
    for one in problem.attacker_levels:
        if one.attacker != attacker.split(" ", 1)[0]:
            continue
        for level in LEVELS:
            number = int(one.spans[level][cell])
            if amounts[level] > 0:
                span = one.statements[number] if number >= 0 else None
                required_by[level] = Statement.of(span, "" if span is not None else "the level of the file")
            cut |= amounts[level] < float(one.amounts[level][cell])
    conditional = "conditional" in data and bool(data["conditional"].values[pair])
    return Inferred(attacker, interval, amounts["lpl"], amounts["upl"], amounts["spl"], required_by, conditional, cut)


def outsider(problem: TableProblem, pattern: Pattern, cell: int) -> Inferred:
    """Somebody who sees the release, knows what the first attacker of the block knows, and contributes nothing."""
    data = problem.dataset
    insiders = data["view_of"].values[data["known_attacker"].values]
    view = next((v for v in range(data.sizes["view"]) if v not in insiders), 0)
    one = {level: ("pair", np.zeros(1)) for level in LEVELS}
    one |= {"cell_at": ("pair", np.array([cell])), "attacker_at": ("pair", np.zeros(1, dtype=np.int64))}
    bare = data.drop_dims(["pair", "attacker"]).isel(known=slice(0, 0))
    alone = replace(
        problem,
        dataset=bare.assign({"view_of": ("attacker", np.array([view])), **one}),
        attackers=(problem.attacker_levels[view].attacker if view < len(problem.attacker_levels) else "an outsider",),
    )
    found = Inferred(alone.attackers[0], interval_of(audit(alone, pattern), 0), 0.0, 0.0, 0.0, {})
    return replace(found, others=_others(alone, pattern, found, float(data["a"].values[cell])))


def _others(alone: TableProblem, pattern: Pattern, found: Inferred, value: float) -> tuple[FeasibleTable, ...]:
    """A table below and one above the truth, of a problem with one pair: as far as the level requires, or to the end of
    the interval where less is possible or nothing is required."""
    open_end = max(abs(value), 1.0)
    goals: list[float] = []
    for level, slack in ((found.lpl, value - found.interval.low), (found.upl, found.interval.high - value)):
        far = slack if np.isfinite(slack) else open_end
        goals.append(min(level, slack) if level > 0 else far)
    levels_of = {"lpl": goals[0], "upl": goals[1], "spl": 0.0}
    levels = {name: ("pair", np.array([max(goal, 0.0)])) for name, goal in levels_of.items()}
    with_levels: xr.Dataset = alone.dataset.assign(levels)
    made = audit(replace(alone, dataset=with_levels), pattern, exact=False)
    a = made.proofs.problem.system.a
    own = int(made.proofs.problem.pairs.cell[0])
    shown = alone.dataset["published"].values
    out: list[FeasibleTable] = []
    for up in (False, True):
        claims = [c for c in made.proofs.claims if len(c.up if up else c.down)]
        if not claims:
            continue
        witness, step = made.proofs.witnesses[claims[-1].witness], claims[-1].step
        move = dict(zip(witness.cells.tolist(), (step * witness.move).tolist(), strict=True))
        goal = goals[up]
        if goal < abs(move[own]) <= goal * JUST_BEYOND:  # on the way there every table is as possible
            move = {cell: by * goal / abs(move[own]) for cell, by in move.items()}
        others = [(c, by) for c, by in move.items() if c != own and shown[c] and by]
        others.sort(key=lambda one: -abs(one[1]))
        moves = tuple(FeasibleValue(c, float(a[c]), float(a[c] + by)) for c, by in others[:MOVERS])
        out.append(FeasibleTable(float(a[own] + move[own]), moves, len(others)))
    return tuple(out)
