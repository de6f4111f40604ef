"""What the best release of a tiny table costs, found without any code of the methods: attackers are linear programs of
scipy over the letters of the problem itself, hidden sets are tried by increasing cost.

Nothing is used beyond the definitions but one fact: who hides less protects less. A set of hidden cells that leaves
somebody short is enlarged as long as it still does; no subset of the result needs to be tried.

Interval protection is the first model of paper 003 (Figure 6) as one linear program, a table for every side of a pair.
"""

from __future__ import annotations

from math import inf

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, coo_array, csr_array, eye_array

from sdcdsl.bind.problem import TableProblem
from tests.shapes import shape

SHORT = 1 - 1e-7  # what the linear programs of scipy can tell apart
DOWN, UP = 0, 1


class Oracle:
    def __init__(self, problem: TableProblem):
        d = problem.dataset
        self.problem, self.n, self.a = problem, problem.n, d["a"].values
        entries = d["coefficient"].values.astype(float), (d["equation_of"].values, d["cell_of"].values)
        self.M = csr_array(coo_array(entries, shape=(problem.m, problem.n))).toarray()
        status, self.published = d["status"].values, d["published"].values
        self.always = ~self.published | (status == "u") | (status == "m")
        self.choice = np.flatnonzero(~self.always & (status != "z"))
        self.w = d["w"].values
        self.pairs = list(zip(d["attacker_at"].values.tolist(), d["cell_at"].values.tolist(), strict=True))
        self.levels = np.stack([d["lpl"].values, d["upl"].values, d["spl"].values])
        self._slack = [self._known(k) for k in range(d.sizes["attacker"])]
        self._reached: dict[tuple[int, int, bytes], float] = {}

    def _known(self, attacker: int) -> tuple[np.ndarray, np.ndarray]:
        """How far cells can go down and up as far as one attacker knows, were they all hidden."""
        d = self.problem.dataset
        view = int(d["view_of"].values[attacker])
        low, high = d["low"].values[view].copy(), d["high"].values[view].copy()
        for entry in np.flatnonzero(d["known_attacker"].values == attacker):
            cell = int(d["known_cell"].values[entry])
            low[cell] = max(low[cell], d["known_low"].values[entry])
            high[cell] = min(high[cell], d["known_high"].values[entry])
        return np.maximum(self.a - low, 0.0), np.maximum(high - self.a, 0.0)

    # ---- attackers -----------------------------------------------------------------------------------------------

    def everything(self) -> np.ndarray:
        """All cells that may be hidden."""
        hidden = self.always.copy()
        hidden[self.choice] = True
        return hidden

    def reach(self, pair: int, side: int, hidden: np.ndarray, most: float) -> float:
        """How far a pair goes, not more than `most`."""
        key = pair, side, hidden.tobytes() + np.float64(most).tobytes()
        if key not in self._reached:
            self._reached[key] = self.reach_of(*self.pairs[pair], side, hidden, most)
        return self._reached[key]

    def reach_of(self, attacker: int, cell: int, side: int, hidden: np.ndarray, most: float) -> float:
        down, up = (np.where(hidden, slack, 0.0) for slack in self._slack[attacker])
        return furthest(self.M, down, up, cell, side, most)

    def protected(self, pair: int, hidden: np.ndarray) -> bool:
        lpl, upl, spl = self.levels[:, pair]
        if any(
            self.reach(pair, s, hidden, level) < level * SHORT for s, level in ((UP, upl), (DOWN, lpl)) if level > 0
        ):
            return False
        return spl <= lpl + upl or sum(self.reach(pair, s, hidden, spl) for s in (DOWN, UP)) >= spl * SHORT

    def exposed(self, hidden: np.ndarray) -> list[int]:
        return [pair for pair in range(len(self.pairs)) if not self.protected(pair, hidden)]

    def valid(self, hidden: np.ndarray) -> bool:
        """Whether a release may hide just these cells."""
        allowed = bool((~self.always | hidden).all() and (~hidden | self.everything()).all())
        return allowed and not self.exposed(hidden)

    # ---- cell suppression ------------------------------------------------------------------------------------------

    def cost(self, hidden: np.ndarray, w: np.ndarray | None = None) -> float:
        return float((self.w if w is None else w)[hidden & self.published].sum())

    def cheapest(self, w: np.ndarray | None = None, cap: int | None = None) -> float | None:
        """The least cost of a valid set with at most `cap` published cells in it; None if there is none."""
        w = self.w if w is None else w
        free = self.choice
        codes = np.arange(1 << len(free))
        chosen = (codes[:, None] >> np.arange(len(free))) & 1
        cost = chosen @ w[free]
        if cap is not None:
            few = chosen.sum(axis=1) + (self.always & self.published).sum() <= cap
            codes, cost = codes[few], cost[few]
        codes = codes[np.argsort(cost, kind="stable")]
        while len(codes):
            hidden = self.always.copy()
            hidden[free[(codes[0] >> np.arange(len(free))) & 1 == 1]] = True
            short = next((pair for pair in range(len(self.pairs)) if not self.protected(pair, hidden)), None)
            if short is None:
                return self.cost(hidden, w)
            for cell in free:
                if not hidden[cell]:
                    hidden[cell] = True
                    hidden[cell] = not self.protected(short, hidden)
            too_few = int((hidden[free].astype(int) << np.arange(len(free))).sum())
            codes = codes[codes & ~too_few != 0]
        return None

    # ---- interval protection ---------------------------------------------------------------------------------------

    def intervals(self) -> float | None:
        """The least Σ w⁺ z⁺ + w⁻ z⁻ (Figure 6); None if no intervals give every pair its levels."""
        d, n = self.problem.dataset, self.n
        hidden = ~self.published | (d["status"].values == "m")
        touch = self.everything()
        unit = float(self.levels.max(initial=0.0)) or 1.0
        w = [np.where(hidden, 0.0, (d[name] if name in d else d["w"]).values) for name in ("w_down", "w_up")]
        # Columns: z⁻, z⁺, then a table f (up) and g (down) for every pair.
        ends: list[np.ndarray] = [np.where(hidden, inf, np.where(touch, inf, 0.0))] * 2
        lows: list[np.ndarray] = [np.zeros(n)] * 2
        equal, within, right = [], [], []
        tables = 2 * len(self.pairs)
        for pair, (attacker, cell) in enumerate(self.pairs):
            down, up = (np.where(touch, slack, 0.0) / unit for slack in self._slack[attacker])
            for side in (DOWN, UP):
                t = 2 + 2 * pair + side
                low, high = -down, up.copy()
                if side == UP:
                    low[cell] = max(low[cell], self.levels[1, pair] / unit)
                else:
                    high[cell] = min(high[cell], -self.levels[0, pair] / unit)
                if low[cell] > high[cell] * (1 + 1e-9) + 1e-9:
                    return None
                low[cell] = min(low[cell], high[cell])
                lows.append(low)
                ends.append(high)
                equal.append(self._blocks(tables, {t: self.M}))
                within.append(self._blocks(tables, {t: eye_array(n), 1: -eye_array(n)}))
                within.append(self._blocks(tables, {t: -eye_array(n), 0: -eye_array(n)}))
                right += [np.where(hidden, inf, 0.0)] * 2
            own = coo_array(([1.0], ([0], [cell])), shape=(1, n))
            within.append(self._blocks(tables, {3 + 2 * pair: -own, 2 + 2 * pair: own}, 1))
            right.append(np.array([-self.levels[2, pair] / unit]))
        if not self.pairs:
            return 0.0
        cost = np.concatenate([*w, np.zeros(tables * n)])
        A, b = block_array([[x] for x in within], format="csr"), np.concatenate(right)
        rows = np.flatnonzero(np.isfinite(b))
        E = block_array([[x] for x in equal], format="csr")
        top = float(cost.max()) or 1.0
        found = linprog(
            cost / top,
            A_ub=A[rows],
            b_ub=b[rows],
            A_eq=E,
            b_eq=np.zeros(shape(E)[0]),
            bounds=np.stack([np.concatenate(lows), np.concatenate(ends)], axis=1),
            method="highs",
        )
        if found.status == 2:
            return None
        assert found.status == 0, found.message
        return found.fun * top * unit

    def _blocks(self, tables: int, put: dict, rows: int | None = None) -> csr_array:
        """One row of blocks with the given ones in their columns."""
        rows = rows if rows is not None else next(iter(put.values())).shape[0]
        return block_array([[put.get(at, coo_array((rows, self.n))) for at in range(2 + tables)]], format="csr")


def furthest(M: np.ndarray, down: np.ndarray, up: np.ndarray, cell: int, side: int, most: float) -> float:
    """max ± d_cell over M d = 0, -down ≤ d ≤ up, ± d_cell ≤ most: in units of `most`, which leaves solvers at ease."""
    free = np.flatnonzero((down > 0) | (up > 0))
    if cell not in free or most <= 0:
        return 0.0
    bounds = np.stack([-down[free], up[free]], axis=1) / most
    own = int(np.searchsorted(free, cell))
    bounds[own] = max(bounds[own, 0], -1.0), min(bounds[own, 1], 1.0)
    cost = np.zeros(len(free))
    cost[own] = -1.0 if side == UP else 1.0
    rows = M[:, free]
    rows = rows[np.abs(rows).any(axis=1)]
    for method in ("highs", "highs-ds", "highs-ipm"):  # one of them may not know
        found = linprog(cost, A_eq=rows, b_eq=np.zeros(len(rows)), bounds=bounds, method=method)
        if found.status == 0:
            return -found.fun * most
    raise AssertionError(found.message)
