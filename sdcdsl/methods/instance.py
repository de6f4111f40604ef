"""What methods need of a table problem: numbers only, centred on the truth (d = y - a), in the papers' letters.

    M d = 0,    -LB_i^k ≤ d_i ≤ UB_i^k      what attacker k has to reckon with in cell i if nothing is said about it

Cells that are open whatever a method decides (unions of cells, which nobody publishes; cells that are hidden already)
cost nothing more. A *side* is one direction of a pair with a level to reach there.

Pairs of cells that are not sensitive may be *conditional* (003 §7): their levels hold if the cell is touched. Whoever
does not look at `conditional` takes them for levels like others, which requires too much and never too little.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sdcdsl.bind.problem import TableProblem

DOWN, UP = 0, 1


@dataclass(frozen=True, eq=False)
class Requirements:
    """Directions with a level to reach: `sign` times d of `cell` must get as far as `need` for `attacker`."""

    pair: np.ndarray  # int64
    side: np.ndarray  # DOWN or UP
    cell: np.ndarray
    attacker: np.ndarray
    need: np.ndarray

    def __len__(self) -> int:
        return len(self.pair)

    @property
    def sign(self) -> np.ndarray:
        return 2 * self.side - 1


class Instance:
    def __init__(self, problem: TableProblem):
        self.problem = problem
        d = problem.dataset
        self.a: np.ndarray = d["a"].values
        self.n, self.m = problem.n, problem.m
        entries = (d["coefficient"].values.astype(float), (d["equation_of"].values, d["cell_of"].values))
        self.M = csr_array(entries, shape=(self.m, self.n))
        # Low and high contain the truth, up to rounding.
        self.LB: np.ndarray = np.maximum(self.a - d["low"].values, 0.0)  # [view, cell]; inf: no end
        self.UB: np.ndarray = np.maximum(d["high"].values - self.a, 0.0)
        self.view_of: np.ndarray = d["view_of"].values  # [attacker]
        status = d["status"].values
        published = d["published"].values
        self.sensitive: np.ndarray = (status == "u") & published
        self.open_anyway: np.ndarray = ~published | (status == "m")
        self.may_open: np.ndarray = (status != "z") | self.open_anyway
        self.w: np.ndarray = d["w"].values
        self.w_up: np.ndarray = d["w_up"].values if "w_up" in d else self.w
        self.w_down: np.ndarray = d["w_down"].values if "w_down" in d else self.w
        self.w_fixed: np.ndarray = d["w_fixed"].values if "w_fixed" in d else np.zeros(self.n)
        self.pair_cell: np.ndarray = d["cell_at"].values.astype(np.int64)
        self.pair_attacker: np.ndarray = d["attacker_at"].values.astype(np.int64)
        self.level: np.ndarray = np.stack([d["lpl"].values, d["upl"].values])  # [DOWN | UP, pair]
        self.slide: np.ndarray = d["spl"].values
        self.conditional: np.ndarray = np.zeros(len(self.pair_cell), dtype=bool)
        if "conditional" in d:  # what is not published in any case is touched in any case
            self.conditional = d["conditional"].values & ~(self.sensitive | self.open_anyway)[self.pair_cell]
        who = d["known_attacker"].values
        order = np.argsort(who, kind="stable")
        self._known_start = np.searchsorted(who[order], np.arange(len(self.view_of) + 1))
        self._known_cell = d["known_cell"].values[order].astype(np.int64)
        about = self.a[self._known_cell]
        self._known_LB = np.maximum(about - d["known_low"].values[order], 0.0)
        self._known_UB = np.maximum(d["known_high"].values[order] - about, 0.0)

    def asking(self, pairs: np.ndarray, may_open: np.ndarray) -> Instance:
        """The same with the levels of the marked pairs only, whose cells are touched in any case."""
        other = copy(self)
        other.__dict__.pop("requirements", None)
        other.level, other.slide = np.where(pairs, self.level, 0.0), np.where(pairs, self.slide, 0.0)
        other.sensitive = self.sensitive.copy()
        other.sensitive[self.pair_cell[pairs & self.conditional]] = True
        other.may_open = may_open
        other.conditional = np.zeros(len(pairs), dtype=bool)
        return other

    @property
    def asks(self) -> bool:
        return bool((self.level > 0).any() or (self.slide > 0).any())

    @property
    def pairs(self) -> int:
        return len(self.pair_cell)

    @cached_property
    def requirements(self) -> Requirements:
        side, pair = np.nonzero(self.level > 0)
        cell, attacker = self.pair_cell[pair], self.pair_attacker[pair]
        return Requirements(pair, side, cell, attacker, self.level[side, pair])

    def known(self, attacker: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Cells an attacker knows more about than its view, with LB and UB there (never more than the view's)."""
        mine = slice(int(self._known_start[attacker]), int(self._known_start[attacker + 1]))
        cells, view = self._known_cell[mine], self.view_of[attacker]
        return (
            cells,
            np.minimum(self._known_LB[mine], self.LB[view, cells]),
            np.minimum(self._known_UB[mine], self.UB[view, cells]),
        )

    def slack(self, attacker: int) -> tuple[np.ndarray, np.ndarray]:
        """LB and UB of one attacker, for all cells."""
        view = self.view_of[attacker]
        cells, LB, UB = self.known(attacker)
        if not len(cells):
            return self.LB[view], self.UB[view]
        down, up = self.LB[view].copy(), self.UB[view].copy()
        np.minimum.at(down, cells, LB)
        np.minimum.at(up, cells, UB)
        return down, up


def discounted(instance: Instance, before: np.ndarray | None, options: Mapping[str, Any]) -> np.ndarray:
    """Costs of hiding cells: what was hidden in the last period is cheaper to hide again."""
    if before is None:
        return instance.w
    discount = float(options.get("previous_discount") or 0.0)
    return np.where(before, instance.w * (1 - discount), instance.w)
