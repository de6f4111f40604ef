"""Inner loops of `box_search`: the cheapest box through a cell, moves made of boxes, and the pattern they make up.

Arrays come in groups, each a tuple:

* `trees`: parent, where the parts of a node begin, the parts, and what a node adds to the number of a cell; nodes are
  numbered through all dimensions. `shape`: first node, codes and stride of each dimension.
* `sums`: members of the cells beyond the lattice (unions), and the same by member.
* `slacks`: how far up and down, [view, cell]. `known`: where single attackers know more.
* `requirements`: cell, sign, need, view, attacker; and the requirements of each cell.
* `pattern`: users of each cell, cells that are hidden anyway, weights, prices as things are, how often cells are
  barred, how many moves certify each requirement, the list of hidden cells and where each stands on it; and what
  hiding a cell is to cost.
* `pool`: the moves, in lists of entries by cell and of certified requirements, both doubly linked.
* `space`: work space, left as it was found.
* `counts`: numbers that change; `amounts`: the cost, and what a free cell costs.
"""

from __future__ import annotations

import numpy as np

from sdcdsl.numerics.compiled import kernel

SLOTS, ENTRIES, COVERS, HIDDEN, DRAWN, WORK, TOUCHED = range(7)
COST, FREE = 0, 1
BIG = 1e9  # price of what may not move; finite, so that a box with fewer of them is better
DEAREST = 1e7  # price beside which others would no longer be seen
ENOUGH = 1 - 1e-9


@kernel
def _bar(c, by, pattern, amounts):
    """Forbids a cell to move, or allows it again; a cell is free to move when all that forbade it have allowed it."""
    users, must, _, now, barred, _, _, _, price = pattern
    barred[c] += by
    if barred[c] > 0:
        now[c] = BIG
    else:
        now[c] = amounts[FREE] if users[c] > 0 or must[c] else price[c]


@kernel
def _draw(random, counts):
    """The next of the random numbers."""
    counts[DRAWN] = (counts[DRAWN] + 1) % len(random)
    return random[counts[DRAWN]]


@kernel
def _chain_price(u, way, bound, stride, offset, sign, count, rem, least, up, down, now, current, free):
    """What it costs to take node u of a dimension along with all that stands on the other dimensions, in direction
    `way`; `bound` is enough to know. A cell with too little slack must not move, one that goes back costs nothing."""
    total = 0.0
    for t in range(count):
        c = offset[t] + stride[u]
        cost = now[c]
        d = current[c]
        ahead = sign[t] * way > 0.0
        if cost < BIG:
            if d != 0.0 and (d < 0.0) == ahead and abs(d) > 1e-8 * least:
                cost = 0.0
            elif abs(d) > 1e-8 * least:
                cost = min(cost, free)
        slack = up[c] - d if ahead else down[c] + d
        if slack < least:
            cost = BIG
        elif slack < rem and cost < BIG:
            cost = min(cost * rem / slack, DEAREST)
        total += cost
        if total >= bound:
            break
    return total


@kernel
def _descend(
    u, way, bound, part_start, part, stride, node, cost, at, path, length,
    offset, sign, count, rem, least, up, down, now, current, free,
):  # fmt: skip
    """The cheapest chain from node u down to a leaf, if it is below `bound`: its price; the chain in `path`."""
    length[0] = 0
    best = bound
    depth = 0
    node[0], at[0] = u, part_start[u]
    cost[0] = _chain_price(u, way, best, stride, offset, sign, count, rem, least, up, down, now, current, free)
    if cost[0] >= best:
        return best
    while depth >= 0:
        x = node[depth]
        if part_start[x] == part_start[x + 1]:
            if cost[depth] < best:
                best = cost[depth]
                length[0] = depth + 1
                for t in range(depth + 1):
                    path[t] = node[t]
            depth -= 1
            continue
        if at[depth] == part_start[x + 1]:
            depth -= 1
            continue
        y = part[at[depth]]
        at[depth] += 1
        far = cost[depth] + _chain_price(
            y, way, best - cost[depth], stride, offset, sign, count, rem, least, up, down, now, current, free
        )
        if far < best:
            depth += 1
            node[depth], cost[depth], at[depth] = y, far, part_start[y]
    return best


@kernel
def _combine(k, sign, trees, sides, others):
    """Offsets and signs of all combinations of the requirements but those of dimension k (-1: of all)."""
    side_node, side_sign, side_count = sides
    offset, signs = others
    stride = trees[3]
    count = 1
    offset[0], signs[0] = 0, sign
    for j in range(len(side_count)):
        if j == k:
            continue
        # Later combinations are written first, so that those that were there are read before they are replaced.
        many = side_count[j]
        for t in range(count - 1, -1, -1):
            for q in range(many - 1, -1, -1):
                offset[t * many + q] = offset[t] + stride[side_node[j, q]]
                signs[t * many + q] = signs[t] * side_sign[j, q]
        count *= many
    return count


@kernel
def _dimension(k, i, sign, trees, sides, walk, others, rem, least, up, down, now, current, free):
    """The cheapest way to take node i of dimension k along: down to a leaf, and against another chain under the lowest
    common ancestor; the other dimensions stay as they are. The price of the whole box."""
    parent, part_start, part, stride = trees
    side_node, side_sign, side_count = sides
    node, cost, at, path, length = walk
    offset, signs = others
    count = _combine(k, sign, trees, sides, others)
    wide = side_node.shape[1]
    best, kept, x, q = np.inf, 0, -1, i
    acc, ups, y, way = 0.0, 0, i, 1.0
    z, stop = 0, 0
    while True:
        # First down from i itself; then, ancestor by ancestor, down from its other parts.
        far = acc + _descend(
            y, way, best - acc, part_start, part, stride, node, cost, at, path, length,
            offset, signs, count, rem, least, up, down, now, current, free,
        )  # fmt: skip
        if x < 0:
            acc = far
            for t in range(length[0]):
                side_node[k, ups], side_sign[k, ups] = path[t], 1.0
                ups += 1
            x, q, way = i, parent[i], -1.0
            z, stop = (part_start[q], part_start[q + 1]) if q >= 0 else (0, 0)
        elif far < best and length[0] > 0:
            best, kept = far, ups
            side_count[k] = ups + length[0]
            for t in range(length[0]):  # behind the longest possible chain of the one side
                side_node[k, wide - 1 - t] = path[t]
        y = -1
        while y < 0 and q >= 0:
            if z < stop:
                if part[z] != x:
                    y = part[z]
                z += 1
                continue
            acc += _chain_price(
                q, 1.0, best - acc, stride, offset, signs, count, rem, least, up, down, now, current, free
            )
            if acc >= best:
                break
            side_node[k, ups], side_sign[k, ups] = q, 1.0
            ups += 1
            x, q = q, parent[q]
            if q >= 0:
                z, stop = part_start[q], part_start[q + 1]
        if y < 0:
            if q < 0 and acc < best:  # nothing against it: the total changes
                best, kept, side_count[k] = acc, ups, ups
            break
    for t in range(side_count[k] - kept):
        side_node[k, kept + t], side_sign[k, kept + t] = side_node[k, wide - 1 - t], -1.0
    return best


@kernel
def _random_leaf(u, sign, here, k, trees, sides, random, counts):
    """A random chain down from u, written behind the first `here` nodes."""
    _, part_start, part, _ = trees
    side_node, side_sign, _ = sides
    while True:
        side_node[k, here] = u
        side_sign[k, here] = sign
        here += 1
        many = part_start[u + 1] - part_start[u]
        if many == 0:
            return here
        u = part[part_start[u] + int(_draw(random, counts) * many)]


@kernel
def _begin(k, i, trees, sides, random, counts):
    """A random box requirement: against a random brother, or up to the total where there is none."""
    parent, part_start, part, _ = trees
    side_node, side_sign, side_count = sides
    here = _random_leaf(i, 1.0, 0, k, trees, sides, random, counts)
    x, q = i, parent[i]
    while q >= 0:
        many = part_start[q + 1] - part_start[q]
        if many > 1:
            y = x
            while y == x:
                y = part[part_start[q] + int(_draw(random, counts) * many)]
            side_count[k] = _random_leaf(y, -1.0, here, k, trees, sides, random, counts)
            return
        side_node[k, here] = q
        side_sign[k, here] = 1.0
        here += 1
        x, q = q, parent[q]
    side_count[k] = here


@kernel
def _box(p, sign, starts, cheap, trees, shape, slacks, now, space, rem, least, random, counts, free):
    """The cheapest box through p that several starts lead to: price and number of cells, which stand in `others`."""
    up, down = slacks
    current = space[0]
    sides, best_sides, others, walk = space[2], space[3], space[4], space[5]
    side_node, side_sign, side_count = sides
    best_node, best_sign, best_count = best_sides
    first, codes, step = shape
    dimensions = len(first)
    best = np.inf
    for _ in range(starts):
        for k in range(dimensions):
            _begin(k, first[k] + (p // step[k]) % codes[k], trees, sides, random, counts)
        total, idle = np.inf, 0
        k = int(_draw(random, counts) * dimensions)
        while idle < dimensions:
            i = first[k] + (p // step[k]) % codes[k]
            made = _dimension(k, i, sign, trees, sides, walk, others, rem, least, up, down, now, current, free)
            idle = 1 if made < total * (1.0 - 1e-9) else idle + 1
            total = made
            k = (k + 1) % dimensions
            counts[WORK] += 1
        if total < best:
            best = total
            for k in range(dimensions):
                best_count[k] = side_count[k]
                for t in range(side_count[k]):
                    best_node[k, t], best_sign[k, t] = side_node[k, t], side_sign[k, t]
        if best <= cheap:
            break
    return best, _combine(-1, sign, trees, best_sides, others)


@kernel
def _serve(r, starts, effort, trees, shape, sums, slacks, known, requirements, pattern, space, random, counts, amounts):
    """Takes the cell of requirement r as far as it must go, box after box; the move stands in `current` and `touched`.
    Whether it got there."""
    member_start, member, member_sign = sums[:3]
    up_all, down_all = slacks
    known_start, known_cell, known_down, known_up = known
    cell, sign, need_of, view, attacker = requirements[:5]
    current, touched = space[0], space[1]
    save_up, save_down = space[7], space[8]
    offset, signs = space[4]
    held = space[9]
    p, s, need, v, who = cell[r], sign[r], need_of[r], view[r], attacker[r]
    up, down = up_all[v], down_all[v]
    lattice = len(member_start) - 1  # cells beyond those have members
    lattice = len(up) - lattice
    for t in range(known_start[who], known_start[who + 1]):
        c = known_cell[t]
        save_up[t - known_start[who]], save_down[t - known_start[who]] = up[c], down[c]
        up[c], down[c] = min(up[c], known_up[t]), min(down[c], known_down[t])
    counts[TOUCHED] = 0
    rem, least, reached = need, need / effort, False
    free = amounts[FREE]
    for _ in range(int(2 * effort)):
        best, count = np.inf, 0
        begin, end = (member_start[p - lattice], member_start[p - lattice + 1]) if p >= lattice else (0, 1)
        for t in range(begin, end if p >= lattice else begin):
            _bar(member[t], 1, pattern, amounts)
        shift = int(_draw(random, counts) * (end - begin))
        for t in range(min(end - begin, 4)):  # of a union a few members, each without the others
            at = begin + (shift + t) % (end - begin)
            c = member[at] if p >= lattice else p
            way = s * member_sign[at] if p >= lattice else s
            if p >= lattice:
                _bar(c, -1, pattern, amounts)
            price, many = _box(
                c,
                way,
                starts,
                8.0 * free,
                trees,
                shape,
                (up, down),
                pattern[3],
                space,
                rem,
                min(least, rem),
                random,
                counts,
                free,
            )
            if p >= lattice:
                _bar(c, 1, pattern, amounts)
            if price < best:
                best, count = price, many
                for q in range(count):
                    held[0][q], held[1][q] = offset[q], signs[q]
        for t in range(begin, end if p >= lattice else begin):
            _bar(member[t], -1, pattern, amounts)
        for q in range(count):
            offset[q], signs[q] = held[0][q], held[1][q]
        if best >= BIG:
            break
        by = rem
        for q in range(count):
            c = offset[q]
            by = min(by, up[c] - current[c] if signs[q] > 0 else down[c] + current[c])
        for q in range(count):
            c = offset[q]
            if current[c] == 0.0:
                touched[counts[TOUCHED]] = c
                counts[TOUCHED] += 1
                current[c] = 1e-300
            current[c] += signs[q] * by
            if current[c] == 0.0:
                current[c] = 1e-300  # it stays on the list
        rem -= by
        if rem <= need * 1e-12:
            reached = True
            break
        if counts[TOUCHED] + len(offset) > len(touched) // 2:
            break
    if reached:
        _detour(p, need, lattice, starts, trees, shape, sums, (up, down), pattern, space, random, counts, amounts)
    for t in range(known_start[who], known_start[who + 1]):
        c = known_cell[t]
        up[c], down[c] = save_up[t - known_start[who]], save_down[t - known_start[who]]
    return _tidy(need * 1e-9, sums, lattice, space, counts, reached)


@kernel
def _cancel(c, own, parts, starts, dust, trees, shape, slacks, pattern, space, random, counts, free):
    """Takes cell c out of the move by boxes through it, the other way, each less than `own`; whether it is out."""
    up, down = slacks
    current, touched = space[0], space[1]
    offset, signs = space[4]
    least = abs(current[c]) / parts
    for _ in range(2 * parts):
        d = current[c]
        if abs(d) <= dust:
            return True
        if counts[TOUCHED] + len(offset) > len(touched) // 2:
            return False
        by = abs(d)
        best, count = _box(
            c,
            -1.0 if d > 0 else 1.0,
            starts,
            8.0 * free,
            trees,
            shape,
            slacks,
            pattern[3],
            space,
            by,
            min(least, by),
            random,
            counts,
            free,
        )
        if best >= own:
            return False
        for q in range(count):
            x = offset[q]
            by = min(by, up[x] - current[x] if signs[q] > 0 else down[x] + current[x])
        for q in range(count):
            x = offset[q]
            if current[x] == 0.0:
                touched[counts[TOUCHED]] = x
                counts[TOUCHED] += 1
                current[x] = 1e-300
            current[x] += signs[q] * by
            if abs(current[x]) <= 1e-3 * dust:
                current[x] = 1e-300
    return abs(current[c]) <= dust


@kernel
def _detour(p, need, lattice, starts, trees, shape, sums, slacks, pattern, space, random, counts, amounts):
    """Takes cells out of the move again where a box through them, the other way, is cheaper than they are."""
    member_start, member = sums[:2]
    now = pattern[3]
    current, touched, free = space[0], space[1], amounts[FREE]
    begin, end = (member_start[p - lattice], member_start[p - lattice + 1]) if p >= lattice else (0, 1)
    for t in range(begin, end):
        _bar(member[t] if p >= lattice else p, 1, pattern, amounts)
    tried, t = 0, 0
    while t < 2 * counts[TOUCHED] and tried < 100:
        c = touched[t % counts[TOUCHED]]
        t += 1
        own = now[c]
        if abs(current[c]) <= 1e-9 * need or own <= 8.0 * free or own >= BIG:
            continue
        tried += 1
        _cancel(c, own, 1, starts, 1e-9 * need, trees, shape, slacks, pattern, space, random, counts, free)
    for t in range(begin, end):
        _bar(member[t] if p >= lattice else p, -1, pattern, amounts)


@kernel
def _reroute(
    slot, cells, many, starts, trees, shape, sums, slacks, requirements, pattern, pool, space, random, counts, amounts
):
    """A move without these cells, which boxes replace; it stands in `current` and `touched`. Whether there is one."""
    cell, view = requirements[0], requirements[3]
    entry_cell, entry_move = pool[0][:2]
    cover = pool[1][0]
    slot_start, cover_start = pool[2][:2]
    now, count = pattern[3], pattern[5]
    current, touched = space[0], space[1]
    lattice = len(current) - (len(sums[0]) - 1)
    counts[TOUCHED] = 0
    far = 0.0
    for e in range(slot_start[slot], slot_start[slot + 1]):
        c = entry_cell[e]
        if c < lattice:
            touched[counts[TOUCHED]] = c
            counts[TOUCHED] += 1
            current[c] = entry_move[e]
            far = max(far, abs(entry_move[e]))
    v = 0
    for e in range(cover_start[slot], cover_start[slot + 1]):
        if count[cover[e]] == 0:
            _bar(cell[cover[e]], 1, pattern, amounts)  # what is to be certified keeps its place
            v = view[cover[e]]
    fine = True
    for t in range(many):
        c = cells[t]
        if not fine or abs(current[c]) <= 1e-9 * far:
            continue
        held = now[c]
        now[c] = amounts[FREE]  # back, and no further
        fine = _cancel(
            c,
            BIG,
            6,
            starts,
            1e-10 * far,
            trees,
            shape,
            (slacks[0][v], slacks[1][v]),
            pattern,
            space,
            random,
            counts,
            amounts[FREE],
        )
        now[c] = held
    for e in range(cover_start[slot], cover_start[slot + 1]):
        if count[cover[e]] == 0:
            _bar(cell[cover[e]], -1, pattern, amounts)
    return _tidy(1e-10 * far, sums, lattice, space, counts, fine) and counts[TOUCHED] > 0


@kernel
def _tidy(dust, sums, lattice, space, counts, keep):
    """Drops what cancelled out, and adds the sums of what is left; forgets everything if it is not to be kept, or is
    too much. Whether it was kept."""
    by_start, by_sum, by_sign = sums[3:]
    current, touched = space[0], space[1]
    kept, more = 0, 0
    for t in range(counts[TOUCHED]):
        more += by_start[touched[t] + 1] - by_start[touched[t]]
    keep = keep and counts[TOUCHED] + more <= len(touched)
    for t in range(counts[TOUCHED]):
        c = touched[t]
        if not keep or abs(current[c]) <= dust:
            current[c] = 0.0
        else:
            touched[kept] = c
            kept += 1
    base = kept
    for t in range(base):
        c = touched[t]
        for q in range(by_start[c], by_start[c + 1]):
            u = lattice + by_sum[q]
            if current[u] == 0.0:
                touched[kept] = u
                kept += 1
                current[u] = 1e-300
            current[u] += by_sign[q] * current[c]
            if current[u] == 0.0:
                current[u] = 1e-300
    counts[TOUCHED] = base
    for t in range(base, kept):
        u = touched[t]
        if abs(current[u]) <= dust:
            current[u] = 0.0
        else:
            touched[counts[TOUCHED]] = u
            counts[TOUCHED] += 1
    return keep


@kernel
def _add(slacks, known, requirements, pool, space, counts):
    """Writes the move that stands in `current` into the pool, with what it certifies; its number, not yet in the
    pattern. Clears the work space."""
    up_all, down_all = slacks
    known_start, known_cell, known_down, known_up = known
    _, sign, need, view, attacker, at_start, at = requirements
    entry_cell, entry_move, entry_slot = pool[0][:3]
    cover, cover_slot = pool[1][:2]
    slot_start, cover_start = pool[2][:2]
    current, touched = space[0], space[1]
    ahead, back = space[10]
    slot = counts[SLOTS]
    counts[SLOTS] += 1
    e = counts[ENTRIES]
    slot_start[slot] = e
    for v in range(len(ahead)):
        ahead[v], back[v] = np.inf, np.inf
    for t in range(counts[TOUCHED]):
        c = touched[t]
        d = current[c]
        entry_cell[e], entry_move[e], entry_slot[e] = c, d, slot
        e += 1
        for v in range(len(ahead)):
            forth = up_all[v, c] if d > 0 else down_all[v, c]
            other = down_all[v, c] if d > 0 else up_all[v, c]
            ahead[v] = min(ahead[v], forth / abs(d))
            back[v] = min(back[v], other / abs(d))
    slot_start[slot + 1] = e
    counts[ENTRIES] = e
    q = counts[COVERS]
    cover_start[slot] = q
    for t in range(counts[TOUCHED]):
        c = touched[t]
        for z in range(at_start[c], at_start[c + 1]):
            r = at[z]
            go = current[c] * sign[r]
            if go == 0.0:
                continue
            length = ahead[view[r]] if go > 0 else back[view[r]]
            if abs(go) * length < need[r] * ENOUGH:
                continue
            who = attacker[r]
            for y in range(known_start[who], known_start[who + 1]):
                d = current[known_cell[y]]
                if d != 0.0:
                    slack = known_up[y] if (d > 0) == (go > 0) else known_down[y]
                    length = min(length, slack / abs(d))
            if abs(go) * length >= need[r] * ENOUGH and q < len(cover):
                cover[q], cover_slot[q] = r, slot
                q += 1
    cover_start[slot + 1] = q
    counts[COVERS] = q
    for t in range(counts[TOUCHED]):
        current[touched[t]] = 0.0
    counts[TOUCHED] = 0
    return slot


@kernel
def _link(slot, pattern, pool, counts, amounts):
    """Takes a move into the pattern."""
    users, must, weight, now, barred, count, listed, place, _ = pattern
    entry_cell, _, _, nxt, prv, head = pool[0]
    cover, _, cover_next, cover_prev, cover_head = pool[1]
    slot_start, cover_start, alive = pool[2][:3]
    alive[slot] = 1
    for e in range(slot_start[slot], slot_start[slot + 1]):
        c = entry_cell[e]
        nxt[e], prv[e] = head[c], -1
        if head[c] >= 0:
            prv[head[c]] = e
        head[c] = e
        users[c] += 1
        if users[c] == 1 and not must[c]:
            amounts[COST] += weight[c]
            if barred[c] == 0:
                now[c] = amounts[FREE]
            place[c] = counts[HIDDEN]
            listed[counts[HIDDEN]] = c
            counts[HIDDEN] += 1
    for e in range(cover_start[slot], cover_start[slot + 1]):
        r = cover[e]
        cover_next[e], cover_prev[e] = cover_head[r], -1
        if cover_head[r] >= 0:
            cover_prev[cover_head[r]] = e
        cover_head[r] = e
        count[r] += 1


@kernel
def _unlink(slot, pattern, pool, counts, amounts):
    """Takes a move out of the pattern."""
    users, must, weight, now, barred, count, listed, place, price = pattern
    entry_cell, _, _, nxt, prv, head = pool[0]
    cover, _, cover_next, cover_prev, cover_head = pool[1]
    slot_start, cover_start, alive = pool[2][:3]
    alive[slot] = 0
    for e in range(slot_start[slot], slot_start[slot + 1]):
        c = entry_cell[e]
        if prv[e] >= 0:
            nxt[prv[e]] = nxt[e]
        else:
            head[c] = nxt[e]
        if nxt[e] >= 0:
            prv[nxt[e]] = prv[e]
        users[c] -= 1
        if users[c] == 0 and not must[c]:
            amounts[COST] -= weight[c]
            if barred[c] == 0:
                now[c] = price[c]
            counts[HIDDEN] -= 1
            last = listed[counts[HIDDEN]]
            listed[place[c]] = last
            place[last] = place[c]
            place[c] = -1
    for e in range(cover_start[slot], cover_start[slot + 1]):
        r = cover[e]
        if cover_prev[e] >= 0:
            cover_next[cover_prev[e]] = cover_next[e]
        else:
            cover_head[r] = cover_next[e]
        if cover_next[e] >= 0:
            cover_prev[cover_next[e]] = cover_prev[e]
        count[r] -= 1


@kernel
def link_all(slots, pattern, pool, counts, amounts):
    for slot in slots:
        _link(slot, pattern, pool, counts, amounts)


@kernel
def add_move(cells, d, slacks, known, requirements, pattern, pool, space, counts, amounts):
    """A move from elsewhere; its number."""
    current, touched = space[0], space[1]
    for t in range(len(cells)):
        touched[t] = cells[t]
        current[cells[t]] = d[t]
    counts[TOUCHED] = len(cells)
    slot = _add(slacks, known, requirements, pool, space, counts)
    _link(slot, pattern, pool, counts, amounts)
    return slot


@kernel
def complete(
    order, begin, most, starts, effort, trees, shape, sums, slacks, known, requirements, pattern, pool, space, random,
    counts, amounts, failed,
):  # fmt: skip
    """Moves for requirements in order, from number `begin`, until `most` were looked for or there is no space left: up
    to which it came. Those that boxes cannot serve are marked."""
    count = pattern[5]
    served = 0
    for t in range(begin, len(order)):
        r = order[t]
        if count[r] > 0 or failed[r]:
            continue
        if served == most or _full(pool, space, counts):
            return t
        served += 1
        if _serve(
            r, starts, effort, trees, shape, sums, slacks, known, requirements, pattern, space, random, counts, amounts
        ):
            slot = _add(slacks, known, requirements, pool, space, counts)
            _link(slot, pattern, pool, counts, amounts)
            if count[r] == 0:
                failed[r] = True
        else:
            failed[r] = True
    return len(order)


@kernel
def _full(pool, space, counts):
    """Whether the next move may find no space."""
    return (
        counts[ENTRIES] + len(space[1]) > len(pool[0][0])
        or counts[COVERS] + len(space[1]) > len(pool[1][0])
        or counts[SLOTS] + 2 > len(pool[2][2])
    )


@kernel
def _superfluous(slot, pool, count):
    cover, cover_start = pool[1][0], pool[2][1]
    for e in range(cover_start[slot], cover_start[slot + 1]):  # noqa: SIM110  numba has no generators here
        if count[cover[e]] == 1:
            return False
    return True


@kernel
def _gain(slot, pattern, pool):
    """What is published again without a move."""
    users, must, weight = pattern[:3]
    entry_cell, slot_start = pool[0][0], pool[2][0]
    total = 0.0
    for e in range(slot_start[slot], slot_start[slot + 1]):
        c = entry_cell[e]
        if users[c] == 1 and not must[c]:
            total += weight[c]
    return total


@kernel
def prune(pattern, pool, counts, amounts):
    """Drops moves that others make superfluous, dearest first."""
    alive, count = pool[2][2], pattern[5]
    slots = np.empty(counts[SLOTS], dtype=np.int64)
    gains = np.empty(counts[SLOTS])
    many = 0
    for slot in range(counts[SLOTS]):
        if alive[slot] and _superfluous(slot, pool, count):
            slots[many], gains[many] = slot, -_gain(slot, pattern, pool)
            many += 1
    order = np.argsort(gains[:many])
    for t in order:
        if _superfluous(slots[t], pool, count):
            _unlink(slots[t], pattern, pool, counts, amounts)


@kernel
def _prune_near(added, many, removed, gone, space, pattern, pool, counts, amounts):
    """The same among moves that certify what the new ones do; how many moves are gone now."""
    cover, cover_slot, cover_next, _, cover_head = pool[1]
    cover_start, alive, marked = pool[2][1], pool[2][2], pool[2][3]
    count = pattern[5]
    near, gains = space[11]
    found = 0
    for t in range(many):
        for e in range(cover_start[added[t]], cover_start[added[t] + 1]):
            r = cover[e]
            if count[r] < 2:
                continue
            q = cover_head[r]
            while q >= 0 and found < len(near):
                slot = cover_slot[q]
                if marked[slot] == 0:
                    marked[slot] = 1
                    near[found] = slot
                    found += 1
                q = cover_next[q]
    left = 0
    for t in range(found):
        slot = near[t]
        marked[slot] = 0
        if alive[slot] and _superfluous(slot, pool, count):
            near[left], gains[left] = slot, -_gain(slot, pattern, pool)
            left += 1
    order = np.argsort(gains[:left])
    for t in order:
        slot = near[t]
        if gone < len(removed) and _superfluous(slot, pool, count):
            _unlink(slot, pattern, pool, counts, amounts)
            removed[gone] = slot
            gone += 1
    return gone


@kernel
def _take_out(c, removed, gone, pattern, pool, counts, amounts):
    """Takes all moves of a cell out of the pattern."""
    entry_slot, head = pool[0][2], pool[0][5]
    while head[c] >= 0 and gone < len(removed):
        slot = entry_slot[head[c]]
        _unlink(slot, pattern, pool, counts, amounts)
        removed[gone] = slot
        gone += 1
    return gone


@kernel
def _pick(pattern, random, counts):
    """A hidden cell, rather a heavy one."""
    weight, listed = pattern[2], pattern[6]
    best = -1
    for _ in range(1 + int(3 * _draw(random, counts))):
        c = listed[int(_draw(random, counts) * counts[HIDDEN])]
        if best < 0 or weight[c] > weight[best]:
            best = c
    return best


@kernel
def _neighbour(c, pattern, pool, random, counts):
    """A cell of a move that needs cell c, where there is one that costs something; else c."""
    must, weight = pattern[1], pattern[2]
    entry_cell, _, entry_slot, nxt, _, head = pool[0]
    slot_start = pool[2][0]
    e = head[c]
    if e < 0:
        return c
    skip = int(8 * _draw(random, counts))
    while skip > 0 and nxt[e] >= 0:
        e = nxt[e]
        skip -= 1
    begin, end = slot_start[entry_slot[e]], slot_start[entry_slot[e] + 1]
    for _ in range(4):
        other = entry_cell[begin + int(_draw(random, counts) * (end - begin))]
        if not must[other] and weight[other] > 0.0:
            return other
    return c


@kernel
def improve(
    rounds, warmth, away, starts, effort, trees, shape, sums, slacks, known, requirements, pattern, pool, space, random,
    counts, amounts,
):  # fmt: skip
    """Neighbourhoods: a few cells are published, or moves forgotten, what relied on them is certified anew, and the
    cheaper pattern (or one that is dearer by no more than `warmth`) stays. How many rounds there was space for."""
    entry_slot, head = pool[0][2], pool[0][5]
    cover, cover_start, alive, fresh = pool[1][0], pool[2][1], pool[2][2], pool[2][4]
    count, need = pattern[5], requirements[2]
    added, removed, short, keys = space[12]
    closed = space[13]
    for done in range(rounds):
        if counts[HIDDEN] == 0 or _full(pool, space, counts):
            return done
        before = amounts[COST]
        limit = min(before + warmth * _draw(random, counts), away)
        slots, entries, covers = counts[SLOTS], counts[ENTRIES], counts[COVERS]
        gone, many, shut = 0, 0, 0
        first = _pick(pattern, random, counts)
        how = _draw(random, counts)
        if how < 0.6:  # publish one cell, or several that serve the same moves
            extra = 0 if how < 0.2 else 1 + int(7 * _draw(random, counts))
            closed[0], shut = first, 1
            for _ in range(extra):
                closed[shut] = _neighbour(first, pattern, pool, random, counts)
                shut += 1
            for t in range(shut):
                _bar(closed[t], 1, pattern, amounts)
                gone = _take_out(closed[t], removed, gone, pattern, pool, counts, amounts)
        else:  # forget a few moves that share cells
            extra = 1 + int(6 * _draw(random, counts))
            c = first
            for _ in range(extra):
                if head[c] >= 0 and gone < len(removed):
                    slot = entry_slot[head[c]]
                    following = _neighbour(c, pattern, pool, random, counts)
                    _unlink(slot, pattern, pool, counts, amounts)
                    removed[gone] = slot
                    gone += 1
                    c = following
        left = 0
        for t in range(gone):
            slot = removed[t]
            for e in range(cover_start[slot], cover_start[slot + 1]):
                r = cover[e]
                if count[r] == 0 and left < len(short):
                    count[r] = -1  # listed
                    short[left] = r
                    left += 1
        hard = _draw(random, counts) < 0.7
        for t in range(left):
            count[short[t]] = 0
            keys[t] = -need[short[t]] if hard else need[short[t]]
        fine = left < len(short) and gone < len(removed)
        for t in range(gone if fine and shut > 0 and _draw(random, counts) < 0.5 else 0):
            if many == len(added) or amounts[COST] >= limit or _full(pool, space, counts):
                break
            if _reroute(
                removed[t],
                closed,
                shut,
                starts,
                trees,
                shape,
                sums,
                slacks,
                requirements,
                pattern,
                pool,
                space,
                random,
                counts,
                amounts,
            ):
                before_it = counts[ENTRIES], counts[COVERS]
                slot = _add(slacks, known, requirements, pool, space, counts)
                if cover_start[slot] == cover_start[slot + 1]:  # it serves nothing any more
                    counts[SLOTS], counts[ENTRIES], counts[COVERS] = slot, before_it[0], before_it[1]
                    continue
                _link(slot, pattern, pool, counts, amounts)
                fresh[slot] = 1
                added[many] = slot
                many += 1
        order = np.argsort(keys[:left])
        for t in order:
            r = short[t]
            if not fine:
                break
            if count[r] > 0:
                continue
            if amounts[COST] >= limit or many == len(added) or _full(pool, space, counts):
                fine = False
                break
            if not _serve(
                r,
                starts,
                effort,
                trees,
                shape,
                sums,
                slacks,
                known,
                requirements,
                pattern,
                space,
                random,
                counts,
                amounts,
            ):
                fine = False
                break
            slot = _add(slacks, known, requirements, pool, space, counts)
            _link(slot, pattern, pool, counts, amounts)
            fresh[slot] = 1
            added[many] = slot
            many += 1
            if count[r] == 0:
                fine = False
        for t in range(shut):
            _bar(closed[t], -1, pattern, amounts)
        if fine:
            gone = _prune_near(added, many, removed, gone, space, pattern, pool, counts, amounts)
        keep = fine and amounts[COST] < limit
        if not keep:
            for t in range(many):
                if alive[added[t]]:
                    _unlink(added[t], pattern, pool, counts, amounts)
            for t in range(gone - 1, -1, -1):
                if not fresh[removed[t]]:
                    _link(removed[t], pattern, pool, counts, amounts)
            amounts[COST] = before
        for t in range(many):
            fresh[added[t]] = 0
        if not keep:
            counts[SLOTS], counts[ENTRIES], counts[COVERS] = slots, entries, covers
    return rounds
