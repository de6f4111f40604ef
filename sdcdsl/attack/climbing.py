"""The loops of the interior way (`barrier`): sparse rows, normal equations, steps to the middle and to the far end.

Arrays as in compressed rows (start, index, value), or `full` where most numbers are not zero. R are the rows, lo and hi
their ends, t a point of k coordinates.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.attack.compiled import kernel, reordering_kernel

# How a climb ends: far enough; surely not; as near to its end as the dictionary wants it; without having got anywhere.
REACHED, SHORT, NEAR, STUCK = 0, 1, 2, 3

ROUNDING = 1e-9  # share of the goal by which prices may miss it
STEPS = 40
BACK = 0.995  # of the way to the nearest end that one step takes
LARGE = 100  # dimensions from which a library factors faster than a loop
BLOCK = 64  # columns that are multiplied at once
NEARLY = 1e-2  # share of the way between point and bound from which a bound that gets worse is a matter of rounding
JOINS = 0.5  # share of the room it had at first below which a row counts


@kernel
def _times(start, index, value, full, at, t, out):
    """R t in the rows `at`. `full`: these rows with their zeros, where they have few."""
    if len(full) > 0:
        product = np.dot(full, t)
        for a in range(len(at)):
            out[at[a]] = product[a]
        return
    for a in range(len(at)):
        i = at[a]
        total = 0.0
        for e in range(start[i], start[i + 1]):
            total += value[e] * t[index[e]]
        out[i] = total


@kernel
def _transposed(start, index, value, full, at, z, out):
    if len(full) > 0:
        some = np.empty(len(at))
        for a in range(len(at)):
            some[a] = z[at[a]]
        out[:] = np.dot(some, full)
        return
    out[:] = 0.0
    for a in range(len(at)):
        i = at[a]
        for e in range(start[i], start[i + 1]):
            out[index[e]] += value[e] * z[i]


@kernel
def _assemble(start, index, value, full, at, d, h):
    """The lower half of Rᵀ diag(d) R."""
    if len(full) > 0:
        k = full.shape[1]
        scaled = np.empty((k, len(at)))
        for a in range(len(at)):
            root = np.sqrt(d[at[a]])
            for j in range(k):
                scaled[j, a] = root * full[a, j]
        for first in range(0, k, BLOCK):  # products of whole blocks, but for those above the diagonal
            last = min(first + BLOCK, k)
            h[first:last, :last] = np.dot(scaled[first:last], scaled[:last].T)
        return
    h[:, :] = 0.0
    for a in range(len(at)):
        i = at[a]
        for e in range(start[i], start[i + 1]):
            f = d[i] * value[e]
            line = h[index[e]]
            for g in range(start[i], e + 1):
                line[index[g]] += f * value[g]


@kernel
def _factor(h):
    """h = L Lᵀ in place, lower half. Dimensions that nothing holds are kept still."""
    if len(h) >= LARGE:
        try:
            h[:, :] = np.linalg.cholesky(h)
        except Exception:
            _factor_simply(h)
    else:
        _factor_simply(h)


@reordering_kernel
def _factor_simply(h):
    k = len(h)
    largest = 0.0
    for j in range(k):
        largest = max(largest, h[j, j])
    for j in range(k):
        row = h[j]
        for i in range(j):
            other = h[i]
            total = row[i]
            for q in range(i):
                total -= row[q] * other[q]
            row[i] = total / other[i]
        total = row[j]
        for q in range(j):
            total -= row[q] * row[q]
        row[j] = np.sqrt(total) if total > 1e-30 * largest else 1e100


@kernel
def _without(h, row, amount):
    """From the factor of H to that of H - amount · row rowᵀ, in place; False if that is not positive any more."""
    k = len(h)
    left = np.sqrt(amount) * row
    for j in range(k):
        less = h[j, j] * h[j, j] - left[j] * left[j]
        if not less > 0.0:
            return False
        cosine, sine = np.sqrt(less) / h[j, j], left[j] / h[j, j]
        h[j, j] = np.sqrt(less)
        for i in range(j + 1, k):
            h[i, j] = (h[i, j] - sine * left[i]) / cosine
            left[i] = cosine * left[i] - sine * h[i, j]
    return True


@kernel
def begin(start, index, value, full, foremost, lo, hi, t):
    """The factor that every climb from t begins with, as long as it changes no ends of these rows."""
    c, k = len(lo), len(t)
    x, d, h = np.zeros(c), np.zeros(c), np.zeros((k, k))
    _times(start, index, value, full, np.arange(c), t, x)
    at = np.sort(foremost)
    for a in range(len(at)):
        i = at[a]
        d[i] = 1.0 / ((hi[i] - x[i]) * (hi[i] - x[i])) + 1.0 / ((x[i] - lo[i]) * (x[i] - lo[i]))
    mine = np.zeros((len(at) if len(full) > 0 else 0, k))
    for a in range(len(mine)):
        mine[a] = full[at[a]]
    _assemble(start, index, value, mine, at, d, h)
    _factor(h)
    return h


@reordering_kernel
def _solve(h, y):
    """L Lᵀ x = y in place."""
    k = len(y)
    for i in range(k):
        row = h[i]
        total = y[i]
        for q in range(i):
            total -= row[q] * y[q]
        y[i] = total / row[i]
    for i in range(k - 1, -1, -1):
        row = h[i]
        y[i] /= row[i]
        f = y[i]
        for q in range(i):
            y[q] -= f * row[q]


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
    """A few Newton steps towards the point where the product of all rooms is largest."""
    c, k = len(lo), len(t)
    at = np.arange(c)
    x, dx, d, z = np.zeros(c), np.zeros(c), np.zeros(c), np.zeros(c)
    h, y = np.zeros((k, k)), np.zeros(k)
    for _ in range(most):
        _times(start, index, value, full, at, t, x)
        for i in range(c):
            above, below = 1.0 / (hi[i] - x[i]), 1.0 / (x[i] - lo[i])
            d[i] = above * above + below * below
            z[i] = below - above
        _transposed(start, index, value, full, at, z, y)
        _assemble(start, index, value, full, at, d, h)
        _factor(h)
        _solve(h, y)
        _times(start, index, value, full, at, y, dx)
        size = 0.0
        for i in range(c):
            size += d[i] * dx[i] * dx[i]
        step = min(1.0 if size < 0.5 else 2.0 / (1.0 + np.sqrt(size)), 0.9 * _fits(x, dx, lo, hi))
        for j in range(k):
            t[j] += step * y[j]
        if size < 0.5:
            break


@kernel
def climb(
    start, index, value, full, foremost, lo, hi, goal, t, outside, need, short, close, price, weight, begun, wider, less
):  # fmt: skip
    """Mehrotra's method. `outside`: room that rows are granted at first where the point has none; it is taken back as
    the steps go on, and only a point without any of it counts as reached. `begun`: from `begin`, if the ends are those
    but for the row `wider`, which counts `less` than there."""
    c, k = len(lo), len(t)
    everybody = np.arange(c)
    x, dx, d, change = np.zeros(c), np.zeros(c), np.zeros(c), np.zeros(c)
    above, below, up, down = np.zeros(c), np.zeros(c), np.zeros(c), np.zeros(c)  # rooms, and their prices
    over, under = np.zeros(c), np.zeros(c)  # room that was granted
    first_above, first_below = np.zeros(c), np.zeros(c)
    dup, ddown = np.zeros(c), np.zeros(c)
    h, rest, y = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    counts = np.zeros(c, np.bool_)
    list_of = np.zeros(c, np.int64)
    dense = np.zeros(full.shape)  # the rows that count, one after the other
    for a in range(len(foremost)):
        counts[foremost[a]] = True
    _times(start, index, value, full, everybody, t, x)
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
            factored = _without(h, goal, less)
    if not factored:
        _assemble(start, index, value, mine, at, d, h)
        _factor(h)
    y[:] = goal
    _solve(h, y)
    mu = np.sqrt(max(_dot(goal, y), 1e-300))
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
    reached, bound = _dot(goal, t), np.inf
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
        if stiff and mu * ends <= close * abs(reached):
            for a in range(m):
                price[at[a]], weight[at[a]] = change[at[a]], d[at[a]]
            return NEAR, reached, bound
        if not factored:
            _assemble(start, index, value, mine, at, d, h)
            _factor(h)
        factored = False
        # What the prices leave of the goal is spread over the rows that count: then they add up to it.
        _transposed(start, index, value, mine, at, change, rest)
        for j in range(k):
            rest[j] = goal[j] - rest[j]
            y[j] = rest[j]
        _solve(h, y)
        _times(start, index, value, mine, at, y, dx)
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
            _transposed(start, index, value, mine, at, price, rest)
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
        # Predictor: as if all prices of rooms could go to zero at once.
        for a in range(m):
            i = at[a]
            change[i] = down[i] * under[i] / below[i] - up[i] * over[i] / above[i]
        _transposed(start, index, value, mine, at, change, rest)
        for j in range(k):
            rest[j] += goal[j]
            y[j] = rest[j]
        _solve(h, y)
        _times(start, index, value, mine, at, y, dx)
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
        _transposed(start, index, value, mine, at, change, y)
        for j in range(k):
            y[j] = rest[j] - y[j]
        _solve(h, y)
        _times(start, index, value, full, everybody, y, dx)
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
            _times(start, index, value, full, everybody, t, x)
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
        reached = _dot(goal, t)
    return STUCK, reached, bound


@kernel
def _dot(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total
