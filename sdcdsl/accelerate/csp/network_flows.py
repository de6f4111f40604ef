"""Cheapest flows of suppression on networks.

On a network a requirement (paper 003 §2: one direction of a level) requires a flow: the cell p is an arc, and the other
arcs have to bring `need` from one end of p to the other, each within what the attacker leaves it. An arc that is not
hidden yet costs w once, however much it carries, so every step sends along a cheapest path, with

    price = w · max(1, what is still to bring / what the arc can carry),    hidden arcs almost free,

and what the path touches is hidden from then on. Distances come from Dijkstra; arcs stand cheapest first at each node,
so that the search leaves a node as soon as its arcs are dearer than the best way found.
"""

from __future__ import annotations

from heapq import heappop, heappush

from sdcdsl.accelerate.csp.network_incumbent import (
    HIDE,
    KEEP,
    LEFT,
    LIMIT,
    MARK,
    NOISE,
    OPEN_ONLY,
    SALT,
    STAMP,
    TIE,
    note,
    uncover,
)
from sdcdsl.accelerate.csp.tuning import NETWORK
from sdcdsl.numerics.compiled import kernel

EXACT = 1e-11  # of the need: less than this is nothing
MANY = NETWORK.many_paths


@kernel
def load(slacks, attacker):
    """Writes what an attacker knows by itself into the slacks of its view, and takes out what another one knew."""
    before = slacks.loaded[0]
    if before == attacker:
        return
    if before >= 0:
        view = slacks.view_of[before]
        for k in range(slacks.start[before + 1] - 1, slacks.start[before] - 1, -1):
            at = k - slacks.start[before]
            slacks.LB[view, slacks.cell[k]], slacks.UB[view, slacks.cell[k]] = slacks.kept_LB[at], slacks.kept_UB[at]
    view = slacks.view_of[attacker]
    for k in range(slacks.start[attacker], slacks.start[attacker + 1]):
        at, j = k - slacks.start[attacker], slacks.cell[k]
        slacks.kept_LB[at], slacks.kept_UB[at] = slacks.LB[view, j], slacks.UB[view, j]
        slacks.LB[view, j] = min(slacks.LB[view, j], slacks.own_LB[k])
        slacks.UB[view, j] = min(slacks.UB[view, j], slacks.own_UB[k])
    slacks.loaded[0] = attacker


@kernel
def cheapest(web, book, desk, slack, ask):  # noqa: PLR0915  one loop
    """A cheapest path from source to sink without arc p, sought from both ends, as a list of arcs in `desk.path`, the
    complement of the number for those taken backwards. Returns how many they are, 0 if there is none."""
    source, sink, p, need, rest, paths = ask
    by_length = paths >= MANY
    dist, via, seen = desk.dist, desk.via, desk.seen
    tie, keep, noise, salt = book.amounts[TIE], book.amounts[KEEP], book.amounts[NOISE], book.state[SALT]
    draws, open_only, best, meet = len(desk.draws), book.state[OPEN_ONLY] == 1, book.amounts[LIMIT], -1
    stamp = book.state[STAMP] + 2  # seen: stamp while it may still come closer, stamp + 1 when it is settled
    book.state[STAMP] = stamp
    dist[0, source], seen[0, source], dist[1, sink], seen[1, sink] = 0.0, stamp, 0.0, stamp
    near_source, near_sink = [(0.0, source)], [(0.0, sink)]
    while near_source and near_sink and near_source[0][0] + near_sink[0][0] < best:
        end = 0 if near_source[0][0] <= near_sink[0][0] else 1
        heap = near_source if end == 0 else near_sink
        v = heappop(heap)[1]
        first, from_here = web.start[v], dist[end, v]
        is_open, q, last = True, first, first + book.opened[v]
        if seen[end, v] == stamp + 1:
            continue
        seen[end, v] = stamp + 1
        while True:
            if q == last:  # the hidden arcs first, then the others
                if not is_open or open_only:
                    break
                is_open, q, last = False, first, web.start[v + 1]
                continue
            j = book.near[q] if is_open else web.arc[q]
            q += 1
            if not is_open:
                if from_here + web.w[j] * (1.0 - noise) >= best:
                    break
                if book.hidden[j]:
                    continue
            to = web.tail[j] + web.head[j] - v
            if j == p or desk.closed[j] or seen[end, to] == stamp + 1:
                continue
            ahead = (web.tail[j] == v) == (end == 0)  # from the sink the path runs to → v
            r = min(slack[1][j], need) - desk.flow[j] if ahead else min(slack[0][j], need) + desk.flow[j]
            if r <= EXACT * need:
                continue
            price = 1.0
            if not by_length:
                price = keep * web.w[j] if is_open else web.w[j]
                if not is_open and noise > 0:
                    price *= 1.0 + noise * (2.0 * desk.draws[(j * 7919 + salt) % draws] - 1.0)
                if r < rest * (1 - EXACT):
                    price *= rest / r
                price += tie
            price += from_here
            if price < best and (seen[end, to] != stamp or price < dist[end, to]):
                dist[end, to], via[end, to], seen[end, to] = price, j, stamp
                heappush(heap, (price, to))
                if seen[1 - end, to] >= stamp and price + dist[1 - end, to] < best:
                    best, meet = price + dist[1 - end, to], to
    length = 0
    for end in range(2 if meet >= 0 else 0):
        v, last = meet, source if end == 0 else sink
        while v != last:
            j = via[end, v]
            desk.path[length] = j if (web.head[j] == v) == (end == 0) else -1 - j
            length += 1
            v = web.tail[j] + web.head[j] - v
    return length


@kernel
def bring(web, book, desk, slack, ask):
    """Sends `rest` from source to sink without arc p, on top of the flow on the desk, and hides what it touches.
    Returns how many arcs are touched now; what could not be brought is left in `LEFT`."""
    source, sink, p, need, rest, count = ask
    this, paths = book.state[MARK], 0
    while rest > EXACT * need:
        length = cheapest(web, book, desk, slack, (source, sink, p, need, rest, paths))
        if length == 0:
            book.amounts[LEFT] = rest
            break
        paths += 1
        amount = rest
        for k in range(length):
            i = desk.path[k]
            j = max(i, -1 - i)
            f = desk.flow[j]
            amount = min(amount, min(slack[1][j], need) - f if i >= 0 else min(slack[0][j], need) + f)
        rest -= amount
        for k in range(length):
            i = desk.path[k]
            j = max(i, -1 - i)
            desk.flow[j] += amount if i >= 0 else -amount
            if desk.mark[j] != this:
                desk.mark[j] = this
                desk.touched[count] = j
                count += 1
            if not book.hidden[j]:
                uncover(web, book, j)
                note(book, HIDE, j, 0, 0)
    return count


@kernel
def supply(web, slacks, asked, book, desk, s):
    """Puts a flow for the requirement on the desk and hides what it touches: a new one, or the old witness if there is
    one, led round the cells that are closed. Returns how many arcs it touches; `LEFT` is what it lacks."""
    load(slacks, asked.attacker[s])
    view = slacks.view_of[asked.attacker[s]]
    slack = (slacks.LB[view], slacks.UB[view])
    p, sign, need = asked.cell[s], asked.sign[s], asked.need[s]
    own = slack[1][p] if sign > 0 else slack[0][p]
    book.amounts[LEFT] = max(need - own, 0.0) if own < need * (1 - EXACT) else 0.0
    if book.amounts[LEFT] > 0:
        return 0
    book.state[MARK] += 1
    if book.length[s] == 0:
        desk.touched[0], desk.flow[p], desk.mark[p] = p, sign * need, book.state[MARK]
        source, sink = (web.head[p], web.tail[p]) if sign > 0 else (web.tail[p], web.head[p])
        return bring(web, book, desk, slack, (source, sink, p, need, need if source != sink else 0.0, 1))
    begin, count = book.begin[s], book.length[s]
    for k in range(count):
        j = book.entry[0, begin + k]
        desk.touched[k], desk.flow[j], desk.mark[j] = j, book.flow[begin + k], book.state[MARK]
    for k in range(book.length[s]):
        j = desk.touched[k]
        f = desk.flow[j]
        if desk.closed[j] and book.amounts[LEFT] == 0:
            desk.flow[j] = 0.0
            source, sink = (web.tail[j], web.head[j]) if f > 0 else (web.head[j], web.tail[j])
            count = bring(web, book, desk, slack, (source, sink, p, need, abs(f), count))
    return count


@kernel
def serves(slacks, asked, desk, count, s):
    """By what the flow on the desk is to be multiplied to serve the side, 0 if it does not."""
    view = slacks.view_of[asked.attacker[s]]
    times = asked.sign[s] * asked.need[s] / desk.flow[asked.cell[s]]
    load(slacks, asked.attacker[s])
    for i in range(count):
        j = desk.touched[i]
        d = times * desk.flow[j]
        if d > slacks.UB[view, j] * (1 + EXACT) or -d > slacks.LB[view, j] * (1 + EXACT):
            return 0.0
    return times
