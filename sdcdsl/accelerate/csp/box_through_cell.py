"""The cheapest box through a cell: inner loops. What the arrays are, `box_arrays` says."""

from __future__ import annotations

import numpy as np

from sdcdsl.accelerate.csp.box_arrays import DRAWN, LENGTH, WORK
from sdcdsl.numerics.compiled import kernel

BIG = 1e9  # price of what may not move; finite, so that a box with fewer of them is better
DEAREST = 1e7  # price beside which others would no longer be seen


@kernel
def draw(random, counts):
    """The next of the random numbers."""
    counts[DRAWN] = (counts[DRAWN] + 1) % len(random)
    return random[counts[DRAWN]]


@kernel
def _price(u, way, bound, nodes, others, count, rem, least, slack, cells, free):
    """What it costs to take node u of a dimension along with all that stands on the other dimensions, in direction
    `way`; `bound` is enough to know. A cell with too little slack must not move, one that goes back costs nothing."""
    total, stride = 0.0, nodes[u]["stride"]
    for t in range(count):
        c = others[t]["cell"] + stride
        cost, d = cells[c]["now"], cells[c]["d"]
        ahead = others[t]["sign"] * way > 0.0
        if cost < BIG and abs(d) > 1e-8 * least:
            cost = 0.0 if (d < 0.0) == ahead else min(cost, free)
        room = slack[c]["up"] - d if ahead else slack[c]["down"] + d
        if room < least:
            cost = BIG
        elif room < rem and cost < BIG:
            cost = min(cost * rem / room, DEAREST)
        total += cost
        if total >= bound:
            break
    return total


@kernel
def _descend(u, way, bound, nodes, walk, counts, others, count, rem, least, slack, cells, free):
    """The cheapest chain from node u down to a leaf, if it is below `bound`: its price; the chain in `walk`."""
    counts[LENGTH] = 0
    best, depth, y, before = bound, -1, u, 0.0
    while True:
        far = before + _price(y, way, best - before, nodes, others, count, rem, least, slack, cells, free)
        if far < best:
            depth += 1
            walk[depth]["node"], walk[depth]["cost"], walk[depth]["at"] = y, far, nodes[y]["part_start"]
        y = -1
        while y < 0:
            if depth < 0:
                return best
            x = walk[depth]["node"]
            if nodes[x]["part_start"] == nodes[x + 1]["part_start"]:
                if walk[depth]["cost"] < best:
                    best = walk[depth]["cost"]
                    counts[LENGTH] = depth + 1
                    for t in range(depth + 1):
                        walk[t]["path"] = walk[t]["node"]
                depth -= 1
            elif walk[depth]["at"] == nodes[x + 1]["part_start"]:
                depth -= 1
            else:
                y = nodes[walk[depth]["at"]]["part"]
                walk[depth]["at"] += 1
        before = walk[depth]["cost"]


@kernel
def _combine(k, sign, nodes, shape, sides, others):
    """Cells and signs of all combinations of the sides but that of dimension k."""
    count = 1
    others[0]["cell"], others[0]["sign"] = 0, sign
    for j in range(len(shape)):
        if j == k:
            continue
        # Later combinations are written first, so that those that were there are read before they are replaced.
        many = shape[j]["count"]
        for t in range(count - 1, -1, -1):
            for q in range(many - 1, -1, -1):
                others[t * many + q]["cell"] = others[t]["cell"] + nodes[sides[j, q]["node"]]["stride"]
                others[t * many + q]["sign"] = others[t]["sign"] * sides[j, q]["sign"]
        count *= many
    return count


@kernel
def _dimension(k, i, sign, nodes, shape, sides, walk, others, rem, least, slack, cells, counts, free):
    """The cheapest way to take node i of dimension k along: down to a leaf, and against another chain under the lowest
    common ancestor; the other dimensions stay as they are. The price of the whole box."""
    count = _combine(k, sign, nodes, shape, sides, others)
    wide = sides.shape[1]
    best, kept, x, q = np.inf, 0, -1, i
    before, here, y, way = 0.0, 0, i, 1.0
    z, stop = 0, 0
    while True:
        # First down from i itself; then, ancestor by ancestor, down from its other parts.
        far = before + _descend(
            y, way, best - before, nodes, walk, counts, others, count, rem, least, slack, cells, free
        )
        if x < 0:
            before = far
            for t in range(counts[LENGTH]):
                sides[k, here]["node"], sides[k, here]["sign"] = walk[t]["path"], 1.0
                here += 1
            x, q, way = i, nodes[i]["parent"], -1.0
            if q >= 0:
                z, stop = nodes[q]["part_start"], nodes[q + 1]["part_start"]
        elif far < best and counts[LENGTH] > 0:
            best, kept = far, here
            shape[k]["count"] = here + counts[LENGTH]
            for t in range(counts[LENGTH]):  # behind the longest possible chain of the one side
                sides[k, wide - 1 - t]["node"] = walk[t]["path"]
        y = -1
        while y < 0 and q >= 0:
            if z < stop:
                if nodes[z]["part"] != x:
                    y = nodes[z]["part"]
                z += 1
                continue
            before += _price(q, 1.0, best - before, nodes, others, count, rem, least, slack, cells, free)
            if before >= best:
                break
            sides[k, here]["node"], sides[k, here]["sign"] = q, 1.0
            here += 1
            x, q = q, nodes[q]["parent"]
            if q >= 0:
                z, stop = nodes[q]["part_start"], nodes[q + 1]["part_start"]
        if y < 0:
            if q < 0 and before < best:  # nothing against it: the total changes
                best, kept = before, here
                shape[k]["count"] = here
            break
    for t in range(shape[k]["count"] - kept):
        sides[k, kept + t]["node"], sides[k, kept + t]["sign"] = sides[k, wide - 1 - t]["node"], -1.0
    return best


@kernel
def _begin(k, i, nodes, shape, sides, random, counts):
    """A random side of a box: down from node i, and against a random brother of it or of an ancestor; up to the total
    where there is none."""
    here, u, sign, x = 0, i, 1.0, i
    q = nodes[i]["parent"]
    while True:
        while True:  # a random chain down from u
            sides[k, here]["node"], sides[k, here]["sign"] = u, sign
            here += 1
            many = nodes[u + 1]["part_start"] - nodes[u]["part_start"]
            if many == 0:
                break
            u = nodes[nodes[u]["part_start"] + int(draw(random, counts) * many)]["part"]
        shape[k]["count"] = here
        if sign < 0.0:
            return
        sign = -1.0
        while q >= 0:
            many = nodes[q + 1]["part_start"] - nodes[q]["part_start"]
            if many > 1:
                break
            sides[k, here]["node"], sides[k, here]["sign"] = q, 1.0
            here += 1
            x, q = q, nodes[q]["parent"]
        if q < 0:
            shape[k]["count"] = here
            return
        u = x
        while u == x:
            u = nodes[nodes[q]["part_start"] + int(draw(random, counts) * many)]["part"]


@kernel
def _begin_alone(p, sign, nodes, shape, sides, slack, cells):
    """Sides of a box with all that cell p adds up to, and of what it is the sum of one cell in every dimension: those
    with the most slack, so that none has less than the last of them."""
    c = p
    for k in range(len(shape)):
        i = shape[k]["first"] + (p // shape[k]["step"]) % shape[k]["codes"]
        here, u = 0, i
        while True:
            sides[k, here]["node"], sides[k, here]["sign"] = u, 1.0
            here += 1
            begin, end = nodes[u]["part_start"], nodes[u + 1]["part_start"]
            if begin == end:
                break
            best, child = -1.0, nodes[begin]["part"]
            for z in range(begin, end):
                x = nodes[z]["part"]
                t = c + nodes[x]["stride"] - nodes[u]["stride"]
                room = slack[t]["up"] - cells[t]["d"] if sign > 0.0 else slack[t]["down"] + cells[t]["d"]
                if cells[t]["barred"] == 0 and room > best:
                    best, child = room, x
            c += nodes[child]["stride"] - nodes[u]["stride"]
            u = child
        q = nodes[i]["parent"]
        while q >= 0:
            sides[k, here]["node"], sides[k, here]["sign"] = q, 1.0
            here += 1
            q = nodes[q]["parent"]
        shape[k]["count"] = here


@kernel
def box(p, sign, starts, cheap, table, slack, cells, work, rem, least, counts, free):
    """The cheapest box through p that several starts lead to: price and number of cells, which stand in `others`.

    Where none of them leads to a box that has the slack, one more begins with p and all that it adds up to: nothing
    goes the other way there, and what a box has to go down by is often more than neighbours have."""
    nodes, shape = table[0], table[1]
    walk, random = work[3], work[6]
    sides, kept, others = work[1][0], work[1][1], work[2][0]
    dimensions = len(shape)
    best = np.inf
    for start in range(starts + 1):
        if start == starts and best < BIG:
            break
        if start == starts:
            _begin_alone(p, sign, nodes, shape, sides, slack, cells)
        else:
            for k in range(dimensions):
                i = shape[k]["first"] + (p // shape[k]["step"]) % shape[k]["codes"]
                _begin(k, i, nodes, shape, sides, random, counts)
        total, same = np.inf, 0
        k = int(draw(random, counts) * dimensions)
        while same < dimensions:
            i = shape[k]["first"] + (p // shape[k]["step"]) % shape[k]["codes"]
            made = _dimension(k, i, sign, nodes, shape, sides, walk, others, rem, least, slack, cells, counts, free)
            same = 1 if made < total * (1.0 - 1e-9) else same + 1
            total = made
            k = (k + 1) % dimensions
            counts[WORK] += 1
        if total < best:
            best = total
            for k in range(dimensions):
                shape[k]["best_count"] = shape[k]["count"]
                for t in range(shape[k]["count"]):
                    kept[k, t]["node"], kept[k, t]["sign"] = sides[k, t]["node"], sides[k, t]["sign"]
        if best <= cheap:
            break
    for k in range(dimensions):
        shape[k]["count"] = shape[k]["best_count"]
    return best, _combine(dimensions, sign, nodes, shape, kept, others)
