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
def cheapest(graph, incumbent, workspace, slack, request):  # noqa: PLR0915  one loop
    """A cheapest path from source to sink without arc p, sought from both ends, as a list of arcs in
    `workspace.path`, the complement of the number for those taken backwards. Returns how many they are."""
    source, sink, p, need, rest, paths = request
    by_length = paths >= MANY
    dist, via, seen = workspace.dist, workspace.via, workspace.seen
    tie, keep, noise, salt = (
        incumbent.amounts[TIE],
        incumbent.amounts[KEEP],
        incumbent.amounts[NOISE],
        incumbent.state[SALT],
    )
    draws, open_only, best, meet = len(workspace.draws), incumbent.state[OPEN_ONLY] == 1, incumbent.amounts[LIMIT], -1
    stamp = incumbent.state[STAMP] + 2  # seen: stamp while it may still come closer, stamp + 1 when it is settled
    incumbent.state[STAMP] = stamp
    dist[0, source], seen[0, source], dist[1, sink], seen[1, sink] = 0.0, stamp, 0.0, stamp
    near_source, near_sink = [(0.0, source)], [(0.0, sink)]
    while near_source and near_sink and near_source[0][0] + near_sink[0][0] < best:
        end = 0 if near_source[0][0] <= near_sink[0][0] else 1
        heap = near_source if end == 0 else near_sink
        v = heappop(heap)[1]
        first, from_here = graph.start[v], dist[end, v]
        is_open, q, last = True, first, first + incumbent.opened[v]
        if seen[end, v] == stamp + 1:
            continue
        seen[end, v] = stamp + 1
        while True:
            if q == last:  # the hidden arcs first, then the others
                if not is_open or open_only:
                    break
                is_open, q, last = False, first, graph.start[v + 1]
                continue
            j = incumbent.near[q] if is_open else graph.arc[q]
            q += 1
            if not is_open:
                if from_here + graph.w[j] * (1.0 - noise) >= best:
                    break
                if incumbent.hidden[j]:
                    continue
            to = graph.tail[j] + graph.head[j] - v
            if j == p or workspace.closed[j] or seen[end, to] == stamp + 1:
                continue
            ahead = (graph.tail[j] == v) == (end == 0)  # from the sink the path runs to → v
            r = min(slack[1][j], need) - workspace.flow[j] if ahead else min(slack[0][j], need) + workspace.flow[j]
            if r <= EXACT * need:
                continue
            price = 1.0
            if not by_length:
                price = keep * graph.w[j] if is_open else graph.w[j]
                if not is_open and noise > 0:
                    price *= 1.0 + noise * (2.0 * workspace.draws[(j * 7919 + salt) % draws] - 1.0)
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
            workspace.path[length] = j if (graph.head[j] == v) == (end == 0) else -1 - j
            length += 1
            v = graph.tail[j] + graph.head[j] - v
    return length


@kernel
def bring(graph, incumbent, workspace, slack, request):
    """Sends `rest` from source to sink without arc p, on top of the flow on the workspace, and hides what it touches.
    Returns how many arcs are touched now; what could not be brought is left in `LEFT`."""
    source, sink, p, need, rest, count = request
    this, paths = incumbent.state[MARK], 0
    while rest > EXACT * need:
        length = cheapest(graph, incumbent, workspace, slack, (source, sink, p, need, rest, paths))
        if length == 0:
            incumbent.amounts[LEFT] = rest
            break
        paths += 1
        amount = rest
        for k in range(length):
            i = workspace.path[k]
            j = max(i, -1 - i)
            f = workspace.flow[j]
            amount = min(amount, min(slack[1][j], need) - f if i >= 0 else min(slack[0][j], need) + f)
        rest -= amount
        for k in range(length):
            i = workspace.path[k]
            j = max(i, -1 - i)
            workspace.flow[j] += amount if i >= 0 else -amount
            if workspace.mark[j] != this:
                workspace.mark[j] = this
                workspace.touched[count] = j
                count += 1
            if not incumbent.hidden[j]:
                uncover(graph, incumbent, j)
                note(incumbent, HIDE, j, 0, 0)
    return count


@kernel
def supply(graph, slacks, requirements, incumbent, workspace, s):
    """Puts a flow for the requirement on the workspace and hides what it touches: a new one, or the old witness if
    there is one, led round the cells that are closed. Returns how many arcs it touches; `LEFT` is what it lacks."""
    load(slacks, requirements.attacker[s])
    view = slacks.view_of[requirements.attacker[s]]
    slack = (slacks.LB[view], slacks.UB[view])
    p, sign, need = requirements.cell[s], requirements.sign[s], requirements.need[s]
    own = slack[1][p] if sign > 0 else slack[0][p]
    incumbent.amounts[LEFT] = max(need - own, 0.0) if own < need * (1 - EXACT) else 0.0
    if incumbent.amounts[LEFT] > 0:
        return 0
    incumbent.state[MARK] += 1
    if incumbent.length[s] == 0:
        workspace.touched[0], workspace.flow[p], workspace.mark[p] = p, sign * need, incumbent.state[MARK]
        source, sink = (graph.head[p], graph.tail[p]) if sign > 0 else (graph.tail[p], graph.head[p])
        return bring(graph, incumbent, workspace, slack, (source, sink, p, need, need if source != sink else 0.0, 1))
    begin, count = incumbent.begin[s], incumbent.length[s]
    for k in range(count):
        j = incumbent.entry[0, begin + k]
        workspace.touched[k], workspace.flow[j], workspace.mark[j] = j, incumbent.flow[begin + k], incumbent.state[MARK]
    for k in range(incumbent.length[s]):
        j = workspace.touched[k]
        f = workspace.flow[j]
        if workspace.closed[j] and incumbent.amounts[LEFT] == 0:
            workspace.flow[j] = 0.0
            source, sink = (graph.tail[j], graph.head[j]) if f > 0 else (graph.head[j], graph.tail[j])
            count = bring(graph, incumbent, workspace, slack, (source, sink, p, need, abs(f), count))
    return count


@kernel
def serves(slacks, requirements, workspace, count, s):
    """By what the flow on the workspace is to be multiplied to serve the side, 0 if it does not."""
    view = slacks.view_of[requirements.attacker[s]]
    times = requirements.sign[s] * requirements.need[s] / workspace.flow[requirements.cell[s]]
    load(slacks, requirements.attacker[s])
    for i in range(count):
        j = workspace.touched[i]
        d = times * workspace.flow[j]
        if d > slacks.UB[view, j] * (1 + EXACT) or -d > slacks.LB[view, j] * (1 + EXACT):
            return 0.0
    return times
