"""Attacks in few dimensions: a simplex tableau over the null space of the relations.

All tables the attacker cannot rule out are a + d with d = N t and l ≤ d ≤ u (`elimination`). Cells with proportional
rows of N move together; they form *classes*, and a class has the tightest bounds of its cells. The tableau answers
"how far" for classes. At the furthest point of class r it says

    x_r = Σ T_rj x_j,    every x_j at the end that its sign requires,

an identity that holds for all tables. In terms of cells (for each class the cell whose bound is the tight one) it is
d_p = Σ c_j d_j, and the multipliers γ of the relations that make it up are found by one sparse solve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf

import numpy as np

from sdcdsl.attack.engine import Bounds, EngineAnswer, Identity, nothing, stands_still
from sdcdsl.attack.tuning import TUNING
from sdcdsl.numerics.aggregation import of_basis
from sdcdsl.numerics.interior_point.box import REACHES, SURELY, BoxInteriorPoint, InteriorPath
from sdcdsl.numerics.interior_point.box_loops import NEAR, REACHED, SHORT, THERE
from sdcdsl.numerics.interior_point.crossover import Corner, corner, corner_at_end, supporting
from sdcdsl.numerics.null_space import Echelon, RelationMatrix, null_space
from sdcdsl.numerics.simplex.batched import BatchedTargets, BatchResult, answer_all
from sdcdsl.numerics.simplex.revised import RevisedSimplex
from sdcdsl.numerics.simplex.tableau import CLOSED, OUTSIDE, RAY, SMALL, TIRED, Tableau

NOTHING = 1e-12  # moves below this share of a cell's slack are rounding errors


@dataclass(frozen=True, eq=False)
class Price:
    """x of the cell's class = Σ coefficient · x of `rows`, in the box l ≤ d ≤ u: why it goes no further."""

    cell: int
    sign: int
    rows: np.ndarray
    coefficient: np.ndarray
    l: np.ndarray
    u: np.ndarray


@dataclass(frozen=True, eq=False)
class TargetClass:
    """Move the class `target` by the sign `way`; a unit of it is `unit` of the cell."""

    cell: int
    sign: int
    target: int
    way: float
    unit: float
    lo: np.ndarray  # ends of classes, in units of their slack
    hi: np.ndarray
    l: np.ndarray  # ends of cells
    u: np.ndarray


@dataclass(frozen=True, eq=False)
class Answers:
    """To many questions about cells: what was found about their rows, in units of the cells."""

    engine: TableauEngine
    cells: np.ndarray
    signs: np.ndarray
    unit: np.ndarray
    way: np.ndarray
    found: BatchResult

    @cached_property
    def reached(self) -> np.ndarray:
        return self.found.reached * self.unit

    @property
    def closed(self) -> np.ndarray:
        return self.found.closed

    @cached_property
    def gains(self) -> np.ndarray:
        """[answer, question]: how far each answer takes each cell, scaled until the box stops it, and reversed."""
        tableau = self.engine.tableau
        x = self.found.points @ tableau.rows[:-1].T
        forth, back = longest(x, tableau.lo[:-1], tableau.hi[:-1]), longest(-x, tableau.lo[:-1], tableau.hi[:-1])
        at = x[:, self.engine.classes.of[self.cells]] * self.way
        with np.errstate(invalid="ignore"):
            ahead, behind = at * forth[:, None], -at * back[:, None]
        return np.where(at > OUTSIDE, ahead, np.where(at < -OUTSIDE, behind, 0.0)) * self.unit

    def move(self, answer: int) -> tuple[np.ndarray, np.ndarray]:
        return self.engine.cells_of(self.engine.tableau.rows @ self.found.points[answer])

    def multipliers(self, question: int) -> Identity:
        """Why it goes no further than it was found to."""
        tableau, cell, by = self.engine.tableau, int(self.cells[question]), int(self.found.by[question])
        row = int(self.engine.classes.of[cell])
        if by < 0:
            rows, coefficient = np.array([row]), np.ones(1)
        else:
            used = np.flatnonzero(np.abs(self.found.prices[by]) > SMALL)
            rows = self.found.support[by, used]
            coefficient = self.found.prices[by, used] * tableau.slack[row] / tableau.slack[rows]
        sign = int(self.signs[question])
        return self.engine.multipliers(Price(cell, sign, rows, coefficient, self.engine.l, self.engine.u))


def longest(x: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """How many times each point fits between the ends."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > OUTSIDE, hi / x, np.where(x < -OUTSIDE, lo / x, np.inf)).min(axis=1)


class TableauEngine:
    def __init__(self, matrix: RelationMatrix, made: Echelon, l: np.ndarray, u: np.ndarray):
        self.matrix, self.echelon, self.l, self.u = matrix, made, l, u
        self.basis = null_space(matrix, made)
        self._size = np.abs(self.basis)
        self.classes, rows = of_basis(self.basis)
        self.lo, self.hi = self.classes.bounds(l, u)
        self.tableau = Tableau(rows, self.lo, self.hi)
        self._inward = len(made.free) >= TUNING.inner_from and not self.tableau.eager
        self.to_the_end = False  # do not stop where it is clear that a cell falls short
        # What is known about the ends of classes: cells that move together have the same.
        self._ends: dict[tuple[int, float], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self._short_of: dict[tuple[int, float], InteriorPath] = {}

    @cached_property
    def interior_point(self) -> BoxInteriorPoint | None:
        if not self._inward:
            return None
        return BoxInteriorPoint(self.tableau.rows[:-1], self.tableau.lo[:-1], self.tableau.hi[:-1])

    @cached_property
    def revised_simplex(self) -> RevisedSimplex | None:
        """For questions in one go, where no dimension is open at an end."""
        rows, lo, hi = self.tableau.rows[:-1], self.tableau.lo[:-1], self.tableau.hi[:-1]
        if self.tableau.eager or rows.shape[1] > TUNING.loose_up_to or not (np.isfinite(lo) & np.isfinite(hi)).all():
            return None
        try:
            return RevisedSimplex(rows, lo, hi)
        except np.linalg.LinAlgError:
            return None

    def quick(self, loose: bool, exact: bool) -> bool:
        """Whether single questions cost next to nothing, if all levels are well inside (`loose`) or ends are wanted."""
        if self.tableau.eager:
            return True
        near = not exact or self.tableau.dimensions <= TUNING.revised_up_to
        return loose and near and self.revised_simplex is not None

    def push(self, cell: int, sign: int, need: float = inf, bounds: Bounds | None = None) -> EngineAnswer:
        target = int(self.classes.of[cell])
        l, u = self.l, self.u
        if bounds is not None:
            l, u = l.copy(), u.copy()
            l[bounds[0]], u[bounds[0]] = bounds[1], bounds[2]
        if target < 0:
            return stands_still(partial(self.multipliers, Price(cell, sign, *nothing(), l, u)))
        lo, hi = self.tableau.lo, self.tableau.hi
        if bounds is not None:
            lo, hi = self.tableau.box(*self.classes.bounds(l, u))
            self.tableau.home()
        factor = self.classes.factor[cell]
        way = sign if factor > 0 else -sign
        unit = abs(factor) * self.tableau.slack[target]  # of the cell, in one unit of the row
        question = TargetClass(cell, sign, target, float(way), unit, lo, hi, l, u)
        own = hi[target] if way > 0 else -lo[target]
        if self.interior_point is not None and bounds is None and 0 < own < inf:
            answer = self._from_inside(question, need / unit, float(own))
            if answer is not None:
                return answer
        return self._answered(question, *self.tableau.push(target, float(way), need / unit, lo, hi), bounds is not None)

    def _from_inside(self, question: TargetClass, need: float, own: float) -> EngineAnswer | None:
        """None if the tableau has to find the answer alone."""
        q, tableau = question, self.tableau
        assert self.interior_point is not None
        key = q.target, q.way
        if key in self._ends:
            return replace(self._closed(q, *self._ends[key]), again=True)
        before = self._short_of.get(key)
        if before is not None and before.bound < min(need, own) * SURELY and not self.to_the_end and need < inf:
            return replace(self._short(q, before), again=True)
        asked, exact = min(need, own), need == inf or self.to_the_end
        made = self.interior_point.push(q.target, q.way, asked, exact)
        if made.ended == THERE:
            found = corner_at_end(tableau.rows, q.lo, q.hi, made, q.target, q.way)
            if found is not None:
                return self._at_corner(q, found)
            made = self.interior_point.push(q.target, q.way, asked, exact, corners=False)
        if made.ended == REACHED and (made.reached >= asked or not self._worth_a_corner(need)):
            return self._far_enough(q, made, own)
        if made.ended == SHORT:
            self._short_of[key] = made
            return self._short(q, made)
        chosen = supporting(tableau.rows[:-1], made)
        found = None if chosen is None else corner(tableau.rows, q.lo, q.hi, made, chosen, q.target, q.way)
        if found is not None:
            return self._at_corner(q, found)
        if made.ended == REACHED:
            return self._far_enough(q, made, own)
        x = tableau.rows @ made.point
        if chosen is None or (x > q.hi).any() or (x < q.lo).any():
            return None
        tableau.place(chosen, made.point, q.lo, q.hi)
        ended, ray = tableau.go_on(q.target, q.way, need, q.lo, q.hi)
        if ended == CLOSED:
            self._ends[key] = tableau.point.copy(), *tableau.price(q.target)
        return self._answered(q, ended, ray, False)

    def _at_corner(self, q: TargetClass, found: Corner) -> EngineAnswer:
        coefficient = found.coefficient * self.tableau.slack[q.target] / self.tableau.slack[found.rows]
        self._ends[q.target, q.way] = found.point, found.rows, coefficient
        return self._closed(q, *self._ends[q.target, q.way])

    def _worth_a_corner(self, need: float) -> bool:
        """A point that is as good as far enough is one; the corner itself has the figures for a report, and among whole
        numbers a proof without a tolerance."""
        return need == inf or self.to_the_end or self._whole

    @cached_property
    def _whole(self) -> bool:
        ends = np.concatenate([self.l, self.u])
        return bool((ends == np.rint(ends)).all())

    def _far_enough(self, q: TargetClass, made: InteriorPath, own: float) -> EngineAnswer:
        cells, move = self.cells_of(self.tableau.rows @ made.point * min(own / made.reached, 1.0))
        at_end = made.reached >= own * REACHES
        price = Price(q.cell, q.sign, np.array([q.target]), np.ones(1), q.l, q.u) if at_end else None
        return self._found(min(made.reached, own) * q.unit, cells, move, price)

    def _closed(self, q: TargetClass, point: np.ndarray, rows: np.ndarray, coefficient: np.ndarray) -> EngineAnswer:
        """A corner that was found for the class, as the answer for one of its cells."""
        x = self.tableau.rows @ point
        price = Price(q.cell, q.sign, rows, coefficient, q.l, q.u)
        return self._found(max(q.way * x[q.target] * q.unit, 0.0), *self.cells_of(x), price)

    def _short(self, q: TargetClass, made: InteriorPath) -> EngineAnswer:
        """It is clear that the cell goes not as far as it was asked to, though not how far it does."""
        used = np.flatnonzero(made.price)
        coefficient = q.way * made.price[used] * self.tableau.slack[q.target] / self.tableau.slack[used]
        price = Price(q.cell, q.sign, used, coefficient, q.l, q.u)
        why, bound = partial(self.multipliers, price), made.bound * q.unit
        return EngineAnswer(0.0, *self.cells_of(self.tableau.rows @ made.point), False, why, bound)

    def _answered(self, q: TargetClass, ended: int, ray: np.ndarray, own_box: bool) -> EngineAnswer:
        if ended == TIRED:
            raise RuntimeError("the tableau found no end")
        if ended == RAY:
            ray /= abs(ray[q.target]) * q.unit
            return EngineAnswer(inf, *self.cells_of(ray), True)
        x = self.tableau.x
        cells, move = self.cells_of(x)
        reached = max(q.way * x[q.target] * q.unit, 0.0)
        price = None
        end = (q.hi[q.target] if q.way > 0 else -q.lo[q.target]) * q.unit
        if ended == CLOSED:
            price = Price(q.cell, q.sign, *self.tableau.price(q.target), q.l, q.u)
        elif reached >= end * (1 - 1e-12):
            price = Price(q.cell, q.sign, np.array([q.target]), np.ones(1), q.l, q.u)
        if own_box:
            self.tableau.home()
        return self._found(reached, cells, move, price)

    def _found(self, reached: float, cells: np.ndarray, move: np.ndarray, price: Price | None) -> EngineAnswer:
        """With a price, it goes no further."""
        return EngineAnswer(reached, cells, move, price is not None, price and partial(self.multipliers, price))

    def still(self, cells: np.ndarray) -> np.ndarray:
        return self.classes.of[cells] < 0

    def all_at_once(
        self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray, least: np.ndarray, twin: np.ndarray
    ) -> Answers | None:
        """Questions about cells that move, in the box of all; None where they are better asked one by one."""
        if not len(cells) or not (self.tableau.eager or self.revised_simplex is not None):
            return None
        row, factor = self.classes.of[cells], self.classes.factor[cells]
        unit = np.abs(factor) * self.tableau.slack[row]
        way = np.where(factor > 0, signs, -signs).astype(float)
        asked = BatchedTargets(row, way, needs / unit, least / unit, twin)
        revised = self.revised_simplex
        found = answer_all(self.tableau, asked) if revised is None else revised.answer_all(asked)
        return Answers(self, cells, signs, unit, way, found)

    def joint(self, cells: np.ndarray, signs: np.ndarray, needs: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Maximises Σ share of its need that each cell gets, none more than all of it."""
        target = self.classes.of[cells]
        moving = target >= 0
        if not moving.any():
            return None
        target, factor = target[moving], self.classes.factor[cells[moving]]
        way = np.where(factor > 0, signs[moving], -signs[moving])
        share = needs[moving] / (np.abs(factor) * self.tableau.slack[target])
        lo, hi = self.tableau.lo.copy(), self.tableau.hi.copy()
        np.minimum.at(hi, target[way > 0], share[way > 0])
        np.maximum.at(lo, target[way < 0], -share[way < 0])
        self.tableau.home()
        self.tableau.aim(target, way / share)
        if self.interior_point is not None:
            made = self.interior_point.aim(self.tableau.rows[-1], lo[:-1], hi[:-1])
            chosen = supporting(self.tableau.rows[:-1], made) if made.ended == NEAR else None
            if chosen is not None:
                found = corner(self.tableau.rows, lo, hi, made, chosen, len(lo) - 1, 1.0)
                return self.cells_of(self.tableau.rows @ (found if found is not None else made).point)
            x = self.tableau.rows @ made.point
            return self.cells_of(x) if made.reached > 0 and (x <= hi).all() and (x >= lo).all() else None
        self.tableau.push(len(lo) - 1, 1.0, inf, lo, hi)
        return self.cells_of(self.tableau.x)

    def multipliers(self, price: Price) -> Identity:
        """γ with sign · e_cell - Mᵀγ = the coefficients: solved on a basis of the relations, exact up to rounding."""
        goal = np.zeros(self.matrix.columns)
        if len(price.rows):
            cells, coefficient = self._identity(price)
            np.subtract.at(goal, cells, coefficient)
        goal[price.cell] += price.sign
        gamma = self.echelon.multipliers(goal)
        used = np.flatnonzero(np.abs(gamma) > 1e-12)
        return self.echelon.row[used], gamma[used]

    def polished(self, cells: np.ndarray, move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The move as a combination of the null space, without rounding errors in cells that do not move."""
        dense = np.zeros(self.matrix.columns)
        dense[cells] = move
        t = dense[self.echelon.free]
        out = self.basis @ t
        moved = np.flatnonzero(np.abs(out) > 1e-13 * (self._size @ np.abs(t)))
        return moved, out[moved]

    def cells_of(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """From rows of the tableau to moves of cells."""
        x = np.where(np.abs(x) > NOTHING, x, 0.0)
        members, of = self.classes.members, self.classes.of
        move = x[of[members]] * self.tableau.slack[of[members]] * self.classes.factor[members]
        used = move != 0
        return members[used], move[used]

    def _identity(self, price: Price) -> tuple[np.ndarray, np.ndarray]:
        """The price in terms of cells: each class by the cell that binds it at the end in question."""
        factor = price.sign * self.classes.factor[price.cell]
        common = price.l is self.l and price.u is self.u
        down, up = self._tightest if common else self.classes.tightest(price.l, price.u)
        chosen = np.where(factor * price.coefficient > 0, up[price.rows], down[price.rows])
        return chosen, factor * price.coefficient / self.classes.factor[chosen]

    @cached_property
    def _tightest(self) -> tuple[np.ndarray, np.ndarray]:
        return self.classes.tightest(self.l, self.u)
