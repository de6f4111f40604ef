"""What the levels of one relation leave over, whichever way they go.

Levels that all move their group at least so far hardly ever cancel. With s the signs of the groups S with a level that
stand in a relation, L their levels in those directions and T the other groups in it,

    Σ_T |ρ_j| r_j + Σ_S |ρ_i| (r_i - L_i)  ≥  f(s) = |Σ_S s_i ρ_i L_i|,        r = |D|

for every table: what does not cancel is taken up by others, or by going beyond levels. The relaxation knows signs only
as b between 0 and 1. Of all functions that are convex in b and nowhere above f, the largest is

    env(b) = min Σ_p λ_p f(p)    over all sign patterns p of S,  Σ λ = 1, λ ≥ 0,  Σ λ_p p = b

and every basis of this small linear program has multipliers y with y₀ + y b ≤ f(p) for all patterns: a cut. At b = 1/2,
where the relaxation without it lets everything cancel, env is the least that any signs leave. Fixing one b moves env in
all relations it stands in, which is why trees over b (`tree`) are small with these cuts.

The multipliers come from a simplex method over all patterns, and y₀ is then computed from all of them, so that a cut
holds whatever was rounded on the way.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.accelerate.cta.senses.groups import Groups
from sdcdsl.accelerate.cta.tuning import TREE
from sdcdsl.numerics.compiled import kernel

# For the compiled loops, which read names of their module.
STEPS = TREE.envelope_steps

NOISE = 1e-10


class Envelopes:
    """Of all relations with 2 to so many groups that have a level (`TREE.most_levels`)."""

    def __init__(self, groups: Groups):
        rows, g = groups.every, groups
        of = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
        sensitive = g.at[rows.indices] >= 0
        many = np.bincount(of[sensitive], minlength=len(rows.indptr) - 1)
        self.relations = np.flatnonzero((many >= 2) & (many <= TREE.most_levels))  # int64 [r]
        entry = np.flatnonzero(sensitive & np.isin(of, self.relations))
        self.first = np.concatenate([[0], np.cumsum(many[self.relations])])  # [r + 1]: of the entries below
        group, rho = rows.indices[entry], rows.data[entry]
        self.choice = g.at[group]  # [entry]: which b
        self.up, self.down = rho * g.up[group], rho * g.down[group]  # [entry]: what a level moves the relation by

    def at(self, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """env [r], and of a cut that attains it y₀ [r] and y [entry]."""
        value, constant, slope = np.zeros(len(self.relations)), np.zeros(len(self.relations)), np.zeros(len(self.up))
        if len(self.relations):
            patterns = int((1 << np.diff(self.first)).sum())
            work = _envelopes.at(patterns)
            work(self.first, self.up, self.down, b[self.choice], value, constant, slope)
        return value, constant, slope


@kernel
def _envelopes(first, up, down, b, value, constant, slope):
    for r in range(len(first) - 1):
        begin, end = first[r], first[r + 1]
        f = _left_over(up[begin:end], down[begin:end])
        y = _multipliers(f, b[begin:end])
        m = end - begin
        least = np.inf
        for p in range(len(f)):
            rest = f[p]
            for i in range(m):
                if (p >> i) & 1:
                    rest -= y[i]
            least = min(least, rest)
        constant[r] = least
        value[r] = least
        for i in range(m):
            slope[begin + i] = y[i]
            value[r] += y[i] * b[begin + i]


@kernel
def _left_over(up, down):
    """f of every pattern; bit i is set where group i goes up."""
    m = len(up)
    f = np.zeros(1 << m)
    for i in range(m):
        f[0] -= down[i]
    for i in range(m):
        size = 1 << i
        for p in range(size):
            f[size + p] = f[p] + up[i] + down[i]
    for p in range(len(f)):
        f[p] = abs(f[p])
    return f


@kernel
def _multipliers(f, b):
    """y [m] of the program that defines env, from the chain of patterns in which groups go up one by one, largest b
    first; whatever it is when the steps are over is as valid as any other."""
    m = len(b)
    order = np.argsort(-b)
    basis = np.zeros(m + 1, dtype=np.int64)
    weight = np.zeros(m + 1)
    chain = 0
    above = 1.0
    for i in range(m + 1):
        basis[i] = chain
        below = b[order[i]] if i < m else 0.0
        weight[i] = max(above - below, 0.0)
        above = below
        if i < m:
            chain |= 1 << order[i]
    # The inverse of the basis, rows by its places, columns by b and the sum of all.
    inverse = np.zeros((m + 1, m + 1))
    inverse[0, m] = 1.0
    for i in range(m):
        inverse[i, order[i]] -= 1.0
        inverse[i + 1, order[i]] += 1.0
    y = np.zeros(m + 1)
    largest = 0.0
    for p in range(len(f)):
        largest = max(largest, f[p])
    for _ in range(STEPS):
        for j in range(m + 1):
            y[j] = 0.0
            for i in range(m + 1):
                y[j] += f[basis[i]] * inverse[i, j]
        worst, enter = -NOISE * largest, -1
        for p in range(len(f)):
            reduced = f[p] - y[m]
            for i in range(m):
                if (p >> i) & 1:
                    reduced -= y[i]
            if reduced < worst:
                worst, enter = reduced, p
        if enter < 0:
            break
        step, leave, pivot = np.inf, -1, 0.0
        for i in range(m + 1):
            d = inverse[i, m]
            for j in range(m):
                if (enter >> j) & 1:
                    d += inverse[i, j]
            if d > 1e-9:
                ratio = weight[i] / d
                if ratio < step - 1e-12 or (ratio <= step + 1e-12 and d > pivot):
                    step, leave, pivot = ratio, i, d
        if leave < 0:
            break
        for i in range(m + 1):
            if i == leave:
                continue
            d = inverse[i, m]
            for j in range(m):
                if (enter >> j) & 1:
                    d += inverse[i, j]
            weight[i] = max(weight[i] - step * d, 0.0)
            for j in range(m + 1):
                inverse[i, j] -= d / pivot * inverse[leave, j]
        for j in range(m + 1):
            inverse[leave, j] /= pivot
        weight[leave] = step
        basis[leave] = enter
    return y[:m].copy()
