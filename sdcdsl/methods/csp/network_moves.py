"""The inner loops of suppression on networks: cheapest flows, the book of witnesses, and moves that can be taken back.

On a network a side (paper 003 §2: one direction of a level) asks for a flow: the cell p is an arc, and the other arcs
have to bring `need` from one end of p to the other, each within what the attacker leaves it. An arc that is not hidden
yet costs w once, however much it carries, so every step sends along a cheapest path, with

    price = w · max(1, what is still to bring / what the arc can carry),    hidden arcs almost free,

and what the path touches is hidden from then on. Distances come from Dijkstra; arcs stand cheapest first at each node,
so that the search leaves a node as soon as its arcs are dearer than the best way found.

A *book* (`network_state`) holds for each side the flow it relies on, its *witness*, and for each cell the sides that
rely on it. A cell that no side relies on is published at once. Changes are logged, so that they can be taken back.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from sdcdsl.attack.compiled import kernel

EXACT = 1e-11  # of the need: less than this is nothing
MANY = 2000  # paths of one flow, after which they are taken by length alone: that ends
SHORT = 24  # cells of a flow that may serve other sides: what rests on long ones holds too many cells down
DEAR = 2.0  # paths at more than so many times what is left to spend are not sought
CROWD = 60  # sides that a neighbourhood may concern
HIDE, SHOW, ATTACH, DETACH = 0, 1, 2, 3  # kinds of change
TOP, LOGGED, LOGGING, FULL, STAMP, SALT, OPEN_ONLY, SHORT_OF, TOKEN, MARK = range(10)  # places in `state`
COST, NOISE, TIE, KEEP, LEFT, LIMIT = range(6)  # places in `amounts`

# ---- what is hidden, and who relies on it ----------------------------------------------------------------------------


@kernel
def uncover(web, book, j):
    """Hides a cell: its arc is open."""
    book.hidden[j] = True
    book.amounts[COST] += web.w[j]
    for end in range(2 if web.tail[j] != web.head[j] else 0):  # a loop, in no relation, leads nowhere
        v = web.tail[j] if end == 0 else web.head[j]
        at = web.start[v] + book.opened[v]
        book.near[at], book.place[end, j] = j, at
        book.opened[v] += 1


@kernel
def cover(web, book, j):
    """Publishes a cell: its arc is closed."""
    book.hidden[j] = False
    book.amounts[COST] -= web.w[j]
    for end in range(2 if web.tail[j] != web.head[j] else 0):
        v = web.tail[j] if end == 0 else web.head[j]
        at = book.place[end, j]
        book.opened[v] -= 1
        last = book.near[web.start[v] + book.opened[v]]
        book.near[at] = last
        book.place[0 if web.tail[last] == v else 1, last] = at


@kernel
def note(book, kind, a, b, c):
    at = book.state[LOGGED]
    if book.state[LOGGING] == 1:
        book.log[0, at], book.log[1, at], book.log[2, at], book.log[3, at] = kind, a, b, c
        book.state[LOGGED] = at + 1


@kernel
def drop(web, book, j):
    """Publishes a cell that nobody relies on."""
    if book.users[j] == 0 and book.hidden[j] and not web.fixed[j]:
        cover(web, book, j)
        note(book, SHOW, j, 0, 0)


@kernel
def link(book, s):
    for e in range(book.begin[s], book.begin[s] + book.length[s]):
        j = book.entry[0, e]
        after = book.first[j]
        book.entry[2, e], book.entry[3, e] = after, -1
        if after >= 0:
            book.entry[3, after] = e
        book.first[j] = e
        book.users[j] += 1


@kernel
def unlink(book, s):
    for e in range(book.begin[s], book.begin[s] + book.length[s]):
        j, after, before = book.entry[0, e], book.entry[2, e], book.entry[3, e]
        if before >= 0:
            book.entry[2, before] = after
        else:
            book.first[j] = after
        if after >= 0:
            book.entry[3, after] = before
        book.users[j] -= 1
    book.length[s] = 0


@kernel
def detach(web, book, s):
    """The side gives up its witness; cells that only it relied on are published."""
    begin, length = book.begin[s], book.length[s]
    note(book, DETACH, s, begin, length)
    unlink(book, s)
    for e in range(begin, begin + length):
        drop(web, book, book.entry[0, e])


@kernel
def undo(web, book, to):
    """Takes back all changes after the first `to` of the log."""
    while book.state[LOGGED] > to:
        at = book.state[LOGGED] - 1
        book.state[LOGGED] = at
        kind, a = book.log[0, at], book.log[1, at]
        if kind == HIDE:
            cover(web, book, a)
        elif kind == SHOW:
            uncover(web, book, a)
        elif kind == ATTACH:
            unlink(book, a)
            book.state[TOP] = book.log[2, at]
        else:
            book.begin[a], book.length[a] = book.log[2, at], book.log[3, at]
            link(book, a)


# ---- flows -----------------------------------------------------------------------------------------------------------


@kernel
def load(rooms, attacker):
    """Writes what an attacker knows by itself into the rooms of its view, and takes out what another one knew."""
    before = rooms.loaded[0]
    if before == attacker:
        return
    if before >= 0:
        view = rooms.view_of[before]
        for k in range(rooms.start[before + 1] - 1, rooms.start[before] - 1, -1):
            at = k - rooms.start[before]
            rooms.LB[view, rooms.cell[k]], rooms.UB[view, rooms.cell[k]] = rooms.kept_LB[at], rooms.kept_UB[at]
    view = rooms.view_of[attacker]
    for k in range(rooms.start[attacker], rooms.start[attacker + 1]):
        at, j = k - rooms.start[attacker], rooms.cell[k]
        rooms.kept_LB[at], rooms.kept_UB[at] = rooms.LB[view, j], rooms.UB[view, j]
        rooms.LB[view, j] = min(rooms.LB[view, j], rooms.own_LB[k])
        rooms.UB[view, j] = min(rooms.UB[view, j], rooms.own_UB[k])
    rooms.loaded[0] = attacker


@kernel
def cheapest(web, book, desk, room, ask):  # noqa: PLR0915  one loop
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
            r = min(room[1][j], need) - desk.flow[j] if ahead else min(room[0][j], need) + desk.flow[j]
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
def bring(web, book, desk, room, ask):
    """Sends `rest` from source to sink without arc p, on top of the flow on the desk, and hides what it touches.
    Returns how many arcs are touched now; what could not be brought is left in `LEFT`."""
    source, sink, p, need, rest, count = ask
    this, paths = book.state[MARK], 0
    while rest > EXACT * need:
        length = cheapest(web, book, desk, room, (source, sink, p, need, rest, paths))
        if length == 0:
            book.amounts[LEFT] = rest
            break
        paths += 1
        amount = rest
        for k in range(length):
            i = desk.path[k]
            j = max(i, -1 - i)
            f = desk.flow[j]
            amount = min(amount, min(room[1][j], need) - f if i >= 0 else min(room[0][j], need) + f)
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
def supply(web, rooms, asked, book, desk, s):
    """Puts a flow for the side on the desk and hides what it touches: a new one, or the old witness if there is one,
    led round the cells that are closed. Returns how many arcs it touches; `LEFT` is what it lacks."""
    load(rooms, asked.attacker[s])
    view = rooms.view_of[asked.attacker[s]]
    room = (rooms.LB[view], rooms.UB[view])
    p, sign, need = asked.cell[s], asked.sign[s], asked.need[s]
    own = room[1][p] if sign > 0 else room[0][p]
    book.amounts[LEFT] = max(need - own, 0.0) if own < need * (1 - EXACT) else 0.0
    if book.amounts[LEFT] > 0:
        return 0
    book.state[MARK] += 1
    if book.length[s] == 0:
        desk.touched[0], desk.flow[p], desk.mark[p] = p, sign * need, book.state[MARK]
        source, sink = (web.head[p], web.tail[p]) if sign > 0 else (web.tail[p], web.head[p])
        return bring(web, book, desk, room, (source, sink, p, need, need if source != sink else 0.0, 1))
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
            count = bring(web, book, desk, room, (source, sink, p, need, abs(f), count))
    return count


@kernel
def serves(rooms, asked, desk, count, s):
    """By what the flow on the desk is to be multiplied to serve the side, 0 if it does not."""
    view = rooms.view_of[asked.attacker[s]]
    times = asked.sign[s] * asked.need[s] / desk.flow[asked.cell[s]]
    load(rooms, asked.attacker[s])
    for i in range(count):
        j = desk.touched[i]
        d = times * desk.flow[j]
        if d > rooms.UB[view, j] * (1 + EXACT) or -d > rooms.LB[view, j] * (1 + EXACT):
            return 0.0
    return times


@kernel
def attach(web, book, desk, count, s, times):
    """The flow on the desk, so many times, becomes the witness; cells that only the old one held are published."""
    top, begin, length = book.state[TOP], book.begin[s], book.length[s]
    if top + count > len(book.flow):
        book.state[FULL] = 1
        return False
    if length > 0:
        note(book, DETACH, s, begin, length)
        unlink(book, s)
    note(book, ATTACH, s, top, 0)
    for i in range(count):
        j = desk.touched[i]
        book.entry[0, top + i], book.entry[1, top + i], book.flow[top + i] = j, s, times * desk.flow[j]
    book.begin[s], book.length[s] = top, count
    link(book, s)
    book.state[TOP] = top + count
    for e in range(begin, begin + length):
        drop(web, book, book.entry[0, e])
    return True


@kernel
def mend(web, rooms, asked, book, desk, ask):
    """Gives all pending sides a new witness, in their order; False if one cannot have any or it costs more than `most`,
    `given_up` not counted, which is to be published when nobody relies on it any more (-1: none).
    Each flow that is found also serves other pending sides whose cells it moves far enough."""
    waiting, most, given_up = ask
    token, own = book.state[TOKEN], web.w[given_up] if given_up >= 0 else 0.0
    for i in range(waiting):
        s = desk.pending[i]
        if desk.listed[s] != token:
            continue
        if book.state[LOGGING] == 1 and book.state[LOGGED] + 2 * len(book.users) + len(book.length) > book.log.shape[1]:
            book.state[FULL] = 1
            return False
        book.amounts[LIMIT] = DEAR * (most - book.amounts[COST] + own)
        if book.length[s] <= SHORT:  # a long one is mended where it is broken
            detach(web, book, s)
        count = supply(web, rooms, asked, book, desk, s)
        fine = book.amounts[LEFT] == 0
        moved = 0
        for k in range(count):  # arcs whose flow came back to nothing are out of it
            j = desk.touched[k]
            if abs(desk.flow[j]) <= EXACT * asked.need[s]:
                desk.flow[j] = 0.0
                drop(web, book, j)
            else:
                desk.touched[moved] = j
                moved += 1
        fine = fine and attach(web, book, desk, moved, s, 1.0)
        desk.listed[s] = -1 if fine else token
        for k in range(moved if fine and moved <= SHORT else 0):
            j = desk.touched[k]
            for q in range(asked.start[j], asked.start[j + 1]):
                other = asked.side[q]
                if desk.listed[other] == token:
                    times = serves(rooms, asked, desk, moved, other)
                    if times != 0.0 and attach(web, book, desk, moved, other, times):
                        desk.listed[other] = -1
        for k in range(moved):
            desk.flow[desk.touched[k]] = 0.0
        if not fine:
            book.state[SHORT_OF] = s
            return False
        if book.amounts[COST] - (own if own > 0 and book.hidden[given_up] else 0.0) > most:
            return False
    return True


@kernel
def relying(book, desk, j, many):
    """Adds the sides that rely on the cell to the pending ones, each once; returns how many those are now."""
    token, e = book.state[TOKEN], book.first[j]
    while e >= 0:
        s = book.entry[1, e]
        if desk.listed[s] != token:
            desk.listed[s] = token
            desk.pending[many] = s
            many += 1
        e = book.entry[2, e]
    return many


@kernel
def without(web, rooms, asked, book, desk, j):
    """Tries to publish a cell: the sides that rely on it seek other ways. Kept if that is cheaper."""
    to, before = book.state[LOGGED], book.amounts[COST]
    book.state[TOKEN] += 1
    waiting = relying(book, desk, j, 0)
    desk.pending[:waiting].sort()
    desk.closed[j] = True
    most = np.inf if book.state[OPEN_ONLY] == 1 else before - 1e-9 * web.w[j] - 1e-15
    fine = mend(web, rooms, asked, book, desk, (waiting, most, j)) and not book.hidden[j]
    desk.closed[j] = False
    if not fine:
        undo(web, book, to)


@kernel
def sweep(web, rooms, asked, book, desk, cells):
    """One cell after the other; returns how many were done before the book was full."""
    for i in range(len(cells)):
        if book.hidden[cells[i]] and not web.fixed[cells[i]]:
            without(web, rooms, asked, book, desk, cells[i])
        if book.state[FULL] == 1:
            return i
        book.state[LOGGED] = 0
    return len(cells)


@kernel
def shake(web, rooms, asked, book, desk, plan):
    """Large neighbourhoods. Each row of the plan names cells that belong together (-1: none): the sides that rely on
    them seek other ways at prices with some noise, and what became superfluous is published. Kept if not dearer.
    Returns how many rows saved something; a book that is full ends it."""
    cells, noise, salt = plan
    won = 0
    for i in range(len(cells)):
        anchor, before = cells[i, 0], book.amounts[COST]
        if book.users[anchor] == 0 or web.fixed[anchor]:
            continue
        book.state[TOKEN] += 1
        waiting = 0
        for j in cells[i]:
            if j >= 0 and not web.fixed[j] and book.users[j] + waiting <= CROWD:
                waiting = relying(book, desk, j, waiting)
        if salt[i] % 2 == 0:
            desk.pending[:waiting].sort()
        for k in range(waiting):
            detach(web, book, desk.pending[k])
        desk.closed[anchor] = salt[i] % 4 < 2
        book.amounts[NOISE], book.state[SALT] = noise[i], salt[i]
        fine = mend(web, rooms, asked, book, desk, (waiting, before + web.w[anchor] + 0.01 * before, -1))
        desk.closed[anchor], book.amounts[NOISE] = False, 0.0
        changed = book.state[LOGGED] if fine else 0
        for k in range(changed):
            j = book.log[1, k]
            if book.log[0, k] == HIDE and book.hidden[j]:
                without(web, rooms, asked, book, desk, j)
        if not fine or book.state[FULL] == 1 or book.amounts[COST] > before + 1e-14:
            undo(web, book, 0)
        elif book.amounts[COST] < before * (1 - 1e-9):
            won += 1
        book.state[LOGGED] = 0
        if book.state[FULL] == 1:
            break
    return won
