"""Tiny tables with conditional levels (paper 003 §7), and the best release of each by trying every set of cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from sdcdsl.bind.problem import TableProblem
from tests.methods.oracle import DOWN, UP, Oracle
from tests.methods.tiny_tables import SHAPES, tiny_table
from tests.tiers import short

EACH = 1
PAIRS = ["lpl", "upl", "spl", "cell_at", "attacker_at"]


def conditional(seed: int, shape: str) -> TableProblem:
    """A tiny table with levels for most cells that may be touched: some they cannot have."""
    problem = tiny_table(seed, shape)
    draw = np.random.default_rng(1000 + seed)
    d = problem.dataset
    status = d["status"].values
    pairs = [(k, c) for k in range(d.sizes["attacker"]) for c in np.flatnonzero(np.isin(status, ("s", "m"))).tolist()]
    pairs = [pair for pair in pairs if draw.random() < 0.7]
    levels = np.zeros((3, len(pairs)))
    oracle, far = Oracle(problem), 10.0 * max(float(np.abs(d["a"].values).max()), 1.0)
    for at, (k, cell) in enumerate(pairs):
        usual = max(abs(float(d["a"].values[cell])), 1.0)
        have = [min(oracle.reach_of(k, cell, side, oracle.everything(), far), usual) for side in (DOWN, UP)]
        levels[:2, at] = np.array(have) * draw.choice([0.0, 0.1, 0.3, 0.8], 2)
        levels[2, at] = sum(have) * draw.choice([0.0, 0.0, 0.5])
        if draw.random() < 0.1 and status[cell] == "s":
            levels[UP, at] += usual  # more than there is, perhaps
    levels[levels < 1e-3] = 0.0
    more = [*levels, np.array([c for _, c in pairs], dtype=np.int64), np.array([k for k, _ in pairs], dtype=np.int64)]
    flag = np.concatenate([np.zeros(d.sizes["pair"], dtype=bool), np.ones(len(pairs), dtype=bool)])
    joined = {name: np.concatenate([d[name].values, values]) for name, values in zip(PAIRS, more, strict=True)}
    rest = d.drop_vars(PAIRS)
    new = xr.Dataset({name: ("pair", values) for name, values in (joined | {"conditional": flag}).items()})
    return replace(problem, dataset=xr.merge([rest, new]).assign_attrs(d.attrs))


class Conditioned(Oracle):
    """Who hides less may protect more here: every set is tried."""

    def counting(self, touched: np.ndarray) -> list[int]:
        flag = self.problem.dataset["conditional"].values
        return [pair for pair, (_, cell) in enumerate(self.pairs) if not flag[pair] or touched[cell]]

    def exposed(self, hidden: np.ndarray) -> list[int]:
        return [pair for pair in self.counting(hidden) if not self.protected(pair, hidden)]

    def keeps(self, hidden: np.ndarray) -> bool:
        return all(self.protected(pair, hidden) for pair in self.counting(hidden))

    def sets(self) -> Iterator[np.ndarray]:
        free = self.choice
        for code in range(1 << len(free)):
            hidden = self.always.copy()
            hidden[free[(code >> np.arange(len(free))) & 1 == 1]] = True
            yield hidden

    def cheapest(self, w=None, cap=None) -> float | None:
        by_cost = sorted(self.sets(), key=self.cost)
        return next((self.cost(hidden) for hidden in by_cost if self.keeps(hidden)), None)

    def cheapest_intervals(self) -> float | None:
        return self.cheapest_mixture(np.zeros(self.n, dtype=bool))

    def cheapest_mixture(self, suppress: np.ndarray) -> float | None:
        """`suppress` [cell]: hidden where touched; all others have an interval. The least over every set of cells that
        are touched, of what hiding costs and of the linear program for the intervals."""
        best = None
        d = self.problem.dataset
        status = d["status"].values
        for touched in self.sets():
            if not self.keeps(touched):  # whole slacks do not protect: no intervals do
                continue
            gone = touched & suppress
            forms = np.where(gone, "m", np.where(touched | self.always, status, "z"))
            kept = self.counting(touched | self.always)
            only = replace(self.problem, dataset=d.isel(pair=kept).assign(status=("cell", forms)))
            cost = Oracle(only).intervals()
            if cost is not None and suppress.any():
                cost += self.cost(gone | (status == "m"))
            if cost is not None and (best is None or cost < best):
                best = cost
        return best


def tables() -> list[Any]:
    first = [(shape, 0) for shape in SHAPES]
    more = [(shape, seed) for shape in SHAPES for seed in range(1, EACH)]
    return short(len(first), [*first, *more, ("2-D", 2), ("linked hierarchy", 1)])
