"""Loops of the interior point method (`box`): sparse rows, normal equations, steps to the middle and to the far end.

Arrays as in compressed rows (start, index, value), or `full` where most numbers are not zero. R are the rows, lo and hi
their ends, t a point of k coordinates.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.numerics.compiled import kernel
from sdcdsl.numerics.interior_point.active_set import active_set_test
from sdcdsl.numerics.interior_point.normal_equations import assemble, dot, factor, solve, times, transposed, without
from sdcdsl.numerics.interior_point.tuning import BOX

# For the compiled loops, which read names of their module.
STEPS = BOX.steps
BACK = BOX.back
IN_SIGHT = BOX.in_sight
JOINS = BOX.joins

# How a path ends: far enough; surely not; as near to its end as the tableau wants it; without having got anywhere;
# at its end.
REACHED, SHORT, NEAR, STUCK, THERE = 0, 1, 2, 3, 4

ROUNDING = 1e-9  # share of the goal by which prices may miss it
NEARLY = BOX.nearly


@kernel
def begin(start, index, value, full, foremost, lo, hi, t):
    """The factor that every path from t begins with, as long as it changes no ends of these rows."""
    c, k = len(lo), len(t)
    x, d, h = np.zeros(c), np.zeros(c), np.zeros((k, k))
    times(start, index, value, full, np.arange(c), t, x)
    at = np.sort(foremost)
    for a in range(len(at)):
        i = at[a]
        d[i] = 1.0 / ((hi[i] - x[i]) * (hi[i] - x[i])) + 1.0 / ((x[i] - lo[i]) * (x[i] - lo[i]))
    mine = np.zeros((len(at) if len(full) > 0 else 0, k))
    for a in range(len(mine)):
        mine[a] = full[at[a]]
    assemble(start, index, value, mine, at, d, h)
    factor(h)
    return h


@kernel
def _fits(x, dx, lo, hi):
    """How many times dx fits between the ends."""
    out = np.inf
    for i in range(len(x)):
        if dx[i] > 0.0:
            out = min(out, (hi[i] - x[i]) / dx[i])
        elif dx[i] < 0.0:
            out = min(out, (lo[i] - x[i]) / dx[i])
    return out


@kernel
def centre(start, index, value, full, lo, hi, t, most):
    """A few Newton steps towards the point where the product of all slacks is largest."""
    c, k = len(lo), len(t)
    at = np.arange(c)
    x, dx, d, z = np.zeros(c), np.zeros(c), np.zeros(c), np.zeros(c)
    h, y = np.zeros((k, k)), np.zeros(k)
    for _ in range(most):
        times(start, index, value, full, at, t, x)
        for i in range(c):
            above, below = 1.0 / (hi[i] - x[i]), 1.0 / (x[i] - lo[i])
            d[i] = above * above + below * below
            z[i] = below - above
        transposed(start, index, value, full, at, z, y)
        assemble(start, index, value, full, at, d, h)
        factor(h)
        solve(h, y)
        times(start, index, value, full, at, y, dx)
        size = 0.0
        for i in range(c):
            size += d[i] * dx[i] * dx[i]
        step = min(1.0 if size < 0.5 else 2.0 / (1.0 + np.sqrt(size)), 0.9 * _fits(x, dx, lo, hi))
        for j in range(k):
            t[j] += step * y[j]
        if size < 0.5:
            break


@kernel
def follow_path(
    start, index, value, full, foremost, lo, hi, goal, t, outside, need, short, close, few, price, weight, begun, wider,
    less,
):  # fmt: skip
    """Mehrotra's method. `outside`: slack that rows are granted at first where the point has none; it is taken back as
    the steps go on, and only a point without any of it counts as reached. `few`: so many rows, of full ones, are tried
    for an end where they meet. `begun`: from `begin`, if the ends are those but for the row `wider`, which counts
    `less` than there."""
    c, k = len(lo), len(t)
    everybody = np.arange(c)
    x, dx, d, change = np.zeros(c), np.zeros(c), np.zeros(c), np.zeros(c)
    above, below, up, down = np.zeros(c), np.zeros(c), np.zeros(c), np.zeros(c)  # slacks, and their prices
    over, under = np.zeros(c), np.zeros(c)  # slack that was granted
    first_above, first_below = np.zeros(c), np.zeros(c)
    dup, ddown = np.zeros(c), np.zeros(c)
    h, rest, y = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    counts = np.zeros(c, np.bool_)
    list_of = np.zeros(c, np.int64)
    chosen, coefficient = np.zeros(few, np.int64), np.zeros(few)
    dense = np.zeros(full.shape)  # the rows that count, one after the other
    for a in range(len(foremost)):
        counts[foremost[a]] = True
    times(start, index, value, full, everybody, t, x)
    for i in range(c):
        above[i], below[i] = max(hi[i] - x[i], outside), max(x[i] - lo[i], outside)
        if hi[i] < np.inf:
            over[i] = above[i] - (hi[i] - x[i])
        if lo[i] > -np.inf:
            under[i] = below[i] - (x[i] - lo[i])
        if over[i] > 0.0 or under[i] > 0.0:
            counts[i] = True
        first_above[i], first_below[i] = above[i], below[i]
    m = 0
    for i in range(c):
        if counts[i]:
            d[i] = 1.0 / (above[i] * above[i]) + 1.0 / (below[i] * below[i])
            list_of[m] = i
            if len(full) > 0:
                dense[m] = full[i]
            m += 1
    at, mine = list_of[:m], dense[:m]
    factored = len(begun) > 0
    if factored:
        h[:, :] = begun
        if counts[wider] and less > 0.0:
            factored = without(h, goal, less)
    if not factored:
        assemble(start, index, value, mine, at, d, h)
        factor(h)
    y[:] = goal
    solve(h, y)
    mu = np.sqrt(max(dot(goal, y), 1e-300))
    for a in range(m):
        i = at[a]
        up[i], down[i] = mu / above[i], mu / below[i]
    # With these prices the first step has the same matrix, `mu` times.
    h *= np.sqrt(mu)
    factored = True
    largest = 0.0
    for j in range(k):
        largest = max(largest, abs(goal[j]))
    stiff = len(full) > 0  # where all rows move in all dimensions, rounding errors come sooner
    reached, bound = dot(goal, t), np.inf
    for _ in range(STEPS):
        mu = 0.0
        ends = 0
        for a in range(m):
            i = at[a]
            d[i] = up[i] / above[i] + down[i] / below[i]
            change[i] = up[i] - down[i]
            if hi[i] < np.inf:
                mu += above[i] * up[i]
                ends += 1
            if lo[i] > -np.inf:
                mu += below[i] * down[i]
                ends += 1
        mu /= max(ends, 1)
        if reached >= need:
            beyond = 0.0
            for i in range(c):
                beyond = max(beyond, x[i] - hi[i], lo[i] - x[i])
            if beyond <= 0.0:
                return REACHED, reached, bound
        if few > 0 and mu * ends <= IN_SIGHT * abs(reached):
            found = active_set_test(full, at, d, change, lo, hi, goal, t, few, chosen, coefficient, y)
            if found > 0:
                t[:] = y
                reached = dot(goal, t)
                price[:], weight[:] = 0.0, 0.0
                for r in range(found):
                    price[chosen[r]], weight[chosen[r]] = coefficient[r], d[chosen[r]]
                return (REACHED if reached >= need else THERE), reached, reached
        if stiff and mu * ends <= close * abs(reached):
            for a in range(m):
                price[at[a]], weight[at[a]] = change[at[a]], d[at[a]]
            return NEAR, reached, bound
        if not factored:
            assemble(start, index, value, mine, at, d, h)
            factor(h)
        factored = False
        # What the prices leave of the goal is spread over the rows that count: then they add up to it.
        transposed(start, index, value, mine, at, change, rest)
        for j in range(k):
            rest[j] = goal[j] - rest[j]
            y[j] = rest[j]
        solve(h, y)
        times(start, index, value, mine, at, y, dx)
        before, bound = bound, 0.0
        for a in range(m):
            i = at[a]
            price[i] = change[i] + d[i] * dx[i]
            weight[i] = d[i]
            if price[i] > 0.0:
                bound += price[i] * hi[i]
            elif price[i] < 0.0:
                bound += price[i] * lo[i]
        if bound < short:
            transposed(start, index, value, mine, at, price, rest)
            off = 0.0
            for j in range(k):
                off = max(off, abs(rest[j] - goal[j]))
            if off <= ROUNDING * largest:
                return SHORT, reached, bound
        if min(abs(bound - reached), mu * ends) <= close * abs(reached):
            return NEAR, reached, bound
        if stiff and bound > before and before - reached <= NEARLY * abs(reached):
            # Rounding errors have taken over. The point and the prices before this step are as good as they get.
            for a in range(m):
                price[at[a]] = change[at[a]]
            return NEAR, reached, before
        # Predictor: as if all prices of slacks could go to zero at once.
        for a in range(m):
            i = at[a]
            change[i] = down[i] * under[i] / below[i] - up[i] * over[i] / above[i]
        transposed(start, index, value, mine, at, change, rest)
        for j in range(k):
            rest[j] += goal[j]
            y[j] = rest[j]
        solve(h, y)
        times(start, index, value, mine, at, y, dx)
        first = 1.0
        second = 1.0
        for a in range(m):
            i = at[a]
            more, less = dx[i] + over[i], dx[i] - under[i]
            dup[i] = up[i] * (more / above[i] - 1.0)
            ddown[i] = -down[i] * (less / below[i] + 1.0)
            if more > 0.0:
                first = min(first, above[i] / more)
            if less < 0.0:
                first = min(first, -below[i] / less)
            if dup[i] < 0.0:
                second = min(second, -up[i] / dup[i])
            if ddown[i] < 0.0:
                second = min(second, -down[i] / ddown[i])
        after = 0.0
        for a in range(m):
            i = at[a]
            if hi[i] < np.inf:
                after += (above[i] - first * (dx[i] + over[i])) * (up[i] + second * dup[i])
            if lo[i] > -np.inf:
                after += (below[i] + first * (dx[i] - under[i])) * (down[i] + second * ddown[i])
        after /= max(ends, 1)
        aim = mu * (after / mu) ** 3
        # Corrector: the same factors, with what the predictor left out, as far as it got.
        both = first * second
        for a in range(m):
            i = at[a]
            dup[i] = (aim + both * (dx[i] + over[i]) * dup[i]) / above[i] if hi[i] < np.inf else 0.0
            ddown[i] = (aim - both * (dx[i] - under[i]) * ddown[i]) / below[i] if lo[i] > -np.inf else 0.0
            change[i] = dup[i] - ddown[i]
        transposed(start, index, value, mine, at, change, y)
        for j in range(k):
            y[j] = rest[j] - y[j]
        solve(h, y)
        times(start, index, value, full, everybody, y, dx)
        first = np.inf
        second = np.inf
        for i in range(c):
            more, less = dx[i] + over[i], dx[i] - under[i]
            if more > 0.0:
                first = min(first, above[i] / more)
            if less < 0.0:
                first = min(first, -below[i] / less)
        for a in range(m):
            i = at[a]
            dup[i] += up[i] * ((dx[i] + over[i]) / above[i] - 1.0)
            ddown[i] -= down[i] * ((dx[i] - under[i]) / below[i] + 1.0)
            if dup[i] < 0.0:
                second = min(second, -up[i] / dup[i])
            if ddown[i] < 0.0:
                second = min(second, -down[i] / ddown[i])
        first, second = min(BACK * first, 1.0), min(BACK * second, 1.0)
        if not first > 1e-12:
            break
        for j in range(k):
            t[j] += first * y[j]
        for a in range(m):
            i = at[a]
            over[i] *= 1.0 - first
            under[i] *= 1.0 - first
            up[i] += second * dup[i]
            down[i] += second * ddown[i]
        if len(full) > 0:  # a product with all rows takes long, and ten steps do not drift
            for i in range(c):
                x[i] += first * dx[i]
        else:
            times(start, index, value, full, everybody, t, x)
        for i in range(c):
            above[i], below[i] = hi[i] + over[i] - x[i], x[i] + under[i] - lo[i]
            if not (above[i] > 0.0 and below[i] > 0.0):
                return STUCK, reached, bound
            if not counts[i] and (above[i] < JOINS * first_above[i] or below[i] < JOINS * first_below[i]):
                counts[i] = True
                list_of[m] = i
                if len(full) > 0:
                    dense[m] = full[i]
                m += 1
                up[i], down[i] = mu / above[i], mu / below[i]
        at, mine = list_of[:m], dense[:m]
        reached = dot(goal, t)
    return STUCK, reached, bound
