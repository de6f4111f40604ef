"""Any mixture of forms as one mixed-integer problem, written down literally from paper 003, and solved by scipy.

Nothing of the methods is used: neither their columns nor the ends they give them. For every attacker and sensitive cell
there are two whole tables, one that goes up and one that goes down, within what the attacker knows and what is
published. Big numbers stand before binaries here, so a solution is only a proposal: with its whole numbers fixed the
rest is a linear program without any big number, and what that costs is the cost of a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import coo_array, csr_array

from sdcdsl.bind.problem import TableProblem
from sdcdsl.methods.published_amounts import public
from tests.methods.oracle import Oracle

INF = np.inf
BIG = 300.0  # times the largest level or deviation: further no table has to go, and what leaks is a tenth of a millième
SECONDS = 20.0


class Rows:
    """Grows column by column and row by row."""

    def __init__(self):
        self.cost: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self.whole: list[bool] = []
        self.entries: list[tuple[int, int, float]] = []
        self.ends: list[tuple[float, float]] = []
        self.big: list[bool] = []  # rows that big numbers stand in

    def column(self, cost: float = 0.0, low: float = 0.0, high: float = INF, whole: bool = False) -> int:
        self.cost.append(cost)
        self.low.append(low)
        self.high.append(max(high, low))
        self.whole.append(whole)
        return len(self.cost) - 1

    def row(self, terms: Mapping[int, float], low: float, high: float, big: bool = False) -> None:
        self.entries += [(len(self.ends), column, value) for column, value in terms.items()]
        self.ends.append((low, high))
        self.big.append(big)

    def arrays(self) -> tuple[np.ndarray, csr_array, np.ndarray, np.ndarray, np.ndarray]:
        rows, columns, values = (np.array(x) for x in zip(*self.entries, strict=True))
        A = csr_array(coo_array((values, (rows, columns)), shape=(len(self.ends), len(self.cost))))
        ends = np.array(self.ends)
        return np.array(self.cost), A, ends[:, 0], ends[:, 1], np.array(self.whole)


class Mixture:
    """The forms of all cells. `hide`, `interval` bool [cell]; `base`, `down`, `up` [cell], 0 where not rounded or
    perturbed; `end` [cell]: -1, 1, or 0 for either; `steps` of rounded cells."""

    def __init__(self, problem: TableProblem, forms: Mapping[str, Any]):
        d = problem.dataset
        self.problem, self.d, self.n = problem, d, problem.n
        self.oracle = Oracle(problem)
        status = d["status"].values
        self.gone = ~d["published"].values | (status == "m")
        self.free = (status != "z") & ~self.gone
        self.sensitive = (status == "u") & d["published"].values
        self.forms = forms
        amounts = [*self.oracle.levels.ravel(), *forms["base"], *forms["down"], *forms["up"]]
        if forms["least"] is not None:
            amounts += [*forms["least"]]
        self.unit = float(max(amounts, default=1.0)) or 1.0
        w = d["w"].values
        self.w, self.w_fixed = w, d["w_fixed"].values if "w_fixed" in d else np.zeros(self.n)
        self.w_up, self.w_down = (d[name].values if name in d else w for name in ("w_up", "w_down"))
        self.hides = bool((forms["hide"] & self.free).any())

    def least(self) -> float | None:
        """The cost of the best release that was found; None if none was."""
        self._model()
        cost, A, low, high, whole = self.rows.arrays()
        top = float(np.abs(cost).max()) or 1.0
        solved = milp(
            cost / top,
            constraints=LinearConstraint(A, low, high),
            bounds=Bounds(np.array(self.rows.low), np.array(self.rows.high)),
            integrality=whole.astype(int),
            options={"time_limit": SECONDS, "mip_rel_gap": 0.0},
        )
        return None if solved.x is None else self._settled(np.round(solved.x), top)

    def _settled(self, x: np.ndarray, top: float) -> float | None:
        """With the whole numbers fixed, and each big number with its binary: no end at all, or none to move within."""
        cost, A, low, high, whole = self.rows.arrays()
        lower, upper = np.array(self.rows.low), np.array(self.rows.high)
        lower[whole] = upper[whole] = x[whole]
        for row in np.flatnonzero(self.rows.big):
            part = slice(A.indptr[row], A.indptr[row + 1])
            on = [x[c] for c in A.indices[part] if whole[c]]
            if on[0] > 0.5:
                low[row], high[row] = -INF, INF
        finite = np.isfinite(low) | np.isfinite(high)
        A, low, high = A[np.flatnonzero(finite)], low[finite], high[finite]
        same = low == high
        above, below = np.flatnonzero(~same & np.isfinite(high)), np.flatnonzero(~same & np.isfinite(low))
        rows = np.concatenate([above, below])
        signs = np.concatenate([np.ones(len(above)), -np.ones(len(below))])
        right = np.concatenate([high[above], -low[below]])
        solved = linprog(
            cost / top,
            A_ub=csr_array(A[rows].multiply(signs[:, None])) if len(rows) else None,
            b_ub=right if len(rows) else None,
            A_eq=A[np.flatnonzero(same)],
            b_eq=low[same],
            bounds=np.stack([lower, upper], axis=1),
            method="highs",
        )
        return None if solved.status != 0 else solved.fun * top + self.constant

    # ---- the model ---------------------------------------------------------------------------------------------

    def _model(self) -> None:
        """In units of the largest level."""
        r = self.rows = Rows()
        self.constant = 0.0
        self.t = [r.column(low=0.0, high=0.0) if not self.free[i] else -1 for i in range(self.n)]
        self.down: list[dict[int, float]] = [{} for _ in range(self.n)]  # the slack below: constant under key -1
        self.up: list[dict[int, float]] = [{} for _ in range(self.n)]
        self.hidden, self.used, self.changed = {}, {}, {}
        d, unit = self.d, self.unit
        for i in range(self.n):
            below, above = (d["a"].values[i] - d["lb"].values[i]) / unit, (d["ub"].values[i] - d["a"].values[i]) / unit
            if self.gone[i]:
                r.low[self.t[i]], r.high[self.t[i]] = -max(below, 0.0), max(above, 0.0)
            elif self.free[i]:
                self._form(i, max(below, 0.0), max(above, 0.0))
        old = (d["status"].values == "m") & d["published"].values
        if self.hides:
            self.constant += float(self.w[old].sum())
        for name, columns in (("cap_hidden", self.hidden), ("cap_intervals", self.used), ("cap_changed", self.changed)):
            cap = self.forms.get(name)
            if cap is not None and columns:
                r.row(dict.fromkeys(columns.values(), 1.0), -INF, float(cap))
        M, unions = self.oracle.M, ~d["published"].values
        for relation in M:
            if not relation[unions].any():
                r.row({self.t[i]: relation[i] for i in np.flatnonzero(relation)}, 0.0, 0.0)
        for pair in range(len(self.oracle.pairs)):
            self._levels(pair)

    def _form(self, i: int, below: float, above: float) -> None:
        r, f, unit = self.rows, self.forms, self.unit
        must = float(self.sensitive[i])
        if f["hide"][i]:
            x = self.hidden[i] = r.column(self.w[i], must, 1.0, True)
            t = self.t[i] = r.column(low=-below, high=above)
            self._only_if(t, x)
        elif f["interval"][i]:
            minus, plus = (r.column(w[i] * unit) for w in (self.w_down, self.w_up))
            t = self.t[i] = r.column(low=-below, high=above)
            r.row({t: 1.0, plus: -1.0}, -INF, 0.0)
            r.row({t: 1.0, minus: 1.0}, 0.0, INF)
            self.down[i], self.up[i] = {minus: 1.0}, {plus: 1.0}
            if f["widest"] is not None and np.isfinite(f["widest"][i]):
                r.row({minus: 1.0, plus: 1.0}, -INF, f["widest"][i] / unit)
            if f["least"] is not None or f.get("cap_intervals") is not None or self.w_fixed.any():
                x = self.used[i] = r.column(self.w_fixed[i], 0.0, 1.0, True)
                for z in (minus, plus):
                    r.row({z: 1.0, x: -BIG}, -INF, 0.0, big=True)
                if f["least"] is not None:
                    r.row({minus: 1.0, plus: 1.0, x: -f["least"][i] / unit}, 0.0, INF)
        elif f["base"][i] > 0:
            self._rounded(i)
        elif f["down"][i] + f["up"][i] > 0:
            self._perturbed(i, below, above)
        else:
            self.t[i] = r.column(low=0.0, high=0.0)

    def _rounded(self, i: int) -> None:
        r, base, a, unit = self.rows, float(self.forms["base"][i]), float(self.d["a"].values[i]), self.unit
        first, steps = np.floor(a / base + 1e-9), int(self.forms["steps"])
        exact = abs(a - np.round(a / base) * base) <= 1e-9 * base
        most = (0 if exact else 1) + steps
        lowest, highest = (float(self.d[name].values[i]) for name in ("lb", "ub"))
        ks = [
            k
            for k in range(-steps, most + 1)
            if (0 <= k <= most - steps) or lowest - 1e-9 * base <= (first + k) * base <= highest + 1e-9 * base
        ]
        k = r.column(low=min(ks), high=max(ks), whole=True)
        p, q = (r.column(w[i] * unit) for w in (self.w_up, self.w_down))
        r.row({p: 1.0, q: -1.0, k: -base / unit}, (first * base - a) / unit, (first * base - a) / unit)
        self._around(i, p, q, (1 + steps) * base / unit)

    def _perturbed(self, i: int, below: float, above: float) -> None:
        r, f, unit = self.rows, self.forms, self.unit
        wide = (f["down"][i] + f["up"][i]) / unit
        down, up = min(f["down"][i] / unit, below), min(f["up"][i] / unit, above)
        p, q = r.column(self.w_up[i] * unit, 0.0, up), r.column(self.w_down[i] * unit, 0.0, down)
        if self.sensitive[i]:
            y = r.column(0.0, float(f["end"][i] > 0), float(f["end"][i] >= 0), True)
            r.row({p: 1.0, y: -up}, 0.0, 0.0)
            r.row({q: 1.0, y: down}, down, down)
        if f.get("cap_changed") is not None or self.w_fixed.any():
            given = float(self.sensitive[i] and f["end"][i] != 0)
            x = self.changed[i] = r.column(self.w_fixed[i], given, 1.0, True)
            r.row({p: 1.0, x: -up}, -INF, 0.0)
            r.row({q: 1.0, x: -down}, -INF, 0.0)
        self._around(i, p, q, wide)

    def _around(self, i: int, p: int, q: int, wide: float) -> None:
        t = self.t[i] = self.rows.column(low=-INF)
        self.rows.row({t: 1.0, p: -1.0, q: 1.0}, 0.0, 0.0)
        self.down[i], self.up[i] = {-1: wide, p: -1.0, q: 1.0}, {-1: wide, p: 1.0, q: -1.0}

    def _only_if(self, column: int, x: int) -> None:
        self.rows.row({column: 1.0, x: -BIG}, -INF, 0.0, big=True)
        self.rows.row({column: 1.0, x: BIG}, 0.0, INF, big=True)

    def _levels(self, pair: int) -> None:
        r, o = self.rows, self.oracle
        attacker, cell = o.pairs[pair]
        lpl, upl, spl = o.levels[:, pair] / self.unit
        down, up = (slack / self.unit for slack in o._slack[attacker])
        own = []
        for need, sign in ((upl, 1.0), (lpl, -1.0)):
            table = [r.column(low=-down[i], high=up[i]) if self.gone[i] or self.free[i] else -1 for i in range(self.n)]
            for i, d in enumerate(table):
                if d < 0 or self.gone[i]:
                    continue
                if i in self.hidden:
                    self._only_if(d, self.hidden[i])
                    continue
                for slack, way in ((self.up[i], 1.0), (self.down[i], -1.0)):
                    terms = {d: way, **{c: -v for c, v in slack.items() if c >= 0}}
                    r.row(terms, -INF, slack.get(-1, 0.0))
            for relation in o.M:
                terms = {table[i]: relation[i] for i in np.flatnonzero(relation) if table[i] >= 0}
                if terms:
                    r.row(terms, 0.0, 0.0)
            if table[cell] < 0:
                if need > 0:
                    r.row({0: 0.0}, 1.0, INF)  # it cannot be kept
                own.append(None)
                continue
            r.row({table[cell]: sign}, need, INF)
            own.append(table[cell])
        if spl > 0:
            r.row({own[0]: 1.0, own[1]: -1.0} if None not in own else {0: 0.0}, spl, INF)


def forms_of(method: str, problem: TableProblem, options: Mapping[str, Any], steps: int = 0) -> dict[str, Any]:
    """The options of a method as forms of all cells."""
    n, d = problem.n, problem.dataset
    none, zero = np.zeros(n, dtype=bool), np.zeros(n)
    out: dict[str, Any] = {"hide": none, "interval": none, "base": zero, "down": zero, "up": zero}
    out |= {"end": zero, "steps": steps, "least": None, "widest": None}
    out |= {name: options[name] for name in ("cap_hidden", "cap_intervals", "cap_changed") if name in options}
    if method == "csp":
        out["hide"] = ~none
        if "cap_hidden" in out:  # what is hidden already counts
            out["cap_hidden"] -= int(((d["status"].values == "m") & d["published"].values).sum())
    if method == "ip":
        out["interval"] = ~none
    if method == "rounding":
        out["base"] = public(np.broadcast_to(np.asarray(options["base"], dtype=float), n))
    if method == "perturb":
        low, high = options["range"]
        out |= {"down": -low, "up": high}
        out["end"] = np.full(n, {"low": -1, "high": 1, None: 0}[options.get("end")])
    if method == "combined":
        out["hide"], out["interval"] = options.get("suppress", none), options.get("interval", none)
        out["down"] = out["up"] = np.nan_to_num(options.get("perturb", zero))
        out["base"] = np.nan_to_num(options.get("round", zero))
    if options.get("min_width") is not None:
        out["least"] = public(np.broadcast_to(np.asarray(options["min_width"], dtype=float), n))
    if options.get("cap_width") is not None:
        out["widest"] = np.broadcast_to(np.asarray(options["cap_width"], dtype=float), n)
    return out
