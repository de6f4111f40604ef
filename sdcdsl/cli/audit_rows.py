"""What an audit found, in rows: one a pair, one a revealed cell, one a sum that is given away; and why.

A bound (`sdcdsl.proof.bound`) says y_p = Σ c_i y_i + γ b for every table that keeps the sums. With each cell at the end
of its interval that drives y_p furthest, the terms of that sum are the computation an attacker would make: they show
which published cells give a cell away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sdcdsl.attack.task import DOWN, UP
from sdcdsl.audit import Audit
from sdcdsl.audit.audit import WORDS
from sdcdsl.audit.intervals import EXACT
from sdcdsl.pattern.pattern import HIDDEN
from sdcdsl.proof.bound import Bound
from sdcdsl.proof.exact import TOLERANCE

DIGITS = 12  # that ends of intervals are shown with; what lies behind them is rounding


@dataclass(frozen=True)
class Term:
    """What one cell contributes to the end of an interval: `factor` times `end`, the furthest it is known to go."""

    cell: int
    factor: float
    end: float
    hidden: bool

    @property
    def amount(self) -> float:
        return self.factor * self.end


@dataclass(frozen=True)
class Reason:
    """Why a cell goes no further up, or down, than `end`: the sum of the terms and a constant."""

    up: bool
    end: float
    terms: tuple[Term, ...]  # the largest amounts first
    constant: float


class Rows:
    """The rows of one audited block. Labels and reasons are worked out when they are required."""

    def __init__(self, name: str, made: Audit) -> None:
        self.name, self.made = name, made
        self.problem, self.pairs = made.problem, made.proofs.problem.pairs
        self.a = made.proofs.problem.system.a
        self._labels: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.pairs)

    def label(self, cell: int) -> str:
        """Kept: a published cell gives many others away."""
        if cell not in self._labels:
            self._labels[cell] = self.problem.label(cell)
        return self._labels[cell]

    def cell(self, pair: int) -> str:
        return self.label(int(self.pairs.cell[pair]))

    def attacker(self, pair: int) -> str:
        return self.problem.attackers[int(self.pairs.attacker[pair])]

    @property
    def attacked(self) -> bool:
        return self.made.distance is None

    # ---- pairs -------------------------------------------------------------------------------------

    def all_pairs(self) -> Iterator[dict[str, Any]]:
        for pair, letter in enumerate(self.made.verdicts.tolist()):
            yield {
                "block": self.name,
                "cell": self.cell(pair),
                "attacker": self.attacker(pair),
                "value": self.number(self.value[pair], pair),
                "low": self.number(self.low[pair], pair) if self.attacked else None,
                "high": self.number(self.high[pair], pair) if self.attacked else None,
                "low_is": self.low_is(pair) if self.attacked else None,
                "high_is": self.high_is(pair) if self.attacked else None,
                "needed_low": self.number(self.value[pair] - self.pairs.lpl[pair], pair),
                "needed_high": self.number(self.value[pair] + self.pairs.upl[pair], pair),
                "needed_width": self.number(self.pairs.spl[pair], pair),
                "short_below": self.number(self.short_below[pair], pair),
                "short_above": self.number(self.short_above[pair], pair),
                "short_width": self.number(self.short_width[pair], pair),
                "released": self.number(self.released[pair], pair),
                "verdict": WORDS[letter],
                "given_away_by": self.given_away_by(pair) if letter == "e" else [],
            }

    def number(self, x: float, pair: int) -> float | int | None:
        """Without the noise of the last bits, as small as it is beside the cell itself."""
        return tidy(float(x), float(abs(self.value[pair])))

    @cached_property
    def value(self) -> np.ndarray:
        return self.a[self.pairs.cell]

    @property
    def low(self) -> np.ndarray:
        return self.made.low

    @property
    def high(self) -> np.ndarray:
        return self.made.high

    def low_is(self, pair: int) -> str:
        """What is proved of the lower end: exact, at least, at most."""
        return str(self.made.intervals.kind[DOWN, pair])

    def high_is(self, pair: int) -> str:
        return str(self.made.intervals.kind[UP, pair])

    @property
    def inexact(self) -> int:
        """Ends that are not proved to be exact."""
        return int((self.made.intervals.kind != EXACT).sum()) if self.attacked else 0

    @cached_property
    def released(self) -> np.ndarray:
        """The figure that is printed for the cell; nan if none is."""
        return self.made.pattern.value[self.pairs.cell]

    @cached_property
    def short_below(self) -> np.ndarray:
        """By how much a pair is proved to fall short of its level; 0 where it is not."""
        return self._short(self.most[DOWN], self.pairs.lpl)

    @cached_property
    def short_above(self) -> np.ndarray:
        return self._short(self.most[UP], self.pairs.upl)

    @cached_property
    def short_width(self) -> np.ndarray:
        return self._short(self.most.sum(axis=0), self.pairs.spl)

    @property
    def most(self) -> np.ndarray:
        return self.made.intervals.most

    def _short(self, most: np.ndarray, level: np.ndarray) -> np.ndarray:
        return np.where(self.attacked & (most < level * (1 - TOLERANCE)), level - most, 0.0)

    @cached_property
    def known_exactly(self) -> np.ndarray:
        """Pairs whose interval is proved to be a point, as far as figures are shown."""
        return self.attacked & (self.most.sum(axis=0) <= 10.0**-DIGITS * np.abs(self.value))

    @cached_property
    def missing(self) -> np.ndarray:
        """The largest share of a level that is missing: 1 if the attacker knows the cell exactly."""
        short = (self.short_below, self.short_above, self.short_width)
        levels = (self.pairs.lpl, self.pairs.upl, self.pairs.spl)
        shares = [s / np.where(level > 0, level, 1.0) for s, level in zip(short, levels, strict=True)]
        return np.max(np.stack(shares), axis=0) + self.known_exactly

    # ---- why ---------------------------------------------------------------------------------------

    def given_away_by(self, pair: int) -> list[str]:
        """Published cells without which the bounds would not hold, the largest first."""
        cells = (term.cell for reason in self.reasons(pair) for term in reason.terms if not term.hidden)
        return [self.label(cell) for cell in dict.fromkeys(cells)]

    def reasons(self, pair: int) -> list[Reason]:
        """Of the sides that fall short; of both if their sum does. One is enough for a cell that is known exactly."""
        wide = self.short_width[pair] > 0
        sides = [up for up, short in ((False, self.short_below), (True, self.short_above)) if wide or short[pair] > 0]
        found = [self._bounds[pair, up] for up in sides if (pair, up) in self._bounds]
        if self.known_exactly[pair] and found:
            found = [min(found, key=lambda bound: len(bound.equations))]
        return [self._reason(bound) for bound in found]

    @cached_property
    def _bounds(self) -> dict[tuple[int, bool], Bound]:
        """The best bound of each pair and side, which is the last."""
        return {(bound.pair, bound.up): bound for bound in self.made.proofs.bounds}

    def _reason(self, bound: Bound) -> Reason:
        problem = self.made.proofs.problem
        at, cell, coefficient = problem.system.by_equation.of(bound.equations)
        gamma = bound.gamma / bound.denominator
        own = int(self.pairs.cell[bound.pair])
        cells, group = np.unique(np.append(cell, own), return_inverse=True)
        factor = np.bincount(group, weights=np.append(-coefficient * gamma[at], 1.0))
        some = np.abs(factor) > TOLERANCE
        cells, factor = cells[some], factor[some]
        low, high = problem.regions.box(int(self.pairs.attacker[bound.pair]), cells)
        end = np.where((factor > 0) == bound.up, high, low)
        hidden = self.made.pattern.status[cells] == HIDDEN
        terms = [
            Term(c, f, e, h)
            for c, f, e, h in zip(cells.tolist(), factor.tolist(), end.tolist(), hidden.tolist(), strict=True)
        ]
        terms.sort(key=lambda term: -abs(term.amount))
        constant = float(gamma @ problem.system.b[bound.equations]) if len(gamma) else 0.0
        return Reason(bound.up, sum(term.amount for term in terms) + constant, tuple(terms), constant)

    # ---- beside the pairs --------------------------------------------------------------------------

    def revealed(self) -> list[dict[str, Any]]:
        """Hidden cells that nobody marked and that an attacker computes nevertheless."""
        view_of = self.made.proofs.problem.regions.view_of
        out = []
        for cell, view in zip(self.made.revealed.tolist(), self.made.revealed_by.tolist(), strict=True):
            who = np.flatnonzero(view_of == view)
            attacker = self.problem.attackers[int(who[0])] if len(who) else ""
            value = tidy(float(self.a[cell]))
            out.append({"block": self.name, "cell": self.label(cell), "value": value, "attacker": attacker})
        return out

    def pinned_sums(self) -> list[dict[str, Any]]:
        """Sums of sensitive cells that follow from published ones, the shortest first."""
        system, regions = self.made.proofs.problem.system, self.made.proofs.problem.regions
        out = []
        for equation in self.made.pinned.tolist():
            _, cells, _ = system.by_equation.of(np.array([equation]))
            members = cells[regions.low[0, cells] < regions.high[0, cells]]
            row = {"block": self.name, "cells": [self.label(int(c)) for c in members]}
            out.append({**row, "value": tidy(float(self.a[members].sum())), "relation": equation})
        return sorted(out, key=lambda row: len(row["cells"]))

    def broken(self) -> list[str]:
        if self.made.distance is None:
            return []
        return [str(self.problem.relations.label(e) or f"relation {e}") for e in self.made.distance.broken.tolist()]

    def outside(self) -> list[str]:
        if self.made.distance is None:
            return []
        return [self.label(cell) for cell in self.made.distance.outside.tolist()]


def tidy(x: float, size: float = 0.0) -> float | int | None:
    """JSON has no infinity and no NaN; whole numbers look better without a point."""
    if not math.isfinite(x):
        return None
    size = max(abs(x), size) if math.isfinite(size) else abs(x)
    rounded = round(x, DIGITS - math.ceil(math.log10(size))) if size > 0 else 0.0
    return int(rounded) if float(rounded).is_integer() and abs(rounded) < 2**53 else rounded
