"""The forms in which a cell may be published, each as columns, rows and slack (`decisions`), by sections of paper 003:

    exact       v_i = a_i                                          no slack
    hidden      x_i ∈ {0, 1}                                       §3: UB_i x_i above, LB_i x_i below
    interval    z_i⁻, z_i⁺ ≥ 0 [x_i]                               §4: z_i⁺ above, z_i⁻ below
    rounded     v_i = ⌊a_i⌋ + r_i k_i, k_i whole                   §5: v_i - a_i ± R_i, R_i = (1 + steps) r_i
    perturbed   v_i = a_i + p_i - q_i [x_i]                        §6: v_i - a_i ± R_i, R_i the width of its range

and one table that everybody might take the release for: v_i = a_i + t_i with M t = 0, where t_i is the published
deviation, or anything that an interval or an asterisk leaves open. It keeps what is published additive.

    M t = 0                                                        "adds up"
    -below_i x_i ≤ t_i ≤ above_i x_i          "read above only where hidden", "read below only where hidden"
    -z_i⁻ ≤ t_i ≤ z_i⁺                        "read above within the interval", "read below within the interval"
    z_i⁺ ≤ Z_i⁺ x_i,   z_i⁻ ≤ Z_i⁻ x_i                             "rises only where used", "falls only where used"
    least_i x_i ≤ z_i⁻ + z_i⁺,   z_i⁻ + z_i⁺ ≤ widest_i            "wide if at all", "not too wide"
    p_i ≤ up_i x_i,   q_i ≤ down_i x_i                             "up only where changed", "down only where changed"
    p_i = up_i y_i,   q_i = down_i (1 - y_i) of sensitive i        "at the upper end", "or at the lower end"
    k_i - 1 ≤ over_i,   -k_i ≤ under_i with `steps`                "over by", "under by"
    Σ x_i ≤ a cap                                                  "few enough changed"
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np

from sdcdsl.methods.conditional_levels import settled
from sdcdsl.methods.forms.decisions import Columns, Decisions
from sdcdsl.methods.instance import Instance
from sdcdsl.methods.published_amounts import public
from sdcdsl.methods.witness_tables import ModelCells

ROUNDING = 1e-9  # of a base: a value is a multiple of it that is no further away
DIGITS = 1e-14  # of what a relation adds up: rounding errors of values
HAIR = 1e-6  # ends that follow from levels are put so much further out: solvers and cuts have margins of their own


@dataclass(eq=False)
class FormColumns:
    """Where the columns of the cells are; -1 where a cell has none of the kind."""

    n: int
    plus: np.ndarray = field(init=False)  # z⁺ of intervals, p of perturbed cells
    minus: np.ndarray = field(init=False)
    multiple: np.ndarray = field(init=False)  # k of rounded cells
    used: np.ndarray = field(init=False)  # x of intervals and of perturbed cells
    hide: np.ndarray = field(init=False)
    upper: np.ndarray = field(init=False)  # y of sensitive perturbed cells: at the upper end
    guess: np.ndarray = field(init=False)  # t of hidden cells and intervals: what a reader may take them for
    below: np.ndarray = field(init=False)  # how far off the truth, at most
    above: np.ndarray = field(init=False)
    down: np.ndarray = field(init=False)  # how far a value may deviate
    up: np.ndarray = field(init=False)
    base: np.ndarray = field(init=False)  # r, 0 where not rounded
    first: np.ndarray = field(init=False)  # ⌊a⌋
    reach: np.ndarray = field(init=False)  # R of rounded and perturbed cells
    whole: np.ndarray = field(init=False)  # bool: a perturbed cell whose value must be a whole number
    # Columns of multiples, the last of them that is near, and the columns of how many more there are above and below.
    beyond: list[tuple[Columns, np.ndarray, Columns, Columns]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("plus", "minus", "multiple", "used", "hide", "upper", "guess"):
            setattr(self, name, np.full(self.n, -1, dtype=np.int64))
        for name in ("base", "first", "reach", "below", "above", "down", "up"):
            setattr(self, name, np.zeros(self.n))
        self.whole = np.zeros(self.n, dtype=bool)

    @property
    def touching(self) -> np.ndarray:
        """int64 [cell]: the column that is 1 if the cell is not published as it is, where that is decided."""
        return np.where(self.reach > 0, -1, np.where(self.hide >= 0, self.hide, self.used))

    def completed(self, u: np.ndarray) -> np.ndarray:
        """Columns with what follows from the multiples filled in."""
        u = u.copy()
        for k, above, over, under in self.beyond:
            u[over], u[under] = np.maximum(u[k] - above, 0.0), np.maximum(-u[k], 0.0)
        return u


class Forms:
    def __init__(self, instance: Instance, unit: float, lb: np.ndarray, ub: np.ndarray):
        self.instance, self.lb, self.ub = instance, lb, ub
        self.into = Decisions(instance.n, unit)
        self.at = FormColumns(instance.n)
        self.open = instance.open_anyway.copy()  # cells with any slack at all
        # t: columns and coefficients of the deviation that a reader may take a cell to have.
        self._t: list[tuple[np.ndarray, Columns, np.ndarray]] = []
        self._t_constant = np.zeros(instance.n)
        self.into.down_0[self.open] = self.into.up_0[self.open] = inf

    def _says(self, cells: np.ndarray, columns: Columns, coefficient: np.ndarray | float) -> None:
        self._t.append((cells, columns, np.broadcast_to(np.asarray(coefficient, dtype=float), len(cells))))

    def hidden(self, cells: np.ndarray) -> Columns:
        """x = 1 for sensitive cells: a form that may hide them must."""
        i = self.instance
        x = self.into.binaries("x", cells, i.w[cells], i.sensitive[cells].astype(float))
        self.at.hide[cells] = self.into.hide[cells] = x
        self.open[cells] = True
        t, below, above = self._guessed("t_hidden", cells)
        self.into.each("read above only where hidden", [(t, 1.0), (x, -above)], -inf, 0.0)
        self.into.each("read below only where hidden", [(t, 1.0), (x, below)], 0.0, inf)
        return x

    def _guessed(self, name: str, cells: np.ndarray) -> tuple[Columns, np.ndarray, np.ndarray]:
        """What is taken to stand under an asterisk: anything that the table's own bounds allow."""
        below, above = self._readable(cells)
        t = self.into.columns(name, cells, lower=-below, upper=above)
        self._says(cells, t, 1.0)
        self.at.guess[cells], self.at.below[cells], self.at.above[cells] = t, below, above
        return t, below, above

    def interval(
        self, cells: np.ndarray, least: np.ndarray | None, widest: np.ndarray | None, counted: bool
    ) -> Columns | None:
        """`least` and `widest` [cell]: how wide an interval is if there is one. `counted`: binaries are needed."""
        i, into = self.instance, self.into
        below, above = self._readable(cells)
        required = np.zeros(len(cells)) if least is None else least[cells]
        # What attackers reckon with, what readers need, and what is required although it only looks wide.
        needs_down, needs_up = (
            np.maximum(np.maximum(np.minimum(slack.max(axis=0)[cells], self._witnesses), read), required)
            for slack, read in ((i.LB, below), (i.UB, above))
        )
        # Nobody pays for more than is needed: where a width has a price it needs no end.
        most_down, most_up = (
            np.where(w[cells] > 0, inf, needs) for w, needs in ((i.w_down, needs_down), (i.w_up, needs_up))
        )
        minus = into.columns("z_down", cells, cost=i.w_down[cells], upper=most_down)
        plus = into.columns("z_up", cells, cost=i.w_up[cells], upper=most_up)
        self.at.minus[cells], self.at.plus[cells] = minus, plus
        into.slack("down", cells, minus, 1.0)
        into.slack("up", cells, plus, 1.0)
        self.open[cells] = True
        t = self.at.guess[cells] = into.columns("t_interval", cells, lower=-below, upper=above)
        self.at.below[cells], self.at.above[cells] = below, above
        self._says(cells, t, 1.0)
        into.each("read above within the interval", [(t, 1.0), (plus, -1.0)], -inf, 0.0)
        into.each("read below within the interval", [(t, 1.0), (minus, 1.0)], 0.0, inf)
        if widest is not None:
            into.each("not too wide", [(plus, 1.0), (minus, 1.0)], -inf, widest[cells])
        all_of_them = least is not None or counted or bool(i.w_fixed[cells].any())
        some = np.ones(len(cells), dtype=bool) if all_of_them else self._conditional[cells]
        if not some.any():
            return None
        far = np.full(len(cells), inf) if widest is None else widest[cells]
        far, needs_down, needs_up, minus, plus, cells = (
            x[some] for x in (far, needs_down, needs_up, minus, plus, cells)
        )
        x = into.binaries("x_used", cells, i.w_fixed[cells])
        self.at.used[cells] = x
        if least is not None:
            into.each("wide if at all", [(plus, 1.0), (minus, 1.0), (x, -least[cells])], 0.0, inf)
        into.each("rises only where used", [(plus, 1.0), (x, -np.minimum(far, needs_up))], -inf, 0.0)
        into.each("falls only where used", [(minus, 1.0), (x, -np.minimum(far, needs_down))], -inf, 0.0)
        return x

    @property
    def _conditional(self) -> np.ndarray:
        """Cells with a level that holds if they are touched."""
        of = np.zeros(self.instance.n, dtype=bool)
        of[self.instance.pair_cell[self.instance.conditional]] = True
        return of

    def perturbed(self, cells: np.ndarray, down: np.ndarray, up: np.ndarray, end: np.ndarray, counted: bool) -> Columns:
        """`down`, `up` ≥ 0 [cell]: a - ⌊a⌋ and ⌈a⌉ - a. `end` [cell]: of sensitive cells, -1 ⌊a⌋, 1 ⌈a⌉, 0 either."""
        i, into = self.instance, self.into
        # As stated: a range cut off at the table's own bounds would tell how near the value is.
        R = public((down + up)[cells])
        down, up = np.minimum(down, (i.a - self.lb))[cells], np.minimum(up, (self.ub - i.a))[cells]
        down, up = np.maximum(down, 0.0), np.maximum(up, 0.0)
        # What stands in place of a count is a count.
        whole = bool(i.problem.dataset.attrs.get("whole")) and bool((i.a[cells] == np.round(i.a[cells])).all())
        if whole:
            down, up = np.floor(down + ROUNDING), np.floor(up + ROUNDING)
            self.at.whole[cells] = True
        sensitive, end = i.sensitive[cells], end[cells]
        to_high, to_low, either = (sensitive & (end == e) for e in (1, -1, 0))
        fixed = to_high | to_low
        p = into.columns(
            "p",
            cells,
            cost=i.w_up[cells],
            lower=np.where(to_high, up, 0.0),
            upper=np.where(to_low, 0.0, up),
            integer=whole,
        )
        q = into.columns(
            "q",
            cells,
            cost=i.w_down[cells],
            lower=np.where(to_low, down, 0.0),
            upper=np.where(to_high, 0.0, down),
            integer=whole,
        )
        self.at.plus[cells], self.at.minus[cells] = p, q
        self.at.reach[cells], self.at.down[cells], self.at.up[cells] = R, down, up
        self._around(cells, R)
        for columns, sign in ((p, 1.0), (q, -1.0)):
            into.slack("up", cells, columns, sign)
            into.slack("down", cells, columns, -sign)
            self._says(cells, columns, sign)
        if either.any():
            y = self.at.upper[cells[either]] = into.binaries("y", cells[either])
            into.each("at the upper end", [(p[either], 1.0), (y, -up[either])], 0.0, 0.0)
            into.each("or at the lower end", [(q[either], 1.0), (y, down[either])], down[either], down[either])
        x = None
        if counted or i.w_fixed[cells].any():
            x = into.binaries("x_changed", cells, i.w_fixed[cells], fixed.astype(float))
        if x is not None:
            self.at.used[cells] = x
            into.each("up only where changed", [(p, 1.0), (x, -up)], -inf, 0.0)
            into.each("down only where changed", [(q, 1.0), (x, -down)], -inf, 0.0)
        return p if x is None else x

    def rounded(self, cells: np.ndarray, base: np.ndarray, steps: int) -> Columns:
        i, into = self.instance, self.into
        a, r = i.a[cells], base[cells]
        nearest = np.round(a / r)
        exact = np.abs(a - nearest * r) <= ROUNDING * r
        below = np.where(exact, nearest, np.floor(a / r))
        above = np.where(exact, nearest, below + 1)
        first = self.at.first[cells] = below * r
        above = above - below  # 1, or 0 for what is a multiple already
        least = np.maximum(-float(steps), np.minimum(np.ceil((self.lb[cells] - first) / r - ROUNDING), 0.0))
        most = np.minimum(above + steps, np.maximum(np.floor((self.ub[cells] - first) / r + ROUNDING), above))
        k = into.columns("k", cells, lower=least, upper=most, integer=True)
        self.at.multiple[cells], self.at.base[cells] = k, r
        R = (1 + steps) * r
        self.at.reach[cells] = R
        self._around(cells, R)
        into.down_0[cells] += a - first
        into.up_0[cells] -= a - first
        into.slack("up", cells, k, r)
        into.slack("down", cells, k, -r)
        self._says(cells, k, r)
        self._t_constant[cells] += first - a
        # |v - a| is linear between multiples: at the two next to a, then with the slope of the weight beyond them. A
        # cost that is convex and right at every multiple leaves the relaxation as strong as it can be.
        low, high = i.w_down[cells] * (a - first), i.w_up[cells] * (first + r - a)
        slope = np.where(exact, 0.0, high - low)
        into._cost[-1][:] = slope
        into.offset += float(np.where(exact, 0.0, low).sum())
        if steps == 0:
            return k
        over = into.columns("k_over", cells, cost=i.w_up[cells] * r - slope, upper=most - above, counts=True)
        under = into.columns("k_under", cells, cost=i.w_down[cells] * r + slope, upper=-least, counts=True)
        self.at.beyond.append((k, above, over, under))
        into.each("over by", [(k, 1.0), (over, -1.0)], -inf, above)
        into.each("under by", [(k, 1.0), (under, 1.0)], 0.0, inf)
        return k

    def _around(self, cells: np.ndarray, R: np.ndarray) -> None:
        self.into.down_0[cells] += R
        self.into.up_0[cells] += R
        self.open[cells[R > 0]] = True

    def add_up(self) -> None:
        """M t = 0: with the published values, and something in every interval and under every asterisk. Relations that
        only say what a union of cells is ask for nothing: nobody publishes it."""
        i = self.instance
        old = np.flatnonzero(i.problem.dataset["status"].values == "m")
        if (self.at.hide >= 0).any():  # where hiding has a price, what is hidden already has it too
            self.into.offset += float(i.w[old][i.problem.dataset["published"].values[old]].sum())
        self._guessed("t_gone", old)
        column = np.concatenate([c for _, c, _ in self._t]) if self._t else np.zeros(0, dtype=np.int64)
        cell = np.concatenate([c for c, _, _ in self._t]) if self._t else np.zeros(0, dtype=np.int64)
        value = np.concatenate([v for _, _, v in self._t]) if self._t else np.zeros(0)
        M = i.M.tocsc()
        lengths = np.diff(M.indptr)[cell]
        start = M.indptr[cell]
        inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entry = np.repeat(start, lengths) + inside
        row, values = M.indices[entry], M.data[entry] * np.repeat(value, lengths)
        unions = np.flatnonzero(~i.problem.dataset["published"].values)
        stated = np.ones(i.m, dtype=bool)
        stated[np.unique(M[:, unions].indices)] = False
        number = np.cumsum(stated) - 1
        keep = stated[row]
        rhs = self._as_multiples(-(i.M @ self._t_constant))[stated]
        terms = [(number[row[keep]], np.repeat(column, lengths)[keep], values[keep])]
        self.into.rows("adds up", terms, rhs, rhs, int(stated.sum()))
        valued = self.at.reach > 0
        self.instance = settled(i, valued, ~valued & (self.at.touching < 0))

    def _as_multiples(self, left: np.ndarray) -> np.ndarray:
        """What multiples have to add up to is one, but for the last digits of the values."""
        bases = np.unique(self.at.base[self.at.base > 0])
        if len(bases) != 1:
            return left
        near = np.round(left / bases[0]) * bases[0]
        return np.where(np.abs(left - near) <= DIGITS * (abs(self.instance.M) @ np.abs(self.instance.a)), near, left)

    def _readable(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far below and above the truth a reader may have to take a cell to be, so that what is published adds up:
        what the table's own bounds allow. It is a sum of circuits through cells with published deviations
        (`witness_tables` says why that is an end). Rounded and perturbed cells come first, therefore."""
        i, most = self.instance, self._stretch * float(self.at.reach.sum())
        return np.clip((i.a - self.lb)[cells], 0.0, most), np.clip((self.ub - i.a)[cells], 0.0, most)

    @property
    def _witnesses(self) -> float:
        """Further than this no cell has to go for a level."""
        i = self.instance
        return self._stretch * float(max(i.level.max(initial=0.0), i.slide.max(initial=0.0)))

    @cached_property
    def _stretch(self) -> float:
        return (1 + HAIR) * ModelCells(self.instance).stretch
