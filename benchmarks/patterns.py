"""Tables and releases for the benchmark of the audit: made by simple heuristics, kept in a folder once made.

A release is described by its *slack*: how far below and above its true value it leaves every cell.

* `Greedy`, for any relations: sensitive cells by decreasing level, one or several (`TOGETHER`) at a time; sides that
  nothing certifies yet cost a linear program, min Σ w (y⁺ + y⁻) with M y = 0 and y_p = ± level, slack that is open
  already almost free. Open what it touches: the whole cell (suppression), or just as far as the move goes (interval).
  Every solution, as long as its slack allows and both ways round, certifies other cells too.
* `rectangles`, for tables of two dimensions: every sensitive cell gets a partner row and a partner column, with the
  sums between them and down to the leaves, where all cells are at least as large as the level.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import highspy
import numpy as np
import scipy.sparse as sp
from generators import added_up, cells_over, hierarchy, in_leaves, problem
from instances import CSPLIB, from_file
from measuring import CpuDeadline

from sdcdsl.audit import audit
from sdcdsl.bind.hierarchy import CodeTree
from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.result import SolveContext
from sdcdsl.methods.solving import run
from sdcdsl.pattern import Pattern, hidden, intervals

FILES = ("hier13", "hier16", "ninenew")
# Codes a level below the total, in each of two dimensions: 200 × 200 cells.
MADE = {"1H2D": ((4, 20, 175), (199,)), "2H2D": ((13, 186), (13, 186)), "tiny": ((4, 20), (24,))}
TINY = "tiny"  # for a quick look, without a promise
# Intervals by three heuristics: `narrowed` from a suppression pattern, `greedy`, and our own method stopped early.
KINDS = ("suppression", "interval", "interval-greedy", "interval-ip")
VARIANTS = ("valid", "generous", "weak")
# Cells that one linear program of the greedy heuristic serves: one by one would take hours on the large tables.
TOGETHER = {"hier16": 16}
SEARCHED = {"ninenew"}  # hidden by our own search: the heuristic would take hours
SECONDS = 60
EXTRA = {("interval-greedy", "hier13"), ("interval-greedy", "hier16"), ("interval-ip", "hier13")}
ALMOST_FREE = 1e-6
ZERO = 1e-7


@dataclass(frozen=True, eq=False)
class Room:
    """How far below (≤ 0) and above (≥ 0) its true value a release leaves each cell."""

    zl: np.ndarray
    zu: np.ndarray

    @property
    def open(self) -> np.ndarray:
        return self.zl < self.zu


# ---- tables --------------------------------------------------------------------------------------------------


def problem_of(instance: str) -> TableProblem:
    return (
        made(*MADE[instance], sensitive=30 if instance == TINY else 2000)
        if instance in MADE
        else from_file(CSPLIB / f"{instance}.jj")
    )


def here(instance: str) -> bool:
    return instance in MADE or (CSPLIB / f"{instance}.jj").is_file()


def made(rows: tuple[int, ...], columns: tuple[int, ...], sensitive: int) -> TableProblem:
    """Skewed whole numbers with some zeros; leaves and a few sums are sensitive, with levels of 15 and 5 %."""
    rng = np.random.default_rng(1)
    cells = cells_over([hierarchy("r", rows), hierarchy("c", columns)])
    inner = np.ceil(rng.lognormal(3, 1.5, (rows[-1], columns[-1]))) * (rng.random((rows[-1], columns[-1])) > 0.1)
    a = added_up(in_leaves(inner, cells.dimensions), cells.dimensions).ravel()
    leaf = cells.is_leaf
    small = (a > 0) & (a < np.quantile(a[leaf], 0.8))
    chosen = rng.choice(np.flatnonzero(leaf & small), sensitive - sensitive // 20, replace=False)
    above = np.flatnonzero(~leaf & (a > 0) & (a < np.quantile(a[~leaf], 0.5)))
    chosen = np.sort(np.concatenate([chosen, rng.choice(above, sensitive // 20, replace=False)]))
    level = np.ceil(np.where(leaf, 0.15, 0.05) * a)[chosen]
    return problem(cells, a, chosen, level, level)


def matrix(problem: TableProblem) -> sp.csc_array:
    d = problem.dataset
    entries = d["coefficient"].values, (d["equation_of"].values, d["cell_of"].values)
    return sp.csc_array(entries, shape=(problem.m, problem.n))


def linear_program(
    columns: sp.csc_array, box: tuple[np.ndarray, np.ndarray], cost: np.ndarray, rows: tuple[np.ndarray, np.ndarray]
) -> highspy.Highs:
    """A fresh solver with min cost · x, box[0] ≤ x ≤ box[1], rows[0] ≤ columns @ x ≤ rows[1]; nothing run yet."""
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = len(rows[0]), len(cost)
    lp.col_cost_, (lp.col_lower_, lp.col_upper_), (lp.row_lower_, lp.row_upper_) = cost, box, rows
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.asarray(columns.indptr, dtype=np.int32)
    lp.a_matrix_.index_ = np.asarray(columns.indices, dtype=np.int32)
    lp.a_matrix_.value_ = np.asarray(columns.data, dtype=np.float64)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    assert solver.passModel(lp) != highspy.HighsStatus.kError
    return solver


# ---- greedy -------------------------------------------------------------------------------------------------------


class Greedy:
    def __init__(self, problem: TableProblem, kind: str, together: int = 1):
        d = problem.dataset
        self.together = together
        self.interval = kind == "interval"
        self.m, self.relations = matrix(problem), problem.m
        self.w = np.maximum(d["w"].values, 1e-3)
        a, fixed = d["a"].values, d["status"].values == "z"
        self.low = np.where(fixed, 0.0, np.maximum(d["low"].values[0] - a, -1e15))
        self.high = np.where(fixed, 0.0, np.minimum(d["high"].values[0] - a, 1e15))
        self.cell = d["cell_at"].values
        self.need = {1: d["upl"].values, -1: d["lpl"].values}
        self.done = {side: need <= 0 for side, need in self.need.items()}
        self.zl, self.zu = np.zeros(problem.n), np.zeros(problem.n)
        if not self.interval:
            self.zl[self.cell], self.zu[self.cell] = self.low[self.cell], self.high[self.cell]

    def run(self) -> Room:
        order = np.argsort(-np.maximum(self.need[1], self.need[-1]), kind="stable")
        for side in (1, -1):
            while len(left := order[~self.done[side][order]]):
                chosen = left[: self.together]
                self.use(self.cheapest(self.cell[chosen], side, self.need[side][chosen]))
                assert self.done[side][chosen].all(), f"cell {self.cell[chosen[0]]} cannot be protected"
        return Room(self.zl, self.zu)

    def cheapest(self, cells: np.ndarray, side: int, needs: np.ndarray) -> np.ndarray:
        """The cheapest move of the cells by their levels, as parts up and down inside and beyond what is open."""
        need = float(needs.max())
        slacks = [self.zu, -self.zl, self.high - self.zu, self.zl - self.low]
        price = self.w if self.interval else self.w / np.maximum(np.minimum(np.maximum(self.high, ZERO), need), 1e-9)
        part = [np.flatnonzero(slack > 0) for slack in slacks]
        sign = np.repeat([1.0, -1.0, 1.0, -1.0], [len(p) for p in part])
        of = np.concatenate(part)
        cost = np.concatenate([ALMOST_FREE * self.w[p] if i < 2 else price[p] for i, p in enumerate(part)])
        asked = sp.csr_array(side * sign * (of == cells[:, None]))
        columns = sp.csc_array(sp.vstack([self.m[:, of] @ sp.diags_array(sign), asked]))
        zero = np.zeros(self.relations)
        upper = np.concatenate([slack[p] for slack, p in zip(slacks, part, strict=True)])
        rows = np.append(zero, needs), np.append(zero, np.full(len(cells), highspy.kHighsInf))
        solver = linear_program(columns, (np.zeros(len(of)), upper), cost, rows)
        solver.setOptionValue("solver", "ipm")
        solver.run()
        assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal, f"cells {cells} cannot be protected"
        y = np.bincount(of, weights=sign * np.array(solver.getSolution().col_value), minlength=len(self.w))
        return np.where(np.abs(y) < ZERO, 0.0, y)

    def use(self, y: np.ndarray) -> None:
        """Open what the move touches, and see what else it certifies, stretched as far as the slack allows."""
        if self.interval:
            self.zl, self.zu = np.minimum(self.zl, y), np.maximum(self.zu, y)
        else:
            touched = (y != 0) | (self.zl < self.zu)
            self.zl, self.zu = np.where(touched, self.low, 0.0), np.where(touched, self.high, 0.0)
        moves = np.flatnonzero(y)
        up, down, d = self.zu[moves], self.zl[moves], y[moves]
        forth, back = np.where(d > 0, up / d, down / d).min(), np.where(d > 0, -down / d, -up / d).min()
        reached = y[self.cell]
        for side, need in self.need.items():
            most = np.maximum(side * reached * forth, -side * reached * back)
            self.done[side] |= most >= need * (1 - 1e-9)


# ---- narrowed ------------------------------------------------------------------------------------------------------


def narrowed(problem: TableProblem, slack: Room) -> Room:
    """Intervals instead of hidden cells: just as wide as tables that show the hidden ones to be protected."""
    d = problem.dataset
    made = audit(problem, hidden(d["a"].values, slack.open), exact=False)
    proofs = made.proofs
    assert made.verdict == "protected", made.verdict
    zl, zu = np.zeros(problem.n), np.zeros(problem.n)
    cell, lpl, upl = (d[name].values for name in ("cell_at", "lpl", "upl"))
    for claim in proofs.claims:
        witness = proofs.witnesses[claim.witness]
        move = np.zeros(problem.n)
        move[witness.cells] = claim.step * witness.move
        share = max(
            np.abs(upl[claim.up] / move[cell[claim.up]]).max(initial=0.0),
            np.abs(lpl[claim.down] / move[cell[claim.down]]).max(initial=0.0),
        )
        zl, zu = np.minimum(zl, share * move), np.maximum(zu, share * move)
    return Room(zl, zu)


def by_method(method: str, problem: TableProblem, seconds: float) -> Room:
    """What one of our own methods has after so many seconds of CPU time."""
    found = run(problem, method, SolveContext({"threads": 1}, CpuDeadline(seconds))).pattern
    assert found is not None, "no release in time"
    a = problem.dataset["a"].values
    return Room(found.low - a, found.high - a)


# ---- rectangles ----------------------------------------------------------------------------------------------------


class Codes:
    """Which codes stand beside and below each other in one dimension."""

    def __init__(self, tree: CodeTree):
        self.parent = [int(p) for p in tree.parent]
        self.parts: list[list[int]] = [[] for _ in self.parent]
        depth = [0] * len(self.parent)
        for code, parent in enumerate(self.parent[1:], 1):
            self.parts[parent].append(code)
            depth[code] = depth[parent] + 1
        self.level = [[c for c, other in enumerate(depth) if other == d] for d in depth]
        self.siblings = [[0], *(self.parts[parent] for parent in self.parent[1:])]

    def below(self, code: int, rng: random.Random) -> list[int]:
        """The code and one chain of its parts down to a leaf."""
        out = [code]
        while self.parts[out[-1]]:
            out.append(rng.choice(self.parts[out[-1]]))
        return out

    def between(self, one: int, other: int, rng: random.Random) -> list[int]:
        """Codes that change when something goes from one code to another: up to where they meet, down to leaves."""
        above, apart = [], (one, other)
        while (parents := (self.parent[apart[0]], self.parent[apart[1]]))[0] != parents[1]:
            above += parents
            apart = parents
        return above + self.below(one, rng) + self.below(other, rng)


def rectangles(problem: TableProblem, trees: list[CodeTree], kind: str) -> Room:
    """One direction a sensitive cell: (codes of its row - codes of the partner row) × the same for columns."""
    rng = random.Random(2)
    d = problem.dataset
    sides = [Codes(tree) for tree in trees]
    shape = tuple(len(t.codes) for t in trees)
    table, zu = d["a"].values.reshape(shape), np.zeros(shape)
    level = np.maximum(d["lpl"].values, d["upl"].values)
    places = np.stack(np.unravel_index(d["cell_at"].values, shape), axis=1)
    for at in np.argsort(-level, kind="stable"):
        least, best = problem.n, None
        row, column = (int(code) for code in places[at])
        lines = set(np.flatnonzero(zu[:, column]).tolist()), set(np.flatnonzero(zu[row]).tolist())
        for tried, touched in enumerate(_candidates(sides, (row, column), lines, rng)):
            if tried >= 60 and best is not None:
                break
            price = np.count_nonzero(zu[touched] == 0)
            if price < least and table[touched].min() >= level[at]:
                least, best = price, touched
        assert best is not None, f"no rectangle for the cell at {places[at]}"
        zu[best] = np.maximum(zu[best], level[at])
    if kind == "suppression":
        zu[zu > 0] = np.inf
    return Room(-zu.ravel(), zu.ravel())


def _candidates(
    sides: list[Codes], place: tuple[int, int], lines: tuple[set[int], set[int]], rng: random.Random
) -> Iterator[tuple]:
    """Cells of rectangles through a cell: with siblings, those of open cells first; sometimes across the hierarchy."""
    across = rng.random() < 0.1
    for attempt in range(1000):
        chosen = []
        for side, code, line in zip(sides, place, lines, strict=True):
            if code == 0:  # a total stands alone, and moves with one chain of parts
                chosen.append(side.below(0, rng))
                continue
            pool = [c for c in (side.level if across or attempt >= 300 else side.siblings)[code] if c != code]
            preferred = [c for c in pool if c in line]
            pool = preferred if attempt < 20 and preferred else pool
            if pool:
                chosen.append(side.between(code, rng.choice(pool), rng))
        if len(chosen) == 2:
            yield np.ix_(*chosen)


# ---- releases ------------------------------------------------------------------------------------------------------


def made_by(kind: str, instance: str) -> bool:
    """Made tables have rectangles; the greedy heuristic and the method take too long for some files."""
    return kind in ("suppression", "interval") or (kind, instance) in EXTRA


def slack_of(instance: str, kind: str, problem: TableProblem, cache: Path) -> Room:
    """From the folder, or made and put there."""
    file = cache / f"{instance}-{kind}.npz"
    if not file.is_file():
        if kind == "interval-ip":
            slack = by_method("ip", problem, SECONDS)
        elif kind == "suppression" and instance in SEARCHED:
            slack = by_method("csp", problem, 2 * SECONDS)
        elif kind == "interval" and instance not in MADE:
            slack = narrowed(problem, slack_of(instance, "suppression", problem, cache))
        elif instance in MADE:
            trees = [hierarchy(name, levels).trees[0] for name, levels in zip("rc", MADE[instance], strict=True)]
            slack = rectangles(problem, trees, kind)
        else:
            slack = Greedy(problem, kind.removesuffix("-greedy"), TOGETHER.get(instance, 1)).run()
        cache.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(file, zl=slack.zl, zu=slack.zu)
    stored = np.load(file)
    return Room(stored["zl"], stored["zu"])


def release(problem: TableProblem, slack: Room, kind: str, variant: str) -> Pattern:
    """As the heuristic made it, with more open than needed, or with some of the other cells closed again.

    In more than two dimensions one cell carries many others: closing a few exposes as much as closing many in a plane.
    """
    rng = np.random.default_rng(3)
    a = problem.dataset["a"].values
    secondary = np.flatnonzero(slack.open & (problem.dataset["status"].values != "u"))
    cells, zl, zu = slack.open.copy(), slack.zl.copy(), slack.zu.copy()
    if variant == "generous":
        cells[rng.choice(problem.n, len(secondary) // 2, replace=False)] = True
        zl, zu = 3 * zl, 3 * zu
    elif variant == "weak":
        share = 0.02 if problem.tables else 0.25
        some = rng.choice(secondary, max(1, int(share * len(secondary))), replace=False)
        cells[some] = False
        narrower = rng.random(len(some))
        zl[some], zu[some] = zl[some] * narrower, zu[some] * narrower
    return hidden(a, cells) if kind == "suppression" else intervals(a + zl, a + zu)
