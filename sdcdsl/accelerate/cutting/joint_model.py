"""All requirements at once: the first models of paper 003 (Figures 2 and 6) over directions, by an interior-point
method.

    min Σ price z    -down_ki z_i ≤ (N y_k)_i ≤ up_ki z_i,  sign_k · (N y_k)_p ≥ 1  for every requirement k,  least ≤ z
    ≤ most

A requirement may be served by one move y_k, written in a basis N of the directions in which the table can go, in units
of its level. Cutting planes find the requirements' multipliers one by one and jump about; here they are found together,
in some thirty steps. A step is a linear system in which y_k meets z alone: each y_k is eliminated (few directions), and
what is left is a dense system in z. So this is for tables that are closely tied together by relations: hier13 has 1 651
classes that move in 126 directions, and takes 44 s where cutting planes are at 2.6 % after 290 s.

What comes out is not believed: moves are combinations of N, and are stretched until they reach their level; multipliers
are made an identity by the relations (`Identities`), so that an error weakens a cut and never makes it wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_triangular
from scipy.linalg.blas import dsyrk  # pyright: ignore[reportAttributeAccessIssue]
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from sdcdsl.accelerate.cutting.tuning import TUNING
from sdcdsl.numerics.interior_point.predictor_corrector import Family, moved, predictor_corrector

RIDGE = 1e-13  # added to pivots, of themselves
NOTHING = 1e-12  # of the level, or of the largest multiplier
DUST = 1e-7  # of the level: a move that hardly touches a class
SLIGHT = 1e-6  # share of a cost that may be rounding
NEAR = 1e-4  # a gap from which steps that do not make it smaller are a matter of rounding


@dataclass(frozen=True, eq=False)
class JointModel:
    """`slack` [2 (down, up), side, class] is what a unit of z gives, `column` [2, class] is whose z that is, -1 for a
    class that may go as far as it likes."""

    N: np.ndarray  # [class, direction]
    cell: np.ndarray
    sign: np.ndarray
    slack: np.ndarray
    column: np.ndarray
    price: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @property
    def cost(self) -> float:
        """Multiplications of all steps, roughly."""
        sides, columns = len(self.cell), float(len(self.price))
        classes, directions = (float(size) for size in self.N.shape)
        each = sides * (2 * directions**2 * classes + directions * columns**2) + columns**3 / 3
        return TUNING.steps * each


@dataclass(frozen=True, eq=False)
class JointIterate:
    moves: np.ndarray  # [side, class]: each reaches its level, of 1, exactly
    z: np.ndarray  # the least that holds them all
    cost: float
    balance: np.ndarray  # [side, class]: multipliers of each side, which a combination of relations would be exactly
    bound: float  # what they prove, but for rounding


def solve_joint_model(
    model: JointModel, over: Callable[[], bool], gap: float, tell: Callable[[JointIterate], None]
) -> JointIterate | None:
    """The best that was found; None if not even a first move was. `tell` hears of every step."""
    best = _InteriorPoint(model).run(over, gap, tell)
    return None if best is None else _without_dust(model, best)


class _InteriorPoint:
    """Mehrotra's predictor and corrector for G x + s = h, s ≥ 0, Gᵀλ = -c, λ ≥ 0, with x = (y, z).

    Three families of rows: requirements [2, k, class] (∓(N y_k)_i - slack z ≤ 0), levels [k] (-sign (N y_k)_p ≤ -1),
    columns [2, column] (least ≤ z ≤ most)."""

    def __init__(self, model: JointModel):
        self.model = model
        self.requirements, (self.n, self.dim), self.columns = len(model.cell), model.N.shape, len(model.price)
        self.each = np.arange(self.requirements)
        self.there = np.broadcast_to((model.column >= 0)[:, None, :], model.slack.shape)
        self.at = np.maximum(model.column, 0)
        self.slack = np.where(self.there, model.slack, 0.0)
        ends = np.stack([-model.least, model.most])
        self.ended = np.isfinite(ends)
        self.h: Family = (np.zeros(1), np.full(self.requirements, -1.0), np.where(self.ended, ends, 0.0))
        self.rows = int(self.there.sum() + self.requirements + self.ended.sum())
        self.split = not np.array_equal(model.column[0], model.column[1])

    def run(self, over: Callable[[], bool], gap: float, tell: Callable[[JointIterate], None]) -> JointIterate | None:
        self._begin()
        best: JointIterate | None = None
        without_gain = 0
        for _ in range(TUNING.most_steps):
            if over() or without_gain >= TUNING.stalled:
                break
            now = self._iterate()
            if now is not None:
                tell(now)
                stalled = best is not None and now.cost - now.bound > 0.9 * (best.cost - best.bound)
                without_gain = without_gain + 1 if stalled and now.cost - now.bound < NEAR * abs(now.cost) else 0
                best = _both(best, now)
                if best.cost - best.bound <= gap * abs(best.cost):
                    break
            try:
                self._step()
            except (LinAlgError, FloatingPointError):
                break
        return best

    # ---- the matrix G ------------------------------------------------------------------------------------

    def _times(self, y: np.ndarray, z: np.ndarray) -> Family:
        d = y @ self.model.N.T
        sides = np.stack([-d, d]) - self.slack * z[self.at][:, None, :]
        return sides * self.there, -self.model.sign * d[self.each, self.model.cell], np.stack([-z, z]) * self.ended

    def _transposed(self, rows: Family) -> tuple[np.ndarray, np.ndarray]:
        sides, levels, columns = rows
        e = sides[1] - sides[0]
        e[self.each, self.model.cell] -= self.model.sign * levels
        return e @ self.model.N, columns[1] - columns[0] - self._on_columns(self.slack * sides)

    def _on_columns(self, sides: np.ndarray) -> np.ndarray:
        """Sums over requirements, by column."""
        out = np.zeros(self.columns)
        for way in (0, 1):
            there = self.model.column[way] >= 0
            np.add.at(out, self.model.column[way][there], sides[way].sum(axis=0)[there])
        return out

    # ---- steps -------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        a = self.model
        self.y = np.zeros((self.requirements, self.dim))
        widest = np.where(np.isfinite(a.most), a.most, 2 * np.maximum(a.least, 1.0) + a.least.max(initial=1.0))
        self.z = np.clip(a.least.max(initial=1.0), a.least, 0.5 * (a.least + widest))
        slack = tuple(h - g for h, g in zip(self.h, self._times(self.y, self.z), strict=True))
        width = np.where(np.isfinite(a.most), a.most - a.least, 1.0)
        floors = (1.0, 1.0, 1e-3 * np.maximum(width, 1e-9))
        self.s = tuple(np.maximum(s, f) for s, f in zip(slack, floors, strict=True))
        count = np.maximum(self._on_columns(np.where(self.slack > 0, 1.0, 0.0)), 1.0)
        share = (a.price / count)[self.at][:, None, :] / np.where(self.slack > 0, self.slack, 1.0)
        mean = float(a.price.mean())
        self.l = (
            np.where(self.there, np.maximum(share, 1e-9 * mean), 0.0),
            np.full(self.requirements, mean),
            np.where(self.ended, 1e-3 * np.maximum(a.price, 1e-3 * mean), 0.0),
        )

    def _step(self) -> None:
        s, l = self.s, self.l
        self._lack = tuple(
            (g + s_ - h) * m
            for g, s_, h, m in zip(self._times(self.y, self.z), s, self.h, (self.there, 1.0, self.ended), strict=True)
        )
        pull, weight = self._transposed(l)
        self._slope = pull, weight + self.model.price
        self._factorise(tuple(b / a for a, b in zip(s, l, strict=True)))
        step = predictor_corrector(s, l, self.rows, self._direction, TUNING.back)
        dy, dz = step.change
        if not np.isfinite(dz).all():
            raise FloatingPointError
        self.y, self.z = self.y + step.primal * dy, self.z + step.primal * dz
        self.s, self.l = moved(s, step.ds, step.primal), moved(l, step.dl, step.dual)

    def _direction(self, aim: Family) -> tuple[tuple[np.ndarray, np.ndarray], Family, Family]:
        """s dλ + λ ds = aim, G dx + ds = -lack, Gᵀ dλ = -slope."""
        s, l = self.s, self.l
        load = tuple((a + b * r) / c for a, b, r, c in zip(aim, l, self._lack, s, strict=True))
        on_y, on_z = self._transposed(load)
        dy, dz = self._solved(-self._slope[0] - on_y, -self._slope[1] - on_z)
        ds = tuple(-r - g for r, g in zip(self._lack, self._times(dy, dz), strict=True))
        dl = tuple((a - b * d) / c for a, b, d, c in zip(aim, l, ds, s, strict=True))
        return (dy, dz), ds, dl

    def _solved(self, on_y: np.ndarray, on_z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the factors miss, since weights differ by many orders of magnitude in the end, is solved for again."""
        dy, dz = self._solve(on_y, on_z)
        for _ in range(TUNING.refined):
            weighed = tuple(w * g for w, g in zip(self._weight, self._times(dy, dz), strict=True))
            back = self._transposed(weighed)
            more = self._solve(on_y - back[0], on_z - back[1])
            dy, dz = dy + more[0], dz + more[1]
        return dy, dz

    def _factorise(self, weight: Family) -> None:
        """Gᵀ W G with the y eliminated: S = Z - Σ B_kᵀ A_k⁻¹ B_k."""
        self._weight = weight
        N, (sides, levels, columns) = self.model.N, weight
        own = sides.sum(axis=0)
        own[self.each, self.model.cell] += levels
        tied = np.stack([sides[0], -sides[1]]) * self.slack  # y meets z of each class
        self._tied = tied if self.split else tied.sum(axis=0)[None]
        self._whose = self.model.column if self.split else self.model.column[:1]
        S = np.zeros((self.columns, self.columns), order="F")
        S[np.diag_indices(self.columns)] = self._on_columns(self.slack**2 * sides) + columns.sum(axis=0)
        self._factors = []
        batch: list[np.ndarray] = []
        for k in range(self.requirements):
            A = N.T @ (own[k][:, None] * N)
            A[np.diag_indices(self.dim)] *= 1 + RIDGE
            L = np.linalg.cholesky(A)
            self._factors.append(L)
            half = solve_triangular(L, N.T, lower=True, check_finite=False)
            wide = np.zeros((self.dim, self.columns))
            for way, whose in enumerate(self._whose):
                there = whose >= 0
                wide[:, whose[there]] += half[:, there] * self._tied[way, k, there]
            batch.append(wide)
            if len(batch) * wide.size > TUNING.at_once or k + 1 == self.requirements:
                S = dsyrk(-1.0, np.concatenate(batch).T, beta=1.0, c=S, trans=0, lower=1, overwrite_c=1)
                batch = []
        S[np.diag_indices(self.columns)] *= 1 + RIDGE
        self._S = cho_factor(S, lower=True, overwrite_a=True, check_finite=False)

    def _solve(self, on_y: np.ndarray, on_z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        N = self.model.N
        alone = np.stack(
            [cho_solve((L, True), f, check_finite=False) for L, f in zip(self._factors, on_y, strict=True)]
        )
        moved = alone @ N.T
        on_z = on_z.copy()
        for way, whose in enumerate(self._whose):
            np.add.at(on_z, whose[whose >= 0], -(self._tied[way] * moved).sum(axis=0)[whose >= 0])
        dz = cho_solve(self._S, on_z, check_finite=False)
        back = sum(
            np.where(whose >= 0, dz[whose], 0.0) * tied for whose, tied in zip(self._whose, self._tied, strict=True)
        )
        less = [cho_solve((L, True), f, check_finite=False) for L, f in zip(self._factors, back @ N, strict=True)]
        return alone - np.stack(less), dz

    # ---- what it shows -----------------------------------------------------------------------------------

    def _iterate(self) -> JointIterate | None:
        made = _reaching(self.model, self.y @ self.model.N.T)
        if made is None:
            return None
        balance, bound = self._proved()
        return JointIterate(*made, float(self.model.price @ made[1]), balance, bound)

    def _proved(self) -> tuple[np.ndarray, float]:
        """Multipliers of the rows of z follow from its costs: what is left counts at the better of its ends. Where too
        much is taken, by rounding or from a z without end, a smaller share of all multipliers proves nearly as much."""
        a, (sides, levels, _) = self.model, self.l
        load = self._on_columns(self.slack * sides)
        over = (load > a.price) & (a.price > 0) & ((load <= a.price * (1 + SLIGHT)) | ~np.isfinite(a.most))
        share = min(1.0, float((a.price[over] / load[over]).min(initial=1.0)))
        left = a.price - share * load
        ends = np.where(left >= 0, a.least, np.where(np.isfinite(a.most), a.most, 0.0))
        balance = sides[0] - sides[1]
        balance[self.each, a.cell] += a.sign * levels
        if np.abs(balance @ a.N).max(initial=0.0) > SLIGHT * levels.max():
            return balance, -inf  # far from anything that could be proved
        return balance, float(share * levels.sum() + (left * ends).sum())


def _reaching(a: JointModel, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The moves, stretched to their levels, and the least z that holds them; None if there is none."""
    reached = a.sign * moves[np.arange(len(a.cell)), a.cell]
    if (reached <= 1e-6).any():
        return None
    moves = moves / reached[:, None]
    z = a.least.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for way, turned in enumerate((-moves, moves)):
            there = a.column[way] >= 0
            used = np.where(turned > 0, turned / a.slack[way], 0.0).max(axis=0)
            np.maximum.at(z, a.column[way][there], used[there])
    return None if (z > a.most * (1 + 1e-12)).any() else (moves, z)


def _without_dust(a: JointModel, best: JointIterate) -> JointIterate:
    """From inside one comes near to z = 0 and not to it: moves are led round classes that they hardly touch."""
    still = np.flatnonzero(np.abs(best.moves).max(axis=0) < DUST)
    if not len(still):
        return best
    onto = a.N[still]
    y = np.linalg.lstsq(a.N, best.moves.T, rcond=None)[0]
    moves = (a.N @ (y - np.linalg.lstsq(onto, onto @ y, rcond=1e-9)[0])).T
    made = _reaching(a, np.where(np.abs(moves) < NOTHING, 0.0, moves))
    if made is None or a.price @ made[1] > best.cost * (1 + DUST):
        return best
    return JointIterate(*made, float(a.price @ made[1]), best.balance, best.bound)


def _both(best: JointIterate | None, now: JointIterate) -> JointIterate:
    """The better moves, and the better multipliers."""
    if best is None:
        return now
    moves = now if now.cost <= best.cost else best
    proof = now if now.bound >= best.bound else best
    return JointIterate(moves.moves, moves.z, moves.cost, proof.balance, proof.bound)


class Identities:
    """From multipliers that nearly are one to the identity next to them: sign · D_p = Σ c_i D_i whenever M D = 0."""

    def __init__(self, M: csr_array, N: np.ndarray):
        """`M`: relations that imply all others; `N`: a basis of what they allow."""
        self._M, self._transposed, self._N = csr_array(M), csr_array(M.T), N
        self._square = splu(csc_array(self._M @ self._transposed))

    def near(self, cell: int, sign: int, balance: np.ndarray) -> tuple[np.ndarray, np.ndarray, float] | None:
        """Cells, c, and how many times the identity was taken; None if the cell is not in it."""
        g = self._transposed @ self._square.solve(self._M @ self._balanced(balance))
        if abs(g[cell]) <= 1e-9 * np.abs(g).max(initial=0.0):
            return None
        c = -sign * g / g[cell]
        c[cell] = 0.0
        cells = np.flatnonzero(np.abs(c) > NOTHING)
        return cells, c[cells], abs(float(g[cell]))

    def _balanced(self, balance: np.ndarray) -> np.ndarray:
        """Corrected where there is something to be corrected: a crumb on every other class would be paid for with all
        of its width."""
        N, size = self._N, np.abs(balance)
        weight = size + NOTHING * size.max(initial=0.0)
        with suppress(LinAlgError):
            factor = cho_factor(N.T @ (weight[:, None] * N), check_finite=False)
            for _ in range(2):
                balance = balance - weight * (N @ cho_solve(factor, balance @ N, check_finite=False))
        return balance
