"""Separable convex costs over M z = 0, l ≤ z ≤ u, through the inside: a primal-dual interior point method.

For tables whose weights lie many powers of ten apart, or whose ends leave next to no room, where the dual Newton method
stops short: there a cell that has to move drags multipliers of another size along, and no step is right for all. Cells
with a bend at 0 that they may cross get a column for each direction; with f_j(x) = c_j x + w_j x² for column x_j

    2 W x + c - Aᵀy - s + t = 0,   A x = b,   (x - l) s = μ,   (u - x) t = μ,   μ → 0

is followed by Mehrotra's predictor and corrector. Each step solves A D Aᵀ dy = r with
D = 1 / (2w + s/(x-l) + t/(u-x)), by factors of the equilibrated matrix, and refined. Nothing here is a proof: callers
check z and y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array, hstack
from scipy.sparse.linalg import SuperLU, lsqr, splu

from sdcdsl.methods.nearest.solved import Cost, sides
from sdcdsl.methods.result import Clock

STEPS = 200
SMALL_GAP, ADDS_UP = 1e-9, 1e-12  # where it may stop
ROUNDING = 1e-15  # of a term of a sum
LEAST = 1e-3  # of what a typical deviation costs: what an objective of nothing is taken for
BACK = 0.9995  # of the way to the nearest end
SHORTEST = 1e-12  # steps below get nowhere
REFINED = 3  # times
REGULAR = 1e-14  # added to the equilibrated matrix, whose diagonal is 1
LEAST_BENT = 1e-14  # cells that cost nothing and have no ends are held by so much
INSIDE = 1e-6  # of a typical deviation: a cell so far from its ends is held by none of them
TINY = 1e-30  # room that rounding took away
ROOM_FOR_FACTORS = 20_000  # relations, beyond which factors take too long and too much memory


@dataclass(frozen=True, eq=False)
class _Columns:
    """What moves: A x = b with ends, costs c x + w x², and z of all cells from x."""

    A: csr_array
    b: np.ndarray
    l: np.ndarray
    u: np.ndarray
    c: np.ndarray
    w: np.ndarray
    onto: csr_array
    still: np.ndarray  # z of cells whose ends are one

    def cells(self, x: np.ndarray) -> np.ndarray:
        return self.still + self.onto @ x


def interior(
    M: csr_array, cost: Cost, l: np.ndarray, u: np.ndarray, rows: np.ndarray, clock: Clock | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """z and y, unchecked; `rows`: relations that imply all others. Ends and costs in units that make typical ones
    about 1."""
    if len(rows) > ROOM_FOR_FACTORS:
        return None
    made = _columns(csr_array(M[rows]), cost, l, u)
    found = _Path(made).follow(clock)
    if found is None:
        return None
    x, multipliers = found
    y = np.zeros(sides(M)[0])
    y[rows] = multipliers
    return np.clip(made.cells(x), l, u), y


def _columns(M: csr_array, cost: Cost, l: np.ndarray, u: np.ndarray) -> _Columns:
    moving = l < u
    bend = (cost.w_up > 0) | (cost.w_down > 0)
    crossing = moving & bend & (l < 0) & (u > 0)
    forth, back = np.flatnonzero(moving), np.flatnonzero(crossing)
    still = np.where(moving, 0.0, l)
    slope = np.where(u[forth] <= 0, -cost.w_down[forth], cost.w_up[forth])
    one = csr_array(diags_array(np.ones(len(l))))
    onto = csr_array(hstack([one[:, forth], -one[:, back]]))
    return _Columns(
        csr_array(M @ onto),
        -(M @ still),
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
    y: np.ndarray
    s: np.ndarray  # multipliers of lower ends, 0 where there is none
    t: np.ndarray  # and of upper ones


def sharper(M: csr_array, cost: Cost, z: np.ndarray, y: np.ndarray, l: np.ndarray, u: np.ndarray) -> np.ndarray:
    """y with the least change that makes Mᵀy the slope of f at cells strictly between their ends, as it has to be:
    who ends within tolerances leaves more than a proof can spare."""
    least, greatest = cost.slopes(z)
    inside = (z > l + INSIDE) & (z < u - INSIDE) & (least == greatest)
    Mt = csr_array(M.T)
    lacking = (least - Mt @ y)[inside]
    return y + lsqr(Mt[np.flatnonzero(inside)], lacking, atol=1e-15, btol=1e-15)[0] if inside.any() else y


class _Path:
    def __init__(self, made: _Columns):
        self.made = made
        self.At = csr_array(made.A.T)
        self._absolute, self._columns = abs(made.A), abs(self.At)
        self.lower, self.upper = np.isfinite(made.l), np.isfinite(made.u)
        self.count = max(int(self.lower.sum() + self.upper.sum()), 1)

    def follow(self, clock: Clock | None) -> tuple[np.ndarray, np.ndarray] | None:
        """The point nearest to a solution, if it was got at all."""
        at, best, best_off = self._start(), None, np.inf
        for _ in range(STEPS):
            off = self._off(at)
            if off < best_off:
                best, best_off = at, off
            if not off > 1.0 or (clock is not None and clock.over):  # not a number: lost
                break
            after = self._next(at)
            if after is None:
                break
            at = after
        return None if best is None else (best.x, best.y)

    def _start(self) -> _Point:
        """Well inside, and not far from 0."""
        l, u = self.made.l, self.made.u
        with np.errstate(invalid="ignore"):
            room = np.minimum((u - l) / 4, 1.0)
        x = np.clip(np.zeros(len(l)), l + room, u - room)
        slope = 2 * self.made.w * x + self.made.c
        s = np.where(self.lower, np.maximum(slope, 0.0) + 1.0, 0.0)
        t = np.where(self.upper, np.maximum(-slope, 0.0) + 1.0, 0.0)
        return _Point(x, np.zeros(len(self.made.b)), s, t)

    def _room(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        below = np.where(self.lower, np.maximum(x - self.made.l, TINY), 1.0)
        above = np.where(self.upper, np.maximum(self.made.u - x, TINY), 1.0)
        return below, above

    def _off(self, at: _Point) -> float:
        """What is left of the gap, relative to the objective, or of the relations, to what they add up; 1 is enough."""
        made = self.made
        objective = float((made.c * at.x + made.w * at.x**2).sum())
        gap = (objective - self._bound(at)) / max(abs(objective), LEAST)
        sums = np.abs(made.A @ at.x - made.b) / np.maximum(self._absolute @ np.abs(at.x), 1.0)
        return max(gap / SMALL_GAP, float(sums.max(initial=0.0)) / ADDS_UP)

    def _bound(self, at: _Point) -> float:
        """What the multipliers prove, less what rounding may have added: where ends leave no room they grow without
        end on the way, and are worth nothing when they have grown too far. Where nothing bends and there is no end,
        what is wrong with the slope counts as far as the cell has gone."""
        made, g = self.made, self.At @ at.y
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.clip(np.where(g == made.c, 0.0, (g - made.c) / (2 * made.w)), made.l, made.u)
        x = np.where(np.isinf(x), np.sign(x) * (np.abs(at.x) + 1.0), x)
        terms = made.w * x * x + (made.c - g) * x
        noise = ROUNDING * ((self._columns @ np.abs(at.y)) @ np.abs(x) + np.abs(made.b) @ np.abs(at.y))
        return float(made.b @ at.y + terms.sum() - noise)

    def _next(self, at: _Point) -> _Point | None:
        made, lower, upper = self.made, self.lower, self.upper
        below, above = self._room(at.x)
        D = 1 / (2 * made.w + at.s / below + at.t / above + LEAST_BENT)
        system = self._system(D, at, below, above)
        if system is None:
            return None
        # The predictor says how far μ can fall; the corrector takes what it left out into account.
        mu = float(below @ at.s + above @ at.t) / self.count
        dx, _, ds, dt = system.step(-below * at.s, -above * at.t)
        p, d = _length(below, above, dx, dx, lower, upper), _length(at.s, at.t, ds, -dt, lower, upper)
        p, d = min(p, 1.0), min(d, 1.0)
        ahead = float(
            (below + p * dx)[lower] @ (at.s + d * ds)[lower] + (above - p * dx)[upper] @ (at.t + d * dt)[upper]
        )
        goal = mu * min(max((ahead / self.count / mu) ** 3, 1e-6), 1.0) if mu > 0 else 0.0
        dx, dy, ds, dt = system.step(
            np.where(lower, goal - below * at.s - dx * ds, 0.0), np.where(upper, goal - above * at.t + dx * dt, 0.0)
        )
        p, d = _length(below, above, dx, dx, lower, upper), _length(at.s, at.t, ds, -dt, lower, upper)
        p, d = min(1.0, BACK * p), min(1.0, BACK * d)
        if made.w.any():
            p = d = min(p, d)  # squares tie the two: with other lengths the slopes would not come right
        if not p > SHORTEST:
            return None
        return _Point(at.x + p * dx, at.y + d * dy, at.s + d * ds, at.t + d * dt)

    def _system(self, D: np.ndarray, at: _Point, below: np.ndarray, above: np.ndarray) -> _System | None:
        H = csr_array(self.made.A @ diags_array(D) @ self.At)
        diagonal = H.diagonal()
        scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        even = csr_array(diags_array(scale) @ H @ diags_array(scale))
        try:
            factors = splu(
                csc_array(even + diags_array(np.full(len(scale), REGULAR))),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:  # singular after all
            return None
        return _System(self, D, at, below, above, factors, scale, even)


@dataclass(frozen=True, eq=False)
class _System:
    """The linear equations of one step, for several right-hand sides."""

    path: _Path
    D: np.ndarray
    at: _Point
    below: np.ndarray
    above: np.ndarray
    factors: SuperLU
    scale: np.ndarray
    even: csr_array

    def step(self, to_low: np.ndarray, to_high: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """dx, dy, ds, dt with below ds + s dx = `to_low` and above dt - t dx = `to_high`."""
        made, At, at = self.path.made, self.path.At, self.at
        slope = -(2 * made.w * at.x + made.c - At @ at.y - at.s + at.t)
        pull = slope + to_low / self.below - to_high / self.above
        r = self.scale * (made.b - made.A @ at.x - made.A @ (self.D * pull))
        v = self.factors.solve(r)
        for _ in range(REFINED):
            v = v + self.factors.solve(r - self.even @ v)
        dy = self.scale * v
        dx = self.D * (pull + At @ dy)
        ds = np.where(self.path.lower, (to_low - at.s * dx) / self.below, 0.0)
        dt = np.where(self.path.upper, (to_high + at.t * dx) / self.above, 0.0)
        return dx, dy, ds, dt


def _length(
    low: np.ndarray, high: np.ndarray, down: np.ndarray, up: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> float:
    """How far until the first of them is nothing: `low` grows by `down`, `high` shrinks by `up`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(lower & (down < 0), -low / down, np.inf).min(initial=np.inf)
        second = np.where(upper & (up > 0), high / up, np.inf).min(initial=np.inf)
    return float(min(first, second))
