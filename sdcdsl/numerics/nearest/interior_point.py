"""Separable convex costs over M z = 0, l ≤ z ≤ u, through the inside: a primal-dual interior point method.

For tables whose weights lie many powers of ten apart, or whose ends leave next to no slack, where the dual Newton
method stops short: there a cell that has to move drags multipliers of another size along, and no step is right for all.
Cells with a bend at 0 that they may cross get a column for each direction; with f_j(x) = c_j x + w_j x² for column x_j

    2 W x + c - Aᵀy - s + t = 0,   A x = b,   (x - l) s = μ,   (u - x) t = μ,   μ → 0

is followed by Mehrotra's predictor and corrector. Each step solves linear equations with Q = 2w + s/(x-l) + t/(u-x):
A Q⁻¹ Aᵀ dy = r (`relations`), or NᵀQN dt = r where tables move in few directions, x = N t (`directions`). Nothing here
is a proof: callers check z and y.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack
from scipy.sparse.linalg import lsqr

from sdcdsl.deadline import Deadline
from sdcdsl.numerics.interior_point.predictor_corrector import Family, predictor_corrector
from sdcdsl.numerics.nearest.additive import additive
from sdcdsl.numerics.nearest.kernel_step import Directions, directions
from sdcdsl.numerics.nearest.relations_step import RelationSystem
from sdcdsl.numerics.nearest.solved import ADDS_UP, SeparableCost, residual, sides
from sdcdsl.numerics.nearest.tuning import INTERIOR

SMALL_GAP, SMALL_RESIDUAL = 1e-9, 1e-12  # where it may stop
LEAST = 1e-3  # of what a typical deviation costs: what an objective of nothing is taken for
SHORTEST = 1e-12  # steps below get nowhere
LEAST_BENT = 1e-14  # cells that cost nothing and have no ends are held by so much
INSIDE = 1e-6  # of a typical deviation: a cell so far from its ends is held by none of them
TINY = 1e-30  # slack that rounding took away
HELD = 1e-7  # of what others in its relations react: what a cell does that is held


@dataclass(frozen=True, eq=False)
class _Columns:
    """What moves: columns with ends and costs c x + w x², and z of all cells from x."""

    moving: np.ndarray  # int64: cells
    l: np.ndarray
    u: np.ndarray
    c: np.ndarray
    w: np.ndarray
    onto: csr_array
    still: np.ndarray  # z of cells whose ends are one

    @property
    def one_each(self) -> bool:
        """No cell has a second column."""
        return len(self.moving) == len(self.c)

    def cells(self, x: np.ndarray) -> np.ndarray:
        return self.still + self.onto @ x


@dataclass(frozen=True, eq=False)
class InteriorSolution:
    """Unchecked, but z keeps its ends, and adds up as far as a proof asks if cells inside their ends allow it."""

    z: np.ndarray
    y: np.ndarray
    towards: np.ndarray | None  # multipliers where it gave up: they grow without end where nothing fits


def interior(
    M: csr_array, cost: SeparableCost, l: np.ndarray, u: np.ndarray, rows: np.ndarray, deadline: Deadline | None = None
) -> InteriorSolution | None:
    """`rows`: relations that imply all others. Ends and costs in units that make typical ones about 1."""
    if len(rows) > INTERIOR.factors:
        return None
    made, few = _columns(cost, l, u), csr_array(M[rows])

    def all_of_them(multipliers: np.ndarray) -> np.ndarray:
        y = np.zeros(sides(M)[0])
        y[rows] = multipliers
        return y

    path = _Path(made, RelationSystem(csr_array(few @ made.onto), -(few @ made.still)))
    return _reached(path.follow(deadline), all_of_them, M, l, u, made)


class Inside:
    """The same for large tables that move in few directions, found once for all problems in which the same cells
    move."""

    def __init__(self, M: csr_array):
        self.M = M
        self._known: tuple[np.ndarray, Directions | None] | None = None

    @property
    def worth_trying(self) -> bool:
        m, n = sides(self.M)
        return m >= INTERIOR.large and n - m <= INTERIOR.directions and n <= INTERIOR.cells

    def solve(
        self, cost: SeparableCost, l: np.ndarray, u: np.ndarray, deadline: Deadline | None = None
    ) -> InteriorSolution | None:
        """None also where there are too many directions, cells need two columns, or may not stay as they are."""
        made = _columns(cost, l, u)
        if not self.worth_trying or not made.one_each or made.still.any():
            return None
        ways = self._directions(made.moving)
        return (
            None if ways is None else _reached(_Path(made, ways).follow(deadline), ways.multipliers, self.M, l, u, made)
        )

    def direct(self, D: np.ndarray, react: np.ndarray, z: np.ndarray) -> np.ndarray | None:
        """d with M D Mᵀ d = -M z, for Newton's method among the cells of the last problem. Cells that are held react
        next to nothing beside others in their relations, where they would not react at all."""
        moving, ways = self._known or (np.zeros(0, dtype=np.int64), None)
        if ways is None:
            return None
        around = abs(self.M) @ D
        least, start = react.copy(), self.M.indptr
        np.minimum.at(least, self.M.indices, np.repeat(np.where(around > 0, around, np.inf), np.diff(start)))
        system = ways.system(1 / np.maximum(D, HELD * least)[moving])
        if system is None:
            return None
        nothing = np.zeros(len(moving))
        return ways.multipliers(system.step(nothing, z[moving], nothing)[1])

    def _directions(self, moving: np.ndarray) -> Directions | None:
        if self._known is None or not np.array_equal(self._known[0], moving):
            self._known = moving, directions(csr_array(self.M[:, moving]))
        return self._known[1]


def _columns(cost: SeparableCost, l: np.ndarray, u: np.ndarray) -> _Columns:
    moving = l < u
    bend = (cost.w_up > 0) | (cost.w_down > 0)
    crossing = moving & bend & (l < 0) & (u > 0)
    forth, back = np.flatnonzero(moving), np.flatnonzero(crossing)
    still = np.where(moving, 0.0, l)
    slope = np.where(u[forth] <= 0, -cost.w_down[forth], cost.w_up[forth])
    one = csr_array(diags_array(np.ones(len(l))))
    onto = csr_array(hstack([one[:, forth], -one[:, back]]))
    return _Columns(
        forth,
        np.concatenate([np.where(crossing, 0.0, l)[forth], np.zeros(len(back))]),
        np.concatenate([u[forth], -l[back]]),
        np.concatenate([slope, cost.w_down[back]]),
        np.concatenate([cost.w2[forth], cost.w2[back]]),
        onto,
        still,
    )


@dataclass(frozen=True, eq=False)
class _Point:
    x: np.ndarray
    y: np.ndarray  # multipliers of whatever keeps the relations
    s: np.ndarray  # multipliers of lower ends, 0 where there is none
    t: np.ndarray  # and of upper ones


def _reached(
    found: tuple[_Point, _Point | None] | None,
    multipliers: Callable[[np.ndarray], np.ndarray],
    M: csr_array,
    l: np.ndarray,
    u: np.ndarray,
    made: _Columns,
) -> InteriorSolution | None:
    if found is None:
        return None
    best, last = found
    towards = None if last is None else multipliers(last.y)
    z = np.clip(made.cells(best.x), l, u)
    # Where the equations of the last steps were nearly singular the relations stop short; steps onto them do not.
    z = z if residual(M, z, 1.0) <= ADDS_UP else additive(M, z, l, u)
    return InteriorSolution(z, multipliers(best.y), towards)


def sharper(
    M: csr_array, cost: SeparableCost, z: np.ndarray, y: np.ndarray, l: np.ndarray, u: np.ndarray
) -> np.ndarray:
    """y with the least change that makes Mᵀy the slope of f at cells strictly between their ends, as it has to be:
    who ends within tolerances leaves more than a proof can spare."""
    least, greatest = cost.slopes(z)
    inside = (z > l + INSIDE) & (z < u - INSIDE) & (least == greatest)
    Mt = csr_array(M.T)
    lacking = (least - Mt @ y)[inside]
    return y + lsqr(Mt[np.flatnonzero(inside)], lacking, atol=1e-15, btol=1e-15)[0] if inside.any() else y


class _Path:
    def __init__(self, made: _Columns, ways: RelationSystem | Directions):
        self.made, self.ways = made, ways
        self.lower, self.upper = np.isfinite(made.l), np.isfinite(made.u)
        self.count = max(int(self.lower.sum() + self.upper.sum()), 1)

    def follow(self, deadline: Deadline | None) -> tuple[_Point, _Point | None] | None:
        """The point nearest to a solution, if it was got at all; and the last one, if none is near enough."""
        at, best, best_off, lately = self._start(), None, np.inf, 0
        for _ in range(INTERIOR.steps):
            off = self._off(at)
            lately = 0 if off < best_off else lately + 1
            if off < best_off:
                best, best_off = at, off
            # What is not a number is lost.
            if not off > 1.0 or lately > INTERIOR.lost or (deadline is not None and deadline.expired):
                break
            after = self._next(at)
            if after is None:
                break
            at = after
        return None if best is None else (best, at if best_off > 1.0 else None)

    def _start(self) -> _Point:
        """Well inside, and not far from 0."""
        l, u = self.made.l, self.made.u
        with np.errstate(invalid="ignore"):
            slack = np.minimum((u - l) / 4, 1.0)
        x = np.clip(np.zeros(len(l)), l + slack, u - slack)
        slope = 2 * self.made.w * x + self.made.c
        s = np.where(self.lower, np.maximum(slope, 0.0) + 1.0, 0.0)
        t = np.where(self.upper, np.maximum(-slope, 0.0) + 1.0, 0.0)
        return _Point(x, self.ways.start(), s, t)

    def _slack(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        below = np.where(self.lower, np.maximum(x - self.made.l, TINY), 1.0)
        above = np.where(self.upper, np.maximum(self.made.u - x, TINY), 1.0)
        return below, above

    def _off(self, at: _Point) -> float:
        """What is left of the gap, relative to the objective, or of the relations, to what they add up; 1 is enough."""
        made = self.made
        objective = float((made.c * at.x + made.w * at.x**2).sum())
        gap = (objective - self._bound(at)) / max(abs(objective), LEAST)
        return max(gap / SMALL_GAP, self.ways.off(at.x) / SMALL_RESIDUAL)

    def _bound(self, at: _Point) -> float:
        """What the multipliers prove, less what rounding may have added: where ends leave no slack they grow without
        end on the way, and are worth nothing when they have grown too far. Where nothing bends and there is no end,
        what is wrong with the slope counts as far as the cell has gone."""
        made, g = self.made, self.ways.slopes(at.y)
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.clip(np.where(g == made.c, 0.0, (g - made.c) / (2 * made.w)), made.l, made.u)
        x = np.where(np.isinf(x), np.sign(x) * (np.abs(at.x) + 1.0), x)
        terms = made.w * x * x + (made.c - g) * x
        return self.ways.proved(at.y, x) + float(terms.sum())

    def _next(self, at: _Point) -> _Point | None:
        made, lower, upper = self.made, self.lower, self.upper
        below, above = self._slack(at.x)
        system = self.ways.system(2 * made.w + at.s / below + at.t / above + LEAST_BENT)
        if system is None:
            return None
        slope = -(2 * made.w * at.x + made.c - self.ways.slopes(at.y) - at.s + at.t)

        def direction(aim: Family) -> tuple[tuple[np.ndarray, np.ndarray], Family, Family]:
            """dx and dy with below ds + s dx = aim[0] and above dt - t dx = aim[1]."""
            to_low, to_high = aim
            dx, dy = system.step(slope + to_low / below - to_high / above, at.x, at.y)
            ds = np.where(lower, (to_low - at.s * dx) / below, 0.0)
            dt = np.where(upper, (to_high + at.t * dx) / above, 0.0)
            return (dx, dy), (np.where(lower, dx, 0.0), np.where(upper, -dx, 0.0)), (ds, dt)

        step = predictor_corrector(
            (below, above), (at.s, at.t), self.count, direction, INTERIOR.back, INTERIOR.least_centring
        )
        (dx, dy), (ds, dt), p, d = step.change, step.dl, step.primal, step.dual
        if made.w.any():
            p = d = min(p, d)  # squares tie the two: with other lengths the slopes would not come right
        if not p > SHORTEST:
            return None
        return _Point(at.x + p * dx, at.y + d * dy, at.s + d * ds, at.t + d * dt)
